use super::outside::tasks;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;
/// Tries after which the solution is shown to who asks.
const TRIES: usize = 3;

/// The file's content. Tasks that this version of the course does not have are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    version: u32,
    #[serde(default)]
    pub tasks: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    pub done: bool,
    /// It passed, and what is in the file now does not.
    pub fails_now: bool,
    /// Saves that were graded and did not pass.
    pub attempts: u32,
    /// Different texts that did not pass, as the start of their SHA-256; as many as open the solution.
    pub tried: Vec<String>,
    pub hints: usize,
    /// The solution was shown before it passed.
    pub solution_seen: bool,
    /// Answers given, in order, those to questions after passing behind the others.
    pub guesses: Vec<f64>,
    /// The start of the SHA-256 of the task as it was when it passed.
    pub task: String,
}

impl Entry {
    /// Why the solution is not shown yet.
    pub fn refuses_solution(&self) -> Option<String> {
        let more = TRIES.saturating_sub(self.tried.len());
        (!self.done && more > 0).then(|| {
            format!(
                "the solution is shown after passing or after {TRIES} different tries: {more} to go"
            )
        })
    }

    /// Notes a text that did not pass, if it is another than those before.
    pub fn try_another(&mut self, hash: String) {
        if self.tried.len() < TRIES && !self.tried.contains(&hash) {
            self.tried.push(hash);
        }
    }
}

impl Progress {
    pub fn path(learn: &Path) -> PathBuf {
        learn.join("progress.toml")
    }

    /// Reads the file; nothing was done where there is none.
    pub fn read(learn: &Path) -> Result<Progress> {
        let path = Progress::path(learn);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Progress { version: VERSION, tasks: BTreeMap::new() });
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let progress: Progress = toml::from_str(&text).with_context(|| {
            format!(
                "{} is damaged: repair it, or delete it to begin anew; your files stay",
                path.display()
            )
        })?;
        if progress.version > VERSION {
            bail!(
                "{} was written by a newer course (version {}, this one knows {VERSION}): update this checkout",
                path.display(),
                progress.version
            );
        }
        Ok(progress)
    }

    /// Writes a task's progress into the file, whole or not at all; others' progress in other tasks stays.
    pub fn write(&mut self, learn: &Path, id: &str) -> Result<()> {
        let path = Progress::path(learn);
        let turn = learn.join(".progress.lock");
        let turn =
            File::create(&turn).with_context(|| format!("cannot write {}", turn.display()))?;
        turn.lock().context("cannot wait for another `cargo xtask learn`")?;
        let mut now = Progress::read(learn)?;
        now.tasks.insert(id.to_owned(), self.of(id).clone());
        *self = now;
        let text = format!("# Written by `cargo xtask learn`.\n{}", toml::to_string(self)?);
        results::write(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}: is the disk full?", path.display()))
    }

    /// Returns what was done of a task.
    pub fn of(&mut self, id: &str) -> &mut Entry {
        self.tasks.entry(id.to_owned()).or_default()
    }

    /// Returns how many tasks of this course passed.
    pub fn done(&self) -> usize {
        tasks().iter().filter(|task| self.is_done(task.id())).count()
    }

    pub fn is_done(&self, id: &str) -> bool {
        self.tasks.get(id).is_some_and(|entry| entry.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_as_it_was_written_and_unknown_tasks_are_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut progress = Progress::read(folder.path()).unwrap();
        progress.of("of_a_later_course").done = true;
        progress.write(folder.path(), "of_a_later_course").unwrap();
        progress.of("rows_to_lanes").guesses = vec![32.0];
        progress.write(folder.path(), "rows_to_lanes").unwrap();
        assert_eq!(Progress::read(folder.path()).unwrap(), progress);
    }

    #[test]
    fn a_newer_or_damaged_file_is_one_sentence() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (text, why) in [("version = 9\n", "newer course"), ("version = \"\n", "is damaged")] {
            std::fs::write(Progress::path(folder.path()), text).unwrap();
            let error = Progress::read(folder.path()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn the_solution_is_shown_after_three_different_tries() {
        let mut entry = Entry { attempts: 9, ..Entry::default() };
        for hash in ["a", "a", "b"] {
            entry.try_another(hash.to_owned());
        }
        assert!(entry.refuses_solution().unwrap().contains("1 to go"));
        entry.try_another("c".to_owned());
        assert_eq!(entry.refuses_solution(), None);
    }
}
