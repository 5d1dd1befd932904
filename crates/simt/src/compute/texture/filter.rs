//! Weights of neighbours, and the weighted sum.

use super::axis::Axis;
use super::{TAPS, Tap};

/// Bits behind the last bit of the largest texel that take part in a sum.
const GUARD: i32 = 4;

/// Up to eight texels. A weight of two or three axes is rounded to a 256th after each axis (z, then x, then y), and
/// what is left belongs to the other side, so that the sum stays 256.
pub(super) fn spread(x: Axis, y: Axis, z: Axis) -> [Tap; TAPS] {
    let mut taps = [Tap::default(); TAPS];
    for (slice, in_z) in [256 - z.weight, z.weight].into_iter().enumerate() {
        let right = (in_z * x.weight + 128) >> 8;
        for (column, in_x, half) in [(0, in_z - right, 127), (1, right, 128)] {
            let below = (in_x * y.weight + half) >> 8;
            for (row, weight) in [in_x - below, below].into_iter().enumerate() {
                let place = match (x.places[column], y.places[row], z.places[slice]) {
                    (Some(x), Some(y), Some(z)) => Some([x, y, z]),
                    _ => None,
                };
                taps[4 * slice + 2 * row + column] = Tap { place, weight };
            }
        }
    }
    taps
}

/// The sum of texels with weights, in 256ths. All are aligned to the largest, cut a few bits below its last bit, and
/// added exactly.
pub(crate) fn weighted(texels: &[(i32, f32)]) -> f64 {
    let used = texels.iter().filter(|(weight, _)| *weight != 0);
    if used.clone().any(|(_, value)| !value.is_finite()) {
        return used.map(|(weight, value)| f64::from(*weight) * f64::from(*value)).sum();
    }
    let largest = used.clone().map(|(_, value)| exponent(*value)).max().unwrap_or(0);
    // In f64, all of this is exact: 24 + 4 bits of a texel, 8 of a weight, 2 of the number of texels.
    let unit = 2.0_f64.powi(largest - 23 - GUARD);
    let cut = |value: f32| (f64::from(value) / unit).trunc();
    used.map(|(weight, value)| f64::from(*weight) * cut(*value)).sum::<f64>() * unit
}

/// Rounds to the nearest float, halves away from zero.
pub(crate) fn away(value: f64) -> f32 {
    f64::from_bits((value.to_bits() + (1 << 28)) & !((1 << 29) - 1)) as f32
}

/// The exponent of a float's first bit; that of the smallest normal number for subnormals.
fn exponent(value: f32) -> i32 {
    ((value.to_bits() >> 23 & 0xff) as i32).max(1) - 127
}
