//! Page-locked memory of the host, which the device reads and writes by itself.

use super::bytes;
use crate::error::{CudaResult, result};
use cuda_driver::api;
use cust_core::DeviceCopy;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Values in page-locked memory.
#[derive(Debug)]
pub struct LockedBuffer<T: DeviceCopy> {
    pointer: NonNull<T>,
    length: usize,
}

// SAFETY: it owns its memory, which every thread may access, and the values may be sent.
unsafe impl<T: Send + DeviceCopy> Send for LockedBuffer<T> {}
// SAFETY: shared references give shared access only.
unsafe impl<T: Sync + DeviceCopy> Sync for LockedBuffer<T> {}

impl<T: DeviceCopy> LockedBuffer<T> {
    /// So many copies of a value.
    ///
    /// # Errors
    /// When the driver does not lock so much memory.
    pub fn new(value: &T, length: usize) -> CudaResult<LockedBuffer<T>> {
        LockedBuffer::filled(length, |_| *value)
    }

    /// A copy of values.
    ///
    /// # Errors
    /// When the driver does not lock so much memory.
    pub fn from_slice(values: &[T]) -> CudaResult<LockedBuffer<T>> {
        LockedBuffer::filled(values.len(), |index| values[index])
    }

    fn filled(length: usize, value: impl Fn(usize) -> T) -> CudaResult<LockedBuffer<T>> {
        let bytes = bytes::<T>(length)?;
        let mut pointer = NonNull::<T>::dangling();
        if bytes > 0 {
            let mut memory = std::ptr::null_mut();
            // SAFETY: a local to write to.
            result(unsafe { api::cuMemAllocHost_v2(&mut memory, bytes) })?;
            pointer = NonNull::new(memory.cast()).unwrap_or(pointer);
        }
        let buffer = LockedBuffer { pointer, length };
        for index in 0..length {
            // SAFETY: the memory has `length` values, aligned to pages; of values without bytes nothing is written.
            unsafe { buffer.pointer.add(index).write(value(index)) };
        }
        Ok(buffer)
    }
}

impl<T: DeviceCopy> Deref for LockedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: it owns as many values, all of which were written.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.length) }
    }
}

impl<T: DeviceCopy> DerefMut for LockedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: `length` values were allocated here and written when they were made; `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.length) }
    }
}

impl<T: DeviceCopy> AsRef<[T]> for LockedBuffer<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: DeviceCopy> AsMut<[T]> for LockedBuffer<T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: DeviceCopy> Drop for LockedBuffer<T> {
    fn drop(&mut self) {
        if self.length > 0 && size_of::<T>() > 0 {
            // SAFETY: it is freed once. A failure cannot be told to anybody.
            let _ = unsafe { api::cuMemFreeHost(self.pointer.as_ptr().cast()) };
        }
    }
}
