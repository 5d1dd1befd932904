//! Runs variants and compares every output element with the CPU reference.

use crate::arrays::{Arrays, digest};
use crate::data::{Mismatch, Random, Tolerance, compare};
use crate::pattern::{
    Before, Case, HostWork, Implementation, Pattern, Preparation, Size, Unavailable, Variant,
};
use crate::peer::Peer;
use anyhow::Result;
use cuda_host::{Gpu, LaunchResources, Launcher, VirtualDevice};
use cust::context::CurrentContext;
use std::collections::BTreeMap;

/// The outcome of one variant at one size.
#[derive(Clone, Debug, PartialEq)]
pub enum VerifyOutcome {
    /// Every element of every output is right.
    Correct,
    /// The variant cannot run here or at this size; the text says why.
    NotRun(String),
    /// An output is wrong.
    Wrong(Fault),
}

/// The fault of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// An element differs.
    Element {
        /// The output.
        output: usize,
        /// The first such element, and the number of all of them.
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
pub fn unsupported_reason(gpu: &Gpu, variant: &Variant, size: &Size) -> Option<String> {
    if variant.min_compute_capability > gpu.capability() {
        let (major, minor) =
            (variant.min_compute_capability / 10, variant.min_compute_capability % 10);
        return Some(format!("it needs compute capability {major}.{minor}"));
    }
    (variant.precondition)(size).err().map(str::to_owned)
}

/// A variant with all that it needs to run at a size, its outputs as they are before the first run.
pub struct PreparedVariant<'a> {
    gpu: &'a Gpu,
    case: &'a Case,
    variant: &'static Variant,
    size: &'a Size,
    means: Runner<'a>,
}

/// The work that runs.
enum Runner<'a> {
    Kernel { arrays: &'a Arrays, launcher: Launcher<'a> },
    Peer { arrays: &'a Arrays, peer: Peer },
    Host(Box<dyn HostWork>),
}

impl<'a> PreparedVariant<'a> {
    /// Makes a variant ready that has no [`unsupported_reason`].
    ///
    /// Several variants may be ready on the same arrays: each is [`reset`](PreparedVariant::reset) before a run that is checked.
    ///
    /// # Errors
    /// The driver's, or [`Unavailable`].
    pub fn new(
        gpu: &'a Gpu,
        case: &'a Case,
        arrays: &'a Arrays,
        variant: &'static Variant,
        size: &'a Size,
    ) -> Result<PreparedVariant<'a>> {
        let means = match variant.work {
            Implementation::Kernel { .. } => Runner::Kernel { arrays, launcher: gpu.launcher() },
            Implementation::Peer(peer) => Runner::Peer { arrays, peer },
            Implementation::Host { build, .. } => {
                let procedure = build(gpu, case, size)?;
                // Copies from pageable memory and fills may return before they have arrived, and the device's stream
                // does not wait for the legacy default stream, on which they are.
                CurrentContext::synchronize()?;
                Runner::Host(procedure)
            }
        };
        let ready = PreparedVariant { gpu, case, variant, size, means };
        ready.reset()?;
        Ok(ready)
    }

    /// Brings shared arrays and the device into the state before the first run. The host's work has its own memory.
    pub fn reset(&self) -> Result<()> {
        match &self.means {
            Runner::Kernel { arrays, launcher } => {
                arrays.reset(self.gpu, self.case)?;
                match self.variant.work {
                    Implementation::Kernel { prepare: Some(prepare), .. } => {
                        let (case, size) = (self.case, self.size);
                        prepare(&Preparation { launcher, arrays, case, size })
                    }
                    _ => Ok(()),
                }
            }
            Runner::Peer { arrays, .. } => Ok(arrays.reset(self.gpu, self.case)?),
            Runner::Host(_) => Ok(()),
        }
    }

    /// Brings outputs that accumulate back to zero, as a run needs it.
    pub fn rewind(&self) -> Result<()> {
        match &self.means {
            Runner::Kernel { arrays, .. } | Runner::Peer { arrays, .. } => {
                Ok(arrays.zero_sums(self.gpu, self.case)?)
            }
            Runner::Host(_) => Ok(()),
        }
    }

    /// What the largest of its launches takes of a multiprocessor; `None` for all but kernels of ours.
    pub fn resources(&self) -> Result<Option<LaunchResources>> {
        match &self.means {
            Runner::Kernel { launcher, .. } => launcher.resources(),
            _ => Ok(None),
        }
    }

    /// Runs the variant once, as far as it is enqueued.
    pub fn run(&mut self) -> Result<()> {
        match (&mut self.means, self.variant.work) {
            (Runner::Kernel { arrays, launcher }, Implementation::Kernel { launch, .. }) => {
                launch(launcher, arrays, self.size)
            }
            (Runner::Peer { arrays, peer }, _) => peer.run(self.gpu, arrays, self.size),
            (Runner::Host(procedure), _) => procedure.run(self.gpu),
            (Runner::Kernel { .. }, _) => unreachable!("`new` made both alike"),
        }
    }

    /// How many times more blocks the variant's kernels have at another size. Nothing is executed.
    pub fn growth_of_blocks(&mut self, device: &VirtualDevice, size: &Size) -> Result<f64> {
        match (&self.means, self.variant.work) {
            (Runner::Kernel { arrays, .. }, Implementation::Kernel { launch, .. })
                if size != self.size =>
            {
                // What it does not execute, it need not remember.
                let launcher = &self.gpu.launcher();
                let blocks = |size: &Size| -> Result<u64> {
                    let enqueue = || launch(launcher, arrays, size);
                    let launches = device.without_executing(self.gpu.stream(), enqueue)?;
                    let extents = launches.iter().map(|launch| launch.grid.map(u64::from));
                    Ok(extents.map(|extents| extents.iter().product::<u64>()).sum())
                };
                let (here, there) = (blocks(self.size)?, blocks(size)?);
                Ok(there as f64 / here.max(1) as f64)
            }
            // Its kernels have a thread per element.
            (Runner::Host(work), _) if work.grows_in_blocks() => {
                let extent = |size: &Size| -> f64 {
                    size.values().iter().map(|value| (*value).max(1) as f64).product()
                };
                Ok(extent(size) / extent(self.size))
            }
            _ => Ok(1.0),
        }
    }

    /// Waits until everything has ended.
    pub fn finish(&self) -> Result<()> {
        match &self.means {
            Runner::Kernel { launcher, .. } => Ok(launcher.finish()?),
            Runner::Peer { .. } | Runner::Host(_) => Ok(self.gpu.synchronize()?),
        }
    }

    /// Checks the outputs as they are now.
    pub fn check(&mut self) -> Result<VerifyOutcome> {
        match &mut self.means {
            Runner::Kernel { arrays, .. } | Runner::Peer { arrays, .. } => {
                check_arrays(self.gpu, self.case, arrays, self.variant)
            }
            Runner::Host(procedure) => {
                let results = procedure.outputs(self.gpu)?;
                assert_eq!(
                    results.len(),
                    self.variant.outputs.len(),
                    "a procedure gives its outputs"
                );
                for (index, result) in self.variant.outputs.iter().zip(&results) {
                    let output = &self.case.outputs[*index];
                    if let Some(mismatch) = compare(result, &output.reference, output.tolerance) {
                        return Ok(VerifyOutcome::Wrong(Fault::Element {
                            output: *index,
                            mismatch,
                        }));
                    }
                }
                Ok(VerifyOutcome::Correct)
            }
        }
    }

    /// The digest of each output that the variant writes, as it is now.
    pub fn digests(&mut self) -> Result<Vec<String>> {
        match &mut self.means {
            Runner::Kernel { arrays, .. } | Runner::Peer { arrays, .. } => {
                let outputs = self.variant.outputs.iter();
                Ok(outputs
                    .map(|index| arrays.digest(self.gpu, *index))
                    .collect::<Result<_, _>>()?)
            }
            Runner::Host(procedure) => {
                Ok(procedure.outputs(self.gpu)?.iter().map(|data| digest(data.bytes())).collect())
            }
        }
    }
}

/// Runs one variant on poisoned outputs and checks them whole.
///
/// # Errors
/// The driver's; a wrong result is an [`VerifyOutcome`].
pub fn verify(
    gpu: &Gpu,
    case: &Case,
    arrays: &Arrays,
    variant: &'static Variant,
    size: &Size,
) -> Result<VerifyOutcome> {
    Ok(run_once(gpu, case, arrays, variant, size, |_| Ok(()))?.0)
}

/// As [`verify`], with the digests of a correct variant's outputs.
///
/// # Errors
/// As for [`verify`].
pub fn verify_with_digests(
    gpu: &Gpu,
    case: &Case,
    arrays: &Arrays,
    variant: &'static Variant,
    size: &Size,
) -> Result<(VerifyOutcome, Vec<String>)> {
    let (outcome, digests) = run_once(gpu, case, arrays, variant, size, |ready| ready.digests())?;
    Ok((outcome, digests.unwrap_or_default()))
}

/// Runs a variant and checks it; what `then` finds is that of a correct one.
fn run_once<T>(
    gpu: &Gpu,
    case: &Case,
    arrays: &Arrays,
    variant: &'static Variant,
    size: &Size,
    then: impl FnOnce(&mut PreparedVariant<'_>) -> Result<T>,
) -> Result<(VerifyOutcome, Option<T>)> {
    if let Some(reason) = unsupported_reason(gpu, variant, size) {
        return Ok((VerifyOutcome::NotRun(reason), None));
    }
    let mut ready = match PreparedVariant::new(gpu, case, arrays, variant, size) {
        Err(error) if error.is::<Unavailable>() => {
            return Ok((VerifyOutcome::NotRun(error.to_string()), None));
        }
        ready => ready?,
    };
    ready.run()?;
    ready.finish()?;
    let outcome = ready.check()?;
    let found = if outcome == VerifyOutcome::Correct { Some(then(&mut ready)?) } else { None };
    Ok((outcome, found))
}

/// Checks the outputs as they are now.
fn check_arrays(
    gpu: &Gpu,
    case: &Case,
    arrays: &Arrays,
    variant: &Variant,
) -> Result<VerifyOutcome> {
    for (index, output) in case.outputs.iter().enumerate() {
        if let Some(byte) = arrays.broken_guard(gpu, index)? {
            return Ok(VerifyOutcome::Wrong(Fault::OutOfBounds { output: index, byte }));
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
            return Ok(VerifyOutcome::Wrong(Fault::Element { output: index, mismatch }));
        }
    }
    Ok(VerifyOutcome::Correct)
}

/// What the launches of a run wrote: by [`launch_name`], the digests of the variant's outputs.
pub type Digests = BTreeMap<String, Vec<String>>;

/// A launch in words: `transpose/padded at rows=31, columns=33`.
pub fn launch_name(pattern: &Pattern, variant: &Variant, size: &Size) -> String {
    format!("{}/{} at {}", pattern.name, variant.name, pattern.show_size(size))
}

/// The case of a pattern at a size; the seed and the size alone decide its inputs.
pub fn case(pattern: &Pattern, size: &Size, seed: u64) -> Case {
    (pattern.case)(size, &mut Random::new(seed))
}
