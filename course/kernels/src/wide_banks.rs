//! # Wide banks: 16 bytes per lane in shared memory
//!
//! Nothing is to be repaired here. Read the kernel and put your answers into this file.
//!
//! Each lane stores and loads 16 bytes. A wavefront brings at most one word of 4 bytes from each of the
//! 32 banks.
//!
//! 1. How many wavefronts does a load of the warp take?
//! 2. How many bank conflicts are there: wavefronts beyond what the bytes alone make necessary?

use core::mem::MaybeUninit;
use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

// learn: your code
// answer 1: 4
// answer 2: 0
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
// learn: end

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 32, a thread per element.
/// - `target` holds `n` words.
#[kernel]
pub unsafe fn wide_banks(target: *mut f32, n: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[F32x4; 32]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<F32x4>();
    let thread = thread::thread_idx_x();
    let i = thread::index_1d();
    // SAFETY: the thread is below 32; i is checked against n.
    unsafe {
        *tile.add(thread as usize) = F32x4::splat(thread as f32);
        thread::sync_threads();
        let other = *tile.add(31 - thread as usize);
        if i < n {
            *target.add(i as usize) = other.x + other.y + other.z + other.w;
        }
    }
}
