//! The performance model: from exact counts, an estimate of waiting and a profile to a time.
//!
//! Everything here is a model and labelled so. A kernel takes about as long as the part of the device
//! that it keeps busy longest:
//!
//! ```text
//! DRAM       distinct bytes read and written, and the rest of sectors that are written in part / rate
//! L2         sectors that L1 does not have, stored sectors and atomics x 32 / rate
//! requests   lines that are asked of L2 or stored there x cycles / (multiprocessors x clock)
//! L1         lines of global memory, wavefronts of shared memory / (multiprocessors x clock)
//! constant   passes x cycles / (multiprocessors x clock)
//! atomics    lanes / rate, or the lanes that meet in one line / its rate
//! start      warps x cycles / (multiprocessors x clock)
//! issue      warp-instructions / (multiprocessors x issue slots x clock)
//! waiting    cycles that each warp waits, summed / (resident warps x clock)
//! zero-copy  sectors of mapped host memory that L1 does not have, or stored ones, x 32 / rate of the bus;
//!            L2 keeps none of them, so that a second read crosses the bus again
//! ```
//!
//! Parts that are nearly as long disturb each other: the times are joined by a p-norm
//! ([`TOGETHER`]). The time until a kernel starts comes on top.

use crate::profile::Profile;
use simt::{Counters, Estimate};

/// A copy's ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the host; `true` when the host memory is pageable.
    Upload(bool),
    /// To the host; `true` when the host memory is pageable.
    Download(bool),
    /// Inside the device.
    Device,
    /// Inside the host.
    Host,
}

/// How long a copy occupies its engine, in nanoseconds.
pub(crate) fn copy_ns(profile: &Profile, direction: Direction, bytes: u64) -> f64 {
    let bytes = bytes as f64;
    let (moved, rate) = match direction {
        Direction::Upload(false) => (bytes, profile.host_to_device_bytes_per_second),
        Direction::Upload(true) => (bytes, profile.pageable_host_to_device_bytes_per_second),
        Direction::Download(false) => (bytes, profile.device_to_host_bytes_per_second),
        Direction::Download(true) => (bytes, profile.pageable_device_to_host_bytes_per_second),
        Direction::Device => (2.0 * bytes, profile.dram_bytes_per_second),
        Direction::Host => (bytes, profile.pageable_host_to_device_bytes_per_second),
    };
    profile.copy_latency_ns / 4.0 + moved / rate * 1e9
}

/// How long a fill takes, in nanoseconds.
pub(crate) fn fill_ns(profile: &Profile, bytes: u64) -> f64 {
    profile.kernel_minimum_ns + bytes as f64 / profile.dram_bytes_per_second * 1e9
}

/// The exponent of the norm that joins the parts: with 4, two equal parts take 1.19 times one of them.
const TOGETHER: f64 = 4.0;

/// How much larger a launch is taken to be than what is executed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Larger {
    /// In its work: what it loads, stores and computes.
    pub work: f64,
    /// In its blocks, and in the atomics that each block ends with. A grid of fixed size stays as it is.
    pub blocks: f64,
}

impl Default for Larger {
    fn default() -> Larger {
        Larger { work: 1.0, blocks: 1.0 }
    }
}

/// A kernel that ran, as the model sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) counters: &'a Counters,
    pub(crate) estimate: Estimate,
    pub(crate) warps: u64,
    pub(crate) blocks: u64,
    /// Blocks that fit on a multiprocessor at once.
    pub(crate) resident: u32,
    /// How much larger the launch is taken to be than what ran.
    pub(crate) larger: Larger,
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
    /// The bus to mapped host memory.
    pub zero_copy_ns: f64,
}

impl Parts {
    fn all(&self) -> [f64; 10] {
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
            zero_copy_ns,
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
            zero_copy_ns,
        ]
    }

    /// The time of all parts together.
    pub fn together_ns(&self) -> f64 {
        let sum: f64 = self.all().iter().map(|part| part.powf(TOGETHER)).sum();
        sum.powf(1.0 / TOGETHER)
    }
}

/// How long each part of the device is busy with a kernel.
pub(crate) fn parts(profile: &Profile, load: &Load<'_>) -> Parts {
    let Load { counters, estimate, larger, .. } = *load;
    let stores = counters.global_store.sectors
        + counters.global_atomic.sectors
        + counters.global_reduction.sectors;
    let near_stores = 32 * stores.saturating_sub(estimate.far_sectors_written);
    let local = 32 * (counters.local_load.sectors + counters.local_store.sectors);

    let ns = |amount: f64, per_second: f64| larger.work * amount / per_second * 1e9;
    let by_block = |amount: f64, per_second: f64| larger.blocks * amount / per_second * 1e9;

    let written =
        32 * (estimate.dram_whole_sectors_written + 2 * estimate.dram_partial_sectors_written);
    let dram = (estimate.dram_read_bytes + written) as f64;
    let l2 = (32 * estimate.l1_missed_sectors + near_stores + local) as f64;
    // The link carries both directions at once.
    let far = |sectors: u64, rate| ns(32.0 * sectors as f64, rate);
    let zero_copy_ns = far(estimate.far_sectors_read, profile.zero_copy_read_bytes_per_second)
        .max(far(estimate.far_sectors_written, profile.zero_copy_write_bytes_per_second));

    let multiprocessors = u64::from(profile.multiprocessors);
    let blocks = load.blocks as f64 * larger.blocks;
    let active = blocks.clamp(1.0, multiprocessors as f64);
    let cycles = active * profile.clock_hz;
    let shared = counters.shared_load.wavefronts
        + counters.shared_store.wavefronts
        + counters.shared_atomic.wavefronts
        + counters.shared_matrix_load.wavefronts
        + counters.shared_matrix_store.wavefronts
        + counters.async_copy_shared.wavefronts;
    let tags = counters.global_load.lines + counters.global_store.lines;
    let data = (counters.global_load.sectors + counters.global_store.sectors).div_ceil(4);
    let atomic_lanes = counters.global_atomic.lanes + counters.global_reduction.lanes;
    let near_lines = counters.global_store.lines.saturating_sub(estimate.far_sectors_written);
    let requests = estimate.l1_missed_lines + near_lines;
    let slots = cycles * f64::from(profile.issue_slots_per_clock);

    let warps_per_block = load.warps as f64 / load.blocks.max(1) as f64;
    let room = f64::from(load.resident.max(1)) * multiprocessors as f64;
    let resident_warps = blocks.min(room) * warps_per_block;
    // The last wave of blocks takes as long as a full one.
    let waves = (blocks / room).ceil().max(1.0) / (blocks / room).max(1.0);
    Parts {
        dram_ns: ns(dram, profile.dram_bytes_per_second),
        l2_ns: ns(l2, profile.l2_bytes_per_second),
        l1_ns: ns((shared + tags.max(data)) as f64, cycles),
        requests_ns: ns(requests as f64 * profile.l2_request_cycles, cycles),
        constant_ns: ns(
            counters.constant_load.wavefronts as f64 * profile.constant_pass_cycles,
            cycles,
        ),
        atomics_ns: by_block(atomic_lanes as f64, profile.atomics_per_second).max(by_block(
            estimate.hottest_line_atomics as f64,
            profile.atomics_per_second_of_one_line,
        )),
        start_ns: by_block(load.warps as f64 * profile.warp_start_cycles, cycles),
        issue_ns: ns(counters.warp_instructions as f64, slots),
        waiting_ns: waves * ns(estimate.chain_cycles as f64, resident_warps * profile.clock_hz),
        zero_copy_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(counters: &Counters, estimate: Estimate) -> Load<'_> {
        let (warps, blocks) = (8 << 20, 1 << 20);
        Load { counters, estimate, warps, blocks, resident: 8, larger: Larger::default() }
    }

    #[test]
    fn a_large_streaming_kernel_runs_at_the_rate_of_dram() {
        let profile = Profile::named("h200").unwrap();
        let bytes: u64 = 16 << 30;
        let counters = Counters::default();
        let estimate = Estimate { dram_read_bytes: bytes, ..Estimate::default() };
        let time = parts(&profile, &load(&counters, estimate)).together_ns();
        let rate = bytes as f64 / time * 1e9;
        assert!((0.9..=1.0).contains(&(rate / profile.dram_bytes_per_second)), "{rate}");
    }

    #[test]
    fn a_launch_that_is_twice_as_large_takes_twice_as_long() {
        let profile = Profile::named("h200").unwrap();
        let mut counters = Counters::default();
        counters.shared_load.wavefronts = 1 << 30;
        let once = load(&counters, Estimate { chain_cycles: 1 << 40, ..Estimate::default() });
        let twice = Load { larger: Larger { work: 2.0, blocks: 2.0 }, ..once };
        let ratio = parts(&profile, &twice).together_ns() / parts(&profile, &once).together_ns();
        assert!((1.99..2.01).contains(&ratio), "{ratio}");
    }

    #[test]
    fn bank_conflicts_bind_when_they_are_many() {
        let profile = Profile::named("h200").unwrap();
        let mut counters = Counters::default();
        counters.shared_load.wavefronts = 1 << 26;
        let time = |counters: &Counters| {
            parts(&profile, &load(counters, Estimate::default())).together_ns()
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
        let dram = |estimate| parts(&profile, &load(&counters, estimate)).dram_ns;
        assert_eq!(dram(partial), 2.0 * dram(whole));
    }

    #[test]
    fn constant_memory_costs_its_passes() {
        let profile = Profile::named("h200").unwrap();
        let time = |passes: u64| {
            let mut counters = Counters::default();
            counters.constant_load.wavefronts = passes << 24;
            parts(&profile, &load(&counters, Estimate::default())).constant_ns
        };
        assert!((time(32) / time(1) - 32.0).abs() < 1e-9);
    }

    #[test]
    fn copies_take_the_time_of_their_link() {
        let profile = Profile::named("h200").unwrap();
        let bytes = 256 << 20;
        let pinned = bytes as f64 / copy_ns(&profile, Direction::Upload(false), bytes);
        assert!((55.0..=55.5).contains(&pinned), "{pinned} GB/s");
        let pageable = bytes as f64 / copy_ns(&profile, Direction::Upload(true), bytes);
        assert!((10.0..=10.1).contains(&pageable), "{pageable} GB/s");
    }
}
