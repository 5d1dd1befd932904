//! # Useful bytes: moved, and used
//!
//! Nothing is to be repaired here. Read the kernel and put your answers into this file.
//!
//! Lane `l` reads word `8 * l`, and nobody reads the seven words in between.
//!
//! 1. How many sectors are loaded in all, for 1024 elements?
//! 2. How many percent of the loaded bytes does somebody use?

use cuda_std::prelude::*;

// learn: your code
// answer 1: 1024
// answer 2: 12.5
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
// learn: end

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per element.
/// - `source` holds `8 * n` words, `target` holds `n`.
#[kernel]
pub unsafe fn useful_bytes(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: `source` holds 8 n words.
        unsafe { *target.add(i as usize) = *source.add((8 * i) as usize) };
    }
}
