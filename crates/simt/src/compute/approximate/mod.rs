//! The approximate functions of f32, bit for bit as an H200 computes them.
//!
//! Hardware interpolates: the leading bits of the argument choose a segment, the rest `x` gives
//! `c0 + c1 * x + c2 * x * x` in fixed point, cut (not rounded) to the 24 bits of the result
//! (Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator", 2005). The
//! square leaves out the partial products of its low columns. The coefficients were found by
//! linear programming over measured sweeps: every input of a segment bounds them from both sides.
//! `tests/approximate.rs` compares whole sweeps with what the GPU computed.

mod table;
mod tables;

use super::special::{canonical, flush};
use tables::{
    INVERSE_ROOT_OF_ONE, INVERSE_ROOT_OF_TWO, LOGARITHM, POWER_OF_TWO, RECIPROCAL, ROOT_OF_ONE,
    ROOT_OF_TWO, SINE,
};

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fff_ffff;
const MANTISSA: u32 = 0x007f_ffff;

/// Biased exponent of a float.
fn exponent(bits: u32) -> i32 {
    (bits >> 23 & 0xff) as i32
}

/// Puts an exponent to a value whose own exponent is already in it; too small a result is zero.
fn scaled(value: u32, exponent: i32) -> u32 {
    let bits = value as i32 + (exponent << 23);
    if bits < 0x0080_0000 { 0 } else { bits as u32 }
}

/// `MUFU.RCP`: takes and gives no subnormals.
fn reciprocal(a: u32) -> u32 {
    let sign = a & SIGN;
    match exponent(a) {
        0 => sign | INFINITY,
        255 if a & MANTISSA != 0 => NAN,
        255 => sign,
        e => sign | scaled(RECIPROCAL.cut(a & MANTISSA), 253 - e),
    }
}

/// `MUFU.SQRT`.
fn square_root(a: u32) -> u32 {
    let e = exponent(a);
    match e {
        0 => a & SIGN,
        255 if a & MANTISSA != 0 => NAN,
        _ if a & SIGN != 0 => NAN,
        255 => INFINITY,
        _ => {
            let table = if e & 1 != 0 { &ROOT_OF_ONE } else { &ROOT_OF_TWO };
            scaled(table.cut(a & MANTISSA), ((e - 1) >> 1) + 64)
        }
    }
}

/// `MUFU.RSQ`.
fn reciprocal_root(a: u32) -> u32 {
    let e = exponent(a);
    match e {
        0 => a & SIGN | INFINITY,
        255 if a & MANTISSA != 0 => NAN,
        _ if a & SIGN != 0 => NAN,
        255 => 0,
        _ if e & 1 != 0 && a & MANTISSA == 0 => scaled(0, 127 - ((e - 127) >> 1)),
        _ => {
            let table = if e & 1 != 0 { &INVERSE_ROOT_OF_ONE } else { &INVERSE_ROOT_OF_TWO };
            scaled(table.cut(a & MANTISSA), 126 - ((e - 127) >> 1))
        }
    }
}

/// `MUFU.EX2`.
fn power_of_two(a: u32) -> u32 {
    let e = exponent(a);
    if e == 255 && a & MANTISSA != 0 {
        return NAN;
    }
    if e >= 127 + 8 {
        return if a & SIGN != 0 { 0 } else { INFINITY };
    }
    // Fixed point with 23 fraction bits, cut towards zero.
    let significand = (a & MANTISSA | 0x0080_0000) as i64;
    let magnitude = match e {
        0 => 0,
        127.. => significand << (e - 127),
        _ => significand >> (127 - e).min(63),
    };
    // A negative argument's fraction is complemented, not negated; a whole number has nothing to complement.
    let fixed = match a & SIGN != 0 {
        true if magnitude & MANTISSA as i64 == 0 => -magnitude,
        true => !magnitude,
        false => magnitude,
    };
    let whole = (fixed >> 23) as i32;
    if whole >= 128 {
        return INFINITY;
    }
    scaled(POWER_OF_TWO.cut(fixed as u32 & MANTISSA), whole + 127)
}

/// `MUFU.LG2`.
fn logarithm(a: u32) -> u32 {
    let e = exponent(a);
    match e {
        0 => return SIGN | INFINITY,
        255 if a & MANTISSA != 0 => return NAN,
        _ if a & SIGN != 0 => return NAN,
        255 => return INFINITY,
        127 if a & MANTISSA == 0 => return 0,
        _ => {}
    }
    let unit = 23 + LOGARITHM.fraction;
    let sum = (((e - 127) as i64) << unit) + LOGARITHM.at(a & MANTISSA);
    if sum >= 0 {
        return float(sum as u64, unit);
    }
    // A negative sum is complemented, not negated, in 36 fraction bits.
    SIGN | float(!(sum >> (unit - 36)) as u64, 36)
}

/// `MUFU.SIN` of an argument that counts turns; `MUFU.COS` with a quarter of a turn added.
fn wave(turns: u32, quarters: u32) -> u32 {
    let e = exponent(turns);
    if e == 255 {
        return NAN;
    }
    let significand = (turns & MANTISSA | 0x0080_0000) as u64;
    // 25 fraction bits: two for the quarter, 23 for the table.
    let fixed = match e - 125 {
        _ if e == 0 => 0,
        up @ 0..32 => significand << up,
        32.. => 0,
        down => significand >> (-down).min(63),
    };
    let at = (fixed as u32).wrapping_add(quarters << 23);
    let quarter = at >> 23 & 3;
    // Odd quarters run backwards.
    let x = if quarter & 1 != 0 { !at } else { at } & MANTISSA;
    let odd = if quarters == 0 { turns & SIGN } else { 0 };
    let sign = odd ^ if quarter & 2 != 0 { SIGN } else { 0 };
    sign | float(SINE.at(x) as u64, 23 + SINE.fraction)
}

/// A fixed-point number as a float, cut to 24 bits.
fn float(value: u64, fraction: u32) -> u32 {
    let Some(top) = value.checked_ilog2() else { return 0 };
    let significand = if top > 23 { value >> (top - 23) } else { value << (23 - top) };
    ((top + 127 - fraction) << 23) + (significand as u32 & MANTISSA)
}

// What `ptxas` makes of each instruction: without `.ftz`, subnormal arguments are scaled up and
// results scaled back.

const SMALLEST_NORMAL: f32 = f32::MIN_POSITIVE;

fn apply(function: fn(u32) -> u32, a: f32) -> f32 {
    f32::from_bits(function(a.to_bits()))
}

/// `rcp.approx.f32`.
#[inline(never)]
pub(super) fn rcp(a: f32, ftz: bool) -> f32 {
    let scale = match a.abs() {
        _ if ftz => 1.0,
        size if size < SMALLEST_NORMAL => TWO_TO_24,
        size if size > TWO_TO_126 => 0.25,
        _ => 1.0,
    };
    canonical(apply(reciprocal, a * scale) * scale)
}

const TWO_TO_24: f32 = 16_777_216.0;
const TWO_TO_126: f32 = 8.507_059e37;

/// `sqrt.approx.f32`.
#[inline(never)]
pub(super) fn sqrt(a: f32, ftz: bool) -> f32 {
    if ftz || !is_small(a) {
        return apply(square_root, a);
    }
    apply(square_root, a * TWO_TO_24) / 4096.0
}

/// `rsqrt.approx.f32`.
#[inline(never)]
pub(super) fn rsqrt(a: f32, ftz: bool) -> f32 {
    if ftz || !is_small(a) {
        return apply(reciprocal_root, a);
    }
    canonical(apply(reciprocal_root, a * TWO_TO_24) * 4096.0)
}

/// `ex2.approx.f32`.
#[inline(never)]
pub(super) fn ex2(a: f32, ftz: bool) -> f32 {
    if ftz || a.is_nan() || a >= -126.0 {
        return apply(power_of_two, a);
    }
    let root = apply(power_of_two, a * 0.5);
    root * root
}

/// `lg2.approx.f32`.
#[inline(never)]
pub(super) fn lg2(a: f32, ftz: bool) -> f32 {
    if ftz || !is_small(a) {
        return apply(logarithm, a);
    }
    canonical(apply(logarithm, a * TWO_TO_24) - 24.0)
}

/// `sin.approx.f32`.
#[inline(never)]
pub(super) fn sin(a: f32) -> f32 {
    f32::from_bits(wave(turns(a).to_bits(), 0))
}

/// `cos.approx.f32`.
#[inline(never)]
pub(super) fn cos(a: f32) -> f32 {
    f32::from_bits(wave(turns(a).to_bits(), 1))
}

/// `div.approx.f32`, and `div.full.f32`, which also scales large divisors.
#[inline(never)]
pub(super) fn div(a: f32, b: f32, full: bool, ftz: bool) -> f32 {
    let enter = |value| if ftz { flush(value) } else { value };
    let scale = match b.abs() {
        size if full && size > TWO_TO_126 => 0.25,
        size if !ftz && size < SMALLEST_NORMAL => TWO_TO_24,
        _ => 1.0,
    };
    let scaled = |value: f32| if scale == 1.0 { enter(value) } else { enter(enter(value) * scale) };
    canonical(enter(scaled(a) * apply(reciprocal, scaled(b))))
}

fn is_small(a: f32) -> bool {
    a.abs() < SMALLEST_NORMAL
}

/// Radians to turns, rounded towards zero.
fn turns(a: f32) -> f32 {
    let exact = a as f64 * 0.159_154_94_f32 as f64;
    let near = exact as f32;
    if (near as f64).abs() > exact.abs() { f32::from_bits(near.to_bits() - 1) } else { near }
}
