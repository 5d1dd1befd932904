//! Memory of the device, page-locked memory of the host, and copies between them.
//!
//! ```no_run
//! # fn f() -> driver_owners::error::CudaResult<()> {
//! use driver_owners::memory::{CopyDestination, DeviceBuffer};
//! let buffer = DeviceBuffer::from_slice(&[1.0_f32; 1000])?;
//! let mut back = vec![0.0; 1000];
//! buffer.copy_to(&mut back)?;
//! # Ok(())
//! # }
//! ```

mod device;
mod host;

pub use cust_core::DeviceCopy;
pub use device::{DeviceBuffer, DevicePointer, DeviceSlice};
pub use host::LockedBuffer;

use crate::error::{CudaError, CudaResult, result};
use crate::stream::Stream;
use cuda_driver::api;

/// Memory that can be copied from and to `O`, by calls that wait.
pub trait CopyDestination<O: ?Sized> {
    /// Copies from `source`, which is equally long.
    ///
    /// # Errors
    /// When the driver refuses the copy, or earlier work has failed.
    fn copy_from(&mut self, source: &O) -> CudaResult<()>;

    /// Copies to `target`, which is equally long.
    ///
    /// # Errors
    /// When the driver refuses the copy, or earlier work has failed.
    fn copy_to(&self, target: &mut O) -> CudaResult<()>;
}

/// Memory that can be copied from and to `O` in the order of a stream.
pub trait AsyncCopyDestination<O: ?Sized> {
    /// Enqueues a copy from `source`, which is equally long.
    ///
    /// # Errors
    /// When the driver does not enqueue the copy.
    ///
    /// # Safety
    /// - Both stay allocated until the stream has done the copy.
    /// - Nobody writes either, nor reads this one, until then, but work in the order of the stream.
    unsafe fn async_copy_from(&mut self, source: &O, stream: &Stream) -> CudaResult<()>;

    /// Enqueues a copy to `target`, which is equally long.
    ///
    /// # Errors
    /// When the driver does not enqueue the copy.
    ///
    /// # Safety
    /// - Both stay allocated until the stream has done the copy.
    /// - Nobody writes either, nor reads `target`, until then, but work in the order of the stream.
    unsafe fn async_copy_to(&self, target: &mut O, stream: &Stream) -> CudaResult<()>;
}

/// Free and total memory of the current device, bytes.
///
/// # Errors
/// When no context is current.
pub fn mem_get_info() -> CudaResult<(usize, usize)> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: two locals to write to.
    result(unsafe { api::cuMemGetInfo_v2(&mut free, &mut total) })?;
    Ok((free, total))
}

/// The bytes of so many values.
fn bytes<T>(length: usize) -> CudaResult<usize> {
    length.checked_mul(size_of::<T>()).ok_or(CudaError::InvalidMemoryAllocation)
}
