//! Hazards in shared memory, and what orders the warps of a block: barriers, mbarriers, fences.

use crate::execute::issue::block::Block;
use crate::execute::issue::warp::{State, Warp, read_row};
use crate::execute::issue::worker::{Issue, Worker};
use crate::execute::memory::bytes::read_bytes;
use crate::execute::memory::pending::PendingBulk;
use crate::execute::observe::checks::private::undefined_bytes;
use crate::findings::{Finding, Hazard, Remedy};
use crate::operation::{Access, BulkDirection, Operation, Scope, Semantics};
use crate::registers::LANES;
use races::{
    Arrival, BarrierName, BarrierWarp, Epoch, Queue, Race, Request, Shown, ThreadClocks, Waiter,
    lanes,
};

/// Place of a finding: block, warp, instruction, lane, address.
#[derive(Clone, Copy)]
struct Site {
    block: [u32; 3],
    warp: u32,
    pc: usize,
    lane: usize,
    address: u64,
}

impl BarrierWarp for Warp {
    fn clocks(&mut self) -> &mut ThreadClocks {
        &mut self.order
    }

    fn live(&self) -> u32 {
        self.live
    }

    fn lanes(&self) -> u32 {
        self.lanes
    }

    fn waiting(&self, barrier: u32) -> u32 {
        let at = self.splits.iter().filter(|split| split.state == State::AtBarrier(barrier));
        at.fold(0, |mask, split| mask | split.mask)
    }
}

impl Worker<'_> {
    /// Reads of shared memory.
    #[inline(always)]
    pub fn check_shared_read(&mut self, block: &mut Block, warp: &mut Warp, request: Request<'_>) {
        self.check_array(block, warp, request);
        self.shared_event(block, warp, &request, false, None);
    }

    /// Writes of shared memory.
    pub fn check_shared_write(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        store: Option<&Access>,
    ) {
        self.check_array(block, warp, request);
        self.shared_event(block, warp, &request, true, store);
    }

    /// An access that stays in its array.
    pub fn shared_event(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: &Request<'_>,
        writes: bool,
        store: Option<&Access>,
    ) {
        if self.follows(request.pc) {
            self.follow_shared(block, warp, *request);
        }
        let Some(shadow) = &mut block.shadow else { return };
        let live = warp.live;
        if writes {
            block.unfenced.write(warp.index, *request);
        }
        let parts = &mut self.observers.parts[request.pc];
        let shown = shadow.access(&self.run.model, &mut warp.order, live, request, writes, parts);
        if !shown.races.is_empty() || shown.unwritten.is_some() || shown.pending.is_some() {
            self.report_shared(block, warp, *request, shown, store);
        }
        if let (Some(access), Some(_)) = (store, &self.observers.follower) {
            let hazard = Hazard::UninitializedShared;
            let left = self.undefined_stores(block, warp, *request, access, hazard);
            let Some(shadow) = &mut block.shadow else { return };
            left.into_iter().for_each(|(_, at)| shadow.forget_written(at));
        }
    }

    #[cold]
    fn follow_shared(&mut self, block: &mut Block, warp: &mut Warp, request: Request<'_>) {
        let Some(shadow) = block.shadow.take() else { return };
        self.follow_load(block, warp, request, Hazard::UninitializedShared, |_, at, bytes| {
            undefined_bytes(at, bytes, |at| !shadow.is_written(at, 1))
        });
        block.shadow = Some(shadow);
    }

    #[cold]
    fn report_shared(
        &mut self,
        block: &mut Block,
        warp: &Warp,
        request: Request<'_>,
        shown: Shown,
        store: Option<&Access>,
    ) {
        let checks = self.run.options.checks;
        let site = |(lane, address)| Site {
            block: block.index,
            warp: warp.index,
            pc: request.pc,
            lane,
            address,
        };
        if let (Some(at), true) = (shown.pending, checks.async_copies) {
            self.report(Hazard::AsyncCopyNotAwaited, site(at));
        }
        if let (Some(at), true) = (shown.unwritten, checks.uninitialized)
            && !self.follows(request.pc)
        {
            self.report_unwritten(block, warp, request.pc, at, Hazard::UninitializedShared);
        }
        let races = if checks.shared_races { shown.races } else { Vec::new() };
        for race in races {
            let shared = Some(&block.shared[..]);
            let same = race.both_store
                && store
                    .is_some_and(|access| self.stores_again(warp, request, access, race, shared));
            self.report_race(block, warp, request.pc, race, same, true);
        }
    }

    /// Returns whether a lane stores to a place what is there already.
    pub(super) fn stores_again(
        &mut self,
        warp: &Warp,
        request: Request<'_>,
        access: &Access,
        race: Race,
        shared: Option<&[u8]>,
    ) -> bool {
        let each = u64::from(access.bytes);
        let element = (race.address - request.all[race.lane]) / each;
        let Some(Some(row)) = access.rows.get(element as usize) else { return false };
        let field = if each == 8 { u64::MAX } else { (1 << (8 * each)) - 1 };
        let address = request.all[race.lane] + element * each;
        let there = match shared {
            Some(shared) => read_bytes(shared, address as usize, access.bytes),
            None => self.device_load(address, access.bytes),
        };
        read_row(warp, *row, race.lane) & field == there
    }

    #[cold]
    fn report(&mut self, hazard: Hazard, site: Site) {
        self.observers.find(hazard, site.pc, |run| {
            let address = site.address;
            let what = match hazard {
                Hazard::AsyncCopyNotAwaited => format!(
                    "shared address {address:#x} is the target of a copy that is still under way"
                ),
                _ => format!(
                    "shared address {address:#x} is read by an asynchronous instruction, but was written without a proxy \
                     fence since"
                ),
            };
            let location = run.locate_shared(address);
            let message = format!("{what}; {location}");
            Finding {
                address: Some(address),
                location: Some(location),
                ..Finding::new(
                    hazard,
                    run.place(site.block, site.warp, 1 << site.lane, site.pc),
                    message,
                )
            }
        });
    }

    /// Lanes load or store in the shared memory of another block of the cluster, which has to stay until then.
    pub fn note_visit(&mut self, other: &mut Block, warp: &Warp, (pc, mask): (usize, u32)) {
        if other.shadow.is_none() || !self.run.options.checks.shared_races {
            return;
        }
        // Of what others see, such as arrivals, they may know without an order of memory that it was done.
        if !matches!(&self.run.program.instructions[pc].operation,
            Operation::Load(access) | Operation::Store(access) if !access.strong)
        {
            return;
        }
        let visit = (warp.order.visit(pc, mask), warp.at_cluster & mask);
        match other.visits.iter_mut().find(|(known, _)| known.is_like(&visit.0)) {
            Some(known) => *known = visit,
            None => other.visits.push(visit),
        }
    }

    /// Returns the lanes that know nothing which another block of the cluster did: it may not have started yet.
    pub fn lanes_before_start(&self, warp: &Warp, mask: u32, other: &Block) -> u32 {
        let early = mask & !warp.met_cluster;
        if early == 0 || !self.observers.checking || !self.run.options.checks.shared_races {
            return 0;
        }
        let early = lanes(early).filter(|lane| !warp.order.knows_block(other.linear as u32, *lane));
        early.fold(0, |all, lane| all | 1 << lane)
    }

    /// Reports an access of lanes to the shared memory of a block of the cluster that may not have started yet.
    pub fn check_started(
        &mut self,
        block: &Block,
        warp: &Warp,
        (pc, early): (usize, u32),
        other: &Block,
    ) {
        if early == 0 {
            return;
        }
        let ([x, y, z], index, number) = (other.index, block.index, warp.index);
        self.observers.find(Hazard::SharedRace, pc, |run| {
            let message = format!(
                "shared memory of block ({x}, {y}, {z}) is accessed by another block of the cluster, and nothing puts this \
                 after the start of that block, before which its shared memory is not there"
            );
            let place = run.place(index, number, early, pc);
            let fix = Some(Remedy::ClusterStart);
            Finding { fix, ..Finding::new(Hazard::SharedRace, place, message) }
        });
    }

    /// The cluster's barrier is complete: what lanes did before they arrived there is done, also where it orders no memory.
    pub fn end_visits(&mut self, block: &mut Block) {
        block.visits.retain_mut(|(visit, arrived)| {
            visit.lanes &= std::mem::take(arrived);
            visit.lanes != 0
        });
    }

    /// Reports accesses of other blocks to the shared memory of one that ends, which may end before them.
    pub fn check_visits(&mut self, block: &Block) {
        for (visit, _) in &block.visits {
            let lanes = visit.lanes_after(block.warps.iter().map(|warp| &warp.order));
            if lanes == 0 {
                continue;
            }
            let (pc, ended) = (visit.pc, block.index);
            let [x, y, z] = ended;
            self.observers.find(Hazard::SharedRace, pc, |run| {
                let index = run.model.grid.block_index(visit.block().into());
                let message = format!(
                    "shared memory of block ({x}, {y}, {z}) is accessed by another block of the cluster, and nothing puts this \
                     before the end of that block, when its shared memory is gone"
                );
                let place = run.place(index, visit.warp().into(), lanes, pc);
                let fix = Some(Remedy::ClusterEnd);
                Finding { fix, ..Finding::new(Hazard::SharedRace, place, message) }
            });
        }
    }

    /// Lanes of a warp wait for each other.
    pub fn warp_synchronized(&mut self, warp: &mut Warp, mask: u32) {
        if self.observers.checking {
            warp.order.meet(mask, warp.live, warp.lanes);
        }
    }

    /// A warp barrier orders the lanes that each of its membermasks names.
    pub fn warp_barrier(&mut self, warp: &mut Warp, mask: u32, members: u32) {
        let members = warp.registers.words[members as usize];
        let mut rest = mask;
        while rest != 0 {
            let named = members[rest.trailing_zeros() as usize];
            let same = lanes(rest).filter(|lane| members[*lane] == named);
            let group = same.fold(0, |group, lane| group | 1 << lane);
            self.warp_synchronized(warp, group);
            rest &= !group;
        }
    }

    /// Lanes arrive at a barrier, which has to be in one phase in every order.
    pub fn check_phase(&mut self, issue: Issue<'_>, barrier: BarrierName) {
        let Issue { block, warp, pc, mask } = issue;
        let Some(shadow) = &mut block.shadow else { return };
        let lane = mask.trailing_zeros() as usize & 31;
        let Some(before) = shadow.arrive_in_phase(barrier, &warp.order, (pc, lane)) else { return };
        if !self.run.options.checks.barriers {
            return;
        }
        let (index, w) = (block.index, warp.index);
        self.observers.find(Hazard::OtherOrder, pc, |run| {
            let (what, location) = match barrier {
                BarrierName::Number(number) => (format!("barrier {number}"), None),
                BarrierName::Address(address) => {
                    let location = run.locate_shared(address);
                    (format!("the mbarrier at shared address {address:#x}"), Some(location))
                }
            };
            let place = location.as_ref().map_or_else(String::new, |location| format!("; {location}"));
            let message = format!(
                "this arrival at {what} may count in the phase before: nothing puts it after the other arrival, which was one of \
                 that phase, so that in another order other threads meet, and some may wait forever{place}"
            );
            let other = run.model.grid.block_index(before.block().into());
            Finding {
                other: Some(run.place(other, before.warp().into(), 1 << before.lane(), before.pc)),
                location,
                fix: Some(Remedy::PhaseEnd),
                ..Finding::new(Hazard::OtherOrder, run.place(index, w, mask, pc), message)
            }
        });
    }

    /// Lanes arrive at a block's barrier without waiting there.
    pub fn barrier_arrived(&mut self, block: &mut Block, warp: &mut Warp, mask: u32, id: u32) {
        if let Some(shadow) = &mut block.shadow {
            shadow.arrive(id, warp, mask);
        }
    }

    /// Lanes arrive at the cluster's barrier, handing on only what fences before did.
    pub fn barrier_arrived_relaxed(&mut self, block: &mut Block, warp: &Warp, mask: u32, id: u32) {
        if let Some(shadow) = &mut block.shadow {
            shadow.arrive_relaxed(id, &warp.order, mask);
        }
    }

    /// Lanes that need not wait at the cluster's barrier learn what all who arrived knew.
    pub fn cluster_passed(&mut self, block: &mut Block, warp: &mut Warp, mask: u32) {
        if let Some(shadow) = &block.shadow {
            shadow.pass_cluster(warp, mask);
        }
    }

    /// All lanes that wait at a barrier of the block go on, and know what all who arrived knew.
    pub fn join_clocks(&mut self, block: &mut Block, id: u32) {
        block.unfenced.meet();
        if let Some(shadow) = &mut block.shadow {
            // Who waits at a barrier of the block is in its phase.
            let _ = shadow.end_phase(BarrierName::Number(id));
            shadow.join_block(id, &mut block.warps);
        }
    }

    /// The cluster's barrier is complete: those who wait go on, and those who come later find what it hands on.
    pub fn join_cluster(&mut self, blocks: &mut [Option<Block>], id: u32) {
        let mut all = Arrival::default();
        for shadow in blocks.iter_mut().flatten().filter_map(|block| block.shadow.as_mut()) {
            all.join(&shadow.drain_arrivals(id));
        }
        for block in blocks.iter_mut().flatten() {
            if let Some(shadow) = &mut block.shadow {
                shadow.join_cluster(id, &all, &mut block.warps);
            }
        }
    }

    /// A lane arrives at an mbarrier.
    pub fn mbarrier_arrived(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (pc, address, lane): (usize, u64, usize),
        releases: bool,
        completes: bool,
    ) {
        if completes {
            block.unfenced.meet();
        }
        if releases {
            let issue = Issue { block, warp, pc, mask: 1 << lane };
            self.check_phase(issue, BarrierName::Address(address));
        }
        let Some(shadow) = &mut block.shadow else { return };
        let overtaken =
            if completes { shadow.end_phase(BarrierName::Address(address)) } else { None };
        let known = if releases {
            Some(warp.order.released_by(lane))
        } else {
            let is_own = u64::from(warp.order.block) == block.linear;
            let to = if is_own { Scope::Block } else { Scope::Cluster };
            warp.order.released_by_fences(lane, to)
        };
        shadow.arrived_at(address, known.as_ref(), completes);
        if let Some(waiter) = overtaken {
            self.report_overtaken(block, address, waiter);
        }
    }

    /// Reports a wait for a phase of an mbarrier that nothing puts before the end of the next one.
    #[cold]
    fn report_overtaken(&mut self, block: &Block, address: u64, waiter: Waiter) {
        if !self.run.options.checks.barriers {
            return;
        }
        let index = block.index;
        self.observers.find(Hazard::OtherOrder, waiter.pc, |run| {
            let location = run.locate_shared(address);
            let message = format!(
                "this wait at the mbarrier at shared address {address:#x} may come too late: nothing puts it before the end of \
                 the next phase, after which the parity is again that of a phase under way, so that in another order it waits \
                 for one phase more, perhaps forever; {location}"
            );
            let place = run.place(index, waiter.warp().into(), waiter.lanes, waiter.pc);
            Finding {
                address: Some(address),
                location: Some(location),
                fix: Some(Remedy::WaitedFor),
                ..Finding::new(Hazard::OtherOrder, place, message)
            }
        });
    }

    /// Lanes have seen a phase of an mbarrier complete.
    pub fn mbarrier_passed(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        (pc, mask, address): (usize, u32, u64),
        semantics: Semantics,
    ) {
        let Some(shadow) = &mut block.shadow else { return };
        shadow.wait_for_phase(address, &warp.order, (pc, mask));
        let known = shadow.completed_at(address);
        if semantics.acquire {
            warp.order.learn(mask, warp.live, &known);
        } else {
            warp.order.learn_later(mask, warp.live, Scope::Block, &known);
        }
    }

    /// The target of an asynchronous copy must not be touched until it has landed.
    pub fn check_async_issue(&mut self, block: &mut Block, warp: &mut Warp, request: Request<'_>) {
        self.check_array(block, warp, request);
        self.shared_event(block, warp, &request, true, None);
        let Some(shadow) = &mut block.shadow else { return };
        for lane in lanes(request.mask) {
            shadow.mark_pending(request.all[lane], request.bytes, true);
        }
    }

    /// Reports that the source of a copy is not what it was when the copy was issued.
    #[cold]
    pub fn report_source_changed(
        &mut self,
        block: &Block,
        warp: u32,
        (pc, lane): (usize, usize),
        address: u64,
    ) {
        if !self.run.options.checks.async_copies {
            return;
        }
        let index = block.index;
        self.observers.find(Hazard::AsyncCopyNotAwaited, pc, |run| {
            let location = run.memory.locate(address);
            let message = format!(
                "{address:#x} was overwritten while a copy from there was under way; {location}"
            );
            Finding {
                address: Some(address),
                location: Some(location),
                fix: Some(Remedy::SourceWait),
                ..Finding::new(
                    Hazard::AsyncCopyNotAwaited,
                    run.place(index, warp, 1 << lane, pc),
                    message,
                )
            }
        });
    }

    pub fn async_landed(&mut self, issue: Issue<'_>, target: &[u32; LANES], bytes: u32) {
        let Issue { block, warp, pc, mask } = issue;
        let Some(shadow) = &mut block.shadow else { return };
        for lane in lanes(mask) {
            shadow.mark_pending(target[lane] as u64, bytes, false);
        }
        block.unfenced.write(warp.index, Request::new(pc, mask, &target.map(u64::from), bytes));
        // The write happens now, whenever it was asked for; it was compared then.
        let all = target.map(u64::from);
        let request = Request::new(pc, mask, &all, bytes);
        let parts = &mut self.observers.parts[pc];
        shadow.access(&self.run.model, &mut warp.order, warp.live, &request, true, parts);
    }

    /// Names a bulk copy that a lane asks for, and checks where it writes shared memory of the block with this number.
    pub fn check_bulk_target(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        copy: &PendingBulk,
        home: u64,
    ) -> Option<Epoch> {
        let PendingBulk { pc, lane, direction, target, bytes, mbarrier, .. } = *copy;
        let shadow = block.shadow.as_mut().filter(|_| self.observers.checking)?;
        let (copies, time) = match mbarrier {
            Some(mbarrier) => shadow.copy_to(u64::from(mbarrier)),
            None => shadow.next_of(Queue::Reads, warp.index as u8),
        };
        let by = Epoch { block: home as u32, warp: copies, time };
        if let Some(mbarrier) = mbarrier {
            shadow.hold_phase(mbarrier.into(), &warp.order, lane);
        }
        // Who sees a copy of another block complete comes after what its thread came after when it asked for it.
        if let Some(mbarrier) = mbarrier.filter(|_| home != block.linear) {
            shadow.arrived_at(mbarrier.into(), Some(&warp.order.released_by(lane)), false);
        }
        if direction == BulkDirection::SharedToGlobal {
            return Some(by);
        }
        let mut races = Vec::new();
        if self.run.options.checks.shared_races {
            let (order, range) = (&mut warp.order, (target, bytes));
            races = shadow.bulk(&self.run.model, order, (pc, lane), range, true, by);
        }
        shadow.mark_pending(target, bytes, true);
        self.check_bulk_array(block, warp, (pc, lane), (target, bytes));
        for race in races {
            self.report_race(block, warp, pc, race, false, true);
        }
        Some(by)
    }

    /// Checks where a bulk copy reads the block's shared memory.
    pub fn check_bulk_source(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        copy: &PendingBulk,
        by: Epoch,
    ) {
        let PendingBulk { pc, lane, source, bytes, .. } = *copy;
        let place = Site { block: block.index, warp: warp.index, pc, lane, address: source };
        let Some(shadow) = &mut block.shadow else { return };
        let checks = self.run.options.checks;
        let mut races = Vec::new();
        if checks.shared_races {
            let (order, range) = (&mut warp.order, (source, bytes));
            races = shadow.bulk(&self.run.model, order, (pc, lane), range, false, by);
        }
        let unwritten = !shadow.is_written(source, bytes);
        let unfenced = block.unfenced.first(source, bytes);
        self.check_bulk_array(block, warp, (pc, lane), (source, bytes));
        for race in races {
            self.report_race(block, warp, pc, race, false, true);
        }
        if unwritten && checks.uninitialized {
            self.report_unwritten(block, warp, pc, (lane, source), Hazard::UninitializedShared);
        }
        if let (Some(address), true) = (unfenced, checks.async_copies) {
            self.report(Hazard::MissingProxyFence, Site { address, ..place });
        }
    }

    /// Checks the chunks of 16 bytes of shared memory that a warp's `wgmma` reads until it is waited for.
    pub fn check_factor(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        pc: usize,
        mut chunks: Vec<u64>,
    ) {
        let checks = self.run.options.checks;
        let Some(shadow) = &mut block.shadow else { return };
        let (products, time) = shadow.next_of(Queue::Products, warp.index as u8);
        let by = Epoch { block: warp.order.block, warp: products, time };
        chunks.sort_unstable();
        chunks.dedup();
        let (mut found, mut races) = (Vec::new(), Vec::new());
        for chunks in chunks.chunk_by(|a, b| a + 16 == *b) {
            let (start, bytes) = (chunks[0], 16 * chunks.len() as u32);
            if shadow.is_pending(start, bytes) && checks.async_copies {
                found.push((Hazard::AsyncCopyNotAwaited, start));
            } else if !shadow.is_written(start, bytes) && checks.uninitialized {
                found.push((Hazard::UninitializedShared, start));
            }
            let unfenced = block.unfenced.first(start, bytes);
            found.extend(unfenced.map(|address| (Hazard::MissingProxyFence, address)));
            if checks.shared_races {
                let (model, at) = (&self.run.model, (start, bytes));
                races.append(&mut shadow.bulk(model, &mut warp.order, (pc, 0), at, false, by));
            }
        }
        for race in races {
            self.report_race(block, warp, pc, race, false, true);
        }
        for (hazard, address) in found {
            let (block, warp) = (block.index, warp.index);
            self.report(hazard, Site { block, warp, pc, lane: 0, address });
        }
        // The warp reads as a whole: once it has waited for the product, any of its lanes may say so.
        self.warp_synchronized(warp, warp.live);
    }

    pub fn bulk_landed(
        &mut self,
        block: &mut Block,
        direction: BulkDirection,
        (target, bytes): (u64, u32),
        mbarrier: Option<u64>,
        completes: bool,
    ) {
        let number = block.linear as u32;
        let Some(shadow) = &mut block.shadow else { return };
        if direction != BulkDirection::SharedToGlobal {
            shadow.mark_pending(target, bytes, false);
        }
        if let Some(mbarrier) = mbarrier {
            let overtaken =
                if completes { shadow.end_phase(BarrierName::Address(mbarrier)) } else { None };
            shadow.landed_at(number, mbarrier, completes);
            if let Some(waiter) = overtaken {
                self.report_overtaken(block, mbarrier, waiter);
            }
        }
    }

    /// A warp's bulk copies up to now are a group.
    pub fn bulk_committed(&mut self, block: &mut Block, warp: &Warp) {
        if let Some(shadow) = &mut block.shadow {
            shadow.commit(Queue::Reads, warp.index as u8);
            shadow.commit(Queue::Writes, warp.index as u8);
        }
    }

    /// Lets lanes learn what they have waited for: all groups of bulk copies but the latest, perhaps only until they had read.
    pub fn bulk_awaited(
        &mut self,
        block: &Block,
        warp: &mut Warp,
        mask: u32,
        (pending, reads): (u32, bool),
    ) {
        let Some(shadow) = &block.shadow else { return };
        let queues = if reads { &[Queue::Reads][..] } else { &[Queue::Reads, Queue::Writes] };
        for queue in queues {
            let known = shadow.awaited(*queue, warp.order.block, warp.index as u8, pending);
            warp.order.learn(mask, warp.live, &known);
        }
    }

    /// A fence: see [`ThreadClocks`](races::ThreadClocks).
    pub fn fence(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        mask: u32,
        proxy: bool,
        semantics: Semantics,
    ) {
        if block.shadow.is_none() {
            return;
        }
        if proxy {
            block.unfenced.fence(warp.index);
            return;
        }
        let scope = semantics.strong.unwrap_or(Scope::Device);
        if semantics.acquire {
            warp.order.acquire_fence(mask, warp.live, scope, semantics.sequential);
        }
        if semantics.release {
            warp.order.release_fence(mask, warp.live, scope, semantics.sequential);
        }
    }
}
