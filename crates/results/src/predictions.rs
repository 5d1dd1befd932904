//! The predictions in a result file, and how they are replaced when the model has changed.

use crate::error::{Error, Result};
use crate::run::{Results, Row};
use std::collections::HashMap;

/// Two predictions that differ by no more than this part of one are the same.
const SAME: f64 = 1e-3;

/// Adds to each row what a run on the virtual device counts of it and, unless that stands for another device, predicts.
/// Says how many predictions changed. Rows that were not predicted stay as they are.
pub fn add_predictions(rows: &mut [Row], predicted: &[Row], is_this_device: bool) -> usize {
    let predicted: HashMap<_, _> = predicted.iter().map(|row| (row.key(), row)).collect();
    let mut changed = 0;
    for row in rows {
        let Some(other) = predicted.get(&row.key()).copied() else { continue };
        row.traffic = other.traffic;
        let measured = other.measured().filter(|_| is_this_device);
        let now = measured.map(|measured| measured.time_ms.median);
        let before = std::mem::replace(&mut row.predicted_ms, now);
        changed += usize::from(match (before, now) {
            (Some(before), Some(now)) => (now / before - 1.0).abs() > SAME,
            (before, now) => before.is_some() != now.is_some(),
        });
    }
    changed
}

impl Results {
    /// Replaces predictions by those of a run on the virtual device of the same name; says how many changed.
    ///
    /// # Errors
    /// The other run was measured, or is of another device.
    pub fn replace_predictions(&mut self, predicted: &Results) -> Result<usize> {
        let (here, there) = (&self.environment, &predicted.environment);
        if !there.is_prediction {
            return Err(Error::Measured);
        }
        if here.is_prediction {
            return Err(Error::Predicted);
        }
        let [measured, predicted_of] =
            [here.device.model(), there.device.model()].map(str::to_owned);
        if measured != predicted_of {
            return Err(Error::Devices { measured, predicted: predicted_of });
        }
        Ok(add_predictions(&mut self.rows, &predicted.rows, true))
    }
}
