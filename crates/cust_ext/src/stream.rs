//! Streams that really do not block, priorities, queries, host functions, and the default streams.
//!
//! ```no_run
//! # fn f() -> cust_ext::Result<()> {
//! use cust_ext::stream::{host_function, non_blocking};
//! let stream = non_blocking(None)?;
//! host_function(&stream, || println!("the stream has reached this"))?;
//! # Ok(())
//! # }
//! ```

use crate::error::{Error, Result, call};
use crate::handle;
use cuda_driver::ReturnCode;
use cust::event::Event;
use cust::stream::Stream;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;

/// A stream that does not wait for the legacy default stream, nor the default stream for it.
///
/// cust's `Stream::new` drops the flag `NON_BLOCKING`, so that every stream of cust's synchronizes with the default
/// stream and work that looks concurrent is not. Without a priority the stream has the lowest.
///
/// Mind what *does* run on the default stream: `DeviceBuffer::zeroed` and the other fills of cust's return before they
/// are done, and a stream that does not block does not wait for them. Synchronize the context once between the two.
///
/// # Errors
/// When no context is current.
pub fn non_blocking(priority: Option<i32>) -> Result<Stream> {
    let mut raw = std::ptr::null_mut();
    // SAFETY: a local to write to.
    unsafe { call!(cuStreamCreateWithPriority(&mut raw, NON_BLOCKING, priority.unwrap_or(0)))? };
    // SAFETY: a stream was just created, and the result is its only owner.
    Ok(unsafe { handle::stream(raw) })
}

/// Returns whether the stream ignores the legacy default stream.
///
/// # Errors
/// When the driver does not tell it.
pub fn is_non_blocking(stream: &Stream) -> Result<bool> {
    let mut flags = 0;
    // SAFETY: the stream is alive, the flags are a local to write to.
    unsafe { call!(cuStreamGetFlags(stream.as_inner(), &mut flags))? };
    Ok(flags & NON_BLOCKING != 0)
}

/// The priorities that streams can have: a smaller number is more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriorityRange {
    /// The largest number.
    pub least: i32,
    /// The smallest number.
    pub greatest: i32,
}

/// The priorities of the current device.
///
/// # Errors
/// When no context is current.
pub fn priority_range() -> Result<PriorityRange> {
    let (mut least, mut greatest): (c_int, c_int) = (0, 0);
    // SAFETY: two locals to write to.
    unsafe { call!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest))? };
    Ok(PriorityRange { least, greatest })
}

/// Returns whether everything enqueued so far is done, without waiting.
///
/// # Errors
/// When a kernel has failed.
pub fn is_idle(stream: &Stream) -> Result<bool> {
    // SAFETY: the stream is alive.
    ready(unsafe { call!(cuStreamQuery(stream.as_inner())) })
}

/// Returns whether the event was reached, without waiting.
///
/// # Errors
/// When a kernel has failed.
pub fn event_reached(event: &Event) -> Result<bool> {
    // SAFETY: the event is alive.
    ready(unsafe { call!(cuEventQuery(handle::of_event(event))) })
}

fn ready(result: Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(Error::Call { code: ReturnCode::NOT_READY, .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes later work on `stream` wait for `event`, which stays usable (cust's `wait_event` consumes it).
///
/// # Errors
/// When the driver refuses.
pub fn wait_event(stream: &Stream, event: &Event) -> Result<()> {
    // SAFETY: both are alive; the driver keeps what it needs of the event when it is destroyed early.
    unsafe { call!(cuStreamWaitEvent(stream.as_inner(), handle::of_event(event), 0)) }
}

/// Returns whether work on the stream is being recorded into a graph.
///
/// # Errors
/// When the driver does not tell it.
pub fn is_capturing(stream: &Stream) -> Result<bool> {
    let mut status = 0;
    // SAFETY: the stream is alive, the status is a local to write to.
    unsafe { call!(cuStreamIsCapturing(stream.as_inner(), &mut status))? };
    Ok(status != 0)
}

/// Runs `function` on a thread of the driver's when the stream reaches it; later work on the stream waits for it.
///
/// It must not call CUDA. A panic in it ends there, without a report. To borrow local data use
/// [`crate::transfer::Scope::host_function`].
///
/// # Errors
/// When the driver does not enqueue it; then it never runs.
pub fn host_function<F: FnOnce() + Send + 'static>(stream: &Stream, function: F) -> Result<()> {
    // SAFETY: the function borrows nothing that could end.
    unsafe { enqueue_host_function(stream, function) }
}

/// # Safety
/// - What the function borrows is alive until the stream has reached it.
pub(crate) unsafe fn enqueue_host_function<F: FnOnce() + Send>(
    stream: &Stream,
    function: F,
) -> Result<()> {
    // A graph may run a host function several times, so the driver gets the function behind an `Option`, and the few
    // bytes of its box stay allocated.
    let boxed = Box::into_raw(Box::new(Some(function)));
    // SAFETY: the driver calls `run::<F>` with the box on another thread (`F: Send`), where it is alive; by this
    // function's contract so is what it borrows.
    let enqueued =
        unsafe { call!(cuLaunchHostFunc(stream.as_inner(), Some(run::<F>), boxed.cast())) };
    if enqueued.is_err() {
        // SAFETY: the driver refused the function and will not call it, so the box is ours again.
        drop(unsafe { Box::from_raw(boxed) });
    }
    enqueued
}

/// Returns what the driver calls.
///
/// # Safety
/// - `data` is the box of `enqueue_host_function::<F>`, and no other call uses it at the same time.
unsafe extern "C" fn run<F: FnOnce()>(data: *mut c_void) {
    // SAFETY: by the contract; a stream, and a graph launched again, run their host functions one after the other.
    let function = unsafe { &mut *data.cast::<Option<F>>() }.take();
    if let Some(function) = function {
        // Unwinding into the driver would end the process.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(function));
    }
}

/// One of the streams that always exist; it dereferences to cust's `Stream` and is never destroyed.
#[derive(Debug)]
pub struct DefaultStream(ManuallyDrop<Stream>);

impl DefaultStream {
    /// The legacy default stream, which waits for all blocking streams and they for it.
    pub fn legacy() -> DefaultStream {
        DefaultStream::from_number(1)
    }

    /// This thread's default stream.
    pub fn per_thread() -> DefaultStream {
        DefaultStream::from_number(2)
    }

    /// `CU_STREAM_LEGACY` is 1 and `CU_STREAM_PER_THREAD` 2.
    fn from_number(number: usize) -> DefaultStream {
        // SAFETY: the number is a stream handle by the driver API's definition, and the stream is never dropped.
        DefaultStream(ManuallyDrop::new(unsafe {
            handle::stream(std::ptr::without_provenance_mut(number))
        }))
    }
}

impl Deref for DefaultStream {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_streams_have_their_handles() {
        assert_eq!(DefaultStream::legacy().as_inner().addr(), 1);
        assert_eq!(DefaultStream::per_thread().as_inner().addr(), 2);
    }

    #[test]
    fn not_ready_is_an_answer_and_not_a_failure() {
        assert_eq!(ready(crate::error::check("cuStreamQuery", ReturnCode::NOT_READY)), Ok(false));
        assert_eq!(ready(Ok(())), Ok(true));
        assert!(ready(crate::error::check("cuStreamQuery", ReturnCode(700))).is_err());
    }

    #[test]
    fn a_non_blocking_stream_is_one() {
        let _context = crate::testing::device();
        let range = priority_range().unwrap();
        let stream = non_blocking(Some(range.greatest)).unwrap();
        assert!(is_non_blocking(&stream).unwrap());
        assert_eq!(stream.get_priority().unwrap(), range.greatest);
        let cust = Stream::new(cust::stream::StreamFlags::NON_BLOCKING, None).unwrap();
        assert!(!is_non_blocking(&cust).unwrap(), "cust honours the flag now: use its constructor");
    }

    #[test]
    fn a_host_function_runs_in_stream_order() {
        let _context = crate::testing::device();
        let stream = non_blocking(None).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        for number in 0..3 {
            let sender = sender.clone();
            host_function(&stream, move || sender.send(number).unwrap()).unwrap();
        }
        stream.synchronize().unwrap();
        assert!(is_idle(&stream).unwrap());
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
    }
}
