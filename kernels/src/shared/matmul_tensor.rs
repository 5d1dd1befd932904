//! # matmul tensor: what to do, as one short sentence
//!
//! Shows: who does what, and what it costs, in one sentence.
//!
//! The problem, and the surprise first: what is slow, and which counter shows it. What one [warp]
//! touches:
//!
//! ```text
//! naive   lane i -> a[i]   |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|   4 sectors, 100 % used
//! ```
//!
//! 1. `naive`. What the counter shows, the idea, what it costs, and what remains for the next step.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `naive` | lane i touches word i | 4 | 4 | bytes in flight |
//!
//! Expected: how far apart the variants are, and why, with the arithmetic.
//!
//! Common misconception: "what people believe". What is true, and the reason.
//!
//! Questions:
//! - What does a reader ask now? The answer.
//!
//! <!-- measured -->
//! <!-- /measured -->
//!
//! Preconditions: none.
//!
//! Source: where the claim comes from.
//!
//! [warp]: cuda_std::glossary#warp

pub(super) mod tiles;

use self::tiles::{Work, at, store_16x8};
use core::mem::MaybeUninit;
use cuda_std::mma::{self, A, B, C};
use cuda_std::prelude::*;
use cuda_std::{GpuFloat, bf16};

/// Rows and columns of C that a block of `naive` computes, one element per thread.
pub const TILE: u32 = 32;
/// From one row of a tile of B to the next in `naive`: a word more than a row, against bank conflicts.
const PITCH: u32 = TILE + 1;
/// Rows of C that a block of `mma_global` computes: two warps with 16 each.
pub const GLOBAL_ROWS: u32 = 32;
/// Columns of C that a block of `mma_global` computes: four warps with 8 each.
pub const GLOBAL_COLUMNS: u32 = 32;
/// Threads per block of the variants with `mma`.
pub const THREADS: u32 = tiles::THREADS;
/// Rows of C that a block of `mma_tiled` and the variants after it computes.
pub const ROWS: u32 = tiles::ROWS;
/// Columns of C that a block of those computes.
pub const COLUMNS: u32 = tiles::COLUMNS;
/// Dynamic shared memory of `mma_tiled` and `mma_swizzled`, bytes.
pub const STAGE_BYTES: u32 = tiles::STAGE_BYTES;
/// Tiles in shared memory at once, in `mma_pipelined`.
const STAGES: u32 = 4;
/// Dynamic shared memory of `mma_pipelined`, bytes.
pub const RING_BYTES: u32 = STAGES * STAGE_BYTES;

/// Naive: square tiles of A and B in shared memory, multiplied without tensor cores.
///
/// # Safety
/// Launch contract: 2-D grid of `TILE` x `TILE` threads covering `n` in x and `m` in y; `m`, `n` and `k` at least 1; `a`
/// valid for `m * k` bf16, `b` for `n * k`, `c` for `m * n` f32; `c` overlaps neither.
#[kernel]
pub unsafe fn matmul_tensor_naive(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    #[address_space(shared)]
    static mut LEFT: MaybeUninit<[f32; (TILE * PITCH) as usize]> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut RIGHT: MaybeUninit<[f32; (TILE * PITCH) as usize]> = MaybeUninit::uninit();
    let (left, right) = ((&raw mut LEFT).cast::<f32>(), (&raw mut RIGHT).cast::<f32>());
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    let staged_column = thread::block_idx_x() * TILE + y;
    let mut sum = 0.0_f32;
    let mut first = 0;
    while first < k {
        // SAFETY: loads are guarded; y * PITCH + x is in both tiles; every word read after the first barrier was written
        // before it, and none is written again before the second.
        unsafe {
            let load = |matrix: *const bf16, row: u32, rows: u32| {
                let is_there = row < rows && first + x < k;
                if is_there { (*matrix.add(at(row, k, first + x))).to_f32() } else { 0.0 }
            };
            *left.add((y * PITCH + x) as usize) = load(a, row, m);
            *right.add((y * PITCH + x) as usize) = load(b, staged_column, n);
            thread::sync_threads();
            for step in 0..TILE {
                let left = *left.add((y * PITCH + step) as usize);
                sum = left.mul_add(*right.add((x * PITCH + step) as usize), sum);
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

/// Change from `naive`: tensor cores. Each warp computes 16 x 8 results, and its lanes load their fragments from
/// global memory.
///
/// # Safety
/// Launch contract: 1-D blocks of `THREADS` threads in a 2-D grid, one `GLOBAL_ROWS` x `GLOBAL_COLUMNS` tile of C per block,
/// covering `n` in x and `m` in y; 8 divides `k`; `a`, `b` and `c` 16-byte aligned; the rest as for [`matmul_tensor_naive`].
#[kernel(launch_bounds(THREADS), min_compute_capability = 80)]
pub unsafe fn matmul_tensor_mma_global(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    let (warp, lane) = (thread::thread_idx_x() / 32, thread::thread_idx_x() % 32);
    let row = thread::block_idx_y() * GLOBAL_ROWS + warp / 4 * 16;
    let column = thread::block_idx_x() * GLOBAL_COLUMNS + warp % 4 * 8;
    let mut sum = C::default();
    let mut first = 0;
    while first < k {
        // Two neighbouring elements, or zeros beyond the matrix.
        let pair = |matrix: *const bf16, row: u32, rows: u32, step: u32| {
            let step = first + step + lane % 4 * 2;
            let source = matrix.wrapping_add(at(row + lane / 4, k, step)).cast::<u32>();
            // SAFETY: row and step are compared with those of the matrix; both are even, so the pair is aligned.
            if row + lane / 4 < rows && step < k { unsafe { *source } } else { 0 }
        };
        let left = A::from([
            pair(a, row, m, 0),
            pair(a, row + 8, m, 0),
            pair(a, row, m, 8),
            pair(a, row + 8, m, 8),
        ]);
        let right = B::from([pair(b, column, n, 0), pair(b, column, n, 8)]);
        // SAFETY: all lanes of the warp are here: its loop depends on `k` alone.
        sum = unsafe { mma::m16n8k16_f32_bf16(left, right, sum) };
        first += 16;
    }
    // SAFETY: each warp has other results.
    unsafe { store_16x8(c, (m, n), (row, column), sum) };
}

/// Change from `mma_global`: the block stages tiles of A and B in shared memory, and each warp computes 64 x 64 results.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS` threads per block, one block per `ROWS` x `COLUMNS` tile of C; `STAGE_BYTES` of
/// dynamic shared memory; the rest as for [`matmul_tensor_mma_global`].
#[kernel(launch_bounds(THREADS, 1), min_compute_capability = 80)]
pub unsafe fn matmul_tensor_mma_tiled(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    // SAFETY: the launch contract.
    unsafe { Work::new(a, b, (m, n, k)).one_by_one::<false>(c) };
}

/// Change from `mma_tiled`: the chunks of a row are swizzled, so that `ldmatrix` has no bank conflicts.
///
/// # Safety
/// Launch contract: as for [`matmul_tensor_mma_tiled`].
#[kernel(launch_bounds(THREADS, 1), min_compute_capability = 80)]
pub unsafe fn matmul_tensor_mma_swizzled(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    // SAFETY: the launch contract.
    unsafe { Work::new(a, b, (m, n, k)).one_by_one::<true>(c) };
}

/// Change from `mma_swizzled`: `STAGES` tiles are in shared memory, and while the warps multiply one, the next are copied.
///
/// # Safety
/// Launch contract: as for [`matmul_tensor_mma_tiled`], with `RING_BYTES` of dynamic shared memory.
#[kernel(launch_bounds(THREADS, 1), min_compute_capability = 80)]
pub unsafe fn matmul_tensor_mma_pipelined(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    // SAFETY: the launch contract.
    unsafe { Work::new(a, b, (m, n, k)).pipelined::<STAGES, { STAGES - 2 }>(c) };
}
