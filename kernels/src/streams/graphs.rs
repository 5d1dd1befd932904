use cuda_std::grid;
use cuda_std::prelude::*;

pub const THREADS_PER_BLOCK: u32 = 256;
/// The factor by which each kernel multiplies.
pub const FACTOR: u32 = 3;

/// `target[i] = FACTOR * source[i] + addend`, wrapping: a chain of these with different addends gives its result in
/// one order only.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n`.
/// - `source` and `target` valid for `n` u32, and either one array or not overlapping.
#[kernel]
pub unsafe fn graphs_step(source: *const u32, target: *mut u32, n: u32, addend: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe {
            let value = *source.add(i as usize);
            *target.add(i as usize) = value.wrapping_mul(FACTOR).wrapping_add(addend);
        }
    }
}

/// [`graphs_step`] that may start before the kernel ahead of it has ended, and lets the next one do so.
///
/// # Safety
/// - As for [`graphs_step`].
#[kernel(min_compute_capability = 90)]
pub unsafe fn graphs_step_early(source: *const u32, target: *mut u32, n: u32, addend: u32) {
    grid::launch_dependents();
    let i = thread::index_1d();
    grid::wait_for_previous();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract); the previous kernel has ended.
        unsafe {
            let value = *source.add(i as usize);
            *target.add(i as usize) = value.wrapping_mul(FACTOR).wrapping_add(addend);
        }
    }
}
