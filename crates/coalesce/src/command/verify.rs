use super::interrupt::{self, INTERRUPTED};
use super::progress::Progress;
use super::shared::{WorkArguments, WrongArgument, numbered, sarif, writable};
use super::terminal::{alarm, in_lines, screen};
use crate::catalogue::Catalogue;
use crate::measure::{Axis, resize};
use crate::pattern::Size;
use crate::verify::{
    self, Digests, Point, Verified, VerifiedPoint, VerifyOptions, VerifyOutcome, verify_points,
};
use ::report::first_screen::{self, Verification};
use ::report::screen::Screen;
use ::results::{
    Fidelity, LaunchOutcome, VERIFIED_SCHEMA, VerifiedDevice, VerifiedLaunch, VerifiedMisuse,
    VerifyReport, write_json,
};
use anyhow::Result;
use cuda_host::{Checks, Gpu};
use profiling::{Sources, mistake, profiled};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// Take a kernel to run forever after so many warp-instructions (20000000000 without this option), and say where it is.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Launch each variant once, at the size at which its traffic is counted, under a profiler.
    #[arg(long, conflicts_with = "size")]
    counted: bool,
    /// Also list each launch that was not run, with the reason.
    #[arg(long)]
    verbose: bool,
    /// Write what was found to this file as SARIF, for editors and code scanning.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Print JSON: each launch with its outcome and its hazards, then the numbers of each.
    #[arg(long, conflicts_with = "verbose")]
    json: bool,
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
    for path in [&arguments.digests, &arguments.sarif].into_iter().flatten() {
        writable(path)?;
    }
    let mut points = Vec::new();
    for selection in &selections {
        let pattern = selection.pattern;
        let sizes = if arguments.counted {
            vec![Size::new(pattern.count_size)]
        } else if axes.is_empty() {
            pattern.verify_sizes.iter().map(|size| Size::new(size)).collect()
        } else {
            let size = resize(pattern, pattern.bench_size, &axes);
            vec![size.map_err(|error| WrongArgument(error.to_string()))?]
        };
        let point = |size| Point { pattern, size, variants: selection.variants().collect() };
        points.extend(sizes.into_iter().map(point));
    }
    let checks = if arguments.check { Checks::all() } else { Checks::none() };
    let mut code = ExitCode::SUCCESS;
    let mut report = VerifyReport { schema: VERIFIED_SCHEMA, devices: Vec::new() };
    let devices = work.device.choice()?.each()?;
    let stop = interrupt::ends_kernels()?;
    for (index, device) in devices.iter().enumerate() {
        let gpu = Gpu::open_untimed(device, catalogue.images, checks)?;
        let digests = arguments.digests.as_deref();
        let digests = digests.map(|path| numbered(path, (devices.len() > 1).then_some(index)));
        let (of_device, is_good) = run_on(&gpu, arguments, digests.as_deref(), &points, &stop)?;
        report.devices.push(of_device);
        if !is_good {
            code = ExitCode::FAILURE;
        }
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    }
    if let Some(path) = &arguments.sarif {
        let mut findings = sarif("verify", "")?;
        findings.add_verification(&report);
        if stop.load(Ordering::Relaxed) {
            findings.set_interrupted();
        }
        findings.save(path)?;
    }
    if stop.load(Ordering::Relaxed) {
        code = ExitCode::from(INTERRUPTED);
    }
    Ok(code)
}

/// Verifies on one device: what came of it, and whether all is well.
fn run_on(
    gpu: &Gpu,
    arguments: &Arguments,
    digests_path: Option<&Path>,
    points: &[Point],
    stop: &AtomicBool,
) -> Result<(VerifiedDevice, bool)> {
    let work = &arguments.work;
    // With --json, standard output holds JSON alone.
    let say = |text: String| {
        if !arguments.json {
            println!("{}", in_lines(text));
        }
    };
    say(format!("device: {}", gpu.origin()));
    say(format!("verifying on {}, seed {}", gpu.facts()?.name, work.seed));
    if arguments.check && gpu.virtual_device().is_none() {
        let message = "--check works on the virtual device only: add --device virtual, or use compute-sanitizer";
        return Err(WrongArgument(message.to_owned()).into());
    }
    let bar = Progress::new(points.iter().map(|point| point.variants.len()).sum());
    let (mut correct, mut wrong, mut findings) = (0, 0, 0);
    let mut not_run: BTreeMap<String, usize> = BTreeMap::new();
    let mut digests = Digests::new();
    let (mut launches, mut misuses) = (Vec::new(), Vec::new());
    let mut sources = Sources::below(&[]);
    let mut ran = BTreeMap::new();
    let on_done = |done: VerifiedPoint| {
        let Point { pattern, size, .. } = done.point;
        let mut of_pattern = pattern.source_file();
        for Verified { variant, outcome, digests: written, hazards, file, instructions } in
            done.variants
        {
            file.clone_into(&mut of_pattern);
            ran.extend(instructions);
            bar.row(&format!("{}/{}", pattern.name, variant.name));
            let name = verify::launch_name(pattern, variant, &size);
            let line = |text: String| bar.suspend(|| say(format!("{name}: {text}")));
            let (outcome, reason) = match outcome {
                VerifyOutcome::Correct => {
                    correct += 1;
                    digests.insert(name.clone(), written);
                    (LaunchOutcome::Correct, None)
                }
                VerifyOutcome::NotRun(reason) => {
                    if arguments.verbose {
                        line(format!("not run: {reason}"));
                    }
                    *not_run.entry(reason.clone()).or_default() += 1;
                    (LaunchOutcome::NotRun, Some(reason))
                }
                VerifyOutcome::Wrong(fault) => {
                    wrong += 1;
                    let fault = fault.to_string();
                    line(format!("{}: {fault}", alarm("WRONG")));
                    (LaunchOutcome::Wrong, Some(fault))
                }
            };
            for hazard in &hazards {
                findings += 1;
                line(format!("{}: {hazard}", alarm("HAZARD")));
            }
            let hazards = hazards.iter().map(|hazard| profiled(hazard, &mut sources)).collect();
            launches.push(VerifiedLaunch { launch: name, file, outcome, reason, hazards });
            bar.step();
        }
        for found in done.misuses {
            findings += 1;
            bar.suspend(|| say(format!("{}: {}: {found}", pattern.name, alarm("MISUSE"))));
            let (pattern, file) = (pattern.name.to_owned(), of_pattern.clone());
            misuses.push(VerifiedMisuse { pattern, file, mistake: mistake(found) });
        }
    };
    let options = VerifyOptions {
        digests: digests_path.is_some(),
        jobs: work.jobs(),
        limit: arguments.limit,
        ..VerifyOptions::new(work.seed, stop)
    };
    verify_points(gpu, points.iter().cloned(), &options, on_done)?;
    drop(bar);
    if let Some(path) = digests_path {
        write_json(path, &digests)?;
        say(format!("digests of {} launches written to {}", digests.len(), path.display()));
    }
    let not_run_count: usize = not_run.values().sum();
    let hazards = arguments.check.then_some(findings);
    let is_verbose = arguments.verbose;
    let fidelity = gpu.virtual_device().map(|_| Fidelity {
        instructions: ran.len(),
        timing_dependent: ran.values().filter(|(_, depends)| *depends).count(),
        approximate: ran.into_values().filter_map(|(opcode, _)| opcode).collect(),
        ..Fidelity::default()
    });
    let ended =
        Verification { correct, wrong, not_run, hazards, fidelity: fidelity.clone(), is_verbose };
    let shown = screen().unwrap_or(Screen::PIPE);
    say(first_screen::verify(&ended, &shown).trim_end().to_owned());
    let report = VerifiedDevice {
        device: gpu.facts()?.name,
        seed: work.seed,
        launches,
        misuses,
        correct,
        wrong,
        not_run: not_run_count,
        hazards,
        fidelity,
    };
    Ok((report, wrong + findings == 0 && correct > 0))
}
