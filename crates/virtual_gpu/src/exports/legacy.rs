//! Launches as CUDA 3 had them: shape and parameters are said one after the other. Old bindings still use them.

use super::define::exports;
use super::kernel::{Shape, launch};
use crate::code::CuResult;
use crate::driver::Driver;
use cuda_driver::ReturnCode;
use cuda_driver::raw::{CUfunction, CUstream};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// Writes bytes of a parameter at its offset.
fn parameter(driver: &mut Driver, function: CUfunction, offset: c_int, bytes: &[u8]) -> CuResult {
    let start = usize::try_from(offset).map_err(|_| ReturnCode::INVALID_VALUE)?;
    let next = &mut driver.objects.functions.get_mut(function.addr())?.next;
    let end = start + bytes.len();
    if next.parameters.len() < end {
        next.parameters.resize(end, 0);
    }
    next.parameters[start..end].copy_from_slice(bytes);
    Ok(())
}

fn extent(value: c_int) -> CuResult<u32> {
    u32::try_from(value).map_err(|_| ReturnCode::INVALID_VALUE)
}

/// Launches what was said.
fn launch_next(
    driver: &mut Driver,
    function: CUfunction,
    [x, y]: [c_int; 2],
    stream: CUstream,
) -> CuResult {
    let next = driver.objects.functions.get(function.addr())?.next.clone();
    let (mut parameters, mut bytes) = (next.parameters, 0usize);
    bytes += parameters.len();
    let mut extra: [*mut c_void; 5] = [
        std::ptr::without_provenance_mut(1),
        parameters.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(2),
        (&raw mut bytes).cast(),
        null_mut(),
    ];
    let shape =
        Shape::plain([extent(x)?, extent(y)?, 1], next.block, next.shared_bytes, stream.addr());
    // SAFETY: the list is as the reference describes it, and names a buffer and its length that live until the launch
    // has copied them.
    unsafe { launch(driver, function.addr(), shape, null_mut(), extra.as_mut_ptr()) }
}

exports! {
    fn cuFuncSetBlockShape(driver, function: CUfunction, x: c_int, y: c_int, z: c_int) {
        driver.objects.functions.get_mut(function.addr())?.next.block = [extent(x)?, extent(y)?, extent(z)?];
        Ok(())
    }
    fn cuFuncSetSharedSize(driver, function: CUfunction, bytes: c_uint) {
        driver.objects.functions.get_mut(function.addr())?.next.shared_bytes = bytes;
        Ok(())
    }
    fn cuParamSetSize(driver, function: CUfunction, bytes: c_uint) {
        driver.objects.functions.get_mut(function.addr())?.next.parameters.resize(bytes as usize, 0);
        Ok(())
    }
    fn cuParamSeti(driver, function: CUfunction, offset: c_int, value: c_uint) {
        parameter(driver, function, offset, &value.to_le_bytes())
    }
    fn cuParamSetf(driver, function: CUfunction, offset: c_int, value: f32) {
        parameter(driver, function, offset, &value.to_le_bytes())
    }
    fn cuParamSetv(driver, function: CUfunction, offset: c_int, value: *mut c_void, bytes: c_uint) {
        if value.is_null() {
            return Err(ReturnCode::INVALID_VALUE);
        }
        let bytes = std::slice::from_raw_parts(value.cast::<u8>(), bytes as usize).to_vec();
        parameter(driver, function, offset, &bytes)
    }
    #[cost(Copy)]
    fn cuLaunch(driver, function: CUfunction) {
        launch_next(driver, function, [1, 1], null_mut())
    }
    #[cost(Copy)]
    fn cuLaunchGrid(driver, function: CUfunction, x: c_int, y: c_int) {
        launch_next(driver, function, [x, y], null_mut())
    }
    #[cost(Copy)]
    fn cuLaunchGridAsync(driver, function: CUfunction, x: c_int, y: c_int, stream: CUstream) {
        launch_next(driver, function, [x, y], stream)
    }
}
