//! Decoding of instructions in which the lanes of a warp exchange values.

use super::decoder::Decoder;
use crate::compute::{Operands, lanes};
use crate::error::Error;
use crate::operation::{
    Access, Operation, ReduceMode, Register, Semantics, ShuffleMode, Space, VoteMode, WarpOperands,
};
use crate::program::{Constant, Special};
use crate::windows::{CLUSTER_SHIFT, WINDOW_BYTES};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

impl<'a> Decoder<'_, '_, 'a> {
    /// Decodes warp-level instructions; false when the instruction is something else.
    pub fn warp_level(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let operands = &instruction.operands[..];
        match instruction.opcode {
            "shfl" => self.shuffle(operands, modifiers),
            "vote" => self.vote(operands, modifiers),
            "match" => self.match_lanes(operands, modifiers),
            "redux" => self.reduce(operands, modifiers),
            "elect" => self.elect(operands, modifiers),
            "activemask" => {
                let [target] = operands else { return Ok(false) };
                let destination = self.destination(target, Type::B32)?.index();
                self.emit(Operation::ActiveMask { destination });
                Ok(true)
            }
            "ldmatrix" | "stmatrix" => self.matrix(instruction.opcode, operands, modifiers),
            "mma" => self.mma(instruction, modifiers),
            "wgmma" => self.wgmma(instruction, modifiers),
            "wmma" => self.wmma(instruction, modifiers),
            "setmaxnreg" => {
                // Registers beyond the limit are not modelled.
                modifiers.take_where(|m| matches!(m, "inc" | "dec" | "sync" | "aligned"));
                modifiers.types.clear();
                self.emit(Operation::Nothing);
                Ok(true)
            }
            "mapa" | "getctarank" => self.cluster_address(instruction.opcode, operands, modifiers),
            _ => Ok(false),
        }
    }

    /// The membermask; forms without `.sync` have none.
    fn members(&mut self, operand: Option<&Operand<'a>>) -> Result<u32, Error> {
        match operand {
            Some(operand) => Ok(self.source(operand, Type::B32)?.index()),
            None => Ok(self.constant(false, Constant::Value(0)).index()),
        }
    }

    fn shuffle(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let sync = modifiers.take("sync");
        let mode = match modifiers.take_any(&["up", "down", "bfly", "idx"]) {
            Some("up") => ShuffleMode::Up,
            Some("down") => ShuffleMode::Down,
            Some("bfly") => ShuffleMode::Butterfly,
            Some(_) => ShuffleMode::Index,
            None => return Ok(false),
        };
        if modifiers.only_type().is_none_or(|t| t.bytes() != 4) {
            return Ok(false);
        }
        let (target, a, b, c, members) = match operands {
            [target, a, b, c, members] if sync => (target, a, b, c, Some(members)),
            [target, a, b, c] if !sync => (target, a, b, c, None),
            _ => return self.invalid("shfl.sync has five operands"),
        };
        let a = self.source(a, Type::B32)?;
        let b = self.source(b, Type::B32)?.index();
        let c = self.source(c, Type::B32)?.index();
        let members = self.members(members)?;
        let (target, predicate) = match target {
            Operand::Pair(target, predicate) => (&**target, Some(&**predicate)),
            target => (target, None),
        };
        let destination = Some(self.destination(target, Type::B32)?);
        let predicate = match predicate {
            Some(predicate) => Some(self.destination(predicate, Type::Pred)?.index()),
            None => None,
        };
        let operands = Box::new(WarpOperands { destination, predicate, a, b, c, members });
        self.emit(Operation::Shuffle { mode, operands });
        Ok(true)
    }

    fn vote(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let sync = modifiers.take("sync");
        let mode = match modifiers.take_any(&["all", "any", "uni", "ballot"]) {
            Some("all") => VoteMode::All,
            Some("any") => VoteMode::Any,
            Some("uni") => VoteMode::Uniform,
            Some(_) => VoteMode::Ballot,
            None => return Ok(false),
        };
        let (target, value, members) = match operands {
            [target, value, members] if sync => (target, value, Some(members)),
            [target, value] if !sync => (target, value, None),
            _ => return self.invalid("vote.sync has three operands"),
        };
        let a = self.source(value, Type::Pred)?;
        let members = self.members(members)?;
        let t = if mode == VoteMode::Ballot { Type::B32 } else { Type::Pred };
        let destination = Some(self.destination(target, t)?);
        let operands =
            Box::new(WarpOperands { destination, predicate: None, a, b: 0, c: 0, members });
        self.emit(Operation::Vote { mode, operands });
        Ok(true)
    }

    fn match_lanes(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        modifiers.take("sync");
        let all = match modifiers.take_any(&["any", "all"]) {
            Some(name) => name == "all",
            None => return Ok(false),
        };
        let Some(t) = modifiers.only_type() else { return Ok(false) };
        let [target, value, members] = operands else {
            return self.invalid("match has three operands");
        };
        let a = self.source(value, t)?;
        let members = self.members(Some(members))?;
        let (target, predicate) = match target {
            Operand::Pair(target, predicate) => (&**target, Some(&**predicate)),
            target => (target, None),
        };
        let destination = match target {
            Operand::Sink => None,
            target => Some(self.destination(target, Type::B32)?),
        };
        let predicate = match predicate {
            Some(predicate) => Some(self.destination(predicate, Type::Pred)?.index()),
            None => None,
        };
        let operands = Box::new(WarpOperands { destination, predicate, a, b: 0, c: 0, members });
        self.emit(Operation::Match { all, operands });
        Ok(true)
    }

    fn reduce(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        modifiers.take("sync");
        let mode = match modifiers.take_any(&["add", "min", "max", "and", "or", "xor"]) {
            Some("add") => ReduceMode::Add,
            Some("min") => ReduceMode::Minimum,
            Some("max") => ReduceMode::Maximum,
            Some("and") => ReduceMode::And,
            Some("or") => ReduceMode::Or,
            Some(_) => ReduceMode::Xor,
            None => return Ok(false),
        };
        let Some(t) = modifiers.only_type().filter(|t| t.bytes() == 4 && !t.is_float()) else {
            return Ok(false);
        };
        let [target, value, members] = operands else {
            return self.invalid("redux has three operands");
        };
        let a = self.source(value, t)?;
        let members = self.members(Some(members))?;
        let destination = Some(self.destination(target, t)?);
        let operands =
            Box::new(WarpOperands { destination, predicate: None, a, b: 0, c: 0, members });
        self.emit(Operation::Reduce { mode, signed: t.is_signed(), operands });
        Ok(true)
    }

    fn elect(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        modifiers.take("sync");
        let [Operand::Pair(target, predicate), members] = operands else {
            return self.invalid("elect has a pair and a mask");
        };
        let members_row = self.members(Some(members))?;
        let destination = match &**target {
            Operand::Sink => None,
            target => Some(self.destination(target, Type::B32)?),
        };
        let predicate = Some(self.destination(predicate, Type::Pred)?.index());
        let a = Register::Word(members_row);
        let operands =
            Box::new(WarpOperands { destination, predicate, a, b: 0, c: 0, members: members_row });
        self.emit(Operation::Elect { operands });
        Ok(true)
    }

    /// `ldmatrix`/`stmatrix` of 8x8 matrices of 16-bit elements.
    fn matrix(
        &mut self,
        opcode: &str,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        modifiers
            .take_where(|m| matches!(m, "sync" | "aligned" | "m8n8" | "shared" | "shared::cta"));
        let transpose = modifiers.take("trans");
        let count = match modifiers.take_any(&["x1", "x2", "x4"]) {
            Some("x2") => 2,
            Some("x4") => 4,
            Some(_) => 1,
            None => return Ok(false),
        };
        if modifiers.only_type() != Some(Type::B16) {
            return Ok(false);
        }
        let load = opcode == "ldmatrix";
        let (registers, address) = match operands {
            [registers, address] if load => (registers, address),
            [address, registers] => (registers, address),
            _ => return self.invalid("expected registers and an address"),
        };
        let (base, offset) = self.address(address)?;
        let parts: Vec<&Operand<'a>> = match registers {
            Operand::Vector(parts) => parts.iter().collect(),
            single => vec![single],
        };
        if parts.len() != count {
            return self.invalid(format!("expected {count} registers"));
        }
        let mut rows = Vec::new();
        for part in parts {
            rows.push(Some(if load {
                self.destination(part, Type::B32)?
            } else {
                self.source(part, Type::B32)?
            }));
        }
        let access = Box::new(Access {
            space: Space::Shared,
            base,
            offset,
            bytes: 4,
            signed: false,
            rows,
            strong: false,
            past_l1: false,
            semantics: Semantics::default(),
            read_only: false,
            of_call: false,
        });
        self.emit(if load {
            Operation::LoadMatrix { access, transpose }
        } else {
            Operation::StoreMatrix { access, transpose }
        });
        Ok(true)
    }

    /// A shared address of a block of the cluster has the block's rank plus one above its offset.
    fn cluster_address(
        &mut self,
        opcode: &str,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        modifiers.take("shared::cluster");
        let Some(t) = modifiers.only_type() else { return Ok(false) };
        let (Some(target), Some(source)) = (operands.first(), operands.get(1)) else {
            return Ok(false);
        };
        const RANKS: u32 = (WINDOW_BYTES >> CLUSTER_SHIFT) as u32 - 1;
        let a = self.source(source, t)?.index();
        let is_long = t.bytes() == 8;
        let (b, function, result) = if opcode == "getctarank" {
            let own = self.special(Special::ClusterRank);
            let function = if is_long {
                lanes!(|a: u64, b: u32| -> u32 {
                    ((a >> CLUSTER_SHIFT) as u32 & RANKS).checked_sub(1).unwrap_or(b)
                })
            } else {
                lanes!(|a: u32, b: u32| -> u32 {
                    (a >> CLUSTER_SHIFT & RANKS).checked_sub(1).unwrap_or(b)
                })
            };
            (own, function, Type::U32)
        } else {
            let Some(rank) = operands.get(2) else { return Ok(false) };
            self.program.maps_shared = true;
            let function = if is_long {
                lanes!(|a: u64, b: u32| -> u64 {
                    a & !((RANKS as u64) << CLUSTER_SHIFT)
                        | ((b.min(RANKS - 1) + 1) as u64) << CLUSTER_SHIFT
                })
            } else {
                lanes!(|a: u32, b: u32| -> u32 {
                    a & !(RANKS << CLUSTER_SHIFT) | (b.min(RANKS - 1) + 1) << CLUSTER_SHIFT
                })
            };
            (self.source(rank, Type::U32)?.index(), function, t)
        };
        let d = self.destination(target, result)?.index();
        let operands = Operands { d, a, b, ..Operands::default() };
        self.emit(Operation::Compute { function, operands });
        Ok(true)
    }
}
