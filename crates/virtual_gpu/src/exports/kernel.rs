use super::arguments::{Image, In, Out, access_window, handle};
use super::define::exports;
use super::device::PTX_VERSION;
use super::image::{ptx_of, ptx_of_file};
use super::linker::clear_logs;
use super::memory;
use crate::code::{CuResult, INVALID_HANDLE, NOT_FOUND};
use crate::driver::Driver;
use crate::launching::{Shape, accepted, function_in, kernel_in, kernel_of, registers, resident};
use crate::misuse::MisuseKind;
use crate::objects::LoadedModule;
use crate::work::{KernelLaunch, QueuedWork};
use cuda_driver::raw::{CUdeviceptr, CUfunction, CUmodule, CUoccupancyB2DSize, CUstream};
use cuda_driver::types::{LaunchAttribute, LaunchConfig};
use cuda_driver::{ReturnCode, Target};
use gpu_model::PORTABLE_CLUSTER;
use simt::{Kernel, Module};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

const INVALID_PTX: ReturnCode = ReturnCode(218);
const UNSUPPORTED_PTX_VERSION: ReturnCode = ReturnCode(222);
const NO_BINARY: ReturnCode = ReturnCode(209);
const INVALID_CLUSTER_SIZE: ReturnCode = ReturnCode(912);

pub(super) fn load(driver: &mut Driver, ptx: &str) -> CuResult<usize> {
    driver.context()?;
    let module = Module::parse_once(ptx).map_err(|error| {
        driver.report(MisuseKind::KernelFault, format!("the PTX cannot be loaded: {error}"));
        let newer = matches!(error, simt::Error::Unsupported { .. });
        if newer { UNSUPPORTED_PTX_VERSION } else { INVALID_PTX }
    })?;
    if module.version > PTX_VERSION {
        let ((major, minor), (newest, newest_minor)) = (module.version, PTX_VERSION);
        let message = format!(
            "the PTX is of version {major}.{minor}, and this driver loads versions up to {newest}.{newest_minor}: compile it with \
             an older toolkit"
        );
        driver.report(MisuseKind::KernelFault, message);
        return Err(UNSUPPORTED_PTX_VERSION);
    }
    let device = driver.device().profile.architecture();
    if !Target::of_name(&module.target).is_some_and(|target| target.runs_on(device)) {
        let target = if module.target.is_empty() { "no device" } else { &module.target };
        let message = format!("the PTX is for {target} and the device is sm_{device}");
        driver.report(MisuseKind::KernelFault, message);
        return Err(NO_BINARY);
    }
    let places = memory::managed_statics(driver, &module)?;
    let loaded = module.load_with(&mut driver.memory.device, &places);
    loaded.map_err(|_| ReturnCode::OUT_OF_MEMORY)?;
    let device = driver.current();
    Ok(driver.objects.modules.add(LoadedModule { module: Arc::new(module), device }))
}

fn load_image(driver: &mut Driver, module: Out<CUmodule>, image: Image) -> CuResult {
    let ptx = ptx_of(driver, &image)?;
    module.write(handle(load(driver, &ptx)?))
}

/// Frees a module after what was enqueued before.
pub(super) fn unload(driver: &mut Driver, module: usize) -> CuResult {
    driver.run_all();
    let module = driver.objects.remove_module(module)?.module;
    let managed = memory::places_of_managed(driver, &module);
    module.unload(&mut driver.memory.device);
    managed.into_iter().try_for_each(|address| memory::free_managed(driver, address))
}

/// Launches a function; `arguments` gives the bytes of each of its kernel's parameters.
pub(super) fn launch(
    driver: &mut Driver,
    function: usize,
    shape: Shape,
    arguments: impl FnOnce(&Kernel) -> Result<Vec<Vec<u8>>, String>,
) -> CuResult {
    let (stream, window) = (shape.stream, shape.window);
    let mut work = planned(driver, function, shape, arguments)?;
    work.window = match window {
        None => driver.objects.stream(stream)?.window,
        own => own,
    };
    driver.submit(stream, QueuedWork::Kernel(work)).map(|_| ())
}

/// A launch that the driver accepts.
pub(super) fn planned(
    driver: &mut Driver,
    function: usize,
    shape: Shape,
    arguments: impl FnOnce(&Kernel) -> Result<Vec<Vec<u8>>, String>,
) -> CuResult<KernelLaunch> {
    driver.context_with_stream(shape.stream)?;
    let state = driver.objects.functions.get(function)?;
    // A launch is the business of one device: that of the module, the stream and the current context.
    let device = driver.objects.modules.get(state.module)?.device;
    let name = state.name.clone();
    if device != driver.current() || driver.objects.stream(shape.stream)?.device != device {
        let message = format!(
            "kernel `{name}` was loaded on device {device}, and the stream or the current context is another device's"
        );
        driver.report(MisuseKind::Context, message);
        return Err(INVALID_HANDLE);
    }
    accepted(driver, function, shape, arguments)
}

/// The bytes of each parameter.
///
/// # Safety
/// - `parameters` is null or has the address of each of the kernel's parameters.
/// - `extra` is null or a list as the reference describes it.
pub(super) unsafe fn arguments(
    kernel: &Kernel,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Vec<Vec<u8>>, String> {
    if parameters.is_null() {
        // SAFETY: by the contract.
        return unsafe { packed_arguments(kernel, extra) };
    }
    let each = kernel.parameters.iter().enumerate().map(|(index, parameter)| {
        // SAFETY: by the contract there is one address per parameter, valid for the parameter's size.
        unsafe {
            let value = parameters.add(index).read().cast::<u8>();
            if value.is_null() {
                return Err(format!("argument {index}, its `{}`, has no address", parameter.name));
            }
            Ok(std::slice::from_raw_parts(value, parameter.bytes as usize).to_vec())
        }
    });
    each.collect()
}

/// Parameters in one buffer: `CU_LAUNCH_PARAM_BUFFER_POINTER`, `CU_LAUNCH_PARAM_BUFFER_SIZE`, end.
///
/// # Safety
/// - As for `arguments`.
unsafe fn packed_arguments(
    kernel: &Kernel,
    extra: *mut *mut c_void,
) -> Result<Vec<Vec<u8>>, String> {
    if kernel.parameters.is_empty() {
        return Ok(Vec::new());
    }
    if extra.is_null() {
        return Err(format!("it has {} parameters, and none is given", kernel.parameters.len()));
    }
    let (mut buffer, mut bytes) = (std::ptr::null::<u8>(), 0usize);
    let mut entry = extra;
    // SAFETY: the list has pairs of a number and a value until its end, 0.
    let packed = unsafe {
        while !entry.read().is_null() {
            let value = entry.add(1).read();
            match entry.read().addr() {
                1 => buffer = value.cast(),
                2 => bytes = value.cast::<usize>().read(),
                other => {
                    return Err(format!(
                        "the list of extra arguments has an unknown entry {other}"
                    ));
                }
            }
            entry = entry.add(2);
        }
        if buffer.is_null() {
            return Err("the list of extra arguments names no buffer".to_owned());
        }
        std::slice::from_raw_parts(buffer, bytes)
    };
    let needed = kernel.parameters.last().map_or(0, |last| (last.offset + last.bytes) as usize);
    if packed.len() > needed {
        return Err(format!(
            "the buffer of arguments has {} bytes and the parameters take {needed}: a driver refuses padding behind the last",
            packed.len()
        ));
    }
    unpacked(kernel, packed)
}

/// The bytes of each parameter in a buffer that has all of them.
pub(super) fn unpacked(kernel: &Kernel, packed: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let each = kernel.parameters.iter().map(|parameter| {
        let start = parameter.offset as usize;
        let end = start + parameter.bytes as usize;
        let short = || {
            format!(
                "the buffer of arguments has {} bytes, and `{}` ends at byte {end}",
                packed.len(),
                parameter.name
            )
        };
        packed.get(start..end).map(<[u8]>::to_vec).ok_or_else(short)
    });
    each.collect()
}

/// The shape of a launch by its description.
///
/// # Safety
/// - There are as many attributes as it says.
unsafe fn shape_of(driver: &mut Driver, config: LaunchConfig) -> CuResult<Shape> {
    let mut shape = Shape {
        grid: [config.grid_dim_x, config.grid_dim_y, config.grid_dim_z],
        block: [config.block_dim_x, config.block_dim_y, config.block_dim_z],
        dynamic_bytes: config.shared_mem_bytes,
        cooperative: false,
        cluster: None,
        stream: config.stream.addr(),
        window: None,
    };
    for index in 0..config.num_attributes as usize {
        // SAFETY: by the contract there are as many attributes; the number says which part of the value is set.
        unsafe {
            let attribute = config.attributes.add(index).read();
            match attribute.id {
                hint if LaunchAttribute::HINTS.contains(&hint) => {}
                LaunchAttribute::ACCESS_POLICY_WINDOW => {
                    shape.window = Some(access_window(&attribute.value.access_policy_window));
                }
                LaunchAttribute::COOPERATIVE => {
                    shape.cooperative = attribute.value.cooperative != 0
                }
                LaunchAttribute::CLUSTER_DIMENSION => {
                    shape.cluster = Some(attribute.value.cluster_dim);
                }
                other => {
                    return Err(driver.unsupported(&format!("launch attribute {other}")));
                }
            }
        }
    }
    Ok(shape)
}

pub(super) fn function_attribute(
    driver: &Driver,
    function: usize,
    attribute: c_uint,
) -> CuResult<u32> {
    let (module, state) = kernel_of(driver, function)?;
    let kernel = kernel_in(&module, &state.name)?;
    let target: String = module.target.chars().filter(char::is_ascii_digit).collect();
    Ok(match attribute {
        0 => kernel.max_threads.unwrap_or(driver.device().profile.max_threads_per_block),
        1 => kernel.static_shared_bytes(),
        // Constant memory of its own, caching, and the policy by which clusters are placed: none and the default.
        2 | 7 | 15 => 0,
        3 => kernel.local_bytes(),
        4 => registers(driver, kernel),
        5 => target.parse().unwrap_or(0),
        6 => driver.device().profile.architecture(),
        8 => state.max_dynamic_shared_bytes,
        9 => state.carveout.cast_unsigned(),
        10 => u32::from(kernel.required_cluster.is_some()),
        11..=13 => kernel.required_cluster.map_or(0, |blocks| blocks[attribute as usize - 11]),
        14 => u32::from(state.large_clusters),
        _ => return Err(ReturnCode::INVALID_VALUE),
    })
}

pub(super) fn set_function_attribute(
    driver: &mut Driver,
    function: usize,
    attribute: c_uint,
    value: c_int,
) -> CuResult {
    let (module, state) = kernel_of(driver, function)?;
    let fixed = kernel_in(&module, &state.name)?.static_shared_bytes();
    let most = driver.device().profile.shared_bytes_per_block_opt_in.saturating_sub(fixed);
    let name = state.name.clone();
    let state = driver.objects.functions.get_mut(function)?;
    let why = match attribute {
        8 => match u32::try_from(value) {
            Ok(bytes) if bytes <= most => {
                state.max_dynamic_shared_bytes = bytes;
                return Ok(());
            }
            _ => format!(
                "{value} bytes of dynamic shared memory are asked for; kernel `{name}`, which has {fixed} static ones, may have \
                 {most} on this device"
            ),
        },
        9 if (-1..=100).contains(&value) => {
            state.carveout = value;
            return Ok(());
        }
        9 => {
            format!("{value} is no percentage of shared memory, and not -1 for the driver's choice")
        }
        14 => {
            state.large_clusters = value != 0;
            return Ok(());
        }
        other => format!("attribute {other} cannot be set"),
    };
    Err(driver.refuse(ReturnCode::INVALID_VALUE, why))
}

/// Multiprocessors of a group within which a cluster lies: on an H100 groups have 16 or 18, by the device, and a program
/// that relies on this number must not wait for clusters that do not fit.
const GROUP: u32 = 16;

/// The clusters that are resident at once.
fn active_clusters(driver: &Driver, function: usize, shape: &Shape, size: u32) -> CuResult<u32> {
    let threads = shape.block.iter().try_fold(1u32, |all, extent| all.checked_mul(*extent));
    let threads = threads.ok_or(ReturnCode::INVALID_VALUE)?;
    let blocks = resident(driver, function, threads, shape.dynamic_bytes)?;
    let multiprocessors = driver.device().profile.multiprocessors;
    let group = GROUP.min(multiprocessors);
    Ok(multiprocessors / group * (group * blocks / size))
}

/// The block size with the most resident threads, larger blocks first, and the grid that fills the device.
fn suggest(
    driver: &Driver,
    function: usize,
    dynamic_bytes: impl Fn(c_int) -> usize,
    limit: c_int,
) -> CuResult<(c_int, c_int)> {
    let limit = u32::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(1024).min(1024);
    let mut best = (0, 0, 0);
    for threads in (1..=limit.div_ceil(32)).rev().map(|warps| (warps * 32).min(limit)) {
        let dynamic = u32::try_from(dynamic_bytes(threads.cast_signed())).unwrap_or(u32::MAX / 2);
        let blocks = resident(driver, function, threads, dynamic)?;
        if blocks * threads > best.0 {
            best = (blocks * threads, threads, blocks);
        }
    }
    let grid = best.2 * driver.device().profile.multiprocessors;
    Ok((grid.cast_signed(), best.1.cast_signed()))
}

/// # Safety
/// - `dynamic_of_block` may be called with any block size.
unsafe fn potential(
    driver: &Driver,
    [grid, block]: [Out<c_int>; 2],
    function: CUfunction,
    dynamic_of_block: CUoccupancyB2DSize,
    dynamic_bytes: usize,
    limit: c_int,
) -> CuResult {
    let dynamic = |threads: c_int| match dynamic_of_block {
        // SAFETY: by the contract.
        Some(function) => unsafe { function(threads) },
        None => dynamic_bytes,
    };
    let (suggested_grid, suggested_block) = suggest(driver, function.addr(), dynamic, limit)?;
    grid.write(suggested_grid)?;
    block.write(suggested_block)
}

exports! {
    fn cuModuleLoadData(driver, module: Out<CUmodule>, image: Image) {
        load_image(driver, module, image)
    }
    fn cuModuleLoadFatBinary(driver, module: Out<CUmodule>, image: Image) {
        load_image(driver, module, image)
    }
    fn cuModuleLoadDataEx(
        driver, module: Out<CUmodule>, image: Image, count: c_uint, options: *mut c_uint, values: *mut *mut c_void
    ) {
        // SAFETY: by the function's contract.
        unsafe { clear_logs(count, options, values) };
        load_image(driver, module, image)
    }
    fn cuModuleLoad(driver, module: Out<CUmodule>, path: In<c_char>) {
        let ptx = ptx_of_file(driver, path.read_file()?)?;
        module.write(handle(load(driver, &ptx)?))
    }
    fn cuModuleUnload(driver, module: CUmodule) {
        unload(driver, module.addr())
    }
    fn cuModuleGetFunction(driver, function: Out<CUfunction>, module: CUmodule, name: In<c_char>) {
        function.write(handle(function_in(driver, module.addr(), name.text()?)?))
    }
    fn cuModuleGetGlobal_v2(
        driver, pointer: Out<CUdeviceptr>, bytes: Out<usize>, module: CUmodule, name: In<c_char>
    ) {
        let name = name.text()?;
        let module = &driver.objects.modules.get(module.addr())?.module;
        let (address, size) = module.symbol(&driver.memory.device, &name).ok_or(NOT_FOUND)?;
        pointer.write_optional(address)?;
        bytes.write_optional(size as usize)
    }
    fn cuFuncGetAttribute(driver, value: Out<c_int>, attribute: c_uint, function: CUfunction) {
        let found = function_attribute(driver, function.addr(), attribute)?;
        value.write(found.cast_signed())
    }
    fn cuFuncSetAttribute(driver, function: CUfunction, attribute: c_uint, value: c_int) {
        set_function_attribute(driver, function.addr(), attribute, value)
    }
    fn cuFuncSetCacheConfig(driver, function: CUfunction, _config: c_uint) {
        driver.objects.functions.get(function.addr()).map(|_| ())
    }
    fn cuFuncSetSharedMemConfig(driver, function: CUfunction, _config: c_uint) {
        driver.objects.functions.get(function.addr()).map(|_| ())
    }
    fn cuFuncGetModule(driver, module: Out<CUmodule>, function: CUfunction) {
        module.write(handle(driver.objects.functions.get(function.addr())?.module))
    }
    #[cost(Launch)]
    fn cuLaunchKernel(
        driver, function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint,
        block_y: c_uint, block_z: c_uint, dynamic_bytes: c_uint, stream: CUstream, parameters: *mut *mut c_void,
        extra: *mut *mut c_void
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape::plain(grid, block, dynamic_bytes, stream.addr());
        // SAFETY: the two are as the reference describes them.
        launch(driver, function.addr(), shape, |kernel| unsafe { arguments(kernel, parameters, extra) })
    }
    #[cost(Launch)]
    fn cuLaunchCooperativeKernel(
        driver, function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint,
        block_y: c_uint, block_z: c_uint, dynamic_bytes: c_uint, stream: CUstream, parameters: *mut *mut c_void
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape { cooperative: true, ..Shape::plain(grid, block, dynamic_bytes, stream.addr()) };
        // SAFETY: the parameters are as the reference describes them.
        launch(driver, function.addr(), shape, |kernel| unsafe { arguments(kernel, parameters, null_mut()) })
    }
    #[cost(Launch)]
    fn cuLaunchKernelEx(
        driver, config: In<LaunchConfig>, function: CUfunction, parameters: *mut *mut c_void,
        extra: *mut *mut c_void
    ) {
        let config = config.read()?;
        // SAFETY: by the function's contract.
        let shape = unsafe { shape_of(driver, config) }?;
        // SAFETY: the two are as the reference describes them.
        launch(driver, function.addr(), shape, |kernel| unsafe { arguments(kernel, parameters, extra) })
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        driver, blocks: Out<c_int>, function: CUfunction, threads: c_int, dynamic_bytes: usize
    ) {
        driver.context()?;
        let threads = u32::try_from(threads).map_err(|_| ReturnCode::INVALID_VALUE)?;
        let dynamic = u32::try_from(dynamic_bytes).map_err(|_| ReturnCode::INVALID_VALUE)?;
        let found = resident(driver, function.addr(), threads, dynamic)?;
        blocks.write(found.cast_signed())
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        driver, blocks: Out<c_int>, function: CUfunction, threads: c_int, dynamic_bytes: usize, _flags: c_uint
    ) {
        driver.context()?;
        let threads = u32::try_from(threads).map_err(|_| ReturnCode::INVALID_VALUE)?;
        let dynamic = u32::try_from(dynamic_bytes).map_err(|_| ReturnCode::INVALID_VALUE)?;
        let found = resident(driver, function.addr(), threads, dynamic)?;
        blocks.write(found.cast_signed())
    }
    fn cuOccupancyMaxPotentialBlockSize(
        driver, grid: Out<c_int>, block: Out<c_int>, function: CUfunction, dynamic_of_block: CUoccupancyB2DSize,
        dynamic_bytes: usize, limit: c_int
    ) {
        // SAFETY: the program gave the function to be called with the sizes of blocks.
        unsafe { potential(driver, [grid, block], function, dynamic_of_block, dynamic_bytes, limit) }
    }
    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        driver, grid: Out<c_int>, block: Out<c_int>, function: CUfunction, dynamic_of_block: CUoccupancyB2DSize,
        dynamic_bytes: usize, limit: c_int, _flags: c_uint
    ) {
        // SAFETY: the program gave the function to be called with the sizes of blocks.
        unsafe { potential(driver, [grid, block], function, dynamic_of_block, dynamic_bytes, limit) }
    }
    fn cuOccupancyMaxPotentialClusterSize(
        driver, size: Out<c_int>, function: CUfunction, config: In<LaunchConfig>
    ) {
        let config = config.read()?;
        // SAFETY: by the function's contract.
        let shape = unsafe { shape_of(driver, config) }?;
        let most = driver.device().profile.launch_limits().blocks_per_cluster;
        let allowed = driver.objects.functions.get(function.addr())?.large_clusters;
        let most = if allowed { most } else { most.min(PORTABLE_CLUSTER) };
        let fits = |size: &u32| active_clusters(driver, function.addr(), &shape, *size).is_ok_and(|found| found > 0);
        let sizes = (0..=most.ilog2()).rev().map(|power| 1 << power);
        size.write(sizes.into_iter().find(fits).unwrap_or(0).cast_signed())
    }
    fn cuOccupancyMaxActiveClusters(
        driver, clusters: Out<c_int>, function: CUfunction, config: In<LaunchConfig>
    ) {
        let config = config.read()?;
        // SAFETY: by the function's contract.
        let shape = unsafe { shape_of(driver, config) }?;
        let (module, state) = kernel_of(driver, function.addr())?;
        let cluster = shape.cluster.or(kernel_in(&module, &state.name)?.required_cluster);
        let size = cluster.map_or(1, |blocks| blocks.iter().product());
        let most = driver.device().profile.launch_limits().blocks_per_cluster;
        if size == 0 || size > most {
            return Err(INVALID_CLUSTER_SIZE);
        }
        let found = active_clusters(driver, function.addr(), &shape, size)?;
        clusters.write(found.cast_signed())
    }
    fn cuOccupancyAvailableDynamicSMemPerBlock(
        driver, bytes: Out<usize>, function: CUfunction, blocks: c_int, threads: c_int
    ) {
        let (Ok(blocks @ 1..), Ok(threads)) = (u32::try_from(blocks), u32::try_from(threads)) else {
            return Err(ReturnCode::INVALID_VALUE);
        };
        let most = driver.device().profile.shared_bytes_per_block_opt_in;
        let fits = |dynamic: u32| resident(driver, function.addr(), threads, dynamic).is_ok_and(|found| found >= blocks);
        let found = (0..=most / 128).rev().map(|unit| unit * 128).find(|dynamic| fits(*dynamic));
        bytes.write(found.unwrap_or(0) as usize)
    }
}
