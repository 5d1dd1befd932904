//! The performance model: from exact counts, an estimate of waiting and a profile to a time.
//!
//! Everything here is a model and labelled so. A kernel takes about as long as the part of the device
//! that it keeps busy longest:
//!
//! ```text
//! DRAM       bytes that L2 asks for, distinct bytes written, and the rest of sectors that are written in part / rate
//! L2         sectors that L1 does not have, stored sectors and atomics x 32 / rate
//! requests   lines that are asked of L2 or stored there x cycles / (multiprocessors x clock)
//! L1         passes for lines of global memory, wavefronts of shared memory / (multiprocessors x clock)
//! constant   passes x cycles / (multiprocessors x clock)
//! atomics    lines of requests / rate, requests x cycles / (multiprocessors x clock), or what the busiest part of
//!            L2 spends: the lanes of a line take a pass together, those of one address wait for each other;
//!            lanes that reach for another block's shared memory x cycles / (multiprocessors x clock)
//! start      warps x cycles / (multiprocessors x clock)
//! issue      warp-instructions / (multiprocessors x issue slots x clock), or twice those that multiply integers
//! waiting    cycles that each warp waits, summed / (resident warps x clock), or those of the warp that waits longest
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
//! Parts that are nearly as long disturb each other: the times are joined by a p-norm
//! ([`TOGETHER`]). The time until a kernel starts comes on top.

use crate::link::Link;
use crate::profile::Profile;
use crate::timeline::{Engine, Place};
use simt::{Counters, Estimate, LinkTraffic};

/// How long a multiprocessor takes for a request of atomics: 2^24 updates of 2^18 counters take 0.0446 ms on an H200
/// (`atomics/global` in `results/nvidia-h200/reference.json`), 132 x 1.98 GHz x 0.0446 ms / 2^19 requests = 22.
const ATOMIC_REQUEST_CYCLES: f64 = 22.0;

/// How much longer memory takes for a granule far from the others of its request: 2^26 words at random in 256 MiB, each
/// alone in 64 bytes, take 1.486 ms on an H200 (`bus_utilization/random_cg` in `results/nvidia-h200/reference.json`), and
/// 2^32 bytes at the rate of copies take 2^32 / 4.27e12 = 1.006 ms.
const ALONE: f64 = 0.48;

/// How long a multiprocessor takes for a lane's atomic on the shared memory of another: 2^26 x 7/8 of them take 1.085 ms on
/// an H200 (`distributed_shared/cluster`, in the same file), 132 x 1.98 GHz x 1.085 ms / (2^26 x 7/8) = 4.83.
const CLUSTER_ATOMIC_CYCLES: f64 = 4.83;

/// The exponent of the norm that joins the parts: with 4, two equal parts take 1.19 times one of them.
const TOGETHER: f64 = 4.0;

/// How much larger a launch, a copy or a fill is taken to be than what is executed.
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
pub(crate) struct Load<'a> {
    pub(crate) counters: &'a Counters,
    /// What of it each block does once.
    pub(crate) once: &'a Counters,
    pub(crate) estimate: &'a Estimate,
    pub(crate) warps: u64,
    pub(crate) blocks: u64,
    /// Blocks that fit on a multiprocessor at once.
    pub(crate) resident: u32,
    /// How much larger the launch is taken to be than what ran.
    pub(crate) larger: WorkScale,
    /// How the other devices' memory is reached, in the order of the estimate's.
    pub(crate) links: &'a [&'a Link],
}

/// How long each part of the device is busy with a kernel, in nanoseconds.
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
}

impl Parts {
    fn all(&self) -> [f64; 13] {
        let Parts {
            dram_ns,
            l2_ns,
            requests_ns,
            l1_ns,
            constant_ns,
            atomics_ns,
            start_ns,
            issue_ns,
            waiting_ns,
            zero_copy_read_ns,
            zero_copy_write_ns,
            peer_read_ns,
            peer_write_ns,
        } = *self;
        [
            dram_ns,
            l2_ns,
            requests_ns,
            l1_ns,
            constant_ns,
            atomics_ns,
            start_ns,
            issue_ns,
            waiting_ns,
            zero_copy_read_ns,
            zero_copy_write_ns,
            peer_read_ns,
            peer_write_ns,
        ]
    }

    /// Each part of the device by its name, with the time that it is busy.
    pub fn named(&self) -> [(&'static str, f64); 13] {
        const NAMES: [&str; 13] = [
            "device memory",
            "L2",
            "requests to L2",
            "L1 and shared memory",
            "constant cache",
            "atomic updates",
            "starting warps",
            "issuing instructions",
            "waiting for results",
            "reading host memory",
            "writing host memory",
            "reading other devices",
            "writing other devices",
        ];
        let times = self.all();
        std::array::from_fn(|part| (NAMES[part], times[part]))
    }

    /// The time of all parts together.
    pub fn together_ns(&self) -> f64 {
        let sum: f64 = self.all().iter().map(|part| part.powf(TOGETHER)).sum();
        sum.powf(1.0 / TOGETHER)
    }
}

/// How long each part of the device is busy with a kernel.
pub(crate) fn parts(profile: &Profile, load: &Load<'_>) -> Parts {
    let Load { counters, once, estimate, larger, .. } = *load;
    // Amounts are counted in all and in what blocks do once.
    let grown = |amount: f64, once: f64| larger.work * (amount - once) + larger.blocks * once;
    let of = |count: &dyn Fn(&Counters) -> u64| grown(count(counters) as f64, count(once) as f64);
    let ns = |amount: f64, per_second: f64| amount / per_second * 1e9;
    let work = |amount: u64| larger.work * amount as f64;

    let stores = |c: &Counters| {
        c.global_store.sectors + c.global_atomic.sectors + c.global_reduction.sectors
    };
    let beyond = |of: &dyn Fn(&LinkTraffic) -> u64| {
        work(estimate.peers.iter().chain([&estimate.far]).map(of).sum())
    };
    let near_stores = (of(&stores) - beyond(&|link| link.sectors_written)).max(0.0);
    let local = of(&|c| c.local_load.sectors + c.local_store.sectors + c.surface_store.sectors);
    let l2 = 32.0 * (work(estimate.l1_missed_sectors) + near_stores + local);
    let written =
        32 * (estimate.dram_whole_sectors_written + 2 * estimate.dram_partial_sectors_written);
    let scattered = 1.0 + ALONE * estimate.alone;
    let first = scattered * (estimate.dram_read_bytes - estimate.dram_again_bytes) as f64;
    let dram = larger.bytes * (first + written as f64)
        + scattered * work(estimate.dram_again_bytes)
        + 64.0 * estimate.atomic_sectors as f64;
    let zero_copy = |sectors: u64, lines: u64, bytes_per_second: f64| {
        ns(work(32 * sectors), bytes_per_second)
            .max(ns(work(lines), profile.zero_copy_lines_per_second))
    };

    let multiprocessors = f64::from(profile.multiprocessors);
    let blocks = load.blocks as f64 * larger.blocks;
    let cycles = blocks.clamp(1.0, multiprocessors) * profile.clock_hz;
    let per_line = estimate.tag_cycles as f64 / counters.global_load.lines.max(1) as f64;
    let l1 = |c: &Counters| {
        let shared = c.shared_load.wavefronts
            + c.shared_store.wavefronts
            + c.shared_atomic.wavefronts
            + c.shared_matrix_load.wavefronts
            + c.shared_matrix_store.wavefronts
            + c.async_copy_shared.wavefronts;
        // A texture unit takes a quad of lanes per cycle.
        let texture = c.texture_load.lines.max(c.texture_load.lanes.div_ceil(4));
        let tags = (per_line * c.global_load.lines as f64) as u64 + c.global_store.lines;
        shared + texture + tags.max((c.global_load.sectors + c.global_store.sectors).div_ceil(4))
    };
    let stored_lines = of(&|c| c.global_store.lines) - beyond(&|link| link.lines_written);
    let requests = work(estimate.l1_missed_lines) + stored_lines.max(0.0);
    let atomic_lanes = |c: &Counters| c.global_atomic.lanes + c.global_reduction.lanes;
    let atomic_lines = |c: &Counters| c.global_atomic.lines + c.global_reduction.lines;
    let atomic_requests = |c: &Counters| c.global_atomic.requests + c.global_reduction.requests;
    // Those of the busiest bytes are all like those of most bytes.
    let is_once = atomic_lanes(once) == atomic_lanes(counters);
    let hottest = estimate.atomics_queue as f64 / 100.0;
    let hottest = grown(hottest, if is_once { hottest } else { 0.0 });
    let slots = cycles * f64::from(profile.issue_slots_per_clock);
    let instructions = of(&|c| c.warp_instructions);
    // One of two pipes multiplies integers, so that they take two slots each.
    let multiplies = 2.0 * estimate.integer_multiplies as f64 * instructions
        / counters.warp_instructions.max(1) as f64;

    let warps_per_block = load.warps as f64 / load.blocks.max(1) as f64;
    let room = f64::from(load.resident.max(1)) * multiprocessors;
    let resident_warps = blocks.min(room) * warps_per_block;
    // The last wave of blocks takes as long as a full one.
    let waves = (blocks / room).ceil().max(1.0) / (blocks / room).max(1.0);
    let waiting = grown(estimate.chain_cycles as f64, estimate.once_cycles as f64);
    // No launch ends before the warp that takes longest, which takes longer where blocks have more to work on: as much as
    // warps take for their work in the mean, because what makes it the longest may be done once.
    let per_block = (larger.work / larger.blocks).max(1.0);
    let body = (estimate.chain_cycles - estimate.once_cycles) as f64 / load.warps.max(1) as f64;
    let longest = estimate.longest_chain_cycles as f64 + (per_block - 1.0) * body;
    let longest = if estimate.longest_chain_cycles > 0 { longest } else { 0.0 };
    Parts {
        dram_ns: ns(dram, profile.dram_bytes_per_second),
        l2_ns: ns(l2, profile.l2_bytes_per_second),
        l1_ns: ns(of(&l1), cycles),
        requests_ns: ns(requests * profile.l2_request_cycles, cycles),
        constant_ns: ns(of(&|c| c.constant_load.wavefronts) * profile.constant_pass_cycles, cycles),
        atomics_ns: ns(
            (of(&atomic_lines) - beyond(&|link| link.atomics)).max(0.0),
            profile.atomics_per_second,
        )
        .max(ns(of(&atomic_requests) * ATOMIC_REQUEST_CYCLES, cycles))
        .max(ns(work(estimate.cluster_atomics) * CLUSTER_ATOMIC_CYCLES, cycles))
        .max(ns(hottest, profile.atomics_per_second_of_one_address)),
        start_ns: ns(larger.blocks * load.warps as f64 * profile.warp_start_cycles, cycles),
        issue_ns: ns(instructions.max(multiplies), slots),
        waiting_ns: (waves * ns(waiting, resident_warps * profile.clock_hz))
            .max(ns(longest, profile.clock_hz)),
        zero_copy_read_ns: zero_copy(
            estimate.far.sectors_read,
            estimate.far.lines_read,
            profile.zero_copy_read_bytes_per_second,
        ),
        zero_copy_write_ns: zero_copy(
            estimate.far.sectors_written,
            estimate.far.lines_written,
            profile.zero_copy_write_bytes_per_second,
        ),
        peer_read_ns: ways_ns(load).map(|[read, _]| read).sum(),
        peer_write_ns: ways_ns(load).map(|[_, written]| written).sum(),
    }
}

/// How long a kernel keeps each link to another device busy, from there and to there, in nanoseconds.
fn ways_ns(load: &Load<'_>) -> impl Iterator<Item = [f64; 2]> {
    let ns = |amount: u64, rate: f64| load.larger.work * amount as f64 / rate * 1e9;
    load.estimate.peers.iter().zip(load.links).map(move |(traffic, link)| {
        let stored = traffic.sectors_written - traffic.atomics.min(traffic.sectors_written);
        let read = ns(32 * traffic.sectors_read, link.read_bytes_per_second);
        let written = ns(32 * stored, link.write_bytes_per_second);
        [read, written + ns(traffic.atomics, link.atomics_per_second)]
    })
}

/// How long a kernel of `device` keeps each end of the links to other devices busy, in nanoseconds.
pub(crate) fn links_busy(load: &Load<'_>, device: usize, peers: &[usize]) -> Vec<(Place, f64)> {
    let mut busy = Vec::new();
    for ([read, written], peer) in ways_ns(load).zip(peers) {
        let ways = [(*peer, device, read), (device, *peer, written)];
        for (from, to, ns) in ways.into_iter().filter(|(_, _, ns)| *ns > 0.0) {
            busy.extend([((from, Engine::Outward), ns), ((to, Engine::Inward), ns)]);
        }
    }
    busy
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    static NOTHING: LazyLock<Counters> = LazyLock::new(Counters::default);

    fn load<'a>(counters: &'a Counters, estimate: &'a Estimate) -> Load<'a> {
        let (warps, blocks) = (8 << 20, 1 << 20);
        let larger = WorkScale::default();
        Load { counters, once: &NOTHING, estimate, warps, blocks, resident: 8, larger, links: &[] }
    }

    #[test]
    fn a_large_streaming_kernel_runs_at_the_rate_of_dram() {
        let profile = Profile::named("h200").unwrap();
        let bytes: u64 = 16 << 30;
        let counters = Counters::default();
        let estimate = Estimate { dram_read_bytes: bytes, ..Estimate::default() };
        let time = parts(&profile, &load(&counters, &estimate)).together_ns();
        let rate = bytes as f64 / time * 1e9;
        assert!((0.9..=1.0).contains(&(rate / profile.dram_bytes_per_second)), "{rate}");
    }

    #[test]
    fn a_launch_that_is_twice_as_large_takes_twice_as_long() {
        let profile = Profile::named("h200").unwrap();
        let mut counters = Counters::default();
        counters.shared_load.wavefronts = 1 << 30;
        let estimate = Estimate { chain_cycles: 1 << 40, ..Estimate::default() };
        let once = load(&counters, &estimate);
        let twice = Load { larger: WorkScale::all(2.0), ..once };
        let ratio = parts(&profile, &twice).together_ns() / parts(&profile, &once).together_ns();
        assert!((1.99..2.01).contains(&ratio), "{ratio}");
    }

    #[test]
    fn no_launch_ends_before_its_longest_warp() {
        let profile = Profile::named("h200").unwrap();
        let counters = Counters::default();
        let estimate = Estimate {
            chain_cycles: 8 << 20,
            longest_chain_cycles: 1_980_000,
            ..Estimate::default()
        };
        let once = load(&counters, &estimate);
        assert_eq!(parts(&profile, &once).waiting_ns, 1e6, "1.98 million cycles at 1.98 GHz");
        // Blocks with three times the work: each warp waits one cycle in the mean, and two more then.
        let larger = WorkScale { blocks: 1.0, ..WorkScale::all(3.0) };
        let more = parts(&profile, &Load { larger, ..once }).waiting_ns - 1e6;
        assert!((more * 1.98 - 2.0).abs() < 1e-3, "{more}");
    }

    #[test]
    fn what_takes_longer_than_its_count_says() {
        let profile = Profile::named("h200").unwrap();
        let mut counters = Counters::default();
        (counters.warp_instructions, counters.global_load.lines) = (1 << 30, 1 << 30);
        let of = |estimate: Estimate| parts(&profile, &load(&counters, &estimate));
        let tag_cycles = 1 << 30;
        let read = Estimate { dram_read_bytes: 1 << 40, tag_cycles, ..Estimate::default() };
        let plain = of(read.clone());
        let alone = of(Estimate { alone: 1.0, ..read.clone() });
        assert!((alone.dram_ns / plain.dram_ns - (1.0 + ALONE)).abs() < 1e-9);
        let banked = of(Estimate { tag_cycles: tag_cycles / 4, ..read.clone() });
        assert!((plain.l1_ns / banked.l1_ns - 4.0).abs() < 1e-9);
        let all = of(Estimate { integer_multiplies: 1 << 30, ..read.clone() });
        assert!((all.issue_ns / plain.issue_ns - 2.0).abs() < 1e-9);
        let cluster = of(Estimate { cluster_atomics: 132 * 1_980_000, ..read });
        assert!((cluster.atomics_ns / 1e6 - CLUSTER_ATOMIC_CYCLES).abs() < 1e-9);
    }

    #[test]
    fn bank_conflicts_bind_when_they_are_many() {
        let profile = Profile::named("h200").unwrap();
        let mut counters = Counters::default();
        counters.shared_load.wavefronts = 1 << 26;
        let time = |counters: &Counters| {
            parts(&profile, &load(counters, &Estimate::default())).together_ns()
        };
        let without = time(&counters);
        counters.shared_load.wavefronts *= 1024;
        assert!(time(&counters) > 100.0 * without);
    }

    #[test]
    fn a_part_of_a_sector_costs_as_much_as_two_sectors() {
        let profile = Profile::named("h200").unwrap();
        let counters = Counters::default();
        let whole = Estimate { dram_whole_sectors_written: 1000, ..Estimate::default() };
        let partial = Estimate { dram_partial_sectors_written: 1000, ..Estimate::default() };
        let dram = |estimate| parts(&profile, &load(&counters, &estimate)).dram_ns;
        assert_eq!(dram(partial), 2.0 * dram(whole));
    }

    #[test]
    fn constant_memory_costs_its_passes() {
        let profile = Profile::named("h200").unwrap();
        let time = |passes: u64| {
            let mut counters = Counters::default();
            counters.constant_load.wavefronts = passes << 24;
            parts(&profile, &load(&counters, &Estimate::default())).constant_ns
        };
        assert!((time(32) / time(1) - 32.0).abs() < 1e-9);
    }

    #[test]
    fn what_a_block_does_once_grows_with_the_blocks() {
        let profile = Profile::named("h200").unwrap();
        let (mut all, mut once) = (Counters::default(), Counters::default());
        (all.shared_load.wavefronts, once.shared_load.wavefronts) = (3 << 20, 2 << 20);
        (all.global_reduction.lanes, once.global_reduction.lanes) = (1 << 20, 1 << 20);
        let estimate = Estimate::default();
        let larger = WorkScale { blocks: 1.0, ..WorkScale::all(100.0) };
        let before = parts(&profile, &load(&all, &estimate));
        let after = parts(&profile, &Load { once: &once, larger, ..load(&all, &estimate) });
        assert!((after.l1_ns / before.l1_ns - 102.0 / 3.0).abs() < 1e-9, "{after:?}");
        assert_eq!(after.atomics_ns, before.atomics_ns);
    }

    #[test]
    fn a_line_of_host_memory_costs_a_request_whatever_it_carries() {
        let profile = Profile::named("h200").unwrap();
        let counters = Counters::default();
        let time = |sectors_read, lines_read| {
            let far = LinkTraffic { sectors_read, lines_read, ..LinkTraffic::default() };
            let estimate = Estimate { far, ..Estimate::default() };
            parts(&profile, &load(&counters, &estimate)).zero_copy_read_ns
        };
        let bytes = 32.0 * f64::from(1 << 20);
        let whole = bytes / profile.zero_copy_read_bytes_per_second * 1e9;
        assert_eq!(time(1 << 20, 1 << 18), whole);
        let single = f64::from(1 << 20) / profile.zero_copy_lines_per_second * 1e9;
        assert_eq!(time(1 << 20, 1 << 20), single);
        assert!(single > 1.5 * whole);
    }

    #[test]
    fn remote_sectors_cost_the_time_of_their_link() {
        let profile = Profile::named("h100").unwrap();
        let link = profile.link.clone().unwrap();
        let traffic = LinkTraffic {
            sectors_read: 1 << 20,
            sectors_written: 1 << 19,
            ..LinkTraffic::default()
        };
        let estimate = Estimate { peers: vec![traffic, traffic], ..Estimate::default() };
        let counters = Counters::default();
        let links = [&link, &link];
        let parts = parts(&profile, &Load { links: &links, ..load(&counters, &estimate) });
        let bytes = 2.0 * 32.0 * f64::from(1 << 20);
        assert_eq!(parts.peer_read_ns, bytes / link.read_bytes_per_second * 1e9);
        assert_eq!(parts.peer_write_ns, bytes / 2.0 / link.write_bytes_per_second * 1e9);
        assert_eq!((parts.dram_ns, parts.l2_ns), (0.0, 0.0));
    }
}
