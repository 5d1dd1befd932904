//! Instructions of PTX that ptxas makes one with the next: it has logic and sums of three operands, and a shift with a sum.
//!
//! `LOP3` does any logic of three numbers, `IADD3` adds three, and `LEA` adds a number that is shifted by a constant, as the
//! machine code shows (`nvdisasm`). What is folded is only read once, in its own basic block.

use crate::operation::Register;
use crate::program::Program;
use crate::registers::ALWAYS;
use crate::uninitialized::number;
use std::collections::BTreeMap;

/// Operands that an instruction of the machine has.
const OPERANDS_MAX: usize = 3;

/// The place of an instruction in one of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fold {
    /// It is one by itself.
    #[default]
    Alone,
    /// It is a part of a later one.
    Folded,
    /// It adds what a folded one has shifted.
    AddsShifted,
}

/// The instructions of which three operands make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Logic,
    Sum,
    Shift,
}

/// Returns the kind of an instruction, and its type: numbers of 64 bits are two of 32 for logic, and have carries between
/// them for sums.
fn kind(opcode: &str) -> Option<(Kind, &str)> {
    let (name, kind) = opcode.split_once('.')?;
    let found = match (name, kind) {
        ("and" | "or" | "xor" | "not", "b32" | "b64") => Kind::Logic,
        ("add" | "sub" | "neg", "s32" | "u32") => Kind::Sum,
        ("shl", "b32") => Kind::Shift,
        _ => return None,
    };
    Some((found, &kind[1..]))
}

/// An instruction whose result may become a part of the one that reads it.
struct Candidate {
    pc: usize,
    kind: Kind,
    /// The letters behind its type's first: its bits.
    bits: String,
    inputs: Vec<usize>,
}

/// Returns how each instruction is part of one of the machine.
pub(crate) fn folds(program: &Program) -> Vec<Fold> {
    let mut folds = vec![Fold::Alone; program.instructions.len()];
    let rows = |registers: &[Register]| -> Vec<usize> {
        registers.iter().map(|register| number(program, *register)).collect()
    };
    let (mut read, mut written) = (BTreeMap::new(), BTreeMap::new());
    for (instruction, detail) in program.instructions.iter().zip(&program.details) {
        let guard = [Register::Predicate(instruction.guard)];
        for row in rows(&detail.reads).into_iter().chain(rows(&guard)) {
            *read.entry(row).or_insert(0_u32) += 1;
        }
        for row in rows(&detail.writes) {
            *written.entry(row).or_insert(0_u32) += 1;
        }
    }
    let constants: Vec<usize> = program.constants.iter().map(|it| number(program, it.0)).collect();
    let mut candidates: BTreeMap<usize, Candidate> = BTreeMap::new();
    let instructions = program.instructions.iter().zip(&program.details).zip(&program.places);
    for (pc, ((instruction, detail), place)) in instructions.enumerate() {
        if place.is_first {
            candidates.clear();
        }
        let text = &program.texts[detail.text as usize];
        let Some((kind, bits)) = kind(text) else { continue };
        let [target] = rows(&detail.writes)[..] else { continue };
        if instruction.guard != ALWAYS {
            continue;
        }
        let mut inputs = rows(&detail.reads);
        for row in inputs.clone() {
            let Some(part) = candidates.get(&row).filter(|part| part.bits == bits) else {
                continue;
            };
            let is_shift = part.kind == Kind::Shift && kind == Kind::Sum;
            if !is_shift && (part.kind != kind || kind == Kind::Shift) {
                continue;
            }
            let mut all: Vec<usize> =
                inputs.iter().copied().filter(|other| *other != row).collect();
            all.extend(&part.inputs);
            all.sort_unstable();
            all.dedup();
            if all.len() > OPERANDS_MAX {
                continue;
            }
            folds[part.pc] = Fold::Folded;
            inputs = all;
            candidates.remove(&row);
            if is_shift {
                folds[pc] = Fold::AddsShifted;
                break;
            }
        }
        // A shift by what is no constant stays one.
        let is_fixed = kind != Kind::Shift || inputs.iter().any(|row| constants.contains(row));
        if folds[pc] != Fold::AddsShifted
            && is_fixed
            && read.get(&target) == Some(&1)
            && written.get(&target) == Some(&1)
        {
            if kind == Kind::Shift {
                inputs.retain(|row| !constants.contains(row));
            }
            candidates.insert(target, Candidate { pc, kind, bits: bits.to_owned(), inputs });
        }
    }
    folds
}
