//! Records of streams' work: two events around each operation that a stream takes.
//!
//! A function of [`crate::api`] that enqueues an operation says so in its line (`#[records(...)]`). While a recording
//! runs, its symbol also records an event before and an event after it on the same stream, by the same driver.
//!
//! A GPU says nothing more exact without a profiler: the event before is reached when the stream is ready for the
//! operation, which may be before an engine is.

use crate::code::ReturnCode;
use crate::dispatch::driver;
use crate::raw::{CUDA_MEMCPY2D, CUdevice, CUevent, CUfunction, CUstream};
use crate::symbol::Symbol;
use crate::types::LaunchConfig;
pub use counters::OperationKind;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_uint};
use std::ptr::null_mut;

/// An operation of a device or the host.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationRecord {
    /// The kind of operation.
    pub kind: OperationKind,
    /// The handle of its stream: 0 and 1 are the legacy default stream, 2 the thread's; `None` for the host's work.
    pub stream: Option<usize>,
    /// Start, in nanoseconds of the device's own clock.
    pub start_ns: f64,
    /// End, in nanoseconds.
    pub end_ns: f64,
}

/// Calls the selected driver's function without passing this crate's symbol.
macro_rules! call {
    ($name:ident($($argument:ident: $type:ty),*)) => {
        match driver().function(Symbol::$name) {
            None => ReturnCode::NOT_SUPPORTED,
            Some(function) => {
                let function: unsafe extern "C" fn($($type),*) -> ReturnCode =
                    std::mem::transmute(function.as_ptr());
                function($($argument),*)
            }
        }
    };
}
/// An operation whose events are not read yet.
struct Recorded {
    kind: OperationKind,
    stream: CUstream,
    before: CUevent,
    after: CUevent,
}

thread_local! {
    static IS_RECORDING: Cell<bool> = const { Cell::new(false) };
    static RECORDED: RefCell<Vec<Recorded>> = const { RefCell::new(Vec::new()) };
}

/// The driver's answer to a question for the time between events of two devices.
const OTHER_DEVICE: ReturnCode = ReturnCode(400);

/// Starts a recording of what this thread enqueues. Until it is taken, operations of all streams but those that are
/// captured have events around them.
pub fn record_operations() {
    IS_RECORDING.set(true);
}

/// Ends a recording and says what was recorded, in the order of the calls; times count from the first event. Every
/// stream must have ended. What another device than the first operation's did is left out, because events of two devices
/// have no time between them.
///
/// # Errors
/// The driver's, when an event was not reached.
pub fn recorded_operations() -> Result<Vec<OperationRecord>, ReturnCode> {
    IS_RECORDING.set(false);
    let recorded = RECORDED.take();
    let Some(first) = recorded.first().map(|one| one.before) else { return Ok(Vec::new()) };
    let records = recorded.iter().filter_map(|one| {
        let times = nanoseconds(first, one.before)
            .and_then(|start| Ok((start, nanoseconds(first, one.after)?)));
        match times {
            Ok((start_ns, end_ns)) => Some(Ok(OperationRecord {
                kind: one.kind.clone(),
                stream: Some(one.stream as usize),
                start_ns,
                end_ns,
            })),
            Err(OTHER_DEVICE) => None,
            Err(code) => Some(Err(code)),
        }
    });
    let records = records.collect();
    for Recorded { before, after, .. } in recorded {
        for event in [before, after] {
            // SAFETY: the event was made here and nobody else has it.
            let _ = unsafe { call!(cuEventDestroy_v2(event: CUevent)) };
        }
    }
    records
}

/// An operation that its stream is about to take.
pub(crate) struct Open(Recorded);

/// The operation that a line of the table names.
pub(crate) type Said = (CUstream, OperationKind);

/// Records the event before an operation, if there is a recording and the stream is not captured.
pub(crate) fn open(said: impl FnOnce() -> Said) -> Option<Open> {
    if !IS_RECORDING.get() {
        return None;
    }
    let (stream, kind) = said();
    let mut capturing: c_uint = 0;
    let status = &raw mut capturing;
    // SAFETY: the stream is the caller's, who is about to use it; the status is one word.
    let code = unsafe { call!(cuStreamIsCapturing(stream: CUstream, status: *mut c_uint)) };
    if code != ReturnCode::SUCCESS || capturing != 0 {
        return None;
    }
    let (before, after) = (event()?, event()?);
    // SAFETY: both handles are alive.
    let code = unsafe { call!(cuEventRecord(before: CUevent, stream: CUstream)) };
    (code == ReturnCode::SUCCESS).then_some(Open(Recorded { kind, stream, before, after }))
}

impl Open {
    /// Records the event after the operation.
    pub(crate) fn close(self) {
        let Open(recorded) = self;
        let (after, stream) = (recorded.after, recorded.stream);
        // SAFETY: both handles are alive.
        let code = unsafe { call!(cuEventRecord(after: CUevent, stream: CUstream)) };
        if code == ReturnCode::SUCCESS {
            RECORDED.with_borrow_mut(|all| all.push(recorded));
        }
    }
}

fn event() -> Option<CUevent> {
    let mut event: CUevent = null_mut();
    let (place, flags) = (&raw mut event, 0);
    // SAFETY: the place is one handle.
    let code = unsafe { call!(cuEventCreate(place: *mut CUevent, flags: c_uint)) };
    (code == ReturnCode::SUCCESS).then_some(event)
}

fn nanoseconds(from: CUevent, to: CUevent) -> Result<f64, ReturnCode> {
    let mut milliseconds = 0.0f32;
    let place = &raw mut milliseconds;
    // SAFETY: the place is one number, and both events were recorded.
    let code = unsafe { call!(cuEventElapsedTime(place: *mut f32, from: CUevent, to: CUevent)) };
    if code == ReturnCode::SUCCESS { Ok(f64::from(milliseconds) * 1e6) } else { Err(code) }
}

pub(crate) fn upload(stream: CUstream, bytes: usize) -> Said {
    (stream, OperationKind::HostToDevice(bytes as u64))
}

pub(crate) fn download(stream: CUstream, bytes: usize) -> Said {
    (stream, OperationKind::DeviceToHost(bytes as u64))
}

pub(crate) fn device_copy(stream: CUstream, bytes: usize) -> Said {
    (stream, OperationKind::DeviceCopy(bytes as u64))
}

pub(crate) fn fill(stream: CUstream, bytes: usize) -> Said {
    (stream, OperationKind::Fill(bytes as u64))
}

/// Managed memory, to a device or, by the number -1, to the host.
pub(crate) fn prefetch(stream: CUstream, bytes: usize, device: CUdevice) -> Said {
    if device < 0 { download(stream, bytes) } else { upload(stream, bytes) }
}

pub(crate) fn event_reached(stream: CUstream) -> Said {
    (stream, OperationKind::Event)
}

pub(crate) fn graph(stream: CUstream) -> Said {
    (stream, OperationKind::Graph)
}

pub(crate) fn host_function(stream: CUstream) -> Said {
    (stream, OperationKind::HostFunction)
}

/// # Safety
/// - The copy is valid for reads, as the driver asks.
pub(crate) unsafe fn copy_2d(stream: CUstream, copy: *const CUDA_MEMCPY2D) -> Said {
    // `CU_MEMORYTYPE_HOST`. The two kinds are read as the integers that they are in C: a Rust enum, and a reference to a
    // structure that has one, must not see a number that the enum does not list.
    const HOST: c_uint = 1;
    // SAFETY: by the contract every field may be read; `c_uint` has the size and alignment of a C enum.
    let (bytes, from, to) = unsafe {
        (
            (*copy).WidthInBytes.saturating_mul((*copy).Height),
            (&raw const (*copy).srcMemoryType).cast::<c_uint>().read(),
            (&raw const (*copy).dstMemoryType).cast::<c_uint>().read(),
        )
    };
    match (from, to) {
        (HOST, _) => upload(stream, bytes),
        (_, HOST) => download(stream, bytes),
        _ => device_copy(stream, bytes),
    }
}

/// # Safety
/// - The function is one of a loaded module.
pub(crate) unsafe fn kernel(stream: CUstream, function: CUfunction) -> Said {
    let mut name: *const c_char = std::ptr::null();
    let place = &raw mut name;
    // SAFETY: the place is one pointer; the function is alive (caller's contract).
    let code = unsafe { call!(cuFuncGetName(place: *mut *const c_char, function: CUfunction)) };
    let is_named = code == ReturnCode::SUCCESS && !name.is_null();
    // SAFETY: the driver gave a string that lives as long as the module.
    let name = is_named.then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
    // Drivers older than CUDA 12.3 tell no names.
    (stream, OperationKind::Kernel(name.unwrap_or_else(|| "kernel".to_owned())))
}

/// # Safety
/// - The launch is one that the driver can read, the function one of a loaded module.
pub(crate) unsafe fn kernel_of(launch: *const LaunchConfig, function: CUfunction) -> Said {
    // SAFETY: the caller's contract.
    unsafe { kernel((*launch).stream, function) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;

    #[test]
    fn a_copy_is_told_by_the_numbers_of_its_two_kinds_of_memory() {
        let said = |from: c_uint, to: c_uint| {
            let mut copy = MaybeUninit::<CUDA_MEMCPY2D>::zeroed();
            let place = copy.as_mut_ptr();
            // SAFETY: the fields lie inside the structure; the kinds are written as integers of the enum's layout.
            unsafe {
                (&raw mut (*place).srcMemoryType).cast::<c_uint>().write(from);
                (&raw mut (*place).dstMemoryType).cast::<c_uint>().write(to);
                (&raw mut (*place).WidthInBytes).write(12);
                (&raw mut (*place).Height).write(3);
                copy_2d(null_mut(), place).1
            }
        };
        assert_eq!(said(1, 2), OperationKind::HostToDevice(36));
        assert_eq!(said(2, 1), OperationKind::DeviceToHost(36));
        assert_eq!(said(2, 2), OperationKind::DeviceCopy(36));
        assert_eq!(said(77, 0), OperationKind::DeviceCopy(36), "no kind that there is");
    }
}
