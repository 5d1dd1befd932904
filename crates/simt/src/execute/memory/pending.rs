//! Copies that were started and have not landed.

use crate::operation::{AtomicOperation, BulkDirection};
use crate::registers::LANES;
use crate::tensor_map::Piece;
use ptx::Type;

/// A `cp.async` that has not landed.
#[derive(Clone, Debug)]
pub(crate) struct PendingCopy {
    pub pc: usize,
    pub group: u32,
    pub mask: u32,
    pub target: [u32; LANES],
    pub source: [u64; LANES],
    pub bytes: u32,
    pub source_bytes: [u32; LANES],
}

/// A bulk copy that has not landed.
#[derive(Clone, Debug)]
pub(crate) struct PendingBulk {
    pub direction: BulkDirection,
    pub target: u64,
    pub source: u64,
    pub bytes: u32,
    pub step: u32,
    pub mbarrier: Option<u32>,
    pub reduce: Option<(AtomicOperation, Type)>,
    /// The pieces of a tensor's box, and what is beyond the tensor; `target` and `source` are then in shared memory.
    pub pieces: Option<(Vec<Piece>, u8)>,
}
