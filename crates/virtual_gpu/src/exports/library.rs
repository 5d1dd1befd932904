//! Libraries and their kernels, which belong to no context in the driver's documents. Here a library is a module of the
//! device that is current when it is loaded, and a kernel is a function of it.

use super::arguments::{Image, In, Out, handle};
use super::define::exports;
use super::image::{ptx_of, ptx_of_file};
use super::kernel::{function_attribute, load, set_function_attribute, unload};
use crate::code::NOT_FOUND;
use crate::launching::{function_in, kernel_of};
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUdevice, CUdeviceptr, CUfunction, CUmodule};
use cuda_driver::types::{CUkernel, CUlibrary};
use std::ffi::{c_char, c_int, c_uint, c_void};

exports! {
    fn cuLibraryLoadData(
        driver, library: Out<CUlibrary>, code: Image, _options: *mut c_uint, _values: *mut *mut c_void,
        _count: c_uint, _library_options: *mut c_uint, _library_values: *mut *mut c_void, _library_count: c_uint
    ) {
        let ptx = ptx_of(driver, &code)?;
        library.write(handle(load(driver, &ptx)?))
    }
    fn cuLibraryLoadFromFile(
        driver, library: Out<CUlibrary>, path: In<c_char>, _options: *mut c_uint, _values: *mut *mut c_void,
        _count: c_uint, _library_options: *mut c_uint, _library_values: *mut *mut c_void, _library_count: c_uint
    ) {
        let ptx = ptx_of_file(driver, path.read_file()?)?;
        library.write(handle(load(driver, &ptx)?))
    }
    fn cuLibraryUnload(driver, library: CUlibrary) {
        unload(driver, library.addr())
    }
    fn cuLibraryGetKernel(driver, kernel: Out<CUkernel>, library: CUlibrary, name: In<c_char>) {
        kernel.write(handle(function_in(driver, library.addr(), name.text()?)?))
    }
    fn cuLibraryGetModule(driver, module: Out<CUmodule>, library: CUlibrary) {
        driver.objects.modules.get(library.addr())?;
        module.write(handle(library.addr()))
    }
    fn cuLibraryGetGlobal(
        driver, pointer: Out<CUdeviceptr>, bytes: Out<usize>, library: CUlibrary, name: In<c_char>
    ) {
        let module = &driver.objects.modules.get(library.addr())?.module;
        let (address, size) = module.symbol(&driver.memory.device, &name.text()?).ok_or(NOT_FOUND)?;
        pointer.write_optional(address)?;
        bytes.write_optional(size as usize)
    }
    fn cuLibraryGetManaged(
        driver, pointer: Out<CUdeviceptr>, bytes: Out<usize>, library: CUlibrary, name: In<c_char>
    ) {
        let (module, name) = (&driver.objects.modules.get(library.addr())?.module, name.text()?);
        let is_managed = module.variables().iter().any(|variable| variable.name == name && variable.is_managed);
        let found = module.symbol(&driver.memory.device, &name).filter(|_| is_managed);
        let (address, size) = found.ok_or(NOT_FOUND)?;
        pointer.write_optional(address)?;
        bytes.write_optional(size as usize)
    }
    fn cuLibraryGetKernelCount(driver, count: Out<c_uint>, library: CUlibrary) {
        let module = &driver.objects.modules.get(library.addr())?.module;
        count.write(module.kernels().len() as c_uint)
    }
    fn cuLibraryEnumerateKernels(driver, kernels: Out<CUkernel>, count: c_uint, library: CUlibrary) {
        let module = driver.objects.modules.get(library.addr())?.module.clone();
        let found = module.kernels().iter().take(count as usize);
        let found = found.map(|kernel| function_in(driver, library.addr(), kernel.name.clone()).map(handle));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        // SAFETY: by the function's contract there is room for `count` kernels.
        unsafe { kernels.write_all(&found) }
    }
    fn cuKernelGetFunction(driver, function: Out<CUfunction>, kernel: CUkernel) {
        driver.objects.functions.get(kernel.addr())?;
        function.write(handle(kernel.addr()))
    }
    fn cuKernelGetLibrary(driver, library: Out<CUlibrary>, kernel: CUkernel) {
        library.write(handle(driver.objects.functions.get(kernel.addr())?.module))
    }
    fn cuKernelGetAttribute(driver, value: Out<c_int>, attribute: c_uint, kernel: CUkernel, _device: CUdevice) {
        value.write(function_attribute(driver, kernel.addr(), attribute)?.cast_signed())
    }
    fn cuKernelSetAttribute(driver, attribute: c_uint, value: c_int, kernel: CUkernel, _device: CUdevice) {
        set_function_attribute(driver, kernel.addr(), attribute, value)
    }
    fn cuKernelSetCacheConfig(driver, kernel: CUkernel, _config: c_uint, _device: CUdevice) {
        driver.objects.functions.get(kernel.addr()).map(|_| ())
    }
    fn cuKernelGetName(driver, name: Out<*const c_char>, kernel: CUkernel) {
        name.write(driver.objects.functions.get(kernel.addr())?.c_name.as_ptr())
    }
    fn cuKernelGetParamInfo(driver, kernel: CUkernel, index: usize, offset: Out<usize>, size: Out<usize>) {
        parameter(driver, kernel.addr(), index, offset, size)
    }
    fn cuFuncGetName(driver, name: Out<*const c_char>, function: CUfunction) {
        name.write(driver.objects.functions.get(function.addr())?.c_name.as_ptr())
    }
    fn cuFuncGetParamInfo(driver, function: CUfunction, index: usize, offset: Out<usize>, size: Out<usize>) {
        parameter(driver, function.addr(), index, offset, size)
    }
    fn cuFuncIsLoaded(driver, state: Out<c_uint>, function: CUfunction) {
        driver.objects.functions.get(function.addr())?;
        // Nothing is loaded later than its module here.
        state.write(1)
    }
    fn cuFuncLoad(driver, function: CUfunction) {
        driver.objects.functions.get(function.addr()).map(|_| ())
    }
    fn cuModuleGetFunctionCount(driver, count: Out<c_uint>, module: CUmodule) {
        let module = &driver.objects.modules.get(module.addr())?.module;
        count.write(module.kernels().len() as c_uint)
    }
    fn cuModuleGetLoadingMode(_machine, mode: Out<c_uint>) {
        // `CU_MODULE_EAGER_LOADING`.
        mode.write(1)
    }
}

fn parameter(
    driver: &crate::driver::Driver,
    function: usize,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> crate::code::CuResult {
    let (module, state) = kernel_of(driver, function)?;
    let kernel = module.kernel(&state.name).map_err(|_| NOT_FOUND)?;
    let parameter = kernel.parameters.get(index).ok_or(ReturnCode::INVALID_VALUE)?;
    size.write_optional(parameter.bytes as usize)?;
    offset.write(parameter.offset as usize)
}
