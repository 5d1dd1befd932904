//! Operands to rows: registers, immediates, symbols and special registers.

use super::decoder::Decoder;
use super::scope::Symbol;
use crate::compute::{Operands, lanes};
use crate::error::Error;
use crate::operation::{Base, Operation, Register};
use crate::program::{Constant, LaneMask, RESERVED_SHARED, Special};
use crate::registers::{ALWAYS, NEVER};
use ptx::Type;
use ptx::tree::Operand;

/// The file of a type's row, and whether it is 64 bits wide.
fn is_long(t: Type) -> bool {
    t.bytes() >= 8
}

impl<'a> Decoder<'_, '_, 'a> {
    /// The row that holds the value of a source operand of type `t`, in the file of that type.
    pub fn source(&mut self, operand: &Operand<'a>, t: Type) -> Result<Register, Error> {
        let row = self.source_row(operand, t)?;
        if matches!(row, Register::Predicate(_)) != (t == Type::Pred) {
            return self.invalid("predicates and numbers cannot be mixed");
        }
        Ok(row)
    }

    fn source_row(&mut self, operand: &Operand<'a>, t: Type) -> Result<Register, Error> {
        match operand {
            Operand::Name { name, component, offset } => {
                self.named_source(name, *component, *offset, t)
            }
            Operand::Not(name) if t == Type::Pred => {
                let Some((Register::Predicate(index), _)) = self.register(name) else {
                    return self.invalid(format!("`{name}` is not a predicate"));
                };
                self.reads.push(Register::Predicate(index));
                let row = self.new_row(Type::Pred);
                let function = lanes!(|a: bool| -> bool { !a });
                let operands = Operands { d: row.index(), a: index, ..Operands::default() };
                self.helper_compute(function, operands, Register::Predicate(index), row);
                Ok(row)
            }
            Operand::Integer(value) => {
                if t == Type::Pred {
                    return Ok(Register::Predicate(if *value == 0 { NEVER } else { ALWAYS }));
                }
                let value = *value as u64;
                let value = if is_long(t) { value } else { value as u32 as u64 };
                Ok(self.constant(is_long(t), Constant::Value(value)))
            }
            Operand::Single(bits) => match t {
                Type::F64 => {
                    let value = f32::from_bits(*bits) as f64;
                    Ok(self.constant(true, Constant::Value(value.to_bits())))
                }
                t => Ok(self.constant(is_long(t), Constant::Value(*bits as u64))),
            },
            Operand::Double(bits) => match t {
                t if is_long(t) => Ok(self.constant(true, Constant::Value(*bits))),
                _ => {
                    let value = f64::from_bits(*bits) as f32;
                    Ok(self.constant(false, Constant::Value(value.to_bits() as u64)))
                }
            },
            Operand::Vector(parts) => self.packed_source(parts, t),
            Operand::Negative(name) => self.invalid(format!("`-{name}` is not an operand here")),
            _ => self.invalid("operand of the wrong kind"),
        }
    }

    fn named_source(
        &mut self,
        name: &'a str,
        component: Option<&'a str>,
        offset: i64,
        t: Type,
    ) -> Result<Register, Error> {
        if name == "WARP_SZ" {
            return Ok(self.constant(is_long(t), Constant::Value(32)));
        }
        if let Some(symbol) = self.lookup(name) {
            return match symbol {
                Symbol::Register { row, t: declared } => {
                    if component.is_some() || offset != 0 {
                        return self.invalid(format!("`{name}` is a register"));
                    }
                    self.reads.push(row);
                    self.fit_source(row, declared, t)
                }
                Symbol::Vector { .. } => {
                    let Some((row, declared)) = self.component(name, component) else {
                        return self.invalid(format!("`{name}` is a vector register"));
                    };
                    self.reads.push(row);
                    self.fit_source(row, declared, t)
                }
                Symbol::EntryParameter { offset: base } => {
                    let value = (base as i64).wrapping_add(offset) as u64;
                    Ok(self.constant(is_long(t), Constant::Value(value)))
                }
                Symbol::Local { offset: base } => {
                    let value = (base as i64).wrapping_add(offset) as u64;
                    Ok(self.constant(is_long(t), Constant::Value(value)))
                }
                Symbol::Stack { row } => Ok(self.stack_address(row, offset, t)),
                Symbol::Shared { offset: base } => {
                    Ok(self.shared_constant(is_long(t), base, offset))
                }
            };
        }
        if name.starts_with('%') {
            let row = self.special_source(name, component)?;
            return self.fit_source(row, Type::U32, t);
        }
        self.module_symbol(name, offset, is_long(t))
    }

    /// An address in a static shared array.
    fn shared_constant(&mut self, long: bool, base: i64, offset: i64) -> Register {
        self.followed_constant(long, Constant::Shared { start: base as u32, offset })
    }

    /// An address of an array; it counts as read, so that what is formed from it can be followed.
    fn followed_constant(&mut self, long: bool, address: Constant) -> Register {
        let row = self.constant(long, address);
        self.reads.push(row);
        row
    }

    /// The address of a module variable or function, as a constant row.
    pub fn module_symbol(
        &mut self,
        name: &'a str,
        offset: i64,
        long: bool,
    ) -> Result<Register, Error> {
        if let Some(variable) = self.context.variables.get(name).copied() {
            if variable.space != "shared" {
                let symbol = Constant::Symbol { name: name.into(), offset };
                return Ok(self.followed_constant(long, symbol));
            }
            let (bytes, alignment) = self.extent(variable)?;
            if variable.elements.is_none() || (variable.is_extern && bytes == 0) {
                self.program.shared_alignment = self.program.shared_alignment.max(alignment as u32);
                return Ok(self.constant(long, Constant::DynamicShared { offset }));
            }
            let base = self.allocate_shared(name.into(), bytes, alignment)?;
            return Ok(self.shared_constant(long, base, offset));
        }
        if let Some(index) = self.context.functions.get(name).copied() {
            let value = self.context.function_address(index);
            return Ok(self.constant(long, Constant::Value(value)));
        }
        self.invalid(format!("`{name}` is not declared"))
    }

    fn special_source(&mut self, name: &str, component: Option<&str>) -> Result<Register, Error> {
        let axis = match component {
            None => None,
            Some("x") => Some(0),
            Some("y") => Some(1),
            Some("z") => Some(2),
            Some(other) => return self.unsupported(format!("{name}.{other}")),
        };
        let special = match (name, axis) {
            ("%tid", Some(axis)) => Special::ThreadIndex(axis),
            ("%ntid", Some(axis)) => Special::BlockSize(axis),
            ("%ctaid", Some(axis)) => Special::BlockIndex(axis),
            ("%nctaid", Some(axis)) => Special::GridSize(axis),
            ("%clusterid", Some(axis)) => Special::ClusterIndex(axis),
            ("%nclusterid", Some(axis)) => Special::ClusterCount(axis),
            ("%cluster_ctaid", Some(axis)) => Special::PlaceInCluster(axis),
            ("%cluster_nctaid", Some(axis)) => Special::ClusterSize(axis),
            ("%cluster_ctarank", None) => Special::ClusterRank,
            ("%cluster_nctarank", None) => Special::ClusterBlocks,
            ("%is_explicit_cluster", None) => Special::IsExplicitCluster,
            ("%laneid", None) => Special::Lane,
            ("%warpid", None) => Special::Warp,
            ("%nwarpid", None) => Special::WarpCount,
            ("%smid", None) => Special::Multiprocessor,
            ("%nsmid", None) => Special::MultiprocessorCount,
            ("%gridid", None) => Special::GridId,
            ("%lanemask_eq", None) => Special::LaneMask(LaneMask::Equal),
            ("%lanemask_lt", None) => Special::LaneMask(LaneMask::Less),
            ("%lanemask_le", None) => Special::LaneMask(LaneMask::LessEqual),
            ("%lanemask_gt", None) => Special::LaneMask(LaneMask::Greater),
            ("%lanemask_ge", None) => Special::LaneMask(LaneMask::GreaterEqual),
            ("%total_smem_size", None) => Special::TotalShared,
            ("%dynamic_smem_size", None) => Special::DynamicShared,
            ("%envreg1", None) => Special::GridWorkspace { is_high: true },
            ("%envreg2", None) => Special::GridWorkspace { is_high: false },
            ("%reserved_smem_offset_1", None) => {
                let key = "reserved for cooperative groups".to_owned();
                Special::ReservedShared(
                    self.allocate_shared(key, RESERVED_SHARED.into(), 16)? as u32
                )
            }
            _ => {
                let dot = component.map(|c| format!(".{c}")).unwrap_or_default();
                return self.unsupported(format!("{name}{dot}"));
            }
        };
        if matches!(special, Special::Multiprocessor | Special::Warp | Special::GridId) {
            self.program.irreproducible = true;
        }
        self.reads_own_place |= !matches!(
            special,
            Special::BlockIndex(_) | Special::BlockSize(_) | Special::GridSize(_)
        );
        let row = Register::Word(self.special(special));
        if special != Special::IsExplicitCluster {
            return Ok(row);
        }
        let predicate = self.new_row(Type::Pred);
        let operands = Operands { d: predicate.index(), a: row.index(), ..Operands::default() };
        self.helper_compute(lanes!(|a: u32| -> bool { a != 0 }), operands, row, predicate);
        Ok(predicate)
    }

    /// Brings a register's row to the width that the instruction's type asks for.
    fn fit_source(&mut self, row: Register, declared: Type, t: Type) -> Result<Register, Error> {
        let fits = match row {
            Register::Predicate(_) => t == Type::Pred,
            Register::Long(_) => is_long(t),
            Register::Word(_) => t != Type::Pred && !is_long(t),
        };
        if fits {
            return Ok(row);
        }
        let fitted = self.new_row(t);
        let function = match (row, fitted) {
            (Register::Long(_), Register::Word(_)) => lanes!(|a: u64| -> u32 { a as u32 }),
            (Register::Word(_), Register::Long(_)) if t.is_signed() && declared.bytes() == 2 => {
                lanes!(|a: i16| -> i64 { a as i64 })
            }
            (Register::Word(_), Register::Long(_)) if t.is_signed() => {
                lanes!(|a: i32| -> i64 { a as i64 })
            }
            (Register::Word(_), Register::Long(_)) => lanes!(|a: u32| -> u64 { a as u64 }),
            _ => return self.invalid("predicate and number registers cannot be mixed"),
        };
        let operands = Operands { d: fitted.index(), a: row.index(), ..Operands::default() };
        self.helper_compute(function, operands, row, fitted);
        Ok(fitted)
    }

    /// A helper with one source, which passes on whether its source is initialized.
    pub fn helper_compute(
        &mut self,
        function: crate::compute::ComputeFunction,
        operands: Operands,
        read: Register,
        write: Register,
    ) {
        self.helper(Operation::Compute { function, operands });
        if let Some(detail) = self.program.details.last_mut() {
            detail.reads.push(read);
            detail.writes.push(write);
        }
    }

    /// `mov.b64 d, {a, b}` and its kind: parts are packed, the first one lowest.
    fn packed_source(&mut self, parts: &[Operand<'a>], t: Type) -> Result<Register, Error> {
        let count = parts.len() as u32;
        if !matches!(count, 2 | 4) || t.bytes() / count == 0 || t == Type::B128 {
            return self.unsupported("packing of this vector");
        }
        let part_type = match t.bytes() / count {
            1 => Type::B8,
            2 => Type::B16,
            4 => Type::B32,
            _ => return self.unsupported("packing of this vector"),
        };
        let mut sum: Option<Register> = None;
        for (index, part) in parts.iter().enumerate() {
            let row = match part {
                Operand::Sink => continue,
                part => self.source(part, part_type)?,
            };
            let shift = index as u32 * part_type.bytes() * 8;
            let code = shift | part_type.bytes() << 8;
            let target = self.new_row(t);
            let before = sum.unwrap_or_else(|| self.constant(is_long(t), Constant::Value(0)));
            let function = if is_long(t) {
                lanes!(code; |a: u32, b: u64| -> u64 {
                    b | (a as u64 & (u64::MAX >> (64 - 8 * (code >> 8)))) << (code & 63)
                })
            } else {
                lanes!(code; |a: u32, b: u32| -> u32 {
                    b | (a & (u32::MAX >> (32 - 8 * (code >> 8)))) << (code & 31)
                })
            };
            let operands = Operands {
                d: target.index(),
                a: row.index(),
                b: before.index(),
                immediate: code,
                ..Operands::default()
            };
            self.helper_compute(function, operands, row, target);
            if let (Some(before), Some(detail)) = (sum, self.program.details.last_mut()) {
                detail.reads.push(before);
            }
            sum = Some(target);
        }
        Ok(sum.unwrap_or_else(|| self.constant(is_long(t), Constant::Value(0))))
    }

    /// The row to write a result of type `t` to; conversions are queued behind the instruction.
    pub fn destination(&mut self, operand: &Operand<'a>, t: Type) -> Result<Register, Error> {
        match operand {
            Operand::Sink => Ok(self.new_row(t)),
            Operand::Name { name, component, offset: 0 } => {
                let Some((row, _)) = self.component(name, *component) else {
                    return self.invalid(format!("`{name}` is not a register"));
                };
                let fits = match row {
                    Register::Predicate(_) => t == Type::Pred,
                    Register::Long(_) => is_long(t),
                    Register::Word(_) => t != Type::Pred && !is_long(t),
                };
                if fits {
                    self.writes.push(row);
                    return Ok(row);
                }
                let narrow = self.new_row(t);
                // The row that the instruction itself writes comes first: it has its operands' width.
                self.writes.extend([narrow, row]);
                let function = match (narrow, row) {
                    (Register::Word(_), Register::Long(_)) if t.is_signed() => {
                        lanes!(|a: i32| -> i64 { a as i64 })
                    }
                    (Register::Word(_), Register::Long(_)) => lanes!(|a: u32| -> u64 { a as u64 }),
                    (Register::Long(_), Register::Word(_)) => lanes!(|a: u64| -> u32 { a as u32 }),
                    _ => {
                        let message = format!("`{name}` cannot hold a result of this type");
                        return self.invalid(message);
                    }
                };
                let operands =
                    Operands { d: row.index(), a: narrow.index(), ..Operands::default() };
                self.after.push(Operation::Compute { function, operands });
                Ok(narrow)
            }
            Operand::Vector(parts) => self.unpacked_destination(parts, t),
            _ => self.invalid("destination of the wrong kind"),
        }
    }

    /// `mov.b64 {a, b}, s`: the whole is written to a helper row, then taken apart.
    fn unpacked_destination(&mut self, parts: &[Operand<'a>], t: Type) -> Result<Register, Error> {
        let whole = self.new_row(t);
        self.writes.push(whole);
        let count = parts.len() as u32;
        if !matches!(count, 2 | 4) || t.bytes() / count == 0 || t == Type::B128 {
            return self.unsupported("unpacking of this vector");
        }
        let bits = t.bytes() * 8 / count;
        for (index, part) in parts.iter().enumerate() {
            let Operand::Name { name, component, offset: 0 } = part else {
                if *part == Operand::Sink {
                    continue;
                }
                return self.invalid("a vector destination has registers only");
            };
            let row = match self.component(name, *component) {
                Some((row @ Register::Word(_), _)) => row,
                _ => return self.invalid(format!("`{name}` is not a register of that width")),
            };
            self.writes.push(row);
            let code = (index as u32 * bits) | (bits << 8);
            let function = if is_long(t) {
                lanes!(code; |a: u64| -> u32 {
                    ((a >> (code & 63)) & (u64::MAX >> (64 - (code >> 8)))) as u32
                })
            } else {
                lanes!(code; |a: u32| -> u32 {
                    (a >> (code & 31)) & (u32::MAX >> (32 - (code >> 8)))
                })
            };
            let operands = Operands {
                d: row.index(),
                a: whole.index(),
                immediate: code,
                ..Operands::default()
            };
            self.after.push(Operation::Compute { function, operands });
        }
        Ok(whole)
    }

    /// The base and offset of `[address]` in a state space.
    pub fn address(&mut self, operand: &Operand<'a>) -> Result<(Base, i64), Error> {
        match operand {
            Operand::Address { base: None, offset, .. } => Ok((Base::Absolute, *offset)),
            Operand::Address { base: Some(name), offset, index } => {
                if index.is_some() {
                    return self.unsupported("an address with two registers");
                }
                match self.lookup(name) {
                    Some(Symbol::Register { row, .. }) => {
                        self.reads.push(row);
                        match row {
                            Register::Long(index) => Ok((Base::Long(index), *offset)),
                            Register::Word(index) => Ok((Base::Word(index), *offset)),
                            Register::Predicate(_) => self.invalid("a predicate is not an address"),
                        }
                    }
                    Some(
                        Symbol::EntryParameter { offset: base } | Symbol::Local { offset: base },
                    ) => Ok((Base::Absolute, offset.wrapping_add(base as i64))),
                    Some(Symbol::Stack { row }) => Ok((Base::Long(row), *offset)),
                    Some(Symbol::Shared { offset: base }) => {
                        Ok((Base::Absolute, offset.wrapping_add(base)))
                    }
                    Some(Symbol::Vector { .. }) => {
                        self.invalid("a vector register is not an address")
                    }
                    None => {
                        let row = self.module_symbol(name, *offset, true)?;
                        Ok((Base::Long(row.index()), 0))
                    }
                }
            }
            _ => self.invalid("expected an address in brackets"),
        }
    }
}
