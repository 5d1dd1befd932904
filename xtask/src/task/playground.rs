use super::book;
use crate::{browser, wasm, workspace};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of the page; `target/playground` when none is named.
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Write the course as one page, instead: its kernel tasks with an editor and verdicts, for any browser.
    #[arg(long)]
    course: bool,
    /// Compare every answer of the module with that of the program, in Chromium; of the course, the verdicts of ten tasks.
    #[arg(long)]
    check: bool,
    /// Say so and do nothing if a tool for that is absent; with CI=true it is an error.
    #[arg(long, requires = "check")]
    if_possible: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.check
        && let Err(why) = wasm::linker().and_then(|_| browser::find())
    {
        if !arguments.if_possible || is_ci() {
            return Err(why);
        }
        println!("not run: the comparison of the page's executor with the program: {why}");
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.course {
        return course(arguments);
    }
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

/// Writes the page of the course.
fn course(arguments: &Arguments) -> Result<ExitCode> {
    let module = wasm::course_module()?;
    let output = arguments.output.clone().unwrap_or_else(|| workspace::target_dir().join("course"));
    workspace::succeed(book::program()?.arg("--course").arg(&module).arg("--output").arg(&output))?;
    println!("open {}", output.join("course.html").display());
    if arguments.check {
        let page = workspace::target_dir().join("wasm/course_check.html");
        let mut program = book::program()?;
        program.arg("--course").arg(&module).arg("--course-check").arg("--output").arg(&page);
        workspace::succeed(&mut program)?;
        let told = browser::told(&page)?;
        if !told.starts_with("40 of 40 verdicts in the page are those of learn, and 10 of ") {
            bail!("the page's verdicts are not those of learn:\n{told}");
        }
        println!("{told}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns whether this is continuous integration, which has every tool.
fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Compares the module with the program.
fn check(module: &Path) -> Result<()> {
    let page = workspace::target_dir().join("wasm/compare.html");
    let fixtures = workspace::root().join("crates/simt/fixtures");
    let mut program = book::program()?;
    program.arg("--wasm").arg(module).arg("--fixtures").arg(fixtures).arg("--output").arg(&page);
    workspace::succeed(&mut program)?;
    let told = browser::told(&page)?;
    if !told.contains(" answers in WebAssembly equal") || told.contains(" differ:") {
        bail!("the page's executor does not answer as the program does:\n{told}");
    }
    println!("{told}");
    Ok(())
}
