//! # Offset: a load that begins anywhere
//!
//! Nothing is to be repaired here. Read the kernel and put your answers into this file.
//!
//! Lane `l` of the first warp reads word `l + offset`. The array begins at a multiple of 256 bytes.
//!
//! How many sectors does one load touch
//!
//! 1. if `offset` is 0?
//! 2. if it is 1?
//! 3. if it is 8?

use cuda_std::prelude::*;

// learn: your code
// answer 1: 4
// answer 2: 5
// answer 3: 4
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
//| // answer 3: ?
// learn: end

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per element.
/// - `source` holds `n + offset` words, `target` holds `n`.
#[kernel]
pub unsafe fn offset_load(source: *const f32, target: *mut f32, n: u32, offset: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: `source` holds n + offset words.
        unsafe { *target.add(i as usize) = *source.add((i + offset) as usize) };
    }
}
