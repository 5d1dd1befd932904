//! Patterns: data, so that tests, bench, report and docs can iterate the registry.

use crate::arrays::Arrays;
pub use crate::case::{Before, Case, Output};
use crate::data::{Data, Random};
use crate::peer::Peer;
pub use crate::size::{Dimension, Size, Sweep, Values, fits_grid_y};
pub use crate::unavailable::Unavailable;
use anyhow::Result;
use cuda_host::{Gpu, GpuError, Launcher};
use report::glossary;
pub use results::Resource;

/// A memory pattern: one claim, shown by a ladder of variants that compute the same thing.
#[derive(Debug)]
pub struct Pattern {
    /// The stem of both files and the prefix of every kernel's name.
    pub name: &'static str,
    /// The topic: the folder of both files.
    pub group: &'static str,
    /// The text of the file whose `//!` part is the teaching doc: the device file, or the host file of host work.
    pub doc_source: &'static str,
    /// The names of a size's numbers, in order.
    pub dimensions: &'static [Dimension],
    /// The sizes at which results are checked.
    pub verify_sizes: &'static [&'static [usize]],
    /// The size at which the ladder is measured.
    pub bench_size: &'static [usize],
    /// A size without ragged edges, at which the expected traffic is exact.
    pub count_size: &'static [usize],
    /// Curves to measure besides the ladder.
    pub sweeps: &'static [Sweep],
    /// Inputs and references for a size.
    pub case: fn(&Size, &mut Random) -> Case,
    /// The bytes any implementation must move through device memory.
    pub bytes: fn(&Size) -> Bytes,
    /// Measured peak that bounds a variant's time from below, and the amount it takes of it; `None` if none does.
    pub minimum_time: fn(&Variant, &Size) -> Option<(Resource, usize)>,
    /// Naive first; the order is the lesson.
    pub variants: &'static [Variant],
}

/// One way to compute the pattern's result.
#[derive(Debug)]
pub struct Variant {
    /// Its effect, as a word; `{pattern}_{variant}` is its kernel's name, if it has one. What changed from the variant
    /// before is in the table of the doc, see [`Pattern::summary`].
    pub name: &'static str,
    /// The oldest compute capability it runs on, times ten: 70 is the oldest PTX.
    pub min_compute_capability: u32,
    /// Why it cannot run at a size, if it cannot.
    pub precondition: fn(&Size) -> std::result::Result<(), &'static str>,
    /// The outputs it writes; it must leave the others alone.
    pub outputs: &'static [usize],
    /// The work of the variant.
    pub work: Implementation,
    /// The traffic its kernel should cause.
    pub expect: fn(&Size) -> Expectation,
}

/// The work of a variant: launches of kernels, or work of the host.
#[derive(Clone, Copy, Debug)]
pub enum Implementation {
    /// It launches its kernel on the case's arrays, and others if it needs them.
    Kernel {
        /// Brings the device into the state that its launch needs, such as a symbol's content or a texture: done
        /// before each check, never while it is timed.
        prepare: Option<fn(&Preparation<'_>) -> Result<()>>,
        /// Enqueues its work, and only that.
        launch: fn(&Launcher<'_>, &Arrays, &Size) -> Result<(), GpuError>,
        /// The kernels that it launches besides its own, without the pattern's name.
        helper_kernels: &'static [&'static str],
        /// The bytes that it moves, where they are others than the pattern's.
        bytes: Option<fn(&Size) -> Bytes>,
    },
    /// It is not ours: CUDA C++ or a library, on the case's arrays.
    Peer(Peer),
    /// It is the host's: memory, copies, streams, events, graphs.
    Host {
        /// The bytes that it moves, where they are others than the pattern's.
        bytes: Option<fn(&Size) -> Bytes>,
        /// Makes its memory and streams.
        build: fn(&Gpu, &Case, &Size) -> Result<Box<dyn HostWork>>,
    },
}

/// The means of a launch's preparation.
pub struct Preparation<'a> {
    /// Writes symbols.
    pub launcher: &'a Launcher<'a>,
    /// The arrays that the launch will have; they keep textures, see [`Arrays::keep_texture`].
    pub arrays: &'a Arrays,
    /// The contents of the arrays.
    pub case: &'a Case,
    /// The size of the launch.
    pub size: &'a Size,
}

/// Work of the host with memory, streams or graphs of its own: built once, run many times.
pub trait HostWork {
    /// Does the work whose time is measured by two events on `gpu`'s stream: what it enqueues on other streams begins
    /// after what that stream has, and that stream waits for it.
    fn run(&mut self, gpu: &Gpu) -> Result<()>;

    /// Returns what the variant's outputs hold, in their order, after everything has ended. Before the first run
    /// they hold [`crate::data::POISON`].
    fn outputs(&mut self, gpu: &Gpu) -> Result<Vec<Data>>;

    /// Returns whether its kernels have more blocks at a larger size, unless each thread then does more.
    fn grows_in_blocks(&self) -> bool {
        true
    }
}

impl Variant {
    /// For variants that run at every size.
    pub const ANY_SIZE: fn(&Size) -> std::result::Result<(), &'static str> = |_| Ok(());

    /// Of this work; it runs on the oldest device and at every size, writes the first output only, and expects no
    /// traffic. What is different is said by the functions below.
    const fn of(name: &'static str, work: Implementation) -> Variant {
        Variant {
            name,
            min_compute_capability: 70,
            precondition: Variant::ANY_SIZE,
            outputs: &[0],
            work,
            expect: |_| Expectation::default(),
        }
    }

    /// A variant that launches its kernel; [`variant!`](crate::variant) takes the name from the kernel.
    pub const fn kernel(
        name: &'static str,
        launch: fn(&Launcher<'_>, &Arrays, &Size) -> Result<(), GpuError>,
    ) -> Variant {
        Variant::of(
            name,
            Implementation::Kernel { prepare: None, launch, helper_kernels: &[], bytes: None },
        )
    }

    /// The variant of a kernel named in the module of its pattern, on the devices that the kernel is for.
    #[doc(hidden)]
    pub const fn of_kernel(
        (kernel, capability): (&'static str, u32),
        module: &'static str,
        launch: fn(&Launcher<'_>, &Arrays, &Size) -> Result<(), GpuError>,
    ) -> Variant {
        let variant = Variant::kernel(name_within(kernel, module), launch);
        if capability == 0 { variant } else { variant.min_compute_capability(capability) }
    }

    /// A variant whose work is the host's.
    pub const fn host(
        name: &'static str,
        build: fn(&Gpu, &Case, &Size) -> Result<Box<dyn HostWork>>,
    ) -> Variant {
        Variant::of(name, Implementation::Host { bytes: None, build })
    }

    /// It causes this traffic.
    pub const fn expecting(self, expect: fn(&Size) -> Expectation) -> Variant {
        Variant { expect, ..self }
    }

    /// It needs this compute capability, times ten.
    pub const fn min_compute_capability(self, capability: u32) -> Variant {
        Variant { min_compute_capability: capability, ..self }
    }

    /// It runs at some sizes only.
    pub const fn only_when(
        self,
        precondition: fn(&Size) -> std::result::Result<(), &'static str>,
    ) -> Variant {
        Variant { precondition, ..self }
    }

    /// It writes these outputs.
    pub const fn writing(self, outputs: &'static [usize]) -> Variant {
        Variant { outputs, ..self }
    }

    /// It launches these kernels, too, named without the pattern's name.
    pub const fn with_helper_kernels(self, kernels: &'static [&'static str]) -> Variant {
        let work = match self.work {
            Implementation::Kernel { prepare, launch, bytes, .. } => {
                Implementation::Kernel { prepare, launch, helper_kernels: kernels, bytes }
            }
            other => other,
        };
        Variant { work, ..self }
    }

    /// The device is brought into a state first: see [`Implementation::Kernel`].
    pub const fn prepared(self, by: fn(&Preparation<'_>) -> Result<()>) -> Variant {
        let work = match self.work {
            Implementation::Kernel { launch, helper_kernels, bytes, .. } => {
                Implementation::Kernel { prepare: Some(by), launch, helper_kernels, bytes }
            }
            other => other,
        };
        Variant { work, ..self }
    }

    /// It moves other bytes than those of its pattern.
    pub const fn moving(self, own: fn(&Size) -> Bytes) -> Variant {
        let bytes = Some(own);
        let work = match self.work {
            Implementation::Kernel { prepare, launch, helper_kernels, .. } => {
                Implementation::Kernel { prepare, launch, helper_kernels, bytes }
            }
            Implementation::Host { build, .. } => Implementation::Host { bytes, build },
            Implementation::Peer(peer) => Implementation::Peer(peer),
        };
        Variant { work, ..self }
    }

    /// Returns whether its work is the host's.
    pub fn is_host_work(&self) -> bool {
        matches!(self.work, Implementation::Host { .. })
    }
}

/// The variant of a kernel `{pattern}_{variant}`, in the module of the pattern, which has its name.
///
/// `variant!(device::stride_copy, launch, 1)` is launched by `launch(launcher, arrays, size, device::stride_copy, 1)`,
/// `variant!(device::stride_copy => copy)` by `copy(launcher, arrays, size)`. One whose work is the host's has a name:
/// `variant!("packed", build, Way::Packed)` is built by `build(gpu, case, size, Way::Packed)`.
#[macro_export]
macro_rules! variant {
    ($name:literal, $build:path $(, $argument:expr)* $(,)?) => {
        $crate::pattern::Variant::host($name, |gpu, case, size| {
            $build(gpu, case, size $(, $argument)*)
        })
    };
    ($kernel:expr, $launch:path $(, $argument:expr)* $(,)?) => {
        $crate::variant!($kernel => |launcher, arrays, size| {
            $launch(launcher, arrays, size, $kernel $(, $argument)*)
        })
    };
    ($kernel:expr => $launch:expr) => {
        $crate::pattern::Variant::of_kernel(
            ($kernel.name(), $kernel.min_compute_capability()),
            ::core::module_path!(),
            $launch,
        )
    };
}

/// Returns what follows the last name of a module's path in the name of a kernel.
const fn name_within(kernel: &'static str, module: &'static str) -> &'static str {
    let (name, path) = (kernel.as_bytes(), module.as_bytes());
    let mut start = path.len();
    while start > 0 && path[start - 1] != b':' {
        start -= 1;
    }
    let pattern = path.len() - start;
    let mut at = 0;
    while at < pattern {
        assert!(name[at] == path[start + at], "a kernel's name begins with that of its pattern");
        at += 1;
    }
    assert!(name[pattern] == b'_', "a kernel is named PATTERN_VARIANT");
    kernel.split_at(pattern + 1).1
}

/// The traffic of a variant, counted per warp-level instruction (request).
///
/// `None`: the variant has no such requests, unless the field says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expectation {
    /// 32-byte sectors per global load request.
    pub load_sectors: Option<f64>,
    /// 32-byte sectors per global store request.
    pub store_sectors: Option<f64>,
    /// 32-byte sectors per texture fetch, in the executor's model of an array's layout.
    pub texture_sectors: Option<f64>,
    /// Passes through shared memory per shared load request.
    pub shared_load_wavefronts: Option<f64>,
    /// Passes through shared memory per shared store request.
    pub shared_store_wavefronts: Option<f64>,
    /// Passes through the constant cache per constant request, indexed parameters included.
    pub constant_wavefronts: Option<f64>,
    /// Passes through shared memory per shared atomic request.
    pub shared_atomic_wavefronts: Option<f64>,
    /// Atomic updates of global memory in all: one per lane and request.
    pub global_atomics: Option<f64>,
    /// Sectors per global atomic request, each as often as lanes want one address in it.
    pub global_atomic_updates: Option<f64>,
    /// 32-byte sectors per request of local memory, loads.
    pub local_load_sectors: Option<f64>,
    /// 32-byte sectors per request of local memory, stores.
    pub local_store_sectors: Option<f64>,
    /// Active lanes per executed instruction, where the variant promises it: `None` promises nothing.
    pub lanes_per_instruction: Option<f64>,
    /// The arithmetic behind the numbers, for people.
    pub arithmetic: &'static str,
}

impl Expectation {
    /// So many sectors per global load request and store request, and nothing else yet.
    pub fn sectors(load: f64, store: f64, arithmetic: &'static str) -> Expectation {
        Expectation {
            load_sectors: Some(load),
            store_sectors: Some(store),
            arithmetic,
            ..Expectation::default()
        }
    }

    /// So many wavefronts per shared load request and store request, too.
    #[must_use]
    pub fn shared(self, load: f64, store: f64) -> Expectation {
        let (load, store) = (Some(load), Some(store));
        Expectation { shared_load_wavefronts: load, shared_store_wavefronts: store, ..self }
    }
}

/// Bytes through device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// Each input element that is needed, once.
    pub read: usize,
    /// Each output element, once.
    pub written: usize,
}

impl Bytes {
    /// Returns how many times larger a problem is than another, by what grows more: the bytes read or those written.
    pub fn ratio(self, other: Bytes) -> f64 {
        let ratio = |a: usize, b: usize| if b == 0 { 0.0 } else { a as f64 / b as f64 };
        ratio(self.read, other.read).max(ratio(self.written, other.written))
    }

    /// Read and written together.
    pub fn total(self) -> usize {
        self.read + self.written
    }
}

impl Pattern {
    /// The teaching doc: the `//!` lines of its file, with the links to terms that they use.
    pub fn doc(&self) -> String {
        glossary::linked(&glossary::doc_of(self.doc_source))
    }

    /// Returns what changed from the variant before: the second cell of its row in the doc's table, without the
    /// capability that it needs; empty without a row.
    pub fn summary(&self, variant: &Variant) -> String {
        let doc = glossary::plain(&self.doc());
        let start = format!("| `{}` |", variant.name);
        let row = doc.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default();
        let cell = row.split(" |").next().unwrap_or_default().trim();
        let needed = format!(" (sm_{})", variant.min_compute_capability);
        cell.strip_suffix(&needed).unwrap_or(cell).to_owned()
    }

    /// The one claim a reader leaves with: what its doc says it shows, without links.
    pub fn claim(&self) -> String {
        self.paragraph("Shows: ")
    }

    /// Returns the sources of its claims about the hardware, as its doc has them.
    pub fn sources(&self) -> String {
        self.paragraph("Source: ")
    }

    /// The paragraph of the doc that begins with a label, without the label and the last full stop.
    fn paragraph(&self, label: &str) -> String {
        let doc = glossary::plain(&self.doc());
        let mut lines = doc.lines().skip_while(|line| !line.starts_with(label));
        let first = lines.next().and_then(|line| line.strip_prefix(label)).unwrap_or_default();
        let others = lines.take_while(|line| !line.is_empty());
        let text = std::iter::once(first).chain(others).collect::<Vec<_>>().join(" ");
        text.strip_suffix('.').unwrap_or(&text).to_owned()
    }

    /// The file of its kernels, below the workspace.
    pub fn kernel_file(&self) -> String {
        format!("kernels/src/{}/{}.rs", self.group, self.name)
    }

    /// The file of its host half, below the workspace.
    pub fn host_file(&self) -> String {
        format!("host/src/patterns/{}/{}.rs", self.group, self.name)
    }

    /// The file that its doc is in: that of its kernels, or of its host half if all its work is the host's.
    pub fn source_file(&self) -> String {
        if self.is_host_work() { self.host_file() } else { self.kernel_file() }
    }

    /// The name of a variant's kernel, if it is one.
    pub fn kernel_name(&self, variant: &Variant) -> Option<String> {
        match variant.work {
            Implementation::Kernel { .. } => Some(format!("{}_{}", self.name, variant.name)),
            Implementation::Peer(_) | Implementation::Host { .. } => None,
        }
    }

    /// The names of all kernels that a variant launches, its own first.
    pub fn kernel_names(&self, variant: &Variant) -> Vec<String> {
        let helpers = match variant.work {
            Implementation::Kernel { helper_kernels, .. } => helper_kernels,
            Implementation::Peer(_) | Implementation::Host { .. } => &[],
        };
        let helpers = helpers.iter().map(|name| format!("{}_{name}", self.name));
        self.kernel_name(variant).into_iter().chain(helpers).collect()
    }

    /// Our variant with a variant's algorithm: itself, or the one whose twin a peer is. A library has its own.
    pub fn own(&self, variant: &Variant) -> Option<&'static Variant> {
        let name = match variant.work {
            Implementation::Peer(_) => results::twin(variant.name)?,
            Implementation::Kernel { .. } | Implementation::Host { .. } => variant.name,
        };
        self.variants.iter().find(|own| own.name == name)
    }

    /// Returns how many times larger the work of a variant is at a size than at another: by the arithmetic where
    /// that bounds the time of some variant, by the bytes that it has to move elsewhere.
    pub fn work_ratio(&self, variant: &Variant, size: &Size, other: &Size) -> f64 {
        let amount = |size: &Size| {
            self.variants.iter().find_map(|variant| match (self.minimum_time)(variant, size) {
                Some((Resource::Fp32 | Resource::TensorBf16, amount)) => Some(amount as f64),
                _ => None,
            })
        };
        match (amount(size), amount(other)) {
            (Some(large), Some(small)) => large / small,
            _ => self.bytes_of(variant, size).ratio(self.bytes_of(variant, other)),
        }
    }

    /// The bytes that a variant has to move.
    pub fn bytes_of(&self, variant: &Variant, size: &Size) -> Bytes {
        match variant.work {
            Implementation::Kernel { bytes: Some(own), .. }
            | Implementation::Host { bytes: Some(own), .. } => own(size),
            _ => (self.bytes)(size),
        }
    }

    /// The arrays of a case on a device, if there are kernels to work on them: work of the host brings its own memory.
    pub fn arrays(&self, gpu: &Gpu, case: &Case) -> Result<Arrays> {
        if self.is_host_work() {
            return Arrays::new(gpu, &Case { inputs: Vec::new(), outputs: Vec::new() });
        }
        Arrays::new(gpu, case)
    }

    /// Returns whether all its work is the host's.
    pub fn is_host_work(&self) -> bool {
        self.variants.iter().all(Variant::is_host_work)
    }

    /// A size written as `n=1048576, offset=3`.
    pub fn show_size(&self, size: &Size) -> String {
        let parts = self.dimensions.iter().zip(size.values());
        parts
            .map(|(dimension, value)| format!("{}={}", dimension.name, dimension.number(*value)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}
