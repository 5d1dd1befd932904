//! Hazards in shared memory.
//!
//! Races are found with vector clocks of warps: an access happened before another when a chain of
//! barriers leads from one to the other. Lanes of one warp are ordered by warp barriers. Atomics
//! and volatile accesses order what is around them, as they do in practice when they are
//! accompanied by fences.
//!
//! A barrier of the whole block gives all warps one time. What happened before it is then known to
//! everybody, so one comparison of times settles nearly all accesses.

use crate::execute::access::Request;
use crate::execute::block::Block;
use crate::execute::shadow::lanes;
use crate::execute::warp::{State, Warp};
use crate::execute::{Machine, Run};
use crate::findings::{Finding, Hazard};
use crate::program::BulkDirection;
use crate::registers::LANES;
use std::collections::HashMap;

/// One remembered access: its time in the warp (30 bits), instruction (22), warp (5), lane (5) and
/// kind (2). Zero is no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Event(u64);

const PLAIN: u64 = 1;
const ATOMIC: u64 = 2;

impl Event {
    /// The access of lane 0.
    fn new(warp: &Warp, pc: usize, kind: u64) -> Event {
        let time = warp.time() as u64;
        Event(time << 34 | (pc as u64 & 0x3f_ffff) << 12 | (warp.index as u64 & 31) << 7 | kind)
    }

    fn of_lane(self, lane: usize) -> Event {
        Event(self.0 | (lane as u64) << 2)
    }

    fn is_none(self) -> bool {
        self.0 == 0
    }

    fn time(self) -> u32 {
        (self.0 >> 34) as u32
    }

    fn pc(self) -> u32 {
        (self.0 >> 12) as u32 & 0x3f_ffff
    }

    fn warp(self) -> u32 {
        (self.0 >> 7) as u32 & 31
    }

    fn lane(self) -> u32 {
        (self.0 >> 2) as u32 & 31
    }

    fn is_atomic(self) -> bool {
        self.0 & 3 == ATOMIC
    }
}

/// What is known of one granule of shared memory.
#[derive(Clone, Copy, Debug, Default)]
struct Granule {
    write: Event,
    first_read: Event,
    last_read: Event,
    written: bool,
    pending: bool,
}

/// Whether nobody has read since the last write.
fn unread(granule: Granule) -> bool {
    granule.first_read.is_none()
}

/// Who last released a location: a warp, at a time, with the clock it had then.
#[derive(Clone, Copy, Debug, Default)]
struct Release {
    warp: u32,
    /// Who knows this time of the warp knows the whole clock; `u32::MAX` when nobody can tell.
    time: u32,
    /// Number of the clock among the clocks plus one; 0 is no release.
    clock: u32,
}

/// What is known of a block's shared memory.
#[derive(Debug)]
pub(crate) struct SharedShadow {
    granule: u32,
    granules: Vec<Granule>,
    /// Clocks that barriers hand on.
    barrier_clocks: HashMap<u32, Vec<u32>>,
    /// The last release of each granule; empty before the first.
    releases: Vec<Release>,
    /// The clocks of releases, one after the other.
    clocks: Vec<u32>,
    warps: usize,
    /// Plain writes since the last proxy fence.
    unfenced: bool,
    /// The block has executed a fence, and an atomic that may acquire.
    pub fenced: bool,
    pub acquired: bool,
}

impl SharedShadow {
    pub fn new(run: &Run<'_>) -> SharedShadow {
        SharedShadow {
            granule: run.granule,
            granules: vec![Granule::default(); run.shared_bytes.div_ceil(run.granule) as usize],
            barrier_clocks: HashMap::new(),
            releases: Vec::new(),
            clocks: Vec::new(),
            warps: run.warps_per_block as usize,
            unfenced: false,
            fenced: false,
            acquired: false,
        }
    }

    #[inline(always)]
    fn touched(&mut self, address: u64, bytes: u32) -> &mut [Granule] {
        // A granule is 1, 2 or 4 bytes.
        let shift = self.granule.trailing_zeros();
        let first = (address >> shift) as usize;
        let last = ((address + bytes as u64 + self.granule as u64 - 1) >> shift) as usize;
        let last = last.min(self.granules.len());
        self.granules.get_mut(first..last).unwrap_or_default()
    }

    /// The warp learns what was known at the last release of a location.
    fn acquire(&mut self, warp: &mut Warp, address: u64) {
        let at = (address >> self.granule.trailing_zeros()) as usize;
        let Some(release) = self.releases.get(at).copied() else { return };
        let Some(number) = (release.clock as usize).checked_sub(1) else { return };
        if !knows(warp, release) {
            let start = number * self.warps;
            join(&mut warp.clock, &self.clocks[start..start + self.warps]);
        }
    }

    /// Locations pass on what the warp knows, and what they passed on before.
    fn release(&mut self, warp: &mut Warp, addresses: impl Iterator<Item = u64>) {
        if self.releases.is_empty() {
            self.releases.resize(self.granules.len(), Release::default());
        }
        self.collect();
        let release =
            Release { warp: warp.index, time: warp.time(), clock: self.keep(&warp.clock) };
        let shift = self.granule.trailing_zeros();
        for address in addresses {
            let at = (address >> shift) as usize;
            let Some(before) = self.releases.get(at).copied() else { continue };
            self.releases[at] = release;
            if before.clock != 0 && before.clock != release.clock && !knows(warp, before) {
                let start = (before.clock as usize - 1) * self.warps;
                let mut both = self.clocks[start..start + self.warps].to_vec();
                join(&mut both, &warp.clock);
                self.releases[at] = Release { time: u32::MAX, clock: self.keep(&both), ..release };
            }
        }
        warp.tick();
    }

    fn keep(&mut self, clock: &[u32]) -> u32 {
        self.clocks.extend_from_slice(clock);
        (self.clocks.len() / self.warps) as u32
    }

    /// Drops clocks that no location refers to, when there are many.
    fn collect(&mut self) {
        if self.clocks.len() < 2 * self.warps * (self.releases.len() + 2 * LANES) {
            return;
        }
        let old = std::mem::take(&mut self.clocks);
        let mut numbers = HashMap::new();
        for release in self.releases.iter_mut().filter(|release| release.clock != 0) {
            let start = (release.clock as usize - 1) * self.warps;
            release.clock = *numbers.entry(start).or_insert_with(|| {
                self.clocks.extend_from_slice(&old[start..start + self.warps]);
                (self.clocks.len() / self.warps) as u32
            });
        }
    }
}

fn knows(warp: &Warp, release: Release) -> bool {
    warp.clock.get(release.warp as usize).is_some_and(|known| *known >= release.time)
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// The hazard of an access after another to the same bytes, one of them a write.
#[inline]
fn race(clock: &[u32], before: Event, now: Event) -> Option<Hazard> {
    if before.is_none() || (before.is_atomic() && now.is_atomic()) {
        return None;
    }
    if before.warp() == now.warp() {
        let ordered =
            before.lane() == now.lane() || before.time() < now.time() || before.pc() == now.pc();
        return (!ordered).then_some(Hazard::SharedRaceInWarp);
    }
    let known = clock.get(before.warp() as usize).copied().unwrap_or(0);
    (known < before.time()).then_some(Hazard::SharedRace)
}

/// Neighbouring lanes of a mask that reach the same address: the first, the last, all of them.
fn runs(request: Request<'_>) -> impl Iterator<Item = (usize, usize, u32)> {
    let mut rest = request.mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let first = rest.trailing_zeros() as usize;
        let (mut last, mut members) = (first, 0);
        loop {
            let lane = rest.trailing_zeros() as usize;
            if lane >= LANES || request.all[lane] != request.all[first] {
                return Some((first, last, members));
            }
            last = lane;
            members |= 1 << lane;
            rest &= rest - 1;
        }
    })
}

/// Where something was found: block, warp, instruction, lane, address.
#[derive(Clone, Copy)]
struct Site {
    block: [u32; 3],
    warp: u32,
    pc: usize,
    lane: usize,
    address: u64,
}

fn site(block: &Block, warp: &Warp, request: Request<'_>, lane: usize) -> Site {
    let address = request.all[lane];
    Site { block: block.index, warp: warp.index, pc: request.pc, lane, address }
}

impl Machine<'_> {
    /// Reads of shared memory.
    pub fn check_shared_read(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        strong: bool,
    ) {
        let Some(mut shadow) = block.shadow.take() else { return };
        if strong {
            lanes(request.mask).for_each(|lane| shadow.acquire(warp, request.all[lane]));
        }
        let checks = self.run.options.checks;
        let now = Event::new(warp, request.pc, if strong { ATOMIC } else { PLAIN });
        for (first, last, members) in runs(request) {
            for granule in shadow.touched(request.all[first], request.bytes) {
                let before = *granule;
                if granule.first_read.is_none() {
                    granule.first_read = now.of_lane(first);
                }
                granule.last_read = now.of_lane(last);
                if before.written && !before.pending && before.write.time() <= warp.settled {
                    continue;
                }
                let place = site(block, warp, request, first);
                if before.pending && checks.async_copies {
                    self.report(Hazard::AsyncCopyNotAwaited, place, None);
                } else if !before.written && checks.uninitialised {
                    self.report(Hazard::UninitialisedShared, place, None);
                }
                if checks.shared_races {
                    for lane in lanes(members) {
                        if let Some(hazard) = race(&warp.clock, before.write, now.of_lane(lane)) {
                            let place = Site { lane, ..place };
                            self.report(hazard, place, Some(before.write));
                        }
                    }
                }
            }
        }
        block.shadow = Some(shadow);
    }

    /// Writes of shared memory.
    pub fn check_shared_write(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        strong: bool,
    ) {
        self.shared_write(block, warp, request, if strong { ATOMIC } else { PLAIN });
        if let (true, Some(shadow)) = (strong, &mut block.shadow) {
            shadow.release(warp, lanes(request.mask).map(|lane| request.all[lane]));
        }
    }

    /// Atomics on shared memory also order what is around them.
    pub fn check_shared_atomic(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
    ) {
        if let Some(shadow) = &mut block.shadow {
            lanes(request.mask).for_each(|lane| shadow.acquire(warp, request.all[lane]));
        }
        self.shared_write(block, warp, request, ATOMIC);
        if let Some(shadow) = &mut block.shadow {
            shadow.release(warp, lanes(request.mask).map(|lane| request.all[lane]));
        }
    }

    fn shared_write(&mut self, block: &mut Block, warp: &Warp, request: Request<'_>, kind: u64) {
        let Some(mut shadow) = block.shadow.take() else { return };
        let checks = self.run.options.checks;
        shadow.unfenced = true;
        let now = Event::new(warp, request.pc, kind);
        for lane in lanes(request.mask) {
            for granule in shadow.touched(request.all[lane], request.bytes) {
                let before = *granule;
                *granule = Granule {
                    write: now.of_lane(lane),
                    written: true,
                    pending: before.pending,
                    ..Granule::default()
                };
                let others = [before.write, before.first_read, before.last_read];
                let latest = others[0].0.max(others[1].0).max(others[2].0);
                let only_atomics = kind == ATOMIC && before.write.is_atomic() && unread(before);
                if !before.pending && (only_atomics || Event(latest).time() <= warp.settled) {
                    continue;
                }
                let place = site(block, warp, request, lane);
                if before.pending && checks.async_copies {
                    self.report(Hazard::AsyncCopyNotAwaited, place, None);
                }
                if checks.shared_races {
                    for other in others {
                        if let Some(hazard) = race(&warp.clock, other, now.of_lane(lane)) {
                            self.report(hazard, place, Some(other));
                        }
                    }
                }
            }
        }
        block.shadow = Some(shadow);
    }

    #[cold]
    fn report(&mut self, hazard: Hazard, site: Site, before: Option<Event>) {
        self.find(hazard, site.pc, |run| {
            let other = before.map(|event| {
                run.place(site.block, event.warp(), 1 << event.lane(), event.pc() as usize)
            });
            let address = site.address;
            let what = match hazard {
                Hazard::AsyncCopyNotAwaited => format!(
                    "shared address {address:#x} is the target of a copy that is still under way"
                ),
                Hazard::UninitialisedShared => {
                    format!("shared address {address:#x} is read but was never written")
                }
                Hazard::MissingProxyFence => {
                    "a bulk copy reads shared memory that was written without a proxy fence".into()
                }
                _ => format!("conflicting accesses to shared address {address:#x}"),
            };
            let message = format!("{what}; {}", run.describe_shared(address));
            Finding {
                hazard,
                place: run.place(site.block, site.warp, 1 << site.lane, site.pc),
                other,
                address: Some(address),
                message,
            }
        });
    }

    /// A warp barrier orders the lanes of a warp.
    pub fn warp_synchronised(&mut self, warp: &mut Warp) {
        if self.checking {
            warp.tick();
        }
    }

    /// A warp hands its clock to a block barrier.
    pub fn barrier_arrived(&mut self, block: &mut Block, warp: &mut Warp, id: u32) {
        let Some(shadow) = &mut block.shadow else { return };
        let clock = shadow.barrier_clocks.entry(id).or_default();
        clock.resize(warp.clock.len(), 0);
        join(clock, &warp.clock);
        warp.tick();
    }

    /// A warp that passes a barrier without waiting learns what those who arrived knew.
    pub fn barrier_passed(&mut self, block: &mut Block, warp: &mut Warp, id: u32) {
        let Some(shadow) = &mut block.shadow else { return };
        if let Some(joined) = shadow.barrier_clocks.get(&id) {
            join(&mut warp.clock, joined);
        }
    }

    /// Another block of the cluster wrote.
    pub fn mark_written(&mut self, block: &mut Block, request: Request<'_>) {
        let Some(shadow) = &mut block.shadow else { return };
        for lane in lanes(request.mask) {
            let granules = shadow.touched(request.all[lane], request.bytes);
            granules.fill(Granule { written: true, ..Granule::default() });
        }
    }

    /// The warps that waited at a barrier learn what all who arrived knew.
    pub fn join_clocks(&mut self, block: &mut Block, id: u32) {
        let Some(shadow) = &mut block.shadow else { return };
        let Some(joined) = shadow.barrier_clocks.get(&id) else { return };
        let waits = |warp: &Warp| warp.splits.iter().any(|s| s.state == State::AtBarrier(id));
        for warp in block.warps.iter_mut().filter(|warp| waits(warp)) {
            join(&mut warp.clock, joined);
        }
        // When all that live have arrived, they go on at one time, later than all before.
        let together = |warp: &Warp| warp.splits.iter().all(|s| s.state == State::AtBarrier(id));
        if !block.warps.iter().all(together) {
            return;
        }
        let gone: Vec<bool> = block.warps.iter().map(Warp::is_finished).collect();
        let time = block.warps.iter().map(Warp::time).max().unwrap_or(0);
        for warp in block.warps.iter_mut().filter(|warp| !warp.is_finished()) {
            let own = warp.index as usize;
            for (known, gone) in warp.clock.iter_mut().zip(&gone) {
                // What a warp that has ended did after its last barrier remains unknown.
                *known = if *gone { *known } else { time };
            }
            warp.settled = warp.clock.iter().copied().min().unwrap_or(0);
            warp.clock[own] = time + 1;
        }
    }

    pub fn mbarrier_arrived(&mut self, block: &mut Block, warp: &mut Warp, address: u32) {
        if let Some(shadow) = &mut block.shadow {
            shadow.release(warp, std::iter::once(address as u64));
        }
    }

    pub fn mbarrier_passed(&mut self, block: &mut Block, warp: &mut Warp, address: u32) {
        if let Some(shadow) = &mut block.shadow {
            shadow.acquire(warp, address as u64);
        }
    }

    pub fn mark_mbarrier(&mut self, block: &mut Block, address: u32) {
        if let Some(shadow) = &mut block.shadow {
            shadow.touched(address as u64, 8).iter_mut().for_each(|granule| granule.written = true);
        }
    }

    /// The target of an asynchronous copy must not be touched until it has landed.
    pub fn check_async_issue(&mut self, block: &mut Block, warp: &Warp, request: Request<'_>) {
        self.shared_write(block, warp, request, PLAIN);
        let Some(shadow) = &mut block.shadow else { return };
        for lane in lanes(request.mask) {
            for granule in shadow.touched(request.all[lane], request.bytes) {
                granule.pending = true;
            }
        }
    }

    pub fn async_landed(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        mask: u32,
        target: &[u32; LANES],
        bytes: u32,
    ) {
        let Some(shadow) = &mut block.shadow else { return };
        for lane in lanes(mask) {
            for granule in shadow.touched(target[lane] as u64, bytes) {
                granule.pending = false;
                // The write happens now, whenever it was asked for.
                let rest = granule.write.0 & ((1 << 34) - 1);
                granule.write = Event((warp.time() as u64) << 34 | rest);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub fn check_bulk_issue(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        pc: usize,
        lane: usize,
        direction: BulkDirection,
        (target, source): (u64, u64),
        bytes: u32,
    ) {
        let place = Site { block: block.index, warp: warp.index, pc, lane, address: source };
        let Some(shadow) = &mut block.shadow else { return };
        if direction != BulkDirection::SharedToGlobal {
            shadow.touched(target, bytes).iter_mut().for_each(|granule| granule.pending = true);
            return;
        }
        let unwritten = shadow.touched(source, bytes).iter().any(|granule| !granule.written);
        let unfenced = shadow.unfenced;
        if unwritten && self.run.options.checks.uninitialised {
            self.report(Hazard::UninitialisedShared, place, None);
        }
        if unfenced && self.run.options.checks.async_copies {
            self.report(Hazard::MissingProxyFence, place, None);
        }
    }

    pub fn bulk_landed(
        &mut self,
        block: &mut Block,
        direction: BulkDirection,
        target: u64,
        bytes: u32,
    ) {
        let Some(shadow) = &mut block.shadow else { return };
        if direction == BulkDirection::SharedToGlobal {
            return;
        }
        // Who waits on the mbarrier sees the bytes; who does not is caught by timing alone.
        shadow.touched(target, bytes).fill(Granule { written: true, ..Granule::default() });
    }

    /// A fence makes later atomics of the block a release.
    pub fn fence(&mut self, block: &mut Block, proxy: bool) {
        if let Some(shadow) = &mut block.shadow {
            shadow.fenced |= !proxy;
            shadow.unfenced &= !proxy;
        }
    }
}
