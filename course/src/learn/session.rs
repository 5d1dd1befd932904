//! A learner's folder in use: its places, its progress, and what a check does.

use super::outside::tasks;
use super::work::Work;
use super::{Progress, folder};
use crate::compile::{Places, read};
use crate::grade::{Submission, Verdict, another_kernel, grade};
use crate::hash::hash;
use crate::question::written;
use crate::refuse::essence;
use crate::task::{Kind, Task};
use anyhow::{Context, Result, bail};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

pub struct Session {
    pub places: Places,
    pub progress: Progress,
    /// It is somebody else's folder, in which nothing is written.
    pub is_submission: bool,
}

pub enum Outcome {
    Graded(Verdict),
    /// The compiler refused it, and has said why.
    Refused,
    /// A submission has no such file.
    Absent,
    /// A submission's file is the one that the learner was given.
    AsGiven,
}

impl Outcome {
    /// The stages of the last two.
    pub const ABSENT: &str = "not there";
    pub const AS_GIVEN: &str = "not begun";

    pub fn is_pass(&self) -> bool {
        matches!(self, Outcome::Graded(verdict) if verdict.is_pass())
    }
}

impl Session {
    /// Opens a folder, and completes it.
    pub fn open(places: Places) -> Result<Session> {
        let progress = Progress::read(&places.learn)?;
        let new = folder::complete(&places)?;
        if new > 0 {
            let folder = places.learn.display();
            let tasks = if new == 1 { "task was" } else { "tasks were" };
            eprintln!("{new} {tasks} written to {folder}: edit there");
        }
        Ok(Session { places, progress, is_submission: false })
    }

    /// Opens somebody else's folder to grade it, and writes nothing there.
    pub fn submission(places: Places) -> Result<Session> {
        if !places.learn.is_dir() {
            bail!(
                "{} is no folder: name the one with the files of the tasks",
                places.learn.display()
            );
        }
        // Whoever wrote it, its files are graded anew.
        let progress = Progress::read(&places.learn).unwrap_or_else(|error| {
            eprintln!("{error}; it is graded without");
            Progress::default()
        });
        Ok(Session { places, progress, is_submission: true })
    }

    /// The text of a task's file, if it is there.
    pub fn text(&self, task: &Task) -> Result<Option<String>> {
        text_of(&folder::file(&self.places, task))
    }

    /// The task of a name; without one, the first that has not passed.
    pub fn task(&self, id: Option<&str>) -> Result<&'static Task> {
        match id {
            Some(id) => {
                let id = id.trim_end_matches(".rs").trim_end_matches(".cu");
                tasks().iter().copied().find(|task| task.id() == id).with_context(|| {
                    format!("there is no task `{id}`: `cargo xtask learn list` shows them all")
                })
            }
            None => {
                let open = tasks().iter().find(|task| {
                    !self.progress.is_done(task.id()) && folder::is_there(&self.places, task)
                });
                Ok(open.copied().unwrap_or(tasks()[tasks().len() - 1]))
            }
        }
    }

    pub fn check(&mut self, task: &'static Task) -> Result<(Outcome, Duration)> {
        let begin = Instant::now();
        let file = folder::file(&self.places, task);
        if self.is_submission && self.text(task)?.is_none() {
            return Ok((Outcome::Absent, begin.elapsed()));
        }
        let outcome = match Work::build(&self.places, task, task.id(), &file)? {
            None => Outcome::Refused,
            Some(work) => {
                let given = self.places.shipped(task)?;
                let another = match &work {
                    Work::Kernel(kernel) => another_kernel(task, &kernel.source, &given),
                    Work::Host(..) => None,
                };
                Outcome::Graded(match another {
                    Some(failure) => Verdict::default().failed(failure),
                    None => work.grade(task, fresh_seed())?,
                })
            }
        };
        if self.is_submission {
            return Ok((outcome, begin.elapsed()));
        }
        // The verdict is worth having though it cannot be noted.
        let text = read(&file).unwrap_or_default();
        if let Err(error) = self.note(task, &outcome, &text) {
            eprintln!("{error:#}");
        }
        Ok((outcome, begin.elapsed()))
    }

    /// Grades PTX of another compiler. Nothing of it is noted.
    pub fn check_ptx(&self, task: &'static Task, path: &Path) -> Result<Outcome> {
        if matches!(task.kind, Kind::Host { .. }) {
            bail!("`{}` is about calls of the host: it has no kernel of its own", task.id());
        }
        let text = read(path)?;
        if !text.contains(".entry") {
            bail!(
                "{} is no PTX with a kernel: make it with `nvcc -ptx -lineinfo -arch=sm_80`",
                path.display()
            );
        }
        let source = source_of(&text, path);
        let (file, source) = source.unwrap_or_default();
        let submission = Submission { ptx: text, source, file };
        Ok(Outcome::Graded(grade(task, &submission, fresh_seed())?))
    }

    /// Notes what a check came to.
    fn note(&mut self, task: &Task, outcome: &Outcome, text: &str) -> Result<()> {
        let shipped = work_in(task, &self.places.shipped(task)?);
        let entry = self.progress.of(task.id());
        let before = entry.clone();
        entry.fails_now = entry.done && !outcome.is_pass();
        if outcome.is_pass() {
            entry.done = true;
            entry.task = hash(task.solved());
        } else if !entry.done {
            entry.attempts += 1;
            let text = work_in(task, text);
            if text != shipped {
                entry.try_another(hash(&text));
            }
        }
        if *entry != before {
            self.progress.write(&self.places.learn, task.id())?;
        }
        Ok(())
    }

    /// A task's file as it was given to the learner, or, once it passes, as the learner has it.
    pub fn work(&self, task: &'static Task, own: bool) -> Result<Work> {
        let file = folder::file(&self.places, task);
        let (id, file) = if own {
            (task.id().to_owned(), file)
        } else {
            let id = format!("{}_shipped", task.id());
            let folder = self.places.target.join("learn").join(&id);
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            let name = folder::file(&self.places, task);
            let file = folder.join(name.file_name().unwrap_or_default());
            let text = self.places.shipped(task)?;
            if std::fs::read_to_string(&file).ok().as_deref() != Some(text.as_str()) {
                std::fs::write(&file, text)
                    .with_context(|| format!("cannot write {}", file.display()))?;
            }
            (id, file)
        };
        let work = Work::build(&self.places, task, &id, &file)?;
        work.with_context(|| format!("{} does not compile; the messages are above", file.display()))
    }
}

/// The source that a line table names, where it lies beside the PTX or where it was.
fn source_of(text: &str, path: &Path) -> Option<(String, String)> {
    let names =
        text.lines().filter_map(|line| line.trim().strip_prefix(".file")?.split('"').nth(1));
    let mut found = names.filter_map(|name| {
        let file = Path::new(name).file_name()?.to_str()?;
        let beside = path.with_file_name(file);
        let source = read(&beside).or_else(|_| read(Path::new(name))).ok()?;
        source.contains("__global__").then(|| (file.to_owned(), source))
    });
    found.next()
}

/// A seed that nobody knows before; a verdict names it. The keys of a hasher are random.
fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000 + 2
}

/// A file without what makes no difference; of a question with its answers, which are comments.
pub fn work_in(task: &Task, text: &str) -> String {
    let answers = (1..=task.before.len()).filter(|_| task.kind == Kind::Question);
    let answers = answers.flat_map(|number| [written(text, number).unwrap_or("?"), "\n"]);
    essence(text) + &answers.collect::<String>()
}

/// The text of a task's file in a submission, if it is there: a plain file, and no link to another's.
pub fn text_of(file: &Path) -> Result<Option<String>> {
    match std::fs::symlink_metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Ok(kind) if kind.is_symlink() => {
            bail!("{} is a link: a submission holds its files itself", file.display())
        }
        _ => read(file).map(Some),
    }
}
