//! Rounding to f32 and narrower formats, in directions that the host CPU does not offer; `exact` has that to f64.
//!
//! The exact result is held as an f64 plus the sign of what that f64 misses.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
    /// Nearest, ties away from zero.
    Away,
}

impl Rounding {
    pub fn code(self) -> u32 {
        self as u32
    }

    pub fn from_code(code: u32) -> Rounding {
        match code & 7 {
            1 => Rounding::Zero,
            2 => Rounding::Down,
            3 => Rounding::Up,
            4 => Rounding::Away,
            _ => Rounding::Nearest,
        }
    }
}

/// An f64 and the sign (-1, 0, 1) of `exact - value`.
pub(crate) type Exactly = (f64, i32);

fn sign(value: f64) -> i32 {
    (value > 0.0) as i32 - (value < 0.0) as i32
}

/// `a + b` with its error's sign (Knuth's TwoSum).
pub(crate) fn sum(a: f64, b: f64) -> Exactly {
    let s = a + b;
    let bb = s - a;
    let error = (a - (s - bb)) + (b - bb);
    (s, if s.is_finite() { sign(error) } else { 0 })
}

/// `a * b + c` where the product of two f32 (or narrower) is exact in f64.
pub(crate) fn product_sum(a: f64, b: f64, c: f64) -> Exactly {
    sum(a * b, c)
}

/// `a / b` for f32 (or narrower) operands.
pub(crate) fn quotient(a: f64, b: f64) -> Exactly {
    let q = a / b;
    if !q.is_finite() || b.is_infinite() {
        return (q, 0);
    }
    let rest = (-q).mul_add(b, a);
    (q, sign(rest) * if b < 0.0 { -1 } else { 1 })
}

/// The square root of an f32.
pub(crate) fn root(a: f64) -> Exactly {
    let r = a.sqrt();
    if !r.is_finite() { (r, 0) } else { (r, sign((-r).mul_add(r, a))) }
}

/// Rounds to a binary format of `precision` bits (with the hidden one) and least exponent
/// `exponent_min`, returning an f64 that the format holds; overflow is the caller's to see.
pub(crate) fn round(exact: Exactly, mode: Rounding, precision: i32, exponent_min: i32) -> f64 {
    let (value, rest) = exact;
    if value == 0.0 || !value.is_finite() {
        return match (mode, rest) {
            (Rounding::Up, 1) => power(exponent_min - precision + 1),
            (Rounding::Down, -1) => -power(exponent_min - precision + 1),
            _ => value,
        };
    }
    // What is just below a power of two has the units of the numbers below.
    let is_below = value.to_bits() & ((1 << 52) - 1) == 0 && rest == -sign(value);
    let exponent = (exponent_of(value) - i32::from(is_below)).max(exponent_min);
    let unit = power(exponent - precision + 1);
    // Exact: a power of two scales without rounding as long as nothing under- or overflows.
    let scaled = value / unit;
    let down = scaled.floor();
    let fraction = scaled - down;
    let is_exact = fraction == 0.0 && rest == 0;
    // With a negative rest just below an integer, the exact value lies in the interval below.
    let (down, fraction) =
        if fraction == 0.0 && rest < 0 { (down - 1.0, 1.0) } else { (down, fraction) };
    let up = down + 1.0;
    let picked = if is_exact {
        down
    } else {
        match mode {
            Rounding::Down => down,
            Rounding::Up => up,
            Rounding::Zero => {
                if value > 0.0 {
                    down
                } else {
                    up
                }
            }
            Rounding::Nearest | Rounding::Away => {
                let above = fraction > 0.5 || (fraction == 0.5 && rest > 0);
                let tie = fraction == 0.5 && rest == 0;
                let odd = down.rem_euclid(2.0) == 1.0;
                let away = if mode == Rounding::Away { value > 0.0 } else { odd };
                if above || (tie && away) { up } else { down }
            }
        }
    };
    let result = picked * unit;
    if result == 0.0 { 0f64.copysign(value) } else { result }
}

fn exponent_of(value: f64) -> i32 {
    let bits = ((value.to_bits() >> 52) & 0x7ff) as i32;
    if bits == 0 {
        -1074 + 63 - (value.to_bits() << 1 >> 1).leading_zeros() as i32
    } else {
        bits - 1023
    }
}

pub(super) fn power(exponent: i32) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    } else {
        f64::from_bits(1u64 << (exponent + 1074).clamp(0, 51))
    }
}

/// Returns what overflow becomes: infinity, or the largest finite value in directions that avoid it.
pub(super) fn overflow(value: f64, mode: Rounding, largest: f64) -> f64 {
    if value.abs() <= largest || value.is_nan() {
        return value;
    }
    match mode {
        Rounding::Zero => largest.copysign(value),
        Rounding::Down if value > 0.0 => largest,
        Rounding::Up if value < 0.0 => -largest,
        _ => f64::INFINITY.copysign(value),
    }
}

pub(crate) fn to_single(exact: Exactly, mode: Rounding) -> f32 {
    if exact.0.is_infinite() {
        return exact.0 as f32;
    }
    overflow(round(exact, mode, 24, -126), mode, f32::MAX as f64) as f32
}

/// Rounds an exact result to the value of an f16.
pub(crate) fn to_half(exact: Exactly, mode: Rounding) -> f32 {
    if exact.0.is_infinite() {
        return exact.0 as f32;
    }
    overflow(round(exact, mode, 11, -14), mode, 65504.0) as f32
}

/// Rounds an exact result to the value of a bf16.
pub(crate) fn to_brain(exact: Exactly, mode: Rounding) -> f32 {
    if exact.0.is_infinite() {
        return exact.0 as f32;
    }
    let largest = f32::from_bits(0x7f7f_0000) as f64;
    overflow(round(exact, mode, 8, -126), mode, largest) as f32
}

/// Rounds a float to an integral value.
pub(crate) fn integral(value: f64, mode: Rounding) -> f64 {
    match mode {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
        Rounding::Away => value.round(),
    }
}
