//! Reductions, scans, exchanges, sorts and histograms of a block: CUB's block-level functions. Beyond rust-cuda.
//!
//! The block is a value, [`Block`], whose number of threads the compiler knows; each thread may bring several items, in
//! an array that stays in registers. What a function needs of shared memory is a type, which the kernel puts there:
//!
//! ```no_run
//! use core::mem::MaybeUninit;
//! use cuda_std::block::{Block, Partials};
//! use cuda_std::operator::Add;
//! use cuda_std::prelude::*;
//!
//! /// Adds up 256 elements for each block.
//! #[kernel(launch_bounds(256))]
//! pub unsafe fn sums(x: *const f32, sums: *mut f32) {
//!     #[address_space(shared)]
//!     static mut PARTIALS: MaybeUninit<Partials<f32>> = MaybeUninit::uninit();
//!     let block = Block::<256>::new();
//!     // SAFETY: each thread of the 256 comes here, once; `x` has 256 elements for each block, `sums` one.
//!     unsafe {
//!         let value = *x.add(thread::index_1d() as usize);
//!         let sum = block.reduce((&raw mut PARTIALS).cast(), value, Add);
//!         if thread::thread_idx_x() == 0 {
//!             *sums.add(thread::block_idx_x() as usize) = sum;
//!         }
//!     }
//! }
//! ```
//!
//! | CUB | here | shared memory |
//! |---|---|---|
//! | `BlockReduce` | [`Block::reduce`], [`Block::reduce_first`] | [`Partials`] |
//! | `BlockScan` | [`Block::inclusive_scan`], [`Block::exclusive_scan`], and both of items | [`Partials`] |
//! | `BlockExchange` | [`Block::blocked_to_striped`], [`Block::striped_to_blocked`], [`Block::scatter`] | [`Exchange`] |
//! | `BlockRadixSort` | [`Block::sort`], [`Block::sort_pairs`] | [`Sort`] |
//! | `BlockHistogram` | [`Block::clear_bins`], [`Block::count`] | `[u32; BINS]` |
//! | `WarpReduce`, `WarpScan`, `WarpExchange` | [`warp::Tile`](crate::warp::Tile) | |
//!
//! The orders of items are CUB's. Blocked: the thread `t` has the `ITEMS` items from `t * ITEMS` on. Striped: it has those
//! at `t`, `t + THREADS`, and so on, so that a warp loads and stores coalesced.
//!
//! Sources: CUB's documentation; Merrill and Grimshaw, "High Performance and Scalable Radix Sorting" (ranks of digits);
//! Sengupta, Harris and Garland, "Efficient Parallel Scan Algorithms for GPUs".

mod exchange;
mod sort;

pub use exchange::Exchange;
pub use sort::{Key, Sort};

use crate::atomic::BlockAtomicU32;
use crate::operator::Operator;
use crate::thread;
use crate::warp::{Tile, WARP_SIZE, WarpShuffleValue, lane_id};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;

/// Lanes of a warp, as the length of an array.
const LANES: usize = WARP_SIZE as usize;

/// The whole block, of `THREADS` threads in x: a multiple of 32 up to 1024.
///
/// Another number does not compile:
/// ```compile_fail,E0080
/// let block = cuda_std::block::Block::<100>::new();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Block<const THREADS: usize>(());

/// Shared memory for a value of each warp.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub struct Partials<T: Copy>([MaybeUninit<T>; LANES]);

/// Combines the items of a thread in their order.
#[inline(always)]
pub fn fold<T: Copy, const ITEMS: usize>(items: &[T; ITEMS], op: impl Operator<T>) -> T {
    const { assert!(ITEMS > 0, "a thread has at least one item") };
    let mut all = items[0];
    for item in &items[1..] {
        all = op.combine(all, *item);
    }
    all
}

impl<const THREADS: usize> Default for Block<THREADS> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl<const THREADS: usize> Block<THREADS> {
    const WARPS: usize = THREADS / LANES;

    /// The block of this thread.
    #[inline(always)]
    #[must_use]
    pub fn new() -> Self {
        const {
            assert!(
                THREADS > 0 && THREADS <= 1024 && THREADS.is_multiple_of(LANES),
                "a block has a multiple of 32 threads, up to 1024"
            );
        }
        Self(())
    }

    /// The thread in its block.
    #[inline(always)]
    #[must_use]
    pub fn rank(self) -> usize {
        thread::thread_idx_x() as usize
    }

    #[inline(always)]
    fn warp(self) -> usize {
        self.rank() / LANES
    }

    /// Waits for all threads of the block and orders their memory accesses. PTX: `bar.sync 0`.
    ///
    /// # Safety
    /// - Block: `THREADS` threads in x, 1 in y and z, of which none has returned.
    /// - Lanes: all threads of the block come to this same call.
    #[inline(always)]
    pub unsafe fn sync(self) {
        thread::sync_threads();
    }

    /// Combines a value of each thread in the order of the threads: the result is in every thread.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    /// - Aliasing: between the barrier before this call and the one after it, nobody else accesses `shared`, which is in
    ///   the block's shared memory.
    #[inline(always)]
    pub unsafe fn reduce<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        value: T,
        op: impl Operator<T>,
    ) -> T {
        // SAFETY: the caller's contract.
        unsafe {
            let of_warp = Tile::<WARP_SIZE>::new().reduce_in_order(value, op);
            if lane_id() == 0 {
                put(shared, self.warp(), of_warp);
            }
            self.sync();
            self.across_warps(shared, Self::WARPS, op).1
        }
    }

    /// [`Self::reduce`] of the first `valid` threads, such as those of a partial tile: nothing of none.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    /// - Lanes: `valid` is the same in all threads.
    #[inline(always)]
    pub unsafe fn reduce_first<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        value: T,
        valid: usize,
        op: impl Operator<T>,
    ) -> Option<T> {
        let valid = valid.min(THREADS);
        let of_this_warp = valid.saturating_sub(self.warp() * LANES).min(LANES);
        // SAFETY: the caller's contract.
        unsafe {
            let tile = Tile::<WARP_SIZE>::new();
            let of_warp = tile.reduce_first(value, of_this_warp as u32, op);
            if lane_id() == 0 && of_this_warp > 0 {
                put(shared, self.warp(), of_warp);
            }
            self.sync();
            (valid > 0).then(|| self.across_warps(shared, valid.div_ceil(LANES), op).1)
        }
    }

    /// Combines the values of this thread and of those before it; also returns the result of the whole block.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn inclusive_scan<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        value: T,
        op: impl Operator<T>,
    ) -> (T, T) {
        // SAFETY: the caller's contract.
        let (of_warp, before, total) = unsafe { self.scan(shared, value, op) };
        (before.map_or(of_warp, |before| op.combine(before, of_warp)), total)
    }

    /// Combines `first` and the values of the threads before this one; also returns the result of the whole block,
    /// without `first`.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn exclusive_scan<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        value: T,
        first: T,
        op: impl Operator<T>,
    ) -> (T, T) {
        // SAFETY: the caller's contract.
        let (of_warp, before, total) = unsafe { self.scan(shared, value, op) };
        // SAFETY: the lanes of the warp come to this call together.
        let below = unsafe { Tile::<WARP_SIZE>::new().shuffle_up(of_warp, 1) };
        let first = before.map_or(first, |before| op.combine(first, before));
        (below.map_or(first, |below| op.combine(first, below)), total)
    }

    /// [`Self::inclusive_scan`] of the items of all threads in blocked order, in place; returns the result of the block.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn inclusive_scan_items<T: WarpShuffleValue, const ITEMS: usize>(
        self,
        shared: *mut Partials<T>,
        items: &mut [T; ITEMS],
        op: impl Operator<T>,
    ) -> T {
        // SAFETY: the caller's contract.
        let (of_warp, before, total) = unsafe { self.scan(shared, fold(items, op), op) };
        // SAFETY: the lanes of the warp come to this call together.
        let below = unsafe { Tile::<WARP_SIZE>::new().shuffle_up(of_warp, 1) };
        let before = match (before, below) {
            (Some(before), Some(below)) => Some(op.combine(before, below)),
            (before, below) => before.or(below),
        };
        items[0] = before.map_or(items[0], |before| op.combine(before, items[0]));
        let mut all = items[0];
        for item in &mut items[1..] {
            all = op.combine(all, *item);
            *item = all;
        }
        total
    }

    /// [`Self::exclusive_scan`] of the items of all threads in blocked order, in place; returns the result of the block,
    /// without `first`.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn exclusive_scan_items<T: WarpShuffleValue, const ITEMS: usize>(
        self,
        shared: *mut Partials<T>,
        items: &mut [T; ITEMS],
        first: T,
        op: impl Operator<T>,
    ) -> T {
        // SAFETY: the caller's contract.
        let (mut all, total) = unsafe { self.exclusive_scan(shared, fold(items, op), first, op) };
        for item in items {
            let next = op.combine(all, *item);
            *item = all;
            all = next;
        }
        total
    }

    /// The value of the thread `from`, in every thread.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    /// - Index width: `from` is below `THREADS`, and the same in all threads.
    #[inline(always)]
    pub unsafe fn broadcast<T: Copy>(self, shared: *mut Partials<T>, value: T, from: usize) -> T {
        // SAFETY: the caller's contract.
        unsafe {
            if self.rank() == from {
                put(shared, 0, value);
            }
            self.sync();
            get(shared, 0)
        }
    }

    /// Sets all bins to zero and waits for the block.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn clear_bins<const BINS: usize>(self, shared: *mut [u32; BINS]) {
        let mut bin = self.rank();
        while bin < BINS {
            // SAFETY: the bin exists, and no other thread writes it.
            unsafe { shared.cast::<u32>().add(bin).write(0) };
            bin += THREADS;
        }
        // SAFETY: the caller's contract.
        unsafe { self.sync() };
    }

    /// Adds one to the bin of each item, then waits for the block. PTX: `atom.relaxed.cta.shared.add.u32`.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    /// - Index width: each item is below `BINS`.
    #[inline(always)]
    pub unsafe fn count<const BINS: usize, const ITEMS: usize>(
        self,
        shared: *mut [u32; BINS],
        items: &[u32; ITEMS],
    ) {
        for item in items {
            // SAFETY: the bin exists, and all threads access it by atomics until the barrier.
            let bin = unsafe { BlockAtomicU32::from_ptr(shared.cast::<u32>().add(*item as usize)) };
            // SAFETY: as above.
            unsafe { bin.fetch_add(1, Relaxed) };
        }
        // SAFETY: the caller's contract.
        unsafe { self.sync() };
    }

    /// The scan of the thread's warp, the result of the warps before, and that of the block.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    unsafe fn scan<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        value: T,
        op: impl Operator<T>,
    ) -> (T, Option<T>, T) {
        // SAFETY: the caller's contract.
        unsafe {
            let of_warp = Tile::<WARP_SIZE>::new().inclusive_scan(value, op);
            if lane_id() == WARP_SIZE - 1 {
                put(shared, self.warp(), of_warp);
            }
            self.sync();
            let (before, total) = self.across_warps(shared, Self::WARPS, op);
            (of_warp, before, total)
        }
    }

    /// Combines the values of the first `warps` warps: of those before this one, and of all.
    ///
    /// # Safety
    /// - As for [`Self::sync`], after a barrier behind which these warps have put their values.
    #[inline(always)]
    unsafe fn across_warps<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        warps: usize,
        op: impl Operator<T>,
    ) -> (Option<T>, T) {
        /// Warps up to which each thread reads all values, which costs less than shuffles.
        const FEW: usize = 8;
        let warp = self.warp();
        // SAFETY: the caller's contract; only values that were put are read.
        unsafe {
            if Self::WARPS <= FEW {
                let mut all = get(shared, 0);
                let mut before = all;
                for earlier in 1..Self::WARPS {
                    if earlier == warp {
                        before = all;
                    }
                    if earlier < warps {
                        all = op.combine(all, get(shared, earlier));
                    }
                }
                return ((warp > 0).then_some(before), all);
            }
            let lane = lane_id() as usize;
            let tile = Tile::<WARP_SIZE>::new();
            let own = get(shared, if lane < warps { lane } else { 0 });
            let scanned = tile.inclusive_scan(own, op);
            let before = tile.shuffle(scanned, warp.saturating_sub(1) as u32);
            let total = tile.shuffle(scanned, warps as u32 - 1);
            ((warp > 0).then_some(before), total)
        }
    }
}

/// # Safety
/// - `shared` is shared memory that no other thread accesses at `warp` until the next barrier.
/// - Index width: `warp` is below 32.
#[inline(always)]
unsafe fn put<T: Copy>(shared: *mut Partials<T>, warp: usize, value: T) {
    // SAFETY: the caller's contract.
    unsafe { shared.cast::<T>().add(warp).write(value) };
}

/// # Safety
/// - The value was put before a barrier.
#[inline(always)]
unsafe fn get<T: Copy>(shared: *mut Partials<T>, warp: usize) -> T {
    // SAFETY: the caller's contract.
    unsafe { shared.cast::<T>().add(warp).read() }
}
