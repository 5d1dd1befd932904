//! Options of a launch.

use crate::findings::Checks;
use crate::launch::Limits;
use crate::model::{L2, Latencies};
use crate::trace::Trace;
use std::ops::Range;
use std::sync::Arc;

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

/// The warp whose requests are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Its block, by linear index.
    pub block: u64,
    /// Its number in the block.
    pub warp: u32,
}

/// The options of a launch.
#[derive(Clone, Debug)]
pub struct Options {
    /// Count memory traffic; instruction counts are always there.
    pub counters: bool,
    /// Which hazards to look for.
    pub checks: Checks,
    /// Threads to use; 0 takes what the machine has.
    pub threads: usize,
    /// Warp-instructions after which a launch is taken to run forever.
    pub fuel: u64,
    /// The order of warps and blocks.
    pub schedule: Schedule,
    /// Run blocks one after the other where their order could change results. Results are then
    /// the same for every number of threads.
    pub deterministic: bool,
    /// Run only these blocks, by linear index, with those of their clusters; all when `None`.
    pub sample: Option<Vec<u64>>,
    /// The device's limits.
    pub limits: Limits,
    /// Findings after which no more are recorded.
    pub findings_max: usize,
    /// Estimate what the launch waits for and what caches serve, with these figures.
    pub estimate: Option<Latencies>,
    /// Addresses of memory behind a slower link, such as the host's: the estimate counts their traffic apart.
    pub host_ranges: Vec<Range<u64>>,
    /// The same of memory that has small pages, which is not among [`Options::host_ranges`].
    pub host_small_page_ranges: Vec<Range<u64>>,
    /// Addresses of the memory of other devices: the estimate counts the traffic of each apart.
    pub peers: Vec<Range<u64>>,
    /// Addresses of memory whose pages move: the estimate says which granules of 64 KiB the launch touched.
    pub managed_ranges: Vec<Range<u64>>,
    /// Record the requests of this warp, if it runs; needs `counters`.
    pub watched: Option<Watched>,
    /// Filled with the instructions of a warp.
    pub trace: Option<Arc<Trace>>,
    /// The device's second cache, for the estimate.
    pub l2: L2,
    /// The factor between the bytes the launch stands for and those it touches, for the estimate.
    pub scale: f64,
    /// Report the bytes that the launch read and wrote; needs `checks.global_races`.
    pub footprint: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            counters: true,
            checks: Checks::none(),
            threads: 0,
            fuel: 20_000_000_000,
            schedule: Schedule::Forward,
            deterministic: true,
            sample: None,
            limits: Limits::default(),
            findings_max: 100,
            estimate: None,
            host_ranges: Vec::new(),
            host_small_page_ranges: Vec::new(),
            peers: Vec::new(),
            managed_ranges: Vec::new(),
            watched: None,
            trace: None,
            l2: L2::default(),
            scale: 1.0,
            footprint: false,
        }
    }
}
