//! The program of a catalogue: one module per command, and the arguments they share.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

mod bench;
mod calibrate;
mod compare;
mod count;
mod explain;
mod list;
mod report;
mod results;
mod terminal;
mod verify;

use crate::catalogue::{Catalogue, Selection, UnknownName};
use crate::measure::{Axes, Axis};
use anyhow::Result;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use cuda_host::{Choice, GpuError};
use cust::error::CudaError;
use std::path::Path;
use std::process::ExitCode;

/// See, check and measure the patterns of a catalogue.
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
    List(list::Arguments),
    Verify(verify::Arguments),
    Count(count::Arguments),
    Bench(bench::Arguments),
    Compare(compare::Arguments),
    Calibrate(calibrate::Arguments),
    Explain(explain::Arguments),
    Report(report::Arguments),
    Results(results::Arguments),
}

/// Runs the command that this program's arguments name on a catalogue; the whole of a program's `main`.
///
/// What goes wrong is one sentence on standard error, with an exit code that `--help` documents.
pub fn main(catalogue: &Catalogue) -> ExitCode {
    end_quietly_when_nobody_reads();
    let command = Arguments::command().name(catalogue.name).bin_name(catalogue.name);
    let arguments = match Arguments::from_arg_matches(&command.get_matches()) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let done = match arguments.command {
        Command::List(arguments) => list::run(catalogue, &arguments),
        Command::Verify(arguments) => verify::run(catalogue, &arguments),
        Command::Count(arguments) => count::run(catalogue, &arguments),
        Command::Bench(arguments) => bench::run(catalogue, &arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Calibrate(arguments) => calibrate::run(catalogue, &arguments),
        Command::Explain(arguments) => explain::run(catalogue, &arguments),
        Command::Report(arguments) => report::run(catalogue, &arguments),
        Command::Results(arguments) => results::run(&arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // The causes, outermost first, as one sentence.
            eprintln!("error: {error:#}");
            // The virtual device knows more than the driver's code says, and nothing of other errors.
            if is_of_device(&error) {
                for mistake in cuda_host::misuse() {
                    eprintln!("  {mistake}");
                }
            }
            exit_code(&error)
        }
    }
}

/// Whether a call of the driver failed.
fn is_of_device(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<GpuError>() || cause.is::<CudaError>() || cause.is::<cust_ext::Error>()
    })
}

/// The exit code of an error, as documented in `--help`.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    if error.is::<UnknownName>() || error.is::<WrongArgument>() {
        return ExitCode::from(2);
    }
    match error.downcast_ref::<GpuError>() {
        Some(GpuError::NoDriver(_) | GpuError::NoDevice { .. } | GpuError::TooOld { .. }) => {
            ExitCode::from(3)
        }
        _ => ExitCode::FAILURE,
    }
}

/// When the reader of our output ends, as `head` does, so does this program: without a word, as other programs do.
///
/// Rust ignores the signal and panics at the next `println!` instead.
fn end_quietly_when_nobody_reads() {
    #[cfg(unix)]
    // SAFETY: no other thread runs yet, and the default action needs no handler.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

/// An argument that is well-formed but means nothing here.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongArgument(pub String);

/// What to work on, and where.
#[derive(Debug, Args)]
pub struct Work {
    /// Patterns or variants, such as `transpose` or `transpose/padded`; all when none is named.
    #[arg(value_name = "PATTERN[/VARIANT]")]
    selections: Vec<String>,
    /// Replace numbers of the size, such as `n=2^20` or `distribution=skewed`; the first one needs no name. For `bench`
    /// several values make a curve: `stride=1..32`, `2^20..2^28`, `n=1000,2000`.
    // A value may start with a hyphen, so that our message explains what is wrong with it, not clap's.
    #[arg(long, visible_alias = "axis", value_name = "NAME=VALUES", allow_hyphen_values = true)]
    size: Vec<Axes>,
    /// The seed of the random inputs.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub device: Device,
}

/// The variable that names a device where `--device` does not.
const DEVICE_VARIABLE: &str = "COALESCE_DEVICE";

/// Where to work.
#[derive(Debug, Args)]
pub struct Device {
    /// The device: auto, gpu, gpu:N, virtual, virtual:PROFILE, or virtual:FILE.json. Without it the variable
    /// COALESCE_DEVICE names one, and without both it is auto.
    #[arg(long = "device", value_name = "DEVICE")]
    named: Option<Choice>,
}

impl Device {
    /// The device that the command line or the variable names.
    pub fn choice(&self) -> Result<Choice, WrongArgument> {
        match (&self.named, std::env::var_os(DEVICE_VARIABLE)) {
            (Some(choice), _) => Ok(choice.clone()),
            (None, None) => Ok(Choice::Auto),
            // Not read by clap, whose message would name `--device`, which nobody wrote.
            (None, Some(text)) => text
                .to_string_lossy()
                .parse()
                .map_err(|error| WrongArgument(format!("{DEVICE_VARIABLE} is wrong: {error}"))),
        }
    }
}

impl Work {
    /// The selected patterns and variants.
    pub fn selections(&self, catalogue: &Catalogue) -> Result<Vec<Selection>, UnknownName> {
        if self.selections.is_empty() {
            return Ok(catalogue.all());
        }
        self.selections.iter().map(|text| catalogue.select(text)).collect()
    }

    /// The values of `--size`.
    pub fn axes(&self) -> Vec<Axis> {
        self.size.iter().flat_map(|axes| axes.0.clone()).collect()
    }
}

/// Fails now rather than after minutes of work.
pub fn writable(path: &Path) -> Result<(), WrongArgument> {
    ::results::check_writable(path).map_err(|error| WrongArgument(format!("{error:#}")))
}
