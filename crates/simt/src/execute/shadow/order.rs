//! What the lanes of a warp know, and what they have announced.

use super::event::{Epoch, Event};
use super::known::{BlockTimes, Known, Thread, WARPS};
use crate::operation::Scope;
use crate::registers::LANES;

/// The lanes of a mask.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Scopes, and so the lists that are kept by scope.
const SCOPES: usize = 3;

/// Knowledge that all lanes of a warp have, and what some have beyond it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PerLane {
    all: Known,
    some: Vec<(u32, Known)>,
}

impl PerLane {
    fn clear(&mut self) {
        self.all = Known::default();
        self.some.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.some.is_empty()
    }

    /// Lanes learn; `live` are those that there are.
    pub fn add(&mut self, mask: u32, live: u32, known: &Known) {
        if known.is_empty() || mask == 0 {
            return;
        }
        if mask & live == live {
            self.all.join(known);
            return;
        }
        let mut left = mask;
        let mut parts = Vec::new();
        for (members, theirs) in &mut self.some {
            let common = *members & mask;
            if common == 0 {
                continue;
            }
            left &= !common;
            if common != *members {
                parts.push((*members & !common, theirs.clone()));
                *members = common;
            }
            theirs.join(known);
        }
        self.some.extend(parts);
        if left != 0 {
            self.some.push((left, known.clone()));
        }
    }

    /// What a lane knows.
    pub fn of(&self, lane: usize) -> Known {
        let mut known = self.all.clone();
        for (members, theirs) in &self.some {
            if members >> lane & 1 != 0 {
                known.join(theirs);
            }
        }
        known
    }

    /// What any of the lanes knows.
    pub fn of_any(&self, mask: u32) -> Known {
        let mut known = self.all.clone();
        for (_, theirs) in self.some.iter().filter(|(members, _)| members & mask != 0) {
            known.join(theirs);
        }
        known
    }

    /// The lanes tell each other.
    fn share(&mut self, mask: u32, live: u32) {
        if self.some.is_empty() {
            return;
        }
        let known = self.of_any(mask);
        if mask & live == live {
            self.all = known;
            self.some.clear();
        } else {
            self.add(mask, live, &known);
        }
    }
}

/// What lanes knew at a fence: later strong writes of theirs hand it on.
#[derive(Clone, Debug)]
struct Fenced {
    lanes: u32,
    scope: Scope,
    known: Known,
    time: u32,
}

/// A strong read of what another thread wrote, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    pub read: usize,
    pub write: usize,
    pub block: u32,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    pub block: u32,
    pub warp: u8,
    /// Moves on with everything that hands on what came before it.
    pub time: u32,
    /// What all warps of the block did up to this time is known to all lanes.
    pub settled: u32,
    /// What all lanes of the warp did up to this time is known to all lanes.
    pub together: u32,
    /// Epochs of shared memory below this number are settled.
    pub floor: u32,
    /// The numbers of the present epoch in the two tables of epochs; zero before it has one.
    pub shared_epoch: u32,
    pub global_epoch: u32,
    /// What lanes know beyond that.
    known: PerLane,
    /// Since the last release fence.
    fenced: Vec<Fenced>,
    /// What came before a sequentially consistent fence of the device, here or in a thread that this one comes after;
    /// and the time of each lane's own last such fence.
    sequential: PerLane,
    sequential_times: Option<Box<[u32; LANES]>>,
    /// What an acquire fence of each scope would teach.
    pending: [PerLane; SCOPES],
    /// What a sequentially consistent fence would teach.
    pending_sequential: PerLane,
    /// The last strong read that observed another thread without learning from it.
    pub observed: Option<Observed>,
}

impl Order {
    /// Of a warp that starts.
    pub fn start(&mut self, block: u32, warp: u8) {
        self.block = block;
        self.warp = warp;
        self.time = 1;
        self.settled = 0;
        self.together = 0;
        self.floor = 0;
        self.shared_epoch = 0;
        self.global_epoch = 0;
        self.known.clear();
        self.fenced.clear();
        self.sequential.clear();
        self.sequential_times = None;
        self.pending.iter_mut().for_each(PerLane::clear);
        self.pending_sequential.clear();
        self.observed = None;
    }

    /// What comes now is not what was handed on.
    pub fn tick(&mut self) {
        self.set_time(self.time + 1);
    }

    pub fn set_time(&mut self, time: u32) {
        self.time = time;
        self.shared_epoch = 0;
        self.global_epoch = 0;
    }

    pub fn epoch(&self) -> Epoch {
        Epoch { block: self.block, warp: self.warp, time: self.time }
    }

    /// Whether an access happened before what a lane does now.
    #[inline]
    pub fn is_after(&self, epoch: Epoch, event: Event, lane: usize) -> bool {
        if epoch.block == self.block {
            if epoch.time <= self.settled && epoch.warp < WARPS {
                return true;
            }
            if epoch.warp == self.warp
                && (epoch.time <= self.together || (event.lane() == lane && !event.is_many()))
            {
                return true;
            }
        }
        if self.known.is_empty() {
            return false;
        }
        let lane_of = event.lane() as u8;
        let thread = Thread { block: epoch.block, warp: epoch.warp, lane: lane_of };
        self.known.all.covers(thread, epoch.time)
            || self
                .known
                .some
                .iter()
                .any(|(members, k)| members >> lane & 1 != 0 && k.covers(thread, epoch.time))
    }

    /// Whether what all lanes of a warp did at a time happened before what all lanes do now.
    #[inline]
    pub fn is_after_all(&self, epoch: Epoch) -> bool {
        epoch.block == self.block
            && (epoch.time <= self.settled && epoch.warp < WARPS
                || epoch.warp == self.warp && epoch.time <= self.together)
            || !self.known.all.is_empty()
                && self.known.all.covers_warp(epoch.block, epoch.warp, epoch.time)
    }

    /// Whether an acquire by this lane, of what it has read so far, would have ordered the access.
    pub fn would_acquire(&self, epoch: Epoch, event: Event, lane: usize) -> bool {
        let thread = Thread { block: epoch.block, warp: epoch.warp, lane: event.lane() as u8 };
        self.pending
            .iter()
            .chain([&self.pending_sequential])
            .any(|pending| pending.of(lane).covers(thread, epoch.time))
    }

    /// Whether the access came before a sequentially consistent fence whose thread wrote what this lane, or one that
    /// it comes after, has read.
    pub fn is_after_fence(&self, epoch: Epoch, event: Event, lane: usize) -> bool {
        let thread = Thread { block: epoch.block, warp: epoch.warp, lane: event.lane() as u8 };
        self.pending_sequential.of(lane).covers(thread, epoch.time)
    }

    /// What a lane knows besides its own accesses.
    fn known_of(&self, lane: usize) -> Known {
        let mut known = self.known.of(lane);
        self.add_own(&mut known);
        known
    }

    fn add_own(&self, known: &mut Known) {
        if self.settled > 0 || self.together > 0 {
            let mut times = BlockTimes::of_all(self.settled);
            times.add_warp(self.warp, self.together);
            known.join(&Known::of_block(self.block, times));
        }
    }

    /// Own accesses of lanes up to a time.
    fn own(&self, lanes: u32, time: u32) -> Known {
        let mut times = BlockTimes::default();
        times.add_lanes(self.warp, lanes, time);
        Known::of_block(self.block, times)
    }

    /// All that came before what a lane does now, and that.
    pub fn released_by(&self, lane: usize) -> Known {
        let mut known = self.known_of(lane);
        known.join(&self.own(1 << lane, self.time));
        known
    }

    /// All that came before the arrival of lanes at a barrier; `all` are the lanes that ever were.
    pub fn released_by_all(&self, mask: u32, all: u32) -> Known {
        let mut known = self.known.of_any(mask);
        self.add_own(&mut known);
        if mask == all {
            let mut times = BlockTimes::default();
            times.add_warp(self.warp, self.time);
            known.join(&Known::of_block(self.block, times));
        } else {
            known.join(&self.own(mask, self.time));
        }
        known
    }

    /// What strong writes of a lane hand on because of fences before them.
    pub fn fenced_by(&self, lane: usize) -> impl Iterator<Item = (Scope, Known)> + '_ {
        self.fenced.iter().filter(move |fenced| fenced.lanes >> lane & 1 != 0).map(move |fenced| {
            let mut known = fenced.known.clone();
            known.join(&self.own(1 << lane, fenced.time));
            (fenced.scope, known)
        })
    }

    /// Whether strong writes of the warp hand anything on without being releases.
    pub fn has_fenced(&self) -> bool {
        !self.fenced.is_empty() || !self.sequential.is_empty() || self.sequential_times.is_some()
    }

    /// What came before sequentially consistent fences, as a strong write of a lane shows it.
    pub fn sequential_of(&self, lane: usize) -> Known {
        let mut known = self.sequential.of(lane);
        if let Some(times) = &self.sequential_times
            && times[lane] > 0
        {
            known.join(&self.own(1 << lane, times[lane]));
        }
        known
    }

    fn sequential_of_any(&self, mask: u32) -> Known {
        let mut known = self.sequential.of_any(mask);
        if let Some(times) = &self.sequential_times {
            for lane in lanes(mask).filter(|lane| times[*lane] > 0) {
                known.join(&self.own(1 << lane, times[lane]));
            }
        }
        known
    }

    /// Lanes learn.
    pub fn learn(&mut self, mask: u32, live: u32, known: &Known) {
        self.known.add(mask, live, known);
    }

    /// Lanes have read what others handed on, without acquiring it yet.
    pub fn learn_later(&mut self, mask: u32, live: u32, scope: Scope, known: &Known) {
        self.pending[scope as usize].add(mask, live, known);
    }

    /// Lanes have read what was written after sequentially consistent fences.
    pub fn learn_at_sequential(&mut self, mask: u32, live: u32, known: &Known) {
        self.pending_sequential.add(mask, live, known);
    }

    /// A fence that acquires.
    pub fn acquire_fence(&mut self, mask: u32, live: u32, scope: Scope, sequential: bool) {
        let mut sources = self.pending.iter().chain([&self.pending_sequential]);
        if sources.all(PerLane::is_empty) {
            return;
        }
        for lane in lanes(mask) {
            let mut known = Known::default();
            for pending in &self.pending[..=scope as usize] {
                if !pending.is_empty() {
                    known.join(&pending.of(lane));
                }
            }
            if sequential && scope == Scope::Device && !self.pending_sequential.is_empty() {
                known.join(&self.pending_sequential.of(lane));
            }
            self.known.add(1 << lane, live, &known);
        }
        if mask & live == live {
            self.known.share_equal(live);
        }
    }

    /// A fence that releases.
    pub fn release_fence(&mut self, mask: u32, live: u32, scope: Scope, sequential: bool) {
        for fenced in &mut self.fenced {
            if fenced.scope <= scope {
                fenced.lanes &= !mask;
            }
        }
        self.fenced.retain(|fenced| fenced.lanes != 0);
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let mut group = left;
            for (members, _) in &self.known.some {
                group &= if members >> lane & 1 != 0 { *members } else { !*members };
            }
            left &= !group;
            let known = self.known_of(lane);
            if sequential && scope == Scope::Device {
                self.sequential.add(group, live, &known);
                let times = self.sequential_times.get_or_insert_with(|| Box::new([0; LANES]));
                lanes(group).for_each(|lane| times[lane] = self.time);
            }
            self.fenced.push(Fenced { lanes: group, scope, known, time: self.time });
        }
        self.tick();
    }

    /// A barrier of lanes of the warp; `all` are the lanes that ever were.
    pub fn meet(&mut self, mask: u32, live: u32, all: u32) {
        let sequential = self.sequential_of_any(mask);
        self.known.share(mask, live);
        if mask & all == all {
            self.together = self.time;
        } else {
            let own = self.own(mask, self.time);
            self.known.add(mask, live, &own);
        }
        self.sequential.add(mask, live, &sequential);
        self.pending_sequential.share(mask, live);
        self.tick();
    }

    /// Whether anything is known that a time of the block does not say.
    pub fn knows_others(&self) -> bool {
        !self.known.is_empty()
            || !self.sequential.is_empty()
            || self.sequential_times.is_some()
            || !self.pending_sequential.is_empty()
    }

    /// What is known that a time of the block does not say.
    pub fn others(&self, mask: u32) -> Arrival {
        Arrival {
            known: self.known.of_any(mask),
            sequential: self.sequential_of_any(mask),
            pending: self.pending_sequential.of_any(mask),
        }
    }

    /// All of the block has met; the warps go on at one time, later than all before.
    pub fn settle(&mut self, time: u32, floor: u32) {
        self.settled = time;
        self.together = time;
        self.floor = floor;
        self.set_time(time + 1);
    }

    /// What lanes bring to a barrier that others wait at.
    pub fn arrive(&mut self, mask: u32, all: u32) -> Arrival {
        let arrival = Arrival {
            known: self.released_by_all(mask, all),
            sequential: self.sequential_of_any(mask),
            pending: self.pending_sequential.of_any(mask),
        };
        self.tick();
        arrival
    }

    /// Lanes go on from a barrier.
    pub fn pass(&mut self, mask: u32, live: u32, arrivals: &Arrival) {
        self.known.add(mask, live, &arrivals.known);
        self.sequential.add(mask, live, &arrivals.sequential);
        self.pending_sequential.add(mask, live, &arrivals.pending);
        if mask & live == live {
            self.known.some.clear();
            self.sequential.some.clear();
            self.pending_sequential.some.clear();
        }
    }
}

impl Order {
    /// Lanes have learned one after the other what mostly is the same.
    pub fn compact(&mut self, live: u32) {
        self.known.share_equal(live);
        self.pending.iter_mut().for_each(|pending| pending.share_equal(live));
        self.pending_sequential.share_equal(live);
    }
}

impl PerLane {
    /// Groups that make up all lanes and know the same become what all know.
    fn share_equal(&mut self, live: u32) {
        let Some((_, first)) = self.some.first() else { return };
        let first = first.clone();
        let same = self.some.iter().all(|(_, known)| known.is_same(&first));
        let mask = self.some.iter().fold(0, |mask, (members, _)| mask | members);
        if same && mask & live == live {
            self.some.clear();
            self.all.join(&first);
        }
    }
}

/// What those who arrived at a barrier knew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrival {
    pub known: Known,
    sequential: Known,
    pending: Known,
}

impl Arrival {
    pub fn join(&mut self, other: &Arrival) {
        self.known.join(&other.known);
        self.sequential.join(&other.sequential);
        self.pending.join(&other.pending);
    }

    /// Learns what is known.
    pub fn add(&mut self, known: &Known) {
        self.known.join(known);
    }
}
