//! # Shuffles: the sum of a warp
//!
//! Each warp sums its 32 numbers by shuffles, and lane 0 stores the sum. A shuffle takes a mask with a bit
//! for every lane. The author of this one says that "only the lower half is needed in the end".

use cuda_std::prelude::*;
#[allow(unused_imports)]
use cuda_std::warp::{FULL_MASK, warp_shuffle_down};

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per number.
/// - `source` holds `n` numbers, `target` one for 32 of them.
#[kernel]
pub unsafe fn wrong_mask(source: *const u32, target: *mut u32, n: u32) {
    // learn: your code
    const MASK: u32 = FULL_MASK;
    // learn: instead
    //| // TODO: which lanes execute the shuffle below?
    //| const MASK: u32 = 0x0000_ffff;
    // learn: end
    let i = thread::index_1d();
    // SAFETY: i is checked against n; every lane of the warp executes the shuffles.
    unsafe {
        let mut sum = if i < n { *source.add(i as usize) } else { 0 };
        for delta in [16, 8, 4, 2, 1] {
            sum = sum.wrapping_add(warp_shuffle_down(MASK, sum, delta, 32).0);
        }
        if warp::lane_id() == 0 && i < n {
            *target.add((i / 32) as usize) = sum;
        }
    }
}
