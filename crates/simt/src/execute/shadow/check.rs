//! One access of a warp compared with those before it, and remembered.

use super::event::{Epoch, Event, Kind};
use super::lines::{Cell, Cells, LINE, Line};
use super::order::{Observed, Order};
use super::sync::{Words, includes};
use crate::execute::request::{Request, lanes};
use crate::execute::run::Run;

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Race {
    pub before: Event,
    pub epoch: Epoch,
    pub lane: usize,
    pub address: u64,
    /// Both are stores, so that equal values do no harm.
    pub both_store: bool,
}

/// What an access is compared with, and what it brings.
pub(crate) struct Check<'a> {
    pub run: &'a Run<'a>,
    pub epochs: &'a [Epoch],
    pub order: &'a mut Order,
    pub words: &'a mut Words,
    pub pc: usize,
    pub kind: Kind,
    pub writes: bool,
    /// The number of the present epoch plus one.
    pub epoch: u32,
    /// Events below this number happened before.
    pub floor: u32,
    /// Bytes of a granule, as a power of two.
    pub shift: u32,
    pub races: Vec<Race>,
    /// A weak write came after a strong one, so that what that handed on is no longer there.
    pub breaks: bool,
}

impl Check<'_> {
    fn kind_of(&self, event: Event) -> Kind {
        self.run.kinds.get(event.pc()).copied().unwrap_or_default()
    }

    fn is_strong(&self, event: Event) -> bool {
        self.kind_of(event).is_strong()
    }

    fn epoch_of(&self, event: Event) -> Epoch {
        self.epochs[event.epoch() as usize - 1]
    }

    /// Whether the accesses of a whole line, or none, happened before those of now to it.
    #[inline(always)]
    fn is_settled(&self, before: Event, now: Event) -> bool {
        before.is_none()
            || before.epoch() < self.floor
            || before.is_same_lanes(now)
            || self.order.is_after_all(self.epoch_of(before))
    }

    /// Whether an access happened before what a lane does now.
    #[inline(always)]
    fn is_before(&self, before: Event, lane: usize) -> bool {
        before.is_none()
            || before.epoch() < self.floor
            || (before.epoch() == self.epoch && before.lane() == lane && !before.is_many())
            || self.order.is_after(self.epoch_of(before), before, lane)
    }

    /// A line that all lanes of the warp access side by side, `1 << shape` granules each.
    #[inline]
    pub fn row(
        &mut self,
        line: &mut Line,
        cells: &mut Cells,
        (lane, shape): (usize, u32),
        address: u64,
    ) {
        let now = Event::row(self.epoch, self.pc, lane, shape);
        if line.split == 0 && self.whole(&mut line.cell, now) {
            return;
        }
        let split = cells.of(line);
        let mut quiet = true;
        for (granule, cell) in split.iter_mut().enumerate() {
            let lane = lane + (granule >> shape);
            let found = self.races.len();
            self.compare(cell, lane, address + ((granule as u64) << self.shift));
            quiet &= self.races.len() == found;
            let event = now.at(granule);
            if self.writes { self.write(cell, event) } else { self.read(cell, event, lane) }
        }
        let clean = |cell: &Cell| cell.earlier.is_none() && cell.reads == [Event::default(); 2];
        if self.writes && quiet && split.iter().all(clean) {
            cells.unite(line, Cell { write: now, ..Cell::default() });
        }
    }

    /// The access to a line that is not split, when one cell can stand for it after as before.
    #[inline(always)]
    fn whole(&mut self, cell: &mut Cell, now: Event) -> bool {
        if !self.is_settled(cell.write, now) || !cell.earlier.is_none() {
            return false;
        }
        let [first, last] = cell.reads;
        if self.writes {
            if !self.is_settled(first, now) || !self.is_settled(last, now) {
                return false;
            }
            let after_strong = !self.words.is_empty() && self.is_strong(cell.write);
            if self.kind.is_strong() || after_strong {
                return false;
            }
            *cell = Cell { write: now, ..Cell::default() };
            return true;
        }
        if first == now || last == now {
            return true;
        }
        if first.is_none() || (self.is_settled(first, now) && !self.weakens(first)) {
            cell.reads[0] = now;
            if self.is_settled(last, now) {
                cell.reads[1] = Event::default();
            }
        } else {
            cell.reads[1] = now;
        }
        true
    }

    /// Whether to remember the access of now instead of one before it would forget a weak one.
    fn weakens(&self, before: Event) -> bool {
        self.kind.is_strong() && !self.is_strong(before)
    }

    /// Compares an access of a lane with those before it.
    #[inline(always)]
    pub fn compare(&mut self, cell: &Cell, lane: usize, address: u64) {
        if !self.is_before(cell.write, lane) {
            self.conflict(cell.write, cell, lane, address, true);
        }
        if !cell.earlier.is_none() && !self.is_before(cell.earlier, lane) {
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

    /// Two accesses without an order: a race unless they are morally strong.
    #[cold]
    fn conflict(&mut self, before: Event, cell: &Cell, lane: usize, address: u64, wrote: bool) {
        let (epoch, kind) = (self.epoch_of(before), self.kind_of(before));
        let me = self.order.block;
        if let (Some(mine), Some(theirs)) = (self.kind.semantics.strong, kind.semantics.strong)
            && self.kind.bytes == kind.bytes
            && includes(self.run, mine, me, epoch.block)
            && includes(self.run, theirs, epoch.block, me)
        {
            self.note(before, epoch, wrote);
            return;
        }
        self.note(before, epoch, wrote);
        // A thread that has read a strong write by a strong read comes after that write.
        let observed = |read: &Event| {
            if read.is_none() || !self.is_strong(*read) {
                return false;
            }
            let by = self.epoch_of(*read);
            (by.block, by.warp) == (me, self.order.warp)
                && (read.lane() == lane || read.is_many())
                && self.kind_of(*read).bytes == kind.bytes
        };
        if wrote && kind.is_strong() && before == cell.write && cell.reads.iter().any(observed) {
            return;
        }
        let both_store = wrote && self.writes && !kind.updates && !self.kind.updates;
        self.races.push(Race { before, epoch, lane, address, both_store });
    }

    /// Remembers for messages which write of another thread was read by which strong read.
    fn note(&mut self, before: Event, epoch: Epoch, wrote: bool) {
        if wrote && self.kind.is_strong() && self.kind.observes {
            let observed = Observed { read: self.pc, write: before.pc(), block: epoch.block };
            self.order.observed = Some(observed);
        }
    }

    /// Remembers a write.
    #[inline(always)]
    pub fn write(&mut self, cell: &mut Cell, now: Event) {
        if !self.kind.is_strong() {
            self.breaks |= !cell.write.is_none() && self.is_strong(cell.write);
            *cell = Cell { write: now, ..Cell::default() };
            return;
        }
        let old = cell.write;
        let is_weak = !old.is_none() && !self.is_strong(old);
        let lane = now.lane();
        if is_weak || (!self.kind.updates && !self.is_before(old, lane)) {
            cell.earlier = old;
        }
        for read in &mut cell.reads {
            let keep = !read.is_none()
                && !self.run.kinds.get(read.pc()).is_some_and(|kind| kind.is_strong());
            if !keep {
                *read = Event::default();
            }
        }
        cell.write = now;
    }

    /// Remembers a read.
    #[inline(always)]
    pub fn read(&mut self, cell: &mut Cell, now: Event, lane: usize) {
        let [first, last] = cell.reads;
        if first == now || last == now {
            return;
        }
        if first.is_none() || (self.is_before(first, lane) && !self.weakens(first)) {
            cell.reads[0] = now;
            if !last.is_none() && self.is_before(last, lane) && !self.weakens(last) {
                cell.reads[1] = Event::default();
            }
        } else if first.epoch() == now.epoch() && first.pc() == now.pc() {
            cell.reads[0] = first.of_many();
        } else {
            cell.reads[1] = if last.epoch() == now.epoch() && last.pc() == now.pc() {
                last.of_many()
            } else {
                now
            };
        }
    }

    /// An access of lanes anywhere in lines that stand for memory from `start` on.
    pub fn scattered(
        &mut self,
        request: Request<'_>,
        lines: &mut [Line],
        cells: &mut Cells,
        start: u64,
    ) {
        let granules = (request.bytes >> self.shift).max(1) as usize;
        // Lanes of one store that reach one place do not race with themselves here.
        let apart = !self.writes || is_ascending(request);
        for pass in if apart { 2..3 } else { 0..2 } {
            let mut rest = request.mask;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let address = request.all[lane];
                let mut members = 1u32 << lane;
                if !self.writes {
                    while rest != 0 && request.all[rest.trailing_zeros() as usize] == address {
                        members |= rest & rest.wrapping_neg();
                        rest &= rest - 1;
                    }
                }
                let at = ((address - start) >> self.shift) as usize;
                let Some(line) = lines.get_mut(at / LINE) else { continue };
                let split = cells.of(line);
                let first = at % LINE;
                let mut now = Event::point(self.epoch, request.pc, lane);
                let is_many = members & (members - 1) != 0;
                if is_many {
                    now = now.of_many();
                }
                for (index, cell) in split[first..LINE.min(first + granules)].iter_mut().enumerate()
                {
                    if pass != 1 {
                        let address = address + ((index as u64) << self.shift);
                        if !is_many {
                            self.compare(cell, lane, address);
                        } else if !self.is_settled(cell.write, now) || !cell.earlier.is_none() {
                            for lane in lanes(members) {
                                self.compare(cell, lane, address);
                            }
                        }
                    }
                    if pass != 0 {
                        if !self.writes {
                            self.read(cell, now, lane);
                        } else if pass == 1
                            && cell.write.epoch() == now.epoch()
                            && cell.write.pc() == now.pc()
                        {
                            cell.write = now.of_many();
                        } else {
                            self.write(cell, now);
                        }
                    }
                }
            }
        }
    }
}

/// Whether every active lane's address is above that of the active lane before.
#[inline(always)]
fn is_ascending(request: Request<'_>) -> bool {
    let mut before = None;
    lanes(request.mask)
        .all(|lane| before.replace(request.all[lane]).is_none_or(|b| b < request.all[lane]))
}
