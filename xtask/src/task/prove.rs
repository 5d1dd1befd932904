//! `cargo xtask prove NAME`: runs a proof that is too long for CI and records what came of it.

use crate::proofs::{self, Proof, Proved};
use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The proof.
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// Say which there are, and which hold for this checkout.
    #[arg(long)]
    list: bool,
    /// Take the output of a run elsewhere, of the same sources: `device-tests --ignored device::` of `cargo xtask dist`.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Stop after so many seconds; what was done is recorded as what it is, and `fuzz` goes on from there the next time.
    #[arg(long, value_name = "N", conflicts_with = "output")]
    seconds: Option<u64>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = workspace::root();
    let mut record = proofs::load(&root)?;
    let Some(name) = arguments.name.as_ref().filter(|_| !arguments.list) else {
        for proof in proofs::PROOFS {
            let state = match (record.get(proof.name), proofs::staleness(&root, &record, proof)?) {
                (Some(proved), None) => format!("{}: {}", proved.date, proved.figure),
                (_, why) => format!("not run: {}", why.unwrap_or_default()),
            };
            println!(
                "{:12} {}\n{:12} {state}\n{:12} in CI: {}",
                proof.name, proof.shows, "", "", proof.sample
            );
        }
        return Ok(ExitCode::SUCCESS);
    };
    let proof = proofs::named(name)?;
    if proof.command.contains("integration") {
        // These tests run the program.
        super::build::coalesce()?;
    }
    // What is changed while it runs is not proved.
    let inputs = proofs::hash(&root, proof.inputs)?;
    let output = match &arguments.output {
        Some(file) => passed(file)?,
        None => execute(proof, &inputs, arguments.seconds)?,
    };
    let lines = output.lines().map(str::trim).filter(|line| line.contains(proof.figure));
    let figure = lines.collect::<Vec<_>>().join("; ");
    if figure.is_empty() {
        bail!("the output has no line with `{}`, so nothing is recorded", proof.figure);
    }
    if proofs::hash(&root, proof.inputs)? != inputs {
        bail!("{} changed while the proof ran: run it again", proof.inputs.join(" or "));
    }
    println!("{name}: {figure}");
    record.insert(name.clone(), Proved { figure, date: today()?, inputs });
    let file = root.join(proofs::FILE);
    write_whole(&file, proofs::text(&record)?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The output of tests that ran elsewhere and passed.
fn passed(file: &Path) -> Result<String> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    if !text.contains("test result: ok") || text.contains("FAILED") {
        bail!("{} is not the output of tests that passed", file.display());
    }
    Ok(text)
}

/// Runs the proof; what it prints is shown once it has ended.
fn execute(proof: &Proof, inputs: &str, seconds: Option<u64>) -> Result<String> {
    let mut command: Command = workspace::cargo(proof.command);
    command.envs(proof.environment.iter().copied()).env("PROOF_INPUTS", inputs);
    if let Some(seconds) = seconds {
        command.env("PROOF_SECONDS", seconds.to_string());
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let mut output = String::new();
    let mut stdout = child.stdout.take().context("its output cannot be read")?;
    stdout.read_to_string(&mut output).context("its output cannot be read")?;
    print!("{output}");
    if !child.wait()?.success() {
        bail!("`cargo {}` failed: nothing is recorded", proof.command);
    }
    Ok(output)
}

pub fn today() -> Result<String> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let days = i64::try_from(since.as_secs() / 86_400)?;
    Ok(date(days))
}

/// The day so many days after 1970-01-01.
fn date(days: i64) -> String {
    // Years begin in March, so that a leap day ends one; 146097 days are 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + i64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, expected) in
            [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_779, "2026-11-22")]
        {
            assert_eq!(date(days), expected);
        }
    }
}
