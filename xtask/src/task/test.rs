use crate::{kernels, workspace};
use anyhow::{Context, Result, bail};
use cuda_builder::toolchain::Toolchain;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Also run the tests that need a GPU, and fail without one.
    #[arg(long)]
    gpu: bool,
    /// Fail when something is not run that a machine without a GPU can run.
    #[arg(long)]
    strict: bool,
}

/// A set of tests that are ignored unless what they need is here.
struct Needs {
    /// The reason of `#[ignore]`, and the module of the tests.
    module: &'static str,
    what: &'static str,
    met: bool,
    /// True when `--strict` does without it.
    is_optional: bool,
    fix: &'static str,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    kernels::setup()?;
    let snapshots = compiler_of_snapshots()?;
    let compiler = Toolchain::find()?.version;
    let is_other = snapshots != compiler;
    let mut tests = workspace::cargo("test --release --workspace --quiet");
    // What a proof does whole is sampled here, another part for each commit.
    tests.env("COALESCE_SAMPLE", workspace::commit(&workspace::root()));
    if is_other && !arguments.strict {
        tests.env("COALESCE_OTHER_COMPILER", "1");
    }
    workspace::succeed(&mut tests)?;
    if is_other {
        println!("not compared: the snapshots, which are of {snapshots} and not of {compiler}");
    }
    let needs = [
        Needs {
            module: "assembled::",
            what: "ptxas",
            met: kernels::ptxas().is_some(),
            is_optional: false,
            fix: "cargo xtask setup --sass",
        },
        Needs {
            module: "device::",
            what: "a GPU",
            met: arguments.gpu,
            is_optional: true,
            fix: "cargo xtask test --gpu, on a machine with one",
        },
        Needs {
            module: "stranger::",
            what: "the libraries built once more, for a project outside of this workspace",
            met: true,
            is_optional: false,
            fix: "it is always run here",
        },
    ];
    for need in needs {
        if need.met {
            let mut test = workspace::integration_tests("--ignored", need.module);
            if is_other && !arguments.strict {
                test.env("COALESCE_OTHER_COMPILER", "1");
            }
            workspace::succeed(&mut test)?;
        } else {
            println!("not run: the tests that need {} ({})", need.what, need.fix);
            if arguments.strict && !need.is_optional {
                bail!("the tests that need {} were not run: {}", need.what, need.fix);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The compiler whose PTX the committed snapshots are of: the first line of each names it.
fn compiler_of_snapshots() -> Result<String> {
    let file = workspace::root().join("kernels/resources.txt");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let first = text.lines().next().unwrap_or_default();
    Ok(first.trim_start_matches("# ").to_owned())
}
