//! What is remembered of shared memory: accesses, and the clocks that order them.

use crate::execute::run::Run;
use crate::execute::warp::Warp;
use crate::registers::LANES;
use std::collections::HashMap;

/// One remembered access: its time in the warp (30 bits), instruction (22), warp (5), lane (5) and
/// kind (2). Zero is no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event(pub u64);

pub(super) const PLAIN: u64 = 1;
pub(super) const ATOMIC: u64 = 2;

impl Event {
    /// The access of lane 0.
    pub fn new(warp: &Warp, pc: usize, kind: u64) -> Event {
        let time = warp.time() as u64;
        Event(time << 34 | (pc as u64 & 0x3f_ffff) << 12 | (warp.index as u64 & 31) << 7 | kind)
    }

    pub fn of_lane(self, lane: usize) -> Event {
        Event(self.0 | (lane as u64) << 2)
    }

    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    pub fn time(self) -> u32 {
        (self.0 >> 34) as u32
    }

    pub fn pc(self) -> u32 {
        (self.0 >> 12) as u32 & 0x3f_ffff
    }

    pub fn warp(self) -> u32 {
        (self.0 >> 7) as u32 & 31
    }

    pub fn lane(self) -> u32 {
        (self.0 >> 2) as u32 & 31
    }

    pub fn is_atomic(self) -> bool {
        self.0 & 3 == ATOMIC
    }
}

/// What is known of one granule of shared memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Granule {
    pub write: Event,
    pub first_read: Event,
    pub last_read: Event,
    pub written: bool,
    pub pending: bool,
}

/// Whether nobody has read since the last write.
pub(super) fn unread(granule: Granule) -> bool {
    granule.first_read.is_none()
}

/// Who last released a location: a warp, at a time, with the clock it had then.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Release {
    pub warp: u32,
    /// Who knows this time of the warp knows the whole clock; `u32::MAX` when nobody can tell.
    pub time: u32,
    /// Number of the clock among the clocks plus one; 0 is no release.
    pub clock: u32,
}

/// What is known of a block's shared memory.
#[derive(Debug)]
pub(crate) struct SharedShadow {
    pub granule: u32,
    pub granules: Vec<Granule>,
    /// Clocks that barriers hand on.
    pub barrier_clocks: HashMap<u32, Vec<u32>>,
    /// The last release of each granule; empty before the first.
    pub releases: Vec<Release>,
    /// The clocks of releases, one after the other.
    pub clocks: Vec<u32>,
    pub warps: usize,
    /// Plain writes since the last proxy fence.
    pub unfenced: bool,
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
    pub fn touched(&mut self, address: u64, bytes: u32) -> &mut [Granule] {
        // A granule is 1, 2 or 4 bytes.
        let shift = self.granule.trailing_zeros();
        let first = (address >> shift) as usize;
        let last = ((address + bytes as u64 + self.granule as u64 - 1) >> shift) as usize;
        let last = last.min(self.granules.len());
        self.granules.get_mut(first..last).unwrap_or_default()
    }

    /// The warp learns what was known at the last release of a location.
    pub fn acquire(&mut self, warp: &mut Warp, address: u64) {
        let at = (address >> self.granule.trailing_zeros()) as usize;
        let Some(release) = self.releases.get(at).copied() else { return };
        let Some(number) = (release.clock as usize).checked_sub(1) else { return };
        if !knows(warp, release) {
            let start = number * self.warps;
            join(&mut warp.clock, &self.clocks[start..start + self.warps]);
        }
    }

    /// Locations pass on what the warp knows, and what they passed on before.
    pub fn release(&mut self, warp: &mut Warp, addresses: impl Iterator<Item = u64>) {
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

    pub fn keep(&mut self, clock: &[u32]) -> u32 {
        self.clocks.extend_from_slice(clock);
        (self.clocks.len() / self.warps) as u32
    }

    /// Drops clocks that no location refers to, when there are many.
    pub fn collect(&mut self) {
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

pub(super) fn knows(warp: &Warp, release: Release) -> bool {
    warp.clock.get(release.warp as usize).is_some_and(|known| *known >= release.time)
}

pub(super) fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
