//! The approximations of the hardware, by name.
//!
//! Each is one instruction of the special function unit (division and hyperbolic tangent included),
//! with the error that the PTX ISA states. They never replace the accurate functions by themselves.
//! On the host they are computed accurately. Beyond rust-cuda.
//!
//! They are inline assembly of a pure function: the compiler may drop, merge and move them.
//!
//! Source: PTX ISA, "Floating Point Instructions".
//!
//! ```no_run
//! use cuda_std::float::approx;
//! let root = approx::sqrt(2.0);
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::capability::require;

/// Declares functions of one or two numbers.
macro_rules! approximations {
    ($(
        $(#[$documentation:meta])*
        $name:ident($($argument:ident),*) $kind:ident $class:ident $instruction:literal
        $(since $since:literal)?, $host:expr;
    )*) => {
        $(
            $(#[$documentation])*
            #[inline(always)]
            #[must_use]
            pub fn $name($($argument: $kind),*) -> $kind {
                $(require::<$since>();)?
                #[cfg(target_arch = "nvptx64")]
                {
                    let result: $kind;
                    // SAFETY: the instruction computes a number from numbers.
                    unsafe {
                        asm!(
                            concat!($instruction, " {result}" $(, ", {", stringify!($argument), "}")*, ";"),
                            result = out($class) result,
                            $($argument = in($class) $argument,)*
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    result
                }
                #[cfg(not(target_arch = "nvptx64"))]
                $host
            }
        )*
    };
}

approximations! {
    /// `1 / sqrt(x)`, relative error at most 2^-22.9. PTX: `rsqrt.approx.f32`.
    rsqrt(x) f32 reg32 "rsqrt.approx.f32", 1.0 / libm::sqrtf(x);
    /// `1 / sqrt(x)`, denormals count as zero. PTX: `rsqrt.approx.ftz.f32`.
    rsqrt_ftz(x) f32 reg32 "rsqrt.approx.ftz.f32", 1.0 / libm::sqrtf(x);
    /// `1 / sqrt(x)` in double precision, relative error at most 2^-20 or so (an emulated
    /// instruction). PTX: `rsqrt.approx.f64`.
    rsqrt_f64(x) f64 reg64 "rsqrt.approx.f64", 1.0 / libm::sqrt(x);
    /// `sqrt(x)`, relative error at most 2^-23. PTX: `sqrt.approx.f32`.
    sqrt(x) f32 reg32 "sqrt.approx.f32", libm::sqrtf(x);
    /// `1 / x`, error at most 1 ULP. PTX: `rcp.approx.f32`.
    rcp(x) f32 reg32 "rcp.approx.f32", 1.0 / x;
    /// `1 / x`, denormals count as zero. PTX: `rcp.approx.ftz.f32`.
    rcp_ftz(x) f32 reg32 "rcp.approx.ftz.f32", 1.0 / x;
    /// `x / y`, error at most 2 ULP for `|y|` from 2^-126 to 2^126. PTX: `div.approx.f32`.
    div(x, y) f32 reg32 "div.approx.f32", x / y;
    /// `x / y`, error at most 2 ULP in the whole range. PTX: `div.full.f32`.
    div_full(x, y) f32 reg32 "div.full.f32", x / y;
    /// The sine of an angle in radians, absolute error at most 2^-20.5 from -pi to pi and growing
    /// beyond. PTX: `sin.approx.f32`.
    sin(x) f32 reg32 "sin.approx.f32", libm::sinf(x);
    /// The cosine of an angle in radians, absolute error as for [`sin()`]. PTX: `cos.approx.f32`.
    cos(x) f32 reg32 "cos.approx.f32", libm::cosf(x);
    /// `2^x`, relative error at most 2^-22. PTX: `ex2.approx.f32`.
    ex2(x) f32 reg32 "ex2.approx.f32", libm::exp2f(x);
    /// The logarithm to base 2, absolute error at most 2^-22 from 0.5 to 2, elsewhere relative error
    /// at most 2^-22. PTX: `lg2.approx.f32`.
    lg2(x) f32 reg32 "lg2.approx.f32", libm::log2f(x);
    /// The hyperbolic tangent, relative error at most 2^-11. PTX: `tanh.approx.f32`, compute
    /// capability 7.5.
    tanh(x) f32 reg32 "tanh.approx.f32" since 75, libm::tanhf(x);
}

/// `e^x` by way of `2^(x * log2(e))`. PTX: `mul.rn.f32` and `ex2.approx.f32`.
///
/// The relative error grows with `|x|`, from the rounding of the product.
#[inline(always)]
#[must_use]
pub fn exp(x: f32) -> f32 {
    ex2(x * core::f32::consts::LOG2_E)
}

/// The natural logarithm by way of that to base 2. PTX: `lg2.approx.f32` and `mul.rn.f32`.
#[inline(always)]
#[must_use]
pub fn ln(x: f32) -> f32 {
    lg2(x) * core::f32::consts::LN_2
}
