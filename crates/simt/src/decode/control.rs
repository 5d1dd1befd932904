//! Decoding of control flow: branches, calls, returns, barriers of a block.

use super::decoder::{Decoder, Formal};
use super::scope::Symbol;
use crate::compute::{Operands, lanes};
use crate::error::Error;
use crate::operation::{BarrierKind, Builtin, Operation, ReduceMode, Register};
use crate::program::Constant;
use crate::registers::ALWAYS;
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

impl<'a> Decoder<'_, '_, 'a> {
    /// Decodes control flow; false when the instruction is something else.
    pub fn control(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let operands = &instruction.operands[..];
        let operation = match instruction.opcode {
            "bra" => {
                modifiers.take("uni");
                let [Operand::Name { name, .. }] = operands else {
                    return self.invalid("bra has one label");
                };
                let Some(label) = self.label(name) else {
                    return self.invalid(format!("label `{name}` is not declared"));
                };
                Operation::Branch { target: label }
            }
            "brx" => return self.branch_table(operands, modifiers),
            "call" => return self.call(operands, modifiers),
            "ret" => {
                modifiers.take("uni");
                self.leave_stack();
                Operation::Return
            }
            "alloca" | "stacksave" | "stackrestore" => {
                return self.stack_instruction(instruction, modifiers);
            }
            "exit" => Operation::Exit,
            "trap" | "brkpt" => Operation::Trap,
            "bar" | "barrier" => return self.barrier(operands, modifiers),
            "nanosleep" => {
                modifiers.types.clear();
                let [nanoseconds] = operands else {
                    return self.invalid("nanosleep has a number of nanoseconds");
                };
                Operation::Sleep { nanoseconds: self.source(nanoseconds, Type::U32)? }
            }
            "pmevent" | "setmaxnreg" | "griddepcontrol" => {
                if instruction.opcode == "griddepcontrol" {
                    self.check_target(&instruction.text(), 90)?;
                }
                modifiers.types.clear();
                modifiers.take_where(|m| {
                    matches!(
                        m,
                        "mask" | "inc" | "dec" | "sync" | "aligned" | "launch_dependents" | "wait"
                    )
                });
                Operation::Nothing
            }
            _ => return Ok(false),
        };
        self.emit(operation);
        Ok(true)
    }

    fn branch_table(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        modifiers.take("idx");
        modifiers.take("uni");
        let [index, Operand::Name { name, .. }] = operands else {
            return self.invalid("brx.idx has an index and a table");
        };
        let index = self.source(index, Type::U32)?.index();
        let targets = self.scopes.iter().rev().find_map(|s| s.branch_targets.get(name)).copied();
        let Some(targets) = targets else {
            return self.invalid(format!("table `{name}` is not declared"));
        };
        self.table_entries += targets.len();
        self.check_length()?;
        let mut labels = Vec::with_capacity(targets.len());
        for target in targets {
            let Some(label) = self.label(target) else {
                return self.invalid(format!("label `{target}` is not declared"));
            };
            labels.push(label);
        }
        let table = self.program.branch_tables.len() as u32;
        self.program.branch_tables.push(labels);
        self.emit(Operation::BranchTable { table, index });
        Ok(true)
    }

    /// `call[.uni] [(results),] function [, (arguments)] [, prototype]`.
    fn call(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        modifiers.take("uni");
        let mut rest = operands;
        let mut results: &[Operand<'a>] = &[];
        if let Some((Operand::List(list), tail)) = rest.split_first() {
            results = list;
            rest = tail;
        }
        let Some((Operand::Name { name, .. }, tail)) = rest.split_first() else {
            return self.invalid("call without a function");
        };
        let arguments: &[Operand<'a>] = match tail.first() {
            Some(Operand::List(list)) => list,
            _ => &[],
        };
        if let Some((row, _)) = self.register(name) {
            return self.call_indirect(row, results, arguments);
        }
        let Some(index) = self.context.functions.get(name).copied() else {
            return self.invalid(format!("function `{name}` is not declared"));
        };
        if self.context.tree.functions[index].body.is_none() {
            return self.call_builtin(name, results, arguments);
        }
        self.call_known(index, results, arguments)?;
        Ok(true)
    }

    /// Copies arguments into the callee's formals, calls, copies results back.
    fn call_known(
        &mut self,
        index: usize,
        results: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<(), Error> {
        let frame = self.frame(index)?;
        let formals = self.frames[frame].parameters.clone();
        let outcomes = self.frames[frame].results.clone();
        if formals.len() != arguments.len() || outcomes.len() != results.len() {
            let name = self.context.tree.functions[index].name;
            return self.invalid(format!("wrong number of arguments or results for `{name}`"));
        }
        let restore = self.save_frame(index);
        for (argument, formal) in arguments.iter().zip(formals) {
            match (self.local_of(argument), formal) {
                (Some(from), Formal::Memory { offset, bytes }) => {
                    self.helper(Operation::CopyLocal { from, to: offset, bytes });
                }
                (None, Formal::Register { row, t }) => {
                    let from = self.source(argument, t)?;
                    self.copy_row(from, row, false)?;
                }
                _ => return self.invalid("argument and parameter are of different kinds"),
            }
        }
        for (result, formal) in results.iter().zip(outcomes) {
            match (self.local_of(result), formal) {
                (Some(to), Formal::Memory { offset, bytes }) => {
                    self.after.push(Operation::CopyLocal { from: offset, to, bytes });
                }
                (None, Formal::Register { row, t }) => {
                    let to = self.destination(result, t)?;
                    // The copy must come before conversions queued for the destination.
                    let tail = std::mem::take(&mut self.after);
                    self.copy_row(row, to, true)?;
                    self.after.extend(tail);
                }
                _ => return self.invalid("result and its variable are of different kinds"),
            }
        }
        let results = std::mem::take(&mut self.after);
        self.emit(Operation::Call { target: frame as u32 });
        restore.into_iter().for_each(|restore| self.helper_of_all(restore));
        results.into_iter().for_each(|result| self.helper(result));
        Ok(())
    }

    fn local_of(&mut self, operand: &Operand<'a>) -> Option<u32> {
        let Operand::Name { name, .. } = operand else { return None };
        match self.lookup(name)? {
            Symbol::Local { offset } => Some(offset),
            _ => None,
        }
    }

    pub fn copy_row(&mut self, from: Register, to: Register, later: bool) -> Result<(), Error> {
        let function = match (from, to) {
            (Register::Word(_), Register::Word(_)) => lanes!(|a: u32| -> u32 { a }),
            (Register::Long(_), Register::Long(_)) => lanes!(|a: u64| -> u64 { a }),
            (Register::Predicate(_), Register::Predicate(_)) => lanes!(|a: bool| -> bool { a }),
            _ => return self.invalid("registers of different widths in a call"),
        };
        let operands = Operands { d: to.index(), a: from.index(), ..Operands::default() };
        if later {
            self.after.push(Operation::Compute { function, operands });
        } else {
            self.helper_compute(function, operands, from, to);
        }
        Ok(())
    }

    /// An indirect call tries every function whose address is taken and whose parameters fit. Where there is none, it traps
    /// when it is reached: programs have calls that are never made.
    fn call_indirect(
        &mut self,
        address: Register,
        results: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<bool, Error> {
        let Register::Long(address) = address else {
            return self.invalid("a function address has 64 bits");
        };
        let guard = (self.current.guard, self.current.negate);
        let candidates = self.context.address_taken.clone();
        // The lanes whose address is that of none of the functions so far.
        let lost = self.new_row(Type::Pred);
        let set = Operands { d: lost.index(), ..Operands::default() };
        let always = Register::Predicate(ALWAYS);
        (self.current.guard, self.current.negate) = (ALWAYS, 0);
        self.helper_compute(lanes!(|_a: bool| -> bool { false }), set, always, lost);
        (self.current.guard, self.current.negate) = guard;
        self.helper_compute(lanes!(|_a: bool| -> bool { true }), set, always, lost);
        for index in candidates {
            let function = &self.context.tree.functions[index];
            let fits = function.body.is_some()
                && !function.is_entry
                && function.parameters.len() == arguments.len()
                && function.results.len() == results.len();
            if !fits {
                continue;
            }
            let value = self.context.function_address(index);
            let constant = self.constant(true, Constant::Value(value)).index();
            let chosen = self.new_row(Type::Pred).index();
            let clear = Operands { d: chosen, ..Operands::default() };
            (self.current.guard, self.current.negate) = (ALWAYS, 0);
            let function = lanes!(|_a: bool| -> bool { false });
            self.helper_compute(function, clear, always, Register::Predicate(chosen));
            let function = lanes!(|a: u64, b: u64| -> bool { a == b });
            let operands = Operands { d: chosen, a: address, b: constant, ..Operands::default() };
            (self.current.guard, self.current.negate) = guard;
            self.helper_compute(
                function,
                operands,
                Register::Long(address),
                Register::Predicate(chosen),
            );
            (self.current.guard, self.current.negate) = (chosen, 0);
            let leave = Operands { d: lost.index(), ..Operands::default() };
            let clear = lanes!(|_a: bool| -> bool { false });
            self.helper_compute(clear, leave, always, lost);
            self.call_known(index, results, arguments)?;
            self.check_length()?;
            (self.current.guard, self.current.negate) = (ALWAYS, 0);
        }
        (self.current.guard, self.current.negate) = (lost.index(), 0);
        self.helper(Operation::LostCall { address });
        (self.current.guard, self.current.negate) = (ALWAYS, 0);
        Ok(true)
    }

    fn call_builtin(
        &mut self,
        name: &str,
        results: &[Operand<'a>],
        arguments: &[Operand<'a>],
    ) -> Result<bool, Error> {
        let which = match name {
            "vprintf" => Builtin::Print,
            "__assertfail" => Builtin::AssertFail,
            "malloc" => {
                self.program.allocates = true;
                Builtin::Allocate
            }
            "free" => {
                self.program.allocates = true;
                Builtin::Free
            }
            "cudaGraphSetConditional" => {
                self.program.sets_conditions = true;
                Builtin::SetCondition
            }
            "__cudaCDP2GetParameterBufferV2" | "cudaGetParameterBufferV2" => {
                self.note_kernels()?;
                Builtin::ParameterBuffer
            }
            "__cudaCDP2LaunchDeviceV2" | "cudaLaunchDeviceV2" => Builtin::LaunchKernel,
            "__cudaCDP2StreamCreateWithFlags" => Builtin::CreateStream,
            "__cudaCDP2StreamDestroy" => Builtin::DestroyStream,
            "__cudaCDP2MemcpyAsync" => Builtin::EnqueueCopy,
            "__cudaCDP2MemsetAsync" => Builtin::EnqueueFill,
            "__cudaCDP2GetDevice" => Builtin::CurrentDevice,
            "__cudaCDP2GetDeviceCount" => Builtin::DeviceCount,
            "__cudaCDP2DeviceGetAttribute" => Builtin::DeviceAttribute,
            "__cudaCDP2GetErrorString" | "__cudaCDP2GetErrorName" => {
                self.program.wants_error_texts = true;
                Builtin::ErrorText
            }
            "__cudaCDP2GetLastError" => Builtin::LastError,
            "__cudaCDP2PeekAtLastError" => Builtin::PeekError,
            "__cudaCDP2Malloc" | "__cudaCDP2Free" => {
                self.program.allocates = true;
                if name.ends_with("Free") { Builtin::FreeAt } else { Builtin::AllocateAt }
            }
            _ => return self.unsupported(format!("call of the external function `{name}`")),
        };
        let mut parameters = Vec::new();
        for argument in arguments {
            let Some(offset) = self.local_of(argument) else {
                return self.invalid("arguments of this function are `.param` variables");
            };
            parameters.push(offset);
        }
        let needed = match which {
            Builtin::Print
            | Builtin::SetCondition
            | Builtin::LaunchKernel
            | Builtin::CreateStream
            | Builtin::AllocateAt => 2,
            Builtin::LastError | Builtin::PeekError => 0,
            Builtin::DeviceAttribute => 3,
            Builtin::ParameterBuffer | Builtin::EnqueueFill => 4,
            Builtin::AssertFail | Builtin::EnqueueCopy => 5,
            _ => 1,
        };
        if parameters.len() != needed {
            return self.invalid(format!("`{name}` has {needed} arguments"));
        }
        let result = match results.first() {
            Some(result) => self.local_of(result),
            None => None,
        };
        self.emit(Operation::Builtin { which, parameters, result });
        Ok(true)
    }

    /// Notes the kernels of the module, which this one may launch, with the bytes of their parameters.
    fn note_kernels(&mut self) -> Result<(), Error> {
        if !self.program.launchable.is_empty() {
            return Ok(());
        }
        let tree = self.context.tree;
        let kernels = tree.functions.iter().enumerate();
        for (index, kernel) in kernels.filter(|(_, one)| one.is_entry && one.body.is_some()) {
            let mut end = 0u64;
            for parameter in &kernel.parameters {
                let (bytes, alignment) = self.extent(parameter)?;
                end = end.next_multiple_of(alignment.max(1)).saturating_add(bytes);
            }
            let address = self.context.function_address(index);
            self.program.launchable.insert(address, (kernel.name.to_owned(), end as u32));
        }
        Ok(())
    }

    /// `bar` and `barrier` in all forms; `bar` means aligned.
    fn barrier(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        modifiers.take("cta");
        if modifiers.take("warp") {
            modifiers.take("sync");
            let [members] = operands else { return self.invalid("bar.warp.sync has a mask") };
            let members = self.source(members, Type::B32)?.index();
            self.emit(Operation::WarpBarrier { members });
            return Ok(true);
        }
        if modifiers.take("cluster") {
            let arrives = modifiers.take("arrive");
            if !arrives && !modifiers.take("wait") {
                return Ok(false);
            }
            let relaxed = modifiers.take("relaxed");
            modifiers.take_where(|m| matches!(m, "aligned" | "release" | "acquire"));
            self.emit(Operation::ClusterBarrier { arrives, relaxed });
            return Ok(true);
        }
        // `bar` is `barrier.aligned`; only an explicit `barrier` without it may diverge.
        let opcode_is_bar = self.program.texts[self.current.text as usize].starts_with("bar.");
        let aligned = modifiers.take("aligned") || opcode_is_bar;
        if modifiers.take("red") {
            return self.barrier_reduce(operands, modifiers, aligned);
        }
        let kind = if modifiers.take("arrive") {
            BarrierKind::Arrive
        } else if modifiers.take("sync") {
            BarrierKind::Synchronize
        } else {
            return Ok(false);
        };
        let (id, count) = match operands {
            [id] => (id, None),
            [id, count] => (id, Some(count)),
            _ => return self.invalid("a barrier has an identifier and perhaps a count"),
        };
        let id = self.source(id, Type::U32)?.index();
        let count = match count {
            Some(count) => Some(self.source(count, Type::U32)?.index()),
            None => None,
        };
        if kind == BarrierKind::Arrive && count.is_none() {
            return self.invalid("bar.arrive needs a thread count");
        }
        self.emit(Operation::Barrier { id, count, kind, aligned });
        Ok(true)
    }

    fn barrier_reduce(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
        aligned: bool,
    ) -> Result<bool, Error> {
        let mode = match modifiers.take_any(&["popc", "and", "or"]) {
            Some("popc") => ReduceMode::Count,
            Some("and") => ReduceMode::And,
            Some("or") => ReduceMode::Or,
            _ => return Ok(false),
        };
        let (d, id, count, predicate) = match operands {
            [d, id, predicate] => (d, id, None, predicate),
            [d, id, count, predicate] => (d, id, Some(count), predicate),
            _ => return self.invalid("bar.red has a result, an identifier and a predicate"),
        };
        let t = if mode == ReduceMode::Count { Type::U32 } else { Type::Pred };
        let id = self.source(id, Type::U32)?.index();
        let count = match count {
            Some(count) => Some(self.source(count, Type::U32)?.index()),
            None => None,
        };
        let predicate = self.source(predicate, Type::Pred)?.index();
        let result = self.destination(d, t)?;
        let kind = BarrierKind::Reduce { mode, predicate, negated: false, result };
        self.emit(Operation::Barrier { id, count, kind, aligned });
        Ok(true)
    }
}
