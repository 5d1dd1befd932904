//! # Stride: every s-th word costs like all of them
//!
//! Shows: with a stride of s words a warp uses 1/s of each sector, down to one word in eight.
//!
//! ```text
//! stride 1  |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|                      4 sectors, 100 % used
//! stride 2  |x.x.x.x.|x.x.x.x.| ... |x.x.x.x.|                         8 sectors,  50 % used
//! stride 8  |x.......|x.......| ... |x.......|                        32 sectors, 12.5 % used
//! stride 9+ one sector per lane, and gaps between the sectors
//! ```
//!
//! sectors = min(4 s, 32), lines = min(s, 32), share used = 100 / min(s, 8) %:
//! 100, 50, 33.3, 25, 20, 16.7, 14.3, 12.5.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `copy` | strided loads and strided stores | min(4s, 32) | min(4s, 32) | sectors read, sectors written in part |
//! | `gather` | the results are packed: only the loads are strided | min(4s, 32) | 4 | sectors read |
//! | `staged` | the block loads whole sectors into shared memory and picks there | 16 | 4 | device memory |
//!
//! Expected: to s = 8 the time grows with s, because the sectors do. Beyond, the sectors per request
//! stay at 32, but not the time: lines and pages still grow apart. `staged` moves the same sectors
//! from device memory as `gather` up to s = 8, with a quarter of the requests; beyond s = 8 it
//! fetches sectors nobody needs, and loses.
//! A stride is repaired where the data is laid out (see `aos_soa`), not where it is read.
//!
//! Preconditions: buffers aligned to 16 bytes; `staged` takes strides up to 64.
//!
//! Source: CUDA C++ Best Practices Guide, "Strided Accesses".

use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Results that a block of `staged` produces.
pub const STAGED_RESULTS: u32 = 128;
/// The largest stride of `staged`: its tile of `STAGED_RESULTS * stride` words must fit in 48 KiB.
pub const MAX_STAGED_STRIDE: u32 = 64;

/// Naive: strided loads and strided stores.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `source` and `target` valid
/// for `n * stride` f32, not overlapping.
#[kernel]
pub unsafe fn stride_copy(source: *const f32, target: *mut f32, stride: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let at = i as usize * stride as usize;
        // SAFETY: at < n * stride, the length of both arrays (launch contract).
        unsafe { *target.add(at) = *source.add(at) };
    }
}

/// Change from `copy`: the results are packed, so the stores are coalesced.
///
/// # Safety
/// Launch contract: as for [`stride_copy`], but `target` valid for `n` f32.
#[kernel]
pub unsafe fn stride_gather(source: *const f32, target: *mut f32, stride: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; `source` holds n * stride elements, `target` n (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize * stride as usize) };
    }
}

/// Change from `gather`: the block loads its whole range with 16-byte accesses into shared memory,
/// and picks every `stride`-th word there.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads, `STAGED_RESULTS` results per block;
/// `STAGED_RESULTS * stride` words of dynamic shared memory; `stride <= MAX_STAGED_STRIDE`;
/// `source` 16-byte aligned and valid for `n * stride` f32, `target` for `n`; not overlapping.
#[kernel]
pub unsafe fn stride_staged(source: *const f32, target: *mut f32, stride: u32, n: u32) {
    let words = shared::dynamic_shared_mem::<f32>();
    let tile = STAGED_RESULTS * stride;
    let first = thread::block_idx_x() as usize * tile as usize;
    let end = n as usize * stride as usize;
    let thread = thread::thread_idx_x();
    // SAFETY: words are copied only below `end`; 4 divides `first`, so quads are aligned; the tile
    // holds `tile` words (launch contract).
    unsafe {
        let mut word = thread * 4;
        while word < tile {
            let at = first + word as usize;
            if at + 4 <= end {
                *words.add(word as usize).cast::<F32x4>() = *source.add(at).cast::<F32x4>();
            } else {
                for rest in at..end {
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
