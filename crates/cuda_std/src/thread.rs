//! Place of a thread in its block and grid, block-wide barriers, and memory fences.
//!
//! x is the fastest axis: threads with consecutive `thread_idx_x` are neighbours in a warp.
//!
//! ```no_run
//! use cuda_std::thread;
//! let i = thread::index_1d();
//! thread::sync_threads();
//! ```

use glam::{UVec2, UVec3};

use crate::nvvm::{self, special_registers};

/// Declares functions that read a special register along each axis, and along all.
macro_rules! axes {
    ($($what:literal $register:literal: $all:ident = $x:ident $y:ident $z:ident;)*) => {
        $(
            special_registers! {
                #[doc = concat!($what, " along x. PTX: `%", $register, ".x`.")]
                $x;
                #[doc = concat!($what, " along y. PTX: `%", $register, ".y`.")]
                $y;
                #[doc = concat!($what, " along z. PTX: `%", $register, ".z`.")]
                $z;
            }

            #[doc = concat!($what, " along each axis. PTX: `%", $register, "`.")]
            #[inline(always)]
            #[must_use]
            pub fn $all() -> UVec3 {
                UVec3::new($x(), $y(), $z())
            }
        )*
    };
}

axes! {
    "The thread's index in its block" "tid": thread_idx = thread_idx_x thread_idx_y thread_idx_z;
    "The block's index in the grid" "ctaid": block_idx = block_idx_x block_idx_y block_idx_z;
    "Threads per block" "ntid": block_dim = block_dim_x block_dim_y block_dim_z;
    "Blocks in the grid" "nctaid": grid_dim = grid_dim_x grid_dim_y grid_dim_z;
}

/// The thread's index in the whole launch, whatever its dimensions: block by block in the order x,
/// y, z, and within a block thread by thread in the same order. Wraps at 2^32 threads.
#[inline(always)]
#[must_use]
pub fn index() -> u32 {
    let block =
        block_idx_x()
            .wrapping_add(grid_dim_x().wrapping_mul(
                block_idx_y().wrapping_add(grid_dim_y().wrapping_mul(block_idx_z())),
            ));
    let thread = thread_idx_x() + block_dim_x() * (thread_idx_y() + block_dim_y() * thread_idx_z());
    let threads_per_block = block_dim_x() * block_dim_y() * block_dim_z();
    block.wrapping_mul(threads_per_block).wrapping_add(thread)
}

/// The thread's x index in the grid: `block_idx_x * block_dim_x + thread_idx_x`.
/// PTX: `mad.lo.s32`. Wraps at 2^32 threads.
#[inline(always)]
#[must_use]
pub fn index_1d() -> u32 {
    block_idx_x().wrapping_mul(block_dim_x()).wrapping_add(thread_idx_x())
}

/// The thread's x and y index in the grid.
#[inline(always)]
#[must_use]
pub fn index_2d() -> UVec2 {
    UVec2::new(index_1d(), block_idx_y().wrapping_mul(block_dim_y()).wrapping_add(thread_idx_y()))
}

/// The thread's x, y and z index in the grid.
#[inline(always)]
#[must_use]
pub fn index_3d() -> UVec3 {
    index_2d().extend(block_idx_z().wrapping_mul(block_dim_z()).wrapping_add(thread_idx_z()))
}

/// Returns whether this is thread (0, 0, 0) of block (0, 0, 0).
#[inline(always)]
#[must_use]
pub fn first() -> bool {
    block_idx() == UVec3::ZERO && thread_idx() == UVec3::ZERO
}

/// Threads per warp: 32 on every NVIDIA GPU.
#[inline(always)]
#[must_use]
pub const fn warp_size() -> u32 {
    32
}

/// Waits for all threads of the block, and makes their accesses to shared and global memory before
/// the barrier visible to all of them after it. PTX: `bar.sync 0` (`__syncthreads`).
///
/// Every thread of the block that has not returned must reach the same call.
#[inline(always)]
pub fn sync_threads() {
    // SAFETY: barrier 0 exists in every block, and waiting for it touches no memory.
    unsafe { nvvm::barrier_sync_all(0) }
}

/// [`sync_threads`], and the number of threads of the block with a non-zero predicate.
/// PTX: `bar.red.popc.u32` (`__syncthreads_count`).
#[inline(always)]
pub fn sync_threads_count(predicate: u32) -> u32 {
    // SAFETY: as for `sync_threads`.
    unsafe { nvvm::barrier_count(0, predicate != 0) }
}

/// [`sync_threads`], and 1 when all threads of the block have a non-zero predicate, else 0.
/// PTX: `bar.red.and.pred` (`__syncthreads_and`).
#[inline(always)]
pub fn sync_threads_and(predicate: u32) -> u32 {
    // SAFETY: as for `sync_threads`.
    u32::from(unsafe { nvvm::barrier_and(0, predicate != 0) })
}

/// [`sync_threads`], and 1 when any thread of the block has a non-zero predicate, else 0.
/// PTX: `bar.red.or.pred` (`__syncthreads_or`).
#[inline(always)]
pub fn sync_threads_or(predicate: u32) -> u32 {
    // SAFETY: as for `sync_threads`.
    u32::from(unsafe { nvvm::barrier_or(0, predicate != 0) })
}

/// Waits at one of the block's 16 barriers until `threads` threads have arrived at it, and orders
/// memory among them as [`sync_threads`] does. PTX: `bar.sync barrier, threads`.
///
/// Barrier 0 is the one of [`sync_threads`]. Beyond rust-cuda.
///
/// # Safety
/// - `barrier` must be below 16 and `threads` a positive multiple of 32.
/// - Whole warps must call this together, and all calls that meet at one barrier must pass the same number of
///   threads.
#[inline(always)]
pub unsafe fn named_barrier(barrier: u32, threads: u32) {
    // SAFETY: the caller keeps to the barrier's rules.
    unsafe { nvvm::barrier_sync_count(barrier, threads) }
}

/// Arrives at one of the block's 16 barriers without waiting: the producer's half of a barrier at
/// which the consumers call [`named_barrier`]. PTX: `bar.arrive barrier, threads`.
///
/// Beyond rust-cuda.
///
/// # Safety
/// - As for [`named_barrier`], whose count of threads includes those that arrive here.
#[inline(always)]
pub unsafe fn named_barrier_arrive(barrier: u32, threads: u32) {
    // SAFETY: the caller keeps to the barrier's rules.
    unsafe { nvvm::barrier_arrive_count(barrier, threads) }
}

/// Orders this thread's memory accesses before the fence before those after it, as seen by the
/// threads of its block. PTX: `membar.cta` (`__threadfence_block`). Beyond rust-cuda.
#[inline(always)]
pub fn block_fence() {
    // SAFETY: a fence has no precondition.
    unsafe { nvvm::fence_block() }
}

/// As [`block_fence`], as seen by all threads of the grid. PTX: `membar.gl` (`__threadfence`),
/// because PTX has no scope between the block (or cluster) and the device.
#[inline(always)]
pub fn grid_fence() {
    device_fence();
}

/// As [`block_fence`], as seen by all threads of the device. PTX: `membar.gl` (`__threadfence`).
#[inline(always)]
pub fn device_fence() {
    // SAFETY: a fence has no precondition.
    unsafe { nvvm::fence_device() }
}

/// As [`block_fence`], as seen by all devices and the host. PTX: `membar.sys`
/// (`__threadfence_system`).
#[inline(always)]
pub fn system_fence() {
    // SAFETY: a fence has no precondition.
    unsafe { nvvm::fence_system() }
}

/// Suspends the thread for about the given time: between none and twice as long.
/// PTX: `nanosleep.u32`, at most one millisecond.
#[inline(always)]
pub fn nanosleep(nanos: u32) {
    // SAFETY: sleeping has no precondition.
    unsafe { nvvm::nanosleep(nanos) }
}
