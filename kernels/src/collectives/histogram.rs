//! # Histogram: private copies keep lanes from counting at one address
//!
//! Shows: atomics are cheap when lanes have words and banks of their own, and dear when they share.
//!
//! Each element adds one to the count of its bin. Atomic additions to one address happen one after the
//! other, and so do additions of a warp in one bank of shared memory, except that the hardware adds up
//! lanes that add 1 to the same word. So what counts is which word and which bank each lane gets:
//!
//! ```text
//! word of lane l that counts bin b     bank           passes: uniform   constant input
//!   block_copy, warp_copies   b        b % 32         3.2 (two lanes    1 (added up)
//!                                                     may share a word)
//!   rows of 256 words   256 l + b      b % 32         3.53              32: why rows are padded
//!   padded              257 l + b      (l + b) % 32   3.53              1
//!   lane_copies          32 b + l      l              1                 1: whatever the input
//! ```
//!
//! 256 bins x 32 lanes x 4 B = 32 KiB of shared memory per block hold a copy for each lane. The copies of
//! a block are added up at its end and go to device memory by one atomic per bin: n global atomics become
//! 256 per block.
//!
//! | variant | change from the previous one | sectors per load | shared atomic passes | global atomics | limited by |
//! |---|---|---|---|---|---|
//! | `global_atomic` | every byte is an atomic in device memory | 1 | none | n | 256 addresses in L2 |
//! | `block_private` | the block counts in shared memory | 1 | 3.2 | 256 x blocks | shared memory banks |
//! | `warp_private` | each warp has its copy | 1 | 3.2 | 256 x blocks | shared memory banks |
//! | `padded` | each lane has its copy, in rows of 257 words | 1 | 3.5 | 256 x blocks | shared memory banks |
//! | `lane_private` | the copies of a bin lie side by side: bank = lane | 1 | 1 | 256 x blocks | requests: a load and an atomic for 32 B |
//! | `coarsened` | 16 bytes per load, four loads in flight | 16 | 1 | 256 x blocks | device memory |
//! | `aggregated` | four equal neighbours are counted at once | 16 | 1 | 256 x blocks | device memory |
//! | `large_histogram_global` | 2^17 bins for 32-bit keys, counted in device memory | 16 | none | n / 4 | L2 atomics |
//! | `large_histogram` | each block counts a third of the bins in shared memory and ignores the others | 16 | 1.9 | 2^17 x blocks / 3 | L2 reads |
//!
//! Expected: the floor is the time to read the input once, n bytes over the bandwidth of device memory.
//! The shared memory of an H200 makes 132 x 32 x 1.98 GHz = 8.36 T additions per second at one pass
//! each, so 2.6 T at 3.2 passes and 2.37 T at 3.53, one per byte: with random banks a histogram of bytes
//! is bound by shared memory at half the bandwidth of device memory; with a bank per lane it is bound by
//! device memory, and every distribution takes the same time from `lane_private` on.
//! `warp_private` and `padded` take no pass off a uniform input: what they spare is that different warps
//! meet at a word, which costs nothing while the hardware adds one pass after the other anyway.
//! `aggregated` makes one addition of four where neighbours are equal, which pays only while additions
//! are the limit, and with a bank per lane they are not.
//! 2^17 counters are 512 KiB. A block may have 227 KiB, so three blocks count a third each and all read
//! the whole input, which comes from device memory once and from L2 three times. That beats an atomic
//! in L2 for each key: a 4-byte key costs 12 B of L2 reads, or a sector of 32 B read and written; and it
//! bears a constant input, whose keys would all wait for one address.
//!
//! Taught but wrong: a constant input is the worst case for shared memory (lanes that add 1 to one word
//! are one pass); it is the worst case for device memory.
//!
//! Preconditions: input aligned to 16 bytes; `distribution` is 0 (uniform), 1 (skewed: x^4 of a uniform
//! x in [0, 1), so a quarter of the bytes is 0) or 2 (constant).
//!
//! Source: Podlozhnyuk, "Histogram calculation in CUDA"; NVIDIA developer blog, "GPU Pro Tip: Fast
//! Histograms Using Shared Atomics on Maxwell"; CUB, `DeviceHistogram`.

use core::mem::MaybeUninit;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::prelude::*;
use cuda_std::vector::U32x4;
use cuda_std::warp;
use cuda_std::warp::WARP_SIZE;

/// Bins of a byte.
pub const BINS: u32 = 256;
/// Bins of the 32-bit keys: their upper bits.
pub const LARGE_BINS: u32 = 1 << LARGE_BITS;
/// The bits of a key that choose its bin.
const LARGE_BITS: u32 = 17;
/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 512;
/// Blocks at most: 4 for each of the 132 multiprocessors of an H200, which is 2048 threads each.
pub const MAX_BLOCKS: u32 = 528;
/// 16-byte loads that each thread of the coarsened variants starts before it counts.
pub const LOADS_IN_FLIGHT: u32 = 4;
/// Bytes that each thread of the other variants loads before it counts them.
pub const BYTES_IN_FLIGHT: u32 = 8;
/// Threads per block of `large_histogram`, of which one fits on a multiprocessor.
pub const LARGE_THREADS_PER_BLOCK: u32 = 1024;
/// Warps per block.
const WARPS: u32 = THREADS_PER_BLOCK / WARP_SIZE;
/// Words of a padded copy.
const PADDED: u32 = BINS + 1;

/// Naive: every thread adds one to its bin in device memory.
///
/// # Safety
/// Launch contract: 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads; `source` valid for `n` bytes,
/// `target` for `BINS` zeros.
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
/// `counts` has a word `at`, accessed by atomics only.
#[inline(always)]
unsafe fn add_global(counts: *mut u32, at: u32, by: u32) {
    // SAFETY: the caller's contract.
    unsafe { AtomicU32::from_ptr(counts.add(at as usize)) }.fetch_add(by, Relaxed);
}

/// Adds to a count in shared memory.
///
/// # Safety
/// `words` is shared memory with a word `at`, accessed by atomics only until the next barrier.
#[inline(always)]
unsafe fn add_shared(words: *mut u32, at: u32, by: u32) {
    // SAFETY: the caller's contract.
    unsafe { AtomicU32::from_ptr(words.add(at as usize)) }.fetch_add(by, Relaxed);
}

/// Zeros the block's counters.
///
/// # Safety
/// `words` is shared memory for `len` words; all `threads` threads of the block call.
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

/// Adds up the `copies` of each bin and adds the sums to device memory; `place` says where a copy keeps
/// a bin.
///
/// # Safety
/// `words` is shared memory in which `place` stays; `target` as for the kernels; all threads of the
/// block call.
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

/// Counts bytes, one per load and `BYTES_IN_FLIGHT` loads at a time, in the word of shared memory that
/// `place` gives a bin.
///
/// # Safety
/// 1-D grid of `THREADS_PER_BLOCK` threads; `source` valid for `n` bytes; `words` shared memory in which `place`
/// stays, cleared.
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

/// Change from `global_atomic`: the block counts in a copy of its own in shared memory, over many bytes
/// per thread, and adds it to device memory at the end.
///
/// # Safety
/// Launch contract: 1-D grid of at most `MAX_BLOCKS` blocks of `THREADS_PER_BLOCK` threads; `source` 16-byte
/// aligned and valid for `n` bytes, `n` at most 2^31; `target` valid for `BINS` zeros.
#[kernel]
pub unsafe fn histogram_block_private(source: *const u8, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; BINS as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<u32>();
    // SAFETY: the launch contract; a bin is its word.
    unsafe {
        clear(words, BINS, THREADS_PER_BLOCK);
        count_bytes(source, n, words, |bin| bin);
        merge(words, target, 1, |_, bin| bin);
    }
}

/// Change from `block_private`: each warp has a copy, so that warps do not meet at a word.
///
/// # Safety
/// Launch contract: as for [`histogram_block_private`].
#[kernel]
pub unsafe fn histogram_warp_private(source: *const u8, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; (WARPS * BINS) as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<u32>();
    let warp = thread::thread_idx_x() / WARP_SIZE;
    // SAFETY: the launch contract; warp < WARPS and bin < BINS.
    unsafe {
        clear(words, WARPS * BINS, THREADS_PER_BLOCK);
        count_bytes(source, n, words, |bin| warp * BINS + bin);
        merge(words, target, WARPS, |copy, bin| copy * BINS + bin);
    }
}

/// Change from `warp_private`: lane l of each warp counts in copy l; a row has a word more than bins, so
/// that equal bins of different copies lie in different banks.
///
/// # Safety
/// Launch contract: as for [`histogram_block_private`].
#[kernel]
pub unsafe fn histogram_padded(source: *const u8, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; (WARP_SIZE * PADDED) as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<u32>();
    let lane = warp::lane_id();
    // SAFETY: the launch contract; lane < WARP_SIZE and bin < PADDED.
    unsafe {
        clear(words, WARP_SIZE * PADDED, THREADS_PER_BLOCK);
        count_bytes(source, n, words, |bin| lane * PADDED + bin);
        merge(words, target, WARP_SIZE, |copy, bin| copy * PADDED + bin);
    }
}

/// Where the copy of a lane keeps a bin: in the lane's own bank.
#[inline(always)]
fn own_bank(bin: u32, lane: u32) -> u32 {
    // What `+` would give; with `|` the machine needs one instruction less.
    (bin * WARP_SIZE) | lane
}

/// Adds up the copies of `own_bank`: thread t begins with copy t, so that a warp reads 32 banks.
///
/// # Safety
/// As for [`merge`]; `words` has `BINS * WARP_SIZE` words.
#[inline(always)]
unsafe fn merge_lanes(words: *mut u32, target: *mut u32) {
    // SAFETY: bin < BINS, and the rotated copy is below WARP_SIZE.
    unsafe { merge(words, target, WARP_SIZE, |copy, bin| own_bank(bin, (copy + bin) % WARP_SIZE)) };
}

/// Change from `padded`: the 32 copies of a bin lie side by side, so that lane l only ever touches bank
/// l: one pass, whatever the bytes.
///
/// # Safety
/// Launch contract: as for [`histogram_block_private`].
#[kernel]
pub unsafe fn histogram_lane_private(source: *const u8, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; (BINS * WARP_SIZE) as usize]> = MaybeUninit::uninit();
    let words = (&raw mut WORDS).cast::<u32>();
    let lane = warp::lane_id();
    // SAFETY: the launch contract; bin < BINS and lane < WARP_SIZE.
    unsafe {
        clear(words, BINS * WARP_SIZE, THREADS_PER_BLOCK);
        count_bytes(source, n, words, |bin| own_bank(bin, lane));
        merge_lanes(words, target);
    }
}

/// Shows `see` this thread's share of packs of 16 bytes, loaded `LOADS_IN_FLIGHT` at a time, the grid's
/// threads side by side.
///
/// # Safety
/// `source` 16-byte aligned and valid for `packs`; `first` is this thread's number among `threads`.
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

/// Counts bytes in a copy per lane, four in a word at a time by `count`, which gets the copies, the lane
/// and the word; adds the copies to `target`.
///
/// # Safety
/// As for [`histogram_block_private`]; `words` is shared memory for `BINS * WARP_SIZE` words.
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

/// Change from `lane_private`: 16 bytes per load, four loads in flight before the first byte is counted.
///
/// # Safety
/// Launch contract: as for [`histogram_block_private`].
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn histogram_coarsened(source: *const u8, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; (BINS * WARP_SIZE) as usize]> = MaybeUninit::uninit();
    // SAFETY: the launch contract; a byte is below BINS.
    unsafe {
        count_packs(source, target, n, (&raw mut WORDS).cast(), |words, lane, word| {
            for shift in [0, 8, 16, 24] {
                add_shared(words, own_bank(word >> shift & 0xFF, lane), 1);
            }
        });
    }
}

/// Change from `coarsened`: a word of four equal bytes adds 4 to its bin, once.
///
/// # Safety
/// Launch contract: as for [`histogram_block_private`].
#[kernel(launch_bounds(THREADS_PER_BLOCK, 4))]
pub unsafe fn histogram_aggregated(source: *const u8, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut WORDS: MaybeUninit<[u32; (BINS * WARP_SIZE) as usize]> = MaybeUninit::uninit();
    // SAFETY: the launch contract; a byte is below BINS.
    unsafe {
        count_packs(source, target, n, (&raw mut WORDS).cast(), |words, lane, word| {
            let equal = word.rotate_left(8) == word;
            add_shared(words, own_bank(word & 0xFF, lane), if equal { 4 } else { 1 });
            if !equal {
                for shift in [8, 16, 24] {
                    add_shared(words, own_bank(word >> shift & 0xFF, lane), 1);
                }
            }
        });
    }
}

/// The bin of a key.
#[inline(always)]
fn bin_of(key: u32) -> u32 {
    key >> (u32::BITS - LARGE_BITS)
}

/// Change from `aggregated`: 32-bit keys in 2^17 bins, whose counters do not fit into shared memory: each
/// key is an atomic in device memory.
///
/// # Safety
/// Launch contract: 1-D grid of at most `MAX_BLOCKS` blocks of `THREADS_PER_BLOCK` threads; `keys` 16-byte
/// aligned and valid for `n` u32, `n` at most 2^29; `target` valid for `LARGE_BINS` zeros.
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

/// Change from `large_histogram_global`: a block counts `part` of the bins in shared memory; the blocks of a
/// column read the same keys, and each of them sees other bins in them.
///
/// # Safety
/// Launch contract: 2-D grid of `LARGE_THREADS_PER_BLOCK` threads whose y covers `LARGE_BINS` bins, `part` each;
/// dynamic shared memory for `part` words; `keys` 16-byte aligned and valid for `n` u32, `n` at most
/// 2^29; `target` valid for `LARGE_BINS` zeros.
#[kernel(launch_bounds(LARGE_THREADS_PER_BLOCK, 1))]
pub unsafe fn histogram_large_histogram(keys: *const u32, target: *mut u32, n: u32, part: u32) {
    let words = shared::dynamic_shared_mem::<u32>();
    let tid = thread::thread_idx_x();
    let lowest = thread::block_idx_y() * part;
    let count = |key: u32| {
        // Bins below the part wrap around to large numbers.
        let word = bin_of(key).wrapping_sub(lowest);
        if word < part {
            // SAFETY: the block has `part` words.
            unsafe { add_shared(words, word, 1) };
        }
    };
    let first = thread::block_idx_x() * LARGE_THREADS_PER_BLOCK + tid;
    // SAFETY: the launch contract; the last part may end beyond the last bin.
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
        thread::sync_threads();
        let mut word = tid;
        while word < part && lowest + word < LARGE_BINS {
            add_global(target, lowest + word, *words.add(word as usize));
            word += LARGE_THREADS_PER_BLOCK;
        }
    }
}
