use crate::context;
use crate::define::{Result, exports, given, on, out, put};
use crate::error::{Error, because, check};
use crate::registration::function;
use cuda_driver::ReturnCode;
use cuda_driver::api;
use cuda_driver::raw::{CUdevice, CUfunction, CUstream};
use cuda_driver::types::LaunchConfig;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// Blocks of a grid, or threads of a block (`dim3`).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Dimensions {
    /// Along x.
    pub x: c_uint,
    /// Along y.
    pub y: c_uint,
    /// Along z.
    pub z: c_uint,
}

/// The shape of a launch between `<<<` and the call of the kernel's host function.
struct Configuration {
    grid: Dimensions,
    block: Dimensions,
    shared: usize,
    stream: CUstream,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the shape of a launch for the call that follows.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaPushCallConfiguration(
    grid: Dimensions,
    block: Dimensions,
    shared: usize,
    stream: *mut c_void,
) -> c_uint {
    let configuration = Configuration { grid, block, shared, stream: stream.cast() };
    CONFIGURATIONS.with_borrow_mut(|all| all.push(configuration));
    0
}

/// The most that a device takes in each dimension.
#[derive(Clone, Copy)]
struct Limits {
    threads: u32,
    block: [u32; 3],
    grid: [u32; 3],
}

fn limits(device: CUdevice) -> Result<Limits> {
    static KNOWN: Mutex<Option<HashMap<CUdevice, Limits>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(limits) = known.get(&device) {
        return Ok(*limits);
    }
    // `CU_DEVICE_ATTRIBUTE_MAX_*`.
    let of = |attribute| Ok(attribute_of(device, attribute)?.cast_unsigned());
    let limits =
        Limits { threads: of(1)?, block: [of(2)?, of(3)?, of(4)?], grid: [of(5)?, of(6)?, of(7)?] };
    known.insert(device, limits);
    Ok(limits)
}

/// Returns an attribute of a device.
pub fn attribute_of(device: CUdevice, attribute: c_uint) -> Result<c_int> {
    let mut value = 0;
    // SAFETY: the pointer is valid for the one number that is written.
    check(unsafe { api::cuDeviceGetAttribute(&raw mut value, attribute, device) })?;
    Ok(value)
}

/// Checks a shape, for which the runtime has a code that the driver lacks.
fn check_shape(device: CUdevice, grid: Dimensions, block: Dimensions) -> Result {
    let limits = limits(device)?;
    let fits = |shape: Dimensions, most: [u32; 3]| {
        [shape.x, shape.y, shape.z].iter().zip(most).all(|(given, most)| (1..=most).contains(given))
    };
    let threads =
        [block.x, block.y, block.z].iter().try_fold(1u32, |all, more| all.checked_mul(*more));
    let is_right = fits(grid, limits.grid)
        && fits(block, limits.block)
        && threads.is_some_and(|it| it <= limits.threads);
    if is_right {
        return Ok(());
    }
    let list = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let why = format!(
        "a launch of {} blocks of {} threads: the device takes 1 to {} blocks, and 1 to {} threads, at most {} in all",
        list([grid.x, grid.y, grid.z]),
        list([block.x, block.y, block.z]),
        list(limits.grid),
        list(limits.block),
        limits.threads
    );
    Err(because(Error::INVALID_CONFIGURATION, why))
}

struct Launch {
    grid: Dimensions,
    block: Dimensions,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: CUstream,
}

/// # Safety
/// - `arguments` has a pointer to each parameter of the kernel.
unsafe fn launch(kernel: *const c_void, launch: Launch, is_cooperative: bool) -> Result {
    let device = context::enter()?;
    let found = function(kernel)?;
    let Launch { grid, block, arguments, shared, stream } = launch;
    check_shape(device, grid, block)?;
    let shared = c_uint::try_from(shared).map_err(|_| Error::INVALID_VALUE)?;
    let (g, b, stream) = (grid, block, on(stream));
    // SAFETY: the caller's contract.
    check(unsafe {
        if is_cooperative {
            api::cuLaunchCooperativeKernel(
                found, g.x, g.y, g.z, b.x, b.y, b.z, shared, stream, arguments,
            )
        } else {
            api::cuLaunchKernel(
                found,
                g.x,
                g.y,
                g.z,
                b.x,
                b.y,
                b.z,
                shared,
                stream,
                arguments,
                null_mut(),
            )
        }
    })
}

/// Facts of a kernel for a program (`cudaFuncAttributes`): the fields to 12.0, and those of later versions behind them.
#[repr(C)]
struct FunctionAttributes {
    shared_bytes: usize,
    constant_bytes: usize,
    local_bytes: usize,
    /// In the order of the driver's attributes: threads, registers, version of the PTX, of the machine code, caching, dynamic
    /// shared memory, carveout, and six of clusters.
    numbers: [c_int; 13],
    reserved: [c_int; 16],
}

/// The driver's numbers of [`FunctionAttributes::numbers`].
const NUMBERS: [c_uint; 13] = [0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14];

fn function_attribute(function: CUfunction, attribute: c_uint) -> Result<c_int> {
    let mut value = 0;
    // SAFETY: the pointer is valid for the one number that is written.
    check(unsafe { api::cuFuncGetAttribute(&raw mut value, attribute, function) })?;
    Ok(value)
}

/// The shape of a launch with attributes (`cudaLaunchConfig_t`).
#[repr(C)]
pub struct Shape {
    grid: Dimensions,
    block: Dimensions,
    shared: usize,
    stream: CUstream,
    attributes: *mut cuda_driver::types::LaunchAttribute,
    count: c_uint,
}

const _: () = assert!(size_of::<Shape>() == 56 && size_of::<FunctionAttributes>() == 144);

impl Shape {
    fn for_the_driver(&self) -> Result<LaunchConfig> {
        Ok(LaunchConfig {
            grid_dim_x: self.grid.x,
            grid_dim_y: self.grid.y,
            grid_dim_z: self.grid.z,
            block_dim_x: self.block.x,
            block_dim_y: self.block.y,
            block_dim_z: self.block.z,
            shared_mem_bytes: c_uint::try_from(self.shared).map_err(|_| Error::INVALID_VALUE)?,
            stream: on(self.stream),
            attributes: self.attributes,
            num_attributes: self.count,
        })
    }
}

exports! {
    fn __cudaPopCallConfiguration(grid: *mut Dimensions, block: *mut Dimensions, shared: *mut usize, stream: *mut c_void) {
        let last = CONFIGURATIONS.with_borrow_mut(Vec::pop).ok_or(Error::MISSING_CONFIGURATION)?;
        put(grid, last.grid)?;
        put(block, last.block)?;
        put(shared, last.shared)?;
        put(stream.cast::<CUstream>(), last.stream)?;
        Ok(())
    }
    fn cudaLaunchKernel(
        kernel: *const c_void, grid: Dimensions, block: Dimensions, arguments: *mut *mut c_void, shared: usize, stream: CUstream
    ) own cudaLaunchKernel_ptsz {
        launch(kernel, Launch { grid, block, arguments, shared, stream }, false)
    }
    fn __cudaLaunchKernel(
        kernel: *const c_void, grid: Dimensions, block: Dimensions, arguments: *mut *mut c_void, shared: usize, stream: CUstream
    ) own __cudaLaunchKernel_ptsz {
        launch(kernel, Launch { grid, block, arguments, shared, stream }, false)
    }
    fn cudaLaunchCooperativeKernel(
        kernel: *const c_void, grid: Dimensions, block: Dimensions, arguments: *mut *mut c_void, shared: usize, stream: CUstream
    ) own cudaLaunchCooperativeKernel_ptsz {
        launch(kernel, Launch { grid, block, arguments, shared, stream }, true)
    }
    fn cudaLaunchKernelExC(shape: *const Shape, kernel: *const c_void, arguments: *mut *mut c_void) own cudaLaunchKernelExC_ptsz {
        let device = context::enter()?;
        let (shape, found) = (given(shape)?, function(kernel)?);
        check_shape(device, shape.grid, shape.block)?;
        let config = shape.for_the_driver()?;
        check(api::cuLaunchKernelEx(&raw const config, found, arguments, null_mut()))
    }
    fn cudaFuncGetAttributes(attributes: *mut c_void, kernel: *const c_void) {
        let attributes = out(attributes.cast::<FunctionAttributes>())?;
        let found = function(kernel)?;
        let of = |attribute| function_attribute(found, attribute);
        attributes.shared_bytes = of(1)? as usize;
        attributes.constant_bytes = of(2)? as usize;
        attributes.local_bytes = of(3)? as usize;
        for (number, attribute) in attributes.numbers.iter_mut().zip(NUMBERS) {
            // An older driver does not know those of clusters.
            *number = of(attribute).unwrap_or(0);
        }
        attributes.reserved = [0; 16];
        Ok(())
    }
    fn cudaFuncSetAttribute(kernel: *const c_void, attribute: c_uint, value: c_int) {
        check(api::cuFuncSetAttribute(function(kernel)?, attribute, value))
    }
    fn cudaFuncSetCacheConfig(kernel: *const c_void, config: c_uint) {
        check(api::cuFuncSetCacheConfig(function(kernel)?, config))
    }
    fn cudaFuncSetSharedMemConfig(kernel: *const c_void, config: c_uint) {
        check(api::cuFuncSetSharedMemConfig(function(kernel)?, config))
    }
    fn cudaFuncGetName(name: *mut *const c_char, kernel: *const c_void) {
        check(api::cuFuncGetName(name, function(kernel)?))
    }
    fn cudaFuncGetParamInfo(kernel: *const c_void, index: usize, offset: *mut usize, bytes: *mut usize) {
        check(api::cuFuncGetParamInfo(function(kernel)?, index, offset, bytes))
    }
    fn cudaFuncGetParamCount(kernel: *const c_void, count: *mut usize) {
        let (count, found) = (out(count)?, function(kernel)?);
        let (mut offset, mut bytes) = (0, 0);
        *count = 0;
        while api::cuFuncGetParamInfo(found, *count, &raw mut offset, &raw mut bytes) == ReturnCode::SUCCESS {
            *count += 1;
        }
        Ok(())
    }
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, kernel: *const c_void, threads: c_int, shared: usize) {
        check(api::cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function(kernel)?, threads, shared))
    }
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, kernel: *const c_void, threads: c_int, shared: usize, flags: c_uint
    ) {
        check(api::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function(kernel)?, threads, shared, flags))
    }
    fn cudaOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, kernel: *const c_void, blocks: c_int, threads: c_int) {
        check(api::cuOccupancyAvailableDynamicSMemPerBlock(bytes, function(kernel)?, blocks, threads))
    }
    fn cudaOccupancyMaxPotentialClusterSize(blocks: *mut c_int, kernel: *const c_void, shape: *const Shape) {
        let (found, config) = (function(kernel)?, given(shape)?.for_the_driver()?);
        check(api::cuOccupancyMaxPotentialClusterSize(blocks, found, &raw const config))
    }
    fn cudaOccupancyMaxActiveClusters(clusters: *mut c_int, kernel: *const c_void, shape: *const Shape) {
        let (found, config) = (function(kernel)?, given(shape)?.for_the_driver()?);
        check(api::cuOccupancyMaxActiveClusters(clusters, found, &raw const config))
    }
    fn cudaSetDoubleForDevice(_number: *mut f64) { Ok(()) }
    fn cudaSetDoubleForHost(_number: *mut f64) { Ok(()) }
}
