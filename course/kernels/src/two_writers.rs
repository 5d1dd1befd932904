//! # Two writers: the last one wins, whoever that is
//!
//! For each group of 32 numbers the kernel stores the last one. All lanes store to the same word, in the hope
//! that the last lane stores last. Which of several lanes wins is not defined.
//!
//! Let one lane store.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// Launch contract: a thread per number; `source` holds `n` numbers, `target` one for 32 of them.
#[kernel]
pub unsafe fn two_writers(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and there is a word for each group.
        unsafe {
            let value = *source.add(i as usize);
            // learn: your code
            let is_mine = i % 32 == 31 || i + 1 == n;
            // learn: instead
            //| // TODO: which lane has the last number of its group?
            //| let is_mine = true;
            // learn: end
            if is_mine {
                *target.add((i / 32) as usize) = value;
            }
        }
    }
}
