//! The product of the tensor cores: `D = A x B + C` of one tile, by `mma.sync`.
//!
//! Integers wrap, or clamp the whole sum with `.satfinite`. Doubles are a chain of fused multiply-adds along K, each
//! rounded to nearest; a NaN keeps its payload.
//!
//! Products of f16, bf16 and tf32 are exact. All products of the tile's K and the element of C are aligned to the
//! largest exponent among those that are not zero, cut [`EXTRA_BITS`] below the 23 bits of an f32, and added as integers. Where all are
//! below 2^[`LEAST_EXPONENT`], they are aligned to that. 8-bit floats follow the same rule with fewer bits: terms are cut
//! [`BITS_OF_EIGHT`] below the largest, and so is the f32 that is their sum.
//! An f32 result is cut, too; an f16 result is rounded to nearest, once. The exponent of a product is the sum of its
//! factors' exponents, even where the product of the significands is 2 or more. Zero has no sign, and NaN no payload.
//!
//! That is what an H200 does: `tests/mma.rs` compares 576 generated tiles of each form, with cancellation, subnormals,
//! infinities, NaN and exponents far apart, bit by bit with what `tests/mma/sweep.cu` printed there. The rule was
//! proposed for earlier generations, whose groups along K and whose bits are fewer, by Fasi et al., "Numerical behavior
//! of NVIDIA tensor cores" (2021); a tile for an older target is computed as on compute capability 9.0 all the same.

use crate::operation::Mma;
use ptx::Type;

/// Bits that an aligned term keeps below the 23 of an f32.
const EXTRA_BITS: u32 = 2;

/// Bits below the first that an aligned term and the sum keep where the factors are 8-bit floats: what Xie et al., "MMA-Sim:
/// Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (2025), found of `wgmma` on Hopper, and what an H100 gave in every tile of `fixtures/wgmma_bytes.txt`.
const BITS_OF_EIGHT: u32 = 13;

/// Terms are aligned to this exponent where all are smaller.
const LEAST_EXPONENT: i32 = -133;

/// The largest matrices of any shape, in elements.
pub(crate) const MAX_A: usize = 16 * 32;
pub(crate) const MAX_B: usize = 16 * 32;
pub(crate) const MAX_C: usize = 16 * 16;

/// The bits of the matrices of one tile, row by row; `c` becomes the result.
#[derive(Clone, Debug)]
pub(crate) struct Tile {
    pub a: [u64; MAX_A],
    pub b: [u64; MAX_B],
    pub c: [u64; MAX_C],
}

impl Tile {
    /// Computes the result.
    pub fn multiply(&mut self, mma: &Mma) {
        match mma.c_type {
            Type::S32 => self.integers(mma),
            Type::F64 => self.doubles(mma),
            _ => self.floats(mma),
        }
    }

    fn integers(&mut self, mma: &Mma) {
        let widen = |bits: u64, t: Type| {
            if t == Type::S8 { i64::from(bits as i8) } else { i64::from(bits as u8) }
        };
        for (place, c) in self.c[..mma.m * mma.n].iter_mut().enumerate() {
            let (row, column) = (place / mma.n, place % mma.n);
            let products = (0..mma.k).map(|k| {
                widen(self.a[row * mma.k + k], mma.a_type)
                    * widen(self.b[k * mma.n + column], mma.b_type)
            });
            let sum = i64::from(*c as u32 as i32) + products.sum::<i64>();
            let result =
                if mma.saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
            *c = u64::from(result as u32);
        }
    }

    fn doubles(&mut self, mma: &Mma) {
        for (place, c) in self.c[..mma.m * mma.n].iter_mut().enumerate() {
            let (row, column) = (place / mma.n, place % mma.n);
            let sum = (0..mma.k).fold(f64::from_bits(*c), |sum, k| {
                let [a, b] = [self.a[row * mma.k + k], self.b[k * mma.n + column]];
                let [a, b] = [f64::from_bits(a), f64::from_bits(b)];
                // The first NaN in this order stays, as a quiet one.
                if let Some(nan) = [b, sum, a].into_iter().find(|x| x.is_nan()) {
                    return f64::from_bits(nan.to_bits() | 1 << 51);
                }
                let sum = a.mul_add(b, sum);
                if sum.is_nan() { f64::from_bits(0xfff8 << 48) } else { sum }
            });
            *c = sum.to_bits();
        }
    }

    fn floats(&mut self, mma: &Mma) {
        let (format, b_format) = (Format::of(mma.a_type), Format::of(mma.b_type));
        let fraction = format.fraction + b_format.fraction;
        let is_eight = mma.a_type.bytes() == 1;
        let mut a = [Part::default(); MAX_A];
        let mut b = [Part::default(); MAX_B];
        for (part, bits) in a.iter_mut().zip(&self.a[..mma.m * mma.k]) {
            *part = format.part(*bits);
        }
        for (place, bits) in self.b[..mma.k * mma.n].iter().enumerate() {
            // Column by column, so that both factors lie along K.
            b[place % mma.n * mma.k + place / mma.n] = b_format.part(*bits);
        }
        let accumulator = Format::of(mma.c_type);
        for (place, c) in self.c[..mma.m * mma.n].iter_mut().enumerate() {
            let (row, column) = (place / mma.n, place % mma.n);
            let row = &a[row * mma.k..][..mma.k];
            let column = &b[column * mma.k..][..mma.k];
            let sum = accumulator.part(*c).widened(accumulator.fraction);
            let special = [row, column].iter().any(|line| line.iter().any(|part| part.special));
            if special || sum.special {
                *c = accumulator.special(limit(row, column, sum));
                continue;
            }
            *c = if is_eight {
                add::<BITS_OF_EIGHT>(row, column, fraction, sum).single(BITS_OF_EIGHT).into()
            } else {
                let exact = add::<{ 23 + EXTRA_BITS }>(row, column, fraction, sum);
                if mma.c_type == Type::F16 { exact.half().into() } else { exact.single(23).into() }
            };
        }
    }
}

/// A binary format: its bits of exponent and of fraction, and unused bits below.
#[derive(Clone, Copy, Debug)]
struct Format {
    exponent: u32,
    fraction: u32,
    unused: u32,
    /// The largest exponent is that of numbers, too, and only the largest fraction there is NaN.
    is_finite: bool,
}

/// An element: `significand * 2^(exponent - fraction)` with the fraction of its format.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    significand: i32,
    exponent: i32,
    /// An infinity, or NaN when the significand is 0.
    special: bool,
}

impl Format {
    const SINGLE: Format = Format { exponent: 8, fraction: 23, unused: 0, is_finite: false };

    fn of(t: Type) -> Format {
        match t {
            Type::F16 => Format { exponent: 5, fraction: 10, ..Format::SINGLE },
            Type::Bf16 => Format { exponent: 8, fraction: 7, ..Format::SINGLE },
            Type::Tf32 => Format { exponent: 8, fraction: 10, unused: 13, ..Format::SINGLE },
            Type::E4m3 => Format { exponent: 4, fraction: 3, is_finite: true, ..Format::SINGLE },
            Type::E5m2 => Format { exponent: 5, fraction: 2, ..Format::SINGLE },
            _ => Format::SINGLE,
        }
    }

    fn part(self, bits: u64) -> Part {
        let bits = (bits >> self.unused) as i32;
        let top = (1 << self.exponent) - 1;
        let exponent = bits >> self.fraction & top;
        let fraction = bits & ((1 << self.fraction) - 1);
        let negative = bits >> (self.fraction + self.exponent) & 1 == 1;
        let special = exponent == top && (!self.is_finite || fraction == (1 << self.fraction) - 1);
        let magnitude = match exponent {
            0 => fraction,
            _ if special => i32::from(fraction == 0),
            _ => fraction | 1 << self.fraction,
        };
        Part {
            significand: if negative { -magnitude } else { magnitude },
            exponent: exponent.max(1) - (top >> 1),
            special,
        }
    }

    /// The bits of an infinity of a sign, or of the NaN that the hardware makes.
    fn special(self, sign: i32) -> u64 {
        let bits = self.exponent + self.fraction;
        match sign {
            0 => (1 << bits) - 1,
            _ => u64::from(sign < 0) << bits | ((1 << self.exponent) - 1) << self.fraction,
        }
    }
}

impl Part {
    /// With the fraction of an f32.
    fn widened(self, fraction: u32) -> Part {
        match self.special {
            true => self,
            false => Part { significand: self.significand << (23 - fraction), ..self },
        }
    }
}

/// The sign of the infinity that a sum with infinities is; 0 for NaN.
fn limit(row: &[Part], column: &[Part], c: Part) -> i32 {
    let products = row.iter().zip(column).filter(|(a, b)| a.special || b.special).map(|(a, b)| {
        // Zero times infinity is NaN, and so is a NaN, whose significand is 0.
        a.significand.signum() * b.significand.signum()
    });
    let mut signs = products.chain(c.special.then_some(c.significand));
    let first = signs.next().unwrap_or(0);
    if signs.all(|sign| sign == first) { first } else { 0 }
}

/// `sum * 2^exponent`.
#[derive(Clone, Copy, Debug)]
struct Exact {
    sum: i64,
    exponent: i32,
}

/// Adds products, which have so many bits of fraction, to an element of C; terms keep `KEPT` bits of fraction.
fn add<const KEPT: u32>(row: &[Part], column: &[Part], fraction: u32, c: Part) -> Exact {
    let kept = KEPT as i32;
    let terms = || {
        row.iter()
            .zip(column)
            .map(|(a, b)| (a.significand * b.significand, a.exponent + b.exponent))
    };
    let largest = terms()
        .chain([(c.significand, c.exponent)])
        .filter(|(significand, _)| *significand != 0)
        .map(|(_, exponent)| exponent)
        .fold(LEAST_EXPONENT, i32::max);
    let align = |significand: i32, exponent: i32, fraction: u32| {
        // No significand has more than 25 bits, nor a fraction: 31 more fit, and leave room for those that are cut.
        let magnitude = i64::from(significand.unsigned_abs()) << 31;
        let down = 31 - kept + fraction as i32 + largest - exponent;
        let aligned = magnitude >> down.clamp(0, 63);
        if significand < 0 { -aligned } else { aligned }
    };
    let products: i64 = terms().map(|(s, exponent)| align(s, exponent, fraction)).sum();
    let sum = products + align(c.significand, c.exponent, 23);
    Exact { sum, exponent: largest - kept }
}

impl Exact {
    /// Cut to an f32 of so many bits of fraction.
    fn single(self, fraction: u32) -> u32 {
        let magnitude = self.sum.unsigned_abs();
        if magnitude == 0 {
            return 0;
        }
        let sign = u32::from(self.sum < 0) << 31;
        let highest = 63 - magnitude.leading_zeros() as i32;
        let exponent = highest + self.exponent;
        if exponent > 127 {
            return sign | 0x7f80_0000;
        }
        // The place of the result's last bit.
        let unit = exponent.max(-126) - fraction as i32 - self.exponent;
        let significand = (shifted(magnitude, unit) as u32) << (23 - fraction);
        let biased = if exponent < -126 { 0 } else { (exponent + 127) as u32 };
        match biased << 23 | significand & 0x7f_ffff {
            0 => 0,
            bits => sign | bits,
        }
    }

    /// Rounded to the nearest f16, ties to even.
    fn half(self) -> u16 {
        let magnitude = self.sum.unsigned_abs();
        let sign = u16::from(self.sum < 0) << 15;
        if magnitude == 0 {
            return 0;
        }
        let highest = 63 - magnitude.leading_zeros() as i32;
        let exponent = highest + self.exponent;
        if exponent > 15 {
            return sign | 0x7c00;
        }
        let unit = exponent.max(-14) - 10 - self.exponent;
        let down = shifted(magnitude, unit);
        let (half, rest) = match unit {
            1..=63 => (1 << (unit - 1), magnitude & ((1 << unit) - 1)),
            _ => (1, 0),
        };
        let up = rest > half || rest == half && down & 1 == 1;
        // A carry into the exponent is the next power of two, or infinity.
        let biased = if exponent < -14 { 0 } else { (exponent + 14) as u64 };
        match ((biased << 10) + down + u64::from(up)) as u16 {
            0 => 0,
            bits => sign | bits,
        }
    }
}

/// `magnitude * 2^-by`, cut.
fn shifted(magnitude: u64, by: i32) -> u64 {
    match by {
        ..=0 => magnitude << -by,
        1..=63 => magnitude >> by,
        _ => 0,
    }
}
