//! Grading: signature, results, hazards in several schedules, counts. The first stage that fails is what is said.

use crate::count::{Count, Run};
use crate::mistake::Found;
use crate::picture;
use crate::ptx;
use crate::question::{Execute, Reply, Runs, written};
use crate::task::{Because, Bound, Kind, Task};
use anyhow::{Result, bail};
use coalesce::Counted;
use coalesce::count::COUNTING_DEVICE;
use coalesce::pattern::{Implementation, Size};
use coalesce::verify::{Fault, VerifyOutcome, case, verify};
use cuda_host::{Checks, Gpu, Image, KernelFault, Misuse, Schedule, VirtualDevice, VirtualOptions};
use simt::{Finding, Hazard, Place};
use std::path::Path;

/// Warp-instructions after which a learner's kernel is taken to run forever: a hundred times what any solution needs.
const FUEL: u64 = 30_000_000;
/// Other orders of warps and blocks in which no hazard may show, besides the ascending one.
const SCHEDULES: [Schedule; 3] = [Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)];

/// A kernel to be graded.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Its PTX.
    pub ptx: String,
    /// The text of its source.
    pub source: String,
    /// How its line table ends in naming that source.
    pub file: String,
}

/// What grading came to.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The stages that passed, each with a sentence.
    pub passed: Vec<(&'static str, String)>,
    /// What did not.
    pub failure: Option<Failure>,
    /// Each bound with what was counted, where it came to that.
    pub counts: Vec<(Bound, f64)>,
}

/// The first thing that did not pass.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The stage.
    pub stage: &'static str,
    /// Its kind.
    pub because: Because,
    /// What happened.
    pub message: String,
    /// The line of the source, and its text.
    pub line: Option<(u32, String)>,
    /// Lanes and sectors, or lanes and banks.
    pub strip: Vec<String>,
    /// One thing to do next.
    pub next: String,
}

impl Verdict {
    /// Whether everything passed.
    pub fn is_pass(&self) -> bool {
        self.failure.is_none()
    }

    fn failed(mut self, failure: Failure) -> Verdict {
        self.failure = Some(failure);
        self
    }
}

impl Submission {
    /// The image that a device loads, without other kernels. It lives as long as the process: a few kilobytes for each
    /// save of a file.
    fn image(&self, kernel: &str) -> &'static [Image] {
        let text = Box::leak(ptx::only(&self.ptx, kernel).into_boxed_str());
        // SAFETY: `cuda_builder` has compiled it; what it does to memory the virtual device checks.
        let image = unsafe { Image::new(80, text, &[], "unknown", "unknown") };
        Box::leak(Box::new([image]))
    }

    fn line(&self, number: u32) -> Option<(u32, String)> {
        let text = self.source.lines().nth((number as usize).checked_sub(1)?)?;
        Some((number, text.trim().to_owned()))
    }

    /// The line of the source in a place such as `learn/tile.rs:12`, with what was inlined there behind it.
    fn line_of(&self, place: &str) -> Option<(u32, String)> {
        let name = Path::new(&self.file).file_name()?.to_str()?;
        place.match_indices(name).find_map(|(at, _)| {
            let rest = place[at + name.len()..].strip_prefix(':')?;
            let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
            self.line(digits.parse().ok().filter(|line| *line > 0)?)
        })
    }
}

/// A task's kernel, to be asked about.
pub struct Subject<'a> {
    /// The task, whose launch it is.
    pub task: &'static Task,
    /// The kernel.
    pub kernel: &'a Submission,
}

impl Execute for Subject<'_> {
    fn run(&self, size: &Size) -> Result<Run> {
        run_at(self.task, self.kernel, size)
    }

    fn findings(&self) -> Result<Vec<Found>> {
        let images = self.kernel.image(self.task.id);
        let device = Device::open(images, Checks::all(), Schedule::Forward)?;
        let line = |place: &Place| Some(self.kernel.line_of(place.source.as_deref()?)?.0);
        let found = |finding: &Finding, is_inside: bool| {
            let places = [Some(&finding.place), finding.other.as_ref()];
            let mut lines: Vec<u32> = places.into_iter().flatten().filter_map(line).collect();
            lines.sort_unstable();
            lines.dedup();
            // What lies behind an array was written by nobody, which shows the line of the access.
            let because =
                if is_inside { Because::Hazard(finding.hazard) } else { Because::OutOfBounds };
            Found { because, lines, call: String::new() }
        };
        let mut all = Vec::new();
        for size in self.task.pattern.verify_sizes.iter().rev() {
            let ran = device.run(self.task, &Size::new(size), 1);
            let is_inside = ran.is_inside();
            let findings = ran.counted.findings.iter().filter(is_mistake);
            all.extend(findings.map(|finding| found(finding, is_inside)));
            if !all.is_empty() {
                break;
            }
        }
        Ok(all)
    }
}

/// What a device does besides executing.
struct Device {
    gpu: Gpu,
}

impl Device {
    fn open(images: &'static [Image], checks: Checks, schedule: Schedule) -> Result<Device> {
        let options = VirtualOptions {
            checks,
            schedule,
            times: false,
            fuel: FUEL,
            ..VirtualOptions::default()
        };
        let gpu = Gpu::open_virtual(COUNTING_DEVICE, images, options)?;
        let device = Device { gpu };
        device.device().forget_failure();
        device.device().take_launches();
        device.device().take_misuse();
        Ok(device)
    }

    fn device(&self) -> &VirtualDevice {
        self.gpu.virtual_device().expect("it was opened as one")
    }

    /// Runs a task's kernel once.
    fn run(&self, task: &'static Task, size: &Size, seed: u64) -> Ran {
        let outcome = || -> Result<VerifyOutcome> {
            let case = case(&task.pattern, size, seed);
            let arrays = task.pattern.arrays(&self.gpu, &case)?;
            verify(&self.gpu, &case, &arrays, task.variant(), size)
        };
        let outcome = outcome();
        let counted = Counted::take(self.device());
        let misuse = self.device().take_misuse();
        self.device().forget_failure();
        Ran { outcome, counted, misuse }
    }
}

/// One run of a kernel.
struct Ran {
    outcome: Result<VerifyOutcome>,
    counted: Counted,
    misuse: Vec<Misuse>,
}

impl Ran {
    /// Whether every access was inside of its array, as far as the results show.
    fn is_inside(&self) -> bool {
        let is_outside = |fault: &Fault| matches!(fault, Fault::OutOfBounds { .. });
        !matches!(&self.outcome, Ok(VerifyOutcome::Wrong(fault)) if is_outside(fault))
            && self.outcome.is_ok()
    }
}

/// Whether a finding is more than a note.
fn is_mistake(finding: &&Finding) -> bool {
    finding.hazard != Hazard::SameValue
}

/// Grades a kernel; `seed` decides the second set of inputs.
///
/// # Errors
/// When the virtual device does not start.
pub fn grade(task: &'static Task, submission: &Submission, seed: u64) -> Result<Verdict> {
    let verdict = Verdict { passed: Vec::new(), failure: None, counts: Vec::new() };
    let mut verdict = match signature(task, submission) {
        Ok(()) => verdict,
        Err(error) => {
            return Ok(verdict.failed(Failure {
                stage: "signature",
                because: Because::Signature,
                message: format!("{error:#}"),
                line: None,
                strip: Vec::new(),
                next: format!("declare it as `{}`", ptx::signature(task.solved, task.id)?),
            }));
        }
    };
    if task.kind == Kind::Question
        && let Some(failure) = unanswered(task, submission)?
    {
        return Ok(verdict.failed(failure));
    }
    let images = submission.image(task.id);
    let sizes: Vec<Size> = task.pattern.verify_sizes.iter().map(|size| Size::new(size)).collect();
    if let Some(failure) = correct(task, submission, images, &sizes, seed)? {
        return Ok(verdict.failed(failure));
    }
    let runs = format!("{} sizes, two sets of random data, guards intact", sizes.len());
    verdict.passed.push(("correct", runs));
    // Every schedule at the largest sizes: the others were checked in the first.
    let last = &sizes[sizes.len().saturating_sub(2)..];
    for schedule in SCHEDULES {
        let device = Device::open(images, Checks::all(), schedule)?;
        for size in last {
            if let Some(failure) =
                judged(task, submission, size, seed, device.run(task, size, seed))
            {
                return Ok(verdict.failed(Failure { stage: "hazards", ..failure }));
            }
        }
    }
    let hazards = "none: races, uninitialized reads, bounds, barriers, in four schedules";
    verdict.passed.push(("hazards", hazards.to_owned()));
    let run = run_in(task, submission, images, &task.count_size())?;
    verdict.counts = task.bounds.iter().map(|bound| (*bound, bound.count.of(&run))).collect();
    let above = verdict.counts.iter().find(|(bound, value)| *value > bound.at_most * (1.0 + 1e-9));
    if let Some((bound, value)) = above {
        let failure = above_bound(submission, bound, *value, &run);
        return Ok(verdict.failed(failure));
    }
    Ok(verdict)
}

/// The first question whose answer in the file is missing or wrong.
fn unanswered(task: &'static Task, submission: &Submission) -> Result<Option<Failure>> {
    for (index, question) in task.before.iter().enumerate() {
        let number = index + 1;
        let given = written(&submission.source, number).unwrap_or("?");
        let wrong = match question.parse(given) {
            Err(_) if given == "?" => Some((question.text.to_owned(), "")),
            Err(error) => Some((format!("{error:#}"), "")),
            Ok(value) => match question
                .reply(&Runs(&Subject { task, kernel: submission }), value)?
            {
                Reply::Right(_) => None,
                Reply::Wrong(truth) => Some((format!("not {given}. {truth}"), "think again, or ")),
            },
        };
        if let Some((message, again)) = wrong {
            return Ok(Some(Failure {
                stage: "answers",
                because: Because::Unanswered,
                message: format!("answer {number}: {}", message.trim()),
                line: None,
                strip: Vec::new(),
                next: format!("{again}write a number behind `// answer {number}:` and save"),
            }));
        }
    }
    Ok(None)
}

/// Whether the entry has the parameters that the launch gives it.
fn signature(task: &Task, submission: &Submission) -> Result<()> {
    let declared = ptx::declared(task.solved, task.id)?;
    let found = ptx::parameters(&submission.ptx, task.id)?;
    if found != declared {
        bail!(
            "the parameters of `{}` have {found:?} bytes and must have {declared:?}: keep the signature",
            task.id
        );
    }
    Ok(())
}

/// Results at all sizes on two sets of inputs, with every check.
fn correct(
    task: &'static Task,
    submission: &Submission,
    images: &'static [Image],
    sizes: &[Size],
    seed: u64,
) -> Result<Option<Failure>> {
    let device = match Device::open(images, Checks::all(), Schedule::Forward) {
        Ok(device) => device,
        Err(error) => {
            return Ok(Some(Failure {
                stage: "signature",
                because: Because::Stopped,
                message: format!("{error:#}"),
                line: None,
                strip: Vec::new(),
                next: "compile it for sm_80".to_owned(),
            }));
        }
    };
    let mut hazard = None;
    for size in sizes {
        for seed in [1, seed] {
            let ran = device.run(task, size, seed);
            let Some(failure) = judged(task, submission, size, seed, ran) else { continue };
            if !matches!(failure.because, Because::Hazard(_)) {
                // A hazard seen before is a likelier cause of wrong results than any other.
                return Ok(Some(hazard.unwrap_or(failure)));
            }
            hazard.get_or_insert(Failure { stage: "hazards", ..failure });
        }
    }
    Ok(hazard)
}

/// What is wrong with a run, if something is.
fn judged(
    task: &Task,
    submission: &Submission,
    size: &Size,
    seed: u64,
    ran: Ran,
) -> Option<Failure> {
    let at = task.pattern.show_size(size);
    let failure = |because, message: String, line, next: &str| Failure {
        stage: "correct",
        because,
        message: format!("{message} (at {at}, data of seed {seed})"),
        line,
        strip: Vec::new(),
        next: next.to_owned(),
    };
    // A wrong address explains whatever else is found.
    if let Some(finding) = ran.counted.findings.iter().find(is_mistake).filter(|_| ran.is_inside())
    {
        return Some(failure(
            Because::Hazard(finding.hazard),
            hazard_in_words(submission, finding),
            finding.place.source.as_deref().and_then(|place| submission.line_of(place)),
            finding.fix.as_deref().unwrap_or(finding.hazard.remedy()),
        ));
    }
    match ran.outcome {
        Ok(VerifyOutcome::Correct) => None,
        Ok(VerifyOutcome::NotRun(why)) => {
            Some(failure(Because::Stopped, why, None, "this is a mistake of the course: report it"))
        }
        Ok(VerifyOutcome::Wrong(fault)) => {
            let because = match fault {
                Fault::Element { .. } => Because::Wrong,
                Fault::OutOfBounds { .. } => Because::OutOfBounds,
            };
            let next = match because {
                Because::OutOfBounds => "guard the store: which threads have no element?",
                _ if fault.to_string().contains("= NaN") => {
                    "NaN is what lay there before: no thread wrote this element"
                }
                _ => "follow by hand the thread that writes this element",
            };
            Some(failure(because, fault.to_string(), None, next))
        }
        Err(error) => {
            let misuse = ran.misuse.first();
            let because = match misuse.and_then(|misuse| misuse.fault) {
                Some(KernelFault::IllegalAddress) => Because::OutOfBounds,
                Some(KernelFault::MisalignedAddress) => Because::Misaligned,
                Some(KernelFault::NeverEnds) => Because::Hangs,
                _ => Because::Stopped,
            };
            let misuse = misuse.map_or_else(|| format!("{error:#}"), Misuse::to_string);
            let next = match because {
                Because::OutOfBounds => "check the index of this access against the length",
                Because::Misaligned => "the address must be a multiple of the bytes of the access",
                Because::Hangs => {
                    "which condition ends the loop or opens the barrier, and who makes it true?"
                }
                _ => "read the message from its beginning: it names the instruction",
            };
            let line = submission.line_of(&misuse);
            Some(failure(because, misuse, line, next))
        }
    }
}

/// A hazard by its kind and its lines.
fn hazard_in_words(submission: &Submission, finding: &Finding) -> String {
    let other = finding.other.as_ref().and_then(|place| place.source.as_deref());
    let other = other.and_then(|place| submission.line_of(place));
    let other = other.map_or_else(String::new, |(line, text)| {
        format!("; the other access is line {line}, `{text}`")
    });
    format!("{:?}: {}{other}", finding.hazard, finding.message)
}

/// Executes a kernel at a size without checks, and records the requests of its first warp.
///
/// # Errors
/// When it does not run, or is wrong.
pub fn run_at(task: &'static Task, submission: &Submission, size: &Size) -> Result<Run> {
    run_in(task, submission, submission.image(task.id), size)
}

fn run_in(
    task: &'static Task,
    submission: &Submission,
    images: &'static [Image],
    size: &Size,
) -> Result<Run> {
    let device = Device::open(images, Checks::none(), Schedule::Forward)?;
    device.device().watch_first_warp(true);
    let ran = device.run(task, size, 1);
    device.device().watch_first_warp(false);
    if let Err(error) = ran.outcome {
        let misuse = ran.misuse.first();
        let why = misuse.map_or_else(|| format!("{error:#}"), Misuse::to_string);
        bail!("the kernel does not run at {}: {why}", task.pattern.show_size(size));
    }
    let launches = without_executing(&device, task, size)?;
    let shared_bytes = ptx::shared_bytes(&submission.ptx, task.id);
    Ok(Run { counted: ran.counted, shared_bytes, launches, ..Run::default() })
}

/// The grid and the block of each launch of a task.
fn without_executing(
    device: &Device,
    task: &'static Task,
    size: &Size,
) -> Result<Vec<([u32; 3], [u32; 3])>> {
    let Implementation::Kernel { launch, .. } = task.variant().work else { return Ok(Vec::new()) };
    let arrays = task.pattern.arrays(&device.gpu, &case(&task.pattern, size, 1))?;
    let launcher = device.gpu.launcher();
    let enqueue = || launch(&launcher, &arrays, size);
    let launches = device.device().without_executing(device.gpu.stream(), enqueue)?;
    Ok(launches.iter().map(|one| (one.grid, one.block)).collect())
}

/// A count above its bound, with the instruction that has most of it.
fn above_bound(submission: &Submission, bound: &Bound, value: f64, run: &Run) -> Failure {
    let instructions = run.counted.instructions.values();
    let share = |count: Count, one: &results::InstructionCounts| count.share(&one.counters);
    let worst = instructions
        .filter(|one| share(bound.count, one) > 0.0)
        .max_by(|a, b| share(bound.count, a).total_cmp(&share(bound.count, b)));
    let line = worst.and_then(|one| {
        let source = one.source.as_ref()?;
        let own = std::iter::once((&source.file, source.line));
        let around = source.inlined_at.iter().map(|(file, line)| (file, *line));
        let mut places = own.chain(around);
        let (_, line) =
            places.find(|(file, line)| *line > 0 && Path::new(file).ends_with(&submission.file))?;
        submission.line(line)
    });
    let kinds = bound.count.kinds();
    let request = worst.and_then(|one| one.requests.iter().find(|one| kinds.contains(&one.kind)));
    Failure {
        stage: "counts",
        because: Because::Bound(bound.count),
        message: format!(
            "{}: {} counted, at most {} ({})",
            bound.count.name(),
            number(value),
            number(bound.at_most),
            bound.because
        ),
        line,
        strip: request.map(picture::strip).unwrap_or_default(),
        next: bound.count.next().to_owned(),
    }
}

/// A count as people write it.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
