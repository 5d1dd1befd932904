//! A learner's file to PTX: a hidden crate of its own for each, so that a broken one breaks no other.

use crate::refuse::refuse;
use crate::submission::Submission;
use anyhow::{Context, Result, bail};
use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch, PanicStrategy};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// Where things are.
#[derive(Clone, Debug)]
pub struct Places {
    /// The checkout.
    pub root: PathBuf,
    /// The learner's files.
    pub learn: PathBuf,
    /// What builds leave behind.
    pub target: PathBuf,
}

/// What compiling came to.
pub enum Compiled {
    /// The kernel.
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
            let ptx = std::fs::read_to_string(&ptx)
                .with_context(|| format!("cannot read {}", ptx.display()))?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(Compiled::Ptx(Submission { ptx, source, file: name }))
        }
        Err(CudaBuilderError::KernelsDoNotCompile { .. }) => Ok(Compiled::Refused),
        Err(error) => Err(error.into()),
    }
}

/// Writes the hidden crate of a file, if it is another than before.
pub fn write_crate(places: &Places, folder: &Path, id: &str, root: &Path) -> Result<()> {
    let manifest = format!(
        "[package]\nname = \"learn_{id}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\npath = \"{}\"\n\n\
         [dependencies]\n{}\n\
         # What a solution needs is imported before there is one.\n[lints.rust]\nunused_imports = \"allow\"\n\n[workspace]\n",
        root.display(),
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
