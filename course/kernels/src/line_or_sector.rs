//! # Line or sector: what one word costs
//!
//! Nothing is to be repaired here. Read the kernel and put your answers into this file.
//!
//! The lanes read words in an order like that of a shuffled pack of cards: no two are neighbours. A
//! cache line is 128 bytes, a sector is 32.
//!
//! 1. How many bytes does memory move for one load of a warp?
//! 2. What moves for a lonely word: 1 a cache line, 2 a sector, 3 the word alone?

use cuda_std::prelude::*;

// learn: your code
// answer 1: 1024
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
pub unsafe fn line_or_sector(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: the remainder is below n.
        unsafe {
            *target.add(i as usize) = *source.add((i.wrapping_mul(2_654_435_761) % n) as usize)
        };
    }
}
