//! The kernels that Coalesce's instruments use to measure the device itself: its measured peaks, its clock, its launches.

#![no_std]

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::vector::{F32x4, U32x4};
use cuda_std::warp::WARP_SIZE;
use cuda_std::{GpuFloat, address_space, misc};

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;

/// Reads `vectors` times 16 bytes. Nothing is written unless their sum is infinite, which it never is
/// for finite inputs: without the store the compiler would remove the loads.
///
/// Used to replace what the L2 cache holds by clean lines of another buffer.
///
/// # Safety
/// Launch contract: 1-D grid of at most 2^31 threads, `THREADS_PER_BLOCK` per block; `source` 16-byte aligned and valid for
/// `vectors` F32x4, at most 2^31, `target` for one f32.
#[kernel]
pub unsafe fn measurement_read(source: *const F32x4, target: *mut f32, vectors: u32) {
    let step = thread::grid_dim_x() * THREADS_PER_BLOCK;
    let mut sum = F32x4::splat(0.0);
    let mut i = thread::index_1d();
    while i < vectors {
        // SAFETY: i < vectors, the length of the array (launch contract).
        sum += unsafe { *source.add(i as usize) };
        i += step;
    }
    let total = sum.x + sum.y + sum.z + sum.w;
    if total == f32::INFINITY {
        // SAFETY: `target` holds one element (launch contract).
        unsafe { *target = total };
    }
}

/// Loads of [`measurement_reread`] that are under way at once.
pub const IN_FLIGHT: u32 = 4;

/// Reads `IN_FLIGHT * passes` vectors of 16 bytes per thread. Neighbouring threads read neighbouring vectors, and begin
/// again at the start after `vectors` of them. Nothing is written, as in [`measurement_read`].
///
/// Measures the bandwidth of a cache that holds all of them, if no cache nearer to the threads does.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads; `vectors` is a power of two; `source` 16-byte aligned and valid for
/// `vectors` F32x4, `target` for one f32.
#[kernel]
pub unsafe fn measurement_reread(
    source: *const F32x4,
    target: *mut f32,
    vectors: u32,
    passes: u32,
) {
    let step = thread::grid_dim_x() * THREADS_PER_BLOCK;
    let mut sum = F32x4::splat(0.0);
    let mut i = thread::index_1d();
    for _ in 0..passes {
        let load = |number: u32| {
            let index = i.wrapping_add(number * step) & (vectors - 1);
            // SAFETY: index < vectors, the length of the array (launch contract).
            unsafe { *source.add(index as usize) }
        };
        let (a, b, c, d) = (load(0), load(1), load(2), load(3));
        sum += a;
        sum += b;
        sum += c;
        sum += d;
        i = i.wrapping_add(IN_FLIGHT * step);
    }
    let total = sum.x + sum.y + sum.z + sum.w;
    if total == f32::INFINITY {
        // SAFETY: `target` holds one element (launch contract).
        unsafe { *target = total };
    }
}

/// 16-byte words of shared memory that a block of [`measurement_shared`] reads.
pub const SHARED_VECTORS: u32 = 1024;
/// How many of them each thread reads at once.
pub const SHARED_AT_ONCE: u32 = 4;

/// Each thread reads `SHARED_AT_ONCE` vectors of 16 bytes from shared memory, `passes` times. Neighbouring lanes read
/// neighbouring vectors.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads; `target` valid for one u32.
#[kernel]
pub unsafe fn measurement_shared(target: *mut u32, passes: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[U32x4; SHARED_VECTORS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<U32x4>();
    let lane = thread::thread_idx_x();
    let mut word = lane;
    while word < SHARED_VECTORS {
        // SAFETY: word < SHARED_VECTORS; each word has one writer, and readers come after the barrier.
        unsafe { *words.add(word as usize) = U32x4::splat(word) };
        word += THREADS_PER_BLOCK;
    }
    thread::sync_threads();
    let mut sum = U32x4::splat(0);
    let mut first = lane;
    for _ in 0..passes {
        for part in 0..SHARED_AT_ONCE {
            let word = (first + part * THREADS_PER_BLOCK) % SHARED_VECTORS;
            // SAFETY: the remainder is an index of the array, which nobody writes any more.
            let vector = unsafe { *words.add(word as usize) };
            sum =
                U32x4::new(sum.x ^ vector.x, sum.y ^ vector.y, sum.z ^ vector.z, sum.w ^ vector.w);
        }
        // Each round reads other vectors, so that the compiler cannot remove a round.
        first += WARP_VECTORS;
    }
    // Words are at most SHARED_VECTORS, and so is what their bits make up.
    if sum.x ^ sum.y ^ sum.z ^ sum.w == u32::MAX {
        // SAFETY: `target` holds one element (launch contract).
        unsafe { *target = sum.x };
    }
}

/// Independent sums of a thread of [`measurement_fp32`]: 16 warps of a scheduler hide the 4 cycles of an operation without
/// them, and one long chain per thread would leave nothing to choose from.
const FP32_CHAINS: usize = 8;
/// Steps of each chain in a pass of [`measurement_fp32`].
const FP32_STEPS: usize = 8;
/// Operations of a thread of [`measurement_fp32`] per pass; a fused multiply and add is two.
pub const FLOPS_PER_PASS: u32 = 2 * (FP32_CHAINS * FP32_STEPS) as u32;

/// Makes `FLOPS_PER_PASS * passes` single-precision operations per thread. Nothing is written, as in [`measurement_read`].
///
/// Measures the rate of fused multiplies and adds.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads; `target` valid for one f32.
#[kernel(launch_bounds(THREADS_PER_BLOCK))]
pub unsafe fn measurement_fp32(target: *mut f32, passes: u32) {
    // Below one, so that no sum grows without bound.
    let factor = 0.5 - 1.0 / (2.0 + thread::thread_idx_x() as f32);
    // Different beginnings: equal chains would be computed once.
    let mut sums: [f32; FP32_CHAINS] = core::array::from_fn(|chain| factor * chain as f32);
    for _ in 0..passes {
        for _ in 0..FP32_STEPS {
            for sum in &mut sums {
                *sum = GpuFloat::mul_add(*sum, factor, factor);
            }
        }
    }
    if sums.into_iter().sum::<f32>() == f32::INFINITY {
        // SAFETY: `target` holds one element (launch contract).
        unsafe { *target = factor };
    }
}

/// The distance from the vectors that a warp reads in one round of [`measurement_shared`] to those of the next round: as
/// many as a warp has lanes.
const WARP_VECTORS: u32 = 32;

/// Multiplies each word, neighbouring lanes on neighbouring words. With n = 0 it does nothing.
///
/// Measures mapped memory: arrays of the host that the kernel reaches over PCIe.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `source` and `target` valid for `n` u32, not
/// overlapping.
#[kernel]
pub unsafe fn measurement_scale(source: *const u32, target: *mut u32, n: u32, factor: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = (*source.add(i as usize)).wrapping_mul(factor) };
    }
}

/// Multiplies each word, where the lanes of a warp use words that are `n / 32` words apart.
///
/// # Safety
/// Launch contract: as for [`measurement_scale`], but covering `32 * ceil(n / 32)` threads.
#[kernel]
pub unsafe fn measurement_scale_strided(source: *const u32, target: *mut u32, n: u32, factor: u32) {
    let thread = thread::index_1d();
    let (warp, lane) = (thread / WARP_SIZE, thread % WARP_SIZE);
    let rows = n.div_ceil(WARP_SIZE);
    let i = lane * rows + warp;
    if warp < rows && i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = (*source.add(i as usize)).wrapping_mul(factor) };
    }
}

/// Does nothing, so that its time is the launch overhead.
///
/// # Safety
/// Launch contract: any grid.
#[kernel]
pub unsafe fn measurement_nothing() {}

/// Waits until the host writes something else than zero to `gate`, at most `most_ns` nanoseconds: what
/// is enqueued behind it begins when all of it is enqueued.
///
/// # Safety
/// Launch contract: one thread; `gate` valid for one u32.
#[kernel]
pub unsafe fn measurement_wait(gate: *const u32, most_ns: u64) {
    let begin = misc::globaltimer();
    // SAFETY: `gate` holds one element (launch contract), which the host may write at any time.
    while unsafe { gate.read_volatile() } == 0 {
        if misc::globaltimer() - begin > most_ns {
            break;
        }
    }
}

/// Writes how many cycles of its multiprocessor and how many nanoseconds of the device's clock passed
/// between two ticks of the latter that are at least `least_ns` apart.
///
/// # Safety
/// Launch contract: one thread; `target` valid for two u64.
#[kernel]
pub unsafe fn measurement_clock(target: *mut u64, least_ns: u64) {
    let (begin_ns, begin) = next_tick();
    let (mut end_ns, mut end) = next_tick();
    while end_ns - begin_ns < least_ns {
        (end_ns, end) = next_tick();
    }
    // SAFETY: `target` holds two elements (launch contract), this is the only thread.
    unsafe {
        target.write_volatile(end - begin);
        target.add(1).write_volatile(end_ns - begin_ns);
    }
}

/// The device's clock right after it moves on, and the cycle counter then.
#[inline(always)]
fn next_tick() -> (u64, u64) {
    let before = misc::globaltimer();
    loop {
        let now = misc::globaltimer();
        if now != before {
            return (now, misc::clock());
        }
    }
}
