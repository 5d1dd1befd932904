//! `coalesce ptxas`: what stands for NVIDIA's assembler in a program that assembles its own PTX, as Triton does.

use crate::wrong_argument::WrongArgument;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The variables by which Triton finds its assemblers.
pub const VARIABLES: [&str; 2] = ["TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"];
/// The name under which this program is that command.
pub const NAME: &str = "ptxas";
/// The answer to `--version`: Triton takes the release from it, and keeps kernels apart by the whole text.
const VERSION: &str = "ptxas: stands for NVIDIA's in `coalesce run`, and hands PTX on as it is\n\
    Cuda compilation tools, release 13.0, V13.0.88";

/// Stand for NVIDIA's assembler: write the PTX to the file of `-o` as it is, so that the virtual GPU gets it.
///
/// `coalesce run` names this to Triton, which asks for `--version` first. Other options are taken and mean nothing.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Arguments {
    /// The command line of NVIDIA's assembler.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    all: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (mut from, mut to, mut rest) = (None, None, arguments.all.iter());
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--version" | "-V") => {
                println!("{VERSION}");
                return Ok(ExitCode::SUCCESS);
            }
            Some("-o" | "--output-file") => to = rest.next(),
            _ if Path::new(argument).extension().is_some_and(|it| it == "ptx") => {
                from = Some(argument);
            }
            _ => {}
        }
    }
    let lacks = |what: &str| {
        WrongArgument(format!(
            "there is no {what}: `coalesce ptxas` takes `FILE.ptx -o FILE`, as NVIDIA's assembler does, or `--version`"
        ))
    };
    let from = Path::new(from.ok_or_else(|| lacks("file of PTX, which ends in .ptx"))?);
    let to = Path::new(to.ok_or_else(|| lacks("`-o FILE`"))?);
    let text = std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    std::fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(ExitCode::SUCCESS)
}
