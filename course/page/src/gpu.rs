//! A device without a driver: the executor, arrays between guards, and launches that run at once. It has the names that
//! the course's files use.

use crate::case::{Before, Case};
use crate::data::{Data, Element, POISON, compare};
use crate::fault::{Fault, VerifyOutcome};
use crate::size::Size;
use anyhow::{Result, bail};
use counters::{Counters, RequestRecord, SourceLocation};
use simt::{Checks, Launch, Location, Memory, Module, Options, Report, Schedule, Watched};
use std::cell::RefCell;
use std::rc::Rc;

/// Memory of the counting device, bytes: more than a page has.
const CAPACITY: u64 = 1 << 36;
/// Bytes on either side of an array.
const GUARD: usize = 1024;

/// Counts of an instruction.
#[derive(Clone, Debug)]
pub struct InstructionCounts {
    pub ptx_line: u32,
    pub source: Option<SourceLocation>,
    pub counters: Counters,
    pub requests: Vec<RequestRecord>,
}

pub fn instruction(report: simt::InstructionReport) -> InstructionCounts {
    let simt::InstructionReport { ptx_line, source, counters, requests, .. } = report;
    InstructionCounts { ptx_line, source, counters, requests }
}

/// Names are written as they are: `rust_to_ptx` mangles none.
pub fn demangled(_: &str) -> Option<String> {
    None
}

#[derive(Clone, Copy)]
pub struct VirtualOptions {
    pub checks: Checks,
    pub schedule: Schedule,
    pub times: bool,
    pub prints: bool,
    pub fuel: u64,
}

impl Default for VirtualOptions {
    fn default() -> VirtualOptions {
        let (checks, schedule) = (Checks::none(), Schedule::Forward);
        VirtualOptions { checks, schedule, times: false, prints: false, fuel: 20_000_000_000 }
    }
}

/// A kernel's PTX.
pub struct Image {
    text: &'static str,
}

impl Image {
    /// # Safety
    /// - None: the executor checks all that the PTX does.
    pub unsafe fn new(_: u32, text: &'static str, _: &[()], _: &str, _: &str) -> Image {
        Image { text }
    }
}

pub type GpuError = anyhow::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFault {
    IllegalAddress,
    MisalignedAddress,
    NeverEnds,
    Other,
}

#[derive(Clone, Debug)]
pub struct MisusedMemory {
    pub address: u64,
    pub location: Option<Location>,
    pub lanes: u32,
    pub writes: bool,
}

/// An end of a kernel before its time.
#[derive(Clone, Debug)]
pub struct Misuse {
    pub fault: Option<KernelFault>,
    pub memory: Option<MisusedMemory>,
    message: String,
}

impl std::fmt::Display for Misuse {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "cuLaunchKernel: {}", self.message)
    }
}

impl Misuse {
    fn of(error: &simt::Error) -> Misuse {
        use simt::Error::{Deadlock, IllegalAddress, MisalignedAddress, OutOfFuel};
        let fault = match error {
            IllegalAddress { .. } => KernelFault::IllegalAddress,
            MisalignedAddress { .. } => KernelFault::MisalignedAddress,
            Deadlock { .. } | OutOfFuel { .. } => KernelFault::NeverEnds,
            _ => KernelFault::Other,
        };
        let memory = match error {
            IllegalAddress { place, address, .. } | MisalignedAddress { place, address, .. } => {
                let stores = ["st.", "atom.", "red."];
                let writes = stores.iter().any(|opcode| place.instruction.starts_with(opcode));
                Some(MisusedMemory {
                    address: *address,
                    location: None,
                    lanes: place.lanes,
                    writes,
                })
            }
            _ => None,
        };
        Misuse { fault: Some(fault), memory, message: error.to_string() }
    }
}

pub struct LaunchRecord {
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub report: Report,
    pub model_ns: f64,
}

struct State {
    module: Module,
    memory: Memory,
    options: VirtualOptions,
    watches: bool,
    executes: bool,
    launches: Vec<LaunchRecord>,
    misuse: Vec<Misuse>,
}

/// A device's answers besides those of launches.
pub struct VirtualDevice {
    state: Rc<RefCell<State>>,
}

impl VirtualDevice {
    pub fn forget_failure(&self) {}

    pub fn drain_launches(&self) -> Vec<LaunchRecord> {
        std::mem::take(&mut self.state.borrow_mut().launches)
    }

    pub fn drain_misuse(&self) -> Vec<Misuse> {
        std::mem::take(&mut self.state.borrow_mut().misuse)
    }

    pub fn watch_first_warp(&self, watches: bool) {
        self.state.borrow_mut().watches = watches;
    }

    /// The launches of something that is not executed.
    pub fn without_executing(
        &self,
        (): (),
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<Vec<LaunchRecord>> {
        self.state.borrow_mut().executes = false;
        let enqueued = enqueue();
        self.state.borrow_mut().executes = true;
        enqueued?;
        Ok(self.drain_launches())
    }
}

pub struct Gpu {
    device: VirtualDevice,
}

impl Gpu {
    pub fn open_virtual(_: &str, images: &'static [Image], options: VirtualOptions) -> Result<Gpu> {
        let text: String = images.iter().map(|image| image.text).collect();
        let module = Module::parse(&text)?;
        let mut memory = Memory::new(CAPACITY);
        if options.checks.uninitialized {
            memory.track_initialization();
        }
        module.load(&mut memory)?;
        let state = State {
            module,
            memory,
            options,
            watches: false,
            executes: true,
            launches: Vec::new(),
            misuse: Vec::new(),
        };
        Ok(Gpu { device: VirtualDevice { state: Rc::new(RefCell::new(state)) } })
    }

    pub fn virtual_device(&self) -> Option<&VirtualDevice> {
        Some(&self.device)
    }

    pub fn launcher(&self) -> Launcher<'_> {
        Launcher { gpu: self }
    }

    /// Nothing runs beside anything here.
    pub fn stream(&self) {}

    pub fn module(&self) -> Kernels<'_> {
        Kernels { gpu: self }
    }
}

pub mod function {
    pub enum FunctionAttribute {
        SharedMemorySizeBytes,
    }
}

pub struct Kernels<'a> {
    gpu: &'a Gpu,
}

pub struct KernelOf {
    shared_bytes: u32,
}

impl Kernels<'_> {
    pub fn get_function(&self, name: &str) -> Result<KernelOf> {
        let state = self.gpu.device.state.borrow();
        Ok(KernelOf { shared_bytes: state.module.kernel(name)?.static_shared_bytes() })
    }
}

impl KernelOf {
    pub fn get_attribute(&self, _: function::FunctionAttribute) -> Result<i32> {
        Ok(self.shared_bytes.try_into()?)
    }
}

/// Extents of a grid or a block.
pub trait Extents {
    fn extents(self) -> [u32; 3];
}

impl Extents for u32 {
    fn extents(self) -> [u32; 3] {
        [self, 1, 1]
    }
}

impl Extents for (u32, u32) {
    fn extents(self) -> [u32; 3] {
        [self.0, self.1, 1]
    }
}

/// An argument of a kernel.
pub trait Argument {
    fn given(&self, launch: Launch) -> Launch;
}

impl Argument for u32 {
    fn given(&self, launch: Launch) -> Launch {
        launch.u32(*self)
    }
}

impl Argument for arrays::Address {
    fn given(&self, launch: Launch) -> Launch {
        launch.address(self.address())
    }
}

pub trait Arguments {
    fn given(&self, launch: Launch) -> Launch;
}

macro_rules! arguments {
    ($($name:ident: $kind:ident),+) => {
        impl<$($kind: Argument),+> Arguments for ($($kind,)+) {
            fn given(&self, launch: Launch) -> Launch {
                let ($($name,)+) = self;
                $(let launch = $name.given(launch);)+
                launch
            }
        }
    };
}
arguments!(a: A, b: B);
arguments!(a: A, b: B, c: C);
arguments!(a: A, b: B, c: C, d: D);
arguments!(a: A, b: B, c: C, d: D, e: E);
arguments!(a: A, b: B, c: C, d: D, e: E, f: F);

pub struct Launcher<'a> {
    gpu: &'a Gpu,
}

impl Launcher<'_> {
    /// Executes a kernel.
    ///
    /// # Safety
    /// - None: the executor checks all that the kernel does.
    pub unsafe fn launch(
        &self,
        kernel: &str,
        grid: impl Extents,
        block: impl Extents,
        shared_bytes: u32,
        arguments: impl Arguments,
    ) -> Result<()> {
        let (grid, block) = (grid.extents(), block.extents());
        let launch = arguments.given(Launch::new(kernel, grid, block).shared(shared_bytes));
        let mut state = self.gpu.device.state.borrow_mut();
        let State { module, memory, options, watches, executes, launches, misuse } = &mut *state;
        let mut report = Report::default();
        let mut failure = None;
        if *executes {
            let options = Options {
                threads: 1,
                checks: options.checks,
                schedule: options.schedule,
                fuel: options.fuel,
                watched: watches.then_some(Watched { block: 0, warp: 0 }),
                ..Options::default()
            };
            let mut before_failure = Report::default();
            match simt::run_observed(module, memory, &launch, &options, &mut before_failure, None) {
                Ok(done) => report = done,
                Err(error) => {
                    report = before_failure;
                    misuse.push(Misuse::of(&error));
                    failure = Some(error);
                }
            }
        }
        launches.push(LaunchRecord {
            kernel: kernel.to_owned(),
            grid,
            block,
            report,
            model_ns: 0.0,
        });
        failure.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// The arrays of a case, each between guards.
pub mod arrays {
    use super::*;

    /// An array's first address.
    #[derive(Clone, Copy)]
    pub struct Address(pub(super) u64);

    impl Address {
        pub fn address(self) -> u64 {
            self.0
        }
    }

    pub struct Arrays {
        pub(super) inputs: Vec<u64>,
        pub(super) outputs: Vec<u64>,
        /// Bytes before and after each input.
        guard: usize,
        state: Rc<RefCell<State>>,
    }

    impl Arrays {
        pub(crate) fn new(gpu: &Gpu, case: &Case) -> Result<Arrays> {
            Arrays::placed(gpu, case, GUARD)
        }

        /// Allocates inputs alone, so that a read beside one is an illegal address.
        pub(crate) fn with_inputs_alone(gpu: &Gpu, case: &Case) -> Result<Arrays> {
            Arrays::placed(gpu, case, 0)
        }

        fn placed(gpu: &Gpu, case: &Case, guard: usize) -> Result<Arrays> {
            let state = Rc::clone(&gpu.device.state);
            let mut arrays = Arrays { inputs: Vec::new(), outputs: Vec::new(), guard, state };
            let state = Rc::clone(&arrays.state);
            let memory = &mut state.borrow_mut().memory;
            for data in &case.inputs {
                let bytes = data.byte_len();
                let start = memory.allocate((2 * guard + bytes).max(1) as u64)? + guard as u64;
                arrays.inputs.push(start);
                memory.write(start, data.bytes())?;
                let rest = (bytes.next_multiple_of(16) - bytes).min(guard);
                memory.fill(start + bytes as u64, POISON, rest)?;
            }
            for output in &case.outputs {
                let bytes = output.reference.byte_len();
                let start = memory.allocate((2 * GUARD + bytes) as u64)?;
                memory.fill(start, POISON, 2 * GUARD + bytes)?;
                let start = start + GUARD as u64;
                arrays.outputs.push(start);
                match output.before {
                    Before::Poison => {}
                    Before::Zeros => memory.fill(start, 0, bytes)?,
                    Before::Input(_) => bail!("work in place is not in a page"),
                }
            }
            Ok(arrays)
        }

        pub fn input<T: Element>(&self, index: usize) -> Address {
            Address(self.inputs[index])
        }

        pub fn output<T: Element>(&self, index: usize) -> Address {
            Address(self.outputs[index])
        }
    }

    impl Drop for Arrays {
        fn drop(&mut self) {
            let memory = &mut self.state.borrow_mut().memory;
            let inputs = self.inputs.iter().map(|start| start - self.guard as u64);
            for start in inputs.chain(self.outputs.iter().map(|start| start - GUARD as u64)) {
                // What was allocated is freed once.
                let _ = memory.free(start);
            }
        }
    }
}

/// A pattern, with what a page needs of it.
pub mod pattern {
    pub use crate::case::{Before, Case, Output};
    pub use crate::size::{Dimension, Size, Sweep};

    use super::{Gpu, Launcher, arrays::Arrays};
    use crate::data::Random;
    use anyhow::Result;

    #[derive(Debug)]
    pub struct Bytes {
        pub read: usize,
        pub written: usize,
    }

    #[derive(Debug)]
    pub struct Pattern {
        pub name: &'static str,
        pub group: &'static str,
        pub doc_source: &'static str,
        pub dimensions: &'static [Dimension],
        pub verify_sizes: &'static [&'static [usize]],
        pub bench_size: &'static [usize],
        pub count_size: &'static [usize],
        pub sweeps: &'static [Sweep],
        pub case: fn(&Size, &mut Random) -> Case,
        pub bytes: fn(&Size) -> Bytes,
        pub minimum_time: fn(&Variant, &Size) -> Option<((), usize)>,
        pub variants: &'static [Variant],
    }

    type Launch = fn(&Launcher<'_>, &Arrays, &Size) -> Result<()>;

    #[derive(Debug)]
    pub struct Variant {
        pub name: &'static str,
        pub work: Implementation,
    }

    #[derive(Debug)]
    pub enum Implementation {
        Kernel { launch: Launch },
        Host,
    }

    impl Variant {
        pub const fn kernel(name: &'static str, launch: Launch) -> Variant {
            Variant { name, work: Implementation::Kernel { launch } }
        }
    }

    impl Pattern {
        pub(crate) fn arrays(&self, gpu: &Gpu, case: &Case) -> Result<Arrays> {
            Arrays::new(gpu, case)
        }

        /// A size written as `n=1048576, offset=3`.
        pub fn show_size(&self, size: &Size) -> String {
            let parts = self.dimensions.iter().zip(size.values());
            let parts = parts.map(|(dimension, value)| {
                format!("{}={}", dimension.name, dimension.number(*value))
            });
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

/// One run that is compared with its reference.
pub mod verify {
    pub use crate::fault::{Fault, VerifyOutcome};

    use super::arrays::Arrays;
    use super::pattern::{Implementation, Pattern, Variant};
    use super::*;
    use crate::data::Random;

    pub fn case(pattern: &Pattern, size: &Size, seed: u64) -> Case {
        (pattern.case)(size, &mut Random::new(seed))
    }

    pub fn verify(
        gpu: &Gpu,
        case: &Case,
        arrays: &Arrays,
        variant: &'static Variant,
        size: &Size,
    ) -> Result<VerifyOutcome> {
        let Implementation::Kernel { launch } = variant.work else {
            return Ok(VerifyOutcome::NotRun("it is the host's".to_owned()));
        };
        launch(&gpu.launcher(), arrays, size)?;
        let state = gpu.device.state.borrow();
        for (index, (start, output)) in arrays.outputs.iter().zip(&case.outputs).enumerate() {
            let bytes = output.reference.byte_len();
            let mut all = vec![0; 2 * GUARD + bytes];
            state.memory.read(start - GUARD as u64, &mut all)?;
            let is_inside = |at: usize| (GUARD..GUARD + bytes).contains(&at);
            let broken =
                all.iter().enumerate().position(|(at, byte)| !is_inside(at) && *byte != POISON);
            if let Some(at) = broken {
                let byte = at as isize - GUARD as isize;
                return Ok(VerifyOutcome::Wrong(Fault::OutOfBounds { output: index, byte }));
            }
            let mut result = output.reference.zeroed();
            result.bytes_mut().copy_from_slice(&all[GUARD..GUARD + bytes]);
            if result.bytes() == output.reference.bytes() {
                continue;
            }
            if let Some(mismatch) = compare(&result, &output.reference, output.tolerance) {
                return Ok(VerifyOutcome::Wrong(Fault::Element { output: index, mismatch }));
            }
        }
        Ok(VerifyOutcome::Correct)
    }
}
