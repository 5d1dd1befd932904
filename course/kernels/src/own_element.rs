//! # First of all: which element is mine?
//!
//! A kernel is a function that many threads execute, each for an element of its own. Threads come in blocks,
//! here of 256, and the blocks together are the grid. A thread knows its number in its block
//! (`thread::thread_idx_x()`), the number of its block (`thread::block_idx_x()`), and how many threads a block
//! has (`thread::block_dim_x()`).
//!
//! This kernel adds 1 to every element, and only the first 256 come out right. Let every thread of the grid take
//! an element of its own.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per element.
/// - Both arrays hold `n` elements.
#[kernel]
pub unsafe fn own_element(source: *const f32, target: *mut f32, n: u32) {
    // learn: your code
    let i = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    // learn: instead
    //| // TODO: which elements do the threads of the second block take?
    //| let i = thread::thread_idx_x();
    // learn: end
    if i < n {
        // SAFETY: i < n.
        unsafe { *target.add(i as usize) = 1.0 + *source.add(i as usize) };
    }
}
