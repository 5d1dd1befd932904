use cuda_std::float::{FloatExt, GpuFloat, approx, convert};
use cuda_std::{bf16, f16, kernel, thread};

/// Declares kernels that store a function of the thread's element.
macro_rules! of_one {
    ($($(#[$attribute:meta])* $name:ident($value:ident: $kind:ty) -> $result:ty { $body:expr })*) => {
        $(
            $(#[$attribute])*
            pub unsafe fn $name(source: *const $kind, target: *mut $result) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module.
                unsafe {
                    let $value = *source.add(tid);
                    *target.add(tid) = $body;
                }
            }
        )*
    };
}

/// Declares kernels that store a function of the elements of two buffers.
macro_rules! of_two {
    ($($name:ident($left:ident, $right:ident: $kind:ty) { $body:expr })*) => {
        $(
            #[kernel]
            pub unsafe fn $name(left: *const $kind, right: *const $kind, target: *mut $kind) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module.
                unsafe {
                    let ($left, $right) = (*left.add(tid), *right.add(tid));
                    *target.add(tid) = $body;
                }
            }
        )*
    };
}

of_one! {
    #[kernel] floor_f32(x: f32) -> f32 { GpuFloat::floor(x) }
    #[kernel] ceil_f32(x: f32) -> f32 { GpuFloat::ceil(x) }
    #[kernel] round_f32(x: f32) -> f32 { GpuFloat::round(x) }
    #[kernel] trunc_f32(x: f32) -> f32 { GpuFloat::trunc(x) }
    #[kernel] fract_f32(x: f32) -> f32 { GpuFloat::fract(x) }
    #[kernel] abs_f32(x: f32) -> f32 { GpuFloat::abs(x) }
    #[kernel] signum_f32(x: f32) -> f32 { GpuFloat::signum(x) }
    #[kernel] powi_f32(x: f32) -> f32 { GpuFloat::powi(x, 5) }
    #[kernel] sqrt_f32(x: f32) -> f32 { GpuFloat::sqrt(GpuFloat::abs(x)) }
    #[kernel] exp_f32(x: f32) -> f32 { GpuFloat::exp(x) }
    #[kernel] exp2_f32(x: f32) -> f32 { GpuFloat::exp2(x) }
    #[kernel] ln_f32(x: f32) -> f32 { GpuFloat::ln(x) }
    #[kernel] log_f32(x: f32) -> f32 { GpuFloat::log(x, 3.0) }
    #[kernel] log2_f32(x: f32) -> f32 { GpuFloat::log2(x) }
    #[kernel] log10_f32(x: f32) -> f32 { GpuFloat::log10(x) }
    #[kernel] cbrt_f32(x: f32) -> f32 { GpuFloat::cbrt(x) }
    #[kernel] sin_f32(x: f32) -> f32 { GpuFloat::sin(x) }
    #[kernel] cos_f32(x: f32) -> f32 { GpuFloat::cos(x) }
    #[kernel] tan_f32(x: f32) -> f32 { GpuFloat::tan(x) }
    #[kernel] asin_f32(x: f32) -> f32 { GpuFloat::asin(x) }
    #[kernel] acos_f32(x: f32) -> f32 { GpuFloat::acos(x) }
    #[kernel] atan_f32(x: f32) -> f32 { GpuFloat::atan(x) }
    #[kernel] sin_cos_f32(x: f32) -> f32 { { let (s, c) = GpuFloat::sin_cos(x); s + c } }
    #[kernel] exp_m1_f32(x: f32) -> f32 { GpuFloat::exp_m1(x) }
    #[kernel] ln_1p_f32(x: f32) -> f32 { GpuFloat::ln_1p(x) }
    #[kernel] sinh_f32(x: f32) -> f32 { GpuFloat::sinh(x) }
    #[kernel] cosh_f32(x: f32) -> f32 { GpuFloat::cosh(x) }
    #[kernel] tanh_f32(x: f32) -> f32 { GpuFloat::tanh(x) }
    #[kernel] asinh_f32(x: f32) -> f32 { GpuFloat::asinh(x) }
    #[kernel] acosh_f32(x: f32) -> f32 { GpuFloat::acosh(1.0 + GpuFloat::abs(x)) }
    #[kernel] atanh_f32(x: f32) -> f32 { GpuFloat::atanh(x) }

    #[kernel] floor_f64(x: f64) -> f64 { GpuFloat::floor(x) }
    #[kernel] ceil_f64(x: f64) -> f64 { GpuFloat::ceil(x) }
    #[kernel] round_f64(x: f64) -> f64 { GpuFloat::round(x) }
    #[kernel] trunc_f64(x: f64) -> f64 { GpuFloat::trunc(x) }
    #[kernel] abs_f64(x: f64) -> f64 { GpuFloat::abs(x) }
    #[kernel] sqrt_f64(x: f64) -> f64 { GpuFloat::sqrt(GpuFloat::abs(x)) }
    #[kernel] exp_f64(x: f64) -> f64 { GpuFloat::exp(x) }
    #[kernel] ln_f64(x: f64) -> f64 { GpuFloat::ln(x) }
    #[kernel] log2_f64(x: f64) -> f64 { GpuFloat::log2(x) }
    #[kernel] sin_f64(x: f64) -> f64 { GpuFloat::sin(x) }
    #[kernel] cos_f64(x: f64) -> f64 { GpuFloat::cos(x) }
    #[kernel] tanh_f64(x: f64) -> f64 { GpuFloat::tanh(x) }

    #[kernel] cospi_f32(x: f32) -> f32 { x.cospi() }
    #[kernel] sinpi_f32(x: f32) -> f32 { x.sinpi() }
    #[kernel] sincospi_f64(x: f64) -> f64 { { let (s, c) = x.sincospi(); s + 2.0 * c } }
    #[kernel] error_function_f32(x: f32) -> f32 { x.error_function() }
    #[kernel] complementary_error_function_f64(x: f64) -> f64 { x.complementary_error_function() }
    #[kernel] inv_complementary_error_function_f32(x: f32) -> f32 {
        x.inv_complementary_error_function()
    }
    #[kernel] scaled_complementary_error_function_f64(x: f64) -> f64 {
        x.scaled_complementary_error_function()
    }
    #[kernel] frexp_f32(x: f32) -> f32 { { let (m, e) = FloatExt::frexp(x); m + 8.0 * e as f32 } }
    #[kernel] unbiased_exp_f64(x: f64) -> f64 { f64::from(x.unbiased_exp()) }
    #[kernel] bessel_first_f64(x: f64) -> f64 { x.j0() + 2.0 * x.j1() + 4.0 * x.jn(3) }
    #[kernel] bessel_second_f64(x: f64) -> f64 { x.y0() + 2.0 * x.y1() + 4.0 * x.yn(3) }
    #[kernel] ldexp_f32(x: f32) -> f32 { FloatExt::ldexp(x, 3) }
    #[kernel] scale_by_n_f64(x: f64) -> f64 { x.scale_by_n(-3) }
    #[kernel] log_gamma_f32(x: f32) -> f32 { x.log_gamma() }
    #[kernel] gamma_f32(x: f32) -> f32 { FloatExt::gamma(x) }
    #[kernel] log1p_f64(x: f64) -> f64 { x.log1p() }
    #[kernel] norm_cdf_f32(x: f32) -> f32 { x.norm_cdf() }
    #[kernel] inv_norm_cdf_f64(x: f64) -> f64 { x.inv_norm_cdf() }
    #[kernel] rcbrt_f32(x: f32) -> f32 { x.rcbrt() }
    #[kernel] saturate_f32(x: f32) -> f32 { x.saturate() }

    #[kernel] approx_rsqrt(x: f32) -> f32 { approx::rsqrt(x) }
    #[kernel] approx_rsqrt_ftz(x: f32) -> f32 { approx::rsqrt_ftz(x) }
    #[kernel] approx_rsqrt_f64(x: f64) -> f64 { approx::rsqrt_f64(x) }
    #[kernel] approx_sqrt(x: f32) -> f32 { approx::sqrt(x) }
    #[kernel] approx_rcp(x: f32) -> f32 { approx::rcp(x) }
    #[kernel] approx_rcp_ftz(x: f32) -> f32 { approx::rcp_ftz(x) }
    #[kernel] approx_sin(x: f32) -> f32 { approx::sin(x) }
    #[kernel] approx_cos(x: f32) -> f32 { approx::cos(x) }
    #[kernel] approx_ex2(x: f32) -> f32 { approx::ex2(x) }
    #[kernel] approx_lg2(x: f32) -> f32 { approx::lg2(x) }
    #[kernel] approx_exp(x: f32) -> f32 { approx::exp(x) }
    #[kernel] approx_ln(x: f32) -> f32 { approx::ln(x) }
    #[kernel(min_compute_capability = 75)] approx_tanh(x: f32) -> f32 { approx::tanh(x) }

    #[kernel] f16_to_f32(x: f16) -> f32 { convert::f16_to_f32(x) }
    #[kernel] f32_to_f16(x: f32) -> f16 { convert::f32_to_f16(x) }
    #[kernel] bf16_to_f32(x: bf16) -> f32 { convert::bf16_to_f32(x) }
    #[kernel(min_compute_capability = 80)] f32_to_bf16(x: f32) -> bf16 { convert::f32_to_bf16(x) }
}

of_two! {
    copysign_f32(a, b: f32) { GpuFloat::copysign(a, b) }
    mul_add_f32(a, b: f32) { GpuFloat::mul_add(a, b, 1.5) }
    mul_add_f64(a, b: f64) { GpuFloat::mul_add(a, b, 1.5) }
    div_euclid_f32(a, b: f32) { GpuFloat::div_euclid(a, b) }
    rem_euclid_f32(a, b: f32) { GpuFloat::rem_euclid(a, b) }
    powf_f32(a, b: f32) { GpuFloat::powf(GpuFloat::abs(a), b) }
    hypot_f32(a, b: f32) { GpuFloat::hypot(a, b) }
    atan2_f32(a, b: f32) { GpuFloat::atan2(a, b) }
    atan2_f64(a, b: f64) { GpuFloat::atan2(a, b) }
    remainder_f32(a, b: f32) { a % b }
    remainder_f64(a, b: f64) { a % b }
    approx_div(a, b: f32) { approx::div(a, b) }
    approx_div_full(a, b: f32) { approx::div_full(a, b) }
}
