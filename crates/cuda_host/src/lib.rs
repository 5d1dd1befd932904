//! What a program needs to launch kernels that are written in Rust: a device, the PTX that fits it, and launches that
//! are checked when they are compiled.
//!
//! Buffers, streams and events are those of `cuda_host::cust`: the published crate with the feature `cust`, else
//! `driver_owners`, which has the same names and needs no installation of CUDA. A library that says `cuda_host::cust`
//! compiles with both.
//!
//! ```no_run
//! use cuda_host::{Choice, Gpu};
//! use cuda_host::cust::memory::{CopyDestination, DeviceBuffer};
//! # const IMAGES: &[cuda_host::Image] = &[];
//! # const scale: cuda_std::kernel::Kernel<fn(*const f32, *mut f32, u32)> =
//! #     unsafe { cuda_std::kernel::Kernel::new("scale", (0, 0), (0, 0, 0), 0) };
//!
//! // A GPU if there is one, else the virtual device. IMAGES is what the build script wrote.
//! let gpu = Gpu::open(&Choice::Auto, IMAGES)?;
//! let source = DeviceBuffer::from_slice(&[1.0_f32; 1000])?;
//! let mut target = DeviceBuffer::<f32>::zeroed(1000)?;
//! let launcher = gpu.launcher();
//! // SAFETY: 4 blocks of 256 threads cover 1000 elements, which both buffers have.
//! unsafe { launcher.launch(scale, 4, 256, 0, (&source, &mut target, 1000_u32)) }?;
//! launcher.finish()?;
//! let mut result = vec![0.0_f32; 1000];
//! target.copy_to(&mut result)?;
//! # Ok::<(), anyhow::Error>(())
//! ```

// Every `cust::` below means it.
#[cfg(not(feature = "cust"))]
pub extern crate driver_owners as cust;

mod argument;
mod choice;
mod error;
mod gpu;
mod host_memory;
mod image;
mod launch;
mod safe_launch;
mod streams;
#[cfg(feature = "virtual")]
pub mod testing;
mod view;
#[cfg(feature = "virtual")]
mod virtual_device;

pub use argument::{Argument, ArgumentList, Arguments, SafeArgument, SafeArguments};
pub use choice::{Choice, DEVICE_VARIABLE, device_count};
pub use cuda_driver::{OperationKind, OperationRecord};
#[cfg(feature = "cust")]
pub use cust;
pub use error::GpuError;
pub use gpu::{DeviceFacts, Gpu};
pub use image::{Image, KernelFacts, PTX_VARIABLE};
pub use launch::{LaunchResources, Launcher};
#[cfg(feature = "virtual")]
pub use simt::{Checks, Schedule};
pub use streams::Streams;
pub use view::{DevicePtr, DevicePtrMut};
#[cfg(feature = "virtual")]
pub use virtual_device::{VirtualDevice, WorkScale, misuse};
#[cfg(feature = "virtual")]
pub use virtual_gpu::Options as VirtualOptions;

/// The Rust of the guide's pages is compiled as tests of this crate.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/first_project.md")]
    struct FirstProject;
    #[doc = include_str!("../../../docs/guide/memory_spaces.md")]
    struct MemorySpaces;
    #[doc = include_str!("../../../docs/guide/testing.md")]
    struct Testing;
    #[doc = include_str!("../../../docs/guide/inline_ptx.md")]
    struct InlinePtx;
}
