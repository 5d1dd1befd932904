//! # Two halves: each adds what the other has
//!
//! Each block of 256 threads adds to every element the element 128 places further on in the block,
//! around the end. The elements are exchanged in shared memory: all of them are put there before any is
//! read. The threads with odd numbers put something else there than those with even ones.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per element.
/// - Both arrays hold `n` elements.
#[kernel]
pub unsafe fn barrier_in_branch(source: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; 256]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    let thread = thread::thread_idx_x() as usize;
    let i = thread::index_1d();
    // SAFETY: thread < 256, and i is checked against n; every word of the tile is written before the barrier.
    unsafe {
        let mine = if i < n { *source.add(i as usize) } else { 0 };
        // learn: your code
        *tile.add(thread) = if thread.is_multiple_of(2) { mine } else { mine ^ 1 };
        thread::sync_threads();
        // learn: instead
        //| // TODO: what have the other threads done when a thread reads?
        //| if thread % 2 == 0 {
        //|     *tile.add(thread) = mine;
        //|     thread::sync_threads();
        //| } else {
        //|     *tile.add(thread) = mine ^ 1;
        //|     thread::sync_threads();
        //| }
        // learn: end
        if i < n {
            *target.add(i as usize) = mine.wrapping_add(*tile.add((thread + 128) % 256));
        }
    }
}
