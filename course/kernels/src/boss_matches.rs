//! # Boss: how many match?
//!
//! Here is what was counted: 4{given sectors per load} sectors per load, and for each warp a shared atomic and two{given barriers, per warp / given warps} barriers, where one{solved barriers, per warp / solved warps}
//! counting barrier would do. For each block of 256 numbers the kernel counts those above 0. Name the disease,
//! then cure it. The block can count in a way that needs no atomic at all: look at what `cuda_std::thread` has
//! besides `sync_threads`.

#[allow(unused_imports)]
use core::mem::MaybeUninit;
#[allow(unused_imports)]
use core::sync::atomic::Ordering::Relaxed;
#[allow(unused_imports)]
use cuda_std::atomic::BlockAtomicU32;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per number.
/// - `source` holds `n` numbers, `target` one word for each block.
#[kernel]
pub unsafe fn boss_matches(source: *const f32, target: *mut u32, n: u32) {
    let i = thread::index_1d();
    // SAFETY: i is checked against n, and there is a word for each block.
    unsafe {
        let is_match = i < n && *source.add(i as usize) > 0.0;
        // learn: your code
        let count = thread::sync_threads_count(u32::from(is_match));
        // learn: instead
        //| // TODO
        //| #[address_space(shared)]
        //| static mut COUNT: MaybeUninit<u32> = MaybeUninit::uninit();
        //| let counter = (&raw mut COUNT).cast::<u32>();
        //| if thread::thread_idx_x() == 0 {
        //|     *counter = 0;
        //| }
        //| thread::sync_threads();
        //| if is_match {
        //|     BlockAtomicU32::from_ptr(counter).fetch_add(1, Relaxed);
        //| }
        //| thread::sync_threads();
        //| let count = *counter;
        // learn: end
        if thread::thread_idx_x() == 0 {
            *target.add(thread::block_idx_x() as usize) = count;
        }
    }
}
