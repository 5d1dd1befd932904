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
