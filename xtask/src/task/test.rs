//! `cargo xtask test`.

use crate::{kernels, workspace};
use anyhow::Result;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Also run the tests that need a GPU, and fail without one.
    #[arg(long)]
    gpu: bool,
}

/// A set of tests that are ignored unless what they need is here.
struct Needs {
    /// What the reason of `#[ignore]` says, and the module the tests are in.
    module: &'static str,
    /// For people.
    what: &'static str,
    /// Whether it is here.
    met: bool,
    /// How to get it.
    fix: &'static str,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    kernels::setup()?;
    for target in kernels::TARGETS {
        kernels::build(target)?;
    }
    workspace::succeed(&mut workspace::cargo(&["test", "--release", "--workspace", "--quiet"]))?;
    let needs = [
        Needs {
            module: "assembled::",
            what: "ptxas",
            met: kernels::ptxas().is_some(),
            fix: "cargo xtask setup --sass",
        },
        Needs {
            module: "device::",
            what: "a GPU",
            met: arguments.gpu,
            fix: "cargo xtask test --gpu, on a machine with one",
        },
        Needs {
            module: "stranger::",
            what: "the libraries built once more, for a project outside of this workspace",
            met: true,
            fix: "it is always run here",
        },
    ];
    for need in needs {
        if need.met {
            let test = [
                "test",
                "--release",
                "--quiet",
                "--test",
                "integration",
                "--",
                "--ignored",
                need.module,
            ];
            workspace::succeed(&mut workspace::cargo(&test))?;
        } else {
            println!("not run: the tests that need {} ({})", need.what, need.fix);
        }
    }
    Ok(ExitCode::SUCCESS)
}
