//! `cargo xtask verify PATTERN`: one changed line to a verified result.
//!
//! Only what a change needs is built: the PTX of the pattern's kernels for one architecture, and the program without
//! PTX, both at the same time. The program is told at run time which PTX to load.

use crate::{kernels, workspace};
use anyhow::{Context, Result, bail};
use cuda_builder::{AT_RUN_TIME_VARIABLE, NvvmArch};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The pattern, or one variant of it: transpose, transpose/padded.
    #[arg(value_name = "PATTERN[/VARIANT]")]
    pub pattern: String,
    /// Passed on to `coalesce verify`; see its --help.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub verify: Vec<String>,
}

/// The architecture of the virtual device that runs the kernels.
const ARCHITECTURE: NvvmArch = NvvmArch::Compute90a;

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (ptx, program) = build(&arguments.pattern)?;
    let mut verify = Command::new(program);
    verify.env("COALESCE_PTX", ptx);
    verify.args(["verify", &arguments.pattern, "--device", "virtual"]).args(&arguments.verify);
    let status = workspace::status(&mut verify)?;
    Ok(workspace::code_of(status))
}

/// Brings the PTX of a pattern and the program up to date; gives their paths.
fn build(selection: &str) -> Result<(PathBuf, PathBuf)> {
    let pattern = selection.split('/').next().unwrap_or(selection);
    if !has_kernels(pattern) && !has_host_half(pattern) {
        bail!("there is no pattern `{pattern}`: `cargo xtask verify` takes one of `coalesce list`");
    }
    cuda_builder::install::ensure_toolchain()?;
    std::thread::scope(|scope| {
        let program = scope.spawn(|| {
            let mut cargo = workspace::cargo("build --quiet --profile loop --bin coalesce");
            workspace::succeed(cargo.env(AT_RUN_TIME_VARIABLE, "1"))
        });
        // Work of the host may have no kernels of its own; any PTX will do.
        let all = kernels::builder(ARCHITECTURE);
        let ptx = if has_kernels(pattern) { all.only_kernels(format!("{pattern}_")) } else { all };
        let ptx = ptx.build();
        let program = program.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((ptx?, program.map(|()| workspace::program("loop"))?))
    })
}

fn has_kernels(pattern: &str) -> bool {
    is_in_a_group(&workspace::root().join("kernels/src"), pattern)
}

fn has_host_half(pattern: &str) -> bool {
    is_in_a_group(&workspace::root().join("host/src/patterns"), pattern)
}

/// Returns whether a folder below `folder` has a file of this stem.
fn is_in_a_group(folder: &Path, stem: &str) -> bool {
    let groups = std::fs::read_dir(folder).into_iter().flatten().flatten();
    groups.into_iter().any(|group| group.path().join(stem).with_extension("rs").is_file())
}

/// The files whose change `watch` waits for.
pub fn sources() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in ["kernels/src", "host/src", "crates"] {
        collect(&workspace::root().join(folder), &mut found)?;
    }
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let cannot = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}
