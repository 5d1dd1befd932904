//! Runs variants and compares every output element with the CPU reference.

use crate::data::{Mismatch, Random, Tolerance, compare};
use crate::gpu::{Arrays, Gpu, GpuError};
use crate::pattern::{Before, Case, Pattern, Size, Variant};
use anyhow::Result;
use std::collections::BTreeMap;

/// What came of one variant at one size.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Every element of every output is right.
    Correct,
    /// The variant cannot run here or at this size; the text says why.
    NotRun(String),
    /// An output is wrong.
    Wrong(Fault),
}

/// What is wrong with an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// An element differs.
    Element {
        /// The output.
        output: usize,
        /// Where and how.
        mismatch: Mismatch,
    },
    /// A byte outside the output was written.
    OutOfBounds {
        /// The output.
        output: usize,
        /// The byte's distance from the output's start.
        byte: isize,
    },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Element { output, mismatch: Mismatch { index, count, result, reference } } => {
                write!(
                    formatter,
                    "output {output}: {count} element(s) differ, the first is [{index}] = {result}, reference {reference}"
                )
            }
            Fault::OutOfBounds { output, byte } => {
                write!(formatter, "output {output}: byte {byte}, outside the array, was written")
            }
        }
    }
}

/// Why `variant` cannot run at `size` on `gpu`, if it cannot.
pub fn obstacle(gpu: &Gpu, variant: &Variant, size: &Size) -> Option<String> {
    if variant.since > gpu.capability() {
        let (major, minor) = (variant.since / 10, variant.since % 10);
        return Some(format!("it needs compute capability {major}.{minor}"));
    }
    (variant.precondition)(size).err().map(str::to_owned)
}

/// Runs one variant on poisoned outputs and checks them whole.
///
/// # Errors
/// The driver's; a wrong result is an [`Outcome`].
pub fn verify(
    gpu: &Gpu,
    case: &Case,
    arrays: &mut Arrays,
    variant: &Variant,
    size: &Size,
) -> Result<Outcome> {
    if let Some(reason) = obstacle(gpu, variant, size) {
        return Ok(Outcome::NotRun(reason));
    }
    arrays.reset(gpu, case)?;
    let launcher = gpu.launcher();
    if let Some(prepare) = variant.prepare {
        prepare(&launcher)?;
    }
    (variant.launch)(&launcher, arrays, size)?;
    launcher.finish()?;
    check(gpu, case, arrays, variant)
}

/// Checks the outputs as they are now.
pub fn check(gpu: &Gpu, case: &Case, arrays: &Arrays, variant: &Variant) -> Result<Outcome> {
    for (index, output) in case.outputs.iter().enumerate() {
        if let Some(byte) = arrays.broken_guard(gpu, index)? {
            return Ok(Outcome::Wrong(Fault::OutOfBounds { output: index, byte }));
        }
        let untouched;
        let (expected, tolerance) = if variant.outputs.contains(&index) {
            (&output.reference, output.tolerance)
        } else {
            untouched = match output.before {
                Before::Poison => output.reference.poisoned(),
                Before::Zeros => output.reference.zeroed(),
            };
            (&untouched, Tolerance::Exact)
        };
        // Equal bytes are right under every tolerance, and much the faster question.
        if arrays.equals(gpu, index, expected)? {
            continue;
        }
        let result = arrays.download(gpu, index, expected)?;
        if let Some(mismatch) = compare(&result, expected, tolerance) {
            return Ok(Outcome::Wrong(Fault::Element { output: index, mismatch }));
        }
    }
    Ok(Outcome::Correct)
}

/// What the launches of a run wrote: by [`launch_name`], the digests of the variant's outputs.
pub type Digests = BTreeMap<String, Vec<String>>;

/// A launch in words: `transpose/padded at rows=31, columns=33`.
pub fn launch_name(pattern: &Pattern, variant: &Variant, size: &Size) -> String {
    format!("{}/{} at {}", pattern.name, variant.name, pattern.show_size(size))
}

/// The digest of each output that the variant writes, as it is now.
pub fn digests(gpu: &Gpu, arrays: &Arrays, variant: &Variant) -> Result<Vec<String>, GpuError> {
    variant.outputs.iter().map(|output| arrays.digest(gpu, *output)).collect()
}

/// The case of a pattern at a size; the seed and the size alone decide its inputs.
pub fn case(pattern: &Pattern, size: &Size, seed: u64) -> Case {
    (pattern.case)(size, &mut Random::new(seed))
}
