//! Functions with an integer, with a result behind a pointer, or with a formula of their own.

use super::functions;
use crate::{FloatExt, GpuFloat};

functions! {
    "1 for a finite number, otherwise 0." isfinited(x: f64) -> i32 = i32::from(x.is_finite());
    "1 for a finite number, otherwise 0." finitef(x: f32) -> i32 = i32::from(x.is_finite());
    "1 for an infinite number, otherwise 0." isinfd(x: f64) -> i32 = i32::from(x.is_infinite());
    "1 for an infinite number, otherwise 0." isinff(x: f32) -> i32 = i32::from(x.is_infinite());
    "1 for a NaN, otherwise 0." isnand(x: f64) -> i32 = i32::from(x.is_nan());
    "1 for a NaN, otherwise 0." isnanf(x: f32) -> i32 = i32::from(x.is_nan());
    "The sign bit." signbitd(x: f64) -> i32 = (x.to_bits() >> 63) as i32;
    "The sign bit." signbitf(x: f32) -> i32 = (x.to_bits() >> 31) as i32;
    "The exponent of 2 of the largest power of 2 not above the magnitude." ilogb(x: f64) -> i32 = libm::ilogb(x);
    "The exponent of 2 of the largest power of 2 not above the magnitude." ilogbf(x: f32) -> i32 = libm::ilogbf(x);
    "The Bessel function of the first kind of an order." jn(n: i32, x: f64) -> f64 = libm::jn(n, x);
    "The Bessel function of the first kind of an order." jnf(n: i32, x: f32) -> f32 = libm::jnf(n, x);
    "The Bessel function of the second kind of an order." yn(n: i32, x: f64) -> f64 = libm::yn(n, x);
    "The Bessel function of the second kind of an order." ynf(n: i32, x: f32) -> f32 = libm::ynf(n, x);
    "`x * 2^y`." ldexp(x: f64, y: i32) -> f64 = libm::scalbn(x, y);
    "`x * 2^y`." ldexpf(x: f32, y: i32) -> f32 = libm::scalbnf(x, y);
    "`x * 2^y`." scalbn(x: f64, y: i32) -> f64 = libm::scalbn(x, y);
    "`x * 2^y`." scalbnf(x: f32, y: i32) -> f32 = libm::scalbnf(x, y);
    "The nearest integer, halves to the even one." llrint(x: f64) -> i64 = libm::rint(x) as i64;
    "The nearest integer, halves to the even one." llrintf(x: f32) -> i64 = libm::rintf(x) as i64;
    "The nearest integer, halves away from zero." llround(x: f64) -> i64 = libm::round(x) as i64;
    "The nearest integer, halves away from zero." llroundf(x: f32) -> i64 = libm::roundf(x) as i64;
    "The power." pow(x: f64, y: f64) -> f64 = libm::pow(x, y);
    "The power." powf(x: f32, y: f32) -> f32 = libm::powf(x, y);
    "The power." powi(x: f64, y: i32) -> f64 = libm::pow(x, f64::from(y));
    "The power, by way of `f64`." powif(x: f32, y: i32) -> f32 = libm::pow(f64::from(x), f64::from(y)) as f32;
    "`1 / sqrt(x)`, by both of them." rsqrt(x: f64) -> f64 = 1.0 / GpuFloat::sqrt(x);
    "`1 / sqrt(x)`, rounded to the nearest." frsqrt_rn(x: f32) -> f32 = reciprocal_root(x);
    "The nearest number from 0 to 1; 0 for NaN. PTX: `cvt.sat` or `max` and `min`." saturatef(x: f32) -> f32 = x.saturate();
}

/// A NaN. What `tagp` points to is not read, as in CUDA.
///
/// # Safety
/// - Nothing is asked for.
#[inline]
#[must_use]
pub unsafe fn nan(_tagp: *mut i8) -> f64 {
    f64::NAN
}

/// A NaN. What `tagp` points to is not read, as in CUDA.
///
/// # Safety
/// - Nothing is asked for.
#[inline]
#[must_use]
pub unsafe fn nanf(_tagp: *mut i8) -> f32 {
    f32::NAN
}

/// Declares functions with a second result behind a pointer.
macro_rules! behind {
    ($($documentation:literal $name:ident($($argument:ident: $kind:ty),*; $pointer:ident: $target:ty) -> $result:ty
        = $value:expr;)*) => {
        $(
            #[doc = $documentation]
            ///
            /// # Safety
            /// - The pointer is valid for a write.
            #[inline]
            pub unsafe fn $name($($argument: $kind,)* $pointer: *mut $target) -> $result {
                let (result, second) = $value;
                // SAFETY: by the contract.
                unsafe { $pointer.write(second) };
                result
            }
        )*
    };
}

behind! {
    "The fraction, from one half up to 1, and behind the pointer the exponent of 2."
        frexp(x: f64; b: i32) -> f64 = libm::frexp(x);
    "The fraction, from one half up to 1, and behind the pointer the exponent of 2."
        frexpf(x: f32; b: i32) -> f32 = libm::frexpf(x);
    "The fractional part, and behind the pointer the integer part." modf(x: f64; b: f64) -> f64 = libm::modf(x);
    "The fractional part, and behind the pointer the integer part." modff(x: f32; b: f32) -> f32 = libm::modff(x);
    "The remainder of the division that is rounded to the nearest integer, and behind the pointer the lower bits of that."
        remquo(x: f64, y: f64; c: i32) -> f64 = libm::remquo(x, y);
    "The remainder of the division that is rounded to the nearest integer, and behind the pointer the lower bits of that."
        remquof(x: f32, y: f32; quo: i32) -> f32 = libm::remquof(x, y);
}

/// Declares functions with both results behind pointers.
macro_rules! both_behind {
    ($($documentation:literal $name:ident($kind:ty) = $value:expr;)*) => {
        $(
            #[doc = $documentation]
            ///
            /// # Safety
            /// - Both pointers are valid for a write.
            #[inline]
            pub unsafe fn $name(x: $kind, sptr: *mut $kind, cptr: *mut $kind) {
                let (sine, cosine) = $value(x);
                // SAFETY: by the contract.
                unsafe {
                    sptr.write(sine);
                    cptr.write(cosine);
                }
            }
        )*
    };
}

both_behind! {
    "Writes the sine and the cosine of an angle in radians." sincos(f64) = GpuFloat::sin_cos;
    "Writes the sine and the cosine of an angle in radians." sincosf(f32) = GpuFloat::sin_cos;
    "Writes the sine and the cosine of `x * pi`." sincospi(f64) = FloatExt::sincospi;
    "Writes the sine and the cosine of `x * pi`." sincospif(f32) = FloatExt::sincospi;
}

/// The exponent of 2 of the largest power of 2 not above the magnitude; of 0 minus infinity, of infinity that.
pub(super) fn exponent(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        f64::from(libm::ilogb(x))
    } else {
        x * x
    }
}

/// `1 / sqrt(x)`, rounded to the nearest.
fn reciprocal_root(x: f32) -> f32 {
    let wide = f64::from(x);
    let root = 1.0 / libm::sqrt(wide);
    let near = root as f32;
    let side = root - f64::from(near);
    if !near.is_finite() || near == 0.0 || side == 0.0 {
        return near;
    }
    // The result lies beside `near` or the float beyond the middle, of which root is too near to decide. The square of the
    // middle is exact, and so is the sign of what follows.
    let next = if side > 0.0 { near.next_up() } else { near.next_down() };
    let middle = (f64::from(near) + f64::from(next)) / 2.0;
    let beyond = libm::fma(middle * middle, wide, -1.0);
    if (side > 0.0 && beyond < 0.0) || (side < 0.0 && beyond > 0.0) { next } else { near }
}
