//! `coalesce calibrate`: a profile of the device that is here.

use super::shared::{Device, writable};
use super::terminal::table;
use crate::catalogue::Catalogue;
use ::results::write_somewhere;
use anyhow::Result;
use cuda_host::Gpu;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure this GPU, and write a profile with which the virtual device predicts its times.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM calibrate --device gpu -o here.json\n  PROGRAM bench --device virtual:here.json"
)]
pub struct Arguments {
    #[command(flatten)]
    device: Device,
    /// Write the profile to this file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    if let Some(path) = &arguments.output {
        writable(path)?;
    }
    let gpu = Gpu::open(&arguments.device.choice()?, catalogue.images)?;
    println!("device: {}", gpu.origin());
    let calibration = crate::calibrate::run(&gpu)?;
    let mut rows = table(["figure", "measured", calibration.nearest, "measured / profile"]);
    for figure in &calibration.figures {
        rows.add_row([
            figure.name.to_owned(),
            format!("{:.4e}", figure.value),
            format!("{:.4e}", figure.nearest),
            format!("{:.2}", figure.value / figure.nearest),
        ]);
    }
    println!("{rows}");
    for source in &calibration.profile.sources {
        println!("{source}");
    }
    if let Some(path) = &arguments.output {
        let text = serde_json::to_string_pretty(&calibration.profile)?;
        write_somewhere(path, (text + "\n").as_bytes())?;
        println!("\nwritten to {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}
