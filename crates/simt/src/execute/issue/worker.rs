use crate::execute::issue::block::{Block, Cluster};
use crate::execute::issue::run::Run;
use crate::execute::issue::warp::Warp;
use crate::execute::observe::observers::Observers;
use crate::observer::Observer;
use crate::report::{DeviceWork, KernelLaunch};
use races::{SharedShadow, VectorClock};
use std::collections::BTreeMap;

/// An instruction that lanes of a warp execute together.
pub(crate) struct Issue<'a> {
    pub block: &'a mut Block,
    pub warp: &'a mut Warp,
    pub pc: usize,
    pub mask: u32,
}

/// One worker: runs blocks, keeps its own counts.
pub(crate) struct Worker<'r> {
    pub observers: Observers<'r>,
    pub run: &'r Run<'r>,
    pub last_region: usize,
    /// The region that each instruction last found its addresses in.
    pub regions: Vec<u32>,
    pub spare_warps: Vec<Warp>,
    pub spare_shadows: Vec<SharedShadow>,
    /// The cluster that runs.
    pub cluster: Cluster,
    pub printed: Vec<(u64, String)>,
    pub print_bytes: u64,
    /// Launches by their buffers, which were asked for and not made yet.
    pub buffers: BTreeMap<u64, KernelLaunch>,
    /// Work that threads have enqueued, with the clock of the thread where it is kept.
    pub enqueued: Vec<(DeviceWork, Option<VectorClock>)>,
    /// The last error of the runtime for devices, by block, warp and lane.
    pub last_errors: BTreeMap<(u64, u32, usize), u64>,
    /// The streams that threads made.
    pub streams: u64,
    /// The CPU has the features of the wide functions.
    pub wide: bool,
    pub blocks: u64,
    pub warps: u64,
    /// Warp-instructions so far: the synthetic clock.
    pub steps: u64,
    /// Warp-instructions that were taken from the launch's fuel and have not run.
    pub fuel: u64,
    /// Atomics so far that changed what they reached.
    pub changes: u64,
}

impl<'r> Worker<'r> {
    pub fn new(run: &'r Run<'r>, observer: Option<&'r mut dyn Observer>) -> Worker<'r> {
        let count = run.program.instructions.len();
        Worker {
            observers: Observers::new(run, observer),
            run,
            last_region: 0,
            regions: vec![u32::MAX; count],
            spare_warps: Vec::new(),
            spare_shadows: Vec::new(),
            cluster: Cluster::new(),
            printed: Vec::new(),
            print_bytes: 0,
            buffers: BTreeMap::new(),
            enqueued: Vec::new(),
            last_errors: BTreeMap::new(),
            streams: 0,
            wide: crate::cpu::has_wide(),
            blocks: 0,
            warps: 0,
            steps: 0,
            fuel: 0,
            changes: 0,
        }
    }
}
