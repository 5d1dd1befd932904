//! `cargo xtask report`.

use super::build;
use crate::{browser, kernels, workspace};
use anyhow::Result;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The measurement that is reported when no file is named.
const COMMITTED: &str = "results/nvidia-h200/reference.json";

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Result files: the one to report, and others to compare it with; the committed measurement when none is named.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder of the pages.
    #[arg(short, long, value_name = "FOLDER", default_value = "report")]
    output: PathBuf,
    /// Open each page in Chromium, narrow and wide, light and dark: fail on messages, requests, and what does not fit.
    #[arg(long)]
    check_in_browser: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    kernels::setup()?;
    build::coalesce()?;
    let mut report = Command::new(workspace::coalesce());
    report.arg("report").args(&arguments.files).arg("--output").arg(&arguments.output);
    if arguments.files.is_empty() {
        report.arg(workspace::root().join(COMMITTED));
    }
    let status = workspace::status(&mut report)?;
    if status.success() && arguments.check_in_browser {
        browser::check(&arguments.output)?;
    }
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
