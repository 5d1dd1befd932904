use crate::findings::Checks;
use crate::launch::Limits;
use crate::trace::{Trace, Watched};
use std::sync::Arc;
use std::time::Duration;

/// The order in which warps and blocks take turns where the program leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Schedule {
    /// Ascending.
    #[default]
    Forward,
    /// Descending.
    Reverse,
    /// Permuted by a seed, with warps interrupted at points that the seed picks.
    Seeded(u64),
}

/// The options of a launch.
#[derive(Clone, Debug)]
pub struct Options {
    /// Count memory traffic; instruction counts are always there.
    pub counters: bool,
    /// Hazards to look for.
    pub checks: Checks,
    /// Threads to use; 0 takes what the machine has.
    pub threads: usize,
    /// Warp-instructions after which a launch is taken to run forever.
    pub fuel: u64,
    /// The order of warps and blocks.
    pub schedule: Schedule,
    /// Orders in which hazards of a small launch are looked for; its results and counts are those of `schedule`.
    pub schedules: u32,
    /// Run blocks one after the other where their order could change results, which then do not depend on threads.
    pub deterministic: bool,
    /// Run only these blocks, by linear index, with those of their clusters; all when `None`.
    pub sample: Option<Vec<u64>>,
    /// The device's limits.
    pub limits: Limits,
    /// Blocks that the device holds at once, where that is known better than by its limits.
    pub resident_blocks: Option<u64>,
    /// Findings after which no more are recorded.
    pub findings_max: usize,
    /// Record the requests of this warp, if it runs; needs `counters`.
    pub watched: Option<Watched>,
    /// Filled with the instructions of a warp.
    pub trace: Option<Arc<Trace>>,
    /// Report the bytes that the launch read and wrote; needs `checks.global_races`.
    pub footprint: bool,
    /// The time that the host has to change memory which it shares with a kernel that waits for just that.
    pub patience: fn() -> Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            counters: true,
            checks: Checks::none(),
            threads: 0,
            fuel: 20_000_000_000,
            schedule: Schedule::Forward,
            schedules: 1,
            deterministic: true,
            sample: None,
            limits: Limits::default(),
            resident_blocks: None,
            findings_max: 100,
            watched: None,
            trace: None,
            footprint: false,
            patience: || Duration::ZERO,
        }
    }
}
