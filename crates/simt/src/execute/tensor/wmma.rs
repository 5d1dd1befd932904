//! `wmma`: fragments between memory and registers, and their products. `fragment` says where their elements lie.

use crate::compute::tensor::{MAX_A, MAX_B, MAX_C, Tile};
use crate::error::Error;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::request::addresses;
use crate::fragment::{Cores, Matrix, transposed};
use crate::operation::{How, Mma, Register, WmmaMove};
use crate::registers::{LANES, Registers};
use ptx::Type;

impl Worker<'_> {
    pub fn move_fragment(&mut self, issue: Issue<'_>, fragment: &WmmaMove) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        self.require_all_lanes(block, warp, pc, mask)?;
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
        let Issue { block, warp, pc, mask } = issue;
        self.require_all_lanes(block, warp, pc, mask)?;
        let mut tile = Tile { a: [0; MAX_A], b: [0; MAX_B], c: [0; MAX_C] };
        let registers = &mut warp.registers;
        let shape = [mma.m, mma.n, mma.k];
        let (bytes, sum_bytes) = (mma.a_type.bytes(), mma.c_type.bytes());
        let sums = Cores::of(Matrix::Sum, shape, sum_bytes);
        for (matrix, rows, bytes, width, elements) in [
            (Matrix::A, &mma.a, bytes, mma.k, &mut tile.a[..]),
            (Matrix::B, &mma.b, bytes, mma.n, &mut tile.b[..]),
            (Matrix::Sum, &mma.c, sum_bytes, mma.n, &mut tile.c[..]),
        ] {
            let cores = Cores::of(matrix, shape, bytes);
            each(&cores, bytes, |core, lane, element, (row, shift)| {
                let (i, j) = cores.place(core, element, lane as u32);
                let value = get(registers, rows[row], lane) >> shift;
                let bits = 8 * bytes;
                elements[i * width + j] = if bits < 64 { value & ((1 << bits) - 1) } else { value };
            });
        }
        // NVIDIA's assembler makes products of tf32 of instructions of half the depth.
        let steps = if mma.a_type == Type::Tf32 { 2 } else { 1 };
        let part = Mma { k: mma.k / steps, ..mma.clone() };
        for step in 0..steps {
            let (k, first) = (part.k, step * part.k);
            let mut own = Tile { a: [0; MAX_A], b: [0; MAX_B], c: tile.c };
            for row in 0..mma.m {
                let line = &tile.a[row * mma.k + first..][..k];
                own.a[row * k..][..k].copy_from_slice(line);
            }
            own.b[..k * mma.n].copy_from_slice(&tile.b[first * mma.n..][..k * mma.n]);
            own.multiply(&part);
            tile.c = own.c;
        }
        each(&sums, sum_bytes, |core, lane, element, (row, shift)| {
            let (i, j) = sums.place(core, element, lane as u32);
            let value = tile.c[i * mma.n + j];
            match mma.d[row] {
                Register::Long(index) => registers.longs[index as usize][lane] = value,
                Register::Word(index) => {
                    let word = &mut registers.words[index as usize][lane];
                    *word = if shift == 0 { value as u32 } else { *word | (value as u32) << shift };
                }
                Register::Predicate(_) => {}
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

fn get(registers: &Registers, row: Register, lane: usize) -> u64 {
    match row {
        Register::Long(index) => registers.longs[index as usize][lane],
        row => registers.words[row.index() as usize][lane].into(),
    }
}
