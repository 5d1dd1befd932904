use cuda_std::prelude::*;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Words of each symbol.
pub const WORDS: usize = 4096;

/// A table in global memory, which the host writes by name.
#[address_space(global)]
pub static mut SYMBOLS_TABLE: [u32; WORDS] = [0; WORDS];
/// The same in constant memory.
#[address_space(constant)]
pub static mut SYMBOLS_CONSTANT_TABLE: [u32; WORDS] = [0; WORDS];
/// The kernels' result of a table, which the host reads by name.
#[address_space(global)]
pub static mut SYMBOLS_RESULT: [u32; WORDS] = [0; WORDS];

/// A table in managed memory, which the host writes where it is.
#[address_space(managed)]
pub static mut SYMBOLS_MANAGED_TABLE: [u32; WORDS] = [0; WORDS];
/// The kernels' result of it, which the host reads where it is.
#[address_space(managed)]
pub static mut SYMBOLS_MANAGED_RESULT: [u32; WORDS] = [0; WORDS];

/// Returns what becomes of word `i`.
#[must_use]
pub const fn result(word: u32, i: u32) -> u32 {
    word.wrapping_mul(3).wrapping_add(i)
}

/// Makes the result of the first `n` words of a table.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n`, at most `WORDS`.
/// - Both arrays have `WORDS` words, and nobody else accesses `target` meanwhile.
#[inline(always)]
unsafe fn apply(table: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n <= WORDS, and each thread has a word of the result.
        unsafe {
            *target.add(i as usize) = result(*table.add(i as usize), i);
        }
    }
}

/// From the table in global memory.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n`, at most `WORDS`.
/// - Nobody else accesses the symbols meanwhile.
#[kernel]
pub unsafe fn symbols_apply(n: u32) {
    // SAFETY: the grid is that of the launch contract; each symbol has `WORDS` words.
    unsafe { apply((&raw const SYMBOLS_TABLE).cast(), (&raw mut SYMBOLS_RESULT).cast(), n) };
}

/// From the table in constant memory.
///
/// # Safety
/// - As for [`symbols_apply`].
#[kernel]
pub unsafe fn symbols_apply_constant(n: u32) {
    // SAFETY: the grid is that of the launch contract; each symbol has `WORDS` words.
    unsafe {
        apply((&raw const SYMBOLS_CONSTANT_TABLE).cast(), (&raw mut SYMBOLS_RESULT).cast(), n)
    };
}

/// From the table in managed memory to the result there.
///
/// # Safety
/// - As for [`symbols_apply`].
/// - The host does not use these symbols meanwhile.
#[kernel]
pub unsafe fn symbols_apply_managed(n: u32) {
    let (table, target) = (&raw const SYMBOLS_MANAGED_TABLE, &raw mut SYMBOLS_MANAGED_RESULT);
    // SAFETY: the grid is that of the launch contract; each symbol has `WORDS` words.
    unsafe { apply(table.cast(), target.cast(), n) };
}
