//! The registers of one warp: one row of 32 lanes per register, in three files.
//!
//! PTX registers are untyped bits. Those of up to 32 bits live in `words`, 64-bit ones in `longs` (128-bit ones are
//! two), predicates are one bit per lane. A value narrower than its row is extended when written and cut when read.

use crate::compute::half::{Bf16, F16};

pub(crate) const LANES: usize = 32;

/// The predicate that is always true; instructions without a guard use it.
pub(crate) const ALWAYS: u32 = 0;
/// The predicate that is never true.
pub(crate) const NEVER: u32 = 2;
/// The condition code of `add.cc` and its family.
pub(crate) const CARRY: u32 = 1;

#[derive(Debug, Default, Clone)]
pub(crate) struct Registers {
    pub words: Vec<[u32; LANES]>,
    pub longs: Vec<[u64; LANES]>,
    pub predicates: Vec<u32>,
}

/// A lane's view of a register row as some type.
pub(crate) trait Lane: Copy + Default {
    fn read(registers: &Registers, index: u32) -> [Self; LANES];
    fn write(registers: &mut Registers, index: u32, values: [Self; LANES], mask: u32);
}

macro_rules! lane {
    ($file:ident, $row:ty, $($type:ty: |$bits:ident| $from:expr, |$value:ident| $to:expr;)*) => {$(
        impl Lane for $type {
            #[inline(always)]
            fn read(registers: &Registers, index: u32) -> [Self; LANES] {
                let row = &registers.$file[index as usize];
                std::array::from_fn(|lane| { let $bits = row[lane]; $from })
            }
            #[inline(always)]
            fn write(registers: &mut Registers, index: u32, values: [Self; LANES], mask: u32) {
                let row = &mut registers.$file[index as usize];
                if mask == u32::MAX {
                    for lane in 0..LANES {
                        let $value = values[lane];
                        row[lane] = $to;
                    }
                } else {
                    for lane in 0..LANES {
                        let $value = values[lane];
                        let keep: $row = (((mask >> lane) & 1) as $row).wrapping_sub(1);
                        row[lane] = (row[lane] & keep) | (($to) & !keep);
                    }
                }
            }
        }
    )*};
}

lane! { words, u32,
    u32: |bits| bits, |value| value;
    i32: |bits| bits as i32, |value| value as u32;
    f32: |bits| f32::from_bits(bits), |value| value.to_bits();
    u16: |bits| bits as u16, |value| value as u32;
    i16: |bits| bits as i16, |value| value as i32 as u32;
    u8: |bits| bits as u8, |value| value as u32;
    i8: |bits| bits as i8, |value| value as i32 as u32;
    F16: |bits| F16(bits as u16), |value| value.0 as u32;
    Bf16: |bits| Bf16(bits as u16), |value| value.0 as u32;
    [F16; 2]: |bits| [F16(bits as u16), F16((bits >> 16) as u16)],
        |value| value[0].0 as u32 | (value[1].0 as u32) << 16;
    [Bf16; 2]: |bits| [Bf16(bits as u16), Bf16((bits >> 16) as u16)],
        |value| value[0].0 as u32 | (value[1].0 as u32) << 16;
    [u16; 2]: |bits| [bits as u16, (bits >> 16) as u16],
        |value| value[0] as u32 | (value[1] as u32) << 16;
    [i16; 2]: |bits| [bits as i16, (bits >> 16) as i16],
        |value| value[0] as u16 as u32 | (value[1] as u16 as u32) << 16;
}

lane! { longs, u64,
    u64: |bits| bits, |value| value;
    i64: |bits| bits as i64, |value| value as u64;
    f64: |bits| f64::from_bits(bits), |value| value.to_bits();
    [f32; 2]: |bits| [f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)],
        |value| value[0].to_bits() as u64 | (value[1].to_bits() as u64) << 32;
}

impl Lane for bool {
    #[inline(always)]
    fn read(registers: &Registers, index: u32) -> [Self; LANES] {
        let bits = registers.predicates[index as usize];
        std::array::from_fn(|lane| (bits >> lane) & 1 != 0)
    }

    #[inline(always)]
    fn write(registers: &mut Registers, index: u32, values: [Self; LANES], mask: u32) {
        let mut bits = 0;
        for (lane, value) in values.iter().enumerate() {
            bits |= (*value as u32) << lane;
        }
        let row = &mut registers.predicates[index as usize];
        *row = (*row & !mask) | (bits & mask);
    }
}
