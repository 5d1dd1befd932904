//! `cargo xtask bless`.

use crate::{kernels, workspace};
use anyhow::Result;
use std::process::ExitCode;

/// The test of the executor's counters, which lies among those of the executor.
const COUNTERS: &str = "counters_are_those_of_the_snapshot";

pub fn run() -> Result<ExitCode> {
    kernels::setup()?;
    let modules: &[&str] = if kernels::ptxas().is_some() {
        &["snapshots::", COUNTERS, "assembled::"]
    } else {
        println!(
            "not rewritten: the snapshots of registers and memory, which need `cargo xtask setup --sass`"
        );
        &["snapshots::", COUNTERS]
    };
    for module in modules {
        let arguments = [
            "test",
            "--release",
            "--quiet",
            "--test",
            "integration",
            "--",
            "--include-ignored",
            module,
        ];
        workspace::succeed(workspace::cargo(&arguments).env("COALESCE_BLESS", "1"))?;
    }
    Ok(ExitCode::SUCCESS)
}
