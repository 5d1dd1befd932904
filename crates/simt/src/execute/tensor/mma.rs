//! `mma.sync`: the fragments of all lanes become a tile, and its result their fragments again.
//!
//! With `group = lane / 4` and `place = lane % 4`, and P elements to a register of A or B (4 bytes, 2 halves, 1 word or
//! double), the layouts of all shapes (PTX ISA, "Matrix Fragments for mma") are these:
//!
//! ```text
//! A  register r, element e   row group + 8 (r % 2)   column 4 P (r / 2) + P place + e   (m8: row group, column place)
//! B  register r, element e   row 4 P r + P place + e   column group
//! C  element i               row group + 8 (i / 2)   column 2 place + i % 2
//! ```

use crate::compute::tensor::{MAX_A, MAX_B, MAX_C, Tile};
use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::operation::{Mma, Register};
use crate::registers::{LANES, Registers};

impl Worker<'_> {
    /// An error unless all lanes of the warp are there.
    pub fn require_all_lanes(
        &self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
    ) -> Result<(), Error> {
        if mask == u32::MAX {
            return Ok(());
        }
        Err(Error::IllegalInstruction {
            place: Box::new(self.run.place(block.index, warp.index, mask, pc)),
            message: "all 32 lanes of the warp must execute it together".into(),
        })
    }

    pub fn multiply_tiles(&self, issue: Issue<'_>, mma: &Mma) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        self.require_all_lanes(block, warp, pc, mask)?;
        let mut tile = Tile { a: [0; MAX_A], b: [0; MAX_B], c: [0; MAX_C] };
        let registers = &mut warp.registers;
        let per = mma.per_register();
        each(registers, &mma.a, per, |r, e, group, place, value| {
            let upper = if mma.m == 8 { 0 } else { r % 2 };
            let pair = if mma.m == 8 { r } else { r / 2 };
            tile.a[(group + 8 * upper) * mma.k + 4 * per * pair + per * place + e] = value;
        });
        each(registers, &mma.b, per, |r, e, group, place, value| {
            tile.b[(4 * per * r + per * place + e) * mma.n + group] = value;
        });
        let per = mma.per_accumulator();
        let at = |r: usize, e: usize, group: usize, place: usize| {
            let i = r * per + e;
            (group + 8 * (i / 2)) * mma.n + 2 * place + i % 2
        };
        each(registers, &mma.c, per, |r, e, group, place, value| {
            tile.c[at(r, e, group, place)] = value;
        });
        tile.multiply(mma);
        for (r, row) in mma.d.iter().enumerate() {
            for lane in 0..LANES {
                let element = |e: usize| tile.c[at(r, e, lane / 4, lane % 4)];
                match *row {
                    Register::Long(index) => registers.longs[index as usize][lane] = element(0),
                    Register::Word(index) if per == 2 => {
                        registers.words[index as usize][lane] =
                            (element(0) | element(1) << 16) as u32;
                    }
                    Register::Word(index) => {
                        registers.words[index as usize][lane] = element(0) as u32
                    }
                    Register::Predicate(_) => {}
                }
            }
        }
        Ok(())
    }
}

/// Calls `take(register, element, group, place, bits)` for each element of a fragment in each lane.
fn each(
    registers: &Registers,
    rows: &[Register],
    per: usize,
    mut take: impl FnMut(usize, usize, usize, usize, u64),
) {
    for (r, row) in rows.iter().enumerate() {
        for lane in 0..LANES {
            let value = match *row {
                Register::Long(index) => registers.longs[index as usize][lane],
                row => u64::from(registers.words[row.index() as usize][lane]),
            };
            if per == 1 {
                take(r, 0, lane / 4, lane % 4, value);
                continue;
            }
            let bits = 32 / per;
            for e in 0..per {
                let element = value >> (e * bits) & ((1 << bits) - 1);
                take(r, e, lane / 4, lane % 4, element);
            }
        }
    }
}
