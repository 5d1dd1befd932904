use super::build;
use super::report::COMMITTED;
use crate::{browser, wasm, workspace};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of the pages; `target/book` when none is named.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// A file with counts of this commit, such as one of `bench`: without it the kernels are executed.
    #[arg(long, value_name = "FILE")]
    counts: Option<PathBuf>,
    /// Build the executor for the browser, too, and put its page beside the others.
    #[arg(long)]
    playground: bool,
    /// Open each page in Chromium, narrow and wide, light and dark: fail on messages, requests, and what does not fit.
    #[arg(long)]
    check_in_browser: bool,
    /// Take screenshots of two pages at all widths, light and dark.
    #[arg(long, requires = "check_in_browser")]
    screenshots: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = workspace::root();
    let output = arguments.output.clone().unwrap_or_else(|| workspace::target_dir().join("book"));
    let counts = match &arguments.counts {
        Some(counts) => counts.clone(),
        None => counted()?,
    };
    let mut book = program()?;
    book.arg("--counts").arg(counts).arg("--measured").arg(root.join(COMMITTED));
    book.arg("--output").arg(&output);
    if arguments.playground {
        book.arg("--wasm").arg(wasm::module()?);
    }
    workspace::succeed(&mut book)?;
    println!("open {}", output.join("index.html").display());
    if arguments.check_in_browser {
        browser::check(&output, arguments.screenshots)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The program that writes the book, built.
pub fn program() -> Result<Command> {
    cuda_builder::install::ensure_toolchain()?;
    workspace::succeed(&mut workspace::cargo("build --release --quiet --bin book"))?;
    let program = workspace::target_dir().join("release/book");
    let mut book = Command::new(program.with_extension(std::env::consts::EXE_EXTENSION));
    book.arg("--root").arg(workspace::root()).arg("--target").arg(workspace::target_dir());
    Ok(book)
}

/// The counts of all kernels; those of the last build, if it was this one.
fn counted() -> Result<PathBuf> {
    build::coalesce()?;
    let file = workspace::target_dir().join("counts.json");
    let changed = |path: &Path| {
        let metadata = std::fs::metadata(path);
        metadata
            .and_then(|metadata| metadata.modified())
            .with_context(|| format!("cannot read {}", path.display()))
    };
    if changed(&file).ok() < changed(&workspace::coalesce()).ok() {
        workspace::succeed(
            Command::new(workspace::coalesce()).arg("count").arg("--output").arg(&file),
        )?;
    }
    Ok(file)
}
