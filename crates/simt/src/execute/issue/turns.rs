//! Whose turn it is in a block: warps run until they wait, barriers let them go on.

use crate::error::{Error, Lanes};
use crate::execute::issue::block::{BARRIERS, Barrier, Block, CLUSTER_BARRIER, Stop, Turn};
use crate::execute::issue::warp::{Split, State, Warp};
use crate::execute::issue::worker::Worker;
use crate::execute::memory::pending::Awaited;
use crate::findings::{Finding, Hazard};
use crate::hash::mix;
use crate::operation::{BarrierKind, Operation, ReduceMode, Register};
use crate::options::Schedule;

/// Warp-instructions of a block after which others get a turn, where threads wait by polling memory.
const TURN_STEPS: u64 = 1 << 18;

impl Worker<'_> {
    /// Gives every warp turns.
    pub fn run_block(&mut self, block: &mut Block) -> Result<Turn, Error> {
        let end = self.steps + TURN_STEPS;
        loop {
            let mut ran = false;
            let mut spins = false;
            block.turn += 1;
            wake(block);
            for position in 0..block.warps.len() {
                let w = self.warp_at(block, position);
                if !block.warps[w].splits.iter().any(|s| s.state == State::Ready) {
                    continue;
                }
                ran = true;
                // None of them looks at the others while it runs.
                let mut warps = std::mem::take(&mut block.warps);
                let stop = self.run_warp(block, &mut warps[w]);
                block.warps = warps;
                spins |= stop? == Stop::Turn;
                self.release_barriers(block);
                wake(block);
            }
            if block.warps.iter().all(Warp::is_finished) {
                while self.deliver_bulk(block, Awaited::All)? {}
                return Ok(Turn::Ended);
            }
            if !ran && !self.deliver_bulk(block, Awaited::All)? {
                if give_up_waiting(block) {
                    return Ok(Turn::Spins);
                }
                if self.force_warp_level(block) {
                    continue;
                }
                let waits = |split: &Split| split.state == State::AtBarrier(CLUSTER_BARRIER);
                return if block.warps.iter().any(|warp| warp.splits.iter().any(waits)) {
                    Ok(Turn::Waits)
                } else {
                    Err(self.deadlock(block))
                };
            }
            // It may wait for another block by more than a loop: by barriers and locks within one.
            if spins || self.run.program.polls && self.steps > end {
                self.deliver_bulk(block, Awaited::All)?;
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
    pub fn release_barriers(&mut self, block: &mut Block) {
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
        if self.observers.checking {
            let splits = block.warps.iter().flat_map(|warp| &warp.splits);
            let waiting = splits.filter(|split| split.state == State::AtBarrier(id));
            let pcs = waiting.map(|split| split.pc);
            if let Some((first, last)) = pcs.clone().min().zip(pcs.max()) {
                block.met = (first != last).then_some([first, last]);
            }
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
                        Register::Predicate(row) => {
                            let row = &mut registers.predicates[*row as usize];
                            *row = if value != 0 { *row | split.mask } else { *row & !split.mask };
                        }
                        Register::Word(row) => {
                            let row = &mut registers.words[*row as usize];
                            for (lane, word) in row.iter_mut().enumerate() {
                                if split.mask >> lane & 1 != 0 {
                                    *word = value;
                                }
                            }
                        }
                        Register::Long(_) => {}
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
            let Some(first) = waiting.next() else { continue };
            let mask = waiting.clone().fold(first.mask, |m, s| m | s.mask);
            let aligned = matches!(
                self.run.program.instructions[first.pc as usize].operation,
                Operation::Barrier { aligned: true, .. }
            );
            let other = waiting.find(|s| s.pc != first.pc);
            let ended = warp.lanes & !warp.live;
            if aligned && other.is_none() && mask == warp.live && ended != 0 {
                let (index, w, pc) = (block.index, warp.index, first.pc as usize);
                self.observers.find(Hazard::SkippedBarrier, pc, |run| {
                    let message = format!(
                        "{} of the warp ended without reaching the aligned barrier {id}",
                        Lanes(ended)
                    );
                    Finding::new(Hazard::SkippedBarrier, run.place(index, w, mask, pc), message)
                });
            }
            if !aligned || (other.is_none() && mask == warp.live) {
                continue;
            }
            let (index, w, pc) = (block.index, warp.index, first.pc as usize);
            let (lanes, elsewhere) = (first.mask, other.map(|s| (s.pc as usize, s.mask)));
            self.observers.find(Hazard::DivergentBarrier, pc, |run| Finding {
                other: elsewhere.map(|(pc, lanes)| run.place(index, w, lanes, pc)),
                ..Finding::new(
                    Hazard::DivergentBarrier,
                    run.place(index, w, lanes, pc),
                    format!("the lanes of a warp are not together at the aligned barrier {id}"),
                )
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
                State::AtMbarrier(_) => "an mbarrier".into(),
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
            self.observers.find(Hazard::MemberMask, pc, |run| {
                Finding::new(
                    Hazard::MemberMask,
                    run.place(index, w, lanes, pc),
                    "the membermask names lanes that wait at another instruction".into(),
                )
            });
            return true;
        }
        false
    }
}

/// Lanes that sleep at an mbarrier look again when its phase has been completed.
fn wake(block: &mut Block) {
    if block.completed.is_empty() {
        return;
    }
    let completed = std::mem::take(&mut block.completed);
    for split in block.warps.iter_mut().flat_map(|warp| &mut warp.splits) {
        if matches!(split.state, State::AtMbarrier(address) if completed.contains(&address)) {
            split.state = State::Ready;
        }
    }
}

/// Nothing else of the block can run: its lanes have slept for as long as the hardware lets them, and go on with what
/// they were told, that the phase is not complete. Whether there were any.
fn give_up_waiting(block: &mut Block) -> bool {
    let mut any = false;
    for split in block.warps.iter_mut().flat_map(|warp| &mut warp.splits) {
        if matches!(split.state, State::AtMbarrier(_)) {
            (split.state, any) = (State::Ready, true);
            split.pc += 1;
        }
    }
    any
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
