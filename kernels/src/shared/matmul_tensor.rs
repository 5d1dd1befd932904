//! # C = A B by tensor cores: arithmetic so fast that memory is the problem again
//!
//! Shows: tensor cores make sixteen times the multiply-adds of the other units; only swizzled tiles
//! in shared memory and copies in flight feed them.
//!
//! The surprise: tensor cores alone gain little. `mma_global` (54.10 ms) uses them and keeps them waiting for global
//! memory; `mma_pipelined` (2.094 ms) executes the same multiply-adds with the same instruction, and `wgmma` (1.423 ms) does
//! without registers for its operands. The difference is how operands reach the tensor cores.
//!
//! A is M x K, and B has N rows of K: each row is a column of the product's right factor, as tensor cores want
//! it. Elements have 16 bits (bf16), sums 32 (f32). One `mma.sync` of a [warp] makes 16 x 8 x 16 multiply-adds from
//! fragments in the [registers][register] of its 32 lanes.
//!
//! A multiprocessor of an H200 can make 2048 of these multiply-adds per cycle, and its shared memory delivers 128
//! bytes per cycle. So a multiply-add may cost 128 / 2048 = 0.0625 bytes of shared memory, where the product
//! without tensor cores may cost 1 byte. What the variants fetch for each multiply-add:
//!
//! ```text
//! bytes per multiply-add                        from L1, L2 or device memory     from shared memory
//!   naive (tile of 32 x 32)                     2 x 2 / 32          = 0.125      2 x 4           = 8
//!   mma_global (16 x 8 per warp)                (16 + 8) x 2 / 128  = 0.375      0
//!   mma_tiled and after (128 x 256; 64 x 64)    384 x 2 / 32768     = 0.023      128 x 2 / 4096  = 0.0625
//!   wgmma (128 x 256; 64 x 256 per 4 warps)     384 x 2 / 32768     = 0.023      320 x 2 / 16384 = 0.039
//! ```
//!
//! 1. `naive`. The tiled product of `matmul`, on bf16 elements: 32 x 32 tiles in [shared memory], ordinary
//!    multiply-adds. What remains: two reads of shared memory for each multiply-add.
//! 2. `mma_global`. The same sums by `mma.sync`. Each lane loads its part of the fragments from global memory: a
//!    load touches 8 [sectors][sector] and uses half of each. It needs no shared memory. What remains: 6 loads for one
//!    instruction of the tensor cores, which wait.
//! 3. `mma_tiled`. The block stages tiles of 128 x 64 of A and 256 x 64 of B in shared memory by [`cp.async`][asynchronous
//!    copy], and a warp computes 64 x 64 results: 8 `ldmatrix`, which loads four 8 x 8 matrices, for 32 `mma.sync`.
//!    It costs 128 registers for sums. What remains: a row of a tile has 128 bytes, all [banks][bank] once, so that the 8
//!    rows of a matrix begin in the same bank, and a `ldmatrix` takes 32 [wavefronts][wavefront] instead of 4.
//! 4. `mma_swizzled`. The [swizzle] stores the 16-byte chunk `c` of row `r` at place `c ^ (r % 8)`: 8 rows are in 8 groups
//!    of banks. It costs an exclusive or per address. What remains: copies and multiply-adds take turns.
//! 5. `mma_pipelined`. Four tiles are in shared memory. While the warps multiply one, the next three are copied, and while a
//!    warp multiplies the fragments of a step, it reads those of the next. It costs 192 KiB of shared memory
//!    and 230 registers per thread, so that one block of 8 warps is resident. What remains: 0.0625 bytes per
//!    multiply-add is all that shared memory has, and reads are not its only traffic.
//! 6. `wgmma`. Four warps multiply 64 x 256 results together, and the tensor cores read both
//!    factors from shared memory themselves: a column of B serves four warps, and no register holds
//!    an operand. One thread has the Tensor Memory Accelerator copy whole tiles, which swizzles
//!    them on the way and counts their bytes on an [mbarrier]; two groups of four warps wait for it
//!    and multiply. The copying warps give their registers to the others (`setmaxnreg`). It costs
//!    portability: the instruction exists on Hopper alone. What remains: L2. For each multiply-add
//!    it has to deliver 384 x 2 B / 32768 = 0.0234 B, and 2048 x 132 of them per cycle would need
//!    6.3 KB. It delivers 9.0 TB/s (8192^3 x 0.0234 B / `wgmma`), which is 98 % of its [measured
//!    peak] (8192^3 x 0.0234 B / `wgmma` / peak of L2); that peak is one of ordinary loads. The
//!    tensor cores reach 80 % of theirs (`wgmma`). And a block that stores its results multiplies nothing, until the
//!    next block on its multiprocessor has started and filled its stages.
//! 7. `wgmma_persistent`. As many blocks as there are multiprocessors take one tile of C after the other. While the warps
//!    store the sums of a tile, the copying thread fills the stages for the next. The sums go to shared
//!    memory, swizzled, and from there to C by copies of boxes of 16 x 32: no lane waits for a
//!    store to global memory, which also leaves as whole rows of 128 B instead of 8 sectors per request. It costs 32 KiB of
//!    shared memory, rows of C that are multiples of 16 bytes, and 2-way
//!    [bank conflicts][bank conflict]: of the 8 rows that a warp
//!    stores at a time, two each have the same swizzle of two chunks. What remains: the traffic from L2.
//! 8. `wgmma_multicast`. Two blocks of a [cluster] compute 256 x 256 results. Each copies its own rows of A and one half
//!    of the columns of B, which a multicast writes into both shared memories. The executor counts 32 KiB of copies for each
//!    stage where there were 48, since (128 + 256) / (128 + 128) = 1.5. It costs that each stage waits for the slower
//!    block: the warps arrive at the barriers of both blocks before either may fill it again. What remains: the tensor
//!    cores, and probably the power limit of the board. Nsight Compute counts no fewer sectors in L2: an H200 probably joins
//!    equal requests that come at about the same time by itself.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts per read | limited by |
//! |---|---|---|---|---|---|
//! | `naive` | tiles of 32 x 32 in shared memory, multiplied without tensor cores | 2 | 4 | 1 | reads of shared memory |
//! | `mma_global` | `mma.sync` on 16 x 8 results per warp; fragments come from global memory (sm_80) | 8 | 8 | 0 | loads through L1 |
//! | `mma_tiled` | the block stages tiles in shared memory; 64 x 64 results per warp (sm_80) | 16 | 8 | 32 | bank conflicts |
//! | `mma_swizzled` | the chunks of a row are swizzled: `ldmatrix` has no bank conflicts (sm_80) | 16 | 8 | 4 | waiting for tiles |
//! | `mma_pipelined` | four tiles in shared memory: while the warps multiply one, the next are copied (sm_80) | 16 | 8 | 4 | shared memory and tensor cores |
//! | `wgmma` | four warps multiply together and read both factors from shared memory; one thread copies (sm_90) | none | 8 | none | stores between tiles, and tensor cores |
//! | `wgmma_persistent` | blocks stay, and results leave by copies from shared memory (sm_90) | none | none | none | tensor cores, and power |
//! | `wgmma_multicast` | a cluster of two blocks reads the columns of B once for both (sm_90) | none | none | none | tensor cores, and power |
//!
//! Expected: 2 x 8192^3 operations are 1100 GFLOP. 132 multiprocessors x 2048 x 2 x 1.83 GHz = 989
//! TFLOP/s is what NVIDIA states for bf16; under this load the clock sinks, and cuBLAS, the peer,
//! reaches 81 % of it (2 x 8192^3 / `cuBLAS bf16` / (132 x 2048 x 2 x 1.83 GHz)). The instruction
//! `mma.sync` cannot keep Hopper's tensor cores busy: `mma_pipelined` takes 1.54 times
//! (`mma_pipelined` / `cuBLAS bf16`) as long as cuBLAS, and `wgmma` 1.04 times (`wgmma` / `cuBLAS bf16`). The last two
//! rungs are as fast as cuBLAS on the boards where they ran.
//!
//! The key part of `mma_pipelined` in CUDA C++:
//!
//! ```cuda
//! for (uint32_t tile = 0; tile < tiles; tile++) {
//!     for (uint32_t step = 1; step < 4; step++) {
//!         next.read(stage(tile), step);                // ldmatrix, places swizzled
//!         start_a_third_of(tile + 3);                  // cp.async into the stage of tile - 1
//!         now.multiply(sums);                          // 32 mma.sync
//!         now = next;
//!     }
//!     asm("cp.async.commit_group; cp.async.wait_group 2;");
//!     __syncthreads();
//!     next.read(stage(tile + 1), 0);
//!     now.multiply(sums);
//!     now = next;
//! }
//! ```
//!
//! And of `wgmma`, in the warps that multiply:
//!
//! ```cuda
//! for (uint32_t tile = 0; tile < tiles; tile++) {
//!     wait(full[tile % 4], tile / 4 % 2);              // mbarrier: the copies have arrived
//!     for (uint32_t step = 0; step < 4; step++)        // 64 x 256 x 16 multiply-adds each
//!         wgmma(sums, rows(tile, step), columns(tile, step));
//!     asm("wgmma.commit_group; wgmma.wait_group 1;");  // the products of tile - 1 have ended
//!     arrive(empty[(tile - 1) % 4]);                   // and its stage may be filled again
//! }
//! ```
//!
//! Common misconception: "tensor cores make a product compute-bound". They make it 2048 / 128 = 16
//! times easier to be bound by memory: the same tile that fed the ordinary units well enough
//! starves them.
//!
//! Common misconception: "tensor cores are inexact". The products of bf16 are exact. Only sums are rounded, by rules of their
//! own; here all elements are whole 128ths, so that every order of summation gives the same bits, and results are compared
//! exactly.
//!
//! Common misconception: "an arrival at another block's barrier needs `.release.cluster`". Here it hands on no store: the
//! tensor cores have read the stage when `wgmma.wait_group` returns. With `.release.cluster` the assembler inserts a fence of the
//! whole device, `MEMBAR.ALL.GPU`, for each stage and warp, and the kernel is slower than `wgmma`.
//!
//! Questions:
//! - Why a cluster of two and not four? The multiprocessors of a cluster are in one part of the chip, and those parts have 16
//!   or 18 of them: clusters of 4 would leave some without work.
//! - Why does `naive` pad its tiles, and `mma_tiled` not? `ldmatrix` needs rows at multiples of 16
//!   bytes. A row padded by 16 bytes has no conflicts, either, but wastes 16 / 144 of the stage;
//!   the swizzle wastes nothing.
//! - Why 64 x 64 results per warp? 32 x 32 would need 0.125 bytes of shared memory per multiply-add: twice what there is.
//! - Why do blocks go down 16 tiles before they go right? Blocks that run concurrently then share 16 tiles of rows and
//!   about 8 of columns, which are in L2; in plain row order they would share 4 and 32.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `naive` | 165.4 | 3 |  | 1.00 |
//! | `mma_global` | 54.10 | 10 | 2 | 3.06 |
//! | `mma_tiled` | 11.31 | 47 | 10 | 14.62 |
//! | `mma_swizzled` | 3.861 | 139 | 30 | 42.85 |
//! | `mma_pipelined` | 2.094 | 256 | 54 | 79.01 |
//! | `wgmma` | 1.423 | 377 | 80 | 116.24 |
//! | `wgmma_persistent` | 1.367 | 393 | 83 | 121.06 |
//! | `wgmma_multicast` | 1.351 | 397 | 84 | 122.48 |
//! | *nvcc mma_pipelined* | 2.137 | 251 | 53 | 77.40 |
//! | *cuBLAS bf16* | 1.364 | 394 | 84 | 121.31 |
//! <!-- /measured -->
//!
//! Preconditions: any M and N from 1 on. K is a multiple of 8, so that rows begin at multiples of 16 bytes; `naive` takes
//! any K. `mma_*` need compute capability 8.0, `wgmma*` 9.0
//! exactly; the last two also that N is a multiple of 4.
//!
//! Source: PTX ISA, "Matrix multiply-accumulate operation using mma instruction" and "Asynchronous warpgroup level matrix
//! instructions"; CUTLASS documentation, "Efficient GEMM in
//! CUDA".
#![doc = include_str!("../../../crates/report/src/links.md")]

pub(super) mod persistent;
pub(super) mod tiles;
pub(super) mod warpgroups;

use self::tiles::{Work, at, store_16x8};
use cuda_std::mma::{self, A, B, C};
use cuda_std::prelude::*;
use cuda_std::tensor_copy::{self, TensorMap};
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
/// Steps of the inner dimension in a tile of those.
pub const STEPS: u32 = tiles::STEPS;
/// Dynamic shared memory of `mma_pipelined`, bytes.
pub const RING_BYTES: u32 = STAGES * STAGE_BYTES;

/// # Safety
/// - grid: 2-D, covering `n` in x and `m` in y
/// - block: `TILE` x `TILE` threads
/// - lengths: `m`, `n` and `k` at least 1; `a` valid for `m * k` bf16, `b` for `n * k`, `c` for `m * n` f32
/// - aliasing: `c` overlaps neither
#[kernel]
pub unsafe fn matmul_tensor_naive(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    let (left, right) =
        (shared_array!(LEFT: [f32; TILE * PITCH]), shared_array!(RIGHT: [f32; TILE * PITCH]));
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

/// Tensor cores. Each warp computes 16 x 8 results, and its lanes load their fragments from global memory.
///
/// # Safety
/// - 1-D blocks of `THREADS` threads in a 2-D grid, one `GLOBAL_ROWS` x `GLOBAL_COLUMNS` tile of C per block,
///   covering `n` in x and `m` in y.
/// - 8 divides `k`.
/// - `a`, `b` and `c` 16-byte aligned.
/// - The rest as for [`matmul_tensor_naive`].
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

/// # Safety
/// - 1-D grid of `THREADS` threads per block, one block per `ROWS` x `COLUMNS` tile of C.
/// - `STAGE_BYTES` of dynamic shared memory; the rest as for [`matmul_tensor_mma_global`].
#[kernel(launch_bounds(THREADS, 1), min_compute_capability = 80)]
pub unsafe fn matmul_tensor_mma_tiled(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    // SAFETY: a stage is `STAGE_BYTES` (launch contract for the rest).
    unsafe { Work::new(a, b, (m, n, k)).one_by_one::<false>(c) };
}

/// # Safety
/// - As for [`matmul_tensor_mma_tiled`].
#[kernel(launch_bounds(THREADS, 1), min_compute_capability = 80)]
pub unsafe fn matmul_tensor_mma_swizzled(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    // SAFETY: a stage is `STAGE_BYTES` (launch contract for the rest).
    unsafe { Work::new(a, b, (m, n, k)).one_by_one::<true>(c) };
}

/// # Safety
/// - As for [`matmul_tensor_mma_tiled`], with `RING_BYTES` of dynamic shared memory.
#[kernel(launch_bounds(THREADS, 1), min_compute_capability = 80)]
pub unsafe fn matmul_tensor_mma_pipelined(
    a: *const bf16,
    b: *const bf16,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    // SAFETY: the ring is `RING_BYTES` (launch contract for the rest).
    unsafe { Work::new(a, b, (m, n, k)).pipelined::<STAGES, { STAGES - 2 }>(c) };
}

/// Threads per block of `wgmma`.
pub const WGMMA_THREADS: u32 = warpgroups::THREADS;
/// Dynamic shared memory of `wgmma`, bytes.
pub const WGMMA_BYTES: u32 = warpgroups::SHARED_BYTES;

/// # Safety
/// - grid: 1-D, one block per `ROWS` x `COLUMNS` tile of C
/// - block: `WGMMA_THREADS` threads; `WGMMA_BYTES` of dynamic shared memory
/// - lengths: `a` and `b` maps of matrices of `k` columns of bf16, `m` and `n` rows, in boxes of `STEPS` x `ROWS` and
///   `STEPS` x `COLUMNS` elements with a swizzle of 128 bytes; `c` valid for `m * n` f32
/// - alignment: 8 divides `k`
/// - aliasing: `c` overlaps neither
#[kernel(launch_bounds(WGMMA_THREADS, 1), min_compute_capability = 90a)]
pub unsafe fn matmul_tensor_wgmma(a: TensorMap, b: TensorMap, c: *mut f32, m: u32, n: u32, k: u32) {
    let _ = (a, b);
    let maps = (
        tensor_copy::parameter!(matmul_tensor_wgmma, 0),
        tensor_copy::parameter!(matmul_tensor_wgmma, 1),
    );
    // SAFETY: the maps, the block and its shared memory are those of `product` (launch contract for the rest).
    unsafe { warpgroups::product(maps, c, (m, n, k)) };
}

/// Dynamic shared memory of `wgmma_persistent` and `wgmma_multicast`, bytes.
pub const PERSISTENT_BYTES: u32 = persistent::SHARED_BYTES;
/// Columns of the box of C that those store.
pub const STORED_COLUMNS: u32 = persistent::STORED_COLUMNS;
/// Rows of that box.
pub const STORED_ROWS: u32 = persistent::STORED_ROWS;
/// Blocks of a cluster of `wgmma_multicast`.
pub const CLUSTER: u32 = 2;

/// # Safety
/// - grid: 1-D, any number of blocks
/// - block: `WGMMA_THREADS` threads; `PERSISTENT_BYTES` of dynamic shared memory
/// - lengths: `a` and `b` as for [`matmul_tensor_wgmma`]; `c` a map of `m` rows of `n` f32, in boxes of `STORED_COLUMNS` x
///   `STORED_ROWS` elements with a swizzle of 128 bytes
/// - alignment: 8 divides `k`, 4 divides `n`
/// - aliasing: `c` overlaps neither
#[kernel(launch_bounds(WGMMA_THREADS, 1), min_compute_capability = 90a)]
pub unsafe fn matmul_tensor_wgmma_persistent(
    a: TensorMap,
    b: TensorMap,
    c: TensorMap,
    m: u32,
    n: u32,
    k: u32,
) {
    let _ = (a, b, c);
    let maps = [
        tensor_copy::parameter!(matmul_tensor_wgmma_persistent, 0),
        tensor_copy::parameter!(matmul_tensor_wgmma_persistent, 1),
        tensor_copy::parameter!(matmul_tensor_wgmma_persistent, 2),
    ];
    // SAFETY: the maps, the block and its shared memory are those of `product` (launch contract for the rest).
    unsafe { persistent::product::<1>(maps, (m, n, k)) };
}

/// # Safety
/// - As for [`matmul_tensor_wgmma_persistent`], with whole clusters of blocks, and boxes of B of `STEPS` x `COLUMNS /
///   CLUSTER` elements.
#[kernel(launch_bounds(WGMMA_THREADS, 1), cluster(CLUSTER), min_compute_capability = 90a)]
pub unsafe fn matmul_tensor_wgmma_multicast(
    a: TensorMap,
    b: TensorMap,
    c: TensorMap,
    m: u32,
    n: u32,
    k: u32,
) {
    let _ = (a, b, c);
    let maps = [
        tensor_copy::parameter!(matmul_tensor_wgmma_multicast, 0),
        tensor_copy::parameter!(matmul_tensor_wgmma_multicast, 1),
        tensor_copy::parameter!(matmul_tensor_wgmma_multicast, 2),
    ];
    // SAFETY: as in `matmul_tensor_wgmma_persistent`; the cluster has `CLUSTER` blocks.
    unsafe { persistent::product::<CLUSTER>(maps, (m, n, k)) };
}
