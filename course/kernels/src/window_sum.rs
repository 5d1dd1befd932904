//! # Window: nine loads for one result
//!
//! Each result is the sum of 9 neighbouring numbers. Each thread loads its 9 from global memory, so every
//! number is loaded nine times, by nine different lanes.
//!
//! Let the block load its 256 numbers, and 4 more on either side, into shared memory once.

#[allow(unused_imports)]
use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per number.
/// - Both arrays hold `n` numbers.
#[kernel]
pub unsafe fn window_sum(source: *const u32, target: *mut u32, n: u32) {
    let thread = thread::thread_idx_x();
    let i = thread::index_1d();
    let mut sum = 0_u32;
    // learn: your code
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; 264]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    let mut word = thread;
    while word < 264 {
        // Numbers before the first wrap around and are not below n.
        let from = (i - thread + word).wrapping_sub(4);
        // SAFETY: the word is below 264, and the number is checked against n.
        unsafe { *tile.add(word as usize) = if from < n { *source.add(from as usize) } else { 0 } };
        word += 256;
    }
    thread::sync_threads();
    for word in 0..9 {
        // SAFETY: thread + 8 < 264, and all words were written before the barrier.
        sum = sum.wrapping_add(unsafe { *tile.add((thread + word) as usize) });
    }
    // learn: instead
    //| // TODO: how often is each number loaded?
    //| for word in 0..9 {
    //|     let from = (i + word).wrapping_sub(4);
    //|     if from < n {
    //|         sum = sum.wrapping_add(unsafe { *source.add(from as usize) });
    //|     }
    //| }
    //| let _ = thread;
    // learn: end
    if i < n {
        // SAFETY: i < n.
        unsafe { *target.add(i as usize) = sum };
    }
}
