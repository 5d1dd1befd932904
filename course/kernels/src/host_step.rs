//! The kernel that host tasks launch: a learner edits the calls around it, not the kernel.

use cuda_std::prelude::*;

/// One round turns each value x into 3 x + `add`.
///
/// # Safety
/// - A thread per value.
/// - Both arrays hold `n` values, and may be the same.
#[kernel]
pub unsafe fn host_step(
    source: *const u32,
    target: *mut u32,
    n: u32,
    factor: u32,
    add: u32,
    rounds: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i is below n, the length of both arrays, and no other thread uses this value.
        unsafe {
            let mut value = *source.add(i as usize);
            for _ in 0..rounds {
                value = value.wrapping_mul(factor).wrapping_add(add);
            }
            *target.add(i as usize) = value;
        }
    }
}
