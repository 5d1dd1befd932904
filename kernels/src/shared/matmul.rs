//! # C = A B: how often an operand is used for each time that it is moved
//!
//! Shows: an operand of a matrix product goes through every memory of the device; at each level a
//! tile that is used again divides the traffic, until the multiply-adds are the limit.
//!
//! The surprise: the step that everybody teaches, square tiles in [shared memory], gains little:
//! `tiled` (16.23 ms) against `coalesced` (21.45 ms). Nearly all of the speed comes from
//! the steps after it, which save reads of shared memory: `register_2d` (4.023 ms) and
//! `warp_tiled` (2.630 ms).
//!
//! A is M x K, B is K x N. Each element of C is a sum of K products, so there are 2 x M x N x K
//! operations on M x K + K x N elements: each operand is used N or M times. A kernel that fetches it
//! each time from far away waits for memory. One that fetches it once and uses it often computes.
//! The number to watch is multiply-adds per fetched word, at each level:
//!
//! ```text
//! words fetched per thread for each multiply-add    from L1 or global memory   from shared memory
//!   naive, coalesced                                2                          0
//!   strip                                           1                          1
//!   tiled (32 x 32)                                 2 / 32                     2
//!   register_1d (64 x 64, 8 x 1 per thread)         2 / 64                     (8 + 1) / 8
//!   register_2d (128 x 128, 8 x 8 per thread)       2 / 128                    (8 + 8) / 64
//!   warp_tiled (128 x 256, 8 x 16 per thread)       1 / 128 + 1 / 256          (8 + 16) / 128
//! ```
//!
//! 1. `naive`. Neighbouring threads compute neighbouring rows, as if the x of a thread were the row.
//!    The counter shows 16.5 [sectors][sector] per load: a load of A touches 32 rows, 32 sectors,
//!    and a load of B one. Stores touch 32 rows as well.
//! 2. `coalesced`. The same kernel with x as the column: a load of A is one word for all [lanes][lane],
//!    a load of B is [coalesced]. 2.5 sectors per load. It costs nothing. What remains: two loads
//!    for each multiply-add, which [L1][L1 cache] serves.
//! 3. `strip`. The block stages its whole rows of A in shared memory. It saves the loads of A, but
//!    two rows of up to 6144 words fill the 48 KiB of a block, so a longer inner dimension does
//!    not run at all, and B is still fetched for each multiply-add. With 48 KiB per block only four blocks
//!    are resident on a multiprocessor, and half of its threads: it is slower than `coalesced`, `strip` (57.22 ms).
//! 4. `tiled`. Squares of A and B, 32 x 32, one pair after the other along the inner dimension, so
//!    that its length does not matter. Each fetched word is used by 32 threads. It costs two
//!    [barriers][barrier] per tile. What remains: two reads of shared memory for each multiply-add.
//!    `tiled_i32` is the same for integers.
//! 5. `register_1d`. A thread computes eight rows of a column ([thread coarsening]): a word of B, once
//!    in a [register], is used eight times. What remains: a word of A for each multiply-add.
//! 6. `register_2d`. A thread computes 8 x 8 results: 16 words for 64 multiply-adds. What remains: a
//!    thread's columns are neighbours, so that the lanes that read B together are 32 bytes apart and
//!    half of the [banks][bank] have nothing to do: 8 [wavefronts][wavefront] per read of B.
//! 7. `vectorized`. A thread's columns are two groups of four, half a tile apart: 4 wavefronts per
//!    read of B. Global loads have 16 bytes per lane. Neither makes it faster, `vectorized` (4.274 ms):
//!    shared memory was not the limit any more, and a load of A now touches 32 rows at once. What
//!    remains: the block waits for each tile.
//! 8. `double_buffered`. [`cp.async`][asynchronous copy] brings the next tile into a second stage
//!    while the block multiplies this one. It costs twice the shared memory and saves a barrier.
//! 9. `warp_tiled`. A [warp] computes a compact tile of 64 x 64 results, a thread 8 x 16 of them: 24
//!    words for 128 multiply-adds. The lanes are arranged so that pairs of them read the same 16
//!    bytes, which halves the wavefronts: 2 per read. Each thread reads the words of the next step while it
//!    multiplies those of this one, and four tiles are in flight. It costs 244 registers per thread
//!    and 100 KiB of shared memory, so one block of 8 warps has a multiprocessor for itself: an
//!    [occupancy] of 12.5 %.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts per read | limited by |
//! |---|---|---|---|---|---|
//! | `naive` | one thread per element; neighbouring threads compute neighbouring rows | 16.5 | 32 | 0 | sectors in L1 |
//! | `coalesced` | neighbouring threads compute neighbouring columns | 2.5 | 4 | 0 | requests to L1 |
//! | `strip` | the block stages its whole rows of A in shared memory | 4 | 4 | 1 | requests to L1 and shared memory |
//! | `tiled` | square tiles of A and B in shared memory, one after the other | 4 | 4 | 1 | reads of shared memory |
//! | `tiled_i32` | `tiled` for integers | 4 | 4 | 1 | reads of shared memory |
//! | `register_1d` | each thread computes eight rows of a column from registers | 4 | 4 | 1 | reads of shared memory |
//! | `register_2d` | each thread computes 8 x 8 results | 4 | 32 | 5 | multiply-adds and shared memory |
//! | `vectorized` | 16-byte loads; a thread's rows and columns are groups of four, half a tile apart | 24 | 16 | 3 | waiting for tiles |
//! | `double_buffered` | `cp.async` brings the next tile while the block multiplies this one (sm_80) | 6.4 | 16 | 3 | multiply-adds |
//! | `warp_tiled` | 64 x 64 results per warp, 8 x 16 per thread; lanes share what they read; four tiles in flight (sm_80) | 8 | 16 | 2 | multiply-adds |
//!
//! Two things that no counter of memory shows decide the last tenth. Both are about the register
//! file, which has two banks: a multiply-add reads three registers, and if two of them are in one bank
//! and none is kept from the multiply-add before, it takes two cycles. So `multiply` walks the columns
//! of a thread's results down and up in turn, and a product with one that the compiler cannot see
//! through stands between the sums and their 16-byte stores, which would otherwise dictate the banks.
//! In the machine code of `warp_tiled`, one multiply-add in seven conflicts; with columns that all run
//! down and without that product, it was one in four. And the copies of a tile are started after the first
//! words of the next tile have been read, right behind the barrier: otherwise LLVM moves those reads
//! to the beginning of the loop, where every warp waits for them with nothing left to multiply.
//!
//! Expected: 2 x 4096^3 operations are 137 GFLOP. An H200 has 132 x 128 lanes x 2 x 1.98 GHz =
//! 66.9 TFLOP/s at its highest clock, which no kernel can exceed. cuBLAS, written for each GPU by
//! NVIDIA, is the peer: `warp_tiled` should take as long.
//!
//! The key kernel of `tiled` in CUDA C++. Every load is guarded; the often seen form guards the store
//! alone, and reads out of bounds where a tile reaches beyond the matrices:
//!
//! ```cuda
//! for (uint32_t first = 0; first < k; first += 32) {
//!     left[y][x]  = row < m && first + x < k    ? a[row * k + first + x]      : 0;
//!     right[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
//!     __syncthreads();
//!     for (uint32_t step = 0; step < 32; step++) sum += left[y][step] * right[step][x];
//!     __syncthreads();
//! }
//! ```
//!
//! Common misconception: "a tiled matrix product is a fast matrix product". A tile in shared memory
//! saves traffic to L1 and device memory, which was not the worst problem. Each multiply-add still
//! reads two words of shared memory, which delivers 32 words per cycle, where a multiprocessor could
//! make 128 multiply-adds.
//!
//! Common misconception: "higher [occupancy] is faster". The fastest variant has the lowest occupancy:
//! its 128 independent sums per thread hide latency ([latency hiding]) without other warps.
//!
//! Questions:
//! - Why does `strip` need a limit that `tiled` does not? Its shared memory grows with K. A tile's does
//!   not, because it is used up before the next one comes.
//! - `vectorized` has 24 sectors per load and `register_2d` 4. Is that worse? No: a load of 16 bytes
//!   per lane moves four times as much, and its 32 lanes read 32 rows of A, a sector each, of which
//!   half is used at once and the other half by the neighbouring load.
//! - Why not 16 x 16 results per thread? 256 sums do not fit into 255 registers.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `naive` | 276.0 | 1 | 1 | 1.00 |
//! | `coalesced` | 21.45 | 9 | 10 | 12.87 |
//! | `strip` | 57.22 | 4 | 4 | 4.82 |
//! | `tiled` | 16.23 | 12 | 14 | 17.01 |
//! | `tiled_i32` | 16.14 | 12 |  | 17.10 |
//! | `register_1d` | 8.645 | 23 | 26 | 31.93 |
//! | `register_2d` | 4.023 | 50 | 55 | 68.61 |
//! | `vectorized` | 4.274 | 47 | 52 | 64.58 |
//! | `double_buffered` | 3.288 | 61 | 67 | 83.94 |
//! | `warp_tiled` | 2.630 | 77 | 84 | 104.93 |
//! | *nvcc tiled* | 16.64 | 12 | 13 | 16.59 |
//! | *nvcc warp_tiled* | 3.134 | 64 | 71 | 88.08 |
//! | *cuBLAS sgemm* | 2.684 | 75 | 83 | 102.83 |
//! <!-- /measured -->
//!
//! Preconditions: any M, N and K from 1 on. 16-byte copies and stores are used where N (and K, in
//! `vectorized`) is a multiple of 4, words elsewhere. A grid has at most 65535 blocks in y. `strip`: K at most 6144.
//! `double_buffered` and `warp_tiled` need compute capability 8.0.
//!
//! Source: CUDA C++ Programming Guide, "Shared Memory" (the tiled product); CUTLASS documentation,
//! "Efficient GEMM in CUDA" (tiles of blocks, warps and threads).
#![doc = include_str!("../../../crates/report/src/links.md")]

pub(super) mod sums;
pub(super) mod tiles;

use self::sums::{NO_SUMS, ROWS, Sums, multiply};
use self::tiles::{Blocked, Square, Tile, Warps, Work, at};
use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;
use cuda_std::{GpuFloat, async_copy};

/// Rows and columns of C that a block of the first variants computes, one per thread.
pub const TILE: u32 = 32;
/// Rows of C per block of `strip`.
pub const STRIP_ROWS: u32 = 2;
/// Columns of C per block of `strip`.
pub const STRIP_COLUMNS: u32 = 128;
/// The longest row of A that `strip` has shared memory for: 48 KiB / (2 rows x 4 bytes).
pub const STRIP_INNER: u32 = 48 * 1024 / (STRIP_ROWS * 4);
/// Rows and columns of C per block of `register_1d`.
pub const COLUMN_TILE: u32 = 64;
/// Steps of the inner dimension in a tile of `register_1d`.
const COLUMN_STEPS: u32 = 8;
/// Threads per block of `register_1d`, each with a column of eight rows.
pub const COLUMN_THREADS: u32 = COLUMN_TILE * COLUMN_TILE / ROWS as u32;
/// Rows and columns of C per block of `register_2d`, `vectorized` and `double_buffered`.
pub const SQUARE: u32 = Square::ROWS;
/// Threads per block of those.
pub const SQUARE_THREADS: u32 = Square::THREADS;
/// Rows of C per block of `warp_tiled`.
pub const WARPS_ROWS: u32 = Warps::ROWS;
/// Columns of C per block of `warp_tiled`.
pub const WARPS_COLUMNS: u32 = Warps::COLUMNS;
/// Threads per block of `warp_tiled`.
pub const WARPS_THREADS: u32 = Warps::THREADS;
/// Tiles in shared memory at once, in `warp_tiled`.
const WARPS_STAGES: u32 = 4;
/// Dynamic shared memory of `warp_tiled`, bytes.
pub const WARPS_SHARED_BYTES: u32 = WARPS_STAGES * Warps::STAGE_WORDS * 4;

/// # Safety
/// - grid: 2-D, covering `m` in x and `n` in y
/// - block: `TILE` x `TILE` threads
/// - lengths: `m`, `n` and `k` at least 1; `a` valid for `m * k` f32, `b` for `k * n`, `c` for `m * n`
/// - aliasing: `c` overlaps neither
#[kernel]
pub unsafe fn matmul_naive(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let (row, column) = (thread::index_2d().x, thread::index_2d().y);
    if row < m && column < n {
        // SAFETY: row and column are in C (launch contract for the rest).
        unsafe { *c.add(at(row, n, column)) = element(a, b, (row, column), n, k) };
    }
}

/// # Safety
/// - As for [`matmul_naive`], but covering `n` in x and `m` in y.
#[kernel]
pub unsafe fn matmul_coalesced(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    if row < m && column < n {
        // SAFETY: as in `matmul_naive`.
        unsafe { *c.add(at(row, n, column)) = element(a, b, (row, column), n, k) };
    }
}

/// An element of the product.
///
/// # Safety
/// - `a` has more than `row` rows of `k`, `b` has `k` rows of `n`, and `column` is below `n`.
#[inline(always)]
unsafe fn element(a: *const f32, b: *const f32, (row, column): (u32, u32), n: u32, k: u32) -> f32 {
    let mut sum = 0.0_f32;
    for step in 0..k {
        // SAFETY: the caller's contract.
        let (left, right) = unsafe { (*a.add(at(row, k, step)), *b.add(at(step, n, column))) };
        sum = left.mul_add(right, sum);
    }
    sum
}

/// # Safety
/// - Blocks of `STRIP_COLUMNS` x `STRIP_ROWS` threads covering `n` in x and `m` in y.
/// - `k` at most `STRIP_INNER`; the rest as for [`matmul_naive`].
#[kernel]
pub unsafe fn matmul_strip(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let strip = shared_array!(STRIP: [f32; STRIP_ROWS * STRIP_INNER]);
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    let own = thread::thread_idx_y() * STRIP_INNER;
    if row < m {
        let mut step = thread::thread_idx_x();
        while step < k {
            // SAFETY: row and step are in A and in the strip, each word of which has one writer.
            unsafe { *strip.add((own + step) as usize) = *a.add(at(row, k, step)) };
            step += STRIP_COLUMNS;
        }
    }
    thread::sync_threads();
    if row < m && column < n {
        let mut sum = 0.0_f32;
        for step in 0..k {
            // SAFETY: the thread's row of the strip was filled before the barrier; step and column are in B.
            let (left, right) =
                unsafe { (*strip.add((own + step) as usize), *b.add(at(step, n, column))) };
            sum = left.mul_add(right, sum);
        }
        // SAFETY: row and column are in C.
        unsafe { *c.add(at(row, n, column)) = sum };
    }
}

/// # Safety
/// - As for [`matmul_coalesced`].
#[kernel]
pub unsafe fn matmul_tiled(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let tiles = (shared_array!(LEFT: [f32; TILE * TILE]), shared_array!(RIGHT: [f32; TILE * TILE]));
    // SAFETY: LEFT and RIGHT are tiles (launch contract for the rest).
    unsafe { tiled((a, b, c), tiles, (m, n, k), 0.0, |a: f32, b, sum| a.mul_add(b, sum)) };
}

/// # Safety
/// - As for [`matmul_coalesced`], with i32.
#[kernel]
pub unsafe fn matmul_tiled_i32(a: *const i32, b: *const i32, c: *mut i32, m: u32, n: u32, k: u32) {
    let tiles = (shared_array!(LEFT: [i32; TILE * TILE]), shared_array!(RIGHT: [i32; TILE * TILE]));
    // SAFETY: as in `matmul_tiled`.
    unsafe {
        tiled((a, b, c), tiles, (m, n, k), 0, |a: i32, b, sum| a.wrapping_mul(b).wrapping_add(sum));
    }
}

/// The product by square tiles. Every load is guarded: on ragged sizes a tile reaches beyond the matrices, and the words
/// that are not there count as zero. Guarding the store alone, as is often seen, reads out of bounds.
///
/// # Safety
/// - As for [`matmul_tiled`].
/// - The tiles are shared memory for `TILE * TILE` values each.
#[inline(always)]
unsafe fn tiled<T: Copy>(
    (a, b, c): (*const T, *const T, *mut T),
    (left, right): (*mut T, *mut T),
    (m, n, k): (u32, u32, u32),
    zero: T,
    multiply_add: impl Fn(T, T, T) -> T,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    let mut sum = zero;
    let mut first = 0;
    while first < k {
        // SAFETY: loads are guarded; y * TILE + x is in both tiles; every word read after the first barrier was written
        // before it, and none is written again before the second.
        unsafe {
            let is_left = row < m && first + x < k;
            let is_right = first + y < k && column < n;
            let own = (y * TILE + x) as usize;
            *left.add(own) = if is_left { *a.add(at(row, k, first + x)) } else { zero };
            *right.add(own) = if is_right { *b.add(at(first + y, n, column)) } else { zero };
            thread::sync_threads();
            for step in 0..TILE {
                let left = *left.add((y * TILE + step) as usize);
                sum = multiply_add(left, *right.add((step * TILE + x) as usize), sum);
            }
            thread::sync_threads();
        }
        first += TILE;
    }
    if row < m && column < n {
        // SAFETY: row and column are in C.
        unsafe { *c.add(at(row, n, column)) = sum };
    }
}

/// # Safety
/// - 1-D blocks of `COLUMN_THREADS` threads in a 2-D grid, one `COLUMN_TILE` x `COLUMN_TILE` tile of C per block,
///   covering `n` in x and `m` in y.
/// - The rest as for [`matmul_naive`].
#[kernel(launch_bounds(COLUMN_THREADS))]
pub unsafe fn matmul_register_1d(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    let (left, right) = (
        shared_array!(LEFT: [f32; COLUMN_TILE * COLUMN_STEPS]),
        shared_array!(RIGHT: [f32; COLUMN_STEPS * COLUMN_TILE]),
    );
    let tid = thread::thread_idx_x();
    let (first_row, first_column) =
        (thread::block_idx_y() * COLUMN_TILE, thread::block_idx_x() * COLUMN_TILE);
    let (row, column) = (tid / COLUMN_TILE * ROWS as u32, tid % COLUMN_TILE);
    let mut sums = [0.0_f32; ROWS];
    let mut first = 0;
    while first < k {
        // A tile is as many words as a block has threads.
        let (left_row, left_step) = (tid / COLUMN_STEPS, tid % COLUMN_STEPS);
        let (right_step, right_column) = (tid / COLUMN_TILE, tid % COLUMN_TILE);
        // SAFETY: as in `tiled`.
        unsafe {
            let is_left = first_row + left_row < m && first + left_step < k;
            let is_right = first + right_step < k && first_column + right_column < n;
            let left_source = a.wrapping_add(at(first_row + left_row, k, first + left_step));
            let right_source =
                b.wrapping_add(at(first + right_step, n, first_column + right_column));
            *left.add(tid as usize) = if is_left { *left_source } else { 0.0 };
            *right.add(tid as usize) = if is_right { *right_source } else { 0.0 };
            thread::sync_threads();
            for step in 0..COLUMN_STEPS {
                let word = *right.add((step * COLUMN_TILE + column) as usize);
                for (i, sum) in sums.iter_mut().enumerate() {
                    let left = *left.add(((row + i as u32) * COLUMN_STEPS + step) as usize);
                    *sum = left.mul_add(word, *sum);
                }
            }
            thread::sync_threads();
        }
        first += COLUMN_STEPS;
    }
    for (i, sum) in sums.iter().enumerate() {
        let (row, column) = (first_row + row + i as u32, first_column + column);
        if row < m && column < n {
            // SAFETY: row and column are in C.
            unsafe { *c.add(at(row, n, column)) = *sum };
        }
    }
}

/// A stage of a tile of `SQUARE` x `SQUARE` results in shared memory.
type Stage = MaybeUninit<[F32x4; (Square::STAGE_WORDS / 4) as usize]>;

/// # Safety
/// - 1-D blocks of `SQUARE_THREADS` threads in a 2-D grid, one `SQUARE` x `SQUARE` tile of C per block, covering `n`
///   in x and `m` in y.
/// - `a`, `b` and `c` 16-byte aligned.
/// - The rest as for [`matmul_naive`].
#[kernel(launch_bounds(SQUARE_THREADS, 2))]
pub unsafe fn matmul_register_2d(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    #[address_space(shared)]
    static mut STAGE: Stage = MaybeUninit::uninit();
    let stage = (&raw mut STAGE).cast::<f32>();
    let work = Work::new::<Blocked>(a, b, (m, n, k));
    // SAFETY: STAGE is a stage (launch contract for the rest).
    unsafe {
        one_by_one::<Blocked>(&work, c, stage, |tile| work.load_words::<Blocked>(tile, stage))
    };
}

/// # Safety
/// - As for [`matmul_register_2d`].
#[kernel(launch_bounds(SQUARE_THREADS, 2))]
pub unsafe fn matmul_vectorized(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    #[address_space(shared)]
    static mut STAGE: Stage = MaybeUninit::uninit();
    let stage = (&raw mut STAGE).cast::<f32>();
    let work = Work::new::<Square>(a, b, (m, n, k));
    // SAFETY: STAGE is a stage (launch contract for the rest).
    unsafe { one_by_one::<Square>(&work, c, stage, |tile| work.load::<Square>(tile, stage)) };
}

/// # Safety
/// - As for [`matmul_register_2d`].
#[kernel(launch_bounds(SQUARE_THREADS, 2), min_compute_capability = 80)]
pub unsafe fn matmul_double_buffered(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    #[address_space(shared)]
    static mut STAGES: [Stage; 2] = [MaybeUninit::uninit(); 2];
    let stages = (&raw mut STAGES).cast::<f32>();
    let work = Work::new::<Square>(a, b, (m, n, k));
    let tiles = work.tiles::<Square>();
    let mut sums = NO_SUMS;
    // SAFETY: STAGES are two stages. A tile is read after its copies have been waited for by all threads, and its stage is
    // filled again after all have read it: the barrier says both (launch contract for the rest).
    unsafe {
        let stage = |tile: u32| stages.add((tile % 2 * Square::STAGE_WORDS) as usize);
        work.start::<Square>(0, stage(0));
        for tile in 0..tiles {
            async_copy::wait_all();
            thread::sync_threads();
            if tile + 1 < tiles {
                work.start::<Square>(tile + 1, stage(tile + 1));
            }
            multiply_tile::<Square>(stage(tile), &mut sums);
        }
        work.store::<Square>(c, &sums);
    }
}

/// # Safety
/// - 1-D blocks of `WARPS_THREADS` threads in a 2-D grid, one `WARPS_ROWS` x `WARPS_COLUMNS` tile of C per block,
///   covering `n` in x and `m` in y.
/// - `WARPS_SHARED_BYTES` of dynamic shared memory.
/// - The rest as for [`matmul_register_2d`].
#[kernel(launch_bounds(WARPS_THREADS, 1), min_compute_capability = 80)]
pub unsafe fn matmul_warp_tiled(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let work = Work::new::<Warps>(a, b, (m, n, k));
    // SAFETY: the stages are in `WARPS_SHARED_BYTES` (launch contract for the rest).
    unsafe {
        tiles::pipelined::<Warps, WARPS_STAGES, { WARPS_STAGES - 1 }, { WARPS_STAGES - 2 }>(
            &work, c,
        )
    };
}

/// The product by tiles that are loaded into one stage, one after the other.
///
/// # Safety
/// - As for [`matmul_register_2d`].
/// - `load` fills the stage with the tile of a number.
#[inline(always)]
unsafe fn one_by_one<T: Tile>(work: &Work, c: *mut f32, stage: *mut f32, load: impl Fn(u32)) {
    let mut sums = NO_SUMS;
    for tile in 0..work.tiles::<T>() {
        load(tile);
        thread::sync_threads();
        // SAFETY: all threads have filled the stage.
        unsafe { multiply_tile::<T>(stage, &mut sums) };
        // No thread fills the stage again while another still reads it.
        thread::sync_threads();
    }
    // SAFETY: C is aligned, and this block alone writes its tile (launch contract).
    unsafe { work.store::<T>(c, &sums) };
}

/// Adds the products of a tile to the sums of this thread.
///
/// # Safety
/// - `stage` is a stage that has been filled.
#[inline(always)]
unsafe fn multiply_tile<T: Tile>(stage: *const f32, sums: &mut Sums) {
    let place = T::place(thread::thread_idx_x());
    for step in 0..T::STEPS {
        // SAFETY: the step is in the tile.
        let (left, right) = unsafe { tiles::fragments::<T>(stage, step, place) };
        multiply(&left, &right, sums, T::COLUMNS_PER_THREAD);
    }
}
