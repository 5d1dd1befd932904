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

/// The sum of texels with weights, in 256ths: aligned to the largest, cut a few bits below its last bit, added exactly.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(weight: i32) -> Axis {
        Axis { places: [Some(0), Some(1)], weight }
    }

    #[test]
    fn weights_of_all_fractions_sum_to_256() {
        for x in (0..256).step_by(5) {
            for y in (0..256).step_by(3) {
                for z in [0, 77, 128] {
                    let taps = spread(256, axis(x), axis(y), axis(z));
                    assert_eq!(taps.iter().map(|tap| tap.weight).sum::<i32>(), 256, "{x} {y} {z}");
                    assert!(
                        taps.iter().all(|tap| tap.weight >= 0 && (tap.used || tap.weight == 0))
                    );
                }
            }
        }
    }

    #[test]
    fn a_tie_goes_to_the_far_corner_and_to_the_near_one() {
        let weights = spread(256, axis(1), axis(128), Axis::at(0)).map(|tap| tap.weight);
        assert_eq!(weights[..4], [128, 0, 127, 1]);
    }

    #[test]
    fn a_sum_is_cut_four_bits_below_the_largest_and_rounded_away() {
        let sum = |texels: &[(i32, f32)]| away(weighted(texels, 23, -126) / 256.0);
        assert_eq!(sum(&[(64, 4.0), (192, 8.0)]), 7.0);
        assert_eq!(sum(&[(255, 0.116_191_596), (1, 55.313_267)]).to_bits(), 0x3ea9_e257);
        // Half a unit in the last place of the result.
        let tie = sum(&[(128, 1.0), (128, 1.0 + f32::EPSILON)]);
        assert_eq!(tie, 1.0 + f32::EPSILON);
        assert!(sum(&[(1, f32::NAN), (255, 1.0)]).is_nan());
    }
}
