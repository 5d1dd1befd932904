//! A model of what a launch waits for and of what caches keep from memory.
//!
//! Each warp has a clock of its own: an instruction starts when the registers it reads are there, where the assembler can
//! put it (`clocks.rs`), and its result is there after a latency. Nobody competes for anything, so the clock at a warp's
//! end is the time that it takes on an idle multiprocessor. How far its loads go say models of the caches
//! (`caches.rs`, `second_cache.rs`). The blocks that run at once start together: what one of them has asked memory for, the
//! others wait for, too.
//!
//! The content of caches depends on the order of blocks, so a launch that is estimated has one worker: the estimate is the same
//! on every machine.

use crate::caches::{ByAddress, FirstCache, Reached, Stores, tag_cycles};
use crate::clocks::Clocks;
use crate::estimate::{Estimate, InsideWork, L2, Latencies, LinkTraffic, Ranges};
use crate::second_cache::{SecondCache, bytes_of_atoms};
use crate::sums::Sums;
use counters::{Counters, LANES};
use simt::{
    AccessKind, AtomicKind, Builtin, InstructionClass, InstructionFacts, Kernel, MemorySpace,
    Observer, Pipes, Report, WarpAccess,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Blocks that run in turns: those of the largest cluster.
const BLOCKS: usize = 16;
/// The size in which managed memory moves, as a power of two: 64 KiB.
const PAGE64K_SHIFT: u32 = 16;

/// Lines of 64 bytes that the first of the constant caches holds: 2 KiB.
const CONSTANT_LINES: usize = 32;
/// Cycles from a comparison to the branch that it decides: the assembler's control codes for compute capability 9.0 have 13.
const DECIDED_CYCLES: u32 = 13;
/// Cycles from a branch to the instruction behind it, by the same codes.
const PASSED_CYCLES: u32 = 5;
/// Cycles from a branch to its target: a lone warp that goes one of three ways of 12 dependent instructions takes 110 cycles
/// (`probe_branches` in `results/nvidia-h100/probes.csv`), for which the control codes have 96, and 2.25 branches are taken.
const TAKEN_CYCLES: u32 = 11;
/// Cycles by which a load of global memory that L1 has takes longer than what a profile has for shared memory, each with its
/// address: 42 and 32 cycles, of which a product for the address takes 6 (`load` and `shared` in
/// `results/nvidia-h100/latencies.csv`; arXiv 2402.13499 has 40.7 and 29.0).
const FIRST_CACHE_CYCLES: u32 = 6;
/// Cycles by which an atomic that returns a number takes longer than a load from L2: 323 and 280 (`add`, in the same file).
const ATOMIC_CYCLES: u32 = 40;
/// Cycles of a lone warp for each lane that adds a float to the same number in shared memory (`probe_shared_sums` and
/// `probe_shared_double_sums`: 92 and 107).
const RETRY_CYCLES: u32 = 100;
/// From one half of L2 to the other, for the half of all requests that cross, in the mean of loops over columns that were just
/// copied to an H100: first kernels of PolyBench-GPU (`results/foreign/fourth-measured-h100.csv`).
const ACROSS_CYCLES: u32 = 110;
/// A block takes work from a queue that it leaves empty, if it draws so many times as many numbers as any other.
const EMPTY_QUEUE: u64 = 4;
/// Cycles that the executor's clock counts for an instruction.
const STEP_CYCLES: u64 = 4;
/// Nanoseconds of the longest `nanosleep`: PTX lets none last more than a millisecond.
const LONGEST_SLEEP_NS: u64 = 1_000_000;
/// Cycles of a read of a clock.
const CLOCK_CYCLES: u32 = 20;
/// Nanoseconds of a function of the driver: of a lane's call, what each further lane of the warp adds, and what each lane adds to
/// the calls of all (`malloc`, `free` and `print` in `results/nvidia-h100/first-launches.csv`). A line is printed by a warp
/// at a time, whatever its lanes.
const ALLOCATE_NS: [u64; 3] = [7200, 1630, 56];
const FREE_NS: [u64; 3] = [5900, 450, 113];
const PRINT_NS: [u64; 3] = [22_000, 0, 0];
/// The further time of a warp's first line, and the time of each line that other warps print.
const FIRST_LINE_NS: u64 = 7000;
const OTHER_LINE_NS: u64 = 9000;
/// Repeated compare-and-swaps of which more than this part change a number all have to: the others are tried again.
const NEARLY_ALL: f64 = 0.9;

/// The compare-and-swaps of a launch that a loop repeats until they succeed.
#[derive(Debug, Default)]
struct Retries {
    /// Those that changed a number.
    changes: u64,
    /// Those that are a lane's first.
    first_tries: u64,
    /// Some go on until they succeed: their threads cannot give up.
    are_endless: bool,
    /// The threads that came to the loop of one that they may give up.
    came: u64,
    /// The lanes of the one that is being issued, and how many of them changed a number.
    latest: Option<(u32, u32)>,
}

impl Retries {
    /// Takes up the one that a warp has just issued of which so many lanes had failed before. Returns how many have failed now.
    fn issued(&mut self, failed: u32, facts: &InstructionFacts) -> u32 {
        let Some((lanes, changes)) = self.latest.take() else { return failed };
        self.are_endless |= facts.abandoned_loop.is_none();
        self.changes += u64::from(changes);
        self.first_tries += u64::from(lanes.saturating_sub(failed));
        lanes.saturating_sub(changes)
    }
}

/// Links to the host's memory: to large pages, and to small ones.
const HOST_LINKS: usize = 2;

/// Returns what a link leads to.
fn beyond(link: usize) -> Reached {
    if link < HOST_LINKS { Reached::Host } else { Reached::Peer }
}

/// The work that blocks take from a queue, by the numbers that they draw.
///
/// Blocks are executed in turn, so the first takes all that there is; on a GPU those that run at once share it.
#[derive(Debug, Default)]
struct WorkQueue {
    /// Numbers that each running block has drawn, and the cycles of its longest warp.
    running: [(u64, u64); BLOCKS],
    /// The atomic that is being issued draws one.
    draws: bool,
    /// The numbers that each block has drawn that drew some, and the cycles of its longest warp.
    drawn: Vec<(u64, u64)>,
    /// The most cycles of the others.
    longest_other: u64,
}

impl WorkQueue {
    /// Ends the block of this number, among those that run at the same time.
    fn end_block(&mut self, block: usize) {
        let (tickets, longest) = std::mem::take(&mut self.running[block]);
        if tickets > 0 {
            self.drawn.push((tickets, longest));
        } else {
            self.longest_other = self.longest_other.max(longest);
        }
    }

    /// Returns the cycles of the longest warp, where so many blocks run at once.
    fn longest_chain(&mut self, at_once: u64) -> u64 {
        self.drawn.sort_unstable_by_key(|(tickets, _)| std::cmp::Reverse(*tickets));
        let most = |place: usize| self.drawn.get(place).map_or(0, |(tickets, _)| *tickets);
        let all: u64 = self.drawn.iter().map(|(tickets, _)| tickets).sum();
        let is_shared = most(0) >= EMPTY_QUEUE * most(1).max(1);
        let share = if is_shared { all.div_ceil(at_once.max(1)) } else { u64::MAX };
        let of_share = |(tickets, cycles): &(u64, u64)| cycles * share.min(*tickets) / tickets;
        self.drawn.iter().map(of_share).max().unwrap_or(0).max(self.longest_other)
    }
}

/// The work inside of multiprocessors by block.
///
/// Blocks of the first wave go to the multiprocessors in turn. Later ones go to those that are free, so that only a
/// block that has more to do than a multiprocessor in the mean is one's whole work.
#[derive(Debug, Default)]
struct BlockWork {
    /// That of each multiprocessor in the first wave.
    first: Vec<InsideWork>,
    /// The most that a later block has.
    most: InsideWork,
    /// A later block, and its work so far.
    later: (u32, InsideWork),
}

impl BlockWork {
    /// Adds what a warp of a block did.
    fn add(&mut self, block: u32, busy: InsideWork, latencies: &Latencies) {
        if block <= latencies.blocks_at_once {
            let multiprocessors = latencies.multiprocessors.max(1) as usize;
            self.first.resize(multiprocessors, InsideWork::default());
            let sum = &mut self.first[block as usize % multiprocessors];
            *sum = sum.and(busy);
            return;
        }
        if self.later.0 != block {
            self.later = (block, InsideWork::default());
        }
        self.later.1 = self.later.1.and(busy);
        self.most = self.most.or(self.later.1);
    }

    /// Returns the work of the busiest multiprocessor.
    fn busiest(&self) -> InsideWork {
        self.first.iter().copied().fold(self.most, InsideWork::or)
    }
}

/// The changes of a word that a loop may wait for, in cycles since the wave of blocks began that made them.
#[derive(Debug, Default)]
struct Arrivals {
    wave: u32,
    /// A warp stored it that had waited for it: it hands over a turn, as in a lock with tickets.
    is_handed_over: bool,
    /// The first store: of a flag that is stored twice, as in a look-back, the first is what others go on with.
    first_store: Option<u32>,
    /// The latest change: the release of a lock.
    latest: u32,
    /// The latest atomic, by the polls that its warp had passed: of a counter that all blocks come to, as at a barrier of the
    /// grid, all changes are waited for, but not those of the next barrier.
    of_passed: Vec<u32>,
}

impl Arrivals {
    /// Notes a change that arrives in this cycle, by a warp that has passed so many polls.
    fn change(&mut self, wave: u32, at: u32, passed: u32, is_store: bool, has_waited: bool) {
        if self.wave != wave {
            *self = Arrivals { wave, ..Arrivals::default() };
        }
        self.latest = self.latest.max(at);
        if is_store {
            self.is_handed_over |= has_waited;
            self.first_store.get_or_insert(at);
            return;
        }
        let passed = passed as usize;
        if self.of_passed.len() <= passed {
            self.of_passed.resize(passed + 1, 0);
        }
        self.of_passed[passed] = self.of_passed[passed].max(at);
    }

    /// Returns the cycle in which a warp has what it waits for that has passed so many polls; a lock is waited for by atomics.
    fn awaited(&self, wave: u32, passed: u32, is_lock: bool) -> u32 {
        if self.wave != wave {
            return 0;
        }
        let counted = self.of_passed.get(passed as usize).copied().unwrap_or(0);
        if is_lock || self.is_handed_over {
            self.latest
        } else {
            counted.max(self.first_store.unwrap_or(0))
        }
    }
}

/// An observer that estimates a launch.
#[derive(Debug)]
pub struct Estimator {
    program: Arc<[InstructionFacts]>,
    registers: usize,
    /// The clocks of warps, and the places of those that have ended.
    warps: Vec<Clocks>,
    free: Vec<usize>,
    device: Device,
}

/// The device, as far as the launch has used it.
#[derive(Debug)]
struct Device {
    latencies: Latencies,
    ranges: Ranges,
    /// The traffic over each of these links.
    links: Vec<LinkTraffic>,
    l1: FirstCache,
    l2: SecondCache,
    /// The blocks that have started.
    blocks: u32,
    /// Lines of constant memory, of 64 bytes, that were read.
    constants: HashSet<u64>,
    /// Bytes written, by sector.
    written: ByAddress<u32>,
    sums: Sums,
    /// The changes by compare-and-swaps that a loop repeats until they succeed.
    retried: Sums,
    retries: Retries,
    /// The farthest memory that the last load or atomic reached.
    reached: Reached,
    /// Cycle of the latest arrival among sectors that it needs and others have requested.
    arrival: u32,
    /// Sectors that it asked memory for.
    missed: Vec<(u64, Reached)>,
    /// Cycle of the last warp at each barrier of each running block, by its number. No warp goes on before all have come.
    barriers: HashMap<u32, Vec<u32>>,
    /// Cycle at which the bulk copies of each running block have landed.
    bulk: [u32; BLOCKS],
    /// Lanes of atomics on shared memory of other blocks.
    cluster_atomics: u64,
    /// Groups of lanes beyond the first that sums of a warp were done in.
    further_groups: u64,
    /// Wavefronts of the last access to shared memory: its result is there after the last of them.
    wavefronts: u32,
    l1_misses: u64,
    tag_cycles: u64,
    l1_missed_lines: u64,
    stores: Stores,
    chain_cycles: u64,
    first_chain_cycles: u64,
    first_warps: u64,
    queue: WorkQueue,
    work: BlockWork,
    /// The kernel polls: for what others write.
    polls: bool,
    /// The words that the access which is being issued reaches for, in a kernel that polls.
    words: Vec<u64>,
    /// Their changes.
    arrivals: HashMap<u64, Arrivals>,
    /// The times that instructions ran in vain: in a failed try of a poll, or in a loop that waits for a clock.
    spun: Vec<u64>,
    /// Loads of global memory among these.
    requests_in_vain: u64,
    /// The amount that the instruction being issued read from a clock, sleeps or asks the driver for.
    amount: u64,
    /// The end of the wait for the clock that it reads.
    deadline: Option<u64>,
    /// Nanoseconds of the driver's functions, one call after another.
    calls_ns: u64,
    /// The lines that all warps print, and the warp that prints most.
    lines: [u64; 2],
    /// Sectors and cycles of tags of the access that is being issued.
    asked: [u64; 2],
    /// The cycles of L1 for the access that is being issued, and the lines that it asks L2 for.
    access: [u64; 2],
    ended_warps: u64,
    /// Lines of compare-and-swaps, summed over requests.
    swapped_lines: u64,
    once_cycles: u64,
    /// Instructions that ran in the body of a block, a bit each: neither before its first barrier nor after its last,
    /// or with loads of global memory there.
    body: Vec<u64>,
}

impl Estimator {
    /// Watches a launch of a kernel, on a device with these latencies and this L2. `scale` is the factor between the bytes
    /// that the launch stands for and those that it touches.
    pub fn new(
        kernel: &Kernel,
        latencies: Latencies,
        ranges: Ranges,
        l2: L2,
        scale: f64,
    ) -> Estimator {
        let program = kernel.instruction_facts();
        let all = program.iter().flat_map(|facts| facts.reads.iter().chain(&facts.writes));
        let registers = all.max().map_or(0, |last| *last as usize + 1);
        let device = Device {
            latencies,
            links: vec![LinkTraffic::default(); HOST_LINKS + ranges.peers.len()],
            l1: FirstCache::new(latencies.l1_lines, latencies.l1_share_lines),
            l2: SecondCache::new(l2, scale),
            blocks: 0,
            constants: HashSet::new(),
            written: ByAddress::default(),
            sums: Sums::default(),
            retried: Sums::default(),
            retries: Retries::default(),
            reached: Reached::L1,
            arrival: 0,
            missed: Vec::new(),
            barriers: HashMap::new(),
            bulk: [0; BLOCKS],
            cluster_atomics: 0,
            further_groups: 0,
            wavefronts: 0,
            l1_misses: 0,
            tag_cycles: 0,
            l1_missed_lines: 0,
            stores: Stores::default(),
            chain_cycles: 0,
            first_chain_cycles: 0,
            first_warps: 0,
            queue: WorkQueue::default(),
            work: BlockWork::default(),
            polls: program.iter().any(|facts| facts.polled_loop.is_some()),
            words: Vec::new(),
            arrivals: HashMap::new(),
            spun: vec![0; program.len()],
            requests_in_vain: 0,
            amount: 0,
            deadline: None,
            calls_ns: 0,
            lines: [0; 2],
            asked: [0; 2],
            access: [0; 2],
            ended_warps: 0,
            swapped_lines: 0,
            once_cycles: 0,
            body: vec![0; program.len().div_ceil(64)],
            ranges,
        };
        Estimator { program, registers, warps: Vec::new(), free: Vec::new(), device }
    }

    /// Returns the estimate of the launch that was watched, whose report this is.
    pub fn estimate(self, report: &Report) -> Estimate {
        self.device.estimate(&self.program, report)
    }
}

impl Device {
    /// The link that an address lies behind: first the host's, then those of the other devices.
    fn link(&self, address: u64) -> Option<usize> {
        let holds = |ranges: &&Vec<Range<u64>>| ranges.iter().any(|range| range.contains(&address));
        let Ranges { host, host_small_pages, peers, .. } = &self.ranges;
        let peer = || peers.iter().position(|range| range.contains(&address));
        let host = [host, host_small_pages].iter().position(holds);
        host.or_else(|| peer().map(|peer| HOST_LINKS + peer))
    }

    /// A warp comes to a barrier or its end. What it ran since the last is done once per block, unless it is the
    /// `body` or loads global memory.
    fn end_phase(&mut self, clocks: &mut Clocks, body: bool) {
        if body || clocks.has_loaded {
            for (body, ran) in self.body.iter_mut().zip(&clocks.ran) {
                *body |= ran;
            }
        } else {
            self.once_cycles += u64::from(clocks.now.saturating_sub(clocks.since));
        }
        clocks.ran.clear();
        clocks.has_loaded = false;
        clocks.since = clocks.now;
    }

    /// A load of global memory reaches for its sectors; `cached` when L1 may keep them. The requests of an asynchronous copy
    /// or a texture take no time of L1's tags.
    fn reach(&mut self, request: WarpAccess<'_>, cached: bool, is_load: bool) {
        let mut sectors = [0u64; LANES];
        let mut count = 0;
        for (lane, address) in request.addresses.iter().enumerate() {
            let sector = address >> 5;
            if request.mask >> lane & 1 != 0 && (count == 0 || sectors[count - 1] != sector) {
                sectors[count] = sector;
                count += 1;
            }
        }
        let is_one_piece = sectors[..count].is_sorted_by(|a, b| a + 1 == *b);
        let before = (self.l1_missed_lines, self.l1_misses, self.tag_cycles);
        if is_load && is_one_piece && count > 0 {
            let lines = 1 + (sectors[count - 1] >> 2) - (sectors[0] >> 2);
            self.tag_cycles += lines;
            self.access[0] += lines;
        } else if is_load {
            let mut sorted = sectors;
            sorted[..count].sort_unstable();
            let [here, in_a_larger] = tag_cycles(&sorted[..count]);
            self.tag_cycles += in_a_larger;
            self.access[0] += here;
        }
        let mut missed_line = None;
        for sector in &sectors[..count] {
            let line = Some(sector >> 2);
            if self.read_sector(*sector, cached) && missed_line != line {
                match self.link(*sector << 5) {
                    Some(link) => self.links[link].lines_read += 1,
                    None => self.l1_missed_lines += 1,
                }
                missed_line = line;
            }
        }
        self.access[1] += self.l1_missed_lines - before.0;
        self.asked = [self.l1_misses - before.1, self.tag_cycles - before.2];
    }

    /// A bulk copy reads whole lines past L1. The multiprocessor's copy engine asks for them, so they do not take the
    /// time of a warp's requests.
    fn read_range(&mut self, start: u64, bytes: u64) {
        for sector in start >> 5..(start + bytes).div_ceil(32) {
            self.read_sector(sector, false);
        }
        if let Some(link) = self.link(start) {
            self.links[link].lines_read += bytes.div_ceil(128);
        }
    }

    /// The number of the block that started last, among those that run at the same time.
    fn block(&self) -> usize {
        self.blocks as usize % BLOCKS
    }

    /// Returns the cycles of so many nanoseconds.
    fn cycles(&self, nanoseconds: u64) -> u64 {
        nanoseconds.saturating_mul(u64::from(self.latencies.cycles_per_us)) / 1000
    }

    /// The wave of blocks that runs: those that fit on the device at once.
    fn wave(&self) -> u32 {
        self.blocks.saturating_sub(1) / self.latencies.blocks_at_once.max(1)
    }

    /// Returns whether the sector had to come from beyond L1.
    fn read_sector(&mut self, sector: u64, cached: bool) -> bool {
        let (line, bit) = (sector >> 2, 1u8 << (sector & 3));
        if cached && self.l1.has(line, bit) {
            self.arrival = self.arrival.max(self.l2.arrival(sector, self.wave()));
            return false;
        }
        let (reached, by_many) = match self.link(sector << 5) {
            Some(link) => {
                self.links[link].sectors_read += 1;
                (beyond(link), false)
            }
            None => {
                self.l1_misses += 1;
                let mut asked = self.l2.ask(sector, self.blocks);
                if asked.reached == Reached::Memory && self.is_changed(sector << 5) {
                    asked.reached = Reached::L2;
                }
                if asked.reached >= Reached::FarL2 {
                    self.missed.push((sector, asked.reached));
                } else {
                    self.arrival = self.arrival.max(self.l2.arrival(sector, self.wave()));
                }
                (asked.reached, asked.by_many)
            }
        };
        self.reached = self.reached.max(reached);
        if cached {
            self.l1.add(line, bit, by_many);
        }
        true
    }

    /// A load of constant memory; a parameter with an index is one.
    fn read_constant(&mut self, request: WarpAccess<'_>) {
        if self.constants.len() <= CONSTANT_LINES {
            self.constants.extend(lanes(request.mask).map(|lane| request.addresses[lane] >> 6));
        }
    }

    /// Returns whether an atomic has changed what is near an address.
    fn is_changed(&self, address: u64) -> bool {
        self.sums.have(address) || self.retried.have(address)
    }

    fn atomic(&mut self, request: WarpAccess<'_>, kind: AtomicKind) {
        let AtomicKind { is_float, is_retried, is_aggregated, is_swap, is_ticket, changed } = kind;
        let mut near: Vec<u64> = Vec::with_capacity(LANES);
        for (lane, address) in request.addresses.iter().enumerate() {
            if request.mask >> lane & 1 == 0 {
                continue;
            }
            if let Some(link) = self.link(*address) {
                self.reached = self.reached.max(beyond(link));
                let link = &mut self.links[link];
                link.sectors_written += 1;
                link.lines_written += 1;
                link.atomics += 1;
                continue;
            }
            near.push(*address);
            // L2 changes it, and L1 no longer has it.
            let sector = address >> 5;
            self.l1.drop(sector >> 2, 1 << (sector & 3));
            if !self.is_changed(*address) && !self.l2.holds(sector) {
                self.reached = self.reached.max(Reached::Memory);
            }
        }
        if is_aggregated {
            near.truncate(1);
        }
        self.queue.draws = is_ticket && !near.is_empty();
        if is_swap {
            let lines = |addresses: &[u64]| {
                let lines = addresses.iter().map(|address| address >> 7);
                lines.collect::<HashSet<u64>>().len() as u64
            };
            self.swapped_lines += lines(&near);
        }
        if is_retried {
            self.retries.latest = Some((request.mask.count_ones(), changed as u32));
        }
        let sums = if is_retried { &mut self.retried } else { &mut self.sums };
        sums.add(near, is_float, request.bytes);
    }

    fn write(&mut self, request: WarpAccess<'_>) {
        let bits = if request.bytes >= 32 { u32::MAX } else { (1u32 << request.bytes) - 1 };
        let (mut last_sector, mut last_line) = (None, None);
        self.stores.store(lanes(request.mask).map(|lane| request.addresses[lane] >> 7));
        // Neighbouring lanes mostly write the same sector, which is looked up once for all of them.
        let (mut written, mut of_sector) = (0, 0);
        for (lane, address) in request.addresses.iter().enumerate() {
            if request.mask >> lane & 1 == 0 {
                continue;
            }
            let sector = last_sector.replace(address >> 5) != Some(address >> 5);
            let line = last_line.replace(address >> 7) != Some(address >> 7);
            if let Some(link) = self.link(*address) {
                self.links[link].sectors_written += u64::from(sector);
                self.links[link].lines_written += u64::from(line);
                continue;
            }
            if sector && written != 0 {
                *self.written.entry(of_sector).or_default() |= std::mem::take(&mut written);
            }
            (written, of_sector) = (written | bits << (address & 31), address >> 5);
            if sector {
                self.l2.store(address >> 5);
            }
        }
        if written != 0 {
            *self.written.entry(of_sector).or_default() |= written;
        }
    }

    fn write_range(&mut self, start: u64, bytes: u64) {
        let sectors = start >> 5..(start + bytes).div_ceil(32);
        match self.link(start) {
            Some(link) => {
                self.links[link].sectors_written += sectors.end - sectors.start;
                self.links[link].lines_written += bytes.div_ceil(128);
            }
            None => self.written.extend(sectors.map(|sector| (sector, u32::MAX))),
        }
    }

    /// The warp's clock after an instruction that has just run.
    fn advance(&mut self, clocks: &mut Clocks, pc: usize, facts: &InstructionFacts) {
        if let Some((branch, at)) = clocks.branched.take() {
            let is_passed = pc as u32 == branch + 1;
            clocks.branch(at.saturating_add(if is_passed { PASSED_CYCLES } else { TAKEN_CYCLES }));
        }
        clocks.enter(facts);
        if self.polls {
            clocks.enter_poll(pc as u32, facts.polled_loop);
        }
        if clocks.ran.is_empty() {
            clocks.ran.resize(self.body.len(), 0);
        }
        clocks.ran[pc / 64] |= 1 << (pc % 64);
        if std::mem::take(&mut clocks.at_barrier) {
            let of_block = self.barriers.get(&clocks.number);
            let last = of_block.and_then(|of| of.get(clocks.barriers - 1)).copied().unwrap_or(0);
            clocks.now = clocks.now.max(last);
            clocks.since = clocks.now;
            clocks.fence();
        }
        let mut there = 0;
        for register in &facts.reads {
            there = there.max(*clocks.ready(*register));
        }
        let is_branch = facts.class == InstructionClass::Branch && facts.unrolled == 0;
        if is_branch && there > 0 {
            there += DECIDED_CYCLES.saturating_sub(self.latencies.arithmetic);
        }
        let mut start = clocks.start(facts.class, there);
        let latencies = self.latencies;
        let reached = std::mem::take(&mut self.reached);
        let distance = match reached {
            Reached::L1 if is_far_load(facts.class) => latencies.shared + FIRST_CACHE_CYCLES,
            Reached::L1 => latencies.shared,
            Reached::L2 => latencies.l2,
            Reached::FarL2 => latencies.l2 + ACROSS_CYCLES,
            Reached::Memory => latencies.global,
            Reached::Host => latencies.host,
            Reached::Peer => latencies.peer,
        };
        let left = reached > Reached::L1;
        // A sector already requested arrives with that request, at the latest as if requested now.
        let arrival = std::mem::take(&mut self.arrival).min(start.saturating_add(latencies.global));
        let distance = distance.max(arrival.saturating_sub(start));
        let wave = self.wave();
        let amount = std::mem::take(&mut self.amount);
        let deadline = self.deadline.take();
        let polls = facts.polled_loop.is_some();
        let is_atomic = is_atomic(facts.class);
        for word in self.words.drain(..) {
            if polls {
                let arrivals = self.arrivals.get(&word);
                let awaited = arrivals.map_or(0, |it| it.awaited(wave, clocks.passed, is_atomic));
                start = start.max(awaited);
                if !clocks.polled.contains(&word) {
                    clocks.polled.push(word);
                }
            } else if is_atomic || is_store(facts.class) {
                let at = start.saturating_add(latencies.l2);
                let arrivals = self.arrivals.entry(word).or_default();
                let has_waited = clocks.polled.contains(&word);
                arrivals.change(wave, at, clocks.passed, !is_atomic, has_waited);
            }
        }
        for (sector, reached) in self.missed.drain(..) {
            let cycles = match reached {
                Reached::FarL2 => latencies.l2 + ACROSS_CYCLES,
                _ => latencies.global,
            };
            self.l2.arrives(sector, wave, start.saturating_add(cycles));
        }
        self.queue.running[clocks.block].0 += u64::from(std::mem::take(&mut self.queue.draws));
        clocks.failed = self.retries.issued(clocks.failed, facts);
        let conflicts = std::mem::take(&mut self.wavefronts).saturating_sub(1);
        let [l1_cycles, lines] = std::mem::take(&mut self.access);
        let asked = std::mem::take(&mut self.asked);
        let is_in_vain = clocks.poll.is_some_and(|poll| poll.failed) || facts.is_timed;
        if is_in_vain {
            self.spun[pc] += 1;
            self.requests_in_vain += u64::from(matches!(
                facts.class,
                InstructionClass::Load { memory: MemorySpace::Global | MemorySpace::Generic, .. }
            ));
            self.l1_missed_lines -= lines;
            self.l1_misses -= asked[0];
            self.tag_cycles -= asked[1];
        } else {
            let is_local = matches!(
                facts.class,
                InstructionClass::Load { memory: MemorySpace::Local, .. }
                    | InstructionClass::Store { memory: MemorySpace::Local }
            );
            clocks.busy = clocks.busy.and(InsideWork {
                issue_cycles: u64::from(facts.pipes.issue),
                l1_cycles,
                l2_lines: lines + u64::from(is_local),
            });
        }
        let latency = match facts.class {
            InstructionClass::Load { memory, .. } => match memory {
                MemorySpace::Global | MemorySpace::Generic | MemorySpace::Local => {
                    clocks.has_loaded |= left;
                    // The result is there after its last line, which L1 looks up and asks L2 for one after the other.
                    let asked = lines.saturating_sub(1) * u64::from(latencies.l2_line) / 100;
                    distance + l1_cycles.saturating_sub(1).max(asked) as u32
                }
                MemorySpace::Constant if self.constants.len() > CONSTANT_LINES => {
                    latencies.constant
                }
                MemorySpace::Parameter | MemorySpace::Constant => latencies.arithmetic,
                // Such a load adds to its address itself, which PTX does before it.
                MemorySpace::Shared => {
                    latencies.shared.saturating_sub(latencies.arithmetic) + conflicts
                }
            },
            InstructionClass::Atomic { is_shared: true } if facts.pipes.retry > 0 => {
                RETRY_CYCLES * (conflicts + 1)
            }
            InstructionClass::Atomic { is_shared: true } => 2 * latencies.shared,
            InstructionClass::Atomic { is_shared: false } => {
                distance.max(latencies.l2) + ATOMIC_CYCLES
            }
            InstructionClass::Exchange { .. } => latencies.shared,
            // A hit takes longer than that of a load.
            InstructionClass::Image => {
                clocks.has_loaded |= left;
                distance.max(3 * latencies.shared)
            }
            InstructionClass::AsyncCopy => {
                clocks.has_loaded = true;
                clocks.copies = start + distance;
                1
            }
            InstructionClass::BulkCopy => {
                clocks.has_loaded = true;
                let landed = start + if left { distance } else { latencies.global };
                let bulk = &mut self.bulk[clocks.block];
                *bulk = landed.max(*bulk);
                1
            }
            InstructionClass::BulkStore => {
                clocks.has_loaded = true;
                // It waits for L2 as long as one that loads; nobody but its warp waits for it.
                clocks.copies = start + latencies.global;
                1
            }
            InstructionClass::BulkStoreWait { reads: true } => latencies.shared,
            InstructionClass::BulkStoreWait { reads: false } => {
                start = start.max(clocks.copies);
                latencies.shared
            }
            InstructionClass::AsyncWait => {
                start = start.max(clocks.copies);
                1
            }
            InstructionClass::BulkWait => {
                start = start.max(self.bulk[clocks.block]);
                latencies.shared
            }
            InstructionClass::Barrier => {
                self.end_phase(clocks, clocks.barriers > 0);
                let barriers = self.barriers.entry(clocks.number).or_default();
                if barriers.len() <= clocks.barriers {
                    barriers.resize(clocks.barriers + 1, 0);
                }
                let last = &mut barriers[clocks.barriers];
                *last = start.saturating_add(latencies.barrier).max(*last);
                (clocks.at_barrier, clocks.barriers) = (true, clocks.barriers + 1);
                1
            }
            InstructionClass::Clock { nanoseconds } => {
                let cycles = |amount| if nanoseconds { self.cycles(amount) } else { amount };
                let (read, deadline) = (cycles(amount), deadline.map(cycles));
                match clocks.read_clock {
                    Some((cycle, before, instructions)) if facts.is_timed => {
                        // The executor's clock goes on in leaps, by the turns of all warps: a wait that has ended took what it
                        // waited for, and one that goes on no longer than the warp's own turns.
                        let own = STEP_CYCLES * (clocks.instructions - instructions);
                        let passed = match deadline {
                            Some(end) if end <= read => end.saturating_sub(before),
                            Some(_) => read.saturating_sub(before).min(own),
                            None => read.saturating_sub(before),
                        };
                        clocks.set(cycle.saturating_add(passed.min(u64::from(u32::MAX)) as u32));
                        start = clocks.now;
                    }
                    _ => clocks.read_clock = Some((start, read, clocks.instructions)),
                }
                CLOCK_CYCLES
            }
            InstructionClass::Sleep => {
                let cycles =
                    self.cycles(amount.min(LONGEST_SLEEP_NS)).min(u64::from(u32::MAX)) as u32;
                clocks.branch(start.saturating_add(cycles));
                1
            }
            InstructionClass::Driver(function) => {
                let [one, further, of_all] = match function {
                    Builtin::Allocate | Builtin::AllocateAt => ALLOCATE_NS,
                    Builtin::Free | Builtin::FreeAt => FREE_NS,
                    Builtin::Print => PRINT_NS,
                    // A store of a word.
                    Builtin::AssertFail
                    | Builtin::SetCondition
                    | Builtin::ParameterBuffer
                    | Builtin::LaunchKernel
                    | Builtin::CreateStream
                    | Builtin::DestroyStream
                    | Builtin::PeekError
                    | Builtin::EnqueueCopy
                    | Builtin::EnqueueFill
                    | Builtin::CurrentDevice
                    | Builtin::ErrorText
                    | Builtin::DeviceCount
                    | Builtin::DeviceAttribute
                    | Builtin::LastError => [0; 3],
                };
                self.calls_ns += of_all * amount;
                let mut nanoseconds = one + further * amount.saturating_sub(1);
                if function == Builtin::Print {
                    nanoseconds += if clocks.lines == 0 { FIRST_LINE_NS } else { 0 };
                    clocks.lines += 1;
                    self.lines[0] += 1;
                    self.lines[1] = self.lines[1].max(clocks.lines);
                }
                clocks.branch(start.saturating_add(self.cycles(nanoseconds) as u32));
                1
            }
            _ if facts.pipes.is_part => 0,
            _ if facts.pipes.latency > 0 => facts.pipes.latency,
            _ if facts.is_approximate => latencies.shared,
            _ => latencies.arithmetic,
        };
        clocks.has_run(facts.class, start, facts.pipes.own_cycles());
        if facts.pipes.has_slow_way {
            clocks.branch(start.saturating_add(latency));
        }
        // Turns that became one have one branch.
        if is_branch {
            clocks.branched = Some((pc as u32, start));
        }
        for register in &facts.writes {
            *clocks.ready(*register) = start.saturating_add(latency);
        }
    }

    fn estimate(mut self, program: &[InstructionFacts], report: &Report) -> Estimate {
        (0..BLOCKS).for_each(|block| self.queue.end_block(block));
        let at_once = report.blocks.min(u64::from(self.latencies.blocks_at_once));
        let longest = self.queue.longest_chain(at_once);
        let refetched = self.l2.refetched();
        let whole = self.written.values().filter(|bytes| **bytes == u32::MAX).count() as u64;
        // Where a loop waits for other blocks, the executor's turns decide which of them does the work.
        let draws = !self.queue.drawn.is_empty();
        let waits = report.blocks > 1 && program.iter().any(|facts| facts.polled_loop.is_some());
        let (mut once, mut issue_cycles, mut busy) = (Counters::default(), 0, [0; 5]);
        let most = report.instructions.iter().map(|ran| ran.counters.warp_instructions).max();
        self.retries.came = self.came(program, report);
        let mut retry_cycles = 0;
        for ran in &report.instructions {
            let number = ran.number as usize;
            let Pipes { issue, logic, products, sums, doubles, special, retry, .. } =
                program[number].pipes;
            let times = ran.counters.warp_instructions.saturating_sub(self.spun[number]);
            // The lanes of a request that have a number each are done together.
            let shared = ran.counters.shared_atomic;
            retry_cycles += u64::from(retry)
                * (shared.wavefronts.saturating_sub(shared.requests) + shared.requests / 5);
            issue_cycles += times * u64::from(issue);
            // Sums go to the one of two pipes that has room.
            let both = logic + products + sums;
            for (busy, cycles) in
                busy.iter_mut().zip([2 * logic, 2 * products, both, 2 * doubles, 2 * special])
            {
                *busy += times * u64::from(cycles);
            }
            if self.body[number / 64] >> (number % 64) & 1 == 0 {
                once += ran.counters;
            }
        }
        Estimate {
            chain_cycles: self.chain_cycles,
            first_chain_cycles: self.first_chain_cycles,
            first_warps: self.first_warps,
            longest_chain_cycles: longest,
            calls_ns: self.calls_ns,
            other_lines_ns: OTHER_LINE_NS * (self.lines[0] - self.lines[1]),
            requests_in_vain: self.requests_in_vain,
            swapped_lines: self.swapped_lines,
            turns: most.unwrap_or(0) as f64 / self.ended_warps.max(1) as f64,
            once_cycles: self.once_cycles,
            once,
            l1_missed_sectors: self.l1_misses,
            l1_missed_lines: self.l1_missed_lines,
            merged_store_lines: self.stores.merged,
            issue_cycles,
            pipe_cycles: busy.into_iter().max().unwrap_or(0) / 2,
            tag_cycles: self.tag_cycles,
            retry_cycles,
            cluster_atomics: self.cluster_atomics,
            busiest: if waits || draws { InsideWork::default() } else { self.work.busiest() },
            row_miss_ratio: self.l2.row_miss_ratio(),
            further_groups: self.further_groups,
            atomics_queue: self.sums.busiest() + self.retried_time(),
            atomic_sectors: self.sums.sectors() + self.retried.sectors(),
            dram_read_bytes: bytes_of_atoms(self.l2.first() + refetched),
            refetched_bytes: bytes_of_atoms(refetched),
            dram_whole_sectors_written: whole,
            dram_partial_sectors_written: self.written.len() as u64 - whole,
            host: self.links[0],
            host_small_pages: self.links[1],
            peers: self.links.split_off(HOST_LINKS),
            persisting_lines: self.l2.persisting_lines(),
            residual_lines: self.l2.residual_lines(self.changed()),
            touched_pages: self.touched_pages(),
        }
    }

    /// Returns what the busiest part of L2 spends on compare-and-swaps that are repeated. Each that changes a number makes
    /// all others fail that want it then: the threads that run at once, where they spread evenly over the addresses.
    ///
    /// A maximum, which threads may give up, is tried by all that run at once, which know no other's number yet; here blocks come
    /// one after the other. One succeeds, whose number half of the others exceed, and those try again: nearly twice in the mean.
    fn retried_time(&self) -> u64 {
        let Retries { changes, first_tries, are_endless, came, .. } = self.retries;
        let lanes = self.retried.lanes().max(1) as f64;
        let addresses = self.retried.addresses_changed().max(1) as f64;
        let at_once = (LANES as u64 * self.first_warps) as f64;
        let tries = if are_endless {
            let rivals = lanes.min(at_once) / addresses;
            let changed = changes as f64 / lanes;
            let changed = if changed > NEARLY_ALL { 1.0 } else { changed };
            lanes * (1.0 + changed * (rivals - 1.0).max(0.0))
        } else {
            let came = (came as f64).max(first_tries as f64);
            let together = came.min(at_once);
            let later = 1.0 - together / came.max(1.0);
            together * (2.0 - (addresses / together.max(1.0)).min(1.0)) + later * lanes
        };
        (self.retried.busiest() as f64 * tries / lanes) as u64
    }

    /// Returns how many threads came to loops around compare-and-swaps that they may give up. Those that fail begin anew.
    fn came(&self, program: &[InstructionFacts], report: &Report) -> u64 {
        let starts: HashSet<u32> =
            program.iter().filter_map(|facts| facts.abandoned_loop).collect();
        let ran = report.instructions.iter().filter(|ran| starts.contains(&ran.number));
        let turns: u64 = ran.map(|ran| ran.counters.thread_instructions).sum();
        turns.saturating_sub(self.retried.lanes().saturating_sub(self.retries.changes))
    }

    /// Returns where stores and atomics changed memory: the first address of each sector, or of atomics' 256 bytes.
    fn changed(&self) -> impl Iterator<Item = u64> {
        let written = self.written.keys().map(|sector| sector << 5);
        written.chain(self.sums.addresses()).chain(self.retried.addresses())
    }

    /// The granules of memory whose pages move that were touched, and whether they were written.
    fn touched_pages(&self) -> BTreeMap<u64, bool> {
        let managed = &self.ranges.managed;
        let mut touched = BTreeMap::new();
        // By the first address of a 4 KiB page, a sector or 256 bytes.
        let read = self.l2.pages().map(|page| (page, false));
        let changed = self.changed().map(|address| (address, true));
        let all = read.chain(changed).filter(|_| !managed.is_empty());
        for (address, is_written) in all {
            let granule = address >> PAGE64K_SHIFT;
            let (start, end) = (granule << PAGE64K_SHIFT, (granule + 1) << PAGE64K_SHIFT);
            if managed.iter().any(|range| range.start < end && start < range.end) {
                *touched.entry(granule).or_default() |= is_written;
            }
        }
        touched
    }
}

impl Observer for Estimator {
    fn start_block(&mut self) {
        self.device.blocks += 1;
        let running = if self.device.polls { self.device.latencies.blocks_at_once } else { 0 };
        let ended = self.device.blocks.saturating_sub(running.max(BLOCKS as u32));
        self.device.barriers.remove(&ended);
        let block = self.device.block();
        self.device.queue.end_block(block);
        self.device.bulk[block] = 0;
        self.device.l1.start_block();
    }

    fn start_warp(&mut self) -> usize {
        let warp = self.free.pop().unwrap_or_else(|| {
            self.warps.push(Clocks::default());
            self.warps.len() - 1
        });
        self.warps[warp].reset(self.registers);
        self.warps[warp].block = self.device.block();
        self.warps[warp].number = self.device.blocks;
        warp
    }

    fn end_warp(&mut self, warp: usize) {
        let clocks = &mut self.warps[warp];
        clocks.fence();
        self.device.chain_cycles += u64::from(clocks.now);
        self.device.ended_warps += 1;
        if self.device.wave() == 0 {
            self.device.first_chain_cycles += u64::from(clocks.now);
            self.device.first_warps += 1;
        }
        let is_body = clocks.barriers == 0;
        self.device.end_phase(clocks, is_body);
        let end = clocks.end(self.device.latencies.l2);
        self.device.work.add(clocks.number, clocks.busy, &self.device.latencies);
        let longest = &mut self.device.queue.running[clocks.block].1;
        *longest = u64::from(end).max(*longest);
        self.free.push(warp);
    }

    fn access(&mut self, kind: AccessKind, access: WarpAccess<'_>) {
        if self.device.polls {
            let words = lanes(access.mask).map(|lane| access.addresses[lane] >> 2);
            self.device.words.extend(words);
        }
        match kind {
            AccessKind::Load { past_l1 } => self.device.reach(access, !past_l1, true),
            AccessKind::Fetch => self.device.reach(access, true, false),
            AccessKind::AsyncCopy => self.device.reach(access, false, false),
            AccessKind::Constant => self.device.read_constant(access),
            AccessKind::Store => self.device.write(access),
            AccessKind::Atomic(kind) => self.device.atomic(access, kind),
        }
    }

    fn bulk(&mut self, writes: bool, start: u64, bytes: u64) {
        if writes {
            self.device.write_range(start, bytes)
        } else {
            self.device.read_range(start, bytes)
        }
    }

    fn shared(&mut self, wavefronts: u32) {
        self.device.wavefronts = wavefronts;
        self.device.access[0] += u64::from(wavefronts);
    }

    fn cluster_atomics(&mut self, lanes: u64) {
        self.device.cluster_atomics += lanes;
    }

    fn reduction(&mut self, groups: u64) {
        self.device.further_groups += groups.saturating_sub(1);
    }

    fn amount(&mut self, amount: u64) {
        self.device.amount = amount;
    }

    fn deadline(&mut self, clock: u64) {
        self.device.deadline = Some(clock);
    }

    fn issue(&mut self, warp: usize, instruction: usize) {
        let clocks = &mut self.warps[warp];
        self.device.advance(clocks, instruction, &self.program[instruction]);
    }
}

/// Returns whether it is a store that other blocks see.
fn is_store(class: InstructionClass) -> bool {
    matches!(class, InstructionClass::Store { memory: MemorySpace::Global | MemorySpace::Generic })
}

/// Returns whether it loads global memory.
fn is_far_load(class: InstructionClass) -> bool {
    let far = [MemorySpace::Global, MemorySpace::Generic];
    matches!(class, InstructionClass::Load { memory, .. } if far.contains(&memory))
}

/// Returns whether it is an atomic outside of the block.
fn is_atomic(class: InstructionClass) -> bool {
    class == InstructionClass::Atomic { is_shared: false }
}

/// The numbers of the lanes in a mask, ascending.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::WorkQueue;

    /// Runs blocks that draw so many numbers each, with so many cycles, and returns the longest of so many at once.
    fn longest(blocks: &[(u64, u64)], at_once: u64) -> u64 {
        let mut queue = WorkQueue::default();
        for (tickets, cycles) in blocks {
            queue.running[0] = (*tickets, *cycles);
            queue.end_block(0);
        }
        queue.longest_chain(at_once)
    }

    #[test]
    fn blocks_that_run_at_once_share_a_queue_that_the_first_has_emptied() {
        assert_eq!(longest(&[(800, 80_000), (1, 50), (1, 50), (1, 50)], 4), 20_100);
        assert_eq!(longest(&[(800, 80_000), (1, 50), (1, 90_000), (1, 50)], 4), 90_000);
        assert_eq!(longest(&[(800, 80_000), (200, 40_000)], 8), 25_000, "of the second");
        assert_eq!(longest(&[(8, 80_000), (8, 79_000), (4, 50)], 3), 80_000, "each has its own");
        assert_eq!(longest(&[(0, 80_000), (0, 50)], 2), 80_000, "none draws a number");
    }
}
