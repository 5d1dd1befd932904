//! The product by blocks that stay: each computes tiles of C until none is left, and the Tensor Memory Accelerator stores them.

use super::tiles::{COLUMNS, ROWS, STAGE_BYTES, STEPS, first_of_tile};
use super::warpgroups::{GROUP, MULTIPLYING_WARPS, PITCH, Ring, STAGES, aligned_memory};
use cuda_std::mbarrier;
use cuda_std::prelude::*;
use cuda_std::tensor_copy::{self, TensorMap};
use cuda_std::vector::F32x2;
use cuda_std::warp::{FULL_MASK, sync_warp};
use cuda_std::wgmma::{self, Descriptor};
use cuda_std::{bulk_copy, cluster};

/// Columns of C that a warp stores at a time: rows of 128 bytes.
pub const STORED_COLUMNS: u32 = 32;
/// Rows of C that a warp stores at a time.
pub const STORED_ROWS: u32 = 16;
/// Bytes of what a warp stores at a time.
const STORED_BYTES: u32 = STORED_ROWS * STORED_COLUMNS * 4;
/// Two such places for each warp, so that it fills one while the other is read.
const STORES_BYTES: u32 = MULTIPLYING_WARPS * 2 * STORED_BYTES;
/// Dynamic shared memory of a block.
pub const SHARED_BYTES: u32 = super::warpgroups::SHARED_BYTES + STORES_BYTES;

/// The maps of A, B and C.
pub type Maps = [*const TensorMap; 3];

/// The tiles of a block, or those of the blocks of a cluster, one below the other.
#[derive(Clone, Copy)]
struct Tiles<const CLUSTER: u32> {
    size: (u32, u32),
    steps: u32,
    rank: u32,
}

impl<const CLUSTER: u32> Tiles<CLUSTER> {
    /// The first and the last tile of the block, and how far apart its tiles are.
    fn range(self) -> (u32, u32, u32) {
        let (m, n) = self.size;
        let tiles = m.div_ceil(ROWS * CLUSTER) * n.div_ceil(COLUMNS);
        (thread::block_idx_x() / CLUSTER, tiles, thread::grid_dim_x() / CLUSTER)
    }

    /// The first row and column of the block's part of a tile.
    fn first_of(self, tile: u32) -> (u32, u32) {
        let (row, column) = match CLUSTER {
            1 => first_of_tile::<ROWS>(tile, self.size),
            _ => first_of_tile::<{ 2 * ROWS }>(tile, self.size),
        };
        (row + self.rank * ROWS, column)
    }
}

/// All tiles of a block, or of a cluster of two that share the tiles of B.
///
/// # Safety
/// - As for `matmul_tensor_wgmma_persistent` or `matmul_tensor_wgmma_multicast`.
#[inline(always)]
pub unsafe fn product<const CLUSTER: u32>(maps: Maps, (m, n, k): (u32, u32, u32)) {
    let thread = thread::thread_idx_x();
    let memory = aligned_memory();
    let stores = memory.wrapping_add((STAGES * STAGE_BYTES) as usize);
    let barriers = stores.wrapping_add(STORES_BYTES as usize).cast();
    let ring = Ring { stages: memory, barriers };
    let rank = if CLUSTER > 1 { cluster::rank() } else { 0 };
    let tiles = Tiles::<CLUSTER> { size: (m, n), steps: k.div_ceil(STEPS), rank };
    // SAFETY: one thread makes the barriers before that of the block or cluster, all others use them after it. No block of
    // a cluster ends while the other may still copy to it or arrive there.
    unsafe {
        if thread == 0 {
            for stage in 0..STAGES {
                let (_, full, empty, _) = ring.of(stage);
                mbarrier::init(full, 1);
                mbarrier::init(empty, MULTIPLYING_WARPS * CLUSTER);
            }
            mbarrier::fence_init();
        }
        if CLUSTER > 1 {
            cluster::sync();
        } else {
            thread::sync_threads();
        }
        if thread < GROUP {
            wgmma::release_registers::<40>();
            if thread == 0 {
                copy(maps, ring, tiles);
            }
        } else {
            wgmma::acquire_registers::<232>();
            multiply(maps[2], ring, tiles, stores);
        }
        if CLUSTER > 1 {
            sync_warp(FULL_MASK);
            cluster::sync();
        }
    }
}

/// Fills the stages for all tiles, one after the other.
///
/// # Safety
/// - As for [`product`].
/// - One thread calls this.
#[inline(always)]
unsafe fn copy<const CLUSTER: u32>([a, b, _]: Maps, ring: Ring, tiles: Tiles<CLUSTER>) {
    let (mut tile, last, apart) = tiles.range();
    let mut staged = 0;
    while tile < last {
        let (row, column) = tiles.first_of(tile);
        for step in 0..tiles.steps {
            let (memory, full, empty, parity) = ring.of(staged);
            let step = (step * STEPS).cast_signed();
            // SAFETY: the stage is empty in all blocks to which the copies go, and each block's barrier expects the bytes of
            // both boxes. Of a shared tile of B, each block copies one half to both.
            unsafe {
                mbarrier::wait(empty, parity ^ 1);
                mbarrier::arrive_expect(full, STAGE_BYTES);
                tensor_copy::load_2d(memory, a, [step, row.cast_signed()], full);
                let part = tiles.rank * (COLUMNS / CLUSTER);
                let right = memory.wrapping_add(((ROWS + part) * PITCH) as usize);
                let place = [step, (column + part).cast_signed()];
                if CLUSTER > 1 {
                    tensor_copy::multicast_2d(right, b, place, full, (1 << CLUSTER) - 1);
                } else {
                    tensor_copy::load_2d(right, b, place, full);
                }
            }
            staged += 1;
        }
        tile += apart;
    }
}

/// Multiplies all tiles, 64 rows per warpgroup; the sums of one are stored while the next is copied and multiplied.
///
/// # Safety
/// - As for [`product`].
/// - Both warpgroups that multiply call this together.
#[inline(always)]
unsafe fn multiply<const CLUSTER: u32>(
    c: *const TensorMap,
    ring: Ring,
    tiles: Tiles<CLUSTER>,
    stores: *mut u8,
) {
    let thread = thread::thread_idx_x();
    let (group, warp, lane) = (thread / GROUP - 1, thread / 32 - GROUP / 32, thread % 32);
    let mine = stores.wrapping_add((warp * 2 * STORED_BYTES) as usize);
    // The place of a lane's first two sums among 8 rows of 128 bytes: the chunk of 16 bytes is swizzled.
    let (row_of_lane, chunk) = (lane / 4, lane % 4 / 2);
    let place = row_of_lane * 128 + (chunk ^ row_of_lane) * 16 + lane % 2 * 8;
    let leave = |staged: u32| {
        let (_, _, empty, _) = ring.of(staged);
        // SAFETY: the products of the stage have ended. Each warp arrives once at the barrier of every block.
        unsafe {
            if CLUSTER == 1 && lane == 0 {
                mbarrier::arrive(empty);
            }
            if CLUSTER > 1 && lane < CLUSTER {
                mbarrier::arrive_at(empty, lane);
            }
        }
    };
    let (mut tile, last, apart) = tiles.range();
    let mut staged = 0;
    while tile < last {
        let (row, column) = tiles.first_of(tile);
        let mut sums = [0.0_f32; (COLUMNS / 2) as usize];
        for step in 0..tiles.steps {
            let (memory, full, _, parity) = ring.of(staged);
            // SAFETY: the stage is full until this warp has left it, which it does when the products have ended; a step of
            // 16 elements is 32 bytes further in each row.
            unsafe {
                mbarrier::wait(full, parity);
                let rows = memory.wrapping_add((group * 64 * PITCH) as usize);
                let left = Descriptor::swizzled_128(rows);
                let right = Descriptor::swizzled_128(memory.wrapping_add((ROWS * PITCH) as usize));
                wgmma::fence();
                macro_rules! steps {
                    ($($bytes:literal)*) => { $(
                        wgmma::m64n256k16_f32_bf16::<false, false>(
                            &mut sums,
                            left.advanced($bytes),
                            right.advanced($bytes),
                        );
                    )* };
                }
                steps!(0 32 64 96);
                wgmma::commit_group();
                wgmma::wait_group::<1>();
            }
            if step > 0 {
                leave(staged - 1);
            }
            staged += 1;
        }
        // SAFETY: all products end before the sums are read. Each warp has two places; it fills one when the store from there
        // before the last has read it, and all lanes have written before the next begins.
        unsafe {
            wgmma::wait_group::<0>();
            leave(staged - 1);
            macro_rules! store {
                ($($i:literal)*) => { $(
                    let stored = mine.wrapping_add(($i % 2 * STORED_BYTES) as usize);
                    if lane == 0 {
                        bulk_copy::wait_group_read::<1>();
                    }
                    sync_warp(FULL_MASK);
                    macro_rules! part {
                        ($j:literal) => {
                            let at = (place ^ (32 * $j)) as usize;
                            let upper = F32x2::new(sums[16 * $i + 4 * $j], sums[16 * $i + 4 * $j + 1]);
                            let lower = F32x2::new(sums[16 * $i + 4 * $j + 2], sums[16 * $i + 4 * $j + 3]);
                            *stored.add(at).cast::<F32x2>() = upper;
                            *stored.add(at + 1024).cast::<F32x2>() = lower;
                        };
                    }
                    part!(0);
                    part!(1);
                    part!(2);
                    part!(3);
                    bulk_copy::fence_shared();
                    sync_warp(FULL_MASK);
                    if lane == 0 {
                        let first = [column + $i * STORED_COLUMNS, row + warp * STORED_ROWS];
                        tensor_copy::store_2d(c, first.map(u32::cast_signed), stored);
                        bulk_copy::commit_group();
                    }
                )* };
            }
            store!(0 1 2 3 4 5 6 7);
        }
        tile += apart;
    }
    if lane == 0 {
        bulk_copy::wait_group::<0>();
    }
}
