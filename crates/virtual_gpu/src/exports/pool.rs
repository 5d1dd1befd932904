//! Stream-ordered allocation and memory pools.

use super::arguments::{handle, out};
use super::context::check_device;
use super::define::exports;
use crate::code::CuResult;
use crate::machine::Machine;
use crate::misuse::MisuseKind;
use crate::objects::PoolState;
use crate::work::QueuedWork;
use cuda_driver::ReturnCode;
use cust_raw::{CUdevice, CUdeviceptr, CUmemPoolProps, CUmemoryPool, CUstream};
use std::ffi::{c_uint, c_void};

/// Takes memory from a pool. It has its address at once; the end of its life is ordered on a stream.
///
/// What was freed on any stream counts as the pool's again: the device orders its next use behind the free. Memory that
/// the pool lacks is taken from the device, which holds up the host.
fn take(machine: &mut Machine, pool: usize, bytes: usize, stream: usize) -> CuResult<u64> {
    machine.objects.stream(stream)?;
    machine.objects.pools.get(pool)?;
    let address = machine.allocate(bytes)?;
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
        machine.objects.pools.get(pool.addr())?;
        machine.objects.default_pools[device] = pool.addr();
        Ok(())
    }
    fn cuMemPoolCreate(machine, pool: *mut CUmemoryPool, properties: *const CUmemPoolProps) {
        machine.context()?;
        if properties.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let created = machine.objects.pools.add(PoolState::default());
        out(pool, handle(created))
    }
    fn cuMemPoolDestroy(machine, pool: CUmemoryPool) {
        machine.objects.pools.remove(pool.addr()).map(|_| ())
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
