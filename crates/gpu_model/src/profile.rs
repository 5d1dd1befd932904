//! Device profiles: what a virtual GPU has and how fast it is, read from data files.
//!
//! To add a device, copy a file of `profiles/`, fill it in with its sources, and add a line to [`PROFILES`].

use crate::estimate::Latencies;
use crate::link::Link;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Blocks that a cluster may have on every device that has clusters, and when the program asks for more.
pub const PORTABLE_CLUSTER: u32 = 8;
const MAX_CLUSTER: u32 = 16;

/// The kind of a call, by what it costs the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCost {
    /// Nothing is handed to the device.
    Api,
    /// A kernel or a graph is.
    Launch,
    /// A copy or a fill is.
    Copy,
    /// Memory is taken from a pool or given back.
    Pool,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// NVIDIA's name of the device.
    pub name: String,
    /// True when a committed measurement on such a device backs the rates.
    pub calibrated: bool,
    /// Sources of the figures.
    pub sources: Vec<String>,
    /// 9 and 0 for sm_90.
    pub compute_capability: [u32; 2],
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Clock of the multiprocessors.
    pub clock_hz: f64,
    /// Device memory.
    pub memory_bytes: u64,
    /// Memory clock, as the driver reports it.
    pub memory_clock_khz: u32,
    /// Width of the memory bus.
    pub memory_bus_bits: u32,
    /// L2 cache.
    pub l2_bytes: u64,
    /// L2 that can be set aside for persisting accesses.
    pub persisting_l2_bytes: u64,
    /// Largest access-policy window.
    pub max_access_window_bytes: u64,
    /// Achievable rate of device memory, reads and writes together.
    pub dram_bytes_per_second: f64,
    /// Achievable rate of L2.
    pub l2_bytes_per_second: f64,
    /// Copies from page-locked host memory.
    pub host_to_device_bytes_per_second: f64,
    /// Copies to page-locked host memory.
    pub device_to_host_bytes_per_second: f64,
    /// Copies from and to page-locked host memory at once, both directions together.
    pub both_ways_bytes_per_second: f64,
    /// Copies from pageable host memory.
    pub pageable_host_to_device_bytes_per_second: f64,
    /// Copies to pageable host memory.
    pub pageable_device_to_host_bytes_per_second: f64,
    /// Kernels that read mapped host memory.
    pub zero_copy_read_bytes_per_second: f64,
    /// Kernels that write mapped host memory.
    pub zero_copy_write_bytes_per_second: f64,
    /// Lines of mapped host memory that kernels reach for, however few of their bytes.
    pub zero_copy_lines_per_second: f64,
    /// Resident threads per multiprocessor at most.
    pub threads_per_multiprocessor: u32,
    /// Resident blocks per multiprocessor at most.
    pub blocks_per_multiprocessor: u32,
    /// Shared memory per multiprocessor.
    pub shared_bytes_per_multiprocessor: u32,
    /// Shared memory per block without opting in.
    pub shared_bytes_per_block: u32,
    /// Shared memory per block after opting in.
    pub shared_bytes_per_block_opt_in: u32,
    /// Shared memory that the driver keeps of every block.
    pub reserved_shared_bytes_per_block: u32,
    /// Registers per multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Registers per block at most.
    pub registers_per_block: u32,
    /// Lanes of a warp.
    pub warp_size: u32,
    /// Threads per block at most.
    pub max_threads_per_block: u32,
    /// Warp-instructions that a multiprocessor issues per clock.
    pub issue_slots_per_clock: u32,
    /// Copy engines.
    pub copy_engines: u32,
    /// Cycles from a load that leaves the multiprocessor to its result, when many are under way.
    pub global_latency_cycles: u32,
    /// Cycles from such a load to its result where L2 has the data.
    #[serde(default = "l2_latency_cycles")]
    pub l2_latency_cycles: u32,
    /// Cycles from a load of mapped memory of the host to its result.
    #[serde(default = "host_latency_cycles")]
    pub host_latency_cycles: u32,
    /// Cycles from a load of constant memory to its result where the first of its caches is too small.
    #[serde(default = "constant_latency_cycles")]
    pub constant_latency_cycles: u32,
    /// The same for shared memory and L1.
    pub shared_latency_cycles: u32,
    /// Cycles from an arithmetic instruction to one that needs its result.
    pub arithmetic_latency_cycles: u32,
    /// Cycles from a barrier to the next instruction once the last warp has come.
    pub barrier_latency_cycles: u32,
    /// Cycles that a multiprocessor takes to start a block of up to 16 warps.
    #[serde(default = "block_start_cycles")]
    pub block_start_cycles: f64,
    /// The figure that profiles had before it, which nothing uses.
    #[serde(default, rename = "warp_start_cycles", skip_serializing)]
    pub former_start: serde::de::IgnoredAny,
    /// Cycles that a multiprocessor takes for a request of a line to L2.
    pub l2_request_cycles: f64,
    /// Cycles that a multiprocessor takes for one address of constant memory.
    pub constant_pass_cycles: f64,
    /// Lines of requests of atomics that L2 does.
    pub atomics_per_second: f64,
    /// Atomics on one address that L2 does.
    pub atomics_per_second_of_one_address: f64,
    /// From the launch call to the kernel's start.
    pub launch_latency_ns: f64,
    /// The shortest kernel behind another of its stream.
    pub kernel_minimum_ns: f64,
    /// The shortest kernel of a device that has nothing else to do.
    #[serde(default = "lone_kernel_ns")]
    pub lone_kernel_ns: f64,
    /// The shortest kernel as a profiler shows it, which lets each kernel run alone.
    #[serde(default = "profiled_kernel_ns")]
    pub profiled_kernel_ns: f64,
    /// The shortest kernel of a graph.
    pub graph_kernel_minimum_ns: f64,
    /// From the end of work on one engine to the start of work on another that waits for it.
    pub engine_switch_ns: f64,
    /// The host's time for a call, unless it is one of the following.
    pub api_call_ns: f64,
    /// The host's time to enqueue a kernel or a graph.
    pub launch_call_ns: f64,
    /// The host's time to enqueue a copy or a fill. Profiles that were calibrated before it was measured lack it.
    #[serde(default = "copy_call_ns")]
    pub copy_call_ns: f64,
    /// The host's time to take memory from the device and map it, or to unmap it and give it back, however
    /// much it is.
    pub device_memory_call_ns: f64,
    /// The rate on top of that at which memory is mapped, or unmapped.
    pub device_memory_bytes_per_second: f64,
    /// The host's time to take memory from a pool that has it, or to give it back to the pool.
    pub pool_call_ns: f64,
    /// Set-up of a copy.
    pub copy_latency_ns: f64,
    /// The host reading its own memory from front to back.
    pub host_read_bytes_per_second: f64,
    /// The same where the memory is write-combined.
    pub write_combined_read_bytes_per_second: f64,
    /// Allocating page-locked memory and freeing it, both together: the first 2 MiB, or less.
    pub page_lock_latency_ns: f64,
    /// The rate on top of that beyond 2 MiB.
    pub page_lock_bytes_per_second: f64,
    /// The time on top where the memory is write-combined.
    #[serde(default = "write_combined_lock_ns")]
    pub write_combined_lock_ns: f64,
    /// Page-locking memory that exists and unlocking it, both together: what it takes for every size.
    #[serde(default = "page_register_latency_ns")]
    pub page_register_latency_ns: f64,
    /// The rate on top of that.
    pub page_register_bytes_per_second: f64,
    /// The link to the memory of another device of its kind; without one there is no peer access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The time of a kernel's fault on managed memory, beside moving the bytes.
    #[serde(default = "page_fault_ns")]
    pub page_fault_ns: f64,
    /// Managed memory that moves to the device; no more than the link carries.
    #[serde(default = "pages_to_device_bytes_per_second")]
    pub pages_to_device_bytes_per_second: f64,
    /// Managed memory that moves to the host.
    #[serde(default = "pages_to_host_bytes_per_second")]
    pub pages_to_host_bytes_per_second: f64,
    /// Managed memory that the host writes as the first.
    #[serde(default = "pages_first_on_host_bytes_per_second")]
    pub pages_first_on_host_bytes_per_second: f64,
}

/// Declares values for files that were written before a field was known.
macro_rules! unsaid {
    ($($(#[$documentation:meta])* $name:ident: $kind:ty = $value:expr;)*) => {
        $($(#[$documentation])* fn $name() -> $kind { $value })*
    };
}

unsaid! {
    /// Two events around a kernel that does nothing are 3200 apart on an H100, and 1100 without it.
    lone_kernel_ns: f64 = 2100.0;
    /// Chosen on short kernels of the half for work (`results/foreign/work-h100.csv`), by Nsight Compute on an H100; no
    /// kernel of ours has confirmed it.
    profiled_kernel_ns: f64 = 1990.0;
    /// As in the profile of the H200.
    block_start_cycles: f64 = 157.0;
    /// An H200's host.
    write_combined_lock_ns: f64 = 600_000.0;
    /// The chains of `memory_hierarchy` on an H200: 65536 steps in 9.234 ms at 1.98 GHz.
    l2_latency_cycles: u32 = 280;
    /// As [`l2_latency_cycles`]: 77.19 ms.
    host_latency_cycles: u32 = 2330;
    /// As [`l2_latency_cycles`]: 3.289 ms.
    constant_latency_cycles: u32 = 99;
    /// An H200's host.
    page_register_latency_ns: f64 = 120_000.0;
    /// Managed memory of an H100: six faults per 2 MiB and its bytes come to 7 GB/s, between its 5.7 and 8.2 GB/s.
    page_fault_ns: f64 = 42_000.0;
    /// A prefetch of 256 MiB to an H100.
    pages_to_device_bytes_per_second: f64 = 47.3e9;
    /// A prefetch of 256 MiB from an H100.
    pages_to_host_bytes_per_second: f64 = 8.9e9;
    /// 1024 copies of `batching/one_by_one` in 2.6 ms on an H200 (`results/nvidia-h200/reference.json`).
    copy_call_ns: f64 = 2500.0;
    /// The rate of `managed_memory/host_first` on an H100 beyond the faults of its kernel.
    pages_first_on_host_bytes_per_second: f64 = 2.5e9;
}

/// The profiles that come with this crate, by the name to ask for them.
pub const PROFILES: &[(&str, &str)] = &[
    ("h200", include_str!("../profiles/h200.json")),
    ("h100", include_str!("../profiles/h100.json")),
    ("a100", include_str!("../profiles/a100.json")),
    ("v100", include_str!("../profiles/v100.json")),
    ("rtx4090", include_str!("../profiles/rtx4090.json")),
    ("t4", include_str!("../profiles/t4.json")),
    ("b200", include_str!("../profiles/b200.json")),
    ("rtx5090", include_str!("../profiles/rtx5090.json")),
    ("gb10", include_str!("../profiles/gb10.json")),
    ("one_copy_engine", include_str!("../profiles/one_copy_engine.json")),
];

/// Bytes of a profile's file at most.
const MAX_BYTES: u64 = 1 << 20;

/// Returns whether a figure may have a value: rates and counts are positive, and the model can compute with it.
fn may_be(name: &str, value: f64) -> bool {
    let may_be_zero =
        ["persisting_l2_bytes", "max_access_window_bytes", "reserved_shared_bytes_per_block"];
    let is_latency = name.ends_with("_ns") || name.ends_with("_cycles");
    let most = match name {
        "warp_size" => return value == 32.0,
        _ if name.ends_with("_ns") => 1e12,
        _ if name.ends_with("_cycles") => 1e6,
        _ if name.contains("_per_second") || name == "clock_hz" => 1e18,
        // Bytes of memory fit where sums of them are computed.
        _ if name.ends_with("_bytes") => (1_u64 << 50) as f64,
        _ if name.starts_with("shared_bytes") || name.starts_with("reserved_shared") => {
            (1 << 24) as f64
        }
        "max_threads_per_block" => 1024.0,
        "memory_clock_khz" => 1e9,
        _ => 1e6,
    };
    value <= most && (value > 0.0 || (value == 0.0 && (is_latency || may_be_zero.contains(&name))))
}

/// Why there is no such profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No profile has the name.
    #[error("there is no virtual device {name:?}, choose one of: {}", known())]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// The text is not a profile.
    #[error("the device profile cannot be read: {0}")]
    Malformed(String),
    /// There is no machine of these devices and links.
    #[error("the topology of devices cannot be used: {0}")]
    Topology(String),
}

/// The factor of a pool's time to map or unmap memory over that of `cuMemAlloc` and `cuMemFree`: `allocation/pool_released` over
/// `each_step` is 1.33 to 1.39 in `reference.json` and `third.json.gz` of an H200 and `all.json.gz` of an H100 (`results`).
const POOL_MAPS: f64 = 1.4;

/// The granularity of the driver's virtual memory management.
const MAPPED_AT_ONCE: u64 = 2 << 20;

fn known() -> String {
    PROFILES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

impl Profile {
    /// A profile that comes with this crate; upper and lower case are the same.
    ///
    /// # Errors
    /// When no profile has this name; the error lists those that there are.
    pub fn named(name: &str) -> Result<Profile, ProfileError> {
        let lower = name.to_lowercase();
        match PROFILES.iter().find(|(known, _)| *known == lower) {
            Some((_, text)) => Profile::from_json(text),
            None => Err(ProfileError::Unknown { name: name.to_owned() }),
        }
    }

    /// A profile from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or is no profile.
    pub fn load(path: &Path) -> Result<Profile, ProfileError> {
        Profile::from_json(&Profile::text_of(path)?)
    }

    /// The text of a file, no more of it than a profile may have.
    ///
    /// # Errors
    /// When the file cannot be read, or is larger.
    pub fn text_of(path: &Path) -> Result<String, ProfileError> {
        let mut text = String::new();
        let read =
            File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
        match read {
            Ok(_) => Ok(text),
            Err(error) => Err(ProfileError::Malformed(error.to_string())),
        }
    }

    /// A profile from the text of a file.
    ///
    /// # Errors
    /// When a figure is missing, unknown, or has no possible value.
    pub fn from_json(text: &str) -> Result<Profile, ProfileError> {
        if text.len() as u64 > MAX_BYTES {
            let message = format!("it has more than {MAX_BYTES} bytes, which no profile has");
            return Err(ProfileError::Malformed(message));
        }
        let malformed = |error: serde_json::Error| ProfileError::Malformed(error.to_string());
        let profile: Profile = serde_json::from_str(text).map_err(malformed)?;
        // Read once more without knowing the names, so that no figure is forgotten here.
        let figures: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
        for (name, value) in figures.as_object().into_iter().flatten() {
            if let Some(value) = value.as_f64()
                && !may_be(name, value)
            {
                let message =
                    format!("{name} cannot be {value}: compare with a profile of this crate");
                return Err(ProfileError::Malformed(message));
            }
        }
        let [major, minor] = profile.compute_capability;
        if !(1..100).contains(&major) || minor > 9 {
            let message = format!("there is no compute capability {major}.{minor}");
            return Err(ProfileError::Malformed(message));
        }
        if let Some(message) = profile.link.as_ref().and_then(Link::wrong) {
            return Err(ProfileError::Malformed(message));
        }
        Ok(profile)
    }

    /// 90 for sm_90.
    pub fn architecture(&self) -> u32 {
        self.compute_capability[0] * 10 + self.compute_capability[1]
    }

    /// Returns what taking so much memory from the device, or giving it back, costs the host. Less than half of what is
    /// mapped at once comes from a piece that the driver has (on an H200 64 KiB did, and 1 MiB did not).
    pub fn device_memory_ns(&self, bytes: u64) -> f64 {
        if bytes < MAPPED_AT_ONCE / 2 {
            return self.api_call_ns;
        }
        self.device_memory_call_ns + bytes as f64 / self.device_memory_bytes_per_second * 1e9
    }

    /// Returns what it costs the host when a pool takes memory from the device, or gives it back.
    pub fn pool_memory_ns(&self) -> f64 {
        POOL_MAPS * self.device_memory_call_ns
    }

    /// Returns what a call of the driver costs the host, unless the call itself knows better.
    pub fn call_ns(&self, cost: CallCost) -> f64 {
        match cost {
            CallCost::Api => self.api_call_ns,
            CallCost::Launch => self.launch_call_ns,
            CallCost::Copy => self.copy_call_ns,
            CallCost::Pool => self.pool_call_ns,
        }
    }

    /// Returns what launches are held to.
    pub fn launch_limits(&self) -> simt::Limits {
        simt::Limits {
            shared_bytes_per_block: self.shared_bytes_per_block_opt_in,
            threads_per_block: self.max_threads_per_block,
            multiprocessors: self.multiprocessors,
            blocks_per_multiprocessor: self.blocks_per_multiprocessor,
            blocks_per_cluster: if self.has_clusters() { MAX_CLUSTER } else { 1 },
            ..simt::Limits::default()
        }
    }

    /// Returns whether blocks can be grouped into clusters.
    pub fn has_clusters(&self) -> bool {
        self.compute_capability[0] >= 9
    }

    /// Returns what a warp waits for, when so many blocks fit on a multiprocessor and so many are launched in all. They share
    /// L1, which their shared memory is a part of.
    pub fn latencies(
        &self,
        shared_bytes: u32,
        resident: u32,
        launched: f64,
        peer_cycles: u32,
    ) -> Latencies {
        let per_multiprocessor = (launched / f64::from(self.multiprocessors)).ceil();
        let sharing = f64::from(resident).min(per_multiprocessor).max(1.0);
        let l1_bytes = self.shared_bytes_per_multiprocessor.saturating_sub(shared_bytes);
        let l1_lines = (l1_bytes / 128).max(64);
        Latencies {
            global: self.global_latency_cycles,
            l2: self.l2_latency_cycles,
            l2_line: (100.0 * self.l2_request_cycles) as u32,
            host: self.host_latency_cycles,
            constant: self.constant_latency_cycles,
            shared: self.shared_latency_cycles,
            arithmetic: self.arithmetic_latency_cycles,
            barrier: self.barrier_latency_cycles,
            peer: peer_cycles,
            blocks_at_once: resident * self.multiprocessors,
            cycles_per_us: (self.clock_hz / 1e6) as u32,
            multiprocessors: self.multiprocessors,
            l1_lines,
            l1_share_lines: ((f64::from(l1_lines) / sharing) as u32).max(64),
        }
    }

    /// A device attribute by NVIDIA's number; those that no profile has are 0, as for a feature that a device lacks.
    pub fn attribute(&self, number: u32) -> Option<i32> {
        let [major, minor] = self.compute_capability;
        let modern = u32::from(major >= 8);
        let value = match number {
            1 => self.max_threads_per_block,
            2 | 3 => 1024,
            4 => 64,
            5 => i32::MAX as u32,
            6 | 7 => 65535,
            8 => self.shared_bytes_per_block,
            9 => 65536,
            10 => self.warp_size,
            11 => i32::MAX as u32,
            12 => self.registers_per_block,
            13 => (self.clock_hz / 1e3) as u32,
            14 => 512,
            15 | 19 | 31 | 41 => 1,
            16 => self.multiprocessors,
            36 => self.memory_clock_khz,
            37 => self.memory_bus_bits,
            38 => clamp(self.l2_bytes),
            39 => self.threads_per_multiprocessor,
            40 => self.copy_engines,
            // Host and device use managed memory at the same time since compute capability 6.0.
            89 => u32::from(major >= 6),
            75 => major,
            76 => minor,
            78 | 79 | 80 | 83 | 85 | 90 | 91 | 95 | 96 | 102 | 103 | 115 | 119 | 122 | 123
            | 125 => 1,
            81 => self.shared_bytes_per_multiprocessor,
            82 => self.registers_per_multiprocessor,
            // Of textures and surfaces: the same since compute capability 8.0.
            21 | 22 | 56 | 70 => 131_072,
            23 | 57 => 65536,
            24..=26 | 58..=60 => 16384,
            27 | 28 | 42 | 45 | 46 | 49 | 52 | 53 | 55 | 61 | 63 | 64 | 66 | 67 | 73 | 74 | 77 => {
                32768
            }
            29 | 43 | 62 | 65 => 2048,
            54 | 68 => 2046,
            51 => 32,
            69 => 1 << 28,
            71 => 65000,
            72 => 2_097_120,
            97 => self.shared_bytes_per_block_opt_in,
            106 => self.blocks_per_multiprocessor,
            108 => modern * clamp(self.persisting_l2_bytes),
            109 => modern * clamp(self.max_access_window_bytes),
            111 => self.reserved_shared_bytes_per_block,
            120 => u32::from(self.has_clusters()),
            0 | 150.. => return None,
            _ => 0,
        };
        Some(i32::try_from(value).unwrap_or(i32::MAX))
    }

    /// Returns what is set aside of L2 for so many bytes: sixteenths of it, as on an H200.
    pub fn set_aside(&self, bytes: usize) -> usize {
        let step = (self.l2_bytes / 16).max(1) as usize;
        (bytes.div_ceil(step) * step).min(self.persisting_l2_bytes as usize)
    }
}

fn clamp(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_reads_and_is_plausible() {
        for (name, _) in PROFILES {
            let profile = Profile::named(name).unwrap();
            assert!(!profile.sources.is_empty(), "{name}");
            let peak = 2.0
                * f64::from(profile.memory_clock_khz)
                * 1e3
                * f64::from(profile.memory_bus_bits)
                / 8.0;
            assert!(profile.dram_bytes_per_second < peak, "{name}: faster than its memory bus");
            assert!(profile.dram_bytes_per_second > 0.7 * peak, "{name}: {peak}");
            assert!(
                profile.shared_bytes_per_block_opt_in <= profile.shared_bytes_per_multiprocessor,
                "{name}"
            );
        }
    }

    #[test]
    fn figures_that_cannot_be_are_one_sentence() {
        let text = PROFILES[0].1;
        let with = |name: &str, value: &str| {
            let start = text.find(&format!("\"{name}\":")).unwrap() + name.len() + 3;
            let end = start + text[start..].find([',', '}']).unwrap();
            Profile::from_json(&format!("{}{value}{}", &text[..start], &text[end..]))
        };
        for (name, value) in [
            ("multiprocessors", "0"),
            ("multiprocessors", "4294967295"),
            ("clock_hz", "-1"),
            ("clock_hz", "0"),
            ("dram_bytes_per_second", "1e300"),
            ("l2_bytes", "18446744073709551615"),
            ("memory_bytes", "0"),
            ("copy_latency_ns", "-0.5"),
            ("warp_size", "64"),
        ] {
            let error = with(name, value).unwrap_err().to_string();
            assert!(error.contains(&format!("{name} cannot be ")), "{error}");
        }
        assert!(with("copy_latency_ns", "0.0").is_ok());
        let deep = "[".repeat(100_000);
        assert!(Profile::from_json(&deep).is_err());
        let long = Profile::from_json(&" ".repeat(2 << 20)).unwrap_err().to_string();
        assert!(long.contains("more than 1048576 bytes"), "{long}");
        let capability = text.replace(
            "\"compute_capability\": [\n    9",
            "\"compute_capability\": [\n    4294967295",
        );
        let error = Profile::from_json(&capability).unwrap_err().to_string();
        assert!(error.contains("no compute capability 4294967295.0"), "{error}");
    }

    #[test]
    fn an_unknown_profile_lists_the_known_ones() {
        let error = Profile::named("h2000").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no virtual device \"h2000\", choose one of: h200, h100, a100, v100, rtx4090, t4, b200, rtx5090, gb10, one_copy_engine"
        );
    }

    #[test]
    fn attributes_follow_the_profile() {
        let profile = Profile::named("H200").unwrap();
        assert_eq!(profile.attribute(16), Some(132));
        assert_eq!((profile.attribute(75), profile.attribute(76)), (Some(9), Some(0)));
        assert_eq!(profile.attribute(97), Some(227 * 1024));
        assert_eq!(profile.attribute(108), Some(39_321_600));
        assert_eq!(profile.attribute(0), None);
    }
}
