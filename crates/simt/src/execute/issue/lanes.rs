//! The lanes in a mask.

use crate::registers::LANES;

/// The numbers of the lanes in a mask, ascending.
#[inline(always)]
pub(crate) fn lanes(mask: u32) -> Lanes {
    Lanes(mask)
}

/// See [`lanes`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes(u32);

impl Iterator for Lanes {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let lane = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    }
}
