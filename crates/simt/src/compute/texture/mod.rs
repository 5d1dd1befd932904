//! The arithmetic of a fetch: from coordinates to texels with weights, and from texels to the result.
//!
//! The rules are those of an H200, found by `crates/simt/tests/texture/sweep.cu`; nothing here reads memory.

mod axis;
mod cube;
mod filter;
mod level;
mod texel;

pub(crate) use filter::weighted;
pub(crate) use level::{levels, levels_of_gradients};
pub(crate) use texel::decode;

use crate::texture::{Image, Sampler, Shape};
use axis::{Axis, axis};

/// A texel that takes part in a fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tap {
    /// Column, row, and slice or layer; `None` is the border.
    pub place: Option<[u32; 3]>,
    /// Of 256.
    pub weight: i32,
}

/// Where a lane fetches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// x, y and z, or a direction; integers where `whole`.
    pub at: [u32; 3],
    /// The coordinates are integers: texels.
    pub whole: bool,
    pub layer: u32,
}

/// The most texels that one level gives to a fetch.
pub(crate) const TAPS: usize = 8;

/// The texels of one level that a fetch reads; those beyond the first with weight 0 are none.
pub(crate) fn taps(image: &Image, sampler: &Sampler, level: usize, point: &Point) -> [Tap; TAPS] {
    let (x, y, z) = axes(image, sampler, level, point);
    filter::spread(x, y, z)
}

/// The four texels around a point, in the order of `tld4`: below left, below right, above right, above left.
pub(crate) fn around(image: &Image, sampler: &Sampler, point: &Point) -> [Tap; 4] {
    let sampler = Sampler { linear: true, ..sampler.clone() };
    let (x, y, z) = axes(image, &sampler, 0, point);
    [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(right, below)| {
        let place = match (x.places[right], y.places[below], z.places[0]) {
            (Some(x), Some(y), Some(z)) => Some([x, y, z]),
            _ => None,
        };
        Tap { place, weight: 256 }
    })
}

fn axes(image: &Image, sampler: &Sampler, level: usize, point: &Point) -> (Axis, Axis, Axis) {
    let [width, height, depth] = image.extent(level);
    let one = |n: u32, k: usize, bits: u32| {
        if point.whole {
            axis::whole(bits as i32, n)
        } else {
            axis(f32::from_bits(bits), n, sampler.address[k], sampler)
        }
    };
    let layers = if image.shape == Shape::Cubes { depth / 6 } else { depth };
    let layer = point.layer.min(layers - 1);
    match image.shape {
        Shape::Cube | Shape::Cubes => {
            let (face, x, y) = cube::face(point.at.map(f32::from_bits));
            let layer = if image.shape == Shape::Cubes { 6 * layer } else { 0 };
            let [x, y] = [x, y].map(|c| cube::axis(c, width, sampler));
            (x, y, Axis::at(layer + face))
        }
        _ => {
            let y = if image.shape.is_flat() { 0 } else { point.at[1] };
            let z = match image.shape {
                Shape::Volume => one(depth, 2, point.at[2]),
                shape if shape.is_layered() => Axis::at(layer),
                _ => Axis::at(0),
            };
            (one(width, 0, point.at[0]), one(height, 1, y), z)
        }
    }
}

/// What lies beyond the border.
pub(crate) fn border(image: &Image, sampler: &Sampler) -> [u32; 4] {
    std::array::from_fn(|c| if c < image.channels as usize { sampler.border[c] } else { 0 })
}

/// The result of a fetch from one or two levels; `fetch` gives the channels of a texel of a level.
pub(crate) fn resolve(
    image: &Image,
    sampler: &Sampler,
    point: &Point,
    [near, far]: [usize; 2],
    weight: i32,
    fetch: impl Fn(usize, &Tap) -> [u32; 4],
) -> [u32; 4] {
    let mut texels = [(0, [0; 4]); 2 * TAPS];
    let mut count = 0;
    for (level, part) in [(near, 256 - weight), (far, weight)] {
        for tap in taps(image, sampler, level, point) {
            if tap.weight * part != 0 {
                texels[count] = (tap.weight * part, fetch(level, &tap));
                count += 1;
            }
        }
    }
    let texels = &texels[..count];
    if let [(_, only)] = texels {
        return *only;
    }
    std::array::from_fn(|channel| {
        let mut values = [(0, 0.0); 2 * TAPS];
        for (value, (weight, texel)) in values.iter_mut().zip(texels) {
            *value = (*weight, f32::from_bits(texel[channel]));
        }
        weighted(&values[..count], 16).to_bits()
    })
}
