//! What the machine can do at most, measured as variants are.

use super::sampler::{Caches, Sampler, Step, StopRule};
use crate::ceilings::Saturation;
use crate::instruments::Instruments;
use anyhow::{Context, Result};
use cuda_host::WorkScale;
use results::{Ceiling, Limit};

/// Measures these ceilings.
///
/// # Errors
/// The driver's, and when the device is throttled all the time.
pub(super) fn measure(
    instruments: &Instruments<'_>,
    sampler: &Sampler<'_>,
    rule: &StopRule,
    limits: &[Limit],
) -> Result<Vec<Ceiling>> {
    let one = |limit: Limit| -> Result<Ceiling> {
        let gpu = instruments.gpu();
        let mut work = Saturation::new(instruments, limit)?;
        let scale = |scale: WorkScale| {
            if let Some(device) = gpu.virtual_device() {
                device.scale_work(scale);
            }
        };
        scale(work.larger);
        // What is to be in L2 was brought there by the run before.
        let caches = if limit == Limit::L2 { Caches::Hot } else { Caches::Cold };
        let series = sampler.series(caches, rule, |step| match step {
            Step::Prepare => Ok(()),
            Step::Run => work.run(),
        })?;
        gpu.synchronize()?;
        scale(WorkScale::default());
        let time_ms = series.spread().context("the device was throttled all the time")?;
        Ok(Ceiling { limit, amount: work.amount, time_ms })
    };
    let measured = limits.iter().map(|limit| {
        one(*limit).with_context(|| format!("measuring the ceiling `{}` failed", limit.name()))
    });
    measured.collect()
}
