use crate::error::Error;
use crate::module::{Kernel, Module};
use crate::program::Program;

/// One launch of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared_bytes: u32,
    /// One chunk of bytes per parameter, each of the parameter's size.
    pub arguments: Vec<Vec<u8>>,
    /// All blocks must be able to wait for each other: a cooperative launch.
    pub cooperative: bool,
    /// Blocks per cluster in x, y, z; what the kernel requires, or else 1, when `None`.
    pub cluster: Option<[u32; 3]>,
}

impl Launch {
    /// A launch without arguments yet.
    pub fn new(kernel: &str, grid: [u32; 3], block: [u32; 3]) -> Launch {
        Launch { kernel: kernel.into(), grid, block, ..Launch::default() }
    }

    /// Appends an argument from its bytes.
    pub fn argument(mut self, bytes: &[u8]) -> Launch {
        self.arguments.push(bytes.to_vec());
        self
    }

    /// Appends a device address.
    pub fn address(self, address: u64) -> Launch {
        self.argument(&address.to_le_bytes())
    }

    /// Appends a 32-bit unsigned number.
    pub fn u32(self, value: u32) -> Launch {
        self.argument(&value.to_le_bytes())
    }

    /// Appends a 32-bit signed number.
    pub fn i32(self, value: i32) -> Launch {
        self.argument(&value.to_le_bytes())
    }

    /// Appends a 64-bit number.
    pub fn u64(self, value: u64) -> Launch {
        self.argument(&value.to_le_bytes())
    }

    /// Appends a single-precision float.
    pub fn f32(self, value: f32) -> Launch {
        self.argument(&value.to_le_bytes())
    }

    /// Sets the dynamic shared memory.
    pub fn shared(mut self, bytes: u32) -> Launch {
        self.dynamic_shared_bytes = bytes;
        self
    }

    /// Groups blocks into clusters.
    pub fn clusters(mut self, blocks: [u32; 3]) -> Launch {
        self.cluster = Some(blocks);
        self
    }

    /// Blocks per cluster of a launch of this kernel.
    pub fn cluster_of(&self, kernel: &Kernel) -> [u32; 3] {
        self.cluster.or(kernel.required_cluster).unwrap_or([1; 3])
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|n| *n as u64).product()
    }

    /// Threads of a block.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|n| *n as u64).product()
    }
}

/// The limits of the device that is imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Shared memory that a block may have, static and dynamic together.
    pub shared_bytes_per_block: u32,
    /// Threads that a block may have.
    pub threads_per_block: u32,
    /// Largest block in x, y, z.
    pub block: [u32; 3],
    /// Largest grid in x, y, z.
    pub grid: [u32; 3],
    /// Multiprocessors, for `%nsmid` and for how many blocks are resident at once.
    pub multiprocessors: u32,
    /// Blocks that one multiprocessor holds at most.
    pub blocks_per_multiprocessor: u32,
    /// Blocks that a cluster has at most; 1 where there are no clusters.
    pub blocks_per_cluster: u32,
    /// Largest number of bytes of static shared memory.
    pub static_shared_bytes: u32,
}

impl Default for Limits {
    /// A Hopper GPU with 132 multiprocessors.
    fn default() -> Limits {
        Limits {
            shared_bytes_per_block: 227 << 10,
            threads_per_block: 1024,
            block: [1024, 1024, 64],
            grid: [0x7fff_ffff, 65535, 65535],
            multiprocessors: 132,
            blocks_per_multiprocessor: 32,
            blocks_per_cluster: 16,
            static_shared_bytes: 48 << 10,
        }
    }
}

/// Checks a launch against the kernel and the limits, without running it.
///
/// # Errors
/// When there is no such kernel, or grid, block, shared memory or parameters do not fit it.
pub fn validate<'m>(
    module: &'m Module,
    launch: &Launch,
    limits: &Limits,
) -> Result<&'m Kernel, Error> {
    let kernel = module.kernel(&launch.kernel)?;
    if let Err(error) = &kernel.program {
        return Err(error.clone());
    }
    let configuration = |message: String| Err(Error::LaunchConfiguration { message });
    for (what, extent, most) in
        [("grid", launch.grid, limits.grid), ("block", launch.block, limits.block)]
    {
        for (axis, (n, most)) in "xyz".chars().zip(extent.into_iter().zip(most)) {
            if n == 0 || n > most {
                return configuration(format!("{what} {axis} is {n}, allowed are 1 to {most}"));
            }
        }
    }
    if !launch.cooperative && kernel.program.as_ref().is_ok_and(|program| program.grid_barrier) {
        return configuration(
            "it waits for the whole grid (`grid::sync`), and only the blocks of a cooperative launch can: launch it by \
             `Launcher::launch_cooperative` or `cuLaunchCooperativeKernel`"
                .to_owned(),
        );
    }
    let threads = launch.threads();
    let registers = kernel.program.as_ref().map_or(0, Program::register_bytes);
    let block = registers.saturating_mul(threads.div_ceil(32));
    if block > REGISTER_BYTES_MAX {
        return configuration(format!(
            "the registers that the PTX of `{}` names take {block} bytes in a block of {threads} \
             threads, more than {REGISTER_BYTES_MAX}: launch a smaller block, or split the kernel",
            kernel.name
        ));
    }
    let most = kernel.max_threads.unwrap_or(u32::MAX).min(limits.threads_per_block);
    if threads > most as u64 {
        return configuration(format!("{threads} threads per block, allowed are {most}"));
    }
    if let Some(required) = kernel.required_block
        && required != launch.block
    {
        return configuration(format!(
            "block is {:?}, the kernel requires {required:?}",
            launch.block
        ));
    }
    validate_cluster(kernel, launch, limits)?;
    let static_bytes = kernel.static_shared_bytes();
    if static_bytes > limits.static_shared_bytes {
        return configuration(format!(
            "{static_bytes} bytes of static shared memory, allowed are {}",
            limits.static_shared_bytes
        ));
    }
    let shared = static_bytes as u64 + launch.dynamic_shared_bytes as u64;
    if shared > limits.shared_bytes_per_block as u64 {
        return configuration(format!(
            "{shared} bytes of shared memory per block, allowed are {}",
            limits.shared_bytes_per_block
        ));
    }
    if launch.arguments.len() != kernel.parameters.len() {
        return Err(Error::Arguments {
            message: format!(
                "kernel `{}` has {} parameters, {} arguments were given",
                kernel.name,
                kernel.parameters.len(),
                launch.arguments.len()
            ),
        });
    }
    for (index, (argument, parameter)) in
        launch.arguments.iter().zip(&kernel.parameters).enumerate()
    {
        if argument.len() != parameter.bytes as usize {
            return Err(Error::Arguments {
                message: format!(
                    "argument {index} has {} bytes, parameter `{}` of kernel `{}` has {}",
                    argument.len(),
                    parameter.name,
                    kernel.name,
                    parameter.bytes
                ),
            });
        }
    }
    Ok(kernel)
}

/// Bytes that the registers of a block may take.
const REGISTER_BYTES_MAX: u64 = 1 << 30;

fn validate_cluster(kernel: &Kernel, launch: &Launch, limits: &Limits) -> Result<(), Error> {
    let cluster = launch.cluster_of(kernel);
    let configuration = |message: String| Err(Error::LaunchConfiguration { message });
    let blocks = cluster.iter().map(|n| *n as u64).product();
    if !(1..=limits.blocks_per_cluster as u64).contains(&blocks) {
        let most = limits.blocks_per_cluster;
        return configuration(format!("{blocks} blocks per cluster, allowed are 1 to {most}"));
    }
    if kernel.required_cluster.is_some_and(|required| required != cluster) {
        let required = kernel.required_cluster.unwrap_or_default();
        return configuration(format!(
            "the cluster is {cluster:?}, the kernel requires {required:?}"
        ));
    }
    for (axis, (grid, blocks)) in "xyz".chars().zip(launch.grid.into_iter().zip(cluster)) {
        if !grid.is_multiple_of(blocks) {
            return configuration(format!(
                "grid {axis} is {grid}, no multiple of the cluster's {blocks}"
            ));
        }
    }
    Ok(())
}
