//! Products of matrices whose rows have scales (PTX ISA, "mma": `.block_scale`).

use super::decoder::Decoder;
use crate::error::Error;
use crate::operation::{BlockScaled, Operation, ScaleSelector};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

const FORMATS: [&str; 5] = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"];

impl<'a> Decoder<'_, '_, 'a> {
    pub fn block_scaled(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        self.check_target(&instruction.text(), 120)?;
        let kinds = ["kind::mxf8f6f4", "kind::mxf4nvf4", "kind::mxf4"];
        let known = ["sync", "aligned", "row", "col", "block_scale"];
        let (Some(kind), true) =
            (modifiers.take_any(&kinds), known.iter().all(|name| modifiers.take(name)))
        else {
            return Ok(false);
        };
        let sizes = ["scale_vec::1X", "scale_vec::2X", "scale_vec::4X"];
        let given = modifiers.take_any(&sizes);
        let has_fractions = modifiers.take("ue4m3");
        let has_exponents = modifiers.take("ue8m0");
        let is_narrow = kind != "kind::mxf8f6f4";
        let scales = match (kind, given, has_fractions) {
            ("kind::mxf8f6f4", None | Some("scale_vec::1X"), false) => 1,
            ("kind::mxf4", None | Some("scale_vec::2X"), false) => 2,
            ("kind::mxf4nvf4", Some("scale_vec::2X"), false) => 2,
            ("kind::mxf4nvf4", Some("scale_vec::4X"), _) => 4,
            _ => return Ok(false),
        };
        let (shape, k) = if is_narrow { ("m16n8k64", 64) } else { ("m16n8k32", 32) };
        let (Some(a_format), Some(b_format)) = self.formats(modifiers) else { return Ok(false) };
        let is_known = modifiers.take(shape)
            && has_exponents != has_fractions
            && modifiers.types[..] == [Type::F32; 2]
            && (!is_narrow || [a_format, b_format] == ["e2m1"; 2]);
        if !is_known {
            return Ok(false);
        }
        let [d, a, b, c, scale_a, select_a, scale_b, select_b] = &instruction.operands[..] else {
            return self
                .invalid("a scaled mma has four fragments, and scales and selectors of A and B");
        };
        let mut mma = BlockScaled {
            k,
            scales,
            a_format,
            b_format,
            has_fractions,
            a: self.fragment("A", a, Type::B32, 4)?,
            b: self.fragment("B", b, Type::B32, 2)?,
            c: self.fragment("C", c, Type::F32, 4)?,
            d: Vec::new(),
            of_a: self.selector("A", scale_a, select_a)?,
            of_b: self.selector("B", scale_b, select_b)?,
        };
        for part in self.parts("D", d, 4)? {
            let row = self.destination(part, Type::B32)?;
            mma.d.push(row);
        }
        self.emit(Operation::BlockScaled(Box::new(mma)));
        Ok(true)
    }

    /// Takes the formats of A and B, in their order.
    fn formats(
        &self,
        modifiers: &mut Modifiers<'a>,
    ) -> (Option<&'static str>, Option<&'static str>) {
        let mut next = || {
            let first = modifiers.first_of(&FORMATS)?;
            modifiers.take(first);
            Some(first)
        };
        (next(), next())
    }

    fn selector(
        &mut self,
        matrix: &str,
        scales: &Operand<'a>,
        selected: &Operand<'a>,
    ) -> Result<ScaleSelector, Error> {
        let scales = self.fragment(matrix, scales, Type::B32, 1)?[0];
        let selected = self.fragment(matrix, selected, Type::U16, 2)?;
        Ok(ScaleSelector { scales, selected: [selected[0], selected[1]] })
    }
}
