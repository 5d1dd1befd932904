//! # Transpose: reads and writes that cannot both be coalesced, unless shared memory turns them
//!
//! Shows: shared memory is a place to change the order of data, and its banks have a price too.
//!
//! `target[column * rows + row] = source[row * columns + column]`: neighbouring words of a source
//! row lie `rows` words apart in the target. A 32 x 32 tile in shared memory takes rows in and gives
//! columns out; its 32 banks of 4 bytes serve 32 lanes at once only if no two lanes want different
//! words of one bank:
//!
//! ```text
//! bank of tile[row][column]          lanes reading a column (row = lane)
//!   tiled     (32 row + column) % 32 = column          one bank for all: 32 passes
//!   padded    (33 row + column) % 32 = row + column    32 banks: 1 pass, 128 B more shared memory
//!   swizzled  column ^ row                             32 banks: 1 pass, no memory
//! ```
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | limited by |
//! |---|---|---|---|---|---|
//! | `column_write` | lanes run along a source row; their stores lie `rows` words apart | 4 | 32 | none | partly written sectors |
//! | `column_read` | the lanes run along the target's rows instead | 32 | 4 | none | sectors through L1 |
//! | `tiled` | a tile in shared memory: both sides coalesced, the column in one bank | 4 | 4 | 32 / 1 | shared memory banks |
//! | `padded` | rows of 33 words: a column lies in 32 banks | 4 | 4 | 1 / 1 | bytes in flight, barrier |
//! | `swizzled` | rows of 32 words, columns permuted by the row | 4 | 4 | 1 / 1 | bytes in flight, barrier |
//! | `vectorized` | 16 bytes per lane, 4 x 4 words turned in registers | 16 | 16 | 4 / 4 | device memory |
//! | `block_order` | the grid runs down the columns, so that blocks at work together write whole rows | 16 | 16 | 4 / 4 | device memory |
//! | `async_copy` | `cp.async` fills the tile, past the registers; the turn comes after it (sm_80) | 16 | 16 | 4 / 4 | device memory |
//!
//! Expected: `column_write` at most a third of a copy. `padded` and `swizzled` are equal, and limited like
//! the scalar copy of `coalescing`. `vectorized` carries four times as many bytes per request, and `block_order`
//! comes close to the copy.
//!
//! Preconditions: `vectorized`, `block_order` and `async_copy` need rows and columns that 4 divides; buffers 16-byte
//! aligned. A grid has at most 65535 blocks in y, so the dimension that runs along y (the columns for
//! `column_read`, `block_order` and `async_copy`, else the rows) has at most 65535 tiles.
//!
//! Source: CUDA C++ Best Practices Guide, "Shared Memory in Matrix Multiplication (C=AA^T)"; NVIDIA
//! developer blog, "An Efficient Matrix Transpose in CUDA C/C++".

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

/// Rows and columns of a tile of the scalar variants, and threads per block in x.
pub const TILE: u32 = 32;
/// Threads per block in y; each thread moves `TILE / BLOCK_ROWS` words.
pub const BLOCK_ROWS: u32 = 8;
/// Rows and columns of a tile of the 16-byte variants.
pub const VECTORIZED_TILE: u32 = 64;
/// Threads per block in x and y of the 16-byte variants: one 4 x 4 piece of the tile each.
pub const VECTORIZED_THREADS: u32 = VECTORIZED_TILE / 4;

/// The tile's place in the matrix, and this thread's place in the tile. x is the fastest axis.
struct TilePosition {
    column: u32,
    row: u32,
    x: u32,
    y: u32,
}

impl TilePosition {
    /// Of a block whose grid runs down the columns first.
    #[inline(always)]
    fn down_first(tile: u32) -> Self {
        Self {
            column: thread::block_idx_y() * tile,
            row: thread::block_idx_x() * tile,
            x: thread::thread_idx_x(),
            y: thread::thread_idx_y(),
        }
    }

    /// Of a block that handles `tile` x `tile` words.
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
fn at(row: u32, column: u32, width: u32) -> usize {
    row as usize * width as usize + column as usize
}

/// Naive: lanes run along a source row, so their stores lie `rows` words apart.
///
/// # Safety
/// Launch contract: 2-D grid of `TILE` x `BLOCK_ROWS` threads, one `TILE` x `TILE` tile per block,
/// covering `columns` in x and `rows` in y; `source` and `target` valid for `rows * columns` f32,
/// not overlapping.
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
            // SAFETY: row and column lie in the matrix (launch contract).
            unsafe { *target.add(at(column, row, rows)) = *source.add(at(row, column, columns)) };
        }
    }
}

/// Change from `column_write`: lanes run along a target row, so their loads lie `columns` words
/// apart.
///
/// # Safety
/// Launch contract: as for [`transpose_column_write`], but covering `rows` in x and `columns` in y.
#[kernel]
pub unsafe fn transpose_column_read(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    let TilePosition { column, row, x, y } = TilePosition::down_first(TILE);
    let row = row + x;
    for step in 0..TILE / BLOCK_ROWS {
        let column = column + y + step * BLOCK_ROWS;
        if row < rows && column < columns {
            // SAFETY: row and column lie in the matrix (launch contract).
            unsafe { *target.add(at(column, row, rows)) = *source.add(at(row, column, columns)) };
        }
    }
}

/// A tile through shared memory; `word` says where the tile keeps a row and column.
///
/// # Safety
/// As for [`transpose_column_write`]; `words` is shared memory in which `word` is in bounds and
/// injective for rows and columns below `TILE`.
#[inline(always)]
unsafe fn through_tile(
    source: *const f32,
    target: *mut f32,
    rows: u32,
    columns: u32,
    words: *mut f32,
    word: impl Fn(u32, u32) -> u32,
) {
    let TilePosition { column, row, x, y } = TilePosition::new(TILE);
    // SAFETY: rows and columns are checked against the matrix; `word` stays in the tile. Every word
    // read after the barrier was written before it: both loops skip what lies outside the matrix.
    unsafe {
        for step in 0..TILE / BLOCK_ROWS {
            let tile_row = y + step * BLOCK_ROWS;
            if row + tile_row < rows && column + x < columns {
                *words.add(word(tile_row, x) as usize) =
                    *source.add(at(row + tile_row, column + x, columns));
            }
        }
        thread::sync_threads();
        for step in 0..TILE / BLOCK_ROWS {
            let tile_column = y + step * BLOCK_ROWS;
            if row + x < rows && column + tile_column < columns {
                *target.add(at(column + tile_column, row + x, rows)) =
                    *words.add(word(x, tile_column) as usize);
            }
        }
    }
}

/// Change from `column_read`: rows go into a tile in shared memory, columns come out, and both
/// sides of device memory are coalesced. The column comes out of one bank.
///
/// # Safety
/// Launch contract: as for [`transpose_column_write`].
#[kernel]
pub unsafe fn transpose_tiled(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; (TILE * TILE) as usize]> = MaybeUninit::uninit();
    // SAFETY: row * TILE + column < TILE * TILE (launch contract for the rest).
    unsafe {
        through_tile(source, target, rows, columns, (&raw mut WORDS).cast(), |row, column| {
            row * TILE + column
        });
    }
}

/// Change from `tiled`: one unused word per row moves each row on by one bank.
///
/// # Safety
/// Launch contract: as for [`transpose_column_write`].
#[kernel]
pub unsafe fn transpose_padded(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; (TILE * (TILE + 1)) as usize]> = MaybeUninit::uninit();
    // SAFETY: row * (TILE + 1) + column < TILE * (TILE + 1) (launch contract for the rest).
    unsafe {
        through_tile(source, target, rows, columns, (&raw mut WORDS).cast(), |row, column| {
            row * (TILE + 1) + column
        });
    }
}

/// Change from `padded`: no unused word; each row keeps its columns in an order of its own.
///
/// # Safety
/// Launch contract: as for [`transpose_column_write`].
#[kernel]
pub unsafe fn transpose_swizzled(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; (TILE * TILE) as usize]> = MaybeUninit::uninit();
    // SAFETY: row ^ column < TILE, a permutation of the row's columns (launch contract for the rest).
    unsafe {
        through_tile(source, target, rows, columns, (&raw mut WORDS).cast(), |row, column| {
            row * TILE + (column ^ row)
        });
    }
}

/// The transpose of a 4 x 4 piece held in registers.
#[inline(always)]
fn turned([a, b, c, d]: [F32x4; 4]) -> [F32x4; 4] {
    [
        F32x4::new(a.x, b.x, c.x, d.x),
        F32x4::new(a.y, b.y, c.y, d.y),
        F32x4::new(a.z, b.z, c.z, d.z),
        F32x4::new(a.w, b.w, c.w, d.w),
    ]
}

/// A tile of 4 x 4 pieces through shared memory: 16 bytes per access everywhere.
///
/// # Safety
/// As for [`transpose_vectorized`]; `quads` is shared memory for a tile; `place` is the thread's own.
#[inline(always)]
unsafe fn through_pieces(
    source: *const f32,
    target: *mut f32,
    rows: u32,
    columns: u32,
    quads: *mut F32x4,
    TilePosition { column, row, x, y }: TilePosition,
) {
    // SAFETY: 4 divides rows and columns, so a piece whose first word lies in the matrix lies in it
    // whole, 16-byte aligned; a tile row holds VECTORIZED_THREADS pieces and the swizzle permutes them. A
    // piece read after the barrier was written before it: both sides skip what lies outside.
    unsafe {
        let (piece_row, piece_column) = (row + y * 4, column + x * 4);
        if piece_row < rows && piece_column < columns {
            let mut piece = [F32x4::splat(0.0); 4];
            for (line, words) in piece.iter_mut().enumerate() {
                let first = source.add(at(piece_row + line as u32, piece_column, columns));
                *words = *first.cast::<F32x4>();
            }
            for (line, words) in turned(piece).iter().enumerate() {
                // Row `x * 4 + line` of the turned tile; its pieces are permuted by x.
                *quads.add(((x * 4 + line as u32) * VECTORIZED_THREADS + (y ^ x)) as usize) =
                    *words;
            }
        }
        thread::sync_threads();
        for step in 0..4 {
            let line = y + step * VECTORIZED_THREADS;
            if column + line < columns && row + x * 4 < rows {
                let words = *quads.add((line * VECTORIZED_THREADS + (x ^ (line / 4))) as usize);
                *target.add(at(column + line, row + x * 4, rows)).cast::<F32x4>() = words;
            }
        }
    }
}

/// Change from `swizzled`: each thread loads four rows of four words, turns them in registers, and
/// stores 16 bytes at a time. The swizzle permutes 16-byte pieces instead of words.
///
/// # Safety
/// Launch contract: 2-D grid of `VECTORIZED_THREADS` x `VECTORIZED_THREADS` threads, one `VECTORIZED_TILE` x `VECTORIZED_TILE`
/// tile per block, covering `columns` in x and `rows` in y; 4 divides both; `source` and `target`
/// 16-byte aligned and valid for `rows * columns` f32, not overlapping.
#[kernel(launch_bounds(VECTORIZED_THREADS * VECTORIZED_THREADS))]
pub unsafe fn transpose_vectorized(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static mut QUADS: MaybeUninit<[F32x4; (VECTORIZED_TILE * VECTORIZED_THREADS) as usize]> =
        MaybeUninit::uninit();
    let place = TilePosition::new(VECTORIZED_TILE);
    // SAFETY: the launch contract; QUADS holds a tile.
    unsafe { through_pieces(source, target, rows, columns, (&raw mut QUADS).cast(), place) };
}

/// Change from `vectorized`: neighbouring blocks lie below each other in the source, so that the blocks at
/// work together write whole target rows. A write that leaves a row half done is the dearer one.
///
/// # Safety
/// Launch contract: as for [`transpose_vectorized`], but covering `rows` in x and `columns` in y.
#[kernel(launch_bounds(VECTORIZED_THREADS * VECTORIZED_THREADS))]
pub unsafe fn transpose_block_order(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static mut QUADS: MaybeUninit<[F32x4; (VECTORIZED_TILE * VECTORIZED_THREADS) as usize]> =
        MaybeUninit::uninit();
    let place = TilePosition::down_first(VECTORIZED_TILE);
    // SAFETY: the launch contract; QUADS holds a tile.
    unsafe { through_pieces(source, target, rows, columns, (&raw mut QUADS).cast(), place) };
}

/// Change from `block_order`: `cp.async` brings the tile into shared memory as it is, and the turn happens
/// on the way out.
///
/// # Safety
/// Launch contract: as for [`transpose_block_order`].
#[kernel(launch_bounds(VECTORIZED_THREADS * VECTORIZED_THREADS), min_compute_capability = 80)]
pub unsafe fn transpose_async_copy(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static mut QUADS: MaybeUninit<[F32x4; (VECTORIZED_TILE * VECTORIZED_THREADS) as usize]> =
        MaybeUninit::uninit();
    let quads = (&raw mut QUADS).cast::<F32x4>();
    let TilePosition { column, row, x, y } = TilePosition::down_first(VECTORIZED_TILE);
    // SAFETY: as in `through_pieces`; the copies are waited for before the barrier that publishes
    // them.
    unsafe {
        for step in 0..4 {
            let line = y + step * VECTORIZED_THREADS;
            if row + line < rows && column + x * 4 < columns {
                cuda_std::async_copy::copy_16(
                    quads.add((line * VECTORIZED_THREADS + (x ^ (line / 4))) as usize),
                    source.add(at(row + line, column + x * 4, columns)).cast::<F32x4>(),
                );
            }
        }
        cuda_std::async_copy::commit_group();
        cuda_std::async_copy::wait_all();
        thread::sync_threads();
        // Thread (x, y) takes the 4 x 4 piece of tile rows 4x.. and tile columns 4y..: 16 lanes
        // store 256 neighbouring bytes of a target row.
        let (piece_row, piece_column) = (row + x * 4, column + y * 4);
        if piece_row < rows && piece_column < columns {
            let mut piece = [F32x4::splat(0.0); 4];
            for (line, words) in piece.iter_mut().enumerate() {
                *words =
                    *quads.add(((x * 4 + line as u32) * VECTORIZED_THREADS + (y ^ x)) as usize);
            }
            for (line, words) in turned(piece).iter().enumerate() {
                *target.add(at(piece_column + line as u32, piece_row, rows)).cast::<F32x4>() =
                    *words;
            }
        }
    }
}
