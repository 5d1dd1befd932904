//! The clocks of a warp's lanes, and what they have released.

use crate::event::{Epoch, Event};
use crate::model::Scope;
use crate::request::lanes;
use crate::vector_clock::{BlockTimes, Thread, VectorClock, WARPS};
use counters::LANES;

/// Scopes, and so the lists that are kept by scope.
const SCOPES: usize = 3;

/// Knowledge that all lanes of a warp have, and what some have beyond it.
#[derive(Clone, Debug, Default)]
pub struct LaneClocks {
    common: VectorClock,
    extra: Vec<(u32, VectorClock)>,
}

impl LaneClocks {
    fn clear(&mut self) {
        self.common = VectorClock::default();
        self.extra.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.common.is_empty() && self.extra.is_empty()
    }

    /// Lanes learn; `live` are those that there are.
    pub fn add(&mut self, mask: u32, live: u32, clock: &VectorClock) {
        if clock.is_empty() || mask == 0 {
            return;
        }
        if mask & live == live {
            self.common.join(clock);
            return;
        }
        let mut left = mask;
        let mut parts = Vec::new();
        for (members, theirs) in &mut self.extra {
            let common = *members & mask;
            if common == 0 {
                continue;
            }
            left &= !common;
            if common != *members {
                parts.push((*members & !common, theirs.clone()));
                *members = common;
            }
            theirs.join(clock);
        }
        self.extra.extend(parts);
        if left != 0 {
            self.extra.push((left, clock.clone()));
        }
    }

    /// Returns what a lane knows.
    pub fn of(&self, lane: usize) -> VectorClock {
        let mut clock = self.common.clone();
        for (members, theirs) in &self.extra {
            if members >> lane & 1 != 0 {
                clock.join(theirs);
            }
        }
        clock
    }

    /// Returns what any of the lanes knows.
    pub fn of_any(&self, mask: u32) -> VectorClock {
        let mut clock = self.common.clone();
        for (_, theirs) in self.extra.iter().filter(|(members, _)| members & mask != 0) {
            clock.join(theirs);
        }
        clock
    }

    /// The lanes tell each other.
    fn share(&mut self, mask: u32, live: u32) {
        if self.extra.is_empty() {
            return;
        }
        let clock = self.of_any(mask);
        if mask & live == live {
            self.common = clock;
            self.extra.clear();
        } else {
            self.add(mask, live, &clock);
        }
    }
}

/// The clock of lanes at a release fence, which later strong writes of theirs release.
#[derive(Clone, Debug)]
struct FenceRelease {
    lanes: u32,
    scope: Scope,
    /// The clock, but for what the warp's own times say.
    clock: VectorClock,
    own: OwnTimes,
}

/// The times that a warp knows of its own block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnTimes {
    block_joined_at: u32,
    warp_joined_at: u32,
    time: u32,
}

/// A strong read of what another thread wrote, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    pub read: usize,
    pub write: usize,
    pub block: u32,
    /// The write handed something on, by its own release or by a fence before it.
    pub releases: bool,
}

/// An access to the shared memory of another block of the cluster.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    epoch: Epoch,
    /// The instruction.
    pub pc: usize,
    /// Its lanes.
    pub lanes: u32,
}

impl Visit {
    /// Returns the linear index of the block that made it.
    pub fn block(&self) -> u32 {
        self.epoch.block
    }

    /// Returns the warp of that block.
    pub fn warp(&self) -> u8 {
        self.epoch.warp
    }

    /// Returns whether it is the same access as another, perhaps at another time.
    pub fn is_like(&self, other: &Visit) -> bool {
        let key = |it: &Visit| (it.epoch.block, it.epoch.warp, it.pc, it.lanes);
        key(self) == key(other)
    }

    /// Returns the lanes whose access nothing puts before the end of the block with these warps.
    pub fn lanes_after<'c>(&self, warps: impl Iterator<Item = &'c ThreadClocks>) -> u32 {
        let clocks: Vec<VectorClock> = warps.map(|warp| warp.clock.of_any(u32::MAX)).collect();
        let Epoch { block, warp, time } = self.epoch;
        let is_before = |lane: usize| {
            let thread = Thread { block, warp, lane: lane as u8 };
            clocks.iter().any(|clock| clock.covers(thread, time))
        };
        lanes(self.lanes).filter(|lane| !is_before(*lane)).fold(0, |lanes, lane| lanes | 1 << lane)
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ThreadClocks {
    /// The linear index of the block.
    pub block: u32,
    /// The warp of the block.
    pub warp: u8,
    /// Moves on with everything that hands on what came before it.
    pub(crate) time: u32,
    /// The time up to which every warp of the block happens before all lanes.
    pub(crate) block_joined_at: u32,
    /// The time up to which every lane of the warp happens before all lanes.
    pub(crate) warp_joined_at: u32,
    /// Epochs of shared memory below this number are block_joined_at.
    pub(crate) oldest_live_epoch: u32,
    /// The number of the present epoch in the shadow of shared memory; zero before it has one.
    pub shared_epoch: u32,
    /// The same in that of global memory.
    pub(crate) global_epoch: u32,
    /// The clocks of lanes beyond that.
    clock: LaneClocks,
    /// Since the last release fence.
    fence_release: Vec<FenceRelease>,
    /// The clock of sequentially consistent fences of the device, here or in a thread that this one comes after;
    /// and the time of each lane's own last such fence.
    sc_fence: LaneClocks,
    sc_fence_times: Option<Box<[u32; LANES]>>,
    /// The clock that an acquire fence of each scope would acquire.
    fence_acquire: [LaneClocks; SCOPES],
    /// The clock that a sequentially consistent fence would acquire.
    sc_fence_acquire: LaneClocks,
    /// The last strong read that observed another thread without learning from it.
    pub(crate) observed: Option<Observed>,
}

impl ThreadClocks {
    /// Of a warp that starts.
    pub fn start(&mut self, block: u32, warp: u8) {
        self.block = block;
        self.warp = warp;
        self.time = 1;
        self.block_joined_at = 0;
        self.warp_joined_at = 0;
        self.oldest_live_epoch = 0;
        self.shared_epoch = 0;
        self.global_epoch = 0;
        self.clock.clear();
        self.fence_release.clear();
        self.sc_fence.clear();
        self.sc_fence_times = None;
        self.fence_acquire.iter_mut().for_each(LaneClocks::clear);
        self.sc_fence_acquire.clear();
        self.observed = None;
    }

    /// Starts a new epoch: later accesses are not covered by this release.
    pub fn tick(&mut self) {
        self.set_time(self.time + 1);
    }

    fn set_time(&mut self, time: u32) {
        self.time = time;
        self.shared_epoch = 0;
        self.global_epoch = 0;
    }

    /// Returns what lanes do now to another block's shared memory.
    pub fn visit(&self, pc: usize, lanes: u32) -> Visit {
        Visit { epoch: self.epoch(), pc, lanes }
    }

    pub(crate) fn epoch(&self) -> Epoch {
        Epoch { block: self.block, warp: self.warp, time: self.time }
    }

    /// Returns whether an access happened before what a lane does now.
    #[inline]
    pub(crate) fn is_after(&self, epoch: Epoch, event: Event, lane: usize) -> bool {
        if epoch.block == self.block {
            if epoch.time <= self.block_joined_at && epoch.warp < WARPS {
                return true;
            }
            if epoch.warp == self.warp
                && (epoch.time <= self.warp_joined_at || (event.lane() == lane && !event.is_many()))
            {
                return true;
            }
        }
        if self.clock.is_empty() {
            return false;
        }
        let lane_of = event.lane() as u8;
        let thread = Thread { block: epoch.block, warp: epoch.warp, lane: lane_of };
        self.clock.common.covers(thread, epoch.time)
            || self
                .clock
                .extra
                .iter()
                .any(|(members, k)| members >> lane & 1 != 0 && k.covers(thread, epoch.time))
    }

    /// Returns whether what all lanes of a warp did at a time happened before what all lanes do now.
    #[inline]
    pub(crate) fn is_after_all(&self, epoch: Epoch) -> bool {
        epoch.block == self.block
            && (epoch.time <= self.block_joined_at && epoch.warp < WARPS
                || epoch.warp == self.warp && epoch.time <= self.warp_joined_at)
            || !self.clock.common.is_empty()
                && self.clock.common.covers_warp(epoch.block, epoch.warp, epoch.time)
    }

    /// Returns whether a lane has seen anything that a thread of another block did, in whatever order.
    pub fn knows_block(&self, block: u32, lane: usize) -> bool {
        if self.observed.is_some_and(|seen| seen.block == block) {
            return true;
        }
        let clock = self.clock.of(lane);
        let mut threads =
            (0..WARPS).flat_map(|warp| (0..LANES as u8).map(move |lane| (warp, lane)));
        !clock.is_empty()
            && threads.any(|(warp, lane)| clock.covers(Thread { block, warp, lane }, 1))
    }

    /// Returns whether an acquire by this lane, of what it has read so far, would have ordered the access.
    pub(crate) fn would_acquire(&self, epoch: Epoch, event: Event, lane: usize) -> bool {
        let thread = Thread { block: epoch.block, warp: epoch.warp, lane: event.lane() as u8 };
        self.fence_acquire
            .iter()
            .chain([&self.sc_fence_acquire])
            .any(|fence_acquire| fence_acquire.of(lane).covers(thread, epoch.time))
    }

    /// Returns whether the access came before a sequentially consistent fence whose thread wrote what this lane, or one that
    /// it comes after, has read.
    pub(crate) fn is_after_fence(&self, epoch: Epoch, event: Event, lane: usize) -> bool {
        let thread = Thread { block: epoch.block, warp: epoch.warp, lane: event.lane() as u8 };
        self.sc_fence_acquire.of(lane).covers(thread, epoch.time)
    }

    /// Returns what a lane knows besides its own accesses.
    fn clock_of(&self, lane: usize) -> VectorClock {
        let mut clock = self.clock.of(lane);
        self.add_own(&mut clock);
        clock
    }

    fn add_own(&self, clock: &mut VectorClock) {
        if self.block_joined_at > 0 || self.warp_joined_at > 0 {
            let mut times = BlockTimes::of_all(self.block_joined_at);
            times.add_warp(self.warp, self.warp_joined_at);
            clock.join(&VectorClock::of_block(self.block, times));
        }
    }

    fn own_times(&self) -> OwnTimes {
        let ThreadClocks { block_joined_at, warp_joined_at, time, .. } = *self;
        OwnTimes { block_joined_at, warp_joined_at, time }
    }

    /// All that own times say of what came before a lane, and of the lane.
    fn of_own(&self, lane: usize, own: OwnTimes) -> VectorClock {
        let mut times = BlockTimes::of_all(own.block_joined_at);
        times.add_warp(self.warp, own.warp_joined_at);
        times.add_lanes(self.warp, 1 << lane, own.time);
        VectorClock::of_block(self.block, times)
    }

    /// Own accesses of lanes up to a time.
    fn own(&self, lanes: u32, time: u32) -> VectorClock {
        let mut times = BlockTimes::default();
        times.add_lanes(self.warp, lanes, time);
        VectorClock::of_block(self.block, times)
    }

    /// All that came before what a lane does now, and that.
    pub fn released_by(&self, lane: usize) -> VectorClock {
        let [mut clock, own] = self.parts_released_by(lane);
        clock.join(&own);
        clock
    }

    /// The same in two parts, of which the first mostly is the clock of a word.
    pub(crate) fn parts_released_by(&self, lane: usize) -> [VectorClock; 2] {
        [self.clock.of(lane), self.of_own(lane, self.own_times())]
    }

    /// All that came before the arrival of lanes at a barrier; `all` are the lanes that ever were.
    pub(crate) fn released_by_all(&self, mask: u32, all: u32) -> VectorClock {
        let mut clock = self.clock.of_any(mask);
        self.add_own(&mut clock);
        if mask == all {
            let mut times = BlockTimes::default();
            times.add_warp(self.warp, self.time);
            clock.join(&VectorClock::of_block(self.block, times));
        } else {
            clock.join(&self.own(mask, self.time));
        }
        clock
    }

    fn fences_of(&self, lane: usize) -> impl Iterator<Item = &FenceRelease> {
        self.fence_release.iter().filter(move |fence| fence.lanes >> lane & 1 != 0)
    }

    /// Returns what strong writes of a lane hand on because of fences before them, in two parts.
    pub(crate) fn fenced_by(
        &self,
        lane: usize,
    ) -> impl Iterator<Item = (Scope, [VectorClock; 2])> + '_ {
        self.fences_of(lane)
            .map(move |fence| (fence.scope, [fence.clock.clone(), self.of_own(lane, fence.own)]))
    }

    /// Returns whether what strong writes of a lane hand on is what came before sequentially consistent fences.
    pub(crate) fn hands_on_sequential_only(&self, lane: usize) -> bool {
        let mut fences = self.fences_of(lane);
        let (Some(fence), None, Some(times)) = (fences.next(), fences.next(), &self.sc_fence_times)
        else {
            return false;
        };
        let own = OwnTimes { block_joined_at: 0, warp_joined_at: 0, time: times[lane] };
        fence.scope == Scope::Device
            && fence.own == own
            && self.sc_fence.of(lane).is_same(&fence.clock)
    }

    /// Returns what a relaxed arrival of a lane hands on to who may be as far as a scope: what fences before it did.
    pub fn released_by_fences(&self, lane: usize, to: Scope) -> Option<VectorClock> {
        let fences = self.fenced_by(lane).filter(|(scope, _)| *scope >= to);
        fences.flat_map(|(_, parts)| parts).reduce(|mut all, known| {
            all.join(&known);
            all
        })
    }

    /// Returns whether strong writes of the warp hand anything on without being releases.
    pub(crate) fn has_fenced(&self) -> bool {
        !self.fence_release.is_empty() || !self.sc_fence.is_empty() || self.sc_fence_times.is_some()
    }

    /// Returns what came before sequentially consistent fences, as a strong write of a lane shows it.
    pub(crate) fn sequential_of(&self, lane: usize) -> VectorClock {
        let mut clock = self.sc_fence.of(lane);
        if let Some(times) = &self.sc_fence_times
            && times[lane] > 0
        {
            clock.join(&self.own(1 << lane, times[lane]));
        }
        clock
    }

    fn sequential_of_any(&self, mask: u32) -> VectorClock {
        let mut clock = self.sc_fence.of_any(mask);
        if let Some(times) = &self.sc_fence_times {
            for lane in lanes(mask).filter(|lane| times[*lane] > 0) {
                clock.join(&self.own(1 << lane, times[lane]));
            }
        }
        clock
    }

    /// Lanes learn.
    pub fn learn(&mut self, mask: u32, live: u32, clock: &VectorClock) {
        self.clock.add(mask, live, clock);
    }

    /// Lanes have read what others handed on, without acquiring it yet.
    pub fn learn_later(&mut self, mask: u32, live: u32, scope: Scope, clock: &VectorClock) {
        self.fence_acquire[scope as usize].add(mask, live, clock);
    }

    /// Lanes have read what was written after sequentially consistent fences.
    pub(crate) fn learn_at_sequential(&mut self, mask: u32, live: u32, clock: &VectorClock) {
        self.sc_fence_acquire.add(mask, live, clock);
    }

    /// A fence that acquires.
    pub fn acquire_fence(&mut self, mask: u32, live: u32, scope: Scope, sc_fence: bool) {
        let mut sources = self.fence_acquire.iter().chain([&self.sc_fence_acquire]);
        if sources.all(LaneClocks::is_empty) {
            return;
        }
        for lane in lanes(mask) {
            let mut clock = VectorClock::default();
            for fence_acquire in &self.fence_acquire[..=scope as usize] {
                if !fence_acquire.is_empty() {
                    clock.join(&fence_acquire.of(lane));
                }
            }
            if sc_fence && scope == Scope::Device && !self.sc_fence_acquire.is_empty() {
                clock.join(&self.sc_fence_acquire.of(lane));
            }
            self.clock.add(1 << lane, live, &clock);
        }
        if mask & live == live {
            self.clock.share_equal(live);
        }
    }

    /// A fence that releases.
    pub fn release_fence(&mut self, mask: u32, live: u32, scope: Scope, sc_fence: bool) {
        for fence_release in &mut self.fence_release {
            if fence_release.scope <= scope {
                fence_release.lanes &= !mask;
            }
        }
        self.fence_release.retain(|fence_release| fence_release.lanes != 0);
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            let mut group = left;
            for (members, _) in &self.clock.extra {
                group &= if members >> lane & 1 != 0 { *members } else { !*members };
            }
            left &= !group;
            if sc_fence && scope == Scope::Device {
                let clock = self.clock_of(lane);
                self.sc_fence.add(group, live, &clock);
                let times = self.sc_fence_times.get_or_insert_with(|| Box::new([0; LANES]));
                lanes(group).for_each(|lane| times[lane] = self.time);
            }
            let clock = self.clock.of(lane);
            self.fence_release.push(FenceRelease {
                lanes: group,
                scope,
                clock,
                own: self.own_times(),
            });
        }
        self.tick();
    }

    /// A barrier of lanes of the warp; `all` are the lanes that ever were.
    pub fn meet(&mut self, mask: u32, live: u32, all: u32) {
        let sc_fence = self.sequential_of_any(mask);
        self.clock.share(mask, live);
        if mask & all == all {
            self.warp_joined_at = self.time;
        } else {
            let own = self.own(mask, self.time);
            self.clock.add(mask, live, &own);
        }
        self.sc_fence.add(mask, live, &sc_fence);
        self.sc_fence_acquire.share(mask, live);
        self.tick();
    }

    /// Returns whether anything is known that a time of the block does not say.
    pub(crate) fn knows_others(&self) -> bool {
        !self.clock.is_empty()
            || !self.sc_fence.is_empty()
            || self.sc_fence_times.is_some()
            || !self.sc_fence_acquire.is_empty()
    }

    /// Returns what is known that a time of the block does not say.
    pub(crate) fn others(&self, mask: u32) -> Arrival {
        Arrival {
            clock: self.clock.of_any(mask),
            sc_fence: self.sequential_of_any(mask),
            fence_acquire: self.sc_fence_acquire.of_any(mask),
        }
    }

    /// All of the block has met; the warps go on at one time, later than all before.
    pub(crate) fn settle(&mut self, time: u32, oldest_live_epoch: u32) {
        self.block_joined_at = time;
        self.warp_joined_at = time;
        self.oldest_live_epoch = oldest_live_epoch;
        self.set_time(time + 1);
    }

    /// Returns what lanes bring to a barrier that others wait at.
    pub(crate) fn arrive(&mut self, mask: u32, all: u32) -> Arrival {
        let arrival = Arrival {
            clock: self.released_by_all(mask, all),
            sc_fence: self.sequential_of_any(mask),
            fence_acquire: self.sc_fence_acquire.of_any(mask),
        };
        self.tick();
        arrival
    }

    /// Lanes go on from a barrier.
    pub(crate) fn pass(&mut self, mask: u32, live: u32, arrivals: &Arrival) {
        self.clock.add(mask, live, &arrivals.clock);
        self.sc_fence.add(mask, live, &arrivals.sc_fence);
        self.sc_fence_acquire.add(mask, live, &arrivals.fence_acquire);
        if mask & live == live {
            self.clock.extra.clear();
            self.sc_fence.extra.clear();
            self.sc_fence_acquire.extra.clear();
        }
    }
}

impl ThreadClocks {
    /// Lanes have learned one after the other what mostly is the same.
    pub(crate) fn compact(&mut self, live: u32) {
        self.clock.share_equal(live);
        self.fence_acquire.iter_mut().for_each(|fence_acquire| fence_acquire.share_equal(live));
        self.sc_fence_acquire.share_equal(live);
    }
}

impl LaneClocks {
    /// Groups that make up all lanes and know the same become what all know.
    fn share_equal(&mut self, live: u32) {
        let Some((_, first)) = self.extra.first() else { return };
        let first = first.clone();
        let same = self.extra.iter().all(|(_, clock)| clock.is_same(&first));
        let mask = self.extra.iter().fold(0, |mask, (members, _)| mask | members);
        if same && mask & live == live {
            self.extra.clear();
            self.common.join(&first);
        }
    }
}

/// The joined clock of those who arrived at a barrier.
#[derive(Clone, Debug, Default)]
pub struct Arrival {
    pub(crate) clock: VectorClock,
    sc_fence: VectorClock,
    fence_acquire: VectorClock,
}

impl Arrival {
    /// Learns what others bring.
    pub fn join(&mut self, other: &Arrival) {
        self.clock.join(&other.clock);
        self.sc_fence.join(&other.sc_fence);
        self.fence_acquire.join(&other.fence_acquire);
    }

    /// Learns a clock.
    pub fn add(&mut self, clock: &VectorClock) {
        self.clock.join(clock);
    }
}
