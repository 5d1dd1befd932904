//! # Coalescing: neighbouring lanes should touch neighbouring words
//!
//! Shows: memory moves in [sectors][sector] of 32 bytes; a [request] is cheapest when its 32
//! [lanes][lane] fill whole sectors, in any order.
//!
//! The surprise is twofold. Cutting an array into one part per lane, as one would cut it for CPU
//! [threads][thread], takes 8.0 times (`strided` / `scalar`) as long as giving neighbouring words
//! to neighbouring lanes. And even then the [kernel] is not fast: `scalar` wastes no byte, and
//! `vectorized_16` beats it.
//!
//! Some words first. A kernel is a function that thousands of threads run at once. Threads run in
//! groups of 32, called [warps][warp]; the 32 threads of a warp are its lanes. When a warp executes
//! one load instruction, its 32 lanes ask for 32 addresses together: that is one request. Global
//! memory, the large memory of the GPU, which is also called device memory, answers in sectors,
//! aligned blocks of 32 bytes, and always moves whole sectors. So the cost of a request is the
//! number of different sectors that its lanes touch:
//!
//! ```text
//! one warp loads 32 words of f32          |........| = one sector of 8 words, x = word that is used
//!   strided        lane i -> a[n/32 * i]  |x.......| ... |x.......|               32 sectors,  12.5 % used
//!   every_other_lane  even lanes -> a[i]  |x.x.x.x.|x.x.x.x.|x.x.x.x.|x.x.x.x.|    4 sectors,  50 % used
//!   half_warp      lanes 0..15 -> a[i]    |xxxxxxxx|xxxxxxxx|                      2 sectors, 100 % used, half of the lanes
//!   permuted       lane i -> a[p(i)]      |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|    4 sectors, 100 % used
//!   scalar         lane i -> a[i]         |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|    4 sectors, 100 % used
//!   vectorized_16  lane i -> a[4i..4i+4]  16 sectors in one request, all used      4 times the bytes
//! ```
//!
//! 1. `strided`. The counter shows 32 sectors per request. The array is cut into 32 equal parts,
//!    one for each lane, so the words of neighbouring lanes are n/32 words apart and no two lanes
//!    share a sector. A request uses 4 of every 32 bytes that it moves.
//! 2. `every_other_lane`. The lanes take neighbouring words, but only half of the lanes take part, as
//!    after an `if`. The counter shows 4 sectors for 16 words: a sector moves whole, however few of
//!    the lanes want something from it. The other words are loaded by another warp, and that moves the
//!    same sectors again.
//! 3. `half_warp`. Half of the lanes again, but the lower half, which takes 16 neighbouring words:
//!    2 sectors, all used. Lanes that do not take part cost no sectors. But twice as many warps as
//!    necessary must start.
//! 4. `permuted`. The idea is to let the whole warp take 32 neighbouring words: 32 x 4 B = 128 B = 4
//!    sectors. This costs nothing. The lanes take the words in a scrambled order, and the counter
//!    shows 4 sectors all the same: such a request is [coalesced].
//! 5. `scalar` gives lane i word i. The order within the warp was never the problem, so nothing
//!    changes. What remains is waiting: each lane has only 4 bytes on their way, and then it waits.
//! 6. `vectorized_8` and `vectorized_16` load 8 or 16 bytes per lane with one instruction, a
//!    [vectorized access]. A request then has 8 or 16 sectors, all used. It costs registers and
//!    needs an aligned address. What remains is the speed of device memory itself.
//! 7. `in_flight` starts four 16-byte loads per thread before it stores the first. More
//!    [bytes in flight] than are needed bring nothing more.
//!
//! Why wider loads help is [Little's law]: bytes in flight = latency x bandwidth. The latency is
//! the time until a load arrives, hundreds of clock cycles, whatever its width; the bandwidth is
//! the bytes that arrive per second. To keep memory busy during the latency, enough bytes must be
//! on their way. A multiprocessor (an H200 has 132 of them, and each runs a part of the threads)
//! holds up to 64 warps at once, and each waits for its load:
//!
//! ```text
//! scalar         64 warps x 32 lanes x  4 B     =   8 KiB in flight per multiprocessor
//! vectorized_8   64 warps x 32 lanes x  8 B     =  16 KiB
//! vectorized_16  64 warps x 32 lanes x 16 B     =  32 KiB: enough for an H200, as its time shows
//! in_flight      64 warps x 32 lanes x 16 B x 4 = 128 KiB
//! ```
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `strided` | neighbouring lanes access words that are n / 32 words apart | 32 | 32 | sectors: eight times as many as needed pass through L1 |
//! | `every_other_lane` | neighbouring words, but only every other lane takes part | 4 | 4 | starts of warps: half a word per lane |
//! | `half_warp` | the lower half of the lanes accesses 16 neighbouring words | 2 | 2 | starts of warps: half a word per lane |
//! | `permuted` | the lanes of a warp access 32 neighbouring words, in a scrambled order | 4 | 4 | bytes in flight |
//! | `scalar` | lane i accesses word i | 4 | 4 | bytes in flight |
//! | `vectorized_8` | each lane copies 8 bytes with one load and one store | 8 | 8 | bytes in flight |
//! | `vectorized_16` | each lane copies 16 bytes with one load and one store | 16 | 16 | device memory |
//! | `in_flight` | every thread starts four 16-byte loads before its first store | 16 | 16 | device memory |
//!
//! Expected: `strided` (6.361 ms) takes about 32 / 4 = 8 times as long as `scalar` (0.794 ms),
//! because it moves 8 times the sectors. `every_other_lane` (1.407 ms) and `half_warp` (1.417 ms)
//! start 2^29 threads, twice those of `scalar`. At the rate that `store_segments` shows, starting
//! them takes 1.27 ms (2^29 / 2^27 x `store_segments/consecutive`). The former also moves twice the
//! sectors between L1 and L2, which the time does not show. `permuted` (0.799 ms) is as fast as
//! `scalar`. `vectorized_8` (0.549 ms) and `vectorized_16` (0.499 ms) move the same sectors as
//! `scalar` in half and in a quarter of the requests, by half and a quarter of the warps.
//! `in_flight` (0.522 ms) gains nothing more: 32 KiB in flight were enough.
//!
//! The key kernel in CUDA C++, and in Rust:
//!
//! ```cuda
//! uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;            // let i = thread::index_1d();
//! if (i < n) target[i] = source[i];                              // *target.add(i) = *source.add(i);
//! ((float4 *)target)[i] = ((const float4 *)source)[i];           // .cast::<F32x4>(): 16 bytes at once
//! ```
//!
//! Common misconception: "lanes must access words in order to be coalesced". Only the set of
//! sectors counts: `permuted` and `scalar` have the same 4 sectors and the same time.
//!
//! Common misconception: "a coalesced kernel is a fast kernel". Coalescing means that no byte is
//! moved in vain. A kernel can move few bytes and still wait for most of its time.
//!
//! Questions:
//! - Why 4 sectors per request? A warp has 32 lanes. 32 lanes x 4 B = 128 B, and 128 B / 32 B = 4.
//! - Why are 32 sectors the worst case for 4-byte loads? There are 32 lanes, and an aligned word of
//!   4 bytes is in exactly one sector. So each lane adds at most one sector.
//! - Are 16 sectors per request worse than 4? No. 16 sectors are 512 B, and the lanes asked for
//!   32 x 16 B = 512 B. Compare sectors with the bytes that are used, not with the number of
//!   requests.
//! - Does a [cache][cache line] not repair `strided`? Only in part. The other seven words of a sector are used
//!   soon by other warps, so device memory need not deliver the sector eight times. But it crosses
//!   the [L1 cache] eight times, once for each of these requests.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `strided` | 6.361 | 338 | 8 | 1.00 |
//! | `every_other_lane` | 1.407 | 1526 | 36 | 4.52 |
//! | `half_warp` | 1.417 | 1515 | 35 | 4.49 |
//! | `permuted` | 0.799 | 2688 | 63 | 7.96 |
//! | `scalar` | 0.794 | 2706 | 63 | 8.01 |
//! | `vectorized_8` | 0.549 | 3915 | 91 | 11.60 |
//! | `vectorized_16` | 0.499 | 4306 | 100 | 12.76 |
//! | `in_flight` | 0.522 | 4117 | 96 | 12.19 |
//! | *nvcc scalar* | 0.794 | 2705 | 63 | 8.01 |
//! | *nvcc vectorized_16* | 0.499 | 4303 | 100 | 12.75 |
//! | *driver copy* | 0.502 | 4274 | 100 | 12.66 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 16 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; Nsight Compute,
//! Kernel Profiling Guide, "L1/TEX Cache"; Little's law.
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::prelude::*;
use cuda_std::vector::{F32x2, F32x4};
use cuda_std::warp::WARP_SIZE;

pub const THREADS_PER_BLOCK: u32 = 256;
/// 16-byte loads that each thread of `in_flight` starts before its first store.
pub const LOADS_IN_FLIGHT: u32 = 4;

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `32 * ceil(n / 32)` threads.
/// - `source` and `target` valid for `n` f32, not overlapping.
#[kernel]
pub unsafe fn coalescing_strided(source: *const f32, target: *mut f32, n: u32) {
    let thread = thread::index_1d();
    let (warp, lane) = (thread / WARP_SIZE, thread % WARP_SIZE);
    let rows = n.div_ceil(WARP_SIZE);
    let i = lane * rows + warp;
    if warp < rows && i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize) };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `2 * n.next_multiple_of(32)` threads.
/// - `source` and `target` valid for `n` f32, not overlapping.
#[kernel]
pub unsafe fn coalescing_every_other_lane(source: *const f32, target: *mut f32, n: u32) {
    let thread = thread::index_1d();
    let (warp, lane) = (thread / WARP_SIZE, thread % WARP_SIZE);
    let i = warp / 2 * WARP_SIZE + lane;
    if lane % 2 == warp % 2 && i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize) };
    }
}

/// # Safety
/// - As for [`coalescing_every_other_lane`].
#[kernel]
pub unsafe fn coalescing_half_warp(source: *const f32, target: *mut f32, n: u32) {
    let thread = thread::index_1d();
    let (warp, lane) = (thread / WARP_SIZE, thread % WARP_SIZE);
    let i = warp * (WARP_SIZE / 2) + lane;
    if lane < WARP_SIZE / 2 && i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize) };
    }
}

/// # Safety
/// - As for [`coalescing_strided`].
#[kernel]
pub unsafe fn coalescing_permuted(source: *const f32, target: *mut f32, n: u32) {
    let thread = thread::index_1d();
    let lane = thread % WARP_SIZE;
    // Multiplying by an odd number permutes the lanes.
    let i = thread - lane + (lane * 5 + 3) % WARP_SIZE;
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize) };
    }
}

/// # Safety
/// - As for [`coalescing_strided`].
#[kernel]
pub unsafe fn coalescing_scalar(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize) };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `ceil(n / 2)` threads.
/// - `source` and `target` 8-byte aligned and valid for `n` f32, not overlapping.
#[kernel]
pub unsafe fn coalescing_vectorized_8(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d() * 2;
    // SAFETY: every index is below n; 2 divides i, so the 8-byte accesses are aligned.
    unsafe {
        if i + 1 < n {
            *target.add(i as usize).cast::<F32x2>() = *source.add(i as usize).cast::<F32x2>();
        } else if i < n {
            *target.add(i as usize) = *source.add(i as usize);
        }
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `ceil(n / 4)` threads.
/// - `source` and `target` 16-byte aligned and valid for `n` f32, not overlapping.
#[kernel]
pub unsafe fn coalescing_vectorized_16(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d() * 4;
    // SAFETY: `i` is a multiple of 4 and both arrays hold n elements (launch contract).
    unsafe { copy_quad(source, target, i, n) };
}

/// # Safety
/// - As for [`coalescing_vectorized_16`], but any 1-D grid of `THREADS_PER_BLOCK` threads.
#[kernel]
pub unsafe fn coalescing_in_flight(source: *const f32, target: *mut f32, n: u32) {
    const TILE: u32 = THREADS_PER_BLOCK * LOADS_IN_FLIGHT;
    let tiles = n / 4 / TILE;
    let (wide_source, wide_target) = (source.cast::<F32x4>(), target.cast::<F32x4>());
    // Tiles are counted, not elements: there are less than 2^20, and a grid has less than 2^31 blocks, so that neither
    // a sum nor a product of them wraps around.
    let mut tile = thread::block_idx_x();
    while tile < tiles {
        let first = (tile * TILE + thread::thread_idx_x()) as usize;
        let mut values = [F32x4::splat(0.0); LOADS_IN_FLIGHT as usize];
        // SAFETY: whole tiles end at or before the last whole 16 bytes; 16-byte aligned.
        unsafe {
            for (step, value) in values.iter_mut().enumerate() {
                *value = *wide_source.add(first + step * THREADS_PER_BLOCK as usize);
            }
            for (step, value) in values.iter().enumerate() {
                *wide_target.add(first + step * THREADS_PER_BLOCK as usize) = *value;
            }
        }
        tile += thread::grid_dim_x();
    }
    // The rest is less than a tile and belongs to the first block.
    if thread::block_idx_x() == 0 {
        let mut i = (tiles * TILE + thread::thread_idx_x()) * 4;
        while i < n {
            // SAFETY: `i` is a multiple of 4 and both arrays hold n elements (launch contract).
            unsafe { copy_quad(source, target, i, n) };
            i += THREADS_PER_BLOCK * 4;
        }
    }
}

/// Copies words `i..min(i + 4, n)`, all four with one access when they exist.
///
/// # Safety
/// - `source` and `target` 16-byte aligned and valid for `n` f32.
/// - 4 divides `i`.
#[inline(always)]
unsafe fn copy_quad(source: *const f32, target: *mut f32, i: u32, n: u32) {
    // SAFETY: every index is below n; 4 divides i, so the 16-byte accesses are aligned.
    unsafe {
        if i + 3 < n {
            *target.add(i as usize).cast::<F32x4>() = *source.add(i as usize).cast::<F32x4>();
        } else {
            for j in i..n {
                *target.add(j as usize) = *source.add(j as usize);
            }
        }
    }
}
