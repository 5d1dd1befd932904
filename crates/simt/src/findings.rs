//! Hazards: what is looked for, and what was found.

use crate::error::Place;
use std::fmt;

/// Which hazards to look for. Accesses out of bounds and misaligned accesses are always errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Reads of shared, local and global bytes and of registers that nobody wrote.
    /// For global memory, [`Memory::track_initialization`](crate::Memory::track_initialization)
    /// must have been called before the allocation.
    pub uninitialized: bool,
    /// Conflicting accesses to shared memory by different threads that nothing orders.
    pub shared_races: bool,
    /// Conflicting accesses to global memory by different threads of one launch that nothing orders.
    pub global_races: bool,
    /// Barriers that the lanes of a warp reach at different instructions.
    pub barriers: bool,
    /// Reads of the target of an asynchronous copy before it was waited for.
    pub async_copies: bool,
}

impl Checks {
    /// No checks: the fastest.
    pub fn none() -> Checks {
        Checks::default()
    }

    /// Every check.
    pub fn all() -> Checks {
        Checks {
            uninitialized: true,
            shared_races: true,
            global_races: true,
            barriers: true,
            async_copies: true,
        }
    }

    /// Returns whether any check is on.
    pub fn any(&self) -> bool {
        *self != Checks::none()
    }
}

/// The kind of a hazard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Hazard {
    /// A register that nobody wrote decides an address, a branch or a stored value.
    UninitializedRegister,
    /// Shared bytes were read that nobody wrote.
    UninitializedShared,
    /// Local bytes were read that nobody wrote.
    UninitializedLocal,
    /// Global bytes were read that nobody wrote.
    UninitializedGlobal,
    /// Shared bytes were accessed by threads of different warps, one of them writing, and nothing orders the two.
    SharedRace,
    /// As `SharedRace`, between lanes of one warp.
    SharedRaceInWarp,
    /// Global bytes were accessed by threads of different warps, one of them writing, and nothing orders the two.
    GlobalRace,
    /// As `GlobalRace`, between lanes of one warp.
    GlobalRaceInWarp,
    /// Several threads store the same value to the same bytes. That is a note, not a finding.
    SameValue,
    /// A shared address was formed from one array, but lies outside of it.
    SharedOverrun,
    /// Two lanes of one instruction stored different values to the same bytes.
    ConflictingStore,
    /// The lanes of a warp wait at different instructions of an aligned barrier.
    DivergentBarrier,
    /// A membermask names a lane that has exited, or leaves out a lane that takes part.
    MemberMask,
    /// A shuffle read a lane that did not take part.
    InactiveSource,
    /// The target of an asynchronous copy was accessed before the copy was waited for.
    AsyncCopyNotAwaited,
    /// `ld.global.nc` of bytes that this launch writes.
    ReadOnlyWritten,
    /// An asynchronous proxy reads shared memory without `fence.proxy.async` before.
    MissingProxyFence,
}

impl Hazard {
    /// Returns whether [`Checks::global_races`] looks for it.
    pub fn is_by_global_races(self) -> bool {
        matches!(self, Hazard::GlobalRace | Hazard::GlobalRaceInWarp | Hazard::ReadOnlyWritten)
    }

    /// Returns what would fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Hazard::UninitializedRegister => "initialize the variable on every path",
            Hazard::UninitializedShared => {
                "write the shared memory before reading it; its content is undefined at the start"
            }
            Hazard::UninitializedLocal => "initialize the local array",
            Hazard::UninitializedGlobal => "copy to or fill the allocation before the launch",
            Hazard::SharedRace => "put a block barrier between the two accesses",
            Hazard::SharedRaceInWarp | Hazard::GlobalRaceInWarp => {
                "put a warp barrier (bar.warp.sync) between the two accesses"
            }
            Hazard::GlobalRace => {
                "use atomics, or split the work into two launches, or let each block own its bytes"
            }
            Hazard::SameValue => {
                "nothing has to be fixed; let one thread store to save the traffic"
            }
            Hazard::SharedOverrun => "check the index against the array's length",
            Hazard::ConflictingStore => "let one lane store, or use an atomic",
            Hazard::DivergentBarrier => "move the barrier out of the branch",
            Hazard::MemberMask => "pass the mask of the lanes that execute the instruction",
            Hazard::InactiveSource => "read only lanes that execute the same shuffle",
            Hazard::AsyncCopyNotAwaited => {
                "wait for the copy (wait_group or mbarrier), then synchronize the readers"
            }
            Hazard::ReadOnlyWritten => {
                "use a plain load, or do not write the buffer in this launch"
            }
            Hazard::MissingProxyFence => "put fence.proxy.async after the writes",
        }
    }
}

/// A hazard that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub hazard: Hazard,
    /// The access at which it was found.
    pub place: Place,
    /// The other access of a race.
    pub other: Option<Place>,
    /// The address of the first lane concerned, when there is one.
    pub address: Option<u64>,
    /// The event, in one sentence.
    pub message: String,
    /// The cure of this one, where that is known better than for its kind.
    pub fix: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}, by {}", self.hazard, self.message, self.place)?;
        if let Some(other) = &self.other {
            write!(f, "; the other access: {other}")?;
        }
        write!(f, "; to fix it: {}", self.fix.as_deref().unwrap_or(self.hazard.remedy()))
    }
}
