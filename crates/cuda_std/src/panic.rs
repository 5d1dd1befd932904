//! What a panic does on the device.

/// Traps, which ends the grid with an error that the next call of the driver reports.
#[cfg(target_arch = "nvptx64")]
#[panic_handler]
fn panic(_information: &core::panic::PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}
