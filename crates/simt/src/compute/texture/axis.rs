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
    let mode = match mode {
        AddressMode::Wrap | AddressMode::Mirror if !sampler.normalized => AddressMode::Clamp,
        mode => mode,
    };
    let coordinate = if coordinate.is_subnormal() { 0.0 } else { f64::from(coordinate) };
    neighbours(coordinate, n, mode, sampler.normalized, sampler.linear)
}

/// The neighbours on a face of a cube map, whose coordinates go from 0 to 1 whatever the sampler says.
pub(super) fn on_face(coordinate: f64, n: u32, mode: AddressMode, linear: bool) -> Axis {
    neighbours(coordinate, n, mode, true, linear)
}

fn neighbours(coordinate: f64, n: u32, mode: AddressMode, normalized: bool, linear: bool) -> Axis {
    let cut = (coordinate * ONE).floor();
    let extent = i64::from(n);
    // A remainder of infinity is NaN, which becomes zero.
    let position = match mode {
        AddressMode::Wrap => cut.rem_euclid(ONE) as i64 * extent,
        AddressMode::Mirror => cut.rem_euclid(2.0 * ONE) as i64 * extent,
        _ if normalized => cut.clamp(-FAR, FAR) as i64 * extent,
        _ => cut.clamp(-FAR, FAR) as i64,
    };
    let place = |index: i64| match mode {
        AddressMode::Wrap => Some(index.rem_euclid(extent) as u32),
        AddressMode::Mirror => {
            let index = index.rem_euclid(2 * extent);
            Some(index.min(2 * extent - 1 - index) as u32)
        }
        AddressMode::Clamp => Some(index.clamp(0, extent - 1) as u32),
        AddressMode::Border => (0..extent).contains(&index).then_some(index as u32),
    };
    if !linear {
        return Axis { places: [place(position >> FRACTION); 2], weight: 0 };
    }
    let steps = (((position >> (FRACTION - 9)) + 1) >> 1) - 128;
    let places = [place(steps >> 8), place((steps >> 8) + 1)];
    // At a clamped edge one texel has the whole weight.
    let whole = mode == AddressMode::Clamp && places[0] == places[1];
    Axis { places, weight: if whole { 0 } else { (steps & 255) as i32 } }
}

/// The place of an integer coordinate: one outside is beyond the border, whatever the address mode.
pub(super) fn whole(coordinate: i32, n: u32) -> Axis {
    let place = u32::try_from(coordinate).ok().filter(|place| *place < n);
    Axis { places: [place; 2], weight: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(
        coordinate: f64,
        mode: AddressMode,
        normalized: bool,
    ) -> (Option<u32>, Option<u32>, i32) {
        let Axis { places: [low, high], weight } =
            neighbours(coordinate, 4, mode, normalized, true);
        (low, high, weight)
    }

    #[test]
    fn a_weight_is_the_nearest_256th_halves_up() {
        let weight = |fraction: f64| places(1.5 + fraction, AddressMode::Clamp, false).2;
        assert_eq!(
            [0.0, 1.0, 1.49, 1.5, 255.49].map(|steps| weight(steps / 256.0)),
            [0, 1, 1, 2, 255]
        );
        assert_eq!(places(1.5 + 255.5 / 256.0, AddressMode::Clamp, false), (Some(2), Some(3), 0));
    }

    #[test]
    fn each_mode_has_its_neighbours_beyond_the_edge() {
        let wrap = AddressMode::Wrap;
        assert_eq!(places(0.0, wrap, true), (Some(3), Some(0), 128));
        assert_eq!(places(-0.125, wrap, true), (Some(3), Some(0), 0));
        assert_eq!(places(-0.125, AddressMode::Mirror, true), (Some(0), Some(0), 0));
        assert_eq!(places(1.25, AddressMode::Mirror, true).0, Some(3));
        assert_eq!(places(9.0, AddressMode::Clamp, false), (Some(3), Some(3), 0));
        assert_eq!(places(0.25, AddressMode::Border, false), (None, Some(0), 192));
    }

    #[test]
    fn what_is_no_number_has_a_place_too() {
        let infinity = f64::INFINITY;
        assert_eq!(places(f64::NAN, AddressMode::Clamp, false), (Some(0), Some(0), 0));
        assert_eq!(places(infinity, AddressMode::Wrap, true), (Some(3), Some(0), 128));
        assert_eq!(places(-infinity, AddressMode::Border, false).0, None);
        assert_eq!(whole(-1, 4).places, [None; 2]);
        assert_eq!(whole(3, 4).places, [Some(3); 2]);
    }
}
