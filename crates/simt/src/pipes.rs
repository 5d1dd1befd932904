//! The pipes of a scheduler that an instruction of PTX keeps busy, and for how long.
//!
//! A scheduler issues an instruction for a warp in each cycle. Of its pipes one adds floats and takes half of the integer
//! products, one does the logic, shifts, comparisons and choices of integers: 16 lanes each, two cycles for a warp. Sums of
//! integers go where there is room. Numbers of 64 bits take several instructions; one that only adds a product to an address
//! is part of that. Quotients and roots are sequences: `probe_quotients`, `probe_roots` and their like have their cycles, for
//! warps that share a scheduler and for one that is alone.
//!
//! Source: CUDA C++ Programming Guide, throughput of native arithmetic instructions, compute capability 9.0, and the probes of
//! `crates/measurement_kernels` on an H100 (`results/nvidia-h100/probes.csv`).

use crate::folds::Fold;

/// The cycles in which an instruction keeps each pipe of a scheduler busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipes {
    /// The issue of instructions.
    pub issue: u32,
    /// Logic, shifts, comparisons and choices.
    pub logic: u32,
    /// Products of integers.
    pub products: u32,
    /// Sums of integers, which go to either of these two.
    pub sums: u32,
    /// Floats of 64 bits.
    pub doubles: u32,
    /// Special functions.
    pub special: u32,
    /// Cycles until its result is there, where it takes longer than other arithmetic.
    pub latency: u32,
    /// It has a slow way for rare operands, which the assembler jumps to: nothing moves past it.
    pub has_slow_way: bool,
    /// It is a part of another instruction of the machine.
    pub is_part: bool,
    /// Cycles for which each lane of a sum in shared memory keeps L1 busy: it is a loop of compare-and-swaps.
    pub retry: u32,
}

impl Pipes {
    /// Returns the cycles after which a warp that has its scheduler to itself can issue the next instruction.
    pub fn own_cycles(&self) -> u32 {
        let pipes = [self.issue, self.logic, self.products, self.doubles, self.special];
        pipes.into_iter().max().unwrap_or(0)
    }
}

/// Returns the pipes of an instruction with this text.
///
/// `of_address`: it adds a product to an address. `fold`: ptxas makes one instruction of it and others.
pub(crate) fn pipes(text: &str, of_address: bool, fold: Fold) -> Pipes {
    let one = Pipes { issue: 1, ..Pipes::default() };
    let part = Pipes { is_part: true, ..Pipes::default() };
    let logic = |instructions| Pipes { issue: instructions, logic: 2 * instructions, ..one };
    let products = |issue, products| Pipes { issue, products, ..one };
    let sequence = |issue, doubles, special, latency| Pipes {
        issue,
        doubles,
        special,
        latency,
        has_slow_way: true,
        ..one
    };
    let mut words = text.split_whitespace().filter(|word| !word.starts_with('@'));
    let opcode = words.next().unwrap_or_default().trim_end_matches(';');
    let mut parts = opcode.split('.');
    let (name, kind) =
        (parts.next().unwrap_or_default(), parts.clone().next_back().unwrap_or_default());
    let has = |part: &str| opcode.split('.').any(|other| other == part);
    let is_wide = kind.ends_with("64");
    let halves = if is_wide { 2 } else { 1 };
    match name {
        _ if fold == Fold::Folded => part,
        _ if fold == Fold::AddsShifted => logic(1),
        // The upper half of the one is zero, that of the other nobody reads.
        "cvt" if matches!(opcode, "cvt.u64.u32" | "cvt.u32.u64") => part,
        "cvt" if opcode == "cvt.s64.s32" => logic(1),
        "mov" | "cvta" | "ld" | "st" | "bra" | "ret" => one,
        "div" | "rem" if matches!(kind.as_bytes().first(), Some(b'u' | b's')) => {
            let (issue, latency) = if is_wide { (114, 300) } else { (27, 127) };
            Pipes { issue, special: 24, latency, has_slow_way: is_wide, ..one }
        }
        "atom" | "red" if has("shared") && has("add") && has("f32") => Pipes { retry: 15, ..one },
        "atom" | "red" if has("shared") && has("add") && has("f64") => Pipes { retry: 21, ..one },
        "atom" | "red" => one,
        _ if has("f64") && name != "cvt" => match name {
            "div" | "rcp" => sequence(14, 26, 8, 124),
            "sqrt" | "rsqrt" => sequence(14, 26, 8, 92),
            _ => Pipes { doubles: 2, latency: 8, ..one },
        },
        // A check whether the short way is right, which special functions make, comes before it.
        "div" if has("rn") => sequence(10, 0, 16, 57),
        "sqrt" | "rcp" if has("rn") => sequence(11, 0, 8, 57),
        // What comes before or behind the special function is one more instruction.
        "sqrt" | "sin" | "cos" | "div" => Pipes { special: 8, latency: 22, ..one },
        "rcp" | "rsqrt" | "ex2" | "lg2" | "tanh" => Pipes { special: 8, latency: 18, ..one },
        "mul" | "mad" if has("wide") => products(1, 4),
        "mul" | "mad" if has("lo") => {
            products(if is_wide { 3 } else { 1 }, if is_wide { 8 } else { 2 })
        }
        "mul" | "mad" if has("hi") => {
            products(if is_wide { 8 } else { 1 }, if is_wide { 16 } else { 4 })
        }
        "add" | "sub" if of_address => Pipes { latency: 2, ..one },
        "add" | "sub" if matches!(kind, "u64" | "s64") => logic(2),
        "add" | "sub" if matches!(kind, "u32" | "s32" | "u16" | "s16") => Pipes { sums: 2, ..one },
        "and" | "or" | "xor" | "not" if kind == "pred" => one,
        "and" | "or" | "xor" | "not" | "shl" | "shr" | "setp" | "set" | "selp" | "slct" => {
            logic(halves)
        }
        "neg" if matches!(kind, "s64") => Pipes { issue: 2, sums: 4, ..one },
        "neg" if kind == "s32" => Pipes { sums: 2, ..one },
        "min" | "max" | "abs" | "neg" if !has("f32") => logic(if is_wide { 4 } else { 1 }),
        "min" | "max" | "shf" | "bfe" | "bfi" | "prmt" | "lop3" => logic(1),
        "popc" | "clz" | "brev" | "bfind" => Pipes { special: 8, ..one },
        _ => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_special_functions_take_longer() {
        let latency = |text, of_address| pipes(text, of_address, Fold::Alone).latency;
        let texts =
            ["xor.b32", "add.f32", "add.s32", "mad.lo.s32", "ex2.approx.f32", "sqrt.approx.f32"];
        assert_eq!(texts.map(|text| latency(text, false)), [0, 0, 0, 0, 18, 22]);
        assert_eq!((latency("mul.wide.u32", false), latency("add.s64", true)), (0, 2));
    }

    #[test]
    fn numbers_of_64_bits_take_several_instructions() {
        let logic = |text| pipes(text, false, Fold::Alone).logic;
        assert_eq!((logic("xor.b32"), logic("xor.b64")), (2, 4));
        assert_eq!((logic("@%p1 setp.lt.s32"), logic("setp.lt.s64")), (2, 4));
        assert_eq!((logic("add.s32"), logic("add.s64")), (0, 4));
        assert_eq!(
            (
                pipes("mul.lo.s32", false, Fold::Alone).products,
                pipes("mul.lo.s64", false, Fold::Alone).products
            ),
            (2, 8)
        );
        assert_eq!(pipes("add.s64", true, Fold::Alone).logic, 0, "a part of the product");
        let of_doubles = Pipes { issue: 1, doubles: 2, latency: 8, ..Pipes::default() };
        assert_eq!(pipes("fma.rn.f64", false, Fold::Alone), of_doubles);
        assert_eq!(pipes("fma.rn.f32", false, Fold::Alone), Pipes { issue: 1, ..Pipes::default() });
    }
}
