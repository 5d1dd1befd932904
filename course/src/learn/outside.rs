//! Tasks outside of this repository: a folder with `NAME.rs`, the solved file with its regions, and `NAME.toml` each.
//!
//! A task takes launch, inputs and reference from a task of the course, and has its own text, file, bounds and hints. So it
//! is graded by the same functions, and needs no build.

use crate::compile::read;
use crate::count::Count;
use crate::task::{Bound, Kind, Limits, LimitsOf, Task};
use crate::tasks::{TASKS, named};
use crate::{format, ptx, student};
use anyhow::{Context, Result, bail};
use coalesce::pattern::Pattern;
use serde::Deserialize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use toml::Spanned;

static CHOSEN: RwLock<&[&Task]> = RwLock::new(TASKS);

/// Returns the tasks of this run, in teaching order: the course's, unless others were chosen.
pub fn tasks() -> &'static [&'static Task] {
    *CHOSEN.read().unwrap_or_else(PoisonError::into_inner)
}

/// Makes these the tasks, until others are chosen.
pub fn set(tasks: &'static [&'static Task]) {
    *CHOSEN.write().unwrap_or_else(PoisonError::into_inner) = tasks;
}

/// Makes a student's forms of the course's tasks those of this run.
pub fn choose_student(name: &str) -> Result<()> {
    let is_part = |one: char| one.is_alphanumeric() || "-_.@".contains(one);
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_part) {
        bail!(
            "`{}` is no name of a student: it is that of a folder, of at most 64 letters, digits and - _ . @",
            name.escape_debug()
        );
    }
    set(student::tasks_of(name).leak());
    Ok(())
}

/// Makes the tasks of a folder, by their names, those of this run.
pub fn choose(folder: &Path) -> Result<()> {
    set(read_all(folder)?.leak());
    Ok(())
}

/// The file beside a task's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// The task of the course whose launch, inputs and reference it takes.
    like: Spanned<String>,
    hints: [String; 3],
    bounds: Vec<BoundSettings>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundSettings {
    count: Spanned<String>,
    #[serde(default)]
    at_least: f64,
    at_most: Spanned<f64>,
    /// Both limits are for each element.
    #[serde(default)]
    per_element: bool,
    because: String,
}

/// Returns both files of a task.
pub fn files(folder: &Path, task: &Task) -> [PathBuf; 2] {
    ["rs", "toml"].map(|extension| folder.join(format!("{}.{extension}", task.id())))
}

fn read_all(folder: &Path) -> Result<Vec<&'static Task>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the tasks in {}", folder.display()))?;
    let mut settings: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            settings.push(path);
        }
    }
    if settings.is_empty() {
        bail!("{} has no task: a task is NAME.rs and NAME.toml", folder.display());
    }
    settings.sort();
    settings.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<&'static Task> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read {} as UTF-8", path.display()))?;
    let place = |span: Option<Range<usize>>| {
        let before = text.get(..span.map_or(0, |span| span.start)).unwrap_or_default();
        format!("{}, line {}", path.display(), before.matches('\n').count() + 1)
    };
    let settings: Settings = match toml::from_str(&text) {
        Ok(settings) => settings,
        Err(error) => bail!(
            "{}: {}: a task has `like`, three `hints`, and `[[bounds]]` with `count`, `at_most` and `because`",
            place(error.span()),
            error.message().lines().next().unwrap_or_default()
        ),
    };
    let at = place(Some(settings.like.span()));
    let Some(like) = named(settings.like.get_ref()) else {
        bail!(
            "{at}: there is no task `{}` in the course: `cargo xtask learn list` shows them",
            settings.like.get_ref()
        )
    };
    if like.kind != Kind::Kernel {
        bail!(
            "{at}: `{}` is a {} task: outside of the repository a task is like a kernel task, which `cargo xtask learn list` shows",
            like.id(),
            like.kind.name()
        );
    }
    let mut bounds = Vec::new();
    for bound in settings.bounds {
        let name = bound.count.get_ref();
        let Some(count) = Count::ALL.iter().find(|count| count.name() == name.as_str()) else {
            bail!(
                "{}: there is no count `{name}`: `cargo xtask learn try {}` prints the names of those that are not 0",
                place(Some(bound.count.span())),
                like.id()
            )
        };
        let limits = Limits { at_least: bound.at_least, at_most: *bound.at_most.get_ref() };
        if !(0.0 <= limits.at_least && limits.at_least <= limits.at_most) {
            bail!(
                "{}: no count lies within these limits: 0 <= at_least <= at_most must hold",
                place(Some(bound.at_most.span()))
            );
        }
        let limits =
            if bound.per_element { LimitsOf::Element(limits) } else { LimitsOf::Any(limits) };
        bounds.push(Bound { count: *count, limits, because: leak(bound.because) });
    }
    let solved = read_solved(&path.with_extension("rs"), like)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_word = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    if !stem.chars().all(|letter| is_word(letter) || letter == '_') {
        bail!(
            "{}: `{stem}` is no name of a task: use small letters, digits and underscores",
            path.display()
        );
    }
    Ok(Box::leak(Box::new(Task {
        lesson: like.lesson,
        kernel: like.id(),
        bounds: Box::leak(bounds.into_boxed_slice()),
        hints: settings.hints.map(leak),
        ..Task::of(Pattern { name: leak(stem), doc_source: leak(solved), ..like.pattern })
    })))
}

/// Reads the solved file and checks its form.
fn read_solved(path: &Path, like: &Task) -> Result<String> {
    let text = read_plain(path)?;
    format::shipped(&text).with_context(|| path.display().to_string())?;
    if !text.starts_with("//! # ") {
        bail!("{}, line 1: begin with the title of the task: `//! # Title`", path.display());
    }
    let wanted = ptx::declared(like.solved(), like.id())?;
    if ptx::declared(&text, like.id()).ok().as_ref() != Some(&wanted) {
        let line = text.lines().position(|line| line.contains("fn ")).unwrap_or_default() + 1;
        bail!(
            "{}, line {line}: the task is like `{}`, so declare its kernel as `{}`",
            path.display(),
            like.id(),
            ptx::signature(like.solved(), like.id())?
        );
    }
    Ok(text)
}

fn read_plain(path: &Path) -> Result<String> {
    if !path.exists() {
        bail!("{} is not there: a task is NAME.rs and NAME.toml", path.display());
    }
    read(path)
}

/// Keeps a text as long as the program runs, as tasks are kept.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
