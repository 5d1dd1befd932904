//! Each public item of rust-cuda's `cuda_std` and `cuda_builder` that is here, used as its signature there says.
//! Written by `cargo xtask upstream CHECKOUT --api`.
#![allow(unused_unsafe, unused_imports, dead_code, unreachable_code, deprecated, clippy::all, clippy::pedantic)]
#![allow(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc, clippy::allow_attributes_without_reason)]
use core::ffi::c_void;
use core::sync::atomic::Ordering;
use cuda_builder::*;
use cuda_std::glam::{self, UVec2, UVec3};
use cuda_std::{atomic::*, float::*, mem::*, ptr::*, warp::*, *};
use std::path::{Path, PathBuf};
fn _u0<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::floor(a0) } }
fn _u1<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::ceil(a0) } }
fn _u2<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::round(a0) } }
fn _u3<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::trunc(a0) } }
fn _u4<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::fract(a0) } }
fn _u5<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::abs(a0) } }
fn _u6<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::signum(a0) } }
fn _u7<O: cuda_std::float::GpuFloat>(a0: O, a1: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::copysign(a0, a1) } }
fn _u8<O: cuda_std::float::GpuFloat>(a0: O, a1: O, a2: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::mul_add(a0, a1, a2) } }
fn _u9<O: cuda_std::float::GpuFloat>(a0: O, a1: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::div_euclid(a0, a1) } }
fn _u10<O: cuda_std::float::GpuFloat>(a0: O, a1: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::rem_euclid(a0, a1) } }
fn _u11<O: cuda_std::float::GpuFloat>(a0: O, a1: i32) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::powi(a0, a1) } }
fn _u12<O: cuda_std::float::GpuFloat>(a0: O, a1: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::powf(a0, a1) } }
fn _u13<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::sqrt(a0) } }
fn _u14<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::exp(a0) } }
fn _u15<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::exp2(a0) } }
fn _u16<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::ln(a0) } }
fn _u17<O: cuda_std::float::GpuFloat>(a0: O, a1: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::log(a0, a1) } }
fn _u18<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::log2(a0) } }
fn _u19<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::log10(a0) } }
fn _u20<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::cbrt(a0) } }
fn _u21<O: cuda_std::float::GpuFloat>(a0: O, a1: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::hypot(a0, a1) } }
fn _u22<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::sin(a0) } }
fn _u23<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::cos(a0) } }
fn _u24<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::tan(a0) } }
fn _u25<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::asin(a0) } }
fn _u26<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::acos(a0) } }
fn _u27<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::atan(a0) } }
fn _u28<O: cuda_std::float::GpuFloat>(a0: O, a1: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::atan2(a0, a1) } }
fn _u29<O: cuda_std::float::GpuFloat>(a0: O) -> (O , O)  { unsafe { <O as cuda_std::float::GpuFloat>::sin_cos(a0) } }
fn _u30<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::exp_m1(a0) } }
fn _u31<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::ln_1p(a0) } }
fn _u32<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::sinh(a0) } }
fn _u33<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::cosh(a0) } }
fn _u34<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::tanh(a0) } }
fn _u35<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::asinh(a0) } }
fn _u36<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::acosh(a0) } }
fn _u37<O: cuda_std::float::GpuFloat>(a0: O) -> O  { unsafe { <O as cuda_std::float::GpuFloat>::atanh(a0) } }
fn _u38<>(a0: i32) -> i32  { unsafe { cuda_std::intrinsics::abs(a0) } }
fn _u39<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::acos(a0) } }
fn _u40<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::acosf(a0) } }
fn _u41<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::acosh(a0) } }
fn _u42<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::acoshf(a0) } }
fn _u43<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::asin(a0) } }
fn _u44<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::asinf(a0) } }
fn _u45<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::asinh(a0) } }
fn _u46<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::asinhf(a0) } }
fn _u47<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::atan(a0) } }
fn _u48<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::atan2(a0, a1) } }
fn _u49<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::atan2f(a0, a1) } }
fn _u50<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::atanf(a0) } }
fn _u51<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::atanh(a0) } }
fn _u52<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::atanhf(a0) } }
fn _u53<>(a0: i32) -> i32  { unsafe { cuda_std::intrinsics::brev(a0) } }
fn _u54<>(a0: i64) -> i64  { unsafe { cuda_std::intrinsics::brevll(a0) } }
fn _u55<>(a0: i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::intrinsics::byte_perm(a0, a1, a2) } }
fn _u56<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::cbrt(a0) } }
fn _u57<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::cbrtf(a0) } }
fn _u58<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::ceil(a0) } }
fn _u59<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::ceilf(a0) } }
fn _u60<>(a0: i32) -> i32  { unsafe { cuda_std::intrinsics::clz(a0) } }
fn _u61<>(a0: i64) -> i32  { unsafe { cuda_std::intrinsics::clzll(a0) } }
fn _u62<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::copysign(a0, a1) } }
fn _u63<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::copysignf(a0, a1) } }
fn _u64<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::cos(a0) } }
fn _u65<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::cosf(a0) } }
fn _u66<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::cosh(a0) } }
fn _u67<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::coshf(a0) } }
fn _u68<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::cospi(a0) } }
fn _u69<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::cospif(a0) } }
fn _u70<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::dadd_rd(a0, a1) } }
fn _u71<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::dadd_rn(a0, a1) } }
fn _u72<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::dadd_ru(a0, a1) } }
fn _u73<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::dadd_rz(a0, a1) } }
fn _u74<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::ddiv_rd(a0, a1) } }
fn _u75<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::ddiv_rn(a0, a1) } }
fn _u76<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::ddiv_ru(a0, a1) } }
fn _u77<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::ddiv_rz(a0, a1) } }
fn _u78<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::dmul_rd(a0, a1) } }
fn _u79<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::dmul_rn(a0, a1) } }
fn _u80<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::dmul_ru(a0, a1) } }
fn _u81<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::dmul_rz(a0, a1) } }
fn _u82<>(a0: f64) -> f32  { unsafe { cuda_std::intrinsics::double2float_rd(a0) } }
fn _u83<>(a0: f64) -> f32  { unsafe { cuda_std::intrinsics::double2float_rn(a0) } }
fn _u84<>(a0: f64) -> f32  { unsafe { cuda_std::intrinsics::double2float_ru(a0) } }
fn _u85<>(a0: f64) -> f32  { unsafe { cuda_std::intrinsics::double2float_rz(a0) } }
fn _u86<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2hiint(a0) } }
fn _u87<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2int_rd(a0) } }
fn _u88<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2int_rn(a0) } }
fn _u89<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2int_ru(a0) } }
fn _u90<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2int_rz(a0) } }
fn _u91<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double2ll_rd(a0) } }
fn _u92<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double2ll_rn(a0) } }
fn _u93<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double2ll_ru(a0) } }
fn _u94<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double2ll_rz(a0) } }
fn _u95<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2loint(a0) } }
fn _u96<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2uint_rd(a0) } }
fn _u97<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2uint_rn(a0) } }
fn _u98<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2uint_ru(a0) } }
fn _u99<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::double2uint_rz(a0) } }
fn _u100<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double2ull_rd(a0) } }
fn _u101<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double2ull_rn(a0) } }
fn _u102<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double2ull_ru(a0) } }
fn _u103<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double2ull_rz(a0) } }
fn _u104<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::double_as_longlong(a0) } }
fn _u105<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::drcp_rd(a0) } }
fn _u106<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::drcp_rn(a0) } }
fn _u107<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::drcp_ru(a0) } }
fn _u108<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::drcp_rz(a0) } }
fn _u109<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::dsqrt_rd(a0) } }
fn _u110<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::dsqrt_rn(a0) } }
fn _u111<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::dsqrt_ru(a0) } }
fn _u112<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::dsqrt_rz(a0) } }
fn _u113<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::erf(a0) } }
fn _u114<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::erfc(a0) } }
fn _u115<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::erfcf(a0) } }
fn _u116<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::erfcinv(a0) } }
fn _u117<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::erfcinvf(a0) } }
fn _u118<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::erfcx(a0) } }
fn _u119<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::erfcxf(a0) } }
fn _u120<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::erff(a0) } }
fn _u121<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::erfinv(a0) } }
fn _u122<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::erfinvf(a0) } }
fn _u123<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::exp(a0) } }
fn _u124<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::exp10(a0) } }
fn _u125<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::exp10f(a0) } }
fn _u126<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::exp2(a0) } }
fn _u127<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::exp2f(a0) } }
fn _u128<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::expf(a0) } }
fn _u129<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::expm1(a0) } }
fn _u130<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::expm1f(a0) } }
fn _u131<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::fabs(a0) } }
fn _u132<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fabsf(a0) } }
fn _u133<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fadd_rd(a0, a1) } }
fn _u134<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fadd_rn(a0, a1) } }
fn _u135<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fadd_ru(a0, a1) } }
fn _u136<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fadd_rz(a0, a1) } }
fn _u137<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_cosf(a0) } }
fn _u138<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_exp10f(a0) } }
fn _u139<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_expf(a0) } }
fn _u140<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_fdividef(a0, a1) } }
fn _u141<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_log10f(a0) } }
fn _u142<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_log2f(a0) } }
fn _u143<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_logf(a0) } }
fn _u144<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_powf(a0, a1) } }
fn _u145<>(a0: f32, a1: * mut f32, a2: * mut f32) -> ()  { unsafe { cuda_std::intrinsics::fast_sincosf(a0, a1, a2) } }
fn _u146<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_sinf(a0) } }
fn _u147<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fast_tanf(a0) } }
fn _u148<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::fdim(a0, a1) } }
fn _u149<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fdimf(a0, a1) } }
fn _u150<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fdiv_rd(a0, a1) } }
fn _u151<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fdiv_rn(a0, a1) } }
fn _u152<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fdiv_ru(a0, a1) } }
fn _u153<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fdiv_rz(a0, a1) } }
fn _u154<>(a0: i32) -> i32  { unsafe { cuda_std::intrinsics::ffs(a0) } }
fn _u155<>(a0: i64) -> i32  { unsafe { cuda_std::intrinsics::ffsll(a0) } }
fn _u156<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::finitef(a0) } }
fn _u157<>(a0: f32) -> i16  { unsafe { cuda_std::intrinsics::float2half_rn(a0) } }
fn _u158<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float2int_rd(a0) } }
fn _u159<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float2int_rn(a0) } }
fn _u160<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float2int_ru(a0) } }
fn _u161<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float2int_rz(a0) } }
fn _u162<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::float2ll_rd(a0) } }
fn _u163<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::float2ll_rn(a0) } }
fn _u164<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::float2ll_ru(a0) } }
fn _u165<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::float2ll_rz(a0) } }
fn _u166<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float2uint_rd(a0) } }
fn _u167<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float2uint_rn(a0) } }
fn _u168<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float2uint_ru(a0) } }
fn _u169<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float2uint_rz(a0) } }
fn _u170<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::float2ull_rd(a0) } }
fn _u171<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::float2ull_rn(a0) } }
fn _u172<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::float2ull_ru(a0) } }
fn _u173<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::float2ull_rz(a0) } }
fn _u174<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::float_as_int(a0) } }
fn _u175<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::floor(a0) } }
fn _u176<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::floorf(a0) } }
fn _u177<>(a0: f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::intrinsics::fma(a0, a1, a2) } }
fn _u178<>(a0: f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::intrinsics::fma_rd(a0, a1, a2) } }
fn _u179<>(a0: f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::intrinsics::fma_rn(a0, a1, a2) } }
fn _u180<>(a0: f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::intrinsics::fma_ru(a0, a1, a2) } }
fn _u181<>(a0: f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::intrinsics::fma_rz(a0, a1, a2) } }
fn _u182<>(a0: f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::intrinsics::fmaf(a0, a1, a2) } }
fn _u183<>(a0: f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::intrinsics::fmaf_rd(a0, a1, a2) } }
fn _u184<>(a0: f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::intrinsics::fmaf_rn(a0, a1, a2) } }
fn _u185<>(a0: f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::intrinsics::fmaf_ru(a0, a1, a2) } }
fn _u186<>(a0: f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::intrinsics::fmaf_rz(a0, a1, a2) } }
fn _u187<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::fmax(a0, a1) } }
fn _u188<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fmaxf(a0, a1) } }
fn _u189<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::fmin(a0, a1) } }
fn _u190<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fminf(a0, a1) } }
fn _u191<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::fmod(a0, a1) } }
fn _u192<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fmodf(a0, a1) } }
fn _u193<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fmul_rd(a0, a1) } }
fn _u194<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fmul_rn(a0, a1) } }
fn _u195<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fmul_ru(a0, a1) } }
fn _u196<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fmul_rz(a0, a1) } }
fn _u197<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::frcp_rd(a0) } }
fn _u198<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::frcp_rn(a0) } }
fn _u199<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::frcp_ru(a0) } }
fn _u200<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::frcp_rz(a0) } }
fn _u201<>(a0: f64, a1: * mut i32) -> f64  { unsafe { cuda_std::intrinsics::frexp(a0, a1) } }
fn _u202<>(a0: f32, a1: * mut i32) -> f32  { unsafe { cuda_std::intrinsics::frexpf(a0, a1) } }
fn _u203<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::frsqrt_rn(a0) } }
fn _u204<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fsqrt_rd(a0) } }
fn _u205<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fsqrt_rn(a0) } }
fn _u206<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fsqrt_ru(a0) } }
fn _u207<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::fsqrt_rz(a0) } }
fn _u208<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fsub_rd(a0, a1) } }
fn _u209<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fsub_rn(a0, a1) } }
fn _u210<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fsub_ru(a0, a1) } }
fn _u211<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::fsub_rz(a0, a1) } }
fn _u212<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::hadd(a0, a1) } }
fn _u213<>(a0: i16) -> f32  { unsafe { cuda_std::intrinsics::half2float(a0) } }
fn _u214<>(a0: i32, a1: i32) -> f64  { unsafe { cuda_std::intrinsics::hiloint2double(a0, a1) } }
fn _u215<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::hypot(a0, a1) } }
fn _u216<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::hypotf(a0, a1) } }
fn _u217<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::ilogb(a0) } }
fn _u218<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::ilogbf(a0) } }
fn _u219<>(a0: i32) -> f64  { unsafe { cuda_std::intrinsics::int2double_rn(a0) } }
fn _u220<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::int2float_rd(a0) } }
fn _u221<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::int2float_rn(a0) } }
fn _u222<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::int2float_ru(a0) } }
fn _u223<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::int2float_rz(a0) } }
fn _u224<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::int_as_float(a0) } }
fn _u225<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::isfinited(a0) } }
fn _u226<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::isinfd(a0) } }
fn _u227<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::isinff(a0) } }
fn _u228<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::isnand(a0) } }
fn _u229<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::isnanf(a0) } }
fn _u230<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::j0(a0) } }
fn _u231<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::j0f(a0) } }
fn _u232<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::j1(a0) } }
fn _u233<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::j1f(a0) } }
fn _u234<>(a0: i32, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::jn(a0, a1) } }
fn _u235<>(a0: i32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::jnf(a0, a1) } }
fn _u236<>(a0: f64, a1: i32) -> f64  { unsafe { cuda_std::intrinsics::ldexp(a0, a1) } }
fn _u237<>(a0: f32, a1: i32) -> f32  { unsafe { cuda_std::intrinsics::ldexpf(a0, a1) } }
fn _u238<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::lgamma(a0) } }
fn _u239<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::lgammaf(a0) } }
fn _u240<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::ll2double_rd(a0) } }
fn _u241<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::ll2double_rn(a0) } }
fn _u242<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::ll2double_ru(a0) } }
fn _u243<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::ll2double_rz(a0) } }
fn _u244<>(a0: i64) -> f32  { unsafe { cuda_std::intrinsics::ll2float_rd(a0) } }
fn _u245<>(a0: i64) -> f32  { unsafe { cuda_std::intrinsics::ll2float_rn(a0) } }
fn _u246<>(a0: i64) -> f32  { unsafe { cuda_std::intrinsics::ll2float_ru(a0) } }
fn _u247<>(a0: i64) -> f32  { unsafe { cuda_std::intrinsics::ll2float_rz(a0) } }
fn _u248<>(a0: i64) -> i64  { unsafe { cuda_std::intrinsics::llabs(a0) } }
fn _u249<>(a0: i64, a1: i64) -> i64  { unsafe { cuda_std::intrinsics::llmax(a0, a1) } }
fn _u250<>(a0: i64, a1: i64) -> i64  { unsafe { cuda_std::intrinsics::llmin(a0, a1) } }
fn _u251<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::llrint(a0) } }
fn _u252<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::llrintf(a0) } }
fn _u253<>(a0: f64) -> i64  { unsafe { cuda_std::intrinsics::llround(a0) } }
fn _u254<>(a0: f32) -> i64  { unsafe { cuda_std::intrinsics::llroundf(a0) } }
fn _u255<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::log(a0) } }
fn _u256<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::log10(a0) } }
fn _u257<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::log10f(a0) } }
fn _u258<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::log1p(a0) } }
fn _u259<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::log1pf(a0) } }
fn _u260<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::log2(a0) } }
fn _u261<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::log2f(a0) } }
fn _u262<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::logb(a0) } }
fn _u263<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::logbf(a0) } }
fn _u264<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::logf(a0) } }
fn _u265<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::longlong_as_double(a0) } }
fn _u266<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::max(a0, a1) } }
fn _u267<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::min(a0, a1) } }
fn _u268<>(a0: f64, a1: * mut f64) -> f64  { unsafe { cuda_std::intrinsics::modf(a0, a1) } }
fn _u269<>(a0: f32, a1: * mut f32) -> f32  { unsafe { cuda_std::intrinsics::modff(a0, a1) } }
fn _u270<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::mul24(a0, a1) } }
fn _u271<>(a0: i64, a1: i64) -> i64  { unsafe { cuda_std::intrinsics::mul64hi(a0, a1) } }
fn _u272<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::mulhi(a0, a1) } }
fn _u273<>(a0: * mut i8) -> f64  { unsafe { cuda_std::intrinsics::nan(a0) } }
fn _u274<>(a0: * mut i8) -> f32  { unsafe { cuda_std::intrinsics::nanf(a0) } }
fn _u275<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::nearbyint(a0) } }
fn _u276<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::nearbyintf(a0) } }
fn _u277<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::nextafter(a0, a1) } }
fn _u278<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::nextafterf(a0, a1) } }
fn _u279<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::normcdf(a0) } }
fn _u280<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::normcdff(a0) } }
fn _u281<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::normcdfinv(a0) } }
fn _u282<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::normcdfinvf(a0) } }
fn _u283<>(a0: i32) -> i32  { unsafe { cuda_std::intrinsics::popc(a0) } }
fn _u284<>(a0: i64) -> i32  { unsafe { cuda_std::intrinsics::popcll(a0) } }
fn _u285<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::pow(a0, a1) } }
fn _u286<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::powf(a0, a1) } }
fn _u287<>(a0: f64, a1: i32) -> f64  { unsafe { cuda_std::intrinsics::powi(a0, a1) } }
fn _u288<>(a0: f32, a1: i32) -> f32  { unsafe { cuda_std::intrinsics::powif(a0, a1) } }
fn _u289<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::rcbrt(a0) } }
fn _u290<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::rcbrtf(a0) } }
fn _u291<>(a0: f64, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::remainder(a0, a1) } }
fn _u292<>(a0: f32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::remainderf(a0, a1) } }
fn _u293<>(a0: f64, a1: f64, a2: * mut i32) -> f64  { unsafe { cuda_std::intrinsics::remquo(a0, a1, a2) } }
fn _u294<>(a0: f32, a1: f32, a2: * mut i32) -> f32  { unsafe { cuda_std::intrinsics::remquof(a0, a1, a2) } }
fn _u295<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::rhadd(a0, a1) } }
fn _u296<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::rint(a0) } }
fn _u297<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::rintf(a0) } }
fn _u298<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::round(a0) } }
fn _u299<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::roundf(a0) } }
fn _u300<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::rsqrt(a0) } }
fn _u301<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::rsqrtf(a0) } }
fn _u302<>(a0: i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::intrinsics::sad(a0, a1, a2) } }
fn _u303<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::saturatef(a0) } }
fn _u304<>(a0: f64, a1: i32) -> f64  { unsafe { cuda_std::intrinsics::scalbn(a0, a1) } }
fn _u305<>(a0: f32, a1: i32) -> f32  { unsafe { cuda_std::intrinsics::scalbnf(a0, a1) } }
fn _u306<>(a0: f64) -> i32  { unsafe { cuda_std::intrinsics::signbitd(a0) } }
fn _u307<>(a0: f32) -> i32  { unsafe { cuda_std::intrinsics::signbitf(a0) } }
fn _u308<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::sin(a0) } }
fn _u309<>(a0: f64, a1: * mut f64, a2: * mut f64) -> ()  { unsafe { cuda_std::intrinsics::sincos(a0, a1, a2) } }
fn _u310<>(a0: f32, a1: * mut f32, a2: * mut f32) -> ()  { unsafe { cuda_std::intrinsics::sincosf(a0, a1, a2) } }
fn _u311<>(a0: f64, a1: * mut f64, a2: * mut f64) -> ()  { unsafe { cuda_std::intrinsics::sincospi(a0, a1, a2) } }
fn _u312<>(a0: f32, a1: * mut f32, a2: * mut f32) -> ()  { unsafe { cuda_std::intrinsics::sincospif(a0, a1, a2) } }
fn _u313<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::sinf(a0) } }
fn _u314<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::sinh(a0) } }
fn _u315<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::sinhf(a0) } }
fn _u316<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::sinpi(a0) } }
fn _u317<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::sinpif(a0) } }
fn _u318<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::sqrt(a0) } }
fn _u319<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::sqrtf(a0) } }
fn _u320<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::tan(a0) } }
fn _u321<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::tanf(a0) } }
fn _u322<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::tanh(a0) } }
fn _u323<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::tanhf(a0) } }
fn _u324<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::tgamma(a0) } }
fn _u325<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::tgammaf(a0) } }
fn _u326<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::trunc(a0) } }
fn _u327<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::truncf(a0) } }
fn _u328<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::uhadd(a0, a1) } }
fn _u329<>(a0: i32) -> f64  { unsafe { cuda_std::intrinsics::uint2double_rn(a0) } }
fn _u330<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::uint2float_rd(a0) } }
fn _u331<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::uint2float_rn(a0) } }
fn _u332<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::uint2float_ru(a0) } }
fn _u333<>(a0: i32) -> f32  { unsafe { cuda_std::intrinsics::uint2float_rz(a0) } }
fn _u334<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::ull2double_rd(a0) } }
fn _u335<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::ull2double_rn(a0) } }
fn _u336<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::ull2double_ru(a0) } }
fn _u337<>(a0: i64) -> f64  { unsafe { cuda_std::intrinsics::ull2double_rz(a0) } }
fn _u338<>(a0: i64) -> f32  { unsafe { cuda_std::intrinsics::ull2float_rd(a0) } }
fn _u339<>(a0: i64) -> f32  { unsafe { cuda_std::intrinsics::ull2float_rn(a0) } }
fn _u340<>(a0: i64) -> f32  { unsafe { cuda_std::intrinsics::ull2float_ru(a0) } }
fn _u341<>(a0: i64) -> f32  { unsafe { cuda_std::intrinsics::ull2float_rz(a0) } }
fn _u342<>(a0: i64, a1: i64) -> i64  { unsafe { cuda_std::intrinsics::ullmax(a0, a1) } }
fn _u343<>(a0: i64, a1: i64) -> i64  { unsafe { cuda_std::intrinsics::ullmin(a0, a1) } }
fn _u344<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::umax(a0, a1) } }
fn _u345<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::umin(a0, a1) } }
fn _u346<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::umul24(a0, a1) } }
fn _u347<>(a0: i64, a1: i64) -> i64  { unsafe { cuda_std::intrinsics::umul64hi(a0, a1) } }
fn _u348<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::umulhi(a0, a1) } }
fn _u349<>(a0: i32, a1: i32) -> i32  { unsafe { cuda_std::intrinsics::urhadd(a0, a1) } }
fn _u350<>(a0: i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::intrinsics::usad(a0, a1, a2) } }
fn _u351<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::y0(a0) } }
fn _u352<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::y0f(a0) } }
fn _u353<>(a0: f64) -> f64  { unsafe { cuda_std::intrinsics::y1(a0) } }
fn _u354<>(a0: f32) -> f32  { unsafe { cuda_std::intrinsics::y1f(a0) } }
fn _u355<>(a0: i32, a1: f64) -> f64  { unsafe { cuda_std::intrinsics::yn(a0, a1) } }
fn _u356<>(a0: i32, a1: f32) -> f32  { unsafe { cuda_std::intrinsics::ynf(a0, a1) } }
fn _u357<>(a0: * const u8, a1: * const core :: ffi :: c_void) -> i32  { unsafe { cuda_std::io::vprintf(a0, a1) } }
fn _u358<>(a0: * const u8, a1: * const u8, a2: u32, a3: * const u8, a4: usize) -> ()  { unsafe { cuda_std::io::__assertfail(a0, a1, a2, a3, a4) } }
fn _u359() { let _ = |x: cuda_std::mem::CUDAAllocator| x; }
fn _u360<>() -> u32  { unsafe { cuda_std::mem::dynamic_smem_size() } }
fn _u361<>() -> u32  { unsafe { cuda_std::mem::total_smem_size() } }
fn _u362<>() -> ()  { unsafe { cuda_std::misc::breakpoint() } }
fn _u363<>(a0: u32) -> ()  { unsafe { cuda_std::misc::profiler_counter(a0) } }
fn _u364<>() -> u64  { unsafe { cuda_std::misc::clock() } }
fn _u365<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::membar_device() } }
fn _u366<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::membar_block() } }
fn _u367<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::membar_system() } }
fn _u368<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::fence_sc_device() } }
fn _u369<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::fence_sc_block() } }
fn _u370<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::fence_sc_system() } }
fn _u371<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::fence_acqrel_device() } }
fn _u372<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::fence_acqrel_block() } }
fn _u373<>() -> ()  { unsafe { cuda_std::atomic::intrinsics::fence_acqrel_system() } }
fn _u374<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_relaxed_32_device(a0) } }
fn _u375<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_acquire_32_device(a0) } }
fn _u376<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_volatile_32_device(a0) } }
fn _u377<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_relaxed_64_device(a0) } }
fn _u378<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_acquire_64_device(a0) } }
fn _u379<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_volatile_64_device(a0) } }
fn _u380<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_relaxed_32_block(a0) } }
fn _u381<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_acquire_32_block(a0) } }
fn _u382<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_volatile_32_block(a0) } }
fn _u383<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_relaxed_64_block(a0) } }
fn _u384<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_acquire_64_block(a0) } }
fn _u385<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_volatile_64_block(a0) } }
fn _u386<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_relaxed_32_system(a0) } }
fn _u387<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_acquire_32_system(a0) } }
fn _u388<>(a0: * const u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_load_volatile_32_system(a0) } }
fn _u389<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_relaxed_64_system(a0) } }
fn _u390<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_acquire_64_system(a0) } }
fn _u391<>(a0: * const u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_load_volatile_64_system(a0) } }
fn _u392<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_relaxed_32_device(a0, a1) } }
fn _u393<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_release_32_device(a0, a1) } }
fn _u394<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_volatile_32_device(a0, a1) } }
fn _u395<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_relaxed_64_device(a0, a1) } }
fn _u396<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_release_64_device(a0, a1) } }
fn _u397<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_volatile_64_device(a0, a1) } }
fn _u398<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_relaxed_32_block(a0, a1) } }
fn _u399<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_release_32_block(a0, a1) } }
fn _u400<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_volatile_32_block(a0, a1) } }
fn _u401<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_relaxed_64_block(a0, a1) } }
fn _u402<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_release_64_block(a0, a1) } }
fn _u403<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_volatile_64_block(a0, a1) } }
fn _u404<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_relaxed_32_system(a0, a1) } }
fn _u405<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_release_32_system(a0, a1) } }
fn _u406<>(a0: * mut u32, a1: u32) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_volatile_32_system(a0, a1) } }
fn _u407<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_relaxed_64_system(a0, a1) } }
fn _u408<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_release_64_system(a0, a1) } }
fn _u409<>(a0: * mut u64, a1: u64) -> ()  { unsafe { cuda_std::atomic::intrinsics::atomic_store_volatile_64_system(a0, a1) } }
fn _u410<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_u32_device(a0) } }
fn _u411<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_u32_device(a0) } }
fn _u412<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_u32_device(a0) } }
fn _u413<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_u32_device(a0) } }
fn _u414<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_u32_device(a0) } }
fn _u415<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_u64_device(a0) } }
fn _u416<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_u64_device(a0) } }
fn _u417<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_u64_device(a0) } }
fn _u418<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_u64_device(a0) } }
fn _u419<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_u64_device(a0) } }
fn _u420<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_u32_block(a0) } }
fn _u421<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_u32_block(a0) } }
fn _u422<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_u32_block(a0) } }
fn _u423<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_u32_block(a0) } }
fn _u424<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_u32_block(a0) } }
fn _u425<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_u64_block(a0) } }
fn _u426<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_u64_block(a0) } }
fn _u427<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_u64_block(a0) } }
fn _u428<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_u64_block(a0) } }
fn _u429<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_u64_block(a0) } }
fn _u430<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_u32_system(a0) } }
fn _u431<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_u32_system(a0) } }
fn _u432<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_u32_system(a0) } }
fn _u433<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_u32_system(a0) } }
fn _u434<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_u32_system(a0) } }
fn _u435<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_u64_system(a0) } }
fn _u436<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_u64_system(a0) } }
fn _u437<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_u64_system(a0) } }
fn _u438<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_u64_system(a0) } }
fn _u439<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_u64_system(a0) } }
fn _u440<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_i32_device(a0) } }
fn _u441<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_i32_device(a0) } }
fn _u442<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_i32_device(a0) } }
fn _u443<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_i32_device(a0) } }
fn _u444<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_i32_device(a0) } }
fn _u445<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_i64_device(a0) } }
fn _u446<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_i64_device(a0) } }
fn _u447<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_i64_device(a0) } }
fn _u448<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_i64_device(a0) } }
fn _u449<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_i64_device(a0) } }
fn _u450<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_i32_block(a0) } }
fn _u451<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_i32_block(a0) } }
fn _u452<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_i32_block(a0) } }
fn _u453<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_i32_block(a0) } }
fn _u454<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_i32_block(a0) } }
fn _u455<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_i64_block(a0) } }
fn _u456<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_i64_block(a0) } }
fn _u457<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_i64_block(a0) } }
fn _u458<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_i64_block(a0) } }
fn _u459<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_i64_block(a0) } }
fn _u460<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_i32_system(a0) } }
fn _u461<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_i32_system(a0) } }
fn _u462<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_i32_system(a0) } }
fn _u463<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_i32_system(a0) } }
fn _u464<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_i32_system(a0) } }
fn _u465<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_relaxed_i64_system(a0) } }
fn _u466<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acquire_i64_system(a0) } }
fn _u467<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_release_i64_system(a0) } }
fn _u468<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_acqrel_i64_system(a0) } }
fn _u469<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_inc_volatile_i64_system(a0) } }
fn _u470<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_u32_device(a0) } }
fn _u471<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_u32_device(a0) } }
fn _u472<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_u32_device(a0) } }
fn _u473<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_u32_device(a0) } }
fn _u474<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_u32_device(a0) } }
fn _u475<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_u64_device(a0) } }
fn _u476<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_u64_device(a0) } }
fn _u477<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_u64_device(a0) } }
fn _u478<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_u64_device(a0) } }
fn _u479<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_u64_device(a0) } }
fn _u480<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_u32_block(a0) } }
fn _u481<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_u32_block(a0) } }
fn _u482<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_u32_block(a0) } }
fn _u483<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_u32_block(a0) } }
fn _u484<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_u32_block(a0) } }
fn _u485<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_u64_block(a0) } }
fn _u486<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_u64_block(a0) } }
fn _u487<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_u64_block(a0) } }
fn _u488<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_u64_block(a0) } }
fn _u489<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_u64_block(a0) } }
fn _u490<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_u32_system(a0) } }
fn _u491<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_u32_system(a0) } }
fn _u492<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_u32_system(a0) } }
fn _u493<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_u32_system(a0) } }
fn _u494<>(a0: * mut u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_u32_system(a0) } }
fn _u495<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_u64_system(a0) } }
fn _u496<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_u64_system(a0) } }
fn _u497<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_u64_system(a0) } }
fn _u498<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_u64_system(a0) } }
fn _u499<>(a0: * mut u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_u64_system(a0) } }
fn _u500<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_i32_device(a0) } }
fn _u501<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_i32_device(a0) } }
fn _u502<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_i32_device(a0) } }
fn _u503<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_i32_device(a0) } }
fn _u504<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_i32_device(a0) } }
fn _u505<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_i64_device(a0) } }
fn _u506<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_i64_device(a0) } }
fn _u507<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_i64_device(a0) } }
fn _u508<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_i64_device(a0) } }
fn _u509<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_i64_device(a0) } }
fn _u510<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_i32_block(a0) } }
fn _u511<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_i32_block(a0) } }
fn _u512<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_i32_block(a0) } }
fn _u513<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_i32_block(a0) } }
fn _u514<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_i32_block(a0) } }
fn _u515<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_i64_block(a0) } }
fn _u516<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_i64_block(a0) } }
fn _u517<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_i64_block(a0) } }
fn _u518<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_i64_block(a0) } }
fn _u519<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_i64_block(a0) } }
fn _u520<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_i32_system(a0) } }
fn _u521<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_i32_system(a0) } }
fn _u522<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_i32_system(a0) } }
fn _u523<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_i32_system(a0) } }
fn _u524<>(a0: * mut i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_i32_system(a0) } }
fn _u525<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_relaxed_i64_system(a0) } }
fn _u526<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acquire_i64_system(a0) } }
fn _u527<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_release_i64_system(a0) } }
fn _u528<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_acqrel_i64_system(a0) } }
fn _u529<>(a0: * mut i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_dec_volatile_i64_system(a0) } }
fn _u530<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_u32_device(a0, a1) } }
fn _u531<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_u32_device(a0, a1) } }
fn _u532<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_u32_device(a0, a1) } }
fn _u533<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_u32_device(a0, a1) } }
fn _u534<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_u32_device(a0, a1) } }
fn _u535<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_u64_device(a0, a1) } }
fn _u536<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_u64_device(a0, a1) } }
fn _u537<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_u64_device(a0, a1) } }
fn _u538<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_u64_device(a0, a1) } }
fn _u539<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_u64_device(a0, a1) } }
fn _u540<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_u32_block(a0, a1) } }
fn _u541<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_u32_block(a0, a1) } }
fn _u542<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_u32_block(a0, a1) } }
fn _u543<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_u32_block(a0, a1) } }
fn _u544<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_u32_block(a0, a1) } }
fn _u545<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_u64_block(a0, a1) } }
fn _u546<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_u64_block(a0, a1) } }
fn _u547<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_u64_block(a0, a1) } }
fn _u548<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_u64_block(a0, a1) } }
fn _u549<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_u64_block(a0, a1) } }
fn _u550<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_u32_system(a0, a1) } }
fn _u551<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_u32_system(a0, a1) } }
fn _u552<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_u32_system(a0, a1) } }
fn _u553<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_u32_system(a0, a1) } }
fn _u554<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_u32_system(a0, a1) } }
fn _u555<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_u64_system(a0, a1) } }
fn _u556<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_u64_system(a0, a1) } }
fn _u557<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_u64_system(a0, a1) } }
fn _u558<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_u64_system(a0, a1) } }
fn _u559<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_u64_system(a0, a1) } }
fn _u560<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_i32_device(a0, a1) } }
fn _u561<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_i32_device(a0, a1) } }
fn _u562<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_i32_device(a0, a1) } }
fn _u563<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_i32_device(a0, a1) } }
fn _u564<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_i32_device(a0, a1) } }
fn _u565<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_i64_device(a0, a1) } }
fn _u566<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_i64_device(a0, a1) } }
fn _u567<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_i64_device(a0, a1) } }
fn _u568<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_i64_device(a0, a1) } }
fn _u569<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_i64_device(a0, a1) } }
fn _u570<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_i32_block(a0, a1) } }
fn _u571<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_i32_block(a0, a1) } }
fn _u572<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_i32_block(a0, a1) } }
fn _u573<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_i32_block(a0, a1) } }
fn _u574<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_i32_block(a0, a1) } }
fn _u575<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_i64_block(a0, a1) } }
fn _u576<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_i64_block(a0, a1) } }
fn _u577<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_i64_block(a0, a1) } }
fn _u578<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_i64_block(a0, a1) } }
fn _u579<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_i64_block(a0, a1) } }
fn _u580<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_i32_system(a0, a1) } }
fn _u581<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_i32_system(a0, a1) } }
fn _u582<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_i32_system(a0, a1) } }
fn _u583<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_i32_system(a0, a1) } }
fn _u584<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_i32_system(a0, a1) } }
fn _u585<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_i64_system(a0, a1) } }
fn _u586<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_i64_system(a0, a1) } }
fn _u587<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_i64_system(a0, a1) } }
fn _u588<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_i64_system(a0, a1) } }
fn _u589<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_i64_system(a0, a1) } }
fn _u590<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_f32_device(a0, a1) } }
fn _u591<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_f32_device(a0, a1) } }
fn _u592<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_f32_device(a0, a1) } }
fn _u593<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_f32_device(a0, a1) } }
fn _u594<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_f32_device(a0, a1) } }
fn _u595<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_f64_device(a0, a1) } }
fn _u596<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_f64_device(a0, a1) } }
fn _u597<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_f64_device(a0, a1) } }
fn _u598<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_f64_device(a0, a1) } }
fn _u599<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_f64_device(a0, a1) } }
fn _u600<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_f32_block(a0, a1) } }
fn _u601<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_f32_block(a0, a1) } }
fn _u602<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_f32_block(a0, a1) } }
fn _u603<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_f32_block(a0, a1) } }
fn _u604<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_f32_block(a0, a1) } }
fn _u605<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_f64_block(a0, a1) } }
fn _u606<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_f64_block(a0, a1) } }
fn _u607<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_f64_block(a0, a1) } }
fn _u608<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_f64_block(a0, a1) } }
fn _u609<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_f64_block(a0, a1) } }
fn _u610<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_f32_system(a0, a1) } }
fn _u611<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_f32_system(a0, a1) } }
fn _u612<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_f32_system(a0, a1) } }
fn _u613<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_f32_system(a0, a1) } }
fn _u614<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_f32_system(a0, a1) } }
fn _u615<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_relaxed_f64_system(a0, a1) } }
fn _u616<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acquire_f64_system(a0, a1) } }
fn _u617<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_release_f64_system(a0, a1) } }
fn _u618<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_acqrel_f64_system(a0, a1) } }
fn _u619<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_and_volatile_f64_system(a0, a1) } }
fn _u620<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_u32_device(a0, a1) } }
fn _u621<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_u32_device(a0, a1) } }
fn _u622<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_u32_device(a0, a1) } }
fn _u623<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_u32_device(a0, a1) } }
fn _u624<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_u32_device(a0, a1) } }
fn _u625<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_u64_device(a0, a1) } }
fn _u626<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_u64_device(a0, a1) } }
fn _u627<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_u64_device(a0, a1) } }
fn _u628<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_u64_device(a0, a1) } }
fn _u629<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_u64_device(a0, a1) } }
fn _u630<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_u32_block(a0, a1) } }
fn _u631<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_u32_block(a0, a1) } }
fn _u632<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_u32_block(a0, a1) } }
fn _u633<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_u32_block(a0, a1) } }
fn _u634<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_u32_block(a0, a1) } }
fn _u635<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_u64_block(a0, a1) } }
fn _u636<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_u64_block(a0, a1) } }
fn _u637<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_u64_block(a0, a1) } }
fn _u638<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_u64_block(a0, a1) } }
fn _u639<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_u64_block(a0, a1) } }
fn _u640<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_u32_system(a0, a1) } }
fn _u641<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_u32_system(a0, a1) } }
fn _u642<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_u32_system(a0, a1) } }
fn _u643<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_u32_system(a0, a1) } }
fn _u644<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_u32_system(a0, a1) } }
fn _u645<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_u64_system(a0, a1) } }
fn _u646<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_u64_system(a0, a1) } }
fn _u647<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_u64_system(a0, a1) } }
fn _u648<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_u64_system(a0, a1) } }
fn _u649<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_u64_system(a0, a1) } }
fn _u650<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_i32_device(a0, a1) } }
fn _u651<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_i32_device(a0, a1) } }
fn _u652<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_i32_device(a0, a1) } }
fn _u653<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_i32_device(a0, a1) } }
fn _u654<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_i32_device(a0, a1) } }
fn _u655<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_i64_device(a0, a1) } }
fn _u656<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_i64_device(a0, a1) } }
fn _u657<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_i64_device(a0, a1) } }
fn _u658<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_i64_device(a0, a1) } }
fn _u659<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_i64_device(a0, a1) } }
fn _u660<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_i32_block(a0, a1) } }
fn _u661<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_i32_block(a0, a1) } }
fn _u662<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_i32_block(a0, a1) } }
fn _u663<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_i32_block(a0, a1) } }
fn _u664<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_i32_block(a0, a1) } }
fn _u665<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_i64_block(a0, a1) } }
fn _u666<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_i64_block(a0, a1) } }
fn _u667<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_i64_block(a0, a1) } }
fn _u668<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_i64_block(a0, a1) } }
fn _u669<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_i64_block(a0, a1) } }
fn _u670<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_i32_system(a0, a1) } }
fn _u671<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_i32_system(a0, a1) } }
fn _u672<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_i32_system(a0, a1) } }
fn _u673<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_i32_system(a0, a1) } }
fn _u674<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_i32_system(a0, a1) } }
fn _u675<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_i64_system(a0, a1) } }
fn _u676<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_i64_system(a0, a1) } }
fn _u677<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_i64_system(a0, a1) } }
fn _u678<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_i64_system(a0, a1) } }
fn _u679<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_i64_system(a0, a1) } }
fn _u680<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_f32_device(a0, a1) } }
fn _u681<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_f32_device(a0, a1) } }
fn _u682<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_f32_device(a0, a1) } }
fn _u683<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_f32_device(a0, a1) } }
fn _u684<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_f32_device(a0, a1) } }
fn _u685<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_f64_device(a0, a1) } }
fn _u686<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_f64_device(a0, a1) } }
fn _u687<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_f64_device(a0, a1) } }
fn _u688<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_f64_device(a0, a1) } }
fn _u689<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_f64_device(a0, a1) } }
fn _u690<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_f32_block(a0, a1) } }
fn _u691<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_f32_block(a0, a1) } }
fn _u692<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_f32_block(a0, a1) } }
fn _u693<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_f32_block(a0, a1) } }
fn _u694<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_f32_block(a0, a1) } }
fn _u695<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_f64_block(a0, a1) } }
fn _u696<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_f64_block(a0, a1) } }
fn _u697<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_f64_block(a0, a1) } }
fn _u698<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_f64_block(a0, a1) } }
fn _u699<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_f64_block(a0, a1) } }
fn _u700<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_f32_system(a0, a1) } }
fn _u701<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_f32_system(a0, a1) } }
fn _u702<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_f32_system(a0, a1) } }
fn _u703<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_f32_system(a0, a1) } }
fn _u704<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_f32_system(a0, a1) } }
fn _u705<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_relaxed_f64_system(a0, a1) } }
fn _u706<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acquire_f64_system(a0, a1) } }
fn _u707<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_release_f64_system(a0, a1) } }
fn _u708<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_acqrel_f64_system(a0, a1) } }
fn _u709<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_or_volatile_f64_system(a0, a1) } }
fn _u710<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_u32_device(a0, a1) } }
fn _u711<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_u32_device(a0, a1) } }
fn _u712<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_u32_device(a0, a1) } }
fn _u713<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_u32_device(a0, a1) } }
fn _u714<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_u32_device(a0, a1) } }
fn _u715<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_u64_device(a0, a1) } }
fn _u716<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_u64_device(a0, a1) } }
fn _u717<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_u64_device(a0, a1) } }
fn _u718<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_u64_device(a0, a1) } }
fn _u719<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_u64_device(a0, a1) } }
fn _u720<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_u32_block(a0, a1) } }
fn _u721<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_u32_block(a0, a1) } }
fn _u722<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_u32_block(a0, a1) } }
fn _u723<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_u32_block(a0, a1) } }
fn _u724<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_u32_block(a0, a1) } }
fn _u725<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_u64_block(a0, a1) } }
fn _u726<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_u64_block(a0, a1) } }
fn _u727<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_u64_block(a0, a1) } }
fn _u728<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_u64_block(a0, a1) } }
fn _u729<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_u64_block(a0, a1) } }
fn _u730<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_u32_system(a0, a1) } }
fn _u731<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_u32_system(a0, a1) } }
fn _u732<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_u32_system(a0, a1) } }
fn _u733<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_u32_system(a0, a1) } }
fn _u734<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_u32_system(a0, a1) } }
fn _u735<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_u64_system(a0, a1) } }
fn _u736<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_u64_system(a0, a1) } }
fn _u737<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_u64_system(a0, a1) } }
fn _u738<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_u64_system(a0, a1) } }
fn _u739<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_u64_system(a0, a1) } }
fn _u740<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_i32_device(a0, a1) } }
fn _u741<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_i32_device(a0, a1) } }
fn _u742<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_i32_device(a0, a1) } }
fn _u743<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_i32_device(a0, a1) } }
fn _u744<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_i32_device(a0, a1) } }
fn _u745<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_i64_device(a0, a1) } }
fn _u746<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_i64_device(a0, a1) } }
fn _u747<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_i64_device(a0, a1) } }
fn _u748<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_i64_device(a0, a1) } }
fn _u749<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_i64_device(a0, a1) } }
fn _u750<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_i32_block(a0, a1) } }
fn _u751<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_i32_block(a0, a1) } }
fn _u752<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_i32_block(a0, a1) } }
fn _u753<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_i32_block(a0, a1) } }
fn _u754<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_i32_block(a0, a1) } }
fn _u755<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_i64_block(a0, a1) } }
fn _u756<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_i64_block(a0, a1) } }
fn _u757<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_i64_block(a0, a1) } }
fn _u758<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_i64_block(a0, a1) } }
fn _u759<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_i64_block(a0, a1) } }
fn _u760<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_i32_system(a0, a1) } }
fn _u761<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_i32_system(a0, a1) } }
fn _u762<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_i32_system(a0, a1) } }
fn _u763<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_i32_system(a0, a1) } }
fn _u764<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_i32_system(a0, a1) } }
fn _u765<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_i64_system(a0, a1) } }
fn _u766<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_i64_system(a0, a1) } }
fn _u767<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_i64_system(a0, a1) } }
fn _u768<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_i64_system(a0, a1) } }
fn _u769<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_i64_system(a0, a1) } }
fn _u770<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_f32_device(a0, a1) } }
fn _u771<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_f32_device(a0, a1) } }
fn _u772<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_f32_device(a0, a1) } }
fn _u773<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_f32_device(a0, a1) } }
fn _u774<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_f32_device(a0, a1) } }
fn _u775<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_f64_device(a0, a1) } }
fn _u776<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_f64_device(a0, a1) } }
fn _u777<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_f64_device(a0, a1) } }
fn _u778<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_f64_device(a0, a1) } }
fn _u779<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_f64_device(a0, a1) } }
fn _u780<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_f32_block(a0, a1) } }
fn _u781<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_f32_block(a0, a1) } }
fn _u782<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_f32_block(a0, a1) } }
fn _u783<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_f32_block(a0, a1) } }
fn _u784<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_f32_block(a0, a1) } }
fn _u785<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_f64_block(a0, a1) } }
fn _u786<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_f64_block(a0, a1) } }
fn _u787<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_f64_block(a0, a1) } }
fn _u788<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_f64_block(a0, a1) } }
fn _u789<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_f64_block(a0, a1) } }
fn _u790<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_f32_system(a0, a1) } }
fn _u791<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_f32_system(a0, a1) } }
fn _u792<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_f32_system(a0, a1) } }
fn _u793<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_f32_system(a0, a1) } }
fn _u794<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_f32_system(a0, a1) } }
fn _u795<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_relaxed_f64_system(a0, a1) } }
fn _u796<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acquire_f64_system(a0, a1) } }
fn _u797<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_release_f64_system(a0, a1) } }
fn _u798<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_acqrel_f64_system(a0, a1) } }
fn _u799<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_xor_volatile_f64_system(a0, a1) } }
fn _u800<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_u32_device(a0, a1) } }
fn _u801<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_u32_device(a0, a1) } }
fn _u802<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_u32_device(a0, a1) } }
fn _u803<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_u32_device(a0, a1) } }
fn _u804<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_u32_device(a0, a1) } }
fn _u805<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_u64_device(a0, a1) } }
fn _u806<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_u64_device(a0, a1) } }
fn _u807<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_u64_device(a0, a1) } }
fn _u808<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_u64_device(a0, a1) } }
fn _u809<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_u64_device(a0, a1) } }
fn _u810<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_u32_block(a0, a1) } }
fn _u811<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_u32_block(a0, a1) } }
fn _u812<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_u32_block(a0, a1) } }
fn _u813<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_u32_block(a0, a1) } }
fn _u814<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_u32_block(a0, a1) } }
fn _u815<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_u64_block(a0, a1) } }
fn _u816<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_u64_block(a0, a1) } }
fn _u817<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_u64_block(a0, a1) } }
fn _u818<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_u64_block(a0, a1) } }
fn _u819<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_u64_block(a0, a1) } }
fn _u820<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_u32_system(a0, a1) } }
fn _u821<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_u32_system(a0, a1) } }
fn _u822<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_u32_system(a0, a1) } }
fn _u823<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_u32_system(a0, a1) } }
fn _u824<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_u32_system(a0, a1) } }
fn _u825<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_u64_system(a0, a1) } }
fn _u826<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_u64_system(a0, a1) } }
fn _u827<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_u64_system(a0, a1) } }
fn _u828<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_u64_system(a0, a1) } }
fn _u829<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_u64_system(a0, a1) } }
fn _u830<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_i32_device(a0, a1) } }
fn _u831<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_i32_device(a0, a1) } }
fn _u832<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_i32_device(a0, a1) } }
fn _u833<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_i32_device(a0, a1) } }
fn _u834<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_i32_device(a0, a1) } }
fn _u835<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_i64_device(a0, a1) } }
fn _u836<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_i64_device(a0, a1) } }
fn _u837<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_i64_device(a0, a1) } }
fn _u838<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_i64_device(a0, a1) } }
fn _u839<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_i64_device(a0, a1) } }
fn _u840<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_i32_block(a0, a1) } }
fn _u841<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_i32_block(a0, a1) } }
fn _u842<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_i32_block(a0, a1) } }
fn _u843<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_i32_block(a0, a1) } }
fn _u844<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_i32_block(a0, a1) } }
fn _u845<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_i64_block(a0, a1) } }
fn _u846<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_i64_block(a0, a1) } }
fn _u847<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_i64_block(a0, a1) } }
fn _u848<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_i64_block(a0, a1) } }
fn _u849<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_i64_block(a0, a1) } }
fn _u850<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_i32_system(a0, a1) } }
fn _u851<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_i32_system(a0, a1) } }
fn _u852<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_i32_system(a0, a1) } }
fn _u853<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_i32_system(a0, a1) } }
fn _u854<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_i32_system(a0, a1) } }
fn _u855<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_i64_system(a0, a1) } }
fn _u856<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_i64_system(a0, a1) } }
fn _u857<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_i64_system(a0, a1) } }
fn _u858<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_i64_system(a0, a1) } }
fn _u859<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_i64_system(a0, a1) } }
fn _u860<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_f32_device(a0, a1) } }
fn _u861<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_f32_device(a0, a1) } }
fn _u862<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_f32_device(a0, a1) } }
fn _u863<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_f32_device(a0, a1) } }
fn _u864<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_f32_device(a0, a1) } }
fn _u865<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_f64_device(a0, a1) } }
fn _u866<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_f64_device(a0, a1) } }
fn _u867<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_f64_device(a0, a1) } }
fn _u868<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_f64_device(a0, a1) } }
fn _u869<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_f64_device(a0, a1) } }
fn _u870<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_f32_block(a0, a1) } }
fn _u871<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_f32_block(a0, a1) } }
fn _u872<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_f32_block(a0, a1) } }
fn _u873<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_f32_block(a0, a1) } }
fn _u874<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_f32_block(a0, a1) } }
fn _u875<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_f64_block(a0, a1) } }
fn _u876<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_f64_block(a0, a1) } }
fn _u877<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_f64_block(a0, a1) } }
fn _u878<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_f64_block(a0, a1) } }
fn _u879<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_f64_block(a0, a1) } }
fn _u880<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_f32_system(a0, a1) } }
fn _u881<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_f32_system(a0, a1) } }
fn _u882<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_f32_system(a0, a1) } }
fn _u883<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_f32_system(a0, a1) } }
fn _u884<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_f32_system(a0, a1) } }
fn _u885<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_relaxed_f64_system(a0, a1) } }
fn _u886<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acquire_f64_system(a0, a1) } }
fn _u887<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_release_f64_system(a0, a1) } }
fn _u888<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_acqrel_f64_system(a0, a1) } }
fn _u889<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_exch_volatile_f64_system(a0, a1) } }
fn _u890<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_u32_device(a0, a1) } }
fn _u891<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_u32_device(a0, a1) } }
fn _u892<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_u32_device(a0, a1) } }
fn _u893<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_u32_device(a0, a1) } }
fn _u894<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_u32_device(a0, a1) } }
fn _u895<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_u64_device(a0, a1) } }
fn _u896<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_u64_device(a0, a1) } }
fn _u897<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_u64_device(a0, a1) } }
fn _u898<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_u64_device(a0, a1) } }
fn _u899<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_u64_device(a0, a1) } }
fn _u900<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_u32_block(a0, a1) } }
fn _u901<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_u32_block(a0, a1) } }
fn _u902<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_u32_block(a0, a1) } }
fn _u903<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_u32_block(a0, a1) } }
fn _u904<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_u32_block(a0, a1) } }
fn _u905<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_u64_block(a0, a1) } }
fn _u906<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_u64_block(a0, a1) } }
fn _u907<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_u64_block(a0, a1) } }
fn _u908<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_u64_block(a0, a1) } }
fn _u909<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_u64_block(a0, a1) } }
fn _u910<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_u32_system(a0, a1) } }
fn _u911<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_u32_system(a0, a1) } }
fn _u912<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_u32_system(a0, a1) } }
fn _u913<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_u32_system(a0, a1) } }
fn _u914<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_u32_system(a0, a1) } }
fn _u915<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_u64_system(a0, a1) } }
fn _u916<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_u64_system(a0, a1) } }
fn _u917<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_u64_system(a0, a1) } }
fn _u918<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_u64_system(a0, a1) } }
fn _u919<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_u64_system(a0, a1) } }
fn _u920<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_i32_device(a0, a1) } }
fn _u921<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_i32_device(a0, a1) } }
fn _u922<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_i32_device(a0, a1) } }
fn _u923<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_i32_device(a0, a1) } }
fn _u924<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_i32_device(a0, a1) } }
fn _u925<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_i64_device(a0, a1) } }
fn _u926<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_i64_device(a0, a1) } }
fn _u927<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_i64_device(a0, a1) } }
fn _u928<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_i64_device(a0, a1) } }
fn _u929<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_i64_device(a0, a1) } }
fn _u930<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_i32_block(a0, a1) } }
fn _u931<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_i32_block(a0, a1) } }
fn _u932<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_i32_block(a0, a1) } }
fn _u933<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_i32_block(a0, a1) } }
fn _u934<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_i32_block(a0, a1) } }
fn _u935<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_i64_block(a0, a1) } }
fn _u936<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_i64_block(a0, a1) } }
fn _u937<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_i64_block(a0, a1) } }
fn _u938<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_i64_block(a0, a1) } }
fn _u939<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_i64_block(a0, a1) } }
fn _u940<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_i32_system(a0, a1) } }
fn _u941<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_i32_system(a0, a1) } }
fn _u942<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_i32_system(a0, a1) } }
fn _u943<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_i32_system(a0, a1) } }
fn _u944<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_i32_system(a0, a1) } }
fn _u945<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_i64_system(a0, a1) } }
fn _u946<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_i64_system(a0, a1) } }
fn _u947<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_i64_system(a0, a1) } }
fn _u948<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_i64_system(a0, a1) } }
fn _u949<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_i64_system(a0, a1) } }
fn _u950<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_f32_device(a0, a1) } }
fn _u951<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_f32_device(a0, a1) } }
fn _u952<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_f32_device(a0, a1) } }
fn _u953<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_f32_device(a0, a1) } }
fn _u954<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_f32_device(a0, a1) } }
fn _u955<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_f64_device(a0, a1) } }
fn _u956<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_f64_device(a0, a1) } }
fn _u957<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_f64_device(a0, a1) } }
fn _u958<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_f64_device(a0, a1) } }
fn _u959<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_f64_device(a0, a1) } }
fn _u960<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_f32_block(a0, a1) } }
fn _u961<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_f32_block(a0, a1) } }
fn _u962<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_f32_block(a0, a1) } }
fn _u963<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_f32_block(a0, a1) } }
fn _u964<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_f32_block(a0, a1) } }
fn _u965<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_f64_block(a0, a1) } }
fn _u966<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_f64_block(a0, a1) } }
fn _u967<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_f64_block(a0, a1) } }
fn _u968<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_f64_block(a0, a1) } }
fn _u969<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_f64_block(a0, a1) } }
fn _u970<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_f32_system(a0, a1) } }
fn _u971<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_f32_system(a0, a1) } }
fn _u972<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_f32_system(a0, a1) } }
fn _u973<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_f32_system(a0, a1) } }
fn _u974<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_f32_system(a0, a1) } }
fn _u975<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_relaxed_f64_system(a0, a1) } }
fn _u976<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acquire_f64_system(a0, a1) } }
fn _u977<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_release_f64_system(a0, a1) } }
fn _u978<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_acqrel_f64_system(a0, a1) } }
fn _u979<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_add_volatile_f64_system(a0, a1) } }
fn _u980<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_u32_device(a0, a1) } }
fn _u981<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_u32_device(a0, a1) } }
fn _u982<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_u32_device(a0, a1) } }
fn _u983<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_u32_device(a0, a1) } }
fn _u984<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_u32_device(a0, a1) } }
fn _u985<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_u64_device(a0, a1) } }
fn _u986<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_u64_device(a0, a1) } }
fn _u987<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_u64_device(a0, a1) } }
fn _u988<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_u64_device(a0, a1) } }
fn _u989<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_u64_device(a0, a1) } }
fn _u990<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_u32_block(a0, a1) } }
fn _u991<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_u32_block(a0, a1) } }
fn _u992<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_u32_block(a0, a1) } }
fn _u993<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_u32_block(a0, a1) } }
fn _u994<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_u32_block(a0, a1) } }
fn _u995<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_u64_block(a0, a1) } }
fn _u996<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_u64_block(a0, a1) } }
fn _u997<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_u64_block(a0, a1) } }
fn _u998<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_u64_block(a0, a1) } }
fn _u999<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_u64_block(a0, a1) } }
fn _u1000<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_u32_system(a0, a1) } }
fn _u1001<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_u32_system(a0, a1) } }
fn _u1002<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_u32_system(a0, a1) } }
fn _u1003<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_u32_system(a0, a1) } }
fn _u1004<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_u32_system(a0, a1) } }
fn _u1005<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_u64_system(a0, a1) } }
fn _u1006<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_u64_system(a0, a1) } }
fn _u1007<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_u64_system(a0, a1) } }
fn _u1008<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_u64_system(a0, a1) } }
fn _u1009<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_u64_system(a0, a1) } }
fn _u1010<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_i32_device(a0, a1) } }
fn _u1011<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_i32_device(a0, a1) } }
fn _u1012<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_i32_device(a0, a1) } }
fn _u1013<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_i32_device(a0, a1) } }
fn _u1014<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_i32_device(a0, a1) } }
fn _u1015<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_i64_device(a0, a1) } }
fn _u1016<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_i64_device(a0, a1) } }
fn _u1017<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_i64_device(a0, a1) } }
fn _u1018<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_i64_device(a0, a1) } }
fn _u1019<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_i64_device(a0, a1) } }
fn _u1020<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_i32_block(a0, a1) } }
fn _u1021<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_i32_block(a0, a1) } }
fn _u1022<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_i32_block(a0, a1) } }
fn _u1023<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_i32_block(a0, a1) } }
fn _u1024<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_i32_block(a0, a1) } }
fn _u1025<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_i64_block(a0, a1) } }
fn _u1026<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_i64_block(a0, a1) } }
fn _u1027<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_i64_block(a0, a1) } }
fn _u1028<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_i64_block(a0, a1) } }
fn _u1029<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_i64_block(a0, a1) } }
fn _u1030<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_i32_system(a0, a1) } }
fn _u1031<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_i32_system(a0, a1) } }
fn _u1032<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_i32_system(a0, a1) } }
fn _u1033<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_i32_system(a0, a1) } }
fn _u1034<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_i32_system(a0, a1) } }
fn _u1035<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_relaxed_i64_system(a0, a1) } }
fn _u1036<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acquire_i64_system(a0, a1) } }
fn _u1037<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_release_i64_system(a0, a1) } }
fn _u1038<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_acqrel_i64_system(a0, a1) } }
fn _u1039<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_min_volatile_i64_system(a0, a1) } }
fn _u1040<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_u32_device(a0, a1) } }
fn _u1041<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_u32_device(a0, a1) } }
fn _u1042<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_u32_device(a0, a1) } }
fn _u1043<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_u32_device(a0, a1) } }
fn _u1044<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_u32_device(a0, a1) } }
fn _u1045<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_u64_device(a0, a1) } }
fn _u1046<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_u64_device(a0, a1) } }
fn _u1047<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_u64_device(a0, a1) } }
fn _u1048<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_u64_device(a0, a1) } }
fn _u1049<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_u64_device(a0, a1) } }
fn _u1050<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_u32_block(a0, a1) } }
fn _u1051<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_u32_block(a0, a1) } }
fn _u1052<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_u32_block(a0, a1) } }
fn _u1053<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_u32_block(a0, a1) } }
fn _u1054<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_u32_block(a0, a1) } }
fn _u1055<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_u64_block(a0, a1) } }
fn _u1056<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_u64_block(a0, a1) } }
fn _u1057<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_u64_block(a0, a1) } }
fn _u1058<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_u64_block(a0, a1) } }
fn _u1059<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_u64_block(a0, a1) } }
fn _u1060<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_u32_system(a0, a1) } }
fn _u1061<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_u32_system(a0, a1) } }
fn _u1062<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_u32_system(a0, a1) } }
fn _u1063<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_u32_system(a0, a1) } }
fn _u1064<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_u32_system(a0, a1) } }
fn _u1065<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_u64_system(a0, a1) } }
fn _u1066<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_u64_system(a0, a1) } }
fn _u1067<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_u64_system(a0, a1) } }
fn _u1068<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_u64_system(a0, a1) } }
fn _u1069<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_u64_system(a0, a1) } }
fn _u1070<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_i32_device(a0, a1) } }
fn _u1071<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_i32_device(a0, a1) } }
fn _u1072<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_i32_device(a0, a1) } }
fn _u1073<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_i32_device(a0, a1) } }
fn _u1074<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_i32_device(a0, a1) } }
fn _u1075<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_i64_device(a0, a1) } }
fn _u1076<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_i64_device(a0, a1) } }
fn _u1077<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_i64_device(a0, a1) } }
fn _u1078<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_i64_device(a0, a1) } }
fn _u1079<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_i64_device(a0, a1) } }
fn _u1080<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_i32_block(a0, a1) } }
fn _u1081<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_i32_block(a0, a1) } }
fn _u1082<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_i32_block(a0, a1) } }
fn _u1083<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_i32_block(a0, a1) } }
fn _u1084<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_i32_block(a0, a1) } }
fn _u1085<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_i64_block(a0, a1) } }
fn _u1086<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_i64_block(a0, a1) } }
fn _u1087<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_i64_block(a0, a1) } }
fn _u1088<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_i64_block(a0, a1) } }
fn _u1089<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_i64_block(a0, a1) } }
fn _u1090<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_i32_system(a0, a1) } }
fn _u1091<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_i32_system(a0, a1) } }
fn _u1092<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_i32_system(a0, a1) } }
fn _u1093<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_i32_system(a0, a1) } }
fn _u1094<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_i32_system(a0, a1) } }
fn _u1095<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_relaxed_i64_system(a0, a1) } }
fn _u1096<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acquire_i64_system(a0, a1) } }
fn _u1097<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_release_i64_system(a0, a1) } }
fn _u1098<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_acqrel_i64_system(a0, a1) } }
fn _u1099<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_max_volatile_i64_system(a0, a1) } }
fn _u1100<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_u32_device(a0, a1, a2) } }
fn _u1101<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_u32_device(a0, a1, a2) } }
fn _u1102<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_u32_device(a0, a1, a2) } }
fn _u1103<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_u32_device(a0, a1, a2) } }
fn _u1104<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_u32_device(a0, a1, a2) } }
fn _u1105<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_u64_device(a0, a1, a2) } }
fn _u1106<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_u64_device(a0, a1, a2) } }
fn _u1107<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_u64_device(a0, a1, a2) } }
fn _u1108<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_u64_device(a0, a1, a2) } }
fn _u1109<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_u64_device(a0, a1, a2) } }
fn _u1110<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_u32_block(a0, a1, a2) } }
fn _u1111<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_u32_block(a0, a1, a2) } }
fn _u1112<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_u32_block(a0, a1, a2) } }
fn _u1113<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_u32_block(a0, a1, a2) } }
fn _u1114<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_u32_block(a0, a1, a2) } }
fn _u1115<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_u64_block(a0, a1, a2) } }
fn _u1116<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_u64_block(a0, a1, a2) } }
fn _u1117<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_u64_block(a0, a1, a2) } }
fn _u1118<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_u64_block(a0, a1, a2) } }
fn _u1119<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_u64_block(a0, a1, a2) } }
fn _u1120<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_u32_system(a0, a1, a2) } }
fn _u1121<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_u32_system(a0, a1, a2) } }
fn _u1122<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_u32_system(a0, a1, a2) } }
fn _u1123<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_u32_system(a0, a1, a2) } }
fn _u1124<>(a0: * mut u32, a1: u32, a2: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_u32_system(a0, a1, a2) } }
fn _u1125<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_u64_system(a0, a1, a2) } }
fn _u1126<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_u64_system(a0, a1, a2) } }
fn _u1127<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_u64_system(a0, a1, a2) } }
fn _u1128<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_u64_system(a0, a1, a2) } }
fn _u1129<>(a0: * mut u64, a1: u64, a2: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_u64_system(a0, a1, a2) } }
fn _u1130<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_i32_device(a0, a1, a2) } }
fn _u1131<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_i32_device(a0, a1, a2) } }
fn _u1132<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_i32_device(a0, a1, a2) } }
fn _u1133<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_i32_device(a0, a1, a2) } }
fn _u1134<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_i32_device(a0, a1, a2) } }
fn _u1135<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_i64_device(a0, a1, a2) } }
fn _u1136<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_i64_device(a0, a1, a2) } }
fn _u1137<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_i64_device(a0, a1, a2) } }
fn _u1138<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_i64_device(a0, a1, a2) } }
fn _u1139<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_i64_device(a0, a1, a2) } }
fn _u1140<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_i32_block(a0, a1, a2) } }
fn _u1141<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_i32_block(a0, a1, a2) } }
fn _u1142<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_i32_block(a0, a1, a2) } }
fn _u1143<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_i32_block(a0, a1, a2) } }
fn _u1144<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_i32_block(a0, a1, a2) } }
fn _u1145<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_i64_block(a0, a1, a2) } }
fn _u1146<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_i64_block(a0, a1, a2) } }
fn _u1147<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_i64_block(a0, a1, a2) } }
fn _u1148<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_i64_block(a0, a1, a2) } }
fn _u1149<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_i64_block(a0, a1, a2) } }
fn _u1150<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_i32_system(a0, a1, a2) } }
fn _u1151<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_i32_system(a0, a1, a2) } }
fn _u1152<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_i32_system(a0, a1, a2) } }
fn _u1153<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_i32_system(a0, a1, a2) } }
fn _u1154<>(a0: * mut i32, a1: i32, a2: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_i32_system(a0, a1, a2) } }
fn _u1155<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_i64_system(a0, a1, a2) } }
fn _u1156<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_i64_system(a0, a1, a2) } }
fn _u1157<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_i64_system(a0, a1, a2) } }
fn _u1158<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_i64_system(a0, a1, a2) } }
fn _u1159<>(a0: * mut i64, a1: i64, a2: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_i64_system(a0, a1, a2) } }
fn _u1160<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_f32_device(a0, a1, a2) } }
fn _u1161<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_f32_device(a0, a1, a2) } }
fn _u1162<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_f32_device(a0, a1, a2) } }
fn _u1163<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_f32_device(a0, a1, a2) } }
fn _u1164<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_f32_device(a0, a1, a2) } }
fn _u1165<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_f64_device(a0, a1, a2) } }
fn _u1166<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_f64_device(a0, a1, a2) } }
fn _u1167<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_f64_device(a0, a1, a2) } }
fn _u1168<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_f64_device(a0, a1, a2) } }
fn _u1169<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_f64_device(a0, a1, a2) } }
fn _u1170<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_f32_block(a0, a1, a2) } }
fn _u1171<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_f32_block(a0, a1, a2) } }
fn _u1172<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_f32_block(a0, a1, a2) } }
fn _u1173<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_f32_block(a0, a1, a2) } }
fn _u1174<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_f32_block(a0, a1, a2) } }
fn _u1175<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_f64_block(a0, a1, a2) } }
fn _u1176<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_f64_block(a0, a1, a2) } }
fn _u1177<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_f64_block(a0, a1, a2) } }
fn _u1178<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_f64_block(a0, a1, a2) } }
fn _u1179<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_f64_block(a0, a1, a2) } }
fn _u1180<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_f32_system(a0, a1, a2) } }
fn _u1181<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_f32_system(a0, a1, a2) } }
fn _u1182<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_f32_system(a0, a1, a2) } }
fn _u1183<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_f32_system(a0, a1, a2) } }
fn _u1184<>(a0: * mut f32, a1: f32, a2: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_f32_system(a0, a1, a2) } }
fn _u1185<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_relaxed_f64_system(a0, a1, a2) } }
fn _u1186<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acquire_f64_system(a0, a1, a2) } }
fn _u1187<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_release_f64_system(a0, a1, a2) } }
fn _u1188<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_acqrel_f64_system(a0, a1, a2) } }
fn _u1189<>(a0: * mut f64, a1: f64, a2: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_cas_volatile_f64_system(a0, a1, a2) } }
fn _u1190<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_u32_device(a0, a1) } }
fn _u1191<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_u32_device(a0, a1) } }
fn _u1192<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_u32_device(a0, a1) } }
fn _u1193<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_u32_device(a0, a1) } }
fn _u1194<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_u32_device(a0, a1) } }
fn _u1195<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_u64_device(a0, a1) } }
fn _u1196<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_u64_device(a0, a1) } }
fn _u1197<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_u64_device(a0, a1) } }
fn _u1198<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_u64_device(a0, a1) } }
fn _u1199<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_u64_device(a0, a1) } }
fn _u1200<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_u32_block(a0, a1) } }
fn _u1201<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_u32_block(a0, a1) } }
fn _u1202<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_u32_block(a0, a1) } }
fn _u1203<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_u32_block(a0, a1) } }
fn _u1204<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_u32_block(a0, a1) } }
fn _u1205<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_u64_block(a0, a1) } }
fn _u1206<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_u64_block(a0, a1) } }
fn _u1207<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_u64_block(a0, a1) } }
fn _u1208<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_u64_block(a0, a1) } }
fn _u1209<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_u64_block(a0, a1) } }
fn _u1210<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_u32_system(a0, a1) } }
fn _u1211<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_u32_system(a0, a1) } }
fn _u1212<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_u32_system(a0, a1) } }
fn _u1213<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_u32_system(a0, a1) } }
fn _u1214<>(a0: * mut u32, a1: u32) -> u32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_u32_system(a0, a1) } }
fn _u1215<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_u64_system(a0, a1) } }
fn _u1216<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_u64_system(a0, a1) } }
fn _u1217<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_u64_system(a0, a1) } }
fn _u1218<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_u64_system(a0, a1) } }
fn _u1219<>(a0: * mut u64, a1: u64) -> u64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_u64_system(a0, a1) } }
fn _u1220<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_i32_device(a0, a1) } }
fn _u1221<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_i32_device(a0, a1) } }
fn _u1222<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_i32_device(a0, a1) } }
fn _u1223<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_i32_device(a0, a1) } }
fn _u1224<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_i32_device(a0, a1) } }
fn _u1225<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_i64_device(a0, a1) } }
fn _u1226<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_i64_device(a0, a1) } }
fn _u1227<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_i64_device(a0, a1) } }
fn _u1228<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_i64_device(a0, a1) } }
fn _u1229<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_i64_device(a0, a1) } }
fn _u1230<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_i32_block(a0, a1) } }
fn _u1231<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_i32_block(a0, a1) } }
fn _u1232<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_i32_block(a0, a1) } }
fn _u1233<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_i32_block(a0, a1) } }
fn _u1234<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_i32_block(a0, a1) } }
fn _u1235<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_i64_block(a0, a1) } }
fn _u1236<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_i64_block(a0, a1) } }
fn _u1237<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_i64_block(a0, a1) } }
fn _u1238<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_i64_block(a0, a1) } }
fn _u1239<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_i64_block(a0, a1) } }
fn _u1240<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_i32_system(a0, a1) } }
fn _u1241<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_i32_system(a0, a1) } }
fn _u1242<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_i32_system(a0, a1) } }
fn _u1243<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_i32_system(a0, a1) } }
fn _u1244<>(a0: * mut i32, a1: i32) -> i32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_i32_system(a0, a1) } }
fn _u1245<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_i64_system(a0, a1) } }
fn _u1246<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_i64_system(a0, a1) } }
fn _u1247<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_i64_system(a0, a1) } }
fn _u1248<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_i64_system(a0, a1) } }
fn _u1249<>(a0: * mut i64, a1: i64) -> i64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_i64_system(a0, a1) } }
fn _u1250<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_f32_device(a0, a1) } }
fn _u1251<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_f32_device(a0, a1) } }
fn _u1252<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_f32_device(a0, a1) } }
fn _u1253<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_f32_device(a0, a1) } }
fn _u1254<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_f32_device(a0, a1) } }
fn _u1255<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_f64_device(a0, a1) } }
fn _u1256<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_f64_device(a0, a1) } }
fn _u1257<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_f64_device(a0, a1) } }
fn _u1258<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_f64_device(a0, a1) } }
fn _u1259<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_f64_device(a0, a1) } }
fn _u1260<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_f32_block(a0, a1) } }
fn _u1261<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_f32_block(a0, a1) } }
fn _u1262<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_f32_block(a0, a1) } }
fn _u1263<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_f32_block(a0, a1) } }
fn _u1264<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_f32_block(a0, a1) } }
fn _u1265<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_f64_block(a0, a1) } }
fn _u1266<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_f64_block(a0, a1) } }
fn _u1267<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_f64_block(a0, a1) } }
fn _u1268<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_f64_block(a0, a1) } }
fn _u1269<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_f64_block(a0, a1) } }
fn _u1270<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_f32_system(a0, a1) } }
fn _u1271<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_f32_system(a0, a1) } }
fn _u1272<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_f32_system(a0, a1) } }
fn _u1273<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_f32_system(a0, a1) } }
fn _u1274<>(a0: * mut f32, a1: f32) -> f32  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_f32_system(a0, a1) } }
fn _u1275<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_relaxed_f64_system(a0, a1) } }
fn _u1276<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acquire_f64_system(a0, a1) } }
fn _u1277<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_release_f64_system(a0, a1) } }
fn _u1278<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_acqrel_f64_system(a0, a1) } }
fn _u1279<>(a0: * mut f64, a1: f64) -> f64  { unsafe { cuda_std::atomic::intrinsics::atomic_fetch_sub_volatile_f64_system(a0, a1) } }
fn _u1280<>(a0: Ordering) -> ()  { unsafe { cuda_std::atomic::mid::device_thread_fence(a0) } }
fn _u1281<>(a0: Ordering) -> ()  { unsafe { cuda_std::atomic::mid::block_thread_fence(a0) } }
fn _u1282<>(a0: Ordering) -> ()  { unsafe { cuda_std::atomic::mid::system_thread_fence(a0) } }
fn _u1283<>(a0: * mut u32, a1: Ordering) -> u32  { unsafe { cuda_std::atomic::mid::atomic_load_32_device(a0, a1) } }
fn _u1284<>(a0: * mut u64, a1: Ordering) -> u64  { unsafe { cuda_std::atomic::mid::atomic_load_64_device(a0, a1) } }
fn _u1285<>(a0: * mut u32, a1: Ordering) -> u32  { unsafe { cuda_std::atomic::mid::atomic_load_32_block(a0, a1) } }
fn _u1286<>(a0: * mut u64, a1: Ordering) -> u64  { unsafe { cuda_std::atomic::mid::atomic_load_64_block(a0, a1) } }
fn _u1287<>(a0: * mut u32, a1: Ordering) -> u32  { unsafe { cuda_std::atomic::mid::atomic_load_32_system(a0, a1) } }
fn _u1288<>(a0: * mut u64, a1: Ordering) -> u64  { unsafe { cuda_std::atomic::mid::atomic_load_64_system(a0, a1) } }
fn _u1289<>(a0: * mut u32, a1: Ordering, a2: u32) -> ()  { unsafe { cuda_std::atomic::mid::atomic_store_32_device(a0, a1, a2) } }
fn _u1290<>(a0: * mut u64, a1: Ordering, a2: u64) -> ()  { unsafe { cuda_std::atomic::mid::atomic_store_64_device(a0, a1, a2) } }
fn _u1291<>(a0: * mut u32, a1: Ordering, a2: u32) -> ()  { unsafe { cuda_std::atomic::mid::atomic_store_32_block(a0, a1, a2) } }
fn _u1292<>(a0: * mut u64, a1: Ordering, a2: u64) -> ()  { unsafe { cuda_std::atomic::mid::atomic_store_64_block(a0, a1, a2) } }
fn _u1293<>(a0: * mut u32, a1: Ordering, a2: u32) -> ()  { unsafe { cuda_std::atomic::mid::atomic_store_32_system(a0, a1, a2) } }
fn _u1294<>(a0: * mut u64, a1: Ordering, a2: u64) -> ()  { unsafe { cuda_std::atomic::mid::atomic_store_64_system(a0, a1, a2) } }
fn _u1295<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_u32_block(a0, a1, a2) } }
fn _u1296<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_u32_device(a0, a1, a2) } }
fn _u1297<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_u32_system(a0, a1, a2) } }
fn _u1298<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_u64_block(a0, a1, a2) } }
fn _u1299<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_u64_device(a0, a1, a2) } }
fn _u1300<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_u64_system(a0, a1, a2) } }
fn _u1301<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_i32_block(a0, a1, a2) } }
fn _u1302<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_i32_device(a0, a1, a2) } }
fn _u1303<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_i32_system(a0, a1, a2) } }
fn _u1304<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_i64_block(a0, a1, a2) } }
fn _u1305<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_i64_device(a0, a1, a2) } }
fn _u1306<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_i64_system(a0, a1, a2) } }
fn _u1307<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_f32_block(a0, a1, a2) } }
fn _u1308<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_f32_device(a0, a1, a2) } }
fn _u1309<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_f32_system(a0, a1, a2) } }
fn _u1310<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_f64_block(a0, a1, a2) } }
fn _u1311<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_f64_device(a0, a1, a2) } }
fn _u1312<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_and_f64_system(a0, a1, a2) } }
fn _u1313<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_u32_block(a0, a1, a2) } }
fn _u1314<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_u32_device(a0, a1, a2) } }
fn _u1315<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_u32_system(a0, a1, a2) } }
fn _u1316<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_u64_block(a0, a1, a2) } }
fn _u1317<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_u64_device(a0, a1, a2) } }
fn _u1318<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_u64_system(a0, a1, a2) } }
fn _u1319<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_i32_block(a0, a1, a2) } }
fn _u1320<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_i32_device(a0, a1, a2) } }
fn _u1321<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_i32_system(a0, a1, a2) } }
fn _u1322<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_i64_block(a0, a1, a2) } }
fn _u1323<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_i64_device(a0, a1, a2) } }
fn _u1324<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_i64_system(a0, a1, a2) } }
fn _u1325<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_f32_block(a0, a1, a2) } }
fn _u1326<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_f32_device(a0, a1, a2) } }
fn _u1327<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_f32_system(a0, a1, a2) } }
fn _u1328<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_f64_block(a0, a1, a2) } }
fn _u1329<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_f64_device(a0, a1, a2) } }
fn _u1330<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_or_f64_system(a0, a1, a2) } }
fn _u1331<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_u32_block(a0, a1, a2) } }
fn _u1332<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_u32_device(a0, a1, a2) } }
fn _u1333<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_u32_system(a0, a1, a2) } }
fn _u1334<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_u64_block(a0, a1, a2) } }
fn _u1335<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_u64_device(a0, a1, a2) } }
fn _u1336<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_u64_system(a0, a1, a2) } }
fn _u1337<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_i32_block(a0, a1, a2) } }
fn _u1338<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_i32_device(a0, a1, a2) } }
fn _u1339<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_i32_system(a0, a1, a2) } }
fn _u1340<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_i64_block(a0, a1, a2) } }
fn _u1341<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_i64_device(a0, a1, a2) } }
fn _u1342<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_i64_system(a0, a1, a2) } }
fn _u1343<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_f32_block(a0, a1, a2) } }
fn _u1344<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_f32_device(a0, a1, a2) } }
fn _u1345<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_f32_system(a0, a1, a2) } }
fn _u1346<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_f64_block(a0, a1, a2) } }
fn _u1347<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_f64_device(a0, a1, a2) } }
fn _u1348<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_xor_f64_system(a0, a1, a2) } }
fn _u1349<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_u32_block(a0, a1, a2) } }
fn _u1350<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_u32_device(a0, a1, a2) } }
fn _u1351<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_u32_system(a0, a1, a2) } }
fn _u1352<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_u64_block(a0, a1, a2) } }
fn _u1353<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_u64_device(a0, a1, a2) } }
fn _u1354<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_u64_system(a0, a1, a2) } }
fn _u1355<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_i32_block(a0, a1, a2) } }
fn _u1356<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_i32_device(a0, a1, a2) } }
fn _u1357<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_i32_system(a0, a1, a2) } }
fn _u1358<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_i64_block(a0, a1, a2) } }
fn _u1359<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_i64_device(a0, a1, a2) } }
fn _u1360<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_i64_system(a0, a1, a2) } }
fn _u1361<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_f32_block(a0, a1, a2) } }
fn _u1362<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_f32_device(a0, a1, a2) } }
fn _u1363<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_f32_system(a0, a1, a2) } }
fn _u1364<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_f64_block(a0, a1, a2) } }
fn _u1365<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_f64_device(a0, a1, a2) } }
fn _u1366<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_add_f64_system(a0, a1, a2) } }
fn _u1367<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_u32_block(a0, a1, a2) } }
fn _u1368<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_u32_device(a0, a1, a2) } }
fn _u1369<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_u32_system(a0, a1, a2) } }
fn _u1370<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_u64_block(a0, a1, a2) } }
fn _u1371<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_u64_device(a0, a1, a2) } }
fn _u1372<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_u64_system(a0, a1, a2) } }
fn _u1373<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_i32_block(a0, a1, a2) } }
fn _u1374<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_i32_device(a0, a1, a2) } }
fn _u1375<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_i32_system(a0, a1, a2) } }
fn _u1376<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_i64_block(a0, a1, a2) } }
fn _u1377<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_i64_device(a0, a1, a2) } }
fn _u1378<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_i64_system(a0, a1, a2) } }
fn _u1379<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_f32_block(a0, a1, a2) } }
fn _u1380<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_f32_device(a0, a1, a2) } }
fn _u1381<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_f32_system(a0, a1, a2) } }
fn _u1382<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_f64_block(a0, a1, a2) } }
fn _u1383<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_f64_device(a0, a1, a2) } }
fn _u1384<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_sub_f64_system(a0, a1, a2) } }
fn _u1385<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_u32_block(a0, a1, a2) } }
fn _u1386<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_u32_device(a0, a1, a2) } }
fn _u1387<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_u32_system(a0, a1, a2) } }
fn _u1388<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_u64_block(a0, a1, a2) } }
fn _u1389<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_u64_device(a0, a1, a2) } }
fn _u1390<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_u64_system(a0, a1, a2) } }
fn _u1391<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_i32_block(a0, a1, a2) } }
fn _u1392<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_i32_device(a0, a1, a2) } }
fn _u1393<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_i32_system(a0, a1, a2) } }
fn _u1394<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_i64_block(a0, a1, a2) } }
fn _u1395<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_i64_device(a0, a1, a2) } }
fn _u1396<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_min_i64_system(a0, a1, a2) } }
fn _u1397<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_u32_block(a0, a1, a2) } }
fn _u1398<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_u32_device(a0, a1, a2) } }
fn _u1399<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_u32_system(a0, a1, a2) } }
fn _u1400<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_u64_block(a0, a1, a2) } }
fn _u1401<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_u64_device(a0, a1, a2) } }
fn _u1402<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_u64_system(a0, a1, a2) } }
fn _u1403<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_i32_block(a0, a1, a2) } }
fn _u1404<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_i32_device(a0, a1, a2) } }
fn _u1405<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_i32_system(a0, a1, a2) } }
fn _u1406<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_i64_block(a0, a1, a2) } }
fn _u1407<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_i64_device(a0, a1, a2) } }
fn _u1408<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_max_i64_system(a0, a1, a2) } }
fn _u1409<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_u32_block(a0, a1, a2) } }
fn _u1410<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_u32_device(a0, a1, a2) } }
fn _u1411<>(a0: * mut u32, a1: Ordering, a2: u32) -> u32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_u32_system(a0, a1, a2) } }
fn _u1412<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_u64_block(a0, a1, a2) } }
fn _u1413<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_u64_device(a0, a1, a2) } }
fn _u1414<>(a0: * mut u64, a1: Ordering, a2: u64) -> u64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_u64_system(a0, a1, a2) } }
fn _u1415<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_i32_block(a0, a1, a2) } }
fn _u1416<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_i32_device(a0, a1, a2) } }
fn _u1417<>(a0: * mut i32, a1: Ordering, a2: i32) -> i32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_i32_system(a0, a1, a2) } }
fn _u1418<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_i64_block(a0, a1, a2) } }
fn _u1419<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_i64_device(a0, a1, a2) } }
fn _u1420<>(a0: * mut i64, a1: Ordering, a2: i64) -> i64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_i64_system(a0, a1, a2) } }
fn _u1421<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_f32_block(a0, a1, a2) } }
fn _u1422<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_f32_device(a0, a1, a2) } }
fn _u1423<>(a0: * mut f32, a1: Ordering, a2: f32) -> f32  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_f32_system(a0, a1, a2) } }
fn _u1424<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_f64_block(a0, a1, a2) } }
fn _u1425<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_f64_device(a0, a1, a2) } }
fn _u1426<>(a0: * mut f64, a1: Ordering, a2: f64) -> f64  { unsafe { cuda_std::atomic::mid::atomic_fetch_exch_f64_system(a0, a1, a2) } }
fn _u1427<>(a0: * mut u32, a1: u32, a2: u32, a3: Ordering) -> u32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_u32_block(a0, a1, a2, a3) } }
fn _u1428<>(a0: * mut u32, a1: u32, a2: u32, a3: Ordering) -> u32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_u32_device(a0, a1, a2, a3) } }
fn _u1429<>(a0: * mut u32, a1: u32, a2: u32, a3: Ordering) -> u32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_u32_system(a0, a1, a2, a3) } }
fn _u1430<>(a0: * mut u64, a1: u64, a2: u64, a3: Ordering) -> u64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_u64_block(a0, a1, a2, a3) } }
fn _u1431<>(a0: * mut u64, a1: u64, a2: u64, a3: Ordering) -> u64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_u64_device(a0, a1, a2, a3) } }
fn _u1432<>(a0: * mut u64, a1: u64, a2: u64, a3: Ordering) -> u64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_u64_system(a0, a1, a2, a3) } }
fn _u1433<>(a0: * mut i32, a1: i32, a2: i32, a3: Ordering) -> i32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_i32_block(a0, a1, a2, a3) } }
fn _u1434<>(a0: * mut i32, a1: i32, a2: i32, a3: Ordering) -> i32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_i32_device(a0, a1, a2, a3) } }
fn _u1435<>(a0: * mut i32, a1: i32, a2: i32, a3: Ordering) -> i32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_i32_system(a0, a1, a2, a3) } }
fn _u1436<>(a0: * mut i64, a1: i64, a2: i64, a3: Ordering) -> i64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_i64_block(a0, a1, a2, a3) } }
fn _u1437<>(a0: * mut i64, a1: i64, a2: i64, a3: Ordering) -> i64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_i64_device(a0, a1, a2, a3) } }
fn _u1438<>(a0: * mut i64, a1: i64, a2: i64, a3: Ordering) -> i64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_i64_system(a0, a1, a2, a3) } }
fn _u1439<>(a0: * mut f32, a1: f32, a2: f32, a3: Ordering) -> f32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_f32_block(a0, a1, a2, a3) } }
fn _u1440<>(a0: * mut f32, a1: f32, a2: f32, a3: Ordering) -> f32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_f32_device(a0, a1, a2, a3) } }
fn _u1441<>(a0: * mut f32, a1: f32, a2: f32, a3: Ordering) -> f32  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_f32_system(a0, a1, a2, a3) } }
fn _u1442<>(a0: * mut f64, a1: f64, a2: f64, a3: Ordering) -> f64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_f64_block(a0, a1, a2, a3) } }
fn _u1443<>(a0: * mut f64, a1: f64, a2: f64, a3: Ordering) -> f64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_f64_device(a0, a1, a2, a3) } }
fn _u1444<>(a0: * mut f64, a1: f64, a2: f64, a3: Ordering) -> f64  { unsafe { cuda_std::atomic::mid::atomic_compare_and_swap_f64_system(a0, a1, a2, a3) } }
fn _u1445() { let _ = |x: cuda_std::atomic::AtomicF32| x; }
fn _u1446<>(a0: f32) -> AtomicF32  { unsafe { cuda_std::atomic::AtomicF32::new(a0) } }
fn _u1447<>(a0: cuda_std::atomic::AtomicF32) -> f32  { unsafe { cuda_std::atomic::AtomicF32::into_inner(a0) } }
fn _u1448<>(a0: &cuda_std::atomic::AtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::AtomicF32::fetch_add(a0, a1, a2) } }
fn _u1449<>(a0: &cuda_std::atomic::AtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::AtomicF32::fetch_sub(a0, a1, a2) } }
fn _u1450<>(a0: &cuda_std::atomic::AtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::AtomicF32::fetch_and(a0, a1, a2) } }
fn _u1451<>(a0: &cuda_std::atomic::AtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::AtomicF32::fetch_or(a0, a1, a2) } }
fn _u1452<>(a0: &cuda_std::atomic::AtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::AtomicF32::fetch_xor(a0, a1, a2) } }
fn _u1453<>(a0: &cuda_std::atomic::AtomicF32, a1: Ordering) -> f32  { unsafe { cuda_std::atomic::AtomicF32::load(a0, a1) } }
fn _u1454<>(a0: &cuda_std::atomic::AtomicF32, a1: f32, a2: Ordering) -> ()  { unsafe { cuda_std::atomic::AtomicF32::store(a0, a1, a2) } }
fn _u1455() { let _ = |x: cuda_std::atomic::AtomicF64| x; }
fn _u1456<>(a0: f64) -> AtomicF64  { unsafe { cuda_std::atomic::AtomicF64::new(a0) } }
fn _u1457<>(a0: cuda_std::atomic::AtomicF64) -> f64  { unsafe { cuda_std::atomic::AtomicF64::into_inner(a0) } }
fn _u1458<>(a0: &cuda_std::atomic::AtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::AtomicF64::fetch_add(a0, a1, a2) } }
fn _u1459<>(a0: &cuda_std::atomic::AtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::AtomicF64::fetch_sub(a0, a1, a2) } }
fn _u1460<>(a0: &cuda_std::atomic::AtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::AtomicF64::fetch_and(a0, a1, a2) } }
fn _u1461<>(a0: &cuda_std::atomic::AtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::AtomicF64::fetch_or(a0, a1, a2) } }
fn _u1462<>(a0: &cuda_std::atomic::AtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::AtomicF64::fetch_xor(a0, a1, a2) } }
fn _u1463<>(a0: &cuda_std::atomic::AtomicF64, a1: Ordering) -> f64  { unsafe { cuda_std::atomic::AtomicF64::load(a0, a1) } }
fn _u1464<>(a0: &cuda_std::atomic::AtomicF64, a1: f64, a2: Ordering) -> ()  { unsafe { cuda_std::atomic::AtomicF64::store(a0, a1, a2) } }
fn _u1465() { let _ = |x: cuda_std::atomic::BlockAtomicF32| x; }
fn _u1466<>(a0: f32) -> BlockAtomicF32  { unsafe { cuda_std::atomic::BlockAtomicF32::new(a0) } }
fn _u1467<>(a0: cuda_std::atomic::BlockAtomicF32) -> f32  { unsafe { cuda_std::atomic::BlockAtomicF32::into_inner(a0) } }
fn _u1468<>(a0: &cuda_std::atomic::BlockAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::BlockAtomicF32::fetch_add(a0, a1, a2) } }
fn _u1469<>(a0: &cuda_std::atomic::BlockAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::BlockAtomicF32::fetch_sub(a0, a1, a2) } }
fn _u1470<>(a0: &cuda_std::atomic::BlockAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::BlockAtomicF32::fetch_and(a0, a1, a2) } }
fn _u1471<>(a0: &cuda_std::atomic::BlockAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::BlockAtomicF32::fetch_or(a0, a1, a2) } }
fn _u1472<>(a0: &cuda_std::atomic::BlockAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::BlockAtomicF32::fetch_xor(a0, a1, a2) } }
fn _u1473<>(a0: &cuda_std::atomic::BlockAtomicF32, a1: Ordering) -> f32  { unsafe { cuda_std::atomic::BlockAtomicF32::load(a0, a1) } }
fn _u1474<>(a0: &cuda_std::atomic::BlockAtomicF32, a1: f32, a2: Ordering) -> ()  { unsafe { cuda_std::atomic::BlockAtomicF32::store(a0, a1, a2) } }
fn _u1475() { let _ = |x: cuda_std::atomic::BlockAtomicF64| x; }
fn _u1476<>(a0: f64) -> BlockAtomicF64  { unsafe { cuda_std::atomic::BlockAtomicF64::new(a0) } }
fn _u1477<>(a0: cuda_std::atomic::BlockAtomicF64) -> f64  { unsafe { cuda_std::atomic::BlockAtomicF64::into_inner(a0) } }
fn _u1478<>(a0: &cuda_std::atomic::BlockAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::BlockAtomicF64::fetch_add(a0, a1, a2) } }
fn _u1479<>(a0: &cuda_std::atomic::BlockAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::BlockAtomicF64::fetch_sub(a0, a1, a2) } }
fn _u1480<>(a0: &cuda_std::atomic::BlockAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::BlockAtomicF64::fetch_and(a0, a1, a2) } }
fn _u1481<>(a0: &cuda_std::atomic::BlockAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::BlockAtomicF64::fetch_or(a0, a1, a2) } }
fn _u1482<>(a0: &cuda_std::atomic::BlockAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::BlockAtomicF64::fetch_xor(a0, a1, a2) } }
fn _u1483<>(a0: &cuda_std::atomic::BlockAtomicF64, a1: Ordering) -> f64  { unsafe { cuda_std::atomic::BlockAtomicF64::load(a0, a1) } }
fn _u1484<>(a0: &cuda_std::atomic::BlockAtomicF64, a1: f64, a2: Ordering) -> ()  { unsafe { cuda_std::atomic::BlockAtomicF64::store(a0, a1, a2) } }
fn _u1485() { let _ = |x: cuda_std::atomic::SystemAtomicF32| x; }
fn _u1486<>(a0: f32) -> SystemAtomicF32  { unsafe { cuda_std::atomic::SystemAtomicF32::new(a0) } }
fn _u1487<>(a0: cuda_std::atomic::SystemAtomicF32) -> f32  { unsafe { cuda_std::atomic::SystemAtomicF32::into_inner(a0) } }
fn _u1488<>(a0: &cuda_std::atomic::SystemAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::SystemAtomicF32::fetch_add(a0, a1, a2) } }
fn _u1489<>(a0: &cuda_std::atomic::SystemAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::SystemAtomicF32::fetch_sub(a0, a1, a2) } }
fn _u1490<>(a0: &cuda_std::atomic::SystemAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::SystemAtomicF32::fetch_and(a0, a1, a2) } }
fn _u1491<>(a0: &cuda_std::atomic::SystemAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::SystemAtomicF32::fetch_or(a0, a1, a2) } }
fn _u1492<>(a0: &cuda_std::atomic::SystemAtomicF32, a1: f32, a2: Ordering) -> f32  { unsafe { cuda_std::atomic::SystemAtomicF32::fetch_xor(a0, a1, a2) } }
fn _u1493<>(a0: &cuda_std::atomic::SystemAtomicF32, a1: Ordering) -> f32  { unsafe { cuda_std::atomic::SystemAtomicF32::load(a0, a1) } }
fn _u1494<>(a0: &cuda_std::atomic::SystemAtomicF32, a1: f32, a2: Ordering) -> ()  { unsafe { cuda_std::atomic::SystemAtomicF32::store(a0, a1, a2) } }
fn _u1495() { let _ = |x: cuda_std::atomic::SystemAtomicF64| x; }
fn _u1496<>(a0: f64) -> SystemAtomicF64  { unsafe { cuda_std::atomic::SystemAtomicF64::new(a0) } }
fn _u1497<>(a0: cuda_std::atomic::SystemAtomicF64) -> f64  { unsafe { cuda_std::atomic::SystemAtomicF64::into_inner(a0) } }
fn _u1498<>(a0: &cuda_std::atomic::SystemAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::SystemAtomicF64::fetch_add(a0, a1, a2) } }
fn _u1499<>(a0: &cuda_std::atomic::SystemAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::SystemAtomicF64::fetch_sub(a0, a1, a2) } }
fn _u1500<>(a0: &cuda_std::atomic::SystemAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::SystemAtomicF64::fetch_and(a0, a1, a2) } }
fn _u1501<>(a0: &cuda_std::atomic::SystemAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::SystemAtomicF64::fetch_or(a0, a1, a2) } }
fn _u1502<>(a0: &cuda_std::atomic::SystemAtomicF64, a1: f64, a2: Ordering) -> f64  { unsafe { cuda_std::atomic::SystemAtomicF64::fetch_xor(a0, a1, a2) } }
fn _u1503<>(a0: &cuda_std::atomic::SystemAtomicF64, a1: Ordering) -> f64  { unsafe { cuda_std::atomic::SystemAtomicF64::load(a0, a1) } }
fn _u1504<>(a0: &cuda_std::atomic::SystemAtomicF64, a1: f64, a2: Ordering) -> ()  { unsafe { cuda_std::atomic::SystemAtomicF64::store(a0, a1, a2) } }
fn _u1505() { let _ = |x: cuda_std::ptr::AddressSpace| matches!(x, cuda_std::ptr::AddressSpace::Global); }
fn _u1506() { let _ = |x: cuda_std::ptr::AddressSpace| matches!(x, cuda_std::ptr::AddressSpace::Shared); }
fn _u1507() { let _ = |x: cuda_std::ptr::AddressSpace| matches!(x, cuda_std::ptr::AddressSpace::Constant); }
fn _u1508() { let _ = |x: cuda_std::ptr::AddressSpace| matches!(x, cuda_std::ptr::AddressSpace::Local); }
fn _u1509<T>(a0: * const T, a1: AddressSpace) -> bool  { unsafe { cuda_std::ptr::is_in_address_space(a0, a1) } }
fn _u1510<T>(a0: * const T, a1: AddressSpace) -> * const T  { unsafe { cuda_std::ptr::convert_generic_to_specific_address_space(a0, a1) } }
fn _u1511<T>(a0: * const T, a1: AddressSpace) -> * const T  { unsafe { cuda_std::ptr::convert_specific_address_space_to_generic(a0, a1) } }
fn _u1512<T>() -> * mut T  { unsafe { cuda_std::shared::dynamic_shared_mem() } }
fn _u1513<>() -> u32  { unsafe { cuda_std::thread::thread_idx_x() } }
fn _u1514<>() -> u32  { unsafe { cuda_std::thread::thread_idx_y() } }
fn _u1515<>() -> u32  { unsafe { cuda_std::thread::thread_idx_z() } }
fn _u1516<>() -> u32  { unsafe { cuda_std::thread::block_idx_x() } }
fn _u1517<>() -> u32  { unsafe { cuda_std::thread::block_idx_y() } }
fn _u1518<>() -> u32  { unsafe { cuda_std::thread::block_idx_z() } }
fn _u1519<>() -> u32  { unsafe { cuda_std::thread::block_dim_x() } }
fn _u1520<>() -> u32  { unsafe { cuda_std::thread::block_dim_y() } }
fn _u1521<>() -> u32  { unsafe { cuda_std::thread::block_dim_z() } }
fn _u1522<>() -> u32  { unsafe { cuda_std::thread::grid_dim_x() } }
fn _u1523<>() -> u32  { unsafe { cuda_std::thread::grid_dim_y() } }
fn _u1524<>() -> u32  { unsafe { cuda_std::thread::grid_dim_z() } }
fn _u1525<>() -> UVec3  { unsafe { cuda_std::thread::thread_idx() } }
fn _u1526<>() -> UVec3  { unsafe { cuda_std::thread::block_idx() } }
fn _u1527<>() -> UVec3  { unsafe { cuda_std::thread::block_dim() } }
fn _u1528<>() -> UVec3  { unsafe { cuda_std::thread::grid_dim() } }
fn _u1529<>() -> u32  { unsafe { cuda_std::thread::index() } }
fn _u1530<>() -> u32  { unsafe { cuda_std::thread::index_1d() } }
fn _u1531<>() -> UVec2  { unsafe { cuda_std::thread::index_2d() } }
fn _u1532<>() -> UVec3  { unsafe { cuda_std::thread::index_3d() } }
fn _u1533<>() -> bool  { unsafe { cuda_std::thread::first() } }
fn _u1534<>() -> u32  { unsafe { cuda_std::thread::warp_size() } }
fn _u1535<>() -> ()  { unsafe { cuda_std::thread::sync_threads() } }
fn _u1536<>(a0: u32) -> u32  { unsafe { cuda_std::thread::sync_threads_count(a0) } }
fn _u1537<>(a0: u32) -> u32  { unsafe { cuda_std::thread::sync_threads_and(a0) } }
fn _u1538<>(a0: u32) -> u32  { unsafe { cuda_std::thread::sync_threads_or(a0) } }
fn _u1539<>() -> ()  { unsafe { cuda_std::thread::grid_fence() } }
fn _u1540<>() -> ()  { unsafe { cuda_std::thread::device_fence() } }
fn _u1541<>() -> ()  { unsafe { cuda_std::thread::system_fence() } }
fn _u1542<>(a0: u32) -> ()  { unsafe { cuda_std::thread::nanosleep(a0) } }
fn _u1543<>(a0: u32) -> ()  { unsafe { cuda_std::warp::sync_warp(a0) } }
fn _u1544<>() -> u32  { unsafe { cuda_std::warp::lane_id() } }
fn _u1545<>() -> u32  { unsafe { cuda_std::warp::activemask() } }
fn _u1546<T : WarpReduceValue>(a0: u32, a1: T, a2: WarpReductionOp) -> T  { unsafe { cuda_std::warp::warp_reduce(a0, a1, a2) } }
fn _u1547() { let _ = |x: cuda_std::warp::WarpReductionOp| matches!(x, cuda_std::warp::WarpReductionOp::Add); }
fn _u1548() { let _ = |x: cuda_std::warp::WarpReductionOp| matches!(x, cuda_std::warp::WarpReductionOp::Min); }
fn _u1549() { let _ = |x: cuda_std::warp::WarpReductionOp| matches!(x, cuda_std::warp::WarpReductionOp::Max); }
fn _u1550() { let _ = |x: cuda_std::warp::WarpReductionOp| matches!(x, cuda_std::warp::WarpReductionOp::And); }
fn _u1551() { let _ = |x: cuda_std::warp::WarpReductionOp| matches!(x, cuda_std::warp::WarpReductionOp::Or); }
fn _u1552() { let _ = |x: cuda_std::warp::WarpReductionOp| matches!(x, cuda_std::warp::WarpReductionOp::Xor); }
fn _u1553<O: cuda_std::warp::WarpReduceValue>(a0: u32, a1: O, a2: WarpReductionOp) -> O  { unsafe { <O as cuda_std::warp::WarpReduceValue>::reduce(a0, a1, a2) } }
fn _u1554<T : WarpMatchValue>(a0: u32, a1: T) -> u32  { unsafe { cuda_std::warp::warp_match_any(a0, a1) } }
fn _u1555<T : WarpMatchValue>(a0: u32, a1: T) -> Option < u32 >  { unsafe { cuda_std::warp::warp_match_all(a0, a1) } }
fn _u1556<O: cuda_std::warp::WarpMatchValue>(a0: u32, a1: O) -> u32  { unsafe { <O as cuda_std::warp::WarpMatchValue>::match_any(a0, a1) } }
fn _u1557<O: cuda_std::warp::WarpMatchValue>(a0: u32, a1: O) -> Option < u32 >  { unsafe { <O as cuda_std::warp::WarpMatchValue>::match_all(a0, a1) } }
fn _u1558<>(a0: u32, a1: bool) -> bool  { unsafe { cuda_std::warp::warp_vote_all(a0, a1) } }
fn _u1559<>(a0: u32, a1: bool) -> bool  { unsafe { cuda_std::warp::warp_vote_any(a0, a1) } }
fn _u1560<>(a0: u32, a1: bool) -> u32  { unsafe { cuda_std::warp::warp_vote_ballot(a0, a1) } }
fn _u1561<T : WarpShuffleValue>(a0: u32, a1: T, a2: u32, a3: u32) -> (T , bool)  { unsafe { cuda_std::warp::warp_shuffle_down(a0, a1, a2, a3) } }
fn _u1562<T : WarpShuffleValue>(a0: u32, a1: T, a2: u32, a3: u32) -> (T , bool)  { unsafe { cuda_std::warp::warp_shuffle_up(a0, a1, a2, a3) } }
fn _u1563<T : WarpShuffleValue>(a0: u32, a1: T, a2: u32, a3: u32) -> (T , bool)  { unsafe { cuda_std::warp::warp_shuffle_idx(a0, a1, a2, a3) } }
fn _u1564<T : WarpShuffleValue>(a0: u32, a1: T, a2: u32, a3: u32) -> (T , bool)  { unsafe { cuda_std::warp::warp_shuffle_xor(a0, a1, a2, a3) } }
fn _u1565<O: cuda_std::warp::WarpShuffleValue>(a0: WarpShuffleMode, a1: u32, a2: O, a3: u32, a4: u32) -> (O , bool)  { unsafe { <O as cuda_std::warp::WarpShuffleValue>::shuffle(a0, a1, a2, a3, a4) } }
fn _u1566() { let _ = |x: cuda_std::warp::WarpShuffleMode| matches!(x, cuda_std::warp::WarpShuffleMode::Idx); }
fn _u1567() { let _ = |x: cuda_std::warp::WarpShuffleMode| matches!(x, cuda_std::warp::WarpShuffleMode::Up); }
fn _u1568() { let _ = |x: cuda_std::warp::WarpShuffleMode| matches!(x, cuda_std::warp::WarpShuffleMode::Down); }
fn _u1569() { let _ = |x: cuda_std::warp::WarpShuffleMode| matches!(x, cuda_std::warp::WarpShuffleMode::Xor); }
fn _u1571<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::cospi(a0) } }
fn _u1572<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::error_function(a0) } }
fn _u1573<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::complementary_error_function(a0) } }
fn _u1574<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::inv_complementary_error_function(a0) } }
fn _u1575<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::scaled_complementary_error_function(a0) } }
fn _u1576<O: cuda_std::FloatExt>(a0: O) -> (O , i32)  { unsafe { <O as cuda_std::FloatExt>::frexp(a0) } }
fn _u1577<O: cuda_std::FloatExt>(a0: O) -> i32  { unsafe { <O as cuda_std::FloatExt>::unbiased_exp(a0) } }
fn _u1578<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::j0(a0) } }
fn _u1579<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::j1(a0) } }
fn _u1580<O: cuda_std::FloatExt>(a0: O, a1: i32) -> O  { unsafe { <O as cuda_std::FloatExt>::jn(a0, a1) } }
fn _u1581<O: cuda_std::FloatExt>(a0: O, a1: i32) -> O  { unsafe { <O as cuda_std::FloatExt>::ldexp(a0, a1) } }
fn _u1582<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::log_gamma(a0) } }
fn _u1583<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::log1p(a0) } }
fn _u1584<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::norm_cdf(a0) } }
fn _u1585<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::inv_norm_cdf(a0) } }
fn _u1586<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::rcbrt(a0) } }
fn _u1587<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::saturate(a0) } }
fn _u1588<O: cuda_std::FloatExt>(a0: O, a1: i32) -> O  { unsafe { <O as cuda_std::FloatExt>::scale_by_n(a0, a1) } }
fn _u1589<O: cuda_std::FloatExt>(a0: O) -> (O , O)  { unsafe { <O as cuda_std::FloatExt>::sincospi(a0) } }
fn _u1590<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::sinpi(a0) } }
fn _u1591<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::gamma(a0) } }
fn _u1592<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::y0(a0) } }
fn _u1593<O: cuda_std::FloatExt>(a0: O) -> O  { unsafe { <O as cuda_std::FloatExt>::y1(a0) } }
fn _u1594<O: cuda_std::FloatExt>(a0: O, a1: i32) -> O  { unsafe { <O as cuda_std::FloatExt>::yn(a0, a1) } }
mod _u1595 { pub use cuda_std::GpuFloat as _x; }
mod _u1596 { pub use cuda_std::glam as _x; }
mod _u1597 { pub use cuda_std::half as _x; }
mod _u1599 { pub use cuda_std::bf16 as _x; }
mod _u1600 { pub use cuda_std::f16 as _x; }
mod _u1601 { pub use cuda_std::prelude::f16 as _x; }
mod _u1602 { pub use cuda_std::prelude::kernel as _x; }
mod _u1603 { pub use cuda_std::prelude::thread as _x; }
mod _u1604 { pub use cuda_std::prelude::assert_eq as _x; }
mod _u1605 { pub use cuda_std::prelude::assert_ne as _x; }
mod _u1606 { pub use cuda_std::prelude::print as _x; }
mod _u1607 { pub use cuda_std::prelude::println as _x; }
mod _u1608 { pub use cuda_std::prelude::ToOwned as _x; }
mod _u1609 { pub use cuda_std::prelude::Box as _x; }
mod _u1610 { pub use cuda_std::prelude::format as _x; }
mod _u1611 { pub use cuda_std::prelude::Rc as _x; }
mod _u1612 { pub use cuda_std::prelude::String as _x; }
mod _u1613 { pub use cuda_std::prelude::ToString as _x; }
mod _u1614 { pub use cuda_std::prelude::Vec as _x; }
fn _u1618() { let _ = |x: cuda_builder::DebugInfo| matches!(x, cuda_builder::DebugInfo::None); }
fn _u1619() { let _ = |x: cuda_builder::DebugInfo| matches!(x, cuda_builder::DebugInfo::LineTables); }
fn _u1638() { let _ = |x: cuda_builder::CudaBuilder| x; }
fn _u1639<>(a0: impl AsRef < Path >) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::new(a0) } }
fn _u1640<>(a0: cuda_builder::CudaBuilder, a1: & [impl AsRef < str >]) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::build_args(a0, a1) } }
fn _u1641<>(a0: cuda_builder::CudaBuilder, a1: DebugInfo) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::debug(a0, a1) } }
fn _u1642<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::release(a0, a1) } }
fn _u1643<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::generate_line_info(a0, a1) } }
fn _u1644<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::nvvm_opts(a0, a1) } }
fn _u1645<>(a0: cuda_builder::CudaBuilder, a1: NvvmArch) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::arch(a0, a1) } }
fn _u1646<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::ftz(a0, a1) } }
fn _u1647<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::fast_sqrt(a0, a1) } }
fn _u1648<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::fast_div(a0, a1) } }
fn _u1649<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::fma_contraction(a0, a1) } }
fn _u1650<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::emit_llvm_ir(a0, a1) } }
fn _u1651<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::emit_llvm_bitcode(a0, a1) } }
fn _u1652<>(a0: cuda_builder::CudaBuilder, a1: impl AsRef < Path >) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::copy_to(a0, a1) } }
fn _u1653<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::optix(a0, a1) } }
fn _u1654<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::override_libm(a0, a1) } }
fn _u1655<>(a0: cuda_builder::CudaBuilder, a1: bool) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::use_constant_memory_space(a0, a1) } }
fn _u1656<>(a0: cuda_builder::CudaBuilder, a1: impl AsRef < Path >) -> cuda_builder::CudaBuilder  { unsafe { cuda_builder::CudaBuilder::final_module_path(a0, a1) } }
fn _u1657<>(a0: cuda_builder::CudaBuilder) -> Result < PathBuf , CudaBuilderError >  { unsafe { cuda_builder::CudaBuilder::build(a0) } }
fn _u1678() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute50); }
fn _u1679() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute52); }
fn _u1680() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute53); }
fn _u1681() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute60); }
fn _u1682() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute61); }
fn _u1683() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute62); }
fn _u1684() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute70); }
fn _u1685() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute72); }
fn _u1686() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute73); }
fn _u1687() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute75); }
fn _u1688() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute80); }
fn _u1689() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute86); }
fn _u1690() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute87); }
fn _u1691() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute88); }
fn _u1692() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute89); }
fn _u1693() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute90); }
fn _u1694() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute90a); }
fn _u1695() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute100); }
fn _u1696() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute100f); }
fn _u1697() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute100a); }
fn _u1698() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute101); }
fn _u1699() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute101f); }
fn _u1700() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute101a); }
fn _u1701() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute103); }
fn _u1702() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute103f); }
fn _u1703() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute103a); }
fn _u1704() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute110); }
fn _u1705() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute110f); }
fn _u1706() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute110a); }
fn _u1707() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute120); }
fn _u1708() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute120f); }
fn _u1709() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute120a); }
fn _u1710() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute121); }
fn _u1711() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute121f); }
fn _u1712() { let _ = |x: cuda_builder::NvvmArch| matches!(x, cuda_builder::NvvmArch::Compute121a); }
fn _u1713<>(a0: &cuda_builder::NvvmArch) -> u32  { unsafe { cuda_builder::NvvmArch::capability_value(a0) } }
fn _u1714<>(a0: &cuda_builder::NvvmArch) -> u32  { unsafe { cuda_builder::NvvmArch::major_version(a0) } }
fn _u1715<>(a0: &cuda_builder::NvvmArch) -> u32  { unsafe { cuda_builder::NvvmArch::minor_version(a0) } }
fn _u1716<>(a0: &cuda_builder::NvvmArch) -> & 'static str  { unsafe { cuda_builder::NvvmArch::target_feature(a0) } }
fn _u1717<>(a0: &cuda_builder::NvvmArch) -> Vec < cuda_builder::NvvmArch >  { unsafe { cuda_builder::NvvmArch::all_target_features(a0) } }
fn _u1718<>(a0: &cuda_builder::NvvmArch) -> bool  { unsafe { cuda_builder::NvvmArch::is_base_variant(a0) } }
fn _u1719<>(a0: &cuda_builder::NvvmArch) -> bool  { unsafe { cuda_builder::NvvmArch::is_family_variant(a0) } }
fn _u1720<>(a0: &cuda_builder::NvvmArch) -> bool  { unsafe { cuda_builder::NvvmArch::is_architecture_variant(a0) } }
fn _u1721<>(a0: &cuda_builder::NvvmArch) -> cuda_builder::NvvmArch  { unsafe { cuda_builder::NvvmArch::base_architecture(a0) } }
fn _u1722<>(a0: &cuda_builder::NvvmArch) -> Vec < cuda_builder::NvvmArch >  { unsafe { cuda_builder::NvvmArch::get_variants(a0) } }
fn _u1723<>(a0: u32) -> Vec < cuda_builder::NvvmArch >  { unsafe { cuda_builder::NvvmArch::variants_for_capability(a0) } }
