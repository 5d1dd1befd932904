//! The executor: blocks to threads of the host, warps in lock-step, counts to a report.

mod access;
mod asynchronous;
mod atomic;
mod block;
mod builtin;
mod exchange;
mod matrix;
mod shadow;
mod step;
mod traffic;
mod warp;

use crate::counters::{Counters, Traffic};
use crate::error::{Error, Place};
use crate::findings::{Finding, Hazard};
use crate::launch::{InstructionReport, Launch, Options, Report, Schedule, SourceLocation};
use crate::memory::Memory;
use crate::module::{Kernel, Module};
use crate::program::{AtomicOperation, Constant, Operation, Program, Row, Space};
use block::Block;
use shadow::GlobalShadow;
use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use traffic::Memo;
use warp::Warp;

/// Warp-instructions that a warp may run before another gets its turn.
const QUANTUM: u64 = 1 << 14;
/// Shared bytes start with this, so that what nobody wrote is visible (as a float it is NaN).
const POISON: u8 = 0xff;

/// What every worker of a launch shares.
pub(crate) struct Run<'r> {
    pub program: &'r Program,
    pub memory: &'r Memory,
    pub launch: &'r Launch,
    pub options: &'r Options,
    pub parameters: Vec<u8>,
    pub word_constants: Vec<(u32, u32)>,
    pub long_constants: Vec<(u32, u64)>,
    pub shared_bytes: u32,
    pub warps_per_block: u32,
    /// Bytes per entry of the race shadows.
    pub granule: u32,
    pub fuel: AtomicU64,
    pub global_shadow: Option<GlobalShadow>,
    next: AtomicU64,
    /// The first failing block in launch order, with its error.
    failed: Mutex<Option<(u64, Error)>>,
    failed_at: AtomicU64,
}

/// Counts of one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub warps: u64,
    pub threads: u64,
    pub predicated_on: u64,
    pub divergent: u64,
    pub generic: u64,
    pub global: Traffic,
    pub shared: Traffic,
    pub local: Traffic,
    pub constant: Traffic,
}

/// One worker: runs blocks, keeps its own counts.
pub(crate) struct Machine<'r> {
    pub run: &'r Run<'r>,
    pub tallies: Vec<Tally>,
    pub memos: Vec<Memo>,
    pub last_region: usize,
    /// The region that each instruction last found its addresses in.
    pub regions: Vec<u32>,
    pub findings: Vec<Finding>,
    pub seen: HashSet<(Hazard, u32)>,
    pub spare_warps: Vec<Warp>,
    pub printed: Vec<(u64, String)>,
    pub counting: bool,
    /// The CPU has the features of the wide functions.
    pub wide: bool,
    pub checking: bool,
    pub blocks: u64,
    pub warps: u64,
    /// Warp-instructions so far: the synthetic clock.
    pub steps: u64,
}

/// Runs a validated launch.
pub(crate) fn run(
    module: &Module,
    kernel: &Kernel,
    memory: &Memory,
    launch: &Launch,
    options: &Options,
) -> Result<Report, Error> {
    let program = kernel.program.as_ref().map_err(Error::clone)?;
    let run = prepare(module, program, kernel, memory, launch, options)?;
    let sequential = launch.cooperative
        || options.checks.global_races
        || options.schedule != Schedule::Forward
        || (options.deterministic && (program.order_dependent || program.polls));
    let blocks = options.sample.as_ref().map_or(launch.blocks(), |s| s.len() as u64);
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = if options.threads == 0 { available } else { options.threads };
    let threads = if sequential { 1 } else { wanted.min(blocks.max(1) as usize) };
    let machines: Vec<Machine<'_>> = if threads == 1 {
        let mut machine = Machine::new(&run);
        machine.run_in_turns();
        vec![machine]
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        let mut machine = Machine::new(&run);
                        machine.run_independent();
                        machine
                    })
                })
                .collect();
            handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
        })
    };
    if machines.len() < threads {
        return Err(Error::LaunchConfiguration { message: "a worker thread ended early".into() });
    }
    let failed = run.failed.lock().ok().and_then(|mut failed| failed.take());
    if let Some((_, error)) = failed {
        return Err(error);
    }
    Ok(report(program, machines, options))
}

fn prepare<'r>(
    module: &Module,
    program: &'r Program,
    kernel: &Kernel,
    memory: &'r Memory,
    launch: &'r Launch,
    options: &'r Options,
) -> Result<Run<'r>, Error> {
    let mut parameters = vec![0u8; kernel.parameter_bytes() as usize];
    for (parameter, argument) in kernel.parameters.iter().zip(&launch.arguments) {
        let at = parameter.offset as usize;
        parameters[at..at + argument.len()].copy_from_slice(argument);
    }
    let symbols = memory.module_symbols(module.id());
    let mut word_constants = Vec::new();
    let mut long_constants = Vec::new();
    for (row, constant) in &program.constants {
        let value = match constant {
            Constant::Value(value) => *value,
            Constant::Symbol { name, offset } => {
                let Some((address, _)) = symbols.and_then(|s| s.get(name)) else {
                    let message = format!("variable `{name}` is declared but not defined");
                    return Err(Error::Memory { message });
                };
                address.wrapping_add(*offset as u64)
            }
            Constant::DynamicShared { offset } => *offset as u64,
        };
        match row {
            Row::Word(index) => word_constants.push((*index, value as u32)),
            Row::Long(index) => long_constants.push((*index, value)),
            Row::Predicate(_) => {}
        }
    }
    let shared_static = program.shared_static.next_multiple_of(program.shared_alignment);
    let dynamic = launch.dynamic_shared_bytes;
    let shared_bytes = if dynamic > 0 { shared_static + dynamic } else { program.shared_static };
    let global_shadow =
        options.checks.global_races.then(|| GlobalShadow::new(memory.region_count()));
    Ok(Run {
        program,
        memory,
        launch,
        options,
        parameters,
        word_constants,
        long_constants,
        shared_bytes,
        granule: block::shadow_granule(program),
        warps_per_block: launch.threads().div_ceil(32) as u32,
        fuel: AtomicU64::new(options.fuel),
        global_shadow,
        next: AtomicU64::new(0),
        failed: Mutex::new(None),
        failed_at: AtomicU64::new(u64::MAX),
    })
}

impl Run<'_> {
    /// The place of an instruction, for errors and findings.
    pub fn place(&self, block: [u32; 3], warp: u32, lanes: u32, pc: usize) -> Place {
        let detail = &self.program.details[pc];
        let source = self.location(pc).map(|location| {
            let (file, line) = location.outermost();
            format!("{file}:{line}")
        });
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

    fn location(&self, pc: usize) -> Option<SourceLocation> {
        location(self.program, pc)
    }

    fn fail(&self, order: u64, error: Error) {
        self.failed_at.fetch_min(order, Ordering::Relaxed);
        if let Ok(mut failed) = self.failed.lock()
            && failed.as_ref().is_none_or(|(at, _)| order < *at)
        {
            *failed = Some((order, error));
        }
    }

    /// Takes warp-instructions from the launch's fuel; false when it is used up.
    pub fn burn(&self, steps: u64) -> bool {
        self.fuel
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(steps))
            .is_ok()
    }

    /// The linear block index of a position in launch order; `None` past the end.
    fn block_at(&self, order: u64) -> Option<u64> {
        let count = match &self.options.sample {
            Some(sample) => sample.len() as u64,
            None => self.launch.blocks(),
        };
        if order >= count {
            return None;
        }
        let order = match self.options.schedule {
            Schedule::Forward => order,
            Schedule::Reverse => count - 1 - order,
            Schedule::Seeded(seed) => permuted(order, count, seed),
        };
        match &self.options.sample {
            Some(sample) => sample.get(order as usize).map(|b| (*b).min(self.launch.blocks() - 1)),
            None => Some(order),
        }
    }
}

fn location(program: &Program, pc: usize) -> Option<SourceLocation> {
    let location = program.locations.get(program.details[pc].location as usize)?;
    Some(SourceLocation {
        file: location.file.clone(),
        line: location.line,
        inlined_at: location.inlined_at.clone(),
    })
}

/// A permutation of `0..count`: a Feistel network, walked until it lands inside.
fn permuted(order: u64, count: u64, seed: u64) -> u64 {
    let half = (64 - count.leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut value = order;
    loop {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..4 {
            let mixed = mix(right ^ seed.wrapping_add(round)) & mask;
            (left, right) = (right, left ^ mixed);
        }
        value = left << half | right;
        if value < count {
            return value;
        }
    }
}

/// A 64-bit mixing function (SplitMix64's).
pub(crate) fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl<'r> Machine<'r> {
    fn new(run: &'r Run<'r>) -> Machine<'r> {
        let count = run.program.instructions.len();
        Machine {
            run,
            tallies: vec![Tally::default(); count],
            memos: vec![Memo::default(); count],
            last_region: 0,
            regions: vec![0; count],
            findings: Vec::new(),
            seen: HashSet::new(),
            spare_warps: Vec::new(),
            printed: Vec::new(),
            counting: run.options.counters,
            wide: crate::cpu::has_wide(),
            checking: run.options.checks.any(),
            blocks: 0,
            warps: 0,
            steps: 0,
        }
    }

    /// Blocks one after the other, each to its end, beside other workers doing the same.
    fn run_independent(&mut self) {
        loop {
            let order = self.run.next.fetch_add(1, Ordering::Relaxed);
            if order > self.run.failed_at.load(Ordering::Relaxed) {
                return;
            }
            let Some(linear) = self.run.block_at(order) else {
                return;
            };
            let mut block = self.start_block(linear);
            loop {
                match self.run_block(&mut block) {
                    Ok(true) => break,
                    Ok(false) => {}
                    Err(error) => {
                        self.run.fail(order, error);
                        return;
                    }
                }
            }
            self.end_block(block);
        }
    }

    /// Blocks in order on one thread; one that spins gives way to the next, as long as the
    /// device could hold both.
    fn run_in_turns(&mut self) {
        let limits = &self.run.options.limits;
        let resident = if self.run.launch.cooperative {
            u64::MAX
        } else {
            limits.multiprocessors as u64 * limits.blocks_per_multiprocessor as u64
        };
        let mut turns: VecDeque<(u64, Block)> = VecDeque::new();
        let mut order = 0;
        let mut start_next = true;
        loop {
            if start_next
                && (turns.len() as u64) < resident
                && let Some(linear) = self.run.block_at(order)
            {
                let block = self.start_block(linear);
                turns.push_front((order, block));
                order += 1;
            }
            let Some((place, mut block)) = turns.pop_front() else {
                return;
            };
            match self.run_block(&mut block) {
                Ok(true) => {
                    self.end_block(block);
                    start_next = turns.is_empty() || self.run.launch.cooperative;
                }
                Ok(false) => {
                    turns.push_back((place, block));
                    start_next = true;
                }
                Err(error) => {
                    self.run.fail(place, error);
                    return;
                }
            }
        }
    }

    /// Records a finding once per hazard and instruction.
    pub fn find(&mut self, hazard: Hazard, pc: usize, make: impl FnOnce(&Run<'_>) -> Finding) {
        if self.findings.len() < self.run.options.findings_max
            && self.seen.insert((hazard, pc as u32))
        {
            let finding = make(self.run);
            self.findings.push(finding);
        }
    }
}

/// Sums what the workers counted.
fn report(program: &Program, machines: Vec<Machine<'_>>, options: &Options) -> Report {
    let mut report = Report::default();
    let mut tallies = vec![Tally::default(); program.instructions.len()];
    let mut printed = Vec::new();
    for machine in machines {
        for (sum, tally) in tallies.iter_mut().zip(&machine.tallies) {
            sum.add(tally);
        }
        report.blocks += machine.blocks;
        report.warps += machine.warps;
        report.findings.extend(machine.findings);
        printed.extend(machine.printed);
    }
    printed.sort_by_key(|(block, _)| *block);
    report.printed = printed.into_iter().map(|(_, text)| text).collect();
    // Several workers may have found the same; the first block in order speaks for all.
    report.findings.sort_by(|a, b| {
        let key = |f: &Finding| {
            let [x, y, z] = f.place.block;
            (f.place.ptx_line, f.hazard, [z, y, x], f.place.warp)
        };
        key(a).cmp(&key(b))
    });
    report.findings.dedup_by(|a, b| a.hazard == b.hazard && a.place.ptx_line == b.place.ptx_line);
    report.findings.truncate(options.findings_max);
    for (pc, tally) in tallies.iter().enumerate() {
        let detail = &program.details[pc];
        if tally.warps == 0 || detail.synthetic {
            continue;
        }
        let counters = counters(
            &program.instructions[pc].operation,
            &program.texts[detail.text as usize],
            tally,
        );
        report.counters += counters;
        let function = program.functions.partition_point(|(start, _)| *start <= pc as u32);
        report.instructions.push(InstructionReport {
            function: program
                .functions
                .get(function.saturating_sub(1))
                .map_or_else(String::new, |f| f.1.clone()),
            text: program.texts[detail.text as usize].clone(),
            ptx_line: detail.position.line,
            source: location(program, pc),
            is_approximate: detail.approximate,
            counters,
        });
    }
    report.instructions.sort_by_key(|instruction| instruction.ptx_line);
    report
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.warps += other.warps;
        self.threads += other.threads;
        self.predicated_on += other.predicated_on;
        self.divergent += other.divergent;
        self.generic += other.generic;
        self.global += other.global;
        self.shared += other.shared;
        self.local += other.local;
        self.constant += other.constant;
    }
}

/// Sorts an instruction's raw counts into the public counters.
fn counters(operation: &Operation, text: &str, tally: &Tally) -> Counters {
    let mut counters = Counters {
        warp_instructions: tally.warps,
        thread_instructions: tally.threads,
        predicated_on_thread_instructions: tally.predicated_on,
        generic_requests: tally.generic,
        ..Counters::default()
    };
    match operation {
        Operation::Branch { .. } | Operation::BranchTable { .. } => {
            counters.branches = tally.warps;
            counters.divergent_branches = tally.divergent;
        }
        Operation::Barrier { .. } => counters.barriers = tally.warps,
        Operation::Load(access) => {
            counters.global_load = tally.global;
            counters.shared_load = tally.shared;
            counters.local_load = tally.local;
            counters.constant_load = tally.constant;
            if access.space == Space::Parameter {
                counters.parameter_loads = tally.warps;
            }
        }
        Operation::Store(_) => {
            counters.global_store = tally.global;
            counters.shared_store = tally.shared;
            counters.local_store = tally.local;
        }
        Operation::Atomic(atomic) => {
            let result_used = !atomic.is_reduction
                || matches!(
                    atomic.operation,
                    AtomicOperation::Exchange | AtomicOperation::CompareSwap
                );
            if result_used {
                counters.global_atomic = tally.global;
            } else {
                counters.global_reduction = tally.global;
            }
            counters.shared_atomic = tally.shared;
        }
        Operation::AsyncCopy(_) => {
            counters.async_copy_global = tally.global;
            counters.async_copy_shared = tally.shared;
        }
        Operation::BulkCopy(_) => counters.bulk_copy = tally.global,
        Operation::LoadMatrix { .. } => counters.shared_matrix_load = tally.shared,
        Operation::StoreMatrix { .. } => counters.shared_matrix_store = tally.shared,
        Operation::Shuffle { .. }
        | Operation::Vote { .. }
        | Operation::Match { .. }
        | Operation::Reduce { .. }
        | Operation::Elect { .. } => counters.warp_level_instructions = tally.warps,
        Operation::Compute { .. } => {
            // Moves and conversions count as integer instructions unless floats take part.
            let is_float = text.split('.').skip(1).any(|m| {
                matches!(m, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f32x2" | "f64" | "tf32")
            });
            if is_float && !text.starts_with("mov") {
                counters.float_instructions = tally.warps;
            } else {
                counters.integer_instructions = tally.warps;
            }
        }
        _ => {}
    }
    counters
}
