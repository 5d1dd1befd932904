//! # histogram: the one claim a reader leaves with
//!
//! Shows: what the hardware does, and what it costs.
//!
//! | variant | change from the previous one | load s/r | store s/r | limited by |
//! |---|---|---|---|---|
//! | `naive` | | 4 | 4 | bytes in flight |
//!
//! Expected: how far apart the variants are, and why.
//!
//! Preconditions: none.
//!
//! Source: where the claim comes from.

use cuda_std::prelude::*;

/// Threads per block.
pub const BLOCK: u32 = 256;

/// Naive: lane i touches word i.
///
/// # Safety
/// Launch contract: 1-D grid of `BLOCK` threads covering `n` threads; `source` and `target` valid
/// for `n` f32, not overlapping.
#[kernel]
pub unsafe fn histogram_naive(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n, and both arrays hold n elements (launch contract).
        unsafe { *target.add(i as usize) = *source.add(i as usize) };
    }
}
