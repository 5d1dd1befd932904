//! The program of a catalogue: one module per command, and the arguments they share.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

mod bench;
mod boards;
mod calibrate;
mod compare;
mod compare_fleet;
mod completions;
mod count;
mod cuda_program;
mod explain;
mod explain_ptx;
mod help;
mod interrupt;
mod list;
mod mcp;
mod new;
mod pager;
mod progress;
mod prose;
mod ptxas;
mod report;
mod results;
mod run;
mod shared;
mod terminal;
mod verify;

use crate::catalogue::{Catalogue, UnknownName};
use crate::os;
use crate::wrong_argument::WrongArgument;
use ::results::plain;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use cuda_host::GpuError;
use cust::error::CudaError;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use terminal::in_error_lines;

/// The meanings of exit codes, in the manual page. `docs/exit_codes.md` has the same table, and a test compares them.
const EXIT_CODES: [(&str, &str); 11] = [
    ("0", "success"),
    (
        "1",
        "a result is wrong, a task of the course does not pass, a board is an outlier, or something failed",
    ),
    ("2", "the command line is wrong; `learn`: a task could not be graded"),
    ("3", "there is no usable GPU"),
    ("4", "`explain` or `run` found a hazard or another mistake"),
    ("5", "`run`: the program succeeded, and no kernel was recorded"),
    (
        "6",
        "`compare --fleet`: a board has wrong rows, lacks rows that most have, or was interrupted",
    ),
    ("7", "`compare --fleet`: a board of `--expect` has no file"),
    ("8", "`compare --fleet`: a file is damaged"),
    ("128 + N", "signal N ended `learn`, or the program that `run` started"),
    ("130", "a run was interrupted, and what it had is kept"),
];

/// List, explain, check and measure the memory patterns of a catalogue.
#[derive(Debug, Parser)]
#[command(version, about = help::ABOUT)]
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
    Mcp(mcp::Arguments),
    Completions(completions::Arguments),
    #[command(hide = true)]
    Ptxas(ptxas::Arguments),
    #[command(hide = true)]
    Man(completions::ManArguments),
}

/// Runs the command that this program's arguments name on a catalogue; the whole of a program's `main`.
///
/// A failure is one sentence on standard error, with an exit code that `docs/exit_codes.md` explains.
pub fn main(catalogue: &Catalogue) -> ExitCode {
    os::set_signals();
    end_in_words_when_output_is_full();
    let described = description(catalogue.name);
    let command = described.clone().override_help(help::text(catalogue));
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if words.first().is_some_and(|it| Path::new(it).ends_with(ptxas::NAME)) {
        words.insert(1, ptxas::NAME.into());
    }
    let arguments = match Arguments::from_arg_matches(&command.get_matches_from(words)) {
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
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Completions(arguments) => Ok(completions::run(described, &arguments)),
        Command::Ptxas(arguments) => ptxas::run(&arguments),
        Command::Man(arguments) => completions::man(described, &arguments),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // The causes, outermost first, as one sentence.
            let message = format!("error: {}", plain(&format!("{error:#}")));
            eprintln!("{}", in_error_lines(message));
            // The virtual device knows more than the driver's code says, and nothing of other errors.
            if is_of_device(&error) {
                for mistake in
                    cuda_host::misuse().into_iter().chain(crate::side_by_side::drain_mistakes())
                {
                    eprintln!("{}", in_error_lines(format_args!("  {mistake}")));
                }
            }
            exit_code(&error)
        }
    }
}

/// Describes the command line of a catalogue's program.
pub fn description(name: &'static str) -> clap::Command {
    Arguments::command()
        .name(name)
        .bin_name(name)
        .after_help(exit_codes())
        .mut_subcommands(|command| with_examples_of(name, command))
}

/// The exit codes as a table of the manual page.
fn exit_codes() -> String {
    let rows = EXIT_CODES.map(|(code, meaning)| format!("\n  {code:8} {meaning}"));
    format!("Exit codes:{}", rows.concat())
}

/// A command whose examples call this program by its name.
fn with_examples_of(name: &str, command: clap::Command) -> clap::Command {
    let examples = command
        .get_after_help()
        .map(|text| text.to_string().replace("PROGRAM ", &format!("{name} ")));
    examples.into_iter().fold(command, clap::Command::after_help)
}

/// Returns whether a call of the driver failed.
fn is_of_device(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<GpuError>() || cause.is::<CudaError>() || cause.is::<cust_ext::Error>()
    })
}

/// The exit code of an error.
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
