use super::arguments::{In, Out, access_window, handle};
use super::define::exports;
use super::inter_process::INTERPROCESS;
use crate::code::{CAPTURE_UNSUPPORTED, CuResult, INVALID_HANDLE};
use crate::driver::Driver;
use crate::objects::{EventState, StreamCapture, StreamState};
use crate::thread;
use crate::work::{HostFunction, QueuedWork};
use cuda_driver::ReturnCode;
use cuda_driver::raw::{
    CUcontext, CUevent, CUhostFn, CUstream, CUstreamAttrValue, CUstreamCallback,
};
use cuda_driver::types::LaunchAttribute;
use std::ffi::{c_int, c_uint, c_void};

/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: u32 = 2;
const CAPTURED_EVENT: ReturnCode = ReturnCode(907);

fn create(driver: &mut Driver, flags: c_uint, priority: c_int) -> CuResult<usize> {
    driver.context()?;
    if flags > 1 {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let priority = priority.clamp(-5, 0);
    let device = driver.current();
    let state = StreamState { device, flags, priority, ..StreamState::default() };
    Ok(driver.objects.streams.add(state))
}

fn record(driver: &mut Driver, event: usize, stream: usize) -> CuResult {
    driver.context_with_stream(stream)?;
    let device = driver.objects.events.get(event)?.device;
    let state = driver.objects.stream(stream)?;
    if state.device != device {
        return Err(INVALID_HANDLE);
    }
    let capture = state.capture.clone();
    let recorded = match capture {
        Some(_) => None,
        None => driver.submit(stream, QueuedWork::Event)?,
    };
    let state = driver.objects.events.get_mut(event)?;
    state.captured = capture;
    if recorded.is_some() {
        state.recorded = recorded;
    }
    let is_shared = state.flags & INTERPROCESS != 0;
    // Another process may wait for it.
    recorded.filter(|_| is_shared).into_iter().for_each(|recorded| _ = driver.run_until(recorded));
    Ok(())
}

/// A stream waits for an event: under capture it joins the capture.
fn wait(driver: &mut Driver, stream: usize, event: usize) -> CuResult {
    let event = driver.objects.events.get(event)?;
    let (recorded, captured) = (event.recorded, event.captured.clone());
    let Some(captured) = captured else {
        if driver.objects.stream(stream)?.capture.is_some() {
            return Err(ReturnCode(905));
        }
        return recorded.map_or(Ok(()), |operation| driver.follow(stream, operation));
    };
    let state = driver.objects.stream(stream)?;
    match &mut state.capture {
        Some(own) if own.capture == captured.capture => own.tails.extend(captured.tails),
        Some(_) => return Err(ReturnCode(902)),
        None => state.capture = Some(StreamCapture { ..captured }),
    }
    Ok(())
}

/// The operation that an event was last recorded after.
fn recorded(driver: &mut Driver, event: usize) -> CuResult<Option<usize>> {
    let event = driver.objects.events.get(event)?;
    let recorded = event.recorded;
    let Some(captured) = &event.captured else { return Ok(recorded) };
    // To ask for what was captured and did not run is a mistake that costs the capture, if that is still under way.
    let capture = captured.capture;
    if let Ok(capture) = driver.objects.captures.get_mut(capture) {
        capture.invalid = true;
    }
    Err(CAPTURED_EVENT)
}

fn elapsed(driver: &mut Driver, start: usize, end: usize) -> CuResult<f32> {
    if driver.objects.events.get(start)?.device != driver.objects.events.get(end)?.device {
        return Err(INVALID_HANDLE);
    }
    let mut ends = [0.0; 2];
    for (ended, event) in ends.iter_mut().zip([start, end]) {
        let event = driver.objects.events.get(event)?;
        if event.flags & DISABLE_TIMING != 0 {
            return Err(INVALID_HANDLE);
        }
        let recorded = event.recorded.ok_or(INVALID_HANDLE)?;
        driver.poll(recorded)?;
        *ended = driver.scheduler.end(recorded).ok_or(ReturnCode::NOT_READY)?;
    }
    Ok(((ends[1] - ends[0]) / 1e6) as f32)
}

/// The context of a stream. A stream knows its device; its context is the current one or, of another device, the primary
/// one.
fn context_of(driver: &mut Driver, stream: CUstream) -> CuResult<CUcontext> {
    let device = driver.objects.stream(stream.addr())?.device;
    let current = thread::current_context().filter(|_| device == driver.current());
    let primary = driver.objects.primary[device].context.map(|(context, _)| context);
    Ok(handle(current.or(primary).unwrap_or(0)))
}

fn call_host(
    driver: &mut Driver,
    stream: CUstream,
    function: CUhostFn,
    data: *mut c_void,
) -> CuResult {
    driver.context_with_stream(stream.addr())?;
    let function = function.ok_or(ReturnCode::INVALID_VALUE)?;
    let work = QueuedWork::Host(HostFunction { function, data: data.expose_provenance() });
    driver.submit(stream.addr(), work)?;
    Ok(())
}

/// A function of the program's that is told stream and outcome, as CUDA had them before `cuLaunchHostFunc`.
struct Callback {
    function: *const (),
    stream: usize,
    data: usize,
}

/// # Safety
/// - `data` is a boxed [`Callback`], which this call takes.
unsafe extern "C" fn call_back(data: *mut c_void) {
    // SAFETY: by the contract, and the program's function is called as it was handed over.
    unsafe {
        let callback = Box::from_raw(data.cast::<Callback>());
        let data = std::ptr::with_exposed_provenance_mut(callback.data);
        let function: unsafe extern "C" fn(CUstream, c_uint, *mut c_void) =
            std::mem::transmute(callback.function);
        function(handle(callback.stream), 0, data);
    }
}

exports! {
    fn cuStreamCreate(driver, stream: Out<CUstream>, flags: c_uint) {
        let created = create(driver, flags, 0)?;
        stream.write(handle(created))
    }
    fn cuStreamCreateWithPriority(driver, stream: Out<CUstream>, flags: c_uint, priority: c_int) {
        let created = create(driver, flags, priority)?;
        stream.write(handle(created))
    }
    fn cuStreamDestroy_v2(driver, stream: CUstream) {
        // Work that was enqueued still runs; what follows it must not find it pending for ever.
        if let Some(tail) = driver.objects.remove_stream(stream.addr())? {
            driver.run_until(tail);
        }
        Ok(())
    }
    fn cuStreamSynchronize(driver, stream: CUstream) {
        driver.context_with_stream(stream.addr())?;
        driver.synchronize(stream.addr())
    }
    fn cuStreamQuery(driver, stream: CUstream) {
        driver.context_with_stream(stream.addr())?;
        match driver.objects.stream(stream.addr())?.tail {
            Some(tail) => driver.poll(tail),
            None => Ok(()),
        }
    }
    fn cuStreamWaitEvent(driver, stream: CUstream, event: CUevent, _flags: c_uint) {
        driver.context_with_stream(stream.addr())?;
        wait(driver, stream.addr(), event.addr())
    }
    fn cuStreamGetFlags(driver, stream: CUstream, flags: Out<c_uint>) {
        driver.context_with_stream(stream.addr())?;
        flags.write(driver.objects.stream(stream.addr())?.flags)
    }
    fn cuStreamGetPriority(driver, stream: CUstream, priority: Out<c_int>) {
        driver.context_with_stream(stream.addr())?;
        priority.write(driver.objects.stream(stream.addr())?.priority)
    }
    fn cuStreamGetId(driver, stream: CUstream, id: Out<u64>) {
        driver.context_with_stream(stream.addr())?;
        driver.objects.stream(stream.addr())?;
        id.write(driver.objects.key(stream.addr()) as u64)
    }
    fn cuStreamGetCtx(driver, stream: CUstream, context: Out<CUcontext>) {
        let found = context_of(driver, stream)?;
        context.write(found)
    }
    fn cuStreamGetCtx_v2(driver, stream: CUstream, context: Out<CUcontext>, green: Out<*mut c_void>) {
        let found = context_of(driver, stream)?;
        green.write_optional(std::ptr::null_mut())?;
        context.write(found)
    }
    fn cuStreamSetAttribute(driver, stream: CUstream, attribute: c_uint, value: In<CUstreamAttrValue>) {
        match attribute {
            LaunchAttribute::ACCESS_POLICY_WINDOW => {
                let value = value.pointer()?;
                // SAFETY: valid by the type, and of the attribute's kind by the function's contract.
                let window = unsafe { access_window(&raw const (*value).accessPolicyWindow) };
                let most = driver.device().profile.max_access_window_bytes;
                if window.range.1 - window.range.0 > most {
                    return Err(ReturnCode::INVALID_VALUE);
                }
                driver.objects.stream(stream.addr())?.window = Some(window);
            }
            // They change speed only, which the model does not follow.
            hint if LaunchAttribute::HINTS.contains(&hint) => {}
            _ => return Err(ReturnCode::INVALID_VALUE),
        }
        Ok(())
    }
    fn cuStreamAddCallback(
        driver, stream: CUstream, function: CUstreamCallback, data: *mut c_void, flags: c_uint
    ) {
        let Some(function) = function.filter(|_| flags == 0) else { return Err(ReturnCode::INVALID_VALUE) };
        if driver.objects.stream(stream.addr())?.capture.is_some() {
            return Err(CAPTURE_UNSUPPORTED);
        }
        let callback = Callback { function: function as *const (), stream: stream.addr(), data: data.expose_provenance() };
        call_host(driver, stream, Some(call_back), Box::into_raw(Box::new(callback)).cast())
    }
    fn cuLaunchHostFunc(driver, stream: CUstream, function: CUhostFn, data: *mut c_void) {
        call_host(driver, stream, function, data)
    }
    fn cuLaunchHostFunc_v2(driver, stream: CUstream, function: CUhostFn, data: *mut c_void, _mode: c_uint) {
        call_host(driver, stream, function, data)
    }
    fn cuEventCreate(driver, event: Out<CUevent>, flags: c_uint) {
        driver.context()?;
        if flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0 {
            let why = "an event that processes share has CU_EVENT_DISABLE_TIMING, too";
            return Err(driver.refuse(ReturnCode::INVALID_VALUE, why));
        }
        let device = driver.current();
        let created = driver.objects.events.add(EventState { device, flags, ..EventState::default() });
        event.write(handle(created))
    }
    fn cuEventDestroy_v2(driver, event: CUevent) {
        driver.objects.events.remove(event.addr()).map(|_| ())
    }
    fn cuEventRecord(driver, event: CUevent, stream: CUstream) {
        record(driver, event.addr(), stream.addr())
    }
    fn cuEventRecordWithFlags(driver, event: CUevent, stream: CUstream, _flags: c_uint) {
        record(driver, event.addr(), stream.addr())
    }
    fn cuEventQuery(driver, event: CUevent) {
        driver.context_with_event(event.addr())?;
        match recorded(driver, event.addr())? {
            Some(recorded) => driver.poll(recorded),
            None => Ok(()),
        }
    }
    fn cuEventSynchronize(driver, event: CUevent) {
        driver.context_with_event(event.addr())?;
        match recorded(driver, event.addr())? {
            Some(recorded) => driver.wait(recorded),
            None => Ok(()),
        }
    }
    fn cuEventElapsedTime(driver, milliseconds: Out<f32>, start: CUevent, end: CUevent) {
        let time = elapsed(driver, start.addr(), end.addr())?;
        milliseconds.write(time)
    }
    fn cuEventElapsedTime_v2(driver, milliseconds: Out<f32>, start: CUevent, end: CUevent) {
        let time = elapsed(driver, start.addr(), end.addr())?;
        milliseconds.write(time)
    }
    fn cuStreamAttachMemAsync(
        driver, stream: CUstream, _pointer: cuda_driver::raw::CUdeviceptr, _bytes: usize, _flags: c_uint
    ) {
        driver.objects.stream(stream.addr()).map(|_| ())
    }
}
