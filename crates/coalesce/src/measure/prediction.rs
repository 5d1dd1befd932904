//! Predictions beside measurements: the same plan once more, on the virtual device.

use super::Plan;
use crate::catalogue::Catalogue;
use anyhow::Result;
use cuda_host::{Choice, Gpu, device_count};
use results::{Results, add_predictions};
use std::sync::atomic::AtomicBool;
use virtual_gpu::{PROFILES, Profile};

/// Runs a plan on the virtual device and adds to each row of a measurement what that predicts and counts. Predictions
/// are of the profile with the GPU's name; without one there are counts only.
///
/// From here on the virtual device answers this process's calls of the driver: the GPU must have been closed.
///
/// # Errors
/// When the virtual device does not start, or the measured peaks cannot be predicted.
pub fn predict(results: &mut Results, catalogue: &Catalogue, plan: &Plan) -> Result<()> {
    let named = PROFILES.iter().find(|(name, _)| {
        Profile::named(name).is_ok_and(|known| known.name == results.environment.device.name)
    });
    let profile = named.map_or("h200", |(name, _)| name);
    // The GPUs' driver still answers. A machine of several devices is predicted as one.
    let machine = match device_count().unwrap_or(1) {
        several @ 2.. => format!("{profile}x{several}"),
        _ => profile.to_owned(),
    };
    let gpu = Gpu::open(&Choice::Virtual(machine), catalogue.images)?;
    let plan = plan.clone().on(&gpu);
    let predicted = super::run(&gpu, catalogue, &plan, &AtomicBool::new(false), |_| {})?;
    add_predictions(&mut results.rows, &predicted.rows, named.is_some());
    results.counts = predicted.counts;
    Ok(())
}
