//! Managed memory: on which side its pages are, what moves them, and what the program advised.
//!
//! A granule of 64 KiB is nowhere until somebody touches it, then on one side, or on both where the program advised that
//! it is mostly read. Granules lie in blocks of 2 MiB, which is what is evicted when device memory is full.
//!
//! # What moves a granule
//! - *A kernel that touches it.* Each touch of a granule that is not on the device is a fault. As NVIDIA's driver does, a
//!   fault also brings the rest of the largest aligned group (128 KiB .. 2 MiB) of which more than half is there then: a
//!   kernel that reads everything faults six times per block, for the granules 0, 1, 2, 4, 8 and 16.
//! - *A prefetch*, and a copy or a fill that uses it on the device: all that is not there moves at once, without faults.
//! - *The host*, once the program says that it used the memory ([`crate::host_reads`], [`crate::host_writes`]): a process
//!   does not see its own loads and stores. One thing is seen without being told: a granule that nobody touched and that
//!   is not all zero was written by the host.
//!
//! # What does not
//! A granule that prefers the host, or that lies there and is accessed by the device, is mapped: a kernel reaches it over
//! the link, as it does pinned memory. So is one that goes to and fro: when a kernel has asked for it [`BOUNCES`] times
//! within [`SOON_NS`] after the host took it, it stays with the host. NVIDIA's driver calls that thrashing, and
//! `symbols/managed` shows it.
//!
//! The contents lie in host memory of this process all the time, so that only times depend on what is here.

use gpu_model::{PageMoves, Side};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The least that moves.
const GRANULE: u64 = 64 << 10;
/// The most that is evicted at once, and that one fault brings.
const BLOCK: u64 = 2 << 20;

/// Managed memory of so many bytes begins with what moves: with a block, if it fills one.
pub(crate) fn alignment(bytes: usize) -> usize {
    if bytes as u64 >= BLOCK { BLOCK as usize } else { GRANULE as usize }
}

/// The time within which a kernel has to ask for a granule after the host took it, and how often, so that it stays with the host when it
/// comes there next: a lapse of 500 us and three moves (to the device, back, and there again), the parameters `uvm_perf_thrashing_lapse_usec` and
/// `uvm_perf_thrashing_threshold` of NVIDIA's open kernel modules.
const SOON_NS: f64 = 500_000.0;
const BOUNCES: u8 = 1;
/// The byte that discarded memory holds, so that a program that reads it computes something else.
pub(crate) const DISCARDED: u8 = 0xd5;

/// The advice of `cuMemAdvise`, by its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advice {
    ReadMostly(bool),
    Preferred(Option<Side>),
    AccessedBy(Side, bool),
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Granule {
    on_host: bool,
    on_device: bool,
    read_mostly: bool,
    preferred: Option<Side>,
    accessed_by_host: bool,
    accessed_by_device: bool,
    prefetched: Option<Side>,
    /// Its contents were discarded once: on neither side it holds [`DISCARDED`], else zeros.
    is_discarded: bool,
    /// Time at which the host took it from the device, and the number of requests by kernels soon after.
    taken_ns: Option<f64>,
    bounces: u8,
}

impl Granule {
    /// A kernel reaches it over the link and does not move it.
    fn is_mapped(&self) -> bool {
        let stays = self.preferred == Some(Side::Host)
            || self.on_host && (self.accessed_by_device || self.bounces >= BOUNCES);
        stays && !self.on_device && !self.read_mostly
    }

    fn is_nowhere(&self) -> bool {
        !self.on_host && !self.on_device
    }
}

#[derive(Debug)]
struct Region {
    bytes: u64,
    granules: Vec<Granule>,
}

#[derive(Debug, Default)]
pub(crate) struct Managed {
    regions: BTreeMap<u64, Region>,
    /// Last use of each block with granules on the device, by its address.
    used: BTreeMap<u64, u64>,
    /// The same the other way around: the block that was used least recently comes first.
    oldest: BTreeSet<(u64, u64)>,
    uses: u64,
    device_bytes: u64,
}

impl Managed {
    /// A new allocation at a multiple of [`GRANULE`].
    pub(crate) fn add(&mut self, address: u64, bytes: u64) {
        let granules = vec![Granule::default(); bytes.div_ceil(GRANULE) as usize];
        self.regions.insert(address, Region { bytes, granules });
    }

    /// An allocation ends.
    pub(crate) fn remove(&mut self, address: u64) {
        let Some(region) = self.regions.remove(&address) else { return };
        let resident = region.granules.iter().filter(|granule| granule.on_device).count() as u64;
        self.device_bytes -= resident * GRANULE;
        let blocks = address / BLOCK * BLOCK..address + region.bytes;
        let gone: Vec<(u64, u64)> =
            self.used.range(blocks).map(|(at, use_)| (*at, *use_)).collect();
        for (block, last) in gone {
            if self.resident_of(block).next().is_none() {
                self.used.remove(&block);
                self.oldest.remove(&(last, block));
            }
        }
    }

    /// Bytes of device memory that managed memory takes.
    pub(crate) fn device_bytes(&self) -> u64 {
        self.device_bytes
    }

    /// Returns whether a range lies in one allocation.
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        self.regions.range(..=address).next_back().is_some_and(|(start, region)| {
            address.checked_add(bytes).is_some_and(|end| end <= start + region.bytes)
        })
    }

    pub(crate) fn ranges(&self) -> Vec<Range<u64>> {
        self.regions.iter().map(|(start, region)| *start..start + region.bytes).collect()
    }

    /// Returns what kernels reach over the link, in pieces that begin and end with granules.
    pub(crate) fn mapped_ranges(
        &mut self,
        is_all: impl Fn(Range<u64>, u8) -> bool,
    ) -> Vec<Range<u64>> {
        let advised: Vec<u64> = self
            .regions
            .iter()
            .flat_map(|(start, region)| (*start..).step_by(GRANULE as usize).zip(&region.granules))
            .filter(|(_, granule)| granule.accessed_by_device && granule.is_nowhere())
            .map(|(at, _)| at)
            .collect();
        for at in advised {
            self.find_host_writes(at, &is_all);
        }
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (start, region) in &self.regions {
            for (at, granule) in (*start..).step_by(GRANULE as usize).zip(&region.granules) {
                match ranges.last_mut() {
                    _ if !granule.is_mapped() => {}
                    Some(last) if last.end == at => last.end = at + GRANULE,
                    _ => ranges.push(at..at + GRANULE),
                }
            }
        }
        ranges
    }

    fn granule(&mut self, address: u64) -> Option<&mut Granule> {
        let (start, region) = self.regions.range_mut(..=address).next_back()?;
        region.granules.get_mut(((address - start) / GRANULE) as usize)
    }

    fn look(&self, address: u64) -> Option<&Granule> {
        let (start, region) = self.regions.range(..=address).next_back()?;
        region.granules.get(((address - start) / GRANULE) as usize)
    }

    /// The granules of a range, by their addresses.
    fn granules_of(range: Range<u64>) -> impl Iterator<Item = u64> {
        (range.start / GRANULE * GRANULE..range.end).step_by(GRANULE as usize)
    }

    /// The granules of a block that are on the device.
    fn resident_of(&self, block: u64) -> impl Iterator<Item = u64> {
        Managed::granules_of(block..block + BLOCK)
            .filter(|at| self.look(*at).is_some_and(|granule| granule.on_device))
    }

    /// A kernel touched granules, by address / 64 KiB with whether it wrote them, at `now_ns`; `room` bytes of the device are free for
    /// managed memory, and `is_all` tells whether a range holds one byte.
    pub(crate) fn kernel_touches(
        &mut self,
        touched: &BTreeMap<u64, bool>,
        (now_ns, room): (f64, u64),
        is_all: impl Fn(Range<u64>, u8) -> bool,
    ) -> PageMoves {
        let mut moves = PageMoves::default();
        for (number, writes) in touched {
            let at = number * GRANULE;
            self.find_host_writes(at, &is_all);
            let Some(granule) = self.look(at).copied() else { continue };
            if granule.is_mapped() {
                // Its first touch puts it where it prefers to be.
                if let Some(granule) = self.granule(at) {
                    granule.on_host = true;
                }
                continue;
            }
            if !granule.on_device {
                if let Some(granule) = self.granule(at) {
                    let is_soon = |taken: f64| now_ns - taken <= SOON_NS;
                    let again = granule.taken_ns.take().is_some_and(is_soon);
                    granule.bounces = if again { granule.bounces + 1 } else { 0 };
                }
                moves.faults += 1;
                self.bring(at, room, &mut moves);
                self.bring_neighbours(at, room, &is_all, &mut moves);
            }
            self.use_block(at);
            if *writes && let Some(granule) = self.granule(at) {
                granule.on_host = false;
            }
        }
        moves
    }

    /// A granule that is on neither side, and has other contents than it got there, was written by the host.
    fn find_host_writes(&mut self, at: u64, is_all: &impl Fn(Range<u64>, u8) -> bool) {
        let Some((start, region)) = self.regions.range_mut(..=at).next_back() else { return };
        let end = start + region.bytes;
        if let Some(granule) = region.granules.get_mut(((at - start) / GRANULE) as usize)
            && granule.is_nowhere()
        {
            let byte = if granule.is_discarded { DISCARDED } else { 0 };
            granule.on_host = !is_all(at..end.min(at + GRANULE), byte);
        }
    }

    /// Brings what lies around a granule that came by a fault.
    fn bring_neighbours(
        &mut self,
        at: u64,
        room: u64,
        is_all: &impl Fn(Range<u64>, u8) -> bool,
        moves: &mut PageMoves,
    ) {
        let mut group = 2 * GRANULE;
        while group <= BLOCK {
            let start = at / group * group;
            let all: Vec<u64> = Managed::granules_of(start..start + group).collect();
            let is_there = |at: &&u64| self.look(**at).is_some_and(|granule| granule.on_device);
            let there = all.iter().filter(is_there).count();
            if 2 * there > all.len() {
                for at in all {
                    self.find_host_writes(at, is_all);
                    if self
                        .look(at)
                        .is_some_and(|granule| !granule.on_device && !granule.is_mapped())
                    {
                        self.bring(at, room, moves);
                    }
                }
            }
            group *= 2;
        }
    }

    /// Brings a granule to the device, for which others may have to leave.
    fn bring(&mut self, at: u64, room: u64, moves: &mut PageMoves) {
        self.evict(room.saturating_sub(GRANULE), Some(at / BLOCK * BLOCK), moves);
        let Some(granule) = self.granule(at) else { return };
        moves.to_device_bytes += if granule.on_host { GRANULE } else { 0 };
        granule.on_host &= granule.read_mostly;
        granule.on_device = true;
        self.device_bytes += GRANULE;
        self.use_block(at);
    }

    fn use_block(&mut self, at: u64) {
        self.uses += 1;
        let block = at / BLOCK * BLOCK;
        if let Some(last) = self.used.insert(block, self.uses) {
            self.oldest.remove(&(last, block));
        }
        self.oldest.insert((self.uses, block));
    }

    /// Sends blocks to the host, the one that was used least recently first, until at most so many bytes are on the
    /// device; `but` stays.
    fn evict(&mut self, most: u64, but: Option<u64>, moves: &mut PageMoves) {
        while self.device_bytes > most {
            let Some((last, block)) =
                self.oldest.iter().copied().find(|(_, block)| Some(*block) != but)
            else {
                return;
            };
            let resident: Vec<u64> = self.resident_of(block).collect();
            for at in resident {
                self.send(at, moves);
            }
            self.used.remove(&block);
            self.oldest.remove(&(last, block));
            moves.evicted_blocks += 1;
        }
    }

    /// Device memory has only so many bytes left for managed memory.
    pub(crate) fn shrink(&mut self, room: u64) -> PageMoves {
        let mut moves = PageMoves::default();
        self.evict(room, None, &mut moves);
        moves
    }

    /// A granule leaves the device.
    fn send(&mut self, at: u64, moves: &mut PageMoves) {
        let Some(granule) = self.granule(at).filter(|granule| granule.on_device) else { return };
        // Of two copies one is enough.
        moves.to_host_bytes += if granule.on_host { 0 } else { GRANULE };
        (granule.on_device, granule.on_host) = (false, true);
        self.device_bytes -= GRANULE;
    }

    /// All of a range moves to a side, as a prefetch asks, or the device's own copies and fills.
    pub(crate) fn move_to(
        &mut self,
        side: Side,
        range: Range<u64>,
        room: u64,
        is_all: impl Fn(Range<u64>, u8) -> bool,
    ) -> PageMoves {
        let mut moves = PageMoves::default();
        for at in Managed::granules_of(range) {
            self.find_host_writes(at, &is_all);
            let Some(granule) = self.granule(at) else { continue };
            match side {
                Side::Device if !granule.on_device => self.bring(at, room, &mut moves),
                Side::Device => self.use_block(at),
                Side::Host if granule.read_mostly && granule.on_device && !granule.on_host => {
                    granule.on_host = true;
                    moves.to_host_bytes += GRANULE;
                }
                Side::Host => {
                    granule.on_host = true;
                    let was_alone = granule.on_device;
                    if was_alone && !granule.read_mostly {
                        granule.on_host = false;
                        self.send(at, &mut moves);
                    }
                }
            }
        }
        moves
    }

    /// Drops the contents of a range: granules that lie in it are on neither side then.
    pub(crate) fn discard(&mut self, range: Range<u64>) {
        let Some((start, region)) = self.regions.range(..=range.start).next_back() else { return };
        let ends_with_it = range.end == start + region.bytes;
        let first = range.start.next_multiple_of(GRANULE);
        let end = if ends_with_it { range.end } else { range.end / GRANULE * GRANULE };
        for at in Managed::granules_of(first..end.max(first)) {
            self.send(at, &mut PageMoves::default());
            if let Some(granule) = self.granule(at) {
                (granule.on_host, granule.is_discarded) = (false, true);
            }
        }
    }

    /// A prefetch was asked for: what `cuMemRangeGetAttribute` tells of it.
    pub(crate) fn note_prefetch(&mut self, side: Side, range: Range<u64>) {
        self.each(range, |granule| granule.prefetched = Some(side));
    }

    /// The host used a range. It faults once for each block of which it needs something; the driver brings what is
    /// asked for of that block.
    pub(crate) fn host_touches(
        &mut self,
        range: Range<u64>,
        writes: bool,
        now_ns: f64,
    ) -> PageMoves {
        let mut moves = PageMoves::default();
        let mut faulted = None;
        for at in Managed::granules_of(range) {
            let Some(granule) = self.granule(at) else { continue };
            moves.host_first_bytes += if granule.is_nowhere() { GRANULE } else { 0 };
            let missing = granule.on_device && !granule.on_host;
            if missing && granule.read_mostly && !writes {
                granule.on_host = true;
                moves.to_host_bytes += GRANULE;
            } else if granule.on_device && (writes || !granule.read_mostly) {
                granule.taken_ns = Some(now_ns);
                self.send(at, &mut moves);
            } else {
                granule.on_host = true;
            }
            if missing && faulted.replace(at / BLOCK) != Some(at / BLOCK) {
                moves.faults += 1;
            }
        }
        moves
    }

    fn each(&mut self, range: Range<u64>, mut change: impl FnMut(&mut Granule)) {
        for at in Managed::granules_of(range) {
            if let Some(granule) = self.granule(at) {
                change(granule);
            }
        }
    }

    /// The program advises how it will use a range.
    pub(crate) fn advise(&mut self, range: Range<u64>, advice: Advice) {
        self.each(range, |granule| match advice {
            Advice::ReadMostly(is) => {
                granule.read_mostly = is;
                // Taken back, one of two copies goes.
                granule.on_host &= is || !granule.on_device;
            }
            Advice::Preferred(side) => granule.preferred = side,
            Advice::AccessedBy(Side::Host, is) => granule.accessed_by_host = is,
            Advice::AccessedBy(Side::Device, is) => granule.accessed_by_device = is,
        });
    }

    /// Returns whether all of a range is advised to be mostly read.
    pub(crate) fn is_read_mostly(&self, range: Range<u64>) -> bool {
        self.all(range, |granule| granule.read_mostly) == Some(true)
    }

    /// Returns the location that all of a range prefers.
    pub(crate) fn preferred(&self, range: Range<u64>) -> Option<Side> {
        self.all(range, |granule| granule.preferred).flatten()
    }

    /// Returns the location to which all of a range was last prefetched.
    pub(crate) fn prefetched(&self, range: Range<u64>) -> Option<Side> {
        self.all(range, |granule| granule.prefetched).flatten()
    }

    /// Returns whether all of a range is advised to be accessed by a side.
    pub(crate) fn is_accessed_by(&self, range: Range<u64>, side: Side) -> bool {
        let by = |granule: &Granule| match side {
            Side::Host => granule.accessed_by_host,
            Side::Device => granule.accessed_by_device,
        };
        self.all(range, by) == Some(true)
    }

    /// Returns what all granules of a range agree on.
    fn all<T: PartialEq>(&self, range: Range<u64>, of: impl Fn(&Granule) -> T) -> Option<T> {
        let mut each = Managed::granules_of(range).map(|at| self.look(at).map(&of));
        let first = each.next()??;
        each.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }
}

#[cfg(test)]
mod tests;
