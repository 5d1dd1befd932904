use core::mem::MaybeUninit;
use cuda_std::mbarrier::Barrier;
use cuda_std::vector::{F32x2, F32x4};
use cuda_std::{address_space, async_copy, bulk_copy, kernel, mbarrier, thread};

use super::THREADS;

/// Declares kernels that reverse the block's elements through shared memory, filled by a copy.
macro_rules! reversals {
    ($($name:ident: $kind:ty, $copy:ident;)*) => {
        $(
            #[kernel(min_compute_capability = 80)]
            pub unsafe fn $name(source: *const $kind, target: *mut $kind) {
                #[address_space(shared)]
                static mut TILE: MaybeUninit<[$kind; THREADS as usize]> = MaybeUninit::uninit();
                let tile = (&raw mut TILE).cast::<$kind>();
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module; a thread waits for its own copy, and
                // the barrier makes all copies visible.
                unsafe {
                    async_copy::$copy(tile.add(tid), source.add(tid));
                    async_copy::commit_group();
                    async_copy::wait_group::<0>();
                    thread::sync_threads();
                    *target.add(tid) = *tile.add(THREADS as usize - 1 - tid);
                }
            }
        )*
    };
}

reversals! {
    async_copy_4: f32, copy_4;
    async_copy_8: F32x2, copy_8;
    async_copy_16: F32x4, copy_16;
    async_copy_16_bypass: F32x4, copy_16_bypass;
}

/// Declares kernels that copy only the first elements, and zeros behind them.
macro_rules! fills {
    ($($name:ident: $kind:ty, $copy:ident;)*) => {
        $(
            #[kernel(min_compute_capability = 80)]
            pub unsafe fn $name(source: *const $kind, target: *mut $kind, count: u32) {
                #[address_space(shared)]
                static mut TILE: MaybeUninit<[$kind; THREADS as usize]> = MaybeUninit::uninit();
                let tile = (&raw mut TILE).cast::<$kind>();
                let tid = thread::thread_idx_x();
                let bytes = if tid < count { size_of::<$kind>() as u32 } else { 0 };
                let tid = tid as usize;
                // SAFETY: the launch contract of the module; a thread reads what it copied itself.
                unsafe {
                    async_copy::$copy(tile.add(tid), source.add(tid), bytes);
                    async_copy::wait_all();
                    *target.add(tid) = *tile.add(tid);
                }
            }
        )*
    };
}

fills! {
    async_fill_4: f32, copy_4_zero_fill;
    async_fill_8: F32x2, copy_8_zero_fill;
    async_fill_16: F32x4, copy_16_zero_fill;
    async_fill_16_bypass: F32x4, copy_16_bypass_zero_fill;
}

/// Sums the elements `tid, tid + 64, ..` of four tiles, of which the next is copied while the last
/// is summed.
#[kernel(min_compute_capability = 80)]
pub unsafe fn async_pipeline(source: *const f32, target: *mut f32) {
    const TILES: usize = 4;
    #[address_space(shared)]
    static mut TILES_OF_TWO: MaybeUninit<[[f32; THREADS as usize]; 2]> = MaybeUninit::uninit();
    let tiles = (&raw mut TILES_OF_TWO).cast::<f32>();
    let tid = thread::thread_idx_x() as usize;
    let block = THREADS as usize;
    let mut sum = 0.0;
    // SAFETY: the source has four elements for each thread; a thread reads the element that its
    // right neighbour copied, between two barriers.
    unsafe {
        async_copy::copy_4(tiles.add(tid), source.add(tid));
        async_copy::commit_group();
        for tile in 0..TILES {
            if tile + 1 < TILES {
                let slot = (tile + 1) % 2 * block;
                async_copy::copy_4(tiles.add(slot + tid), source.add((tile + 1) * block + tid));
            }
            async_copy::commit_group();
            async_copy::wait_group::<1>();
            thread::sync_threads();
            sum += *tiles.add(tile % 2 * block + (tid + 1) % block);
            thread::sync_threads();
        }
        *target.add(tid) = sum;
    }
}

/// Reverses the block's elements: one thread copies them in by the bulk engine, and the reversed
/// ones out.
#[kernel(min_compute_capability = 90)]
pub unsafe fn bulk_copies(source: *const u32, target: *mut u32) {
    #[repr(C, align(16))]
    struct Tile([u32; THREADS as usize]);
    #[address_space(shared)]
    static mut INPUT: MaybeUninit<Tile> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut OUTPUT: MaybeUninit<Tile> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut ARRIVED: MaybeUninit<Barrier> = MaybeUninit::uninit();
    let input = (&raw mut INPUT).cast::<u32>();
    let output = (&raw mut OUTPUT).cast::<u32>();
    let arrived = (&raw mut ARRIVED).cast::<Barrier>();
    let tid = thread::thread_idx_x() as usize;
    let bytes = THREADS * 4;
    // SAFETY: the launch contract of the module, with buffers aligned to 16 bytes; the barrier is
    // made before anyone waits on it, and each buffer is complete before it is read.
    unsafe {
        if tid == 0 {
            mbarrier::init(arrived, 1);
            mbarrier::fence_init();
            bulk_copy::prefetch_l2(source, bytes);
        }
        thread::sync_threads();
        if tid == 0 {
            mbarrier::arrive_expect(arrived, bytes);
            bulk_copy::global_to_shared(input, source, bytes, arrived);
        }
        mbarrier::wait(arrived, 0);
        *output.add(tid) = *input.add(THREADS as usize - 1 - tid);
        bulk_copy::fence_shared();
        thread::sync_threads();
        if tid == 0 {
            mbarrier::invalidate(arrived);
            bulk_copy::shared_to_global(target, output, bytes);
            bulk_copy::commit_group();
            bulk_copy::wait_group_read::<0>();
            bulk_copy::wait_group::<0>();
        }
    }
}

/// Every thread arrives on a barrier in each of two phases, and reads what its neighbour stored
/// before.
#[kernel(min_compute_capability = 90)]
pub unsafe fn mbarrier_phases(source: *const u32, exchange: *mut u32, target: *mut u32) {
    #[address_space(shared)]
    static mut BARRIER: MaybeUninit<Barrier> = MaybeUninit::uninit();
    let barrier = (&raw mut BARRIER).cast::<Barrier>();
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; each phase separates stores from loads.
    unsafe {
        if tid == 0 {
            mbarrier::init(barrier, THREADS);
        }
        thread::sync_threads();
        *exchange.add(tid) = *source.add(tid) + 1;
        if tid == 1 {
            mbarrier::expect(barrier, 0);
        }
        mbarrier::arrive(barrier);
        mbarrier::wait(barrier, 0);
        let value = *exchange.add(tid ^ 32);
        mbarrier::arrive(barrier);
        while !mbarrier::try_wait(barrier, 1) {}
        *exchange.add(tid) = 7;
        *target.add(tid) = value;
    }
}
