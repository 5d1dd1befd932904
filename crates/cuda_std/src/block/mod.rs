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
//! pub unsafe fn sums(x: *const f32, target: *mut f32) {
//!     #[address_space(shared)]
//!     static mut PARTIALS: MaybeUninit<Partials<f32>> = MaybeUninit::uninit();
//!     let block = Block::<256>::new();
//!     // SAFETY: each thread of the 256 comes here, once; `x` has 256 elements for each block, `target` one.
//!     unsafe {
//!         let value = *x.add(thread::index_1d() as usize);
//!         if let Some(sum) = block.reduce((&raw mut PARTIALS).cast(), value, Add) {
//!             *target.add(thread::block_idx_x() as usize) = sum;
//!         }
//!     }
//! }
//! ```
//!
//! | CUB | here | shared memory |
//! |---|---|---|
//! | `BlockReduce` | [`Block::reduce`], [`Block::all_reduce`], [`Block::reduce_first`] | [`Partials`] |
//! | `BlockScan` | [`Block::inclusive_scan`], [`Block::exclusive_scan`], and both of items | [`Scan`] |
//! | `BlockExchange` | [`Block::blocked_to_striped`], [`Block::striped_to_blocked`], [`Block::scatter`] | [`Exchange`] |
//! | `BlockRadixSort` | [`Block::sort`], [`Block::sort_pairs`] | [`Sort`] |
//! | `BlockHistogram` | [`Block::clear_bins`], [`Block::count`] | `[u32; BINS]` |
//! | `WarpReduce`, `WarpScan`, `WarpExchange` | [`warp::Tile`](crate::warp::Tile) | |
//!
//! The orders of items are CUB's. Blocked: the thread `t` has the `ITEMS` items from `t * ITEMS` on. Striped: it has those
//! at `t`, `t + THREADS`, and so on, so that a warp loads and stores coalesced.
//!
//! Sources: CUB's documentation; Merrill and Grimshaw, "High Performance and Scalable Radix Sorting" (ranks of digits);
//! Merrill and Grimshaw, "Parallel Scan for Stream Architectures" (one warp scans for the block).

mod exchange;
mod scan;
mod sort;

pub use exchange::Exchange;
pub use scan::Scan;
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

/// Warps up to which each thread reads all their values, which costs less than shuffles.
const FEW: usize = 8;

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

    /// Combines a value of each thread in the order of the threads, for the first thread.
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
    ) -> Option<T> {
        // SAFETY: the caller's contract; the first warp is whole in its branch.
        unsafe {
            self.put_partials(shared, value, op);
            if self.warp() > 0 {
                return None;
            }
            let all = self.combine_partials(shared, Self::WARPS, op);
            (self.rank() == 0).then_some(all)
        }
    }

    /// [`Self::reduce`] for every thread.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn all_reduce<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        value: T,
        op: impl Operator<T>,
    ) -> T {
        // SAFETY: the caller's contract.
        unsafe {
            self.put_partials(shared, value, op);
            self.combine_partials(shared, Self::WARPS, op)
        }
    }

    /// [`Self::all_reduce`] of the first `valid` threads, such as those of a partial tile: nothing of none.
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
            (valid > 0).then(|| self.combine_partials(shared, valid.div_ceil(LANES), op))
        }
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
            // SAFETY: the bin lives as long as the block, whose threads add to it in the same way.
            unsafe { bin.fetch_add(1, Relaxed) };
        }
        // SAFETY: the caller's contract.
        unsafe { self.sync() };
    }

    /// Puts what each warp combines, and waits for the block.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    unsafe fn put_partials<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        value: T,
        op: impl Operator<T>,
    ) {
        // SAFETY: the caller's contract.
        unsafe {
            let of_warp = Tile::<WARP_SIZE>::new().reduce_in_order(value, op);
            if lane_id() == 0 {
                put(shared, self.warp(), of_warp);
            }
            self.sync();
        }
    }

    /// Combines what the first `warps` warps have put, at least one.
    ///
    /// # Safety
    /// - The warp's lanes are together, behind a barrier after the warps have put their values.
    #[inline(always)]
    unsafe fn combine_partials<T: WarpShuffleValue>(
        self,
        shared: *mut Partials<T>,
        warps: usize,
        op: impl Operator<T>,
    ) -> T {
        // SAFETY: the caller's contract; only values that were put are read.
        unsafe {
            if Self::WARPS <= FEW {
                let mut all = get(shared, 0);
                for warp in 1..Self::WARPS {
                    if warp < warps {
                        all = op.combine(all, get(shared, warp));
                    }
                }
                return all;
            }
            let lane = lane_id() as usize;
            let tile = Tile::<WARP_SIZE>::new();
            let own = get(shared, if lane < warps { lane } else { 0 });
            tile.shuffle(tile.reduce_first(own, warps as u32, op), 0)
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
