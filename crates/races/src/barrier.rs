use crate::model::Scope;
use crate::request::lanes;
use crate::shared::SharedShadow;
use crate::thread_clocks::{Arrival, ThreadClocks};

/// A warp, as a barrier of its block or its cluster sees it.
pub trait BarrierWarp {
    /// Returns the clocks of its lanes.
    fn clocks(&mut self) -> &mut ThreadClocks;
    /// Returns the lanes that have not exited.
    fn live(&self) -> u32;
    /// Returns the lanes that ever were.
    fn lanes(&self) -> u32;
    /// Returns the lanes that wait at a barrier.
    fn waiting(&self, barrier: u32) -> u32;
}

impl SharedShadow {
    /// Lanes arrive at a barrier without waiting there.
    pub fn arrive(&mut self, barrier: u32, warp: &mut impl BarrierWarp, mask: u32) {
        let all = warp.lanes();
        let arrival = warp.clocks().arrive(mask, all);
        self.barriers.entry(barrier).or_default().join(&arrival);
    }

    /// Lanes arrive at the cluster's barrier, handing on only what fences before did.
    pub fn arrive_relaxed(&mut self, barrier: u32, clocks: &ThreadClocks, mask: u32) {
        let arrival = self.barriers.entry(barrier).or_default();
        for lane in lanes(mask) {
            for (scope, parts) in clocks.fenced_by(lane) {
                if scope >= Scope::Cluster {
                    parts.iter().for_each(|part| arrival.add(part));
                }
            }
        }
    }

    /// All lanes that wait at a barrier of the block go on, and know what all who arrived knew.
    pub fn join_block<W: BarrierWarp>(&mut self, barrier: u32, warps: &mut [W]) {
        // What one warp has read of another block's writes concerns those that follow it, too.
        if let Some(seen) = warps.iter_mut().find_map(|warp| warp.clocks().observed) {
            for warp in warps.iter_mut().filter(|warp| warp.waiting(barrier) != 0) {
                warp.clocks().observed.get_or_insert(seen);
            }
        }
        let mut all = self.drain_arrivals(barrier);
        let is_complete =
            |warp: &W| warp.live() == warp.lanes() && warp.waiting(barrier) == warp.live();
        if warps.iter().all(is_complete) {
            // One time for the whole block says it all, as long as nothing is known of others.
            if warps.iter_mut().any(|warp| warp.clocks().knows_others()) {
                for warp in &mut *warps {
                    let live = warp.live();
                    all.join(&warp.clocks().others(live));
                }
                for warp in &mut *warps {
                    let live = warp.live();
                    warp.clocks().pass(u32::MAX, live, &all);
                }
            }
            let time = warps.iter_mut().map(|warp| warp.clocks().time).max().unwrap_or(0);
            let oldest_live_epoch = self.next_epoch();
            warps.iter_mut().for_each(|warp| warp.clocks().settle(time, oldest_live_epoch));
            return;
        }
        for warp in &mut *warps {
            let (mask, lanes) = (warp.waiting(barrier), warp.lanes());
            if mask != 0 {
                all.join(&warp.clocks().arrive(mask, lanes));
            }
        }
        pass(barrier, warps, &all);
    }

    /// Completes the cluster's barrier: the block's waiting lanes go on, and later ones find what it hands on.
    pub fn join_cluster<W: BarrierWarp>(&mut self, barrier: u32, all: &Arrival, warps: &mut [W]) {
        self.cluster = all.clone();
        pass(barrier, warps, all);
    }

    /// Lanes that need not wait at the cluster's barrier learn what all who arrived knew.
    pub fn pass_cluster(&self, warp: &mut impl BarrierWarp, mask: u32) {
        let live = warp.live();
        warp.clocks().pass(mask, live, &self.cluster);
    }

    /// Returns what was brought to a barrier by lanes that do not wait, which counts once.
    pub fn drain_arrivals(&mut self, barrier: u32) -> Arrival {
        self.barriers.remove(&barrier).unwrap_or_default()
    }
}

/// Lanes that wait go on and learn.
fn pass<W: BarrierWarp>(barrier: u32, warps: &mut [W], all: &Arrival) {
    for warp in warps {
        let (mask, live) = (warp.waiting(barrier), warp.live());
        if mask != 0 {
            warp.clocks().pass(mask, live, all);
        }
    }
}
