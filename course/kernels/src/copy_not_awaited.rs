//! # Reversed: through a tile in the background
//!
//! Each block reverses 256 numbers through a tile in shared memory. `cp.async` copies straight from global to
//! shared memory while the thread goes on.
//!
//! The results are right when copies are quick. Make them right always, with one{solved barriers, per warp / solved warps} barrier.

use core::mem::MaybeUninit;
use cuda_std::async_copy;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per number.
/// - Both arrays hold `n` numbers.
#[kernel]
pub unsafe fn copy_not_awaited(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 256]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<f32>();
    let thread = thread::thread_idx_x();
    let first = thread::block_idx_x() * 256;
    let count = if n - first < 256 { n - first } else { 256 };
    // SAFETY: words of the tile are below 256, elements below n.
    unsafe {
        if thread < count {
            async_copy::copy_4(tile.add(thread as usize), source.add((first + thread) as usize));
        }
        // learn: your code
        async_copy::wait_all();
        // learn: instead
        //| // TODO: what does a thread find in the tile?
        // learn: end
        thread::sync_threads();
        if thread < count {
            *target.add((first + thread) as usize) = *tile.add((count - 1 - thread) as usize);
        }
    }
}
