//! The example kernels of `docs/glossary.md`. The glossary shows their source and the counters of the executor.
//!
//! All have the same two parameters and are launched with one block; `tests/glossary.rs` has the launches. After a
//! change, `cargo xtask bless` writes the glossary anew.
// `i % 2 == 0` is what readers of both languages know.
#![allow(clippy::manual_is_multiple_of)]
#![no_std]

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::AtomicU32;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;
use cuda_std::warp::{FULL_MASK, warp_shuffle_down};

/// Each thread copies one element.
///
/// # Safety
/// - Both arrays have an element for each thread.
#[kernel]
pub unsafe fn copy(source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: both arrays have an element for each thread.
    unsafe { *target.add(i) = *source.add(i) };
}

/// As [`copy`], from elements that are 32 bytes apart.
///
/// # Safety
/// - `source` has 8 elements for each thread, `target` one.
#[kernel]
pub unsafe fn copy_strided(source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: `source` has 8 elements for each thread, `target` one.
    unsafe { *target.add(i) = *source.add(8 * i) };
}

/// As [`copy`], from one element further on.
///
/// # Safety
/// - `source` has an element for each thread and one more, `target` one for each thread.
#[kernel]
pub unsafe fn copy_shifted(source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: `source` has one element more than there are threads.
    unsafe { *target.add(i) = *source.add(i + 1) };
}

/// As [`copy`], four elements with one instruction.
///
/// # Safety
/// - Both arrays are 16-byte aligned and have 4 elements for each thread.
#[kernel]
pub unsafe fn copy_vectorized(source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: both arrays are 16-byte aligned and have 4 elements for each thread.
    unsafe { *target.cast::<F32x4>().add(i) = *source.cast::<F32x4>().add(i) };
}

/// As [`copy`], four elements with four instructions.
///
/// # Safety
/// - One block of 32 threads.
/// - Both arrays have 4 elements for each thread.
#[kernel]
pub unsafe fn copy_coarsened(source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    for step in 0..4 {
        // SAFETY: both arrays have 4 elements for each of the 32 threads.
        unsafe { *target.add(32 * step + i) = *source.add(32 * step + i) };
    }
}

/// Only lanes with an even number copy.
///
/// # Safety
/// - As for [`copy`].
#[kernel]
pub unsafe fn copy_even(source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    if i % 2 == 0 {
        // SAFETY: both arrays have an element for each thread.
        unsafe { *target.add(i) = *source.add(i) };
    }
}

/// The block reverses its elements in shared memory.
///
/// # Safety
/// - One block of 64 threads.
/// - Both arrays have 64 elements.
#[kernel]
pub unsafe fn reverse(source: *const f32, target: *mut f32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 64]> = MaybeUninit::uninit();
    let (tile, i) = ((&raw mut TILE).cast::<f32>(), thread::thread_idx_x() as usize);
    // SAFETY: i is below 64; the barrier is between the store of an element and its load.
    unsafe {
        *tile.add(i) = *source.add(i);
        thread::sync_threads();
        *target.add(i) = *tile.add(63 - i);
    }
}

/// Each lane writes and reads a row of a tile, all in one column.
///
/// # Safety
/// - One block of 32 threads.
/// - Both arrays have 32 elements.
#[kernel]
pub unsafe fn column(source: *const f32, target: *mut f32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 32 * 32]> = MaybeUninit::uninit();
    let (tile, row) = ((&raw mut TILE).cast::<f32>(), thread::thread_idx_x() as usize);
    // SAFETY: row is below 32; the barrier is between the store of an element and its load.
    unsafe {
        *tile.add(32 * row) = *source.add(row);
        thread::sync_threads();
        *target.add(row) = *tile.add(32 * (31 - row));
    }
}

/// As `column`, with rows of 33 words.
///
/// # Safety
/// - As for `column`.
#[kernel]
pub unsafe fn column_padded(source: *const f32, target: *mut f32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 32 * 33]> = MaybeUninit::uninit();
    let (tile, row) = ((&raw mut TILE).cast::<f32>(), thread::thread_idx_x() as usize);
    // SAFETY: row is below 32; the barrier is between the store of an element and its load.
    unsafe {
        *tile.add(33 * row) = *source.add(row);
        thread::sync_threads();
        *target.add(row) = *tile.add(33 * (31 - row));
    }
}

/// The warp adds up its elements without memory.
///
/// # Safety
/// - One block of 32 threads.
/// - `source` has 32 elements.
#[kernel]
pub unsafe fn sum(source: *const f32, target: *mut f32) {
    let lane = thread::thread_idx_x() as usize;
    // SAFETY: `source` has 32 elements, `target` has one; all 32 lanes shuffle.
    unsafe {
        let mut total = *source.add(lane);
        for distance in [16, 8, 4, 2, 1] {
            total += warp_shuffle_down(FULL_MASK, total, distance, 32).0;
        }
        if lane == 0 {
            *target = total;
        }
    }
}

/// All lanes add to one counter.
///
/// # Safety
/// - `target` has one word, a zero.
#[kernel]
pub unsafe fn count_shared(_source: *const f32, target: *mut u32) {
    // SAFETY: all threads use the counter by atomics only.
    unsafe { AtomicU32::from_ptr(target) }.fetch_add(1, Relaxed);
}

/// Each lane adds to a counter of its own.
///
/// # Safety
/// - `target` has a word for each thread, all zeros.
#[kernel]
pub unsafe fn count_private(_source: *const f32, target: *mut u32) {
    let i = thread::index_1d() as usize;
    // SAFETY: all threads use the counters by atomics only.
    unsafe { AtomicU32::from_ptr(target.add(i)) }.fetch_add(1, Relaxed);
}

/// An array with an index that only the data knows.
///
/// # Safety
/// - `source` has 8 elements for each thread, `target` one.
#[kernel(uses_local_memory)]
pub unsafe fn pick(source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: `source` has 8 elements for each thread, `target` one.
    unsafe {
        let row: [f32; 8] = *source.cast::<[f32; 8]>().add(i);
        let sums = row.map(|element| element + 1.0);
        *target.add(i) = sums[sums[0] as usize % 8];
    }
}

/// A table in constant memory.
#[address_space(constant)]
pub static mut TABLE: [f32; 32] = [1.0; 32];

/// All lanes read the same word of constant memory.
///
/// # Safety
/// - One block.
/// - `target` has an element for each thread.
#[kernel]
pub unsafe fn constant_uniform(_source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: there are at most 32 blocks, and `target` has an element for each thread.
    unsafe { *target.add(i) = TABLE[thread::block_idx_x() as usize % 32] };
}

/// Each lane reads another word of constant memory.
///
/// # Safety
/// - `target` has an element for each thread.
#[kernel]
pub unsafe fn constant_scattered(_source: *const f32, target: *mut f32) {
    let i = thread::index_1d() as usize;
    // SAFETY: `target` has an element for each thread.
    unsafe { *target.add(i) = TABLE[i % 32] };
}

/// As [`reverse`], and the copy to shared memory is asynchronous.
///
/// # Safety
/// - As for [`reverse`].
#[kernel(min_compute_capability = 80)]
pub unsafe fn reverse_asynchronous(source: *const f32, target: *mut f32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 64]> = MaybeUninit::uninit();
    let (tile, i) = ((&raw mut TILE).cast::<f32>(), thread::thread_idx_x() as usize);
    // SAFETY: i is below 64; the copies have ended before the barrier, the loads come after it.
    unsafe {
        cuda_std::async_copy::copy_4(tile.add(i), source.add(i));
        cuda_std::async_copy::commit_group();
        cuda_std::async_copy::wait_all();
        thread::sync_threads();
        *target.add(i) = *tile.add(63 - i);
    }
}
