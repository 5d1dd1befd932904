//! Launches of kernels written in Rust: a device, the PTX that fits it, memory in order, and
//! launches that are checked when they are compiled.
//!
//! Buffers, streams and events are those of `cuda_host::cust`: the published crate with the feature `cust`, else
//! `driver_owners`, which has the same names and needs no installation of CUDA. `cuda_host::cust` compiles with both.
//!
//! ```no_run
//! # mod my_app { pub static IMAGES: &[cuda_host::Image] = &[]; }
//! # mod my_app_kernels {
//! #     use cuda_std::prelude::*;
//! #     use cuda_std::safe::PerThread;
//! #     #[kernel(block = 256, same_length(x, y, z))]
//! #     pub fn saxpy(a: f32, x: &[f32], y: &[f32], mut z: PerThread<f32>) {
//! #         if let Some(z) = z.mine() { *z = a; }
//! #     }
//! # }
//! use cuda_host::Gpu;
//! use my_app::IMAGES;
//! use my_app_kernels::saxpy;
//!
//! fn main() -> Result<(), cuda_host::GpuError> {
//!     // A GPU if there is one, else the virtual device. IMAGES is what the build script wrote.
//!     let gpu = Gpu::auto(IMAGES)?;
//!     let x = gpu.filled(1.0_f32, 1000)?;
//!     let y = gpu.upload(&vec![2.0; 1000])?;
//!     let mut z = gpu.zeroed(1000)?;
//!     gpu.launcher().run(saxpy, 4, (3.0, &x, &y, &mut z))?;
//!     assert_eq!(gpu.download(&z)?, vec![5.0; 1000]);
//!     Ok(())
//! }
//! ```
//!
//! [`Gpu::upload`] and its like come after what the device's stream has, and are done when they return. cust's own calls
//! without a stream are on the legacy default stream, for which that stream does not wait: `DeviceBuffer::zeroed` returns
//! before it has zeroed, and `DeviceBuffer::from_slice` may return before the copy has arrived. [`Launcher::run`] and
//! [`Launcher::scope`] wait for them; [`Launcher::launch`] and [`Launcher::enqueue`], which are `unsafe`, do not.
//!
//! An error of a function without a section on errors is the driver's.

// Every `cust::` below means it.
#[cfg(not(feature = "cust"))]
pub extern crate driver_owners as cust;

#[macro_use]
mod example;

mod argument;
mod choice;
mod devices;
mod error;
mod gpu;
mod host_memory;
mod image;
mod kernels;
mod launch;
mod ordered;
mod origin;
mod safe_launch;
mod scope;
mod stored;
mod streams;
#[cfg(feature = "virtual")]
pub mod testing;
#[cfg(feature = "virtual")]
mod twin;
mod view;
#[cfg(feature = "virtual")]
mod virtual_device;

pub use argument::{Argument, ArgumentList, Arguments, SafeArgument, SafeArguments};
pub use choice::{Choice, ChoiceError, DEVICE_VARIABLE};
// The 16-bit floats of kernels, for hosts that name them.
/// The reason why there is no usable driver.
pub use cuda_driver::DriverError;
pub use cuda_driver::{OperationKind, OperationRecord};
pub use cuda_std::{bf16, f16};
#[cfg(feature = "cust")]
pub use cust;
pub use devices::device_count;
pub use error::{GpuError, NoDriver};
pub use gpu::{DeviceFacts, Gpu};
#[doc(hidden)]
pub use image::Ptx;
pub use image::{Image, KernelFacts, PTX_VARIABLE};
pub use kernels::Kernels;
pub use launch::{LaunchResources, Launcher};
pub use scope::{LaunchScope, Lent, ScopedArgument, ScopedArguments, Shared};
#[cfg(feature = "virtual")]
pub use simt::{Checks, Schedule};
pub use stored::{Half, Stored, StoredAs};
pub use streams::Streams;
#[cfg(feature = "virtual")]
pub use twin::{OwnGpu, Twin};
pub use view::{DevicePtr, DevicePtrMut, Part, PartMut, Parts};
#[cfg(feature = "virtual")]
pub use virtual_device::{
    KernelFault, Misuse, MisuseKind, MisusedMemory, VirtualDevice, WorkScale, misuse,
};
#[cfg(feature = "virtual")]
pub use virtual_gpu::Options as VirtualOptions;
