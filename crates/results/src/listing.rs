//! JSON that commands print and no other file holds: verifications, lists of patterns, verdicts of the course.

use crate::fidelity::Fidelity;
use crate::profile::{Mistake, ProfiledHazard};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the format of verifications.
pub const VERIFIED_SCHEMA: u32 = 1;
/// The version of the format of lists of patterns.
pub const LISTED_SCHEMA: u32 = 1;
/// The version of the format of the course's verdicts.
pub const CHECKED_SCHEMA: u32 = 1;

/// The output of `verify --json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct VerifyReport {
    /// [`VERIFIED_SCHEMA`].
    pub schema: u32,
    /// Each device on which the launches ran.
    pub devices: Vec<VerifiedDevice>,
}

/// The launches that ran on a device.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct VerifiedDevice {
    /// Its name.
    pub device: String,
    /// The seed of the inputs.
    pub seed: u64,
    /// In the order of the catalogue.
    pub launches: Vec<VerifiedLaunch>,
    /// Mistakes in the use of the driver.
    pub misuses: Vec<VerifiedMisuse>,
    /// Launches with the right result.
    pub correct: usize,
    /// Launches with a wrong result.
    pub wrong: usize,
    /// Launches that cannot run here.
    pub not_run: usize,
    /// Hazards and mistakes, where they were looked for.
    pub hazards: Option<usize>,
    /// The exact and the other parts, where the virtual device ran them.
    pub fidelity: Option<Fidelity>,
}

/// A variant at one size.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct VerifiedLaunch {
    /// Its name with the size, such as `transpose/padded at rows=31, columns=33`.
    pub launch: String,
    /// The file that its pattern is in, below the workspace.
    pub file: String,
    /// The outcome.
    pub outcome: LaunchOutcome,
    /// Why it was not run, or the first wrong element.
    pub reason: Option<String>,
    /// Hazards of its kernels.
    pub hazards: Vec<ProfiledHazard>,
}

/// The outcome of a launch that was verified.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
pub enum LaunchOutcome {
    /// Every element of every output is right.
    #[serde(rename = "correct")]
    Correct,
    /// It cannot run here or at this size.
    #[serde(rename = "not run")]
    NotRun,
    /// An output is wrong.
    #[serde(rename = "wrong")]
    Wrong,
}

/// A mistake in the use of the driver, and the pattern during which it showed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct VerifiedMisuse {
    /// The pattern.
    pub pattern: String,
    /// The file that the pattern is in, below the workspace.
    pub file: String,
    /// The mistake.
    pub mistake: Mistake,
}

/// The output of `list --json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct PatternList {
    /// [`LISTED_SCHEMA`].
    pub schema: u32,
    /// In teaching order.
    pub patterns: Vec<ListedPattern>,
}

/// A pattern of a catalogue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ListedPattern {
    /// Its name.
    pub name: String,
    /// The one claim that a reader leaves with.
    pub claim: String,
    /// The names of a size's numbers.
    pub dimensions: Vec<String>,
    /// Naive first.
    pub variants: Vec<ListedVariant>,
}

/// A variant of a pattern.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ListedVariant {
    /// Its name.
    pub name: String,
    /// Its kernel, if it is one.
    pub kernel: Option<String>,
    /// The change from the variant before.
    pub summary: String,
    /// The compute capability that it needs, such as 80 for 8.0.
    pub min_compute_capability: u32,
}

/// The output of `learn check --json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CheckedTasks {
    /// [`CHECKED_SCHEMA`].
    pub schema: u32,
    /// The number of tasks that pass.
    pub passed: usize,
    /// Each task that was checked.
    pub tasks: Vec<CheckedTask>,
}

/// A task of the course and the verdict on a learner's file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CheckedTask {
    /// The task.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// `kernel`, `bug`, `question` or `host`.
    pub kind: String,
    /// False where a submission has no such file.
    pub present: bool,
    /// Saves that did not pass, as the learner's folder has noted.
    pub attempts: u32,
    /// Hints that were shown.
    pub hints: usize,
    /// True when the solution was shown before it passed.
    pub solution_seen: bool,
    /// True when nothing is left to do.
    pub passed: bool,
    /// The stage at which it fails, such as `compiles`.
    pub stage: Option<String>,
    /// Why it fails.
    pub message: Option<String>,
    /// The line of the file, counted from 1.
    pub line: Option<u32>,
    /// The counts that the task bounds.
    pub counts: Vec<CheckedCount>,
    /// The time that the check took.
    pub seconds: f64,
}

/// A count of a learner's kernels beside its bounds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CheckedCount {
    /// The count, such as `sectors per load`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// The least that passes.
    pub at_least: f64,
    /// The most that passes, if there is one.
    pub at_most: Option<f64>,
}
