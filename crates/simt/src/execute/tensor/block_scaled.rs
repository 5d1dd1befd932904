//! `mma.sync` with a scale for each block of a row (PTX ISA, "Block Scaling for mma.sync"; compute capability 12.0).
//!
//! Products and scales are exact, and so is their sum with C, which is rounded once to the nearest. The ISA promises at
//! least single precision and no order. No GPU has confirmed it.

use crate::compute::narrow;
use crate::error::Error;
use crate::execute::issue::worker::{Issue, Worker};
use crate::operation::{BlockScaled, Register};
use crate::registers::{LANES, Registers};

/// Rows and columns of D.
const ROWS: usize = 16;
const COLUMNS: usize = 8;

impl Worker<'_> {
    pub fn multiply_scaled(&self, issue: Issue<'_>, mma: &BlockScaled) -> Result<(), Error> {
        self.require_all_lanes(&issue)?;
        multiply(&mut issue.warp.registers, mma);
        Ok(())
    }
}

fn words(registers: &Registers, row: Register) -> [u32; LANES] {
    registers.words[row.index() as usize]
}

/// An element of a fragment in registers of `per` elements, by its row (a column of B) and its place along K.
fn element(registers: &Registers, mma: &BlockScaled, is_a: bool, row: usize, k: usize) -> u32 {
    let per = mma.per_register();
    let (fragment, below) = if is_a { (&mma.a, row / 8) } else { (&mma.b, 0) };
    let (half, lane) = (k / (4 * per), row % 8 * 4 + k % (4 * per) / per);
    let register = if is_a { 2 * half + below } else { half };
    let bits = 32 / per as u32;
    let word = words(registers, fragment[register])[lane];
    word >> (bits * (k % per) as u32) & (u32::MAX >> (32 - bits))
}

/// The scale of a row of A or a column of B where the element `k` lies.
fn scale(registers: &Registers, mma: &BlockScaled, is_a: bool, row: usize, k: usize) -> f64 {
    let selector = if is_a { mma.of_a } else { mma.of_b };
    let [byte, thread] = selector.selected.map(|selected| words(registers, selected)[0] as usize);
    // A pair of lanes has the scales of the rows of A, one above the other; one lane has those of a column of B.
    let place = if is_a { thread % 2 * 2 + row / 8 } else { thread % 4 };
    let word = words(registers, selector.scales)[row % 8 * 4 + place];
    let code = word >> (8 * ((byte + k * mma.scales / mma.k) % 4)) & 0xff;
    match code {
        _ if mma.has_fractions => narrow::number("e4m3", code as u8 & 0x7f),
        0xff => f64::NAN,
        code => f64::from_bits(u64::from(code + 1023 - 127) << 52),
    }
}

fn multiply(registers: &mut Registers, mma: &BlockScaled) {
    let mut found = [[0.0_f32; COLUMNS]; ROWS];
    let factors = |is_a: bool, rows: usize| -> Vec<Vec<f64>> {
        let factor = |row: usize, k: usize| {
            let format = if is_a { mma.a_format } else { mma.b_format };
            // In bytes, floats of 4 bits stand above two others.
            let shift = if format == "e2m1" && mma.per_register() == 4 { 2 } else { 0 };
            let code = element(registers, mma, is_a, row, k) >> shift;
            narrow::number(format, code as u8) * scale(registers, mma, is_a, row, k)
        };
        (0..rows).map(|row| (0..mma.k).map(|k| factor(row, k)).collect()).collect()
    };
    let (a, b) = (factors(true, ROWS), factors(false, COLUMNS));
    for (row, (line, a)) in found.iter_mut().zip(&a).enumerate() {
        for (column, (sum, b)) in line.iter_mut().zip(&b).enumerate() {
            let register = mma.c[row / 8 * 2 + column % 2];
            let c = f32::from_bits(words(registers, register)[row % 8 * 4 + column / 2]);
            let products = a.iter().zip(b).map(|(a, b)| a * b);
            *sum = exact_sum(products.chain([f64::from(c)])) as f32;
        }
    }
    for (r, row) in mma.d.iter().enumerate() {
        let Register::Word(row) = *row else { continue };
        registers.words[row as usize] = std::array::from_fn(|lane| {
            found[lane / 4 + 8 * (r / 2)][lane % 4 * 2 + r % 2].to_bits()
        });
    }
}

/// Adds numbers up without an error, and rounds the sum (Shewchuk, "Adaptive Precision Floating-Point Arithmetic").
fn exact_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    // Infinities and NaN, which decide alone.
    let mut special = 0.0;
    for mut term in terms {
        if !term.is_finite() {
            special += term;
            continue;
        }
        let mut kept = 0;
        for at in 0..parts.len() {
            let part = parts[at];
            let (large, small) = if term.abs() < part.abs() { (part, term) } else { (term, part) };
            let sum = large + small;
            let rest = small - (sum - large);
            if rest != 0.0 {
                parts[kept] = rest;
                kept += 1;
            }
            term = sum;
        }
        parts.truncate(kept);
        parts.push(term);
    }
    // From the smallest part on: each is far below the next.
    special + parts.into_iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::exact_sum;

    #[test]
    fn small_terms_are_not_lost_beside_large_ones() {
        assert_eq!(exact_sum([1e300, 1.0, -1e300, 2e-300].into_iter()), 1.0 + 2e-300);
        assert_eq!(exact_sum([2.0_f64.powi(60), 1.0, -(2.0_f64.powi(60))].into_iter()), 1.0);
        assert!(exact_sum([1.0, f64::NAN, 1.0].into_iter()).is_nan());
        assert_eq!(exact_sum([1.0, f64::INFINITY, 1.0].into_iter()), f64::INFINITY);
    }
}
