//! # Wide loads: four elements per lane and request
//!
//! The kernel adds 1 to every element, one element per thread. It is coalesced: 4{given sectors per load} sectors per load.
//! Still each lane has only 4 bytes on their way at a time. A lane may load and store 16 bytes at once
//! (`cuda_std::vector::{load, store}` with `F32x4`), at addresses that are multiples of 16.
//!
//! The grid has a thread for every 4 elements, rounded up. Move 4 elements per thread with one load
//! and one store, and do not forget the last elements when `n` is no multiple of 4.

use cuda_std::prelude::*;
#[allow(unused_imports)]
use cuda_std::vector::{F32x4, load, store};

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread for 4 elements.
/// - Both arrays hold `n` elements and are aligned to 16 bytes.
#[kernel]
pub unsafe fn wide_loads(source: *const f32, target: *mut f32, n: u32) {
    let thread = thread::index_1d();
    // learn: your code
    let first = 4 * thread;
    if first + 4 <= n {
        // SAFETY: four elements from `first`, a multiple of 4, are in both arrays, which are aligned to 16 bytes.
        unsafe {
            let four: F32x4 = load(source.add(first as usize));
            store(target.add(first as usize), four.map(|one| one + 1.0));
        }
    } else {
        for i in first..n {
            // SAFETY: i < n.
            unsafe { *target.add(i as usize) = *source.add(i as usize) + 1.0 };
        }
    }
    // learn: instead
    //| // TODO: four loads of 4 bytes, which one load of 16 bytes could bring.
    //| let threads = thread::grid_dim_x() * thread::block_dim_x();
    //| let mut i = thread;
    //| while i < n {
    //|     unsafe { *target.add(i as usize) = *source.add(i as usize) + 1.0 };
    //|     i += threads;
    //| }
    // learn: end
}
