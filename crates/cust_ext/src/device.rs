//! Starting a device, its attributes beyond cust's list, and its memory.
//!
//! ```no_run
//! # fn f() -> cust_ext::Result<()> {
//! let (device, _context) = cust_ext::device::open(0)?;
//! let name = cust_ext::device::pci_address(&device)?;
//! # Ok(())
//! # }
//! ```

use crate::error::{Result, argument, call};
use cust::context::{Context, ContextHandle, CurrentContext};
use cust::device::Device;
use cust::stream::Stream;
use cust::sys::CUcontext;
use std::ffi::{CStr, c_char, c_int};

/// Starts the driver, takes device `ordinal` and makes its primary context current on this thread.
///
/// Keep the context: the device's memory and work end with the last one.
///
/// # Errors
/// When there is no driver or no such device, and the driver's.
pub fn open(ordinal: u32) -> Result<(Device, Context)> {
    let info = cuda_driver::status()?;
    if ordinal as usize >= info.device_count {
        return argument(format!("there is no device {ordinal}: {info}"));
    }
    cust::init(cust::CudaFlags::empty())?;
    let device = Device::get_device(ordinal)?;
    let context = Context::new(device)?;
    CurrentContext::set_current(&context)?;
    Ok((device, context))
}

/// Runs `body` with this context current on the thread, and then makes that current which was before.
///
/// # Errors
/// When the driver does not make the context current, or that of before.
pub fn in_context<R>(context: &Context, body: impl FnOnce() -> R) -> Result<R> {
    within(context.get_inner(), body)
}

/// The same with the stream's own context.
pub(crate) fn in_context_of<R>(stream: &Stream, body: impl FnOnce() -> R) -> Result<R> {
    let mut context = std::ptr::null_mut();
    // SAFETY: the stream is alive, the context is a local to write to.
    unsafe { call!(cuStreamGetCtx(stream.as_inner(), &mut context))? };
    within(context, body)
}

fn within<R>(context: CUcontext, body: impl FnOnce() -> R) -> Result<R> {
    /// Pops, also when the body unwinds.
    struct Pop;

    impl Drop for Pop {
        fn drop(&mut self) {
            // SAFETY: the popped context is a local to write to.
            let _ = unsafe { call!(cuCtxPopCurrent_v2(&mut std::ptr::null_mut())) };
        }
    }

    // SAFETY: the driver says so if the context is none.
    unsafe { call!(cuCtxPushCurrent_v2(context))? };
    let _pop = Pop;
    Ok(body())
}

/// Free and total bytes of the current device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that can still be allocated, by all processes together.
    pub free_bytes: usize,
    /// Bytes of the device.
    pub total_bytes: usize,
}

/// Returns how much memory the current device has left.
///
/// # Errors
/// When no context is current.
pub fn memory_info() -> Result<MemoryInfo> {
    let (mut free_bytes, mut total_bytes) = (0, 0);
    // SAFETY: two locals to write to.
    unsafe { call!(cuMemGetInfo_v2(&mut free_bytes, &mut total_bytes))? };
    Ok(MemoryInfo { free_bytes, total_bytes })
}

pub use cuda_driver::types::DeviceAttribute;

/// The old name of [`DeviceAttribute`].
#[deprecated(since = "0.2.0", note = "it is `DeviceAttribute`")]
pub type Attribute = DeviceAttribute;

/// An attribute's value.
///
/// # Errors
/// When the driver does not know the attribute.
pub fn attribute(device: &Device, attribute: DeviceAttribute) -> Result<i32> {
    let mut value: c_int = 0;
    // SAFETY: a local to write to.
    unsafe { call!(cuDeviceGetAttribute(&mut value, attribute as u32, device.as_raw()))? };
    Ok(value)
}

/// The device's identifier, which no other device has.
///
/// # Errors
/// When the driver does not know the device.
pub fn uuid(device: &Device) -> Result<[u8; 16]> {
    let mut uuid = cuda_driver::raw::CUuuid { bytes: [0; 16] };
    // SAFETY: a local to write to.
    unsafe { call!(cuDeviceGetUuid_v2(&mut uuid, device.as_raw()))? };
    Ok(uuid.bytes.map(|byte| byte as u8))
}

/// The device's address on the PCI bus, such as `0000:3b:00.0`.
///
/// # Errors
/// When the driver does not know the device.
pub fn pci_address(device: &Device) -> Result<String> {
    let mut text: [c_char; 32] = [0; 32];
    // SAFETY: the buffer has the given length.
    unsafe { call!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 32, device.as_raw()))? };
    // SAFETY: the driver ends the text with a NUL within the length; the buffer was zeroed before.
    Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
}

/// The peak bandwidth of the device's memory in bytes per second, from clock and bus width.
///
/// Double data rate: two transfers per clock. Newer drivers report a memory clock of 0 on some devices; the answer is
/// then an error rather than a bandwidth of zero.
///
/// # Errors
/// When the driver does not tell the memory's clock or bus width.
pub fn peak_memory_bandwidth(device: &Device) -> Result<f64> {
    let kilohertz = attribute(device, DeviceAttribute::MemoryClockRate)?;
    let bits = attribute(device, DeviceAttribute::GlobalMemoryBusWidth)?;
    if kilohertz <= 0 || bits <= 0 {
        return argument(
            "the driver does not tell the memory's clock or bus width, use the data sheet's figure",
        );
    }
    Ok(2.0 * f64::from(kilohertz) * 1e3 * f64::from(bits) / 8.0)
}
