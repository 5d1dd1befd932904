//! One argument is missing.
use coalesce::gpu::{Arrays, Launcher};

fn launch(launcher: &Launcher<'_>, arrays: &Arrays) -> anyhow::Result<()> {
    // SAFETY: never run; the types are the test.
    unsafe { launcher.launch(kernels::coalescing::coalescing_scalar, 1, 256, 0, (arrays.input(0), arrays.output(0))) }
}

fn main() {
    let _ = launch;
}
