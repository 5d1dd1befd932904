use crate::context::{self, known};
use crate::define::{exports, on, passed};
use crate::error::check;
use cuda_driver::api;
use cuda_driver::raw::{CUarray, CUdeviceptr, CUgraphicsResource, CUmipmappedArray, CUstream};
use cuda_driver::types::{CUkernel, CUlibrary};
use std::ffi::{c_char, c_int, c_uint, c_void};

passed! {
    fn cudaLibraryLoadData = cuLibraryLoadData(
        library: *mut CUlibrary, code: *const c_void, options: *mut c_uint, values: *mut *mut c_void, count: c_uint,
        library_options: *mut c_uint, library_values: *mut *mut c_void, library_count: c_uint
    );
    fn cudaLibraryLoadFromFile = cuLibraryLoadFromFile(
        library: *mut CUlibrary, file: *const c_char, options: *mut c_uint, values: *mut *mut c_void, count: c_uint,
        library_options: *mut c_uint, library_values: *mut *mut c_void, library_count: c_uint
    );
    fn cudaLibraryUnload = cuLibraryUnload(library: CUlibrary);
    fn cudaLibraryGetKernel = cuLibraryGetKernel(kernel: *mut CUkernel, library: CUlibrary, name: *const c_char);
    fn cudaLibraryGetGlobal =
        cuLibraryGetGlobal(address: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
    fn cudaLibraryGetManaged =
        cuLibraryGetManaged(address: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char);
    fn cudaLibraryGetKernelCount = cuLibraryGetKernelCount(count: *mut c_uint, library: CUlibrary);
    fn cudaLibraryEnumerateKernels =
        cuLibraryEnumerateKernels(kernels: *mut CUkernel, count: c_uint, library: CUlibrary);

    fn cudaGraphicsUnregisterResource = cuGraphicsUnregisterResource(resource: CUgraphicsResource);
    fn cudaGraphicsResourceSetMapFlags = cuGraphicsResourceSetMapFlags_v2(resource: CUgraphicsResource, flags: c_uint);
    fn cudaGraphicsResourceGetMappedPointer = cuGraphicsResourceGetMappedPointer_v2(
        pointer: *mut CUdeviceptr, bytes: *mut usize, resource: CUgraphicsResource
    );
    fn cudaGraphicsSubResourceGetMappedArray = cuGraphicsSubResourceGetMappedArray(
        array: *mut CUarray, resource: CUgraphicsResource, index: c_uint, level: c_uint
    );
    fn cudaGraphicsResourceGetMappedMipmappedArray =
        cuGraphicsResourceGetMappedMipmappedArray(array: *mut CUmipmappedArray, resource: CUgraphicsResource);
}

exports! {
    fn cudaKernelSetAttributeForDevice(kernel: CUkernel, attribute: c_uint, value: c_int, device: c_int) {
        context::enter()?;
        check(api::cuKernelSetAttribute(attribute, value, kernel, known(device)?))
    }
    fn cudaGraphicsMapResources(count: c_int, resources: *mut CUgraphicsResource, stream: CUstream) {
        context::enter()?;
        check(api::cuGraphicsMapResources(count.cast_unsigned(), resources, on(stream)))
    }
    fn cudaGraphicsUnmapResources(count: c_int, resources: *mut CUgraphicsResource, stream: CUstream) {
        context::enter()?;
        check(api::cuGraphicsUnmapResources(count.cast_unsigned(), resources, on(stream)))
    }
}
