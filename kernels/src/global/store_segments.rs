//! # Store segments: a store costs the sectors it touches, and more if it fills them only in part
//!
//! Shows: stores move [sectors][sector] of 32 bytes; scattered stores cost nothing extra as long as
//! each sector is written whole.
//!
//! The surprise: scattered stores are as fast as consecutive ones. `scattered` (0.318 ms) and
//! `consecutive` (0.318 ms) take the same time. What costs time is a sector that is written only in
//! part, `partial` (0.500 ms), and a [warp] that stores too little, `half_range` (0.633 ms).
//!
//! A warp has 32 [lanes][lane]; one store instruction of a warp is one [request]. It touches
//! sectors, aligned blocks of 32 bytes. (The CUDA guides also call them segments.) Every variant
//! stores the number of a word into the word:
//!
//! ```text
//! one warp storing u32     |........| = one sector of 8 words, x = word that is written
//!   partial      |xxxx....|xxxx....| ... |xxxx....|                      8 sectors, each half written
//!   scattered    |xxxxxxxx|........|xxxxxxxx|xxxxxxxx|........|xxxxxxxx|  4 sectors of a range of 192 B
//!   half_range   |xxxxxxxx|xxxxxxxx|                                      2 sectors, 16 lanes have nothing to do
//!   two_halves   |xxxxxxxx|........|xxxxxxxx|........|                    2 sectors, one in each half of 128 B
//!   four_stores  |xxxxxxxx|                              and so on: 4 requests of 1 sector, 24 lanes have nothing to do
//!   consecutive  |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|                    4 sectors of a range of 128 B
//! ```
//!
//! 1. `partial`. The counter shows 8 sectors per store, because 32 words at 4 words per sector
//!    touch 32 / 4 = 8 sectors. And there is a cost that this counter does not show. Memory with
//!    error correction keeps its check bits for whole sectors. When a half-written sector leaves
//!    the [L2 cache], the other half must be read first.
//! 2. `scattered`. The idea: write whole sectors, wherever they are. The counter shows 4 sectors:
//!    32 words / 8 words per sector. That is as few as possible, so the store is [coalesced]. The
//!    gaps between the sectors, and the scrambled order of the lanes, cost nothing.
//! 3. `half_range`. Only 16 lanes store, 2 sectors per request. No byte is wasted, but twice as
//!    many warps must start to store the same data, and the start of warps is what these kernels
//!    wait for.
//! 4. `two_halves`. The 16 lanes write two sectors of one [cache line] that are in different halves of
//!    it. The counter shows 2 sectors, as for two neighbouring ones. Older guides count such a store
//!    as two transactions, because there the unit was a half of 64 bytes; now it is the sector.
//! 5. `four_stores`. A warp fills a cache line with four stores of one sector, instead of one store
//!    of four. The counter shows 1 sector per store, and four times the requests for the same
//!    sectors. The time stays the same, so requests are not the limit.
//! 6. `consecutive` fills one whole cache line with each request, also 4 sectors. What remains:
//!    with one word per lane, the start of warps is the limit; 16-byte stores would cure that.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `partial` | each warp writes the first half of eight sectors | none | 8 | reading the rest of each sector before it is written back |
//! | `scattered` | each warp writes four whole sectors of a range of six, in a scrambled order | none | 4 | starts of warps: one word per lane |
//! | `half_range` | 16 lanes write one aligned range of 64 bytes, the other 16 nothing | none | 2 | starts of warps: half a word per lane |
//! | `two_halves` | the 16 lanes write two sectors, one in each half of a cache line | none | 2 | starts of warps: half a word per lane |
//! | `four_stores` | 8 lanes write one sector with each of four stores | none | 1 | starts of warps: one word per lane |
//! | `consecutive` | 32 lanes write one aligned cache line | none | 4 | starts of warps: one word per lane |
//!
//! Expected: `scattered` (0.318 ms) equals `consecutive` (0.318 ms), though it never fills a whole
//! cache line. `partial` (0.500 ms) is slower: it touches twice the sectors, and each has to be
//! completed. `half_range` (0.633 ms) and `two_halves` (0.633 ms) are slower still, and
//! `four_stores` (0.318 ms) has four times the requests of `consecutive` and the same time. What is
//! the same in all of them but `partial` is how many threads start: 422 x 10^9 threads per second
//! (2^27 / `consecutive`), and 424 x 10^9 threads per second (2^28 / `half_range`). In other words,
//! each [multiprocessor] starts a warp every 20 cycles (`consecutive` x clock of `consecutive` x
//! 132 x 32 / 2^27). With one word per thread that is the limit.
//!
//! The key kernel in CUDA C++, and in Rust:
//!
//! ```cuda
//! uint32_t word = i / 4 * 8 + i % 4;      // let word = i / FILLED * SECTOR + i % FILLED;
//! if (i < n) target[word] = word;         // *target.add(word) = word;
//! ```
//!
//! Common misconception: "scattered stores are slow". Stores that fill whole sectors are not. Store
//! random single words, and each touches a sector of its own and fills 4 of 32 bytes: that is slow.
//!
//! Common misconception: "one store of four sectors beats four stores of one". `four_stores` and
//! `consecutive` write the same sectors in the same time. What counts is that each is written
//! whole, and how many threads must start for it.
//!
//! Questions:
//! - Why does a partial sector cost extra, but a partial cache line not? The sector is the unit
//!   that moves. A cache line is only the unit that a cache gives an address to.
//! - Why 4, and why 2? 32 lanes x 4 B / 32 B = 4 sectors, and 16 lanes x 4 B / 32 B = 2.
//! - Do partial sectors always cost extra? No. If another store fills the other half while the
//!   sector is still in L2, it leaves L2 whole. Here nobody writes the other half.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `partial` | 0.500 | 1073 | 23 | 1.00 |
//! | `scattered` | 0.318 | 1686 | 37 | 1.57 |
//! | `half_range` | 0.633 | 848 | 19 | 0.79 |
//! | `two_halves` | 0.633 | 848 | 19 | 0.79 |
//! | `four_stores` | 0.318 | 1686 | 37 | 1.57 |
//! | `consecutive` | 0.318 | 1686 | 37 | 1.57 |
//! | *nvcc partial* | 0.499 | 1075 | 23 | 1.00 |
//! | *nvcc consecutive* | 0.318 | 1687 | 37 | 1.57 |
//! <!-- /measured -->
//!
//! Preconditions: buffers aligned to 128 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; CUDA C++ Programming
//! Guide, "Device Memory Accesses".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Words of a 32-byte sector.
pub const SECTOR: u32 = 8;
/// Words of each sector that `partial` writes.
pub const FILLED: u32 = 4;
/// Words of the range that a warp of `scattered` writes in: 192 bytes.
pub const RANGE: u32 = 48;
/// Lanes of a warp of `half_range` that write: 64 bytes.
pub const HALF: u32 = 16;

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `target` valid for `2 * n.next_multiple_of(32)` u32.
#[kernel]
pub unsafe fn store_segments_partial(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let word = i / FILLED * SECTOR + i % FILLED;
        // SAFETY: word < 2 * i + SECTOR, which is in the target (launch contract).
        unsafe { *target.add(word as usize) = word };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `target` valid for `RANGE * n.div_ceil(32)` u32.
#[kernel]
pub unsafe fn store_segments_scattered(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // Multiplying by an odd number permutes the lanes.
        let place = (i % WARP_SIZE * 5 + 3) % WARP_SIZE;
        // 0, 1, 2, 3 become 0, 2, 3, 5.
        let sector = (place / SECTOR * 3).div_ceil(2);
        let word = i / WARP_SIZE * RANGE + sector * SECTOR + place % SECTOR;
        // SAFETY: sector < 6, so the word is in the warp's range (launch contract).
        unsafe { *target.add(word as usize) = word };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `32 * n.div_ceil(HALF)` threads.
/// - `target` valid for `n` u32.
#[kernel]
pub unsafe fn store_segments_half_range(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    let (warp, lane) = (i / WARP_SIZE, i % WARP_SIZE);
    let word = warp * HALF + lane;
    if lane < HALF && word < n {
        // SAFETY: word < n (launch contract).
        unsafe { *target.add(word as usize) = word };
    }
}

/// # Safety
/// - As for [`store_segments_half_range`].
#[kernel]
pub unsafe fn store_segments_two_halves(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    let (warp, lane) = (i / WARP_SIZE, i % WARP_SIZE);
    // Sectors 0 and 2 of the line, or 1 and 3.
    let sector = warp % 2 + lane / SECTOR * 2;
    let word = warp / 2 * WARP_SIZE + sector * SECTOR + lane % SECTOR;
    if lane < HALF && word < n {
        // SAFETY: word < n (launch contract).
        unsafe { *target.add(word as usize) = word };
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `target` valid for `n` u32.
#[kernel]
pub unsafe fn store_segments_four_stores(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    let (first, lane) = (i - i % WARP_SIZE, i % WARP_SIZE);
    if lane < SECTOR {
        for sector in 0..WARP_SIZE / SECTOR {
            let word = first + sector * SECTOR + lane;
            if word < n {
                // SAFETY: word < n (launch contract).
                unsafe { *target.add(word as usize) = word };
            }
        }
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `target` valid for `n` u32.
#[kernel]
pub unsafe fn store_segments_consecutive(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n (launch contract).
        unsafe { *target.add(i as usize) = i };
    }
}
