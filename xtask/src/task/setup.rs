use crate::{kernels, workspace};
use anyhow::Result;
use cuda_builder::install;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Also install NVIDIA's ptxas, cuobjdump and nvdisasm (wheels) into the target folder.
    #[arg(long)]
    sass: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    eprintln!("kernels: {}", kernels::setup()?.describe());
    if arguments.sass {
        if kernels::ptxas().is_none() {
            install::install_sass_tools(&workspace::target_dir())?;
        }
        let found =
            kernels::ptxas().map_or("not found".to_owned(), |path| path.display().to_string());
        eprintln!("ptxas: {found}");
    }
    Ok(ExitCode::SUCCESS)
}
