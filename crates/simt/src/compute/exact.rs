//! Arithmetic on f64 in any rounding direction, by integers that hold the exact result.

use super::rounding::{Rounding, overflow, power};

/// The exact magnitude of a result: `mantissa * 2^exponent`, and less than one unit more where bits were shifted out.
///
/// With such bits the mantissa has at least two more than the 53 of an f64.
#[derive(Clone, Copy)]
struct Magnitude {
    mantissa: u128,
    exponent: i32,
    has_more: bool,
}

/// The magnitude of a finite number, with 53 bits where it is not 0.
fn magnitude(value: f64) -> Magnitude {
    let fraction = u128::from(value.to_bits() & ((1 << 52) - 1));
    let (mantissa, exponent) = match (value.to_bits() >> 52) as i32 & 0x7ff {
        0 => (fraction, -1074),
        biased => (fraction | 1 << 52, biased - 1075),
    };
    let missing = (mantissa.leading_zeros() as i32 - 75).min(52);
    Magnitude { mantissa: mantissa << missing, exponent: exponent - missing, has_more: false }
}

impl Magnitude {
    /// The magnitude in units of `2^exponent`, which are not smaller.
    fn in_units_of(self, exponent: i32) -> Magnitude {
        let shift = (exponent - self.exponent) as u32;
        let kept = self.mantissa.checked_shr(shift).unwrap_or(0);
        let lost = kept.checked_shl(shift).unwrap_or(0) != self.mantissa;
        Magnitude { mantissa: kept, exponent, has_more: self.has_more || lost }
    }

    fn round(self, negative: bool, mode: Rounding) -> f64 {
        let top = self.exponent + 127 - self.mantissa.leading_zeros() as i32;
        let last = (top - 52).max(-1074);
        let sign = if negative { -1.0 } else { 1.0 };
        if last <= self.exponent {
            // Fits: all bits of a sum that is short.
            let shift = (self.exponent - last) as u32;
            return over((self.mantissa << shift) as f64, last, sign, mode);
        }
        let kept = self.in_units_of(last);
        let twice = self.in_units_of(last - 1);
        let is_half_or_more = twice.mantissa & 1 == 1;
        let up = match mode {
            Rounding::Nearest => is_half_or_more && (twice.has_more || kept.mantissa & 1 == 1),
            Rounding::Away => is_half_or_more,
            Rounding::Zero => false,
            Rounding::Down => negative && kept.has_more,
            Rounding::Up => !negative && kept.has_more,
        };
        over((kept.mantissa + u128::from(up)) as f64, last, sign, mode)
    }
}

/// `mantissa * 2^last`, which an f64 holds unless it is too large.
fn over(mantissa: f64, last: i32, sign: f64, mode: Rounding) -> f64 {
    if last > 971 || (last == 971 && mantissa >= 2f64.powi(53)) {
        return overflow(f64::INFINITY * sign, mode, f64::MAX);
    }
    mantissa * power(last) * sign
}

/// `a * b`.
pub(super) fn product(a: f64, b: f64, mode: Rounding) -> f64 {
    let plain = a * b;
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return plain;
    }
    exact_product(a, b).round(plain.is_sign_negative(), mode)
}

fn exact_product(a: f64, b: f64) -> Magnitude {
    let (a, b) = (magnitude(a), magnitude(b));
    let exponent = a.exponent + b.exponent;
    Magnitude { mantissa: a.mantissa * b.mantissa, exponent, has_more: false }
}

/// `a * b + c`, rounded once.
pub(super) fn product_sum(a: f64, b: f64, c: f64, mode: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() || !c.is_finite() {
        return a.mul_add(b, c);
    }
    let negative = a.is_sign_negative() != b.is_sign_negative();
    let of_zero = if mode == Rounding::Down { -0.0 } else { 0.0 };
    if a == 0.0 || b == 0.0 {
        let is_zero = c == 0.0 && negative != c.is_sign_negative();
        return if is_zero { of_zero } else { c };
    }
    let product = exact_product(a, b);
    if c == 0.0 {
        return product.round(negative, mode);
    }
    // Both with their highest bit at 125, so that what the smaller one loses is below all that rounding looks at, but for
    // one bit of cancellation.
    let lifted = |number: Magnitude| {
        let free = number.mantissa.leading_zeros() as i32 - 2;
        Magnitude { mantissa: number.mantissa << free, exponent: number.exponent - free, ..number }
    };
    let (product, other) = (lifted(product), lifted(magnitude(c)));
    let order = (product.exponent, product.mantissa).cmp(&(other.exponent, other.mantissa));
    let ((large, negative), small) = match order {
        std::cmp::Ordering::Less => ((other, c.is_sign_negative()), product),
        _ => ((product, negative), other),
    };
    let opposite = (a.is_sign_negative() != b.is_sign_negative()) != c.is_sign_negative();
    if opposite && order.is_eq() {
        return of_zero;
    }
    let small = small.in_units_of(large.exponent);
    let mantissa = if opposite {
        // What is left is less than one unit more than the difference with the next whole number.
        large.mantissa - small.mantissa - u128::from(small.has_more)
    } else {
        large.mantissa + small.mantissa
    };
    Magnitude { mantissa, exponent: large.exponent, has_more: small.has_more }.round(negative, mode)
}

/// `a + b`.
pub(super) fn sum(a: f64, b: f64, mode: Rounding) -> f64 {
    product_sum(a, 1.0, b, mode)
}

/// `a / b`.
pub(super) fn quotient(a: f64, b: f64, mode: Rounding) -> f64 {
    let plain = a / b;
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return plain;
    }
    let (a, b) = (magnitude(a), magnitude(b));
    let dividend = a.mantissa << 70;
    Magnitude {
        mantissa: dividend / b.mantissa,
        exponent: a.exponent - b.exponent - 70,
        has_more: !dividend.is_multiple_of(b.mantissa),
    }
    .round(plain.is_sign_negative(), mode)
}

pub(super) fn root(a: f64, mode: Rounding) -> f64 {
    if a <= 0.0 || !a.is_finite() {
        return a.sqrt();
    }
    let number = magnitude(a);
    let shift = if number.exponent % 2 == 0 { 70 } else { 71 };
    let square = number.mantissa << shift;
    let mantissa = square.isqrt();
    let has_more = mantissa * mantissa != square;
    Magnitude { mantissa, exponent: (number.exponent - shift) / 2, has_more }.round(false, mode)
}

pub(super) fn integer(value: i128, mode: Rounding) -> f64 {
    if value == 0 {
        return 0.0;
    }
    let mantissa = value.unsigned_abs();
    Magnitude { mantissa, exponent: 0, has_more: false }.round(value < 0, mode)
}
