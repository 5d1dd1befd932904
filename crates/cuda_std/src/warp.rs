//! Communication within a warp: shuffles, votes, matches and reductions. [`Tile`] has scans and reductions by operators.
//!
//! `mask` is the set of lanes that take part, bit `n` for lane `n`. Each of them must call the same function, which waits.
//!
//! Sources: PTX ISA, "Parallel Synchronization and Communication Instructions" and "shfl.sync".
//!
//! ```no_run
//! # use cuda_std::warp;
//! # fn sum(mut value: u32) -> u32 {
//! for distance in [16, 8, 4, 2, 1] {
//!     // SAFETY: all 32 lanes are here.
//!     value += unsafe { warp::warp_shuffle_down(u32::MAX, value, distance, 32) }.0;
//! }
//! # value
//! # }
//! ```

mod collective;
mod tile;

use crate::nvvm::{self, special_registers};
use crate::{bf16, f16};
pub use tile::Tile;

/// Lanes of a warp, on every device so far (PTX ISA, `WARP_SZ`).
pub const WARP_SIZE: u32 = 32;

/// The mask of all 32 lanes.
pub const FULL_MASK: u32 = u32::MAX;

special_registers! {
    /// The thread's lane in its warp, below 32. PTX: `%laneid`.
    lane_id;
    /// The mask of this lane alone. PTX: `%lanemask_eq`. Beyond rust-cuda.
    lane_mask_eq;
    /// The mask of all lanes below this one. PTX: `%lanemask_lt`. Beyond rust-cuda.
    lane_mask_lt;
    /// The mask of this lane and all below. PTX: `%lanemask_le`. Beyond rust-cuda.
    lane_mask_le;
    /// The mask of all lanes above this one. PTX: `%lanemask_gt`. Beyond rust-cuda.
    lane_mask_gt;
    /// The mask of this lane and all above. PTX: `%lanemask_ge`. Beyond rust-cuda.
    lane_mask_ge;
}

/// The mask of the lanes that happen to execute together here. PTX: `activemask.b32`.
///
/// It says nothing about which lanes *should* be here: do not use it as the mask of a shuffle.
#[inline(always)]
#[must_use]
pub fn activemask() -> u32 {
    // SAFETY: asking for the active lanes has no precondition.
    unsafe { nvvm::active_mask() }
}

/// Waits for the lanes of the mask and orders their memory accesses. PTX: `bar.warp.sync`.
///
/// # Safety
/// - The calling lane must be in `mask`, and every lane of `mask` that has not returned must call this with the same
///   mask.
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's contract.
    unsafe { nvvm::warp_sync(mask) }
}

/// Declares functions that the lanes of a mask call together.
macro_rules! of_the_mask {
    ($($(#[$documentation:meta])* $name:ident $(<$generic:ident: $bound:ident>)? ($($argument:ident: $kind:ty),*) -> $result:ty
        = $value:expr;)*) => {
        $(
            $(#[$documentation])*
            ///
            /// # Safety
            /// - As for [`sync_warp`].
            #[inline(always)]
            pub unsafe fn $name $(<$generic: $bound>)? (mask: u32, $($argument: $kind),*) -> $result {
                // SAFETY: the calling lane is in the mask, and its lanes come to this call together, by the caller's contract.
                unsafe { ($value)(mask, $($argument),*) }
            }
        )*
    };
}

of_the_mask! {
    /// True in exactly one lane of the mask. PTX: `elect.sync`, compute capability 9.0. Beyond rust-cuda.
    elect() -> bool = |mask| nvvm::elect(mask).1;
    /// True when the predicate is true in every lane of the mask. PTX: `vote.sync.all.pred`.
    warp_vote_all(predicate: bool) -> bool = nvvm::vote_all;
    /// True when the predicate is true in any lane of the mask. PTX: `vote.sync.any.pred`.
    warp_vote_any(predicate: bool) -> bool = nvvm::vote_any;
    /// True when the predicate is the same in every lane of the mask. PTX: `vote.sync.uni.pred`. Beyond rust-cuda.
    warp_vote_uniform(predicate: bool) -> bool = nvvm::vote_uniform;
    /// The lanes of the mask whose predicate is true. PTX: `vote.sync.ballot.b32`.
    warp_vote_ballot(predicate: bool) -> u32 = nvvm::vote_ballot;
    /// The lanes of the mask that hold the same value as this lane. PTX: `match.any.sync.b32` or `.b64`.
    warp_match_any<T: WarpMatchValue>(value: T) -> u32 = T::match_any;
    /// The mask when all of its lanes hold the same value, else `None`. PTX: `match.all.sync.b32` or `.b64`.
    warp_match_all<T: WarpMatchValue>(value: T) -> Option<u32> = T::match_all;
    /// The reduction of the values of all lanes of the mask, in each of them. PTX: `redux.sync`, compute capability 8.0.
    warp_reduce<T: WarpReduceValue>(value: T, op: WarpReductionOp) -> T = T::reduce;
}

/// The operation of [`warp_reduce`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarpReductionOp {
    /// The sum, modulo 2^32.
    Add,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The bits set in all values.
    And,
    /// The bits set in any value.
    Or,
    /// The bits set in an odd number of values.
    Xor,
}

macro_rules! shuffles {
    ($($(#[$documentation:meta])* $name:ident($lane:ident) = $mode:ident;)*) => {
        $(
            $(#[$documentation])*
            ///
            /// # Panics
            /// When `width` is not a power of two up to 32.
            ///
            /// # Safety
            /// - As for [`sync_warp`].
            /// - The value is undefined when the source lane is not in `mask` or has returned.
            #[inline(always)]
            pub unsafe fn $name<T: WarpShuffleValue>(mask: u32, value: T, $lane: u32, width: u32) -> (T, bool) {
                // SAFETY: the calling lane is in the mask, and its lanes come to this call together, by the caller's contract.
                unsafe { T::shuffle(WarpShuffleMode::$mode, mask, value, $lane, width) }
            }
        )*
    };
}

shuffles! {
    /// The value of the lane `delta` lanes above this one. PTX: `shfl.sync.down.b32`.
    ///
    /// The warp is split into segments of `width` lanes, a power of two up to 32. The flag is true when
    /// the source lane lies in the same segment; otherwise the value is this lane's own. Values of 8 and
    /// 16 bits travel in 32; wider ones take one shuffle per 32 bits.
    warp_shuffle_down(delta) = Down;
    /// The value of the lane `delta` lanes below this one. PTX: `shfl.sync.up.b32`.
    ///
    /// As [`warp_shuffle_down`], with the segment's first lane as the limit.
    warp_shuffle_up(delta) = Up;
    /// The value of lane `idx` of this lane's segment, `idx` modulo `width`. PTX: `shfl.sync.idx.b32`.
    ///
    /// See [`warp_shuffle_down`] for `width` and the flag, which is always true here.
    warp_shuffle_idx(idx) = Idx;
    /// The value of the lane whose number is this lane's, exclusive or `lane_mask`. PTX: `shfl.sync.bfly.b32`.
    ///
    /// As [`warp_shuffle_down`], except that a lane may read from a segment below its own.
    warp_shuffle_xor(lane_mask) = Xor;
}

/// The limit of a shuffle that is not limited by its segment's first lane.
const LAST_LANE: u32 = 31;

/// The bits of a shuffle's third operand that keep lanes in segments of `width` lanes.
#[inline(always)]
fn segment(width: u32) -> u32 {
    assert!(
        width.is_power_of_two() && width <= 32,
        "the width of a shuffle must be a power of two up to 32"
    );
    (32 - width) << 8
}

/// Rule for the lane that a shuffle reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarpShuffleMode {
    /// Of this number in the segment.
    Idx,
    /// So many below.
    Up,
    /// So many above.
    Down,
    /// Whose number is this lane's, exclusive or the operand.
    Xor,
}

/// A word of another lane, chosen by the mode and `b`.
///
/// # Safety
/// - As for [`warp_shuffle_down`].
#[inline(always)]
unsafe fn shuffle_word(
    mode: WarpShuffleMode,
    mask: u32,
    word: u32,
    b: u32,
    width: u32,
) -> (u32, bool) {
    let segment = segment(width);
    // SAFETY: the caller's contract.
    unsafe {
        match mode {
            WarpShuffleMode::Idx => nvvm::shuffle_idx(mask, word, b, segment | LAST_LANE),
            // Limited by the first lane of the segment: the clamp is 0. rust-cuda passes 31 here, with which every lane is
            // below the limit and gets its own value back.
            WarpShuffleMode::Up => nvvm::shuffle_up(mask, word, b, segment),
            WarpShuffleMode::Down => nvvm::shuffle_down(mask, word, b, segment | LAST_LANE),
            WarpShuffleMode::Xor => nvvm::shuffle_xor(mask, word, b, segment | LAST_LANE),
        }
    }
}

/// The types that can be shuffled: integers of 8 to 128 bits, `f16`, `bf16`, `f32` and `f64`.
pub trait WarpShuffleValue: Copy {
    /// The value of another lane, chosen by the mode and `b`, and whether that lane lies in the same segment.
    ///
    /// # Safety
    /// - As for [`warp_shuffle_down`].
    unsafe fn shuffle(
        mode: WarpShuffleMode,
        mask: u32,
        value: Self,
        b: u32,
        width: u32,
    ) -> (Self, bool);
}

/// The types that can be matched: integers of 8 to 64 bits, `f32` and `f64` by their bits.
pub trait WarpMatchValue: Copy {
    /// The lanes of the mask that hold the same value.
    ///
    /// # Safety
    /// - As for [`sync_warp`].
    unsafe fn match_any(mask: u32, value: Self) -> u32;
    /// The mask when all of its lanes hold the same value.
    ///
    /// # Safety
    /// - As for [`sync_warp`].
    unsafe fn match_all(mask: u32, value: Self) -> Option<u32>;
}

/// The types that can be reduced: `u32` and `i32`.
pub trait WarpReduceValue: Copy {
    /// The reduction of the values of all lanes of the mask.
    ///
    /// # Safety
    /// - As for [`sync_warp`].
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
}

/// Shuffles for a type whose bits travel as those of another.
macro_rules! shuffle_as {
    ($($kind:ty as $bits:ty: $into:expr, $from:expr;)*) => {
        $(
            impl WarpShuffleValue for $kind {
                #[inline(always)]
                unsafe fn shuffle(
                    mode: WarpShuffleMode,
                    mask: u32,
                    value: Self,
                    b: u32,
                    width: u32,
                ) -> (Self, bool) {
                    // SAFETY: the caller's contract.
                    let (bits, inside) = unsafe { <$bits>::shuffle(mode, mask, $into(value), b, width) };
                    ($from(bits), inside)
                }
            }
        )*
    };
}

shuffle_as! {
    bool as u32: u32::from, |word| word != 0; u8 as u32: u32::from, |word| word as u8;
    i8 as u32: |value| value as u8 as u32, |word| word as u8 as i8;
    u16 as u32: u32::from, |word| word as u16;
    i16 as u32: |value| value as u16 as u32, |word| word as u16 as i16;
    i32 as u32: |value| value as u32, |word| word as i32;
    f16 as u32: |value: f16| u32::from(value.to_bits()), |word| f16::from_bits(word as u16);
    bf16 as u32: |value: bf16| u32::from(value.to_bits()), |word| bf16::from_bits(word as u16);
    f32 as u32: |value: f32| value.to_bits(), f32::from_bits;
    i64 as u64: |value| value as u64, |bits| bits as i64;
    f64 as u64: |value: f64| value.to_bits(), f64::from_bits;
    i128 as u128: |value| value as u128, |bits| bits as i128;
}

impl WarpShuffleValue for u32 {
    #[inline(always)]
    unsafe fn shuffle(
        mode: WarpShuffleMode,
        mask: u32,
        value: Self,
        b: u32,
        width: u32,
    ) -> (Self, bool) {
        // SAFETY: the caller's contract.
        unsafe { shuffle_word(mode, mask, value, b, width) }
    }
}

/// Shuffles for a type in two halves.
macro_rules! shuffle_in_halves {
    ($($kind:ident of $half:ident;)*) => {
        $(
            impl WarpShuffleValue for $kind {
                #[inline(always)]
                unsafe fn shuffle(
                    mode: WarpShuffleMode,
                    mask: u32,
                    value: Self,
                    b: u32,
                    width: u32,
                ) -> (Self, bool) {
                    let high = (value >> $half::BITS) as $half;
                    // SAFETY: the caller's contract.
                    let ((low, inside), (high, _)) = unsafe {
                        (
                            $half::shuffle(mode, mask, value as $half, b, width),
                            $half::shuffle(mode, mask, high, b, width),
                        )
                    };
                    ($kind::from(high) << $half::BITS | $kind::from(low), inside)
                }
            }
        )*
    };
}

shuffle_in_halves! {
    u64 of u32;
    u128 of u64;
}

/// Matches for a type, by its bits in 32 or 64.
macro_rules! match_by_bits {
    ($any:ident, $all:ident: $($kind:ty => $bits:expr),* $(,)?) => {
        $(
            impl WarpMatchValue for $kind {
                #[inline(always)]
                unsafe fn match_any(mask: u32, value: Self) -> u32 {
                    // SAFETY: the caller's contract.
                    unsafe { nvvm::$any(mask, $bits(value)) }
                }
                #[inline(always)]
                unsafe fn match_all(mask: u32, value: Self) -> Option<u32> {
                    // SAFETY: the caller's contract.
                    let (lanes, all) = unsafe { nvvm::$all(mask, $bits(value)) };
                    all.then_some(lanes)
                }
            }
        )*
    };
}

match_by_bits! { match_any_32, match_all_32:
    u8 => u32::from, i8 => |value| value as u8 as u32,
    u16 => u32::from, i16 => |value| value as u16 as u32,
    u32 => |value| value, i32 => |value| value as u32, f32 => |value: f32| value.to_bits(),
}

match_by_bits! { match_any_64, match_all_64:
    u64 => |value| value, i64 => |value| value as u64, f64 => |value: f64| value.to_bits(),
}

impl WarpReduceValue for u32 {
    #[inline(always)]
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self {
        // SAFETY: the caller's contract.
        unsafe {
            match op {
                WarpReductionOp::Add => nvvm::reduce_add(value, mask),
                WarpReductionOp::Min => nvvm::reduce_min_unsigned(value, mask),
                WarpReductionOp::Max => nvvm::reduce_max_unsigned(value, mask),
                WarpReductionOp::And => nvvm::reduce_and(value, mask),
                WarpReductionOp::Or => nvvm::reduce_or(value, mask),
                WarpReductionOp::Xor => nvvm::reduce_xor(value, mask),
            }
        }
    }
}

impl WarpReduceValue for i32 {
    #[inline(always)]
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self {
        // SAFETY: the caller's contract.
        unsafe {
            match op {
                WarpReductionOp::Min => nvvm::reduce_min_signed(value as u32, mask) as i32,
                WarpReductionOp::Max => nvvm::reduce_max_signed(value as u32, mask) as i32,
                _ => u32::reduce(mask, value as u32, op) as i32,
            }
        }
    }
}
