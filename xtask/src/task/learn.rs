//! `cargo xtask learn`: builds the course's program, which no edit of a learner's file builds anew, and runs it.

use super::ways;
use crate::workspace;
use anyhow::Result;
use cuda_builder::WITHOUT_KERNELS_VARIABLE;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// Passed on; `cargo xtask learn help` lists the commands.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    learn: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    cuda_builder::install::ensure_toolchain()?;
    let program = workspace::target_dir().join("release/learn");
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    if !program.exists() {
        let cost = ways::cost_of_the_course(&ways::committed());
        let cost = cost.unwrap_or_else(|| "minutes".to_owned());
        eprintln!(
            "The course is built first, which takes {cost}. A verdict then takes about a second."
        );
    }
    let mut build = workspace::cargo("build --release --quiet --bin learn");
    let mut learn = Command::new(program);
    // Who has built nothing else does without the instruments' kernels, which the course does not launch.
    if !workspace::coalesce().exists() {
        build.env(WITHOUT_KERNELS_VARIABLE, "1");
        learn.env(WITHOUT_KERNELS_VARIABLE, "1");
    }
    workspace::succeed(&mut build)?;
    let status = workspace::status(learn.args(&arguments.learn))?;
    Ok(workspace::code_of(status))
}
