//! # Columns first: who walks down?
//!
//! The kernel doubles every pixel, and each warp walks down a column. Let it walk along a row.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per pixel.
/// - Both arrays hold `width * height` pixels.
#[kernel]
pub unsafe fn rows_to_lanes(source: *const f32, target: *mut f32, width: u32, height: u32) {
    let pixel = thread::index_1d();
    if pixel >= width * height {
        return;
    }
    // learn: your code
    let at = pixel as usize;
    // learn: instead
    //| let at = (pixel % height * width + pixel / height) as usize;
    // learn: end
    // SAFETY: there is a pixel for each of these indices.
    unsafe { *target.add(at) = 2.0 * *source.add(at) };
}
