//! One access of a warp compared with those before it, and remembered.

use crate::event::{Epoch, Event};
use crate::lines::{Cell, Cells, FULL, LINE, ShadowLine};
use crate::model::{AccessKind, LaunchModel};
use crate::readers::Readers;
use crate::request::lanes;
use crate::thread_clocks::{Observed, ThreadClocks};
use crate::vector_clock::Thread;
use crate::words::Words;
use std::ops::Range;

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// The earlier access.
    pub before: Event,
    /// The warp and the time of the earlier access.
    pub epoch: Epoch,
    /// The lane of the later access.
    pub lane: usize,
    /// The address of the first granule that both reach.
    pub address: u64,
    /// Both are stores, so that equal values do no harm.
    pub both_store: bool,
    /// Both are strong, so it is no data race, but one is volatile and hands nothing on: the value read is not
    /// promised.
    pub is_volatile: bool,
}

/// The earlier accesses that an access is compared with, and its own.
pub struct Check<'a> {
    pub model: &'a LaunchModel,
    pub epochs: &'a [Epoch],
    pub order: &'a mut ThreadClocks,
    pub words: &'a mut Words,
    pub readers: &'a mut Readers,
    pub pc: usize,
    pub kind: AccessKind,
    pub writes: bool,
    /// The number of the present epoch plus one.
    pub epoch: u32,
    /// Events below this number happened before.
    pub oldest_live_epoch: u32,
    /// The access is strong, and its scope includes all who can reach this memory.
    pub reaches: bool,
    /// Bytes of a granule, as a power of two.
    pub shift: u32,
    pub found: Found,
    /// Written bytes, and those that copies are about to write, are remembered in the lines.
    pub is_shared: bool,
    /// The load promises that nobody writes during the launch.
    pub read_only: bool,
}

/// The findings of an access.
#[derive(Default)]
pub struct Found {
    pub races: Vec<Race>,
    /// A weak write came after a strong one, so that what that handed on is no longer there.
    pub breaks: bool,
    /// A lane, and the address, for which the promise of a read-only load does not hold.
    pub stale: Option<(usize, u64)>,
    /// A lane, and the address, that reads what nobody wrote.
    pub unwritten: Option<(usize, u64)>,
    /// A lane, and the address, that a copy is about to write.
    pub pending: Option<(usize, u64)>,
}

impl Check<'_> {
    fn kind_of(&self, event: Event) -> AccessKind {
        self.model.kinds.get(event.pc()).copied().unwrap_or_default()
    }

    fn is_strong(&self, event: Event) -> bool {
        self.kind_of(event).is_strong()
    }

    fn epoch_of(&self, event: Event) -> Epoch {
        self.epochs[event.epoch() as usize - 1]
    }

    /// Returns whether the accesses of a whole line, or none, happened before those of now to it.
    #[inline(always)]
    fn is_settled(&self, before: Event, now: Event) -> bool {
        before.is_none()
            || before.epoch() < self.oldest_live_epoch
            || before.is_same_lanes(now)
            || self.order.is_after_all(self.epoch_of(before))
    }

    /// Returns whether an access happened before what a lane does now.
    #[inline(always)]
    fn is_before(&self, before: Event, lane: usize) -> bool {
        before.is_none()
            || before.epoch() < self.oldest_live_epoch
            || (before.epoch() == self.epoch && before.lane() == lane && !before.is_many())
            || self.order.is_after(self.epoch_of(before), before, lane)
    }

    /// Lanes access some granules of a line, which begins at an address. Each granule has a lane of its own, or `many`
    /// lanes read all of them.
    #[inline(always)]
    pub fn line(
        &mut self,
        line: &mut ShadowLine,
        cells: &mut Cells,
        (mask, now, many): (u8, Event, u32),
        address: u64,
    ) {
        if line.latest < self.oldest_live_epoch && line.latest != 0 {
            cells.unite(line, Event::default(), mask);
        }
        line.latest = self.epoch;
        if self.is_shared {
            self.mark(line, (mask, now), address);
        }
        if self.read_only {
            self.promise(line, cells, (mask, now), address);
        }
        if self.writes && !self.readers.is_empty() {
            self.compare_readers((mask, now), address);
        }
        if !line.is_split {
            if line.mask != mask && line.whole().is_none() {
                line.mask = mask;
            }
            if line.mask == mask && self.whole(line, now, address) {
                return;
            }
        } else if !self.writes && mask.is_power_of_two() {
            // What nobody has reached since the last barrier is read.
            let granule = mask.trailing_zeros() as usize;
            let cell = &mut cells.of(line)[granule];
            if cell.is_none() {
                cell.reads[0] = now.at(granule);
                return;
            }
        }
        self.granules(line, cells, (mask, now, many), address);
    }

    /// Compares a write with the reads of its granules that its cells do not have.
    #[inline(never)]
    pub fn compare_readers(&mut self, (mask, now): (u8, Event), line: u64) {
        for index in 0.. {
            let Some((granules, read)) = self.readers.of(line).get(index).copied() else { break };
            for granule in (0..LINE).filter(|granule| (granules & mask) >> granule & 1 != 0) {
                let (read, lane) = (read.at(granule), now.at(granule).lane());
                if !self.is_before(read, lane) {
                    let at = line + ((granule as u64) << self.shift);
                    self.conflict(read, &Cell::default(), lane, at, false);
                }
            }
        }
        // What happens after a strong write need not come after it, nor after these.
        if !self.kind.is_strong() {
            self.readers.overwrite(line, mask);
        }
    }

    /// Returns whether somebody wrote what a read-only load reads.
    fn promise(
        &mut self,
        line: &ShadowLine,
        cells: &Cells,
        (mask, now): (u8, Event),
        address: u64,
    ) {
        let wrote = |granule: &usize| {
            mask >> granule & 1 != 0 && !cells.get(line, *granule).write.is_none()
        };
        if let Some(granule) = (0..LINE).find(|granule| line.is_written() && wrote(granule)) {
            let at = address + ((granule as u64) << self.shift);
            self.found.stale.get_or_insert((now.at(granule).lane(), at));
        }
    }

    /// Returns what was written, and what a copy is about to write.
    #[inline(always)]
    pub fn mark(&mut self, line: &mut ShadowLine, (mask, now): (u8, Event), address: u64) {
        let needs = !self.writes || self.kind.updates && !self.kind.overwrites;
        if line.pending & mask != 0 || (needs && line.written & mask != mask) {
            let missing = if line.pending & mask != 0 { line.pending } else { !line.written };
            let granule = (missing & mask).trailing_zeros() as usize;
            let at = (now.at(granule).lane(), address + ((granule as u64) << self.shift));
            if line.pending & mask != 0 {
                self.found.pending.get_or_insert(at);
            } else {
                self.found.unwritten.get_or_insert(at);
            }
        }
        if self.writes {
            line.written |= mask;
        }
    }

    /// The same, granule by granule.
    fn granules(
        &mut self,
        line: &mut ShadowLine,
        cells: &mut Cells,
        (mask, now, many): (u8, Event, u32),
        address: u64,
    ) {
        let split = cells.of(line);
        let found = self.found.races.len();
        let mut rest = mask;
        while rest != 0 {
            let granule = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let cell = &mut split[granule];
            let event = now.at(granule);
            let (lane, at) = (event.lane(), address + ((granule as u64) << self.shift));
            if many == 0 {
                if self.is_same_update(cell.write, at) && cell.is_plain() {
                    cell.write = event;
                    continue;
                }
                self.compare(cell, lane, at);
            } else if !self.is_settled(cell.write, event) || !cell.earlier.is_none() {
                lanes(many).for_each(|lane| self.compare(cell, lane, at));
            }
            if self.writes {
                self.write(cell, event)
            } else {
                self.read(cell, (event, lane), address, granule)
            }
        }
        let quiet = self.found.races.len() == found && !self.kind.is_strong();
        if self.writes && mask == FULL && quiet {
            cells.unite(line, now, FULL);
        }
    }

    /// The access to a line that is not split, when one cell can stand for it after as before.
    #[inline(always)]
    fn whole(&mut self, line: &mut ShadowLine, now: Event, address: u64) -> bool {
        let Cell { write, reads: [first, last], .. } = line.whole();
        if !self.is_settled(write, now) {
            return false;
        }
        if self.writes {
            if !self.is_settled(first, now) || !self.is_settled(last, now) {
                return false;
            }
            let after_strong = !self.words.is_empty() && self.is_strong(write);
            if self.kind.is_strong() || after_strong {
                return false;
            }
            line.set_whole(now, [Event::default(); 2]);
            return true;
        }
        if first == now || last == now {
            return true;
        }
        if first.is_none() || (self.is_settled(first, now) && !self.weakens(first)) {
            let last = if self.is_settled(last, now) { Event::default() } else { last };
            line.set_whole(write, [now, last]);
        } else {
            if self.model.orders_some && !self.is_settled(last, now) {
                self.readers.keep(address, line.mask, last, self.epochs, self.oldest_live_epoch);
            }
            line.set_whole(write, [first, now]);
        }
        true
    }

    /// Compares the granules of an asynchronous copy as if the lane that asks for it reached them now, and remembers them as
    /// the copy's, whose epoch has a number. The first line begins at an address.
    pub fn copy(
        &mut self,
        lines: &mut [ShadowLine],
        cells: &mut Cells,
        start: u64,
        (granules, lane): (Range<usize>, usize),
        number: u32,
    ) {
        for granule in granules {
            let Some(line) = lines.get_mut(granule / LINE) else { break };
            line.latest = line.latest.max(number).max(self.epoch);
            if self.writes && !self.readers.is_empty() {
                let mine = Event::point(self.epoch, self.pc, lane);
                let address = start + (((granule / LINE * LINE) as u64) << self.shift);
                self.compare_readers((1 << (granule % LINE), mine), address);
            }
            let cell = &mut cells.of(line)[granule % LINE];
            self.compare(cell, lane, start + ((granule as u64) << self.shift));
            let now = Event::point(number, self.pc, lane);
            if self.writes {
                self.write(cell, now);
            } else if cell.reads[0].is_none() {
                cell.reads[0] = now;
            } else {
                cell.reads[1] = now;
            }
        }
    }

    /// Returns whether to remember the access of now instead of one before it would forget one that may race where this does
    /// not: a weak one, or one of a narrower scope or of another size.
    fn weakens(&self, before: Event) -> bool {
        let (mine, theirs) = (self.kind, self.kind_of(before));
        mine.is_strong()
            && (theirs.semantics.strong < mine.semantics.strong || theirs.bytes != mine.bytes)
    }

    /// Compares an access of a lane with those before it.
    #[inline(always)]
    pub fn compare(&mut self, cell: &Cell, lane: usize, address: u64) {
        if !self.is_same_update(cell.write, address) && !self.is_before(cell.write, lane) {
            self.conflict(cell.write, cell, lane, address, true);
        }
        if !cell.earlier.is_none()
            && !self.is_before(cell.earlier, lane)
            && !self.is_observed(cell, lane, Some(address))
        {
            self.conflict(cell.earlier, cell, lane, address, true);
        }
        if self.writes {
            for read in cell.reads {
                if !self.is_before(read, lane) {
                    self.conflict(read, cell, lane, address, false);
                }
            }
        }
    }

    /// Returns whether an access was of the same instruction, which is an atomic that reaches everybody.
    #[inline(always)]
    pub fn is_same_update(&mut self, before: Event, address: u64) -> bool {
        if !self.reaches || !self.kind.updates || before.pc() != self.pc || before.is_none() {
            return false;
        }
        if self.kind.observes && before.epoch() != self.epoch {
            let block = self.epoch_of(before).block;
            let releases = self.words.holds(self.element(address));
            self.order.observed = Some(Observed { read: self.pc, write: self.pc, block, releases });
        }
        true
    }

    /// Returns whether a lane, or one that it comes after, has read the last write of a word, both being strong: it comes after
    /// that write.
    fn has_read(&self, cell: &Cell, lane: usize) -> bool {
        let write = self.kind_of(cell.write);
        let Some(theirs) = write.semantics.strong.filter(|_| !cell.write.is_none()) else {
            return false;
        };
        let of = self.epoch_of(cell.write).block;
        let has = |read: &Event| {
            let kind = self.kind_of(*read);
            let Some(mine) = kind.semantics.strong else { return false };
            let by = self.epoch_of(*read);
            let is_own = (by.block, by.warp) == (self.order.block, self.order.warp)
                && (read.lane() == lane || read.is_many());
            kind.bytes == write.bytes
                && self.model.grid.includes(mine, by.block, of)
                && self.model.grid.includes(theirs, of, by.block)
                && (is_own || self.is_before(*read, lane))
        };
        cell.reads.iter().filter(|read| !read.is_none()).any(has)
    }

    /// Returns whether the last write of a word is an update that read the one remembered before it, and comes before what a
    /// lane does now.
    #[cold]
    fn is_observed(&self, cell: &Cell, lane: usize, address: Option<u64>) -> bool {
        let (update, write) = (self.kind_of(cell.write), self.kind_of(cell.earlier));
        let [by, of] = [cell.write, cell.earlier].map(|event| self.epoch_of(event).block);
        let (Some(mine), Some(theirs)) = (update.semantics.strong, write.semantics.strong) else {
            return false;
        };
        update.updates
            && update.bytes == write.bytes
            && self.model.grid.includes(mine, by, of)
            && self.model.grid.includes(theirs, of, by)
            && (self.is_before(cell.write, lane)
                || address.is_some_and(|address| {
                    self.acquires(cell.write, self.epoch_of(cell.write), address)
                }))
    }

    /// Returns whether an access acquires, from the word that it reaches, an order after one before it.
    #[cold]
    fn acquires(&self, before: Event, epoch: Epoch, address: u64) -> bool {
        let semantics = self.kind.semantics;
        let reads = !self.writes || self.kind.updates && self.kind.observes;
        let lane = before.lane() as u8;
        let thread = Thread { block: epoch.block, warp: epoch.warp, lane };
        reads
            && semantics.acquire
            && !before.is_many()
            && semantics.strong.is_some_and(|scope| {
                let at = (self.element(address), scope);
                self.words.orders(self.model, self.order.block, at, (thread, epoch.time))
            })
    }

    /// Two accesses without an order: a race unless they are morally strong.
    #[cold]
    fn conflict(&mut self, before: Event, cell: &Cell, lane: usize, address: u64, wrote: bool) {
        let (epoch, kind) = (self.epoch_of(before), self.kind_of(before));
        let me = self.order.block;
        self.note(before, epoch, wrote, address);
        if self.acquires(before, epoch, address) {
            return;
        }
        // What a fence came after is not stale where a volatile load reads it: NVIDIA's guide has its last block read
        // so what the others wrote before their `__threadfence()`, without a fence of its own.
        let is_volatile_load = self.kind.semantics.volatile && !self.writes;
        if is_volatile_load && self.order.is_after_fence(epoch, before, lane) {
            return;
        }
        if let (Some(mine), Some(theirs)) = (self.kind.semantics.strong, kind.semantics.strong)
            && self.kind.bytes == kind.bytes
            && self.model.grid.includes(mine, me, epoch.block)
            && self.model.grid.includes(theirs, epoch.block, me)
        {
            let is_volatile = self.kind.semantics.volatile || kind.semantics.volatile;
            if is_volatile && !self.hands_on(kind, lane, address, wrote) {
                let both_store = wrote && self.writes;
                let race = Race { before, epoch, lane, address, both_store, is_volatile };
                self.found.races.push(race);
            }
            return;
        }
        if wrote && before == cell.write && self.has_read(cell, lane) {
            return;
        }
        let both_store = wrote && self.writes && !kind.updates && !self.kind.updates;
        let race = Race { before, epoch, lane, address, both_store, is_volatile: false };
        self.found.races.push(race);
    }

    /// Returns whether a write tells one who waits for it of what came before it, by a fence or a release.
    fn hands_on(&self, before: AccessKind, lane: usize, address: u64, wrote: bool) -> bool {
        if !wrote {
            let is_fenced = self.order.fenced_by(lane).next().is_some();
            return before.polls && (self.kind.semantics.release || is_fenced);
        }
        self.kind.polls && self.words.holds(self.element(address))
    }

    /// Returns the first address of the element that an address lies in.
    fn element(&self, address: u64) -> u64 {
        address & !(u64::from(self.kind.bytes.max(1)) - 1)
    }

    /// Remembers for messages which write of another thread was read by which strong read.
    fn note(&mut self, before: Event, epoch: Epoch, wrote: bool, address: u64) {
        if wrote && self.kind.is_strong() && self.kind.observes {
            let (write, block) = (before.pc(), epoch.block);
            let releases = self.words.holds(self.element(address));
            self.order.observed = Some(Observed { read: self.pc, write, block, releases });
        }
    }

    /// Remembers a write.
    #[inline(always)]
    pub fn write(&mut self, cell: &mut Cell, now: Event) {
        if !self.kind.is_strong() {
            self.found.breaks |= !cell.write.is_none() && self.is_strong(cell.write);
            *cell = Cell { write: now, ..Cell::default() };
            return;
        }
        let old = cell.write;
        if self.reaches && self.kind.updates && old.pc() == self.pc && !old.is_none() {
            // The one before says the same.
            cell.write = now;
            return;
        }
        let is_weak = !old.is_none() && self.weakens(old);
        let lane = now.lane();
        let is_needed = !self.has_read(cell, lane)
            && (is_weak && old.epoch() >= self.oldest_live_epoch
                || !self.kind.updates && !self.is_before(old, lane));
        let scope = |event: Event| self.kind_of(event).semantics.strong;
        if !cell.earlier.is_none() && self.is_observed(cell, lane, None) {
            cell.earlier = Event::default();
        }
        let earlier = cell.earlier;
        let is_kept = !earlier.is_none()
            && earlier.epoch() >= self.oldest_live_epoch
            && scope(earlier) < scope(old);
        if is_needed && !is_kept {
            cell.earlier = old;
        }
        for read in &mut cell.reads {
            // Strong ones are of those who read the write that is there.
            if !read.is_none() && self.is_strong(*read) {
                *read = Event::default();
            }
        }
        cell.write = now;
    }

    /// Remembers a read.
    #[inline(always)]
    fn read(&mut self, cell: &mut Cell, (now, lane): (Event, usize), line: u64, granule: usize) {
        let [first, last] = cell.reads;
        if first == now || last == now {
            return;
        }
        // Who has read a strong write by a strong read comes after it, whatever else it reads.
        let observes = !first.is_none() && self.is_strong(first);
        if observes && self.kind.is_strong() && !last.is_none() && self.is_strong(last) {
            let by = self.epoch_of(first);
            let is_own = (by.block, by.warp) == (self.order.block, self.order.warp);
            if is_own && first.lane() == lane {
                // The thread of the other one comes after the write, too, which has to stay known.
                return;
            }
        }
        if first.is_none() || (self.is_before(first, lane) && !self.weakens(first) && !observes) {
            cell.reads[0] = now;
            if !last.is_none() && self.is_before(last, lane) && !self.weakens(last) {
                cell.reads[1] = Event::default();
            }
        } else if first.epoch() == now.epoch() && first.pc() == now.pc() {
            if now.is_beside(first) {
                cell.reads[0] = first.of_many();
            }
        } else {
            cell.reads[1] = if last.epoch() == now.epoch() && last.pc() == now.pc() {
                last.of_many()
            } else {
                if self.model.orders_some && !self.is_before(last, lane) {
                    self.readers.keep(
                        line,
                        1 << granule,
                        last,
                        self.epochs,
                        self.oldest_live_epoch,
                    );
                }
                now
            };
        }
    }
}
