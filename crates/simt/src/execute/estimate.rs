//! A model of what a launch waits for and of what caches keep from memory.
//!
//! Each warp has a clock of its own: an instruction starts when the registers it reads are there, and
//! its result is there after a latency. Nobody competes for anything, so the clock at a warp's end is
//! the time that it takes on an idle multiprocessor. Each block has an L1 cache of its own, so what it
//! does not find there is what L2 must bring if blocks share nothing by chance.

use super::access::Request;
use super::warp::Warp;
use crate::launch::{Estimate, Latencies};
use crate::program::{Detail, Instruction, Operation, Row, Space};
use crate::registers::LANES;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// What DRAM hands out at once, as a power of two: 64 bytes.
const GRANULE_SHIFT: u32 = 6;

/// When the values of a warp's registers are there, in cycles since its start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    now: u32,
    words: Vec<u32>,
    longs: Vec<u32>,
    predicates: Vec<u32>,
    /// When the asynchronous copies so far have landed.
    copies: u32,
    /// The warp came to a barrier, and goes on when the last has come.
    at_barrier: bool,
}

impl Clocks {
    /// Starts anew for a program with so many rows.
    pub fn reset(&mut self, words: u32, longs: u32, predicates: u32) {
        let rows = [
            (&mut self.words, words),
            (&mut self.longs, longs + 1),
            (&mut self.predicates, predicates),
        ];
        for (row, count) in rows {
            row.clear();
            row.resize(count as usize, 0);
        }
        (self.now, self.copies, self.at_barrier) = (0, 0, false);
    }

    fn ready(&mut self, row: Row) -> &mut u32 {
        match row {
            Row::Word(index) => &mut self.words[index as usize],
            Row::Long(index) => &mut self.longs[index as usize],
            Row::Predicate(index) => &mut self.predicates[index as usize],
        }
    }
}

/// One worker's part of the estimate.
#[derive(Debug)]
pub(crate) struct Estimator {
    latencies: Latencies,
    /// Addresses behind a slower link.
    far: Vec<Range<u64>>,
    /// The L1 cache: sectors by line, and the lines from oldest to youngest.
    lines: HashMap<u64, u8>,
    order: VecDeque<u64>,
    /// Granules read, by 4 KiB page.
    read: HashMap<u64, u64>,
    /// Bytes written, by sector.
    written: HashMap<u64, u32>,
    /// Lanes of atomics by line, those of floats twice: they take about twice as long.
    atomics: HashMap<u64, u64>,
    /// The last load had to leave the multiprocessor.
    missed: bool,
    /// When the last warp came to the barrier of the block that runs.
    barrier: u32,
    /// When the bulk copies of the block that runs have landed.
    bulk: u32,
    l1_misses: u64,
    l1_missed_lines: u64,
    far_read: u64,
    far_written: u64,
    chain_cycles: u64,
}

impl Estimator {
    pub fn new(latencies: Latencies, far: Vec<Range<u64>>) -> Estimator {
        Estimator {
            latencies,
            far,
            lines: HashMap::new(),
            order: VecDeque::new(),
            read: HashMap::new(),
            written: HashMap::new(),
            atomics: HashMap::new(),
            missed: false,
            barrier: 0,
            bulk: 0,
            l1_misses: 0,
            l1_missed_lines: 0,
            far_read: 0,
            far_written: 0,
            chain_cycles: 0,
        }
    }

    fn is_far(&self, address: u64) -> bool {
        self.far.iter().any(|range| range.contains(&address))
    }

    pub fn start_block(&mut self) {
        (self.barrier, self.bulk) = (0, 0);
    }

    pub fn end_warp(&mut self, warp: &Warp) {
        self.chain_cycles += u64::from(warp.clocks.now);
    }

    /// A global load reaches for its sectors; `cached` when L1 may keep them.
    pub fn read(&mut self, request: Request<'_>, cached: bool) {
        let mut sectors = [0u64; LANES];
        let mut count = 0;
        for (lane, address) in request.all.iter().enumerate() {
            let sector = address >> 5;
            if request.mask >> lane & 1 != 0 && (count == 0 || sectors[count - 1] != sector) {
                sectors[count] = sector;
                count += 1;
            }
        }
        let mut missed_line = None;
        for sector in &sectors[..count] {
            let line = Some(sector >> 2);
            let has_missed = self.read_sector(*sector, cached) && !self.is_far(*sector << 5);
            if has_missed && missed_line != line {
                self.l1_missed_lines += 1;
                missed_line = line;
            }
        }
    }

    /// A bulk copy reads whole lines past L1.
    pub fn read_range(&mut self, start: u64, bytes: u64) {
        for sector in start >> 5..(start + bytes).div_ceil(32) {
            self.read_sector(sector, false);
        }
        self.l1_missed_lines += bytes.div_ceil(128);
    }

    /// Whether the sector had to come from beyond L1.
    fn read_sector(&mut self, sector: u64, cached: bool) -> bool {
        let (line, bit) = (sector >> 2, 1u8 << (sector & 3));
        let is_far = self.is_far(sector << 5);
        let kept = self.lines.get_mut(&line);
        if cached && kept.as_ref().is_some_and(|mask| **mask & bit != 0) {
            return false;
        }
        self.missed = true;
        if is_far {
            self.far_read += 1;
        } else {
            self.l1_misses += 1;
            let granule = sector >> (GRANULE_SHIFT - 5);
            *self.read.entry(granule >> 6).or_default() |= 1 << (granule & 63);
        }
        if !cached {
            return true;
        }
        if let Some(mask) = kept {
            *mask |= bit;
            return true;
        }
        self.lines.insert(line, bit);
        self.order.push_back(line);
        if self.order.len() > self.latencies.l1_lines as usize
            && let Some(oldest) = self.order.pop_front()
        {
            self.lines.remove(&oldest);
        }
        true
    }

    /// A global atomic changes its bytes.
    pub fn atomic(&mut self, request: Request<'_>, is_float: bool) {
        for (lane, address) in request.all.iter().enumerate() {
            if request.mask >> lane & 1 != 0 {
                *self.atomics.entry(address >> 7).or_default() += 1 + u64::from(is_float);
            }
        }
        self.write(request);
    }

    /// A global store changes its bytes.
    pub fn write(&mut self, request: Request<'_>) {
        let bits = if request.bytes >= 32 { u32::MAX } else { (1u32 << request.bytes) - 1 };
        let mut far_sector = None;
        for (lane, address) in request.all.iter().enumerate() {
            if request.mask >> lane & 1 == 0 {
                continue;
            }
            if self.is_far(*address) {
                self.far_written +=
                    u64::from(far_sector.replace(address >> 5) != Some(address >> 5));
            } else {
                *self.written.entry(address >> 5).or_default() |= bits << (address & 31);
            }
        }
    }

    /// A bulk copy changes its bytes.
    pub fn write_range(&mut self, start: u64, bytes: u64) {
        let sectors = start >> 5..(start + bytes).div_ceil(32);
        if self.is_far(start) {
            self.far_written += sectors.end - sectors.start;
        } else {
            self.written.extend(sectors.map(|sector| (sector, u32::MAX)));
        }
    }

    /// The warp's clock after an instruction that has just run.
    pub fn advance(&mut self, warp: &mut Warp, instruction: &Instruction, detail: &Detail) {
        let clocks = &mut warp.clocks;
        if std::mem::take(&mut clocks.at_barrier) {
            clocks.now = clocks.now.max(self.barrier);
        }
        let mut start = clocks.now.max(clocks.predicates[instruction.guard as usize]);
        for row in &detail.reads {
            start = start.max(*clocks.ready(*row));
        }
        let latencies = self.latencies;
        let latency = match &instruction.operation {
            Operation::Load(access) => match access.space {
                Space::Global | Space::Generic | Space::Local if self.missed => latencies.global,
                Space::Parameter | Space::Constant => latencies.arithmetic,
                _ => latencies.shared,
            },
            Operation::Atomic(atomic) => {
                if atomic.space == Space::Shared {
                    2 * latencies.shared
                } else {
                    latencies.global
                }
            }
            Operation::Shuffle { .. }
            | Operation::Vote { .. }
            | Operation::Match { .. }
            | Operation::Reduce { .. }
            | Operation::LoadMatrix { .. } => latencies.shared,
            Operation::AsyncCopy(_) => {
                clocks.copies = start + latencies.global;
                1
            }
            Operation::BulkCopy(_) => {
                self.bulk = self.bulk.max(start + latencies.global);
                1
            }
            Operation::AsyncWait { .. } => {
                start = start.max(clocks.copies);
                1
            }
            Operation::Mbarrier { .. } | Operation::BulkWait => {
                start = start.max(self.bulk);
                latencies.shared
            }
            Operation::Barrier { .. } => {
                clocks.at_barrier = true;
                self.barrier = self.barrier.max(start + latencies.barrier);
                1
            }
            _ if detail.approximate => latencies.shared,
            _ => latencies.arithmetic,
        };
        self.missed = false;
        clocks.now = start + 1;
        for row in &detail.writes {
            *clocks.ready(*row) = start + latency;
        }
    }

    /// The workers' parts together.
    pub fn join(all: impl Iterator<Item = Estimator>) -> Option<Estimate> {
        let mut parts = all;
        let mut sum = parts.next()?;
        for part in parts {
            sum.l1_misses += part.l1_misses;
            sum.l1_missed_lines += part.l1_missed_lines;
            for (line, lanes) in part.atomics {
                *sum.atomics.entry(line).or_default() += lanes;
            }
            sum.far_read += part.far_read;
            sum.far_written += part.far_written;
            sum.chain_cycles += part.chain_cycles;
            for (page, granules) in part.read {
                *sum.read.entry(page).or_default() |= granules;
            }
            for (sector, bytes) in part.written {
                *sum.written.entry(sector).or_default() |= bytes;
            }
        }
        let granules: u64 = sum.read.values().map(|page| u64::from(page.count_ones())).sum();
        let whole = sum.written.values().filter(|bytes| **bytes == u32::MAX).count() as u64;
        Some(Estimate {
            chain_cycles: sum.chain_cycles,
            l1_missed_sectors: sum.l1_misses,
            l1_missed_lines: sum.l1_missed_lines,
            hottest_line_atomics: sum.atomics.values().copied().max().unwrap_or(0),
            dram_read_bytes: granules << GRANULE_SHIFT,
            dram_whole_sectors_written: whole,
            dram_partial_sectors_written: sum.written.len() as u64 - whole,
            far_sectors_read: sum.far_read,
            far_sectors_written: sum.far_written,
        })
    }
}
