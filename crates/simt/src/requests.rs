//! Single requests of one warp, address by address: what a picture of an access pattern shows.

use crate::counters::Traffic;
use crate::registers::LANES;

/// The warp whose requests are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Its block, by linear index.
    pub block: u64,
    /// Its number in the block.
    pub warp: u32,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
pub struct RequestRecord {
    /// What it does.
    pub kind: RequestKind,
    /// The bytes that each lane asks for.
    pub bytes: u32,
    /// The address of each lane that takes part: in device memory, or from the start of the block's shared memory.
    pub lanes: [Option<u64>; LANES],
    /// What was counted of this request.
    pub traffic: Traffic,
    /// The words that each pass serves, for shared and constant memory; as many passes as `traffic.wavefronts`. Which
    /// of the words of one bank comes first is not documented: here it is the lowest.
    pub passes: Vec<Vec<ServedWord>>,
}

/// A word that a pass serves, with the lanes that want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
