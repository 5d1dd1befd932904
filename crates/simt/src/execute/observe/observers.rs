use crate::execute::issue::run::Run;
use crate::execute::memory::pattern::Pattern;
use crate::execute::observe::checks::follower::Follower;
use crate::findings::{Finding, Hazard};
use crate::observer::{AccessKind, Observer};
use crate::registers::LANES;
use counters::RequestCounts;
use counters::RequestRecord;
use races::GlobalShadow;
use races::Request;
use races::ShadowFootprint;
use std::collections::HashSet;

/// Counts of one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub warps: u64,
    pub threads: u64,
    pub predicated_on: u64,
    pub divergent: u64,
    pub generic: u64,
    pub global: RequestCounts,
    pub shared: RequestCounts,
    pub local: RequestCounts,
    pub constant: RequestCounts,
}

/// Counts, findings, the shadow of global memory, the observer and the recorder of one worker.
pub(crate) struct Observers<'r> {
    pub run: &'r Run<'r>,
    pub tallies: Vec<Tally>,
    pub patterns: Vec<Pattern>,
    /// By instruction, when checking.
    pub parts: Vec<ShadowFootprint>,
    pub findings: Vec<Finding>,
    /// Findings that are no error.
    pub notes: Vec<Finding>,
    pub seen: HashSet<(Hazard, u32)>,
    pub counting: bool,
    pub checking: bool,
    /// By instruction: touches a register that may be undefined, or that of a `wgmma`.
    pub doubted: &'r [bool],
    /// The accesses of the blocks to global memory, when they are checked.
    pub global: Option<Box<GlobalShadow>>,
    /// The loads that are followed, in a launch that runs again for that.
    pub follower: Option<Follower<'r>>,
    /// The observer of the launch, if it has one.
    pub observer: Option<&'r mut dyn Observer>,
    /// The warp that runs is the one whose requests are recorded.
    pub watching: bool,
    /// The requests so far, with their instructions.
    pub recorded: Vec<(usize, RequestRecord)>,
}

impl<'r> Observers<'r> {
    pub fn new(run: &'r Run<'r>, observer: Option<&'r mut dyn Observer>) -> Observers<'r> {
        let count = run.program.instructions.len();
        Observers {
            run,
            tallies: vec![Tally::default(); count],
            patterns: vec![Pattern::default(); count],
            parts: vec![
                ShadowFootprint::default();
                if run.options.checks.any() { count } else { 0 }
            ],
            findings: Vec::new(),
            notes: Vec::new(),
            seen: HashSet::new(),
            counting: run.options.counters,
            checking: run.options.checks.any(),
            // What is followed is followed through every instruction.
            doubted: match (&run.racing, &run.products) {
                (None, Some(products)) => &products.instructions,
                _ => &run.doubt.instructions,
            },
            global: run
                .options
                .checks
                .global_races
                .then(|| Box::new(GlobalShadow::new(run.memory.region_count(), run.parallel))),
            follower: run.racing.as_deref().map(|racing| Follower::new(run.program, racing)),
            observer,
            watching: false,
            recorded: Vec::new(),
        }
    }

    /// An access, with how its lanes lie. If there is a row, the addresses are its words plus one offset in 32 bits.
    #[inline(always)]
    pub fn observe<'a>(
        &mut self,
        pc: usize,
        mask: u32,
        (all, row): (&'a [u64; LANES], Option<&[u32; LANES]>),
        bytes: u32,
    ) -> Request<'a> {
        let pattern = &mut self.patterns[pc];
        let layout = match row {
            Some(row) => pattern.observe_words(mask, row, all, bytes),
            None => pattern.observe(mask, all, bytes),
        };
        Request { pc, mask, all, bytes, layout: Some(layout) }
    }

    /// Tells the observer of an access of global or constant memory.
    #[inline(always)]
    pub fn tell(&mut self, kind: AccessKind, request: Request<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.access(kind, request.into());
        }
    }

    /// Records a finding once per hazard and instruction.
    pub fn find(&mut self, hazard: Hazard, pc: usize, make: impl FnOnce(&Run<'_>) -> Finding) {
        let list = if hazard.is_note() { &mut self.notes } else { &mut self.findings };
        if list.len() < self.run.options.findings_max && self.seen.insert((hazard, pc as u32)) {
            list.push(make(self.run));
        }
    }
}
