//! Launches as CUDA 3 had them: shape and parameters are said one after the other. Old bindings still use them.

use super::arguments::InMut;
use super::define::exports;
use super::kernel::{launch, unpacked};
use crate::code::CuResult;
use crate::driver::Driver;
use crate::launching::Shape;
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

fn launch_next(
    driver: &mut Driver,
    function: CUfunction,
    [x, y]: [c_int; 2],
    stream: CUstream,
) -> CuResult {
    let next = driver.objects.functions.get(function.addr())?.next.clone();
    let grid = [extent(x)?, extent(y)?, 1];
    let shape = Shape::plain(grid, next.block, next.shared_bytes, stream.addr());
    launch(driver, function.addr(), shape, |kernel| unpacked(kernel, &next.parameters))
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
    fn cuParamSetv(driver, function: CUfunction, offset: c_int, value: InMut<c_void>, bytes: c_uint) {
        // SAFETY: by the function's contract the value has so many bytes.
        let bytes = unsafe { value.bytes(bytes as usize) }?;
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
