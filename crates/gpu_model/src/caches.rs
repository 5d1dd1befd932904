//! The L1 caches of the estimate, and stores on their way to L2; how far an access has to go.
//!
//! The blocks take turns at two L1 caches: on a device, neighbours seldom share one, and blocks that come later do. What
//! a block alone reads has the block's share of L1. A line that many blocks have asked for is everybody's: all that run
//! on a multiprocessor read the same copy, so it has the whole of L1. For such lines the blocks take turns at more caches,
//! so that one does not find what its neighbour, on another multiprocessor, has just read.

use crate::hash::spread;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Caches for lines that many blocks have asked for: a number that divides no grid's width, so that the blocks of a column do
/// not always meet in one.
const CACHES: usize = 11;
/// Lines of one store that the next store can join on its way to L2. On an H200 four stores of a warp that fill four lines
/// together take no longer than one (`coarsening/consecutive_4` in `results/nvidia-h200/reference.json`), and each of eight
/// that fill eight lines takes as long as one (`consecutive_8`).
const MERGED_LINES: usize = 4;

/// Hashes addresses, which nobody chooses to collide, with one multiplication.
#[derive(Default)]
pub struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        // The table takes its index from the low bits, the product has its best bits on top.
        self.0.rotate_left(32)
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only addresses are hashed");
    }

    fn write_u64(&mut self, address: u64) {
        self.0 = spread(address);
    }
}

/// By line, page or sector.
pub type ByAddress<T> = HashMap<u64, T, BuildHasherDefault<AddressHasher>>;

/// The farthest memory that an access had to reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// No farther than L1.
    #[default]
    L1,
    L2,
    /// L2 with what a copy over the bus left, which half of the multiprocessors reach across the other half of L2.
    FarL2,
    Memory,
    /// Memory of the host.
    Host,
    /// Memory of another device.
    Peer,
}

/// Lines, from oldest to youngest, with a bit for each sector that is there.
#[derive(Debug, Default)]
struct Lines {
    sectors: ByAddress<u8>,
    order: VecDeque<u64>,
}

impl Lines {
    fn has(&self, line: u64, bit: u8) -> bool {
        self.sectors.get(&line).is_some_and(|sectors| sectors & bit != 0)
    }

    /// Adds a sector; the oldest line leaves when there are more than `most`.
    fn add(&mut self, line: u64, bit: u8, most: u32) {
        if let Some(sectors) = self.sectors.get_mut(&line) {
            *sectors |= bit;
            return;
        }
        self.sectors.insert(line, bit);
        self.order.push_back(line);
        if self.order.len() > most as usize
            && let Some(oldest) = self.order.pop_front()
        {
            self.sectors.remove(&oldest);
        }
    }
}

/// The L1 caches.
#[derive(Debug)]
pub struct FirstCache {
    /// The one that the running block has, and the one that the next has.
    own: [Lines; 2],
    everybodys: [Lines; CACHES],
    lines: u32,
    share_lines: u32,
}

impl FirstCache {
    /// Of so many lines, and so many for each resident block.
    pub fn new(lines: u32, share_lines: u32) -> FirstCache {
        FirstCache { own: Default::default(), everybodys: Default::default(), lines, share_lines }
    }

    pub fn start_block(&mut self) {
        self.own.swap(0, 1);
        self.everybodys.rotate_left(1);
    }

    pub fn has(&self, line: u64, bit: u8) -> bool {
        self.own[0].has(line, bit) || self.everybodys[0].has(line, bit)
    }

    /// Forgets a sector that an atomic changes in L2.
    pub fn drop(&mut self, line: u64, bit: u8) {
        for lines in [&mut self.own[0], &mut self.everybodys[0]] {
            if let Some(sectors) = lines.sectors.get_mut(&line) {
                *sectors &= !bit;
            }
        }
    }

    pub fn add(&mut self, line: u64, bit: u8, is_everybodys: bool) {
        if is_everybodys {
            self.everybodys[0].add(line, bit, self.lines);
        } else {
            self.own[0].add(line, bit, self.share_lines);
        }
    }
}

/// Stores on their way from L1 to L2.
#[derive(Debug, Default)]
pub struct Stores {
    /// The lines of the last one, if they were few.
    last: Vec<u64>,
    /// Lines that went on with the store before.
    pub merged: u64,
}

impl Stores {
    /// A store of these lines goes on with the one before if both are of the same few.
    pub fn store(&mut self, stored: impl Iterator<Item = u64>) {
        let mut lines = Vec::with_capacity(MERGED_LINES + 1);
        for line in stored {
            if lines.len() <= MERGED_LINES && !lines.contains(&line) {
                lines.push(line);
            }
        }
        if lines.len() <= MERGED_LINES && lines == self.last {
            self.merged += lines.len() as u64;
        }
        self.last = lines;
    }
}

/// The cycles in which L1 finds the lines of these sectors, in ascending order: it has four banks of tags, each of which
/// looks up one line at a time. First as many as these lines take, then where lines at equal distances are taken to meet in
/// one bank: in a larger array, whose rows are longer, they do.
pub fn tag_cycles(sectors: &[u64]) -> [u64; 2] {
    let (mut banks, mut lines) = ([0; 4], 0);
    let (mut last, mut distance, mut is_even) = (None, None, true);
    for line in sectors.chunk_by(|a, b| a >> 2 == b >> 2).map(|line| line[0] >> 2) {
        banks[(line & 3) as usize] += 1;
        lines += 1;
        let from_last = last.replace(line).map(|last| line - last);
        is_even &= distance.is_none() || distance == from_last;
        distance = from_last;
    }
    let busiest = banks.into_iter().max().unwrap_or(0);
    [busiest, if is_even { lines } else { busiest }]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first sectors of lines.
    fn of_lines(lines: impl IntoIterator<Item = u64>) -> Vec<u64> {
        lines.into_iter().map(|line| 4 * line).collect()
    }

    #[test]
    fn lines_at_equal_distances_meet_and_others_share_the_banks() {
        assert_eq!(tag_cycles(&[8, 9, 10, 11]), [1; 2], "one line");
        let even = of_lines((0..32).map(|line| 3 * line));
        assert_eq!(tag_cycles(&even), [8, 32], "as if rows were longer");
        assert_eq!(tag_cycles(&of_lines([0, 1, 2, 7, 8])), [2; 2], "lines 0 and 8 are in one bank");
        assert_eq!(tag_cycles(&[]), [0; 2]);
    }

    #[test]
    fn a_store_joins_the_one_before_if_both_are_of_the_same_few_lines() {
        let merged = |lines: u64, others: u64| {
            let mut stores = Stores::default();
            for store in 0..4 {
                stores.store((0..32).map(|lane| lane % lines + store * others));
            }
            stores.merged
        };
        assert_eq!(merged(4, 0), 3 * 4);
        assert_eq!(merged(5, 0), 0, "too many lines");
        assert_eq!(merged(4, 1), 0, "other lines");
    }
}
