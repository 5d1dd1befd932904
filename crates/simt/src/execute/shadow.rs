//! Hazard checks: what is remembered about every register and byte, and what is concluded.
//!
//! Shared-memory races are found with vector clocks of warps: an access happened before another
//! when a chain of barriers leads from one to the other. Lanes of one warp are ordered by warp
//! barriers. Atomics and volatile accesses order what is around them, as they do in practice when
//! they are accompanied by fences.

use super::block::Block;
use super::traffic::Memo;
use super::warp::{State, Warp};
use super::{Machine, Run};
use crate::findings::{Finding, Hazard};
use crate::memory::Zeroed;
use crate::program::{Access, BulkDirection, Operation, Row};
use crate::registers::LANES;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// One remembered access to shared memory.
#[derive(Clone, Copy, Debug, Default)]
struct Event {
    time: u32,
    pc: u32,
    warp: u8,
    lane: u8,
    kind: EventKind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EventKind {
    #[default]
    None,
    Plain,
    Atomic,
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

/// What is known of a block's shared memory.
#[derive(Debug)]
pub(crate) struct SharedShadow {
    granule: u32,
    granules: Vec<Granule>,
    /// Clocks that barriers and synchronising locations hand on.
    barrier_clocks: HashMap<u32, Vec<u32>>,
    location_clocks: HashMap<u32, Vec<u32>>,
    /// Plain writes since the last proxy fence.
    unfenced: bool,
    /// The block has executed a fence, and an atomic that may acquire.
    fenced: bool,
    acquired: bool,
}

impl SharedShadow {
    pub fn wanted(run: &Run<'_>) -> bool {
        run.options.checks.any()
    }

    pub fn new(bytes: u32, granule: u32) -> SharedShadow {
        SharedShadow {
            granule,
            granules: vec![Granule::default(); bytes.div_ceil(granule) as usize],
            barrier_clocks: HashMap::new(),
            location_clocks: HashMap::new(),
            unfenced: false,
            fenced: false,
            acquired: false,
        }
    }

    fn range(&self, address: u64, bytes: u32) -> std::ops::Range<usize> {
        // A granule is 1 or 4 bytes.
        let shift = self.granule.trailing_zeros();
        let first = (address >> shift) as usize;
        let last = ((address + bytes as u64 + self.granule as u64 - 1) >> shift) as usize;
        first..last.min(self.granules.len())
    }
}

/// Which blocks accessed which global bytes in this launch.
pub(crate) struct GlobalShadow {
    regions: Vec<OnceLock<Option<Zeroed>>>,
    released: std::sync::Mutex<std::collections::HashSet<u64>>,
}

// SAFETY: the zeroed memory is only accessed through atomics.
unsafe impl Sync for GlobalShadow {}
// SAFETY: as above; the memory is owned.
unsafe impl Send for GlobalShadow {}

impl GlobalShadow {
    pub fn new(regions: usize) -> GlobalShadow {
        GlobalShadow {
            regions: (0..regions).map(|_| OnceLock::new()).collect(),
            released: std::sync::Mutex::default(),
        }
    }

    /// The entry of a granule: writer + 1 (28 bits), reader + 1 (28 bits), writer was atomic.
    fn entry(&self, region: usize, bytes: u64, granule: u64, offset: u64) -> Option<&AtomicU64> {
        let shadow = self
            .regions
            .get(region)?
            .get_or_init(|| Zeroed::new(bytes.div_ceil(granule).checked_mul(8)?));
        let index = (offset >> granule.trailing_zeros()) as usize;
        let pointer = shadow.as_ref()?.pointer().cast::<u64>().wrapping_add(index);
        // SAFETY: the shadow has one 8-byte entry per granule of the region and `offset` lies in
        // the region; it lives as long as `self`, and all access is atomic.
        Some(unsafe { AtomicU64::from_ptr(pointer) })
    }
}

const BLOCK_FIELD: u64 = (1 << 28) - 1;
const WRITER_ATOMIC: u64 = 1 << 56;

impl Machine<'_> {
    /// Rows that hold defined values when a warp starts.
    pub fn start_definedness(&self, warp: &mut Warp) {
        let program = self.run.program;
        for (rows, count) in [
            (&mut warp.defined_words, program.words),
            (&mut warp.defined_longs, program.longs + 1),
            (&mut warp.defined_predicates, program.predicates),
        ] {
            rows.clear();
            rows.resize(count as usize, 0);
        }
        warp.defined_predicates[0] = u32::MAX;
        warp.defined_predicates[1] = u32::MAX;
        warp.defined_predicates[2] = u32::MAX;
        for (index, _) in &self.run.word_constants {
            warp.defined_words[*index as usize] = u32::MAX;
        }
        for (index, _) in &self.run.long_constants {
            warp.defined_longs[*index as usize] = u32::MAX;
        }
        for (row, _) in &program.specials {
            warp.defined_words[row.index() as usize] = u32::MAX;
        }
    }

    /// Passes definedness from sources to destinations, and reports where it matters: in an
    /// address, a guard, or a value that decides something outside the registers.
    pub fn check_registers(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        pc: usize,
        active: u32,
        mask: u32,
    ) {
        if !self.run.options.checks.uninitialised {
            return;
        }
        let program = self.run.program;
        let instruction = &program.instructions[pc];
        let detail = &program.details[pc];
        let guard = warp.defined_predicates[instruction.guard as usize];
        let mut bad = active & !guard;
        let mut defined = u32::MAX;
        for row in &detail.reads {
            defined &= defined_lanes(warp, *row);
        }
        let mut result = defined;
        match &instruction.operation {
            Operation::Compute { operands, .. } => {
                let text = &program.texts[detail.text as usize];
                if text.starts_with("selp") && !detail.synthetic {
                    // Only the chosen value has to be defined.
                    let chosen = warp.registers.predicates[operands.c as usize];
                    let (a, b) = match detail.writes.first() {
                        Some(Row::Long(_)) => (
                            warp.defined_longs[operands.a as usize],
                            warp.defined_longs[operands.b as usize],
                        ),
                        _ => (
                            warp.defined_words[operands.a as usize],
                            warp.defined_words[operands.b as usize],
                        ),
                    };
                    result =
                        warp.defined_predicates[operands.c as usize] & (chosen & a | !chosen & b);
                }
            }
            Operation::Store(_) => {
                // The value may be partly undefined; the address may not.
                let base = detail.reads.iter().find(|r| is_base(&instruction.operation, **r));
                if let Some(base) = base {
                    bad |= mask & !defined_lanes(warp, *base);
                }
            }
            Operation::Load(_) => {
                bad |= mask & !defined;
                result = u32::MAX;
            }
            Operation::Shuffle { .. } => {}
            _ => {
                bad |= mask & !defined;
                result = u32::MAX;
            }
        }
        for row in &detail.writes {
            let lanes = match row {
                Row::Word(index) => &mut warp.defined_words[*index as usize],
                Row::Long(index) => &mut warp.defined_longs[*index as usize],
                Row::Predicate(index) => &mut warp.defined_predicates[*index as usize],
            };
            *lanes = *lanes & !mask | result & mask;
        }
        if bad != 0 {
            let (index, w) = (block.index, warp.index);
            self.find(Hazard::UninitialisedRegister, pc, |run| Finding {
                hazard: Hazard::UninitialisedRegister,
                place: run.place(index, w, bad, pc),
                other: None,
                address: None,
                message: "a register that was never written decides what happens".into(),
            });
        }
    }

    /// Reads of shared memory.
    #[allow(clippy::too_many_arguments)]
    pub fn check_shared_read(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
        strong: bool,
    ) {
        if strong {
            self.synchronise_location(block, warp, mask, all, true, false);
        }
        let Some(mut shadow) = block.shadow.take() else {
            return;
        };
        let checks = self.run.options.checks;
        let kind = if strong { EventKind::Atomic } else { EventKind::Plain };
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let event = event(warp, pc, lane, kind);
            for at in shadow.range(all[lane], total) {
                let granule = &mut shadow.granules[at];
                let (pending, written, write) = (granule.pending, granule.written, granule.write);
                if granule.first_read.kind == EventKind::None {
                    granule.first_read = event;
                }
                granule.last_read = event;
                let site = (block.index, warp.index, pc, lane, all[lane]);
                if pending && checks.async_copies {
                    self.report(Hazard::AsyncCopyNotAwaited, site, None);
                } else if !written && checks.uninitialised {
                    self.report(Hazard::UninitialisedShared, site, None);
                }
                if checks.shared_races {
                    self.check_race(warp, site, write, event);
                }
            }
        }
        block.shadow = Some(shadow);
    }

    /// Writes of shared memory.
    #[allow(clippy::too_many_arguments)]
    pub fn check_shared_write(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
        strong: bool,
    ) {
        let kind = if strong { EventKind::Atomic } else { EventKind::Plain };
        self.shared_write(block, warp, pc, mask, all, (total, kind));
        if strong {
            self.synchronise_location(block, warp, mask, all, false, true);
        }
    }

    /// Atomics on shared memory also order what is around them.
    pub fn check_shared_atomic(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
    ) {
        self.synchronise_location(block, warp, mask, all, true, false);
        self.shared_write(block, warp, pc, mask, all, (total, EventKind::Atomic));
        self.synchronise_location(block, warp, mask, all, false, true);
    }

    fn shared_write(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        (total, kind): (u32, EventKind),
    ) {
        let Some(mut shadow) = block.shadow.take() else {
            return;
        };
        let checks = self.run.options.checks;
        shadow.unfenced = true;
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let event = event(warp, pc, lane, kind);
            for at in shadow.range(all[lane], total) {
                let before = shadow.granules[at];
                let site = (block.index, warp.index, pc, lane, all[lane]);
                if before.pending && checks.async_copies {
                    self.report(Hazard::AsyncCopyNotAwaited, site, None);
                }
                if checks.shared_races {
                    for other in [before.write, before.first_read, before.last_read] {
                        self.check_race(warp, site, other, event);
                    }
                }
                shadow.granules[at] = Granule {
                    write: event,
                    written: true,
                    pending: before.pending,
                    ..Granule::default()
                };
            }
        }
        block.shadow = Some(shadow);
    }

    fn check_race(
        &mut self,
        warp: &Warp,
        site: ([u32; 3], u32, usize, usize, u64),
        before: Event,
        now: Event,
    ) {
        let both_atomic = before.kind == EventKind::Atomic && now.kind == EventKind::Atomic;
        if before.kind == EventKind::None || both_atomic {
            return;
        }
        let known = warp.clock.get(before.warp as usize).copied().unwrap_or(0);
        if before.warp == now.warp {
            let ordered = before.lane == now.lane || before.time < now.time || before.pc == now.pc;
            if !ordered {
                self.report(Hazard::SharedRaceInWarp, site, Some(before));
            }
        } else if known < before.time {
            self.report(Hazard::SharedRace, site, Some(before));
        }
    }

    fn report(
        &mut self,
        hazard: Hazard,
        (block, warp, pc, lane, address): ([u32; 3], u32, usize, usize, u64),
        before: Option<Event>,
    ) {
        self.find(hazard, pc, |run| {
            let other = before.map(|event| {
                run.place(block, event.warp as u32, 1 << event.lane, event.pc as usize)
            });
            let message = match hazard {
                Hazard::SharedRace | Hazard::SharedRaceInWarp => {
                    format!("conflicting accesses to shared address {address:#x}")
                }
                Hazard::AsyncCopyNotAwaited => format!(
                    "shared address {address:#x} is the target of a copy that is still under way"
                ),
                Hazard::UninitialisedShared => {
                    format!("shared address {address:#x} is read but was never written")
                }
                _ => format!("address {address:#x}"),
            };
            Finding {
                hazard,
                place: run.place(block, warp, 1 << lane, pc),
                other,
                address: Some(address),
                message,
            }
        });
    }

    /// An access that may acquire from, or release to, a location.
    fn synchronise_location(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        mask: u32,
        all: &[u64; LANES],
        acquire: bool,
        release: bool,
    ) {
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let clock = shadow.location_clocks.entry(all[lane] as u32).or_default();
            if acquire {
                join(&mut warp.clock, clock);
            }
            if release {
                clock.resize(warp.clock.len(), 0);
                join(clock, &warp.clock);
            }
        }
        if release {
            tick(warp);
        }
    }

    /// A warp barrier orders the lanes of a warp.
    pub fn warp_synchronised(&mut self, warp: &mut Warp) {
        if self.checking {
            tick(warp);
        }
    }

    /// A warp hands its clock to a block barrier.
    pub fn barrier_arrived(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        id: u32,
        _arrive_only: bool,
    ) {
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        let clock = shadow.barrier_clocks.entry(id).or_default();
        clock.resize(warp.clock.len(), 0);
        join(clock, &warp.clock);
        tick(warp);
    }

    /// The warps that waited at a barrier learn what all who arrived knew.
    pub fn join_clocks(&mut self, block: &mut Block, _warps: u32) {
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        for warp in &mut block.warps {
            let at = warp.splits.iter().find_map(|s| match s.state {
                State::AtBarrier(id) => Some(id),
                _ => None,
            });
            if let Some(clock) = at.and_then(|id| shadow.barrier_clocks.get(&id)) {
                join(&mut warp.clock, clock);
            }
        }
    }

    pub fn mbarrier_arrived(&mut self, block: &mut Block, warp: &mut Warp, address: u32) {
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        let clock = shadow.location_clocks.entry(address).or_default();
        clock.resize(warp.clock.len(), 0);
        join(clock, &warp.clock);
        tick(warp);
    }

    pub fn mbarrier_passed(&mut self, block: &mut Block, warp: &mut Warp, address: u32) {
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        if let Some(clock) = shadow.location_clocks.get(&address) {
            join(&mut warp.clock, clock);
        }
    }

    pub fn mark_mbarrier(&mut self, block: &mut Block, address: u32) {
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        for at in shadow.range(address as u64, 8) {
            shadow.granules[at].written = true;
        }
    }

    /// The target of an asynchronous copy must not be touched until it has landed.
    pub fn check_async_issue(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        target: &[u64; LANES],
        bytes: u32,
    ) {
        self.shared_write(block, warp, pc, mask, target, (bytes, EventKind::Plain));
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            for at in shadow.range(target[lane], bytes) {
                shadow.granules[at].pending = true;
            }
        }
    }

    pub fn async_landed(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        mask: u32,
        target: &[u64; LANES],
        bytes: u32,
    ) {
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        let time = warp.clock.get(warp.index as usize).copied().unwrap_or(0);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            for at in shadow.range(target[lane], bytes) {
                let granule = &mut shadow.granules[at];
                granule.pending = false;
                granule.write.time = time;
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
        let index = block.index;
        let w = warp.index;
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        if direction != BulkDirection::SharedToGlobal {
            for at in shadow.range(target, bytes) {
                shadow.granules[at].pending = true;
            }
            return;
        }
        let unwritten = shadow.range(source, bytes).any(|at| !shadow.granules[at].written);
        let unfenced = shadow.unfenced;
        if unwritten && self.run.options.checks.uninitialised {
            self.report(Hazard::UninitialisedShared, (index, w, pc, lane, source), None);
        }
        if unfenced && self.run.options.checks.async_copies {
            self.find(Hazard::MissingProxyFence, pc, |run| Finding {
                hazard: Hazard::MissingProxyFence,
                place: run.place(index, w, 1 << lane, pc),
                other: None,
                address: Some(source),
                message: "a bulk copy reads shared memory that was written without a proxy fence"
                    .into(),
            });
        }
    }

    pub fn bulk_landed(
        &mut self,
        block: &mut Block,
        direction: BulkDirection,
        target: u64,
        bytes: u32,
        mbarrier: Option<u32>,
    ) {
        let Some(shadow) = &mut block.shadow else {
            return;
        };
        if direction == BulkDirection::SharedToGlobal {
            return;
        }
        for at in shadow.range(target, bytes) {
            // Who waits on the mbarrier sees the bytes; who does not is caught by timing alone.
            shadow.granules[at] = Granule { written: true, ..Granule::default() };
        }
        let _ = mbarrier;
    }

    /// A fence makes later atomics of the block a release.
    pub fn fence(&mut self, block: &mut Block, proxy: bool) {
        if let Some(shadow) = &mut block.shadow {
            shadow.fenced |= !proxy;
            shadow.unfenced &= !proxy;
        }
    }

    pub fn block_ended(&mut self, _linear: u64) {}

    /// What must hold when a block ends.
    pub fn check_end_of_block(&mut self, _block: &Block) {}

    fn global_granule(&self) -> u64 {
        self.run.granule as u64
    }

    pub fn check_global_read(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        access: &Access,
    ) {
        let total = access.total_bytes();
        if access.strong
            && let Some(shadow) = &mut block.shadow
        {
            shadow.acquired = true;
        }
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let site = (block.index, warp.index, pc, lane, all[lane]);
            if self.run.options.checks.uninitialised && !self.is_initialised(pc, all[lane], total) {
                let (index, w, _, lane, address) = site;
                self.find(Hazard::UninitialisedGlobal, pc, |run| Finding {
                    hazard: Hazard::UninitialisedGlobal,
                    place: run.place(index, w, 1 << lane, pc),
                    other: None,
                    address: Some(address),
                    message: format!(
                        "{address:#x} is read but was never written; {}",
                        run.memory.describe(address)
                    ),
                });
            }
            self.global_event(block, site, total, GlobalAccess::Read, access.read_only);
        }
    }

    pub fn check_global_write(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        access: &Access,
    ) {
        let total = access.total_bytes();
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            self.mark_initialised(pc, all[lane], total);
            let site = (block.index, warp.index, pc, lane, all[lane]);
            let kind = if access.strong { GlobalAccess::Atomic } else { GlobalAccess::Write };
            self.global_event(block, site, total, kind, false);
        }
        if access.strong {
            self.release_block(block);
        }
    }

    pub fn check_global_atomic(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
    ) {
        if let Some(shadow) = &mut block.shadow {
            shadow.acquired = true;
        }
        self.release_block(block);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            self.mark_initialised(pc, all[lane], total);
            let site = (block.index, warp.index, pc, lane, all[lane]);
            self.global_event(block, site, total, GlobalAccess::Atomic, false);
        }
    }

    fn release_block(&mut self, block: &Block) {
        let fenced = block.shadow.as_ref().is_some_and(|s| s.fenced);
        if let (true, Some(shadow)) = (fenced, &self.run.global_shadow)
            && let Ok(mut released) = shadow.released.lock()
        {
            released.insert(block.linear);
        }
    }

    fn global_event(
        &mut self,
        block: &Block,
        (index, w, pc, lane, address): ([u32; 3], u32, usize, usize, u64),
        total: u32,
        kind: GlobalAccess,
        read_only: bool,
    ) {
        let Some(shadow) = &self.run.global_shadow else {
            return;
        };
        let memory = self.run.memory;
        let Some(region_index) = self.region_of(pc, address, total) else {
            return;
        };
        let region = memory.region(region_index);
        let granule = self.global_granule();
        let me = (block.linear + 1) & BLOCK_FIELD;
        let acquired = block.shadow.as_ref().is_some_and(|s| s.acquired);
        let mut conflict = None;
        let mut nc_written = false;
        for at in (0..total as u64).step_by(granule as usize) {
            let offset = address + at - region.base;
            let Some(entry) = shadow.entry(region_index, region.bytes, granule, offset) else {
                return;
            };
            let value = entry.load(Relaxed);
            let (writer, reader) = (value & BLOCK_FIELD, value >> 28 & BLOCK_FIELD);
            // A plain read of what others update atomically sees some value of theirs, which is
            // how compare-and-swap loops start; only plain writes conflict with reads.
            let plain_writer = value & WRITER_ATOMIC == 0;
            let foreign = |other: u64| other != 0 && other != me;
            nc_written |= read_only && writer != 0;
            match kind {
                GlobalAccess::Read if foreign(writer) && plain_writer => {
                    conflict = conflict.or(Some(writer))
                }
                GlobalAccess::Write if foreign(writer) => conflict = conflict.or(Some(writer)),
                GlobalAccess::Write if foreign(reader) => conflict = conflict.or(Some(reader)),
                GlobalAccess::Atomic if foreign(writer) && plain_writer => {
                    conflict = conflict.or(Some(writer));
                }
                _ => {}
            }
            let new = match kind {
                GlobalAccess::Read => value & !(BLOCK_FIELD << 28) | me << 28,
                GlobalAccess::Write => me,
                GlobalAccess::Atomic => value & BLOCK_FIELD << 28 | me | WRITER_ATOMIC,
            };
            entry.store(new, Relaxed);
        }
        let synchronised = conflict.is_some_and(|other| {
            acquired && shadow.released.lock().is_ok_and(|r| r.contains(&(other - 1)))
        });
        if let (Some(other), false) = (conflict, synchronised) {
            self.find(Hazard::GlobalRace, pc, |run| Finding {
                hazard: Hazard::GlobalRace,
                place: run.place(index, w, 1 << lane, pc),
                other: None,
                address: Some(address),
                message: format!(
                    "block {} (linear index) accessed {address:#x} in the same launch, without \
                     order; {}",
                    other - 1,
                    run.memory.describe(address)
                ),
            });
        }
        if nc_written {
            self.find(Hazard::ReadOnlyWritten, pc, |run| Finding {
                hazard: Hazard::ReadOnlyWritten,
                place: run.place(index, w, 1 << lane, pc),
                other: None,
                address: Some(address),
                message: format!("{address:#x} is read as read-only but written in this launch"),
            });
        }
    }

    /// The region of an address, trying first where this instruction looked last.
    fn region_of(&self, pc: usize, address: u64, total: u32) -> Option<usize> {
        let memory = self.run.memory;
        let last = self.regions[pc] as usize;
        match memory.region_or_none(last) {
            Some(region) if region.contains(address, total as u64) => Some(last),
            _ => memory.find(address, total as u64),
        }
    }

    fn is_initialised(&self, pc: usize, address: u64, total: u32) -> bool {
        let Some(index) = self.region_of(pc, address, total) else { return true };
        let region = self.run.memory.region(index);
        let Some(shadow) = region.shadow() else { return true };
        bit_groups((address - region.base) as usize, total).all(|(byte, bits)| {
            // SAFETY: the shadow has one bit per byte of the region, which holds the range.
            let known = unsafe { AtomicU8::from_ptr(shadow.add(byte)) }.load(Relaxed);
            known & bits == bits
        })
    }

    fn mark_initialised(&self, pc: usize, address: u64, total: u32) {
        let Some(index) = self.region_of(pc, address, total) else { return };
        let region = self.run.memory.region(index);
        let Some(shadow) = region.shadow() else { return };
        for (byte, bits) in bit_groups((address - region.base) as usize, total) {
            // SAFETY: the shadow has one bit per byte of the region, which holds the range.
            unsafe { AtomicU8::from_ptr(shadow.add(byte)) }.fetch_or(bits, Relaxed);
        }
    }

    pub fn check_local_read(
        &mut self,
        block: &Block,
        warp: &Warp,
        pc: usize,
        mask: u32,
        all: &[u64; LANES],
        total: u32,
    ) {
        if !self.run.options.checks.uninitialised {
            return;
        }
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let unwritten = (all[lane]..all[lane] + total as u64).any(|at| {
                let word = (at / 4) as usize * LANES + lane;
                warp.local_written.get(word).is_some_and(|bits| bits >> (at % 4) & 1 == 0)
            });
            if unwritten {
                let (index, w, address) = (block.index, warp.index, all[lane]);
                self.find(Hazard::UninitialisedLocal, pc, |run| Finding {
                    hazard: Hazard::UninitialisedLocal,
                    place: run.place(index, w, 1 << lane, pc),
                    other: None,
                    address: Some(address),
                    message: format!("local byte {address} is read but was never written"),
                });
            }
        }
    }

    pub fn mark_local(&mut self, warp: &mut Warp, mask: u32, all: &[u64; LANES], total: u32) {
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            for at in all[lane]..all[lane] + total as u64 {
                let word = (at / 4) as usize * LANES + lane;
                if let Some(bits) = warp.local_written.get_mut(word) {
                    *bits |= 1 << (at % 4);
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GlobalAccess {
    Read,
    Write,
    Atomic,
}

/// The bytes of a bit map, with the bits in them, that stand for an aligned range of bytes.
fn bit_groups(offset: usize, total: u32) -> impl Iterator<Item = (usize, u8)> {
    // An access of up to 8 bytes is aligned to its size, so it stays within one byte of bits.
    let each = total.min(8) as usize;
    let field = ((1u16 << each) - 1) as u8;
    (0..total as usize).step_by(each.max(1)).map(move |at| {
        let first = offset + at;
        (first / 8, field << (first % 8))
    })
}

fn event(warp: &Warp, pc: usize, lane: usize, kind: EventKind) -> Event {
    let time = warp.clock.get(warp.index as usize).copied().unwrap_or(0);
    Event { time, pc: pc as u32, warp: warp.index as u8, lane: lane as u8, kind }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// The warp's own time moves on.
fn tick(warp: &mut Warp) {
    if let Some(time) = warp.clock.get_mut(warp.index as usize) {
        *time += 1;
    }
}

fn defined_lanes(warp: &Warp, row: Row) -> u32 {
    match row {
        Row::Word(index) => warp.defined_words[index as usize],
        Row::Long(index) => warp.defined_longs[index as usize],
        Row::Predicate(index) => warp.defined_predicates[index as usize],
    }
}

/// Whether a row is the base of an access's address.
fn is_base(operation: &Operation, row: Row) -> bool {
    use crate::program::Base;
    let base = match operation {
        Operation::Store(access) | Operation::Load(access) => access.base,
        _ => return false,
    };
    match (base, row) {
        (Base::Long(a), Row::Long(b)) | (Base::Word(a), Row::Word(b)) => a == b,
        _ => false,
    }
}

const _: () = assert!(std::mem::size_of::<Memo>() < 256);
