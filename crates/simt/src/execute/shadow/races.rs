//! Hazards in shared memory.
//!
//! Races are found with vector clocks of warps: an access happened before another when a chain of
//! barriers leads from one to the other. Lanes of one warp are ordered by warp barriers. Atomics
//! and volatile accesses order what is around them, as they do in practice when they are
//! accompanied by fences.
//!
//! A barrier of the whole block gives all warps one time. What happened before it is then known to
//! everybody, so one comparison of times settles nearly all accesses.

use super::shared::{ATOMIC, Event, Granule, PLAIN, join, unread};
use crate::execute::block::Block;
use crate::execute::machine::Machine;
use crate::execute::request::{Request, lanes};
use crate::execute::warp::{State, Warp};
use crate::findings::{Finding, Hazard};
use crate::operation::BulkDirection;
use crate::registers::LANES;

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
        self.observers.find(hazard, site.pc, |run| {
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
        if self.observers.checking {
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
