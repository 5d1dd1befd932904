//! Records what ran when: intervals of the device's engines, of streams and of the host.
//!
//! ```
//! use coalesce::{pattern::{Pattern, Size}, timeline::record};
//!
//! fn print(gpu: &cuda_host::Gpu, pattern: &'static Pattern, size: &Size) -> anyhow::Result<()> {
//!     for (variant, timeline, elapsed_ms) in record(gpu, pattern, pattern.variants, size)? {
//!         println!("{}: {} operations, {elapsed_ms} ms", variant.name, timeline.intervals.len());
//!     }
//!     Ok(())
//! }
//! ```

use crate::pattern::{Case, Pattern, Size, Unavailable, Variant};
use crate::timing::Stopwatch;
use crate::verify::{PreparedVariant, VerifyOutcome, case, unsupported_reason};
use anyhow::{Context, Result, bail};
use cuda_host::{Gpu, OperationKind, OperationRecord};
use results::{Engine, Interval, Origin, Timeline};
use std::ops::Range;

/// Returns the work between the first and the last event of a stream; `None` without two events.
fn between_events(device: String, origin: Origin, records: &[OperationRecord]) -> Option<Timeline> {
    let is_event = |record: &&OperationRecord| record.kind == OperationKind::Event;
    let last = records.iter().rfind(is_event)?;
    let first = records.iter().filter(is_event).find(|one| one.stream == last.stream)?;
    let (start, length_us) = (first.end_ns, (last.end_ns - first.end_ns) / 1e3);
    let mut streams: Vec<usize> = last.stream.into_iter().collect();
    let mut intervals = Vec::new();
    let mut in_order: Vec<_> = records.iter().filter(|record| !is_event(record)).collect();
    in_order.sort_by(|one, other| one.start_ns.total_cmp(&other.start_ns));
    for record in in_order {
        let Range { start: start_us, end: end_us } =
            (record.start_ns - start) / 1e3..(record.end_ns - start) / 1e3;
        if end_us < 0.0 || start_us > length_us {
            continue;
        }
        let stream = record.stream.map(|handle| {
            streams.iter().position(|other| *other == handle).unwrap_or_else(|| {
                streams.push(handle);
                streams.len() - 1
            })
        });
        let (start_us, end_us) = (start_us.max(0.0), end_us.min(length_us));
        intervals.push(Interval { kind: record.kind.clone(), stream, start_us, end_us });
    }
    if origin == Origin::Measured {
        begin_with_their_engine(&mut intervals);
    }
    Some(Timeline { device, origin, length_us, intervals })
}

/// An event before a copy is reached when its stream is ready. The copy begins when its engine is ready, too: after the
/// copy that ended on it before.
fn begin_with_their_engine(intervals: &mut [Interval]) {
    for engine in [Engine::HostToDevice, Engine::DeviceToHost] {
        let of_engine = intervals.iter_mut().filter(|one| one.kind.engine() == Some(engine));
        let mut of_engine: Vec<&mut Interval> = of_engine.collect();
        of_engine.sort_by(|one, other| one.end_us.total_cmp(&other.end_us));
        let mut free_us = 0.0;
        for interval in of_engine {
            interval.start_us = interval.start_us.max(free_us).min(interval.end_us);
            free_us = interval.end_us;
        }
    }
    // Hundredths of a microsecond are finer than events are.
    for Interval { start_us, end_us, .. } in &mut *intervals {
        [*start_us, *end_us] = [*start_us, *end_us].map(|time| (time * 100.0).round() / 100.0);
    }
    intervals.sort_by(|one, other| one.start_us.total_cmp(&other.start_us));
}

/// Runs each variant once on a device and says what ran between two events and how many milliseconds these were apart.
/// A variant that needs what the device lacks, such as another device, is left out.
pub fn record(
    gpu: &Gpu,
    pattern: &'static Pattern,
    variants: impl IntoIterator<Item = &'static Variant>,
    size: &Size,
) -> Result<Vec<(&'static Variant, Timeline, f64)>> {
    let case = case(pattern, size, 1);
    let one = |variant: &'static Variant| {
        let recorded = record_one(gpu, pattern, variant, size, &case).transpose()?;
        Some(recorded.map(|(timeline, elapsed_ms)| (variant, timeline, elapsed_ms)))
    };
    variants.into_iter().filter_map(one).collect()
}

/// Runs one variant, as [`record`] does; none where it needs what the device lacks.
pub(crate) fn record_one(
    gpu: &Gpu,
    pattern: &'static Pattern,
    variant: &'static Variant,
    size: &Size,
    case: &Case,
) -> Result<Option<(Timeline, f64)>> {
    let name = format!("{}/{}", pattern.name, variant.name);
    if let Some(reason) = unsupported_reason(gpu, variant, size) {
        bail!("{name} cannot run at {}: {reason}", pattern.show_size(size));
    }
    let arrays = pattern.arrays(gpu, case)?;
    let mut ready = match PreparedVariant::new(gpu, case, &arrays, variant, size) {
        Err(error) if error.is::<Unavailable>() => return Ok(None),
        ready => ready?,
    };
    if gpu.virtual_device().is_none() {
        // What happens once in a process.
        ready.run()?;
        ready.finish()?;
        ready.reset()?;
    }
    let (timeline, elapsed_ms) = watch(gpu, &mut ready)?;
    match ready.check()? {
        VerifyOutcome::Correct => {}
        VerifyOutcome::Wrong(fault) => bail!("{name} is wrong: {fault}"),
        VerifyOutcome::NotRun(reason) => bail!("{name} did not run: {reason}"),
    }
    let timeline = timeline.with_context(|| format!("{name}: too much ran for a timeline"))?;
    Ok(Some((timeline, elapsed_ms)))
}

/// Runs a variant once and returns the work between two events, if it was not too much, and their distance in ms.
pub fn watch(gpu: &Gpu, ready: &mut PreparedVariant<'_>) -> Result<(Option<Timeline>, f64)> {
    let stopwatch = Stopwatch::new()?;
    gpu.synchronize()?;
    gpu.watch_operations();
    stopwatch.start(gpu)?;
    ready.run()?;
    stopwatch.stop(gpu)?;
    let elapsed_ms = stopwatch.elapsed_ms()?;
    let operations = gpu.drain_operations()?;
    ready.finish()?;
    let is_model = gpu.virtual_device().is_some();
    let origin = if is_model { Origin::Model } else { Origin::Measured };
    Ok((between_events(gpu.facts()?.name, origin, &operations), elapsed_ms))
}
