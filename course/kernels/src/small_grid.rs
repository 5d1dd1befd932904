//! # A grid that is too small: two elements for each thread
//!
//! The grid of this kernel has a thread for every second element, rounded up to whole blocks of 256. Each thread
//! takes one, and so the second half of the array is left as it was.
//!
//! Let each thread take another element, as many further on as the grid has threads: lanes that are
//! neighbours then stay neighbours.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread for two elements.
/// - Both arrays hold `n` elements.
#[kernel]
pub unsafe fn small_grid(source: *const f32, target: *mut f32, n: u32) {
    let threads = thread::grid_dim_x() * thread::block_dim_x();
    let mut i = thread::index_1d();
    // learn: your code
    while i < n {
        // SAFETY: i < n.
        unsafe { *target.add(i as usize) = 2.0 * *source.add(i as usize) };
        i += threads;
    }
    // learn: instead
    //| // TODO: who takes the elements from `threads` on?
    //| if i < n {
    //|     // SAFETY: i < n.
    //|     unsafe { *target.add(i as usize) = 2.0 * *source.add(i as usize) };
    //|     i += threads;
    //| }
    // learn: end
    let _ = i;
}
