//! # Bus utilization: which part of the bytes that move was asked for
//!
//! Shows: the unit of a load is the 32-byte [sector], with the [L1 cache] or without it.
//!
//! The surprise: a widespread rule says that loads through the L1 cache move 128 bytes and other
//! loads move 32 bytes, so that random access should leave L1 out. Since compute capability 6.0
//! both move sectors of 32 bytes: `random_ca` (1.641 ms), through L1, and `random_cg` (1.641 ms),
//! without it, move the same bytes in the same time.
//!
//! Global memory moves in sectors of 32 bytes. Four sectors form a [cache line] of 128 bytes. A
//! line is what a cache keeps an address for; it may hold only some of its sectors. Here five
//! shapes of a load, one word of 4 bytes per [lane], are read in two ways: `ld.ca` caches in L1 and
//! in the [L2 cache], `ld.cg` caches in L2 only. For each [request] of a [warp]:
//!
//! ```text
//! shape         word of lane i of warp w           sectors  lines  used of sectors       used of lines
//!   aligned     32 w + i                                4      1   128 / 128 = 100 %     128 / 128 = 100 %
//!   permuted    32 w + p(i), a scrambled order          4      1   128 / 128 = 100 %     128 / 128 = 100 %
//!   misaligned  32 w + i + 1                            5      2   128 / 160 =  80 %     128 / 256 =  50 %
//!   one address 32 w                                    1      1     4 /  32 = 12.5 %      4 / 128 = 3.125 %
//!   random      a random word of the i-th 32nd         32     32   128 / 1024 = 12.5 %   128 / 4096 = 3.125 %
//! ```
//!
//! used = bytes of the different words asked for / bytes of the sectors (or lines) touched.
//!
//! 1. `random_ca`. The counter shows 32 sectors for 32 lanes: 4 bytes of each 32 are used.
//!    `random_cg` leaves L1 out. The counter shows the same 32 sectors, because L1 fetches single
//!    sectors too.
//! 2. `misaligned` shows 5 sectors. The fifth is the first sector of the next warp. With `ca` the
//!    next warp may find it in L1, with `cg` it comes from L2 once more. Neither costs much.
//! 3. `one_address` shows 1 sector: the hardware sends one word to all lanes, which is a broadcast.
//!    What remains are the stores, 4 sectors each. The low utilization of 12.5 % does no harm here,
//!    since only one sector moves.
//! 4. `permuted` and `aligned` show 4 sectors: both are [coalesced]. The order of lanes within a
//!    warp does not matter. What remains: one word per lane is too few [bytes in flight] to fill
//!    device memory.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `random_ca` | lane i loads a random word of the i-th 32nd of the array | 32 | 4 | sectors, each for one word |
//! | `random_cg` | the same without L1 | 32 | 4 | sectors, each for one word |
//! | `misaligned_ca` | a warp loads 32 neighbouring words, starting one word after a cache line | 5 | 4 | bytes in flight |
//! | `misaligned_cg` | without L1: the sector shared with the next warp comes from L2 twice | 5 | 4 | bytes in flight |
//! | `one_address_ca` | all lanes load the first word of a cache line | 1 | 4 | stores |
//! | `one_address_cg` | the same without L1 | 1 | 4 | stores |
//! | `permuted_ca` | a warp loads the 32 words of a cache line, in a scrambled order | 4 | 4 | bytes in flight |
//! | `permuted_cg` | the same without L1 | 4 | 4 | bytes in flight |
//! | `aligned_ca` | lane i loads word i of the cache line | 4 | 4 | bytes in flight |
//! | `aligned_cg` | the same without L1 | 4 | 4 | bytes in flight |
//!
//! Expected: each `ca` variant is about as fast as its `cg` twin. `aligned_ca` (0.199 ms),
//! `permuted_ca` (0.203 ms) and `misaligned_ca` (0.206 ms) are nearly equal;
//! `one_address_ca` (0.191 ms) is a little faster. Only `random_ca` (1.641 ms) is slow: it moves
//! 32 / 4 = 8 times the sectors of `aligned_ca`. The bandwidth of every row is computed from the
//! bytes that `aligned` needs, so that rows can be compared.
//!
//! In CUDA C++ and in Rust, the two ways are one function each:
//!
//! ```cuda
//! target[i] = __ldca(&source[word]);   // load_ca(source.add(word)): in L1 and L2
//! target[i] = __ldcg(&source[word]);   // load_cg(source.add(word)): in L2 only
//! ```
//!
//! Common misconception: "random words use 0.02 % of the bytes that move when they are cached in
//! L1, and 3.9 % when they are not". A request of 32 random words touches at most 32 sectors: 128 /
//! 1024 = 12.5 %, with L1 or without it. Even if whole lines moved, it would be 128 / 4096 =
//! 3.125 %.
//!
//! Common misconception: "a misaligned load uses 50 % with L1 and 80 % without". It uses 128 / 160
//! = 80 % either way. That rule was true for GPUs before compute capability 6.0, which moved whole
//! lines into L1.
//!
//! Questions:
//! - When should a kernel leave L1 out? When the data is used once and other data in L1 should
//!   survive. It does not change how many sectors move.
//! - Why can utilization never be below 12.5 %? A sector that moves has at least one of its 8 words
//!   used, if words have 4 bytes: 4 / 32 = 12.5 %. With single bytes it could be 1 / 32.
//! - Is utilization the same as speed? No. `one_address` has a utilization of 12.5 % and is the
//!   fastest shape here.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `random_ca` | 1.641 | 327 | 8 | 1.00 |
//! | `random_cg` | 1.641 | 327 | 8 | 1.00 |
//! | `misaligned_ca` | 0.206 | 2612 | 61 | 7.99 |
//! | `misaligned_cg` | 0.205 | 2619 | 61 | 8.00 |
//! | `one_address_ca` | 0.191 | 2817 | 66 | 8.61 |
//! | `one_address_cg` | 0.191 | 2817 | 66 | 8.61 |
//! | `permuted_ca` | 0.203 | 2648 | 62 | 8.09 |
//! | `permuted_cg` | 0.203 | 2648 | 62 | 8.09 |
//! | `aligned_ca` | 0.199 | 2695 | 63 | 8.24 |
//! | `aligned_cg` | 0.199 | 2694 | 63 | 8.24 |
//! | *nvcc random_ca* | 1.641 | 327 | 8 | 1.00 |
//! | *nvcc random_cg* | 1.641 | 327 | 8 | 1.00 |
//! <!-- /measured -->
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; PTX ISA, "Cache
//! Operators"; Nsight Compute, Kernel Profiling Guide, "L1/TEX Cache".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::memory::{load_ca, load_cg};
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Words that `source` has beyond `n`, because `misaligned` reads so many words further.
pub const REACH: u32 = 1;

/// The index of a random word in the i-th 32nd of the array, where i is the thread's lane.
#[inline(always)]
fn random_word(i: u32, n: u32) -> u32 {
    let rows = n.div_ceil(WARP_SIZE);
    let mut bits = i.wrapping_mul(0x9E37_79B9);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85EB_CA6B);
    bits ^= bits >> 13;
    (i % WARP_SIZE * rows + bits % rows) % n
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` valid for `n + REACH` f32, `target` for `n`, not overlapping.
#[kernel]
pub unsafe fn bus_utilization_random_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add(random_word(i, n) as usize)) };
    }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_random_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add(random_word(i, n) as usize)) };
    }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_misaligned_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i + REACH < n + REACH, the length of `source` (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add((i + REACH) as usize)) };
    }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_misaligned_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i + REACH < n + REACH, the length of `source` (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add((i + REACH) as usize)) };
    }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_one_address_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add((i - i % WARP_SIZE) as usize)) };
    }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_one_address_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add((i - i % WARP_SIZE) as usize)) };
    }
}

/// The word of a cache line that a lane of `permuted` loads, or the last word of the array if it ends
/// before.
#[inline(always)]
fn permuted_word(i: u32, n: u32) -> u32 {
    // Multiplying by an odd number permutes the lanes.
    let word = i - i % WARP_SIZE + (i % WARP_SIZE * 5 + 3) % WARP_SIZE;
    if word < n { word } else { n - 1 }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_permuted_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add(permuted_word(i, n) as usize)) };
    }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_permuted_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add(permuted_word(i, n) as usize)) };
    }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_aligned_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add(i as usize)) };
    }
}

/// # Safety
/// - As for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_aligned_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add(i as usize)) };
    }
}
