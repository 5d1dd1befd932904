//! # Tiles of a product: load once, use sixteen times
//!
//! `c = a * b` for square matrices. Each thread computes one element and walks a row of `a` and a
//! column of `b` in global memory. The 16 x 16 threads of a block need the same 16 rows and columns,
//! and every one of them loads them anew.
//!
//! Let the block stage a 16 x 16 tile of `a` and one of `b` in shared memory, multiply these, and go on
//! with the next pair. Each element is then loaded once per block. Two{solved barriers, per warp / solved warps / 4} barriers per pair: one before
//! the tiles are read, one before they are overwritten.

use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 16 x 16 that cover the matrix.
/// - The matrices hold `n * n` elements.
#[kernel]
pub unsafe fn matmul_tile(a: *const f32, b: *const f32, c: *mut f32, n: u32) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, column) = (thread::block_idx_y() * 16 + y, thread::block_idx_x() * 16 + x);
    let mut sum = 0.0;
    // learn: your code
    #[address_space(shared)]
    static mut A: MaybeUninit<[f32; 256]> = MaybeUninit::uninit();
    #[address_space(shared)]
    static mut B: MaybeUninit<[f32; 256]> = MaybeUninit::uninit();
    let (tile_a, tile_b) = ((&raw mut A).cast::<f32>(), (&raw mut B).cast::<f32>());
    let mut first = 0;
    while first < n {
        // SAFETY: indices are checked against n; words of the tiles are below 256 and written before they are read.
        unsafe {
            let own = (y * 16 + x) as usize;
            let from_a = row < n && first + x < n;
            let from_b = first + y < n && column < n;
            *tile_a.add(own) = if from_a { *a.add((row * n + first + x) as usize) } else { 0.0 };
            *tile_b.add(own) =
                if from_b { *b.add(((first + y) * n + column) as usize) } else { 0.0 };
            thread::sync_threads();
            for k in 0..16 {
                sum += *tile_a.add((y * 16 + k) as usize) * *tile_b.add((k * 16 + x) as usize);
            }
            thread::sync_threads();
        }
        first += 16;
    }
    // learn: instead
    //| // TODO: how often is each element of `a` loaded by this block?
    //| if row < n && column < n {
    //|     for k in 0..n {
    //|         unsafe { sum += *a.add((row * n + k) as usize) * *b.add((k * n + column) as usize) };
    //|     }
    //| }
    // learn: end
    if row < n && column < n {
        // SAFETY: the element is inside the matrix.
        unsafe { *c.add((row * n + column) as usize) = sum };
    }
}
