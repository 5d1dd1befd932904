//! # Asynchronous copies: from global to shared memory without a stop in registers
//!
//! Shows: a copy that bypasses the registers costs none, and can be under way while the block works.
//!
//! `target[i] = source[i] + source[i ^ 128]`, where what lies beyond the end counts as 0. A block takes
//! tile after tile of 2048 words through shared memory, because each sum needs a word that another warp
//! brought in. Only the way in differs:
//!
//! ```text
//! registers   LDG -> register -> STS         the thread waits for the load, then stores
//! async       LDGSTS                         one instruction, no register; the thread waits for it later
//! pipelined   LDGSTS, three tiles ahead      ... and works on a tile meanwhile
//! bulk        UBLKCP, by one thread          one instruction per tile; a barrier counts its bytes
//! ```
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | limited by |
//! |---|---|---|---|---|---|
//! | `registers_4` | through registers, 4 bytes per lane | 4 | 16 | 4 / 1 | loads in flight, instructions |
//! | `registers_8` | 8 bytes per lane on the way in | 8 | 16 | 4 / 2 | loads in flight |
//! | `registers_16` | 16 bytes per lane | 16 | 16 | 4 / 4 | loads in flight |
//! | `async_4` | `cp.async`, again of 4 bytes (sm_80) | 4 | 16 | 4 / 1 | copies in flight, instructions |
//! | `async_8` | 8 bytes per lane (sm_80) | 8 | 16 | 4 / 2 | copies in flight |
//! | `async_16` | 16 bytes per lane, past L1 (sm_80) | 16 | 16 | 4 / 4 | copies in flight |
//! | `pipelined` | four tiles of shared memory: three are on their way while one is worked on (sm_80) | 16 | 16 | 4 / 4 | device memory |
//! | `bulk` | one thread has each tile copied whole (sm_90) | none | 16 | 4 / none | device memory |
//!
//! The floor is the time of a copy: each word is read once and written once, 8 B x n / copy bandwidth.
//! To reach it, bandwidth x latency of bytes must be under way at any time: 32 to 48 KiB per
//! multiprocessor on a GPU with HBM3. A block of the first six variants has one tile, 8 KiB, under way,
//! and none while it works on it: 8 blocks of 256 threads make at most 64 KiB. A block of the last two
//! has 24 KiB under way at all times, and the 32 KiB that it takes leave room for 6: 144 KiB.
//!
//! Expected: 4 bytes per lane cost four times the instructions of 16 and the most time; `async_16`
//! needs fewer registers than `registers_16` on the way in; `pipelined` and `bulk` come close to the
//! copy. The steps are small where 8 blocks per multiprocessor cover each other's waits; the sweep over
//! n goes down to 2 blocks on the whole device, where each has to hide its own and only the last two
//! variants can.
//! The engine behind `bulk` moves whole tiles and no lane sees a load, so there are no requests to count.
//!
//! Preconditions: arrays 16-byte aligned; any n. A last tile that is not whole is filled by `cp.async`
//! with a source size, which writes zeros behind it, or by plain loads.
//!
//! Source: CUDA C++ Best Practices Guide, "Asynchronous Copy from Global Memory to Shared Memory"; CUDA
//! C++ Programming Guide, "Asynchronous Data Copies"; PTX ISA, `cp.async` and `cp.async.bulk`; the
//! bytes in flight: CUB's tuning, `arch_to_min_bytes_in_flight`.

use core::mem::MaybeUninit;
use cuda_std::mbarrier::Barrier;
use cuda_std::prelude::*;
use cuda_std::vector::{F32x2, F32x4};
use cuda_std::{async_copy, bulk_copy, mbarrier};

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Words of a tile.
pub const TILE: u32 = 2048;
/// Tiles of shared memory of a block of `pipelined` and `bulk`.
pub const STAGES: u32 = 4;
/// Words between an element and its partner, a power of two: the partner is another warp's.
pub const APART: u32 = 128;
/// Quads of a tile.
const QUADS: u32 = TILE / 4;

/// The arrays, and the tiles that are this block's.
struct BlockTiles {
    source: *const f32,
    target: *mut f32,
    n: u32,
    first: u32,
    end: u32,
    tid: u32,
}

impl BlockTiles {
    /// An equal share of the tiles for each block, neighbouring ones.
    #[inline(always)]
    fn new(source: *const f32, target: *mut f32, n: u32) -> Self {
        let tiles = n.div_ceil(TILE);
        let share = tiles.div_ceil(thread::grid_dim_x());
        let first = thread::block_idx_x() * share;
        let end = (first + share).min(tiles);
        Self { source, target, n, first, end, tid: thread::thread_idx_x() }
    }

    /// Whether the array holds the whole tile.
    #[inline(always)]
    fn is_whole(&self, tile: u32) -> bool {
        (tile + 1) * TILE <= self.n
    }

    /// Writes the sums of a tile that lies in `words`.
    ///
    /// # Safety
    /// `words` holds the tile, with zeros beyond n; all 16-byte aligned.
    #[inline(always)]
    unsafe fn finish(&self, tile: u32, words: *const f32) {
        let is_whole = self.is_whole(tile);
        for step in 0..QUADS / THREADS_PER_BLOCK {
            let word = (step * THREADS_PER_BLOCK + self.tid) * 4;
            let i = tile * TILE + word;
            // SAFETY: word < TILE and 4 divides it, as it does APART; i + 3 < n where the tile is
            // whole, and each other index is compared with n.
            unsafe {
                let own = *words.add(word as usize).cast::<F32x4>();
                let partner = *words.add((word ^ APART) as usize).cast::<F32x4>();
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

    /// Writes one element, if there is one.
    ///
    /// # Safety
    /// The target is valid for n elements.
    #[inline(always)]
    unsafe fn write(&self, i: u32, value: f32) {
        if i < self.n {
            // SAFETY: i < n.
            unsafe { *self.target.add(i as usize) = value };
        }
    }

    /// Fills `words` with a tile that is not whole, zeros beyond n.
    ///
    /// # Safety
    /// `words` valid for a tile; the tile is below `end`.
    #[inline(always)]
    unsafe fn fill_rest(&self, tile: u32, words: *mut f32) {
        let mut word = self.tid;
        while word < TILE {
            let i = tile * TILE + word;
            // SAFETY: word < TILE, and i is compared with n.
            unsafe {
                *words.add(word as usize) =
                    if i < self.n { *self.source.add(i as usize) } else { 0.0 };
            }
            word += THREADS_PER_BLOCK;
        }
    }

    /// Fills `words` with a tile, `COUNT` pieces `T` per thread, all loaded before the first is
    /// stored.
    ///
    /// # Safety
    /// As for [`BlockTiles::fill_rest`]; `COUNT` pieces of all threads are a tile; arrays aligned to `T`.
    #[inline(always)]
    unsafe fn fill_through_registers<T: Copy, const COUNT: usize>(
        &self,
        tile: u32,
        words: *mut f32,
    ) {
        const { assert!(COUNT * size_of::<T>() * THREADS_PER_BLOCK as usize == TILE as usize * 4) };
        // SAFETY: a whole tile lies in the source; each piece lies in the tile.
        unsafe {
            if !self.is_whole(tile) {
                return self.fill_rest(tile, words);
            }
            let source = self.source.add((tile * TILE) as usize).cast::<T>();
            let place = |step: usize| step * THREADS_PER_BLOCK as usize + self.tid as usize;
            let pieces: [T; COUNT] = core::array::from_fn(|step| *source.add(place(step)));
            for (step, piece) in pieces.into_iter().enumerate() {
                *words.cast::<T>().add(place(step)) = piece;
            }
        }
    }

    /// Starts copies of a tile into `words`, `COUNT` pieces `T` per thread: `whole` copies one, `part`
    /// its first bytes and zeros behind them.
    ///
    /// # Safety
    /// As for [`BlockTiles::fill_through_registers`]; nobody accesses the words until the copies have been
    /// waited for.
    #[cfg_attr(
        all(target_arch = "nvptx64", not(target_feature = "compute_80")),
        allow(dead_code, reason = "older processors have no asynchronous copies")
    )]
    #[inline(always)]
    unsafe fn start<T, const COUNT: u32>(
        &self,
        tile: u32,
        words: *mut f32,
        whole: impl Fn(*mut T, *const T),
        part: impl Fn(*mut T, *const T, u32),
    ) {
        let piece_words = const { TILE / THREADS_PER_BLOCK / COUNT };
        const { assert!(TILE == THREADS_PER_BLOCK * COUNT * size_of::<T>() as u32 / 4) };
        let first = self.tid * piece_words;
        // SAFETY: `first` and the steps stay below TILE.
        let target = unsafe { words.add(first as usize) };
        // The last pieces of a tile may lie beyond the array, where no byte is read.
        let source = self.source.wrapping_add((tile * TILE + first) as usize);
        let place = |step: u32| {
            let words = (step * THREADS_PER_BLOCK * piece_words) as usize;
            (target.wrapping_add(words).cast(), source.wrapping_add(words).cast())
        };
        if self.is_whole(tile) {
            for step in 0..COUNT {
                let (target, source) = place(step);
                whole(target, source);
            }
        } else {
            for step in 0..COUNT {
                let (target, source) = place(step);
                let i = tile * TILE + first + step * THREADS_PER_BLOCK * piece_words;
                part(target, source, self.n.saturating_sub(i).min(piece_words) * 4);
            }
        }
    }

    /// [`BlockTiles::start`] with pieces of 16 bytes, past L1.
    ///
    /// # Safety
    /// As for [`BlockTiles::start`].
    #[cfg_attr(
        all(target_arch = "nvptx64", not(target_feature = "compute_80")),
        allow(dead_code, reason = "older processors have no asynchronous copies")
    )]
    #[inline(always)]
    unsafe fn start_16(&self, tile: u32, words: *mut f32) {
        // SAFETY: the caller's contract.
        unsafe {
            self.start::<F32x4, 2>(
                tile,
                words,
                |target, source| async_copy::copy_16_bypass(target, source),
                |target, source, bytes| {
                    async_copy::copy_16_bypass_zero_fill(target, source, bytes);
                },
            );
        }
    }

    /// Takes tile after tile through one tile of shared memory.
    ///
    /// # Safety
    /// `words` is shared memory for a tile; all threads of the block call; when `fill` returns, what
    /// this thread brings into the words has arrived.
    #[inline(always)]
    unsafe fn one_by_one(&self, words: *mut f32, fill: impl Fn(u32)) {
        for tile in self.first..self.end {
            fill(tile);
            thread::sync_threads();
            // SAFETY: all threads have filled the tile.
            unsafe { self.finish(tile, words) };
            // Nobody fills what another still reads.
            thread::sync_threads();
        }
    }
}

/// Naive: each lane loads 4 bytes at a time into registers and stores them to shared memory.
///
/// # Safety
/// Launch contract: any 1-D grid of `THREADS_PER_BLOCK` threads; `source` and `target` 16-byte aligned and valid
/// for `n` f32, not overlapping; `n` at most 2^31.
#[kernel(launch_bounds(THREADS_PER_BLOCK))]
pub unsafe fn async_copy_registers_4(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[F32x4; QUADS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: WORDS is a tile (launch contract for the rest).
    unsafe {
        work.one_by_one(words, |tile| work.fill_through_registers::<f32, 8>(tile, words));
    }
}

/// Change from `registers_4`: 8 bytes per lane and access.
///
/// # Safety
/// Launch contract: as for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK))]
pub unsafe fn async_copy_registers_8(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[F32x4; QUADS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: WORDS is a tile (launch contract for the rest).
    unsafe {
        work.one_by_one(words, |tile| work.fill_through_registers::<F32x2, 4>(tile, words));
    }
}

/// Change from `registers_8`: 16 bytes per lane and access.
///
/// # Safety
/// Launch contract: as for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK))]
pub unsafe fn async_copy_registers_16(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[F32x4; QUADS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: WORDS is a tile (launch contract for the rest).
    unsafe {
        work.one_by_one(words, |tile| work.fill_through_registers::<F32x4, 2>(tile, words));
    }
}

/// Change from `registers_16`: `cp.async` copies past the registers, 4 bytes at a time.
///
/// # Safety
/// Launch contract: as for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn async_copy_async_4(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[F32x4; QUADS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: WORDS is a tile; the copies are waited for (launch contract for the rest).
    unsafe {
        work.one_by_one(words, |tile| {
            work.start::<f32, 8>(
                tile,
                words,
                |target, source| async_copy::copy_4(target, source),
                |target, source, bytes| async_copy::copy_4_zero_fill(target, source, bytes),
            );
            async_copy::wait_all();
        });
    }
}

/// Change from `async_4`: 8 bytes per copy.
///
/// # Safety
/// Launch contract: as for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn async_copy_async_8(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[F32x4; QUADS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: WORDS is a tile; the copies are waited for (launch contract for the rest).
    unsafe {
        work.one_by_one(words, |tile| {
            work.start::<F32x2, 4>(
                tile,
                words,
                |target, source| async_copy::copy_8(target, source),
                |target, source, bytes| async_copy::copy_8_zero_fill(target, source, bytes),
            );
            async_copy::wait_all();
        });
    }
}

/// Change from `async_8`: 16 bytes per copy, which alone can bypass L1.
///
/// # Safety
/// Launch contract: as for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn async_copy_async_16(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[F32x4; QUADS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: WORDS is a tile; the copies are waited for (launch contract for the rest).
    unsafe {
        work.one_by_one(words, |tile| {
            work.start_16(tile, words);
            async_copy::wait_all();
        });
    }
}

/// Change from `async_16`: `STAGES` tiles of shared memory in a ring; while the block works on one,
/// the copies of the next `STAGES - 1` are under way, a group for each.
///
/// # Safety
/// Launch contract: as for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn async_copy_pipelined(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut RING: MaybeUninit<[F32x4; (STAGES * QUADS) as usize]> = MaybeUninit::uninit();
    let ring = (&raw mut RING).cast::<f32>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: a stage of the ring is a tile. A tile is read after its group has been waited for by
    // all threads, and its stage is filled again after all have read it: the barrier says both.
    unsafe {
        let stage = |tile: u32| ring.add((tile % STAGES * TILE) as usize);
        for tile in work.first..work.first + STAGES - 1 {
            if tile < work.end {
                work.start_16(tile, stage(tile));
            }
            // Groups are counted, so that a tile that is missing has an empty one.
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

/// Change from `pipelined`: the first thread has each tile copied whole, and the arrival of its bytes
/// completes a phase of the stage's barrier.
///
/// # Safety
/// Launch contract: as for [`async_copy_registers_4`].
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 90)]
pub unsafe fn async_copy_bulk(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut RING: MaybeUninit<[F32x4; (STAGES * QUADS) as usize]> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut ARRIVED: MaybeUninit<[Barrier; STAGES as usize]> = MaybeUninit::uninit();
    let ring = (&raw mut RING).cast::<f32>();
    let arrived = (&raw mut ARRIVED).cast::<Barrier>();
    let work = BlockTiles::new(source, target, n);
    // SAFETY: as in `async_copy_pipelined`, with a phase of the stage's barrier for a group. A whole
    // tile is a multiple of 16 bytes; one that is not whole is filled by all threads instead.
    unsafe {
        let stage = |tile: u32| ring.add((tile % STAGES * TILE) as usize);
        let start = |tile: u32| {
            if work.tid == 0 && tile < work.end && work.is_whole(tile) {
                let barrier = arrived.add((tile % STAGES) as usize);
                mbarrier::arrive_expect(barrier, TILE * 4);
                let words = source.add((tile * TILE) as usize);
                bulk_copy::global_to_shared(stage(tile), words, TILE * 4, barrier);
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
        // The others wait on barriers that exist.
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
