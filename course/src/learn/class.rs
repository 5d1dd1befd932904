//! A class: submissions graded without a change to them, for a page or an autograder.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

use super::init;
use super::outside::{choose_student, set, tasks};
use super::session::{Outcome, Session, work_in};
use super::verdicts::{add_progress, checked, word};
use crate::compile::Places;
use anyhow::{Context, Result, bail};
use maud::{Markup, html};
use report::page::{self, page_with};
use results::{CheckedTask, plain};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Additions to the style of a page: a cell per task is narrow.
const STYLE: &str = "\
td.mark { text-align: center; padding: 0.1rem 0.25rem; }\n\
thead th.task { writing-mode: vertical-rl; font-weight: normal; padding: 0.2rem 0.1rem; min-width: 0; width: 1.4rem; }\n";

/// Verdicts on texts that were graded before, by the solved file and by what makes a difference in the text.
type Graded = HashMap<(&'static str, String), CheckedTask>;

/// A submission and its verdicts, in the order of the tasks.
struct Marked {
    name: String,
    /// Empty where the folder could not be graded at all.
    tasks: Vec<CheckedTask>,
    /// Why it could not be graded.
    error: Option<String>,
}

impl Marked {
    fn passed(&self) -> usize {
        self.tasks.iter().filter(|task| task.passed).count()
    }
}

/// Grades every submission and writes a page of all.
pub fn report(places: &Places, folders: &[PathBuf], output: &Path) -> Result<ExitCode> {
    results::check_writable(output)?;
    let mut graded = Graded::new();
    let mut class = Vec::new();
    let of_all = tasks();
    let has_students = folders.iter().any(|folder| matches!(init::student(folder), Ok(Some(_))));
    for folder in folders {
        set(of_all);
        let name = plain(&folder.display().to_string()).into_owned();
        let marked = match mark(places, folder, has_students, &mut graded) {
            Ok(tasks) => Marked { name, tasks, error: None },
            Err(error) => Marked {
                name,
                tasks: Vec::new(),
                error: Some(plain(&format!("{error:#}")).into_owned()),
            },
        };
        match &marked.error {
            Some(error) => println!("{}: not graded: {error}", marked.name),
            None => {
                println!("{}: {} of {} tasks pass", marked.name, marked.passed(), tasks().len())
            }
        }
        class.push(marked);
    }
    set(of_all);
    results::write(output, page(&class).as_bytes())
        .with_context(|| format!("cannot write {}", output.display()))?;
    println!("written to {}", output.display());
    let is_whole = class.iter().all(|marked| marked.error.is_none());
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Grades all tasks of a submission. A file that is as it was given is not run: it cannot pass.
fn mark(
    places: &Places,
    folder: &Path,
    has_students: bool,
    graded: &mut Graded,
) -> Result<Vec<CheckedTask>> {
    if has_students {
        // The folder's name is the teacher's, the file in it the student's, who can take it away.
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(student) = init::student(folder)?.filter(|student| *student != name) {
            bail!("{} has the tasks of `{student}`: name the folder so", folder.display());
        }
        choose_student(&name)?;
    }
    let places = Places { learn: folder.to_owned(), ..places.clone() };
    let mut session = Session::submission(places)?;
    let mut verdicts = Vec::new();
    for task in tasks() {
        let begin = Instant::now();
        let text = match session.text(task) {
            Ok(Some(text)) => work_in(task, &text),
            Ok(None) => {
                verdicts.push(checked(&session, task, &Ok(Outcome::Absent), begin.elapsed()));
                continue;
            }
            Err(error) => {
                let outcome = Err(format!("{error:#}"));
                verdicts.push(checked(&session, task, &outcome, begin.elapsed()));
                continue;
            }
        };
        if text == work_in(task, &session.places.shipped(task)?) {
            verdicts.push(checked(&session, task, &Ok(Outcome::AsGiven), begin.elapsed()));
            continue;
        }
        let key = (task.solved(), text);
        if let Some(verdict) = graded.get(&key) {
            verdicts.push(add_progress(&session, verdict.clone()));
            continue;
        }
        let outcome = session.check(task).map(|(outcome, _)| outcome);
        let outcome = outcome.map_err(|error| format!("{error:#}"));
        let verdict = checked(&session, task, &outcome, begin.elapsed());
        graded.insert(key, verdict.clone());
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

fn page(class: &[Marked]) -> String {
    let heads = tasks()
        .iter()
        .map(|task| html! { th.task scope="col" title=(task.title()) { (task.id()) } });
    let row = |marked: &Marked| -> Markup {
        html! {
            tr {
                th scope="row" { (marked.name) }
                td.figure data-value=(marked.passed()) { (marked.passed()) }
                @if let Some(error) = &marked.error {
                    td colspan=(tasks().len()) { "not graded: " (error) }
                }
                @for task in &marked.tasks {
                    td.mark title=(word(task)) { (sign(task)) }
                }
            }
        }
    };
    let passes = |index: usize| {
        class.iter().filter(|it| it.tasks.get(index).is_some_and(|task| task.passed)).count()
    };
    let content = html! {
        h1 { (class.len()) " submissions, " (tasks().len()) " tasks" }
        p { "+ passes, x does not, . is as it was given, ? is not there. Each verdict is below; times are not graded." }
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "submission" }
                    th scope="col" { "passes" }
                    @for head in heads { (head) }
                } }
                tbody {
                    @for marked in class { (row(marked)) }
                    tr {
                        th scope="row" { "all" }
                        td.figure {}
                        @for index in 0..tasks().len() { td.mark { (passes(index)) } }
                    }
                }
            }
        }
        @for marked in class {
            @let failed = marked.tasks.iter().filter(|task| is_tried(task) && !task.passed);
            h2 { (marked.name) }
            ul {
                @for task in failed { li { b { (task.id) } " " (word(task)) } }
            }
        }
    };
    let additions = page::Additions { style: STYLE, ..page::Additions::default() };
    page_with("class", &[], &content, additions)
}

fn is_tried(task: &CheckedTask) -> bool {
    !matches!(task.stage.as_deref(), Some(Outcome::ABSENT | Outcome::AS_GIVEN))
}

fn sign(task: &CheckedTask) -> &'static str {
    match task.stage.as_deref() {
        _ if task.passed => "+",
        Some(Outcome::ABSENT) => "?",
        Some(Outcome::AS_GIVEN) => ".",
        _ => "x",
    }
}
