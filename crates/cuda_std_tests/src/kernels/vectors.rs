//! Kernels for `cuda_std::vector`: every way to move a vector must be one instruction.

use core::mem::MaybeUninit;
use cuda_std::vector::{
    self, F32x2, F32x4, F64x2, I32x2, I32x4, I64x2, U8x4, U8x8, U8x16, U16x4, U16x8, U32x2, U32x4,
    U64x2,
};
use cuda_std::{address_space, kernel, thread};

/// Declares kernels that copy a vector by dereferencing pointers.
macro_rules! copies {
    ($($name:ident: $kind:ty;)*) => {
        $(
            #[kernel]
            pub unsafe fn $name(source: *const $kind, target: *mut $kind) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module.
                unsafe { *target.add(tid) = *source.add(tid) };
            }
        )*
    };
}

copies! {
    copy_f32x2: F32x2;
    copy_f32x4: F32x4;
    copy_f64x2: F64x2;
    copy_u32x2: U32x2;
    copy_u32x4: U32x4;
    copy_i32x2: I32x2;
    copy_i32x4: I32x4;
    copy_u64x2: U64x2;
    copy_i64x2: I64x2;
    copy_u16x4: U16x4;
    copy_u16x8: U16x8;
    copy_u8x4: U8x4;
    copy_u8x8: U8x8;
    copy_u8x16: U8x16;
}

/// Copies from a slice, whose loads are read-only, to a mutable slice.
#[kernel]
pub unsafe fn copy_slices(source: &[F32x4], target: &mut [F32x4]) {
    let tid = thread::thread_idx_x() as usize;
    if tid < source.len() && tid < target.len() {
        target[tid] = source[tid];
    }
}

/// Swaps two vectors: both are in registers before the first store.
#[kernel]
pub unsafe fn swap_vectors(left: *mut F32x4, right: *mut F32x4) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe {
        let (a, b) = (*left.add(tid), *right.add(tid));
        *left.add(tid) = b;
        *right.add(tid) = a;
    }
}

/// Loads and stores vectors through pointers to their elements.
#[kernel]
pub unsafe fn load_store_functions(source: *const f32, target: *mut f32) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module, with four elements for each thread.
    unsafe {
        let value: F32x4 = vector::load(source.add(4 * tid));
        vector::store(target.add(4 * tid), value);
    }
}

/// Reads and writes fields between a load and a store.
#[kernel]
pub unsafe fn vector_fields(source: *const F32x4, target: *mut F32x4) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe {
        let mut value = *source.add(tid);
        value.x += value.w;
        value.z = 2.0;
        *target.add(tid) = value;
    }
}

/// Computes with whole vectors: `(source + 1) * source - 2`, times 3.
#[kernel]
pub unsafe fn vector_arithmetic(source: *const F32x4, target: *mut F32x4) {
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module.
    unsafe {
        let value = *source.add(tid);
        let mut sum = (value + F32x4::splat(1.0)) * value;
        sum -= F32x4::new(2.0, 2.0, 2.0, 2.0);
        *target.add(tid) = sum * 3.0;
    }
}

/// Reverses vectors within the block through shared memory.
#[kernel]
pub unsafe fn shared_vectors(source: *const F32x4, target: *mut F32x4) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[F32x4; super::THREADS as usize]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<F32x4>();
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; each element is written before the barrier and read
    // after it.
    unsafe {
        *tile.add(tid) = *source.add(tid);
        thread::sync_threads();
        *target.add(tid) = *tile.add(super::THREADS as usize - 1 - tid);
    }
}
