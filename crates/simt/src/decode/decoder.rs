//! The state of decoding one kernel, and what every part of the decoder does to it.

use super::context::Context;
use super::extent::Extent;
use super::scope::Scope;
use crate::error::{Error, Position};
use crate::operation::{Operation, Register};
use crate::program::{Constant, Detail, Instruction, Program, Special};
use crate::registers::ALWAYS;
use ptx::Type;
use ptx::tree::{self, Function, Variable};
use std::collections::{HashMap, HashSet};

/// Per-lane memory that the hardware can address.
const LOCAL_BYTES_MAX: u64 = 512 << 10;

/// Most instructions of a kernel, with those of its functions: a report needs a few kilobytes for each.
const INSTRUCTIONS_MAX: usize = 1 << 19;

/// A formal parameter or result of a device function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Formal {
    Register { row: Register, t: Type },
    Memory { offset: u32, bytes: u32 },
}

/// A device function that the program calls.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Index into the tree's functions.
    pub function: usize,
    pub entry: u32,
    pub results: Vec<Formal>,
    pub parameters: Vec<Formal>,
}

pub(crate) struct Decoder<'c, 't, 'a> {
    pub context: &'c Context<'t, 'a>,
    pub program: Program,
    pub scopes: Vec<Scope<'t, 'a>>,
    pub frames: Vec<Frame>,
    /// The frame of each function of the tree that has one.
    pub frame_of: HashMap<usize, usize>,
    pub table_entries: usize,
    /// Instructions that the module's budget was charged for.
    pub charged: usize,
    pub constants: HashMap<(bool, Constant), Register>,
    pub specials: HashMap<Special, u32>,
    pub shared: HashMap<String, i64>,
    pub texts: HashMap<String, u32>,
    pub symbols: HashSet<String>,
    pub locations: HashMap<tree::Location<'a>, u32>,
    /// The call sites that the last `.loc` of a file and line was inlined into.
    pub call_sites: HashMap<(u64, u32), Vec<(tree::Site<'a>, u32)>>,
    pub labels: Vec<Option<u32>>,
    /// Registers of the current function that hold nothing but the integer one.
    pub ones: HashSet<&'a str>,
    /// Code addresses to patch: label indices, or frames for calls.
    pub current: Current,
    /// Registers that the current function mentions once: what is written there is never read.
    pub unread: HashSet<&'a str>,
    /// Rows of the current statement.
    pub reads: Vec<Register>,
    pub writes: Vec<Register>,
    /// The current statement reads a special register in which the threads of a block differ.
    pub reads_own_place: bool,
    /// Instructions to emit after the current one.
    pub after: Vec<Operation>,
    pub in_entry: bool,
    /// The frame of the function that is decoded; none for the kernel itself.
    pub caller: Option<usize>,
    /// The extent of each function, in the order of the frames.
    pub extents: Vec<Extent>,
    pub local_bytes: u64,
    /// The row of each lane's bytes on its stack, once something takes some.
    pub stack: Option<u32>,
    /// The row of what it was when the function that is decoded began.
    pub stack_before: Option<u32>,
}

/// The state that every emitted instruction of a statement shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    pub guard: u32,
    pub negate: u32,
    pub position: Position,
    pub text: u32,
    pub location: u32,
    pub approximate: bool,
}

impl<'c, 't, 'a> Decoder<'c, 't, 'a> {
    pub fn new(context: &'c Context<'t, 'a>, function: &Function<'a>) -> Decoder<'c, 't, 'a> {
        let mut decoder = Decoder {
            context,
            program: Program {
                name: function.name.into(),
                shared_alignment: 16,
                ..Program::default()
            },
            scopes: Vec::new(),
            frames: Vec::new(),
            frame_of: HashMap::new(),
            table_entries: 0,
            charged: 0,
            constants: HashMap::new(),
            specials: HashMap::new(),
            shared: HashMap::new(),
            texts: HashMap::new(),
            symbols: HashSet::new(),
            locations: HashMap::new(),
            call_sites: HashMap::new(),
            labels: Vec::new(),
            ones: HashSet::new(),
            unread: HashSet::new(),
            current: Current {
                guard: ALWAYS,
                negate: 0,
                position: function.position,
                text: 0,
                location: u32::MAX,
                approximate: false,
            },
            reads: Vec::new(),
            writes: Vec::new(),
            reads_own_place: false,
            after: Vec::new(),
            in_entry: true,
            caller: None,
            extents: Vec::new(),
            local_bytes: 0,
            stack: None,
            stack_before: None,
        };
        // The rows ALWAYS, CARRY and NEVER.
        decoder.program.predicates = 3;
        decoder
    }
    pub fn invalid<T>(&self, message: impl Into<String>) -> Result<T, Error> {
        Err(Error::Invalid { position: self.current.position, message: message.into() })
    }

    pub fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, Error> {
        Err(Error::Unsupported { position: self.current.position, what: what.into() })
    }

    /// The bytes and alignment of a variable.
    pub fn extent(&self, variable: &Variable<'a>) -> Result<(u64, u64), Error> {
        let position = variable.position;
        let Some(t) = Type::parse(variable.element) else {
            let what = format!(".{} .{}", variable.space, variable.element);
            return Err(Error::Unsupported { position, what });
        };
        let elements = variable.elements.unwrap_or(0);
        let bytes = elements.saturating_mul(t.bytes() as u64);
        let alignment = variable.alignment.max(t.bytes() as u64);
        Ok((bytes, alignment))
    }

    pub fn allocate_local(&mut self, bytes: u64, alignment: u64) -> Result<u32, Error> {
        let offset = self.local_bytes.next_multiple_of(alignment);
        self.local_bytes = offset.saturating_add(bytes);
        if self.local_bytes > LOCAL_BYTES_MAX {
            return self.invalid(format!(
                "{} bytes of local memory per thread, the limit is {LOCAL_BYTES_MAX}",
                self.local_bytes
            ));
        }
        self.program.local_variables.push((offset as u32, bytes as u32));
        Ok(offset as u32)
    }

    pub fn allocate_shared(
        &mut self,
        key: String,
        bytes: u64,
        alignment: u64,
    ) -> Result<i64, Error> {
        if let Some(offset) = self.shared.get(&key) {
            return Ok(*offset);
        }
        let offset = (self.program.shared_static as u64).next_multiple_of(alignment);
        let end = offset.saturating_add(bytes);
        if end > 1 << 20 {
            return self.invalid(format!("{end} bytes of static shared memory"));
        }
        self.program.shared_static = end as u32;
        let name = key.split('@').next().unwrap_or_default().to_string();
        self.program.shared_variables.push((offset as u32, bytes as u32, name));
        self.shared.insert(key, offset as i64);
        Ok(offset as i64)
    }

    pub fn text(&mut self, text: &str) -> u32 {
        if let Some(index) = self.texts.get(text) {
            return *index;
        }
        let index = self.program.texts.len() as u32;
        self.program.texts.push(text.into());
        self.texts.insert(text.into(), index);
        index
    }

    /// A fresh row wide enough for a type.
    pub fn new_row(&mut self, t: Type) -> Register {
        let program = &mut self.program;
        let counter = match t {
            Type::Pred => &mut program.predicates,
            t if t.bytes() >= 8 => &mut program.longs,
            _ => &mut program.words,
        };
        let index = *counter;
        *counter += if t == Type::B128 { 2 } else { 1 };
        match t {
            Type::Pred => Register::Predicate(index),
            t if t.bytes() >= 8 => Register::Long(index),
            _ => Register::Word(index),
        }
    }

    /// Emits the instruction that the current statement stands for, then what must follow it.
    pub fn emit(&mut self, operation: Operation) {
        let writes = std::mem::take(&mut self.writes);
        let reads = std::mem::take(&mut self.reads);
        self.push(operation, false, reads, writes);
        for operation in std::mem::take(&mut self.after) {
            self.helper(operation);
        }
    }

    /// Emits an instruction that is only an artefact of decoding.
    pub fn helper(&mut self, operation: Operation) {
        self.push(operation, true, Vec::new(), Vec::new());
    }

    fn push(
        &mut self,
        operation: Operation,
        synthetic: bool,
        reads: Vec<Register>,
        writes: Vec<Register>,
    ) {
        self.program.instructions.push(Instruction {
            guard: self.current.guard,
            negate: self.current.negate,
            operation,
        });
        self.program.details.push(Detail {
            position: self.current.position,
            text: self.current.text,
            location: self.current.location,
            synthetic,
            approximate: self.current.approximate,
            reads,
            writes,
            reads_own_place: self.reads_own_place && !synthetic,
        });
        self.program.approximate |= self.current.approximate;
    }

    /// An error once the program is longer than is allowed, or the kernels of the module are.
    pub fn check_length(&mut self) -> Result<(), Error> {
        let length = self.program.instructions.len() + self.table_entries;
        if length > INSTRUCTIONS_MAX {
            return self.invalid(format!(
                "kernel `{}` is too long: with the functions that it calls it has more than \
                 {INSTRUCTIONS_MAX} instructions and entries of branch tables; split it",
                self.program.name
            ));
        }
        let left = self.context.budget.get().checked_sub(length - self.charged);
        self.charged = length;
        self.context.budget.set(left.unwrap_or(0));
        if left.is_none() {
            return self.invalid(
                "the kernels of this module have too many instructions and entries of branch tables, \
                 where a function counts once for each kernel that calls it: put fewer kernels into \
                 one module",
            );
        }
        Ok(())
    }

    /// The frame of a device function, made on first use.
    pub fn frame(&mut self, function: usize) -> Result<usize, Error> {
        if let Some(index) = self.frame_of.get(&function) {
            return Ok(*index);
        }
        let declaration = &self.context.tree.functions[function];
        let mut formals = [Vec::new(), Vec::new()];
        for (list, variables) in
            formals.iter_mut().zip([&declaration.results, &declaration.parameters])
        {
            for variable in variables {
                list.push(self.formal(variable)?);
            }
        }
        let [results, parameters] = formals;
        self.frames.push(Frame { function, entry: 0, results, parameters });
        self.frame_of.insert(function, self.frames.len() - 1);
        Ok(self.frames.len() - 1)
    }

    fn formal(&mut self, variable: &Variable<'a>) -> Result<Formal, Error> {
        let (bytes, alignment) = self.extent(variable)?;
        if variable.space == "reg" {
            let t = Type::parse(variable.element).unwrap_or(Type::B32);
            return Ok(Formal::Register { row: self.new_row(t), t });
        }
        let offset = self.allocate_local(bytes, alignment)?;
        Ok(Formal::Memory { offset, bytes: bytes as u32 })
    }

    /// The row of a constant, shared by all its uses.
    pub fn constant(&mut self, long: bool, constant: Constant) -> Register {
        let key = (long, constant.clone());
        if let Some(row) = self.constants.get(&key) {
            return *row;
        }
        let row = self.new_row(if long { Type::B64 } else { Type::B32 });
        if let Constant::Symbol { name, .. } = &constant
            && self.symbols.insert(name.clone())
        {
            self.program.symbols.push(name.clone());
        }
        self.program.constants.push((row, constant));
        self.constants.insert(key, row);
        row
    }

    /// The row of a special register.
    pub fn special(&mut self, special: Special) -> u32 {
        if let Some(index) = self.specials.get(&special) {
            return *index;
        }
        let row = self.new_row(Type::B32);
        let Register::Word(index) = row else { return 0 };
        self.specials.insert(special, index);
        self.program.specials.push((row, special));
        index
    }
}
