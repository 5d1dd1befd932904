//! Conversions between `f32` and the half-precision types, by one instruction.
//!
//! The `half` crate converts bit by bit, because it does not know the device. Beyond rust-cuda.
//!
//! They are inline assembly of a pure function: the compiler may drop, merge and move them.
//!
//! Source: PTX ISA, `cvt`.
//!
//! ```no_run
//! use cuda_std::float::convert::{f16_to_f32, f32_to_f16};
//! assert_eq!(f16_to_f32(f32_to_f16(0.5)), 0.5);
//! ```

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

use crate::{bf16, f16};

use crate::capability::require;

/// The same value as `f32`. PTX: `cvt.f32.f16`.
#[inline(always)]
#[must_use]
pub fn f16_to_f32(value: f16) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let result: f32;
        // SAFETY: the instruction computes a number from a number.
        unsafe {
            asm!(
                "cvt.f32.f16 {result}, {value};",
                result = out(reg32) result,
                value = in(reg16) value.to_bits(),
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        result
    }
    #[cfg(not(target_arch = "nvptx64"))]
    value.to_f32()
}

/// The nearest `f16`, ties to even. PTX: `cvt.rn.f16.f32`.
#[inline(always)]
#[must_use]
pub fn f32_to_f16(value: f32) -> f16 {
    #[cfg(target_arch = "nvptx64")]
    {
        let result: u16;
        // SAFETY: the instruction computes a number from a number.
        unsafe {
            asm!(
                "cvt.rn.f16.f32 {result}, {value};",
                result = out(reg16) result,
                value = in(reg32) value,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        f16::from_bits(result)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    f16::from_f32(value)
}

/// The same value as `f32`: its upper half. PTX: `shl.b32` or `prmt.b32`.
#[inline(always)]
#[must_use]
pub fn bf16_to_f32(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}

/// The nearest `bf16`, ties to even. PTX: `cvt.rn.bf16.f32`, compute capability 8.0.
#[inline(always)]
#[must_use]
pub fn f32_to_bf16(value: f32) -> bf16 {
    require::<80>();
    #[cfg(target_arch = "nvptx64")]
    {
        let result: u16;
        // SAFETY: the instruction computes a number from a number.
        unsafe {
            asm!(
                "cvt.rn.bf16.f32 {result}, {value};",
                result = out(reg16) result,
                value = in(reg32) value,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        bf16::from_bits(result)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    bf16::from_f32(value)
}
