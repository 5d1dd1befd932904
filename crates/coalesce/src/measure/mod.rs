//! Measures variants: correct before and after, by events, against the measured peaks of the same run.
//!
//! The kernels of a point are measured in turn, in a new random order each time, so that what drifts (clocks,
//! temperature) drifts for all of them alike. The host's work is prepared anew several times, for the same reason.
//!
//! ```
//! use coalesce::measure::{Plan, run};
//! use std::sync::atomic::AtomicBool;
//!
//! fn save(gpu: &cuda_host::Gpu, catalogue: &coalesce::Catalogue, plan: &Plan) -> anyhow::Result<()> {
//!     let results = run(gpu, catalogue, plan, &AtomicBool::new(false), |_| ())?;
//!     Ok(results.save("measured.json".as_ref())?)
//! }
//! ```

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
pub(crate) use sampler::{Caches, Sampler, Step};

use crate::catalogue::Catalogue;
use crate::instruments::Instruments;
use crate::pattern::{Pattern, Unavailable};
use crate::side_by_side::{self, Job, SharedCase};
use crate::verify::{self, PreparedVariant};
use crate::wrong_argument::WrongArgument;
use crate::{count, environment};
use anyhow::Result;
use cuda_host::{DeviceFacts, Gpu};
use point::{Bench, Outcome};
use results::{Accuracy, Board, CountedVariant, Environment, Results, Row, RowOutcome, SCHEMA};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use theoretical::TheoreticalPeaks;

/// The pause between two reports of new rows, in units of the time that a report takes.
const QUIET: u32 = 20;

/// Runs a plan. `on_point` sees now and then what there is, a result of its own; when `stop` becomes true, what is
/// finished is returned.
///
/// # Errors
/// The driver's while the measured peaks are measured. What fails later is a row.
pub fn run(
    gpu: &Gpu,
    catalogue: &Catalogue,
    plan: &Plan,
    stop: &AtomicBool,
    on_point: impl FnMut(&Results),
) -> Result<Results> {
    let plan = &Plan { predicts: gpu.virtual_device().is_some(), ..plan.clone() };
    Session::open(gpu, catalogue, plan)?.run(stop, None, on_point)
}

/// Runs what an earlier run of the same plan did not come to, as [`run`] does: the result is that of one run.
///
/// # Errors
/// An argument error when the earlier run was of another board, of other kernels or of other inputs; and as for [`run`].
pub fn resume(
    gpu: &Gpu,
    catalogue: &Catalogue,
    plan: &Plan,
    stop: &AtomicBool,
    earlier: Results,
    on_point: impl FnMut(&Results),
) -> Result<Results> {
    let plan = &Plan { predicts: gpu.virtual_device().is_some(), ..plan.clone() };
    let session = Session::open(gpu, catalogue, plan)?;
    if let Some(other) = unlike(&session.environment, &earlier.environment) {
        return Err(WrongArgument(format!(
            "this run cannot go on with the earlier one, which has another {other}: leave --resume out"
        ))
        .into());
    }
    let (rows, known) = (earlier.rows.len(), session.known_rows(&earlier)?);
    if known < rows {
        return Err(WrongArgument(format!(
            "{} of the {rows} rows of the earlier run are of no variant and size of this one, and would be lost: give \
             the arguments that it had",
            rows - known
        ))
        .into());
    }
    session.run(stop, Some(earlier), on_point)
}

/// The first thing that two runs must share to be one, if they do not.
fn unlike(here: &Environment, earlier: &Environment) -> Option<&'static str> {
    let id = |of: &Environment| of.board.as_ref().and_then(|board| board.id.clone());
    let shared = [
        ("device", here.device == earlier.device && here.is_prediction == earlier.is_prediction),
        ("board", id(here) == id(earlier)),
        ("commit", here.commit == earlier.commit),
        ("PTX", (&here.ptx_target, &here.ptx_hash) == (&earlier.ptx_target, &earlier.ptx_hash)),
        ("seed", here.seed == earlier.seed),
    ];
    shared.into_iter().find(|(_, is_shared)| !is_shared).map(|(name, _)| name)
}

/// A device, what is to be measured on it, and since when.
struct Session<'a> {
    gpu: &'a Gpu,
    catalogue: &'a Catalogue,
    plan: &'a Plan,
    begin: Instant,
    environment: Environment,
}

impl<'a> Session<'a> {
    fn open(gpu: &'a Gpu, catalogue: &'a Catalogue, plan: &'a Plan) -> Result<Session<'a>> {
        let begin = Instant::now();
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        gpu.restore_l2()?;
        let image = gpu.image();
        let environment = Environment {
            is_prediction: plan.predicts,
            device: device_facts(&gpu.facts()?),
            board: board(gpu),
            host: environment::host(),
            commit: image.commit.to_owned(),
            compiler: image.compiler.to_owned(),
            ptx_target: image.target(),
            ptx_hash: image.hash(),
            seed: plan.seed,
            started_unix_s: started.map_or(0, |time| time.as_secs()),
            duration_s: 0.0,
        };
        Ok(Session { gpu, catalogue, plan, begin, environment })
    }

    /// Returns how many rows of an earlier run are of this one.
    fn known_rows(&self, earlier: &Results) -> Result<usize> {
        let known = |part: Part| point::known(part.pattern, &part.point, earlier);
        Ok(parts(self.plan)?.into_iter().filter_map(known).map(|(rows, _)| rows.len()).sum())
    }

    fn run(
        self,
        stop: &AtomicBool,
        earlier: Option<Results>,
        mut on_point: impl FnMut(&Results),
    ) -> Result<Results> {
        let Session { gpu, catalogue, plan, begin, environment } = self;
        let instruments = Instruments::load(gpu)?;
        let sampler = Sampler::new(&instruments)?;
        let resources = plan.resources()?;
        // Rows are compared with the peaks of their own run, so those of the earlier part hold for all.
        let of_earlier = earlier
            .as_ref()
            .filter(|earlier| resources.iter().all(|resource| earlier.peak(*resource).is_some()));
        let measured_peaks = match of_earlier {
            Some(earlier) => earlier.measured_peaks.clone(),
            None if gpu.twin().is_some() => measured_peaks::predict(gpu, plan, &resources)?,
            None => measured_peaks::measure(&instruments, &sampler, &plan.stop, &resources)?,
        };
        let peaks = TheoreticalPeaks::of(&gpu.facts()?, environment.board.as_ref());
        let tree = ptx::parse(gpu.image().text())?;
        let (measured, peaks, tree) = (&measured_peaks[..], &peaks, &tree);
        let before = earlier.as_ref().map_or(0.0, |earlier| earlier.environment.duration_s);
        let mut results = Results {
            schema: SCHEMA,
            environment: earlier
                .as_ref()
                .map_or(environment, |earlier| earlier.environment.clone()),
            interrupted: true,
            measured_peaks: measured_peaks.clone(),
            rows: Vec::new(),
            counts: plan.predicts.then(|| count::of_catalogue(catalogue, Vec::new())),
        };
        let points = parts(plan)?;
        // What the earlier run has stays among the results from the first point on, wherever it ended.
        let known = |one: &Part| point::known(one.pattern, &one.point, earlier.as_ref()?);
        let mut done: Vec<Option<Outcome>> = points.iter().map(known).collect();
        collect(&points, &done, &mut results);
        let waiting: Vec<usize> = (0..points.len()).filter(|at| done[*at].is_none()).collect();
        let mut quiet_until = begin;
        let mut on_done = |(place, outcome): (usize, Outcome)| {
            done[place] = Some(outcome);
            let now = Instant::now();
            if now >= quiet_until {
                collect(&points, &done, &mut results);
                results.environment.duration_s = before + begin.elapsed().as_secs_f64();
                on_point(&results);
                quiet_until = Instant::now() + QUIET * now.elapsed();
            }
            Ok(())
        };
        if gpu.twin().is_some() {
            let mut shared = (0, SharedCase::default());
            let jobs = waiting.iter().map(|at| {
                let Part { pattern, point, of_point } = &points[*at];
                if *of_point != shared.0 {
                    shared = (*of_point, SharedCase::default());
                }
                Job::on_arrays(pattern, &point.executed, (*at, shared.1.clone()))
            });
            let predict = |gpu: &Gpu, (at, case): (usize, SharedCase)| {
                let Part { pattern, point, .. } = &points[at];
                let instruments = Instruments::load(gpu)?;
                let sampler = Sampler::new(&instruments)?;
                let bench = Bench { gpu, plan, peaks, measured_peaks: measured, sampler, tree };
                Ok((at, bench.point(pattern, point, &case)))
            };
            let jobs = jobs.collect();
            side_by_side::on(gpu, plan.jobs, jobs, stop, predict, &mut on_done)?;
        } else {
            let bench = Bench { gpu, plan, peaks, measured_peaks: measured, sampler, tree };
            for at in waiting {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let Part { pattern, point, .. } = &points[at];
                on_done((at, bench.point(pattern, point, &SharedCase::default())))?;
            }
        }
        collect(&points, &done, &mut results);
        let is_stopped = done.iter().any(Option::is_none);
        if plan.predicts {
            label(&mut results.rows, catalogue, results.environment.device.model())?;
        }
        if let (Some(before), Some(after)) = (&mut results.environment.board, board(gpu)) {
            let new = after.throttle_reasons.into_iter();
            before.throttle_reasons.extend(new);
            before.throttle_reasons.sort();
            before.throttle_reasons.dedup();
        }
        results.environment.duration_s = before + begin.elapsed().as_secs_f64();
        results.interrupted = is_stopped;
        Ok(results)
    }
}

/// A piece of work: on a GPU all variants of a point, which are measured in turn; else one variant.
struct Part {
    pattern: &'static Pattern,
    point: Point,
    /// The number of the point that it is a part of.
    of_point: usize,
}

/// The parts of a plan, in its order.
fn parts(plan: &Plan) -> Result<Vec<Part>> {
    let (mut parts, mut of_point) = (Vec::new(), 0);
    for selection in &plan.selections {
        for point in plan.points(selection)? {
            of_point += 1;
            let together = if plan.predicts { 1 } else { point.variants.len() };
            parts.extend(point.variants.chunks(together).map(|variants| Part {
                pattern: selection.pattern,
                point: Point { variants: variants.to_vec(), ..point.clone() },
                of_point,
            }));
        }
    }
    Ok(parts)
}

/// Makes what is done, in the order of the plan, the rows and the counts of the results.
fn collect(parts: &[Part], done: &[Option<Outcome>], results: &mut Results) {
    results.rows.clear();
    let mut counted: Vec<(&Part, Vec<CountedVariant>)> = Vec::new();
    let (mut of_point, mut naive_ms) = (0, None);
    for (part, outcome) in parts.iter().zip(done) {
        if part.of_point != of_point {
            (of_point, naive_ms) = (part.of_point, None);
        }
        let Some((rows, variants)) = outcome else { continue };
        for row in rows {
            let mut row = row.clone();
            if let RowOutcome::Measured(of) = &mut row.outcome {
                of.speed_up = *naive_ms.get_or_insert(of.time_ms.median) / of.time_ms.median;
            }
            results.rows.push(row);
        }
        match counted.last_mut() {
            Some((last, all)) if std::ptr::eq(last.pattern, part.pattern) => {
                all.extend(variants.iter().cloned());
            }
            _ if part.point.sweep.is_some() => {}
            _ => counted.push((part, variants.clone())),
        }
    }
    if let Some(counts) = &mut results.counts {
        let of_pattern = |(part, variants): (&Part, _)| {
            count::of_pattern(part.pattern, &part.point.executed, variants)
        };
        counts.patterns = counted.into_iter().map(of_pattern).collect();
    }
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

/// Returns what a result file says of a device.
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
