//! Every kernel on the virtual GPU, which finds races, accesses out of bounds and reads of what nobody wrote. No GPU is
//! needed, and none is used.

use anyhow::Result;
use cuda_host::testing;
use my_app::{CATALOGUE, IMAGES};
use my_app_kernels::saxpy::{THREADS_PER_BLOCK, saxpy_coalesced};

/// A launch written out, at a size that no block divides. A hazard fails the test when `gpu` is dropped.
#[test]
fn saxpy_equals_a_loop() -> Result<()> {
    let gpu = testing::gpu(IMAGES);
    let n = 1000;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y = vec![1.0; x.len()];
    let (device_x, device_y) = (gpu.upload(&x)?, gpu.upload(&y)?);
    // What the kernel leaves out shows: no result is NaN.
    let mut device_z = gpu.filled(f32::NAN, x.len())?;

    let blocks = (n as u32).div_ceil(THREADS_PER_BLOCK);
    gpu.launcher().run(saxpy_coalesced, blocks, (3.0, &device_x, &device_y, &mut device_z))?;

    let z = gpu.download(&device_z)?;
    for i in 0..x.len() {
        assert_eq!(z[i], 3.0 * x[i] + y[i], "element {i}");
    }
    Ok(())
}

/// Lengths that must agree are compared before anything runs.
#[test]
fn a_launch_whose_lengths_disagree_is_refused() -> Result<()> {
    let gpu = testing::gpu(IMAGES);
    let (x, y) = (gpu.upload(&[0.0; 10])?, gpu.upload(&[0.0; 9])?);
    let mut z = gpu.zeroed(10)?;
    let error = gpu.launcher().run(saxpy_coalesced, 1, (3.0, &x, &y, &mut z)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`x` and `y` must be equally long"), "{text}");
    Ok(())
}

/// Every pattern of the catalogue at all of its sizes, whole arrays, against its CPU reference.
#[test]
fn every_pattern_equals_its_reference() {
    coalesce::testing::verify(&CATALOGUE);
}

/// Checks that what the kernels ask of memory is what `traffic.toml` says. After a change that is meant:
/// `COALESCE_BLESS=1 cargo test`.
#[test]
fn traffic_keeps_to_its_budget() {
    coalesce::testing::traffic(&CATALOGUE, "../traffic.toml");
}
