//! Launches of the kernels of `floats`.
//!
//! The references are `std`'s functions of `f64`, whose error is far below the tolerances; special functions that `std`
//! lacks are `cuda_std`'s on the host, which the tests below compare with published values.

use super::launch::{Launch, per_thread};
use crate::kernels::floats;
use cuda_std::kernel::Kernel;
use cuda_std::{FloatExt, bf16, f16};

/// The tolerance of functions that `libm` computes: 4 units in the last place.
const LIBM_F32: f64 = 4.0 * f32::EPSILON as f64;
/// The same in double precision.
const LIBM_F64: f64 = 4.0 * f64::EPSILON;

/// Numbers of both signs around zero.
fn around_zero(tid: u32) -> f64 {
    (f64::from(tid) - 31.5) * 0.173
}

/// Positive numbers over several orders of magnitude.
fn positive(tid: u32) -> f64 {
    1e-3 * 1.3_f64.powi(tid as i32)
}

/// Numbers between -1 and 1.
fn small(tid: u32) -> f64 {
    (f64::from(tid) - 31.5) / 32.0
}

/// Numbers between 0 and 1.
fn probability(tid: u32) -> f64 {
    (f64::from(tid) + 0.5) / 64.0
}

type Elements = fn(u32) -> f64;

/// A function of one `f32`, up to a relative error and the absolute error of a tenth of it.
fn one<F>(
    kernel: Kernel<F>,
    element: Elements,
    relative: f64,
    reference: impl Fn(f64) -> f64,
) -> Launch {
    let source = per_thread(|tid| element(tid) as f32);
    let expected = source.iter().map(|&x| reference(f64::from(x)) as f32).collect();
    Launch::of(kernel).reads(&source).writes_f32(expected, relative, relative / 10.0)
}

fn one_f64<F>(
    kernel: Kernel<F>,
    element: Elements,
    relative: f64,
    reference: impl Fn(f64) -> f64,
) -> Launch {
    let source = per_thread(element);
    let expected = source.iter().map(|&x| reference(x)).collect();
    Launch::of(kernel).reads(&source).writes_f64(expected, relative, relative / 10.0)
}

fn two<F>(
    kernel: Kernel<F>,
    (left, right): (Elements, Elements),
    relative: f64,
    reference: impl Fn(f64, f64) -> f64,
) -> Launch {
    let left = per_thread(|tid| left(tid) as f32);
    let right = per_thread(|tid| right(63 - tid) as f32);
    let expected =
        left.iter().zip(&right).map(|(&a, &b)| reference(a.into(), b.into()) as f32).collect();
    Launch::of(kernel).reads(&left).reads(&right).writes_f32(expected, relative, relative / 10.0)
}

/// Rust's `%`, whose quotient may have any number of digits.
pub(super) fn remainders() -> Vec<Launch> {
    let left = per_thread(|tid| (f64::from(tid) - 20.5) * 10_f64.powi(tid as i32 / 4));
    let right = per_thread(|tid| 0.3 + 1.7 * f64::from(tid % 7));
    let single = |values: &[f64]| values.iter().map(|value| *value as f32).collect::<Vec<_>>();
    let (left_f32, right_f32) = (single(&left), single(&right));
    let of_f32: Vec<f32> = left_f32.iter().zip(&right_f32).map(|(a, b)| a % b).collect();
    let of_f64: Vec<f64> = left.iter().zip(&right).map(|(a, b)| a % b).collect();
    vec![
        Launch::of(floats::remainder_f32).reads(&left_f32).reads(&right_f32).writes(&of_f32),
        Launch::of(floats::remainder_f64).reads(&left).reads(&right).writes(&of_f64),
    ]
}

pub(super) fn launches() -> Vec<Launch> {
    let mut launches = rounding();
    launches.extend(standard());
    launches.extend(special());
    launches.extend(approximations());
    launches.extend(conversions());
    launches
}

/// Exact functions, with halves, signed zeros, infinities and NaN among the elements.
fn rounding() -> Vec<Launch> {
    fn awkward(tid: u32) -> f64 {
        match tid {
            60 => f64::INFINITY,
            61 => f64::NEG_INFINITY,
            62 => f64::NAN,
            63 => -0.0,
            _ => (f64::from(tid) - 32.0) / 4.0,
        }
    }
    let saturate = |x: f64| {
        if x > 1.0 {
            1.0
        } else if x > 0.0 {
            x
        } else {
            0.0
        }
    };
    vec![
        one(floats::floor_f32, awkward, 0.0, f64::floor),
        one(floats::ceil_f32, awkward, 0.0, f64::ceil),
        one(floats::round_f32, awkward, 0.0, f64::round),
        one(floats::trunc_f32, awkward, 0.0, f64::trunc),
        one(floats::fract_f32, around_zero, 0.0, f64::fract),
        one(floats::abs_f32, awkward, 0.0, f64::abs),
        one(floats::signum_f32, awkward, 0.0, f64::signum),
        one(floats::saturate_f32, awkward, 0.0, saturate),
        one(floats::sqrt_f32, positive, f64::from(f32::EPSILON) / 2.0, f64::sqrt),
        one_f64(floats::floor_f64, awkward, 0.0, f64::floor),
        one_f64(floats::ceil_f64, awkward, 0.0, f64::ceil),
        one_f64(floats::round_f64, awkward, 0.0, f64::round),
        one_f64(floats::trunc_f64, awkward, 0.0, f64::trunc),
        one_f64(floats::abs_f64, awkward, 0.0, f64::abs),
        one_f64(floats::sqrt_f64, positive, 0.0, f64::sqrt),
        two(floats::copysign_f32, (awkward, around_zero), 0.0, f64::copysign),
        two(floats::mul_add_f32, (around_zero, positive), LIBM_F32, |a, b| a * b + 1.5),
        two(floats::div_euclid_f32, (around_zero, small), 0.0, f64::div_euclid),
        two(floats::rem_euclid_f32, (around_zero, small), LIBM_F32, f64::rem_euclid),
        mul_add_f64(),
    ]
}

fn mul_add_f64() -> Launch {
    let (left, right) = (per_thread(around_zero), per_thread(positive));
    let expected = left.iter().zip(&right).map(|(&a, &b)| a.mul_add(b, 1.5)).collect();
    Launch::of(floats::mul_add_f64).reads(&left).reads(&right).writes_f64(expected, 0.0, 0.0)
}

/// The functions that `std` has too.
fn standard() -> Vec<Launch> {
    vec![
        one(floats::powi_f32, around_zero, 2.0 * LIBM_F32, |x| x.powi(5)),
        one(floats::exp_f32, around_zero, LIBM_F32, f64::exp),
        one(floats::exp2_f32, around_zero, LIBM_F32, f64::exp2),
        one(floats::ln_f32, positive, LIBM_F32, f64::ln),
        one(floats::log_f32, positive, LIBM_F32, |x| x.log(3.0)),
        one(floats::log2_f32, positive, LIBM_F32, f64::log2),
        one(floats::log10_f32, positive, LIBM_F32, f64::log10),
        one(floats::cbrt_f32, around_zero, LIBM_F32, f64::cbrt),
        one(floats::sin_f32, around_zero, LIBM_F32, f64::sin),
        one(floats::sin_f32, |tid| 1e6 * (f64::from(tid) + 1.0), LIBM_F32, f64::sin),
        one(floats::cos_f32, around_zero, LIBM_F32, f64::cos),
        one(floats::tan_f32, around_zero, LIBM_F32, f64::tan),
        one(floats::asin_f32, small, LIBM_F32, f64::asin),
        one(floats::acos_f32, small, LIBM_F32, f64::acos),
        one(floats::atan_f32, around_zero, LIBM_F32, f64::atan),
        one(floats::sin_cos_f32, around_zero, 4.0 * LIBM_F32, |x| x.sin() + x.cos()),
        one(floats::exp_m1_f32, around_zero, LIBM_F32, f64::exp_m1),
        one(floats::ln_1p_f32, small, LIBM_F32, f64::ln_1p),
        one(floats::sinh_f32, around_zero, LIBM_F32, f64::sinh),
        one(floats::cosh_f32, around_zero, LIBM_F32, f64::cosh),
        one(floats::tanh_f32, around_zero, LIBM_F32, f64::tanh),
        one(floats::asinh_f32, around_zero, LIBM_F32, f64::asinh),
        one(floats::acosh_f32, positive, 64.0 * LIBM_F32, |x| (1.0 + x).acosh()),
        one(floats::atanh_f32, small, LIBM_F32, f64::atanh),
        two(floats::powf_f32, (positive, small), LIBM_F32, f64::powf),
        two(floats::hypot_f32, (around_zero, positive), LIBM_F32, f64::hypot),
        two(floats::atan2_f32, (around_zero, small), LIBM_F32, f64::atan2),
        one_f64(floats::exp_f64, around_zero, LIBM_F64, f64::exp),
        one_f64(floats::ln_f64, positive, LIBM_F64, f64::ln),
        one_f64(floats::log2_f64, positive, LIBM_F64, f64::log2),
        one_f64(floats::sin_f64, around_zero, LIBM_F64, f64::sin),
        one_f64(floats::cos_f64, around_zero, LIBM_F64, f64::cos),
        one_f64(floats::tanh_f64, around_zero, LIBM_F64, f64::tanh),
        atan2_f64(),
    ]
}

fn atan2_f64() -> Launch {
    let (left, right) = (per_thread(around_zero), per_thread(small));
    let expected = left.iter().zip(&right).map(|(&a, &b)| a.atan2(b)).collect();
    Launch::of(floats::atan2_f64)
        .reads(&left)
        .reads(&right)
        .writes_f64(expected, LIBM_F64, LIBM_F64)
}

/// The functions that `std` lacks.
fn special() -> Vec<Launch> {
    vec![
        one(floats::cospi_f32, around_zero, LIBM_F32, |x| x.cospi()),
        one(floats::sinpi_f32, around_zero, LIBM_F32, |x| x.sinpi()),
        one_f64(floats::sincospi_f64, around_zero, LIBM_F64, |x| x.sinpi() + 2.0 * x.cospi()),
        one(floats::error_function_f32, around_zero, LIBM_F32, |x| x.error_function()),
        one_f64(floats::complementary_error_function_f64, around_zero, 16.0 * LIBM_F64, |x| {
            x.complementary_error_function()
        }),
        one(floats::inv_complementary_error_function_f32, probability, LIBM_F32, |x| {
            x.inv_complementary_error_function()
        }),
        one_f64(floats::scaled_complementary_error_function_f64, positive, 1e-12, |x| {
            x.scaled_complementary_error_function()
        }),
        one(floats::frexp_f32, positive, 0.0, |x| {
            let (fraction, exponent) = FloatExt::frexp(x);
            fraction + 8.0 * f64::from(exponent)
        }),
        one_f64(floats::unbiased_exp_f64, positive, 0.0, |x| x.log2().floor()),
        one_f64(floats::bessel_first_f64, positive, 1e-13, |x| {
            x.j0() + 2.0 * x.j1() + 4.0 * x.jn(3)
        }),
        one_f64(floats::bessel_second_f64, positive, 1e-13, |x| {
            x.y0() + 2.0 * x.y1() + 4.0 * x.yn(3)
        }),
        one(floats::ldexp_f32, around_zero, 0.0, |x| x * 8.0),
        one_f64(floats::scale_by_n_f64, around_zero, 0.0, |x| x / 8.0),
        one(floats::log_gamma_f32, probability, 4.0 * LIBM_F32, |x| x.log_gamma()),
        one(floats::gamma_f32, probability, LIBM_F32, FloatExt::gamma),
        one_f64(floats::log1p_f64, small, LIBM_F64, f64::ln_1p),
        one(floats::norm_cdf_f32, around_zero, LIBM_F32, |x| x.norm_cdf()),
        one_f64(floats::inv_norm_cdf_f64, probability, 1e-13, |x| x.inv_norm_cdf()),
        one(floats::rcbrt_f32, positive, LIBM_F32, |x| 1.0 / x.cbrt()),
    ]
}

/// The approximations, up to twice the error that the PTX ISA states.
fn approximations() -> Vec<Launch> {
    let ulp = f64::from(f32::EPSILON);
    vec![
        one(floats::approx_rsqrt, positive, 2.0 * ulp, |x| 1.0 / x.sqrt()),
        one(floats::approx_rsqrt_ftz, positive, 2.0 * ulp, |x| 1.0 / x.sqrt()),
        one_f64(floats::approx_rsqrt_f64, positive, 2e-6, |x| 1.0 / x.sqrt()),
        one(floats::approx_sqrt, positive, 2.0 * ulp, f64::sqrt),
        one(floats::approx_rcp, around_zero, 2.0 * ulp, |x| 1.0 / x),
        one(floats::approx_rcp_ftz, around_zero, 2.0 * ulp, |x| 1.0 / x),
        one(floats::approx_sin, small, 1e-5, f64::sin),
        one(floats::approx_cos, small, 1e-5, f64::cos),
        one(floats::approx_ex2, around_zero, 4.0 * ulp, f64::exp2),
        one(floats::approx_lg2, positive, 4.0 * ulp, f64::log2),
        one(floats::approx_exp, around_zero, 16.0 * ulp, f64::exp),
        one(floats::approx_ln, positive, 4.0 * ulp, f64::ln),
        one(floats::approx_tanh, around_zero, 1e-3, f64::tanh),
        two(floats::approx_div, (around_zero, positive), 4.0 * ulp, |a, b| a / b),
        two(floats::approx_div_full, (around_zero, positive), 4.0 * ulp, |a, b| a / b),
    ]
}

fn conversions() -> Vec<Launch> {
    let halves = per_thread(|tid| f16::from_f64(around_zero(tid)).to_bits());
    let brains = per_thread(|tid| bf16::from_f64(around_zero(tid)).to_bits());
    let singles = per_thread(|tid| (around_zero(tid) * 1.000_1) as f32);
    let of_halves: Vec<f32> = halves.iter().map(|&bits| f16::from_bits(bits).to_f32()).collect();
    let of_brains: Vec<f32> = brains.iter().map(|&bits| bf16::from_bits(bits).to_f32()).collect();
    let to_halves: Vec<u16> = singles.iter().map(|&x| f16::from_f32(x).to_bits()).collect();
    let to_brains: Vec<u16> = singles.iter().map(|&x| bf16::from_f32(x).to_bits()).collect();
    vec![
        Launch::of(floats::f16_to_f32).reads(&halves).writes(&of_halves),
        Launch::of(floats::f32_to_f16).reads(&singles).writes(&to_halves),
        Launch::of(floats::bf16_to_f32).reads(&brains).writes(&of_brains),
        Launch::of(floats::f32_to_bf16).reads(&singles).writes(&to_brains),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a published value to the given number of digits.
    #[track_caller]
    fn published(value: f64, expected: f64, tolerance: f64) {
        let error = (value - expected).abs();
        assert!(error <= tolerance * expected.abs(), "{value} instead of {expected}");
    }

    /// Source: NIST Digital Library of Mathematical Functions and tables of the normal distribution.
    #[test]
    fn special_functions_have_their_published_values() {
        published(1.0.error_function(), 0.842_700_792_949_714_9, 1e-15);
        published(2.0.complementary_error_function(), 0.004_677_734_981_047_266, 1e-14);
        published(0.975.inv_norm_cdf(), 1.959_963_984_540_054, 1e-14);
        published(1e-10.inv_norm_cdf(), -6.361_340_902_404_056, 1e-13);
        published(1.0.norm_cdf(), 0.841_344_746_068_542_9, 1e-15);
        published(0.5.inv_complementary_error_function(), 0.476_936_276_204_469_9, 1e-14);
        published(1.5.inv_complementary_error_function(), -0.476_936_276_204_469_9, 1e-14);
        published(10.0.scaled_complementary_error_function(), 0.056_140_992_743_822_6, 1e-12);
        published(30.0.scaled_complementary_error_function(), 0.018_795_888_861_416_75, 1e-13);
        published(2.0.j0(), 0.223_890_779_141_235_67, 1e-14);
        published(2.0.y1(), -0.107_032_431_540_937_55, 1e-14);
        published(0.5_f64.sinpi(), 1.0, 0.0);
        published(1.0_f64.cospi(), -1.0, 0.0);
        published((1.0_f64 / 6.0).sinpi(), 0.5, 1e-15);
        published((1.0_f64 / 3.0).cospi(), 0.5, 1e-15);
        published(FloatExt::gamma(5.0_f64), 24.0, 1e-15);
        assert_eq!(0.0_f64.inv_norm_cdf(), f64::NEG_INFINITY);
        assert_eq!(1.0_f64.inv_norm_cdf(), f64::INFINITY);
        assert!(2.0_f64.inv_norm_cdf().is_nan());
        assert_eq!(1.5_f64.cospi(), 0.0);
        assert_eq!((-0.5_f64).sinpi(), -1.0);
    }
}
