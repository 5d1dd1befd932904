use cuda_std::prelude::*;

pub const THREADS_PER_BLOCK: u32 = 256;

/// `target[i] = source[i] + 1`, wrapping, wherever the two arrays are.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n`.
/// - `source` and `target` are addresses that the device reaches, valid for `n` u32, not overlapping.
#[kernel]
pub unsafe fn unified_addressing_increment(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = (*source.add(i as usize)).wrapping_add(1) };
    }
}
