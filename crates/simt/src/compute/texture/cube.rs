//! Cube maps: from a direction to a face and a place on it.

use super::axis::{self, Axis};
use crate::texture::{AddressMode, Sampler};

/// The face that a direction points to (+x, -x, +y, -y, +z, -z), and the place on it, each from 0 to 1.
pub(super) fn face([x, y, z]: [f32; 3]) -> (u32, f32, f32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, s, t, major) = if ax >= ay && ax >= az {
        if x >= 0.0 { (0, -z, -y, ax) } else { (1, z, -y, ax) }
    } else if ay >= az {
        if y >= 0.0 { (2, x, z, ay) } else { (3, x, -z, ay) }
    } else if z >= 0.0 {
        (4, x, -y, az)
    } else {
        (5, -x, -y, az)
    };
    (face, (s / major + 1.0) / 2.0, (t / major + 1.0) / 2.0)
}

/// The neighbours on a face, which clamp at its edge.
pub(super) fn axis(coordinate: f32, n: u32, sampler: &Sampler) -> Axis {
    let sampler = Sampler { normalized: true, ..sampler.clone() };
    axis::axis(coordinate, n, AddressMode::Clamp, &sampler)
}
