//! The device standard library for kernels written in Rust.
//!
//! The names and signatures are those of rust-cuda's `cuda_std`, so that a kernel can move between
//! the two; what goes beyond it (vector types, cache operators, asynchronous copies, clusters) is
//! said at each item. Every item states the PTX instruction it becomes, and from which compute
//! capability on it exists when that is newer than 7.0.
//!
//! The crate is for the target `nvptx64-nvidia-cuda`. On every other target it type-checks, so that
//! kernels can be checked, documented and shown by an editor there. A function that has no meaning
//! outside a kernel panics there and says so; one that only moves memory does so.

#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(
        abi_unadjusted,
        asm_experimental_arch,
        core_float_math,
        core_intrinsics,
        f16,
        link_llvm_intrinsics,
        optimize_attribute,
        repr_simd
    ),
    allow(internal_features)
)]

extern crate alloc;

mod capability;
mod nvvm;
mod panic;

pub mod async_copy;
pub mod atomic;
pub mod block;
pub mod bulk_copy;
pub mod cluster;
pub mod float;
// Text for people: device code is not built anew when it changes.
#[cfg(not(target_arch = "nvptx64"))]
pub mod glossary;
pub mod grid;
pub mod intrinsics;
pub mod io;
pub mod kernel;
pub mod launch_control;
pub mod mbarrier;
pub mod mem;
pub mod memory;
pub mod misc;
pub mod mma;
pub mod operator;
pub mod pipeline;
pub mod ptr;
pub mod random;
pub mod safe;
pub mod scaled_mma;
pub mod shared;
pub mod tensor_copy;
pub mod texture;
pub mod thread;
pub mod vector;
pub mod warp;
pub mod wgmma;
pub mod wide;

pub use core::{assert, assert_eq, assert_ne};

pub use cuda_std_macros::{Argument, address_space, externally_visible, gpu_only, kernel};
#[cfg(all(not(target_arch = "nvptx64"), feature = "cust"))]
#[doc(hidden)]
pub use cust_core::DeviceCopy;
pub use float::half::{bf16, f16};
pub use float::{FloatExt, GpuFloat, GpuHalf};
pub use glam;
#[cfg(feature = "vek")]
#[deprecated(
    note = "`glam` is what the rest of this crate uses; rust-cuda gives the same advice"
)]
pub use vek;

/// The `half` crate; on the device with the [`f16`](struct@f16) and the [`bf16`](struct@bf16) of this one.
pub mod half {
    pub use crate::float::half::{bf16, f16};
    pub use ::half::*;
}

/// Marks a structure as one that cust's buffers may hold, on the host and with the feature `cust`.
#[cfg(all(not(target_arch = "nvptx64"), feature = "cust"))]
#[doc(hidden)]
#[macro_export]
macro_rules! device_copy {
    ($name:ident) => {
        // SAFETY: `#[derive(Argument)]` has checked that it is plain values without pointers.
        unsafe impl $crate::DeviceCopy for $name {}
    };
}

/// Nothing: there are no cust's buffers.
#[cfg(not(all(not(target_arch = "nvptx64"), feature = "cust")))]
#[doc(hidden)]
#[macro_export]
macro_rules! device_copy {
    ($name:ident) => {};
}

/// Names that most kernels use. [`GpuFloat`] is not in rust-cuda's.
pub mod prelude {
    pub use alloc::borrow::ToOwned;
    pub use alloc::boxed::Box;
    pub use alloc::format;
    pub use alloc::rc::Rc;
    pub use alloc::string::{String, ToString};
    pub use alloc::vec::Vec;

    pub use crate::{Argument, GpuFloat, address_space, f16, kernel, shared, thread, warp};
    pub use crate::{assert_eq, assert_ne, print, println};
}
