//! # Stride and banks: 32 lanes in shared memory
//!
//! Nothing is to be repaired here. Read the kernel and put your answers into this file.
//!
//! Word `w` of shared memory lies in bank `w % 32`. A bank gives one word per wavefront. Lane `l` reads
//! word `l * stride`.
//!
//! How many wavefronts does the load take
//!
//! 1. if `stride` is 1?
//! 2. if it is 2?
//! 3. if it is 3?
//! 4. if it is 32?
//! 5. if it is 33?

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

// learn: your code
// answer 1: 1
// answer 2: 2
// answer 3: 1
// answer 4: 32
// answer 5: 1
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
//| // answer 3: ?
//| // answer 4: ?
//| // answer 5: ?
// learn: end

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 32, a thread per element.
/// - `stride` is at most 33.
/// - `target` holds `n` words.
#[kernel]
pub unsafe fn stride_banks(target: *mut u32, n: u32, stride: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; 1056]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    let thread = thread::thread_idx_x();
    let i = thread::index_1d();
    // SAFETY: words are below 1056, as 31 * 33 is.
    unsafe {
        for row in 0..33 {
            *tile.add((32 * row + thread) as usize) = 32 * row + thread;
        }
        thread::sync_threads();
        if i < n {
            *target.add(i as usize) = *tile.add((thread * stride) as usize);
        }
    }
}
