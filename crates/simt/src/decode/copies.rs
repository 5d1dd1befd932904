//! Decoding of asynchronous copies and the mbarrier objects that say when they have landed.

use super::access::{is_hint, take_elements, take_operation, take_scope, take_space};
use super::decoder::Decoder;
use crate::error::Error;
use crate::operation::{
    AsyncCopy, AsyncStore, AtomicOperation, Base, BulkCopy, BulkDirection, MbarrierOperation,
    Operation, Register, Scope, Semantics, Space,
};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::Operand;

impl<'a> Decoder<'_, '_, 'a> {
    /// `cp.async` in all supported forms.
    pub fn asynchronous(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let reduce = modifiers.take("reduce");
        if !modifiers.take("async") {
            return Ok(false);
        }
        if modifiers.has("tensor") {
            let is_copy = modifiers.take("bulk") && modifiers.take("tensor") && !reduce;
            return Ok(is_copy && self.tensor_copy(operands, modifiers)?);
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
            let [address] = operands else { return self.invalid("arrive has an address") };
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
                    matches!(self.register(name), Some((Register::Predicate(_), _)))
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

    pub fn bulk(
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
            let reads = modifiers.take("read");
            let [Operand::Integer(pending)] = operands else {
                return self.invalid("wait_group has a constant");
            };
            let pending = *pending as u32;
            self.emit(Operation::BulkWait { pending, reads });
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
        let is_multicast = modifiers.take("multicast::cluster");
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
            let Some(t) = modifiers.only_type() else { return Ok(false) };
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
        let multicast = self.multicast(is_multicast, operands.get(4))?;
        let copy = BulkCopy { direction, target, source, bytes, mbarrier, reduce, multicast };
        self.emit(Operation::BulkCopy(Box::new(copy)));
        Ok(true)
    }

    /// Decodes the mask of a copy to several blocks of the cluster.
    pub fn multicast(
        &mut self,
        is_multicast: bool,
        mask: Option<&Operand<'a>>,
    ) -> Result<Option<u32>, Error> {
        match (is_multicast, mask) {
            (false, _) => Ok(None),
            (true, Some(mask)) => Ok(Some(self.source(mask, Type::U16)?.index())),
            (true, None) => self.invalid("a copy with .multicast::cluster has a mask of blocks"),
        }
    }

    /// `st.async` and `red.async`, behind which comes the mbarrier that counts their bytes.
    pub fn asynchronous_store(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
        reduces: bool,
    ) -> Result<bool, Error> {
        modifiers.take("async");
        modifiers.take_where(|m| matches!(m, "weak" | "relaxed" | "cluster"));
        let is_there =
            modifiers.take("shared::cluster") && modifiers.take("mbarrier::complete_tx::bytes");
        let operation = if reduces { take_operation(modifiers) } else { None };
        let elements = take_elements(modifiers);
        let (Some(t), [target, value, mbarrier]) = (modifiers.only_type(), operands) else {
            return Ok(false);
        };
        let swaps =
            matches!(operation, Some(AtomicOperation::Exchange | AtomicOperation::CompareSwap));
        if !is_there || reduces != operation.is_some() || swaps || !matches!(t.bytes(), 4 | 8) {
            return Ok(false);
        }
        let parts: Vec<&Operand<'a>> = match value {
            Operand::Vector(parts) => parts.iter().collect(),
            single => vec![single],
        };
        if parts.len() != elements {
            return self.invalid(format!("expected {elements} values"));
        }
        let values = parts.into_iter().map(|part| self.source(part, t));
        let store = AsyncStore {
            values: values.collect::<Result<_, Error>>()?,
            target: self.address(target)?,
            bytes: t.bytes(),
            mbarrier: self.address(mbarrier)?,
            reduce: operation.map(|operation| (operation, t)),
        };
        self.program.order_dependent |= reduces && t.is_float();
        self.emit(Operation::AsyncStore(Box::new(store)));
        Ok(true)
    }

    pub fn mbarrier(
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
        let Some(name) = modifiers.take_any(&names) else { return Ok(false) };
        let expect = name.starts_with("arrive") && modifiers.take("expect_tx");
        let parity = modifiers.take("parity");
        if modifiers.take("noComplete") {
            return Ok(false);
        }
        take_space(modifiers);
        modifiers.types.clear();
        // Arrivals release and waits acquire unless they say `.relaxed`.
        let relaxed = modifiers.take("relaxed");
        modifiers.take_where(|m| matches!(m, "release" | "acquire"));
        let semantics = Semantics {
            strong: Some(take_scope(modifiers, Scope::Block)),
            acquire: !relaxed,
            release: !relaxed,
            ..Semantics::default()
        };
        self.program.polls |= name.ends_with("wait");
        if name == "pending_count" {
            let [result, state] = operands else { return Ok(false) };
            let state = self.source(state, Type::B64)?.index();
            let result = self.destination(result, Type::U32)?.index();
            let operation = Box::new(MbarrierOperation::PendingCount { result, state });
            self.emit(Operation::Mbarrier { target: (Base::Absolute, 0), operation });
            return Ok(true);
        }
        let (address, operation) = match (name, operands) {
            ("init", [address, count]) => {
                let count = self.source(count, Type::U32)?.index();
                (address, MbarrierOperation::Initialize { count })
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
                (address, MbarrierOperation::Arrive { state, count, drop, expect, semantics })
            }
            (_, [result, address, state] | [result, address, state, _]) => {
                let (state, parity) = if parity {
                    (None, Some(self.source(state, Type::U32)?.index()))
                } else {
                    (Some(self.source(state, Type::B64)?.index()), None)
                };
                let result = self.destination(result, Type::Pred)?.index();
                let sleeps = name == "try_wait";
                (address, MbarrierOperation::Test { sleeps, result, state, parity, semantics })
            }
            _ => return self.invalid("wrong operands of an mbarrier instruction"),
        };
        let target = self.address(address)?;
        self.emit(Operation::Mbarrier { target, operation: Box::new(operation) });
        Ok(true)
    }
}
