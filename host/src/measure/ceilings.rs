//! What the machine can do at most, measured as variants are.

use super::sampler::{Caches, Sampler, Step, StopRule};
use crate::gpu::{Gpu, Larger, Saturation};
use crate::pattern::Limit;
use crate::results::Ceiling;
use anyhow::{Context, Result};

/// Measures these ceilings.
///
/// # Errors
/// The driver's, and when the device is throttled all the time.
pub(super) fn measure(
    gpu: &Gpu,
    sampler: &Sampler<'_>,
    rule: &StopRule,
    limits: &[Limit],
) -> Result<Vec<Ceiling>> {
    let one = |limit: Limit| -> Result<Ceiling> {
        let mut work = Saturation::new(gpu, limit)?;
        gpu.take_kernels_as_larger(work.larger);
        // What is to be in L2 was brought there by the run before.
        let caches = if limit == Limit::L2 { Caches::Hot } else { Caches::Cold };
        let series = sampler.series(caches, rule, |step| match step {
            Step::Prepare => Ok(()),
            Step::Run => work.run(gpu),
        })?;
        gpu.synchronize()?;
        gpu.take_kernels_as_larger(Larger::default());
        let time_ms = series.spread().context("the device was throttled all the time")?;
        Ok(Ceiling { limit, amount: work.amount, time_ms })
    };
    let measured = limits.iter().map(|limit| {
        one(*limit).with_context(|| format!("measuring the ceiling `{}` failed", limit.name()))
    });
    measured.collect()
}
