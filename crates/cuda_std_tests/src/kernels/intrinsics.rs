//! Kernels for `cuda_std::intrinsics`: each stores what all functions of one signature make of its thread's elements.

use cuda_std::{intrinsics, kernel, thread};

/// Declares kernels, and with each the names of its functions and the functions themselves.
macro_rules! tables {
    ($($kernel:ident $names:ident $functions:ident: fn $kinds:tt -> $result:ident { $($name:ident)* })*) => {
        $(
            pub const $names: &[&str] = &[$(stringify!($name)),*];

            tables!(@kernel $kernel $names $functions $kinds $result $($name)*);
        )*
    };
    (@kernel $kernel:ident $names:ident $functions:ident ($a:ident) $result:ident $($name:ident)*) => {
        tables!(@function $functions ($a) $result $($name)*);

        #[kernel]
        pub unsafe fn $kernel(a: *const $a, target: *mut $result) {
            let tid = thread::thread_idx_x() as usize;
            // SAFETY: the launch contract of the module, and a target of so many elements for each thread.
            unsafe {
                let (a, target) = (*a.add(tid), target.add(tid * $names.len()));
                store(target, [$(intrinsics::$name(a)),*]);
            }
        }
    };
    (@kernel $kernel:ident $names:ident $functions:ident ($a:ident, $b:ident) $result:ident $($name:ident)*) => {
        tables!(@function $functions ($a, $b) $result $($name)*);

        #[kernel]
        pub unsafe fn $kernel(a: *const $a, b: *const $b, target: *mut $result) {
            let tid = thread::thread_idx_x() as usize;
            // SAFETY: the launch contract of the module, and a target of so many elements for each thread.
            unsafe {
                let (a, b, target) = (*a.add(tid), *b.add(tid), target.add(tid * $names.len()));
                store(target, [$(intrinsics::$name(a, b)),*]);
            }
        }
    };
    (@kernel $kernel:ident $names:ident $functions:ident ($a:ident, $b:ident, $c:ident) $result:ident
        $($name:ident)*) => {
        tables!(@function $functions ($a, $b, $c) $result $($name)*);

        #[kernel]
        pub unsafe fn $kernel(a: *const $a, b: *const $b, c: *const $c, target: *mut $result) {
            let tid = thread::thread_idx_x() as usize;
            // SAFETY: the launch contract of the module, and a target of so many elements for each thread.
            unsafe {
                let (a, b, c) = (*a.add(tid), *b.add(tid), *c.add(tid));
                store(target.add(tid * $names.len()), [$(intrinsics::$name(a, b, c)),*]);
            }
        }
    };
    (@function $functions:ident $kinds:tt $result:ident $($name:ident)*) => {
        #[doc = "The functions themselves, on the host."]
        #[cfg(not(target_arch = "nvptx64"))]
        pub const $functions: &[unsafe fn $kinds -> $result] = &[$(intrinsics::$name),*];
    };
}

/// Stores results one after the other, each NaN as the same: NVIDIA's assembler decides whether a negation is of the sign.
///
/// # Safety
/// - The target is valid for so many elements.
unsafe fn store<T: Copy + PartialEq + Nan, const N: usize>(target: *mut T, results: [T; N]) {
    for (place, result) in results.into_iter().enumerate() {
        #[allow(clippy::eq_op, reason = "a NaN is not equal to itself")]
        let result = if result == result { result } else { T::NAN };
        // SAFETY: by the contract.
        unsafe { target.add(place).write(result) };
    }
}

/// The number that stands for those that are none.
trait Nan {
    const NAN: Self;
}

macro_rules! nan {
    ($($kind:ident = $nan:expr;)*) => {
        $(impl Nan for $kind {
            const NAN: Self = $nan;
        })*
    };
}
nan! { f32 = f32::NAN; f64 = f64::NAN; i16 = 0; i32 = 0; i64 = 0; }

tables! {
    intrinsics_plain_i32_to_i32 PLAIN_I32_TO_I32 PLAIN_I32_TO_I32_FUNCTIONS: fn(i32) -> i32 {
        abs brev clz ffs popc
    }
    intrinsics_plain_f64_to_f64 PLAIN_F64_TO_F64 PLAIN_F64_TO_F64_FUNCTIONS: fn(f64) -> f64 {
        acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc erfcinv erfcx erfinv exp exp10 exp2
        expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf normcdfinv rcbrt rint round
        rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1
    }
    intrinsics_plain_f32_to_f32 PLAIN_F32_TO_F32 PLAIN_F32_TO_F32_FUNCTIONS: fn(f32) -> f32 {
        acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif erfcf erfcinvf erfcxf erff
        erfinvf exp10f exp2f expf expm1f fabsf floorf frsqrt_rn j0f j1f lgammaf log10f log1pf log2f logbf logf
        nearbyintf normcdff normcdfinvf rcbrtf rintf roundf saturatef sinf sinhf sinpif sqrtf tanf tanhf
        tgammaf truncf y0f y1f
    }
    intrinsics_plain_2_f64_to_f64 PLAIN_2_F64_TO_F64 PLAIN_2_F64_TO_F64_FUNCTIONS: fn(f64, f64) -> f64 {
        atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder
    }
    intrinsics_plain_2_f32_to_f32 PLAIN_2_F32_TO_F32 PLAIN_2_F32_TO_F32_FUNCTIONS: fn(f32, f32) -> f32 {
        atan2f copysignf fdimf fmaxf fminf fmodf hypotf nextafterf powf remainderf
    }
    intrinsics_plain_i64_to_i64 PLAIN_I64_TO_I64 PLAIN_I64_TO_I64_FUNCTIONS: fn(i64) -> i64 {
        brevll llabs
    }
    intrinsics_plain_3_i32_to_i32 PLAIN_3_I32_TO_I32 PLAIN_3_I32_TO_I32_FUNCTIONS: fn(i32, i32, i32) -> i32 {
        byte_perm sad usad
    }
    intrinsics_plain_i64_to_i32 PLAIN_I64_TO_I32 PLAIN_I64_TO_I32_FUNCTIONS: fn(i64) -> i32 {
        clzll ffsll popcll
    }
    intrinsics_directed_2_f64_to_f64 DIRECTED_2_F64_TO_F64 DIRECTED_2_F64_TO_F64_FUNCTIONS: fn(f64, f64) -> f64 {
        dadd_rd dadd_rn dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz dmul_rd dmul_rn dmul_ru dmul_rz
    }
    intrinsics_directed_f64_to_f32 DIRECTED_F64_TO_F32 DIRECTED_F64_TO_F32_FUNCTIONS: fn(f64) -> f32 {
        double2float_rd double2float_rn double2float_ru double2float_rz
    }
    intrinsics_plain_f64_to_i32 PLAIN_F64_TO_I32 PLAIN_F64_TO_I32_FUNCTIONS: fn(f64) -> i32 {
        double2hiint double2loint ilogb isfinited isinfd isnand signbitd
    }
    intrinsics_directed_f64_to_i32 DIRECTED_F64_TO_I32 DIRECTED_F64_TO_I32_FUNCTIONS: fn(f64) -> i32 {
        double2int_rd double2int_rn double2int_ru double2int_rz double2uint_rd double2uint_rn double2uint_ru
        double2uint_rz
    }
    intrinsics_directed_f64_to_i64 DIRECTED_F64_TO_I64 DIRECTED_F64_TO_I64_FUNCTIONS: fn(f64) -> i64 {
        double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn double2ull_ru
        double2ull_rz
    }
    intrinsics_plain_f64_to_i64 PLAIN_F64_TO_I64 PLAIN_F64_TO_I64_FUNCTIONS: fn(f64) -> i64 {
        double_as_longlong llrint llround
    }
    intrinsics_directed_f64_to_f64 DIRECTED_F64_TO_F64 DIRECTED_F64_TO_F64_FUNCTIONS: fn(f64) -> f64 {
        drcp_rd drcp_rn drcp_ru drcp_rz dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz
    }
    intrinsics_directed_2_f32_to_f32 DIRECTED_2_F32_TO_F32 DIRECTED_2_F32_TO_F32_FUNCTIONS: fn(f32, f32) -> f32 {
        fadd_rd fadd_rn fadd_ru fadd_rz fdiv_rd fdiv_rn fdiv_ru fdiv_rz fmul_rd fmul_rn fmul_ru fmul_rz
        fsub_rd fsub_rn fsub_ru fsub_rz
    }
    intrinsics_fast_f32_to_f32 FAST_F32_TO_F32 FAST_F32_TO_F32_FUNCTIONS: fn(f32) -> f32 {
        fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf rsqrtf
    }
    intrinsics_fast_2_f32_to_f32 FAST_2_F32_TO_F32 FAST_2_F32_TO_F32_FUNCTIONS: fn(f32, f32) -> f32 {
        fast_fdividef fast_powf
    }
    intrinsics_plain_f32_to_i32 PLAIN_F32_TO_I32 PLAIN_F32_TO_I32_FUNCTIONS: fn(f32) -> i32 {
        finitef float_as_int ilogbf isinff isnanf signbitf
    }
    intrinsics_plain_f32_to_i16 PLAIN_F32_TO_I16 PLAIN_F32_TO_I16_FUNCTIONS: fn(f32) -> i16 {
        float2half_rn
    }
    intrinsics_directed_f32_to_i32 DIRECTED_F32_TO_I32 DIRECTED_F32_TO_I32_FUNCTIONS: fn(f32) -> i32 {
        float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd float2uint_rn float2uint_ru
        float2uint_rz
    }
    intrinsics_directed_f32_to_i64 DIRECTED_F32_TO_I64 DIRECTED_F32_TO_I64_FUNCTIONS: fn(f32) -> i64 {
        float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn float2ull_ru float2ull_rz
    }
    intrinsics_plain_3_f64_to_f64 PLAIN_3_F64_TO_F64 PLAIN_3_F64_TO_F64_FUNCTIONS: fn(f64, f64, f64) -> f64 {
        fma
    }
    intrinsics_directed_3_f64_to_f64 DIRECTED_3_F64_TO_F64 DIRECTED_3_F64_TO_F64_FUNCTIONS: fn(f64, f64, f64) -> f64 {
        fma_rd fma_rn fma_ru fma_rz
    }
    intrinsics_plain_3_f32_to_f32 PLAIN_3_F32_TO_F32 PLAIN_3_F32_TO_F32_FUNCTIONS: fn(f32, f32, f32) -> f32 {
        fmaf
    }
    intrinsics_directed_3_f32_to_f32 DIRECTED_3_F32_TO_F32 DIRECTED_3_F32_TO_F32_FUNCTIONS: fn(f32, f32, f32) -> f32 {
        fmaf_rd fmaf_rn fmaf_ru fmaf_rz
    }
    intrinsics_directed_f32_to_f32 DIRECTED_F32_TO_F32 DIRECTED_F32_TO_F32_FUNCTIONS: fn(f32) -> f32 {
        frcp_rd frcp_rn frcp_ru frcp_rz fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz
    }
    intrinsics_plain_2_i32_to_i32 PLAIN_2_I32_TO_I32 PLAIN_2_I32_TO_I32_FUNCTIONS: fn(i32, i32) -> i32 {
        hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd
    }
    intrinsics_plain_i16_to_f32 PLAIN_I16_TO_F32 PLAIN_I16_TO_F32_FUNCTIONS: fn(i16) -> f32 {
        half2float
    }
    intrinsics_plain_2_i32_to_f64 PLAIN_2_I32_TO_F64 PLAIN_2_I32_TO_F64_FUNCTIONS: fn(i32, i32) -> f64 {
        hiloint2double
    }
    intrinsics_plain_i32_to_f64 PLAIN_I32_TO_F64 PLAIN_I32_TO_F64_FUNCTIONS: fn(i32) -> f64 {
        int2double_rn uint2double_rn
    }
    intrinsics_directed_i32_to_f32 DIRECTED_I32_TO_F32 DIRECTED_I32_TO_F32_FUNCTIONS: fn(i32) -> f32 {
        int2float_rd int2float_rn int2float_ru int2float_rz uint2float_rd uint2float_rn uint2float_ru
        uint2float_rz
    }
    intrinsics_plain_i32_to_f32 PLAIN_I32_TO_F32 PLAIN_I32_TO_F32_FUNCTIONS: fn(i32) -> f32 {
        int_as_float
    }
    intrinsics_plain_i32_f64_to_f64 PLAIN_I32_F64_TO_F64 PLAIN_I32_F64_TO_F64_FUNCTIONS: fn(i32, f64) -> f64 {
        jn yn
    }
    intrinsics_plain_i32_f32_to_f32 PLAIN_I32_F32_TO_F32 PLAIN_I32_F32_TO_F32_FUNCTIONS: fn(i32, f32) -> f32 {
        jnf ynf
    }
    intrinsics_plain_f64_i32_to_f64 PLAIN_F64_I32_TO_F64 PLAIN_F64_I32_TO_F64_FUNCTIONS: fn(f64, i32) -> f64 {
        ldexp powi scalbn
    }
    intrinsics_plain_f32_i32_to_f32 PLAIN_F32_I32_TO_F32 PLAIN_F32_I32_TO_F32_FUNCTIONS: fn(f32, i32) -> f32 {
        ldexpf powif scalbnf
    }
    intrinsics_directed_i64_to_f64 DIRECTED_I64_TO_F64 DIRECTED_I64_TO_F64_FUNCTIONS: fn(i64) -> f64 {
        ll2double_rd ll2double_rn ll2double_ru ll2double_rz ull2double_rd ull2double_rn ull2double_ru
        ull2double_rz
    }
    intrinsics_directed_i64_to_f32 DIRECTED_I64_TO_F32 DIRECTED_I64_TO_F32_FUNCTIONS: fn(i64) -> f32 {
        ll2float_rd ll2float_rn ll2float_ru ll2float_rz ull2float_rd ull2float_rn ull2float_ru ull2float_rz
    }
    intrinsics_plain_2_i64_to_i64 PLAIN_2_I64_TO_I64 PLAIN_2_I64_TO_I64_FUNCTIONS: fn(i64, i64) -> i64 {
        llmax llmin mul64hi ullmax ullmin umul64hi
    }
    intrinsics_plain_f32_to_i64 PLAIN_F32_TO_I64 PLAIN_F32_TO_I64_FUNCTIONS: fn(f32) -> i64 {
        llrintf llroundf
    }
    intrinsics_plain_i64_to_f64 PLAIN_I64_TO_F64 PLAIN_I64_TO_F64_FUNCTIONS: fn(i64) -> f64 {
        longlong_as_double
    }
}

/// Stores the results of the functions with pointers: of the thread's element `a` with `b`, and what is behind the pointers.
#[kernel]
pub unsafe fn intrinsics_pointers(a: *const f64, b: *const f64, target: *mut f64) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module, and a target of [`POINTER_RESULTS`] elements for each thread.
    unsafe {
        let results = with_pointers(*a.add(tid), *b.add(tid));
        store(target.add(tid * POINTER_RESULTS), results);
    }
}

/// The results of [`with_pointers`].
pub const POINTER_RESULTS: usize = 24;

/// The results of the functions with pointers, and what is behind these; those of the special function unit last.
#[must_use]
#[inline]
pub fn with_pointers(a: f64, b: f64) -> [f64; POINTER_RESULTS] {
    let (single, other) = (a as f32, b as f32);
    let (mut exponent, mut exponent_f, mut quotient, mut quotient_f) = (0, 0, 0, 0);
    let (mut whole, mut sine, mut cosine, mut sine_pi, mut cosine_pi) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut whole_f, mut sine_f, mut cosine_f, mut sine_pi_f, mut cosine_pi_f) =
        (0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut fast_sine, mut fast_cosine) = (0.0, 0.0);
    // SAFETY: each pointer is that of a local.
    let results = unsafe {
        intrinsics::sincos(a, &mut sine, &mut cosine);
        intrinsics::sincosf(single, &mut sine_f, &mut cosine_f);
        intrinsics::sincospi(a, &mut sine_pi, &mut cosine_pi);
        intrinsics::sincospif(single, &mut sine_pi_f, &mut cosine_pi_f);
        intrinsics::fast_sincosf(single, &mut fast_sine, &mut fast_cosine);
        [
            intrinsics::frexp(a, &mut exponent),
            f64::from(intrinsics::frexpf(single, &mut exponent_f)),
            intrinsics::modf(a, &mut whole),
            f64::from(intrinsics::modff(single, &mut whole_f)),
            intrinsics::remquo(a, b, &mut quotient),
            f64::from(intrinsics::remquof(single, other, &mut quotient_f)),
            intrinsics::nan(core::ptr::null_mut()),
            f64::from(intrinsics::nanf(core::ptr::null_mut())),
        ]
    };
    let [frexp, frexpf, modf, modff, remquo, remquof, nan, nanf] = results;
    [
        frexp,
        f64::from(exponent),
        frexpf,
        f64::from(exponent_f),
        modf,
        whole,
        modff,
        f64::from(whole_f),
        remquo,
        f64::from(quotient),
        remquof,
        f64::from(quotient_f),
        nan,
        nanf,
        sine,
        cosine,
        f64::from(sine_f),
        f64::from(cosine_f),
        sine_pi,
        cosine_pi,
        f64::from(sine_pi_f),
        f64::from(cosine_pi_f),
        f64::from(fast_sine),
        f64::from(fast_cosine),
    ]
}
