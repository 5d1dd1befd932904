//! # Transpose: reads and writes that cannot both be coalesced, unless shared memory reorders them
//!
//! Shows: a tile in [shared memory] makes both global reads and writes [coalesced]; it only pays
//! once the [bank conflicts][bank conflict] that it brings are gone.
//!
//! The surprise: the textbook solution, `tiled` (1.214 ms), is slower than simply reading columns,
//! `column_read` (1.122 ms), until its bank conflicts are gone, `padded` (0.605 ms).
//!
//! The task is `target[column * rows + row] = source[row * columns + column]`. Words that are
//! neighbours in a source row are `rows` words apart in the target. A [warp] of 32 [lanes][lane]
//! can follow the rows of the source or those of the target, but not both, so one side of a plain
//! copy is not coalesced: its 32 lanes touch 32 different [sectors][sector] of 32 bytes and use 4
//! bytes of each.
//!
//! Shared memory helps, because it has no sectors. It is a small memory inside each of the GPU's
//! multiprocessors, divided into 32 [banks][bank]. Each bank delivers one word of 4 bytes per
//! [wavefront], a step of one clock cycle. The 32 lanes get their 32 words in one wavefront if
//! these are in 32 different banks. If n different words of one request (one load or store of a
//! warp) are in the same bank, the request takes n wavefronts: an n-way bank conflict.
//!
//! ```text
//! 1. rows in: lane = column                2. columns out: lane = row
//!    tile[0]  x x x x .. x  <- one request    tile[0]  x . . . .. .    ^
//!    tile[1]  . . . . .. .                    tile[1]  x . . . .. .    | one request
//!    ..                                       ..       x . . . .. .    |
//!    tile[31] . . . . .. .                    tile[31] x . . . .. .    v
//!
//! bank of tile[row][column]                          the 32 lanes that read a column (row = 0 .. 31)
//!   tiled     (32 row + column) % 32 = column              all in one bank: 32 wavefronts
//!   padded    (33 row + column) % 32 = (row + column) % 32 32 different banks: 1 wavefront
//!   swizzled  column ^ row                                 32 different banks: 1 wavefront
//! ```
//!
//! 1. `column_write`. The counter shows 4 sectors per load and 32 per store: 36 sectors where a
//!    copy has 4 + 4 = 8, because every store touches 32 sectors and writes 4 bytes of each. A
//!    sector that is written in part also has to be completed in the [L2 cache], which all
//!    multiprocessors share, before device memory can take it.
//! 2. `column_read` moves the 32 sectors to the loads. Reading is more forgiving. A [block], a
//!    group of warps on one multiprocessor, has 8 warps here, and they read 8 neighbouring columns.
//!    So the [L1 cache] of the multiprocessor still holds a sector when the other seven warps want
//!    its other seven words. What remains: 32 sectors per load through L1.
//! 3. `tiled`. Each block copies a 32 x 32 tile row by row into shared memory, waits at a [barrier]
//!    until the tile is complete, and writes the tile's columns as rows of the target. Now both
//!    sides have 4 sectors per request. It costs the barrier, and the counter of shared memory
//!    shows the rest: 32 wavefronts per load, because a column of the tile is in one bank.
//! 4. `padded` stores 33 words per row, of which one is never used. This [padding] shifts each row
//!    by one bank, so a column touches 32 different banks. It costs 32 x 4 B = 128 B per block.
//! 5. `swizzled` gets the same without the extra bytes: row r keeps its column c at place c ^ r.
//!    This [swizzle] costs one exclusive or per address. What remains in both: each lane moves only
//!    4 bytes at a time, so too few [bytes in flight], as in the pattern `coalescing`.
//! 6. `vectorized`. Each thread loads four rows of 16 bytes, transposes this 4 x 4 sub-tile in
//!    [registers][register], and stores 16 bytes at a time. It costs registers, and so [occupancy].
//!    The 4 wavefronts per request are no conflict: 32 x 16 B = 512 B, and a wavefront carries at
//!    most 32 x 4 B = 128 B.
//! 7. `block_order` changes only which block takes which tile. Blocks that run concurrently now
//!    write adjacent parts of the same target rows, instead of parts of rows that are far apart.
//! 8. `async_copy` copies the tile from global to shared memory without passing through registers;
//!    the 4 x 4 transpose happens on the way out. It gains nothing here: the block still waits for
//!    the whole tile before it writes any of it.
//! 9. `tensor_copy`. One thread has the Tensor Memory Accelerator copy the whole tile in, and later out: nobody computes
//!    an address in global memory, compares it with the size or swizzles it. The hardware leaves out what is beyond the
//!    matrix, and permutes the chunks of 16 bytes of each row of 128 bytes. Threads only transpose sub-tiles between two tiles in
//!    shared memory. It costs a second tile, 16 KiB, and a 2-way bank conflict of the stores: 8 lanes store in 4
//!    rows of the target, of which two each have the same swizzle. It gains nothing here, either: what remains is that a
//!    block first waits for its tile and then for its copies out, and 33 KiB for each block leave room for only six.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | limited by |
//! |---|---|---|---|---|---|
//! | `column_write` | lanes follow a source row; their stores are `rows` words apart | 4 | 32 | none | partly written sectors |
//! | `column_read` | lanes follow a target row instead; their loads are `columns` words apart | 32 | 4 | none | sectors through L1 |
//! | `tiled` | a tile in shared memory: both sides coalesced, a column in one bank | 4 | 4 | 32 / 1 | shared memory banks |
//! | `padded` | tile rows of 33 words: a column is spread over 32 banks | 4 | 4 | 1 / 1 | bytes in flight, barrier |
//! | `swizzled` | tile rows of 32 words, the columns of each row permuted by the row number | 4 | 4 | 1 / 1 | bytes in flight, barrier |
//! | `vectorized` | 16 bytes per lane; each thread transposes a 4 x 4 sub-tile in registers | 16 | 16 | 4 / 4 | device memory |
//! | `block_order` | concurrent blocks write adjacent parts of the same target rows | 16 | 16 | 4 / 4 | device memory |
//! | `async_copy` | `cp.async` fills the tile, bypassing registers; the 4 x 4 transpose comes after it (sm_80) | 16 | 16 | 4 / 4 | device memory |
//! | `tensor_copy` | boxes are copied in and out by the Tensor Memory Accelerator, which also swizzles (sm_90) | none | none | 4 / 8 | device memory |
//!
//! Expected: `column_write` (4.225 ms) is by far the slowest. `column_read` (1.122 ms) beats
//! `tiled` (1.214 ms). `padded` (0.605 ms) and `swizzled` (0.607 ms) are equal.
//! `vectorized` (0.529 ms) has four times the bytes per request, and `block_order` (0.515 ms) and
//! `async_copy` (0.516 ms) come close to a plain copy.
//!
//! The key kernel in CUDA C++; only the 33 separates it from `tiled`:
//!
//! ```cuda
//! __shared__ float tile[32][33];                                  // 32 x 8 threads, 4 rows per thread
//! tile[threadIdx.y + step][threadIdx.x] = source[(row + step) * columns + column];  // lanes: a tile row
//! __syncthreads();
//! target[(new_row + step) * rows + new_column] = tile[threadIdx.x][threadIdx.y + step];   // a column
//! ```
//!
//! Common misconception: "a tile in shared memory makes a transpose fast". It moves the strided
//! access from global to shared memory. The access must still be repaired there.
//!
//! Common misconception: "higher occupancy is faster". `vectorized` and the variants after it run
//! with fewer resident warps than `padded`, and are faster, because each warp has more bytes in
//! flight.
//!
//! Questions:
//! - Why is `tiled` slower than `column_read`? Both read columns, one in shared memory and one
//!   through L1, and in current multiprocessors these share one memory. 32 wavefronts for 32 words
//!   are one word per clock cycle. 2^28 words / 132 multiprocessors = 2.03 million cycles, and
//!   `tiled` (1.214 ms) lasts 2.40 million cycles (`tiled` x clock of `tiled`): the conflicts fill
//!   85 % of it (2^28 / 132 / `tiled` / clock of `tiled`). `column_read` does not pay for filling
//!   a tile and for waiting at a barrier; `tiled` pays for both and keeps the problem.
//! - Why 32? A warp has 32 lanes, and shared memory has 32 banks, so one word for each lane fits in
//!   one wavefront. The tile has 32 rows and columns, so that a warp covers one of them.
//! - Why 33? With rows of 32 words, going down one row adds 32, and 32 % 32 = 0: the bank stays the
//!   same. With 33, it adds 33 % 32 = 1: the next bank. 34 would use every second bank: 2-way
//!   conflicts.
//! - Why are writes of 32 sectors slower than reads of 32 sectors? A read can find its sector in
//!   L1, where a neighbouring warp has brought it. A write goes through to L2 each time, with 4 of
//!   32 bytes.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `column_write` | 4.225 | 508 | 12 | 1.00 |
//! | `column_read` | 1.122 | 1914 | 45 | 3.77 |
//! | `tiled` | 1.214 | 1769 | 41 | 3.48 |
//! | `padded` | 0.605 | 3549 | 83 | 6.98 |
//! | `swizzled` | 0.607 | 3540 | 83 | 6.97 |
//! | `vectorized` | 0.529 | 4057 | 95 | 7.98 |
//! | `block_order` | 0.515 | 4173 | 97 | 8.21 |
//! | `async_copy` | 0.516 | 4165 | 97 | 8.19 |
//! | `tensor_copy` | 0.525 | 4092 | 95 | 8.05 |
//! | *nvcc padded* | 0.601 | 3574 | 83 | 7.03 |
//! | *cuBLAS geam* | 0.536 | 4003 | 93 | 7.88 |
//! <!-- /measured -->
//!
//! Preconditions: `vectorized`, `block_order` and `async_copy` need rows and columns that are
//! multiples of 4, and buffers aligned to 16 bytes. A grid has at most 65535 blocks in y, so the
//! dimension along y (the columns for `column_read`, `block_order` and `async_copy`, else the rows)
//! has at most 65535 tiles.
//!
//! Source: CUDA C++ Best Practices Guide, "Shared Memory in Matrix Multiplication (C=AA^T)"; NVIDIA
//! developer blog, "An Efficient Matrix Transpose in CUDA C/C++".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::bulk_copy;
use cuda_std::mbarrier::{self, Barrier};
use cuda_std::prelude::*;
use cuda_std::ptr::shared_address;
use cuda_std::tensor_copy::{self, TensorMap};
use cuda_std::vector::F32x4;

/// Rows and columns of a tile of the scalar variants, and threads per block in x.
pub const TILE: u32 = 32;
/// Threads per block in y; each thread moves `TILE / BLOCK_ROWS` words.
pub const BLOCK_ROWS: u32 = 8;
/// Rows and columns of a tile of the 16-byte variants.
pub const VECTORIZED_TILE: u32 = 64;
/// Threads per block in x and y of the 16-byte variants: each has a 4 x 4 sub-tile.
pub const VECTORIZED_THREADS: u32 = VECTORIZED_TILE / 4;

/// Origin of the block's tile in the matrix, and the thread's place in the block. Neighbouring
/// lanes have neighbouring x.
struct TilePosition {
    column: u32,
    row: u32,
    x: u32,
    y: u32,
}

impl TilePosition {
    /// For a grid whose neighbouring blocks take tiles below each other in the source.
    #[inline(always)]
    fn down_first(tile: u32) -> Self {
        Self {
            column: thread::block_idx_y() * tile,
            row: thread::block_idx_x() * tile,
            x: thread::thread_idx_x(),
            y: thread::thread_idx_y(),
        }
    }

    /// For a grid whose neighbouring blocks take tiles beside each other in the source.
    #[inline(always)]
    fn new(tile: u32) -> Self {
        Self {
            column: thread::block_idx_x() * tile,
            row: thread::block_idx_y() * tile,
            x: thread::thread_idx_x(),
            y: thread::thread_idx_y(),
        }
    }
}

/// The index of an element in a matrix of `width` columns.
#[inline(always)]
fn flat_index(row: u32, column: u32, width: u32) -> usize {
    row as usize * width as usize + column as usize
}

/// # Safety
/// - 2-D grid of `TILE` x `BLOCK_ROWS` threads, one `TILE` x `TILE` tile per block, covering `columns` in x and
///   `rows` in y.
/// - `source` and `target` valid for `rows * columns` f32, not overlapping.
#[kernel]
pub unsafe fn transpose_column_write(
    source: *const f32,
    target: *mut f32,
    rows: u32,
    columns: u32,
) {
    let TilePosition { column, row, x, y } = TilePosition::new(TILE);
    let column = column + x;
    for step in 0..TILE / BLOCK_ROWS {
        let row = row + y + step * BLOCK_ROWS;
        if row < rows && column < columns {
            // SAFETY: row and column are in the matrix (launch contract).
            unsafe {
                *target.add(flat_index(column, row, rows)) =
                    *source.add(flat_index(row, column, columns))
            };
        }
    }
}

/// # Safety
/// - As for [`transpose_column_write`], but covering `rows` in x and `columns` in y.
#[kernel]
pub unsafe fn transpose_column_read(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    let TilePosition { column, row, x, y } = TilePosition::down_first(TILE);
    let row = row + x;
    for step in 0..TILE / BLOCK_ROWS {
        let column = column + y + step * BLOCK_ROWS;
        if row < rows && column < columns {
            // SAFETY: row and column are in the matrix (launch contract).
            unsafe {
                *target.add(flat_index(column, row, rows)) =
                    *source.add(flat_index(row, column, columns))
            };
        }
    }
}

/// Transposes a tile through shared memory; `word(row, column)` is the index of an element in the tile.
///
/// # Safety
/// - As for [`transpose_column_write`].
/// - `tile` is shared memory in which `word` is in bounds and injective for rows and columns below `TILE`.
#[inline(always)]
unsafe fn through_tile(
    source: *const f32,
    target: *mut f32,
    rows: u32,
    columns: u32,
    tile: *mut f32,
    word: impl Fn(u32, u32) -> u32,
) {
    let TilePosition { column, row, x, y } = TilePosition::new(TILE);
    // SAFETY: rows and columns are checked against the matrix; `word` stays in the tile. Every word
    // read after the barrier was written before it: both loops skip what is outside the matrix.
    unsafe {
        for step in 0..TILE / BLOCK_ROWS {
            let tile_row = y + step * BLOCK_ROWS;
            if row + tile_row < rows && column + x < columns {
                *tile.add(word(tile_row, x) as usize) =
                    *source.add(flat_index(row + tile_row, column + x, columns));
            }
        }
        thread::sync_threads();
        for step in 0..TILE / BLOCK_ROWS {
            let tile_column = y + step * BLOCK_ROWS;
            if row + x < rows && column + tile_column < columns {
                *target.add(flat_index(column + tile_column, row + x, rows)) =
                    *tile.add(word(x, tile_column) as usize);
            }
        }
    }
}

/// Each block stages a tile in shared memory and writes it back transposed, so that global loads and stores are both
/// coalesced. All 32 lanes that read a column of the tile hit the same bank: a 32-way bank conflict.
///
/// # Safety
/// - As for [`transpose_column_write`].
#[kernel]
pub unsafe fn transpose_tiled(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    // SAFETY: row * TILE + column < TILE * TILE (launch contract for the rest).
    unsafe {
        through_tile(
            source,
            target,
            rows,
            columns,
            shared_array!(WORDS: [f32; TILE * TILE]),
            |row, column| row * TILE + column,
        );
    }
}

/// # Safety
/// - As for [`transpose_column_write`].
#[kernel]
pub unsafe fn transpose_padded(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    // SAFETY: row * (TILE + 1) + column < TILE * (TILE + 1) (launch contract for the rest).
    unsafe {
        through_tile(
            source,
            target,
            rows,
            columns,
            shared_array!(WORDS: [f32; TILE * (TILE + 1)]),
            |row, column| row * (TILE + 1) + column,
        );
    }
}

/// # Safety
/// - As for [`transpose_column_write`].
#[kernel]
pub unsafe fn transpose_swizzled(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    // SAFETY: row ^ column < TILE, a permutation of the row's columns (launch contract for the rest).
    unsafe {
        through_tile(
            source,
            target,
            rows,
            columns,
            shared_array!(WORDS: [f32; TILE * TILE]),
            |row, column| row * TILE + (column ^ row),
        );
    }
}

/// The transpose of a 4 x 4 sub-tile held in registers.
#[inline(always)]
fn transposed_4x4([a, b, c, d]: [F32x4; 4]) -> [F32x4; 4] {
    [
        F32x4::new(a.x, b.x, c.x, d.x),
        F32x4::new(a.y, b.y, c.y, d.y),
        F32x4::new(a.z, b.z, c.z, d.z),
        F32x4::new(a.w, b.w, c.w, d.w),
    ]
}

/// Transposes a tile of 4 x 4 sub-tiles through shared memory, with 16-byte accesses throughout.
///
/// # Safety
/// - As for [`transpose_vectorized`].
/// - `tile` is shared memory for a tile.
/// - `place` is the thread's own.
#[inline(always)]
unsafe fn through_sub_tiles(
    source: *const f32,
    target: *mut f32,
    rows: u32,
    columns: u32,
    tile: *mut F32x4,
    TilePosition { column, row, x, y }: TilePosition,
) {
    // SAFETY: 4 divides rows and columns, so a sub-tile whose first word is in the matrix is wholly in
    // it, 16-byte aligned; a tile row holds VECTORIZED_THREADS vectors and the swizzle permutes them. A vector
    // read after the barrier was written before it: both sides skip what is outside the matrix.
    unsafe {
        let (sub_tile_row, sub_tile_column) = (row + y * 4, column + x * 4);
        if sub_tile_row < rows && sub_tile_column < columns {
            let mut sub_tile = [F32x4::splat(0.0); 4];
            for (line, vector) in sub_tile.iter_mut().enumerate() {
                let first =
                    source.add(flat_index(sub_tile_row + line as u32, sub_tile_column, columns));
                *vector = *first.cast::<F32x4>();
            }
            for (line, vector) in transposed_4x4(sub_tile).iter().enumerate() {
                // Row `x * 4 + line` of the transposed tile; its vectors are permuted by x.
                *tile.add(((x * 4 + line as u32) * VECTORIZED_THREADS + (y ^ x)) as usize) =
                    *vector;
            }
        }
        thread::sync_threads();
        for step in 0..4 {
            let line = y + step * VECTORIZED_THREADS;
            if column + line < columns && row + x * 4 < rows {
                let vector = *tile.add((line * VECTORIZED_THREADS + (x ^ (line / 4))) as usize);
                *target.add(flat_index(column + line, row + x * 4, rows)).cast::<F32x4>() = vector;
            }
        }
    }
}

/// Each thread loads four rows of four words, transposes this 4 x 4 sub-tile in registers, and stores 16 bytes at a
/// time. The swizzle permutes vectors of 16 bytes instead of words.
///
/// # Safety
/// - 2-D grid of `VECTORIZED_THREADS` x `VECTORIZED_THREADS` threads, one `VECTORIZED_TILE` x `VECTORIZED_TILE` tile
///   per block, covering `columns` in x and `rows` in y.
/// - 4 divides both.
/// - `source` and `target` 16-byte aligned and valid for `rows * columns` f32, not overlapping.
#[kernel(launch_bounds(VECTORIZED_THREADS * VECTORIZED_THREADS))]
pub unsafe fn transpose_vectorized(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    let place = TilePosition::new(VECTORIZED_TILE);
    // SAFETY: the launch contract; VECTORS holds a tile.
    unsafe {
        through_sub_tiles(
            source,
            target,
            rows,
            columns,
            shared_array!(VECTORS: [F32x4; VECTORIZED_TILE * VECTORIZED_THREADS]),
            place,
        )
    };
}

/// # Safety
/// - As for [`transpose_vectorized`], but covering `rows` in x and `columns` in y.
#[kernel(launch_bounds(VECTORIZED_THREADS * VECTORIZED_THREADS))]
pub unsafe fn transpose_block_order(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    let place = TilePosition::down_first(VECTORIZED_TILE);
    // SAFETY: the launch contract; VECTORS holds a tile.
    unsafe {
        through_sub_tiles(
            source,
            target,
            rows,
            columns,
            shared_array!(VECTORS: [F32x4; VECTORIZED_TILE * VECTORIZED_THREADS]),
            place,
        )
    };
}

/// # Safety
/// - As for [`transpose_block_order`].
#[kernel(launch_bounds(VECTORIZED_THREADS * VECTORIZED_THREADS), min_compute_capability = 80)]
pub unsafe fn transpose_async_copy(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    let tile = shared_array!(VECTORS: [F32x4; VECTORIZED_TILE * VECTORIZED_THREADS]);
    let TilePosition { column, row, x, y } = TilePosition::down_first(VECTORIZED_TILE);
    // SAFETY: as in `through_sub_tiles`; the copies are waited for before the barrier that publishes
    // them.
    unsafe {
        for step in 0..4 {
            let line = y + step * VECTORIZED_THREADS;
            if row + line < rows && column + x * 4 < columns {
                cuda_std::async_copy::copy_16(
                    tile.add((line * VECTORIZED_THREADS + (x ^ (line / 4))) as usize),
                    source.add(flat_index(row + line, column + x * 4, columns)).cast::<F32x4>(),
                );
            }
        }
        cuda_std::async_copy::commit_group();
        cuda_std::async_copy::wait_all();
        thread::sync_threads();
        // Thread (x, y) takes the 4 x 4 sub-tile of tile rows 4x.. and tile columns 4y..: 16 lanes
        // store 256 neighbouring bytes of a target row.
        let (sub_tile_row, sub_tile_column) = (row + x * 4, column + y * 4);
        if sub_tile_row < rows && sub_tile_column < columns {
            let mut sub_tile = [F32x4::splat(0.0); 4];
            for (line, vector) in sub_tile.iter_mut().enumerate() {
                *vector =
                    *tile.add(((x * 4 + line as u32) * VECTORIZED_THREADS + (y ^ x)) as usize);
            }
            for (line, vector) in transposed_4x4(sub_tile).iter().enumerate() {
                *target
                    .add(flat_index(sub_tile_column + line as u32, sub_tile_row, rows))
                    .cast::<F32x4>() = *vector;
            }
        }
    }
}

/// Threads of a block of `tensor_copy`, each with one 4 x 4 sub-tile.
pub const TENSOR_THREADS: u32 = 256;
/// Columns of a box: rows of 128 bytes, in which the hardware swizzles.
pub const BOX_COLUMNS: u32 = 32;
/// Bytes of a box of `BOX_COLUMNS` x `VECTORIZED_TILE`; two of them are a tile.
const BOX_BYTES: u32 = BOX_COLUMNS * VECTORIZED_TILE * 4;
/// Alignment of boxes, so that the swizzle begins with a row of its own.
const BOX_ALIGNMENT: u32 = 1024;
/// Dynamic shared memory of a block of `tensor_copy`: a tile in, a tile out, the barrier, and what aligns them.
pub const TENSOR_BYTES: u32 = 4 * BOX_BYTES + 8 + BOX_ALIGNMENT;

/// The place of the vector `chunk` of a row of a tile of two boxes, as the hardware swizzles it.
#[inline(always)]
fn swizzled(row: u32, chunk: u32) -> usize {
    (chunk / 8 * BOX_BYTES + row * 128 + ((chunk ^ row) % 8) * 16) as usize
}

/// # Safety
/// - grid: 2-D, one tile of `VECTORIZED_TILE` x `VECTORIZED_TILE` per block, covering the rows of the source in x and its columns in y
/// - block: `TENSOR_THREADS` threads; `TENSOR_BYTES` of dynamic shared memory
/// - lengths: `source` and `target` are maps of f32 in boxes of `BOX_COLUMNS` x `VECTORIZED_TILE` elements with a swizzle of
///   128 bytes; the rows of one are the columns of the other
/// - aliasing: they do not overlap
#[kernel(launch_bounds(TENSOR_THREADS), min_compute_capability = 90)]
pub unsafe fn transpose_tensor_copy(source: TensorMap, target: TensorMap) {
    let _ = (source, target);
    let maps = (
        tensor_copy::parameter!(transpose_tensor_copy, 0),
        tensor_copy::parameter!(transpose_tensor_copy, 1),
    );
    let first = (thread::block_idx_x() * VECTORIZED_TILE).cast_signed();
    let column = (thread::block_idx_y() * VECTORIZED_TILE).cast_signed();
    let (warp, lane) = (thread::thread_idx_x() / 32, thread::thread_idx_x() % 32);
    // Eight lanes in turn read 4 chunks of two rows that are 4 apart: their swizzles have no chunk in common.
    let x = lane % 4 + warp % 4 * 4;
    let y = lane / 4 % 2 + lane / 8 * 2 + warp / 4 * 8;
    let memory = shared::dynamic_shared_mem::<u8>();
    // SAFETY: shared memory holds two tiles from a multiple of the alignment on, and the barrier behind them. All threads wait
    // for the copies in, and have written before the copies out begin; the block ends when those have read.
    unsafe {
        let beyond = shared_address(memory) % BOX_ALIGNMENT;
        let tile = memory.wrapping_add(((BOX_ALIGNMENT - beyond) % BOX_ALIGNMENT) as usize);
        let transposed = tile.wrapping_add(2 * BOX_BYTES as usize);
        let barrier = transposed.wrapping_add(2 * BOX_BYTES as usize).cast::<Barrier>();
        if thread::thread_idx_x() == 0 {
            mbarrier::init(barrier, 1);
            mbarrier::fence_init();
            mbarrier::arrive_expect(barrier, 2 * BOX_BYTES);
            let right = column + BOX_COLUMNS.cast_signed();
            tensor_copy::load_2d(tile, maps.0, [column, first], barrier);
            tensor_copy::load_2d(tile.add(BOX_BYTES as usize), maps.0, [right, first], barrier);
        }
        thread::sync_threads();
        mbarrier::wait(barrier, 0);
        let mut sub_tile = [F32x4::splat(0.0); 4];
        for (line, vector) in sub_tile.iter_mut().enumerate() {
            *vector = *tile.add(swizzled(y * 4 + line as u32, x)).cast::<F32x4>();
        }
        for (line, vector) in transposed_4x4(sub_tile).iter().enumerate() {
            *transposed.add(swizzled(x * 4 + line as u32, y)).cast::<F32x4>() = *vector;
        }
        bulk_copy::fence_shared();
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            let right = first + BOX_COLUMNS.cast_signed();
            tensor_copy::store_2d(maps.1, [first, column], transposed);
            tensor_copy::store_2d(maps.1, [right, column], transposed.add(BOX_BYTES as usize));
            bulk_copy::commit_group();
            bulk_copy::wait_group_read::<0>();
        }
    }
}
