//! One access of a warp: its lanes and the addresses that they form.

use counters::LANES;

/// One access of a warp: the instruction, the lanes that take part, their addresses, and the bytes of each.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The number of the instruction in its program.
    pub pc: usize,
    /// The lanes that take part, one bit each.
    pub mask: u32,
    /// The address of each lane.
    pub all: &'a [u64; LANES],
    /// The bytes that each lane reaches.
    pub bytes: u32,
    /// The arrangement of the lanes, where the instruction's pattern was observed.
    pub layout: Option<Layout>,
}

/// The order of the addresses of active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All lanes are active, and each begins where the one before ends.
    Contiguous,
    /// Every active lane's address is above that of the active lane before.
    Ascending,
    /// All lanes are active and have one address.
    Uniform,
    /// Any other order.
    Other,
}

/// The facts that a pattern gives of an access.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The order of the lanes' addresses.
    pub shape: Shape,
    /// The distance of the lowest active address from that of the first active lane.
    pub low: i64,
    /// The distance of the highest.
    pub high: i64,
    /// The bits of all distances together.
    pub bits: u64,
    /// The number that tells the patterns of an instruction apart.
    pub generation: u32,
}

impl<'a> Request<'a> {
    /// Returns an access whose pattern was not observed.
    #[inline(always)]
    pub fn new(pc: usize, mask: u32, all: &'a [u64; LANES], bytes: u32) -> Request<'a> {
        Request { pc, mask, all, bytes, layout: None }
    }

    /// Returns the address of the first active lane.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.all[self.mask.trailing_zeros() as usize & 31]
    }

    /// Returns the lowest address, and the bytes from there to the end of the highest, where that is known.
    #[inline(always)]
    pub fn span(&self) -> Option<(u64, u64)> {
        let layout = self.layout?;
        let bytes = layout.high.checked_sub(layout.low)? as u64 + u64::from(self.bytes);
        Some((self.first().wrapping_add_signed(layout.low), bytes))
    }

    /// Returns the part of it that some of its lanes do.
    #[inline(always)]
    pub fn part(self, mask: u32) -> Request<'a> {
        if mask == self.mask { self } else { Request { mask, layout: None, ..self } }
    }

    /// Returns whether every active lane's address is above that of the active lane before.
    #[inline(always)]
    pub fn is_ascending(&self) -> bool {
        match self.layout {
            Some(layout) => matches!(layout.shape, Shape::Contiguous | Shape::Ascending),
            None => is_ascending(self.mask, self.all),
        }
    }

    /// Returns the bytes from the first to the last lane, when all take part and each begins where the one before ends.
    #[inline(always)]
    pub fn row_bytes(&self) -> Option<u64> {
        if let Some(layout) = self.layout {
            return (layout.shape == Shape::Contiguous).then_some(LANES as u64 * self.bytes as u64);
        }
        let mut differs = 0;
        for (lane, address) in self.all.iter().enumerate() {
            let expected = self.all[0].wrapping_add(lane as u64 * self.bytes as u64);
            differs |= address ^ expected;
        }
        (differs == 0 && self.mask == u32::MAX).then_some(LANES as u64 * self.bytes as u64)
    }

    /// Returns whether every active lane is at most `limit` bytes past `base`, and the bits of all active addresses
    /// together.
    #[inline(always)]
    pub fn inside(self, base: u64, limit: u64) -> (bool, u64) {
        let Request { mask, all: addresses, .. } = self;
        if let Some(layout) = self.layout {
            let first = self.first();
            let offset = first.wrapping_sub(base);
            let fits = offset <= limit
                && limit <= i64::MAX as u64
                && (offset as i64).saturating_add(layout.low) >= 0
                && (offset as i64).saturating_add(layout.high) <= limit as i64;
            return (fits, first | layout.bits);
        }
        let (mut bad, mut bits) = (0u64, 0u64);
        for (lane, address) in addresses.iter().enumerate() {
            let active = 0u64.wrapping_sub((mask >> lane & 1) as u64);
            let offset = address.wrapping_sub(base);
            // The top bit is set when the offset is negative, or larger than the limit.
            bad |= (offset | limit.wrapping_sub(offset)) & active;
            bits |= *address & active;
        }
        (bad >> 63 == 0, bits)
    }
}

/// Returns whether every active lane's address is above that of the active lane before.
#[inline(always)]
pub fn is_ascending(mask: u32, all: &[u64; LANES]) -> bool {
    let mut before = None;
    lanes(mask).all(|lane| before.replace(all[lane]).is_none_or(|b| b < all[lane]))
}

/// Returns the numbers of the lanes in a mask, ascending.
#[inline(always)]
pub fn lanes(mask: u32) -> Lanes {
    Lanes(mask)
}

/// The lanes of a mask: see [`lanes`].
#[derive(Clone, Copy, Debug)]
pub struct Lanes(u32);

impl Iterator for Lanes {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let lane = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    }
}
