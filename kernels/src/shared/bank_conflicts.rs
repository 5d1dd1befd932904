//! # Bank conflicts: lanes that want different words of one bank wait for each other
//!
//! Shows: shared memory serves one word per bank and pass; the fullest bank decides the passes.
//!
//! Word w of shared memory lies in bank w % 32, and a bank is 4 bytes wide. One pass (wavefront)
//! takes one word from each bank and hands it to every lane that asked for it:
//!
//! ```text
//! word of lane i          banks                          passes
//!   s * i (stride s)      32 / gcd(s, 32) of them        gcd(s, 32): stride 2 is 2-way, odd is free
//!   0 (broadcast)         one bank, one word             1
//!   i / 2 (pairs)         16 banks, one word each        1
//!   32 * i + random       the fullest of 32 balls in 32  3.53 on average
//!   8 bytes per lane      64 words                       2, as many as 256 B / 128 B
//!   16 bytes per lane     128 words                      4, as many as 512 B / 128 B
//! column c of a tile of 32 x 32 words, lane = row
//!   column    (32 row + c) % 32 = c                      32
//!   padded    (33 row + c) % 32 = row + c                1, for 128 B more
//!   swizzled  c ^ row                                    1, for an exclusive or
//! ```
//!
//! A table in shared memory says for each word where to go next, always the same way on; each lane
//! takes `STEPS` steps from a start of its own. All lanes move on alike, so their banks stay as far
//! apart as at the start, and each step waits for the one before.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | limited by |
//! |---|---|---|---|---|---|
//! | `strided_read` | the lanes begin `stride` words apart | 4 | 4 | gcd(s, 32) / 1 | shared memory banks |
//! | `strided_write` | the same words are written instead of read | none | 4 | gcd(s, 32) / gcd(s, 32) | shared memory banks |
//! | `broadcast` | all lanes read one word | 4 | 4 | 1 / 1 | latency of shared memory |
//! | `two_lanes_per_word` | two neighbouring lanes read one word | 4 | 4 | 1 / 1 | latency of shared memory |
//! | `random` | each lane reads a random bank | 4 | 4 | 3.5 / 1 | shared memory banks |
//! | `eight_bytes` | neighbouring words, two per lane | 4 | 4 | 2 / 1 | bytes per pass |
//! | `sixteen_bytes` | four words per lane | 4 | 4 | 4 / 1 | bytes per pass |
//! | `column` | one word per lane again, down a column of a tile of 32 x 32 | 4 | 4 | 32 / 1 | shared memory banks |
//! | `padded` | rows of 33 words | 4 | 4 | 1 / 1 | latency of shared memory |
//! | `swizzled` | rows of 32 words, columns permuted by the row | 4 | 4 | 1 / 1 | latency of shared memory |
//!
//! Expected: the time follows the passes once they outlast the latency of a step, which 64 resident
//! warps hide. `eight_bytes` and `sixteen_bytes` take 2 and 4 passes and bring 2 and 4 times the
//! bytes: that is no conflict. `padded` and `swizzled` take the same passes; what differs is the
//! arithmetic of an address, a product and a sum or, as c ^ 33 row, an exclusive or.
//! Taught but wrong: stride 2 makes 16 transactions (it makes gcd(2, 32) = 2), and a bank is 32 bytes
//! wide (it is 4).
//!
//! Preconditions: strides from 1 to 48, so that the words of a block fit in 48 KiB.
//!
//! Source: CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks"; CUDA C++ Programming
//! Guide, "Shared Memory" of compute capability 5.x and later.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::vector::{U32x2, U32x4};
use cuda_std::warp::WARP_SIZE;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;
/// Dependent accesses of each thread to shared memory.
pub const STEPS: u32 = 64;
/// Words of the table that the reads walk through.
pub const TABLE: u32 = 2048;
/// The largest stride: a block of `strided_write` has `THREADS_PER_BLOCK * stride` words in 48 KiB.
pub const MAX_STRIDE: u32 = 48;
/// Words of a tile of `WARP_SIZE` x `WARP_SIZE`.
const TILE: u32 = WARP_SIZE * WARP_SIZE;

/// Copies the table into shared memory, one word per lane: one pass per request.
///
/// # Safety
/// `next` valid for `TABLE` u32; `table` shared memory for as many; all threads of the block call.
#[inline(always)]
unsafe fn fill(next: *const u32, table: *mut u32) {
    // A known number of steps: the loads of all are on their way before the first store waits.
    for step in 0..TABLE / THREADS_PER_BLOCK {
        let word = (step * THREADS_PER_BLOCK + thread::thread_idx_x()) as usize;
        // SAFETY: word < TABLE; each word has one writer, and readers come after the barrier.
        unsafe { *table.add(word) = *next.add(word) };
    }
    thread::sync_threads();
}

/// The word that `STEPS` steps lead to.
///
/// # Safety
/// `table` is filled and `start` lies in it; the table leads nowhere else.
#[inline(always)]
unsafe fn walk(table: *const u32, start: u32) -> u32 {
    let mut at = start;
    for _ in 0..STEPS {
        // SAFETY: the start and every entry lie in the table.
        at = unsafe { *table.add(at as usize) };
    }
    at
}

/// Naive: the lanes of a warp begin `stride` words apart.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `stride <= MAX_STRIDE`; `next`
/// valid for `TABLE` u32, `target` for `n`, not overlapping; every entry of `next` is its index plus
/// one multiple of 4, modulo `TABLE`.
#[kernel]
pub unsafe fn bank_conflicts_strided_read(next: *const u32, target: *mut u32, stride: u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; TABLE as usize]> = MaybeUninit::uninit();
    let table = (&raw mut WORDS).cast::<u32>();
    let i = thread::index_1d();
    // SAFETY: starts and entries lie in the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            *target.add(i as usize) = walk(table, (i % WARP_SIZE * stride + i / WARP_SIZE) % TABLE);
        }
    }
}

/// Change from `strided_read`: each lane writes its word `STEPS` times, and reads it once at the end.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `THREADS_PER_BLOCK * stride` words of
/// dynamic shared memory; `target` valid for `n` u32.
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

/// Change from `strided_write`: reads again, and all lanes of a warp read the same word.
///
/// # Safety
/// Launch contract: as for [`bank_conflicts_strided_read`], without a stride.
#[kernel]
pub unsafe fn bank_conflicts_broadcast(next: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; TABLE as usize]> = MaybeUninit::uninit();
    let table = (&raw mut WORDS).cast::<u32>();
    let i = thread::index_1d();
    // SAFETY: starts and entries lie in the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            *target.add(i as usize) = walk(table, i / WARP_SIZE % TABLE);
        }
    }
}

/// Change from `broadcast`: lanes 2k and 2k + 1 read word k of 16.
///
/// # Safety
/// Launch contract: as for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_two_lanes_per_word(next: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; TABLE as usize]> = MaybeUninit::uninit();
    let table = (&raw mut WORDS).cast::<u32>();
    let i = thread::index_1d();
    // SAFETY: starts and entries lie in the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            *target.add(i as usize) = walk(table, (i % WARP_SIZE / 2 + i / WARP_SIZE) % TABLE);
        }
    }
}

/// Change from `two_lanes_per_word`: lane i begins in row i of 32 words, in a random bank.
///
/// # Safety
/// Launch contract: as for [`bank_conflicts_broadcast`]; `banks` valid for `n` u32.
#[kernel]
pub unsafe fn bank_conflicts_random(next: *const u32, banks: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; TABLE as usize]> = MaybeUninit::uninit();
    let table = (&raw mut WORDS).cast::<u32>();
    let i = thread::index_1d();
    // SAFETY: starts and entries lie in the table; i < n, the length of `banks` and `target`.
    unsafe {
        fill(next, table);
        if i < n {
            let bank = *banks.add(i as usize) % WARP_SIZE;
            *target.add(i as usize) = walk(table, i % WARP_SIZE * WARP_SIZE + bank);
        }
    }
}

/// Change from `random`: lane i reads words 2i and 2i + 1 with one access.
///
/// # Safety
/// Launch contract: as for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_eight_bytes(next: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut PAIRS: MaybeUninit<[U32x2; (TABLE / 2) as usize]> = MaybeUninit::uninit();
    let table = (&raw mut PAIRS).cast::<u32>();
    let i = thread::index_1d();
    // SAFETY: 2 divides every start and the way of every entry, so the accesses are aligned and in
    // the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            let mut at = (i % WARP_SIZE + i / WARP_SIZE) * 2 % TABLE;
            for _ in 0..STEPS {
                let words = *table.add(at as usize).cast::<U32x2>();
                // An even entry and the odd one behind it: what they share is the even one.
                at = words.x & words.y;
            }
            *target.add(i as usize) = at;
        }
    }
}

/// Change from `eight_bytes`: lane i reads four words from 4i on with one access.
///
/// # Safety
/// Launch contract: as for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_sixteen_bytes(next: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut QUADS: MaybeUninit<[U32x4; (TABLE / 4) as usize]> = MaybeUninit::uninit();
    let table = (&raw mut QUADS).cast::<u32>();
    let i = thread::index_1d();
    // SAFETY: 4 divides every start and the way of every entry, so the accesses are aligned and in
    // the table; i < n, the length of `target`.
    unsafe {
        fill(next, table);
        if i < n {
            let mut at = (i % WARP_SIZE + i / WARP_SIZE) * 4 % TABLE;
            for _ in 0..STEPS {
                let words = *table.add(at as usize).cast::<U32x4>();
                // Four entries that differ in the last two bits: what they share is the first.
                at = words.x & words.y & words.z & words.w;
            }
            *target.add(i as usize) = at;
        }
    }
}

/// Walks through the columns of a tile: lane = row. The entry that is found says which column is
/// next; `place` says where a row and a column lie.
///
/// # Safety
/// `next` valid for `TILE` u32, `target` for `n`; `place` maps the tile into `tile`, one to one; all
/// threads of the block call.
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

/// Change from `sixteen_bytes`: one word per lane, each from its row of a tile, all from one column.
///
/// # Safety
/// Launch contract: as for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_column(next: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; TILE as usize]> = MaybeUninit::uninit();
    let tile = (&raw mut WORDS).cast::<u32>();
    // SAFETY: row * WARP_SIZE + column < TILE (launch contract for the rest).
    unsafe { through_columns(next, target, n, tile, |row, column| row * WARP_SIZE + column) };
}

/// Change from `column`: one unused word per row moves each row on by one bank.
///
/// # Safety
/// Launch contract: as for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_padded(next: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; (WARP_SIZE * (WARP_SIZE + 1)) as usize]> =
        MaybeUninit::uninit();
    let tile = (&raw mut WORDS).cast::<u32>();
    // SAFETY: row * (WARP_SIZE + 1) + column < WARP_SIZE * (WARP_SIZE + 1) (launch contract for the rest).
    unsafe { through_columns(next, target, n, tile, |row, column| row * (WARP_SIZE + 1) + column) };
}

/// Change from `padded`: no unused word; each row keeps its columns in an order of its own.
///
/// # Safety
/// Launch contract: as for [`bank_conflicts_broadcast`].
#[kernel]
pub unsafe fn bank_conflicts_swizzled(next: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; TILE as usize]> = MaybeUninit::uninit();
    let tile = (&raw mut WORDS).cast::<u32>();
    // The same as row * WARP_SIZE + (column ^ row), since column < WARP_SIZE, in one operation for each column.
    let place = |row, column| column ^ (row * (WARP_SIZE + 1));
    // SAFETY: row ^ column < WARP_SIZE, a permutation of the row (launch contract for the rest).
    unsafe { through_columns(next, target, n, tile, place) };
}
