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
    /// Instead, write the times of kernels that keep one part of a multiprocessor busy to this file, as CSV.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    probes: Option<PathBuf>,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    if let Some(path) = arguments.output.as_ref().or(arguments.probes.as_ref()) {
        writable(path)?;
    }
    let gpu = Gpu::open(&arguments.device.choice()?, catalogue.images)?;
    println!("device: {}", gpu.origin());
    if let Some(path) = &arguments.probes {
        write_somewhere(path, crate::calibrate::probes::table(&gpu)?.as_bytes())?;
        println!("written to {}", path.display());
        return Ok(ExitCode::SUCCESS);
    }
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
