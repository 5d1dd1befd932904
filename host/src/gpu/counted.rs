//! What the virtual device counted while kernels ran.

use super::{Gpu, GpuError};
use anyhow::Result;
pub use simt::RequestKind;
use simt::{Counters, Finding, InstructionReport, Traffic, Watched};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use virtual_gpu::MisuseKind;
pub use virtual_gpu::{Larger, OperationKind, OperationRecord};

/// The counts of one or more launches.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// The sums over all launches.
    pub counters: Counters,
    /// The same by kernel.
    pub kernels: BTreeMap<String, Counters>,
    /// Each instruction that ran, its counts summed over the launches, by kernel and line of the PTX.
    pub instructions: Vec<InstructionReport>,
    /// Hazards, when the device was opened with checks.
    pub findings: Vec<Finding>,
    /// Model: the kernels' time, milliseconds.
    pub model_ms: f64,
}

impl Gpu {
    /// On the virtual device, the times of kernels, copies and fills are from here on those of work so many times larger
    /// than what is executed. A GPU takes its own time.
    pub fn take_kernels_as_larger(&self, larger: Larger) {
        if self.is_virtual() {
            virtual_gpu::take_kernels_as_larger(larger);
        }
    }

    /// On the virtual device, the blocks of what `launch` enqueues, without executing it; a GPU knows them itself.
    ///
    /// # Errors
    /// Those of `launch`.
    pub fn blocks_of(&self, launch: impl FnOnce() -> Result<()>) -> Result<u64> {
        if !self.is_virtual() {
            return Ok(0);
        }
        virtual_gpu::launches();
        virtual_gpu::skip_kernels(true);
        let outcome = launch().and_then(|()| Ok(self.synchronize()?));
        virtual_gpu::skip_kernels(false);
        outcome?;
        let blocks = |extents: [u32; 3]| extents.iter().map(|n| u64::from(*n)).product::<u64>();
        Ok(virtual_gpu::launches().iter().map(|launch| blocks(launch.grid)).sum())
    }

    /// Mistakes of the host's that the virtual device noticed since the last call, each as a sentence with its call and,
    /// where it is known, its line: use after free, a copy past an allocation, host memory that changed too early. A GPU
    /// notices none. Asynchronous copies of pageable memory, which only cost time, are left out.
    pub fn take_misuse(&self) -> Vec<String> {
        if !self.is_virtual() {
            return Vec::new();
        }
        let mistakes = virtual_gpu::misuse().into_iter();
        let wrong = mistakes.filter(|mistake| mistake.kind != MisuseKind::PageableAsyncCopy);
        wrong.map(|mistake| mistake.to_string()).collect()
    }

    /// Says that the host has just read this memory from front to back: the virtual device's clock, which sees driver
    /// calls only, moves on by the time that it takes. A GPU's events see the host's real time.
    pub fn host_has_read<T>(&self, memory: &[T]) {
        if self.is_virtual() {
            virtual_gpu::host_reads(memory.as_ptr().addr(), size_of_val(memory));
        }
    }

    /// On the virtual device, from here on the requests of each launch's first warp are recorded, or no longer.
    pub fn watch_first_warp(&self, watch: bool) {
        if self.is_virtual() {
            virtual_gpu::watch(watch.then(Watched::default));
        }
    }

    /// From here on what streams do is recorded, for [`Gpu::take_operations`]: by the virtual device, or by events
    /// around each operation, which take time themselves.
    pub fn watch_operations(&self) {
        if self.is_virtual() {
            virtual_gpu::operations();
        } else {
            cuda_driver::record_operations();
        }
    }

    /// What was done since [`Gpu::watch_operations`], and when. The virtual device tells of the host, too.
    ///
    /// # Errors
    /// The driver's.
    pub fn take_operations(&self) -> Result<Vec<OperationRecord>, GpuError> {
        if self.is_virtual() {
            return Ok(virtual_gpu::operations());
        }
        self.synchronize()?;
        cuda_driver::recorded_operations().map_err(GpuError::Unrecorded)
    }

    /// What ran on the virtual device since the last call; `None` on a GPU, which counts nothing.
    pub fn take_counted(&self) -> Option<Counted> {
        if !self.is_virtual() {
            return None;
        }
        let mut counted = Counted::default();
        let mut instructions = BTreeMap::new();
        for launch in virtual_gpu::launches() {
            counted.counters += launch.report.counters;
            *counted.kernels.entry(launch.kernel).or_default() += launch.report.counters;
            for report in launch.report.instructions {
                match instructions.entry((report.function.clone(), report.ptx_line)) {
                    Entry::Vacant(entry) => {
                        entry.insert(report);
                    }
                    Entry::Occupied(mut entry) => {
                        let sum = entry.get_mut();
                        sum.counters += report.counters;
                        if sum.requests.is_empty() {
                            sum.requests = report.requests;
                        }
                    }
                }
            }
            counted.findings.extend(launch.report.findings);
            counted.model_ms += launch.model_ns / 1e6;
        }
        counted.instructions = instructions.into_values().collect();
        Some(counted)
    }
}

impl Counted {
    /// 32-byte sectors per global load request, asynchronous copies included.
    pub fn load_sectors(&self) -> Option<f64> {
        let (loads, copies) = (&self.counters.global_load, &self.counters.async_copy_global);
        per_request(loads.sectors + copies.sectors, loads.requests + copies.requests)
    }

    /// 32-byte sectors per global store request.
    pub fn store_sectors(&self) -> Option<f64> {
        let stores = &self.counters.global_store;
        per_request(stores.sectors, stores.requests)
    }

    /// Passes per shared load request.
    pub fn shared_load_wavefronts(&self) -> Option<f64> {
        let loads = &self.counters.shared_load;
        per_request(loads.wavefronts, loads.requests)
    }

    /// Passes per shared store request, asynchronous copies included.
    pub fn shared_store_wavefronts(&self) -> Option<f64> {
        let (stores, copies) = (&self.counters.shared_store, &self.counters.async_copy_shared);
        per_request(stores.wavefronts + copies.wavefronts, stores.requests + copies.requests)
    }

    /// Passes per request of constant memory or of a parameter with an index.
    pub fn constant_passes(&self) -> Option<f64> {
        let loads = &self.counters.constant_load;
        per_request(loads.wavefronts, loads.requests)
    }

    /// Passes per shared atomic request.
    pub fn shared_atomic_wavefronts(&self) -> Option<f64> {
        let atomics = &self.counters.shared_atomic;
        per_request(atomics.wavefronts, atomics.requests)
    }

    /// Atomic updates of global memory in all, with and without a result.
    pub fn global_atomics(&self) -> Option<f64> {
        let Counters { global_atomic: atomics, global_reduction: reductions, .. } = &self.counters;
        let lanes = atomics.lanes + reductions.lanes;
        (lanes > 0).then_some(lanes as f64)
    }

    /// Sector passes per global atomic request, with and without a result.
    pub fn global_atomic_passes(&self) -> Option<f64> {
        let Counters { global_atomic: atomics, global_reduction: reductions, .. } = &self.counters;
        per_request(
            atomics.sector_passes + reductions.sector_passes,
            atomics.requests + reductions.requests,
        )
    }

    /// All that a result file holds of it.
    pub fn traffic(&self) -> crate::results::Traffic {
        crate::results::Traffic {
            load_sectors: self.load_sectors(),
            store_sectors: self.store_sectors(),
            shared_load_wavefronts: self.shared_load_wavefronts(),
            shared_store_wavefronts: self.shared_store_wavefronts(),
            constant_passes: self.constant_passes(),
            efficiency_percent: self.efficiency_percent(),
        }
    }

    /// The bytes that lanes asked of global memory, to load and to store.
    pub fn global_bytes(&self) -> u64 {
        let counters = &self.counters;
        [
            counters.global_load,
            counters.global_store,
            counters.async_copy_global,
            counters.bulk_copy,
        ]
        .iter()
        .map(|traffic| traffic.bytes)
        .sum()
    }

    /// Distinct bytes asked for over bytes of the sectors moved, of loads and stores together, in percent.
    pub fn efficiency_percent(&self) -> Option<f64> {
        let sum = |of: fn(&Traffic) -> u64| {
            let counters = &self.counters;
            of(&counters.global_load) + of(&counters.global_store) + of(&counters.async_copy_global)
        };
        per_request(
            100 * sum(|traffic| traffic.bytes_distinct),
            32 * sum(|traffic| traffic.sectors),
        )
    }
}

/// What the virtual device, if one runs, has to say of mistakes; each is said once.
pub fn misuse() -> Vec<String> {
    virtual_gpu::misuse().iter().map(ToString::to_string).collect()
}

fn per_request(amount: u64, requests: u64) -> Option<f64> {
    (requests > 0).then(|| amount as f64 / requests as f64)
}
