use crate::workspace;
use anyhow::{Context, Result};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Arguments of `coalesce new`.
    #[arg(
        value_name = "ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true
    )]
    arguments: Vec<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let status = workspace::cargo("run --quiet --release --bin coalesce -- new")
        .args(&arguments.arguments)
        .status()
        .context("cannot start cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
