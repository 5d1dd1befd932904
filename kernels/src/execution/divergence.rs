//! # Divergence: a warp pays for every path that one of its lanes takes
//!
//! Shows: a [warp] executes the paths of its [lanes][lane] one after another, so its time is the
//! sum over the paths it takes; lanes of one path belong in one warp.
//!
//! The surprise: a counter of active lanes cannot tell a good kernel from a bad one. In `branched`
//! only a few of the 32 lanes are active in each instruction. `predicated` has no branch at all, and
//! its counter shows 32 of 32 lanes. Yet it does no less work: every lane computes all paths and
//! throws away all results but one.
//!
//! Each element has a kind, and each kind is treated by a path of its own: 64 steps of arithmetic.
//! The elements are in the worst order, in which neighbours have different kinds. With 4 kinds:
//!
//! ```text
//! lanes of a warp     0 1 2 3 4 5 6 7 ...        issued, each for the time of a whole path
//! branched            a b c d a b c d ...        a...a... .b...b.. ..c...c. ...d...d    4 paths, 8 lanes each
//! predicated          a b c d a b c d ...        aaaaaaaa bbbbbbbb cccccccc dddddddd    4 paths, 32 lanes each
//! regrouped           a a a a a a a a ...        aaaaaaaa                               1 path, 32 lanes
//! ```
//!
//! 1. `branched`. Each thread tests the kinds in turn, as a `switch` does. At each test some lanes
//!    take the path and the others wait, which is [divergence]. With p kinds a warp executes
//!    p x 64 steps, and 32 / p lanes are active in them. The data decide that: the same kernel takes
//!    one path per warp when all neighbours agree.
//! 2. `predicated`. All lanes compute every path and select a result afterwards. Compilers do this
//!    for short paths, because a few wasted instructions are cheaper than a branch. Here a path is
//!    64 steps, so nothing is saved. What remains: p x 64 steps per warp.
//! 3. `regrouped`. The idea: different warps may take different paths at no cost, so sort the
//!    elements of a block by kind before the paths and put the results back in order afterwards. It
//!    costs an atomic and a few accesses of [shared memory] per element, and five
//!    [barriers][barrier]. A block of 1024 threads has 32 warps, so up to 32 kinds fit without a
//!    mixed warp if all are equally frequent.
//! 4. `rearranged`. If the data can be stored in the order of their kinds, nothing has to be
//!    regrouped. It is the kernel of `branched` again; only the array is different.
//! 5. `branchless`. The paths differ only in two numbers. Then they need not be paths: the numbers
//!    are computed from the kind, and there is nothing left to diverge. This works in any order of
//!    the elements, but only for paths that are alike.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | active lanes per instruction | limited by |
//! |---|---|---|---|---|---|
//! | `branched` | each thread takes the path of its kind, and neighbours have different kinds | 4 | 4 | 7.45 | instructions: p paths per warp |
//! | `predicated` | all lanes compute all paths and select a result | 4 | 4 | 32 | instructions: p paths per warp |
//! | `regrouped` | each block sorts its elements by kind in shared memory first | 4 | 4 | 32 | instructions: 1 path per warp, and the sorting |
//! | `rearranged` | the array is in the order of the kinds, and nothing is sorted | 4 | 4 | 32 | the tests of the kinds, arithmetic |
//! | `branchless` | one path for all kinds, with numbers computed from the kind | 4 | 4 | 32 | arithmetic and device memory |
//!
//! The active lanes of `branched` are those of 8 kinds. Of the PTX instructions of a warp, 69 of each
//! path run with 4 lanes, one jump around each path with the other 28, and 71 instructions before,
//! between and after the paths with all 32: (8 x 69 x 4 + 8 x 28 + 71 x 32) / (8 x 70 + 71) = 7.45.
//!
//! Expected: with p kinds, `branched` and `predicated` take p times as long as with one, once
//! arithmetic is what limits them. A [multiprocessor] multiplies 64 integers per clock cycle, so 2^24
//! elements take at least 2^24 x 64 / (132 x 64) = 127100 cycles per path on an H200. Its memory
//! moves at most 2400 bytes per cycle, and so 2^24 x 12 bytes in 83900 cycles. So `rearranged` and
//! `branchless` are limited by arithmetic and memory about equally, and do not depend on p.
//! `regrouped` adds a fixed cost, which is worth while from a few kinds on.
//! Measured with 8 kinds: `branched` (554.0 us), `predicated` (539.1 us), `regrouped` (171.5 us), `rearranged`
//! (138.5 us), `branchless` (101.9 us).
//!
//! The key kernel in CUDA C++:
//!
//! ```cuda
//! for (uint32_t path = 0; path < paths; path++)
//!     if (kinds[i] == path) value = work(value, path);        // lanes of other kinds wait here
//! ```
//!
//! Common misconception: "branches are slow on a GPU". A branch on which all lanes of a warp agree
//! costs one or two instructions. In `rearranged` each thread meets as many branches as in
//! `branched`; what costs is disagreement.
//!
//! Common misconception: "high warp execution efficiency means that lanes do useful work".
//! `predicated` has 32 active lanes, and at 8 kinds 7 of 8 results are thrown away.
//!
//! Questions:
//! - Do the lanes of different paths run at the same time on newer GPUs? No. From
//!   [compute capability] 7.0 on each lane has its own program counter, so the hardware may switch
//!   between paths, for example while one waits for memory. But a warp still issues one instruction
//!   at a time, for the lanes of one path.
//! - Is half a warp cheaper than a whole one? No. An instruction with one active lane takes the same
//!   issue slot as one with 32.
//! - Why does each path begin with an empty piece of assembly? So that the compiler does not find
//!   out that the paths are alike, which would make `branchless` of `branched`. Real paths are
//!   different code.
//! - Where does divergence come from in practice? From edges (`if i < n`, one warp per grid), from
//!   data (as here), from loops with a different number of rounds per lane, and from the lane's
//!   number, as in the first tree of `reduction`.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `branched` | 0.554 | 363 | 8 | 1.00 |
//! | `predicated` | 0.539 | 373 | 9 | 1.03 |
//! | `regrouped` | 0.171 | 1174 | 27 | 3.23 |
//! | `rearranged` | 0.138 | 1454 | 34 | 4.00 |
//! | `branchless` | 0.102 | 1975 | 46 | 5.44 |
//! | *nvcc branched* | 0.554 | 363 | 8 | 1.00 |
//! | *nvcc rearranged* | 0.138 | 1455 | 34 | 4.00 |
//! <!-- /measured -->
//!
//! Preconditions: from 1 to 32 kinds.
//!
//! Source: CUDA C++ Programming Guide, "SIMT Architecture"; CUDA C++ Best Practices Guide, "Branching
//! and Divergence".
#![doc = include_str!("../../../crates/report/src/links.md")]

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_idx, warp_shuffle_up};

/// Threads per block of all variants but `regrouped`.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Threads per block of `regrouped`: 32 warps, one for each of the most kinds there may be.
pub const REGROUPED_BLOCK: u32 = 1024;
/// The most kinds of elements.
pub const MAX_PATHS: u32 = WARP_SIZE;
/// Steps of arithmetic in a path.
pub const STEPS: u32 = 64;
/// Words of shared memory for one per thread, with an unused word after each 32.
const PADDED: usize = padded(REGROUPED_BLOCK);

/// The place of word `i` in an array with an unused word after each 32, so that words that are a
/// multiple of 32 apart are in different banks.
const fn padded(i: u32) -> usize {
    (i + i / WARP_SIZE) as usize
}

/// Returns what a path does: `STEPS` steps of a generator of random numbers, whose factor depends on the kind.
#[inline(always)]
fn work(value: u32, kind: u32) -> u32 {
    let factor = 8 * kind + 5;
    (0..STEPS).fold(value, |value, _| value.wrapping_mul(factor).wrapping_add(kind + 1))
}

/// The same number, in a way that the compiler cannot look into: paths that begin with it are different to it.
#[inline(always)]
fn opaque(kind: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let mut kind = kind;
        // SAFETY: an empty piece of assembly, which touches nothing but its operand.
        unsafe { core::arch::asm!("/* {0} */", inout(reg32) kind, options(nostack)) };
        kind
    }
    #[cfg(not(target_arch = "nvptx64"))]
    kind
}

/// Finds the path of a kind by testing all of them, and takes it.
#[inline(always)]
fn switch(value: u32, kind: u32, paths: u32) -> u32 {
    let mut result = value;
    for path in 0..paths {
        if kind == path {
            result = work(value, opaque(path));
        }
    }
    result
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `values` and `kinds` valid for `n` u32, each kind below `paths`.
/// - `target` valid for `n` u32 and overlapping neither.
#[kernel]
pub unsafe fn divergence_branched(
    values: *const u32,
    kinds: *const u32,
    target: *mut u32,
    paths: u32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, and the arrays hold n elements (launch contract).
        unsafe { *target.add(i) = switch(*values.add(i), *kinds.add(i), paths) };
    }
}

/// # Safety
/// - As for [`divergence_branched`].
#[kernel]
pub unsafe fn divergence_predicated(
    values: *const u32,
    kinds: *const u32,
    target: *mut u32,
    paths: u32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, and the arrays hold n elements (launch contract).
        unsafe {
            let (value, kind) = (*values.add(i), *kinds.add(i));
            let mut result = value;
            for path in 0..paths {
                let of_path = opaque(work(value, opaque(path)));
                result = if kind == path { of_path } else { result };
            }
            *target.add(i) = result;
        }
    }
}

/// # Safety
/// - As for [`divergence_branched`], with blocks of `REGROUPED_BLOCK` threads and `paths` of at most `MAX_PATHS`.
#[kernel]
pub unsafe fn divergence_regrouped(
    values: *const u32,
    kinds: *const u32,
    target: *mut u32,
    paths: u32,
    n: u32,
) {
    let counts = shared_array!(COUNTS: [u32; MAX_PATHS]);
    let (words, owners) =
        (shared_array!(VALUES: [u32; PADDED]), shared_array!(OWNERS: [u32; PADDED]));
    let (i, tid) = (thread::index_1d(), thread::thread_idx_x());
    let first = i - tid;
    // The elements of this block: all of them but in the last block.
    let len = (n - first).min(REGROUPED_BLOCK);
    // SAFETY: i < n where an array is accessed; a kind is below MAX_PATHS; a place is below `len`, and no two elements
    // have the same one, because places count the elements of smaller kinds and those of the same kind before.
    unsafe {
        if tid < MAX_PATHS {
            *counts.add(tid as usize) = 0;
        }
        thread::sync_threads();
        let (mut value, mut kind, mut place) = (0, 0, 0);
        if tid < len {
            (value, kind) = (*values.add(i as usize), *kinds.add(i as usize));
            place = AtomicU32::from_ptr(counts.add(kind as usize)).fetch_add(1, Relaxed);
        }
        thread::sync_threads();
        // Each warp for itself: lane l counts the elements of kinds below l.
        let own = *counts.add(lane_id() as usize);
        let mut sum = own;
        let mut step = 1;
        while step < WARP_SIZE {
            let (lower, is_inside) = warp_shuffle_up(FULL_MASK, sum, step, WARP_SIZE);
            sum += if is_inside { lower } else { 0 };
            step *= 2;
        }
        place += warp_shuffle_idx(FULL_MASK, sum - own, kind, WARP_SIZE).0;
        if tid < len {
            *words.add(padded(place)) = value;
            *owners.add(padded(place)) = tid * MAX_PATHS + kind;
        }
        thread::sync_threads();
        let (mut result, mut owner) = (0, 0);
        if tid < len {
            owner = *owners.add(padded(tid));
            result = switch(*words.add(padded(tid)), owner % MAX_PATHS, paths);
        }
        thread::sync_threads();
        if tid < len {
            *words.add(padded(owner / MAX_PATHS)) = result;
        }
        thread::sync_threads();
        if tid < len {
            *target.add(i as usize) = *words.add(padded(tid));
        }
    }
}

/// # Safety
/// - As for [`divergence_branched`].
#[kernel]
pub unsafe fn divergence_rearranged(
    values: *const u32,
    kinds: *const u32,
    target: *mut u32,
    paths: u32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, and the arrays hold n elements (launch contract).
        unsafe { *target.add(i) = switch(*values.add(i), *kinds.add(i), paths) };
    }
}

/// # Safety
/// - As for [`divergence_branched`].
#[kernel]
pub unsafe fn divergence_branchless(
    values: *const u32,
    kinds: *const u32,
    target: *mut u32,
    paths: u32,
    n: u32,
) {
    let _ = paths;
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n, and the arrays hold n elements (launch contract).
        unsafe { *target.add(i) = work(*values.add(i), *kinds.add(i)) };
    }
}
