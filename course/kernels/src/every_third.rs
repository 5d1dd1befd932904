//! # Every third: one channel of an image of three
//!
//! Pixels lie as red, green, blue, red, green, blue. The kernel takes the green channel. Each load of
//! a warp spans 12{given sectors per load} sectors and uses a third of them; the rest of these sectors is fetched again by
//! nobody, but each request takes three times as long as it needs.
//!
//! Let the block load its 768 words side by side into the tile in shared memory, as three{solved load requests / solved warps} requests of
//! 4{solved sectors per load} sectors per warp, and pick the green ones from there. 3 and 32 have no common factor: is there a
//! bank conflict?

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per pixel.
/// - `rgb` holds `3 * n` words, `green` holds `n`.
#[kernel]
pub unsafe fn every_third(rgb: *const f32, green: *mut f32, n: u32) {
    let thread = thread::thread_idx_x();
    let first = thread::block_idx_x() * 256;
    let i = first + thread;
    // learn: your code
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[f32; 768]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<f32>();
    for part in 0..3 {
        let word = part * 256 + thread;
        if first * 3 + word < n * 3 {
            // SAFETY: word < 768, and the array holds 3 n words.
            unsafe { *tile.add(word as usize) = *rgb.add((first * 3 + word) as usize) };
        }
    }
    thread::sync_threads();
    if i < n {
        // SAFETY: i < n; the words of all pixels below n are in the tile.
        unsafe { *green.add(i as usize) = *tile.add((3 * thread + 1) as usize) };
    }
    // learn: instead
    //| // TODO: lane 0 wants word 1, lane 1 wants word 4, .. How many sectors do 32 lanes span?
    //| if i < n {
    //|     unsafe { *green.add(i as usize) = *rgb.add((3 * i + 1) as usize) };
    //| }
    // learn: end
}
