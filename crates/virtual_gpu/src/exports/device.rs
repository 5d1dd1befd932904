use super::ALSO;
use super::arguments::{In, Out};
use super::context::check_device;
use super::define::{FIND, exports};
use crate::code::{CuResult, INVALID_DEVICE, NOT_FOUND, NOT_INITIALIZED};
use crate::driver::Driver;
use crate::process;
use crate::virtual_memory::IS_SUPPORTED;
use cuda_driver::ReturnCode;
use cuda_driver::api::Symbol;
use cuda_driver::raw::{CUdevice, CUuuid};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The CUDA version whose driver this stands in for.
const VERSION: c_int = 13_050;

/// The newest version of PTX that this driver loads: that of its CUDA version (PTX ISA, "Release Notes").
pub(super) const PTX_VERSION: (u32, u32) = (9, VERSION as u32 % 1000 / 10);

/// The address of a device on the PCI bus.
fn pci_address(device: usize) -> String {
    format!("0000:{device:02x}:00.0")
}

/// A device's UUID: only the number tells them apart.
fn uuid(device: usize) -> CUuuid {
    let mut bytes = [0; 16];
    bytes[15] = device as _;
    CUuuid { bytes }
}

/// Two devices of which a call asks how the first reaches the second.
fn pair(driver: &mut Driver, device: CUdevice, peer: CUdevice) -> CuResult<(usize, usize)> {
    let peer = check_device(driver, peer)?;
    Ok((check_device(driver, device)?, peer))
}

/// Writes a text and its NUL, cut to what there is room for.
///
/// # Safety
/// - `target` has room for `length` bytes.
unsafe fn write_text(target: Out<c_char>, length: c_int, text: &str) -> CuResult {
    let Ok(room @ 1..) = usize::try_from(length) else { return Err(ReturnCode::INVALID_VALUE) };
    let bytes = text.bytes().take(room - 1).chain([0]).map(|byte| byte as c_char);
    // SAFETY: `room` elements at most, by the contract.
    unsafe { target.write_all(&bytes.collect::<Vec<_>>()) }
}

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`.
const PER_THREAD_DEFAULT_STREAM: u64 = 2;
/// `CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND`.
const SYMBOL_NOT_FOUND: c_uint = 1;
/// `CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT`.
const VERSION_NOT_SUFFICIENT: c_uint = 2;

/// The newest variant of a function that CUDA had in a version: programs ask for `cuMemAlloc` and mean
/// `cuMemAlloc_v2`. A function that is missing here has an address, too: called, it says so.
///
/// # Errors
/// The status that `cuGetProcAddress_v2` reports.
fn newest(name: &str, version: c_int, flags: u64) -> Result<*mut c_void, c_uint> {
    // The header's `cuGraphInstantiate` has been another function since CUDA 12.0.
    let name = match name {
        "cuGraphInstantiate" if version >= 12_000 => "cuGraphInstantiateWithFlags",
        other => other,
    };
    let own_default = flags & PER_THREAD_DEFAULT_STREAM != 0;
    let mut status = SYMBOL_NOT_FOUND;
    for name in [format!("{name}_v4"), format!("{name}_v3"), format!("{name}_v2"), name.to_owned()]
    {
        let Some(address) = address(&name, own_default) else { continue };
        let dated = crate::names::NAMES.iter().find(|(dated, _)| *dated == name);
        if dated.is_none_or(|(_, since)| *since <= version) {
            return Ok(address);
        }
        status = VERSION_NOT_SUFFICIENT;
    }
    Err(status)
}

/// The address of a name that this driver has.
fn address(name: &str, own_default: bool) -> Option<*mut c_void> {
    let known = |symbol: &&Symbol| symbol.c_name().to_bytes() == name.as_bytes();
    let Some(symbol) = Symbol::ALL.iter().find(known) else {
        return ALSO.get().and_then(|find| find(name));
    };
    let row = FIND.get().filter(|_| own_default).and_then(|find| find(name));
    Some(row.map_or(symbol.address(), |[_, per_thread]| per_thread))
}

exports! {
    fn cuGetProcAddress(_machine, name: In<c_char>, address: Out<*mut c_void>, version: c_int, flags: u64) {
        let found = newest(&name.text()?, version, flags);
        address.write(found.unwrap_or(std::ptr::null_mut()))?;
        found.map(|_| ()).map_err(|_| NOT_FOUND)
    }
    fn cuGetProcAddress_v2(
        _machine, name: In<c_char>, address: Out<*mut c_void>, version: c_int, flags: u64, status: Out<c_uint>
    ) {
        let found = newest(&name.text()?, version, flags);
        status.write_optional(found.err().unwrap_or(0))?;
        address.write(found.unwrap_or(std::ptr::null_mut()))?;
        found.map(|_| ()).map_err(|_| NOT_FOUND)
    }
    fn cuInit(driver, flags: c_uint) {
        if flags != 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        driver.initialized = true;
        process::initialized();
        Ok(())
    }
    fn cuDriverGetVersion(_machine, driver_version: Out<c_int>) {
        driver_version.write(VERSION)
    }
    fn cuDeviceGetCount(driver, count: Out<c_int>) {
        if !driver.initialized {
            return Err(NOT_INITIALIZED);
        }
        count.write(driver.devices.len() as c_int)
    }
    fn cuDeviceGet(driver, device: Out<CUdevice>, ordinal: c_int) {
        check_device(driver, ordinal)?;
        device.write(ordinal)
    }
    fn cuDeviceGetName(driver, name: Out<c_char>, length: c_int, device: CUdevice) {
        check_device(driver, device)?;
        // SAFETY: by the function's contract the name has `length` bytes.
        unsafe { write_text(name, length, &format!("{} (virtual)", driver.device().profile.name)) }
    }
    fn cuDeviceGetUuid(driver, target: Out<CUuuid>, device: CUdevice) {
        let device = check_device(driver, device)?;
        target.write(uuid(device))
    }
    fn cuDeviceGetUuid_v2(driver, target: Out<CUuuid>, device: CUdevice) {
        let device = check_device(driver, device)?;
        target.write(uuid(device))
    }
    fn cuDeviceTotalMem_v2(driver, bytes: Out<usize>, device: CUdevice) {
        check_device(driver, device)?;
        bytes.write(driver.device().profile.memory_bytes as usize)
    }
    fn cuDeviceGetAttribute(driver, value: Out<c_int>, attribute: c_uint, device: CUdevice) {
        /// `CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED` and
        /// `CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED`, and `CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES`,
        /// which is that handle's kind: these are not the device's alone.
        const OF_LINUX: [c_uint; 3] = [102, 103, 119];
        check_device(driver, device)?;
        let has = driver.device().profile.attribute(attribute).ok_or(ReturnCode::INVALID_VALUE)?;
        value.write(if OF_LINUX.contains(&attribute) { has * c_int::from(IS_SUPPORTED) } else { has })
    }
    fn cuDeviceGetTexture1DLinearMaxWidth(
        driver, width: Out<usize>, _format: c_uint, channels: c_uint, device: CUdevice
    ) {
        /// `CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH`.
        const LINEAR_WIDTH: c_uint = 69;
        check_device(driver, device)?;
        if !matches!(channels, 1 | 2 | 4) {
            return Err(ReturnCode::INVALID_VALUE);
        }
        width.write(driver.device().profile.attribute(LINEAR_WIDTH).unwrap_or(0) as usize)
    }
    fn cuDeviceComputeCapability(driver, major: Out<c_int>, minor: Out<c_int>, device: CUdevice) {
        check_device(driver, device)?;
        let [has_major, has_minor] = driver.device().profile.compute_capability;
        major.write(has_major.cast_signed())?;
        minor.write(has_minor.cast_signed())
    }
    fn cuDeviceGetPCIBusId(driver, address: Out<c_char>, length: c_int, device: CUdevice) {
        let device = check_device(driver, device)?;
        // SAFETY: by the function's contract the address has `length` bytes.
        unsafe { write_text(address, length, &pci_address(device)) }
    }
    fn cuDeviceGetByPCIBusId(driver, device: Out<CUdevice>, address: In<c_char>) {
        check_device(driver, 0)?;
        let asked = address.text()?;
        let found = (0..driver.devices.len()).find(|known| asked.eq_ignore_ascii_case(&pci_address(*known)));
        device.write(found.ok_or(ReturnCode::INVALID_VALUE)? as CUdevice)
    }
    fn cuDeviceCanAccessPeer(driver, can: Out<c_int>, device: CUdevice, peer: CUdevice) {
        let (device, peer) = pair(driver, device, peer)?;
        can.write(c_int::from(driver.topology.link(device, peer).is_some_and(|link| link.access)))
    }
    fn cuDeviceGetP2PAttribute(driver, value: Out<c_int>, attribute: c_uint, device: CUdevice, peer: CUdevice) {
        let (device, peer) = pair(driver, device, peer)?;
        let link = driver.topology.link(device, peer).ok_or(INVALID_DEVICE)?;
        let found = match attribute {
            // The performance rank: all links are equally good.
            1 => 0,
            2 | 4 => c_int::from(link.access),
            3 => c_int::from(link.native_atomics),
            _ => return Err(ReturnCode::INVALID_VALUE),
        };
        value.write(found)
    }
}
