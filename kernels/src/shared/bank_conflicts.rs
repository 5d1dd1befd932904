//! # Bank conflicts: lanes that want different words of one bank are served one after the other
//!
//! Shows: [shared memory] delivers one word per [bank] and [wavefront], so the bank with the most
//! different words decides how long a [request] takes.
//!
//! The surprise: 32 [lanes][lane] that all read the same word cost nothing extra, and 32 lanes that
//! read words at a distance of 33 cost nothing extra, but at a distance of 32 the same load takes
//! 32 times as many steps.
//!
//! Shared memory is a small, fast memory inside each of the GPU's multiprocessors. The threads of a
//! [block], a group of threads on one multiprocessor, share it. Its words of 4 bytes are
//! distributed over 32 banks, like cards dealt to 32 players:
//!
//! ```text
//! word   0   1   2 ..  31 |  32  33 ..  63 |  64 ..        word w is in bank w % 32
//! bank   0   1   2 ..  31 |   0   1 ..  31 |   0 ..
//! ```
//!
//! All banks work at the same time. In one wavefront, which takes a clock cycle, each bank delivers
//! one of its words, and every lane that asked for that word gets it. A request of a [warp], which
//! is one load or store of its 32 lanes, takes as many wavefronts as there are different words
//! wanted from the busiest bank. If that number is n and n > 1, it is an n-way [bank conflict]:
//!
//! ```text
//! word of lane i                   banks                            wavefronts
//!   s i (stride s)                 32 / gcd(s, 32) of them          gcd(s, 32): stride 2 is 2-way, odd is free
//!   0 (broadcast)                  1 bank, 1 word                   1
//!   i / 2 (two lanes per word)     16 banks, 1 word each            1
//!   0 or i (multicast)             17 banks, 1 word each            1: lanes 0 .. 15 share a word, the others not
//!   32 i + random bank             32 balls thrown into 32 boxes    3.53 on average: the fullest box
//!   2 words (8 bytes) per lane     64 words                         2 = 256 B / 128 B
//!   4 words (16 bytes) per lane    128 words                        4 = 512 B / 128 B
//! column c of a tile of 32 x 32 words, lane = row
//!   column     word 32 row + c     bank c                           32
//!   padded     word 33 row + c     bank (row + c) % 32              1, for 32 more words
//!   swizzled   word 32 row + (c ^ row)  bank c ^ row                1, for one exclusive or
//! ```
//!
//! gcd is the greatest common divisor. With stride s, lanes i and j meet in one bank if 32 divides
//! s (i - j); among 32 lanes that happens in groups of gcd(s, 32).
//!
//! 1. `strided_read` and `strided_write` (measured with stride 32). The counter shows 32 wavefronts
//!    per request: all lanes want different words of one bank. Stores conflict exactly as loads do.
//! 2. `broadcast`, `two_lanes_per_word` and `multicast`. Several lanes in one bank are no conflict if
//!    they want the same word: the counter shows 1 wavefront. In `multicast` half of the lanes share a
//!    word while the others read words of other banks, in the same request. That is 1 wavefront too:
//!    a broadcast need not be the only thing that a request does.
//! 3. `random` lies between: in 32 lanes with random banks, some bank is wanted by 3 or 4 lanes.
//! 4. `eight_bytes` and `sixteen_bytes` show 2 and 4 wavefronts because they transfer 256 and 512
//!    bytes: the minimum, not a conflict. Per byte they are the fastest variants here.
//! 5. `column` reads down a column of a tile of 32 x 32 words, the access that a transpose needs.
//!    The counter shows 32 wavefronts again.
//! 6. `padded` is the first repair. The idea: [padding] each row by one word shifts consecutive
//!    rows by one bank, so a column touches 32 different banks. It costs 32 unused words per tile.
//! 7. `swizzled` is the second repair. Row r stores its column c at index c ^ r, a [swizzle]. For a
//!    fixed c and r = 0 .. 31, c ^ r takes 32 different values, so again 32 different banks. It
//!    uses no extra memory. What remains in both is the latency of shared memory, which only other
//!    warps can cover ([latency hiding]).
//!
//! How it is measured: a table in shared memory says for each word which word to read next. Each
//! lane follows it for `STEPS` = 64 steps, and every step waits for the one before, so nothing but
//! shared memory can be the limit. All lanes advance by the same distance, so their banks keep
//! their distances too.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | limited by |
//! |---|---|---|---|---|---|
//! | `strided_read` | neighbouring lanes read words that are `stride` words apart | 4 | 4 | gcd(s, 32) / 1 | shared memory banks |
//! | `strided_write` | the same words are written instead of read | none | 4 | gcd(s, 32) / gcd(s, 32) | shared memory banks |
//! | `broadcast` | all lanes read the same word | 4 | 4 | 1 / 1 | latency of shared memory |
//! | `two_lanes_per_word` | two neighbouring lanes read the same word | 4 | 4 | 1 / 1 | latency of shared memory |
//! | `multicast` | half of the lanes read one word, the others words of other banks | 4 | 4 | 1 / 1 | latency of shared memory |
//! | `random` | each lane reads a word in a random bank | 4 | 4 | 3.5 / 1 | shared memory banks |
//! | `eight_bytes` | each lane reads two neighbouring words with one load | 4 | 4 | 2 / 1 | bytes per wavefront |
//! | `sixteen_bytes` | each lane reads four neighbouring words with one load | 4 | 4 | 4 / 1 | bytes per wavefront |
//! | `column` | one word per lane again, down a column of a tile of 32 x 32 | 4 | 4 | 32 / 1 | shared memory banks |
//! | `padded` | tile rows of 33 words: a column is spread over 32 banks | 4 | 4 | 1 / 1 | latency of shared memory |
//! | `swizzled` | tile rows of 32 words, the columns of each row permuted by the row number | 4 | 4 | 1 / 1 | latency of shared memory |
//!
//! Expected: the time follows the wavefronts, but not from the first on: with 1 wavefront per step,
//! part of the latency of a step shows too. `strided_read` (1049 us), `strided_write` (1055 us) and
//! `column` (1045 us) have 32 wavefronts per step and take 22 times (`strided_read` / `broadcast`)
//! as long as `broadcast` (47.62 us), `two_lanes_per_word` (47.62 us), `padded` (48.75 us) and
//! `swizzled` (46.24 us), which have 1, as has `multicast` (47.65 us). `random` (130.5 us) has
//! 3.53. `eight_bytes` (78.56 us) and `sixteen_bytes` (143.4 us) take longer than `broadcast`, but
//! deliver 2 and 4 times the bytes.
//!
//! Padding and swizzle side by side, in CUDA C++; in Rust the formulas are the same:
//!
//! ```cuda
//! __shared__ float padded[32 * 33];     float x = padded[row * 33 + column];
//! __shared__ float swizzled[32 * 32];   float y = swizzled[row * 32 + (column ^ row)];
//! ```
//!
//! Common misconception: "stride 2 needs 16 transactions". Lanes i and i + 16 share a bank: 2 i and
//! 2 i + 32 differ by 32. So there are 16 banks with 2 words each, and gcd(2, 32) = 2 wavefronts.
//!
//! Common misconception: "a bank is 32 bytes wide". It is 4 bytes wide; 32 is the number of banks,
//! and of the bytes of a [sector] of global memory, which has nothing to do with banks.
//!
//! Questions:
//! - Why 32? The hardware has as many banks as a warp has lanes, so that one word for each lane
//!   takes one wavefront. The tile has 32 rows and columns for the same reason: a request covers
//!   one row or one column.
//! - Why 33? A column's words are one row length apart. 32 % 32 = 0 keeps the bank, 33 % 32 = 1
//!   moves on by one bank per row. Any odd row length works, because its gcd with 32 is 1; 33
//!   wastes the least.
//! - Is every count above 1 a conflict? No. 16 bytes per lane need 512 B / 128 B = 4 wavefronts at
//!   least.
//! - Padding or swizzle? Their counts are equal. Padding is simpler and costs memory; the swizzle
//!   keeps rows aligned to 16 bytes for [vectorized access] and costs one instruction.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `strided_read` | 1049 | 16 | 3 | 1.00 |
//! | `strided_write` | 1055 | 16 | 3 | 0.99 |
//! | `broadcast` | 47.62 | 353 | 69 | 22.03 |
//! | `two_lanes_per_word` | 47.62 | 353 | 69 | 22.03 |
//! | `multicast` | 47.65 | 352 | 69 | 22.01 |
//! | `random` | 130.5 | 129 | 25 | 8.04 |
//! | `eight_bytes` | 78.56 | 214 | 83 | 13.35 |
//! | `sixteen_bytes` | 143.4 | 117 | 91 | 7.31 |
//! | `column` | 1045 | 16 | 3 | 1.00 |
//! | `padded` | 48.75 | 344 | 67 | 21.51 |
//! | `swizzled` | 46.24 | 363 | 71 | 22.68 |
//! | *nvcc padded* | 48.93 | 343 | 67 | 21.44 |
//! | *nvcc swizzled* | 45.79 | 367 | 72 | 22.90 |
//! <!-- /measured -->
//!
//! Preconditions: strides from 1 to 48, so that the words of a block fit in 48 KiB.
//!
//! Source: CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks"; CUDA C++ Programming
//! Guide, "Shared Memory" of compute capability 5.x and later.
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::prelude::*;
use cuda_std::vector::{U32x2, U32x4};
use cuda_std::warp::WARP_SIZE;

pub const THREADS_PER_BLOCK: u32 = 256;
/// Dependent accesses of each thread to shared memory.
pub const STEPS: u32 = 64;
/// Words of the table that the reads walk through.
pub const TABLE: u32 = 2048;
/// The largest stride: a block of `strided_write` has `THREADS_PER_BLOCK * stride` words in 48 KiB.
pub const MAX_STRIDE: u32 = 48;
/// Words of a tile of `WARP_SIZE` x `WARP_SIZE`.
const TILE: u32 = WARP_SIZE * WARP_SIZE;

/// Copies the table into shared memory, one word per lane: one wavefront per request.
///
/// # Safety
/// - `next` valid for `TABLE` u32.
/// - `table` shared memory for as many.
/// - All threads of the block call.
#[inline(always)]
unsafe fn fill(next: *const u32, table: *mut u32) {
    // A known number of steps: all loads have started before the first store waits for its value.
    for step in 0..TABLE / THREADS_PER_BLOCK {
        let word = (step * THREADS_PER_BLOCK + thread::thread_idx_x()) as usize;
        // SAFETY: word < TABLE; each word has one writer, and readers come after the barrier.
        unsafe { *table.add(word) = *next.add(word) };
    }
    thread::sync_threads();
}

/// The index of the word that is reached after `STEPS` steps from `start`.
///
/// # Safety
/// - `table` is filled.
/// - `start` and every entry are indices into it.
#[inline(always)]
unsafe fn walk(table: *const u32, start: u32) -> u32 {
    let mut index = start;
    for _ in 0..STEPS {
        // SAFETY: the start and every entry are in the table.
        index = unsafe { *table.add(index as usize) };
    }
    index
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `stride <= MAX_STRIDE`.
/// - `next` valid for `TABLE` u32, `target` for `n`, not overlapping.
/// - Every entry of `next` is its index plus one multiple of 4, modulo `TABLE`.
#[kernel]
pub unsafe fn bank_conflicts_strided_read(next: *const u32, target: *mut u32, stride: u32, n: u32) {
    let table = shared_array!(WORDS: [u32; TABLE]);
    let i = thread::index_1d();
    // SAFETY: starts and entries are in the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            *target.add(i as usize) = walk(table, (i % WARP_SIZE * stride + i / WARP_SIZE) % TABLE);
        }
    }
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `THREADS_PER_BLOCK * stride` words of dynamic shared memory; `target` valid for `n` u32.
#[kernel]
pub unsafe fn bank_conflicts_strided_write(target: *mut u32, stride: u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let words = shared::dynamic_shared_mem::<u32>();
        let mut value = i;
        // SAFETY: the block has THREADS_PER_BLOCK * stride words, one of them this thread's; i < n.
        unsafe {
            let own = words.add((thread::thread_idx_x() * stride) as usize);
            for step in 0..STEPS {
                value = value.wrapping_mul(5).wrapping_add(step);
                // Volatile, or only the last of the writes would remain.
                own.write_volatile(value);
            }
            *target.add(i as usize) = own.read_volatile();
        }
    }
}

/// # Safety
/// - As for [`bank_conflicts_strided_read`], without a stride.
#[kernel]
pub unsafe fn bank_conflicts_broadcast(next: *const u32, target: *mut u32, n: u32) {
    let table = shared_array!(WORDS: [u32; TABLE]);
    let i = thread::index_1d();
    // SAFETY: starts and entries are in the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            *target.add(i as usize) = walk(table, i / WARP_SIZE % TABLE);
        }
    }
}

/// # Safety
/// - As for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_two_lanes_per_word(next: *const u32, target: *mut u32, n: u32) {
    let table = shared_array!(WORDS: [u32; TABLE]);
    let i = thread::index_1d();
    // SAFETY: starts and entries are in the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            *target.add(i as usize) = walk(table, (i % WARP_SIZE / 2 + i / WARP_SIZE) % TABLE);
        }
    }
}

/// # Safety
/// - As for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_multicast(next: *const u32, target: *mut u32, n: u32) {
    let table = shared_array!(WORDS: [u32; TABLE]);
    let i = thread::index_1d();
    let lane = i % WARP_SIZE;
    let word = if lane < WARP_SIZE / 2 { 0 } else { lane };
    // SAFETY: starts and entries are in the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            *target.add(i as usize) = walk(table, (word + i / WARP_SIZE) % TABLE);
        }
    }
}

/// # Safety
/// - As for [`bank_conflicts_broadcast`].
/// - `banks` valid for `n` u32.
#[kernel]
pub unsafe fn bank_conflicts_random(next: *const u32, banks: *const u32, target: *mut u32, n: u32) {
    let table = shared_array!(WORDS: [u32; TABLE]);
    let i = thread::index_1d();
    // SAFETY: starts and entries are in the table; i < n, the length of `banks` and `target`.
    unsafe {
        fill(next, table);
        if i < n {
            let bank = *banks.add(i as usize) % WARP_SIZE;
            *target.add(i as usize) = walk(table, i % WARP_SIZE * WARP_SIZE + bank);
        }
    }
}

/// # Safety
/// - As for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_eight_bytes(next: *const u32, target: *mut u32, n: u32) {
    let table = shared_array!(PAIRS: [U32x2; TABLE / 2]).cast::<u32>();
    let i = thread::index_1d();
    // SAFETY: 2 divides every start and the way of every entry, so the accesses are aligned and in
    // the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            let mut index = (i % WARP_SIZE + i / WARP_SIZE) * 2 % TABLE;
            for _ in 0..STEPS {
                let loaded = *table.add(index as usize).cast::<U32x2>();
                // An even entry and the odd one after it: their bitwise `and` is the even one.
                index = loaded.x & loaded.y;
            }
            *target.add(i as usize) = index;
        }
    }
}

/// # Safety
/// - As for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_sixteen_bytes(next: *const u32, target: *mut u32, n: u32) {
    let table = shared_array!(VECTORS: [U32x4; TABLE / 4]).cast::<u32>();
    let i = thread::index_1d();
    // SAFETY: 4 divides every start and the way of every entry, so the accesses are aligned and in
    // the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            let mut index = (i % WARP_SIZE + i / WARP_SIZE) * 4 % TABLE;
            for _ in 0..STEPS {
                let loaded = *table.add(index as usize).cast::<U32x4>();
                // Four entries that differ only in the last two bits: their bitwise `and` is the first.
                index = loaded.x & loaded.y & loaded.z & loaded.w;
            }
            *target.add(i as usize) = index;
        }
    }
}

/// Reads columns of a tile, lane i in row i. The entry that a lane finds says which column it reads
/// next; `place(row, column)` is the index of an element in the tile.
///
/// # Safety
/// - `next` valid for `TILE` u32, `target` for `n`.
/// - `place` maps the tile into `tile`, one to one.
/// - All threads of the block call.
#[inline(always)]
unsafe fn through_columns(
    next: *const u32,
    target: *mut u32,
    n: u32,
    tile: *mut u32,
    place: impl Fn(u32, u32) -> u32,
) {
    let i = thread::index_1d();
    // SAFETY: rows and columns are below WARP_SIZE; i < n; readers come after the barrier.
    unsafe {
        // As in `fill`.
        for step in 0..TILE / THREADS_PER_BLOCK {
            let word = step * THREADS_PER_BLOCK + thread::thread_idx_x();
            *tile.add(place(word / WARP_SIZE, word % WARP_SIZE) as usize) =
                *next.add(word as usize);
        }
        thread::sync_threads();
        if i < n {
            let mut entry = i / WARP_SIZE;
            for _ in 0..STEPS {
                entry = *tile.add(place(i % WARP_SIZE, entry % WARP_SIZE) as usize);
            }
            *target.add(i as usize) = entry;
        }
    }
}

/// One word per lane, lane i in row i of a tile, all lanes in one column. All 32 lanes hit the same bank: a 32-way
/// bank conflict.
///
/// # Safety
/// - As for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_column(next: *const u32, target: *mut u32, n: u32) {
    let tile = shared_array!(WORDS: [u32; TILE]);
    // SAFETY: row * WARP_SIZE + column < TILE (launch contract for the rest).
    unsafe { through_columns(next, target, n, tile, |row, column| row * WARP_SIZE + column) };
}

/// # Safety
/// - As for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_padded(next: *const u32, target: *mut u32, n: u32) {
    let tile = shared_array!(WORDS: [u32; WARP_SIZE * (WARP_SIZE + 1)]);
    // SAFETY: row * (WARP_SIZE + 1) + column < WARP_SIZE * (WARP_SIZE + 1) (launch contract for the rest).
    unsafe { through_columns(next, target, n, tile, |row, column| row * (WARP_SIZE + 1) + column) };
}

/// # Safety
/// - As for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_swizzled(next: *const u32, target: *mut u32, n: u32) {
    let tile = shared_array!(WORDS: [u32; TILE]);
    // The same as row * WARP_SIZE + (column ^ row), since column < WARP_SIZE, in one operation for each column.
    let place = |row, column| column ^ (row * (WARP_SIZE + 1));
    // SAFETY: row ^ column < WARP_SIZE, a permutation of the row (launch contract for the rest).
    unsafe { through_columns(next, target, n, tile, place) };
}
