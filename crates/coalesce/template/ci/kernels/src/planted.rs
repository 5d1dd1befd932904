//! # planted: a race that CI has to find
//!
//! Shows: a barrier that is missing is found with its line, whatever the results are.
//!
//! | variant | change from the previous one | sectors per load |
//! |---|---|---|
//! | `reversed` | each block reverses its elements by a tile, without a barrier | 4 |
//!
//! Once the alert is there, delete this file, those that `git grep planted` names, and their lines.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;

/// Reverses the elements of each block.
///
/// # Safety
/// - Block: [`THREADS_PER_BLOCK`] threads in one dimension.
/// - Lengths: `source` and `target` have as many elements as the grid has threads.
/// - Aliasing: they are different arrays.
#[kernel]
pub unsafe fn planted_reversed(source: *const f32, target: *mut f32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; THREADS_PER_BLOCK as usize]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<f32>();
    let (i, thread) = (thread::index_1d() as usize, thread::thread_idx_x() as usize);
    // SAFETY: the launch contract, and the tile has an element for each thread. The race is the point of it: between the
    // two lines stands no `thread::sync_threads()`.
    unsafe {
        *tile.add(thread) = *source.add(i);
        *target.add(i) = *tile.add(THREADS_PER_BLOCK as usize - 1 - thread);
    }
}
