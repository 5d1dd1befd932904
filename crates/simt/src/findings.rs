use crate::error::Place;
use crate::location::Location;
pub use counters::Hazard;
use races::Scope;
use std::fmt;

/// Hazards to look for. Accesses out of bounds and misaligned accesses are always errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Reads of bytes and registers that nobody wrote. For global memory,
    /// [`Memory::track_initialization`](crate::Memory::track_initialization) must have been called before the
    /// allocation.
    pub uninitialized: bool,
    /// Conflicting accesses to shared memory by different threads that nothing orders.
    pub shared_races: bool,
    /// Conflicting accesses to global memory by different threads of one launch that nothing orders.
    pub global_races: bool,
    /// Barriers that the lanes of a warp reach at different instructions.
    pub barriers: bool,
    /// Reads of the target of an asynchronous copy before it was waited for.
    pub async_copies: bool,
    /// Volatile accesses that nothing orders, as notes.
    pub volatile: bool,
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
            volatile: true,
        }
    }

    /// Returns whether any check is on.
    pub fn any(&self) -> bool {
        *self != Checks::none()
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
    /// The array or the allocation that the address lies in, where the message says it.
    pub location: Option<Location>,
    /// The event, in one sentence.
    pub message: String,
    /// The cure of this one, where that is known better than for its kind.
    pub fix: Option<Remedy>,
}

/// The cure of two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Wait for a bulk copy.
    CopyWait,
    /// Wait for a copy before its source is written.
    SourceWait,
    /// Access the same number of bytes.
    OneSize,
    /// Use this scope.
    Scope(Scope),
    /// Acquire by this scope.
    Acquire(Scope),
    /// Release by this scope.
    Release(Scope),
    /// Put barriers before the release and after the acquire, which have this scope.
    Barriers(Scope),
    /// Make load, change and store one atomic operation.
    OneAtomic,
    /// Put a barrier of the warp between them.
    WarpBarrier,
    /// Put a barrier of the block between them.
    BlockBarrier,
    /// Wait for a copy, and then put a barrier of the block between it and the other access.
    CopyBarrier,
    /// Put a barrier of the cluster between them.
    ClusterBarrier,
    /// Put a barrier of the cluster behind the last access to another block's shared memory.
    ClusterEnd,
    /// Put a barrier of the cluster before the first access to another block's shared memory.
    ClusterStart,
    /// Let one thread store, or each its own word.
    OneStore,
    /// The same of blocks.
    OneBlock,
    /// Store the first value before the launch.
    EarlierStore,
    /// Arrive after the end of the phase before.
    PhaseEnd,
    /// Arrive in the next phase after the wait.
    WaitedFor,
    /// Pass as many arguments as the format asks for.
    PrintArguments,
    /// Initialize the mbarrier.
    InitBarrier,
    /// Let lanes exit later, or leave them out.
    LaterExit,
    /// Make both atomic.
    BothAtomic,
    /// Keep the blocks apart.
    OwnBytes,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::CopyWait => {
                "wait at its mbarrier or for its group, and put a barrier between the thread that waits and those that do not"
            }
            Remedy::SourceWait => "wait for the copy before writing its source",
            Remedy::OneSize => "use one size for both",
            Remedy::Scope(scope) => return write!(f, "use {} there", scope.name()),
            Remedy::Acquire(scope) => {
                let scope = scope.name();
                return write!(f, "make it an .acquire of {scope} scope, or put such a fence after it");
            }
            Remedy::Release(scope) => {
                let scope = scope.name();
                return write!(
                    f,
                    "make the write a .release of {scope} scope, or put such a fence before it"
                );
            }
            Remedy::Barriers(scope) => {
                let scope = scope.name();
                return write!(
                    f,
                    "let a barrier come before the release and after the acquire, both of {scope} scope"
                );
            }
            Remedy::OneAtomic => {
                "make the load, the change and the store one atomic operation: no barrier keeps an update from being lost"
            }
            Remedy::WarpBarrier => {
                "put bar.warp.sync (__syncwarp) between the two accesses, or a barrier of the block if other warps use these bytes, too"
            }
            Remedy::BlockBarrier => "put bar.sync (__syncthreads) between the two accesses",
            Remedy::CopyBarrier => {
                "put bar.sync (__syncthreads) between the two accesses, and where the copy is the first of them, let the threads \
                 that copy wait (cp.async.wait_group, __pipeline_wait_prior) before that barrier"
            }
            Remedy::ClusterBarrier => {
                "put a barrier of the cluster (barrier.cluster, cluster.sync()) between the two accesses"
            }
            Remedy::ClusterEnd => {
                "let all blocks of the cluster meet at its barrier (barrier.cluster, cluster.sync()) after their last access to each \
                 other's shared memory"
            }
            Remedy::ClusterStart => {
                "let all blocks of the cluster meet at its barrier (barrier.cluster, cluster.sync()) before their first access to \
                 each other's shared memory"
            }
            Remedy::OneStore => {
                "let one thread store it, or give each thread a word of its own: a barrier cannot choose which thread is the last"
            }
            Remedy::OneBlock => {
                "let one thread of one block store it, or give each block words of its own (an index with blockIdx in it): no barrier \
                 orders blocks"
            }
            Remedy::EarlierStore => {
                "store the first value before this launch (cudaMemset, or an earlier kernel), or make the store atomic if any \
                 order of the two will do"
            }
            Remedy::PhaseEnd => {
                "let whoever arrives again wait first for the end of the phase before, or for one who has, and give other groups of \
                 threads a barrier of their own"
            }
            Remedy::WaitedFor => {
                "let those who have waited arrive at a second mbarrier, and whoever arrives in the next phase wait there first"
            }
            Remedy::PrintArguments => "pass printf an argument for each conversion of its format",
            Remedy::InitBarrier => {
                "let one thread initialize it (mbarrier.init), and put a barrier of the block before its first use by others"
            }
            Remedy::LaterExit => {
                "let no lane of the warp return before it (guard what uses the result instead), or name and read only lanes that \
                 are still there"
            }
            Remedy::BothAtomic => "make both atomic, or hand on by a release that the other acquires",
            Remedy::OwnBytes => {
                "let each block own its bytes, use atomics, split the work into two launches, or hand on by a release (st.release, \
                 or a fence before a strong store) that the other acquires"
            }
        })
    }
}

impl Finding {
    /// Makes a finding of which no more is known.
    pub(crate) fn new(hazard: Hazard, place: Place, message: String) -> Finding {
        Finding { hazard, place, other: None, address: None, location: None, message, fix: None }
    }

    /// Returns what would fix it, in words.
    pub fn remedy(&self) -> String {
        self.fix.map_or_else(|| self.hazard.remedy().to_owned(), |fix| fix.to_string())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, by {}", self.hazard, self.message, self.place)?;
        if let Some(other) = &self.other {
            write!(f, "; the other access: {other}")?;
        }
        write!(f, "; to fix it: {}", self.remedy())
    }
}
