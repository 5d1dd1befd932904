//! # RGB to gray: three bytes per pixel are no reason to split an image into planes
//!
//! Shows: an image of 3-byte pixels costs three times the [sectors][sector] per load of three
//! planes, but the same bytes of device memory, because all three channels are used.
//!
//! The surprise: the counter shows 3 sectors per load for `aos` (180.2 us) and 1 for `soa` (187.8
//! us), and it is often concluded that planes are "three times as fast". They are not. Both layouts
//! read the same 3 bytes per pixel from device memory, each of them once, and both kernels are slow
//! for another reason: a [lane] that loads single bytes has too few [bytes in flight]. What helps
//! is a wider load, in any layout.
//!
//! A pixel has a red, a green and a blue byte. Its gray value is a weighted sum of them. The 32
//! lanes of a [warp] compute 32 neighbouring pixels. Memory moves in sectors of 32 bytes:
//!
//! ```text
//! a warp reads red of 32 pixels               | = sector, r g b = bytes
//!   aos         lane i -> image[3i]      |rgbrgbrg..|brgbrgbr..|gbrgbrgb..|  96 B = 3 sectors, 33 % used
//!   soa         lane i -> red[i]         |rrrrrrrr..|                        32 B = 1 sector, 100 % used
//!   four_bytes  lane i -> image[4i..+4]  |rgb_rgb_..| x 4                   128 B = 4 sectors,  75 % used
//! a warp reads red, then green, then blue
//!   aos   3 + 3 + 3 = 9 sectors through L1, but the second and the third load find theirs there:
//!         3 sectors from device memory
//!   soa   1 + 1 + 1 = 3 sectors through L1, 3 sectors from device memory
//! ```
//!
//! 1. `aos`. The array of structures: rgbrgbrgb. The counter shows 3 sectors per load, 9 for a
//!    pixel's three loads. The [L1 cache] serves 6 of the 9, so device memory delivers 3 bytes per
//!    pixel. A lane has 3 bytes in flight, and a multiprocessor 64 warps x 32 lanes x 3 B = 6 KiB.
//! 2. `soa`. The structure of arrays: a plane for each channel. The counter shows 1 sector per
//!    load. Device memory delivers 3 bytes per pixel, as before, and as many are in flight.
//! 3. `four_bytes`. A pixel has a fourth byte that nobody reads, so that one aligned load of 4 bytes
//!    fetches it. It costs a third more bytes of device memory, and saves two of three
//!    [requests][request]. The counter shows 4 sectors per load.
//! 4. `aos_vectorized`. The idea: 16 pixels are 48 bytes, which is three 16-byte loads, and 16 gray
//!    bytes are one 16-byte store. Now 48 bytes per lane are in flight instead of 3. What remains:
//!    lanes are 48 bytes apart, so each load touches 32 sectors for 32 x 16 B = 16 sectors of data.
//! 5. `aos_staged`. The [block] copies 256 x 48 B = 12 KiB to [shared memory] with [coalesced]
//!    16-byte loads, and each lane reads its 48 bytes there. The counter shows 16 sectors per load.
//!    It costs a [barrier] and shared memory. The shared reads are 12 words apart and still free of
//!    [bank conflicts][bank conflict]: eight lanes at a time, 12 x lane mod 32 = 0, 12, 24, 4, 16,
//!    28, 8, 20, which are eight different groups of four banks.
//! 6. `soa_vectorized`. 16 bytes of each plane: three coalesced loads, no staging. It computes the
//!    same from the same number of bytes.
//! 7. `red_aos` and `red_soa` are another task: copy the red channel. Here two of three bytes are
//!    not used, and the rule does hold: `red_aos` reads 3 bytes per pixel and `red_soa` 1.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | bytes of device memory per pixel | limited by |
//! |---|---|---|---|---|---|
//! | `aos` | a thread per pixel, three loads of a byte, 3 bytes apart between lanes | 3 | 1 | 3 + 1 | bytes in flight |
//! | `soa` | a plane for each channel | 1 | 1 | 3 + 1 | bytes in flight |
//! | `four_bytes` | a pixel has four bytes and is one load | 4 | 1 | 4 + 1 | bytes in flight |
//! | `aos_vectorized` | 3-byte pixels again, 16 of them per thread as three 16-byte loads | 32 | 16 | 3 + 1 | L1: each sector is asked for twice |
//! | `aos_staged` | the block copies its pixels to shared memory with coalesced 16-byte loads | 16 | 16 | 3 + 1 | device memory |
//! | `soa_vectorized` | 16 bytes from each of three planes | 16 | 16 | 3 + 1 | device memory |
//! | `red_aos` | only the red channel is used, of 3-byte pixels | 32 | 16 | 3 + 1 | device memory, two thirds of what it reads unused |
//! | `red_soa` | only the red channel is used, of its own plane | 16 | 16 | 1 + 1 | device memory |
//!
//! Expected: `aos` (180.2 us) and `soa` (187.8 us) are far less than 3 times apart, because the bytes of
//! device memory are equal: (3 + 1) / (3 + 1) = 1. `four_bytes` (183.4 us) moves (4 + 1) / (3 + 1) =
//! 1.25 times the bytes. `aos_vectorized` (62.24 us), `aos_staged` (62.37 us) and `soa_vectorized` (62.11 us)
//! have 16 times the bytes in flight and approach the [minimum time] of 4 bytes per pixel.
//! `red_aos` (62.18 us) takes up to (3 + 1) / (1 + 1) = 2 times as long as `red_soa` (32.45 us).
//!
//! The layouts in CUDA C++:
//!
//! ```cuda
//! gray[i] = luma(image[3 * i], image[3 * i + 1], image[3 * i + 2]);   // array of structures
//! gray[i] = luma(red[i], green[i], blue[i]);                          // structure of arrays
//! uchar4 p = ((const uchar4 *)image)[i];                              // Rust: .cast::<U8x4>()
//! gray[i] = luma(p.x, p.y, p.z);                                      // four bytes per pixel
//! ```
//!
//! Common misconception: "a structure of arrays is three times as fast as an array of structures
//! for RGB". Three times is the ratio of the sectors per request. The caches repeat sectors, device
//! memory does not: where all channels are used, its bytes are equal.
//!
//! Common misconception: "33 % of the bytes are used, so two thirds of the bandwidth are wasted".
//! That holds for a kernel that reads one channel only, as `red_aos` does.
//!
//! Questions:
//! - Why does `aos_vectorized` touch 32 sectors per load? Lane i reads 16 bytes at 48 i. Two lanes
//!   are more than 32 bytes apart, so no two of them share a sector.
//! - How many sectors do its three loads touch in all? 3 x 32 = 96, for 32 x 48 B / 32 B = 48
//!   sectors of data. L1 delivers each sector twice.
//! - Is a fourth byte per pixel wasteful? It is a third more memory and a third more reads. It buys
//!   pixels that one load fetches, and that a texture could filter.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `aos` | 180.2 | 1490 | 35 | 1.00 |
//! | `soa` | 187.8 | 1429 | 33 | 0.96 |
//! | `four_bytes` | 183.4 | 1829 | 43 | 0.98 |
//! | `aos_vectorized` | 62.24 | 4313 | 101 | 2.90 |
//! | `aos_staged` | 62.37 | 4304 | 100 | 2.89 |
//! | `soa_vectorized` | 62.11 | 4322 | 101 | 2.90 |
//! | `red_aos` | 62.18 | 2159 | 50 | 2.90 |
//! | `red_soa` | 32.45 | 4136 | 96 | 5.55 |
//! | *nvcc aos* | 175.9 | 1526 | 36 | 1.02 |
//! | *nvcc soa* | 183.9 | 1460 | 34 | 0.98 |
//! | *nvcc aos_staged* | 62.62 | 4286 | 100 | 2.88 |
//! | *NPP ColorToGray* | 105.6 | 2542 | 59 | 1.71 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 16 bytes; the planes follow each other, each padded to a
//! multiple of 16 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; CUDA C++ Programming
//! Guide, "Device Memory Accesses".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::prelude::*;
use cuda_std::vector::{U8x4, U32x4};

pub const THREADS_PER_BLOCK: u32 = 256;
/// Pixels that a thread of the vectorized variants computes: 16 gray bytes are one store.
pub const PIXELS_PER_THREAD: u32 = 16;
/// The weights of red, green and blue; their sum is 256.
pub const WEIGHTS: [u32; 3] = [77, 150, 29];
/// Vectors of 16 bytes in which the 3-byte pixels of a thread are.
const VECTORS: usize = 3;

/// The weighted sum of the channels, rounded: below 256, since the weights add up to 256.
#[inline(always)]
fn luma(red: u32, green: u32, blue: u32) -> u32 {
    (WEIGHTS[0] * red + WEIGHTS[1] * green + WEIGHTS[2] * blue + 128) >> 8
}

/// One of the four bytes of a word.
#[inline(always)]
fn byte(word: u32, index: u32) -> u32 {
    word >> (8 * index) & 0xFF
}

/// The four gray bytes of four pixels of 3 bytes.
#[inline(always)]
fn gray_of_pixels(a: u32, b: u32, c: u32) -> u32 {
    luma(byte(a, 0), byte(a, 1), byte(a, 2))
        | luma(byte(a, 3), byte(b, 0), byte(b, 1)) << 8
        | luma(byte(b, 2), byte(b, 3), byte(c, 0)) << 16
        | luma(byte(c, 1), byte(c, 2), byte(c, 3)) << 24
}

/// The four gray bytes of four bytes of each plane.
#[inline(always)]
fn gray_of_planes(red: u32, green: u32, blue: u32) -> u32 {
    let gray = |index| luma(byte(red, index), byte(green, index), byte(blue, index)) << (8 * index);
    gray(0) | gray(1) | gray(2) | gray(3)
}

/// The sixteen gray bytes of sixteen pixels of 3 bytes.
#[inline(always)]
fn gray_of_vectors([a, b, c]: [U32x4; VECTORS]) -> U32x4 {
    U32x4::new(
        gray_of_pixels(a.x, a.y, a.z),
        gray_of_pixels(a.w, b.x, b.y),
        gray_of_pixels(b.z, b.w, c.x),
        gray_of_pixels(c.y, c.z, c.w),
    )
}

/// Bytes from one plane to the next: each begins at a multiple of 16.
#[inline(always)]
fn plane(n: u32) -> usize {
    (n as usize).next_multiple_of(16)
}

/// The gray value of pixel `i` of an image of 3-byte pixels.
///
/// # Safety
/// - `image` is valid for more than `i` pixels of 3 bytes.
#[inline(always)]
unsafe fn gray_of(image: *const u8, i: usize) -> u8 {
    // SAFETY: the caller's contract.
    let [red, green, blue] =
        core::array::from_fn(|channel| u32::from(unsafe { *image.add(3 * i + channel) }));
    luma(red, green, blue) as u8
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `image` valid for `3 * n` bytes, `gray` for `n`, not overlapping.
#[kernel]
pub unsafe fn rgb_to_gray_aos(image: *const u8, gray: *mut u8, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `image` holds n pixels, `gray` n bytes (launch contract).
        unsafe { *gray.add(i) = gray_of(image, i) };
    }
}

/// # Safety
/// - As for [`rgb_to_gray_aos`], but `image` is three planes, each padded to a multiple of 16 bytes.
#[kernel]
pub unsafe fn rgb_to_gray_soa(image: *const u8, gray: *mut u8, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let (i, plane) = (i as usize, plane(n));
        // SAFETY: i < n <= plane; `image` holds three planes, `gray` n bytes (launch contract).
        unsafe {
            let [red, green, blue] =
                core::array::from_fn(|channel| u32::from(*image.add(channel * plane + i)));
            *gray.add(i) = luma(red, green, blue) as u8;
        }
    }
}

/// # Safety
/// - As for [`rgb_to_gray_aos`], but `image` is 4-byte aligned and valid for `4 * n` bytes.
#[kernel]
pub unsafe fn rgb_to_gray_four_bytes(image: *const u8, gray: *mut u8, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let i = i as usize;
        // SAFETY: i < n; `image` holds n aligned pixels of 4 bytes, `gray` n bytes (launch contract).
        unsafe {
            let pixel = *image.cast::<U8x4>().add(i);
            *gray.add(i) = luma(pixel.x.into(), pixel.y.into(), pixel.z.into()) as u8;
        }
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `ceil(n / PIXELS_PER_THREAD)` threads.
/// - `image` and `gray` 16-byte aligned, valid for `3 * n` and `n` bytes, not overlapping.
#[kernel]
pub unsafe fn rgb_to_gray_aos_vectorized(image: *const u8, gray: *mut u8, n: u32) {
    let first = thread::index_1d() * PIXELS_PER_THREAD;
    // SAFETY: every pixel is below n; a thread's 48 and 16 bytes begin at multiples of 16.
    unsafe {
        if first + PIXELS_PER_THREAD <= n {
            let source = image.add(3 * first as usize).cast::<U32x4>();
            let vectors = [*source, *source.add(1), *source.add(2)];
            *gray.add(first as usize).cast::<U32x4>() = gray_of_vectors(vectors);
        } else {
            for i in first..n {
                *gray.add(i as usize) = gray_of(image, i as usize);
            }
        }
    }
}

/// # Safety
/// - As for [`rgb_to_gray_aos_vectorized`].
#[kernel]
pub unsafe fn rgb_to_gray_aos_staged(image: *const u8, gray: *mut u8, n: u32) {
    const PIXELS_PER_BLOCK: u32 = THREADS_PER_BLOCK * PIXELS_PER_THREAD;
    let stage = shared_array!(STAGE: [U32x4; VECTORS as u32 * THREADS_PER_BLOCK]);
    let (thread, first) = (thread::thread_idx_x(), thread::block_idx_x() * PIXELS_PER_BLOCK);
    // SAFETY: every pixel is below n; the block's bytes begin at a multiple of 16 in both arrays; every word that is
    // read after the barrier was written before it. All threads of a block take the same branch.
    unsafe {
        if first + PIXELS_PER_BLOCK <= n {
            let source = image.add(3 * first as usize).cast::<U32x4>().add(thread as usize);
            let vectors: [U32x4; VECTORS] =
                core::array::from_fn(|step| *source.add(step * THREADS_PER_BLOCK as usize));
            for (step, vector) in vectors.into_iter().enumerate() {
                *stage.add(step * THREADS_PER_BLOCK as usize + thread as usize) = vector;
            }
            thread::sync_threads();
            let own = stage.add(VECTORS * thread as usize);
            let vectors = [*own, *own.add(1), *own.add(2)];
            let target = gray.add((first + thread * PIXELS_PER_THREAD) as usize);
            *target.cast::<U32x4>() = gray_of_vectors(vectors);
        } else {
            let mut i = first + thread;
            while i < n {
                *gray.add(i as usize) = gray_of(image, i as usize);
                i += THREADS_PER_BLOCK;
            }
        }
    }
}

/// # Safety
/// - As for [`rgb_to_gray_aos_vectorized`], but `image` is three planes, each padded to a multiple of 16 bytes.
#[kernel]
pub unsafe fn rgb_to_gray_soa_vectorized(image: *const u8, gray: *mut u8, n: u32) {
    let (first, plane) = (thread::index_1d() * PIXELS_PER_THREAD, plane(n));
    // SAFETY: every pixel is below n; planes and a thread's 16 bytes begin at multiples of 16.
    unsafe {
        let source = image.add(first as usize);
        if first + PIXELS_PER_THREAD <= n {
            let of = |channel: usize| *source.add(channel * plane).cast::<U32x4>();
            let (red, green, blue) = (of(0), of(1), of(2));
            *gray.add(first as usize).cast::<U32x4>() = U32x4::new(
                gray_of_planes(red.x, green.x, blue.x),
                gray_of_planes(red.y, green.y, blue.y),
                gray_of_planes(red.z, green.z, blue.z),
                gray_of_planes(red.w, green.w, blue.w),
            );
        } else {
            for i in first..n {
                let [red, green, blue] = core::array::from_fn(|channel| {
                    u32::from(*image.add(channel * plane + i as usize))
                });
                *gray.add(i as usize) = luma(red, green, blue) as u8;
            }
        }
    }
}

/// The four red bytes of four pixels of 3 bytes.
#[inline(always)]
fn red_of_pixels(a: u32, b: u32, c: u32) -> u32 {
    byte(a, 0) | byte(a, 3) << 8 | byte(b, 2) << 16 | byte(c, 1) << 24
}

/// # Safety
/// - As for [`rgb_to_gray_aos_vectorized`].
#[kernel]
pub unsafe fn rgb_to_gray_red_aos(image: *const u8, red: *mut u8, n: u32) {
    let first = thread::index_1d() * PIXELS_PER_THREAD;
    // SAFETY: every pixel is below n; a thread's 48 and 16 bytes begin at multiples of 16.
    unsafe {
        if first + PIXELS_PER_THREAD <= n {
            let source = image.add(3 * first as usize).cast::<U32x4>();
            let (a, b, c) = (*source, *source.add(1), *source.add(2));
            *red.add(first as usize).cast::<U32x4>() = U32x4::new(
                red_of_pixels(a.x, a.y, a.z),
                red_of_pixels(a.w, b.x, b.y),
                red_of_pixels(b.z, b.w, c.x),
                red_of_pixels(c.y, c.z, c.w),
            );
        } else {
            for i in first..n {
                *red.add(i as usize) = *image.add(3 * i as usize);
            }
        }
    }
}

/// # Safety
/// - As for [`rgb_to_gray_soa_vectorized`].
#[kernel]
pub unsafe fn rgb_to_gray_red_soa(image: *const u8, red: *mut u8, n: u32) {
    let first = thread::index_1d() * PIXELS_PER_THREAD;
    // SAFETY: every pixel is below n; a thread's 16 bytes begin at a multiple of 16 in both arrays.
    unsafe {
        let (source, target) = (image.add(first as usize), red.add(first as usize));
        if first + PIXELS_PER_THREAD <= n {
            *target.cast::<U32x4>() = *source.cast::<U32x4>();
        } else {
            for i in first..n {
                *red.add(i as usize) = *image.add(i as usize);
            }
        }
    }
}
