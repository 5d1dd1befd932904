//! `coalesce compare --fleet`: which boards are wrong, missing or slow.

use super::shared::WrongArgument;
use super::terminal::{coloured, say, show, table};
use crate::catalogue::Catalogue;
use ::results::fleet::{Fleet, LEAST_BOARDS, Node, Unsound, doubts, fleets, odd_facts};
use ::results::{FleetReport, plain, read_text};
use anyhow::Result;
use comfy_table::{Cell, Color};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The exit code when a board of a fleet has wrong rows, lacks rows or was interrupted.
const UNSOUND: u8 = 6;
/// The exit code when an expected board has no file.
const MISSING: u8 = 7;
/// The exit code when a file is damaged.
const DAMAGED: u8 = 8;

/// The questions to a fleet.
#[derive(Debug)]
pub struct FleetQuery<'a> {
    /// A file per board.
    pub files: &'a [PathBuf],
    /// The file of the names that are expected.
    pub expect: Option<&'a Path>,
    /// The form of the findings.
    pub form: Form,
}

/// The form of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// To people.
    Text,
    /// As one JSON value.
    Json,
    /// As a JSON object per line.
    JsonLines,
}

/// Boards against their median; fails when one is an outlier.
pub fn run(catalogue: &Catalogue, query: &FleetQuery<'_>) -> Result<ExitCode> {
    let mut damaged = Vec::new();
    let mut nodes = Vec::new();
    for file in query.files {
        match super::report::nodes(catalogue, std::slice::from_ref(file)) {
            Ok(node) => nodes.extend(node),
            Err(error) => damaged.push(format!("{error:#}")),
        }
    }
    let missing = missing(query.expect, &nodes)?;
    let predicted = nodes.iter().find(|node| node.results.environment.is_prediction);
    if let Some(node) = predicted {
        let name = &node.name;
        return Err(WrongArgument(format!(
            "{name} holds predictions, which are the same for all boards: give measurements"
        ))
        .into());
    }
    let fleets = fleets(&nodes);
    let unsound = fleets.iter().any(|fleet| !fleet.unsound.is_empty());
    let is_found = unsound || !missing.is_empty() || !damaged.is_empty();
    if !is_found && fleets.iter().all(|fleet| fleet.nodes.len() < LEAST_BOARDS) {
        let message = format!(
            "no model of GPU has {LEAST_BOARDS} boards here: of fewer it cannot be told which one is odd; name more files"
        );
        return Err(WrongArgument(message).into());
    }
    let outliers = fleets.iter().map(|fleet| fleet.outliers.len()).sum::<usize>();
    if query.form == Form::Json {
        let report = FleetReport::new(&nodes, &fleets, missing.clone(), damaged.clone());
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else if query.form == Form::JsonLines {
        lines(&nodes, &fleets, &missing, &damaged).iter().for_each(|line| println!("{line}"));
    } else {
        fleets.iter().for_each(|fleet| print_unsound(&nodes, fleet));
        let no_file = "no file begins with its name";
        missing.iter().for_each(|name| say(format_args!("MISSING {name}: {no_file}")));
        damaged.iter().for_each(|error| say(format_args!("DAMAGED {}", plain(error))));
        let doubts = fleets.iter().flat_map(|fleet| doubts(&nodes, fleet));
        doubts.for_each(|doubt| say(format_args!("DOUBTFUL {doubt}")));
        fleets.iter().for_each(|fleet| print_fleet(&nodes, fleet));
    }
    Ok(match () {
        () if unsound => ExitCode::from(UNSOUND),
        () if !missing.is_empty() => ExitCode::from(MISSING),
        () if !damaged.is_empty() => ExitCode::from(DAMAGED),
        () if outliers > 0 => ExitCode::FAILURE,
        () => ExitCode::SUCCESS,
    })
}

/// The names of a file that no node has.
fn missing(expected: Option<&Path>, nodes: &[Node]) -> Result<Vec<String>> {
    let Some(file) = expected else { return Ok(Vec::new()) };
    let text = read_text(file)
        .map_err(|error| WrongArgument(format!("cannot read {}: {error}", file.display())))?;
    let is_there = |name: &str| {
        nodes.iter().any(|node| {
            let rest = node.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_']))
        })
    };
    let names = text.lines().map(str::trim).filter(|name| !name.is_empty() && !is_there(name));
    Ok(names.map(str::to_owned).collect())
}

/// Says which boards have not the rows that they should have.
fn print_unsound(nodes: &[Node], fleet: &Fleet) {
    for Unsound { node, wrong, absent, interrupted } in &fleet.unsound {
        let name = &nodes[*node].name;
        for (word, rows) in [("WRONG", wrong), ("ABSENT", absent)] {
            if let [(row, reason), ..] = &rows[..] {
                let count = rows.len();
                say(format_args!("{word} {name}: {count} rows, the first is {row}: {reason}"));
            }
        }
        if *interrupted {
            say(format_args!("INTERRUPTED {name}: `bench --resume` with its file goes on"));
        }
    }
}

fn print_fleet(nodes: &[Node], fleet: &Fleet) {
    let count = fleet.nodes.len();
    if count < LEAST_BOARDS {
        say(format_args!(
            "{}: {count} boards, too few to judge: at least {LEAST_BOARDS} are needed",
            fleet.model
        ));
        return;
    }
    if !fleet.outliers.is_empty() {
        let mut rows = table([
            "board",
            "slow at",
            "time / median",
            "deviations",
            "rows",
            "unlike most boards",
        ]);
        for outlier in &fleet.outliers {
            rows.add_row([
                coloured(&nodes[outlier.node].name, Color::Red),
                Cell::new(outlier.slow_at()),
                Cell::new(format!("{:.3}", outlier.score.ratio)),
                Cell::new(format!("{:.0}", outlier.score.deviations)),
                Cell::new(outlier.score.rows),
                Cell::new(odd_facts(nodes, fleet, outlier.node).join("; ")),
            ]);
        }
        println!("{}", show(&mut rows));
    }
    let mut slow: Vec<usize> = fleet.outliers.iter().map(|outlier| outlier.node).collect();
    slow.sort_unstable();
    slow.dedup();
    println!("{}: {} of {count} boards are outliers", fleet.model, slow.len());
}

/// The findings, an object each; `finding` says of which kind.
fn lines(
    nodes: &[Node],
    fleets: &[Fleet],
    missing: &[String],
    damaged: &[String],
) -> Vec<serde_json::Value> {
    let mut lines = Vec::new();
    for fleet in fleets {
        for Unsound { node, wrong, absent, interrupted } in &fleet.unsound {
            let board = &nodes[*node].name;
            for (finding, rows) in [("wrong", wrong), ("absent", absent)] {
                if let [(row, reason), ..] = &rows[..] {
                    let count = rows.len();
                    lines.push(json!({
                        "finding": finding, "board": board, "rows": count, "first": row, "reason": reason,
                    }));
                }
            }
            if *interrupted {
                lines.push(json!({ "finding": "interrupted", "board": board }));
            }
        }
    }
    lines.extend(missing.iter().map(|name| json!({ "finding": "missing", "board": name })));
    lines.extend(damaged.iter().map(|error| json!({ "finding": "damaged", "reason": error })));
    for fleet in fleets {
        let doubts = doubts(nodes, fleet).into_iter();
        lines.extend(doubts.map(|doubt| json!({ "finding": "doubtful", "reason": doubt })));
        lines.extend(fleet.outliers.iter().map(|outlier| {
            json!({
                "finding": "outlier",
                "board": nodes[outlier.node].name,
                "slow_at": outlier.slow_at(),
                "ratio": outlier.score.ratio,
                "deviations": outlier.score.deviations,
                "rows": outlier.score.rows,
                "odd": odd_facts(nodes, fleet, outlier.node),
            })
        }));
    }
    lines
}
