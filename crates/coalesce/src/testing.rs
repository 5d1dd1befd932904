//! A catalogue in `cargo test`, without a GPU: every result, every hazard, and what the kernels ask of memory.
//!
//! ```no_run
//! # const ALL: &[&coalesce::pattern::Pattern] = &[];
//! # const IMAGES: &[cuda_host::Image] = &[];
//! static CATALOGUE: coalesce::Catalogue = coalesce::Catalogue::new("my-kernels", ALL, IMAGES);
//!
//! #[test]
//! fn every_pattern_equals_its_reference() {
//!     coalesce::testing::verify(&CATALOGUE);
//! }
//!
//! #[test]
//! fn traffic_keeps_to_its_budget() {
//!     coalesce::testing::traffic(&CATALOGUE, "traffic.toml");
//! }
//! ```

use crate::budget::{self, Budgets};
use crate::catalogue::Catalogue;
use crate::counted::Counted;
use crate::verify::{self, Point, Verified, VerifyOptions, VerifyOutcome, verify_points};
use anyhow::{Context, Result};
use cuda_host::testing::exclusive;
use cuda_host::{Checks, Choice, Gpu, Image, Launcher};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The variable that writes recorded values anew instead of comparing with them.
const BLESS_VARIABLE: &str = "COALESCE_BLESS";

/// The seed of the inputs, that of `verify` without `--seed`.
const SEED: u64 = 1;

/// Compares every variant, at all of its sizes, with its CPU reference, on the virtual GPU with every check on.
///
/// # Panics
/// With a list of what is wrong: results, hazards, misuse of memory, and errors.
pub fn verify(catalogue: &Catalogue) {
    let _turn = exclusive();
    let mut faults = Vec::new();
    if let Err(error) = verified(catalogue, &mut faults) {
        faults.push(format!("{error:#}"));
    }
    assert!(faults.is_empty(), "{} fault(s):\n  {}", faults.len(), faults.join("\n  "));
}

fn verified(catalogue: &Catalogue, faults: &mut Vec<String>) -> Result<()> {
    let device = Choice::Virtual(crate::count::COUNTING_DEVICE.to_owned());
    let gpu = Gpu::open_untimed(&device, catalogue.images, Checks::all())?;
    let stop = AtomicBool::new(false);
    let points = catalogue.patterns.iter().copied().flat_map(Point::all);
    verify_points(&gpu, points, &VerifyOptions::new(SEED, &stop), |done| {
        let Point { pattern, size, .. } = &done.point;
        for Verified { variant, outcome, hazards, .. } in &done.variants {
            let name = verify::launch_name(pattern, variant, size);
            if let VerifyOutcome::Wrong(fault) = outcome {
                faults.push(format!("{name} is wrong: {fault}"));
            }
            faults.extend(hazards.iter().map(|hazard| format!("{name}: {hazard}")));
        }
        let at = format!("{} at {}", pattern.name, pattern.show_size(size));
        faults.extend(done.misuses.iter().map(|mistake| format!("{at}: {mistake}")));
    })
}

/// Compares what each kernel asks of memory with the file of budgets at `path`, relative to the crate under test; with
/// `COALESCE_BLESS=1` writes the file instead.
///
/// # Panics
/// With a list of what is more, and of what is less: a gain is recorded, so that it is not lost unseen.
pub fn traffic(catalogue: &Catalogue, path: impl AsRef<Path>) {
    let _turn = exclusive();
    let path = path.as_ref();
    if let Err(error) = hold(catalogue, path) {
        panic!("{error:#}");
    }
}

/// Compares what the kernels ask of memory that `launches` runs, with no pattern around them, with a file of budgets;
/// with `COALESCE_BLESS=1` writes theirs into it. Several tests may share the file, but not [`traffic`]'s.
///
/// ```no_run
/// # const IMAGES: &[cuda_host::Image] = &[];
/// # const reversed: cuda_std::kernel::SafeKernel<fn(&'static [f32], cuda_std::safe::PerThread<'static, f32>)> = unsafe {
/// #     let kernel = cuda_std::kernel::Kernel::new("reversed", (0, 0), (0, 0, 0), 0);
/// #     cuda_std::kernel::SafeKernel::new(kernel, (256, 1, 1), &["x", "out"], &[])
/// # };
/// coalesce::testing::traffic_of(IMAGES, "launches.toml", |launcher| {
///     let gpu = launcher.gpu();
///     let (x, mut out) = (gpu.zeroed(1024)?, gpu.zeroed(1024)?);
///     launcher.run(reversed, 4, (&x, &mut out))
/// });
/// ```
///
/// # Panics
/// As [`traffic`], and with the error of `launches`, or the hazards.
pub fn traffic_of<E: Into<anyhow::Error>>(
    images: &'static [Image],
    path: impl AsRef<Path>,
    launches: impl FnOnce(&Launcher<'_>) -> Result<(), E>,
) {
    let gpu = cuda_host::testing::gpu(images);
    if let Err(error) = hold_launches(&gpu, path.as_ref(), launches) {
        panic!("{error:#}");
    }
}

fn hold_launches<E: Into<anyhow::Error>>(
    gpu: &Gpu,
    path: &Path,
    launches: impl FnOnce(&Launcher<'_>) -> Result<(), E>,
) -> Result<()> {
    launches(&gpu.launcher()).map_err(Into::into)?;
    gpu.synchronize()?;
    let device = gpu.virtual_device().context("a GPU counts nothing")?;
    let counted = budget::of_launches(gpu, &Counted::take(device));
    if std::env::var_os(BLESS_VARIABLE).is_some() {
        let others = if path.exists() { Budgets::read(path)? } else { Budgets::default() };
        return counted.and(others).write(path);
    }
    compare(Budgets::read(path)?.of_kernels_in(&counted), &counted, path)
}

fn hold(catalogue: &Catalogue, path: &Path) -> Result<()> {
    let counted = budget::counted(catalogue)?;
    if std::env::var_os(BLESS_VARIABLE).is_some() {
        return counted.write(path);
    }
    compare(Budgets::read(path)?, &counted, path)
}

fn compare(budgets: Budgets, counted: &Budgets, path: &Path) -> Result<()> {
    let differences = budgets.differences(counted);
    let list = differences.join("\n  ");
    anyhow::ensure!(
        differences.is_empty(),
        "the kernels ask for other than {} says:\n  {list}\nIf that is meant: {BLESS_VARIABLE}=1 cargo test, and read the \
         difference before you commit it",
        path.display()
    );
    Ok(())
}
