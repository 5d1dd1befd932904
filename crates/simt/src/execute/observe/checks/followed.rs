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
use crate::execute::observe::checks::bits::{compared, defined_lanes, full, moved, value_of};
use crate::execute::observe::checks::exchanged::{handed, is_place, steering};
use crate::execute::observe::checks::follower::{
    Followed, FollowedLoad, Follower, LoadSite, Part, byte_key,
};
use crate::execute::observe::checks::private::{defined_mut, unwritten};
use crate::findings::{Finding, Hazard};
use crate::operation::{Access, Operation, Register};
use crate::program::Program;
use crate::uninitialized::number;
use races::{Epoch, Event, Request, lanes};
use std::sync::Arc;

impl Worker<'_> {
    /// Returns whether an instruction is a load in a launch whose loads are followed.
    pub fn follows(&self, pc: usize) -> bool {
        let operation = &self.run.program.instructions[pc].operation;
        self.observers.follower.is_some() && matches!(operation, Operation::Load(_))
    }

    /// Returns whether loads of an instruction race, so that what they return is followed.
    pub fn races(&self, pc: usize) -> bool {
        self.observers.follower.as_ref().is_some_and(|follower| follower.races(pc))
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
            let elements: Vec<Element> = (0..access.rows.len())
                .map(|index| {
                    let start = element(index);
                    let unwritten = undefined(lane, start, access.bytes);
                    let mut found = Element { own: u64::MAX, ..Element::default() };
                    for at in (0..access.bytes).filter(|at| unwritten >> at & 1 != 0) {
                        let address = start + u64::from(at);
                        let part = follower.parts.get(&byte_key(hazard, site, address));
                        let (defined, own) = part.map_or((0, u8::MAX), |p| (p.defined, p.own));
                        found.bits |= u64::from(!defined) << (8 * at);
                        found.own &= !(u64::from(!own) << (8 * at));
                        match part.and_then(|part| part.value.as_ref()) {
                            _ if defined == u8::MAX => {}
                            Some(value) => found.carried.push(Arc::clone(value)),
                            None => _ = found.unwritten.get_or_insert(address),
                        }
                    }
                    found
                })
                .collect();
            let all = u64::MAX >> (64 - 8 * access.bytes);
            let is_whole = elements.iter().all(|one| one.bits == all);
            let load = |(address, bytes), is_whole, races| {
                let used_by = used_by.filter(|_| is_whole || races);
                FollowedLoad { address, bytes, is_whole, races, used_by }
            };
            let mut loads = Vec::new();
            if let Some(at) = elements.iter().find_map(|one| one.unwritten) {
                let number = follower.load(site, load((address, request.bytes), is_whole, false));
                let place = (block.index, warp.index, pc);
                let finding = || unwritten(run, place, (lane, at), hazard);
                loads.extend(number);
                let place = self.observers.findings.len();
                let left = follower.wait((hazard, pc), place, loads.clone(), finding);
                if let Some(finding) = left {
                    self.observers.find(hazard, pc, |_| finding);
                }
            }
            for (index, (row, found)) in access.rows.iter().zip(elements).enumerate() {
                // An element that nothing uses may race, whatever becomes of the others of its vector.
                let one = load((element(index), access.bytes), false, true);
                let race = races.then(|| follower.load(site, one)).flatten();
                let Some(row) = *row else { continue };
                let mut value = Followed::new(if races { all } else { found.bits });
                value.own = found.own & all;
                if access.signed && value.bits & !(all >> 1) != 0 {
                    value.bits |= full(row) & !all;
                    value.own = full(row);
                }
                if found.unwritten.is_some() {
                    value.loads.extend(&loads);
                }
                value.is_taken = is_whole;
                value.loads.extend(race);
                for carried in found.carried {
                    value.loads.extend(&carried.loads);
                    value.is_computed |= carried.is_computed;
                    value.is_taken |= carried.is_taken;
                }
                if value.bits != 0 {
                    set_value(run.program, &mut follower, warp, (pc, row, lane), Some(value));
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
        (hazard, finding): (Hazard, impl FnOnce() -> Finding),
    ) -> Option<Finding> {
        let Some(follower) = &mut self.observers.follower else { return Some(finding()) };
        let mine = LoadSite { block, warp: warp as u8, lane: lane as u8, pc: pc as u32 };
        let many = if before.is_many() { 0..32 } else { before.lane()..before.lane() + 1 };
        let theirs = many.map(|lane| LoadSite {
            block: epoch.block,
            warp: epoch.warp,
            lane: lane as u8,
            pc: before.pc() as u32,
        });
        let loads = follower.reaching(std::iter::once(mine).chain(theirs), address);
        follower.wait((hazard, pc), self.observers.findings.len(), loads, finding)
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
        let guard = Register::Predicate(instruction.guard);
        let is_defined = |row: &Register| active & !defined_lanes(warp, *row) == 0;
        // Most instructions meet nothing that is followed; those of lanes that exchange values read others', too.
        if steering(&instruction.operation).is_none()
            && detail.reads.iter().chain([&guard]).all(is_defined)
        {
            detail.writes.iter().for_each(|row| define(program, warp, *row, mask));
            return 0;
        }
        let Some(mut follower) = self.observers.follower.take() else { return 0 };
        let mut unknown = 0;
        let mut uses = |warp: &Warp, row: Register, of: u32| {
            for lane in lanes(of & !defined_lanes(warp, row)) {
                let Some(value) = value_of(program, warp, row, lane) else { continue };
                follower.used(value, pc);
                unknown |= u32::from(value.loads.is_empty()) << lane;
            }
        };
        uses(warp, guard, active);
        let operation = &instruction.operation;
        match operation {
            Operation::Compute { .. } => {}
            // What is stored is looked at where it goes.
            Operation::Store(access) => {
                access.base.register().iter().for_each(|row| uses(warp, *row, mask));
            }
            _ => {
                let rows = steering(operation);
                let rows = rows.as_ref().unwrap_or(&detail.reads);
                rows.iter().for_each(|row| uses(warp, *row, mask));
            }
        }
        match handed(program, warp, operation, mask) {
            Some(values) => {
                for row in &detail.writes {
                    for (lane, value) in &values {
                        let value = value.clone().filter(|_| !is_place(operation, *row));
                        set_value(program, &mut follower, warp, (pc, *row, *lane), value);
                    }
                }
            }
            None => move_followed(program, &mut follower, warp, pc, (mask, mask & !defined)),
        }
        self.observers.follower = Some(follower);
        unknown
    }

    /// The bytes of a store that are undefined, at least in part, each with its lane: they stay as if nobody had written
    /// them, with what is known of them beside. A store to a space that a hazard names may be a use.
    pub fn undefined_stores(
        &mut self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        access: &Access,
        hazard: Hazard,
    ) -> Vec<(usize, u64)> {
        let mut left = Vec::new();
        let program = self.run.program;
        let Some(follower) = &mut self.observers.follower else { return left };
        let is_output = hazard == Hazard::UninitializedGlobal;
        let mut unknown = 0;
        for (index, row) in access.rows.iter().enumerate() {
            let Some(row) = *row else { continue };
            for lane in lanes(request.mask & !defined_lanes(warp, row)) {
                let Some(value) = value_of(program, warp, row, lane) else { continue };
                // What is accused does no further harm.
                if follower.stored(value, request.pc, (access.bytes, is_output)) {
                    unknown |= u32::from(value.loads.is_empty()) << lane;
                    continue;
                }
                let start = request.all[lane] + u64::from(access.bytes) * index as u64;
                let (number, warp) = (block.linear as u32, warp.index as u8);
                let site =
                    LoadSite { block: number, warp, lane: lane as u8, pc: request.pc as u32 };
                let goes_on = !is_output && (value.is_computed || !value.loads.is_empty());
                let value = Arc::new(value.clone());
                for at in 0..u64::from(access.bytes) {
                    // A shadow may know words only, so all bytes of the value are noted.
                    let part = |bits: u64| (bits >> (8 * at)) as u8;
                    let (defined, own) = (!part(value.bits), part(value.own));
                    let value = goes_on.then(|| Arc::clone(&value));
                    let key = byte_key(hazard, site, start + at);
                    follower.parts.insert(key, Part { defined, own, value });
                    if defined != u8::MAX {
                        left.push((lane, start + at));
                    }
                }
            }
        }
        if unknown != 0 {
            self.report_register(block.index, warp, request.pc, unknown);
        }
        left
    }
}

/// An element of a load as it lies in memory.
#[derive(Default)]
struct Element {
    /// The bits that are undefined.
    bits: u64,
    own: u64,
    /// Values that were stored there and are followed on.
    carried: Vec<Arc<Followed>>,
    /// The first byte that nobody wrote.
    unwritten: Option<u64>,
}

/// Passes what is followed through an instruction that computes, in lanes whose result may be undefined.
fn move_followed(
    program: &Program,
    follower: &mut Follower<'_>,
    warp: &mut Warp,
    pc: usize,
    (mask, undefined): (u32, u32),
) {
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
    // A comparison is a use of a value that races, whatever its outcome: nobody loaded it ahead of a test to drop it.
    let races = |lane: &usize| {
        let mut of = detail.reads.iter().filter_map(|row| value_of(program, warp, *row, *lane));
        of.any(|value| follower.is_racing(value))
    };
    let racing = lanes(undefined).filter(races).fold(0, |lanes, lane| lanes | 1 << lane);
    let known = compared(program, warp, pc, undefined & !racing);
    let mut values = Vec::new();
    for lane in lanes(undefined & !known) {
        let value = match &moved {
            _ if is_split => value_of(program, warp, detail.reads[0], lane).cloned(),
            Some(moved) if moved.steered >> lane & 1 == 0 => {
                let mut value = moved.value(program, warp, pc, lane);
                value.is_computed |=
                    amounts.is_some_and(|amounts| !amounts[lane].is_multiple_of(8));
                Some(value)
            }
            _ => {
                let of = detail.reads.iter().filter_map(|row| value_of(program, warp, *row, lane));
                let loads = of.flat_map(|value| &value.loads).copied().collect();
                Some(Followed::computed(loads, u64::MAX))
            }
        };
        values.extend(value.map(|value| (lane, value)));
    }
    for (index, target) in detail.writes.iter().enumerate() {
        define(program, warp, *target, mask);
        for (lane, value) in &values {
            let mut value = value.clone();
            if is_split && index > 0 {
                let width = 64 / parts;
                let shift = width * (index - 1);
                value.bits = value.bits >> shift & (u64::MAX >> (64 - width));
                value.own >>= shift;
            }
            set_value(program, follower, warp, (pc, *target, *lane), Some(value));
        }
    }
}

/// Makes lanes of a register defined.
fn define(program: &Program, warp: &mut Warp, row: Register, mask: u32) {
    warp.followed.remove(number(program, row), mask);
    *defined_mut(warp, row) |= mask;
}

/// Sets what is followed in a lane of a register; nothing where it is defined.
fn set_value(
    program: &Program,
    follower: &mut Follower<'_>,
    warp: &mut Warp,
    (pc, row, lane): (usize, Register, usize),
    value: Option<Followed>,
) {
    match value.filter(|value| value.bits != 0) {
        Some(mut value) => {
            follower.limit(&mut value, pc);
            warp.followed.insert(number(program, row), lane, value);
            *defined_mut(warp, row) &= !(1 << lane);
        }
        None => define(program, warp, row, 1 << lane),
    }
}
