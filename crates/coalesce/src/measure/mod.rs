//! Measures variants: correct before and after, by events, against the measured peaks of the same run.
//!
//! The kernels of a point are measured in turn, in a new random order each time, so that what drifts (clocks,
//! temperature) drifts for all of them alike. The host's work is prepared anew several times, for the same reason.

mod axis;
mod measured_peaks;
mod plan;
mod point;
mod prediction;
mod sampler;
mod theoretical;

pub use axis::{Axes, Axis};
pub use plan::{Plan, Point, resize};
pub use prediction::predict;
pub use sampler::StopRule;

use crate::catalogue::Catalogue;
use crate::instruments::Instruments;
use crate::pattern::Unavailable;
use crate::verify::{self, PreparedVariant};
use crate::{count, environment};
use anyhow::Result;
use cuda_host::{DeviceFacts, Gpu};
use point::Bench;
use results::{Accuracy, Board, Environment, Results, Row, SCHEMA};
use sampler::Sampler;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use theoretical::TheoreticalPeaks;

/// Runs a plan. `on_row` sees each row as it is finished; when `stop` becomes true, what is finished is returned.
///
/// # Errors
/// The driver's while the measured peaks are measured. What fails later is a row.
pub fn run(
    gpu: &Gpu,
    catalogue: &Catalogue,
    plan: &Plan,
    stop: &AtomicBool,
    mut on_row: impl FnMut(&Row),
) -> Result<Results> {
    let begin = Instant::now();
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    gpu.restore_l2()?;
    let predicts = gpu.virtual_device().is_some();
    let plan = &Plan { predicts, ..plan.clone() };
    let instruments = Instruments::load(gpu)?;
    let sampler = Sampler::new(&instruments)?;
    let measured_peaks =
        measured_peaks::measure(&instruments, &sampler, &plan.stop, &plan.resources()?)?;
    let image = gpu.image();
    let device = gpu.facts()?;
    let mut environment = Environment {
        is_prediction: plan.predicts,
        device: device_facts(&device),
        board: board(gpu),
        host: environment::host(),
        commit: image.commit.to_owned(),
        compiler: image.compiler.to_owned(),
        ptx_target: image.target(),
        ptx_hash: image.hash(),
        seed: plan.seed,
        started_unix_s: started,
        duration_s: 0.0,
    };
    let peaks = TheoreticalPeaks::of(&device, environment.board.as_ref());
    let bench = Bench { gpu, plan, peaks, measured_peaks: &measured_peaks, sampler };
    let (mut rows, mut counted) = (Vec::new(), Vec::new());
    let mut interrupted = false;
    'all: for selection in &plan.selections {
        for point in plan.points(selection)? {
            if stop.load(Ordering::Relaxed) {
                interrupted = true;
                break 'all;
            }
            let (measured, counts) = bench.point(selection.pattern, &point);
            measured.iter().for_each(&mut on_row);
            rows.extend(measured);
            counted.extend(counts);
        }
    }
    drop(bench);
    if predicts {
        label(&mut rows, catalogue, environment.device.model())?;
    }
    if let (Some(before), Some(after)) = (&mut environment.board, board(gpu)) {
        let new = after.throttle_reasons.into_iter();
        before.throttle_reasons.extend(new);
        before.throttle_reasons.sort();
        before.throttle_reasons.dedup();
    }
    environment.duration_s = begin.elapsed().as_secs_f64();
    let counts = plan.predicts.then(|| count::of_catalogue(catalogue, counted));
    Ok(Results { schema: SCHEMA, environment, interrupted, measured_peaks, rows, counts })
}

/// Gives each prediction of a ladder's row, at the size that was compared, what it is known to be off by.
fn label(rows: &mut [Row], catalogue: &Catalogue, device: &str) -> Result<()> {
    if catalogue.accuracy.is_empty() {
        return Ok(());
    }
    let known = Accuracy::parse(catalogue.accuracy)?;
    if device != known.device {
        return Ok(());
    }
    for row in rows.iter_mut().filter(|row| row.sweep.is_none() && !row.peer) {
        let Some(pattern) = catalogue.pattern(&row.pattern) else { continue };
        let compared = pattern.dimensions.iter().zip(pattern.bench_size);
        let mut compared = compared.map(|(of, value)| (of.name, of.number(*value)));
        if compared.all(|(name, value)| row.size.get(name) == Some(&value)) {
            row.known_ratio = known.ratios.get(&row.name()).copied();
        }
    }
    Ok(())
}

/// Runs each variant of a plan's ladders once, unchecked and untimed: what a profiler wants to see.
///
/// # Errors
/// The driver's.
pub fn profile(gpu: &Gpu, plan: &Plan, mut on_run: impl FnMut(String)) -> Result<()> {
    let predicts = gpu.virtual_device().is_some();
    let plan = &Plan { predicts, ..plan.clone() };
    for selection in &plan.selections {
        let points = plan.points(selection)?;
        let pattern = selection.pattern;
        for Point { size, executed, variants, .. } in points.iter().filter(|p| p.sweep.is_none()) {
            let case = verify::case(pattern, executed, plan.seed);
            let arrays = pattern.arrays(gpu, &case)?;
            for variant in variants {
                if verify::unsupported_reason(gpu, variant, size).is_some() {
                    continue;
                }
                let mut ready = match PreparedVariant::new(gpu, &case, &arrays, variant, executed) {
                    Err(error) if error.is::<Unavailable>() => continue,
                    ready => ready?,
                };
                ready.run()?;
                ready.finish()?;
                on_run(verify::launch_name(pattern, variant, executed));
            }
        }
    }
    Ok(())
}

fn board(gpu: &Gpu) -> Option<Board> {
    if gpu.virtual_device().is_some() {
        return None;
    }
    environment::board(&gpu.pci_address().ok()?)
}

/// What a result file says of a device.
fn device_facts(facts: &DeviceFacts) -> results::DeviceFacts {
    let facts = results::DeviceFacts {
        name: facts.name.clone(),
        capability: facts.capability,
        driver_version: facts.driver_version.clone(),
        multiprocessors: facts.multiprocessors,
        clock_khz: facts.clock_khz,
        memory_clock_khz: facts.memory_clock_khz,
        memory_bus_bits: facts.memory_bus_bits,
        l2_bytes: facts.l2_bytes,
        memory_bytes: facts.memory_bytes,
        ecc: facts.ecc,
        theoretical_bandwidth_gb_s: None,
    };
    results::DeviceFacts {
        theoretical_bandwidth_gb_s: Some(facts.theoretical_bandwidth()),
        ..facts
    }
}
