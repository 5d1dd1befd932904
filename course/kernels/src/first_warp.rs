//! # First warp: 32 lanes and their sectors
//!
//! Nothing is to be repaired here. Read the kernel and put your answers into this file.
//!
//! A warp is 32 threads that execute a load together. Memory moves in sectors: 32 bytes that begin at a
//! multiple of 32. Lane `l` of the first warp reads word `l * stride`, and a word has 4 bytes.
//!
//! How many sectors does one load touch
//!
//! 1. if `stride` is 1?
//! 2. if it is 2?
//! 3. if it is 8?
//! 4. if it is 16?

use cuda_std::prelude::*;

// learn: your code
// answer 1: 4
// answer 2: 8
// answer 3: 32
// answer 4: 32
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
//| // answer 3: ?
//| // answer 4: ?
// learn: end

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per element.
/// - `source` holds `n * stride` words, `target` holds `n`.
#[kernel]
pub unsafe fn first_warp(source: *const f32, target: *mut f32, n: u32, stride: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: `source` holds n * stride words.
        unsafe { *target.add(i as usize) = *source.add((i * stride) as usize) };
    }
}
