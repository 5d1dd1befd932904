//! # Misalignment: an array that starts in the middle of a sector
//!
//! Shows: a shifted [warp] touches one [sector] more, and over a whole array that is almost
//! nothing.
//!
//! The surprise: the counter shows 5 sectors instead of 4, a quarter more, but `shifted` (0.207 ms)
//! and the aligned `padded` (0.205 ms) take nearly the same time.
//!
//! Every variant computes `target[i + offset] = source[i + offset]`. Global memory moves in
//! sectors, aligned blocks of 32 bytes. A warp loads 32 x 4 B = 128 B in one [request]. If these
//! 128 bytes start at the beginning of a sector, they fill 4 sectors. If they start inside one,
//! they also reach into a fifth sector:
//!
//! ```text
//! word offset 0   |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|           4 sectors, 1 cache line of 128 B
//! word offset 8            |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|  4 sectors, 2 cache lines
//! word offset 3   |...xxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|xxx.....|  5 sectors, 2 cache lines
//!
//! sectors     = 4 if  8 divides the offset, else 5        a sector has  8 words
//! cache lines = 1 if 32 divides the offset, else 2        a cache line has 32 words
//! ```
//!
//! But the fifth sector of one warp is the first sector of the next warp. When the next warp asks
//! for it, it is still in a cache. Of 2^20 words, 2^20 / 8 = 131072 sectors are touched with an
//! aligned start, and 131073 with a shifted one. Device memory moves one sector more, not a quarter
//! more.
//!
//! 1. `shifted`. The counter shows 5 sectors per load and per store when 8 does not divide the
//!    offset. What that costs is traffic between the [L1 cache] and the [L2 cache], not in device
//!    memory.
//! 2. `shifted_cg`. The load is by `.cg`, past L1. The counter shows the same 5 sectors. L1 cannot
//!    serve the fifth any more, so it comes from L2 a second time.
//! 3. `shifted_nc`. The load is by `.nc`, the read-only path, which is `__ldg` in CUDA C++. The
//!    counter shows 5 sectors again: this path loads sectors of 32 bytes like every other. If it
//!    loaded whole [cache lines][cache line] of 128 bytes, it would be 2 x 4 = 8.
//! 4. `padded`. The idea: move the data instead of changing the kernel. The host puts unused words
//!    in front, so that element `offset` starts a cache line. It costs up to 31 words of memory
//!    and control over the allocation. The counter shows 4.
//! 5. `peeled`. The idea: leave the data and shift the work. Thread 0 takes the first word of the
//!    cache line in which `offset` is, so that every warp is aligned; the first few threads have
//!    nothing to do. It costs one comparison. What remains: each lane still moves only 4 bytes at a
//!    time.
//! 6. `staged`. The block loads aligned vectors of 16 bytes into [shared memory] and stores single
//!    words from there. It costs shared memory and a [barrier], and more [bytes in flight] repay
//!    that. This gain has nothing to do with alignment: see `vectorized_16` of the pattern
//!    `coalescing`.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `shifted` | lane i accesses word i + offset | 4 or 5 | 4 or 5 | bytes in flight |
//! | `shifted_cg` | the load is by `.cg`, past L1 | 4 or 5 | 4 or 5 | bytes in flight |
//! | `shifted_nc` | the load is by `.nc`, the read-only path | 4 or 5 | 4 or 5 | bytes in flight |
//! | `padded` | unused words in front: element `offset` starts a cache line | 4 | 4 | bytes in flight |
//! | `peeled` | no padding: warps start at cache lines, and the first few threads have nothing to do | 4 | 4 | bytes in flight |
//! | `staged` | aligned 16-byte loads into shared memory, aligned stores from there | 16 | 4 | device memory |
//!
//! Expected: `shifted` (0.207 ms), `padded` (0.205 ms) and `peeled` (0.200 ms) are nearly equal:
//! `shifted` takes 1.01 times (`shifted` / `padded`) as long as `padded`, so the fifth sector is
//! not what limits it. `staged` (0.130 ms) is much faster, because its loads are four times as
//! wide. `shifted_cg` (0.205 ms) and `shifted_nc` (0.205 ms) repair nothing, because the request is
//! as misaligned as before. The Best Practices Guide measured 9 / 10 = 0.9 of the aligned bandwidth
//! for a shifted copy on an older GPU.
//!
//! Common misconception: "a misaligned access halves the bandwidth". For one warp alone, 4 of 5
//! sectors are useful, which is 4 / 5 = 80 %. For neighbouring warps that run together, nearly 100
//! % of what device memory moves is useful.
//!
//! Common misconception: "loads past L1, or through the read-only path, repair misalignment". On
//! devices whose L1 loaded whole cache lines, a load past it moved less. Since compute capability 6.0
//! every path moves sectors.
//!
//! Questions:
//! - Why at most 5 sectors? 128 bytes that start inside a sector end inside another: 3 whole
//!   sectors and 2 parts of sectors.
//! - When does misalignment matter? When no neighbouring warp uses the rest of the fifth sector
//!   soon: with short rows at odd addresses, or with warps that take random rows. Then each request
//!   pays for it alone.
//! - May a 16-byte load start at any word? No. An address that is no multiple of 16 is an error
//!   that stops the kernel. This is why `staged` starts at a cache line, and not at `offset`.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `shifted` | 0.207 | 2593 | 60 | 1.00 |
//! | `shifted_cg` | 0.205 | 2617 | 61 | 1.01 |
//! | `shifted_nc` | 0.205 | 2619 | 61 | 1.01 |
//! | `padded` | 0.205 | 2619 | 61 | 1.01 |
//! | `peeled` | 0.200 | 2684 | 63 | 1.03 |
//! | `staged` | 0.130 | 4131 | 96 | 1.59 |
//! | *nvcc shifted* | 0.207 | 2591 | 60 | 1.00 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 128 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Effects of Misaligned Accesses".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::memory::{load_cg, load_nc};
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Words of a cache line of 128 bytes.
pub const LINE: u32 = 32;
/// Words that a block of `staged` handles: one 16-byte load per thread.
pub const TILE: u32 = THREADS_PER_BLOCK * 4;

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` and `target` valid for `offset + n` f32, not overlapping.
#[kernel]
pub unsafe fn misalignment_shifted(source: *const f32, target: *mut f32, offset: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let index = (offset + i) as usize;
        // SAFETY: index < offset + n, the length of both arrays (launch contract).
        unsafe { *target.add(index) = *source.add(index) };
    }
}

/// # Safety
/// - As for [`misalignment_shifted`].
#[kernel]
pub unsafe fn misalignment_shifted_cg(source: *const f32, target: *mut f32, offset: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize + offset as usize;
        // SAFETY: i < offset + n, the length of both arrays (launch contract).
        unsafe { *target.add(i) = load_cg(source.add(i)) };
    }
}

/// # Safety
/// - As for [`misalignment_shifted`].
/// - Nobody writes `source`.
#[kernel]
pub unsafe fn misalignment_shifted_nc(source: *const f32, target: *mut f32, offset: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize + offset as usize;
        // SAFETY: i < offset + n, the length of both arrays (launch contract).
        unsafe { *target.add(i) = load_nc(source.add(i)) };
    }
}

/// A plain load again; the host placed the arrays `padding` words into their buffers, with `padding + offset` a
/// multiple of `LINE`. The kernel is the same; the data moved.
///
/// # Safety
/// - As for [`misalignment_shifted`], with `padding` more words in front.
#[kernel]
pub unsafe fn misalignment_padded(
    source: *const f32,
    target: *mut f32,
    padding: u32,
    offset: u32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        let index = (padding + offset + i) as usize;
        // SAFETY: index < padding + offset + n, the length of both buffers (launch contract).
        unsafe { *target.add(index) = *source.add(index) };
    }
}

/// The data stays where it is. Thread i takes word i, counted from the start of the cache line that contains
/// `offset`; the threads of words before `offset` do nothing.
///
/// # Safety
/// - As for [`misalignment_shifted`], with `offset % LINE` more threads.
#[kernel]
pub unsafe fn misalignment_peeled(source: *const f32, target: *mut f32, offset: u32, n: u32) {
    let index = offset - offset % LINE + thread::index_1d();
    if index >= offset && index < offset + n {
        // SAFETY: index < offset + n, the length of both arrays (launch contract).
        unsafe { *target.add(index as usize) = *source.add(index as usize) };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads, `TILE` words per block, covering `offset % LINE + n` words.
/// - `source` and `target` 16-byte aligned and valid for `offset + n` f32, not overlapping.
#[kernel]
pub unsafe fn misalignment_staged(source: *const f32, target: *mut f32, offset: u32, n: u32) {
    let tile = shared_array!(TILE_WORDS: [F32x4; THREADS_PER_BLOCK]).cast::<f32>();

    let end = offset + n;
    let thread = thread::thread_idx_x();
    let first = offset - offset % LINE + thread::block_idx_x() * TILE;
    let vector = first + thread * 4;
    // SAFETY: 16 bytes that end at or before `end` are in the array and aligned, because 4 divides
    // `first`; single words are checked; the tile holds TILE words.
    unsafe {
        if vector + 4 <= end {
            *tile.add((thread * 4) as usize).cast::<F32x4>() =
                *source.add(vector as usize).cast::<F32x4>();
        } else {
            let mut index = vector;
            while index < end {
                *tile.add((index - first) as usize) = *source.add(index as usize);
                index += 1;
            }
        }
        thread::sync_threads();
        let mut word = thread;
        while word < TILE {
            let index = first + word;
            if index >= offset && index < end {
                *target.add(index as usize) = *tile.add(word as usize);
            }
            word += THREADS_PER_BLOCK;
        }
    }
}
