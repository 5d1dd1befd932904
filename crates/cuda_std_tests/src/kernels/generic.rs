use core::ops::{Add, Mul};
use cuda_std::kernel::ByValue;
use cuda_std::safe::PerThread;
use cuda_std::{kernel, thread};

/// Stores `N` times the element, plus itself.
#[kernel(T = [f32, f64, u32], N = [2, 3])]
pub unsafe fn multiple<T, const N: u32>(source: *const T, target: *mut T)
where
    T: Copy + Add<Output = T>,
{
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe {
        let value = *source.add(tid);
        let mut sum = value;
        for _ in 0..N {
            sum = sum + value;
        }
        *target.add(tid) = sum;
    }
}

/// A safe one: each thread's element is scaled.
#[kernel(T = [f32, u64], block = 64, same_length(x, z))]
pub fn scaled<T: ByValue + Mul<Output = T>>(factor: T, x: &[T], mut z: PerThread<T>) {
    let i = z.index();
    if let Some(z) = z.mine() {
        *z = factor * x[i];
    }
}
