//! The code of the guide's page on inline PTX, which nothing but the device compiles; a test compares the two.

#[cfg(target_arch = "nvptx64")]
use cuda_std::prelude::*;

/// The number of the multiprocessor that runs the thread.
#[cfg(target_arch = "nvptx64")]
fn multiprocessor() -> u32 {
    let number: u32;
    // SAFETY: reads a special register.
    unsafe {
        core::arch::asm!("mov.u32 {0}, %smid;", out(reg32) number, options(pure, nomem, nostack))
    };
    number
}

/// Stores what the page computes.
#[cfg(target_arch = "nvptx64")]
#[kernel]
pub unsafe fn guide_multiprocessor(target: *mut u32) {
    // SAFETY: the launch contract of the module.
    unsafe { *target.add(thread::thread_idx_x() as usize) = multiprocessor() };
}
