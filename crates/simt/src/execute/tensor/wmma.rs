//! `wmma`: element `32 s + l` of a matrix, row by row, is element `s` of lane `l`'s fragment.
//!
//! PTX does not say how fragments lie, so that any layout will do which loads, products and stores have in common. The
//! registers that a factor of f16 has beyond its elements are zero.

use crate::compute::tensor::{MAX_A, MAX_B, MAX_C, Tile};
use crate::error::Error;
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::request::addresses;
use crate::operation::{Mma, Register, WmmaMove};
use crate::registers::{LANES, Registers};
use ptx::Type;

impl Worker<'_> {
    pub fn move_fragment(&mut self, issue: Issue<'_>, fragment: &WmmaMove) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        self.require_all_lanes(block, warp, pc, mask)?;
        let from = addresses(warp, fragment.from.0, fragment.from.1);
        let (rows, columns) = (fragment.rows, fragment.columns);
        let dense = if fragment.is_row_major { columns } else { rows } as u32;
        let stride = fragment.stride.map_or(dense, |row| warp.registers.words[row as usize][0]);
        let bytes = fragment.access.bytes as usize;
        let per = 4_usize.div_ceil(bytes);
        if fragment.loads {
            for row in &fragment.fragment {
                put(&mut warp.registers, *row, 0..LANES, |_, _| 0);
            }
        }
        for slot in 0..rows * columns / LANES {
            let place = &mut warp.registers.longs[fragment.place as usize];
            for (lane, place) in place.iter_mut().enumerate() {
                let (row, column) =
                    ((slot * LANES + lane) / columns, (slot * LANES + lane) % columns);
                let (long, short) =
                    if fragment.is_row_major { (row, column) } else { (column, row) };
                let element = long as u64 * u64::from(stride) + short as u64;
                *place = from[lane].wrapping_add(element * bytes as u64);
            }
            let (register, shift) = (fragment.fragment[slot / per], slot % per * 8 * bytes);
            let field = if bytes < 8 { (1 << (8 * bytes)) - 1 } else { u64::MAX };
            if fragment.loads {
                self.access::<false>(Issue { block, warp, pc, mask }, &fragment.access)?;
                let values: [u64; LANES] =
                    std::array::from_fn(|lane| get(&warp.registers, fragment.value, lane));
                put(&mut warp.registers, register, 0..LANES, |lane, old| {
                    old | (values[lane] & field) << shift
                });
            } else {
                let values: [u64; LANES] =
                    std::array::from_fn(|lane| get(&warp.registers, register, lane));
                put(&mut warp.registers, fragment.value, 0..LANES, |lane, _| {
                    values[lane] >> shift & field
                });
                self.access::<true>(Issue { block, warp, pc, mask }, &fragment.access)?;
            }
        }
        Ok(())
    }

    pub fn multiply_fragments(&self, issue: Issue<'_>, mma: &Mma) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        self.require_all_lanes(block, warp, pc, mask)?;
        let mut tile = Tile { a: [0; MAX_A], b: [0; MAX_B], c: [0; MAX_C] };
        let registers = &mut warp.registers;
        let take = |registers: &Registers, rows: &[Register], bytes: u32, elements: &mut [u64]| {
            let bits = 8 * bytes as usize;
            let per = 32_usize.div_ceil(bits);
            for (i, element) in elements.iter_mut().enumerate() {
                let slot = i / LANES;
                let value = get(registers, rows[slot / per], i % LANES) >> (slot % per * bits);
                *element = if bits < 64 { value & ((1 << bits) - 1) } else { value };
            }
        };
        let bytes = mma.a_type.bytes();
        take(registers, &mma.a, bytes, &mut tile.a[..mma.m * mma.k]);
        take(registers, &mma.b, bytes, &mut tile.b[..mma.k * mma.n]);
        let bits = 8 * mma.c_type.bytes() as usize;
        take(registers, &mma.c, mma.c_type.bytes(), &mut tile.c[..mma.m * mma.n]);
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
        let per = mma.per_accumulator();
        for (r, row) in mma.d.iter().enumerate() {
            put(registers, *row, 0..LANES, |lane, _| {
                (0..per).fold(0, |word, e| {
                    word | tile.c[(r * per + e) * LANES + lane] << (e * bits % 64)
                })
            });
        }
        Ok(())
    }
}

fn get(registers: &Registers, row: Register, lane: usize) -> u64 {
    match row {
        Register::Long(index) => registers.longs[index as usize][lane],
        row => registers.words[row.index() as usize][lane].into(),
    }
}

fn put(
    registers: &mut Registers,
    row: Register,
    lanes: std::ops::Range<usize>,
    value: impl Fn(usize, u64) -> u64,
) {
    for lane in lanes {
        let new = value(lane, get(registers, row, lane));
        match row {
            Register::Long(index) => registers.longs[index as usize][lane] = new,
            Register::Word(index) => registers.words[index as usize][lane] = new as u32,
            Register::Predicate(_) => {}
        }
    }
}
