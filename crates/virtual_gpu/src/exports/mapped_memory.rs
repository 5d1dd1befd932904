//! Memory whose addresses a program chooses (virtual memory management).

use super::arguments::{In, Out};
use super::context::device_at;
use super::define::exports;
use crate::code::CuResult;
use crate::driver::Driver;
use crate::memories::{HostKind, HostRegion};
use crate::virtual_memory::{GRANULARITY, IS_SUPPORTED, Physical};
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUdeviceptr, CUmemAccessDesc, CUmemGenericAllocationHandle, CUmemLocation};
use cuda_driver::types::{AllocationProperties, MemoryLocation};
use std::ffi::{c_int, c_uint, c_void};
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::Arc;

const INVALID: ReturnCode = ReturnCode::INVALID_VALUE;
/// The code of an H200's driver for a file descriptor that stands for no memory.
const UNKNOWN: ReturnCode = ReturnCode(999);
const MAPPED: &str = "memory at addresses that the program chooses";

/// A range as calls give it: of one granule at least.
fn range(address: u64, bytes: usize) -> CuResult<Range<u64>> {
    let end = address.checked_add(bytes as u64).ok_or(INVALID)?;
    let is_whole = bytes > 0 && (bytes as u64).is_multiple_of(GRANULARITY);
    if is_whole { Ok(address..end) } else { Err(INVALID) }
}

/// Refuses what needs files without a name and reserved addresses, where the operating system is another.
pub(super) fn needs_linux(driver: &mut Driver, what: &str) -> CuResult {
    let unless = (!IS_SUPPORTED).then(|| driver.unsupported(&format!("{what} outside of Linux")));
    unless.map_or(Ok(()), Err)
}

const OTHER_HANDLES: &str = "memory that is shared by other handles than file descriptors";
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
pub(super) const FILE_DESCRIPTOR: c_uint = 1;

/// The device of memory that a program asks for, and the kinds of handles that it wants of it.
fn device_of(
    driver: &mut Driver,
    properties: &In<AllocationProperties>,
) -> CuResult<(usize, c_uint)> {
    /// `CU_MEM_ALLOCATION_TYPE_PINNED`.
    const PINNED: c_uint = 1;
    let AllocationProperties { kind, handle_types, location, .. } = properties.read()?;
    if kind != PINNED {
        return Err(INVALID);
    }
    if handle_types & !FILE_DESCRIPTOR != 0 {
        return Err(driver.unsupported(OTHER_HANDLES));
    }
    Ok((device_at(driver, location)?, handle_types))
}

/// Writes a new file descriptor of what was made for such.
pub(super) fn export(
    driver: &mut Driver,
    target: Out<c_void>,
    what: &Physical,
    (handle_types, kind, flags): (c_uint, c_uint, u64),
) -> CuResult {
    target.given()?;
    if flags != 0 || kind != FILE_DESCRIPTOR || handle_types & kind == 0 {
        let why = "a handle is exported by the kind that was asked for when it was made, and without flags";
        return Err(driver.refuse(INVALID, why));
    }
    let descriptor = what.exported().ok_or(ReturnCode::OUT_OF_MEMORY)?;
    // SAFETY: by the function's contract the place is one for a C `int`.
    unsafe { target.cast::<c_int>() }.write(descriptor)
}

/// Takes what a file descriptor stands for, if it is as expected.
pub(super) fn import(
    driver: &mut Driver,
    descriptor: *mut c_void,
    kind: c_uint,
    is_expected: impl Fn(&Physical) -> bool,
) -> CuResult<Physical> {
    match kind {
        FILE_DESCRIPTOR => {}
        0 => return Err(driver.refuse(INVALID, "a handle is imported by the kind of handle it is")),
        _ => return Err(driver.unsupported(OTHER_HANDLES)),
    }
    needs_linux(driver, MAPPED)?;
    let number = i32::try_from(descriptor.addr()).map_err(|_| INVALID)?;
    let found = Physical::import(number);
    found.filter(|it| it.device < driver.devices.len() && is_expected(it)).ok_or_else(|| {
        let why = format!("{number} is no file descriptor that a call for shareable handles gave");
        driver.refuse(UNKNOWN, why)
    })
}

/// Tells the device which ranges it may use from now on.
fn refresh(driver: &mut Driver) -> CuResult {
    let now = driver.memory.virtual_memory.ranges();
    let before = std::mem::replace(&mut driver.memory.virtual_memory.open, now.clone());
    for gone in before.iter().filter(|range| !now.contains(range)) {
        driver.memory.device.unmap(gone.start).map_err(|_| INVALID)?;
        driver.memory.remove_host(gone.start);
    }
    for new in now.iter().filter(|range| !before.contains(range)) {
        let bytes = (new.end - new.start) as usize;
        let pointer = std::ptr::with_exposed_provenance_mut::<u8>(new.start as usize);
        // SAFETY: the range is mapped for reads and writes until it is no longer among the ranges, and then the device is
        // told before. Address and pointer are the same number. The program has no access of its own.
        unsafe { driver.memory.device.map(new.start, pointer, bytes as u64) }
            .map_err(|_| INVALID)?;
        let region = HostRegion { bytes, kind: HostKind::Mapped, flags: 0, _owned: None };
        driver.memory.host.insert(new.start, region);
    }
    Ok(())
}

/// Opens or closes a range to the device, after the work that was enqueued before.
pub(super) fn set_open(driver: &mut Driver, range: &Range<u64>, is_open: bool) -> CuResult {
    driver.run_all();
    driver.memory.virtual_memory.set_open(range, is_open).ok_or(INVALID)?;
    refresh(driver)
}

exports! {
    fn cuMemGetAllocationGranularity(
        driver, granularity: Out<usize>, properties: In<AllocationProperties>, _option: c_uint
    ) {
        let location = properties.read()?.location;
        device_at(driver, location)?;
        granularity.write(GRANULARITY as usize)
    }
    fn cuMemAddressReserve(
        driver, pointer: Out<CUdeviceptr>, bytes: usize, alignment: usize, _hint: CUdeviceptr, flags: u64
    ) {
        driver.context()?;
        range(0, bytes)?;
        if flags != 0 || alignment != 0 && !alignment.is_power_of_two() {
            return Err(INVALID);
        }
        pointer.given()?;
        needs_linux(driver, MAPPED)?;
        let reserved = driver.memory.virtual_memory.reserve(bytes as u64, alignment as u64);
        pointer.write(reserved.ok_or(ReturnCode::OUT_OF_MEMORY)?)
    }
    fn cuMemAddressFree(driver, pointer: CUdeviceptr, bytes: usize) {
        driver.memory.virtual_memory.free(pointer, bytes as u64).ok_or(INVALID)
    }
    fn cuMemCreate(
        driver, handle: Out<CUmemGenericAllocationHandle>, bytes: usize, properties: In<AllocationProperties>, flags: u64
    ) {
        // It needs no context, as NVIDIA's memMapIPCDrv shows, nor do its export and the end of a mapping.
        range(0, bytes)?;
        let (device, handle_types) = device_of(driver, &properties)?;
        if flags != 0 {
            return Err(INVALID);
        }
        handle.given()?;
        needs_linux(driver, MAPPED)?;
        let selected = driver.select(device);
        let memory = &driver.memory;
        let taken = memory.device.used_bytes() + memory.virtual_memory.bytes_on(device);
        let free = memory.device.capacity_bytes().saturating_sub(taken);
        driver.select(selected);
        if bytes as u64 > free {
            let why = format!("{bytes} bytes are asked for, and {free} are free");
            return Err(driver.refuse(ReturnCode::OUT_OF_MEMORY, why));
        }
        let made = driver.memory.virtual_memory.make(bytes as u64, device, handle_types);
        let made = made.ok_or(ReturnCode::OUT_OF_MEMORY)?;
        handle.write(driver.objects.memories.add(made) as u64)
    }
    fn cuMemRelease(driver, handle: CUmemGenericAllocationHandle) {
        // What is mapped stays until it is unmapped.
        driver.objects.memories.remove(handle as usize).map(|_| ()).map_err(|_| INVALID)
    }
    fn cuMemMap(
        driver, pointer: CUdeviceptr, bytes: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64
    ) {
        driver.context()?;
        let memory = driver.objects.memories.get(handle as usize).map_err(|_| INVALID)?.clone();
        if flags != 0 || offset != 0 || bytes as u64 != memory.bytes {
            return Err(driver.refuse(INVALID, "the whole memory of a handle is mapped, from its first byte on"));
        }
        driver.memory.virtual_memory.map(pointer, memory).ok_or_else(|| {
            driver.refuse(INVALID, "memory is mapped at addresses that are reserved and at which nothing is mapped")
        })
    }
    fn cuMemUnmap(driver, pointer: CUdeviceptr, bytes: usize) {
        let range = range(pointer, bytes)?;
        set_open(driver, &range, false)?;
        driver.memory.virtual_memory.unmap(&range).ok_or(INVALID)
    }
    fn cuMemSetAccess(
        driver, pointer: CUdeviceptr, bytes: usize, descriptors: In<CUmemAccessDesc>, count: usize
    ) {
        driver.context()?;
        let range = range(pointer, bytes)?;
        for index in 0..count {
            let first = descriptors.pointer()?;
            // SAFETY: by the function's contract there are `count` of them; enums are read as the integers they are in C.
            let (location, flags) = unsafe {
                let asked = first.add(index);
                ((&raw const (*asked).location).cast::<MemoryLocation>().read(), (&raw const (*asked).flags).cast::<c_uint>().read())
            };
            device_at(driver, location)?;
            // To read alone is no less here.
            match flags {
                0 => set_open(driver, &range, false)?,
                1 | 3 => set_open(driver, &range, true)?,
                _ => return Err(INVALID),
            }
        }
        Ok(())
    }
    fn cuMemGetAccess(driver, flags: Out<u64>, location: In<CUmemLocation>, pointer: CUdeviceptr) {
        // SAFETY: valid by the type; the kind is read as the integer that it is in C.
        let location = unsafe { location.pointer()?.cast::<MemoryLocation>().read() };
        device_at(driver, location)?;
        let (_, is_open) = driver.memory.virtual_memory.at(pointer).ok_or(INVALID)?;
        flags.write(if is_open { 3 } else { 0 })
    }
    fn cuMemRetainAllocationHandle(driver, handle: Out<CUmemGenericAllocationHandle>, pointer: *mut c_void) {
        let (memory, _) = driver.memory.virtual_memory.at(pointer.addr() as u64).ok_or(INVALID)?;
        handle.given()?;
        handle.write(driver.objects.memories.add(memory) as u64)
    }
    fn cuMemGetAllocationPropertiesFromHandle(
        driver, properties: Out<AllocationProperties>, handle: CUmemGenericAllocationHandle
    ) {
        let memory = driver.objects.memories.get(handle as usize).map_err(|_| INVALID)?;
        let location = MemoryLocation::device(memory.device as i32);
        let handle_types = memory.handle_types;
        properties.write(AllocationProperties { kind: 1, handle_types, location, metadata: null_mut(), flags: [0; 8] })
    }
    fn cuMemExportToShareableHandle(
        driver, target: Out<c_void>, handle: CUmemGenericAllocationHandle, kind: c_uint, flags: u64
    ) {
        let memory = driver.objects.memories.get(handle as usize).map_err(|_| INVALID)?.clone();
        export(driver, target, &memory, (memory.handle_types, kind, flags))
    }
    fn cuMemImportFromShareableHandle(
        driver, handle: Out<CUmemGenericAllocationHandle>, descriptor: *mut c_void, kind: c_uint
    ) {
        driver.context()?;
        handle.given()?;
        let memory = import(driver, descriptor, kind, |it| it.bytes > 0 && it.bytes.is_multiple_of(GRANULARITY))?;
        handle.write(driver.objects.memories.add(Arc::new(memory)) as u64)
    }
}
