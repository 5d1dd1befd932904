use crate::execute::issue::block::{BARRIERS, Barrier, Block};
use crate::execute::issue::warp::{Split, State, Warp};
use crate::execute::issue::worker::Worker;
use crate::execute::observe::checks::product_state::Products;
use crate::execute::observe::checks::proxy::Unfenced;
use crate::program::{LaneMask, RESERVED_SHARED, Special};
use crate::registers::{ALWAYS, LANES};
use races::SharedShadow;

/// Shared bytes start with this, so that what nobody wrote is visible (as a float it is NaN).
const POISON: u8 = 0xff;

impl Worker<'_> {
    pub fn start_block(&mut self, linear: u64) -> Block {
        let run = self.run;
        let index = run.model.grid.block_index(linear);
        let threads = run.launch.threads() as u32;
        let mut warps = Vec::with_capacity(run.warps_per_block as usize);
        for w in 0..run.warps_per_block {
            let mut warp = self.spare_warps.pop().unwrap_or_default();
            let left = threads - w * 32;
            let lanes = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
            self.start_warp(&mut warp, w, lanes, index);
            warps.push(warp);
        }
        if let Some(observer) = &mut self.observers.observer {
            observer.start_block();
            for warp in &mut warps {
                warp.observed = observer.start_warp();
            }
        }
        self.blocks += 1;
        self.warps += run.warps_per_block as u64;
        let mut shadow = self.observers.checking.then(|| {
            let spare = self.spare_shadows.pop();
            Box::new(spare.map_or_else(
                || SharedShadow::new(&run.model, run.shared_bytes),
                SharedShadow::restarted,
            ))
        });
        for (_, special) in &run.program.specials {
            // Cooperative groups take their memory as they find it, and set each bit before they read it.
            if let (Special::ReservedShared(start), Some(shadow)) = (special, &mut shadow) {
                shadow.mark_pending((*start).into(), RESERVED_SHARED, false);
            }
        }
        Block {
            completed: Vec::new(),
            linear,
            index,
            rank: run.rank(index),
            warps,
            shared: vec![POISON; run.shared_bytes.next_multiple_of(16) as usize],
            barriers: [Barrier::default(); BARRIERS],
            met: None,
            visits: Vec::new(),
            shadow,
            turn: 0,
            bulk: Vec::new(),
            unfenced: Unfenced::new(run.reads_by_proxy),
        }
    }

    pub fn end_block(&mut self, block: Block) {
        if let Some(observer) = &mut self.observers.observer {
            block.warps.iter().for_each(|warp| observer.end_warp(warp.observed));
        }
        self.spare_warps.extend(block.warps);
        self.spare_shadows.extend(block.shadow.map(|shadow| *shadow));
    }

    fn start_warp(&self, warp: &mut Warp, w: u32, lanes: u32, block: [u32; 3]) {
        let run = self.run;
        let program = run.program;
        warp.index = w;
        let registers = &mut warp.registers;
        for row in &mut registers.words {
            *row = [0; LANES];
        }
        for row in &mut registers.longs {
            *row = [0; LANES];
        }
        registers.words.resize(program.words as usize, [0; LANES]);
        registers.longs.resize(program.longs as usize + 1, [0; LANES]);
        registers.predicates.clear();
        registers.predicates.resize(program.predicates as usize, 0);
        registers.predicates[ALWAYS as usize] = u32::MAX;
        for (index, value) in &run.word_constants {
            registers.words[*index as usize] = [*value; LANES];
        }
        for (index, value) in &run.long_constants {
            registers.longs[*index as usize] = [*value; LANES];
        }
        for (row, special) in &program.specials {
            registers.words[row.index() as usize] = self.special(*special, w, block);
        }
        warp.live = lanes;
        warp.lanes = lanes;
        warp.splits.clear();
        warp.splits.push(Split { pc: 0, mask: lanes, frames: Vec::new(), state: State::Ready });
        warp.local.clear();
        warp.local_bytes = program.local_bytes;
        warp.local.resize(program.local_bytes as usize / 4 * LANES, u32::MAX);
        warp.copies.clear();
        warp.copy_group = 0;
        warp.bulk_group = 0;
        warp.rotate = 0;
        warp.waited = false;
        warp.at_cluster = 0;
        warp.met_cluster = 0;
        warp.local_written.clear();
        warp.is_checked = self.observers.checking;
        if self.observers.checking {
            warp.products = Products::default();
            warp.local_written.resize(program.local_bytes as usize / 4 * LANES, 0);
            warp.followed.clear();
            if !run.doubt.instructions.is_empty() {
                run.start_definedness(warp);
            }
            warp.order.start(run.model.grid.linear(block) as u32, w as u8);
        }
    }

    fn special(&self, special: Special, w: u32, block: [u32; 3]) -> [u32; LANES] {
        let launch = &self.run.launch;
        let limits = &self.run.options.limits;
        let linear = |lane: usize| w * 32 + lane as u32;
        let [bx, by, _] = launch.block;
        match special {
            Special::ThreadIndex(axis) => std::array::from_fn(|lane| match axis {
                0 => linear(lane) % bx,
                1 => linear(lane) / bx % by,
                _ => linear(lane) / bx / by,
            }),
            Special::BlockSize(axis) => [launch.block[axis as usize]; LANES],
            Special::BlockIndex(axis) => [block[axis as usize]; LANES],
            Special::GridSize(axis) => [launch.grid[axis as usize]; LANES],
            Special::Lane => std::array::from_fn(|lane| lane as u32),
            Special::Warp => [w; LANES],
            Special::WarpCount => [self.run.warps_per_block; LANES],
            Special::Multiprocessor => {
                [(self.run.model.grid.linear(block) % limits.multiprocessors.max(1) as u64) as u32;
                    LANES]
            }
            Special::MultiprocessorCount => [limits.multiprocessors; LANES],
            Special::GridId => [1; LANES],
            Special::LaneMask(kind) => std::array::from_fn(|lane| {
                let equal = 1u32 << lane;
                match kind {
                    LaneMask::Equal => equal,
                    LaneMask::Less => equal - 1,
                    LaneMask::LessEqual => equal | (equal - 1),
                    LaneMask::Greater => !(equal | (equal - 1)),
                    LaneMask::GreaterEqual => !(equal - 1),
                }
            }),
            Special::TotalShared => [self.run.shared_bytes; LANES],
            Special::DynamicShared => [launch.dynamic_shared_bytes; LANES],
            Special::ReservedShared(offset) => [offset; LANES],
            Special::GridWorkspace { is_high } => {
                let shift = if is_high { 32 } else { 0 };
                [(self.run.workspace >> shift) as u32; LANES]
            }
            Special::ClusterIndex(axis) => {
                [block[axis as usize] / self.run.model.grid.cluster[axis as usize]; LANES]
            }
            Special::ClusterCount(axis) => {
                [self.run.model.grid.clusters()[axis as usize] as u32; LANES]
            }
            Special::PlaceInCluster(axis) => {
                [self.run.place_in_cluster(block)[axis as usize]; LANES]
            }
            Special::ClusterSize(axis) => [self.run.model.grid.cluster[axis as usize]; LANES],
            Special::ClusterRank => [self.run.rank(block); LANES],
            Special::ClusterBlocks => [self.run.model.grid.blocks_per_cluster() as u32; LANES],
            Special::IsExplicitCluster => [u32::from(self.run.is_explicit_cluster); LANES],
        }
    }
}
