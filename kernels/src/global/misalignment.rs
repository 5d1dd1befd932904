//! # Misalignment: an array that starts in the middle of a sector
//!
//! Shows: a shifted warp touches one sector more, and over a whole array that is almost nothing.
//!
//! Every variant computes `target[i + offset] = source[i + offset]`. The sectors of a request depend
//! on where its 128 bytes begin:
//!
//! ```text
//! offset 0   |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|           4 sectors, 1 line
//! offset 8            |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|  4 sectors, 2 lines
//! offset 3   |...xxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|xxx.....|  5 sectors, 2 lines
//! ```
//!
//! sectors = 4 if 8 divides the offset, else 5; lines = 1 if 32 divides it, else 2.
//! The fifth sector is shared with the neighbouring warp: an array of 2^20 words covers 131072
//! sectors aligned and 131073 shifted, so device memory moves one sector more, not a quarter more.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `shifted` | lane i touches word i + offset | 4 or 5 | 4 or 5 | the extra sector between L1 and L2 |
//! | `padded` | element `offset` starts a line, because the buffer has words in front | 4 | 4 | bytes in flight |
//! | `peeled` | no padding: lanes line up with lines, the first few have nothing to do | 4 | 4 | bytes in flight |
//! | `staged` | aligned 16-byte loads into shared memory, aligned stores out of it | 16 | 4 | device memory |
//!
//! Expected: aligned and shifted copies differ by far less than 5/4, because a sector fetched for
//! one warp is in the cache when its neighbour asks. The Best Practices Guide measured 9/10.
//!
//! Preconditions: buffers aligned to 128 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Effects of Misaligned Accesses".

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Words of a 128-byte line.
pub const LINE: u32 = 32;
/// Words that a block of `staged` handles: one 16-byte load per thread.
pub const TILE: u32 = THREADS_PER_BLOCK * 4;

/// Naive: thread i copies element `i + offset`, wherever its line begins.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `source` and `target` valid
/// for `offset + n` f32, not overlapping.
#[kernel]
pub unsafe fn misalignment_shifted(source: *const f32, target: *mut f32, offset: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let at = (offset + i) as usize;
        // SAFETY: at < offset + n, the length of both arrays (launch contract).
        unsafe { *target.add(at) = *source.add(at) };
    }
}

/// Change from `shifted`: the host placed the arrays `padding` words into their buffers, with
/// `padding + offset` a multiple of `LINE`. The kernel is the same; the data moved.
///
/// # Safety
/// Launch contract: as for [`misalignment_shifted`], with `padding` more words in front.
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
        let at = (padding + offset + i) as usize;
        // SAFETY: at < padding + offset + n, the length of both buffers (launch contract).
        unsafe { *target.add(at) = *source.add(at) };
    }
}

/// Change from `padded`: the data stays; thread i takes word i of the line that `offset` lies in,
/// and those in front of `offset` do nothing.
///
/// # Safety
/// Launch contract: as for [`misalignment_shifted`], with `offset % LINE` more threads.
#[kernel]
pub unsafe fn misalignment_peeled(source: *const f32, target: *mut f32, offset: u32, n: u32) {
    let at = offset - offset % LINE + thread::index_1d();
    if at >= offset && at < offset + n {
        // SAFETY: at < offset + n, the length of both arrays (launch contract).
        unsafe { *target.add(at as usize) = *source.add(at as usize) };
    }
}

/// Change from `peeled`: each thread loads four aligned words at once into shared memory; the
/// stores, one word per lane, are aligned as before.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads, `TILE` words per block, covering
/// `offset % LINE + n` words; `source` and `target` 16-byte aligned and valid for `offset + n` f32,
/// not overlapping.
#[kernel]
pub unsafe fn misalignment_staged(source: *const f32, target: *mut f32, offset: u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[F32x4; THREADS_PER_BLOCK as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();

    let end = offset + n;
    let thread = thread::thread_idx_x();
    let first = offset - offset % LINE + thread::block_idx_x() * TILE;
    let quad = first + thread * 4;
    // SAFETY: a quad that ends at or before `end` lies in the array and is aligned, because 4
    // divides `first`; single words are checked; the tile holds TILE words.
    unsafe {
        if quad + 4 <= end {
            *words.add((thread * 4) as usize).cast::<F32x4>() =
                *source.add(quad as usize).cast::<F32x4>();
        } else {
            let mut at = quad;
            while at < end {
                *words.add((at - first) as usize) = *source.add(at as usize);
                at += 1;
            }
        }
        thread::sync_threads();
        let mut word = thread;
        while word < TILE {
            let at = first + word;
            if at >= offset && at < end {
                *target.add(at as usize) = *words.add(word as usize);
            }
            word += THREADS_PER_BLOCK;
        }
    }
}
