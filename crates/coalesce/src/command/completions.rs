//! `coalesce completions` and `coalesce man`: what a shell and `man` know of this program, from its own description.

use super::shared::WrongArgument;
use anyhow::{Context, Result};
use clap::Command;
use clap_complete::Shell;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print the completions of a shell, which complete commands and options at a press of Tab.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM completions bash > ~/.bash_completion\n  PROGRAM completions zsh > ~/.zsh/_PROGRAM \n  PROGRAM completions fish | source"
)]
pub struct Arguments {
    /// The shell.
    shell: Shell,
}

/// Write the manual pages, one for each command.
#[derive(Debug, clap::Args)]
pub struct ManArguments {
    /// The folder to write to, which `man --local-file` and `MANPATH` take.
    folder: PathBuf,
}

pub fn run(mut program: Command, arguments: &Arguments) -> ExitCode {
    let name = program.get_name().to_owned();
    // Into memory first: the crate panics where it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, name, &mut text);
    print!("{}", String::from_utf8_lossy(&text));
    ExitCode::SUCCESS
}

pub fn man(program: Command, arguments: &ManArguments) -> Result<ExitCode> {
    let folder = &arguments.folder;
    if folder.exists() && !folder.is_dir() {
        let message = format!("{} is not a folder: choose another one", folder.display());
        return Err(WrongArgument(message).into());
    }
    let cause =
        || format!("cannot write manual pages to {}, choose another folder", folder.display());
    std::fs::create_dir_all(folder).with_context(cause)?;
    clap_mangen::generate_to(program, folder).with_context(cause)?;
    println!("written to {}", folder.display());
    Ok(ExitCode::SUCCESS)
}
