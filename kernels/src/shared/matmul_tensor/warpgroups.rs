//! The product by warpgroups: one copies tiles, two multiply them.

use super::tiles::{COLUMNS, ROWS, STAGE_BYTES, STEPS, first_of_block, store_16x8};
use cuda_std::mbarrier::{self, Barrier};
use cuda_std::mma::C;
use cuda_std::prelude::*;
use cuda_std::ptr::shared_address;
use cuda_std::tensor_copy::{self, TensorMap};
use cuda_std::wgmma::{self, Descriptor};

/// Tiles in shared memory at once.
pub const STAGES: u32 = 4;
/// Threads of a warpgroup.
pub const GROUP: u32 = 128;
/// Threads of a block: a warpgroup that copies, and two that multiply.
pub const THREADS: u32 = 3 * GROUP;
/// Warps that multiply.
pub const MULTIPLYING_WARPS: u32 = 8;
/// Alignment of stages, so that the swizzle begins with a row of its own.
const ALIGNMENT: u32 = 1024;
/// Bytes of a row of a tile.
pub const PITCH: u32 = STEPS * 2;
/// Dynamic shared memory of a block: the stages, two barriers for each, and what aligns them.
pub const SHARED_BYTES: u32 = STAGES * (STAGE_BYTES + 16) + ALIGNMENT;

/// A ring of stages: tile `t` goes through stage `t % STAGES`.
#[derive(Clone, Copy)]
pub struct Ring {
    pub stages: *mut u8,
    /// Barriers of full stages, one each, and behind them those of empty stages.
    pub barriers: *mut Barrier,
}

impl Ring {
    /// Memory and barriers of the stage of a tile, and the parity of the stage's phase.
    #[inline(always)]
    pub fn of(self, tile: u32) -> (*mut u8, *mut Barrier, *mut Barrier, u32) {
        let stage = tile % STAGES;
        let full = self.barriers.wrapping_add(stage as usize);
        let empty = self.barriers.wrapping_add((STAGES + stage) as usize);
        let memory = self.stages.wrapping_add((stage * STAGE_BYTES) as usize);
        (memory, full, empty, tile / STAGES % 2)
    }
}

/// The block's dynamic shared memory, from a multiple of `ALIGNMENT` on.
#[inline(always)]
pub fn aligned_memory() -> *mut u8 {
    let memory = shared::dynamic_shared_mem::<u8>();
    // SAFETY: it is shared memory.
    let beyond = unsafe { shared_address(memory) } % ALIGNMENT;
    memory.wrapping_add(((ALIGNMENT - beyond) % ALIGNMENT) as usize)
}

/// The whole product of a block.
///
/// # Safety
/// - As for `matmul_tensor_wgmma`.
#[inline(always)]
pub unsafe fn product(
    (a, b): (*const TensorMap, *const TensorMap),
    c: *mut f32,
    (m, n, k): (u32, u32, u32),
) {
    let first = first_of_block(thread::block_idx_x(), (m, n));
    let thread = thread::thread_idx_x();
    let stages = aligned_memory();
    let barriers = stages.wrapping_add((STAGES * STAGE_BYTES) as usize).cast::<Barrier>();
    let ring = Ring { stages, barriers };
    let tiles = k.div_ceil(STEPS);
    // SAFETY: one thread makes the barriers before the block's barrier, all others use them after it.
    unsafe {
        if thread == 0 {
            for stage in 0..STAGES {
                let (_, full, empty, _) = ring.of(stage);
                mbarrier::init(full, 1);
                mbarrier::init(empty, MULTIPLYING_WARPS);
            }
            mbarrier::fence_init();
        }
        thread::sync_threads();
        if thread < GROUP {
            wgmma::release_registers::<40>();
            if thread == 0 {
                copy((a, b), ring, first, tiles);
            }
        } else {
            wgmma::acquire_registers::<232>();
            multiply(ring, c, (m, n), first, tiles);
        }
    }
}

/// Fills the stages, each as soon as all warps that multiply have left it.
///
/// # Safety
/// - As for [`product`].
/// - One thread calls this.
#[inline(always)]
unsafe fn copy(
    (a, b): (*const TensorMap, *const TensorMap),
    ring: Ring,
    (first_row, first_column): (u32, u32),
    tiles: u32,
) {
    for tile in 0..tiles {
        let (memory, full, empty, parity) = ring.of(tile);
        let step = (tile * STEPS).cast_signed();
        // SAFETY: the stage is empty, and its barrier expects the bytes of both boxes, also where they are beyond the
        // matrices. The first phase of `empty` has never begun, and the one before it counts as complete.
        unsafe {
            mbarrier::wait(empty, parity ^ 1);
            mbarrier::arrive_expect(full, STAGE_BYTES);
            let columns = memory.wrapping_add((ROWS * PITCH) as usize);
            tensor_copy::load_2d(memory, a, [step, first_row.cast_signed()], full);
            tensor_copy::load_2d(columns, b, [step, first_column.cast_signed()], full);
        }
    }
}

/// Multiplies the tiles, 64 rows per warpgroup, and stores the sums.
///
/// # Safety
/// - As for [`product`].
/// - Both warpgroups that multiply call this together.
#[inline(always)]
unsafe fn multiply(
    ring: Ring,
    c: *mut f32,
    size: (u32, u32),
    (first_row, first_column): (u32, u32),
    tiles: u32,
) {
    let thread = thread::thread_idx_x();
    let group = thread / GROUP - 1;
    let mut sums = [0.0_f32; (COLUMNS / 2) as usize];
    for tile in 0..tiles {
        let (memory, full, _, parity) = ring.of(tile);
        // SAFETY: the stage is full until this warp has arrived at its barrier `empty`, which it does when the products have
        // ended; a step of 16 elements is 32 bytes further in each row.
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
            // The products of the tile before have ended: its stage is free.
            wgmma::wait_group::<1>();
            if tile > 0 && thread.is_multiple_of(32) {
                let (_, _, empty, _) = ring.of(tile - 1);
                mbarrier::arrive(empty);
            }
        }
    }
    // SAFETY: all products end before the sums are read; each thread stores its own.
    unsafe {
        wgmma::wait_group::<0>();
        let row = first_row + group * 64 + thread / 32 % 4 * 16;
        macro_rules! store {
            ($($i:literal)*) => { $(
                let part = [sums[4 * $i], sums[4 * $i + 1], sums[4 * $i + 2], sums[4 * $i + 3]];
                store_16x8(c, size, (row, first_column + 8 * $i), C(part));
            )* };
        }
        store!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        store!(16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    }
}
