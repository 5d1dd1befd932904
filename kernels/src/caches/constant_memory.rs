//! # Constant memory: made for a word that all lanes read, slow for everything else
//!
//! Shows: the [constant cache] serves one address at a time; it suits words that all [lanes][lane]
//! read alike, best where the compiler knows the place of the word.
//!
//! The surprise: constant memory is said to be fast, but with a computed index it is the slowest
//! memory here, even if all lanes read the same word: `constant` (269.1 us), `global` (173.4 us),
//! `shared` (141.4 us). It is as fast as a [register] only when no lane has to load from it:
//! `operand` (73.70 us).
//!
//! Constant memory is a part of global memory, at most 64 KiB per module, that kernels can only
//! read. It has a cache of its own in each multiprocessor. That cache serves one address at a time
//! and hands the word to all lanes of a [warp] that want it. So a [request] for k different words
//! takes k [wavefronts][wavefront] of that cache:
//!
//! ```text
//! different words in a request       1   2   4   8  16  32
//!   constant, parameter              1   2   4   8  16  32    wavefronts of the constant cache
//!   shared                           1   1   1   1   1   1    wavefronts: the words are in different banks
//!   global, read_only                1   1   1   1   2   4    sectors of 8 words, all in one cache line
//! ```
//!
//! How it is measured: a table of 31 rows of 32 words says for each word where to go next, always
//! three rows further. Each lane takes `STEPS` = 256 steps, and every step waits for the one
//! before, so that no load can be left out. Lane i begins in column i % `distinct`, so a warp asks
//! for `distinct` different words at a time. The times below are for `distinct` = 1, the best case
//! of constant memory.
//!
//! 1. `global`. The table is in global memory. The counter shows 1 to 4 [sectors][sector] per load.
//!    All loads are served by the [L1 cache].
//! 2. `read_only` uses the read-only path (`ld.global.nc`, `__ldg` in CUDA C++). The counter and
//!    the time are the same: on current GPUs that path is the L1 cache.
//! 3. `shared`. The idea: copy the table into [shared memory] once per block. It costs the copy and
//!    a [barrier]; a request costs one wavefront.
//! 4. `parameter` and `constant`. The idea: no copy at all. A parameter by value is in constant
//!    memory, and so is a constant static that the host writes by its name. The counter shows 1
//!    wavefront per request, for `distinct` = 1. But such a wavefront takes two clock cycles, and
//!    each further word takes two more.
//! 5. `register`. Another task: a polynomial whose 8 coefficients are the same for all lanes and
//!    known by their place. They are loaded into registers once.
//! 6. `operand`. The idea: an instruction can name a word of constant memory as its operand, as it
//!    names a register. For sm_80 the assembler writes `IMAD R5, R0, R5, c[0x3][0x4]`; for sm_90 a
//!    warp reads the word once into a uniform register (`ULDC`). It costs no registers per lane and
//!    no load.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | constant wavefronts | limited by |
//! |---|---|---|---|---|---|
//! | `global` | the table is in global memory | ceil(distinct / 8) | 4 | none | latency and requests of L1 |
//! | `read_only` | the loads use the read-only path | ceil(distinct / 8) | 4 | none | latency and requests of L1 |
//! | `shared` | each block copies the table into shared memory and reads it there | 4 | 4 | none | latency and requests of shared memory |
//! | `parameter` | the table is a kernel parameter, passed by value | none | 4 | distinct | wavefronts of the constant cache |
//! | `constant` | the table is a constant static that the host writes by its name | none | 4 | distinct | wavefronts of the constant cache |
//! | `register` | another task: all lanes use the same 8 words, `STEPS` times, from registers | 1 | 4 | none | multiply-adds |
//! | `operand` | the 8 words are operands in constant memory | none | 4 | 1 | multiply-adds |
//!
//! Expected: the time of `constant` (269.1 us) and `parameter` (268.9 us) is a straight line over
//! `distinct`, as the sweep shows; that of `global` (173.4 us), `read_only` (173.3 us) and
//! `shared` (141.4 us) is flat. `register` (74.40 us) and `operand` (73.70 us) are equal: reading
//! an operand costs nothing.
//!
//! Where the time of `constant` goes: 2^22 threads / 32 lanes x 256 steps / 132 multiprocessors =
//! 254 thousand requests for each multiprocessor. `constant` (269.1 us) takes 2.1 cycles
//! (`constant` x clock of `constant` x 132 x 32 / 2^22 / 256) for each of them, and `shared` (141.4
//! us) takes 1.1 cycles (`shared` x clock of `shared` x 132 x 32 / 2^22 / 256).
//!
//! A constant static in CUDA C++, and the two ways to read it:
//!
//! ```cuda
//! __constant__ uint32_t table[992];       // #[address_space(constant)] static mut TABLE: [u32; 992]
//! at = table[at];                         // computed index: a load, one wavefront for each different word
//! value = value * x + table[3];           // known place, all lanes alike: an operand
//! ```
//!
//! Common misconception: "constant memory is fast". It is fast for uniform reads at a place that is
//! known when the kernel is compiled. A table in which each lane reads elsewhere belongs in shared
//! memory.
//!
//! Common misconception: "loads with `__ldg` are faster". `read_only` has the same counter and the
//! same time as `global`.
//!
//! Questions:
//! - Why is the slowest case 32 wavefronts? A warp has 32 lanes, so it can ask for 32 different
//!   words.
//! - Is a parameter table read like a plain array in Rust, `table[at]`? Not in a kernel: rustc
//!   hands over an array as one value, and a computed index makes LLVM copy all 4 KiB to
//!   [local memory], for each thread. `parameter_word` reads the word where the launch has put it.
//! - Why 31 rows? A kernel takes at most 4096 bytes of parameters: 31 x 128 B + 16 B of other
//!   parameters = 3984 B. A 32nd row would be too much.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `global` | 173.4 | 97 |  | 1.00 |
//! | `read_only` | 173.3 | 97 |  | 1.00 |
//! | `shared` | 141.4 | 119 |  | 1.23 |
//! | `parameter` | 268.9 | 62 |  | 0.64 |
//! | `constant` | 269.1 | 62 |  | 0.64 |
//! | `register` | 74.40 | 226 |  | 2.33 |
//! | `operand` | 73.70 | 228 |  | 2.35 |
//! | *nvcc constant* | 268.0 | 63 |  | 0.65 |
//! | *nvcc shared* | 145.5 | 115 |  | 1.19 |
//! <!-- /measured -->
//!
//! Preconditions: `distinct` from 1 to 32. All constant statics of a module share 64 KiB; the build
//! refuses more. Only the first 7 rows are visited, 896 B, which any constant cache holds.
//!
//! Source: CUDA C++ Best Practices Guide, "Constant Memory"; CUDA C++ Programming Guide, "Technical
//! Specifications per Compute Capability" (64 KiB) and "Function Parameters" (4096 B); Jia et al.,
//! "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (a first-level constant
//! cache of 2 KiB).
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::memory;
use cuda_std::prelude::*;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Dependent reads of the table by each thread.
pub const STEPS: u32 = 256;
/// Words of a row: as many different words as a warp can ask for in one request.
pub const ROW: u32 = 32;
/// Words of the table.
pub const TABLE: u32 = 31 * ROW;
/// Words that `register` and `operand` use.
pub const COEFFICIENTS: u32 = 8;

// The parameters of `constant_memory_parameter`: the table, a pointer and two numbers.
const _: () = assert!(TABLE * 4 + 16 <= 4096);
const _: () = assert!(STEPS.is_multiple_of(COEFFICIENTS));

/// The table in constant memory; the host writes it by this name.
#[address_space(constant)]
pub static mut CONSTANT_MEMORY_TABLE: [u32; TABLE as usize] = [0; TABLE as usize];

/// The index of the word that is reached after `STEPS` steps from word `start`.
#[inline(always)]
fn walk(start: u32, entry: impl Fn(usize) -> u32) -> u32 {
    let mut index = start;
    for _ in 0..STEPS {
        index = entry(index as usize);
    }
    index
}

/// The word in which this thread begins.
#[inline(always)]
fn start(distinct: u32) -> u32 {
    thread::thread_idx_x() % ROW % distinct
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `distinct` from 1 to `ROW`.
/// - `table` valid for `TABLE` u32, each below `TABLE`, `target` for `n` u32, not overlapping.
#[kernel]
pub unsafe fn constant_memory_global(table: *const u32, target: *mut u32, distinct: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the start and every entry are in the table; i < n.
        unsafe { *target.add(i as usize) = walk(start(distinct), |at| *table.add(at)) };
    }
}

/// # Safety
/// - As for [`constant_memory_global`].
/// - Nobody writes the table.
#[kernel]
pub unsafe fn constant_memory_read_only(
    table: *const u32,
    target: *mut u32,
    distinct: u32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the start and every entry are in the table; i < n.
        unsafe {
            *target.add(i as usize) = walk(start(distinct), |at| memory::load_nc(table.add(at)));
        }
    }
}

/// # Safety
/// - As for [`constant_memory_global`].
#[kernel]
pub unsafe fn constant_memory_shared(table: *const u32, target: *mut u32, distinct: u32, n: u32) {
    let words = shared_array!(WORDS: [u32; TABLE]);
    let i = thread::index_1d();
    let mut word = thread::thread_idx_x();
    // SAFETY: word < TABLE, each word has one writer, and readers come after the barrier; the start
    // and every entry are in the table; i < n.
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

/// Reads `table[index]` of the first parameter of `constant_memory_parameter` where the launch has put it.
///
/// Plain `table[index]` would not do that: rustc passes an array to a kernel as one value, and an index
/// that is computed at run time makes LLVM copy that value to local memory, 4 KiB per thread.
///
/// # Safety
/// - Called by `constant_memory_parameter` only, with its parameter.
/// - `at < TABLE`.
#[inline(always)]
unsafe fn parameter_word(table: &[u32; TABLE as usize], index: usize) -> u32 {
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
                offset = in(reg64) index * 4,
                word = out(reg32) word,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        word
    }
    #[cfg(not(target_arch = "nvptx64"))]
    table[index]
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `distinct` from 1 to `ROW`.
/// - Each word of `table` below `TABLE`; `target` valid for `n` u32.
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
        // SAFETY: the start and every entry are in the table; i < n.
        unsafe { *target.add(i as usize) = walk(start(distinct), |at| parameter_word(&table, at)) };
    }
}

/// # Safety
/// - As for [`constant_memory_parameter`], for the words of `CONSTANT_MEMORY_TABLE`.
#[kernel]
pub unsafe fn constant_memory_constant(target: *mut u32, distinct: u32, n: u32) {
    let table = (&raw const CONSTANT_MEMORY_TABLE).cast::<u32>();
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the start and every entry are in the table; i < n.
        unsafe { *target.add(i as usize) = walk(start(distinct), |at| *table.add(at)) };
    }
}

/// The value at `x` of a polynomial of degree `STEPS` with repeating coefficients: `STEPS`
/// multiply-adds, each of which uses one coefficient.
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

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `table` valid for `COEFFICIENTS` u32, `target` for `n` u32, not overlapping.
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

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `target` valid for `n` u32.
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
