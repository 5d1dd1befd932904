//! Decoding of `wgmma`, which four warps execute together, and whose factors descriptors may find in shared memory.

use super::decoder::Decoder;
use crate::error::Error;
use crate::operation::{Factor, Mma, Operation, Row, Wgmma};
use crate::syntax::modifiers::Modifiers;
use crate::syntax::tree::{Instruction, Operand};
use crate::types::Type;

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
        if modifiers.take("fence") || modifiers.take("commit_group") || modifiers.take("wait_group")
        {
            // Products are computed when they are issued.
            self.emit(Operation::Nothing);
            return Ok(true);
        }
        let shape = (8..=256).step_by(8).find_map(|n| {
            [8, 16].into_iter().find(|k| modifiers.take(&format!("m64n{n}k{k}"))).map(|k| (n, k))
        });
        let (true, Some((n, k))) = (modifiers.take("mma_async"), shape) else { return Ok(false) };
        let [Type::F32, t, b_type] = modifiers.types[..] else { return Ok(false) };
        let depth = match t {
            Type::F16 | Type::Bf16 => 16,
            Type::Tf32 => 8,
            _ => return Ok(false),
        };
        if t != b_type || k != depth {
            return Ok(false);
        }
        let [d, a, b, adds, flags @ ..] = &instruction.operands[..] else {
            return self.invalid("wgmma has D, A, B, whether D is added, and signs");
        };
        let flags: Option<Vec<i128>> = flags
            .iter()
            .map(|flag| if let Operand::Integer(value) = flag { Some(*value) } else { None })
            .collect();
        let in_registers = matches!(a, Operand::Vector(_));
        let (negate, transposed) = match (flags.as_deref(), t == Type::Tf32, in_registers) {
            (Some([a, b]), true, _) => ([*a, *b], [0, 0]),
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
        let c = self.fragment("D", d, Type::F32, n / 2)?;
        let rows = self.parts("D", d, n / 2)?.iter();
        let rows = rows.map(|part| self.destination(part, Type::B32));
        let d: Vec<Row> = rows.collect::<Result<_, Error>>()?;
        let part = Mma {
            m: 16,
            n: 8,
            k,
            a_type: t,
            b_type,
            c_type: Type::F32,
            saturate: false,
            a: Vec::new(),
            b: Vec::new(),
            c,
            d,
        };
        let negate = negate.map(|sign| sign == -1);
        self.emit(Operation::Wgmma(Box::new(Wgmma { part, n, a, b, adds, negate })));
        Ok(true)
    }
}
