//! # Grid stride: few threads, many elements
//!
//! The kernel computes `target = 3 * x + y` with a grid of 2048 threads, whatever `n` is. Each
//! thread takes a run of neighbouring elements, as a thread of a CPU would. On a GPU the 32 lanes of
//! a warp load at the same moment, and here their elements are a whole run apart.
//!
//! Share the elements out differently, so that one load of a warp touches 4{solved sectors per load} sectors.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Any grid.
/// - The arrays hold `n` elements.
#[kernel]
pub unsafe fn grid_stride(x: *const f32, y: *const f32, target: *mut f32, n: u32) {
    let thread = thread::index_1d();
    let threads = thread::grid_dim_x() * thread::block_dim_x();
    // learn: your code
    let (first, end, step) = (thread, n, threads);
    // learn: instead
    //| // TODO: in the first turn of the loop, which elements do lanes 0, 1 and 2 load?
    //| let run = n.div_ceil(threads);
    //| let (first, step) = (thread * run, 1);
    //| let end = if first + run < n { first + run } else { n };
    // learn: end
    let mut i = first;
    while i < end {
        // SAFETY: i < n, the length of all three arrays.
        unsafe { *target.add(i as usize) = 3.0 * *x.add(i as usize) + *y.add(i as usize) };
        i += step;
    }
}
