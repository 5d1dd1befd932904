//! There is no such kernel.
use coalesce::gpu::{Arrays, Launcher};

fn launch(launcher: &Launcher<'_>, arrays: &Arrays) -> anyhow::Result<()> {
    // SAFETY: never run; the types are the test.
    unsafe { launcher.launch(kernels::coalescing::coalescing_scaler, 1, 256, 0, (arrays.input(0), arrays.output(0), 1_u32)) }
}

fn main() {
    let _ = launch;
}
