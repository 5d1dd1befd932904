//! `f16` and `bf16` of the device: the values of the `half` crate, with operators of the hardware.

#![allow(non_camel_case_types)]
#![allow(
    missing_docs,
    reason = "the methods and constants are those of the `half` crate, whose docs hold"
)]

use core::arch::asm;
use core::cmp::Ordering;
use core::fmt;
use core::iter::{Product, Sum};
use core::ops::{
    Add, AddAssign, Deref, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign,
};

use super::fused::{GpuHalf, rounded_once};
use crate::nvvm::NativeF16;

/// Defines one type over that of the `half` crate.
macro_rules! half_type {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(half::$name);

        half_type!(@constants $name: EPSILON INFINITY MAX MIN MIN_POSITIVE NAN NEG_INFINITY
            MIN_POSITIVE_SUBNORMAL MAX_SUBNORMAL ONE ZERO NEG_ZERO NEG_ONE E PI FRAC_1_PI
            FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6
            FRAC_PI_8 LN_10 LN_2 LOG10_E LOG10_2 LOG2_E LOG2_10 SQRT_2);

        impl $name {
            #[inline(always)]
            #[must_use]
            pub const fn from_bits(bits: u16) -> Self {
                Self(half::$name::from_bits(bits))
            }

            #[inline(always)]
            #[must_use]
            pub const fn from_f32_const(value: f32) -> Self {
                Self(half::$name::from_f32_const(value))
            }

            #[inline(always)]
            #[must_use]
            pub const fn from_f64_const(value: f64) -> Self {
                Self(half::$name::from_f64_const(value))
            }

            #[inline(always)]
            #[must_use]
            pub fn to_f64(self) -> f64 {
                f64::from(self.to_f32())
            }

            #[inline(always)]
            #[must_use]
            pub const fn signum(self) -> Self {
                Self(self.0.signum())
            }

            #[inline(always)]
            #[must_use]
            pub const fn copysign(self, sign: Self) -> Self {
                Self(self.0.copysign(sign.0))
            }

            #[inline(always)]
            #[must_use]
            pub fn max(self, other: Self) -> Self {
                if self.is_nan() || other > self { other } else { self }
            }

            #[inline(always)]
            #[must_use]
            pub fn min(self, other: Self) -> Self {
                if self.is_nan() || other < self { other } else { self }
            }

            #[inline(always)]
            #[must_use]
            pub fn clamp(self, min: Self, max: Self) -> Self {
                let above = if self < min { min } else { self };
                if above > max { max } else { above }
            }

            #[inline(always)]
            #[must_use]
            pub fn total_cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        /// Operations for which the hardware has no instruction, and constants.
        impl Deref for $name {
            type Target = half::$name;

            #[inline(always)]
            fn deref(&self) -> &half::$name {
                &self.0
            }
        }

        impl From<half::$name> for $name {
            #[inline(always)]
            fn from(value: half::$name) -> Self {
                Self(value)
            }
        }

        impl From<$name> for half::$name {
            #[inline(always)]
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl From<$name> for f32 {
            #[inline(always)]
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }

        impl From<$name> for f64 {
            #[inline(always)]
            fn from(value: $name) -> f64 {
                value.to_f64()
            }
        }

        half_type!(@from $name: u8 i8);

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), formatter)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), formatter)
            }
        }

        half_type!(@assign $name: Add add AddAssign add_assign, Sub sub SubAssign sub_assign,
            Mul mul MulAssign mul_assign, Div div DivAssign div_assign,
            Rem rem RemAssign rem_assign);

        impl Neg for $name {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self::from_bits(self.to_bits() ^ 0x8000)
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                Self::from_f32(values.map(Self::to_f32).sum())
            }
        }

        impl Product for $name {
            fn product<I: Iterator<Item = Self>>(values: I) -> Self {
                Self::from_f32(values.map(Self::to_f32).product())
            }
        }
    };
    (@constants $name:ident: $($constant:ident)*) => {
        /// The constants of the `half` crate.
        impl $name {
            $(pub const $constant: Self = Self(half::$name::$constant);)*
        }
    };
    (@from $name:ident: $($kind:ty)*) => {$(
        impl From<$kind> for $name {
            #[inline(always)]
            fn from(value: $kind) -> Self {
                Self::from_f32(f32::from(value))
            }
        }
    )*};
    (@assign $name:ident: $($operator:ident $method:ident $assign:ident $in_place:ident),*) => {$(
        impl $assign for $name {
            #[inline(always)]
            fn $in_place(&mut self, other: Self) {
                *self = $operator::$method(*self, other);
            }
        }
    )*};
}

/// Implements operators by a function of two operands.
macro_rules! operators {
    ($name:ident: $($operator:ident $method:ident |$left:ident, $right:ident| $body:expr;)*) => {$(
        impl $operator for $name {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($left, $right) = (self, other);
                $body
            }
        }
    )*};
}

half_type! {
    /// IEEE half precision: the type of the `half` crate with the operators of the hardware.
    f16
}

impl f16 {
    /// The number as LLVM knows it, which lowers its arithmetic to one instruction.
    #[inline(always)]
    fn native(self) -> NativeF16 {
        NativeF16::from_bits(self.to_bits())
    }

    #[inline(always)]
    fn of(native: NativeF16) -> Self {
        Self::from_bits(native.to_bits())
    }

    #[inline(always)]
    #[must_use]
    pub fn from_f32(value: f32) -> Self {
        Self::of(value as NativeF16)
    }

    #[inline(always)]
    #[must_use]
    pub fn from_f64(value: f64) -> Self {
        Self::of(value as NativeF16)
    }

    #[inline(always)]
    #[must_use]
    pub fn to_f32(self) -> f32 {
        self.native() as f32
    }
}

operators! { f16:
    Add add |a, b| Self::of(a.native() + b.native());
    Sub sub |a, b| Self::of(a.native() - b.native());
    Mul mul |a, b| Self::of(a.native() * b.native());
    // By way of `f32`, whose quotient rounds to the same `f16` as the exact one.
    Div div |a, b| Self::from_f32(a.to_f32() / b.to_f32());
    Rem rem |a, b| Self::from_f32(a.to_f32() % b.to_f32());
}

impl PartialEq for f16 {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.native() == other.native()
    }
}

impl PartialOrd for f16 {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.native().partial_cmp(&other.native())
    }
    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.native() < other.native()
    }
    #[inline(always)]
    fn le(&self, other: &Self) -> bool {
        self.native() <= other.native()
    }
    #[inline(always)]
    fn gt(&self, other: &Self) -> bool {
        self.native() > other.native()
    }
    #[inline(always)]
    fn ge(&self, other: &Self) -> bool {
        self.native() >= other.native()
    }
}

impl GpuHalf for f16 {
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self::of(core::intrinsics::fmaf16(self.native(), a.native(), b.native()))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self::from_bits(self.to_bits() & 0x7fff)
    }
}

half_type! {
    /// bfloat16: the type of the `half` crate with the operators of the hardware.
    bf16
}

/// True when the target computes with `bf16`.
const HAS_BF16: bool = cfg!(target_feature = "compute_80");

impl bf16 {
    #[inline(always)]
    #[must_use]
    pub fn from_f32(value: f32) -> Self {
        if HAS_BF16 {
            let bits: u16;
            // SAFETY: the instruction computes a number from a number.
            unsafe {
                asm!("cvt.rn.bf16.f32 {bits}, {value};", bits = out(reg16) bits,
                    value = in(reg32) value, options(pure, nomem, nostack, preserves_flags));
            }
            Self::from_bits(bits)
        } else {
            Self(half::bf16::from_f32(value))
        }
    }

    #[inline(always)]
    #[must_use]
    pub fn from_f64(value: f64) -> Self {
        Self(half::bf16::from_f64(value))
    }

    #[inline(always)]
    #[must_use]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    /// `self * a + b`, rounded once. Adding and multiplying are this one, too: compute capability 8.0 has no
    /// instruction of their own.
    #[inline(always)]
    fn fma(self, a: Self, b: Self) -> Self {
        if HAS_BF16 {
            let bits: u16;
            // SAFETY: the instruction computes a number from numbers.
            unsafe {
                asm!("fma.rn.bf16 {bits}, {x}, {a}, {b};", bits = out(reg16) bits,
                    x = in(reg16) self.to_bits(), a = in(reg16) a.to_bits(),
                    b = in(reg16) b.to_bits(), options(pure, nomem, nostack, preserves_flags));
            }
            Self::from_bits(bits)
        } else {
            rounded_once(self.to_f64(), a.to_f64(), b.to_f64(), Self::from_f32)
        }
    }
}

operators! { bf16:
    Add add |a, b| a.fma(Self::ONE, b);
    Sub sub |a, b| b.fma(Self::NEG_ONE, a);
    Mul mul |a, b| a.fma(b, Self::NEG_ZERO);
    Div div |a, b| Self::from_f32(a.to_f32() / b.to_f32());
    Rem rem |a, b| Self::from_f32(a.to_f32() % b.to_f32());
}

impl PartialEq for bf16 {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.to_f32() == other.to_f32()
    }
}

impl PartialOrd for bf16 {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.to_f32().partial_cmp(&other.to_f32())
    }
}

impl GpuHalf for bf16 {
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        self.fma(a, b)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self::from_bits(self.to_bits() & 0x7fff)
    }
}
