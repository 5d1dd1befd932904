//! Requests of a page, and their answers, which are JSON.
//!
//! ```text
//! tasks                 check            bet
//!                       guard            guard
//!                       77               before 2
//!                       text             31 34
//!                       the file ..      text
//!                                        the file ..
//! ```

use crate::grade::{Subject, Submission, Verdict, grade};
use crate::json::{list, object, string};
use crate::question::{Answers, Question, Reply, Runs};
use crate::task::{Kind, Task};
use crate::tasks::{TASKS, named};
use crate::{format, refuse, screen};
use anyhow::{Context, Result, bail};

/// The answer to a request: with `error`, a sentence, when there is no other.
pub fn answer(request: &str) -> String {
    answered(request).unwrap_or_else(|error| object(&[("error", string(&format!("{error:#}")))]))
}

fn answered(request: &str) -> Result<String> {
    let (head, source) = request.split_once("\ntext\n").unwrap_or((request, ""));
    let lines: Vec<&str> = head.lines().collect();
    match lines[..] {
        ["tasks"] => tasks(),
        ["check", id, seed] => {
            check(known(id)?, source, seed.parse().context("a seed is a number")?)
        }
        ["bet", id, which, given] => bet(known(id)?, which, given, source),
        _ => bail!("this is no request: ask for `tasks`, `check` or `bet`"),
    }
}

fn known(id: &str) -> Result<&'static Task> {
    named(id).with_context(|| format!("there is no task `{id}`"))
}

/// All tasks, in their order, with what a learner may see of them.
fn tasks() -> Result<String> {
    let all = TASKS.iter().map(|task| -> Result<String> {
        let bets = |all: Vec<&Question>| list(all.into_iter().map(question));
        Ok(object(&[
            ("id", string(task.id())),
            ("title", string(task.title())),
            ("lesson", string(task.lesson)),
            ("kind", string(task.kind.name())),
            ("doc", string(&format::doc(task.solved()))),
            ("given", string(&format::shipped(task.solved())?)),
            ("hints", list(task.hints.iter().map(|hint| string(hint)))),
            ("before", bets(task.questions_before())),
            ("after", bets(task.after.iter().collect())),
        ]))
    });
    Ok(object(&[("tasks", list(all.collect::<Result<Vec<_>>>()?))]))
}

fn question(question: &Question) -> String {
    let choices = match question.answers {
        Answers::Choice(choices) => list(choices.iter().map(|one| string(one))),
        Answers::Number(_) | Answers::Lines => "null".to_owned(),
    };
    object(&[("text", string(question.text)), ("choices", choices)])
}

/// A file as a kernel, or the refusal as a verdict has it.
fn compiled(task: &Task, source: &str) -> Result<std::result::Result<Submission, String>> {
    if let Kind::Host { .. } = task.kind {
        bail!(
            "this task's file is a program of the host, which needs rustc: `cargo xtask learn {}` runs it",
            task.id()
        );
    }
    let refused = |line: u32, column: u32, message: &str| {
        let text = screen::labelled("compiles", &format!("NOT YET: {message}"));
        object(&[
            ("passed", "false".to_owned()),
            ("stage", string("compiles")),
            ("text", string(&text)),
            ("line", line.to_string()),
            ("column", column.to_string()),
        ])
    };
    if let Err(error) = refuse::refuse(source) {
        let message = format!("{error:#}");
        let line = message.strip_prefix("line ").and_then(|rest| rest.split(':').next());
        let line = line.and_then(|line| line.parse().ok()).unwrap_or(1);
        return Ok(Err(refused(line, 1, &message)));
    }
    let file = format!("{}.rs", task.id());
    Ok(match rust_to_ptx::compile(source, &file) {
        Ok(ptx) => Ok(Submission { ptx, source: source.to_owned(), file }),
        Err(refusal) => {
            let rust_to_ptx::Place { line, column } = refusal.place;
            Err(refused(line, column, &refusal.to_string()))
        }
    })
}

/// The verdict of a file, in the words of `learn`.
pub fn verdict(task: &'static Task, source: &str, seed: u64) -> Result<Verdict> {
    match compiled(task, source)? {
        Ok(kernel) => grade(task, &kernel, seed),
        Err(refused) => bail!("{refused}"),
    }
}

fn check(task: &'static Task, source: &str, seed: u64) -> Result<String> {
    let kernel = match compiled(task, source)? {
        Ok(kernel) => kernel,
        Err(refused) => return Ok(refused),
    };
    let verdict = grade(task, &kernel, seed)?;
    let failure = verdict.failure.as_ref();
    let line = failure.and_then(|one| one.line.as_ref()).map(|(line, _)| line.to_string());
    Ok(object(&[
        ("passed", verdict.is_pass().to_string()),
        ("stage", string(failure.map_or("passes", |one| one.stage))),
        ("text", string(&screen::verdict(task, &verdict))),
        ("line", line.unwrap_or_else(|| "null".to_owned())),
    ]))
}

/// The reply to an answer: before the first run about the file as it is given, after it about the learner's own.
fn bet(task: &'static Task, which: &str, given: &str, source: &str) -> Result<String> {
    let (when, index) = which.split_once(' ').context("a question has a number")?;
    let index: usize = index.parse().context("a question has a number")?;
    let before = task.questions_before();
    let question = match when {
        "before" => before.get(index).copied(),
        _ => task.after.get(index),
    };
    let question = question.context("there is no such question")?;
    let value = question.parse(given)?;
    let shipped;
    let source = if when == "before" {
        shipped = format::shipped(task.solved())?;
        &shipped
    } else {
        source
    };
    let kernel = match compiled(task, source)? {
        Ok(kernel) => kernel,
        Err(_) => bail!("the file does not compile"),
    };
    let reply = question.reply(&Runs(&Subject { task, kernel: &kernel }), value)?;
    let (is_right, text) = match reply {
        Reply::Right(why) => (true, why),
        Reply::Wrong(truth) => (false, truth),
    };
    Ok(object(&[("right", is_right.to_string()), ("text", string(&text))]))
}
