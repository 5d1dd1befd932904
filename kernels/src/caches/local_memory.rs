//! # Local memory: an array that cannot be in registers is in device memory
//!
//! Shows: an array with an index that only the data decide is in [local memory], which is in device
//! memory behind the caches; where every index is known when the kernel is compiled, it is in
//! [registers][register].
//!
//! The surprise: "local" says who sees the memory, not where it is. Here an array of 32 words per
//! thread, declared like any other local variable, causes more traffic than the data that the kernel
//! is about: for each word of input it loads and stores a word of local memory, in up to 8 times as
//! many [sectors][sector].
//!
//! Each thread counts its 32 words of input in 32 counters of its own, and writes one word that
//! depends on all counters. Local memory is interleaved, so that word w of all 32 [lanes][lane] of a
//! [warp] is one [cache line]. That is [coalesced] as long as all lanes access the same word of their
//! arrays, and not if each wants another:
//!
//! ```text
//!                        lane 0   1   2  ..  31
//! line of counter 0      |  x     .   .       . |    all lanes count in one counter: 1 line, 4 sectors
//! line of counter 1      |  .     x   .       . |    d different counters among the 8 lanes of a sector:
//! line of counter 2      |  .     .   x       . |    d lines are touched, 4 sectors in each: 4 x min(d, 8)
//! ```
//!
//! 1. `indexed`. `counters[word] += 1`: the index is data, and registers have no addresses, so the
//!    compiler puts the array into local memory. The counter shows a local load and a local store
//!    for each word of input, each with 4 x min(d, 8) sectors, where d is the number of different
//!    words that the lanes want. Most of them are found in the [L1 cache], if the arrays of all
//!    resident threads fit: 2048 threads x 128 B = 256 KB would be all of it.
//! 2. `unrolled`. The idea: compare the word with every counter's number, and add the result to
//!    every counter: `counters[k] += (word == k)` for k from 0 to 31. The loop is unrolled, all
//!    indices are constants, and the array is in registers. It costs 32 comparisons and additions
//!    per word instead of one, and 32 registers. What remains: arithmetic only.
//! 3. `spilled`. The same code with launch bounds of 2 blocks of 1024 threads, which leave 32
//!    registers per thread. The counters alone need 32. NVIDIA's assembler keeps the rest in local
//!    memory, a [spill]. The executor runs PTX, where registers are unlimited, so its counters do
//!    not show a spill; `kernels/resources.txt` has its bytes, and the machine code its instructions
//!    (`STL` and `LDL`).
//! 4. `spilled_shared`. The same launch bounds, with the wish that spills go to shared memory
//!    (`#[kernel(spills_to_shared)]`, the assembler's `enable_smem_spilling`): a spill is then a store
//!    to shared memory, in a bank of the lane's own. It costs shared memory for each thread of the block, 44 KiB
//!    here, and so [occupancy]. A driver older than CUDA 13.0 ignores the wish. What remains: the
//!    instructions that store and load.
//! 5. `shared`. The array is in [shared memory], word w of thread t at w x 128 + t. An index is
//!    cheap there, and thread t uses [bank] t mod 32 whatever the data are, so there is no
//!    [bank conflict]. It costs 16 KB of shared memory per block, and so [occupancy].
//!
//! | variant | change from the previous one | sectors per load | sectors per store | sectors per local load | sectors per local store | shared wavefronts, load / store | limited by |
//! |---|---|---|---|---|---|---|---|
//! | `indexed` | the counters are an array, indexed by the data | 4 | 4 | 18 | 18 | none | local memory in L1 and L2 |
//! | `unrolled` | each word is compared with every counter's number, in registers | 4 | 4 | none | none | none | comparisons |
//! | `spilled` | launch bounds leave fewer registers than the counters need | 4 | 4 | none | none | none | spills |
//! | `spilled_shared` | the assembler spills to shared memory instead of local memory | 4 | 4 | none | none | none | spills |
//! | `shared` | the counters are in shared memory, one bank per thread | 4 | 4 | none | none | 1 / 1 | latency of shared memory |
//!
//! The table has the counts for d = 8. Of the 64 loads of a thread, 32 count and touch 4 x 8 sectors,
//! and 32 read the counters in the end, all lanes the same one: (32 x 32 + 32 x 4) / 64 = 18. The
//! stores are the same in number: 32 clear the counters and 32 count.
//!
//! Expected: `shared` (37.63 us) is the fastest, and does not depend on d. `unrolled` (173.9 us) does not
//! either; its 32 x 32 comparisons and additions per thread take 2 x 1024 / 128 = 16 cycles of a
//! [multiprocessor], which has 128 lanes for them, against about 7 cycles for its 132 bytes from
//! device memory. `indexed` (335.8 us) depends on d, and `spilled` (677.9 us) on how many counters the
//! assembler had to move. `spilled_shared` has the same spills nearer by.
//!
//! The three places in CUDA C++:
//!
//! ```cuda
//! uint32_t counters[32] = {};                       // local memory, because `word` is data
//! counters[word]++;
//! #pragma unroll                                    // registers: every index is a constant
//! for (int k = 0; k < 32; k++) counters[k] += word == k;
//! __shared__ uint32_t counters[32][128];            // shared memory, one bank per thread
//! counters[word][threadIdx.x]++;
//! ```
//!
//! The build tells of local memory, because nothing in the source shows it: `kernel NAME has 128
//! bytes of local memory per thread at FILE:LINE`. A kernel that means it, as `indexed` does, is
//! marked `#[kernel(uses_local_memory)]`.
//!
//! Common misconception: "local memory is fast because it is local". It is as far away as global
//! memory, and is cached like it. Only its addresses are the thread's own.
//!
//! Common misconception: "arrays in a kernel are slow". An array whose indices are all known after
//! unrolling is nothing but a set of registers; `register_tiled` of `matmul_ab` has 64 sums in one.
//!
//! Questions:
//! - When does the compiler unroll by itself? When the number of rounds is known and the body is
//!   small. A bound that is an argument prevents it, and with it the registers: write the loop to the
//!   constant bound, and test `if k < bound` inside.
//! - Is every spill bad? A few words that are stored once and loaded once cost little, and more
//!   resident warps may be worth it. A spill in the innermost loop is bad.
//! - How does a kernel get rid of spills? By looser launch bounds, less unrolling, or by keeping
//!   less: an index that can be computed again needs no register.
//! - Does local memory cost device memory? Yes: the driver reserves it for every thread that can be
//!   resident, here 132 x 2048 x 128 B = 34.6 MB on an H200, whatever the grid is.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `indexed` | 335.8 | 412 | 9 | 1.00 |
//! | `unrolled` | 173.9 | 796 | 17 | 1.93 |
//! | `spilled` | 677.9 | 204 | 4 | 0.50 |
//! | `spilled_shared` | 363.5 | 381 | 8 | 0.92 |
//! | `shared` | 37.63 | 3678 | 79 | 8.92 |
//! | *nvcc indexed* | 336.2 | 412 | 9 | 1.00 |
//! | *nvcc shared* | 37.47 | 3694 | 80 | 8.96 |
//! <!-- /measured -->
//!
//! Preconditions: d, the number of different words per warp, is from 1 to 32.
//!
//! Source: CUDA C++ Best Practices Guide, "Local Memory"; CUDA C++ Programming Guide, "Device Memory
//! Accesses" and "Launch Bounds".
#![doc = include_str!("../../../crates/report/src/links.md")]

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// Threads per block of all variants but `spilled`.
pub const THREADS_PER_BLOCK: u32 = 128;
/// Threads per block of `spilled`.
pub const SPILLED_BLOCK: u32 = 1024;
/// Blocks of `spilled` on a multiprocessor at once: 65536 / (2 x 1024) = 32 registers per thread.
const SPILLED_BLOCKS_PER_MULTIPROCESSOR: u32 = 2;
/// Counters of each thread.
pub const COUNTERS: u32 = 32;
/// Words of input that each thread counts.
pub const WORDS: u32 = 32;

/// Word `index` of thread `i`'s input: the words of a warp follow each other.
///
/// # Safety
/// - `source` valid for `WORDS * n` u32, `i < n`, `index < WORDS`.
#[inline(always)]
unsafe fn word(source: *const u32, n: u32, i: u32, index: u32) -> u32 {
    // SAFETY: the caller's promise. The product may need more than 32 bits.
    unsafe { *source.add(index as usize * n as usize + i as usize) }
}

/// One number that depends on every counter.
#[inline(always)]
fn folded(hash: u32, counter: u32) -> u32 {
    hash.wrapping_mul(31).wrapping_add(counter)
}

/// # Safety
/// - 1-D grid of `THREADS_PER_BLOCK` threads covering `n` threads.
/// - `source` valid for `WORDS * n` u32, each below `COUNTERS`; `target` valid for `n` u32, not overlapping.
#[kernel(uses_local_memory)]
pub unsafe fn local_memory_indexed(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut counters = MaybeUninit::<[u32; COUNTERS as usize]>::uninit();
        let counters = counters.as_mut_ptr().cast::<u32>();
        // SAFETY: i < n; every word is below COUNTERS (launch contract), and every counter is written first.
        unsafe {
            for number in 0..COUNTERS as usize {
                // Volatile, because LLVM would clear the array byte by byte otherwise.
                counters.add(number).write_volatile(0);
            }
            for index in 0..WORDS {
                *counters.add(word(source, n, i, index) as usize) += 1;
            }
            *target.add(i as usize) =
                (0..COUNTERS as usize).fold(0, |hash, number| folded(hash, *counters.add(number)));
        }
    }
}

/// Counts a thread's words in registers.
///
/// # Safety
/// - As for [`local_memory_indexed`], with any number of threads per block.
#[inline(always)]
unsafe fn count_in_registers(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        let mut counters = [0_u32; COUNTERS as usize];
        // SAFETY: i < n (launch contract).
        unsafe {
            for index in 0..WORDS {
                let word = word(source, n, i, index);
                for (number, counter) in counters.iter_mut().enumerate() {
                    *counter += u32::from(word == number as u32);
                }
            }
            *target.add(i as usize) = counters.iter().fold(0, |hash, one| folded(hash, *one));
        }
    }
}

/// # Safety
/// - As for [`local_memory_indexed`].
#[kernel]
pub unsafe fn local_memory_unrolled(source: *const u32, target: *mut u32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { count_in_registers(source, target, n) };
}

/// # Safety
/// - As for [`local_memory_indexed`], with blocks of `SPILLED_BLOCK` threads.
#[kernel(launch_bounds(SPILLED_BLOCK, SPILLED_BLOCKS_PER_MULTIPROCESSOR))]
pub unsafe fn local_memory_spilled(source: *const u32, target: *mut u32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { count_in_registers(source, target, n) };
}

/// # Safety
/// - As for [`local_memory_spilled`].
#[kernel(launch_bounds(SPILLED_BLOCK, SPILLED_BLOCKS_PER_MULTIPROCESSOR), spills_to_shared)]
pub unsafe fn local_memory_spilled_shared(source: *const u32, target: *mut u32, n: u32) {
    // SAFETY: as the launch contract says.
    unsafe { count_in_registers(source, target, n) };
}

/// # Safety
/// - As for [`local_memory_indexed`].
#[kernel]
pub unsafe fn local_memory_shared(source: *const u32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n; every word is below COUNTERS (launch contract), and a thread accesses its own words only.
        unsafe {
            let own = shared_array!(ALL: [u32; COUNTERS * THREADS_PER_BLOCK])
                .add(thread::thread_idx_x() as usize);
            let counter = |number: u32| own.add((number * THREADS_PER_BLOCK) as usize);
            for number in 0..COUNTERS {
                *counter(number) = 0;
            }
            for index in 0..WORDS {
                *counter(word(source, n, i, index)) += 1;
            }
            *target.add(i as usize) =
                (0..COUNTERS).fold(0, |hash, number| folded(hash, *counter(number)));
        }
    }
}
