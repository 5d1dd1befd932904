//! Operations of a warp's lanes together, without `unsafe`: each function is one over the lanes that run it now.
//!
//! Where a branch has divided a warp, these are the lanes of one side; in a warp that is together they are all 32. So no
//! lane waits for another, and none reads what another never gave. CUDA C++ calls such a group "coalesced threads"
//! (CUDA C++ Programming Guide, "Coalesced Groups"). Which lanes meet again after a branch is not promised: what must be
//! exact for a whole block is a function of [`Block`](super::Block).
//!
//! ```no_run
//! use cuda_std::safe::lanes;
//! let here = lanes::count();
//! let is_first = lanes::rank() == 0;
//! ```

use crate::nvvm;
use crate::warp::{
    FULL_MASK, WARP_SIZE, WarpShuffleValue, activemask, lane_id, lane_mask_lt, warp_shuffle_idx,
    warp_shuffle_xor,
};
use core::ops::Add;

/// The mask of the lanes that run this together, bit `n` for lane `n`. PTX: `activemask.b32`.
#[inline(always)]
#[must_use]
pub fn mask() -> u32 {
    activemask()
}

/// Returns how many lanes run this together.
#[inline(always)]
#[must_use]
pub fn count() -> u32 {
    activemask().count_ones()
}

/// Returns how many of the lanes that run this together are below this one.
#[inline(always)]
#[must_use]
pub fn rank() -> u32 {
    (activemask() & lane_mask_lt()).count_ones()
}

/// The lanes whose predicate is true. PTX: `vote.sync.ballot.b32`.
#[inline(always)]
#[must_use]
pub fn ballot(predicate: bool) -> u32 {
    // SAFETY: the mask is that of the lanes that are here, so all of them run this vote.
    unsafe { nvvm::vote_ballot(activemask(), predicate) }
}

/// Returns whether the predicate is true in any lane.
#[inline(always)]
#[must_use]
pub fn any(predicate: bool) -> bool {
    ballot(predicate) != 0
}

/// Returns whether the predicate is true in all lanes.
#[inline(always)]
#[must_use]
pub fn all(predicate: bool) -> bool {
    ballot(!predicate) == 0
}

/// The value of another lane, unless that lane does not run this. PTX: `shfl.sync.idx.b32`.
#[inline(always)]
#[must_use]
pub fn from<T: WarpShuffleValue>(value: T, lane: u32) -> Option<T> {
    let mask = activemask();
    let lane = lane % WARP_SIZE;
    // SAFETY: the mask is that of the lanes that are here, so all of them run this shuffle.
    let (other, _) = unsafe { warp_shuffle_idx(mask, value, lane, WARP_SIZE) };
    (mask >> lane & 1 == 1).then_some(other)
}

/// The value of the lowest lane that runs this, in every lane. PTX: `shfl.sync.idx.b32`.
#[inline(always)]
#[must_use]
pub fn first<T: WarpShuffleValue>(value: T) -> T {
    let mask = activemask();
    // SAFETY: the mask is that of the lanes that are here; its lowest lane is one of them.
    unsafe { warp_shuffle_idx(mask, value, mask.trailing_zeros(), WARP_SIZE) }.0
}

/// The sum of a value of each lane, in every lane.
#[inline(always)]
#[must_use]
pub fn sum<T: WarpShuffleValue + Add<Output = T>>(value: T) -> T {
    reduce(value, |a, b| a + b)
}

/// The values of the lanes, combined, in every lane. `combine` has to be associative and commutative.
#[inline(always)]
#[must_use]
pub fn reduce<T: WarpShuffleValue>(value: T, combine: impl Fn(T, T) -> T) -> T {
    let mask = activemask();
    if mask == FULL_MASK {
        let mut all = value;
        for distance in [16, 8, 4, 2, 1] {
            // SAFETY: all lanes are here.
            let (other, _) = unsafe { warp_shuffle_xor(FULL_MASK, all, distance, WARP_SIZE) };
            all = combine(all, other);
        }
        return all;
    }
    // One lane after the other, from the lowest.
    let read = |lane: u32| {
        // SAFETY: the mask is that of the lanes that are here, and `lane` is one of them.
        unsafe { warp_shuffle_idx(mask, value, lane, WARP_SIZE) }.0
    };
    let mut all = read(mask.trailing_zeros());
    let mut left = mask & (mask - 1);
    while left != 0 {
        all = combine(all, read(left.trailing_zeros()));
        left &= left - 1;
    }
    all
}

/// The sum of the values of the lanes below this one, in the order of the lanes; `T::default()` in the lowest.
#[inline(always)]
#[must_use]
pub fn sum_below<T: WarpShuffleValue + Add<Output = T> + Default>(value: T) -> T {
    let mask = activemask();
    let own = lane_id();
    let mut below = T::default();
    let mut left = mask;
    while left != 0 {
        let lane = left.trailing_zeros();
        // SAFETY: the mask is that of the lanes that are here, and `lane` is one of them.
        let (other, _) = unsafe { warp_shuffle_idx(mask, value, lane, WARP_SIZE) };
        if lane < own {
            below = below + other;
        }
        left &= left - 1;
    }
    below
}
