//! Result files: what was measured, where, and with what.

use crate::gpu::DeviceFacts;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// The version of the file format. A reader refuses files of a newer one.
pub const SCHEMA: u32 = 1;

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where and with what.
    pub environment: Environment,
    /// The driver's device-to-device copy, measured in this run: the ceiling of a copying kernel.
    pub device_copy: Ceiling,
    /// One row per variant and size.
    pub rows: Vec<Row>,
}

/// Where and with what a run was made.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Environment {
    /// Whether the device was virtual: its times are predictions of a model.
    pub is_prediction: bool,
    /// The GPU.
    pub device: DeviceFacts,
    /// The commit of the binary.
    pub commit: String,
    /// The compiler of the kernels.
    pub compiler: String,
    /// The target of the PTX that ran, such as `sm_90`.
    pub ptx_target: String,
    /// The start of the SHA-256 of that PTX.
    pub ptx_hash: String,
    /// The seed of the inputs.
    pub seed: u64,
    /// Seconds since 1970 when the run began.
    pub started_unix_s: u64,
}

/// A ceiling measured in the run.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Ceiling {
    /// Bytes per pass, read and written.
    pub bytes: usize,
    /// Time per pass.
    pub time_ms: Spread,
    /// Bytes over the median time.
    pub bandwidth_gb_s: f64,
}

/// One variant at one size.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Row {
    /// The pattern.
    pub pattern: String,
    /// The variant.
    pub variant: String,
    /// The size, by dimension.
    pub size: BTreeMap<String, usize>,
    /// Whether the row belongs to a sweep rather than the ladder.
    pub sweep: bool,
    /// Whether it is not ours but a peer's: CUDA C++ or a library of NVIDIA's.
    #[serde(default)]
    pub peer: bool,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a row.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Outcome {
    /// Correct before and after, and timed.
    Measured {
        /// Time per launch.
        time_ms: Spread,
        /// The bytes that any implementation must move.
        bytes: usize,
        /// Those bytes over the median time.
        bandwidth_gb_s: f64,
        /// That bandwidth over the device copy's.
        percent_of_copy: f64,
        /// The naive variant's median time over this one's, at the same size.
        speed_up: f64,
    },
    /// It cannot run on this device or at this size.
    NotRun {
        /// Why.
        reason: String,
    },
    /// A wrong result, before or after timing.
    Wrong {
        /// What was wrong.
        reason: String,
    },
}

/// The distribution of a set of samples.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
pub struct Spread {
    /// How many.
    pub samples: usize,
    /// The smallest.
    pub min: f64,
    /// A quarter lies below.
    pub q1: f64,
    /// Half lies below.
    pub median: f64,
    /// Three quarters lie below.
    pub q3: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// The distribution of at least one sample.
    pub fn of(samples: &[f64]) -> Spread {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let position = share * (sorted.len() - 1) as f64;
            let (below, above) =
                (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
            below + (above - below) * position.fract()
        };
        Spread {
            samples: sorted.len(),
            min: at(0.0),
            q1: at(0.25),
            median: at(0.5),
            q3: at(0.75),
            max: at(1.0),
        }
    }

    /// The interquartile range over the median, in percent.
    pub fn noise_percent(&self) -> f64 {
        100.0 * (self.q3 - self.q1) / self.median
    }
}

impl Results {
    /// Writes the file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_json(path, self)
    }

    /// Reads a file and checks that this program understands it.
    pub fn load(path: &Path) -> Result<Results> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let not_results =
            || format!("{} is not a result file of `coalesce bench --json`", path.display());
        let version: Version = serde_json::from_str(&text).with_context(not_results)?;
        if version.schema != SCHEMA {
            bail!(
                "{} has result schema {}, this program reads {SCHEMA}: use the program that wrote it",
                path.display(),
                version.schema
            );
        }
        serde_json::from_str(&text).with_context(not_results)
    }
}

/// Writes a value as JSON, the whole file or nothing of it.
///
/// # Errors
/// When the folder or the disk does not take it; a file that was there stays as it was.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = || format!("cannot write {}: choose another file", path.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    serde_json::to_writer_pretty(&mut file, value).with_context(cannot)?;
    file.write_all(b"\n").with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    let file = file.persist(path).with_context(cannot)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644)).with_context(cannot)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_interpolate() {
        let spread = Spread::of(&[4.0, 1.0, 2.0, 3.0]);
        assert_eq!(
            (spread.min, spread.q1, spread.median, spread.q3, spread.max),
            (1.0, 1.75, 2.5, 3.25, 4.0)
        );
        assert_eq!(spread.samples, 4);
        let single = Spread::of(&[7.0]);
        assert_eq!((single.q1, single.median, single.noise_percent()), (7.0, 7.0, 0.0));
    }

    #[test]
    fn a_file_that_is_not_ours_is_one_sentence() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.json");
        for (text, part) in [
            ("", "not a result file"),
            ("{\"schema\": 99}", "has result schema 99"),
            ("{\"schema\": 1}", "not a result file"),
        ] {
            std::fs::write(&path, text).expect("a writable folder");
            let error = Results::load(&path).expect_err("not a result file");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
