//! The end of `bench` and `verify` for a terminal: what came of each pattern, and how far it can be believed.
//!
//! ```no_run
//! let results = results::Results::load("measured.json".as_ref(), &[])?;
//! let screen = report::screen::Screen { width: 80, is_ascii: false };
//! println!("{}", report::first_screen::bench(&results, &|_| String::new(), &screen));
//! # Ok::<(), results::Error>(())
//! ```

use super::foreign;
use super::screen::{Column, Screen};
use super::tabulate::{above_peak, is_above_peak};
use results::{Fidelity, Pair, Results, Row, RowOutcome, Spread, agreement, unranked};
use std::collections::{BTreeMap, BTreeSet};

/// The columns of a bar.
const BAR: usize = 10;
/// So many wrong rows are named; of more, their number is said.
const MAX_WRONG: usize = 5;

/// The columns, and the order in which a narrow terminal goes without them.
fn header(is_prediction: bool) -> [Column; 7] {
    let figure = |name, dropped| Column { name, is_figure: true, dropped, takes_rest: false };
    let words = |name, dropped, takes_rest| Column { name, is_figure: false, dropped, takes_rest };
    [
        words("pattern", 0, false),
        words("shows", 4, true),
        figure(if is_prediction { "predicted" } else { "measured" }, 2),
        figure("gain", 0),
        words("", 5, false),
        figure("of peak", 1),
        figure("library", 3),
    ]
}

/// The ladders of a run, a line each: what a pattern shows (`claim`), the naive time and the best one.
pub fn bench(results: &Results, claim: &dyn Fn(&str) -> String, screen: &Screen) -> String {
    let is_prediction = results.environment.is_prediction;
    let mut patterns: Vec<&str> = results.ladders().map(|row| row.pattern.as_str()).collect();
    patterns.dedup();
    let unranked = unranked(results);
    let line = |pattern: &&str| {
        let ladder = Ladder::of(results, pattern);
        ladder.line(pattern, claim(pattern), !unranked.contains(pattern), screen)
    };
    let rows: Vec<Vec<String>> = patterns.iter().map(line).collect();
    let head = format!(
        "{}: {}.",
        results.environment.device.name,
        if is_prediction { "predicted, not measured" } else { "measured" }
    );
    let mut out =
        screen.wrap(&head) + "\n\n" + &screen.columns(&header(is_prediction), &rows) + "\n";
    let others = is_prediction.then(foreign::kinds);
    let notes = [legend(results), believable(results), others, order(results, &unranked)];
    for note in notes.into_iter().flatten().chain(wrong(results)) {
        out += &screen.wrap(&note);
        out.push('\n');
    }
    if results.interrupted {
        out += "The run was interrupted: rows are missing.\n";
    }
    out
}

struct Ladder<'a> {
    naive: Option<&'a Row>,
    /// The fastest that moves as many bytes as the naive one.
    best: Option<&'a Row>,
    /// The fastest of NVIDIA's libraries.
    library: Option<&'a Row>,
    /// Why nothing was measured.
    reason: String,
}

impl<'a> Ladder<'a> {
    fn of(results: &'a Results, pattern: &str) -> Ladder<'a> {
        let rows = || results.ladders().filter(move |row| row.pattern == pattern);
        let naive = rows().find(|row| !row.peer && time(row).is_some());
        let is_like_naive = |row: &&Row| {
            let baseline = results.baseline(row);
            !row.peer && naive.zip(baseline).is_some_and(|(naive, it)| std::ptr::eq(naive, it))
        };
        let fastest = |a: &&Row, b: &&Row| {
            time(a).unwrap_or(f64::INFINITY).total_cmp(&time(b).unwrap_or(f64::INFINITY))
        };
        let best = rows().filter(is_like_naive).min_by(fastest);
        let is_library = |row: &&Row| row.peer && row.twin().is_none() && time(row).is_some();
        let library = rows().filter(is_library).min_by(fastest);
        let reason = rows().find_map(|row| match &row.outcome {
            RowOutcome::NotRun { reason } => Some(format!("not run: {reason}")),
            RowOutcome::Wrong { .. } => Some("WRONG".to_owned()),
            RowOutcome::Measured(_) => None,
        });
        Ladder { naive, best, library, reason: reason.unwrap_or_default() }
    }

    fn line(&self, pattern: &str, claim: String, is_ranked: bool, screen: &Screen) -> Vec<String> {
        let (Some(naive), Some(best)) = (self.naive, self.best) else {
            let mut cells = vec![String::new(); header(false).len()];
            cells[0] = pattern.to_owned();
            cells[1].clone_from(&self.reason);
            return cells;
        };
        let (from, to) = (time(naive).unwrap_or_default(), time(best).unwrap_or_default());
        let percent = best.measured().and_then(|it| it.minimum_time).map(|it| it.percent);
        let mark = if is_above_peak(best) { " !" } else { "" };
        let of_library = self.library.and_then(time).map(|library| library / to);
        vec![
            pattern.to_owned(),
            claim,
            times(from, to, screen),
            if is_ranked { format!("{} x", three_digits(from / to)) } else { "?".to_owned() },
            percent.map_or_else(String::new, |percent| screen.bar(percent / 100.0, BAR)),
            percent.map_or_else(String::new, |percent| format!("{percent:.0} %{mark}")),
            of_library.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        ]
    }
}

/// The median time of a row in milliseconds.
fn time(row: &Row) -> Option<f64> {
    Some(row.measured()?.time_ms.median)
}

/// Two times in the unit of the first.
fn times(from_ms: f64, to_ms: f64, screen: &Screen) -> String {
    let (unit, scale) = if from_ms < 1.0 { ("us", 1e3) } else { ("ms", 1.0) };
    let [from, to] = [from_ms, to_ms].map(|ms| three_digits(scale * ms));
    format!("{from} {} {to} {unit}", screen.arrow())
}

fn three_digits(value: f64) -> String {
    let digits = match value {
        ..1.0 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// Returns what the columns are that need a word.
fn legend(results: &Results) -> Option<String> {
    let has_library = results.ladders().any(|row| row.peer && row.twin().is_none());
    let library =
        if has_library { " Library: the time of NVIDIA's library over the best." } else { "" };
    Some(format!("Naive to best time, and the best in percent of the measured peak.{library}"))
}

/// Returns how far the model is off, and how many rows cannot be.
fn believable(results: &Results) -> Option<String> {
    let ladder = results.ladders().filter(|row| !row.peer);
    let ratio = |row: &Row| {
        row.known_ratio
            .or_else(|| Some(row.predicted_ms? / time(row)?))
            .filter(|ratio| *ratio > 0.0)
    };
    let compared = ladder.filter_map(|row| Some((row, ratio(row)?)));
    let pairs: Vec<Pair<'_>> = compared
        .map(|(row, ratio)| Pair {
            row,
            first: Spread::of(&[ratio]),
            second: Spread::of(&[1.0]),
            launch_ms: 0.0,
        })
        .collect();
    let agreement = agreement(&pairs);
    let model = (!pairs.is_empty()).then(|| {
        format!(
            "Model: median error {:.0} % over {} rows; for a tenth of them it exceeds {:.0} %.",
            agreement.error_percent,
            pairs.len(),
            agreement.worst_tenth_percent
        )
    });
    let above = results.ladders().filter(|row| is_above_peak(row)).count();
    let above = match above {
        0 => None,
        _ if !results.environment.is_prediction => above_peak(results),
        1 => Some("1 row is not believable (!): it is above 100 % of a peak.".to_owned()),
        _ => Some(format!("{above} rows are not believable (!): they are above 100 % of a peak.")),
    };
    let sentences: Vec<String> = [model, above].into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Returns which ladders the model has in the wrong order.
fn order(results: &Results, unranked: &BTreeSet<&str>) -> Option<String> {
    let names: Vec<&str> = unranked.iter().copied().collect();
    if names.is_empty() {
        return results
            .environment
            .is_prediction
            .then(|| "No ladder is known to be in the wrong order.".to_owned());
    }
    let ladders = if names.len() == 1 { "ladder is" } else { "ladders are" };
    Some(format!(
        "{} {ladders} predicted in the wrong order (gain ?): {}.",
        names.len(),
        names.join(", ")
    ))
}

/// A sentence for each wrong row.
fn wrong(results: &Results) -> Vec<String> {
    let all = results.rows.iter().filter_map(|row| match &row.outcome {
        RowOutcome::Wrong { reason } => {
            Some(format!("WRONG {} at {}: {reason}", row.name(), row.show_size()))
        }
        _ => None,
    });
    let mut all: Vec<String> = all.collect();
    if all.len() > MAX_WRONG {
        let more = all.len() - MAX_WRONG;
        all.truncate(MAX_WRONG);
        all.push(format!("WRONG, too: {more} more rows, which --all lists."));
    }
    all
}

/// The outcome of a verification.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Launches whose whole outputs are right.
    pub correct: usize,
    /// Those with a wrong element.
    pub wrong: usize,
    /// The number of launches that a reason kept from running.
    pub not_run: BTreeMap<String, usize>,
    /// Hazards and mistakes, where they were looked for.
    pub hazards: Option<usize>,
    /// The exact and the other parts, where the virtual device ran them.
    pub fidelity: Option<Fidelity>,
    /// True when each launch that was not run has been listed.
    pub is_verbose: bool,
}

/// Reasons that are listed each; of more, their number is said.
const MAX_REASONS: usize = 3;

/// The last lines of a verification.
pub fn verify(verification: &Verification, screen: &Screen) -> String {
    let Verification { correct, wrong, not_run, hazards, fidelity, is_verbose } = verification;
    let (reasons, count) = (not_run.len(), not_run.values().sum::<usize>());
    let mut lines: Vec<String> = Vec::new();
    if reasons <= MAX_REASONS || *is_verbose {
        lines.extend(
            not_run.iter().map(|(reason, count)| format!("not run, {count} times: {reason}")),
        );
        if reasons > 0 && !is_verbose {
            lines.push("(--verbose lists them)".to_owned());
        }
    } else {
        lines.push(format!("not run, {count} times for {reasons} reasons (--verbose lists them)"));
    }
    // The verdict stays the last line.
    lines.extend(fidelity.as_ref().map(ToString::to_string));
    let hazards = hazards.map_or_else(String::new, |hazards| format!(", {hazards} hazards"));
    lines.push(format!("{correct} correct, {wrong} wrong, {count} not run{hazards}"));
    lines.iter().map(|line| screen.wrap(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed() -> Results {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
        Results::load(path.as_ref(), &[]).expect("it is committed")
    }

    const CLAIM: &str = "each block stages a tile in shared memory and writes it back transposed";

    #[test]
    fn a_line_per_pattern_fits_every_terminal() {
        let results = committed();
        let patterns: BTreeSet<&str> = results.ladders().map(|row| row.pattern.as_str()).collect();
        for width in 40..160 {
            for is_ascii in [false, true] {
                let text = bench(&results, &|_| CLAIM.to_owned(), &Screen { width, is_ascii });
                let too_long = text.lines().find(|line| line.chars().count() > width);
                assert_eq!(too_long, None, "{width}");
                assert!(text.is_ascii() || !is_ascii, "{text}");
                for pattern in &patterns {
                    assert!(
                        text.lines().any(|line| line.split(' ').next() == Some(pattern)),
                        "{pattern}"
                    );
                }
                assert!(width < 80 || text.lines().count() <= 60, "{text}");
            }
        }
    }

    #[test]
    fn a_ladder_in_the_wrong_order_has_no_gain_and_wrong_rows_are_told() {
        let mut results = committed();
        let is_naive = |row: &Row| row.sweep.is_none() && row.pattern == "transpose";
        let naive = results.rows.iter().position(is_naive).expect("it is there");
        results.environment.is_prediction = true;
        for row in &mut results.rows {
            row.known_ratio = row.measured().map(|_| 1.0);
        }
        // It was measured a hundred times as long, so that it is the slower one of two.
        results.rows[naive].known_ratio = Some(100.0);
        results.rows[0].outcome = RowOutcome::Wrong { reason: "element 7 is 3".to_owned() };
        let text = bench(&results, &|_| String::new(), &Screen { width: 80, is_ascii: true });
        let line = text.lines().find(|line| line.starts_with("transpose ")).expect("it has a line");
        assert!(line.split_whitespace().any(|word| word == "?"), "{line}");
        assert!(
            text.contains("1 ladder is predicted in the wrong order (gain ?): transpose."),
            "{text}"
        );
        assert!(
            text.contains("element 7 is 3") && text.contains("predicted, not measured"),
            "{text}"
        );
    }

    #[test]
    fn reasons_are_listed_when_they_are_few() {
        let told = |count: usize| {
            let not_run = (0..count).map(|index| (format!("reason {index}"), 2)).collect();
            let verification =
                Verification { correct: 5, not_run, hazards: Some(0), ..Verification::default() };
            verify(&verification, &Screen { width: 80, is_ascii: true })
        };
        assert_eq!(told(0), "5 correct, 0 wrong, 0 not run, 0 hazards\n");
        assert!(told(3).starts_with("not run, 2 times: reason 0\n"), "{}", told(3));
        assert!(
            told(4).starts_with("not run, 8 times for 4 reasons (--verbose lists them)\n"),
            "{}",
            told(4)
        );
    }
}
