//! `new`: the files of a task, for authors.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

use crate::compile::Places;
use anyhow::{Context, Result, bail};
use std::process::ExitCode;

/// Both files of a task, whose name is replaced.
const KERNEL: &str = include_str!("../../kernels/src/guard.rs");
const TASK: &str = include_str!("../tasks/guard.rs");
const TITLE: &str = "# The end: a grid of whole blocks";

pub fn write(places: &Places, id: &str) -> Result<ExitCode> {
    let is_word = id.starts_with(|letter: char| letter.is_ascii_lowercase())
        && id.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_');
    if !is_word {
        bail!("`{id}` is no name of a task: use small letters, digits and underscores");
    }
    let kernel = places.root.join("course/kernels/src").join(format!("{id}.rs"));
    let task = places.root.join("course/src/tasks").join(format!("{id}.rs"));
    for (path, text) in [(&kernel, KERNEL), (&task, TASK)] {
        if path.exists() {
            bail!("{} is there already", path.display());
        }
        std::fs::write(
            path,
            text.replace("guard(", &format!("{id}(")).replace(TITLE, "# The idea in a few words"),
        )
        .with_context(|| format!("cannot write {}", path.display()))?;
    }
    println!(
        "written: {}, {}\nadd `pub mod {id};` to course/kernels/src/lib.rs, `mod {id};` and `&{id}::TASK` to course/src/tasks/mod.rs,\n\
         and wrong and other right kernels to course/tests/candidates; then `cargo test --release -p course`",
        kernel.display(),
        task.display()
    );
    Ok(ExitCode::SUCCESS)
}
