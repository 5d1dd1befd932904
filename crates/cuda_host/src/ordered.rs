//! Device memory in order: each call comes after what its stream has, and is done when it returns.

use crate::error::{GpuError, Result};
use crate::gpu::Gpu;
use crate::stored::{Stored, StoredAs};
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust_ext::transfer::{Scope, scope};

impl Gpu {
    /// Copies values into a new buffer, of [`Half`](crate::Half) where they are 16-bit floats.
    ///
    /// # Errors
    /// When the device has too little memory, the stream is being captured, or an earlier kernel failed.
    pub fn upload<T: Stored>(&self, values: &[impl StoredAs<T>]) -> Result<DeviceBuffer<T>> {
        // SAFETY: the copy writes all of it, or the buffer is dropped.
        let mut buffer = unsafe { uninitialized(values.len()) }?;
        let values = StoredAs::stored(values);
        self.in_order(|scope| scope.upload(values, &mut scope.lend(&mut buffer)?))?;
        Ok(buffer)
    }

    /// Allocates a buffer of zeros.
    ///
    /// # Errors
    /// As for [`Gpu::upload`].
    pub fn zeroed<T: Stored>(&self, length: usize) -> Result<DeviceBuffer<T>> {
        // SAFETY: the fill writes all of it, or the buffer is dropped.
        let mut buffer = unsafe { uninitialized(length) }?;
        self.in_order(|scope| scope.fill(&mut scope.lend(&mut buffer)?, 0))?;
        Ok(buffer)
    }

    /// Allocates a buffer that has one value everywhere, such as NaN where a test wants to see what a kernel left out.
    ///
    /// # Errors
    /// As for [`Gpu::upload`].
    pub fn filled<T: Stored>(
        &self,
        value: impl StoredAs<T>,
        length: usize,
    ) -> Result<DeviceBuffer<T>> {
        self.upload(&vec![value; length])
    }

    /// Copies a buffer into a new vector.
    ///
    /// # Errors
    /// When the stream is being captured, or an earlier kernel failed.
    pub fn download<T: Stored>(&self, buffer: &DeviceBuffer<T>) -> Result<Vec<T::Value>> {
        let mut values = vec![T::value(T::zeroed()); buffer.len()];
        self.copy_to(buffer, &mut values)?;
        Ok(values)
    }

    /// Copies a buffer into a slice of its length.
    ///
    /// # Errors
    /// When the lengths differ, and as for [`Gpu::download`].
    pub fn copy_to<T: Stored>(
        &self,
        buffer: &DeviceBuffer<T>,
        values: &mut [T::Value],
    ) -> Result<()> {
        self.in_order(|scope| scope.download(&*scope.share(buffer)?, T::of_mut(values)))
    }

    /// Copies a slice into a buffer of its length.
    ///
    /// # Errors
    /// When the lengths differ, and as for [`Gpu::download`].
    pub fn copy_from<T: Stored>(
        &self,
        buffer: &mut DeviceBuffer<T>,
        values: &[T::Value],
    ) -> Result<()> {
        self.in_order(|scope| scope.upload(T::of(values), &mut scope.lend(buffer)?))
    }

    /// Copies on the device's stream, and waits.
    fn in_order<'env>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> cust_ext::Result<()>,
    ) -> Result<()> {
        Ok(scope(self.stream(), body)?)
    }
}

/// Allocates a buffer, and says how much was asked for when there is no room.
///
/// # Safety
/// - The buffer is written before it is read.
unsafe fn uninitialized<T: DeviceCopy>(length: usize) -> Result<DeviceBuffer<T>> {
    // SAFETY: the caller's.
    unsafe { DeviceBuffer::uninitialized(length) }.map_err(|source| GpuError::NoRoom {
        length,
        bytes: size_of::<T>(),
        source,
    })
}
