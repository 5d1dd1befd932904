//! # Stored and loaded: three times a number, and one
//!
//! Each thread stores three times its number, and a moment later loads it again to add 1. It loads through
//! the read-only path (`ld.global.nc`, `__ldg` in CUDA C++), because that path is said to be the faster one.

#[allow(unused_imports)]
use cuda_std::memory;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per element.
/// - `data` holds `n` numbers.
#[kernel]
pub unsafe fn read_only_lie(data: *mut u32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        // SAFETY: i < n.
        unsafe {
            let at = data.add(i as usize);
            *at = 3 * i;
            // learn: your code
            let own = *at;
            // learn: instead
            //| // TODO: what does this load find?
            //| let own: u32 = memory::load_nc(at.cast_const());
            // learn: end
            *at = own + 1;
        }
    }
}
