//! The `wgmma` of a warp that may be under way, and the registers that they read and write.
//!
//! Compilers copy registers around the instructions that order a product, because an asm has its outputs for them as
//! soon as it has been issued. The assembler removes such copies, so a `mov` here is no use of a register.

use crate::operation::{Factor, Operation, Register};
use crate::program::{Detail, Program};
use crate::uninitialized::UninitializedReads;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The registers of a program's `wgmma`, and what is copied to them.
#[derive(Debug)]
pub(crate) struct ProductRegisters {
    rows: HashSet<Register>,
    /// By instruction: touches one, orders products, or is in `doubt`.
    pub instructions: Vec<bool>,
}

/// The `wgmma` of a warp. Its maps cost nothing while they are empty, as they mostly are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Products {
    /// There was a `wgmma.fence`.
    is_fenced: bool,
    /// Registers that were used since, by other instructions.
    used: BTreeSet<Register>,
    /// Registers that a product under way will write, with its group and instruction.
    results: BTreeMap<Register, (u32, usize)>,
    /// Registers that a product under way reads as its A.
    factors: BTreeMap<Register, (u32, usize)>,
    group: u32,
}

fn factors(a: &Factor) -> &[Register] {
    match a {
        Factor::Registers(rows) => rows,
        Factor::Shared { .. } => &[],
    }
}

fn is_copy(program: &Program, pc: usize) -> bool {
    let is_compute = matches!(program.instructions[pc].operation, Operation::Compute { .. });
    is_compute && program.texts[program.details[pc].text as usize].starts_with("mov.")
}

impl ProductRegisters {
    /// Finds those of a program, if it has a `wgmma`.
    pub fn of(program: &Program, doubt: &UninitializedReads) -> Option<ProductRegisters> {
        let mut rows = HashSet::new();
        for instruction in &program.instructions {
            if let Operation::Wgmma(product) = &instruction.operation {
                rows.extend(product.part.d.iter().chain(factors(&product.a)));
            }
        }
        if rows.is_empty() {
            return None;
        }
        loop {
            let before = rows.len();
            for (pc, detail) in program.details.iter().enumerate() {
                if is_copy(program, pc) && detail.writes.iter().any(|row| rows.contains(row)) {
                    rows.extend(&detail.reads);
                }
                if is_copy(program, pc) && detail.reads.iter().any(|row| rows.contains(row)) {
                    rows.extend(&detail.writes);
                }
            }
            if rows.len() == before {
                break;
            }
        }
        let constants = program.constants.iter().map(|(row, _)| row);
        constants.for_each(|row| {
            rows.remove(row);
        });
        let touches = |(pc, detail): (usize, &Detail)| {
            let orders = matches!(
                program.instructions[pc].operation,
                Operation::WgmmaFence | Operation::WgmmaCommit | Operation::WgmmaWait { .. }
            );
            let mut all = detail.reads.iter().chain(&detail.writes);
            let is_doubted = doubt.instructions.get(pc) == Some(&true);
            orders || is_doubted || all.any(|row| rows.contains(row))
        };
        let instructions = program.details.iter().enumerate().map(touches).collect();
        Some(ProductRegisters { rows, instructions })
    }
}

impl Products {
    /// Passes the state of registers on at an instruction. Returns a use that nothing orders after or before a product, with
    /// the instruction of that product.
    pub fn pass(
        &mut self,
        program: &Program,
        registers: &ProductRegisters,
        pc: usize,
    ) -> Option<(&'static str, Option<usize>)> {
        let detail = &program.details[pc];
        let is_ours = |row: &&Register| registers.rows.contains(row);
        let mut found = None;
        match &program.instructions[pc].operation {
            Operation::WgmmaFence => {
                self.is_fenced = true;
                self.used.clear();
            }
            // [`Products::commit`] and [`Products::wait`] follow.
            Operation::WgmmaCommit | Operation::WgmmaWait { .. } => {}
            Operation::Wgmma(product) => {
                let read = factors(&product.a);
                let mut all = product.part.d.iter().chain(read);
                if let Some((_, other)) = read.iter().find_map(|row| self.results.get(row)) {
                    found =
                        Some(("reads a result of a wgmma that was not waited for", Some(*other)));
                } else if !self.is_fenced {
                    found = Some(("no wgmma.fence comes before it", None));
                } else if all.any(|row| self.used.contains(row)) {
                    let what = "no wgmma.fence lies between it and another use of its registers";
                    found = Some((what, None));
                }
                let now = (self.group, pc);
                self.results.extend(product.part.d.iter().map(|row| (*row, now)));
                self.factors.extend(read.iter().map(|row| (*row, now)));
            }
            _ if is_copy(program, pc) => {
                let state = detail.reads.iter().find_map(|row| self.results.get(row)).copied();
                let is_used = detail.reads.iter().any(|row| self.used.contains(row));
                for row in detail.writes.iter().filter(is_ours) {
                    self.factors.remove(row);
                    match state {
                        Some(state) => self.results.insert(*row, state),
                        None => self.results.remove(row),
                    };
                    if is_used {
                        self.used.insert(*row);
                    } else {
                        self.used.remove(row);
                    }
                }
            }
            _ => {
                let mut all = detail.reads.iter().chain(&detail.writes);
                if let Some((_, other)) = all.find_map(|row| self.results.get(row)) {
                    let what = "uses a result of a wgmma that was not waited for";
                    found = Some((what, Some(*other)));
                } else if let Some((_, other)) =
                    detail.writes.iter().find_map(|row| self.factors.get(row))
                {
                    let what = "writes a factor of a wgmma that was not waited for";
                    found = Some((what, Some(*other)));
                }
                self.used.extend(detail.reads.iter().chain(&detail.writes).filter(is_ours));
            }
        }
        found
    }

    /// Makes a group of the products up to now.
    pub fn commit(&mut self) {
        self.group += 1;
    }

    /// All groups but the latest are complete.
    pub fn wait(&mut self, pending: u32) {
        let before = self.group.saturating_sub(pending);
        self.results.retain(|_, (group, _)| *group >= before);
        self.factors.retain(|_, (group, _)| *group >= before);
    }
}
