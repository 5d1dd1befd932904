//! The estimate of a launch: what it assumes of the device, and what it says.

use crate::hash::spread;
use counters::Counters;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The times that an [`Estimate`] assumes of the device, in cycles of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// From a load or atomic of global memory that leaves the multiprocessor to its result, when many are under way.
    pub global: u32,
    /// The same where L2 has the data.
    pub l2: u32,
    /// Hundredths of cycles from a line that a multiprocessor asks L2 for to the next.
    pub l2_line: u32,
    /// The same of the host's memory.
    pub host: u32,
    /// From a load of constant memory to its result, where a launch reads more of it than the first of its caches holds.
    pub constant: u32,
    /// The same for shared memory, for what L1 has, and for exchange between lanes.
    pub shared: u32,
    /// From one instruction to another that needs its result.
    pub arithmetic: u32,
    /// From a barrier to the next instruction once the last warp has come.
    pub barrier: u32,
    /// As `global`, of another device's memory.
    pub peer: u32,
    /// Blocks that run on the device at once.
    pub blocks_at_once: u32,
    /// Cycles of a microsecond.
    pub cycles_per_us: u32,
    /// Multiprocessors of the device.
    pub multiprocessors: u32,
    /// Lines of 128 bytes that L1 keeps.
    pub l1_lines: u32,
    /// The share of each resident block.
    pub l1_share_lines: u32,
}

/// The second cache of the device, as an [`Estimate`] assumes it.
#[derive(Clone, Debug, PartialEq)]
pub struct L2 {
    /// Its size for memory outside of a window.
    pub bytes: u64,
    /// Addresses that have a part of it to themselves.
    pub window: Option<Window>,
    /// The content of that part when the launch begins.
    pub there: Arc<DramAtoms>,
    /// The content of the rest then, of what was read and written before.
    pub left: Arc<DramAtoms>,
    /// The bytes of these.
    pub left_bytes: u64,
    /// Those of them that a copy over the bus left and no kernel has used since.
    pub copied: Arc<DramAtoms>,
    /// The bytes of different memory that stay there from one launch to the next.
    pub room_bytes: u64,
}

impl Default for L2 {
    /// A cache that loses nothing during a launch.
    fn default() -> L2 {
        let (there, left, copied) = Default::default();
        let (bytes, room_bytes) = (u64::MAX, u64::MAX);
        L2 { bytes, window: None, there, left, left_bytes: 0, copied, room_bytes }
    }
}

/// DramAtoms of 64 bytes of memory: a bit for each of 64 in a page of 4 KiB, by the page's number.
pub type DramAtoms = BTreeMap<u64, u64>;

/// Returns how many bytes of memory these are.
pub fn dram_atom_bytes(pieces: &DramAtoms) -> u64 {
    pieces.values().map(|bits| 64 * u64::from(bits.count_ones())).sum()
}

/// A window of addresses of which a part of the second cache keeps pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The addresses.
    pub range: Range<u64>,
    /// Part of the atoms that is kept, chosen by a hash of their addresses.
    pub ratio: f32,
    /// The size of that part of the cache.
    pub set_aside_bytes: u64,
}

impl Window {
    /// Returns what fits: a little more than is set aside, for the hash does not meet the ratio to the piece.
    pub fn room(&self) -> u64 {
        self.set_aside_bytes + self.set_aside_bytes / 64
    }

    /// Returns whether the piece is one of those that are kept.
    pub fn keeps(&self, piece: u64) -> bool {
        let hash = spread(piece) >> 40;
        self.range.contains(&(piece << 6)) && (hash as f32) < self.ratio * (1u64 << 24) as f32
    }

    /// Those of a page that are kept.
    pub fn kept(&self, page: u64) -> u64 {
        (0..64).filter(|bit| self.keeps(page << 6 | bit)).fold(0, |mask, bit| mask | 1 << bit)
    }
}

/// The memory that is not the device's own, and memory whose pages move.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// Mapped memory of the host.
    pub host: Vec<Range<u64>>,
    /// The same in small pages, which is not among [`Ranges::host`].
    pub host_small_pages: Vec<Range<u64>>,
    /// The memory of each other device.
    pub peers: Vec<Range<u64>>,
    /// Managed memory: the estimate says which of its pages of 64 KiB the launch touched.
    pub managed: Vec<Range<u64>>,
}

/// Model: what a launch waits for, and what its memory traffic comes to behind the caches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The cycles from start to end of each warp if it were alone, summed over warps.
    pub chain_cycles: u64,
    /// Those of the warps whose blocks run at once from the begin on: they bring into L2 what others find there.
    pub first_chain_cycles: u64,
    /// The number of these warps.
    pub first_warps: u64,
    /// Those of the warp that takes longest, with the time that its last store needs to L2.
    pub longest_chain_cycles: u64,
    /// Those of them before a block's first barrier and after its last, without loads of global memory: what a block
    /// does once, however much it works on.
    pub once_cycles: u64,
    /// The sum of the counters of instructions that only run before a block's first barrier or after its last, and load no
    /// global memory there.
    pub once: Counters,
    /// Sectors of loads from near memory that L1 did not have.
    pub l1_missed_sectors: u64,
    /// Lines of loads of which L1 lacked a sector, each a request to L2.
    pub l1_missed_lines: u64,
    /// Lines of stores that went to L2 with the store before, which was to the same lines.
    pub merged_store_lines: u64,
    /// Cycles in which schedulers issue the instructions of the assembler, summed.
    pub issue_cycles: u64,
    /// Cycles in which the pipe is busy that is busy longest, summed over schedulers.
    pub pipe_cycles: u64,
    /// Groups of lanes beyond the first in which warps sum up (`redux`), which the hardware does one after another.
    pub further_groups: u64,
    /// Cycles in which L1 finds the lines of loads of global memory.
    pub tag_cycles: u64,
    /// Cycles of L1 for sums of floats in shared memory, which are tried again for each lane of a number.
    pub retry_cycles: u64,
    /// Part of the 64-byte atoms of device memory that had to open a page of 4 KiB: others of the page were not
    /// requested shortly before.
    pub row_miss_ratio: f64,
    /// The time of the busiest part of L2 on atomics, in hundredths of the time that an atomic of one lane takes where all
    /// meet at one address. A compare-and-swap that is repeated until it succeeds is tried once by each thread that runs at
    /// once and wants the same address: one of them succeeds, and the others try again.
    pub atomics_queue: u64,
    /// Nanoseconds that the driver's functions take which threads call, one call after another.
    pub calls_ns: u64,
    /// Nanoseconds of the lines that other warps print than the one that prints most.
    pub other_lines_ns: u64,
    /// Requests of loads from global memory that polls repeated, or that a wait for a clock did.
    pub requests_in_vain: u64,
    /// Lines of compare-and-swaps in near memory, summed over requests.
    pub swapped_lines: u64,
    /// The times that a warp runs the instruction that is run most often, in the mean.
    pub turns: f64,
    /// The work of the busiest multiprocessor; none where the executor's order of blocks decides who does it: blocks take
    /// numbers from a queue, or wait for others.
    pub busiest: InsideWork,
    /// Lanes of atomics on the shared memory of other blocks.
    pub cluster_atomics: u64,
    /// Distinct sectors of near memory that atomics changed.
    pub atomic_sectors: u64,
    /// Bytes that L2 asked of memory, in the pieces of 64 bytes that memory hands out.
    pub dram_read_bytes: u64,
    /// Those of them that L2 had asked for before and lost.
    pub refetched_bytes: u64,
    /// Sectors of which every byte was written.
    pub dram_whole_sectors_written: u64,
    /// Sectors of which some bytes were written: memory has to read the others.
    pub dram_partial_sectors_written: u64,
    /// The traffic to and from host memory.
    pub host: LinkTraffic,
    /// The same of far memory that has small pages.
    pub host_small_pages: LinkTraffic,
    /// The traffic to and from the memory of each other device, in the order of [`Ranges::peers`].
    pub peers: Vec<LinkTraffic>,
    /// DramAtoms of the window that were read and are kept.
    pub persisting_lines: DramAtoms,
    /// The atoms read or written, if the second cache has room for all of them. Otherwise the next launch finds nothing that it
    /// asks for in the same order: what it needs next is always what has just left.
    pub residual_lines: Option<DramAtoms>,
    /// Granules of [`Ranges::managed`] that were touched, by their address / 64 KiB, and
    /// whether they were written. What far memory holds is not among them.
    pub touched_pages: BTreeMap<u64, bool>,
}

/// Work inside of a multiprocessor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsideWork {
    /// Cycles in which schedulers issue instructions, summed.
    pub issue_cycles: u64,
    /// Cycles of L1 and shared memory.
    pub l1_cycles: u64,
    /// Lines that L2 is asked for.
    pub l2_lines: u64,
}

impl InsideWork {
    /// Returns this and the other.
    pub fn and(self, other: InsideWork) -> InsideWork {
        self.by(other, |a, b| a + b)
    }

    /// Returns the larger of each kind of both.
    pub fn or(self, other: InsideWork) -> InsideWork {
        self.by(other, u64::max)
    }

    fn by(self, other: InsideWork, of: impl Fn(u64, u64) -> u64) -> InsideWork {
        InsideWork {
            issue_cycles: of(self.issue_cycles, other.issue_cycles),
            l1_cycles: of(self.l1_cycles, other.l1_cycles),
            l2_lines: of(self.l2_lines, other.l2_lines),
        }
    }
}

/// The traffic of a launch over a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTraffic {
    /// Sectors of loads that the block's own L1 did not have; nothing else keeps them.
    pub sectors_read: u64,
    /// Lines with such sectors, summed over requests: each is a request to the link.
    pub lines_read: u64,
    /// Sectors that each store or atomic reached for, summed over requests.
    pub sectors_written: u64,
    /// The lines with such sectors, summed over requests.
    pub lines_written: u64,
    /// Lanes of atomics, which are among what is written.
    pub atomics: u64,
}
