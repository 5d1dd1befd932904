//! The virtual GPU in tests: one for each, with every check, and a hazard fails the test.
//!
//! ```no_run
//! # static IMAGES: &[cuda_host::Image] = &[];
//! let gpu = cuda_host::testing::gpu(IMAGES);
//! let x = gpu.upload(&[1.0_f32; 100]).unwrap();
//! // A hazard of a launch fails the test when `gpu` is dropped.
//! ```

use crate::choice::{Choice, DEFAULT_PROFILE};
use crate::gpu::Gpu;
use crate::image::Image;
use crate::origin::check_programs;
use crate::virtual_device::mistakes;
use simt::Checks;
use std::fmt::Write;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};
use virtual_gpu::OwnMachine;

/// Programs that are tested share the process's virtual device.
static DEVICE: Mutex<()> = Mutex::new(());

/// A virtual GPU that a test has for itself.
///
/// When it is dropped, the test fails if a kernel raced, read what nobody had written, or missed a barrier, or if the host
/// misused memory. A test that has failed already prints them. [`TestGpu::drain_hazards`] is for tests that expect that.
/// Its buffers and modules are gone with it.
#[derive(Debug)]
pub struct TestGpu {
    /// Dropped before its machine is.
    gpu: Gpu,
    _machine: OwnMachine,
}

/// A new virtual H200 with these kernels and all checks, which the test's thread has for itself.
///
/// # Panics
/// When the device does not start, for example because the kernels do not load; the message says why.
pub fn gpu(images: &'static [Image]) -> TestGpu {
    let machine = exclusive();
    let choice = Choice::Virtual(DEFAULT_PROFILE.to_owned());
    let gpu = Gpu::open_checked(&choice, images, Checks::all())
        .unwrap_or_else(|error| panic!("the virtual GPU does not start: {error}"));
    TestGpu { gpu, _machine: machine }
}

/// Runs a program's own code as a test: [`Gpu::auto`] and [`Gpu::open`] give the virtual GPU with every check.
///
/// # Panics
/// When the program does, and when it has hazards.
pub fn checked<R>(program: impl FnOnce() -> R) -> R {
    /// Ends the checks, and says what they found.
    struct Checked {
        _turn: MutexGuard<'static, ()>,
    }

    impl Drop for Checked {
        fn drop(&mut self) {
            check_programs(false);
            fail(mistakes());
        }
    }

    // A program that failed has let go of its device.
    let turn = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    virtual_gpu::forget_failure();
    mistakes();
    check_programs(true);
    let _checked = Checked { _turn: turn };
    program()
}

/// A virtual machine that this thread has for itself until it is dropped: for tests that open devices themselves, as many
/// and of whatever profile.
pub fn exclusive() -> OwnMachine {
    OwnMachine::new()
}

impl TestGpu {
    /// The hazards and mistakes since the last call, each as a sentence with its line. Waits for the device first: what
    /// is still enqueued may be a part of one.
    pub fn drain_hazards(&self) -> Vec<String> {
        self.gpu.wait();
        mistakes()
    }

    /// The old name of [`Self::drain_hazards`].
    #[deprecated(since = "0.2.0", note = "it is `drain_hazards`")]
    pub fn take_hazards(&self) -> Vec<String> {
        self.drain_hazards()
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
        fail(self.drain_hazards());
    }
}

/// Fails the test that has hazards, or says beside its failure what they are: one may be its cause.
fn fail(hazards: Vec<String>) {
    if hazards.is_empty() {
        return;
    }
    let mut text = format!("{} hazard(s):", hazards.len());
    for hazard in hazards {
        let _ = write!(text, "\n  {hazard}");
    }
    if std::thread::panicking() {
        eprintln!("{text}");
    } else {
        panic!("{text}");
    }
}
