//! # Neighbours: a tile with a halo
//!
//! The kernel smooths a signal: each element becomes the sum of its two neighbours, and beyond both
//! ends the signal is 0. A block has a tile of 258 words: its 256 elements, and one more on either
//! side, the halo.
//!
//! For most blocks it is right.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per element.
/// - Both arrays hold `n` elements.
#[kernel]
pub unsafe fn uninitialized_halo(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 258]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<f32>();
    let thread = thread::thread_idx_x() as usize;
    let i = thread::index_1d();
    // SAFETY: thread + 2 < 258; all indices of the arrays are checked against n.
    unsafe {
        *tile.add(thread + 1) = if i < n { *source.add(i as usize) } else { 0.0 };
        // learn: your code
        if thread == 0 {
            *tile = if i > 0 { *source.add(i as usize - 1) } else { 0.0 };
        }
        // learn: instead
        //| // TODO: what does word 0 of the tile hold in the first block?
        //| if thread == 0 && i > 0 {
        //|     *tile = *source.add(i as usize - 1);
        //| }
        // learn: end
        if thread == 255 {
            *tile.add(257) = if i + 1 < n { *source.add(i as usize + 1) } else { 0.0 };
        }
        thread::sync_threads();
        if i < n {
            *target.add(i as usize) = *tile.add(thread) + *tile.add(thread + 2);
        }
    }
}
