//! The performance model: from exact counts, an estimate of waiting and a profile to a time.
//!
//! Everything here is a model and labelled so. A kernel takes about as long as the part that it keeps busy longest:
//!
//! ```text
//! DRAM       bytes that L2 asks for, distinct bytes written, and the rest of sectors that are written in part / rate
//! L2         sectors that L1 does not have, stored sectors and atomics x 32 / rate
//! requests   lines that are asked of L2 x cycles / (multiprocessors x clock)
//! L1         passes for lines of global memory, wavefronts of shared memory, barriers, which go the same way, and what stored lines take on their way to L2 /
//!            (multiprocessors x clock)
//! constant   passes x cycles / (multiprocessors x clock)
//! atomics    lines of requests / rate, requests x cycles / (multiprocessors x clock), or what the busiest part of
//!            L2 spends: the lanes of a line take a pass together, those of one address wait for each other;
//!            lanes that reach for another block's shared memory x cycles / (multiprocessors x clock)
//! start      blocks x cycles / (multiprocessors x clock), a little more for those of more than 16 warps
//! issue      instructions of the assembler, or the cycles of the busiest pipe of schedulers / (multiprocessors x issue slots
//!            x clock)
//! waiting    cycles that each warp waits, summed / (resident warps x clock), and the start of a block / resident
//!            blocks, because a block holds its places until its last warp has ended; or the cycles of the warp that waits
//!            longest. With barriers it is this and then what one block keeps its multiprocessor busy by itself
//! zero-copy  sectors of mapped host memory that L1 does not have x 32 / rate of the bus, or their lines / rate
//!            of requests: each line that a warp reaches for is a packet on the link, whatever it carries;
//!            and the same for stored ones. L2 keeps none of them, so that a second read crosses the bus again
//! peers      the same of other devices' memory, without lines: sectors x 32 / rate of the link, each way apart;
//!            atomics lane by lane / rate
//! ```
//!
//! A launch that stands for a larger one ([`WorkScale`]) is busy as much longer with its work. What a block does once,
//! before its first barrier and after its last without loading global memory, grows with the number of blocks instead:
//! in a grid of fixed size each block has more to work on, and no more to clear and to sum up. The sectors in which
//! atomics add up stay as many as they are.
//!
//! Memory moves reads alone, or writes alone, faster than both in turn (`READ_WRITE_TURNAROUND`).
//!
//! Parts that are nearly as long disturb each other: the times are joined by p-norms. Parts of the memory have queues before
//! them and hardly do (`QUEUE_NORM`). A warp that waits in such a queue holds its place, so the time of memory is joined with
//! the start of warps, their waiting, and the two ways of the bus in a norm of its own (`STALL_NORM`). What a multiprocessor
//! does by itself goes on meanwhile (`QUEUE_NORM` again). The time until a kernel starts comes on top.

use crate::estimate::{Estimate, InsideWork, LinkTraffic};
use crate::link::Link;
use crate::profile::Profile;
use crate::timeline::{Engine, Place};
use counters::Counters;

/// The time of L2 for a request of atomics on a whole line, as if each multiprocessor had a part of L2: 2^24 updates of 2^18
/// counters take 0.0446 ms on an H200 (`atomics/global` in `results/nvidia-h200/reference.json`), 132 x 1.98 GHz x 0.0446 ms
/// / 2^19 requests = 22.
const ATOMIC_REQUEST_CYCLES: f64 = 22.0;
/// Sectors of a line.
const LINE_SECTORS: u64 = 4;
/// The time of a multiprocessor for a request of atomics at the least; for each line of it; and for each further sector of a
/// line: 2, 5 and 32 cycles for those on one word, a line and 32 lines (`reduction` in `results/nvidia-h100/latencies.csv`).
const SENT_REQUEST_CYCLES: f64 = 2.0;
const SENT_SECTOR_CYCLES: f64 = 4.0 / 3.0;

/// Time of a compare-and-swap in L2, in that of a sum: four per thread of 1056 blocks, scattered over 4 MiB, take 16.7 us
/// of an H100 and sums 12.2 us (`probe_swap` and `probe_add` in `results/nvidia-h100/probes.csv`, without a launch).
const SWAP: f64 = 1.37;

/// The further time of memory for an atom far from the others of its request: 2^26 words at random in 256 MiB, each
/// alone in 64 bytes, take 1.486 ms on an H200 (`bus_utilization/random_cg` in `results/nvidia-h200/reference.json`), and
/// 2^32 bytes at the rate of copies take 2^32 / 4.27e12 = 1.006 ms.
const ROW_MISS_COST: f64 = 0.85;

/// The time of a multiprocessor for a lane's atomic on the shared memory of another: 2^26 x 7/8 of them take 1.085 ms on
/// an H200 (`distributed_shared/cluster`, in the same file), 132 x 1.98 GHz x 1.085 ms / (2^26 x 7/8) = 4.83.
const CLUSTER_ATOMIC_CYCLES: f64 = 4.83;

/// Cycles that a line keeps L1 from other requests on its way from a store to L2, beyond the one in which L1 looks it up,
/// and as many more as bytes of its sectors are missing: a tile of rows of 32 bytes, each a whole sector in a line of its
/// own, is stored in about 3 cycles per row (`texture/plain_tile` in the same file), and words that are alone in their
/// sectors take 4 to 5 (`transpose/column_write`: 2^28 in 4.41 ms, 132 x 1.98 GHz x 4.41 ms / 2^28 = 4.3;
/// `coalescing/strided` and `coarsening/consecutive_16`, where loads use L1 as well).
const STORED_LINE_CYCLES: f64 = 2.0;

/// The sectors that L2 could hand out while it takes one that is stored. `local_memory/indexed` loads and stores
/// 3.8e7 of them in 0.336 ms: (1 + 1.75) x 3.8e7 x 32 / 10e12 = 0.334. `coarsening/consecutive_8` loads 1.7e7 and stores
/// 13.4e7 in 0.901 ms: (1.7e7 + 1.75 x 13.4e7) x 32 / 10e12 = 0.80, and L1 is busy for nearly as long (in the same file).
/// Nsight Compute counts 1.5 in L2 for each that is stored (`results/nvidia-h100/counters.csv.gz`).
const STORED_SECTOR: f64 = 1.75;

/// Slots of a scheduler for each further group of lanes, when those of a warp do one thing in groups one after another: the
/// 32 groups of `atomics/warp_aggregated` take 820 cycles of a scheduler on an H100 (814042 active cycles for 524288 / 528
/// warps, in that file), of which 20 slots are the warp's other instructions: (820 x 0.926 - 20) / 31.
const GROUP_SLOTS: f64 = 24.0;

/// The part of its slots in which a scheduler issues at the best: 61.96 of 66.9 TFLOP/s, the measured peak of
/// single-precision arithmetic in the same file and the theoretical one.
const ISSUED: f64 = 0.926;

/// Cycles of L1 for a request of loads from global memory, whose 32 addresses have 64 bits, at the least: loads of L1 that
/// find everything there take 1.32 times as long as those of shared memory (`constant_memory/global` beside `shared`, and
/// `matmul/coalesced`, in the same file).
const GLOBAL_REQUEST_CYCLES: f64 = 4.0 / 3.0;

/// Bytes that L1 hands to lanes per cycle, so that lanes which all want the same 16 bytes are given them in four cycles.
const HANDED_BYTES: u64 = 128;

/// Warps of a block that start in the time of one: 32768 empty blocks of 1, 2, 4, 8 or 16 warps take 22.9 us on an H100, and
/// of 32 warps 26.3 us: a fifth longer.
const STARTED_TOGETHER: f64 = 16.0;
/// The part of a block's start that each further warp adds.
const FURTHER_WARP: f64 = 0.2 / 16.0;

/// Part of the time that memory saves for bytes without any of the other direction beside them: it reads 4576 GB/s,
/// and copies 4283 GB/s, read and written together (measured peaks in the same file).
const READ_WRITE_TURNAROUND: f64 = 0.064;

/// Part of its rate that L2 has left when a window persists and all is set aside for it that the device allows: the 805 MB of
/// `l2_persistence/all_set_aside` take 0.325 ms on an H200 and 0.333 ms on an H100, and with four fifths of that set aside
/// 0.177 ms, as device memory does (in the same file, and `results/nvidia-h100/third.json.gz`). A third of them is stored:
/// (537e6 + 1.75 x 268e6) / 0.325e-3 / 10e12.
/// Nobody documents it. An A100 is said to gain by all that it allows, so that this holds from compute capability 9.0 on.
const ALL_SET_ASIDE: f64 = 0.31;

/// Part of the bus's rate that kernels reach in host memory of small pages: `managed_memory/preferred_host`, 1.03 ms for 32
/// MiB each way and once more one way, and `unified_addressing/registered`, 0.576 ms where memory of the driver's takes 0.420
/// (in the same file; its lines are shifted as well). Copies reach the whole rate (`pinned_memory/h2d_registered`).
const SMALL_PAGES: f64 = 0.8;

/// The exponent of the norm that joins parts with queues before them: two equal parts take 1.09 times one of them.
/// Fitted, as is the next, to all rows of kernels in the same file.
const QUEUE_NORM: f64 = 8.0;

/// The exponent of the norm that joins those with the start and the waiting of warps: two equal parts take 1.26 times one.
const STALL_NORM: f64 = 3.0;

/// The exponent of both where all blocks run at once and no warp repeats anything often: all load, compute and store at the
/// same time, and no other block computes while one waits. Chosen on 129 such kernels of others (`results/foreign`), whose
/// median error it takes from 14 to 12 %.
const IN_STEP_NORM: f64 = 2.0;

/// Turns of a loop, times the warps of a multiprocessor, in which warps lose their step: 64 warps in 4 turns, 8 in 32.
/// Loops of the catalogue over much memory, as `reduction/vectorized`, have lost it.
const IN_STEP_TURNS: f64 = 256.0;

/// The time by which the first launch of a kernel is longer: in the median of 218 kernels of others that run once, and of
/// 461 that run several times, what was measured by Nsight Compute on an H100 exceeds the rest of this model by 450 ns and by
/// nothing, where more than [`LONG_PROGRAM`] instructions run (`results/foreign`). It is memory's first use more than the
/// instructions, of which a first launch that loads nothing takes 100 ns (`results/nvidia-h100/first-launches.csv`).
const FIRST_LAUNCH_NS: f64 = 450.0;
/// Instructions of PTX, of which fewer take less of that time.
const LONG_PROGRAM: f64 = 128.0;

/// The parts that a multiprocessor keeps busy by itself, by name.
const INSIDE: [&str; 3] = ["L1 and shared memory", "constant cache", "issuing instructions"];

/// The parts that fill and empty a multiprocessor's places for warps, and the bus, which carries both ways at once.
const HELD: [&str; 4] =
    ["starting warps", "waiting for results", "reading host memory", "writing host memory"];

/// The time of parts together that are busy for so long, by the names of [`Parts::named`].
pub fn together(parts: &[(&str, f64)]) -> f64 {
    joined(parts, [QUEUE_NORM, STALL_NORM])
}

/// The time of parts together by the exponents for queues and for the start and the waiting of warps.
fn joined(parts: &[(&str, f64)], [queue_norm, stall_norm]: [f64; 2]) -> f64 {
    let norm = |exponent: f64, times: &mut dyn Iterator<Item = f64>| -> f64 {
        times.map(|time| time.powf(exponent)).sum::<f64>().powf(1.0 / exponent)
    };
    let of = |is_meant: &dyn Fn(&str) -> bool| -> Vec<f64> {
        parts.iter().filter(|(name, _)| is_meant(name)).map(|(_, time)| *time).collect()
    };
    let inside = of(&|name| INSIDE.contains(&name));
    let held = of(&|name| HELD.contains(&name));
    let memory = of(&|name| !INSIDE.contains(&name) && !HELD.contains(&name));
    let memory = norm(queue_norm, &mut memory.into_iter());
    let outside = norm(stall_norm, &mut held.into_iter().chain([memory]));
    norm(queue_norm, &mut inside.into_iter().chain([outside]))
}

/// The factor between a launch, a copy or a fill as it is meant to be and as it is executed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkScale {
    /// In its work: what it loads, stores and computes.
    pub work: f64,
    /// In its distinct bytes: as its work, unless the work uses each byte again and again.
    pub bytes: f64,
    /// In its blocks, and in what each of them does once. A grid of fixed size stays as it is.
    pub blocks: f64,
}

impl WorkScale {
    /// Larger in everything alike.
    pub fn all(times: f64) -> WorkScale {
        WorkScale { work: times, bytes: times, blocks: times }
    }
}

impl Default for WorkScale {
    fn default() -> WorkScale {
        WorkScale::all(1.0)
    }
}

/// A kernel that ran, as the model sees it.
#[derive(Debug, Clone, Copy)]
pub struct Load<'a> {
    /// The counts of what was executed.
    pub counters: &'a Counters,
    /// The estimate of what was executed.
    pub estimate: &'a Estimate,
    /// Its warps.
    pub warps: u64,
    /// Its blocks.
    pub blocks: u64,
    /// Blocks that fit on a multiprocessor at once.
    pub resident: u32,
    /// The factor between the launch as it is meant to be and as it ran.
    pub larger: WorkScale,
    /// A window keeps accesses in a part of L2 that is as large as the device allows.
    pub all_set_aside: bool,
    /// The links to the other devices' memory, in the order of the estimate's.
    pub links: &'a [&'a Link],
}

/// The time that each part of the device is busy with a kernel, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    /// Device memory.
    pub dram_ns: f64,
    /// L2.
    pub l2_ns: f64,
    /// Requests of multiprocessors to L2.
    pub requests_ns: f64,
    /// L1 and shared memory, which are one.
    pub l1_ns: f64,
    /// The constant caches.
    pub constant_ns: f64,
    /// Atomics in L2.
    pub atomics_ns: f64,
    /// The start of warps.
    pub start_ns: f64,
    /// The issue of instructions.
    pub issue_ns: f64,
    /// Warps that wait for results.
    pub waiting_ns: f64,
    /// The bus from mapped host memory.
    pub zero_copy_read_ns: f64,
    /// The bus to mapped host memory.
    pub zero_copy_write_ns: f64,
    /// The links from other devices' memory.
    pub peer_read_ns: f64,
    /// The links to other devices' memory.
    pub peer_write_ns: f64,
    /// All blocks run at once, and their warps do the same at the same time.
    pub are_in_step: bool,
}

impl Parts {
    /// Each part of the device by its name, with the time that it is busy.
    pub fn named(&self) -> [(&'static str, f64); 13] {
        [
            ("device memory", self.dram_ns),
            ("L2", self.l2_ns),
            ("requests to L2", self.requests_ns),
            ("L1 and shared memory", self.l1_ns),
            ("constant cache", self.constant_ns),
            ("atomic updates", self.atomics_ns),
            ("starting warps", self.start_ns),
            ("issuing instructions", self.issue_ns),
            ("waiting for results", self.waiting_ns),
            ("reading host memory", self.zero_copy_read_ns),
            ("writing host memory", self.zero_copy_write_ns),
            ("reading other devices", self.peer_read_ns),
            ("writing other devices", self.peer_write_ns),
        ]
    }

    /// The time of all parts together.
    pub fn together_ns(&self) -> f64 {
        let norms = if self.are_in_step { [IN_STEP_NORM; 2] } else { [QUEUE_NORM, STALL_NORM] };
        joined(&self.named(), norms)
    }
}

/// Returns how much longer the first launch of a kernel takes that runs so many instructions.
pub fn first_launch_ns(instructions: usize) -> f64 {
    FIRST_LAUNCH_NS * (instructions as f64 / LONG_PROGRAM).min(1.0)
}

/// Returns how long each part of the device is busy with a kernel.
pub fn parts(profile: &Profile, load: &Load<'_>) -> Parts {
    let Load { counters, estimate, larger, .. } = *load;
    let once = &estimate.once;
    // Amounts are counted in all and in what blocks do once.
    let grown = |amount: f64, once: f64| larger.work * (amount - once) + larger.blocks * once;
    let of = |count: &dyn Fn(&Counters) -> u64| grown(count(counters) as f64, count(once) as f64);
    let ns = |amount: f64, per_second: f64| amount / per_second * 1e9;
    let work = |amount: u64| larger.work * amount as f64;

    let stores = |c: &Counters| {
        c.global_store.sectors + c.global_atomic.sectors + c.global_reduction.sectors
    };
    let beyond = |of: &dyn Fn(&LinkTraffic) -> u64| {
        let host = [&estimate.host, &estimate.host_small_pages];
        work(estimate.peers.iter().chain(host).map(of).sum())
    };
    // Some stores go on together.
    let stored_lines = counters.global_store.lines.max(1) as f64;
    let unmerged = 1.0 - estimate.merged_store_lines as f64 / stored_lines;
    let near_stores = unmerged * (of(&stores) - beyond(&|link| link.sectors_written)).max(0.0);
    let local = of(&|c| c.local_load.sectors + c.local_store.sectors + c.surface_store.sectors);
    let stored_local = of(&|c| c.local_store.sectors + c.surface_store.sectors);
    let l2 = work(estimate.l1_missed_sectors) + near_stores + local;
    let l2 = 32.0 * (l2 + (STORED_SECTOR - 1.0) * (near_stores + stored_local));
    let written =
        32 * (estimate.dram_whole_sectors_written + estimate.dram_partial_sectors_written);
    let scattered = 1.0 + ROW_MISS_COST * estimate.row_miss_ratio;
    let first = scattered * (estimate.dram_read_bytes - estimate.refetched_bytes) as f64;
    let read = larger.bytes * (first + 32.0 * estimate.dram_partial_sectors_written as f64)
        + scattered * work(estimate.refetched_bytes)
        + 32.0 * estimate.atomic_sectors as f64;
    let written = larger.bytes * written as f64 + 32.0 * estimate.atomic_sectors as f64;
    let dram = read + written - READ_WRITE_TURNAROUND * (read - written).abs();
    let zero_copy = |sectors_and_lines: &dyn Fn(&LinkTraffic) -> [u64; 2], rate: f64| -> f64 {
        let [large, small] = [&estimate.host, &estimate.host_small_pages].map(|link| {
            let [sectors, lines] = sectors_and_lines(link);
            ns(work(32 * sectors), rate).max(ns(work(lines), profile.zero_copy_lines_per_second))
        });
        large + small / SMALL_PAGES
    };

    let multiprocessors = f64::from(profile.multiprocessors);
    let blocks = load.blocks as f64 * larger.blocks;
    let cycles = blocks.clamp(1.0, multiprocessors) * profile.clock_hz;
    let per_line = estimate.tag_cycles as f64 / counters.global_load.lines.max(1) as f64;
    // Polls are repeated as often as the executor's turns have it.
    let requests = counters.global_load.requests.max(1) as f64;
    let needed = (1.0 - estimate.requests_in_vain as f64 / requests).max(0.0);
    let l1 = |c: &Counters| {
        let shared = c.shared_load.wavefronts
            + c.shared_store.wavefronts
            + c.shared_atomic.wavefronts
            + c.shared_matrix_load.wavefronts
            + c.shared_matrix_store.wavefronts
            + c.async_copy_shared.wavefronts
            + c.barriers;
        // A texture unit takes a quad of lanes per cycle.
        let texture = c.texture_load.lines.max(c.texture_load.lanes.div_ceil(4));
        let loads = per_line * c.global_load.lines as f64;
        let needed = |loaded: u64| needed * loaded as f64;
        let loads = loads.max(GLOBAL_REQUEST_CYCLES * needed(c.global_load.requests)) as u64;
        let loads = loads.max(needed(c.global_load.bytes) as u64 / HANDED_BYTES);
        let tags = loads + c.global_store.lines;
        let sectors = needed(c.global_load.sectors) as u64 + c.global_store.sectors;
        shared + texture + tags.max(sectors.div_ceil(4))
    };
    let stored_lines = of(&|c| c.global_store.lines) - beyond(&|link| link.lines_written);
    let store = &counters.global_store;
    let missing = 1.0 - store.bytes_distinct as f64 / (32 * store.sectors).max(1) as f64;
    let stored = STORED_LINE_CYCLES * (1.0 + missing) * unmerged * stored_lines.max(0.0);
    // It is the way that all multiprocessors share which is as slow as that: a few of them have it to themselves.
    let lone = multiprocessors * profile.clock_hz;
    let stored_ns = ns(stored, lone).max(ns(unmerged * stored_lines.max(0.0), cycles));
    let requests =
        work(estimate.l1_missed_lines) + of(&|c| c.local_load.lines + c.local_store.lines);
    let atomic_lanes = |c: &Counters| c.global_atomic.lanes + c.global_reduction.lanes;
    let atomic_lines = |c: &Counters| c.global_atomic.lines + c.global_reduction.lines;
    let atomic_requests = |c: &Counters| c.global_atomic.requests + c.global_reduction.requests;
    let atomic_sectors = |c: &Counters| c.global_atomic.sectors + c.global_reduction.sectors;
    let whole_lines = |c: &Counters| atomic_requests(c).min(atomic_sectors(c) / LINE_SECTORS);
    let further = |c: &Counters| atomic_sectors(c).saturating_sub(atomic_lines(c));
    let sent_cycles = (SENT_REQUEST_CYCLES * of(&atomic_requests))
        .max(of(&atomic_lines) + SENT_SECTOR_CYCLES * of(&further));
    // Those of the busiest bytes are all like those of most bytes.
    let is_once = atomic_lanes(once) == atomic_lanes(counters);
    let hottest = estimate.atomics_queue as f64 / 100.0;
    let hottest = grown(hottest, if is_once { hottest } else { 0.0 });
    let slots = ISSUED * cycles * f64::from(profile.issue_slots_per_clock);
    let instructions = of(&|c| c.warp_instructions) + GROUP_SLOTS * work(estimate.further_groups);
    // What the assembler makes of an instruction, and the pipe that it keeps busy longest.
    let issued = estimate.pipe_cycles.max(estimate.issue_cycles) as f64 * instructions
        / counters.warp_instructions.max(1) as f64;

    let warps_per_block = load.warps as f64 / load.blocks.max(1) as f64;
    let room = f64::from(load.resident.max(1)) * multiprocessors;
    let resident_warps = blocks.min(room) * warps_per_block;
    // Where all blocks run at once, the multiprocessor with one block more than others is the last.
    let each = blocks / blocks.clamp(1.0, multiprocessors);
    let uneven = if blocks <= room { each.ceil() / each.max(1.0) } else { 1.0 };
    // So is the one whose blocks have more to do than others; a launch that stands for a larger one has too few to say.
    let has_all = larger == WorkScale::default();
    let busiest = if has_all { estimate.busiest } else { InsideWork::default() };
    let alone_ns = |cycles: u64| ns(cycles as f64, profile.clock_hz);
    // The last wave of blocks takes as long as a full one.
    let waves = (blocks / room).ceil().max(1.0) / (blocks / room).max(1.0);
    let waiting = grown(estimate.chain_cycles as f64, estimate.once_cycles as f64)
        * as_most_blocks(load, blocks / room);
    // A block has all of its places from the start of its first warp on.
    let further_warps = (warps_per_block - STARTED_TOGETHER).max(0.0);
    let start = profile.block_start_cycles * (1.0 + FURTHER_WARP * further_warps);
    let start_ns = ns(blocks * start, cycles);
    // No launch ends before the warp that takes longest, which takes longer where blocks have more to work on: as much as
    // warps take for their work in the mean, because what makes it the longest may be done once.
    let per_block = (larger.work / larger.blocks).max(1.0);
    let warps_of_each = resident_warps / blocks.clamp(1.0, multiprocessors);
    let are_in_step = blocks <= room && estimate.turns * per_block * warps_of_each < IN_STEP_TURNS;
    let body = (estimate.chain_cycles - estimate.once_cycles) as f64 / load.warps.max(1) as f64;
    let longest = estimate.longest_chain_cycles as f64 + (per_block - 1.0) * body;
    let longest = if estimate.longest_chain_cycles > 0 { longest } else { 0.0 };
    let l1_ns = ns(of(&l1), cycles) + ns(work(estimate.retry_cycles), cycles) + stored_ns;
    let l1_ns = (uneven * l1_ns).max(alone_ns(busiest.l1_cycles));
    let constant = of(&|c| c.constant_load.wavefronts) * profile.constant_pass_cycles;
    let constant_ns = uneven * ns(constant, cycles);
    let own_slots = ISSUED * f64::from(profile.issue_slots_per_clock);
    let issue_ns = (uneven * ns(issued, slots)).max(alone_ns(busiest.issue_cycles) / own_slots);
    let mut waiting_ns = waves * ns(waiting, resident_warps * profile.clock_hz)
        + start_ns / f64::from(load.resident.max(1));
    if counters.barriers > load.warps {
        // A block that meets at barriers computes behind what it waits for, and only other blocks compute meanwhile. Its
        // warps' own instructions are among what they wait for already.
        let multiprocessors = blocks.clamp(1.0, multiprocessors);
        let own_ns = issue_ns * slots / cycles / (resident_warps / multiprocessors).max(1.0);
        let inside_ns = l1_ns.max(constant_ns).max(issue_ns);
        let in_turn_ns =
            (waiting_ns - own_ns).max(0.0) + inside_ns * multiprocessors / blocks.min(room);
        // What is joined with the computing itself to that time.
        let norm = if are_in_step { IN_STEP_NORM } else { QUEUE_NORM };
        let rest = (in_turn_ns.powf(norm) - inside_ns.powf(norm)).max(0.0);
        waiting_ns = waiting_ns.max(rest.powf(1.0 / norm));
    }
    Parts {
        dram_ns: ns(dram, profile.dram_bytes_per_second),
        l2_ns: ns(
            l2,
            if load.all_set_aside { ALL_SET_ASIDE } else { 1.0 } * profile.l2_bytes_per_second,
        ),
        l1_ns,
        requests_ns: ns(requests * profile.l2_request_cycles, cycles)
            .max(alone_ns(busiest.l2_lines) * profile.l2_request_cycles),
        constant_ns,
        atomics_ns: ns(
            (of(&atomic_lines) - beyond(&|link| link.atomics)).max(0.0)
                + (SWAP - 1.0) * work(estimate.swapped_lines),
            profile.atomics_per_second,
        )
        .max(ns(of(&whole_lines) * ATOMIC_REQUEST_CYCLES, multiprocessors * profile.clock_hz))
        .max(ns(sent_cycles, cycles))
        .max(ns(work(estimate.cluster_atomics) * CLUSTER_ATOMIC_CYCLES, cycles))
        .max(ns(hottest, profile.atomics_per_second_of_one_address)),
        start_ns,
        issue_ns,
        waiting_ns: waiting_ns
            .max(ns(longest, profile.clock_hz) + work(estimate.other_lines_ns))
            .max(work(estimate.calls_ns)),
        zero_copy_read_ns: zero_copy(
            &|link| [link.sectors_read, link.lines_read],
            profile.zero_copy_read_bytes_per_second,
        ),
        zero_copy_write_ns: zero_copy(
            &|link| [link.sectors_written, link.lines_written],
            profile.zero_copy_write_bytes_per_second,
        ),
        peer_read_ns: ways_ns(load).map(|[read, _]| read).sum(),
        peer_write_ns: ways_ns(load).map(|[_, written]| written).sum(),
        are_in_step,
    }
}

/// Returns how much longer or shorter than the warps that were executed those of a launch wait in the mean, which is so many times
/// as large as what runs at once: of what was executed, the blocks that ran at once from the begin on are a larger part.
fn as_most_blocks(load: &Load<'_>, waves: f64) -> f64 {
    let Estimate { chain_cycles, first_chain_cycles, first_warps, .. } = *load.estimate;
    let later_warps = load.warps.saturating_sub(first_warps);
    if later_warps < first_warps || first_chain_cycles == 0 {
        return 1.0;
    }
    let mean = |cycles: u64, warps: u64| cycles as f64 / warps as f64;
    let first = mean(first_chain_cycles, first_warps);
    let later = mean(chain_cycles - first_chain_cycles, later_warps);
    let part = (1.0 / waves).min(1.0);
    (part * first + (1.0 - part) * later) / mean(chain_cycles, load.warps)
}

/// Returns how long a kernel keeps each link to another device busy, from there and to there, in nanoseconds.
fn ways_ns(load: &Load<'_>) -> impl Iterator<Item = [f64; 2]> {
    let ns = |amount: u64, rate: f64| load.larger.work * amount as f64 / rate * 1e9;
    load.estimate.peers.iter().zip(load.links).map(move |(traffic, link)| {
        let stored = traffic.sectors_written - traffic.atomics.min(traffic.sectors_written);
        let read = ns(32 * traffic.sectors_read, link.read_bytes_per_second);
        let written = ns(32 * stored, link.write_bytes_per_second);
        [read, written + ns(traffic.atomics, link.atomics_per_second)]
    })
}

/// Returns how long a kernel of `device` keeps each end of the links to other devices busy, in nanoseconds.
pub fn links_busy(load: &Load<'_>, device: usize, peers: &[usize]) -> Vec<(Place, f64)> {
    let mut busy = Vec::new();
    for ([read, written], peer) in ways_ns(load).zip(peers) {
        let ways = [(*peer, device, read), (device, *peer, written)];
        for (from, to, ns) in ways.into_iter().filter(|(_, _, ns)| *ns > 0.0) {
            busy.extend([((from, Engine::LinkOut), ns), ((to, Engine::LinkIn), ns)]);
        }
    }
    busy
}

#[cfg(test)]
mod tests;
