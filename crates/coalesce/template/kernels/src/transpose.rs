//! # transpose: the rows of one matrix become the columns of another
//!
//! Shows: a tile in shared memory lets a warp read rows and write rows, where one of the two would be columns.
//!
//! | variant | change from the previous one | sectors per load | sectors per store |
//! |---|---|---|---|
//! | `direct` | lanes read a column and write a row | 32 | 4 |
//! | `tiled` | lanes read a row into a tile and write a column of it | 4 | 4 |

use cuda_std::prelude::*;
use cuda_std::safe::{Plane, PlanePerThread, Tile, TransposedPlanePerThread};

/// The width and height of a block and its tile.
pub const TILE: u32 = 32;

/// Naive: each thread writes its element of a row, and reads it from a column.
#[kernel(block(TILE, TILE))]
pub fn transpose_direct(source: Plane<f32>, mut target: PlanePerThread<f32>) {
    let [x, y] = target.index();
    if let (Some(target), Some(value)) = (target.mine(), source.get(y, x)) {
        *target = value;
    }
}

/// Change from `direct`: a tile of shared memory is written by rows and read by columns. A cell more in each row puts
/// the cells of a column into different banks.
#[kernel(block(TILE, TILE))]
pub fn transpose_tiled(
    source: Plane<f32>,
    mut tile: Tile<f32, 33, 32>,
    mut target: TransposedPlanePerThread<f32>,
) {
    let at = thread::index_2d();
    if let (Some(cell), Some(value)) = (tile.mine(), source.get(at.x, at.y)) {
        *cell = value;
    }
    let tile = tile.sync();
    if let Some(target) = target.mine() {
        *target = tile[(thread::thread_idx_x() as usize, thread::thread_idx_y() as usize)];
    }
}
