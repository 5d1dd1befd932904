//! Device memory in order: each call comes after what its stream has, and is done when it returns.

use crate::gpu::Gpu;
use anyhow::{Context, Result};
use bytemuck::Pod;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust_ext::transfer::{Scope, scope};

impl Gpu {
    /// Copies values into a new buffer.
    ///
    /// # Errors
    /// When the device has too little memory, the stream is being captured, or an earlier kernel failed.
    pub fn upload<T: Pod + DeviceCopy>(&self, values: &[T]) -> Result<DeviceBuffer<T>> {
        // SAFETY: `copy_from` writes all of it, or the buffer is dropped.
        let mut buffer = unsafe { DeviceBuffer::uninitialized(values.len()) }
            .with_context(|| no_room::<T>(values.len()))?;
        self.copy_from(&mut buffer, values)?;
        Ok(buffer)
    }

    /// Allocates a buffer of zeros.
    ///
    /// # Errors
    /// As for [`Gpu::upload`].
    pub fn zeroed<T: Pod + DeviceCopy>(&self, length: usize) -> Result<DeviceBuffer<T>> {
        // SAFETY: the fill writes all of it, or the buffer is dropped.
        let mut buffer =
            unsafe { DeviceBuffer::uninitialized(length) }.with_context(|| no_room::<T>(length))?;
        self.in_order(|scope| scope.fill(&mut scope.lend(&mut buffer)?, 0))?;
        Ok(buffer)
    }

    /// Allocates a buffer that has one value everywhere, such as NaN where a test wants to see what a kernel left out.
    ///
    /// # Errors
    /// As for [`Gpu::upload`].
    pub fn filled<T: Pod + DeviceCopy>(&self, value: T, length: usize) -> Result<DeviceBuffer<T>> {
        self.upload(&vec![value; length])
    }

    /// Copies a buffer into a new vector.
    ///
    /// # Errors
    /// When the stream is being captured, or an earlier kernel failed.
    pub fn download<T: Pod + DeviceCopy>(&self, buffer: &DeviceBuffer<T>) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); buffer.len()];
        self.copy_to(buffer, &mut values)?;
        Ok(values)
    }

    /// Copies a buffer into a slice of its length.
    ///
    /// # Errors
    /// When the lengths differ, and as for [`Gpu::download`].
    pub fn copy_to<T: Pod + DeviceCopy>(
        &self,
        buffer: &DeviceBuffer<T>,
        values: &mut [T],
    ) -> Result<()> {
        self.in_order(|scope| scope.download(&*scope.share(buffer)?, values))
    }

    /// Copies a slice into a buffer of its length.
    ///
    /// # Errors
    /// When the lengths differ, and as for [`Gpu::download`].
    pub fn copy_from<T: Pod + DeviceCopy>(
        &self,
        buffer: &mut DeviceBuffer<T>,
        values: &[T],
    ) -> Result<()> {
        self.in_order(|scope| scope.upload(values, &mut scope.lend(buffer)?))
    }

    /// Copies on the device's stream, and waits.
    fn in_order<'env>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> cust_ext::Result<()>,
    ) -> Result<()> {
        Ok(scope(self.stream(), body)?)
    }
}

fn no_room<T>(length: usize) -> String {
    format!("allocating {length} values of {} bytes on the device failed", size_of::<T>())
}
