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
    /// The words of the source when the copy was issued, lane by lane, where that is checked.
    pub before: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Awaited {
    /// All, but none that comes after the end of a phase.
    All,
    /// Those that the present phase of the mbarrier at this address waits for, if nothing else is missing there.
    Phase(u32),
    /// Those of a warp's groups before a number.
    Groups { warp: u32, before: u32 },
}

/// A bulk copy that has not landed.
#[derive(Clone, Debug)]
pub(crate) struct PendingBulk {
    /// The instruction, and the warp and the lane that asked for it.
    pub pc: usize,
    pub warp: u32,
    pub lane: usize,
    /// Its group among those of its warp.
    pub group: u32,
    pub direction: BulkDirection,
    pub target: u64,
    pub source: u64,
    pub bytes: u32,
    pub step: u32,
    pub mbarrier: Option<u32>,
    pub reduce: Option<(AtomicOperation, Type)>,
    /// The pieces of a copy to shared memory or of a tensor's box, which have their places there, and the byte that stands
    /// for what is beyond the tensor.
    pub pieces: Option<(Vec<Piece>, u8)>,
    /// The bytes that it has read of shared memory, once somebody has waited for that alone.
    pub read: Option<Vec<u8>>,
    /// The bytes of its pieces when it was issued, where that is checked.
    pub before: Vec<u8>,
}

/// The blocks of the cluster into whose shared memory a copy goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Landing {
    Own,
    Rank(u64),
    /// A mask of ranks.
    Ranks(u32),
}

impl PendingBulk {
    /// Cuts off all but the first bytes of a copy to shared memory, and returns them.
    pub fn split_off(&mut self, bytes: u32) -> PendingBulk {
        let mut rest = self.clone();
        let (mut first, mut left, mut present) = (Vec::new(), bytes, 0);
        if let Some((pieces, _)) = &mut rest.pieces {
            pieces.retain_mut(|piece| {
                let taken = piece.bytes.min(left);
                left -= taken;
                if taken > 0 {
                    first.push(Piece { bytes: taken, ..*piece });
                    present += if piece.global.is_some() { taken as usize } else { 0 };
                }
                piece.shared += taken;
                piece.global = piece.global.map(|at| at + u64::from(taken));
                piece.bytes -= taken;
                piece.bytes > 0
            });
        }
        if let Some((pieces, _)) = &mut self.pieces {
            *pieces = first;
        }
        rest.before.drain(..present.min(rest.before.len()));
        self.before.truncate(present);
        rest.target += u64::from(bytes);
        rest.bytes -= bytes;
        self.bytes = bytes;
        rest
    }
}
