//! # Stride: reading every s-th word costs as much as reading all of them
//!
//! Shows: with a stride of s words a [warp] uses 1/s of each [sector], down to one word in eight.
//!
//! The surprise: to read one eighth of an array takes as much traffic as to read all of it. And the
//! clever repair, which loads whole sectors and picks the words in [shared memory], does not help.
//!
//! Global memory moves in sectors of 32 bytes, which are 8 words. With stride s, the 32
//! [lanes][lane] of a warp want words 0, s, 2 s, ..., 31 s. The sectors between them move as well:
//!
//! ```text
//! stride 1  |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|     4 sectors, 100 % used
//! stride 2  |x.x.x.x.|x.x.x.x.| ... |x.x.x.x.|        8 sectors,  50 % used
//! stride 8  |x.......|x.......| ... |x.......|       32 sectors, 12.5 % used
//! stride 9 and more: one sector per lane, and unused sectors between them
//!
//! sectors per request     = min(4 s, 32)          32 lanes x 4 s B / 32 B, at most one per lane
//! cache lines per request = min(s, 32)            32 lanes x 4 s B / 128 B, at most one per lane
//! share of bytes used     = 1 / min(s, 8)         100, 50, 33.3, 25, 20, 16.7, 14.3, 12.5 %
//! ```
//!
//! The times below are for stride 8, where each sector is used worst.
//!
//! 1. `copy`. The counter shows 32 sectors per load and 32 per store. Both sides use 4 of every 32
//!    bytes. A store that fills a sector only in part costs more than a load, because the rest of
//!    the sector has to be fetched before it is written back.
//! 2. `gather`. The idea: keep the stride where the data comes from, and write the results next to
//!    each other. It costs nothing. The counter shows 4 sectors per store. What remains: 32 sectors
//!    per load.
//! 3. `staged`. The idea: load whole sectors with 16-byte loads into shared memory and pick every
//!    s-th word there. It costs shared memory and a [barrier]. The counter shows 16 sectors per
//!    load, all of them copied whole, and a quarter as many requests. But device memory delivers
//!    the same sectors as before, and that is what the time depends on. Beyond s = 8, it even
//!    fetches sectors that nobody needs.
//!
//! What remains in all of them is the stride itself. It is repaired where the data is laid out (see
//! `aos_soa`), not where it is read.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `copy` | strided loads and strided stores | min(4s, 32) | min(4s, 32) | sectors read, sectors written in part |
//! | `gather` | the results are stored next to each other: only the loads are strided | min(4s, 32) | 4 | sectors read |
//! | `staged` | the block loads whole sectors into shared memory and picks the words there | 16 | 4 | device memory |
//!
//! Expected: up to s = 8 the time grows with s, because the sectors do. `copy` (182.2 us) is the
//! slowest by far, `gather` (70.56 us) saves the strided stores, and `staged` (78.59 us) is slower
//! than `gather`, because it moves the same sectors and has a barrier besides. The sweep over s
//! goes on: the time of `gather` keeps growing as steeply up to s = 16 and more slowly from there,
//! 2.8 times in all (`gather` at stride=64 / `gather`). That fits a memory that delivers two
//! neighbouring sectors, 64 bytes, at a time. `copy` goes on growing, to 617 us (`copy` at
//! stride=64), 3.4 times in all (`copy` at stride=64 / `copy`): each sector that it writes in part
//! lies in a line of its own, and is read before it is written.
//!
//! The key kernel in CUDA C++, and in Rust:
//!
//! ```cuda
//! if (i < n) target[i] = source[(size_t)i * stride];  // *target.add(i) = *source.add(i * stride);
//! ```
//!
//! Common misconception: "beyond stride 8 it cannot get worse, because each lane has a sector of
//! its own already". The sectors per request stay at 32, but device memory has units that are
//! larger than a sector, the [cache lines][cache line] per request grow up to s = 32, and the words
//! are spread over ever more pages of memory.
//!
//! Questions:
//! - Why does it get no worse than one word in eight? A sector has 32 B / 4 B = 8 words, and at
//!   least one of them is used.
//! - Does stride 2 halve the speed? It doubles the sectors per request, from 4 to 8, and half of
//!   the bytes are used. If another kernel or warp needs the other half soon, a cache may still
//!   have it.
//! - How can `staged` show fewer requests, all [coalesced], and lose? Requests are not the limit.
//!   Sectors of device memory are, and there are as many: n s words / 8 for any s up to 8.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `copy` | 182.2 | 368 | 9 | 1.00 |
//! | `gather` | 70.56 | 951 | 22 | 2.58 |
//! | `staged` | 78.59 | 854 | 20 | 2.32 |
//! | *nvcc gather* | 70.53 | 952 | 22 | 2.58 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 16 bytes; `staged` takes strides up to 64.
//!
//! Source: CUDA C++ Best Practices Guide, "Strided Accesses".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Results that a block of `staged` produces.
pub const STAGED_RESULTS: u32 = 128;
/// The largest stride of `staged`: its tile of `STAGED_RESULTS * stride` words must fit in 48 KiB.
pub const MAX_STAGED_STRIDE: u32 = 64;

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` and `target` valid for `n * stride` f32, not overlapping.
#[kernel]
pub unsafe fn stride_copy(source: *const f32, target: *mut f32, stride: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let index = i as usize * stride as usize;
        // SAFETY: index < n * stride, the length of both arrays (launch contract).
        unsafe { *target.add(index) = *source.add(index) };
    }
}

/// # Safety
/// - As for [`stride_copy`], but `target` valid for `n` f32.
#[kernel]
pub unsafe fn stride_gather(source: *const f32, target: *mut f32, stride: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; `source` holds n * stride elements, `target` n (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize * stride as usize) };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads, `STAGED_RESULTS` results per block.
/// - `STAGED_RESULTS * stride` words of dynamic shared memory; `stride <= MAX_STAGED_STRIDE`.
/// - `source` 16-byte aligned and valid for `n * stride` f32, `target` for `n`; not overlapping.
#[kernel]
pub unsafe fn stride_staged(source: *const f32, target: *mut f32, stride: u32, n: u32) {
    let words = shared::dynamic_shared_mem::<f32>();
    let tile = STAGED_RESULTS * stride;
    let first = thread::block_idx_x() as usize * tile as usize;
    let end = n as usize * stride as usize;
    let thread = thread::thread_idx_x();
    // SAFETY: words are copied only below `end`; 4 divides `first`, so 16-byte loads are aligned; the
    // tile holds `tile` words (launch contract).
    unsafe {
        let mut word = thread * 4;
        while word < tile {
            let index = first + word as usize;
            if index + 4 <= end {
                *words.add(word as usize).cast::<F32x4>() = *source.add(index).cast::<F32x4>();
            } else {
                for rest in index..end {
                    *words.add(rest - first) = *source.add(rest);
                }
            }
            word += THREADS_PER_BLOCK * 4;
        }
        thread::sync_threads();
        let i = thread::block_idx_x() * STAGED_RESULTS + thread;
        if thread < STAGED_RESULTS && i < n {
            *target.add(i as usize) = *words.add((thread * stride) as usize);
        }
    }
}
