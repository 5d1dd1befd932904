//! Counting: every kernel of a pattern executed once on the virtual device, beside what its variant promises.
//!
//! ```
//! use coalesce::count;
//!
//! fn print(catalogue: &coalesce::Catalogue) -> anyhow::Result<()> {
//!     let gpu = count::open(catalogue)?;
//!     for (variant, counted) in count::count(&gpu, catalogue.patterns[0])? {
//!         println!("{}: {} kernels", variant.name, counted.kernels.len());
//!     }
//!     Ok(())
//! }
//! ```

use crate::catalogue::Catalogue;
use crate::counted::Counted;
use crate::pattern::{Expectation, Pattern, Size, Variant};
use crate::side_by_side::{self, Job, SharedCase, processors};
use crate::timeline;
use crate::verify::{VerifyOutcome, verify};
use anyhow::{Result, bail};
use cuda_host::{Checks, Choice, Gpu, Image};
use ptx::tree::Tree;
use results::{
    COUNTS_SCHEMA, CountedDimension, CountedKernel, CountedPattern, CountedVariant, Counters,
    Counts, PtxImage, PtxLine, Timeline,
};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The device on which everything is counted: its PTX is that of the newest architecture.
pub const COUNTING_DEVICE: &str = "h200";

/// The relative tolerance of a count: a few warps at the edges of an array have lanes without work.
const TOLERANCE: f64 = 1e-3;

/// Returns whether a count is what was expected.
pub fn agree(counted: f64, expected: f64) -> bool {
    (counted - expected).abs() <= TOLERANCE * expected.abs()
}

/// Opens the device that counts. It has no model of time, which counts do without.
///
/// # Errors
/// When a GPU already answers this process's calls.
pub fn open(catalogue: &Catalogue) -> Result<Gpu> {
    Ok(Gpu::open_untimed(&device(), catalogue.images, Checks::none())?)
}

fn device() -> Choice {
    Choice::Virtual(COUNTING_DEVICE.to_owned())
}

/// Executes every kernel of a pattern at its count size on the virtual device and checks the results; the requests of
/// each launch's first warp are recorded.
pub fn count(gpu: &Gpu, pattern: &'static Pattern) -> Result<Vec<(&'static Variant, Counted)>> {
    let case = SharedCase::default();
    let kernels = pattern.variants.iter().filter(|one| pattern.kernel_name(one).is_some());
    kernels.map(|variant| Ok((variant, count_variant(gpu, pattern, variant, &case)?))).collect()
}

/// Executes one kernel, as [`count`] does.
fn count_variant(
    gpu: &Gpu,
    pattern: &'static Pattern,
    variant: &'static Variant,
    case: &SharedCase,
) -> Result<Counted> {
    let Some(device) = gpu.virtual_device() else {
        bail!("a GPU counts nothing: count on the virtual device");
    };
    let size = Size::new(pattern.count_size);
    let case = case.get(pattern, &size, 1);
    let arrays = pattern.arrays(gpu, case)?;
    device.drain_launches();
    device.watch_first_warp(true);
    let outcome = verify(gpu, case, &arrays, variant, &size);
    device.watch_first_warp(false);
    match outcome? {
        VerifyOutcome::Correct => Ok(Counted::take(device)),
        VerifyOutcome::NotRun(reason) => {
            bail!("{}/{} cannot run at its count size: {reason}", pattern.name, variant.name)
        }
        VerifyOutcome::Wrong(fault) => bail!("{}/{} is wrong: {fault}", pattern.name, variant.name),
    }
}

/// A variant of a pattern, which has this place among those that are counted.
type Counting = (usize, &'static Pattern, &'static Variant, SharedCase);

/// Returns a job for each variant that is chosen.
fn jobs(
    patterns: &[&'static Pattern],
    is_chosen: impl Fn(&Pattern, &Variant) -> bool,
) -> Vec<Job<Counting>> {
    let mut jobs = Vec::new();
    for (place, pattern) in patterns.iter().copied().enumerate() {
        let (size, case) = (Size::new(pattern.count_size), SharedCase::default());
        for variant in pattern.variants.iter().filter(|variant| is_chosen(pattern, variant)) {
            jobs.push(Job::on_arrays(pattern, &size, (place, pattern, variant, case.clone())));
        }
    }
    jobs
}

/// Executes the kernels of patterns side by side, as [`count`] does, and gives what `of` makes of each to `on_done`, in
/// the order of the catalogue.
///
/// # Errors
/// As for [`count`].
pub fn count_kernels<R: Send>(
    gpu: &Gpu,
    patterns: &[&'static Pattern],
    of: impl Fn(&'static Pattern, &'static Variant, &Counted) -> R + Sync,
    mut on_done: impl FnMut(usize, R),
) -> Result<()> {
    let work = |gpu: &Gpu, (place, pattern, variant, case): Counting| {
        Ok((place, of(pattern, variant, &count_variant(gpu, pattern, variant, &case)?)))
    };
    let kernels = jobs(patterns, |pattern, variant| pattern.kernel_name(variant).is_some());
    let on_done = |(place, one)| {
        on_done(place, one);
        Ok(())
    };
    side_by_side::on(gpu, processors(), kernels, &AtomicBool::new(false), work, on_done)
}

/// Counts patterns, for a file: kernels are executed, and what ran when is recorded of work of the host. `on_variant` is
/// told of each that is done.
///
/// # Errors
/// As for [`count`].
pub fn count_all(
    catalogue: &Catalogue,
    patterns: impl IntoIterator<Item = &'static Pattern>,
    on_variant: impl FnMut(&Pattern),
) -> Result<Counts> {
    count_for(catalogue, patterns, |_, _| true, on_variant)
}

/// As [`count_all`], with timelines of those variants alone of which `records` says so: work of the host is executed at
/// sizes that take most of the time.
///
/// # Errors
/// As for [`count`].
pub fn count_for(
    catalogue: &Catalogue,
    patterns: impl IntoIterator<Item = &'static Pattern>,
    records: impl Fn(&Pattern, &Variant) -> bool + Sync,
    mut on_variant: impl FnMut(&Pattern),
) -> Result<Counts> {
    let patterns: Vec<&'static Pattern> = patterns.into_iter().collect();
    let mut counted: Vec<Vec<CountedVariant>> = patterns.iter().map(|_| Vec::new()).collect();
    let mut on_done = |place: usize, variant: CountedVariant| {
        on_variant(patterns[place]);
        counted[place].push(variant);
    };
    let gpu = open(catalogue)?;
    let (image, tree) = (gpu.image(), ptx::parse(gpu.image().text())?);
    let size = |pattern: &Pattern| Size::new(pattern.count_size);
    let kernel = |pattern: &'static Pattern, variant: &'static Variant, counted: &Counted| {
        of_kernel(pattern, variant, &size(pattern), (image, &tree), counted)
    };
    count_kernels(&gpu, &patterns, kernel, &mut on_done)?;
    drop(gpu);
    let gpu = Gpu::open(&device(), catalogue.images)?;
    let record = |gpu: &Gpu, (place, pattern, variant, case): Counting| {
        let size = size(pattern);
        let timeline = match records(pattern, variant) {
            // What needs another device does not run here.
            true => {
                timeline::record_one(gpu, pattern, variant, &size, case.get(pattern, &size, 1))?
            }
            false => None,
        };
        let timeline = timeline.map(|(timeline, _)| timeline);
        Ok((place, of_host_work(pattern, variant, &size, timeline)))
    };
    let host_work = jobs(&patterns, |_, variant| variant.is_host_work());
    let stop = AtomicBool::new(false);
    side_by_side::on(&gpu, processors(), host_work, &stop, record, |(place, one)| {
        on_done(place, one);
        Ok(())
    })?;
    let of_pattern =
        |(pattern, variants): (&&'static Pattern, _)| of_pattern(pattern, &size(pattern), variants);
    Ok(of_catalogue(catalogue, patterns.iter().zip(counted).map(of_pattern).collect()))
}

/// The counts of a catalogue.
pub fn of_catalogue(catalogue: &Catalogue, patterns: Vec<CountedPattern>) -> Counts {
    let images = catalogue.images.iter();
    Counts {
        counts_schema: COUNTS_SCHEMA,
        catalogue: catalogue.name.to_owned(),
        commit: catalogue.images.last().map_or("unknown", |image| image.commit).to_owned(),
        images: images.map(|one| PtxImage { target: one.target(), hash: one.hash() }).collect(),
        patterns,
        myths: catalogue.myths.to_owned(),
    }
}

/// A pattern with what was counted of its variants, in its own order.
pub fn of_pattern(
    pattern: &Pattern,
    size: &Size,
    mut variants: Vec<CountedVariant>,
) -> CountedPattern {
    variants
        .sort_by_key(|variant| pattern.variants.iter().position(|one| one.name == variant.name));
    let dimensions = pattern.dimensions.iter().map(|dimension| CountedDimension {
        name: dimension.name.to_owned(),
        meaning: dimension.meaning.to_owned(),
        names: dimension.names().iter().map(|name| (*name).to_owned()).collect(),
    });
    CountedPattern {
        name: pattern.name.to_owned(),
        claim: pattern.claim(),
        doc: pattern.doc(),
        is_host_work: pattern.is_host_work(),
        file: source_file(pattern, &variants),
        source: pattern.doc_source.to_owned(),
        dimensions: dimensions.collect(),
        size: pattern.show_size(size),
        variants,
    }
}

/// The file of a pattern's kernels as the compiler names it, wherever a project keeps it: that of the counted
/// instructions which has the pattern's name.
fn source_file(pattern: &Pattern, variants: &[CountedVariant]) -> String {
    let instructions = variants.iter().flat_map(|variant| &variant.kernels);
    file_of(pattern, instructions.flat_map(|kernel| &kernel.instructions))
}

/// The same of any instructions of the pattern's kernels.
pub fn file_of<'a>(
    pattern: &Pattern,
    instructions: impl Iterator<Item = &'a results::InstructionCounts>,
) -> String {
    let mut files = instructions.filter_map(|one| one.source.as_ref()).flat_map(|source| {
        let around = source.inlined_at.iter().map(|(file, _)| file);
        std::iter::once(&source.file).chain(around)
    });
    let is_own =
        |file: &&String| Path::new(file).file_stem().is_some_and(|stem| stem == pattern.name);
    files.find(is_own).cloned().unwrap_or_else(|| pattern.source_file())
}

/// The counts of a variant's kernels, whose image has this tree.
pub fn of_kernel(
    pattern: &Pattern,
    variant: &Variant,
    size: &Size,
    (image, tree): (&Image, &Tree<'_>),
    counted: &Counted,
) -> CountedVariant {
    let kernel = |name: String| CountedKernel {
        target: image.target(),
        registers: image.facts(&name).and_then(|facts| facts.registers),
        ptx: (tree.entry(&name).into_iter())
            .flat_map(|entry| entry.listing())
            .map(|line| PtxLine(line.number, line.text.to_owned()))
            .collect(),
        instructions: counted.of_memory(&name),
        name,
    };
    CountedVariant {
        name: variant.name.to_owned(),
        summary: pattern.summary(variant),
        arithmetic: (variant.expect)(size).arithmetic.to_owned(),
        bytes: pattern.bytes_of(variant, size).total(),
        counters: counted.counters,
        flops_f32: counted.flops_f32,
        kernels: pattern.kernel_names(variant).into_iter().map(kernel).collect(),
        timeline: None,
    }
}

/// The operations of a variant that is work of the host.
pub fn of_host_work(
    pattern: &Pattern,
    variant: &Variant,
    size: &Size,
    timeline: Option<Timeline>,
) -> CountedVariant {
    CountedVariant {
        name: variant.name.to_owned(),
        summary: pattern.summary(variant),
        arithmetic: String::new(),
        bytes: pattern.bytes_of(variant, size).total(),
        counters: Counters::default(),
        flops_f32: 0,
        kernels: Vec::new(),
        timeline,
    }
}

/// Each count that is not what the variant promises, as a sentence.
pub fn disagreements(expected: &Expectation, counted: &Counters) -> Vec<String> {
    let pairs = [
        ("sectors per load request", expected.load_sectors, counted.load_sectors()),
        ("sectors per store request", expected.store_sectors, counted.store_sectors()),
        ("sectors per texture fetch", expected.texture_sectors, counted.texture_sectors()),
        (
            "wavefronts per shared load request",
            expected.shared_load_wavefronts,
            counted.shared_load_wavefronts(),
        ),
        (
            "wavefronts per shared store request",
            expected.shared_store_wavefronts,
            counted.shared_store_wavefronts(),
        ),
        (
            "wavefronts per constant request",
            expected.constant_wavefronts,
            counted.constant_wavefronts(),
        ),
        (
            "wavefronts per shared atomic request",
            expected.shared_atomic_wavefronts,
            counted.shared_atomic_wavefronts(),
        ),
        ("global atomics", expected.global_atomics, counted.global_atomics()),
        (
            "sector accesses per global atomic request",
            expected.global_atomic_updates,
            counted.global_atomic_updates(),
        ),
        ("sectors per local load", expected.local_load_sectors, counted.local_load_sectors()),
        ("sectors per local store", expected.local_store_sectors, counted.local_store_sectors()),
        (
            "active lanes per instruction",
            expected.lanes_per_instruction,
            expected.lanes_per_instruction.and(counted.lanes_per_instruction()),
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
