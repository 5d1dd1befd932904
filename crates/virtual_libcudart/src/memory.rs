use crate::context;
use crate::define::{Result, exports, in_order, is_own, on, out, per_thread};
use crate::error::{Error, check};
use crate::kernel::attribute_of;
use crate::record;
use cuda_driver::raw::{CUdeviceptr, CUstream};
use cuda_driver::types::MemoryLocation;
use cuda_driver::{ReturnCode, api};
use std::ffi::{c_int, c_uchar, c_uint, c_void};
use std::ptr::null_mut;

/// An extent (`cudaExtent`): its width is in bytes for linear memory, in elements for an array.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Along x.
    pub width: usize,
    /// Along y.
    pub height: usize,
    /// Along z.
    pub depth: usize,
}

/// Rows in memory (`cudaPitchedPtr`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Pitched {
    /// The first byte.
    pub pointer: *mut c_void,
    /// Bytes from a row to the next.
    pub pitch: usize,
    /// Bytes of a row that are used.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
}

/// Facts of a pointer (`cudaPointerAttributes`). CUDA 13 has room for more behind it.
#[repr(C)]
struct PointerAttributes {
    kind: c_int,
    device: c_int,
    device_pointer: *mut c_void,
    host_pointer: *mut c_void,
}

const _: () = assert!(size_of::<Extent>() == 24 && size_of::<Pitched>() == 32);
const _: () = assert!(size_of::<PointerAttributes>() == 24);

/// Returns an address of the device as the driver wants it.
pub fn address(pointer: *const c_void) -> CUdeviceptr {
    pointer.addr() as CUdeviceptr
}

/// Bytes of the elements for which rows are aligned.
const PITCH_ELEMENT: c_uint = 16;

unsafe fn allocate(
    pointer: *mut *mut c_void,
    bytes: usize,
    take: impl FnOnce(&mut CUdeviceptr) -> ReturnCode,
) -> Result {
    context::enter()?;
    // SAFETY: the caller hands over a place for the address.
    let pointer = unsafe { out(pointer) }?;
    *pointer = null_mut();
    if bytes > 0 {
        let mut taken = 0;
        check(take(&mut taken))?;
        record::given(taken, bytes);
        *pointer = taken as *mut c_void;
    }
    Ok(())
}

unsafe fn allocate_rows(
    pointer: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    rows: usize,
) -> Result {
    // SAFETY: the caller hands over places for address and pitch.
    unsafe {
        let pitch = out(pitch)?;
        *pitch = 0;
        allocate(pointer, width.saturating_mul(rows), |taken| {
            api::cuMemAllocPitch_v2(taken, pitch, width, rows, PITCH_ELEMENT)
        })
    }
}

/// Frees memory by the function of the driver that the program names.
unsafe fn free(pointer: *mut c_void, give: impl FnOnce(CUdeviceptr) -> ReturnCode) -> Result {
    context::enter()?;
    if pointer.is_null() {
        return Ok(());
    }
    record::freed(address(pointer));
    check(give(address(pointer)))
}

/// Fills rows, in the order of a stream or before the call returns.
unsafe fn fill(
    pointer: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    rows: usize,
    stream: Option<CUstream>,
) -> Result {
    context::enter()?;
    if width == 0 || rows == 0 {
        return Ok(());
    }
    if rows > 1 && pitch < width {
        return Err(Error::INVALID_VALUE);
    }
    let (target, value) = (address(pointer), value as c_uchar);
    let stream = stream.map(on).or(is_own().then(per_thread));
    // SAFETY: the driver checks what it is given.
    check(unsafe {
        match (stream, rows) {
            (None, 1) => api::cuMemsetD8_v2(target, value, width),
            (None, rows) => api::cuMemsetD2D8_v2(target, pitch, value, width, rows),
            (Some(stream), 1) => api::cuMemsetD8Async(target, value, width, stream),
            (Some(stream), rows) => {
                api::cuMemsetD2D8Async(target, pitch, value, width, rows, stream)
            }
        }
    })
}

unsafe fn fill_slices(
    rows: Pitched,
    value: c_int,
    extent: Extent,
    stream: Option<CUstream>,
) -> Result {
    if extent.depth <= 1 || extent.height == rows.height {
        // SAFETY: as for the caller.
        return unsafe {
            fill(
                rows.pointer,
                rows.pitch,
                value,
                extent.width,
                extent.height * extent.depth,
                stream,
            )
        };
    }
    for slice in 0..extent.depth {
        let first = rows.pointer.wrapping_byte_add(slice * rows.pitch * rows.height);
        // SAFETY: as for the caller.
        unsafe { fill(first, rows.pitch, value, extent.width, extent.height, stream) }?;
    }
    Ok(())
}

/// Returns an attribute of a pointer, if the driver knows it.
unsafe fn pointer_attribute<T: Default>(attribute: c_uint, pointer: *const c_void) -> Option<T> {
    let mut value = T::default();
    // SAFETY: the caller names an attribute of this size.
    let known =
        unsafe { api::cuPointerGetAttribute((&raw mut value).cast(), attribute, address(pointer)) };
    (known == ReturnCode::SUCCESS).then_some(value)
}

/// The place that a program names by a number (12) or a structure (13): a device, or the host.
///
/// Both are handed over in one register, of which CUDA 12 uses the lower half.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Place {
    first: c_int,
    second: c_int,
}

impl Place {
    fn location(self) -> MemoryLocation {
        match (crate::version::is_12(), self.first) {
            (true, ..0) => MemoryLocation::host(),
            (true, device) => MemoryLocation::device(device),
            (false, kind) => MemoryLocation { kind: kind.cast_unsigned(), id: self.second },
        }
    }
}

/// Moves managed memory.
///
/// # Safety
/// - The driver checks what it is given.
pub unsafe fn prefetch(
    pointer: *const c_void,
    bytes: usize,
    location: MemoryLocation,
    stream: CUstream,
) -> Result {
    context::enter()?;
    // SAFETY: the driver checks what it is given.
    check(unsafe { api::cuMemPrefetchAsync_v2(address(pointer), bytes, location, 0, on(stream)) })
}

/// Says how managed memory is used.
unsafe fn advise(
    pointer: *const c_void,
    bytes: usize,
    advice: c_uint,
    location: MemoryLocation,
) -> Result {
    context::enter()?;
    // SAFETY: the driver checks what it is given.
    check(unsafe { api::cuMemAdvise_v2(address(pointer), bytes, advice, location) })
}

in_order! {
    fn cudaMemset, cudaMemsetAsync(
        pointer: *mut c_void, value: c_int, bytes: usize
    ) own cudaMemset_ptds, cudaMemsetAsync_ptsz: |stream| fill(pointer, bytes, value, bytes, 1, stream);
    fn cudaMemset2D, cudaMemset2DAsync(
        pointer: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize
    ) own cudaMemset2D_ptds, cudaMemset2DAsync_ptsz: |stream| fill(pointer, pitch, value, width, height, stream);
    fn cudaMemset3D, cudaMemset3DAsync(
        rows: Pitched, value: c_int, extent: Extent
    ) own cudaMemset3D_ptds, cudaMemset3DAsync_ptsz: |stream| fill_slices(rows, value, extent, stream);
}

exports! {
    fn cudaMalloc(pointer: *mut *mut c_void, bytes: usize) {
        allocate(pointer, bytes, |taken| api::cuMemAlloc_v2(taken, bytes))
    }
    fn cudaMallocManaged(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) {
        if bytes == 0 { return Err(Error::INVALID_VALUE); }
        allocate(pointer, bytes, |taken| api::cuMemAllocManaged(taken, bytes, flags))
    }
    fn cudaMallocPitch(pointer: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) {
        allocate_rows(pointer, pitch, width, height)
    }
    fn cudaMalloc3D(rows: *mut Pitched, extent: Extent) {
        let rows = out(rows)?;
        *rows = Pitched { pointer: null_mut(), pitch: 0, width: extent.width, height: extent.height };
        allocate_rows(&raw mut rows.pointer, &raw mut rows.pitch, extent.width, extent.height.saturating_mul(extent.depth))
    }
    fn cudaFree(pointer: *mut c_void) {
        context::enter()?;
        if pointer.is_null() {
            // Nothing is freed, but what failed before is told, as on an H200.
            let (mut free, mut total) = (0, 0);
            return check(api::cuMemGetInfo_v2(&raw mut free, &raw mut total));
        }
        free(pointer, |pointer| api::cuMemFree_v2(pointer))
    }
    fn cudaMallocAsync(pointer: *mut *mut c_void, bytes: usize, stream: CUstream) own cudaMallocAsync_ptsz {
        allocate(pointer, bytes, |taken| api::cuMemAllocAsync(taken, bytes, on(stream)))
    }
    fn cudaFreeAsync(pointer: *mut c_void, stream: CUstream) own cudaFreeAsync_ptsz {
        free(pointer, |pointer| api::cuMemFreeAsync(pointer, on(stream)))
    }
    fn cudaMallocHost(pointer: *mut *mut c_void, bytes: usize) {
        context::enter()?;
        let pointer = out(pointer)?;
        *pointer = null_mut();
        if bytes == 0 { Ok(()) } else { check(api::cuMemAllocHost_v2(pointer, bytes)) }
    }
    fn cudaHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) {
        context::enter()?;
        let pointer = out(pointer)?;
        *pointer = null_mut();
        if bytes == 0 { Ok(()) } else { check(api::cuMemHostAlloc(pointer, bytes, flags)) }
    }
    fn cudaFreeHost(pointer: *mut c_void) {
        context::enter()?;
        if pointer.is_null() { Ok(()) } else { check(api::cuMemFreeHost(pointer)) }
    }
    fn cudaHostRegister(pointer: *mut c_void, bytes: usize, flags: c_uint) {
        context::enter()?;
        check(api::cuMemHostRegister_v2(pointer, bytes, flags))
    }
    fn cudaHostUnregister(pointer: *mut c_void) {
        context::enter()?;
        check(api::cuMemHostUnregister(pointer))
    }
    fn cudaHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: c_uint) {
        context::enter()?;
        check(api::cuMemHostGetDevicePointer_v2(device.cast(), host, flags))
    }
    fn cudaHostGetFlags(flags: *mut c_uint, host: *mut c_void) {
        context::enter()?;
        check(api::cuMemHostGetFlags(flags, host))
    }
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) {
        context::enter()?;
        check(api::cuMemGetInfo_v2(free, total))
    }
    fn cudaPointerGetAttributes(attributes: *mut c_void, pointer: *const c_void) {
        context::enter()?;
        let attributes = out(attributes.cast::<PointerAttributes>())?;
        // `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`: 1 is the host, 2 the device.
        let Some(kind) = pointer_attribute::<c_uint>(2, pointer) else {
            // Memory of the host that the driver does not know: `cudaMemoryTypeUnregistered`, `cudaInvalidDeviceId`.
            *attributes = PointerAttributes { kind: 0, device: -2, device_pointer: null_mut(), host_pointer: pointer.cast_mut() };
            return Ok(());
        };
        // 8 is whether it is managed, 9 the device, 3 and 4 the address there and of the host.
        let is_managed = pointer_attribute::<c_uint>(8, pointer).is_some_and(|it| it != 0);
        *attributes = PointerAttributes {
            kind: if is_managed { 3 } else { kind.cast_signed() },
            device: pointer_attribute(9, pointer).unwrap_or(-2),
            device_pointer: pointer_attribute::<usize>(3, pointer).unwrap_or(0) as *mut c_void,
            host_pointer: pointer_attribute::<usize>(4, pointer).unwrap_or(0) as *mut c_void,
        };
        Ok(())
    }
    fn cudaMemPrefetchAsync(
        pointer: *const c_void, bytes: usize, place: Place, flags_or_stream: usize, stream: CUstream
    ) own cudaMemPrefetchAsync_ptsz {
        // CUDA 12 hands over no flags: its fourth argument is the stream.
        let stream = if crate::version::is_12() { flags_or_stream as CUstream } else { stream };
        prefetch(pointer, bytes, place.location(), stream)
    }
    fn cudaMemPrefetchAsync_v2(
        pointer: *const c_void, bytes: usize, location: MemoryLocation, _flags: c_uint, stream: CUstream
    ) own cudaMemPrefetchAsync_v2_ptsz {
        prefetch(pointer, bytes, location, stream)
    }
    fn cudaMemAdvise(pointer: *const c_void, bytes: usize, advice: c_uint, place: Place) {
        advise(pointer, bytes, advice, place.location())
    }
    fn cudaMemAdvise_v2(pointer: *const c_void, bytes: usize, advice: c_uint, location: MemoryLocation) {
        advise(pointer, bytes, advice, location)
    }
    fn cudaMemRangeGetAttribute(data: *mut c_void, bytes: usize, attribute: c_uint, pointer: *const c_void, count: usize) {
        context::enter()?;
        check(api::cuMemRangeGetAttribute(data, bytes, attribute, address(pointer), count))
    }
    fn cudaMemRangeGetAttributes(
        data: *mut *mut c_void, sizes: *mut usize, attributes: *mut c_uint, number: usize, pointer: *const c_void, count: usize
    ) {
        context::enter()?;
        check(api::cuMemRangeGetAttributes(data, sizes, attributes, number, address(pointer), count))
    }
    fn cudaCtxResetPersistingL2Cache() {
        context::enter()?;
        check(api::cuCtxResetPersistingL2Cache())
    }
}

/// Checks that the device takes rows of this pitch.
pub fn check_pitch(pitch: usize, width: usize) -> Result {
    let device = context::enter()?;
    // `CU_DEVICE_ATTRIBUTE_MAX_PITCH`.
    let most = attribute_of(device, 11)? as usize;
    if pitch < width || pitch > most { Err(Error::INVALID_PITCH) } else { Ok(()) }
}
