//! A block and the blocks of a cluster: warps, shared memory, barriers.

use crate::execute::issue::warp::Warp;
use crate::execute::memory::pending::PendingBulk;
use crate::execute::observe::checks::proxy::Unfenced;
use races::{SharedShadow, Visit};

pub(crate) const BARRIERS: usize = 16;

/// Arrivals at one barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Barrier {
    pub arrived: u32,
    /// Threads to wait for when the instruction says so; all live threads otherwise.
    pub expected: Option<u32>,
    /// Threads whose predicate held, and threads in total, of `bar.red`.
    pub held: u32,
    pub voted: u32,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub linear: u64,
    pub index: [u32; 3],
    /// Its number in its cluster.
    pub rank: u32,
    pub warps: Vec<Warp>,
    pub shared: Vec<u8>,
    pub barriers: [Barrier; BARRIERS],
    /// Two instructions at which warps last met at one barrier, where they were different ones.
    pub met: Option<[u32; 2]>,
    pub shadow: Option<Box<SharedShadow>>,
    /// The accesses of other blocks to its shared memory, each by its latest, with the lanes that had arrived at the
    /// cluster's barrier before.
    pub visits: Vec<(Visit, u32)>,
    /// Turns taken, for seeded schedules.
    pub turn: u64,
    pub bulk: Vec<PendingBulk>,
    pub unfenced: Unfenced,
    /// The mbarriers whose phase was completed since lanes that sleep there were last woken.
    pub completed: Vec<u32>,
}

/// The end of a block's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All of it has ended.
    Ended,
    /// It spins, perhaps for other blocks.
    Spins,
    /// All of it waits for other blocks of its cluster.
    Waits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nothing of it can run at the moment, or it has ended.
    Blocked,
    /// Its turn is over.
    Turn,
}

/// The number under which lanes wait at the barrier of their cluster; a block's own barriers have smaller ones.
pub(crate) const CLUSTER_BARRIER: u32 = 16;

/// The blocks of a cluster by rank; one that has ended, or runs at the moment, is not there.
pub(crate) type Cluster = Vec<Option<Block>>;
