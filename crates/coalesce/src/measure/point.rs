//! One size of a pattern: its variants on one set of arrays, measured in turn or predicted.

use super::plan::{Plan, Point};
use super::sampler::{Caches, Sampler, Series, Step, StopRule};
use super::theoretical::TheoreticalPeaks;
use crate::count;
use crate::counted::Counted;
use crate::data::Random;
use crate::pattern::{Implementation, Pattern, Unavailable, Variant};
use crate::side_by_side::SharedCase;
use crate::timeline;
use crate::verify::{self, PreparedVariant, VerifyOutcome};
use anyhow::{Result, bail};
use cuda_host::{Gpu, LaunchResources, VirtualDevice, WorkScale};
use ptx::tree::Tree;
use results::{
    CountedVariant, Measured, MeasuredPeak, MinimumTime, Resources, Results, Row, RowOutcome,
    Spread, Timeline,
};
use std::collections::BTreeMap;

pub(super) struct Bench<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) plan: &'a Plan,
    pub(super) sampler: Sampler<'a>,
    pub(super) measured_peaks: &'a [MeasuredPeak],
    pub(super) peaks: &'a TheoreticalPeaks,
    pub(super) tree: &'a Tree<'static>,
}

/// The rows of a point, and what was counted of the variants of a predicted ladder that are right.
pub(super) type Outcome = (Vec<Row>, Vec<CountedVariant>);

struct Measurement<'a> {
    variant: &'static Variant,
    ready: Option<PreparedVariant<'a>>,
    /// Why it is not measured.
    verdict: Option<RowOutcome>,
    cold: Series,
    hot: Option<Spread>,
    graph: Option<Spread>,
    resources: Option<LaunchResources>,
    counted: Option<Counted>,
    timeline: Option<Timeline>,
    scale: WorkScale,
}

/// Intervals of a timeline that is kept.
const MAX_TIMELINE: usize = 128;
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
    /// Measures or predicts every variant of a point on one set of arrays.
    pub(super) fn point(
        &self,
        pattern: &'static Pattern,
        point: &Point,
        case: &SharedCase,
    ) -> Outcome {
        let mut entries: Vec<Measurement<'_>> =
            point.variants.iter().map(|v| Measurement::new(v)).collect();
        for entry in &mut entries {
            entry.verdict = verify::unsupported_reason(self.gpu, entry.variant, &point.executed)
                .map(|reason| RowOutcome::NotRun { reason });
        }
        // Arrays that nothing can use may be large.
        if entries.iter().all(|entry| entry.verdict.is_some()) {
            return (self.rows(pattern, point, entries), Vec::new());
        }
        let case = case.get(pattern, &point.executed, self.plan.seed);
        let arrays = match pattern.arrays(self.gpu, case) {
            Ok(arrays) => arrays,
            Err(error) => {
                entries.iter_mut().for_each(|entry| entry.fail(&error));
                return (self.rows(pattern, point, entries), Vec::new());
            }
        };
        let rule = StopRule {
            time_limit: self.plan.stop.time_limit / if point.sweep.is_some() { 8 } else { 1 },
            ..self.plan.stop
        };
        let prepare =
            |variant| PreparedVariant::new(self.gpu, case, &arrays, variant, &point.executed);
        let device = self.gpu.virtual_device();
        for entry in entries.iter_mut().filter(|entry| entry.verdict.is_none()) {
            entry.attempt(|entry| {
                let ready = entry.ready.insert(prepare(entry.variant)?);
                if let Some(device) = device {
                    let work = pattern.work_ratio(entry.variant, &point.size, &point.executed);
                    let blocks = ready.growth_of_blocks(device, &point.size)?;
                    let bytes =
                        (pattern.bytes)(&point.size).ratio((pattern.bytes)(&point.executed));
                    entry.scale = WorkScale { work, bytes, blocks };
                }
                Ok(())
            });
            if entry.variant.is_host_work() {
                entry.attempt(|entry| self.first_run(entry));
                // Before the samples: checking the first run moved pages, which this run moves back.
                if point.sweep.is_none() {
                    entry.attempt(|entry| self.watch(entry));
                }
                entry.attempt(|entry| self.round(entry, &rule, 1));
                // It has its own memory, of which there is not enough for all.
                entry.ready = None;
            } else if device.is_none() {
                entry.attempt(|entry| self.first_run(entry));
            }
            self.leave_l2_alone(entry);
        }
        self.more_rounds(&mut entries, &rule, prepare);
        match device {
            Some(device) => {
                for entry in entries.iter_mut().filter(|entry| entry.ready.is_some()) {
                    entry.attempt(|entry| self.predict(device, entry, point));
                    self.leave_l2_alone(entry);
                }
            }
            None => {
                self.in_turn(&mut entries, &rule);
                for entry in entries.iter_mut().filter(|entry| entry.ready.is_some()) {
                    if self.plan.modes && point.sweep.is_none() {
                        entry.attempt(|entry| self.other_modes(entry));
                    }
                    entry.attempt(|entry| self.last_sample(entry));
                    self.leave_l2_alone(entry);
                }
            }
        }
        let is_counted = device.is_some() && point.sweep.is_none();
        let counts =
            if is_counted { self.counts(pattern, point, &mut entries) } else { Vec::new() };
        (self.rows(pattern, point, entries), counts)
    }

    /// The run before all timing, which is checked.
    fn first_run(&self, entry: &mut Measurement<'_>) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        ready.run()?;
        ready.finish()?;
        entry.resources = ready.resources()?;
        entry.check("")
    }

    /// The last sample, on fresh outputs, which is checked whole.
    fn last_sample(&self, entry: &mut Measurement<'_>) -> Result<()> {
        if let Some(ready) = &entry.ready {
            ready.reset()?;
        }
        self.cold_sample(entry)?;
        if let Some(ready) = &entry.ready {
            ready.finish()?;
        }
        entry.check("after timing, ")
    }

    /// The one run of a kernel on the virtual device: executing takes long and says the same each time.
    fn predict(
        &self,
        device: &VirtualDevice,
        entry: &mut Measurement<'_>,
        point: &Point,
    ) -> Result<()> {
        device.drain_launches();
        device.watch_first_warp(point.sweep.is_none());
        let done = self.last_sample(entry);
        device.watch_first_warp(false);
        if let Some(ready) = &entry.ready {
            entry.resources = ready.resources()?;
        }
        entry.counted = Some(Counted::take(device));
        done
    }

    /// Returns what was counted of the variants that are right.
    fn counts(
        &self,
        pattern: &Pattern,
        point: &Point,
        entries: &mut [Measurement<'_>],
    ) -> Vec<CountedVariant> {
        let right = entries.iter_mut().filter(|entry| entry.verdict.is_none());
        let variants = right.map(|entry| -> CountedVariant {
            let (variant, image) = (entry.variant, (self.gpu.image(), self.tree));
            match &entry.counted {
                Some(counted) => {
                    count::of_kernel(pattern, variant, &point.executed, image, counted)
                }
                None => {
                    let timeline = entry.timeline.take();
                    count::of_host_work(pattern, variant, &point.executed, timeline)
                }
            }
        });
        variants.collect()
    }

    /// On the virtual device, what runs from here on stands for work so many times larger.
    fn scale_work(&self, scale: WorkScale) {
        if let Some(device) = self.gpu.virtual_device() {
            device.scale_work(scale);
        }
    }

    /// One round of work of the host, which is ready.
    fn round(&self, entry: &mut Measurement<'_>, rule: &StopRule, round: u32) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        self.scale_work(entry.scale);
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
    fn watch(&self, entry: &mut Measurement<'_>) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        entry.timeline = timeline::watch(self.gpu, ready)?.0;
        Ok(())
    }

    /// The rounds after the first of all work of the host, each prepared anew, in a random order.
    fn more_rounds<'a>(
        &self,
        entries: &mut [Measurement<'a>],
        rule: &StopRule,
        prepare: impl Fn(&'static Variant) -> Result<PreparedVariant<'a>>,
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
    fn in_turn(&self, entries: &mut [Measurement<'_>], rule: &StopRule) {
        let mut random = Random::new(self.plan.seed);
        let is_open = |entry: &Measurement<'_>| {
            entry.ready.is_some() && !self.sampler.is_enough(&entry.cold, rule)
        };
        while entries.iter().any(is_open) {
            for index in shuffled(&mut random, entries.len()) {
                let entry = &mut entries[index];
                if is_open(entry) {
                    entry.attempt(|entry| self.cold_sample(entry));
                }
            }
        }
    }

    fn cold_sample(&self, entry: &mut Measurement<'_>) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        self.scale_work(entry.scale);
        self.sampler.sample(&mut entry.cold, Caches::Cold, |step| match step {
            Step::Prepare => ready.rewind(),
            Step::Run => ready.run(),
        })
    }

    /// Samples with hot caches, and as a graph.
    fn other_modes(&self, entry: &mut Measurement<'_>) -> Result<()> {
        let Some(ready) = &mut entry.ready else { return Ok(()) };
        let rule = StopRule { time_limit: self.plan.stop.time_limit / 8, ..self.plan.stop };
        let is_in_place = ready.is_in_place();
        let hot = self.sampler.series(Caches::Hot, &rule, |step| match step {
            Step::Prepare if is_in_place => ready.rewind(),
            Step::Prepare => Ok(()),
            Step::Run => ready.run(),
        })?;
        entry.hot = hot.spread();
        if is_in_place {
            // A graph's second launch would find what the first left.
            return Ok(());
        }
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
    fn leave_l2_alone(&self, entry: &mut Measurement<'_>) {
        entry.attempt(|_| match self.gpu.restore_l2()? {
            0 => Ok(()),
            bytes => bail!("it left {bytes} bytes of L2 set aside for lines that persist"),
        });
    }

    fn rows(&self, pattern: &Pattern, point: &Point, entries: Vec<Measurement<'_>>) -> Vec<Row> {
        let mut rows = Vec::new();
        let size = size_in_file(pattern, point);
        for entry in entries {
            let outcome = match entry.verdict {
                Some(verdict) => verdict,
                None => self.outcome(pattern, point, &entry),
            };
            rows.push(Row {
                pattern: pattern.name.to_owned(),
                variant: entry.variant.name.to_owned(),
                size: size.clone(),
                sweep: point.sweep.map(str::to_owned),
                peer: matches!(entry.variant.work, Implementation::Peer(_)),
                resources: entry.resources.map(resources),
                traffic: entry.counted.as_ref().map(|counted| (&counted.counters).into()),
                predicted_ms: None,
                known_ratio: None,
                timeline: entry.timeline.filter(|one| one.intervals.len() <= MAX_TIMELINE),
                outcome,
            });
        }
        rows
    }

    /// The figures of a series, unless they cannot be.
    fn outcome(&self, pattern: &Pattern, point: &Point, entry: &Measurement<'_>) -> RowOutcome {
        let Some(time_ms) = entry.cold.spread() else {
            let reason = format!(
                "none of its {} samples counts: the device was throttled",
                entry.cold.throttled
            );
            return RowOutcome::Wrong { reason };
        };
        let own = pattern.own(entry.variant).unwrap_or(entry.variant);
        let bytes = pattern.bytes_of(own, &point.size);
        let amount = (pattern.minimum_time)(own, &point.size);
        if let Some((resource, amount)) = amount
            && let Some(reason) = self.peaks.why_impossible(resource, amount, time_ms.min)
        {
            return RowOutcome::Wrong { reason };
        }
        let minimum_time = amount.and_then(|(resource, amount)| {
            let peak = self.measured_peaks.iter().find(|peak| peak.resource == resource)?;
            let minimum_time_ms = peak.minimum_time_ms(amount);
            let percent = 100.0 * minimum_time_ms / time_ms.median;
            Some(MinimumTime { resource, amount, time_ms: minimum_time_ms, percent })
        });
        RowOutcome::Measured(Measured {
            time_ms,
            hot_ms: entry.hot,
            graph_ms: entry.graph,
            clock_mhz: entry.cold.clocks(),
            throttled: entry.cold.throttled,
            bytes: bytes.total(),
            bandwidth_gb_s: bytes.total() as f64 / time_ms.median / 1e6,
            minimum_time,
            speed_up: 1.0,
        })
    }
}

/// The outcome of a point as an earlier run has it; nothing unless it has all of it.
pub(super) fn known(pattern: &Pattern, point: &Point, earlier: &Results) -> Option<Outcome> {
    let size = size_in_file(pattern, point);
    let of_variant = |variant: &&'static Variant| {
        let is_same = |row: &&Row| {
            (row.pattern.as_str(), row.variant.as_str(), row.sweep.as_deref())
                == (pattern.name, variant.name, point.sweep)
                && row.size == size
        };
        earlier.rows.iter().find(is_same).cloned()
    };
    let rows = point.variants.iter().map(of_variant).collect::<Option<Vec<Row>>>()?;
    let patterns = earlier.counts.iter().flat_map(|counts| &counts.patterns);
    let variants = patterns.filter(|counted| counted.name == pattern.name && point.sweep.is_none());
    let is_of_point = |one: &&CountedVariant| point.variants.iter().any(|v| v.name == one.name);
    let counted = variants.flat_map(|counted| &counted.variants).filter(is_of_point);
    Some((rows, counted.cloned().collect()))
}

/// The size of a point as a result file has it.
fn size_in_file(pattern: &Pattern, point: &Point) -> BTreeMap<String, f64> {
    let size = pattern.dimensions.iter().zip(point.size.values());
    size.map(|(of, value)| (of.name.to_owned(), of.number(*value))).collect()
}

/// Returns what a result file says of a launch.
fn resources(of: LaunchResources) -> Resources {
    Resources {
        registers: of.registers,
        registers_are_estimated: of.registers_are_estimated,
        shared_bytes: of.shared_bytes,
        local_bytes: of.local_bytes,
        block_threads: of.block_threads,
        occupancy_percent: of.occupancy_percent,
    }
}

impl<'a> Measurement<'a> {
    fn new(variant: &'static Variant) -> Measurement<'a> {
        Measurement {
            variant,
            ready: None,
            verdict: None,
            cold: Series::default(),
            hot: None,
            graph: None,
            resources: None,
            counted: None,
            timeline: None,
            scale: WorkScale::default(),
        }
    }

    /// Does a step; what fails ends the variant's measurement.
    fn attempt(&mut self, step: impl FnOnce(&mut Measurement<'a>) -> Result<()>) {
        if let Err(error) = step(self) {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &anyhow::Error) {
        let reason = format!("{error:#}");
        let is_wrong = !error.is::<Unavailable>();
        self.verdict = Some(if is_wrong {
            RowOutcome::Wrong { reason }
        } else {
            RowOutcome::NotRun { reason }
        });
        self.ready = None;
    }

    /// Fails unless the outputs are right.
    fn check(&mut self, when: &str) -> Result<()> {
        match self.ready.as_mut().map(PreparedVariant::check).transpose()? {
            Some(VerifyOutcome::Wrong(fault)) => bail!("{when}{fault}"),
            _ => Ok(()),
        }
    }
}
