//! Hazards in global memory: bytes that nobody wrote, and blocks that reach the same bytes.
//!
//! Each worker remembers what its own blocks did. Blocks run in parallel on the assumption that
//! none disturbs another. When the workers' memories show that one did, what was written is undone
//! and the launch runs again, block after block, to say exactly where; so what is found does not
//! depend on the number of threads.

use super::global::{
    BLOCK_FIELD, CHUNK, GlobalAccess, GlobalShadow, MANY_WRITERS, PLAIN, READER_SHIFT, chunk,
    settle, touch,
};
use crate::execute::block::Block;
use crate::execute::machine::Machine;
use crate::execute::request::{Request, lanes};
use crate::execute::warp::Warp;
use crate::findings::{Finding, Hazard};
use std::collections::HashSet;

impl Machine<'_> {
    pub fn check_global_read(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        request: Request<'_>,
        (strong, read_only): (bool, bool),
    ) {
        if let (true, Some(shadow)) = (strong, &mut block.shadow) {
            shadow.acquired = true;
        }
        if self.run.options.checks.uninitialised {
            self.check_initialised(block, warp, request);
        }
        self.global_event(block, warp, request, GlobalAccess::Read, read_only);
    }

    pub fn check_global_write(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        request: Request<'_>,
        strong: bool,
    ) {
        let kind = if strong { GlobalAccess::Atomic } else { GlobalAccess::Write };
        self.global_event(block, warp, request, kind, false);
        self.mark_initialised(request);
        if strong {
            self.release_block(block);
        }
    }

    pub fn check_global_atomic(&mut self, block: &mut Block, warp: &Warp, request: Request<'_>) {
        if let Some(shadow) = &mut block.shadow {
            shadow.acquired = true;
        }
        self.release_block(block);
        self.global_event(block, warp, request, GlobalAccess::Atomic, false);
        self.mark_initialised(request);
    }

    fn release_block(&mut self, block: &Block) {
        let fenced = block.shadow.as_ref().is_some_and(|s| s.fenced);
        if let (true, Some(shadow)) = (fenced, &mut self.observers.global) {
            shadow.released.insert(block.leader);
        }
    }

    fn global_event(
        &mut self,
        block: &Block,
        warp: &Warp,
        request: Request<'_>,
        kind: GlobalAccess,
        read_only: bool,
    ) {
        let Some(mut shadow) = self.observers.global.take() else { return };
        let run = self.run;
        // The blocks of a cluster may wait for each other: they count as one.
        let me = (block.leader + 1) & BLOCK_FIELD;
        // The entry of a granule that only this block accesses, all in this way.
        let settled = match kind {
            GlobalAccess::Read => me << READER_SHIFT,
            GlobalAccess::Write => me | PLAIN,
            GlobalAccess::Atomic => me,
        };
        let shift = run.granule.trailing_zeros();
        let granules = (request.bytes.div_ceil(run.granule)).max(1) as usize;
        let row = request.row_bytes();
        let mut rest = request.mask;
        while rest != 0 {
            let first = request.all[rest.trailing_zeros() as usize];
            let Some(index) = self.region_of(request.pc, first, request.bytes as u64) else {
                break;
            };
            let region = run.memory.region(index);
            let chunk_start = first / CHUNK * CHUNK;
            let number = (first / CHUNK - region.base / CHUNK) as usize;
            let end = (chunk_start + CHUNK).min(region.base + region.bytes);
            let start = chunk_start.max(region.base);
            let GlobalShadow { regions, released, parallel, .. } = &mut *shadow;
            let chunk = chunk(&mut regions[index], run.granule, region, number);
            let mut disturbs = false;
            if let (false, Some(undo)) = (chunk.saved || kind == GlobalAccess::Read, &run.undo) {
                // Mapped memory belongs to others, too: it must not be written back.
                disturbs = region.is_mapped();
                // SAFETY: this is where each worker comes before it writes, since accesses are checked before they are done.
                unsafe { undo.save(run.memory, index, number) };
                chunk.saved = true;
            }
            // A row that reaches into the next chunk goes lane by lane, in both.
            if let Some(bytes) = row
                && rest == u32::MAX
                && first + bytes <= end
            {
                let at = ((first - chunk_start) >> shift) as usize;
                let entries = &mut chunk.entries[at..at + (bytes >> shift) as usize];
                if settle(entries, settled, kind) {
                    shadow.disturbed |= disturbs;
                    break;
                }
            }
            for lane in lanes(rest) {
                let address = request.all[lane];
                if address.wrapping_sub(start) >= end - start {
                    continue;
                }
                rest &= !(1 << lane);
                let at = ((address - chunk_start) >> shift) as usize;
                for entry in chunk.entries.get_mut(at..at + granules).unwrap_or_default() {
                    let value = *entry;
                    if value == settled {
                        continue;
                    }
                    if value == 0 {
                        *entry = settled;
                        continue;
                    }
                    let (new, conflict) = touch(value, me, kind);
                    *entry = new;
                    let place = (block, warp.index, request.pc, lane, address);
                    if *parallel {
                        let unordered = kind == GlobalAccess::Write && value & MANY_WRITERS != 0;
                        disturbs |= conflict.is_some() || unordered;
                    } else if let Some(other) = conflict {
                        self.report_global_race(released, place, other);
                    }
                    if read_only && value & BLOCK_FIELD != 0 {
                        self.report_read_only(place);
                    }
                }
            }
            shadow.disturbed |= disturbs;
        }
        self.observers.global = Some(shadow);
    }

    #[cold]
    fn report_global_race(
        &mut self,
        released: &HashSet<u64>,
        (block, w, pc, lane, address): (&Block, u32, usize, usize, u64),
        other: u64,
    ) {
        let acquired = block.shadow.as_ref().is_some_and(|s| s.acquired);
        let has_released = match other.checked_sub(1) {
            Some(other) => released.contains(&other),
            None => !released.is_empty(),
        };
        if acquired && has_released {
            return;
        }
        let index = block.index;
        let who = match other.checked_sub(1) {
            Some(other) => format!("block {other} (linear index)"),
            None => "another block".into(),
        };
        self.observers.find(Hazard::GlobalRace, pc, |run| Finding {
            hazard: Hazard::GlobalRace,
            place: run.place(index, w, 1 << lane, pc),
            other: None,
            address: Some(address),
            message: format!(
                "{who} accessed {address:#x} in the same launch, without order; {}",
                run.memory.describe(address)
            ),
        });
    }

    #[cold]
    fn report_read_only(
        &mut self,
        (block, w, pc, lane, address): (&Block, u32, usize, usize, u64),
    ) {
        let index = block.index;
        self.observers.find(Hazard::ReadOnlyWritten, pc, |run| Finding {
            hazard: Hazard::ReadOnlyWritten,
            place: run.place(index, w, 1 << lane, pc),
            other: None,
            address: Some(address),
            message: format!("{address:#x} is read as read-only but written in this launch"),
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

    fn check_initialised(&mut self, block: &Block, warp: &Warp, request: Request<'_>) {
        let memory = self.run.memory;
        if let Some(bytes) = request.row_bytes()
            && let Some(index) = self.region_of(request.pc, request.all[0], bytes)
        {
            let region = memory.region(index);
            if region.is_initialised(request.all[0] - region.base, bytes) {
                return;
            }
        }
        for lane in lanes(request.mask) {
            let address = request.all[lane];
            let Some(index) = self.region_of(request.pc, address, request.bytes as u64) else {
                continue;
            };
            let region = memory.region(index);
            if region.is_initialised(address - region.base, request.bytes as u64) {
                continue;
            }
            let (index, w) = (block.index, warp.index);
            self.observers.find(Hazard::UninitialisedGlobal, request.pc, |run| Finding {
                hazard: Hazard::UninitialisedGlobal,
                place: run.place(index, w, 1 << lane, request.pc),
                other: None,
                address: Some(address),
                message: format!(
                    "{address:#x} is read but was never written; {}",
                    run.memory.describe(address)
                ),
            });
        }
    }

    fn mark_initialised(&mut self, request: Request<'_>) {
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
