//! The order of `wgmma` and what it reads and writes: registers, and shared memory through the asynchronous proxy.
//!
//! Compilers copy registers around the instructions that order a product, because an asm has its outputs for them as soon as
//! it has been issued. The assembler removes such copies, so that a `mov` is no use of a register here, but gives its state
//! on.

use crate::execute::issue::block::Block;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::findings::{Finding, Hazard};
use crate::operation::{Factor, Operation, Register};
use crate::program::{Detail, Program};
use crate::uninitialized::UninitializedReads;
use races::Queue;
use std::collections::{HashMap, HashSet};

/// The registers of a program's `wgmma`, and what is copied to them.
#[derive(Debug)]
pub(crate) struct ProductRegisters {
    rows: HashSet<Register>,
    /// By instruction: touches one, orders products, or is in `doubt`.
    pub instructions: Vec<bool>,
}

/// The `wgmma` of a warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Products {
    /// There was a `wgmma.fence`.
    is_fenced: bool,
    /// Registers that were used since, by other instructions.
    used: HashSet<Register>,
    /// Registers that a product under way will write, with its group and instruction.
    results: HashMap<Register, (u32, usize)>,
    /// Registers that a product under way reads as its A.
    factors: HashMap<Register, (u32, usize)>,
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
    /// Those of a program, if it has a `wgmma`.
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

impl Worker<'_> {
    /// Passes the state of registers on, and reports a use that nothing orders after or before a product.
    pub fn check_products(&mut self, block: &Block, warp: &mut Warp, pc: usize, mask: u32) {
        let program = self.run.program;
        let (Some(registers), true) = (&self.run.products, mask != 0) else { return };
        let detail = &program.details[pc];
        let is_ours = |row: &&Register| registers.rows.contains(row);
        let products = &mut warp.products;
        let mut found = None;
        match &program.instructions[pc].operation {
            Operation::WgmmaFence => {
                products.is_fenced = true;
                products.used.clear();
            }
            // `products_committed` and `products_awaited` follow.
            Operation::WgmmaCommit | Operation::WgmmaWait { .. } => {}
            Operation::Wgmma(product) => {
                let read = factors(&product.a);
                let mut all = product.part.d.iter().chain(read);
                if let Some((_, other)) = read.iter().find_map(|row| products.results.get(row)) {
                    found =
                        Some(("reads a result of a wgmma that was not waited for", Some(*other)));
                } else if !products.is_fenced {
                    found = Some(("no wgmma.fence comes before it", None));
                } else if all.any(|row| products.used.contains(row)) {
                    let what = "no wgmma.fence lies between it and another use of its registers";
                    found = Some((what, None));
                }
                let now = (products.group, pc);
                products.results.extend(product.part.d.iter().map(|row| (*row, now)));
                products.factors.extend(read.iter().map(|row| (*row, now)));
            }
            _ if is_copy(program, pc) => {
                let state = detail.reads.iter().find_map(|row| products.results.get(row)).copied();
                let is_used = detail.reads.iter().any(|row| products.used.contains(row));
                for row in detail.writes.iter().filter(is_ours) {
                    products.factors.remove(row);
                    match state {
                        Some(state) => products.results.insert(*row, state),
                        None => products.results.remove(row),
                    };
                    if is_used {
                        products.used.insert(*row);
                    } else {
                        products.used.remove(row);
                    }
                }
            }
            _ => {
                let mut all = detail.reads.iter().chain(&detail.writes);
                if let Some((_, other)) = all.find_map(|row| products.results.get(row)) {
                    let what = "uses a result of a wgmma that was not waited for";
                    found = Some((what, Some(*other)));
                } else if let Some((_, other)) =
                    detail.writes.iter().find_map(|row| products.factors.get(row))
                {
                    let what = "writes a factor of a wgmma that was not waited for";
                    found = Some((what, Some(*other)));
                }
                products.used.extend(detail.reads.iter().chain(&detail.writes).filter(is_ours));
            }
        }
        let Some((what, other)) = found else { return };
        let (index, w) = (block.index, warp.index);
        self.observers.find(Hazard::UnorderedProduct, pc, |run| Finding {
            other: other.map(|pc| run.place(index, w, u32::MAX, pc)),
            ..Finding::new(Hazard::UnorderedProduct, run.place(index, w, mask, pc), what.into())
        });
    }

    /// A warp's products up to now are a group.
    pub fn products_committed(&mut self, block: &mut Block, warp: &mut Warp) {
        if let Some(shadow) = &mut block.shadow {
            warp.products.group += 1;
            shadow.commit(Queue::Products, warp.index as u8);
        }
    }

    /// A warp has waited for all groups of its products but the latest.
    pub fn products_awaited(&mut self, block: &mut Block, warp: &mut Warp, pending: u32) {
        let Some(shadow) = &block.shadow else { return };
        let products = &mut warp.products;
        let before = products.group.saturating_sub(pending);
        products.results.retain(|_, (group, _)| *group >= before);
        products.factors.retain(|_, (group, _)| *group >= before);
        let known = shadow.awaited(Queue::Products, warp.order.block, warp.index as u8, pending);
        warp.order.learn(warp.live, warp.live, &known);
    }
}
