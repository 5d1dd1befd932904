//! What the lines of a kernel cost: its instructions' traffic, summed by line.

use crate::machine_code::{Memory, Place};
use results::{CountedKernel, Counters, InstructionCounts};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What a line of a source asks of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests of global and local memory.
    pub requests: u64,
    /// Their sectors.
    pub sectors: u64,
    /// Requests of shared and constant memory.
    pub chip_requests: u64,
    /// Their passes.
    pub passes: u64,
}

impl Cost {
    fn of(counters: &Counters) -> Cost {
        let memory = [
            counters.global_load,
            counters.global_store,
            counters.global_atomic,
            counters.global_reduction,
            counters.async_copy_global,
            counters.local_load,
            counters.local_store,
        ];
        let chip = [
            counters.shared_load,
            counters.shared_store,
            counters.shared_atomic,
            counters.async_copy_shared,
            counters.shared_matrix_load,
            counters.shared_matrix_store,
            counters.constant_load,
        ];
        Cost {
            requests: memory.iter().map(|traffic| traffic.requests).sum(),
            sectors: memory.iter().map(|traffic| traffic.sectors.max(traffic.sector_passes)).sum(),
            chip_requests: chip.iter().map(|traffic| traffic.requests).sum(),
            passes: chip.iter().map(|traffic| traffic.wavefronts).sum(),
        }
    }

    /// Sectors and passes.
    pub fn total(&self) -> u64 {
        self.sectors + self.passes
    }

    /// The part that is one memory's.
    pub fn of_memory(&self, memory: Memory) -> Cost {
        match memory {
            Memory::Device => Cost { chip_requests: 0, passes: 0, ..*self },
            Memory::Chip => Cost { requests: 0, sectors: 0, ..*self },
        }
    }

    /// What each of so many has of it.
    pub fn shared_out(&self, parts: u64) -> Cost {
        let Cost { requests, sectors, chip_requests, passes } = *self;
        let [requests, sectors, chip_requests, passes] =
            [requests, sectors, chip_requests, passes].map(|count| count / parts);
        Cost { requests, sectors, chip_requests, passes }
    }

    /// Sectors per request of global memory.
    pub fn sectors_per_request(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.sectors as f64 / self.requests as f64)
    }

    /// Passes per request of shared or constant memory.
    pub fn passes_per_request(&self) -> Option<f64> {
        (self.chip_requests > 0).then(|| self.passes as f64 / self.chip_requests as f64)
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.requests += other.requests;
        self.sectors += other.sectors;
        self.chip_requests += other.chip_requests;
        self.passes += other.passes;
    }
}

/// The costs of a kernel's instructions, by anything that they have.
fn costs<Key: Ord>(
    kernel: &CountedKernel,
    key: impl Fn(&InstructionCounts) -> Option<Key>,
) -> BTreeMap<Key, Cost> {
    let mut costs: BTreeMap<Key, Cost> = BTreeMap::new();
    for instruction in &kernel.instructions {
        if let Some(key) = key(instruction) {
            *costs.entry(key).or_default() += Cost::of(&instruction.counters);
        }
    }
    costs
}

/// The costs by line of the PTX.
pub fn by_ptx_line(kernel: &CountedKernel) -> BTreeMap<u32, Cost> {
    costs(kernel, |instruction| Some(instruction.ptx_line))
}

/// The costs by line of a source file, those of what was inlined into a line included.
pub fn by_source_line(kernel: &CountedKernel, file: &str) -> BTreeMap<u32, Cost> {
    costs(kernel, |instruction| instruction.source.as_ref()?.line_in(file))
}

/// The costs by innermost place in a source.
pub fn by_place(kernel: &CountedKernel) -> BTreeMap<Place, Cost> {
    costs(kernel, |instruction| {
        let source = instruction.source.as_ref()?;
        Some((source.file.clone(), source.line))
    })
}
