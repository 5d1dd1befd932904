//! Atomic operations on plain pointers, with the ordering and the scope in the name, as rust-cuda has them.
//!
//! The word `volatile` in a name stands for no ordering: a volatile access, or `Relaxed` of a read-modify-write. Every
//! function requires what those of [`super::mid`] do, which have the ordering as an argument.

use core::sync::atomic::Ordering;

use pastey::paste;

use super::instruction::{Block, Device, Integer, Scope, System, Value, Word};

/// Declares the fences of a scope.
macro_rules! fences {
    ($($scope:ident $type:ident $ptx:literal;)*) => {
        $(paste! {
            #[doc = concat!("Orders memory accesses, sequentially consistent. PTX: `fence.sc", $ptx, "`.")]
            ///
            /// # Safety
            /// - Nothing is asked for.
            #[inline(always)]
            pub unsafe fn [<membar_ $scope>]() {
                $type::fence(Ordering::SeqCst);
            }

            #[doc = concat!("Orders memory accesses, sequentially consistent. PTX: `fence.sc", $ptx, "`.")]
            ///
            /// # Safety
            /// - Nothing is asked for.
            #[inline(always)]
            pub unsafe fn [<fence_sc_ $scope>]() {
                $type::fence(Ordering::SeqCst);
            }

            #[doc = concat!("Orders memory accesses, with acquire and release. PTX: `fence.acq_rel", $ptx, "`.")]
            ///
            /// # Safety
            /// - Nothing is asked for.
            #[inline(always)]
            pub unsafe fn [<fence_acqrel_ $scope>]() {
                $type::fence(Ordering::AcqRel);
            }
        })*
    };
}

fences! {
    block Block ".cta";
    device Device ".gpu";
    system System ".sys";
}

/// Declares loads and stores for each width, ordering and scope.
macro_rules! accesses {
    ($($kind:ident $bits:literal)*) => {
        $(
            accesses!(@ $kind $bits block Block);
            accesses!(@ $kind $bits device Device);
            accesses!(@ $kind $bits system System);
        )*
    };
    (@ $kind:ident $bits:literal $scope:ident $type:ident) => {
        accesses!(@load $kind $bits $scope $type relaxed Relaxed);
        accesses!(@load $kind $bits $scope $type acquire Acquire);
        accesses!(@store $kind $bits $scope $type relaxed Relaxed);
        accesses!(@store $kind $bits $scope $type release Release);
        paste! {
            #[doc = "The value, by a volatile load. PTX: `ld.volatile`."]
            ///
            /// # Safety
            /// - See the module.
            #[inline(always)]
            pub unsafe fn [<atomic_load_volatile_ $bits _ $scope>](ptr: *const $kind) -> $kind {
                // SAFETY: the caller's contract.
                unsafe { ptr.read_volatile() }
            }

            #[doc = "Replaces the value, by a volatile store. PTX: `st.volatile`."]
            ///
            /// # Safety
            /// - See the module.
            #[inline(always)]
            pub unsafe fn [<atomic_store_volatile_ $bits _ $scope>](ptr: *mut $kind, val: $kind) {
                // SAFETY: the caller's contract.
                unsafe { ptr.write_volatile(val) }
            }
        }
    };
    (@load $kind:ident $bits:literal $scope:ident $type:ident $name:ident $ordering:ident) => {
        paste! {
            #[doc = concat!("The value. PTX: `ld.", stringify!($name), "`.")]
            ///
            /// # Safety
            /// - See the module.
            #[inline(always)]
            pub unsafe fn [<atomic_load_ $name _ $bits _ $scope>](ptr: *const $kind) -> $kind {
                // SAFETY: the caller's contract.
                unsafe { $kind::load::<$type>(ptr.cast_mut(), Ordering::$ordering) }
            }
        }
    };
    (@store $kind:ident $bits:literal $scope:ident $type:ident $name:ident $ordering:ident) => {
        paste! {
            #[doc = concat!("Replaces the value. PTX: `st.", stringify!($name), "`.")]
            ///
            /// # Safety
            /// - See the module.
            #[inline(always)]
            pub unsafe fn [<atomic_store_ $name _ $bits _ $scope>](ptr: *mut $kind, val: $kind) {
                // SAFETY: the caller's contract.
                unsafe { $kind::store::<$type>(ptr, val, Ordering::$ordering) }
            }
        }
    };
}

accesses! { u32 32 u64 64 }

/// Declares a read-modify-write for each type, ordering and scope.
macro_rules! updates {
    ($($name:ident: of [$($kind:ident)*] is $method:ident $arguments:tt $values:tt, $does:literal;)*) => {
        $($(
            updates!(@ $name $kind $method $arguments $values $does, relaxed Relaxed);
            updates!(@ $name $kind $method $arguments $values $does, acquire Acquire);
            updates!(@ $name $kind $method $arguments $values $does, release Release);
            updates!(@ $name $kind $method $arguments $values $does, acqrel AcqRel);
            updates!(@ $name $kind $method $arguments $values $does, volatile Relaxed);
        )*)*
    };
    (@ $name:ident $kind:ident $method:ident $arguments:tt $values:tt $does:literal,
        $word:ident $ordering:ident) => {
        updates!(@@ $name $kind $method $arguments $values $does, $word $ordering block Block);
        updates!(@@ $name $kind $method $arguments $values $does, $word $ordering device Device);
        updates!(@@ $name $kind $method $arguments $values $does, $word $ordering system System);
    };
    (@@ $name:ident $kind:ident $method:ident ($($argument:ident),*) ($($value:expr),*) $does:literal,
        $word:ident $ordering:ident $scope:ident $type:ident) => {
        paste! {
            #[doc = concat!($does, " and returns the old one.")]
            ///
            /// # Safety
            /// - See the module.
            #[inline(always)]
            pub unsafe fn [<atomic_fetch_ $name _ $word _ $kind _ $scope>](
                ptr: *mut $kind,
                $($argument: $kind),*
            ) -> $kind {
                // SAFETY: the caller's contract.
                unsafe { $kind::$method::<$type>(ptr, $($argument,)* $($value,)* Ordering::$ordering) }
            }
        }
    };
}

updates! {
    and: of [u32 u64 i32 i64 f32 f64] is and(val) (), "Keeps the bits of the value that are set in both";
    or: of [u32 u64 i32 i64 f32 f64] is or(val) (), "Sets bits of the value";
    xor: of [u32 u64 i32 i64 f32 f64] is xor(val) (), "Flips bits of the value";
    add: of [u32 u64 i32 i64 f32 f64] is add(val) (), "Adds to the value";
    sub: of [u32 u64 i32 i64 f32 f64] is sub(val) (), "Subtracts from the value";
    min: of [u32 u64 i32 i64] is minimum(val) (), "Keeps the smaller value";
    max: of [u32 u64 i32 i64] is maximum(val) (), "Keeps the larger value";
    exch: of [u32 u64 i32 i64 f32 f64] is swap(val) (), "Replaces the value";
    inc: of [u32 u64 i32 i64] is add() (1), "Adds 1 to the value";
    dec: of [u32 u64 i32 i64] is sub() (1), "Subtracts 1 from the value";
    cas: of [u32 u64 i32 i64 f32 f64] is compare_and_swap(first_val, second_val) (),
        "Replaces the value by the second one when its bits are those of the first,";
}
