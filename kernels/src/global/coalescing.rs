//! # Coalescing: neighbouring lanes should touch neighbouring words
//!
//! Shows: the hardware moves whole 32-byte sectors; a warp is cheap when its 32 lanes share them.
//!
//! A warp executes one load for 32 lanes at once: one request. The request costs as many sectors as
//! its lanes touch, wherever in those sectors they land:
//!
//! ```text
//! one warp reading f32           | = 32-byte sector, x = word used
//!   strided   lane i -> a[n/32 * i]  |x.......| ... |x.......|          32 sectors, 12.5 % used
//!   permuted  lane i -> a[p(i)]      |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|  4 sectors, 100 % used
//!   scalar    lane i -> a[i]         |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|  4 sectors, 100 % used
//!   quad      lane i -> a[4i..4i+4]  sixteen sectors, all used: four times the work per request
//! ```
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `strided` | the lanes of a warp lie n / 32 words apart | 32 | 32 | sectors: eight times as many as needed pass through L1 |
//! | `permuted` | a warp's lanes cover 32 neighbouring words, in a scrambled order | 4 | 4 | bytes in flight |
//! | `scalar` | lane order = word order | 4 | 4 | bytes in flight |
//! | `vectorized_8` | 8 bytes per lane | 8 | 8 | bytes in flight |
//! | `vectorized_16` | 16 bytes per lane | 16 | 16 | device memory |
//! | `in_flight` | every thread starts four 16-byte loads before its first store | 16 | 16 | device memory |
//!
//! Expected: the order of lanes within a warp costs nothing (`permuted` = `scalar`). `strided` loses
//! less than eight times, because the caches keep a sector until its other seven words are asked for.
//! `scalar` is coalesced and yet not fast: a multiprocessor must keep bandwidth x latency bytes in
//! flight, and 64 warps x 32 lanes x 4 B = 8 KiB are too few; wider loads carry more per request.
//!
//! Preconditions: buffers aligned to 16 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; Nsight Compute,
//! Kernel Profiling Guide, "L1/TEX Cache"; Little's law.

use cuda_std::prelude::*;
use cuda_std::vector::{F32x2, F32x4};
use cuda_std::warp::WARP_SIZE;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// 16-byte loads that each thread of `in_flight` starts before its first store.
pub const LOADS_IN_FLIGHT: u32 = 4;

/// Naive: the lanes of a warp lie `n / 32` words apart, so no two share a sector.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `32 * ceil(n / 32)` threads; `source` and
/// `target` valid for `n` f32, not overlapping.
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

/// Change from `strided`: a warp covers 32 neighbouring words, its lanes in a scrambled order.
///
/// # Safety
/// Launch contract: as for [`coalescing_strided`].
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

/// Change from `permuted`: lane i touches word i.
///
/// # Safety
/// Launch contract: as for [`coalescing_strided`].
#[kernel]
pub unsafe fn coalescing_scalar(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize) };
    }
}

/// Change from `scalar`: each lane moves two neighbouring words with one 8-byte access.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `ceil(n / 2)` threads; `source` and
/// `target` 8-byte aligned and valid for `n` f32, not overlapping.
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

/// Change from `vectorized_8`: four words with one 16-byte access, the widest there is.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `ceil(n / 4)` threads; `source` and
/// `target` 16-byte aligned and valid for `n` f32, not overlapping.
#[kernel]
pub unsafe fn coalescing_vectorized_16(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d() * 4;
    // SAFETY: `i` is a multiple of 4 and both arrays hold n elements (launch contract).
    unsafe { copy_quad(source, target, i, n) };
}

/// Change from `vectorized_16`: a fixed grid strides over the array, and each thread starts four loads
/// before it stores the first.
///
/// # Safety
/// Launch contract: as for [`coalescing_vectorized_16`], but any 1-D grid of `THREADS_PER_BLOCK` threads.
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
        // SAFETY: whole tiles end at or before the last quad; 16-byte aligned.
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
/// `source` and `target` 16-byte aligned and valid for `n` f32; 4 divides `i`.
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
