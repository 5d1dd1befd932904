//! `wmma`: fragments between memory and registers, and their products. `fragment` says where their elements lie.

use super::mma::multiply_doubles;
use crate::compute::tensor::{MAX_FACTOR, MAX_SUM, multiply};
use crate::error::Error;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::request::addresses;
use crate::fragment::{Cores, Matrix, transposed};
use crate::operation::{How, Mma, Register, WmmaMove};
use crate::registers::LANES;
use ptx::Type;

impl Worker<'_> {
    pub fn move_fragment(&mut self, issue: Issue<'_>, fragment: &WmmaMove) -> Result<(), Error> {
        self.require_all_lanes(&issue)?;
        let Issue { block, warp, pc, mask } = issue;
        let from = addresses(warp, fragment.from.0, fragment.from.1);
        let stride = fragment.stride.map(|row| warp.registers.words[row as usize][0]);
        let stride = u64::from(stride.unwrap_or(fragment.dense));
        for part in &fragment.moves {
            let place = &mut warp.registers.longs[fragment.place as usize];
            for (lane, place) in place.iter_mut().enumerate() {
                let (row, column) = part.start(fragment.each, lane as u32);
                let (row, column) = (u64::from(row), u64::from(column));
                let element =
                    if fragment.is_dense { row * stride + column } else { column * stride + row };
                *place = from[lane].wrapping_add(element * u64::from(fragment.bytes));
            }
            let value = fragment.value.index() as usize;
            let issue = Issue { block, warp, pc, mask };
            match (part.how, fragment.loads) {
                (How::Matrices { transpose }, _) => {
                    self.load_matrix(issue, &part.access, transpose)?;
                }
                (How::Transposed { of }, false) => {
                    let words = &mut issue.warp.registers.words;
                    words[value] = transposed(words[of.index() as usize]);
                    self.access::<true>(issue, &part.access)?;
                }
                (_, false) => self.access::<true>(issue, &part.access)?,
                (how, true) => {
                    self.access::<false>(issue, &part.access)?;
                    let words = &mut warp.registers.words;
                    let loaded = words[value];
                    match how {
                        How::Transposed { of } => words[of.index() as usize] = transposed(loaded),
                        How::Byte { index, into } => {
                            let kept = if index == 0 { 0 } else { u32::MAX };
                            let into = &mut words[into.index() as usize];
                            for (word, byte) in into.iter_mut().zip(loaded) {
                                *word = *word & kept | byte << (8 * index);
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        for (from, to) in &fragment.copies {
            let words = &mut warp.registers.words;
            words[to.index() as usize] = words[from.index() as usize];
        }
        Ok(())
    }

    pub fn multiply_fragments(&self, issue: Issue<'_>, mma: &Mma) -> Result<(), Error> {
        self.require_all_lanes(&issue)?;
        let registers = &mut issue.warp.registers;
        if mma.c_type == Type::F64 {
            multiply_doubles(registers, mma);
            return Ok(());
        }
        let (mut a, mut b, mut c) = ([0; MAX_FACTOR], [0; MAX_FACTOR], [0; MAX_SUM]);
        let shape = [mma.m, mma.n, mma.k];
        let (bytes, sum_bytes) = (mma.a_type.bytes(), mma.c_type.bytes());
        let sums = Cores::of(Matrix::Sum, shape, sum_bytes);
        for (matrix, rows, bytes, width, elements) in [
            (Matrix::A, &mma.a, bytes, mma.k, &mut a[..]),
            (Matrix::B, &mma.b, bytes, mma.n, &mut b[..]),
            (Matrix::Sum, &mma.c, sum_bytes, mma.n, &mut c[..]),
        ] {
            let cores = Cores::of(matrix, shape, bytes);
            each(&cores, bytes, |core, lane, element, (row, shift)| {
                let (i, j) = cores.place(core, element, lane as u32);
                let value = registers.words[rows[row].index() as usize][lane] >> shift;
                elements[i * width + j] = value & (u32::MAX >> (32 - 8 * bytes));
            });
        }
        let c = &mut c[..mma.m * mma.n];
        // NVIDIA's assembler makes products of tf32 of instructions of half the depth.
        let steps = if mma.a_type == Type::Tf32 { 2 } else { 1 };
        let k = mma.k / steps;
        for first in (0..mma.k).step_by(k) {
            let mut own = [0; MAX_FACTOR];
            let own = &mut own[..mma.m * k];
            for (own, row) in own.chunks_exact_mut(k).zip(a.chunks_exact(mma.k)) {
                own.copy_from_slice(&row[first..][..k]);
            }
            multiply(mma, k, own, &mut b[first * mma.n..][..k * mma.n], c);
        }
        each(&sums, sum_bytes, |core, lane, element, (row, shift)| {
            let (i, j) = sums.place(core, element, lane as u32);
            let value = c[i * mma.n + j];
            if let Register::Word(index) = mma.d[row] {
                let word = &mut registers.words[index as usize][lane];
                *word = if shift == 0 { value } else { *word | value << shift };
            }
        });
        Ok(())
    }
}

/// Calls `f(core, lane, element, (register, shift))` for each element of a fragment of elements of so many bytes.
fn each(cores: &Cores, bytes: u32, mut f: impl FnMut(usize, usize, u32, (usize, u32))) {
    let per = (4 / bytes).max(1);
    for core in 0..cores.starts.len() {
        for element in 0..cores.each {
            let row = core * cores.each.div_ceil(per) as usize + (element / per) as usize;
            for lane in 0..LANES {
                f(core, lane, element, (row, element % per * 8 * bytes));
            }
        }
    }
}
