//! Answers to the questions of the course: kernels as the learner gets them, compiled as one crate and executed.

use anyhow::{Context, Result};
use course::compile::{Language, Places, write_crate};
use course::format;
use course::grade::{Bug, Subject, Submission};
use course::question::Runs;
use course::task::{FailureKind, Task};
use course::tasks::TASKS;
use cuda_builder::{CudaBuilder, NvvmArch, PanicStrategy};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

#[derive(Debug, Default)]
pub struct Answers {
    /// By task and number of the question.
    numbers: BTreeMap<(&'static str, usize), f64>,
    /// The first finding of each task whose file has a mistake.
    bugs: BTreeMap<&'static str, Bug>,
}

impl Answers {
    /// Executes what the questions before the first run are about.
    pub fn compute(root: &Path, target: &Path) -> Result<Answers> {
        let is_bug = |task: &Task| {
            matches!(task.fails_as_shipped, FailureKind::Hazard(_) | FailureKind::OutOfBounds)
        };
        let asked = TASKS.iter().copied().filter(|task| !task.before.is_empty() || is_bug(task));
        let tasks: Vec<&'static Task> =
            asked.filter(|task| task.solved().contains("#[kernel]")).collect();
        let ptx = compile(root, target, &tasks)?;
        let mut answers = Answers::default();
        for task in tasks {
            let kernel = Submission {
                ptx: course::ptx::only(&ptx, task.id()),
                source: format::shipped(task.solved())?,
                file: format!("{}.rs", task.id()),
            };
            let subject = Subject { task, kernel: &kernel };
            if is_bug(task) {
                let bug = subject.bug().with_context(|| task.id().to_owned())?;
                answers.bugs.insert(task.id(), bug);
            }
            for (index, question) in task.before.iter().enumerate() {
                let answer = (question.answer)(&Runs(&subject));
                let answer = answer.with_context(|| format!("{}: {}", task.id(), question.text))?;
                answers.numbers.insert((task.id(), index), answer);
            }
        }
        Ok(answers)
    }

    /// The answer to a question of a task.
    pub fn of(&self, task: &str, index: usize) -> Option<f64> {
        let mut numbers = self.numbers.iter();
        numbers.find(|((id, at), _)| *id == task && *at == index).map(|(_, answer)| *answer)
    }

    /// The mistake in a task's file, as the executor sees it.
    pub fn bug(&self, task: &str) -> Option<&Bug> {
        self.bugs.get(task)
    }
}

/// The kernels as one PTX text.
fn compile(root: &Path, target: &Path, tasks: &[&'static Task]) -> Result<String> {
    let places = Places {
        root: root.to_owned(),
        learn: root.join("learn"),
        target: target.to_owned(),
        language: Language::Rust,
    };
    let folder = target.join("learn/book");
    let src = folder.join("src");
    std::fs::create_dir_all(&src).with_context(|| format!("cannot create {}", src.display()))?;
    let write = |path: &Path, text: &str| -> Result<()> {
        if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    let mut library = "#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n".to_owned();
    for task in tasks {
        // No warning about local memory: the learner gets it.
        let text =
            format::shipped(task.solved())?.replace("#[kernel]", "#[kernel(uses_local_memory)]");
        write(&src.join(format!("{}.rs", task.id())), &text)?;
        writeln!(library, "mod {};", task.id()).context("a string takes it")?;
    }
    write(&src.join("lib.rs"), &library)?;
    write_crate(&places, &folder, "book", &src.join("lib.rs"))?;
    let ptx = CudaBuilder::new(&folder)
        .arch(NvvmArch::Compute80)
        .panic(PanicStrategy::Trap)
        .target_dir(target)
        .build_args(&["--quiet"])
        .build()?;
    std::fs::read_to_string(&ptx).with_context(|| format!("cannot read {}", ptx.display()))
}
