//! The product of the tensor cores: `D = A x B + C` of one tile, by `mma.sync`.
//!
//! Integers wrap, or clamp the whole sum with `.satfinite`. Doubles are a chain of fused multiply-adds along K, each
//! rounded to nearest; a NaN keeps its payload.
//!
//! Products of f16, bf16 and tf32 are exact. All products of the tile's K and the element of C are aligned to the
//! largest exponent among those that are not zero, cut [`EXTRA_BITS`] below the 23 bits of an f32, and added as integers. Where all are
//! below 2^[`LEAST_EXPONENT`], they are aligned to that. 8-bit floats follow the same rule with fewer bits: terms are cut
//! [`BITS_OF_EIGHT`] below the largest, and so is the f32 that is their sum.
//! That is `wgmma`'s; [`multiply_bytes`] is `mma.sync`'s.
//! An f32 result is cut, too; an f16 result is rounded to nearest, once. The exponent of a product is the sum of its
//! factors' exponents, even where the product of the significands is 2 or more. Zero has no sign, and NaN no payload.
//!
//! That is what an H200 does: `tests/mma.rs` compares 576 generated tiles of each form, with cancellation, subnormals,
//! infinities, NaN and exponents far apart, bit by bit with what `tests/mma/sweep.cu` printed there. The rule was
//! proposed for earlier generations, whose groups along K and whose bits are fewer, by Fasi et al., "Numerical behavior
//! of NVIDIA tensor cores" (2021); a tile for an older target is computed as on compute capability 9.0 all the same.

use crate::compute::half::{self, F16, Half};
use crate::compute::narrow;
use crate::cpu::widest;
use crate::operation::Mma;
use ptx::Type;
use races::lanes;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as x86;
use std::ops::Range;
use std::sync::LazyLock;

/// Bits that an aligned term keeps below the 23 of an f32.
const EXTRA_BITS: u32 = 2;
const BITS_OF_SINGLE: u32 = 23 + EXTRA_BITS;

/// Bits below the first that an aligned term and the sum keep where the factors are 8-bit floats: what Xie et al., "MMA-Sim:
/// Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (2025), found of `wgmma` on Hopper, and what an H100 gave in every tile of `fixtures/wgmma_bytes.txt`.
const BITS_OF_EIGHT: u32 = 13;

/// Terms are aligned to this exponent where all are smaller.
const LEAST_EXPONENT: i32 = -133;

/// The largest factors of `mma` and `wmma`, in elements.
pub(crate) const MAX_FACTOR: usize = 16 * 32;
/// The largest sum of these.
pub(crate) const MAX_SUM: usize = 16 * 16;

/// Columns whose sums are computed side by side: a vector of the CPU's.
const WIDE: usize = 8;

/// Computes `C = A x B + C`: rows of A have `k` elements, those of B and C have N, a multiple of eight, and a word holds an
/// element's bits. The factors are overwritten.
pub(crate) fn multiply(mma: &Mma, k: usize, a: &mut [u32], b: &mut [u32], c: &mut [u32]) {
    widest!(crate::cpu::has_wide(), multiply_wide(mma, k, a, b, c), multiply_any(mma, k, a, b, c));
}

/// Computes `C = A x B + C` of 8-bit floats as ptxas 13.0 does for compute capability 9.0: by two products of f16, whose sum is
/// added to C. Each product takes two of every four steps along K.
pub(crate) fn multiply_bytes(mma: &Mma, a: &[u32], b: &[u32], c: &mut [u32]) {
    let [a, b] = [(mma.a_type, a), (mma.b_type, b)].map(|(t, bits)| {
        let table = &HALVES[usize::from(t == Type::E5m2)];
        bits.iter().map(|bits| table[*bits as u8 as usize]).collect::<Vec<u32>>()
    });
    let (k, n, a_type, b_type) = (mma.k / 2, mma.n, Type::F16, Type::F16);
    let [of_a, of_b, of_c, of_d] = [const { Vec::new() }; 4];
    let halves = Mma { k, a_type, b_type, a: of_a, b: of_b, c: of_c, d: of_d, ..*mma };
    let mut sums = vec![0; c.len()];
    for part in 0..2 {
        let steps = (0..mma.k).filter(|step| step % 4 / 2 == part);
        let rows = a.chunks_exact(mma.k);
        let mut a: Vec<u32> = rows.flat_map(|row| steps.clone().map(|step| row[step])).collect();
        let mut b: Vec<u32> = steps.clone().flat_map(|step| &b[step * n..][..n]).copied().collect();
        multiply(&halves, k, &mut a, &mut b, &mut sums);
    }
    for (c, sum) in c.iter_mut().zip(sums) {
        *c = match mma.c_type {
            Type::F16 => half::add(F16(sum as u16), F16(*c as u16), 0).0.into(),
            _ => match f32::from_bits(sum) + f32::from_bits(*c) {
                sum if sum.is_nan() => Format::SINGLE.special(0),
                sum => sum.to_bits(),
            },
        };
    }
}

/// The 8-bit floats `e4m3` and `e5m2` as f16.
static HALVES: LazyLock<[[u32; 256]; 2]> = LazyLock::new(|| {
    ["e4m3", "e5m2"].map(|format| {
        std::array::from_fn(|code| F16::nearest(narrow::number(format, code as u8) as f32).0.into())
    })
});

/// Adds products of doubles to a sum.
pub(crate) fn chain(factors: impl Iterator<Item = (f64, f64)>, sum: f64) -> f64 {
    factors.fold(sum, |sum, (a, b)| {
        // The first NaN in this order stays, as a quiet one.
        if let Some(nan) = [b, sum, a].into_iter().find(|x| x.is_nan()) {
            return f64::from_bits(nan.to_bits() | 1 << 51);
        }
        let sum = a.mul_add(b, sum);
        if sum.is_nan() { f64::from_bits(0xfff8 << 48) } else { sum }
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt")]
fn multiply_wide(mma: &Mma, k: usize, a: &mut [u32], b: &mut [u32], c: &mut [u32]) {
    match mma.c_type {
        Type::S32 => integers(mma, k, a, b, c),
        _ => floats::<Wide>(mma, k, a, b, c),
    }
}

fn multiply_any(mma: &Mma, k: usize, a: &mut [u32], b: &mut [u32], c: &mut [u32]) {
    match mma.c_type {
        Type::S32 => integers(mma, k, a, b, c),
        _ => floats::<[u32; WIDE]>(mma, k, a, b, c),
    }
}

#[inline(always)]
fn integers(mma: &Mma, k: usize, a: &mut [u32], b: &mut [u32], c: &mut [u32]) {
    for (t, all) in [(mma.a_type, &mut *a), (mma.b_type, &mut *b)] {
        if t == Type::S8 {
            all.iter_mut().for_each(|bits| *bits = *bits as i8 as u32);
        }
    }
    let rows = c.chunks_exact_mut(mma.n).zip(a.chunks_exact(k));
    for (c, a) in rows {
        for (first, c) in c.as_chunks_mut::<WIDE>().0.iter_mut().enumerate() {
            // At most 32 products of 16 bits.
            let mut sums = [0_i32; WIDE];
            for (a, b) in a.iter().zip(b.chunks_exact(mma.n)) {
                let b = eight(b, first);
                for lane in 0..WIDE {
                    sums[lane] = sums[lane].wrapping_add((*a as i32).wrapping_mul(b[lane] as i32));
                }
            }
            for (c, sum) in c.iter_mut().zip(sums) {
                let before = *c as i32;
                let clamped = before.saturating_add(sum);
                *c = if mma.saturate { clamped } else { before.wrapping_add(sum) } as u32;
            }
        }
    }
}

/// The eight with this number.
#[inline(always)]
fn eight<T>(all: &[T], number: usize) -> &[T; WIDE] {
    all[number * WIDE..][..WIDE].first_chunk().expect("the slice has so many")
}

/// Eights of B that are taken apart before they are multiplied.
const PANEL: usize = MAX_FACTOR / WIDE;

#[inline(always)]
fn floats<V: Vector>(mma: &Mma, k: usize, a: &[u32], b: &[u32], c: &mut [u32]) {
    let n = mma.n;
    let [a_format, b_format, c_format] = [mma.a_type, mma.b_type, mma.c_type].map(Format::of);
    let kept = if mma.a_type.bytes() == 1 { BITS_OF_EIGHT } else { BITS_OF_SINGLE };
    let rule = Rule { kept, is_half: mma.c_type == Type::F16 };
    // A product has at most 22 bits and so many of fraction; what it is shifted up by makes them at most 27, so that the
    // sum of 16 fits 32 bits with its sign. Products of 8-bit floats have 15.
    let up = kept - a_format.fraction - b_format.fraction;
    let (mut left, mut special) = (Left::new(), false);
    for (first, bits) in a.as_chunks::<WIDE>().0.iter().enumerate() {
        let mut eight = Eight::default();
        special |= eight.take(a_format, bits, up);
        left.put(first * WIDE, &eight);
    }
    let mut right = [Eight::default(); PANEL];
    for first in (0..n / WIDE).step_by(PANEL / k) {
        let columns = (PANEL / k).min(n / WIDE - first);
        for (column, right) in right.chunks_exact_mut(k).take(columns).enumerate() {
            for (right, b) in right.iter_mut().zip(b.chunks_exact(n)) {
                special |= right.take(b_format, eight(b, first + column), 0);
            }
        }
        for (row, c) in c.chunks_exact_mut(n).enumerate() {
            let row = row * k..(row + 1) * k;
            let c = &mut c.as_chunks_mut::<WIDE>().0[first..][..columns];
            for ((column, c), right) in c.iter_mut().enumerate().zip(right.chunks_exact(k)) {
                let (before, mut sum) = (*c, Eight::default());
                let special = special | sum.take(c_format, c, 23 - c_format.fraction);
                *c = rule.sums::<V>(left.row(row.clone()), right, &sum);
                if special {
                    let b = |step: usize| eight(&b[step * n..], first + column);
                    for (lane, c) in c.iter_mut().enumerate() {
                        let before = c_format.part(before[lane]);
                        let factors = a[row.clone()]
                            .iter()
                            .enumerate()
                            .map(|(step, a)| (a_format.part(*a), b_format.part(b(step)[lane])));
                        let mut all = factors.clone();
                        if before.special || all.any(|(a, b)| a.special || b.special) {
                            *c = Format::SINGLE.special(limit(factors, before));
                        }
                    }
                }
            }
        }
    }
    if rule.is_half {
        for c in c {
            let half = F16::nearest(f32::from_bits(*c)).0;
            *c = if half & 0x7fff == 0 { 0 } else { half.into() };
        }
    }
}

/// Eight neighbours of a matrix: `magnitude * 2^(exponent - fraction)` with a sign, as arrays of which each is a vector.
#[derive(Clone, Copy, Default)]
struct Eight {
    magnitudes: [u32; WIDE],
    /// All bits where an element is negative.
    signs: [u32; WIDE],
    /// Integers with a sign.
    exponents: [u32; WIDE],
}

/// The exponent of zero: far below that of any product.
const ZERO: u32 = -(1 << 16_i32) as u32;

impl Eight {
    /// Takes elements apart, with magnitudes shifted up. Returns whether one is an infinity or NaN; that becomes zero here.
    #[inline(always)]
    fn take(&mut self, format: Format, all: &[u32; WIDE], up: u32) -> bool {
        let (top, field) = ((1 << format.exponent) - 1, (1 << format.fraction) - 1);
        let least = if format.is_finite { field } else { 0 };
        let mut any = 0;
        for (lane, bits) in all.iter().enumerate() {
            let bits = bits >> format.unused;
            let (exponent, fraction) = (bits >> format.fraction & top, bits & field);
            let special = exponent == top && fraction >= least;
            let leading = u32::from(exponent != 0) << format.fraction;
            let magnitude = if special { 0 } else { fraction | leading };
            any |= u32::from(special);
            self.magnitudes[lane] = magnitude << up;
            self.signs[lane] = (bits >> (format.fraction + format.exponent) & 1).wrapping_neg();
            let exponent = exponent.max(1).wrapping_sub(top >> 1);
            self.exponents[lane] = if magnitude == 0 { ZERO } else { exponent };
        }
        any != 0
    }
}

/// Eight integers of 32 bits that are computed with at once. The compiler would take steps along K together, whose elements do
/// not lie side by side.
trait Vector: Copy {
    fn new(values: &[u32; WIDE]) -> Self;
    fn all(value: u32) -> Self;
    fn array(self) -> [u32; WIDE];
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// The larger of two integers with signs.
    fn max(self, other: Self) -> Self;
    /// Shifted by numbers of bits of which 32 and more leave nothing.
    fn shifted_down(self, by: Self) -> Self;
}

#[inline(always)]
fn by_lane(a: [u32; WIDE], b: [u32; WIDE], f: impl Fn(u32, u32) -> u32) -> [u32; WIDE] {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

impl Vector for [u32; WIDE] {
    fn new(values: &[u32; WIDE]) -> Self {
        *values
    }

    fn all(value: u32) -> Self {
        [value; WIDE]
    }

    fn array(self) -> [u32; WIDE] {
        self
    }

    fn add(self, other: Self) -> Self {
        by_lane(self, other, u32::wrapping_add)
    }

    fn subtract(self, other: Self) -> Self {
        by_lane(self, other, u32::wrapping_sub)
    }

    fn multiply(self, other: Self) -> Self {
        by_lane(self, other, u32::wrapping_mul)
    }

    fn xor(self, other: Self) -> Self {
        by_lane(self, other, |a, b| a ^ b)
    }

    fn max(self, other: Self) -> Self {
        by_lane(self, other, |a, b| (a as i32).max(b as i32) as u32)
    }

    fn shifted_down(self, by: Self) -> Self {
        by_lane(self, by, |a, by| a.checked_shr(by).unwrap_or(0))
    }
}

/// A vector of AVX2, which `multiply_wide` alone uses.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Wide(x86::__m256i);

/// The functions of vectors that are one instruction each.
#[cfg(target_arch = "x86_64")]
macro_rules! instructions {
    ($($name:ident($other:ident): $instruction:ident;)*) => {$(
        #[inline(always)]
        fn $name(self, $other: Self) -> Self {
            // SAFETY: the CPU has AVX2, as there is a vector of it.
            Wide(unsafe { x86::$instruction(self.0, $other.0) })
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
impl Vector for Wide {
    #[inline(always)]
    fn new(values: &[u32; WIDE]) -> Self {
        // SAFETY: the caller's caller asked whether the CPU has AVX2; a vector is 32 bytes, with any alignment.
        Wide(unsafe { x86::_mm256_loadu_si256(values.as_ptr().cast()) })
    }

    #[inline(always)]
    fn all(value: u32) -> Self {
        // SAFETY: as above.
        Wide(unsafe { x86::_mm256_set1_epi32(value as i32) })
    }

    #[inline(always)]
    fn array(self) -> [u32; WIDE] {
        let mut values = [0; WIDE];
        // SAFETY: as above.
        unsafe { x86::_mm256_storeu_si256(values.as_mut_ptr().cast(), self.0) };
        values
    }

    instructions! {
        add(other): _mm256_add_epi32;
        subtract(other): _mm256_sub_epi32;
        multiply(other): _mm256_mullo_epi32;
        xor(other): _mm256_xor_si256;
        max(other): _mm256_max_epi32;
        shifted_down(by): _mm256_srlv_epi32;
    }
}

/// The left factor, of which an element at a time is multiplied with eight of the right one.
struct Left {
    magnitudes: [u32; MAX_FACTOR],
    signs: [u32; MAX_FACTOR],
    exponents: [u32; MAX_FACTOR],
}

/// Magnitudes, signs and exponents of a row.
type Row<'a> = (&'a [u32], &'a [u32], &'a [u32]);

impl Left {
    #[inline(always)]
    fn new() -> Left {
        let (signs, exponents) = ([0; MAX_FACTOR], [0; MAX_FACTOR]);
        Left { magnitudes: [0; MAX_FACTOR], signs, exponents }
    }

    #[inline(always)]
    fn put(&mut self, at: usize, eight: &Eight) {
        self.magnitudes[at..][..WIDE].copy_from_slice(&eight.magnitudes);
        self.signs[at..][..WIDE].copy_from_slice(&eight.signs);
        self.exponents[at..][..WIDE].copy_from_slice(&eight.exponents);
    }

    #[inline(always)]
    fn row(&self, row: Range<usize>) -> Row<'_> {
        (&self.magnitudes[row.clone()], &self.signs[row.clone()], &self.exponents[row])
    }
}

/// The rule by which products and an element of C become an element of D, or what is rounded to it.
#[derive(Clone, Copy)]
struct Rule {
    /// Bits of fraction that terms keep.
    kept: u32,
    is_half: bool,
}

impl Rule {
    /// Returns the sums of a row times eight columns, by step along K, and of elements of C with the fraction of an f32.
    #[inline(always)]
    fn sums<V: Vector>(
        self,
        (magnitudes, signs, exponents): Row<'_>,
        right: &[Eight],
        c: &Eight,
    ) -> [u32; WIDE] {
        let mut largest = V::new(&c.exponents).max(V::all(LEAST_EXPONENT as u32));
        for (exponent, right) in exponents.iter().zip(right) {
            largest = largest.max(V::all(*exponent).add(V::new(&right.exponents)));
        }
        let mut sums = V::all(0);
        let left = magnitudes.iter().zip(signs).zip(exponents);
        for (((magnitude, sign), exponent), right) in left.zip(right) {
            let product = V::all(*magnitude).multiply(V::new(&right.magnitudes));
            let exponent = V::all(*exponent).add(V::new(&right.exponents));
            let sign = V::all(*sign).xor(V::new(&right.signs));
            let term = product.shifted_down(largest.subtract(exponent));
            sums = sums.add(term.xor(sign).subtract(sign));
        }
        let before = c.magnitudes.map(|c| c << EXTRA_BITS >> (BITS_OF_SINGLE - self.kept));
        let down = largest.subtract(V::new(&c.exponents));
        let (before, sign) = (V::new(&before).shifted_down(down), V::new(&c.signs));
        let before = before.xor(sign).subtract(sign).array();
        let sums = sums.array();
        // Exact: both have fewer bits.
        let total = |lane: usize| f64::from(sums[lane] as i32) + f64::from(before[lane] as i32);
        self.round(std::array::from_fn(total), largest.array())
    }

    /// Returns integers, of which each is in units of so many bits below its exponent, as f32.
    #[inline(always)]
    fn round(self, totals: [f64; WIDE], exponents: [u32; WIDE]) -> [u32; WIDE] {
        let fraction = self.kept.min(23);
        let (mut singles, mut unusual) = ([0; WIDE], 0);
        for lane in 0..WIDE {
            let bits = totals[lane].to_bits();
            let magnitude = bits & (u64::MAX >> 1);
            let exponent =
                (magnitude >> 52) as i32 - 1023 + exponents[lane] as i32 - self.kept as i32;
            let is_usual = (-126..=127).contains(&exponent);
            let cut = (magnitude >> 29) as u32 & 0x7f_ffff & !0 << (23 - fraction);
            // An f16 is made of it, which has fewer bits: that something was cut decides how it is rounded.
            let rest = u32::from(self.is_half && magnitude & ((1 << 29) - 1) != 0);
            let sign = (bits >> 32) as u32 & 1 << 31;
            let single = sign | ((exponent + 127) as u32) << 23 | cut | rest;
            singles[lane] = if magnitude == 0 { 0 } else { single };
            unusual |= u32::from(magnitude != 0 && !is_usual) << lane;
        }
        for lane in lanes(unusual) {
            let exponent = exponents[lane] as i32 - self.kept as i32;
            let exact = Exact { sum: totals[lane] as i64, exponent };
            singles[lane] = exact.single(fraction);
        }
        singles
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

/// An element as a factor of an infinity.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// 0 for zero and NaN.
    sign: i32,
    /// An infinity or NaN.
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

    fn part(self, bits: u32) -> Part {
        let bits = bits >> self.unused;
        let (top, field) = ((1 << self.exponent) - 1, (1 << self.fraction) - 1);
        let (exponent, fraction) = (bits >> self.fraction & top, bits & field);
        let special = exponent == top && (!self.is_finite || fraction == field);
        let is_zero = exponent == 0 && fraction == 0;
        let sign = match bits >> (self.fraction + self.exponent) & 1 {
            _ if is_zero || special && fraction != 0 => 0,
            0 => 1,
            _ => -1,
        };
        Part { sign, special }
    }

    /// The bits of an infinity of a sign, or of the NaN that the hardware makes.
    fn special(self, sign: i32) -> u32 {
        let bits = self.exponent + self.fraction;
        match sign {
            0 => (1 << bits) - 1,
            _ => u32::from(sign < 0) << bits | ((1 << self.exponent) - 1) << self.fraction,
        }
    }
}

/// The sign of the infinity that a sum with infinities is; 0 for NaN.
fn limit(factors: impl Iterator<Item = (Part, Part)>, c: Part) -> i32 {
    let products = factors.filter(|(a, b)| a.special || b.special).map(|(a, b)| {
        // Zero times infinity is NaN, and so is a NaN, whose sign is 0.
        a.sign * b.sign
    });
    let mut signs = products.chain(c.special.then_some(c.sign));
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
}

/// `magnitude * 2^-by`, cut.
fn shifted(magnitude: u64, by: i32) -> u64 {
    match by {
        ..=0 => magnitude << -by,
        1..=63 => magnitude >> by,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{multiply, multiply_any};
    use crate::hash::mix;
    use crate::operation::Mma;
    use ptx::Type::{Bf16, E4m3, E5m2, F16, F32, S8, S32, Tf32};

    /// Bits of any kind, with infinities, subnormals and exponents far apart.
    #[test]
    fn vectors_and_arrays_give_the_same_bits() {
        let types = [
            (F16, F32, 16),
            (F16, F16, 16),
            (Bf16, F32, 8),
            (Tf32, F32, 4),
            (E4m3, F32, 32),
            (E5m2, F32, 32),
            (S8, S32, 32),
        ];
        for (a_type, c_type, k) in types {
            let n = 40;
            let [a, b, c, d] = [const { Vec::new() }; 4];
            let (b_type, saturate) = (a_type, true);
            let mma = Mma { m: 16, n, k, a_type, b_type, c_type, saturate, a, b, c, d };
            for seed in 0..20 {
                let bits = |matrix: u64, count: usize, bytes: u32| -> Vec<u32> {
                    let any = (0..count as u64).map(|i| mix(seed << 40 | matrix << 32 | i) as u32);
                    any.map(|bits| bits >> (32 - 8 * bytes)).collect()
                };
                let a = bits(0, 16 * k, a_type.bytes());
                let b = bits(1, k * n, a_type.bytes());
                let c = bits(2, 16 * n, c_type.bytes());
                let by = |f: fn(&Mma, usize, &mut [u32], &mut [u32], &mut [u32])| {
                    let (mut a, mut b, mut c) = (a.clone(), b.clone(), c.clone());
                    f(&mma, k, &mut a, &mut b, &mut c);
                    c
                };
                assert_eq!(by(multiply), by(multiply_any), "{a_type:?} {c_type:?}, seed {seed}");
            }
        }
    }
}
