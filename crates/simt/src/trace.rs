//! The instructions of one warp in the order in which it ran them, with what they wrote: what a debugger shows.

use counters::SourceLocation;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The warp whose requests are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Its block, by linear index.
    pub block: u64,
    /// Its number in the block.
    pub warp: u32,
}

/// A trace of one warp, filled while a launch runs that has it in [`Options::trace`](crate::Options::trace); also of one
/// that fails. Blocks then run one after the other.
#[derive(Debug)]
pub struct Trace {
    watched: Watched,
    most: usize,
    steps: Mutex<Vec<Step>>,
}

/// An instruction that the warp ran once.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its line in the PTX.
    pub ptx_line: u32,
    /// Its place in the source, from `.loc`.
    pub source: Option<SourceLocation>,
    /// The lanes that ran it, bit by bit; a predicate may have stopped all of them.
    pub lanes: u32,
    /// The registers that it wrote, as they are afterwards, or, if it writes none, those that it read.
    pub registers: Vec<TracedRegister>,
}

/// A register of all lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedRegister {
    /// Its size: 1 for a predicate, 32 or 64.
    pub bits: u32,
    /// The value of each lane.
    pub values: [u64; 32],
}

impl Trace {
    /// An empty trace of a warp that has room for `most` instructions.
    pub fn new(watched: Watched, most: usize) -> Trace {
        Trace { watched, most, steps: Mutex::default() }
    }

    /// Returns what the warp ran; as many instructions as there is room for, from its first.
    pub fn steps(&self) -> Vec<Step> {
        self.lock().clone()
    }

    /// Returns whether it is of this warp, and has room.
    pub(crate) fn wants(&self, block: u64, warp: u32) -> bool {
        self.watched == Watched { block, warp } && self.lock().len() < self.most
    }

    pub(crate) fn push(&self, step: Step) {
        self.lock().push(step);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
