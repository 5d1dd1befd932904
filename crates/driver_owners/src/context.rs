//! The primary context of a device, in which everything of it lives.
//!
//! ```no_run
//! use driver_owners::{context::Context, device::Device};
//! # fn f() -> driver_owners::error::CudaResult<()> {
//! driver_owners::init(driver_owners::CudaFlags::empty())?;
//! let context = Context::new(Device::get_device(0)?)?;
//! # Ok(())
//! # }
//! ```

use crate::device::Device;
use crate::error::{CudaResult, result};
use cuda_driver::api;
use cuda_driver::raw::CUcontext;

/// The primary context of a device, held for as long as this lives.
#[derive(Debug)]
pub struct Context {
    context: CUcontext,
    device: Device,
}

// SAFETY: the driver's calls may come from any thread; the handle is a number to them.
unsafe impl Send for Context {}
// SAFETY: a call takes the handle as a number, and nothing is changed behind a shared reference.
unsafe impl Sync for Context {}

/// A context that can be made current.
pub trait ContextHandle {
    /// The driver's handle.
    fn get_inner(&self) -> CUcontext;
}

impl ContextHandle for Context {
    fn get_inner(&self) -> CUcontext {
        self.context
    }
}

impl Context {
    /// Holds the device's primary context and makes it current on this thread.
    ///
    /// # Errors
    /// When the driver does not retain it or make it current.
    pub fn new(device: Device) -> CudaResult<Context> {
        let mut context = std::ptr::null_mut();
        // SAFETY: a local to write to.
        result(unsafe { api::cuDevicePrimaryCtxRetain(&mut context, device.device) })?;
        let context = Context { context, device };
        CurrentContext::set_current(&context)?;
        Ok(context)
    }

    /// The driver's handle.
    pub fn as_raw(&self) -> CUcontext {
        self.context
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: it was retained once, and is released once. A failure cannot be told to anybody.
        let _ = unsafe { api::cuDevicePrimaryCtxRelease_v2(self.device.device) };
    }
}

/// The context that the calls of this thread mean.
#[derive(Debug)]
pub struct CurrentContext;

impl CurrentContext {
    /// Its device.
    ///
    /// # Errors
    /// None is current.
    pub fn get_device() -> CudaResult<Device> {
        let mut device = 0;
        // SAFETY: a local to write to.
        result(unsafe { api::cuCtxGetDevice(&mut device) })?;
        Ok(Device { device })
    }

    /// Makes another one current.
    ///
    /// # Errors
    /// When the driver does not make it current.
    pub fn set_current<C: ContextHandle>(context: &C) -> CudaResult<()> {
        // SAFETY: the context is held by its owner.
        result(unsafe { api::cuCtxSetCurrent(context.get_inner()) })
    }

    /// Waits for all that was enqueued in it.
    ///
    /// # Errors
    /// The driver's, also that of a kernel that failed.
    pub fn synchronize() -> CudaResult<()> {
        // SAFETY: the call takes nothing.
        result(unsafe { api::cuCtxSynchronize() })
    }
}
