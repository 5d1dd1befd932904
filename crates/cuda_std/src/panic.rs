//! What a panic does on the device: it prints where and why, then traps.
//!
//! With `cfg(cuda_std_panic = "trap")` it only traps, which keeps formatting out of the PTX.
//!
//! A trap ends the grid with an error that the next call of the driver reports.

#![cfg(target_arch = "nvptx64")]

use core::panic::PanicInfo;

/// Traps.
#[cfg(cuda_std_panic = "trap")]
#[panic_handler]
fn panic(_information: &PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}

/// Prints the block, the thread, the place and the message; then traps.
#[cfg(not(cuda_std_panic = "trap"))]
#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    use crate::thread::{block_idx, thread_idx};

    let (block, thread) = (block_idx(), thread_idx());
    crate::print!(
        "block ({}, {}, {}) thread ({}, {}, {}) {information}\n",
        block.x,
        block.y,
        block.z,
        thread.x,
        thread.y,
        thread.z,
    );
    core::intrinsics::abort()
}
