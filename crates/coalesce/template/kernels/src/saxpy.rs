//! # saxpy: z = a x + y
//!
//! Shows: each element is read and written once, by lanes that are neighbours.
//!
//! | variant | change from the previous one | sectors per load | sectors per store |
//! |---|---|---|---|
//! | `coalesced` | lane i touches element i | 4 | 4 |

use cuda_std::prelude::*;
use cuda_std::safe::PerThread;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;

/// z = a x + y, an element per thread.
#[kernel(block = THREADS_PER_BLOCK, same_length(x, y, z))]
pub fn saxpy_coalesced(a: f32, x: &[f32], y: &[f32], mut z: PerThread<f32>) {
    let i = z.index();
    if let Some(z) = z.mine() {
        *z = a * x[i] + y[i];
    }
}
