//! # Boss: complex numbers
//!
//! Here is what was counted: 8{given sectors per load} sectors per load and per store, each used by half, and twice{given load requests / solved load requests} as many requests
//! as there need be. The kernel squares complex numbers, whose two parts lie side by side. Name the
//! disease, then cure it.

use cuda_std::prelude::*;
#[allow(unused_imports)]
use cuda_std::vector::{F32x2, load, store};

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per number.
/// - Both arrays hold `2 * n` words and are aligned to 8 bytes.
#[kernel]
pub unsafe fn boss_complex(source: *const f32, target: *mut f32, n: u32) {
    let i = thread::index_1d() as usize;
    if i >= n as usize {
        return;
    }
    // learn: your code
    // SAFETY: both parts of number i, at a multiple of 8 bytes.
    let number: F32x2 = unsafe { load(source.add(2 * i)) };
    let (re, im) = (number.x, number.y);
    // learn: instead
    //| // TODO
    //| let re = unsafe { source.add(2 * i).read_volatile() };
    //| let im = unsafe { source.add(2 * i + 1).read_volatile() };
    // learn: end
    let (new_re, new_im) = (re * re - im * im, 2.0 * re * im);
    // learn: your code
    // SAFETY: as above.
    unsafe { store(target.add(2 * i), F32x2::new(new_re, new_im)) };
    // learn: instead
    //| unsafe { target.add(2 * i).write_volatile(new_re) };
    //| unsafe { target.add(2 * i + 1).write_volatile(new_im) };
    // learn: end
}
