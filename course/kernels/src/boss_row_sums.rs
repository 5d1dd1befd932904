//! # Boss: the sums of rows
//!
//! Here is what was counted: 4{given sectors per load} sectors per load, 1{given wavefronts per shared store} wavefront per shared store, 32{given wavefronts per shared load} wavefronts per shared load.
//! The kernel sums the rows of a matrix of 32 columns. Name the disease, then cure it. The block has 4096{solved bytes of shared memory}
//! bytes of shared memory and not one more.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 32, a thread per row.
/// - `source` holds `32 * n` numbers, `target` holds `n`.
#[kernel]
pub unsafe fn boss_row_sums(source: *const u32, target: *mut u32, n: u32) {
    #[address_space(shared)]
    static mut TILE: MaybeUninit<[u32; 1024]> = MaybeUninit::uninit();
    let tile = (&raw mut TILE).cast::<u32>();
    let lane = thread::thread_idx_x();
    let first = thread::block_idx_x() * 32;
    let mut sum = 0_u32;
    // SAFETY: words of the tile are below 1024; rows are checked against n.
    unsafe {
        for row in 0..32 {
            let value =
                if first + row < n { *source.add(((first + row) * 32 + lane) as usize) } else { 0 };
            *tile.add((row * 32 + lane) as usize) = value;
        }
        thread::sync_threads();
        for step in 0..32 {
            // learn: your code
            let column = (step + lane) % 32;
            // learn: instead
            //| // TODO
            //| let column = step;
            // learn: end
            sum = sum.wrapping_add(*tile.add((lane * 32 + column) as usize));
        }
        if first + lane < n {
            *target.add((first + lane) as usize) = sum;
        }
    }
}
