//! Copies that land later.
//!
//! A copy lands as late as its program allows: `cp.async` when its group is waited for, a bulk copy
//! when somebody asks its mbarrier, waits for its group, or nothing else can run. A program that reads
//! too early thus sees what was there before, on every run.

use super::atomic;
use crate::error::Error;
use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{Warp, read_row};
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::bytes::{read_bytes, write_bytes};
use crate::execute::memory::mbarrier::Mbarrier;
use crate::execute::memory::pending::{Awaited, Landing, PendingBulk, PendingCopy};
use crate::execute::memory::request::{addresses, shared_offset};
use crate::execute::observe::record::Side;
use crate::observer::AccessKind;
use crate::operation::{AsyncCopy, AsyncStore, BulkCopy, BulkDirection};
use crate::registers::LANES;
use crate::tensor_map::Piece;
use crate::windows::CLUSTER_SHIFT;
use counters::RequestCounts;
use counters::{copy_wavefronts, copy_words};
use races::Request;
use races::lanes;

/// Returns where a lane's copy lands: in the own block, or in those of a mask.
pub(crate) fn landing(warp: &Warp, multicast: Option<u32>, lane: usize) -> Landing {
    multicast.map_or(Landing::Own, |row| {
        Landing::Ranks(warp.registers.words[row as usize][lane] & 0xffff)
    })
}

/// Returns how many bytes of its source each lane of a copy reads; the others that land are zero (PTX ISA, "cp.async").
pub(crate) fn bytes_read(copy: &AsyncCopy, warp: &Warp) -> [u32; LANES] {
    let ignored = copy.ignore_source.map_or(0, |p| warp.registers.predicates[p as usize]);
    let asked = copy.source_bytes.map(|row| &warp.registers.words[row as usize]);
    std::array::from_fn(|lane| match asked {
        _ if ignored >> lane & 1 != 0 => 0,
        Some(bytes) => bytes[lane].min(copy.bytes),
        None => copy.bytes,
    })
}

impl Worker<'_> {
    pub fn async_copy(&mut self, issue: Issue<'_>, copy: &AsyncCopy) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let target = addresses(warp, copy.target.0, copy.target.1).map(shared_offset);
        let source = addresses(warp, copy.source.0, copy.source.1);
        let to = Request::new(pc, mask, &target, copy.bytes);
        self.shared_bounds(block, warp, to)?;
        let source_bytes = bytes_read(copy, warp);
        let reads = lanes(mask).filter(|lane| source_bytes[*lane] > 0);
        let reads = reads.fold(0, |reads, lane| reads | 1 << lane);
        let from = Request::new(pc, reads, &source, copy.bytes);
        if reads != 0 {
            self.window(block, warp, from, false)?;
        }
        if self.observers.counting {
            if reads != 0 {
                if copy.bypasses_l1 {
                    self.observers.count_copy(from, &target);
                } else {
                    self.observers.count_global(from, false);
                }
                self.observers.tell(AccessKind::AsyncCopy, from);
            }
            let each = copy.wavefronts_each();
            let (wavefronts, ideal) = copy_wavefronts(mask, &target, &source, copy.bytes);
            let (wavefronts, ideal) = (each * wavefronts, each * ideal);
            let traffic = &mut self.observers.tallies[pc].shared;
            traffic.wavefronts += wavefronts as u64;
            traffic.wavefronts_ideal += ideal as u64;
            traffic.add_request(to.mask, to.bytes);
            if self.observers.watching {
                let counts = RequestCounts::of_wavefronts(wavefronts, ideal);
                let wavefronts = || {
                    let once = |_| copy_words(mask, &target, &source, copy.bytes);
                    (0..each).flat_map(once).collect()
                };
                self.observers.record(Side::Shared, to, counts, wavefronts);
            }
        }
        if self.observers.checking {
            for lane in lanes(reads) {
                let from = Request::new(pc, 1 << lane, &source, source_bytes[lane]);
                self.check_global_read(block, warp, from, false);
            }
            self.check_async_issue(block, warp, to);
        }
        let mut before = Vec::new();
        if self.observers.checking {
            for lane in lanes(mask) {
                for at in (0..copy.bytes).step_by(AsyncCopy::STEP as usize) {
                    before.push(self.source_word(source[lane], at, source_bytes[lane]));
                }
            }
        }
        warp.copies.push(PendingCopy {
            pc,
            group: warp.copy_group,
            mask,
            target: target.map(|a| a as u32),
            source,
            bytes: copy.bytes,
            source_bytes,
            before,
        });
        Ok(())
    }

    /// Returns a word of what `cp.async` copies, of which the bytes behind the source's are zero.
    fn source_word(&mut self, source: u64, at: u32, bytes: u32) -> u64 {
        let source = source + u64::from(at);
        match bytes.saturating_sub(at) {
            left if left >= AsyncCopy::STEP => self.device_load(source, AsyncCopy::STEP),
            // Memory may end with the last byte.
            left => (0..u64::from(left))
                .fold(0, |word, byte| word | self.device_load(source + byte, 1) << (8 * byte)),
        }
    }

    /// Lands all groups but the latest `pending` ones.
    pub fn async_wait(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pending: u32,
    ) -> Result<(), Error> {
        let limit = warp.copy_group.saturating_sub(pending);
        let copies = std::mem::take(&mut warp.copies);
        let (landed, waiting) = copies.into_iter().partition(|copy| copy.group < limit);
        warp.copies = waiting;
        for copy in landed {
            self.land(block, warp, &copy)?;
        }
        Ok(())
    }

    fn land(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        copy: &PendingCopy,
    ) -> Result<(), Error> {
        let mut before = copy.before.iter();
        for lane in lanes(copy.mask) {
            for at in (0..copy.bytes).step_by(AsyncCopy::STEP as usize) {
                let value = self.source_word(copy.source[lane], at, copy.source_bytes[lane]);
                if before.next().is_some_and(|before| *before != value) {
                    let address = copy.source[lane] + u64::from(at);
                    self.report_source_changed(block, warp.index, (copy.pc, lane), address);
                }
                let to = (copy.target[lane] + at) as usize;
                write_bytes(&mut block.shared, to, AsyncCopy::STEP, value);
            }
        }
        if self.observers.checking {
            let issue = Issue { block, warp, pc: copy.pc, mask: copy.mask };
            self.async_landed(issue, &copy.target, copy.bytes);
        }
        Ok(())
    }

    /// Reads device memory at an aligned address; what is not allocated reads zero.
    pub fn device_load(&mut self, address: u64, bytes: u32) -> u64 {
        let granularity = self.run.granularity;
        self.device_pointer(address, bytes).map_or(0, |pointer| {
            // SAFETY: the bytes are aligned in a region; its grains are valid, and all workers use the launch's
            // granularity.
            unsafe { granularity.load(pointer, bytes) }
        })
    }

    /// Changes an aligned word of device memory, if it is allocated.
    pub fn device_update(&mut self, address: u64, change: impl Fn(u64) -> u64) {
        let granularity = self.run.granularity;
        let Some(pointer) = self.device_pointer(address, 8) else { return };
        // SAFETY: as in `device_load`; the granularity of a program with such copies is at most 8 bytes.
        unsafe { granularity.update(pointer, 8, change) };
    }

    fn device_pointer(&mut self, address: u64, bytes: u32) -> Option<*mut u8> {
        let memory = self.run.memory;
        let last = memory.region_or_none(self.last_region);
        if !last.is_some_and(|region| region.contains(address, bytes as u64)) {
            self.last_region = memory.find(address, bytes as u64)?;
        }
        let region = memory.region(self.last_region);
        Some(region.pointer.wrapping_add((address - region.base) as usize))
    }

    pub fn bulk_copy(&mut self, issue: Issue<'_>, copy: &BulkCopy) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let targets = addresses(warp, copy.target.0, copy.target.1);
        let sources = addresses(warp, copy.source.0, copy.source.1);
        let mbarriers = copy.mbarrier.map(|(base, offset)| addresses(warp, base, offset));
        for lane in lanes(mask) {
            let bytes = warp.registers.words[copy.bytes as usize][lane];
            let (mut target, mut source) = (targets[lane], sources[lane]);
            let mut mbarrier = mbarriers.map(|m| shared_offset(m[lane]));
            let mut landing = landing(warp, copy.multicast, lane);
            if copy.direction != BulkDirection::SharedToGlobal {
                target = shared_offset(target);
            }
            if copy.direction == BulkDirection::SharedToShared {
                let ends = (target, mbarrier.unwrap_or(target));
                let ends = self.in_one_block((block, warp, pc, lane), ends)?;
                (target, mbarrier, landing) = (ends.0, mbarrier.map(|_| ends.1), ends.2);
            }
            if copy.direction != BulkDirection::GlobalToShared {
                source = shared_offset(source);
            }
            let place = || Box::new(self.run.place(block.index, warp.index, 1 << lane, pc));
            if !bytes.is_multiple_of(16) || (target | source) % 16 != 0 {
                return Err(Error::MisalignedAddress {
                    place: place(),
                    address: if !bytes.is_multiple_of(16) { bytes as u64 } else { target | source },
                    bytes: 16,
                });
            }
            let (global, shared) = match copy.direction {
                BulkDirection::GlobalToShared => (Some(source), [Some(target), None]),
                BulkDirection::SharedToGlobal => (Some(target), [Some(source), None]),
                BulkDirection::SharedToShared => (None, [Some(source), Some(target)]),
            };
            for offset in shared.into_iter().flatten() {
                if offset.saturating_add(bytes as u64) > self.run.shared_bytes as u64 {
                    return Err(Error::IllegalAddress {
                        place: place(),
                        address: offset,
                        bytes,
                        message: "a bulk copy runs past the end of shared memory".into(),
                    });
                }
            }
            if let Some(address) = global
                && bytes > 0
                && self.run.memory.find(address, bytes as u64).is_none()
            {
                return Err(Error::IllegalAddress {
                    place: place(),
                    address,
                    bytes,
                    message: self.run.memory.describe(address),
                });
            }
            if self.observers.counting {
                let counts = RequestCounts {
                    bytes_distinct: bytes as u64,
                    sectors: bytes as u64 / 32,
                    sectors_ideal: bytes as u64 / 32,
                    lines: (bytes as u64).div_ceil(128),
                    ..RequestCounts::default()
                };
                let all = if copy.direction == BulkDirection::SharedToGlobal {
                    &targets
                } else {
                    &sources
                };
                let request = Request::new(pc, 1 << lane, all, bytes);
                let traffic = &mut self.observers.tallies[pc].global;
                *traffic += counts;
                traffic.add_request(request.mask, request.bytes);
                if self.observers.watching {
                    self.observers.record(Side::Global, request, counts, Vec::new);
                }
            }
            if let (Some(observer), Some(start)) = (&mut self.observers.observer, global) {
                let writes = copy.direction != BulkDirection::GlobalToShared;
                observer.bulk(writes, start, bytes as u64);
            }
            let piece = Piece { shared: target as u32, global, bytes };
            let pending = PendingBulk {
                pc,
                warp: warp.index,
                lane,
                group: warp.bulk_group,
                direction: copy.direction,
                target,
                source,
                bytes,
                step: copy.step(),
                mbarrier: mbarrier.map(|address| address as u32),
                reduce: copy.reduce,
                pieces: (copy.direction == BulkDirection::GlobalToShared).then(|| (vec![piece], 0)),
                read: None,
                before: Vec::new(),
            };
            if self.observers.checking {
                self.check_bulk_global(block, warp, (pc, lane), global, bytes, copy.direction);
            }
            let reads = copy.direction != BulkDirection::GlobalToShared;
            self.start_in_cluster(block, warp, pending, (landing, reads))?;
        }
        Ok(())
    }

    /// Returns the offsets of a target and its mbarrier, which are in shared memory of one block of the cluster, and that
    /// block.
    fn in_one_block(
        &self,
        (block, warp, pc, lane): (&Block, &Warp, usize, usize),
        (target, mbarrier): (u64, u64),
    ) -> Result<(u64, u64, Landing), Error> {
        let rank = |address: u64| {
            let part = address >> CLUSTER_SHIFT;
            part.checked_sub(1).unwrap_or(u64::from(block.rank))
        };
        let of_target = rank(target);
        if of_target != rank(mbarrier) {
            return Err(Error::IllegalInstruction {
                place: Box::new(self.run.place(block.index, warp.index, 1 << lane, pc)),
                message: format!(
                    "the target is in shared memory of the block of rank {of_target}, but the mbarrier in that of rank \
                     {}: take both from one block by mapa",
                    rank(mbarrier)
                ),
            });
        }
        let offset = (1 << CLUSTER_SHIFT) - 1;
        let is_own = of_target == u64::from(block.rank);
        let landing = if is_own { Landing::Own } else { Landing::Rank(of_target) };
        Ok((target & offset, mbarrier & offset, landing))
    }

    pub fn async_store(&mut self, issue: Issue<'_>, store: &AsyncStore) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let targets = addresses(warp, store.target.0, store.target.1).map(shared_offset);
        let mbarriers = addresses(warp, store.mbarrier.0, store.mbarrier.1).map(shared_offset);
        let bytes = store.bytes * store.values.len() as u32;
        for lane in lanes(mask) {
            let ends = (targets[lane], mbarriers[lane]);
            let (target, mbarrier, landing) = self.in_one_block((block, warp, pc, lane), ends)?;
            let place = || Box::new(self.run.place(block.index, warp.index, 1 << lane, pc));
            if !target.is_multiple_of(u64::from(bytes)) {
                return Err(Error::MisalignedAddress { place: place(), address: target, bytes });
            }
            if target + u64::from(bytes) > u64::from(self.run.shared_bytes) {
                return Err(Error::IllegalAddress {
                    place: place(),
                    address: target,
                    bytes,
                    message: "an asynchronous store behind the end of shared memory".into(),
                });
            }
            let mut read = Vec::new();
            for row in &store.values {
                let value = read_row(warp, *row, lane).to_le_bytes();
                read.extend_from_slice(&value[..store.bytes as usize]);
            }
            let pending = PendingBulk {
                pc,
                warp: warp.index,
                lane,
                group: warp.bulk_group,
                direction: BulkDirection::SharedToShared,
                target,
                source: target,
                bytes,
                step: store.bytes,
                mbarrier: Some(mbarrier as u32),
                reduce: store.reduce,
                pieces: None,
                read: Some(read),
                before: Vec::new(),
            };
            self.start_in_cluster(block, warp, pending, (landing, false))?;
        }
        Ok(())
    }

    /// Puts a copy under way in each block of the cluster where it lands; it may read the block's shared memory.
    pub fn start_in_cluster(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        mut copy: PendingBulk,
        (landing, reads): (Landing, bool),
    ) -> Result<(), Error> {
        let own = block.rank;
        let ranks = match landing {
            Landing::Own => 1 << own,
            Landing::Rank(rank) => {
                if copy.read.is_none() {
                    // It may read its source at once; only the block where it lands knows of it later.
                    let from = copy.source as usize;
                    copy.read = Some(block.shared[from..from + copy.bytes as usize].to_vec());
                }
                1 << rank.min(31)
            }
            Landing::Ranks(ranks) => ranks,
        };
        let place = || Box::new(self.run.place(block.index, warp.index, 1 << copy.lane, copy.pc));
        let blocks = self.cluster.len().max(1) as u32;
        if ranks == 0 || ranks >> blocks != 0 {
            let message = if ranks == 0 {
                "a multicast copy to no block: its mask has a bit for each block that gets it"
                    .into()
            } else {
                format!(
                    "a copy to the block of rank {}, but the cluster has {blocks} block(s): a kernel or launch asks for \
                     larger clusters",
                    ranks.ilog2()
                )
            };
            return Err(Error::IllegalInstruction { place: place(), message });
        }
        let all = [copy.target; LANES];
        let request = Request::new(copy.pc, 1 << copy.lane, &all, copy.bytes);
        let mut by = None;
        for rank in lanes(ranks) {
            if rank == own as usize {
                let home = block.linear;
                by = self.check_bulk_target(block, warp, &copy, home);
                if copy.direction != BulkDirection::SharedToGlobal {
                    block.unfenced.forget(copy.target, copy.bytes);
                }
                self.start_bulk(block, copy.clone());
                continue;
            }
            self.in_rank(block, warp, request, rank as u64, |worker, block, warp, home| {
                by = worker.check_bulk_target(block, warp, &copy, home);
                worker.start_bulk(block, copy.clone());
                Ok(())
            })?;
            if let Some(other) = &mut self.cluster[rank] {
                other.unfenced.forget(copy.target, copy.bytes);
            }
        }
        if let (true, Some(by)) = (reads, by) {
            self.check_bulk_source(block, warp, &copy, by);
        }
        Ok(())
    }

    /// Puts a bulk copy under way.
    pub fn start_bulk(&mut self, block: &mut Block, mut copy: PendingBulk) {
        let loads = copy.direction == BulkDirection::GlobalToShared;
        if let (true, true, Some((pieces, _))) = (self.observers.checking, loads, &copy.pieces) {
            for piece in pieces {
                if let Some(global) = piece.global {
                    let start = copy.before.len();
                    copy.before.resize(start + piece.bytes as usize, 0);
                    self.read_piece(global, &mut copy.before[start..]);
                }
            }
        }
        block.bulk.push(copy);
    }

    /// Lets bulk copies to global memory read their source, but not write yet.
    pub fn read_bulk(&mut self, block: &mut Block, warp: u32, before: u32) {
        for copy in &mut block.bulk {
            if copy.mbarrier.is_none() && (copy.warp, true) == (warp, copy.group < before) {
                let from = copy.source as usize;
                let pieces = copy.pieces.iter().flat_map(|(pieces, _)| pieces);
                let end = pieces.map(|piece| (piece.shared + piece.bytes) as usize).max();
                let to = end.unwrap_or(from + copy.bytes as usize);
                copy.read.get_or_insert_with(|| block.shared[from..to].to_vec());
            }
        }
    }

    /// Lands bulk copies of a block; whether there were any.
    ///
    /// No copy lands before it must: of those that a phase waits for, those that complete it, even in part of their bytes.
    pub fn deliver_bulk(&mut self, block: &mut Block, awaited: Awaited) -> Result<bool, Error> {
        if block.bulk.is_empty() {
            return Ok(false);
        }
        let mut completed = Vec::new();
        let mut any = false;
        for mut copy in std::mem::take(&mut block.bulk) {
            let barrier = copy
                .mbarrier
                .map(|address| Mbarrier::from_word(read_bytes(&block.shared, address as usize, 8)));
            let is_late = copy.mbarrier.is_some_and(|address| completed.contains(&address));
            let lands = match awaited {
                Awaited::All => true,
                Awaited::Phase(address) => {
                    copy.mbarrier == Some(address) && barrier.is_some_and(|b| b.pending == 0)
                }
                Awaited::Groups { warp, before } => {
                    copy.mbarrier.is_none() && copy.warp == warp && copy.group < before
                }
            };
            if is_late || !lands {
                block.bulk.push(copy);
                continue;
            }
            any = true;
            if let Some(barrier) = barrier
                && barrier.pending == 0
                && copy.pieces.is_some()
                && (1..i64::from(copy.bytes)).contains(&barrier.transactions)
            {
                let rest = copy.split_off(barrier.transactions as u32);
                block.bulk.push(rest);
            }
            self.land_bulk(block, &copy);
            let mut completes = false;
            if let (Some(address), Some(mut barrier)) = (copy.mbarrier, barrier) {
                barrier.transactions -= copy.bytes as i64;
                let phase = barrier.phase;
                barrier.advance();
                completes = barrier.phase != phase;
                if completes {
                    block.completed.push(address);
                    completed.push(address);
                }
                write_bytes(&mut block.shared, address as usize, 8, barrier.word());
            }
            if self.observers.checking {
                let mbarrier = copy.mbarrier.map(u64::from);
                let target = (copy.target, copy.bytes);
                self.bulk_landed(block, copy.direction, target, mbarrier, completes);
            }
        }
        Ok(any)
    }

    fn land_bulk(&mut self, block: &mut Block, copy: &PendingBulk) {
        if let Some((pieces, fill)) = &copy.pieces {
            self.land_pieces(block, copy, pieces, *fill);
            return;
        }
        for at in (0..copy.bytes).step_by(copy.step as usize) {
            let value = match &copy.read {
                Some(read) => read_bytes(read, at as usize, copy.step),
                None => read_bytes(&block.shared, (copy.source as u32 + at) as usize, copy.step),
            };
            self.put(block, copy, at.into(), copy.step, value);
        }
    }

    fn put(&mut self, block: &mut Block, copy: &PendingBulk, at: u64, step: u32, value: u64) {
        let address = copy.target + at;
        if copy.direction != BulkDirection::SharedToGlobal {
            let old = read_bytes(&block.shared, address as usize, step);
            let value = copy
                .reduce
                .map_or(value, |(operation, t)| atomic::apply(operation, t, false, old, value, 0));
            write_bytes(&mut block.shared, address as usize, step, value);
            return;
        }
        let granularity = self.run.granularity;
        let Some(pointer) = self.device_pointer(address, step) else { return };
        // SAFETY: as in `device_load`; the granularity holds at least an element of a reduction.
        unsafe {
            match copy.reduce {
                Some((operation, t)) => {
                    let apply = |old| atomic::apply(operation, t, false, old, value, 0);
                    granularity.update(pointer, step, apply);
                }
                None => granularity.store(pointer, step, value),
            }
        }
    }
}
