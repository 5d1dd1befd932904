//! Functions of real numbers: of `f64`, and of `f32` with an `f` behind the name.
//!
//! Unless something else is said they are the `libm` crate's.

use super::special::exponent;
use super::{functions, pairs};
use crate::float::inverse_erf;
use crate::{FloatExt, GpuFloat};

pairs! {
    "The arc cosine in radians." (x) acos = libm::acos(x), acosf = libm::acosf(x);
    "The inverse hyperbolic cosine." (x) acosh = GpuFloat::acosh(x), acoshf = GpuFloat::acosh(x);
    "The arc sine in radians." (x) asin = libm::asin(x), asinf = libm::asinf(x);
    "The inverse hyperbolic sine." (x) asinh = libm::asinh(x), asinhf = libm::asinhf(x);
    "The arc tangent in radians." (x) atan = libm::atan(x), atanf = libm::atanf(x);
    "The angle of the point `(y, x)`, in radians." (x, y) atan2 = libm::atan2(x, y), atan2f = libm::atan2f(x, y);
    "The inverse hyperbolic tangent." (x) atanh = libm::atanh(x), atanhf = libm::atanhf(x);
    "The cube root." (x) cbrt = libm::cbrt(x), cbrtf = libm::cbrtf(x);
    "The smallest integer not below. PTX: `cvt.rpi`." (x) ceil = GpuFloat::ceil(x), ceilf = GpuFloat::ceil(x);
    "The magnitude of `x` with the sign of `y`." (x, y) copysign = x.copysign(y), copysignf = x.copysign(y);
    "The cosine of an angle in radians." (x) cos = libm::cos(x), cosf = libm::cosf(x);
    "The hyperbolic cosine." (x) cosh = libm::cosh(x), coshf = libm::coshf(x);
    "The cosine of `x * pi`." (x) cospi = x.cospi(), cospif = x.cospi();
    "The error function." (x) erf = libm::erf(x), erff = libm::erff(x);
    "The complementary error function." (x) erfc = libm::erfc(x), erfcf = libm::erfcf(x);
    "The inverse of the complementary error function." (x) erfcinv = x.inv_complementary_error_function(), erfcinvf = x.inv_complementary_error_function();
    "`exp(x * x) * erfc(x)`." (x) erfcx = x.scaled_complementary_error_function(), erfcxf = x.scaled_complementary_error_function();
    "The inverse of the error function." (x) erfinv = inverse_erf(x), erfinvf = inverse_erf(f64::from(x)) as f32;
    "e to this power." (x) exp = libm::exp(x), expf = libm::expf(x);
    "2 to this power." (x) exp2 = libm::exp2(x), exp2f = libm::exp2f(x);
    "`exp(x) - 1`, accurate near 0." (x) expm1 = libm::expm1(x), expm1f = libm::expm1f(x);
    "The absolute value." (f) fabs = f.abs(), fabsf = f.abs();
    "`x - y` where it is positive, otherwise 0." (x, y) fdim = libm::fdim(x, y), fdimf = libm::fdimf(x, y);
    "The largest integer not above. PTX: `cvt.rmi`." (f) floor = GpuFloat::floor(f), floorf = GpuFloat::floor(f);
    "`x * y + z`, rounded once. PTX: `fma.rn`." (x, y, z) fma = x.mul_add(y, z), fmaf = x.mul_add(y, z);
    "The larger one; the other of a NaN. PTX: `max`." (x, y) fmax = x.max(y), fmaxf = x.max(y);
    "The smaller one; the other of a NaN. PTX: `min`." (x, y) fmin = x.min(y), fminf = x.min(y);
    "The remainder of the division that is rounded to zero, exactly." (x, y) fmod = libm::fmod(x, y), fmodf = libm::fmodf(x, y);
    "The length of the hypotenuse." (x, y) hypot = libm::hypot(x, y), hypotf = libm::hypotf(x, y);
    "The Bessel function of the first kind of order 0." (x) j0 = libm::j0(x), j0f = libm::j0f(x);
    "The Bessel function of the first kind of order 1." (x) j1 = libm::j1(x), j1f = libm::j1f(x);
    "The logarithm of the magnitude of the gamma function." (x) lgamma = libm::lgamma(x), lgammaf = libm::lgammaf(x);
    "The natural logarithm." (x) log = libm::log(x), logf = libm::logf(x);
    "The logarithm to base 10." (x) log10 = libm::log10(x), log10f = libm::log10f(x);
    "`ln(1 + x)`, accurate near 0." (x) log1p = libm::log1p(x), log1pf = libm::log1pf(x);
    "The logarithm to base 2." (x) log2 = libm::log2(x), log2f = libm::log2f(x);
    "The exponent of 2 of the largest power of 2 not above the magnitude, as a float." (x) logb = exponent(x), logbf = exponent(f64::from(x)) as f32;
    "The nearest integer, halves to the even one. PTX: `cvt.rni`." (x) nearbyint = libm::rint(x), nearbyintf = libm::rintf(x);
    "The next float from `x` towards `y`." (x, y) nextafter = libm::nextafter(x, y), nextafterf = libm::nextafterf(x, y);
    "The cumulative distribution function of the standard normal distribution." (x) normcdf = x.norm_cdf(), normcdff = x.norm_cdf();
    "The inverse of the cumulative distribution function of the standard normal distribution." (x) normcdfinv = x.inv_norm_cdf(), normcdfinvf = x.inv_norm_cdf();
    "`1 / cbrt(x)`." (x) rcbrt = x.rcbrt(), rcbrtf = x.rcbrt();
    "The remainder of the division that is rounded to the nearest integer, exactly." (x, y) remainder = libm::remainder(x, y), remainderf = libm::remainderf(x, y);
    "The nearest integer, halves to the even one. PTX: `cvt.rni`." (x) rint = libm::rint(x), rintf = libm::rintf(x);
    "The nearest integer, halves away from zero." (x) round = libm::round(x), roundf = libm::roundf(x);
    "The sine of an angle in radians." (x) sin = libm::sin(x), sinf = libm::sinf(x);
    "The hyperbolic sine." (x) sinh = libm::sinh(x), sinhf = libm::sinhf(x);
    "The sine of `x * pi`." (x) sinpi = x.sinpi(), sinpif = x.sinpi();
    "The square root. PTX: `sqrt.rn`." (x) sqrt = GpuFloat::sqrt(x), sqrtf = GpuFloat::sqrt(x);
    "The tangent of an angle in radians." (x) tan = libm::tan(x), tanf = libm::tanf(x);
    "The hyperbolic tangent." (x) tanh = libm::tanh(x), tanhf = libm::tanhf(x);
    "The gamma function." (x) tgamma = libm::tgamma(x), tgammaf = libm::tgammaf(x);
    "The integer part. PTX: `cvt.rzi`." (x) trunc = GpuFloat::trunc(x), truncf = GpuFloat::trunc(x);
    "The Bessel function of the second kind of order 0." (x) y0 = libm::y0(x), y0f = libm::y0f(x);
    "The Bessel function of the second kind of order 1." (x) y1 = libm::y1(x), y1f = libm::y1f(x);
}

functions! {
    "10 to this power." exp10(x: f64) -> f64 = libm::exp10(x);
    "10 to this power, by way of `f64`." exp10f(x: f32) -> f32 = libm::exp2(f64::from(x) * core::f64::consts::LOG2_10) as f32;
}
