use super::compare_fleet::{self, FleetQuery, Form};
use super::shared::WrongArgument;
use super::terminal::{coloured, fit, say, show, table};
use crate::catalogue::Catalogue;
use ::results::{Agreement, Comparison, Pair, Results, Verdict, agreement, differences, pairs};
use anyhow::Result;
use comfy_table::{Cell, Color};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Compare two result files: predictions with measurements, or one measurement with another.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM compare predicted.json measured.json\n  PROGRAM compare before.json after.json --fail-on slower\n  PROGRAM compare --fleet nodes/*.json\n\nVerdicts on two measurements:\n  SAME             the medians differ by less than half a percent, or the spreads overlap and are narrow\n  FASTER, SLOWER   the spreads do not overlap, and the medians differ by more than half a launch overhead\n  AMBIGUOUS        the spreads overlap and are wide, or the medians differ by less than half a launch overhead\n\nA board of a fleet is an outlier when its time at one part or resource of the device is more than 6 robust standard deviations\n(from the median absolute deviation over the boards) and more than 3 % above the median board.\n\nExit codes with --fleet, the first that holds: 6 a board has wrong rows, lacks rows that most have, or was interrupted;\n7 a board of --expect has no file; 8 a file is damaged; 1 a board is an outlier."
)]
pub struct Arguments {
    /// Two files: an earlier measurement or predictions, and the measurement that is compared with it. With `--fleet` a
    /// file per board.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Compare boards of a fleet, four or more of one model, with their median; exit with 1 when one is an outlier, with
    /// other codes when a board is wrong or missing.
    #[arg(long, conflicts_with_all = ["fail_on", "least_order", "most_error", "most_tenth"])]
    fleet: bool,
    /// The nodes or boards that a fleet has, a name per line: those without a file are named. A node's files begin with its
    /// name, as `node07.gpu3.json` does.
    #[arg(long, value_name = "FILE", requires = "fleet")]
    expect: Option<PathBuf>,
    /// Write the comparison as JSON to standard output, and nothing else.
    #[arg(long)]
    json: bool,
    /// Write what was found of a fleet to standard output, one JSON object per line, for monitoring.
    #[arg(long, requires = "fleet", conflicts_with = "json")]
    json_lines: bool,
    /// Exit with 1 when a row is slower in the second file.
    #[arg(long, value_name = "VERDICT")]
    fail_on: Option<FailOn>,
    /// For predictions: exit with 1 unless at least this percentage of neighbouring rows is predicted in the measured order.
    #[arg(long, value_name = "PERCENT")]
    least_order: Option<f64>,
    /// For predictions: exit with 1 when the median error exceeds this percentage.
    #[arg(long, value_name = "PERCENT")]
    most_error: Option<f64>,
    /// For predictions: exit with 1 when a tenth of the rows is off by more than this percentage.
    #[arg(long, value_name = "PERCENT")]
    most_tenth: Option<f64>,
}

/// The verdict that makes a comparison fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// A row is slower.
    Slower,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    if arguments.fleet {
        let form = match (arguments.json, arguments.json_lines) {
            (true, _) => Form::Json,
            (false, true) => Form::JsonLines,
            (false, false) => Form::Text,
        };
        let (files, expect) = (&arguments.files[..], arguments.expect.as_deref());
        return compare_fleet::run(catalogue, &FleetQuery { files, expect, form });
    }
    let [first, second] = &arguments.files[..] else {
        return Err(WrongArgument(format!(
            "{} files: name two to compare, or say --fleet to compare boards of a fleet",
            arguments.files.len()
        ))
        .into());
    };
    let load = |path: &Path| Results::load(path, catalogue.renamed);
    let (first, second) = (load(first)?, load(second)?);
    let (found, alone) = pairs(&first, &second);
    if found.is_empty() {
        return Err(WrongArgument(
            "the files have no row in common: compare runs of the same patterns and sizes"
                .to_owned(),
        )
        .into());
    }
    let is_good = match (first.environment.is_prediction, second.environment.is_prediction) {
        (true, false) => predictions(arguments, &found),
        (false, true) => {
            return Err(WrongArgument(
                "the second file holds predictions: give the predictions first".to_owned(),
            )
            .into());
        }
        _ => {
            if !arguments.json {
                for difference in differences(&first.environment, &second.environment) {
                    say(difference);
                }
            }
            measurements(arguments, &found)
        }
    };
    if arguments.json {
        let comparison = Comparison::new(&first, &second, &found, alone);
        println!("{}", serde_json::to_string_pretty(&comparison)?);
    } else if alone > 0 {
        let are = if alone == 1 { "row is" } else { "rows are" };
        say(format_args!("{alone} {are} in only one of the files, of ladders and curves in both"));
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn name(pair: &Pair<'_>) -> [String; 2] {
    [pair.row.name(), pair.row.show_size()]
}

/// Returns whether the predictions are as accurate as the caller requires.
fn predictions(arguments: &Arguments, found: &[Pair<'_>]) -> bool {
    let header = ["variant", "size", "predicted", "measured", "measured / predicted"];
    let mut rows = table(header);
    for pair in found.iter().filter(|pair| pair.row.sweep.is_none()) {
        let [variant, size] = name(pair);
        let ms = |time: f64| format!("{time:.4} ms");
        let ratio = format!("{:.2}", pair.ratio());
        rows.add_row([variant, size, ms(pair.first.median), ms(pair.second.median), ratio]);
    }
    if !arguments.json {
        fit(&mut rows, header, &["size"], true);
        println!("{}", show(&mut rows));
    }
    let Agreement { neighbours, in_order, error_percent, worst_tenth_percent } = agreement(found);
    let order_percent = 100.0 * in_order as f64 / neighbours.max(1) as f64;
    if !arguments.json {
        say(format_args!(
            "order: {in_order} of {neighbours} pairs of neighbours that differ by more than 10 % are predicted in the measured order ({order_percent:.0} %)"
        ));
        say(format_args!(
            "prediction error: median {error_percent:.0} % over {} rows; for a tenth of them it exceeds {worst_tenth_percent:.0} %",
            found.len()
        ));
    }
    let limits = [
        ("--least-order", arguments.least_order, order_percent, 1.0),
        ("--most-error", arguments.most_error, error_percent, -1.0),
        ("--most-tenth", arguments.most_tenth, worst_tenth_percent, -1.0),
    ];
    let mut is_good = true;
    for (option, limit, found, sign) in limits {
        let is_missed =
            |limit: &f64| (sign * found).partial_cmp(&(sign * limit)).is_none_or(Ordering::is_lt);
        if let Some(limit) = limit.filter(is_missed) {
            eprintln!("`{option} {limit}` is missed: it is {found:.2} %");
            is_good = false;
        }
    }
    is_good
}

/// Returns whether no row has the verdict that makes the comparison fail.
fn measurements(arguments: &Arguments, found: &[Pair<'_>]) -> bool {
    let mut rows = table(["variant", "size", "first", "second", "ratio", "verdict"]);
    let (mut counts, mut agreeing) = ([0; 4], 0);
    for pair in found {
        let verdict = pair.verdict();
        counts[verdict as usize] += 1;
        let is_excused = verdict == Verdict::Ambiguous && pair.is_excused();
        agreeing += usize::from(verdict == Verdict::Same || is_excused);
        if pair.row.sweep.is_some() && verdict == Verdict::Same {
            continue;
        }
        let [variant, size] = name(pair);
        let ms = |time: f64| format!("{time:.4} ms");
        let color = match verdict {
            Verdict::Faster => Some(Color::Green),
            Verdict::Slower => Some(Color::Red),
            Verdict::Same | Verdict::Ambiguous => None,
        };
        rows.add_row([
            Cell::new(variant),
            Cell::new(size),
            Cell::new(ms(pair.first.median)),
            Cell::new(ms(pair.second.median)),
            Cell::new(format!("{:.3}", pair.ratio())),
            color.map_or_else(|| Cell::new(verdict), |color| coloured(verdict, color)),
        ]);
    }
    let is_good = arguments.fail_on.is_none() || counts[Verdict::Slower as usize] == 0;
    if arguments.json {
        return is_good;
    }
    println!("{}", show(&mut rows));
    let [same, faster, slower, ambiguous] = counts;
    println!("{same} SAME, {faster} FASTER, {slower} SLOWER, {ambiguous} AMBIGUOUS");
    say(format_args!(
        "{agreeing} of {} ({:.0} %) are SAME, or AMBIGUOUS and bound by the host (no resource of the device accounts for half of their time) or by less than half a launch overhead",
        found.len(),
        100.0 * agreeing as f64 / found.len() as f64
    ));
    is_good
}
