//! Registers that a kernel may read before it wrote them.
//!
//! Nearly all reads are proved defined once per kernel, by a data-flow analysis over all paths. Only
//! the rows that it leaves in doubt are followed lane by lane.

use crate::operation::{Operation, Register};
use crate::program::Program;
use crate::registers::ALWAYS;
use std::collections::BTreeSet;

/// Bits of the analysis's states above which everything is in doubt instead.
const STATE_BITS_MAX: usize = 1 << 30;
/// Words of states that it may look at, above which everything is in doubt, too: a second's work.
const STATE_WORDS_MAX: usize = 1 << 30;

/// The rows that may be read before they are written, and the instructions that touch them.
#[derive(Clone, Debug)]
pub(crate) struct UninitializedReads {
    rows: Vec<bool>,
    /// By instruction; empty when no row is in doubt.
    pub instructions: Vec<bool>,
}

impl UninitializedReads {
    /// Nothing is in doubt.
    pub const fn none() -> UninitializedReads {
        UninitializedReads { rows: Vec::new(), instructions: Vec::new() }
    }

    /// Everything is in doubt.
    pub fn everything(program: &Program) -> UninitializedReads {
        let count = number(program, Register::Predicate(program.predicates));
        let instructions = vec![true; program.instructions.len()];
        UninitializedReads { rows: vec![true; count], instructions }
    }

    pub fn new(program: &Program) -> UninitializedReads {
        let rows = rows_in_doubt(program);
        if !rows.contains(&true) {
            return UninitializedReads::none();
        }
        let instructions = program.instructions.iter().zip(&program.details);
        let instructions = instructions
            .map(|(instruction, detail)| {
                let guard = Register::Predicate(instruction.guard);
                let all = detail.reads.iter().chain(&detail.writes).chain([&guard]);
                all.map(|row| number(program, *row)).any(|row| rows[row])
            })
            .collect();
        UninitializedReads { rows, instructions }
    }

    pub fn holds(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|doubt| *doubt)
    }
}

/// Rows of all files in one sequence.
pub(crate) fn number(program: &Program, row: Register) -> usize {
    let longs = program.words as usize;
    let predicates = longs + program.longs as usize + 1;
    match row {
        Register::Word(index) => index as usize,
        Register::Long(index) => longs + index as usize,
        Register::Predicate(index) => predicates + index as usize,
    }
}

/// Rows that hold defined values when a warp starts.
pub(crate) fn defined_at_start(program: &Program) -> impl Iterator<Item = Register> {
    let constants = program.constants.iter().map(|(row, _)| *row);
    let specials = program.specials.iter().map(|(row, _)| *row);
    constants.chain(specials).chain((0..3).map(Register::Predicate))
}

/// A set of defined rows.
type Defined = Vec<u64>;

fn contains(set: &Defined, row: usize) -> bool {
    set[row / 64] >> (row % 64) & 1 != 0
}

/// Rows that some path reads before it wrote them; all rows of a program too large to tell.
fn rows_in_doubt(program: &Program) -> Vec<bool> {
    let count = number(program, Register::Predicate(program.predicates));
    let length = program.instructions.len();
    let following = successors(program);
    // States are kept where control flow arrives, and passed along straight lines.
    let mut arrives = vec![0u32; following.len()];
    for next in &following {
        next.iter().for_each(|to| arrives[*to as usize] += 1);
    }
    let joins =
        |at: usize| at == 0 || at >= length || arrives[at] != 1 || following[at - 1] != [at as u32];
    if (0..following.len()).filter(|at| joins(*at)).count() * count > STATE_BITS_MAX {
        return vec![true; count];
    }
    let mut states: Vec<Option<Defined>> = vec![None; following.len()];
    let mut start = vec![0u64; count.div_ceil(64)];
    for row in defined_at_start(program) {
        let row = number(program, row);
        start[row / 64] |= 1 << (row % 64);
    }
    let mut doubt = vec![false; count];
    // The first in the order of the program goes first: what leads to it is then mostly known.
    let mut work = BTreeSet::new();
    let mut words = 0;
    if length > 0 {
        states[0] = Some(start);
        work.insert(0);
    }
    while let Some(from) = work.pop_first() {
        let Some(mut state) = states[from].clone() else { continue };
        words += state.len() * (1 + following[from].len());
        if words > STATE_WORDS_MAX {
            return vec![true; count];
        }
        let mut at = from;
        loop {
            if at < length {
                pass(program, at, &mut state, &mut doubt);
            }
            if let [next] = following[at][..]
                && !joins(next as usize)
            {
                at = next as usize;
                continue;
            }
            for next in &following[at] {
                let next = *next as usize;
                let is_changed = match &mut states[next] {
                    Some(known) => known.iter_mut().zip(&state).fold(false, |changed, (k, s)| {
                        let before = *k;
                        *k &= s;
                        changed | (before != *k)
                    }),
                    none => {
                        *none = Some(state.clone());
                        true
                    }
                };
                if is_changed {
                    work.insert(next);
                }
            }
            break;
        }
    }
    doubt
}

/// Returns what an instruction does to the set of defined rows; rows that it reads outside are in doubt.
fn pass(program: &Program, pc: usize, state: &mut Defined, doubt: &mut [bool]) {
    let instruction = &program.instructions[pc];
    let detail = &program.details[pc];
    let mut defined = true;
    for row in detail.reads.iter().chain([&Register::Predicate(instruction.guard)]) {
        let row = number(program, *row);
        if !contains(state, row) {
            doubt[row] = true;
            defined = false;
        }
    }
    // Only these hand an undefined value on; the others are reported at once.
    let hands_on = matches!(
        instruction.operation,
        Operation::Compute { .. }
            | Operation::Shuffle { .. }
            | Operation::Vote { .. }
            | Operation::Match { .. }
            | Operation::Reduce { .. }
    );
    let defined = defined || !hands_on;
    let always = instruction.guard == ALWAYS && instruction.negate == 0;
    for row in &detail.writes {
        let row = number(program, *row);
        let bit = 1 << (row % 64);
        if !defined {
            state[row / 64] &= !bit;
        } else if always {
            state[row / 64] |= bit;
        }
    }
}

/// Returns the instructions that may follow each, and, behind all instructions, those that follow each function: behind
/// its calls. So many returns and many calls meet in one place.
pub(crate) fn successors(program: &Program) -> Vec<Vec<u32>> {
    let length = program.instructions.len() as u32;
    let function_at =
        |pc: u32| program.functions.partition_point(|(start, _)| *start <= pc).saturating_sub(1);
    let mut following = Vec::with_capacity(length as usize + program.functions.len());
    let mut ends = vec![Vec::new(); program.functions.len()];
    for (pc, instruction) in program.instructions.iter().enumerate() {
        let behind = pc as u32 + 1;
        let mut next = match &instruction.operation {
            Operation::Branch { target } => vec![*target],
            Operation::Call { target } => {
                if behind < length {
                    ends[function_at(*target)].push(behind);
                }
                vec![*target]
            }
            Operation::BranchTable { table, .. } => program.branch_tables[*table as usize].clone(),
            Operation::Return => vec![length + function_at(pc as u32) as u32],
            Operation::Exit | Operation::Trap => Vec::new(),
            _ if behind == length => Vec::new(),
            _ => vec![behind],
        };
        let is_guarded = instruction.guard != ALWAYS || instruction.negate != 0;
        if is_guarded && behind < length {
            next.push(behind);
        }
        next.sort_unstable();
        next.dedup();
        following.push(next);
    }
    following.extend(ends);
    following
}
