//! The traffic that variants cause, counted by executing their PTX, beside what they promise.

use crate::gpu::{Arrays, Checks, Choice, Counted, Gpu};
use crate::pattern::{Expectation, Pattern, Size, Variant};
use crate::verify::{Outcome, case, verify};
use anyhow::{Result, bail};

/// The relative difference up to which a count agrees with its expectation: a few warps at the
/// edges of an array have lanes without work.
const TOLERANCE: f64 = 1e-3;

/// Whether a count is what was expected.
pub fn agree(counted: f64, expected: f64) -> bool {
    (counted - expected).abs() <= TOLERANCE * expected.abs()
}

/// Executes every kernel of a pattern at its count size and checks the results; the requests of each launch's first
/// warp are recorded.
///
/// # Errors
/// A wrong result, or the driver's error.
pub fn count(pattern: &'static Pattern) -> Result<Vec<(&'static Variant, Counted)>> {
    let gpu = Gpu::open(&Choice::Virtual("h200".to_owned()), Checks::none())?;
    let size = Size::new(pattern.count_size);
    let case = case(pattern, &size, 1);
    let arrays = Arrays::of(&gpu, pattern, &case)?;
    let mut counts = Vec::new();
    for variant in pattern.variants {
        if pattern.kernel_name(variant).is_none() {
            continue;
        }
        gpu.take_counted();
        gpu.watch_first_warp(true);
        let outcome = verify(&gpu, &case, &arrays, variant, &size);
        gpu.watch_first_warp(false);
        match outcome? {
            Outcome::Correct => counts.push((variant, gpu.take_counted().unwrap_or_default())),
            Outcome::NotRun(reason) => {
                bail!("{}/{} cannot run at its count size: {reason}", pattern.name, variant.name)
            }
            Outcome::Wrong(fault) => bail!("{}/{} is wrong: {fault}", pattern.name, variant.name),
        }
    }
    Ok(counts)
}

/// Each count that is not what the variant promises, as a sentence.
pub fn disagreements(expected: &Expectation, counted: &Counted) -> Vec<String> {
    let pairs = [
        ("sectors per load request", expected.load_sectors, counted.load_sectors()),
        ("sectors per store request", expected.store_sectors, counted.store_sectors()),
        (
            "passes per shared load request",
            expected.shared_load_wavefronts,
            counted.shared_load_wavefronts(),
        ),
        (
            "passes per shared store request",
            expected.shared_store_wavefronts,
            counted.shared_store_wavefronts(),
        ),
        ("passes per constant request", expected.constant_passes, counted.constant_passes()),
        (
            "passes per shared atomic request",
            expected.shared_atomic_wavefronts,
            counted.shared_atomic_wavefronts(),
        ),
        ("global atomics", expected.global_atomics, counted.global_atomics()),
        (
            "sector passes per global atomic request",
            expected.global_atomic_passes,
            counted.global_atomic_passes(),
        ),
    ];
    pairs
        .into_iter()
        .filter(|(_, expected, counted)| match (expected, counted) {
            (Some(expected), Some(counted)) => !agree(*counted, *expected),
            (None, None) => false,
            _ => true,
        })
        .map(|(what, expected, counted)| {
            format!("{what}: expected {expected:?}, counted {counted:?}")
        })
        .collect()
}
