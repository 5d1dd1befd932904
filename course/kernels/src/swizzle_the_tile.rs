//! # Swizzle the tile: no conflict, and not one byte more
//!
//! The kernel turns an image to the right through a tile in shared memory. As it stands, a column of
//! the tile lies in one bank: 32{given wavefronts per shared load} wavefronts for 32 words. A wider row would help, but this block has
//! exactly 4096{solved bytes of shared memory} bytes.
//!
//! Keep the tile and permute each row of it: store column c of row r somewhere else in the row, so
//! that the words of a column are in 32 different banks. The lanes that read must look there, too.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 32 x 32, tiles cover the image.
/// - Both arrays hold `rows * columns` pixels.
#[kernel]
pub unsafe fn swizzle_the_tile(source: *const u32, target: *mut u32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; 1024]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    // learn: your code
    let word = |row: u32, column: u32| (row * 32 + (column ^ row)) as usize;
    // learn: instead
    //| // TODO: which banks do rows 0, 1, 2 .. of column 5 lie in?
    //| let word = |row: u32, column: u32| (row * 32 + column) as usize;
    // learn: end
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (first_column, first_row) = (thread::block_idx_x() * 32, thread::block_idx_y() * 32);
    let (row, column) = (first_row + y, first_column + x);
    if row < rows && column < columns {
        // SAFETY: the pixel is inside the image, and its word inside the tile.
        unsafe { *tile.add(word(y, x)) = *source.add((row * columns + column) as usize) };
    }
    thread::sync_threads();
    // Now lanes follow a column of the tile, which becomes a row of the target.
    let (row, column) = (first_row + x, first_column + y);
    if row < rows && column < columns {
        let at = column * rows + (rows - 1 - row);
        // SAFETY: the row and the column are inside the image; the pixel was written before the barrier.
        unsafe { *target.add(at as usize) = *tile.add(word(x, y)) };
    }
}
