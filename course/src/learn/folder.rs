//! The learner's folder: written once, and never over what a learner wrote.

use super::outside::tasks;
use crate::compile::{Language, Places, dependency};
use crate::task::{Kind, Task};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub fn file(places: &Places, task: &Task) -> PathBuf {
    let extension = match places.language {
        Language::Rust => "rs",
        Language::Cuda => "cu",
    };
    places.learn.join(format!("{}.{extension}", task.id()))
}

/// Returns whether a task has a file in the learner's language.
pub fn is_there(places: &Places, task: &Task) -> bool {
    places.language == Language::Rust || !matches!(task.kind, Kind::Host { .. })
}

/// Writes what is not there yet; says how many tasks are new.
pub fn complete(places: &Places) -> Result<usize> {
    let learn = &places.learn;
    std::fs::create_dir_all(learn)
        .with_context(|| format!("cannot create {}: is the disk full?", learn.display()))?;
    let mut new = 0;
    for task in tasks().iter().filter(|task| is_there(places, task)) {
        let path = file(places, task);
        if !path.exists() {
            write(&path, places.shipped(task)?.as_bytes())?;
            new += 1;
        }
    }
    let read = |name: &str| std::fs::read_to_string(learn.join(name)).unwrap_or_default();
    let known =
        ["kernels", "hosts"].map(|name| read(&format!("editor/{name}/Cargo.toml"))).concat();
    // Tasks of a teacher in the same folder have taken their place.
    let is_unknown = |task: &&Task| !known.contains(&format!("name = \"{}\"\n", task.id()));
    let is_edited = new > 0 || !learn.join("Cargo.toml").exists() || tasks().iter().any(is_unknown);
    if is_edited && places.language == Language::Rust {
        for (path, text) in editor(places)? {
            let path = learn.join(path);
            let folder = path.parent().unwrap_or(learn);
            std::fs::create_dir_all(folder).with_context(|| {
                format!("cannot create {}: is the disk full?", folder.display())
            })?;
            write(&path, text.as_bytes())?;
        }
    }
    Ok(new)
}

/// Writes a task's file anew and keeps the old one beside it.
pub fn reset(places: &Places, task: &Task) -> Result<Option<PathBuf>> {
    let path = file(places, task);
    let mut kept = None;
    if path.exists() {
        let mut backup = path.clone().into_os_string();
        backup.push(".bak");
        let backup = PathBuf::from(backup);
        let text =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        write(&backup, &text)?;
        kept = Some(backup);
    }
    write(&path, places.shipped(task)?.as_bytes())?;
    Ok(kept)
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    results::write(path, text)
        .with_context(|| format!("cannot write {}: is the disk full?", path.display()))
}

/// Two packages for editors, of the kernels and of the host files, so that who edits a kernel waits for `cuda_std` only.
/// Each task is an example. What Cargo builds for them lies with what it builds here.
fn editor(places: &Places) -> Result<Vec<(PathBuf, String)>> {
    let path = |path: &Path| -> String {
        // A folder in the checkout moves with it.
        let learn = places.learn.canonicalize().unwrap_or_else(|_| places.learn.clone());
        let root = places.root.canonicalize().unwrap_or_else(|_| places.root.clone());
        match learn.strip_prefix(&root) {
            Ok(inside) => {
                let up = inside.components().map(|_| "..").collect::<PathBuf>();
                up.join(path).display().to_string()
            }
            Err(_) => root.join(path).display().to_string(),
        }
    };
    let mut files = vec![
        (
            PathBuf::from("Cargo.toml"),
            "# For your editor; `cargo xtask learn` builds each file by itself.\n[workspace]\n\
             members = [\"editor/kernels\", \"editor/hosts\"]\nresolver = \"3\"\n"
                .to_owned(),
        ),
        (
            PathBuf::from(".cargo/config.toml"),
            format!("[build]\ntarget-dir = {:?}\n", path(Path::new("target/learn/editor"))),
        ),
    ];
    for name in ["kernels", "hosts"] {
        let is_host = name == "hosts";
        let libraries: &[(&str, &str)] = if is_host {
            &[("cust_ext", "crates/cust_ext"), ("course_host", "course/host")]
        } else {
            &[("cuda_std", "crates/cuda_std")]
        };
        let mut text = format!(
            "[package]\nname = \"learn_{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\npath = \"editor.rs\"\n\n\
             # What a solution needs is imported before there is one.\n[lints.rust]\nunused_imports = \"allow\"\n\n[dependencies]\n"
        );
        for (library, folder) in libraries {
            let place = Path::new("../..").join(path(Path::new(folder)));
            text.push_str(&dependency(places, library, folder, &place)?);
        }
        if is_host {
            text.push_str(
                "anyhow = \"1\"\ncust = { version = \"0.3.2\", default-features = false, features = [\"bytemuck\"] }\n",
            );
        }
        let tasks = tasks().iter().filter(|task| is_host == matches!(task.kind, Kind::Host { .. }));
        for task in tasks {
            let _ = write!(
                text,
                "\n[[example]]\nname = \"{0}\"\npath = \"../../{0}.rs\"\ncrate-type = [\"lib\"]\n",
                task.id()
            );
        }
        let folder = Path::new("editor").join(name);
        files.push((folder.join("Cargo.toml"), text));
        let editor = "//! Lets an editor read the tasks as one package. Nothing of it is run.\n";
        files.push((folder.join("editor.rs"), editor.to_owned()));
    }
    Ok(files)
}
