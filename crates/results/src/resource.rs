//! What bounds a time from below.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a device has so much of and no more. Amounts are bytes unless said otherwise.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Device memory, as much read as written.
    Copy,
    /// Device memory, read.
    Read,
    /// Device memory, written.
    Write,
    /// The second-level cache, read.
    L2,
    /// Shared memory, read without conflicts.
    Shared,
    /// PCIe, from the host to the device (H2D).
    #[serde(alias = "upload")]
    HostToDevice,
    /// PCIe, from the device to the host (D2H).
    #[serde(alias = "download")]
    DeviceToHost,
    /// PCIe, as much H2D as D2H at the same time.
    #[serde(alias = "both_ways")]
    Bidirectional,
    /// Launches, one after another on a stream. The amount counts them.
    Launch,
}

impl Resource {
    /// All of them.
    pub const ALL: [Resource; 9] = [
        Resource::Copy,
        Resource::Read,
        Resource::Write,
        Resource::L2,
        Resource::Shared,
        Resource::HostToDevice,
        Resource::DeviceToHost,
        Resource::Bidirectional,
        Resource::Launch,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Copy => "device copy",
            Resource::Read => "device read",
            Resource::Write => "device write",
            Resource::L2 => "L2 read",
            Resource::Shared => "shared read",
            Resource::HostToDevice => "H2D",
            Resource::DeviceToHost => "D2H",
            Resource::Bidirectional => "bidirectional",
            Resource::Launch => "launch",
        }
    }
}
