//! Decoding of `cp.async.bulk.tensor`, whose box a tensor map describes.

use super::access::is_hint;
use super::decoder::Decoder;
use crate::error::Error;
use crate::operation::{BulkDirection, Operation, TensorCopy};
use ptx::Modifiers;
use ptx::Type;
use ptx::tree::Operand;

impl<'a> Decoder<'_, '_, 'a> {
    /// Returns what follows `cp.async.bulk.tensor`; false for what is not supported: `im2col::w`, reductions.
    pub fn tensor_copy(
        &mut self,
        operands: &[Operand<'a>],
        modifiers: &mut Modifiers<'a>,
    ) -> Result<bool, Error> {
        const DIMENSIONS: [&str; 5] = ["1d", "2d", "3d", "4d", "5d"];
        let Some(name) = modifiers.take_any(&DIMENSIONS) else { return Ok(false) };
        let rank = 1 + DIMENSIONS.iter().position(|d| *d == name).unwrap_or(0);
        modifiers.take("tile");
        let has_offsets = modifiers.take("im2col");
        let is_im2col = has_offsets || modifiers.take("im2col_no_offs");
        if is_im2col && rank < 3 {
            return self.invalid("im2col copies tensors of 3 to 5 dimensions");
        }
        modifiers.take_where(is_hint);
        if !modifiers.take("global") {
            return Ok(false);
        }
        if modifiers.take("L2") {
            // A prefetch has no effect on results.
            self.emit(Operation::Nothing);
            return Ok(true);
        }
        if !modifiers.take("shared::cluster") && !modifiers.take("shared::cta") {
            return Ok(false);
        }
        let is_multicast = modifiers.take("multicast::cluster");
        let (direction, shared, tensor, mbarrier) = match operands {
            [shared, tensor, mbarrier, ..] if modifiers.take("mbarrier::complete_tx::bytes") => {
                (BulkDirection::GlobalToShared, shared, tensor, Some(mbarrier))
            }
            [tensor, shared, ..] if modifiers.take("bulk_group") => {
                (BulkDirection::SharedToGlobal, shared, tensor, None)
            }
            _ => return Ok(false),
        };
        let Operand::Texel { object, coordinates } = tensor else {
            return self.invalid("a tensor is given as [map, {coordinates}]");
        };
        let [Operand::Vector(coordinates)] = &coordinates[..] else { return Ok(false) };
        if coordinates.len() != rank {
            return self
                .invalid(format!("{rank} coordinates are needed, not {}", coordinates.len()));
        }
        let shared = self.address(shared)?;
        let map = Operand::Name { name: object, component: None, offset: 0 };
        let map = self.source(&map, Type::B64)?.index();
        let coordinates = coordinates.iter().map(|part| Ok(self.source(part, Type::B32)?.index()));
        let coordinates = coordinates.collect::<Result<_, Error>>()?;
        let mbarrier = mbarrier.map(|address| self.address(address)).transpose()?;
        let mut rest = operands.get(3..).unwrap_or_default().iter();
        let offsets = if has_offsets {
            let Some(Operand::Vector(parts)) = rest.next().filter(|_| mbarrier.is_some()) else {
                return self.invalid("im2col has a vector of offsets behind the mbarrier");
            };
            if parts.len() != rank - 2 {
                let count = parts.len();
                return self.invalid(format!("{} offsets are needed, not {count}", rank - 2));
            }
            let rows = parts.iter().map(|part| Ok(self.source(part, Type::U16)?.index()));
            Some(rows.collect::<Result<_, Error>>()?)
        } else {
            is_im2col.then(Vec::new)
        };
        let multicast = self.multicast(is_multicast, rest.next())?;
        let copy = TensorCopy { direction, shared, map, coordinates, offsets, mbarrier, multicast };
        self.emit(Operation::TensorCopy(Box::new(copy)));
        Ok(true)
    }
}
