//! # Distributed shared memory: the blocks of a cluster hold together what one cannot
//!
//! Shows: the shared memories of a [cluster] hold what does not fit into one; a few words between its blocks
//! cost no more than through L2, but an addition in another [block]'s for each key is slower than one in L2.
//!
//! The surprise: when the bins do not fit into [shared memory], the usual way is to read the keys once
//! for each part of the bins, `parts` (0.254 ms), and to ignore those that belong elsewhere. Or to count in
//! device memory, `global` (0.729 ms). A cluster of 8 blocks needs neither: an [atomic] may address the
//! shared memory of another block, on another multiprocessor. It reads every key once and is the slowest of
//! the three, `cluster` (1.087 ms): few bytes are no help where the rate of single additions is the limit.
//! Where few words cross between blocks, the same network wins: `rows_cluster` against
//! `rows_global`.
//!
//! 2^17 bins are 512 KiB of counters. A block of an H200 has at most 227 KiB of shared memory; 8 blocks of
//! a cluster have 1816 KiB. The keys are random 32-bit numbers, and the bin of a key is its lower bits:
//!
//! ```text
//!                  keys are read     counters of a bin          added by
//!   global         1 time            1, in the L2 cache         an atomic in L2, a sector per key
//!   parts          4 times           33 copies, in shared       an atomic in the block's own shared memory
//!   cluster        1 time            33 copies, in shared       an atomic in the shared memory of the block
//!                                                               that holds the bin, 7 of 8 times another one
//! ```
//!
//! 1. `global`. Every key is an atomic in the [L2 cache]. The counter shows n atomics with nearly 32
//!    [sectors][sector] per [request], because the bins of 32 [lanes][lane] are far apart.
//! 2. `parts`. The idea: a block holds 2^15 bins, 128 KiB. Four columns of blocks read all keys, and each
//!    counts those of its part. It costs reading the keys 4 times, from L2 for three of the four, and
//!    instructions for the keys that are ignored. The counter shows the [wavefronts][wavefront] of a
//!    quarter of the lanes in random [banks][bank].
//! 3. `cluster`. The idea: the 8 blocks of a cluster run at the same time on neighbouring
//!    multiprocessors, and each holds 2^14 bins, 64 KiB. `cluster::add_u32` is two instructions: `mapa`
//!    turns the address of a counter in a block's own shared memory into that of the same place in another
//!    block, and `red.shared::cluster` adds there, through the network between the multiprocessors. It costs a [barrier] of the cluster before the first
//!    addition, because all counters must be zero, and one after the last, because no block may merge or
//!    end while others still count. What remains is the network: 7 of 8 additions leave their
//!    multiprocessor.
//! 4. `rows_global` is another task: the keys are rows of as many words as there are bins, and each word becomes
//!    itself plus the sum of its row, as a softmax or a layer norm needs a number of the whole row before it can
//!    write the first result. A row of 512 KiB fits into no block's shared memory, so one launch adds up the rows, and
//!    a second one reads all keys again: 3 x 4 B = 12 B per key through device memory.
//! 5. `rows_l2`. The idea: 8 blocks hold a row, each a part of it in shared memory, and tell each other their sums
//!    through [L2][L2 cache]: each writes its own, adds 1 to a counter, and waits until all 8 have come. So the keys
//!    are read once, 8 B per key. It costs a cooperative launch, because blocks that wait for each other must run at
//!    once, and for each row a write, an atomic, and polling, each as long as the way to L2 and back.
//! 6. `rows_cluster`. The idea: the 8 blocks are a cluster, and each [warp] adds its sum to a word in each of the 8
//!    shared memories (`red.async`, here `cluster::add_async_u32`). An mbarrier there counts the bytes that have arrived,
//!    so a block waits in its own shared memory, and nobody polls L2. The blocks of a cluster always run at once, so the
//!    launch is an ordinary one, with a cluster for each row. It costs one [barrier] of the cluster at the start. What
//!    remains: device memory.
//!
//! | variant | change from the previous one | sectors per load | shared atomic wavefronts | global atomics | limited by |
//! |---|---|---|---|---|---|
//! | `global` | every key is an atomic addition in device memory | 16 | none | n | L2 atomics |
//! | `parts` | each block counts a part of the bins in shared memory, and ignores the other keys | 16 | 2.4 | blocks x 2^15 | L2 reads, and keys that are ignored |
//! | `cluster` | the blocks of a cluster count in each other's shared memory (sm_90) | 16 | 1.2 | clusters x bins | the network between multiprocessors |
//!
//! | `rows_global` | another task: rows with their sums added, by a launch for the sums and one that reads the keys again (sm_80) | 15.1 | none | a warp's sum each | device memory |
//! | `rows_l2` | 8 blocks hold a row in shared memory and exchange sums through L2 (sm_90) | 1 | 1 | 1 per block and row | waiting for L2 |
//! | `rows_cluster` | the 8 blocks are a cluster, whose warps add to each other's shared memory (sm_90) | none | none | none | device memory |
//!
//! A request of `cluster` arrives at up to 8 blocks, and the executor counts it once for each of them: 4
//! of 32 lanes on average, which seldom meet in a bank.
//!
//! Expected: the [minimum time] is that of reading the keys, 4 bytes each. `global` (0.729 ms) moves a
//! sector of 32 B for each of them in L2. `parts` (0.254 ms) reads 4 x 4 B = 16 B per key from L2 and spends
//! 3 of 4 looks at a key in vain. `cluster` (1.087 ms) reads 4 B per key, but 7 of 8 additions go through
//! the network between multiprocessors, at a rate that NVIDIA does not document: here it is below that of
//! L2. In the curve, its time hardly depends on the number of bins, and it beats `global` only where few
//! bins make the atomics in L2 meet. With 2^15 bins or fewer `parts` has one part, reads each key
//! once and adds in its own shared memory, and nothing can be gained. `rows_cluster` moves 8 B per key and
//! `rows_global` 12 B. `rows_l2` moves 8 B, too, and with rows of 512 KiB three blocks per
//! multiprocessor hide the waiting. The shorter the rows, the more often blocks wait, and the farther `rows_l2` is
//! behind `rows_cluster`. With rows of 2^12 keys and fewer one block could hold a row, and neither pays.
//!
//! The heart of `cluster` in CUDA C++:
//!
//! ```cuda
//! __global__ void __cluster_dims__(8) count(...) {
//!     cg::cluster_group cluster = cg::this_cluster();
//!     uint32_t *place = cluster.map_shared_rank(&own[bin % part], bin / part);   // mapa
//!     atomicAdd(place, 1);                             // Rust: cluster::add_u32(own.add(bin % part), bin / part, 1)
//! ```
//!
//! Common misconception: "shared memory is private to a block". Since compute capability 9.0 it is
//! private to a cluster. Which blocks form a cluster is said at the kernel or at the launch.
//!
//! Common misconception: "a cluster is a larger block". Its blocks have their own barriers and their own
//! shared memory; another block's is farther away than the own, and for single additions no nearer than L2.
//!
//! Questions:
//! - Why do `rows_cluster` and not `cluster` win by the same network? A row of 2^17 keys sends 8 x 8 x 8 = 512 words
//!   between blocks, a word for 256 keys; `cluster` sends a word for 7 of 8 keys.
//! - Why does no barrier end `rows_cluster`? A block ends when all that others send to it has arrived, and what it
//!   sends comes from registers.
//! - Why a barrier before the first addition? Another block may count in this block's shared memory as
//!   soon as it runs. Without the barrier the counters might be cleared after that; the executor reports it
//!   as a [race].
//! - Why 8 blocks? It is the largest size that every device with clusters supports. Up to 16 are possible
//!   where the kernel allows a size that is not portable.
//! - Why not one cluster per bin range and more of them? Each copy of the bins is merged with one atomic per
//!   bin in device memory: 33 clusters x 2^17 = 4.3 million, against 67 million keys.
//!
//! <!-- measured -->
//! | measured on NVIDIA H200 | time, ms | GB/s | % of measured peak | speed-up |
//! |---|--:|--:|--:|--:|
//! | `global` | 0.729 | 369 | 8 | 1.00 |
//! | `parts` | 0.254 | 1060 | 24 | 2.87 |
//! | `cluster` | 1.087 | 247 | 6 | 0.67 |
//! | `rows_global` | 0.200 | 2683 | 30 | 3.64 |
//! | `rows_l2` | 0.149 | 3610 | 40 | 4.90 |
//! | `rows_cluster` | 0.151 | 3554 | 40 | 4.83 |
//! | *nvcc global* | 0.730 | 369 | 8 | 1.00 |
//! | *nvcc cluster* | 1.085 | 248 | 6 | 0.67 |
//! | *CUB HistogramEven* | 3.402 | 79 | 2 | 0.21 |
//! <!-- /measured -->
//!
//! Preconditions: keys aligned to 16 bytes; the number of bins is a power of two, from 8 to 2^18 for
//! `cluster`, which needs compute capability 9.0. The variants of rows need whole rows of at least 32 keys.
//!
//! Source: CUDA C++ Programming Guide, "Thread Block Clusters" and "Distributed Shared Memory"; PTX ISA,
//! `mapa`, `red.async` and `barrier.cluster`.
#![doc = include_str!("../../../crates/report/src/links.md")]

use core::mem::MaybeUninit;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use cuda_std::bulk_copy;
use cuda_std::cluster;
use cuda_std::mbarrier::{self, Barrier};
use cuda_std::prelude::*;
use cuda_std::vector::U32x4;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, WarpReductionOp, lane_id, warp_reduce};

/// Threads per block of all variants.
pub const THREADS_PER_BLOCK: u32 = 1024;
/// Blocks of a cluster: the most that every device with clusters has.
pub const CLUSTER: u32 = 8;
/// The most bins that a block holds: 128 KiB of shared memory.
pub const MAX_PART: u32 = 1 << 15;
/// Threads per block of the variants that work on rows.
pub const ROW_THREADS: u32 = 256;
/// The most groups of blocks of `rows_l2`.
pub const MAX_GROUPS: u32 = 128;
/// Pause between two looks at a counter in L2, about a tenth of the way there and back.
const POLL_NANOSECONDS: u32 = 32;
/// Keys of a vector load.
const KEYS: u32 = 4;
/// Warps of a block that works on rows.
const ROW_WARPS: u32 = ROW_THREADS / WARP_SIZE;

/// Sums of the blocks of each group: those of this row and of the next one, which a fast block may begin.
#[address_space(global)]
static mut DISTRIBUTED_SHARED_SUMS: [u32; 2 * (MAX_GROUPS * CLUSTER) as usize] =
    [0; 2 * (MAX_GROUPS * CLUSTER) as usize];
/// Blocks of each group that have written a sum; it is never reset.
#[address_space(global)]
static mut DISTRIBUTED_SHARED_ARRIVALS: [u32; MAX_GROUPS as usize] = [0; MAX_GROUPS as usize];

/// Adds 1 to a counter.
///
/// # Safety
/// - `counter` is a place in global or shared memory, accessed by atomics only until the next barrier.
#[inline(always)]
unsafe fn count(counter: *mut u32, by: u32) {
    // SAFETY: the caller's contract.
    unsafe { AtomicU32::from_ptr(counter) }.fetch_add(by, Relaxed);
}

/// Calls `each` with the bins of the keys that belong to this thread, of `threads` threads that share the keys.
///
/// # Safety
/// - `keys` is 16-byte aligned and valid for `n` u32.
/// - `bins` is a power of two.
#[inline(always)]
unsafe fn for_each_bin(
    keys: *const u32,
    n: u32,
    bins: u32,
    (first, threads): (u32, u32),
    each: impl Fn(u32),
) {
    let vectors = n / KEYS;
    let mut i = first;
    // SAFETY: every index is below n; the array is 16-byte aligned.
    unsafe {
        while i < vectors {
            let of_lane = *keys.cast::<U32x4>().add(i as usize);
            each(of_lane.x & (bins - 1));
            each(of_lane.y & (bins - 1));
            each(of_lane.z & (bins - 1));
            each(of_lane.w & (bins - 1));
            i += threads;
        }
        let rest = vectors * KEYS + first;
        if rest < n {
            each(*keys.add(rest as usize) & (bins - 1));
        }
    }
}

/// Zeros the counters of this block.
///
/// # Safety
/// - `own` is shared memory for `len` u32.
/// - All threads of the block call, and wait for each other before they count.
#[inline(always)]
unsafe fn clear(own: *mut u32, len: u32) {
    let mut at = thread::thread_idx_x();
    while at < len {
        // SAFETY: at < len; each word has one writer.
        unsafe { *own.add(at as usize) = 0 };
        at += THREADS_PER_BLOCK;
    }
}

/// Adds the counters of this block to device memory.
///
/// # Safety
/// - As for [`clear`], after a barrier.
/// - `target` is valid for `len` u32.
#[inline(always)]
unsafe fn merge(own: *const u32, target: *mut u32, len: u32) {
    let mut at = thread::thread_idx_x();
    while at < len {
        // SAFETY: at < len; nobody writes the block's counters any more.
        unsafe { count(target.add(at as usize), *own.add(at as usize)) };
        at += THREADS_PER_BLOCK;
    }
}

/// # Safety
/// - Any 1-D grid of `THREADS_PER_BLOCK` threads.
/// - `keys` 16-byte aligned and valid for `n` u32, `target` for `bins` zeros, a power of two.
#[kernel]
pub unsafe fn distributed_shared_global(keys: *const u32, target: *mut u32, bins: u32, n: u32) {
    let threads = (thread::index_1d(), thread::grid_dim_x() * THREADS_PER_BLOCK);
    // SAFETY: a masked key is below `bins` (launch contract).
    unsafe { for_each_bin(keys, n, bins, threads, |bin| count(target.add(bin as usize), 1)) };
}

/// # Safety
/// - 2-D grid of `THREADS_PER_BLOCK` threads, `bins / part` blocks in y, with `4 * part` bytes of dynamic shared
///   memory.
/// - `part` divides `bins`.
/// - The arrays as for [`distributed_shared_global`].
#[kernel]
pub unsafe fn distributed_shared_parts(
    keys: *const u32,
    target: *mut u32,
    bins: u32,
    part: u32,
    n: u32,
) {
    let own = shared::dynamic_shared_mem::<u32>();
    let first = thread::block_idx_y() * part;
    let threads = (thread::index_1d(), thread::grid_dim_x() * THREADS_PER_BLOCK);
    // SAFETY: a bin is counted only when it is in the block's part; barriers separate the steps.
    unsafe {
        clear(own, part);
        thread::sync_threads();
        for_each_bin(keys, n, bins, threads, |bin| {
            let at = bin.wrapping_sub(first);
            if at < part {
                count(own.add(at as usize), 1);
            }
        });
        thread::sync_threads();
        merge(own, target.add(first as usize), part);
    }
}

/// # Safety
/// - 1-D grid of whole clusters of `THREADS_PER_BLOCK` threads per block, with `4 * part` bytes of dynamic shared
///   memory.
/// - `part` is `bins / CLUSTER`, a power of two.
/// - The arrays as for [`distributed_shared_global`].
#[kernel(cluster(CLUSTER))]
pub unsafe fn distributed_shared_cluster(
    keys: *const u32,
    target: *mut u32,
    bins: u32,
    part: u32,
    n: u32,
) {
    let own = shared::dynamic_shared_mem::<u32>();
    let bits = part.trailing_zeros();
    let first = cluster::rank() * part;
    let threads = (thread::index_1d(), thread::grid_dim_x() * THREADS_PER_BLOCK);
    // SAFETY: a bin's block is below CLUSTER, and its place below `part`. All counters of the cluster are zero before any
    // block counts, and no block merges or ends before all have counted.
    unsafe {
        clear(own, part);
        cluster::sync();
        for_each_bin(keys, n, bins, threads, |bin| {
            let place = own.add((bin & (part - 1)) as usize);
            cluster::add_u32(place, bin >> bits, 1);
        });
        cluster::sync();
        merge(own, target.add(first as usize), part);
    }
}

/// Returns the sum of this thread's share of a part of a row, whose `part` keys are at `keys`.
///
/// # Safety
/// - Block: `ROW_THREADS` threads.
/// - Lengths: `keys` valid for `part` u32; 4 divides `part`.
/// - Alignment: `keys` to 16 bytes.
#[inline(always)]
unsafe fn sum_of_thread(keys: *const u32, part: u32) -> u32 {
    let (mut sum, mut i) = (0_u32, thread::thread_idx_x());
    while i < part / KEYS {
        // SAFETY: i < part / KEYS.
        let keys = unsafe { *keys.cast::<U32x4>().add(i as usize) }.to_array();
        sum = keys.into_iter().fold(sum, u32::wrapping_add);
        i += ROW_THREADS;
    }
    sum
}

/// Stores a part of a row with `sum` added to each key.
///
/// # Safety
/// - As for [`sum_of_thread`]; `target` likewise, for writes.
#[inline(always)]
unsafe fn store_with(keys: *const u32, target: *mut u32, part: u32, sum: u32) {
    let mut i = thread::thread_idx_x();
    while i < part / KEYS {
        // SAFETY: i < part / KEYS.
        unsafe {
            let [x, y, z, w] = (*keys.cast::<U32x4>().add(i as usize)).to_array();
            let plus = |key: u32| key.wrapping_add(sum);
            *target.cast::<U32x4>().add(i as usize) =
                U32x4::new(plus(x), plus(y), plus(z), plus(w));
        }
        i += ROW_THREADS;
    }
}

/// Adds up each row: `CLUSTER` blocks in turn have a row.
///
/// # Safety
/// - Grid: 1-D, `CLUSTER` blocks per row.
/// - Block: `ROW_THREADS` threads.
/// - Lengths: `keys` valid for `part` u32 per block, `sums` for a zero per row; 4 divides `part`.
/// - Alignment: `keys` to 16 bytes.
/// - Aliasing: nobody else accesses `sums`.
#[kernel(min_compute_capability = 80)]
pub unsafe fn distributed_shared_sums_of_rows(keys: *const u32, sums: *mut u32, part: u32) {
    let block = thread::block_idx_x();
    // SAFETY: the launch contract; all lanes take part.
    unsafe {
        let sum = sum_of_thread(keys.add(block as usize * part as usize), part);
        let sum = warp_reduce(FULL_MASK, sum, WarpReductionOp::Add);
        if lane_id() == 0 {
            count(sums.add((block / CLUSTER) as usize), sum);
        }
    }
}

/// # Safety
/// - As for [`distributed_shared_sums_of_rows`], after it; `target` valid for as many u32 as `keys`, aligned to 16 bytes, and
///   not overlapping.
#[kernel(min_compute_capability = 80)]
pub unsafe fn distributed_shared_rows_global(
    keys: *const u32,
    target: *mut u32,
    sums: *const u32,
    part: u32,
) {
    let block = thread::block_idx_x();
    let first = block as usize * part as usize;
    // SAFETY: the launch contract.
    unsafe {
        let sum = *sums.add((block / CLUSTER) as usize);
        store_with(keys.add(first), target.add(first), part, sum);
    }
}

/// The shared memory of a block that works on rows, beside its part of one.
#[derive(Clone, Copy)]
struct RowMemory {
    /// Its part has arrived.
    arrived: *mut Barrier,
    /// All sums have arrived.
    summed: *mut Barrier,
    /// The sum of the row.
    sum: *mut u32,
}

/// # Safety
/// - Grid: 1-D, a group of `CLUSTER` blocks for each row in turn, at most `MAX_GROUPS`; the launch is cooperative.
/// - Block: `ROW_THREADS` threads, with `4 * part` bytes of dynamic shared memory.
/// - Lengths: `keys` and `target` valid for `CLUSTER * part` u32 per row; 4 divides `part`.
/// - Alignment: both to 16 bytes.
/// - Aliasing: they do not overlap; one such launch runs at a time.
#[kernel(launch_bounds(ROW_THREADS), min_compute_capability = 90)]
pub unsafe fn distributed_shared_rows_l2(keys: *const u32, target: *mut u32, part: u32, rows: u32) {
    let own = shared::dynamic_shared_mem::<u32>();
    let memory = row_memory();
    let (group, rank) = (thread::block_idx_x() / CLUSTER, thread::block_idx_x() % CLUSTER);
    let groups = thread::grid_dim_x() / CLUSTER;
    let is_first = thread::thread_idx_x() == 0;
    // SAFETY: the launch contract: all blocks of a group run. A block reads the sums of a row when all have been written, and
    // writes one into the same place two rows later, after all have come to the row between. Barriers of the block separate
    // the rows in its own memory.
    unsafe {
        let arrivals = (&raw mut DISTRIBUTED_SHARED_ARRIVALS).cast::<u32>().add(group as usize);
        let arrivals = AtomicU32::from_ptr(arrivals);
        if is_first {
            mbarrier::init(memory.arrived, 1);
            mbarrier::fence_init();
        }
        let (mut row, mut turn) = (group, 0_u32);
        while row < rows {
            let first = (row as usize * CLUSTER as usize + rank as usize) * part as usize;
            if is_first {
                *memory.sum = 0;
                mbarrier::arrive_expect(memory.arrived, 4 * part);
                bulk_copy::global_to_shared(own, keys.add(first), 4 * part, memory.arrived);
            }
            thread::sync_threads();
            mbarrier::wait(memory.arrived, turn % 2);
            let sum = warp_reduce(FULL_MASK, sum_of_thread(own, part), WarpReductionOp::Add);
            if lane_id() == 0 {
                count(memory.sum, sum);
            }
            thread::sync_threads();
            let sums = (&raw mut DISTRIBUTED_SHARED_SUMS).cast::<u32>();
            let sums = sums.add((2 * CLUSTER * group + CLUSTER * (turn % 2)) as usize);
            if is_first {
                *sums.add(rank as usize) = *memory.sum;
                let before = arrivals.fetch_add(1, Release);
                let last = before / CLUSTER * CLUSTER + CLUSTER;
                while arrivals.load(Acquire).wrapping_sub(last).cast_signed() < 0 {
                    thread::nanosleep(POLL_NANOSECONDS);
                }
                let all = (0..CLUSTER)
                    .fold(0_u32, |sum, rank| sum.wrapping_add(*sums.add(rank as usize)));
                *memory.sum = all;
            }
            thread::sync_threads();
            store_with(own, target.add(first), part, *memory.sum);
            thread::sync_threads();
            row += groups;
            turn += 1;
        }
    }
}

/// Returns where a block that works on rows has its barriers and its sum.
#[inline(always)]
fn row_memory() -> RowMemory {
    #[address_space(shared)]
    static mut BARRIERS: MaybeUninit<[Barrier; 2]> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut SUM: MaybeUninit<u32> = MaybeUninit::uninit();
    let barriers = (&raw mut BARRIERS).cast::<Barrier>();
    RowMemory { arrived: barriers, summed: barriers.wrapping_add(1), sum: (&raw mut SUM).cast() }
}

/// # Safety
/// - Grid: 1-D, a cluster for each row.
/// - Block, lengths, alignment: as for [`distributed_shared_rows_l2`].
/// - Aliasing: `keys` and `target` do not overlap.
#[kernel(cluster(CLUSTER), launch_bounds(ROW_THREADS))]
pub unsafe fn distributed_shared_rows_cluster(keys: *const u32, target: *mut u32, part: u32) {
    let own = shared::dynamic_shared_mem::<u32>();
    let RowMemory { arrived, summed, sum } = row_memory();
    let first = thread::block_idx_x() as usize * part as usize;
    // SAFETY: the launch contract. Barriers and sums of the cluster are made before any block adds to them. A block ends
    // when it has what all have sent to it, and nobody waits for an answer to what it sends.
    unsafe {
        if thread::thread_idx_x() == 0 {
            mbarrier::init(arrived, 1);
            mbarrier::init(summed, 1);
            mbarrier::fence_init();
            *sum = 0;
            mbarrier::arrive_expect(summed, 4 * CLUSTER * ROW_WARPS);
            mbarrier::arrive_expect(arrived, 4 * part);
            bulk_copy::global_to_shared(own, keys.add(first), 4 * part, arrived);
        }
        cluster::sync();
        mbarrier::wait(arrived, 0);
        let of_warp = warp_reduce(FULL_MASK, sum_of_thread(own, part), WarpReductionOp::Add);
        if lane_id() < CLUSTER {
            cluster::add_async_u32(sum, lane_id(), of_warp, summed);
        }
        mbarrier::wait_for_cluster(summed, 0);
        store_with(own, target.add(first), part, *sum);
    }
}
