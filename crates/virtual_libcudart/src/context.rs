//! The device of each thread, whose primary context is made when something first needs it.

use crate::define::{Result, exports};
use crate::driver::start;
use crate::error::{Error, check};
use cuda_driver::api;
use cuda_driver::raw::{CUcontext, CUdevice};
use std::cell::Cell;
use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

thread_local! {
    static THREAD: Cell<Thread> = const { Cell::new(Thread { device: 0, entered: 0 }) };
}

#[derive(Clone, Copy)]
struct Thread {
    device: CUdevice,
    /// The generation in which the device's context became the thread's own; 0 for none.
    entered: u32,
}

/// Counts the resets of devices, from 1: what was made of a context before belongs to an older generation.
static GENERATION: AtomicU32 = AtomicU32::new(1);

/// Returns the generation of what is made now.
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Returns the thread's device.
pub fn device() -> CUdevice {
    THREAD.get().device
}

/// Begins a new generation: nothing that was made of a context before is used any more.
pub fn begin_generation() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Makes the context of the thread's device current, and returns the device. A context that the program made current by the
/// driver's API is taken as it is.
///
/// # Errors
/// There is no such device.
pub fn enter() -> Result<CUdevice> {
    let thread = THREAD.get();
    if thread.entered == generation() {
        return Ok(thread.device);
    }
    start()?;
    let mut current: CUcontext = null_mut();
    // SAFETY: each pointer is valid for the one value that the driver writes, and a context that it gave is alive.
    unsafe {
        check(api::cuCtxGetCurrent(&raw mut current))?;
        if thread.entered == 0 && !current.is_null() {
            let mut device = 0;
            check(api::cuCtxGetDevice(&raw mut device))?;
            THREAD.set(Thread { device, entered: generation() });
            return Ok(device);
        }
        set_device(thread.device)
    }
}

/// Makes a device the thread's, and its context current.
fn set_device(device: CUdevice) -> Result<CUdevice> {
    start()?;
    let context = primary(device)?;
    // SAFETY: the context was just given by the driver.
    check(unsafe { api::cuCtxSetCurrent(context) })?;
    THREAD.set(Thread { device, entered: generation() });
    Ok(device)
}

/// Returns the primary context of a device, which stays until the process ends.
pub fn primary(device: CUdevice) -> Result<CUcontext> {
    let mut context = null_mut();
    // SAFETY: the pointer is valid for the one handle that is written.
    check(unsafe { api::cuDevicePrimaryCtxRetain(&raw mut context, device) })?;
    Ok(context)
}

/// Returns the number of devices.
pub fn device_count() -> Result<c_int> {
    start()?;
    let mut count = 0;
    // SAFETY: the pointer is valid for the one number that is written.
    check(unsafe { api::cuDeviceGetCount(&raw mut count) })?;
    Ok(count)
}

/// Checks that a device exists.
pub fn known(device: c_int) -> Result<CUdevice> {
    if (0..device_count()?).contains(&device) { Ok(device) } else { Err(Error::INVALID_DEVICE) }
}

exports! {
    fn cudaGetDeviceCount(count: *mut c_int) {
        let count = crate::define::out(count)?;
        *count = 0;
        *count = device_count()?;
        if *count == 0 { Err(Error::NO_DEVICE) } else { Ok(()) }
    }
    fn cudaSetDevice(device: c_int) {
        set_device(known(device)?).map(|_| ())
    }
    fn cudaInitDevice(device: c_int, _device_flags: c_uint, _flags: c_uint) {
        primary(known(device)?).map(|_| ())
    }
    fn cudaGetDevice(device: *mut c_int) {
        start()?;
        crate::define::put(device, THREAD.get().device)?;
        Ok(())
    }
    fn cudaDeviceSynchronize() {
        enter()?;
        check(api::cuCtxSynchronize())
    }
    fn cudaThreadSynchronize() {
        enter()?;
        check(api::cuCtxSynchronize())
    }
    fn cudaSetDeviceFlags(flags: c_uint) {
        start()?;
        // The lowest bits choose how to wait; mapping host memory is always on, and the others change nothing here.
        check(api::cuDevicePrimaryCtxSetFlags_v2(THREAD.get().device, flags & 0x17))
    }
    fn cudaGetDeviceFlags(flags: *mut c_uint) {
        enter()?;
        check(api::cuCtxGetFlags(flags))?;
        *flags |= 8;
        Ok(())
    }
    fn cudaSetValidDevices(devices: *mut c_int, count: c_int) {
        let Ok(count) = usize::try_from(count) else { return Err(Error::INVALID_VALUE) };
        for index in 0..count {
            known(*crate::define::out(devices.wrapping_add(index))?)?;
        }
        Ok(())
    }
}
