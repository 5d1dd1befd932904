//! `wgmma.mma_async`: each of four warps computes 16 of 64 rows (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//!
//! A descriptor says where a factor lies in shared memory: blocks of 8 rows along M or N and 16 bytes along K, or, transposed,
//! of 8 rows along K and 16 bytes along M or N. Two distances lead from block to block. A swizzle moves the chunks of 16
//! bytes: their number within a row of 32, 64 or 128 bytes is combined by exclusive or with the number of the row. What each
//! field means was found on an H200, for 384 descriptors: `tests/mma/wgmma.cu`.
//!
//! A product is computed when it is issued; `checks::products` finds programs that do not wait for it.

use super::mma::{read_rows, read_sums, write_sums};
use crate::compute::tensor::{MAX_FACTOR, multiply};
use crate::error::Error;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::{Issue, Worker};
use crate::operation::{Factor, Wgmma};

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
        self.require_all_lanes(&issue)?;
        let Issue { block, warp, pc, mask } = issue;
        if warp.index / WARPS * WARPS + WARPS > self.run.warps_per_block {
            return Err(Error::IllegalInstruction {
                place: Box::new(self.run.place(block.index, warp.index, mask, pc)),
                message:
                    "four warps must execute it together, of which the first is a multiple of four"
                        .into(),
            });
        }
        let part = &wgmma.part;
        let (k, n, width) = (part.k, part.n, part.a_type.bytes());
        let sign = 1_u32 << (8 * width - 1);
        let mut a = [0; MAX_FACTOR];
        let a = &mut a[..16 * k];
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
                    (a, [k, 1]),
                )?;
            }
            Factor::Registers(rows) => read_rows(&warp.registers, rows, part, a),
        }
        let Factor::Shared { descriptor, transposed } = wgmma.b else { return Ok(()) };
        let descriptor = Descriptor::new(warp.registers.longs[descriptor as usize][0], transposed);
        let mut b = vec![0; k * n];
        self.factor(
            Issue { block, warp, pc, mask },
            "B",
            descriptor,
            (0, n as u32, k as u32),
            width,
            (&mut b, [1, n]),
        )?;
        for (factor, negate) in [&mut *a, &mut b].into_iter().zip(wgmma.negate) {
            if negate {
                factor.iter_mut().for_each(|bits| *bits ^= sign);
            }
        }
        let mut c = vec![0; 16 * n];
        if wgmma.adds(warp) {
            read_sums(&warp.registers, &part.c, part, &mut c);
        }
        multiply(part, k, a, &mut b, &mut c);
        write_sums(&mut warp.registers, part, &c);
        Ok(())
    }

    /// Reads a factor from shared memory: so many rows from a first on, and so many steps along K, which are so far apart in
    /// `factor`.
    fn factor(
        &mut self,
        Issue { block, warp, pc, mask }: Issue<'_>,
        name: &str,
        descriptor: Descriptor,
        (first, rows, steps): (u32, u32, u32),
        width: u32,
        (factor, apart): (&mut [u32], [usize; 2]),
    ) -> Result<(), Error> {
        let bytes = block.shared.len();
        let chunk = 16 / width;
        // Elements of a chunk are neighbours: along M or N if the factor is transposed, else along K.
        let (long, short) = if descriptor.transposed { (steps, rows) } else { (rows, steps) };
        let step = apart[usize::from(!descriptor.transposed)];
        let mut starts = Vec::new();
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
                if self.observers.checking {
                    starts.push(start as u64);
                }
                let bytes = &block.shared[start..start + 16];
                let factor = &mut factor[i as usize * apart[0] + k as usize * apart[1]..];
                let factor = factor.iter_mut().step_by(step);
                match width {
                    1 => factor.zip(bytes).for_each(|(to, byte)| *to = (*byte).into()),
                    2 => {
                        let halves = bytes.as_chunks::<2>().0.iter();
                        factor.zip(halves).for_each(|(to, b)| *to = u16::from_le_bytes(*b).into());
                    }
                    _ => {
                        let words = bytes.as_chunks::<4>().0.iter();
                        factor.zip(words).for_each(|(to, bytes)| *to = u32::from_le_bytes(*bytes));
                    }
                }
            }
        }
        if self.observers.checking {
            self.check_factor(block, warp, pc, starts);
        }
        Ok(())
    }
}
