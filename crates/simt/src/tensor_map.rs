//! Tensor maps: where the boxes of a tensor lie that `cp.async.bulk.tensor` copies.
//!
//! The driver encodes one into 128 bytes, which nobody else may look into; these are our own ([`place`]). A kernel replaces
//! fields in 128 bytes of zeros or of another map, so each field is a number of its own there.

use std::array;

/// The most dimensions of a tensor.
pub const MAX_RANK: usize = 5;

/// Offsets of the fields in the 128 bytes of a map.
pub(crate) mod place {
    /// Four bytes: [`MAGIC`] and the bytes of an element.
    pub const KIND: u32 = 0;
    /// The word by which a map is recognized.
    pub const MAGIC: u32 = 0x7e50_0100;
    /// The word of a map of pixels.
    pub const PIXELS_MAGIC: u32 = 0x7e51_0100;
    /// A byte: one less than the dimensions.
    pub const RANK: u32 = 4;
    /// A byte of zero.
    pub const UNUSED: u32 = 5;
    /// A byte.
    pub const SWIZZLE: u32 = 6;
    /// A byte: 1 for NaN.
    pub const FILL: u32 = 7;
    /// Eight bytes.
    pub const ADDRESS: u32 = 8;
    /// Eight bytes for each dimension.
    pub const SIZES: u32 = 16;
    /// Eight bytes for each dimension but the first.
    pub const STRIDES: u32 = 56;
    /// Four bytes for each dimension.
    pub const EXTENTS: u32 = 88;
    /// Two bytes for each corner of a map of pixels, which has two extents.
    pub const CORNERS: u32 = 96;
    /// Four bytes for each dimension.
    pub const STEPS: u32 = 108;
}

/// The most dimensions that count pixels: between that of channels and that of images.
const MAX_PIXEL_RANK: usize = MAX_RANK - 2;

/// The box of pixels in which a copy in im2col mode moves on, along each dimension between channels and images: from `lower` to
/// the last pixel plus `upper` (CUDA driver API, `cuTensorMapEncodeIm2col`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PixelBox {
    /// The first pixel along each dimension.
    pub lower: [i32; MAX_PIXEL_RANK],
    /// The last pixel along each dimension, from that of the tensor.
    pub upper: [i32; MAX_PIXEL_RANK],
}

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
    /// Elements of the box along each dimension, those that are skipped included; with a pixel box the channels of a pixel,
    /// and the pixels.
    pub extents: [u32; MAX_RANK],
    /// Every which element is copied, along each dimension but the first.
    pub steps: [u32; MAX_RANK],
    /// The swizzle: the 16-byte chunks of rows of `16 << swizzle` bytes change places; 0 for none.
    pub swizzle: u32,
    /// Elements beyond the tensor are NaN instead of zero.
    pub fills_nan: bool,
    /// The map is for the im2col mode.
    pub pixel_box: Option<PixelBox>,
}

/// Bytes of a copy, up to 16 of a box: where they lie in shared memory, and where in global memory, unless they are beyond the tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub shared: u32,
    pub global: Option<u64>,
    pub bytes: u32,
}

impl TensorMap {
    /// The 128 bytes that a kernel gets.
    pub fn to_bytes(&self) -> [u8; 128] {
        let mut bytes = [0; 128];
        let mut put = |at: u32, value: &[u8]| {
            bytes[at as usize..][..value.len()].copy_from_slice(value);
        };
        let magic = match self.pixel_box {
            None => place::MAGIC,
            Some(_) => place::PIXELS_MAGIC,
        };
        put(place::KIND, &(magic | self.width).to_le_bytes());
        put(place::RANK, &[(self.rank as u8).wrapping_sub(1)]);
        put(place::SWIZZLE, &[self.swizzle as u8]);
        put(place::FILL, &[self.fills_nan.into()]);
        put(place::ADDRESS, &self.address.to_le_bytes());
        for d in 0..MAX_RANK {
            let (wide, narrow) = (8 * d as u32, 4 * d as u32);
            put(place::SIZES + wide, &self.sizes[d].to_le_bytes());
            if let Some(stride) = self.strides.get(d) {
                put(place::STRIDES + wide, &stride.to_le_bytes());
            }
            put(place::EXTENTS + narrow, &self.extents[d].to_le_bytes());
            put(place::STEPS + narrow, &self.steps[d].to_le_bytes());
        }
        if let Some(PixelBox { lower, upper }) = &self.pixel_box {
            for (at, corner) in lower.iter().chain(upper).enumerate() {
                put(place::CORNERS + 2 * at as u32, &(*corner as i16).to_le_bytes());
            }
        }
        bytes
    }

    /// The map in these bytes, if they are one; what a kernel wrote there may be no map that the driver would make.
    pub fn from_bytes(bytes: &[u8; 128]) -> Option<TensorMap> {
        let byte = |at: u32| bytes[at as usize];
        let narrow = |at: u32| u32::from_le_bytes(array::from_fn(|b| bytes[at as usize + b]));
        let wide = |at: u32| u64::from_le_bytes(array::from_fn(|b| bytes[at as usize + b]));
        let kind = narrow(place::KIND);
        let corner = |at: usize| {
            let at = place::CORNERS as usize + 2 * at;
            i16::from_le_bytes(array::from_fn(|b| bytes[at + b])).into()
        };
        let pixel_box = (kind & !0xff == place::PIXELS_MAGIC).then(|| PixelBox {
            lower: array::from_fn(corner),
            upper: array::from_fn(|d| corner(MAX_PIXEL_RANK + d)),
        });
        (pixel_box.is_some() || kind & !0xff == place::MAGIC).then(|| TensorMap {
            address: wide(place::ADDRESS),
            rank: byte(place::RANK).wrapping_add(1).into(),
            width: kind & 0xff,
            sizes: array::from_fn(|d| wide(place::SIZES + 8 * d as u32)),
            strides: array::from_fn(|d| wide(place::STRIDES + 8 * d as u32)),
            extents: array::from_fn(|d| match pixel_box {
                Some(_) if d > 1 => 0,
                _ => narrow(place::EXTENTS + 4 * d as u32),
            }),
            steps: array::from_fn(|d| narrow(place::STEPS + 4 * d as u32)),
            swizzle: byte(place::SWIZZLE).into(),
            fills_nan: byte(place::FILL) != 0,
            pixel_box,
        })
    }

    /// Returns what the driver refuses in a map of floats or of integers, as a sentence.
    pub fn problem(&self, is_float: bool) -> Option<String> {
        if !(1..=MAX_RANK).contains(&self.rank) {
            return Some(format!("{} dimensions: a tensor has 1 to {MAX_RANK}", self.rank));
        }
        let sizes = self.sizes[..self.rank].iter();
        let mut strides = self.strides[..self.rank - 1].iter();
        let extents = match self.pixel_box {
            None => &self.extents[..self.rank],
            Some(_) => &self.extents[..1],
        };
        if let Some(problem) = self.pixel_box.as_ref().and_then(|pixels| self.pixel_problem(pixels))
        {
            return Some(problem);
        }
        let span = 16 << self.swizzle;
        if self.address == 0 || !self.address.is_multiple_of(16) {
            let address = self.address;
            return Some(format!("the tensor's address {address:#x} is not a multiple of 16"));
        }
        if let Some(size) = sizes.clone().find(|size| !(1..=1 << 32).contains(*size)) {
            return Some(format!("a size of {size}: sizes are from 1 to 2^32"));
        }
        if let Some(stride) = strides.find(|stride| *stride % 16 != 0 || **stride >= 1 << 40) {
            return Some(format!(
                "a stride of {stride} bytes: strides are multiples of 16 below 2^40"
            ));
        }
        if let Some(extent) = extents.iter().find(|extent| !(1..=256).contains(*extent)) {
            return Some(format!("a box of {extent} elements along a dimension: it has 1 to 256"));
        }
        if let Some(step) = self.steps[..self.rank].iter().find(|step| !(1..=8).contains(*step)) {
            return Some(format!("an element stride of {step}: it is from 1 to 8"));
        }
        let row = extents[0] * self.width;
        if !row.is_multiple_of(16) {
            return Some(format!("rows of the box have {row} bytes, which is no multiple of 16"));
        }
        if self.swizzle > 0 && row > span {
            return Some(format!(
                "rows of the box have {row} bytes, and a swizzle of {span} bytes"
            ));
        }
        if self.fills_nan && !is_float {
            return Some("integers cannot be filled with NaN".to_owned());
        }
        None
    }

    /// Returns what the driver refuses in a box of pixels.
    fn pixel_problem(&self, pixels: &PixelBox) -> Option<String> {
        let most = match self.rank {
            3 => 1 << 15,
            4 => 1 << 7,
            5 => 1 << 4,
            rank => return Some(format!("{rank} dimensions: im2col needs 3 to {MAX_RANK}")),
        };
        let dimensions = 0..self.rank - 2;
        let corners = [&pixels.lower, &pixels.upper];
        let mut all = corners.iter().flat_map(|corner| &corner[dimensions.clone()]);
        if let Some(corner) = all.find(|corner| !(-most..most).contains(*corner)) {
            let last = most - 1;
            let rank = self.rank;
            return Some(format!(
                "a corner at {corner}: with {rank} dimensions it is from -{most} to {last}"
            ));
        }
        for d in dimensions {
            let pixels = self.sizes[d + 1] as i64 + i64::from(pixels.upper[d] - pixels.lower[d]);
            if pixels <= 0 {
                return Some("the corners leave no pixel between them".to_owned());
            }
        }
        let column = self.extents[1];
        (!(1..=1024).contains(&column))
            .then(|| format!("{column} pixels for each column: it has 1 to 1024"))
    }

    /// Elements that a copy moves along a dimension.
    fn count(&self, dimension: usize) -> u32 {
        if self.pixel_box.is_some() {
            return if dimension < 2 { self.extents[dimension] } else { 1 };
        }
        self.extents[dimension].div_ceil(self.steps[dimension].max(1))
    }

    /// Bytes of a box in shared memory, of a map without a [problem](TensorMap::problem).
    pub fn box_bytes(&self) -> u32 {
        (0..self.rank).map(|d| self.count(d)).product::<u32>() * self.width
    }

    /// The address of each row of the box at these coordinates, unless the row is beyond the tensor.
    fn rows(&self, coordinates: &[i32], count: u32) -> Vec<Option<u64>> {
        let address = |at: &[i64]| {
            let strides = self.strides.iter().map(|stride| *stride as i64);
            let inside = at.iter().zip(&self.sizes[1..]).all(|(at, n)| (0..*n as i64).contains(at));
            let offset = at.iter().zip(strides).map(|(at, stride)| at.wrapping_mul(stride));
            inside.then(|| self.address.wrapping_add(offset.sum::<i64>() as u64))
        };
        let row = |row: u32| {
            let mut rest = row;
            let at = coordinates.iter().enumerate().take(self.rank).skip(1);
            let at = at.map(|(d, coordinate)| {
                let index = rest % self.count(d);
                rest /= self.count(d);
                i64::from(*coordinate) + i64::from(index * self.steps[d].max(1))
            });
            address(&at.collect::<Vec<_>>())
        };
        (0..count).map(row).collect()
    }

    /// The address of each pixel of a column, unless it is beyond the tensor: from the pixel at these coordinates on, with the
    /// first of the dimensions the fastest; what is read is `offsets` further (PTX ISA, "im2col mode").
    fn pixels(&self, pixels: &PixelBox, coordinates: &[i32], offsets: &[u32]) -> Vec<Option<u64>> {
        let mut at: Vec<i64> = coordinates[1..].iter().map(|at| i64::from(*at)).collect();
        let mut column = Vec::new();
        for _ in 0..self.extents[1] {
            let mut place = Some(self.address);
            for (d, at) in at.iter().enumerate() {
                let at = at + i64::from(offsets.get(d).copied().unwrap_or(0));
                let is_inside = (0..self.sizes[d + 1] as i64).contains(&at);
                place = place.filter(|_| is_inside);
                place =
                    place.map(|all| all.wrapping_add((at as u64).wrapping_mul(self.strides[d])));
            }
            column.push(place);
            let last = at.len() - 1;
            for (d, at) in at.iter_mut().enumerate() {
                *at += i64::from(self.steps[d + 1].max(1));
                if d == last || *at < self.sizes[d + 1] as i64 + i64::from(pixels.upper[d]) {
                    break;
                }
                *at = pixels.lower[d].into();
            }
        }
        column
    }

    /// The box at these coordinates, in a place of shared memory; the pixels of a map for im2col are `offsets` further.
    pub(crate) fn pieces(&self, shared: u32, coordinates: &[i32], offsets: &[u32]) -> Vec<Piece> {
        let per_row = self.count(0);
        let rows = self.box_bytes() / (per_row * self.width).max(1);
        // Rows that are shorter than their swizzle leave a gap.
        let pitch = match self.swizzle {
            0 => per_row * self.width,
            swizzle => 16 << swizzle,
        };
        let mut pieces = Vec::new();
        let starts = match &self.pixel_box {
            None => self.rows(coordinates, rows),
            Some(pixels) => self.pixels(pixels, coordinates, offsets),
        };
        for (row, start) in (0..rows).zip(starts) {
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
            pixel_box: None,
        }
    }

    #[test]
    fn a_map_survives_its_bytes() {
        assert_eq!(TensorMap::from_bytes(&map().to_bytes()), Some(map()));
        assert_eq!(TensorMap::from_bytes(&[0; 128]), None);
        let pixel_box = Some(PixelBox { lower: [-1, -2, -128], upper: [-32_768, 1, 127] });
        let pixels = TensorMap { pixel_box, extents: [64, 4, 0, 0, 0], rank: 5, ..map() };
        assert_eq!(TensorMap::from_bytes(&pixels.to_bytes()), Some(pixels));
    }

    #[test]
    fn a_box_has_its_rows_swizzled_and_its_outside_empty() {
        let map = map();
        assert_eq!(map.box_bytes(), 64 * 2 * 2);
        let pieces = map.pieces(0, &[60, 5], &[]);
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
