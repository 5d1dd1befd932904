//! The learner's folder: written once, and never over what a learner wrote.

use crate::compile::Places;
use crate::format;
use crate::task::Task;
use crate::tasks::TASKS;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The file of a task.
pub fn file(places: &Places, task: &Task) -> PathBuf {
    places.learn.join(format!("{}.rs", task.id))
}

/// Writes what is not there yet; says how many tasks are new.
///
/// # Errors
/// When the folder cannot be written.
pub fn complete(places: &Places) -> Result<usize> {
    let learn = &places.learn;
    std::fs::create_dir_all(learn)
        .with_context(|| format!("cannot create {}: is the disk full?", learn.display()))?;
    let mut new = 0;
    for task in TASKS {
        let path = file(places, task);
        if !path.exists() {
            write(&path, format::shipped(task.solved)?.as_bytes())?;
            new += 1;
        }
    }
    if new > 0 {
        write(&learn.join("Cargo.toml"), manifest(places).as_bytes())?;
        write(
            &learn.join("editor.rs"),
            b"//! Lets an editor read the tasks as one package. Nothing of it is run.\n",
        )?;
    }
    Ok(new)
}

/// Writes a task's file anew and keeps the old one beside it.
///
/// # Errors
/// When it cannot be written.
pub fn reset(places: &Places, task: &Task) -> Result<Option<PathBuf>> {
    let path = file(places, task);
    let mut kept = None;
    if path.exists() {
        let backup = path.with_extension("rs.bak");
        let text =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        write(&backup, &text)?;
        kept = Some(backup);
    }
    write(&path, format::shipped(task.solved)?.as_bytes())?;
    Ok(kept)
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    results::write(path, text)
        .with_context(|| format!("cannot write {}: is the disk full?", path.display()))
}

/// A package for editors: each task is an example of it. Cargo's target folder is its own, so that an editor's check
/// never holds up a grade.
fn manifest(places: &Places) -> String {
    let mut text = String::from(
        "# For your editor; `cargo xtask learn` builds each file by itself.\n[package]\nname = \"learn\"\nversion = \"0.1.0\"\n\
         edition = \"2024\"\n\n[lib]\npath = \"editor.rs\"\n\n[workspace]\n\n[dependencies]\n",
    );
    // Host tasks use all but the first.
    for (name, package, path, features) in [
        ("cuda_std", "coalesce-cuda-std", "crates/cuda_std", &[][..]),
        ("cuda_host", "coalesce-cuda-host", "crates/cuda_host", &["cust"]),
        ("cust_ext", "coalesce-cust-ext", "crates/cust_ext", &["cust"]),
        ("course", "course", "course", &[]),
    ] {
        let path = places.root.join(path).display().to_string();
        let _ = writeln!(
            text,
            "{name} = {{ package = {package:?}, path = {path:?}, features = {features:?} }}"
        );
    }
    text.push_str(
        "anyhow = \"1\"\ncust = { version = \"0.3.2\", default-features = false, features = [\"bytemuck\"] }\n",
    );
    for task in TASKS {
        let _ = write!(
            text,
            "\n[[example]]\nname = \"{0}\"\npath = \"{0}.rs\"\ncrate-type = [\"lib\"]\n",
            task.id
        );
    }
    text
}
