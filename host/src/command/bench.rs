//! `coalesce bench`: the ladders and sweeps, measured.

use super::{Work, progress, table};
use anyhow::Result;
use coalesce::gpu::{Checks, Gpu};
use coalesce::measure::{Plan, resize, run as measure};
use coalesce::results::{Outcome, Results, Row};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure variants on the GPU, checked before and after.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  coalesce bench\n  coalesce bench transpose --json transpose.json\n  coalesce bench coalescing --size n=2^26 --no-sweeps"
)]
pub struct Arguments {
    #[command(flatten)]
    work: Work,
    /// Measure the ladders only, not the sweeps over offsets, strides and the like.
    #[arg(long)]
    no_sweeps: bool,
    /// Time peers, too, with this program: `peers/peers.cu`, built by nvcc.
    #[arg(long, value_name = "PROGRAM")]
    peers: Option<PathBuf>,
    /// Write everything that was measured to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let work = &arguments.work;
    let mut plan = Plan::new(work.selections()?);
    plan.size = work.size.clone();
    plan.sweeps = !arguments.no_sweeps;
    plan.seed = work.seed;
    for selection in &plan.selections {
        resize(selection.pattern, selection.pattern.bench_size, &plan.size)
            .map_err(|error| super::WrongArgument(error.to_string()))?;
    }
    if let Some(path) = &arguments.json {
        writable(path)?;
    }
    let gpu = Gpu::open(&work.device, Checks::none())?;
    println!("device: {}", gpu.origin());
    let bar = progress(plan.len(&gpu)?);
    if arguments.peers.is_some() && gpu.is_virtual() {
        return Err(super::WrongArgument(
            "--peers needs a GPU: leave it out, or add --device gpu".to_owned(),
        )
        .into());
    }
    let results = measure(&gpu, &plan, |row| {
        bar.set_message(format!("{}/{}", row.pattern, row.variant));
        bar.inc(1);
        if bar.is_hidden() && row.sweep.is_none() {
            eprintln!("{}", cells(&row.pattern, row).join("  "));
        }
    })?;
    bar.finish_and_clear();
    print(&results);
    if let Some(path) = &arguments.json {
        results.save(path)?;
        println!("\nwritten to {}", path.display());
    }
    let wrong = results.rows.iter().any(|row| matches!(row.outcome, Outcome::Wrong { .. }));
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Fails now rather than after minutes of measuring.
fn writable(path: &std::path::Path) -> Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(std::path::Path::new("."));
    tempfile::NamedTempFile::new_in(folder).map_err(|error| {
        super::WrongArgument(format!("cannot write {}: {error}", path.display()))
    })?;
    Ok(())
}

fn print(results: &Results) {
    let environment = &results.environment;
    println!(
        "{} (compute capability {}.{}), CUDA {}, kernels {} {}, seed {}",
        environment.device.name,
        environment.device.capability / 10,
        environment.device.capability % 10,
        environment.device.driver_version,
        environment.ptx_target,
        environment.ptx_hash,
        environment.seed
    );
    if environment.is_prediction {
        println!(
            "PREDICTIONS of a model, from smaller sizes that were executed; nothing was measured"
        );
    }
    let mut ladder =
        table(["pattern", "variant", "size", "median", "noise", "GB/s", "of copy", "speed-up"]);
    let mut previous = "";
    for row in results.rows.iter().filter(|row| row.sweep.is_none()) {
        let name = if row.pattern == previous { "" } else { &row.pattern };
        previous = &row.pattern;
        ladder.add_row(cells(name, row));
    }
    println!("{ladder}");
    let swept = results.rows.iter().filter(|row| row.sweep.is_some()).count();
    if swept > 0 {
        println!("and {swept} rows of sweeps (in --json)");
    }
    for row in &results.rows {
        if let Outcome::Wrong { reason } = &row.outcome {
            println!("WRONG {}/{} at {}: {reason}", row.pattern, row.variant, size(row));
        }
    }
}

fn size(row: &Row) -> String {
    row.size.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn cells(name: &str, row: &Row) -> [String; 8] {
    let (head, size) = ([name.to_owned(), row.variant.clone()], size(row));
    let [pattern, variant] = head;
    match &row.outcome {
        Outcome::Measured(coalesce::results::Measured {
            time_ms,
            bandwidth_gb_s,
            floor,
            speed_up,
            ..
        }) => [
            pattern,
            variant,
            size,
            format!("{:.4} ms", time_ms.median),
            format!("{:.1} %", time_ms.noise_percent()),
            format!("{bandwidth_gb_s:.0}"),
            floor.map_or_else(String::new, |floor| format!("{:.1} %", floor.percent)),
            format!("{speed_up:.2} x"),
        ],
        Outcome::NotRun { reason } => [
            pattern,
            variant,
            size,
            "not run".to_owned(),
            reason.clone(),
            String::new(),
            String::new(),
            String::new(),
        ],
        Outcome::Wrong { .. } => [
            pattern,
            variant,
            size,
            "WRONG".to_owned(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
        ],
    }
}
