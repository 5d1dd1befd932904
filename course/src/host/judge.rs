//! Judging what a host file did: results, mistakes of the host's, counts.

use super::build::{Ended, Program};
use super::program::Seen;
use crate::count::Run;
use crate::grade::{Failure, Verdict, number};
use crate::mistake::Found;
use crate::question::Execute;
use crate::task::{Because, Bound, Task};
use anyhow::{Result, bail};
use coalesce::pattern::Size;
use virtual_gpu::MisuseKind;

/// Mistakes that a host file is graded by.
const MISTAKES: &[MisuseKind] = &[
    MisuseKind::DoubleFree,
    MisuseKind::UseAfterFree,
    MisuseKind::OutOfBounds,
    MisuseKind::MissingOrder,
    MisuseKind::HostMemoryChanged,
    MisuseKind::HostMemoryFreed,
    MisuseKind::Context,
    MisuseKind::Unsupported,
    MisuseKind::KernelFault,
];

/// A host file, to be asked about.
pub struct Asked<'a> {
    /// The task.
    pub task: &'static Task,
    /// The program and the file's name in it.
    pub program: &'a Program,
    /// The file's name in the program.
    pub name: &'a str,
}

impl Execute for Asked<'_> {
    fn run(&self, size: &Size) -> Result<Run> {
        run_at(self.task, self.program, self.name, size)
    }

    fn findings(&self) -> Result<Vec<Found>> {
        let largest = self.task.pattern.verify_sizes.last().copied().unwrap_or_default();
        let (seen, _) = self.program.run(self.name, &[argument(1, &Size::new(largest))])?;
        let misuse = seen.into_iter().next().and_then(|seen| seen.misuse);
        let found = misuse.and_then(|(kind, message, _)| {
            let call = message.split(':').next().unwrap_or_default().to_owned();
            Some(Found { because: Because::Misuse(mistake(&kind)?), lines: Vec::new(), call })
        });
        Ok(found.into_iter().collect())
    }
}

/// The mistake of a name.
fn mistake(kind: &str) -> Option<MisuseKind> {
    MISTAKES.iter().copied().find(|one| format!("{one:?}") == kind)
}

fn argument(seed: u64, size: &Size) -> String {
    let numbers: Vec<String> = size.values().iter().map(ToString::to_string).collect();
    format!("{seed}:{}", numbers.join(","))
}

/// What a host file counts at a size.
///
/// # Errors
/// When it does not run.
pub fn run_at(task: &Task, program: &Program, name: &str, size: &Size) -> Result<Run> {
    let (seen, ended) = program.run(name, &[argument(1, size)])?;
    match (seen.into_iter().next(), ended) {
        (Some(Seen { error: None, counts, .. }), _) => Ok(Run { host: counts, ..Run::default() }),
        (Some(Seen { error: Some(why), .. }), _) | (None, Ended::Badly(why)) => {
            bail!("{} does not run at {}: {why}", task.id, task.pattern.show_size(size))
        }
        (None, _) => bail!("{} does not end at {}", task.id, task.pattern.show_size(size)),
    }
}

/// Grades a host file; `source` is its text, `seed` decides the second set of inputs.
///
/// # Errors
/// When the program does not start.
pub fn grade(
    task: &'static Task,
    (program, name, source): (&Program, &str, &str),
    seed: u64,
) -> Result<Verdict> {
    let mut verdict = Verdict { passed: Vec::new(), failure: None, counts: Vec::new() };
    let sizes: Vec<Size> = task.pattern.verify_sizes.iter().map(|size| Size::new(size)).collect();
    let runs: Vec<(u64, Size)> =
        sizes.iter().flat_map(|size| [1, seed].map(|seed| (seed, size.clone()))).collect();
    let mut arguments: Vec<String> =
        runs.iter().map(|(seed, size)| argument(*seed, size)).collect();
    arguments.push(argument(1, &task.count_size()));
    let (seen, ended) = program.run(name, &arguments)?;
    let runs = runs.into_iter().chain([(1, task.count_size())]);
    let mut seen = seen.into_iter();
    let mut counted = None;
    for (seed, size) in runs {
        let Some(one) = seen.next() else {
            verdict.failure = Some(stopped(task, &size, &ended));
            return Ok(verdict);
        };
        if let Some(failure) = judged(task, source, &size, seed, &one) {
            verdict.failure = Some(failure);
            return Ok(verdict);
        }
        counted = Some(one.counts);
    }
    verdict.passed.push(("correct", format!("{} sizes, two sets of random data", sizes.len())));
    let mistakes = "no mistake of the host's: order, lifetimes, changed memory";
    verdict.passed.push(("mistakes", mistakes.to_owned()));
    let run = Run { host: counted.unwrap_or_default(), ..Run::default() };
    verdict.counts = task.bounds.iter().map(|bound| (*bound, bound.count.of(&run))).collect();
    let above = verdict.counts.iter().find(|(bound, value)| *value > bound.at_most * (1.0 + 1e-9));
    if let Some((bound, value)) = above {
        verdict.failure = Some(above_bound(bound, *value, run));
    }
    Ok(verdict)
}

/// A run that told nothing.
fn stopped(task: &Task, size: &Size, ended: &Ended) -> Failure {
    let (because, message, next) = match ended {
        Ended::Late => (
            Because::Hangs,
            "the file did not end within its time".to_owned(),
            "which condition ends the loop, and who makes it true?",
        ),
        Ended::Badly(why) => (
            Because::Stopped,
            format!("the file ended the program: {why}"),
            "read the message from its beginning; memory is limited to 1 GiB",
        ),
        Ended::Well => (
            Because::Stopped,
            "the file ended the program".to_owned(),
            "return instead of `std::process::exit`",
        ),
    };
    let message = format!("{message} (at {})", task.pattern.show_size(size));
    failure("correct", because, message, next.to_owned())
}

fn failure(stage: &'static str, because: Because, message: String, next: String) -> Failure {
    Failure { stage, because, message, line: None, strip: Vec::new(), next }
}

/// What is wrong with a run, if something is.
fn judged(task: &Task, source: &str, size: &Size, seed: u64, seen: &Seen) -> Option<Failure> {
    let at = format!("(at {}, data of seed {seed})", task.pattern.show_size(size));
    if let Some((kind, message, place)) = &seen.misuse {
        let because = mistake(kind).map_or(Because::Stopped, Because::Misuse);
        let line = place.as_deref().and_then(|place| place.rsplit_once(':')?.1.parse::<u32>().ok());
        let line = line.and_then(|line| {
            Some((line, source.lines().nth((line as usize).checked_sub(1)?)?.trim().to_owned()))
        });
        let next =
            "which earlier call still uses this memory, and what tells you that it has ended?";
        let failed =
            failure("mistakes", because, format!("{kind}: {message} {at}"), next.to_owned());
        return Some(Failure { line, ..failed });
    }
    if let Some(error) = &seen.error {
        let next = "read the message from its beginning: it names the call".to_owned();
        return Some(failure("correct", Because::Stopped, format!("{error} {at}"), next));
    }
    let wrong = seen.wrong.as_ref()?;
    let next = "has the host waited for the copy that brings this element?".to_owned();
    Some(failure("correct", Because::Wrong, format!("{wrong} {at}"), next))
}

/// A count above its bound, with the timeline.
fn above_bound(bound: &Bound, value: f64, run: Run) -> Failure {
    let message = format!(
        "{}: {} counted, at most {} ({})",
        bound.count.name(),
        number(value),
        number(bound.at_most),
        bound.because
    );
    let next = "which calls of the file make this, and which of them does it need?".to_owned();
    let failed = failure("counts", Because::Bound(bound.count), message, next);
    Failure { strip: run.host.timeline, ..failed }
}
