//! Tensor maps: where the boxes of a tensor lie that `cp.async.bulk.tensor` copies.
//!
//! The driver encodes one into 128 bytes, which nobody else may look into; these are our own.

use std::array;

/// The most dimensions of a tensor.
pub const MAX_RANK: usize = 5;
/// The first four bytes of an encoded map.
const MAGIC: u32 = 0x7e50_0001;

/// A tensor in global memory, and the box of it that one copy moves. The first dimension is that of neighbouring elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorMap {
    /// The address of the first element.
    pub address: u64,
    /// Dimensions, 1 to 5.
    pub rank: usize,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub width: u32,
    /// Elements along each dimension.
    pub sizes: [u64; MAX_RANK],
    /// Bytes from one element to the next along each dimension but the first.
    pub strides: [u64; MAX_RANK - 1],
    /// Elements of the box along each dimension, those that are skipped included.
    pub extents: [u32; MAX_RANK],
    /// Every which element is copied, along each dimension but the first.
    pub steps: [u32; MAX_RANK],
    /// The swizzle: the 16-byte chunks of rows of `16 << swizzle` bytes change places; 0 for none.
    pub swizzle: u32,
    /// Elements beyond the tensor are NaN instead of zero.
    pub fills_nan: bool,
}

/// Up to 16 bytes of a box: where they lie in shared memory, and where in global memory, unless they are beyond the tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub shared: u32,
    pub global: Option<u64>,
    pub bytes: u32,
}

impl TensorMap {
    /// The 128 bytes that a kernel gets.
    pub fn to_bytes(&self) -> [u8; 128] {
        let pack = |values: &[u32; MAX_RANK], bits: usize| {
            values
                .iter()
                .enumerate()
                .fold(0, |all, (i, value)| all | u64::from(*value) << (i * bits))
        };
        let mut words = [0_u64; 16];
        words[0] = u64::from(MAGIC)
            | (self.rank as u64) << 32
            | u64::from(self.width) << 40
            | u64::from(self.swizzle) << 48
            | u64::from(self.fills_nan) << 56;
        words[1] = self.address;
        words[2..7].copy_from_slice(&self.sizes);
        words[7..11].copy_from_slice(&self.strides);
        words[11] = pack(&self.extents, 12);
        words[12] = pack(&self.steps, 12);
        let mut bytes = [0; 128];
        for (bytes, word) in bytes.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The map in these bytes, if they are one.
    pub fn from_bytes(bytes: &[u8; 128]) -> Option<TensorMap> {
        let word = |i: usize| u64::from_le_bytes(array::from_fn(|b| bytes[8 * i + b]));
        let unpack = |word: u64| array::from_fn(|i| (word >> (12 * i) & 0xfff) as u32);
        let head = word(0);
        let field = |shift: u32| (head >> shift & 0xff) as u32;
        (head as u32 == MAGIC).then(|| TensorMap {
            address: word(1),
            rank: field(32) as usize,
            width: field(40),
            sizes: array::from_fn(|d| word(2 + d)),
            strides: array::from_fn(|d| word(7 + d)),
            extents: unpack(word(11)),
            steps: unpack(word(12)),
            swizzle: field(48),
            fills_nan: field(56) != 0,
        })
    }

    /// Elements that a copy moves along a dimension.
    fn count(&self, dimension: usize) -> u32 {
        self.extents[dimension].div_ceil(self.steps[dimension].max(1))
    }

    /// Bytes of a box in shared memory.
    pub fn box_bytes(&self) -> u32 {
        (0..self.rank).map(|d| self.count(d)).product::<u32>() * self.width
    }

    /// The box at these coordinates, in a place of shared memory.
    pub(crate) fn pieces(&self, shared: u32, coordinates: &[i32]) -> Vec<Piece> {
        let per_row = self.count(0);
        let rows = self.box_bytes() / (per_row * self.width).max(1);
        // Rows that are shorter than their swizzle leave a gap.
        let pitch = match self.swizzle {
            0 => per_row * self.width,
            swizzle => 16 << swizzle,
        };
        let mut pieces = Vec::new();
        for row in 0..rows {
            let mut rest = row;
            let mut start = Some(self.address);
            for (d, coordinate) in coordinates.iter().enumerate().take(self.rank).skip(1) {
                let index = rest % self.count(d);
                rest /= self.count(d);
                let at = i64::from(*coordinate) + i64::from(index * self.steps[d].max(1));
                let inside = (0..self.sizes[d] as i64).contains(&at);
                start = start.filter(|_| inside);
                start = start.map(|start| start.wrapping_add(at as u64 * self.strides[d - 1]));
            }
            let first = i64::from(coordinates[0]);
            let per_chunk = 16 / self.width;
            for chunk in (0..per_row).step_by(per_chunk as usize) {
                let place = shared + row * pitch + chunk * self.width;
                let mask = (1 << self.swizzle) - 1;
                let place = place ^ (place >> 7 & mask) << 4;
                let elements = per_chunk.min(per_row - chunk);
                // The elements of this chunk that exist.
                let existing =
                    |at: i64| (at - first - i64::from(chunk)).clamp(0, elements.into()) as u32;
                let (from, to) = match start {
                    Some(_) => (existing(0), existing(self.sizes[0] as i64)),
                    None => (0, 0),
                };
                let mut piece = |from: u32, to: u32, global| {
                    if from < to {
                        let shared = place + from * self.width;
                        pieces.push(Piece { shared, global, bytes: (to - from) * self.width });
                    }
                };
                if from >= to {
                    piece(0, elements, None);
                    continue;
                }
                piece(0, from, None);
                let offset = (first + i64::from(chunk + from)) as u64 * u64::from(self.width);
                piece(from, to, start.map(|start| start.wrapping_add(offset)));
                piece(to, elements, None);
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TensorMap {
        TensorMap {
            address: 0x1000,
            rank: 2,
            width: 2,
            sizes: [100, 7, 0, 0, 0],
            strides: [208, 0, 0, 0],
            extents: [64, 4, 0, 0, 0],
            steps: [1, 2, 0, 0, 0],
            swizzle: 3,
            fills_nan: true,
        }
    }

    #[test]
    fn a_map_survives_its_bytes() {
        assert_eq!(TensorMap::from_bytes(&map().to_bytes()), Some(map()));
        assert_eq!(TensorMap::from_bytes(&[0; 128]), None);
    }

    #[test]
    fn a_box_has_its_rows_swizzled_and_its_outside_empty() {
        let map = map();
        assert_eq!(map.box_bytes(), 64 * 2 * 2);
        let pieces = map.pieces(0, &[60, 5]);
        // Row 5 from column 60 on, then row 7, which does not exist.
        assert_eq!(pieces.iter().map(|piece| piece.bytes).sum::<u32>(), 256);
        let first = pieces[0];
        assert_eq!((first.shared, first.global), (0, Some(0x1000 + 5 * 208 + 120)));
        let present: u32 = pieces.iter().filter(|p| p.global.is_some()).map(|p| p.bytes).sum();
        assert_eq!(present, 40 * 2);
        // The second row's chunks change places in pairs.
        assert_eq!(pieces.last().map(|piece| piece.shared), Some(128 + 6 * 16));
    }
}
