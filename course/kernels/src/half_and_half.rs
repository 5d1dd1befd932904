//! # Half and half: two kinds of work in one warp
//!
//! The numbers of the first half of the array take one computation, those of the second half another. The
//! threads take them in turn: even threads from the first half, odd threads from the second. So every warp
//! has lanes of both kinds, and executes both computations with half of its lanes idle.
//!
//! Give each warp one kind of work.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per number and up to 256 more.
/// - Both arrays hold `n` numbers.
#[kernel]
pub unsafe fn half_and_half(source: *const f32, target: *mut f32, n: u32, rounds: u32) {
    let thread = thread::index_1d();
    let half = n.div_ceil(2);
    // learn: your code
    let i = thread;
    // learn: instead
    //| // TODO: do the lanes of a warp agree at the branch below?
    //| let i = if thread % 2 == 0 { thread / 2 } else { half + thread / 2 };
    // learn: end
    if i >= n {
        return;
    }
    // SAFETY: i < n.
    let mut value = unsafe { *source.add(i as usize) };
    if i < half {
        for _ in 0..rounds {
            value = value * 0.5 + 1.0;
        }
    } else {
        for _ in 0..rounds {
            value = (value - 3.0) * 0.25;
        }
    }
    // SAFETY: i < n.
    unsafe { *target.add(i as usize) = value };
}
