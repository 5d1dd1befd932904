//! What the kernels do, counted by executing them: traffic per line, and arithmetic.

use crate::gpu::Counted;
use crate::pattern::{Pattern, Size, Variant};
use crate::results::Row;
use crate::traffic;
use anyhow::Result;
use simt::{Counters, InstructionReport};
use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, PoisonError};

/// The kernels of a pattern, executed at its count size.
pub type Counts = Arc<Vec<(&'static Variant, Counted)>>;

/// Executes the kernels of patterns, each pattern once per process: what they do never changes.
///
/// # Errors
/// A wrong result, or the driver's error.
pub fn count_all(
    patterns: impl Iterator<Item = &'static Pattern>,
) -> Result<BTreeMap<&'static str, Counts>> {
    static KNOWN: Mutex<BTreeMap<&str, Counts>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let counted = patterns.map(|pattern| {
        if !known.contains_key(pattern.name) {
            known.insert(pattern.name, Arc::new(traffic::count(pattern)?));
        }
        Ok((pattern.name, Arc::clone(&known[pattern.name])))
    });
    counted.collect()
}

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

/// The costs of a kernel's instructions, by any number that they have.
fn costs(
    counted: &Counted,
    kernel: &str,
    number: impl Fn(&InstructionReport) -> Option<u32>,
) -> BTreeMap<u32, Cost> {
    let mut costs: BTreeMap<u32, Cost> = BTreeMap::new();
    for report in counted.instructions.iter().filter(|report| report.function == kernel) {
        if let Some(number) = number(report) {
            *costs.entry(number).or_default() += Cost::of(&report.counters);
        }
    }
    costs
}

/// The costs by line of the PTX.
pub fn by_ptx_line(counted: &Counted, kernel: &str) -> BTreeMap<u32, Cost> {
    costs(counted, kernel, |report| Some(report.ptx_line))
}

/// The costs by line of a source file, those of what was inlined into a line included.
pub fn by_source_line(counted: &Counted, kernel: &str, file: &str) -> BTreeMap<u32, Cost> {
    costs(counted, kernel, |report| report.source.as_ref()?.line_in(file))
}

/// The single-precision operations of a launch.
pub fn flops(counted: &Counted) -> u64 {
    counted.instructions.iter().map(InstructionReport::flops_f32).sum()
}

/// How many times larger a row's problem is than the one that was executed; `None` when the row's size has other
/// dimensions than the pattern.
pub fn larger(pattern: &Pattern, row: &Row) -> Option<f64> {
    let dimensions = pattern.dimensions.iter();
    let size: Option<Vec<usize>> =
        dimensions.map(|dimension| dimension.value(*row.size.get(dimension.name)?)).collect();
    let (measured, counted) = (Size::new(&size?), Size::new(pattern.count_size));
    Some((pattern.bytes)(&measured).ratio((pattern.bytes)(&counted)))
}
