//! `cargo xtask playground`: the executor as a WebAssembly module, in one page that needs no network.

use super::book;
use crate::{wasm, workspace};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of the page; `target/playground` when none is named.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Compare every answer of the module with that of the program, in Node.
    #[arg(long)]
    check: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let module = wasm::module()?;
    let output =
        arguments.output.clone().unwrap_or_else(|| workspace::target_dir().join("playground"));
    let mut program = book::program()?;
    program.arg("--wasm").arg(&module).arg("--playground-only").arg("--output").arg(&output);
    workspace::succeed(&mut program)?;
    println!("open {}", output.join("playground.html").display());
    if arguments.check {
        check(&module)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares the module with the program.
pub fn check(module: &std::path::Path) -> Result<()> {
    let node = which::which("node").context(
        "the module was not compared with the program: there is no node on PATH, install the package nodejs",
    )?;
    let pairs = workspace::target_dir().join("wasm/pairs.json");
    let fixtures = workspace::root().join("crates/simt/fixtures");
    workspace::succeed(
        book::program()?.arg("--fixtures").arg(fixtures).arg("--output").arg(&pairs),
    )?;
    let compare = workspace::root().join("book/src/compare.mjs");
    workspace::succeed(Command::new(node).arg(compare).arg(module).arg(pairs))
}
