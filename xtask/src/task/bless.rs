use crate::{kernels, workspace};
use anyhow::Result;
use std::process::ExitCode;

/// The test of the executor's counters, which lies among those of the executor.
const COUNTERS: &str = "counters_are_those_of_the_snapshot";
/// The kernels of the glossary, and what was counted of them.
const GLOSSARY: &str = "the_glossary_shows_what_was_compiled_and_counted";

const LITTLES_LAW: &str = "the_plot_of_littles_law";
/// The table of memory spaces in a doc.
const SPACES: &str = "the_memory_spaces_of_a_doc";
/// The measured numbers in docs.
const DOCS: &str = "measured_numbers_are_those_of_the_reference";

/// The pages that are made of the sources.
const PAGES: &str = "docs::pages::";
/// The last screens of commands.
const SCREENS: &str = "docs::screens::";

/// Writes the pages of patterns and commands, and the screens.
pub fn docs() -> Result<ExitCode> {
    rewrite(PAGES)?;
    rewrite(SCREENS)?;
    Ok(ExitCode::SUCCESS)
}

pub fn run() -> Result<ExitCode> {
    kernels::setup()?;
    let modules: &[&str] = if kernels::ptxas().is_some() {
        &[
            "snapshots::",
            COUNTERS,
            GLOSSARY,
            SPACES,
            LITTLES_LAW,
            DOCS,
            PAGES,
            SCREENS,
            "assembled::",
        ]
    } else {
        println!(
            "not rewritten: the snapshots of registers and memory, which need `cargo xtask setup --sass`"
        );
        &["snapshots::", COUNTERS, GLOSSARY, SPACES, LITTLES_LAW, DOCS, PAGES, SCREENS]
    };
    modules.iter().try_for_each(|module| rewrite(module))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the integration tests of this name, which write what they would compare.
fn rewrite(module: &str) -> Result<()> {
    let mut tests = workspace::integration_tests("--include-ignored", module);
    workspace::succeed(tests.env("COALESCE_BLESS", "1"))
}
