//! Patterns: the distances between the lanes of an access, remembered by instruction.
//!
//! A loop mostly repeats the pattern of its accesses further on. Whether it does is one comparison
//! for all lanes; what follows from the pattern alone (bounds, counts, which lanes share a line) is
//! then known from the last time.

use crate::cpu::widest;
use crate::registers::LANES;
use races::{Layout, Shape, is_ascending, lanes};

/// Counts of one access: sectors, lines and distinct addresses in global memory; wavefronts, ideal
/// wavefronts and nothing in shared memory.
pub(crate) type Counts = (u32, u32, u32);

/// The rest that the counts of aligned words of shared memory depend on.
pub(crate) const WORDS: u32 = 256;

/// Pieces of a warp's access that are moved at once, where their lanes lie side by side or want the same.
pub(crate) const QUARTERS: usize = 4;
/// Lanes of such a piece.
pub(crate) const QUARTER: usize = LANES / QUARTERS;

/// The pattern of an instruction's last access, and its counts.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// No lanes when there is none, or when distances are too large to be remembered.
    mask: u32,
    distances: [i32; LANES],
    /// All bits of lanes that are active.
    active: [i32; LANES],
    layout: Layout,
    /// The shape of each 8 lanes: contiguous, uniform, or other, which nobody has to look for.
    pub quarters: [Shape; QUARTERS],
    /// The rest that the counts depend on; `u32::MAX` when there are none.
    phase: u32,
    counts: Counts,
}

impl Default for Pattern {
    fn default() -> Pattern {
        let layout = Layout { shape: Shape::Other, low: 0, high: 0, bits: 0, generation: 0 };
        Pattern {
            mask: 0,
            distances: [0; LANES],
            active: [0; LANES],
            layout,
            quarters: [Shape::Other; QUARTERS],
            phase: u32::MAX,
            counts: (0, 0, 0),
        }
    }
}

impl Pattern {
    /// Returns what is known of an access of `bytes` per lane; at least one lane is active.
    #[inline(always)]
    pub fn observe(&mut self, mask: u32, all: &[u64; LANES], bytes: u32) -> Layout {
        let first = all[mask.trailing_zeros() as usize & 31];
        let mut differs = 0;
        if mask == u32::MAX {
            for (address, before) in all.iter().zip(&self.distances) {
                differs |= address.wrapping_sub(first) as i64 ^ i64::from(*before);
            }
        } else {
            for ((address, before), active) in all.iter().zip(&self.distances).zip(&self.active) {
                let distance = address.wrapping_sub(first) as i64;
                differs |= (distance ^ i64::from(*before)) & i64::from(*active);
            }
        }
        if differs != 0 || self.mask != mask {
            self.learn(mask, all, bytes);
        }
        self.layout
    }

    /// [`Pattern::observe`] of addresses of 32 bits, which are the words of `row` plus one offset.
    ///
    /// Their distances are compared modulo 2^32. Equal ones are equal without the modulus, too, when the lowest and the
    /// highest address that they lead to have 32 bits.
    #[inline(always)]
    pub fn observe_words(
        &mut self,
        mask: u32,
        row: &[u32; LANES],
        all: &[u64; LANES],
        bytes: u32,
    ) -> Layout {
        let lane = mask.trailing_zeros() as usize & 31;
        let first = row[lane];
        let mut differs = 0;
        for ((word, before), active) in row.iter().zip(&self.distances).zip(&self.active) {
            differs |= (word.wrapping_sub(first) as i32 ^ *before) & *active;
        }
        let has_32_bits = |distance: i64| all[lane].wrapping_add_signed(distance) >> 32 == 0;
        let Layout { low, high, .. } = self.layout;
        if differs != 0 || self.mask != mask || !has_32_bits(low) || !has_32_bits(high) {
            let layout = self.observe(mask, all, bytes);
            if mask == u32::MAX {
                self.quarters = quarters(all, bytes);
            }
            return layout;
        }
        self.layout
    }

    /// Returns the address of the first lane and the counts, if `row` plus an offset is this pattern further on. All lanes take
    /// part, with words between two addresses; where nobody counts, counts may be unknown.
    #[inline(always)]
    pub fn again(
        &self,
        row: &[u32; LANES],
        offset: u32,
        (start, end): (u32, u32),
        counting: bool,
    ) -> Option<(u32, Counts)> {
        let mut differs = 0;
        for (word, before) in row.iter().zip(&self.distances) {
            differs |= word.wrapping_sub(row[0]) as i32 ^ *before;
        }
        let first = row[0].wrapping_add(offset);
        let Layout { low, high, bits, .. } = self.layout;
        let from = i64::from(first);
        let is_inside = from + low >= i64::from(start) && from + high + 4 <= i64::from(end);
        let is_aligned = (u64::from(first) | bits) & 3 == 0;
        let is_known = self.mask == u32::MAX && (self.phase == WORDS || !counting);
        (differs == 0 && is_inside && is_aligned && is_known).then_some((first, self.counts))
    }

    /// Returns what follows from it.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns how far each lane is from the first.
    pub fn distances(&self) -> &[i32; LANES] {
        &self.distances
    }

    #[inline(never)]
    fn learn(&mut self, mask: u32, all: &[u64; LANES], bytes: u32) {
        widest!(
            crate::cpu::has_wide(),
            self.learn_wide(mask, all, bytes),
            self.learn_any(mask, all, bytes)
        );
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi2,popcnt,lzcnt")]
    fn learn_wide(&mut self, mask: u32, all: &[u64; LANES], bytes: u32) {
        self.learn_any(mask, all, bytes);
    }

    #[inline(always)]
    fn learn_any(&mut self, mask: u32, all: &[u64; LANES], bytes: u32) {
        let first = all[mask.trailing_zeros() as usize & 31];
        let mut bits = 0;
        let mut far = 0;
        for (lane, address) in all.iter().enumerate() {
            let active = -i64::from(mask >> lane & 1);
            let distance = address.wrapping_sub(first) as i64 & active;
            // A distance must fit 32 bits to be told apart by them.
            far |= distance.wrapping_add(1 << 31) >> 32;
            bits |= distance as u64;
            self.distances[lane] = distance as i32;
            self.active[lane] = active as i32;
        }
        let (mut low, mut high) = (0, 0);
        if far == 0 {
            let (mut least, mut most) = (0, 0);
            for distance in self.distances {
                least = distance.min(least);
                most = distance.max(most);
            }
            (low, high) = (i64::from(least), i64::from(most));
        } else {
            for lane in lanes(mask) {
                let distance = all[lane].wrapping_sub(first) as i64;
                (low, high) = (distance.min(low), distance.max(high));
            }
        }
        let shape = self.shape(mask, all, (bits, bytes));
        self.quarters = match shape {
            Shape::Contiguous | Shape::Uniform => [shape; QUARTERS],
            Shape::Ascending | Shape::Other => [Shape::Other; QUARTERS],
        };
        self.mask = if far == 0 { mask } else { 0 };
        let generation = self.layout.generation.wrapping_add(1);
        self.layout = Layout { shape, low, high, bits, generation };
        self.phase = u32::MAX;
    }

    #[inline(always)]
    fn shape(&self, mask: u32, all: &[u64; LANES], (bits, bytes): (u64, u32)) -> Shape {
        if mask != u32::MAX {
            return if is_ascending(mask, all) { Shape::Ascending } else { Shape::Other };
        }
        if bits == 0 {
            return Shape::Uniform;
        }
        let (mut no_row, mut falls) = (0, 0);
        for lane in 1..LANES {
            let step = all[lane].wrapping_sub(all[lane - 1]);
            no_row |= step ^ u64::from(bytes);
            falls |= u64::from(all[lane] <= all[lane - 1]);
        }
        if no_row == 0 {
            Shape::Contiguous
        } else if falls == 0 {
            Shape::Ascending
        } else {
            Shape::Other
        }
    }

    /// The counts of this pattern at this phase, computed if they are not remembered.
    #[inline(always)]
    pub fn counts(&mut self, phase: u32, compute: impl FnOnce() -> Counts) -> Counts {
        if self.phase != phase {
            self.counts = compute();
            self.phase = phase;
        }
        self.counts
    }
}

/// The shape of each 8 lanes of an access by all lanes.
#[inline(never)]
fn quarters(all: &[u64; LANES], bytes: u32) -> [Shape; QUARTERS] {
    std::array::from_fn(|quarter| {
        let part = &all[quarter * QUARTER..][..QUARTER];
        let (mut no_row, mut differs) = (0, 0);
        for (lane, address) in part.iter().enumerate() {
            let distance = address.wrapping_sub(part[0]);
            no_row |= distance ^ (lane as u64 * u64::from(bytes));
            differs |= distance;
        }
        match (no_row, differs) {
            (0, _) => Shape::Contiguous,
            (_, 0) => Shape::Uniform,
            _ => Shape::Other,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Shape, WORDS};
    use crate::registers::LANES;

    fn addresses(f: impl Fn(u64) -> u64) -> [u64; LANES] {
        std::array::from_fn(|lane| f(lane as u64))
    }

    #[test]
    fn a_pattern_further_on_is_the_same_pattern() {
        let mut pattern = Pattern::default();
        let before = pattern.observe(u32::MAX, &addresses(|lane| 4096 + 4 * lane), 4);
        assert_eq!((before.shape, before.low, before.high), (Shape::Contiguous, 0, 124));
        assert_eq!(pattern.counts(0, || (1, 2, 3)), (1, 2, 3));
        let after = pattern.observe(u32::MAX, &addresses(|lane| 40 + 4 * lane), 4);
        assert_eq!(after.generation, before.generation);
        assert_eq!(pattern.counts(0, || (4, 5, 6)), (1, 2, 3));
        assert_eq!(pattern.counts(1, || (4, 5, 6)), (4, 5, 6));
    }

    /// Other lanes, one other address, and addresses that differ only far above.
    #[test]
    fn what_differs_is_another_pattern() {
        let mut pattern = Pattern::default();
        let row = addresses(|lane| 4096 + 4 * lane);
        let mut other = row;
        other[31] += 4;
        let mut far = row;
        far[31] += 1 << 32;
        let mut generations = vec![pattern.observe(u32::MAX, &row, 4).generation];
        for (mask, all) in
            [(u32::MAX, &other), (1, &row), (u32::MAX, &far), (u32::MAX, &row), (u32::MAX, &far)]
        {
            let layout = pattern.observe(mask, all, 4);
            assert!(!generations.contains(&layout.generation));
            generations.push(layout.generation);
        }
        assert_eq!(pattern.observe(u32::MAX, &far, 4).high, 124 + (1 << 32));
    }

    /// The content of an inactive lane says nothing.
    #[test]
    fn inactive_lanes_do_not_matter() {
        let mut pattern = Pattern::default();
        let all = addresses(|lane| if lane == 3 { u64::MAX } else { 4096 - 8 * lane });
        let layout = pattern.observe(!8, &all, 8);
        assert_eq!((layout.low, layout.high, layout.bits & 7), (-248, 0, 0));
        assert_eq!(layout.shape, Shape::Other);
        let ascending = pattern.observe(0b110, &addresses(|lane| lane * 100), 4);
        assert_eq!(ascending.shape, Shape::Ascending);
        assert_eq!(pattern.observe(u32::MAX, &[64; LANES], 4).shape, Shape::Uniform);
    }

    /// Each 8 lanes have a shape of their own, when all lanes are active.
    #[test]
    fn quarters_are_told_apart() {
        use Shape::{Contiguous, Other, Uniform};
        let mut pattern = Pattern::default();
        let mut quarters = |mask, all: &[u64; LANES]| {
            pattern.observe_words(mask, &all.map(|address| address as u32), all, 4);
            pattern.quarters
        };
        let mut mixed = addresses(|lane| match lane / 8 {
            0 => 64 + 4 * lane,
            1 => 8,
            2 => 8 * lane,
            _ => 4 * lane,
        });
        assert_eq!(quarters(u32::MAX, &mixed), [Contiguous, Uniform, Other, Contiguous]);
        assert_eq!(quarters(!1, &mixed), [Other; 4]);
        mixed[31] += 4;
        mixed[8] += 4;
        assert_eq!(quarters(u32::MAX, &mixed), [Contiguous, Other, Other, Other]);
        assert_eq!(quarters(u32::MAX, &addresses(|lane| 4 * lane)), [Contiguous; 4]);
        assert_eq!(quarters(u32::MAX, &[8; LANES]), [Uniform; 4]);
    }

    /// A row is known again where its words lie inside, aligned and counted.
    #[test]
    fn a_row_is_known_again_where_nothing_is_left_to_check() {
        let row = |start: u32| -> [u32; LANES] {
            std::array::from_fn(|lane| start.wrapping_add(4 * (31 - lane as u32)))
        };
        let mut pattern = Pattern::default();
        let all = row(128).map(u64::from);
        assert_eq!(pattern.again(&row(128), 0, (0, 4096), false), None);
        pattern.observe_words(u32::MAX, &row(128), &all, 4);
        assert_eq!(pattern.again(&row(128), 0, (0, 4096), true), None, "its counts are not known");
        assert_eq!(pattern.again(&row(128), 0, (0, 4096), false), Some((252, (0, 0, 0))));
        pattern.counts(WORDS, || (1, 2, 3));
        let again = |start, offset| {
            pattern.again(&row(start), offset, (0, 4096), true).map(|(first, _)| first)
        };
        assert_eq!(again(128, 0), Some(252));
        assert_eq!(again(0, 4096 - 128), Some(4092));
        assert_eq!(again(0, 4096 - 124), None, "past the end");
        assert_eq!(again((-4_i32) as u32, 0), None, "before the beginning");
        assert_eq!(again((-4_i32) as u32, 4), Some(124));
        assert_eq!(again(2, 0), None, "not aligned");
        let within = |bounds| pattern.again(&row(128), 0, bounds, true).is_some();
        assert!(within((128, 256)) && !within((132, 256)) && !within((128, 252)), "an array");
        let mut other = row(128);
        other[31] += 4;
        assert_eq!(pattern.again(&other, 0, (0, 4096), true), None);
        pattern.observe_words(!1, &row(128), &all, 4);
        assert_eq!(pattern.again(&row(128), 0, (0, 4096), false), None, "of some lanes");
    }

    /// Words are the same pattern further on, until a lane wraps around.
    #[test]
    fn words_that_wrap_around_are_another_pattern() {
        let mut pattern = Pattern::default();
        let mut observe = |start: u32, mask| {
            let row: [u32; LANES] = std::array::from_fn(|lane| start.wrapping_add(4 * lane as u32));
            let all = row.map(|word| u64::from(word.wrapping_add(8)));
            let layout = pattern.observe_words(mask, &row, &all, 4);
            let mut other = Pattern::default();
            let expected = other.observe(mask, &all, 4);
            assert_eq!((layout.low, layout.high), (expected.low, expected.high));
            assert_eq!((layout.shape, layout.bits), (expected.shape, expected.bits));
            layout.generation
        };
        let before = observe(0, u32::MAX);
        for start in [4096, 124, (-136_i32) as u32, (-8_i32) as u32] {
            assert_eq!(observe(start, u32::MAX), before);
        }
        assert_ne!(observe((-120_i32) as u32, u32::MAX), before);
        assert_ne!(observe((-16_i32) as u32, u32::MAX), before);
        assert_ne!(observe(0, 0xff), observe(0, 0xfe));
    }
}
