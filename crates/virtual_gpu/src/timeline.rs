//! The simulated time of the device's engines, in nanoseconds.
//!
//! An engine is a list of busy intervals. Work takes the first gap that is long enough after the moment it could start,
//! so that the order in which work is *executed* here (which follows what the host waits for) does not change when it
//! *ran*. Kernels share the compute engine as long as their blocks fit on the device together.

/// What works on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// Kernels, fills and copies inside the device.
    Compute,
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
    /// Takes no time of an engine: markers, host functions.
    None,
}

/// What the device or the host did, on the model's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationRecord {
    /// What it was.
    pub kind: OperationKind,
    /// The handle of its stream, where 1 is the legacy default stream and 2 the thread's; `None` for what the host did.
    pub stream: Option<usize>,
    /// When it started, in nanoseconds.
    pub start_ns: f64,
    /// When it ended, in nanoseconds.
    pub end_ns: f64,
}

/// What an [`OperationRecord`] is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationKind {
    /// A copy from the host, or managed memory that moves to the device. Of pageable memory that a call stages it is
    /// the time of the staging.
    Upload {
        /// Its size.
        bytes: u64,
    },
    /// A copy to the host, or managed memory that moves there.
    Download {
        /// Its size.
        bytes: u64,
    },
    /// A copy inside the device.
    DeviceCopy {
        /// Its size.
        bytes: u64,
    },
    /// A copy inside the host's memory.
    HostCopy {
        /// Its size.
        bytes: u64,
    },
    /// A fill of device memory.
    Fill {
        /// Its size.
        bytes: u64,
    },
    /// A kernel.
    Kernel {
        /// Its name.
        name: String,
    },
    /// A function of the host's that a stream called; it takes no time here.
    HostFunction,
    /// A stream waits for an event of another.
    Wait,
    /// An event is reached, which takes no time.
    Event,
    /// The host is in a call of the driver.
    Call {
        /// The function.
        name: &'static str,
    },
    /// The host reads memory of its own.
    HostRead {
        /// Its size.
        bytes: u64,
    },
}

#[derive(Debug, Clone, Copy)]
struct Interval {
    start: f64,
    end: f64,
    /// The part of the engine that is taken.
    share: f64,
}

/// When each engine is busy.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    compute: Vec<Interval>,
    upload: Vec<Interval>,
    download: Vec<Interval>,
}

impl Timeline {
    /// Books `duration` of a `share` of `engine`, not before `ready`, and says when it starts.
    pub(crate) fn book(&mut self, engine: Engine, ready: f64, duration: f64, share: f64) -> f64 {
        let busy = match engine {
            Engine::Compute => &mut self.compute,
            Engine::Upload => &mut self.upload,
            Engine::Download => &mut self.download,
            Engine::None => return ready,
        };
        let share = share.clamp(0.01, 1.0);
        let mut candidates: Vec<f64> =
            busy.iter().map(|interval| interval.end).filter(|end| *end > ready).collect();
        candidates.push(ready);
        candidates.sort_by(f64::total_cmp);
        let start = candidates
            .into_iter()
            .find(|start| fits(busy, *start, *start + duration, share))
            .unwrap_or(ready);
        busy.push(Interval { start, end: start + duration, share });
        start
    }

    /// Forgets what ended before `now`, which nothing can be booked before any more.
    pub(crate) fn forget_before(&mut self, now: f64) {
        for busy in [&mut self.compute, &mut self.upload, &mut self.download] {
            busy.retain(|interval| interval.end > now);
        }
    }
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
        assert_eq!(timeline.book(Engine::Upload, 0.0, 10.0, 1.0), 0.0);
        assert_eq!(timeline.book(Engine::Upload, 0.0, 10.0, 1.0), 10.0);
        assert_eq!(timeline.book(Engine::Download, 5.0, 10.0, 1.0), 5.0);
        assert_eq!(timeline.book(Engine::Compute, 7.0, 1.0, 1.0), 7.0);
    }

    #[test]
    fn a_gap_is_used_by_work_that_was_ready_for_it() {
        let mut timeline = Timeline::default();
        timeline.book(Engine::Compute, 0.0, 10.0, 1.0);
        timeline.book(Engine::Compute, 20.0, 10.0, 1.0);
        assert_eq!(timeline.book(Engine::Compute, 5.0, 10.0, 1.0), 10.0);
        assert_eq!(timeline.book(Engine::Compute, 5.0, 11.0, 1.0), 30.0);
    }

    #[test]
    fn small_kernels_run_together() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.book(Engine::Compute, 0.0, 10.0, 0.5), 0.0);
        assert_eq!(timeline.book(Engine::Compute, 0.0, 10.0, 0.5), 0.0);
        assert_eq!(timeline.book(Engine::Compute, 0.0, 10.0, 0.5), 10.0);
    }
}
