//! # saxpy: z = a x + y
//!
//! Shows: a warp whose lanes are far apart moves eight times the sectors that it needs.
//!
//! | variant | change from the previous one | sectors per load | sectors per store |
//! |---|---|---|---|
//! | `strided` | the lanes of a warp are n / 32 elements apart | 32 | 32 |
//! | `coalesced` | lane i touches element i | 4 | 4 |

use cuda_std::kernel::ByValue;
use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Threads per block.
pub const THREADS_PER_BLOCK: u32 = 256;

/// What every thread needs to know.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Parameters {
    /// The factor of x.
    pub a: f32,
    /// The elements of x, y and z.
    pub n: u32,
}

// SAFETY: `repr(C)`, and both fields are `ByValue`.
unsafe impl ByValue for Parameters {}

/// Naive: the lanes of a warp are n / 32 elements apart.
///
/// # Safety
/// Launch contract: a grid of `THREADS_PER_BLOCK` threads per block covers `32 * ceil(n / 32)` threads; `x`, `y` and `z`
/// have n elements, and `z` overlaps neither `x` nor `y`.
#[kernel]
pub unsafe fn saxpy_strided(x: *const f32, y: *const f32, z: *mut f32, parameters: Parameters) {
    let (warp, lane) = (thread::index_1d() / WARP_SIZE, thread::index_1d() % WARP_SIZE);
    let rows = parameters.n.div_ceil(WARP_SIZE);
    if warp < rows {
        // SAFETY: the arrays have n elements, and no other thread has this index (launch contract).
        unsafe { element(x, y, z, parameters, lane * rows + warp) };
    }
}

/// Change from `strided`: lane i touches element i.
///
/// # Safety
/// Launch contract: as for [`saxpy_strided`].
#[kernel]
pub unsafe fn saxpy_coalesced(x: *const f32, y: *const f32, z: *mut f32, parameters: Parameters) {
    // SAFETY: the arrays have n elements, and no other thread has this index (launch contract).
    unsafe { element(x, y, z, parameters, thread::index_1d()) };
}

/// Computes one element, if there is one.
///
/// # Safety
/// The arrays have `parameters.n` elements, and no other thread has the same index.
unsafe fn element(x: *const f32, y: *const f32, z: *mut f32, parameters: Parameters, index: u32) {
    if index < parameters.n {
        let i = index as usize;
        // SAFETY: i < n, and the arrays have n elements (by the caller's contract).
        unsafe { *z.add(i) = parameters.a * *x.add(i) + *y.add(i) };
    }
}
