//! # The last five levels: 32 lanes at work
//!
//! Each block sums 256 numbers. While more than one warp is at work there is a barrier in each level. The
//! last levels have none, because "a warp needs no barrier: its 32 lanes run in lockstep".
//!
//! A block barrier more is not what it takes.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
#[allow(unused_imports)]
use cuda_std::warp::{FULL_MASK, sync_warp};

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256.
/// - `source` holds `n` numbers, `target` one for each block.
#[kernel]
pub unsafe fn lockstep(source: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; 256]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    let thread = thread::thread_idx_x() as usize;
    let i = thread::index_1d();
    // SAFETY: words of the tile are below 256; i is checked against n.
    unsafe {
        *tile.add(thread) = if i < n { *source.add(i as usize) } else { 0 };
        thread::sync_threads();
        for half in [128, 64, 32] {
            if thread < half {
                *tile.add(thread) = (*tile.add(thread)).wrapping_add(*tile.add(thread + half));
            }
            thread::sync_threads();
        }
        if thread < 32 {
            for half in [16, 8, 4, 2, 1] {
                let sum = (*tile.add(thread)).wrapping_add(*tile.add(thread + half));
                // learn: your code
                sync_warp(FULL_MASK);
                *tile.add(thread) = sum;
                sync_warp(FULL_MASK);
                // learn: instead
                //| // TODO: lane 0 reads a word that lane 16 writes. Which comes first?
                //| *tile.add(thread) = sum;
                // learn: end
            }
        }
        if thread == 0 {
            *target.add(thread::block_idx_x() as usize) = *tile;
        }
    }
}
