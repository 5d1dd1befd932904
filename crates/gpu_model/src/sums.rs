//! The time of atomics in L2.

use crate::caches::ByAddress;
use crate::hash::spread;

/// The time for which the lanes of a request keep the 256 bytes busy in which they meet: those of a line take a pass together, and
/// those of one address wait for each other. Measured on an H200: `atomics` over its addresses, and sums of f32 at one
/// address (`reduction`), in `results/nvidia-h200/reference.json`.
const SUM_PASS: u64 = 300;
const SUM_LANE: u64 = 100;
/// Floats wait longer at one address, and those of 64 bits take two passes.
const FLOAT_LANE: u64 = 240;
/// 256 bytes, as a power of two.
const SUMMED_SHIFT: u32 = 8;
/// Parts of L2 over which they are spread without order, each of which does its atomics one after another: with fewer
/// than this many counters the busiest part of an H200 took two to four times the mean.
const L2_PARTS: u64 = 48;

/// The atomics on 256 bytes, which one part of L2 changes one request after another.
#[derive(Clone, Copy, Debug, Default)]
struct Summed {
    /// Their time, in hundredths of the time of a lane that meets others at its address.
    time: u64,
    sectors: u8,
    /// The words of them.
    words: u64,
    lanes: u64,
}

/// The changes by atomics, by 256 bytes.
#[derive(Debug, Default)]
pub struct Sums(ByAddress<Summed>);

impl Sums {
    /// A request of atomics of so many bytes at these addresses.
    pub fn add(&mut self, mut addresses: Vec<u64>, is_float: bool, bytes: u32) {
        let lane_time = if is_float { FLOAT_LANE } else { SUM_LANE };
        let pass_time = if is_float && bytes == 8 { 2 * SUM_PASS } else { SUM_PASS };
        addresses.sort_unstable();
        for line in addresses.chunk_by(|a, b| a >> 7 == b >> 7) {
            let most = line.chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0);
            let summed = self.0.entry(line[0] >> SUMMED_SHIFT).or_default();
            let together = pass_time.min(lane_time * line.len() as u64);
            summed.time += together.max(lane_time * most as u64);
            for address in line {
                summed.sectors |= 1 << (address >> 5 & 7);
                summed.words |= 1 << (address >> 2 & 63);
            }
            summed.lanes += line.len() as u64;
        }
    }

    /// The time in the part of L2 that has most of it. Many counters are spread evenly: then no part has more than others,
    /// and only the busiest 256 bytes count.
    pub fn busiest(&self) -> u64 {
        if self.0.len() as u64 > 16 * L2_PARTS {
            return self.0.values().map(|summed| summed.time).max().unwrap_or(0);
        }
        let mut parts = [0; L2_PARTS as usize];
        // By their distance, so that it does not matter what else a program has allocated.
        let first = self.0.keys().min().copied().unwrap_or(0);
        for (bytes, summed) in &self.0 {
            parts[((spread(*bytes - first + 1) >> 32) % L2_PARTS) as usize] += summed.time;
        }
        parts.into_iter().max().unwrap_or(0)
    }

    /// Returns whether some have changed the sector of an address.
    pub fn have(&self, address: u64) -> bool {
        let summed = self.0.get(&(address >> SUMMED_SHIFT));
        summed.is_some_and(|summed| summed.sectors >> (address >> 5 & 7) & 1 != 0)
    }

    /// Distinct sectors.
    pub fn sectors(&self) -> u64 {
        self.0.values().map(|summed| u64::from(summed.sectors.count_ones())).sum()
    }

    /// Distinct addresses.
    pub fn addresses_changed(&self) -> u64 {
        self.0.values().map(|summed| u64::from(summed.words.count_ones())).sum()
    }

    /// Lanes of all requests.
    pub fn lanes(&self) -> u64 {
        self.0.values().map(|summed| summed.lanes).sum()
    }

    /// Returns the first address of each group of 256 bytes.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.0.keys().map(|bytes| bytes << SUMMED_SHIFT)
    }
}
