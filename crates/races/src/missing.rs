//! The order that is missing between the two accesses of a race.

use crate::check::Race;
use crate::model::{LaunchModel, Scope};
use crate::thread_clocks::{Observed, ThreadClocks};
use crate::vector_clock::WARPS;

/// The order that is missing between two accesses, and with that the cure. Instructions are named by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingOrder {
    /// The other access is that of a bulk copy which this thread has not waited for.
    CopyWait,
    /// Both are strong, but reach different numbers of bytes.
    OneSize {
        /// The bytes that this access reaches.
        bytes: u8,
        /// The bytes that the other reaches.
        other: u8,
    },
    /// The scope of an instruction does not reach the other thread.
    Scope {
        /// The instruction.
        pc: usize,
        /// Its scope.
        is: Scope,
        /// The scope that it needs.
        needs: Scope,
    },
    /// A strong read saw the word that was released after the other access, and does not acquire.
    Acquire {
        /// The instruction that reads.
        read: usize,
        /// The scope that the acquire needs.
        needs: Scope,
    },
    /// A strong read saw a strong write that releases nothing.
    Release {
        /// The instruction that reads.
        read: usize,
        /// The instruction that writes.
        write: usize,
        /// The scope that the release needs.
        needs: Scope,
    },
    /// A strong read saw a release that does not include the other access.
    Inclusion {
        /// The instruction that reads.
        read: usize,
        /// The instruction that writes.
        write: usize,
        /// The scope that both need.
        needs: Scope,
    },
    /// No warp barrier lies between two lanes of one warp.
    WarpBarrier,
    /// No barrier lies between two warps of one block.
    BlockBarrier,
    /// No barrier of the cluster lies between two of its blocks.
    ClusterBarrier,
    /// Nothing orders the two blocks.
    Blocks,
}

impl ThreadClocks {
    /// Returns the order that is missing between a race's earlier access and this warp's, by the instruction `pc`.
    pub fn missing_order(&self, model: &LaunchModel, pc: usize, race: &Race) -> MissingOrder {
        let Race { before, epoch, lane, .. } = *race;
        if epoch.warp >= WARPS {
            return MissingOrder::CopyWait;
        }
        let (grid, me, other) = (&model.grid, self.block, epoch.block);
        let needs = grid.narrowest_scope(me, other);
        let (mine, theirs) = (model.kinds[pc], model.kinds[before.pc()]);
        if let (Some(a), Some(b)) = (mine.semantics.strong, theirs.semantics.strong) {
            return if mine.bytes != theirs.bytes {
                MissingOrder::OneSize { bytes: mine.bytes, other: theirs.bytes }
            } else if grid.includes(a, me, other) {
                MissingOrder::Scope { pc: before.pc(), is: b, needs }
            } else {
                MissingOrder::Scope { pc, is: a, needs }
            };
        }
        if self.would_acquire(epoch, before, lane)
            && let Some(observed) = self.observed
        {
            return MissingOrder::Acquire { read: observed.read, needs };
        }
        if (other, epoch.warp) == (me, self.warp) {
            return MissingOrder::WarpBarrier;
        }
        // A plain store hands nothing on, and what both reach is no flag of something else.
        let hands_on = |observed: &Observed| {
            let is_flag = observed.read != pc && observed.write != before.pc();
            let write = model.kinds[observed.write];
            // Who took a ticket before the last one has handed on by it, too.
            let is_of_other = observed.block == other || observed.releases && write.updates;
            is_of_other && is_flag && write.is_strong()
        };
        let Some(observed) = self.observed.filter(hands_on) else {
            return match needs {
                Scope::Block => MissingOrder::BlockBarrier,
                Scope::Cluster => MissingOrder::ClusterBarrier,
                Scope::Device => MissingOrder::Blocks,
            };
        };
        let (read, write) = (observed.read, observed.write);
        let [reads, writes] = [read, write].map(|pc| model.kinds[pc].semantics);
        match (writes.strong, reads.strong) {
            (Some(is), _) if !grid.includes(is, other, me) => {
                MissingOrder::Scope { pc: write, is, needs }
            }
            (_, Some(is)) if !grid.includes(is, me, other) => {
                MissingOrder::Scope { pc: read, is, needs }
            }
            _ if !writes.release && !observed.releases => {
                MissingOrder::Release { read, write, needs }
            }
            _ => MissingOrder::Inclusion { read, write, needs },
        }
    }
}
