use crate::kernels;
use anyhow::Result;
use cuda_builder::toolchain::Toolchain;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print JSON instead of sentences.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let compiler = Toolchain::find();
    let driver = cuda_driver::status();
    let checks = [
        (
            "compiler for kernels",
            compiler.as_ref().map(Toolchain::describe).map_err(ToString::to_string),
            true,
        ),
        (
            "ptxas (registers, spills, machine code)",
            kernels::ptxas()
                .map(|path| path.display().to_string())
                .ok_or_else(|| "not here: run `cargo xtask setup --sass`".to_owned()),
            false,
        ),
        (
            "NVIDIA driver (measuring)",
            driver.map(|info| info.to_string()).map_err(|error| error.to_string()),
            false,
        ),
    ];
    let mut complete = true;
    let mut report = Vec::new();
    for (what, found, needed) in checks {
        let (state, text) = match found {
            Ok(text) => ("ok", text),
            Err(text) if needed => ("MISSING", text),
            Err(text) => ("absent", text),
        };
        complete &= state != "MISSING";
        if arguments.json {
            report.push(json!({ "what": what, "state": state, "detail": text }));
        } else {
            println!("{state:8} {what}: {text}");
        }
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
