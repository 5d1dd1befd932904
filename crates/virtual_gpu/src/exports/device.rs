//! Start, version and devices.

use super::{exports, out, out_optional, text};
use crate::machine::{INVALID_DEVICE, Machine, NOT_FOUND, NOT_INITIALIZED, Outcome};
use cuda_driver::ReturnCode;
use cust_raw::{CUdevice, CUuuid};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The CUDA version whose driver this stands in for.
const VERSION: c_int = 13_000;
const PCI_ADDRESS: &str = "0000:00:00.0";

fn check(machine: &Machine, device: CUdevice) -> Outcome {
    if !machine.initialised {
        return Err(NOT_INITIALIZED);
    }
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

/// # Safety
/// `target` is null or valid for `length` bytes.
unsafe fn copy_text(source: &str, target: *mut c_char, length: c_int) -> Outcome {
    let Ok(room @ 1..) = usize::try_from(length) else { return Err(ReturnCode::INVALID_VALUE) };
    if target.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let bytes = &source.as_bytes()[..source.len().min(room - 1)];
    // SAFETY: at most `room` bytes are written, the NUL included, to a target that is valid for as many.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), target.cast(), bytes.len());
        target.add(bytes.len()).write(0);
    }
    Ok(())
}

/// The newest variant of a function: programs ask for `cuMemAlloc` and mean `cuMemAlloc_v2`.
fn newest(name: &str) -> Outcome<*mut c_void> {
    let names = [format!("{name}_v3"), format!("{name}_v2"), name.to_owned()];
    let found = names.iter().find_map(|name| super::symbol(name));
    found.map(std::ptr::NonNull::as_ptr).ok_or(NOT_FOUND)
}

exports! {
    fn cuGetProcAddress(_machine, name: *const c_char, address: *mut *mut c_void, _version: c_int, _flags: u64) {
        let found = newest(&text(name)?)?;
        out(address, found)
    }
    fn cuGetProcAddress_v2(
        _machine, name: *const c_char, address: *mut *mut c_void, _version: c_int, _flags: u64, status: *mut c_uint
    ) {
        let found = newest(&text(name)?);
        out_optional(status, u32::from(found.is_err()));
        out(address, found.unwrap_or(std::ptr::null_mut()))?;
        found.map(|_| ())
    }
    fn cuInit(machine, flags: c_uint) {
        if flags != 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        machine.initialised = true;
        Ok(())
    }
    fn cuDriverGetVersion(_machine, driver_version: *mut c_int) {
        out(driver_version, VERSION)
    }
    fn cuDeviceGetCount(machine, count: *mut c_int) {
        if !machine.initialised {
            return Err(NOT_INITIALIZED);
        }
        out(count, 1)
    }
    fn cuDeviceGet(machine, device: *mut CUdevice, ordinal: c_int) {
        check(machine, ordinal)?;
        out(device, ordinal)
    }
    fn cuDeviceGetName(machine, name: *mut c_char, length: c_int, device: CUdevice) {
        check(machine, device)?;
        copy_text(&format!("{} (virtual)", machine.profile.name), name, length)
    }
    fn cuDeviceGetUuid(machine, uuid: *mut CUuuid, device: CUdevice) {
        check(machine, device)?;
        out(uuid, CUuuid { bytes: [0; 16] })
    }
    fn cuDeviceGetUuid_v2(machine, uuid: *mut CUuuid, device: CUdevice) {
        check(machine, device)?;
        out(uuid, CUuuid { bytes: [0; 16] })
    }
    fn cuDeviceTotalMem_v2(machine, bytes: *mut usize, device: CUdevice) {
        check(machine, device)?;
        out(bytes, machine.profile.memory_bytes as usize)
    }
    fn cuDeviceGetAttribute(machine, value: *mut c_int, attribute: c_uint, device: CUdevice) {
        check(machine, device)?;
        out(value, machine.profile.attribute(attribute).ok_or(ReturnCode::INVALID_VALUE)?)
    }
    fn cuDeviceComputeCapability(machine, major: *mut c_int, minor: *mut c_int, device: CUdevice) {
        check(machine, device)?;
        let [has_major, has_minor] = machine.profile.compute_capability;
        out(major, has_major.cast_signed())?;
        out(minor, has_minor.cast_signed())
    }
    fn cuDeviceGetPCIBusId(machine, address: *mut c_char, length: c_int, device: CUdevice) {
        check(machine, device)?;
        copy_text(PCI_ADDRESS, address, length)
    }
    fn cuDeviceGetByPCIBusId(machine, device: *mut CUdevice, address: *const c_char) {
        check(machine, 0)?;
        if text(address)?.eq_ignore_ascii_case(PCI_ADDRESS) { out(device, 0) } else { Err(ReturnCode::INVALID_VALUE) }
    }
    fn cuDeviceCanAccessPeer(machine, can: *mut c_int, device: CUdevice, peer: CUdevice) {
        check(machine, device)?;
        check(machine, peer)?;
        out(can, 0)
    }
}
