//! A piecewise quadratic function in fixed point, as hardware evaluates it.

/// One function on one interval: coefficients of equal segments.
pub(super) struct Table {
    /// Bits of the argument within a segment.
    pub(super) bits: u32,
    /// Fraction bits of the coefficients.
    pub(super) fraction: u32,
    pub(super) segments: &'static [(i64, i32, i32)],
}

impl Table {
    /// The value at a 23-bit argument, in units of the coefficients.
    #[inline(always)]
    pub(super) fn at(&self, argument: u32) -> i64 {
        let (c0, c1, c2) = self.segments[(argument >> self.bits) as usize];
        let x = argument & ((1 << self.bits) - 1);
        // The reciprocal's narrower square keeps one column more.
        let cut = if self.bits == 16 { 17 } else { 19 };
        c0 + c1 as i64 * x as i64 + c2 as i64 * square(x, cut)
    }

    /// The value as an integer.
    #[inline(always)]
    pub(super) fn cut(&self, argument: u32) -> u32 {
        (self.at(argument) >> self.fraction) as u32
    }
}

/// `x * x` without the columns below `cut`, in units of the lowest column that is left.
///
/// Bits i and j > i of `x` meet in column i + j + 1, bit i meets itself in column 2i.
#[inline(always)]
fn square(x: u32, cut: u32) -> i64 {
    let mut sum = 0u64;
    for i in 0..17 {
        let least = (cut - 1).saturating_sub(i).max(i + 1);
        let partners = (x as u64 >> least) << least;
        let itself = if 2 * i >= cut { 1u64 << (2 * i) } else { 0 };
        sum += (x as u64 >> i & 1) * ((partners << (i + 1)) + itself);
    }
    (sum >> cut) as i64
}
