//! Blocks to threads of the host.

use crate::error::Error;
use crate::execute::issue::block::Cluster;
use crate::execute::issue::prepare::prepare;
use crate::execute::issue::run::Run;
use crate::execute::issue::worker::Worker;
use crate::execute::memory::device::AtomicGranularity;
use crate::execute::observe::checks::undo::Undo;
use crate::execute::observe::report::report;
use crate::launch::Launch;
use crate::memory::Memory;
use crate::module::Module;
use crate::observer::Observer;
use crate::operation::{Operation, Space};
use crate::options::{Options, Schedule};
use crate::program::Program;
use crate::report::Report;
use races::{GlobalShadow, disturb_each_other};
use std::collections::VecDeque;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let run = |parallel: bool| {
        let run = prepare(module, program, kernel, memory, launch, options)?;
        let undo = (parallel && options.checks.global_races).then(|| Undo::new(memory));
        let granularity =
            if parallel { AtomicGranularity::of(program) } else { AtomicGranularity::EACH };
        Ok::<_, Error>(Run { undo, granularity, workspace, ..run })
    };
    let threads = if observer.is_some() { 1 } else { threads(program, memory, launch, options) };
    if threads == 1 {
        return one_by_one(&run(false)?, before_failure, observer);
    }
    let first = run(true)?;
    let outcome = side_by_side(&first, threads);
    let Some(undo) = &first.undo else {
        before_failure.printed = first.printed_before_failure();
        return outcome.map(|workers| report(program, workers, options));
    };
    // What was found depends on the order when blocks disturbed each other, when an error ended
    // some of them, or when there was more to find than is recorded.
    if let Ok(workers) = outcome
        && !workers.iter().any(|m| m.observers.findings.len() >= options.findings_max)
        && !disturbed(&workers)
    {
        return Ok(report(program, workers, options));
    }
    // SAFETY: the chunks were saved by workers of this launch on this memory, and all of them have ended.
    unsafe { undo.restore(memory) };
    one_by_one(&run(false)?, before_failure, None)
}

/// The processors that this process may use. Asking reads files, which takes longer than a small launch.
static PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// The threads that share the processors.
static SHARERS: AtomicUsize = AtomicUsize::new(0);

/// A thread that launches beside others: while several live, each launch takes its part of the processors only.
#[derive(Debug)]
pub struct Sharer(());

impl Sharer {
    /// Takes a part.
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

/// Returns how many threads may run blocks of a launch: one where their order could change results,
/// and where atomics would reach past mapped memory.
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
    let part = || (*PROCESSORS / SHARERS.load(Ordering::Relaxed).max(1)).max(1);
    let wanted = if options.threads == 0 { part() } else { options.threads };
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

/// Blocks on several threads, each taking the next batch of them when it is done with one.
fn side_by_side<'r>(run: &'r Run<'r>, threads: usize) -> Result<Vec<Worker<'r>>, Error> {
    let batch = (run.clusters() / (threads as u64 * BATCHES)).max(1);
    let workers: Vec<Worker<'_>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut worker = Worker::new(run, None);
                    worker.run_independent(batch);
                    worker
                })
            })
            .collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    });
    if workers.len() < threads {
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
    fn run_independent(&mut self, batch: u64) {
        let mut orders = 0..0;
        loop {
            let order = orders.next().unwrap_or_else(|| {
                let first = self.run.next.fetch_add(batch, Ordering::Relaxed);
                orders = first + 1..first + batch;
                first
            });
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
        let resident = if self.run.launch.cooperative {
            u64::MAX
        } else {
            limits.multiprocessors as u64 * limits.blocks_per_multiprocessor as u64
                / self.run.model.grid.blocks_per_cluster()
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
                    let printed = std::mem::take(&mut self.printed);
                    self.run.fail(place, error, printed);
                    return;
                }
            }
        }
    }
}
