use super::exchange::place;
use super::{Block, FEW, LANES, Partials, fold, get, put};
use crate::operator::{Add, Operator};
use crate::warp::{Tile, WARP_SIZE, WarpShuffleValue, lane_id};
use core::mem::MaybeUninit;

/// Shared memory of a scan: a value of each thread, and the block's.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Scan<T, const THREADS: usize> {
    values: [MaybeUninit<T>; THREADS],
    padding: [[MaybeUninit<u8>; 2]; THREADS],
    total: MaybeUninit<T>,
}

impl<T, const THREADS: usize> Scan<T, THREADS> {
    /// The place of a thread's value, where each lane of a warp reads `each` neighbours without bank conflicts.
    #[inline(always)]
    const fn place(thread: usize, each: usize) -> usize {
        // Padding takes some bytes and no instruction; it does for powers of two alone.
        match size_of::<T>() {
            1 | 2 | 4 if each.is_power_of_two() => thread + thread / 32,
            8 if each.is_power_of_two() => thread + thread / 16,
            16 if each.is_power_of_two() => thread + thread / 8,
            _ => place::<T>(thread, each),
        }
    }
}

/// The first warp scans for the block: each of its lanes has the values of some neighbouring threads. That takes a barrier
/// more than a scan of each warp, and far fewer shuffles.
impl<const THREADS: usize> Block<THREADS> {
    /// Combines the values of this thread and of those before it; also returns the result of the whole block.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn inclusive_scan<T: WarpShuffleValue>(
        self,
        shared: *mut Scan<T, THREADS>,
        value: T,
        op: impl Operator<T>,
    ) -> (T, T) {
        // SAFETY: the caller's contract.
        let (before, total) = unsafe { self.before(shared, value, None, op) };
        (before.map_or(value, |before| op.combine(before, value)), total)
    }

    /// Combines `first` and the values of the threads before this one; also returns the result of the whole block,
    /// without `first`.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    /// - Lanes: `first` is the same in all threads.
    #[inline(always)]
    pub unsafe fn exclusive_scan<T: WarpShuffleValue>(
        self,
        shared: *mut Scan<T, THREADS>,
        value: T,
        first: T,
        op: impl Operator<T>,
    ) -> (T, T) {
        // SAFETY: the caller's contract.
        let (before, total) = unsafe { self.before(shared, value, Some(first), op) };
        (before.unwrap_or(first), total)
    }

    /// [`Self::inclusive_scan`] of the items of all threads in blocked order, in place; returns the result of the block.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn inclusive_scan_items<T: WarpShuffleValue, const ITEMS: usize>(
        self,
        shared: *mut Scan<T, THREADS>,
        items: &mut [T; ITEMS],
        op: impl Operator<T>,
    ) -> T {
        // SAFETY: the caller's contract.
        let (before, total) = unsafe { self.before(shared, fold(items, op), None, op) };
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
    /// - Lanes: `first` is the same in all threads.
    #[inline(always)]
    pub unsafe fn exclusive_scan_items<T: WarpShuffleValue, const ITEMS: usize>(
        self,
        shared: *mut Scan<T, THREADS>,
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

    /// Combines `first`, if there is one, and the values before this thread's; and the values of the block.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    unsafe fn before<T: WarpShuffleValue>(
        self,
        shared: *mut Scan<T, THREADS>,
        value: T,
        first: Option<T>,
        op: impl Operator<T>,
    ) -> (Option<T>, T) {
        let tile = Tile::<WARP_SIZE>::new();
        // SAFETY: the caller's contract. A value is accessed by its thread and by one lane, with barriers between; the first
        // warp is whole in its branch.
        unsafe {
            if Self::WARPS == 1 {
                let scanned = tile.inclusive_scan(value, op);
                let before = tile.shuffle_up(scanned, 1);
                let before = match (first, before) {
                    (Some(first), Some(before)) => Some(op.combine(first, before)),
                    (first, before) => before.or(first),
                };
                return (before, tile.shuffle(scanned, WARP_SIZE - 1));
            }
            let cell = |thread: usize| {
                shared.cast::<T>().add(Scan::<T, THREADS>::place(thread, Self::WARPS))
            };
            let own = cell(self.rank());
            own.write(value);
            self.sync();
            if self.warp() == 0 {
                let lane = lane_id() as usize;
                let mut values = [value; LANES];
                // By index: a shortened iterator would put the values into local memory.
                for nth in 0..Self::WARPS {
                    values[nth] = cell(lane * Self::WARPS + nth).read();
                }
                let mut sum = values[0];
                for nth in 1..Self::WARPS {
                    sum = op.combine(sum, values[nth]);
                }
                let scanned = tile.inclusive_scan(sum, op);
                if lane == LANES - 1 {
                    (*shared).total.write(scanned);
                }
                let mut before = match (first, tile.shuffle_up(scanned, 1)) {
                    (Some(first), Some(before)) => Some(op.combine(first, before)),
                    (first, before) => before.or(first),
                };
                for nth in 0..Self::WARPS {
                    let value = values[nth];
                    // Nobody reads what is before the first thread, if that is nothing.
                    cell(lane * Self::WARPS + nth).write(before.unwrap_or(value));
                    before = Some(before.map_or(value, |before| op.combine(before, value)));
                }
            }
            self.sync();
            let before = (first.is_some() || self.rank() > 0).then(|| own.read());
            (before, (*shared).total.assume_init_read())
        }
    }

    /// [`Self::exclusive_scan`] of sums by a scan of each warp: with one barrier.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub(super) unsafe fn scan_by_warps(self, shared: *mut Partials<u32>, value: u32) -> (u32, u32) {
        let tile = Tile::<WARP_SIZE>::new();
        let warp = self.warp();
        // SAFETY: the caller's contract; only values that were put are read.
        unsafe {
            let scanned = tile.inclusive_scan(value, Add);
            if lane_id() == WARP_SIZE - 1 {
                put(shared, warp, scanned);
            }
            self.sync();
            let below = tile.shuffle_up(scanned, 1).unwrap_or(0);
            if Self::WARPS <= FEW {
                let (mut all, mut before) = (0, 0);
                for earlier in 0..Self::WARPS {
                    if earlier == warp {
                        before = all;
                    }
                    all += get(shared, earlier);
                }
                return (before + below, all);
            }
            let lane = lane_id() as usize;
            let own = get(shared, if lane < Self::WARPS { lane } else { 0 });
            let warps = tile.inclusive_scan(own, Add);
            let before = tile.shuffle(warps, warp.saturating_sub(1) as u32);
            let before = if warp > 0 { before } else { 0 };
            (before + below, tile.shuffle(warps, Self::WARPS as u32 - 1))
        }
    }
}
