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

/// A part of a device that works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Kernels, fills and copies inside the device.
    Compute,
    /// Host to device.
    HostToDevice,
    /// Device to host.
    DeviceToHost,
    /// The device's end of the links: what goes to other devices.
    LinkOut,
    /// Traffic from other devices.
    LinkIn,
}

/// An engine of one of the devices.
pub type Place = (usize, Engine);

#[derive(Debug, Clone, Copy)]
struct Interval {
    start: f64,
    end: f64,
    /// The part of the engine that is taken.
    share: f64,
    /// The part of the bus, in both directions together, that a copy wants.
    bus: f64,
}

/// Busy intervals of each engine of a device, sorted by their ends.
#[derive(Debug, Default)]
struct Engines {
    compute: Vec<Interval>,
    upload: Vec<Interval>,
    download: Vec<Interval>,
    outward: Vec<Interval>,
    inward: Vec<Interval>,
}

impl Engines {
    fn engine(&mut self, engine: Engine) -> &mut Vec<Interval> {
        match engine {
            Engine::Compute => &mut self.compute,
            Engine::HostToDevice => &mut self.upload,
            Engine::DeviceToHost => &mut self.download,
            Engine::LinkOut => &mut self.outward,
            Engine::LinkIn => &mut self.inward,
        }
    }
}

/// Busy intervals of each engine of each device.
#[derive(Debug)]
pub struct Timeline {
    devices: Vec<Engines>,
}

impl Timeline {
    /// Of so many devices.
    pub fn new(devices: usize) -> Timeline {
        Timeline { devices: (0..devices).map(|_| Engines::default()).collect() }
    }

    /// Books `duration` of a `share` of a device's multiprocessors, not before `ready`, and says when it runs.
    pub fn compute(&mut self, device: usize, ready: f64, duration: f64, share: f64) -> Range<f64> {
        self.together(&[((device, Engine::Compute), share)], ready, duration)
    }

    /// Books `duration` of a share of several engines at once, not before `ready`, and says when it runs.
    pub fn together(&mut self, engines: &[(Place, f64)], ready: f64, duration: f64) -> Range<f64> {
        let mut candidates = vec![ready];
        for ((device, engine), _) in engines {
            let busy = self.devices[*device].engine(*engine);
            candidates.extend(after(busy, ready).iter().map(|one| one.end));
        }
        candidates.sort_by(f64::total_cmp);
        let share_of = |share: f64| share.clamp(0.01, 1.0);
        let mut fits_all = |start: f64| {
            engines.iter().all(|((device, engine), share)| {
                let busy = self.devices[*device].engine(*engine);
                fits(busy, start, start + duration, share_of(*share))
            })
        };
        let start = candidates.into_iter().find(|start| fits_all(*start)).unwrap_or(ready);
        let end = start + duration;
        for ((device, engine), share) in engines {
            let interval = Interval { start, end, share: share_of(*share), bus: 0.0 };
            insert(self.devices[*device].engine(*engine), interval);
        }
        start..end
    }

    /// Books a copy that takes `duration` alone, after `ready`, and returns its interval. It wants the part `bus` of
    /// the bus.
    pub fn copy(
        &mut self,
        device: usize,
        is_upload: bool,
        ready: f64,
        duration: f64,
        bus: f64,
    ) -> Range<f64> {
        let Engines { upload, download, .. } = &mut self.devices[device];
        let (own, other) = if is_upload { (upload, download) } else { (download, upload) };
        let end = |start: f64| beside(other, start, duration, bus);
        book(own, ready, Interval { start: ready, end: ready, share: 1.0, bus }, end)
    }

    /// Forgets what ended before `now`, which nothing can be booked before any more.
    pub fn forget_before(&mut self, now: f64) {
        for Engines { compute, upload, download, outward, inward } in &mut self.devices {
            for busy in [compute, upload, download, outward, inward] {
                busy.retain(|interval| interval.end > now);
            }
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
    let mut candidates: Vec<f64> = after(busy, ready).iter().map(|one| one.end).collect();
    candidates.push(ready);
    candidates.sort_by(f64::total_cmp);
    let start = candidates
        .into_iter()
        .find(|start| fits(busy, *start, end(*start), work.share))
        .unwrap_or(ready);
    let end = end(start);
    insert(busy, Interval { start, end, ..work });
    start..end
}

/// The intervals that end after a time: work that is ready late looks at few of very many.
fn after(busy: &[Interval], time: f64) -> &[Interval] {
    &busy[busy.partition_point(|interval| interval.end <= time)..]
}

/// Adds an interval behind those that end no later.
fn insert(busy: &mut Vec<Interval>, interval: Interval) {
    busy.insert(busy.partition_point(|other| other.end <= interval.end), interval);
}

/// Returns the end of a copy that takes `duration` alone, beside copies of the other direction.
fn beside(other: &[Interval], start: f64, duration: f64, bus: f64) -> f64 {
    let mut crossing: Vec<&Interval> = after(other, start).iter().collect();
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

/// Returns whether a `share` is free throughout: it is tested where an interval starts, where alone the load can rise.
fn fits(busy: &[Interval], start: f64, end: f64, share: f64) -> bool {
    let busy = after(busy, start);
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
        let mut timeline = Timeline::new(1);
        assert_eq!(timeline.copy(0, true, 0.0, 10.0, 0.5).end, 10.0);
        assert_eq!(timeline.copy(0, true, 0.0, 10.0, 0.5).end, 20.0);
        assert_eq!(timeline.copy(0, false, 5.0, 10.0, 0.5).end, 15.0);
        assert_eq!(timeline.compute(0, 7.0, 1.0, 1.0).end, 8.0);
    }

    #[test]
    fn a_gap_is_used_by_work_that_was_ready_for_it() {
        let mut timeline = Timeline::new(1);
        timeline.compute(0, 0.0, 10.0, 1.0);
        timeline.compute(0, 20.0, 10.0, 1.0);
        assert_eq!(timeline.compute(0, 5.0, 10.0, 1.0).end, 20.0);
        assert_eq!(timeline.compute(0, 5.0, 11.0, 1.0).end, 41.0);
    }

    #[test]
    fn small_kernels_run_together() {
        let mut timeline = Timeline::new(1);
        assert_eq!(timeline.compute(0, 0.0, 10.0, 0.5).end, 10.0);
        assert_eq!(timeline.compute(0, 0.0, 10.0, 0.5).end, 10.0);
        assert_eq!(timeline.compute(0, 0.0, 10.0, 0.5).end, 20.0);
    }

    #[test]
    fn both_directions_together_have_what_the_bus_carries() {
        // Each wants 0.55 of the bus: together they take 1.1 times as long as one.
        let mut timeline = Timeline::new(1);
        assert_eq!(timeline.copy(0, true, 0.0, 100.0, 0.55).end, 100.0);
        let end = timeline.copy(0, false, 0.0, 100.0, 0.55).end;
        assert!((end - 110.0).abs() < 1e-9, "{end}");
        // Half of a copy beside another one, half alone.
        let end = timeline.copy(0, true, 200.0, 100.0, 0.55).end;
        assert_eq!(end, 300.0);
        let end = timeline.copy(0, false, 250.0, 100.0, 0.55).end;
        assert!((end - 355.0).abs() < 1e-9, "{end}");
        // What does not fill the bus is not held up.
        assert_eq!(timeline.copy(0, true, 400.0, 100.0, 0.2).end, 500.0);
        assert_eq!(timeline.copy(0, false, 400.0, 100.0, 0.5).end, 500.0);
    }

    #[test]
    fn a_link_has_two_ways_and_each_is_shared() {
        let mut timeline = Timeline::new(2);
        let way = |from, to| [((from, Engine::LinkOut), 0.8), ((to, Engine::LinkIn), 0.8)];
        assert_eq!(timeline.together(&way(0, 1), 0.0, 10.0), 0.0..10.0);
        assert_eq!(timeline.together(&way(1, 0), 0.0, 10.0), 0.0..10.0, "the other way is free");
        assert_eq!(timeline.together(&way(0, 1), 5.0, 10.0), 10.0..20.0, "the same way is not");
        let small = [((0, Engine::LinkOut), 0.1), ((1, Engine::LinkIn), 0.1)];
        assert_eq!(timeline.together(&small, 5.0, 10.0), 5.0..15.0, "but for a small part");
        assert_eq!(timeline.compute(1, 0.0, 10.0, 1.0), 0.0..10.0, "engines of devices are apart");
        assert_eq!(timeline.compute(0, 0.0, 10.0, 1.0), 0.0..10.0);
    }
}
