//! Messages of blocks through device memory: the owner of each tile, and the sums of tiles.

use super::warps::warp_sum;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::AtomicU64;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_vote_ballot};

/// A state of `look_back`: the tile's own sum is known.
pub const SUM: u32 = 1;
/// A state of `look_back`: the sum of everything up to the tile's end is known.
pub const PREFIX: u32 = 2;

/// Takes one of the `count` tickets of a launch: its lower half is the number of the next tile, its upper half that of
/// this launch.
///
/// # Safety
/// - `tickets` is accessed by this function only, which is called `count` times in each launch.
#[inline(always)]
pub unsafe fn take_ticket(tickets: *mut u64, count: u32) -> u64 {
    // SAFETY: the caller's contract.
    let tickets = unsafe { AtomicU64::from_ptr(tickets) };
    let ticket = tickets.fetch_add(1, Relaxed);
    if ticket as u32 == count - 1 {
        // Nobody is left to take one in this launch.
        tickets.fetch_add((1 << 32) - u64::from(count), Relaxed);
    }
    ticket
}

/// The word that a tile publishes: its state in this launch, and the value that belongs to the state.
#[inline(always)]
pub fn word(launch: u32, state: u32, value: f32) -> u64 {
    u64::from(launch.wrapping_mul(2).wrapping_add(state)) << 32 | u64::from(value.to_bits())
}

/// Looks back: returns, in each lane, the sum of all tiles before `tile`.
///
/// # Safety
/// - `tiles` valid for a word per tile up to this one, accessed by atomics only.
/// - Blocks that run or have ended publish those before.
/// - All lanes of a warp call.
#[inline(always)]
pub unsafe fn look_back(tiles: *mut u64, tile: u32, launch: u32) -> f32 {
    let lane = thread::thread_idx_x() % WARP_SIZE;
    let mut sum = 0.0;
    // The tiles from here on are in `sum`.
    let mut end = tile;
    while end > 0 {
        // Lane 0 has the nearest one. Before the first tile there is nothing.
        let found = if lane < end {
            // SAFETY: end - 1 - lane < tile.
            unsafe { AtomicU64::from_ptr(tiles.add((end - 1 - lane) as usize)) }.load(Relaxed)
        } else {
            word(launch, PREFIX, 0.0)
        };
        // That of an earlier launch is neither: its number is smaller.
        let state = ((found >> 32) as u32).wrapping_sub(launch.wrapping_mul(2));
        // SAFETY: all lanes vote.
        let (prefixes, known) = unsafe {
            (
                warp_vote_ballot(FULL_MASK, state == PREFIX),
                warp_vote_ballot(FULL_MASK, state == PREFIX || state == SUM),
            )
        };
        // The lanes up to the first with a prefix, or all.
        let needed = prefixes ^ prefixes.wrapping_sub(1);
        if known & needed != needed {
            continue;
        }
        if needed >> lane & 1 == 1 {
            sum += f32::from_bits(found as u32);
        }
        if prefixes != 0 {
            break;
        }
        end -= WARP_SIZE;
    }
    // SAFETY: all lanes call.
    unsafe { warp_sum(sum) }
}
