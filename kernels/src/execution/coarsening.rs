//! # Thread coarsening: several elements per thread, a block apart
//!
//! Shows: several elements per thread put more [bytes in flight] and share the thread's other work;
//! the elements of a thread must be a block apart, or one [vectorized access].
//!
//! The surprise: the natural way to give each thread more work is the way of a CPU program, a
//! consecutive piece per thread. Here it multiplies the [sectors][sector] of every access by up to
//! 8, because what counts is not what one thread touches in all its instructions, but what 32
//! [lanes][lane] touch in one.
//!
//! With 4 elements per thread, the first load of a [warp] touches:
//!
//! ```text
//! consecutive_4   lane i -> a[4i]     |x...x...|x...x...|x...x...|x...x...| ..   16 sectors, 25 % used
//!                 the next loads      |.x...x..|.x...x..| ..                     the same 16 sectors again
//! strided_4       lane i -> a[i]      |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|       4 sectors, 100 % used
//!                 the next loads      the same, 256 words further: 4 other sectors
//! vectorized_4    lane i -> a[4i..+4] |xxxxxxxx|xxxxxxxx| ..                     16 sectors, 100 % used, in one load
//! ```
//!
//! 1. `one`. Each thread multiplies one element. The accesses are [coalesced], but a warp has only
//!    32 x 4 B = 128 bytes in flight, and for each element a thread is started, computes an address
//!    and tests a bound.
//! 2. `consecutive_2` to `consecutive_16`. The idea, called [thread coarsening]: let one thread do
//!    what k threads did. All loads of a thread begin before its first store, so k times the bytes
//!    are in flight. But neighbouring lanes are now 4 k bytes apart, and the counter shows min(4 k,
//!    32) sectors per request. A load finds most of them in the [L1 cache], because the thread's
//!    other loads use the rest of each sector. L1 also merges the stores of a warp into whole
//!    sectors while these stores are close together. With 2 and 4 elements it writes each sector to
//!    the [L2 cache] about once, as Nsight Compute counts on an H100. From 8 elements on it no
//!    longer can, and each sector is written several times, a part at a time.
//! 3. `strided_2` to `strided_16`. A thread takes every 256th element of its block's piece instead.
//!    Each access is coalesced, as in `one`, and k of them are in flight. It costs [registers][register]
//!    for the elements on their way.
//! 4. `vectorized_4`. Four consecutive elements are right after all, if one instruction moves them:
//!    16 sectors for 16 bytes per lane are the fewest possible. It costs an [alignment] of 16 bytes.
//! 5. `vectorized_16` combines both: four 16-byte accesses, a block apart.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `one` | one element per thread | 4 | 4 | bytes in flight |
//! | `consecutive_2` | each thread works on 2 consecutive elements | 8 | 8 | bytes in flight |
//! | `consecutive_4` | 4 consecutive elements | 16 | 16 | device memory |
//! | `consecutive_8` | 8 consecutive elements | 32 | 32 | stores of partial sectors |
//! | `consecutive_16` | 16 consecutive elements | 32 | 32 | stores of partial sectors, lines in L1 |
//! | `strided_2` | each thread works on 2 elements that are a block apart | 4 | 4 | bytes in flight |
//! | `strided_4` | 4 such elements | 4 | 4 | device memory |
//! | `strided_8` | 8 such elements | 4 | 4 | device memory |
//! | `strided_16` | 16 such elements | 4 | 4 | device memory |
//! | `vectorized_4` | 4 consecutive elements again, with one 16-byte access | 16 | 16 | device memory |
//! | `vectorized_16` | four 16-byte accesses, a block apart | 16 | 16 | device memory |
//!
//! The whole traffic of a warp, per element: `consecutive_8` makes 8 loads of 32 sectors for 256
//! elements, one sector per element; `strided_8` makes 8 loads of 4 sectors for as many, 1/8 sector
//! per element.
//!
//! Expected: with Little's law, a [multiprocessor] of an H200 needs about 30 KB in flight. `one`
//! has at most 2048 threads x 4 B = 8 KB, `strided_4` 32 KB and `strided_16` 128 KB. So `one`
//! (0.392 ms) should be far from the [measured peak], `strided_4` (0.250 ms) near it, and
//! `strided_8` (0.258 ms) should not be faster. Up to 16 bytes per thread, L1 holds a warp's
//! sectors together between the accesses of a thread, so `consecutive_2` (0.277 ms) and even
//! `consecutive_4` (0.254 ms) gain as much as the strided ones, the latter 99 % of the measured
//! peak (`consecutive_4`). `consecutive_8` (0.891 ms) and `consecutive_16` (1.491 ms) write each
//! sector several times. `vectorized_16` (0.261 ms) does the same work as `strided_16` (0.262 ms)
//! with a quarter of the instructions.
//!
//! The right and the wrong way in CUDA C++:
//!
//! ```cuda
//! uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) * K;          // wrong: consecutive
//! for (int k = 0; k < K; k++) target[first + k] = f(source[first + k]);
//! uint32_t first = blockIdx.x * blockDim.x * K + threadIdx.x;            // right: a block apart
//! for (int k = 0; k < K; k++) target[first + k * blockDim.x] = f(source[first + k * blockDim.x]);
//! ```
//!
//! Common misconception: "neighbouring elements in one thread are good for the cache". That holds
//! where each thread has a cache of its own, on a CPU. Here up to 2048 threads share an L1 cache of
//! 256 KB, 128 bytes for each: with 16 consecutive elements, half of the cache holds pieces that
//! wait for the other loads of their thread.
//!
//! Common misconception: "more threads are always better". A thread that is started, computes an
//! index and ends costs instructions, and blocks cost time to start. Once the elements outnumber the
//! threads that a device holds at once (132 x 2048 = 270336 on an H200), fewer threads with more work
//! each lose nothing.
//!
//! Questions:
//! - Why is the distance a block and not the whole [grid]? Both are coalesced. A [grid-stride loop]
//!   needs no recomputation of the grid when n grows; a block's piece stays close together, so that
//!   its pages and rows of memory are used together.
//! - What is the price of too many elements per thread? Registers, and with them [occupancy]; and
//!   too few threads when n is small: with 16 elements per thread, 2^20 elements fill a quarter of an
//!   H200.
//! - Where does coarsening save work, not only time? Where threads repeat something: in `matmul_ab`
//!   a thread uses each operand 8 times, in `histogram` a block clears and adds its private copy
//!   once for more elements.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `one` | 0.392 | 2736 | 64 | 1.00 |
//! | `consecutive_2` | 0.277 | 3881 | 91 | 1.42 |
//! | `consecutive_4` | 0.254 | 4231 | 99 | 1.55 |
//! | `consecutive_8` | 0.891 | 1205 | 28 | 0.44 |
//! | `consecutive_16` | 1.491 | 720 | 17 | 0.26 |
//! | `strided_2` | 0.280 | 3835 | 89 | 1.40 |
//! | `strided_4` | 0.250 | 4289 | 100 | 1.57 |
//! | `strided_8` | 0.258 | 4160 | 97 | 1.52 |
//! | `strided_16` | 0.262 | 4106 | 96 | 1.50 |
//! | `vectorized_4` | 0.250 | 4286 | 100 | 1.57 |
//! | `vectorized_16` | 0.261 | 4106 | 96 | 1.50 |
//! | *nvcc consecutive_8* | 0.909 | 1181 | 28 | 0.43 |
//! | *nvcc strided_8* | 0.257 | 4170 | 97 | 1.52 |
//! | *nvcc vectorized_16* | 0.261 | 4108 | 96 | 1.50 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 16 bytes for the vectorized variants.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; D. Kirk and W. Hwu,
//! "Programming Massively Parallel Processors", on thread coarsening.
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

pub const THREADS_PER_BLOCK: u32 = 256;
/// The factor by which each element is multiplied: a power of two, so that nothing is rounded.
pub const FACTOR: f32 = 4.0;

/// Works on elements `first`, `first + step`, .. of a thread, `ITEMS` of them or those that exist; all loads begin
/// before the first store.
///
/// # Safety
/// - `source` and `target` valid for `n` f32, not overlapping.
/// - No other thread has an element of this one.
#[inline(always)]
unsafe fn work<const ITEMS: usize>(
    source: *const f32,
    target: *mut f32,
    n: u32,
    first: u32,
    step: u32,
) {
    let last = first + (ITEMS as u32 - 1) * step;
    // SAFETY: every index is below n, because the last of the whole branch is.
    unsafe {
        if last < n {
            let mut values = [0.0_f32; ITEMS];
            let (source, target) = (source.add(first as usize), target.add(first as usize));
            for (item, value) in values.iter_mut().enumerate() {
                *value = *source.add(item * step as usize);
            }
            for (item, value) in values.iter().enumerate() {
                *target.add(item * step as usize) = FACTOR * *value;
            }
        } else {
            let mut i = first;
            while i < n {
                *target.add(i as usize) = FACTOR * *source.add(i as usize);
                i += step;
            }
        }
    }
}

/// A thread's elements follow each other.
///
/// # Safety
/// - As for [`coarsening_one`], for `ITEMS` elements.
#[inline(always)]
unsafe fn consecutive<const ITEMS: usize>(source: *const f32, target: *mut f32, n: u32) {
    let first = thread::index_1d() * ITEMS as u32;
    // SAFETY: as the launch contract says; the pieces of threads are disjoint.
    unsafe { work::<ITEMS>(source, target, n, first, 1) };
}

/// A thread's elements are a block apart.
///
/// # Safety
/// - As for [`coarsening_one`], for `ITEMS` elements.
#[inline(always)]
unsafe fn strided<const ITEMS: usize>(source: *const f32, target: *mut f32, n: u32) {
    let piece = thread::block_idx_x() * THREADS_PER_BLOCK * ITEMS as u32;
    let first = piece + thread::thread_idx_x();
    // SAFETY: as the launch contract says; blocks have disjoint pieces, and threads different elements of them.
    unsafe { work::<ITEMS>(source, target, n, first, THREADS_PER_BLOCK) };
}

/// A thread's elements are `VECTORS` groups of four, a block apart.
///
/// # Safety
/// - As for [`coarsening_one`], for `4 * VECTORS` elements.
/// - Both arrays 16-byte aligned.
#[inline(always)]
unsafe fn vectorized<const VECTORS: usize>(source: *const f32, target: *mut f32, n: u32) {
    let piece = thread::block_idx_x() * THREADS_PER_BLOCK * VECTORS as u32;
    let first = piece + thread::thread_idx_x();
    let last = first + (VECTORS as u32 - 1) * THREADS_PER_BLOCK;
    // SAFETY: every index is below n; the arrays are aligned to 16 bytes, and groups have disjoint elements.
    unsafe {
        if 4 * last + 3 < n {
            let mut values = [F32x4::splat(0.0); VECTORS];
            let source = source.cast::<F32x4>().add(first as usize);
            let target = target.cast::<F32x4>().add(first as usize);
            for (item, value) in values.iter_mut().enumerate() {
                *value = *source.add(item * THREADS_PER_BLOCK as usize);
            }
            for (item, value) in values.iter().enumerate() {
                *target.add(item * THREADS_PER_BLOCK as usize) = *value * FACTOR;
            }
        } else {
            for item in 0..VECTORS as u32 {
                let start = 4 * (first + item * THREADS_PER_BLOCK);
                let end = (start + 4).min(n);
                for i in start..end {
                    *target.add(i as usize) = FACTOR * *source.add(i as usize);
                }
            }
        }
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads, or as many fewer as a thread takes elements.
/// - `source` and `target` valid for `n` f32, not overlapping.
#[kernel]
pub unsafe fn coarsening_one(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { strided::<1>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`].
#[kernel]
pub unsafe fn coarsening_consecutive_2(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { consecutive::<2>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`].
#[kernel]
pub unsafe fn coarsening_consecutive_4(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { consecutive::<4>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`].
#[kernel]
pub unsafe fn coarsening_consecutive_8(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { consecutive::<8>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`].
#[kernel]
pub unsafe fn coarsening_consecutive_16(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { consecutive::<16>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`].
#[kernel]
pub unsafe fn coarsening_strided_2(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { strided::<2>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`].
#[kernel]
pub unsafe fn coarsening_strided_4(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { strided::<4>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`].
#[kernel]
pub unsafe fn coarsening_strided_8(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { strided::<8>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`].
#[kernel]
pub unsafe fn coarsening_strided_16(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { strided::<16>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`], and both arrays 16-byte aligned.
#[kernel]
pub unsafe fn coarsening_vectorized_4(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { vectorized::<1>(source, target, n) };
}

/// # Safety
/// - As for [`coarsening_one`], and both arrays 16-byte aligned.
#[kernel]
pub unsafe fn coarsening_vectorized_16(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as this kernel's launch contract says.
    unsafe { vectorized::<4>(source, target, n) };
}
