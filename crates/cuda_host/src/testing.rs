//! The virtual GPU in tests: one at a time, with every check, and a hazard fails the test.

use crate::choice::{Choice, DEFAULT_PROFILE};
use crate::gpu::Gpu;
use crate::image::Image;
use crate::virtual_device::VirtualDevice;
use simt::Checks;
use std::fmt::Write;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A process has one virtual device, and tests run beside each other.
static DEVICE: Mutex<()> = Mutex::new(());

/// A virtual GPU that a test has for itself.
///
/// When it is dropped, the test fails if a kernel raced, read what nobody had written, or missed a barrier, or if the host
/// misused memory. [`TestGpu::take_hazards`] is for tests that expect that.
#[derive(Debug)]
pub struct TestGpu {
    /// Dropped before the turn ends.
    gpu: Gpu,
    _turn: MutexGuard<'static, ()>,
}

/// The virtual H200 with these kernels and all checks, once no other test of the process has it.
///
/// # Panics
/// When the device does not start, for example because the kernels do not load; the message says why.
pub fn gpu(images: &'static [Image]) -> TestGpu {
    let turn = exclusive();
    let choice = Choice::Virtual(DEFAULT_PROFILE.to_owned());
    let gpu = Gpu::open_checked(&choice, images, Checks::all())
        .unwrap_or_else(|error| panic!("the virtual GPU does not start: {error}"));
    if let Some(device) = gpu.virtual_device() {
        // What a test before this one left.
        device.forget_failure();
        device.take_launches();
        device.take_misuse();
    }
    TestGpu { gpu, _turn: turn }
}

/// The right to open devices in this process, for tests that do it themselves.
pub fn exclusive() -> MutexGuard<'static, ()> {
    // A test that failed has let go of its device.
    DEVICE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TestGpu {
    /// The hazards and mistakes since the last call, each as a sentence with its line.
    pub fn take_hazards(&self) -> Vec<String> {
        self.gpu.virtual_device().map_or_else(Vec::new, VirtualDevice::take_misuse)
    }
}

impl Deref for TestGpu {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}

impl Drop for TestGpu {
    fn drop(&mut self) {
        let hazards = self.take_hazards();
        // A test that fails already says why.
        if hazards.is_empty() || std::thread::panicking() {
            return;
        }
        let mut text = format!("{} hazard(s):", hazards.len());
        for hazard in hazards {
            let _ = write!(text, "\n  {hazard}");
        }
        panic!("{text}");
    }
}
