//! # Reduction: one sum of many elements, with as little talk between threads as possible
//!
//! Shows: threads add in registers first, warps by shuffles, blocks through shared memory, and only
//! blocks meet at an address in device memory.
//!
//! A sum of n elements needs n - 1 additions. What differs is where the partial sums meet:
//!
//! ```text
//! where two partial sums meet      how many meet there at a time
//!   device memory, atomically      1: additions to one address happen one after the other
//!   shared memory                  32 lanes per pass, with a barrier between the levels of a tree
//!   registers of a warp, shuffled  32 lanes, no memory, no barrier
//!   registers of a thread          as many as the thread likes
//!
//! tree of 512 words, level s = 1, 2, 4 .. 256: threads at work, and their words
//!   interleaved  tid % 2s = 0: words tid, tid + s  warps 16 16 16 16 16 8 4 2 1 = 95, conflict-free
//!   strided      tid < 256/s: words 2s tid + {0,s} warps  8  4  2  1  1 1 1 1 1 = 20
//!                                                  passes each 2 4 8 16 16 8 4 2 1
//!   sequential   s = 256 .. 1: words tid, tid + s  warps  8  4  2  1  1 1 1 1 1 = 20, conflict-free
//! ```
//!
//! The rung with divergent warps has no bank conflicts: all words of a warp lie within 32. Conflicts
//! come with the first repair, which packs the threads at work and spreads their words.
//!
//! | variant | change from the previous one | sectors per load | shared wavefronts, load / store | global atomics | limited by |
//! |---|---|---|---|---|---|
//! | `global_atomic` | every thread adds to one address | 4 | none | n, 32 passes each request | one address in L2 |
//! | `interleaved` | a tree in shared memory, one atomic per block | 4 | 1 / 1 | n / 512 | idle lanes, barriers |
//! | `strided` | the threads at work are the first ones | 4 | 4.66 / 3.08 | n / 512 | bank conflicts, barriers |
//! | `sequential` | the tree folds the upper half onto the lower | 4 | 1 / 1 | n / 512 | barriers |
//! | `shuffle` | warps add by shuffles, one shared word per warp | 4 | 1 / 1 | n / 512 | bytes in flight |
//! | `vectorized` | few blocks, 16-byte loads, four in flight per thread | 16 | 1 / 1 | at most 528 | device memory |
//! | `vectorized_i32` | the same for 32-bit integers | 16 | 1 / 1 | at most 528 | device memory |
//! | `vectorized_f64` | the same for doubles, two per load | 16 | 1 / 1 | at most 528 | device memory |
//!
//! Expected: the floor is the time to read the array once: 4 n bytes over the bandwidth of device
//! memory, which a kernel that only reads reaches better than a copy does. `global_atomic` is n
//! additions one after the other. The trees read one word per thread and cannot have more in flight
//! than the scalar copy of `coalescing`. `vectorized` has 2048 threads x 64 B = 128 KiB in flight per
//! multiprocessor and spends the shuffles and the barrier once per block, not once per 512 elements:
//! one launch, one pass, and the device's order of additions is not fixed.
//!
//! Exactness: the inputs are odd multiples of 1/64 in (-1, 1). An addition rounds only when its result
//! needs more than 24 bits, that is from 2^24 / 64 = 2^18 on; partial sums of n random signs grow like
//! sqrt(n / 3), about 2^13.2 for n = 2^28. So none of the n - 1 additions rounds, every order has the
//! same sum, and the tolerance is (n - 1) x 0 = 0. With arbitrary inputs each addition rounds by up to
//! 2^-24 of its partial sum, so a chain of k additions is off by up to k x 2^-24: the one chain of
//! `global_atomic` cannot even count ones beyond 2^24, where `vectorized` has chains of n / 270336 in a
//! thread, 10 in shuffles and at most 528 at the address.
//!
//! Taught but wrong: the divergent tree has bank conflicts.
//!
//! Preconditions: `source` aligned to 16 bytes.
//!
//! Source: Harris, "Optimizing Parallel Reduction in CUDA"; CUDA C++ Programming Guide, "Warp Shuffle
//! Functions"; CUB, `DeviceReduce`.

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::{AtomicF32, AtomicF64, AtomicI32};
use cuda_std::prelude::*;
use cuda_std::vector::{F32x4, F64x2, I32x4, Vector};
use cuda_std::warp::WARP_SIZE;
use cuda_std::warp::{FULL_MASK, WarpShuffleValue, warp_shuffle_down};

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 512;
/// 16-byte loads that each thread of the vectorized variants starts before it adds.
pub const LOADS_IN_FLIGHT: u32 = 4;
/// Blocks of the vectorized variants at most: 4 for each of the 132 multiprocessors of an H200, which
/// is 2048 threads each.
pub const MAX_BLOCKS: u32 = 528;
/// Warps per block.
const WARPS: u32 = THREADS_PER_BLOCK / WARP_SIZE;

/// Naive: every thread adds its element to the one sum in device memory.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `source` valid for `n` f32,
/// `target` for one, which is zero.
#[kernel]
pub unsafe fn reduction_global_atomic(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the length of the array; the sum is only added to (launch contract).
        unsafe { (*source.add(i as usize)).add_to(target) };
    }
}

/// Fills the block's words, one element per thread and zeros beyond the last.
///
/// # Safety
/// `source` valid for `n` f32; `words` shared memory for `THREADS_PER_BLOCK`; all threads of the block call.
#[inline(always)]
unsafe fn fill(source: *const f32, words: *mut f32, n: u32) {
    let i = thread::index_1d();
    // SAFETY: i < n, and each thread has its word.
    unsafe {
        *words.add(thread::thread_idx_x() as usize) =
            if i < n { *source.add(i as usize) } else { 0.0 };
    }
    thread::sync_threads();
}

/// Change from `global_atomic`: a tree in shared memory adds the block's elements, and one thread adds
/// the block's sum. Every 2nd, 4th, 8th .. thread is at work, so warps run with idle lanes.
///
/// # Safety
/// Launch contract: as for [`reduction_global_atomic`].
#[kernel]
pub unsafe fn reduction_interleaved(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; THREADS_PER_BLOCK as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let tid = thread::thread_idx_x();
    // SAFETY: 2 step divides tid and THREADS_PER_BLOCK, so tid + step < THREADS_PER_BLOCK; no other thread at work has
    // either word; barriers lie between the levels.
    unsafe {
        fill(source, words, n);
        let mut step = 1;
        while step < THREADS_PER_BLOCK {
            if tid.is_multiple_of(2 * step) {
                *words.add(tid as usize) += *words.add((tid + step) as usize);
            }
            thread::sync_threads();
            step *= 2;
        }
        if tid == 0 {
            (*words).add_to(target);
        }
    }
}

/// Change from `interleaved`: the first threads are at work, each on a pair of words further along,
/// so warps are full or done; the pairs lie `2 step` words apart, and their banks coincide.
///
/// # Safety
/// Launch contract: as for [`reduction_global_atomic`].
#[kernel]
pub unsafe fn reduction_strided(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; THREADS_PER_BLOCK as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let tid = thread::thread_idx_x();
    // SAFETY: `first` is a multiple of 2 step below THREADS_PER_BLOCK, so first + step < THREADS_PER_BLOCK; the pairs are
    // disjoint; barriers lie between the levels.
    unsafe {
        fill(source, words, n);
        let mut step = 1;
        while step < THREADS_PER_BLOCK {
            let first = 2 * step * tid;
            if first < THREADS_PER_BLOCK {
                *words.add(first as usize) += *words.add((first + step) as usize);
            }
            thread::sync_threads();
            step *= 2;
        }
        if tid == 0 {
            (*words).add_to(target);
        }
    }
}

/// Change from `strided`: each level adds the upper half of the words to the lower half, word by
/// word, so the lanes of a warp have neighbouring words.
///
/// # Safety
/// Launch contract: as for [`reduction_global_atomic`].
#[kernel]
pub unsafe fn reduction_sequential(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; THREADS_PER_BLOCK as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<f32>();
    let tid = thread::thread_idx_x();
    // SAFETY: tid + step < 2 step <= THREADS_PER_BLOCK; words from `step` on are only read at this level;
    // barriers lie between the levels.
    unsafe {
        fill(source, words, n);
        let mut step = THREADS_PER_BLOCK / 2;
        while step > 0 {
            if tid < step {
                *words.add(tid as usize) += *words.add((tid + step) as usize);
            }
            thread::sync_threads();
            step /= 2;
        }
        if tid == 0 {
            (*words).add_to(target);
        }
    }
}

/// A number that is summed.
trait Summand: WarpShuffleValue {
    /// 16 bytes of them.
    type Pack: Vector;
    /// The sum of nothing.
    const ZERO: Self;
    /// The sum of two.
    fn plus(self, other: Self) -> Self;
    /// The sum of a pack.
    fn of_pack(pack: Self::Pack) -> Self;
    /// Adds this to a sum in device memory.
    ///
    /// # Safety
    /// `sum` is valid, aligned and accessed by atomics only.
    unsafe fn add_to(self, sum: *mut Self);
}

/// Implements [`Summand`].
macro_rules! summands {
    ($($number:ty: $pack:ty, $atomic:ty, $plus:expr, |$value:ident| $parts:expr;)*) => {$(
        impl Summand for $number {
            type Pack = $pack;
            const ZERO: Self = 0 as $number;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }

            #[inline(always)]
            fn of_pack($value: $pack) -> Self {
                $parts
            }

            #[inline(always)]
            unsafe fn add_to(self, sum: *mut Self) {
                // SAFETY: the caller's contract.
                unsafe { <$atomic>::from_ptr(sum) }.fetch_add(self, Relaxed);
            }
        }
    )*};
}

summands! {
    f32: F32x4, AtomicF32, core::ops::Add::add, |a| (a.x + a.y) + (a.z + a.w);
    f64: F64x2, AtomicF64, core::ops::Add::add, |a| a.x + a.y;
    i32: I32x4, AtomicI32, i32::wrapping_add,
        |a| a.x.wrapping_add(a.y).wrapping_add(a.z.wrapping_add(a.w));
}

/// The sum over a warp, in lane 0.
///
/// # Safety
/// All lanes of the warp call.
#[inline(always)]
unsafe fn warp_sum<T: Summand>(value: T) -> T {
    let mut sum = value;
    for delta in [16, 8, 4, 2, 1] {
        // SAFETY: all lanes call.
        sum = sum.plus(unsafe { warp_shuffle_down(FULL_MASK, sum, delta, WARP_SIZE) }.0);
    }
    sum
}

/// Adds the values of a block's threads to `target`: shuffles within warps, one word of shared memory
/// per warp, shuffles again, one atomic.
///
/// # Safety
/// `words` is shared memory for `WARPS` numbers; `target` as for [`Summand::add_to`]; all threads of
/// the block call, once.
#[inline(always)]
unsafe fn add_block<T: Summand>(value: T, words: *mut T, target: *mut T) {
    let tid = thread::thread_idx_x();
    let (warp, lane) = (tid / WARP_SIZE, tid % WARP_SIZE);
    // SAFETY: each warp has its word; readers come after the barrier; warp 0 is whole.
    unsafe {
        let sum = warp_sum(value);
        if lane == 0 {
            *words.add(warp as usize) = sum;
        }
        thread::sync_threads();
        if warp == 0 {
            let part = if lane < WARPS { *words.add(lane as usize) } else { T::ZERO };
            let sum = warp_sum(part);
            if lane == 0 {
                sum.add_to(target);
            }
        }
    }
}

/// Change from `sequential`: warps add by shuffles from register to register; shared memory carries one
/// word per warp, once, and one barrier is left of ten.
///
/// # Safety
/// Launch contract: as for [`reduction_global_atomic`].
#[kernel]
pub unsafe fn reduction_shuffle(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; WARPS as usize]> = MaybeUninit::uninit();
    let i = thread::index_1d();
    // SAFETY: i < n, the length of the array; WORDS has a word per warp.
    unsafe {
        let value = if i < n { *source.add(i as usize) } else { 0.0 };
        add_block(value, (&raw mut WORDS).cast(), target);
    }
}

/// The sum of this thread's share: packs of 16 bytes, `LOADS_IN_FLIGHT` at a time, the grid's threads
/// side by side; what is left of the last pack goes to the first threads.
///
/// # Safety
/// 1-D grid of `THREADS_PER_BLOCK` threads; `source` 16-byte aligned and valid for `n` numbers.
#[inline(always)]
unsafe fn share<T: Summand>(source: *const T, n: u32) -> T {
    let pack_len = (size_of::<T::Pack>() / size_of::<T>()) as u32;
    let packs = n / pack_len;
    let threads = thread::grid_dim_x() * THREADS_PER_BLOCK;
    let first = thread::index_1d();
    let mut sum = T::ZERO;
    let mut i = first;
    // SAFETY: every index is checked against the number of packs, or of elements.
    unsafe {
        let load = |i: u32| *source.cast::<T::Pack>().add(i as usize);
        while i + (LOADS_IN_FLIGHT - 1) * threads < packs {
            let (a, b) = (load(i), load(i + threads));
            let (c, d) = (load(i + 2 * threads), load(i + 3 * threads));
            let (left, right) =
                (T::of_pack(a).plus(T::of_pack(b)), T::of_pack(c).plus(T::of_pack(d)));
            sum = sum.plus(left.plus(right));
            i += LOADS_IN_FLIGHT * threads;
        }
        while i < packs {
            sum = sum.plus(T::of_pack(load(i)));
            i += threads;
        }
        let left = packs * pack_len + first;
        if left < n {
            sum = sum.plus(*source.add(left as usize));
        }
    }
    sum
}

/// Change from `shuffle`: no more blocks than the device holds at once; each thread adds many elements in
/// a register, by 16-byte loads of which four are in flight.
///
/// # Safety
/// Launch contract: 1-D grid of at most `MAX_BLOCKS` blocks of `THREADS_PER_BLOCK` threads; `source` 16-byte
/// aligned and valid for `n` f32, `n` at most 2^31; `target` valid for one, which is zero.
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn reduction_vectorized(source: *const f32, target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f32; WARPS as usize]> = MaybeUninit::uninit();
    // SAFETY: the launch contract; WORDS has a word per warp.
    unsafe { add_block(share(source, n), (&raw mut WORDS).cast(), target) };
}

/// Change from `vectorized`: integers, whose sum wraps and has one value in every order.
///
/// # Safety
/// Launch contract: as for [`reduction_vectorized`], for i32.
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn reduction_vectorized_i32(source: *const i32, target: *mut i32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[i32; WARPS as usize]> = MaybeUninit::uninit();
    // SAFETY: the launch contract; WORDS has a word per warp.
    unsafe { add_block(share(source, n), (&raw mut WORDS).cast(), target) };
}

/// Change from `vectorized_i32`: doubles, two per load; a shuffle moves them in two halves.
///
/// # Safety
/// Launch contract: as for [`reduction_vectorized`], for f64.
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn reduction_vectorized_f64(source: *const f64, target: *mut f64, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[f64; WARPS as usize]> = MaybeUninit::uninit();
    // SAFETY: the launch contract; WORDS has a word per warp.
    unsafe { add_block(share(source, n), (&raw mut WORDS).cast(), target) };
}
