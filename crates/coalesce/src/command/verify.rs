//! `coalesce verify`: every element of every output against the CPU reference.

use super::shared::{WorkArguments, WrongArgument, numbered, writable};
use super::terminal::progress;
use crate::catalogue::{Catalogue, Selection};
use crate::counted::Counted;
use crate::measure::{Axis, resize};
use crate::pattern::Size;
use crate::verify::{self, Digests, VerifyOutcome};
use ::results::write_json;
use anyhow::Result;
use cuda_host::{Checks, Gpu, VirtualDevice};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Compare the whole outputs of variants with CPU references, at every size.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM verify\n  PROGRAM verify PATTERN/VARIANT\n  PROGRAM verify PATTERN --size n=1000 --seed 7"
)]
pub struct Arguments {
    #[command(flatten)]
    work: WorkArguments,
    /// Also report races, reads of uninitialized memory, missing barriers and other hazards (virtual device only).
    #[arg(long)]
    check: bool,
    /// Launch each variant once, at the size at which its traffic is counted, under a profiler.
    #[arg(long, conflicts_with = "size")]
    counted: bool,
    /// Also list each launch that was not run, with the reason.
    #[arg(long)]
    verbose: bool,
    /// Write a digest of every output to this file, to compare devices bit for bit.
    #[arg(long, value_name = "FILE")]
    digests: Option<PathBuf>,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    let work = &arguments.work;
    let selections = work.selections(catalogue)?;
    let axes = work.axes();
    if axes.iter().any(Axis::is_curve) {
        let message =
            "verify takes one value per dimension: give --size several times to bench only";
        return Err(WrongArgument(message.to_owned()).into());
    }
    if let Some(path) = &arguments.digests {
        writable(path)?;
    }
    let mut jobs = Vec::new();
    for selection in &selections {
        let pattern = selection.pattern;
        if arguments.counted {
            jobs.push((selection, Size::new(pattern.count_size)));
        } else if axes.is_empty() {
            jobs.extend(pattern.verify_sizes.iter().map(|size| (selection, Size::new(size))));
        } else {
            jobs.push((
                selection,
                resize(pattern, pattern.bench_size, &axes)
                    .map_err(|error| WrongArgument(error.to_string()))?,
            ));
        }
    }
    let checks = if arguments.check { Checks::all() } else { Checks::none() };
    let mut code = ExitCode::SUCCESS;
    let devices = work.device.choice()?.each()?;
    for (index, device) in devices.iter().enumerate() {
        let gpu = Gpu::open_untimed(device, catalogue.images, checks)?;
        let digests = arguments.digests.as_deref();
        let digests = digests.map(|path| numbered(path, (devices.len() > 1).then_some(index)));
        if run_on(&gpu, arguments, digests.as_deref(), &jobs)? == ExitCode::FAILURE {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// Verifies on one device.
fn run_on(
    gpu: &Gpu,
    arguments: &Arguments,
    digests_path: Option<&Path>,
    jobs: &[(&Selection, Size)],
) -> Result<ExitCode> {
    let work = &arguments.work;
    println!("device: {}", gpu.origin());
    println!("verifying on {}, seed {}", gpu.facts()?.name, work.seed);
    if arguments.check && gpu.virtual_device().is_none() {
        let message = "--check works on the virtual device only: add --device virtual, or use compute-sanitizer";
        return Err(WrongArgument(message.to_owned()).into());
    }
    let bar = progress(jobs.len());
    let (mut correct, mut wrong, mut findings) = (0, 0, 0);
    let mut not_run: BTreeMap<String, usize> = BTreeMap::new();
    let mut digests = Digests::new();
    for (selection, size) in jobs {
        let pattern = selection.pattern;
        let case = verify::case(pattern, size, work.seed);
        let arrays = pattern.arrays(gpu, &case)?;
        for variant in selection.variants() {
            bar.set_message(format!("{}/{}", pattern.name, variant.name));
            let name = verify::launch_name(pattern, variant, size);
            let line = |text: String| bar.suspend(|| println!("{name}: {text}"));
            let (outcome, written) = if digests_path.is_some() {
                verify::verify_with_digests(gpu, &case, &arrays, variant, size)?
            } else {
                (verify::verify(gpu, &case, &arrays, variant, size)?, Vec::new())
            };
            match outcome {
                VerifyOutcome::Correct => {
                    correct += 1;
                    digests.insert(name.clone(), written);
                }
                VerifyOutcome::NotRun(reason) => {
                    if arguments.verbose {
                        line(format!("not run: {reason}"));
                    }
                    *not_run.entry(reason).or_default() += 1;
                }
                VerifyOutcome::Wrong(fault) => {
                    wrong += 1;
                    line(format!("WRONG: {fault}"));
                }
            }
            let Some(device) = gpu.virtual_device() else { continue };
            for finding in Counted::take(device).findings {
                findings += 1;
                line(format!("HAZARD: {finding}"));
            }
        }
        for mistake in gpu.virtual_device().map_or_else(Vec::new, VirtualDevice::take_misuse) {
            findings += 1;
            bar.suspend(|| println!("{}: MISUSE: {mistake}", pattern.name));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(path) = digests_path {
        write_json(path, &digests)?;
        println!("digests of {} launches written to {}", digests.len(), path.display());
    }
    for (reason, count) in &not_run {
        println!("not run, {count} times: {reason}");
    }
    if !not_run.is_empty() && !arguments.verbose {
        println!("(--verbose lists them)");
    }
    let not_run: usize = not_run.values().sum();
    let hazards = if arguments.check { format!(", {findings} hazards") } else { String::new() };
    println!("{correct} correct, {wrong} wrong, {not_run} not run{hazards}");
    Ok(if wrong + findings == 0 && correct > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
