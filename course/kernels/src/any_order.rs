//! # Any order: must lanes be sorted?
//!
//! Nothing is to be repaired here. Read the kernel and put your answers into this file.
//!
//! Lane `l` of a warp reads the word of lane 31 - `l`: the lanes of each warp are reversed.
//!
//! 1. How many sectors does one load touch?
//! 2. Does it cost more than in order? Answer 1 for yes, 2 for no.

use cuda_std::prelude::*;

// learn: your code
// answer 1: 4
// answer 2: 2
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
// learn: end

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per element.
/// - Both arrays hold `n` elements.
#[kernel]
pub unsafe fn any_order(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let from = if (i ^ 31) < n { i ^ 31 } else { i };
        // SAFETY: both indices are below n.
        unsafe { *target.add(i as usize) = *source.add(from as usize) };
    }
}
