//! The output of `compare --json`: two result files, or the boards of a fleet.

use crate::compare::{Agreement, Pair, Verdict};
use crate::fleet::{Fleet, LEAST_BOARDS, Node, doubts, odd_facts};
use crate::run::Results;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format of comparisons and of fleets.
pub const COMPARED_SCHEMA: u32 = 1;

/// The output of `compare --json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// [`COMPARED_SCHEMA`].
    pub schema: u32,
    /// True when the first file holds predictions and the second measurements.
    pub is_prediction: bool,
    /// Differences between the machines and settings of the runs, as sentences.
    pub differences: Vec<String>,
    /// The rows that both files have.
    pub rows: Vec<ComparedRow>,
    /// The number of all others.
    pub rows_in_one_file_only: usize,
    /// The agreement of predictions with measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
}

/// A variant at a size in both files.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ComparedRow {
    /// `PATTERN/VARIANT`.
    pub variant: String,
    /// Dimensions and their values.
    pub size: BTreeMap<String, f64>,
    /// The dimension of the sweep that it belongs to, if it does.
    pub sweep: Option<String>,
    /// The first median, milliseconds.
    pub first_ms: f64,
    /// The second median, milliseconds.
    pub second_ms: f64,
    /// The second over the first.
    pub ratio: f64,
    /// The verdict on two measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl Comparison {
    /// Makes it of two files, the rows of both, and the number of those that only one has.
    pub fn new(first: &Results, second: &Results, found: &[Pair<'_>], alone: usize) -> Comparison {
        let is_prediction = first.environment.is_prediction && !second.environment.is_prediction;
        let row = |pair: &Pair<'_>| ComparedRow {
            variant: pair.row.name(),
            size: pair.row.size.clone(),
            sweep: pair.row.sweep.clone(),
            first_ms: pair.first.median,
            second_ms: pair.second.median,
            ratio: pair.ratio(),
            verdict: (!is_prediction).then(|| pair.verdict()),
        };
        Comparison {
            schema: COMPARED_SCHEMA,
            is_prediction,
            differences: crate::differences(&first.environment, &second.environment),
            rows: found.iter().map(row).collect(),
            rows_in_one_file_only: alone,
            agreement: is_prediction.then(|| crate::agreement(found)),
        }
    }
}

/// The output of `compare --fleet --json`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct FleetReport {
    /// [`COMPARED_SCHEMA`].
    pub schema: u32,
    /// The boards of each model of GPU.
    pub fleets: Vec<JudgedFleet>,
    /// Expected names that no file begins with.
    pub missing: Vec<String>,
    /// The errors of files that cannot be read.
    pub damaged: Vec<String>,
}

/// The boards of one model.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct JudgedFleet {
    /// The model.
    pub model: String,
    /// True when there are enough boards to tell which one is odd.
    pub is_judged: bool,
    /// The slowest first.
    pub outliers: Vec<SlowBoard>,
    /// Those that lack rows, or whose rows are wrong.
    pub unsound: Vec<UnsoundBoard>,
    /// Reasons not to believe the comparison, as sentences.
    pub doubts: Vec<String>,
    /// Every board.
    pub boards: Vec<JudgedBoard>,
}

/// A board that is slower than the others.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SlowBoard {
    /// Its file's name.
    pub board: String,
    /// The part of the device that is slow.
    pub part: String,
    /// The resource of that part, where the whole part is not slow.
    pub resource: Option<String>,
    /// Its time over the median board's.
    pub ratio: f64,
    /// Robust standard deviations from the median.
    pub deviations: f64,
    /// The rows that this rests on.
    pub rows: usize,
    /// Facts of its machine that most boards do not share.
    pub odd: Vec<String>,
}

/// A board that has not the rows that most boards have.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct UnsoundBoard {
    /// Its file's name.
    pub board: String,
    /// Rows that were wrong there, each with the reason.
    pub wrong: Vec<(String, String)>,
    /// Rows that did not run there, each with the reason.
    pub absent: Vec<(String, String)>,
    /// True when its run was interrupted.
    pub interrupted: bool,
}

/// A board's times over the median board's.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct JudgedBoard {
    /// Its file's name.
    pub board: String,
    /// By part of the device.
    pub ratios: BTreeMap<String, f64>,
}

impl FleetReport {
    /// Makes it of what was found; `missing` and `damaged` are added as they are.
    pub fn new(
        nodes: &[Node],
        fleets: &[Fleet],
        missing: Vec<String>,
        damaged: Vec<String>,
    ) -> FleetReport {
        let fleets = fleets.iter().map(|fleet| judged(nodes, fleet)).collect();
        FleetReport { schema: COMPARED_SCHEMA, fleets, missing, damaged }
    }
}

fn judged(nodes: &[Node], fleet: &Fleet) -> JudgedFleet {
    let name = |node: usize| nodes[node].name.clone();
    let outliers = fleet.outliers.iter().map(|outlier| SlowBoard {
        board: name(outlier.node),
        part: outlier.part.name().to_owned(),
        resource: outlier.resource.map(|resource| resource.name().to_owned()),
        ratio: outlier.score.ratio,
        deviations: outlier.score.deviations,
        rows: outlier.score.rows,
        odd: odd_facts(nodes, fleet, outlier.node),
    });
    let unsound = fleet.unsound.iter().map(|it| UnsoundBoard {
        board: name(it.node),
        wrong: it.wrong.clone(),
        absent: it.absent.clone(),
        interrupted: it.interrupted,
    });
    let boards = fleet.nodes.iter().zip(&fleet.scores).map(|(node, scores)| JudgedBoard {
        board: name(*node),
        ratios: scores.iter().map(|(part, score)| (part.name().to_owned(), score.ratio)).collect(),
    });
    JudgedFleet {
        model: fleet.model.clone(),
        is_judged: fleet.nodes.len() >= LEAST_BOARDS,
        outliers: outliers.collect(),
        unsound: unsound.collect(),
        doubts: doubts(nodes, fleet),
        boards: boards.collect(),
    }
}
