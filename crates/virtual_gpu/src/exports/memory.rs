use super::arguments::{Argument, InMut, Out};
use super::define::exports;
use super::inter_process::close_pooled;
use crate::code::{CuResult, INVALID_DEVICE, NOT_FOUND};
use crate::driver::Driver;
use crate::host_pages::PAGE;
use crate::managed::{self, Advice};
use crate::memories::{HostKind, HostRegion, MemoryKind, OWNED_BY_MODULE};
use crate::misuse::MisuseKind;
use crate::work::QueuedWork;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUdevice, CUdeviceptr, CUstream};
use cuda_driver::types::MemoryLocation;
use gpu_model::Side;
use simt::Module;
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ops::Range;

const NOT_REGISTERED: ReturnCode = ReturnCode(713);
const ALREADY_REGISTERED: ReturnCode = ReturnCode(712);
/// `CU_MEMHOSTALLOC_DEVICEMAP`: with unified addressing all page-locked memory is mapped.
const DEVICE_MAP: u32 = 2;

/// A page of the host's memory.
const HOST_PAGE: usize = PAGE as usize;

fn take(driver: &mut Driver, bytes: usize) -> CuResult<u64> {
    let address = driver.allocate(bytes)?;
    driver.clock.own_call_ns = Some(driver.device().profile.device_memory_ns(bytes as u64));
    Ok(address)
}

fn allocate_host(driver: &mut Driver, bytes: usize, kind: HostKind, flags: u32) -> CuResult<u64> {
    place_host(driver, bytes, (kind, flags), kind == HostKind::Pinned)
}

/// Allocates page-locked memory for a pool, which takes the host's time only where the pool lacks it.
pub(super) fn allocate_pooled(driver: &mut Driver, bytes: usize, lacks: bool) -> CuResult<u64> {
    place_host(driver, bytes, (HostKind::Pinned, DEVICE_MAP), lacks)
}

/// Gives memory of a pool back; false where the address is no such memory.
pub(super) fn free_pooled(driver: &mut Driver, address: u64) -> CuResult<bool> {
    let Some(bytes) = driver.memory.host.get(&address).map(|region| region.bytes as u64) else {
        return Ok(false);
    };
    if !driver.objects.pool_of.contains_key(&address) {
        return Ok(false);
    }
    driver.run_all();
    forget_host(driver, address, &[HostKind::Pinned])?;
    driver.objects.give_back(address, bytes)?;
    Ok(true)
}

/// Allocates host memory; what locks pages takes the host's time.
fn place_host(
    driver: &mut Driver,
    bytes: usize,
    (kind, flags): (HostKind, u32),
    locks: bool,
) -> CuResult<u64> {
    driver.context()?;
    if bytes == 0 {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // What is page-locked begins with a page, and so with a line and a sector; what moves, with what moves at once.
    let alignment = if kind == HostKind::Managed { managed::alignment(bytes) } else { HOST_PAGE };
    // Nothing else lies on its last page, either.
    let whole = bytes.checked_next_multiple_of(HOST_PAGE);
    let length =
        whole.and_then(|whole| whole.checked_add(alignment)).ok_or(ReturnCode::OUT_OF_MEMORY)?;
    let length = length.div_ceil(16);
    let mut owned = Vec::new();
    owned.try_reserve_exact(length).map_err(|_| ReturnCode::OUT_OF_MEMORY)?;
    owned.resize(length, 0u128);
    let before = owned.as_ptr().align_offset(alignment);
    let pointer = owned[before..].as_mut_ptr();
    let address = pointer.expose_provenance() as u64;
    map(driver, address, bytes)?;
    if locks {
        driver.allocates_page_locked(bytes, flags);
    }
    if kind == HostKind::Managed {
        driver.memory.managed.add(address, bytes as u64);
    }
    driver.memory.host.insert(address, HostRegion { bytes, kind, flags, _owned: Some(owned) });
    Ok(address)
}

/// Memory for the managed statics of a module, by their names.
pub(super) fn managed_statics(
    driver: &mut Driver,
    module: &Module,
) -> CuResult<HashMap<String, u64>> {
    let managed = module.variables().iter().filter(|variable| variable.is_managed);
    let places = managed.map(|variable| {
        let bytes = (variable.bytes as usize).max(1);
        let address = allocate_host(driver, bytes, HostKind::Managed, OWNED_BY_MODULE)?;
        Ok((variable.name.clone(), address))
    });
    places.collect()
}

/// Returns the addresses of a module's managed statics.
pub(super) fn places_of_managed(driver: &Driver, module: &Module) -> Vec<u64> {
    let managed = module.variables().iter().filter(|variable| variable.is_managed);
    let found = managed.filter_map(|one| module.symbol(&driver.memory.device, &one.name));
    found.map(|(address, _)| address).collect()
}

/// The module of a managed static is unloaded.
pub(super) fn free_managed(driver: &mut Driver, address: u64) -> CuResult {
    forget_host(driver, address, &[HostKind::Managed])
}

fn map(driver: &mut Driver, address: u64, bytes: usize) -> CuResult {
    let pointer = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
    // SAFETY: the memory is either a vector that the machine owns until it unmaps it, or was registered by the program,
    // which keeps it until it unregisters it. Address and pointer are the same number. A program that touches memory
    // under a running kernel breaks the driver API's rules on a GPU, too.
    let mapped = unsafe { driver.memory.device.map(address, pointer, bytes as u64) };
    mapped.map_err(|_| ALREADY_REGISTERED)
}

/// Ends the driver's knowledge of host memory. A pending copy that uses it is a mistake of the program's, and is done
/// before the memory goes.
fn forget_host(driver: &mut Driver, address: u64, kinds: &[HostKind]) -> CuResult {
    let known = driver.memory.host.get(&address).filter(|region| kinds.contains(&region.kind));
    let Some(end) = known.map(|region| address + region.bytes as u64) else {
        return Err(ReturnCode::INVALID_VALUE);
    };
    let uses = |side: u64| (address..end).contains(&side);
    let pending = driver.scheduler.pending().any(|operation| match &operation.work {
        QueuedWork::Copy(copy) => uses(copy.source.address) || uses(copy.target.address),
        _ => false,
    });
    if pending {
        let message = "the host frees memory that a pending copy uses; synchronize the stream before freeing the buffer";
        driver.report(MisuseKind::HostMemoryFreed, message.to_owned());
    }
    driver.run_all();
    driver.host_races.forget(&(address..end.next_multiple_of(PAGE)));
    driver.memory.device.unmap(address).map_err(|_| ReturnCode::INVALID_VALUE)?;
    driver.memory.remove_host(address);
    Ok(())
}

/// Frees device memory, after everything that may use it.
fn free(driver: &mut Driver, address: u64) -> CuResult {
    driver.context_with_memory(address)?;
    if address == 0 {
        return Ok(());
    }
    driver.run_all();
    if close_pooled(driver, address)? || free_pooled(driver, address)? {
        return Ok(());
    }
    if driver.memory.host.contains_key(&address) {
        return forget_host(driver, address, &[HostKind::Managed]);
    }
    let bytes = driver.memory.device.allocation(address).map_or(0, |allocation| allocation.bytes);
    if let Err(error) = driver.memory.device.free(address) {
        let message = format!(
            "freeing {address:#x}: {error}; free each allocation once, by its first address"
        );
        driver.report(MisuseKind::DoubleFree, message);
        return Err(ReturnCode::INVALID_VALUE);
    }
    driver.memory.unshare(address);
    driver.memory.graphs.end(address, None);
    driver.clock.own_call_ns = Some(driver.device().profile.device_memory_ns(bytes));
    driver.objects.give_back(address, bytes)
}

/// Writes what a pointer is.
///
/// # Safety
/// - `target` is null or, but for its alignment, valid for a write of the attribute's type.
unsafe fn pointer_attribute(
    driver: &Driver,
    number: c_uint,
    address: u64,
    target: Out<c_void>,
) -> CuResult {
    let found = driver.memory.device.allocation(address).ok_or(ReturnCode::INVALID_VALUE)?;
    let is_pinned = driver.memory.place(address) == MemoryKind::Pinned;
    // SAFETY: by the contract; the types are those of the reference.
    unsafe {
        match number {
            2 => target.cast::<c_uint>().write(if is_pinned { 1 } else { 2 }),
            3 => target.cast().write(address),
            4 if found.is_mapped && !driver.memory.virtual_memory.reserves(address) => {
                target.cast().write(address)
            }
            8 => target.cast().write(u8::from(driver.memory.managed.holds(address, 1))),
            9 => {
                let device = driver.memory.device_of(address).unwrap_or(0);
                target.cast::<c_int>().write(device as c_int)
            }
            11 => target.cast().write(found.address),
            12 => target.cast::<usize>().write(found.bytes as usize),
            13 => target.cast().write(1u8),
            _ => Err(ReturnCode::INVALID_VALUE),
        }
    }
}

/// A range of managed memory; anything else is refused.
fn managed(driver: &mut Driver, address: u64, bytes: usize) -> CuResult<Range<u64>> {
    driver.context()?;
    if bytes == 0 || !driver.memory.managed.holds(address, bytes as u64) {
        return Err(ReturnCode::INVALID_VALUE);
    }
    Ok(address..address + bytes as u64)
}

/// `CU_DEVICE_CPU`.
const HOST: c_int = -1;
/// `CU_DEVICE_INVALID`: what a range that has no one answer answers.
const NOWHERE: c_int = -2;
/// `CU_MEM_LOCATION_TYPE_INVALID`.
const NO_LOCATION: MemoryLocation = MemoryLocation { kind: 0, id: NOWHERE };

fn side_of_device(device: c_int) -> CuResult<Side> {
    match device {
        HOST => Ok(Side::Host),
        0 => Ok(Side::Device),
        _ => Err(INVALID_DEVICE),
    }
}

fn side_of(location: MemoryLocation) -> CuResult<Side> {
    match location.kind {
        1 => side_of_device(location.id.max(0)),
        // The host, and those of its NUMA nodes.
        2..=4 => Ok(Side::Host),
        _ => Err(ReturnCode::INVALID_VALUE),
    }
}

/// Returns what the program advises; the place counts only where the advice has one.
fn advise(
    driver: &mut Driver,
    (address, bytes): (u64, usize),
    advice: c_uint,
    place: CuResult<Side>,
) -> CuResult {
    let range = managed(driver, address, bytes)?;
    let advice = match advice {
        1 | 2 => Advice::ReadMostly(advice == 1),
        3 => Advice::Preferred(Some(place?)),
        4 => Advice::Preferred(None),
        5 | 6 => Advice::AccessedBy(place?, advice == 5),
        _ => return Err(ReturnCode::INVALID_VALUE),
    };
    driver.memory.managed.advise(range, advice);
    Ok(())
}

fn prefetch(
    driver: &mut Driver,
    (address, bytes): (u64, usize),
    to: CuResult<Side>,
    stream: CUstream,
) -> CuResult {
    let (range, to) = (managed(driver, address, bytes)?, to?);
    driver.memory.managed.note_prefetch(to, range.clone());
    driver.submit(stream.addr(), QueuedWork::Prefetch { range, to }).map(|_| ())
}

/// Enqueues what a batch tells of ranges of managed memory: their contents are no longer needed, they move to a side, or
/// both.
///
/// # Safety
/// - The first two arrays are null or valid for reads of `count` elements, the others of `several`.
unsafe fn ranges(
    driver: &mut Driver,
    (addresses, sizes, count): (InMut<CUdeviceptr>, InMut<usize>, usize),
    discards: bool,
    places: Option<(InMut<MemoryLocation>, InMut<usize>, usize)>,
    (flags, stream): (c_ulonglong, CUstream),
) -> CuResult {
    driver.context()?;
    // SAFETY: by the contract.
    let (addresses, sizes) = unsafe { (addresses.read_all(count)?, sizes.read_all(count)?) };
    let places = match places {
        // SAFETY: by the contract.
        Some((places, firsts, several)) => unsafe {
            Some((places.read_all(several)?, firsts.read_all(several)?))
        },
        None => None,
    };
    let is_legacy = driver.objects.key(stream.addr()) == driver.objects.legacy();
    let has_order = places.as_ref().is_none_or(|(_, firsts)| {
        let is_ordered = firsts.is_sorted_by(|one, next| one < next);
        is_ordered && firsts.first() == Some(&0) && firsts.last().is_some_and(|last| *last < count)
    });
    if flags != 0 || count == 0 || is_legacy || !has_order {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // A batch with one wrong range does nothing.
    let mut work = Vec::new();
    for (at, (address, bytes)) in addresses.into_iter().zip(sizes).enumerate() {
        let range = managed(driver, address, bytes)?;
        let to = match &places {
            Some((places, firsts)) => {
                let place = firsts.partition_point(|first| *first <= at) - 1;
                Some(side_of(places[place])?)
            }
            None => None,
        };
        work.push((range, to));
    }
    for (range, to) in work {
        if discards {
            driver.submit(stream.addr(), QueuedWork::Discard(range.clone()))?;
        }
        if let Some(to) = to {
            driver.memory.managed.note_prefetch(to, range.clone());
            driver.submit(stream.addr(), QueuedWork::Prefetch { range, to })?;
        }
    }
    Ok(())
}

/// Writes what a range of managed memory was told.
///
/// # Safety
/// - `data` is null or valid for writes of `size` bytes.
unsafe fn range_attribute(
    driver: &mut Driver,
    (data, size): (*mut c_void, usize),
    attribute: c_uint,
    (address, bytes): (u64, usize),
) -> CuResult {
    let range = managed(driver, address, bytes)?;
    let managed = &driver.memory.managed;
    let device = |side: Option<Side>| match side {
        Some(Side::Host) => HOST,
        Some(Side::Device) => 0,
        None => NOWHERE,
    };
    let location = |side: Option<Side>| match side {
        Some(Side::Host) => MemoryLocation::host(),
        Some(Side::Device) => MemoryLocation::device(0),
        None => NO_LOCATION,
    };
    let value = match attribute {
        1 => c_int::from(managed.is_read_mostly(range)),
        2 => device(managed.preferred(range)),
        3 => {
            if data.is_null() || size == 0 || !size.is_multiple_of(4) {
                return Err(ReturnCode::INVALID_VALUE);
            }
            let sides = [(Side::Host, HOST), (Side::Device, 0)].into_iter();
            let by = sides.filter(|(side, _)| managed.is_accessed_by(range.clone(), *side));
            let mut by = by.map(|(_, id)| id);
            for index in 0..size / 4 {
                // SAFETY: by the contract there is room for so many numbers; the driver asks for no alignment.
                unsafe {
                    data.cast::<c_int>().add(index).write_unaligned(by.next().unwrap_or(NOWHERE))
                };
            }
            return Ok(());
        }
        4 => device(managed.prefetched(range)),
        5 => location(managed.preferred(range)).kind.cast_signed(),
        6 => location(managed.preferred(range)).id,
        7 => location(managed.prefetched(range)).kind.cast_signed(),
        8 => location(managed.prefetched(range)).id,
        _ => return Err(ReturnCode::INVALID_VALUE),
    };
    if size != size_of::<c_int>() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: by the contract there are `size` bytes, as many as the number has.
    unsafe { Out::from_raw(data.cast()) }.write(value)
}

exports! {
    fn cuMemGetInfo_v2(driver, free: Out<usize>, total: Out<usize>) {
        driver.context()?;
        let has = driver.memory.device.capacity_bytes();
        let mapped = driver.memory.virtual_memory.bytes_on(driver.current());
        let taken = driver.memory.device.used_bytes() + driver.memory.managed.device_bytes() + mapped;
        free.write(has.saturating_sub(taken) as usize)?;
        total.write(has as usize)
    }
    fn cuMemAlloc_v2(driver, pointer: Out<CUdeviceptr>, bytes: usize) {
        let address = take(driver, bytes)?;
        pointer.write(address)
    }
    fn cuMemAllocPitch_v2(
        driver, pointer: Out<CUdeviceptr>, pitch: Out<usize>, width: usize, height: usize, _element: c_uint
    ) {
        let row = width.next_multiple_of(512);
        let address = take(driver, row.checked_mul(height).ok_or(ReturnCode::OUT_OF_MEMORY)?)?;
        pitch.write(row)?;
        pointer.write(address)
    }
    fn cuMemFree_v2(driver, pointer: CUdeviceptr) {
        free(driver, pointer)
    }
    fn cuMemGetAddressRange_v2(driver, base: Out<CUdeviceptr>, size: Out<usize>, pointer: CUdeviceptr) {
        driver.context()?;
        let found = driver.memory.device.allocation(pointer).ok_or(NOT_FOUND)?;
        base.write_optional(found.address)?;
        size.write_optional(found.bytes as usize)
    }
    fn cuMemAllocHost_v2(driver, pointer: Out<*mut c_void>, bytes: usize) {
        let address = allocate_host(driver, bytes, HostKind::Pinned, DEVICE_MAP)?;
        pointer.write(std::ptr::with_exposed_provenance_mut(address as usize))
    }
    fn cuMemHostAlloc(driver, pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) {
        if flags > 7 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let address = allocate_host(driver, bytes, HostKind::Pinned, flags | DEVICE_MAP)?;
        pointer.write(std::ptr::with_exposed_provenance_mut(address as usize))
    }
    fn cuMemFreeHost(driver, pointer: *mut c_void) {
        if pointer.is_null() {
            return Ok(());
        }
        let freed = forget_host(driver, pointer.addr() as u64, &[HostKind::Pinned]);
        if freed.is_err() {
            let message = format!("freeing {pointer:p}, which is no page-locked allocation; was it freed before?");
            driver.report(MisuseKind::DoubleFree, message);
        }
        freed
    }
    fn cuMemHostRegister_v2(driver, pointer: *mut c_void, bytes: usize, flags: c_uint) {
        driver.context()?;
        if pointer.is_null() || bytes == 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let address = pointer.expose_provenance() as u64;
        map(driver, address, bytes)?;
        driver.registers_pages(bytes);
        let region = HostRegion { bytes, kind: HostKind::Registered, flags, _owned: None };
        driver.memory.host.insert(address, region);
        if driver.options.checks.global_races {
            driver.host_races.registered(&(address..address + bytes as u64));
        }
        Ok(())
    }
    fn cuMemHostUnregister(driver, pointer: *mut c_void) {
        forget_host(driver, pointer.addr() as u64, &[HostKind::Registered]).map_err(|_| NOT_REGISTERED)
    }
    fn cuMemHostGetDevicePointer_v2(driver, device: Out<CUdeviceptr>, pointer: *mut c_void, _flags: c_uint) {
        driver.context()?;
        if driver.memory.place(pointer.addr() as u64) != MemoryKind::Pinned {
            return Err(ReturnCode::INVALID_VALUE);
        }
        device.write(pointer.addr() as u64)
    }
    fn cuMemHostGetFlags(driver, flags: Out<c_uint>, pointer: *mut c_void) {
        driver.context()?;
        let region = driver.memory.host.get(&(pointer.addr() as u64)).ok_or(ReturnCode::INVALID_VALUE)?;
        flags.write(region.flags)
    }
    fn cuMemAllocManaged(driver, pointer: Out<CUdeviceptr>, bytes: usize, flags: c_uint) {
        if flags != 1 && flags != 2 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let address = allocate_host(driver, bytes, HostKind::Managed, flags)?;
        pointer.write(address)
    }
    fn cuMemAdvise(driver, pointer: CUdeviceptr, bytes: usize, advice: c_uint, device: CUdevice) {
        advise(driver, (pointer, bytes), advice, side_of_device(device))
    }
    fn cuMemAdvise_v2(driver, pointer: CUdeviceptr, bytes: usize, advice: c_uint, location: MemoryLocation) {
        advise(driver, (pointer, bytes), advice, side_of(location))
    }
    fn cuMemPrefetchAsync_v2(
        driver, pointer: CUdeviceptr, bytes: usize, location: MemoryLocation, flags: c_uint, stream: CUstream
    ) {
        if flags != 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        prefetch(driver, (pointer, bytes), side_of(location), stream)
    }
    fn cuMemPrefetchBatchAsync(
        driver, pointers: InMut<CUdeviceptr>, sizes: InMut<usize>, count: usize, places: InMut<MemoryLocation>,
        firsts: InMut<usize>, several: usize, flags: c_ulonglong, stream: CUstream
    ) {
        // SAFETY: by the function's contract.
        unsafe { ranges(driver, (pointers, sizes, count), false, Some((places, firsts, several)), (flags, stream)) }
    }
    fn cuMemDiscardBatchAsync(
        driver, pointers: InMut<CUdeviceptr>, sizes: InMut<usize>, count: usize, flags: c_ulonglong, stream: CUstream
    ) {
        // SAFETY: by the function's contract.
        unsafe { ranges(driver, (pointers, sizes, count), true, None, (flags, stream)) }
    }
    fn cuMemDiscardAndPrefetchBatchAsync(
        driver, pointers: InMut<CUdeviceptr>, sizes: InMut<usize>, count: usize, places: InMut<MemoryLocation>,
        firsts: InMut<usize>, several: usize, flags: c_ulonglong, stream: CUstream
    ) {
        // SAFETY: by the function's contract.
        unsafe { ranges(driver, (pointers, sizes, count), true, Some((places, firsts, several)), (flags, stream)) }
    }
    fn cuMemPrefetchAsync(driver, pointer: CUdeviceptr, bytes: usize, device: CUdevice, stream: CUstream) {
        prefetch(driver, (pointer, bytes), side_of_device(device), stream)
    }
    fn cuPointerGetAttribute(driver, data: Out<c_void>, attribute: c_uint, pointer: CUdeviceptr) {
        driver.context_with_memory(pointer)?;
        // SAFETY: by the function's contract.
        unsafe { pointer_attribute(driver, attribute, pointer, data) }
    }
    fn cuPointerGetAttributes(
        driver, count: c_uint, attributes: InMut<c_uint>, data: InMut<*mut c_void>, pointer: CUdeviceptr
    ) {
        driver.context_with_memory(pointer)?;
        // SAFETY: by the function's contract there are so many of each.
        let (attributes, data) = unsafe { (attributes.read_all(count as usize)?, data.read_all(count as usize)?) };
        for (attribute, data) in attributes.into_iter().zip(data) {
            // SAFETY: by the function's contract the place is valid for the attribute's type.
            let is_unknown = unsafe { pointer_attribute(driver, attribute, pointer, Out::from_raw(data)) }.is_err();
            // An attribute that the pointer does not have is left as it is; the driver writes zero.
            if is_unknown && attribute <= 4 && attribute != 2 {
                // SAFETY: by the function's contract; these attributes are addresses.
                unsafe { Out::<u64>::from_raw(data.cast()) }.write_optional(0)?;
            }
        }
        Ok(())
    }
    fn cuMemRangeGetAttribute(
        driver, data: *mut c_void, size: usize, attribute: c_uint, pointer: CUdeviceptr, bytes: usize
    ) {
        // SAFETY: by the function's contract.
        unsafe { range_attribute(driver, (data, size), attribute, (pointer, bytes)) }
    }
    fn cuMemRangeGetAttributes(
        driver, data: InMut<*mut c_void>, sizes: InMut<usize>, attributes: InMut<c_uint>, count: usize, pointer: CUdeviceptr,
        bytes: usize
    ) {
        if count == 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        // SAFETY: by the function's contract there are so many of each.
        let (data, sizes, attributes) =
            unsafe { (data.read_all(count)?, sizes.read_all(count)?, attributes.read_all(count)?) };
        for (place, attribute) in data.into_iter().zip(sizes).zip(attributes) {
            // SAFETY: by the function's contract each place has its size.
            unsafe { range_attribute(driver, place, attribute, (pointer, bytes)) }?;
        }
        Ok(())
    }
}
