//! The syntax tree to an executable program: names to rows, labels to positions, opcodes to
//! functions.
//!
//! A kernel and all functions it calls become one program. Every function has its own registers
//! and its own per-lane memory, so a call needs nothing but a return address; recursion is refused
//! when it happens.

pub(crate) mod control;
mod layout;
pub(crate) mod memory;
pub(crate) mod modifiers;
pub(crate) mod names;
pub(crate) mod operands;
pub(crate) mod plain;
pub(crate) mod warp;

use crate::error::{Error, Position};
use crate::program::Space;
use crate::program::{
    Constant, Detail, FUNCTION_WINDOW, Instruction, Operation, Program, ProgramLocation, Row,
    Special,
};
use crate::registers::ALWAYS;
use crate::syntax::tree::{self, Function, Initial, Operand, Site, Statement, Tree, Variable};
use modifiers::{Modifiers, Type};
use names::{Scope, Symbol};
use std::collections::{HashMap, HashSet};

/// Per-lane memory that the hardware can address.
const LOCAL_BYTES_MAX: u64 = 512 << 10;

/// A formal parameter or result of a device function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Formal {
    Register { row: Row, t: Type },
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

/// Facts about the whole module that every kernel's decoding needs.
pub(crate) struct Context<'t, 'a> {
    pub tree: &'t Tree<'a>,
    pub functions: HashMap<&'a str, usize>,
    pub variables: HashMap<&'a str, &'t Variable<'a>>,
    pub address_taken: Vec<usize>,
}

impl<'t, 'a> Context<'t, 'a> {
    pub fn new(tree: &'t Tree<'a>) -> Context<'t, 'a> {
        let mut functions: HashMap<&'a str, usize> = HashMap::new();
        for (index, function) in tree.functions.iter().enumerate() {
            let known = functions.get(function.name);
            if known.is_none_or(|k| tree.functions[*k].body.is_none()) {
                functions.insert(function.name, index);
            }
        }
        for (alias, target) in &tree.aliases {
            if let Some(index) = functions.get(target).copied() {
                functions.insert(alias, index);
            }
        }
        let variables: HashMap<_, _> = tree.variables.iter().map(|v| (v.name, v)).collect();
        let mut context = Context { tree, functions, variables, address_taken: Vec::new() };
        context.find_address_taken();
        context
    }

    /// Functions whose address appears anywhere: the candidates of indirect calls.
    fn find_address_taken(&mut self) {
        let mut names: Vec<&str> = Vec::new();
        for variable in &self.tree.variables {
            for initial in &variable.initial {
                if let Initial::Symbol { name, .. } = initial {
                    names.push(name);
                }
            }
        }
        fn walk<'a>(statements: &[Statement<'a>], names: &mut Vec<&'a str>) {
            for statement in statements {
                match statement {
                    Statement::Instruction(i) if i.opcode == "mov" => {
                        if let Some(tree::Operand::Name { name, .. }) = i.operands.get(1) {
                            names.push(name);
                        }
                    }
                    Statement::Block(inner) => walk(inner, names),
                    _ => {}
                }
            }
        }
        for function in &self.tree.functions {
            if let Some(body) = &function.body {
                walk(body, &mut names);
            }
        }
        let mut taken: Vec<usize> =
            names.iter().filter_map(|name| self.functions.get(name).copied()).collect();
        taken.sort_unstable();
        taken.dedup();
        self.address_taken = taken;
    }

    /// The generic address that stands for a device function.
    pub fn function_address(&self, index: usize) -> u64 {
        FUNCTION_WINDOW + 16 * index as u64
    }
}

pub(crate) struct Decoder<'c, 't, 'a> {
    pub context: &'c Context<'t, 'a>,
    pub program: Program,
    pub scopes: Vec<Scope<'a>>,
    pub frames: Vec<Frame>,
    constants: HashMap<(bool, Constant), Row>,
    specials: HashMap<Special, u32>,
    shared: HashMap<String, i64>,
    texts: HashMap<String, u32>,
    locations: HashMap<tree::Location<'a>, u32>,
    labels: Vec<Option<u32>>,
    /// Registers of the current function that hold nothing but the integer one.
    pub ones: HashSet<&'a str>,
    /// Code addresses to patch: label indices, or frames for calls.
    pub current: Current,
    /// Registers that the current function mentions once: what is written there is never read.
    pub unread: HashSet<&'a str>,
    /// Rows of the current statement.
    pub reads: Vec<Row>,
    pub writes: Vec<Row>,
    /// Instructions to emit after the current one.
    pub after: Vec<Operation>,
    pub in_entry: bool,
    local_bytes: u64,
}

/// What every emitted instruction of a statement shares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current {
    pub guard: u32,
    pub negate: u32,
    pub position: Position,
    pub text: u32,
    pub location: u32,
    pub approximate: bool,
}

/// Every register that is written, with whether the one write is `mov` of 1.
fn find_ones<'a>(statements: &[Statement<'a>], written: &mut HashMap<&'a str, bool>) {
    fn target<'a>(operand: &Operand<'a>, one: bool, written: &mut HashMap<&'a str, bool>) {
        match operand {
            Operand::Name { name, .. } => {
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

/// How often each name occurs in a guard or an operand.
fn count_mentions<'a>(statements: &[Statement<'a>], mentions: &mut HashMap<&'a str, u32>) {
    fn operand<'a>(of: &Operand<'a>, mention: &mut impl FnMut(&'a str)) {
        match of {
            Operand::Name { name, .. } | Operand::Not(name) | Operand::Negative(name) => {
                mention(name);
            }
            Operand::Address { base, index, .. } => {
                base.iter().chain(index).for_each(|name| mention(name));
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

/// Decodes one kernel with everything it reaches.
pub(crate) fn decode(context: &Context<'_, '_>, kernel: usize) -> Result<Program, Error> {
    let function = &context.tree.functions[kernel];
    let mut decoder = Decoder {
        context,
        program: Program { name: function.name.into(), shared_alignment: 16, ..Program::default() },
        scopes: Vec::new(),
        frames: Vec::new(),
        constants: HashMap::new(),
        specials: HashMap::new(),
        shared: HashMap::new(),
        texts: HashMap::new(),
        locations: HashMap::new(),
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
        after: Vec::new(),
        in_entry: true,
        local_bytes: 0,
    };
    // The rows ALWAYS, CARRY and NEVER.
    decoder.program.predicates = 3;
    decoder.entry(function)?;
    let mut next = 0;
    while next < decoder.frames.len() {
        decoder.device_function(next)?;
        next += 1;
    }
    decoder.finish()
}

impl<'c, 't, 'a> Decoder<'c, 't, 'a> {
    pub fn invalid<T>(&self, message: impl Into<String>) -> Result<T, Error> {
        Err(Error::Invalid { position: self.current.position, message: message.into() })
    }

    pub fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, Error> {
        Err(Error::Unsupported { position: self.current.position, what: what.into() })
    }

    fn entry(&mut self, function: &'t Function<'a>) -> Result<(), Error> {
        let mut scope = Scope::default();
        let mut offset = 0u64;
        for parameter in &function.parameters {
            let (bytes, alignment) = self.extent(parameter)?;
            offset = offset.next_multiple_of(alignment);
            scope.names.insert(parameter.name, Symbol::EntryParameter { offset: offset as u32 });
            offset += bytes;
        }
        if offset > 32764 {
            return self.invalid("more than 32764 bytes of kernel parameters");
        }
        self.program.parameter_bytes = offset as u32;
        self.program.functions.push((0, function.name.into()));
        let Some(body) = &function.body else {
            return self.invalid(format!("kernel `{}` has no body", function.name));
        };
        self.in_entry = true;
        self.function_body(scope, body)
    }

    fn device_function(&mut self, index: usize) -> Result<(), Error> {
        let frame = self.frames[index].clone();
        let function = &self.context.tree.functions[frame.function];
        self.frames[index].entry = self.program.instructions.len() as u32;
        self.program.functions.push((self.frames[index].entry, function.name.into()));
        let mut scope = Scope::default();
        let formals = function.parameters.iter().zip(&frame.parameters);
        for (variable, formal) in formals.chain(function.results.iter().zip(&frame.results)) {
            let symbol = match *formal {
                Formal::Register { row, t } => Symbol::Register { row, t },
                Formal::Memory { offset, .. } => Symbol::Local { offset },
            };
            scope.names.insert(variable.name, symbol);
        }
        let Some(body) = &function.body else {
            return self.invalid(format!("function `{}` has no body", function.name));
        };
        self.in_entry = false;
        self.function_body(scope, body)
    }

    fn function_body(&mut self, scope: Scope<'a>, body: &'t [Statement<'a>]) -> Result<(), Error> {
        self.current.location = u32::MAX;
        self.scopes = vec![scope];
        let mut written = HashMap::new();
        find_ones(body, &mut written);
        self.ones = written.into_iter().filter(|(_, one)| *one).map(|(name, _)| name).collect();
        let mut mentions = HashMap::new();
        count_mentions(body, &mut mentions);
        self.unread = mentions.into_iter().filter(|(_, n)| *n == 1).map(|(name, _)| name).collect();
        self.statements(body)?;
        // Falling off the end returns.
        self.current.guard = ALWAYS;
        self.current.negate = 0;
        self.current.text = self.text("ret");
        self.emit(Operation::Return);
        self.scopes.clear();
        Ok(())
    }

    fn statements(&mut self, statements: &'t [Statement<'a>]) -> Result<(), Error> {
        let mut scope = Scope::default();
        for statement in statements {
            if let Statement::Label(name) = statement {
                scope.labels.insert(name, self.labels.len() as u32);
                self.labels.push(None);
            }
            if let Statement::BranchTargets { label, targets } = statement {
                scope.branch_targets.insert(label, targets.clone());
            }
        }
        self.scopes.push(scope);
        for statement in statements {
            self.statement(statement)?;
        }
        self.scopes.pop();
        Ok(())
    }

    fn statement(&mut self, statement: &'t Statement<'a>) -> Result<(), Error> {
        match statement {
            Statement::Label(name) => {
                if let Some(label) = self.label(name) {
                    self.labels[label as usize] = Some(self.program.instructions.len() as u32);
                }
            }
            Statement::Registers { element, vector, names, position } => {
                self.current.position = *position;
                let Some(t) = Type::parse(element) else {
                    return self.unsupported(format!(".reg .{element}"));
                };
                if *vector != 1 {
                    return self.unsupported(format!(".reg .v{vector} .{element}"));
                }
                for (name, count) in names {
                    self.declare_register(name, t, *count);
                }
            }
            Statement::Variable(variable) => self.declare_variable(variable)?,
            Statement::Block(inner) => self.statements(inner)?,
            Statement::Instruction(instruction) => self.instruction(instruction)?,
            Statement::Location(location) => self.locate(location),
            Statement::BranchTargets { .. } | Statement::CallTargets => {}
        }
        Ok(())
    }

    fn locate(&mut self, location: &tree::Location<'a>) {
        let next = self.program.locations.len() as u32;
        let index = *self.locations.entry(location.clone()).or_insert(next);
        if index == next {
            let files = &self.context.tree.files;
            let name = |number: u64| files.get(&number).copied().unwrap_or("?").to_string();
            self.program.locations.push(ProgramLocation {
                file: name(location.file),
                line: location.line,
                inlined_at: location
                    .inlined_at
                    .iter()
                    .map(|(site, line)| match site {
                        Site::Number(number) => (name(*number), *line),
                        Site::Name(file) => (file.to_string(), *line),
                    })
                    .collect(),
            });
        }
        self.current.location = index;
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

    fn declare_variable(&mut self, variable: &'t Variable<'a>) -> Result<(), Error> {
        self.current.position = variable.position;
        let (bytes, alignment) = self.extent(variable)?;
        let symbol = match variable.space {
            "local" | "param" => {
                let offset = self.allocate_local(bytes, alignment)?;
                Symbol::Local { offset }
            }
            "shared" => {
                // Unique per declaration: two functions may use the same name.
                let key = format!("{}@{}", variable.name, self.program.functions.len());
                Symbol::Shared { offset: self.allocate_shared(key, bytes, alignment)? }
            }
            space => return self.unsupported(format!(".{space} in a function")),
        };
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(variable.name, symbol);
        }
        Ok(())
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

    fn instruction(&mut self, instruction: &'t tree::Instruction<'a>) -> Result<(), Error> {
        self.current.position = instruction.position;
        self.current.text = self.text(&instruction.text());
        self.current.guard = ALWAYS;
        self.current.negate = 0;
        self.current.approximate = false;
        self.reads.clear();
        self.writes.clear();
        if let Some((name, negated)) = instruction.guard {
            let Some(Row::Predicate(row)) = self.register(name).map(|(row, _)| row) else {
                return self.invalid(format!("guard `{name}` is not a predicate"));
            };
            self.current.guard = row;
            self.current.negate = if negated { u32::MAX } else { 0 };
            self.reads.push(Row::Predicate(row));
        }
        let mut modifiers = Modifiers::new(&instruction.modifiers);
        let known = self.control(instruction, &mut modifiers)?
            || self.memory(instruction, &mut modifiers)?
            || self.warp_level(instruction, &mut modifiers)?
            || self.plain(instruction, &mut modifiers)?;
        if !known || modifiers.unknown().is_some() {
            return self.unsupported(instruction.text());
        }
        Ok(())
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
        let (reads, writes) = operands::rows_of_helper(&operation);
        self.push(operation, true, reads, writes);
    }

    fn push(&mut self, operation: Operation, synthetic: bool, reads: Vec<Row>, writes: Vec<Row>) {
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
        });
        self.program.approximate |= self.current.approximate;
    }

    /// The frame of a device function, made on first use.
    pub fn frame(&mut self, function: usize) -> Result<usize, Error> {
        if let Some(index) = self.frames.iter().position(|f| f.function == function) {
            return Ok(index);
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
    pub fn constant(&mut self, long: bool, constant: Constant) -> Row {
        let key = (long, constant.clone());
        if let Some(row) = self.constants.get(&key) {
            return *row;
        }
        let row = self.new_row(if long { Type::B64 } else { Type::B32 });
        if let Constant::Symbol { name, .. } = &constant
            && !self.program.symbols.contains(name)
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
        let Row::Word(index) = row else { return 0 };
        self.specials.insert(special, index);
        self.program.specials.push((row, special));
        index
    }

    fn finish(mut self) -> Result<Program, Error> {
        for index in 0..self.program.instructions.len() {
            let position = self.program.details[index].position;
            let resolve = |label: u32| match self.labels.get(label as usize) {
                Some(Some(pc)) => Ok(*pc),
                _ => Err(Error::Invalid { position, message: "label without a place".into() }),
            };
            match &mut self.program.instructions[index].operation {
                Operation::Branch { target } => *target = resolve(*target)?,
                Operation::Call { target } => *target = self.frames[*target as usize].entry,
                _ => {}
            }
        }
        let mut tables = std::mem::take(&mut self.program.branch_tables);
        for label in tables.iter_mut().flatten() {
            let position = self.current.position;
            *label = match self.labels.get(*label as usize) {
                Some(Some(pc)) => *pc,
                _ => {
                    let message = "label without a place".into();
                    return Err(Error::Invalid { position, message });
                }
            };
        }
        self.program.branch_tables = tables;
        self.program.order_dependent |= reads_results_of_atomics(&self.program);
        self.program.local_bytes = (self.local_bytes as u32).next_multiple_of(16);
        let base = self.program.shared_static.next_multiple_of(self.program.shared_alignment);
        for (_, constant) in &mut self.program.constants {
            if let Constant::DynamicShared { offset } = constant {
                *constant = Constant::Value((base as i64).wrapping_add(*offset) as u64);
            }
        }
        layout::arrange(&mut self.program);
        Ok(self.program)
    }
}

/// Whether some instruction reads what an atomic on global memory returned.
fn reads_results_of_atomics(program: &Program) -> bool {
    let results = program.instructions.iter().flat_map(|i| match &i.operation {
        Operation::Atomic(atomic) if atomic.space != Space::Shared => {
            atomic.destination.iter().chain(&atomic.more_destinations).copied().collect()
        }
        _ => Vec::new(),
    });
    let results: HashSet<Row> = results.collect();
    program.details.iter().any(|detail| detail.reads.iter().any(|row| results.contains(row)))
}
