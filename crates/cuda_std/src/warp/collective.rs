//! Scans and reductions of a tile by an operator, and the values of several items that its lanes exchange.

use super::{
    Tile, WarpShuffleMode, WarpShuffleValue, lane_id, sync_warp, warp_shuffle_down, warp_shuffle_up,
};
use crate::block::Exchange;
use crate::operator::Operator;

impl<const LANES: u32> Tile<LANES> {
    /// Combines the values of the tile in the order of its lanes: the result is that of lane 0, the others' is unspecified.
    /// PTX: `shfl.sync.down.b32`, once for each doubling; `redux.sync` for 32 lanes, where the operator has it.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn reduce_in_order<T: WarpShuffleValue>(self, value: T, op: impl Operator<T>) -> T {
        // SAFETY: the mask is that of the tile, whose lanes come to this call together.
        unsafe {
            if LANES == 32
                && let Some(all) = op.combine_lanes(self.mask(), value)
            {
                return all;
            }
            let mut all = value;
            let mut distance = 1;
            while distance < LANES {
                // In this order each lane joins neighbours: of lane 0, no other order of the values comes in.
                let (above, _) = warp_shuffle_down(self.mask(), all, distance, LANES);
                all = op.combine(all, above);
                distance *= 2;
            }
            all
        }
    }

    /// [`Self::reduce_in_order`] of the first `valid` lanes, at least one: the result is that of lane 0.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn reduce_first<T: WarpShuffleValue>(
        self,
        value: T,
        valid: u32,
        op: impl Operator<T>,
    ) -> T {
        let mut all = value;
        let mut distance = 1;
        while distance < LANES {
            // SAFETY: the mask is that of the tile, whose lanes come to this call together.
            let (above, _) = unsafe { warp_shuffle_down(self.mask(), all, distance, LANES) };
            if self.rank() + distance < valid {
                all = op.combine(all, above);
            }
            distance *= 2;
        }
        all
    }

    /// Combines the values of this lane and of those before it in the tile.
    /// PTX: `shfl.sync.up.b32`, once for each doubling.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn inclusive_scan<T: WarpShuffleValue>(self, value: T, op: impl Operator<T>) -> T {
        let mut all = value;
        let mut distance = 1;
        while distance < LANES {
            // SAFETY: the mask is that of the tile, whose lanes come to this call together.
            let (below, inside) = unsafe { warp_shuffle_up(self.mask(), all, distance, LANES) };
            if inside {
                all = op.combine(below, all);
            }
            distance *= 2;
        }
        all
    }

    /// Combines `first` and the values of the lanes before this one in the tile.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn exclusive_scan<T: WarpShuffleValue>(
        self,
        value: T,
        first: T,
        op: impl Operator<T>,
    ) -> T {
        // SAFETY: the caller's contract.
        let before = unsafe { self.shuffle_up(self.inclusive_scan(value, op), 1) };
        before.map_or(first, |before| op.combine(first, before))
    }

    /// Combines the values of this lane and of those behind it in its segment. A segment begins at a lane with the flag,
    /// and at the tile's first lane: there the result is the segment's.
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    #[inline(always)]
    pub unsafe fn segmented_reduce<T: WarpShuffleValue>(
        self,
        value: T,
        is_first: bool,
        op: impl Operator<T>,
    ) -> T {
        // SAFETY: the caller's contract.
        let firsts = unsafe { self.ballot(is_first) };
        let later = firsts & (u32::MAX << 1).wrapping_shl(self.rank());
        let end = later.trailing_zeros().min(LANES);
        let mut all = value;
        let mut distance = 1;
        while distance < LANES {
            // SAFETY: the mask is that of the tile, whose lanes come to this call together.
            let (above, _) = unsafe { warp_shuffle_down(self.mask(), all, distance, LANES) };
            if self.rank() + distance < end {
                all = op.combine(all, above);
            }
            distance *= 2;
        }
        all
    }
}

impl Tile<32> {
    /// Exchanges items from blocked to striped order: see [`Block::blocked_to_striped`](crate::block::Block::blocked_to_striped).
    ///
    /// # Safety
    /// - As for [`Self::sync`].
    /// - Aliasing: from the call before to the call after it of [`Self::sync`], nobody else accesses `shared`, which is the
    ///   warp's own.
    #[inline(always)]
    pub unsafe fn blocked_to_striped<T: Copy, const ITEMS: usize>(
        self,
        shared: *mut Exchange<T, 32, ITEMS>,
        items: &mut [T; ITEMS],
    ) {
        let lane = lane_id() as usize;
        // SAFETY: the caller's contract.
        unsafe {
            Exchange::put_blocked(shared, items, lane);
            sync_warp(self.mask());
            Exchange::get(shared, items, |nth| nth * 32 + lane);
        }
    }

    /// Exchanges items from striped to blocked order: see [`Block::striped_to_blocked`](crate::block::Block::striped_to_blocked).
    ///
    /// # Safety
    /// - As for [`Self::blocked_to_striped`].
    #[inline(always)]
    pub unsafe fn striped_to_blocked<T: Copy, const ITEMS: usize>(
        self,
        shared: *mut Exchange<T, 32, ITEMS>,
        items: &mut [T; ITEMS],
    ) {
        let lane = lane_id() as usize;
        // SAFETY: the caller's contract.
        unsafe {
            Exchange::put(shared, items, |nth| nth * 32 + lane);
            sync_warp(self.mask());
            Exchange::get_blocked(shared, items, lane);
        }
    }
}

/// Pairs travel one part after the other.
impl<A: WarpShuffleValue, B: WarpShuffleValue> WarpShuffleValue for (A, B) {
    #[inline(always)]
    unsafe fn shuffle(
        mode: WarpShuffleMode,
        mask: u32,
        value: Self,
        b: u32,
        width: u32,
    ) -> (Self, bool) {
        // SAFETY: the caller's contract.
        unsafe {
            let (first, inside) = A::shuffle(mode, mask, value.0, b, width);
            let (second, _) = B::shuffle(mode, mask, value.1, b, width);
            ((first, second), inside)
        }
    }
}
