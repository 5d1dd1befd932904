//! Kernels for `cuda_std::cluster`. Launched with clusters of 2 blocks of [`THREADS`] threads.

use core::mem::MaybeUninit;
use cuda_std::{address_space, cluster, kernel, thread};

use super::THREADS;

/// Stores what the other block of the cluster holds in shared memory.
#[kernel(cluster(2), launch_bounds(THREADS))]
pub unsafe fn cluster_exchange(source: *const u32, target: *mut u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; THREADS as usize]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    let tid = thread::thread_idx_x() as usize;
    let index = thread::index_1d() as usize;
    // SAFETY: the launch contract of the module; the other block's tile is read after all threads of
    // the cluster have written theirs, and no block ends before it has been read.
    unsafe {
        *tile.add(tid) = *source.add(index);
        cluster::sync();
        let other = cluster::map_shared_rank(tile, cluster::rank() ^ 1);
        *target.add(index) = *other.add(tid);
        cluster::sync();
    }
}

/// Stores the cluster's registers, packed.
#[kernel(cluster(2))]
pub unsafe fn cluster_registers(target: *mut u32) {
    let index = thread::index_1d() as usize;
    let sums = cluster::block_idx().element_sum()
        + 10 * cluster::dim().element_sum()
        + 1000 * cluster::cluster_idx().element_sum()
        + 100_000 * cluster::grid_dim().element_sum();
    cluster::arrive_relaxed();
    cluster::wait();
    // SAFETY: the target has as many elements as the launch has threads.
    unsafe { *target.add(index) = sums * 100 + cluster::rank() * 10 + cluster::size() };
}

/// Every thread adds its element to a number in the other block's shared memory.
#[kernel(cluster(2), launch_bounds(THREADS))]
pub unsafe fn cluster_add(source: *const u32, target: *mut u32) {
    #[address_space(shared)]
    static mut SUM: MaybeUninit<u32> = MaybeUninit::uninit();
    let sum = (&raw mut SUM).cast::<u32>();
    let is_first = thread::thread_idx_x() == 0;
    // SAFETY: the launch contract of the module; the sum is zero before any thread of the cluster adds, and read after
    // all have added.
    unsafe {
        if is_first {
            *sum = 0;
        }
        cluster::sync();
        cluster::add_u32(sum, cluster::rank() ^ 1, *source.add(thread::index_1d() as usize));
        cluster::sync();
        if is_first {
            *target.add(thread::block_idx_x() as usize) = *sum;
        }
    }
}
