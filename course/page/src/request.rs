//! Requests of a page, and their answers, which are JSON.
//!
//! ```text
//! tasks                 check            bet
//!                       guard            guard
//!                       77               before 2
//!                       rust             31 34
//!                       text             cuda
//!                       the file ..      text
//!                                        the file ..
//! ```

use crate::grade::{Subject, Submission, Verdict, another_kernel, grade};
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
        ["check", id, seed, language] => {
            let seed = seed.parse().context("a seed is a number")?;
            check(known(id)?, source, language.parse()?, seed)
        }
        ["bet", id, which, given, language] => {
            bet(known(id)?, which, given, source, language.parse()?)
        }
        _ => bail!("this is no request: ask for `tasks`, `check` or `bet`"),
    }
}

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Rust,
    Cuda,
}

impl std::str::FromStr for Language {
    type Err = anyhow::Error;
    fn from_str(name: &str) -> Result<Language> {
        match name {
            "rust" => Ok(Language::Rust),
            "cuda" => Ok(Language::Cuda),
            _ => bail!("there is no language `{name}` here: a file is in `rust` or `cuda`"),
        }
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
fn compiled(
    task: &Task,
    source: &str,
    language: Language,
) -> Result<std::result::Result<Submission, String>> {
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
    if language == Language::Rust
        && let Err(error) = refuse::refuse(source)
    {
        let message = format!("{error:#}");
        let line = message.strip_prefix("line ").and_then(|rest| rest.split(':').next());
        let line = line.and_then(|line| line.parse().ok()).unwrap_or(1);
        return Ok(Err(refused(line, 1, &message)));
    }
    let (file, compiled) = match language {
        Language::Rust => {
            let file = format!("{}.rs", task.id());
            (file.clone(), rust_to_ptx::compile(source, &file))
        }
        Language::Cuda => {
            let file = format!("{}.cu", task.id());
            (file.clone(), rust_to_ptx::compile_cuda(source, &file))
        }
    };
    Ok(match compiled {
        Ok(ptx) => Ok(Submission { ptx, source: source.to_owned(), file }),
        Err(refusal) => {
            let rust_to_ptx::Place { line, column } = refusal.place;
            Err(refused(line, column, &refusal.to_string()))
        }
    })
}

fn check(task: &'static Task, source: &str, language: Language, seed: u64) -> Result<String> {
    let kernel = match compiled(task, source, language)? {
        Ok(kernel) => kernel,
        Err(refused) => return Ok(refused),
    };
    let another = match language {
        Language::Rust => another_kernel(task, source, &format::shipped(task.solved())?),
        // The page has the twins, and this module does not.
        Language::Cuda => None,
    };
    let verdict = match another {
        Some(failure) => Verdict::default().failed(failure),
        None => grade(task, &kernel, seed)?,
    };
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
fn bet(
    task: &'static Task,
    which: &str,
    given: &str,
    source: &str,
    language: Language,
) -> Result<String> {
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
    // The page has the files that are given in CUDA C++, and hands them on.
    let source = if when == "before" && language == Language::Rust {
        shipped = format::shipped(task.solved())?;
        &shipped
    } else {
        source
    };
    let kernel = match compiled(task, source, language)? {
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
