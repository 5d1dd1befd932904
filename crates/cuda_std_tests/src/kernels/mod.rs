//! The kernels, in a module for each module of `cuda_std`.
//!
//! Their launch contract, unless said otherwise: one block of [`THREADS`] threads in x, and buffers
//! of at least as many elements.

pub mod accuracy;
pub mod async_copies;
pub mod atomics;
pub mod blackwell;
pub mod block_peers;
pub mod blocks;
pub mod clusters;
pub mod floats;
pub mod generic;
pub mod groups;
pub mod guide;
pub mod halves;
pub mod heap;
pub mod intrinsics;
pub mod memory;
pub mod misc;
pub mod mma;
pub mod pipelines;
pub mod pointers;
pub mod printing;
pub mod random;
pub mod safe;
pub mod spaces;
pub mod texture;
pub mod thread;
pub mod vectors;
pub mod warp;

/// The threads of a block: two warps.
pub const THREADS: u32 = 64;
