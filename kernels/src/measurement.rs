//! Kernels that measure the machine itself: not a pattern, but what patterns are held against.

use cuda_std::prelude::*;
use cuda_std::vector::F32x4;

/// Threads per block.
pub const BLOCK: u32 = 256;

/// Reads `quads` 16-byte words. Nothing is written unless their sum is infinite, which finite
/// inputs cannot bring about: the store only keeps the loads alive.
///
/// Used to replace what the L2 cache holds by clean lines of another buffer.
///
/// # Safety
/// Launch contract: 1-D grid of `BLOCK` threads; `source` 16-byte aligned and valid for `quads`
/// F32x4, `target` for one f32.
#[kernel]
pub unsafe fn measurement_read(source: *const F32x4, target: *mut f32, quads: u32) {
    let step = thread::grid_dim_x() * BLOCK;
    let mut sum = F32x4::splat(0.0);
    let mut i = thread::index_1d();
    while i < quads {
        // SAFETY: i < quads, the length of the array (launch contract).
        sum += unsafe { *source.add(i as usize) };
        i += step;
    }
    let total = sum.x + sum.y + sum.z + sum.w;
    if total == f32::INFINITY {
        // SAFETY: `target` holds one element (launch contract).
        unsafe { *target = total };
    }
}

/// Loads of [`measurement_reread`] that are under way at once.
pub const IN_FLIGHT: u32 = 4;

/// Reads `IN_FLIGHT * passes` 16-byte words per thread, all threads side by side through `quads` of them and from their
/// start again. Nothing is written, as in [`measurement_read`].
///
/// Shows the rate of a cache that holds them, when no nearer one does.
///
/// # Safety
/// Launch contract: 1-D grid of `BLOCK` threads; `quads` is a power of two; `source` 16-byte aligned and valid for
/// `quads` F32x4, `target` for one f32.
#[kernel]
pub unsafe fn measurement_reread(source: *const F32x4, target: *mut f32, quads: u32, passes: u32) {
    let step = thread::grid_dim_x() * BLOCK;
    let mut sum = F32x4::splat(0.0);
    let mut i = thread::index_1d();
    for _ in 0..passes {
        let load = |number: u32| {
            let at = i.wrapping_add(number * step) & (quads - 1);
            // SAFETY: at < quads, the length of the array (launch contract).
            unsafe { *source.add(at as usize) }
        };
        let (a, b, c, d) = (load(0), load(1), load(2), load(3));
        sum += a;
        sum += b;
        sum += c;
        sum += d;
        i = i.wrapping_add(IN_FLIGHT * step);
    }
    let total = sum.x + sum.y + sum.z + sum.w;
    if total == f32::INFINITY {
        // SAFETY: `target` holds one element (launch contract).
        unsafe { *target = total };
    }
}
