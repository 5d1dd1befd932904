//! # C = A Aᵀ: one operand is read along its rows, the other across them
//!
//! Shows: a tile in [shared memory] transposes the strided operand, padding removes the
//! [bank conflicts][bank conflict] that this brings, and what is left to gain lies in registers and in
//! the symmetry of C.
//!
//! The surprise: without a tile the same kernel as in `matmul_ab` makes 1056 [sectors][sector] of the loads of
//! each [warp] instead of 160, `naive` (34.53 ms). One read of a column where a row was meant, and nothing else,
//! is the difference. With a tile the strided reads are gone, but a 32-way [bank conflict] takes their
//! place: `tiled` (3.023 ms) against `padded` (2.201 ms).
//!
//! A is M x 32, and C = A Aᵀ is M x M: each element of C is the product of two rows of A. A [warp]
//! computes 32 neighbouring elements of a row of C. It needs one row of A for all its [lanes][lane], and
//! a different row for each lane:
//!
//! ```text
//! per warp and step of the inner loop (32 steps in all)
//!   naive    1 load of the row of A, one word for all lanes: 1 sector     1 load across 32 rows: 32 sectors
//!   tiled    1 shared read, one word for all lanes: 1 wavefront           1 shared read of a row: 1 wavefront
//! per warp, once
//!   tiled    2 loads of 4 sectors; 1 shared store of a row: 1 wavefront   1 store of a column: 32 wavefronts
//!   padded   the same                                                     1 store of a column: 1 wavefront
//! ```
//!
//! 1. `naive`. The counter shows 16.5 [sectors][sector] per load: (1 + 32) / 2. A sector brings 8 words
//!    of a row, of which this step uses one. [L1][L1 cache] may keep the others for the next steps, but
//!    it still looks up 32 [cache lines][cache line] per request.
//! 2. `tiled`. The idea: load both tiles of A by rows, which is [coalesced], and write the second one to
//!    [shared memory] transposed. Then all reads in the loop are rows. Sectors fall from 32 x 33 = 1056 per
//!    warp to 4 + 4 = 8. It costs a [barrier] and the transposing store: its 32 lanes write to one
//!    column, whose words are 32 apart, all in one [bank]. 1 + 32 + 64 = 97 [wavefronts][wavefront].
//! 3. `padded`. Each row of the transposed tile is one word longer, so a column touches 32 banks. 1 + 1 + 64 =
//!    66 wavefronts. It costs 32 words of shared memory. What remains: two shared reads for each 32
//!    multiply-adds, as in `matmul_ab`.
//! 4. `register_tiled`. A thread computes 8 x 8 results, and reads 16 words for 64 multiply-adds.
//! 5. `symmetric`. C is symmetric: element (i, j) is element (j, i). Blocks above the diagonal do
//!    nothing; blocks below store their tile twice, once transposed. A thread's results of a column
//!    are already side by side in its registers, so the transposed store has 16 bytes per lane,
//!    too. It saves nearly half of the multiply-adds and loads, and no stores.
//!
//! | variant | change from the previous one | sectors per load | L1 sectors per 32 results | shared wavefronts per 32 results | limited by |
//! |---|---|---|---|---|---|
//! | `naive` | one thread per element, both operands from global memory | 16.5 | 32 x (1 + 32) = 1056 | 0 | lines in L1 |
//! | `tiled` | both tiles of A in shared memory, one of them transposed | 4 | 4 + 4 = 8 | 1 + 32 + 64 = 97 | shared memory |
//! | `padded` | each row of the transposed tile has one more word | 4 | 4 + 4 = 8 | 1 + 1 + 64 = 66 | shared memory |
//! | `register_tiled` | each thread computes 8 x 8 results from registers | 32 | (4 x 32 + 4 x 32) / 64 = 4 | (32 x 12 + 32) / 64 = 6.5 | multiply-adds and stores |
//! | `symmetric` | the tiles above the diagonal are copies of those below | 32 | about 2 | about 3.3 | stores |
//!
//! Expected: the Best Practices Guide measured 12.8, 140.2 and 199.4 for the first three on a V100, in
//! 10^9 bytes per second. The ratio of the last two, 1.42, is nearly that of their wavefronts, 97 / 66 = 1.47. `symmetric`
//! has half of the multiply-adds of `register_tiled` and the same stores, so it is bounded by the rate at which C can
//! be written.
//!
//! The key kernel of `padded` in CUDA C++:
//!
//! ```cuda
//! __shared__ float rows[32][32], columns[32][33];
//! rows[y][x]    = a[row * 32 + x];
//! columns[x][y] = a[(blockIdx.x * 32 + y) * 32 + x];     // by rows from global memory, by columns to shared memory
//! __syncthreads();
//! for (uint32_t step = 0; step < 32; step++) sum += rows[y][step] * columns[step][x];
//! ```
//!
//! Common misconception: "bank conflicts of a store that runs once do not matter beside 64 reads in a
//! loop". The store has 32 wavefronts, a third of all 97.
//!
//! Questions:
//! - Why does the padding go to the transposed tile only? The other tile is written and read by rows
//!   or by single words, which never conflict.
//! - Would it help `naive` to compute with x as the row? No: the two operands change places, and the
//!   stores become strided as well.
//! - Why does `symmetric` take 69 % (`symmetric` / `register_tiled`) of the time of
//!   `register_tiled`, with half of the multiply-adds? C is written whole, and for 32 multiply-adds
//!   per element the stores are nearly as much work as the arithmetic.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `naive` | 34.53 | 31 | 1 | 1.00 |
//! | `tiled` | 3.023 | 356 | 8 | 11.42 |
//! | `padded` | 2.201 | 489 | 11 | 15.69 |
//! | `register_tiled` | 0.668 | 1610 | 35 | 51.66 |
//! | `symmetric` | 0.461 | 2332 | 51 | 74.83 |
//! | *nvcc padded* | 2.171 | 496 | 11 | 15.90 |
//! | *cuBLAS sgemm* | 0.639 | 1684 | 37 | 54.05 |
//! | *cuBLAS ssyrk and mirror* | 1.308 | 823 | 18 | 26.40 |
//! <!-- /measured -->
//!
//! Preconditions: any M from 1 on, as far as a grid has room: 65535 tiles of rows. `register_tiled` and
//! `symmetric` store 16 bytes where M is a multiple of 4, words elsewhere.
//!
//! Source: CUDA C++ Best Practices Guide, "Shared Memory in Matrix Multiplication (C=AAT)".
#![doc = include_str!("../../../crates/report/src/links.md")]

use super::matmul::sums::{NO_SUMS, Sums, multiply};
use super::matmul::tiles::{Tile, Work, at, fragments};
use core::mem::MaybeUninit;
use cuda_std::GpuFloat;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

/// The inner dimension: columns of A.
pub const INNER: u32 = 32;
/// Rows and columns of C that a block of the first variants computes, one per thread.
pub const TILE: u32 = 32;
/// Rows and columns of C per block of `register_tiled` and `symmetric`.
pub const SQUARE: u32 = Square::ROWS;
/// Threads per block of those.
pub const SQUARE_THREADS: u32 = Square::THREADS;

/// 128 x 128 results per block and 8 x 8 per thread, with the whole inner dimension in one tile.
struct Square;

impl Tile for Square {
    const ROWS: u32 = 128;
    const COLUMNS: u32 = 128;
    const COLUMNS_PER_THREAD: u32 = 8;
    const STEPS: u32 = INNER;
    const ROW_DISTANCE: u32 = 64;
    const COLUMN_DISTANCE: u32 = 64;

    #[inline(always)]
    fn place(thread: u32) -> (u32, u32) {
        (thread / 16 * 4, thread % 16 * 4)
    }
}

/// # Safety
/// - 2-D grid of `TILE` x `TILE` threads covering `m` in x and y, `m` at least 1.
/// - `a` valid for `m * INNER` f32, `c` for `m * m`; they do not overlap.
#[kernel]
pub unsafe fn matmul_aat_naive(a: *const f32, c: *mut f32, m: u32) {
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    if row < m && column < m {
        let mut sum = 0.0_f32;
        for step in 0..INNER {
            // SAFETY: row, column and step are in A.
            let (left, right) =
                unsafe { (*a.add(at(row, INNER, step)), *a.add(at(column, INNER, step))) };
            sum = left.mul_add(right, sum);
        }
        // SAFETY: row and column are in C.
        unsafe { *c.add(at(row, m, column)) = sum };
    }
}

/// # Safety
/// - As for [`matmul_aat_naive`].
#[kernel]
pub unsafe fn matmul_aat_tiled(a: *const f32, c: *mut f32, m: u32) {
    let tiles =
        (shared_array!(ROWS: [f32; TILE * INNER]), shared_array!(COLUMNS: [f32; INNER * TILE]));
    // SAFETY: ROWS is a tile, and COLUMNS has rows of TILE words (launch contract for the rest).
    unsafe { tiled::<TILE>(a, c, m, tiles) };
}

/// # Safety
/// - As for [`matmul_aat_naive`].
#[kernel]
pub unsafe fn matmul_aat_padded(a: *const f32, c: *mut f32, m: u32) {
    let tiles = (
        shared_array!(ROWS: [f32; TILE * INNER]),
        shared_array!(COLUMNS: [f32; INNER * (TILE + 1)]),
    );
    // SAFETY: ROWS is a tile, and COLUMNS has rows of TILE + 1 words (launch contract for the rest).
    unsafe { tiled::<{ TILE + 1 }>(a, c, m, tiles) };
}

/// The product with both tiles in shared memory; rows of the transposed tile are `PITCH` words apart.
///
/// # Safety
/// - As for [`matmul_aat_tiled`].
/// - The tiles have `TILE * INNER` and `INNER * PITCH` words.
#[inline(always)]
unsafe fn tiled<const PITCH: u32>(
    a: *const f32,
    c: *mut f32,
    m: u32,
    (rows, columns): (*mut f32, *mut f32),
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    let source_column = thread::block_idx_x() * TILE + y;
    // SAFETY: rows are clamped into A; x and y are in both tiles; every word read after the barrier was written before it.
    unsafe {
        *rows.add((y * INNER + x) as usize) = *a.add(at(row.min(m - 1), INNER, x));
        *columns.add((x * PITCH + y) as usize) = *a.add(at(source_column.min(m - 1), INNER, x));
        thread::sync_threads();
        let mut sum = 0.0_f32;
        for step in 0..INNER {
            let left = *rows.add((y * INNER + step) as usize);
            sum = left.mul_add(*columns.add((step * PITCH + x) as usize), sum);
        }
        if row < m && column < m {
            *c.add(at(row, m, column)) = sum;
        }
    }
}

/// Both tiles of a block of `register_tiled` in shared memory.
type Stage = MaybeUninit<[F32x4; (Square::STAGE_WORDS / 4) as usize]>;

/// # Safety
/// - 1-D blocks of `SQUARE_THREADS` threads in a 2-D grid, one `SQUARE` x `SQUARE` tile of C per block, covering `m`
///   in x and y.
/// - `a` and `c` 16-byte aligned.
/// - The rest as for [`matmul_aat_naive`].
#[kernel(launch_bounds(SQUARE_THREADS, 2))]
pub unsafe fn matmul_aat_register_tiled(a: *const f32, c: *mut f32, m: u32) {
    #[address_space(shared)]
    static mut STAGE: Stage = MaybeUninit::uninit();
    let work = Work::new::<Square>(a, a, (m, m, INNER));
    // SAFETY: STAGE holds both tiles (launch contract for the rest).
    unsafe {
        let sums = product(a, &work, m, (&raw mut STAGE).cast());
        work.store::<Square>(c, &sums);
    }
}

/// # Safety
/// - As for [`matmul_aat_register_tiled`].
#[kernel(launch_bounds(SQUARE_THREADS, 2))]
pub unsafe fn matmul_aat_symmetric(a: *const f32, c: *mut f32, m: u32) {
    #[address_space(shared)]
    static mut STAGE: Stage = MaybeUninit::uninit();
    let (row, column) = (thread::block_idx_y(), thread::block_idx_x());
    // All threads of a block take the same way.
    if column > row {
        return;
    }
    let work = Work::new::<Square>(a, a, (m, m, INNER));
    // SAFETY: as in `matmul_aat_register_tiled`. The transposed tile belongs to a block that does nothing.
    unsafe {
        let sums = product(a, &work, m, (&raw mut STAGE).cast());
        work.store::<Square>(c, &sums);
        if column < row {
            work.store_transposed::<Square>(c, &sums);
        }
    }
}

/// The sums of this thread.
///
/// # Safety
/// - As for [`matmul_aat_register_tiled`].
/// - `stage` has `Square::STAGE_WORDS` words of shared memory.
#[inline(always)]
unsafe fn product(a: *const f32, work: &Work, m: u32, stage: *mut f32) -> Sums {
    let tid = thread::thread_idx_x();
    let mut sums = NO_SUMS;
    // SAFETY: both tiles are in the stage; every word read after the barrier was written before it.
    unsafe {
        stage_rows::<{ Square::PITCH }>(a, stage, work.first.0, m, tid);
        let right = stage.add((INNER * Square::PITCH) as usize);
        stage_rows::<{ Square::COLUMNS }>(a, right, work.first.1, m, tid);
        thread::sync_threads();
        for step in 0..INNER {
            let (left, right) = fragments::<Square>(stage, step, Square::place(tid));
            multiply(&left, &right, &mut sums, Square::COLUMNS_PER_THREAD);
        }
    }
    sums
}

/// Loads `SQUARE` rows of A, 16 bytes at a time, and stores them transposed, steps `PITCH` words apart. Neighbouring lanes
/// take neighbouring rows, so that their words go to neighbouring banks.
///
/// # Safety
/// - `a` is 16-byte aligned and has `m` rows.
/// - `tile` has `INNER * PITCH` words of shared memory.
#[inline(always)]
unsafe fn stage_rows<const PITCH: u32>(
    a: *const f32,
    tile: *mut f32,
    first_row: u32,
    m: u32,
    tid: u32,
) {
    let row = tid % SQUARE;
    let source_row = (first_row + row).min(m - 1);
    for round in 0..INNER / 4 / (SQUARE_THREADS / SQUARE) {
        let step = (tid / SQUARE + round * (SQUARE_THREADS / SQUARE)) * 4;
        // SAFETY: the row is in A, and so are the four steps, whose index is a multiple of four.
        unsafe {
            let words = (*a.add(at(source_row, INNER, step)).cast::<F32x4>()).to_array();
            let target = tile.add((step * PITCH + row) as usize);
            *target = words[0];
            *target.add(PITCH as usize) = words[1];
            *target.add(2 * PITCH as usize) = words[2];
            *target.add(3 * PITCH as usize) = words[3];
        }
    }
}
