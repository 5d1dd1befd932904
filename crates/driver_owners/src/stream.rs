//! Streams: queues of work for the device.
//!
//! ```no_run
//! # fn f() -> driver_owners::error::CudaResult<()> {
//! use driver_owners::stream::{Stream, StreamFlags};
//! let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
//! stream.synchronize()?;
//! # Ok(())
//! # }
//! ```

use crate::error::{CudaResult, result};
use crate::function::{BlockSize, Function, GridSize};
use cuda_driver::api;
use cuda_driver::raw::CUstream;
use std::ffi::c_void;

pub use crate::flags::StreamFlags;

/// A queue of work, each piece of which waits for the one before.
#[derive(Debug)]
pub struct Stream {
    // Alone, so that a stream is its handle: `cust_ext` makes streams of handles.
    inner: CUstream,
}

// SAFETY: the driver's calls may come from any thread; the handle is a number to them.
unsafe impl Send for Stream {}
// SAFETY: a call takes the handle as a number, and the driver orders the calls of several threads.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream of the current context; without a priority it has the lowest.
    ///
    /// # Errors
    /// When no context is current.
    pub fn new(flags: StreamFlags, priority: Option<i32>) -> CudaResult<Stream> {
        let mut inner = std::ptr::null_mut();
        let priority = priority.unwrap_or(0);
        // SAFETY: a local to write to.
        result(unsafe { api::cuStreamCreateWithPriority(&mut inner, flags.bits(), priority) })?;
        Ok(Stream { inner })
    }

    /// Its priority: a smaller number is more urgent.
    ///
    /// # Errors
    /// When the driver does not tell it.
    pub fn get_priority(&self) -> CudaResult<i32> {
        let mut priority = 0;
        // SAFETY: the stream is alive, and the priority a local to write to.
        result(unsafe { api::cuStreamGetPriority(self.inner, &mut priority) })?;
        Ok(priority)
    }

    /// Waits until everything that was enqueued is done.
    ///
    /// # Errors
    /// The driver's, also that of a kernel that failed.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: the stream is alive.
        result(unsafe { api::cuStreamSynchronize(self.inner) })
    }

    /// Enqueues a kernel.
    ///
    /// # Errors
    /// The driver does not take the launch.
    ///
    /// # Safety
    /// - `arguments` has an address for each parameter of the kernel, of a value of its size and layout.
    /// - The kernel stays inside of memory that is alive until the stream has finished it.
    /// - Nobody else accesses what it writes, nor writes what it reads, until then.
    pub unsafe fn launch<G: Into<GridSize>, B: Into<BlockSize>>(
        &self,
        function: &Function<'_>,
        grid: G,
        block: B,
        dynamic_shared_bytes: u32,
        arguments: &[*mut c_void],
    ) -> CudaResult<()> {
        let (grid, block) = (grid.into(), block.into());
        // SAFETY: function and stream are alive; the arguments are as the caller guarantees, and the driver copies them.
        result(unsafe {
            api::cuLaunchKernel(
                function.to_raw(),
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                dynamic_shared_bytes,
                self.inner,
                arguments.as_ptr().cast_mut(),
                std::ptr::null_mut(),
            )
        })
    }

    /// The driver's handle, which lives as long as the stream.
    pub fn as_inner(&self) -> CUstream {
        self.inner
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once; the driver lets its work end. A failure cannot be told to anybody.
        let _ = unsafe { api::cuStreamDestroy_v2(self.inner) };
    }
}
