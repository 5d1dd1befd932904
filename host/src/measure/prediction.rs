//! Predictions beside measurements: this program once more, on the virtual device.

use crate::results::{Results, Row};
use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::process::{Command, Stdio};
use virtual_gpu::{PROFILES, Profile};

/// Runs this program's `bench` with the same arguments on the virtual device and adds to each row what that predicts
/// and counts. Predictions are of the profile with the GPU's name; without one there are counts only.
///
/// One process has one device, and the virtual one leaves the GPU in peace.
///
/// # Errors
/// When the program does not run to its end.
pub fn predict(results: &mut Results, arguments: &[String]) -> Result<()> {
    let named = PROFILES.iter().find(|(name, _)| {
        Profile::named(name).is_ok_and(|known| known.name == results.environment.device.name)
    });
    let profile = named.map_or("h200", |(name, _)| name);
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let file = folder.path().join("predicted.json");
    let program = std::env::current_exe().context("cannot find this program")?;
    let output = Command::new(program)
        .arg("bench")
        .args(arguments)
        .args(["--device", &format!("virtual:{profile}"), "--json"])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .context("cannot run this program for its predictions")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("the predictions failed: {}", said.lines().last().unwrap_or("no reason given"));
    }
    merge(&mut results.rows, &Results::load(&file)?.rows, named.is_some());
    Ok(())
}

/// Adds what is predicted, if it is for this GPU, and counted.
fn merge(rows: &mut [Row], predicted: &[Row], is_this_gpu: bool) {
    let predicted: HashMap<_, _> = predicted.iter().map(|row| (row.key(), row)).collect();
    for row in rows {
        if let Some(other) = predicted.get(&row.key()).copied() {
            row.traffic = other.traffic;
            row.predicted_ms =
                other.measured().filter(|_| is_this_gpu).map(|measured| measured.time_ms.median);
        }
    }
}
