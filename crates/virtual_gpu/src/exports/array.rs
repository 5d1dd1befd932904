use super::arguments::{In, Out, handle};
use super::define::exports;
use super::descriptor::box_of;
use super::transfer::slices;
use crate::array_work::{BoxCopy, BoxSide};
use crate::arrays::ArrayRequest;
use crate::code::{CuResult, INVALID_HANDLE};
use crate::driver::Driver;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUarray, CUdeviceptr,
    CUmipmappedArray, CUstream,
};
use std::ffi::{c_uint, c_void};

fn request(descriptor: &In<CUDA_ARRAY3D_DESCRIPTOR>) -> CuResult<ArrayRequest> {
    let one = descriptor.pointer()?;
    // SAFETY: valid by the type; the format is read as the integer that it is in C.
    unsafe {
        let format = (&raw const (*one).Format).cast::<c_uint>().read();
        Ok(ArrayRequest {
            width: (*one).Width,
            height: (*one).Height,
            depth: (*one).Depth,
            format,
            channels: (*one).NumChannels,
            flags: (*one).Flags,
        })
    }
}

fn make(driver: &mut Driver, target: Out<CUarray>, request: ArrayRequest) -> CuResult {
    target.given()?;
    let array = driver.make_arrays(request, 1)?.remove(0);
    target.write(handle(driver.objects.arrays.add(array)))
}

fn array_at(array: CUarray, byte: usize) -> BoxSide {
    BoxSide::Array { handle: array.addr(), byte, y: 0, z: 0 }
}

/// Copies bytes of the first row of an array, asynchronously where there is a stream.
fn line(
    driver: &mut Driver,
    stream: Option<usize>,
    [target, source]: [BoxSide; 2],
    bytes: usize,
) -> CuResult {
    if let Some(stream) = stream
        && driver.objects.stream(stream)?.capture.is_some()
    {
        return Err(driver.unsupported("capturing copies of arrays"));
    }
    driver.copy_box(stream, &BoxCopy { target, source, extent: [bytes, 1, 1] })
}

fn plain(address: u64, bytes: usize) -> BoxSide {
    BoxSide::Plain { address, pitch: bytes, rows: 1 }
}

fn copy_3d(driver: &mut Driver, stream: Option<usize>, descriptor: &In<CUDA_MEMCPY3D>) -> CuResult {
    let planned = box_of(descriptor)?;
    if let (BoxSide::Plain { .. }, BoxSide::Plain { .. }) = (planned.target, planned.source) {
        return slices(driver, stream, planned);
    }
    if let Some(stream) = stream
        && driver.objects.stream(stream)?.capture.is_some()
    {
        return Err(driver.unsupported("capturing copies of arrays"));
    }
    driver.copy_box(stream, &planned)
}

exports! {
    fn cuArrayCreate_v2(driver, array: Out<CUarray>, descriptor: In<CUDA_ARRAY_DESCRIPTOR>) {
        let one = descriptor.pointer()?;
        // SAFETY: valid by the type; the format is read as the integer that it is in C.
        let request = unsafe {
            ArrayRequest {
                width: (*one).Width,
                height: (*one).Height,
                format: (&raw const (*one).Format).cast::<c_uint>().read(),
                channels: (*one).NumChannels,
                ..ArrayRequest::default()
            }
        };
        make(driver, array, request)
    }
    fn cuArray3DCreate_v2(driver, array: Out<CUarray>, descriptor: In<CUDA_ARRAY3D_DESCRIPTOR>) {
        let request = request(&descriptor)?;
        make(driver, array, request)
    }
    fn cuArrayGetDescriptor_v2(driver, descriptor: Out<CUDA_ARRAY_DESCRIPTOR>, array: CUarray) {
        let request = driver.objects.arrays.get(array.addr())?.request;
        let one = descriptor.pointer()?;
        // SAFETY: valid by the type; the format is a number that C knows, because an array has it.
        unsafe {
            (*one).Width = request.width;
            (*one).Height = request.height;
            (&raw mut (*one).Format).cast::<c_uint>().write(request.format);
            (*one).NumChannels = request.channels;
        }
        Ok(())
    }
    fn cuArray3DGetDescriptor_v2(driver, descriptor: Out<CUDA_ARRAY3D_DESCRIPTOR>, array: CUarray) {
        let request = driver.objects.arrays.get(array.addr())?.request;
        let one = descriptor.pointer()?;
        // SAFETY: valid by the type; the format is a number that C knows, because an array has it.
        unsafe {
            (*one).Width = request.width;
            (*one).Height = request.height;
            (*one).Depth = request.depth;
            (&raw mut (*one).Format).cast::<c_uint>().write(request.format);
            (*one).NumChannels = request.channels;
            (*one).Flags = request.flags;
        }
        Ok(())
    }
    fn cuArrayDestroy(driver, array: CUarray) {
        driver.free_array(array.addr())
    }
    fn cuMipmappedArrayCreate(
        driver, target: Out<CUmipmappedArray>, descriptor: In<CUDA_ARRAY3D_DESCRIPTOR>, levels: c_uint
    ) {
        let request = request(&descriptor)?;
        target.given()?;
        let arrays = driver.make_arrays(request, levels as usize)?;
        let levels = arrays.into_iter().map(|array| driver.objects.arrays.add(array)).collect();
        target.write(handle(driver.objects.mipmaps.add(levels)))
    }
    fn cuMipmappedArrayGetLevel(driver, target: Out<CUarray>, array: CUmipmappedArray, level: c_uint) {
        let levels = driver.objects.mipmaps.get(array.addr())?;
        let level = *levels.get(level as usize).ok_or(ReturnCode::INVALID_VALUE)?;
        target.write(handle(level))
    }
    fn cuMipmappedArrayDestroy(driver, array: CUmipmappedArray) {
        driver.free_mipmaps(array.addr())
    }
    #[cost(Copy)]
    fn cuMemcpyHtoA_v2(driver, array: CUarray, offset: usize, source: *const c_void, bytes: usize) {
        line(driver, None, [array_at(array, offset), plain(source.expose_provenance() as u64, bytes)], bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyAtoH_v2(driver, target: *mut c_void, array: CUarray, offset: usize, bytes: usize) {
        line(driver, None, [plain(target.expose_provenance() as u64, bytes), array_at(array, offset)], bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyDtoA_v2(driver, array: CUarray, offset: usize, source: CUdeviceptr, bytes: usize) {
        line(driver, None, [array_at(array, offset), plain(source, bytes)], bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyAtoD_v2(driver, target: CUdeviceptr, array: CUarray, offset: usize, bytes: usize) {
        line(driver, None, [plain(target, bytes), array_at(array, offset)], bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyAtoA_v2(
        driver, target: CUarray, to: usize, source: CUarray, from: usize, bytes: usize
    ) {
        line(driver, None, [array_at(target, to), array_at(source, from)], bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyHtoAAsync_v2(
        driver, array: CUarray, offset: usize, source: *const c_void, bytes: usize, stream: CUstream
    ) {
        line(driver, Some(stream.addr()), [array_at(array, offset), plain(source.expose_provenance() as u64, bytes)], bytes)
    }
    #[cost(Copy)]
    fn cuMemcpyAtoHAsync_v2(
        driver, target: *mut c_void, array: CUarray, offset: usize, bytes: usize, stream: CUstream
    ) {
        line(driver, Some(stream.addr()), [plain(target.expose_provenance() as u64, bytes), array_at(array, offset)], bytes)
    }
    #[cost(Copy)]
    fn cuMemcpy3D_v2(driver, descriptor: In<CUDA_MEMCPY3D>) {
        copy_3d(driver, None, &descriptor)
    }
    #[cost(Copy)]
    fn cuMemcpy3DAsync_v2(driver, descriptor: In<CUDA_MEMCPY3D>, stream: CUstream) {
        copy_3d(driver, Some(stream.addr()), &descriptor)
    }
    fn cuArrayGetPlane(_machine, _plane: *mut CUarray, _array: CUarray, _index: c_uint) {
        Err(INVALID_HANDLE)
    }
}
