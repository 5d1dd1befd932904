//! The functions of CUDA's `libdevice`, under rust-cuda's names: those of C without `__nv_`.
//!
//! | here | what it is | equal to CUDA's |
//! |---|---|---|
//! | integers, conversions, arithmetic with a rounding direction | the instruction, or code with its result | in every bit |
//! | `fast_*`, `rsqrtf`, `saturatef` | the special function unit, see [`crate::float::approx`] | in every bit |
//! | the rest | the `libm` crate, or the formula that is named | within the error that `results/math.md` lists |
//!
//! CUDA C++ Programming Guide, "Mathematical Functions", has the errors of CUDA's. Denormals stay what they are. On the
//! host a function that rounds up, down or to zero panics, because the processor cannot.
//!
//! # Safety
//! - The functions that take no pointer ask for nothing: they are `unsafe` because rust-cuda's are foreign functions.
//! - Safe ones of the same meaning are those of [`crate::GpuFloat`], [`crate::FloatExt`] and of Rust's integers.
//!
//! ```no_run
//! // SAFETY: it has no precondition.
//! let bits = unsafe { cuda_std::intrinsics::popc(0b1011) };
//! ```

mod arithmetic;
mod convert;
mod fast;
mod integer;
mod math;
mod special;

pub use arithmetic::*;
pub use convert::*;
pub use fast::*;
pub use integer::*;
pub use math::*;
pub use special::*;

/// Declares functions that are code of Rust.
macro_rules! functions {
    ($($documentation:literal $name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $value:expr;)*) => {
        $(
            #[doc = $documentation]
            #[inline]
            #[must_use]
            #[expect(clippy::missing_safety_doc, reason = "the module says it of all")]
            pub unsafe fn $name($($argument: $kind),*) -> $result {
                $value
            }
        )*
    };
}
use functions;

/// Declares functions of `f64`, each with its twin of `f32`.
macro_rules! pairs {
    ($($documentation:literal $arguments:tt $name:ident = $value:expr, $single:ident = $of_single:expr;)*) => {
        $(pairs! { @ $documentation $arguments f64 $name = $value })*
        $(pairs! { @ $documentation $arguments f32 $single = $of_single })*
    };
    (@ $documentation:literal ($($argument:ident),*) $kind:ident $name:ident = $value:expr) => {
        functions! { $documentation $name($($argument: $kind),*) -> $kind = $value; }
    };
}
use pairs;

/// Declares functions that are one instruction: one for each rounding direction, or one without.
macro_rules! instructions {
    (@ $documentation:literal $instruction:expr, $name:ident
        ($($argument:ident: $kind:ident $class:ident),*) -> $result:ident $result_class:ident $host:block) => {
        #[doc = concat!($documentation, ". PTX: `", $instruction, "`.")]
        #[inline(always)]
        #[must_use]
        #[expect(clippy::missing_safety_doc, reason = "the module says it of all")]
        pub unsafe fn $name($($argument: $kind),*) -> $result {
            #[cfg(target_arch = "nvptx64")]
            {
                let result: $result;
                // SAFETY: the instruction computes a number from numbers.
                unsafe {
                    core::arch::asm!(
                        concat!($instruction, " {result}" $(, ", {", stringify!($argument), "}")*, ";"),
                        result = out($result_class) result,
                        $($argument = in($class) $argument,)*
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                result
            }
            #[cfg(not(target_arch = "nvptx64"))]
            $host
        }
    };
    (@one $documentation:literal $instruction:expr, $name:ident
        ($($argument:ident: $kind:ident $class:ident),*) -> $result:ident $result_class:ident) => {
        instructions! {
            @ $documentation $instruction, $name
            ($($argument: $kind $class),*) -> $result $result_class {
                let _ = ($($argument,)*);
                $crate::nvvm::outside_kernel(stringify!($name))
            }
        }
    };
    ($($documentation:literal $prefix:literal $suffix:literal
        $arguments:tt -> $result:ident $class:ident: $nearest:ident $zero:ident $down:ident $up:ident;)*) => {
        $(
            instructions! {
                @one $documentation concat!($prefix, "rn", $suffix), $nearest $arguments -> $result $class
            }
            instructions! {
                @one $documentation concat!($prefix, "rz", $suffix), $zero $arguments -> $result $class
            }
            instructions! {
                @one $documentation concat!($prefix, "rm", $suffix), $down $arguments -> $result $class
            }
            instructions! {
                @one $documentation concat!($prefix, "rp", $suffix), $up $arguments -> $result $class
            }
        )*
    };
}
use instructions;
