//! Races in Rust and their repaired twins: `tests/race_kernels.rs` executes them and says what has to be found.
//!
//! Each pair is one function; `REPAIRED` decides the one thing that differs. A comment `race` marks the accesses that
//! the checker has to name. The same pairs in CUDA C++ are `crates/simt/tests/races/cuda.cu`.
//!
//! The last pair is no race: the tiled matrix product as many tutorials have it, which reads out of bounds.
#![no_std]

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cuda_std::atomic::{AtomicU32, BlockAtomicU32};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, sync_warp, warp_shuffle_xor};
use cuda_std::{async_copy, cluster};

/// Defines a pair: the function, and its broken and its repaired kernel.
macro_rules! pair {
    ($(#[doc = $doc:literal])* $name:ident, $broken:ident, $repaired:ident, |$data:ident, $flag:ident| $body:block) => {
        $(#[doc = $doc])*
        ///
        /// # Safety
        /// - As for its kernels.
        #[inline(always)]
        unsafe fn $name<const REPAIRED: bool>($data: *mut u32, $flag: *mut u32) {
            // SAFETY: both arrays hold 1024 words, and no index here is above 1023. What races is the point of it.
            unsafe { $body }
        }

        /// The pair's broken kernel.
        ///
        /// # Safety
        /// - The grid of the table in `tests/race_kernels.rs`.
        /// - Two arrays of 1024 zeros.
        /// - It races.
        #[kernel(min_compute_capability = 90)]
        pub unsafe fn $broken(data: *mut u32, flag: *mut u32) {
            // SAFETY: the launch contract.
            unsafe { $name::<false>(data, flag) }
        }

        /// The pair's repaired kernel.
        ///
        /// # Safety
        /// - As for the broken one.
        #[kernel(min_compute_capability = 90)]
        pub unsafe fn $repaired(data: *mut u32, flag: *mut u32) {
            // SAFETY: the launch contract.
            unsafe { $name::<true>(data, flag) }
        }
    };
}

/// The atomic number at an address.
///
/// # Safety
/// - `pointer` is valid and aligned.
unsafe fn atomic<'a>(pointer: *mut u32) -> &'a AtomicU32 {
    // SAFETY: the caller's contract.
    unsafe { AtomicU32::from_ptr(pointer) }
}

/// A static of shared memory with so many words, as a pointer.
macro_rules! shared {
    ($words:literal) => {{
        #[address_space(shared)]
        static mut WORDS: MaybeUninit<[u32; $words]> = MaybeUninit::uninit();
        (&raw mut WORDS).cast::<u32>()
    }};
}

pair! {
/// A block hands a word to another by a relaxed flag; the fences are missing.
flag_without_fences, flag_without_fences_broken, flag_without_fences_repaired, |data, flag| {
    if thread::thread_idx_x() != 0 {
        return;
    }
    if thread::block_idx_x() == 0 {
        *data = 7; // race
        if REPAIRED {
            thread::device_fence();
        }
        atomic(flag).store(1, Relaxed);
    } else {
        while atomic(flag).load(Relaxed) == 0 {}
        if REPAIRED {
            thread::device_fence();
        }
        *data.add(64) = *data; // race
    }
}}

pair! {
/// The same by release and acquire, or by neither.
relaxed_flag, relaxed_flag_broken, relaxed_flag_repaired, |data, flag| {
    if thread::thread_idx_x() != 0 {
        return;
    }
    if thread::block_idx_x() == 0 {
        *data = 7; // race
        atomic(flag).store(1, if REPAIRED { Release } else { Relaxed });
    } else {
        while atomic(flag).load(if REPAIRED { Acquire } else { Relaxed }) == 0 {}
        *data.add(64) = *data; // race
    }
}}

pair! {
/// Release and acquire in the scope of a block do not reach another block.
narrow_scope, narrow_scope_broken, narrow_scope_repaired, |data, flag| {
    if thread::thread_idx_x() != 0 {
        return;
    }
    let narrow = BlockAtomicU32::from_ptr(flag);
    if thread::block_idx_x() == 0 {
        *data = 7; // race
        if REPAIRED { atomic(flag).store(1, Release) } else { narrow.store(1, Release) } // race
    } else {
        while (if REPAIRED { atomic(flag).load(Acquire) } else { narrow.load(Acquire) }) == 0 {} // race
        *data.add(64) = *data; // race
    }
}}

pair! {
/// The last block to arrive sums what all wrote. The ticket of `core` is relaxed whatever it is asked for.
last_block, last_block_broken, last_block_repaired, |data, flag| {
    if thread::thread_idx_x() != 0 {
        return;
    }
    let block = thread::block_idx_x();
    *data.add(block as usize) = block + 1; // race
    let ticket = if REPAIRED {
        atomic(flag).fetch_add(1, AcqRel)
    } else {
        core::sync::atomic::AtomicU32::from_ptr(flag).fetch_add(1, Relaxed)
    };
    if ticket != thread::grid_dim_x() - 1 {
        return;
    }
    let mut sum = 0;
    for other in 0..thread::grid_dim_x() {
        sum += *data.add(other as usize); // race
    }
    *data.add(64) = sum;
}}

pair! {
/// Other warps read a tile than those that filled it.
tile_without_barrier, tile_without_barrier_broken, tile_without_barrier_repaired, |data, _flag| {
    let (tile, i) = (shared!(128), thread::thread_idx_x() as usize);
    *tile.add(i) = *data.add(i); // race
    if REPAIRED {
        thread::sync_threads();
    }
    *data.add(256 + i) = *tile.add(127 - i); // race
}}

pair! {
/// The tile is filled again while slower warps still read it.
tile_filled_again, tile_filled_again_broken, tile_filled_again_repaired, |data, _flag| {
    let (tile, i) = (shared!(128), thread::thread_idx_x() as usize);
    let mut sum = 0;
    for round in 0..3 {
        *tile.add(i) = *data.add(128 * round + i); // race
        thread::sync_threads();
        sum += *tile.add(127 - i); // race
        if REPAIRED {
            thread::sync_threads();
        }
    }
    *data.add(512 + i) = sum;
}}

pair! {
/// The last steps of a reduction within a warp, as taught before Volta.
warp_synchronous, warp_synchronous_broken, warp_synchronous_repaired, |data, _flag| {
    let (sums, i) = (shared!(64), thread::thread_idx_x() as usize);
    *sums.add(i) = *data.add(i);
    sync_warp(FULL_MASK);
    let mut step = 16;
    while step > 0 {
        let mut other = 0;
        if i < step {
            other = *sums.add(i + step); // race
        }
        if REPAIRED {
            sync_warp(FULL_MASK);
        }
        if i < step {
            *sums.add(i) += other; // race
        }
        if REPAIRED {
            sync_warp(FULL_MASK);
        }
        step /= 2;
    }
    if i == 0 {
        *data.add(64) = *sums;
    }
}}

pair! {
/// A shuffle makes lanes meet, and orders no memory.
shuffle_is_no_barrier, shuffle_is_no_barrier_broken, shuffle_is_no_barrier_repaired, |data, _flag| {
    let (words, i) = (shared!(32), thread::thread_idx_x());
    *words.add(i as usize) = i; // race
    let (lane, _) = warp_shuffle_xor(FULL_MASK, i, 1, 32);
    if REPAIRED {
        sync_warp(FULL_MASK);
    }
    *data.add(i as usize) = *words.add(lane as usize); // race
}}

pair! {
/// Counting without atomics.
global_histogram, global_histogram_broken, global_histogram_repaired, |data, _flag| {
    let bin = data.add(thread::thread_idx_x() as usize % 4);
    if REPAIRED {
        atomic(bin).fetch_add(1, Relaxed);
    } else {
        *bin += 1; // race
    }
}}

pair! {
/// A lock that neither acquires nor releases.
lock_without_order, lock_without_order_broken, lock_without_order_repaired, |data, flag| {
    if thread::thread_idx_x() != 0 {
        return;
    }
    let (acquire, release) = if REPAIRED { (Acquire, Release) } else { (Relaxed, Relaxed) };
    while atomic(flag).compare_exchange(0, 1, acquire, Relaxed).is_err() {}
    *data += 1; // race
    atomic(flag).store(0, release);
}}

pair! {
/// A stencil in place: different blocks read and write neighbours.
stencil_in_place, stencil_in_place_broken, stencil_in_place_repaired, |data, _flag| {
    let i = thread::index_1d() as usize;
    let target = if REPAIRED { data.add(512) } else { data };
    let next = *data.add(i + 1); // race
    *target.add(i) = next + 1; // race
}}

pair! {
/// The blocks of a cluster read each other's shared memory.
cluster_without_barrier, cluster_without_barrier_broken, cluster_without_barrier_repaired, |data, _flag| {
    let (words, i) = (shared!(32), thread::thread_idx_x());
    *words.add(i as usize) = i; // race
    if REPAIRED {
        cluster::sync();
    }
    let theirs = cluster::map_shared_rank(words, (thread::block_idx_x() % 2) ^ 1);
    *data.add((64 * thread::block_idx_x() + i) as usize) = *theirs.add(i as usize); // race
    cluster::sync();
}}

pair! {
/// Those who did not start an asynchronous copy do not wait for it.
copy_without_barrier, copy_without_barrier_broken, copy_without_barrier_repaired, |data, _flag| {
    let (tile, i) = (shared!(64), thread::thread_idx_x() as usize);
    async_copy::copy_4(tile.add(i), data.add(i).cast_const()); // race
    async_copy::wait_all();
    if REPAIRED {
        thread::sync_threads();
    }
    *data.add(256 + i) = *tile.add(63 - i); // race
}}

pair! {
/// All blocks add to one word; a plain sum loses most of them.
sum_of_all_blocks, sum_of_all_blocks_broken, sum_of_all_blocks_repaired, |data, _flag| {
    if thread::thread_idx_x() != 0 {
        return;
    }
    if REPAIRED {
        atomic(data).fetch_add(thread::block_idx_x() + 1, Relaxed);
    } else {
        *data += thread::block_idx_x() + 1; // race
    }
}}

pair! {
/// All threads store to one word, each its own value: only whichever is last counts.
one_word_by_all, one_word_by_all_broken, one_word_by_all_repaired, |data, _flag| {
    if REPAIRED && thread::thread_idx_x() != 0 {
        return;
    }
    *data = thread::thread_idx_x() / 32 + 1; // race
}}

pair! {
/// A block stores the first value of a sum to which the others add at once.
first_value_by_a_block, first_value_by_a_block_broken, first_value_by_a_block_repaired, |data, _flag| {
    if thread::thread_idx_x() != 0 {
        return;
    }
    if !REPAIRED && thread::block_idx_x() == 0 {
        *data = 0; // race
    }
    atomic(data).fetch_add(1, Relaxed); // race
}}

/// Rows and columns of a tile of [`tiled_product_unguarded`], and the threads of a block in x and y.
pub const TILE: u32 = 16;

/// A widespread form of the tiled product of m x k by k x n words: `GUARDED` decides whether loads are guarded, or the
/// store alone.
///
/// # Safety
/// - As for its kernels.
#[inline(always)]
unsafe fn tiled_product<const GUARDED: bool>(
    (a, b, c): (*const u32, *const u32, *mut u32),
    (m, n, k): (u32, u32, u32),
) {
    let (left, right) = (shared!(256), shared!(256));
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (column, row) = (thread::index_2d().x, thread::index_2d().y);
    let own = (y * TILE + x) as usize;
    let mut sum = 0;
    // SAFETY: `own` and the words of a step are in the tiles; each is read between the two barriers that follow its
    // store. That loads without guards leave the matrices is the point of it.
    unsafe {
        for first in (0..k).step_by(TILE as usize) {
            let is_left = !GUARDED || (row < m && first + x < k);
            let is_right = !GUARDED || (first + y < k && column < n);
            *left.add(own) = if is_left {
                *a.add((row * k + first + x) as usize) // out of bounds
            } else {
                0
            };
            *right.add(own) = if is_right {
                *b.add(((first + y) * n + column) as usize) // out of bounds
            } else {
                0
            };
            thread::sync_threads();
            for step in 0..TILE {
                sum +=
                    *left.add((y * TILE + step) as usize) * *right.add((step * TILE + x) as usize);
            }
            thread::sync_threads();
        }
        if row < m && column < n {
            *c.add((row * n + column) as usize) = sum;
        }
    }
}

/// Guards the store alone: right only where tiles divide all three sizes.
///
/// # Safety
/// - Blocks of `TILE` x `TILE` threads that cover n in x and m in y.
/// - Three matrices of their sizes.
/// - At other sizes than multiples of `TILE` it reads out of bounds.
#[kernel]
pub unsafe fn tiled_product_unguarded(
    a: *const u32,
    b: *const u32,
    c: *mut u32,
    m: u32,
    n: u32,
    k: u32,
) {
    // SAFETY: the launch contract.
    unsafe { tiled_product::<false>((a, b, c), (m, n, k)) }
}

/// Guards the loads, too.
///
/// # Safety
/// - As for the other one, at any size.
#[kernel]
pub unsafe fn tiled_product_guarded(
    a: *const u32,
    b: *const u32,
    c: *mut u32,
    m: u32,
    n: u32,
    k: u32,
) {
    // SAFETY: the launch contract.
    unsafe { tiled_product::<true>((a, b, c), (m, n, k)) }
}
