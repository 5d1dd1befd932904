use super::build::{Ended, Program};
use super::numbers::HostCounts;
use crate::bounds;
use crate::count::CountedRun;
use crate::mistake::Found;
use crate::question::{Execute, SEED};
use crate::task::{FailureKind, Kind, Task};
use crate::verdict::{Failure, Verdict};
use crate::words;
use anyhow::{Context, Result, bail};
use coalesce::data::{Data, Element, compare};
use coalesce::pattern::{Output, Size};
use coalesce::verify::case;
use course_host::{Answer, HostMisuse, HostRun, IS_CONFINED, MISTAKES, Order};
use virtual_gpu::MisuseKind;

/// The call by which a stream waits for an event.
const WAIT: &str = "cuStreamWaitEvent";

/// A host file, to be asked about.
pub struct HostSubmission<'a> {
    pub task: &'static Task,
    /// The program and the file's name in it.
    pub program: &'a Program,
    /// The file's name in the program.
    pub name: &'a str,
}

impl Execute for HostSubmission<'_> {
    fn run(&self, size: &Size) -> Result<CountedRun> {
        run_at(self.task, self.program, self.name, size)
    }

    fn findings(&self) -> Result<Vec<Found>> {
        let largest = self.task.pattern.verify_sizes.last().copied().unwrap_or_default();
        let (order, _) = ordered(self.task, SEED, &Size::new(largest))?;
        let (answers, _) = self.program.run(self.name, &[order])?;
        let misuse = answers.into_iter().next().and_then(|answer| answer.seen.misuse);
        let found = misuse.and_then(|misuse| {
            let because = FailureKind::Misuse(MISTAKES[misuse.mistake?]);
            Some(Found { because, lines: Vec::new(), call: misuse.call })
        });
        Ok(found.into_iter().collect())
    }
}

/// Returns what a file is given at a size, and what it has to make of it: only the first leaves this process.
fn ordered(task: &'static Task, seed: u64, size: &Size) -> Result<(Order, Output)> {
    let mut case = case(&task.pattern, size, seed);
    let words = |data: &Data| u32::view(data).map(<[u32]>::to_vec).context("host tasks have u32");
    let right = case.outputs.remove(0);
    let factor = words(&case.inputs[1])?;
    let order = Order {
        source: words(&case.inputs[0])?,
        factor: *factor.first().context("there is a factor")?,
        target: right.reference.len(),
        is_pinned: task.kind == (Kind::Host { pinned: true }),
    };
    Ok((order, right))
}

/// Returns what a host file counts at a size.
pub fn run_at(
    task: &'static Task,
    program: &Program,
    name: &str,
    size: &Size,
) -> Result<CountedRun> {
    let (order, _) = ordered(task, SEED, size)?;
    let (answers, ended) = program.run(name, &[order])?;
    match (answers.into_iter().next().map(|answer| answer.seen), ended) {
        (Some(seen @ HostRun { error: None, .. }), _) => {
            Ok(CountedRun { host: HostCounts::of(&seen), ..CountedRun::default() })
        }
        (Some(HostRun { error: Some(why), .. }), _) | (None, Ended::Badly(why)) => {
            bail!("{} does not run at {}: {why}", task.id(), task.pattern.show_size(size))
        }
        (None, _) => bail!("{} does not end at {}", task.id(), task.pattern.show_size(size)),
    }
}

/// Grades a host file; `source` is its text, `seed` decides the second set of inputs.
pub fn grade(
    task: &'static Task,
    (program, name, source): (&Program, &str, &str),
    seed: u64,
) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let sizes: Vec<Size> = task.pattern.verify_sizes.iter().map(|size| Size::new(size)).collect();
    let known = sizes.iter().flat_map(|size| [1, seed].map(|seed| (seed, size.clone())));
    let runs: Vec<(u64, Size)> = known.chain([(seed, task.odd_size(seed))]).collect();
    let counted = [task.count_size(), task.drawn_size(seed)].map(|size| (seed, size));
    let all = || runs.iter().chain(&counted);
    let ordered = all().map(|(seed, size)| ordered(task, *seed, size));
    let (orders, right): (Vec<_>, Vec<_>) =
        ordered.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let (answers, ended) = program.run(name, &orders)?;
    for (index, (seed, size)) in all().enumerate() {
        let Some(answer) = answers.get(index) else {
            return Ok(verdict.failed(stopped(task, size, &ended)));
        };
        if let Some(failure) = judged(task, source, (size, *seed), answer, &right[index]) {
            return Ok(verdict.failed(failure));
        }
    }
    verdict.passed.push(("correct", format!("{} sizes, two sets of random data", sizes.len() + 1)));
    let mistakes = "no mistake of the host's: order, lifetimes, changed memory";
    verdict.passed.push(("mistakes", mistakes.to_owned()));
    let is_one_order = task.fails_as_shipped == FailureKind::Misuse(MisuseKind::MissingOrder)
        && !answers.iter().any(|one| one.seen.calls.iter().any(|call| call.starts_with(WAIT)));
    if is_one_order {
        let order = "the order comes from one stream: right, and what two streams need is an event";
        verdict.remarks.push(order.to_owned());
    }
    if !IS_CONFINED {
        let open = "this system takes no calls from a process: the file ran with your rights";
        verdict.remarks.push(open.to_owned());
    }
    for ((_, size), answer) in counted.iter().zip(&answers[runs.len()..]) {
        let run = CountedRun { host: HostCounts::of(&answer.seen), ..CountedRun::default() };
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
            FailureKind::Hangs,
            "the file did not end within its time".to_owned(),
            "which condition ends the loop, and who makes it true?",
        ),
        Ended::Loud => (
            FailureKind::Stopped,
            "the file printed without end".to_owned(),
            "a mebibyte is read, and nobody reads that much",
        ),
        Ended::Badly(why) => (
            FailureKind::Stopped,
            format!("the file ended the program: {why}"),
            "read the message from its beginning; memory is limited to 1 GiB, and a file opens and starts nothing",
        ),
        Ended::Well => (
            FailureKind::Stopped,
            "the file ended the program".to_owned(),
            "return instead of `std::process::exit`",
        ),
    };
    let message = format!("{message} (at {})", task.pattern.show_size(size));
    failure("correct", because, message, next.to_owned())
}

fn failure(stage: &'static str, because: FailureKind, message: String, next: String) -> Failure {
    Failure { stage, because, message, line: None, strip: Vec::new(), next }
}

/// Returns what is wrong with a run, if something is.
fn judged(
    task: &Task,
    source: &str,
    (size, seed): (&Size, u64),
    answer: &Answer,
    right: &Output,
) -> Option<Failure> {
    let Answer { seen, target } = answer;
    let at = format!("(at {}, data of seed {seed})", task.pattern.show_size(size));
    if let Some(HostMisuse { mistake, kind, message, memory, place, .. }) = &seen.misuse {
        let because = mistake.map(|place| FailureKind::Misuse(MISTAKES[place]));
        let because = because.unwrap_or(FailureKind::Stopped);
        let line = place.as_deref().and_then(|place| place.rsplit_once(':')?.1.parse::<u32>().ok());
        let line = line.and_then(|line| {
            Some((line, source.lines().nth((line as usize).checked_sub(1)?)?.trim().to_owned()))
        });
        let next =
            "which earlier call still uses this memory, and what tells you that it has ended?";
        let message = format!("{} ({kind}) {at}", words::misuse(message, memory.as_ref()));
        let failed = failure("mistakes", because, message, next.to_owned());
        return Some(Failure { line, ..failed });
    }
    if let Some(error) = &seen.error {
        let next = if seen.is_forbidden {
            "a file of this task computes and calls the driver; it opens, starts and connects nothing"
        } else {
            "read the message from its beginning: it names the call"
        };
        let next = next.to_owned();
        return Some(failure("correct", FailureKind::Stopped, format!("{error} {at}"), next));
    }
    let mismatch = compare(&Data::U32(target.clone()), &right.reference, right.tolerance)?;
    let wrong = words::mismatch("target", target.len(), &mismatch);
    let next = "has the host waited for the copy that brings this element?".to_owned();
    Some(failure("correct", FailureKind::Wrong, format!("{wrong} {at}"), next))
}
