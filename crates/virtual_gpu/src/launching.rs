//! Launches that the driver accepts: a kernel's function, its shape and what it needs of a multiprocessor.

use crate::code::{CuResult, INVALID_HANDLE, NOT_FOUND};
use crate::driver::Driver;
use crate::misuse::MisuseKind;
use crate::objects::FunctionState;
use crate::work::KernelLaunch;
use cuda_driver::ReturnCode;
use gpu_model::l2::AccessWindow;
use gpu_model::{BlockNeeds, PORTABLE_CLUSTER, blocks_per_multiprocessor};
use simt::{Kernel, Launch, Module};
use std::sync::Arc;

const OUT_OF_RESOURCES: ReturnCode = ReturnCode(701);
const COOPERATIVE_TOO_LARGE: ReturnCode = ReturnCode(720);
const INVALID_CLUSTER_SIZE: ReturnCode = ReturnCode(912);

/// The module and kernel of a function.
pub(crate) fn kernel_of(
    driver: &Driver,
    function: usize,
) -> CuResult<(Arc<Module>, &FunctionState)> {
    let state = driver.objects.functions.get(function)?;
    Ok((driver.objects.modules.get(state.module)?.module.clone(), state))
}

/// Registers per thread. Only `ptxas` knows: what it said, when the program passed that on, or else an estimate.
pub(crate) fn registers(driver: &Driver, kernel: &Kernel) -> u32 {
    let known = driver.registers.get(&kernel.name).copied();
    // A kernel that is refused has no estimate, and programs divide by the number, as GCC's OpenMP does.
    known.unwrap_or_else(|| kernel.registers().max(1))
}

pub(crate) fn kernel_in<'module>(module: &'module Module, name: &str) -> CuResult<&'module Kernel> {
    module.kernel(name).map_err(|_| INVALID_HANDLE)
}

pub(crate) fn resident(
    driver: &Driver,
    function: usize,
    threads: u32,
    dynamic_bytes: u32,
) -> CuResult<u32> {
    let (module, state) = kernel_of(driver, function)?;
    let kernel = kernel_in(&module, &state.name)?;
    if kernel.max_threads.is_some_and(|most| threads > most) {
        return Ok(0);
    }
    let shared_bytes = kernel.static_shared_bytes() + dynamic_bytes;
    let profile = &driver.device().profile;
    // An estimate is no reason to refuse a block: a warp takes whole units of 8 registers per thread.
    let most =
        profile.registers_per_multiprocessor / threads.clamp(1, 1024).next_multiple_of(128) / 8 * 8;
    let known = driver.registers.contains_key(&kernel.name);
    let registers = registers(driver, kernel);
    let registers = if known { registers } else { registers.min(most.max(8)) };
    let needs = BlockNeeds { threads, registers, shared_bytes };
    Ok(blocks_per_multiprocessor(&driver.device().profile, needs))
}

pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_bytes: u32,
    pub(crate) cooperative: bool,
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) stream: usize,
    /// Instead of the stream's.
    pub(crate) window: Option<AccessWindow>,
}

impl Shape {
    /// Of a launch without anything that is newer than its stream.
    pub(crate) fn plain(
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_bytes: u32,
        stream: usize,
    ) -> Shape {
        Shape {
            grid,
            block,
            dynamic_bytes,
            cooperative: false,
            cluster: None,
            stream,
            window: None,
        }
    }
}

/// The function of that name, the same one whenever it is asked for.
pub(crate) fn function_in(driver: &mut Driver, module: usize, name: String) -> CuResult<usize> {
    let most = driver.device().profile.shared_bytes_per_block;
    let code = driver.objects.modules.get(module)?.module.clone();
    let kernel = match code.kernel(&name) {
        Ok(kernel) => kernel,
        Err(error) => return Err(driver.refuse(NOT_FOUND, error.to_string())),
    };
    // Static and dynamic shared memory together, unless the program asks for more.
    let most = most.saturating_sub(kernel.static_shared_bytes());
    let functions = &driver.objects.functions;
    let is_meant = |other: &FunctionState| other.module == module && other.name == name;
    let found = functions.iter().find(|(_, other)| is_meant(other)).map(|(handle, _)| handle);
    Ok(match found {
        Some(found) => found,
        None => driver.objects.functions.add(FunctionState::new(module, name, most)),
    })
}

/// A launch on the selected device, which is the module's.
pub(crate) fn accepted(
    driver: &mut Driver,
    function: usize,
    shape: Shape,
    arguments: impl FnOnce(&Kernel) -> Result<Vec<Vec<u8>>, String>,
) -> CuResult<KernelLaunch> {
    let (module, state) = kernel_of(driver, function)?;
    let device = driver.objects.modules.get(state.module)?.device;
    let (name, most_dynamic) = (state.name.clone(), state.max_dynamic_shared_bytes);
    let large_clusters = state.large_clusters;
    let kernel = kernel_in(&module, &name)?;
    if let Err(error) = kernel.supported() {
        return Err(driver.unsupported(&format!("kernel `{name}`: {error}")));
    }
    let fixed = kernel.static_shared_bytes();
    if shape.dynamic_bytes > most_dynamic {
        let most = driver.device().profile.shared_bytes_per_block_opt_in.saturating_sub(fixed);
        let why = format!(
            "kernel `{name}` has {fixed} bytes of static shared memory, and the launch asks for {} dynamic ones, where {most_dynamic} \
             are allowed; cuFuncSetAttribute with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES allows up to {most} on this \
             device",
            shape.dynamic_bytes
        );
        return Err(driver.refuse(ReturnCode::INVALID_VALUE, why));
    }
    let mut launch = Launch::new(&name, shape.grid, shape.block);
    launch.dynamic_shared_bytes = shape.dynamic_bytes;
    launch.cooperative = shape.cooperative;
    launch.cluster = shape.cluster;
    launch.arguments = match arguments(kernel) {
        Ok(arguments) => arguments,
        Err(why) => {
            let why = format!("kernel `{name}`: {why}");
            return Err(driver.refuse(ReturnCode::INVALID_VALUE, why));
        }
    };
    let mut limits = driver.device().profile.launch_limits();
    if !large_clusters {
        limits.blocks_per_cluster = limits.blocks_per_cluster.min(PORTABLE_CLUSTER);
    }
    if let Err(error) = simt::validate(&module, &launch, &limits) {
        let threads = launch.threads();
        driver.report(
            MisuseKind::KernelFault,
            format!("kernel `{name}` cannot be launched: {error}"),
        );
        let fits_device = threads <= u64::from(driver.device().profile.max_threads_per_block);
        let too_many = kernel.max_threads.is_some_and(|most| threads > u64::from(most));
        let cluster = launch.cluster_of(kernel);
        let fits_cluster = cluster.iter().product::<u32>() <= limits.blocks_per_cluster
            && kernel.required_cluster.is_none_or(|required| required == cluster);
        return Err(if fits_device && too_many {
            OUT_OF_RESOURCES
        } else if !fits_cluster {
            INVALID_CLUSTER_SIZE
        } else {
            ReturnCode::INVALID_VALUE
        });
    }
    let threads = u32::try_from(launch.threads()).unwrap_or(u32::MAX);
    let resident = resident(driver, function, threads, shape.dynamic_bytes)?;
    if resident == 0 {
        let why = format!(
            "no block of kernel `{name}` fits on a multiprocessor: {threads} threads with {} registers each, and {} bytes of \
             shared memory",
            registers(driver, kernel),
            fixed + shape.dynamic_bytes
        );
        return Err(driver.refuse(OUT_OF_RESOURCES, why));
    }
    let shared_bytes =
        (kernel.static_shared_bytes() + shape.dynamic_bytes).saturating_mul(resident);
    let room = u64::from(resident) * u64::from(driver.device().profile.multiprocessors);
    if shape.cooperative && launch.blocks() > room {
        let why = format!(
            "kernel `{name}` is launched cooperatively with {} blocks, of which the device holds {room} at once",
            launch.blocks()
        );
        return Err(driver.refuse(COOPERATIVE_TOO_LARGE, why));
    }
    let share = (launch.blocks() as f64 * driver.larger.blocks / room as f64).min(1.0);
    Ok(KernelLaunch {
        function,
        module,
        launch,
        share,
        resident,
        shared_bytes,
        device,
        in_graph: false,
        window: None,
    })
}

/// The launch that a thread of a kernel has made, which is of the same module.
pub(crate) fn launch_of_kernel(
    driver: &mut Driver,
    by: &KernelLaunch,
    made: simt::KernelLaunch,
) -> CuResult<KernelLaunch> {
    let module = driver.objects.functions.get(by.function)?.module;
    let function = function_in(driver, module, made.kernel)?;
    let shape = Shape::plain(made.grid, made.block, made.dynamic_shared_bytes, 0);
    let accepted = accepted(driver, function, shape, |kernel| {
        let of = |parameter: &simt::Parameter| {
            let start = parameter.offset as usize;
            let bytes = made.parameters.get(start..start + parameter.bytes as usize);
            bytes.map(<[u8]>::to_vec).ok_or_else(|| "its parameters are too short".to_owned())
        };
        kernel.parameters.iter().map(of).collect()
    })?;
    Ok(KernelLaunch { in_graph: true, ..accepted })
}
