use crate::context;
use crate::define::{Result, exports, given, on, passed};
use crate::driver::refused;
use crate::error::{Error, check};
use crate::version::is_12;
use cuda_driver::api;
use cuda_driver::raw::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUdeviceptr, CUevent, CUexternalMemory,
    CUexternalSemaphore, CUipcEventHandle, CUipcMemHandle, CUstream,
};
use std::ffi::{c_uint, c_void};
use std::mem::MaybeUninit;

/// Bytes of the runtime's structures in CUDA 12, to the last field that says something. Behind them the driver's are zero.
const MEMORY_HANDLE: usize = 36;
const SEMAPHORE_HANDLE: usize = 28;
const BUFFER: usize = 20;

/// Returns the driver's structure, which begins as the runtime's does.
unsafe fn begins<T>(from: *const c_void, bytes: usize) -> Result<MaybeUninit<T>> {
    if from.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let mut driver = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller's structure has the bytes, and the driver's has more.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), driver.as_mut_ptr().cast(), bytes) };
    Ok(driver)
}

unsafe fn signal(
    semaphores: *const CUexternalSemaphore,
    parameters: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    count: c_uint,
    stream: CUstream,
) -> Result {
    context::enter()?;
    // SAFETY: the caller hands over so many semaphores and parameters.
    check(unsafe {
        given(semaphores)?;
        api::cuSignalExternalSemaphoresAsync(semaphores, parameters, count, on(stream))
    })
}

unsafe fn wait(
    semaphores: *const CUexternalSemaphore,
    parameters: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    count: c_uint,
    stream: CUstream,
) -> Result {
    context::enter()?;
    // SAFETY: the caller hands over so many semaphores and parameters.
    check(unsafe {
        given(semaphores)?;
        api::cuWaitExternalSemaphoresAsync(semaphores, parameters, count, on(stream))
    })
}

passed! {
    fn cudaIpcGetEventHandle = cuIpcGetEventHandle(handle: *mut CUipcEventHandle, event: CUevent);
    fn cudaIpcOpenEventHandle = cuIpcOpenEventHandle(event: *mut CUevent, handle: CUipcEventHandle);
    fn cudaIpcGetMemHandle = cuIpcGetMemHandle(handle: *mut CUipcMemHandle, pointer: CUdeviceptr);
    fn cudaIpcOpenMemHandle =
        cuIpcOpenMemHandle_v2(pointer: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint);
    fn cudaIpcCloseMemHandle = cuIpcCloseMemHandle(pointer: CUdeviceptr);
    fn cudaDestroyExternalMemory = cuDestroyExternalMemory(memory: CUexternalMemory);
    fn cudaDestroyExternalSemaphore = cuDestroyExternalSemaphore(semaphore: CUexternalSemaphore);
}

exports! {
    fn cudaImportExternalMemory(memory: *mut CUexternalMemory, handle: *const c_void) {
        context::enter()?;
        let handle = begins::<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>(handle, MEMORY_HANDLE)?;
        check(api::cuImportExternalMemory(memory, handle.as_ptr()))
    }
    fn cudaExternalMemoryGetMappedBuffer(pointer: *mut CUdeviceptr, memory: CUexternalMemory, buffer: *const c_void) {
        context::enter()?;
        let buffer = begins::<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>(buffer, BUFFER)?;
        check(api::cuExternalMemoryGetMappedBuffer(pointer, memory, buffer.as_ptr()))
    }
    fn cudaImportExternalSemaphore(semaphore: *mut CUexternalSemaphore, handle: *const c_void) {
        context::enter()?;
        let handle = begins::<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>(handle, SEMAPHORE_HANDLE)?;
        check(api::cuImportExternalSemaphore(semaphore, handle.as_ptr()))
    }
    fn cudaSignalExternalSemaphoresAsync(
        semaphores: *const CUexternalSemaphore, parameters: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, count: c_uint,
        stream: CUstream
    ) own cudaSignalExternalSemaphoresAsync_ptsz {
        // CUDA 12 has a shorter structure under this name, which programs of it do not use.
        if is_12() { return Err(refused(c"cudaSignalExternalSemaphoresAsync")); }
        signal(semaphores, parameters, count, stream)
    }
    fn cudaSignalExternalSemaphoresAsync_v2(
        semaphores: *const CUexternalSemaphore, parameters: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, count: c_uint,
        stream: CUstream
    ) own cudaSignalExternalSemaphoresAsync_v2_ptsz {
        signal(semaphores, parameters, count, stream)
    }
    fn cudaWaitExternalSemaphoresAsync(
        semaphores: *const CUexternalSemaphore, parameters: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, count: c_uint,
        stream: CUstream
    ) own cudaWaitExternalSemaphoresAsync_ptsz {
        if is_12() { return Err(refused(c"cudaWaitExternalSemaphoresAsync")); }
        wait(semaphores, parameters, count, stream)
    }
    fn cudaWaitExternalSemaphoresAsync_v2(
        semaphores: *const CUexternalSemaphore, parameters: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, count: c_uint,
        stream: CUstream
    ) own cudaWaitExternalSemaphoresAsync_v2_ptsz {
        wait(semaphores, parameters, count, stream)
    }
}
