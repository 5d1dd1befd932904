//! Scans and sums within a warp, by shuffles.

use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_idx, warp_shuffle_up, warp_shuffle_xor};

/// N independent inclusive scans over a warp at once, so that none waits for another.
///
/// # Safety
/// - All lanes of the warp call.
#[inline(always)]
pub unsafe fn warp_scans<const N: usize>(values: [f32; N]) -> [f32; N] {
    let mut sums = values;
    for delta in [1, 2, 4, 8, 16] {
        for sum in &mut sums {
            // SAFETY: all lanes call.
            let (lower, is_inside) = unsafe { warp_shuffle_up(FULL_MASK, *sum, delta, WARP_SIZE) };
            if is_inside {
                *sum += lower;
            }
        }
    }
    sums
}

/// An inclusive scan over the lanes of a warp.
///
/// # Safety
/// - All lanes of the warp call.
#[inline(always)]
pub unsafe fn warp_scan(value: f32) -> f32 {
    // SAFETY: all lanes call.
    let [sum] = unsafe { warp_scans([value]) };
    sum
}

/// The sum over the lanes of a warp, in each.
///
/// # Safety
/// - All lanes of the warp call.
#[inline(always)]
pub unsafe fn warp_sum(mut sum: f32) -> f32 {
    for lanes in [16, 8, 4, 2, 1] {
        // SAFETY: all lanes call.
        sum += unsafe { warp_shuffle_xor(FULL_MASK, sum, lanes, WARP_SIZE) }.0;
    }
    sum
}

/// The value of another lane.
///
/// # Safety
/// - All lanes of the warp call.
#[inline(always)]
pub unsafe fn of_lane<T: cuda_std::warp::WarpShuffleValue>(value: T, lane: u32) -> T {
    // SAFETY: all lanes call.
    unsafe { warp_shuffle_idx(FULL_MASK, value, lane, WARP_SIZE) }.0
}
