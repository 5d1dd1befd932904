//! The parts of `specialized_warps`, a kernel of [`scan`](super) in which each warp has one task.
//!
//! A block stays resident and passes tiles through a ring of stages in shared memory. Four barriers of a stage hand it
//! from task to task:
//!
//! ```text
//! loader     takes a ticket, starts the copy of that tile            filled  -> adders, writers
//! adders     one chunk of the tile each: its sum                     summed  -> publisher, looker
//! publisher  writes the tile's sum to device memory                  emptied -> loader
//! looker     adds the sums of the tiles since the block's last one   ready   -> writers
//! writers    one chunk each: scan it, add what is before, store      emptied -> loader
//! ```

use super::published::{SUM, take_ticket, word};
use super::rows::{ROW, ROWS, TileRows, VECTORIZED_TILE, scan_rows, store_rows};
use super::warps::warp_sum;
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::AtomicU64;
use cuda_std::mbarrier::{self, Barrier};
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, sync_warp, warp_vote_all};
use cuda_std::{bulk_copy, shared};

/// Elements of a chunk, the part of a tile that one warp adds and one warp writes.
const CHUNK: u32 = ROWS * ROW;
/// Chunks of a tile.
const CHUNKS: u32 = VECTORIZED_TILE / CHUNK;
/// Threads of a block: loader, publisher, looker, adders and writers.
pub const THREADS: u32 = (3 + 2 * CHUNKS) * WARP_SIZE;
/// The most stages of a ring.
pub const MAX_STAGES: u32 = 6;
/// Words of other tiles that a lane of the looker reads at once: 5 x 32 words are a few more than an H200 has
/// multiprocessors, and thus than there are tiles between two of a block.
const WORDS_PER_LANE: usize = 5;

/// Messages of the tasks about one tile.
#[repr(C)]
struct Stage {
    filled: Barrier,
    summed: Barrier,
    ready: Barrier,
    emptied: Barrier,
    /// The tile in the lower half, the launch in the upper one.
    ticket: u64,
    /// The sums of the chunks.
    sums: [f32; CHUNKS as usize],
    /// The sum of all elements before the tile.
    before: f32,
}

/// All stages, aligned so that the tiles behind them begin with a cache line.
#[repr(C, align(128))]
pub struct Stages([Stage; MAX_STAGES as usize]);

/// One task's way through the stages.
struct Turn {
    stage: *mut Stage,
    elements: *mut f32,
    number: u32,
    parity: u32,
}

/// Facts that all tasks of a block share.
#[derive(Clone, Copy)]
pub struct Block {
    /// The stages in shared memory.
    pub stages: *mut Stages,
    /// Number of the used ones.
    pub stage_count: u32,
    pub source: *const f32,
    /// Target of their sums.
    pub target: *mut f32,
    /// The tickets, and a word for each tile behind them.
    pub state: *mut u64,
    pub n: u32,
}

impl Block {
    /// Makes the barriers; one thread calls, before any other comes to them.
    ///
    /// # Safety
    /// - `stages` is shared memory that nothing else uses.
    #[inline(always)]
    pub unsafe fn initialize(self) {
        // SAFETY: the caller's contract; stage_count is at most MAX_STAGES.
        unsafe {
            for number in 0..self.stage_count {
                let stage = self.stages.cast::<Stage>().add(number as usize);
                mbarrier::init(&raw mut (*stage).filled, 1);
                mbarrier::init(&raw mut (*stage).summed, CHUNKS);
                mbarrier::init(&raw mut (*stage).ready, 1);
                mbarrier::init(&raw mut (*stage).emptied, CHUNKS + 1);
            }
        }
        mbarrier::fence_init();
    }

    #[inline(always)]
    fn tiles(self) -> u32 {
        self.n.div_ceil(VECTORIZED_TILE)
    }

    /// The elements of a tile that exist.
    #[inline(always)]
    fn elements_of(self, tile: u32) -> u32 {
        (self.n - tile * VECTORIZED_TILE).min(VECTORIZED_TILE)
    }

    #[inline(always)]
    fn first_turn(self) -> Turn {
        let elements = shared::dynamic_shared_mem();
        Turn { stage: self.stages.cast(), elements, number: 0, parity: 0 }
    }

    #[inline(always)]
    fn next(self, turn: &mut Turn) {
        turn.number += 1;
        if turn.number == self.stage_count {
            (turn.number, turn.parity) = (0, turn.parity ^ 1);
        }
        // SAFETY: number < stage_count, for as many of which there are stages and tiles.
        unsafe {
            turn.stage = self.stages.cast::<Stage>().add(turn.number as usize);
            turn.elements =
                shared::dynamic_shared_mem::<f32>().add((turn.number * VECTORIZED_TILE) as usize);
        }
    }

    /// The loader's task, for one thread. The first ticket beyond the last tile ends the block.
    ///
    /// # Safety
    /// - The launch contract of `scan_specialized_warps`, after [`Block::initialize`].
    #[inline(always)]
    pub unsafe fn load(self) {
        let mut turn = self.first_turn();
        // SAFETY: a stage is written only after all its readers of the round before arrived on `emptied`; the phase
        // before the first counts as complete. Nothing is read beyond n.
        unsafe {
            loop {
                let stage = turn.stage;
                mbarrier::wait(&raw mut (*stage).emptied, turn.parity ^ 1);
                let ticket = take_ticket(self.state, self.tiles() + thread::grid_dim_x());
                (*stage).ticket = ticket;
                let (tile, filled) = (ticket as u32, &raw mut (*stage).filled);
                if tile >= self.tiles() {
                    mbarrier::arrive(filled);
                    return;
                }
                let from = self.source.add((tile * VECTORIZED_TILE) as usize);
                let elements = self.elements_of(tile);
                let copied = elements - elements % 4;
                // Copies are of whole vectors.
                for i in copied..elements {
                    *turn.elements.add(i as usize) = *from.add(i as usize);
                }
                mbarrier::arrive_expect(filled, copied * 4);
                if copied > 0 {
                    bulk_copy::global_to_shared(turn.elements, from, copied * 4, filled);
                }
                self.next(&mut turn);
            }
        }
    }

    /// An adder's task.
    ///
    /// # Safety
    /// - As for [`Block::load`].
    /// - All lanes of the warp call.
    #[inline(always)]
    pub unsafe fn add(self, chunk: u32) {
        let lane = thread::thread_idx_x() % WARP_SIZE;
        let mut turn = self.first_turn();
        // SAFETY: the tile has arrived; each adder has its word of `sums`.
        unsafe {
            loop {
                let stage = turn.stage;
                mbarrier::wait(&raw mut (*stage).filled, turn.parity);
                let tile = (*stage).ticket as u32;
                let is_end = tile >= self.tiles();
                if !is_end {
                    let mut sum = 0.0;
                    for [a, b, c, d] in &self.chunk(&turn, tile, chunk) {
                        sum += (a + b) + (c + d);
                    }
                    let sum = warp_sum(sum);
                    if lane == 0 {
                        *sum_of_chunk(stage, chunk) = sum;
                    }
                }
                arrive(&raw mut (*stage).summed);
                if is_end {
                    return;
                }
                self.next(&mut turn);
            }
        }
    }

    /// The publisher's task: the sum of a tile is known to all as soon as it is known here, however long the looker waits
    /// for the tiles before.
    ///
    /// # Safety
    /// - As for [`Block::add`].
    #[inline(always)]
    pub unsafe fn publish(self) {
        let lane = thread::thread_idx_x() % WARP_SIZE;
        let mut turn = self.first_turn();
        // SAFETY: the sums have arrived; this block alone has the ticket of the tile.
        unsafe {
            loop {
                let stage = turn.stage;
                mbarrier::wait(&raw mut (*stage).summed, turn.parity);
                let ticket = (*stage).ticket;
                let (tile, launch) = (ticket as u32, (ticket >> 32) as u32);
                if tile >= self.tiles() {
                    return;
                }
                let sum = sum_of_chunks(stage, CHUNKS);
                if lane == 0 {
                    let own = AtomicU64::from_ptr(self.state.add(1 + tile as usize));
                    own.store(word(launch, SUM, sum), Relaxed);
                }
                arrive(&raw mut (*stage).emptied);
                self.next(&mut turn);
            }
        }
    }

    /// The looker's task: it keeps the sum of everything up to the end of the block's last tile, and adds the tiles since.
    ///
    /// # Safety
    /// - As for [`Block::add`].
    #[inline(always)]
    pub unsafe fn look_back(self) {
        let lane = thread::thread_idx_x() % WARP_SIZE;
        let mut turn = self.first_turn();
        let (mut before, mut end) = (0.0, 0);
        // SAFETY: the sums have arrived. Tickets are handed out in order, so the tiles before this one belong to blocks that
        // run, and whose adders and publishers wait for nothing but copies and places in the ring, which empty from the
        // earliest tile on.
        unsafe {
            loop {
                let stage = turn.stage;
                mbarrier::wait(&raw mut (*stage).summed, turn.parity);
                let ticket = (*stage).ticket;
                let (tile, launch) = (ticket as u32, (ticket >> 32) as u32);
                if tile >= self.tiles() {
                    return;
                }
                before += sum_of_tiles(self.state.add(1), end, tile, launch);
                if lane == 0 {
                    (*stage).before = before;
                }
                // Read before the stage is handed on.
                before += sum_of_chunks(stage, CHUNKS);
                arrive(&raw mut (*stage).ready);
                end = tile + 1;
                self.next(&mut turn);
            }
        }
    }

    /// A writer's task.
    ///
    /// # Safety
    /// - As for [`Block::add`].
    #[inline(always)]
    pub unsafe fn write(self, chunk: u32) {
        let lane = thread::thread_idx_x() % WARP_SIZE;
        let mut turn = self.first_turn();
        // SAFETY: the tile has arrived, then what is before it; this warp alone stores the elements of its chunk.
        unsafe {
            loop {
                let stage = turn.stage;
                mbarrier::wait(&raw mut (*stage).filled, turn.parity);
                let tile = (*stage).ticket as u32;
                if tile >= self.tiles() {
                    return;
                }
                let mut rows = self.chunk(&turn, tile, chunk);
                scan_rows(&mut rows);
                mbarrier::wait(&raw mut (*stage).ready, turn.parity);
                let before = (*stage).before + sum_of_chunks(stage, chunk);
                arrive(&raw mut (*stage).emptied);
                let own = chunk * CHUNK + lane * 4;
                store_rows(self.target, tile, self.n, own, rows, before);
                self.next(&mut turn);
            }
        }
    }

    /// This lane's elements of a chunk in shared memory, and zeros beyond the last element.
    ///
    /// # Safety
    /// - The tile of the turn has arrived.
    #[inline(always)]
    unsafe fn chunk(self, turn: &Turn, tile: u32, chunk: u32) -> TileRows {
        let own = chunk * CHUNK + thread::thread_idx_x() % WARP_SIZE * 4;
        let left = self.elements_of(tile).saturating_sub(own);
        // SAFETY: 4 divides `own`; a whole tile has all rows, elsewhere each element is checked.
        unsafe {
            let first = turn.elements.add(own as usize);
            let mut rows = [[0.0; 4]; ROWS as usize];
            if self.elements_of(tile) == VECTORIZED_TILE {
                for (row, index) in rows.iter_mut().zip(0..) {
                    *row = (*first.add((index * ROW) as usize).cast::<F32x4>()).to_array();
                }
            } else {
                for (row, index) in rows.iter_mut().zip(0..) {
                    for (element, next) in row.iter_mut().zip(0..) {
                        let further = index * ROW + next;
                        if further < left {
                            *element = *first.add(further as usize);
                        }
                    }
                }
            }
            rows
        }
    }
}

/// One arrival, after all lanes of the warp have done what they did before.
///
/// # Safety
/// - As for [`mbarrier::arrive`].
/// - All lanes of the warp call.
#[inline(always)]
unsafe fn arrive(barrier: *mut Barrier) {
    // SAFETY: the caller's contract.
    unsafe {
        sync_warp(FULL_MASK);
        if thread::thread_idx_x().is_multiple_of(WARP_SIZE) {
            mbarrier::arrive(barrier);
        }
    }
}

/// The word of a chunk's sum, one of `CHUNKS`.
#[inline(always)]
fn sum_of_chunk(stage: *mut Stage, chunk: u32) -> *mut f32 {
    stage.wrapping_byte_add(offset_of!(Stage, sums)).cast::<f32>().wrapping_add(chunk as usize)
}

/// The sum of a tile's first `chunks` chunks, in each lane.
///
/// # Safety
/// - The sums of the chunks have arrived.
/// - All lanes of the warp call.
#[inline(always)]
unsafe fn sum_of_chunks(stage: *mut Stage, chunks: u32) -> f32 {
    let lane = thread::thread_idx_x() % WARP_SIZE;
    // SAFETY: lane < chunks <= CHUNKS.
    unsafe { warp_sum(if lane < chunks { *sum_of_chunk(stage, lane) } else { 0.0 }) }
}

/// The sum of the tiles from `first` up to `end`, in each lane, as soon as all have been published.
///
/// # Safety
/// - `tiles` valid for a word per tile up to `end`, accessed by atomics only.
/// - Somebody publishes each.
/// - All lanes of the warp call.
#[inline(always)]
unsafe fn sum_of_tiles(tiles: *mut u64, mut first: u32, end: u32, launch: u32) -> f32 {
    let lane = thread::thread_idx_x() % WARP_SIZE;
    let mut sum = 0.0;
    while first < end {
        let mut words = [0; WORDS_PER_LANE];
        for (found, index) in words.iter_mut().zip(0..) {
            let tile = first + index * WARP_SIZE + lane;
            *found = if tile < end {
                // SAFETY: tile < end.
                unsafe { AtomicU64::from_ptr(tiles.add(tile as usize)) }.load(Relaxed)
            } else {
                word(launch, SUM, 0.0)
            };
        }
        let known = word(launch, SUM, 0.0) >> 32;
        // SAFETY: all lanes vote.
        if unsafe { warp_vote_all(FULL_MASK, words.iter().all(|found| found >> 32 == known)) } {
            for found in words {
                sum += f32::from_bits(found as u32);
            }
            first += WORDS_PER_LANE as u32 * WARP_SIZE;
        }
    }
    // SAFETY: all lanes call.
    unsafe { warp_sum(sum) }
}
