//! The link from one device to another's memory, as data.

use serde::{Deserialize, Serialize};

/// The link from one device to another's memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// True when kernels and copy engines can access the other's memory.
    pub access: bool,
    /// True when atomics on the other's memory are atomic for both devices.
    pub native_atomics: bool,
    /// Copies one way, with peer access. Both ways have as much each.
    pub copy_bytes_per_second: f64,
    /// Set-up of a copy with peer access.
    pub copy_latency_ns: f64,
    /// Kernels that read the other's memory.
    pub read_bytes_per_second: f64,
    /// Kernels that write it.
    pub write_bytes_per_second: f64,
    /// Cycles from a load of the other's memory to its result.
    pub load_latency_cycles: u32,
    /// Atomics on the other's memory, lane by lane.
    pub atomics_per_second: f64,
    /// Copies without peer access, which the driver stages in the host's memory.
    pub staged_bytes_per_second: f64,
    /// Set-up of a copy without peer access.
    pub staged_latency_ns: f64,
}

impl Link {
    /// The same without peer access.
    pub fn without_access(self) -> Link {
        Link { access: false, native_atomics: false, ..self }
    }

    /// Returns what cannot be, in words.
    pub fn wrong(&self) -> Option<String> {
        let rates = [
            ("copy_bytes_per_second", self.copy_bytes_per_second),
            ("read_bytes_per_second", self.read_bytes_per_second),
            ("write_bytes_per_second", self.write_bytes_per_second),
            ("atomics_per_second", self.atomics_per_second),
            ("staged_bytes_per_second", self.staged_bytes_per_second),
        ];
        let latencies = [
            ("copy_latency_ns", self.copy_latency_ns, 1e12),
            ("staged_latency_ns", self.staged_latency_ns, 1e12),
            ("load_latency_cycles", f64::from(self.load_latency_cycles), 1e6),
        ];
        let rate = rates.iter().find(|(_, rate)| !(*rate > 0.0 && *rate <= 1e18));
        let latency = latencies.iter().find(|(_, value, most)| !(0.0..=*most).contains(value));
        let found = rate.copied().or(latency.map(|(name, value, _)| (*name, *value)));
        found.map(|(name, value)| format!("{name} of a link cannot be {value}"))
    }
}
