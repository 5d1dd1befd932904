//! # Scan: every prefix sum, and how a block learns the sum of all elements before its own
//!
//! Shows: scan in [registers][register] first, then within [warps][warp] by [shuffles][shuffle],
//! then across [blocks][block] in a single pass in which each block looks back at the blocks before
//! it.
//!
//! The surprise: the scan with the fewest additions is the slowest. `blelloch` (2.755 ms) makes
//! 1533 additions per tile and `hillis_steele` (1.742 ms) makes 4097.
//! [Bank conflicts][bank conflict] decide: without them, `blelloch_padded` (1.411 ms) is faster
//! than both.
//!
//! An inclusive scan computes `target[i] = source[0] + ... + source[i]`. Each element needs the sum
//! of all elements before it, so blocks cannot work independently. There are two ways out:
//!
//! ```text
//! array read twice (the first five variants)                  memory traffic: 3 n words
//!   1. scan_sums: each warp reads a tile and writes its sum      read n
//!   2. the sums are scanned by the variant's own kernel          almost nothing
//!   3. each block scans its tile and adds the sum before it      read n, write n
//! array read once (the last three)                            memory traffic: 2 n words
//!   each block scans its tile and asks the blocks before it      read n, write n
//! ```
//!
//! Within a block, a tile of 512 words is scanned in [shared memory]. These are the counts per
//! tile:
//!
//! ```text
//!                    requests, load + store   wavefronts           barriers
//!   hillis_steele        129 + 144            129 + 144 = 273       9
//!   blelloch              94 +  76            394 + 301 = 695      19
//!   blelloch_padded       94 +  76             94 +  76 = 170      19
//!   shuffle               16 +  17             16 +  17 =  33       2
//!
//! blelloch, level with words 2 s apart, s   1   2   4   8  16  32  64 128 256
//!   warps that work                         8   4   2   1   1   1   1   1   1   up 19 (no root), down 20
//!   wavefronts per access, word i at i      2   4   8  16  16   8   4   2   1   up 94, down 95
//!   wavefronts, word i at i + i / 32        1   1   1   1   1   1   1   1   1   up 19, down 20
//! loads   (2 x 94 + 2 x 95 + 16) / (2 x 19 + 2 x 20 + 16) = 394 / 94 = 4.19 wavefronts per request
//! stores  (16 + 94 + 1 + 2 x 95) / (16 + 19 + 1 + 2 x 20) = 301 / 76 = 3.96
//! ```
//!
//! 1. `hillis_steele`. At each of the distances 1, 2, 4 ... 256, every word adds the word that is
//!    so many places before it: 9 levels, no conflicts, and 4097 additions where 511 would do.
//! 2. `blelloch`. The idea: add pairs up to the root of a tree, then hand down what is before each
//!    pair: 510 + 511 + 512 additions. It costs 19 [barriers][barrier] instead of 9, and the words
//!    of neighbouring lanes are a power of two apart. The counter shows 4.19
//!    [wavefronts][wavefront] per load.
//! 3. `blelloch_padded`. The idea: [padding], one unused word after every 32. Word i is then in
//!    bank (i + i / 32) % 32, and words that are 2 s apart are in different banks. It costs 64
//!    bytes. What remains: the barriers.
//! 4. `shuffle`. Warps scan by shuffles from register to register; shared memory holds one word per
//!    warp. The counter shows 33 wavefronts instead of 170. But each thread now has one element
//!    where the tree had two: fewer [bytes in flight], and the time grows.
//! 5. `vectorized`. Each thread loads 8 vectors of 16 bytes and scans 32 elements in registers.
//!    What remains: the array is read twice, so 3 n words move where 2 n are needed.
//! 6. `look_back` reads the array once, by a [look-back] as explained below. What remains: a block
//!    has no load in flight while it waits for the blocks before it and while it stores.
//! 7. `look_back_async` copies the tile into shared memory by an [asynchronous copy]. A thread
//!    needs a third fewer registers, so 6 blocks per multiprocessor are resident instead of 4, and
//!    have 6 x 32 KiB = 192 KiB instead of 4 x 32 KiB = 128 KiB of tiles on their way. What remains:
//!    a block spends most of its life looking back, and holds its 32 KiB meanwhile.
//! 8. `specialized_warps`. The idea: let no step wait for another. One block per multiprocessor
//!    stays, and each of its warps has one task: one warp brings tiles by [bulk copy] into a ring
//!    of 6 stages, 8 add, one publishes the sum, one looks back, 8 scan and store. An [mbarrier]
//!    hands a tile from task to task. The sum of a tile is published while the tile before it is
//!    still looking back. It costs 192 KiB of shared memory and a kernel in five parts.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | words moved | limited by |
//! |---|---|---|---|---|---|---|
//! | `hillis_steele` | every word adds the word 1, 2, 4 ... 256 before it | 3.0 | 3.8 | 1 / 1 | 3 n | shared requests, barriers |
//! | `blelloch` | a tree, up and down: fewer additions, more barriers | 3.4 | 3.8 | 4.19 / 3.96 | 3 n | bank conflicts, barriers |
//! | `blelloch_padded` | one word of padding after every 32 words | 3.4 | 3.8 | 1 / 1 | 3 n | barriers |
//! | `shuffle` | warps scan by shuffles; one shared word per warp | 3.0 | 3.8 | 1 / 1 | 3 n | bytes in flight |
//! | `vectorized` | 16-byte loads, 32 elements per thread | 6.3 | 15.7 | 1 / 1 | 3 n | device memory |
//! | `look_back` | one pass: each block looks back at the tiles before its own | 15.8 | 15.6 | 1 / 1 | 2 n | bytes in flight |
//! | `look_back_async` | asynchronous copies bring the tile into shared memory (sm_80) | 15.8 | 15.6 | 3.5 / 7.1 | 2 n | looking back |
//! | `specialized_warps` | blocks stay, and each of their warps has one task (sm_90) | none | 15.8 | 3.1 / 1 | 2 n | device memory |
//!
//! [Sectors][sector] per load are an average over all kernels of a variant: 4 per request of
//! `scan_sums` and of the scan (16 with 16-byte loads), and 1 for the request that loads the sum
//! before the tile.
//!
//! How a block looks back. Each tile has a word of 64 bits in device memory: a state (nothing, sum
//! of the tile, or prefix: the sum of everything up to the tile's end) and the value. A block takes
//! its tile number as a ticket from an [atomic] counter, so every earlier tile belongs to a block
//! that runs or has finished. It publishes the sum of its tile at once. Then its first warp reads
//! the words of the 32 tiles before, one per lane, and adds the sums back to the nearest prefix:
//!
//! ```text
//! tile             ... 38       39    40    41    42 (this block)
//! published        ... prefix   sum   sum   sum   sum
//! the warp adds        prefix + sum + sum + sum                  then 42 publishes its own prefix
//! ```
//!
//! State and value are in one word and are written together, so no [fence] is needed. Each state
//! also carries the number of the launch, so nobody has to clear the words between launches.
//!
//! `specialized_warps` looks back in another way. Its block keeps the sum of everything up to its
//! last tile, and needs only the sums of the tiles since then, about as many as there are
//! multiprocessors. It reads them all at once and waits for none but the slowest of them. Nobody
//! publishes a prefix, and so nobody waits for one:
//!
//! ```text
//! tile             40 (this block)   41    42    ...  171   172 (this block)
//! published        sum               sum   sum   ...  sum
//! the looker has   prefix of 40    + sum + sum + ... + sum = what is before 172
//! ```
//!
//! Expected: the [minimum time] is that of a copy, 8 n bytes. Reading the array twice moves 12 n
//! bytes, so the first five variants cannot exceed 8 / 12 = 2/3 of the speed of a copy.
//! `hillis_steele` (1.742 ms), `blelloch` (2.755 ms), `blelloch_padded` (1.411 ms) and
//! `shuffle` (1.616 ms) stay far below that. `vectorized` (0.773 ms) comes near.
//! `look_back` (0.707 ms) and `look_back_async` (0.647 ms) move only what any scan must move, but
//! wait for each other. `specialized_warps` (0.518 ms) takes about the time of a copy.
//!
//! Common misconception: "the scan with the fewest additions is the fastest". Additions are cheap.
//! Count wavefronts and barriers in shared memory, and bytes in device memory.
//!
//! Questions:
//! - Why does a ticket, and not the block's number, choose the tile? Blocks may start in any order.
//!   If a block waited for one that has not started, and every place on the device were taken by
//!   waiting blocks, the kernel would never end.
//! - Why can the results be compared exactly? Inputs are odd multiples of 1/64 in (-1, 1). An f32
//!   addition rounds only from 2^18 on, and a sum of 2^28 random signs reaches that in a 27-sigma
//!   event. With arbitrary inputs, `look_back` may differ from run to run, because how far a tile
//!   looks back is a matter of time.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `hillis_steele` | 1.742 | 1233 | 29 | 1.00 |
//! | `blelloch` | 2.755 | 779 | 18 | 0.63 |
//! | `blelloch_padded` | 1.411 | 1522 | 36 | 1.23 |
//! | `shuffle` | 1.616 | 1329 | 31 | 1.08 |
//! | `vectorized` | 0.773 | 2778 | 65 | 2.25 |
//! | `look_back` | 0.707 | 3038 | 71 | 2.46 |
//! | `look_back_async` | 0.647 | 3320 | 77 | 2.69 |
//! | `specialized_warps` | 0.518 | 4144 | 97 | 3.36 |
//! | *nvcc look_back* | 0.702 | 3058 | 71 | 2.48 |
//! | *nvcc look_back_async* | 0.652 | 3294 | 77 | 2.67 |
//! | *nvcc specialized_warps* | 0.519 | 4135 | 96 | 3.35 |
//! | *CUB InclusiveSum* | 0.677 | 3172 | 74 | 2.57 |
//! <!-- /measured -->
//!
//! Preconditions: arrays aligned to 16 bytes; the words of the tiles zero before their first launch.
//!
//! Source: Hillis, Steele, "Data Parallel Algorithms"; Blelloch, "Prefix Sums and Their
//! Applications"; Harris, Sengupta, Owens, "Parallel Prefix Sum (Scan) with CUDA"; Merrill,
//! Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back"; CUB, `DeviceScan`.
#![doc = include_str!("../../../crates/report/src/links.md")]

pub mod published;
pub mod rows;
pub mod specialized_warps;
pub(super) mod warps;

use self::published::{PREFIX, SUM, look_back, take_ticket, word};
use self::rows::{
    ROW, ROWS, VECTORIZED_THREADS, VECTORIZED_TILE, first_element, load_rows, scan_rows,
    scan_sums_of_rows, store_rows,
};
use self::specialized_warps::{Block, Stages};
use self::warps::{of_lane, warp_scan, warp_sum};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::async_copy;
use cuda_std::atomic::AtomicU64;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;
use cuda_std::warp::WARP_SIZE;

/// Elements of a tile, and threads of a block that has one element per thread.
pub const TILE: u32 = 512;
/// Threads of a block whose tree has two elements per thread.
pub const TREE_BLOCK: u32 = TILE / 2;
/// Threads per block of `scan_sums`, a warp per tile.
pub const SUMS_THREADS_PER_BLOCK: u32 = 256;
/// Warps of a block with one element per thread.
const WARPS: u32 = TILE / WARP_SIZE;
/// Warps of a block of the variants with 16-byte loads.
const VECTORIZED_WARPS: u32 = VECTORIZED_THREADS / WARP_SIZE;
/// Loads that a lane of `scan_sums` starts before it adds.
const LOADS_IN_FLIGHT: u32 = 16;

/// The exclusive prefix of this block's tile: the inclusive prefix of the tile before it.
///
/// # Safety
/// - `before` valid for a number per block, except the last.
#[inline(always)]
unsafe fn before_tile(before: *const f32) -> f32 {
    let block = thread::block_idx_x();
    // SAFETY: block - 1 is a block, and not the last.
    if block == 0 { 0.0 } else { unsafe { *before.add(block as usize - 1) } }
}

/// Each word adds the word 1, 2, 4 ... 256 before it. Levels write alternately to two halves of shared memory.
///
/// # Safety
/// - 1-D grid of `TILE` threads covering `n` threads.
/// - `source` and `target` valid for `n` f32, the same array or not overlapping.
/// - `before` valid for the scanned sum of each tile of `source` but the last.
#[kernel]
pub unsafe fn scan_hillis_steele(source: *const f32, before: *const f32, target: *mut f32, n: u32) {
    let words = shared_array!(WORDS: [f32; 2 * TILE]);
    let (i, tid) = (thread::index_1d(), thread::thread_idx_x());
    // SAFETY: i < n; each thread stores to its word of a half, and tid - step is another thread's; a barrier is
    // between the two, and the next one before the half is written again.
    unsafe {
        let mut sum = if i < n { *source.add(i as usize) } else { 0.0 };
        let (mut half, mut step) = (0, 1);
        while step < TILE {
            *words.add((half + tid) as usize) = sum;
            thread::sync_threads();
            if tid >= step {
                sum += *words.add((half + tid - step) as usize);
            }
            half = TILE - half;
            step *= 2;
        }
        if i < n {
            *target.add(i as usize) = before_tile(before) + sum;
        }
    }
}

/// Scans a block's tile with a tree, up and down; word `i` of the tile is stored at `place(i)`.
///
/// # Safety
/// - As for [`scan_blelloch`].
/// - `words` is shared memory for the places of all numbers below `TILE`, which are distinct.
#[inline(always)]
unsafe fn tree(
    source: *const f32,
    before: *const f32,
    target: *mut f32,
    n: u32,
    words: *mut f32,
    place: impl Fn(u32) -> usize,
) {
    let (first, tid) = (thread::block_idx_x() * TILE, thread::thread_idx_x());
    let halves = [tid, tid + TREE_BLOCK];
    // SAFETY: elements are checked against n. 2 step divides TILE, so `right` is below TILE where `left` is; the
    // pairs of a level are disjoint, and barriers are between the levels.
    unsafe {
        let elements = halves.map(|word| {
            let i = first + word;
            let element = if i < n { *source.add(i as usize) } else { 0.0 };
            *words.add(place(word)) = element;
            element
        });
        // Up: the last word of each pair becomes the pair's sum.
        let mut step = 1;
        while step < TILE / 2 {
            thread::sync_threads();
            let left = 2 * step * tid + step - 1;
            if left < TILE {
                *words.add(place(left + step)) += *words.add(place(left));
            }
            step *= 2;
        }
        // The exclusive prefix of the whole tile is zero.
        thread::sync_threads();
        if tid == 0 {
            *words.add(place(TILE - 1)) = 0.0;
        }
        // Down: the left word gets the prefix of the pair, the right word that plus the left word's sum.
        step = TILE / 2;
        while step > 0 {
            thread::sync_threads();
            let left = 2 * step * tid + step - 1;
            if left < TILE {
                let sum = *words.add(place(left));
                let before_pair = *words.add(place(left + step));
                *words.add(place(left)) = before_pair;
                *words.add(place(left + step)) = before_pair + sum;
            }
            step /= 2;
        }
        thread::sync_threads();
        let before_tile = before_tile(before);
        for (word, element) in halves.into_iter().zip(elements) {
            let i = first + word;
            if i < n {
                *target.add(i as usize) = before_tile + (*words.add(place(word)) + element);
            }
        }
    }
}

/// Pairs are added up to the root of a tree, and then the prefix of each pair is handed down, in place. Only threads
/// with a pair work; their words are `2 step` apart, which are in the same few banks.
///
/// # Safety
/// - As for [`scan_hillis_steele`], but `TREE_BLOCK` threads per tile of `TILE`.
#[kernel]
pub unsafe fn scan_blelloch(source: *const f32, before: *const f32, target: *mut f32, n: u32) {
    // SAFETY: the launch contract; there are TILE words.
    unsafe { tree(source, before, target, n, shared_array!(WORDS: [f32; TILE]), |i| i as usize) };
}

/// # Safety
/// - As for [`scan_blelloch`].
#[kernel]
pub unsafe fn scan_blelloch_padded(
    source: *const f32,
    before: *const f32,
    target: *mut f32,
    n: u32,
) {
    let place = |i: u32| (i + i / WARP_SIZE) as usize;
    // SAFETY: the launch contract; i + i / 32 is below TILE + TILE / 32, and grows with i.
    unsafe {
        tree(source, before, target, n, shared_array!(WORDS: [f32; TILE + TILE / WARP_SIZE]), place)
    };
}

/// Warps scan by shuffles from register to register. Shared memory holds one word per warp, and of 19 barriers two
/// are left.
///
/// # Safety
/// - As for [`scan_hillis_steele`].
#[kernel]
pub unsafe fn scan_shuffle(source: *const f32, before: *const f32, target: *mut f32, n: u32) {
    let words = shared_array!(WORDS: [f32; WARPS]);
    let (i, tid) = (thread::index_1d(), thread::thread_idx_x());
    let (warp, lane) = (tid / WARP_SIZE, tid % WARP_SIZE);
    // SAFETY: i < n; each warp has its word, which the first warp, and it alone, replaces between the barriers.
    unsafe {
        let mut sum = warp_scan(if i < n { *source.add(i as usize) } else { 0.0 });
        if lane == WARP_SIZE - 1 {
            *words.add(warp as usize) = sum;
        }
        thread::sync_threads();
        if warp == 0 {
            let scanned = warp_scan(if lane < WARPS { *words.add(lane as usize) } else { 0.0 });
            if lane < WARPS {
                *words.add(lane as usize) = scanned;
            }
        }
        thread::sync_threads();
        if warp > 0 {
            sum += *words.add(warp as usize - 1);
        }
        if i < n {
            *target.add(i as usize) = before_tile(before) + sum;
        }
    }
}

/// Takes the sum of each warp. Returns the sum of the warps before this one, and the sum of the block.
///
/// # Safety
/// - `words` is shared memory for `VECTORIZED_WARPS` f32, used once.
/// - All threads of the block call.
#[inline(always)]
unsafe fn scan_warps(words: *mut f32, sum: f32) -> (f32, f32) {
    let tid = thread::thread_idx_x();
    let (warp, lane) = (tid / WARP_SIZE, tid % WARP_SIZE);
    // SAFETY: each warp has its word; readers come after the barrier; all lanes shuffle.
    unsafe {
        if lane == 0 {
            *words.add(warp as usize) = sum;
        }
        thread::sync_threads();
        let scanned =
            warp_scan(if lane < VECTORIZED_WARPS { *words.add(lane as usize) } else { 0.0 });
        // Lane 31 has the block's sum, too: it stands for the warp before the first, which is then left out.
        let lower = of_lane(scanned, warp.wrapping_sub(1) % WARP_SIZE);
        (if warp == 0 { 0.0 } else { lower }, of_lane(scanned, WARP_SIZE - 1))
    }
}

/// # Safety
/// - 1-D grid of a block of `VECTORIZED_THREADS` threads per `VECTORIZED_TILE` elements.
/// - `source` and `target` 16-byte aligned and valid for `n` f32, `n` at most 2^31, the same array or not overlapping.
/// - `before` valid for the scanned sum of each tile of `source` but the last.
#[kernel(launch_bounds(VECTORIZED_THREADS, 4))]
pub unsafe fn scan_vectorized(source: *const f32, before: *const f32, target: *mut f32, n: u32) {
    let tile = thread::block_idx_x();
    // SAFETY: the launch contract; WORDS has a word per warp.
    unsafe {
        let mut rows = load_rows(source, tile, n);
        let (before_warp, _) =
            scan_warps(shared_array!(WORDS: [f32; VECTORIZED_WARPS]), scan_rows(&mut rows));
        store_rows(target, tile, n, first_element(), rows, before_tile(before) + before_warp);
    }
}

/// A tile in shared memory, aligned to 128 bytes as cache lines are, because an asynchronous copy from
/// one cache line into parts of two takes longer. Only used on devices with asynchronous copies.
#[allow(dead_code)]
#[repr(align(128))]
struct Lines([f32; VECTORIZED_TILE as usize]);

/// Shared memory of a block that looks back.
struct Shared {
    words: [f32; VECTORIZED_WARPS as usize],
    ticket: u64,
    before: f32,
}

/// Returns the number of this block's tile, and the number of this launch.
///
/// # Safety
/// - `shared` is shared memory.
/// - `state` as for [`scan_look_back`].
/// - All threads of the block call, once.
#[inline(always)]
unsafe fn next_tile(shared: *mut Shared, state: *mut u64) -> (u32, u32) {
    // SAFETY: one thread writes the ticket, and all read it after a barrier.
    unsafe {
        if thread::thread_idx_x() == 0 {
            (*shared).ticket = take_ticket(state, thread::grid_dim_x());
        }
        thread::sync_threads();
        ((*shared).ticket as u32, ((*shared).ticket >> 32) as u32)
    }
}

/// Takes the sum of this warp's elements and returns the sum of all elements before them. Publishes the
/// sum of the tile and, after looking back, its prefix.
///
/// # Safety
/// - As for [`next_tile`], which gave `tile` and `launch`.
/// - All threads of the block call, once.
#[inline(always)]
unsafe fn before_warp(
    shared: *mut Shared,
    state: *mut u64,
    (tile, launch): (u32, u32),
    sum: f32,
) -> f32 {
    let tid = thread::thread_idx_x();
    // SAFETY: `state` begins with the tickets, and has a word for each tile after them. Tickets are handed out in order,
    // so the blocks of all tiles before have begun. One thread writes `before`, and all read it after a barrier.
    unsafe {
        let (before, sum) = scan_warps((&raw mut (*shared).words).cast(), sum);
        if tid < WARP_SIZE {
            let tiles = state.add(1);
            let own = AtomicU64::from_ptr(tiles.add(tile as usize));
            if tid == 0 && tile > 0 {
                own.store(word(launch, SUM, sum), Relaxed);
            }
            let before_tile = look_back(tiles, tile, launch);
            if tid == 0 {
                own.store(word(launch, PREFIX, before_tile + sum), Relaxed);
                (*shared).before = before_tile;
            }
        }
        thread::sync_threads();
        (*shared).before + before
    }
}

/// One pass over the array. A block learns the sum before its tile from the blocks of the tiles before.
///
/// # Safety
/// - 1-D grid of a block of `VECTORIZED_THREADS` threads per `VECTORIZED_TILE` elements.
/// - `source` and `target` 16-byte aligned and valid for `n` f32, `n` at most 2^31, not overlapping.
/// - `state` valid for a word and one more per tile, which are zero before the first launch and only touched by
///   launches of this kernel and of `look_back_async`, one at a time.
#[kernel(launch_bounds(VECTORIZED_THREADS, 4))]
pub unsafe fn scan_look_back(source: *const f32, target: *mut f32, state: *mut u64, n: u32) {
    #[address_space(shared)]
    static mut SHARED: MaybeUninit<Shared> = MaybeUninit::uninit();
    let shared = (&raw mut SHARED).cast::<Shared>();
    // SAFETY: SHARED is this block's, and `next_tile` gives each block a tile of its own (launch contract for the rest).
    unsafe {
        let ticket = next_tile(shared, state);
        let mut rows = load_rows(source, ticket.0, n);
        let sum = scan_rows(&mut rows);
        let before = before_warp(shared, state, ticket, sum);
        store_rows(target, ticket.0, n, first_element(), rows, before);
    }
}

/// Asynchronous copies bring the tile into shared memory without passing through registers. A thread needs a third
/// fewer registers, so 6 blocks instead of 4 are resident per multiprocessor.
///
/// # Safety
/// - As for [`scan_look_back`].
/// - `source` readable up to a multiple of 16 bytes.
#[kernel(launch_bounds(VECTORIZED_THREADS, 6), min_compute_capability = 80)]
pub unsafe fn scan_look_back_async(source: *const f32, target: *mut f32, state: *mut u64, n: u32) {
    #[address_space(shared)]
    static mut ELEMENTS: MaybeUninit<Lines> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut SHARED: MaybeUninit<Shared> = MaybeUninit::uninit();
    let shared = (&raw mut SHARED).cast::<Shared>();
    // This thread's elements, of which only it copies, reads and writes any.
    let own = first_element();
    // SAFETY: own + index * ROW + 3 < VECTORIZED_TILE, and 4 divides it.
    let place = |index: u32| unsafe {
        (&raw mut ELEMENTS).cast::<f32>().add((own + index * ROW) as usize).cast::<F32x4>()
    };
    // SAFETY: the launch contract; copies read no more elements than are left, and are waited for.
    unsafe {
        let ticket = next_tile(shared, state);
        let first = ticket.0 * VECTORIZED_TILE + own;
        for index in 0..ROWS {
            let i = first + index * ROW;
            let bytes = n.saturating_sub(i).min(4) * 4;
            let from = source.wrapping_add(i as usize).cast::<F32x4>();
            async_copy::copy_16_bypass_zero_fill(place(index), from, bytes);
        }
        async_copy::wait_all();
        let mut sums = [0.0; ROWS as usize];
        for (sum, index) in sums.iter_mut().zip(0..) {
            let [a, b, c, d] = (*place(index)).to_array();
            *sum = (a + b) + (c + d);
        }
        let (before_rows, sum) = scan_sums_of_rows(sums);
        let before = before_warp(shared, state, ticket, sum);
        let scanned = |index: u32, before_row: &f32| {
            let [a, b, c, d] = (*place(index)).to_array();
            let before = before + before_row;
            [before + a, before + (a + b), before + ((a + b) + c), before + ((a + b) + (c + d))]
        };
        let target = target.wrapping_add(first as usize);
        if n - ticket.0 * VECTORIZED_TILE >= VECTORIZED_TILE {
            for (before_row, index) in before_rows.iter().zip(0..) {
                let four = F32x4::from_array(scanned(index, before_row));
                *target.add((index * ROW) as usize).cast() = four;
            }
        } else {
            let left = n.saturating_sub(first);
            for (before_row, index) in before_rows.iter().zip(0..) {
                for (element, next) in scanned(index, before_row).iter().zip(0..) {
                    let further = index * ROW + next;
                    if further < left {
                        *target.add(further as usize) = *element;
                    }
                }
            }
        }
    }
}

/// Blocks stay, and each of their warps has one task. Tiles arrive in a ring of stages, and a tile's sum is published
/// while the one before it in the block is still looking back, at sums only.
///
/// # Safety
/// - 1-D grid of blocks of [`specialized_warps::THREADS`] threads.
/// - `stages` from 1 to [`specialized_warps::MAX_STAGES`], and as many tiles of `VECTORIZED_TILE` f32 of dynamic
///   shared memory.
/// - `source`, `target`, `n` as for [`scan_look_back`].
/// - `state` too, but only touched by launches of this kernel with as many blocks.
#[kernel(launch_bounds(specialized_warps::THREADS, 1), min_compute_capability = 90)]
pub unsafe fn scan_specialized_warps(
    source: *const f32,
    target: *mut f32,
    state: *mut u64,
    n: u32,
    stages: u32,
) {
    #[address_space(shared)]
    static mut STAGES: MaybeUninit<Stages> = MaybeUninit::uninit();
    let block =
        Block { stages: (&raw mut STAGES).cast(), stage_count: stages, source, target, state, n };
    let tid = thread::thread_idx_x();
    // SAFETY: the launch contract; no warp comes to a barrier before it is initialized.
    unsafe {
        if tid == 0 {
            block.initialize();
        }
        thread::sync_threads();
        match tid / WARP_SIZE {
            0 if tid == 0 => block.load(),
            0 => {}
            1 => block.publish(),
            2 => block.look_back(),
            warp @ 3..=10 => block.add(warp - 3),
            warp => block.write(warp - 11),
        }
    }
}

/// The first pass of all variants that do not look back: one warp per tile adds its elements, with 16
/// loads in flight per lane.
///
/// # Safety
/// - 1-D grid of `SUMS_THREADS_PER_BLOCK` threads with a warp per `tile` elements.
/// - 512 divides `tile`; `source` valid for `n` f32, `sums` for one per tile; `n` at most 2^31.
#[kernel]
pub unsafe fn scan_sums(source: *const f32, sums: *mut f32, n: u32, tile: u32) {
    let (warp, lane) = (thread::index_1d() / WARP_SIZE, thread::thread_idx_x() % WARP_SIZE);
    if warp * tile >= n {
        return;
    }
    let mut sum = 0.0;
    let end = (warp * tile + tile).min(n);
    let mut first = warp * tile + lane;
    // SAFETY: every index is below `end`; the warp is here as a whole, and has its word.
    unsafe {
        while first - lane + LOADS_IN_FLIGHT * WARP_SIZE <= end {
            let mut values = [0.0; LOADS_IN_FLIGHT as usize];
            for (value, index) in values.iter_mut().zip(0..) {
                *value = *source.add((first + index * WARP_SIZE) as usize);
            }
            for value in values {
                sum += value;
            }
            first += LOADS_IN_FLIGHT * WARP_SIZE;
        }
        while first < end {
            sum += *source.add(first as usize);
            first += WARP_SIZE;
        }
        let sum = warp_sum(sum);
        if lane == 0 {
            *sums.add(warp as usize) = sum;
        }
    }
}
