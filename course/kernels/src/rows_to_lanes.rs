//! # Rows to lanes: which pixels do the 32 lanes of a warp take?
//!
//! The kernel doubles every pixel of an image that lies in memory row by row. It is correct. But
//! neighbouring lanes take neighbouring rows, so the 32 addresses of one load are `width` pixels
//! apart, and each lane makes the memory move a whole sector of 32 bytes for its 4.
//!
//! Make neighbouring lanes take neighbouring pixels. The goal is 4{solved sectors per load} sectors per load and per store.

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
    let (row, column) = (pixel / width, pixel % width);
    // learn: instead
    //| // TODO: lane 0 takes row 0, lane 1 takes row 1, .. Which sectors do they touch?
    //| let (row, column) = (pixel % height, pixel / height);
    // learn: end
    let at = (row * width + column) as usize;
    // SAFETY: row < height and column < width, and both arrays hold width * height pixels.
    unsafe { *target.add(at) = 2.0 * *source.add(at) };
}
