//! Integers. What C has as unsigned is a signed integer of the same bits here, as in rust-cuda.

use super::{functions, instructions};

/// The higher half of a product of 64 bits.
fn high(product: u64) -> i32 {
    (product >> 32) as i32
}

/// A number of 24 bits with a sign, from the lower bits.
fn signed_24(x: i32) -> i32 {
    x << 8 >> 8
}

functions! {
    "The absolute value." abs(x: i32) -> i32 = x.wrapping_abs();
    "The absolute value." llabs(x: i64) -> i64 = x.wrapping_abs();
    "The larger one." max(x: i32, y: i32) -> i32 = x.max(y);
    "The smaller one." min(x: i32, y: i32) -> i32 = x.min(y);
    "The larger one." llmax(x: i64, y: i64) -> i64 = x.max(y);
    "The smaller one." llmin(x: i64, y: i64) -> i64 = x.min(y);
    "The larger one of unsigned integers." umax(x: i32, y: i32) -> i32 = (x as u32).max(y as u32) as i32;
    "The smaller one of unsigned integers." umin(x: i32, y: i32) -> i32 = (x as u32).min(y as u32) as i32;
    "The larger one of unsigned integers." ullmax(x: i64, y: i64) -> i64 = (x as u64).max(y as u64) as i64;
    "The smaller one of unsigned integers." ullmin(x: i64, y: i64) -> i64 = (x as u64).min(y as u64) as i64;
    "The bits in the opposite order. PTX: `brev.b32`." brev(x: i32) -> i32 = x.reverse_bits();
    "The bits in the opposite order. PTX: `brev.b64`." brevll(x: i64) -> i64 = x.reverse_bits();
    "The count of leading zeros. PTX: `clz.b32`." clz(x: i32) -> i32 = x.leading_zeros() as i32;
    "The count of leading zeros. PTX: `clz.b64`." clzll(x: i64) -> i32 = x.leading_zeros() as i32;
    "The place of the lowest bit, from 1; 0 where there is none." ffs(x: i32) -> i32 =
        if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 };
    "The place of the lowest bit, from 1; 0 where there is none." ffsll(x: i64) -> i32 =
        if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 };
    "The count of set bits. PTX: `popc.b32`." popc(x: i32) -> i32 = x.count_ones() as i32;
    "The count of set bits. PTX: `popc.b64`." popcll(x: i64) -> i32 = x.count_ones() as i32;
    "`(x + y) / 2`, rounded down, without overflow." hadd(x: i32, y: i32) -> i32 = (x & y) + ((x ^ y) >> 1);
    "`(x + y) / 2`, rounded up, without overflow." rhadd(x: i32, y: i32) -> i32 = (x | y) - ((x ^ y) >> 1);
    "`(x + y) / 2` of unsigned integers, rounded down, without overflow." uhadd(x: i32, y: i32) -> i32 =
        ((x & y) as u32 + ((x ^ y) as u32 >> 1)) as i32;
    "`(x + y) / 2` of unsigned integers, rounded up, without overflow." urhadd(x: i32, y: i32) -> i32 =
        ((x | y) as u32 - ((x ^ y) as u32 >> 1)) as i32;
    "`|x - y| + z`. PTX: `sad.s32`." sad(x: i32, y: i32, z: i32) -> i32 =
        (x.abs_diff(y) as i32).wrapping_add(z);
    "`|x - y| + z` of unsigned integers. PTX: `sad.u32`." usad(x: i32, y: i32, z: i32) -> i32 =
        ((x as u32).abs_diff(y as u32) as i32).wrapping_add(z);
    "The lower 32 bits of the product of two numbers of 24 bits." mul24(x: i32, y: i32) -> i32 =
        signed_24(x).wrapping_mul(signed_24(y));
    "The lower 32 bits of the product of two unsigned numbers of 24 bits." umul24(x: i32, y: i32) -> i32 =
        (x & 0xff_ffff).wrapping_mul(y & 0xff_ffff);
    "The higher half of the product. PTX: `mul.hi.s32`." mulhi(x: i32, y: i32) -> i32 =
        high((i64::from(x) * i64::from(y)) as u64);
    "The higher half of the product of unsigned integers. PTX: `mul.hi.u32`." umulhi(x: i32, y: i32) -> i32 =
        high(u64::from(x as u32) * u64::from(y as u32));
    "The higher half of the product. PTX: `mul.hi.s64`." mul64hi(x: i64, y: i64) -> i64 =
        ((i128::from(x) * i128::from(y)) >> 64) as i64;
    "The higher half of the product of unsigned integers. PTX: `mul.hi.u64`." umul64hi(x: i64, y: i64) -> i64 =
        ((u128::from(x as u64) * u128::from(y as u64)) >> 64) as i64;
}

instructions! {
    @ "Four bytes of `x` (0 to 3) and `y` (4 to 7), chosen by the four lowest digits of `z`; from 8 on, eight times the \
       sign of byte `digit - 8`" "prmt.b32", byte_perm (x: i32 reg32, y: i32 reg32, z: i32 reg32) -> i32 reg32 {
        let bytes = u64::from(y as u32) << 32 | u64::from(x as u32);
        let byte = |place: u32| {
            let digit = (z as u32 >> (4 * place)) & 15;
            let byte = (bytes >> (8 * (digit & 7))) as u8;
            if digit < 8 { byte } else { ((byte as i8) >> 7) as u8 }
        };
        i32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
    }
}
