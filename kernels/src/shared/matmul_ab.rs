//! # C = A B with a short inner dimension: reuse, first in shared memory, then in registers
//!
//! Shows: [shared memory] saves requests to L1 and device memory; [registers][register] save
//! requests to shared memory, and here that is what pays.
//!
//! The surprise: staging A in shared memory, the classic first step, makes the product slower,
//! `shared_a` (2.990 ms) against `naive` (2.794 ms). Staging both matrices gains little,
//! `shared_ab` (2.228 ms). What makes the difference is reuse in registers,
//! `register_tiled` (0.509 ms).
//!
//! A is M x 32, B is 32 x N, so each element of C is a sum of 32 products. Each product needs one
//! multiply-add and two operands. The arithmetic is cheap; fetching the operands is the cost. A
//! [warp] of 32 [lanes][lane] computes 32 neighbouring elements of one row of C: all lanes need the
//! same word of A, and each lane needs its own word of B:
//!
//! ```text
//! per warp and step of the inner loop (32 multiply-adds; 32 steps in all)
//!   naive      1 load of A, one word for all lanes: 1 sector    1 load of B: 32 x 4 B / 32 B = 4 sectors
//!   shared_a   1 shared read of A: 1 wavefront                  1 load of B: 4 sectors
//!   shared_ab  1 shared read of A: 1 wavefront                  1 shared read of B: 1 wavefront
//! per warp and step of register_tiled (2048 multiply-adds)
//!              2 shared reads of A: 2 x 2 wavefronts            2 shared reads of B: 2 x 4 wavefronts
//! ```
//!
//! 1. `naive`. The counter shows 2.5 [sectors][sector] per load: (1 + 4) / 2. For 32 results a warp
//!    makes 64 requests with 32 x (1 + 4) = 160 sectors. Nearly all of them are served by the
//!    [L1 cache], so L1 is what limits it, not device memory.
//! 2. `shared_a`. The idea: a row of A is used by the whole warp, so stage it in shared memory
//!    once, with one [coalesced] load. It saves the 32 requests for single words of A, and 160
//!    sectors become 4 + 128 = 132. It costs a store, a warp [barrier] and 32 shared reads instead,
//!    and more registers, so that only half as many warps are resident. A broadcast from L1 costs
//!    about the same as one from shared memory, so nothing is gained for that price.
//! 3. `shared_ab`. The block stages its tile of B too, and 132 sectors become 4 + 4 = 8. It costs a
//!    barrier for the whole block. What remains: 2 shared reads for every 32 multiply-adds. Shared
//!    memory is now as busy as L1 was.
//! 4. `shared_ab_vectorized`. The idea: all lanes read the same row of A word by word; a 16-byte read
//!    brings four of these words at once. The counter shows 50 [wavefronts][wavefront] for 32 results instead of 66: 16 for
//!    A, 32 for B, 2 for staging. One might expect 42, but a 16-byte request takes 2 wavefronts
//!    even where all lanes read one address. It costs two registers and gains next to nothing: NVIDIA's
//!    assembler joins the four reads of `shared_ab` by itself. What remains: each word of B is read for one
//!    multiply-add.
//! 5. `register_tiled`. The idea, called [thread coarsening]: let each thread compute 8 x 8 results
//!    instead of one. It reads 8 words of A and 8 of B into registers and makes 64 multiply-adds
//!    from them. A step of a warp takes 12 wavefronts for 2048 multiply-adds, where
//!    `shared_ab` takes 2 for 32, which is 128 for 2048. It costs 64 registers for the sums, and so
//!    [occupancy]: 31 % instead of 100 %.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | L1 sectors per 32 results | shared wavefronts per 32 results | limited by |
//! |---|---|---|---|---|---|---|
//! | `naive` | one thread per element, both operands from global memory | 2.5 | 4 | 32 x (1 + 4) = 160 | 0 | L1 requests |
//! | `shared_a` | each warp stages its row of A in shared memory | 4 | 4 | 4 + 128 = 132 | 1 + 32 = 33 | L1 requests |
//! | `shared_ab` | the block stages its tile of B in shared memory too | 4 | 4 | 4 + 4 = 8 | 2 + 64 = 66 | shared memory |
//! | `shared_ab_vectorized` | four words of A by one 16-byte read | 4 | 4 | 4 + 4 = 8 | 2 + 16 + 32 = 50 | shared memory |
//! | `register_tiled` | each thread computes 8 x 8 results and reuses the operands from registers | 21.3 | 16 | (4 x 32 + 8 x 16) / 64 = 4 | (32 x 12 + 48) / 64 = 6.75 | multiply-adds |
//!
//! In the last row, a warp computes 2048 results, which are 64 times 32. It loads A with 4 requests
//! of 32 sectors (each lane a different row) and B with 8 requests of 16.
//!
//! Expected: `shared_a` (2.990 ms) is slower than `naive` (2.794 ms), and `shared_ab` (2.228 ms)
//! somewhat faster; `shared_ab_vectorized` takes as long. `register_tiled` (0.509 ms) is 5.5 times (`naive` / `register_tiled`) as fast
//! as `naive`. On a V100, the Best Practices Guide measured 144.4 / 119.9 = 1.20 times the speed of
//! `naive` for `shared_a`, and 195.5 / 119.9 = 1.63 times for `shared_ab`.
//!
//! The key kernel of `shared_ab` in CUDA C++:
//!
//! ```cuda
//! __shared__ float left[32][32], right[32][32];          // a tile of A and a tile of B
//! left[y][x] = a[row * 32 + x];   right[y][x] = b[y * n + column];
//! __syncthreads();
//! for (uint32_t step = 0; step < 32; step++) sum += left[y][step] * right[step][x];
//! ```
//!
//! Common misconception: "data that is used more than once belongs in shared memory". L1 keeps such
//! data too, and a warp that reads one word costs one sector there. Shared memory pays when L1
//! would have to serve many more requests or sectors, or when the order of the data must change, as
//! in `transpose`.
//!
//! Common misconception: "higher occupancy is faster". `register_tiled` has 31 % occupancy, the
//! lowest of all, and is the fastest. Its 64 independent sums per thread give each warp work
//! to do while it waits: this is [latency hiding] without many warps.
//!
//! Questions:
//! - Why 21.3 sectors per load in the fastest variant? (4 x 32 + 8 x 16) sectors / 12 requests.
//!   Sectors per request tell how a request is spread, not how many requests there are: 12 instead
//!   of 64, for 64 times the results.
//! - Does `right[step][x]` have [bank conflicts][bank conflict]? No. Neighbouring lanes read
//!   neighbouring words, and `left[y][step]` is one word for all lanes, a broadcast. All 66
//!   wavefronts are needed.
//! - Why 8 x 8 and not 16 x 16? The sums alone would need 256 registers, and a thread can have 255.
//!   The compiler would [spill] to [local memory].
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `naive` | 2.794 | 386 | 8 | 1.00 |
//! | `shared_a` | 2.990 | 360 | 8 | 0.93 |
//! | `shared_ab` | 2.228 | 484 | 11 | 1.25 |
//! | `shared_ab_vectorized` | 2.200 | 490 | 11 | 1.27 |
//! | `register_tiled` | 0.509 | 2118 | 46 | 5.49 |
//! | *nvcc shared_ab* | 2.197 | 491 | 11 | 1.27 |
//! | *cuBLAS sgemm* | 0.648 | 1664 | 36 | 4.31 |
//! <!-- /measured -->
//!
//! Preconditions: N is arbitrary. A grid has at most 65535 blocks in y, so M is at most 65535 tiles
//! of rows: 2097120 rows, and 4194240 for `register_tiled`, which also needs buffers aligned to 16
//! bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Shared Memory in Matrix Multiplication (C=AB)".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::GpuFloat;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

/// The inner dimension: columns of A, rows of B.
pub const INNER: u32 = 32;
/// Rows and columns of C that a block of the first three variants computes, one per thread.
pub const TILE: u32 = 32;
/// Rows of C that a block of `register_tiled` computes.
pub const BLOCK_TILE_ROWS: u32 = 64;
/// Columns of C that a block of `register_tiled` computes.
pub const BLOCK_TILE_COLUMNS: u32 = 128;
/// Rows and columns of C that a thread of `register_tiled` computes, as two groups of four.
pub const THREAD_TILE: u32 = 8;
/// The distance in rows from a thread's upper four rows to its lower four.
const LOWER: u32 = BLOCK_TILE_ROWS / 2;
/// The distance in columns from a thread's near four columns to its far four.
const FAR: u32 = BLOCK_TILE_COLUMNS / 2;
/// Threads per block of `register_tiled`.
pub const REGISTERS_BLOCK: u32 =
    (BLOCK_TILE_ROWS / THREAD_TILE) * (BLOCK_TILE_COLUMNS / THREAD_TILE);
/// Blocks of `register_tiled` on a multiprocessor at once: while some wait for loads or store, others
/// multiply. 65536 registers / (5 x 128 threads) = 102 per thread.
const REGISTERS_BLOCKS_PER_MULTIPROCESSOR: u32 = 5;

/// A row or column clamped into the matrix: threads outside compute with the data of the last row or
/// column and store nothing, so that all threads of a block reach its barrier.
#[inline(always)]
fn clamped(index: u32, len: u32) -> u32 {
    if index < len { index } else { len - 1 }
}

/// The index of an element of A, which has up to 2^31 x `INNER` elements: more than 32 bits can count.
#[inline(always)]
fn in_a(row: u32, step: u32) -> usize {
    row as usize * INNER as usize + step as usize
}

/// # Safety
/// - 2-D grid of `TILE` x `TILE` threads covering `n` in x and `m` in y, both at least 1.
/// - `a` valid for `m * INNER` f32, `b` for `INNER * n`, `c` for `m * n`; `c` overlaps neither.
#[kernel]
pub unsafe fn matmul_ab_naive(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32) {
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    if row < m && column < n {
        let mut sum = 0.0_f32;
        // SAFETY: row < m, column < n and step < INNER are in the matrices (launch contract).
        unsafe {
            for step in 0..INNER {
                let left = *a.add(in_a(row, step));
                let right = *b.add(step as usize * n as usize + column as usize);
                sum = left.mul_add(right, sum);
            }
            *c.add(row as usize * n as usize + column as usize) = sum;
        }
    }
}

/// A warp computes 32 results of one row, so each warp stages that row of A in shared memory. Only the warp itself
/// reads it, so a barrier for the warp is enough.
///
/// # Safety
/// - As for [`matmul_ab_naive`].
#[kernel]
pub unsafe fn matmul_ab_shared_a(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32) {
    let rows = shared_array!(ROWS: [f32; TILE * INNER]);
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    // SAFETY: clamped rows and columns are in the matrices; y * INNER + x is in ROWS; the words
    // that a warp reads it wrote itself before its barrier.
    unsafe {
        *rows.add((y * INNER + x) as usize) = *a.add(in_a(clamped(row, m), x));
        warp::sync_warp(u32::MAX);
        let right = b.add(clamped(column, n) as usize);
        let mut sum = 0.0_f32;
        for step in 0..INNER {
            let left = *rows.add((y * INNER + step) as usize);
            sum = left.mul_add(*right.add(step as usize * n as usize), sum);
        }
        if row < m && column < n {
            *c.add(row as usize * n as usize + column as usize) = sum;
        }
    }
}

/// # Safety
/// - As for [`matmul_ab_naive`].
#[kernel]
pub unsafe fn matmul_ab_shared_ab(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32) {
    let (left, right) =
        (shared_array!(LEFT: [f32; TILE * INNER]), shared_array!(RIGHT: [f32; INNER * TILE]));
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    // SAFETY: clamped rows and columns are in the matrices; y * 32 + x is in both tiles; every
    // word read after the barrier was written before it.
    unsafe {
        *left.add((y * INNER + x) as usize) = *a.add(in_a(clamped(row, m), x));
        *right.add((y * TILE + x) as usize) =
            *b.add(y as usize * n as usize + clamped(column, n) as usize);
        thread::sync_threads();
        let mut sum = 0.0_f32;
        for step in 0..INNER {
            sum = (*left.add((y * INNER + step) as usize))
                .mul_add(*right.add((step * TILE + x) as usize), sum);
        }
        if row < m && column < n {
            *c.add(row as usize * n as usize + column as usize) = sum;
        }
    }
}

/// # Safety
/// - As for [`matmul_ab_naive`].
#[kernel]
pub unsafe fn matmul_ab_shared_ab_vectorized(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: u32,
    n: u32,
) {
    let left = shared_array!(LEFT: [F32x4; TILE * INNER / 4]);
    let right = shared_array!(RIGHT: [f32; INNER * TILE]);
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    // SAFETY: as in `matmul_ab_shared_ab`; a row of A is 8 vectors.
    unsafe {
        *left.cast::<f32>().add((y * INNER + x) as usize) = *a.add(in_a(clamped(row, m), x));
        *right.add((y * TILE + x) as usize) =
            *b.add(y as usize * n as usize + clamped(column, n) as usize);
        thread::sync_threads();
        let mut sum = 0.0_f32;
        for vector in 0..INNER / 4 {
            let words = *left.add((y * INNER / 4 + vector) as usize);
            let column = right.add((4 * vector * TILE + x) as usize);
            let of_b = |step: u32| *column.add((step * TILE) as usize);
            sum = words.x.mul_add(of_b(0), sum);
            sum = words.y.mul_add(of_b(1), sum);
            sum = words.z.mul_add(of_b(2), sum);
            sum = words.w.mul_add(of_b(3), sum);
        }
        if row < m && column < n {
            *c.add(row as usize * n as usize + column as usize) = sum;
        }
    }
}

/// A is stored transposed, so that the eight rows of a thread are two 16-byte reads. A thread's rows
/// and columns are two groups of four, half a tile apart, so that the lanes of a read touch
/// different banks.
///
/// # Safety
/// - 1-D blocks of `REGISTERS_BLOCK` threads in a 2-D grid, one `BLOCK_TILE_ROWS` x `BLOCK_TILE_COLUMNS` tile of C
///   per block, covering `n` in x and `m` in y, both at least 1.
/// - `a`, `b` and `c` 16-byte aligned and valid as for [`matmul_ab_naive`].
#[kernel(launch_bounds(REGISTERS_BLOCK, REGISTERS_BLOCKS_PER_MULTIPROCESSOR))]
pub unsafe fn matmul_ab_register_tiled(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32) {
    let (left, right) = (
        shared_array!(LEFT: [F32x4; INNER * BLOCK_TILE_ROWS / 4]).cast::<f32>(),
        shared_array!(RIGHT: [F32x4; INNER * BLOCK_TILE_COLUMNS / 4]).cast::<f32>(),
    );
    let thread = thread::thread_idx_x();
    let (first_row, first_column) =
        (thread::block_idx_y() * BLOCK_TILE_ROWS, thread::block_idx_x() * BLOCK_TILE_COLUMNS);
    // SAFETY: loads are clamped into the matrices and stores are checked; the indices of both tiles
    // stay below INNER * their width; every word read after the barrier was written before it.
    unsafe {
        load_left(a, left, first_row, m, thread);
        load_right(b, right, first_column, n, thread);
        thread::sync_threads();

        // A warp covers 2 x 16 sub-tiles of 4 x 4 results, in each quarter of the tile.
        let (x, y) = (thread % 16, thread / 16);
        let mut sums = [[0.0_f32; THREAD_TILE as usize]; THREAD_TILE as usize];
        for step in 0..INNER {
            let row = left.add((step * BLOCK_TILE_ROWS + y * 4) as usize).cast::<F32x4>();
            let column = right.add((step * BLOCK_TILE_COLUMNS + x * 4) as usize).cast::<F32x4>();
            let (upper, lower) = ((*row).to_array(), (*row.add(LOWER as usize / 4)).to_array());
            let (near, far) = ((*column).to_array(), (*column.add(FAR as usize / 4)).to_array());
            for i in 0..4 {
                for j in 0..4 {
                    sums[i][j] = upper[i].mul_add(near[j], sums[i][j]);
                    sums[i][j + 4] = upper[i].mul_add(far[j], sums[i][j + 4]);
                    sums[i + 4][j] = lower[i].mul_add(near[j], sums[i + 4][j]);
                    sums[i + 4][j + 4] = lower[i].mul_add(far[j], sums[i + 4][j + 4]);
                }
            }
        }
        // Written out: indexing by a variable would put `sums` into local memory.
        let first_column = first_column + x * 4;
        let store = |row: u32, [s0, s1, s2, s3, s4, s5, s6, s7]: [f32; THREAD_TILE as usize]| {
            if row < m {
                let target = c.add(row as usize * n as usize);
                store_quad(target, first_column, n, F32x4::new(s0, s1, s2, s3));
                store_quad(target, first_column + FAR, n, F32x4::new(s4, s5, s6, s7));
            }
        };
        let row = first_row + y * 4;
        store(row, sums[0]);
        store(row + 1, sums[1]);
        store(row + 2, sums[2]);
        store(row + 3, sums[3]);
        store(row + LOWER, sums[4]);
        store(row + LOWER + 1, sums[5]);
        store(row + LOWER + 2, sums[6]);
        store(row + LOWER + 3, sums[7]);
    }
}

/// Loads the block's rows of A and stores them transposed: `left[step * BLOCK_TILE_ROWS + row]`.
///
/// # Safety
/// - As for [`matmul_ab_register_tiled`].
/// - `left` holds `INNER * BLOCK_TILE_ROWS` words of shared memory.
#[inline(always)]
unsafe fn load_left(a: *const f32, left: *mut f32, first_row: u32, m: u32, thread: u32) {
    // One row of A is 8 vectors of 16 bytes. Neighbouring lanes take neighbouring rows, so that the
    // transposed stores of a warp go to neighbouring banks.
    let row = thread % BLOCK_TILE_ROWS;
    let source_row = clamped(first_row + row, m);
    for round in 0..INNER / 4 * BLOCK_TILE_ROWS / REGISTERS_BLOCK {
        let step = (thread / BLOCK_TILE_ROWS + round * (REGISTERS_BLOCK / BLOCK_TILE_ROWS)) * 4;
        // SAFETY: source_row < m and step + 3 < INNER; 4 divides the index, so it is aligned.
        unsafe {
            let words = *a.add(in_a(source_row, step)).cast::<F32x4>();
            for (word, value) in words.to_array().into_iter().enumerate() {
                *left.add(((step + word as u32) * BLOCK_TILE_ROWS + row) as usize) = value;
            }
        }
    }
}

/// Loads the block's columns of B: `right[step * BLOCK_TILE_COLUMNS + column]`.
///
/// # Safety
/// - As for [`matmul_ab_register_tiled`].
/// - `right` holds `INNER * BLOCK_TILE_COLUMNS` words of shared memory.
#[inline(always)]
unsafe fn load_right(b: *const f32, right: *mut f32, first_column: u32, n: u32, thread: u32) {
    let column = thread % (BLOCK_TILE_COLUMNS / 4) * 4;
    let source_column = first_column + column;
    for round in 0..INNER * BLOCK_TILE_COLUMNS / 4 / REGISTERS_BLOCK {
        let step = thread / (BLOCK_TILE_COLUMNS / 4)
            + round * (REGISTERS_BLOCK / (BLOCK_TILE_COLUMNS / 4));
        // SAFETY: step < INNER; columns are clamped below n; the 16-byte load is taken only where
        // its four words exist and 4 divides n, so that it is aligned.
        unsafe {
            let source = b.add(step as usize * n as usize);
            let target = right.add((step * BLOCK_TILE_COLUMNS + column) as usize);
            if n.is_multiple_of(4) && source_column + 3 < n {
                *target.cast::<F32x4>() = *source.add(source_column as usize).cast::<F32x4>();
            } else {
                for word in 0..4 {
                    *target.add(word as usize) =
                        *source.add(clamped(source_column + word, n) as usize);
                }
            }
        }
    }
}

/// Stores four results of a row of C, with one 16-byte store where that is possible.
///
/// # Safety
/// - `target` is the start of a row of `n` f32 in a 16-byte aligned matrix of `n` columns.
/// - 4 divides `column`.
#[inline(always)]
unsafe fn store_quad(target: *mut f32, column: u32, n: u32, values: F32x4) {
    // SAFETY: words are stored only below n; the 16-byte store is used only where all four exist and
    // rows are multiples of 16 bytes.
    unsafe {
        if n.is_multiple_of(4) && column + 3 < n {
            *target.add(column as usize).cast::<F32x4>() = values;
        } else {
            for (word, value) in values.to_array().into_iter().enumerate() {
                if column as usize + word < n as usize {
                    *target.add(column as usize + word) = value;
                }
            }
        }
    }
}
