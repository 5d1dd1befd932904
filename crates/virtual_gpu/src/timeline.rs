//! The simulated time of the device's engines, in nanoseconds.
//!
//! An engine is a list of busy intervals. Work takes the first gap that is long enough after the moment it could start,
//! so that the order in which work is *executed* here (which follows what the host waits for) does not change when it
//! *ran*. Kernels share the compute engine as long as their blocks fit on the device together.
//!
//! The two copy engines share the bus. A copy takes a part of what the bus carries in both directions together; while
//! two copies want more than all of it, the one that is booked later pays for both: it gets on as if the time that both
//! need beyond its own were its own.
//!
//! ```text
//! rate of the later copy while both run = 1 - (part + other part - 1), of its rate alone
//! two copies of V bytes, u and d alone, b_up + b_down = (1 + x) b_both:  u + d - (1 - x) u, so (1 + x) u when u = d
//! ```

use std::ops::Range;

/// What works on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Kernels, fills and copies inside the device.
    Compute,
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    start: f64,
    end: f64,
    /// The part of the engine that is taken.
    share: f64,
    /// The part of the bus, in both directions together, that a copy wants.
    bus: f64,
}

/// When each engine is busy.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    compute: Vec<Interval>,
    upload: Vec<Interval>,
    download: Vec<Interval>,
}

impl Timeline {
    /// Books `duration` of a `share` of the multiprocessors, not before `ready`, and says when it runs.
    pub(crate) fn compute(&mut self, ready: f64, duration: f64, share: f64) -> Range<f64> {
        let share = share.clamp(0.01, 1.0);
        let end = |start: f64| start + duration;
        book(&mut self.compute, ready, Interval { start: ready, end: ready, share, bus: 0.0 }, end)
    }

    /// Books a copy that takes `duration` alone, not before `ready`, and says when it runs. It wants the part `bus` of
    /// the bus.
    pub(crate) fn copy(
        &mut self,
        is_upload: bool,
        ready: f64,
        duration: f64,
        bus: f64,
    ) -> Range<f64> {
        let (own, other) = if is_upload {
            (&mut self.upload, &self.download)
        } else {
            (&mut self.download, &self.upload)
        };
        let end = |start: f64| beside(other, start, duration, bus);
        book(own, ready, Interval { start: ready, end: ready, share: 1.0, bus }, end)
    }

    /// Forgets what ended before `now`, which nothing can be booked before any more.
    pub(crate) fn forget_before(&mut self, now: f64) {
        for busy in [&mut self.compute, &mut self.upload, &mut self.download] {
            busy.retain(|interval| interval.end > now);
        }
    }
}

/// Books what begins as early as it fits and ends when `end` says.
fn book(
    busy: &mut Vec<Interval>,
    ready: f64,
    work: Interval,
    end: impl Fn(f64) -> f64,
) -> Range<f64> {
    let mut candidates: Vec<f64> =
        busy.iter().map(|interval| interval.end).filter(|end| *end > ready).collect();
    candidates.push(ready);
    candidates.sort_by(f64::total_cmp);
    let start = candidates
        .into_iter()
        .find(|start| fits(busy, *start, end(*start), work.share))
        .unwrap_or(ready);
    let end = end(start);
    busy.push(Interval { start, end, ..work });
    start..end
}

/// When a copy ends that takes `duration` alone, beside copies the other way.
fn beside(other: &[Interval], start: f64, duration: f64, bus: f64) -> f64 {
    let mut crossing: Vec<&Interval> = other.iter().filter(|other| other.end > start).collect();
    crossing.sort_by(|a, b| a.start.total_cmp(&b.start));
    let (mut now, mut left) = (start, duration);
    for other in crossing {
        let alone = (other.start - now).max(0.0);
        if left <= alone {
            break;
        }
        (now, left) = (now + alone, left - alone);
        let rate = 1.0 - (bus + other.bus - 1.0).clamp(0.0, 0.9);
        let together = other.end - now;
        if left <= rate * together {
            return now + left / rate;
        }
        (now, left) = (other.end, left - rate * together);
    }
    now + left
}

/// Whether a `share` is free throughout: it is tested where an interval starts, where alone the load can rise.
fn fits(busy: &[Interval], start: f64, end: f64, share: f64) -> bool {
    let load = |at: f64| -> f64 {
        busy.iter()
            .filter(|other| other.start <= at && at < other.end)
            .map(|other| other.share)
            .sum()
    };
    let inside =
        busy.iter().map(|other| other.start).filter(|other| *other > start && *other < end);
    std::iter::once(start).chain(inside).all(|at| load(at) + share <= 1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_does_one_thing_after_the_other_and_engines_overlap() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.copy(true, 0.0, 10.0, 0.5).end, 10.0);
        assert_eq!(timeline.copy(true, 0.0, 10.0, 0.5).end, 20.0);
        assert_eq!(timeline.copy(false, 5.0, 10.0, 0.5).end, 15.0);
        assert_eq!(timeline.compute(7.0, 1.0, 1.0).end, 8.0);
    }

    #[test]
    fn a_gap_is_used_by_work_that_was_ready_for_it() {
        let mut timeline = Timeline::default();
        timeline.compute(0.0, 10.0, 1.0);
        timeline.compute(20.0, 10.0, 1.0);
        assert_eq!(timeline.compute(5.0, 10.0, 1.0).end, 20.0);
        assert_eq!(timeline.compute(5.0, 11.0, 1.0).end, 41.0);
    }

    #[test]
    fn small_kernels_run_together() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.compute(0.0, 10.0, 0.5).end, 10.0);
        assert_eq!(timeline.compute(0.0, 10.0, 0.5).end, 10.0);
        assert_eq!(timeline.compute(0.0, 10.0, 0.5).end, 20.0);
    }

    #[test]
    fn both_directions_together_have_what_the_bus_carries() {
        // Each wants 0.55 of the bus: together they take 1.1 times as long as one.
        let mut timeline = Timeline::default();
        assert_eq!(timeline.copy(true, 0.0, 100.0, 0.55).end, 100.0);
        let end = timeline.copy(false, 0.0, 100.0, 0.55).end;
        assert!((end - 110.0).abs() < 1e-9, "{end}");
        // Half of a copy beside another one, half alone.
        let end = timeline.copy(true, 200.0, 100.0, 0.55).end;
        assert_eq!(end, 300.0);
        let end = timeline.copy(false, 250.0, 100.0, 0.55).end;
        assert!((end - 355.0).abs() < 1e-9, "{end}");
        // What does not fill the bus is not held up.
        assert_eq!(timeline.copy(true, 400.0, 100.0, 0.2).end, 500.0);
        assert_eq!(timeline.copy(false, 400.0, 100.0, 0.5).end, 500.0);
    }
}
