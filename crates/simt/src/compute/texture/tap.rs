/// A texel that takes part in a fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tap {
    /// Column, row, and slice or layer; `None` is the border.
    pub place: Option<[u32; 3]>,
    /// Of 256.
    pub weight: i32,
    /// True when it is read; its weight may still be rounded to zero.
    pub used: bool,
}

/// The most texels that one level gives to a fetch.
pub(crate) const TAPS: usize = 8;
