use super::plan::Plan;
use super::sampler::{Caches, Sampler, Step, StopRule};
use crate::instruments::Instruments;
use crate::measured_peaks::Saturation;
use crate::side_by_side::{self, Job};
use anyhow::{Context, Result};
use cuda_host::{Gpu, WorkScale};
use results::{MeasuredPeak, Resource};
use std::sync::atomic::AtomicBool;

/// Measures these measured peaks, as far as the device has what they need.
///
/// # Errors
/// The driver's, and when the device is throttled all the time.
pub(super) fn measure(
    instruments: &Instruments<'_>,
    sampler: &Sampler<'_>,
    rule: &StopRule,
    resources: &[Resource],
) -> Result<Vec<MeasuredPeak>> {
    let available = |resource: &&Resource| Saturation::is_available(instruments, **resource);
    let measured = resources.iter().filter(available).map(|resource| {
        one(instruments, sampler, rule, *resource)
            .with_context(|| format!("measuring the peak `{}` failed", resource.name()))
    });
    measured.collect()
}

/// Predicts these peaks as [`measure`] measures them, side by side.
pub(super) fn predict(gpu: &Gpu, plan: &Plan, resources: &[Resource]) -> Result<Vec<MeasuredPeak>> {
    let jobs = resources.iter().map(|resource| Job::small(*resource)).collect();
    let predict = |gpu: &Gpu, resource: Resource| {
        let instruments = Instruments::load(gpu)?;
        measure(&instruments, &Sampler::new(&instruments)?, &plan.stop, &[resource])
    };
    let mut peaks = Vec::new();
    side_by_side::on(gpu, plan.jobs, jobs, &AtomicBool::new(false), predict, |peak| {
        peaks.extend(peak);
        Ok(())
    })?;
    Ok(peaks)
}

fn one(
    instruments: &Instruments<'_>,
    sampler: &Sampler<'_>,
    rule: &StopRule,
    resource: Resource,
) -> Result<MeasuredPeak> {
    let gpu = instruments.gpu();
    let mut work = Saturation::new(instruments, resource)?;
    let scale = |scale: WorkScale| {
        if let Some(device) = gpu.virtual_device() {
            device.scale_work(scale);
        }
    };
    scale(work.larger);
    // What is to be in L2 was brought there by the run before.
    let caches = if resource == Resource::L2 { Caches::Hot } else { Caches::Cold };
    let series = sampler.series(caches, rule, |step| match step {
        Step::Prepare => Ok(()),
        Step::Run => work.run(),
    })?;
    gpu.synchronize()?;
    scale(WorkScale::default());
    let time_ms = series.spread().context("the device was throttled all the time")?;
    Ok(MeasuredPeak { resource, amount: work.amount, time_ms })
}
