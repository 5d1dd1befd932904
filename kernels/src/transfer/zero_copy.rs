use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

pub const THREADS_PER_BLOCK: u32 = 256;
/// The distance in words from one read of a thread to its next: 32 blocks further, so that another multiprocessor has read
/// that word before.
pub const SHIFT: u32 = 32 * THREADS_PER_BLOCK;

/// Multiplies each word, neighbouring lanes on neighbouring words.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` and `target` valid for `n` u32, not overlapping.
#[kernel]
pub unsafe fn zero_copy_scale(source: *const u32, target: *mut u32, n: u32, factor: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = (*source.add(i as usize)).wrapping_mul(factor) };
    }
}

/// Multiplies each word, the lanes of a warp `n / 32` words apart.
///
/// # Safety
/// - As for [`zero_copy_scale`], but covering `32 * ceil(n / 32)` threads.
#[kernel]
pub unsafe fn zero_copy_strided(source: *const u32, target: *mut u32, n: u32, factor: u32) {
    let thread = thread::index_1d();
    let (warp, lane) = (thread / WARP_SIZE, thread % WARP_SIZE);
    let rows = n.div_ceil(WARP_SIZE);
    let i = lane * rows + warp;
    if warp < rows && i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = (*source.add(i as usize)).wrapping_mul(factor) };
    }
}

/// Reads each word `passes` times, always in another block: `target[i]` is the sum of words that are `SHIFT` words apart.
///
/// # Safety
/// - As for [`zero_copy_scale`].
/// - `n + SHIFT` fits 32 bits.
#[kernel]
pub unsafe fn zero_copy_reread(source: *const u32, target: *mut u32, n: u32, passes: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut sum = 0_u32;
        let mut index = i;
        for _ in 0..passes {
            // SAFETY: `index` is below n, the length of the array (launch contract).
            sum = sum.wrapping_add(unsafe { *source.add(index as usize) });
            index = (index + SHIFT) % n;
        }
        // SAFETY: i < n (launch contract).
        unsafe { *target.add(i as usize) = sum };
    }
}

/// Writes each word `passes` times; the last time three times its source.
///
/// # Safety
/// - As for [`zero_copy_scale`].
#[kernel]
pub unsafe fn zero_copy_rewrite(source: *const u32, target: *mut u32, n: u32, passes: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        let word = unsafe { *source.add(i as usize) };
        for pass in (0..passes).rev() {
            // Volatile, so that no compiler drops all writes but the last.
            // SAFETY: i < n (launch contract).
            unsafe { target.add(i as usize).write_volatile(word.wrapping_mul(3 + pass)) };
        }
    }
}
