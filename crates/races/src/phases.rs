//! The arrivals of a barrier's phases, and whether they could fall into others.
//!
//! A barrier is used again and again, and each arrival counts in the phase that is under way. If every arrival comes after all
//! those of the phase before, by what orders threads, then every order of arrivals has the same phases: a launch whose warps
//! arrive in the same sequence whatever they read, and that ends in one order, ends in all. If one does not, another order
//! puts it into the phase before, so that others meet there, and somebody may wait forever. (R. Sharma, M. Bauer and
//! A. Aiken, "Verification of Producer-Consumer Synchronization in GPU Programs", PLDI 2015.)
//!
//! An mbarrier tells a wait the parity of a phase alone. So a wait has to come before the end of the next phase, which gives
//! the mbarrier the same parity again: one of that phase's arrivals has to come after it.

use crate::event::{Epoch, Event};
use crate::request::lanes;
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

/// A warp that has seen the phase before complete.
#[derive(Clone, Copy, Debug)]
pub struct Waiter {
    epoch: Epoch,
    /// Its lanes that waited.
    pub lanes: u32,
    /// The instruction.
    pub pc: usize,
}

impl Waiter {
    /// Returns its warp.
    pub fn warp(&self) -> u8 {
        self.epoch.warp
    }

    /// Returns whether what a lane does now comes after one of its lanes, or is done by its warp.
    fn is_before(&self, clocks: &ThreadClocks, lane: usize) -> bool {
        let own = (self.epoch.block, self.epoch.warp) == (clocks.block, clocks.warp);
        let is_after = |of| clocks.is_after(self.epoch, Event::point(1, 0, of), lane);
        own || lanes(self.lanes).any(is_after)
    }
}

/// The arrivals of the phase before, and of the one under way, and who waited for the end of the one before.
#[derive(Debug, Default)]
struct PhaseArrivals {
    before: Vec<Arriver>,
    now: Vec<Arriver>,
    waited: Vec<Waiter>,
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

    /// Remembers lanes that have seen the phase before complete.
    pub fn wait(&mut self, address: u64, clocks: &ThreadClocks, (pc, lanes): (usize, u32)) {
        let waited = &mut self.0.entry(BarrierName::Address(address)).or_default().waited;
        let mut now = Waiter { epoch: clocks.epoch(), lanes, pc };
        let warp = (now.epoch.block, now.epoch.warp);
        match waited.iter_mut().find(|one| (one.epoch.block, one.epoch.warp) == warp) {
            Some(before) => {
                now.lanes |= before.lanes;
                *before = now;
            }
            None => waited.push(now),
        }
    }

    /// A lane does what the phase under way cannot end before; so that phase ends after all waits that come before this.
    pub fn hold(&mut self, address: u64, clocks: &ThreadClocks, lane: usize) {
        if let Some(arrivals) = self.0.get_mut(&BarrierName::Address(address)) {
            arrivals.waited.retain(|one| !one.is_before(clocks, lane));
        }
    }

    /// Ends a phase; returns a wait for the one before that need not have come before this end.
    pub fn end(&mut self, barrier: BarrierName) -> Option<Waiter> {
        let arrivals = self.0.get_mut(&barrier)?;
        arrivals.before.clear();
        std::mem::swap(&mut arrivals.before, &mut arrivals.now);
        let overtaken = arrivals.waited.first().copied();
        arrivals.waited.clear();
        overtaken
    }

    /// Forgets the phases of an object that is initialized.
    pub fn begin(&mut self, address: u64) {
        self.0.remove(&BarrierName::Address(address));
    }
}
