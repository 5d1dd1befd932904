//! The time of copies, fills and moving pages: bytes over the rate of what they cross.

use crate::link::Link;
use crate::profile::Profile;

/// A side of the link between host and device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The host.
    Host,
    /// The device.
    Device,
}

/// The moved pages, and how often somebody had to wait for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageMoves {
    /// Faults: of the device where a kernel moved pages, of the host where the host did.
    pub faults: u64,
    /// Bytes from the host to the device.
    pub to_device_bytes: u64,
    /// Bytes from the device to the host, those of evicted blocks included.
    pub to_host_bytes: u64,
    /// Bytes that the host was the first to touch, so that they had to be found and cleared.
    pub host_first_bytes: u64,
    /// Blocks of 2 MiB that left device memory because it was full.
    pub evicted_blocks: u64,
}

/// A copy's ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the host; `true` when the host memory is pageable.
    HostToDevice(bool),
    /// To the host; `true` when the host memory is pageable.
    DeviceToHost(bool),
    /// Inside the device, where each byte is read and written.
    Device,
    /// From one device to another.
    Peer {
        /// Whose memory is read.
        from: usize,
        /// Whose memory is written.
        to: usize,
    },
    /// Inside the host.
    Host,
}

/// The rate of copies between host and device, or inside the host, when nothing else uses the bus.
pub fn bus_rate(profile: &Profile, direction: Direction) -> f64 {
    match direction {
        Direction::HostToDevice(false) => profile.host_to_device_bytes_per_second,
        Direction::DeviceToHost(false) => profile.device_to_host_bytes_per_second,
        Direction::DeviceToHost(true) => profile.pageable_device_to_host_bytes_per_second,
        Direction::HostToDevice(true) | Direction::Host => {
            profile.pageable_host_to_device_bytes_per_second
        }
        // Between devices the link says it.
        Direction::Device | Direction::Peer { .. } => profile.dram_bytes_per_second / 2.0,
    }
}

/// Returns how long a copy occupies its engine, in nanoseconds.
pub fn copy_ns(profile: &Profile, direction: Direction, bytes: u64) -> f64 {
    profile.copy_latency_ns / 4.0 + bytes as f64 / bus_rate(profile, direction) * 1e9
}

/// Returns how long a copy from one device to another occupies the link, or the host's memory without peer access.
pub fn peer_copy_ns(link: &Link, access: bool, bytes: u64) -> f64 {
    let (latency, rate) = if access {
        (link.copy_latency_ns, link.copy_bytes_per_second)
    } else {
        (link.staged_latency_ns, link.staged_bytes_per_second)
    };
    latency + bytes as f64 / rate * 1e9
}

/// The part of the link's rate that moving pages reaches at most, as on an H100.
const PAGES_OF_LINK: f64 = 0.86;

/// The rate at which pages of managed memory move to a side.
pub fn pages_rate(profile: &Profile, to: Side) -> f64 {
    match to {
        Side::Device => profile
            .pages_to_device_bytes_per_second
            .min(PAGES_OF_LINK * profile.host_to_device_bytes_per_second),
        Side::Host => profile
            .pages_to_host_bytes_per_second
            .min(PAGES_OF_LINK * profile.device_to_host_bytes_per_second),
    }
}

/// Returns how long pages of managed memory take to move, in nanoseconds, when `work` times as many move as did.
///
/// ```text
/// faults x time of a fault + bytes to the device / rate + bytes to the host / rate + bytes that are new there / rate
/// ```
pub fn moves_ns(profile: &Profile, moves: &PageMoves, work: f64) -> f64 {
    let ns = |bytes: u64, to: Side| bytes as f64 / pages_rate(profile, to) * 1e9;
    let bytes = ns(moves.to_device_bytes, Side::Device) + ns(moves.to_host_bytes, Side::Host);
    let first = moves.host_first_bytes as f64 / profile.pages_first_on_host_bytes_per_second * 1e9;
    work * (first + moves.faults as f64 * profile.page_fault_ns + bytes)
}

/// Returns how long a fill takes, in nanoseconds.
pub fn fill_ns(profile: &Profile, bytes: u64) -> f64 {
    profile.kernel_minimum_ns + bytes as f64 / profile.dram_bytes_per_second * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_take_the_time_of_their_link() {
        let profile = Profile::named("h200").unwrap();
        let bytes = 256 << 20;
        for direction in [
            Direction::HostToDevice(false),
            Direction::HostToDevice(true),
            Direction::DeviceToHost(false),
            Direction::DeviceToHost(true),
        ] {
            let rate = bytes as f64 / copy_ns(&profile, direction, bytes) * 1e9;
            let part = rate / bus_rate(&profile, direction);
            assert!((0.99..=1.0).contains(&part), "{direction:?}: {rate}");
        }
    }
}
