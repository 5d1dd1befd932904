//! Atomic operations on plain pointers, with the scope in the name and the ordering as an argument.
//!
//! The names and signatures are rust-cuda's, which has no types for integers. Every function requires
//! that the pointer is valid for reads and writes, points into global or shared memory, and is aligned
//! to the size of the number; and for the scope `block` that only one block accesses it.

use core::sync::atomic::Ordering;

use pastey::paste;

use super::instruction::{Block, Counter, Device, Integer, Scope, System, Value, Word};

/// Orders memory accesses for the threads of the block. PTX: `fence.acq_rel.cta` or `fence.sc.cta`;
/// nothing for `Relaxed`.
#[inline(always)]
pub fn block_thread_fence(ordering: Ordering) {
    Block::fence(ordering);
}

/// Orders memory accesses for the threads of the device. PTX: `fence.acq_rel.gpu` or
/// `fence.sc.gpu`; nothing for `Relaxed`.
#[inline(always)]
pub fn device_thread_fence(ordering: Ordering) {
    Device::fence(ordering);
}

/// Orders memory accesses for all devices and the host. PTX: `fence.acq_rel.sys` or `fence.sc.sys`;
/// nothing for `Relaxed`.
#[inline(always)]
pub fn system_thread_fence(ordering: Ordering) {
    System::fence(ordering);
}

/// Declares a function for each type, with its suffix, and scope: `name: of [types] is method(arguments) [value]`.
macro_rules! scoped {
    ($($name:ident: of [$($kind:ident $suffix:tt)*] is $method:ident $arguments:tt $result:tt, $does:literal;)*) => {
        $($(
            scoped!(@ $name $kind $suffix $method $arguments $result $does, block Block ".cta");
            scoped!(@ $name $kind $suffix $method $arguments $result $does, device Device ".gpu");
            scoped!(@ $name $kind $suffix $method $arguments $result $does, system System ".sys");
        )*)*
    };
    (@ $name:ident $kind:ident $suffix:tt $method:ident ($($argument:ident),*) [$($value:ident)?] $does:literal,
        $scope:ident $type:ident $ptx:literal) => {
        paste! {
            #[doc = concat!($does, ", with ", stringify!($scope), " scope (`", $ptx, "`).")]
            ///
            /// # Safety
            /// - See the module.
            #[inline(always)]
            pub unsafe fn [<atomic_ $name _ $suffix _ $scope>](
                ptr: *mut $kind,
                ordering: Ordering,
                $($argument: $kind),*
            ) $(-> scoped!(@$value $kind))? {
                // SAFETY: the caller's contract.
                unsafe { $kind::$method::<$type>(ptr, $($argument,)* ordering) }
            }
        }
    };
    (@value $kind:ident) => { $kind };
}

scoped! {
    load: of [u32 32 u64 64] is load() [value], "The value (`ld`)";
    store: of [u32 32 u64 64] is store(val) [], "Replaces the value (`st`)";
    fetch_and: of [u32 u32 u64 u64 i32 i32 i64 i64 f32 f32 f64 f64] is and(val) [value],
        "Keeps the bits that are set in both and returns the old value (`atom.and`)";
    fetch_or: of [u32 u32 u64 u64 i32 i32 i64 i64 f32 f32 f64 f64] is or(val) [value],
        "Sets bits and returns the old value (`atom.or`)";
    fetch_xor: of [u32 u32 u64 u64 i32 i32 i64 i64 f32 f32 f64 f64] is xor(val) [value],
        "Flips bits and returns the old value (`atom.xor`)";
    fetch_add: of [u32 u32 u64 u64 i32 i32 i64 i64 f32 f32 f64 f64] is add(val) [value],
        "Adds and returns the old value (`atom.add`)";
    fetch_sub: of [u32 u32 u64 u64 i32 i32 i64 i64 f32 f32 f64 f64] is sub(val) [value],
        "Subtracts and returns the old value (`atom.add`)";
    fetch_min: of [u32 u32 u64 u64 i32 i32 i64 i64] is minimum(val) [value],
        "Keeps the smaller value and returns the old one (`atom.min`)";
    fetch_max: of [u32 u32 u64 u64 i32 i32 i64 i64] is maximum(val) [value],
        "Keeps the larger value and returns the old one (`atom.max`)";
    fetch_inc: of [u32 u32] is increment(limit) [value],
        "Adds 1, or starts again at 0 at the limit, and returns the old value (`atom.inc`)";
    fetch_dec: of [u32 u32] is decrement(limit) [value],
        "Subtracts 1, or starts again at the limit, and returns the old value (`atom.dec`)";
    fetch_exch: of [u32 u32 u64 u64 i32 i32 i64 i64 f32 f32 f64 f64] is swap(val) [value],
        "Replaces the value and returns the old one (`atom.exch`)";
}

/// Declares compare-and-swap for types, whose ordering is the last argument.
macro_rules! compare_and_swap {
    ($($kind:ident)*) => {
        $(
            compare_and_swap!(@ $kind block Block ".cta");
            compare_and_swap!(@ $kind device Device ".gpu");
            compare_and_swap!(@ $kind system System ".sys");
        )*
    };
    (@ $kind:ident $scope:ident $type:ident $ptx:literal) => {
        paste! {
            #[doc = concat!(
                "Replaces the value when its bits are those of `current` and returns the old value ",
                "(`atom.cas`), with ", stringify!($scope), " scope (`", $ptx, "`)."
            )]
            ///
            /// # Safety
            /// - See the module.
            #[inline(always)]
            pub unsafe fn [<atomic_compare_and_swap_ $kind _ $scope>](
                ptr: *mut $kind,
                current: $kind,
                new: $kind,
                ordering: Ordering,
            ) -> $kind {
                // SAFETY: the caller's contract.
                unsafe { $kind::compare_and_swap::<$type>(ptr, current, new, ordering) }
            }
        }
    };
}

compare_and_swap! { u32 u64 i32 i64 f32 f64 }
