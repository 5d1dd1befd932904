//! # Reduction: one sum of many elements, with as little communication between threads as possible
//!
//! Shows: add in registers first, then within [warps][warp] by [shuffles][shuffle], then once per
//! [block] in [shared memory], and only once per block in device memory.
//!
//! The surprise: the textbook's first repair of the tree makes it slower. `strided` (1.621 ms)
//! keeps the threads that work together in few warps, which `interleaved` (1.302 ms) does not, and
//! yet it takes longer. And the largest gain of all comes from reading more per thread,
//! `vectorized` (0.238 ms), not from any better tree.
//!
//! A sum of n elements needs n - 1 additions, however they are arranged. What differs is where two
//! partial sums meet:
//!
//! ```text
//! two partial sums meet in ...           how many can meet at a time
//!   one address of device memory         1: atomic additions to one address happen one after the other
//!   shared memory of a block             32 lanes per request, and a barrier between the levels of a tree
//!   registers of a warp, by shuffles     32 lanes, without memory and without a barrier
//!   registers of one thread              as many as the thread adds, without any communication
//! ```
//!
//! The tree of a block of 512 threads has 9 levels with steps s = 1, 2, 4 ... 256. At each level,
//! words that are s apart are added, and half as many words remain:
//!
//! ```text
//!                                                   level s:  1  2  4  8 16 32 64 128 256
//! interleaved  threads with tid % 2s = 0            warps    16 16 16 16 16  8  4   2   1   sum 95
//!              add word tid + s to word tid         wavefronts per access: 1 at every level
//! strided      threads tid < 256 / s                warps     8  4  2  1  1  1  1   1   1   sum 20
//!              add word 2s tid + s to word 2s tid   wavefronts 2  4  8 16 16  8  4   2   1   sum of products 95
//! sequential   s = 256 first; threads tid < s       warps     8  4  2  1  1  1  1   1   1   sum 20
//!              add word tid + s to word tid         wavefronts per access: 1 at every level
//! ```
//!
//! 1. `global_atomic`. Each thread adds its element to one word of device memory by an [atomic]
//!    operation. The counter shows n atomics at one address; they happen one after the other,
//!    whatever the device.
//! 2. `interleaved`. The idea: add within each block first, in shared memory, and make only one
//!    atomic per block. It costs 10 [barriers][barrier] per block. What remains: with tid % 2s = 0,
//!    every second [lane] of a warp is idle, then three of four, but the whole warp still executes:
//!    95 warp steps.
//! 3. `strided`. The idea: let the first threads do the work, so that warps are full or have
//!    finished: 20 warp steps. But now neighbouring lanes access words that are 2s apart, which
//!    means [bank conflicts][bank conflict]. The counter shows 4.66 [wavefronts][wavefront] per
//!    load. The sum over all levels is 95 again: nothing was saved in shared memory, and each warp
//!    waits longer for each access.
//! 4. `sequential`. The idea: add the upper half to the lower half. Neighbouring lanes then access
//!    neighbouring words: 20 warp steps with 1 wavefront each. What remains: the barriers between
//!    the levels.
//! 5. `shuffle`. The idea: a shuffle lets a lane read a register of another lane. A warp adds its
//!    32 values in 5 shuffles. Shared memory is used once, for one word per warp, and 1 barrier of
//!    10 is left. What remains: each thread loads only one word, too few [bytes in flight].
//! 6. `vectorized`. The idea: start only as many blocks as fit on the device at once, and let each
//!    thread add many elements in a register, with four 16-byte loads in flight. 2048
//!    threads x 64 B = 128 KiB are in flight per multiprocessor, and shuffles and barrier are paid
//!    once per block, not once per 512 elements.
//!
//! | variant | change from the previous one | sectors per load | shared wavefronts, load / store | global atomics | limited by |
//! |---|---|---|---|---|---|
//! | `global_atomic` | every thread adds its element to one address | 4 | none | n, one after the other | one address in L2 |
//! | `interleaved` | each block adds in a tree in shared memory, then makes one atomic addition | 4 | 1 / 1 | n / 512 | idle lanes, barriers |
//! | `strided` | the first threads of the block do the work of each level | 4 | 4.66 / 3.08 | n / 512 | bank conflicts, barriers |
//! | `sequential` | each level adds the upper half of the words to the lower half | 4 | 1 / 1 | n / 512 | barriers |
//! | `shuffle` | warps add by shuffles; one shared word per warp | 4 | 1 / 1 | n / 512 | bytes in flight |
//! | `vectorized` | few blocks; each thread adds many elements, four 16-byte loads in flight | 16 | 1 / 1 | at most 528 | device memory |
//! | `vectorized_i32` | the same for 32-bit integers | 16 | 1 / 1 | at most 528 | device memory |
//! | `vectorized_f64` | the same for doubles, two per load | 16 | 1 / 1 | at most 528 | device memory |
//!
//! The count of `strided`: two loads and one store per step, and besides one store per warp to fill
//! the words and one load at the end: loads (2 x 95 + 1) / (2 x 20 + 1) = 4.66, stores (95 + 16) /
//! (20 + 16) = 3.08.
//!
//! Expected: the [minimum time] is that of reading the array once, 4 n bytes at the [measured peak]
//! of reading. `global_atomic` (471.1 ms) takes 1983 times (`global_atomic` / `vectorized`) as long
//! as the fastest. `interleaved` (1.302 ms), `strided` (1.621 ms) and `sequential` (1.279 ms)
//! differ by their trees, `shuffle` (0.977 ms) has almost none. `vectorized` (0.238 ms) reaches the
//! minimum time, and so do `vectorized_i32` (0.238 ms) and `vectorized_f64` (0.238 ms).
//!
//! The sum over a warp in CUDA C++, and in Rust:
//!
//! ```cuda
//! for (int delta = 16; delta > 0; delta /= 2)             // for delta in [16, 8, 4, 2, 1] {
//!     value += __shfl_down_sync(~0u, value, delta);       //     sum += warp_shuffle_down(FULL_MASK, sum, delta, 32).0;
//! ```
//!
//! Why results can be compared exactly: inputs are odd multiples of 1/64 in (-1, 1), so an f32
//! addition rounds only if its result reaches 2^24 / 64 = 2^18. Partial sums of n random signs grow
//! like sqrt(n / 3), about 2^13.2 for n = 2^28; reaching 2^18 would be a 27-sigma event. With
//! arbitrary inputs the last bits depend on the order of additions, and the device does not fix
//! that order.
//!
//! Common misconception: "the divergent tree has bank conflicts". `interleaved` has none: the words
//! of a warp are always within 32 neighbouring words. The repair `strided` introduces them.
//!
//! Questions:
//! - Why is `strided` slower with a fifth of the warp steps? Both trees take 95 wavefronts per
//!   block and access. In `interleaved` 16 warps share them; in `strided` one warp waits for 16 of
//!   them in a row.
//! - Why at most 528 blocks? An H200 has 132 multiprocessors, and 4 blocks of 512 threads fill one:
//!   132 x 4. More blocks would only repeat the work that is done once per block.
//! - Why 5 shuffles? Each halves the number of partial sums: 32, 16, 8, 4, 2, 1.
//! - Why is a chain of additions bad for accuracy? Each addition rounds by up to 2^-24 of the
//!   partial sum. `global_atomic` is one chain of n, while `vectorized` has n / 270336 per thread
//!   and then 10 shuffles.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `global_atomic` | 471.1 | 2 | 0 | 1.00 |
//! | `interleaved` | 1.302 | 825 | 18 | 361.87 |
//! | `strided` | 1.621 | 662 | 15 | 290.63 |
//! | `sequential` | 1.279 | 840 | 19 | 368.30 |
//! | `shuffle` | 0.977 | 1099 | 24 | 482.26 |
//! | `vectorized` | 0.238 | 4520 | 100 | 1982.97 |
//! | `vectorized_i32` | 0.238 | 4519 | 100 | 1982.57 |
//! | `vectorized_f64` | 0.238 | 4505 | 100 | 1976.45 |
//! | *nvcc vectorized* | 0.238 | 4518 | 100 | 1981.90 |
//! | *CUB DeviceReduce::Sum* | 0.242 | 4440 | 99 | 1947.94 |
//! <!-- /measured -->
//!
//! Preconditions: `source` aligned to 16 bytes.
//!
//! Source: Harris, "Optimizing Parallel Reduction in CUDA"; CUDA C++ Programming Guide, "Warp
//! Shuffle Functions"; CUB, `DeviceReduce`.
#![doc = include_str!("../../../crates/report/src/links.md")]

use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::{AtomicF32, AtomicF64, AtomicI32};
use cuda_std::prelude::*;
use cuda_std::vector::{F32x4, F64x2, I32x4, Vector};
use cuda_std::warp::WARP_SIZE;
use cuda_std::warp::{FULL_MASK, WarpShuffleValue, warp_shuffle_down};

pub const THREADS_PER_BLOCK: u32 = 512;
/// 16-byte loads that each thread of the vectorized variants starts before it adds.
pub const LOADS_IN_FLIGHT: u32 = 4;
/// The largest grid of the vectorized variants: 4 blocks, which are 2048 threads, for each of the 132
/// multiprocessors of an H200.
pub const MAX_BLOCKS: u32 = 528;
const WARPS: u32 = THREADS_PER_BLOCK / WARP_SIZE;

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` valid for `n` f32, `target` for one, which is zero.
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
/// - `source` valid for `n` f32.
/// - `words` shared memory for `THREADS_PER_BLOCK`.
/// - All threads of the block call.
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

/// Each block adds its elements in a tree in shared memory, and one thread adds the block's sum to device memory.
/// Every 2nd, 4th, 8th ... thread works, so warps run with idle lanes.
///
/// # Safety
/// - As for [`reduction_global_atomic`].
#[kernel]
pub unsafe fn reduction_interleaved(source: *const f32, target: *mut f32, n: u32) {
    let words = shared_array!(WORDS: [f32; THREADS_PER_BLOCK]);
    let tid = thread::thread_idx_x();
    // SAFETY: 2 step divides tid and THREADS_PER_BLOCK, so tid + step < THREADS_PER_BLOCK; no other thread that works has
    // either word; barriers are between the levels.
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

/// The first threads of the block do the work of each level, so warps are full or have finished. Neighbouring lanes
/// access words that are `2 step` words apart, which are in the same few banks.
///
/// # Safety
/// - As for [`reduction_global_atomic`].
#[kernel]
pub unsafe fn reduction_strided(source: *const f32, target: *mut f32, n: u32) {
    let words = shared_array!(WORDS: [f32; THREADS_PER_BLOCK]);
    let tid = thread::thread_idx_x();
    // SAFETY: `first` is a multiple of 2 step below THREADS_PER_BLOCK, so first + step < THREADS_PER_BLOCK; the pairs are
    // disjoint; barriers are between the levels.
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

/// # Safety
/// - As for [`reduction_global_atomic`].
#[kernel]
pub unsafe fn reduction_sequential(source: *const f32, target: *mut f32, n: u32) {
    let words = shared_array!(WORDS: [f32; THREADS_PER_BLOCK]);
    let tid = thread::thread_idx_x();
    // SAFETY: tid + step < 2 step <= THREADS_PER_BLOCK; words from `step` on are only read at this level;
    // barriers are between the levels.
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

/// A type of numbers that the reduction can add.
trait Summand: WarpShuffleValue {
    /// The vector of 16 bytes of such numbers.
    type Pack: Vector;
    /// Zero: the sum of no numbers.
    const ZERO: Self;
    /// The sum of two numbers.
    fn plus(self, other: Self) -> Self;
    /// The sum of the numbers in a vector.
    fn of_pack(pack: Self::Pack) -> Self;
    /// Adds this to a sum in device memory.
    ///
    /// # Safety
    /// - `sum` is valid, aligned and accessed by atomics only.
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

/// Adds the values of a warp's lanes. Lane 0 gets the sum.
///
/// # Safety
/// - All lanes of the warp call.
#[inline(always)]
unsafe fn warp_sum<T: Summand>(value: T) -> T {
    let mut sum = value;
    for delta in [16, 8, 4, 2, 1] {
        // SAFETY: all lanes call.
        sum = sum.plus(unsafe { warp_shuffle_down(FULL_MASK, sum, delta, WARP_SIZE) }.0);
    }
    sum
}

/// Adds the values of a block's threads to `target`: shuffles within each warp, one word of shared
/// memory per warp, shuffles in the first warp, one atomic addition.
///
/// # Safety
/// - `words` is shared memory for `WARPS` numbers.
/// - `target` as for [`Summand::add_to`].
/// - All threads of the block call, once.
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

/// Warps add by shuffles from register to register. Shared memory holds one word per warp and is used once; of ten
/// barriers one is left.
///
/// # Safety
/// - As for [`reduction_global_atomic`].
#[kernel]
pub unsafe fn reduction_shuffle(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    // SAFETY: i < n, the length of the array; WORDS has a word per warp.
    unsafe {
        let value = if i < n { *source.add(i as usize) } else { 0.0 };
        add_block(value, shared_array!(WORDS: [f32; WARPS]), target);
    }
}

/// The sum of this thread's share of the array. Blocks take tiles in turn, in which neighbouring threads load neighbouring
/// vectors of 16 bytes and each thread starts `LOADS_IN_FLIGHT` loads at once. The first threads take the elements after
/// the last whole vector.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `source` 16-byte aligned and valid for `n` numbers.
#[inline(always)]
unsafe fn share<T: Summand>(source: *const T, n: u32) -> T {
    const TILE: u32 = THREADS_PER_BLOCK * LOADS_IN_FLIGHT;
    let pack_len = (size_of::<T::Pack>() / size_of::<T>()) as u32;
    let packs = n / pack_len;
    let mut i = thread::block_idx_x() * TILE + thread::thread_idx_x();
    let mut sum = T::ZERO;
    // SAFETY: every index is checked against the number of vectors, or of elements.
    unsafe {
        let load = |i: u32| *source.cast::<T::Pack>().add(i as usize);
        while i + (TILE - THREADS_PER_BLOCK) < packs {
            let (a, b) = (load(i), load(i + THREADS_PER_BLOCK));
            let (c, d) = (load(i + 2 * THREADS_PER_BLOCK), load(i + 3 * THREADS_PER_BLOCK));
            let (left, right) =
                (T::of_pack(a).plus(T::of_pack(b)), T::of_pack(c).plus(T::of_pack(d)));
            sum = sum.plus(left.plus(right));
            i += thread::grid_dim_x() * TILE;
        }
        // Up to three loads of the last tile, which has not all of them for this thread.
        while i < packs {
            sum = sum.plus(T::of_pack(load(i)));
            i += THREADS_PER_BLOCK;
        }
        let left = packs * pack_len + thread::index_1d();
        if left < n {
            sum = sum.plus(*source.add(left as usize));
        }
    }
    sum
}

/// No more blocks than fit on the device at once. Each thread adds many elements in a register, with four 16-byte
/// loads in flight.
///
/// # Safety
/// - 1-D grid of at most `MAX_BLOCKS` blocks of `THREADS_PER_BLOCK` threads.
/// - `source` 16-byte aligned and valid for `n` f32, `n` at most 2^31; `target` valid for one, which is zero.
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn reduction_vectorized(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: the launch contract; WORDS has a word per warp.
    unsafe { add_block(share(source, n), shared_array!(WORDS: [f32; WARPS]), target) };
}

/// # Safety
/// - As for [`reduction_vectorized`], for i32.
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn reduction_vectorized_i32(source: *const i32, target: *mut i32, n: u32) {
    // SAFETY: the launch contract; WORDS has a word per warp.
    unsafe { add_block(share(source, n), shared_array!(WORDS: [i32; WARPS]), target) };
}

/// # Safety
/// - As for [`reduction_vectorized`], for f64.
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn reduction_vectorized_f64(source: *const f64, target: *mut f64, n: u32) {
    // SAFETY: the launch contract; WORDS has a word per warp.
    unsafe { add_block(share(source, n), shared_array!(WORDS: [f64; WARPS]), target) };
}
