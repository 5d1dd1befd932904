use cuda_std::wide::{self, Wide};
use cuda_std::{kernel, thread};

/// Copies 32 bytes for each thread.
#[inline(always)]
unsafe fn copy<T: Wide>(source: *const T, target: *mut T) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module, with buffers aligned to 32 bytes.
    unsafe { wide::store(target.add(tid), wide::load(source.add(tid))) };
}

#[kernel(min_compute_capability = 100)]
pub unsafe fn wide_f32(source: *const [f32; 8], target: *mut [f32; 8]) {
    // SAFETY: the launch contract.
    unsafe { copy(source, target) };
}

#[kernel(min_compute_capability = 100)]
pub unsafe fn wide_u64(source: *const [u64; 4], target: *mut [u64; 4]) {
    // SAFETY: the launch contract.
    unsafe { copy(source, target) };
}
