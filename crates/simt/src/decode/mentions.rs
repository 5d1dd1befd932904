//! The uses of a function's names, counted before it is decoded.

use ptx::tree::{Operand, Statement};
use std::collections::HashMap;

/// Every register that is written, with whether the one write is `mov` of 1.
pub(crate) fn find_ones<'a>(statements: &[Statement<'a>], written: &mut HashMap<&'a str, bool>) {
    fn target<'a>(operand: &Operand<'a>, one: bool, written: &mut HashMap<&'a str, bool>) {
        match operand {
            Operand::Name { name, component, .. } => {
                let one = one && component.is_none();
                written.entry(name).and_modify(|first| *first = false).or_insert(one);
            }
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().for_each(|part| target(part, false, written));
            }
            Operand::Pair(a, b) => {
                target(a, false, written);
                target(b, false, written);
            }
            _ => {}
        }
    }
    for statement in statements {
        match statement {
            Statement::Instruction(i) => {
                let one = i.opcode == "mov"
                    && i.guard.is_none()
                    && i.operands.get(1) == Some(&Operand::Integer(1));
                if let Some(first) = i.operands.first() {
                    target(first, one, written);
                }
            }
            Statement::Block(inner) => find_ones(inner, written),
            _ => {}
        }
    }
}

/// Returns how often each name occurs in a guard or an operand.
pub(crate) fn count_mentions<'a>(
    statements: &[Statement<'a>],
    mentions: &mut HashMap<&'a str, u32>,
) {
    fn operand<'a>(of: &Operand<'a>, mention: &mut impl FnMut(&'a str)) {
        match of {
            Operand::Name { name, .. } | Operand::Not(name) | Operand::Negative(name) => {
                mention(name);
            }
            Operand::Address { base, index, .. } => {
                base.iter().chain(index).for_each(|name| mention(name));
            }
            Operand::Texel { object, coordinates } => {
                mention(object);
                coordinates.iter().for_each(|part| operand(part, mention));
            }
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().for_each(|part| operand(part, mention));
            }
            Operand::Pair(a, b) => {
                operand(a, mention);
                operand(b, mention);
            }
            Operand::Integer(_) | Operand::Single(_) | Operand::Double(_) | Operand::Sink => {}
        }
    }
    for statement in statements {
        match statement {
            Statement::Instruction(i) => {
                let mut mention = |name| *mentions.entry(name).or_default() += 1;
                i.guard.iter().for_each(|(name, _)| mention(name));
                i.operands.iter().for_each(|part| operand(part, &mut mention));
            }
            Statement::Block(inner) => count_mentions(inner, mentions),
            _ => {}
        }
    }
}
