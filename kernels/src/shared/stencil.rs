//! # Stencil: each element is needed many times, and should be read once
//!
//! Shows: a stencil that holds its neighbours in registers moves two words per element, however many
//! neighbours it adds; what limits the others is requests, not device memory.
//!
//! The surprise: `plane_global` (432.2 us) loads each element 17 times, and device memory hardly notices,
//! because the [L1 cache] serves the repetitions. It is slow all the same: 17 requests for 32 results
//! keep L1 busy. Staging the tile in [shared memory], `plane_shared` (317.4 us), replaces 17 requests to L1
//! by 17 requests to shared memory, and shared memory is the same unit. What pays is asking less often:
//! `plane_rolling` (160.5 us) uses no shared memory at all.
//!
//! A stencil computes each element from its neighbours. Here the neighbours are a star: along each
//! axis, those up to a distance of 1 or 4, the radius. Neighbours outside the array count as zero, and
//! the coefficient depends on the distance only. The same array is taken as a line, a plane and a
//! volume:
//!
//! ```text
//! radius 4        points   multiply-adds and additions   words that must move   a warp of 32 elements
//!   line             9     5 + 4                         1 in, 1 out            4 sectors in, 4 out
//!   plane           17     9 + 8                         1 in, 1 out            4 sectors in, 4 out
//!   volume          25     13 + 12                       1 in, 1 out            4 sectors in, 4 out
//! what a warp asks for, per 32 results of the plane
//!   plane_global    17 loads: 8 x 5 + 9 x 4 = 76 sectors      x . . . . # . . . .   x = own word
//!   plane_shared    40 x 40 / (32 x 32) = 1.56 words per result, and 17 shared reads
//!   plane_rolling   3 loads of 16 bytes for 128 results: (16 + 17 + 17) / 4 = 12.5 sectors
//! ```
//!
//! 1. `line_global`. A [warp] makes 9 requests for 32 results. The counter shows 4 or 5
//!    [sectors][sector] per load: a load at a distance that is no multiple of 8 words covers a fifth
//!    sector. 5 more requests fetch the coefficients, one word for all [lanes][lane].
//! 2. `line_constant`. The idea: coefficients belong in [constant memory]. All lanes read the same one,
//!    so a multiply-add takes it as an operand, like a [register], without a load in machine code. It
//!    costs a write by the host before the first launch, and saves 5 of 14 requests.
//! 3. `line_shared`. The [block] stages 256 words, and the halo: the 4 words on either side that its
//!    neighbours own. It costs a [barrier] and a shared store. The counter shows 1
//!    [wavefront] per shared read, and there are 9 of them instead of 9 loads.
//! 4. `line_vectorized`. The idea: 4 results need 12 words, and 12 words are three 16-byte loads. 9
//!    requests for 32 results become 3 for 128. The neighbours' vectors come from L1.
//! 5. `plane_r1_global` and `plane_r1_rolling` add 5 points of a plane. In the second, a thread walks
//!    down 4 columns. The row below arrives, moves up a place in a ring of registers at each step, and
//!    is used three times from there: this is register rolling. Each row is loaded once, and twice more
//!    by the lanes beside it.
//! 6. `plane_global` has 17 points. The counter shows 4.4 sectors per load, and 17 loads.
//! 7. `plane_shared` stages a tile of 32 x 32 and its halo, 40 x 40 words. It reads 1.56 words per
//!    result, and the neighbouring blocks' halos from the [L2 cache]. What remains: 17 shared reads
//!    per result. At the speed of a copy, a multiprocessor would have to finish 32 results every 15
//!    clock cycles, and 17 wavefronts take 17.
//! 8. `plane_boxes`. The idea: the Tensor Memory Accelerator copies the whole tile with its halo, a box, into
//!    shared memory by one instruction of one thread; what is outside the plane arrives as zeros, so no thread
//!    compares an index when it loads. A thread then takes four columns down sixteen rows: it reads each row of its
//!    columns once from shared memory by 16-byte loads, and holds 9 of them in registers. The counter shows no
//!    global loads, and 4 wavefronts per shared load, the minimum for 512 bytes. It costs 38 KiB of shared
//!    memory per block; what remains is the halo, 136 x 72 / (128 x 64) = 1.2 words per result, from L2. Compute
//!    capability 9.0.
//! 9. `plane_rolling` holds 9 rows of 4 columns in registers, 36 registers, and one more row is on its
//!    way. It needs neither shared memory nor a barrier. It costs [occupancy], and rows that two blocks
//!    load: (64 + 8) / 64 = 1.125 words per result.
//! 10. `volume_r1_global` and `volume_r1_rolling` add 7 points of a volume. A thread walks through the
//!    planes; the rows above and below come from L1.
//! 11. `volume_global` has 25 points, 25 loads.
//! 12. `volume_rolling` combines both ideas, as is usual for volumes (2.5-D blocking): the middle plane
//!     is in shared memory with its halo, because 8 rows of it are needed; the 4 planes before and the
//!     4 behind are needed by their own thread only and stay in registers. Two buffers take turns, so
//!     that one barrier per plane is enough.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | limited by |
//! |---|---|---|---|---|---|
//! | `line_global` | 9 points of a line: a thread per element loads them and 5 coefficients from global memory | 3.5 | 4 | none | L1 requests |
//! | `line_constant` | the coefficients are in constant memory | 4.9 | 4 | none | L1 requests |
//! | `line_shared` | the block stages its words and a halo in shared memory | 3.8 | 4 | 1 / 1 | shared memory requests |
//! | `line_vectorized` | a thread computes 4 words from three 16-byte loads, without shared memory | 16.7 | 16 | none | device memory |
//! | `plane_r1_global` | another task: 5 points of a plane, a thread per element, from global memory | 4.4 | 4 | none | L1 requests |
//! | `plane_r1_rolling` | a thread walks down 4 columns with 16-byte loads, and holds the rows in registers | 16.3 | 16 | none | device memory |
//! | `plane_global` | 17 points of a plane, a thread per element, from global memory | 4.4 | 4 | none | L1 requests |
//! | `plane_shared` | the block stages a tile of 32 x 32 elements and its halo in shared memory | 3.4 | 4 | 1 / 1 | shared memory requests |
//! | `plane_boxes` | the Tensor Memory Accelerator copies a tile of 128 x 64 and its halo, zeros included (sm_90) | none | 16 | 4 / none | device memory |
//! | `plane_rolling` | a thread walks down 4 columns with 9 rows in registers, without shared memory | 16.3 | 16 | none | device memory |
//! | `volume_r1_global` | another task: 7 points of a volume, a thread per element, from global memory | 4.3 | 4 | none | L1 requests |
//! | `volume_r1_rolling` | a thread walks through the planes with 4 columns in registers | 16.2 | 16 | none | device memory |
//! | `volume_global` | 25 points of a volume, a thread per element, from global memory | 4.4 | 4 | none | L1 requests |
//! | `volume_rolling` | the block walks through the planes, the middle one in shared memory, 8 in registers | 16 | 16 | 4 / 4 | bytes in flight |
//!
//! Expected: the [minimum time] of each is that of a copy, 8 bytes per element. `line_constant` (235.9 us)
//! gains over `line_global` (238.6 us) with 9 instead of 14 requests; `line_shared` (261.6 us) does not gain
//! over that; `line_vectorized` (127.3 us) approaches the copy. `plane_r1_rolling` (143.8 us) beats
//! `plane_r1_global` (247.6 us), and `plane_rolling` (160.5 us) beats `plane_shared` (317.4 us) by more, the
//! more points there are. `plane_boxes` is the fastest of them: it has the registers of `plane_rolling`, and
//! 38 KiB of each block on the way at once. `volume_r1_rolling` (151.2 us) beats `volume_r1_global` (276.0 us), and
//! `volume_rolling` (211.3 us) beats `volume_global` (710.4 us), but it stays behind the planes: its halo is
//! 8 of 16 rows, and with 101 registers per thread a multiprocessor holds a quarter of its threads.
//!
//! The heart of `plane_rolling` in CUDA C++; all indices are constants, so `ring` stays in registers:
//!
//! ```cuda
//! #pragma unroll 9                                                // as many rows as the ring holds
//! for (uint32_t row = first; row < end; row++) {
//!     float4 next = source4[(row + 5) * columns4 + x];            // on its way while this row is computed
//!     float4 sum = along_row(left, ring[4], right);
//!     for (int k = 1; k <= 4; k++) sum += c[k] * (ring[4 - k] + ring[4 + k]);    // c: __constant__
//!     target4[row * columns4 + x] = sum;
//!     for (int k = 0; k < 8; k++) ring[k] = ring[k + 1];          // unrolled: renames registers
//!     ring[8] = next;
//! }
//! ```
//!
//! Common misconception: "a stencil needs a tile in shared memory". It needs reuse. L1 reuses without
//! being asked, and registers reuse at the lowest cost. Shared memory pays where threads need many
//! values of other threads, as the middle plane in `volume_rolling`.
//!
//! Common misconception: "coefficients in constant memory cost a load". A multiply-add reads its operand
//! from constant memory directly, if the address is the same for all lanes and known at compile time.
//!
//! Questions:
//! - Why do 8 of the 9 loads of a line cover 5 sectors? At a distance of 1 to 4 words, 32 words begin
//!   inside a sector, and 128 B that do not begin at a multiple of 32 B cover 5 sectors.
//! - Why does `plane_rolling` need no barrier? No thread reads what another one wrote. The vectors on
//!   the left and on the right are read from global memory again, and are in L1, because a neighbouring
//!   lane has loaded them 5 rows before.
//! - Why are the rows of the tile in `volume_rolling` 35 vectors apart, though 34 are used? The sides
//!   of the halo are stored column by column. 34 r mod 8 takes 4 values, which is a two-way
//!   [bank conflict]; 35 r mod 8 takes all 8.
//! - Why not walk down the whole plane with one block? Fewer rows would be loaded twice, but there
//!   would be too few blocks for 132 multiprocessors.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `line_global` | 0.239 | 2250 | 52 | 1.00 |
//! | `line_constant` | 0.236 | 2276 | 53 | 1.01 |
//! | `line_shared` | 0.262 | 2052 | 48 | 0.91 |
//! | `line_vectorized` | 0.127 | 4219 | 98 | 1.87 |
//! | `plane_r1_global` | 0.248 | 2168 | 51 | 0.96 |
//! | `plane_r1_rolling` | 0.144 | 3734 | 87 | 1.66 |
//! | `plane_global` | 0.432 | 1242 | 29 | 0.55 |
//! | `plane_shared` | 0.317 | 1691 | 39 | 0.75 |
//! | `plane_boxes` | 0.143 | 3745 | 87 | 1.66 |
//! | `plane_rolling` | 0.161 | 3344 | 78 | 1.49 |
//! | `volume_r1_global` | 0.276 | 1946 | 45 | 0.86 |
//! | `volume_r1_rolling` | 0.151 | 3551 | 83 | 1.58 |
//! | `volume_global` | 0.710 | 756 | 18 | 0.34 |
//! | `volume_rolling` | 0.211 | 2541 | 59 | 1.13 |
//! | *nvcc plane_global* | 0.475 | 1131 | 26 | 0.50 |
//! | *nvcc plane_rolling* | 0.170 | 3166 | 74 | 1.41 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 16 bytes. In `plane_boxes` and the rolling variants 4 divides the number of columns.
//! A grid has at most 65535 blocks in y and in z.
//!
//! Source: CUDA C++ Best Practices Guide, "Constant Memory" and "Shared Memory"; Micikevicius, "3D
//! Finite Difference Computation on GPUs using CUDA"; Kirk and Hwu, "Programming Massively Parallel
//! Processors", chapter "Stencil".
#![doc = include_str!("../../../crates/report/src/links.md")]

use core::mem::MaybeUninit;
use cuda_std::GpuFloat;
use cuda_std::mbarrier::{self, Barrier};
use cuda_std::prelude::*;
use cuda_std::tensor_copy::{self, TensorMap};
use cuda_std::vector::F32x4;

/// Neighbours in each direction that count in the large star; in the small one it is one.
pub const RADIUS: usize = 4;
/// The radius as a number of words.
const HALO: u32 = RADIUS as u32;
/// Coefficients: one for the element itself, one for each distance.
pub const COEFFICIENTS: usize = RADIUS + 1;
/// Threads per block of the 1-D variants.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Columns and rows of a block of the variants with one thread per element.
pub const BLOCK: (u32, u32) = (32, 8);
/// Rows and columns that a block of `plane_shared` computes.
pub const TILE: u32 = 32;
/// Words of a vector, and columns of a thread of the rolling variants.
pub const COLUMNS_PER_THREAD: u32 = 4;
/// Threads per block of the 2-D rolling variants, in one row.
pub const STRIP_THREADS: u32 = 128;
/// Rows that a block of the 2-D rolling variants walks down.
pub const ROWS_PER_BLOCK: u32 = 64;
/// Planes that a block of the 3-D rolling variants walks through.
pub const PLANES_PER_BLOCK: u32 = 64;
/// Rows of threads of a block of `volume_rolling`.
pub const VOLUME_ROWS: u32 = 16;

/// Columns and rows that a block of `plane_boxes` computes.
pub const BOX_TILE: (u32, u32) = (128, 64);
/// Columns and rows that it has in shared memory: the tile and its halo.
pub const BOX: (u32, u32) = (BOX_TILE.0 + 2 * HALO, BOX_TILE.1 + 2 * HALO);
/// Threads of such a block: one for four columns and sixteen rows.
pub const BOX_THREADS: (u32, u32) = (BOX_TILE.0 / COLUMNS_PER_THREAD, 4);
/// Such blocks for which the boxes fit on a multiprocessor.
const BOX_BLOCKS: u32 = 5;

/// The box of a tile, aligned as copies of boxes need it.
#[repr(C, align(128))]
struct HaloBox([f32; (BOX.0 * BOX.1) as usize]);

/// The coefficients in constant memory; the host writes them by this name.
#[address_space(constant)]
pub static mut STENCIL_COEFFICIENTS: [f32; COEFFICIENTS] = [0.0; COEFFICIENTS];

/// The coefficients, as operands in constant memory.
#[inline(always)]
fn constants() -> [f32; COEFFICIENTS] {
    let coefficients = (&raw const STENCIL_COEFFICIENTS).cast::<f32>();
    // SAFETY: the index is below COEFFICIENTS; nobody writes them during a launch.
    core::array::from_fn(|k| unsafe { *coefficients.add(k) })
}

/// Adds the neighbours of one axis, up to a distance of `R`; `neighbour(d)` is the one at distance `d`.
#[inline(always)]
fn add_axis<const R: usize>(
    sum: f32,
    coefficients: &[f32; COEFFICIENTS],
    neighbour: impl Fn(i32) -> f32,
) -> f32 {
    let mut sum = sum;
    for k in 0..R {
        let distance = k as i32 + 1;
        let pair = neighbour(-distance) + neighbour(distance);
        sum = coefficients[k + 1].mul_add(pair, sum);
    }
    sum
}

/// The word at `at`, or zero outside the first `n`.
///
/// # Safety
/// - `source` is valid for `n` f32.
#[inline(always)]
unsafe fn word_or_zero(source: *const f32, at: u32, n: u32) -> f32 {
    // SAFETY: at < n.
    if at < n { unsafe { *source.add(at as usize) } } else { 0.0 }
}

/// The index of an element: below 2^31 x 2^31.
#[inline(always)]
fn flat_index(row: u32, columns: u32, column: u32) -> usize {
    row as usize * columns as usize + column as usize
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` and `target` valid for `n` f32, `coefficients` for `COEFFICIENTS`; `target` overlaps neither.
#[kernel]
pub unsafe fn stencil_line_global(
    source: *const f32,
    coefficients: *const f32,
    target: *mut f32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and neighbours are checked (launch contract).
        unsafe {
            let coefficients = core::array::from_fn(|k| *coefficients.add(k));
            *target.add(i as usize) = line(source, &coefficients, i, n);
        }
    }
}

/// The weighted sum around word `i`.
///
/// # Safety
/// - `source` is valid for `n` f32.
#[inline(always)]
unsafe fn line(source: *const f32, coefficients: &[f32; COEFFICIENTS], i: u32, n: u32) -> f32 {
    // SAFETY: the caller's contract.
    let at = |d: i32| unsafe { word_or_zero(source, i.wrapping_add_signed(d), n) };
    add_axis::<RADIUS>(coefficients[0] * at(0), coefficients, at)
}

/// # Safety
/// - As for [`stencil_line_global`], without coefficients: they are in `STENCIL_COEFFICIENTS`.
#[kernel]
pub unsafe fn stencil_line_constant(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and neighbours are checked (launch contract).
        unsafe { *target.add(i as usize) = line(source, &constants(), i, n) };
    }
}

/// # Safety
/// - As for [`stencil_line_constant`].
#[kernel]
pub unsafe fn stencil_line_shared(source: *const f32, target: *mut f32, n: u32) {
    const WORDS: u32 = THREADS_PER_BLOCK + 2 * HALO;
    let words = shared_array!(LINE: [f32; WORDS]);
    let thread = thread::thread_idx_x();
    let (first, i) = (thread::block_idx_x() * THREADS_PER_BLOCK, thread::index_1d());
    // SAFETY: loads are checked; own words are `HALO..HALO + THREADS_PER_BLOCK`, and the halo is the rest; every word
    // that is read after the barrier was written before it; i < n.
    unsafe {
        *words.add((HALO + thread) as usize) = word_or_zero(source, i, n);
        if thread < 2 * HALO {
            let word = if thread < HALO { thread } else { THREADS_PER_BLOCK + thread };
            let at = (first + word).wrapping_sub(HALO);
            *words.add(word as usize) = word_or_zero(source, at, n);
        }
        thread::sync_threads();
        if i < n {
            let at = |d: i32| *words.add((HALO + thread).wrapping_add_signed(d) as usize);
            let coefficients = constants();
            *target.add(i as usize) =
                add_axis::<RADIUS>(coefficients[0] * at(0), &coefficients, at);
        }
    }
}

/// The sums along the row for the four words of `own`, from the vectors on either side.
#[inline(always)]
fn along_row<const R: usize>(
    coefficients: &[f32; COEFFICIENTS],
    left: F32x4,
    own: F32x4,
    right: F32x4,
) -> F32x4 {
    let words = [
        left.x, left.y, left.z, left.w, own.x, own.y, own.z, own.w, right.x, right.y, right.z,
        right.w,
    ];
    let sum = |j: usize| {
        let at = |d: i32| words[(4 + j).wrapping_add_signed(d as isize)];
        add_axis::<R>(coefficients[0] * at(0), coefficients, at)
    };
    F32x4::new(sum(0), sum(1), sum(2), sum(3))
}

/// Words `at..at + 4`, and zeros outside the first `n`: one load where all four exist.
///
/// # Safety
/// - `source` is 16-byte aligned and valid for `n` f32.
/// - 4 divides `at`.
#[inline(always)]
unsafe fn vector_or_zeros(source: *const f32, at: u32, n: u32) -> F32x4 {
    // SAFETY: words are read below n only; 4 divides `at`, so the 16-byte load is aligned.
    unsafe {
        if at < n && n - at >= 4 {
            return *source.add(at as usize).cast::<F32x4>();
        }
        let word = |k: u32| word_or_zero(source, at.wrapping_add(k), n);
        F32x4::new(word(0), word(1), word(2), word(3))
    }
}

/// # Safety
/// - As for [`stencil_line_constant`], but `ceil(n / 4)` threads and 16-byte aligned arrays.
#[kernel]
pub unsafe fn stencil_line_vectorized(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d() * 4;
    if i < n {
        // SAFETY: loads are checked; words are stored below n only; 4 divides i.
        unsafe {
            let (left, own, right) = (
                vector_or_zeros(source, i.wrapping_sub(4), n),
                vector_or_zeros(source, i, n),
                vector_or_zeros(source, i + 4, n),
            );
            let sums = along_row::<RADIUS>(&constants(), left, own, right);
            let target = target.add(i as usize);
            if n - i >= 4 {
                *target.cast::<F32x4>() = sums;
            } else {
                *target = sums.x;
                if n - i > 1 {
                    *target.add(1) = sums.y;
                }
                if n - i > 2 {
                    *target.add(2) = sums.z;
                }
            }
        }
    }
}

/// The weighted sum around an element of a plane, all from global memory.
///
/// # Safety
/// - `source` is valid for `rows * columns` f32.
#[inline(always)]
unsafe fn plane<const R: usize>(
    source: *const f32,
    (row, column): (u32, u32),
    (rows, columns): (u32, u32),
) -> f32 {
    // SAFETY: row < rows and column < columns.
    let load = |row: u32, column: u32| unsafe {
        if row < rows && column < columns {
            *source.add(flat_index(row, columns, column))
        } else {
            0.0
        }
    };
    let coefficients = constants();
    let own = coefficients[0] * load(row, column);
    let sum = add_axis::<R>(own, &coefficients, |d| load(row, column.wrapping_add_signed(d)));
    add_axis::<R>(sum, &coefficients, |d| load(row.wrapping_add_signed(d), column))
}

/// # Safety
/// - grid: 2-D, covering `columns` in x and `rows` in y
/// - block: `BLOCK` threads
/// - lengths: `source` and `target` valid for `rows * columns` f32; the coefficients are in `STENCIL_COEFFICIENTS`
/// - aliasing: they do not overlap
#[kernel]
pub unsafe fn stencil_plane_r1_global(
    source: *const f32,
    target: *mut f32,
    rows: u32,
    columns: u32,
) {
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    if row < rows && column < columns {
        // SAFETY: the element is in the plane, and neighbours are checked (launch contract).
        unsafe {
            *target.add(flat_index(row, columns, column)) =
                plane::<1>(source, (row, column), (rows, columns));
        }
    }
}

/// The ring after a step: the oldest vector leaves, the next one enters.
#[inline(always)]
fn moved_on<const RING: usize>(ring: [F32x4; RING], next: F32x4) -> [F32x4; RING] {
    core::array::from_fn(|k| if k + 1 < RING { ring[k + 1] } else { next })
}

/// Walks down the rows of a strip: `RING` rows of the thread's four columns are in registers, from the topmost that
/// counts. With more than those that count, more would be on their way, but fewer warps would fit.
///
/// # Safety
/// - As for [`stencil_plane_rolling`].
/// - `RING` is at least `2 * R + 1`.
#[inline(always)]
unsafe fn roll_down<const R: usize, const RING: usize>(
    source: *const f32,
    target: *mut f32,
    (rows, columns): (u32, u32),
) {
    let column =
        (thread::block_idx_x() * STRIP_THREADS + thread::thread_idx_x()) * COLUMNS_PER_THREAD;
    if column >= columns {
        return;
    }
    let first = thread::block_idx_y() * ROWS_PER_BLOCK;
    let end = rows.min(first + ROWS_PER_BLOCK);
    let needed = rows.min(end + R as u32);
    // SAFETY: rows and columns are checked, and 4 divides both column and columns, so all vectors are aligned.
    unsafe {
        let load = |row: u32| {
            if row < needed {
                *source.add(flat_index(row, columns, column)).cast::<F32x4>()
            } else {
                F32x4::splat(0.0)
            }
        };
        let coefficients = constants();
        let mut ring: [F32x4; RING] =
            core::array::from_fn(|k| load((first + k as u32).wrapping_sub(R as u32)));
        let mut row = first;
        // Computes a row; false after the last one.
        let mut step = || {
            let next = load(row + (RING - R) as u32);
            let at = flat_index(row, columns, column);
            let left =
                if column > 0 { *source.add(at - 4).cast::<F32x4>() } else { F32x4::splat(0.0) };
            let right = if column + 4 < columns {
                *source.add(at + 4).cast::<F32x4>()
            } else {
                F32x4::splat(0.0)
            };
            let mut sums = along_row::<R>(&coefficients, left, ring[R], right);
            for k in 0..R {
                let (above, below) = (ring[R - 1 - k], ring[R + 1 + k]);
                sums = add_vectors(sums, coefficients[k + 1], above, below);
            }
            *target.add(at).cast::<F32x4>() = sums;
            ring = moved_on(ring, next);
            row += 1;
            row < end
        };
        // Nine rows, a multiple of both rings, unrolled: in a loop of one row, moving the ring on copies registers at its
        // end, and the copy of `next` waits there for a row that is needed later.
        while step() && step() && step() && step() && step() && step() && step() && step() && step()
        {
        }
    }
}

/// A coefficient times the sum of two vectors, added to a third.
#[inline(always)]
fn add_vectors(sums: F32x4, coefficient: f32, a: F32x4, b: F32x4) -> F32x4 {
    let pairs = a + b;
    F32x4::new(
        coefficient.mul_add(pairs.x, sums.x),
        coefficient.mul_add(pairs.y, sums.y),
        coefficient.mul_add(pairs.z, sums.z),
        coefficient.mul_add(pairs.w, sums.w),
    )
}

/// # Safety
/// - As for [`stencil_plane_rolling`].
#[kernel]
pub unsafe fn stencil_plane_r1_rolling(
    source: *const f32,
    target: *mut f32,
    rows: u32,
    columns: u32,
) {
    // SAFETY: the launch contract; three rows count, and the next one is on its way.
    unsafe { roll_down::<1, 3>(source, target, (rows, columns)) };
}

/// # Safety
/// - As for [`stencil_plane_r1_global`].
#[kernel]
pub unsafe fn stencil_plane_global(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    if row < rows && column < columns {
        // SAFETY: the element is in the plane, and neighbours are checked (launch contract).
        unsafe {
            *target.add(flat_index(row, columns, column)) =
                plane::<RADIUS>(source, (row, column), (rows, columns));
        }
    }
}

/// # Safety
/// - 2-D grid of `BLOCK` threads, one `TILE` x `TILE` tile per block, covering `columns` in x and `rows` in y.
/// - Arrays and coefficients as for [`stencil_plane_r1_global`].
#[kernel]
pub unsafe fn stencil_plane_shared(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    const WIDTH: u32 = TILE + 2 * HALO;
    let words = shared_array!(WORDS: [f32; WIDTH * WIDTH]);
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (left, top) = (thread::block_idx_x() * TILE, thread::block_idx_y() * TILE);
    // SAFETY: loads are checked; a tile's row and column are below WIDTH; every word that is read after the barrier was
    // written before it.
    unsafe {
        let fill = |tile_row: u32, tile_column: u32| {
            let row = (top + tile_row).wrapping_sub(HALO);
            let column = (left + tile_column).wrapping_sub(HALO);
            let value = if row < rows && column < columns {
                *source.add(flat_index(row, columns, column))
            } else {
                0.0
            };
            *words.add((tile_row * WIDTH + tile_column) as usize) = value;
        };
        for step in 0..WIDTH / BLOCK.1 {
            fill(step * BLOCK.1 + y, x);
            if x < 2 * HALO {
                fill(step * BLOCK.1 + y, TILE + x);
            }
        }
        thread::sync_threads();
        let coefficients = constants();
        for step in 0..TILE / BLOCK.1 {
            let tile_row = step * BLOCK.1 + y;
            let (row, column) = (top + tile_row, left + x);
            if row < rows && column < columns {
                let own = words.add(((HALO + tile_row) * WIDTH + HALO + x) as usize);
                let at = |d: i32| *own.offset(d as isize);
                let below = |d: i32| *own.offset(d as isize * WIDTH as isize);
                let sum = add_axis::<RADIUS>(coefficients[0] * at(0), &coefficients, at);
                *target.add(flat_index(row, columns, column)) =
                    add_axis::<RADIUS>(sum, &coefficients, below);
            }
        }
    }
}

/// # Safety
/// - Grid: 2-D, one tile of `BOX_TILE` per block, covering `columns` in x and `rows` in y.
/// - Block: `BOX_THREADS` threads.
/// - Lengths: `source` is the map of an array of `rows` rows of `columns` f32 in boxes of `BOX`, `target` is valid for as
///   many; 4 divides `columns`. The coefficients are in `STENCIL_COEFFICIENTS`.
/// - Alignment: `target` to 16 bytes.
/// - Aliasing: they do not overlap.
#[kernel(launch_bounds(BOX_THREADS.0 * BOX_THREADS.1, BOX_BLOCKS), min_compute_capability = 90)]
pub unsafe fn stencil_plane_boxes(source: TensorMap, target: *mut f32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<HaloBox> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut ARRIVED: MaybeUninit<Barrier> = MaybeUninit::uninit();
    const ROWS: u32 = BOX_TILE.1 / BOX_THREADS.1;
    let _ = source;
    let map = tensor_copy::parameter!(stencil_plane_boxes, 0);
    let (words, arrived) = ((&raw mut WORDS).cast::<f32>(), (&raw mut ARRIVED).cast::<Barrier>());
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (left, top) = (thread::block_idx_x() * BOX_TILE.0, thread::block_idx_y() * BOX_TILE.1);
    // SAFETY: the box arrives before it is read; a vector's row and column are in it, and its column divides by 4. Stores
    // are checked.
    unsafe {
        if x + y == 0 {
            mbarrier::init(arrived, 1);
            mbarrier::fence_init();
            mbarrier::arrive_expect(arrived, 4 * BOX.0 * BOX.1);
            let corner = [left, top].map(|first| first.cast_signed() - HALO.cast_signed());
            tensor_copy::load_2d(words, map, corner, arrived);
        }
        thread::sync_threads();
        mbarrier::wait(arrived, 0);
        let own = words.add((y * ROWS * BOX.0 + HALO + 4 * x) as usize);
        let at = |row: usize| own.add(row * BOX.0 as usize);
        let load = |row: usize| *at(row).cast::<F32x4>();
        let coefficients = constants();
        let mut ring: [F32x4; 2 * RADIUS + 1] = core::array::from_fn(load);
        for step in 0..ROWS as usize {
            let (row, column) = (top + y * ROWS + step as u32, left + 4 * x);
            let middle = at(step + RADIUS);
            let left = *middle.sub(4).cast::<F32x4>();
            let right = *middle.add(4).cast::<F32x4>();
            let mut sums = along_row::<RADIUS>(&coefficients, left, ring[RADIUS], right);
            for k in 0..RADIUS {
                let (above, below) = (ring[RADIUS - 1 - k], ring[RADIUS + 1 + k]);
                sums = add_vectors(sums, coefficients[k + 1], above, below);
            }
            if row < rows && column < columns {
                *target.add(flat_index(row, columns, column)).cast::<F32x4>() = sums;
            }
            if step + 1 < ROWS as usize {
                ring = moved_on(ring, load(step + 2 * RADIUS + 1));
            }
        }
    }
}

/// # Safety
/// - 1-D blocks of `STRIP_THREADS` threads in a 2-D grid, `COLUMNS_PER_THREAD` columns per thread and
///   `ROWS_PER_BLOCK` rows per block, covering `columns` in x and `rows` in y.
/// - 4 divides `columns`.
/// - `source` and `target` 16-byte aligned and valid for `rows * columns` f32, not overlapping.
/// - The coefficients are in `STENCIL_COEFFICIENTS`.
#[kernel]
pub unsafe fn stencil_plane_rolling(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    // SAFETY: the launch contract; nine rows count, and the next one is on its way.
    unsafe { roll_down::<RADIUS, 9>(source, target, (rows, columns)) };
}

/// The weighted sum around an element of a volume, all from global memory.
///
/// # Safety
/// - `source` is valid for `planes * rows * columns` f32.
#[inline(always)]
unsafe fn volume<const R: usize>(
    source: *const f32,
    [plane, row, column]: [u32; 3],
    [planes, rows, columns]: [u32; 3],
) -> f32 {
    // SAFETY: the element is in the volume.
    let load = |plane: u32, row: u32, column: u32| unsafe {
        if plane < planes && row < rows && column < columns {
            *source.add(
                plane as usize * rows as usize * columns as usize
                    + flat_index(row, columns, column),
            )
        } else {
            0.0
        }
    };
    let coefficients = constants();
    let own = coefficients[0] * load(plane, row, column);
    let sum =
        add_axis::<R>(own, &coefficients, |d| load(plane, row, column.wrapping_add_signed(d)));
    let sum =
        add_axis::<R>(sum, &coefficients, |d| load(plane, row.wrapping_add_signed(d), column));
    add_axis::<R>(sum, &coefficients, |d| load(plane.wrapping_add_signed(d), row, column))
}

/// Computes the element of this thread.
///
/// # Safety
/// - As for [`stencil_volume_r1_global`].
#[inline(always)]
unsafe fn volume_of_thread<const R: usize>(
    source: *const f32,
    target: *mut f32,
    [planes, rows, columns]: [u32; 3],
) {
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    let plane = thread::block_idx_z();
    if row < rows && column < columns {
        let at = plane as usize * rows as usize * columns as usize;
        // SAFETY: the element is in the volume, and neighbours are checked (launch contract).
        unsafe {
            *target.add(at + flat_index(row, columns, column)) =
                volume::<R>(source, [plane, row, column], [planes, rows, columns]);
        }
    }
}

/// # Safety
/// - grid: 3-D, covering `columns` in x and `rows` in y, a plane per block in z
/// - block: `BLOCK` threads
/// - lengths: `source` and `target` valid for `planes * rows * columns` f32; the coefficients are in
///   `STENCIL_COEFFICIENTS`
/// - aliasing: they do not overlap
#[kernel]
pub unsafe fn stencil_volume_r1_global(
    source: *const f32,
    target: *mut f32,
    planes: u32,
    rows: u32,
    columns: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { volume_of_thread::<1>(source, target, [planes, rows, columns]) };
}

/// # Safety
/// - 3-D grid of `BLOCK` threads, `COLUMNS_PER_THREAD` columns per thread in x, a row in y and `PLANES_PER_BLOCK`
///   planes per block in z, covering the volume.
/// - 4 divides `columns`.
/// - Arrays 16-byte aligned.
/// - The rest as for [`stencil_volume_r1_global`].
#[kernel]
pub unsafe fn stencil_volume_r1_rolling(
    source: *const f32,
    target: *mut f32,
    planes: u32,
    rows: u32,
    columns: u32,
) {
    const RING: usize = 5;
    let (column, row) = (thread::index_2d().x * COLUMNS_PER_THREAD, thread::index_2d().y);
    if row >= rows || column >= columns {
        return;
    }
    let first = thread::block_idx_z() * PLANES_PER_BLOCK;
    let end = planes.min(first + PLANES_PER_BLOCK);
    let needed = planes.min(end + 1);
    let (plane_len, line) = (rows as usize * columns as usize, columns as usize);
    // SAFETY: every neighbour is checked to be in the volume, and 4 divides every index.
    unsafe {
        let own = source.add(flat_index(row, columns, column));
        let load = |plane: u32| {
            if plane < needed {
                *own.add(plane as usize * plane_len).cast::<F32x4>()
            } else {
                F32x4::splat(0.0)
            }
        };
        let coefficients = constants();
        let mut ring: [F32x4; RING] =
            core::array::from_fn(|k| load((first + k as u32).wrapping_sub(1)));
        for plane in first..end {
            let next = load(plane + RING as u32 - 1);
            let at = plane as usize * plane_len;
            let here = own.add(at);
            let left = if column > 0 { *here.sub(4).cast::<F32x4>() } else { F32x4::splat(0.0) };
            let right =
                if column + 4 < columns { *here.add(4).cast::<F32x4>() } else { F32x4::splat(0.0) };
            let above = if row > 0 { *here.sub(line).cast::<F32x4>() } else { F32x4::splat(0.0) };
            let below =
                if row + 1 < rows { *here.add(line).cast::<F32x4>() } else { F32x4::splat(0.0) };
            let mut sums = along_row::<1>(&coefficients, left, ring[1], right);
            sums = add_vectors(sums, coefficients[1], above, below);
            sums = add_vectors(sums, coefficients[1], ring[0], ring[2]);
            *target.add(at + flat_index(row, columns, column)).cast::<F32x4>() = sums;
            ring = moved_on(ring, next);
        }
    }
}

/// # Safety
/// - As for [`stencil_volume_r1_global`].
#[kernel]
pub unsafe fn stencil_volume_global(
    source: *const f32,
    target: *mut f32,
    planes: u32,
    rows: u32,
    columns: u32,
) {
    // SAFETY: the launch contract is the same.
    unsafe { volume_of_thread::<RADIUS>(source, target, [planes, rows, columns]) };
}

/// The tile of a plane is 128 x 16 elements. Its rows are 35 vectors apart in shared memory: two for the halo, and one
/// that shifts the rows, so that the vectors of a column are in different banks.
///
/// # Safety
/// - As for [`stencil_volume_r1_rolling`], but blocks of 32 x `VOLUME_ROWS` threads.
#[kernel(launch_bounds(512, 1))]
pub unsafe fn stencil_volume_rolling(
    source: *const f32,
    target: *mut f32,
    planes: u32,
    rows: u32,
    columns: u32,
) {
    const RING: usize = 2 * RADIUS + 3;
    const PITCH: u32 = BLOCK.0 + 3;
    const BUFFER: u32 = PITCH * (VOLUME_ROWS + 2 * HALO);
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (left, top) =
        (thread::block_idx_x() * BLOCK.0 * COLUMNS_PER_THREAD, thread::block_idx_y() * VOLUME_ROWS);
    let first = thread::block_idx_z() * PLANES_PER_BLOCK;
    let end = planes.min(first + PLANES_PER_BLOCK);
    let needed = planes.min(end + HALO);
    // The vector of the halo that this thread brings: rows above and below, then the columns on either side.
    let (halo_x, halo_y) = match y {
        0..HALO => (x + 1, y),
        HALO..8 => (x + 1, y + VOLUME_ROWS),
        _ => (x / VOLUME_ROWS * (BLOCK.0 + 1), x % VOLUME_ROWS + HALO),
    };
    let brings_halo = y <= 2 * HALO;
    let (row, column) = (top + y, left + x * COLUMNS_PER_THREAD);
    let is_inside = row < rows && column < columns;
    let halo_row = (top + halo_y).wrapping_sub(HALO);
    let halo_column = (left + halo_x * COLUMNS_PER_THREAD).wrapping_sub(COLUMNS_PER_THREAD);
    let halo_is_inside = brings_halo && halo_row < rows && halo_column < columns;
    let plane_len = rows as usize * columns as usize;
    // SAFETY: loads and stores are checked to be in the volume, and 4 divides every index; vectors of the tile are
    // below BUFFER; every vector that is read after a barrier was written before it, and it is written again two
    // planes later, after the next barrier.
    unsafe {
        let own_source = source.wrapping_add(flat_index(row, columns, column));
        let halo_source = source.wrapping_add(flat_index(halo_row, columns, halo_column));
        let load = |plane: u32| {
            if plane < needed && is_inside {
                *own_source.add(plane as usize * plane_len).cast::<F32x4>()
            } else {
                F32x4::splat(0.0)
            }
        };
        let halo = |plane: u32| {
            if plane < end && halo_is_inside {
                *halo_source.add(plane as usize * plane_len).cast::<F32x4>()
            } else {
                F32x4::splat(0.0)
            }
        };
        let coefficients = constants();
        let mut ring: [F32x4; RING] =
            core::array::from_fn(|k| load((first + k as u32).wrapping_sub(HALO)));
        let mut around = halo(first);
        let target = target.wrapping_add(flat_index(row, columns, column));
        for plane in first..end {
            let tile = shared_array!(TILES: [F32x4; 2 * BUFFER]).add((plane % 2 * BUFFER) as usize);
            let own = tile.add(((HALO + y) * PITCH + 1 + x) as usize);
            *own = ring[RADIUS];
            if brings_halo {
                *tile.add((halo_y * PITCH + halo_x) as usize) = around;
            }
            let next = load(plane + RING as u32 - HALO);
            around = halo(plane + 1);
            thread::sync_threads();
            let mut sums =
                along_row::<RADIUS>(&coefficients, *own.sub(1), ring[RADIUS], *own.add(1));
            for k in 0..RADIUS {
                let rows_apart = (k + 1) * PITCH as usize;
                let (above, below) = (*own.sub(rows_apart), *own.add(rows_apart));
                sums = add_vectors(sums, coefficients[k + 1], above, below);
                let (before, behind) = (ring[RADIUS - 1 - k], ring[RADIUS + 1 + k]);
                sums = add_vectors(sums, coefficients[k + 1], before, behind);
            }
            if is_inside {
                *target.add(plane as usize * plane_len).cast::<F32x4>() = sums;
            }
            ring = moved_on(ring, next);
        }
    }
}
