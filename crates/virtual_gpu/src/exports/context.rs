//! Contexts, their limits and preferences.

use super::arguments::{handle, out, out_optional};
use super::define::exports;
use crate::code::{CuResult, INVALID_CONTEXT, INVALID_DEVICE, NOT_INITIALIZED};
use crate::limits::Limits;
use crate::machine::Machine;
use crate::objects::ContextState;
use crate::thread;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUcontext, CUdevice, CUexecAffinityParam};
use cuda_driver::types::ContextParameters;
use simt::Pieces;
use std::ffi::{c_int, c_uint};

const PEER_ACCESS_UNSUPPORTED: ReturnCode = ReturnCode(217);
const PEER_ACCESS_ALREADY_ENABLED: ReturnCode = ReturnCode(704);
const PEER_ACCESS_NOT_ENABLED: ReturnCode = ReturnCode(705);

/// The device of a number that a program gives, which this call means from here on.
pub(super) fn check_device(machine: &mut Machine, device: CUdevice) -> CuResult<usize> {
    if !machine.initialized {
        return Err(NOT_INITIALIZED);
    }
    let known = usize::try_from(device).ok().filter(|device| *device < machine.devices.len());
    let device = known.ok_or(INVALID_DEVICE)?;
    machine.select(device);
    Ok(device)
}

/// Makes a context and makes it current.
fn create(machine: &mut Machine, device: CUdevice) -> CuResult<usize> {
    let device = check_device(machine, device)?;
    let created = machine.objects.contexts.add(ContextState { device });
    thread::push_context(created);
    Ok(created)
}

fn limit(machine: &mut Machine, number: c_uint) -> CuResult<&mut usize> {
    machine.device_mut().limits.by_number(number).ok_or(ReturnCode::INVALID_VALUE)
}

/// The context that is current and the one that a call names, which is another device's.
fn with_peer(machine: &mut Machine, peer: CUcontext) -> CuResult<(usize, usize)> {
    let own = machine.context()?;
    machine.objects.contexts.get(peer.addr()).map_err(|_| INVALID_CONTEXT)?;
    if peer.addr() == own { Err(INVALID_CONTEXT) } else { Ok((own, peer.addr())) }
}

/// Ends a context after what was enqueued before.
fn destroy(machine: &mut Machine, context: CUcontext) -> CuResult {
    machine.run_all();
    machine.objects.remove_context(context.addr()).map_err(|_| INVALID_CONTEXT)?;
    if thread::current_context() == Some(context.addr()) {
        thread::pop_context();
    }
    Ok(())
}

exports! {
    fn cuDevicePrimaryCtxRetain(machine, context: *mut CUcontext, device: CUdevice) {
        let device = check_device(machine, device)?;
        let (primary, count) = match machine.objects.primary[device].context {
            Some((primary, count)) => (primary, count + 1),
            None => (machine.objects.contexts.add(ContextState { device }), 1),
        };
        machine.objects.primary[device].context = Some((primary, count));
        out(context, handle(primary))
    }
    fn cuDevicePrimaryCtxRelease_v2(machine, device: CUdevice) {
        let device = check_device(machine, device)?;
        let (primary, count) = machine.objects.primary[device].context.ok_or(INVALID_CONTEXT)?;
        if count == 1 {
            machine.run_all();
            machine.objects.remove_context(primary)?;
        }
        machine.objects.primary[device].context = (count > 1).then_some((primary, count - 1));
        Ok(())
    }
    fn cuDevicePrimaryCtxSetFlags_v2(machine, device: CUdevice, flags: c_uint) {
        let device = check_device(machine, device)?;
        machine.objects.primary[device].flags = flags;
        Ok(())
    }
    fn cuDevicePrimaryCtxGetState(machine, device: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        let device = check_device(machine, device)?;
        out(flags, machine.objects.primary[device].flags)?;
        out(active, c_int::from(machine.objects.primary[device].context.is_some()))
    }
    fn cuDevicePrimaryCtxReset_v2(machine, device: CUdevice) {
        check_device(machine, device)?;
        machine.device_mut().reset();
        Ok(())
    }
    fn cuCtxEnablePeerAccess(machine, peer: CUcontext, flags: c_uint) {
        let pair = with_peer(machine, peer)?;
        if flags != 0 {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let (device, other) = machine.objects.devices_of(pair).ok_or(INVALID_CONTEXT)?;
        if !machine.topology.link(device, other).is_some_and(|link| link.access) {
            return Err(PEER_ACCESS_UNSUPPORTED);
        }
        if machine.objects.peers.insert(pair) { Ok(()) } else { Err(PEER_ACCESS_ALREADY_ENABLED) }
    }
    fn cuCtxDisablePeerAccess(machine, peer: CUcontext) {
        let pair = with_peer(machine, peer)?;
        // What was enqueued before may use it.
        machine.run_all();
        if machine.objects.peers.remove(&pair) { Ok(()) } else { Err(PEER_ACCESS_NOT_ENABLED) }
    }
    fn cuCtxCreate_v2(machine, context: *mut CUcontext, _flags: c_uint, device: CUdevice) {
        let created = create(machine, device)?;
        out(context, handle(created))
    }
    fn cuCtxCreate_v3(
        machine, context: *mut CUcontext, affinities: *mut CUexecAffinityParam, _count: c_int, _flags: c_uint,
        device: CUdevice
    ) {
        if !affinities.is_null() {
            return Err(machine.unsupported("execution affinity"));
        }
        let created = create(machine, device)?;
        out(context, handle(created))
    }
    fn cuCtxCreate_v4(
        machine, context: *mut CUcontext, parameters: *mut ContextParameters, _flags: c_uint, device: CUdevice
    ) {
        let asks = |asked: ContextParameters| !asked.execution_affinities.is_null() || !asked.graphics.is_null();
        if !parameters.is_null() && asks(parameters.read()) {
            return Err(machine.unsupported("execution affinity and sharing with graphics"));
        }
        let created = create(machine, device)?;
        out(context, handle(created))
    }
    fn cuCtxDestroy_v2(machine, context: CUcontext) {
        destroy(machine, context)
    }
    fn cuCtxDetach(machine, context: CUcontext) {
        // Attached once, by being made.
        destroy(machine, context)
    }
    fn cuCtxPushCurrent_v2(machine, context: CUcontext) {
        machine.objects.contexts.get(context.addr()).map_err(|_| INVALID_CONTEXT)?;
        thread::push_context(context.addr());
        Ok(())
    }
    fn cuCtxPopCurrent_v2(_machine, context: *mut CUcontext) {
        let popped = thread::pop_context().ok_or(INVALID_CONTEXT)?;
        out_optional(context, handle(popped));
        Ok(())
    }
    fn cuCtxSetCurrent(machine, context: CUcontext) {
        if !context.is_null() {
            machine.objects.contexts.get(context.addr()).map_err(|_| INVALID_CONTEXT)?;
        }
        thread::pop_context();
        if !context.is_null() {
            thread::push_context(context.addr());
        }
        Ok(())
    }
    fn cuCtxGetCurrent(_machine, context: *mut CUcontext) {
        out(context, handle(thread::current_context().unwrap_or(0)))
    }
    fn cuCtxGetDevice(machine, device: *mut CUdevice) {
        machine.context()?;
        out(device, machine.current() as CUdevice)
    }
    fn cuCtxGetFlags(machine, flags: *mut c_uint) {
        machine.context()?;
        out(flags, machine.objects.primary[machine.current()].flags)
    }
    fn cuCtxSetFlags(machine, flags: c_uint) {
        machine.context()?;
        let device = machine.current();
        machine.objects.primary[device].flags = flags;
        Ok(())
    }
    fn cuCtxGetApiVersion(_machine, _context: CUcontext, version: *mut c_uint) {
        out(version, 3020)
    }
    fn cuCtxSynchronize(machine) {
        machine.context()?;
        machine.run_device(machine.current());
        machine.device().fault.map_or(Ok(()), Err)
    }
    fn cuCtxSetLimit(machine, number: c_uint, value: usize) {
        machine.context()?;
        if number != Limits::PERSISTING_L2 {
            *limit(machine, number)? = value;
            return Ok(());
        }
        if value as u64 > machine.device().profile.persisting_l2_bytes {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let device = machine.device_mut();
        device.limits.persisting_l2_bytes = device.profile.set_aside(value);
        // What is kept stays if it still fits.
        device.l2.keep(&Pieces::new(), device.limits.persisting_l2_bytes as u64);
        Ok(())
    }
    fn cuCtxGetLimit(machine, value: *mut usize, number: c_uint) {
        machine.context()?;
        out(value, *limit(machine, number)?)
    }
    fn cuCtxGetCacheConfig(machine, config: *mut c_uint) {
        machine.context()?;
        out(config, 0)
    }
    fn cuCtxSetCacheConfig(machine, _config: c_uint) {
        machine.context()?;
        Ok(())
    }
    fn cuCtxGetSharedMemConfig(machine, config: *mut c_uint) {
        machine.context()?;
        out(config, 1)
    }
    fn cuCtxSetSharedMemConfig(machine, _config: c_uint) {
        machine.context()?;
        Ok(())
    }
    fn cuCtxGetStreamPriorityRange(machine, least: *mut c_int, greatest: *mut c_int) {
        machine.context()?;
        out_optional(least, 0);
        out_optional(greatest, -5);
        Ok(())
    }
    fn cuCtxResetPersistingL2Cache(machine) {
        machine.context()?;
        machine.run_all();
        machine.device_mut().l2.reset();
        Ok(())
    }
    fn cuProfilerStart(machine) {
        machine.context()?;
        Ok(())
    }
    fn cuProfilerStop(machine) {
        machine.context()?;
        Ok(())
    }
}
