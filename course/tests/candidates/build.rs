//! Many kernels compiled as one crate, each under a name of its own.

use course::compile::{Language, Places, write_crate};
use course::format;
use course::grade::Submission;
use course::task::Task;
use cuda_builder::{CudaBuilder, NvvmArch, PanicStrategy};
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub fn places() -> Places {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("course lies in the checkout")
        .to_owned();
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Places { learn: root.join("learn"), target, root, language: Language::Rust }
}

/// A kernel that is graded: of this task, under a name of its own.
pub struct Candidate {
    pub task: &'static Task,
    pub name: String,
    pub source: String,
}

impl Candidate {
    pub fn new(task: &'static Task, name: &str, source: String) -> Candidate {
        Candidate { task, name: format!("{}__{name}", task.id()), source }
    }
}

pub fn solution(task: &Task) -> String {
    format::solution(task.solved()).expect("the solved file is well-formed")
}

pub fn edited(task: &Task, from: &str, to: &str) -> String {
    let source = solution(task);
    assert_eq!(
        source.matches(from).count(),
        1,
        "{}: `{from}` occurs once in the solution",
        task.id()
    );
    source.replace(from, to)
}

/// Compiles kernels as one crate; gives what each of them is on its own.
pub fn compile(name: &str, candidates: &[Candidate]) -> Vec<Submission> {
    let places = places();
    let folder = places.target.join("learn").join(name);
    let src = folder.join("src");
    std::fs::create_dir_all(&src).expect("a writable target folder");
    let mut root = "#![allow(warnings, arithmetic_overflow, unconditional_panic)]\n".to_owned();
    for candidate in candidates {
        let renamed = candidate
            .source
            .replace(&format!("fn {}(", candidate.task.id()), &format!("fn {}(", candidate.name));
        write(&src.join(format!("{}.rs", candidate.name)), &renamed);
        writeln!(root, "mod {};", candidate.name).expect("a string takes it");
    }
    write(&src.join("lib.rs"), &root);
    write_crate(&places, &folder, name, &src.join("lib.rs")).expect("a writable target folder");
    let ptx = CudaBuilder::new(&folder)
        .arch(NvvmArch::Compute80)
        .panic(PanicStrategy::Trap)
        .target_dir(&places.target)
        .build_args(&["--quiet"])
        .build()
        .expect("all candidates compile");
    let ptx = std::fs::read_to_string(ptx).expect("the builder wrote it");
    let submission = |one: &Candidate| Submission {
        ptx: course::ptx::only(&ptx, &one.name).replace(&one.name, one.task.id()),
        source: one.source.clone(),
        // The line table was renamed with the entry.
        file: format!("{}.rs", one.task.id()),
    };
    candidates.iter().map(submission).collect()
}

pub fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).ok().as_deref() != Some(text) {
        std::fs::write(path, text).expect("a writable target folder");
    }
}
