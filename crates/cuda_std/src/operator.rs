//! Operators that the collectives of [`warp`](crate::warp::Tile) and [`block`](crate::block) combine values by.
//!
//! An operator has to be associative. It need not be commutative: values are combined in the order of their threads. The
//! tree of a reduction is fixed, so a sum of floats has the same bits in each launch; it differs in its last bits from
//! the sum of a loop.
//!
//! A closure is an operator, if it says the types of its arguments:
//!
//! ```
//! use cuda_std::operator::{Add, Operator};
//! assert_eq!(Add.combine(1, 2), 3);
//! assert_eq!((|a: u32, b: u32| a | b).combine(1, 2), 3);
//! ```

use crate::nvvm;
use crate::{bf16, f16};

/// An associative operation on two values.
pub trait Operator<T>: Copy {
    /// Combines two values; the first one is that of the lower thread.
    fn combine(&self, a: T, b: T) -> T;

    /// Combines the values of all lanes of the mask by one instruction, if there is one: in each lane.
    ///
    /// # Safety
    /// - As for [`sync_warp`](crate::warp::sync_warp).
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn combine_lanes(&self, _mask: u32, _value: T) -> Option<T> {
        None
    }
}

impl<T, F: Fn(T, T) -> T + Copy> Operator<T> for F {
    #[inline(always)]
    fn combine(&self, a: T, b: T) -> T {
        self(a, b)
    }
}

/// The sum; of integers, modulo their range. PTX: `redux.sync.add` for a whole warp of 32-bit integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Add;

/// The smaller value; of a number and a NaN, the number. PTX: `min`, or `redux.sync.min` as [`Add`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Min;

/// The larger value; of a number and a NaN, the number. PTX: `max`, or `redux.sync.max` as [`Add`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Max;

/// Another operator, which starts anew at each value with a flag: the first of a segment.
///
/// The second value of a scan is then that of the segment alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segmented<O>(pub O);

impl<T, O: Operator<T>> Operator<(bool, T)> for Segmented<O> {
    #[inline(always)]
    fn combine(&self, a: (bool, T), b: (bool, T)) -> (bool, T) {
        (a.0 | b.0, if b.0 { b.1 } else { self.0.combine(a.1, b.1) })
    }
}

macro_rules! operators {
    ($($operator:ident: $($kind:ident)* = $combine:expr;)*) => {
        $($(
            impl Operator<$kind> for $operator {
                #[inline(always)]
                fn combine(&self, a: $kind, b: $kind) -> $kind {
                    let combine: fn($kind, $kind) -> $kind = $combine;
                    combine(a, b)
                }
            }
        )*)*
    };
}

operators! {
    Add: u8 i8 u16 i16 u64 i64 u128 i128 = |a, b| a.wrapping_add(b);
    Add: f32 f64 f16 bf16 = |a, b| a + b;
    Min: u8 i8 u16 i16 u64 i64 u128 i128 = Ord::min;
    Min: f32 f64 = |a, b| a.min(b);
    Max: u8 i8 u16 i16 u64 i64 u128 i128 = Ord::max;
    Max: f32 f64 = |a, b| a.max(b);
}

/// Operators that have an instruction for a warp from compute capability 8.0 on.
macro_rules! operators_of_words {
    ($($operator:ident: $($kind:ident by $reduce:ident)* = $combine:expr;)*) => {
        $($(
            impl Operator<$kind> for $operator {
                #[inline(always)]
                fn combine(&self, a: $kind, b: $kind) -> $kind {
                    let combine: fn($kind, $kind) -> $kind = $combine;
                    combine(a, b)
                }

                #[inline(always)]
                unsafe fn combine_lanes(&self, mask: u32, value: $kind) -> Option<$kind> {
                    if !cfg!(target_feature = "compute_80") {
                        return None;
                    }
                    // SAFETY: the caller's contract.
                    Some(unsafe { nvvm::$reduce(value as u32, mask) } as $kind)
                }
            }
        )*)*
    };
}

operators_of_words! {
    Add: u32 by reduce_add i32 by reduce_add = |a, b| a.wrapping_add(b);
    Min: u32 by reduce_min_unsigned i32 by reduce_min_signed = Ord::min;
    Max: u32 by reduce_max_unsigned i32 by reduce_max_signed = Ord::max;
}
