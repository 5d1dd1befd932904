//! Measures variants: correct before and after, cold, by events, against a copy of the same run.

use crate::gpu::{Arrays, CopyPair, Flush, Gpu, Larger, Stopwatch};
use crate::pattern::{Pattern, Size, Variant, Work};
use crate::patterns::Selection;
use crate::results::{Ceiling, Environment, Outcome, Results, Row, SCHEMA, Spread};
use crate::verify;
use crate::verify::{Outcome as Verdict, Ready};
use anyhow::{Result, bail};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What to measure, and how long to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The patterns and variants.
    pub selections: Vec<Selection>,
    /// Sizes that replace the patterns' own, by dimension name.
    pub size: Vec<(String, usize)>,
    /// Whether to measure the sweeps as well as the ladders.
    pub sweeps: bool,
    /// The seed of the inputs.
    pub seed: u64,
    /// The fewest samples of a row.
    pub min_samples: usize,
    /// A row stops when its noise is below this, in percent of its median.
    pub noise_percent: f64,
    /// A row of a ladder stops at the latest after this time, a row of a sweep after a quarter of it.
    pub time_limit: Duration,
}

impl Plan {
    /// The defaults: everything, seed 1.
    pub fn new(selections: Vec<Selection>) -> Plan {
        Plan {
            selections,
            size: Vec::new(),
            sweeps: true,
            seed: 1,
            min_samples: 15,
            noise_percent: 0.5,
            time_limit: Duration::from_millis(400),
        }
    }

    /// The sizes of a selection: the ladder's, then those of its sweeps with the variants they take.
    fn points(&self, selection: &Selection, is_virtual: bool) -> Result<Vec<Point>> {
        let pattern = selection.pattern;
        let ladder = resize(pattern, pattern.bench_size, &self.size)?;
        let mut executed = resize(pattern, pattern.count_size, &self.size)?;
        // Smaller in the extents, the same in what is no extent: an offset, a stride, a distribution.
        for (dimension, value) in ladder.values().iter().enumerate() {
            executed = executed.with(dimension, executed.values()[dimension].min(*value));
        }
        // The host's work takes its own time at every size, on the virtual device, too.
        let shrinks = is_virtual && !pattern.is_host_work();
        let executed = if shrinks { executed } else { ladder.clone() };
        let selected: Vec<&'static Variant> = selection.variants().collect();
        let mut points = vec![Point {
            size: ladder.clone(),
            executed: executed.clone(),
            variants: selected.clone(),
            sweep: false,
        }];
        for sweep in pattern.sweeps.iter().filter(|_| self.sweeps) {
            let chosen = |variant: &&Variant| {
                sweep.variants.iter().any(|index| pattern.variants[*index].name == variant.name)
            };
            let variants: Vec<_> =
                selected.iter().copied().filter(|variant| chosen(variant)).collect();
            points.extend(sweep.values.iter().map(|value| Point {
                size: ladder.with(sweep.dimension, *value),
                executed: executed.with(sweep.dimension, *value),
                variants: variants.clone(),
                sweep: true,
            }));
        }
        Ok(points)
    }

    /// How many rows a run of this plan has.
    pub fn len(&self, gpu: &Gpu) -> Result<usize> {
        let points =
            self.selections.iter().map(|selection| self.points(selection, gpu.is_virtual()));
        points
            .map(|points| Ok(points?.iter().map(|point| point.variants.len()).sum::<usize>()))
            .sum()
    }
}

/// One size and the variants measured at it, on the same arrays.
struct Point {
    size: Size,
    /// The size that runs: a smaller one on the virtual device, which predicts the other from it.
    executed: Size,
    variants: Vec<&'static Variant>,
    sweep: bool,
}

/// A size of a pattern with some numbers replaced.
///
/// # Errors
/// When a number is too small for its dimension, or none of the patterns has it.
pub fn resize(pattern: &Pattern, base: &[usize], replaced: &[(String, usize)]) -> Result<Size> {
    let mut size = Size::new(base);
    for (name, value) in replaced {
        let Some(index) = pattern.dimensions.iter().position(|dimension| dimension.name == name)
        else {
            let names: Vec<_> = pattern.dimensions.iter().map(|dimension| dimension.name).collect();
            bail!(
                "`{}` has no dimension `{name}`: its size is given by {}",
                pattern.name,
                names.join(", ")
            );
        };
        let least = pattern.dimensions[index].least;
        if *value < least {
            bail!("{name} = {value} is too small for `{}`: the least is {least}", pattern.name);
        }
        size = size.with(index, *value);
    }
    // Kernels index with 32 bits; the largest index any of them forms is below this product.
    let elements = size.values().iter().map(|value| (*value).max(1) as u128).product::<u128>();
    if elements > 1 << 31 {
        bail!(
            "{} is too large for `{}`: its kernels index at most 2^31 elements",
            pattern.show_size(&size),
            pattern.name
        );
    }
    Ok(size)
}

/// Runs a plan. `on_row` sees each row as it is finished.
///
/// # Errors
/// The driver's and out-of-memory; a wrong result is a row.
pub fn run(gpu: &Gpu, plan: &Plan, mut on_row: impl FnMut(&Row)) -> Result<Results> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let bench = Bench {
        gpu,
        plan,
        stopwatch: Stopwatch::new()?,
        flush: if gpu.is_virtual() { None } else { Some(Flush::new(gpu)?) },
    };
    let device_copy = bench.device_copy()?;
    let mut rows = Vec::new();
    for selection in &plan.selections {
        for point in plan.points(selection, gpu.is_virtual())? {
            bench.point(selection.pattern, &point, device_copy.bandwidth_gb_s(), &mut |row| {
                on_row(&row);
                rows.push(row);
            })?;
        }
    }
    let environment = Environment {
        is_prediction: gpu.is_virtual(),
        device: gpu.facts()?,
        board: if gpu.is_virtual() { None } else { crate::environment::board(&gpu.pci_address()?) },
        host: crate::environment::host(),
        duration_s: 0.0,
        commit: crate::ptx::COMMIT.to_owned(),
        compiler: crate::ptx::COMPILER.to_owned(),
        ptx_target: format!("sm_{}", gpu.image().capability),
        ptx_hash: gpu.image().hash(),
        seed: plan.seed,
        started_unix_s: started,
    };
    Ok(Results {
        schema: SCHEMA,
        environment,
        interrupted: false,
        ceilings: vec![device_copy],
        rows,
    })
}

/// What a measurement asks of the work it times.
#[derive(Clone, Copy)]
enum Step {
    /// Not timed.
    Prepare,
    /// Timed.
    Run,
}

/// The tools of a run.
struct Bench<'a> {
    gpu: &'a Gpu,
    plan: &'a Plan,
    stopwatch: Stopwatch,
    /// `None` on the virtual device, whose model starts every kernel with cold caches.
    flush: Option<Flush>,
}

impl Bench<'_> {
    /// Measures every variant of a point on one set of arrays.
    fn point(
        &self,
        pattern: &Pattern,
        point: &Point,
        copy_gb_s: f64,
        emit: &mut dyn FnMut(Row),
    ) -> Result<()> {
        let bytes = (pattern.bytes)(&point.size);
        let work = bytes.ratio((pattern.bytes)(&point.executed));
        let case = verify::case(pattern, &point.executed, self.plan.seed);
        let mut arrays = Arrays::of(self.gpu, pattern, &case)?;
        let mut naive_ms = None;
        for variant in &point.variants {
            let outcome = match verify::obstacle(self.gpu, variant, &point.executed) {
                Some(reason) => Outcome::NotRun { reason },
                None => {
                    let limit = self.plan.time_limit / if point.sweep { 4 } else { 1 };
                    let size = &point.executed;
                    let mut ready = Ready::new(self.gpu, &case, &mut arrays, variant, size)?;
                    let blocks = ready.growth_of_blocks(&point.size)?;
                    self.gpu.take_kernels_as_larger(Larger { work, blocks });
                    match self.time(ready, variant.work, limit)? {
                        Err(reason) => Outcome::Wrong { reason },
                        Ok(time_ms) => {
                            let own = match variant.work {
                                Work::Host { bytes: Some(own), .. } => own(&point.size),
                                _ => bytes,
                            };
                            let bytes = own.total();
                            let bandwidth_gb_s = gb_s(bytes, time_ms.median);
                            let naive = *naive_ms.get_or_insert(time_ms.median);
                            Outcome::Measured(crate::results::Measured {
                                time_ms,
                                hot_ms: None,
                                graph_ms: None,
                                clock_mhz: None,
                                throttled: 0,
                                bytes,
                                bandwidth_gb_s,
                                floor: (pattern.floor)(variant, &point.size)
                                    .filter(|(limit, _)| *limit == crate::pattern::Limit::Copy)
                                    .map(|(limit, amount)| {
                                        let floor = amount as f64 / copy_gb_s / 1e6;
                                        crate::results::Floor {
                                            limit,
                                            amount,
                                            time_ms: floor,
                                            percent: 100.0 * floor / time_ms.median,
                                        }
                                    }),
                                speed_up: naive / time_ms.median,
                            })
                        }
                    }
                }
            };
            let names = pattern.dimensions.iter().map(|dimension| dimension.name.to_owned());
            emit(Row {
                pattern: pattern.name.to_owned(),
                variant: variant.name.to_owned(),
                size: names.zip(point.size.values().iter().copied()).collect(),
                sweep: point.sweep.then(|| String::from("x")),
                peer: false,
                resources: None,
                traffic: None,
                predicted_ms: None,
                outcome,
            });
        }
        Ok(())
    }

    /// Times a variant that is right before and after; the error says where it is wrong.
    fn time(
        &self,
        mut ready: Ready<'_>,
        work: Work,
        limit: Duration,
    ) -> Result<std::result::Result<Spread, String>> {
        ready.run()?;
        ready.finish()?;
        if let Verdict::Wrong(fault) = ready.check()? {
            return Ok(Err(fault.to_string()));
        }
        // What the host does is part of its work and must not hide behind the flush.
        let flush = if let Work::Kernel { .. } = work { self.flush.as_ref() } else { None };
        let time_ms = self.sample(limit, flush, |step| match step {
            Step::Prepare => ready.rewind(),
            Step::Run => ready.run(),
        })?;
        ready.finish()?;
        Ok(match ready.check()? {
            Verdict::Wrong(fault) => Err(format!("after timing, {fault}")),
            _ => Ok(time_ms),
        })
    }

    /// Times one run after another, each after its preparation and, with a `flush`, after the caches were
    /// filled with other data.
    ///
    /// While the flush runs, the launch and both events are enqueued behind it, so that the time
    /// between the events holds no host work.
    fn sample(
        &self,
        limit: Duration,
        flush: Option<&Flush>,
        mut work: impl FnMut(Step) -> Result<()>,
    ) -> Result<Spread> {
        const WARM_UP: usize = 2;
        let begin = Instant::now();
        let mut times = Vec::new();
        for round in 0.. {
            work(Step::Prepare)?;
            if let Some(flush) = flush {
                flush.enqueue(self.gpu)?;
            }
            self.stopwatch.start(self.gpu)?;
            work(Step::Run)?;
            self.stopwatch.stop(self.gpu)?;
            let time = self.stopwatch.elapsed_ms()?;
            if self.gpu.is_virtual() {
                // The model has no noise: one sample says it all.
                return Ok(Spread::of(&[time]));
            }
            if round >= WARM_UP {
                times.push(time);
            }
            if times.len() >= self.plan.min_samples {
                let quiet = Spread::of(&times).noise_percent() < self.plan.noise_percent;
                if quiet || begin.elapsed() > limit {
                    break;
                }
            }
        }
        Ok(Spread::of(&times))
    }

    /// The driver's copy of 1 GiB within the device, or of an eighth of what is free.
    fn device_copy(&self) -> Result<Ceiling> {
        let (free, _) = self.gpu.memory()?;
        let most = if self.gpu.is_virtual() { 1 << 26 } else { 1 << 30 };
        let bytes = (free / 8).min(most);
        let mut pair = CopyPair::new(bytes)?;
        let time_ms =
            self.sample(self.plan.time_limit, self.flush.as_ref(), |step| match step {
                Step::Prepare => Ok(()),
                Step::Run => Ok(pair.enqueue(self.gpu)?),
            })?;
        Ok(Ceiling { limit: crate::pattern::Limit::Copy, amount: pair.bytes(), time_ms })
    }
}

/// Bytes per millisecond as 10^9 bytes per second.
pub(crate) fn gb_s(bytes: usize, time_ms: f64) -> f64 {
    bytes as f64 / time_ms / 1e6
}
