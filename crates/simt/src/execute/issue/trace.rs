//! Runs a warp one instruction at a time, and notes each.

use crate::error::Error;
use crate::execute::issue::block::{Block, Stop};
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::register::Register;
use crate::registers::Registers;
use crate::trace::{Step, Trace, TracedRegister};

impl Worker<'_> {
    /// Returns what [`Worker::run_splits`] does, with a note of each instruction when a trace wants it.
    pub fn run_traced(
        &mut self,
        trace: Option<&Trace>,
        block: &mut Block,
        warp: &mut Warp,
        left: &mut u64,
    ) -> Result<Stop, Error> {
        while let Some(trace) = trace
            && *left > 0
            && trace.wants(block.linear, warp.index)
        {
            // The lanes that are next: picking them again gives the same.
            let Some(split) = warp.pick() else { return Ok(Stop::Blocked) };
            let (pc, mask) = (split.pc as usize, split.mask);
            warp.splits.push(split);
            let instruction = &self.run.program.instructions[pc];
            let guard = warp.registers.predicates[instruction.guard as usize];
            let lanes = mask & (guard ^ instruction.negate);
            let detail = &self.run.program.details[pc];
            // An instruction that ends a lane, or the launch, leaves nothing to read afterwards.
            let read = of_rows(&warp.registers, &detail.reads);
            let mut one = 1;
            let ran = self.run_splits(block, warp, &mut one);
            *left -= 1 - one;
            if !detail.synthetic {
                let written = of_rows(&warp.registers, &detail.writes);
                trace.push(Step {
                    ptx_line: detail.position.line,
                    source: self.run.location(pc),
                    lanes,
                    registers: if written.is_empty() { read } else { written },
                });
            }
            if ran? == Stop::Blocked {
                return Ok(Stop::Blocked);
            }
        }
        self.run_splits(block, warp, left)
    }
}

fn of_rows(registers: &Registers, rows: &[Register]) -> Vec<TracedRegister> {
    let value = |row: &Register| match *row {
        Register::Word(index) => {
            TracedRegister { bits: 32, values: registers.words[index as usize].map(u64::from) }
        }
        Register::Long(index) => {
            TracedRegister { bits: 64, values: registers.longs[index as usize] }
        }
        Register::Predicate(index) => {
            let bits = u64::from(registers.predicates[index as usize]);
            TracedRegister { bits: 1, values: std::array::from_fn(|lane| bits >> lane & 1) }
        }
    };
    rows.iter().map(value).collect()
}
