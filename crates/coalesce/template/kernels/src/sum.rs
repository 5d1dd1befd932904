//! # sum: the sum of each block's share of an array
//!
//! Shows: what threads tell each other goes through registers and shared memory, not through memory.
//!
//! | variant | change from the previous one | sectors per load |
//! |---|---|---|
//! | `blocks` | a sum per thread, then per warp, then per block | 4 |

use cuda_std::prelude::*;
use cuda_std::safe::{Block, PerBlock};

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;

/// The sum of the elements of each block: those at the indices of its threads, and on by the threads of the grid.
#[kernel(block = THREADS_PER_BLOCK)]
pub fn sum_blocks(x: &[f32], mut block: Block, mut sums: PerBlock<f32>) {
    let threads = (thread::grid_dim_x() * THREADS_PER_BLOCK) as usize;
    let mut sum = 0.0;
    let mut i = thread::index_1d() as usize;
    while i < x.len() {
        sum += x[i];
        i += threads;
    }
    let sum = block.sum(sum);
    if let Some(mine) = sums.mine() {
        *mine = sum;
    }
}
