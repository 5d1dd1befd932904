//! Measures variants: correct before and after, by events, against the ceilings of the same run.
//!
//! The kernels of a point are measured in turn, in a new random order each time, so that what drifts (clocks,
//! temperature) drifts for all of them alike. The host's work is prepared anew several times, for the same reason.

mod axis;
mod ceilings;
mod prediction;
mod sampler;

pub use axis::{Axes, Axis};
pub use prediction::predict;

use crate::data::Random;
use crate::gpu::{Arrays, DeviceFacts, Gpu, Larger};
use crate::pattern::{Limit, Pattern, Size, Unavailable, Variant, Work};
use crate::patterns::Selection;
use crate::results::{
    Board, Ceiling, Environment, Floor, Measured, Outcome, Resources, Results, Row, SCHEMA, Spread,
    Traffic,
};
use crate::timeline::{self, Timeline};
use crate::verify::{self, Outcome as Verdict, Ready};
use crate::{environment, peers};
use anyhow::{Result, bail};
use sampler::{Caches, Sampler, Series, Step, StopRule};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What to measure, and how long to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The patterns and variants.
    pub selections: Vec<Selection>,
    /// Values that replace the patterns' own: one value changes the ladder's size, several make a curve.
    pub axes: Vec<Axis>,
    /// Whether to measure the patterns' own sweeps as well as the ladders.
    pub sweeps: bool,
    /// Whether to measure the ladders with hot caches and as graphs, too.
    pub modes: bool,
    /// Only variants whose `pattern/variant` contains this are measured.
    pub filter: String,
    /// What is not ours and measured beside it, by the names of the patterns.
    pub peers: Vec<(String, &'static Variant)>,
    /// The seed of the inputs.
    pub seed: u64,
    /// When a row of a ladder has enough samples; a row of a curve has an eighth of the time.
    pub stop: StopRule,
    /// How often work of the host is prepared anew and measured: where its memory lies and what else the processor does
    /// differ each time, and a figure has to show it. A virtual device says the same each time.
    pub rounds: u32,
}

impl Plan {
    /// The defaults: everything, seed 1.
    pub fn new(selections: Vec<Selection>) -> Plan {
        Plan {
            selections,
            axes: Vec::new(),
            filter: String::new(),
            sweeps: true,
            modes: true,
            peers: Vec::new(),
            seed: 1,
            stop: StopRule {
                min_samples: 15,
                min_long_samples: 5,
                noise_percent: 0.5,
                time_limit: Duration::from_millis(400),
            },
            rounds: 3,
        }
    }

    /// The ladders with few samples, and nothing else.
    pub fn quick(self) -> Plan {
        let stop = StopRule {
            min_samples: 5,
            min_long_samples: 5,
            noise_percent: 2.0,
            time_limit: Duration::from_millis(50),
        };
        Plan { sweeps: false, modes: false, stop, ..self }
    }

    /// The sizes of a selection: the ladder's, then those of its curves with the variants they take.
    ///
    /// # Errors
    /// When an axis does not fit the pattern.
    pub fn points(&self, selection: &Selection, is_virtual: bool) -> Result<Vec<Point>> {
        let pattern = selection.pattern;
        let ladder = resize(pattern, pattern.bench_size, &self.axes)?;
        // On the virtual device extents are executed smaller; what is no extent (an offset, a stride, a distribution)
        // stays.
        let executed = |size: &Size| {
            let mut executed = size.clone();
            for (dimension, count) in pattern.count_size.iter().enumerate() {
                if is_virtual && pattern.bench_size[dimension] > *count {
                    executed = executed.with(dimension, size.values()[dimension].min(*count));
                }
            }
            executed
        };
        let mut selected: Vec<&'static Variant> = selection.variants().collect();
        if selection.variant.is_none() {
            selected.extend(peers::of(&self.peers, pattern));
        }
        selected
            .retain(|variant| format!("{}/{}", pattern.name, variant.name).contains(&self.filter));
        let point = |size: Size, variants: &[&'static Variant], sweep| Point {
            executed: executed(&size),
            size,
            variants: variants.to_vec(),
            sweep,
        };
        let mut points = vec![point(ladder.clone(), &selected, None)];
        let mut curve = |dimension: usize, values: &[usize], variants: &[&'static Variant]| {
            let name = Some(pattern.dimensions[dimension].name);
            points.extend(
                values.iter().map(|value| point(ladder.with(dimension, *value), variants, name)),
            );
        };
        let mut is_own = self.sweeps;
        for axis in &self.axes {
            let (dimension, values) = place(pattern, axis)?;
            if values.len() > 1 {
                is_own = false;
                curve(dimension, &values, &selected);
            }
        }
        for sweep in pattern.sweeps.iter().filter(|_| is_own) {
            // A twin goes where our variant goes, and what has none goes everywhere.
            let is_chosen = |variant: &Variant| {
                pattern.own(variant).is_none_or(|own| {
                    sweep.variants.iter().any(|index| pattern.variants[*index].name == own.name)
                })
            };
            let variants: Vec<_> =
                selected.iter().copied().filter(|variant| is_chosen(variant)).collect();
            curve(sweep.dimension, sweep.values, &variants);
        }
        points.retain(|point| !point.variants.is_empty());
        Ok(points)
    }

    /// The ceilings that a run of this plan is held against: on a GPU all there are.
    fn limits(&self, is_virtual: bool) -> Result<Vec<Limit>> {
        if !is_virtual {
            return Ok(Limit::ALL.into());
        }
        let mut limits = Vec::new();
        for selection in &self.selections {
            let floor = selection.pattern.floor;
            for point in self.points(selection, is_virtual)? {
                limits.extend(point.variants.iter().filter_map(|v| Some(floor(v, &point.size)?.0)));
            }
        }
        limits.sort();
        limits.dedup();
        Ok(limits)
    }

    /// How many rows a run of this plan has.
    ///
    /// # Errors
    /// When an axis does not fit a pattern.
    pub fn len(&self, is_virtual: bool) -> Result<usize> {
        let points = self.selections.iter().map(|selection| self.points(selection, is_virtual));
        points
            .map(|points| Ok(points?.iter().map(|point| point.variants.len()).sum::<usize>()))
            .sum()
    }
}

/// One size and the variants measured at it, on the same arrays.
pub struct Point {
    /// The size.
    pub size: Size,
    /// The size that runs: a smaller one on the virtual device, which predicts the other from it.
    executed: Size,
    /// The variants, peers last.
    pub variants: Vec<&'static Variant>,
    /// The dimension that varies, if the point belongs to a curve.
    pub sweep: Option<&'static str>,
}

/// The dimension that an axis means, and its values there.
fn place(pattern: &Pattern, axis: &Axis) -> Result<(usize, Vec<usize>)> {
    let index = match &axis.name {
        None => 0,
        Some(name) => {
            let found = pattern.dimensions.iter().position(|dimension| dimension.name == name);
            let Some(index) = found else {
                let names: Vec<_> =
                    pattern.dimensions.iter().map(|dimension| dimension.name).collect();
                bail!(
                    "`{}` has no dimension `{name}`: its size is given by {}",
                    pattern.name,
                    names.join(", ")
                );
            };
            index
        }
    };
    let values = axis.of(&pattern.dimensions[index]);
    let values = values.map_err(|error| anyhow::anyhow!("`{}`: {error}", pattern.name))?;
    for value in &values {
        let is_extent = pattern.bench_size[index] > pattern.count_size[index] || values.len() == 1;
        if is_extent {
            check_indices(pattern, &Size::new(pattern.bench_size).with(index, *value))?;
        }
    }
    Ok((index, values))
}

/// Kernels index with 32 bits; the largest index that any of them forms is below the product of a size's extents.
fn check_indices(pattern: &Pattern, size: &Size) -> Result<()> {
    let extents = pattern.dimensions.iter().zip(size.values()).filter(|(of, _)| of.is_extent());
    let elements = extents.map(|(_, value)| (*value).max(1) as u128).product::<u128>();
    if elements > 1 << 31 {
        bail!(
            "{} is too large for `{}`: its kernels index at most 2^31 elements",
            pattern.show_size(size),
            pattern.name
        );
    }
    Ok(())
}

/// A size of a pattern with the axes of one value in place.
///
/// # Errors
/// When a value does not fit its dimension, or the pattern does not have it.
pub fn resize(pattern: &Pattern, base: &[usize], axes: &[Axis]) -> Result<Size> {
    let mut size = Size::new(base);
    for axis in axes {
        let (dimension, values) = place(pattern, axis)?;
        if let [value] = values[..] {
            size = size.with(dimension, value);
        }
    }
    check_indices(pattern, &size)?;
    Ok(size)
}

/// Runs a plan. `on_row` sees each row as it is finished; when `stop` becomes true, what is finished is returned.
///
/// # Errors
/// The driver's while the ceilings are measured. What fails later is a row.
pub fn run(
    gpu: &Gpu,
    plan: &Plan,
    stop: &AtomicBool,
    mut on_row: impl FnMut(&Row),
) -> Result<Results> {
    let begin = Instant::now();
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    gpu.restore_l2()?;
    let sampler = Sampler::new(gpu)?;
    let ceilings = ceilings::measure(gpu, &sampler, &plan.stop, &plan.limits(gpu.is_virtual())?)?;
    let mut environment = Environment {
        is_prediction: gpu.is_virtual(),
        device: gpu.facts()?,
        board: board(gpu),
        host: environment::host(),
        commit: crate::ptx::COMMIT.to_owned(),
        compiler: crate::ptx::COMPILER.to_owned(),
        ptx_target: format!("sm_{}", gpu.image().capability),
        ptx_hash: gpu.image().hash(),
        seed: plan.seed,
        started_unix_s: started,
        duration_s: 0.0,
    };
    let bench = Bench {
        gpu,
        plan,
        roofs: Roofs::of(&environment.device, environment.board.as_ref()),
        ceilings: &ceilings,
        sampler,
    };
    let mut rows = Vec::new();
    let mut interrupted = false;
    'all: for selection in &plan.selections {
        for point in plan.points(selection, gpu.is_virtual())? {
            if stop.load(Ordering::Relaxed) {
                interrupted = true;
                break 'all;
            }
            let measured = bench.point(selection.pattern, &point);
            measured.iter().for_each(&mut on_row);
            rows.extend(measured);
        }
    }
    if let (Some(before), Some(after)) = (&mut environment.board, board(gpu)) {
        let new = after.throttle_reasons.into_iter();
        before.throttle_reasons.extend(new);
        before.throttle_reasons.sort();
        before.throttle_reasons.dedup();
    }
    environment.duration_s = begin.elapsed().as_secs_f64();
    Ok(Results { schema: SCHEMA, environment, interrupted, ceilings, rows })
}

/// Runs each variant of a plan's ladders once, unchecked and untimed: what a profiler wants to see.
///
/// # Errors
/// The driver's.
pub fn profile(gpu: &Gpu, plan: &Plan, mut on_run: impl FnMut(String)) -> Result<()> {
    for selection in &plan.selections {
        let points = plan.points(selection, gpu.is_virtual())?;
        let pattern = selection.pattern;
        for Point { size, executed, variants, .. } in points.iter().filter(|p| p.sweep.is_none()) {
            let case = verify::case(pattern, executed, plan.seed);
            let arrays = Arrays::of(gpu, pattern, &case)?;
            for variant in variants {
                if verify::obstacle(gpu, variant, size).is_some() {
                    continue;
                }
                let mut ready = match Ready::new(gpu, &case, &arrays, variant, executed) {
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
    if gpu.is_virtual() {
        return None;
    }
    environment::board(&gpu.pci_address().ok()?)
}

/// The tools of a run.
struct Bench<'a> {
    gpu: &'a Gpu,
    plan: &'a Plan,
    sampler: Sampler<'a>,
    ceilings: &'a [Ceiling],
    roofs: Roofs,
}

/// A variant under way.
struct Entry<'a> {
    variant: &'static Variant,
    ready: Option<Ready<'a>>,
    /// Why it is not measured.
    verdict: Option<Outcome>,
    cold: Series,
    hot: Option<Spread>,
    graph: Option<Spread>,
    resources: Option<Resources>,
    traffic: Option<Traffic>,
    timeline: Option<Timeline>,
    larger: Larger,
}

/// Intervals of a timeline that is kept.
const TIMELINE_MOST: usize = 128;
/// The most launches of a graph whose time is divided by their number, and how long they may take together: a launch
/// cannot be seen beside a kernel that takes longer.
const GRAPH_REPEATS: f64 = 10.0;
const GRAPH_MS: f64 = 50.0;

/// The numbers below `count` in a random order.
fn shuffled(random: &mut Random, count: usize) -> Vec<usize> {
    let keys = random.u32s(count);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|index| keys[*index]);
    order
}

impl Bench<'_> {
    /// Measures every variant of a point on one set of arrays.
    fn point(&self, pattern: &Pattern, point: &Point) -> Vec<Row> {
        let case = verify::case(pattern, &point.executed, self.plan.seed);
        let mut entries: Vec<Entry<'_>> = point.variants.iter().map(|v| Entry::new(v)).collect();
        let arrays = match Arrays::of(self.gpu, pattern, &case) {
            Ok(arrays) => arrays,
            Err(error) => {
                let error = anyhow::Error::from(error);
                entries.iter_mut().for_each(|entry| entry.fail(&error));
                return self.rows(pattern, point, entries);
            }
        };
        let rule = StopRule {
            time_limit: self.plan.stop.time_limit / if point.sweep.is_some() { 8 } else { 1 },
            ..self.plan.stop
        };
        let prepare = |variant| Ready::new(self.gpu, &case, &arrays, variant, &point.executed);
        for entry in &mut entries {
            if let Some(reason) = verify::obstacle(self.gpu, entry.variant, &point.executed) {
                entry.verdict = Some(Outcome::NotRun { reason });
                continue;
            }
            entry.attempt(|entry| {
                let ready = entry.ready.insert(prepare(entry.variant)?);
                if self.gpu.is_virtual() {
                    let bytes = pattern.bytes;
                    let work = bytes(&point.size).ratio(bytes(&point.executed));
                    entry.larger = Larger { work, blocks: ready.growth_of_blocks(&point.size)? };
                    if !entry.variant.is_host_work() {
                        // Executing takes long and says the same each time: the only run is the last sample.
                        return Ok(());
                    }
                }
                ready.run()?;
                ready.finish()?;
                entry.resources = ready.resources()?;
                entry.check("")
            });
            if entry.variant.is_host_work() {
                entry.attempt(|entry| self.round(entry, &rule, 1));
                if point.sweep.is_none() && !self.gpu.is_virtual() {
                    entry.attempt(|entry| self.watch(entry));
                }
                // It has its own memory, of which there is not enough for all.
                entry.ready = None;
            }
            self.leave_l2_alone(entry);
        }
        self.more_rounds(&mut entries, &rule, prepare);
        self.in_turn(&mut entries, &rule);
        for entry in entries.iter_mut().filter(|entry| entry.ready.is_some()) {
            if self.plan.modes && point.sweep.is_none() && !self.gpu.is_virtual() {
                entry.attempt(|entry| self.other_modes(entry));
            }
            entry.attempt(|entry| {
                // The last sample is checked whole; on the virtual device it is the only one.
                self.gpu.take_counted();
                if let Some(ready) = &entry.ready {
                    ready.reset()?;
                }
                self.cold_sample(entry)?;
                if let Some(ready) = &entry.ready {
                    ready.finish()?;
                    if self.gpu.is_virtual() {
                        entry.resources = ready.resources()?;
                        entry.traffic = self.gpu.take_counted().map(|counted| counted.traffic());
                    }
                }
                entry.check("after timing, ")
            });
            self.leave_l2_alone(entry);
        }
        self.rows(pattern, point, entries)
    }

    /// One round of work of the host, which is ready.
    fn round(&self, entry: &mut Entry<'_>, rule: &StopRule, round: u32) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        self.gpu.take_kernels_as_larger(entry.larger);
        let part = rule.part(self.plan.rounds);
        let samples = self.sampler.series(Caches::WithHost, &part, |step| match step {
            Step::Prepare => ready.rewind(),
            Step::Run => ready.run(),
        })?;
        entry.cold.append(samples);
        ready.finish()?;
        if round == self.plan.rounds { entry.check("after timing, ") } else { Ok(()) }
    }

    /// Records what runs when, once.
    fn watch(&self, entry: &mut Entry<'_>) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        entry.timeline = timeline::watch(self.gpu, ready)?.0;
        Ok(())
    }

    /// The rounds after the first of all work of the host, each prepared anew, in a random order.
    fn more_rounds<'a>(
        &self,
        entries: &mut [Entry<'a>],
        rule: &StopRule,
        prepare: impl Fn(&'static Variant) -> Result<Ready<'a>>,
    ) {
        let mut random = Random::new(self.plan.seed);
        for round in 2..=self.plan.rounds {
            for index in shuffled(&mut random, entries.len()) {
                let entry = &mut entries[index];
                if entry.variant.is_host_work() && entry.verdict.is_none() {
                    entry.attempt(|entry| {
                        entry.ready = Some(prepare(entry.variant)?);
                        self.round(entry, rule, round)
                    });
                    entry.ready = None;
                    self.leave_l2_alone(entry);
                }
            }
        }
    }

    /// Samples the kernels that are ready in a random order, again and again, until each has enough.
    fn in_turn(&self, entries: &mut [Entry<'_>], rule: &StopRule) {
        if self.gpu.is_virtual() {
            return;
        }
        let mut random = Random::new(self.plan.seed);
        let is_open =
            |entry: &Entry<'_>| entry.ready.is_some() && !self.sampler.is_enough(&entry.cold, rule);
        while entries.iter().any(is_open) {
            for index in shuffled(&mut random, entries.len()) {
                let entry = &mut entries[index];
                if is_open(entry) {
                    entry.attempt(|entry| self.cold_sample(entry));
                }
            }
        }
    }

    /// One sample with cold caches.
    fn cold_sample(&self, entry: &mut Entry<'_>) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        self.gpu.take_kernels_as_larger(entry.larger);
        self.sampler.sample(&mut entry.cold, Caches::Cold, |step| match step {
            Step::Prepare => ready.rewind(),
            Step::Run => ready.run(),
        })
    }

    /// Samples with hot caches, and as a graph.
    fn other_modes(&self, entry: &mut Entry<'_>) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        let rule = StopRule { time_limit: self.plan.stop.time_limit / 8, ..self.plan.stop };
        let hot = self.sampler.series(Caches::Hot, &rule, |step| match step {
            Step::Prepare => Ok(()),
            Step::Run => ready.run(),
        })?;
        entry.hot = hot.spread();
        let once_ms = entry.hot.map_or(GRAPH_MS, |hot| hot.median);
        let repeats = (GRAPH_MS / once_ms).clamp(1.0, GRAPH_REPEATS).floor();
        let mut failed = None;
        let graph = self.gpu.record(|| {
            failed = (0..repeats as u32).find_map(|_| ready.run().err());
        });
        // A library may do what no graph can hold; then there is no such figure.
        let (Ok(graph), None) = (graph, failed) else { return Ok(()) };
        let launches = self.sampler.series(Caches::Hot, &rule, |step| match step {
            Step::Prepare => Ok(()),
            // SAFETY: the graph holds launches that `ready` makes, whose arrays live as long.
            Step::Run => Ok(unsafe { graph.launch(self.gpu.stream()) }?),
        })?;
        entry.graph = launches.spread().map(|spread| spread.scaled(1.0 / repeats));
        Ok(())
    }

    /// A variant that leaves a part of L2 set aside changes what is measured after it.
    fn leave_l2_alone(&self, entry: &mut Entry<'_>) {
        entry.attempt(|_| match self.gpu.restore_l2()? {
            0 => Ok(()),
            bytes => bail!("it left {bytes} bytes of L2 set aside for lines that persist"),
        });
    }

    /// The rows of a point.
    fn rows(&self, pattern: &Pattern, point: &Point, entries: Vec<Entry<'_>>) -> Vec<Row> {
        let mut naive_ms = None;
        let mut rows = Vec::new();
        for entry in entries {
            let outcome = match entry.verdict {
                Some(verdict) => verdict,
                None => self.outcome(pattern, point, &entry, &mut naive_ms),
            };
            let size = pattern.dimensions.iter().zip(point.size.values());
            rows.push(Row {
                pattern: pattern.name.to_owned(),
                variant: entry.variant.name.to_owned(),
                size: size.map(|(of, value)| (of.name.to_owned(), of.number(*value))).collect(),
                sweep: point.sweep.map(str::to_owned),
                peer: matches!(entry.variant.work, Work::Peer(_)),
                resources: entry.resources,
                traffic: entry.traffic,
                predicted_ms: None,
                timeline: entry.timeline.filter(|one| one.intervals.len() <= TIMELINE_MOST),
                outcome,
            });
        }
        rows
    }

    /// The figures of a series, unless they cannot be.
    fn outcome(
        &self,
        pattern: &Pattern,
        point: &Point,
        entry: &Entry<'_>,
        naive_ms: &mut Option<f64>,
    ) -> Outcome {
        let Some(time_ms) = entry.cold.spread() else {
            let reason = format!(
                "none of its {} samples counts: the device was throttled",
                entry.cold.throttled
            );
            return Outcome::Wrong { reason };
        };
        let own = pattern.own(entry.variant).unwrap_or(entry.variant);
        let bytes = pattern.bytes_of(own, &point.size);
        let amount = (pattern.floor)(own, &point.size);
        if let Some((limit, amount)) = amount
            && let Some(reason) = self.roofs.why_impossible(limit, amount, time_ms.min)
        {
            return Outcome::Wrong { reason };
        }
        let floor = amount.and_then(|(limit, amount)| {
            let ceiling = self.ceilings.iter().find(|ceiling| ceiling.limit == limit)?;
            let floor_ms = ceiling.floor_ms(amount);
            let percent = 100.0 * floor_ms / time_ms.median;
            Some(Floor { limit, amount, time_ms: floor_ms, percent })
        });
        let naive = *naive_ms.get_or_insert(time_ms.median);
        Outcome::Measured(Measured {
            time_ms,
            hot_ms: entry.hot,
            graph_ms: entry.graph,
            clock_mhz: entry.cold.clocks(),
            throttled: entry.cold.throttled,
            bytes: bytes.total(),
            bandwidth_gb_s: bytes.total() as f64 / time_ms.median / 1e6,
            floor,
            speed_up: naive / time_ms.median,
        })
    }
}

impl<'a> Entry<'a> {
    fn new(variant: &'static Variant) -> Entry<'a> {
        Entry {
            variant,
            ready: None,
            verdict: None,
            cold: Series::default(),
            hot: None,
            graph: None,
            resources: None,
            traffic: None,
            timeline: None,
            larger: Larger::default(),
        }
    }

    /// Does a step; what fails ends the variant's measurement.
    fn attempt(&mut self, step: impl FnOnce(&mut Entry<'a>) -> Result<()>) {
        if let Err(error) = step(self) {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &anyhow::Error) {
        let reason = format!("{error:#}");
        let is_wrong = !error.is::<Unavailable>();
        self.verdict =
            Some(if is_wrong { Outcome::Wrong { reason } } else { Outcome::NotRun { reason } });
        self.ready = None;
    }

    /// Fails unless the outputs are right.
    fn check(&mut self, when: &str) -> Result<()> {
        match self.ready.as_mut().map(Ready::check).transpose()? {
            Some(Verdict::Wrong(fault)) => bail!("{when}{fault}"),
            _ => Ok(()),
        }
    }
}

/// What no measurement can be above.
struct Roofs {
    /// Device memory, bytes per second: both edges of its clock, over the whole bus.
    memory: f64,
    /// Bytes that may be in L2 at the beginning or at the end.
    l2_bytes: f64,
    /// Shared memory, bytes per second: 128 bytes per clock and multiprocessor.
    shared: f64,
    /// The bus in one direction, bytes per second, where the link is known.
    bus: Option<f64>,
}

impl Roofs {
    fn of(device: &DeviceFacts, board: Option<&Board>) -> Roofs {
        let bus = board.and_then(|board| {
            // 8, 16, 32, 64 GT/s per lane from generation 3 on, a bit per transfer.
            let generation = board.pcie_generation.filter(|generation| *generation >= 3)?;
            Some(f64::from(board.pcie_lanes?) * f64::from(1 << generation) * 1e9 / 8.0)
        });
        Roofs {
            memory: 2e3 * f64::from(device.memory_clock_khz) * f64::from(device.memory_bus_bits)
                / 8.0,
            l2_bytes: f64::from(device.l2_bytes),
            shared: 128e3 * f64::from(device.clock_khz) * f64::from(device.multiprocessors),
            bus,
        }
    }

    /// Why an amount cannot have gone through in this time, if so.
    fn why_impossible(&self, limit: Limit, amount: usize, time_ms: f64) -> Option<String> {
        let amount = amount as f64;
        let (amount, roof) = match limit {
            Limit::Copy | Limit::Read | Limit::Write => (amount - self.l2_bytes, self.memory),
            Limit::Shared => (amount, self.shared),
            Limit::Upload | Limit::Download => (amount, self.bus?),
            Limit::BothWays => (amount, 2.0 * self.bus?),
            Limit::L2 | Limit::Launch => return None,
        };
        let rate = amount / time_ms * 1e3;
        (rate > roof).then(|| {
            format!(
                "it cannot be: {:.0} GB/s in {time_ms:.4} ms, where the peak of {} is {:.0} GB/s",
                rate / 1e9,
                limit.name(),
                roof / 1e9
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::PATTERNS;

    #[test]
    fn a_figure_above_the_roof_is_an_error() {
        let roofs = Roofs { memory: 4.9e12, l2_bytes: 6e7, shared: 3.3e13, bus: Some(6.4e10) };
        // 1 GiB in 0.2 ms is 5.4 TB/s, in 0.3 ms 3.6 TB/s.
        assert!(roofs.why_impossible(Limit::Read, 1 << 30, 0.2).is_some());
        assert_eq!(roofs.why_impossible(Limit::Read, 1 << 30, 0.3), None);
        // What fits into L2 may never have seen device memory.
        assert_eq!(roofs.why_impossible(Limit::Write, 1 << 25, 0.001), None);
        assert!(roofs.why_impossible(Limit::Upload, 1 << 30, 10.0).is_some());
        assert_eq!(roofs.why_impossible(Limit::BothWays, 1 << 30, 10.0), None);
    }

    #[test]
    fn an_axis_of_several_values_is_a_curve_in_place_of_the_patterns_own() {
        let pattern = PATTERNS.iter().find(|one| one.name == "stride").expect("it exists");
        let mut plan = Plan::new(vec![Selection { pattern, variant: None }]);
        let own = plan.points(&plan.selections[0], false).expect("it fits").len();
        assert_eq!(own, 1 + pattern.sweeps[0].values.len());
        let axes = |text: &str| text.parse::<Axes>().expect("axes").0;
        plan.axes = axes("2^20,stride=2,4");
        let points = plan.points(&plan.selections[0], false).expect("it fits");
        let sizes: Vec<_> = points.iter().map(|point| point.size.values().to_vec()).collect();
        assert_eq!(sizes, [[1 << 20, 8], [1 << 20, 2], [1 << 20, 4]]);
        assert_eq!(points[2].sweep, Some("stride"));
        plan.axes = axes("width=2");
        assert!(plan.points(&plan.selections[0], false).is_err());
    }
}
