//! The functions of a block and a warp as `peers/blocks.cu` has them with CUB, to be measured beside them.
//!
//! Each thread loads its items, calls a function `repeats` times, a barrier before each, and stores what came of it.

use super::blocks::ITEMS;
use core::array::from_fn;
use cuda_std::block::{Block, Exchange, Key, Scan, Sort};
use cuda_std::operator::{Add, Operator};
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::warp::{Tile, WarpShuffleValue};
use cuda_std::{kernel, thread};

const N: usize = 256;

/// The place of the block's first item, of `items` for each thread.
#[inline(always)]
fn first(items: usize) -> usize {
    thread::block_idx_x() as usize * N * items
}

#[kernel(T = [u32, f32, f64], launch_bounds(256))]
pub unsafe fn peer_reduce<T: WarpShuffleValue>(source: *const T, target: *mut T, repeats: u32)
where
    Add: Operator<T>,
{
    let block = Block::<N>::new();
    let at = first(1) + block.rank();
    // SAFETY: a launch of 256 threads, with buffers of an item for each and the shared memory; a barrier between two uses.
    unsafe {
        let mut value = *source.add(at);
        for _ in 0..repeats {
            block.sync();
            if let Some(sum) = block.reduce(dynamic_shared_mem(), value, Add) {
                value = sum;
            }
        }
        if block.rank() == 0 {
            *target.add(at) = value;
        }
    }
}

#[kernel(T = [u32, f32, f64], launch_bounds(256))]
pub unsafe fn peer_scan<T: WarpShuffleValue>(source: *const T, target: *mut T, repeats: u32)
where
    Add: Operator<T>,
{
    let block = Block::<N>::new();
    let at = first(1) + block.rank();
    // SAFETY: as for `peer_reduce`.
    unsafe {
        let mut value = *source.add(at);
        for _ in 0..repeats {
            block.sync();
            value = block.inclusive_scan(dynamic_shared_mem::<Scan<T, N>>(), value, Add).0;
        }
        *target.add(at) = value;
    }
}

#[kernel(T = [u32, f32], launch_bounds(256))]
pub unsafe fn peer_scan_items<T>(source: *const T, target: *mut T, repeats: u32)
where
    T: WarpShuffleValue + Default,
    Add: Operator<T>,
{
    let block = Block::<N>::new();
    let at = first(ITEMS) + block.rank();
    // SAFETY: as for `peer_reduce`, with four items for each thread.
    unsafe {
        let mut items: [T; ITEMS] = from_fn(|nth| *source.add(at + nth * N));
        for _ in 0..repeats {
            block.sync();
            let shared = dynamic_shared_mem::<Scan<T, N>>();
            block.exclusive_scan_items(shared, &mut items, T::default(), Add);
        }
        for (nth, item) in items.iter().enumerate() {
            *target.add(at + nth * N) = *item;
        }
    }
}

#[kernel(T = [u32, f64], K = [4, 7, 8], launch_bounds(256))]
pub unsafe fn peer_exchange<T: Copy, const K: usize>(
    source: *const T,
    target: *mut T,
    repeats: u32,
) {
    let block = Block::<N>::new();
    let at = first(K) + block.rank();
    // SAFETY: as for `peer_reduce`, with `K` items for each thread.
    unsafe {
        let mut items: [T; K] = from_fn(|nth| *source.add(at + nth * N));
        for _ in 0..repeats {
            block.sync();
            block.striped_to_blocked(dynamic_shared_mem::<Exchange<T, N, K>>(), &mut items);
        }
        for (nth, item) in items.iter().enumerate() {
            *target.add(at + nth * N) = *item;
        }
    }
}

#[kernel(T = [u32, f32, u64], K = [4, 8], launch_bounds(256))]
pub unsafe fn peer_sort<T: Key, const K: usize>(source: *const T, target: *mut T, repeats: u32) {
    let block = Block::<N>::new();
    let at = first(K) + block.rank();
    let bits = 8 * size_of::<T>() as u32;
    // SAFETY: as for `peer_reduce`, with `K` items for each thread.
    unsafe {
        let mut keys: [T; K] = from_fn(|nth| *source.add(at + nth * N));
        for _ in 0..repeats {
            block.sync();
            block.sort(dynamic_shared_mem::<Sort<T, N, K>>(), &mut keys, 0..bits);
        }
        for (nth, key) in keys.iter().enumerate() {
            *target.add(at + nth * N) = *key;
        }
    }
}

#[kernel(T = [u32], K = [4], launch_bounds(256))]
pub unsafe fn peer_sort_pairs<T: Key, const K: usize>(
    source: *const T,
    target: *mut T,
    repeats: u32,
) {
    let block = Block::<N>::new();
    let at = first(K) + block.rank();
    // SAFETY: as for `peer_reduce`, with `K` items for each thread.
    unsafe {
        let mut keys: [T; K] = from_fn(|nth| *source.add(at + nth * N));
        let mut values = keys;
        for _ in 0..repeats {
            block.sync();
            let shared = dynamic_shared_mem::<Sort<T, N, K>>();
            block.sort_pairs(shared, &mut keys, &mut values, 0..32);
        }
        for (nth, value) in values.iter().enumerate() {
            *target.add(at + nth * N) = *value;
        }
    }
}

#[kernel(launch_bounds(256))]
pub unsafe fn peer_histogram(source: *const u32, target: *mut u32, repeats: u32) {
    let block = Block::<N>::new();
    let at = first(8) + block.rank();
    // SAFETY: as for `peer_reduce`, with eight items for each thread and 256 bins for each block.
    unsafe {
        let items: [u32; 8] = from_fn(|nth| *source.add(at + nth * N) & 255);
        let bins = dynamic_shared_mem::<[u32; 256]>();
        let mut sum = 0_u32;
        for _ in 0..repeats {
            block.sync();
            block.clear_bins(bins);
            block.count(bins, &items);
            sum = sum.wrapping_add(*bins.cast::<u32>().add(block.rank()));
        }
        *target.add(first(1) + block.rank()) = sum;
    }
}

#[kernel(T = [u32, f32], launch_bounds(256))]
pub unsafe fn peer_warp_reduce<T: WarpShuffleValue>(source: *const T, target: *mut T, repeats: u32)
where
    Add: Operator<T>,
{
    let tile = Tile::<32>::new();
    let at = first(1) + thread::thread_idx_x() as usize;
    // SAFETY: as for `peer_reduce`.
    unsafe {
        let mut value = *source.add(at);
        for _ in 0..repeats {
            value = Add.combine(value, tile.reduce_in_order(value, Add));
        }
        if tile.rank() == 0 {
            *target.add(at) = value;
        }
    }
}

#[kernel(T = [u32, f32], launch_bounds(256))]
pub unsafe fn peer_warp_scan<T: WarpShuffleValue>(source: *const T, target: *mut T, repeats: u32)
where
    Add: Operator<T>,
{
    let tile = Tile::<32>::new();
    let at = first(1) + thread::thread_idx_x() as usize;
    // SAFETY: as for `peer_reduce`.
    unsafe {
        let mut value = *source.add(at);
        for _ in 0..repeats {
            value = tile.inclusive_scan(value, Add);
        }
        *target.add(at) = value;
    }
}
