//! `cargo xtask learn`: builds the course's program, which no edit of a learner's file builds anew, and runs it. A checkout
//! in which nothing else is built does so by `start`.

use crate::workspace;
use anyhow::Result;
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
    let program = workspace::target_dir().join("release/learn");
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    workspace::succeed(&mut workspace::cargo("build --release --quiet --bin learn"))?;
    let status = workspace::status(Command::new(program).args(&arguments.learn))?;
    Ok(workspace::code_of(status))
}
