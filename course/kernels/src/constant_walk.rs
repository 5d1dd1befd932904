//! # Constant walk: the fast memory that is slow here
//!
//! The kernel multiplies every number by one of 32 factors, in turn. The factors are in constant memory,
//! which gives one word to all lanes at once. Here every lane wants another word, and the lanes are
//! served one after the other.
//!
//! Read the factors from memory that serves 32 neighbouring words at once: the same static without the
//! attribute lies in global memory.

use cuda_std::prelude::*;

// learn: your code
static FACTORS: [f32; 32] = factors();
// learn: instead
//| // TODO: how many different words do the lanes of a warp want at once?
//| #[address_space(constant)]
//| static FACTORS: [f32; 32] = factors();
// learn: end

/// 1, 2, 4, .. 128, four times.
const fn factors() -> [f32; 32] {
    let mut factors = [0.0; 32];
    let mut i = 0;
    while i < 32 {
        factors[i] = (1 << (i % 8)) as f32;
        i += 1;
    }
    factors
}

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per number.
/// - Both arrays hold `n` numbers.
#[kernel]
pub unsafe fn constant_walk(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; there are 32 factors, which nobody writes.
        unsafe {
            let factor = *(&raw const FACTORS).cast::<f32>().add((i % 32) as usize);
            *target.add(i as usize) = factor * *source.add(i as usize);
        }
    }
}
