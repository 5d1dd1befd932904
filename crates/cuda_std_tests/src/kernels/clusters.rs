//! Kernels for `cuda_std::cluster`. Launched with clusters of 2 blocks of [`THREADS`] threads.

use core::mem::MaybeUninit;
use cuda_std::mbarrier::{self, Barrier};
use cuda_std::vector::U32x4;
use cuda_std::{address_space, bulk_copy, cluster, kernel, thread};

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

/// Every thread stores its element in the other block, doubles it there, has it copied back, and adds it to the target.
#[kernel(cluster(2), launch_bounds(THREADS))]
pub unsafe fn cluster_asynchronous(source: *const u32, target: *mut u32) {
    #[address_space(shared)]
    static mut TILES: MaybeUninit<[U32x4; THREADS as usize / 2]> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut BARRIERS: MaybeUninit<[Barrier; 2]> = MaybeUninit::uninit();
    let (first, barrier) = ((&raw mut TILES).cast::<u32>(), (&raw mut BARRIERS).cast::<Barrier>());
    let (tid, other) = (thread::thread_idx_x(), cluster::rank() ^ 1);
    let bytes = 4 * THREADS;
    // SAFETY: the launch contract of the module; barriers expect the bytes of their phase before the block's first copies,
    // and no block ends while the other copies from or to it.
    unsafe {
        let (second, returned) = (first.add(THREADS as usize), barrier.add(1));
        if tid == 0 {
            mbarrier::init(barrier, 1 + THREADS);
            mbarrier::init(returned, 1);
            mbarrier::fence_init();
            mbarrier::arrive_expect(barrier, bytes);
            mbarrier::arrive_expect(returned, bytes);
        }
        *first.add(tid as usize) = 0;
        bulk_copy::fence_shared();
        cluster::sync();
        let element = *source.add(thread::index_1d() as usize);
        if tid % 2 == 0 {
            cluster::store_async_u32(first.add(tid as usize), other, element, barrier);
        } else {
            cluster::add_async_u32(first.add(tid as usize), other, element, barrier);
        }
        mbarrier::arrive_at(barrier, other);
        mbarrier::wait_for_cluster(barrier, 0);
        bulk_copy::fence_shared();
        thread::sync_threads();
        if tid == 0 {
            bulk_copy::shared_to_rank(second, first, bytes, returned, other);
        }
        mbarrier::wait(returned, 0);
        if tid == 0 {
            let all = target.add((thread::block_idx_x() * THREADS) as usize);
            bulk_copy::add_to_global(all, second, bytes);
            bulk_copy::commit_group();
            bulk_copy::wait_group::<0>();
        }
        cluster::sync();
    }
}
