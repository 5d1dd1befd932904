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

use crate::compute::tensor::{MAX_FACTOR, chain, multiply, multiply_bytes};
use crate::cpu::widest;
use crate::error::Error;
use crate::execute::issue::worker::{Issue, Worker};
use crate::operation::{Mma, Register};
use crate::registers::{LANES, Registers};
use ptx::Type;

impl Worker<'_> {
    /// An error unless all lanes of the warp are there.
    pub fn require_all_lanes(&self, issue: &Issue<'_>) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        if *mask == u32::MAX {
            return Ok(());
        }
        Err(Error::IllegalInstruction {
            place: Box::new(self.run.place(block.index, warp.index, *mask, *pc)),
            message: "all 32 lanes of the warp must execute it together".into(),
        })
    }

    pub fn multiply_tiles(&self, issue: Issue<'_>, mma: &Mma) -> Result<(), Error> {
        self.require_all_lanes(&issue)?;
        multiply_fragments(self.wide, &mut issue.warp.registers, mma);
        Ok(())
    }
}

fn multiply_fragments(has_wide: bool, registers: &mut Registers, mma: &Mma) {
    widest!(
        has_wide,
        multiply_fragments_wide(registers, mma),
        multiply_fragments_any(registers, mma)
    );
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt")]
fn multiply_fragments_wide(registers: &mut Registers, mma: &Mma) {
    multiply_fragments_any(registers, mma);
}

#[inline(always)]
fn multiply_fragments_any(registers: &mut Registers, mma: &Mma) {
    if mma.c_type == Type::F64 {
        multiply_doubles(registers, mma);
        return;
    }
    let (mut a, mut b) = ([0; MAX_FACTOR], [0; MAX_FACTOR]);
    let mut c = [0; 16 * 8];
    let (a, b) = (&mut a[..16 * mma.k], &mut b[..8 * mma.k]);
    read_rows(registers, &mma.a, mma, a);
    let per = mma.per_register();
    for (r, row) in mma.b.iter().enumerate() {
        let words = &registers.words[row.index() as usize];
        let rows = b[4 * per * r * 8..].as_chunks_mut::<8>().0.iter_mut();
        for (at, row) in rows.take(4 * per).enumerate() {
            for (group, element) in row.iter_mut().enumerate() {
                *element = part(words[4 * group + at / per], at % per, per);
            }
        }
    }
    read_sums(registers, &mma.c, mma, &mut c);
    match mma.a_type {
        Type::E4m3 | Type::E5m2 => multiply_bytes(mma, a, b, &mut c),
        _ => multiply(mma, mma.k, a, b, &mut c),
    }
    write_sums(registers, mma, &c);
}

/// Returns an element of a register that holds so many.
#[inline(always)]
fn part(word: u32, element: usize, per: usize) -> u32 {
    match per {
        1 => word,
        2 => word >> (16 * element) & 0xffff,
        _ => word >> (8 * element) & 0xff,
    }
}

/// Reads the fragments of 16 rows of A.
#[inline(always)]
pub(super) fn read_rows(registers: &Registers, rows: &[Register], mma: &Mma, a: &mut [u32]) {
    let per = mma.per_register();
    for (r, row) in rows.iter().enumerate() {
        let words = registers.words[row.index() as usize].as_chunks::<4>().0;
        let first = 8 * (r % 2) * mma.k + 4 * per * (r / 2);
        for (a, words) in a[first..].chunks_mut(mma.k).zip(words) {
            match per {
                1 => a[..4].copy_from_slice(words),
                2 => (0..8).for_each(|i| a[i] = part(words[i / 2], i % 2, 2)),
                _ => (0..16).for_each(|i| a[i] = part(words[i / 4], i % 4, 4)),
            }
        }
    }
}

/// Reads the fragments of 16 rows of C.
#[inline(always)]
pub(super) fn read_sums(registers: &Registers, rows: &[Register], mma: &Mma, c: &mut [u32]) {
    let per = mma.per_accumulator();
    for (eight, rows) in rows.chunks(4 / per).enumerate() {
        for (half, rows) in rows.chunks(2 / per).enumerate() {
            let [first, last] = [rows[0], rows[rows.len() - 1]]
                .map(|row| registers.words[row.index() as usize].as_chunks::<4>().0);
            let lines = c[8 * half * mma.n + 8 * eight..].chunks_mut(mma.n);
            for ((line, first), last) in lines.zip(first).zip(last) {
                for place in 0..4 {
                    line[2 * place] = part(first[place], 0, per);
                    line[2 * place + 1] = part(last[place], per - 1, per);
                }
            }
        }
    }
}

/// Writes the fragments of 16 rows of D.
#[inline(always)]
pub(super) fn write_sums(registers: &mut Registers, mma: &Mma, c: &[u32]) {
    let per = mma.per_accumulator();
    for (r, row) in mma.d.iter().enumerate() {
        let Register::Word(row) = *row else { continue };
        let (eight, half, element) = (r / (4 / per), r % (4 / per) * per / 2, r % (2 / per));
        let words = registers.words[row as usize].as_chunks_mut::<4>().0;
        let lines = c[8 * half * mma.n + 8 * eight..].chunks(mma.n);
        for (words, line) in words.iter_mut().zip(lines) {
            for (place, word) in words.iter_mut().enumerate() {
                let pair = &line[2 * place..][..2];
                *word = if per == 2 { pair[0] | pair[1] << 16 } else { pair[element] };
            }
        }
    }
}

/// Multiplies matrices of doubles: a chain of fused multiply-adds along K, each rounded to nearest.
pub(super) fn multiply_doubles(registers: &mut Registers, mma: &Mma) {
    let row = |row: &Register| registers.longs[row.index() as usize].map(f64::from_bits);
    let (a, b) = (row(&mma.a[0]), row(&mma.b[0]));
    let sums: Vec<[f64; LANES]> = mma.c.iter().map(row).collect();
    for ((i, d), sums) in mma.d.iter().enumerate().zip(sums) {
        let Register::Long(d) = *d else { continue };
        registers.longs[d as usize] = std::array::from_fn(|lane| {
            let (row, column) = (lane / 4, lane % 4 * 2 + i);
            let factors = (0..4).map(|k| (a[row * 4 + k], b[column * 4 + k]));
            chain(factors, sums[lane]).to_bits()
        });
    }
}
