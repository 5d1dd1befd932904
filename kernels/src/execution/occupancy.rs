//! # Occupancy: warps are one way to have enough bytes in flight, and not the only one
//!
//! Shows: bandwidth follows the [bytes in flight], which are resident threads times the bytes that
//! each has requested; a quarter of the possible threads is nearly enough if each has 64 bytes on
//! the way.
//!
//! The surprise: a kernel that leaves three quarters of each multiprocessor's threads unused
//! reaches 91 % of a copy's rate (`vectorized_64`), and one that uses all of them may be slower.
//! Both have the same [coalesced] accesses, so the [sectors][sector] per request do not tell them
//! apart. The product of two numbers does.
//!
//! Little's law says how many bytes must be on their way to keep a memory busy:
//!
//! ```text
//! bytes in flight = latency x bandwidth          of one H200, per multiprocessor:
//!   latency, idle        about 650 cycles        bandwidth   2400 B per cycle / 132 = 18 B per cycle
//!   650 x 18 = 12 KB idle; under load a request waits 2 to 3 times as long: about 32 KB
//!
//! bytes in flight per multiprocessor = blocks x threads x bytes per thread
//!   4 B per thread       2048 threads (100 %):    8 KB    too few, whatever the occupancy
//!   16 B per thread      2048 threads (100 %):   32 KB    512 threads (25 %):    8 KB
//!   64 B per thread      2048 threads (100 %):  128 KB    512 threads (25 %):   32 KB
//! ```
//!
//! All variants copy an array with a grid of exactly `blocks` blocks for each [multiprocessor], so
//! that as many are resident and stay until the end. A thread copies its elements in rounds: it
//! starts all loads of a round, waits, and stores. So the [occupancy] is blocks x threads / 2048.
//!
//! 1. `words_1`. One word per round and thread: 4 bytes in flight. Only more resident
//!    [warps][warp] can help, and even all of them are too few.
//! 2. `words_2` and `words_4`. The idea: independent loads of one thread are in flight together. A
//!    thread waits at the first use of a value, not at the load. It costs a [register] per word.
//! 3. `vectorized_16`. The 16 bytes of `words_4` in one [vectorized access]: as many bytes in
//!    flight, for a quarter of the instructions.
//! 4. `vectorized_32` and `vectorized_64`. Two and four such loads. With 64 bytes per thread, 16
//!    registers hold what is on its way. A thread may use 65536 / 512 = 128 of them when 512 are resident:
//!    fewer threads leave each more registers, which is what makes the bytes possible.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | bytes in flight per thread | limited by, at 25 % occupancy |
//! |---|---|---|---|---|---|
//! | `words_1` | a thread copies one word per round | 4 | 4 | 4 | bytes in flight: 2 KB |
//! | `words_2` | two words per round, both loads before the first store | 4 | 4 | 8 | bytes in flight: 4 KB |
//! | `words_4` | four words per round | 4 | 4 | 16 | bytes in flight: 8 KB |
//! | `vectorized_16` | four words with one 16-byte access | 16 | 16 | 16 | bytes in flight: 8 KB |
//! | `vectorized_32` | two 16-byte accesses per round | 16 | 16 | 32 | bytes in flight: 16 KB |
//! | `vectorized_64` | four 16-byte accesses per round | 16 | 16 | 64 | about enough: 32 KB |
//!
//! Expected: at 25 % occupancy (4 blocks of 128 threads), the time halves with each doubling of the
//! bytes as long as they are far too few: `words_1` (0.858 ms), `words_2` (0.519 ms), `words_4` (0.382 ms).
//! `vectorized_16` (0.345 ms) equals `words_4`. `vectorized_32` (0.291 ms) and `vectorized_64` (0.275 ms) approach the
//! [measured peak] of a copy. In the curve over blocks, each variant reaches it at an occupancy that
//! is the smaller, the more bytes a thread has in flight: with 64 bytes at 25 to 50 %, with 4 bytes
//! never. In the curve over threads per block, equal products of blocks and threads give equal times.
//!
//! The plot `docs/littles_law.svg` shows the curve over blocks with bytes in flight to the right. All six
//! variants lie on one curve: where the bytes are equal, the bandwidths differ by less than a quarter,
//! whether threads or loads make the bytes. Few bytes lie just below the line of Little's law, bytes in
//! flight / latency, with the idle latency of `memory_hierarchy`; then the curve leaves the line, because
//! a busy memory answers later, and ends at the measured peak.
//!
//! What limits the occupancy is arithmetic on four resources of a multiprocessor of compute
//! capability 9.0: 32 blocks, 64 warps, 65536 registers (given to a warp in units of 256), 228 KB of
//! shared memory (a block takes 1 KB more than it asks for). A kernel of 40 registers in blocks of
//! 256 threads: 65536 / (40 x 32 x 8) = 6 blocks, and 6 x 8 / 64 = 75 %. The driver computes the same
//! (`cuOccupancyMaxActiveBlocksPerMultiprocessor`), and a test compares both for every kernel of this
//! catalogue.
//!
//! The kernel in CUDA C++, for K loads in flight:
//!
//! ```cuda
//! for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
//!     float4 values[K];
//!     for (int k = 0; k < K; k++) values[k] = source[(tile * K + k) * blockDim.x + threadIdx.x];
//!     for (int k = 0; k < K; k++) target[(tile * K + k) * blockDim.x + threadIdx.x] = values[k];
//! }
//! ```
//!
//! Common misconception: "higher occupancy is faster". Occupancy beyond the bytes in flight that
//! are needed gains nothing, and its price is registers: `register_tiled` of `matmul_ab` has an
//! occupancy of 31 % and is the fastest of its ladder.
//!
//! Common misconception: "a thread waits when it loads". It waits when it uses the value. Between the
//! two it can start other loads, if the program has any that do not depend on the first.
//!
//! Questions:
//! - Why not launch a thread per element and let the hardware schedule blocks? That is `coalescing`,
//!   and it is right for most kernels: its occupancy is 100 % at no effort. Here the grid is limited
//!   so that occupancy can be varied and nothing else.
//! - Do stores need bytes in flight? A thread does not wait for its stores. They occupy buffers and
//!   bandwidth, but nobody needs their result.
//! - Why does the report say a higher occupancy? It shows what the driver's calculator says: how many
//!   blocks would fit. This pattern starts fewer.
//! - Is it latency or bandwidth that limits `words_1`? Latency: each warp has one request in flight,
//!   and all of them together are fewer than the memory could work on. This is what [latency hiding]
//!   is about.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `words_1` | 0.858 | 1252 | 29 | 1.00 |
//! | `words_2` | 0.519 | 2070 | 48 | 1.65 |
//! | `words_4` | 0.382 | 2808 | 65 | 2.24 |
//! | `vectorized_16` | 0.345 | 3117 | 73 | 2.49 |
//! | `vectorized_32` | 0.291 | 3692 | 86 | 2.95 |
//! | `vectorized_64` | 0.275 | 3899 | 91 | 3.12 |
//! | *nvcc vectorized_16* | 0.345 | 3113 | 73 | 2.49 |
//! | *nvcc vectorized_64* | 0.275 | 3901 | 91 | 3.12 |
//! <!-- /measured -->
//!
//! Preconditions: blocks x threads is at most 2048, and a block has whole warps, 1024 threads at
//! most; buffers aligned to 16 bytes for the vectorized variants.
//!
//! Source: CUDA C++ Best Practices Guide, "Occupancy" and "Hiding Register Dependencies"; V. Volkov,
//! "Better Performance at Lower Occupancy"; J. Little, "A Proof for the Queuing Formula L = lambda W".
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

/// Threads that a multiprocessor can hold.
pub const MAX_THREADS: u32 = 2048;

/// Copies `len` elements in rounds: a block takes a tile of `ITEMS` elements per thread, and each thread starts all its
/// loads before it stores.
///
/// # Safety
/// - `source` and `target` valid for `len` elements and aligned for them, not overlapping.
#[inline(always)]
unsafe fn copy<T: Copy, const ITEMS: usize>(source: *const T, target: *mut T, len: u32) {
    let (threads, thread) = (thread::block_dim_x(), thread::thread_idx_x());
    let tile_len = threads * ITEMS as u32;
    let tiles = len / tile_len;
    let mut tile = thread::block_idx_x();
    // SAFETY: whole tiles end at or before `len`, and the rest is checked against it.
    unsafe {
        while tile < tiles {
            let first = (tile * tile_len + thread) as usize;
            let at = |item: usize| first + item * threads as usize;
            let values: [T; ITEMS] = core::array::from_fn(|item| *source.add(at(item)));
            for (item, value) in values.iter().enumerate() {
                *target.add(at(item)) = *value;
            }
            tile += thread::grid_dim_x();
        }
        // The rest is less than a tile and belongs to the first block.
        if thread::block_idx_x() == 0 {
            let mut i = tiles * tile_len + thread;
            while i < len {
                *target.add(i as usize) = *source.add(i as usize);
                i += threads;
            }
        }
    }
}

/// Copies `n` words in groups of four, and the last few one by one.
///
/// # Safety
/// - As for [`occupancy_vectorized_16`].
#[inline(always)]
unsafe fn copy_vectors<const ITEMS: usize>(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: n / 4 whole groups are in the arrays, which are aligned to 16 bytes; i < n.
    unsafe {
        copy::<F32x4, ITEMS>(source.cast(), target.cast(), n / 4);
        let i = n / 4 * 4 + thread::index_1d();
        if i < n {
            *target.add(i as usize) = *source.add(i as usize);
        }
    }
}

/// # Safety
/// - Any 1-D grid of blocks of at least 4 threads.
/// - `source` and `target` valid for `n` f32, not overlapping.
#[kernel]
pub unsafe fn occupancy_words_1(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { copy::<f32, 1>(source, target, n) };
}

/// # Safety
/// - As for [`occupancy_words_1`].
#[kernel]
pub unsafe fn occupancy_words_2(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { copy::<f32, 2>(source, target, n) };
}

/// # Safety
/// - As for [`occupancy_words_1`].
#[kernel]
pub unsafe fn occupancy_words_4(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { copy::<f32, 4>(source, target, n) };
}

/// # Safety
/// - As for [`occupancy_words_1`], and both arrays 16-byte aligned.
#[kernel]
pub unsafe fn occupancy_vectorized_16(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { copy_vectors::<1>(source, target, n) };
}

/// # Safety
/// - As for [`occupancy_vectorized_16`].
#[kernel]
pub unsafe fn occupancy_vectorized_32(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { copy_vectors::<2>(source, target, n) };
}

/// # Safety
/// - As for [`occupancy_vectorized_16`].
#[kernel]
pub unsafe fn occupancy_vectorized_64(source: *const f32, target: *mut f32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { copy_vectors::<4>(source, target, n) };
}
