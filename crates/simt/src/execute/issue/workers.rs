//! Blocks to threads of the host.

use crate::error::Error;
use crate::execute::issue::block::Cluster;
use crate::execute::issue::endless::Endless;
use crate::execute::issue::prepare::prepare;
use crate::execute::issue::run::Run;
use crate::execute::issue::worker::Worker;
use crate::execute::memory::device::AtomicGranularity;
use crate::execute::observe::checks::undo::Undo;
use crate::execute::observe::report::report;
use crate::findings::{Finding, Hazard};
use crate::launch::Launch;
use crate::memory::Memory;
use crate::module::{Kernel, Module};
use crate::observer::Observer;
use crate::operation::{Operation, Space};
use crate::options::{Options, Schedule};
use crate::program::Program;
use crate::progress::{Progress, UnderWay};
use crate::report::Report;
use crate::uninitialized::UninitializedReads;
use races::{GlobalShadow, disturb_each_other};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::Scope;

/// Runs a validated launch; its workspace, if it has one, holds zeros. `before_failure` becomes what a launch that
/// fails did until then.
pub(crate) fn run(
    module: &Module,
    memory: &Memory,
    launch: &Launch,
    options: &Options,
    workspace: u64,
    before_failure: &mut Report,
    observer: Option<&mut dyn Observer>,
) -> Result<Report, Error> {
    let kernel = module.kernel(&launch.kernel)?;
    let program = kernel.program.as_ref().map_err(Error::clone)?;
    let undo = (options.checks.global_races && !program.allocates).then(|| Undo::new(memory));
    let under_way = UnderWay::new(&launch.kernel, launch.blocks());
    let (undo, progress) = (undo.as_ref(), &*under_way.0);
    let call = Call { module, memory, launch, workspace, kernel, program, undo, progress };
    let (mut others, failures) = call.in_other_orders(options);
    let mut ran = call.run(options, before_failure, observer, &Report::default());
    let first = ran.as_ref().err();
    let is_new = |other: &&Error| !first.is_some_and(|first| fail_alike(first, other));
    let place = |error: &Error| {
        let message = format!("it fails in another order of warps and blocks: {error}");
        Some(Finding::new(Hazard::OtherOrder, error.place()?.clone(), message))
    };
    others.findings.extend(failures.iter().filter(is_new).filter_map(place));
    ran.as_mut().unwrap_or(before_failure).add_findings(others);
    ran
}

/// Returns whether two orders of a launch fail in one way: by the same error at one line, or by a wait that nothing ends.
fn fail_alike(one: &Error, other: &Error) -> bool {
    let line = |error: &Error| error.place().map(|place| place.ptx_line);
    std::mem::discriminant(one) == std::mem::discriminant(other)
        && (line(one) == line(other) || matches!(one, Error::Deadlock { .. }))
}

/// One launch, which may have to run several times: in other orders, and with its loads followed.
struct Call<'r> {
    module: &'r Module,
    memory: &'r Memory,
    launch: &'r Launch,
    workspace: u64,
    kernel: &'r Kernel,
    program: &'r Program,
    /// Takes back what was written; without it the launch runs once.
    undo: Option<&'r Undo>,
    progress: &'r Progress,
}

/// Warps of a launch above which it is not run in other orders, and the warp-instructions that it may run there.
const WARPS_OF_SMALL: u64 = 4096;
const FUEL_OF_SMALL: u64 = 1 << 22;

impl Call<'_> {
    fn prepare<'o>(&'o self, options: &'o Options, parallel: bool) -> Result<Run<'o>, Error> {
        let Call { module, memory, launch, workspace, kernel, program, undo, progress } = *self;
        progress.restart();
        let run = prepare(module, program, kernel, memory, launch, options, progress)?;
        let granularity =
            if parallel { AtomicGranularity::of(program) } else { AtomicGranularity::EACH };
        Ok(Run { undo, parallel, granularity, workspace, ..run })
    }

    /// Returns what is found in other orders of warps and blocks, as many as the options ask for, of a small launch, and how
    /// it failed there.
    fn in_other_orders(&self, options: &Options) -> (Report, Vec<Error>) {
        let (mut found, mut failures) = (Report::default(), Vec::new());
        let warps = self.launch.blocks() * self.launch.threads().div_ceil(32);
        if self.undo.is_none() || warps > WARPS_OF_SMALL || self.is_shared() {
            return (found, failures);
        }
        let orders = [Schedule::Reverse].into_iter().chain((1..).map(Schedule::Seeded));
        let orders = orders.take_while(|_| options.schedule == Schedule::Forward);
        for schedule in orders.take(options.schedules.saturating_sub(1) as usize) {
            let options = Options {
                schedule,
                counters: false,
                fuel: options.fuel.min(FUEL_OF_SMALL),
                watched: None,
                trace: None,
                footprint: false,
                ..options.clone()
            };
            let mut before_failure = Report::default();
            let ran = self.run(&options, &mut before_failure, None, &found);
            self.undo_writes();
            match ran {
                Ok(report) => found.add_findings(report),
                Err(Error::OutOfFuel { .. }) if self.progress.is_stopped() => {
                    return (found, failures);
                }
                Err(Error::OutOfFuel { .. }) => {}
                Err(error) => {
                    found.add_findings(before_failure);
                    failures.push(error);
                }
            }
        }
        (found, failures)
    }

    /// Returns whether an argument is an address of memory that the host has, too: what is written there is seen at once.
    fn is_shared(&self) -> bool {
        let words = self.launch.arguments.iter().flat_map(|argument| argument.as_chunks::<8>().0);
        let mut found = words.filter_map(|word| self.memory.allocation(u64::from_le_bytes(*word)));
        found.any(|allocation| allocation.is_mapped)
    }

    /// Runs the launch, and once more with its loads followed where something was found that harms only who uses it, unless
    /// the same is `known`.
    fn run(
        &self,
        options: &Options,
        before_failure: &mut Report,
        observer: Option<&mut dyn Observer>,
        known: &Report,
    ) -> Result<Report, Error> {
        let threads = match observer {
            Some(_) => 1,
            None => threads(self.program, self.memory, self.launch, options),
        };
        if threads > 1 {
            let run = self.prepare(options, true)?;
            let outcome = side_by_side(&run, threads);
            if self.undo.is_none() {
                before_failure.printed = run.printed_before_failure();
                return outcome.map(|workers| report(self.program, workers, options));
            }
            // What was found depends on the order when blocks disturbed each other, when an error ended
            // some of them, or when there was more to find than is recorded.
            if let Ok(workers) = outcome
                && !workers.iter().any(|m| m.observers.findings.len() >= options.findings_max)
                && !disturbed(&workers)
            {
                return self.followed(&run, report(self.program, workers, options), known);
            }
            self.undo_writes();
        }
        let run = self.prepare(options, false)?;
        let report = one_by_one(&run, before_failure, observer)?;
        self.followed(&run, report, known)
    }

    /// Gives memory back what it held before the launch.
    fn undo_writes(&self) {
        if let Some(undo) = self.undo {
            // SAFETY: the chunks were saved by workers of this launch on this memory, and all of them have ended.
            unsafe { undo.restore(self.memory) };
        }
    }

    /// Runs a launch again with its loads followed, where that decides what was found; its counts stay those of before.
    fn followed(&self, run: &Run<'_>, mut report: Report, known: &Report) -> Result<Report, Error> {
        let is_repeatable = self.undo.is_some_and(|undo| !undo.has_mapped(self.memory));
        if !report.findings.is_empty() && report.findings.iter().all(|one| known.has_like(one)) {
            return Ok(report);
        }
        if !run.doubtful.load(Ordering::Relaxed) || !is_repeatable {
            return Ok(report);
        }
        self.undo_writes();
        let everything = UninitializedReads::everything(self.program);
        let mut racing = vec![false; self.program.instructions.len()];
        if let Ok(loads) = run.racing_loads.lock() {
            loads.iter().for_each(|pc| racing[*pc] = true);
        }
        let options =
            Options { counters: false, watched: None, trace: None, ..run.options.clone() };
        let again = self.prepare(&options, false)?;
        let again = Run { doubt: &everything, racing: Some(racing), ..again };
        let again = one_by_one(&again, &mut Report::default(), None)?;
        (report.findings, report.notes) = (again.findings, again.notes);
        Ok(report)
    }
}

/// The processors that this process may use. Asking reads files, which takes longer than a small launch.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// The threads that launch beside others.
static SHARERS: AtomicUsize = AtomicUsize::new(0);
/// The threads that launches have beyond the one that launches.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// A thread that launches beside others: while it lives, launches leave it a processor.
#[derive(Debug)]
pub struct Sharer(());

impl Sharer {
    /// Takes a processor.
    #[expect(clippy::new_without_default, reason = "it changes what launches take")]
    pub fn new() -> Sharer {
        SHARERS.fetch_add(1, Ordering::Relaxed);
        Sharer(())
    }
}

impl Drop for Sharer {
    fn drop(&mut self) {
        SHARERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A processor that a launch has for one more thread, until this is dropped.
struct Helper(());

impl Helper {
    /// Takes a processor that nobody uses.
    fn take() -> Option<Helper> {
        let one_more = |helpers| {
            let busy = SHARERS.load(Ordering::Relaxed).max(1) + helpers;
            (busy < *PROCESSORS).then_some(helpers + 1)
        };
        let taken = HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        taken.ok().map(|_| Helper(()))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns how many threads may run blocks of a launch at most: one where their order could change results, where atomics
/// would reach past mapped memory, and where checks would have to share a processor.
fn threads(program: &Program, memory: &Memory, launch: &Launch, options: &Options) -> usize {
    let ordered = program.order_dependent || program.polls;
    let sequential = launch.cooperative
        || program.allocates
        || options.schedule != Schedule::Forward
        || (options.deterministic && ordered)
        || !AtomicGranularity::of(program).divides(memory)
        || options.trace.is_some()
        || (options.checks.global_races
            && (ordered || program.irreproducible || writes_past_the_checks(program)));
    let blocks = options.sample.as_ref().map_or(launch.blocks(), |s| s.len() as u64);
    let is_alone =
        || SHARERS.load(Ordering::Relaxed) + HELPERS.load(Ordering::Relaxed) < *PROCESSORS;
    let wanted = match options.threads {
        // Checks on several threads may have to start again on one, which pays where processors are free.
        0 if options.checks.global_races && !is_alone() => 1,
        0 => *PROCESSORS,
        threads => threads,
    };
    if sequential { 1 } else { wanted.min(blocks.max(1) as usize) }
}

/// Returns whether a program writes global memory by means whose order the checks do not see.
fn writes_past_the_checks(program: &Program) -> bool {
    let own = |space: Space| matches!(space, Space::Shared | Space::Local | Space::Parameter);
    program.instructions.iter().any(|instruction| match &instruction.operation {
        Operation::BulkCopy(_) | Operation::TensorCopy(_) => true,
        Operation::Load(access) | Operation::Store(access) => access.strong && !own(access.space),
        _ => false,
    })
}

/// All blocks on this thread.
fn one_by_one(
    run: &Run<'_>,
    before_failure: &mut Report,
    observer: Option<&mut dyn Observer>,
) -> Result<Report, Error> {
    let observer = observer.map(|observer| observer as &mut dyn Observer);
    let mut worker = Worker::new(run, observer);
    worker.run_in_turns();
    let done = report(run.program, vec![worker], run.options);
    let Err(error) = run.outcome(()) else { return Ok(done) };
    *before_failure = Report { printed: run.printed_before_failure(), ..done };
    Err(error)
}

/// The batches of blocks that a thread gets, about. Blocks of a batch are neighbours, which touch the same memory.
const BATCHES: u64 = 8;

/// The threads that run the blocks of a launch, each taking the next batch of them when it is done with one.
struct Team<'r> {
    run: &'r Run<'r>,
    /// The most threads.
    most: usize,
    batch: u64,
    begun: AtomicUsize,
    ended: Mutex<Vec<Worker<'r>>>,
}

impl<'r> Team<'r> {
    /// Runs batches on this thread, and before each lets others help where processors are free.
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let mut worker = Worker::new(self.run, None);
        worker.run_independent(self.batch, || self.grow(scope));
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
    }

    /// Returns whether a batch is left to take.
    fn has_more(&self) -> bool {
        self.run.next.load(Ordering::Relaxed) < self.run.clusters()
    }

    /// Starts threads while blocks are left: those that the options ask for, else one for each free processor.
    fn grow<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let is_asked = self.run.options.threads != 0;
        while self.begun.load(Ordering::Relaxed) < self.most && self.has_more() {
            let helper = if is_asked { None } else { Helper::take() };
            if helper.is_none() && !is_asked {
                return;
            }
            if self.begun.fetch_add(1, Ordering::Relaxed) >= self.most {
                return;
            }
            scope.spawn(move || {
                let _helper = helper;
                // A panic leaves the launch without this worker, which is counted.
                let _ = catch_unwind(AssertUnwindSafe(|| self.work(scope)));
            });
        }
    }
}

/// Blocks on several threads.
fn side_by_side<'r>(run: &'r Run<'r>, most: usize) -> Result<Vec<Worker<'r>>, Error> {
    let batch = (run.clusters() / (most as u64 * BATCHES)).max(1);
    let (begun, ended) = (AtomicUsize::new(1), Mutex::default());
    let team = Team { run, most, batch, begun, ended };
    std::thread::scope(|scope| team.work(scope));
    let workers = team.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
    if workers.len() < team.begun.into_inner().min(most) {
        return Err(Error::LaunchConfiguration { message: "a worker thread ended early".into() });
    }
    run.outcome(workers)
}

/// Returns whether blocks of one worker touched what blocks of the same or another worker wrote.
fn disturbed(workers: &[Worker<'_>]) -> bool {
    let shadows: Vec<&GlobalShadow> =
        workers.iter().filter_map(|m| m.observers.global.as_deref()).collect();
    let kinds = workers.first().map_or(&[][..], |worker| &worker.run.model.kinds);
    shadows.iter().any(|shadow| shadow.disturbed) || disturb_each_other(&shadows, kinds)
}

impl Worker<'_> {
    /// Clusters one after the other, each to its end, beside other workers doing the same.
    fn run_independent(&mut self, batch: u64, before_batch: impl Fn()) {
        let mut orders = 0..0;
        let mut endless = None;
        loop {
            let order = orders.next().unwrap_or_else(|| {
                before_batch();
                let first = self.run.next.fetch_add(batch, Ordering::Relaxed);
                orders = first + 1..first + batch;
                first
            });
            if order > self.run.failed_at.load(Ordering::Relaxed)
                || self.run.disturbed.load(Ordering::Relaxed)
            {
                return;
            }
            let Some(linear) = self.run.cluster_at(order) else { return };
            let mut cluster = self.start_cluster(linear);
            loop {
                let ended = self.run_cluster(&mut cluster).and_then(|ended| {
                    if !ended {
                        let endless = endless.get_or_insert_with(|| Endless::new(self.run.program));
                        self.check_endless_alone(endless, order, &mut cluster)?;
                    }
                    Ok(ended)
                });
                match ended {
                    Ok(true) => break,
                    Ok(false) => {}
                    Err(error) => {
                        let printed = std::mem::take(&mut self.printed);
                        self.run.fail(order, error, printed);
                        return;
                    }
                }
            }
            if self.observers.global.as_ref().is_some_and(|shadow| shadow.disturbed) {
                self.run.disturbed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Clusters in order on one thread; one that spins gives way to the next, as long as the
    /// device could hold both.
    fn run_in_turns(&mut self) {
        let limits = &self.run.options.limits;
        let most = u64::from(limits.multiprocessors) * u64::from(limits.blocks_per_multiprocessor);
        let blocks = self.run.options.resident_blocks.unwrap_or(most);
        let resident = if self.run.launch.cooperative {
            u64::MAX
        } else {
            (blocks / self.run.model.grid.blocks_per_cluster()).max(1)
        };
        let mut endless = None;
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
            let Some((place, mut cluster)) = turns.pop_front() else { return };
            match self.run_cluster(&mut cluster) {
                Ok(true) => {
                    start_next = turns.is_empty() || self.run.launch.cooperative;
                }
                Ok(false) => {
                    turns.push_back((place, cluster));
                    start_next = true;
                    let all_started = self.run.cluster_at(order).is_none();
                    if all_started || turns.len() as u64 >= resident {
                        let endless = endless.get_or_insert_with(|| Endless::new(self.run.program));
                        let checked = self.check_endless(endless, &mut turns, order);
                        if let Err(error) = checked {
                            let printed = std::mem::take(&mut self.printed);
                            self.run.fail(place, error, printed);
                            return;
                        }
                    }
                }
                Err(error) => {
                    let printed = std::mem::take(&mut self.printed);
                    self.run.fail(place, error, printed);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn a_launch_takes_processors_that_no_thread_uses_and_gives_them_back() {
        let sharers: Vec<Sharer> = (0..*PROCESSORS).map(|_| Sharer::new()).collect();
        assert!(Helper::take().is_none(), "each processor has a thread");
        drop(sharers);
        // Other tests launch meanwhile, and give back what they took.
        let taken = || {
            let helpers: Vec<Helper> = (1..*PROCESSORS).map_while(|_| Helper::take()).collect();
            helpers.len()
        };
        for _again in 0..2 {
            let begin = Instant::now();
            while taken() < *PROCESSORS - 1 {
                assert!(begin.elapsed() < PATIENCE, "a processor was not given back");
                std::thread::yield_now();
            }
        }
    }
}
