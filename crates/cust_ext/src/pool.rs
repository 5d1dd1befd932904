//! Stream-ordered memory pools: threshold, trimming, statistics, and buffers taken from a pool of one's own.
//!
//! ```no_run
//! # fn f(device: &cust::device::Device) -> cust_ext::Result<()> {
//! use cust_ext::pool::Pool;
//! let pool = Pool::new(device)?;
//! pool.set_release_threshold(1 << 30)?;
//! let held = pool.statistics()?.reserved_bytes;
//! # Ok(())
//! # }
//! ```

use crate::error::{Error, Result, argument, call};
use crate::host_memory::byte_length;
use bytemuck::Pod;
use cuda_driver::ReturnCode;
use cuda_driver::api::cuMemPoolDestroy;
use cust::device::Device;
use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use cust::stream::Stream;
use cust::sys::{CUmemAccessDesc, CUmemPoolProps, CUmemoryPool};
use std::ffi::{c_int, c_uint};
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

const RELEASE_THRESHOLD: c_uint = 4;
const RESERVED_CURRENT: c_uint = 5;
const RESERVED_HIGH: c_uint = 6;
const USED_CURRENT: c_uint = 7;
const USED_HIGH: c_uint = 8;

/// A memory pool of a device: the default one, which cust's `*_async` functions use, or one of our own.
#[derive(Debug)]
pub struct Pool {
    raw: CUmemoryPool,
    owned: bool,
    is_of_host: bool,
}

/// Page-locked host memory of a pool, which dropping gives back to it behind the work of a stream.
#[derive(Debug)]
pub struct PooledHostBuffer<'pool, T: Pod + DeviceCopy> {
    pointer: *mut T,
    length: usize,
    stream: &'pool Stream,
}

impl<T: Pod + DeviceCopy> Deref for PooledHostBuffer<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many values, written by the contract of `allocate_on_host` and owned by `self`; any bytes are a `T: Pod`.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }
}

impl<T: Pod + DeviceCopy> DerefMut for PooledHostBuffer<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.length) }
    }
}

impl<T: Pod + DeviceCopy> Drop for PooledHostBuffer<'_, T> {
    fn drop(&mut self) {
        let address = self.pointer.expose_provenance() as u64;
        // SAFETY: the memory came from a pool that is alive, and is freed once. An error cannot be reported from here.
        let _ = unsafe { call!(cuMemFreeAsync(address, self.stream.as_inner())) };
    }
}

// SAFETY: a pool is a handle that the driver lets any thread use.
unsafe impl Send for Pool {}
// SAFETY: nothing of it is changed behind a shared reference; the driver orders the calls of several threads.
unsafe impl Sync for Pool {}

/// The contents of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolStatistics {
    /// Bytes taken from the device.
    pub reserved_bytes: u64,
    /// The most bytes ever taken from the device since the last reset.
    pub reserved_bytes_max: u64,
    /// Bytes in live allocations.
    pub used_bytes: u64,
    /// The most bytes ever in live allocations since the last reset.
    pub used_bytes_max: u64,
}

impl Pool {
    /// The device's default pool.
    ///
    /// # Errors
    /// When the device has no pools.
    pub fn default_of(device: &Device) -> Result<Pool> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: a local to write to.
        unsafe { call!(cuDeviceGetDefaultMemPool(&mut raw, device.as_raw()))? };
        Ok(Pool { raw, owned: false, is_of_host: false })
    }

    /// The pool that `cuMemAllocAsync` uses at the moment.
    ///
    /// # Errors
    /// When the device has no pools.
    pub fn current_of(device: &Device) -> Result<Pool> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: a local to write to.
        unsafe { call!(cuDeviceGetMemPool(&mut raw, device.as_raw()))? };
        Ok(Pool { raw, owned: false, is_of_host: false })
    }

    /// A new, empty pool on the device.
    ///
    /// # Errors
    /// When the device has no pools.
    pub fn new(device: &Device) -> Result<Pool> {
        Pool::at(1, device.as_raw())
    }

    /// A new, empty pool of page-locked host memory that `device` may use: the host's page-locked memory is expensive to
    /// allocate, and a pool allocates it once (CUDA 12.6).
    ///
    /// # Errors
    /// When the driver has no such pools.
    pub fn of_host(device: &Device) -> Result<Pool> {
        // On the host, and on its first NUMA node, which the first drivers with such pools ask for.
        const HOST: c_uint = 2;
        const NODE: c_uint = 3;
        let pool = match Pool::at(HOST, 0) {
            Err(error) if error.code() == Some(ReturnCode::INVALID_VALUE) => Pool::at(NODE, 0),
            other => other,
        };
        let pool = pool.map_err(without_host_pools)?;
        pool.set_access(device, true)?;
        Ok(pool)
    }

    /// A new, empty pool at a location: its kind, as `CU_MEM_LOCATION_TYPE_*`, and its number.
    fn at(kind: c_uint, id: c_int) -> Result<Pool> {
        let mut properties = MaybeUninit::<CUmemPoolProps>::zeroed();
        let mut raw = std::ptr::null_mut();
        // SAFETY: all-zero bytes are valid properties apart from the three set here: pinned memory (1), and the location's kind,
        // an integer in C, and number.
        unsafe {
            let pointer = properties.as_mut_ptr();
            (&raw mut (*pointer).allocType).cast::<c_uint>().write(1);
            (&raw mut (*pointer).location.type_).cast::<c_uint>().write(kind);
            (*pointer).location.id = id;
            call!(cuMemPoolCreate(&mut raw, pointer))?;
        }
        Ok(Pool { raw, owned: true, is_of_host: kind != 1 })
    }

    /// Lets the pool keep up to `bytes` of freed memory when the device synchronizes; everything above goes back to the
    /// device. The default of 0 returns all, so that each round of allocations pays for mapping the memory again.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn set_release_threshold(&self, bytes: u64) -> Result<()> {
        self.set(RELEASE_THRESHOLD, bytes)
    }

    /// Returns how much freed memory the pool keeps.
    ///
    /// # Errors
    /// When the driver does not tell it.
    pub fn release_threshold(&self) -> Result<u64> {
        self.get(RELEASE_THRESHOLD)
    }

    /// Returns freed memory to the device until at most `keep_bytes` stay reserved.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn trim(&self, keep_bytes: usize) -> Result<()> {
        // SAFETY: the pool is alive.
        unsafe { call!(cuMemPoolTrimTo(self.raw, keep_bytes)) }
    }

    /// Lets kernels on `device` use this pool's memory, or ends that: peer access between contexts does not reach
    /// pools.
    ///
    /// # Errors
    /// The driver's, when `device` cannot access the pool's device, or access is taken from the pool's own.
    pub fn set_access(&self, device: &Device, may_use: bool) -> Result<()> {
        let mut access = MaybeUninit::<CUmemAccessDesc>::zeroed();
        // SAFETY: all three fields are set, to values that cust_raw lists: located on a device (1), and no access (0) or
        // reading and writing (3). The pool is alive.
        unsafe {
            let pointer = access.as_mut_ptr();
            (&raw mut (*pointer).location.type_).cast::<c_uint>().write(1);
            (*pointer).location.id = device.as_raw();
            (&raw mut (*pointer).flags).cast::<c_uint>().write(if may_use { 3 } else { 0 });
            call!(cuMemPoolSetAccess(self.raw, pointer, 1))
        }
    }

    /// Returns what the pool holds.
    ///
    /// # Errors
    /// When the driver does not tell one of the figures.
    pub fn statistics(&self) -> Result<PoolStatistics> {
        Ok(PoolStatistics {
            reserved_bytes: self.get(RESERVED_CURRENT)?,
            reserved_bytes_max: self.get(RESERVED_HIGH)?,
            used_bytes: self.get(USED_CURRENT)?,
            used_bytes_max: self.get(USED_HIGH)?,
        })
    }

    /// Starts the maxima of the statistics anew.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn reset_maxima(&self) -> Result<()> {
        self.set(RESERVED_HIGH, 0)?;
        self.set(USED_HIGH, 0)
    }

    /// A buffer of `length` values out of this pool, usable on `stream` from here on. Free it with cust's
    /// `drop_async` on a stream that is ordered after its last use; dropping it plainly waits for the device.
    ///
    /// # Errors
    /// When the device has not so much memory.
    ///
    /// # Safety
    /// - The contents are uninitialized: write them before they are read.
    /// - Other streams may use the buffer only after they were ordered behind this call.
    /// - The buffer is freed before the pool is dropped.
    pub unsafe fn allocate<T: DeviceCopy>(
        &self,
        length: usize,
        stream: &Stream,
    ) -> Result<DeviceBuffer<T>> {
        let mut pointer = 0;
        let bytes = byte_length::<T>(length)?;
        // SAFETY: a local to write to; pool and stream are alive.
        unsafe {
            call!(cuMemAllocFromPoolAsync(&mut pointer, bytes, self.raw, stream.as_inner()))?
        };
        // SAFETY: the driver allocated room for `length` values; cuMemFree, which dropping calls, accepts it.
        Ok(unsafe { DeviceBuffer::from_raw_parts(DevicePointer::from_raw(pointer), length) })
    }

    /// A buffer of `length` values that nobody wrote yet, out of this pool of host memory. It waits for `stream`, with which the
    /// pool orders what it gives away and takes back.
    ///
    /// # Errors
    /// A pool of device memory, and the driver's.
    ///
    /// # Safety
    /// - The values are written before they are read.
    pub unsafe fn allocate_on_host<'pool, T: Pod + DeviceCopy>(
        &'pool self,
        length: usize,
        stream: &'pool Stream,
    ) -> Result<PooledHostBuffer<'pool, T>> {
        if !self.is_of_host {
            return argument("this pool has device memory: take one from Pool::of_host");
        }
        let mut pointer = 0;
        let bytes = byte_length::<T>(length)?;
        // SAFETY: a local to write to; pool and stream are alive.
        unsafe {
            call!(cuMemAllocFromPoolAsync(&mut pointer, bytes, self.raw, stream.as_inner()))?
        };
        let pointer = std::ptr::with_exposed_provenance_mut(pointer as usize);
        let buffer = PooledHostBuffer { pointer, length, stream };
        stream.synchronize()?;
        Ok(buffer)
    }

    fn get(&self, attribute: c_uint) -> Result<u64> {
        let mut value: u64 = 0;
        // SAFETY: the attributes used here are 64-bit integers.
        unsafe { call!(cuMemPoolGetAttribute(self.raw, attribute, (&raw mut value).cast()))? };
        Ok(value)
    }

    fn set(&self, attribute: c_uint, mut value: u64) -> Result<()> {
        // SAFETY: as for `get`.
        unsafe { call!(cuMemPoolSetAttribute(self.raw, attribute, (&raw mut value).cast())) }
    }
}

/// Returns what a refused pool of host memory means.
fn without_host_pools(error: Error) -> Error {
    match error.code() {
        Some(code @ (ReturnCode::INVALID_VALUE | ReturnCode::NOT_SUPPORTED)) => Error::Call {
            call: "cuMemPoolCreate",
            code,
            reason: "this driver has no pools of host memory: install one for CUDA 12.6 or newer, or use HostBuffer"
                .to_owned(),
        },
        _ => error,
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: the pool was created here and is destroyed once. An error cannot be reported from here.
            let _ = unsafe { cuMemPoolDestroy(self.raw) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_keeps_what_its_threshold_says() {
        let (device, _context) = crate::testing::device();
        let pool = Pool::new(&device).unwrap();
        pool.set_release_threshold(1 << 30).unwrap();
        assert_eq!(pool.release_threshold().unwrap(), 1 << 30);
        let stream = crate::stream::non_blocking(None).unwrap();
        // SAFETY: the contents are not read, and the buffer is freed on the same stream before the pool.
        let buffer = unsafe { pool.allocate::<u8>(1 << 20, &stream) }.unwrap();
        assert_eq!(pool.statistics().unwrap().used_bytes, 1 << 20);
        buffer.drop_async(&stream).unwrap();
        stream.synchronize().unwrap();
        let statistics = pool.statistics().unwrap();
        assert_eq!((statistics.used_bytes, statistics.used_bytes_max), (0, 1 << 20));
        assert!(statistics.reserved_bytes >= 1 << 20);
        pool.trim(0).unwrap();
        assert_eq!(pool.statistics().unwrap().reserved_bytes, 0);
    }

    #[test]
    fn a_pool_of_host_memory_gives_what_the_device_copies() {
        let (device, _context) = crate::testing::device();
        let pool = Pool::of_host(&device).unwrap();
        pool.set_release_threshold(1 << 30).unwrap();
        let stream = crate::stream::non_blocking(None).unwrap();
        for round in 0..2_u32 {
            // SAFETY: all values are written next.
            let mut buffer = unsafe { pool.allocate_on_host::<u32>(1000, &stream) }.unwrap();
            buffer.fill(round + 7);
            let device = DeviceBuffer::from_slice(&buffer).unwrap();
            assert_eq!(device.as_host_vec().unwrap(), [round + 7; 1000]);
        }
        let statistics = pool.statistics().unwrap();
        assert_eq!((statistics.used_bytes, statistics.used_bytes_max), (0, 4000));
        let refused = Pool::at(9, 0).map_err(without_host_pools).unwrap_err().to_string();
        assert_eq!(
            refused,
            "cuMemPoolCreate failed, CUDA_ERROR_INVALID_VALUE (1): this driver has no pools of host memory: install one for \
             CUDA 12.6 or newer, or use HostBuffer"
        );
        let of_device = Pool::new(&device).unwrap();
        // SAFETY: nothing is read.
        let none = unsafe { of_device.allocate_on_host::<u32>(1, &stream) };
        let error = none.unwrap_err().to_string();
        assert!(error.contains("Pool::of_host"), "{error}");
    }
}
