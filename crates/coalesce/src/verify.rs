//! Runs variants and compares every output element with the CPU reference.
//!
//! ```
//! use coalesce::{pattern::{Size, Variant}, verify::unsupported_reason};
//!
//! fn print(gpu: &cuda_host::Gpu, variant: &Variant, size: &Size) {
//!     println!("{}", unsupported_reason(gpu, variant, size).unwrap_or_default());
//! }
//! ```

use crate::arrays::{Arrays, digest};
use crate::data::{Random, Tolerance, compare};
pub use crate::fault::{Fault, VerifyOutcome};
use crate::pattern::{
    Before, Case, HostWork, Implementation, Pattern, Preparation, Size, Unavailable, Variant,
};
use crate::peer::Peer;
pub use crate::points::{Point, Verified, VerifiedPoint, VerifyOptions, verify_points};
use anyhow::Result;
use cuda_host::{Gpu, LaunchResources, Launcher, VirtualDevice};
use cust::context::CurrentContext;
use std::collections::BTreeMap;

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

    /// Brings outputs that accumulate back to zero, and those of work in place back to their input, as a run needs it.
    pub fn rewind(&self) -> Result<()> {
        match &self.means {
            Runner::Kernel { arrays, .. } | Runner::Peer { arrays, .. } => {
                arrays.rewind(self.gpu, self.case)
            }
            Runner::Host(_) => Ok(()),
        }
    }

    /// Returns whether its second launch does other work than its first, unless its outputs are brought back.
    pub fn is_in_place(&self) -> bool {
        self.case.is_in_place()
    }

    /// Returns what the largest of its launches takes of a multiprocessor; `None` for all but kernels of ours.
    pub fn resources(&self) -> Result<Option<LaunchResources>> {
        match &self.means {
            Runner::Kernel { launcher, .. } => Ok(launcher.resources()?),
            _ => Ok(None),
        }
    }

    /// Runs the variant once, as far as it is enqueued.
    pub fn run(&mut self) -> Result<()> {
        match (&mut self.means, self.variant.work) {
            (Runner::Kernel { arrays, launcher }, Implementation::Kernel { launch, .. }) => {
                Ok(launch(launcher, arrays, self.size)?)
            }
            (Runner::Peer { arrays, peer }, _) => peer.run(self.gpu, arrays, self.size),
            (Runner::Host(procedure), _) => procedure.run(self.gpu),
            (Runner::Kernel { .. }, _) => unreachable!("`new` made both alike"),
        }
    }

    /// Returns how many times more blocks the variant's kernels have at another size. Nothing is executed.
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
                Before::Input(input) => case.inputs[input].clone(),
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

/// Digests of what the launches of a run wrote: by [`launch_name`], the digests of the variant's outputs.
pub type Digests = BTreeMap<String, Vec<String>>;

/// A launch in words: `transpose/padded at rows=31, columns=33`.
pub fn launch_name(pattern: &Pattern, variant: &Variant, size: &Size) -> String {
    format!("{}/{} at {}", pattern.name, variant.name, pattern.show_size(size))
}

/// The case of a pattern at a size; the seed and the size alone decide its inputs.
pub fn case(pattern: &Pattern, size: &Size, seed: u64) -> Case {
    (pattern.case)(size, &mut Random::new(seed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Data;
    use crate::pattern::{Bytes, Dimension, Output};
    use cuda_host::{GpuError, Image, testing};
    use cuda_std::kernel::Kernel;

    /// `step` adds one to each of 32 words, where they lie.
    const PTX: &str = ".version 7.8\n.target sm_70\n.address_size 64\n\
        .visible .entry step(.param .u64 words) {\n\
        .reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n\
        ld.param.u64 %rd1, [words];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n\
        add.s64 %rd1, %rd1, %rd2;\nld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\n\
        st.global.u32 [%rd1], %r2;\nret;\n}\n";

    static IMAGES: &[Image] =
        // SAFETY: the kernel is that of the token below, and has no record.
        &[unsafe { Image::new(70, PTX, &[], "by hand", "unknown") }];

    // SAFETY: the entry takes one address.
    const STEP: Kernel<fn(*mut u32)> = unsafe { Kernel::new("step", (0, 0), (0, 0, 0), 0) };

    fn launch(launcher: &Launcher<'_>, arrays: &Arrays, _: &Size) -> Result<(), GpuError> {
        // SAFETY: 32 threads for 32 words.
        unsafe { launcher.launch(STEP, 1, 32, 0, (arrays.output::<u32>(0),)) }
    }

    static IN_PLACE: Pattern = Pattern {
        name: "step",
        group: "tests",
        doc_source: "",
        dimensions: &[Dimension::extent("n", "the number of words", 1)],
        verify_sizes: &[&[32]],
        bench_size: &[32],
        count_size: &[32],
        sweeps: &[],
        case: |_, random| {
            let words = random.u32s(32);
            let stepped = words.iter().map(|word| word.wrapping_add(1)).collect();
            let output = Output::exact(Data::U32(stepped)).in_place_of(0);
            Case { inputs: vec![Data::U32(words)], outputs: vec![output] }
        },
        bytes: |_| Bytes { read: 128, written: 128 },
        minimum_time: |_, _| None,
        variants: &[
            Variant::kernel("step", launch),
            Variant::kernel("leave", |_, _, _| Ok(())).writing(&[]),
        ],
    };

    #[test]
    fn work_in_place_finds_its_input_before_each_launch() -> Result<()> {
        let (gpu, size) = (testing::gpu(IMAGES), Size::new(&[32]));
        let case = case(&IN_PLACE, &size, 1);
        let arrays = Arrays::new(&gpu, &case)?;
        for variant in IN_PLACE.variants {
            assert_eq!(verify(&gpu, &case, &arrays, variant, &size)?, VerifyOutcome::Correct);
        }
        let mut ready = PreparedVariant::new(&gpu, &case, &arrays, &IN_PLACE.variants[0], &size)?;
        let mut outcome = |rewinds: bool| {
            if rewinds {
                ready.rewind()?;
            }
            ready.run()?;
            ready.finish()?;
            ready.check()
        };
        assert_eq!(outcome(false)?, VerifyOutcome::Correct);
        assert_eq!(outcome(true)?, VerifyOutcome::Correct);
        assert!(matches!(outcome(false)?, VerifyOutcome::Wrong(_)), "it stepped twice");
        Ok(())
    }

    #[test]
    fn an_output_of_no_input_is_one_sentence() {
        let gpu = testing::gpu(IMAGES);
        let output = Output::exact(Data::U32(vec![0; 32])).in_place_of(1);
        let case = Case { inputs: vec![Data::U32(vec![0; 32])], outputs: vec![output] };
        let error = Arrays::new(&gpu, &case).err().expect("there is one input").to_string();
        assert!(error.contains("begins as input 1, which is not there"), "{error}");
    }
}
