//! The executor: blocks to threads of the host, warps in lock-step, counts to a report.

mod access;
mod asynchronous;
mod atomic;
mod block;
mod builtin;
mod cluster;
mod device;
mod estimate;
mod exchange;
mod matrix;
#[cfg(test)]
mod reconvergence;
mod record;
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
use crate::requests::RequestRecord;
use cluster::Cluster;
use device::Grain;
use estimate::Estimator;
pub(crate) use shadow::Doubt;
use shadow::{GlobalShadow, Undo};
use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    /// Blocks of a cluster in x, y, z.
    pub cluster: [u32; 3],
    /// The launch or the kernel asked for clusters.
    pub is_explicit_cluster: bool,
    /// The clusters to run, by linear index; all when `None`.
    sample: Option<Vec<u64>>,
    /// Bytes per entry of the race shadows.
    pub granule: u32,
    /// The size of the workers' atomics on device memory.
    pub grain: Grain,
    pub fuel: AtomicU64,
    /// Registers that may be read before they are written.
    pub doubt: &'r Doubt,
    /// What a parallel launch must be able to take back.
    pub undo: Option<Undo>,
    next: AtomicU64,
    /// The first failing block in launch order, with its error.
    failed: Mutex<Option<(u64, Error)>>,
    failed_at: AtomicU64,
    /// The order of blocks may have mattered to a parallel launch.
    disturbed: AtomicBool,
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
    /// The cluster that runs.
    pub cluster: Cluster,
    pub printed: Vec<(u64, String)>,
    pub counting: bool,
    /// The CPU has the features of the wide functions.
    pub wide: bool,
    pub checking: bool,
    /// By instruction: touches a register that may be undefined.
    pub doubted: &'r [bool],
    /// What the blocks did to global memory, when that is checked.
    pub global: Option<Box<GlobalShadow>>,
    /// Clocks and caches, when a time is estimated.
    pub estimator: Option<Box<Estimator>>,
    /// The warp that runs is the one whose requests are recorded.
    pub watching: bool,
    /// The requests so far, with their instructions.
    pub recorded: Vec<(usize, RequestRecord)>,
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
    let run = |parallel: bool| {
        let run = prepare(module, program, kernel, memory, launch, options)?;
        let undo = (parallel && options.checks.global_races).then(|| Undo::new(memory));
        let grain = if parallel { Grain::of(program) } else { Grain::EACH };
        Ok(Run { undo, grain, ..run })
    };
    let threads = threads(program, memory, launch, options);
    if threads == 1 {
        return one_by_one(&run(false)?);
    }
    let first = run(true)?;
    let outcome = side_by_side(&first, threads);
    let Some(undo) = &first.undo else {
        return outcome.map(|machines| report(program, machines, options));
    };
    // What was found depends on the order when blocks disturbed each other, when an error ended
    // some of them, or when there was more to find than is recorded.
    if let Ok(machines) = outcome
        && !machines.iter().any(|m| m.findings.len() >= options.findings_max)
        && !disturbed(&machines)
    {
        return Ok(report(program, machines, options));
    }
    undo.restore(memory);
    one_by_one(&run(false)?)
}

/// How many threads may run blocks of a launch: one where their order could change results, or what L2 keeps, and
/// where atomics would reach past mapped memory.
fn threads(program: &Program, memory: &Memory, launch: &Launch, options: &Options) -> usize {
    let ordered = program.order_dependent || program.polls;
    let sequential = launch.cooperative
        || options.schedule != Schedule::Forward
        || (options.deterministic && ordered)
        || !Grain::of(program).divides(memory)
        || (options.estimate.is_some() && options.l2.window.is_some())
        || (options.checks.global_races
            && (ordered || program.irreproducible || writes_past_the_checks(program)));
    let blocks = options.sample.as_ref().map_or(launch.blocks(), |s| s.len() as u64);
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = if options.threads == 0 { available } else { options.threads };
    if sequential { 1 } else { wanted.min(blocks.max(1) as usize) }
}

/// Whether a program writes global memory by means whose order the checks do not see.
fn writes_past_the_checks(program: &Program) -> bool {
    let own = |space: Space| matches!(space, Space::Shared | Space::Local | Space::Parameter);
    program.instructions.iter().any(|instruction| match &instruction.operation {
        Operation::BulkCopy(_) => true,
        Operation::Load(access) | Operation::Store(access) => access.strong && !own(access.space),
        _ => false,
    })
}

/// All blocks on this thread.
fn one_by_one(run: &Run<'_>) -> Result<Report, Error> {
    let mut machine = Machine::new(run);
    machine.run_in_turns();
    run.outcome(vec![machine]).map(|machines| report(run.program, machines, run.options))
}

/// Blocks on several threads, each taking the next block when it is done with one.
fn side_by_side<'r>(run: &'r Run<'r>, threads: usize) -> Result<Vec<Machine<'r>>, Error> {
    let machines: Vec<Machine<'_>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut machine = Machine::new(run);
                    machine.run_independent();
                    machine
                })
            })
            .collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    });
    if machines.len() < threads {
        return Err(Error::LaunchConfiguration { message: "a worker thread ended early".into() });
    }
    run.outcome(machines)
}

/// Whether blocks of one worker touched what blocks of the same or another worker wrote.
fn disturbed(machines: &[Machine<'_>]) -> bool {
    let shadows: Vec<&GlobalShadow> = machines.iter().filter_map(|m| m.global.as_deref()).collect();
    let pairs = shadows.iter().enumerate();
    shadows.iter().any(|shadow| shadow.disturbed)
        || pairs.into_iter().any(|(i, a)| shadows[i + 1..].iter().any(|b| a.disturbs(b)))
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
    static CERTAIN: Doubt = Doubt::none();
    let doubt = if options.checks.uninitialised {
        program.doubt.get_or_init(|| Doubt::new(program))
    } else {
        &CERTAIN
    };
    let cluster = launch.cluster_of(kernel);
    let mut run = Run {
        program,
        memory,
        launch,
        options,
        cluster,
        is_explicit_cluster: launch.cluster.or(kernel.required_cluster).is_some(),
        sample: None,
        parameters,
        word_constants,
        long_constants,
        shared_bytes,
        granule: block::shadow_granule(program),
        grain: Grain::EACH,
        warps_per_block: launch.threads().div_ceil(32) as u32,
        fuel: AtomicU64::new(options.fuel),
        doubt,
        undo: None,
        next: AtomicU64::new(0),
        failed: Mutex::new(None),
        failed_at: AtomicU64::new(u64::MAX),
        disturbed: AtomicBool::new(false),
    };
    if let Some(blocks) = &options.sample {
        let last = launch.blocks() - 1;
        let mut clusters: Vec<u64> =
            blocks.iter().map(|block| run.cluster_of((*block).min(last))).collect();
        if cluster != [1; 3] {
            clusters.sort_unstable();
            clusters.dedup();
        }
        run.sample = Some(clusters);
    }
    Ok(run)
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

    /// Where a shared address lies relative to the kernel's variables: text for messages.
    pub fn describe_shared(&self, address: u64) -> String {
        let variables = &self.program.shared_variables;
        let before = variables.partition_point(|(start, ..)| *start as u64 <= address);
        let nearest = before.checked_sub(1).map(|index| &variables[index]);
        let dynamic = self.launch.dynamic_shared_bytes;
        let dynamic_start = (self.shared_bytes - dynamic) as u64;
        let all = self.shared_bytes;
        match nearest {
            _ if address >= all as u64 => format!(
                "it is {} bytes past the end of the block's {all} bytes",
                address - all as u64
            ),
            _ if dynamic > 0 && address >= dynamic_start => format!(
                "it is byte {} of the {dynamic} bytes of dynamic shared memory",
                address - dynamic_start
            ),
            Some((start, bytes, name)) => format!(
                "it is byte {} from the start of `{name}`, which has {bytes} bytes",
                address - *start as u64
            ),
            None => "no variable lies there".into(),
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

    /// The machines, unless a block failed.
    fn outcome<M>(&self, machines: M) -> Result<M, Error> {
        match self.failed.lock().ok().and_then(|mut failed| failed.take()) {
            Some((_, error)) => Err(error),
            None => Ok(machines),
        }
    }

    /// Takes warp-instructions from the launch's fuel; false when it is used up.
    pub fn burn(&self, steps: u64) -> bool {
        self.fuel
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(steps))
            .is_ok()
    }

    /// The linear index of the cluster at a position in launch order; `None` past the end.
    fn cluster_at(&self, order: u64) -> Option<u64> {
        let count = match &self.sample {
            Some(sample) => sample.len() as u64,
            None => self.clusters().iter().product(),
        };
        if order >= count {
            return None;
        }
        let order = match self.options.schedule {
            Schedule::Forward => order,
            Schedule::Reverse => count - 1 - order,
            Schedule::Seeded(seed) => permuted(order, count, seed),
        };
        match &self.sample {
            Some(sample) => sample.get(order as usize).copied(),
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
            cluster: Cluster::new(),
            printed: Vec::new(),
            counting: run.options.counters,
            wide: crate::cpu::has_wide(),
            checking: run.options.checks.any(),
            doubted: &run.doubt.instructions,
            global: run
                .options
                .checks
                .global_races
                .then(|| Box::new(GlobalShadow::new(run.memory, run.undo.is_some()))),
            estimator: run.options.estimate.map(|figures| {
                let (far, l2) = (run.options.far.clone(), run.options.l2.clone());
                Box::new(Estimator::new(figures, far, l2, count))
            }),
            watching: false,
            recorded: Vec::new(),
            blocks: 0,
            warps: 0,
            steps: 0,
        }
    }

    /// Clusters one after the other, each to its end, beside other workers doing the same.
    fn run_independent(&mut self) {
        loop {
            let order = self.run.next.fetch_add(1, Ordering::Relaxed);
            if order > self.run.failed_at.load(Ordering::Relaxed)
                || self.run.disturbed.load(Ordering::Relaxed)
            {
                return;
            }
            let Some(linear) = self.run.cluster_at(order) else {
                return;
            };
            let mut cluster = self.start_cluster(linear);
            loop {
                match self.run_cluster(&mut cluster) {
                    Ok(true) => break,
                    Ok(false) => {}
                    Err(error) => {
                        self.run.fail(order, error);
                        return;
                    }
                }
            }
            if self.global.as_ref().is_some_and(|shadow| shadow.disturbed) {
                self.run.disturbed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Clusters in order on one thread; one that spins gives way to the next, as long as the
    /// device could hold both.
    fn run_in_turns(&mut self) {
        let limits = &self.run.options.limits;
        let resident = if self.run.launch.cooperative {
            u64::MAX
        } else {
            limits.multiprocessors as u64 * limits.blocks_per_multiprocessor as u64
                / self.run.blocks_per_cluster()
        };
        let mut turns: VecDeque<(u64, Cluster)> = VecDeque::new();
        let mut order = 0;
        let mut start_next = true;
        loop {
            if start_next
                && (turns.len() as u64) < resident
                && let Some(linear) = self.run.cluster_at(order)
            {
                let cluster = self.start_cluster(linear);
                turns.push_front((order, cluster));
                order += 1;
            }
            let Some((place, mut cluster)) = turns.pop_front() else {
                return;
            };
            match self.run_cluster(&mut cluster) {
                Ok(true) => {
                    start_next = turns.is_empty() || self.run.launch.cooperative;
                }
                Ok(false) => {
                    turns.push_back((place, cluster));
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
    let mut estimators = Vec::new();
    let mut recorded = Vec::new();
    for machine in machines {
        recorded.extend(machine.recorded);
        estimators.extend(machine.estimator.map(|estimator| *estimator));
        for (sum, tally) in tallies.iter_mut().zip(&machine.tallies) {
            sum.add(tally);
        }
        report.blocks += machine.blocks;
        report.warps += machine.warps;
        report.findings.extend(machine.findings);
        printed.extend(machine.printed);
    }
    let (estimate, body) = Estimator::join(estimators.into_iter()).unzip();
    report.estimate = estimate;
    let is_body = |pc: usize| body.as_ref().is_none_or(|body| body[pc / 64] >> (pc % 64) & 1 != 0);
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
        if !is_body(pc) {
            report.once += counters;
        }
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
            requests: recorded
                .iter()
                .filter(|(at, _)| *at == pc)
                .map(|(_, request)| request.clone())
                .collect(),
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
