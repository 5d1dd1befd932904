//! Products and sums that NVIDIA's assembler may fuse.
//!
//! The PTX ISA: an `add`, `sub` or `mul` of floating-point numbers without a rounding modifier may be
//! contracted, `add.rn` and `mul.rn` never. The executor rounds twice then, a GPU perhaps once.

use crate::error::Position;
use ptx::tree::{Instruction, Operand, Statement};
use std::collections::HashMap;
use std::fmt;

/// A product and the sum that it may be fused with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// The opcode of the product, as written.
    pub product: String,
    /// Position of the product.
    pub product_at: Position,
    /// The opcode of the sum.
    pub sum: String,
    /// Position of the sum.
    pub sum_at: Position,
}

impl fmt::Display for Contraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` at PTX line {} and `{}` at line {} may become one instruction that rounds once, \
             so that a GPU's result differs from the executor's: write `.rn` on either, or `fma.rn` \
             (with nvcc, -fmad=false or an intrinsic such as __fmul_rn)",
            self.product, self.product_at.line, self.sum, self.sum_at.line
        )
    }
}

/// A register that holds a product which may be fused.
#[derive(Clone, Copy)]
struct Product<'t, 'a> {
    instruction: &'t Instruction<'a>,
    t: &'a str,
    flushes: bool,
}

/// The type and whether subnormals are flushed, of an instruction that names no rounding.
fn unrounded<'a>(instruction: &Instruction<'a>) -> Option<(&'a str, bool)> {
    let has = |modifier: &str| instruction.modifiers.contains(&modifier);
    let is_rounded = ["rn", "rz", "rm", "rp"].into_iter().any(has);
    let t = instruction.modifiers.last()?;
    let is_float = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"].contains(t);
    (is_float && !is_rounded).then(|| (*t, has("ftz")))
}

/// The first product and sum of a function that may be fused. Only those between two labels are
/// looked for: the assembler fuses what always follows one another.
pub(crate) fn find(body: &[Statement<'_>]) -> Option<Contraction> {
    find_from(body, &mut HashMap::new())
}

fn find_from<'t, 'a>(
    body: &'t [Statement<'a>],
    products: &mut HashMap<&'a str, Product<'t, 'a>>,
) -> Option<Contraction> {
    for statement in body {
        match statement {
            Statement::Block(inner) => {
                if let Some(found) = find_from(inner, products) {
                    return Some(found);
                }
                // A name may have meant another register inside.
                products.clear();
            }
            Statement::Label(..) => products.clear(),
            Statement::Instruction(instruction) => {
                if let Some(found) = step(instruction, products) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

fn step<'t, 'a>(
    instruction: &'t Instruction<'a>,
    products: &mut HashMap<&'a str, Product<'t, 'a>>,
) -> Option<Contraction> {
    let register = |index: usize| match instruction.operands.get(index) {
        Some(Operand::Name { name, component: None, offset: 0 }) => Some(*name),
        _ => None,
    };
    let unrounded = unrounded(instruction);
    let made = match (instruction.opcode, unrounded) {
        ("add" | "sub", Some((t, flushes))) => {
            let (a, b) = (register(1), register(2));
            let fused = [a, b].into_iter().flatten().find_map(|name| products.get(name));
            // Twice the product is no sum of a product and something else.
            if let Some(product) = fused
                && a != b
                && (product.t, product.flushes) == (t, flushes)
            {
                return Some(Contraction {
                    product: product.instruction.text(),
                    product_at: product.instruction.position,
                    sum: instruction.text(),
                    sum_at: instruction.position,
                });
            }
            None
        }
        ("mul", Some((t, flushes))) if !instruction.modifiers.contains(&"sat") => {
            Some(Product { instruction, t, flushes })
        }
        ("mov" | "neg", _) => register(1).and_then(|name| products.get(name)).copied(),
        ("bra" | "brx" | "call", _) => {
            products.clear();
            None
        }
        _ => None,
    };
    let mut forget = |operand: &Operand<'a>| {
        if let Operand::Name { name, .. } = operand {
            products.remove(name);
        }
    };
    match instruction.operands.first() {
        Some(Operand::Vector(parts)) => parts.iter().for_each(forget),
        Some(Operand::Pair(a, b)) => [a, b].into_iter().for_each(|part| forget(part)),
        Some(operand) => forget(operand),
        None => {}
    }
    if let (Some(name), Some(product), None) = (register(0), made, instruction.guard) {
        products.insert(name, product);
    }
    None
}
