use crate::error::{Error, Place};
use crate::execute::memory::device::AtomicGranularity;
use crate::execute::observe::checks::product_state::ProductRegisters;
use crate::execute::observe::checks::undo::Undo;
use crate::launch::Launch;
use crate::location::Location;
use crate::memory::Memory;
use crate::module::Kernel;
use crate::operation::Operation;
use crate::options::Options;
use crate::program::Program;
use crate::progress::Progress;
use crate::uninitialized::UninitializedReads;
use counters::SourceLocation;
use races::LaunchModel;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The state that every worker of a launch shares.
pub(crate) struct Run<'r> {
    pub kernel: &'r Kernel,
    pub program: &'r Program,
    pub memory: &'r Memory,
    pub launch: &'r Launch,
    pub options: &'r Options,
    pub parameters: Vec<u8>,
    pub word_constants: Vec<(u32, u32)>,
    pub long_constants: Vec<(u32, u64)>,
    pub shared_bytes: u32,
    /// The workspace of a cooperative launch whose kernel asks for it, or zero.
    pub workspace: u64,
    pub warps_per_block: u32,
    /// The blocks, and what each instruction means for the order of memory.
    pub model: LaunchModel,
    /// The launch or the kernel asked for clusters.
    pub is_explicit_cluster: bool,
    /// The clusters to run, by linear index; all when `None`.
    pub sample: Option<Vec<u64>>,
    /// By instruction: the bounds of the shared array that its address is formed from, where that is one.
    pub arrays: Vec<Option<(u32, u32)>>,
    /// Bulk copies or `wgmma` read shared memory, and somebody looks whether they see what was stored there.
    pub reads_by_proxy: bool,
    /// The registers that `wgmma` reads and writes, where their order is checked.
    pub products: Option<ProductRegisters>,
    /// The size of the workers' atomics on device memory.
    pub granularity: AtomicGranularity,
    pub fuel: AtomicU64,
    /// The part of the launch that others see while it runs.
    pub progress: &'r Progress,
    /// Registers that may be read before they are written.
    pub doubt: &'r UninitializedReads,
    /// The writes of a launch that may run again, so that they can be taken back.
    pub undo: Option<&'r Undo>,
    /// Other workers run blocks at the same time.
    pub parallel: bool,
    /// By instruction, where loads are followed: a load that races.
    pub racing: Option<Vec<bool>>,
    /// Something was found that does harm only where its value is used.
    pub doubtful: AtomicBool,
    /// The instructions of plain loads that race.
    pub racing_loads: Mutex<BTreeSet<usize>>,
    pub next: AtomicU64,
    /// The first failing block in launch order, with its error.
    pub failed: Mutex<Option<(u64, Error)>>,
    pub failed_at: AtomicU64,
    /// The output of failing workers, by block.
    pub printed: Mutex<Vec<(u64, String)>>,
    /// The order of blocks may have mattered to a parallel launch.
    pub disturbed: AtomicBool,
}

impl Run<'_> {
    /// The place of an instruction, for errors and findings.
    pub fn place(&self, block: [u32; 3], warp: u32, lanes: u32, pc: usize) -> Place {
        let detail = &self.program.details[pc];
        let source = self.location(pc).map(|location| location.to_string());
        Place {
            kernel: self.program.name.clone(),
            ptx_line: detail.position.line,
            instruction: self.program.texts[detail.text as usize].clone(),
            source,
            block,
            warp,
            lanes,
        }
    }

    /// Returns where a shared address lies relative to the kernel's variables.
    pub fn locate_shared(&self, address: u64) -> Location {
        let variables = &self.program.shared_variables;
        let before = variables.partition_point(|(start, ..)| *start as u64 <= address);
        let nearest = before.checked_sub(1).map(|index| &variables[index]);
        let (bytes, dynamic) = (self.shared_bytes, self.launch.dynamic_shared_bytes);
        let in_dynamic = address.checked_sub((bytes - dynamic) as u64).filter(|_| dynamic > 0);
        match (address.checked_sub(bytes as u64), in_dynamic, nearest) {
            (Some(distance), ..) => Location::PastShared { bytes, distance },
            (_, Some(offset), _) => Location::DynamicShared { bytes: dynamic, offset },
            (.., Some((start, bytes, name))) => Location::SharedVariable {
                name: name.to_string(),
                bytes: *bytes,
                offset: address - *start as u64,
            },
            _ => Location::NoVariable,
        }
    }

    /// The innermost call that is none of the libraries', for the frames of calls: where each returns to.
    pub fn caller(&self, frames: &[u32]) -> Option<String> {
        let calls = frames.iter().rev().filter_map(|back| self.location(*back as usize - 1));
        // In a checkout, and as a registry's package.
        let libraries = ["library/core/", "cuda_std/src/", "coalesce-cuda-std-"];
        let is_library = |file: &str| libraries.iter().any(|library| file.contains(library));
        let places = calls.map(|call| {
            let (file, line) = call.outermost();
            (file.to_owned(), line)
        });
        let mut own = places.filter(|(file, _)| !is_library(file));
        own.next().map(|(file, line)| format!("{file}:{line}"))
    }

    pub fn location(&self, pc: usize) -> Option<SourceLocation> {
        location(self.program, pc)
    }

    /// Remembers which of two accesses that race are plain loads.
    pub fn note_racing_loads(&self, pcs: [usize; 2]) {
        let is_load = |pc: &usize| {
            let operation = &self.program.instructions[*pc].operation;
            matches!(operation, Operation::Load(_)) && !self.model.kinds[*pc].is_strong()
        };
        let mut loads = pcs.into_iter().filter(is_load).peekable();
        if loads.peek().is_some() {
            self.doubtful.store(true, Ordering::Relaxed);
            self.racing_loads.lock().expect("no holder panics").extend(loads);
        }
    }

    /// A worker ends with an error; what it printed until then is kept.
    pub fn fail(&self, order: u64, error: Error, printed: Vec<(u64, String)>) {
        if let Ok(mut all) = self.printed.lock() {
            all.extend(printed);
        }
        self.failed_at.fetch_min(order, Ordering::Relaxed);
        if let Ok(mut failed) = self.failed.lock()
            && failed.as_ref().is_none_or(|(at, _)| order < *at)
        {
            *failed = Some((order, error));
        }
    }

    /// Returns the workers' results, or the first block's error.
    pub fn outcome<M>(&self, workers: M) -> Result<M, Error> {
        match self.failed.lock().ok().and_then(|mut failed| failed.take()) {
            Some((_, error)) => Err(error),
            None => Ok(workers),
        }
    }

    /// Returns what workers printed that failed, block by block.
    pub fn printed_before_failure(&self) -> String {
        let mut printed =
            self.printed.lock().map(|mut all| std::mem::take(&mut *all)).unwrap_or_default();
        printed.sort_by_key(|(block, _)| *block);
        printed.into_iter().map(|(_, text)| text).collect()
    }

    /// Takes warp-instructions from the launch's fuel, and some more where that is much, so that workers rarely meet here.
    /// Returns how many it took; nothing when there are too few.
    pub fn take_fuel(&self, steps: u64) -> Option<u64> {
        let more = (self.options.fuel >> 16).min(FUEL_AT_ONCE);
        let rest = |left: u64| left.checked_sub(steps).map(|left| left.saturating_sub(more));
        let before = self.fuel.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).ok()?;
        let left = rest(before)?;
        self.progress.ran(self.options.fuel - left);
        Some(before - left)
    }

    /// The fuel that was used up but for what a worker has left, all of it where a launch does not end by itself.
    pub fn burnt(&self, own: u64) -> u64 {
        let left = if self.is_stopped() { self.fuel.load(Ordering::Relaxed) + own } else { 0 };
        self.options.fuel - left
    }

    /// Returns whether this launch, or all, are to end.
    pub fn is_stopped(&self) -> bool {
        STOPPED.load(Ordering::Relaxed) || self.progress.is_stopped()
    }
}

/// The most warp-instructions that a worker takes before it runs them.
const FUEL_AT_ONCE: u64 = 1 << 16;

/// True when launches are to end.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Ends every launch of this process from here on, as one that has used up its fuel: its error says where it was. For the
/// handler of an interrupt.
pub fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

pub(crate) fn location(program: &Program, pc: usize) -> Option<SourceLocation> {
    let location = program.locations.get(program.details[pc].location as usize)?;
    Some(SourceLocation {
        file: location.file.clone(),
        line: location.line,
        inlined_at: location.inlined_at.clone(),
    })
}
