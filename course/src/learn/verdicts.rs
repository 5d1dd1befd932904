//! Verdicts as files and other programs read them.

use super::progress::Entry;
use super::session::{Outcome, Session};
use crate::task::Task;
use anyhow::Result;
use results::{CheckedCount, CheckedTask};
use serde::Serialize;
use std::time::Duration;

/// The stage at which a file does not pass, why, and the line.
pub fn failure(outcome: &Result<Outcome, String>) -> Option<(String, String, Option<u32>)> {
    match outcome {
        Ok(Outcome::Graded(verdict)) => verdict.failure.as_ref().map(|failure| {
            let line = failure.line.as_ref().map(|(line, _)| *line);
            (failure.stage.to_owned(), failure.message.clone(), line)
        }),
        Ok(Outcome::Refused) => {
            Some(("compiles".to_owned(), "the compiler refuses the file".to_owned(), None))
        }
        Ok(Outcome::Absent) => {
            Some((Outcome::ABSENT.to_owned(), "there is no such file".to_owned(), None))
        }
        Ok(Outcome::AsGiven) => {
            Some((Outcome::AS_GIVEN.to_owned(), "the file is as it was given".to_owned(), None))
        }
        Err(error) => Some(("file".to_owned(), error.clone(), None)),
    }
}

/// A verdict as a file has it.
pub fn checked(
    session: &Session,
    task: &Task,
    outcome: &Result<Outcome, String>,
    took: Duration,
) -> CheckedTask {
    let (stage, message, line) = match failure(outcome) {
        Some((stage, message, line)) => (Some(stage), Some(message), line),
        None => (None, None, None),
    };
    let counts = match outcome {
        Ok(Outcome::Graded(verdict)) => verdict.counts.iter(),
        _ => [].iter(),
    };
    let counts = counts.map(|one| CheckedCount {
        name: one.bound.count.name().to_owned(),
        value: one.value,
        at_least: one.limits.at_least,
        at_most: Some(one.limits.at_most).filter(|most| most.is_finite()),
    });
    let verdict = CheckedTask {
        id: task.id().to_owned(),
        title: task.title().to_owned(),
        kind: task.kind.name().to_owned(),
        present: !matches!(outcome, Ok(Outcome::Absent)),
        attempts: 0,
        hints: 0,
        solution_seen: false,
        passed: outcome.as_ref().is_ok_and(Outcome::is_pass),
        stage,
        // The compiler has said it.
        message: message.filter(|_| !matches!(outcome, Ok(Outcome::Refused))),
        line,
        counts: counts.collect(),
        seconds: took.as_secs_f64(),
    };
    add_progress(session, verdict)
}

/// A verdict with what the folder has noted of the way to it.
pub fn add_progress(session: &Session, verdict: CheckedTask) -> CheckedTask {
    let done = session.progress.tasks.get(&verdict.id).cloned().unwrap_or_default();
    let Entry { attempts, hints, solution_seen, .. } = done;
    CheckedTask { attempts, hints, solution_seen, ..verdict }
}

/// A verdict in a sentence.
pub fn word(task: &CheckedTask) -> String {
    let stage = task.stage.as_deref().unwrap_or("passes");
    let line = task.line.map_or_else(String::new, |line| format!(", line {line}"));
    let message = task.message.as_deref().map_or_else(String::new, |text| format!(": {text}"));
    format!("{stage}{line}{message}")
}

/// The `results.json` of Gradescope.
#[derive(Debug, Serialize)]
struct Gradescope {
    tests: Vec<GradescopeTest>,
}

#[derive(Debug, Serialize)]
struct GradescopeTest {
    name: String,
    score: u8,
    max_score: u8,
    status: &'static str,
    output: String,
}

/// Verdicts as the autograder of Gradescope reads them: a point per task.
pub fn gradescope(verdicts: &[CheckedTask]) -> Result<String> {
    let test = |task: &CheckedTask| GradescopeTest {
        name: format!("{}: {}", task.id, task.title),
        score: task.passed.into(),
        max_score: 1,
        status: if task.passed { "passed" } else { "failed" },
        output: word(task),
    };
    let all = Gradescope { tests: verdicts.iter().map(test).collect() };
    Ok(serde_json::to_string_pretty(&all)?)
}
