//! Arrays, mipmapped arrays, and copies to and from them.

use super::arguments::{handle, out};
use super::define::exports;
use crate::array_work::{BoxCopy, BoxSide};
use crate::arrays::ArrayRequest;
use crate::code::{CuResult, INVALID_HANDLE};
use crate::driver::Driver;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUarray,
    CUdeviceptr, CUmipmappedArray, CUstream,
};
use std::ffi::{c_uint, c_void};

/// `CU_MEMORYTYPE_ARRAY`.
const ARRAY: c_uint = 3;

/// Returns what a descriptor asks for.
///
/// # Safety
/// `descriptor` is null or valid for reads; its format is read as the integer that it is in C.
unsafe fn request(descriptor: *const CUDA_ARRAY3D_DESCRIPTOR) -> CuResult<ArrayRequest> {
    if descriptor.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: not null, so valid by the contract.
    unsafe {
        let format = (&raw const (*descriptor).Format).cast::<c_uint>().read();
        Ok(ArrayRequest {
            width: (*descriptor).Width,
            height: (*descriptor).Height,
            depth: (*descriptor).Depth,
            format,
            channels: (*descriptor).NumChannels,
            flags: (*descriptor).Flags,
        })
    }
}

/// # Safety
/// `target` is null or valid for a write.
unsafe fn make(driver: &mut Driver, target: *mut CUarray, request: ArrayRequest) -> CuResult {
    if target.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    let array = driver.make_arrays(request, 1)?.remove(0);
    let number = driver.objects.arrays.add(array);
    // SAFETY: by the contract.
    unsafe { out(target, handle(number)) }
}

fn array_at(array: CUarray, byte: usize) -> BoxSide {
    BoxSide::Array { handle: array.addr(), byte, y: 0, z: 0 }
}

/// Copies bytes of the first row of an array.
fn line(driver: &mut Driver, target: BoxSide, source: BoxSide, bytes: usize) -> CuResult {
    driver.copy_box(&BoxCopy { target, source, extent: [bytes, 1, 1] })
}

fn plain(address: u64, bytes: usize) -> BoxSide {
    BoxSide::Plain { address, pitch: bytes, rows: 1 }
}

/// One side of a copy as a descriptor gives it: kind of memory, host and device address, array, offset, pitch and rows.
struct Described {
    kind: c_uint,
    host: u64,
    device: u64,
    array: CUarray,
    at: [usize; 3],
    pitch: usize,
    rows: usize,
}

impl Described {
    fn side(&self, [width, height, _]: [usize; 3]) -> CuResult<BoxSide> {
        let [x, y, z] = self.at;
        let base = match self.kind {
            1 => self.host,
            2 | 4 => self.device,
            ARRAY => return Ok(BoxSide::Array { handle: self.array.addr(), byte: x, y, z }),
            _ => return Err(ReturnCode::INVALID_VALUE),
        };
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let rows = if self.rows == 0 { height } else { self.rows };
        let before = z.checked_mul(rows).and_then(|rows| rows.checked_add(y));
        let before = before.and_then(|rows| rows.checked_mul(pitch)?.checked_add(x));
        let address = before.and_then(|before| base.checked_add(before as u64));
        Ok(BoxSide::Plain { address: address.ok_or(ReturnCode::INVALID_VALUE)?, pitch, rows })
    }
}

/// The copy of a plane of which a side is an array; none where both are plain memory.
///
/// # Safety
/// `descriptor` is null or valid for reads; its enums are read as the integers that they are in C.
pub(super) unsafe fn planned(descriptor: *const CUDA_MEMCPY2D) -> CuResult<Option<BoxCopy>> {
    if descriptor.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: not null, so valid by the contract.
    unsafe {
        let one = &raw const *descriptor;
        let extent = [(*one).WidthInBytes, (*one).Height, 1];
        let source = Described {
            kind: (&raw const (*one).srcMemoryType).cast::<c_uint>().read(),
            host: (*one).srcHost.expose_provenance() as u64,
            device: (*one).srcDevice,
            array: (*one).srcArray,
            at: [(*one).srcXInBytes, (*one).srcY, 0],
            pitch: (*one).srcPitch,
            rows: 0,
        };
        let target = Described {
            kind: (&raw const (*one).dstMemoryType).cast::<c_uint>().read(),
            host: (*one).dstHost.expose_provenance() as u64,
            device: (*one).dstDevice,
            array: (*one).dstArray,
            at: [(*one).dstXInBytes, (*one).dstY, 0],
            pitch: (*one).dstPitch,
            rows: 0,
        };
        if source.kind != ARRAY && target.kind != ARRAY {
            return Ok(None);
        }
        let (source, target) = (source.side(extent)?, target.side(extent)?);
        Ok(Some(BoxCopy { target, source, extent }))
    }
}

/// # Safety
/// `descriptor` is null or valid for reads; its enums are read as the integers that they are in C.
unsafe fn copy_3d(driver: &mut Driver, descriptor: *const CUDA_MEMCPY3D) -> CuResult {
    if descriptor.is_null() {
        return Err(ReturnCode::INVALID_VALUE);
    }
    // SAFETY: not null, so valid by the contract.
    unsafe {
        let one = &raw const *descriptor;
        let extent = [(*one).WidthInBytes, (*one).Height, (*one).Depth];
        let source = Described {
            kind: (&raw const (*one).srcMemoryType).cast::<c_uint>().read(),
            host: (*one).srcHost.expose_provenance() as u64,
            device: (*one).srcDevice,
            array: (*one).srcArray,
            at: [(*one).srcXInBytes, (*one).srcY, (*one).srcZ],
            pitch: (*one).srcPitch,
            rows: (*one).srcHeight,
        };
        let target = Described {
            kind: (&raw const (*one).dstMemoryType).cast::<c_uint>().read(),
            host: (*one).dstHost.expose_provenance() as u64,
            device: (*one).dstDevice,
            array: (*one).dstArray,
            at: [(*one).dstXInBytes, (*one).dstY, (*one).dstZ],
            pitch: (*one).dstPitch,
            rows: (*one).dstHeight,
        };
        let (source, target) = (source.side(extent)?, target.side(extent)?);
        driver.copy_box(&BoxCopy { target, source, extent })
    }
}

exports! {
    fn cuArrayCreate_v2(driver, array: *mut CUarray, descriptor: *const CUDA_ARRAY_DESCRIPTOR) {
        if descriptor.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let request = ArrayRequest {
            width: (*descriptor).Width,
            height: (*descriptor).Height,
            format: (&raw const (*descriptor).Format).cast::<c_uint>().read(),
            channels: (*descriptor).NumChannels,
            ..ArrayRequest::default()
        };
        make(driver, array, request)
    }
    fn cuArray3DCreate_v2(driver, array: *mut CUarray, descriptor: *const CUDA_ARRAY3D_DESCRIPTOR) {
        let request = request(descriptor)?;
        make(driver, array, request)
    }
    fn cuArrayGetDescriptor_v2(driver, descriptor: *mut CUDA_ARRAY_DESCRIPTOR, array: CUarray) {
        let request = driver.objects.arrays.get(array.addr())?.request;
        if descriptor.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        (&raw mut (*descriptor).Width).write(request.width);
        (&raw mut (*descriptor).Height).write(request.height);
        (&raw mut (*descriptor).Format).cast::<c_uint>().write(request.format);
        (&raw mut (*descriptor).NumChannels).write(request.channels);
        Ok(())
    }
    fn cuArray3DGetDescriptor_v2(driver, descriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, array: CUarray) {
        let request = driver.objects.arrays.get(array.addr())?.request;
        if descriptor.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        (&raw mut (*descriptor).Width).write(request.width);
        (&raw mut (*descriptor).Height).write(request.height);
        (&raw mut (*descriptor).Depth).write(request.depth);
        (&raw mut (*descriptor).Format).cast::<c_uint>().write(request.format);
        (&raw mut (*descriptor).NumChannels).write(request.channels);
        (&raw mut (*descriptor).Flags).write(request.flags);
        Ok(())
    }
    fn cuArrayDestroy(driver, array: CUarray) {
        driver.free_array(array.addr())
    }
    fn cuMipmappedArrayCreate(
        driver, target: *mut CUmipmappedArray, descriptor: *const CUDA_ARRAY3D_DESCRIPTOR, levels: c_uint
    ) {
        let request = request(descriptor)?;
        if target.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let arrays = driver.make_arrays(request, levels as usize)?;
        let levels = arrays.into_iter().map(|array| driver.objects.arrays.add(array)).collect();
        out(target, handle(driver.objects.mipmaps.add(levels)))
    }
    fn cuMipmappedArrayGetLevel(driver, target: *mut CUarray, array: CUmipmappedArray, level: c_uint) {
        let levels = driver.objects.mipmaps.get(array.addr())?;
        let level = *levels.get(level as usize).ok_or(ReturnCode::INVALID_VALUE)?;
        out(target, handle(level))
    }
    fn cuMipmappedArrayDestroy(driver, array: CUmipmappedArray) {
        driver.free_mipmaps(array.addr())
    }
    #[cost(Copy)]
    fn cuMemcpyHtoA_v2(driver, array: CUarray, offset: usize, source: *const c_void, bytes: usize) {
        line(driver, array_at(array, offset), plain(source.expose_provenance() as u64, bytes), bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyAtoH_v2(driver, target: *mut c_void, array: CUarray, offset: usize, bytes: usize) {
        line(driver, plain(target.expose_provenance() as u64, bytes), array_at(array, offset), bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyDtoA_v2(driver, array: CUarray, offset: usize, source: CUdeviceptr, bytes: usize) {
        line(driver, array_at(array, offset), plain(source, bytes), bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyAtoD_v2(driver, target: CUdeviceptr, array: CUarray, offset: usize, bytes: usize) {
        line(driver, plain(target, bytes), array_at(array, offset), bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyAtoA_v2(
        driver, target: CUarray, to: usize, source: CUarray, from: usize, bytes: usize
    ) {
        line(driver, array_at(target, to), array_at(source, from), bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyHtoAAsync_v2(
        driver, array: CUarray, offset: usize, source: *const c_void, bytes: usize, stream: CUstream
    ) {
        driver.objects.stream(stream.addr())?;
        line(driver, array_at(array, offset), plain(source.expose_provenance() as u64, bytes), bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyAtoHAsync_v2(
        driver, target: *mut c_void, array: CUarray, offset: usize, bytes: usize, stream: CUstream
    ) {
        driver.objects.stream(stream.addr())?;
        line(driver, plain(target.expose_provenance() as u64, bytes), array_at(array, offset), bytes)
    }
    #[cost(Copy)]
    fn cuMemcpy3D_v2(driver, descriptor: *const CUDA_MEMCPY3D) {
        copy_3d(driver, descriptor)
    }
    #[cost(Copy)]
    fn cuMemcpy3DAsync_v2(driver, descriptor: *const CUDA_MEMCPY3D, stream: CUstream) {
        if driver.objects.stream(stream.addr())?.capture.is_some() {
            return Err(driver.unsupported("capturing copies of arrays"));
        }
        copy_3d(driver, descriptor)
    }
    fn cuArrayGetPlane(_machine, _plane: *mut CUarray, _array: CUarray, _index: c_uint) {
        Err(INVALID_HANDLE)
    }
}
