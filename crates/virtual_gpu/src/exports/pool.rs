use super::arguments::{In, InMut, Out, handle};
use super::context::{check_device, device_at};
use super::define::exports;
use super::inter_process::close_pooled;
use super::mapped_memory::FILE_DESCRIPTOR;
use super::memory::{allocate_pooled, free_pooled};
use crate::code::{CuResult, INVALID_DEVICE};
use crate::driver::Driver;
use crate::misuse::MisuseKind;
use crate::objects::PoolState;
use crate::work::QueuedWork;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{
    CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream,
};
use cuda_driver::types::MemoryLocation;
use std::ffi::{c_int, c_uint, c_void};

/// Takes memory from a pool. It has its address at once; the end of its life is ordered on a stream.
///
/// What was freed on any stream counts as the pool's again: the device orders its next use behind the free. Memory that
/// the pool lacks is taken from the device, which holds up the host.
fn take(driver: &mut Driver, pool: usize, bytes: usize, stream: usize) -> CuResult<u64> {
    driver.objects.stream(stream)?;
    let state = driver.objects.pools.get(pool)?;
    let (device, is_host) = (state.device, state.is_host);
    if state.is_imported {
        let why = "the pool is another process's, and gives no memory here";
        return Err(driver.refuse(ReturnCode::INVALID_VALUE, why));
    }
    let (used, reserved) = (state.used, state.reserved);
    if driver.objects.stream(stream)?.capture.is_some() {
        return driver.capture_allocation(stream, device, bytes);
    }
    let selected = driver.select(device);
    // Programs take 0 bytes from a pool and give the address back, as they do on a GPU.
    let allocated = if is_host {
        allocate_pooled(driver, bytes.max(1), used + bytes as u64 > reserved)
    } else {
        driver.allocate_on_device(bytes.max(1))
    };
    driver.select(selected);
    let address = allocated?;
    driver.objects.pool_of.insert(address, pool);
    let pool = driver.objects.pools.get_mut(pool)?;
    pool.used += bytes as u64;
    let lacks = pool.used > pool.reserved;
    pool.reserved = pool.reserved.max(pool.used);
    pool.used_max = pool.used_max.max(pool.used);
    pool.reserved_max = pool.reserved_max.max(pool.reserved);
    if lacks && !is_host {
        driver.clock.advance(driver.device().profile.pool_memory_ns());
    }
    if !is_host {
        driver.submit(stream, QueuedWork::Allocation(address))?;
    }
    Ok(address)
}

/// The values of `CUmemAccess_flags`, and the kind of `CUmemLocation` that is a device.
const NO_ACCESS: c_uint = 0;
const READ_AND_WRITE: c_uint = 3;
/// The kinds of `CUmemLocation` that are the host, and one of its NUMA nodes.
const ON_HOST: [c_uint; 2] = [2, 3];

exports! {
    #[cost(Pool)]
    fn cuMemAllocAsync(driver, pointer: Out<CUdeviceptr>, bytes: usize, stream: CUstream) {
        driver.context_with_stream(stream.addr())?;
        let pool = driver.objects.default_pools[driver.current()];
        let address = take(driver, pool, bytes, stream.addr())?;
        pointer.write(address)
    }
    #[cost(Pool)]
    fn cuMemAllocFromPoolAsync(
        driver, pointer: Out<CUdeviceptr>, bytes: usize, pool: CUmemoryPool, stream: CUstream
    ) {
        driver.context_with_stream(stream.addr())?;
        let address = take(driver, pool.addr(), bytes, stream.addr())?;
        pointer.write(address)
    }
    #[cost(Pool)]
    fn cuMemFreeAsync(driver, pointer: CUdeviceptr, stream: CUstream) {
        driver.context_with_stream(stream.addr())?;
        if driver.objects.stream(stream.addr())?.capture.is_some() {
            return driver.capture_release(stream.addr(), pointer);
        }
        if driver.memory.graphs.is_live(pointer) {
            let freed = driver.submit(stream.addr(), QueuedWork::Release(pointer))?;
            driver.memory.graphs.end(pointer, freed);
            return Ok(());
        }
        if close_pooled(driver, pointer)? || free_pooled(driver, pointer)? {
            return Ok(());
        }
        let pending = driver.scheduler.pending()
            .any(|operation| matches!(operation.work, QueuedWork::Release(address) if address == pointer));
        if pending || driver.memory.device.allocation(pointer).is_none_or(|found| found.address != pointer) {
            let place = driver.memory.device.describe(pointer);
            let message = format!("freeing {pointer:#x}: {place}; free each allocation once, by its first address");
            driver.report(MisuseKind::DoubleFree, message);
            return Err(ReturnCode::INVALID_VALUE);
        }
        let bytes = driver.memory.device.allocation(pointer).map_or(0, |found| found.bytes);
        driver.submit(stream.addr(), QueuedWork::Release(pointer))?;
        driver.objects.give_back(pointer, bytes)
    }
    fn cuDeviceGetDefaultMemPool(driver, pool: Out<CUmemoryPool>, ordinal: CUdevice) {
        let device = check_device(driver, ordinal)?;
        pool.write(handle(driver.objects.default_pools[device]))
    }
    fn cuDeviceGetMemPool(driver, pool: Out<CUmemoryPool>, ordinal: CUdevice) {
        let device = check_device(driver, ordinal)?;
        pool.write(handle(driver.objects.default_pools[device]))
    }
    fn cuDeviceSetMemPool(driver, ordinal: CUdevice, pool: CUmemoryPool) {
        let device = check_device(driver, ordinal)?;
        if driver.objects.pools.get(pool.addr())?.device != device {
            return Err(INVALID_DEVICE);
        }
        driver.objects.default_pools[device] = pool.addr();
        Ok(())
    }
    fn cuDeviceGraphMemTrim(driver, ordinal: CUdevice) {
        let device = check_device(driver, ordinal)?;
        driver.trim_graph_memory(device);
        Ok(())
    }
    fn cuDeviceGetGraphMemAttribute(driver, ordinal: CUdevice, attribute: c_uint, value: Out<c_void>) {
        let device = check_device(driver, ordinal)?;
        // What a device keeps for graphs is all that it reserves for them.
        let number = match attribute {
            0 | 2 => driver.memory.graphs.kept(device),
            1 | 3 => driver.memory.graphs.high(device),
            _ => return Err(ReturnCode::INVALID_VALUE),
        };
        // SAFETY: by the function's contract the place is one for 64 bits.
        unsafe { value.cast::<u64>() }.write(number)
    }
    fn cuDeviceSetGraphMemAttribute(driver, ordinal: CUdevice, attribute: c_uint, value: InMut<c_void>) {
        let device = check_device(driver, ordinal)?;
        // SAFETY: by the function's contract these attributes have 64 bits.
        let number = unsafe { value.cast::<u64>() }.read()?;
        if !matches!(attribute, 1 | 3) || number != 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        driver.memory.graphs.reset_high(device);
        Ok(())
    }
    fn cuMemPoolCreate(driver, pool: Out<CUmemoryPool>, properties: In<CUmemPoolProps>) {
        driver.context()?;
        let properties = properties.pointer()?;
        // SAFETY: valid by the type; the kind of the location is read as the integer that it is in C.
        let location = unsafe { (&raw const (*properties).location).cast::<MemoryLocation>().read() };
        // SAFETY: as above.
        let handle_types = unsafe { (&raw const (*properties).handleTypes).cast::<c_uint>().read() };
        if handle_types & !FILE_DESCRIPTOR != 0 {
            return Err(driver.unsupported("pools that are shared by other handles than file descriptors"));
        }
        let is_host = ON_HOST.contains(&location.kind);
        let device = if is_host { driver.current() } else { device_at(driver, location)? };
        let created = driver.objects.pools.add(PoolState { device, is_host, handle_types, ..PoolState::default() });
        pool.write(handle(created))
    }
    fn cuMemPoolDestroy(driver, pool: CUmemoryPool) {
        driver.objects.pools.remove(pool.addr()).map(|_| ())
    }
    fn cuMemPoolSetAccess(driver, pool: CUmemoryPool, access: In<CUmemAccessDesc>, count: usize) {
        let owner = driver.objects.pools.get(pool.addr())?.device;
        let mut open_to = driver.objects.pools.get(pool.addr())?.open_to.clone();
        for index in 0..count {
            let first = access.pointer()?;
            // SAFETY: by the function's contract there are `count` of them; enums are read as the integers they are in C.
            let (location, flags) = unsafe {
                let asked = first.add(index);
                ((&raw const (*asked).location).cast::<MemoryLocation>().read(), (&raw const (*asked).flags).cast::<c_uint>().read())
            };
            let device = device_at(driver, location)?;
            let link = driver.topology.link(device, owner);
            // The values of `CUmemAccess_flags`; access for reading alone is not offered for pools.
            match flags {
                NO_ACCESS if device != owner => { open_to.remove(&device); }
                READ_AND_WRITE if device == owner => {}
                READ_AND_WRITE if link.is_some_and(|link| link.access) => { open_to.insert(device); }
                NO_ACCESS | READ_AND_WRITE => return Err(INVALID_DEVICE),
                _ => return Err(ReturnCode::INVALID_VALUE),
            }
        }
        driver.objects.pools.get_mut(pool.addr())?.open_to = open_to;
        Ok(())
    }
    fn cuMemPoolGetAccess(driver, flags: Out<c_uint>, pool: CUmemoryPool, location: InMut<CUmemLocation>) {
        // SAFETY: valid by the type; the kind is read as the integer that it is in C.
        let location = unsafe { location.pointer()?.cast::<MemoryLocation>().read() };
        let device = device_at(driver, location)?;
        let pool = driver.objects.pools.get(pool.addr())?;
        let has_access = device == pool.device || pool.open_to.contains(&device);
        flags.write(if has_access { READ_AND_WRITE } else { NO_ACCESS })
    }
    fn cuMemPoolTrimTo(driver, pool: CUmemoryPool, keep: usize) {
        let pool = driver.objects.pools.get_mut(pool.addr())?;
        pool.reserved = pool.used.max(pool.reserved.min(keep as u64));
        Ok(())
    }
    fn cuMemPoolGetAttribute(driver, pool: CUmemoryPool, attribute: c_uint, value: Out<c_void>) {
        let pool = driver.objects.pools.get(pool.addr())?;
        let number = match attribute {
            // SAFETY: by the function's contract the place is one for a C `int`.
            1..=3 => return unsafe { value.cast::<c_int>() }.write(1),
            4 => pool.threshold,
            5 => pool.reserved,
            6 => pool.reserved_max,
            7 => pool.used,
            8 => pool.used_max,
            _ => return Err(ReturnCode::INVALID_VALUE),
        };
        // SAFETY: by the function's contract the place is one for 64 bits.
        unsafe { value.cast::<u64>() }.write(number)
    }
    fn cuMemPoolSetAttribute(driver, pool: CUmemoryPool, attribute: c_uint, value: InMut<c_void>) {
        let pool = driver.objects.pools.get_mut(pool.addr())?;
        // SAFETY: by the function's contract these attributes have 64 bits.
        let number = || unsafe { value.cast::<u64>() }.read();
        match attribute {
            1..=3 if !value.is_null() => {}
            4 => pool.threshold = number()?,
            6 if number()? == 0 => pool.reserved_max = pool.reserved,
            8 if number()? == 0 => pool.used_max = pool.used,
            _ => return Err(ReturnCode::INVALID_VALUE),
        }
        Ok(())
    }
}
