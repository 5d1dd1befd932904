//! A block: its warps, its shared memory, its barriers, and whose turn it is.

use super::cluster::CLUSTER_BARRIER;
use super::shadow::SharedShadow;
use super::warp::{Split, State, Warp};
use super::{Machine, POISON, mix};
use crate::error::Error;
use crate::findings::{Finding, Hazard};
use crate::launch::Schedule;
use crate::program::{BarrierKind, LaneMask, Operation, Program, ReduceMode, Row, Space, Special};
use crate::registers::{ALWAYS, LANES};

/// Named barriers of a block.
const BARRIERS: usize = 16;

/// Arrivals at one barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barrier {
    pub arrived: u32,
    /// Threads to wait for when the instruction says so; all live threads otherwise.
    pub expected: Option<u32>,
    /// Threads whose predicate held, and threads in total, of `bar.red`.
    pub held: u32,
    pub voted: u32,
}

/// One block that runs.
#[derive(Debug)]
pub(crate) struct Block {
    pub linear: u64,
    pub index: [u32; 3],
    /// Its number in its cluster.
    pub rank: u32,
    /// The linear index of its cluster's first block.
    pub leader: u64,
    pub warps: Vec<Warp>,
    pub shared: Vec<u8>,
    pub barriers: [Barrier; BARRIERS],
    pub shadow: Option<Box<SharedShadow>>,
    /// Turns taken, for seeded schedules.
    pub turn: u64,
    pub bulk: Vec<super::asynchronous::PendingBulk>,
}

/// How a block's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All of it has ended.
    Ended,
    /// It spins, perhaps for other blocks.
    Spins,
    /// All of it waits for other blocks of its cluster.
    Waits,
}

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nothing of it can run at the moment, or it has ended.
    Blocked,
    /// Its turn is over.
    Turn,
}

impl Machine<'_> {
    pub fn start_block(&mut self, linear: u64) -> Block {
        let run = self.run;
        let index = run.block_index(linear);
        let place = run.place_in_cluster(index);
        let threads = run.launch.threads() as u32;
        let mut warps = Vec::with_capacity(run.warps_per_block as usize);
        for w in 0..run.warps_per_block {
            let mut warp = self.spare_warps.pop().unwrap_or_default();
            let left = threads - w * 32;
            let lanes = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
            self.start_warp(&mut warp, w, lanes, index);
            warps.push(warp);
        }
        if let Some(estimator) = &mut self.estimator {
            estimator.start_block();
        }
        self.blocks += 1;
        self.warps += run.warps_per_block as u64;
        let shadow = self.checking.then(|| Box::new(SharedShadow::new(run)));
        Block {
            linear,
            index,
            rank: run.rank(index),
            leader: run.linear(std::array::from_fn(|axis| index[axis] - place[axis])),
            warps,
            shared: vec![POISON; run.shared_bytes.next_multiple_of(16) as usize],
            barriers: [Barrier::default(); BARRIERS],
            shadow,
            turn: 0,
            bulk: Vec::new(),
        }
    }

    pub fn end_block(&mut self, mut block: Block) {
        if let Some(estimator) = &mut self.estimator {
            block.warps.iter_mut().for_each(|warp| estimator.end_warp(warp));
        }
        self.spare_warps.extend(block.warps);
    }

    fn start_warp(&self, warp: &mut Warp, w: u32, lanes: u32, block: [u32; 3]) {
        let run = self.run;
        let program = run.program;
        warp.index = w;
        let registers = &mut warp.registers;
        for row in &mut registers.words {
            *row = [0; LANES];
        }
        for row in &mut registers.longs {
            *row = [0; LANES];
        }
        registers.words.resize(program.words as usize, [0; LANES]);
        registers.longs.resize(program.longs as usize + 1, [0; LANES]);
        registers.predicates.clear();
        registers.predicates.resize(program.predicates as usize, 0);
        registers.predicates[ALWAYS as usize] = u32::MAX;
        for (index, value) in &run.word_constants {
            registers.words[*index as usize] = [*value; LANES];
        }
        for (index, value) in &run.long_constants {
            registers.longs[*index as usize] = [*value; LANES];
        }
        for (row, special) in &program.specials {
            registers.words[row.index() as usize] = self.special(*special, w, block);
        }
        warp.live = lanes;
        warp.lanes = lanes;
        warp.splits.clear();
        warp.splits.push(Split { pc: 0, mask: lanes, frames: Vec::new(), state: State::Ready });
        warp.local.clear();
        warp.local.resize(program.local_bytes as usize / 4 * LANES, u32::MAX);
        warp.copies.clear();
        warp.copy_group = 0;
        warp.rotate = 0;
        warp.at_cluster = 0;
        if self.estimator.is_some() {
            warp.clocks.reset(program.words, program.longs, program.predicates);
        }
        warp.local_written.clear();
        if self.checking {
            warp.local_written.resize(program.local_bytes as usize / 4 * LANES, 0);
            if !run.doubt.instructions.is_empty() {
                run.start_definedness(warp);
            }
            warp.settled = 0;
            warp.clock.clear();
            warp.clock.resize(run.warps_per_block as usize, 0);
            warp.clock[w as usize] = 1;
        }
    }

    fn special(&self, special: Special, w: u32, block: [u32; 3]) -> [u32; LANES] {
        let launch = &self.run.launch;
        let limits = &self.run.options.limits;
        let linear = |lane: usize| w * 32 + lane as u32;
        let [bx, by, _] = launch.block;
        match special {
            Special::ThreadIndex(axis) => std::array::from_fn(|lane| match axis {
                0 => linear(lane) % bx,
                1 => linear(lane) / bx % by,
                _ => linear(lane) / bx / by,
            }),
            Special::BlockSize(axis) => [launch.block[axis as usize]; LANES],
            Special::BlockIndex(axis) => [block[axis as usize]; LANES],
            Special::GridSize(axis) => [launch.grid[axis as usize]; LANES],
            Special::Lane => std::array::from_fn(|lane| lane as u32),
            Special::Warp => [w; LANES],
            Special::WarpCount => [self.run.warps_per_block; LANES],
            Special::Multiprocessor => {
                [(self.run.linear(block) % limits.multiprocessors.max(1) as u64) as u32; LANES]
            }
            Special::MultiprocessorCount => [limits.multiprocessors; LANES],
            Special::GridId => [1; LANES],
            Special::LaneMask(kind) => std::array::from_fn(|lane| {
                let equal = 1u32 << lane;
                match kind {
                    LaneMask::Equal => equal,
                    LaneMask::Less => equal - 1,
                    LaneMask::LessEqual => equal | (equal - 1),
                    LaneMask::Greater => !(equal | (equal - 1)),
                    LaneMask::GreaterEqual => !(equal - 1),
                }
            }),
            Special::TotalShared => [self.run.shared_bytes; LANES],
            Special::DynamicShared => [launch.dynamic_shared_bytes; LANES],
            Special::ClusterIndex(axis) => {
                [block[axis as usize] / self.run.cluster[axis as usize]; LANES]
            }
            Special::ClusterCount(axis) => [self.run.clusters()[axis as usize] as u32; LANES],
            Special::PlaceInCluster(axis) => {
                [self.run.place_in_cluster(block)[axis as usize]; LANES]
            }
            Special::ClusterSize(axis) => [self.run.cluster[axis as usize]; LANES],
            Special::ClusterRank => [self.run.rank(block); LANES],
            Special::ClusterBlocks => [self.run.blocks_per_cluster() as u32; LANES],
            Special::IsExplicitCluster => [u32::from(self.run.is_explicit_cluster); LANES],
        }
    }

    /// Gives every warp turns.
    pub fn run_block(&mut self, block: &mut Block) -> Result<Turn, Error> {
        loop {
            let mut ran = false;
            let mut spins = false;
            block.turn += 1;
            for position in 0..block.warps.len() {
                let w = self.warp_at(block, position);
                if !block.warps[w].splits.iter().any(|s| s.state == State::Ready) {
                    continue;
                }
                ran = true;
                let mut warp = std::mem::take(&mut block.warps[w]);
                let stop = self.run_warp(block, &mut warp);
                block.warps[w] = warp;
                spins |= stop? == Stop::Turn;
                self.release_barriers(block);
            }
            if block.warps.iter().all(Warp::is_finished) {
                self.deliver_bulk(block)?;
                return Ok(Turn::Ended);
            }
            if !ran && !self.deliver_bulk(block)? && !self.force_warp_level(block) {
                let waits = |split: &Split| split.state == State::AtBarrier(CLUSTER_BARRIER);
                return if block.warps.iter().any(|warp| warp.splits.iter().any(waits)) {
                    Ok(Turn::Waits)
                } else {
                    Err(self.deadlock(block))
                };
            }
            if spins {
                self.deliver_bulk(block)?;
                return Ok(Turn::Spins);
            }
        }
    }

    fn warp_at(&self, block: &Block, position: usize) -> usize {
        let count = block.warps.len();
        match self.run.options.schedule {
            Schedule::Forward => position,
            Schedule::Reverse => count - 1 - position,
            Schedule::Seeded(seed) => {
                let start = mix(seed ^ mix(block.linear) ^ block.turn);
                // A step that shares no factor with the count visits every warp once.
                let step = (start >> 32) as usize % count + 1;
                let step = (step..).find(|s| gcd(*s, count) == 1).unwrap_or(1);
                (start as usize % count + position * step) % count
            }
        }
    }

    /// Lets go of every barrier at which enough threads have arrived.
    fn release_barriers(&mut self, block: &mut Block) {
        for id in 0..BARRIERS {
            let barrier = block.barriers[id];
            if barrier.arrived == 0 {
                continue;
            }
            let live: u32 = block.warps.iter().map(|w| w.live.count_ones()).sum();
            let complete = match barrier.expected {
                Some(expected) => barrier.arrived >= expected,
                None => barrier.arrived >= live,
            };
            if complete {
                self.release(block, id as u32, barrier);
                block.barriers[id] = Barrier::default();
            }
        }
    }

    fn release(&mut self, block: &mut Block, id: u32, barrier: Barrier) {
        if self.checking {
            self.check_barrier(block, id);
            self.join_clocks(block, id);
        }
        let program = self.run.program;
        for warp in &mut block.warps {
            let registers = &mut warp.registers;
            for split in &mut warp.splits {
                if split.state != State::AtBarrier(id) {
                    continue;
                }
                split.state = State::Ready;
                let operation = &program.instructions[split.pc as usize].operation;
                if let Operation::Barrier {
                    kind: BarrierKind::Reduce { mode, result, .. }, ..
                } = operation
                {
                    let value = match mode {
                        ReduceMode::Count => barrier.held,
                        ReduceMode::And => u32::from(barrier.held == barrier.voted),
                        _ => u32::from(barrier.held > 0),
                    };
                    match result {
                        Row::Predicate(row) => {
                            let row = &mut registers.predicates[*row as usize];
                            *row = if value != 0 { *row | split.mask } else { *row & !split.mask };
                        }
                        Row::Word(row) => {
                            let row = &mut registers.words[*row as usize];
                            for (lane, word) in row.iter_mut().enumerate() {
                                if split.mask >> lane & 1 != 0 {
                                    *word = value;
                                }
                            }
                        }
                        Row::Long(_) => {}
                    }
                }
                split.pc += 1;
            }
        }
    }

    /// Lanes of a warp that wait for each other at one aligned barrier, but at different places.
    fn check_barrier(&mut self, block: &Block, id: u32) {
        if !self.run.options.checks.barriers {
            return;
        }
        for warp in &block.warps {
            let mut waiting = warp.splits.iter().filter(|s| s.state == State::AtBarrier(id));
            let Some(first) = waiting.next() else {
                continue;
            };
            let mask = waiting.clone().fold(first.mask, |m, s| m | s.mask);
            let aligned = matches!(
                self.run.program.instructions[first.pc as usize].operation,
                Operation::Barrier { aligned: true, .. }
            );
            let other = waiting.find(|s| s.pc != first.pc);
            if !aligned || (other.is_none() && mask == warp.live) {
                continue;
            }
            let (index, w, pc) = (block.index, warp.index, first.pc as usize);
            let (lanes, elsewhere) = (first.mask, other.map(|s| (s.pc as usize, s.mask)));
            self.find(Hazard::DivergentBarrier, pc, |run| Finding {
                hazard: Hazard::DivergentBarrier,
                place: run.place(index, w, lanes, pc),
                other: elsewhere.map(|(pc, lanes)| run.place(index, w, lanes, pc)),
                address: None,
                message: format!(
                    "the lanes of a warp are not together at the aligned barrier {id}"
                ),
            });
        }
    }

    /// Nothing can run: says who waits where.
    pub fn deadlock(&self, block: &Block) -> Error {
        let mut groups: Vec<(u32, State, u32, u32)> = Vec::new();
        for warp in &block.warps {
            for split in &warp.splits {
                match groups.iter_mut().find(|g| g.0 == split.pc) {
                    Some(group) => group.3 += 1,
                    None => groups.push((split.pc, split.state, warp.index, 1)),
                }
            }
        }
        let mut parts = Vec::new();
        for (pc, state, _, count) in &groups {
            let line = self.run.program.details[*pc as usize].position.line;
            let what = match state {
                State::AtBarrier(CLUSTER_BARRIER) => "the cluster's barrier".into(),
                State::AtBarrier(id) => {
                    let barrier = block.barriers[*id as usize];
                    let wanted = barrier.expected.map_or("all live".into(), |n| n.to_string());
                    format!("barrier {id} ({} of {wanted} threads arrived)", barrier.arrived)
                }
                State::AtWarp => "other lanes of their warp".into(),
                State::Ready => "their turn".into(),
            };
            parts.push(format!("{count} group(s) of lanes at PTX line {line} wait for {what}"));
        }
        let (pc, _, warp, _) = groups.first().copied().unwrap_or((0, State::Ready, 0, 0));
        let lanes = block.warps[warp as usize].splits.first().map_or(0, |s| s.mask);
        Error::Deadlock {
            place: Box::new(self.run.place(block.index, warp, lanes, pc as usize)),
            message: parts.join("; "),
        }
    }

    /// Lanes that wait for lanes which can never come: a finding, and they go on without.
    fn force_warp_level(&mut self, block: &mut Block) -> bool {
        let index = block.index;
        for warp in &mut block.warps {
            let Some(at) = warp.splits.iter().position(|s| s.state == State::AtWarp) else {
                continue;
            };
            let (pc, lanes, w) = (warp.splits[at].pc as usize, warp.splits[at].mask, warp.index);
            // Only lanes that sit at another warp-level instruction may be left behind; lanes at
            // a block barrier would make this a deadlock on hardware too.
            if warp.splits.iter().any(|s| matches!(s.state, State::AtBarrier(_))) {
                continue;
            }
            warp.splits[at].state = State::Ready;
            warp.forced = true;
            self.find(Hazard::MemberMask, pc, |run| Finding {
                hazard: Hazard::MemberMask,
                place: run.place(index, w, lanes, pc),
                other: None,
                address: None,
                message: "the membermask names lanes that wait at another instruction".into(),
            });
            return true;
        }
        false
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Bytes per entry of the race shadows: 4 unless the kernel makes smaller accesses.
pub(crate) fn shadow_granule(program: &Program) -> u32 {
    let bytes = program.instructions.iter().map(|instruction| match &instruction.operation {
        Operation::Load(access) | Operation::Store(access)
            if !matches!(access.space, Space::Local | Space::Parameter) =>
        {
            access.bytes
        }
        Operation::Atomic(atomic) => atomic.t.bytes(),
        _ => 4,
    });
    bytes.min().unwrap_or(4).clamp(1, 4)
}
