use super::decoder::Decoder;
use super::wgmma::eight_bit_float;
use crate::error::Error;
use crate::operation::{Mma, Operation, Register};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

/// The shapes that are supported: rows, columns, depth, and the compute capability that has them, by the type of A.
fn since(t: Type, shape: (usize, usize, usize)) -> Option<u32> {
    match (t, shape) {
        (Type::F16, (16, 8, 8)) => Some(75),
        (Type::F16, (16, 8, 16))
        | (Type::Bf16, (16, 8, 8 | 16))
        | (Type::Tf32, (16, 8, 4 | 8))
        | (Type::S8 | Type::U8, (16, 8, 16 | 32))
        | (Type::F64, (8, 8, 4)) => Some(80),
        (Type::E4m3 | Type::E5m2, (16, 8, 16 | 32)) => Some(89),
        _ => None,
    }
}

impl<'a> Decoder<'_, '_, 'a> {
    pub fn mma(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        if modifiers.has("block_scale") {
            return self.block_scaled(instruction, modifiers);
        }
        const SHAPES: [(&str, (usize, usize, usize)); 5] = [
            ("m16n8k4", (16, 8, 4)),
            ("m16n8k8", (16, 8, 8)),
            ("m16n8k16", (16, 8, 16)),
            ("m16n8k32", (16, 8, 32)),
            ("m8n8k4", (8, 8, 4)),
        ];
        let Some(shape) = SHAPES.iter().find(|(name, _)| modifiers.take(name)) else {
            return Ok(false);
        };
        let shape = shape.1;
        // The layout of B is always by columns; `mma` without `.sync` and `.aligned` is no PTX.
        if !["sync", "aligned", "row", "col"].iter().all(|name| modifiers.take(name)) {
            return Ok(false);
        }
        let [d_type, a_type, b_type, c_type] = match modifiers.types[..] {
            // Floats of eight bits are types of few instructions, and none for `modifiers`.
            [d, c] => {
                let named = instruction.modifiers.iter().filter_map(|name| eight_bit_float(name));
                let [a, b] = named.collect::<Vec<_>>()[..] else { return Ok(false) };
                modifiers.take_where(|name| eight_bit_float(name).is_some());
                [d, a, b, c]
            }
            [d, a, b, c] => [d, a, b, c],
            _ => return Ok(false),
        };
        let is_integer = matches!(a_type, Type::S8 | Type::U8);
        let is_eight_bit_float = |t| matches!(t, Type::E4m3 | Type::E5m2);
        let accumulates = match a_type {
            Type::F16 | Type::E4m3 | Type::E5m2 => matches!(c_type, Type::F16 | Type::F32),
            Type::Bf16 | Type::Tf32 => c_type == Type::F32,
            Type::F64 => c_type == Type::F64,
            _ => c_type == Type::S32,
        };
        let agree = a_type == b_type
            || is_integer && matches!(b_type, Type::S8 | Type::U8)
            || is_eight_bit_float(a_type) && is_eight_bit_float(b_type);
        let saturate = is_integer && modifiers.take("satfinite");
        let Some(needed) = since(a_type, shape) else { return Ok(false) };
        if !accumulates || !agree || d_type != c_type {
            return Ok(false);
        }
        self.check_target(&instruction.text(), needed)?;
        let (m, n, k) = shape;
        let [a, b, c, d] = [const { Vec::new() }; 4];
        let mut mma = Mma { m, n, k, a_type, b_type, c_type, saturate, a, b, c, d };
        let [d, a, b, c] = &instruction.operands[..] else {
            return self.invalid("mma has four operands: the fragments of D, A, B and C");
        };
        mma.a = self.fragment("A", a, a_type, m * k / 32 / mma.per_register())?;
        mma.b = self.fragment("B", b, b_type, k * n / 32 / mma.per_register())?;
        let accumulators = m * n / 32 / mma.per_accumulator();
        mma.c = self.fragment("C", c, c_type, accumulators)?;
        let parts = self.parts("D", d, accumulators)?;
        for part in parts {
            let row = self.destination(part, register_type(c_type))?;
            mma.d.push(row);
        }
        self.emit(Operation::Mma(Box::new(mma)));
        Ok(true)
    }

    pub fn parts<'o>(
        &self,
        matrix: &str,
        operand: &'o Operand<'a>,
        count: usize,
    ) -> Result<&'o [Operand<'a>], Error> {
        let parts = match operand {
            Operand::Vector(parts) => &parts[..],
            single => std::slice::from_ref(single),
        };
        if parts.len() == count {
            return Ok(parts);
        }
        self.invalid(format!("the fragment of {matrix} has {count} registers, not {}", parts.len()))
    }

    pub fn fragment(
        &mut self,
        matrix: &str,
        operand: &Operand<'a>,
        t: Type,
        count: usize,
    ) -> Result<Vec<Register>, Error> {
        let parts = self.parts(matrix, operand, count)?;
        parts.iter().map(|part| self.source(part, register_type(t))).collect()
    }

    /// An error when the module's `.target` is older than the compute capability that has the instruction.
    pub fn check_target(&self, instruction: &str, needed: u32) -> Result<(), Error> {
        let target = self.context.tree.target;
        let digits = target.trim_start_matches(|c: char| !c.is_ascii_digit());
        let digits = digits.trim_end_matches(|c: char| !c.is_ascii_digit());
        match digits.parse::<u32>() {
            Ok(capability) if capability < needed => self.invalid(format!(
                "kernel `{}`: `{instruction}` needs compute capability {}.{}, but the module is for \
                 {target}: compile it for sm_{needed} or newer",
                self.program.name,
                needed / 10,
                needed % 10,
            )),
            _ => Ok(()),
        }
    }
}

/// The type of the registers of a fragment.
pub(super) fn register_type(t: Type) -> Type {
    if t == Type::F64 { Type::F64 } else { Type::B32 }
}
