//! Stream-ordered allocation and memory pools.

use super::arguments::{handle, out};
use super::context::check_device;
use super::define::exports;
use crate::code::{CuResult, INVALID_DEVICE};
use crate::machine::Machine;
use crate::misuse::MisuseKind;
use crate::objects::PoolState;
use crate::work::QueuedWork;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{
    CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemoryPool, CUstream,
};
use std::ffi::{c_uint, c_void};

/// Takes memory from a pool. It has its address at once; the end of its life is ordered on a stream.
///
/// What was freed on any stream counts as the pool's again: the device orders its next use behind the free. Memory that
/// the pool lacks is taken from the device, which holds up the host.
fn take(machine: &mut Machine, pool: usize, bytes: usize, stream: usize) -> CuResult<u64> {
    machine.objects.stream(stream)?;
    let device = machine.objects.pools.get(pool)?.device;
    let selected = machine.select(device);
    let allocated = machine.allocate(bytes);
    machine.select(selected);
    let address = allocated?;
    machine.objects.pool_of.insert(address, pool);
    let pool = machine.objects.pools.get_mut(pool)?;
    pool.used += bytes as u64;
    let lacks = pool.used > pool.reserved;
    pool.reserved = pool.reserved.max(pool.used);
    pool.used_max = pool.used_max.max(pool.used);
    pool.reserved_max = pool.reserved_max.max(pool.reserved);
    if lacks {
        machine.clock.advance(machine.device().profile.pool_memory_ns());
    }
    Ok(address)
}

/// The values of `CUmemAccess_flags`, and the kind of `CUmemLocation` that is a device.
const NO_ACCESS: c_uint = 0;
const READ_AND_WRITE: c_uint = 3;
const ON_DEVICE: c_uint = 1;

/// The device that a location names.
///
/// # Safety
/// The pointer is valid for reads.
unsafe fn device_at(machine: &mut Machine, location: *const CUmemLocation) -> CuResult<usize> {
    // SAFETY: the caller's contract; the kind is read as a number, since any may stand there.
    let (kind, ordinal) =
        unsafe { ((&raw const (*location).type_).cast::<c_uint>().read(), (*location).id) };
    if kind != ON_DEVICE {
        return Err(ReturnCode::INVALID_VALUE);
    }
    check_device(machine, ordinal)
}

exports! {
    #[cost(Pool)]
    fn cuMemAllocAsync(machine, pointer: *mut CUdeviceptr, bytes: usize, stream: CUstream) {
        machine.context()?;
        let pool = machine.objects.default_pools[machine.current()];
        let address = take(machine, pool, bytes, stream.addr())?;
        out(pointer, address)
    }
    #[cost(Pool)]
    fn cuMemAllocFromPoolAsync(
        machine, pointer: *mut CUdeviceptr, bytes: usize, pool: CUmemoryPool, stream: CUstream
    ) {
        machine.context()?;
        let address = take(machine, pool.addr(), bytes, stream.addr())?;
        out(pointer, address)
    }
    #[cost(Pool)]
    fn cuMemFreeAsync(machine, pointer: CUdeviceptr, stream: CUstream) {
        machine.context()?;
        let pending = machine.scheduler.pending()
            .any(|operation| matches!(operation.work, QueuedWork::Release(address) if address == pointer));
        if pending || machine.memory.device.allocation(pointer).is_none_or(|found| found.address != pointer) {
            let place = machine.memory.device.describe(pointer);
            let message = format!("freeing {pointer:#x}: {place}; free each allocation once, by its first address");
            machine.report(MisuseKind::DoubleFree, message);
            return Err(ReturnCode::INVALID_VALUE);
        }
        let bytes = machine.memory.device.allocation(pointer).map_or(0, |found| found.bytes);
        machine.submit(stream.addr(), QueuedWork::Release(pointer))?;
        machine.objects.give_back(pointer, bytes)
    }
    fn cuDeviceGetDefaultMemPool(machine, pool: *mut CUmemoryPool, ordinal: CUdevice) {
        let device = check_device(machine, ordinal)?;
        out(pool, handle(machine.objects.default_pools[device]))
    }
    fn cuDeviceGetMemPool(machine, pool: *mut CUmemoryPool, ordinal: CUdevice) {
        let device = check_device(machine, ordinal)?;
        out(pool, handle(machine.objects.default_pools[device]))
    }
    fn cuDeviceSetMemPool(machine, ordinal: CUdevice, pool: CUmemoryPool) {
        let device = check_device(machine, ordinal)?;
        if machine.objects.pools.get(pool.addr())?.device != device {
            return Err(INVALID_DEVICE);
        }
        machine.objects.default_pools[device] = pool.addr();
        Ok(())
    }
    fn cuMemPoolCreate(machine, pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) {
        machine.context()?;
        if properties.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let device = device_at(machine, &raw const (*properties).location)?;
        let created = machine.objects.pools.add(PoolState { device, ..PoolState::default() });
        out(pool, handle(created))
    }
    fn cuMemPoolDestroy(machine, pool: CUmemoryPool) {
        machine.objects.pools.remove(pool.addr()).map(|_| ())
    }
    fn cuMemPoolSetAccess(machine, pool: CUmemoryPool, access: *const CUmemAccessDesc, count: usize) {
        let owner = machine.objects.pools.get(pool.addr())?.device;
        if access.is_null() && count > 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let mut open_to = machine.objects.pools.get(pool.addr())?.open_to.clone();
        for index in 0..count {
            let asked = access.add(index);
            let device = device_at(machine, &raw const (*asked).location)?;
            let link = machine.topology.link(device, owner);
            // The values of `CUmemAccess_flags`; access for reading alone is not offered for pools.
            match (&raw const (*asked).flags).cast::<c_uint>().read() {
                NO_ACCESS if device != owner => { open_to.remove(&device); }
                READ_AND_WRITE if device == owner => {}
                READ_AND_WRITE if link.is_some_and(|link| link.access) => { open_to.insert(device); }
                NO_ACCESS | READ_AND_WRITE => return Err(INVALID_DEVICE),
                _ => return Err(ReturnCode::INVALID_VALUE),
            }
        }
        machine.objects.pools.get_mut(pool.addr())?.open_to = open_to;
        Ok(())
    }
    fn cuMemPoolGetAccess(machine, flags: *mut c_uint, pool: CUmemoryPool, location: *mut CUmemLocation) {
        if location.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let device = device_at(machine, location)?;
        let pool = machine.objects.pools.get(pool.addr())?;
        let has_access = device == pool.device || pool.open_to.contains(&device);
        out(flags, if has_access { READ_AND_WRITE } else { NO_ACCESS })
    }
    fn cuMemPoolTrimTo(machine, pool: CUmemoryPool, keep: usize) {
        let pool = machine.objects.pools.get_mut(pool.addr())?;
        pool.reserved = pool.used.max(pool.reserved.min(keep as u64));
        Ok(())
    }
    fn cuMemPoolGetAttribute(machine, pool: CUmemoryPool, attribute: c_uint, value: *mut c_void) {
        let pool = machine.objects.pools.get(pool.addr())?;
        match attribute {
            1..=3 => out(value.cast::<i32>(), 1),
            4 => out(value.cast(), pool.threshold),
            5 => out(value.cast(), pool.reserved),
            6 => out(value.cast(), pool.reserved_max),
            7 => out(value.cast(), pool.used),
            8 => out(value.cast(), pool.used_max),
            _ => Err(ReturnCode::INVALID_VALUE),
        }
    }
    fn cuMemPoolSetAttribute(machine, pool: CUmemoryPool, attribute: c_uint, value: *mut c_void) {
        let pool = machine.objects.pools.get_mut(pool.addr())?;
        if value.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        match attribute {
            1..=3 => {}
            4 => pool.threshold = value.cast::<u64>().read(),
            6 if value.cast::<u64>().read() == 0 => pool.reserved_max = pool.reserved,
            8 if value.cast::<u64>().read() == 0 => pool.used_max = pool.used,
            _ => return Err(ReturnCode::INVALID_VALUE),
        }
        Ok(())
    }
}
