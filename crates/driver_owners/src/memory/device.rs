use super::{AsyncCopyDestination, CopyDestination, bytes};
use crate::error::{CudaResult, result};
use crate::stream::Stream;
use bytemuck::Zeroable;
use cuda_driver::api;
use cuda_driver::raw::CUdeviceptr;
use cust_core::DeviceCopy;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;

/// An address in device memory.
#[repr(transparent)]
#[derive(Debug)]
pub struct DevicePointer<T> {
    address: CUdeviceptr,
    target: PhantomData<*mut T>,
}

impl<T> Clone for DevicePointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePointer<T> {}

impl<T> DevicePointer<T> {
    /// The address as the driver has it.
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// A pointer of such an address. Nothing is accessed by it here.
    pub fn from_raw(address: CUdeviceptr) -> Self {
        DevicePointer { address, target: PhantomData }
    }

    /// The null pointer.
    pub fn null() -> Self {
        DevicePointer::from_raw(0)
    }

    /// Returns whether it is null.
    pub fn is_null(self) -> bool {
        self.address == 0
    }
}

/// Values in device memory that somebody else owns.
#[derive(Debug)]
pub struct DeviceSlice<T: DeviceCopy> {
    pointer: DevicePointer<T>,
    length: usize,
}

// SAFETY: the address is valid on every thread, and the values may be sent.
unsafe impl<T: Send + DeviceCopy> Send for DeviceSlice<T> {}
// SAFETY: the address is valid on every thread; the host never holds a reference to the values.
unsafe impl<T: Sync + DeviceCopy> Sync for DeviceSlice<T> {}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Returns how many values there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The address of the first.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.pointer
    }

    /// The values from an address on.
    ///
    /// # Safety
    /// - `length` values of device memory from there on live for as long as the slice.
    pub unsafe fn from_raw_parts(pointer: DevicePointer<T>, length: usize) -> DeviceSlice<T> {
        DeviceSlice { pointer, length }
    }

    fn address(&self) -> CUdeviceptr {
        self.pointer.address
    }

    /// The bytes of a copy; none needs no call.
    fn bytes_of_copy(&self, other: usize) -> usize {
        assert_eq!(self.length, other, "a copy between memories of different lengths");
        self.length * size_of::<T>()
    }
}

impl<T: DeviceCopy, I: AsRef<[T]> + AsMut<[T]> + ?Sized> CopyDestination<I> for DeviceSlice<T> {
    fn copy_from(&mut self, source: &I) -> CudaResult<()> {
        let source = source.as_ref();
        let bytes = self.bytes_of_copy(source.len());
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both have as many bytes, and are borrowed.
        result(unsafe { api::cuMemcpyHtoD_v2(self.address(), source.as_ptr().cast(), bytes) })?;
        wait_for_default_stream()
    }

    fn copy_to(&self, target: &mut I) -> CudaResult<()> {
        let target = target.as_mut();
        let bytes = self.bytes_of_copy(target.len());
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both have as many bytes, and are borrowed; what the device holds are values of `T`.
        result(unsafe { api::cuMemcpyDtoH_v2(target.as_mut_ptr().cast(), self.address(), bytes) })
    }
}

/// Copies within the device return before they are done.
fn copy_within_device<T: DeviceCopy>(
    target: &DeviceSlice<T>,
    source: &DeviceSlice<T>,
) -> CudaResult<()> {
    let bytes = target.bytes_of_copy(source.len());
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: both have as many bytes, and are borrowed.
    result(unsafe { api::cuMemcpyDtoD_v2(target.address(), source.address(), bytes) })?;
    wait_for_default_stream()
}

impl<T: DeviceCopy> CopyDestination<DeviceSlice<T>> for DeviceSlice<T> {
    fn copy_from(&mut self, source: &DeviceSlice<T>) -> CudaResult<()> {
        copy_within_device(self, source)
    }

    fn copy_to(&self, target: &mut DeviceSlice<T>) -> CudaResult<()> {
        copy_within_device(target, self)
    }
}

impl<T: DeviceCopy> CopyDestination<DeviceBuffer<T>> for DeviceSlice<T> {
    fn copy_from(&mut self, source: &DeviceBuffer<T>) -> CudaResult<()> {
        copy_within_device(self, source)
    }

    fn copy_to(&self, target: &mut DeviceBuffer<T>) -> CudaResult<()> {
        copy_within_device(target, self)
    }
}

impl<T: DeviceCopy, I: AsRef<[T]> + AsMut<[T]> + ?Sized> AsyncCopyDestination<I>
    for DeviceSlice<T>
{
    unsafe fn async_copy_from(&mut self, source: &I, stream: &Stream) -> CudaResult<()> {
        let source = source.as_ref();
        let bytes = self.bytes_of_copy(source.len());
        if bytes == 0 {
            return Ok(());
        }
        let (address, source) = (self.address(), source.as_ptr().cast());
        // SAFETY: both have as many bytes, and the caller keeps them until the stream has done the copy.
        result(unsafe { api::cuMemcpyHtoDAsync_v2(address, source, bytes, stream.as_inner()) })
    }

    unsafe fn async_copy_to(&self, target: &mut I, stream: &Stream) -> CudaResult<()> {
        let target = target.as_mut();
        let bytes = self.bytes_of_copy(target.len());
        if bytes == 0 {
            return Ok(());
        }
        let (address, target) = (self.address(), target.as_mut_ptr().cast());
        // SAFETY: both have as many bytes, and the caller keeps them until the stream has done the copy.
        result(unsafe { api::cuMemcpyDtoHAsync_v2(target, address, bytes, stream.as_inner()) })
    }
}

/// Values in device memory, which is freed with this.
#[derive(Debug)]
pub struct DeviceBuffer<T: DeviceCopy> {
    slice: DeviceSlice<T>,
}

impl<T: DeviceCopy> DeviceBuffer<T> {
    /// Memory for so many values.
    ///
    /// # Errors
    /// When the device has not so much memory.
    ///
    /// # Safety
    /// - Nobody reads a value that was not written before.
    pub unsafe fn uninitialized(length: usize) -> CudaResult<DeviceBuffer<T>> {
        let bytes = bytes::<T>(length)?;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: a local to write to.
            result(unsafe { api::cuMemAlloc_v2(&mut address, bytes) })?;
        }
        let pointer = DevicePointer::from_raw(address);
        Ok(DeviceBuffer { slice: DeviceSlice { pointer, length } })
    }

    /// A copy of host values, which has arrived when this returns.
    ///
    /// # Errors
    /// When the device has not so much memory, or the copy fails.
    pub fn from_slice(values: &[T]) -> CudaResult<DeviceBuffer<T>> {
        // SAFETY: it is written next.
        let buffer = unsafe { DeviceBuffer::uninitialized(values.len()) }?;
        let bytes = size_of_val(values);
        if bytes > 0 {
            let (address, source) = (buffer.address(), values.as_ptr().cast());
            // SAFETY: both have as many bytes, and are borrowed.
            result(unsafe { api::cuMemcpyHtoD_v2(address, source, bytes) })?;
            wait_for_default_stream()?;
        }
        Ok(buffer)
    }

    /// A buffer of memory that `cuMemAlloc` or a pool gave.
    ///
    /// # Safety
    /// - The memory holds `length` values.
    /// - Nobody else frees it.
    pub unsafe fn from_raw_parts(pointer: DevicePointer<T>, length: usize) -> DeviceBuffer<T> {
        DeviceBuffer { slice: DeviceSlice { pointer, length } }
    }

    /// All of it.
    pub fn as_slice(&self) -> &DeviceSlice<T> {
        self
    }
}

impl<T: DeviceCopy + Zeroable> DeviceBuffer<T> {
    /// So many values of zero bytes, which are there when this returns.
    ///
    /// # Errors
    /// When the device has not so much memory.
    pub fn zeroed(length: usize) -> CudaResult<DeviceBuffer<T>> {
        // SAFETY: it is written next, and zero bytes are a value.
        let buffer = unsafe { DeviceBuffer::uninitialized(length) }?;
        let bytes = length * size_of::<T>();
        if bytes > 0 {
            // SAFETY: the memory has as many bytes.
            result(unsafe { api::cuMemsetD8_v2(buffer.address(), 0, bytes) })?;
            wait_for_default_stream()?;
        }
        Ok(buffer)
    }
}

impl<T: DeviceCopy> Deref for DeviceBuffer<T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        &self.slice
    }
}

impl<T: DeviceCopy> DerefMut for DeviceBuffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.slice
    }
}

impl<T: DeviceCopy> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if !self.slice.pointer.is_null() {
            // SAFETY: it is freed once; the driver waits for work that uses it. A failure cannot be told to anybody.
            let _ = unsafe { api::cuMemFree_v2(self.address()) };
        }
    }
}

/// Waits for the legacy default stream, on which calls without a stream work: some return before they are done, and a
/// stream that does not block does not wait for them.
fn wait_for_default_stream() -> CudaResult<()> {
    // SAFETY: the null stream is the legacy default one.
    result(unsafe { api::cuStreamSynchronize(null_mut()) })
}
