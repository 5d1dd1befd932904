//! Tiles of A and B in shared memory, and the fragments that warps read from them.
//!
//! A row of a tile is `STEPS` elements of the inner dimension, 128 bytes: eight chunks of 16 bytes, which fill the 32
//! banks once. `ldmatrix` reads the same chunk of eight neighbouring rows at a time. If chunk `c` of each row lies at place
//! `c`, those are eight words of one group of four banks. Swizzled, it lies at place `c ^ (row % 8)`, and all
//! eight are in different banks.

use cuda_std::bf16;
use cuda_std::mma::{self, A, B, C};
use cuda_std::prelude::*;
use cuda_std::vector::F32x2;
use cuda_std::{async_copy, shared};

/// Rows of C that a block computes.
pub const ROWS: u32 = 128;
/// Columns of C that a block computes.
pub const COLUMNS: u32 = 256;
/// Steps of the inner dimension in a tile.
pub const STEPS: u32 = 64;
/// Threads of a block: 8 warps, each with 64 x 64 results.
pub const THREADS: u32 = 256;
/// Bytes of a row of a tile.
const PITCH: u32 = STEPS * 2;
/// Bytes of a stage: the tile of A, then the tile of B.
pub const STAGE_BYTES: u32 = (ROWS + COLUMNS) * PITCH;
/// Elements of a chunk: the 16 bytes that one copy moves.
const CHUNK: u32 = 8;
/// Rows of C, in tiles, that neighbouring blocks share: blocks that run concurrently compute a compact part of C, so
/// that they find each other's rows of A and B in L2.
const GROUP: u32 = 16;

/// The index of an element of a matrix, which may have more than 2^32 of them.
#[inline(always)]
pub fn at(row: u32, columns: u32, column: u32) -> usize {
    row as usize * columns as usize + column as usize
}

/// The first row and column of the tile of C that a block of a 1-D grid computes. Blocks go down `GROUP` tiles, then one
/// tile to the right, and so on; then come the next `GROUP` rows of tiles.
#[inline(always)]
pub fn first_of_block(block: u32, size: (u32, u32)) -> (u32, u32) {
    first_of_tile::<ROWS>(block, size)
}

/// The first row and column of a tile of `HEIGHT` x `COLUMNS`, in the same order.
#[inline(always)]
pub fn first_of_tile<const HEIGHT: u32>(tile: u32, (m, n): (u32, u32)) -> (u32, u32) {
    let high = GROUP * ROWS / HEIGHT;
    let (rows, columns) = (m.div_ceil(HEIGHT), n.div_ceil(COLUMNS));
    let group = tile / (high * columns);
    let within = tile - group * (high * columns);
    let height = (rows - group * high).min(high);
    ((group * high + within % height) * HEIGHT, within / height * COLUMNS)
}

/// Work of a block.
pub struct Work {
    a: *const bf16,
    b: *const bf16,
    m: u32,
    n: u32,
    k: u32,
    first: (u32, u32),
    thread: u32,
}

/// The sums of a warp: 4 x 8 tiles of 16 x 8 results.
pub type Sums = [[C<f32, 4>; 8]; 4];

/// A step's fragments of a warp: 64 rows of A and 64 columns of B, 16 steps of the inner dimension.
pub struct Fragments {
    a: [A<bf16, 8>; 4],
    b: [B<bf16, 4>; 8],
}

impl Work {
    /// The work of this block.
    #[inline(always)]
    pub fn new(a: *const bf16, b: *const bf16, (m, n, k): (u32, u32, u32)) -> Work {
        let first = first_of_block(thread::block_idx_x(), (m, n));
        Work { a, b, m, n, k, first, thread: thread::thread_idx_x() }
    }

    /// Returns whether all tiles of this block are whole. A copy that may fill with zeros takes twice the
    /// wavefronts, so blocks without edges make none.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        let (row, column) = self.first;
        row + ROWS <= self.m && column + COLUMNS <= self.n && self.k.is_multiple_of(STEPS)
    }

    /// Tiles along the inner dimension.
    #[inline(always)]
    fn tiles(&self) -> u32 {
        self.k.div_ceil(STEPS)
    }

    /// Starts the copies of some rows of tile `tile` of A or B: of those that `rounds` names, 32 each. What is beyond the
    /// matrix becomes zero, where tiles are not all `WHOLE`.
    ///
    /// # Safety
    /// - `source` is 16-byte aligned and valid for `rows` x `k` elements, 8 divides `k`.
    /// - Nobody uses the rows of `target`, shared memory, until the copies have been waited for.
    #[inline(always)]
    unsafe fn start_rows<const SWIZZLED: bool, const WHOLE: bool>(
        &self,
        (source, first_row, rows): (*const bf16, u32, u32),
        target: *mut u8,
        tile: u32,
        rounds: core::ops::Range<u32>,
    ) {
        let (row, chunk) = (self.thread / 8, self.thread % 8);
        let place = if SWIZZLED { chunk ^ (row % 8) } else { chunk };
        let step = tile * STEPS + chunk * CHUNK;
        let target = target.wrapping_add((row * PITCH + place * 16) as usize);
        let source = source.wrapping_add(at(first_row + row, self.k, step));
        for round in rounds {
            let target = target.wrapping_add((round * 32 * PITCH) as usize);
            let source = source.wrapping_add(at(round * 32, self.k, 0)).cast::<u8>();
            // SAFETY: the 16 bytes are in the matrix, or none is read; row and place are in the tile.
            unsafe {
                if WHOLE {
                    async_copy::copy_16_bypass(target, source);
                } else {
                    let is_there = first_row + row + round * 32 < rows && step < self.k;
                    let bytes = if is_there { 16 } else { 0 };
                    async_copy::copy_16_bypass_zero_fill(target, source, bytes);
                }
            }
        }
    }

    /// Starts a third of the copies of tile `tile` into a stage.
    ///
    /// # Safety
    /// - The matrices are valid, 16-byte aligned, and 8 divides `k`.
    /// - Nobody uses the stage until the copies have been waited for.
    /// - The block has `THREADS` threads.
    #[inline(always)]
    unsafe fn start_third<const SWIZZLED: bool, const WHOLE: bool>(
        &self,
        third: u32,
        tile: u32,
        stage: *mut u8,
    ) {
        let a = (self.a, self.first.0, self.m);
        let b = (self.b, self.first.1, self.n);
        let right = stage.wrapping_add((ROWS * PITCH) as usize);
        // SAFETY: the caller's contract; 4 rounds are the rows of A, 8 those of B.
        unsafe {
            match third {
                0 => {
                    self.start_rows::<SWIZZLED, WHOLE>(a, stage, tile, 0..2);
                    self.start_rows::<SWIZZLED, WHOLE>(b, right, tile, 0..2);
                }
                1 => {
                    self.start_rows::<SWIZZLED, WHOLE>(a, stage, tile, 2..4);
                    self.start_rows::<SWIZZLED, WHOLE>(b, right, tile, 2..4);
                }
                _ => self.start_rows::<SWIZZLED, WHOLE>(b, right, tile, 4..8),
            }
        }
    }

    /// Starts all copies of tile `tile` into a stage.
    ///
    /// # Safety
    /// - As for [`Work::start_third`].
    #[inline(always)]
    unsafe fn start<const SWIZZLED: bool, const WHOLE: bool>(&self, tile: u32, stage: *mut u8) {
        // SAFETY: the caller's contract.
        unsafe {
            self.start_third::<SWIZZLED, WHOLE>(0, tile, stage);
            self.start_third::<SWIZZLED, WHOLE>(1, tile, stage);
            self.start_third::<SWIZZLED, WHOLE>(2, tile, stage);
        }
    }

    /// The first row and column of this thread's warp in the tile of C: 2 x 4 warps.
    #[inline(always)]
    fn warp(&self) -> (u32, u32) {
        let warp = self.thread / 32;
        (warp / 4 * 64, warp % 4 * 64)
    }

    /// Reads the fragments of `step`, which counts 16 elements of the inner dimension, from a stage.
    ///
    /// # Safety
    /// - The stage has been filled.
    /// - `step` is below 4.
    /// - All lanes of the warp call this together.
    #[inline(always)]
    unsafe fn fragments<const SWIZZLED: bool>(&self, stage: *const u8, step: u32) -> Fragments {
        let lane = self.thread % 32;
        let (first_row, first_column) = self.warp();
        // `ldmatrix` gives register i the 8 x 8 matrix whose rows lanes 8 i to 8 i + 7 point at. Of A those are the upper
        // and the lower 8 rows, then both of the next 8 steps; of B 8 columns twice, then the next 8 columns.
        let (row, left_chunk) = (first_row + lane % 16, lane / 16);
        let (column, right_chunk) = (first_column + lane % 8 + lane / 16 * 8, lane / 8 % 2);
        let swizzle = if SWIZZLED { lane % 8 } else { 0 };
        let place = |chunk: u32| ((2 * step + chunk) ^ swizzle) * 16;
        let left = stage.wrapping_add((row * PITCH + place(left_chunk)) as usize);
        let right =
            stage.wrapping_add((ROWS * PITCH + column * PITCH + place(right_chunk)) as usize);
        // SAFETY: rows, columns and places are in the stage.
        unsafe {
            let a = |i: u32| A::from(mma::ldmatrix_x4(left.add((i * 16 * PITCH) as usize)));
            let b = |i: u32| {
                let [a, b, c, d] = mma::ldmatrix_x4(right.add((i * 16 * PITCH) as usize));
                (B::from([a, b]), B::from([c, d]))
            };
            let ((b0, b1), (b2, b3), (b4, b5), (b6, b7)) = (b(0), b(1), b(2), b(3));
            Fragments { a: [a(0), a(1), a(2), a(3)], b: [b0, b1, b2, b3, b4, b5, b6, b7] }
        }
    }

    /// The whole product of a block, by tiles that are loaded into one stage, one after the other.
    ///
    /// # Safety
    /// - As for [`Work::start_third`], with `STAGE_BYTES` of dynamic shared memory.
    /// - `c` as for [`Work::store`].
    #[inline(always)]
    pub unsafe fn one_by_one<const SWIZZLED: bool>(&self, c: *mut f32) {
        // SAFETY: the caller's contract.
        unsafe {
            if self.is_whole() {
                self.each_tile::<SWIZZLED, true>(c);
            } else {
                self.each_tile::<SWIZZLED, false>(c);
            }
        }
    }

    /// [`Work::one_by_one`] with tiles that are whole, or may not be.
    ///
    /// # Safety
    /// - As for [`Work::one_by_one`].
    #[inline(always)]
    unsafe fn each_tile<const SWIZZLED: bool, const WHOLE: bool>(&self, c: *mut f32) {
        let stage = shared::dynamic_shared_mem::<u8>();
        let mut sums = Sums::default();
        for tile in 0..self.tiles() {
            // SAFETY: the first barrier comes after all copies, the second after all reads.
            unsafe {
                self.start::<SWIZZLED, WHOLE>(tile, stage);
                async_copy::wait_all();
                thread::sync_threads();
                multiply(&self.fragments::<SWIZZLED>(stage, 0), &mut sums);
                multiply(&self.fragments::<SWIZZLED>(stage, 1), &mut sums);
                multiply(&self.fragments::<SWIZZLED>(stage, 2), &mut sums);
                multiply(&self.fragments::<SWIZZLED>(stage, 3), &mut sums);
                thread::sync_threads();
            }
        }
        // SAFETY: the caller's contract.
        unsafe { self.store(c, &sums) };
    }

    /// The whole product of a block with a ring of `STAGES` stages: while the warps multiply one tile, the copies of the
    /// next ones are in flight, and a warp reads the fragments of a step while it multiplies those of the step before.
    ///
    /// # Safety
    /// - As for [`Work::one_by_one`], with `STAGES` times as much shared memory.
    #[inline(always)]
    pub unsafe fn pipelined<const STAGES: u32, const PENDING: u32>(&self, c: *mut f32) {
        // SAFETY: the caller's contract.
        unsafe {
            if self.is_whole() {
                self.ring::<STAGES, PENDING, true>(c);
            } else {
                self.ring::<STAGES, PENDING, false>(c);
            }
        }
    }

    /// [`Work::pipelined`] with tiles that are whole, or may not be.
    ///
    /// # Safety
    /// - As for [`Work::pipelined`].
    #[inline(always)]
    unsafe fn ring<const STAGES: u32, const PENDING: u32, const WHOLE: bool>(&self, c: *mut f32) {
        const { assert!(PENDING == STAGES - 2) };
        let ring = shared::dynamic_shared_mem::<u8>();
        let stage = |number: u32| ring.wrapping_add((number * STAGE_BYTES) as usize);
        let tiles = self.tiles();
        let mut sums = Sums::default();
        // SAFETY: a tile is read after its group has been waited for by all threads, and its stage is filled again after
        // all have read it: the barrier says both. Groups are counted, so a tile that does not exist gets an empty one.
        unsafe {
            for tile in 0..STAGES - 1 {
                if tile < tiles {
                    self.start::<true, WHOLE>(tile, stage(tile));
                }
                async_copy::commit_group();
            }
            async_copy::wait_group::<PENDING>();
            thread::sync_threads();
            let mut now = self.fragments::<true>(ring, 0);
            let mut full = 0;
            let mut empty = STAGES - 1;
            for tile in 0..tiles {
                let (words, target) = (stage(full), stage(empty));
                let coming = tile + STAGES - 1;
                macro_rules! steps {
                    ($($step:literal)*) => { $(
                        let next = self.fragments::<true>(words, $step);
                        if coming < tiles {
                            self.start_third::<true, WHOLE>($step - 1, coming, target);
                        }
                        multiply(&now, &mut sums);
                        now = next;
                    )* };
                }
                steps!(1 2 3);
                async_copy::commit_group();
                async_copy::wait_group::<PENDING>();
                thread::sync_threads();
                empty = full;
                full = if full == STAGES - 1 { 0 } else { full + 1 };
                // After the last tile nobody uses what is read, so it is read where there is something.
                let next =
                    self.fragments::<true>(if tile + 1 < tiles { stage(full) } else { words }, 0);
                multiply(&now, &mut sums);
                now = next;
            }
            self.store(c, &sums);
        }
    }

    /// Stores the sums of this thread. The four lanes of a row write a whole sector.
    ///
    /// # Safety
    /// - `c` is 8-byte aligned and valid for `m * n` f32, of which no other block writes this block's.
    #[inline(always)]
    unsafe fn store(&self, c: *mut f32, sums: &Sums) {
        let (first_row, first_column) = self.warp();
        let (first_row, first_column) = (self.first.0 + first_row, self.first.1 + first_column);
        let store = |row: u32, [s0, s1, s2, s3, s4, s5, s6, s7]: [C<f32, 4>; 8]| {
            let store = |column: u32, sums: C<f32, 4>| {
                let place = (first_row + row, first_column + column);
                // SAFETY: the caller's contract.
                unsafe { store_16x8(c, (self.m, self.n), place, sums) };
            };
            store(0, s0);
            store(8, s1);
            store(16, s2);
            store(24, s3);
            store(32, s4);
            store(40, s5);
            store(48, s6);
            store(56, s7);
        };
        store(0, sums[0]);
        store(16, sums[1]);
        store(32, sums[2]);
        store(48, sums[3]);
    }
}

/// Adds the products of a step to the sums of a warp.
///
/// # Safety
/// - All lanes of the warp call this together.
#[inline(always)]
unsafe fn multiply(fragments: &Fragments, sums: &mut Sums) {
    // Written out: LLVM does not unroll loops around calls that it may not copy.
    macro_rules! products {
        ($i:literal: $($j:literal)*) => { $(
            sums[$i][$j] =
                mma::m16n8k16_f32_bf16(fragments.a[$i], fragments.b[$j], sums[$i][$j]);
        )* };
    }
    // SAFETY: the caller's contract.
    unsafe {
        products!(0: 0 1 2 3 4 5 6 7);
        products!(1: 7 6 5 4 3 2 1 0);
        products!(2: 0 1 2 3 4 5 6 7);
        products!(3: 7 6 5 4 3 2 1 0);
    }
}

/// Stores this lane's part of 16 x 8 results that begin at a row and a column of C: two neighbours of a row, and two eight
/// rows below.
///
/// # Safety
/// - `c` is 8-byte aligned and valid for `m * n` f32.
/// - Nobody else writes these results.
#[inline(always)]
pub unsafe fn store_16x8(
    c: *mut f32,
    (m, n): (u32, u32),
    (row, column): (u32, u32),
    C([upper, upper_next, lower, lower_next]): C<f32, 4>,
) {
    let lane = thread::thread_idx_x() % 32;
    let (row, column) = (row + lane / 4, column + lane % 4 * 2);
    let store = |row: u32, value: f32, next: f32| {
        if row < m && column < n {
            let target = c.wrapping_add(at(row, n, column));
            // SAFETY: rows and columns are compared with those of C; two are stored where rows are multiples of 8 bytes,
            // and then the next column exists, too.
            unsafe {
                if n.is_multiple_of(2) {
                    *target.cast::<F32x2>() = F32x2::new(value, next);
                } else {
                    *target = value;
                    if column + 1 < n {
                        *target.add(1) = next;
                    }
                }
            }
        }
    };
    store(row, upper, upper_next);
    store(row + 8, lower, lower_next);
}
