use super::{build, report};
use crate::{kernels, licences, workspace};
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder to make.
    #[arg(long, default_value = "dist")]
    output: PathBuf,
}

/// The text beside the programs.
const README: &str = "\
Coalesce, ready to run on a machine with an NVIDIA GPU and its driver. Nothing needs to be installed.

  ./coalesce verify                  check every kernel against its CPU reference
  ./coalesce bench --json out.json   measure every variant
  ./coalesce report out.json         pages for a browser; report/ holds those of an H200
  ./coalesce explain transpose       what a pattern teaches
  ./coalesce run -- ./program        profile a program of yours on a virtual GPU, by the libraries in lib/
  man -l man/coalesce-bench.1        the manual pages of the commands; `./coalesce completions SHELL` completes them
  ./device-tests --ignored device::  the test suite's GPU part
";

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    kernels::setup()?;
    build::coalesce()?;
    let output = workspace::root().join(&arguments.output);
    std::fs::create_dir_all(&output)
        .with_context(|| format!("cannot create {}", output.display()))?;
    copy(&workspace::coalesce(), &output.join("coalesce"))?;
    copy(&test_program()?, &output.join("device-tests"))?;
    // `run` looks for it there. Beside the programs, a loader that searches the working folder would find it.
    let libraries = output.join("lib");
    std::fs::create_dir_all(&libraries)
        .with_context(|| format!("cannot create {}", libraries.display()))?;
    copy(&workspace::virtual_libcuda(), &libraries.join("libcuda.so.1"))?;
    copy(&workspace::virtual_libcudart(), &libraries.join("libcudart.so.13"))?;
    // What an older version put there.
    match std::fs::remove_file(output.join("libcuda.so.1")) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).context("cannot remove the old libcuda.so.1 from the folder");
        }
        _ => {}
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&workspace::root().join(file), &output.join(file))?;
    }
    let licences = licences::third_party(&super::wheel::this_system())?;
    write_whole(&output.join(licences::FILE), licences.as_bytes())?;
    workspace::succeed(Command::new(workspace::coalesce()).arg("man").arg(output.join("man")))?;
    let results = workspace::root().join(report::COMMITTED);
    workspace::succeed(&mut report::command(&[results], &output.join("report"))?)?;
    let readme = output.join("README.txt");
    write_whole(&readme, README.as_bytes())?;
    println!("{}", output.display());
    Ok(ExitCode::SUCCESS)
}

/// Copies a file with its mode; it appears whole.
fn copy(source: &Path, target: &Path) -> Result<()> {
    let beside = target.with_added_extension("new");
    std::fs::copy(source, &beside)
        .and_then(|_| std::fs::rename(&beside, target))
        .with_context(|| format!("cannot copy {} to {}", source.display(), target.display()))?;
    Ok(())
}

/// Builds the integration tests and finds their program in cargo's messages.
fn test_program() -> Result<PathBuf> {
    let line = "test --release --test integration --no-run --message-format short";
    let output = workspace::cargo(line).output().context("cannot start cargo")?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("the tests do not compile:\n{messages}");
    }
    let program = messages.lines().rev().find_map(|line| line.split("Executable main.rs (").nth(1));
    let program = program
        .and_then(|rest| rest.strip_suffix(')'))
        .context("cargo did not name the test program")?;
    Ok(workspace::root().join(program))
}
