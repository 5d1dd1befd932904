//! # Doubles: banks of 4 bytes, elements of 8
//!
//! The kernel transposes a matrix of doubles through a tile. An element takes two banks, and a half of the
//! warp is served at a time. A column of the tile, as it stands, lies in two banks. Is one unused element
//! per row enough, as it is for 4-byte elements? You may use up to 8448{solved bytes of shared memory} bytes.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 32 x 32, tiles cover the matrix.
/// - Both arrays hold `rows * columns` elements.
#[kernel]
pub unsafe fn doubles_turned(source: *const f64, target: *mut f64, rows: u32, columns: u32) {
    // learn: your code
    const PITCH: usize = 33;
    // learn: instead
    //| // TODO: in which two banks does element (row, column) lie?
    //| const PITCH: usize = 32;
    // learn: end
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f64; 32 * PITCH]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<f64>();
    let word = |row: u32, column: u32| row as usize * PITCH + column as usize;
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (first_column, first_row) = (thread::block_idx_x() * 32, thread::block_idx_y() * 32);
    let (row, column) = (first_row + y, first_column + x);
    if row < rows && column < columns {
        // SAFETY: the element is inside the matrix, and its place inside the tile.
        unsafe { *tile.add(word(y, x)) = *source.add((row * columns + column) as usize) };
    }
    thread::sync_threads();
    // Now lanes follow a column of the tile, which becomes a row of the target.
    let (row, column) = (first_row + x, first_column + y);
    if row < rows && column < columns {
        let at = column * rows + row;
        // SAFETY: the row and the column are inside the image; the pixel was written before the barrier.
        unsafe { *target.add(at as usize) = *tile.add(word(x, y)) };
    }
}
