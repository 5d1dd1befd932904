//! Half precision: `f16`, `bf16`, and pairs of them.
//!
//! `cuda_std::f16` and `cuda_std::bf16` are the types of the `half` crate on the host. On the device they are types of
//! the same bytes and the same methods, whose operators are the hardware's instructions: the `half` crate does not know
//! the device, and computes each in software, by a hundred instructions. So a kernel says `cuda_std::f16`, or
//! `cuda_std::half::f16`, and not `half::f16` of a dependency of its own.
//!
//! | | [`f16`](struct@f16) | [`bf16`], compute capability 8.0 |
//! |---|---|---|
//! | `a + b` | `add.rn.f16` | `fma.rn.bf16` with 1 |
//! | `a - b` | `sub.rn.f16` | `fma.rn.bf16` with -1 |
//! | `a * b` | `mul.rn.f16` | `fma.rn.bf16` with -0 |
//! | [`a.mul_add(b, c)`](GpuHalf::mul_add) | `fma.rn.f16` | `fma.rn.bf16` |
//! | `a < b` | `setp.lt.f16` | `setp.lt.f32` |
//! | `a / b`, `a % b` | in `f32`, rounded | in `f32`, rounded |
//! | `from_f32`, `to_f32` | `cvt.rn.f16.f32`, `cvt.f32.f16` | `cvt.rn.bf16.f32`, a shift |
//!
//! [`F16x2`] and [`Bf16x2`] are two numbers in one register: one instruction computes both, so that half precision is
//! twice as fast as `f32`. Older devices than 8.0 compute `bf16` in software, and refuse [`Bf16x2`]'s operators.
//!
//! Every operation rounds its exact result once, on the device as on the host. Which NaN comes out may differ.
//!
//! Source: PTX ISA, "Half Precision Floating Point Instructions".

#[cfg(target_arch = "nvptx64")]
mod device;
mod fused;

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;
use core::fmt;
use core::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

#[cfg(target_arch = "nvptx64")]
pub use device::{bf16, f16};
#[cfg(not(target_arch = "nvptx64"))]
pub use half::{bf16, f16};

pub use fused::GpuHalf;
#[cfg(not(target_arch = "nvptx64"))]
use fused::rounded_once;

use crate::capability::require;

#[cfg(not(target_arch = "nvptx64"))]
macro_rules! on_the_host {
    ($($kind:ident)*) => {$(
        impl GpuHalf for $kind {
            fn mul_add(self, a: Self, b: Self) -> Self {
                rounded_once(self.to_f64(), a.to_f64(), b.to_f64(), $kind::from_f32)
            }

            fn abs(self) -> Self {
                $kind::from_bits(self.to_bits() & 0x7fff)
            }
        }
    )*};
}
#[cfg(not(target_arch = "nvptx64"))]
on_the_host!(f16 bf16);

/// Defines a pair of numbers in one register.
macro_rules! pair {
    (
        $(#[$documentation:meta])*
        $name:ident($element:ident) since $since:literal, $fma:literal;
        $($operator:ident $method:ident $assign:ident $in_place:ident $symbol:tt
            ($($operand:ident)*) $instruction:literal;)*
    ) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// A pair of the given numbers: `x` is the lower half, which is first in memory.
            #[inline(always)]
            #[must_use]
            pub fn new(x: $element, y: $element) -> Self {
                Self(u32::from(x.to_bits()) | u32::from(y.to_bits()) << 16)
            }

            /// The same number twice.
            #[inline(always)]
            #[must_use]
            pub fn splat(value: $element) -> Self {
                Self::new(value, value)
            }

            /// The first number, in the lower half.
            #[inline(always)]
            #[must_use]
            pub fn x(self) -> $element {
                $element::from_bits(self.0 as u16)
            }

            /// The second number, in the upper half.
            #[inline(always)]
            #[must_use]
            pub fn y(self) -> $element {
                $element::from_bits((self.0 >> 16) as u16)
            }

            /// The pair of these bits.
            #[inline(always)]
            #[must_use]
            pub const fn from_bits(bits: u32) -> Self {
                Self(bits)
            }

            /// The bits of the pair.
            #[inline(always)]
            #[must_use]
            pub const fn to_bits(self) -> u32 {
                self.0
            }

            #[doc = concat!("`self * a + b` of both halves, each rounded once. PTX: `", $fma, "`.")]
            #[inline(always)]
            #[must_use]
            pub fn mul_add(self, a: Self, b: Self) -> Self {
                require::<$since>();
                #[cfg(target_arch = "nvptx64")]
                {
                    let bits: u32;
                    // SAFETY: the instruction computes numbers from numbers.
                    unsafe {
                        asm!(concat!($fma, " {bits}, {x}, {a}, {b};"), bits = out(reg32) bits,
                            x = in(reg32) self.0, a = in(reg32) a.0, b = in(reg32) b.0,
                            options(pure, nomem, nostack, preserves_flags));
                    }
                    Self(bits)
                }
                #[cfg(not(target_arch = "nvptx64"))]
                Self::new(self.x().mul_add(a.x(), b.x()), self.y().mul_add(a.y(), b.y()))
            }

            /// The absolute value of both halves.
            #[inline(always)]
            #[must_use]
            pub const fn abs(self) -> Self {
                Self(self.0 & 0x7fff_7fff)
            }
        }

        $(
            impl $operator for $name {
                type Output = Self;

                #[doc = concat!("PTX: `", $instruction, "`.")]
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    require::<$since>();
                    #[cfg(target_arch = "nvptx64")]
                    {
                        pair!(@compute $name self other $instruction $($operand)*)
                    }
                    #[cfg(not(target_arch = "nvptx64"))]
                    Self::new(self.x() $symbol other.x(), self.y() $symbol other.y())
                }
            }

            impl $assign for $name {
                #[inline(always)]
                fn $in_place(&mut self, other: Self) {
                    *self = *self $symbol other;
                }
            }
        )*

        impl Neg for $name {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self(self.0 ^ 0x8000_8000)
            }
        }

        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.x() == other.x() && self.y() == other.y()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_tuple(stringify!($name)).field(&self.x()).field(&self.y()).finish()
            }
        }

        // SAFETY: zero is a pair of zeros, and there is no padding.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl bytemuck::Zeroable for $name {}
        // SAFETY: a pair is 32 bits, of which all are valid.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl bytemuck::Pod for $name {}
        #[cfg(all(not(target_arch = "nvptx64"), feature = "cust"))]
        // SAFETY: plain bits without pointers.
        unsafe impl cust_core::DeviceCopy for $name {}
    };
    // Two operands.
    (@compute $name:ident $self:ident $other:ident $instruction:literal) => {{
        let bits: u32;
        // SAFETY: the instruction computes numbers from numbers.
        unsafe {
            asm!(concat!($instruction, " {bits}, {x}, {a};"), bits = out(reg32) bits,
                x = in(reg32) $self.0, a = in(reg32) $other.0,
                options(pure, nomem, nostack, preserves_flags));
        }
        Self(bits)
    }};
    // By `mul_add`.
    (@compute $name:ident $self:ident $other:ident $instruction:literal fma_add) => {
        $self.mul_add(Self::splat(bf16::ONE), $other)
    };
    (@compute $name:ident $self:ident $other:ident $instruction:literal fma_sub) => {
        $other.mul_add(Self::splat(bf16::NEG_ONE), $self)
    };
    (@compute $name:ident $self:ident $other:ident $instruction:literal fma_mul) => {
        $self.mul_add($other, Self::splat(bf16::NEG_ZERO))
    };
}

pair! {
    /// Two `f16` in one register: CUDA's `__half2`. Beyond rust-cuda.
    F16x2(f16) since 0, "fma.rn.f16x2";
    Add add AddAssign add_assign + () "add.rn.f16x2";
    Sub sub SubAssign sub_assign - () "sub.rn.f16x2";
    Mul mul MulAssign mul_assign * () "mul.rn.f16x2";
}

pair! {
    /// Two `bf16` in one register: CUDA's `__nv_bfloat162`. Its operators need compute capability 8.0. Beyond rust-cuda.
    Bf16x2(bf16) since 80, "fma.rn.bf16x2";
    Add add AddAssign add_assign + (fma_add) "fma.rn.bf16x2";
    Sub sub SubAssign sub_assign - (fma_sub) "fma.rn.bf16x2";
    Mul mul MulAssign mul_assign * (fma_mul) "fma.rn.bf16x2";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 + 2^-11 lies between two `f16`; what is added lies far below an `f64`'s last bit, and decides.
    #[test]
    fn a_product_and_sum_are_rounded_once() {
        let tiny = f16::from_bits(1);
        let half_ulp = f16::from_f32(2.0_f32.powi(-11));
        let one_and_half = rounded_once(1.0, 1.0, f64::from(half_ulp), f16::from_f32);
        assert_eq!(one_and_half, f16::ONE, "a tie goes to even");
        let above = rounded_once(1.0 + 2.0_f64.powi(-11), 1.0, 2.0_f64.powi(-80), f16::from_f32);
        assert_eq!(above.to_bits(), f16::ONE.to_bits() + 1);
        let below =
            rounded_once(1.0 + 3.0 * 2.0_f64.powi(-11), 1.0, -2.0_f64.powi(-80), f16::from_f32);
        assert_eq!(below.to_bits(), f16::ONE.to_bits() + 1);
        assert_eq!(tiny.mul_add(tiny, f16::ONE), f16::ONE);
    }
}
