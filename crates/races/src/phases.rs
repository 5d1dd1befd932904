//! The arrivals of a barrier's phases, and whether they could fall into others.
//!
//! A barrier is used again and again, and each arrival counts in the phase that is under way. If every arrival comes after all
//! those of the phase before, by what orders threads, then every order of arrivals has the same phases: a launch whose warps
//! arrive in the same sequence whatever they read, and that ends in one order, ends in all. If one does not, another order
//! puts it into the phase before, so that others meet there, and somebody may wait forever. (R. Sharma, M. Bauer and
//! A. Aiken, "Verification of Producer-Consumer Synchronization in GPU Programs", PLDI 2015.)

use crate::event::{Epoch, Event};
use crate::thread_clocks::ThreadClocks;
use std::collections::HashMap;

/// A barrier: one of the block, by its number, or an mbarrier, by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierName {
    /// A barrier of the block.
    Number(u32),
    /// An object in shared memory.
    Address(u64),
}

/// An arrival at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Arriver {
    epoch: Epoch,
    lane: usize,
    /// The instruction.
    pub pc: usize,
}

impl Arriver {
    /// Returns the linear index of its block.
    pub fn block(&self) -> u32 {
        self.epoch.block
    }

    /// Returns its warp.
    pub fn warp(&self) -> u8 {
        self.epoch.warp
    }

    /// Returns its lane, the first of several.
    pub fn lane(&self) -> usize {
        self.lane
    }
}

/// The arrivals of the phase before, and of the one under way.
#[derive(Debug, Default)]
struct PhaseArrivals {
    before: Vec<Arriver>,
    now: Vec<Arriver>,
}

/// The arrivals at every barrier of a block.
#[derive(Debug, Default)]
pub(crate) struct BarrierPhases(HashMap<BarrierName, PhaseArrivals>);

impl BarrierPhases {
    /// Remembers an arrival; returns one of the phase before that need not have come before it.
    pub fn arrive(
        &mut self,
        barrier: BarrierName,
        clocks: &ThreadClocks,
        (pc, lane): (usize, usize),
    ) -> Option<Arriver> {
        let arrivals = self.0.entry(barrier).or_default();
        let is_before =
            |one: &Arriver| clocks.is_after(one.epoch, Event::point(1, 0, one.lane), lane);
        let overtaken = arrivals.before.iter().find(|one| !is_before(one)).copied();
        arrivals.now.push(Arriver { epoch: clocks.epoch(), lane, pc });
        overtaken
    }

    /// Ends a phase.
    pub fn end(&mut self, barrier: BarrierName) {
        if let Some(arrivals) = self.0.get_mut(&barrier) {
            arrivals.before.clear();
            std::mem::swap(&mut arrivals.before, &mut arrivals.now);
        }
    }

    /// Forgets the phases of an object that is initialized.
    pub fn begin(&mut self, address: u64) {
        self.0.remove(&BarrierName::Address(address));
    }
}
