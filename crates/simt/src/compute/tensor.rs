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

use crate::cpu::widest;
use crate::operation::Mma;
use ptx::Type;

/// Bits that an aligned term keeps below the 23 of an f32.
const EXTRA_BITS: u32 = 2;
const BITS_OF_SINGLE: u32 = 23 + EXTRA_BITS;

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
            if t == Type::S8 { i32::from(bits as i8) } else { i32::from(bits as u8) }
        };
        let mut b = [0; MAX_B];
        for (wide, bits) in b.iter_mut().zip(&self.b[..mma.k * mma.n]) {
            *wide = widen(*bits, mma.b_type);
        }
        let rows = self.c[..mma.m * mma.n].chunks_exact_mut(mma.n).zip(self.a.chunks_exact(mma.k));
        for (c, a) in rows {
            for (first, c) in c.chunks_exact_mut(WIDE).enumerate() {
                let mut sums = [0_i64; WIDE];
                for (step, bits) in a.iter().enumerate() {
                    let a = widen(*bits, mma.a_type);
                    let b: &[i32; WIDE] = eight(&b, step * mma.n + first * WIDE);
                    for lane in 0..WIDE {
                        sums[lane] += i64::from(a * b[lane]);
                    }
                }
                for (c, sum) in c.iter_mut().zip(sums) {
                    let sum = i64::from(*c as u32 as i32) + sum;
                    let result = if mma.saturate {
                        sum.clamp(i32::MIN.into(), i32::MAX.into())
                    } else {
                        sum
                    };
                    *c = u64::from(result as u32);
                }
            }
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
        widest!(crate::cpu::has_wide(), self.floats_wide(mma), self.floats_any(mma));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt")]
    fn floats_wide(&mut self, mma: &Mma) {
        self.floats_any(mma);
    }

    #[inline(always)]
    fn floats_any(&mut self, mma: &Mma) {
        match (mma.a_type.bytes(), mma.c_type) {
            (1, _) => self.sums::<BITS_OF_EIGHT>(mma, |sum| sum.single(BITS_OF_EIGHT)),
            (_, Type::F16) => self.sums::<BITS_OF_SINGLE>(mma, |sum| sum.half().into()),
            _ => self.sums::<BITS_OF_SINGLE>(mma, |sum| sum.single(23)),
        }
    }

    /// Adds products to each element of C, of which terms keep `KEPT` bits of fraction; `round` makes a sum an element.
    #[inline(always)]
    fn sums<const KEPT: u32>(&mut self, mma: &Mma, round: impl Fn(Exact) -> u32) {
        let formats = [mma.a_type, mma.b_type, mma.c_type].map(Format::of);
        let [a_format, b_format, c_format] = formats;
        // A product has at most 22 bits and so many of fraction; what it is shifted up by makes them at most 27.
        let up = KEPT - a_format.fraction - b_format.fraction;
        let a = Parts::<MAX_A>::new(a_format, &self.a[..mma.m * mma.k]);
        let b = Parts::<MAX_B>::new(b_format, &self.b[..mma.k * mma.n]);
        for row in 0..mma.m {
            for first in (0..mma.n).step_by(WIDE) {
                let Terms { sums, largest } =
                    Terms::new(&a, &b, mma, (row, first), up, &self.c, c_format);
                for lane in 0..WIDE {
                    let place = row * mma.n + first + lane;
                    let c = c_format.part(self.c[place]).widened(c_format.fraction);
                    let in_row =
                        || (0..mma.k).map(|step| (row * mma.k + step, step * mma.n + first + lane));
                    let special = (a.any_special || b.any_special)
                        && in_row().any(|(a_at, b_at)| a.special[a_at] || b.special[b_at]);
                    self.c[place] = if special || c.special {
                        let factors = in_row().map(|(a_at, b_at)| {
                            (a_format.part(self.a[a_at]), b_format.part(self.b[b_at]))
                        });
                        c_format.special(limit(factors, c))
                    } else {
                        let largest = largest[lane];
                        let sum = sums[lane] + aligned::<KEPT>(c, largest);
                        round(Exact { sum, exponent: largest - KEPT as i32 }).into()
                    };
                }
            }
        }
    }
}

/// Columns whose sums are computed side by side: a vector of the CPU's.
const WIDE: usize = 8;
/// Products along K of which each has at most 27 bits, whose sum fits 32 bits with its sign.
const FITTING: usize = 16;
/// The most products along K of one element.
const MAX_K: usize = 32;

fn eight<T>(all: &[T], at: usize) -> &[T; WIDE] {
    all[at..at + WIDE].first_chunk().expect("the slice has so many")
}

/// The elements of a factor, as arrays of which a vector takes several.
struct Parts<const N: usize> {
    significands: [i32; N],
    exponents: [i32; N],
    special: [bool; N],
    any_special: bool,
}

impl<const N: usize> Parts<N> {
    #[inline(always)]
    fn new(format: Format, all: &[u64]) -> Parts<N> {
        let mut parts = Parts {
            significands: [0; N],
            exponents: [0; N],
            special: [false; N],
            any_special: false,
        };
        for (at, bits) in all.iter().enumerate() {
            let part = format.part(*bits);
            parts.significands[at] = part.significand;
            parts.exponents[at] = part.exponent;
            parts.special[at] = part.special;
            parts.any_special |= part.special;
        }
        parts
    }
}

/// The sums of the products of one row and neighbouring columns, aligned to the largest exponent of each.
struct Terms {
    sums: [i64; WIDE],
    largest: [i32; WIDE],
}

impl Terms {
    #[inline(always)]
    fn new(
        a: &Parts<MAX_A>,
        b: &Parts<MAX_B>,
        mma: &Mma,
        (row, first): (usize, usize),
        up: u32,
        c: &[u64; MAX_C],
        c_format: Format,
    ) -> Terms {
        let mut products = [[0_i32; WIDE]; MAX_K];
        let mut exponents = [[0_i32; WIDE]; MAX_K];
        let mut largest = eight(c, row * mma.n + first).map(|bits| {
            let c = c_format.part(bits);
            if c.significand == 0 { LEAST_EXPONENT } else { c.exponent.max(LEAST_EXPONENT) }
        });
        for step in 0..mma.k {
            let at = row * mma.k + step;
            let (significand, exponent) = (a.significands[at], a.exponents[at]);
            let significands = eight(&b.significands, step * mma.n + first);
            let others = eight(&b.exponents, step * mma.n + first);
            for lane in 0..WIDE {
                let product = significand * significands[lane];
                let sum = exponent + others[lane];
                products[step][lane] = product;
                exponents[step][lane] = sum;
                largest[lane] = largest[lane].max(if product == 0 { LEAST_EXPONENT } else { sum });
            }
        }
        let mut sums = [0_i64; WIDE];
        for begin in (0..mma.k).step_by(FITTING) {
            let mut part = [0_i32; WIDE];
            for step in begin..mma.k.min(begin + FITTING) {
                for lane in 0..WIDE {
                    let product = products[step][lane];
                    let down = (largest[lane] - exponents[step][lane]).clamp(0, 31);
                    let magnitude = ((product.unsigned_abs() << up) >> down) as i32;
                    part[lane] += if product < 0 { -magnitude } else { magnitude };
                }
            }
            for lane in 0..WIDE {
                sums[lane] += i64::from(part[lane]);
            }
        }
        Terms { sums, largest }
    }
}

/// An element of C as an integer, whose unit is `KEPT` bits below the largest exponent; what is below is cut.
#[inline(always)]
fn aligned<const KEPT: u32>(c: Part, largest: i32) -> i64 {
    let magnitude = i64::from(c.significand.unsigned_abs()) << 31;
    let down = 31 - KEPT as i32 + 23 + largest - c.exponent;
    let aligned = magnitude >> down.clamp(0, 63);
    if c.significand < 0 { -aligned } else { aligned }
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
fn limit(factors: impl Iterator<Item = (Part, Part)>, c: Part) -> i32 {
    let products = factors.filter(|(a, b)| a.special || b.special).map(|(a, b)| {
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
