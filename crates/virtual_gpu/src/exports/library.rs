//! Libraries and their kernels, which belong to no context in the driver's documents. Here a library is a module of the
//! device that is current when it is loaded, and a kernel is a function of it.

use super::arguments::{handle, out, out_optional, text};
use super::define::exports;
use super::image::{ptx_of, ptx_of_file};
use super::kernel::{
    function_attribute, function_in, kernel_of, load, set_function_attribute, unload,
};
use crate::code::NOT_FOUND;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUdevice, CUdeviceptr, CUfunction, CUmodule};
use cuda_driver::types::{CUkernel, CUlibrary};
use std::ffi::{c_char, c_int, c_uint, c_void};

const FILE_NOT_FOUND: ReturnCode = ReturnCode(301);

exports! {
    fn cuLibraryLoadData(
        driver, library: *mut CUlibrary, code: *const c_void, _options: *mut c_uint, _values: *mut *mut c_void,
        _count: c_uint, _library_options: *mut c_uint, _library_values: *mut *mut c_void, _library_count: c_uint
    ) {
        let ptx = ptx_of(driver, code)?;
        out(library, handle(load(driver, &ptx)?))
    }
    fn cuLibraryLoadFromFile(
        driver, library: *mut CUlibrary, path: *const c_char, _options: *mut c_uint, _values: *mut *mut c_void,
        _count: c_uint, _library_options: *mut c_uint, _library_values: *mut *mut c_void, _library_count: c_uint
    ) {
        let bytes = std::fs::read(text(path)?).map_err(|_| FILE_NOT_FOUND)?;
        let ptx = ptx_of_file(driver, bytes)?;
        out(library, handle(load(driver, &ptx)?))
    }
    fn cuLibraryUnload(driver, library: CUlibrary) {
        unload(driver, library.addr())
    }
    fn cuLibraryGetKernel(driver, kernel: *mut CUkernel, library: CUlibrary, name: *const c_char) {
        out(kernel, handle(function_in(driver, library.addr(), text(name)?)?))
    }
    fn cuLibraryGetModule(driver, module: *mut CUmodule, library: CUlibrary) {
        driver.objects.modules.get(library.addr())?;
        out(module, handle(library.addr()))
    }
    fn cuLibraryGetGlobal(
        driver, pointer: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char
    ) {
        let module = &driver.objects.modules.get(library.addr())?.module;
        let (address, size) = module.symbol(&driver.memory.device, &text(name)?).ok_or(NOT_FOUND)?;
        out_optional(pointer, address);
        out_optional(bytes, size as usize);
        Ok(())
    }
    fn cuLibraryGetManaged(
        driver, pointer: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char
    ) {
        let (module, name) = (&driver.objects.modules.get(library.addr())?.module, text(name)?);
        let is_managed = module.variables().iter().any(|variable| variable.name == name && variable.is_managed);
        let found = module.symbol(&driver.memory.device, &name).filter(|_| is_managed);
        let (address, size) = found.ok_or(NOT_FOUND)?;
        out_optional(pointer, address);
        out_optional(bytes, size as usize);
        Ok(())
    }
    fn cuLibraryGetKernelCount(driver, count: *mut c_uint, library: CUlibrary) {
        let module = &driver.objects.modules.get(library.addr())?.module;
        out(count, module.kernels().len() as c_uint)
    }
    fn cuLibraryEnumerateKernels(driver, kernels: *mut CUkernel, count: c_uint, library: CUlibrary) {
        let module = driver.objects.modules.get(library.addr())?.module.clone();
        for (index, kernel) in module.kernels().iter().take(count as usize).enumerate() {
            let found = function_in(driver, library.addr(), kernel.name.clone())?;
            out(kernels.add(index), handle(found))?;
        }
        Ok(())
    }
    fn cuKernelGetFunction(driver, function: *mut CUfunction, kernel: CUkernel) {
        driver.objects.functions.get(kernel.addr())?;
        out(function, handle(kernel.addr()))
    }
    fn cuKernelGetLibrary(driver, library: *mut CUlibrary, kernel: CUkernel) {
        out(library, handle(driver.objects.functions.get(kernel.addr())?.module))
    }
    fn cuKernelGetAttribute(driver, value: *mut c_int, attribute: c_uint, kernel: CUkernel, _device: CUdevice) {
        out(value, function_attribute(driver, kernel.addr(), attribute)?.cast_signed())
    }
    fn cuKernelSetAttribute(driver, attribute: c_uint, value: c_int, kernel: CUkernel, _device: CUdevice) {
        set_function_attribute(driver, kernel.addr(), attribute, value)
    }
    fn cuKernelSetCacheConfig(driver, kernel: CUkernel, _config: c_uint, _device: CUdevice) {
        driver.objects.functions.get(kernel.addr()).map(|_| ())
    }
    fn cuKernelGetName(driver, name: *mut *const c_char, kernel: CUkernel) {
        out(name, driver.objects.functions.get(kernel.addr())?.c_name.as_ptr())
    }
    fn cuKernelGetParamInfo(driver, kernel: CUkernel, index: usize, offset: *mut usize, size: *mut usize) {
        parameter(driver, kernel.addr(), index, offset, size)
    }
    fn cuFuncGetName(driver, name: *mut *const c_char, function: CUfunction) {
        out(name, driver.objects.functions.get(function.addr())?.c_name.as_ptr())
    }
    fn cuFuncGetParamInfo(driver, function: CUfunction, index: usize, offset: *mut usize, size: *mut usize) {
        parameter(driver, function.addr(), index, offset, size)
    }
    fn cuFuncIsLoaded(driver, state: *mut c_uint, function: CUfunction) {
        driver.objects.functions.get(function.addr())?;
        // Nothing is loaded later than its module here.
        out(state, 1)
    }
    fn cuFuncLoad(driver, function: CUfunction) {
        driver.objects.functions.get(function.addr()).map(|_| ())
    }
    fn cuModuleGetFunctionCount(driver, count: *mut c_uint, module: CUmodule) {
        let module = &driver.objects.modules.get(module.addr())?.module;
        out(count, module.kernels().len() as c_uint)
    }
    fn cuModuleGetLoadingMode(_machine, mode: *mut c_uint) {
        // `CU_MODULE_EAGER_LOADING`.
        out(mode, 1)
    }
}

/// # Safety
/// The targets are null or valid for writes.
unsafe fn parameter(
    driver: &crate::driver::Driver,
    function: usize,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> crate::code::CuResult {
    let (module, state) = kernel_of(driver, function)?;
    let kernel = module.kernel(&state.name).map_err(|_| NOT_FOUND)?;
    let parameter = kernel.parameters.get(index).ok_or(ReturnCode::INVALID_VALUE)?;
    // SAFETY: by the contract.
    unsafe {
        out_optional(size, parameter.bytes as usize);
        out(offset, parameter.offset as usize)
    }
}
