//! # Boss: a look into a table
//!
//! Here is what was counted: 12.2{given sectors per load} sectors per load in the mean of two loads, of which one finds all its words in
//! 1024 bytes. The kernel replaces each number by its entry in the table. Name the disease, then cure it.

#[allow(unused_imports)]
use core::mem::MaybeUninit;
use cuda_std::prelude::*;

/// The kernel of this task. Keep its signature.
///
/// # Safety
/// - Blocks of 256, a thread per number.
/// - `table` holds 256 words, the other arrays `n`.
#[kernel]
pub unsafe fn boss_table(source: *const u32, table: *const u32, target: *mut u32, n: u32) {
    let thread = thread::thread_idx_x() as usize;
    let i = thread::index_1d();
    // learn: your code
    #[address_space(shared)]
    static mut OWN: MaybeUninit<[u32; 256]> = MaybeUninit::uninit();
    let own = (&raw mut OWN).cast::<u32>();
    // SAFETY: the thread is below 256, the length of both tables.
    unsafe { *own.add(thread) = *table.add(thread) };
    thread::sync_threads();
    // learn: instead
    //| // TODO
    //| let own = table;
    //| let _ = thread;
    // learn: end
    if i < n {
        // SAFETY: i < n, and the remainder is below 256.
        unsafe { *target.add(i as usize) = *own.add((*source.add(i as usize) % 256) as usize) };
    }
}
