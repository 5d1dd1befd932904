//! # transpose: the rows of one matrix become the columns of another
//!
//! Shows: a tile in shared memory lets a warp read rows and write rows, where one of the two would be columns.
//!
//! | variant | change from the previous one | sectors per load | sectors per store |
//! |---|---|---|---|
//! | `direct` | lanes read a column and write a row | 32 | 4 |
//! | `tiled` | lanes read a row into a tile and write a column of it | 4 | 4 |

use cuda_std::prelude::*;
use cuda_std::safe::{Block, Plane, PlanePerThread, Tile, TransposedPlanePerThread};

/// The width and height of the tile that a block transposes.
pub const TILE: u32 = 32;
/// Elements of a thread, which lie [`STRIP`] rows apart: so that each has several requests on their way at once.
const EACH: u32 = 4;
/// The rows of a block's threads.
const STRIP: u32 = TILE / EACH;

/// Naive: each thread writes its elements of rows, and reads them from columns.
#[kernel(block(TILE, STRIP))]
pub fn transpose_direct(source: Plane<f32>, mut target: PlanePerThread<f32, EACH>) {
    for nth in 0..EACH {
        let [x, y] = target.index_of(nth);
        if let (Some(target), Some(value)) = (target.nth(nth), source.get(y, x)) {
            *target = value;
        }
    }
}

/// Change from `direct`: a tile of shared memory is written by rows and read by columns. A cell more in each row puts
/// the cells of a column into different banks.
#[kernel(block(TILE, STRIP))]
pub fn transpose_tiled(
    source: Plane<f32>,
    mut tile: Tile<f32, 33, 32>,
    block: Block,
    mut target: TransposedPlanePerThread<f32, EACH>,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let [column, row] = [thread::block_idx_x() * TILE + x, thread::block_idx_y() * TILE + y];
    for nth in 0..EACH {
        let value = source.get(column, row + nth * STRIP);
        if let (Some(cell), Some(value)) = (tile.nth(&block, nth), value) {
            *cell = value;
        }
    }
    let block = block.sync();
    let tile = tile.read(&block);
    for nth in 0..EACH {
        if let Some(target) = target.nth(nth) {
            *target = tile[(x as usize, (y + nth * STRIP) as usize)];
        }
    }
}
