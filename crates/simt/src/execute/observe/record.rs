//! Records the first request of each instruction of one warp, when it is asked for.

use crate::execute::observe::observers::Observers;
use crate::operation::Operation;
use crate::registers::LANES;
use counters::RequestCounts;
use counters::{RequestKind, RequestRecord, ServedWord};
use races::Request;

/// The part of an instruction's counts that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Global,
    Shared,
    Constant,
}

impl Observers<'_> {
    /// Keeps a request of the watched warp if it is the instruction's first on this side.
    #[cold]
    pub fn record(
        &mut self,
        side: Side,
        request: Request<'_>,
        mut counts: RequestCounts,
        wavefronts: impl FnOnce() -> Vec<Vec<ServedWord>>,
    ) {
        let Request { pc, mask, all, bytes, .. } = request;
        let kind = match (&self.run.program.instructions[pc].operation, side) {
            (_, Side::Constant) => RequestKind::ConstantLoad,
            (Operation::Load(_), Side::Global) => RequestKind::GlobalLoad,
            (Operation::Load(_), Side::Shared) => RequestKind::SharedLoad,
            (Operation::Store(_), Side::Global) => RequestKind::GlobalStore,
            (Operation::Store(_), Side::Shared) => RequestKind::SharedStore,
            (Operation::Atomic(_), Side::Global) => RequestKind::GlobalAtomic,
            (Operation::Atomic(_), Side::Shared) => RequestKind::SharedAtomic,
            (Operation::AsyncCopy(_), Side::Global) => RequestKind::AsyncCopySource,
            (Operation::AsyncCopy(_), Side::Shared) => RequestKind::AsyncCopyTarget,
            (Operation::BulkCopy(_) | Operation::TensorCopy(_), _) => RequestKind::BulkCopy,
            _ => return,
        };
        if self.recorded.iter().any(|(at, other)| *at == pc && other.kind == kind) {
            return;
        }
        let lanes: [Option<u64>; LANES] =
            std::array::from_fn(|lane| (mask >> lane & 1 != 0).then_some(all[lane]));
        counts.add_request(request.mask, request.bytes);
        let wavefronts = wavefronts();
        self.recorded.push((pc, RequestRecord { kind, bytes, lanes, traffic: counts, wavefronts }));
    }
}
