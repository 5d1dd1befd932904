//! Instructions in which the lanes of a warp exchange values: shuffle, vote, match, reduce.

use crate::error::Lanes;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{Split, State, Warp, read_row, write_row};
use crate::execute::issue::worker::{Issue, Worker};
use crate::findings::{Finding, Hazard, Remedy};
use crate::operation::{Operation, ReduceMode, ShuffleMode, VoteMode, WarpOperands};
use crate::registers::{LANES, Registers};
use races::lanes;

impl Worker<'_> {
    /// Returns whether all lanes that the membermasks name are here; if not, the lanes are put aside.
    pub fn together(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        split: &mut Split,
        mask: u32,
        members: u32,
    ) -> bool {
        let row = warp.registers.words[members as usize];
        let mut wanted = 0;
        let mut left_out = 0u32;
        for (lane, members) in row.iter().enumerate() {
            if mask >> lane & 1 != 0 {
                wanted |= members;
                left_out |= u32::from(members >> lane & 1 == 0 && *members != 0) << lane;
            }
        }
        let missing = wanted & warp.live & !mask;
        let forced = std::mem::take(&mut warp.forced);
        if missing & !split.mask != 0 && !forced && warp.elsewhere(missing) {
            warp.splits.push(Split {
                pc: split.pc,
                mask: split.mask,
                frames: split.frames.clone(),
                state: State::AtWarp,
            });
            return false;
        }
        let gone = wanted & warp.lanes & !warp.live;
        let skipped = missing & split.mask;
        if left_out | gone | skipped != 0 && self.run.options.checks.barriers {
            let (index, w, pc) = (block.index, warp.index, split.pc as usize);
            let message = if left_out != 0 {
                format!("{} execute it but are not in their membermask", Lanes(left_out))
            } else if gone != 0 {
                format!("the membermask names {}, which have exited", Lanes(gone))
            } else {
                format!("the membermask names {}, which skip it by a guard", Lanes(skipped))
            };
            let fix = (left_out == 0 && gone != 0).then_some(Remedy::LaterExit);
            self.observers.find(Hazard::MemberMask, pc, |run| Finding {
                fix,
                ..Finding::new(Hazard::MemberMask, run.place(index, w, mask, pc), message)
            });
        }
        true
    }

    pub fn exchange(&mut self, issue: Issue<'_>, operation: &Operation) {
        let Issue { block, warp, pc, mask } = issue;
        match operation {
            Operation::Shuffle { mode, operands } => {
                self.shuffle(Issue { block, warp, pc, mask }, *mode, operands);
            }
            Operation::Vote { mode, operands } => vote(warp, mask, *mode, operands),
            Operation::Match { all, operands } => match_lanes(warp, mask, *all, operands),
            Operation::Reduce { mode, signed, operands } => {
                if let Some(observer) = &mut self.observers.observer {
                    let members = &warp.registers.words[operands.members as usize];
                    let first_lanes = lanes(mask).filter(|lane| {
                        lanes(mask).find(|other| members[*other] == members[*lane]) == Some(*lane)
                    });
                    observer.reduction(first_lanes.count() as u64);
                }
                reduce(warp, mask, *mode, *signed, operands);
            }
            Operation::Elect { operands } => {
                let leader = mask.trailing_zeros() as u64;
                if let Some(destination) = operands.destination {
                    write_row(warp, destination, mask, |_| leader);
                }
                if let Some(predicate) = operands.predicate {
                    let row = &mut warp.registers.predicates[predicate as usize];
                    *row = (*row & !mask) | (1u32 << leader & mask);
                }
            }
            _ => {}
        }
    }

    fn shuffle(&mut self, issue: Issue<'_>, mode: ShuffleMode, operands: &WarpOperands) {
        let Issue { block, warp, pc, mask } = issue;
        let values = warp.registers.words[operands.a.index() as usize];
        let members = warp.registers.words[operands.members as usize];
        let (sources, inside) = shuffle_sources(&warp.registers, mode, operands);
        let results = sources.map(|source| values[source as usize]);
        let mut inactive = 0u32;
        for (lane, source) in sources.into_iter().enumerate() {
            let takes_part =
                mask >> source & 1 != 0 && (members[lane] == 0 || members[lane] >> source & 1 != 0);
            inactive |= u32::from(!takes_part) << lane;
        }
        if let Some(destination) = operands.destination {
            write_row(warp, destination, mask, |lane| results[lane] as u64);
        }
        if let Some(predicate) = operands.predicate {
            let row = &mut warp.registers.predicates[predicate as usize];
            *row = (*row & !mask) | (inside & mask);
        }
        if inactive & mask != 0 && self.run.options.checks.barriers {
            let (index, w, readers) = (block.index, warp.index, inactive & mask);
            let read = lanes(readers).fold(0, |read, lane| read | 1 << sources[lane]);
            let gone = read & !warp.live;
            let message = format!(
                "a shuffle reads {}, which {}; the result is undefined",
                Lanes(if gone != 0 { gone } else { read }),
                if gone == 0 { "do not take part" } else { "have exited, or never were" }
            );
            self.observers.find(Hazard::InactiveSource, pc, |run| Finding {
                fix: (gone != 0).then_some(Remedy::LaterExit),
                ..Finding::new(Hazard::InactiveSource, run.place(index, w, readers, pc), message)
            });
        }
    }
}

/// Returns the lane that each lane of a shuffle takes its value from, and the lanes for which that lies inside of their
/// segment; the others take their own.
#[inline(always)]
pub(crate) fn shuffle_sources(
    registers: &Registers,
    mode: ShuffleMode,
    operands: &WarpOperands,
) -> ([u32; LANES], u32) {
    let b_row = &registers.words[operands.b as usize];
    let c_row = &registers.words[operands.c as usize];
    let mut inside = 0;
    let sources = std::array::from_fn(|lane| {
        let (b, c) = (b_row[lane] & 31, c_row[lane]);
        let (clamp, segment) = (c & 31, c >> 8 & 31);
        let id = lane as u32;
        let most = (id & segment) | (clamp & !segment);
        let least = id & segment;
        let (source, valid) = match mode {
            ShuffleMode::Up => {
                let source = id as i32 - b as i32;
                (source as u32, source >= most as i32)
            }
            ShuffleMode::Down => (id + b, id + b <= most),
            ShuffleMode::Butterfly => (id ^ b, id ^ b <= most),
            ShuffleMode::Index => {
                let source = least | (b & !segment);
                (source, source <= most)
            }
        };
        inside |= u32::from(valid) << lane;
        if valid { source & 31 } else { id }
    });
    (sources, inside)
}

fn vote(warp: &mut Warp, mask: u32, mode: VoteMode, operands: &WarpOperands) {
    let votes = warp.registers.predicates[operands.a.index() as usize] & mask;
    let members = warp.registers.words[operands.members as usize];
    let Some(destination) = operands.destination else { return };
    write_row(warp, destination, mask, |lane| {
        // Lanes with different masks vote in groups of their own.
        let group = if members[lane] == 0 { mask } else { members[lane] & mask };
        let votes = votes & group;
        match mode {
            VoteMode::All => u64::from(votes == group),
            VoteMode::Any => u64::from(votes != 0),
            VoteMode::Uniform => u64::from(votes == group || votes == 0),
            VoteMode::Ballot => votes as u64,
        }
    });
}

fn match_lanes(warp: &mut Warp, mask: u32, all: bool, operands: &WarpOperands) {
    let members = warp.registers.words[operands.members as usize];
    let values: [u64; LANES] = std::array::from_fn(|lane| read_row(warp, operands.a, lane));
    let results: [u32; LANES] = std::array::from_fn(|lane| {
        let group = members[lane] & mask;
        let same = (0..LANES)
            .filter(|other| group >> other & 1 != 0 && values[*other] == values[lane])
            .fold(0u32, |m, other| m | 1 << other);
        match (all, same == group) {
            (true, true) => group,
            (true, false) => 0,
            (false, _) => same,
        }
    });
    if let Some(destination) = operands.destination {
        write_row(warp, destination, mask, |lane| results[lane] as u64);
    }
    if let Some(predicate) = operands.predicate {
        let held = (0..LANES).fold(0u32, |m, lane| m | u32::from(results[lane] != 0) << lane);
        let row = &mut warp.registers.predicates[predicate as usize];
        *row = (*row & !mask) | (held & mask);
    }
}

fn reduce(warp: &mut Warp, mask: u32, mode: ReduceMode, signed: bool, operands: &WarpOperands) {
    let members = warp.registers.words[operands.members as usize];
    let values = warp.registers.words[operands.a.index() as usize];
    let combine = |a: u32, b: u32| match mode {
        ReduceMode::Add | ReduceMode::Count => a.wrapping_add(b),
        ReduceMode::Minimum if signed => (a as i32).min(b as i32) as u32,
        ReduceMode::Maximum if signed => (a as i32).max(b as i32) as u32,
        ReduceMode::Minimum => a.min(b),
        ReduceMode::Maximum => a.max(b),
        ReduceMode::And => a & b,
        ReduceMode::Or => a | b,
        ReduceMode::Xor => a ^ b,
    };
    let Some(destination) = operands.destination else { return };
    write_row(warp, destination, mask, |lane| {
        let group = members[lane] & mask;
        (0..LANES)
            .filter(|other| group >> other & 1 != 0)
            .map(|other| values[other])
            .reduce(combine)
            .unwrap_or(0) as u64
    });
}
