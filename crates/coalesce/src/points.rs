//! Many variants and sizes verified, side by side on the virtual device.

use crate::count::file_of;
use crate::counted::Counted;
use crate::pattern::{Pattern, Size, Variant};
use crate::side_by_side::{self, Job, SharedCase, processors};
use crate::verify::{VerifyOutcome, launch_name, verify, verify_with_digests};
use anyhow::{Context, Result};
use cuda_host::{Gpu, Misuse, MisuseKind, VirtualDevice};
use simt::Finding;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};

/// The bytes from which on each variant of a point is a job of its own. Smaller arrays are executed sooner than a device
/// is opened for each.
const LARGE: usize = 4 << 20;

/// Variants of a pattern at a size, which run one after the other on the same arrays.
#[derive(Clone, Debug)]
pub struct Point {
    /// The pattern.
    pub pattern: &'static Pattern,
    /// The size.
    pub size: Size,
    /// The variants.
    pub variants: Vec<&'static Variant>,
}

impl Point {
    /// Returns the points of a pattern: all variants at each size that it is verified at.
    pub fn all(pattern: &'static Pattern) -> impl Iterator<Item = Point> {
        pattern.verify_sizes.iter().map(move |size| Point {
            pattern,
            size: Size::new(size),
            variants: pattern.variants.iter().collect(),
        })
    }
}

/// The options of a verification.
#[derive(Clone, Debug)]
pub struct VerifyOptions<'a> {
    /// The seed of the inputs.
    pub seed: u64,
    /// True when the digests of outputs are wanted.
    pub digests: bool,
    /// The points, or variants of large ones, that are executed side by side on the virtual device.
    pub jobs: NonZero<usize>,
    /// The warp-instructions after which the virtual device takes a kernel to run forever, where not as usual.
    pub limit: Option<u64>,
    /// Becomes true when no other launch is to begin.
    pub stop: &'a AtomicBool,
}

impl<'a> VerifyOptions<'a> {
    /// Inputs of a seed, no digests, all processors.
    pub fn new(seed: u64, stop: &'a AtomicBool) -> VerifyOptions<'a> {
        VerifyOptions { seed, digests: false, jobs: processors(), limit: None, stop }
    }
}

/// The outcome of a variant at a size.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The variant.
    pub variant: &'static Variant,
    /// The outcome.
    pub outcome: VerifyOutcome,
    /// The digest of each output of a correct variant, where they are wanted.
    pub digests: Vec<String>,
    /// The hazards of its launches.
    pub hazards: Vec<Finding>,
    /// The file of its pattern, as the compiler names it where that is known.
    pub file: String,
    /// Each instruction that ran on the virtual device, by kernel and line of the PTX: its opcode where the result is
    /// approximate, and whether its counts depend on timing.
    pub instructions: BTreeMap<(String, u32), (Option<String>, bool)>,
}

/// Variants of a point that were verified, and the host's mistakes meanwhile.
#[derive(Clone, Debug)]
pub struct VerifiedPoint {
    /// The point, or a part of it.
    pub point: Point,
    /// The outcomes of its variants; an interrupt leaves the last out.
    pub variants: Vec<Verified>,
    /// Mistakes that are no hazard of a launch.
    pub misuses: Vec<Misuse>,
}

/// Verifies points and gives each, or each variant of a large one, to `on_done` in their order.
///
/// # Errors
/// The driver's, with the name of the launch.
pub fn verify_points(
    gpu: &Gpu,
    points: impl IntoIterator<Item = Point>,
    options: &VerifyOptions<'_>,
    mut on_done: impl FnMut(VerifiedPoint),
) -> Result<()> {
    let mut jobs = Vec::new();
    for Point { pattern, size, variants } in points {
        let case = SharedCase::default();
        let is_split = gpu.virtual_device().is_some() && (pattern.bytes)(&size).total() >= LARGE;
        let together = if is_split { 1 } else { variants.len().max(1) };
        jobs.extend(variants.chunks(together).map(|variants| {
            let point = Point { pattern, size: size.clone(), variants: variants.to_vec() };
            Job::on_arrays(pattern, &size, (point, case.clone()))
        }));
    }
    let work =
        |gpu: &Gpu, (point, case): (Point, SharedCase)| verify_point(gpu, point, &case, options);
    side_by_side::on(gpu, options.jobs, jobs, options.stop, work, |done| {
        on_done(done);
        Ok(())
    })
}

fn verify_point(
    gpu: &Gpu,
    point: Point,
    case: &SharedCase,
    options: &VerifyOptions<'_>,
) -> Result<VerifiedPoint> {
    let Point { pattern, size, .. } = &point;
    if gpu.virtual_device().is_some() {
        options.limit.into_iter().for_each(virtual_gpu::limit);
    }
    let case = case.get(pattern, size, options.seed);
    let arrays = pattern.arrays(gpu, case)?;
    let mut variants = Vec::new();
    for variant in point.variants.iter().take_while(|_| !options.stop.load(Ordering::Relaxed)) {
        let verified = if options.digests {
            verify_with_digests(gpu, case, &arrays, variant, size)
        } else {
            verify(gpu, case, &arrays, variant, size).map(|outcome| (outcome, Vec::new()))
        };
        let (outcome, digests) = verified.with_context(|| launch_name(pattern, variant, size))?;
        let counted = gpu.virtual_device().map(Counted::take).unwrap_or_default();
        let Counted { findings: hazards, mut approximate, instructions, .. } = counted;
        let file = file_of(pattern, instructions.values());
        let instructions = instructions.into_iter().map(|(key, counts)| {
            let facts = (approximate.remove(&key), counts.depends_on_timing);
            (key, facts)
        });
        let instructions = instructions.collect();
        variants.push(Verified { variant, outcome, digests, hazards, file, instructions });
    }
    let mut misuses = gpu.virtual_device().map_or_else(Vec::new, VirtualDevice::drain_misuse);
    let told: Vec<String> =
        variants.iter().flat_map(|one| &one.hazards).map(ToString::to_string).collect();
    misuses.retain(|mistake| !is_told(mistake, &told));
    Ok(VerifiedPoint { point, variants, misuses })
}

/// Returns whether a mistake is a hazard that was told with its launch: the device reports those to the host as well.
fn is_told(mistake: &Misuse, hazards: &[String]) -> bool {
    mistake.kind == MisuseKind::KernelHazard && hazards.contains(&mistake.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hazard_is_told_once_and_a_mistake_of_the_host_is_not_lost() {
        let hazard = "SharedRace: conflicting accesses to shared address 4";
        let mistake = |kind, message: &str| Misuse {
            kind,
            fault: None,
            memory: None,
            call: "cuLaunchKernel",
            message: message.to_owned(),
            location: None,
            code: None,
            count: 1,
        };
        let told = [hazard.to_owned()];
        assert!(is_told(&mistake(MisuseKind::KernelHazard, hazard), &told));
        assert!(!is_told(&mistake(MisuseKind::KernelHazard, "another"), &told));
        assert!(!is_told(&mistake(MisuseKind::DoubleFree, hazard), &told));
    }
}
