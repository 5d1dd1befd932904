use crate::compile::{Compiled, Language, Places, compile_apart, read};
use crate::cuda;
use crate::grade::{Subject, Submission, Verdict, grade};
use crate::host::{self, HostSubmission, Program, Source};
use crate::question::Execute;
use crate::refuse::refuse_host;
use crate::task::{Kind, Task};
use anyhow::{Context, Result, bail};
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;

pub enum Work {
    Kernel(Submission),
    /// A program of the host, and the text of its file.
    Host(Program, String),
}

/// The file of this program. Linux says so when a build has put another in its place, which does as well.
fn this_program() -> Result<PathBuf> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let name = program.to_string_lossy();
    Ok(name.strip_suffix(" (deleted)").map_or_else(|| program.clone(), PathBuf::from))
}

impl Work {
    /// Compiles a file of a task, in a folder of this name; `None` when the compiler refuses it, and has said why.
    pub fn build(places: &Places, task: &Task, folder: &str, path: &Path) -> Result<Option<Work>> {
        if places.language == Language::Cuda {
            // Says which tasks have no such file.
            places.solved(task)?;
            return Ok(match cuda::compile(places, task, folder, path)? {
                Compiled::Ptx(submission) => Some(Work::Kernel(submission)),
                Compiled::Refused => None,
            });
        }
        if !matches!(task.kind, Kind::Host { .. }) {
            let program = this_program()?;
            let mut command = Command::new(program);
            command.args(["compile", folder]).arg(path);
            if stderr().is_terminal() {
                command.env("CARGO_TERM_COLOR", "always");
            }
            return Ok(match compile_apart(&mut command, path)? {
                Compiled::Ptx(submission) => Some(Work::Kernel(submission)),
                Compiled::Refused => None,
            });
        }
        let source = read(path)?;
        if !source.contains("pub fn run(") {
            bail!("{} has no `pub fn run(`: keep the signature", path.display());
        }
        refuse_host(&source).with_context(|| format!("{} is refused", path.display()))?;
        let program = host::build(places, folder, &[Source { name: task.id(), path }])?;
        Ok(program.map(|program| Work::Host(program, source)))
    }

    /// Grades it; `seed` decides the second set of inputs.
    pub fn grade(&self, task: &'static Task, seed: u64) -> Result<Verdict> {
        match self {
            Work::Kernel(kernel) => grade(task, kernel, seed),
            Work::Host(program, source) => host::grade(task, (program, task.id(), source), seed),
        }
    }

    pub fn ask(&self, task: &'static Task) -> Box<dyn Execute + '_> {
        match self {
            Work::Kernel(kernel) => Box::new(Subject { task, kernel }),
            Work::Host(program, _) => Box::new(HostSubmission { task, program, name: task.id() }),
        }
    }
}
