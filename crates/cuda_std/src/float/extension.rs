//! The functions of CUDA's mathematics library that `std`'s floats lack.

use super::GpuFloat;

/// Special functions for `f32` and `f64` in kernels.
///
/// Most are computed by the `libm` crate; those it lacks by the formulas named at each.
pub trait FloatExt: Sized + super::private::Sealed {
    /// The cosine of `self * pi`, exact for multiples of one half.
    #[must_use]
    fn cospi(self) -> Self;
    /// The error function.
    #[must_use]
    fn error_function(self) -> Self;
    /// The complementary error function, `1 - erf(self)`.
    #[must_use]
    fn complementary_error_function(self) -> Self;
    /// The number whose complementary error function is this one, for numbers between 0 and 2.
    #[must_use]
    fn inv_complementary_error_function(self) -> Self;
    /// `exp(self^2) * erfc(self)`, which stays representable where `erfc` underflows.
    #[must_use]
    fn scaled_complementary_error_function(self) -> Self;
    /// The fraction, from one half up to 1, and the exponent of 2 of which this is the product.
    #[must_use]
    fn frexp(self) -> (Self, i32);
    /// The exponent of 2 of the largest power of 2 not above the magnitude.
    #[must_use]
    fn unbiased_exp(self) -> i32;
    /// The Bessel function of the first kind of order 0.
    #[must_use]
    fn j0(self) -> Self;
    /// The Bessel function of the first kind of order 1.
    #[must_use]
    fn j1(self) -> Self;
    /// The Bessel function of the first kind of an order.
    #[must_use]
    fn jn(self, order: i32) -> Self;
    /// `self * 2^exp`.
    #[must_use]
    fn ldexp(self, exp: i32) -> Self;
    /// The natural logarithm of the magnitude of the gamma function.
    #[must_use]
    fn log_gamma(self) -> Self;
    /// `ln(1 + self)`, accurate near 0.
    #[must_use]
    fn log1p(self) -> Self;
    /// The cumulative distribution function of the standard normal distribution.
    #[must_use]
    fn norm_cdf(self) -> Self;
    /// The inverse of [`norm_cdf`](Self::norm_cdf), for numbers between 0 and 1.
    #[must_use]
    fn inv_norm_cdf(self) -> Self;
    /// `1 / cbrt(self)`.
    #[must_use]
    fn rcbrt(self) -> Self;
    /// The nearest number from 0 to 1; 0 for NaN. PTX: `cvt.sat.f32.f32` or `max` and `min`.
    #[must_use]
    fn saturate(self) -> Self;
    /// `self * 2^exp`.
    #[must_use]
    fn scale_by_n(self, exp: i32) -> Self;
    /// The sine and the cosine of `self * pi`, exact for multiples of one half.
    #[must_use]
    fn sincospi(self) -> (Self, Self);
    /// The sine of `self * pi`, exact for multiples of one half.
    #[must_use]
    fn sinpi(self) -> Self;
    /// The gamma function.
    #[must_use]
    fn gamma(self) -> Self;
    /// The Bessel function of the second kind of order 0.
    #[must_use]
    fn y0(self) -> Self;
    /// The Bessel function of the second kind of order 1.
    #[must_use]
    fn y1(self) -> Self;
    /// The Bessel function of the second kind of an order.
    #[must_use]
    fn yn(self, order: i32) -> Self;
}

/// Implements [`FloatExt`] for both floats, by functions of `f32` and of `f64`.
macro_rules! float_ext {
    (plain { $($method:ident = $single:ident $double:ident;)* }) => {
        float_ext! { @
            f32 {
                plain { $($method = $single;)* }
                order { jn = jnf; yn = ynf; }
                frexp frexpf; ilogb ilogbf; scalbn scalbnf;
                rint rintf; floor floorf; pi_rest -8.742_278e-8;
            }
            f64 {
                plain { $($method = $double;)* }
                order { jn = jn; yn = yn; }
                frexp frexp; ilogb ilogb; scalbn scalbn;
                rint rint; floor floor; pi_rest 1.224_646_799_147_353_2e-16;
            }
        }
    };
    (@ $($kind:ident {
        plain { $($method:ident = $function:ident;)* }
        order { $($order_method:ident = $order_function:ident;)* }
        frexp $frexp:ident; ilogb $ilogb:ident; scalbn $scalbn:ident;
        rint $rint:ident; floor $floor:ident; pi_rest $pi_rest:literal;
    })*) => {
        $(
            impl FloatExt for $kind {
                $(
                    #[inline]
                    fn $method(self) -> Self {
                        libm::$function(self)
                    }
                )*
                $(
                    #[inline]
                    fn $order_method(self, order: i32) -> Self {
                        libm::$order_function(order, self)
                    }
                )*

                #[inline]
                fn inv_complementary_error_function(self) -> Self {
                    (-inverse_normal(f64::from(self) / 2.0) * core::f64::consts::FRAC_1_SQRT_2) as $kind
                }

                #[inline]
                fn scaled_complementary_error_function(self) -> Self {
                    scaled_erfc(f64::from(self)) as $kind
                }

                #[inline]
                fn frexp(self) -> (Self, i32) {
                    libm::$frexp(self)
                }

                #[inline]
                fn unbiased_exp(self) -> i32 {
                    libm::$ilogb(self)
                }

                #[inline]
                fn ldexp(self, exp: i32) -> Self {
                    libm::$scalbn(self, exp)
                }

                #[inline]
                fn norm_cdf(self) -> Self {
                    (libm::erfc(-f64::from(self) * core::f64::consts::FRAC_1_SQRT_2) / 2.0) as $kind
                }

                #[inline]
                fn inv_norm_cdf(self) -> Self {
                    inverse_normal(f64::from(self)) as $kind
                }

                #[inline]
                fn rcbrt(self) -> Self {
                    1.0 / GpuFloat::cbrt(self)
                }

                #[inline(always)]
                fn saturate(self) -> Self {
                    self.max(0.0).min(1.0)
                }

                #[inline]
                fn scale_by_n(self, exp: i32) -> Self {
                    libm::$scalbn(self, exp)
                }

                #[inline]
                fn sinpi(self) -> Self {
                    self.sincospi().0
                }

                #[inline]
                fn cospi(self) -> Self {
                    self.sincospi().1
                }

                #[inline]
                fn sincospi(self) -> (Self, Self) {
                    // Whole turns change nothing; each step is exact.
                    let turn = self - 2.0 * GpuFloat::trunc(self * 0.5);
                    // The angle within a quarter turn around the nearest multiple of one half, in
                    // which the sine and cosine only change places and signs.
                    let halves = libm::$rint(turn * 2.0);
                    let rest = turn - halves * 0.5;
                    let angle = rest * core::$kind::consts::PI;
                    let (near_sine, near_cosine) = GpuFloat::sin_cos(angle);
                    // What the angle misses: the rounding of the product and of pi.
                    let missed = rest.mul_add(core::$kind::consts::PI, -angle) + rest * $pi_rest;
                    let sine = missed.mul_add(near_cosine, near_sine);
                    let cosine = (-missed).mul_add(near_sine, near_cosine);
                    let quarter = halves - 4.0 * libm::$floor(halves * 0.25);
                    if quarter == 0.0 {
                        (sine, cosine)
                    } else if quarter == 1.0 {
                        (cosine, -sine)
                    } else if quarter == 2.0 {
                        (-sine, -cosine)
                    } else {
                        (-cosine, sine)
                    }
                }
            }
        )*
    };
}

float_ext! {
    plain {
        error_function = erff erf;
        complementary_error_function = erfcf erfc;
        j0 = j0f j0;
        j1 = j1f j1;
        log_gamma = lgammaf lgamma;
        log1p = log1pf log1p;
        gamma = tgammaf tgamma;
        y0 = y0f y0;
        y1 = y1f y1;
    }
}

/// `exp(x^2) * erfc(x)`.
///
/// Above 10 by the asymptotic series 1/(x sqrt(pi)) * sum (-1)^n (2n-1)!! / (2 x^2)^n, whose sixth
/// term is below 10395 / 200^6 = 2e-10 relative and whose ninth is below 1e-13.
/// Source: NIST Digital Library of Mathematical Functions, 7.12.1.
fn scaled_erfc(x: f64) -> f64 {
    if x < 10.0 {
        return libm::exp(x * x) * libm::erfc(x);
    }
    let square = 1.0 / (2.0 * x * x);
    let mut sum = 1.0;
    let mut term = 1.0;
    let mut odd = 1.0;
    while odd < 20.0 {
        term *= -odd * square;
        sum += term;
        odd += 2.0;
    }
    // 1 / sqrt(pi)
    sum / x * 0.564_189_583_547_756_3
}

/// The inverse of the normal distribution, by Newton's method with Halley's correction from a start
/// that is right to three digits.
///
/// Source of the start: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.2.23.
fn inverse_normal(probability: f64) -> f64 {
    if !(probability > 0.0 && probability < 1.0) {
        return if probability == 0.0 {
            f64::NEG_INFINITY
        } else if probability == 1.0 {
            f64::INFINITY
        } else {
            f64::NAN
        };
    }
    if (0.25..=0.75).contains(&probability) {
        return core::f64::consts::SQRT_2 * inverse_erf(2.0 * probability - 1.0);
    }
    // The smaller tail, in which differences are accurate.
    let tail = if probability < 0.5 { probability } else { 1.0 - probability };
    let t = libm::sqrt(-2.0 * libm::log(tail));
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = numerator / denominator - t;
    for _ in 0..3 {
        let value = libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2) / 2.0;
        // sqrt(2 pi)
        let step = (value - tail) * 2.506_628_274_631_000_5 * libm::exp(x * x / 2.0);
        x -= step / (1.0 + x * step / 2.0);
    }
    if probability < 0.5 { x } else { -x }
}

/// The inverse of the error function, by Newton's method with Halley's correction.
///
/// Source of the start: NIST Digital Library of Mathematical Functions, 7.17.2.
pub(crate) fn inverse_erf(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude > 0.5 || x.is_nan() {
        // 1 - |x| is exact.
        let tail = if magnitude > 1.0 { f64::NAN } else { (1.0 - magnitude) / 2.0 };
        return (-inverse_normal(tail) * core::f64::consts::FRAC_1_SQRT_2).copysign(x);
    }
    // sqrt(pi) / 2
    let scale = 0.886_226_925_452_758;
    let t = scale * x;
    let square = t * t;
    let mut y = t * (1.0 + square * (1.0 / 3.0 + square * (7.0 / 30.0 + square * (127.0 / 630.0))));
    for _ in 0..2 {
        let step = (libm::erf(y) - x) * scale * libm::exp(y * y);
        y -= step / (1.0 + y * step);
    }
    y
}
