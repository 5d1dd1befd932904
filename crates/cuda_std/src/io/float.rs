//! Floats as text, exactly as `core` writes them, in a seventh of the code.
//!
//! `core` has a fast method for most floats and an exact one for the rest, each for both widths. A kernel that prints
//! would carry them all; here it carries the exact one (Steele and White 1990, "Dragon4"), once.
//! [`print!`](crate::print) uses it for arguments that are floats; floats inside other values are `core`'s.

use core::cmp::Ordering;
use core::fmt::{self, Formatter, Write as _};

/// The printed form of an argument of [`print!`](crate::print): [`Float`] of a float, the value itself of any other.
#[doc(hidden)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

/// Chosen for floats, because it is found one reference earlier than [`ShowValue`].
#[doc(hidden)]
pub trait ShowFloat {
    fn shown(&self) -> Float;
}

/// Chosen for everything else.
#[doc(hidden)]
pub trait ShowValue<'a, T: ?Sized> {
    fn shown(&self) -> &'a T;
}

impl ShowFloat for Shown<'_, f32> {
    #[inline(always)]
    fn shown(&self) -> Float {
        (*self.0).into()
    }
}

impl ShowFloat for Shown<'_, f64> {
    #[inline(always)]
    fn shown(&self) -> Float {
        (*self.0).into()
    }
}

impl<'a, T: ?Sized> ShowValue<'a, T> for &Shown<'a, T> {
    #[inline(always)]
    fn shown(&self) -> &'a T {
        self.0
    }
}

/// A float of either width, to be formatted.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Float {
    /// The fraction and the exponent as they are stored, without the sign.
    bits: u64,
    negative: bool,
    /// The number of bits of the fraction.
    fraction_bits: u32,
}

impl From<f32> for Float {
    #[inline(always)]
    fn from(value: f32) -> Self {
        let bits = value.to_bits();
        Float {
            bits: u64::from(bits & !(1 << 31)),
            negative: bits >> 31 != 0,
            fraction_bits: f32::MANTISSA_DIGITS - 1,
        }
    }
}

impl From<f64> for Float {
    #[inline(always)]
    fn from(value: f64) -> Self {
        let bits = value.to_bits();
        Float {
            bits: bits & !(1 << 63),
            negative: bits >> 63 != 0,
            fraction_bits: f64::MANTISSA_DIGITS - 1,
        }
    }
}

/// The number of digits that are wanted.
#[derive(Clone, Copy)]
enum Digits {
    /// The fewest that tell the float from its neighbours.
    Shortest,
    /// This many behind the point.
    Behind(usize),
    /// This many from the first that is not zero.
    Significant(usize),
}

/// An integer below 2^1184. The largest there is: 2^53 / 2^1074 has 324 zeros behind its point, so a numerator of
/// 53 + 324 log2(10) = 1130 bits, and ten times it.
#[derive(Clone, Copy)]
struct Large([u32; 37]);

impl Large {
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn new(value: u64) -> Self {
        let mut limbs = [0; 37];
        limbs[0] = value as u32;
        limbs[1] = (value >> 32) as u32;
        Large(limbs)
    }

    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn multiply(&mut self, factor: u32) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = u64::from(*limb) * u64::from(factor) + carry;
            *limb = product as u32;
            carry = product >> 32;
        }
    }

    /// Multiplies by two, `bits` times.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn shift(&mut self, bits: u32) {
        for _ in 0..bits / 31 {
            self.multiply(1 << 31);
        }
        self.multiply(1 << (bits % 31));
    }

    /// Adds `sign` times the other, which is 1 or -1.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn add(&mut self, other: &Large, sign: i64) {
        let mut carry = 0_i64;
        for (limb, other) in self.0.iter_mut().zip(&other.0) {
            let sum = i64::from(*limb) + sign * i64::from(*other) + carry;
            *limb = sum as u32;
            carry = sum >> 32;
        }
    }

    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn compare(&self, other: &Large) -> Ordering {
        for (one, other) in self.0.iter().zip(&other.0).rev() {
            if one != other {
                return one.cmp(other);
            }
        }
        Ordering::Equal
    }

    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn is_zero(&self) -> bool {
        self.0.iter().all(|limb| *limb == 0)
    }
}

/// The numbers that decide about digits, all in the same unit.
struct Scaled {
    value: Large,
    /// Half the distance to the next float above, and below.
    above: Large,
    below: Large,
    /// The unit of the next digit.
    one: Large,
    /// True when a number half way to a neighbour is rounded to this float.
    includes_ends: bool,
}

impl Scaled {
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn multiply(&mut self, factor: u32) {
        self.value.multiply(factor);
        self.above.multiply(factor);
        self.below.multiply(factor);
    }

    /// Returns whether the value is one or more: for the shortest digits, whether some number that is rounded to it
    /// is.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn reaches_one(&mut self, is_shortest: bool) -> bool {
        if !is_shortest {
            return self.value.compare(&self.one) != Ordering::Less;
        }
        self.value.add(&self.above, 1);
        let order = self.value.compare(&self.one);
        self.value.add(&self.above, -1);
        order == Ordering::Greater || order == Ordering::Equal && self.includes_ends
    }

    /// Takes the next digit off the value.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn digit(&mut self) -> u8 {
        let mut digit = b'0';
        while self.value.compare(&self.one) != Ordering::Less {
            self.value.add(&self.one, -1);
            digit += 1;
        }
        digit
    }
}

/// Digits of a float: 0.D₁D₂D₃… times ten to the power of `point`.
struct Decimal {
    /// A double has at most 767 that are not zeros at its end.
    digits: [u8; 768],
    count: usize,
    point: i32,
}

impl Decimal {
    /// Writes the digits at these places; behind the last one are zeros.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn write(&self, f: &mut Formatter<'_>, from: usize, to: usize) -> fmt::Result {
        for at in from..to {
            let digit = *self.digits.get(at).filter(|_| at < self.count).unwrap_or(&b'0');
            f.write_char(digit as char)?;
        }
        Ok(())
    }

    /// Adds one to the last digit; a row of nines becomes one digit more in front.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn round_up(&mut self) {
        for digit in self.digits.iter_mut().take(self.count).rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        self.digits[0] = b'1';
        self.point += 1;
        self.count = self.count.max(1);
    }
}

impl Float {
    /// The exponent of a number that is none.
    const fn largest_exponent(self) -> u64 {
        if self.fraction_bits < 32 { 0xff } else { 0x7ff }
    }

    const fn is_finite(self) -> bool {
        self.bits >> self.fraction_bits != self.largest_exponent()
    }

    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn decimal(self, wanted: Digits) -> Decimal {
        let mut decimal = Decimal { digits: [b'0'; 768], count: 0, point: 0 };
        let mut last = b'0';
        if self.bits == 0 {
            return decimal;
        }
        let stored = (self.bits >> self.fraction_bits) as i32;
        let fraction = self.bits & ((1 << self.fraction_bits) - 1);
        let hidden = u64::from(stored > 0) << self.fraction_bits;
        let bias = self.largest_exponent() as i32 / 2 + self.fraction_bits as i32;
        // The value is mantissa x 2^exponent / 4, so that half the distance to a neighbour is a whole number. Below a
        // power of two the neighbour is only half as far.
        let mantissa = 4 * (hidden | fraction);
        let exponent = stored.max(1) - bias - 2;
        let mut scaled = Scaled {
            value: Large::new(mantissa),
            above: Large::new(2),
            below: Large::new(if fraction == 0 && stored > 1 { 1 } else { 2 }),
            one: Large::new(1),
            // An even mantissa is what its interval's ends are rounded to.
            includes_ends: fraction & 1 == 0,
        };
        if exponent >= 0 {
            scaled.value.shift(exponent as u32);
            scaled.above.shift(exponent as u32);
            scaled.below.shift(exponent as u32);
        } else {
            scaled.one.shift(exponent.unsigned_abs());
        }
        // log10(2) = 0.30103 from below: the power of ten is this one or one of the next two.
        let bits = 64 - mantissa.leading_zeros() as i32;
        let mut point = ((bits - 1 + exponent) * 1233) >> 12;
        for _ in point..0 {
            scaled.multiply(10);
        }
        for _ in 0..point {
            scaled.one.multiply(10);
        }
        let is_shortest = matches!(wanted, Digits::Shortest);
        while scaled.reaches_one(is_shortest) {
            scaled.one.multiply(10);
            point += 1;
        }
        decimal.point = point;
        let most = match wanted {
            Digits::Shortest => usize::MAX,
            // Less than a tenth of the last digit is nothing.
            Digits::Behind(digits) => match usize::try_from(point + digits.min(2000) as i32) {
                Ok(most) => most,
                Err(_) => return decimal,
            },
            Digits::Significant(digits) => digits,
        };
        let rounds_up = loop {
            scaled.multiply(10);
            // What is left of the value, below ten times one, decides about the digit before.
            if decimal.count >= most || !is_shortest && scaled.value.is_zero() {
                scaled.one.multiply(5);
                let order = scaled.value.compare(&scaled.one);
                break order == Ordering::Greater || order == Ordering::Equal && last & 1 == 1;
            }
            last = scaled.digit();
            if let Some(digit) = decimal.digits.get_mut(decimal.count) {
                *digit = last;
            }
            decimal.count += 1;
            if is_shortest {
                let order = scaled.value.compare(&scaled.below);
                let down =
                    order == Ordering::Less || order == Ordering::Equal && scaled.includes_ends;
                let up = scaled.reaches_one(true);
                if up || down {
                    scaled.value.multiply(2);
                    break up && (!down || scaled.value.compare(&scaled.one) != Ordering::Less);
                }
            }
        };
        if rounds_up {
            decimal.round_up();
        }
        decimal
    }
}

/// Writes a letter `count` times.
#[inline(never)]
#[cfg_attr(target_arch = "nvptx64", optimize(size))]
fn repeat(f: &mut Formatter<'_>, letter: char, count: usize) -> fmt::Result {
    (0..count).try_for_each(|_| f.write_char(letter))
}

impl Float {
    /// Writes sign, padding and what `body` writes, which is `length` letters.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn padded(
        self,
        f: &mut Formatter<'_>,
        length: usize,
        body: &dyn Fn(&mut Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        let is_number = self.is_finite() || self.bits << (64 - self.fraction_bits) == 0;
        let sign = match (self.negative, f.sign_plus()) {
            _ if !is_number => "",
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let missing = f.width().unwrap_or(0).saturating_sub(sign.len() + length);
        if f.sign_aware_zero_pad() {
            f.write_str(sign)?;
            repeat(f, '0', missing)?;
            return body(f);
        }
        let before = match f.align() {
            Some(fmt::Alignment::Left) => 0,
            Some(fmt::Alignment::Center) => missing / 2,
            Some(fmt::Alignment::Right) | None => missing,
        };
        let fill = f.fill();
        repeat(f, fill, before)?;
        f.write_str(sign)?;
        body(f)?;
        repeat(f, fill, missing - before)
    }

    /// `NaN` or `inf`.
    fn no_number(self, f: &mut Formatter<'_>) -> fmt::Result {
        let is_infinite = self.bits << (64 - self.fraction_bits) == 0;
        let name = if is_infinite { "inf" } else { "NaN" };
        self.padded(f, name.len(), &|f| f.write_str(name))
    }

    /// Without an exponent, and with this many digits behind the point at least.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn plain(self, f: &mut Formatter<'_>, least: usize) -> fmt::Result {
        if !self.is_finite() {
            return self.no_number(f);
        }
        let precision = f.precision();
        let decimal = self.decimal(precision.map_or(Digits::Shortest, Digits::Behind));
        let (count, point) = (decimal.count, decimal.point);
        let whole = usize::try_from(point).unwrap_or(0);
        let zeros = usize::try_from(-point).unwrap_or(0);
        let behind = precision.unwrap_or_else(|| (count + zeros).saturating_sub(whole).max(least));
        let length = whole.max(1) + usize::from(behind > 0) + behind;
        self.padded(f, length, &|f| {
            repeat(f, '0', usize::from(whole == 0))?;
            decimal.write(f, 0, whole)?;
            repeat(f, '.', usize::from(behind > 0))?;
            repeat(f, '0', zeros.min(behind))?;
            decimal.write(f, whole, whole + behind.saturating_sub(zeros))
        })
    }

    /// With one digit before the point, and an exponent.
    #[inline(never)]
    #[cfg_attr(target_arch = "nvptx64", optimize(size))]
    fn scientific(self, f: &mut Formatter<'_>, mark: char) -> fmt::Result {
        if !self.is_finite() {
            return self.no_number(f);
        }
        let precision = f.precision();
        let wanted = precision.map_or(Digits::Shortest, |digits| Digits::Significant(digits + 1));
        let decimal = self.decimal(wanted);
        let behind = precision.unwrap_or(decimal.count.saturating_sub(1));
        let exponent = if decimal.count == 0 { 0 } else { decimal.point - 1 };
        let size = exponent.unsigned_abs();
        let letters = [10, 100].iter().filter(|least| size >= **least).count()
            + 1
            + usize::from(exponent < 0);
        let length = 1 + usize::from(behind > 0) + behind + 1 + letters;
        self.padded(f, length, &|f| {
            decimal.write(f, 0, 1)?;
            repeat(f, '.', usize::from(behind > 0))?;
            decimal.write(f, 1, 1 + behind)?;
            f.write_char(mark)?;
            repeat(f, '-', usize::from(exponent < 0))?;
            for unit in [100, 10, 1] {
                if size >= unit || unit == 1 {
                    f.write_char((b'0' + (size / unit % 10) as u8) as char)?;
                }
            }
            Ok(())
        })
    }
}

impl fmt::Display for Float {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.plain(f, 0)
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // As `core`: an exponent from 10^16 on and below 10^-4.
        if f.precision().is_none() && !(-3..17).contains(&self.decimal(Digits::Shortest).point) {
            return self.scientific(f, 'e');
        }
        self.plain(f, 1)
    }
}

impl fmt::LowerExp for Float {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.scientific(f, 'e')
    }
}

impl fmt::UpperExp for Float {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.scientific(f, 'E')
    }
}

#[cfg(test)]
mod tests;
