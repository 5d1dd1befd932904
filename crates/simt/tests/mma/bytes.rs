//! Products of factors of 8 bits, written for a second time: integers by wide sums, floats by doubles, which are exact here.

use crate::mma::tile::{Form, Kind, Matrix};

/// Bits of fraction that a term and the sum of 8-bit floats keep.
const KEPT: i32 = 13;

/// The value of a float, and the exponent that the hardware sees: that of the least normal number for a smaller one.
fn value(kind: Kind, bits: u64) -> (f64, i32) {
    let (e, m) = (kind.exponent_bits(), kind.mantissa_bits());
    let (top, bias) = ((1 << e) - 1, (1 << (e - 1)) - 1);
    let (exponent, fraction) = ((bits >> m & top) as i32, bits & ((1 << m) - 1));
    let sign = if bits >> (e + m) & 1 == 1 { -1.0 } else { 1.0 };
    let is_nan = match kind {
        Kind::E4m3 => bits & 0x7f == 0x7f,
        _ => exponent as u64 == top && fraction != 0,
    };
    if is_nan {
        return (f64::NAN, 0);
    }
    if exponent as u64 == top && kind != Kind::E4m3 {
        return (sign * f64::INFINITY, 0);
    }
    let (whole, exponent) = if exponent == 0 { (0.0, 1) } else { (1.0, exponent) };
    let exponent = exponent - bias;
    let significand = whole + fraction as f64 / (1_u64 << m) as f64;
    (sign * significand * 2_f64.powi(exponent), exponent)
}

/// Multiples of a power of two, towards zero.
fn cut(value: f64, exponent: i32) -> f64 {
    let unit = 2_f64.powi(exponent);
    (value / unit).trunc() * unit
}

fn float(terms: &[(f64, i32)]) -> u64 {
    let plain: f64 = terms.iter().map(|(value, _)| value).sum();
    if plain.is_nan() {
        return 0x7fff_ffff;
    }
    if plain.is_infinite() {
        return (plain as f32).to_bits().into();
    }
    let present = terms.iter().filter(|(value, _)| *value != 0.0);
    let Some(largest) = present.map(|(_, exponent)| *exponent).max() else { return 0 };
    let sum: f64 = terms.iter().map(|(value, _)| cut(*value, largest - KEPT)).sum();
    if sum == 0.0 {
        return 0;
    }
    // The exponent of a double that is no subnormal one.
    let exponent = (sum.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let kept = cut(sum, exponent.max(-126) - KEPT) as f32;
    if kept == 0.0 { 0 } else { kept.to_bits().into() }
}

fn integer(kind: Kind, bits: u64) -> i64 {
    match kind {
        Kind::S8 => (bits as u8).cast_signed().into(),
        Kind::S32 => (bits as u32).cast_signed().into(),
        _ => bits as i64,
    }
}

/// D = A x B + C, row by row.
pub fn multiply(form: &Form, a: &Matrix, b: &Matrix, c: &Matrix) -> Matrix {
    let element = |place: usize| {
        let (row, column) = (place / form.n, place % form.n);
        let pair = |k: usize| (a[row * form.k + k], b[k * form.n + column]);
        if form.c == Kind::S32 {
            let product = |(a, b)| integer(form.a, a) * integer(form.b, b);
            let products: i64 = (0..form.k).map(|k| product(pair(k))).sum();
            let sum = integer(Kind::S32, c[place]) + products;
            let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
            let sum = if form.saturates { sum.clamp(least, most) } else { sum };
            return u64::from(sum as u32);
        }
        let product = |(a, b)| {
            let ((a, of_a), (b, of_b)) = (value(form.a, a), value(form.b, b));
            (a * b, of_a + of_b)
        };
        let mut terms: Vec<(f64, i32)> = (0..form.k).map(|k| product(pair(k))).collect();
        terms.push(value(Kind::F32, c[place]));
        float(&terms)
    };
    (0..form.m * form.n).map(element).collect()
}
