//! Kernels that LLVM would break if statics in shared memory were ordinary statics to it.
//!
//! To LLVM a static that one module owns is written by nobody else, and a function is run by one
//! thread. Each kernel here is wrong if an optimization believes that. All are launched with one
//! block of [`THREADS`] threads and write one u32 per thread.
#![no_std]

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::vector::U32x4;

/// Threads per block: two warps, so that values cross warps.
pub const THREADS: u32 = 64;

/// A load after a barrier is not served from before it, in a loop.
///
/// # Safety
/// - One block of `THREADS`.
/// - `target` valid for as many u32.
#[kernel]
pub unsafe fn load_is_not_hoisted(target: *mut u32, rounds: u32) {
    #[address_space(shared)]
    static mut VALUE: MaybeUninit<u32> = MaybeUninit::uninit();
    let value = (&raw mut VALUE).cast::<u32>();
    let thread = thread::thread_idx_x();
    let mut sum = 0;
    // SAFETY: barriers separate the writes of one thread from the reads of all.
    unsafe {
        for round in 0..rounds {
            if thread == round % THREADS {
                *value = round + 1;
            }
            thread::sync_threads();
            sum += *value;
            thread::sync_threads();
        }
        *target.add(thread as usize) = sum;
    }
}

/// Elements with constant indices stay elements of one array in shared memory.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn constant_indices(target: *mut u32) {
    #[address_space(shared)]
    static mut PAIR: MaybeUninit<[u32; 2]> = MaybeUninit::uninit();
    let pair = (&raw mut PAIR).cast::<u32>();
    let thread = thread::thread_idx_x();
    // SAFETY: two threads write one element each, and all read after the barrier.
    unsafe {
        if thread == 0 {
            *pair = 11;
        }
        if thread == THREADS - 1 {
            *pair.add(1) = 31;
        }
        thread::sync_threads();
        *target.add(thread as usize) = *pair + *pair.add(1);
    }
}

/// A static that is stored once, always with the same value, is still read from memory.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn stored_once(target: *mut u32) {
    #[address_space(shared)]
    static mut FLAG: MaybeUninit<u32> = MaybeUninit::uninit();
    let flag = (&raw mut FLAG).cast::<u32>();
    let thread = thread::thread_idx_x();
    // SAFETY: every thread's accesses are separated by barriers.
    unsafe {
        if thread == 0 {
            *flag = 0;
        }
        thread::sync_threads();
        let before = *flag;
        thread::sync_threads();
        if thread == THREADS - 1 {
            *flag = 1;
        }
        thread::sync_threads();
        *target.add(thread as usize) = before * 10 + *flag;
    }
}

/// A store that this thread never reads back is not removed: another thread reads it.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn lone_store(target: *mut u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; THREADS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<u32>();
    let thread = thread::thread_idx_x();
    // SAFETY: each thread writes its word, and reads another's after the barrier.
    unsafe {
        *words.add(thread as usize) = thread * 3;
        thread::sync_threads();
        *target.add(thread as usize) = *words.add(((thread + 33) % THREADS) as usize);
    }
}

/// A static outside functions, used by two kernels.
#[address_space(shared)]
static mut COMMON: MaybeUninit<[u32; THREADS as usize]> = MaybeUninit::uninit();

/// The first of two kernels on one static.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn common_first(target: *mut u32) {
    // SAFETY: as in `lone_store`.
    unsafe { rotate((&raw mut COMMON).cast(), target, 1) };
}

/// The second of two kernels on one static.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn common_second(target: *mut u32) {
    // SAFETY: as in `lone_store`.
    unsafe { rotate((&raw mut COMMON).cast(), target, 2) };
}

/// # Safety
/// - `words` is shared memory for `THREADS` u32.
/// - For the rest as [`load_is_not_hoisted`].
#[inline(always)]
unsafe fn rotate(words: *mut u32, target: *mut u32, by: u32) {
    let thread = thread::thread_idx_x();
    // SAFETY: each thread writes its word, and reads another's after the barrier.
    unsafe {
        *words.add(thread as usize) = thread;
        thread::sync_threads();
        *target.add(thread as usize) = *words.add(((thread + by) % THREADS) as usize);
    }
}

mod first {
    use super::*;

    /// A helper with a static of its own, with the same names as in `second`.
    #[inline(always)]
    pub fn scratch() -> *mut u32 {
        #[address_space(shared)]
        static mut SCRATCH: MaybeUninit<[u32; THREADS as usize]> = MaybeUninit::uninit();
        (&raw mut SCRATCH).cast()
    }
}

mod second {
    use super::*;

    /// A helper with a static of its own, with the same names as in `first`.
    #[inline(always)]
    pub fn scratch() -> *mut u32 {
        #[address_space(shared)]
        static mut SCRATCH: MaybeUninit<[u32; THREADS as usize]> = MaybeUninit::uninit();
        (&raw mut SCRATCH).cast()
    }
}

/// The static of an inlined helper is one array per kernel, however often the helper is called.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn helper_twice(target: *mut u32) {
    let thread = thread::thread_idx_x();
    // SAFETY: as in `lone_store`.
    unsafe {
        *first::scratch().add(thread as usize) = thread + 5;
        thread::sync_threads();
        *target.add(thread as usize) = *first::scratch().add(((thread + 40) % THREADS) as usize);
    }
}

/// Two helpers of one name have two arrays; this kernel uses both.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn two_helpers_of_one_name(target: *mut u32) {
    let thread = thread::thread_idx_x();
    // SAFETY: as in `lone_store`, for two arrays.
    unsafe {
        *first::scratch().add(thread as usize) = thread;
        *second::scratch().add(thread as usize) = 1000 + thread;
        thread::sync_threads();
        let other = ((thread + 32) % THREADS) as usize;
        *target.add(thread as usize) = *first::scratch().add(other) + *second::scratch().add(other);
    }
}

/// An array of vectors is aligned for 16-byte accesses, beside one of odd bytes.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn aligned_vectors(target: *mut u32) {
    #[address_space(shared)]
    static mut ODD: MaybeUninit<[u8; 3]> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut QUADS: MaybeUninit<[U32x4; THREADS as usize]> = MaybeUninit::uninit();
    let (odd, quads) = ((&raw mut ODD).cast::<u8>(), (&raw mut QUADS).cast::<U32x4>());
    let thread = thread::thread_idx_x();
    // SAFETY: three threads write a byte each, each thread its vector; all read after the barrier.
    unsafe {
        if thread < 3 {
            *odd.add(thread as usize) = thread as u8 + 1;
        }
        *quads.add(thread as usize) = U32x4::splat(thread);
        thread::sync_threads();
        let sum: u32 = (0..3).map(|index| u32::from(*odd.add(index))).sum();
        let quad = *quads.add(((thread + 1) % THREADS) as usize);
        *target.add(thread as usize) = quad.w + sum;
    }
}

/// A barrier between two branches on the same condition stays one barrier.
///
/// # Safety
/// - As [`load_is_not_hoisted`].
#[kernel]
pub unsafe fn barrier_between_branches(target: *mut u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; 2]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<u32>();
    let thread = thread::thread_idx_x();
    // SAFETY: barriers separate the writes of thread 0 and of the last from the reads of all.
    unsafe {
        if thread == 0 {
            *words = 3;
        } else if thread == THREADS - 1 {
            *words.add(1) = 4;
        }
        thread::sync_threads();
        if thread == 0 {
            *words += *words.add(1);
        }
        thread::sync_threads();
        *target.add(thread as usize) = *words;
    }
}

/// More than constant memory has.
#[cfg(feature = "constant_too_large")]
#[address_space(constant)]
pub static mut TOO_LARGE: [u8; 65 << 10] = [0; 65 << 10];

/// A kernel that is in the PTX for 10.0's family alone.
///
/// # Safety
/// - One block of `THREADS`.
/// - `target` valid for as many u32.
#[kernel(min_compute_capability = 100f)]
pub unsafe fn only_of_a_family(target: *mut u32) {
    // SAFETY: the launch contract.
    unsafe { *target.add(thread::thread_idx_x() as usize) = 1 };
}
