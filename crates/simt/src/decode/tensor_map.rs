//! Decoding of `tensormap`: fields of a tensor map are replaced in memory, and a map goes from shared to global memory.
//!
//! A field is a number at its own place of a map ([`crate::tensor_map`]), so that replacing one is a store.

use super::access::{take_scope, take_space};
use super::decoder::Decoder;
use crate::compute::{Operands, lanes};
use crate::error::Error;
use crate::operation::{Access, Base, Operation, Register, Scope, Semantics, Space};
use crate::program::{Constant, Special};
use crate::tensor_map::{MAX_RANK, place};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::{Instruction, Operand};

/// Bytes of a tensor map.
const BYTES: i128 = 128;

/// Bytes of an element by the numbers of `tensormap.replace.elemtype`, which are not those of the driver: u8, u16, u32, s32,
/// u64, s64, f16, f32, f32.ftz, f64, bf16, tf32, tf32.ftz.
const WIDTHS: [u32; 13] = [1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4];

/// The fields of a map, by their names.
const FIELDS: [&str; 11] = [
    "global_address",
    "rank",
    "box_dim",
    "global_dim",
    "global_stride",
    "element_stride",
    "elemtype",
    "interleave_layout",
    "swizzle_mode",
    "swizzle_atomicity",
    "fill_mode",
];

impl<'a> Decoder<'_, '_, 'a> {
    /// `tensormap`, in both forms.
    pub fn tensor_map(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        self.check_target(&instruction.text(), 90)?;
        if modifiers.take("replace") {
            return self.replace(instruction, modifiers);
        }
        Ok(modifiers.take("cp_fenceproxy") && self.copy_map(instruction, modifiers)?)
    }

    fn replace(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let target = self.context.tree.target;
        if !target.ends_with(['a', 'f']) {
            return self.invalid(format!(
                "kernel `{}`: `{}` needs the features of one compute capability, but the module is for {target}: compile \
                 it for sm_90a",
                self.program.name,
                instruction.text()
            ));
        }
        let Some(field) = modifiers.take_any(&FIELDS) else { return Ok(false) };
        let t = match field {
            "global_address" | "global_stride" => Type::B64,
            _ => Type::B32,
        };
        let space = take_space(modifiers);
        if !modifiers.take("tile") || !modifiers.take("b1024") || modifiers.only_type() != Some(t) {
            return Ok(false);
        }
        if !matches!(space, Space::Global | Space::Shared | Space::Generic) {
            return Ok(false);
        }
        let has_dimension =
            matches!(field, "box_dim" | "global_dim" | "global_stride" | "element_stride");
        let (address, dimension, value) = match &instruction.operands[..] {
            [address, value] if !has_dimension => (address, 0, value),
            [address, Operand::Integer(dimension), value] if has_dimension => {
                let dimensions = MAX_RANK - usize::from(field == "global_stride");
                if !(0..dimensions as i128).contains(dimension) {
                    return self.invalid(format!(
                        "tensormap.replace of {field} has a dimension below {dimensions}, not {dimension}"
                    ));
                }
                (address, *dimension as u32, value)
            }
            _ => {
                return self.invalid(format!(
                    "tensormap.replace of {field} has an address{} and a value",
                    if has_dimension { ", the constant number of a dimension" } else { "" }
                ));
            }
        };
        let (base, offset) = self.address(address)?;
        // Where the field is, the bytes of a number there, and the numbers.
        let (at, bytes, rows) = match field {
            "global_address" => (place::ADDRESS, 8, vec![self.source(value, t)?]),
            "rank" => (place::RANK, 1, vec![self.source(value, t)?]),
            "box_dim" => (place::EXTENTS + 4 * dimension, 4, vec![self.source(value, t)?]),
            "element_stride" => (place::STEPS + 4 * dimension, 4, vec![self.source(value, t)?]),
            "global_stride" => (place::STRIDES + 8 * dimension, 8, vec![self.source(value, t)?]),
            "global_dim" => {
                let upper = self.constant(false, Constant::Value(0));
                (place::SIZES + 8 * dimension, 4, vec![self.source(value, t)?, upper])
            }
            _ => {
                let Operand::Integer(number) = value else {
                    return self.invalid(format!("tensormap.replace of {field} has a constant"));
                };
                let (at, bytes, number) = match (field, *number) {
                    ("elemtype", 0..13) => {
                        (place::KIND, 4, place::MAGIC | WIDTHS[*number as usize])
                    }
                    ("swizzle_mode", 0..4) => (place::SWIZZLE, 1, *number as u32),
                    ("fill_mode", 0 | 1) => (place::FILL, 1, *number as u32),
                    // Nothing is interleaved, and chunks of 16 bytes change places.
                    ("interleave_layout" | "swizzle_atomicity", 0) => (place::UNUSED, 1, 0),
                    _ => {
                        let text = instruction.text();
                        return self.unsupported(format!("{text} with the number {number}"));
                    }
                };
                (at, bytes, vec![self.constant(false, Constant::Value(number.into()))])
            }
        };
        let rows = rows.into_iter().map(Some).collect();
        let access = access(space, base, offset + i64::from(at), bytes, rows);
        self.emit(Operation::Store(Box::new(access)));
        Ok(true)
    }

    /// `tensormap.cp_fenceproxy`: all lanes of a warp copy a map, a word each, and what they did comes before what is done by a
    /// thread that acquires the map. They read it as eight rows of a matrix, which fewer lanes cannot.
    fn copy_map(
        &mut self,
        instruction: &Instruction<'a>,
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        let named = ["global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"];
        if !named.iter().all(|name| modifiers.take(name)) {
            return Ok(false);
        }
        let system = modifiers.has("sys");
        let scope = take_scope(modifiers, Scope::Device);
        let [target, source, Operand::Integer(BYTES)] = &instruction.operands[..] else {
            return self.invalid("tensormap.cp_fenceproxy has two addresses and 128 bytes");
        };
        let members = self.constant(false, Constant::Value(u32::MAX.into())).index();
        let from = self.at_lane(source, 16)?;
        let to = self.at_lane(target, 4)?;
        self.emit(Operation::WarpBarrier { members });
        let value = self.new_row(Type::B32);
        self.writes.push(value);
        let rows_of_map = Box::new(access(Space::Shared, from.0, from.1, 4, vec![Some(value)]));
        self.emit(Operation::LoadMatrix { access: rows_of_map, transpose: false });
        self.reads.push(value);
        let store = access(Space::Global, to.0, to.1, 4, vec![Some(value)]);
        self.emit(Operation::Store(Box::new(store)));
        let semantics =
            Semantics { strong: Some(scope), release: true, system, ..Semantics::default() };
        self.helper(Operation::Fence { proxy: false, semantics });
        Ok(true)
    }

    /// So many bytes times its number behind an address for each lane.
    fn at_lane(&mut self, address: &Operand<'a>, step: u32) -> Result<(Base, i64), Error> {
        let (base, offset) = self.address(address)?;
        let lane = self.special(Special::Lane);
        let row = match base {
            Base::Long(row) => Register::Long(row),
            Base::Word(row) => Register::Word(row),
            Base::Absolute => self.constant(true, Constant::Value(0)),
        };
        let is_long = matches!(row, Register::Long(_));
        let place = self.new_row(if is_long { Type::B64 } else { Type::B32 });
        let function = if is_long {
            lanes!(step; |a: u64, b: u32| -> u64 { a.wrapping_add((step * b) as u64) })
        } else {
            lanes!(step; |a: u32, b: u32| -> u32 { a.wrapping_add(step * b) })
        };
        let operands = Operands {
            d: place.index(),
            a: row.index(),
            b: lane,
            immediate: step,
            ..Operands::default()
        };
        self.helper_compute(function, operands, row, place);
        let base = if is_long { Base::Long(place.index()) } else { Base::Word(place.index()) };
        Ok((base, offset))
    }

    /// The operands of a fence between a tensor map and other accesses: none, or the address of the map and its size.
    pub fn check_map_fence(&mut self, operands: &[Operand<'a>]) -> Result<(), Error> {
        match operands {
            [] => Ok(()),
            [address, Operand::Integer(BYTES)] => self.address(address).map(|_| ()),
            _ => self.invalid("a fence of a tensor map has its address and 128 bytes"),
        }
    }
}

/// A weak access of so many bytes for each row.
fn access(
    space: Space,
    base: Base,
    offset: i64,
    bytes: u32,
    rows: Vec<Option<Register>>,
) -> Access {
    Access {
        space,
        base,
        offset,
        bytes,
        signed: false,
        rows,
        strong: false,
        past_l1: false,
        semantics: Semantics::default(),
        read_only: false,
        of_call: false,
    }
}
