use crate::{kernels, workspace};
use anyhow::{Result, bail};
use cuda_builder::NvvmArch;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Build only the PTX for this compute capability, such as 90.
    #[arg(long, value_name = "CAPABILITY")]
    arch: Option<u32>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    eprintln!("kernels: {}", kernels::setup()?.describe());
    if let Some(capability) = arguments.arch {
        let Some(arch) = NvvmArch::from_capability(capability) else {
            let known: Vec<_> =
                NvvmArch::ALL.iter().map(|arch| arch.capability_value().to_string()).collect();
            bail!(
                "compute capability {capability} is not known: choose one of {}",
                known.join(", ")
            );
        };
        println!("{}", kernels::build(arch)?.display());
        return Ok(ExitCode::SUCCESS);
    }
    coalesce()?;
    println!("{}", workspace::coalesce().display());
    Ok(ExitCode::SUCCESS)
}

/// Builds the program; the kernels first, so that rustc's messages about them stand alone.
pub fn coalesce() -> Result<()> {
    by("release")
}

/// Builds the program as people install it.
pub fn for_others() -> Result<()> {
    by("dist")
}

fn by(profile: &str) -> Result<()> {
    for target in kernels::TARGETS {
        kernels::build(target)?;
    }
    workspace::succeed(&mut workspace::cargo(&format!(
        "build --profile {profile} --quiet --bin coalesce"
    )))
}
