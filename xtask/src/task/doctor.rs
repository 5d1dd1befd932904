//! `cargo xtask doctor`.

use crate::kernels;
use anyhow::Result;
use cuda_builder::toolchain::Toolchain;
use std::process::ExitCode;

pub fn run() -> Result<ExitCode> {
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
    for (what, found, needed) in checks {
        match found {
            Ok(text) => println!("ok       {what}: {text}"),
            Err(text) if needed => {
                complete = false;
                println!("MISSING  {what}: {text}");
            }
            Err(text) => println!("absent   {what}: {text}"),
        }
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
