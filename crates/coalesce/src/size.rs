use std::ops::RangeInclusive;

/// A dimension of a size: the meaning of one of its numbers.
#[derive(Debug)]
pub struct Dimension {
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// The thing that it is the number of.
    pub meaning: &'static str,
    /// The kind of its values.
    pub values: Values,
    /// The largest value at which a prediction executes it; that of the pattern's `count_size` when there is none.
    pub predicted_at: Option<usize>,
}

/// The kinds of values of a [`Dimension`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// A length or a distance: no index is larger than the product of all of them.
    Extent {
        /// The smallest that makes sense: 1 for a length, 0 for an offset.
        least: usize,
    },
    /// An amount of something, beside the indices.
    Amount {
        /// The smallest that makes sense.
        least: usize,
    },
    /// A choice: value i stands for the i-th name.
    Choice(&'static [&'static str]),
    /// A number from 0 to 1, counted in so many parts: of 100, value 25 is 0.25.
    Share {
        /// The number of parts in one.
        parts: usize,
    },
}

impl Dimension {
    /// A length or a distance.
    pub const fn extent(name: &'static str, meaning: &'static str, least: usize) -> Dimension {
        Dimension { name, meaning, values: Values::Extent { least }, predicted_at: None }
    }

    /// An amount of something, or a number of repetitions.
    pub const fn amount(name: &'static str, meaning: &'static str, least: usize) -> Dimension {
        Dimension { name, meaning, values: Values::Amount { least }, predicted_at: None }
    }

    /// A choice between several names.
    pub const fn choice(
        name: &'static str,
        meaning: &'static str,
        names: &'static [&'static str],
    ) -> Dimension {
        Dimension { name, meaning, values: Values::Choice(names), predicted_at: None }
    }

    /// A number from 0 to 1.
    pub const fn share(name: &'static str, meaning: &'static str, parts: usize) -> Dimension {
        Dimension { name, meaning, values: Values::Share { parts }, predicted_at: None }
    }

    /// The same dimension, executed up to a larger value for a prediction: where what caches keep shows only then.
    #[must_use]
    pub const fn predicted_at(mut self, most: usize) -> Dimension {
        self.predicted_at = Some(most);
        self
    }

    /// A value as the number that people write.
    pub fn number(&self, value: usize) -> f64 {
        value as f64 / self.parts() as f64
    }

    /// The value of a number that people write, if it has one: 0.25 has none of a length.
    pub fn value(&self, number: f64) -> Option<usize> {
        let value = (number * self.parts() as f64).round();
        // 0.29 x 100 is 28.999999999999996.
        let is_near = (value / self.parts() as f64 - number).abs() < 1e-9;
        (is_near && value >= 0.0).then_some(value as usize)
    }

    /// The number of parts that make one.
    fn parts(&self) -> usize {
        match self.values {
            Values::Share { parts } => parts,
            Values::Extent { .. } | Values::Amount { .. } | Values::Choice(_) => 1,
        }
    }

    /// The smallest and the largest value.
    pub fn range(&self) -> RangeInclusive<usize> {
        match self.values {
            Values::Extent { least } => least..=usize::MAX,
            // Kernels take it as a number of 32 bits.
            Values::Amount { least } => least..=u32::MAX as usize,
            Values::Choice(names) => 0..=names.len() - 1,
            Values::Share { parts } => 0..=parts,
        }
    }

    /// Returns whether it is a factor of the largest index.
    pub fn is_extent(&self) -> bool {
        matches!(self.values, Values::Extent { .. })
    }

    /// The names of its values, if they are choices.
    pub fn names(&self) -> &'static [&'static str] {
        match self.values {
            Values::Choice(names) => names,
            Values::Extent { .. } | Values::Amount { .. } | Values::Share { .. } => &[],
        }
    }
}

/// A curve: one dimension varies, the others stay as in `bench_size`.
#[derive(Debug)]
pub struct Sweep {
    /// The index of the dimension.
    pub dimension: usize,
    /// Its values.
    pub values: &'static [usize],
    /// The indices of the variants that are measured.
    pub variants: &'static [usize],
}

/// The numbers that fix a problem, one per [`Dimension`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size(Vec<usize>);

impl Size {
    /// A size from its numbers.
    pub fn new(values: &[usize]) -> Self {
        Self(values.to_vec())
    }

    /// The numbers as an array, to be taken apart by a `let`.
    pub fn get<const N: usize>(&self) -> [usize; N] {
        self.0.as_slice().try_into().expect("a pattern asks for as many numbers as it declares")
    }

    /// All numbers.
    pub fn values(&self) -> &[usize] {
        &self.0
    }

    /// The same size with one number replaced.
    pub fn with(&self, dimension: usize, value: usize) -> Size {
        let mut values = self.0.clone();
        values[dimension] = value;
        Size(values)
    }
}

/// Returns whether a grid may have so many blocks in y: in x it may have 2^31 - 1.
pub fn fits_grid_y(blocks: usize) -> std::result::Result<(), &'static str> {
    if blocks <= 65_535 { Ok(()) } else { Err("its grid would have more than 65535 blocks in y") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_fits_the_number_that_a_kernel_takes() {
        let passes = Dimension::amount("passes", "times each word is read", 1);
        assert_eq!(passes.range(), 1..=u32::MAX as usize);
    }
}
