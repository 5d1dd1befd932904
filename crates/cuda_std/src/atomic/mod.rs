//! Atomic numbers with the scope and the ordering written into the instruction.
//!
//! The scope says which threads an operation is atomic and ordered for: the block (`.cta` in PTX),
//! the device (`.gpu`) or the system with all devices and the host (`.sys`). `AtomicF32`,
//! `AtomicU32` and so on have device scope; `Block..` and `System..` stand for the others. Block
//! scope is enough for shared memory. Its methods are unsafe, because sharing such a number between
//! blocks is a data race that the type does not rule out.
//!
//! The numbers of `core::sync::atomic` work in kernels too, and mean what they say: `cuda_builder` puts fences around a
//! read-modify-write with an ordering. The types here have the ordering in the instruction, and a narrower scope.
//!
//! | ordering | load | store | read-modify-write |
//! |---|---|---|---|
//! | `Relaxed` | `ld.relaxed` | `st.relaxed` | `atom.relaxed` |
//! | `Acquire` | `ld.acquire` | | `atom.acquire` |
//! | `Release` | | `st.release` | `atom.release` |
//! | `AcqRel` | | | `atom.acq_rel` |
//! | `SeqCst` | `fence.sc; ld.acquire` | `fence.sc; st.release` | `fence.sc; atom.acq_rel` |
//!
//! The state space is written into the instruction where LLVM knows it (`atom.relaxed.cta.shared`).
//! An `atom` whose result is not used becomes `RED` in machine code.
//!
//! On the host they are the atomics of `core`.
//!
//! Sources: PTX ISA, "Memory Consistency Model", `atom`; Lustig, Sahasrabuddhe, Giroux: "A Formal
//! Analysis of the NVIDIA PTX Memory Consistency Model" (the table above).
//!
//! ```no_run
//! use cuda_std::atomic::BlockAtomicU32;
//! use core::sync::atomic::Ordering;
//! let count = BlockAtomicU32::new(0);
//! // SAFETY: only this block adds to it.
//! unsafe { count.fetch_add(1, Ordering::Relaxed) };
//! ```

mod instruction;
pub mod intrinsics;
pub mod mid;
mod vector;

use core::cell::UnsafeCell;
use core::fmt;
use core::sync::atomic::Ordering;

use crate::float::half::{bf16, f16};
use crate::float::{Bf16x2, F16x2};
use instruction::{Block, Counter, Device, Integer, System, Value, Word};
pub use vector::{add_f32x2, add_f32x4};

macro_rules! atomic {
    ($(
        $(#[$documentation:meta])*
        $name:ident($value:ident, $scope:ident, align $alignment:tt) $($safety:ident)?;
    )*) => {
        $(
            $(#[$documentation])*
            #[repr(C, align($alignment))]
            pub struct $name(UnsafeCell<$value>);

            // SAFETY: every access through a shared reference is atomic, in the type's scope.
            unsafe impl Sync for $name {}

            impl $name {
                /// An atomic number of the given value.
                #[inline(always)]
                #[must_use]
                pub const fn new(value: $value) -> Self {
                    Self(UnsafeCell::new(value))
                }

                /// The atomic number at a place in global or shared memory. Beyond rust-cuda.
                ///
                /// # Safety
                /// - `pointer` must be valid for reads and writes for `'a` and aligned to the size of the number,
                ///   which must not be accessed otherwise while other threads access it.
                #[inline(always)]
                #[must_use]
                pub const unsafe fn from_ptr<'a>(pointer: *mut $value) -> &'a Self {
                    // SAFETY: the caller's contract.
                    unsafe { &*pointer.cast() }
                }

                /// The place of the number. Beyond rust-cuda.
                #[inline(always)]
                #[must_use]
                pub const fn as_ptr(&self) -> *mut $value {
                    self.0.get()
                }

                /// The value.
                #[inline(always)]
                #[must_use]
                pub fn into_inner(self) -> $value {
                    self.0.into_inner()
                }
            }

            atomic!(@methods $name $value $scope [$($safety)?]
                /// The value. PTX: `ld`.
                ///
                /// # Panics
                /// When the ordering is `Release` or `AcqRel`.
                load() -> $value = load;
                /// Replaces the value. PTX: `st`.
                ///
                /// # Panics
                /// When the ordering is `Acquire` or `AcqRel`.
                store(value: $value) = store;
                /// Adds to the value and returns the old one. PTX: `atom.add`.
                fetch_add(value: $value) -> $value = add;
                /// Subtracts from the value and returns the old one. PTX: `atom.add` of the
                /// negative.
                fetch_sub(value: $value) -> $value = sub;
            );

            atomic!(@word $alignment $name $value $scope [$($safety)?]);
            atomic!(@compare $name $value $scope [$($safety)?]);

            impl Default for $name {
                fn default() -> Self {
                    Self::new($value::default())
                }
            }

            impl From<$value> for $name {
                fn from(value: $value) -> Self {
                    Self::new(value)
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    // SAFETY: the place is valid because `self` is.
                    let value = unsafe { $value::load::<$scope>(self.as_ptr(), Ordering::Relaxed) };
                    fmt::Debug::fmt(&value, formatter)
                }
            }
        )*
    };
    (
        @methods $name:ident $value:ident $scope:ident $safety:tt
        $($(#[$documentation:meta])* $method:ident($($argument:ident: $kind:ty)?) $(-> $result:ty)? = $operation:ident;)*
    ) => {
        impl $name {
            $(atomic!(@method $safety $(#[$documentation])*
                $method(self $(, $argument: $kind)?, ordering: Ordering) $(-> $result)?
                = $value::$operation::<$scope>(self.as_ptr(), $($argument,)? ordering));)*
        }
    };
    (@method [] $(#[$documentation:meta])* $method:ident($self:ident $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?
        = $call:expr) => {
        $(#[$documentation])*
        #[inline(always)]
        pub fn $method(&$self $(, $argument: $kind)*) $(-> $result)? {
            // SAFETY: the place is valid because `self` is.
            unsafe { $call }
        }
    };
    (@method [unsafe] $(#[$documentation:meta])* $method:ident($self:ident $(, $argument:ident: $kind:ty)*)
        $(-> $result:ty)? = $call:expr) => {
        $(#[$documentation])*
        ///
        /// # Safety
        /// - Aliasing: while threads of one block access the number, threads of others do not.
        #[inline(always)]
        pub unsafe fn $method(&$self $(, $argument: $kind)*) $(-> $result)? {
            // SAFETY: the place is valid because `self` is; the scope is the caller's part.
            unsafe { $call }
        }
    };
    // PTX has these for 4 and 8 bytes only.
    (@word 2 $name:ident $value:ident $scope:ident [$($safety:ident)?]) => {};
    (@word $alignment:tt $name:ident $value:ident $scope:ident [$($safety:ident)?]) => {
        atomic!(@methods $name $value $scope [$($safety)?]
            /// Replaces the value and returns the old one. PTX: `atom.exch`. Beyond rust-cuda.
            swap(value: $value) -> $value = swap;
            /// Keeps the bits that are set in both, and returns the old value. PTX: `atom.and`.
            fetch_and(value: $value) -> $value = and;
            /// Sets the bits that are set in the argument, and returns the old value.
            /// PTX: `atom.or`.
            fetch_or(value: $value) -> $value = or;
            /// Flips the bits that are set in the argument, and returns the old value.
            /// PTX: `atom.xor`.
            fetch_xor(value: $value) -> $value = xor;
        );
    };
    (@compare $name:ident $value:ident $scope:ident [$($safety:ident)?]) => {
        impl $name {
            atomic!(@method [$($safety)?]
                /// Replaces the value when its bits are those of `current`. Returns the old value, as
                /// `Ok` when it was replaced. PTX: `atom.cas`. Beyond rust-cuda.
                ///
                /// # Errors
                /// The old value, when it was not `current`.
                compare_exchange(self, current: $value, new: $value, success: Ordering, failure: Ordering)
                -> Result<$value, $value>
                = $value::compare_exchange::<$scope>(self.as_ptr(), current, new, success, failure));
        }
    };
}

/// Declares a number's type in each scope, the operations of integers where it is one, and those of a counter.
macro_rules! in_each_scope {
    ($($about:literal $value:ident $alignment:tt: $device:ident $block:ident $system:ident $note:literal $($more:ident)*;)*) => {
        atomic! { $(
            #[doc = concat!($about, " atomic for the device", $note)]
            $device($value, Device, align $alignment);
            #[doc = concat!($about, " atomic for the block", $note)]
            $block($value, Block, align $alignment) unsafe;
            #[doc = concat!($about, " atomic for all devices and the host", $note)]
            $system($value, System, align $alignment);
        )* }
        $($(
            $more!($device $value Device []);
            $more!($block $value Block [unsafe]);
            $more!($system $value System []);
        )*)*
    };
}

/// Adds the operations that only integers have.
macro_rules! integer {
    ($name:ident $value:ident $scope:ident $safety:tt) => {
        atomic!(@methods $name $value $scope $safety
            /// Keeps the smaller value, and returns the old one. PTX: `atom.min`.
            fetch_min(value: $value) -> $value = minimum;
            /// Keeps the larger value, and returns the old one. PTX: `atom.max`.
            fetch_max(value: $value) -> $value = maximum;
        );
    };
}

/// Adds the operations that only `u32` has.
macro_rules! counter {
    ($name:ident $value:ident $scope:ident $safety:tt) => {
        atomic!(@methods $name $value $scope $safety
            /// Adds 1, or starts again at 0 when the value is at least `limit`, and returns the
            /// old value: CUDA's `atomicInc`. A counter of `limit + 1` tickets is back at 0 when
            /// the last one is taken. PTX: `atom.inc`. Beyond rust-cuda.
            fetch_inc(limit: u32) -> u32 = increment;
            /// Subtracts 1, or starts again at `limit` when the value is 0 or above `limit`, and
            /// returns the old value: CUDA's `atomicDec`. PTX: `atom.dec`. Beyond rust-cuda.
            fetch_dec(limit: u32) -> u32 = decrement;
        );
    };
}

in_each_scope! {
    "An `f32` that is" f32 4: AtomicF32 BlockAtomicF32 SystemAtomicF32 ".";
    "An `f64` that is" f64 8: AtomicF64 BlockAtomicF64 SystemAtomicF64 ".";
    "A `u32` that is" u32 4: AtomicU32 BlockAtomicU32 SystemAtomicU32 ". Beyond rust-cuda." integer counter;
    "An `i32` that is" i32 4: AtomicI32 BlockAtomicI32 SystemAtomicI32 ". Beyond rust-cuda." integer;
    "A `u64` that is" u64 8: AtomicU64 BlockAtomicU64 SystemAtomicU64 ". Beyond rust-cuda." integer;
    "An `i64` that is" i64 8: AtomicI64 BlockAtomicI64 SystemAtomicI64 ". Beyond rust-cuda." integer;
    "An [`f16`](struct@f16) that is" f16 2: AtomicF16 BlockAtomicF16 SystemAtomicF16 ". Beyond rust-cuda.";
    "A [`bf16`] that is" bf16 2: AtomicBf16 BlockAtomicBf16 SystemAtomicBf16
        "; sums need compute capability 9.0. Beyond rust-cuda.";
    "Two `f16` whose sums are" F16x2 4: AtomicF16x2 BlockAtomicF16x2 SystemAtomicF16x2
        ", each half by itself. Beyond rust-cuda.";
    "Two `bf16` whose sums are" Bf16x2 4: AtomicBf16x2 BlockAtomicBf16x2 SystemAtomicBf16x2
        ", each half by itself; sums need compute capability 9.0. Beyond rust-cuda.";
}
