//! Tiles of `register_2d` and the variants after it: their fragments in registers, and their way into shared memory.

use super::sums::{MOST_COLUMNS, NO_SUMS, ROWS, Sums, multiply};
use cuda_std::async_copy;
use cuda_std::prelude::*;
use cuda_std::shared;
use cuda_std::vector::F32x4;

/// The index of an element of a matrix, which may have more than 2^32 of them.
#[inline(always)]
pub fn at(row: u32, columns: u32, column: u32) -> usize {
    row as usize * columns as usize + column as usize
}

/// The form of a tile: how much of C a block computes, and which part of it a thread.
///
/// A thread's rows are two groups of four, and its columns are groups of four, so that four words come with one 16-byte
/// read. Blocks have `ROWS / 8 * COLUMNS / COLUMNS_PER_THREAD` threads.
pub trait Tile {
    /// Rows of C per block.
    const ROWS: u32;
    /// Columns of C per block.
    const COLUMNS: u32;
    /// Columns of C per thread: 8 or 16.
    const COLUMNS_PER_THREAD: u32;
    /// Steps of the inner dimension in a tile.
    const STEPS: u32;
    /// From a thread's first group of rows to its second.
    const ROW_DISTANCE: u32;
    /// From a thread's group of columns to the next.
    const COLUMN_DISTANCE: u32;
    /// The row and the column of a thread's first groups.
    fn place(thread: u32) -> (u32, u32);

    const THREADS: u32 = Self::ROWS / 8 * Self::COLUMNS / Self::COLUMNS_PER_THREAD;
    /// Words from one step of A to the next in shared memory. A is transposed there: a step is a column of A. Four words
    /// more than a column, so that the lanes that store a row hit different banks.
    const PITCH: u32 = Self::ROWS + 4;
    /// Words of a stage: the tile of A, then the tile of B.
    const STAGE_WORDS: u32 = Self::STEPS * (Self::PITCH + Self::COLUMNS);
}

/// 128 x 128 results per block and 8 x 8 per thread, 16 x 16 threads; a thread's rows and columns are neighbours.
pub struct Blocked;

impl Tile for Blocked {
    const ROWS: u32 = 128;
    const COLUMNS: u32 = 128;
    const COLUMNS_PER_THREAD: u32 = 8;
    const STEPS: u32 = 8;
    const ROW_DISTANCE: u32 = 4;
    const COLUMN_DISTANCE: u32 = 4;

    #[inline(always)]
    fn place(thread: u32) -> (u32, u32) {
        (thread / 16 * 8, thread % 16 * 8)
    }
}

/// [`Blocked`], but a thread's rows and columns are groups of four, half a tile apart.
pub struct Square;

impl Tile for Square {
    const ROWS: u32 = 128;
    const COLUMNS: u32 = 128;
    const COLUMNS_PER_THREAD: u32 = 8;
    const STEPS: u32 = 8;
    const ROW_DISTANCE: u32 = 64;
    const COLUMN_DISTANCE: u32 = 64;

    #[inline(always)]
    fn place(thread: u32) -> (u32, u32) {
        (thread / 16 * 4, thread % 16 * 4)
    }
}

/// 128 x 256 results per block, 64 x 64 per warp and 8 x 16 per thread.
pub struct Warps;

impl Tile for Warps {
    const ROWS: u32 = 128;
    const COLUMNS: u32 = 256;
    const COLUMNS_PER_THREAD: u32 = 16;
    const STEPS: u32 = 16;
    const ROW_DISTANCE: u32 = 32;
    const COLUMN_DISTANCE: u32 = 16;

    /// The lanes of a warp are 8 x 4. The two lowest bits of the lane number are one of the row and one of the column:
    /// then of any two lanes that differ in one of them, either the rows or the columns are equal, and a 16-byte read of a
    /// warp takes two wavefronts instead of four.
    #[inline(always)]
    fn place(thread: u32) -> (u32, u32) {
        let (warp, lane) = (thread / 32, thread % 32);
        let row = (lane & 1) | (lane >> 1 & 2) | (lane >> 1 & 4);
        let column = (lane >> 1 & 1) | (lane >> 3 & 2);
        (warp % 2 * 64 + row * 4, warp / 2 * 64 + column * 4)
    }
}

/// A block's part of C = A B, as its threads see it.
#[derive(Clone, Copy)]
pub struct Work {
    a: *const f32,
    b: *const f32,
    /// Rows and columns of C.
    m: u32,
    n: u32,
    k: u32,
    /// The block's first row and column of C.
    pub first: (u32, u32),
    thread: u32,
}

impl Work {
    /// The work of this block.
    #[inline(always)]
    pub fn new<T: Tile>(a: *const f32, b: *const f32, (m, n, k): (u32, u32, u32)) -> Work {
        let first = (thread::block_idx_y() * T::ROWS, thread::block_idx_x() * T::COLUMNS);
        Work { a, b, m, n, k, first, thread: thread::thread_idx_x() }
    }

    /// Returns the source of the tile of B of this number and step, at a column of this block, and the number of words
    /// of four exist there. Rows of B that are not there count as no words.
    #[inline(always)]
    fn in_b(&self, step: u32, column: u32) -> (*const f32, u32) {
        let words = if step < self.k { self.n.saturating_sub(column).min(4) } else { 0 };
        // What has no words may be beyond the array, where nothing is read.
        (self.b.wrapping_add(at(step, self.n, column)), words)
    }

    /// Tiles along the inner dimension.
    #[inline(always)]
    pub fn tiles<T: Tile>(&self) -> u32 {
        self.k.div_ceil(T::STEPS)
    }

    /// Returns whether rows of B and C begin at multiples of 16 bytes.
    #[inline(always)]
    fn is_aligned(&self) -> bool {
        self.n.is_multiple_of(4)
    }

    /// Loads tile `number` into a stage word by word, with zeros beyond the matrices.
    ///
    /// # Safety
    /// - As for [`Work::load`].
    #[inline(always)]
    pub unsafe fn load_words<T: Tile>(&self, number: u32, stage: *mut f32) {
        let first_step = number * T::STEPS;
        let (row, step) = (self.thread / T::STEPS, self.thread % T::STEPS);
        for round in 0..const { T::ROWS * T::STEPS / T::THREADS } {
            let row = row + round * const { T::THREADS / T::STEPS };
            let (source_row, source_step) = (self.first.0 + row, first_step + step);
            let is_there = source_row < self.m && source_step < self.k;
            let source = self.a.wrapping_add(at(source_row, self.k, source_step));
            // SAFETY: loads are guarded; row and step are in the tile.
            unsafe {
                let word = if is_there { *source } else { 0.0 };
                *stage.add((step * T::PITCH + row) as usize) = word;
            }
        }
        let (step, column) = (self.thread / T::COLUMNS, self.thread % T::COLUMNS);
        for round in 0..const { T::COLUMNS * T::STEPS / T::THREADS } {
            let step = step + round * const { T::THREADS / T::COLUMNS };
            let (source_step, source_column) = (first_step + step, self.first.1 + column);
            let is_there = source_step < self.k && source_column < self.n;
            let source = self.b.wrapping_add(at(source_step, self.n, source_column));
            // SAFETY: loads are guarded; step and column are in the tile.
            unsafe {
                let word = if is_there { *source } else { 0.0 };
                *stage.add((T::STEPS * T::PITCH + step * T::COLUMNS + column) as usize) = word;
            }
        }
    }

    /// Loads tile `number` into a stage: 16 bytes per load where rows of A and B are aligned, word by word elsewhere, and
    /// zeros beyond the matrices.
    ///
    /// # Safety
    /// - The matrices are 16-byte aligned and valid.
    /// - `stage` has `T::STAGE_WORDS` words of shared memory, which no other thread uses.
    /// - The block has `T::THREADS` threads.
    #[inline(always)]
    pub unsafe fn load<T: Tile>(&self, number: u32, stage: *mut f32) {
        const { assert!(T::ROWS * T::STEPS == 4 * T::THREADS) };
        const { assert!(T::COLUMNS * T::STEPS == 4 * T::THREADS) };
        let row = self.thread % T::ROWS;
        let step = self.thread / T::ROWS * 4;
        let (source_row, source_step) = (self.first.0 + row, number * T::STEPS + step);
        let source = self.a.wrapping_add(at(source_row, self.k, source_step));
        let words = if source_row < self.m { self.k.saturating_sub(source_step).min(4) } else { 0 };
        // SAFETY: `words` words exist from `source` on, and they are aligned where k is a multiple of four; the steps and
        // rows of the targets are in the tile.
        unsafe {
            let values = quad(source, words, self.k.is_multiple_of(4));
            let target = stage.add((step * T::PITCH + row) as usize);
            *target = values[0];
            *target.add(T::PITCH as usize) = values[1];
            *target.add(2 * T::PITCH as usize) = values[2];
            *target.add(3 * T::PITCH as usize) = values[3];
        }
        let (step, column) = (self.thread / (T::COLUMNS / 4), self.thread % (T::COLUMNS / 4) * 4);
        let (source, words) = self.in_b(number * T::STEPS + step, self.first.1 + column);
        // SAFETY: `words` words exist from `source` on; 4 divides the index of the target, which is in the tile.
        unsafe {
            let values = quad(source, words, self.is_aligned());
            let target = stage.add((T::STEPS * T::PITCH + step * T::COLUMNS + column) as usize);
            *target.cast::<F32x4>() = F32x4::from_array(values);
        }
    }

    /// Starts the asynchronous copies of tile `number` into a stage. A is transposed on the way, word by word; B comes in
    /// 16 bytes per copy where its rows are aligned. Beyond the inner dimension there are zeros; beyond the rows and
    /// columns, anything.
    ///
    /// # Safety
    /// - As for [`Work::load`].
    /// - Nobody uses the stage until the copies have been waited for.
    #[inline(always)]
    pub unsafe fn start<T: Tile>(&self, number: u32, stage: *mut f32) {
        let first_step = number * T::STEPS;
        let (row, step) = (self.thread / T::STEPS, self.thread % T::STEPS);
        let target = stage.wrapping_add((step * T::PITCH + row) as usize);
        let last_row = self.m - 1 - self.first.0;
        let bytes = if first_step + step < self.k { 4 } else { 0 };
        let source = self.a.wrapping_add(at(self.first.0, self.k, first_step + step));
        for round in 0..const { T::ROWS * T::STEPS / T::THREADS } {
            let distance = const { T::THREADS / T::STEPS } * round;
            let source_row = (row + distance).min(last_row);
            let source = source.wrapping_add(source_row as usize * self.k as usize);
            // SAFETY: the row is in A, and so is the step unless no byte is read; row and step are in the tile.
            unsafe {
                async_copy::copy_4_zero_fill(target.add(distance as usize), source, bytes);
            }
        }
        let column = self.thread % (T::COLUMNS / 4) * 4;
        let step = self.thread / (T::COLUMNS / 4);
        let target =
            stage.wrapping_add((T::STEPS * T::PITCH + step * T::COLUMNS + column) as usize);
        let steps = const { T::THREADS / (T::COLUMNS / 4) };
        // Columns are clamped: those that are not there take the last ones' words.
        if self.is_aligned() && first_step + T::STEPS <= self.k {
            let column = (self.first.1 + column).min(self.n - 4);
            let source = self.b.wrapping_add(at(first_step + step, self.n, column));
            for round in 0..const { T::STEPS / (T::THREADS / (T::COLUMNS / 4)) } {
                let source = source.wrapping_add(at(round * steps, self.n, 0));
                // SAFETY: all steps of this tile are in B, and so are the four columns, which are aligned.
                unsafe {
                    let target = target.add((round * steps * T::COLUMNS) as usize);
                    async_copy::copy_16_bypass(target, source);
                }
            }
        } else {
            for round in 0..const { T::STEPS / (T::THREADS / (T::COLUMNS / 4)) } {
                let source_step = first_step + step + round * steps;
                let bytes = if source_step < self.k { 4 } else { 0 };
                for word in 0..4 {
                    let column = (self.first.1 + column + word).min(self.n - 1);
                    let source = self.b.wrapping_add(at(source_step, self.n, column));
                    // SAFETY: the column is in B, and so is the step unless no byte is read.
                    unsafe {
                        let target = target.add((round * steps * T::COLUMNS + word) as usize);
                        async_copy::copy_4_zero_fill(target, source, bytes);
                    }
                }
            }
        }
    }

    /// Stores the sums of this thread, with 16-byte stores where rows of C are aligned.
    ///
    /// # Safety
    /// - `c` is 16-byte aligned and valid for `m * n` f32, which no other block writes.
    #[inline(always)]
    pub unsafe fn store<T: Tile>(&self, c: *mut f32, sums: &Sums) {
        let (row, column) = T::place(self.thread);
        let (first_row, first_column) = (self.first.0 + row, self.first.1 + column);
        // One, but the compiler cannot know. A 16-byte store needs four neighbouring registers, and without a product in
        // between, the sums themselves would have to be such neighbours: the registers of a multiply-add would then share
        // a bank, and it would take two cycles.
        let one = if self.k == 0 { 0.0 } else { 1.0 };
        let store = |row: u32, group: u32, values: [f32; 4]| {
            let column = first_column + group * T::COLUMN_DISTANCE;
            if row < self.m {
                let target = c.wrapping_add(at(row, self.n, column));
                // SAFETY: what is stored is in C, and aligned where 16 bytes are.
                unsafe {
                    store_quad(target, self.n.saturating_sub(column), self.is_aligned(), values)
                };
            }
        };
        macro_rules! rows {
            ($group:literal; $first:literal $second:literal $third:literal $fourth:literal) => {
                rows!($group; $first $second $third $fourth; 0 0, 1 1, 2 2, 3 3);
                rows!($group; $first $second $third $fourth; 4 T::ROW_DISTANCE, 5 T::ROW_DISTANCE + 1,
                    6 T::ROW_DISTANCE + 2, 7 T::ROW_DISTANCE + 3);
            };
            ($group:literal; $first:literal $second:literal $third:literal $fourth:literal;
                $($i:literal $row:expr),*) => { $(
                store(first_row + $row, $group, [
                    sums[$first][$i] * one,
                    sums[$second][$i] * one,
                    sums[$third][$i] * one,
                    sums[$fourth][$i] * one,
                ]);
            )* };
        }
        rows!(0; 0 1 2 3);
        rows!(1; 4 5 6 7);
        if T::COLUMNS_PER_THREAD == 16 {
            rows!(2; 8 9 10 11);
            rows!(3; 12 13 14 15);
        }
    }
}

impl Work {
    /// Stores the sums of this thread transposed: where [`Work::store`] writes a row, this writes a column.
    ///
    /// # Safety
    /// - As for [`Work::store`].
    /// - C is square.
    #[inline(always)]
    pub unsafe fn store_transposed<T: Tile>(&self, c: *mut f32, sums: &Sums) {
        let (row, column) = T::place(self.thread);
        let (first_row, first_column) = (self.first.0 + row, self.first.1 + column);
        let store = |column: u32, [a, b, c0, d, e, f, g, h]: [f32; ROWS]| {
            if column < self.n {
                for (row, values) in
                    [(first_row, [a, b, c0, d]), (first_row + T::ROW_DISTANCE, [e, f, g, h])]
                {
                    let target = c.wrapping_add(at(column, self.m, row));
                    // SAFETY: what is stored is in C, and aligned where 16 bytes are.
                    unsafe {
                        store_quad(target, self.m.saturating_sub(row), self.is_aligned(), values);
                    }
                }
            }
        };
        macro_rules! columns {
            ($($index:literal $distance:expr),*) => { $(
                store(first_column + $distance, sums[$index]);
            )* };
        }
        columns!(0 0, 1 1, 2 2, 3 3);
        columns!(4 T::COLUMN_DISTANCE, 5 T::COLUMN_DISTANCE + 1, 6 T::COLUMN_DISTANCE + 2,
            7 T::COLUMN_DISTANCE + 3);
    }
}

/// Four words, of which `words` exist, with one 16-byte load where they are aligned; zeros for the others.
#[inline(always)]
unsafe fn quad(source: *const f32, words: u32, is_aligned: bool) -> [f32; 4] {
    // SAFETY: the caller says how many words exist and whether they are aligned.
    unsafe {
        if is_aligned && words == 4 {
            return (*source.cast::<F32x4>()).to_array();
        }
        let word = |index: u32| if index < words { *source.add(index as usize) } else { 0.0 };
        [word(0), word(1), word(2), word(3)]
    }
}

/// Stores the first `words` of four, with one 16-byte store where they are aligned and all exist.
#[inline(always)]
unsafe fn store_quad(target: *mut f32, words: u32, is_aligned: bool, values: [f32; 4]) {
    // SAFETY: the caller says how many words exist and whether they are aligned.
    unsafe {
        if is_aligned {
            if words > 0 {
                *target.cast::<F32x4>() = F32x4::from_array(values);
            }
            return;
        }
        let store = |index: u32, value: f32| {
            if index < words {
                *target.add(index as usize) = value;
            }
        };
        store(0, values[0]);
        store(1, values[1]);
        store(2, values[2]);
        store(3, values[3]);
    }
}

/// A step's words of A and B for this thread.
pub type Fragments = ([f32; ROWS], [f32; MOST_COLUMNS]);

/// Reads the words of a step from a stage, 16 bytes at a time.
///
/// # Safety
/// - `stage` is a stage that has been filled, `step` is below `T::STEPS`, `place` is `T::place` of a thread.
#[inline(always)]
pub unsafe fn fragments<T: Tile>(stage: *const f32, step: u32, place: (u32, u32)) -> Fragments {
    let left = stage.wrapping_add((step * T::PITCH + place.0) as usize);
    let right = stage.wrapping_add((T::STEPS * T::PITCH + step * T::COLUMNS + place.1) as usize);
    // SAFETY: the groups of four rows and columns are in the tile, and 4 divides their indices.
    let group = |words: *const f32, distance: u32| unsafe {
        (*words.add(distance as usize).cast::<F32x4>()).to_array()
    };
    let [a, b, c, d] = group(left, 0);
    let [e, f, g, h] = group(left, T::ROW_DISTANCE);
    let [i, j, k, l] = group(right, 0);
    let [m, n, o, p] = group(right, T::COLUMN_DISTANCE);
    let ([q, r, s, t], [u, v, w, x]) = if T::COLUMNS_PER_THREAD == 16 {
        (group(right, 2 * T::COLUMN_DISTANCE), group(right, 3 * T::COLUMN_DISTANCE))
    } else {
        ([0.0; 4], [0.0; 4])
    };
    ([a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x])
}

/// The whole product of a block with a ring of `STAGES` stages, at least three: while the block multiplies one tile, the
/// copies of the next ones are in flight, and a thread reads the words of a step while it multiplies those of the
/// step before, across tiles too.
///
/// # Safety
/// - As for [`Work::load`], with `STAGES * T::STAGE_WORDS` words of dynamic shared memory.
/// - `c` as for [`Work::store`].
#[inline(always)]
pub unsafe fn pipelined<T: Tile, const STAGES: u32, const OTHERS: u32, const PENDING: u32>(
    work: &Work,
    c: *mut f32,
) {
    const { assert!(OTHERS == STAGES - 1 && PENDING == STAGES - 2) };
    let ring = shared::dynamic_shared_mem::<f32>();
    let stage = |number: u32| ring.wrapping_add((number * T::STAGE_WORDS) as usize);
    let place = T::place(work.thread);
    let tiles = work.tiles::<T>();
    let mut sums = NO_SUMS;
    // SAFETY: a tile is read after its group has been waited for by all threads, and its stage is filled again after all
    // have read it: the barrier says both. Groups are counted, so a tile that does not exist gets an empty one.
    unsafe {
        for tile in 0..STAGES {
            if tile < tiles {
                work.start::<T>(tile, stage(tile));
            }
            async_copy::commit_group();
        }
        async_copy::wait_group::<OTHERS>();
        thread::sync_threads();
        let mut next = fragments::<T>(ring, 0, place);
        let mut full = 0;
        for tile in 0..tiles {
            let words = stage(full);
            // Written out, so that the words of a step can be read while those of another are used.
            macro_rules! steps {
                ($($step:literal)*) => { $(
                    let now = next;
                    next = fragments::<T>(words, $step, place);
                    multiply(&now.0, &now.1, &mut sums, T::COLUMNS_PER_THREAD);
                )* };
            }
            steps!(1 2 3 4 5 6 7);
            if T::STEPS == 16 {
                steps!(8 9 10 11 12 13 14 15);
            }
            async_copy::wait_group::<PENDING>();
            thread::sync_threads();
            full = if full == STAGES - 1 { 0 } else { full + 1 };
            let now = next;
            // After the last tile nobody uses what is read, so it is read where there is something.
            let following = if tile + 1 < tiles { stage(full) } else { words };
            next = fragments::<T>(following, 0, place);
            if tile + STAGES < tiles {
                work.start::<T>(tile + STAGES, words);
            }
            async_copy::commit_group();
            multiply(&now.0, &now.1, &mut sums, T::COLUMNS_PER_THREAD);
        }
        work.store::<T>(c, &sums);
    }
}
