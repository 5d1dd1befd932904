use super::access::take_space;
use super::decoder::Decoder;
use super::tensor::register_type;
use crate::error::Error;
use crate::fragment::{self, Cores, Matrix};
use crate::operation::{Access, Base, Mma, Operation, Register, Semantics, Space, WmmaMove};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::Instruction;

/// Rows, columns and depth by name.
const SHAPES: [(&str, [usize; 3]); 5] = [
    ("m16n16k16", [16, 16, 16]),
    ("m32n8k16", [32, 8, 16]),
    ("m8n32k16", [8, 32, 16]),
    ("m16n16k8", [16, 16, 8]),
    ("m8n8k4", [8, 8, 4]),
];

/// Returns whether a shape exists for factors of a type, and the compute capability that has it.
fn since(t: Type, [.., k]: [usize; 3]) -> Option<u32> {
    match (t, k) {
        (Type::F16, 16) => Some(70),
        (Type::S8 | Type::U8, 16) => Some(72),
        (Type::Bf16, 16) | (Type::Tf32, 8) | (Type::F64, 4) => Some(80),
        _ => None,
    }
}

/// The registers of a fragment of so many elements: a factor of f16 has each element twice.
fn registers(t: Type, elements: usize, is_factor: bool) -> usize {
    match t {
        Type::F16 if is_factor => 8,
        _ => (elements / 32 * t.bytes() as usize).div_ceil(t.bytes().max(4) as usize),
    }
}

impl<'a> Decoder<'_, '_, 'a> {
    pub fn wmma(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let Some((_, shape)) = SHAPES.iter().find(|(name, _)| modifiers.take(name)) else {
            return Ok(false);
        };
        if !modifiers.take("sync") || !modifiers.take("aligned") {
            return Ok(false);
        }
        match modifiers.take_any(&["load", "store", "mma"]) {
            Some("mma") => self.wmma_product(instruction, modifiers, *shape),
            Some(name) => self.wmma_move(instruction, modifiers, *shape, name == "load"),
            None => Ok(false),
        }
    }

    fn wmma_move(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
        [m, n, k]: [usize; 3],
        loads: bool,
    ) -> Result<bool, Error> {
        let matrix = modifiers.take_any(&["a", "b", "c", "d"]);
        let layout = modifiers.take_any(&["row", "col"]);
        let (Some(matrix), Some(layout), Some(t)) = (matrix, layout, modifiers.only_type()) else {
            return Ok(false);
        };
        let (rows, columns) = match matrix {
            "a" => (m, k),
            "b" => (k, n),
            _ => (m, n),
        };
        let is_factor = matches!(matrix, "a" | "b");
        let needed = match is_factor {
            true => since(t, [m, n, k]),
            false => Some(70),
        };
        let Some(needed) = needed else { return Ok(false) };
        self.check_target(&instruction.text(), needed)?;
        let mut space = take_space(modifiers);
        if !matches!(space, Space::Global | Space::Shared) {
            space = Space::Generic;
        }
        let (fragment, address, stride) = match (&instruction.operands[..], loads) {
            ([fragment, address, rest @ ..], true) | ([address, fragment, rest @ ..], false) => {
                (fragment, address, rest.first())
            }
            _ => return self.invalid("wmma moves a fragment to or from an address"),
        };
        let from = self.address(address)?;
        let stride = stride.map(|stride| Ok::<_, Error>(self.source(stride, Type::U32)?.index()));
        let stride = stride.transpose()?;
        let count = registers(t, rows * columns, is_factor);
        let registers: Vec<Register> = if loads {
            let parts = self.parts(matrix, fragment, count)?.iter();
            parts.map(|part| self.destination(part, register_type(t))).collect::<Result<_, _>>()?
        } else {
            self.fragment(matrix, fragment, t, count)?
        };
        // Each access goes through these: its address, and what becomes another value or was one.
        let place = self.new_row(Type::B64).index();
        let value = self.new_row(Type::B32);
        let access = Access {
            space,
            base: Base::Long(place),
            offset: 0,
            bytes: t.bytes(),
            signed: false,
            rows: Vec::new(),
            strong: false,
            past_l1: false,
            semantics: Semantics::default(),
            read_only: false,
            of_call: false,
        };
        let which = match matrix {
            "a" => Matrix::A,
            "b" => Matrix::B,
            _ => Matrix::Sum,
        };
        let cores = Cores::of(which, [m, n, k], t.bytes());
        let is_dense = cores.are_rows == (layout == "row");
        let facts = (t.bytes(), is_dense, loads && is_factor);
        let moves = fragment::moves(&cores, &registers, (&access, value), facts);
        let copies = registers.iter().enumerate().skip(cores.starts.len());
        let copies = copies.filter(|_| is_factor && loads);
        let copies = copies.map(|(r, row)| (registers[r % cores.starts.len()], *row)).collect();
        self.emit(Operation::WmmaMove(Box::new(WmmaMove {
            loads,
            moves,
            place,
            value,
            each: cores.each,
            bytes: t.bytes(),
            from,
            stride,
            dense: if layout == "row" { columns } else { rows } as u32,
            is_dense,
            copies,
        })));
        Ok(true)
    }

    fn wmma_product(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
        [m, n, k]: [usize; 3],
    ) -> Result<bool, Error> {
        // The layouts of A and B are those by which they were loaded.
        modifiers.take_where(|name| matches!(name, "row" | "col" | "rn"));
        let saturate = modifiers.take("satfinite");
        let (t, c_type) = match modifiers.types[..] {
            [Type::F16, Type::F16] => (Type::F16, Type::F16),
            [Type::F32, Type::F32] => (Type::F16, Type::F32),
            [d, a, b, c] if a == b && c == d => (a, d),
            _ => return Ok(false),
        };
        let accumulates = match t {
            Type::F16 => matches!(c_type, Type::F16 | Type::F32),
            Type::Bf16 | Type::Tf32 => c_type == Type::F32,
            Type::F64 => c_type == Type::F64,
            _ => c_type == Type::S32,
        };
        let Some(needed) = since(t, [m, n, k]).filter(|_| accumulates) else { return Ok(false) };
        if saturate && c_type != Type::S32 {
            return Ok(false);
        }
        self.check_target(&instruction.text(), needed)?;
        let [d, a, b, c] = &instruction.operands[..] else {
            return self.invalid("wmma.mma has four operands: the fragments of D, A, B and C");
        };
        let a = self.fragment("A", a, t, registers(t, m * k, true))?;
        let b = self.fragment("B", b, t, registers(t, k * n, true))?;
        let accumulators = registers(c_type, m * n, false);
        let c = self.fragment("C", c, c_type, accumulators)?;
        let parts = self.parts("D", d, accumulators)?.iter();
        let d = parts.map(|part| self.destination(part, register_type(c_type)));
        let d = d.collect::<Result<_, Error>>()?;
        let mma = Mma { m, n, k, a_type: t, b_type: t, c_type, saturate, a, b, c, d };
        self.emit(Operation::Wmma(Box::new(mma)));
        Ok(true)
    }
}
