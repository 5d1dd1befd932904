//! The syntax tree to an executable program: names to rows, labels to positions, opcodes to
//! functions.
//!
//! A kernel and all functions it calls become one program. Every function has its own registers
//! and its own per-lane memory, so a call needs nothing but a return address; a recursive one puts
//! them aside (`recursion`).

mod access;
mod block_scaled;
mod call_graph;
pub(crate) mod context;
pub(crate) mod contraction;
mod control;
mod copies;
mod decoder;
mod extent;
mod launch_control;
mod layout;
mod memory;
mod mentions;
mod names;
mod operands;
mod plain;
mod recursion;
mod scope;
mod stack;
mod tensor;
mod tensor_copy;
mod tensor_map;
mod texture;
mod warp;
mod wgmma;
mod wmma;

use crate::error::Error;
use crate::operation::{Operation, Register, Space};
use crate::pressure::aggregated;
use crate::program::{Constant, Program, ProgramLocation};
use crate::registers::ALWAYS;
use crate::spin_loops::{abandoned, clock_waits, decisive, polling};
use crate::unroll::places;
use context::Context;
use decoder::{Decoder, Formal};
use mentions::{count_mentions, find_ones};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{self, Function, Site, Statement, Variable};
use scope::{Scope, Symbol};
use std::collections::{HashMap, HashSet};

/// Call sites that are told of an instruction: an input of n lines cannot have chains of n sites each.
const MAX_CALL_SITES: usize = 30;

/// Decodes one kernel with everything it reaches.
pub(crate) fn decode(context: &Context<'_, '_>, kernel: usize) -> Result<Program, Error> {
    let function = &context.tree.functions[kernel];
    let mut decoder = Decoder::new(context, function);
    decoder.entry(function)?;
    let mut next = 0;
    while next < decoder.frames.len() {
        decoder.device_function(next)?;
        next += 1;
    }
    decoder.finish()
}

impl<'c, 't, 'a> Decoder<'c, 't, 'a> {
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
        self.caller = Some(index);
        let mut extent = self.extent_begins();
        self.function_body(scope, body)?;
        extent.words.end = self.program.words;
        extent.longs.end = self.program.longs;
        extent.predicates.end = self.program.predicates;
        extent.local.end = self.local_bytes;
        self.extents.push(extent);
        Ok(())
    }

    fn function_body(
        &mut self,
        scope: Scope<'t, 'a>,
        body: &'t [Statement<'a>],
    ) -> Result<(), Error> {
        self.current.location = u32::MAX;
        self.scopes = vec![scope];
        let mut written = HashMap::new();
        find_ones(body, &mut written);
        self.ones = written.into_iter().filter(|(_, one)| *one).map(|(name, _)| name).collect();
        let mut mentions = HashMap::new();
        count_mentions(body, &mut mentions);
        self.unread = mentions.into_iter().filter(|(_, n)| *n == 1).map(|(name, _)| name).collect();
        if self.program.contraction.is_none() {
            self.program.contraction = contraction::find(body);
        }
        self.enter_stack(body);
        self.statements(body)?;
        // Falling off the end returns.
        self.current.guard = ALWAYS;
        self.current.negate = 0;
        self.current.text = self.text("ret");
        self.leave_stack();
        self.emit(Operation::Return);
        self.scopes.clear();
        Ok(())
    }

    fn statements(&mut self, statements: &'t [Statement<'a>]) -> Result<(), Error> {
        let mut scope = Scope::default();
        for statement in statements {
            let (name, position) = match statement {
                Statement::Label(name, position) => {
                    let before = scope.labels.insert(name, self.labels.len() as u32);
                    self.labels.push(None);
                    if before.is_none() && !scope.branch_targets.contains_key(name) {
                        continue;
                    }
                    (name, position)
                }
                Statement::BranchTargets { label, position, targets } => {
                    let before = scope.branch_targets.insert(label, targets);
                    if before.is_none() && !scope.labels.contains_key(label) {
                        continue;
                    }
                    (label, position)
                }
                _ => continue,
            };
            let message = format!("label `{name}` is defined twice between the same braces");
            return Err(Error::Invalid { position: *position, message });
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
            Statement::Label(name, _) => {
                if let Some(label) = self.label(name) {
                    self.labels[label as usize] = Some(self.program.instructions.len() as u32);
                }
            }
            Statement::Registers { element, vector, names, position } => {
                self.current.position = *position;
                let Some(t) = Type::parse(element) else {
                    return self.unsupported(format!(".reg .{element}"));
                };
                for (name, count) in names {
                    match *vector {
                        1 => self.declare_register(name, t, *count),
                        vector => self.declare_vector(name, t, vector as usize),
                    }
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

    /// nvcc names only the nearest call site of inlined code: the `.loc` of that site, which it writes before, has the
    /// next one, and so on. Sites beyond [`MAX_CALL_SITES`] are left out.
    fn locate(&mut self, location: &tree::Location<'a>) {
        let mut location = location.clone();
        if let [(tree::Site::Number(file), line)] = location.inlined_at[..]
            && let Some(further) = self.call_sites.get(&(file, line))
        {
            location.inlined_at.extend(further.iter().take(MAX_CALL_SITES));
        }
        self.call_sites.insert((location.file, location.line), location.inlined_at.clone());
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

    fn declare_variable(&mut self, variable: &'t Variable<'a>) -> Result<(), Error> {
        self.current.position = variable.position;
        let (bytes, alignment) = self.extent(variable)?;
        let symbol = match variable.space {
            "local" | "param" => {
                let own = match variable.space {
                    "local" => self.stack_array(bytes, alignment),
                    _ => None,
                };
                match own {
                    Some(row) => Symbol::Stack { row },
                    None => Symbol::Local { offset: self.allocate_local(bytes, alignment)? },
                }
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

    fn instruction(&mut self, instruction: &'t tree::Instruction<'a>) -> Result<(), Error> {
        self.current.position = instruction.position;
        self.current.text = self.text(&instruction.text());
        self.current.guard = ALWAYS;
        self.current.negate = 0;
        self.current.approximate = false;
        self.reads.clear();
        self.writes.clear();
        self.reads_own_place = false;
        if let Some((name, negated)) = instruction.guard {
            let Some(Register::Predicate(row)) = self.register(name).map(|(row, _)| row) else {
                return self.invalid(format!("guard `{name}` is not a predicate"));
            };
            self.current.guard = row;
            self.current.negate = if negated { u32::MAX } else { 0 };
            self.reads.push(Register::Predicate(row));
        }
        let mut modifiers = Modifiers::new(&instruction.modifiers);
        let known = self.control(instruction, &mut modifiers)?
            || self.memory(instruction, &mut modifiers)?
            || self.warp_level(instruction, &mut modifiers)?
            || self.texture(instruction, &mut modifiers)?
            || self.plain(instruction, &mut modifiers)?;
        if !known || modifiers.unknown().is_some() {
            return self.unsupported(instruction.text());
        }
        self.check_length()
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
        self.program.saved_frames = self.saved_frames();
        self.program.order_dependent |= reads_results_of_atomics(&self.program);
        self.program.local_bytes = (self.local_bytes as u32).next_multiple_of(16);
        let base = self.program.shared_static.next_multiple_of(self.program.shared_alignment);
        for (_, constant) in &mut self.program.constants {
            if let Constant::DynamicShared { offset } = constant {
                *constant = Constant::Value((base as i64).wrapping_add(*offset) as u64);
            }
        }
        layout::arrange(&mut self.program);
        self.program.decisive = decisive(&self.program);
        self.program.polling = polling(&self.program, &self.program.decisive);
        self.program.abandoned = abandoned(&self.program, &self.program.decisive);
        self.program.clock_waits = clock_waits(&self.program);
        self.program.aggregated = aggregated(&self.program);
        self.program.places = places(&self.program);
        Ok(self.program)
    }
}

/// Returns whether some instruction reads what an atomic on global memory returned.
fn reads_results_of_atomics(program: &Program) -> bool {
    let results = program.instructions.iter().flat_map(|i| match &i.operation {
        Operation::Atomic(atomic) if atomic.space != Space::Shared => {
            atomic.destination.iter().chain(&atomic.more_destinations).copied().collect()
        }
        _ => Vec::new(),
    });
    let results: HashSet<Register> = results.collect();
    program.details.iter().any(|detail| detail.reads.iter().any(|row| results.contains(row)))
}
