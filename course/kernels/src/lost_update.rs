//! # Even: how many numbers are?
//!
//! The kernel counts the even numbers. Each thread that has one reads the counter, adds 1 and writes it
//! back. The count comes out too small.

#[allow(unused_imports)]
use core::sync::atomic::Ordering::Relaxed;
#[allow(unused_imports)]
use cuda_std::atomic::AtomicU32;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - A thread per number.
/// - `source` holds `n` numbers, `count` one word that begins as 0.
#[kernel]
pub unsafe fn lost_update(source: *const u32, count: *mut u32, n: u32) {
    let i = thread::index_1d();
    // SAFETY: i is checked against n, and there is one counter.
    unsafe {
        if i < n && (*source.add(i as usize)).is_multiple_of(2) {
            // learn: your code
            AtomicU32::from_ptr(count).fetch_add(1, Relaxed);
            // learn: instead
            //| // TODO: what did the other threads do between the read and the write?
            //| *count += 1;
            // learn: end
        }
    }
}
