//! The distribution of samples: the one place where medians and quartiles are computed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The distribution of a set of samples.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The number of samples.
    pub samples: usize,
    /// The smallest.
    pub min: f64,
    /// A quarter lies below.
    pub q1: f64,
    /// Half lies below.
    pub median: f64,
    /// Three quarters lie below.
    pub q3: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// The distribution of at least one sample.
    pub fn of(samples: &[f64]) -> Spread {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let position = share * (sorted.len() - 1) as f64;
            let (below, above) =
                (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
            below + (above - below) * position.fract()
        };
        Spread {
            samples: sorted.len(),
            min: at(0.0),
            q1: at(0.25),
            median: at(0.5),
            q3: at(0.75),
            max: at(1.0),
        }
    }

    /// The same distribution of samples so many times as long.
    pub fn scaled(&self, factor: f64) -> Spread {
        let Spread { samples, min, q1, median, q3, max } = *self;
        let [min, q1, median, q3, max] = [min, q1, median, q3, max].map(|time| time * factor);
        Spread { samples, min, q1, median, q3, max }
    }

    /// The interquartile range over the median, in percent.
    pub fn noise_percent(&self) -> f64 {
        100.0 * (self.q3 - self.q1) / self.median
    }

    /// Returns whether it can be the distribution of positive samples.
    pub(crate) fn is_sound(&self) -> bool {
        let Spread { samples, min, q1, median, q3, max } = *self;
        samples > 0 && 0.0 < min && min <= q1 && q1 <= median && median <= q3 && q3 <= max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        let spread = Spread::of(&[4.0, 1.0, 2.0, 3.0]);
        assert_eq!(
            (spread.min, spread.q1, spread.median, spread.q3, spread.max),
            (1.0, 1.75, 2.5, 3.25, 4.0)
        );
        assert_eq!(spread.samples, 4);
        let single = Spread::of(&[7.0]);
        assert_eq!((single.q1, single.median, single.noise_percent()), (7.0, 7.0, 0.0));
    }
}
