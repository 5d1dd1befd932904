//! Panics on the device: one prints where and why, then traps.
//!
//! A trap ends the grid with an error that the next call of the driver reports, after it has written
//! out what was printed.
//!
//! Formatting a message calls functions through pointers. The assembler then knows neither the
//! registers nor the stack that a kernel needs: it assumes 255 registers, which costs most of the
//! occupancy of any kernel with a bounds check, and 1 KiB of stack, which formatting exceeds. So a
//! panic prints the block, the thread, the place, and its message when that is plain text, by one call
//! of `vprintf`. The feature `format-panics` prints every message whole, for debugging; the host must
//! then raise the stack limit (`CU_LIMIT_STACK_SIZE`) to 4 KiB.
//!
//! With `cfg(cuda_std_panic = "trap")` a panic only traps.

#![cfg(target_arch = "nvptx64")]

use core::panic::PanicInfo;

#[cfg(cuda_std_panic = "trap")]
#[panic_handler]
fn panic(_information: &PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}

/// Prints the block, the thread, the place and the message with its values; then traps.
#[cfg(all(not(cuda_std_panic = "trap"), feature = "format-panics"))]
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

/// Prints the block, the thread, the place, and the message when it is plain text; then traps.
#[cfg(all(not(cuda_std_panic = "trap"), not(feature = "format-panics")))]
#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    use crate::thread::{
        block_idx_x, block_idx_y, block_idx_z, thread_idx_x, thread_idx_y, thread_idx_z,
    };
    use core::ffi::{CStr, c_char};

    /// The longest message printed, with the zero at its end.
    const CAPACITY: usize = 128;

    /// The arguments of the format, each at its alignment.
    #[repr(C)]
    struct Arguments {
        block: [u32; 3],
        thread: [u32; 3],
        file: *const c_char,
        line: u32,
        column: u32,
        message: *const u8,
    }

    let mut text = [0_u8; CAPACITY];
    let mut message: *const u8 =
        c"(its message has values: see the feature `format-panics`)".as_ptr().cast();
    if let Some(plain) = information.message().as_str() {
        // The last byte stays zero.
        for (target, &byte) in text[..CAPACITY - 1].iter_mut().zip(plain.as_bytes()) {
            *target = byte;
        }
        message = text.as_ptr();
    }
    let unknown: &CStr = c"an unknown place";
    let place = information.location();
    let arguments = Arguments {
        block: [block_idx_x(), block_idx_y(), block_idx_z()],
        thread: [thread_idx_x(), thread_idx_y(), thread_idx_z()],
        file: place.map_or(unknown, |place| place.file_as_c_str()).as_ptr(),
        line: place.map_or(0, |place| place.line()),
        column: place.map_or(0, |place| place.column()),
        message,
    };
    let format = c"block (%u, %u, %u) thread (%u, %u, %u) panicked at %s:%u:%u %s\n";
    // SAFETY: the format takes what the structure has in the same order, and both texts end with a
    // zero byte. `vprintf` copies them before it returns.
    unsafe { crate::io::vprintf(format.as_ptr().cast(), (&raw const arguments).cast()) };
    core::intrinsics::abort()
}
