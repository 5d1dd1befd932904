//! The performance model: from exact counts and a profile to a time. Everything here is a model and labelled so.
//!
//! A kernel takes the longest of what each part of the device needs, plus the time until it starts:
//!
//! ```text
//! DRAM       bytes that have to come from or go to memory / rate
//! L2         sectors x 32 / rate
//! shared     wavefronts / (multiprocessors x clock)
//! constant   passes / (multiprocessors x clock)
//! issue      warp-instructions / (multiprocessors x issue slots x clock)
//! zero-copy  bytes of mapped host memory / rate of the bus
//! ```
//!
//! DRAM bytes are at most the sectors that were asked for, and at most the allocations that the kernel was given:
//! beyond that L2 has served them. A grid with fewer blocks than multiprocessors has only its part of the rates of
//! shared and constant memory and issue, and at least the latency of its longest chain.

use crate::profile::Profile;
use simt::Counters;

/// What a kernel's arguments point to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// Device memory.
    pub(crate) device_bytes: u64,
    /// Mapped host memory.
    pub(crate) mapped_bytes: u64,
}

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

/// How long a kernel occupies the compute engine, in nanoseconds.
pub(crate) fn kernel_ns(
    profile: &Profile,
    counters: &Counters,
    blocks: u64,
    footprint: Footprint,
) -> f64 {
    let loads = 32 * (counters.global_load.sectors + counters.async_copy_global.sectors)
        + counters.bulk_copy.bytes;
    let stores = 32 * counters.global_store.sectors;
    let atomics = 32 * (counters.global_atomic.sectors + counters.global_reduction.sectors);
    let local = 32 * (counters.local_load.sectors + counters.local_store.sectors);
    let all = loads + stores + atomics + local;

    let mapped_part = part(footprint.mapped_bytes, footprint.mapped_bytes + footprint.device_bytes);
    let device_part = 1.0 - mapped_part;
    let device_bytes = footprint.device_bytes as f64;
    let dram = (loads as f64 * device_part).min(device_bytes)
        + ((stores + atomics) as f64 * device_part).min(device_bytes);
    let dram_ns = dram / profile.dram_bytes_per_second * 1e9;
    let l2_ns = all as f64 * device_part / profile.l2_bytes_per_second * 1e9;
    let zero_copy_ns = (loads as f64 * mapped_part / profile.zero_copy_read_bytes_per_second
        + (stores + atomics) as f64 * mapped_part / profile.zero_copy_write_bytes_per_second)
        * 1e9;

    let active = blocks.clamp(1, u64::from(profile.multiprocessors)) as f64;
    let per_second = active * profile.clock_hz;
    let shared = counters.shared_load.wavefronts
        + counters.shared_store.wavefronts
        + counters.shared_atomic.wavefronts
        + counters.shared_matrix_load.wavefronts
        + counters.shared_matrix_store.wavefronts
        + counters.async_copy_shared.wavefronts;
    let shared_ns = shared as f64 / per_second * 1e9;
    let constant_ns = counters.constant_load.wavefronts as f64 / per_second * 1e9;
    let lines = counters.global_load.lines + counters.global_store.lines;
    let l1_ns = lines as f64 / per_second * 1e9;
    let slots = per_second * f64::from(profile.issue_slots_per_clock);
    let issue_ns = counters.warp_instructions as f64 / slots * 1e9;

    let longest = [dram_ns, l2_ns, zero_copy_ns, shared_ns, constant_ns, l1_ns, issue_ns]
        .into_iter()
        .fold(0.0, f64::max);
    profile.kernel_minimum_ns + longest
}

fn part(some: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { some as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_streaming_kernel_runs_at_the_rate_of_dram() {
        let profile = Profile::named("h200").unwrap();
        let bytes: u64 = 1 << 30;
        let mut counters = Counters::default();
        counters.global_load.sectors = bytes / 32;
        counters.global_store.sectors = bytes / 32;
        let footprint = Footprint { device_bytes: 2 * bytes, mapped_bytes: 0 };
        let time = kernel_ns(&profile, &counters, 1 << 20, footprint);
        let rate = 2.0 * bytes as f64 / time * 1e9;
        assert!((0.98..=1.0).contains(&(rate / profile.dram_bytes_per_second)), "{rate}");
    }

    #[test]
    fn bank_conflicts_bind_when_they_are_many() {
        let profile = Profile::named("h200").unwrap();
        let mut counters = Counters::default();
        counters.shared_load.wavefronts = 1 << 20;
        let without = kernel_ns(&profile, &counters, 132, Footprint::default());
        counters.shared_load.wavefronts *= 32;
        let with = kernel_ns(&profile, &counters, 132, Footprint::default());
        assert!(with > 20.0 * (without - profile.kernel_minimum_ns));
    }

    #[test]
    fn constant_memory_costs_its_passes() {
        let profile = Profile::named("h200").unwrap();
        let time = |passes: u64| {
            let mut counters = Counters::default();
            counters.constant_load.wavefronts = passes << 24;
            kernel_ns(&profile, &counters, 1 << 20, Footprint::default())
                - profile.kernel_minimum_ns
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
