//! # Constant memory: one word for all lanes is free, each further word is a pass more
//!
//! Shows: the constant cache serves one address per pass; only a table that all lanes read alike belongs there.
//!
//! Every lane takes `STEPS` steps through a table of 31 rows of 32 words: what it finds says where
//! to go next, always three rows on, so that each step waits for the one before and no load can be
//! left out. Lane i begins in column `i % distinct`: a warp asks for `distinct` different words at a time.
//!
//! ```text
//! passes of one request    1 word   2   4   8   16   32 words
//!   constant, parameter    1        2   4   8   16   32         one address per pass
//!   shared                 1        1   1   1   1    1          neighbouring words: 32 banks at once
//!   global                 1        1   1   1   1    1          a row is one line of 128 B, 1 to 4 sectors
//! ```
//!
//! A constant whose place the compiler knows is not loaded by any lane: it is an operand of the
//! instruction that uses it, as a register is. For sm_80 ptxas writes `IMAD R5, R0, R5, c[0x3][0x4]`;
//! for sm_90 a warp reads it once into a uniform register (`ULDC`), and the operand is that register.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | constant passes | limited by |
//! |---|---|---|---|---|---|
//! | `global` | the table lies in global memory | ceil(distinct / 8) | 4 | none | latency and requests of L1 |
//! | `read_only` | loads by the read-only path | ceil(distinct / 8) | 4 | none | latency and requests of L1 |
//! | `shared` | each block copies the table into shared memory and walks there | 4 | 4 | none | latency and requests of shared memory |
//! | `parameter` | the table comes by value with the launch | none | 4 | distinct | passes of the constant cache |
//! | `constant` | the table is a static that the host writes by its name | none | 4 | distinct | passes of the constant cache |
//! | `register` | no walk: every lane uses the same 8 words, `STEPS` times, from registers | 1 | 4 | none | multiply-adds |
//! | `operand` | the 8 words are operands in constant memory | none | 4 | 1 | multiply-adds |
//!
//! Expected: the time of `constant` and `parameter` is a line over `distinct`; that of `shared`,
//! `global` and `read_only` is flat, because neighbouring words come in one pass. With one word for all
//! lanes `constant` is no slower than `shared`; with 32 it is the slowest of all. `operand` equals
//! `register`: the arithmetic takes as long with the words in constant memory as with the words in
//! registers.
//! A parameter with an index is read like constant memory, because that is where parameters lie. Plain
//! `table[at]` is not that: rustc passes an array as one value, which LLVM copies to local memory for
//! the sake of the index; `parameter_word` reads where it lies.
//! Taught but incomplete: constant memory is fast. It is for uniform reads: a table that each lane
//! reads elsewhere belongs into shared memory.
//!
//! Preconditions: `distinct` from 1 to 32. A kernel takes at most 4096 bytes of parameters, which is
//! why the table has 31 rows: 31 x 128 B and 16 B of other parameters. All constant statics of a module
//! share 64 KiB; the build refuses more. The walk stays in the first 7 rows, 896 B, which any constant
//! cache holds.
//!
//! Source: CUDA C++ Best Practices Guide, "Constant Memory"; CUDA C++ Programming Guide, "Technical
//! Specifications per Compute Capability" (64 KiB) and "Function Parameters" (4096 B); Jia et al.,
//! "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (a first-level constant cache
//! of 2 KiB).

use core::mem::MaybeUninit;
use cuda_std::memory;
use cuda_std::prelude::*;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Dependent reads of the table by each thread.
pub const STEPS: u32 = 256;
/// Words of a row: as many as a warp can ask for at a time.
pub const ROW: u32 = 32;
/// Words of the table.
pub const TABLE: u32 = 31 * ROW;
/// Words that the kernels without a walk use.
pub const COEFFICIENTS: u32 = 8;

// The parameters of `constant_memory_parameter`: the table, a pointer and two numbers.
const _: () = assert!(TABLE * 4 + 16 <= 4096);
const _: () = assert!(STEPS.is_multiple_of(COEFFICIENTS));

/// The table in constant memory; the host writes it by this name.
#[address_space(constant)]
pub static mut CONSTANT_MEMORY_TABLE: [u32; TABLE as usize] = [0; TABLE as usize];

/// The word that `STEPS` steps lead to from word `start`.
#[inline(always)]
fn walk(start: u32, entry: impl Fn(usize) -> u32) -> u32 {
    let mut at = start;
    for _ in 0..STEPS {
        at = entry(at as usize);
    }
    at
}

/// Where this thread begins.
#[inline(always)]
fn start(distinct: u32) -> u32 {
    thread::thread_idx_x() % ROW % distinct
}

/// Naive: the table lies in global memory.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `distinct` from 1 to `ROW`;
/// `table` valid for `TABLE` u32, each below `TABLE`, `target` for `n` u32, not overlapping.
#[kernel]
pub unsafe fn constant_memory_global(table: *const u32, target: *mut u32, distinct: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the start and every entry lie in the table; i < n.
        unsafe { *target.add(i as usize) = walk(start(distinct), |at| *table.add(at)) };
    }
}

/// Change from `global`: loads by the read-only path.
///
/// # Safety
/// Launch contract: as for [`constant_memory_global`]; nobody writes the table.
#[kernel]
pub unsafe fn constant_memory_read_only(
    table: *const u32,
    target: *mut u32,
    distinct: u32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the start and every entry lie in the table; i < n.
        unsafe {
            *target.add(i as usize) = walk(start(distinct), |at| memory::load_nc(table.add(at)));
        }
    }
}

/// Change from `read_only`: the block copies the table into shared memory and walks there.
///
/// # Safety
/// Launch contract: as for [`constant_memory_global`].
#[kernel]
pub unsafe fn constant_memory_shared(table: *const u32, target: *mut u32, distinct: u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; TABLE as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<u32>();
    let i = thread::index_1d();
    let mut word = thread::thread_idx_x();
    // SAFETY: word < TABLE, each word has one writer, and readers come after the barrier; the start
    // and every entry lie in the table; i < n.
    unsafe {
        while word < TABLE {
            *words.add(word as usize) = *table.add(word as usize);
            word += THREADS_PER_BLOCK;
        }
        thread::sync_threads();
        if i < n {
            *target.add(i as usize) = walk(start(distinct), |at| *words.add(at));
        }
    }
}

/// `table[at]` of the first parameter of `constant_memory_parameter`, read where the launch has put it.
///
/// Plain `table[at]` would not be that: rustc passes an array to a kernel as one value, and an index
/// that is not known makes LLVM copy that value to local memory, 4 KiB per thread.
///
/// # Safety
/// Called by `constant_memory_parameter` only, with its parameter; `at < TABLE`.
#[inline(always)]
unsafe fn parameter_word(table: &[u32; TABLE as usize], at: usize) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let _ = table;
        let word: u32;
        // SAFETY: the parameter has TABLE words, and `ld.param` reads one of them.
        unsafe {
            core::arch::asm!(
                "{{ .reg .b64 address;",
                "mov.b64 address, constant_memory_parameter_param_0;",
                "add.s64 address, address, {offset};",
                "ld.param.b32 {word}, [address]; }}",
                offset = in(reg64) at * 4,
                word = out(reg32) word,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        word
    }
    #[cfg(not(target_arch = "nvptx64"))]
    table[at]
}

/// Change from `shared`: no copy, the table is a parameter by value.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `distinct` from 1 to `ROW`;
/// each word of `table` below `TABLE`; `target` valid for `n` u32.
#[kernel]
#[allow(improper_ctypes_definitions, reason = "an array of words has one layout")]
pub unsafe fn constant_memory_parameter(
    table: [u32; TABLE as usize],
    target: *mut u32,
    distinct: u32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the start and every entry lie in the table; i < n.
        unsafe { *target.add(i as usize) = walk(start(distinct), |at| parameter_word(&table, at)) };
    }
}

/// Change from `parameter`: the table is a static in constant memory, written once for all launches.
///
/// # Safety
/// Launch contract: as for [`constant_memory_parameter`], for the words of
/// [`CONSTANT_MEMORY_TABLE`].
#[kernel]
pub unsafe fn constant_memory_constant(target: *mut u32, distinct: u32, n: u32) {
    let table = (&raw const CONSTANT_MEMORY_TABLE).cast::<u32>();
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the start and every entry lie in the table; i < n.
        unsafe { *target.add(i as usize) = walk(start(distinct), |at| *table.add(at)) };
    }
}

/// The value of a polynomial of degree `STEPS` at `x`, whose coefficients repeat: `STEPS`
/// multiply-adds that use one coefficient each.
#[inline(always)]
fn polynomial(x: u32, coefficients: [u32; COEFFICIENTS as usize]) -> u32 {
    let mut value = 1_u32;
    for _ in 0..STEPS / COEFFICIENTS {
        for coefficient in coefficients {
            value = value.wrapping_mul(x).wrapping_add(coefficient);
        }
    }
    value
}

/// Change from `constant`: the place of every word is known beforehand, the same for all lanes, and
/// the words are loaded into registers.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `table` valid for
/// `COEFFICIENTS` u32, `target` for `n` u32, not overlapping.
#[kernel]
pub unsafe fn constant_memory_register(table: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the coefficients are the first words of the table; i < n.
        unsafe {
            let coefficients = core::array::from_fn(|k| *table.add(k));
            *target.add(i as usize) = polynomial(i, coefficients);
        }
    }
}

/// Change from `register`: the words stay in constant memory, as operands of the multiply-adds.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `target` valid for `n` u32.
#[kernel]
pub unsafe fn constant_memory_operand(target: *mut u32, n: u32) {
    let table = (&raw const CONSTANT_MEMORY_TABLE).cast::<u32>();
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the coefficients are the first words of the table; i < n.
        unsafe {
            let coefficients = core::array::from_fn(|k| *table.add(k));
            *target.add(i as usize) = polynomial(i, coefficients);
        }
    }
}
