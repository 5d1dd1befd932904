//! # Boss: a text in capitals
//!
//! Here is what was counted: 1{given sectors per load} sector per load and per store, and four{given load requests / solved load requests} times as many requests as there need
//! be. The kernel turns the letters of a text into capitals. Name the disease, then cure it. The grid has a
//! thread for every 4 bytes, rounded up.

use cuda_std::prelude::*;
#[allow(unused_imports)]
use cuda_std::vector::{U8x4, load, store};

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread for 4 bytes.
/// - Both texts hold `n` bytes and are aligned to 4 bytes.
#[kernel]
pub unsafe fn boss_capitals(source: *const u8, target: *mut u8, n: u32) {
    let thread = thread::index_1d();
    // learn: your code
    let first = 4 * thread;
    if first + 4 <= n {
        // SAFETY: four bytes from `first`, a multiple of 4, are in both texts, which are aligned to 4 bytes.
        unsafe {
            let four: U8x4 = load(source.add(first as usize));
            store(target.add(first as usize), four.map(|one| one.to_ascii_uppercase()));
        }
    } else {
        for i in first..n {
            // SAFETY: i < n.
            unsafe { *target.add(i as usize) = (*source.add(i as usize)).to_ascii_uppercase() };
        }
    }
    // learn: instead
    //| // TODO
    //| let threads = thread::grid_dim_x() * thread::block_dim_x();
    //| let mut i = thread;
    //| while i < n {
    //|     unsafe { *target.add(i as usize) = (*source.add(i as usize)).to_ascii_uppercase() };
    //|     i += threads;
    //| }
    // learn: end
}
