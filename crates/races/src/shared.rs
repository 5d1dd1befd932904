//! The shadow of a block's shared memory, and the clocks that its warps and copies release there.

use crate::check::{Check, Found, Race};
use crate::event::{Epoch, Event};
use crate::lines::{Cell, Cells, FULL, LINE, ShadowLine};
use crate::model::LaunchModel;
use crate::phases::{Arriver, BarrierName, BarrierPhases, Waiter};
use crate::readers::Readers;
use crate::request::{Request, lanes};
use crate::shadow_footprint::{LineAccess, ShadowFootprint};
use crate::thread_clocks::{Arrival, ThreadClocks};
use crate::vector_clock::{BlockTimes, VectorClock, WARPS};
use crate::words::{Words, strong};
use std::collections::HashMap;

/// Operations that a warp awaits in groups, with the first of the numbers that stand for them as if they were warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Queue {
    /// The products of `wgmma`, which read shared memory.
    Products = 160,
    /// The reads of shared memory by bulk copies.
    Reads = 192,
    /// The writes to global memory by bulk copies.
    Writes = 224,
}

impl Queue {
    fn of(self, warp: u8) -> u8 {
        self as u8 + (warp & 31)
    }
}

/// An mbarrier: who arrived in the present phase, and what its completed phases hand on.
#[derive(Debug, Default)]
struct Phases {
    arrived: Arrival,
    done: Arrival,
    /// Stands for the copies that complete here, as if they were a warp.
    copies: u8,
    /// Copies so far.
    count: u32,
}

/// The operations of a warp that are awaited in groups.
#[derive(Debug, Default)]
struct Groups {
    count: u32,
    /// Operations before each commit.
    commits: Vec<u32>,
}

/// The shadow of a block's shared memory.
#[derive(Debug)]
pub struct SharedShadow {
    shift: u32,
    lines: Vec<ShadowLine>,
    cells: Cells,
    /// The epochs that accesses here are named by.
    epochs: Vec<Epoch>,
    words: Words,
    readers: Readers,
    /// The clocks brought to barriers whose arrivals do not wait.
    pub(crate) barriers: HashMap<u32, Arrival>,
    /// The clock that the last barrier of the cluster released.
    pub(crate) cluster: Arrival,
    mbarriers: HashMap<u64, Phases>,
    arrivals: BarrierPhases,
    groups: HashMap<u8, Groups>,
    has_copies: bool,
}

/// The outcome of an access to shared memory.
pub struct Shown {
    /// The races that it has with accesses before.
    pub races: Vec<Race>,
    /// A lane, and the address, that reads what nobody wrote.
    pub unwritten: Option<(usize, u64)>,
    /// A lane, and the address, that a copy is about to write.
    pub pending: Option<(usize, u64)>,
}

impl SharedShadow {
    /// Makes the shadow of so many bytes, which nobody has reached yet.
    pub fn new(model: &LaunchModel, bytes: u32) -> SharedShadow {
        let granules = bytes.div_ceil(model.shared_granule) as usize;
        SharedShadow {
            shift: model.shared_granule.trailing_zeros(),
            lines: vec![ShadowLine::default(); granules.div_ceil(LINE)],
            cells: Cells::default(),
            epochs: Vec::new(),
            words: Words::default(),
            readers: Readers::default(),
            barriers: HashMap::new(),
            cluster: Arrival::default(),
            mbarriers: HashMap::new(),
            arrivals: BarrierPhases::default(),
            groups: HashMap::new(),
            has_copies: false,
        }
    }

    /// That of the next block, in the memory of one that has ended.
    pub fn restarted(mut self) -> SharedShadow {
        self.lines.fill(ShadowLine::default());
        self.cells.reset();
        self.epochs.clear();
        self.words = Words::default();
        self.readers.clear();
        self.barriers.clear();
        self.cluster = Arrival::default();
        self.mbarriers.clear();
        self.arrivals = BarrierPhases::default();
        self.groups.clear();
        self.has_copies = false;
        self
    }

    /// The number above all epochs so far.
    pub(crate) fn next_epoch(&self) -> u32 {
        self.epochs.len() as u32 + 1
    }

    fn number_of(&mut self, epoch: Epoch) -> u32 {
        if self.epochs.last() != Some(&epoch) {
            self.epochs.push(epoch);
        }
        self.epochs.len() as u32
    }

    /// Calls `f` with the lines of a range and the granules in each.
    fn each_line(&mut self, address: u64, bytes: u32, mut f: impl FnMut(&mut ShadowLine, u8)) {
        let first = (address >> self.shift) as usize;
        let end = ((address + bytes as u64).div_ceil(1 << self.shift)) as usize;
        let mut at = first;
        while at < end {
            let next = (at / LINE + 1) * LINE;
            let count = next.min(end) - at;
            let bits = (FULL >> (LINE - count)) << (at % LINE);
            if let Some(line) = self.lines.get_mut(at / LINE) {
                f(line, bits);
            }
            at = next;
        }
    }

    /// Marks a range as written.
    pub fn mark_written(&mut self, address: u64, bytes: u32) {
        self.each_line(address, bytes, |line, bits| line.written |= bits);
    }

    /// Marks a range as the target of a copy that has begun, or that has landed.
    pub fn mark_pending(&mut self, address: u64, bytes: u32, pending: bool) {
        self.each_line(address, bytes, |line, bits| {
            line.pending &= !bits;
            if pending {
                line.pending |= bits;
            } else {
                line.written |= bits;
            }
        });
    }

    /// Marks the granule of an address as never written.
    pub fn forget_written(&mut self, address: u64) {
        self.each_line(address, 1, |line, bits| line.written &= !bits);
    }

    /// Returns whether all of a range was written.
    pub fn is_written(&self, address: u64, bytes: u32) -> bool {
        let granules =
            address >> self.shift..(address + u64::from(bytes)).div_ceil(1 << self.shift);
        let is_written = |granule: u64| {
            let line = self.lines.get(granule as usize / LINE);
            line.is_none_or(|line| line.written >> (granule as usize % LINE) & 1 != 0)
        };
        granules.into_iter().all(is_written)
    }

    /// Returns whether a copy is about to write some of a range.
    pub fn is_pending(&mut self, address: u64, bytes: u32) -> bool {
        let mut pending = false;
        self.each_line(address, bytes, |line, bits| pending |= line.pending & bits != 0);
        pending
    }

    /// Compares and remembers an access of a warp.
    pub fn access(
        &mut self,
        model: &LaunchModel,
        order: &mut ThreadClocks,
        live: u32,
        request: &Request<'_>,
        writes: bool,
        parts: &mut ShadowFootprint,
    ) -> Shown {
        if order.shared_epoch == 0 {
            order.shared_epoch = self.number_of(order.epoch());
        }
        // Barriers do not settle what copies do, nor what other blocks do here.
        let is_alone = model.grid.blocks_per_cluster() == 1 && !self.has_copies;
        let oldest_live_epoch = if is_alone { order.oldest_live_epoch } else { 0 };
        let is_plain = !writes && !model.orders_some && !model.kinds[request.pc].is_strong();
        let mut read = 0;
        if is_plain && request.bytes <= (LINE as u32) << self.shift {
            let all = parts.of(request, (0, self.shift), (true, true));
            read = self.read(order, oldest_live_epoch, request, all);
            if read == all.len() {
                return Shown { races: Vec::new(), unwritten: None, pending: None };
            }
        }
        let ages = (oldest_live_epoch, is_alone);
        self.compare(model, (order, live), (request, writes), ages, (parts, read))
    }

    /// Compares and remembers an access of a warp, but for so many of its parts.
    fn compare(
        &mut self,
        model: &LaunchModel,
        (order, live): (&mut ThreadClocks, u32),
        (request, writes): (&Request<'_>, bool),
        (oldest_live_epoch, is_alone): (u32, bool),
        (parts, from): (&mut ShadowFootprint, usize),
    ) -> Shown {
        let kind = model.kinds[request.pc];
        let (shift, epoch) = (self.shift, order.shared_epoch);
        let row =
            request.row_bytes().filter(|_| (request.all[0] >> shift).is_multiple_of(LINE as u64));
        let mut check = Check {
            model,
            epochs: &self.epochs,
            order,
            words: &mut self.words,
            readers: &mut self.readers,
            pc: request.pc,
            kind,
            writes,
            epoch,
            oldest_live_epoch,
            reaches: kind.semantics.strong.is_some() && is_alone,
            shift,
            is_shared: true,
            read_only: false,
            found: Found::default(),
        };
        if row.is_some() {
            check.rows(request, &mut self.lines, &mut self.cells, 0, from);
        } else {
            check.scattered(request, &mut self.lines, &mut self.cells, 0, (parts, from));
        }
        let Found { races, breaks, unwritten, pending, .. } = check.found;
        // What was found is moved only where there is something: it is large, and has just been written piece by piece.
        let shown = if races.is_empty() && unwritten.is_none() && pending.is_none() {
            Shown { races: Vec::new(), unwritten: None, pending: None }
        } else {
            Shown { races, unwritten, pending }
        };
        if breaks && !self.words.is_empty() {
            lanes(request.mask).for_each(|lane| self.words.forget(request.all[lane]));
        }
        if kind.is_strong() {
            strong(model, order, &mut self.words, live, request, writes);
        }
        shown
    }

    /// Remembers a plain read of lines of which nobody has written anything since the last barrier, and what there is to
    /// compare is known from line to line. Returns how many of its parts were such ones before another came.
    fn read(
        &mut self,
        order: &ThreadClocks,
        oldest_live_epoch: u32,
        request: &Request<'_>,
        parts: &[LineAccess],
    ) -> usize {
        let epoch = order.shared_epoch;
        let start = (request.first() >> self.shift) as usize / LINE;
        // The epoch that was compared last, which has not ended for this warp.
        let mut unsettled = epoch;
        for (index, part) in parts.iter().enumerate() {
            let number = start.wrapping_add_signed(part.line as isize);
            let Some(line) = self.lines.get_mut(number) else { continue };
            let missing = (line.pending | !line.written) & part.granules;
            if line.latest < oldest_live_epoch || missing != 0 {
                return index;
            }
            let now = Event::formed(epoch, request.pc, part.form);
            if line.is_split {
                let granule = part.granules.trailing_zeros() as usize;
                let cell = &mut self.cells.of(line)[granule];
                if !part.granules.is_power_of_two() || !cell.is_none() {
                    return index;
                }
                cell.reads[0] = now.at(granule);
            } else {
                let Cell { write, reads: [first, last], .. } = line.whole();
                if line.mask != part.granules || !write.is_none() {
                    return index;
                }
                if first.is_none() && last.is_none() {
                    line.set_whole(write, [now, last]);
                } else if first != now && last != now {
                    let is_over = first.is_none() || first.epoch() < oldest_live_epoch;
                    if is_over || first.is_same_lanes(now) {
                        return index;
                    }
                    if first.epoch() != unsettled {
                        if order.is_after_all(self.epochs[first.epoch() as usize - 1]) {
                            return index;
                        }
                        unsettled = first.epoch();
                    }
                    line.set_whole(write, [first, now]);
                }
            }
            line.latest = epoch;
        }
        parts.len()
    }

    /// Compares the whole of a bulk copy's part of shared memory with accesses before, as if the lane that asks for it
    /// did it, and remembers it as done by the copy.
    pub fn bulk(
        &mut self,
        model: &LaunchModel,
        order: &mut ThreadClocks,
        (pc, lane): (usize, usize),
        (address, bytes): (u64, u32),
        writes: bool,
        by: Epoch,
    ) -> Vec<Race> {
        self.has_copies = true;
        let number = self.number_of(by);
        order.shared_epoch = 0;
        let mine = self.number_of(order.epoch());
        let mut check = Check {
            model,
            epochs: &self.epochs,
            order,
            words: &mut self.words,
            readers: &mut self.readers,
            pc,
            kind: model.kinds[pc],
            writes,
            epoch: mine,
            oldest_live_epoch: 0,
            reaches: false,
            shift: self.shift,
            is_shared: true,
            read_only: false,
            found: Found::default(),
        };
        let first = (address >> self.shift) as usize;
        let granules = first..first + (bytes >> self.shift) as usize;
        check.copy(&mut self.lines, &mut self.cells, 0, (granules, lane), number);
        check.found.races
    }

    /// Names the next copy that will complete at an mbarrier.
    pub fn copy_to(&mut self, mbarrier: u64) -> (u8, u32) {
        let next = WARPS + (self.mbarriers.len() as u8).min(Queue::Products as u8 - WARPS - 2);
        let phases = self.mbarriers.entry(mbarrier).or_default();
        if phases.copies == 0 {
            phases.copies = next;
        }
        phases.count += 1;
        (phases.copies, phases.count)
    }

    /// Names the next operation of a warp's queue.
    pub fn next_of(&mut self, queue: Queue, warp: u8) -> (u8, u32) {
        let groups = self.groups.entry(queue.of(warp)).or_default();
        groups.count += 1;
        (queue.of(warp), groups.count)
    }

    /// Makes a group of what a warp has put into a queue since the last one.
    pub fn commit(&mut self, queue: Queue, warp: u8) {
        let groups = self.groups.entry(queue.of(warp)).or_default();
        groups.commits.push(groups.count);
    }

    /// Returns what a warp knows when at most `pending` of a queue's groups are under way.
    pub fn awaited(&self, queue: Queue, block: u32, warp: u8, pending: u32) -> VectorClock {
        let Some(groups) = self.groups.get(&queue.of(warp)) else { return VectorClock::default() };
        let landed = groups.commits.len().checked_sub(pending as usize + 1);
        let Some(at) = landed else { return VectorClock::default() };
        let mut times = BlockTimes::default();
        times.add_warp(queue.of(warp), groups.commits[at]);
        VectorClock::of_block(block, times)
    }

    /// A copy has landed at an mbarrier.
    pub fn landed_at(&mut self, block: u32, mbarrier: u64, completes: bool) {
        let Some(phases) = self.mbarriers.get_mut(&mbarrier) else { return };
        if phases.copies != 0 {
            let mut times = BlockTimes::default();
            times.add_warp(phases.copies, phases.count);
            phases.arrived.add(&VectorClock::of_block(block, times));
        }
        if completes {
            phases.complete();
        }
    }

    /// Somebody has arrived at an mbarrier with what they know.
    pub fn arrived_at(&mut self, mbarrier: u64, known: Option<&VectorClock>, completes: bool) {
        let phases = self.mbarriers.entry(mbarrier).or_default();
        if let Some(known) = known {
            phases.arrived.add(known);
        }
        if completes {
            phases.complete();
        }
    }

    /// Remembers an arrival; returns one of the phase before that need not have come before it.
    pub fn arrive_in_phase(
        &mut self,
        barrier: BarrierName,
        clocks: &ThreadClocks,
        place: (usize, usize),
    ) -> Option<Arriver> {
        self.arrivals.arrive(barrier, clocks, place)
    }

    /// Ends a barrier's phase; returns a wait for the phase before that need not have come before this end.
    pub fn end_phase(&mut self, barrier: BarrierName) -> Option<Waiter> {
        self.arrivals.end(barrier)
    }

    /// Remembers that lanes have seen the phase before of an mbarrier complete.
    pub fn wait_for_phase(&mut self, mbarrier: u64, clocks: &ThreadClocks, at: (usize, u32)) {
        self.arrivals.wait(mbarrier, clocks, at);
    }

    /// Remembers that the phase under way of an mbarrier cannot end before what a lane does now.
    pub fn hold_phase(&mut self, mbarrier: u64, clocks: &ThreadClocks, lane: usize) {
        self.arrivals.hold(mbarrier, clocks, lane);
    }

    /// Begins the phases of an mbarrier that is initialized.
    pub fn begin_phases(&mut self, address: u64) {
        self.arrivals.begin(address);
    }

    /// Returns what the completed phases of an mbarrier hand on.
    pub fn completed_at(&self, mbarrier: u64) -> VectorClock {
        self.mbarriers.get(&mbarrier).map(|phases| phases.done.clock.clone()).unwrap_or_default()
    }
}

impl Phases {
    fn complete(&mut self) {
        let arrived = std::mem::take(&mut self.arrived);
        self.done.join(&arrived);
    }
}
