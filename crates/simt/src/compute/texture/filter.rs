//! Weights of neighbours, and the weighted sum.

use super::axis::Axis;
use super::tap::{TAPS, Tap};

/// Bits behind the last bit of the largest texel that take part in a sum.
const GUARD: i32 = 4;

/// Up to eight texels that share the weight `total`. It is split along z, then x, then y, and each part rounded to a
/// 256th; what is left belongs to the other side, so that the sum stays.
pub(super) fn spread(total: i32, x: Axis, y: Axis, z: Axis) -> [Tap; TAPS] {
    let mut taps = [Tap::default(); TAPS];
    let behind = (total * z.weight + 127) >> 8;
    for (slice, in_z) in [total - behind, behind].into_iter().enumerate() {
        let right = (in_z * x.weight + 128) >> 8;
        for (column, in_x, half) in [(0, in_z - right, 127), (1, right, 128)] {
            let below = (in_x * y.weight + half) >> 8;
            for (row, weight) in [in_x - below, below].into_iter().enumerate() {
                let place = match (x.places[column], y.places[row], z.places[slice]) {
                    (Some(x), Some(y), Some(z)) => Some([x, y, z]),
                    _ => None,
                };
                let sides = [(column, x), (row, y), (slice, z)];
                let used = sides.iter().all(|(side, axis)| *side == 0 || axis.weight != 0);
                taps[4 * slice + 2 * row + column] = Tap { place, weight, used };
            }
        }
    }
    taps
}

/// The sum of texels with weights, in 256ths. All are aligned to the largest, cut a few bits below its last bit, and
/// added exactly.
pub(super) fn weighted(texels: &[(i32, f32)], bits: i32, smallest: i32) -> f64 {
    if texels.iter().any(|(_, value)| !value.is_finite()) {
        return texels.iter().map(|(weight, value)| f64::from(*weight) * f64::from(*value)).sum();
    }
    let weighty = texels.iter().filter(|(weight, _)| *weight != 0);
    let largest = weighty.map(|(_, value)| exponent(*value)).max().unwrap_or(0).max(smallest);
    // In f64, all of this is exact: 24 + 4 bits of a texel, 8 of a weight, 2 of the number of texels.
    let unit = 2.0_f64.powi(largest - bits - GUARD);
    let cut = |value: f32| (f64::from(value) / unit).trunc();
    texels.iter().map(|(weight, value)| f64::from(*weight) * cut(*value)).sum::<f64>() * unit
}

/// Rounds to the nearest float, halves away from zero.
pub(crate) fn away(value: f64) -> f32 {
    f64::from_bits((value.to_bits() + (1 << 28)) & !((1 << 29) - 1)) as f32
}

/// The exponent of a float's first bit; that of the smallest normal number for subnormals.
fn exponent(value: f32) -> i32 {
    ((value.to_bits() >> 23 & 0xff) as i32).max(1) - 127
}
