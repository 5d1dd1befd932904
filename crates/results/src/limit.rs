//! What bounds a time from below.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a device has so much of and no more. Amounts are bytes unless said otherwise.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
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
    /// The bus, to the device.
    Upload,
    /// The bus, from the device.
    Download,
    /// The bus, as much to the device as from it at the same time.
    BothWays,
    /// Launches, one after another on a stream. The amount counts them.
    Launch,
}

impl Limit {
    /// All of them.
    pub const ALL: [Limit; 9] = [
        Limit::Copy,
        Limit::Read,
        Limit::Write,
        Limit::L2,
        Limit::Shared,
        Limit::Upload,
        Limit::Download,
        Limit::BothWays,
        Limit::Launch,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Copy => "device copy",
            Limit::Read => "device read",
            Limit::Write => "device write",
            Limit::L2 => "L2 read",
            Limit::Shared => "shared read",
            Limit::Upload => "upload",
            Limit::Download => "download",
            Limit::BothWays => "both ways",
            Limit::Launch => "launch",
        }
    }
}
