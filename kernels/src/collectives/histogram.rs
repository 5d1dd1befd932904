//! # Histogram: privatization keeps lanes from counting at one address
//!
//! Shows: shared-memory [atomics][atomic] are fast when each [lane] updates its own [bank], and
//! slow when lanes contend for a bank; global atomics are slow when they contend for an address.
//!
//! The surprise is twofold. An input whose bytes are all equal is the worst case for counters in
//! device memory, but not for counters in [shared memory]: there the hardware adds up lanes that
//! add 1 to the same word. And a copy of the counters for each [warp], `warp_private` (0.633 ms),
//! gains nothing over one for the whole [block], `block_private` (0.634 ms).
//!
//! Each byte of the input adds 1 to one of 256 counters, by an atomic addition, which no other
//! thread can interrupt. Additions to one address happen one after the other. In shared memory,
//! additions of a warp to different words of one bank happen one after the other as well. So
//! everything depends on the word and the bank of each lane:
//!
//! ```text
//! counter of bin b for lane l        bank            wavefronts per request: random bytes | equal bytes
//!   block_private   word b           b % 32          3.2 (two lanes may share a word)     |  1 (added up)
//!   warp_private    word b           b % 32          3.2, the lanes of a warp share       |  1
//!   256 words each  word 256 l + b   b % 32          3.53                                 | 32
//!   padded          word 257 l + b   (l + b) % 32    3.53                                 |  1
//!   lane_private    word 32 b + l    l               1                                    |  1
//! ```
//!
//! 3.53 is the number of balls in the fullest of 32 boxes, if 32 balls are thrown at random.
//!
//! 1. `global_atomic`. Every byte is an atomic addition in device memory. The counter shows n
//!    atomics at 256 addresses, which the [L2 cache] executes one after the other.
//! 2. `block_private`. The idea, called [privatization]: each block counts in a private copy in
//!    shared memory and adds it to device memory at its end. It costs 1 KiB per block, and n global
//!    atomics become 256 per block. What remains: 3.2 [wavefronts][wavefront] per request.
//! 3. `warp_private`. A copy for each warp, so that warps do not meet at a word. It costs 16 KiB.
//!    The counter still shows 3.2: the 32 lanes of one warp still share one copy, and requests of
//!    different warps are served one after the other anyway.
//! 4. `padded`. A copy for each lane, 257 words apart, so that even equal bytes are in different
//!    banks. It costs 32 KiB. The counter shows 3.5: for random bytes the banks are still random.
//! 5. `lane_private`. The idea: store the 32 copies of a bin next to each other. Lane l then always
//!    uses bank l. The counter shows 1 wavefront, whatever the bytes. What remains: each request
//!    loads only 32 bytes.
//! 6. `coarsened`. Each lane loads 16 bytes at once, with four loads in flight. The counter shows
//!    16 [sectors][sector] per load, and now device memory is the limit.
//! 7. `aggregated`. Four equal bytes in a word are counted by one addition of 4. This would help if
//!    additions were the limit. They are not any more, so the test costs more than it gains.
//! 8. `large_histogram_global` is another task: 32-bit keys and 2^17 bins, 512 KiB of counters,
//!    which do not fit in shared memory. Each key is an atomic addition in L2 again.
//! 9. `large_histogram`. The idea: three blocks read the same keys, and each counts a third of the
//!    bins in shared memory. It costs reading the keys three times from L2, 3 x 4 B = 12 B per key.
//!    But an atomic in L2 costs more, a sector of 32 B read and written.
//! 10. `large_histogram_bulk`. The idea: merging is a loop, in which each thread loads a counter and adds it
//!    to device memory. One instruction does that for the whole part, `cp.reduce.async.bulk`: the Tensor Memory
//!    Accelerator reads shared memory, and L2 adds. The counter shows no atomics of threads. It saves
//!    instructions and no additions: L2 has as many as before, so nothing is gained here. Compute capability
//!    9.0.
//!
//! | variant | change from the previous one | sectors per load | shared atomic wavefronts | global atomics | limited by |
//! |---|---|---|---|---|---|
//! | `global_atomic` | every byte is an atomic addition in device memory | 1 | none | n | 256 addresses in L2 |
//! | `block_private` | each block counts in a private copy in shared memory | 1 | 3.2 | 256 x blocks | shared memory banks |
//! | `warp_private` | each warp has its own copy | 1 | 3.2 | 256 x blocks | shared memory banks |
//! | `padded` | each lane has its own copy, in rows of 257 words | 1 | 3.5 | 256 x blocks | shared memory banks |
//! | `lane_private` | the 32 copies of a bin are next to each other: bank = lane | 1 | 1 | 256 x blocks | requests: a load and an atomic for 32 B |
//! | `coarsened` | 16 bytes per load, four loads in flight | 16 | 1 | 256 x blocks | device memory |
//! | `aggregated` | four equal neighbouring bytes are counted by one addition | 16 | 1 | 256 x blocks | device memory |
//! | `large_histogram_global` | 2^17 bins for 32-bit keys, counted in device memory | 16 | none | n / 4 | L2 atomics |
//! | `large_histogram` | each block counts a third of the bins in shared memory and ignores the others | 16 | 1.9 | 2^17 x blocks / 3 | L2 reads |
//! | `large_histogram_bulk` | one bulk copy per block adds its counters to device memory (sm_90) | 16 | 1.9 | none by threads | L2 reads |
//!
//! Expected: the [minimum time] is that of reading the input once, n bytes. `global_atomic` (132.1
//! ms) takes 208 times (`global_atomic` / `block_private`) as long as `block_private` (0.634 ms).
//! `warp_private` (0.633 ms) equals it, and `padded` (0.669 ms) is even slower for random bytes.
//! `lane_private` (0.514 ms) needs one wavefront per request, and `coarsened` (0.244 ms) reaches
//! the minimum time; `aggregated` (0.250 ms) does not improve on it. From `lane_private` on, all
//! distributions take the same time. `large_histogram` (0.446 ms) beats `large_histogram_global`
//! (2.897 ms), and for equal keys by far more, since all of them wait for one address in L2;
//! `large_histogram_bulk` takes as long: merging is a small part, and L2 does it either way.
//!
//! The heart of `lane_private` in CUDA C++, and in Rust:
//!
//! ```cuda
//! atomicAdd(&counts[byte * 32 + lane], 1);    // add_shared(words, own_bank(bin, lane), 1);
//! ```
//!
//! Common misconception: "an input of equal bytes is the worst case". It is the worst case for
//! device memory. In shared memory, lanes that add 1 to the same word take one wavefront together.
//!
//! Common misconception: "a copy for each warp removes the contention". Contention inside a warp
//! decides here, and a copy for each warp does not change it.
//!
//! Questions:
//! - Why 257 words per row? With 256, word 256 l + b is in bank b % 32 for every lane: equal bytes
//!   would take 32 wavefronts. 257 % 32 = 1 shifts each lane's copy by one bank.
//! - Why is one wavefront not enough to reach device memory's speed in `lane_private`? A load of
//!   one byte per lane brings 32 bytes per request, and each of them needs a request for its atomic
//!   too. `coarsened` brings 512 bytes with one request.
//! - How much does 32 KiB per block cost? 4 blocks of 512 threads need 128 KiB, which fits, so all
//!   2048 threads of a multiprocessor are still resident.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `global_atomic` | 132.1 | 8 | 0 | 1.00 |
//! | `block_private` | 0.634 | 1693 | 38 | 208.32 |
//! | `warp_private` | 0.633 | 1697 | 38 | 208.70 |
//! | `padded` | 0.669 | 1605 | 36 | 197.48 |
//! | `lane_private` | 0.514 | 2090 | 46 | 257.07 |
//! | `coarsened` | 0.244 | 4409 | 98 | 542.35 |
//! | `aggregated` | 0.250 | 4297 | 96 | 528.67 |
//! | `large_histogram_global` | 2.897 | 371 | 8 | 45.60 |
//! | `large_histogram` | 0.446 | 2409 | 54 | 296.37 |
//! | `large_histogram_bulk` | 0.452 | 2376 | 53 | 292.25 |
//! | *nvcc coarsened* | 0.287 | 3744 | 83 | 460.62 |
//! | *CUB HistogramEven* | 0.496 | 2165 | 48 | 266.37 |
//! <!-- /measured -->
//!
//! Preconditions: input aligned to 16 bytes; `distribution` is 0 (uniform), 1 (skewed: x^4 of a
//! uniform x in 0 .. 1, so a quarter of the bytes is 0) or 2 (constant: all bytes are equal).
//!
//! Source: Podlozhnyuk, "Histogram calculation in CUDA"; NVIDIA developer blog, "GPU Pro Tip: Fast
//! Histograms Using Shared Atomics on Maxwell"; CUB, `DeviceHistogram`.
#![doc = include_str!("../../../crates/report/src/links.md")]

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::bulk_copy;
use cuda_std::prelude::*;
use cuda_std::vector::U32x4;
use cuda_std::warp;
use cuda_std::warp::WARP_SIZE;

/// Bins of the byte histogram: one for each value of a byte.
pub const BINS: u32 = 256;
/// Bins of the histogram of 32-bit keys: one for each value of their upper bits.
pub const LARGE_BINS: u32 = 1 << LARGE_BITS;
/// The bits of a key that choose its bin.
const LARGE_BITS: u32 = 17;
pub const THREADS_PER_BLOCK: u32 = 512;
/// The largest grid: 4 blocks, which are 2048 threads, for each of the 132 multiprocessors of an H200.
pub const MAX_BLOCKS: u32 = 528;
/// 16-byte loads that each thread of the coarsened variants starts before it counts.
pub const LOADS_IN_FLIGHT: u32 = 4;
/// Bytes that each thread of the other variants loads before it counts them.
pub const BYTES_IN_FLIGHT: u32 = 8;
/// Threads per block of `large_histogram`; one such block fits on a multiprocessor.
pub const LARGE_THREADS_PER_BLOCK: u32 = 1024;
const WARPS: u32 = THREADS_PER_BLOCK / WARP_SIZE;
/// Words of a padded copy.
const PADDED: u32 = BINS + 1;

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` valid for `n` bytes, `target` for `BINS` zeros.
#[kernel]
pub unsafe fn histogram_global_atomic(source: *const u8, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, the length of the array; a byte is below BINS.
        unsafe { add_global(target, u32::from(*source.add(i as usize)), 1) };
    }
}

/// Adds to a count in device memory.
///
/// # Safety
/// - `counts` has a word `at`, accessed by atomics only.
#[inline(always)]
unsafe fn add_global(counts: *mut u32, index: u32, by: u32) {
    // SAFETY: the caller's contract.
    unsafe { AtomicU32::from_ptr(counts.add(index as usize)) }.fetch_add(by, Relaxed);
}

/// Adds to a count in shared memory.
///
/// # Safety
/// - `words` is shared memory with a word `at`, accessed by atomics only until the next barrier.
#[inline(always)]
unsafe fn add_shared(words: *mut u32, index: u32, by: u32) {
    // SAFETY: the caller's contract.
    unsafe { AtomicU32::from_ptr(words.add(index as usize)) }.fetch_add(by, Relaxed);
}

/// Zeros the block's counters.
///
/// # Safety
/// - `words` is shared memory for `len` words.
/// - All `threads` threads of the block call.
#[inline(always)]
unsafe fn clear(words: *mut u32, len: u32, threads: u32) {
    let mut word = thread::thread_idx_x();
    while word < len {
        // SAFETY: word < len; each word has one writer before the barrier.
        unsafe { *words.add(word as usize) = 0 };
        word += threads;
    }
    thread::sync_threads();
}

/// Adds up the `copies` of each bin and adds the sums to device memory. `place(copy, bin)` is the index
/// of a counter.
///
/// # Safety
/// - `words` is shared memory in which `place` stays.
/// - `target` as for the kernels.
/// - All threads of the block call.
#[inline(always)]
unsafe fn merge(words: *mut u32, target: *mut u32, copies: u32, place: impl Fn(u32, u32) -> u32) {
    thread::sync_threads();
    let bin = thread::thread_idx_x();
    if bin < BINS {
        let mut sum = 0;
        for copy in 0..copies {
            // SAFETY: `place` stays in `words`, which are no longer written after the barrier.
            sum += unsafe { *words.add(place(copy, bin) as usize) };
        }
        // SAFETY: bin < BINS.
        unsafe { add_global(target, bin, sum) };
    }
}

/// Counts bytes, one per load and `BYTES_IN_FLIGHT` loads at a time, in shared memory. `place(bin)` is the
/// index of a counter.
///
/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `source` valid for `n` bytes.
/// - `words` shared memory in which `place` stays, cleared.
#[inline(always)]
unsafe fn count_bytes(source: *const u8, n: u32, words: *mut u32, place: impl Fn(u32) -> u32) {
    let threads = thread::grid_dim_x() * THREADS_PER_BLOCK;
    let mut i = thread::index_1d();
    // SAFETY: every index is below n; `place` stays in `words`.
    unsafe {
        let load = |i: u32| u32::from(*source.add(i as usize));
        while i + (BYTES_IN_FLIGHT - 1) * threads < n {
            let bins: [u32; BYTES_IN_FLIGHT as usize] =
                core::array::from_fn(|step| load(i + step as u32 * threads));
            for bin in bins {
                add_shared(words, place(bin), 1);
            }
            i += BYTES_IN_FLIGHT * threads;
        }
        while i < n {
            add_shared(words, place(load(i)), 1);
            i += threads;
        }
    }
}

/// # Safety
/// - 1-D grid of at most `MAX_BLOCKS` blocks of `THREADS_PER_BLOCK` threads.
/// - `source` 16-byte aligned and valid for `n` bytes, `n` at most 2^31; `target` valid for `BINS` zeros.
#[kernel]
pub unsafe fn histogram_block_private(source: *const u8, target: *mut u32, n: u32) {
    let words = shared_array!(WORDS: [u32; BINS]);
    // SAFETY: the launch contract; a bin is its word.
    unsafe {
        clear(words, BINS, THREADS_PER_BLOCK);
        count_bytes(source, n, words, |bin| bin);
        merge(words, target, 1, |_, bin| bin);
    }
}

/// # Safety
/// - As for [`histogram_block_private`].
#[kernel]
pub unsafe fn histogram_warp_private(source: *const u8, target: *mut u32, n: u32) {
    let words = shared_array!(WORDS: [u32; WARPS * BINS]);
    let warp = thread::thread_idx_x() / WARP_SIZE;
    // SAFETY: the launch contract; warp < WARPS and bin < BINS.
    unsafe {
        clear(words, WARPS * BINS, THREADS_PER_BLOCK);
        count_bytes(source, n, words, |bin| warp * BINS + bin);
        merge(words, target, WARPS, |copy, bin| copy * BINS + bin);
    }
}

/// Lane l of each warp counts in copy l. Each copy has one word more than bins, so that equal bins of different
/// copies are in different banks.
///
/// # Safety
/// - As for [`histogram_block_private`].
#[kernel]
pub unsafe fn histogram_padded(source: *const u8, target: *mut u32, n: u32) {
    let words = shared_array!(WORDS: [u32; WARP_SIZE * PADDED]);
    let lane = warp::lane_id();
    // SAFETY: the launch contract; lane < WARP_SIZE and bin < PADDED.
    unsafe {
        clear(words, WARP_SIZE * PADDED, THREADS_PER_BLOCK);
        count_bytes(source, n, words, |bin| lane * PADDED + bin);
        merge(words, target, WARP_SIZE, |copy, bin| copy * PADDED + bin);
    }
}

/// The index of a lane's counter of a bin: it is in bank `lane`.
#[inline(always)]
fn own_bank(bin: u32, lane: u32) -> u32 {
    // The same as `bin * WARP_SIZE + lane`, with one instruction less.
    (bin * WARP_SIZE) | lane
}

/// Adds up the copies of `own_bank`. Thread t begins with copy t, so that a warp reads 32 different banks.
///
/// # Safety
/// - As for [`merge`].
/// - `words` has `BINS * WARP_SIZE` words.
#[inline(always)]
unsafe fn merge_lanes(words: *mut u32, target: *mut u32) {
    // SAFETY: bin < BINS, and the rotated copy is below WARP_SIZE.
    unsafe { merge(words, target, WARP_SIZE, |copy, bin| own_bank(bin, (copy + bin) % WARP_SIZE)) };
}

/// # Safety
/// - As for [`histogram_block_private`].
#[kernel]
pub unsafe fn histogram_lane_private(source: *const u8, target: *mut u32, n: u32) {
    let words = shared_array!(WORDS: [u32; BINS * WARP_SIZE]);
    let lane = warp::lane_id();
    // SAFETY: the launch contract; bin < BINS and lane < WARP_SIZE.
    unsafe {
        clear(words, BINS * WARP_SIZE, THREADS_PER_BLOCK);
        count_bytes(source, n, words, |bin| own_bank(bin, lane));
        merge_lanes(words, target);
    }
}

/// Calls `see` for each vector of 16 bytes in this thread's share. Neighbouring threads load neighbouring
/// vectors, and each thread starts `LOADS_IN_FLIGHT` loads at a time.
///
/// # Safety
/// - `source` 16-byte aligned and valid for `packs`.
/// - `first` is this thread's number among `threads`.
#[inline(always)]
unsafe fn for_packs(
    source: *const U32x4,
    packs: u32,
    first: u32,
    threads: u32,
    see: impl Fn(U32x4),
) {
    let mut i = first;
    // SAFETY: every index is below `packs`.
    unsafe {
        while i + (LOADS_IN_FLIGHT - 1) * threads < packs {
            let load = |step: u32| *source.add((i + step * threads) as usize);
            let (a, b, c, d) = (load(0), load(1), load(2), load(3));
            see(a);
            see(b);
            see(c);
            see(d);
            i += LOADS_IN_FLIGHT * threads;
        }
        while i < packs {
            see(*source.add(i as usize));
            i += threads;
        }
    }
}

/// Counts bytes in a copy per lane and adds the copies to `target`. `count(copies, lane, word)` counts the
/// four bytes of a word.
///
/// # Safety
/// - As for [`histogram_block_private`].
/// - `words` is shared memory for `BINS * WARP_SIZE` words.
#[inline(always)]
unsafe fn count_packs(
    source: *const u8,
    target: *mut u32,
    n: u32,
    words: *mut u32,
    count: impl Fn(*mut u32, u32, u32),
) {
    let lane = warp::lane_id();
    let first = thread::index_1d();
    let packs = n / 16;
    // SAFETY: the launch contract; what is left of the last pack is checked against n.
    unsafe {
        clear(words, BINS * WARP_SIZE, THREADS_PER_BLOCK);
        for_packs(source.cast(), packs, first, thread::grid_dim_x() * THREADS_PER_BLOCK, |pack| {
            for word in pack.to_array() {
                count(words, lane, word);
            }
        });
        let left = packs * 16 + first;
        if left < n {
            let byte = u32::from(*source.add(left as usize));
            add_shared(words, own_bank(byte, lane), 1);
        }
        merge_lanes(words, target);
    }
}

/// # Safety
/// - As for [`histogram_block_private`].
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn histogram_coarsened(source: *const u8, target: *mut u32, n: u32) {
    // SAFETY: the launch contract; a byte is below BINS.
    unsafe {
        count_packs(
            source,
            target,
            n,
            shared_array!(WORDS: [u32; BINS * WARP_SIZE]),
            |words, lane, word| {
                for shift in [0, 8, 16, 24] {
                    add_shared(words, own_bank(word >> shift & 0xFF, lane), 1);
                }
            },
        );
    }
}

/// # Safety
/// - As for [`histogram_block_private`].
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn histogram_aggregated(source: *const u8, target: *mut u32, n: u32) {
    // SAFETY: the launch contract; a byte is below BINS.
    unsafe {
        count_packs(
            source,
            target,
            n,
            shared_array!(WORDS: [u32; BINS * WARP_SIZE]),
            |words, lane, word| {
                let equal = word.rotate_left(8) == word;
                add_shared(words, own_bank(word & 0xFF, lane), if equal { 4 } else { 1 });
                if !equal {
                    for shift in [8, 16, 24] {
                        add_shared(words, own_bank(word >> shift & 0xFF, lane), 1);
                    }
                }
            },
        );
    }
}

/// The bin of a key.
#[inline(always)]
fn bin_of(key: u32) -> u32 {
    key >> (u32::BITS - LARGE_BITS)
}

/// 32-bit keys in 2^17 bins, whose counters do not fit in shared memory. Each key is an atomic addition in device
/// memory.
///
/// # Safety
/// - 1-D grid of at most `MAX_BLOCKS` blocks of `THREADS_PER_BLOCK` threads.
/// - `keys` 16-byte aligned and valid for `n` u32, `n` at most 2^29; `target` valid for `LARGE_BINS` zeros.
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn histogram_large_histogram_global(keys: *const u32, target: *mut u32, n: u32) {
    let first = thread::index_1d();
    // SAFETY: the launch contract; bins are below LARGE_BINS.
    unsafe {
        for_packs(keys.cast(), n / 4, first, thread::grid_dim_x() * THREADS_PER_BLOCK, |pack| {
            for key in pack.to_array() {
                add_global(target, bin_of(key), 1);
            }
        });
        let left = n / 4 * 4 + first;
        if left < n {
            add_global(target, bin_of(*keys.add(left as usize)), 1);
        }
    }
}

/// Counts the keys of `part` bins from `lowest` on in shared memory; the blocks with equal x read the same keys, and each of
/// them counts other bins.
///
/// # Safety
/// - As for [`histogram_large_histogram`].
/// - `words` is shared memory for `part` words.
#[inline(always)]
unsafe fn count_part(keys: *const u32, n: u32, words: *mut u32, lowest: u32, part: u32) {
    let count = |key: u32| {
        // Bins below the part wrap around to large numbers.
        let word = bin_of(key).wrapping_sub(lowest);
        if word < part {
            // SAFETY: the block has `part` words.
            unsafe { add_shared(words, word, 1) };
        }
    };
    let first = thread::block_idx_x() * LARGE_THREADS_PER_BLOCK + thread::thread_idx_x();
    // SAFETY: the launch contract.
    unsafe {
        clear(words, part, LARGE_THREADS_PER_BLOCK);
        for_packs(
            keys.cast(),
            n / 4,
            first,
            thread::grid_dim_x() * LARGE_THREADS_PER_BLOCK,
            |pack| {
                for key in pack.to_array() {
                    count(key);
                }
            },
        );
        let left = n / 4 * 4 + first;
        if left < n {
            count(*keys.add(left as usize));
        }
    }
}

/// # Safety
/// - 2-D grid of `LARGE_THREADS_PER_BLOCK` threads whose y covers `LARGE_BINS` bins, `part` each.
/// - Dynamic shared memory for `part` words.
/// - `keys` 16-byte aligned and valid for `n` u32, `n` at most 2^29; `target` valid for `LARGE_BINS` zeros.
#[kernel(launch_bounds(LARGE_THREADS_PER_BLOCK, 1))]
pub unsafe fn histogram_large_histogram(keys: *const u32, target: *mut u32, n: u32, part: u32) {
    let words = shared::dynamic_shared_mem::<u32>();
    let lowest = thread::block_idx_y() * part;
    // SAFETY: the launch contract; the last part may end beyond the last bin.
    unsafe {
        count_part(keys, n, words, lowest, part);
        thread::sync_threads();
        let mut word = thread::thread_idx_x();
        while word < part && lowest + word < LARGE_BINS {
            add_global(target, lowest + word, *words.add(word as usize));
            word += LARGE_THREADS_PER_BLOCK;
        }
    }
}

/// # Safety
/// - As for [`histogram_large_histogram`], where 4 divides `part`, and `target` is aligned to 16 bytes.
#[kernel(launch_bounds(LARGE_THREADS_PER_BLOCK, 1), min_compute_capability = 90)]
pub unsafe fn histogram_large_histogram_bulk(
    keys: *const u32,
    target: *mut u32,
    n: u32,
    part: u32,
) {
    let words = shared::dynamic_shared_mem::<u32>();
    let lowest = thread::block_idx_y() * part;
    // SAFETY: the launch contract; all have counted before the copy begins, and the block ends when it has read the counters.
    unsafe {
        count_part(keys, n, words, lowest, part);
        bulk_copy::fence_shared();
        thread::sync_threads();
        if thread::thread_idx_x() == 0 && lowest < LARGE_BINS {
            let bytes = 4 * part.min(LARGE_BINS - lowest);
            bulk_copy::add_to_global(target.add(lowest as usize), words, bytes);
            bulk_copy::commit_group();
            bulk_copy::wait_group_read::<0>();
        }
    }
}
