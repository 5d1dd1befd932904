//! Grading: signature, results, hazards in several schedules, counts. The first stage that fails is what is said.

use crate::bounds;
use crate::count::CountedRun;
pub use crate::device::{Access, Bug, Subject, run_at, try_at};
use crate::device::{Device, FUEL, KernelRun};
use crate::ptx;
use crate::question::{Reply, Runs, written};
use crate::refuse::essence;
pub use crate::submission::Submission;
use crate::task::{FailureKind, Kind, Task};
pub use crate::verdict::{Failure, Verdict};
use crate::words;
use anyhow::{Result, bail};
use coalesce::Counted;
use coalesce::pattern::Size;
use coalesce::verify::{Fault, VerifyOutcome};
use cuda_host::{Checks, Image, KernelFault, Misuse, Schedule};
use simt::Hazard;

/// Other orders of warps and blocks in which no hazard may show, besides the ascending one.
const SCHEDULES: [Schedule; 3] = [Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)];

/// Warp-instructions of all launches of a check: twice what one launch may have, so that a slow kernel costs seconds.
const MAX_SPENT: u64 = 2 * FUEL;

/// Grades a kernel; `seed` decides the second set of inputs, and the sizes that are drawn.
pub fn grade(task: &'static Task, submission: &Submission, seed: u64) -> Result<Verdict> {
    let verdict = Verdict::default();
    let mut verdict = match signature(task, submission) {
        Ok(()) => verdict,
        Err(error) => {
            return Ok(verdict.failed(Failure {
                stage: "signature",
                because: FailureKind::Signature,
                message: format!("{error:#}"),
                line: None,
                strip: Vec::new(),
                next: format!("declare it as `{}`", ptx::signature(task.solved(), task.kernel())?),
            }));
        }
    };
    if task.kind == Kind::Question
        && let Some(failure) = unanswered(task, submission)?
    {
        return Ok(verdict.failed(failure));
    }
    let images = submission.image(task.kernel());
    let sizes: Vec<Size> = task.pattern.verify_sizes.iter().map(|size| Size::new(size)).collect();
    let mut run = Run { task, submission, spent: 0 };
    if let Some(failure) = run.correct(images, &sizes, seed)? {
        return Ok(verdict.failed(failure));
    }
    let runs = format!("{} sizes, two sets of random data, guards intact", sizes.len() + 1);
    verdict.passed.push(("correct", runs));
    // Every schedule at the largest sizes: the others were checked in the first.
    let last = &sizes[sizes.len().saturating_sub(2)..];
    let mut remarks = Remarks::default();
    for schedule in SCHEDULES {
        let device = Device::open(images, Checks::all(), schedule)?;
        for size in last {
            let ran = device.run(task, size, seed);
            remarks.note(submission, &ran.counted);
            if let Some(failure) = run.judged(size, seed, ran) {
                return Ok(verdict.failed(Failure { stage: "hazards", ..failure }));
            }
        }
    }
    let hazards = "none: races, uninitialized reads, bounds, barriers, in four schedules";
    verdict.passed.push(("hazards", hazards.to_owned()));
    for size in [task.count_size(), task.drawn_size(seed)] {
        let device = Device::open(images, Checks::all(), Schedule::Forward)?;
        device.watch_first_warp();
        let ran = device.run(task, &size, seed);
        remarks.note(submission, &ran.counted);
        let counted = ran.counted.clone();
        if let Some(failure) = run.judged(&size, seed, ran) {
            return Ok(verdict.failed(failure));
        }
        let shared_bytes = device.shared_bytes(task)?;
        let ran = CountedRun { counted, shared_bytes, ..CountedRun::default() };
        let counts = bounds::counted(task, &size, &ran);
        let unwanted = bounds::unwanted(task, &ran);
        let outside = bounds::outside(task, &size, &counts);
        let outside = outside.or_else(|| bounds::outside(task, &size, &unwanted));
        if verdict.counts.is_empty() {
            verdict.counts = counts;
        }
        if let Some(outside) = outside {
            return Ok(verdict.failed(outside.of_kernel(submission, &ran)));
        }
    }
    verdict.remarks = [remarks.same_value, remarks.barrier].into_iter().flatten().collect();
    Ok(verdict)
}

/// Remarks about a kernel that passes, each once.
#[derive(Default)]
struct Remarks {
    same_value: Option<String>,
    barrier: Option<String>,
}

impl Remarks {
    fn note(&mut self, submission: &Submission, counted: &Counted) {
        if self.same_value.is_none() {
            let note = counted.notes.iter().find(|one| one.hazard == Hazard::SameValue);
            self.same_value = note.map(|one| words::same_value(submission, one));
        }
        if self.barrier.is_none() {
            self.barrier = words::barrier_of_some(submission, counted);
        }
    }
}

/// Returns what is wrong with the file of a question whose kernel is another than the one that was given.
pub fn another_kernel(task: &Task, source: &str, given: &str) -> Option<Failure> {
    // Answers are comments.
    let is_another = task.kind == Kind::Question && essence(source) != essence(given);
    is_another.then(|| Failure {
        stage: "answers",
        because: FailureKind::Unanswered,
        message: "the kernel is another than the one that is asked about".to_owned(),
        line: None,
        strip: Vec::new(),
        next: "write answers only; `reset` writes the file as it began, and keeps yours".to_owned(),
    })
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
                because: FailureKind::Unanswered,
                message: format!("answer {number}: {}", message.trim()),
                line: None,
                strip: Vec::new(),
                next: format!("{again}write a number behind `// answer {number}:` and save"),
            }));
        }
    }
    Ok(None)
}

/// Returns whether the entry has the parameters that the launch gives it.
fn signature(task: &Task, submission: &Submission) -> Result<()> {
    let declared = ptx::declared(task.solved(), task.kernel())?;
    let found = ptx::parameters(&submission.ptx, task.kernel())?;
    if found != declared {
        bail!(
            "the parameters of `{}` have {found:?} bytes and must have {declared:?}: keep the signature",
            task.kernel()
        );
    }
    Ok(())
}

/// A check in progress.
struct Run<'a> {
    task: &'static Task,
    submission: &'a Submission,
    /// Warp-instructions of all launches so far.
    spent: u64,
}

impl Run<'_> {
    /// Results at all sizes, of which one is drawn, on two sets of inputs, with every check.
    fn correct(
        &mut self,
        images: &'static [Image],
        sizes: &[Size],
        seed: u64,
    ) -> Result<Option<Failure>> {
        let device = match Device::open(images, Checks::all(), Schedule::Forward) {
            Ok(device) => device,
            Err(error) => {
                return Ok(Some(Failure {
                    stage: "signature",
                    because: FailureKind::Stopped,
                    message: format!("{error:#}"),
                    line: None,
                    strip: Vec::new(),
                    next: "compile it for sm_80".to_owned(),
                }));
            }
        };
        let mut hazard = None;
        let known = sizes.iter().flat_map(|size| [1, seed].map(|seed| (size.clone(), seed)));
        let task = self.task;
        let known = known.map(|(size, seed)| (device.run(task, &size, seed), size, seed));
        // What was read beside an input in the other runs, and used nowhere, shows in this one.
        let alone = std::iter::once_with(|| {
            let size = task.odd_size(seed);
            (device.run_alone(task, &size, seed), size, seed)
        });
        for (ran, size, seed) in known.chain(alone) {
            let Some(failure) = self.judged(&size, seed, ran) else { continue };
            if !matches!(failure.because, FailureKind::Hazard(_)) {
                // A hazard seen before is a likelier cause of wrong results than any other.
                return Ok(Some(hazard.unwrap_or(failure)));
            }
            hazard.get_or_insert(Failure { stage: "hazards", ..failure });
        }
        Ok(hazard)
    }

    /// Returns what is wrong with a run, if something is.
    fn judged(&mut self, size: &Size, seed: u64, ran: KernelRun) -> Option<Failure> {
        self.spent = self.spent.saturating_add(ran.counted.counters.warp_instructions);
        let spent = self.spent;
        judged(self.task, self.submission, size, seed, ran).or_else(|| {
            let at = self.task.pattern.show_size(size);
            (spent > MAX_SPENT).then(|| Failure {
                stage: "correct",
                because: FailureKind::Hangs,
                message: format!("the launches of this check had {spent} warp-instructions, at most {MAX_SPENT} (at {at}, data of seed {seed})"),
                line: None,
                strip: Vec::new(),
                next: "which loop runs much longer than its work needs?".to_owned(),
            })
        })
    }
}

/// Returns what is wrong with a run, if something is.
fn judged(
    task: &Task,
    submission: &Submission,
    size: &Size,
    seed: u64,
    ran: KernelRun,
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
    if let Some(finding) = ran.counted.findings.first().filter(|_| ran.is_inside()) {
        return Some(failure(
            FailureKind::Hazard(finding.hazard),
            words::hazard(submission, &ran.named, finding),
            finding.place.source.as_deref().and_then(|place| submission.line_of(place)),
            &words::remedy(submission, finding),
        ));
    }
    match ran.outcome {
        Ok(VerifyOutcome::Correct) => None,
        Ok(VerifyOutcome::NotRun(why)) => Some(failure(
            FailureKind::Stopped,
            why,
            None,
            "this is a mistake of the course: report it",
        )),
        Ok(VerifyOutcome::Wrong(fault)) => {
            let because = match fault {
                Fault::Element { .. } => FailureKind::Wrong,
                Fault::OutOfBounds { .. } => FailureKind::OutOfBounds,
            };
            let next = match because {
                FailureKind::OutOfBounds => "guard the store: which threads have no element?",
                _ if is_unwritten(&fault) => {
                    "NaN is what lay there before: no thread wrote this element"
                }
                _ => "follow by hand the thread that writes this element",
            };
            Some(failure(because, words::fault(&ran.named, &fault), None, next))
        }
        Err(error) => {
            let misuse = ran.misuse.first();
            let fault = misuse.and_then(|misuse| misuse.fault);
            let because = match fault {
                Some(KernelFault::IllegalAddress) => FailureKind::OutOfBounds,
                Some(KernelFault::MisalignedAddress) => FailureKind::Misaligned,
                Some(KernelFault::NeverEnds) => FailureKind::Hangs,
                _ => FailureKind::Stopped,
            };
            let memory = misuse.and_then(|misuse| misuse.memory.as_ref());
            let misuse = misuse.map_or_else(|| format!("{error:#}"), Misuse::to_string);
            let next = match because {
                FailureKind::OutOfBounds => "check the index of this access against the length",
                FailureKind::Misaligned => {
                    "the address must be a multiple of the bytes of the access"
                }
                FailureKind::Hangs => {
                    "which condition ends the loop or opens the barrier, and who makes it true?"
                }
                _ => "read the message from its beginning: it names the instruction",
            };
            let line = submission.line_of(&misuse);
            Some(failure(because, words::stopped(&ran.named, fault, memory, &misuse), line, next))
        }
    }
}

/// Returns whether a wrong element is what lay there before the launch.
fn is_unwritten(fault: &Fault) -> bool {
    matches!(fault, Fault::Element { mismatch, .. } if mismatch.result == "NaN")
}
