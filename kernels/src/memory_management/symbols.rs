//! The kernels of `symbols`, whose work is the host's; the teaching doc is in
//! `host/src/patterns/memory_management/symbols.rs`.

use cuda_std::prelude::*;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Words of each symbol.
pub const WORDS: usize = 4096;

/// A table in global memory, which the host writes by name.
#[address_space(global)]
pub static mut SYMBOLS_TABLE: [u32; WORDS] = [0; WORDS];
/// The same in constant memory.
#[address_space(constant)]
pub static mut SYMBOLS_CONSTANT_TABLE: [u32; WORDS] = [0; WORDS];
/// What the kernels make of a table, which the host reads by name.
#[address_space(global)]
pub static mut SYMBOLS_RESULT: [u32; WORDS] = [0; WORDS];

/// What becomes of word `i`.
#[must_use]
pub const fn result(word: u32, i: u32) -> u32 {
    word.wrapping_mul(3).wrapping_add(i)
}

/// Makes the result of the first `n` words of a table.
///
/// # Safety
/// 1-D grid of `THREADS_PER_BLOCK` threads covering `n`, at most `WORDS`; `table` has `WORDS` words, and nobody else accesses
/// `SYMBOLS_RESULT` meanwhile.
#[inline(always)]
unsafe fn apply(table: *const u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n <= WORDS, and each thread has a word of the result.
        unsafe {
            let target = (&raw mut SYMBOLS_RESULT).cast::<u32>().add(i as usize);
            *target = result(*table.add(i as usize), i);
        }
    }
}

/// From the table in global memory.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n`, at most `WORDS`; nobody else accesses the symbols
/// meanwhile.
#[kernel]
pub unsafe fn symbols_apply(n: u32) {
    // SAFETY: the launch contract.
    unsafe { apply((&raw const SYMBOLS_TABLE).cast(), n) };
}

/// From the table in constant memory.
///
/// # Safety
/// Launch contract: as for [`symbols_apply`].
#[kernel]
pub unsafe fn symbols_apply_constant(n: u32) {
    // SAFETY: the launch contract.
    unsafe { apply((&raw const SYMBOLS_CONSTANT_TABLE).cast(), n) };
}
