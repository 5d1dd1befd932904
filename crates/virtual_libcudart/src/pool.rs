use crate::context::{self, known};
use crate::define::{Result, exports, given, on, out, passed};
use crate::driver::refused;
use crate::error::{Error, check};
use cuda_driver::api;
use cuda_driver::raw::{
    CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemPoolProps, CUmemPoolPtrExportData,
    CUmemoryPool, CUstream,
};
use cuda_driver::types::MemoryLocation;
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

passed! {
    // The two descriptions of a pool are laid out alike, those of its accesses and places, too.
    fn cudaMemPoolCreate = cuMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps);
    fn cudaMemPoolDestroy = cuMemPoolDestroy(pool: CUmemoryPool);
    fn cudaMemPoolTrimTo = cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize);
    fn cudaMemPoolSetAttribute = cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: c_uint, value: *mut c_void);
    fn cudaMemPoolGetAttribute = cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: c_uint, value: *mut c_void);
    fn cudaMemPoolSetAccess = cuMemPoolSetAccess(pool: CUmemoryPool, access: *const CUmemAccessDesc, count: usize);
    fn cudaMemPoolGetAccess =
        cuMemPoolGetAccess(flags: *mut c_uint, pool: CUmemoryPool, location: *mut CUmemLocation);
    fn cudaMemPoolExportPointer = cuMemPoolExportPointer(data: *mut CUmemPoolPtrExportData, pointer: CUdeviceptr);
    fn cudaMemPoolImportPointer =
        cuMemPoolImportPointer(pointer: *mut CUdeviceptr, pool: CUmemoryPool, data: *mut CUmemPoolPtrExportData);
}

/// Returns the device of a place whose pool is asked for, where that has one.
unsafe fn device_of(
    call: &'static std::ffi::CStr,
    location: *const MemoryLocation,
    kind: c_uint,
) -> Result<c_int> {
    // SAFETY: the caller hands over a place.
    let location = *unsafe { given(location) }?;
    // `cudaMemAllocationTypePinned`; the pools of the host and of managed memory are others.
    match (location.kind, kind) {
        (1, 1) => known(location.id),
        _ => Err(refused(call)),
    }
}

exports! {
    fn cudaMemPoolExportToShareableHandle(to: *mut c_void, pool: CUmemoryPool, kind: c_uint, flags: c_uint) {
        context::enter()?;
        check(api::cuMemPoolExportToShareableHandle(to, pool, kind, c_ulonglong::from(flags)))
    }
    fn cudaMemPoolImportFromShareableHandle(pool: *mut CUmemoryPool, from: *mut c_void, kind: c_uint, flags: c_uint) {
        context::enter()?;
        check(api::cuMemPoolImportFromShareableHandle(pool, from, kind, c_ulonglong::from(flags)))
    }
    fn cudaMallocFromPoolAsync(
        pointer: *mut *mut c_void, bytes: usize, pool: CUmemoryPool, stream: CUstream
    ) own cudaMallocFromPoolAsync_ptsz {
        context::enter()?;
        check(api::cuMemAllocFromPoolAsync((&raw mut *out(pointer)?).cast(), bytes, pool, on(stream)))
    }
    fn cudaDeviceGetDefaultMemPool(pool: *mut CUmemoryPool, device: c_int) {
        check(api::cuDeviceGetDefaultMemPool(pool, known(device)?))
    }
    fn cudaDeviceGetMemPool(pool: *mut CUmemoryPool, device: c_int) {
        check(api::cuDeviceGetMemPool(pool, known(device)?))
    }
    fn cudaDeviceSetMemPool(device: c_int, pool: CUmemoryPool) {
        check(api::cuDeviceSetMemPool(known(device)?, pool))
    }
    fn cudaMemGetDefaultMemPool(pool: *mut CUmemoryPool, location: *const MemoryLocation, kind: c_uint) {
        check(api::cuDeviceGetDefaultMemPool(pool, device_of(c"cudaMemGetDefaultMemPool", location, kind)?))
    }
    fn cudaMemGetMemPool(pool: *mut CUmemoryPool, location: *const MemoryLocation, kind: c_uint) {
        check(api::cuDeviceGetMemPool(pool, device_of(c"cudaMemGetMemPool", location, kind)?))
    }
    fn cudaMemSetMemPool(location: *const MemoryLocation, kind: c_uint, pool: CUmemoryPool) {
        check(api::cuDeviceSetMemPool(device_of(c"cudaMemSetMemPool", location, kind)?, pool))
    }
    fn cudaDeviceGraphMemTrim(device: c_int) {
        check(api::cuDeviceGraphMemTrim(known(device)?))
    }
    fn cudaDeviceGetGraphMemAttribute(device: c_int, attribute: c_uint, value: *mut c_void) {
        if value.is_null() { return Err(Error::INVALID_VALUE); }
        check(api::cuDeviceGetGraphMemAttribute(known(device)?, attribute, value))
    }
    fn cudaDeviceSetGraphMemAttribute(device: c_int, attribute: c_uint, value: *mut c_void) {
        if value.is_null() { return Err(Error::INVALID_VALUE); }
        check(api::cuDeviceSetGraphMemAttribute(known(device)?, attribute, value))
    }
}
