//! # Rows: every pixel less the one above
//!
//! An image is 32 pixels wide. A block of 256 threads takes 8 rows: each thread puts its pixel into a
//! tile in shared memory, and subtracts the pixel above it. The first row of a block is left as it is.
//!
//! The results are right when warps run one after the other. Load every pixel once.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per pixel.
/// - Both arrays hold `n` pixels.
#[kernel]
pub unsafe fn missing_barrier(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 256]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<f32>();
    let thread = thread::thread_idx_x() as usize;
    let i = thread::index_1d();
    // SAFETY: thread < 256, and i is checked against n.
    unsafe {
        if i < n {
            *tile.add(thread) = *source.add(i as usize);
        }
        // learn: your code
        thread::sync_threads();
        // learn: instead
        //| // TODO: which warp wrote the pixel above?
        // learn: end
        if i < n {
            let above = if thread < 32 { 0.0 } else { *tile.add(thread - 32) };
            *target.add(i as usize) = *tile.add(thread) - above;
        }
    }
}
