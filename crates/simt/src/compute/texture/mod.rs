//! The arithmetic of a fetch: from coordinates to texels with weights, and from texels to the result.
//!
//! The rules are those of an H200, found by `crates/simt/tests/texture/sweep.cu`; nothing here reads memory.

mod axis;
mod cube;
mod filter;
mod level;
mod tap;
mod texel;

use filter::weighted;
pub(crate) use level::Detail;
pub(crate) use tap::{TAPS, Tap};
pub(crate) use texel::decode;

use crate::texture::{Format, Image, Sampler, Shape};
use axis::{Axis, axis};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// x, y and z, or a direction; integers where `whole`.
    pub at: [u32; 3],
    /// The coordinates are integers: texels.
    pub whole: bool,
    /// A level is named: integer coordinates outside then find the edge.
    pub levelled: bool,
    pub layer: u32,
}

/// The texels that a fetch reads, of one level or of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint {
    pub levels: [usize; 2],
    /// Of 256, for each level.
    parts: [i32; 2],
    /// The taps of the first level, then those of the second.
    pub taps: [Tap; 2 * TAPS],
}

impl Footprint {
    /// Four texels of the finest level.
    pub fn of(four: [Tap; 4]) -> Footprint {
        let mut taps = [Tap::default(); 2 * TAPS];
        taps[..4].copy_from_slice(&four);
        Footprint { levels: [0; 2], parts: [256, 0], taps }
    }
}

/// The texels that a fetch reads; none where it names no level.
pub(crate) fn footprint(
    image: &Image,
    sampler: &Sampler,
    point: &Point,
    detail: Detail,
) -> Option<Footprint> {
    let (levels, weight) = level::levels(image, sampler, detail)?;
    let parts = [256 - weight, weight];
    let mut taps = [Tap::default(); 2 * TAPS];
    for (k, of_level) in taps.chunks_mut(TAPS).enumerate().take(if weight == 0 { 1 } else { 2 }) {
        let (x, y, z) = axes(image, sampler, levels[k], point);
        of_level.copy_from_slice(&filter::spread(parts[k], x, y, z));
    }
    Some(Footprint { levels, parts, taps })
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
        Tap { place, weight: 256, used: true }
    })
}

fn axes(image: &Image, sampler: &Sampler, level: usize, point: &Point) -> (Axis, Axis, Axis) {
    let [width, height, depth] = image.extent(level);
    let one = |n: u32, k: usize, bits: u32| {
        if point.whole && point.levelled {
            Axis::at((bits as i32).clamp(0, n as i32 - 1) as u32)
        } else if point.whole {
            axis::whole(bits as i32, n)
        } else {
            axis(f32::from_bits(bits), n, sampler.address[k], sampler)
        }
    };
    let layers = if image.shape == Shape::Cubes { depth / 6 } else { depth };
    let layer = if point.whole {
        axis::whole(point.layer as i32, layers)
    } else {
        Axis::at(point.layer.min(layers - 1))
    };
    let [x, y, z] = point.at;
    match image.shape {
        Shape::Cube | Shape::Cubes => {
            let (face, x, y) = cube::face(point.at.map(f32::from_bits));
            let first =
                if image.shape == Shape::Cubes { 6 * point.layer.min(layers - 1) } else { 0 };
            let on_face = |c, k: usize| axis::on_face(c, width, sampler.address[k], sampler.linear);
            (on_face(x, 0), on_face(y, 1), Axis::at(first + face))
        }
        Shape::Buffer => (axis::whole(x as i32, width), Axis::at(0), Axis::at(0)),
        // The hardware's lines are planes of one row, read at its upper edge.
        Shape::Line if !point.whole => (one(width, 0, x), one(height, 1, 0), Axis::at(0)),
        // Integer coordinates are for plain memory; an array gives zeros.
        Shape::Line => (axis::whole(-1, width), Axis::at(0), Axis::at(0)),
        Shape::Plane => (one(width, 0, x), one(height, 1, y), Axis::at(0)),
        Shape::Volume => (one(width, 0, x), one(height, 1, y), one(depth, 2, z)),
        Shape::Lines => (one(width, 0, x), Axis::at(0), layer),
        Shape::Planes => (one(width, 0, x), one(height, 1, y), layer),
    }
}

/// Returns what lies beyond the border, as bytes of a texel: the colour in the image's format. Integers keep the low bits of the
/// colour, and integer coordinates find only zeros.
pub(crate) fn border(image: &Image, sampler: &Sampler, whole: bool) -> [u8; 16] {
    let mut bytes = [0; 16];
    if !whole {
        let size = image.format.bytes() as usize;
        let channels = bytes.chunks_exact_mut(size).take(image.channels as usize);
        for (channel, bits) in channels.zip(sampler.border) {
            let stored = texel::encode(image.format, sampler.to_float, bits).to_le_bytes();
            channel.copy_from_slice(&stored[..size]);
        }
    }
    bytes
}

/// The result of a fetch; `texel` gives the bytes of a tap, by its place in the footprint.
pub(crate) fn combine(
    image: &Image,
    sampler: &Sampler,
    footprint: &Footprint,
    texel: impl Fn(usize) -> [u8; 16],
) -> [u32; 4] {
    if !sampler.linear && footprint.parts[1] == 0 {
        return decode(image, sampler.to_float, texel(0));
    }
    // Texels of a half have 11 bits, and none is below its smallest number.
    let (bits, smallest) = if image.format == Format::Half { (10, -14) } else { (23, -126) };
    let mut sums = [0.0; 4];
    for first in (0..2 * TAPS).step_by(4) {
        let mut texels = [(0, [0.0; 4]); 4];
        let mut count = 0;
        for slot in first..first + 4 {
            let tap = footprint.taps[slot];
            if tap.used {
                texels[count] = (tap.weight, texel::widen(image, texel(slot)));
                count += 1;
            }
        }
        if let ([(256, _)], true) = (&texels[..count], image.format.is_float()) {
            let slot = (first..first + 4).find(|slot| footprint.taps[*slot].used).unwrap_or(first);
            return decode(image, false, texel(slot)).map(|bits| texel::canonical(image, bits));
        }
        for (channel, sum) in sums.iter_mut().enumerate().take(image.channels as usize) {
            let values = texels.map(|(weight, texel)| (weight, texel[channel]));
            *sum += weighted(&values[..count], bits, smallest) / 256.0;
        }
    }
    sums.map(|sum| texel::canonical(image, texel::narrow(image, sum).to_bits()))
}
