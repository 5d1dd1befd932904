//! Counts and their limits: what is outside of them, and how that is said.

use crate::count::{Count, CountedRun, number};
use crate::picture;
use crate::submission::Submission;
use crate::task::{FailureKind, Task, bound, up_to};
use crate::verdict::{Failure, Tally};
use coalesce::pattern::Size;
use std::cmp::Ordering;
use std::path::Path;

/// A count that is not within its limits.
pub(crate) struct Outside {
    counted: Tally,
    message: String,
    next: &'static str,
}

/// Returns what a run counts for each bound of a task.
pub(crate) fn counted(task: &Task, size: &Size, run: &CountedRun) -> Vec<Tally> {
    let elements = size.values().iter().map(|number| *number as f64).product();
    let bounds = task.bounds.iter();
    bounds
        .map(|bound| Tally {
            bound: *bound,
            limits: bound.limits.at(elements),
            value: bound.count.of(run),
        })
        .collect()
}

/// Returns what moves data although no bound or count of a task shows it: atomics, and requests of textures, matrices
/// and bulk copies. Atomics of shared memory matter where its requests are counted.
pub(crate) fn unwanted(task: &Task, run: &CountedRun) -> Vec<Tally> {
    let has = |counts: &[Count]| task.bounds.iter().any(|bound| counts.contains(&bound.count));
    let mut unwanted = vec![Count::OtherRequests];
    if !has(&[Count::GlobalAtomics, Count::GlobalAtomicUpdates]) {
        unwanted.push(Count::GlobalAtomics);
    }
    if has(&[Count::BankConflicts, Count::SharedRequests]) {
        unwanted.push(Count::SharedAtomicWavefronts);
    }
    let none = |count: Count| {
        let bound = bound(count, |_| up_to(0.0), "the work is done without");
        Tally { bound, limits: up_to(0.0), value: count.of(run) }
    };
    unwanted.into_iter().map(none).collect()
}

/// The first count above its limit, or else the first below.
pub(crate) fn outside(task: &Task, size: &Size, all: &[Tally]) -> Option<Outside> {
    let find = |order| all.iter().find(|one| one.limits.order(one.value) == order);
    let counted = *find(Ordering::Greater).or_else(|| find(Ordering::Less))?;
    let Tally { bound, limits, value } = counted;
    let is_above = limits.order(value) == Ordering::Greater;
    let (limit, next) = if is_above {
        (format!("at most {}", number(limits.at_most)), bound.count.next())
    } else {
        let less = "nobody who does the whole work gets by with less: what is left out here?";
        (format!("at least {}", number(limits.at_least)), less)
    };
    let message = format!(
        "{}: {} counted, {limit} ({}; at {})",
        bound.count.name(),
        number(value),
        bound.because,
        task.pattern.show_size(size)
    );
    Some(Outside { counted, message, next })
}

impl Outside {
    /// Returns what is said of a host file, with its timeline.
    pub(crate) fn of_host_file(self, timeline: Vec<String>) -> Failure {
        let because = FailureKind::Bound(self.counted.bound.count);
        let next = "which calls of the file make this, and which of them does it need?".to_owned();
        Failure {
            stage: "counts",
            because,
            message: self.message,
            line: None,
            strip: timeline,
            next,
        }
    }

    /// Returns what is said of a kernel, with the instruction that has most of it.
    pub(crate) fn of_kernel(self, submission: &Submission, run: &CountedRun) -> Failure {
        let count = self.counted.bound.count;
        let instructions = run.counted.instructions.values();
        let share = |one: &results::InstructionCounts| count.share(&one.counters);
        let worst = instructions
            .filter(|one| share(one) > 0.0)
            .max_by(|a, b| share(a).total_cmp(&share(b)));
        let line = worst.and_then(|one| line_in(submission, one.source.as_ref()?));
        let kinds = count.kinds();
        let request =
            worst.and_then(|one| one.requests.iter().find(|one| kinds.contains(&one.kind)));
        Failure {
            stage: "counts",
            because: FailureKind::Bound(count),
            message: self.message,
            line,
            strip: request.map(picture::strip).unwrap_or_default(),
            next: self.next.to_owned(),
        }
    }
}

/// The line of a learner's file that an instruction is of, with its text.
pub(crate) fn line_in(
    submission: &Submission,
    source: &results::SourceLocation,
) -> Option<(u32, String)> {
    let own = std::iter::once((&source.file, source.line));
    let around = source.inlined_at.iter().map(|(file, line)| (file, *line));
    let mut places = own.chain(around);
    let (_, line) =
        places.find(|(file, line)| *line > 0 && Path::new(file).ends_with(&submission.file))?;
    submission.line(line)
}
