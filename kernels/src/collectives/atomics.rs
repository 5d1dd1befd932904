//! # Atomics: what costs is how many lanes want one address, not that an operation is atomic
//!
//! Shows: an [atomic] on an address of its own costs little more than a store; what costs is
//! contention, which a curve over the number of addresses shows, in device memory and in shared memory.
//!
//! The surprise: the scope in the name of an atomic costs nothing here. `system_scope` (168.0 us), which
//! is atomic for the host and for other devices as well, and `global` (168.1 us) are executed by the same
//! unit of the [L2 cache]. And the operation that looks harmless, compare-and-swap, is the expensive one:
//! `compare_and_swap` (46668 us) must first load what it compares with, and tries again whenever another
//! [thread] was faster.
//!
//! n updates go to 1 .. 2^20 counters: update i adds to counter i mod addresses. The fewer counters, the
//! more [lanes][lane] of a [warp], and the more warps, want one address at the same time. Nothing else
//! changes along the curve:
//!
//! ```text
//! a warp adds to    addresses = 1        addresses = 8        addresses >= 32
//!   sectors         1                    1                    4
//!   lanes per word  32                   4                    1
//!   visits in L2    1 x 32 = 32          1 x 4 = 4            4 x 1 = 4       (sectors x lanes per word)
//!   shared memory   32 wavefronts        4 wavefronts         1 wavefront
//! ```
//!
//! An atomic whose old value nobody uses becomes a reduction, `RED` in machine code: the [request] leaves
//! the multiprocessor, and no lane waits for it. One whose old value is used is `ATOM`, and its lanes
//! wait for L2 as for a load.
//!
//! 1. `global`. Every thread adds its value by an atomic of device scope. The counter shows n atomics,
//!    4 [sector] visits per request. The additions are executed in L2, where the counters stay.
//! 2. `system_scope`. The same with the scope of the system, `REDG.ADD.STRONG.SYS`. It must hold for
//!    the host too, but no one there has the counters in a [cache].
//! 3. `compare_and_swap`. The idea: any operation of 4 or 8 bytes can be built from compare-and-swap.
//!    It costs a load of the counter, an atomic whose result is needed, and a loop: where k lanes
//!    contend, one of them succeeds per round.
//! 4. `warp_aggregated`. The idea: lanes that have the same counter find each other (`match.any`), add
//!    their values up in registers (`redux`), and one of them adds the sum. It costs two instructions per
//!    warp. The counter shows n x addresses / 32 atomics for fewer than 32 counters, and n as before for
//!    more. It pays at the left end of the curve only.
//! 5. `shared`. The idea, called [privatization]: each [block] has counters of its own in
//!    [shared memory]. The counter shows one [wavefront] per request, 32 with one counter, and one atomic
//!    in device memory per block and counter. More than 2^15 counters do not fit, and close to that
//!    number the blocks spend their time with clearing and merging.
//! 6. `u64`. Counters of 8 bytes: 8 sectors per request instead of 4.
//! 7. `f32` and `f64` are added in L2 too, in an unknown order. So a sum of floats differs from run to
//!    run unless all partial sums are exact, as they are here. The machine code of the f32 addition says
//!    `FTZ`: in device memory it flushes subnormal numbers to zero.
//! 8. `f32x2` and `f32x4`. The idea: where a thread adds to neighbours, as when rows are added to the rows of
//!    a table (a scatter-add), one [request] may carry the additions of two or four of them for each lane:
//!    `red.global.add.v4.f32`. The counter shows n / 2 and n / 4 atomics with 8 and 16 sectors each: the
//!    same sectors in all, by a quarter of the requests. It costs alignment, and each number is atomic for
//!    itself, not the vector. Compute capability 9.0.
//! 9. `sum_two_launches` is another task, which needs synchronization of the whole [grid]: each block
//!    writes the sum of its elements, and these must be complete before they are added. The end of a
//!    [launch] is such a point, so a second launch adds them.
//! 10. `sum_last_block`. The idea: each block takes a ticket by an atomic when it has written its sum. The
//!    block with the last ticket knows that all others have written theirs, and adds them up. It saves a
//!    launch. It costs one atomic per block, which releases the block's sum and acquires those of the
//!    others. `fetch_inc`, CUDA's `atomicInc`, starts again at 0 by itself after the last ticket, so
//!    that the next launch needs no reset.
//!
//! | variant | change from the previous one | sectors per load | shared atomic wavefronts | global atomics | limited by |
//! |---|---|---|---|---|---|
//! | `global` | every thread adds to a counter in device memory | 4 | none | n | L2 atomics |
//! | `system_scope` | atomic for the host as well | 4 | none | n | L2 atomics |
//! | `compare_and_swap` | device scope; each addition is a loop of compare-and-swap | 4 | none | n, more with contention | L2 atomics, and waiting for their results |
//! | `warp_aggregated` | lanes with the same counter add up first, and one of them adds the sum (sm_80) | 4 | none | n x min(addresses, 32) / 32 | L2 atomics |
//! | `shared` | each block has counters in shared memory, and adds them to device memory | 4 | 1 | blocks x addresses | requests |
//! | `u64` | counters of 64 bits in device memory | 4 | none | n | L2 atomics |
//! | `f32` | counters are f32 | 4 | none | n | L2 atomics |
//! | `f32x2` | each lane adds to two neighbouring counters by one request (sm_90) | 8 | none | n / 2 | L2 atomics |
//! | `f32x4` | to four (sm_90) | 16 | none | n / 4 | L2 atomics |
//! | `f64` | counters are f64 | 4 | none | n | L2 atomics |
//! | `sum_two_launches` | another task: the sum of all elements, partial sums of blocks and a second launch | 4 | none | none | device memory, and a launch |
//! | `sum_last_block` | one launch: the block that takes the last ticket adds the partial sums | 4 | none | blocks | device memory |
//!
//! Expected: with 1024 counters, `global` (168.1 us) and `system_scope` (168.0 us) are equal. `u64`
//! (204.0 us) and `f64` (310.2 us) move twice the sectors of `global` and `f32` (171.5 us). With
//! this many counters that costs `u64` nothing; what costs `f64` 1.8 times (`f64` / `f32`) the time
//! is the addition. `compare_and_swap` (46668 us) takes 278 times (`compare_and_swap` / `global`)
//! as long: 16384 threads compete for each counter, and most attempts fail. `f32x4` takes as long as
//! `f32`, though it has a quarter of the requests: L2 is the limit, and it adds the same numbers. With 2^20 counters,
//! which are spread over all of L2, `f32x4` is the faster one.
//! `warp_aggregated`
//! (415.1 us) has nothing to aggregate, and finds that out at a high price. `shared` (30.85 us)
//! comes nearest to the [minimum time], that of reading the elements, and has 48 % of that rate
//! (`shared`). Along the curve to 1 counter, `global` needs 32 / 4 = 8 times the visits, and
//! `warp_aggregated` a quarter of them.
//!
//! From 32 counters on the visits per request stay the same, and yet the time falls from 1237 us
//! (`global` at addresses=32) to 45 us (`global` at addresses=32768), 28 times (`global` at
//! addresses=32 / `global` at addresses=32768). L2 consists of many slices, and each address
//! belongs to one of them. 32 counters are 4 sectors, so few slices do all the additions, while the
//! others wait; 32768 counters are spread over all slices. `sum_last_block` (31.87 us) saves about
//! one [launch overhead] of `sum_two_launches` (34.24 us).
//!
//! The table of operations, in CUDA C++ and here; all of them are checked for each type and scope by
//! `crates/cuda_std_tests`:
//!
//! | CUDA | `cuda_std::atomic` | `u32` | `i32` | `u64` | `i64` | `f32` | `f64` |
//! |---|---|---|---|---|---|---|---|
//! | atomicAdd | fetch_add | yes | yes | yes | yes | yes | yes |
//! | atomicSub | fetch_sub | yes | yes | yes | yes | yes | yes |
//! | atomicExch | swap | yes | yes | yes | yes | yes | yes |
//! | atomicMin, atomicMax | fetch_min, fetch_max | yes | yes | yes | yes | by bits | by bits |
//! | atomicInc, atomicDec | fetch_inc, fetch_dec | yes | | | | | |
//! | atomicCAS | compare_exchange | yes | yes | yes | yes | bits | bits |
//! | atomicAnd, atomicOr, atomicXor | fetch_and, fetch_or, fetch_xor | yes | yes | yes | yes | bits | bits |
//!
//! The suffixes `_block` and `_system` of CUDA are the types `BlockAtomicU32` and `SystemAtomicU32`.
//!
//! The last block in CUDA C++:
//!
//! ```cuda
//! if (threadIdx.x == 0) {
//!     partial[blockIdx.x] = sum;
//!     __threadfence();                                            // Rust: fetch_inc(.., AcqRel)
//!     isLast = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
//! }
//! __syncthreads();
//! if (isLast) sum = blockSum(partial, gridDim.x);
//! ```
//!
//! Common misconception: "atomics are slow". Different addresses are served at the rate of L2. Contention
//! for one address is slow, and so is needing the old value.
//!
//! Common misconception: "blocks cannot wait for each other, so a grid cannot synchronize". They cannot
//! wait for blocks that have not started. `sum_last_block` waits for nobody: who comes last does the
//! rest.
//!
//! Questions:
//! - Why 8 times the visits with one counter, though 32 lanes want it? One sector, 32 times, against four
//!   sectors, once each: 32 / 4 = 8.
//! - Why does `sum_last_block` need more than an atomic ticket? The ticket says that the others have
//!   taken theirs. That their sums are visible follows from release and acquire: with relaxed tickets,
//!   the executor reports a race on the partial sums.
//! - When is block scope enough? When all threads that access the number are of one block, as in shared
//!   memory.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `global` | 168.1 | 399 | 9 | 1.00 |
//! | `system_scope` | 168.0 | 400 | 9 | 1.00 |
//! | `compare_and_swap` | 46668 | 1 | 0 | 0.00 |
//! | `warp_aggregated` | 415.1 | 162 | 4 | 0.40 |
//! | `shared` | 30.85 | 2175 | 48 | 5.45 |
//! | `u64` | 204.0 | 329 | 7 | 0.82 |
//! | `f32` | 171.5 | 391 | 9 | 0.98 |
//! | `f32x2` | 171.9 | 390 | 9 | 0.98 |
//! | `f32x4` | 172.8 | 388 | 9 | 0.97 |
//! | `f64` | 310.2 | 216 | 5 | 0.54 |
//! | `sum_two_launches` | 34.24 | 1960 | 44 | 4.91 |
//! | `sum_last_block` | 31.87 | 2106 | 47 | 5.27 |
//! | *nvcc global* | 167.9 | 400 | 9 | 1.00 |
//! | *nvcc sum_last_block* | 32.26 | 2081 | 46 | 5.21 |
//! <!-- /measured -->
//!
//! Preconditions: the number of counters is a power of two; at most 2^15 for `shared`. The sums use
//! device statics, so one such launch runs at a time. `f32x2` and `f32x4` need at least 4 counters.
//!
//! Source: CUDA C++ Programming Guide, "Atomic Functions" and "Memory Fence Functions"; PTX ISA, `atom`
//! and `red`; NVIDIA developer blog, "CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics";
//! CUDA samples, `threadFenceReduction`.
#![doc = include_str!("../../../crates/report/src/links.md")]

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};
use cuda_std::atomic::{
    AtomicF32, AtomicF64, AtomicU32, AtomicU64, BlockAtomicU32, SystemAtomicU32, add_f32x2,
    add_f32x4,
};
use cuda_std::prelude::*;
use cuda_std::vector::{F32x2, F32x4, U32x2, U32x4};
use cuda_std::warp::{
    self, FULL_MASK, WARP_SIZE, WarpReductionOp, warp_match_any, warp_reduce, warp_shuffle_down,
};

pub const THREADS_PER_BLOCK: u32 = 256;
/// Threads per block of `shared`: the fewer blocks, the fewer copies of the counters.
pub const SHARED_THREADS_PER_BLOCK: u32 = 1024;
/// The most counters that `shared` has room for: 128 KiB.
pub const MAX_SHARED: u32 = 1 << 15;
/// The largest grid of the sums: 8 blocks for each of the 132 multiprocessors of an H200.
pub const MAX_BLOCKS: u32 = 8 * 132;
/// The bits of an element that are its value, so that sums of floats are exact.
pub const VALUE_BITS: u32 = 4;
const WARPS: u32 = THREADS_PER_BLOCK / WARP_SIZE;

/// The sums of the blocks, between the two steps of a sum.
#[address_space(global)]
static mut ATOMICS_PARTIAL_SUMS: [u32; MAX_BLOCKS as usize] = [0; MAX_BLOCKS as usize];
/// The blocks that are done. It is 0 again after each launch, because `fetch_inc` wraps around.
#[address_space(global)]
static mut ATOMICS_TICKETS: u32 = 0;

/// The value of element `i`, and the number of its counter.
///
/// # Safety
/// - `source` is valid for more than `i` u32.
/// - `addresses` is a power of two.
#[inline(always)]
unsafe fn update_of(source: *const u32, i: u32, addresses: u32) -> (u32, usize) {
    // SAFETY: the caller's contract.
    let element = unsafe { *source.add(i as usize) };
    (element % (1 << VALUE_BITS), (i & (addresses - 1)) as usize)
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` valid for `n` u32, `target` for `addresses` numbers, a power of two, which nobody else accesses.
#[kernel]
pub unsafe fn atomics_global(source: *const u32, target: *mut u32, addresses: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; the counter is below `addresses` (launch contract).
        unsafe {
            let (value, at) = update_of(source, i, addresses);
            AtomicU32::from_ptr(target.add(at)).fetch_add(value, Relaxed);
        }
    }
}

/// # Safety
/// - As for [`atomics_global`].
#[kernel]
pub unsafe fn atomics_system_scope(source: *const u32, target: *mut u32, addresses: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; the counter is below `addresses` (launch contract).
        unsafe {
            let (value, at) = update_of(source, i, addresses);
            SystemAtomicU32::from_ptr(target.add(at)).fetch_add(value, Relaxed);
        }
    }
}

/// # Safety
/// - As for [`atomics_global`].
#[kernel]
pub unsafe fn atomics_compare_and_swap(
    source: *const u32,
    target: *mut u32,
    addresses: u32,
    n: u32,
) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; the counter is below `addresses` (launch contract).
        unsafe {
            let (value, at) = update_of(source, i, addresses);
            let counter = AtomicU32::from_ptr(target.add(at));
            let mut current = counter.load(Relaxed);
            while let Err(now) =
                counter.compare_exchange(current, current.wrapping_add(value), Relaxed, Relaxed)
            {
                current = now;
            }
        }
    }
}

/// # Safety
/// - As for [`atomics_global`].
#[kernel(min_compute_capability = 80)]
pub unsafe fn atomics_warp_aggregated(
    source: *const u32,
    target: *mut u32,
    addresses: u32,
    n: u32,
) {
    let i = thread::index_1d();
    // SAFETY: lanes beyond n bring 0, so that all lanes of a warp take part; the counter is below `addresses`.
    unsafe {
        let at = (i & (addresses - 1)) as usize;
        let value = if i < n { update_of(source, i, addresses).0 } else { 0 };
        let peers = warp_match_any(FULL_MASK, at as u32);
        let sum = warp_reduce(peers, value, WarpReductionOp::Add);
        let is_leader = warp::lane_id() == peers.trailing_zeros();
        if is_leader && i < n {
            AtomicU32::from_ptr(target.add(at)).fetch_add(sum, Relaxed);
        }
    }
}

/// # Safety
/// - Any 1-D grid of `SHARED_THREADS_PER_BLOCK` threads with 4 bytes of dynamic shared memory for each of the
///   `addresses`.
/// - The arrays as for [`atomics_global`].
#[kernel]
pub unsafe fn atomics_shared(source: *const u32, target: *mut u32, addresses: u32, n: u32) {
    let counters = shared::dynamic_shared_mem::<u32>();
    let thread = thread::thread_idx_x();
    let threads = thread::grid_dim_x() * SHARED_THREADS_PER_BLOCK;
    // SAFETY: the counter is below `addresses`, in shared and in device memory; barriers separate clearing, adding and
    // merging; i < n.
    unsafe {
        let mut at = thread;
        while at < addresses {
            *counters.add(at as usize) = 0;
            at += SHARED_THREADS_PER_BLOCK;
        }
        thread::sync_threads();
        let mut i = thread::index_1d();
        while i < n {
            let (value, at) = update_of(source, i, addresses);
            BlockAtomicU32::from_ptr(counters.add(at)).fetch_add(value, Relaxed);
            i += threads;
        }
        thread::sync_threads();
        let mut at = thread;
        while at < addresses {
            let sum = *counters.add(at as usize);
            AtomicU32::from_ptr(target.add(at as usize)).fetch_add(sum, Relaxed);
            at += SHARED_THREADS_PER_BLOCK;
        }
    }
}

/// # Safety
/// - As for [`atomics_global`].
#[kernel]
pub unsafe fn atomics_u64(source: *const u32, target: *mut u64, addresses: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; the counter is below `addresses` (launch contract).
        unsafe {
            let (value, at) = update_of(source, i, addresses);
            AtomicU64::from_ptr(target.add(at)).fetch_add(value.into(), Relaxed);
        }
    }
}

/// # Safety
/// - As for [`atomics_global`].
#[kernel]
pub unsafe fn atomics_f32(source: *const u32, target: *mut f32, addresses: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; the counter is below `addresses` (launch contract).
        unsafe {
            let (value, at) = update_of(source, i, addresses);
            AtomicF32::from_ptr(target.add(at)).fetch_add(value as f32, Relaxed);
        }
    }
}

/// Adds each lane's vector of elements to a vector of counters, and what is left of the last vector one by one.
///
/// # Safety
/// - As for [`atomics_f32x4`], for any number of lanes of a vector that divides `addresses`.
/// - `add` adds a vector whose first counter and element it is given.
#[inline(always)]
unsafe fn add_vectors<const LANES: u32>(
    source: *const u32,
    target: *mut f32,
    addresses: u32,
    n: u32,
    add: impl Fn(*mut f32, *const u32),
) {
    let first = thread::index_1d() * LANES;
    // SAFETY: all elements are below n; `LANES` divides `first` and `addresses`, so a vector's counters are neighbours.
    unsafe {
        if first + LANES <= n {
            let at = (first & (addresses - 1)) as usize;
            add(target.add(at), source.add(first as usize));
        } else {
            for i in first..n {
                let (value, at) = update_of(source, i, addresses);
                AtomicF32::from_ptr(target.add(at)).fetch_add(value as f32, Relaxed);
            }
        }
    }
}

/// The value of an element as a float.
#[inline(always)]
fn value_of(element: u32) -> f32 {
    (element % (1 << VALUE_BITS)) as f32
}

/// # Safety
/// - As for [`atomics_f32x4`], with two elements per thread.
#[kernel(min_compute_capability = 90)]
pub unsafe fn atomics_f32x2(source: *const u32, target: *mut f32, addresses: u32, n: u32) {
    // SAFETY: the launch contract; two elements and two counters from a multiple of two on are aligned.
    unsafe {
        add_vectors::<2>(source, target, addresses, n, |target, source| {
            let elements = *source.cast::<U32x2>();
            add_f32x2(target.cast(), F32x2::new(value_of(elements.x), value_of(elements.y)));
        });
    }
}

/// # Safety
/// - Grid: 1-D, of `THREADS_PER_BLOCK` threads that cover `n` elements, four per thread.
/// - Lengths: `source` valid for `n` u32, `target` for `addresses` f32, a power of two of at least 4.
/// - Alignment: both to 16 bytes.
/// - Aliasing: nobody else accesses `target`.
#[kernel(min_compute_capability = 90)]
pub unsafe fn atomics_f32x4(source: *const u32, target: *mut f32, addresses: u32, n: u32) {
    // SAFETY: the launch contract; four elements and four counters from a multiple of four on are aligned.
    unsafe {
        add_vectors::<4>(source, target, addresses, n, |target, source| {
            let [x, y, z, w] = (*source.cast::<U32x4>()).to_array().map(value_of);
            add_f32x4(target.cast(), F32x4::new(x, y, z, w));
        });
    }
}

/// # Safety
/// - As for [`atomics_global`].
#[kernel]
pub unsafe fn atomics_f64(source: *const u32, target: *mut f64, addresses: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; the counter is below `addresses` (launch contract).
        unsafe {
            let (value, at) = update_of(source, i, addresses);
            AtomicF64::from_ptr(target.add(at)).fetch_add(f64::from(value), Relaxed);
        }
    }
}

/// The sum of the block's values, in its first thread.
///
/// # Safety
/// - `words` is shared memory for `WARPS` u32.
/// - All threads of the block call, once or with a barrier between.
#[inline(always)]
unsafe fn block_sum(value: u32, words: *mut u32) -> u32 {
    // SAFETY: all lanes take part in the shuffles; a warp writes its own word, and all are read after the barrier.
    unsafe {
        let of_warp = |value: u32| {
            [16, 8, 4, 2, 1].into_iter().fold(value, |sum, delta| {
                sum.wrapping_add(warp_shuffle_down(FULL_MASK, sum, delta, WARP_SIZE).0)
            })
        };
        let (thread, sum) = (thread::thread_idx_x(), of_warp(value));
        if thread.is_multiple_of(WARP_SIZE) {
            *words.add((thread / WARP_SIZE) as usize) = sum;
        }
        thread::sync_threads();
        if thread >= WARP_SIZE {
            return 0;
        }
        of_warp(if thread < WARPS { *words.add(thread as usize) } else { 0 })
    }
}

/// The sum of every `gridDim`-th block of elements: what this thread has to add.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `source` is valid for `n` u32.
#[inline(always)]
unsafe fn sum_of_thread(source: *const u32, n: u32) -> u32 {
    let threads = thread::grid_dim_x() * THREADS_PER_BLOCK;
    let (mut i, mut sum) = (thread::index_1d(), 0_u32);
    while i < n {
        // SAFETY: i < n.
        sum = sum.wrapping_add(unsafe { *source.add(i as usize) });
        i += threads;
    }
    sum
}

/// The sum of the partial sums of so many blocks: what this thread has to add.
///
/// # Safety
/// - Blocks of `THREADS_PER_BLOCK` threads.
/// - So many blocks have written their sums, and this thread knows it.
#[inline(always)]
unsafe fn sum_of_partials(blocks: u32) -> u32 {
    let partials = (&raw const ATOMICS_PARTIAL_SUMS).cast::<u32>();
    let (mut block, mut sum) = (thread::thread_idx_x(), 0_u32);
    while block < blocks {
        // SAFETY: block < blocks <= MAX_BLOCKS.
        sum = sum.wrapping_add(unsafe { *partials.add(block as usize) });
        block += THREADS_PER_BLOCK;
    }
    sum
}

/// # Safety
/// - 1-D grid of at most `MAX_BLOCKS` blocks of `THREADS_PER_BLOCK` threads, followed by [`atomics_sum_of_blocks`].
/// - `source` valid for `n` u32.
#[kernel]
pub unsafe fn atomics_sum_two_launches(source: *const u32, n: u32) {
    let partials = (&raw mut ATOMICS_PARTIAL_SUMS).cast::<u32>();
    // SAFETY: all threads call; the block is below MAX_BLOCKS, and its word is its own.
    unsafe {
        let sum = block_sum(sum_of_thread(source, n), shared_array!(WORDS: [u32; WARPS]));
        if thread::thread_idx_x() == 0 {
            *partials.add(thread::block_idx_x() as usize) = sum;
        }
    }
}

/// The second step of `sum_two_launches`.
///
/// # Safety
/// - One block of `THREADS_PER_BLOCK` threads, after `blocks` blocks of [`atomics_sum_two_launches`].
/// - `target` valid for one u32.
#[kernel]
pub unsafe fn atomics_sum_of_blocks(target: *mut u32, blocks: u32) {
    // SAFETY: all threads call; the launch before this one has written the sums.
    unsafe {
        let sum = block_sum(sum_of_partials(blocks), shared_array!(WORDS: [u32; WARPS]));
        if thread::thread_idx_x() == 0 {
            *target = sum;
        }
    }
}

/// # Safety
/// - 1-D grid of at most `MAX_BLOCKS` blocks of `THREADS_PER_BLOCK` threads, one such launch at a time.
/// - `source` valid for `n` u32, `target` for one.
#[kernel]
pub unsafe fn atomics_sum_last_block(source: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut IS_LAST: MaybeUninit<u32> = MaybeUninit::uninit();
    let (words, is_last) = (shared_array!(WORDS: [u32; WARPS]), (&raw mut IS_LAST).cast::<u32>());
    let partials = (&raw mut ATOMICS_PARTIAL_SUMS).cast::<u32>();
    let blocks = thread::grid_dim_x();
    // SAFETY: the block is below MAX_BLOCKS, and its word is its own. The ticket releases that word, and the last ticket
    // acquires the words of all blocks; the barrier passes that on to the block's other threads. Barriers separate the
    // uses of `words`.
    unsafe {
        let sum = block_sum(sum_of_thread(source, n), words);
        if thread::thread_idx_x() == 0 {
            *partials.add(thread::block_idx_x() as usize) = sum;
            let ticket =
                AtomicU32::from_ptr(&raw mut ATOMICS_TICKETS).fetch_inc(blocks - 1, AcqRel);
            *is_last = u32::from(ticket == blocks - 1);
        }
        thread::sync_threads();
        if *is_last == 1 {
            let sum = block_sum(sum_of_partials(blocks), words);
            if thread::thread_idx_x() == 0 {
                *target = sum;
            }
        }
    }
}
