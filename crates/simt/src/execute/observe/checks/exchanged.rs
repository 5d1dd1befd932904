//! Definedness in instructions in which lanes exchange values: a lane's result is as defined as what it takes from others.

use crate::execute::issue::exchange::shuffle_sources;
use crate::execute::issue::warp::{Warp, read_row};
use crate::execute::observe::checks::bits::{defined_lanes, value_of};
use crate::execute::observe::checks::follower::Followed;
use crate::operation::{Operation, ReduceMode, Register, VoteMode, WarpOperands};
use crate::program::Program;
use races::lanes;

/// The operands of an instruction whose lanes exchange values.
fn operands(operation: &Operation) -> Option<&WarpOperands> {
    match operation {
        Operation::Shuffle { operands, .. }
        | Operation::Vote { operands, .. }
        | Operation::Match { operands, .. }
        | Operation::Reduce { operands, .. } => Some(operands),
        _ => None,
    }
}

/// The registers that say which lanes exchange; nothing for another instruction.
pub(super) fn steering(operation: &Operation) -> Option<Vec<Register>> {
    let operands = operands(operation)?;
    let mut rows = vec![Register::Word(operands.members)];
    if matches!(operation, Operation::Shuffle { .. }) {
        rows.extend([operands.b, operands.c].map(Register::Word));
    }
    Some(rows)
}

/// Returns whether a register only says that a shuffle's source is inside its segment, whatever the values are.
pub(super) fn is_place(operation: &Operation, row: Register) -> bool {
    let is_shuffle = matches!(operation, Operation::Shuffle { .. });
    let predicate = operands(operation).and_then(|operands| operands.predicate);
    is_shuffle && predicate.map(Register::Predicate) == Some(row)
}

/// The lanes that take part with a lane.
fn group(warp: &Warp, operands: &WarpOperands, mask: u32, lane: usize) -> u32 {
    match warp.registers.words[operands.members as usize][lane] {
        0 => mask,
        members => members & mask,
    }
}

/// Returns the lanes of a mask that get nothing undefined from the lanes that they exchange values with.
pub(super) fn defined_results(warp: &Warp, operation: &Operation, mask: u32) -> Option<u32> {
    let operands = operands(operation)?;
    let defined = defined_lanes(warp, operands.a);
    let result = lanes(mask).filter(|lane| match operation {
        Operation::Shuffle { mode, .. } => {
            let (sources, _) = shuffle_sources(&warp.registers, *mode, operands);
            defined >> sources[*lane] & 1 != 0
        }
        _ => group(warp, operands, mask, *lane) & !defined == 0,
    });
    Some(result.fold(0, |lanes, lane| lanes | 1 << lane))
}

/// Returns the followed value in the result of each lane of a mask; nothing where it is defined.
pub(super) fn handed(
    program: &Program,
    warp: &Warp,
    operation: &Operation,
    mask: u32,
) -> Option<Vec<(usize, Option<Followed>)>> {
    let operands = operands(operation)?;
    let defined = defined_lanes(warp, operands.a);
    if let Operation::Shuffle { mode, .. } = operation {
        let (sources, _) = shuffle_sources(&warp.registers, *mode, operands);
        let source =
            |lane: usize| value_of(program, warp, operands.a, sources[lane] as usize).cloned();
        return Some(lanes(mask).map(|lane| (lane, source(lane))).collect());
    }
    let result = |lane: usize| {
        let group = group(warp, operands, mask, lane);
        let from: Vec<&Followed> =
            lanes(group).filter_map(|lane| value_of(program, warp, operands.a, lane)).collect();
        if from.is_empty() {
            return None;
        }
        let all = from.iter().fold(0, |all, value| all | value.bits);
        // Of the lanes whose value is known, and of each of the two values that a doubtful bit can have.
        let known = group & defined;
        let value = |lane: usize| read_row(warp, operands.a, lane);
        let bounds = |lane: usize| {
            let bits = value_of(program, warp, operands.a, lane).map_or(0, |value| value.bits);
            (value(lane) & !bits, value(lane) | bits)
        };
        let bits = match operation {
            Operation::Vote { mode, .. } => {
                let ones = lanes(known).filter(|lane| value(*lane) != 0).count();
                let zeros = known.count_ones() as usize - ones;
                match mode {
                    VoteMode::Ballot => u64::from(group & !defined),
                    VoteMode::All => u64::from(zeros == 0),
                    VoteMode::Any => u64::from(ones == 0),
                    VoteMode::Uniform => u64::from(ones == 0 || zeros == 0),
                }
            }
            Operation::Match { all: false, .. } if known >> lane & 1 != 0 => {
                u64::from(group & !defined)
            }
            Operation::Match { all: false, .. } => u64::from(group & !(1 << lane)),
            Operation::Match { .. } => {
                let mut known = lanes(known).map(value);
                let first = known.next();
                if known.all(|value| Some(value) == first) { u64::from(group) } else { 0 }
            }
            Operation::Reduce { mode: ReduceMode::And, .. } => {
                let ends = lanes(group).map(bounds);
                let (low, high) = ends.fold((u64::MAX, u64::MAX), |a, b| (a.0 & b.0, a.1 & b.1));
                low ^ high
            }
            Operation::Reduce { mode: ReduceMode::Or, .. } => {
                let (low, high) =
                    lanes(group).map(bounds).fold((0, 0), |a, b| (a.0 | b.0, a.1 | b.1));
                low ^ high
            }
            Operation::Reduce { mode: ReduceMode::Xor, .. } => all,
            _ => u64::from(u32::MAX),
        };
        let loads = from.into_iter().flat_map(|value| &value.loads).copied().collect();
        Some(Followed::computed(loads, bits))
    };
    Some(lanes(mask).map(|lane| (lane, result(lane))).collect())
}
