//! # Groups: the last number of each
//!
//! For each group of 8 numbers the kernel stores the last one. All 8 lanes store to the word of their group,
//! and the last lane is the last.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per number.
/// - `source` holds `n` numbers, `target` one for 8 of them.
#[kernel]
pub unsafe fn two_writers(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and there is a word for each group.
        unsafe {
            let value = *source.add(i as usize);
            // learn: your code
            let is_mine = i % 8 == 7 || i + 1 == n;
            // learn: instead
            //| // TODO: which lane has the last number of its group?
            //| let is_mine = true;
            // learn: end
            if is_mine {
                *target.add((i / 8) as usize) = value;
            }
        }
    }
}
