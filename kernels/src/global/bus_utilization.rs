//! # Bus utilisation: how much of what is moved was asked for
//!
//! Shows: the unit of a load is the 32-byte sector, with the first-level cache or without it.
//!
//! Five shapes of a load, one word per lane. `ld.ca` caches in L1 and L2, `ld.cg` in L2 only:
//!
//! ```text
//! shape         word of lane i                    sectors  lines  used of sectors  used of lines
//!   aligned     32 w + i, w = warp                      4      1         100 %          100 %
//!   permuted    32 w + p(i)                             4      1         100 %          100 %
//!   misaligned  32 w + i + 1                            5      2          80 %           50 %
//!   one address 32 w                                    1      1        12.5 %        3.125 %
//!   random      a random word of the i-th 32nd         32     32        12.5 %        3.125 %
//! ```
//!
//! used = bytes of the distinct words asked for / bytes of the sectors or lines touched.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `random_ca` | a random word of the 32nd of the array that is the lane's | 32 | 4 | sectors, each for one word |
//! | `random_cg` | without L1 | 32 | 4 | sectors, each for one word |
//! | `misaligned_ca` | 32 neighbouring words, one off the line | 5 | 4 | bytes in flight |
//! | `misaligned_cg` | without L1: the neighbour's sector comes from L2 once more | 5 | 4 | bytes in flight |
//! | `one_address_ca` | all lanes load the line's first word | 1 | 4 | stores |
//! | `one_address_cg` | without L1 | 1 | 4 | stores |
//! | `permuted_ca` | each lane a word of the line, in a scrambled order | 4 | 4 | bytes in flight |
//! | `permuted_cg` | without L1 | 4 | 4 | bytes in flight |
//! | `aligned_ca` | lane order = word order | 4 | 4 | bytes in flight |
//! | `aligned_cg` | without L1 | 4 | 4 | bytes in flight |
//!
//! Taught but wrong, or dated: "cached loads move 128 bytes, uncached ones 32", and so 100, 100, 50,
//! 3.125 and 0.02 % of the cached bus, 100, 100, 80, 12.5 and 3.9 % of the uncached one. Since compute
//! capability 6.0 both move sectors, and the 80 and 12.5 % hold either way. Random words use 4 B of
//! 32 B = 12.5 % of their sectors and 4 B of 128 B = 3.125 % of their lines: not 3.9 and not
//! 0.02 %.
//!
//! Expected: each `ca` is about as fast as its `cg`. `misaligned` is nearly as fast as `aligned`, as
//! in `misalignment`. The stated bytes are those of `aligned`.
//!
//! Preconditions: none.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; PTX ISA, "Cache
//! Operators"; Nsight Compute, Kernel Profiling Guide, "L1/TEX Cache".

use cuda_std::memory::{load_ca, load_cg};
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Words that `source` has beyond `n`: the reach of `misaligned`.
pub const REACH: u32 = 1;

/// A random word of the 32nd of the array that belongs to the thread's lane.
#[inline(always)]
fn random_word(i: u32, n: u32) -> u32 {
    let rows = n.div_ceil(WARP_SIZE);
    let mut bits = i.wrapping_mul(0x9E37_79B9);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85EB_CA6B);
    bits ^= bits >> 13;
    (i % WARP_SIZE * rows + bits % rows) % n
}

/// Naive: each lane loads a random word of a 32nd of the array, so no two share a sector.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `source` valid for `n + REACH`
/// f32, `target` for `n`, not overlapping.
#[kernel]
pub unsafe fn bus_utilization_random_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add(random_word(i, n) as usize)) };
    }
}

/// Change from `random_ca`: L1 is left out.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_random_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add(random_word(i, n) as usize)) };
    }
}

/// Change from `random_cg`: with L1, 32 neighbouring words that begin one word behind a line's start.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_misaligned_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i + REACH < n + REACH, the length of `source` (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add((i + REACH) as usize)) };
    }
}

/// Change from `misaligned_ca`: L1 is left out.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_misaligned_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i + REACH < n + REACH, the length of `source` (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add((i + REACH) as usize)) };
    }
}

/// Change from `misaligned_cg`: with L1, all lanes load the first word of their warp's line.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_one_address_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add((i - i % WARP_SIZE) as usize)) };
    }
}

/// Change from `one_address_ca`: L1 is left out.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_one_address_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add((i - i % WARP_SIZE) as usize)) };
    }
}

/// The word of a line that a lane of `permuted` loads; the last word when the line ends early.
#[inline(always)]
fn permuted_word(i: u32, n: u32) -> u32 {
    // Multiplying by an odd number permutes the lanes.
    let word = i - i % WARP_SIZE + (i % WARP_SIZE * 5 + 3) % WARP_SIZE;
    if word < n { word } else { n - 1 }
}

/// Change from `one_address_cg`: with L1, each lane loads another word of the line.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_permuted_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add(permuted_word(i, n) as usize)) };
    }
}

/// Change from `permuted_ca`: L1 is left out.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_permuted_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: both indices are below n (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add(permuted_word(i, n) as usize)) };
    }
}

/// Change from `permuted_cg`: with L1, lane i loads word i of the line.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_aligned_ca(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n (launch contract).
        unsafe { *target.add(i as usize) = load_ca(source.add(i as usize)) };
    }
}

/// Change from `aligned_ca`: L1 is left out.
///
/// # Safety
/// Launch contract: as for [`bus_utilization_random_ca`].
#[kernel]
pub unsafe fn bus_utilization_aligned_cg(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n (launch contract).
        unsafe { *target.add(i as usize) = load_cg(source.add(i as usize)) };
    }
}
