//! Writes the book: `cargo xtask book` gives it what it is made of.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

use anyhow::{Context, Result};
use book::{Sources, answers::Answers};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Writes the book, or the page of the executor alone.
#[derive(Debug, Parser)]
struct Arguments {
    /// The checkout.
    #[arg(long)]
    root: PathBuf,
    /// Folder of what builds leave behind.
    #[arg(long)]
    target: PathBuf,
    /// Counts of the catalogue: a file of `coalesce count`, or of `coalesce bench`.
    #[arg(long, required_unless_present_any = ["playground_only", "fixtures", "course"])]
    counts: Option<PathBuf>,
    /// The measurement whose times the book has.
    #[arg(long, required_unless_present_any = ["playground_only", "fixtures", "course"])]
    measured: Option<PathBuf>,
    /// The executor for a page, a WebAssembly module.
    #[arg(long)]
    wasm: Option<PathBuf>,
    /// Write the page of the executor and nothing else.
    #[arg(long, requires = "wasm")]
    playground_only: bool,
    /// The course for a page, a WebAssembly module: write its page and nothing else.
    #[arg(long)]
    course: Option<PathBuf>,
    /// Write that page with a script that does ten tasks in it.
    #[arg(long, requires = "course")]
    course_check: bool,
    /// Write a page that asks the module what the executor's fixtures ask the program, and nothing else.
    #[arg(long, requires = "wasm")]
    fixtures: Option<PathBuf>,
    /// The folder of the pages, or the file of that page.
    #[arg(short, long)]
    output: PathBuf,
}

fn run(arguments: &Arguments) -> Result<()> {
    let read = |path: &PathBuf| {
        std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
    };
    if let (Some(fixtures), Some(module)) = (&arguments.fixtures, &arguments.wasm) {
        let page = book::pairs::page(fixtures, &read(module)?)?;
        let output = &arguments.output;
        return std::fs::write(output, page)
            .with_context(|| format!("cannot write {}", output.display()));
    }
    if let Some(module) = &arguments.course {
        let (module, output) = (read(module)?, &arguments.output);
        if arguments.course_check {
            return std::fs::write(output, book::course_check_page(&module)?)
                .with_context(|| format!("cannot write {}", output.display()));
        }
        report::publish::publish(output, &[book::course_page(&module)?])?;
        println!("the course in a page, in {}", output.display());
        return Ok(());
    }
    let playground = match &arguments.wasm {
        Some(path) => Some(book::playground(&read(path)?, !arguments.playground_only)),
        None => None,
    };
    let pages = match (&arguments.counts, &arguments.measured) {
        (Some(counts), Some(measured)) if !arguments.playground_only => {
            let answers = Answers::compute(&arguments.root, &arguments.target)?;
            let sources = Sources::load(&arguments.root, counts, measured, answers)?;
            book::pages(&sources, playground)?
        }
        _ => playground.into_iter().collect(),
    };
    report::publish::publish(&arguments.output, &pages)?;
    let bytes: usize = pages.iter().map(|page| page.text.len()).sum();
    println!("{} pages, {} KiB, in {}", pages.len(), bytes / 1024, arguments.output.display());
    Ok(())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
