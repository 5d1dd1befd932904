use crate::host::HostCounts;
use coalesce::Counted;
use results::{Counters, RequestKind};

/// Declares [`Count`], and what each is for people.
macro_rules! counts {
    ($($(#[doc = $doc:literal])* $variant:ident: $name:literal;)*) => {
        /// A number that executing a kernel gives: the same on every machine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Count { $($(#[doc = $doc])* $variant),* }

        impl Count {
            pub const ALL: &[Count] = &[$(Count::$variant),*];

            /// Returns what it is, for people.
            pub fn name(self) -> &'static str {
                match self { $(Count::$variant => $name),* }
            }
        }
    };
}

counts! {
    /// 32-byte sectors per global load, asynchronous copies included.
    SectorsPerLoad: "sectors per load";
    /// 32-byte sectors per global store.
    SectorsPerStore: "sectors per store";
    /// All sectors of global loads and asynchronous copies.
    LoadSectors: "sectors loaded";
    StoreSectors: "sectors stored";
    /// All global loads and asynchronous copies, of a warp each.
    LoadRequests: "load requests";
    /// All global stores, of a warp each.
    StoreRequests: "store requests";
    WavefrontsPerSharedLoad: "wavefronts per shared load";
    WavefrontsPerSharedStore: "wavefronts per shared store";
    /// All wavefronts of shared memory, atomics and asynchronous copies included.
    SharedWavefronts: "wavefronts of shared memory";
    /// All shared loads and stores, of a warp each.
    SharedRequests: "requests of shared memory";
    /// Wavefronts of shared memory beyond what the width alone makes necessary.
    BankConflicts: "bank conflicts";
    /// Lanes that updated global memory atomically.
    GlobalAtomics: "global atomics";
    /// Passes of global atomics: a sector once for each lane that wants the same address.
    GlobalAtomicUpdates: "passes of global atomics";
    SharedAtomicWavefronts: "wavefronts of shared atomics";
    WavefrontsPerConstantLoad: "wavefronts per constant load";
    ConstantWavefronts: "wavefronts of constant memory";
    /// Loads and stores of local memory, of a warp each.
    LocalRequests: "requests of local memory";
    /// Requests that no other count knows: of textures, surfaces, matrices and bulk copies.
    OtherRequests: "requests of textures, matrices and bulk copies";
    /// Block barriers, once per warp.
    Barriers: "barriers, per warp";
    /// Branches at which the lanes of a warp parted.
    DivergentBranches: "divergent branches";
    /// Static shared memory of a block, bytes.
    SharedBytes: "bytes of shared memory";
    Copies: "copies between host and device";
    BusBytes: "bytes over the bus";
    /// Calls that pin memory of the host.
    Pins: "calls that pin memory";
    /// Calls that allocate device memory, other than from a pool.
    Allocations: "calls that allocate device memory";
    /// Calls that launch a kernel or a graph, or record a kernel into a graph.
    Launches: "launches";
    /// Graphs that are instantiated.
    Instantiations: "graphs instantiated";
    /// Calls in which the host waits for the device.
    Waits: "calls in which the host waits";
    /// Asynchronous copies of pageable memory that differ in their size.
    PageableCopies: "sizes of asynchronous copies of pageable memory";
    /// The most kernels that have to follow each other, by streams, events and waits.
    KernelChain: "kernels that have to follow each other";
    /// The share of the steps in which the busiest engine has to wait for another, percent.
    IdlePercent: "percent of the steps in which the busiest engine is idle";
}

impl Count {
    pub fn of(self, run: &CountedRun) -> f64 {
        let c: &Counters = &run.counted.counters;
        let sum = |numbers: &[u64]| numbers.iter().sum::<u64>() as f64;
        match self {
            Count::SectorsPerLoad => c.load_sectors().unwrap_or(0.0),
            Count::SectorsPerStore => c.store_sectors().unwrap_or(0.0),
            Count::LoadSectors => sum(&[c.global_load.sectors, c.async_copy_global.sectors]),
            Count::StoreSectors => sum(&[c.global_store.sectors]),
            Count::LoadRequests => sum(&[c.global_load.requests, c.async_copy_global.requests]),
            Count::StoreRequests => sum(&[c.global_store.requests]),
            Count::WavefrontsPerSharedLoad => c.shared_load_wavefronts().unwrap_or(0.0),
            Count::WavefrontsPerSharedStore => c.shared_store_wavefronts().unwrap_or(0.0),
            Count::SharedWavefronts => sum(&[
                c.shared_load.wavefronts,
                c.shared_store.wavefronts,
                c.shared_atomic.wavefronts,
                c.async_copy_shared.wavefronts,
            ]),
            Count::SharedRequests => sum(&[c.shared_load.requests, c.shared_store.requests]),
            Count::BankConflicts => sum(&[
                c.shared_load.bank_conflicts(),
                c.shared_store.bank_conflicts(),
                c.shared_atomic.bank_conflicts(),
                c.async_copy_shared.bank_conflicts(),
            ]),
            Count::GlobalAtomics => c.global_atomics().unwrap_or(0.0),
            Count::GlobalAtomicUpdates => {
                sum(&[c.global_atomic.sector_updates, c.global_reduction.sector_updates])
            }
            Count::SharedAtomicWavefronts => sum(&[c.shared_atomic.wavefronts]),
            Count::WavefrontsPerConstantLoad => c.constant_wavefronts().unwrap_or(0.0),
            Count::ConstantWavefronts => sum(&[c.constant_load.wavefronts]),
            Count::LocalRequests => sum(&[c.local_load.requests, c.local_store.requests]),
            Count::OtherRequests => sum(&[
                c.texture_load.requests,
                c.surface_store.requests,
                c.bulk_copy.requests,
                c.shared_matrix_load.requests,
                c.shared_matrix_store.requests,
            ]),
            Count::Barriers => sum(&[c.barriers]),
            Count::DivergentBranches => sum(&[c.divergent_branches]),
            Count::SharedBytes => run.shared_bytes as f64,
            Count::Copies => run.host.copies as f64,
            Count::BusBytes => run.host.bus_bytes as f64,
            Count::Pins => run.host.pins as f64,
            Count::Allocations => run.host.allocations as f64,
            Count::Launches => run.host.launches as f64,
            Count::Instantiations => run.host.instantiations as f64,
            Count::Waits => run.host.waits as f64,
            Count::PageableCopies => run.host.pageable_copies as f64,
            Count::KernelChain => run.host.kernel_chain as f64,
            Count::IdlePercent => run.host.idle_percent,
        }
    }

    /// Returns what to ask of a kernel that has too much of it.
    pub fn next(self) -> &'static str {
        match self {
            Count::LoadSectors | Count::StoreSectors => {
                "which bytes move here that nobody needs, or that were moved before?"
            }
            Count::LoadRequests | Count::StoreRequests | Count::SharedRequests => {
                "could a lane move more bytes at once here, or keep what it has?"
            }
            Count::GlobalAtomics | Count::GlobalAtomicUpdates | Count::SharedAtomicWavefronts => {
                "which of these updates could lanes combine before they meet?"
            }
            Count::WavefrontsPerConstantLoad | Count::ConstantWavefronts => {
                "how many words do the lanes of a warp want here?"
            }
            Count::LocalRequests => "which array has an index that the compiler cannot know?",
            Count::Barriers => "which two accesses does each barrier order?",
            Count::DivergentBranches => "which lanes of a warp go which way here?",
            Count::SharedBytes => "how many words of the tile are in use at the same time?",
            _ => "look at the addresses of neighbouring lanes in this line",
        }
    }

    /// Returns how much of it one instruction has, to find the one that has most.
    pub fn share(self, c: &Counters) -> f64 {
        let run = |counters| Counted { counters, ..Counted::default() };
        self.of(&CountedRun { counted: run(*c), ..CountedRun::default() })
    }

    /// The kinds of requests that it counts.
    pub fn kinds(self) -> &'static [RequestKind] {
        use RequestKind::*;
        match self {
            Count::SectorsPerLoad | Count::LoadSectors | Count::LoadRequests => {
                &[GlobalLoad, AsyncCopySource]
            }
            Count::SectorsPerStore | Count::StoreSectors | Count::StoreRequests => &[GlobalStore],
            Count::WavefrontsPerSharedLoad => &[SharedLoad],
            Count::WavefrontsPerSharedStore => &[SharedStore, AsyncCopyTarget],
            Count::SharedWavefronts | Count::BankConflicts | Count::SharedRequests => {
                &[SharedLoad, SharedStore, SharedAtomic, AsyncCopyTarget]
            }
            Count::GlobalAtomics | Count::GlobalAtomicUpdates => &[GlobalAtomic],
            Count::SharedAtomicWavefronts => &[SharedAtomic],
            Count::WavefrontsPerConstantLoad | Count::ConstantWavefronts => &[ConstantLoad],
            _ => &[],
        }
    }
}

/// Result of one run of a kernel.
#[derive(Clone, Debug, Default)]
pub struct CountedRun {
    pub counted: Counted,
    /// Static shared memory of a block, bytes.
    pub shared_bytes: usize,
    /// A host task's calls of the driver.
    pub host: HostCounts,
    /// The grid and the block of each launch.
    pub launches: Vec<([u32; 3], [u32; 3])>,
}

/// A count as people write it.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
