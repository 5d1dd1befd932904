//! The kernels that Coalesce's instruments use to measure the device itself: its measured peaks, its clock, its launches.

#![no_std]

pub mod probes;

use core::mem::MaybeUninit;
use cuda_std::bulk_copy;
use cuda_std::mma::{self, A, B, C};
use cuda_std::prelude::*;
use cuda_std::vector::{F32x4, U32x4};
use cuda_std::warp::WARP_SIZE;
use cuda_std::wgmma::{self, Descriptor};
use cuda_std::{GpuFloat, address_space, bf16, misc};

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;

/// Reads `vectors` times 16 bytes. Nothing is written unless their sum is infinite, which it never is
/// for finite inputs: without the store the compiler would remove the loads.
///
/// Used to replace what the L2 cache holds by clean lines of another buffer.
///
/// # Safety
/// - 1-D grid of at most 2^31 threads, `THREADS_PER_BLOCK` per block.
/// - `source` 16-byte aligned and valid for `vectors` F32x4, at most 2^31, `target` for one f32.
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
/// - 1-D grid of `THREADS_PER_BLOCK` threads; `vectors` is a power of two.
/// - `source` 16-byte aligned and valid for `vectors` F32x4, `target` for one f32.
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
/// Number of them that each thread reads at once.
pub const SHARED_AT_ONCE: u32 = 4;

/// Each thread reads `SHARED_AT_ONCE` vectors of 16 bytes from shared memory, `passes` times. Neighbouring lanes read
/// neighbouring vectors.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `target` valid for one u32.
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
/// - 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `target` valid for one f32.
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

/// Two bf16 from 0.5 to 1 with any sign, which differ from number to number: equal ones cost less power.
#[inline(always)]
fn two_factors(number: u32) -> u32 {
    let number = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    let number = (number ^ number >> 15).wrapping_mul(0x846c_a68b);
    number & 0x807f_807f | 0x3f00_3f00
}

/// Independent products of a warp of [`measurement_tensor`].
const TENSOR_CHAINS: usize = 8;
/// Operations of a block of [`measurement_tensor`] per pass: 16 x 8 results and 16 steps, two operations each.
pub const TENSOR_FLOPS_PER_PASS: usize =
    2 * 16 * 8 * 16 * TENSOR_CHAINS * (THREADS_PER_BLOCK / WARP_SIZE) as usize;

/// Makes `passes` times `TENSOR_FLOPS_PER_PASS` operations per block. Nothing is written, as in [`measurement_read`].
///
/// Measures the rate of products of bf16 by tensor cores.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `target` valid for one f32.
#[kernel(launch_bounds(THREADS_PER_BLOCK), min_compute_capability = 80)]
pub unsafe fn measurement_tensor(target: *mut f32, passes: u32) {
    let first = thread::thread_idx_x() * 32;
    let a: A<bf16, 8> = A::from(core::array::from_fn(|i| two_factors(first + i as u32)));
    let b: [B<bf16, 4>; TENSOR_CHAINS] = core::array::from_fn(|chain| {
        B::from(core::array::from_fn(|i| two_factors(first + 4 + (2 * chain + i) as u32)))
    });
    let mut sums: [C<f32, 4>; TENSOR_CHAINS] = core::array::from_fn(|_| C::default());
    for _ in 0..passes {
        macro_rules! chains {
            ($($i:literal)*) => { $(
                // SAFETY: all lanes of the warp are here.
                sums[$i] = unsafe { mma::m16n8k16_f32_bf16(a, b[$i], sums[$i]) };
            )* };
        }
        chains!(0 1 2 3 4 5 6 7);
    }
    let sum: f32 = sums.iter().map(|sum| sum.0[0] + sum.0[1] + sum.0[2] + sum.0[3]).sum();
    if sum == f32::INFINITY {
        // SAFETY: `target` holds one element (launch contract).
        unsafe { *target = sum };
    }
}

/// Threads that multiply together.
const WARPGROUP: u32 = 128;
/// Bytes of 8 rows of factors, 64 steps each.
const EIGHT_ROWS: u32 = 1024;
/// Bytes of the factors of a warpgroup: 64 rows of A.
const ROWS_OF_A: u32 = 8 * EIGHT_ROWS;
/// Words of the factors in shared memory: 64 rows of A for two warpgroups, and 256 of B, of which A's second part is the
/// beginning.
const FACTOR_WORDS: u32 = (ROWS_OF_A + 32 * EIGHT_ROWS) / 4;
/// Operations of a block of [`measurement_wgmma`] per pass: two warpgroups, 64 x 256 results and 256 steps.
pub const WGMMA_FLOPS_PER_PASS: usize = 2 * 2 * 64 * 256 * 256;

/// Factors at a distance that a swizzle of 128 bytes needs.
#[repr(align(1024))]
struct Factors {
    _words: [u32; FACTOR_WORDS as usize],
}

/// Makes `passes` times `WGMMA_FLOPS_PER_PASS` operations per block. Nothing is written, as in [`measurement_read`].
///
/// Measures the rate of products of bf16 by tensor cores that read their factors from shared memory.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `target` valid for one f32.
#[kernel(launch_bounds(THREADS_PER_BLOCK, 1), min_compute_capability = 90a)]
pub unsafe fn measurement_wgmma(target: *mut f32, passes: u32) {
    #[address_space(shared)]
    static mut FACTORS: MaybeUninit<Factors> = MaybeUninit::uninit();
    let factors = (&raw mut FACTORS).cast::<u32>();
    let thread = thread::thread_idx_x();
    let mut word = thread;
    while word < FACTOR_WORDS {
        // SAFETY: the word is one of the factors, and each has one writer.
        unsafe { *factors.add(word as usize) = two_factors(word) };
        word += THREADS_PER_BLOCK;
    }
    bulk_copy::fence_shared();
    thread::sync_threads();
    let mut sums = [0.0_f32; 128];
    let own = factors.wrapping_add((thread / WARPGROUP * ROWS_OF_A / 4) as usize);
    let shared = factors.wrapping_add((ROWS_OF_A / 4) as usize);
    // SAFETY: both begin at multiples of 1024 and have 64 and 256 rows; nobody writes them after the barrier and the
    // fence; all threads of both warpgroups are here, and use the sums after the wait.
    unsafe {
        let (a, b) = (Descriptor::swizzled_128(own), Descriptor::swizzled_128(shared));
        for _ in 0..passes {
            wgmma::fence();
            macro_rules! steps {
                ($($bytes:literal)*) => { $(
                    wgmma::m64n256k16_f32_bf16::<false, false>(
                        &mut sums,
                        a.advanced($bytes),
                        b.advanced($bytes),
                    );
                )* };
            }
            steps!(0 32 64 96 0 32 64 96 0 32 64 96 0 32 64 96);
            wgmma::commit_group();
            // While one warpgroup waits, the products of the other go on.
            wgmma::wait_group::<0>();
        }
    }
    let mut sum = 0.0;
    macro_rules! add {
        ($($i:literal)*) => { $(
            let [a, b, c, d] = [sums[4 * $i], sums[4 * $i + 1], sums[4 * $i + 2], sums[4 * $i + 3]];
            sum += (a + b) + (c + d);
        )* };
    }
    add!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    add!(16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    if sum == f32::INFINITY {
        // SAFETY: `target` holds one element (launch contract).
        unsafe { *target = sum };
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
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` and `target` valid for `n` u32, not overlapping.
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
/// - As for [`measurement_scale`], but covering `32 * ceil(n / 32)` threads.
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
/// - Any grid.
#[kernel]
pub unsafe fn measurement_nothing() {}

/// Waits until the host writes something else than zero to `gate`, at most `most_ns` nanoseconds: what
/// is enqueued behind it begins when all of it is enqueued.
///
/// # Safety
/// - One thread.
/// - `gate` valid for one u32.
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
/// - One thread.
/// - `target` valid for two u64.
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
