//! # Asynchronous copies: from global to shared memory without passing through registers
//!
//! Shows: a copy that bypasses the registers saves registers; it saves time only if the [block]
//! works on something else meanwhile.
//!
//! The surprise: replacing an ordinary copy into [shared memory] by an asynchronous one gains
//! nothing by itself, `async_16` (0.543 ms) against `registers_16` (0.545 ms). It pays once several
//! tiles are on their way while the block works on another, `pipelined` (0.534 ms) and
//! `bulk` (0.532 ms).
//!
//! The task is `target[i] = source[i] + source[i ^ 128]`, where elements after the end count as 0.
//! Each sum needs a word that another [warp] loaded, so each block stages tile after tile of 2048
//! words in shared memory. Only the way into shared memory differs:
//!
//! ```text
//! instruction of the machine code              what the thread does
//!   registers  LDG, then STS (load, store)     waits for the load, then stores the value
//!   async      LDGSTS (cp.async)               starts the copy and waits for it later; no register in between
//!   pipelined  LDGSTS, three tiles ahead       starts the copy of tile t + 3, then works on tile t
//!   bulk       UBLKCP (cp.async.bulk)          one thread starts the copy of a whole tile; a barrier counts its bytes
//!
//! time ->    one tile of shared memory              four tiles of shared memory
//!            copy 0 | work 0 | copy 1 | work 1      copy 0 1 2 | copy 3 | copy 4 | copy 5
//!            memory is idle during "work"                      | work 0 | work 1 | work 2
//! ```
//!
//! 1. `registers_4`, `registers_8`, `registers_16`. The counter shows 4, 8 and 16 [sectors][sector]
//!    per load; wider loads need fewer instructions. What remains: the values pass through
//!    registers, and the block waits for its tile before it can begin with it.
//! 2. `async_4`, `async_8`, `async_16`. The idea: an [asynchronous copy] writes into shared memory
//!    by itself, so no registers hold the values. Copies of 16 bytes can also bypass the
//!    [L1 cache]. The counter shows the same sectors and the same [wavefronts][wavefront]. What
//!    remains: the block starts its copies and waits for all of them at once, so the waiting is as
//!    long as before.
//! 3. `pipelined`. The idea: keep four tiles in shared memory, and work on one while the copies of
//!    the next three are in flight. It costs 32 KiB of shared memory per block instead of 8 KiB.
//! 4. `bulk`. One thread starts one [bulk copy] of 8 KiB, and an [mbarrier], a [barrier] in shared
//!    memory that can count bytes, tells when they have arrived. It frees the other threads from
//!    computing addresses and starting copies. No lane loads anything, so there are no load
//!    requests to count. It needs compute capability 9.0.
//!
//! How many [bytes in flight] each way has, per multiprocessor. On an H200, 32 to 48 KiB are
//! needed:
//!
//! ```text
//! one tile     8 blocks x  8 KiB = 64 KiB at most, and none of a block while it works on its tile
//! four tiles   6 blocks x 24 KiB = 144 KiB at all times (6 x 32 KiB of shared memory)
//! ```
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | limited by |
//! |---|---|---|---|---|---|
//! | `registers_4` | each lane copies 4 bytes at a time through a register | 4 | 16 | 4 / 1 | loads in flight, instructions |
//! | `registers_8` | 8 bytes at a time into shared memory | 8 | 16 | 4 / 2 | loads in flight |
//! | `registers_16` | 16 bytes at a time | 16 | 16 | 4 / 4 | loads in flight |
//! | `async_4` | `cp.async` of 4 bytes at a time (sm_80) | 4 | 16 | 4 / 1 | copies in flight, instructions |
//! | `async_8` | 8 bytes at a time (sm_80) | 8 | 16 | 4 / 2 | copies in flight |
//! | `async_16` | 16 bytes at a time, bypassing L1 (sm_80) | 16 | 16 | 4 / 4 | copies in flight |
//! | `pipelined` | four tiles of shared memory: three are being copied while the block works on one (sm_80) | 16 | 16 | 4 / 4 | device memory |
//! | `bulk` | one thread starts the copy of each whole tile (sm_90) | none | 16 | 4 / none | device memory |
//!
//! Expected: the [minimum time] is that of a plain copy: every word is read once and written once,
//! 8 B x n. `registers_4` (0.547 ms), `registers_8` (0.543 ms), `registers_16` (0.545 ms),
//! `async_4` (0.549 ms), `async_8` (0.541 ms) and `async_16` (0.543 ms) are nearly equal: 8 blocks
//! per multiprocessor work at different times and cover each other's waiting. `pipelined` (0.534
//! ms) and `bulk` (0.532 ms) come close to a plain copy. The sweep over n shows the same without
//! that help: with few blocks each must hide its own waiting, and the last two variants take 53 %
//! (`bulk` at n=262144 / `registers_16` at n=262144) of the time of the others.
//!
//! The heart of `pipelined` in CUDA C++ (`<cuda_pipeline.h>`), four stages in a ring:
//!
//! ```cuda
//! __pipeline_memcpy_async(&ring[(tile + 3) % 4][i], &source[...], 16);   // async_copy::copy_16_bypass
//! __pipeline_commit();                                                   // async_copy::commit_group
//! __pipeline_wait_prior(2);                                              // async_copy::wait_group::<2>
//! __syncthreads();                                                       // now every thread may read `tile`
//! ```
//!
//! Common misconception: "asynchronous copies are faster". A copy takes as long as before. It
//! becomes useful if the program does something else during that time.
//!
//! Questions:
//! - What do the registers of an ordinary copy cost? `registers_16` needs 32 registers per thread
//!   and `async_16` needs 24. The 8 between them are the words of the tile that a thread holds while
//!   they are on their way: 2048 words / 256 threads = 8, one register each, from the start of the
//!   loads to the last store. With more words in flight it would be more. Here all warps fit either
//!   way: 65536 registers / 32 = 2048 threads, all that a multiprocessor holds. So nothing is gained.
//!   A kernel whose [occupancy] is limited by registers can run more warps with asynchronous copies,
//!   or have more bytes in flight with the same warps.
//! - Why is a barrier needed after waiting? A thread waits for its own copies only. The barrier
//!   tells it that the copies of all other threads have arrived as well.
//! - Why 16 bytes? It is the largest copy of one thread and the only size that can bypass L1. A
//!   warp copies 32 x 16 B / 32 B = 16 sectors with one instruction.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `registers_4` | 0.547 | 3927 | 92 | 1.00 |
//! | `registers_8` | 0.543 | 3955 | 92 | 1.01 |
//! | `registers_16` | 0.545 | 3939 | 92 | 1.00 |
//! | `async_4` | 0.549 | 3908 | 91 | 1.00 |
//! | `async_8` | 0.541 | 3967 | 93 | 1.01 |
//! | `async_16` | 0.543 | 3958 | 92 | 1.01 |
//! | `pipelined` | 0.534 | 4021 | 94 | 1.02 |
//! | `bulk` | 0.532 | 4034 | 94 | 1.03 |
//! | *nvcc pipelined* | 0.536 | 4009 | 94 | 1.02 |
//! | *nvcc bulk* | 0.533 | 4032 | 94 | 1.03 |
//! <!-- /measured -->
//!
//! Preconditions: arrays aligned to 16 bytes; any n. A last tile that is not whole is filled with
//! `cp.async` and the number of bytes to read, so that zeros are written after them, or with plain
//! loads.
//!
//! Source: CUDA C++ Best Practices Guide, "Asynchronous Copy from Global Memory to Shared Memory";
//! CUDA C++ Programming Guide, "Asynchronous Data Copies"; PTX ISA, `cp.async` and `cp.async.bulk`;
//! the bytes in flight: CUB's tuning, `arch_to_min_bytes_in_flight`.
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::mbarrier::Barrier;
use cuda_std::prelude::*;
use cuda_std::vector::{F32x2, F32x4};
use cuda_std::{async_copy, bulk_copy, mbarrier};

pub const THREADS_PER_BLOCK: u32 = 256;
/// Words of a tile.
pub const TILE: u32 = 2048;
/// Tiles of shared memory of a block of `pipelined` and `bulk`.
pub const STAGES: u32 = 4;
/// The distance in words between an element and its partner, a power of two: another warp loads it.
pub const APART: u32 = 128;
/// 16-byte vectors of a tile.
const VECTORS: u32 = TILE / 4;

/// The arrays, and the range of tiles `first..end` that this block computes.
struct BlockTiles {
    source: *const f32,
    target: *mut f32,
    n: u32,
    first: u32,
    end: u32,
    tid: u32,
}

impl BlockTiles {
    /// Gives each block an equal number of neighbouring tiles.
    #[inline(always)]
    fn new(source: *const f32, target: *mut f32, n: u32) -> Self {
        let tiles = n.div_ceil(TILE);
        let share = tiles.div_ceil(thread::grid_dim_x());
        let first = thread::block_idx_x() * share;
        let end = (first + share).min(tiles);
        Self { source, target, n, first, end, tid: thread::thread_idx_x() }
    }

    /// Returns whether the array holds the whole tile.
    #[inline(always)]
    fn is_whole(&self, number: u32) -> bool {
        (number + 1) * TILE <= self.n
    }

    /// Computes and stores the sums of the tile of this number, which is in `tile`.
    ///
    /// # Safety
    /// - `tile` holds it, with zeros beyond n.
    /// - All 16-byte aligned.
    #[inline(always)]
    unsafe fn finish(&self, number: u32, tile: *const f32) {
        let is_whole = self.is_whole(number);
        for step in 0..VECTORS / THREADS_PER_BLOCK {
            let word = (step * THREADS_PER_BLOCK + self.tid) * 4;
            let i = number * TILE + word;
            // SAFETY: word < TILE and 4 divides it, as it does APART; i + 3 < n where the tile is
            // whole, and each other index is compared with n.
            unsafe {
                let own = *tile.add(word as usize).cast::<F32x4>();
                let partner = *tile.add((word ^ APART) as usize).cast::<F32x4>();
                let sum = own + partner;
                if is_whole {
                    *self.target.add(i as usize).cast::<F32x4>() = sum;
                } else {
                    self.write(i, sum.x);
                    self.write(i + 1, sum.y);
                    self.write(i + 2, sum.z);
                    self.write(i + 3, sum.w);
                }
            }
        }
    }

    /// Writes element i, unless i is beyond the end of the array.
    ///
    /// # Safety
    /// - The target is valid for n elements.
    #[inline(always)]
    unsafe fn write(&self, i: u32, value: f32) {
        if i < self.n {
            // SAFETY: i < n.
            unsafe { *self.target.add(i as usize) = value };
        }
    }

    /// Fills `tile` with the tile of this number that is not whole, and with zeros beyond n.
    ///
    /// # Safety
    /// - `tile` is valid for a tile.
    /// - `number` is below `end`.
    #[inline(always)]
    unsafe fn fill_rest(&self, number: u32, tile: *mut f32) {
        let mut word = self.tid;
        while word < TILE {
            let i = number * TILE + word;
            // SAFETY: word < TILE, and i is compared with n.
            unsafe {
                *tile.add(word as usize) =
                    if i < self.n { *self.source.add(i as usize) } else { 0.0 };
            }
            word += THREADS_PER_BLOCK;
        }
    }

    /// Fills `tile` with the tile of this number through registers, `COUNT` values of type `T` per thread, all loaded
    /// before the first is stored.
    ///
    /// # Safety
    /// - As for [`BlockTiles::fill_rest`].
    /// - `COUNT` values of all threads are a tile.
    /// - Arrays aligned to `T`.
    #[inline(always)]
    unsafe fn fill_through_registers<T: Copy, const COUNT: usize>(
        &self,
        number: u32,
        tile: *mut f32,
    ) {
        const { assert!(COUNT * size_of::<T>() * THREADS_PER_BLOCK as usize == TILE as usize * 4) };
        // SAFETY: a whole tile is in the source; each value is in the tile.
        unsafe {
            if !self.is_whole(number) {
                return self.fill_rest(number, tile);
            }
            let source = self.source.add((number * TILE) as usize).cast::<T>();
            let place = |step: usize| step * THREADS_PER_BLOCK as usize + self.tid as usize;
            let values: [T; COUNT] = core::array::from_fn(|step| *source.add(place(step)));
            for (step, value) in values.into_iter().enumerate() {
                *tile.cast::<T>().add(place(step)) = value;
            }
        }
    }

    /// Starts the copies of the tile of this number into `tile`, `COUNT` values of type `T` per thread. `whole` copies one
    /// value; `part` copies its first bytes and writes zeros after them.
    ///
    /// # Safety
    /// - As for [`BlockTiles::fill_through_registers`].
    /// - Nobody accesses the tile until the copies have been waited for.
    #[cfg_attr(
        all(target_arch = "nvptx64", not(target_feature = "compute_80")),
        allow(dead_code, reason = "older processors have no asynchronous copies")
    )]
    #[inline(always)]
    unsafe fn start<T, const COUNT: u32>(
        &self,
        number: u32,
        tile: *mut f32,
        whole: impl Fn(*mut T, *const T),
        part: impl Fn(*mut T, *const T, u32),
    ) {
        let value_words = const { TILE / THREADS_PER_BLOCK / COUNT };
        const { assert!(TILE == THREADS_PER_BLOCK * COUNT * size_of::<T>() as u32 / 4) };
        let first = self.tid * value_words;
        // SAFETY: `first` and the steps stay below TILE.
        let target = unsafe { tile.add(first as usize) };
        // The last values of a tile may be beyond the array, where no byte is read.
        let source = self.source.wrapping_add((number * TILE + first) as usize);
        let place = |step: u32| {
            let words = (step * THREADS_PER_BLOCK * value_words) as usize;
            (target.wrapping_add(words).cast(), source.wrapping_add(words).cast())
        };
        if self.is_whole(number) {
            for step in 0..COUNT {
                let (target, source) = place(step);
                whole(target, source);
            }
        } else {
            for step in 0..COUNT {
                let (target, source) = place(step);
                let i = number * TILE + first + step * THREADS_PER_BLOCK * value_words;
                part(target, source, self.n.saturating_sub(i).min(value_words) * 4);
            }
        }
    }

    /// [`BlockTiles::start`] with 16 bytes per copy, bypassing L1.
    ///
    /// # Safety
    /// - As for [`BlockTiles::start`].
    #[cfg_attr(
        all(target_arch = "nvptx64", not(target_feature = "compute_80")),
        allow(dead_code, reason = "older processors have no asynchronous copies")
    )]
    #[inline(always)]
    unsafe fn start_16(&self, number: u32, tile: *mut f32) {
        // SAFETY: the caller's contract.
        unsafe {
            self.start::<F32x4, 2>(
                number,
                tile,
                |target, source| async_copy::copy_16_bypass(target, source),
                |target, source, bytes| {
                    async_copy::copy_16_bypass_zero_fill(target, source, bytes);
                },
            );
        }
    }

    /// Computes all tiles of this block, one after the other, in one tile of shared memory.
    ///
    /// # Safety
    /// - `tile` is shared memory for a tile.
    /// - All threads of the block call.
    /// - When `fill` returns, the values that this thread copies have arrived.
    #[inline(always)]
    unsafe fn one_by_one(&self, tile: *mut f32, fill: impl Fn(u32)) {
        for number in self.first..self.end {
            fill(number);
            thread::sync_threads();
            // SAFETY: all threads have filled the tile.
            unsafe { self.finish(number, tile) };
            // No thread fills the tile again while another still reads it.
            thread::sync_threads();
        }
    }
}

/// # Safety
/// - Any 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `source` and `target` 16-byte aligned and valid for `n` f32, not overlapping; `n` at most 2^31.
#[kernel(launch_bounds(THREADS_PER_BLOCK))]
pub unsafe fn async_copy_registers_4(source: *const f32, target: *mut f32, n: u32) {
    let tile = shared_array!(TILE_WORDS: [F32x4; VECTORS]).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: TILE_WORDS is a tile (launch contract for the rest).
    unsafe {
        work.one_by_one(tile, |number| work.fill_through_registers::<f32, 8>(number, tile));
    }
}

/// # Safety
/// - As for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK))]
pub unsafe fn async_copy_registers_8(source: *const f32, target: *mut f32, n: u32) {
    let tile = shared_array!(TILE_WORDS: [F32x4; VECTORS]).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: TILE_WORDS is a tile (launch contract for the rest).
    unsafe {
        work.one_by_one(tile, |number| work.fill_through_registers::<F32x2, 4>(number, tile));
    }
}

/// # Safety
/// - As for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK))]
pub unsafe fn async_copy_registers_16(source: *const f32, target: *mut f32, n: u32) {
    let tile = shared_array!(TILE_WORDS: [F32x4; VECTORS]).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: TILE_WORDS is a tile (launch contract for the rest).
    unsafe {
        work.one_by_one(tile, |number| work.fill_through_registers::<F32x4, 2>(number, tile));
    }
}

/// # Safety
/// - As for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn async_copy_async_4(source: *const f32, target: *mut f32, n: u32) {
    let tile = shared_array!(TILE_WORDS: [F32x4; VECTORS]).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: TILE_WORDS is a tile; the copies are waited for (launch contract for the rest).
    unsafe {
        work.one_by_one(tile, |number| {
            work.start::<f32, 8>(
                number,
                tile,
                |target, source| async_copy::copy_4(target, source),
                |target, source, bytes| async_copy::copy_4_zero_fill(target, source, bytes),
            );
            async_copy::wait_all();
        });
    }
}

/// # Safety
/// - As for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn async_copy_async_8(source: *const f32, target: *mut f32, n: u32) {
    let tile = shared_array!(TILE_WORDS: [F32x4; VECTORS]).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: TILE_WORDS is a tile; the copies are waited for (launch contract for the rest).
    unsafe {
        work.one_by_one(tile, |number| {
            work.start::<F32x2, 4>(
                number,
                tile,
                |target, source| async_copy::copy_8(target, source),
                |target, source, bytes| async_copy::copy_8_zero_fill(target, source, bytes),
            );
            async_copy::wait_all();
        });
    }
}

/// # Safety
/// - As for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn async_copy_async_16(source: *const f32, target: *mut f32, n: u32) {
    let tile = shared_array!(TILE_WORDS: [F32x4; VECTORS]).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: TILE_WORDS is a tile; the copies are waited for (launch contract for the rest).
    unsafe {
        work.one_by_one(tile, |number| {
            work.start_16(number, tile);
            async_copy::wait_all();
        });
    }
}

/// `STAGES` tiles of shared memory form a ring. While the block works on one tile, the copies of the next `STAGES -
/// 1` are in flight, one group of copies per tile.
///
/// # Safety
/// - As for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn async_copy_pipelined(source: *const f32, target: *mut f32, n: u32) {
    let ring = shared_array!(RING: [F32x4; STAGES * VECTORS]).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: a stage of the ring is a tile. A tile is read after its group has been waited for by
    // all threads, and its stage is filled again after all have read it: the barrier says both.
    unsafe {
        let stage = |number: u32| ring.add((number % STAGES * TILE) as usize);
        for tile in work.first..work.first + STAGES - 1 {
            if tile < work.end {
                work.start_16(tile, stage(tile));
            }
            // Waiting counts groups, so a tile that does not exist gets an empty one.
            async_copy::commit_group();
        }
        for tile in work.first..work.end {
            async_copy::wait_group::<{ STAGES - 2 }>();
            thread::sync_threads();
            let next = tile + STAGES - 1;
            if next < work.end {
                work.start_16(next, stage(next));
            }
            async_copy::commit_group();
            work.finish(tile, stage(tile));
        }
    }
}

/// # Safety
/// - As for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 90)]
pub unsafe fn async_copy_bulk(source: *const f32, target: *mut f32, n: u32) {
    let ring = shared_array!(RING: [F32x4; STAGES * VECTORS]).cast::<f32>();
    let arrived = shared_array!(ARRIVED: [Barrier; STAGES]);
    let work = BlockTiles::new(source, target, n);
    // SAFETY: as in `async_copy_pipelined`, with a phase of the stage's barrier for a group. A whole
    // tile is a multiple of 16 bytes; one that is not whole is filled by all threads instead.
    unsafe {
        let stage = |number: u32| ring.add((number % STAGES * TILE) as usize);
        let start = |number: u32| {
            if work.tid == 0 && number < work.end && work.is_whole(number) {
                let barrier = arrived.add((number % STAGES) as usize);
                mbarrier::arrive_expect(barrier, TILE * 4);
                let words = source.add((number * TILE) as usize);
                bulk_copy::global_to_shared(stage(number), words, TILE * 4, barrier);
            }
        };
        if work.tid == 0 {
            for index in 0..STAGES {
                mbarrier::init(arrived.add(index as usize), 1);
            }
            mbarrier::fence_init();
            for tile in work.first..work.first + STAGES - 1 {
                start(tile);
            }
        }
        // The other threads must not wait on a barrier before it is initialized.
        thread::sync_threads();
        for tile in work.first..work.end {
            if work.is_whole(tile) {
                let parity = (tile - work.first) / STAGES % 2;
                mbarrier::wait(arrived.add((tile % STAGES) as usize), parity);
            } else {
                work.fill_rest(tile, stage(tile));
            }
            thread::sync_threads();
            start(tile + STAGES - 1);
            work.finish(tile, stage(tile));
        }
    }
}
