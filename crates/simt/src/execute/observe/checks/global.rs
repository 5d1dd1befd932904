//! Hazards in global memory: bytes that nobody wrote, and accesses that nothing orders.
//!
//! Each worker remembers what its own blocks did. Blocks run in parallel on the assumption that
//! none disturbs another. When the workers' memories show that one did, what was written is undone
//! and the launch runs again, block after block, to say exactly where; so what is found does not
//! depend on the number of threads.

use crate::execute::issue::block::Block;
use crate::execute::issue::warp::Warp;
use crate::execute::issue::worker::Worker;
use crate::execute::observe::checks::private::undefined_bytes;
use crate::findings::{Finding, Hazard};
use crate::operation::{Access, BulkDirection};
use crate::registers::LANES;
use races::{GlobalAccess, Queue, Region, Request, lanes};

/// Bytes from the lowest to the highest of an access that are looked at together.
const MAX_SPAN: u64 = 4096;

/// The value that a store brings, to tell one that stores what is there already.
#[derive(Clone, Copy)]
enum Stored<'a> {
    Unknown,
    Rows(&'a Access),
    Condition(u32),
}

impl Worker<'_> {
    pub fn check_global_read(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        read_only: bool,
    ) {
        if self.run.options.checks.uninitialized {
            if !self.follows(request.pc) {
                self.check_initialized(block, warp, request);
            } else if self.races(request.pc) || !self.is_initialized(&request) {
                let regions = self.run.memory;
                let hazard = Hazard::UninitializedGlobal;
                self.follow_load(block, warp, request, hazard, |_, at, bytes| {
                    let Some(index) = regions.find(at, bytes.into()) else { return 0 };
                    let region = regions.region(index);
                    undefined_bytes(at, bytes, |at| !region.is_initialized(at - region.base, 1))
                });
            }
        }
        self.global_event(block, warp, request, (false, read_only), Stored::Unknown, None);
    }

    pub fn check_global_write(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        access: &Access,
    ) {
        self.global_event(block, warp, request, (true, false), Stored::Rows(access), None);
        self.mark_initialized(request);
        let hazard = Hazard::UninitializedGlobal;
        for (_, at) in self.undefined_stores(block, warp, request, access, hazard) {
            if let Some(index) = self.run.memory.find(at, 1) {
                let region = self.run.memory.region(index);
                region.unmark(at - region.base);
            }
        }
    }

    pub fn check_global_atomic(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
    ) {
        self.check_updated(block, warp, request);
        self.global_event(block, warp, request, (true, false), Stored::Unknown, None);
        self.mark_initialized(request);
    }

    /// Checks what an atomic or a reduction computes from, which it stores: dropping its result makes it no better.
    fn check_updated(&mut self, block: &Block, warp: &Warp, request: Request<'_>) {
        let kind = self.run.model.kinds[request.pc];
        if self.run.options.checks.uninitialized && kind.updates && !kind.overwrites {
            let is_first = !self.check_initialized(block, warp, request);
            // Which block comes first depends on the order, although the sum does not.
            if let (true, Some(shadow)) = (is_first, &mut self.observers.global) {
                shadow.disturbed |= shadow.parallel;
            }
        }
    }

    /// A lane sets a condition of a graph: a store, for all that may read or set it at the same time.
    pub fn check_condition(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        (pc, lane): (usize, usize),
        (handle, value): (u64, u32),
    ) {
        let mut all = [0; LANES];
        all[lane] = handle;
        let request = Request::new(pc, 1 << lane, &all, 4);
        self.global_event(block, warp, request, (true, false), Stored::Condition(value), None);
    }

    /// A lane gives memory of the device's heap back: as if it wrote all of it, and then nobody ever had.
    pub fn check_freed(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (pc, lane): (usize, usize),
        (start, bytes): (u64, u64),
    ) {
        const STEP: u64 = 16;
        let mut all = [0; LANES];
        for at in (start..start + bytes).step_by(STEP as usize) {
            all[lane] = at;
            let request = Request::new(pc, 1 << lane, &all, STEP as u32);
            self.global_event(block, warp, request, (true, false), Stored::Unknown, None);
        }
        let Some(index) = self.run.memory.find(start, bytes) else { return };
        let region = self.run.memory.region(index);
        (start..start + bytes).for_each(|at| region.unmark(at - region.base));
        if let Some(shadow) = &mut self.observers.global {
            let place = Region { index, base: region.base, bytes: region.bytes };
            shadow.forget(&self.run.model, place, (start, bytes));
        }
    }

    fn global_event(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        request: Request<'_>,
        (writes, read_only): (bool, bool),
        stored: Stored<'_>,
        by: Option<(u8, u32)>,
    ) {
        let Some(mut shadow) = self.observers.global.take() else { return };
        let run = self.run;
        let mut access = GlobalAccess { by, ..GlobalAccess::new(request, writes, read_only) };
        while access.rest != 0 {
            let bytes = u64::from(request.bytes);
            // The unused end of a vector may lie past its allocation.
            let found = self.region_of(request.pc, access.next(), bytes);
            let Some(index) = found.or_else(|| run.memory.find(access.next(), 1)) else { break };
            let region = run.memory.region(index);
            let place = Region { index, base: region.base, bytes: region.bytes };
            let parts = &mut self.observers.parts[request.pc];
            shadow.access(&run.model, &mut warp.order, &mut access, place, parts);
            if let (Some(number), Some(undo)) = (access.first_write, run.undo) {
                // Mapped memory belongs to others, too: it must not be written back.
                shadow.disturbed |= region.is_mapped();
                // SAFETY: this is where each worker comes before it writes, since accesses are checked before they are done.
                unsafe { undo.save(run.memory, index, number) };
            }
            if let Some((lane, address)) = access.stale {
                self.report_read_only((block, warp.index, request.pc, lane, address));
            }
        }
        for race in access.races {
            if shadow.parallel && race.epoch.block != warp.order.block {
                shadow.disturbed = true;
                continue;
            }
            let same = race.both_store
                && match stored {
                    Stored::Rows(access) => self.stores_again(warp, request, access, race, None),
                    Stored::Condition(value) => {
                        self.device_load(request.all[race.lane], 4) == u64::from(value)
                    }
                    Stored::Unknown => false,
                };
            self.report_race(block, warp, request.pc, race, same, false);
        }
        if run.model.kinds[request.pc].is_strong() {
            let live = warp.live;
            shadow.synchronize(&run.model, &mut warp.order, live, request, writes);
        }
        self.observers.global = Some(shadow);
    }

    /// The global side of a bulk copy: a read by the lane that asks for it, or a write that lands later.
    pub fn check_bulk_global(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (pc, lane): (usize, usize),
        global: Option<u64>,
        bytes: u32,
        direction: BulkDirection,
    ) {
        let Some(start) = global else { return };
        // 16 bytes at a time for each of the lanes, as if they were of one warp request.
        const STEP: u32 = 16;
        for at in (0..bytes).step_by(STEP as usize) {
            self.check_piece(block, warp, (pc, lane), start + u64::from(at), STEP, direction);
        }
    }

    /// The global side of a piece of a tensor's box: up to 16 bytes at any address.
    pub fn check_piece(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (pc, lane): (usize, usize),
        start: u64,
        bytes: u32,
        direction: BulkDirection,
    ) {
        let mut all = [0; LANES];
        all[lane] = start;
        let request = Request::new(pc, 1 << lane, &all, bytes);
        if direction == BulkDirection::SharedToGlobal {
            let queue = block.shadow.as_mut();
            let by = queue.map(|shadow| shadow.next_of(Queue::Writes, warp.index as u8));
            self.check_updated(block, warp, request);
            self.global_event(block, warp, request, (true, false), Stored::Unknown, by);
            self.mark_initialized(request);
        } else {
            self.check_global_read(block, warp, request, false);
        }
    }

    #[cold]
    fn report_read_only(
        &mut self,
        (block, w, pc, lane, address): (&Block, u32, usize, usize, u64),
    ) {
        let index = block.index;
        self.observers.find(Hazard::ReadOnlyWritten, pc, |run| Finding {
            address: Some(address),
            ..Finding::new(
                Hazard::ReadOnlyWritten,
                run.place(index, w, 1 << lane, pc),
                format!("{address:#x} is read as read-only but written in this launch"),
            )
        });
    }

    /// The region of an address, trying first where this instruction looked last.
    #[inline(always)]
    fn region_of(&self, pc: usize, address: u64, bytes: u64) -> Option<usize> {
        let memory = self.run.memory;
        let last = self.regions[pc] as usize;
        match memory.region_or_none(last) {
            Some(region) if region.contains(address, bytes) => Some(last),
            _ => memory.find(address, bytes),
        }
    }

    /// Returns whether somebody wrote all that is accessed, where all of it is allocated.
    fn is_initialized(&self, request: &Request<'_>) -> bool {
        let memory = self.run.memory;
        let is_written = |address: u64, bytes: u64| {
            self.region_of(request.pc, address, bytes).is_some_and(|index| {
                let region = memory.region(index);
                region.is_initialized(address - region.base, bytes)
            })
        };
        // All bytes between the lowest and the highest at once, where that is not much more.
        let span = request.span().filter(|(_, bytes)| *bytes <= MAX_SPAN);
        span.is_some_and(|(lowest, bytes)| is_written(lowest, bytes))
            || lanes(request.mask).all(|lane| is_written(request.all[lane], request.bytes.into()))
    }

    /// Returns whether somebody wrote all that is accessed, and records what nobody did.
    fn check_initialized(&mut self, block: &Block, warp: &Warp, request: Request<'_>) -> bool {
        if self.is_initialized(&request) {
            return true;
        }
        let memory = self.run.memory;
        let mut all = true;
        for lane in lanes(request.mask) {
            let address = request.all[lane];
            let Some(index) = self.region_of(request.pc, address, request.bytes as u64) else {
                continue;
            };
            let region = memory.region(index);
            if region.is_initialized(address - region.base, request.bytes as u64) {
                continue;
            }
            all = false;
            let hazard = Hazard::UninitializedGlobal;
            self.report_unwritten(block, warp, request.pc, (lane, address), hazard);
        }
        all
    }

    fn mark_initialized(&mut self, request: Request<'_>) {
        let memory = self.run.memory;
        if let Some(bytes) = request.row_bytes()
            && let Some(index) = self.region_of(request.pc, request.all[0], bytes)
        {
            let region = memory.region(index);
            return region.mark(request.all[0] - region.base, bytes);
        }
        for lane in lanes(request.mask) {
            let (address, bytes) = (request.all[lane], request.bytes as u64);
            if let Some(index) = self.region_of(request.pc, address, bytes) {
                let region = memory.region(index);
                region.mark(address - region.base, bytes);
            }
        }
    }
}
