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

/// Declares conversions by one instruction: its operand and result, and what the host does.
macro_rules! conversions {
    ($($(#[$documentation:meta])* $name:ident($value:ident: $kind:ty) -> $result:ty $(, since $since:literal)?
        = $instruction:literal $class:ident $operand:expr, $bits:ident: $bits_class:ident $bits_kind:ty, $of_bits:expr, $host:expr;)*) => {
        $(
            $(#[$documentation])*
            #[inline(always)]
            #[must_use]
            pub fn $name($value: $kind) -> $result {
                $(require::<$since>();)?
                #[cfg(target_arch = "nvptx64")]
                {
                    let $bits: $bits_kind;
                    // SAFETY: the instruction computes a number from a number.
                    unsafe {
                        asm!(
                            concat!($instruction, " {result}, {value};"),
                            result = out($bits_class) $bits,
                            value = in($class) $operand,
                            options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    $of_bits
                }
                #[cfg(not(target_arch = "nvptx64"))]
                $host
            }
        )*
    };
}

conversions! {
    /// The same value as `f32`. PTX: `cvt.f32.f16`.
    f16_to_f32(value: f16) -> f32
        = "cvt.f32.f16" reg16 value.to_bits(), bits: reg32 f32, bits, value.to_f32();
    /// The nearest `f16`, ties to even. PTX: `cvt.rn.f16.f32`.
    f32_to_f16(value: f32) -> f16
        = "cvt.rn.f16.f32" reg32 value, bits: reg16 u16, f16::from_bits(bits), f16::from_f32(value);
    /// The nearest `bf16`, ties to even. PTX: `cvt.rn.bf16.f32`, compute capability 8.0.
    f32_to_bf16(value: f32) -> bf16, since 80
        = "cvt.rn.bf16.f32" reg32 value, bits: reg16 u16, bf16::from_bits(bits), bf16::from_f32(value);
}

/// The same value as `f32`: its upper half. PTX: `shl.b32` or `prmt.b32`.
#[inline(always)]
#[must_use]
pub fn bf16_to_f32(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}
