//! Functions of both kinds of `f16` and `bf16`, those of the device and those of the host.

/// The functions of `f16` and `bf16` that the `half` crate lacks.
pub trait GpuHalf: Copy {
    /// `self * a + b`, rounded once. PTX: `fma.rn.f16` or `fma.rn.bf16`.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The absolute value.
    #[must_use]
    fn abs(self) -> Self;
}

/// `x * a + b` of numbers whose product an `f64` holds, rounded once by `round`.
///
/// The sum is rounded to odd, first as an `f64` and then as an `f32`, which keeps what decides a later rounding to fewer
/// bits. (The `half` crate's own conversion of an `f64` rounds twice on processors that convert only from `f32`.)
/// Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd".
pub(super) fn rounded_once<H>(x: f64, a: f64, b: f64, round: impl Fn(f32) -> H) -> H {
    let product = x * a;
    let sum = product + b;
    let other = sum - product;
    let error = (product - (sum - other)) + (b - other);
    let bits = sum.to_bits();
    if error == 0.0 || !sum.is_finite() || bits & 1 == 1 {
        return round(to_odd(sum));
    }
    let away_from_zero = (error > 0.0) == (sum > 0.0);
    round(to_odd(f64::from_bits(if away_from_zero { bits + 1 } else { bits - 1 })))
}

/// The `f32` beside a number that is odd, unless the number is an `f32`.
fn to_odd(number: f64) -> f32 {
    let near = number as f32;
    let bits = near.to_bits();
    if f64::from(near) == number || !near.is_finite() || bits & 1 == 1 {
        return near;
    }
    let is_below = (number > f64::from(near)) == (number > 0.0);
    f32::from_bits(if is_below { bits + 1 } else { bits - 1 })
}
