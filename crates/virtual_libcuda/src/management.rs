//! The functions of NVIDIA's management library (NVML, `libnvidia-ml.so.1`) that programs call before they use the driver,
//! such as Mojo: the library stands under that name, too.

use cuda_driver::{ReturnCode, api};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};

/// `nvmlReturn_t`, in the numbers of NVIDIA's documentation.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer(c_uint);

const SUCCESS: Answer = Answer(0);
const INVALID_ARGUMENT: Answer = Answer(2);
const NOT_SUPPORTED: Answer = Answer(3);
const NOT_FOUND: Answer = Answer(6);
const INSUFFICIENT_SIZE: Answer = Answer(7);
const UNKNOWN: Answer = Answer(999);

/// The numbers of `CUdevice_attribute`.
mod attributes {
    pub const BUS: u32 = 33;
    pub const SLOT: u32 = 34;
    pub const DOMAIN: u32 = 50;
    pub const MAJOR: u32 = 75;
    pub const MINOR: u32 = 76;
}

/// `nvmlPciInfo_t`.
#[repr(C)]
struct PciInfo {
    legacy_bus_id: [u8; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    pci_device_id: c_uint,
    pci_subsystem_id: c_uint,
    bus_id: [u8; 32],
}

/// `nvmlMemory_t`.
#[repr(C)]
struct Memory {
    total: c_ulonglong,
    free: c_ulonglong,
    used: c_ulonglong,
}

/// `nvmlDevice_t`: one more than the device's number, so that none is null.
type Device = *mut c_void;

fn handle(device: c_int) -> Device {
    std::ptr::without_provenance_mut(device as usize + 1)
}

/// The number of a device, if there is such a one.
fn number(device: Device) -> Result<c_int, Answer> {
    let number = c_int::try_from(device.addr().wrapping_sub(1)).map_err(|_| INVALID_ARGUMENT)?;
    if number < count()? { Ok(number) } else { Err(INVALID_ARGUMENT) }
}

fn count() -> Result<c_int, Answer> {
    let mut count = 0;
    // SAFETY: the place is of the function's type.
    done(unsafe { api::cuDeviceGetCount(&mut count) })?;
    Ok(count)
}

fn done(code: ReturnCode) -> Result<(), Answer> {
    if code == ReturnCode::SUCCESS { Ok(()) } else { Err(UNKNOWN) }
}

fn attribute(device: c_int, attribute: c_uint) -> Result<c_int, Answer> {
    let mut value = 0;
    // SAFETY: the place is of the function's type.
    done(unsafe { api::cuDeviceGetAttribute(&mut value, attribute, device) })?;
    Ok(value)
}

/// Writes a value where the caller wants it.
///
/// # Safety
/// - The pointer is null, or a place of that type.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), Answer> {
    if place.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: the caller's contract.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes a text with its zero.
///
/// # Safety
/// - There is room for `length` bytes.
unsafe fn put_text(place: *mut c_char, length: c_uint, text: &[u8]) -> Result<(), Answer> {
    if place.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    if text.len() >= length as usize {
        return Err(INSUFFICIENT_SIZE);
    }
    // SAFETY: by the caller's contract and the comparison there is room for the text and a zero.
    unsafe {
        place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
        place.add(text.len()).write(0);
    }
    Ok(())
}

/// Defines functions of the library, whose bodies end early with an answer.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// - Each pointer is null, or a place as NVIDIA's header has it.
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> Answer {
            let body = || -> Result<(), Answer> { $body };
            body().map_or_else(|answer| answer, |()| SUCCESS)
        }
    )*};
}

functions! {
    /// Starts the driver.
    fn nvmlInit_v2() {
        // SAFETY: the one flag that there is, is none.
        done(unsafe { api::cuInit(0) })
    }

    /// Starts the driver.
    fn nvmlInit() {
        // SAFETY: the one flag that there is, is none.
        done(unsafe { api::cuInit(0) })
    }

    /// Ends nothing: the driver stays.
    fn nvmlShutdown() { Ok(()) }

    /// Tells the branch of the driver that brings this version of CUDA.
    fn nvmlSystemGetDriverVersion(text: *mut c_char, length: c_uint) {
        // SAFETY: the caller's contract.
        unsafe { put_text(text, length, b"580.00") }
    }

    /// Tells the version of CUDA.
    fn nvmlSystemGetCudaDriverVersion_v2(version: *mut c_int) {
        // SAFETY: the caller's contract.
        done(unsafe { api::cuDriverGetVersion(version) })
    }

    /// Counts the devices.
    fn nvmlDeviceGetCount_v2(devices: *mut c_uint) {
        let count = count()? as c_uint;
        // SAFETY: the caller's contract.
        unsafe { put(devices, count) }
    }

    /// Gives a device by its number.
    fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut Device) {
        let index = c_int::try_from(index).map_err(|_| INVALID_ARGUMENT)?;
        let found = handle(number(handle(index))?);
        // SAFETY: the caller's contract.
        unsafe { put(device, found) }
    }

    /// Gives a device by its number.
    fn nvmlDeviceGetHandleByIndex(index: c_uint, device: *mut Device) {
        let index = c_int::try_from(index).map_err(|_| INVALID_ARGUMENT)?;
        let found = handle(number(handle(index))?);
        // SAFETY: the caller's contract.
        unsafe { put(device, found) }
    }

    /// Gives a device by its address on PCIe.
    fn nvmlDeviceGetHandleByPciBusId_v2(text: *const c_char, device: *mut Device) {
        let mut found = 0;
        // SAFETY: the caller's contract.
        if unsafe { api::cuDeviceGetByPCIBusId(&mut found, text) } != ReturnCode::SUCCESS {
            return Err(NOT_FOUND);
        }
        // SAFETY: the caller's contract.
        unsafe { put(device, handle(found)) }
    }

    /// Tells the number of a device.
    fn nvmlDeviceGetIndex(device: Device, index: *mut c_uint) {
        let number = number(device)? as c_uint;
        // SAFETY: the caller's contract.
        unsafe { put(index, number) }
    }

    /// Tells the name of a device.
    fn nvmlDeviceGetName(device: Device, text: *mut c_char, length: c_uint) {
        let number = number(device)?;
        let mut name = [0; 96];
        // SAFETY: the room is told.
        done(unsafe { api::cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int, number) })?;
        // SAFETY: the driver ends its texts with a zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        // SAFETY: the caller's contract.
        unsafe { put_text(text, length, name.to_bytes()) }
    }

    /// Tells where a device is on PCIe, as the driver does.
    fn nvmlDeviceGetPciInfo_v3(device: Device, info: *mut PciInfo) {
        let number = number(device)?;
        let mut text = [0; 32];
        // SAFETY: the room is told.
        done(unsafe { api::cuDeviceGetPCIBusId(text.as_mut_ptr(), text.len() as c_int, number) })?;
        let bus_id = text.map(|one| one as u8);
        let info_of = PciInfo {
            legacy_bus_id: std::array::from_fn(|at| if at < 15 { bus_id[at] } else { 0 }),
            domain: attribute(number, attributes::DOMAIN)? as c_uint,
            bus: attribute(number, attributes::BUS)? as c_uint,
            device: attribute(number, attributes::SLOT)? as c_uint,
            pci_device_id: 0,
            pci_subsystem_id: 0,
            bus_id,
        };
        // SAFETY: the caller's contract.
        unsafe { put(info, info_of) }
    }

    /// Tells the compute capability.
    fn nvmlDeviceGetCudaComputeCapability(device: Device, major: *mut c_int, minor: *mut c_int) {
        let number = number(device)?;
        let first = attribute(number, attributes::MAJOR)?;
        let second = attribute(number, attributes::MINOR)?;
        // SAFETY: the caller's contract.
        unsafe { put(major, first).and(put(minor, second)) }
    }

    /// Tells the memory of a device, all of it as free.
    fn nvmlDeviceGetMemoryInfo(device: Device, memory: *mut Memory) {
        let number = number(device)?;
        let mut bytes = 0;
        // SAFETY: the place is of the function's type.
        done(unsafe { api::cuDeviceTotalMem_v2(&mut bytes, number) })?;
        let total = bytes as c_ulonglong;
        // SAFETY: the caller's contract.
        unsafe { put(memory, Memory { total, free: total, used: 0 }) }
    }

    /// Tells that no process computes: `count` is the room in `_processes` and then how many there are.
    fn nvmlDeviceGetComputeRunningProcesses_v3(device: Device, count: *mut c_uint, _processes: *mut c_void) {
        number(device)?;
        // SAFETY: the caller's contract.
        unsafe { put(count, 0) }
    }

    /// Tells that nothing slows the clocks.
    fn nvmlDeviceGetCurrentClocksThrottleReasons(device: Device, reasons: *mut c_ulonglong) {
        number(device)?;
        // SAFETY: the caller's contract.
        unsafe { put(reasons, 0) }
    }

    /// Has no answer: the virtual device is not divided.
    fn nvmlDeviceGetMigMode(_device: Device, _current: *mut c_uint, _pending: *mut c_uint) {
        Err(NOT_SUPPORTED)
    }

    /// Has no answer: the virtual device counts no errors of memory.
    fn nvmlDeviceGetTotalEccErrors(_device: Device, _kind: c_uint, _counter: c_uint, _errors: *mut c_ulonglong) {
        Err(NOT_SUPPORTED)
    }
}

/// Gives the sentence of an answer.
#[allow(non_snake_case)]
#[unsafe(no_mangle)]
extern "C" fn nvmlErrorString(answer: Answer) -> *const c_char {
    let text = match answer {
        SUCCESS => c"success",
        INVALID_ARGUMENT => c"an argument is invalid",
        NOT_SUPPORTED => c"the virtual device has no such thing",
        NOT_FOUND => c"there is no such device",
        INSUFFICIENT_SIZE => c"the room is too small",
        _ => c"the virtual driver has no device",
    };
    text.as_ptr()
}
