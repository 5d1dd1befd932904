//! Owners of what the CUDA driver hands out: devices, contexts, streams, events, modules and memory.
//!
//! They are the part of cust 0.3.2 that launching kernels needs, under cust's names and with its signatures. `cuda_host`
//! and `cust_ext` are written against those names, and use cust itself with their feature `cust`. Without it they use this
//! crate, which needs no build script, so that a library with kernels builds wherever Rust does.
//!
//! An error of a function without a section on errors is the driver's.
//!
//! Code that is written for this crate compiles with cust, too. Three things are stricter here:
//!
//! * `DeviceBuffer::zeroed` and `from_slice` have written the memory when they return; cust's may still be writing.
//! * [`memory::DeviceSlice`] cannot be copied, so that it does not outlive its memory.
//! * [`stream::Stream::new`] honours [`stream::StreamFlags::NON_BLOCKING`].

pub mod context;
pub mod device;
pub mod error;
pub mod event;
mod flags;
pub mod function;
pub mod memory;
pub mod module;
pub mod stream;

pub use cuda_driver::raw as sys;
pub use flags::CudaFlags;

/// Initializes the driver; everything else fails before that.
///
/// # Errors
/// When there is no driver, or no device.
pub fn init(flags: CudaFlags) -> error::CudaResult<()> {
    // SAFETY: the call takes no pointer.
    error::result(unsafe { cuda_driver::api::cuInit(flags.bits()) })
}
