//! Instructions that only touch registers: from opcode, modifiers and types to a function.
//!
//! Each instruction becomes a pointer to a function that computes all 32 lanes at once. Every
//! function exists twice: for any CPU, and for CPUs with AVX2 and FMA; the choice is made once,
//! when the kernel is decoded.

mod approximate;
pub(crate) mod bits;
pub(crate) mod compare;
pub(crate) mod convert;
mod exact;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod narrow;
pub(crate) mod rounding;
pub(crate) mod special;
pub(crate) mod tensor;
pub(crate) mod texture;
pub(crate) mod video;

use crate::registers::Registers;
use ptx::Type;

/// Register indices of a computing instruction; their files follow from its types.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    /// A small constant of the instruction: rounding mode, look-up table, flags.
    pub immediate: u32,
}

/// Computes all lanes; lanes outside the mask keep their destination.
///
/// # Safety
/// - The CPU must have the features that the function was compiled for.
/// - [`choose`] checks.
pub(crate) type ComputeFunction = unsafe fn(&mut Registers, &Operands, u32);

/// The meaning of an opcode and its modifiers.
#[derive(Clone, Debug)]
pub(crate) struct Meaning {
    pub function: ComputeFunction,
    pub destination: Type,
    pub sources: Vec<Type>,
    pub immediate: u32,
    /// The result is not bit-exact with hardware.
    pub approximate: bool,
    /// The compute capability that has it; 0 for all.
    pub since: u32,
}

impl Meaning {
    pub fn new(function: ComputeFunction, destination: Type, sources: &[Type]) -> Meaning {
        Meaning {
            function,
            destination,
            sources: sources.to_vec(),
            immediate: 0,
            approximate: false,
            since: 0,
        }
    }

    pub fn since(mut self, capability: u32) -> Meaning {
        self.since = capability;
        self
    }

    pub fn with(mut self, immediate: u32) -> Meaning {
        self.immediate = immediate;
        self
    }

    pub fn approximate(mut self) -> Meaning {
        self.approximate = true;
        self
    }
}

/// A function over lanes: `lanes!(|a: u32, b: u32| -> u32 { a.wrapping_add(b) })`, or with the
/// instruction's immediate, `lanes!(mode; |a: f32| -> f32 { .. })`.
macro_rules! lanes {
    (|$($rest:tt)*) => { $crate::compute::lanes!(_immediate; |$($rest)*) };
    ($immediate:ident; |$a:ident: $ta:ty| -> $d:ty $body:block) => {
        $crate::compute::lanes!(@ $immediate; ($a: $ta: a); $d; $body)
    };
    ($immediate:ident; |$a:ident: $ta:ty, $b:ident: $tb:ty| -> $d:ty $body:block) => {
        $crate::compute::lanes!(@ $immediate; ($a: $ta: a) ($b: $tb: b); $d; $body)
    };
    ($immediate:ident; |$a:ident: $ta:ty, $b:ident: $tb:ty, $c:ident: $tc:ty| -> $d:ty $body:block) => {
        $crate::compute::lanes!(@ $immediate; ($a: $ta: a) ($b: $tb: b) ($c: $tc: c); $d; $body)
    };
    (@ $immediate:ident; $(($p:ident: $t:ty: $field:ident))*; $d:ty; $body:block) => {{
        use $crate::registers::{LANES, Lane, Registers};
        use $crate::compute::Operands;
        #[inline(always)]
        fn every_lane(registers: &mut Registers, operands: &Operands, mask: u32) {
            let $immediate = operands.immediate;
            $(let $p = <$t as Lane>::read(registers, operands.$field);)*
            let mut results = [<$d as Default>::default(); LANES];
            for lane in 0..LANES {
                $(let $p: $t = $p[lane];)*
                results[lane] = $body;
            }
            <$d as Lane>::write(registers, operands.d, results, mask);
        }
        fn any(registers: &mut Registers, operands: &Operands, mask: u32) {
            every_lane(registers, operands, mask);
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt")]
        fn wide(registers: &mut Registers, operands: &Operands, mask: u32) {
            every_lane(registers, operands, mask);
        }
        let chosen: $crate::compute::ComputeFunction = any;
        #[cfg(target_arch = "x86_64")]
        let chosen: $crate::compute::ComputeFunction =
            if $crate::cpu::has_wide() { wide } else { chosen };
        chosen
    }};
}
pub(crate) use lanes;
