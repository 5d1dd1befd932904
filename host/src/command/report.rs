//! `coalesce report`: result files as pages for a browser.

use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a report: pages with tables, plots, sources and their traffic, for a browser without a network.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  coalesce report results/nvidia-h200/reference.json\n  coalesce report results/nvidia-h200/reference.json predicted.json -o h200"
)]
pub struct Arguments {
    /// Files written by `coalesce bench --json`: the one to report, and others to compare it with.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The kernels' machine code, as `nvdisasm --print-code --print-line-info-inline` prints it.
    #[arg(long, value_name = "FILE")]
    sass: Option<PathBuf>,
    /// The folder of the pages; an older report there is replaced, anything else is left alone.
    #[arg(short, long, value_name = "FOLDER", default_value = "report")]
    output: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    coalesce::report::write(&arguments.files, arguments.sass.as_deref(), &arguments.output)?;
    println!("{}", arguments.output.join("index.html").display());
    Ok(ExitCode::SUCCESS)
}
