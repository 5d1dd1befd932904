use super::arguments::{InMut, Out, handle};
use super::define::exports;
use crate::code::{CuResult, INVALID_CONTEXT, INVALID_DEVICE, NOT_INITIALIZED};
use crate::driver::Driver;
use crate::limits::Limits;
use crate::objects::ContextState;
use crate::thread;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUcontext, CUdevice, CUexecAffinityParam};
use cuda_driver::types::{ContextParameters, MemoryLocation};
use gpu_model::DramAtoms;
use std::ffi::{c_int, c_uint};

const PEER_ACCESS_UNSUPPORTED: ReturnCode = ReturnCode(217);
const PEER_ACCESS_ALREADY_ENABLED: ReturnCode = ReturnCode(704);
const PEER_ACCESS_NOT_ENABLED: ReturnCode = ReturnCode(705);

/// The device of a number that a program gives, which this call means from here on.
pub(super) fn check_device(driver: &mut Driver, device: CUdevice) -> CuResult<usize> {
    if !driver.initialized {
        return Err(NOT_INITIALIZED);
    }
    let known = usize::try_from(device).ok().filter(|device| *device < driver.devices.len());
    let device = known.ok_or(INVALID_DEVICE)?;
    driver.select(device);
    Ok(device)
}

/// The kind of a `CUmemLocation` that is a device.
pub(super) const ON_DEVICE: c_uint = 1;

/// The device that a location names.
pub(super) fn device_at(driver: &mut Driver, location: MemoryLocation) -> CuResult<usize> {
    if location.kind != ON_DEVICE {
        return Err(ReturnCode::INVALID_VALUE);
    }
    check_device(driver, location.id)
}

/// Makes a context and makes it current.
fn create(driver: &mut Driver, device: CUdevice) -> CuResult<usize> {
    let device = check_device(driver, device)?;
    let created = driver.objects.contexts.add(ContextState { device });
    thread::push_context(created);
    Ok(created)
}

fn limit(driver: &mut Driver, number: c_uint) -> CuResult<&mut usize> {
    driver.device_mut().limits.by_number(number).ok_or(ReturnCode::INVALID_VALUE)
}

/// The context that is current and the one that a call names, which is another device's.
fn with_peer(driver: &mut Driver, peer: CUcontext) -> CuResult<(usize, usize)> {
    let own = driver.context()?;
    driver.objects.contexts.get(peer.addr()).map_err(|_| INVALID_CONTEXT)?;
    if peer.addr() == own { Err(INVALID_CONTEXT) } else { Ok((own, peer.addr())) }
}

/// Ends a context after what was enqueued before.
fn destroy(driver: &mut Driver, context: CUcontext) -> CuResult {
    driver.run_all();
    driver.objects.remove_context(context.addr()).map_err(|_| INVALID_CONTEXT)?;
    if thread::current_context() == Some(context.addr()) {
        thread::pop_context();
    }
    Ok(())
}

/// Frees the memory of a device, and destroys its streams and events, after what was enqueued before.
fn clear(driver: &mut Driver, device: usize) -> CuResult {
    driver.run_all();
    let memory = &driver.memory.device;
    let is_own = |one: &simt::Allocation| {
        !one.is_mapped && one.label.is_empty() && memory.device_of(one.address) == Some(device)
    };
    let own: Vec<_> = memory.allocations().into_iter().filter(is_own).collect();
    for one in own {
        let (bytes, address) = (one.bytes, one.address);
        driver.memory.left.push(format!(
            "{bytes} bytes of device memory at {address:#x} were never freed before the device was reset"
        ));
        if driver.memory.device.free(one.address).is_ok() {
            driver.objects.give_back(one.address, one.bytes)?;
        }
    }
    driver.memory.graphs.forget(device);
    let streams = driver.objects.streams.iter().filter(|(_, stream)| stream.device == device);
    let streams: Vec<usize> = streams.map(|(handle, _)| handle).collect();
    for stream in streams {
        driver.objects.remove_stream(stream)?;
    }
    driver.objects.events.retain(|event| event.device != device);
    Ok(())
}

/// The device of a context, and of the current one for none.
fn device_of(driver: &mut Driver, context: CUcontext) -> CuResult<usize> {
    let current = driver.context()?;
    let context = if context.is_null() { current } else { context.addr() };
    driver.objects.contexts.get(context).map(|context| context.device).map_err(|_| INVALID_CONTEXT)
}

exports! {
    fn cuDevicePrimaryCtxRetain(driver, context: Out<CUcontext>, device: CUdevice) {
        let device = check_device(driver, device)?;
        let (primary, count) = match driver.objects.primary[device].context {
            Some((primary, count)) => (primary, count + 1),
            None => (driver.objects.contexts.add(ContextState { device }), 1),
        };
        driver.objects.primary[device].context = Some((primary, count));
        context.write(handle(primary))
    }
    fn cuDevicePrimaryCtxRelease_v2(driver, device: CUdevice) {
        let device = check_device(driver, device)?;
        let (primary, count) = driver.objects.primary[device].context.ok_or(INVALID_CONTEXT)?;
        if count == 1 {
            driver.run_all();
            driver.objects.remove_context(primary)?;
        }
        driver.objects.primary[device].context = (count > 1).then_some((primary, count - 1));
        Ok(())
    }
    fn cuDevicePrimaryCtxSetFlags_v2(driver, device: CUdevice, flags: c_uint) {
        let device = check_device(driver, device)?;
        driver.objects.primary[device].flags = flags;
        Ok(())
    }
    fn cuDevicePrimaryCtxGetState(driver, device: CUdevice, flags: Out<c_uint>, active: Out<c_int>) {
        let device = check_device(driver, device)?;
        flags.write(driver.objects.primary[device].flags)?;
        active.write(c_int::from(driver.objects.primary[device].context.is_some()))
    }
    fn cuDevicePrimaryCtxReset_v2(driver, device: CUdevice) {
        let device = check_device(driver, device)?;
        clear(driver, device)?;
        driver.device_mut().reset();
        Ok(())
    }
    fn cuCtxEnablePeerAccess(driver, peer: CUcontext, flags: c_uint) {
        let pair = with_peer(driver, peer)?;
        if flags != 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let (device, other) = driver.objects.devices_of(pair).ok_or(INVALID_CONTEXT)?;
        if !driver.topology.link(device, other).is_some_and(|link| link.access) {
            return Err(PEER_ACCESS_UNSUPPORTED);
        }
        if driver.objects.peers.insert(pair) { Ok(()) } else { Err(PEER_ACCESS_ALREADY_ENABLED) }
    }
    fn cuCtxDisablePeerAccess(driver, peer: CUcontext) {
        let pair = with_peer(driver, peer)?;
        // What was enqueued before may use it.
        driver.run_all();
        if driver.objects.peers.remove(&pair) { Ok(()) } else { Err(PEER_ACCESS_NOT_ENABLED) }
    }
    fn cuCtxCreate_v2(driver, context: Out<CUcontext>, _flags: c_uint, device: CUdevice) {
        let created = create(driver, device)?;
        context.write(handle(created))
    }
    fn cuCtxCreate_v3(
        driver, context: Out<CUcontext>, affinities: *mut CUexecAffinityParam, _count: c_int, _flags: c_uint,
        device: CUdevice
    ) {
        if !affinities.is_null() {
            return Err(driver.unsupported("execution affinity"));
        }
        let created = create(driver, device)?;
        context.write(handle(created))
    }
    fn cuCtxCreate_v4(
        driver, context: Out<CUcontext>, parameters: InMut<ContextParameters>, _flags: c_uint, device: CUdevice
    ) {
        let asks = |asked: ContextParameters| !asked.execution_affinities.is_null() || !asked.graphics.is_null();
        if !parameters.is_null() && asks(parameters.read()?) {
            return Err(driver.unsupported("execution affinity and sharing with graphics"));
        }
        let created = create(driver, device)?;
        context.write(handle(created))
    }
    fn cuCtxDestroy_v2(driver, context: CUcontext) {
        destroy(driver, context)
    }
    fn cuCtxDetach(driver, context: CUcontext) {
        // Attached once, by being made.
        destroy(driver, context)
    }
    fn cuCtxPushCurrent_v2(driver, context: CUcontext) {
        driver.objects.contexts.get(context.addr()).map_err(|_| INVALID_CONTEXT)?;
        thread::push_context(context.addr());
        Ok(())
    }
    fn cuCtxPopCurrent_v2(_machine, context: Out<CUcontext>) {
        let popped = thread::pop_context().ok_or(INVALID_CONTEXT)?;
        context.write_optional(handle(popped))
    }
    fn cuCtxSetCurrent(driver, context: CUcontext) {
        if !context.is_null() {
            driver.objects.contexts.get(context.addr()).map_err(|_| INVALID_CONTEXT)?;
        }
        thread::pop_context();
        if !context.is_null() {
            thread::push_context(context.addr());
        }
        Ok(())
    }
    fn cuCtxGetCurrent(_machine, context: Out<CUcontext>) {
        context.write(handle(thread::current_context().unwrap_or(0)))
    }
    fn cuCtxGetId(driver, context: CUcontext, id: Out<u64>) {
        let context = if context.is_null() { driver.context()? } else { context.addr() };
        driver.objects.contexts.get(context).map_err(|_| INVALID_CONTEXT)?;
        id.write(context as u64)
    }
    fn cuCtxGetDevice(driver, device: Out<CUdevice>) {
        // Programs ask for it to learn whether there is a context.
        if thread::current_context().is_none() {
            return Err(if driver.initialized { INVALID_CONTEXT } else { NOT_INITIALIZED });
        }
        driver.context()?;
        device.write(driver.current() as CUdevice)
    }
    fn cuCtxGetDevice_v2(driver, device: Out<CUdevice>, context: CUcontext) {
        let found = device_of(driver, context)?;
        device.write(found as CUdevice)
    }
    fn cuCtxGetFlags(driver, flags: Out<c_uint>) {
        driver.context()?;
        flags.write(driver.objects.primary[driver.current()].flags)
    }
    fn cuCtxSetFlags(driver, flags: c_uint) {
        driver.context()?;
        let device = driver.current();
        driver.objects.primary[device].flags = flags;
        Ok(())
    }
    fn cuCtxGetApiVersion(_machine, _context: CUcontext, version: Out<c_uint>) {
        version.write(3020)
    }
    fn cuCtxSynchronize(driver) {
        driver.context()?;
        driver.run_device(driver.current());
        driver.device().fault.map_or(Ok(()), Err)
    }
    fn cuCtxSynchronize_v2(driver, context: CUcontext) {
        let device = device_of(driver, context)?;
        driver.run_device(device);
        driver.devices[device].fault.map_or(Ok(()), Err)
    }
    fn cuCtxSetLimit(driver, number: c_uint, value: usize) {
        driver.context()?;
        if number != Limits::PERSISTING_L2 {
            *limit(driver, number)? = Limits::granted(number, value);
            return Ok(());
        }
        if value as u64 > driver.device().profile.persisting_l2_bytes {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let device = driver.device_mut();
        device.limits.persisting_l2_bytes = device.profile.set_aside(value);
        // What is kept stays if it still fits.
        device.l2.keep(&DramAtoms::new(), device.limits.persisting_l2_bytes as u64);
        Ok(())
    }
    fn cuCtxGetLimit(driver, value: Out<usize>, number: c_uint) {
        driver.context()?;
        value.write(*limit(driver, number)?)
    }
    fn cuCtxGetCacheConfig(driver, config: Out<c_uint>) {
        driver.context()?;
        config.write(0)
    }
    fn cuCtxSetCacheConfig(driver, _config: c_uint) {
        driver.context().map(|_| ())
    }
    fn cuCtxGetSharedMemConfig(driver, config: Out<c_uint>) {
        driver.context()?;
        config.write(1)
    }
    fn cuCtxSetSharedMemConfig(driver, _config: c_uint) {
        driver.context().map(|_| ())
    }
    fn cuCtxGetStreamPriorityRange(driver, least: Out<c_int>, greatest: Out<c_int>) {
        driver.context()?;
        least.write_optional(0)?;
        greatest.write_optional(-5)
    }
    fn cuCtxResetPersistingL2Cache(driver) {
        driver.context()?;
        driver.run_all();
        driver.device_mut().l2.reset();
        Ok(())
    }
    fn cuProfilerStart(driver) {
        driver.context().map(|_| ())
    }
    fn cuProfilerStop(driver) {
        driver.context().map(|_| ())
    }
}
