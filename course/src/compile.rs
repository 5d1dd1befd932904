//! A learner's file to PTX: a hidden crate of its own for each, so that a broken one breaks no other.

use crate::group::{Group, read as read_stream};
use crate::os::Limits;
use crate::refuse::refuse;
use crate::submission::Submission;
use crate::task::Task;
use crate::{format, twins};
use anyhow::{Context, Result, bail};
use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch, PanicStrategy};
use std::fs::File;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// Limits of each process of a compiler: ten times what any task needs, and what the first build of the library does.
pub(crate) const COMPILER_LIMITS: Limits =
    Limits { seconds: 120, bytes: 4 << 30, addresses: 1 << 36, file_bytes: 1 << 30 };
/// The most that is read of what a compiler says of a file.
const MAX_SAID: u64 = 1 << 18;
const MAX_PTX: u64 = 1 << 26;
/// Interval at which a compiler's end is checked.
const PAUSE: Duration = Duration::from_millis(5);

/// The language of a learner's kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// Rust, compiled by this course's compiler.
    #[default]
    Rust,
    /// CUDA C++, compiled by nvcc.
    Cuda,
}

#[derive(Clone, Debug)]
pub struct Places {
    pub root: PathBuf,
    pub learn: PathBuf,
    pub target: PathBuf,
    pub language: Language,
}

impl Places {
    /// The solved file of a task, with its regions.
    ///
    /// # Errors
    /// The task has no file in the language.
    pub fn solved(&self, task: &Task) -> Result<String> {
        match self.language {
            Language::Rust => Ok(task.solved().to_owned()),
            Language::Cuda => twins::solved(task),
        }
    }

    /// The file of a task as a learner is given it.
    ///
    /// # Errors
    /// The task has no file in the language.
    pub fn shipped(&self, task: &Task) -> Result<String> {
        format::shipped(&self.solved(task)?)
    }
}

pub enum Compiled {
    Ptx(Submission),
    /// The compiler refused it and has said why.
    Refused,
}

/// Reads a source file.
///
/// # Errors
/// A sentence: it is not there, empty, too large or not UTF-8.
pub fn read(path: &Path) -> Result<String> {
    let name = path.display();
    let cannot = || format!("cannot read {name}: `cargo xtask learn reset` writes it anew");
    let kind = std::fs::metadata(path).with_context(cannot)?;
    if !kind.is_file() {
        bail!("{name} is no plain file: `cargo xtask learn reset` writes one in its place");
    }
    let length = kind.len();
    if length > MAX_BYTES {
        bail!(
            "{name} has {length} bytes: a task's file is a few kilobytes, so this is another file"
        );
    }
    let bytes = std::fs::read(path).with_context(cannot)?;
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("{name} is not UTF-8: save it in that encoding");
    };
    if text.trim().is_empty() {
        bail!("{name} is empty: `cargo xtask learn reset` writes what the task began with");
    }
    Ok(text)
}

/// Compiles a file as the kernels of a task.
///
/// # Errors
/// When there is no compiler, or the file cannot be read; what the compiler refuses is [`Compiled::Refused`].
pub fn compile(places: &Places, id: &str, file: &Path) -> Result<Compiled> {
    let source = read(file)?;
    refuse(&source).with_context(|| format!("{} is refused", file.display()))?;
    let file = file.canonicalize().with_context(|| format!("cannot find {}", file.display()))?;
    let folder = places.target.join("learn").join(id);
    // Another learner of this checkout may compile the same task from another folder.
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}: is the disk full?", folder.display()))?;
    let turn = folder.join(".lock");
    let turn = File::create(&turn).with_context(|| format!("cannot write {}", turn.display()))?;
    turn.lock().context("cannot wait for another check of this task")?;
    write_crate(places, &folder, id, &file)?;
    let built = CudaBuilder::new(&folder)
        .arch(NvvmArch::Compute80)
        .panic(PanicStrategy::Trap)
        .target_dir(&places.target)
        .build_args(&["--quiet"])
        .build();
    match built {
        Ok(ptx) => {
            let note = format!("learn_{id}.d");
            let note = places.target.join("ptx/device/nvptx64-nvidia-cuda/release/deps").join(note);
            stands_alone(&note, 1).with_context(|| format!("{} is refused", file.display()))?;
            let ptx = std::fs::read_to_string(&ptx)
                .with_context(|| format!("cannot read {}", ptx.display()))?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(Compiled::Ptx(Submission { ptx, source, file: name }))
        }
        Err(CudaBuilderError::KernelsDoNotCompile { .. }) => Ok(Compiled::Refused),
        Err(error) => Err(error.into()),
    }
}

/// Refuses what was made of more source files than these, or of a variable, by the note that the compiler leaves for
/// Cargo: whatever [`refuse`] did not see is in it.
pub(crate) fn stands_alone(note: &Path, files: usize) -> Result<()> {
    let text =
        std::fs::read_to_string(note).with_context(|| format!("cannot read {}", note.display()))?;
    // Each file has a line of its own.
    let found = text.lines().filter(|line| line.ends_with(':')).count();
    if found != files || text.contains("# env-dep:") {
        bail!(
            "it reads other files or variables as it is compiled: a task's file stands by itself"
        );
    }
    Ok(())
}

/// The exit code of a program that compiles a file and whose compiler refuses it.
pub const REFUSED: u8 = 3;

/// Compiles a file as [`compile`] does, in processes with limits: `command` starts a program that does so, prints the PTX
/// and ends with [`REFUSED`] where the compiler refuses the file.
pub fn compile_apart(command: &mut Command, file: &Path) -> Result<Compiled> {
    let source = read(file)?;
    refuse(&source).with_context(|| format!("{} is refused", file.display()))?;
    let (status, ptx) = said(command, COMPILER_LIMITS)?;
    match status.code() {
        Some(0) => {
            let ptx = String::from_utf8(ptx).context("PTX is UTF-8")?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(Compiled::Ptx(Submission { ptx, source, file: name }))
        }
        Some(code) if code == i32::from(REFUSED) => Ok(Compiled::Refused),
        _ => bail!("{} was not compiled ({status}): the reason is above", file.display()),
    }
}

/// Runs a compiler with limits and prints what it says, up to a limit; gives what it writes.
pub(crate) fn said(command: &mut Command, limits: Limits) -> Result<(ExitStatus, Vec<u8>)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(command, limits).context("cannot start the compiler")?;
    let written = read_stream(group.child.stdout.take().context("it is piped")?, MAX_PTX);
    let messages = read_stream(group.child.stderr.take().context("it is piped")?, MAX_SAID);
    let messages = messages.join().unwrap_or_default();
    let is_full = messages.len() as u64 == MAX_SAID;
    while !is_full && !group.has_ended() {
        std::thread::sleep(PAUSE);
    }
    let status = group.end().context("cannot wait for the compiler")?;
    let _ = stderr().write_all(&messages);
    if is_full {
        eprintln!("\n.. and more, which is not shown");
    }
    Ok((status, written.join().unwrap_or_default()))
}

/// Writes the hidden crate of a file, if it is another than before.
pub fn write_crate(places: &Places, folder: &Path, id: &str, root: &Path) -> Result<()> {
    let manifest = format!(
        "[package]\nname = \"learn_{id}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\npath = {:?}\n\n\
         [dependencies]\n{}\n\
         # What a solution needs is imported before there is one.\n[lints.rust]\nunused_imports = \"allow\"\n\n[workspace]\n",
        root.display().to_string(),
        dependency(places, "cuda_std", "crates/cuda_std", &places.root.join("crates/cuda_std"))?
    );
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}: is the disk full?", folder.display()))?;
    write_changed(&folder.join("Cargo.toml"), &manifest)?;
    // The versions of the checkout, so that nothing is asked of a registry.
    let lock = places.root.join("Cargo.lock");
    if !folder.join("Cargo.lock").exists() {
        std::fs::copy(&lock, folder.join("Cargo.lock"))
            .with_context(|| format!("cannot copy {}", lock.display()))?;
    }
    Ok(())
}

/// A line of a manifest: a library of the checkout under its own name, whatever its package is called.
pub(crate) fn dependency(
    places: &Places,
    library: &str,
    folder: &str,
    path: &Path,
) -> Result<String> {
    let manifest = places.root.join(folder).join("Cargo.toml");
    let text = read(&manifest)?;
    let table: toml::Table =
        text.parse().with_context(|| format!("{} is no manifest", manifest.display()))?;
    let package = table.get("package").and_then(|package| package.get("name"));
    let package = package.and_then(toml::Value::as_str).unwrap_or(library);
    let path = path.display().to_string();
    Ok(format!("{library} = {{ package = {package:?}, path = {path:?} }}\n"))
}

/// Writes a file unless it has this text already: a newer file would be compiled again.
fn write_changed(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::write(path, text)
        .with_context(|| format!("cannot write {}: is the disk full?", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_reads_another_is_known_by_the_note() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("x.d");
        for (text, is_alone) in [
            ("/x.ptx: /a\\ b.rs\n\n/a\\ b.rs:\n# checksum:blake3=1 file_len:9 /a b.rs\n", true),
            ("/x.ptx: /a.rs /b.rs\n\n/a.rs:\n/b.rs:\n", false),
            ("/x.ptx: /a.rs\n\n/a.rs:\n\n# env-dep:HOME=/root\n", false),
        ] {
            std::fs::write(&note, text).unwrap();
            assert_eq!(stands_alone(&note, 1).is_ok(), is_alone, "{text}");
        }
    }
}
