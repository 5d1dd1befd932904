//! `cargo xtask`: orchestrates builds, tests and benches. It measures nothing itself.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]
#![allow(missing_docs, reason = "this crate is not published")]

mod browser;
mod kernels;
mod licences;
pub mod proofs;
mod task;
mod wasm;
mod workspace;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Coalesce's own commands: each installs what it needs and says so.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Install what a build needs: a compiler for kernels, with --sass NVIDIA's assembler too.
    Setup(task::setup::Arguments),
    /// Build the kernels to PTX and the `coalesce` program.
    Build(task::build::Arguments),
    /// Run every test this machine can run.
    Test(task::test::Arguments),
    /// Check a pattern against its CPU reference, building only what a change needs: the way to work on a kernel.
    Verify(task::verify::Arguments),
    /// Do that on every save.
    Watch(task::watch::Arguments),
    /// Learn what memory does: tasks that are graded by exact counts and hazards, without a GPU.
    Learn(task::learn::Arguments),
    /// Write the book: chapters, tasks and widgets, with every figure from this checkout.
    Book(task::book::Arguments),
    /// Write the executor as one page: any address and any PTX, counted in a browser without a network.
    Playground(task::playground::Arguments),
    /// Measure how long one changed line takes to a verified result.
    LoopTimes(task::loop_times::Arguments),
    /// Measure how fast the executor is, without and with its checks, beside earlier commits.
    ExecutorSpeed(task::executor_speed::Arguments),
    /// Compile public CUDA programs, and run them on the virtual device with every check.
    Programs(task::programs::Arguments),
    /// Compare predictions of kernels of others with what a GPU took.
    Foreign(task::foreign::Arguments),
    /// Say which kernels of NVIDIA's cuda-samples the executor can run.
    Samples(task::samples::Arguments),
    /// Score the checks on public suites of CUDA bugs, each a checkout that you have.
    Suites(task::suites::Arguments),
    /// Run a proof that is too long for CI and record what came of it.
    Prove(task::prove::Arguments),
    /// Measure on the GPU; without one, report what can be known without one.
    Bench(task::bench::Arguments),
    /// Write result files as pages for a browser.
    Report(task::report::Arguments),
    /// Print a kernel as PTX, or as machine code, LLVM IR or Rust.
    Ptx(task::ptx::Arguments),
    /// Scaffold a new pattern: two files and three lines.
    New(task::new::Arguments),
    /// Write a project of your own outside of this checkout, as `coalesce new` does.
    NewProject(task::new_project::Arguments),
    /// Build and run rust-cuda's own kernels and programs, unchanged, from a checkout of it.
    Upstream(task::upstream::Arguments),
    /// Say what is here, what is missing, and the one-line fix.
    Doctor(task::doctor::Arguments),
    /// Make a folder with everything a GPU machine needs: no Rust, no CUDA toolkit.
    Dist(task::dist::Arguments),
    /// Go from nothing to a checked kernel by each way of installing, in fresh folders, and write what it costs.
    Ways(task::ways::Arguments),
    /// Build the program for other systems and run tests there by emulators: the table of platforms.
    Platforms(task::platforms::Arguments),
    /// Make a wheel, which pip installs: the program, its libraries and a Python module.
    Wheel(task::wheel::Arguments),
    /// Rewrite the snapshots of what the kernels consist of.
    Bless,
    /// Write the pages that are made of the sources: `docs/patterns.md` and `docs/commands.md`.
    Docs,
    /// Say what keeps this checkout from being released: proofs, the changelog, uncommitted work.
    ReleaseCheck,
}

/// Describes the command line, for the page of commands.
pub fn description() -> clap::Command {
    Arguments::command()
}

/// The JSON schema of `doctor --json`.
pub fn doctor_schema() -> String {
    task::doctor::schema()
}

/// Runs the command that this program's arguments name.
pub fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Setup(arguments) => task::setup::run(&arguments),
        Command::Build(arguments) => task::build::run(&arguments),
        Command::Test(arguments) => task::test::run(&arguments),
        Command::Verify(arguments) => task::verify::run(&arguments),
        Command::Watch(arguments) => task::watch::run(&arguments),
        Command::Learn(arguments) => task::learn::run(&arguments),
        Command::Book(arguments) => task::book::run(&arguments),
        Command::Playground(arguments) => task::playground::run(&arguments),
        Command::LoopTimes(arguments) => task::loop_times::run(&arguments),
        Command::ExecutorSpeed(arguments) => task::executor_speed::run(&arguments),
        Command::Programs(arguments) => task::programs::run(&arguments),
        Command::Foreign(arguments) => task::foreign::run(&arguments),
        Command::Samples(arguments) => task::samples::run(&arguments),
        Command::Suites(arguments) => task::suites::run(&arguments),
        Command::Prove(arguments) => task::prove::run(&arguments),
        Command::Bench(arguments) => task::bench::run(&arguments),
        Command::Report(arguments) => task::report::run(&arguments),
        Command::Ptx(arguments) => task::ptx::run(&arguments),
        Command::New(arguments) => task::new::run(&arguments),
        Command::NewProject(arguments) => task::new_project::run(&arguments),
        Command::Upstream(arguments) => task::upstream::run(&arguments),
        Command::Doctor(arguments) => task::doctor::run(&arguments),
        Command::Dist(arguments) => task::dist::run(&arguments),
        Command::Ways(arguments) => task::ways::run(&arguments),
        Command::Platforms(arguments) => task::platforms::run(&arguments),
        Command::Wheel(arguments) => task::wheel::run(&arguments),
        Command::Bless => task::bless::run(),
        Command::Docs => task::bless::docs(),
        Command::ReleaseCheck => task::release_check::run(),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
