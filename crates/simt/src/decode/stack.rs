//! A thread's stack: `alloca`, and the arrays of functions that may call themselves, which each call has of its own.

use super::decoder::Decoder;
use crate::compute::{Operands, lanes};
use crate::error::Error;
use crate::operation::{Operation, Register};
use crate::program::Constant;
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand, Statement};

/// The alignment of `alloca` without one.
const ALIGNMENT: u64 = 8;

impl<'a> Decoder<'_, '_, 'a> {
    /// Returns the row of how many bytes of the stack each lane uses, behind the memory that all calls share.
    fn stack(&mut self) -> u32 {
        let row = self.stack.unwrap_or_else(|| self.new_row(Type::U32).index());
        self.stack = Some(row);
        row
    }

    fn copy(&mut self, d: u32, a: u32) {
        let function = lanes!(|a: u32| -> u32 { a });
        let operands = Operands { d, a, ..Operands::default() };
        self.helper(Operation::Compute { function, operands });
    }

    /// Remembers how much of the stack is used where a function begins that takes from it.
    pub fn enter_stack(&mut self, body: &[Statement<'a>]) {
        let Some(caller) = self.caller else { return };
        let has_arrays = self.context.calls.is_recursive(self.frames[caller].function);
        self.stack_before = None;
        if takes(body, has_arrays) {
            self.current.text = self.text("alloca");
            let (stack, before) = (self.stack(), self.new_row(Type::U32).index());
            self.copy(before, stack);
            self.stack_before = Some(before);
        }
    }

    /// Gives back, before a return, what the function took.
    pub fn leave_stack(&mut self) {
        if let Some(before) = self.stack_before {
            let stack = self.stack();
            self.copy(stack, before);
        }
    }

    /// Makes an array for each call, if calls of the function may be under way at once; its address is in the row.
    pub fn stack_array(&mut self, bytes: u64, alignment: u64) -> Option<u32> {
        let function = self.frames[self.caller?].function;
        if !self.context.calls.is_recursive(function) {
            return None;
        }
        let row = self.new_row(Type::U64);
        self.allocate_on_stack(row, bytes, alignment);
        Some(row.index())
    }

    fn allocate_on_stack(&mut self, destination: Register, bytes: u64, alignment: u64) {
        let bytes = self.constant(false, Constant::Value(bytes)).index();
        let stack = self.stack();
        let alignment = alignment as u32;
        self.helper(Operation::Alloca { destination, bytes, alignment, stack });
    }

    /// Returns the value of such an array's name: its address, or one behind it.
    pub fn stack_address(&mut self, array: u32, offset: i64, t: Type) -> Register {
        let row = self.new_row(t);
        let b = self.constant(true, Constant::Value(offset as u64)).index();
        let function = match row {
            Register::Long(_) => lanes!(|a: u64, b: u64| -> u64 { a.wrapping_add(b) }),
            _ => lanes!(|a: u64, b: u64| -> u32 { a.wrapping_add(b) as u32 }),
        };
        let operands = Operands { d: row.index(), a: array, b, ..Operands::default() };
        self.helper(Operation::Compute { function, operands });
        row
    }

    /// Decodes `alloca`, `stacksave` and `stackrestore`.
    pub fn stack_instruction(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let Some(t) = modifiers.only_type().filter(|t| matches!(t.bytes(), 4 | 8)) else {
            return Ok(false);
        };
        let stack = self.stack();
        match (instruction.opcode, &instruction.operands[..]) {
            ("alloca", [target, bytes, rest @ ..]) if rest.len() < 2 => {
                let alignment = match rest {
                    [] => ALIGNMENT,
                    [Operand::Integer(alignment)] if (1..=1 << 20).contains(alignment) => {
                        *alignment as u64
                    }
                    _ => return self.invalid("alloca has a constant alignment"),
                };
                if !alignment.is_power_of_two() {
                    return self.invalid(format!("{alignment} is no power of two"));
                }
                let mut bytes = self.source(bytes, t)?;
                if let Register::Long(from) = bytes {
                    // More than fits is as many as fit into 32 bits, which is too many, too.
                    bytes = self.new_row(Type::U32);
                    let function = lanes!(|a: u64| -> u32 { u32::try_from(a).unwrap_or(u32::MAX) });
                    let operands = Operands { d: bytes.index(), a: from, ..Operands::default() };
                    self.helper_compute(function, operands, Register::Long(from), bytes);
                }
                let destination = self.destination(target, t)?;
                let (bytes, alignment) = (bytes.index(), alignment as u32);
                self.emit(Operation::Alloca { destination, bytes, alignment, stack });
            }
            ("stacksave", [target]) => {
                let d = self.destination(target, t)?;
                let function = match d {
                    Register::Long(_) => lanes!(|a: u32| -> u64 { a.into() }),
                    _ => lanes!(|a: u32| -> u32 { a }),
                };
                let operands = Operands { d: d.index(), a: stack, ..Operands::default() };
                self.emit(Operation::Compute { function, operands });
            }
            ("stackrestore", [source]) => {
                let a = self.source(source, t)?;
                let function = match a {
                    Register::Long(_) => lanes!(|a: u64| -> u32 { a as u32 }),
                    _ => lanes!(|a: u32| -> u32 { a }),
                };
                let operands = Operands { d: stack, a: a.index(), ..Operands::default() };
                self.emit(Operation::Compute { function, operands });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns whether statements take from the stack; declared arrays do in functions that may call themselves.
fn takes(body: &[Statement<'_>], has_arrays: bool) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Variable(variable) => has_arrays && variable.space == "local",
        Statement::Instruction(instruction) => instruction.opcode == "alloca",
        Statement::Block(inner) => takes(inner, has_arrays),
        _ => false,
    })
}
