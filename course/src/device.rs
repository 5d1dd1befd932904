//! A learner's kernel on the virtual device: one run, with what was counted and what was found.

use crate::count::CountedRun;
use crate::mistake::Found;
use crate::question::{Execute, SEED};
use crate::submission::Submission;
use crate::task::{FailureKind, Task};
use crate::words::{self, Named};
use anyhow::{Context, Result, bail};
use coalesce::arrays::Arrays;
use coalesce::pattern::{Case, Implementation, Size};
use coalesce::verify::{Fault, VerifyOutcome, case, verify};
use coalesce::{COUNTING_DEVICE, Counted};
use cuda_host::{Checks, Gpu, Image, Misuse, Schedule, VirtualDevice, VirtualOptions};
use cust::function::FunctionAttribute;
use simt::{Finding, Hazard, Place};

/// Warp-instructions after which a learner's kernel is taken to run forever: a hundred times what any solution needs.
pub(crate) const FUEL: u64 = 30_000_000;

/// A task's kernel, to be asked about.
pub struct Subject<'a> {
    pub task: &'static Task,
    pub kernel: &'a Submission,
}

/// The first finding of a kernel, as two lanes of time show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    pub hazard: Hazard,
    /// The event in the words of the learner's file.
    pub sentence: String,
    /// One or two accesses, the earlier first.
    pub accesses: Vec<Access>,
    /// True if neither comes before the other.
    pub is_at_once: bool,
}

/// One lane at a line of a learner's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub block: u32,
    pub warp: u32,
    pub lane: u32,
    pub line: u32,
    /// The text of that line.
    pub text: String,
}

impl Subject<'_> {
    /// Returns the first finding at the largest size at which there is one.
    ///
    /// # Errors
    /// No device opens, or the run shows nothing.
    pub fn bug(&self) -> Result<Bug> {
        let device = self.checked()?;
        let ran = self.ran(&device).find(|ran| !ran.counted.findings.is_empty());
        let ran = ran.context("the run shows no mistake")?;
        let finding = ran.counted.findings.first().context("the run shows no mistake")?;
        let access = |place: &Place, lane: u32| {
            let (line, text) = self.kernel.line_of(place.source.as_deref()?)?;
            Some(Access { block: place.block[0], warp: place.warp, lane, line, text })
        };
        let first = |place: &Place| access(place, place.lanes.trailing_zeros());
        let place = &finding.place;
        let second = place.lanes & place.lanes.wrapping_sub(1);
        let is_one_store = finding.hazard == Hazard::ConflictingStore && second != 0;
        let is_at_once = is_one_store || finding.hazard == Hazard::DivergentBarrier;
        let accesses = match &finding.other {
            _ if is_one_store => vec![first(place), access(place, second.trailing_zeros())],
            Some(other) => vec![first(other), first(place)],
            None => vec![first(place)],
        };
        Ok(Bug {
            hazard: finding.hazard,
            sentence: words::hazard(self.kernel, &ran.named, finding),
            accesses: accesses.into_iter().flatten().collect(),
            is_at_once,
        })
    }

    fn checked(&self) -> Result<Device> {
        Device::open(self.kernel.image(self.task.kernel()), Checks::all(), Schedule::Forward)
    }

    /// Runs at each size at which results are checked, the largest first.
    fn ran(&self, device: &Device) -> impl Iterator<Item = KernelRun> {
        let sizes = self.task.pattern.verify_sizes.iter().rev();
        sizes.map(|size| device.run(self.task, &Size::new(size), SEED))
    }
}

impl Execute for Subject<'_> {
    fn run(&self, size: &Size) -> Result<CountedRun> {
        run_at(self.task, self.kernel, size)
    }

    fn findings(&self) -> Result<Vec<Found>> {
        let device = self.checked()?;
        let line = |place: &Place| Some(self.kernel.line_of(place.source.as_deref()?)?.0);
        let found = |finding: &Finding, is_inside: bool| {
            let places = [Some(&finding.place), finding.other.as_ref()];
            let mut lines: Vec<u32> = places.into_iter().flatten().filter_map(line).collect();
            lines.sort_unstable();
            lines.dedup();
            // What lies behind an array was written by nobody, which shows the line of the access.
            let because = if is_inside {
                FailureKind::Hazard(finding.hazard)
            } else {
                FailureKind::OutOfBounds
            };
            Found { because, lines, call: String::new() }
        };
        let mut all = Vec::new();
        for ran in self.ran(&device) {
            let is_inside = ran.is_inside();
            let findings = ran.counted.findings.iter();
            all.extend(findings.map(|finding| found(finding, is_inside)));
            if !all.is_empty() {
                break;
            }
        }
        Ok(all)
    }
}

/// Settings of a device besides those of its executor.
pub(crate) struct Device {
    gpu: Gpu,
}

impl Device {
    /// Opens one that prints nothing of what a kernel prints: a verdict stands alone.
    pub(crate) fn open(
        images: &'static [Image],
        checks: Checks,
        schedule: Schedule,
    ) -> Result<Device> {
        Device::open_with(images, checks, schedule, false)
    }

    fn open_with(
        images: &'static [Image],
        checks: Checks,
        schedule: Schedule,
        prints: bool,
    ) -> Result<Device> {
        let options = VirtualOptions {
            checks,
            schedule,
            times: false,
            fuel: FUEL,
            prints,
            ..VirtualOptions::default()
        };
        let gpu = Gpu::open_virtual(COUNTING_DEVICE, images, options)?;
        let device = Device { gpu };
        device.device().forget_failure();
        device.device().drain_launches();
        device.device().drain_misuse();
        Ok(device)
    }

    fn device(&self) -> &VirtualDevice {
        self.gpu.virtual_device().expect("it was opened as one")
    }

    /// From here on the requests of the first warp are kept.
    pub(crate) fn watch_first_warp(&self) {
        self.device().watch_first_warp(true);
    }

    /// The bytes of shared memory that each block of a task's kernel has.
    pub(crate) fn shared_bytes(&self, task: &Task) -> Result<usize> {
        let kernel = self.gpu.module().get_function(task.kernel())?;
        Ok(kernel.get_attribute(FunctionAttribute::SharedMemorySizeBytes)?.try_into()?)
    }

    pub(crate) fn run(&self, task: &'static Task, size: &Size, seed: u64) -> KernelRun {
        self.run_with(task, size, seed, |case| task.pattern.arrays(&self.gpu, case))
    }

    /// Does the same with inputs that lie alone in memory: what is read beside them stops it, whatever becomes of it.
    pub(crate) fn run_alone(&self, task: &'static Task, size: &Size, seed: u64) -> KernelRun {
        self.run_with(task, size, seed, |case| Arrays::with_inputs_alone(&self.gpu, case))
    }

    fn run_with(
        &self,
        task: &'static Task,
        size: &Size,
        seed: u64,
        arrays: impl Fn(&Case) -> Result<Arrays>,
    ) -> KernelRun {
        let mut named = Vec::new();
        let mut outcome = || -> Result<VerifyOutcome> {
            let case = case(&task.pattern, size, seed);
            let arrays = arrays(&case)?;
            named = words::named(task, &case, &arrays);
            verify(&self.gpu, &case, &arrays, task.variant(), size)
        };
        let outcome = outcome();
        let counted = Counted::take(self.device());
        let misuse = self.device().drain_misuse();
        self.device().forget_failure();
        KernelRun { outcome, counted, misuse, named }
    }
}

pub(crate) struct KernelRun {
    pub(crate) outcome: Result<VerifyOutcome>,
    pub(crate) counted: Counted,
    pub(crate) misuse: Vec<Misuse>,
    pub(crate) named: Vec<Named>,
}

impl KernelRun {
    /// Returns whether every access was inside of its array, as far as the results show.
    pub(crate) fn is_inside(&self) -> bool {
        let is_outside = |fault: &Fault| matches!(fault, Fault::OutOfBounds { .. });
        !matches!(&self.outcome, Ok(VerifyOutcome::Wrong(fault)) if is_outside(fault))
            && self.outcome.is_ok()
    }
}

/// Executes a kernel at a size without checks, and records the requests of its first warp.
pub fn run_at(task: &'static Task, submission: &Submission, size: &Size) -> Result<CountedRun> {
    run_in(task, submission, size, false)
}

/// Does the same, and lets the kernel print.
pub fn try_at(task: &'static Task, submission: &Submission, size: &Size) -> Result<CountedRun> {
    run_in(task, submission, size, true)
}

fn run_in(
    task: &'static Task,
    submission: &Submission,
    size: &Size,
    prints: bool,
) -> Result<CountedRun> {
    let images = submission.image(task.kernel());
    let device = Device::open_with(images, Checks::none(), Schedule::Forward, prints)?;
    device.device().watch_first_warp(true);
    let ran = device.run(task, size, SEED);
    device.device().watch_first_warp(false);
    if let Err(error) = ran.outcome {
        let misuse = ran.misuse.first();
        let why = misuse.map_or_else(|| format!("{error:#}"), Misuse::to_string);
        bail!("the kernel does not run at {}: {why}", task.pattern.show_size(size));
    }
    let launches = without_executing(&device, task, size)?;
    let shared_bytes = device.shared_bytes(task)?;
    Ok(CountedRun { counted: ran.counted, shared_bytes, launches, ..CountedRun::default() })
}

/// The grid and the block of each launch of a task.
fn without_executing(
    device: &Device,
    task: &'static Task,
    size: &Size,
) -> Result<Vec<([u32; 3], [u32; 3])>> {
    let Implementation::Kernel { launch, .. } = task.variant().work else { return Ok(Vec::new()) };
    let arrays = task.pattern.arrays(&device.gpu, &case(&task.pattern, size, SEED))?;
    let launcher = device.gpu.launcher();
    let enqueue = || launch(&launcher, &arrays, size);
    let launches = device.device().without_executing(device.gpu.stream(), enqueue)?;
    Ok(launches.iter().map(|one| (one.grid, one.block)).collect())
}
