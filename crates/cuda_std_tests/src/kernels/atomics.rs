use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32 as CoreAtomicU32, Ordering};
use cuda_std::atomic::{
    AtomicF32, AtomicF64, AtomicI32, AtomicI64, AtomicU32, AtomicU64, BlockAtomicF32,
    BlockAtomicF64, BlockAtomicI32, BlockAtomicI64, BlockAtomicU32, BlockAtomicU64,
    SystemAtomicF32, SystemAtomicF64, SystemAtomicI32, SystemAtomicI64, SystemAtomicU32,
    SystemAtomicU64, mid,
};
use cuda_std::vector::{F32x2, F32x4};
use cuda_std::{address_space, atomic, grid, kernel, thread};

/// Declares kernels in which all threads apply an operation to one number.
macro_rules! updates {
    ($($name:ident: $atomic:ident.$method:ident($kind:ty, $ordering:expr);)*) => {
        $(
            #[kernel]
            pub unsafe fn $name(source: *const $kind, number: *mut $kind) {
                // SAFETY: the launch contract of the module. Some of these methods are safe.
                #[allow(unused_unsafe)]
                unsafe {
                    let value = *source.add(thread::thread_idx_x() as usize);
                    $atomic::from_ptr(number).$method(value, $ordering);
                }
            }
        )*
    };
}

updates! {
    device_add_f32: AtomicF32.fetch_add(f32, Relaxed);
    device_add_f64: AtomicF64.fetch_add(f64, Relaxed);
    device_add_u32: AtomicU32.fetch_add(u32, Relaxed);
    device_add_i32: AtomicI32.fetch_add(i32, Relaxed);
    device_add_u64: AtomicU64.fetch_add(u64, Relaxed);
    device_add_i64: AtomicI64.fetch_add(i64, Relaxed);
    block_add_f32: BlockAtomicF32.fetch_add(f32, Relaxed);
    block_add_f64: BlockAtomicF64.fetch_add(f64, Relaxed);
    block_add_u32: BlockAtomicU32.fetch_add(u32, Relaxed);
    block_add_i32: BlockAtomicI32.fetch_add(i32, Relaxed);
    block_add_u64: BlockAtomicU64.fetch_add(u64, Relaxed);
    block_add_i64: BlockAtomicI64.fetch_add(i64, Relaxed);
    system_add_f32: SystemAtomicF32.fetch_add(f32, Relaxed);
    system_add_f64: SystemAtomicF64.fetch_add(f64, Relaxed);
    system_add_u32: SystemAtomicU32.fetch_add(u32, Relaxed);
    system_add_i32: SystemAtomicI32.fetch_add(i32, Relaxed);
    system_add_u64: SystemAtomicU64.fetch_add(u64, Relaxed);
    system_add_i64: SystemAtomicI64.fetch_add(i64, Relaxed);

    add_acquire: AtomicU32.fetch_add(u32, Acquire);
    add_release: AtomicU32.fetch_add(u32, Release);
    add_acq_rel: AtomicU32.fetch_add(u32, AcqRel);
    add_seq_cst: AtomicU32.fetch_add(u32, SeqCst);
    block_add_acq_rel: BlockAtomicU32.fetch_add(u32, AcqRel);
    block_add_seq_cst: BlockAtomicU32.fetch_add(u32, SeqCst);
    system_add_acq_rel: SystemAtomicU32.fetch_add(u32, AcqRel);
    system_add_seq_cst: SystemAtomicU32.fetch_add(u32, SeqCst);

    sub_u32: AtomicU32.fetch_sub(u32, Relaxed);
    sub_i64: AtomicI64.fetch_sub(i64, Relaxed);
    sub_f32: AtomicF32.fetch_sub(f32, Relaxed);
    sub_f64: AtomicF64.fetch_sub(f64, Relaxed);
    and_u32: AtomicU32.fetch_and(u32, Relaxed);
    and_u64: AtomicU64.fetch_and(u64, Relaxed);
    and_f32: AtomicF32.fetch_and(f32, Relaxed);
    or_i32: AtomicI32.fetch_or(i32, Relaxed);
    or_f64: AtomicF64.fetch_or(f64, Relaxed);
    xor_u32: AtomicU32.fetch_xor(u32, Relaxed);
    xor_i64: AtomicI64.fetch_xor(i64, Relaxed);
    min_u32: AtomicU32.fetch_min(u32, Relaxed);
    min_i32: AtomicI32.fetch_min(i32, Relaxed);
    min_u64: AtomicU64.fetch_min(u64, Relaxed);
    min_i64: AtomicI64.fetch_min(i64, Relaxed);
    max_u32: AtomicU32.fetch_max(u32, Relaxed);
    max_i32: AtomicI32.fetch_max(i32, Relaxed);
    max_u64: AtomicU64.fetch_max(u64, Relaxed);
    max_i64: AtomicI64.fetch_max(i64, Relaxed);
    swap_u32: AtomicU32.swap(u32, Relaxed);
    swap_f64: AtomicF64.swap(f64, Relaxed);
}

/// Every operation that all types have, on a cell of its own, by every type of a list: those of one scope each.
///
/// The result of each does not depend on the order of the threads: all of them swap the same value in.
macro_rules! cells {
    ($kind:ty, $first:ident, $value:ident, [$($atomic:ident),*], $more:tt) => {
        $(
            let cell = |index: usize| $atomic::from_ptr($first.add(index));
            cell(0).fetch_add($value, Relaxed);
            cell(1).fetch_sub($value, Relaxed);
            cell(2).swap(7 as $kind, Relaxed);
            cell(3).fetch_and($value, Relaxed);
            cell(4).fetch_or($value, Relaxed);
            cell(5).fetch_xor($value, Relaxed);
            let mut current = cell(6).load(Relaxed);
            while let Err(now) = cell(6).compare_exchange(current, current + $value, Relaxed, Relaxed) {
                current = now;
            }
            cells!(@ cell $value $more);
            $first = $first.add(ROW_OF_CELLS);
        )*
    };
    (@ $cell:ident $value:ident []) => {};
    (@ $cell:ident $value:ident [integer]) => {
        $cell(7).fetch_min($value, Relaxed);
        $cell(8).fetch_max($value, Relaxed);
    };
    (@ $cell:ident $value:ident [counter]) => {
        cells!(@ $cell $value [integer]);
        $cell(9).fetch_inc(10, Relaxed);
        $cell(10).fetch_dec(10, Relaxed);
    };
}

/// Cells of a type and a scope in [`table`].
pub const ROW_OF_CELLS: usize = 11;

/// The table of CUDA: every operation, type and scope. The elements are whole numbers of 0 to 63, which all types have.
#[kernel]
pub unsafe fn table(
    source: *const u32,
    u32s: *mut u32,
    i32s: *mut i32,
    u64s: *mut u64,
    i64s: *mut i64,
    f32s: *mut f32,
    f64s: *mut f64,
) {
    let (mut u32s, mut i32s, mut u64s, mut i64s) = (u32s, i32s, u64s, i64s);
    let (mut f32s, mut f64s) = (f32s, f64s);
    // SAFETY: the launch contract of the module; one block, so that its scope is enough.
    #[allow(unused_unsafe, unused_assignments)]
    unsafe {
        let value = *source.add(thread::thread_idx_x() as usize);
        cells!(u32, u32s, value, [AtomicU32, BlockAtomicU32, SystemAtomicU32], [counter]);
        let signed = value as i32 - 30;
        cells!(i32, i32s, signed, [AtomicI32, BlockAtomicI32, SystemAtomicI32], [integer]);
        let long = u64::from(value) << 33;
        cells!(u64, u64s, long, [AtomicU64, BlockAtomicU64, SystemAtomicU64], [integer]);
        let signed_long = (i64::from(value) - 30) << 33;
        cells!(i64, i64s, signed_long, [AtomicI64, BlockAtomicI64, SystemAtomicI64], [integer]);
        let float = value as f32;
        cells!(f32, f32s, float, [AtomicF32, BlockAtomicF32, SystemAtomicF32], []);
        let double = f64::from(value) * 1e9;
        cells!(f64, f64s, double, [AtomicF64, BlockAtomicF64, SystemAtomicF64], []);
    }
}

/// Declares kernels in which thread 0 loads a number with one ordering and stores it with another.
macro_rules! accesses {
    ($($name:ident: $atomic:ident($kind:ty), $load:expr, $store:expr;)*) => {
        $(
            #[kernel]
            pub unsafe fn $name(source: *mut $kind, target: *mut $kind) {
                if thread::thread_idx_x() == 0 {
                    // SAFETY: the launch contract of the module. Some of these methods are safe.
                    #[allow(unused_unsafe)]
                    unsafe {
                        let value = $atomic::from_ptr(source).load($load);
                        $atomic::from_ptr(target).store(value, $store);
                    }
                }
            }
        )*
    };
}

accesses! {
    device_relaxed: AtomicF32(f32), Relaxed, Relaxed;
    device_acquire_release: AtomicU64(u64), Acquire, Release;
    device_seq_cst: AtomicU32(u32), SeqCst, SeqCst;
    block_acquire_release: BlockAtomicF64(f64), Acquire, Release;
    block_seq_cst: BlockAtomicI32(i32), SeqCst, SeqCst;
    system_acquire_release: SystemAtomicF32(f32), Acquire, Release;
    system_seq_cst: SystemAtomicI64(i64), SeqCst, SeqCst;
}

/// Every thread increments one number by compare-and-swap until it succeeds.
#[kernel]
pub unsafe fn compare_exchange(number: *mut u32) {
    // SAFETY: the launch contract of the module.
    let number = unsafe { AtomicU32::from_ptr(number) };
    let mut current = number.load(Relaxed);
    while let Err(now) = number.compare_exchange(current, current + 3, AcqRel, Acquire) {
        current = now;
    }
}

/// Every thread multiplies one number by two by compare-and-swap on its bits.
#[kernel]
pub unsafe fn compare_exchange_f64(number: *mut f64) {
    // SAFETY: the launch contract of the module.
    unsafe {
        let number = BlockAtomicF64::from_ptr(number);
        let mut current = number.load(Relaxed);
        while let Err(now) = number.compare_exchange(current, current * 2.0, Relaxed, Relaxed) {
            current = now;
        }
    }
}

/// Counts the values of the elements, below 16, in shared memory; then adds the counts to the target.
#[kernel]
pub unsafe fn shared_histogram(source: *const u32, target: *mut u32) {
    #[address_space(shared)]
    static mut COUNTS: MaybeUninit<[u32; 16]> = MaybeUninit::uninit();
    let counts = (&raw mut COUNTS).cast::<u32>();
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; barriers separate the three steps.
    unsafe {
        if tid < 16 {
            *counts.add(tid) = 0;
        }
        thread::sync_threads();
        let value = *source.add(tid) as usize;
        BlockAtomicU32::from_ptr(counts.add(value)).fetch_add(1, Relaxed);
        thread::sync_threads();
        if tid < 16 {
            AtomicU32::from_ptr(target.add(tid)).fetch_add(*counts.add(tid), Relaxed);
        }
    }
}

/// Adds to a number whose state space LLVM cannot know: one of two, as an element says.
#[kernel]
pub unsafe fn unknown_space(source: *const u32, target: *mut u32) {
    #[address_space(shared)]
    static mut SHARED: MaybeUninit<u32> = MaybeUninit::uninit();
    let shared = (&raw mut SHARED).cast::<u32>();
    let tid = thread::thread_idx_x() as usize;
    // SAFETY: the launch contract of the module; barriers separate the three steps.
    unsafe {
        if tid == 0 {
            *shared = 0;
        }
        thread::sync_threads();
        let number = if (*source.add(tid)).is_multiple_of(2) { target } else { shared };
        AtomicU32::from_ptr(number).fetch_add(1, Relaxed);
        thread::sync_threads();
        if tid == 0 {
            *target.add(1) = *shared;
        }
    }
}

/// The functions on plain pointers: a counter of blocks, with the orderings of a last-block test.
#[kernel]
pub unsafe fn plain_functions(number: *mut u32, target: *mut u32) {
    // SAFETY: the launch contract of the module.
    unsafe {
        mid::atomic_fetch_add_u32_device(number, AcqRel, 1);
        mid::atomic_fetch_max_i64_system(target.add(2).cast(), Relaxed, -5);
        mid::atomic_compare_and_swap_f32_block(target.add(4).cast(), 1.0, 2.0, Release);
        let value = mid::atomic_load_32_device(number, Acquire);
        if value == super::THREADS {
            mid::atomic_store_64_system(target.cast(), Release, 9);
        }
    }
}

/// Declares kernels with one fence.
macro_rules! fences {
    ($($name:ident: $function:ident($ordering:expr);)*) => {
        $(
            #[kernel]
            pub unsafe fn $name(target: *mut u32) {
                let tid = thread::thread_idx_x() as usize;
                // SAFETY: the launch contract of the module; the target has twice the elements.
                unsafe {
                    *target.add(tid) = 1;
                    mid::$function($ordering);
                    *target.add(tid + super::THREADS as usize) = 2;
                }
            }
        )*
    };
}

fences! {
    fence_block_acq_rel: block_thread_fence(AcqRel);
    fence_block_seq_cst: block_thread_fence(SeqCst);
    fence_device_release: device_thread_fence(Release);
    fence_device_seq_cst: device_thread_fence(SeqCst);
    fence_system_acquire: system_thread_fence(Acquire);
    fence_system_seq_cst: system_thread_fence(SeqCst);
    fence_relaxed: device_thread_fence(Ordering::Relaxed);
}

/// The atomics of `core`.
#[kernel]
pub unsafe fn core_atomics(number: *mut u32, target: *mut u32) {
    // SAFETY: the launch contract of the module.
    unsafe {
        CoreAtomicU32::from_ptr(number).fetch_add(1, Relaxed);
        CoreAtomicU32::from_ptr(target).store(5, Release);
        CoreAtomicU32::from_ptr(target.add(1)).load(Acquire);
    }
}

/// Adds each thread's vector to one of four vectors, and its ends to one of eight pairs, when the kernel ahead has ended.
#[kernel(min_compute_capability = 90)]
pub unsafe fn add_vectors(source: *const F32x4, fours: *mut F32x4, pairs: *mut F32x2) {
    grid::launch_dependents();
    let tid = thread::thread_idx_x() as usize;
    grid::wait_for_previous();
    // SAFETY: the launch contract of the module; the targets have four vectors and eight pairs in global memory.
    unsafe {
        let vector = *source.add(tid);
        atomic::add_f32x4(fours.add(tid % 4), vector);
        atomic::add_f32x2(pairs.add(tid % 8), F32x2::new(vector.x, vector.w));
    }
}
