//! Streams and events.

use super::arguments::{handle, out};
use super::define::exports;
use crate::code::{CuResult, INVALID_HANDLE};
use crate::l2::AccessWindow;
use crate::machine::Machine;
use crate::objects::{EventState, StreamCapture, StreamState};
use crate::thread;
use crate::work::{HostFunction, QueuedWork};
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUcontext, CUevent, CUhostFn, CUstream, CUstreamAttrValue};
use cuda_driver::types::LaunchAttribute;
use std::ffi::{c_int, c_uint, c_void};

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;
const CAPTURED_EVENT: ReturnCode = ReturnCode(907);

fn create(machine: &mut Machine, flags: c_uint, priority: c_int) -> CuResult<usize> {
    machine.context()?;
    if flags > 1 {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let priority = priority.clamp(-5, 0);
    let device = machine.current();
    let state = StreamState { device, flags, priority, ..StreamState::default() };
    Ok(machine.objects.streams.add(state))
}

fn record(machine: &mut Machine, event: usize, stream: usize) -> CuResult {
    machine.context()?;
    let device = machine.objects.events.get(event)?.device;
    let state = machine.objects.stream(stream)?;
    if state.device != device {
        return Err(INVALID_HANDLE);
    }
    let capture = state.capture.clone();
    let recorded = match capture {
        Some(_) => None,
        None => machine.submit(stream, QueuedWork::Event)?,
    };
    let state = machine.objects.events.get_mut(event)?;
    state.captured = capture;
    if recorded.is_some() {
        state.recorded = recorded;
    }
    Ok(())
}

/// A stream waits for an event: under capture it joins the capture.
fn wait(machine: &mut Machine, stream: usize, event: usize) -> CuResult {
    let event = machine.objects.events.get(event)?;
    let (recorded, captured) = (event.recorded, event.captured.clone());
    let Some(captured) = captured else {
        if machine.objects.stream(stream)?.capture.is_some() {
            return Err(ReturnCode(905));
        }
        return recorded.map_or(Ok(()), |operation| machine.follow(stream, operation));
    };
    let state = machine.objects.stream(stream)?;
    match &mut state.capture {
        Some(own) if own.capture == captured.capture => own.tails.extend(captured.tails),
        Some(_) => return Err(ReturnCode(902)),
        None => state.capture = Some(StreamCapture { ..captured }),
    }
    Ok(())
}

/// The operation that an event was last recorded after.
fn recorded(machine: &mut Machine, event: usize) -> CuResult<Option<usize>> {
    let event = machine.objects.events.get(event)?;
    let recorded = event.recorded;
    let Some(captured) = &event.captured else { return Ok(recorded) };
    // To ask for what was captured and did not run is a mistake that costs the capture, if that is still under way.
    let capture = captured.capture;
    if let Ok(capture) = machine.objects.captures.get_mut(capture) {
        capture.invalid = true;
    }
    Err(CAPTURED_EVENT)
}

fn elapsed(machine: &mut Machine, start: usize, end: usize) -> CuResult<f32> {
    if machine.objects.events.get(start)?.device != machine.objects.events.get(end)?.device {
        return Err(INVALID_HANDLE);
    }
    let mut ends = [0.0; 2];
    for (ended, event) in ends.iter_mut().zip([start, end]) {
        let event = machine.objects.events.get(event)?;
        if event.flags & DISABLE_TIMING != 0 {
            return Err(INVALID_HANDLE);
        }
        let recorded = event.recorded.ok_or(INVALID_HANDLE)?;
        machine.poll(recorded)?;
        *ended = machine.scheduler.end(recorded).ok_or(ReturnCode::NOT_READY)?;
    }
    Ok(((ends[1] - ends[0]) / 1e6) as f32)
}

exports! {
    fn cuStreamCreate(machine, stream: *mut CUstream, flags: c_uint) {
        let created = create(machine, flags, 0)?;
        out(stream, handle(created))
    }
    fn cuStreamCreateWithPriority(machine, stream: *mut CUstream, flags: c_uint, priority: c_int) {
        let created = create(machine, flags, priority)?;
        out(stream, handle(created))
    }
    fn cuStreamDestroy_v2(machine, stream: CUstream) {
        // Work that was enqueued still runs; what follows it must not find it pending for ever.
        let state = machine.objects.streams.remove(stream.addr())?;
        if let Some(tail) = state.tail {
            machine.run_until(tail);
        }
        Ok(())
    }
    fn cuStreamSynchronize(machine, stream: CUstream) {
        machine.context()?;
        machine.synchronize(stream.addr())
    }
    fn cuStreamQuery(machine, stream: CUstream) {
        machine.context()?;
        match machine.objects.stream(stream.addr())?.tail {
            Some(tail) => machine.poll(tail),
            None => Ok(()),
        }
    }
    fn cuStreamWaitEvent(machine, stream: CUstream, event: CUevent, _flags: c_uint) {
        machine.context()?;
        wait(machine, stream.addr(), event.addr())
    }
    fn cuStreamGetFlags(machine, stream: CUstream, flags: *mut c_uint) {
        out(flags, machine.objects.stream(stream.addr())?.flags)
    }
    fn cuStreamGetPriority(machine, stream: CUstream, priority: *mut c_int) {
        out(priority, machine.objects.stream(stream.addr())?.priority)
    }
    fn cuStreamGetCtx(machine, stream: CUstream, context: *mut CUcontext) {
        let device = machine.objects.stream(stream.addr())?.device;
        // A stream knows its device; its context is the current one or, of another device, the primary one.
        let current = thread::current_context().filter(|_| device == machine.current());
        let primary = machine.objects.primary[device].context.map(|(context, _)| context);
        out(context, handle(current.or(primary).unwrap_or(0)))
    }
    fn cuStreamSetAttribute(machine, stream: CUstream, attribute: c_uint, value: *const CUstreamAttrValue) {
        match attribute {
            LaunchAttribute::ACCESS_POLICY_WINDOW if !value.is_null() => {
                let window = AccessWindow::new(&raw const (*value).accessPolicyWindow);
                let most = machine.device().profile.max_access_window_bytes;
                if window.range.1 - window.range.0 > most {
                    return Err(ReturnCode::INVALID_VALUE);
                }
                machine.objects.stream(stream.addr())?.window = Some(window);
            }
            // The synchronization policy and the priority change speed only, which the model does not follow.
            3 | 8 => {}
            _ => return Err(ReturnCode::INVALID_VALUE),
        }
        Ok(())
    }
    fn cuLaunchHostFunc(machine, stream: CUstream, function: CUhostFn, data: *mut c_void) {
        machine.context()?;
        let Some(function) = function else { return Err(ReturnCode::INVALID_VALUE) };
        let work = QueuedWork::Host(HostFunction { function, data: data.expose_provenance() });
        machine.submit(stream.addr(), work).map(|_| ())
    }
    fn cuEventCreate(machine, event: *mut CUevent, flags: c_uint) {
        machine.context()?;
        let device = machine.current();
        let created = machine.objects.events.add(EventState { device, flags, ..EventState::default() });
        out(event, handle(created))
    }
    fn cuEventDestroy_v2(machine, event: CUevent) {
        machine.objects.events.remove(event.addr()).map(|_| ())
    }
    fn cuEventRecord(machine, event: CUevent, stream: CUstream) {
        record(machine, event.addr(), stream.addr())
    }
    fn cuEventRecordWithFlags(machine, event: CUevent, stream: CUstream, _flags: c_uint) {
        record(machine, event.addr(), stream.addr())
    }
    fn cuEventQuery(machine, event: CUevent) {
        machine.context()?;
        match recorded(machine, event.addr())? {
            Some(recorded) => machine.poll(recorded),
            None => Ok(()),
        }
    }
    fn cuEventSynchronize(machine, event: CUevent) {
        machine.context()?;
        match recorded(machine, event.addr())? {
            Some(recorded) => machine.wait(recorded),
            None => Ok(()),
        }
    }
    fn cuEventElapsedTime(machine, milliseconds: *mut f32, start: CUevent, end: CUevent) {
        let time = elapsed(machine, start.addr(), end.addr())?;
        out(milliseconds, time)
    }
    fn cuEventElapsedTime_v2(machine, milliseconds: *mut f32, start: CUevent, end: CUevent) {
        let time = elapsed(machine, start.addr(), end.addr())?;
        out(milliseconds, time)
    }
    fn cuStreamAttachMemAsync(
        machine, stream: CUstream, _pointer: cuda_driver::raw::CUdeviceptr, _bytes: usize, _flags: c_uint
    ) {
        machine.objects.stream(stream.addr()).map(|_| ())
    }
}
