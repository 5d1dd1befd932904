//! Judging what a host file did: results, mistakes of the host's, counts.

use super::build::{Ended, Program};
use super::confine::IS_CONFINED;
use super::program::Seen;
use crate::bounds;
use crate::count::Run;
use crate::mistake::Found;
use crate::question::Execute;
use crate::task::{Because, Task};
use crate::verdict::{Failure, Verdict};
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
    let mut verdict = Verdict::default();
    let sizes: Vec<Size> = task.pattern.verify_sizes.iter().map(|size| Size::new(size)).collect();
    let runs: Vec<(u64, Size)> =
        sizes.iter().flat_map(|size| [1, seed].map(|seed| (seed, size.clone()))).collect();
    let counted = [task.count_size(), task.drawn_size(seed)].map(|size| (seed, size));
    let all = || runs.iter().chain(&counted);
    let arguments: Vec<String> = all().map(|(seed, size)| argument(*seed, size)).collect();
    let (seen, ended) = program.run(name, &arguments)?;
    for (index, (seed, size)) in all().enumerate() {
        let Some(one) = seen.get(index) else {
            return Ok(verdict.failed(stopped(task, size, &ended)));
        };
        if let Some(failure) = judged(task, source, size, *seed, one) {
            return Ok(verdict.failed(failure));
        }
    }
    verdict.passed.push(("correct", format!("{} sizes, two sets of random data", sizes.len())));
    let mistakes = "no mistake of the host's: order, lifetimes, changed memory";
    verdict.passed.push(("mistakes", mistakes.to_owned()));
    if !IS_CONFINED {
        let open = "this system takes no calls from a process: the file ran with your rights";
        verdict.remarks.push(open.to_owned());
    }
    for ((_, size), seen) in counted.iter().zip(&seen[runs.len()..]) {
        let run = Run { host: seen.counts.clone(), ..Run::default() };
        let counts = bounds::counted(task, size, &run);
        let outside = bounds::outside(task, size, &counts);
        if verdict.counts.is_empty() {
            verdict.counts = counts;
        }
        if let Some(outside) = outside {
            return Ok(verdict.failed(outside.of_host_file(run.host.timeline)));
        }
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
        Ended::Loud => (
            Because::Stopped,
            "the file printed without end".to_owned(),
            "a mebibyte is read, and nobody reads that much",
        ),
        Ended::Badly(why) => (
            Because::Stopped,
            format!("the file ended the program: {why}"),
            "read the message from its beginning; memory is limited to 1 GiB, and a file opens and starts nothing",
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
        let next = if error.contains("Operation not permitted") {
            "a file of this task computes and calls the driver; it opens, starts and connects nothing"
        } else {
            "read the message from its beginning: it names the call"
        };
        let next = next.to_owned();
        return Some(failure("correct", Because::Stopped, format!("{error} {at}"), next));
    }
    let wrong = seen.wrong.as_ref()?;
    let next = "has the host waited for the copy that brings this element?".to_owned();
    Some(failure("correct", Because::Wrong, format!("{wrong} {at}"), next))
}
