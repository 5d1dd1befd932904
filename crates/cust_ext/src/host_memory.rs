//! Page-locked host memory: allocated with flags, or memory that exists already.
//!
//! ```no_run
//! # fn f() -> cust_ext::Result<()> {
//! use cust_ext::host_memory::{HostBuffer, HostFlags};
//! let mut values = HostBuffer::<f32>::zeroed(1000, HostFlags::MAPPED)?;
//! values[0] = 1.0;
//! let address = values.device_pointer()?;
//! # Ok(())
//! # }
//! ```

use crate::error::{Result, argument, call};
use bytemuck::{Pod, Zeroable};
use cust::memory::{DeviceCopy, DevicePointer};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Flags of page-locked memory.
///
/// ```
/// # use cust_ext::host_memory::HostFlags;
/// let both = HostFlags::MAPPED.portable(true);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HostFlags {
    /// Page-locked for every context of the process, not just the current one.
    pub portable: bool,
    /// Mapped into the device's address space (zero-copy).
    pub mapped: bool,
    /// Not cached by the processor: the device reads it faster over the bus on some machines, and the processor reads
    /// it *very* slowly. Write it once from front to back and never read it on the host.
    pub write_combined: bool,
}

setters!(HostFlags { portable: bool, mapped: bool, write_combined: bool });

impl HostFlags {
    /// Plain page-locked memory.
    pub const PINNED: HostFlags =
        HostFlags { portable: false, mapped: false, write_combined: false };
    /// Mapped into the device's address space.
    pub const MAPPED: HostFlags = HostFlags { mapped: true, ..HostFlags::PINNED };
    /// Page-locked for every context.
    pub const PORTABLE: HostFlags = HostFlags { portable: true, ..HostFlags::PINNED };
    /// Write-combined: for data that only flows to the device.
    pub const WRITE_COMBINED: HostFlags = HostFlags { write_combined: true, ..HostFlags::PINNED };

    /// `CU_MEMHOSTALLOC_*`.
    fn bits(self) -> u32 {
        u32::from(self.portable) | u32::from(self.mapped) << 1 | u32::from(self.write_combined) << 2
    }
}

/// Page-locked host memory with flags (cust's `LockedBuffer` has none).
///
/// It dereferences to a slice. Safe code can share it with the device only through [`crate::transfer`], which keeps the
/// borrow until the copy is done; a kernel that uses [`HostBuffer::device_pointer`] is launched by `unsafe` code, which
/// promises that the host does not touch the memory meanwhile.
#[derive(Debug)]
pub struct HostBuffer<T: Pod + DeviceCopy> {
    pointer: NonNull<T>,
    length: usize,
    flags: HostFlags,
}

// SAFETY: the buffer owns its memory, and `T: Pod` is plain data without any thread affinity. Page-locked memory may be
// used and freed on any thread.
unsafe impl<T: Pod + DeviceCopy> Send for HostBuffer<T> {}
// SAFETY: a shared buffer is only read, and `T: Pod` is plain data.
unsafe impl<T: Pod + DeviceCopy> Sync for HostBuffer<T> {}

impl<T: Pod + DeviceCopy> HostBuffer<T> {
    /// `length` values of zero.
    ///
    /// # Errors
    /// More bytes than an address has, and the driver's.
    pub fn zeroed(length: usize, flags: HostFlags) -> Result<HostBuffer<T>> {
        // SAFETY: the memory is written before anything reads it.
        let buffer: HostBuffer<T> = unsafe { HostBuffer::uninitialized(length, flags) }?;
        // SAFETY: the driver allocated as many values here, aligned to a page and so to `T`; nobody else knows them.
        unsafe { buffer.pointer.as_ptr().write_bytes(0, length) };
        Ok(buffer)
    }

    /// `length` values that nobody wrote yet.
    ///
    /// # Errors
    /// More bytes than an address has, and the driver's.
    ///
    /// # Safety
    /// - The values are written before they are read.
    pub unsafe fn uninitialized(length: usize, flags: HostFlags) -> Result<HostBuffer<T>> {
        let bytes = byte_length::<T>(length)?;
        let mut pointer: *mut c_void = std::ptr::null_mut();
        // SAFETY: a local to write to.
        unsafe { call!(cuMemHostAlloc(&mut pointer, bytes, flags.bits()))? };
        let Some(pointer) = NonNull::new(pointer.cast::<T>()) else {
            return argument("the driver returned no memory");
        };
        Ok(HostBuffer { pointer, length, flags })
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// When the driver does not lock so much memory.
    pub fn from_slice(values: &[T], flags: HostFlags) -> Result<HostBuffer<T>> {
        let mut buffer = HostBuffer::zeroed(values.len(), flags)?;
        buffer.copy_from_slice(values);
        Ok(buffer)
    }

    /// Returns how it was allocated.
    pub fn flags(&self) -> HostFlags {
        self.flags
    }

    /// The address under which a kernel reaches this memory over the bus; only for mapped memory.
    ///
    /// # Errors
    /// When the memory is not mapped for the device, and the driver's.
    pub fn device_pointer(&self) -> Result<DevicePointer<T>> {
        if !self.flags.mapped {
            return argument(
                "this host memory is not mapped for the device: allocate it with HostFlags::MAPPED",
            );
        }
        mapped_pointer(self.pointer.as_ptr())
    }

    /// Frees the memory and reports a failure, which dropping cannot.
    ///
    /// # Errors
    /// When the driver does not free it.
    pub fn free(self) -> Result<()> {
        let buffer = std::mem::ManuallyDrop::new(self);
        // SAFETY: the memory came from cuMemHostAlloc and is freed once, since dropping is suppressed.
        unsafe { call!(cuMemFreeHost(buffer.pointer.as_ptr().cast())) }
    }
}

impl<T: Pod + DeviceCopy> Deref for HostBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `length` values that were written (zeroed, or by `uninitialized`'s contract), owned by `self`; any
        // bytes are a `T: Pod`.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.length) }
    }
}

impl<T: Pod + DeviceCopy> DerefMut for HostBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.length) }
    }
}

impl<T: Pod + DeviceCopy> Drop for HostBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: the memory came from cuMemHostAlloc and is freed once. An error cannot be reported from here.
        let _ = unsafe { call!(cuMemFreeHost(self.pointer.as_ptr().cast())) };
    }
}

/// Memory that existed before, page-locked while this lives.
///
/// It owns the vector: a borrow could be leaked, and the pages would stay locked under memory that is somebody else's.
#[derive(Debug)]
pub struct RegisteredBuffer<T: Pod + DeviceCopy> {
    values: Vec<T>,
    mapped: bool,
}

impl<T: Pod + DeviceCopy> RegisteredBuffer<T> {
    /// Page-locks the vector's memory, mapped into the device's address space when `mapped`.
    ///
    /// # Errors
    /// When the driver does not lock the pages, for example because they are locked.
    pub fn new(mut values: Vec<T>, mapped: bool) -> Result<RegisteredBuffer<T>> {
        let bytes = byte_length::<T>(values.len())?;
        // SAFETY: the range is the vector's own memory, which stays where it is while this type owns the vector: no
        // method here grows it.
        unsafe {
            call!(cuMemHostRegister_v2(values.as_mut_ptr().cast(), bytes, u32::from(mapped) << 1))?
        };
        Ok(RegisteredBuffer { values, mapped })
    }

    /// The address under which a kernel reaches this memory over the bus; only for mapped memory.
    ///
    /// # Errors
    /// When the memory is not mapped for the device, and the driver's.
    pub fn device_pointer(&self) -> Result<DevicePointer<T>> {
        if !self.mapped {
            return argument(
                "this host memory is not mapped for the device: register it with mapped = true",
            );
        }
        mapped_pointer(self.values.as_ptr().cast_mut())
    }

    /// Unlocks the pages and gives the vector back. When that fails the memory is leaked, because it is still locked.
    ///
    /// # Errors
    /// When the driver does not unlock them.
    pub fn into_inner(self) -> Result<Vec<T>> {
        let mut buffer = std::mem::ManuallyDrop::new(self);
        // SAFETY: the address was registered by `new` and is unregistered once.
        unsafe { call!(cuMemHostUnregister(buffer.values.as_mut_ptr().cast()))? };
        Ok(std::mem::take(&mut buffer.values))
    }
}

impl<T: Pod + DeviceCopy> Deref for RegisteredBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T: Pod + DeviceCopy> DerefMut for RegisteredBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<T: Pod + DeviceCopy> Drop for RegisteredBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: the address was registered by `new` and is unregistered once.
        let unregistered = unsafe { call!(cuMemHostUnregister(self.values.as_mut_ptr().cast())) };
        if unregistered.is_err() {
            // Freeing memory that the driver still has locked would hand locked pages to somebody else.
            std::mem::forget(std::mem::take(&mut self.values));
        }
    }
}

/// Page-locked host memory that [`crate::transfer::InFlight`] can own: its slice does not move when the owner does.
///
/// # Safety
/// - The slice stays at its address while the value is moved, until it is dropped.
pub unsafe trait PinnedMemory: DerefMut<Target = [Self::Item]> {
    /// The type of its elements.
    type Item: Pod + DeviceCopy;
}

// SAFETY: the memory is behind a pointer that never changes.
unsafe impl<T: Pod + DeviceCopy> PinnedMemory for HostBuffer<T> {
    type Item = T;
}

// SAFETY: a vector's memory stays where it is when the vector moves, and nothing here grows it.
unsafe impl<T: Pod + DeviceCopy> PinnedMemory for RegisteredBuffer<T> {
    type Item = T;
}

fn mapped_pointer<T: Zeroable + DeviceCopy>(host: *mut T) -> Result<DevicePointer<T>> {
    let mut pointer = 0;
    // SAFETY: a local to write to; the host address is only looked up.
    unsafe { call!(cuMemHostGetDevicePointer_v2(&mut pointer, host.cast(), 0))? };
    Ok(DevicePointer::from_raw(pointer))
}

/// The bytes of `length` values, which have to be at least one and at most what an address space holds.
pub(crate) fn byte_length<T>(length: usize) -> Result<usize> {
    match length.checked_mul(size_of::<T>()) {
        Some(0) => argument("an allocation of no bytes: give at least one value that has a size"),
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(bytes),
        _ => {
            argument(format!("{length} values of {} bytes do not fit into memory", size_of::<T>()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cust::context::{Context, CurrentContext};
    use cust::memory::{AsyncCopyDestination, DeviceBuffer};

    #[test]
    fn flags_are_the_drivers_bits() {
        assert_eq!(HostFlags::PINNED.bits(), 0);
        assert_eq!(HostFlags::PORTABLE.bits(), 1);
        assert_eq!(HostFlags::MAPPED.bits(), 2);
        assert_eq!(HostFlags::WRITE_COMBINED.bits(), 4);
    }

    #[test]
    fn impossible_sizes_are_refused_before_the_driver_sees_them() {
        assert!(byte_length::<u32>(0).is_err());
        assert!(byte_length::<u64>(usize::MAX / 4).is_err());
        assert_eq!(byte_length::<u64>(3).unwrap(), 24);
        let error = HostBuffer::<f32>::zeroed(0, HostFlags::PINNED).unwrap_err();
        assert_eq!(
            error.to_string(),
            "an allocation of no bytes: give at least one value that has a size"
        );
    }

    #[test]
    fn mapped_memory_has_a_device_address_and_plain_memory_has_none() {
        let _context = crate::testing::device();
        let mapped = HostBuffer::from_slice(&[1u32, 2, 3], HostFlags::MAPPED).unwrap();
        assert!(!mapped.device_pointer().unwrap().is_null());
        let plain = HostBuffer::from_slice(&[1u32, 2, 3], HostFlags::WRITE_COMBINED).unwrap();
        assert!(plain.device_pointer().is_err());
        mapped.free().unwrap();
    }

    #[test]
    fn a_vector_survives_being_registered() {
        let _context = crate::testing::device();
        let mut registered = RegisteredBuffer::new(vec![7u32; 1000], true).unwrap();
        registered[3] = 9;
        assert!(!registered.device_pointer().unwrap().is_null());
        let values = registered.into_inner().unwrap();
        assert_eq!((values[3], values[4], values.len()), (9, 7, 1000));
    }

    #[test]
    fn portable_memory_is_pinned_in_a_second_context() {
        let (device, first) = crate::testing::device();
        let source = HostBuffer::from_slice(&[7u32; 1000], HostFlags::PORTABLE).unwrap();
        assert!(source.flags().portable);
        let second = Context::new(device).unwrap();
        CurrentContext::set_current(&second).unwrap();
        let address = source.as_ptr().addr() as u64;
        let info = crate::pointer::info(address).unwrap().expect("this context knows it, too");
        assert_eq!(info.kind, crate::pointer::MemoryKind::Host);
        let stream = crate::stream::non_blocking(None).unwrap();
        let mut target = DeviceBuffer::from_slice(&[0u32; 1000]).unwrap();
        // SAFETY: both buffers live until the stream was waited for, and nobody writes the source.
        unsafe { target.async_copy_from(&source[..], &stream) }.unwrap();
        stream.synchronize().unwrap();
        assert!(target.as_host_vec().unwrap() == [7; 1000]);
        drop((target, stream));
        CurrentContext::set_current(&first).unwrap();
    }

    #[test]
    fn allocations_of_the_device_are_aligned_to_256_bytes() {
        let _context = crate::testing::device();
        let all: Vec<_> = [1, 3, 31, 255, 256, 257, 4097, 1 << 20]
            .map(|bytes| DeviceBuffer::<u8>::zeroed(bytes).unwrap())
            .into();
        for buffer in &all {
            assert!(buffer.as_device_ptr().as_raw().is_multiple_of(256), "{} bytes", buffer.len());
        }
    }
}
