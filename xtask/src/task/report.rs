use super::build;
use crate::{browser, kernels, workspace};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The measurement that is reported when no file is named.
pub const COMMITTED: &str = "results/nvidia-h200/reference.json";

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
    /// Take screenshots of two pages at all widths, light and dark.
    #[arg(long, requires = "check_in_browser")]
    screenshots: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    kernels::setup()?;
    build::coalesce()?;
    let committed = [workspace::root().join(COMMITTED)];
    let files = if arguments.files.is_empty() { &committed } else { &arguments.files[..] };
    let mut report = command(files, &arguments.output)?;
    let status = workspace::status(&mut report)?;
    if status.success() && arguments.check_in_browser {
        browser::check(&arguments.output, arguments.screenshots)?;
    }
    Ok(workspace::code_of(status))
}

/// The program's command that makes a report, with machine code if NVIDIA's tools are here.
pub fn command(files: &[PathBuf], output: &Path) -> Result<Command> {
    let mut report = Command::new(workspace::coalesce());
    report.arg("report").args(files).arg("--output").arg(output);
    match kernels::machine_code()? {
        Some(file) => {
            report.arg("--sass").arg(file);
        }
        None => eprintln!(
            "report: without machine code; `cargo xtask setup --sass` installs what makes it"
        ),
    }
    Ok(report)
}
