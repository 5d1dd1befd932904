//! The special function unit, by CUDA's formulas.

use super::functions;
use crate::float::approx;

/// log2(e), log2(10), ln(2) and log10(2), as CUDA has them.
const LOG2_E: f32 = f32::from_bits(0x3fb8_aa3b);
const LOG2_10: f32 = f32::from_bits(0x4054_9a78);
const LN_2: f32 = f32::from_bits(0x3f31_7218);
const LOG10_2: f32 = f32::from_bits(0x3e9a_209b);

functions! {
    "The sine of an angle in radians. PTX: `sin.approx.f32`." fast_sinf(x: f32) -> f32 = approx::sin(x);
    "The cosine of an angle in radians. PTX: `cos.approx.f32`." fast_cosf(x: f32) -> f32 = approx::cos(x);
    "The tangent of an angle in radians: the sine over the cosine." fast_tanf(x: f32) -> f32 =
        approx::div(approx::sin(x), approx::cos(x));
    "e to this power, by `ex2.approx.f32`." fast_expf(x: f32) -> f32 = approx::ex2(x * LOG2_E);
    "10 to this power, by `ex2.approx.f32`." fast_exp10f(x: f32) -> f32 = approx::ex2(x * LOG2_10);
    "The logarithm to base 2. PTX: `lg2.approx.f32`." fast_log2f(x: f32) -> f32 = approx::lg2(x);
    "The natural logarithm, by `lg2.approx.f32`." fast_logf(x: f32) -> f32 = approx::lg2(x) * LN_2;
    "The logarithm to base 10, by `lg2.approx.f32`." fast_log10f(x: f32) -> f32 = approx::lg2(x) * LOG10_2;
    "The power, by `lg2.approx.f32` and `ex2.approx.f32`." fast_powf(x: f32, y: f32) -> f32 =
        approx::ex2(y * approx::lg2(x));
    "The quotient. PTX: `div.approx.f32`." fast_fdividef(x: f32, y: f32) -> f32 = approx::div(x, y);
    "`1 / sqrt(x)`. PTX: `rsqrt.approx.f32`." rsqrtf(x: f32) -> f32 = approx::rsqrt(x);
}

/// Writes the sine and the cosine of an angle in radians. PTX: `sin.approx.f32` and `cos.approx.f32`.
///
/// # Safety
/// - Both pointers are valid for a write.
#[inline]
pub unsafe fn fast_sincosf(x: f32, sptr: *mut f32, cptr: *mut f32) {
    // SAFETY: by the contract.
    unsafe {
        sptr.write(approx::sin(x));
        cptr.write(approx::cos(x));
    }
}
