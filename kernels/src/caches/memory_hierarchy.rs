//! # The memory hierarchy: what an access costs depends on where its data are
//!
//! Shows: the same load takes from tens to hundreds of clock cycles on one device, depending on
//! where its data are; the size of what a [kernel] works on decides that, not its code.
//!
//! The surprise: nothing in a kernel says which memory a load reaches. `chase_global` is one kernel
//! with one load in its loop. While its data have 8 KB, they stay in the [L1 cache]; the curve over
//! the size of the data rises in steps, as they leave L1, the near half of the [L2 cache], and L2.
//!
//! Two numbers describe a memory: how long one access takes ([latency]), and how many bytes it
//! delivers per second when many accesses are on their way ([bandwidth]).
//!
//! ```text
//! latency      a chain: each word says where the next one is, so that each load waits for the one before it
//!              one thread        load -> load -> load -> load       time / loads
//! bandwidth    independent loads of 16 bytes, four of each thread on their way at once
//!              1024 threads      load load load load                bytes / time
//!              of each block     load load load load
//! ```
//!
//! The chain visits one word of each [cache line] of the data, in a random order, so that nothing
//! can guess the next address. It takes `accesses` steps and begins anew at its end. What the first
//! visits would cost is paid in advance: the other blocks ask for all lines in L2, and the chain's
//! own block reads data of up to 128 KB once, into L1.
//!
//! 1. `chase_global`. A chain through [global memory]. At 8 KB all loads but the first are hits of
//!    L1. In the curve: L1 up to 256 KB less what is used as [shared memory], L2 up to 60 MiB, of
//!    which the far half takes longer, and DRAM.
//! 2. `chase_l2`. The same chain by loads that pass L1 by (`ld.global.cg`), so it shows L2 for the
//!    same 8 KB.
//! 3. `chase_shared`. The chain is in shared memory, which is the same storage as L1; no tag is
//!    compared.
//! 4. `chase_constant`. The chain is in [constant memory]. At 8 KB it fits into the second of the
//!    constant caches, and not into the first, which has 2 KB.
//! 5. `chase_texture`. The chain is read through a one-dimensional texture. Its data are in L1 like those of
//!    `chase_global`; the way through the texture unit is longer.
//! 6. `chase_host`. The chain is in [mapped memory] of the host, and each step crosses [PCIe] and
//!    comes back.
//! 7. `read_global`. All blocks read the data again and again, each from another place on. In the
//!    curve: the bandwidth of all L1 caches together, then of L2, then of DRAM.
//! 8. `read_shared`. Each block copies the data to shared memory and reads them there.
//!
//! A step of a chain is a request of one lane of one [warp], and touches one [sector]. The sectors
//! per load of `chase_global` are more than 1 because its block reads the data in whole warps first.
//!
//! | variant | change from the previous one | sectors per load | sectors per store | shared wavefronts, load / store | constant wavefronts |
//! |---|---|---|---|---|---|
//! | `chase_global` | one thread follows a chain through global memory | 1.2 | 3.9 | none | none |
//! | `chase_l2` | its loads pass the L1 cache by | 1 | 1 | none | none |
//! | `chase_shared` | the chain is in shared memory | 4 | 1 | 1 / 1 | none |
//! | `chase_constant` | the chain is in constant memory | none | 1 | none | 1 |
//! | `chase_texture` | the chain is read through a one-dimensional texture | none | 1 | none | none |
//! | `chase_host` | the chain is in mapped memory of the host | none | none | none | none |
//! | `read_global` | all threads read the data, four loads of 16 bytes in flight each | 16 | 4 | none | none |
//! | `read_shared` | each block reads a copy in shared memory | 16 | 4 | 4 / 4 | none |
//!
//! Expected: others measured, on the same kind of device, L1 at 32 cycles, shared memory 29, L2
//! about 280 near and 490 to 530 far, DRAM 615 to 690. So `chase_global` (1.306 ms), which hits L1,
//! is 7.0 times (`chase_l2` / `chase_global`) as fast as `chase_l2` (9.200 ms), and `chase_shared`
//! (0.951 ms) 9.7 times (`chase_l2` / `chase_shared`). A step of `chase_shared` takes 28.7 cycles
//! (`chase_shared` / 65536 x clock of `chase_shared`), and one of `chase_global` 39.4 cycles
//! (`chase_global` / 65536 x clock of `chase_global`). The latter is more than the 32 that others
//! found for L1. A part of it is the address: the chain holds indices, so machine code has a wide
//! multiply-add before each load (`IMAD.WIDE`), which a chain of addresses would not need. What the
//! rest is was not found. `chase_constant` (3.461 ms) and `chase_texture` (2.941 ms) are between
//! them. `chase_host` (75.23 ms) waits for PCIe, 3.5 times as long as for DRAM (`chase_host` /
//! `chase_global` at words=268435456). `read_global` (0.039 ms) moves 264 x 1024 x 256 x 16 B = 1.1
//! GB out of L1, and `read_shared` (0.039 ms) out of shared memory: at most 128 bytes per cycle and
//! [multiprocessor] both.
//!
//! All spaces in one table, with the figures of the reference measurement. The latency is the time of
//! the chain by its steps, and the bandwidth the bytes read by the time (that of host memory is the
//! [measured peak] of H2D copies). A register takes no extra time; [local memory] costs as global
//! memory. What textures are good for is another pattern, `texture`.
//!
//! <!-- hierarchy -->
//! | space | where it is | cached in | access | who sees it | lives as long as | latency, ns | bandwidth, GB/s |
//! |---|---|---|---|---|---|--:|--:|
//! | register | multiprocessor | nothing | read, write | one thread | the thread | - | - |
//! | shared memory | multiprocessor | nothing | read, write, atomics | the block, or its cluster | the block | 14.5 | 28621 |
//! | local memory | device memory | L1, L2 | read, write | one thread | the thread | - | - |
//! | global memory, found in L1 | multiprocessor | L1 | read | the block, and others there | the kernel, at most | 19.9 | 28621 |
//! | global memory, found in L2 | device | L2 | read, write, atomics | all threads | until displaced | 140 | 8917 |
//! | global memory | device memory | L1, L2 | read, write, atomics | all threads, and the host by copies | until it is freed | 332 | 4357 |
//! | constant memory | device memory | constant caches, L2 | read; the host writes | all threads | the program | 52.8 | - |
//! | texture memory | device memory | L1, L2 | read, with filtering | all threads | until it is freed | 44.9 | - |
//! | host memory, mapped | memory of the host | L1 while a kernel runs | read, write | all threads, and the host | until it is freed | 1148 | 55.4 |
//! <!-- /hierarchy -->
//!
//! `coalesce list --hierarchy FILE` shows this table with the figures of another result file.
//!
//! What was different on older devices, and explains advice that is still repeated. None of it can
//! be run here:
//!
//! | compute capability | what was so | what became of it |
//! |---|---|---|
//! | 1.x | no cache for global memory; half a [warp] was served at a time, and misaligned accesses were served one by one | from 2.0 on caches, whole warps |
//! | 2.x (Fermi) | L1 caches global loads in lines of 128 bytes by default; `-Xptxas -dlcm=cg` switched that off for a whole module, to fetch [sectors][sector] of 32 bytes instead | from 6.0 on the unit is a sector with or without L1, so the switch gains nothing |
//! | 3.x (Kepler) | L1 is for local memory only by default; read-only data came through the texture cache (`ld.global.nc`, 32-byte granularity). [Banks][bank] may be 8 bytes wide | L1 and texture cache are one from 7.0 on; banks have 4 bytes |
//! | 5.x (Maxwell) | L1 and texture cache are one, global loads not cached in it by default; shared memory of its own | from 7.0 on one storage for L1 and shared memory |
//! | 7.0 (Volta) and later | L1 caches loads by default and is write-through; its size is what shared memory leaves | as here |
//!
//! The chain in CUDA C++:
//!
//! ```cuda
//! uint32_t at = 0;
//! for (uint32_t step = 0; step < accesses; step++) at = chain[at];     // each load needs the one before
//! ```
//!
//! Common misconception: "L2 belongs to a multiprocessor". There is one L2 for the whole device, in
//! two partitions; an address belongs to one of them, and the far one takes about 200 cycles more.
//!
//! Common misconception: "a faster memory would make each load faster". Nearly all kernels have
//! enough warps to hide latency, and are limited by bandwidth. Latency decides where a load depends
//! on the one before it: lists, trees, and look-ups whose result is an index.
//!
//! Questions:
//! - Why is the order of the chain random? A fixed distance could be recognized, and neighbours
//!   would be in one page, so that the cost of translating addresses would be hidden.
//! - Why does `chase_global` become slower beyond L2's size in more than one step? Its pages become
//!   too many for the caches that translate addresses.
//! - Is shared memory faster than L1? Its latency is a little lower and its bandwidth is the same;
//!   they are the same storage. What shared memory offers is that nothing is displaced.
//! - Does `ld.global.nc` have a cache of its own? Not any more: it counts the same 32-byte sectors
//!   in the same L1, as `read_only` of `constant_memory` shows.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, us | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `chase_global` | 1306 | 0 |  | 1.00 |
//! | `chase_l2` | 9200 | 0 |  | 0.14 |
//! | `chase_shared` | 950.9 | 0 |  | 1.37 |
//! | `chase_constant` | 3461 | 0 |  | 0.38 |
//! | `chase_texture` | 2941 | 0 |  | 0.44 |
//! | `chase_host` | 75226 | 0 |  | 0.02 |
//! | `read_global` | 38.69 | 0 |  | 33.77 |
//! | `read_shared` | 38.69 | 0 |  | 33.77 |
//! | *nvcc chase_shared* | 950.8 | 0 |  | 1.37 |
//! | *nvcc read_global* | 38.91 | 0 |  | 33.58 |
//! <!-- /measured -->
//!
//! Preconditions: `chase_texture` takes at most 2^27 words, `chase_shared` and `read_shared` take at most 8192 words, and `chase_constant`
//! takes 2048.
//!
//! Source: CUDA C++ Programming Guide, "Device Memory Accesses", "Compute Capabilities" and its
//! appendix of former editions; the measurements of others are those of RRZE's gpu-benches.
#![doc = include_str!("../../../crates/report/src/links.md")]

use cuda_std::memory;
use cuda_std::prelude::*;
use cuda_std::texture::{Buffer, Texture};
use cuda_std::vector::U32x4;

pub const THREADS_PER_BLOCK: u32 = 1024;
/// Words of a cache line; the chain uses one of them.
pub const LINE_WORDS: u32 = 32;
/// The most words that the chain's block reads once into L1 before it begins: 128 KB.
pub const L1_WORDS: u32 = 1 << 15;
/// The most words that are copied to shared memory: 32 KB.
pub const SHARED_WORDS: u32 = 1 << 13;
/// Words of the chain in constant memory.
pub const CONSTANT_WORDS: u32 = 1 << 11;
/// Accesses of the chain for each load of a thread of `read_global` and `read_shared`.
pub const ACCESSES_PER_LOAD: u32 = 256;
/// Loads that each thread of `read_global` and `read_shared` starts before it uses the first.
pub const LOADS_IN_FLIGHT: u32 = 4;

/// The chain of `chase_constant`; the host writes it before a launch.
#[address_space(constant)]
pub static mut MEMORY_HIERARCHY_CHAIN: [u32; CONSTANT_WORDS as usize] =
    [0; CONSTANT_WORDS as usize];

/// Follows a chain from word 0 for so many steps.
#[inline(always)]
fn follow(accesses: u32, next: impl Fn(usize) -> u32) -> u32 {
    (0..accesses).fold(0, |at, _| next(at as usize))
}

/// Asks for all lines of the data in L2, by all blocks but the first.
///
/// # Safety
/// - `data` valid for `words` u32.
#[inline(always)]
unsafe fn bring_into_l2(data: *const u32, words: u32) {
    let step = (thread::grid_dim_x() - 1) * THREADS_PER_BLOCK * LINE_WORDS;
    let mut word =
        ((thread::block_idx_x() - 1) * THREADS_PER_BLOCK + thread::thread_idx_x()) * LINE_WORDS;
    while word < words {
        // SAFETY: word < words.
        unsafe { memory::prefetch_l2(data.add(word as usize)) };
        word += step;
    }
}

/// # Safety
/// - 1-D blocks of `THREADS_PER_BLOCK` threads, any number of them.
/// - `chain` valid for `words` u32, of which those that the chain visits are below `words`.
/// - `end` valid for one u32, `sums` for `THREADS_PER_BLOCK`; nothing overlaps.
#[kernel]
pub unsafe fn memory_hierarchy_chase_global(
    chain: *const u32,
    end: *mut u32,
    sums: *mut u32,
    words: u32,
    accesses: u32,
) {
    let tid = thread::thread_idx_x();
    // SAFETY: every index is below `words`; tid < THREADS_PER_BLOCK (launch contract).
    unsafe {
        if thread::block_idx_x() > 0 {
            bring_into_l2(chain, words);
            return;
        }
        let mut sum = 0;
        if words <= L1_WORDS {
            let mut word = tid;
            while word < words {
                sum ^= *chain.add(word as usize);
                word += THREADS_PER_BLOCK;
            }
        }
        *sums.add(tid as usize) = sum;
        thread::sync_threads();
        if tid == 0 {
            *end = follow(accesses, |at| *chain.add(at));
        }
    }
}

/// # Safety
/// - As for [`memory_hierarchy_chase_global`], without `sums`.
/// - `chain` may be mapped memory of the host if there is one block.
#[kernel]
pub unsafe fn memory_hierarchy_chase_l2(
    chain: *const u32,
    end: *mut u32,
    words: u32,
    accesses: u32,
) {
    // SAFETY: every index is below `words` (launch contract).
    unsafe {
        if thread::block_idx_x() > 0 {
            bring_into_l2(chain, words);
        } else if thread::thread_idx_x() == 0 {
            *end = follow(accesses, |at| memory::load_cg(chain.add(at)));
        }
    }
}

/// # Safety
/// - One block of `THREADS_PER_BLOCK` threads.
/// - `chain` and `end` as for [`memory_hierarchy_chase_global`], `words` at most `SHARED_WORDS`.
#[kernel]
pub unsafe fn memory_hierarchy_chase_shared(
    chain: *const u32,
    end: *mut u32,
    words: u32,
    accesses: u32,
) {
    let copy = shared_array!(CHAIN: [u32; SHARED_WORDS]);
    let tid = thread::thread_idx_x();
    // SAFETY: every index is below `words`, which is at most SHARED_WORDS; the barrier is after all stores.
    unsafe {
        let mut word = tid;
        while word < words {
            *copy.add(word as usize) = *chain.add(word as usize);
            word += THREADS_PER_BLOCK;
        }
        thread::sync_threads();
        if tid == 0 {
            *end = follow(accesses, |at| *copy.add(at));
        }
    }
}

/// # Safety
/// - `end` valid for one u32.
/// - The words of `MEMORY_HIERARCHY_CHAIN` that the chain visits are below `CONSTANT_WORDS`.
#[kernel]
pub unsafe fn memory_hierarchy_chase_constant(end: *mut u32, accesses: u32) {
    let chain = (&raw const MEMORY_HIERARCHY_CHAIN).cast::<u32>();
    if thread::thread_idx_x() == 0 {
        // SAFETY: as the launch contract says.
        unsafe { *end = follow(accesses, |at| *chain.add(at)) };
    }
}

/// # Safety
/// - `end` valid for one u32.
/// - The words of the texture that the chain visits are inside it.
#[kernel]
pub unsafe fn memory_hierarchy_chase_texture(
    chain: Texture<Buffer, u32>,
    end: *mut u32,
    accesses: u32,
) {
    if thread::thread_idx_x() == 0 {
        // SAFETY: as the launch contract says.
        unsafe { *end = follow(accesses, |at| chain.texel(at as i32)) };
    }
}

/// Reads 16 bytes again and again, `accesses / ACCESSES_PER_LOAD` times, a block's threads next to each other and going
/// round through all data; the exclusive or of all words.
#[inline(always)]
fn read_round(first: u32, vectors: u32, accesses: u32, load: impl Fn(usize) -> U32x4) -> u32 {
    let step = THREADS_PER_BLOCK % vectors;
    let mut at = first % vectors;
    let mut sum = 0;
    for _ in 0..accesses / (ACCESSES_PER_LOAD * LOADS_IN_FLIGHT) {
        let values: [U32x4; LOADS_IN_FLIGHT as usize] = core::array::from_fn(|_| {
            let value = load(at as usize);
            at += step;
            at -= if at >= vectors { vectors } else { 0 };
            value
        });
        for value in &values {
            sum ^= value.x ^ value.y ^ value.z ^ value.w;
        }
    }
    sum
}

/// # Safety
/// - 1-D grid of blocks of `THREADS_PER_BLOCK` threads, fewer than 2^32 threads in all.
/// - `data` 16-byte aligned and valid for `vectors` times 16 bytes, `vectors` at least 1.
/// - `sums` valid for one u32 per thread.
#[kernel]
pub unsafe fn memory_hierarchy_read_global(
    data: *const u32,
    sums: *mut u32,
    vectors: u32,
    accesses: u32,
) {
    let (data, block) = (data.cast::<U32x4>(), thread::block_idx_x());
    let start = (u64::from(block) * u64::from(vectors) / u64::from(thread::grid_dim_x())) as u32;
    let first = start + thread::thread_idx_x() % vectors;
    // SAFETY: every index is below `vectors` (launch contract).
    unsafe {
        let sum = read_round(first, vectors, accesses, |at| *data.add(at));
        *sums.add(thread::index_1d() as usize) = sum;
    }
}

/// # Safety
/// - As for [`memory_hierarchy_read_global`], with at most `SHARED_WORDS / 4` vectors.
#[kernel]
pub unsafe fn memory_hierarchy_read_shared(
    data: *const u32,
    sums: *mut u32,
    vectors: u32,
    accesses: u32,
) {
    let copy = shared_array!(DATA: [U32x4; SHARED_WORDS / 4]);
    let (data, block) = (data.cast::<U32x4>(), thread::block_idx_x());
    let start = (u64::from(block) * u64::from(vectors) / u64::from(thread::grid_dim_x())) as u32;
    let first = start + thread::thread_idx_x() % vectors;
    // SAFETY: every index is below `vectors`, which is at most SHARED_WORDS / 4; the barrier is after all stores.
    unsafe {
        let mut vector = thread::thread_idx_x();
        while vector < vectors {
            *copy.add(vector as usize) = *data.add(vector as usize);
            vector += THREADS_PER_BLOCK;
        }
        thread::sync_threads();
        let sum = read_round(first, vectors, accesses, |at| *copy.add(at));
        *sums.add(thread::index_1d() as usize) = sum;
    }
}
