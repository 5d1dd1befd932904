//! # Pad the tile: 32 lanes, one bank
//!
//! The kernel turns an image to the left. Each block of 32 x 32 threads loads a tile row by row and
//! stores its columns as rows, so global loads and stores are coalesced. But the words of a column of
//! the tile are 32 words apart, and shared memory has 32 banks: all lanes want the same one.
//!
//! Change where a word of the tile lies, so that no two lanes of a request want one bank. You may use
//! up to 4224{solved bytes of shared memory} bytes.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 32 x 32, tiles cover the image.
/// - Both arrays hold `rows * columns` pixels.
#[kernel]
pub unsafe fn pad_the_tile(source: *const f32, target: *mut f32, rows: u32, columns: u32) {
    // learn: your code
    const PITCH: usize = 33;
    // learn: instead
    //| // TODO: in which bank is the word at (row, column)? It is its number, modulo 32.
    //| const PITCH: usize = 32;
    // learn: end
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 32 * PITCH]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<f32>();
    let word = |row: u32, column: u32| row as usize * PITCH + column as usize;
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
        let at = (columns - 1 - column) * rows + row;
        // SAFETY: the row and the column are inside the image; the pixel was written before the barrier.
        unsafe { *target.add(at as usize) = *tile.add(word(x, y)) };
    }
}
