//! Single requests of one warp, address by address: what a picture of an access pattern shows.

use crate::LANES;
use crate::counters::RequestCounts;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "snake_case")
)]
pub enum RequestKind {
    /// A load of global memory.
    GlobalLoad,
    /// A store to global memory.
    GlobalStore,
    /// An atomic on global memory, with or without a result.
    GlobalAtomic,
    /// The global side of an asynchronous copy.
    AsyncCopySource,
    /// A bulk copy: one lane has many bytes of global memory copied.
    BulkCopy,
    /// The shared side of an asynchronous copy.
    AsyncCopyTarget,
    /// A load of shared memory.
    SharedLoad,
    /// A store to shared memory.
    SharedStore,
    /// An atomic on shared memory.
    SharedAtomic,
    /// A load of constant memory, or of a kernel parameter with an index.
    ConstantLoad,
}

/// One request of a warp.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields)
)]
pub struct RequestRecord {
    /// The kind of access.
    pub kind: RequestKind,
    /// The bytes that each lane asks for.
    pub bytes: u32,
    /// The address of each lane that takes part: in device memory, or from the start of the block's shared memory.
    pub lanes: [Option<u64>; LANES],
    /// The counts of this request.
    pub traffic: RequestCounts,
    /// The words that each wavefront serves, for shared and constant memory. Which of the words of one bank comes first
    /// is not documented: here it is the lowest.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty", rename = "passes")
    )]
    pub wavefronts: Vec<Vec<ServedWord>>,
}

/// A word that a wavefront serves, with the lanes that want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields)
)]
pub struct ServedWord {
    /// The word's address / 4.
    pub index: u64,
    /// The lanes, one bit each.
    pub lanes: u32,
}

impl ServedWord {
    /// The bank of shared memory that the word lies in.
    pub fn bank(&self) -> u32 {
        (self.index % 32) as u32
    }
}

impl RequestRecord {
    /// The 32-byte sectors of global memory that the lanes touch, by number, ascending.
    pub fn sectors(&self) -> Vec<u64> {
        let mut sectors: Vec<u64> = self
            .lanes
            .iter()
            .flatten()
            .flat_map(|address| address / 32..(address + u64::from(self.bytes)).div_ceil(32))
            .collect();
        sectors.sort_unstable();
        sectors.dedup();
        sectors
    }
}
