//! What to run and how: the inputs of [`run`](crate::run), and what comes back.

use crate::counters::Counters;
use crate::error::Error;
use crate::findings::{Checks, Finding};
use crate::memory::Memory;
use crate::module::{Kernel, Module};
use crate::requests::{RequestRecord, Watched};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

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

/// The order in which warps and blocks take turns where the program leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Schedule {
    /// Ascending.
    #[default]
    Forward,
    /// Descending.
    Reverse,
    /// Permuted by a seed, with warps interrupted at points that the seed picks.
    Seeded(u64),
}

/// How to run a launch.
#[derive(Clone, Debug)]
pub struct Options {
    /// Count memory traffic; instruction counts are always there.
    pub counters: bool,
    /// Which hazards to look for.
    pub checks: Checks,
    /// Threads to use; 0 takes what the machine has.
    pub threads: usize,
    /// Warp-instructions after which a launch is taken to run forever.
    pub fuel: u64,
    /// The order of warps and blocks.
    pub schedule: Schedule,
    /// Run blocks one after the other where their order could change results. Results are then
    /// the same for every number of threads.
    pub deterministic: bool,
    /// Run only these blocks, by linear index, with those of their clusters; all when `None`.
    pub sample: Option<Vec<u64>>,
    /// The device's limits.
    pub limits: Limits,
    /// Findings after which no more are recorded.
    pub findings_max: usize,
    /// Estimate what the launch waits for and what caches serve, with these figures.
    pub estimate: Option<Latencies>,
    /// Addresses of memory behind a slower link, such as the host's: the estimate counts their traffic apart.
    pub far: Vec<Range<u64>>,
    /// Record the requests of this warp, if it runs; needs `counters`.
    pub watched: Option<Watched>,
    /// The device's second cache, for the estimate.
    pub l2: L2,
}

/// What an [`Estimate`] assumes of the device, in cycles of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// From a load or atomic of global memory that leaves the multiprocessor to its result.
    pub global: u32,
    /// The same for shared memory, for what L1 has, and for exchange between lanes.
    pub shared: u32,
    /// From one instruction to another that needs its result.
    pub arithmetic: u32,
    /// From a barrier to the next instruction once the last warp has come.
    pub barrier: u32,
    /// Lines of 128 bytes that L1 keeps.
    pub l1_lines: u32,
}

/// What an [`Estimate`] assumes of the device's second cache.
#[derive(Clone, Debug, PartialEq)]
pub struct L2 {
    /// What it holds of memory outside of a window.
    pub bytes: u64,
    /// Addresses that have a part of it to themselves.
    pub window: Option<Window>,
    /// What that part holds when the launch begins.
    pub there: Arc<Pieces>,
}

impl Default for L2 {
    /// A cache that loses nothing during a launch.
    fn default() -> L2 {
        L2 { bytes: u64::MAX, window: None, there: Arc::default() }
    }
}

/// Pieces of 64 bytes of memory: a bit for each of 64 in a page of 4 KiB, by the page's number.
pub type Pieces = BTreeMap<u64, u64>;

/// A window of addresses of which a part of the second cache keeps pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The addresses.
    pub range: Range<u64>,
    /// Which part of the pieces is kept, chosen by a hash of their addresses.
    pub ratio: f32,
    /// What the part of the cache holds.
    pub set_aside_bytes: u64,
}

impl Window {
    /// What fits: a little more than is set aside, for the hash does not meet the ratio to the piece.
    pub fn room(&self) -> u64 {
        self.set_aside_bytes + self.set_aside_bytes / 64
    }

    /// Whether the piece is one of those that are kept.
    pub(crate) fn keeps(&self, piece: u64) -> bool {
        let hash = piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        self.range.contains(&(piece << 6)) && (hash as f32) < self.ratio * (1u64 << 24) as f32
    }

    /// Those of a page that are kept.
    pub(crate) fn kept(&self, page: u64) -> u64 {
        (0..64).filter(|bit| self.keeps(page << 6 | bit)).fold(0, |mask, bit| mask | 1 << bit)
    }
}

/// Model: what a launch waits for, and what its memory traffic comes to behind the caches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// The cycles from start to end of each warp if it were alone, summed over warps.
    pub chain_cycles: u64,
    /// Those of them before a block's first barrier and after its last, without loads of global memory: what a block
    /// does once, however much it works on.
    pub once_cycles: u64,
    /// Sectors of loads from near memory that L1 did not have.
    pub l1_missed_sectors: u64,
    /// Lines of loads of which L1 lacked a sector, each a request to L2.
    pub l1_missed_lines: u64,
    /// Lanes of atomics that met in the line that had most of them; those of floats count twice.
    pub hottest_line_atomics: u64,
    /// Distinct sectors of near memory that atomics changed.
    pub atomic_sectors: u64,
    /// Bytes that L2 asked of memory, in the pieces of 64 bytes that memory hands out.
    pub dram_read_bytes: u64,
    /// Sectors of which every byte was written.
    pub dram_whole_sectors_written: u64,
    /// Sectors of which some bytes were written: memory has to read the others.
    pub dram_partial_sectors_written: u64,
    /// Sectors of loads from far memory that the block's own L1 did not have; nothing else keeps them.
    pub far_sectors_read: u64,
    /// Lines of far memory with such sectors, summed over requests: each is a request to the link.
    pub far_lines_read: u64,
    /// Sectors of far memory that each store or atomic reached for, summed over requests.
    pub far_sectors_written: u64,
    /// The lines with such sectors, summed over requests.
    pub far_lines_written: u64,
    /// Pieces of the window that were read and are kept.
    pub kept: Pieces,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            counters: true,
            checks: Checks::none(),
            threads: 0,
            fuel: 20_000_000_000,
            schedule: Schedule::Forward,
            deterministic: true,
            sample: None,
            limits: Limits::default(),
            findings_max: 100,
            estimate: None,
            far: Vec::new(),
            watched: None,
            l2: L2::default(),
        }
    }
}

/// Where an instruction comes from in the source that was compiled to PTX.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLocation {
    /// The file as the compiler names it.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The places that the code was inlined into, innermost first.
    pub inlined_at: Vec<(String, u32)>,
}

impl SourceLocation {
    /// The place that a kernel's author sees: the call site of inlined code.
    pub fn outermost(&self) -> (&str, u32) {
        match self.inlined_at.last() {
            Some((file, line)) => (file, *line),
            None => (&self.file, self.line),
        }
    }

    /// The innermost of its places that lies in a file whose name ends like this. The compiler gives code that belongs
    /// to no line of a file the line 0, which is not a place.
    pub fn line_in(&self, file: &str) -> Option<u32> {
        let own = (&self.file, self.line);
        let around = self.inlined_at.iter().map(|(file, line)| (file, *line));
        let mut places = std::iter::once(own).chain(around);
        places.find(|(name, line)| name.ends_with(file) && *line > 0).map(|(_, line)| line)
    }
}

/// What one instruction did.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionReport {
    /// The function that it belongs to.
    pub function: String,
    /// The opcode with modifiers.
    pub text: String,
    /// Its line in the PTX.
    pub ptx_line: u32,
    /// Its place in the source, from `.loc`.
    pub source: Option<SourceLocation>,
    /// Its result is only approximately that of hardware.
    pub is_approximate: bool,
    /// What was counted.
    pub counters: Counters,
    /// The first request of the watched warp, one of each kind; of local memory and matrices none.
    pub requests: Vec<RequestRecord>,
}

impl InstructionReport {
    /// Single-precision additions and multiplications that it did, lane by lane; a fused one is two.
    pub fn flops_f32(&self) -> u64 {
        let mut parts = self.text.split('.');
        let opcode = parts.next().unwrap_or_default();
        let width = parts.map(|part| match part {
            "f32" => 1,
            "f32x2" => 2,
            _ => 0,
        });
        let per_operation = match opcode {
            "fma" | "mad" => 2,
            "add" | "sub" | "mul" => 1,
            _ => 0,
        };
        let per_lane = per_operation * width.max().unwrap_or(0);
        per_lane * self.counters.predicated_on_thread_instructions
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The sum over all instructions.
    pub counters: Counters,
    /// When a time is estimated: the sum over instructions that only run before a block's first barrier or after its
    /// last, and load no global memory there.
    pub once: Counters,
    /// Per instruction, in the order of the PTX; instructions that never ran are left out.
    pub instructions: Vec<InstructionReport>,
    /// Hazards.
    pub findings: Vec<Finding>,
    /// What the kernel printed.
    pub printed: String,
    /// Blocks that ran.
    pub blocks: u64,
    /// Warps that ran.
    pub warps: u64,
    /// What was estimated, when it was asked for.
    pub estimate: Option<Estimate>,
}

/// Checks a launch against the kernel and the limits, without running it.
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
    let threads = launch.threads();
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

/// Runs a launch to its end.
///
/// The module's variables are placed in memory on its first launch.
pub fn run(
    module: &Module,
    memory: &mut Memory,
    launch: &Launch,
    options: &Options,
) -> Result<Report, Error> {
    let kernel = validate(module, launch, &options.limits)?;
    module.load(memory)?;
    crate::execute::run(module, kernel, memory, launch, options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fused_multiply_and_add_is_two_operations() {
        let flops = |text: &str| {
            let counters =
                Counters { predicated_on_thread_instructions: 31, ..Counters::default() };
            let (function, source) = (String::new(), None);
            let text = text.to_owned();
            InstructionReport {
                function,
                text,
                ptx_line: 1,
                source,
                is_approximate: false,
                counters,
                requests: Vec::new(),
            }
            .flops_f32()
        };
        let counted = ["fma.rn.f32", "add.rn.f32", "mul.f32", "add.f32x2"].map(flops);
        assert_eq!(counted, [62, 31, 31, 62]);
        let counted = ["add.s32", "fma.rn.f64", "cvt.rn.f32.u32", "ld.global.f32"].map(flops);
        assert_eq!(counted, [0; 4]);
    }
}
