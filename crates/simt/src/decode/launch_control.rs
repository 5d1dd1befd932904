//! Cluster launch control: a block asks to do the work of a cluster that has not started (PTX ISA,
//! "clusterlaunchcontrol"; compute capability 10.0). Not confirmed by a GPU.

use super::access::take_space;
use super::decoder::Decoder;
use crate::compute::{Operands, lanes};
use crate::error::Error;
use crate::operation::{AsyncStore, Operation};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

impl<'a> Decoder<'_, '_, 'a> {
    pub fn launch_control(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        self.check_target(&instruction.text(), 100)?;
        if modifiers.take("try_cancel") {
            return self.try_cancel(&instruction.operands, modifiers);
        }
        if modifiers.take("query_cancel") {
            return self.query_cancel(&instruction.operands, modifiers);
        }
        Ok(false)
    }

    /// Answers that no cluster can be cancelled, as if all had started: each block does its own work then. The answer
    /// is a store of 16 bytes that completes as many on the mbarrier.
    fn try_cancel(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let is_known = modifiers.take("async") && modifiers.take("mbarrier::complete_tx::bytes");
        take_space(modifiers);
        if !is_known || modifiers.only_type() != Some(Type::B128) {
            return Ok(false);
        }
        let [target, mbarrier] = operands else {
            return self.invalid("try_cancel has the address of an answer and of an mbarrier");
        };
        let zero = self.source(&Operand::Integer(0), Type::B64)?;
        let store = AsyncStore {
            values: vec![zero; 2],
            target: self.address(target)?,
            bytes: 8,
            mbarrier: self.address(mbarrier)?,
            reduce: None,
        };
        self.emit(Operation::AsyncStore(Box::new(store)));
        Ok(true)
    }

    /// Reads an answer: whether a cluster was cancelled, or the index of its first block.
    fn query_cancel(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let axes = ["get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"];
        let asks = modifiers.take("is_canceled");
        let axis = axes.iter().position(|axis| modifiers.take(axis));
        let all = modifiers.take("get_first_ctaid") && modifiers.take("v4");
        modifiers.types.clear();
        let [target, answer] = operands else {
            return self.invalid("query_cancel has a destination and an answer");
        };
        let answer = self.source(answer, Type::B128)?.index();
        if asks {
            let d = self.destination(target, Type::Pred)?.index();
            let function = lanes!(|a: u64| -> bool { a & 1 == 1 });
            let operands = Operands { d, a: answer, ..Operands::default() };
            self.emit(Operation::Compute { function, operands });
            return Ok(true);
        }
        // An answer is the flag, and the three coordinates behind it.
        let coordinate = |axis: usize| match axis {
            0 => (answer, lanes!(|a: u64| -> u32 { (a >> 32) as u32 })),
            1 => (answer + 1, lanes!(|a: u64| -> u32 { a as u32 })),
            _ => (answer + 1, lanes!(|a: u64| -> u32 { (a >> 32) as u32 })),
        };
        let targets: Vec<(usize, &Operand<'a>)> = match (axis, target) {
            (Some(axis), target) => vec![(axis, target)],
            (None, Operand::Vector(parts)) if all && parts.len() == 4 => {
                // The fourth has no meaning.
                parts.iter().take(3).enumerate().collect()
            }
            _ => return Ok(false),
        };
        let mut moves = Vec::new();
        for (axis, target) in targets {
            if *target == Operand::Sink {
                continue;
            }
            let d = self.destination(target, Type::B32)?.index();
            let (a, function) = coordinate(axis);
            let operands = Operands { d, a, ..Operands::default() };
            moves.push(Operation::Compute { function, operands });
        }
        let Some(first) = moves.pop() else { return Ok(false) };
        self.after.splice(0..0, moves);
        self.emit(first);
        Ok(true)
    }
}
