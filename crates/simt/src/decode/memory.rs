use super::access::{
    is_hint, is_scope, take_elements, take_operation, take_scope, take_semantics, take_space,
};
use super::decoder::Decoder;
use super::scope::Symbol;
use crate::error::Error;
use crate::operation::{
    Access, Atomic, AtomicOperation, Operation, Register, Scope, Semantics, Space,
};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

impl<'a> Decoder<'_, '_, 'a> {
    /// Decodes memory instructions; false when the instruction is something else.
    pub fn memory(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let operands = &instruction.operands[..];
        match instruction.opcode {
            "ld" | "ldu" => {
                self.check_width(instruction, modifiers)?;
                self.load(operands, modifiers)
            }
            "st" if modifiers.has("async") => {
                self.check_target(&instruction.text(), 90)?;
                self.asynchronous_store(operands, modifiers, false)
            }
            "st" => {
                self.check_width(instruction, modifiers)?;
                self.store(operands, modifiers)
            }
            "red" if modifiers.has("async") => {
                self.check_target(&instruction.text(), 90)?;
                self.asynchronous_store(operands, modifiers, true)
            }
            "atom" | "red" if ["v2", "v4", "v8"].iter().any(|it| modifiers.has(it)) => {
                self.check_target(&instruction.text(), 90)?;
                self.atomic(operands, modifiers, instruction.opcode == "red")
            }
            "atom" => self.atomic(operands, modifiers, false),
            "red" => self.atomic(operands, modifiers, true),
            "membar" | "fence" => {
                let mut proxy = modifiers.take("proxy");
                if modifiers.take("tensormap::generic") {
                    // It orders what is done to a map in memory as a fence without a proxy does.
                    self.check_map_fence(operands)?;
                    proxy = false;
                }
                let (acquire, release) = (modifiers.has("acquire"), modifiers.has("release"));
                // `membar` is `fence.sc`, and a fence without an order is `.acq_rel`.
                let sequential = modifiers.take("sc") || instruction.opcode == "membar";
                let system = modifiers.has("sys");
                let semantics = Semantics {
                    strong: Some(take_scope(modifiers, Scope::Device)),
                    acquire: acquire || !release,
                    release: release || !acquire,
                    sequential,
                    volatile: false,
                    system,
                };
                modifiers.take_where(|m| {
                    is_scope(m)
                        || matches!(
                            m,
                            "acq_rel"
                                | "acquire"
                                | "release"
                                | "relaxed"
                                | "async"
                                | "alias"
                                | "async.global"
                                | "async::generic"
                                | "global"
                                | "shared::cta"
                                | "shared::cluster"
                                | "mbarrier_init"
                                | "sync_restrict::shared::cta"
                                | "sync_restrict::shared::cluster"
                        )
                });
                self.emit(Operation::Fence { proxy, semantics });
                Ok(true)
            }
            "prefetch" | "prefetchu" | "applypriority" | "discard" => {
                take_space(modifiers);
                modifiers.take_where(|m| is_hint(m) || matches!(m, "L1" | "L2" | "tensormap"));
                if let Some(address) = operands.first() {
                    self.address(address)?;
                }
                self.emit(Operation::Nothing);
                Ok(true)
            }
            "cp" => {
                if modifiers.has("bulk") {
                    self.check_target(&instruction.text(), 90)?;
                }
                self.asynchronous(operands, modifiers)
            }
            "tensormap" => self.tensor_map(instruction, modifiers),
            "mbarrier" => self.mbarrier(operands, modifiers),
            "clusterlaunchcontrol" => self.launch_control(instruction, modifiers),
            "createpolicy" => {
                modifiers.take_where(|m| is_hint(m) || matches!(m, "fractional" | "range" | "cvt"));
                take_space(modifiers);
                modifiers.types.clear();
                let Some(policy) = operands.first() else { return Ok(false) };
                let row = self.destination(policy, Type::B64)?;
                let function = crate::compute::lanes!(|_a: u64| -> u64 { 0 });
                let operands = crate::compute::Operands { d: row.index(), ..Default::default() };
                self.emit(Operation::Compute { function, operands });
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// An error for an access of 32 bytes where the target has none (PTX ISA, "ld"; "st").
    fn check_width(
        &self,
        instruction: &Instruction<'a>,
        modifiers: &Modifiers<'a>,
    ) -> Result<(), Error> {
        let is_wide = modifiers.has("v8")
            || modifiers.has("v4") && modifiers.types.iter().any(|t| t.bytes() == 8);
        if is_wide { self.check_target(&instruction.text(), 100) } else { Ok(()) }
    }

    /// Parameters of the kernel and of device functions share `.param`; the name tells them apart.
    fn resolve_space(&mut self, space: Space, address: &Operand<'a>) -> Space {
        if space != Space::Parameter {
            return space;
        }
        let Operand::Address { base: Some(name), .. } = address else { return space };
        match self.lookup(name) {
            Some(Symbol::Local { .. }) => Space::Local,
            Some(Symbol::Register { .. }) if !self.in_entry => Space::Local,
            _ => Space::Parameter,
        }
    }

    fn access(
        &mut self,
        address: &Operand<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<Option<(Access, Type, usize)>, Error> {
        let Some(t) = modifiers.only_type() else { return Ok(None) };
        if matches!(t, Type::Pred) {
            return Ok(None);
        }
        let semantics = take_semantics(modifiers, false);
        let strong = semantics.strong.is_some();
        modifiers.take("weak");
        let elements = take_elements(modifiers);
        let named = take_space(modifiers);
        let space = self.resolve_space(named, address);
        let of_call = named == Space::Parameter && space == Space::Local;
        let read_only = modifiers.take("nc");
        let says_past_l1 = modifiers.take_any(&["cg", "cv", "L1::no_allocate"]).is_some();
        modifiers.take_where(|m| is_hint(m) || is_scope(m));
        if t.bytes() as usize * elements > 32 {
            return Ok(None);
        }
        let (base, offset) = self.address(address)?;
        self.program.polls |= strong;
        let access = Access {
            space,
            base,
            offset,
            bytes: t.bytes().min(8),
            signed: t.is_signed(),
            rows: Vec::new(),
            strong,
            past_l1: strong || says_past_l1,
            semantics,
            read_only,
            of_call,
        };
        Ok(Some((access, t, elements)))
    }

    /// The operands of a vector access, or the single one.
    pub fn elements<'o>(
        &self,
        operand: &'o Operand<'a>,
        count: usize,
    ) -> Result<Vec<&'o Operand<'a>>, Error> {
        match operand {
            Operand::Vector(parts) if parts.len() == count => Ok(parts.iter().collect()),
            single if count == 1 => Ok(vec![single]),
            _ => self.invalid(format!("expected a vector of {count} registers")),
        }
    }

    fn load(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let (target, address) = match operands {
            [target, address] | [target, address, _] => (target, address),
            _ => return self.invalid("a load has a destination and an address"),
        };
        let Some((mut access, t, count)) = self.access(address, modifiers)? else {
            return Ok(false);
        };
        for part in self.elements(target, count)? {
            if *part == Operand::Sink {
                access.rows.push(None);
                if t == Type::B128 {
                    access.rows.push(None);
                }
                continue;
            }
            let Operand::Name { name, component, .. } = part else {
                return self.invalid("a load writes registers");
            };
            let Some((row, _)) = self.component(name, *component) else {
                return self.invalid(format!("`{name}` is not a register"));
            };
            if matches!(row, Register::Predicate(_)) {
                return self.invalid("a load cannot write a predicate");
            }
            self.writes.push(row);
            // Compilers widen a load past the end of an array, where they know the alignment, and do not read the rest.
            if count > 1 && component.is_none() && t != Type::B128 && self.unread.contains(name) {
                access.rows.push(None);
                continue;
            }
            access.rows.push(Some(row));
            if t == Type::B128 {
                access.rows.push(Some(Register::Long(row.index() + 1)));
            }
        }
        self.emit(Operation::Load(Box::new(access)));
        Ok(true)
    }

    fn store(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        if modifiers.has("async") || modifiers.has("bulk") {
            return Ok(false);
        }
        let (address, value) = match operands {
            [address, value] | [address, value, _] => (address, value),
            _ => return self.invalid("a store has an address and a value"),
        };
        let Some((mut access, t, count)) = self.access(address, modifiers)? else {
            return Ok(false);
        };
        for part in self.elements(value, count)? {
            // A store takes the low bytes of a wider register.
            let row = match part {
                Operand::Name { name, component, offset: 0 } => {
                    match self.component(name, *component) {
                        Some((row @ (Register::Word(_) | Register::Long(_)), _)) => {
                            self.reads.push(row);
                            row
                        }
                        _ => self.source(part, t)?,
                    }
                }
                part => self.source(part, t)?,
            };
            access.rows.push(Some(row));
            if t == Type::B128 {
                access.rows.push(Some(Register::Long(row.index() + 1)));
            }
        }
        self.emit(Operation::Store(Box::new(access)));
        Ok(true)
    }

    fn atomic(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
        is_reduction: bool,
    ) -> Result<bool, Error> {
        let Some(t) = modifiers.only_type() else { return Ok(false) };
        let Some(operation) = take_operation(modifiers) else { return Ok(false) };
        let elements = take_elements(modifiers);
        let space = take_space(modifiers);
        modifiers.take("noftz");
        let semantics = take_semantics(modifiers, true);
        modifiers.take_where(|m| is_scope(m) || is_hint(m));
        let observes = !is_reduction;
        if t == Type::B128 || t.bytes() == 1 {
            return Ok(false);
        }
        let mut operands = operands;
        let destination = if is_reduction {
            None
        } else {
            let Some((first, tail)) = operands.split_first() else {
                return self.invalid("atom has a destination");
            };
            operands = tail;
            // An atomic whose result nobody reads becomes a reduction in machine code.
            match first {
                Operand::Sink => None,
                Operand::Name { name, component: None, .. } if self.unread.contains(name) => None,
                first => Some(first),
            }
        };
        let swaps = operation == AtomicOperation::CompareSwap;
        let (address, value, second) = match operands {
            [address, value, second, ..] if swaps => (address, value, Some(second)),
            [address, value] | [address, value, _] if !swaps => (address, value, None),
            _ => return self.invalid("wrong number of operands of an atomic"),
        };
        let (base, offset) = self.address(address)?;
        let mut sources = Vec::new();
        for part in self.elements(value, elements)? {
            sources.push(self.source(part, t)?);
        }
        let second = match second {
            Some(second) => Some(self.source(second, t)?),
            None => None,
        };
        let mut destinations = Vec::new();
        if let Some(destination) = destination {
            for part in self.elements(destination, elements)? {
                destinations.push(self.destination(part, t)?);
            }
        }
        let is_float = t.is_float() && operation == AtomicOperation::Add;
        // Whether somebody reads the result is known when all is decoded.
        let order_matters = is_float
            || matches!(operation, AtomicOperation::Exchange | AtomicOperation::CompareSwap);
        self.program.order_dependent |= order_matters && space != Space::Shared;
        self.program.polls |= swaps || operation == AtomicOperation::Exchange;
        let mut sources = sources.into_iter();
        let Some(source) = sources.next() else { return Ok(false) };
        let mut destinations = destinations.into_iter();
        let is_reduction = destination.is_none();
        let is_one = match value {
            Operand::Integer(value) => *value == 1,
            Operand::Name { name, component: None, offset: 0 } => self.ones.contains(name),
            _ => false,
        };
        self.emit(Operation::Atomic(Box::new(Atomic {
            space,
            base,
            offset,
            operation,
            t,
            destination: destinations.next(),
            source,
            second,
            is_reduction,
            semantics,
            observes,
            counts_by_one: is_one
                && is_reduction
                && operation == AtomicOperation::Add
                && t == Type::U32,
            more_sources: sources.collect(),
            more_destinations: destinations.collect(),
        })));
        Ok(true)
    }
}
