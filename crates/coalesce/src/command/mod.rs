//! The program of a catalogue: one module per command, and the arguments they share.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

mod bench;
mod calibrate;
mod compare;
mod completions;
mod count;
mod explain;
mod explain_ptx;
mod list;
mod new;
mod report;
mod results;
mod run;
mod shared;
mod terminal;
mod verify;

use crate::catalogue::{Catalogue, UnknownName};
use crate::wrong_argument::WrongArgument;
use ::results::plain;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use cuda_host::GpuError;
use cust::error::CudaError;
use std::io::Write;
use std::process::ExitCode;

/// List, explain, check and measure the memory patterns of a catalogue.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = "Exit codes: 0 success; 1 a result is wrong or something failed; 2 the command line is wrong; 3 there is no usable GPU; 4 `explain` or `run` found a hazard or another mistake; 6, 7, 8 `compare --fleet` found a board that is wrong, missing, or whose file is damaged; 130 a run was interrupted and is saved."
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
    Run(run::Arguments),
    Results(results::Arguments),
    New(new::Arguments),
    Completions(completions::Arguments),
    #[command(hide = true)]
    Man(completions::ManArguments),
}

/// Runs the command that this program's arguments name on a catalogue; the whole of a program's `main`.
///
/// What goes wrong is one sentence on standard error, with an exit code that `--help` documents.
pub fn main(catalogue: &Catalogue) -> ExitCode {
    end_quietly_when_nobody_reads();
    end_in_words_when_output_is_full();
    let command = Arguments::command()
        .name(catalogue.name)
        .bin_name(catalogue.name)
        .mut_subcommands(|command| with_examples_of(catalogue.name, command));
    let described = command.clone();
    let arguments = match Arguments::from_arg_matches(&command.get_matches()) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let done = match arguments.command {
        Command::List(arguments) => list::run(catalogue, &arguments),
        Command::Verify(arguments) => verify::run(catalogue, &arguments),
        Command::Count(arguments) => count::run(catalogue, &arguments),
        Command::Bench(arguments) => bench::run(catalogue, &arguments),
        Command::Compare(arguments) => compare::run(catalogue, &arguments),
        Command::Calibrate(arguments) => calibrate::run(catalogue, &arguments),
        Command::Explain(arguments) => explain::run(catalogue, &arguments),
        Command::Report(arguments) => report::run(catalogue, &arguments),
        Command::Run(arguments) => run::run(catalogue, &arguments),
        Command::Results(arguments) => results::run(catalogue, &arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Completions(arguments) => Ok(completions::run(described, &arguments)),
        Command::Man(arguments) => completions::man(described, &arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // The causes, outermost first, as one sentence.
            eprintln!("error: {}", plain(&format!("{error:#}")));
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

/// A command whose examples call this program by its name.
fn with_examples_of(name: &str, command: clap::Command) -> clap::Command {
    let examples = command
        .get_after_help()
        .map(|text| text.to_string().replace("PROGRAM ", &format!("{name} ")));
    examples.into_iter().fold(command, clap::Command::after_help)
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

/// Ends this program with a sentence when its output cannot be written, as on a full disk, and quietly when nobody reads it.
///
/// `println!` panics then, and tells it with a backtrace.
fn end_in_words_when_output_is_full() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        let Some(problem) = message.strip_prefix("failed printing to ") else {
            return usual(panic);
        };
        if !problem.contains("Broken pipe") {
            let _ = writeln!(std::io::stderr(), "error: cannot write to {problem}");
        }
        std::process::exit(1);
    }));
}

/// Ends this program quietly when the reader of its output ends, as `head` does.
///
/// Rust ignores the signal and panics at the next `println!` instead.
fn end_quietly_when_nobody_reads() {
    #[cfg(unix)]
    // SAFETY: no other thread runs yet, and the default action needs no handler.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}
