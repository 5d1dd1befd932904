//! # Tree: the same sums, other words
//!
//! Each block sums 256 numbers in shared memory, in 8 levels. In every level the first threads work: 128, then
//! 64, then 32. In the first level each adds the right neighbour of its word, in the next the word after that,
//! and so on. So the lanes that work are neighbours, and their words lie ever further apart: first 2 words,
//! then 4, then 8. What does that do to the banks?
//!
//! Let neighbouring threads add neighbouring words: the upper half of the tile to the lower half, then the
//! upper half of what is left.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256.
/// - `source` holds `n` numbers, `target` one for each block.
#[kernel]
pub unsafe fn tree(source: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; 256]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    let thread = thread::thread_idx_x() as usize;
    let i = thread::index_1d();
    // SAFETY: words of the tile are below 256; i is checked against n.
    unsafe {
        *tile.add(thread) = if i < n { *source.add(i as usize) } else { 0 };
        thread::sync_threads();
        // learn: your code
        let mut half = 128;
        while half > 0 {
            if thread < half {
                *tile.add(thread) = (*tile.add(thread)).wrapping_add(*tile.add(thread + half));
            }
            thread::sync_threads();
            half /= 2;
        }
        // learn: instead
        //| // TODO: in the third level, which words do lanes 0, 1 and 2 add, and which banks are these?
        //| let mut step = 1;
        //| while step < 256 {
        //|     let at = 2 * step * thread;
        //|     if at < 256 {
        //|         *tile.add(at) = (*tile.add(at)).wrapping_add(*tile.add(at + step));
        //|     }
        //|     thread::sync_threads();
        //|     step *= 2;
        //| }
        // learn: end
        if thread == 0 {
            *target.add(thread::block_idx_x() as usize) = *tile;
        }
    }
}
