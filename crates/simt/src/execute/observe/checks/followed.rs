//! Values that do harm only where they are used, followed until something uses them.
//!
//! Compilers load ahead of a test and drop the value, and copy structures with their padding. So a load of bytes that
//! nobody wrote, and one that races, is no fault by itself. A launch that has such a load runs a second time, in which what
//! these loads return is followed through registers and memory, bit by bit where values are only moved. The rules are those
//! of memcheck (J. Seward and N. Nethercote, "Using Valgrind to Detect Undefined Value Errors with Bit-Precision", USENIX
//! ATC 2005).

use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{Warp, read_row, write_row};
use crate::execute::issue::worker::Worker;
use crate::execute::observe::checks::follower::{Followed, FollowedLoad, LoadSite};
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
            let bytes_left: Vec<u8> = (0..access.rows.len())
                .map(|index| undefined(lane, element(index), access.bytes))
                .collect();
            let all = u8::MAX >> (8 - access.bytes);
            let is_whole = bytes_left.iter().all(|bytes| *bytes == all);
            let site = LoadSite {
                block: block.linear as u32,
                warp: warp.index as u8,
                lane: lane as u8,
                pc: pc as u32,
            };
            let load = |is_strict| {
                let used_by = used_by.filter(|_| is_strict);
                FollowedLoad { address, bytes: request.bytes, is_strict, used_by }
            };
            let mut loads = Vec::new();
            if let Some(index) = bytes_left.iter().position(|bytes| *bytes != 0) {
                let at = element(index) + u64::from(bytes_left[index].trailing_zeros());
                let number = follower.load(site, load(is_whole));
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
                loads.extend(follower.load(site, load(true)));
            }
            for (row, bytes) in access.rows.iter().zip(&bytes_left) {
                let Some(row) = *row else { continue };
                let bits =
                    if races { u64::MAX >> (64 - 8 * access.bytes) } else { bits_of(*bytes) };
                if bits != 0 {
                    let value = Followed { loads: loads.clone(), bits, is_computed: false };
                    warp.followed.insert((number(run.program, row), lane as u8), value);
                    *defined_mut(warp, row) &= !(1 << lane);
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
        let mut uses = |warp: &Warp, row: Register, of: u32, is_copy: bool| {
            for lane in lanes(of & !defined_lanes(warp, row)) {
                let value = warp.followed.get(&(number(program, row), lane as u8));
                let is_computed = value.is_some_and(|value| value.is_computed);
                let is_copy = is_copy && !is_computed;
                let value = value.filter(|value| !value.loads.is_empty());
                match value {
                    Some(value) => follower.used(value, pc, is_copy),
                    None if is_copy => {}
                    None => unknown |= 1 << lane,
                }
            }
        };
        uses(warp, guard, active, false);
        match &instruction.operation {
            Operation::Compute { .. } => {}
            // Another lane may use what it is handed, and lanes are not told apart on the way.
            Operation::Shuffle { .. } => {
                let of_loads = |warp: &Warp, row: Register| {
                    let is_loaded = |lane: &usize| {
                        let value = warp.followed.get(&(number(program, row), *lane as u8));
                        value.is_some_and(|value| !value.loads.is_empty())
                    };
                    lanes(mask).filter(is_loaded).fold(0, |lanes, lane| lanes | 1 << lane)
                };
                for row in &detail.reads {
                    uses(warp, *row, of_loads(warp, *row), false);
                }
            }
            Operation::Store(access) => {
                let values: Vec<Register> = access.rows.iter().flatten().copied().collect();
                for row in &detail.reads {
                    uses(warp, *row, mask, values.contains(row));
                }
            }
            _ => detail.reads.iter().for_each(|row| uses(warp, *row, mask, false)),
        }
        self.observers.follower = Some(follower);
        self.move_followed(warp, pc, mask, mask & !defined);
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
        let moved = if is_split {
            let whole = detail.reads[0];
            Some(std::array::from_fn(|lane| followed_bits(program, warp, whole, lane)))
        } else {
            self.moved_bits(warp, pc, undefined)
        };
        // A shift by other than whole bytes is a product or a quotient.
        let is_shift = ["shl.", "shr."].iter().any(|name| text.starts_with(name));
        let amounts = match &program.instructions[pc].operation {
            Operation::Compute { operands, .. } if is_shift => {
                warp.registers.words.get(operands.b as usize).copied()
            }
            _ => None,
        };
        let moves_bytes = |lane: usize| {
            moved.is_some() && amounts.is_none_or(|bits| bits[lane].is_multiple_of(8))
        };
        let mut values = Vec::new();
        for lane in lanes(undefined) {
            let mut value =
                Followed { loads: Vec::new(), bits: u64::MAX, is_computed: !moves_bytes(lane) };
            for row in &detail.reads {
                let key = (number(program, *row), lane as u8);
                let is_undefined = defined_lanes(warp, *row) >> lane & 1 == 0;
                if let Some(source) = warp.followed.get(&key).filter(|_| is_undefined) {
                    value.loads.extend(&source.loads);
                    value.is_computed |= source.is_computed;
                }
            }
            value.loads.sort_unstable();
            value.loads.dedup();
            if let Some(bits) = &moved {
                value.bits = bits[lane];
            }
            values.push((lane as u8, value));
        }
        for (index, target) in detail.writes.iter().enumerate() {
            let row = number(program, *target);
            if !warp.followed.is_empty() {
                lanes(mask).for_each(|lane| {
                    warp.followed.remove(&(row, lane as u8));
                });
            }
            *defined_mut(warp, *target) |= mask;
            for (lane, value) in &values {
                let mut value = value.clone();
                if is_split && index > 0 {
                    let width = 64 / parts;
                    value.bits = value.bits >> (width * (index - 1)) & (u64::MAX >> (64 - width));
                }
                if value.bits != 0 {
                    warp.followed.insert((row, *lane), value);
                    *defined_mut(warp, *target) &= !(1 << lane);
                }
            }
        }
    }

    /// The undefined bits of the result of an instruction that only moves bits, by lane: the instruction itself moves them.
    fn moved_bits(&self, warp: &mut Warp, pc: usize, undefined: u32) -> Option<[u64; 32]> {
        let program = self.run.program;
        let detail = &program.details[pc];
        let Operation::Compute { function, operands } = program.instructions[pc].operation else {
            return None;
        };
        let text = &program.texts[detail.text as usize];
        let is_number = |row: &Register| !matches!(row, Register::Predicate(_));
        let all_numbers = detail.reads.iter().chain(&detail.writes).all(is_number);
        let target = *detail.writes.first()?;
        if undefined == 0 || !all_numbers || target.index() != operands.d {
            return None;
        }
        let bad = |row: &&Register| undefined & !defined_lanes(warp, **row) != 0;
        let is_move = detail.synthetic || text.starts_with("mov");
        let sources: Vec<Register> = if is_move {
            detail.reads.clone()
        } else {
            const OF_FIRST: [&str; 6] = ["cvt.u", "cvt.s", "shl.", "shr.u", "shr.b", "bfe.u"];
            let moves_first = OF_FIRST.iter().any(|name| text.starts_with(name));
            let one: Vec<Register> = detail.reads.iter().filter(bad).copied().collect();
            let is_first = one.first().is_some_and(|row| {
                row.index() == operands.a && detail.reads.iter().filter(|r| *r == row).count() == 1
            });
            if one.len() != 1 || !(text.starts_with("and.b") || moves_first && is_first) {
                return None;
            }
            one
        };
        let held: Vec<(Register, [u64; 32])> = sources
            .iter()
            .chain([&target])
            .map(|row| (*row, std::array::from_fn(|lane| read_row(warp, *row, lane))))
            .collect();
        let bits: Vec<[u64; 32]> = sources
            .iter()
            .map(|row| std::array::from_fn(|lane| followed_bits(program, warp, *row, lane)))
            .collect();
        for (row, bits) in sources.iter().zip(&bits) {
            write_row(warp, *row, undefined, |lane| bits[lane]);
        }
        // SAFETY: `choose` picked this function for this CPU when the kernel was decoded.
        unsafe { function(&mut warp.registers, &operands, undefined) };
        let moved = std::array::from_fn(|lane| read_row(warp, target, lane));
        for (row, values) in held {
            write_row(warp, row, u32::MAX, |lane| values[lane]);
        }
        Some(moved)
    }

    /// The bytes of a store that are undefined, each with its lane: they stay as if nobody had written them.
    pub fn undefined_stores(
        &self,
        warp: &Warp,
        request: Request<'_>,
        access: &Access,
    ) -> Vec<(usize, u64)> {
        let mut left = Vec::new();
        let Some(follower) = &self.observers.follower else { return left };
        for (index, row) in access.rows.iter().enumerate() {
            let Some(row) = *row else { continue };
            for lane in lanes(request.mask & !defined_lanes(warp, row)) {
                let value = warp.followed.get(&(number(self.run.program, row), lane as u8));
                // What was accused already does no further harm.
                if value.is_some_and(|value| follower.is_accused(value)) {
                    continue;
                }
                let bits = followed_bits(self.run.program, warp, row, lane);
                let start = request.all[lane] + u64::from(access.bytes) * index as u64;
                let bytes = (0..u64::from(access.bytes)).filter(|at| bits >> (8 * at) & 0xff != 0);
                left.extend(bytes.map(|at| (lane, start + at)));
            }
        }
        left
    }
}

/// The undefined bits of a lane of a register.
fn followed_bits(program: &Program, warp: &Warp, row: Register, lane: usize) -> u64 {
    if defined_lanes(warp, row) >> lane & 1 != 0 {
        return 0;
    }
    let key = (number(program, row), lane as u8);
    warp.followed.get(&key).map_or(u64::MAX, |value| value.bits)
}

/// The bits of bytes that have one bit each.
fn bits_of(bytes: u8) -> u64 {
    (0..8).filter(|at| bytes >> at & 1 != 0).fold(0, |bits, at| bits | 0xff << (8 * at))
}
