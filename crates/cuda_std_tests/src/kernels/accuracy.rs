//! The largest error of each function of an `f32` that is no instruction.

use cuda_std::atomic::mid::atomic_fetch_max_u64_device;
use cuda_std::{intrinsics, kernel, thread};

/// Returns how many floats lie between two, and one more; `u32::MAX` where one alone is a NaN.
fn distance(one: f32, other: f32) -> u32 {
    // Floats in order, from the lowest to the highest.
    let place = |number: f32| {
        let bits = number.to_bits();
        if bits >> 31 == 0 { bits | 1 << 31 } else { (!bits).wrapping_add(1) }
    };
    if one.is_nan() || other.is_nan() {
        return if one.is_nan() && other.is_nan() { 0 } else { u32::MAX };
    }
    place(one).abs_diff(place(other))
}

/// Declares kernels that compare a function of `f32` with that of `f64`, and the list of their names.
macro_rules! accuracies {
    ($($kernel:ident: $single:ident $double:ident, $cuda:literal;)*) => {
        /// Of each function its kernel, and the error that CUDA's documentation has, in units of the last place (CUDA C++
        /// Programming Guide, "Mathematical Functions").
        #[cfg(not(target_arch = "nvptx64"))]
        pub const FUNCTIONS: &[(&str, &str, &str)] =
            &[$((stringify!($single), stringify!($kernel), $cuda)),*];

        $(
            #[doc = concat!("Raises `worst` to the largest distance of `", stringify!($single), "` from the rounded `",
                stringify!($double), "`, with the input in the lower half: over `count` inputs whose bits are `step` apart.")]
            #[kernel(min_compute_capability = 90)]
            pub unsafe fn $kernel(step: u32, count: u64, worst: *mut u64) {
                let threads = u64::from(thread::grid_dim_x()) * u64::from(thread::block_dim_x());
                let mut index = u64::from(thread::index_1d());
                let mut found = 0;
                while index < count {
                    let bits = (index as u32).wrapping_mul(step);
                    let x = f32::from_bits(bits);
                    // SAFETY: functions without pointers ask for nothing.
                    let (single, double) = unsafe { (intrinsics::$single(x), intrinsics::$double(f64::from(x))) };
                    found = found.max(u64::from(distance(single, double as f32)) << 32 | u64::from(bits));
                    index += threads;
                }
                // SAFETY: the launch contract: one number.
                unsafe { atomic_fetch_max_u64_device(worst, core::sync::atomic::Ordering::Relaxed, found) };
            }
        )*
    };
}

accuracies! {
    accuracy_acosf: acosf acos, "2";
    accuracy_acoshf: acoshf acosh, "4";
    accuracy_asinf: asinf asin, "2";
    accuracy_asinhf: asinhf asinh, "3";
    accuracy_atanf: atanf atan, "2";
    accuracy_atanhf: atanhf atanh, "3";
    accuracy_cbrtf: cbrtf cbrt, "1";
    accuracy_cosf: cosf cos, "2";
    accuracy_coshf: coshf cosh, "2";
    accuracy_cospif: cospif cospi, "1";
    accuracy_erff: erff erf, "2";
    accuracy_erfcf: erfcf erfc, "4";
    accuracy_erfcinvf: erfcinvf erfcinv, "4";
    accuracy_erfcxf: erfcxf erfcx, "4";
    accuracy_erfinvf: erfinvf erfinv, "2";
    accuracy_expf: expf exp, "2";
    accuracy_exp10f: exp10f exp10, "2";
    accuracy_exp2f: exp2f exp2, "2";
    accuracy_expm1f: expm1f expm1, "1";
    accuracy_j0f: j0f j0, "9 up to 8, beyond 2.2e-6 absolute";
    accuracy_j1f: j1f j1, "9 up to 8, beyond 2.2e-6 absolute";
    accuracy_lgammaf: lgammaf lgamma, "6 outside of -10.001 to -2.264";
    accuracy_logf: logf log, "1";
    accuracy_log10f: log10f log10, "2";
    accuracy_log1pf: log1pf log1p, "1";
    accuracy_log2f: log2f log2, "1";
    accuracy_normcdff: normcdff normcdf, "5";
    accuracy_normcdfinvf: normcdfinvf normcdfinv, "5";
    accuracy_rcbrtf: rcbrtf rcbrt, "1";
    accuracy_rsqrtf: rsqrtf rsqrt, "2";
    accuracy_frsqrt_rn: frsqrt_rn rsqrt, "0";
    accuracy_sinf: sinf sin, "2";
    accuracy_sinhf: sinhf sinh, "3";
    accuracy_sinpif: sinpif sinpi, "1";
    accuracy_tanf: tanf tan, "4";
    accuracy_tanhf: tanhf tanh, "2";
    accuracy_tgammaf: tgammaf tgamma, "5";
    accuracy_y0f: y0f y0, "9 up to 8, beyond 2.2e-6 absolute";
    accuracy_y1f: y1f y1, "9 up to 8, beyond 2.2e-6 absolute";
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn a_distance_counts_floats() {
        assert_eq!(distance(1.0, 1.0), 0);
        assert_eq!(distance(1.0, 1.0_f32.next_up()), 1);
        assert_eq!(distance(0.0, -0.0), 0);
        assert_eq!(distance(f32::from_bits(1), -f32::from_bits(1)), 2);
        assert_eq!(distance(f32::MAX, f32::INFINITY), 1);
        assert_eq!(distance(f32::NAN, 1.0), u32::MAX);
        assert_eq!(distance(f32::NAN, -f32::NAN), 0);
    }
}
