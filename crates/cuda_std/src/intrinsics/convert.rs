//! Conversions, rounded to the nearest (`rn`), to zero (`rz`), down (`rd`) or up (`ru`).
//!
//! A float beyond an integer becomes the integer that is nearest; a NaN becomes 0, or `i64::MIN` of 64 bits. What C has as
//! unsigned is a signed integer of the same bits here, as in rust-cuda.

use super::{functions, instructions};
use crate::float::convert;

instructions! {
    "A double as a float" "cvt." ".f32.f64" (d: f64 reg64) -> f32 reg32:
        double2float_rn double2float_rz double2float_rd double2float_ru;
    "A double as an integer" "cvt." "i.s32.f64" (d: f64 reg64) -> i32 reg32:
        double2int_rn double2int_rz double2int_rd double2int_ru;
    "A double as the bits of an unsigned integer" "cvt." "i.u32.f64" (d: f64 reg64) -> i32 reg32:
        double2uint_rn double2uint_rz double2uint_rd double2uint_ru;
    "A double as an integer" "cvt." "i.s64.f64" (f: f64 reg64) -> i64 reg64:
        double2ll_rn double2ll_rz double2ll_rd double2ll_ru;
    "A double as the bits of an unsigned integer" "cvt." "i.u64.f64" (f: f64 reg64) -> i64 reg64:
        double2ull_rn double2ull_rz double2ull_rd double2ull_ru;
    "A float as an integer" "cvt." "i.s32.f32" (in_: f32 reg32) -> i32 reg32:
        float2int_rn float2int_rz float2int_rd float2int_ru;
    "A float as the bits of an unsigned integer" "cvt." "i.u32.f32" (in_: f32 reg32) -> i32 reg32:
        float2uint_rn float2uint_rz float2uint_rd float2uint_ru;
    "A float as an integer" "cvt." "i.s64.f32" (f: f32 reg32) -> i64 reg64:
        float2ll_rn float2ll_rz float2ll_rd float2ll_ru;
    "A float as the bits of an unsigned integer" "cvt." "i.u64.f32" (f: f32 reg32) -> i64 reg64:
        float2ull_rn float2ull_rz float2ull_rd float2ull_ru;
    "An integer as a float" "cvt." ".f32.s32" (in_: i32 reg32) -> f32 reg32:
        int2float_rn int2float_rz int2float_rd int2float_ru;
    "The bits of an unsigned integer as a float" "cvt." ".f32.u32" (in_: i32 reg32) -> f32 reg32:
        uint2float_rn uint2float_rz uint2float_rd uint2float_ru;
    "An integer as a float" "cvt." ".f32.s64" (l: i64 reg64) -> f32 reg32:
        ll2float_rn ll2float_rz ll2float_rd ll2float_ru;
    "The bits of an unsigned integer as a float" "cvt." ".f32.u64" (l: i64 reg64) -> f32 reg32:
        ull2float_rn ull2float_rz ull2float_rd ull2float_ru;
    "An integer as a double" "cvt." ".f64.s64" (l: i64 reg64) -> f64 reg64:
        ll2double_rn ll2double_rz ll2double_rd ll2double_ru;
    "The bits of an unsigned integer as a double" "cvt." ".f64.u64" (l: i64 reg64) -> f64 reg64:
        ull2double_rn ull2double_rz ull2double_rd ull2double_ru;
}

functions! {
    "An integer as a double, exactly." int2double_rn(i: i32) -> f64 = f64::from(i);
    "The bits of an unsigned integer as a double, exactly." uint2double_rn(i: i32) -> f64 = f64::from(i as u32);
    "The bits of the nearest half. PTX: `cvt.rn.f16.f32`." float2half_rn(f: f32) -> i16 =
        convert::f32_to_f16(f).to_bits() as i16;
    "The float of a half's bits. PTX: `cvt.f32.f16`." half2float(h: i16) -> f32 =
        convert::f16_to_f32(crate::f16::from_bits(h as u16));
    "The higher half of a double's bits." double2hiint(d: f64) -> i32 = (d.to_bits() >> 32) as i32;
    "The lower half of a double's bits." double2loint(d: f64) -> i32 = d.to_bits() as i32;
    "The double of two halves of its bits, the higher one first." hiloint2double(x: i32, y: i32) -> f64 =
        f64::from_bits(u64::from(x as u32) << 32 | u64::from(y as u32));
    "The bits of a double." double_as_longlong(x: f64) -> i64 = x.to_bits() as i64;
    "The double of these bits." longlong_as_double(x: i64) -> f64 = f64::from_bits(x as u64);
    "The bits of a float." float_as_int(x: f32) -> i32 = x.to_bits() as i32;
    "The float of these bits." int_as_float(x: i32) -> f32 = f32::from_bits(x as u32);
}
