//! # The end: a grid of whole blocks
//!
//! The grid has a thread for every element, rounded up to whole blocks of 256. So the last block may
//! have threads without an element. The results are right, and still the kernel is wrong.
//!
//! Find the line and repair it.

use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per element.
/// - Both arrays hold `n` elements.
#[kernel]
pub unsafe fn guard(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d();
    // learn: your code
    let has_element = i < n;
    // learn: instead
    //| // TODO: which thread is the first without an element?
    //| let has_element = i <= n;
    // learn: end
    if has_element {
        // SAFETY: i is below n, the length of both arrays.
        unsafe { *target.add(i as usize) = 1.0 - *source.add(i as usize) };
    }
}
