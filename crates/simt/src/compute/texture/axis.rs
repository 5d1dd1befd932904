//! One coordinate: the texels on either side, and the weight of the second.

use crate::texture::{AddressMode, Sampler};

/// The neighbours along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// The nearest, or those on either side; `None` is beyond the border.
    pub places: [Option<u32>; 2],
    /// Of the second, of 256.
    pub weight: i32,
}

impl Axis {
    /// Only one place.
    pub fn at(place: u32) -> Axis {
        Axis { places: [Some(place); 2], weight: 0 }
    }
}

/// Bits of a position behind the point.
const FRACTION: u32 = 21;
const ONE: f64 = (1 << FRACTION) as f64;
/// Farther than any image, and no overflow when multiplied by its extent.
const FAR: f64 = (1_u64 << 43) as f64;

/// The neighbours of a coordinate. The hardware cuts a coordinate to 21 bits behind the point, multiplies a normalized
/// one by the extent exactly, and rounds the weight to the nearest 256th, halves up. NaN and subnormals are zero; so is
/// infinity where the image repeats.
pub(super) fn axis(coordinate: f32, n: u32, mode: AddressMode, sampler: &Sampler) -> Axis {
    let coordinate = if coordinate.is_subnormal() { 0.0 } else { f64::from(coordinate) };
    let cut = (coordinate * ONE).floor();
    let repeats = sampler.normalized && matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
    let extent = i64::from(n);
    let position = if repeats {
        let period = if mode == AddressMode::Wrap { ONE } else { 2.0 * ONE };
        // NaN becomes zero.
        let within = cut.rem_euclid(period) as i64;
        let there = within * extent;
        if within >= ONE as i64 { 2 * ONE as i64 * extent - 1 - there } else { there }
    } else if sampler.normalized {
        cut.clamp(-FAR, FAR) as i64 * extent
    } else {
        cut.clamp(-FAR, FAR) as i64
    };
    let place = |index: i64| match mode {
        AddressMode::Border => (0..extent).contains(&index).then_some(index as u32),
        AddressMode::Wrap if repeats => Some(index.rem_euclid(extent) as u32),
        _ => Some(index.clamp(0, extent - 1) as u32),
    };
    if !sampler.linear {
        return Axis { places: [place(position >> FRACTION); 2], weight: 0 };
    }
    let steps = ((position >> (FRACTION - 9)) + 1 >> 1) - 128;
    Axis { places: [place(steps >> 8), place((steps >> 8) + 1)], weight: (steps & 255) as i32 }
}

/// The place of an integer coordinate: one outside is beyond the border, whatever the address mode.
pub(super) fn whole(coordinate: i32, n: u32) -> Axis {
    let place = u32::try_from(coordinate).ok().filter(|place| *place < n);
    Axis { places: [place; 2], weight: 0 }
}
