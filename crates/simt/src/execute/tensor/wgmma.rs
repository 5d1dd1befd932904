//! `wgmma.mma_async`: each of four warps computes 16 of 64 rows (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//!
//! A descriptor says where a factor lies in shared memory: blocks of 8 rows along M or N and 16 bytes along K, or, transposed,
//! of 8 rows along K and 16 bytes along M or N. Two distances lead from block to block. A swizzle moves the chunks of 16
//! bytes: their number within a row of 32, 64 or 128 bytes is combined by exclusive or with the number of the row. What each
//! field means was found on an H200, for 384 descriptors: `tests/mma/wgmma.cu`.
//!
//! A product is computed when it is issued; `checks::products` finds programs that do not wait for it.

use crate::compute::tensor::{MAX_A, MAX_B, MAX_C, Tile};
use crate::error::Error;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::operation::{Factor, Register, Wgmma};
use crate::registers::LANES;

/// Warps that execute a `wgmma` together.
const WARPS: u32 = 4;

/// The fields of a matrix descriptor.
#[derive(Clone, Copy)]
struct Descriptor {
    start: u32,
    leading: u32,
    stride: u32,
    base: u32,
    /// Bytes of a row whose chunks change places; 16 for none.
    span: u32,
    transposed: bool,
}

impl Descriptor {
    fn new(bits: u64, transposed: bool) -> Descriptor {
        let field = |shift: u32| (bits >> shift & 0x3fff) as u32 * 16;
        let span = [16, 128, 64, 32][(bits >> 62) as usize];
        let base = (bits >> 49 & 7) as u32;
        Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            base,
            span,
            transposed,
        }
    }

    /// Returns the offset of an element: `i` along M or N, `k` along K.
    fn place(self, i: u32, k: u32, width: u32) -> u32 {
        let chunk = 16 / width;
        let offset = match (self.transposed, self.span) {
            (false, 16) => {
                i / 8 * self.stride + k / chunk * self.leading + i % 8 * 16 + k % chunk * width
            }
            (false, span) => i / 8 * self.stride + i % 8 * span + k * width,
            (true, 16) => {
                i / chunk * self.stride + k / 8 * self.leading + k % 8 * 16 + i % chunk * width
            }
            (true, span) => {
                let row = span / width;
                i / row * self.leading + k / 8 * self.stride + k % 8 * span + i % row * width
            }
        };
        let address = self.start.wrapping_add(offset);
        address ^ ((address >> 7).wrapping_sub(self.base) & (self.span / 16 - 1)) << 4
    }
}

impl Wgmma {
    /// Returns whether the old D is added.
    pub fn adds(&self, warp: &Warp) -> bool {
        warp.registers.predicates[self.adds as usize] & 1 != 0
    }
}

impl Worker<'_> {
    pub fn multiply_by_warps(&mut self, issue: Issue<'_>, wgmma: &Wgmma) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        self.require_all_lanes(block, warp, pc, mask)?;
        if warp.index / WARPS * WARPS + WARPS > block.warps.len() as u32 {
            return Err(Error::IllegalInstruction {
                place: Box::new(self.run.place(block.index, warp.index, mask, pc)),
                message:
                    "four warps must execute it together, of which the first is a multiple of four"
                        .into(),
            });
        }
        let part = &wgmma.part;
        let (k, width) = (part.k, part.a_type.bytes());
        let sign = 1_u64 << (8 * width - 1);
        let mut tile = Tile { a: [0; MAX_A], b: [0; MAX_B], c: [0; MAX_C] };
        match &wgmma.a {
            Factor::Shared { descriptor, transposed } => {
                let bits = warp.registers.longs[*descriptor as usize][0];
                let descriptor = Descriptor::new(bits, *transposed);
                let first = warp.index % WARPS * 16;
                self.factor(
                    Issue { block, warp, pc, mask },
                    "A",
                    descriptor,
                    (first, 16, k as u32),
                    width,
                    |i, step, value| {
                        tile.a[i * k + step] = value;
                    },
                )?;
            }
            Factor::Registers(rows) => {
                let per = part.per_register();
                for (r, row) in rows.iter().enumerate() {
                    for lane in 0..LANES {
                        let word = u64::from(warp.registers.words[row.index() as usize][lane]);
                        let (group, place) = (lane / 4, lane % 4);
                        for e in 0..per {
                            let column = 4 * per * (r / 2) + per * place + e;
                            let bits = 32 / per;
                            let value = word >> (e * bits) & ((1 << bits) - 1);
                            tile.a[(group + 8 * (r % 2)) * k + column] = value;
                        }
                    }
                }
            }
        }
        let Factor::Shared { descriptor, transposed } = wgmma.b else { return Ok(()) };
        let descriptor = Descriptor::new(warp.registers.longs[descriptor as usize][0], transposed);
        let mut columns = vec![0; wgmma.n * k];
        self.factor(
            Issue { block, warp, pc, mask },
            "B",
            descriptor,
            (0, wgmma.n as u32, k as u32),
            width,
            |i, step, value| {
                columns[i * k + step] = value;
            },
        )?;
        let negated = |negate: bool| if negate { sign } else { 0 };
        tile.a[..16 * k].iter_mut().for_each(|bits| *bits ^= negated(wgmma.negate[0]));
        let adds = wgmma.adds(warp);
        for (eight, columns) in columns.chunks(8 * k).enumerate() {
            for (place, bits) in columns.iter().enumerate() {
                tile.b[place % k * 8 + place / k] = bits ^ negated(wgmma.negate[1]);
            }
            let at = |r: usize, lane: usize| (lane / 4 + 8 * (r / 2)) * 8 + lane % 4 * 2 + r % 2;
            for r in 0..4 {
                let row = part.c[4 * eight + r].index() as usize;
                for lane in 0..LANES {
                    let bits = if adds { warp.registers.words[row][lane] } else { 0 };
                    tile.c[at(r, lane)] = bits.into();
                }
            }
            tile.multiply(part);
            for r in 0..4 {
                let Register::Word(row) = part.d[4 * eight + r] else { continue };
                for lane in 0..LANES {
                    warp.registers.words[row as usize][lane] = tile.c[at(r, lane)] as u32;
                }
            }
        }
        Ok(())
    }

    /// Reads a factor from shared memory: so many rows from a first on, and so many steps along K.
    fn factor(
        &mut self,
        Issue { block, warp, pc, mask }: Issue<'_>,
        name: &str,
        descriptor: Descriptor,
        (first, rows, steps): (u32, u32, u32),
        width: u32,
        mut take: impl FnMut(usize, usize, u64),
    ) -> Result<(), Error> {
        let bytes = block.shared.len();
        let chunk = 16 / width;
        // Elements of a chunk are neighbours: along M or N if the factor is transposed, else along K.
        let (long, short) = if descriptor.transposed { (steps, rows) } else { (rows, steps) };
        let mut starts = Vec::with_capacity((long * short / chunk) as usize);
        for line in 0..long {
            for group in (0..short).step_by(chunk as usize) {
                let (i, k) = if descriptor.transposed { (group, line) } else { (line, group) };
                let start = descriptor.place(first + i, k, width) as usize;
                if start + 16 > bytes {
                    return Err(Error::IllegalAddress {
                        place: Box::new(self.run.place(block.index, warp.index, mask, pc)),
                        address: start as u64,
                        bytes: 16,
                        message: format!("the descriptor of {name} points outside shared memory"),
                    });
                }
                starts.push(start as u64);
                for e in 0..chunk {
                    let at = start + (e * width) as usize;
                    let value = match width {
                        1 => block.shared[at].into(),
                        2 => u16::from_le_bytes([block.shared[at], block.shared[at + 1]]).into(),
                        _ => u32::from_le_bytes([
                            block.shared[at],
                            block.shared[at + 1],
                            block.shared[at + 2],
                            block.shared[at + 3],
                        ])
                        .into(),
                    };
                    let (i, k) = if descriptor.transposed { (i + e, k) } else { (i, k + e) };
                    take(i as usize, k as usize, value);
                }
            }
        }
        if self.observers.checking {
            self.check_factor(block, warp, pc, starts);
        }
        Ok(())
    }
}
