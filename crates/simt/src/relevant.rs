//! The registers that decide what a loop does: a slice of the instructions that it runs.
//!
//! A counter of turns changes in each of them, and so does a clock. The loop repeats itself all the same where neither
//! decides an address, a value that others see, or where control goes. A branch decides nothing where all of its ways come
//! first to the same instruction that decides, as in the choice of a pause: those that decide are weakly control-closed
//! (S. Danicic et al., "A unifying theory of control dependence and its application to arbitrary program structures", TCS
//! 2011).

use crate::operation::{Operation, Register};
use crate::program::Program;
use crate::registers::{ALWAYS, Registers};
use crate::uninitialized::number;
use std::collections::{BTreeMap, BTreeSet};

/// The instructions that a loop ran, each with its lanes.
pub(crate) type LanesByInstruction = BTreeMap<usize, u32>;

/// The registers that decide what a loop does.
#[derive(Debug)]
pub(crate) struct Relevant {
    /// By number of the register.
    rows: Vec<bool>,
    /// Branches that are among what decides.
    branches: BTreeSet<usize>,
}

impl Relevant {
    /// Finds them for the instructions that a loop ran; `following` has where control may go after each instruction.
    pub fn new(program: &Program, following: &[Vec<u32>], ran: &LanesByInstruction) -> Relevant {
        let mut relevant = Relevant::none(program);
        relevant.close(program, Some(following), ran);
        // A loop without an instruction that decides, as one that waits for time to pass, ends where a branch says so.
        let lanes = |decides: bool| {
            let some = ran.iter().filter(|(pc, _)| !decides || relevant.decides(program, **pc));
            some.fold(0, |lanes, (_, mask)| lanes | mask)
        };
        if lanes(true) != lanes(false) {
            relevant = Relevant::none(program);
            relevant.branches.extend(ran.keys().filter(|pc| is_choice(program, **pc)));
            relevant.close(program, None, ran);
        }
        relevant
    }

    fn none(program: &Program) -> Relevant {
        let count = number(program, Register::Predicate(program.predicates));
        Relevant { rows: vec![false; count], branches: BTreeSet::new() }
    }

    /// Adds what decides by what is known to.
    fn close(
        &mut self,
        program: &Program,
        following: Option<&[Vec<u32>]>,
        ran: &LanesByInstruction,
    ) {
        loop {
            let before = (self.rows.iter().filter(|row| **row).count(), self.branches.len());
            for pc in ran.keys().copied() {
                if self.decides(program, pc) {
                    let guard = Register::Predicate(program.instructions[pc].guard);
                    for row in program.details[pc].reads.iter().chain([&guard]) {
                        self.rows[number(program, *row)] = true;
                    }
                } else if let Some(following) = following
                    && is_choice(program, pc)
                    && self.parts(program, following, pc)
                {
                    self.branches.insert(pc);
                }
            }
            if before == (self.rows.iter().filter(|row| **row).count(), self.branches.len()) {
                return;
            }
        }
    }

    /// Returns whether a clock decides.
    pub fn reads_clock(&self, program: &Program, ran: &LanesByInstruction) -> bool {
        let is_clock =
            |pc: &usize| matches!(program.instructions[*pc].operation, Operation::ReadClock { .. });
        ran.keys().any(|pc| is_clock(pc) && self.is_written_by(program, *pc))
    }

    /// Returns whether two states of a warp's registers differ in none of them.
    pub fn are_same(&self, program: &Program, a: &Registers, b: &Registers) -> bool {
        let holds = |row| self.rows[number(program, row)];
        let words = (0..program.words).filter(|index| holds(Register::Word(*index)));
        let longs = (0..=program.longs).filter(|index| holds(Register::Long(*index)));
        let predicates = (0..program.predicates).filter(|index| holds(Register::Predicate(*index)));
        words.map(|at| at as usize).all(|at| a.words[at] == b.words[at])
            && longs.map(|at| at as usize).all(|at| a.longs[at] == b.longs[at])
            && predicates.map(|at| at as usize).all(|at| a.predicates[at] == b.predicates[at])
    }

    /// Returns whether an instruction writes one of them.
    pub fn is_written_by(&self, program: &Program, pc: usize) -> bool {
        program.details[pc].writes.iter().any(|row| self.rows[number(program, *row)])
    }

    /// Returns whether an instruction does more than to write registers that decide nothing.
    fn decides(&self, program: &Program, pc: usize) -> bool {
        match program.instructions[pc].operation {
            Operation::Compute { .. } | Operation::IsSpace { .. } | Operation::ReadClock { .. } => {
                self.is_written_by(program, pc)
            }
            Operation::Branch { .. } => self.branches.contains(&pc),
            Operation::Nothing | Operation::Sleep { .. } | Operation::Fence { .. } => false,
            _ => true,
        }
    }

    /// Returns whether the ways from a branch come to different instructions that decide first.
    fn parts(&self, program: &Program, following: &[Vec<u32>], branch: usize) -> bool {
        let mut work = following[branch].clone();
        let mut seen = BTreeSet::from([branch as u32]);
        let mut first = None;
        while let Some(pc) = work.pop() {
            if !seen.insert(pc) {
                continue;
            }
            if !self.decides(program, pc as usize) {
                work.extend(&following[pc as usize]);
            } else if *first.get_or_insert(pc) != pc {
                return true;
            }
        }
        false
    }
}

/// Returns whether an instruction is a branch with a guard.
fn is_choice(program: &Program, pc: usize) -> bool {
    let instruction = &program.instructions[pc];
    let is_guarded = instruction.guard != ALWAYS || instruction.negate != 0;
    matches!(instruction.operation, Operation::Branch { .. }) && is_guarded
}
