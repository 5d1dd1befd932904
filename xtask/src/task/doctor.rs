use crate::kernels;
use anyhow::Result;
use cuda_builder::toolchain::Toolchain;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use std::process::ExitCode;

/// The version of the format of `doctor --json`.
const DOCTOR_SCHEMA: u32 = 1;

/// The output of `cargo xtask doctor --json`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Report {
    /// The version of this format.
    schema: u32,
    /// The things that were looked for.
    checks: Vec<Check>,
}

/// Something that was looked for.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Check {
    /// Its name.
    what: String,
    /// Its state here.
    state: State,
    /// The place or version of what is here, or the cure.
    detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
enum State {
    /// It is here.
    #[serde(rename = "ok")]
    Ok,
    /// It is not here, and a build needs it.
    #[serde(rename = "MISSING")]
    Missing,
    /// It is not here, and not needed.
    #[serde(rename = "absent")]
    Absent,
}

/// The schema of `doctor --json`.
pub fn schema() -> String {
    serde_json::to_string_pretty(&schema_for!(Report)).unwrap_or_default() + "\n"
}

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print JSON instead of sentences.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let compiler = Toolchain::find();
    let driver = cuda_driver::status();
    let checks = [
        (
            "compiler for kernels",
            compiler.as_ref().map(Toolchain::describe).map_err(ToString::to_string),
            true,
        ),
        (
            "ptxas (registers, spills, machine code)",
            kernels::ptxas()
                .map(|path| path.display().to_string())
                .ok_or_else(|| "not here: run `cargo xtask setup --sass`".to_owned()),
            false,
        ),
        (
            "NVIDIA driver (measuring)",
            driver.map(|info| info.to_string()).map_err(|error| error.to_string()),
            false,
        ),
    ];
    let mut complete = true;
    let mut report = Vec::new();
    for (what, found, needed) in checks {
        let (state, text) = match found {
            Ok(text) => (State::Ok, text),
            Err(text) if needed => (State::Missing, text),
            Err(text) => (State::Absent, text),
        };
        complete &= state != State::Missing;
        if arguments.json {
            report.push(Check { what: what.to_owned(), state, detail: text });
        } else {
            let state = match state {
                State::Ok => "ok",
                State::Missing => "MISSING",
                State::Absent => "absent",
            };
            println!("{state:8} {what}: {text}");
        }
    }
    if arguments.json {
        let report = Report { schema: DOCTOR_SCHEMA, checks: report };
        println!("{}", serde_json::to_string_pretty(&report)?);
    }
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
