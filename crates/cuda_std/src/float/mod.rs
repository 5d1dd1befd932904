//! Mathematics of `f32` and `f64`.
//!
//! What the hardware has is one instruction: `sqrt.rn`, `fma.rn`, `abs`, `copysign`, and the roundings
//! (`cvt.rmi`, `cvt.rpi`, `cvt.rzi`, `cvt.rni`). Everything else is computed by the `libm` crate, to
//! its accuracy (mostly below 1 ULP) and at its cost. For speed at known lower accuracy there are
//! [`approx`]. [`mod@half`] has half precision, and [`convert`] its conversions.
//!
//! ```no_run
//! use cuda_std::GpuFloat;
//! let x = 2.0_f32.powi(3).mul_add(2.0, 1.0);
//! ```

pub mod approx;
pub mod convert;
mod extension;
pub mod half;

pub use self::half::{Bf16x2, F16x2, GpuHalf};
pub use extension::FloatExt;
pub(crate) use extension::inverse_erf;

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The functions of `std`'s floats, for `f32` and `f64` in kernels.
pub trait GpuFloat: Copy + PartialOrd + private::Sealed {
    /// The largest integer not above. PTX: `cvt.rmi`.
    #[must_use]
    fn floor(self) -> Self;
    /// The smallest integer not below. PTX: `cvt.rpi`.
    #[must_use]
    fn ceil(self) -> Self;
    /// The nearest integer, halves away from zero.
    #[must_use]
    fn round(self) -> Self;
    /// The integer part. PTX: `cvt.rzi`.
    #[must_use]
    fn trunc(self) -> Self;
    /// The fractional part: `self - self.trunc()`.
    #[must_use]
    fn fract(self) -> Self;
    /// The absolute value. PTX: `abs`.
    #[must_use]
    fn abs(self) -> Self;
    /// 1 with the sign of the number, or NaN.
    #[must_use]
    fn signum(self) -> Self;
    /// The magnitude of this number with the sign of another. PTX: `copysign`.
    #[must_use]
    fn copysign(self, sign: Self) -> Self;
    /// `self * a + b`, rounded once. PTX: `fma.rn`.
    #[must_use]
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The quotient of Euclidean division.
    #[must_use]
    fn div_euclid(self, rhs: Self) -> Self;
    /// The remainder of Euclidean division, never negative.
    #[must_use]
    fn rem_euclid(self, rhs: Self) -> Self;
    /// The power with an integer exponent, by repeated multiplication.
    #[must_use]
    fn powi(self, n: i32) -> Self;
    /// The power.
    #[must_use]
    fn powf(self, n: Self) -> Self;
    /// The square root. PTX: `sqrt.rn`.
    #[must_use]
    fn sqrt(self) -> Self;
    /// e to the power of this number.
    #[must_use]
    fn exp(self) -> Self;
    /// 2 to the power of this number.
    #[must_use]
    fn exp2(self) -> Self;
    /// The natural logarithm.
    #[must_use]
    fn ln(self) -> Self;
    /// The logarithm to a base.
    #[must_use]
    fn log(self, base: Self) -> Self;
    /// The logarithm to base 2.
    #[must_use]
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    #[must_use]
    fn log10(self) -> Self;
    /// The cube root.
    #[must_use]
    fn cbrt(self) -> Self;
    /// The length of the hypotenuse.
    #[must_use]
    fn hypot(self, other: Self) -> Self;
    /// The sine of an angle in radians.
    #[must_use]
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    #[must_use]
    fn cos(self) -> Self;
    /// The tangent of an angle in radians.
    #[must_use]
    fn tan(self) -> Self;
    /// The arcsine in radians.
    #[must_use]
    fn asin(self) -> Self;
    /// The arccosine in radians.
    #[must_use]
    fn acos(self) -> Self;
    /// The arctangent in radians.
    #[must_use]
    fn atan(self) -> Self;
    /// The angle of the point `(other, self)` in radians.
    #[must_use]
    fn atan2(self, other: Self) -> Self;
    /// The sine and the cosine.
    #[must_use]
    fn sin_cos(self) -> (Self, Self);
    /// `exp(self) - 1`, accurate near 0.
    #[must_use]
    fn exp_m1(self) -> Self;
    /// `ln(1 + self)`, accurate near 0.
    #[must_use]
    fn ln_1p(self) -> Self;
    /// The hyperbolic sine.
    #[must_use]
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    #[must_use]
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    #[must_use]
    fn tanh(self) -> Self;
    /// The inverse hyperbolic sine.
    #[must_use]
    fn asinh(self) -> Self;
    /// The inverse hyperbolic cosine.
    #[must_use]
    fn acosh(self) -> Self;
    /// The inverse hyperbolic tangent.
    #[must_use]
    fn atanh(self) -> Self;
}

/// Implements [`GpuFloat`] for both floats, by functions of `f32` and of `f64`.
macro_rules! gpu_float {
    (
        hardware { $($hardware:ident $hardware_arguments:tt $single_on_host:ident $on_host:ident;)* }
        libm { $($method:ident $arguments:tt $single:ident $function:ident;)* }
    ) => {
        gpu_float! { @
            f32 {
                hardware { $($hardware $hardware_arguments $single_on_host;)* }
                libm { $($method $arguments $single;)* }
                round roundf; acosh acoshf;
            }
            f64 {
                hardware { $($hardware $hardware_arguments $on_host;)* }
                libm { $($method $arguments $function;)* }
                round round; acosh acosh;
            }
        }
    };
    (@ $($kind:ident {
        hardware { $($hardware:ident($($hardware_argument:ident),*) $on_host:ident;)* }
        libm { $($method:ident($($argument:ident),*) $function:ident;)* }
        round $round:ident; acosh $acosh:ident;
    })*) => {
        $(
            impl GpuFloat for $kind {
                $(
                    #[inline(always)]
                    fn $hardware(self $(, $hardware_argument: Self)*) -> Self {
                        #[cfg(target_arch = "nvptx64")]
                        {
                            core::$kind::math::$hardware(self $(, $hardware_argument)*)
                        }
                        #[cfg(not(target_arch = "nvptx64"))]
                        libm::$on_host(self $(, $hardware_argument)*)
                    }
                )*
                $(
                    #[inline]
                    fn $method(self $(, $argument: Self)*) -> Self {
                        libm::$function(self $(, $argument)*)
                    }
                )*

                #[inline]
                fn round(self) -> Self {
                    libm::$round(self)
                }

                #[inline]
                fn acosh(self) -> Self {
                    // `libm` gives a number for some numbers below -1.
                    if self < 1.0 { $kind::NAN } else { libm::$acosh(self) }
                }

                #[inline(always)]
                fn fract(self) -> Self {
                    self - GpuFloat::trunc(self)
                }

                #[inline(always)]
                fn abs(self) -> Self {
                    $kind::abs(self)
                }

                #[inline(always)]
                fn signum(self) -> Self {
                    $kind::signum(self)
                }

                #[inline(always)]
                fn copysign(self, sign: Self) -> Self {
                    $kind::copysign(self, sign)
                }

                #[inline]
                fn div_euclid(self, rhs: Self) -> Self {
                    let quotient = GpuFloat::trunc(self / rhs);
                    if self % rhs >= 0.0 || self.is_nan() || rhs.is_nan() {
                        quotient
                    } else if rhs > 0.0 {
                        quotient - 1.0
                    } else {
                        quotient + 1.0
                    }
                }

                #[inline]
                fn rem_euclid(self, rhs: Self) -> Self {
                    let remainder = self % rhs;
                    if remainder < 0.0 { remainder + $kind::abs(rhs) } else { remainder }
                }

                #[inline]
                fn powi(self, n: i32) -> Self {
                    let mut base = self;
                    let mut exponent = n.unsigned_abs();
                    let mut power = 1.0;
                    while exponent > 0 {
                        if exponent & 1 == 1 {
                            power *= base;
                        }
                        base *= base;
                        exponent >>= 1;
                    }
                    if n < 0 { 1.0 / power } else { power }
                }

                #[inline]
                fn log(self, base: Self) -> Self {
                    GpuFloat::ln(self) / GpuFloat::ln(base)
                }

                #[inline]
                fn sin_cos(self) -> (Self, Self) {
                    (GpuFloat::sin(self), GpuFloat::cos(self))
                }
            }
        )*
    };
}

gpu_float! {
    hardware {
        floor() floorf floor;
        ceil() ceilf ceil;
        trunc() truncf trunc;
        sqrt() sqrtf sqrt;
        mul_add(a, b) fmaf fma;
    }
    libm {
        powf(n) powf pow;
        exp() expf exp;
        exp2() exp2f exp2;
        ln() logf log;
        log2() log2f log2;
        log10() log10f log10;
        cbrt() cbrtf cbrt;
        hypot(other) hypotf hypot;
        sin() sinf sin;
        cos() cosf cos;
        tan() tanf tan;
        asin() asinf asin;
        acos() acosf acos;
        atan() atanf atan;
        atan2(other) atan2f atan2;
        exp_m1() expm1f expm1;
        ln_1p() log1pf log1p;
        sinh() sinhf sinh;
        cosh() coshf cosh;
        tanh() tanhf tanh;
        asinh() asinhf asinh;
        atanh() atanhf atanh;
    }
}

/// The remainder of Rust's `%`, exactly: LLVM's own is that of a rounded quotient, so `cuda_builder` calls this for it.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
extern "C" fn __coalesce_remainder_f32(x: f32, y: f32) -> f32 {
    libm::fmodf(x, y)
}

/// The same of doubles.
#[cfg(target_arch = "nvptx64")]
#[unsafe(no_mangle)]
extern "C" fn __coalesce_remainder_f64(x: f64, y: f64) -> f64 {
    libm::fmod(x, y)
}
