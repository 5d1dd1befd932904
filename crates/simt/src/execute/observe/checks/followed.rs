//! Values that do harm only where they are used, followed until something uses them.
//!
//! Compilers load ahead of a test and drop the value, and copy structures with their padding. So a load of bytes that
//! nobody wrote, and one that races, is no fault by itself. A launch that has such a load runs a second time, in which what
//! these loads return is followed through registers and memory, bit by bit where values are only moved. The rules are those
//! of memcheck (J. Seward and N. Nethercote, "Using Valgrind to Detect Undefined Value Errors with Bit-Precision", USENIX
//! ATC 2005).

use crate::execute::issue::block::Block;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::execute::observe::checks::bits::{compared, full, moved, value_of};
use crate::execute::observe::checks::exchanged::{handed, is_place, steering};
use crate::execute::observe::checks::follower::{Followed, FollowedLoad, LoadSite, byte_key};
use crate::execute::observe::checks::private::{defined_lanes, defined_mut, unwritten};
use crate::findings::{Finding, Hazard};
use crate::operation::{Access, Operation, Register};
use crate::program::Program;
use crate::uninitialized::number;
use races::{Epoch, Event, Request, lanes};

impl Worker<'_> {
    /// Returns whether an instruction is a load in a launch whose loads are followed.
    pub fn follows(&self, pc: usize) -> bool {
        let operation = &self.run.program.instructions[pc].operation;
        self.observers.follower.is_some() && matches!(operation, Operation::Load(_))
    }

    /// Follows what a load returns to its lanes; `undefined` returns the bytes of a range that nobody wrote, one bit each.
    pub fn follow_load(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        request: Request<'_>,
        hazard: Hazard,
        undefined: impl Fn(usize, u64, u32) -> u8,
    ) {
        let (run, pc) = (self.run, request.pc);
        let Operation::Load(access) = &run.program.instructions[pc].operation else { return };
        let Some(mut follower) = self.observers.follower.take() else { return };
        let races = follower.races(pc);
        let used_by = follower.is_dead(run.program, pc).then_some(pc as u32);
        for lane in lanes(request.mask) {
            let address = request.all[lane];
            let element = |index: usize| address + u64::from(access.bytes) * index as u64;
            let site = LoadSite {
                block: block.linear as u32,
                warp: warp.index as u8,
                lane: lane as u8,
                pc: pc as u32,
            };
            let bits_of = |index: usize| {
                let unwritten = undefined(lane, element(index), access.bytes);
                (0..access.bytes).filter(|at| unwritten >> at & 1 != 0).fold(0u64, |bits, at| {
                    let key = byte_key(hazard, site, element(index) + u64::from(at));
                    let left = !follower.parts.get(&key).copied().unwrap_or(0);
                    bits | u64::from(left) << (8 * at)
                })
            };
            let bits_left: Vec<u64> = (0..access.rows.len()).map(bits_of).collect();
            let all = u64::MAX >> (64 - 8 * access.bytes);
            let is_whole = bits_left.iter().all(|bits| *bits == all);
            let load = |is_whole, races| {
                let used_by = used_by.filter(|_| is_whole || races);
                FollowedLoad { address, bytes: request.bytes, is_whole, races, used_by }
            };
            let mut loads = Vec::new();
            if let Some(index) = bits_left.iter().position(|bits| *bits != 0) {
                let at = element(index) + u64::from(bits_left[index].trailing_zeros() / 8);
                let number = follower.load(site, load(is_whole, false));
                let place = (block.index, warp.index, pc);
                let finding = unwritten(run, place, (lane, at), hazard);
                loads.extend(number);
                let place = self.observers.findings.len();
                let left = follower.wait(pc, place, loads.clone(), finding);
                if let Some(finding) = left {
                    self.observers.find(hazard, pc, |_| finding);
                }
            }
            if races {
                loads.extend(follower.load(site, load(false, true)));
            }
            for (row, bits) in access.rows.iter().zip(&bits_left) {
                let Some(row) = *row else { continue };
                let mut bits = if races { all } else { *bits };
                let mut own = all;
                if access.signed && bits & !(all >> 1) != 0 {
                    bits |= full(row) & !all;
                    own = full(row);
                }
                if bits != 0 {
                    let value = Followed { loads: loads.clone(), own, ..Followed::new(bits) };
                    set_value(run.program, warp, row, lane, Some(value));
                }
            }
        }
        self.observers.follower = Some(follower);
    }

    /// Keeps the finding of a race until what was loaded is used; gives it back if that is not known.
    pub fn keep_race(
        &mut self,
        (block, warp, pc, lane): (u32, u32, usize, usize),
        (epoch, before): (Epoch, Event),
        address: u64,
        finding: Finding,
    ) -> Option<Finding> {
        let Some(follower) = &mut self.observers.follower else { return Some(finding) };
        let mine = LoadSite { block, warp: warp as u8, lane: lane as u8, pc: pc as u32 };
        let many = if before.is_many() { 0..32 } else { before.lane()..before.lane() + 1 };
        let theirs = many.map(|lane| LoadSite {
            block: epoch.block,
            warp: epoch.warp,
            lane: lane as u8,
            pc: before.pc() as u32,
        });
        let loads = follower.reaching(std::iter::once(mine).chain(theirs), address);
        follower.wait(pc, self.observers.findings.len(), loads, finding)
    }

    /// Passes what is followed from the sources of an instruction to its destinations, in lanes whose result is not
    /// `defined`; an instruction that decides something uses it. Returns the lanes that use what no load is known for.
    pub fn pass_followed(
        &mut self,
        warp: &mut Warp,
        pc: usize,
        (active, mask): (u32, u32),
        defined: u32,
    ) -> u32 {
        let program = self.run.program;
        let (instruction, detail) = (&program.instructions[pc], &program.details[pc]);
        let Some(mut follower) = self.observers.follower.take() else { return 0 };
        let mut unknown = 0;
        let guard = Register::Predicate(instruction.guard);
        let mut uses = |warp: &Warp, row: Register, of: u32, stored: Option<u32>| {
            for lane in lanes(of & !defined_lanes(warp, row)) {
                let Some(value) = value_of(program, warp, row, lane) else { continue };
                if !value.loads.is_empty() {
                    follower.used(&value, pc, stored);
                } else if stored.is_none() || value.is_computed {
                    unknown |= 1 << lane;
                }
            }
        };
        uses(warp, guard, active, None);
        let operation = &instruction.operation;
        match operation {
            Operation::Compute { .. } => {}
            Operation::Store(access) => {
                let values: Vec<Register> = access.rows.iter().flatten().copied().collect();
                for row in &detail.reads {
                    let is_value = values.contains(row) && access.base.register() != Some(*row);
                    uses(warp, *row, mask, is_value.then_some(access.bytes));
                }
            }
            _ => {
                let rows = steering(operation);
                let rows = rows.as_ref().unwrap_or(&detail.reads);
                rows.iter().for_each(|row| uses(warp, *row, mask, None));
            }
        }
        self.observers.follower = Some(follower);
        match handed(program, warp, operation, mask) {
            Some(values) => {
                for row in &detail.writes {
                    for (lane, value) in &values {
                        let value = value.clone().filter(|_| !is_place(operation, *row));
                        set_value(program, warp, *row, *lane, value);
                    }
                }
            }
            None => self.move_followed(warp, pc, mask, mask & !defined),
        }
        unknown
    }

    fn move_followed(&self, warp: &mut Warp, pc: usize, mask: u32, undefined: u32) {
        let program = self.run.program;
        let detail = &program.details[pc];
        let text = &program.texts[detail.text as usize];
        // What is taken apart goes through a row of its own.
        let parts = detail.writes.len().saturating_sub(1);
        let is_split = matches!(parts, 2 | 4)
            && text.starts_with("mov.b64")
            && matches!(detail.reads[..], [Register::Long(_)]);
        let moved = if is_split { None } else { moved(program, warp, pc, undefined) };
        // A shift by other than whole bytes is a product or a quotient.
        let is_shift = ["shl.", "shr."].iter().any(|name| text.starts_with(name));
        let amounts = match &program.instructions[pc].operation {
            Operation::Compute { operands, .. } if is_shift => {
                warp.registers.words.get(operands.b as usize).copied()
            }
            _ => None,
        };
        let known = compared(program, warp, pc, undefined);
        let mut values = Vec::new();
        for lane in lanes(undefined & !known) {
            let value = match &moved {
                _ if is_split => value_of(program, warp, detail.reads[0], lane),
                Some(moved) if moved.steered >> lane & 1 == 0 => {
                    let mut value = moved.value(program, warp, pc, lane);
                    value.is_computed |=
                        amounts.is_some_and(|amounts| !amounts[lane].is_multiple_of(8));
                    Some(value)
                }
                _ => {
                    let of =
                        detail.reads.iter().filter_map(|row| value_of(program, warp, *row, lane));
                    let loads = of.flat_map(|value| value.loads).collect();
                    Some(Followed::computed(loads, u64::MAX))
                }
            };
            values.extend(value.map(|value| (lane, value)));
        }
        for (index, target) in detail.writes.iter().enumerate() {
            for lane in lanes(mask) {
                set_value(program, warp, *target, lane, None);
            }
            for (lane, value) in &values {
                let mut value = value.clone();
                if is_split && index > 0 {
                    let width = 64 / parts;
                    let shift = width * (index - 1);
                    value.bits = value.bits >> shift & (u64::MAX >> (64 - width));
                    value.own >>= shift;
                }
                set_value(program, warp, *target, *lane, Some(value));
            }
        }
    }

    /// The bytes of a store that are undefined, at least in part, each with its lane: they stay as if nobody had written
    /// them, with their defined bits beside.
    pub fn undefined_stores(
        &mut self,
        block: u32,
        warp: &Warp,
        request: Request<'_>,
        access: &Access,
        hazard: Hazard,
    ) -> Vec<(usize, u64)> {
        let mut left = Vec::new();
        let program = self.run.program;
        let Some(follower) = &mut self.observers.follower else { return left };
        for (index, row) in access.rows.iter().enumerate() {
            let Some(row) = *row else { continue };
            for lane in lanes(request.mask & !defined_lanes(warp, row)) {
                // What was accused already does no further harm.
                let value = value_of(program, warp, row, lane);
                let Some(value) = value.filter(|value| !follower.is_accused(value, access.bytes))
                else {
                    continue;
                };
                let start = request.all[lane] + u64::from(access.bytes) * index as u64;
                let site = LoadSite {
                    block,
                    warp: warp.index as u8,
                    lane: lane as u8,
                    pc: request.pc as u32,
                };
                for at in 0..u64::from(access.bytes) {
                    // A shadow may know words only, so all bytes of the value are noted.
                    let bits = (value.bits >> (8 * at)) as u8;
                    follower.parts.insert(byte_key(hazard, site, start + at), !bits);
                    if bits != 0 {
                        left.push((lane, start + at));
                    }
                }
            }
        }
        left
    }
}

/// Sets what is followed in a lane of a register; nothing where it is defined.
fn set_value(
    program: &Program,
    warp: &mut Warp,
    row: Register,
    lane: usize,
    value: Option<Followed>,
) {
    let key = (number(program, row), lane as u8);
    match value.filter(|value| value.bits != 0) {
        Some(mut value) => {
            value.loads.sort_unstable();
            value.loads.dedup();
            warp.followed.insert(key, value);
            *defined_mut(warp, row) &= !(1 << lane);
        }
        None => {
            if !warp.followed.is_empty() {
                warp.followed.remove(&key);
            }
            *defined_mut(warp, row) |= 1 << lane;
        }
    }
}
