//! # Store segments: a store costs the sectors it touches, and more if it fills them only in part
//!
//! Shows: stores move 32-byte segments; scattering them costs nothing while each is filled whole.
//!
//! Every variant writes the number of a word to the word, 32 words per store at most:
//!
//! ```text
//! one warp storing u32        | = 32-byte segment, x = word written
//!   partial      |xxxx....|xxxx....| ... |xxxx....|                           8 sectors, half filled
//!   scattered    |xxxxxxxx|........|xxxxxxxx|xxxxxxxx|........|xxxxxxxx|       4 sectors in 192 B
//!   half_range   |xxxxxxxx|xxxxxxxx|                                          2 sectors in 64 B
//!   consecutive  |xxxxxxxx|xxxxxxxx|xxxxxxxx|xxxxxxxx|                        4 sectors in 128 B
//! ```
//!
//! | variant | change from the previous one | sectors per load | sectors per store | limited by |
//! |---|---|---|---|---|
//! | `partial` | each warp fills the first half of eight sectors | none | 8 | reading the rest of each sector before it is written back |
//! | `scattered` | four whole sectors of a range of six, lanes in a scrambled order | none | 4 | requests: one word per lane |
//! | `half_range` | 16 lanes fill one aligned range of 64 bytes | none | 2 | requests: two for each line |
//! | `consecutive` | 32 lanes fill one aligned line | none | 4 | requests: one word per lane |
//!
//! Taught as 1 x 4 segments for `consecutive`, 2 x 1 + 1 x 2 for `scattered` and 1 x 2 for
//! `half_range`: the counts in sectors are 4, 4 and 2.
//!
//! Expected: `scattered` is nearly as fast as `consecutive`, though its lines are never whole.
//! `partial` is the dear one: twice the sectors, and memory that keeps check bits for whole sectors
//! must fetch the other half first.
//!
//! Preconditions: buffers aligned to 128 bytes.
//!
//! Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; CUDA C++ Programming
//! Guide, "Device Memory Accesses".

use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Words of a 32-byte sector.
pub const SECTOR: u32 = 8;
/// Words of each sector that `partial` fills.
pub const FILLED: u32 = 4;
/// Words of the range that a warp of `scattered` writes in: 192 bytes.
pub const RANGE: u32 = 48;
/// Lanes of a warp of `half_range` that write: 64 bytes.
pub const HALF: u32 = 16;

/// Naive: each warp fills the first half of eight sectors.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `target` valid for
/// `2 * n.next_multiple_of(32)` u32.
#[kernel]
pub unsafe fn store_segments_partial(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let word = i / FILLED * SECTOR + i % FILLED;
        // SAFETY: word < 2 * i + SECTOR, which is in the target (launch contract).
        unsafe { *target.add(word as usize) = word };
    }
}

/// Change from `partial`: each warp fills sectors 0, 2, 3 and 5 of six, its lanes in a scrambled
/// order.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `target` valid for
/// `RANGE * n.div_ceil(32)` u32.
#[kernel]
pub unsafe fn store_segments_scattered(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // Multiplying by an odd number permutes the lanes.
        let place = (i % WARP_SIZE * 5 + 3) % WARP_SIZE;
        // 0, 1, 2, 3 become 0, 2, 3, 5.
        let sector = (place / SECTOR * 3).div_ceil(2);
        let word = i / WARP_SIZE * RANGE + sector * SECTOR + place % SECTOR;
        // SAFETY: sector < 6, so the word lies in the warp's range (launch contract).
        unsafe { *target.add(word as usize) = word };
    }
}

/// Change from `scattered`: half of the lanes fill one aligned range of 64 bytes.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `32 * n.div_ceil(HALF)` threads; `target`
/// valid for `n` u32.
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

/// Change from `half_range`: all lanes, lane i on word i of an aligned line.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `target` valid for `n` u32.
#[kernel]
pub unsafe fn store_segments_consecutive(target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n (launch contract).
        unsafe { *target.add(i as usize) = i };
    }
}
