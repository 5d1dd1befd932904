//! Decoding of loads, stores, atomics, fences and asynchronous copies.

use super::Decoder;
use super::modifiers::{Modifiers, Type};
use super::names::Symbol;
use crate::error::Error;
use crate::program::{
    Access, AsyncCopy, Atomic, AtomicOperation, Base, BulkCopy, BulkDirection, MbarrierOperation,
    Operation, Row, Space,
};
use crate::syntax::tree::{Instruction, Operand};

/// Cache and eviction hints, which change no result.
fn is_hint(modifier: &str) -> bool {
    matches!(modifier, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "unified")
        || modifier.starts_with("L1::")
        || modifier.starts_with("L2::")
        || modifier.starts_with("level::")
}

fn is_scope(modifier: &str) -> bool {
    matches!(modifier, "cta" | "cluster" | "gpu" | "sys")
}

/// Elements of a vector access.
fn take_elements(modifiers: &mut Modifiers<'_>) -> usize {
    match modifiers.take_any(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
        None => 1,
    }
}

/// The read-modify-write that an atomic or a reducing copy names.
fn take_operation(modifiers: &mut Modifiers<'_>) -> Option<AtomicOperation> {
    use AtomicOperation as Op;
    let names = ["add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"];
    Some(match modifiers.take_any(&names)? {
        "add" => Op::Add,
        "inc" => Op::Increment,
        "dec" => Op::Decrement,
        "min" => Op::Minimum,
        "max" => Op::Maximum,
        "and" => Op::And,
        "or" => Op::Or,
        "xor" => Op::Xor,
        "exch" => Op::Exchange,
        _ => Op::CompareSwap,
    })
}

/// Takes the state space; generic when none is named.
fn take_space(modifiers: &mut Modifiers<'_>) -> Space {
    match modifiers.take_any(&[
        "global",
        "shared::cta",
        "shared::cluster",
        "shared",
        "local",
        "const",
        "param::entry",
        "param::func",
        "param",
    ]) {
        Some("global") => Space::Global,
        Some("local") => Space::Local,
        Some("const") => Space::Constant,
        Some("param" | "param::entry" | "param::func") => Space::Parameter,
        Some(_) => Space::Shared,
        None => Space::Generic,
    }
}

impl<'a> Decoder<'_, '_, 'a> {
    /// Decodes memory instructions; false when the instruction is something else.
    pub fn memory(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let operands = &instruction.operands[..];
        match instruction.opcode {
            "ld" | "ldu" => self.load(operands, modifiers),
            "st" => self.store(operands, modifiers),
            "atom" => self.atomic(operands, modifiers, false),
            "red" if modifiers.has("async") => Ok(false),
            "red" => self.atomic(operands, modifiers, true),
            "membar" | "fence" => {
                let proxy = modifiers.take("proxy");
                modifiers.take_where(|m| {
                    is_scope(m)
                        || matches!(
                            m,
                            "gl" | "sc"
                                | "acq_rel"
                                | "acquire"
                                | "release"
                                | "relaxed"
                                | "async"
                                | "alias"
                                | "async.global"
                                | "global"
                                | "shared::cta"
                                | "shared::cluster"
                                | "mbarrier_init"
                                | "sync_restrict::shared::cta"
                                | "sync_restrict::shared::cluster"
                        )
                });
                self.emit(Operation::Fence { proxy });
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
            "cp" => self.asynchronous(operands, modifiers),
            "mbarrier" => self.mbarrier(operands, modifiers),
            "createpolicy" => {
                modifiers.take_where(|m| is_hint(m) || matches!(m, "fractional" | "range" | "cvt"));
                take_space(modifiers);
                modifiers.types.clear();
                let Some(policy) = operands.first() else {
                    return Ok(false);
                };
                let row = self.destination(policy, Type::B64)?;
                let function = crate::compute::lanes!(|_a: u64| -> u64 { 0 });
                let operands = crate::compute::Operands { d: row.index(), ..Default::default() };
                self.emit(Operation::Compute { function, operands });
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Parameters of the kernel and of device functions share `.param`; the name tells them apart.
    fn resolve_space(&mut self, space: Space, address: &Operand<'a>) -> Space {
        if space != Space::Parameter {
            return space;
        }
        let Operand::Address { base: Some(name), .. } = address else {
            return space;
        };
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
        let Some(t) = modifiers.only_type() else {
            return Ok(None);
        };
        if matches!(t, Type::Pred) {
            return Ok(None);
        }
        let strong = modifiers.take_any(&["volatile", "relaxed", "acquire", "release", "mmio"]);
        modifiers.take("weak");
        let elements = take_elements(modifiers);
        let space = take_space(modifiers);
        let space = self.resolve_space(space, address);
        let read_only = modifiers.take("nc");
        modifiers.take_where(|m| is_hint(m) || is_scope(m));
        if t.bytes() as usize * elements > 32 {
            return Ok(None);
        }
        let (base, offset) = self.address(address)?;
        self.program.polls |= strong.is_some();
        let access = Access {
            space,
            base,
            offset,
            bytes: t.bytes().min(8),
            signed: t.is_signed(),
            rows: Vec::new(),
            strong: strong.is_some(),
            read_only,
        };
        Ok(Some((access, t, elements)))
    }

    /// The operands of a vector access, or the single one.
    fn elements<'o>(
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
            let Operand::Name { name, .. } = part else {
                return self.invalid("a load writes registers");
            };
            let Some((row, _)) = self.register(name) else {
                return self.invalid(format!("`{name}` is not a register"));
            };
            if matches!(row, Row::Predicate(_)) {
                return self.invalid("a load cannot write a predicate");
            }
            self.writes.push(row);
            access.rows.push(Some(row));
            if t == Type::B128 {
                access.rows.push(Some(Row::Long(row.index() + 1)));
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
                Operand::Name { name, component: None, offset: 0 } => match self.register(name) {
                    Some((row @ (Row::Word(_) | Row::Long(_)), _)) => {
                        self.reads.push(row);
                        row
                    }
                    _ => self.source(part, t)?,
                },
                part => self.source(part, t)?,
            };
            access.rows.push(Some(row));
            if t == Type::B128 {
                access.rows.push(Some(Row::Long(row.index() + 1)));
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
        let Some(t) = modifiers.only_type() else {
            return Ok(false);
        };
        let Some(operation) = take_operation(modifiers) else {
            return Ok(false);
        };
        let elements = take_elements(modifiers);
        let space = take_space(modifiers);
        modifiers.take("noftz");
        modifiers.take_where(|m| {
            is_scope(m) || is_hint(m) || matches!(m, "relaxed" | "acquire" | "release" | "acq_rel")
        });
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
        let Some(source) = sources.next() else {
            return Ok(false);
        };
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
            counts_by_one: is_one
                && is_reduction
                && operation == AtomicOperation::Add
                && t == Type::U32,
            more_sources: sources.collect(),
            more_destinations: destinations.collect(),
        })));
        Ok(true)
    }

    /// `cp.async` in all supported forms.
    fn asynchronous(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let reduce = modifiers.take("reduce");
        if !modifiers.take("async") || modifiers.has("tensor") {
            return Ok(false);
        }
        if modifiers.take("bulk") {
            return self.bulk(operands, modifiers, reduce);
        }
        if modifiers.take("commit_group") {
            self.emit(Operation::AsyncCommit);
            return Ok(true);
        }
        if modifiers.take("wait_all") {
            self.emit(Operation::AsyncCommit);
            self.helper(Operation::AsyncWait { pending: 0 });
            return Ok(true);
        }
        if modifiers.take("wait_group") {
            let [Operand::Integer(pending)] = operands else {
                return self.invalid("wait_group has a constant");
            };
            let pending = *pending as u32;
            self.emit(Operation::AsyncWait { pending });
            return Ok(true);
        }
        if modifiers.take("mbarrier") {
            modifiers.take("arrive");
            let no_increment = modifiers.take("noinc");
            take_space(modifiers);
            modifiers.types.clear();
            let [address] = operands else {
                return self.invalid("arrive has an address");
            };
            let target = self.address(address)?;
            let operation = Box::new(MbarrierOperation::AsyncArrive { no_increment });
            self.emit(Operation::Mbarrier { target, operation });
            return Ok(true);
        }
        let bypasses_l1 = modifiers.take("cg");
        modifiers.take("ca");
        take_space(modifiers);
        take_space(modifiers);
        modifiers.take_where(is_hint);
        let (target, source, bytes, rest) = match operands {
            [target, source, Operand::Integer(bytes), rest @ ..] => (target, source, bytes, rest),
            _ => return self.invalid("cp.async has two addresses and a constant size"),
        };
        let bytes = *bytes as u32;
        let allowed = if bypasses_l1 { bytes == 16 } else { matches!(bytes, 4 | 8 | 16) };
        if !allowed {
            return self.invalid(format!("cp.async of {bytes} bytes"));
        }
        let target = self.address(target)?;
        let source = self.address(source)?;
        let mut copy = AsyncCopy {
            target,
            source,
            bytes,
            source_bytes: None,
            ignore_source: None,
            bypasses_l1,
        };
        if let Some(operand) = rest.first() {
            let is_predicate = match operand {
                Operand::Not(_) => true,
                Operand::Name { name, .. } => {
                    matches!(self.register(name), Some((Row::Predicate(_), _)))
                }
                _ => false,
            };
            let t = if is_predicate { Type::Pred } else { Type::U32 };
            let row = self.source(operand, t)?.index();
            if is_predicate {
                copy.ignore_source = Some(row);
            } else {
                copy.source_bytes = Some(row);
            }
        }
        self.emit(Operation::AsyncCopy(Box::new(copy)));
        Ok(true)
    }

    fn bulk(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
        reduce: bool,
    ) -> Result<bool, Error> {
        if modifiers.take("commit_group") {
            self.emit(Operation::BulkCommit);
            return Ok(true);
        }
        if modifiers.take("wait_group") {
            modifiers.take("read");
            if !matches!(operands, [Operand::Integer(_)]) {
                return self.invalid("wait_group has a constant");
            }
            self.emit(Operation::BulkWait);
            return Ok(true);
        }
        if modifiers.take("prefetch") {
            modifiers.take_where(|m| is_hint(m) || matches!(m, "L2" | "global"));
            self.emit(Operation::Nothing);
            return Ok(true);
        }
        let to = take_space(modifiers);
        let from = take_space(modifiers);
        // `take_space` answers in the order of its list, not of the text; global comes first.
        let bulk_group = modifiers.take("bulk_group");
        let by_mbarrier = modifiers.take("mbarrier::complete_tx::bytes");
        if modifiers.has("multicast::cluster") {
            return Ok(false);
        }
        modifiers.take_where(is_hint);
        let direction = match (to, from, bulk_group) {
            (Space::Global, Space::Shared, true) => BulkDirection::SharedToGlobal,
            (Space::Global, Space::Shared, false) if by_mbarrier => BulkDirection::GlobalToShared,
            (Space::Shared, Space::Shared, _) => BulkDirection::SharedToShared,
            _ => return Ok(false),
        };
        let reduce = if reduce {
            let swaps = |operation: &AtomicOperation| {
                matches!(operation, AtomicOperation::Exchange | AtomicOperation::CompareSwap)
            };
            let Some(operation) = take_operation(modifiers).filter(|o| !swaps(o)) else {
                return Ok(false);
            };
            let Some(t) = modifiers.only_type() else {
                return Ok(false);
            };
            self.program.order_dependent |= t.is_float();
            Some((operation, t))
        } else {
            None
        };
        let (target, source, bytes, mbarrier) = match operands {
            [target, source, bytes] if !by_mbarrier => (target, source, bytes, None),
            [target, source, bytes, _policy] if !by_mbarrier => (target, source, bytes, None),
            [target, source, bytes, mbarrier, ..] => (target, source, bytes, Some(mbarrier)),
            _ => return self.invalid("cp.async.bulk has two addresses and a size"),
        };
        let target = self.address(target)?;
        let source = self.address(source)?;
        let bytes = self.source(bytes, Type::U32)?.index();
        let mbarrier = match mbarrier {
            Some(address) => Some(self.address(address)?),
            None => None,
        };
        let copy = BulkCopy { direction, target, source, bytes, mbarrier, reduce };
        self.emit(Operation::BulkCopy(Box::new(copy)));
        Ok(true)
    }

    fn mbarrier(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let names = [
            "init",
            "inval",
            "arrive",
            "arrive_drop",
            "expect_tx",
            "complete_tx",
            "test_wait",
            "try_wait",
            "pending_count",
        ];
        let Some(name) = modifiers.take_any(&names) else {
            return Ok(false);
        };
        let expect = name.starts_with("arrive") && modifiers.take("expect_tx");
        let parity = modifiers.take("parity");
        if modifiers.take("noComplete") {
            return Ok(false);
        }
        take_space(modifiers);
        modifiers.types.clear();
        modifiers.take_where(|m| {
            is_scope(m) || matches!(m, "release" | "acquire" | "relaxed" | "cta" | "cluster")
        });
        self.program.polls |= name.ends_with("wait");
        if name == "pending_count" {
            let [result, state] = operands else {
                return Ok(false);
            };
            let state = self.source(state, Type::B64)?.index();
            let result = self.destination(result, Type::U32)?.index();
            let operation = Box::new(MbarrierOperation::PendingCount { result, state });
            self.emit(Operation::Mbarrier { target: (Base::Absolute, 0), operation });
            return Ok(true);
        }
        let (address, operation) = match (name, operands) {
            ("init", [address, count]) => {
                let count = self.source(count, Type::U32)?.index();
                (address, MbarrierOperation::Initialise { count })
            }
            ("inval", [address]) => (address, MbarrierOperation::Invalidate),
            ("expect_tx", [address, bytes]) => {
                let bytes = self.source(bytes, Type::U32)?.index();
                (address, MbarrierOperation::ExpectTransaction { bytes })
            }
            ("complete_tx", [address, bytes]) => {
                let bytes = self.source(bytes, Type::U32)?.index();
                (address, MbarrierOperation::CompleteTransaction { bytes })
            }
            ("arrive" | "arrive_drop", _) => {
                let (state, address, count) = match operands {
                    [address @ Operand::Address { .. }] => (None, address, None),
                    [address @ Operand::Address { .. }, count] => (None, address, Some(count)),
                    [state, address] => (Some(state), address, None),
                    [state, address, count] => (Some(state), address, Some(count)),
                    _ => return self.invalid("mbarrier.arrive has an address"),
                };
                let count = match count {
                    Some(count) => Some(self.source(count, Type::U32)?.index()),
                    None => None,
                };
                let state = match state {
                    Some(Operand::Sink) | None => None,
                    Some(state) => Some(self.destination(state, Type::B64)?.index()),
                };
                let drop = name == "arrive_drop";
                let (count, expect) = if expect { (None, count) } else { (count, None) };
                (address, MbarrierOperation::Arrive { state, count, drop, expect })
            }
            (_, [result, address, state] | [result, address, state, _]) => {
                let (state, parity) = if parity {
                    (None, Some(self.source(state, Type::U32)?.index()))
                } else {
                    (Some(self.source(state, Type::B64)?.index()), None)
                };
                let result = self.destination(result, Type::Pred)?.index();
                (address, MbarrierOperation::Test { result, state, parity })
            }
            _ => return self.invalid("wrong operands of an mbarrier instruction"),
        };
        let target = self.address(address)?;
        self.emit(Operation::Mbarrier { target, operation: Box::new(operation) });
        Ok(true)
    }
}
