use core::sync::atomic::Ordering::{AcqRel, Relaxed};
use cuda_std::atomic::{
    AtomicBf16, AtomicBf16x2, AtomicF16, AtomicF16x2, BlockAtomicBf16, BlockAtomicBf16x2,
    BlockAtomicF16, BlockAtomicF16x2, SystemAtomicBf16, SystemAtomicBf16x2, SystemAtomicF16,
    SystemAtomicF16x2,
};
use cuda_std::float::{Bf16x2, F16x2};
use cuda_std::{GpuHalf, bf16, f16, kernel, thread};

/// Declares kernels that store a function of the elements of two buffers.
macro_rules! of_two {
    ($($(#[$attribute:meta])* $name:ident($left:ident, $right:ident: $kind:ty) -> $result:ty { $body:expr })*) => {
        $(
            $(#[$attribute])*
            pub unsafe fn $name(left: *const $kind, right: *const $kind, target: *mut $result) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module.
                unsafe {
                    let ($left, $right) = (*left.add(tid), *right.add(tid));
                    *target.add(tid) = $body;
                }
            }
        )*
    };
}

of_two! {
    #[kernel] f16_add(a, b: f16) -> f16 { a + b }
    #[kernel] f16_sub(a, b: f16) -> f16 { a - b }
    #[kernel] f16_mul(a, b: f16) -> f16 { a * b }
    #[kernel] f16_div(a, b: f16) -> f16 { a / f16::from_bits(b.to_bits() | 1) }
    #[kernel] f16_neg(a, b: f16) -> f16 { if b > f16::ZERO { -a } else { a.abs() } }
    #[kernel] f16_mul_add(a, b: f16) -> f16 { a.mul_add(b, f16::ONE) }
    #[kernel] f16_less(a, b: f16) -> u32 { u32::from(a < b) }
    #[kernel] f16_max(a, b: f16) -> f16 { a.max(b) }
    #[kernel] f16_in_f32(a, b: f16) -> f16 { f16::from_f32(a.to_f32() + 0.1) + b }
    #[kernel(min_compute_capability = 80)] bf16_add(a, b: bf16) -> bf16 { a + b }
    #[kernel(min_compute_capability = 80)] bf16_sub(a, b: bf16) -> bf16 { a - b }
    #[kernel(min_compute_capability = 80)] bf16_mul(a, b: bf16) -> bf16 { a * b }
    #[kernel(min_compute_capability = 80)] bf16_mul_add(a, b: bf16) -> bf16 { a.mul_add(b, bf16::ONE) }
    #[kernel(min_compute_capability = 80)] bf16_less(a, b: bf16) -> u32 { u32::from(a < b) }
    #[kernel] bf16_in_software(a, b: bf16) -> bf16 { (a + b).mul_add(a, b) }
    #[kernel] f16x2_add(a, b: F16x2) -> F16x2 { a + b }
    #[kernel] f16x2_sub(a, b: F16x2) -> F16x2 { a - b }
    #[kernel] f16x2_mul(a, b: F16x2) -> F16x2 { -(a * b) }
    #[kernel] f16x2_mul_add(a, b: F16x2) -> F16x2 { a.mul_add(b, F16x2::splat(f16::ONE)) }
    #[kernel(min_compute_capability = 80)] bf16x2_add(a, b: Bf16x2) -> Bf16x2 { a + b }
    #[kernel(min_compute_capability = 80)] bf16x2_sub(a, b: Bf16x2) -> Bf16x2 { a - b }
    #[kernel(min_compute_capability = 80)] bf16x2_mul(a, b: Bf16x2) -> Bf16x2 { a * b }
    #[kernel(min_compute_capability = 80)] bf16x2_mul_add(a, b: Bf16x2) -> Bf16x2 {
        a.mul_add(b, Bf16x2::splat(bf16::ONE))
    }
}

/// Adds each thread's pair to one of each scope; one block, so that its scope is enough.
#[kernel]
pub unsafe fn atomic_f16x2(source: *const F16x2, sums: *mut F16x2) {
    // SAFETY: the launch contract of the module; four sums.
    unsafe {
        let value = *source.add(thread::thread_idx_x() as usize);
        AtomicF16x2::from_ptr(sums).fetch_add(value, Relaxed);
        BlockAtomicF16x2::from_ptr(sums.add(1)).fetch_add(value, Relaxed);
        SystemAtomicF16x2::from_ptr(sums.add(2)).fetch_add(value, AcqRel);
        AtomicF16x2::from_ptr(sums.add(3)).fetch_sub(value, Relaxed);
    }
}

/// As [`atomic_f16x2`].
#[kernel(min_compute_capability = 90)]
pub unsafe fn atomic_bf16x2(source: *const Bf16x2, sums: *mut Bf16x2) {
    // SAFETY: as there.
    unsafe {
        let value = *source.add(thread::thread_idx_x() as usize);
        AtomicBf16x2::from_ptr(sums).fetch_add(value, Relaxed);
        BlockAtomicBf16x2::from_ptr(sums.add(1)).fetch_add(value, Relaxed);
        SystemAtomicBf16x2::from_ptr(sums.add(2)).fetch_add(value, AcqRel);
        AtomicBf16x2::from_ptr(sums.add(3)).fetch_sub(value, Relaxed);
    }
}

/// Adds each thread's number to one of each scope, and then by compare-and-swap; one block, so that its scope is enough.
#[kernel]
pub unsafe fn atomic_f16(source: *const f16, sums: *mut f16) {
    // SAFETY: the launch contract of the module; five sums.
    unsafe {
        let value = *source.add(thread::thread_idx_x() as usize);
        AtomicF16::from_ptr(sums).fetch_add(value, Relaxed);
        BlockAtomicF16::from_ptr(sums.add(1)).fetch_add(value, Relaxed);
        SystemAtomicF16::from_ptr(sums.add(2)).fetch_add(value, AcqRel);
        AtomicF16::from_ptr(sums.add(3)).fetch_sub(value, Relaxed);
        let sum = AtomicF16::from_ptr(sums.add(4));
        let mut old = sum.load(Relaxed);
        while let Err(newer) = sum.compare_exchange(old, old + value, Relaxed, Relaxed) {
            old = newer;
        }
    }
}

/// As [`atomic_f16`].
#[kernel(min_compute_capability = 90)]
pub unsafe fn atomic_bf16(source: *const bf16, sums: *mut bf16) {
    // SAFETY: as there.
    unsafe {
        let value = *source.add(thread::thread_idx_x() as usize);
        AtomicBf16::from_ptr(sums).fetch_add(value, Relaxed);
        BlockAtomicBf16::from_ptr(sums.add(1)).fetch_add(value, Relaxed);
        SystemAtomicBf16::from_ptr(sums.add(2)).fetch_add(value, AcqRel);
        AtomicBf16::from_ptr(sums.add(3)).fetch_sub(value, Relaxed);
        let sum = AtomicBf16::from_ptr(sums.add(4));
        let mut old = sum.load(Relaxed);
        while let Err(newer) = sum.compare_exchange(old, old + value, Relaxed, Relaxed) {
            old = newer;
        }
    }
}
