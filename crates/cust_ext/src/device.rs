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
/// The driver's.
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
/// The driver's.
pub fn memory_info() -> Result<MemoryInfo> {
    let (mut free_bytes, mut total_bytes) = (0, 0);
    // SAFETY: two locals to write to.
    unsafe { call!(cuMemGetInfo_v2(&mut free_bytes, &mut total_bytes))? };
    Ok(MemoryInfo { free_bytes, total_bytes })
}

/// Device attributes, with NVIDIA's numbers; those up to 91 are also cust's `DeviceAttribute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Attribute {
    /// Threads per block at most.
    MaxThreadsPerBlock = 1,
    /// Bytes of shared memory per block without opting in.
    MaxSharedMemoryPerBlock = 8,
    /// Bytes of constant memory.
    TotalConstantMemory = 9,
    /// Lanes of a warp.
    WarpSize = 10,
    /// Registers per block at most.
    MaxRegistersPerBlock = 12,
    /// Peak clock of the multiprocessors, in kHz.
    ClockRateKilohertz = 13,
    /// Multiprocessors.
    MultiprocessorCount = 16,
    /// Whether host memory can be mapped into the device's address space.
    CanMapHostMemory = 19,
    /// Whether kernels can run concurrently.
    ConcurrentKernels = 31,
    /// Whether ECC is on.
    EccEnabled = 32,
    /// PCI bus number.
    PciBusId = 33,
    /// PCI device number.
    PciDeviceId = 34,
    /// Peak clock of the memory, in kHz.
    MemoryClockRateKilohertz = 36,
    /// Width of the memory bus in bits.
    GlobalMemoryBusWidthBits = 37,
    /// Bytes of the L2 cache.
    L2CacheBytes = 38,
    /// Threads per multiprocessor at most.
    MaxThreadsPerMultiprocessor = 39,
    /// Copy engines.
    AsyncEngineCount = 40,
    /// Whether host and device share one address space.
    UnifiedAddressing = 41,
    /// PCI domain.
    PciDomainId = 50,
    /// Compute capability, the 9 of 9.0.
    ComputeCapabilityMajor = 75,
    /// Compute capability, the 0 of 9.0.
    ComputeCapabilityMinor = 76,
    /// Whether streams have priorities.
    StreamPrioritiesSupported = 78,
    /// Bytes of shared memory per multiprocessor.
    MaxSharedMemoryPerMultiprocessor = 81,
    /// Registers per multiprocessor.
    MaxRegistersPerMultiprocessor = 82,
    /// Whether managed memory is supported.
    ManagedMemory = 83,
    /// Whether the device can access pageable host memory.
    PageableMemoryAccess = 88,
    /// Whether host and device may access managed memory at once.
    ConcurrentManagedAccess = 89,
    /// Whether cooperative launches are supported.
    CooperativeLaunch = 95,
    /// Bytes of shared memory per block after opting in (see [`crate::function::allow_dynamic_shared_bytes`]).
    MaxSharedMemoryPerBlockOptIn = 97,
    /// Whether the device can use the host's registered pointers as they are.
    CanUseHostPointerForRegisteredMemory = 91,
    /// Blocks per multiprocessor at most.
    MaxBlocksPerMultiprocessor = 106,
    /// Bytes of L2 that can be set aside for persisting accesses.
    MaxPersistingL2CacheBytes = 108,
    /// Bytes of the largest access-policy window.
    MaxAccessPolicyWindowBytes = 109,
    /// Bytes of shared memory per block that the driver keeps for itself.
    ReservedSharedMemoryPerBlock = 111,
    /// Whether stream-ordered pools are supported.
    MemoryPoolsSupported = 115,
    /// Whether clusters of blocks are supported.
    ClusterLaunch = 120,
}

/// An attribute's value.
///
/// # Errors
/// The driver's.
pub fn attribute(device: &Device, attribute: Attribute) -> Result<i32> {
    let mut value: c_int = 0;
    // SAFETY: a local to write to.
    unsafe { call!(cuDeviceGetAttribute(&mut value, attribute as u32, device.as_raw()))? };
    Ok(value)
}

/// The device's identifier, which no other device has.
///
/// # Errors
/// The driver's.
pub fn uuid(device: &Device) -> Result<[u8; 16]> {
    let mut uuid = cuda_driver::raw::CUuuid { bytes: [0; 16] };
    // SAFETY: a local to write to.
    unsafe { call!(cuDeviceGetUuid_v2(&mut uuid, device.as_raw()))? };
    Ok(uuid.bytes.map(|byte| byte as u8))
}

/// The device's address on the PCI bus, such as `0000:3b:00.0`.
///
/// # Errors
/// The driver's.
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
    let kilohertz = attribute(device, Attribute::MemoryClockRateKilohertz)?;
    let bits = attribute(device, Attribute::GlobalMemoryBusWidthBits)?;
    if kilohertz <= 0 || bits <= 0 {
        return argument(
            "the driver does not tell the memory's clock or bus width, use the data sheet's figure",
        );
    }
    Ok(2.0 * f64::from(kilohertz) * 1e3 * f64::from(bits) / 8.0)
}
