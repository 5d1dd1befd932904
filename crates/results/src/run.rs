use crate::counts::Counts;
use crate::error::{Error, FileKind, Result};
use crate::read::read_json;
use crate::renamed::{Renamed, rename_pattern, rename_variant, twin};
use crate::resource::Resource;
use crate::spread::Spread;
use crate::timeline::Timeline;
use crate::traffic::Traffic;
use crate::write;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the file format. A reader refuses files of a newer one, and of one too old to be understood.
pub const SCHEMA: u32 = 7;

/// The oldest version that is read: it has no [`Board::id`], and neither it nor version 4 has counts. Up to version 5
/// measured peaks were called ceilings, minimum times floors, and what bounds them limits.
const OLDEST_SCHEMA: u32 = 3;

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// [`SCHEMA`], or an older one that is still read.
    pub schema: u32,
    /// Machine and settings of the run.
    pub environment: Environment,
    /// True when the run was interrupted: rows are missing, those that are here are whole.
    pub interrupted: bool,
    /// The machine's peaks, measured in this run; the device-to-device copy is always among them.
    #[serde(alias = "ceilings")]
    pub measured_peaks: Vec<MeasuredPeak>,
    /// One row per variant and size.
    #[serde(serialize_with = "write::on_lines")]
    pub rows: Vec<Row>,
    /// Counts of the ladders' kernels, made by executing them.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "write::on_a_line")]
    pub counts: Option<Counts>,
}

/// Machine and settings of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// True when the device was virtual: its times are predictions of a model.
    pub is_prediction: bool,
    /// The GPU.
    pub device: DeviceFacts,
    /// The GPU as NVIDIA's management library sees it; `None` without that library and on the virtual device.
    pub board: Option<Board>,
    /// The machine around the GPU.
    pub host: Host,
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
    /// The duration of the run, seconds.
    pub duration_s: f64,
}

/// Facts of the device, as the driver gives them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct DeviceFacts {
    /// The name the driver gives.
    pub name: String,
    /// The compute capability times ten.
    pub capability: u32,
    /// The CUDA version the driver supports.
    pub driver_version: String,
    /// Multiprocessors.
    pub multiprocessors: i32,
    /// The highest multiprocessor clock, kHz.
    pub clock_khz: i32,
    /// The memory clock, kHz.
    pub memory_clock_khz: i32,
    /// The memory bus, bits.
    pub memory_bus_bits: i32,
    /// The L2 cache, bytes.
    pub l2_bytes: i32,
    /// Device memory, bytes.
    pub memory_bytes: usize,
    /// True when memory errors are corrected.
    pub ecc: bool,
    /// The theoretical bandwidth of device memory: two transfers per clock over the whole bus. Older files do not have
    /// it.
    #[serde(default)]
    pub theoretical_bandwidth_gb_s: Option<f64>,
}

impl DeviceFacts {
    /// The name of the GPU, also of one that is virtual.
    pub fn model(&self) -> &str {
        self.name.trim_end_matches(" (virtual)")
    }

    /// The theoretical bandwidth of device memory in GB/s, from its clock and its width.
    pub fn theoretical_bandwidth(&self) -> f64 {
        2.0 * f64::from(self.memory_clock_khz) * f64::from(self.memory_bus_bits) / 8.0 / 1e6
    }
}

/// The GPU's board: what NVIDIA's management library says of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Tells boards of one model apart: the start of the SHA-256 of its UUID.
    pub id: Option<String>,
    /// The version of the driver, such as `580.65.06`.
    pub driver: String,
    /// The highest clock of the multiprocessors, MHz.
    pub max_clock_mhz: Option<u32>,
    /// The highest clock of the memory, MHz.
    pub max_memory_clock_mhz: Option<u32>,
    /// The power limit, W.
    pub power_limit_w: Option<f64>,
    /// Power when the run began, W.
    pub power_w: Option<f64>,
    /// Temperature when the run began, degrees Celsius.
    pub temperature_c: Option<u32>,
    /// The generation of the PCIe link.
    pub pcie_generation: Option<u32>,
    /// The lanes of the PCIe link.
    pub pcie_lanes: Option<u32>,
    /// The generation that the link could have; older files do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pcie_generation: Option<u32>,
    /// The lanes that the link could have; older files do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pcie_lanes: Option<u32>,
    /// Reasons that held the clocks down during the run, in the library's words.
    pub throttle_reasons: Vec<String>,
}

/// The machine around the GPU.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The processor's name.
    pub cpu: String,
    /// Its logical cores.
    pub logical_cores: usize,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// The operating system.
    pub system: String,
    /// The version of its kernel.
    pub kernel: String,
}

/// A measured peak measured in the run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MeasuredPeak {
    /// The resource that it limits.
    #[serde(alias = "limit")]
    pub resource: Resource,
    /// Per pass, in the unit of the resource.
    pub amount: usize,
    /// Time per pass.
    pub time_ms: Spread,
}

impl MeasuredPeak {
    /// 10^9 bytes (operations of arithmetic) per second, from the fastest pass: what slows
    /// the others down is no limit.
    pub fn bandwidth_gb_s(&self) -> f64 {
        self.amount as f64 / self.time_ms.min / 1e6
    }

    /// The peak in the unit of its resource, in words.
    pub fn rate(&self) -> String {
        match self.resource {
            Resource::Launch => format!("{:.2} us", 1e3 * self.minimum_time_ms(1)),
            Resource::Fp32 | Resource::TensorBf16 => {
                format!("{:.1} TFLOP/s", self.bandwidth_gb_s() / 1e3)
            }
            _ => format!("{:.0} GB/s", self.bandwidth_gb_s()),
        }
    }

    /// The least time of an amount, milliseconds.
    pub fn minimum_time_ms(&self, amount: usize) -> f64 {
        self.time_ms.min * amount as f64 / self.amount as f64
    }
}

/// One variant at one size.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The pattern.
    pub pattern: String,
    /// The variant.
    pub variant: String,
    /// The size, by dimension. A choice is the index of its name.
    pub size: BTreeMap<String, f64>,
    /// The dimension that varies, if the row belongs to a curve rather than to the ladder.
    pub sweep: Option<String>,
    /// True when it is not ours but a peer's: CUDA C++ or a library of NVIDIA's.
    pub peer: bool,
    /// The kernel's share of a multiprocessor; `None` for work of the host and for peers.
    pub resources: Option<Resources>,
    /// The kernel's requests of memory, counted by executing it; `None` where that was not done.
    pub traffic: Option<Traffic>,
    /// The prediction of the virtual device's model, milliseconds.
    pub predicted_ms: Option<f64>,
    /// Of a prediction: what the model predicts of this row over what this device took, as a committed comparison has
    /// it. `None` where nobody compared, and in measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_ratio: Option<f64>,
    /// The timeline of work of the host on a GPU, unless it was too much for a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// The outcome.
    pub outcome: RowOutcome,
}

/// A kernel's share of a multiprocessor.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Registers per thread.
    pub registers: u32,
    /// True when they are an estimate, without NVIDIA's assembler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub registers_are_estimated: bool,
    /// Shared memory per block, bytes, dynamic included.
    pub shared_bytes: u32,
    /// Local memory per thread, bytes.
    pub local_bytes: u32,
    /// Threads per block.
    pub block_threads: u32,
    /// Warps that fit on a multiprocessor over those that it can hold, percent.
    pub occupancy_percent: f64,
}

/// The outcome of a row.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[expect(clippy::large_enum_variant, reason = "nearly all rows are of the large one")]
pub enum RowOutcome {
    /// Correct before and after, and timed.
    Measured(Measured),
    /// It cannot run on this device or at this size.
    NotRun {
        /// Why.
        reason: String,
    },
    /// A wrong result before or after timing, a launch that failed, or a figure that cannot be.
    Wrong {
        /// The mistake.
        reason: String,
    },
}

/// The figures of a row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Time per run with cold caches.
    pub time_ms: Spread,
    /// Time per run right after another: what fits the caches is there.
    pub hot_ms: Option<Spread>,
    /// Time per run as one of many in a graph, caches as for `hot_ms`.
    pub graph_ms: Option<Spread>,
    /// The clock of the multiprocessors after each sample, MHz.
    pub clock_mhz: Option<Spread>,
    /// Samples that were thrown away because the clock was below three quarters of its maximum.
    pub throttled: usize,
    /// The bytes that any implementation must move.
    pub bytes: usize,
    /// Those bytes over the median time.
    pub bandwidth_gb_s: f64,
    /// The lower bound of the time, if a measured peak gives one.
    #[serde(alias = "floor")]
    pub minimum_time: Option<MinimumTime>,
    /// The naive variant's median time over this one's, at the same size.
    pub speed_up: f64,
}

/// Lower bounds of a time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MinimumTime {
    /// The measured peak.
    #[serde(alias = "limit")]
    pub resource: Resource,
    /// The amount that must go through it, in the unit of the resource.
    pub amount: usize,
    /// The time that this takes at the measured peak, milliseconds.
    pub time_ms: f64,
    /// That time over the median, percent.
    pub percent: f64,
}

impl Results {
    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// When the folder or the disk does not take it.
    pub fn save(&self, path: &Path) -> Result<()> {
        write::write(path, self.text()?.as_bytes())
    }

    /// The text of the file: rows and counts are a line each.
    ///
    /// # Errors
    /// A number that JSON does not have.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads a file, compressed if its name ends in `.gz`, checks that this program understands it, and gives what was
    /// renamed since its present name.
    ///
    /// # Errors
    /// A file that is none, that is damaged, or of a version that is not read.
    pub fn load(path: &Path, renamed: &[Renamed]) -> Result<Results> {
        let mut results: Results = read_json(path, FileKind::Results, [OLDEST_SCHEMA, SCHEMA])?;
        if let Some(figures) = results.impossible() {
            return Err(Error::Damaged { path: path.to_owned(), figures });
        }
        results.rename(renamed);
        Ok(results)
    }

    fn rename(&mut self, renamed: &[Renamed]) {
        for row in &mut self.rows {
            rename_pattern(&mut row.pattern, renamed);
            rename_variant(&mut row.variant, &row.pattern, renamed);
        }
        for pattern in self.counts.iter_mut().flat_map(|counts| &mut counts.patterns) {
            rename_pattern(&mut pattern.name, renamed);
            for variant in &mut pattern.variants {
                rename_variant(&mut variant.name, &pattern.name, renamed);
            }
        }
    }

    /// The measured peak of a resource, if it was measured.
    pub fn peak(&self, resource: Resource) -> Option<&MeasuredPeak> {
        self.measured_peaks.iter().find(|peak| peak.resource == resource)
    }

    /// The rows of the ladders, peers included.
    pub fn ladders(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.sweep.is_none())
    }

    /// Returns what a row's speed-up is over: the first of our variants of its ladder that must move as many bytes.
    /// A variant that does other work, such as one direction of a transfer, is no faster way to do the same.
    pub fn baseline(&self, row: &Row) -> Option<&Row> {
        let bytes = row.measured()?.bytes;
        let is_like = |one: &&Row| {
            !one.peer
                && one.pattern == row.pattern
                && one.sweep == row.sweep
                && one.size == row.size
        };
        let mut alike = self.rows.iter().filter(is_like);
        alike.find(|one| one.measured().is_some_and(|measured| measured.bytes == bytes))
    }

    /// Names figures that no types forbid and that cannot be: all are positive and in order.
    fn impossible(&self) -> Option<String> {
        let is_bad = |peak: &&MeasuredPeak| peak.amount == 0 || !peak.time_ms.is_sound();
        if let Some(peak) = self.measured_peaks.iter().find(is_bad) {
            return Some(format!("its peak {:?}", peak.resource));
        }
        let is_bad = |row: &&Row| {
            let spreads = |it: &Measured| [Some(it.time_ms), it.hot_ms, it.graph_ms];
            row.measured().is_some_and(|it| !spreads(it).iter().flatten().all(Spread::is_sound))
        };
        let row = self.rows.iter().find(is_bad)?;
        Some(format!("the times of {}", row.name()))
    }
}

impl Row {
    /// `pattern/variant`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.pattern, self.variant)
    }

    /// Returns whether another file's row is of the same work.
    pub fn is_same_work(&self, other: &Row) -> bool {
        self.pattern == other.pattern
            && self.variant == other.variant
            && self.sweep == other.sweep
            && self.size == other.size
    }

    /// Returns what rows of the same work have in common, as text: name, size, curve.
    pub fn key(&self) -> (String, String, Option<&str>) {
        (self.name(), self.show_size(), self.sweep.as_deref())
    }

    /// The size as `columns=64 rows=32`.
    pub fn show_size(&self) -> String {
        let parts = self.size.iter().map(|(name, value)| format!("{name}={value}"));
        parts.collect::<Vec<_>>().join(" ")
    }

    /// For a peer `nvcc NAME`: our variant with the same algorithm. Libraries have their own.
    pub fn twin(&self) -> Option<&str> {
        twin(&self.variant).filter(|_| self.peer)
    }

    /// Returns whether it is work of the host: what was measured of a kernel of ours says what the kernel takes.
    pub fn is_host_work(&self) -> bool {
        !self.peer && self.resources.is_none()
    }

    /// The figures, if it was measured.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            RowOutcome::Measured(measured) => Some(measured),
            _ => None,
        }
    }
}

/// The JSON schema of result files.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(Results);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and counts are a line each, and nothing of a file changes that is read and written.
    #[test]
    fn a_committed_file_is_written_as_it_is() {
        let committed =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.json");
        let mut results = Results::load(Path::new(committed), &[]).expect("a result file");
        let saved = |results: &Results| {
            results.save(&path).expect("a writable folder");
            crate::read_text(&path).expect("it was written")
        };
        let text = crate::read_text(Path::new(committed)).expect("it is there");
        assert!(saved(&results) == text, "the file has changed");
        results.counts = Some(Counts {
            counts_schema: crate::COUNTS_SCHEMA,
            catalogue: "ours".to_owned(),
            commit: String::new(),
            images: Vec::new(),
            patterns: Vec::new(),
            myths: String::new(),
        });
        let counts = r#"{"schema":1,"catalogue":"ours","commit":"","images":[],"patterns":[]}"#;
        let rest = text.strip_suffix("\n}\n").expect("an object");
        assert!(saved(&results) == format!("{rest},\n  \"counts\": {counts}\n}}\n"));
        results.rows.clear();
        assert!(saved(&results).contains("\n  \"rows\": [],\n"));
    }

    #[test]
    fn a_file_that_is_not_ours_is_one_sentence() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.json");
        let only_version = format!("{{\"schema\": {SCHEMA}}}");
        for (text, part) in [
            ("", "not a result file"),
            ("{\"schema\": 99}", "has result schema 99"),
            ("{\"schema\": 2}", "has result schema 2, this program reads 3 to 7"),
            (&only_version, "not a result file"),
            (&"[".repeat(100_000), "not a result file"),
            (&format!("{{\"schema\": {}", "{\"a\":".repeat(100_000)), "not a result file"),
        ] {
            std::fs::write(&path, text).expect("a writable folder");
            let error = Results::load(&path, &[]).expect_err("not a result file");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
