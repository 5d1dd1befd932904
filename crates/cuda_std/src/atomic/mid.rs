//! Atomic operations on plain pointers, with the scope in the name and the ordering as an argument.
//!
//! The names and signatures are rust-cuda's, which has no types for integers. Every function requires
//! that the pointer is valid for reads and writes, points into global or shared memory, and is aligned
//! to the size of the number; and for the scope `block` that only one block accesses it.

use core::sync::atomic::Ordering;

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

/// Declares the functions for one operation and type, one for each scope.
macro_rules! scoped {
    ($(
        $block:ident $device:ident $system:ident:
        $kind:ident.$operation:ident($($argument:ident: $argument_kind:ty),*) $(-> $result:ty)?,
        $documentation:literal;
    )*) => {
        $(
            scoped!(@ $block Block "block" ".cta" $kind $operation
                ($($argument: $argument_kind),*) ($($result)?) $documentation);
            scoped!(@ $device Device "device" ".gpu" $kind $operation
                ($($argument: $argument_kind),*) ($($result)?) $documentation);
            scoped!(@ $system System "system" ".sys" $kind $operation
                ($($argument: $argument_kind),*) ($($result)?) $documentation);
        )*
    };
    (
        @ $name:ident $scope:ident $scope_name:literal $suffix:literal $kind:ident $operation:ident
        ($($argument:ident: $argument_kind:ty),*) ($($result:ty)?) $documentation:literal
    ) => {
        #[doc = concat!($documentation, ", with ", $scope_name, " scope (`", $suffix, "`).")]
        ///
        /// # Safety
        /// See the module.
        #[inline(always)]
        pub unsafe fn $name(
            ptr: *mut $kind,
            ordering: Ordering,
            $($argument: $argument_kind),*
        ) $(-> $result)? {
            // SAFETY: the caller's contract.
            unsafe { $kind::$operation::<$scope>(ptr, $($argument,)* ordering) }
        }
    };
}

/// Declares compare-and-swap for one type, whose ordering is the last argument.
macro_rules! compare_and_swap {
    ($($kind:ident: $block:ident $device:ident $system:ident;)*) => {
        $(
            compare_and_swap!(@ $kind $block Block "block" ".cta");
            compare_and_swap!(@ $kind $device Device "device" ".gpu");
            compare_and_swap!(@ $kind $system System "system" ".sys");
        )*
    };
    (@ $kind:ident $name:ident $scope:ident $scope_name:literal $suffix:literal) => {
        #[doc = concat!(
            "Replaces the value when its bits are those of `current` and returns the old value ",
            "(`atom.cas`), with ", $scope_name, " scope (`", $suffix, "`)."
        )]
        ///
        /// # Safety
        /// See the module.
        #[inline(always)]
        pub unsafe fn $name(
            ptr: *mut $kind,
            current: $kind,
            new: $kind,
            ordering: Ordering,
        ) -> $kind {
            // SAFETY: the caller's contract.
            unsafe { $kind::compare_and_swap::<$scope>(ptr, current, new, ordering) }
        }
    };
}

scoped! {
    atomic_load_32_block atomic_load_32_device atomic_load_32_system:
        u32.load() -> u32, "The value (`ld`)";
    atomic_load_64_block atomic_load_64_device atomic_load_64_system:
        u64.load() -> u64, "The value (`ld`)";
    atomic_store_32_block atomic_store_32_device atomic_store_32_system:
        u32.store(val: u32), "Replaces the value (`st`)";
    atomic_store_64_block atomic_store_64_device atomic_store_64_system:
        u64.store(val: u64), "Replaces the value (`st`)";
    atomic_fetch_and_u32_block atomic_fetch_and_u32_device atomic_fetch_and_u32_system:
        u32.and(val: u32) -> u32, "Keeps the bits that are set in both and returns the old value (`atom.and`)";
    atomic_fetch_and_u64_block atomic_fetch_and_u64_device atomic_fetch_and_u64_system:
        u64.and(val: u64) -> u64, "Keeps the bits that are set in both and returns the old value (`atom.and`)";
    atomic_fetch_and_i32_block atomic_fetch_and_i32_device atomic_fetch_and_i32_system:
        i32.and(val: i32) -> i32, "Keeps the bits that are set in both and returns the old value (`atom.and`)";
    atomic_fetch_and_i64_block atomic_fetch_and_i64_device atomic_fetch_and_i64_system:
        i64.and(val: i64) -> i64, "Keeps the bits that are set in both and returns the old value (`atom.and`)";
    atomic_fetch_and_f32_block atomic_fetch_and_f32_device atomic_fetch_and_f32_system:
        f32.and(val: f32) -> f32, "Keeps the bits that are set in both and returns the old value (`atom.and`)";
    atomic_fetch_and_f64_block atomic_fetch_and_f64_device atomic_fetch_and_f64_system:
        f64.and(val: f64) -> f64, "Keeps the bits that are set in both and returns the old value (`atom.and`)";
    atomic_fetch_or_u32_block atomic_fetch_or_u32_device atomic_fetch_or_u32_system:
        u32.or(val: u32) -> u32, "Sets bits and returns the old value (`atom.or`)";
    atomic_fetch_or_u64_block atomic_fetch_or_u64_device atomic_fetch_or_u64_system:
        u64.or(val: u64) -> u64, "Sets bits and returns the old value (`atom.or`)";
    atomic_fetch_or_i32_block atomic_fetch_or_i32_device atomic_fetch_or_i32_system:
        i32.or(val: i32) -> i32, "Sets bits and returns the old value (`atom.or`)";
    atomic_fetch_or_i64_block atomic_fetch_or_i64_device atomic_fetch_or_i64_system:
        i64.or(val: i64) -> i64, "Sets bits and returns the old value (`atom.or`)";
    atomic_fetch_or_f32_block atomic_fetch_or_f32_device atomic_fetch_or_f32_system:
        f32.or(val: f32) -> f32, "Sets bits and returns the old value (`atom.or`)";
    atomic_fetch_or_f64_block atomic_fetch_or_f64_device atomic_fetch_or_f64_system:
        f64.or(val: f64) -> f64, "Sets bits and returns the old value (`atom.or`)";
    atomic_fetch_xor_u32_block atomic_fetch_xor_u32_device atomic_fetch_xor_u32_system:
        u32.xor(val: u32) -> u32, "Flips bits and returns the old value (`atom.xor`)";
    atomic_fetch_xor_u64_block atomic_fetch_xor_u64_device atomic_fetch_xor_u64_system:
        u64.xor(val: u64) -> u64, "Flips bits and returns the old value (`atom.xor`)";
    atomic_fetch_xor_i32_block atomic_fetch_xor_i32_device atomic_fetch_xor_i32_system:
        i32.xor(val: i32) -> i32, "Flips bits and returns the old value (`atom.xor`)";
    atomic_fetch_xor_i64_block atomic_fetch_xor_i64_device atomic_fetch_xor_i64_system:
        i64.xor(val: i64) -> i64, "Flips bits and returns the old value (`atom.xor`)";
    atomic_fetch_xor_f32_block atomic_fetch_xor_f32_device atomic_fetch_xor_f32_system:
        f32.xor(val: f32) -> f32, "Flips bits and returns the old value (`atom.xor`)";
    atomic_fetch_xor_f64_block atomic_fetch_xor_f64_device atomic_fetch_xor_f64_system:
        f64.xor(val: f64) -> f64, "Flips bits and returns the old value (`atom.xor`)";
    atomic_fetch_add_u32_block atomic_fetch_add_u32_device atomic_fetch_add_u32_system:
        u32.add(val: u32) -> u32, "Adds and returns the old value (`atom.add`)";
    atomic_fetch_add_u64_block atomic_fetch_add_u64_device atomic_fetch_add_u64_system:
        u64.add(val: u64) -> u64, "Adds and returns the old value (`atom.add`)";
    atomic_fetch_add_i32_block atomic_fetch_add_i32_device atomic_fetch_add_i32_system:
        i32.add(val: i32) -> i32, "Adds and returns the old value (`atom.add`)";
    atomic_fetch_add_i64_block atomic_fetch_add_i64_device atomic_fetch_add_i64_system:
        i64.add(val: i64) -> i64, "Adds and returns the old value (`atom.add`)";
    atomic_fetch_add_f32_block atomic_fetch_add_f32_device atomic_fetch_add_f32_system:
        f32.add(val: f32) -> f32, "Adds and returns the old value (`atom.add`)";
    atomic_fetch_add_f64_block atomic_fetch_add_f64_device atomic_fetch_add_f64_system:
        f64.add(val: f64) -> f64, "Adds and returns the old value (`atom.add`)";
    atomic_fetch_sub_u32_block atomic_fetch_sub_u32_device atomic_fetch_sub_u32_system:
        u32.sub(val: u32) -> u32, "Subtracts and returns the old value (`atom.add`)";
    atomic_fetch_sub_u64_block atomic_fetch_sub_u64_device atomic_fetch_sub_u64_system:
        u64.sub(val: u64) -> u64, "Subtracts and returns the old value (`atom.add`)";
    atomic_fetch_sub_i32_block atomic_fetch_sub_i32_device atomic_fetch_sub_i32_system:
        i32.sub(val: i32) -> i32, "Subtracts and returns the old value (`atom.add`)";
    atomic_fetch_sub_i64_block atomic_fetch_sub_i64_device atomic_fetch_sub_i64_system:
        i64.sub(val: i64) -> i64, "Subtracts and returns the old value (`atom.add`)";
    atomic_fetch_sub_f32_block atomic_fetch_sub_f32_device atomic_fetch_sub_f32_system:
        f32.sub(val: f32) -> f32, "Subtracts and returns the old value (`atom.add`)";
    atomic_fetch_sub_f64_block atomic_fetch_sub_f64_device atomic_fetch_sub_f64_system:
        f64.sub(val: f64) -> f64, "Subtracts and returns the old value (`atom.add`)";
    atomic_fetch_min_u32_block atomic_fetch_min_u32_device atomic_fetch_min_u32_system:
        u32.minimum(val: u32) -> u32, "Keeps the smaller value and returns the old one (`atom.min`)";
    atomic_fetch_min_u64_block atomic_fetch_min_u64_device atomic_fetch_min_u64_system:
        u64.minimum(val: u64) -> u64, "Keeps the smaller value and returns the old one (`atom.min`)";
    atomic_fetch_min_i32_block atomic_fetch_min_i32_device atomic_fetch_min_i32_system:
        i32.minimum(val: i32) -> i32, "Keeps the smaller value and returns the old one (`atom.min`)";
    atomic_fetch_min_i64_block atomic_fetch_min_i64_device atomic_fetch_min_i64_system:
        i64.minimum(val: i64) -> i64, "Keeps the smaller value and returns the old one (`atom.min`)";
    atomic_fetch_max_u32_block atomic_fetch_max_u32_device atomic_fetch_max_u32_system:
        u32.maximum(val: u32) -> u32, "Keeps the larger value and returns the old one (`atom.max`)";
    atomic_fetch_max_u64_block atomic_fetch_max_u64_device atomic_fetch_max_u64_system:
        u64.maximum(val: u64) -> u64, "Keeps the larger value and returns the old one (`atom.max`)";
    atomic_fetch_max_i32_block atomic_fetch_max_i32_device atomic_fetch_max_i32_system:
        i32.maximum(val: i32) -> i32, "Keeps the larger value and returns the old one (`atom.max`)";
    atomic_fetch_max_i64_block atomic_fetch_max_i64_device atomic_fetch_max_i64_system:
        i64.maximum(val: i64) -> i64, "Keeps the larger value and returns the old one (`atom.max`)";
    atomic_fetch_inc_u32_block atomic_fetch_inc_u32_device atomic_fetch_inc_u32_system:
        u32.increment(limit: u32) -> u32, "Adds 1, or starts again at 0 at the limit, and returns the old value (`atom.inc`)";
    atomic_fetch_dec_u32_block atomic_fetch_dec_u32_device atomic_fetch_dec_u32_system:
        u32.decrement(limit: u32) -> u32, "Subtracts 1, or starts again at the limit, and returns the old value (`atom.dec`)";
    atomic_fetch_exch_u32_block atomic_fetch_exch_u32_device atomic_fetch_exch_u32_system:
        u32.swap(val: u32) -> u32, "Replaces the value and returns the old one (`atom.exch`)";
    atomic_fetch_exch_u64_block atomic_fetch_exch_u64_device atomic_fetch_exch_u64_system:
        u64.swap(val: u64) -> u64, "Replaces the value and returns the old one (`atom.exch`)";
    atomic_fetch_exch_i32_block atomic_fetch_exch_i32_device atomic_fetch_exch_i32_system:
        i32.swap(val: i32) -> i32, "Replaces the value and returns the old one (`atom.exch`)";
    atomic_fetch_exch_i64_block atomic_fetch_exch_i64_device atomic_fetch_exch_i64_system:
        i64.swap(val: i64) -> i64, "Replaces the value and returns the old one (`atom.exch`)";
    atomic_fetch_exch_f32_block atomic_fetch_exch_f32_device atomic_fetch_exch_f32_system:
        f32.swap(val: f32) -> f32, "Replaces the value and returns the old one (`atom.exch`)";
    atomic_fetch_exch_f64_block atomic_fetch_exch_f64_device atomic_fetch_exch_f64_system:
        f64.swap(val: f64) -> f64, "Replaces the value and returns the old one (`atom.exch`)";
}

compare_and_swap! {
    u32: atomic_compare_and_swap_u32_block atomic_compare_and_swap_u32_device atomic_compare_and_swap_u32_system;
    u64: atomic_compare_and_swap_u64_block atomic_compare_and_swap_u64_device atomic_compare_and_swap_u64_system;
    i32: atomic_compare_and_swap_i32_block atomic_compare_and_swap_i32_device atomic_compare_and_swap_i32_system;
    i64: atomic_compare_and_swap_i64_block atomic_compare_and_swap_i64_device atomic_compare_and_swap_i64_system;
    f32: atomic_compare_and_swap_f32_block atomic_compare_and_swap_f32_device atomic_compare_and_swap_f32_system;
    f64: atomic_compare_and_swap_f64_block atomic_compare_and_swap_f64_device atomic_compare_and_swap_f64_system;
}
