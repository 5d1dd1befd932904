//! The definedness of a lane's registers and local memory.

use crate::execute::issue::block::Block;
use crate::execute::issue::run::Run;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::observe::checks::bits::defined_lanes;
use crate::execute::observe::checks::exchanged::{defined_results, is_place, steering};
use crate::execute::observe::checks::follower::{LoadSite, byte_key};
use crate::execute::observe::observers::Observers;
use crate::findings::{Finding, Hazard, Remedy};
use crate::operation::{Access, Operation, Register};
use crate::registers::LANES;
use crate::uninitialized::{defined_at_start, number};
use races::Request;
use races::lanes;
use std::sync::atomic::Ordering;

impl Run<'_> {
    /// Rows in doubt are undefined when a warp starts, except those that have a value.
    pub fn start_definedness(&self, warp: &mut Warp) {
        let program = self.program;
        for (rows, count, make) in [
            (&mut warp.defined_words, program.words, Register::Word as fn(u32) -> Register),
            (&mut warp.defined_longs, program.longs + 1, Register::Long),
            (&mut warp.defined_predicates, program.predicates, Register::Predicate),
        ] {
            rows.clear();
            rows.extend((0..count).map(|index| {
                if self.doubt.holds(number(program, make(index))) { 0 } else { u32::MAX }
            }));
        }
        for row in defined_at_start(program) {
            *defined_mut(warp, row) = u32::MAX;
        }
    }
}

impl Observers<'_> {
    /// Copies which bits of local bytes are defined, where loads are followed.
    pub fn copy_parts(&mut self, (block, warp): (u32, u32), mask: u32, copy: (u32, u32, u32)) {
        let Some(follower) = &mut self.follower else { return };
        let (from, to, bytes) = copy;
        for lane in lanes(mask) {
            let site = LoadSite { block, warp: warp as u8, lane: lane as u8, pc: 0 };
            let key = |at: u32| byte_key(Hazard::UninitializedLocal, site, at.into());
            for at in 0..bytes {
                match follower.parts.get(&key(from + at)).cloned() {
                    Some(part) => follower.parts.insert(key(to + at), part),
                    None => follower.parts.remove(&key(to + at)),
                };
            }
        }
    }
}

impl Worker<'_> {
    /// Passes definedness from sources to destinations, and reports where it matters: in an
    /// address, a guard, or a value that decides something outside the registers.
    #[cold]
    pub fn check_registers(&mut self, mut issue: Issue<'_>, active: u32) {
        if self.run.products.is_some() {
            self.check_products(&mut issue);
            if self.run.doubt.instructions.get(issue.pc) != Some(&true) {
                return;
            }
        }
        let operation = &self.run.program.instructions[issue.pc].operation;
        if issue.mask == 0 || steering(operation).is_none() {
            self.check_definedness(issue, active);
        }
    }

    /// The same for an instruction whose lanes exchange values, when all of them have come.
    #[cold]
    pub fn check_definedness(&mut self, issue: Issue<'_>, active: u32) {
        let Issue { block, warp, pc, mask } = issue;
        let program = self.run.program;
        let instruction = &program.instructions[pc];
        let detail = &program.details[pc];
        let guard = warp.defined_predicates[instruction.guard as usize];
        let mut bad = active & !guard;
        let mut defined = u32::MAX;
        // The old D does not matter where it is not added.
        let dropped: &[Register] = match &instruction.operation {
            Operation::Wgmma(product) if !product.adds(warp) => &product.part.c,
            _ => &[],
        };
        for row in detail.reads.iter().filter(|row| !dropped.contains(row)) {
            defined &= defined_lanes(warp, *row);
        }
        let mut result = u32::MAX;
        match &instruction.operation {
            Operation::Compute { operands, .. } => {
                result = defined;
                let text = &program.texts[detail.text as usize];
                if text.starts_with("selp") && !detail.synthetic {
                    // Only the chosen value has to be defined.
                    let chosen = warp.registers.predicates[operands.c as usize];
                    let (a, b) = match detail.writes.first() {
                        Some(Register::Long(_)) => {
                            (Register::Long(operands.a), Register::Long(operands.b))
                        }
                        _ => (Register::Word(operands.a), Register::Word(operands.b)),
                    };
                    let (a, b) = (defined_lanes(warp, a), defined_lanes(warp, b));
                    result =
                        warp.defined_predicates[operands.c as usize] & (chosen & a | !chosen & b);
                }
                // One operand may decide the result whatever the other is: false in a conjunction, true in a disjunction.
                for (name, decides) in [("and.", false), ("or.", true)] {
                    if text.starts_with(name) {
                        for row in &detail.reads {
                            result |= defined_lanes(warp, *row) & lanes_all(warp, *row, decides);
                        }
                    }
                }
            }
            Operation::Store(access) => {
                // The value may be partly undefined; the address may not.
                let base = access.base.register();
                bad |= mask & !base.map_or(u32::MAX, |row| defined_lanes(warp, row));
                if mask & !defined & !bad != 0 {
                    self.run.doubtful.store(true, Ordering::Relaxed);
                }
            }
            operation => match (steering(operation), defined_results(warp, operation, mask)) {
                (Some(rows), Some(lanes)) => {
                    result = lanes;
                    bad |= rows.iter().fold(0, |bad, row| bad | mask & !defined_lanes(warp, *row));
                }
                _ => bad |= mask & !defined,
            },
        }
        if self.observers.follower.is_some() {
            bad = self.pass_followed(warp, pc, (active, mask), result);
        } else {
            for row in &detail.writes {
                let is_place = is_place(&instruction.operation, *row);
                let lanes = defined_mut(warp, *row);
                *lanes = *lanes & !mask | if is_place { mask } else { result & mask };
            }
        }
        if bad != 0 {
            // Bit by bit it may be defined.
            self.run.doubtful.store(true, Ordering::Relaxed);
            self.report_register(block.index, warp, pc, bad);
        }
    }

    /// Records that lanes use a register that was never written.
    #[cold]
    pub fn report_register(&mut self, block: [u32; 3], warp: &Warp, pc: usize, lanes: u32) {
        let w = warp.index;
        self.observers.find(Hazard::UninitializedRegister, pc, |run| {
            Finding::new(
                Hazard::UninitializedRegister,
                run.place(block, w, lanes, pc),
                "a register that was never written decides what happens, or what is stored".into(),
            )
        });
    }

    pub fn check_local_read(&mut self, block: &Block, warp: &mut Warp, request: Request<'_>) {
        if !self.run.options.checks.uninitialized {
            return;
        }
        if self.follows(request.pc) {
            let written = std::mem::take(&mut warp.local_written);
            self.follow_load(
                block,
                warp,
                request,
                Hazard::UninitializedLocal,
                |lane, at, bytes| {
                    undefined_bytes(at, bytes, |at| {
                        let word = (at / 4) as usize * LANES + lane;
                        written.get(word).is_some_and(|bits| bits >> (at % 4) & 1 == 0)
                    })
                },
            );
            warp.local_written = written;
            return;
        }
        for lane in lanes(request.mask) {
            let address = request.all[lane];
            let unwritten = (address..address + request.bytes as u64).any(|at| {
                let word = (at / 4) as usize * LANES + lane;
                warp.local_written.get(word).is_some_and(|bits| bits >> (at % 4) & 1 == 0)
            });
            if unwritten {
                self.report_unwritten(
                    block,
                    warp,
                    request.pc,
                    (lane, address),
                    Hazard::UninitializedLocal,
                );
            }
        }
    }

    /// Records that a load reads bytes that nobody wrote.
    #[cold]
    pub fn report_unwritten(
        &mut self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        at: (usize, u64),
        hazard: Hazard,
    ) {
        // A byte that was written in part is no more told apart here.
        if let Some(follower) = &self.observers.follower {
            let (block, warp) = (block.linear as u32, warp.index as u8);
            let site = LoadSite { block, warp, lane: at.0 as u8, pc: pc as u32 };
            if follower
                .parts
                .get(&byte_key(hazard, site, at.1))
                .is_some_and(|part| part.defined != 0)
            {
                return;
            }
        }
        if matches!(self.run.program.instructions[pc].operation, Operation::Load(_)) {
            self.run.doubtful.store(true, Ordering::Relaxed);
        }
        let (index, w) = (block.index, warp.index);
        self.observers.find(hazard, pc, |run| unwritten(run, (index, w, pc), at, hazard));
    }

    pub fn mark_local(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        request: Request<'_>,
        access: &Access,
    ) {
        for lane in lanes(request.mask) {
            warp.mark_local(lane, request.all[lane], request.bytes);
        }
        let hazard = Hazard::UninitializedLocal;
        for (lane, at) in self.undefined_stores(block, warp, request, access, hazard) {
            let word = (at / 4) as usize * LANES + lane;
            if let Some(bits) = warp.local_written.get_mut(word) {
                *bits &= !(1 << (at % 4));
            }
        }
    }
}

/// The finding that a lane reads an address that nobody wrote.
pub(super) fn unwritten(
    run: &Run<'_>,
    (block, warp, pc): ([u32; 3], u32, usize),
    (lane, address): (usize, u64),
    hazard: Hazard,
) -> Finding {
    let (what, location) = match hazard {
        Hazard::UninitializedLocal => (format!("local byte {address}"), None),
        Hazard::UninitializedShared => {
            (format!("shared address {address:#x}"), Some(run.locate_shared(address)))
        }
        _ => (format!("{address:#x}"), Some(run.memory.locate(address))),
    };
    let place = location.as_ref().map_or_else(String::new, |location| format!("; {location}"));
    // Of host memory nothing else is known to be undefined.
    let found = location.as_ref().and_then(|_| run.memory.find(address, 1));
    let is_discarded = hazard == Hazard::UninitializedGlobal
        && found.is_some_and(|index| run.memory.region(index).is_mapped());
    let (claim, fix) = match run.program.instructions[pc].operation {
        Operation::Mbarrier { .. } => (
            "is used as an mbarrier, which nobody initialized (mbarrier.init)",
            Some(Remedy::InitBarrier),
        ),
        _ if is_discarded => (
            "is read, and its content was discarded and not written since",
            Some(Remedy::EarlierStore),
        ),
        _ => ("is read but was never written", None),
    };
    let message = format!("{what} {claim}{place}");
    let finding = Finding::new(hazard, run.place(block, warp, 1 << lane, pc), message);
    Finding { address: Some(address), location, fix, ..finding }
}

/// The bytes of a range for which a condition holds, one bit each.
pub(super) fn undefined_bytes(
    start: u64,
    bytes: u32,
    mut is_undefined: impl FnMut(u64) -> bool,
) -> u8 {
    (0..bytes).filter(|at| is_undefined(start + u64::from(*at))).fold(0, |all, at| all | 1 << at)
}

/// The lanes in which all bits of a register are as `bit`.
fn lanes_all(warp: &Warp, row: Register, bit: bool) -> u32 {
    fn of<T: PartialEq>(values: &[T; LANES], all: T) -> u32 {
        values.iter().enumerate().fold(
            0,
            |mask, (lane, value)| {
                if *value == all { mask | 1 << lane } else { mask }
            },
        )
    }
    match row {
        Register::Word(index) => {
            of(&warp.registers.words[index as usize], if bit { u32::MAX } else { 0 })
        }
        Register::Long(index) => {
            of(&warp.registers.longs[index as usize], if bit { u64::MAX } else { 0 })
        }
        Register::Predicate(index) => {
            let values = warp.registers.predicates[index as usize];
            if bit { values } else { !values }
        }
    }
}

pub(super) fn defined_mut(warp: &mut Warp, row: Register) -> &mut u32 {
    match row {
        Register::Word(index) => &mut warp.defined_words[index as usize],
        Register::Long(index) => &mut warp.defined_longs[index as usize],
        Register::Predicate(index) => &mut warp.defined_predicates[index as usize],
    }
}
