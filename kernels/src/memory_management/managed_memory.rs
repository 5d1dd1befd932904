use cuda_std::prelude::*;

pub const THREADS_PER_BLOCK: u32 = 256;

/// Returns what becomes of a word.
#[must_use]
pub const fn mix(word: u32) -> u32 {
    word.wrapping_mul(5).wrapping_add(7)
}

/// `target[i] = mix(source[i])`, wherever the two arrays are.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n`.
/// - `source` and `target` are addresses that the device reaches, valid for `n` u32, not overlapping.
#[kernel]
pub unsafe fn managed_memory_mix(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = mix(*source.add(i as usize)) };
    }
}
