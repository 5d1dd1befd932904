//! Loops that go on until other threads have written something: how often they run depends on timing.
//!
//! Retries of a compare-and-swap, polls of a flag, look-back: the executor runs blocks in turn, so that it counts few
//! turns of such a loop, and a GPU makes as many as its timing asks for.

use crate::operation::{AtomicOperation, MbarrierOperation, Operation, Register};
use crate::program::{ClockWait, Constant, Instruction, Program};
use crate::registers::ALWAYS;
use crate::uninitialized::number;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that are looked at in all; in a program where that is not enough, every candidate counts.
const WORK_MAX: usize = 1 << 22;

/// The instructions, in ascending order, that read what other threads may write, and whose result decides whether a
/// loop around them goes on.
///
/// Followed are registers, and what is only executed under a condition, between the first and the last instruction of a
/// loop; not calls, and not what goes through memory.
pub(crate) fn decisive(program: &Program) -> Vec<u32> {
    let instructions = program.instructions.iter().enumerate();
    let candidates: BTreeSet<usize> =
        instructions.filter(|(_, it)| reads_of_others(&it.operation)).map(|(pc, _)| pc).collect();
    let mut work = WORK_MAX;
    let mut found = BTreeSet::new();
    for (start, end) in loops(program) {
        for pc in candidates.range(start..=end) {
            let Some(left) = work.checked_sub(1) else {
                return candidates.into_iter().map(|pc| pc as u32).collect();
            };
            work = left;
            if !found.contains(pc) && decides(program, (start, end), *pc, &mut work) {
                found.insert(*pc);
            }
        }
    }
    found.into_iter().map(|pc| pc as u32).collect()
}

/// Returns the compare-and-swaps among these that a thread may give up, with the first instruction of their loop.
///
/// Such a loop has a second way out: a maximum needs no other try once the number is larger.
pub(crate) fn abandoned(program: &Program, decisive: &[u32]) -> BTreeMap<u32, u32> {
    let is_swap = |pc: &u32| {
        matches!(&program.instructions[*pc as usize].operation,
            Operation::Atomic(atomic) if atomic.operation == AtomicOperation::CompareSwap)
    };
    let loops = if decisive.iter().any(is_swap) { loops(program) } else { Vec::new() };
    let left_loop = |pc: u32| {
        let around = loops.iter().find(|(start, end)| (*start..=*end).contains(&(pc as usize)));
        let (start, end) = *around?;
        (exits(program, start, end) > 1).then_some((pc, start as u32))
    };
    decisive.iter().copied().filter(is_swap).filter_map(left_loop).collect()
}

/// Returns the accesses among these that wait until another thread writes: polls and spin locks.
///
/// A thread that swaps what it has just read, tries the next word, draws numbers or follows a list gets on by itself.
pub(crate) fn polling(program: &Program, decisive: &[u32]) -> Vec<u32> {
    let loops = if decisive.is_empty() { Vec::new() } else { loops(program) };
    let mut work = WORK_MAX;
    let mut polls = |pc: &u32| {
        let pc = *pc as usize;
        let around = loops.iter().filter(|(start, end)| (*start..=*end).contains(&pc));
        around.copied().any(|turn| {
            asks_again(program, turn, pc, &mut work) && decides(program, turn, pc, &mut work)
        })
    };
    decisive.iter().copied().filter(|pc| polls(pc)).collect()
}

/// Returns the first and the last instruction of each loop that goes on until a clock says so.
pub(crate) fn timed(program: &Program) -> Vec<(usize, usize)> {
    let is_clock =
        |pc: &usize| matches!(program.instructions[*pc].operation, Operation::ReadClock { .. });
    let clocks: Vec<usize> = (0..program.instructions.len()).filter(is_clock).collect();
    let loops = if clocks.is_empty() { Vec::new() } else { loops(program) };
    let mut work = WORK_MAX;
    let mut is_timed = |turn: (usize, usize)| {
        let mut inside = clocks.iter().filter(|pc| (turn.0..=turn.1).contains(*pc));
        inside.any(|pc| decides(program, turn, *pc, &mut work))
    };
    loops.into_iter().filter(|turn| is_timed(*turn)).collect()
}

/// Returns the reads of a clock on which a loop waits, as far as its comparison is found, in ascending order.
pub(crate) fn clock_waits(program: &Program) -> Vec<(u32, ClockWait)> {
    let mut waits = BTreeMap::new();
    for (start, end) in timed(program) {
        for pc in start..=end {
            if matches!(program.instructions[pc].operation, Operation::ReadClock { .. })
                && let Some(wait) = clock_wait(program, pc, end)
            {
                waits.entry(pc as u32).or_insert(wait);
            }
        }
    }
    waits.into_iter().collect()
}

/// Follows what is read from a clock to the first comparison of it.
fn clock_wait(program: &Program, pc: usize, end: usize) -> Option<ClockWait> {
    let mut value = *program.details[pc].writes.first()?;
    let (mut less, mut more) = (None, None);
    for (instruction, detail) in
        program.instructions.iter().zip(&program.details).take(end + 1).skip(pc + 1)
    {
        let Operation::Compute { operands, .. } = &instruction.operation else { continue };
        if detail.synthetic || !detail.reads.contains(&value) {
            continue;
        }
        let is_first = operands.a == value.index();
        let other = if is_first { operands.b } else { operands.a };
        // An operand of another width is a copy of the register.
        let other = match value {
            Register::Long(_) if other < program.longs => Register::Long(other),
            Register::Word(_) if other < program.words => Register::Word(other),
            _ => return None,
        };
        let text = &program.texts[detail.text as usize];
        match text.split('.').next()? {
            "setp" => return Some(ClockWait { compared: other, less, more }),
            "sub" if is_first && less.is_none() => less = Some(other),
            "add" if more.is_none() => more = Some(other),
            "mov" | "cvt" => {}
            _ => return None,
        }
        value = *detail.writes.first()?;
    }
    None
}

/// Returns whether an access may ask the same in each turn of a loop until others have answered.
fn asks_again(program: &Program, turn: (usize, usize), pc: usize, work: &mut usize) -> bool {
    let mut is_fixed = |register| is_fixed(program, turn, register, &mut Vec::new(), work);
    match &program.instructions[pc].operation {
        Operation::Load(access) => {
            access.base.register().is_none_or(|base| !leads_to(program, turn, pc, base))
        }
        Operation::Atomic(atomic) => {
            let asks_the_same = match atomic.operation {
                AtomicOperation::Exchange => true,
                AtomicOperation::CompareSwap => is_fixed(atomic.source),
                _ => program.constants.contains(&(atomic.source, Constant::Value(0))),
            };
            asks_the_same && atomic.base.register().is_none_or(is_fixed)
        }
        _ => true,
    }
}

/// Returns whether a register is computed, in a loop, of what an instruction there writes.
fn leads_to(
    program: &Program,
    (start, end): (usize, usize),
    source: usize,
    register: Register,
) -> bool {
    let numbers = |registers: &[Register]| -> Vec<usize> {
        registers.iter().map(|it| number(program, *it)).collect()
    };
    let mut known: BTreeSet<usize> = numbers(&program.details[source].writes).into_iter().collect();
    loop {
        let before = known.len();
        for detail in &program.details[start..=end] {
            if numbers(&detail.reads).iter().any(|it| known.contains(it)) {
                known.extend(numbers(&detail.writes));
            }
        }
        if known.len() == before {
            return known.contains(&number(program, register));
        }
    }
}

/// Returns whether a register has the same value in each turn of a loop.
fn is_fixed(
    program: &Program,
    (start, end): (usize, usize),
    register: Register,
    path: &mut Vec<usize>,
    work: &mut usize,
) -> bool {
    let register = number(program, register);
    if path.contains(&register) {
        return false;
    }
    path.push(register);
    let mut are_fixed = true;
    for pc in start..=end {
        let Some(left) = work.checked_sub(1) else { break };
        *work = left;
        let detail = &program.details[pc];
        if !detail.writes.iter().any(|it| number(program, *it) == register) {
            continue;
        }
        let reads_memory =
            matches!(program.instructions[pc].operation, Operation::Load(_) | Operation::Atomic(_));
        are_fixed = !reads_memory
            && detail.reads.iter().all(|it| is_fixed(program, (start, end), *it, path, work));
        if !are_fixed {
            break;
        }
    }
    path.pop();
    are_fixed
}

/// Returns by how many branches and ends of threads a loop is left.
fn exits(program: &Program, start: usize, end: usize) -> usize {
    let leaves = |(pc, instruction): (usize, &Instruction)| {
        let is_guarded = instruction.guard != ALWAYS;
        match &instruction.operation {
            Operation::Branch { target } => {
                let target = *target as usize;
                !(start..=end).contains(&target) || start + pc == end && is_guarded
            }
            Operation::Return | Operation::Exit => true,
            _ => false,
        }
    };
    program.instructions[start..=end].iter().enumerate().filter(|it| leaves(*it)).count()
}

fn reads_of_others(operation: &Operation) -> bool {
    match operation {
        Operation::Load(access) => access.semantics.strong.is_some(),
        Operation::Atomic(atomic) => atomic.observes,
        Operation::Mbarrier { operation, .. } => {
            matches!(**operation, MbarrierOperation::Test { .. })
        }
        _ => false,
    }
}

/// The first and the last instruction of each loop, short ones first.
pub(crate) fn loops(program: &Program) -> Vec<(usize, usize)> {
    let mut ends = BTreeMap::new();
    for (pc, instruction) in program.instructions.iter().enumerate() {
        let targets = match &instruction.operation {
            Operation::Branch { target } => std::slice::from_ref(target),
            Operation::BranchTable { table, .. } => &program.branch_tables[*table as usize][..],
            _ => &[],
        };
        for target in targets.iter().map(|target| *target as usize).filter(|to| *to <= pc) {
            ends.insert(target, pc);
        }
    }
    let mut loops: Vec<_> = ends.into_iter().collect();
    loops.sort_by_key(|(start, end)| end - start);
    loops
}

/// Returns whether what an instruction in a loop reads decides if the loop goes on.
pub(crate) fn decides(
    program: &Program,
    (start, end): (usize, usize),
    source: usize,
    work: &mut usize,
) -> bool {
    let mut depends = BTreeSet::new();
    let mut depends_until = vec![];
    loop {
        let before = (depends.len(), depends_until.len());
        for pc in start..=end {
            let Some(left) = work.checked_sub(1 + depends_until.len()) else { return true };
            *work = left;
            let (instruction, detail) = (&program.instructions[pc], &program.details[pc]);
            let guard = Register::Predicate(instruction.guard);
            let is_controlled = depends_until.iter().any(|(from, to)| (*from..*to).contains(&pc))
                || depends.contains(&number(program, guard));
            let reads = detail.reads.iter().any(|row| depends.contains(&number(program, *row)));
            if pc != source && !is_controlled && !reads {
                continue;
            }
            depends.extend(detail.writes.iter().map(|row| number(program, *row)));
            match &instruction.operation {
                Operation::Branch { target } if is_controlled => {
                    let target = *target as usize;
                    if target <= pc || target > end {
                        return true;
                    }
                    let skipped = (pc + 1, joined(program, pc, target));
                    if !depends_until.contains(&skipped) {
                        depends_until.push(skipped);
                    }
                }
                Operation::Return | Operation::Exit if is_controlled => return true,
                Operation::BranchTable { .. } => return true,
                _ => {}
            }
        }
        if before == (depends.len(), depends_until.len()) {
            return false;
        }
    }
}

/// Returns the point at which both ways of a forward branch meet: its target, or the end of the other way that the
/// skipped one jumps over.
fn joined(program: &Program, pc: usize, target: usize) -> usize {
    let last = &program.instructions[target - 1];
    match last.operation {
        Operation::Branch { target: behind } if last.guard == ALWAYS && target - 1 > pc => {
            target.max(behind as usize)
        }
        _ => target,
    }
}
