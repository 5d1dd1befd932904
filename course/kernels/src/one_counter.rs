//! # One counter: 32 lanes, one word
//!
//! The kernel counts the numbers above 0 in one word of global memory. Every lane that finds one adds 1
//! to that word, and the memory serves lanes that want the same word one after the other.
//!
//! A warp can count first: `warp::warp_vote_ballot(FULL_MASK, condition)` gives every lane one bit per
//! lane whose condition holds, if all 32 lanes take part. Then one lane can add for all. The goal is one{solved global atomics / solved warps}
//! atomic per warp.

use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::AtomicU32;
use cuda_std::prelude::*;
#[allow(unused_imports)]
use cuda_std::warp::{FULL_MASK, warp_vote_ballot};

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per number.
/// - `source` holds `n` numbers, `count` one word that begins as 0.
#[kernel]
pub unsafe fn one_counter(source: *const f32, count: *mut u32, n: u32) {
    let i = thread::index_1d();
    // SAFETY: i is checked against n; every lane of the warp takes part in the vote.
    unsafe {
        let is_above = i < n && *source.add(i as usize) > 0.0;
        let counter = AtomicU32::from_ptr(count);
        // learn: your code
        let votes = warp_vote_ballot(FULL_MASK, is_above);
        if warp::lane_id() == 0 {
            counter.fetch_add(votes.count_ones(), Relaxed);
        }
        // learn: instead
        //| // TODO: how many lanes of a warp want the counter at once?
        //| if is_above {
        //|     counter.fetch_add(1, Relaxed);
        //| }
        // learn: end
    }
}
