//! Events: points in a stream.
//!
//! ```no_run
//! # fn f(stream: &driver_owners::stream::Stream) -> driver_owners::error::CudaResult<()> {
//! use driver_owners::event::{Event, EventFlags};
//! let [start, end] = [Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?];
//! start.record(stream)?;
//! end.record(stream)?;
//! end.synchronize()?;
//! let milliseconds = end.elapsed_time_f32(&start)?;
//! # Ok(())
//! # }
//! ```

use crate::error::{CudaError, CudaResult, result};
use crate::stream::Stream;
use cuda_driver::api;
use cuda_driver::raw::CUevent;

pub use crate::flags::EventFlags;

/// A point in a stream, which the host or another stream can wait for.
// Alone, so that an event is its handle: `cust_ext` reads it so.
#[derive(Debug)]
pub struct Event(CUevent);

// SAFETY: the driver's calls may come from any thread; the handle is a number to them.
unsafe impl Send for Event {}
// SAFETY: a call takes the handle as a number, and the driver orders the calls of several threads.
unsafe impl Sync for Event {}

/// The state of an event: reached by its stream or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// It has.
    Ready,
    /// It has not.
    NotReady,
}

impl Event {
    /// An event of the current context.
    ///
    /// # Errors
    /// When no context is current.
    pub fn new(flags: EventFlags) -> CudaResult<Event> {
        let mut event = std::ptr::null_mut();
        // SAFETY: a local to write to.
        result(unsafe { api::cuEventCreate(&mut event, flags.bits()) })?;
        Ok(Event(event))
    }

    /// Puts it behind what the stream has.
    ///
    /// # Errors
    /// When event and stream are of different contexts.
    pub fn record(&self, stream: &Stream) -> CudaResult<()> {
        // SAFETY: both are alive.
        result(unsafe { api::cuEventRecord(self.0, stream.as_inner()) })
    }

    /// Returns whether the stream has reached it, without waiting.
    ///
    /// # Errors
    /// When work before it has failed.
    pub fn query(&self) -> CudaResult<EventStatus> {
        // SAFETY: it is alive.
        match result(unsafe { api::cuEventQuery(self.0) }) {
            Ok(()) => Ok(EventStatus::Ready),
            Err(CudaError::NotReady) => Ok(EventStatus::NotReady),
            Err(error) => Err(error),
        }
    }

    /// Waits until the stream has reached it.
    ///
    /// # Errors
    /// When work before it has failed.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: it is alive.
        result(unsafe { api::cuEventSynchronize(self.0) })
    }

    /// The milliseconds from `start` to this.
    ///
    /// # Errors
    /// One was not reached, or has no time.
    pub fn elapsed_time_f32(&self, start: &Event) -> CudaResult<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: both are alive, and the time is a local to write to.
        result(unsafe { api::cuEventElapsedTime(&mut milliseconds, start.0, self.0) })?;
        Ok(milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once. A failure cannot be told to anybody.
        let _ = unsafe { api::cuEventDestroy_v2(self.0) };
    }
}
