//! Clusters: blocks that run together, wait for each other and reach each other's shared memory.
//!
//! A launch without clusters is one of clusters of one block each. The blocks of a cluster take turns on one worker.

use crate::error::Error;
use crate::execute::issue::block::{Block, CLUSTER_BARRIER, Cluster, Turn};
use crate::execute::issue::warp::{Flow, Split, State, Warp};
use crate::execute::issue::worker::{Issue, Worker};
use crate::hash::mix;
use crate::options::Schedule;
use crate::registers::LANES;
use crate::windows::CLUSTER_SHIFT;
use races::Request;

impl Worker<'_> {
    /// Starts the blocks of a cluster.
    pub fn start_cluster(&mut self, cluster: u64) -> Cluster {
        let ranks = 0..self.run.model.grid.blocks_per_cluster() as u32;
        ranks.map(|rank| Some(self.start_block(self.run.block_of(cluster, rank)))).collect()
    }

    /// Gives every block turns; true when all have ended, false when some only spin.
    pub fn run_cluster(&mut self, cluster: &mut Cluster) -> Result<bool, Error> {
        self.cluster = std::mem::take(cluster);
        let ended = self.run_blocks();
        *cluster = std::mem::take(&mut self.cluster);
        ended
    }

    fn run_blocks(&mut self) -> Result<bool, Error> {
        loop {
            let (mut progress, mut spins) = (false, false);
            for rank in self.order_of_ranks() {
                let Some(mut block) = self.cluster[rank].take() else { continue };
                match self.run_block(&mut block)? {
                    Turn::Ended => {
                        self.check_visits(&block);
                        self.end_block(block);
                        self.run.progress.blocks_ended(1);
                        progress = true;
                    }
                    turn => {
                        spins |= turn == Turn::Spins;
                        self.cluster[rank] = Some(block);
                    }
                }
                progress |= self.release_cluster();
            }
            if self.cluster.iter().all(Option::is_none) {
                return Ok(true);
            }
            if spins {
                return Ok(false);
            }
            if let (false, Some(block)) = (progress, self.cluster.iter().flatten().next()) {
                return Err(self.deadlock(block));
            }
        }
    }

    /// The order in which the blocks of the cluster take a turn each.
    fn order_of_ranks(&self) -> impl Iterator<Item = usize> + use<> {
        let count = self.cluster.len();
        let (start, reverse) = match self.run.options.schedule {
            Schedule::Forward => (0, false),
            Schedule::Reverse => (0, true),
            Schedule::Seeded(seed) => (mix(seed ^ self.steps) as usize % count, false),
        };
        (0..count).map(
            move |position| {
                if reverse { count - 1 - position } else { (start + position) % count }
            },
        )
    }

    /// Lanes arrive at the barrier of their cluster.
    pub fn arrive_at_cluster(&mut self, issue: Issue<'_>, relaxed: bool) -> Result<(), Error> {
        let Issue { block, warp, pc, mask } = issue;
        let again = warp.at_cluster & mask;
        if again != 0 {
            return Err(Error::IllegalInstruction {
                place: Box::new(self.run.place(block.index, warp.index, again, pc)),
                message: "a second arrival at the barrier of the cluster without a wait".into(),
            });
        }
        warp.at_cluster |= mask;
        if relaxed {
            self.barrier_arrived_relaxed(block, warp, mask, CLUSTER_BARRIER);
        } else {
            self.barrier_arrived(block, warp, mask, CLUSTER_BARRIER);
        }
        Ok(())
    }

    /// Lanes wait until all threads of the cluster have arrived.
    pub fn wait_for_cluster(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        split: &mut Split,
        mask: u32,
    ) -> Flow {
        if warp.at_cluster & mask == 0 {
            warp.met_cluster |= mask;
            self.cluster_passed(block, warp, mask);
            return Flow::Next;
        }
        warp.park(split, mask, State::AtBarrier(CLUSTER_BARRIER))
    }

    /// Lets go of the cluster's barrier when all threads that live have arrived; whether it did.
    fn release_cluster(&mut self) -> bool {
        let warps = || self.cluster.iter().flatten().flat_map(|block| &block.warps);
        let complete = warps().all(|warp| warp.live & !warp.at_cluster == 0);
        if !complete || warps().all(|warp| warp.at_cluster == 0) {
            return false;
        }
        let mut cluster = std::mem::take(&mut self.cluster);
        if self.observers.checking {
            self.join_cluster(&mut cluster, CLUSTER_BARRIER);
        }
        for block in cluster.iter_mut().flatten() {
            self.end_visits(block);
            for warp in &mut block.warps {
                warp.at_cluster = 0;
                let waiting = |split: &&mut Split| split.state == State::AtBarrier(CLUSTER_BARRIER);
                for split in warp.splits.iter_mut().filter(waiting) {
                    split.state = State::Ready;
                    split.pc += 1;
                    warp.met_cluster |= split.mask;
                }
            }
        }
        self.cluster = cluster;
        true
    }

    /// Runs an access to shared memory once for each block of the cluster that the lanes address, with addresses in
    /// that block's shared memory and that memory in the place of the own.
    ///
    /// The same goes for what is remembered of it: the accesses are compared there.
    pub fn in_blocks(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        mut access: impl FnMut(&mut Self, &mut Block, &mut Warp, Request<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut left = request.mask;
        while left != 0 {
            let part = request.all[left.trailing_zeros() as usize] >> CLUSTER_SHIFT;
            let mask = (0..LANES)
                .filter(|lane| left >> lane & 1 != 0 && request.all[*lane] >> CLUSTER_SHIFT == part)
                .fold(0u32, |mask, lane| mask | 1 << lane);
            left &= !mask;
            let all = request.all.map(|address| address & ((1 << CLUSTER_SHIFT) - 1));
            let request = Request::new(request.pc, mask, &all, request.bytes);
            // Part 0 is the own block without saying so; others are a rank plus one.
            let rank = part.checked_sub(1).filter(|rank| *rank != block.rank as u64);
            let Some(rank) = rank else {
                access(self, block, warp, request)?;
                continue;
            };
            self.in_rank(block, warp, request, rank, |worker, block, warp, _| {
                access(worker, block, warp, request)
            })?;
        }
        Ok(())
    }

    /// Runs an access with the shared memory of another block of the cluster in the place of the own, and with what is
    /// remembered of it and under way to it; the access learns the number of that block, too.
    pub fn in_rank(
        &mut self,
        block: &mut Block,
        warp: &mut Warp,
        request: Request<'_>,
        rank: u64,
        access: impl FnOnce(&mut Self, &mut Block, &mut Warp, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(mut other) = self.cluster.get_mut(rank as usize).and_then(Option::take) else {
            return Err(Error::IllegalAddress {
                place: Box::new(self.run.place(block.index, warp.index, request.mask, request.pc)),
                address: request.all[request.mask.trailing_zeros() as usize],
                bytes: request.bytes,
                message: format!(
                    "shared memory of the block of rank {rank}, which the cluster does not have or which has \
                     ended; blocks whose memory others reach have to wait for them at the cluster's barrier"
                ),
            });
        };
        let early = self.lanes_before_start(warp, request.mask, &other);
        self.note_visit(&mut other, warp, (request.pc, request.mask));
        let swap = |block: &mut Block, other: &mut Block| {
            std::mem::swap(&mut block.shared, &mut other.shared);
            std::mem::swap(&mut block.shadow, &mut other.shadow);
            std::mem::swap(&mut block.bulk, &mut other.bulk);
            std::mem::swap(&mut block.completed, &mut other.completed);
        };
        swap(block, &mut other);
        // Epochs have another number there.
        warp.order.shared_epoch = 0;
        let done = access(self, block, warp, other.linear);
        warp.order.shared_epoch = 0;
        swap(block, &mut other);
        // A race that the access has with one of that block says more.
        self.check_started(block, warp, (request.pc, early), &other);
        self.cluster[rank as usize] = Some(other);
        done
    }

    /// Returns whether lanes of an access to shared memory name a block.
    #[inline(always)]
    pub fn reaches_blocks(&self, request: Request<'_>) -> bool {
        self.run.program.maps_shared
            && (0..LANES).any(|lane| {
                request.mask >> lane & 1 != 0 && request.all[lane] >> CLUSTER_SHIFT != 0
            })
    }
}
