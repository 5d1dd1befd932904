//! `coalesce`: lists, verifies, measures and explains the memory patterns.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

mod command;

use clap::{Parser, Subcommand};
use coalesce::gpu::GpuError;
use coalesce::patterns::UnknownName;
use std::process::ExitCode;

/// Memory patterns for CUDA, written in Rust: see them, check them, measure them.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = "Exit codes: 0 all is well; 1 a result is wrong or something failed; 2 the command line is wrong; 3 there is no usable GPU."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(command::list::Arguments),
    Verify(command::verify::Arguments),
    Bench(command::bench::Arguments),
    Compare(command::compare::Arguments),
    Calibrate(command::calibrate::Arguments),
    Explain(command::explain::Arguments),
    Report(command::report::Arguments),
    Results(command::results::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::List(arguments) => command::list::run(&arguments),
        Command::Verify(arguments) => command::verify::run(&arguments),
        Command::Bench(arguments) => command::bench::run(&arguments),
        Command::Compare(arguments) => command::compare::run(&arguments),
        Command::Calibrate(arguments) => command::calibrate::run(&arguments),
        Command::Explain(arguments) => command::explain::run(&arguments),
        Command::Report(arguments) => command::report::run(&arguments),
        Command::Results(arguments) => command::results::run(&arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // The causes, outermost first, as one sentence.
            eprintln!("error: {error:#}");
            // The virtual device knows more than the driver's code says.
            for mistake in coalesce::gpu::misuse() {
                eprintln!("  {mistake}");
            }
            exit_code(&error)
        }
    }
}

/// The exit code of an error, as documented in `--help`.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    if error.is::<UnknownName>() || error.is::<command::WrongArgument>() {
        return ExitCode::from(2);
    }
    match error.downcast_ref::<GpuError>() {
        Some(GpuError::NoDriver(_) | GpuError::NoDevice { .. } | GpuError::TooOld { .. }) => {
            ExitCode::from(3)
        }
        _ => ExitCode::FAILURE,
    }
}
