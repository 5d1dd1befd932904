//! # Texture: reading an image by coordinates
//!
//! Shows: a texture fetch takes the same time in every direction of an image, but a plain load takes less as soon as
//! each [warp] reads a compact tile; textures win where they filter.
//!
//! The surprise: the special hardware for images loses to plain loads at reading pixels. `array` (0.159 ms) takes nearly
//! the same time along rows, columns and diagonals. But so does `plain_tile` (0.148 ms), whose warps read 8 x 4 pixels of
//! ordinary row-major memory, and it is faster. A texture wins by its arithmetic: `bilinear_array` (0.174 ms) against
//! `bilinear_plain` (0.279 ms).
//!
//! A kernel makes an image from another of the same size. `walk` says where a pixel comes from: from its own place
//! (`row`), from the transposed place (`column`), from an image that is rotated by 45 degrees (`rotated`), or from
//! anywhere (`random`). So the [lanes][lane] of a warp read along a row, down a column, along a diagonal, or 32
//! places that have nothing to do with each other. The target is always written by rows. The picture counts
//! the [sectors][sector] of one load of a warp.
//!
//! ```text
//! 32 lanes of a warp side by side      sectors of 8 x 1 pixels    sectors of 4 x 2 pixels
//!                                      (row-major memory)         (an array)
//!   row        ################         4                          8
//!   column     one below the other     32                         16
//!   rotated    one to the right        about 22                   about 17
//!              and one down, 23 rows
//!   random     anywhere                32                         32
//! ```
//!
//! The row-major image is not the best order for that. An *array* (`cuArray`) is an image in an order of the driver's
//! choice: small tiles that are two-dimensional, so that neighbours in all directions share sectors and
//! [cache lines][cache line]. A sector holds 4 x 2 pixels: the counters of
//! an H200 show it, as a fetch of a row touches 8 sectors and one of a column 16. Only texture and surface instructions know that order. A *texture object* says which
//! array, or which plain memory, a fetch reads, what lies beyond the edges (the *address mode*), and whether a fetch
//! gives the nearest *texel* (a pixel of the texture) or the weighted mean of those around (*linear filtering*).
//!
//! 1. `plain`. Row-major memory and loads; a place beyond the edge is moved to the edge by `min` and `max`. For
//!    `rotated`, the counter shows about 22 sectors per load inside the image, each in another cache line.
//! 2. `linear`. The same memory through a one-dimensional texture, which has an index instead of coordinates. The
//!    order of the texels is the same, and so are the sectors. It shows what the instruction alone changes: it is
//!    the slowest way to cross rows.
//! 3. `array`. The idea: the order of an array, coordinates instead of an index, and the edges in hardware
//!    (`tex.2d`). The counter shows fewer sectors. It costs a copy of the image into the array, which the time below
//!    does not contain.
//! 4. `array_tile`. The idea: the lanes of a warp compute 8 x 4 pixels instead of 32 x 1. Rotated, they still lie
//!    close together. It costs nothing but the arithmetic of the index: a store touches 4 sectors as before.
//! 5. `plain_tile`. The same idea without a texture: 8 x 4 pixels lie in about 9 rows of the row-major image.
//! 6. `bilinear_plain`. Another task: the weighted mean of the four pixels around the place. Four loads, and three
//!    multiply-adds for the weights.
//! 7. `bilinear_gather`. The idea: one instruction fetches the four (`tld4`), and the kernel weighs them itself.
//! 8. `bilinear_array`. Linear filtering: one fetch, no arithmetic. It costs precision: the four weights are
//!    256ths that sum to 1, whatever the fraction.
//! 9. `wrap_plain`. Another task: the image repeats beyond its edges. A remainder for each coordinate takes about twenty
//!    instructions, as the device has no division of integers.
//! 10. `wrap_array`. The address mode does it. It costs *normalized coordinates*, which run from 0 to 1: a
//!     multiplication each.
//!
//! | variant | change from the previous one | sectors per load | sectors per fetch | sectors per store | limited by |
//! |---|---|---|---|---|---|
//! | `plain` | row-major memory, clamped by `min` and `max`; a warp computes 32 pixels of a row | 17.3 | none | 4 | lines in L1 |
//! | `linear` | the same memory through a one-dimensional texture, 32 pixels of a row | none | 17.3 | 4 | lines in L1 |
//! | `array` | coordinates of an array; the texture unit clamps | none | 12.5 | 4 | texture units and device memory |
//! | `array_tile` | a warp computes 8 x 4 pixels | none | 6.4 | 4 | texture units and device memory |
//! | `plain_tile` | row-major memory again, 8 x 4 pixels | 8.0 | none | 4 | lines in L1 |
//! | `bilinear_plain` | another task: the mean of four pixels, by four loads | 7.9 | none | 4 | lines in L1 |
//! | `bilinear_gather` | one instruction fetches the four | none | 8.2 | 4 | texture units |
//! | `bilinear_array` | the texture unit weighs them | none | 8.2 | 4 | texture units |
//! | `wrap_plain` | another task: the image repeats, by a remainder of each coordinate | 23.8 | none | 4 | lines in L1, arithmetic |
//! | `wrap_array` | the texture unit repeats the image | none | 15.6 | 4 | texture units and device memory |
//!
//! The sectors are those of an image of 128 x 64 pixels, rotated: a part of its warps is clamped to the edge and touches
//! fewer than those inside.
//!
//! Expected: a texture unit takes 4 lanes at a time, wherever they lie: Nsight Compute counts 8 requests for a fetch of
//! a warp, each with its own sectors. A load is one request, and L1 looks up each of its cache lines. So the time of
//! `array` (0.159 ms) hardly depends on the walk, and that of `plain` (0.158 ms) grows with the rows that a warp crosses: for
//! `column` it is much longer, for `row` it is the shortest of all. `plain_tile` (0.148 ms) crosses 4 to 9 rows, and is the
//! fastest for all walks but `row`. `linear` (0.276 ms) takes 8 lanes at a time, and repeats the cache lines that they
//! share. For `random` each lane brings a sector of its own, and all of them take the same time.
//! `bilinear_plain` (0.279 ms) looks up four times the cache lines of `plain_tile`; `bilinear_gather` (0.173 ms) and
//! `bilinear_array` (0.174 ms) make one fetch of it, which costs little more than that of the nearest pixel. Filtering in
//! the texture unit saves arithmetic that waits for nothing here, so the two are level.
//!
//! 2^26 pixels / 32 lanes x 8 cycles / 132 multiprocessors = 127 thousand clock cycles is what the texture units need
//! for `array` at least. Device memory needs more, and `array` does not reach its [measured peak], as `plain` does
//! along rows.
//!
//! The key lines of `array` and `bilinear_array` in CUDA C++:
//!
//! ```cuda
//! cudaTextureDesc how = {};
//! how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
//! how.filterMode = cudaFilterModeLinear;                 // or cudaFilterModePoint
//! cudaCreateTextureObject(&image, &array, &how, nullptr);
//!
//! target[row * columns + column] = tex2D<float>(image, x, y);     // texel i reaches from i to i + 1
//! ```
//!
//! Common misconception: "textures are the fast way to read data that is not written". That was so before GPUs had an
//! [L1 cache] for global memory. Today both go through the same cache, and a load is answered sooner. What is left to
//! textures: filtering, address modes, conversion of formats, and warps that must cross many rows.
//!
//! Common misconception: "a fetch sees what the kernel has stored". The cache of a texture is not coherent with stores
//! of the same launch: a fetch may give what was there before. A launch sees what earlier launches stored. The
//! executor reports a fetch of what the launch stored (`a_fetch_of_what_the_launch_stored_is_found` in
//! `crates/simt/tests/texture.rs`).
//!
//! Questions:
//! - Why do two outputs exist for bilinear means? `bilinear_plain` and `bilinear_gather` weigh with fractions as they
//!   are, `bilinear_array` with what the texture unit makes of them: for fractions of 37/256 and 91/256 the weights
//!   are 141, 24, 78 and 13 of 256; without rounding they are 141.2, 23.8, 77.8 and 13.2.
//! - Why is the centre of the first pixel at 0.5? Texel i reaches from i to i + 1. A filter at the centre of a texel
//!   gives that texel; at 1.0 it gives the mean of texels 0 and 1.
//! - Why does `wrap_array` add 1/512 to each coordinate? Normalized coordinates have 21 bits behind the point; a place
//!   at the edge of a texel may be cut to the texel before.
//! - What does `linear` offer? Indices beyond the end give zero, and the texels of small types become floats. It has
//!   at most 2^27 texels.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `plain` | 0.158 | 3107 | 72 | 1.00 |
//! | `linear` | 0.276 | 1779 | 41 | 0.57 |
//! | `array` | 0.159 | 3079 | 72 | 0.99 |
//! | `array_tile` | 0.162 | 3027 | 71 | 0.97 |
//! | `plain_tile` | 0.148 | 3310 | 77 | 1.07 |
//! | `bilinear_plain` | 0.279 | 1762 | 41 | 0.57 |
//! | `bilinear_gather` | 0.173 | 2842 | 66 | 0.91 |
//! | `bilinear_array` | 0.174 | 2818 | 66 | 0.91 |
//! | `wrap_plain` | 0.174 | 2813 | 66 | 0.91 |
//! | `wrap_array` | 0.170 | 2891 | 67 | 0.93 |
//! | *nvcc plain* | 0.160 | 3072 | 72 | 0.99 |
//! | *nvcc array* | 0.159 | 3078 | 72 | 0.99 |
//! | *nvcc array_tile* | 0.162 | 3030 | 71 | 0.98 |
//! | *nvcc plain_tile* | 0.146 | 3355 | 78 | 1.08 |
//! | *nvcc bilinear_plain* | 0.277 | 1771 | 41 | 0.57 |
//! | *nvcc bilinear_array* | 0.172 | 2845 | 66 | 0.92 |
//! <!-- /measured -->
//!
//! Preconditions: images of at most 32768 x 32768; `linear` of at most 2^27 pixels; `wrap_array` of edges that are powers of two
//! or at most 1024, as normalized coordinates are cut.
//!
//! Source: CUDA C++ Programming Guide, "Texture and Surface Memory" and "Texture Fetching"; Best Practices Guide,
//! "Texture Memory". The rounding of weights: sweeps of an H200, `crates/simt/tests/texture/sweep.cu`.
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::GpuFloat;
use cuda_std::kernel::ByValue;
use cuda_std::prelude::*;
use cuda_std::texture::{Buffer, Plane, Texture};

pub const THREADS_PER_BLOCK: u32 = 256;
/// Columns and rows of the pixels of a block.
pub const TILE: u32 = 32;
/// Rows of a tile that the threads compute at once, and how often they do.
const ROWS: u32 = THREADS_PER_BLOCK / TILE;
const ROUNDS: usize = (TILE / ROWS) as usize;
/// Half of a 256th.
const HALF_STEP: f32 = 1.0 / 512.0;

/// Source positions of the target's pixels: an affine map, or anywhere. All numbers are multiples of 1/256, and all
/// that is computed of them is exact.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Walk {
    /// The place of the first pixel, and the steps to the next column and to the next row: x.
    pub x: f32,
    /// Of a step to the right.
    pub x_right: f32,
    /// Of a step down.
    pub x_down: f32,
    /// The same of y.
    pub y: f32,
    /// Of a step to the right.
    pub y_right: f32,
    /// Of a step down.
    pub y_down: f32,
    /// Columns of both images.
    pub columns: u32,
    /// Rows of both images.
    pub rows: u32,
    /// Not zero: a column and a row are added that depend on the pixel's index; the steps are zero.
    pub is_random: u32,
}

// SAFETY: `repr(C)`, and all fields are `ByValue`.
unsafe impl ByValue for Walk {}

impl Walk {
    /// The place from which a pixel comes.
    #[inline(always)]
    fn place(&self, column: u32, row: u32) -> (f32, f32) {
        if self.is_random != 0 {
            let first = scrambled(row.wrapping_mul(self.columns).wrapping_add(column));
            let second = scrambled(first);
            return (self.x + part(first, self.columns), self.y + part(second, self.rows));
        }
        let (column, row) = (column as f32, row as f32);
        let x = row.mul_add(self.x_down, column.mul_add(self.x_right, self.x));
        let y = row.mul_add(self.y_down, column.mul_add(self.y_right, self.y));
        (x, y)
    }
}

/// Another number for each number, without order.
#[inline(always)]
fn scrambled(number: u32) -> u32 {
    let number = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    let number = (number ^ number >> 15).wrapping_mul(0x846c_a68b);
    number ^ number >> 16
}

/// A number below `extent`, for any number.
#[inline(always)]
fn part(number: u32, extent: u32) -> f32 {
    ((u64::from(number) * u64::from(extent)) >> 32) as f32
}

/// Writes what `read` gives for each pixel's place; a thread has four pixels, and starts all reads before it stores. A
/// warp has 32 pixels of a row, or 8 x 4 if it is `TILED`.
///
/// # Safety
/// - The grid is that of a launch contract below.
/// - `target` is valid for all pixels, and nobody else accesses it.
#[inline(always)]
unsafe fn resample<const TILED: bool>(
    walk: &Walk,
    target: *mut f32,
    read: impl Fn(f32, f32) -> f32,
) {
    let (lane, warp) = (thread::thread_idx_x() % 32, thread::thread_idx_x() / 32);
    let (x, y) =
        if TILED { (warp % 4 * 8 + lane % 8, warp / 4 * 4 + lane / 8) } else { (lane, warp) };
    let column = thread::block_idx_x() * TILE + x;
    let row = thread::block_idx_y() * TILE + y;
    let value = |round: u32| {
        let (x, y) = walk.place(column, row + round * ROWS);
        read(x, y)
    };
    // Not a loop: LLVM would keep a long one, and the values in local memory.
    let values: [f32; ROUNDS] = [value(0), value(1), value(2), value(3)];
    for (round, value) in values.iter().enumerate() {
        let row = row + round as u32 * ROWS;
        if column < walk.columns && row < walk.rows {
            // SAFETY: the pixel lies in the image, and this thread alone has it.
            unsafe { *target.add((row * walk.columns + column) as usize) = *value };
        }
    }
}

/// The column or row of a coordinate; beyond the edge, that at the edge.
#[inline(always)]
fn clamped(at: f32, extent: u32) -> u32 {
    // SAFETY: a number from 0 to extent - 1, which is below 2^24.
    unsafe { at.max(0.0).min((extent - 1) as f32).to_int_unchecked() }
}

/// The column or row of a coordinate in an image that repeats.
#[inline(always)]
fn wrapped(at: f32, extent: u32) -> u32 {
    // SAFETY: coordinates are below 2^17; an extent is at least 1 (launch contract).
    unsafe {
        core::hint::assert_unchecked(extent as i32 > 0);
        at.floor().to_int_unchecked::<i32>().rem_euclid(extent as i32) as u32
    }
}

/// The mean of four pixels, two above and two below, by how far a place is from their centres.
#[inline(always)]
fn mean(above: [f32; 2], below: [f32; 2], x: f32, y: f32) -> f32 {
    let (x, y) = (x - 0.5, y - 0.5);
    let (right, down) = (x - x.floor(), y - y.floor());
    let top = right.mul_add(above[1] - above[0], above[0]);
    let bottom = right.mul_add(below[1] - below[0], below[0]);
    down.mul_add(bottom - top, top)
}

/// # Safety
/// - grid: 2-D, a block for each `TILE` x `TILE` pixels
/// - block: `THREADS_PER_BLOCK` threads
/// - lengths: the walk has from 1 to 32768 columns and rows; `source` and `target` valid for that many f32
/// - aliasing: they do not overlap
#[kernel]
pub unsafe fn texture_plain(source: *const f32, target: *mut f32, walk: Walk) {
    // SAFETY: a clamped place lies in the image; the rest is the launch contract.
    unsafe {
        resample::<false>(&walk, target, |x, y| {
            let (column, row) = (clamped(x, walk.columns), clamped(y, walk.rows));
            *source.add((row * walk.columns + column) as usize)
        });
    }
}

/// # Safety
/// - As for [`texture_plain`], with a texture of at most 2^27 pixels.
#[kernel]
pub unsafe fn texture_linear(source: Texture<Buffer, f32>, target: *mut f32, walk: Walk) {
    // SAFETY: the grid and the target are those of the launch contract.
    unsafe {
        resample::<false>(&walk, target, |x, y| {
            let (column, row) = (clamped(x, walk.columns), clamped(y, walk.rows));
            source.texel((row * walk.columns + column) as i32)
        });
    }
}

/// # Safety
/// - As for [`texture_plain`], with a texture that gives the nearest texel.
#[kernel]
pub unsafe fn texture_array(source: Texture<Plane, f32>, target: *mut f32, walk: Walk) {
    // SAFETY: the grid and the target are those of the launch contract.
    unsafe { resample::<false>(&walk, target, |x, y| source.fetch(x, y)) }
}

/// # Safety
/// - As for [`texture_array`].
#[kernel]
pub unsafe fn texture_array_tile(source: Texture<Plane, f32>, target: *mut f32, walk: Walk) {
    // SAFETY: the grid and the target are those of the launch contract.
    unsafe { resample::<true>(&walk, target, |x, y| source.fetch(x, y)) }
}

/// # Safety
/// - As for [`texture_plain`].
#[kernel]
pub unsafe fn texture_plain_tile(source: *const f32, target: *mut f32, walk: Walk) {
    // SAFETY: as for `plain`.
    unsafe {
        resample::<true>(&walk, target, |x, y| {
            let (column, row) = (clamped(x, walk.columns), clamped(y, walk.rows));
            *source.add((row * walk.columns + column) as usize)
        });
    }
}

/// # Safety
/// - As for [`texture_plain`].
#[kernel]
pub unsafe fn texture_bilinear_plain(source: *const f32, target: *mut f32, walk: Walk) {
    // SAFETY: a clamped place lies in the image; the rest is the launch contract.
    unsafe {
        resample::<true>(&walk, target, |x, y| {
            let left = clamped((x - 0.5).floor(), walk.columns);
            let right = clamped((x + 0.5).floor(), walk.columns);
            let above = clamped((y - 0.5).floor(), walk.rows) * walk.columns;
            let below = clamped((y + 0.5).floor(), walk.rows) * walk.columns;
            let pixel = |index: u32| *source.add(index as usize);
            let above = [pixel(above + left), pixel(above + right)];
            mean(above, [pixel(below + left), pixel(below + right)], x, y)
        });
    }
}

/// # Safety
/// - As for [`texture_array`], with an array that was made for it.
#[kernel]
pub unsafe fn texture_bilinear_gather(source: Texture<Plane, f32>, target: *mut f32, walk: Walk) {
    // SAFETY: the grid and the target are those of the launch contract.
    unsafe {
        resample::<true>(&walk, target, |x, y| {
            let four = source.gather(x, y);
            mean([four.w, four.z], [four.x, four.y], x, y)
        });
    }
}

/// # Safety
/// - As for [`texture_array`], with a texture that filters.
#[kernel]
pub unsafe fn texture_bilinear_array(source: Texture<Plane, f32>, target: *mut f32, walk: Walk) {
    // SAFETY: the grid and the target are those of the launch contract.
    unsafe { resample::<true>(&walk, target, |x, y| source.fetch(x, y)) }
}

/// # Safety
/// - As for [`texture_plain`].
#[kernel]
pub unsafe fn texture_wrap_plain(source: *const f32, target: *mut f32, walk: Walk) {
    // SAFETY: a wrapped place lies in the image; the rest is the launch contract.
    unsafe {
        resample::<false>(&walk, target, |x, y| {
            let (column, row) = (wrapped(x, walk.columns), wrapped(y, walk.rows));
            *source.add((row * walk.columns + column) as usize)
        });
    }
}

/// # Safety
/// - As for [`texture_array`], with a texture that wraps normalized coordinates.
/// - `column` and `row` are the extents of a texel in them, and the extents of the image powers of two or at most 1024.
#[kernel]
pub unsafe fn texture_wrap_array(
    source: Texture<Plane, f32>,
    target: *mut f32,
    walk: Walk,
    column: f32,
    row: f32,
) {
    // SAFETY: the grid and the target are those of the launch contract.
    unsafe {
        resample::<false>(&walk, target, |x, y| {
            source.fetch((x + HALF_STEP) * column, (y + HALF_STEP) * row)
        });
    }
}
