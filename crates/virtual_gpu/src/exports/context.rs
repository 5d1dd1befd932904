//! Contexts, their limits and preferences.

use super::arguments::{handle, out, out_optional};
use super::define::exports;
use crate::code::{INVALID_CONTEXT, INVALID_DEVICE, NOT_INITIALIZED, Outcome};
use crate::limits::Limits;
use crate::machine::Machine;
use crate::thread;
use cuda_driver::ReturnCode;
use cuda_driver::types::ContextParameters;
use cust_raw::{CUcontext, CUdevice, CUexecAffinityParam};
use simt::Pieces;
use std::ffi::{c_int, c_uint};

fn check_device(machine: &Machine, device: CUdevice) -> Outcome {
    if !machine.initialized {
        return Err(NOT_INITIALIZED);
    }
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

/// Makes a context and makes it current.
fn create(machine: &mut Machine, flags: c_uint, device: CUdevice) -> Outcome<usize> {
    check_device(machine, device)?;
    let created = machine.objects.contexts.add(flags);
    thread::push_context(created);
    Ok(created)
}

fn limit(machine: &mut Machine, number: c_uint) -> Outcome<&mut usize> {
    machine.limits.by_number(number).ok_or(ReturnCode::INVALID_VALUE)
}

exports! {
    fn cuDevicePrimaryCtxRetain(machine, context: *mut CUcontext, device: CUdevice) {
        check_device(machine, device)?;
        let (primary, count) = match machine.objects.primary {
            Some((primary, count)) => (primary, count + 1),
            None => (machine.objects.contexts.add(0), 1),
        };
        machine.objects.primary = Some((primary, count));
        out(context, handle(primary))
    }
    fn cuDevicePrimaryCtxRelease_v2(machine, device: CUdevice) {
        check_device(machine, device)?;
        match machine.objects.primary {
            Some((primary, 1)) => {
                machine.run_all();
                machine.objects.contexts.remove(primary)?;
                machine.objects.primary = None;
                Ok(())
            }
            Some((primary, count)) => {
                machine.objects.primary = Some((primary, count - 1));
                Ok(())
            }
            None => Err(INVALID_CONTEXT),
        }
    }
    fn cuDevicePrimaryCtxSetFlags_v2(machine, device: CUdevice, flags: c_uint) {
        check_device(machine, device)?;
        machine.objects.primary_flags = flags;
        Ok(())
    }
    fn cuDevicePrimaryCtxGetState(machine, device: CUdevice, flags: *mut c_uint, active: *mut c_int) {
        check_device(machine, device)?;
        out(flags, machine.objects.primary_flags)?;
        out(active, c_int::from(machine.objects.primary.is_some()))
    }
    fn cuDevicePrimaryCtxReset_v2(machine, device: CUdevice) {
        check_device(machine, device)?;
        machine.fault = None;
        Ok(())
    }
    fn cuCtxCreate_v2(machine, context: *mut CUcontext, flags: c_uint, device: CUdevice) {
        let created = create(machine, flags, device)?;
        out(context, handle(created))
    }
    fn cuCtxCreate_v3(
        machine, context: *mut CUcontext, affinities: *mut CUexecAffinityParam, _count: c_int, flags: c_uint,
        device: CUdevice
    ) {
        if !affinities.is_null() {
            return Err(machine.unsupported("execution affinity"));
        }
        let created = create(machine, flags, device)?;
        out(context, handle(created))
    }
    fn cuCtxCreate_v4(
        machine, context: *mut CUcontext, parameters: *mut ContextParameters, flags: c_uint, device: CUdevice
    ) {
        let asks = |asked: ContextParameters| !asked.execution_affinities.is_null() || !asked.graphics.is_null();
        if !parameters.is_null() && asks(parameters.read()) {
            return Err(machine.unsupported("execution affinity and sharing with graphics"));
        }
        let created = create(machine, flags, device)?;
        out(context, handle(created))
    }
    fn cuCtxDestroy_v2(machine, context: CUcontext) {
        machine.run_all();
        machine.objects.contexts.remove(context.addr()).map_err(|_| INVALID_CONTEXT)?;
        if thread::current_context() == Some(context.addr()) {
            thread::pop_context();
        }
        Ok(())
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
        out(device, 0)
    }
    fn cuCtxGetFlags(machine, flags: *mut c_uint) {
        machine.context()?;
        out(flags, machine.objects.primary_flags)
    }
    fn cuCtxSetFlags(machine, flags: c_uint) {
        machine.context()?;
        machine.objects.primary_flags = flags;
        Ok(())
    }
    fn cuCtxGetApiVersion(_machine, _context: CUcontext, version: *mut c_uint) {
        out(version, 3020)
    }
    fn cuCtxSynchronize(machine) {
        machine.context()?;
        machine.run_all();
        machine.fault.map_or(Ok(()), Err)
    }
    fn cuCtxSetLimit(machine, number: c_uint, value: usize) {
        machine.context()?;
        if number != Limits::PERSISTING_L2 {
            *limit(machine, number)? = value;
            return Ok(());
        }
        if value as u64 > machine.profile.persisting_l2_bytes {
            return Err(ReturnCode::INVALID_VALUE);
        }
        machine.limits.persisting_l2_bytes = machine.profile.set_aside(value);
        // What is kept stays if it still fits.
        machine.l2.keep(&Pieces::new(), machine.limits.persisting_l2_bytes as u64);
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
        machine.l2.reset();
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
