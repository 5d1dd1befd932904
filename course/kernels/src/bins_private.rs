//! # Private bins: count near, add up far
//!
//! The kernel counts how often each byte occurs. 16 blocks share 256 counters in global memory, and
//! every byte is an atomic addition there: as many atomics as bytes.
//!
//! Give each block 256 counters of its own in shared memory. At the end it adds them to the global
//! ones, which takes 256{solved global atomics / solved blocks} atomics per block, however long the text is.

#[allow(unused_imports)]
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::Relaxed;
#[allow(unused_imports)]
use cuda_std::atomic::{AtomicU32, BlockAtomicU32};
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256.
/// - `text` holds `n` bytes, `bins` 256 counters that begin as 0.
#[kernel]
pub unsafe fn bins_private(text: *const u8, bins: *mut u32, n: u32) {
    let threads = thread::grid_dim_x() * 256;
    // learn: your code
    #[address_space(shared)]
    static mut OWN: MaybeUninit<[u32; 256]> = MaybeUninit::uninit();
    let own = (&raw mut OWN).cast::<u32>();
    let thread = thread::thread_idx_x() as usize;
    // SAFETY: a byte is below 256, as the thread is, and so are the counters of both arrays; i < n.
    unsafe {
        *own.add(thread) = 0;
        thread::sync_threads();
        let mut i = thread::index_1d();
        while i < n {
            let byte = *text.add(i as usize) as usize;
            BlockAtomicU32::from_ptr(own.add(byte)).fetch_add(1, Relaxed);
            i += threads;
        }
        thread::sync_threads();
        AtomicU32::from_ptr(bins.add(thread)).fetch_add(*own.add(thread), Relaxed);
    }
    // learn: instead
    //| // TODO: how many atomics reach global memory?
    //| let mut i = thread::index_1d();
    //| while i < n {
    //|     unsafe {
    //|         let byte = *text.add(i as usize) as usize;
    //|         AtomicU32::from_ptr(bins.add(byte)).fetch_add(1, Relaxed);
    //|     }
    //|     i += threads;
    //| }
    // learn: end
}
