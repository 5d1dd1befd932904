//! Decoding of `wgmma`, which four warps execute together, and whose factors descriptors may find in shared memory.

use super::decoder::Decoder;
use crate::error::Error;
use crate::operation::{Factor, Mma, Operation, Register, Wgmma};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

pub(super) fn eight_bit_float(name: &str) -> Option<Type> {
    match name {
        "e4m3" => Some(Type::E4m3),
        "e5m2" => Some(Type::E5m2),
        _ => None,
    }
}

/// The types of D, A and B, if there are products of these in this shape.
fn types(instruction: &Instruction<'_>, n: usize, k: usize) -> Option<(Type, Type, Type)> {
    let named = |name: &&str| Type::parse(name).or_else(|| eight_bit_float(name));
    let types: Vec<Type> = instruction.modifiers.iter().filter_map(named).collect();
    let &[d, a, b] = &types[..] else { return None };
    let exists = match (d, a, b) {
        (Type::F32, Type::F16, Type::F16) | (Type::F32, Type::Bf16, Type::Bf16) => k == 16,
        (Type::F32, Type::Tf32, Type::Tf32) => k == 8,
        (Type::F32, Type::E4m3 | Type::E5m2, Type::E4m3 | Type::E5m2) => k == 32,
        // Integers have fewer widths.
        (Type::S32, Type::S8 | Type::U8, Type::S8 | Type::U8) => {
            k == 32 && (n.is_multiple_of(16) || n == 8 || n == 24)
        }
        _ => false,
    };
    exists.then_some((d, a, b))
}

impl<'a> Decoder<'_, '_, 'a> {
    pub fn wgmma(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        if !modifiers.take("sync") || !modifiers.take("aligned") {
            return Ok(false);
        }
        let target = self.context.tree.target;
        if !target.starts_with("sm_90a") {
            return self.invalid(format!(
                "kernel `{}`: `{}` needs the features of compute capability 9.0 alone, but the module is for {target}: \
                 compile it for sm_90a",
                self.program.name,
                instruction.text()
            ));
        }
        match (
            modifiers.take_any(&["fence", "commit_group", "wait_group"]),
            &instruction.operands[..],
        ) {
            (Some("fence"), _) => self.emit(Operation::WgmmaFence),
            (Some("commit_group"), _) => self.emit(Operation::WgmmaCommit),
            (Some(_), [Operand::Integer(pending)]) => {
                let pending = *pending as u32;
                self.emit(Operation::WgmmaWait { pending });
            }
            (Some(_), _) => return self.invalid("wait_group has a constant"),
            (None, _) => return self.wgmma_product(instruction, modifiers),
        }
        Ok(true)
    }

    fn wgmma_product(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let shape = (8..=256).step_by(8).find_map(|n| {
            [8, 16, 32]
                .into_iter()
                .find(|k| modifiers.take(&format!("m64n{n}k{k}")))
                .map(|k| (n, k))
        });
        let (true, Some((n, k))) = (modifiers.take("mma_async"), shape) else { return Ok(false) };
        let Some((c_type, t, b_type)) = types(instruction, n, k) else { return Ok(false) };
        modifiers.take_where(|name| eight_bit_float(name).is_some());
        let is_integer = c_type == Type::S32;
        let saturate = is_integer && modifiers.take("satfinite");
        let [d, a, b, adds, flags @ ..] = &instruction.operands[..] else {
            return self.invalid("wgmma has D, A, B, whether D is added, and signs");
        };
        let flags: Option<Vec<i128>> = flags
            .iter()
            .map(|flag| if let Operand::Integer(value) = flag { Some(*value) } else { None })
            .collect();
        let in_registers = matches!(a, Operand::Vector(_));
        let (negate, transposed) = match (flags.as_deref(), t.bytes() != 2, in_registers) {
            (Some([]), true, _) if is_integer => ([1, 1], [0, 0]),
            (Some([a, b]), true, _) if !is_integer => ([*a, *b], [0, 0]),
            (Some([a, b, of_b]), false, true) => ([*a, *b], [0, *of_b]),
            (Some([a, b, of_a, of_b]), false, false) => ([*a, *b], [*of_a, *of_b]),
            _ => return self.invalid(
                "wgmma has constant signs, and whether its factors in shared memory are transposed",
            ),
        };
        let a = if in_registers {
            Factor::Registers(self.fragment("A", a, t, 4)?)
        } else {
            let descriptor = self.source(a, Type::B64)?.index();
            Factor::Shared { descriptor, transposed: transposed[0] == 1 }
        };
        let descriptor = self.source(b, Type::B64)?.index();
        let b = Factor::Shared { descriptor, transposed: transposed[1] == 1 };
        let adds = self.source(adds, Type::Pred)?.index();
        // D is read and written.
        let c = self.fragment("D", d, c_type, n / 2)?;
        let rows = self.parts("D", d, n / 2)?.iter();
        let rows = rows.map(|part| self.destination(part, Type::B32));
        let d: Vec<Register> = rows.collect::<Result<_, Error>>()?;
        let part = Mma {
            m: 16,
            n,
            k,
            a_type: t,
            b_type,
            c_type,
            saturate,
            a: Vec::new(),
            b: Vec::new(),
            c,
            d,
        };
        let negate = negate.map(|sign| sign == -1);
        self.emit(Operation::Wgmma(Box::new(Wgmma { part, a, b, adds, negate })));
        Ok(true)
    }
}
