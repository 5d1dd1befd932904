//! Result rows as the cells of a table: for the terminal, Markdown, and spreadsheets.
//!
//! ```no_run
//! let results = results::Results::load("measured.json".as_ref(), &[])?;
//! print!("{}", report::tabulate::markdown(&results));
//! # Ok::<(), results::Error>(())
//! ```

use anyhow::{Context, Result};
use results::{Misordered, Results, Row, RowOutcome, Spread, misordered, unranked};
use std::fmt::Write as _;

/// The columns of a table that people read.
pub const COLUMNS: [&str; 13] = [
    "pattern",
    "variant",
    "time",
    "noise",
    "GB/s",
    "of peak",
    "bound by",
    "minimum time",
    "model",
    "speed-up",
    "registers",
    "occupancy",
    "sectors",
];

/// The columns that a narrow terminal goes without, the first one first.
pub const LESS_NEEDED: [&str; 7] =
    ["minimum time", "registers", "occupancy", "noise", "bound by", "GB/s", "speed-up"];
/// The column of [`COLUMNS`] with the time, or with why there is none.
pub const OUTCOME: usize = 2;
/// The column of [`COLUMNS`] with the percentage of the peak.
pub const OF_PEAK: usize = 5;

/// A row for people: figures rounded, columns of text left empty where there is no figure.
///
/// `time` is the median with cold caches, `model` what the model predicts over what was measured, and `off` where that
/// misses by more than 35 %; a prediction has it from a committed comparison. `sectors` are those per load and per store
/// request. A ladder that is not ranked, because the model has its order wrong, has no speed-ups.
pub fn cells(row: &Row, is_ranked: bool) -> [String; COLUMNS.len()] {
    let mut cells = [const { String::new() }; COLUMNS.len()];
    cells[0] = row.pattern.clone();
    cells[1] = row.variant.clone();
    match &row.outcome {
        RowOutcome::Measured(measured) => {
            let median = measured.time_ms.median;
            cells[2] = format!("{median:.4} ms");
            if measured.time_ms.samples > 1 {
                cells[3] = format!("{:.1} %", measured.time_ms.noise_percent());
            }
            cells[4] = format!("{:.0}", measured.bandwidth_gb_s);
            if let Some(minimum_time) = &measured.minimum_time {
                cells[5] = format!("{:.1} %", minimum_time.percent);
                cells[6] = minimum_time.resource.name().to_owned();
                cells[7] = format!("{:.4} ms", minimum_time.time_ms);
            }
            let ratio = row.predicted_ms.map(|predicted| predicted / median).or(row.known_ratio);
            cells[8] = ratio.map_or_else(String::new, prediction);
            cells[9] = speed_up(measured.speed_up, is_ranked);
        }
        RowOutcome::NotRun { reason } => cells[2] = format!("not run: {reason}"),
        RowOutcome::Wrong { reason } => cells[2] = format!("WRONG: {reason}"),
    }
    if let Some(resources) = &row.resources {
        let about = if resources.registers_are_estimated { "~" } else { "" };
        cells[10] = format!("{about}{}", resources.registers);
        cells[11] = format!("{:.0} %", resources.occupancy_percent);
    }
    if let Some(traffic) = &row.traffic {
        let part = |sectors: Option<f64>| {
            sectors.map_or_else(|| "-".to_owned(), |sectors| format!("{sectors:.1}"))
        };
        if traffic.load_sectors.or(traffic.store_sectors).is_some() {
            cells[12] = format!("{} / {}", part(traffic.load_sectors), part(traffic.store_sectors));
        }
    }
    cells
}

/// Such as `2.50 x`.
pub(crate) fn speed_up(value: f64, is_ranked: bool) -> String {
    if is_ranked { format!("{value:.2} x") } else { "not predicted".to_owned() }
}

/// A sentence for each two neighbours that these predictions have in an order that a measurement refutes.
pub fn not_predicted(results: &Results) -> Vec<String> {
    let device = results.environment.device.model();
    let sentence = |two: &Misordered<'_>| {
        let (fast, slow) = (two.predicted_faster, two.measured_faster);
        format!(
            "The model has the ladder of `{}` in the wrong order: it predicts `{}` faster than `{}`, and an {device} \
             measured it slower; so its speed-ups are not predicted.",
            fast.pattern, fast.variant, slow.variant
        )
    };
    misordered(results).iter().map(sentence).collect()
}

/// Returns whether a row is above 100 % of its peak, as no row can be whose peak is the right one.
pub fn is_above_peak(row: &Row) -> bool {
    // As it is printed: 100.04 % is 100.0 %.
    let minimum = row.measured().and_then(|measured| measured.minimum_time);
    minimum.is_some_and(|minimum| minimum.percent >= 100.05)
}

/// Returns what the mark `!` at a percentage means; `None` where no row of the ladders has it.
pub fn above_peak(results: &Results) -> Option<String> {
    let count = results.ladders().filter(|row| is_above_peak(row)).count();
    let cause = if results.environment.is_prediction {
        "the model is too fast there, or the peak's own kernel is not the fastest"
    } else {
        "the kernel of that peak, such as a copy, is not the fastest for this mix of reads and writes"
    };
    (count > 0).then(|| {
        format!(
            "! {count} of these rows are above 100 % of a peak, which no hardware exceeds: {cause}."
        )
    })
}

/// The ladders of a run as a Markdown table, with its circumstances below.
pub fn markdown(results: &Results) -> String {
    let mut out = format!("| {} |\n|---|---|", COLUMNS.join(" | "));
    out.push_str(&"--:|".repeat(COLUMNS.len() - 2));
    out.push('\n');
    let unranked = unranked(results);
    let mut previous = "";
    for row in results.ladders() {
        let mut cells = cells(row, !unranked.contains(row.pattern.as_str()));
        cells[0] =
            if row.pattern == previous { String::new() } else { format!("`{}`", row.pattern) };
        previous = &row.pattern;
        let mark = if row.peer { "*" } else { "`" };
        cells[1] = format!("{mark}{}{mark}", row.variant);
        out.push_str(&format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")));
    }
    out.push_str(&format!("\n{}\n", circumstances(results)));
    out
}

/// A few rows of a run, `pattern/variant` each, beside the naive variant and NVIDIA's compiler and libraries.
///
/// # Errors
/// A row that was not measured.
pub fn headlines(results: &Results, names: &[&str]) -> Result<String> {
    let mut out =
        "| kernel | time | % of peak | naive | nvcc, same algorithm | NVIDIA's library |\n\
                   |---|--:|--:|--:|--:|--:|\n"
            .to_owned();
    let time = |row: &Row| Some(format!("{:.3} ms", row.measured()?.time_ms.median));
    for name in names {
        let row = results.ladders().find(|row| !row.peer && row.name() == *name);
        let row = row.with_context(|| format!("the file has no row `{name}`"))?;
        let of = |wanted: &dyn Fn(&Row) -> bool| {
            let same = |other: &&Row| other.pattern == row.pattern && wanted(other);
            results.ladders().find(same).and_then(time).unwrap_or_default()
        };
        let naive = of(&|_| true);
        let twin = of(&|other| other.peer && other.twin() == Some(row.variant.as_str()));
        let library = of(&|other| other.peer && other.twin().is_none());
        let own = time(row).with_context(|| format!("`{name}` was not measured"))?;
        let percent = row.measured().and_then(|measured| measured.minimum_time);
        let percent =
            percent.map_or_else(String::new, |minimum| format!("{:.0} %", minimum.percent));
        let _ = writeln!(out, "| `{name}` | {own} | {percent} | {naive} | {twin} | {library} |");
    }
    let environment = &results.environment;
    let (device, commit) = (&environment.device.name, &environment.commit);
    let _ = writeln!(out, "\nMedians of one run on an {device}, commit {commit}.");
    Ok(out)
}

/// A document with the tables that its markers ask for: all rows of the file, or those that the marker lists after
/// `rows:`. `None` when no marker names the file.
///
/// # Errors
/// A marker without its end, or one with a row that was not measured.
pub fn splice(document: &str, file: &str, results: &Results) -> Result<Option<String>> {
    let begin = format!("<!-- BEGIN results: coalesce results {file} ");
    let mut parts = document.split(begin.as_str());
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut is_named = false;
    for part in parts {
        is_named = true;
        let (marker, rest) = part.split_once("-->\n").context("a marker has no `-->`")?;
        let end = rest.find("<!-- END results -->").context("a marker has no END")?;
        let table = match marker.split_once("rows:") {
            Some((_, rows)) => {
                headlines(results, &rows.split(',').map(str::trim).collect::<Vec<_>>())?
            }
            None => markdown(results),
        };
        out += &format!("{begin}{marker}-->\n{table}{}", &rest[end..]);
    }
    Ok(is_named.then_some(out))
}

/// Returns the environment and settings of a run, as sentences.
pub fn circumstances(results: &Results) -> String {
    let environment = &results.environment;
    let mut parts = vec![
        environment.device.name.clone(),
        format!("CUDA {}", environment.device.driver_version),
    ];
    if let Some(board) = &environment.board {
        parts.push(format!("driver {}", board.driver));
        if let (Some(generation), Some(lanes)) = (board.pcie_generation, board.pcie_lanes) {
            parts.push(format!("PCIe {generation} x{lanes}"));
        }
    }
    parts.push(format!("kernels for {} ({})", environment.ptx_target, environment.ptx_hash));
    parts.push(format!("by {}", environment.compiler));
    parts.push(format!("commit {}", environment.commit));
    parts.push(format!("seed {}", environment.seed));
    let measured = || results.ladders().filter_map(Row::measured);
    let samples = measured().map(|figures| figures.time_ms.samples).min().unwrap_or(0);
    let throttled: usize = measured().map(|figures| figures.throttled).sum();
    let measured_peaks: Vec<_> = results
        .measured_peaks
        .iter()
        .map(|peak| format!("{} {}", peak.resource.name(), peak.rate()))
        .collect();
    let what = if environment.is_prediction {
        "PREDICTIONS of a model, from smaller sizes that were executed; nothing was measured"
            .to_owned()
    } else {
        format!("medians of at least {samples} runs, {throttled} throttled samples left out")
    };
    let cut = if results.interrupted { " The run was interrupted." } else { "" };
    format!("{}; {what}. Measured peaks: {}.{cut}", parts.join(", "), measured_peaks.join(", "))
}

/// A prediction over a measurement, or the other way round, and whether the model missed.
pub fn prediction(ratio: f64) -> String {
    let is_near = (1.0 / NEAR..=NEAR).contains(&ratio);
    format!("{ratio:.2}{}", if is_near { "" } else { " off" })
}

/// Largest ratio of a prediction and a measurement that counts as near.
pub(crate) const NEAR: f64 = 1.35;

/// A factor with the digits that say something.
pub(crate) fn factor(value: f64) -> String {
    if value >= 10.0 { format!("{value:.1}") } else { format!("{value:.2}") }
}

/// All rows with all figures for spreadsheets, times in milliseconds.
///
/// # Errors
/// None that memory does not cause.
pub fn csv(results: &Results) -> Result<String> {
    const SPREAD: [&str; 6] = ["samples", "min", "q1", "median", "q3", "max"];
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header: Vec<String> =
        ["pattern", "variant", "size", "sweep", "peer", "outcome"].map(str::to_owned).into();
    for name in ["time_ms", "hot_ms", "graph_ms", "clock_mhz"] {
        header.extend(SPREAD.map(|part| format!("{name}_{part}")));
    }
    header.extend(
        [
            "throttled",
            "bytes",
            "bandwidth_gb_s",
            "bound_by",
            "minimum_time_ms",
            "percent_of_peak",
            "predicted_ms",
            "known_ratio",
            "speed_up",
            "registers",
            "shared_bytes",
            "occupancy_percent",
            "load_sectors",
            "store_sectors",
            "efficiency_percent",
            "load_efficiency_percent",
            "store_efficiency_percent",
            "theoretical_gb_s",
        ]
        .map(str::to_owned),
    );
    writer.write_record(&header)?;
    for row in &results.rows {
        let theoretical = results.environment.device.theoretical_bandwidth();
        writer.write_record(record(row, theoretical))?;
    }
    String::from_utf8(writer.into_inner().context("writing to memory")?).context("CSV is text")
}

fn record(row: &Row, theoretical_gb_s: f64) -> Vec<String> {
    fn show<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    let measured = row.measured();
    let outcome = match &row.outcome {
        RowOutcome::Measured(_) => "measured".to_owned(),
        RowOutcome::NotRun { reason } => format!("not run: {reason}"),
        RowOutcome::Wrong { reason } => format!("wrong: {reason}"),
    };
    let mut record = vec![
        row.pattern.clone(),
        row.variant.clone(),
        row.show_size(),
        row.sweep.clone().unwrap_or_default(),
        row.peer.to_string(),
        outcome,
    ];
    let spreads = [
        measured.map(|figures| figures.time_ms),
        measured.and_then(|figures| figures.hot_ms),
        measured.and_then(|figures| figures.graph_ms),
        measured.and_then(|figures| figures.clock_mhz),
    ];
    for spread in spreads {
        record.push(show(spread.map(|spread| spread.samples)));
        let of: [fn(&Spread) -> f64; 5] = [|s| s.min, |s| s.q1, |s| s.median, |s| s.q3, |s| s.max];
        record.extend(of.map(|part| show(spread.as_ref().map(part))));
    }
    let minimum_time = measured.and_then(|figures| figures.minimum_time);
    let (resources, traffic) = (row.resources, row.traffic);
    record.extend([
        show(measured.map(|figures| figures.throttled)),
        show(measured.map(|figures| figures.bytes)),
        show(measured.map(|figures| figures.bandwidth_gb_s)),
        show(minimum_time.map(|minimum_time| minimum_time.resource.name())),
        show(minimum_time.map(|minimum_time| minimum_time.time_ms)),
        show(minimum_time.map(|minimum_time| minimum_time.percent)),
        show(row.predicted_ms),
        show(row.known_ratio),
        show(measured.map(|figures| figures.speed_up)),
        show(resources.map(|resources| resources.registers)),
        show(resources.map(|resources| resources.shared_bytes)),
        show(resources.map(|resources| resources.occupancy_percent)),
        show(traffic.and_then(|traffic| traffic.load_sectors)),
        show(traffic.and_then(|traffic| traffic.store_sectors)),
        show(traffic.and_then(|traffic| traffic.efficiency_percent)),
        show(traffic.and_then(|traffic| traffic.load_efficiency_percent)),
        show(traffic.and_then(|traffic| traffic.store_efficiency_percent)),
        format!("{theoretical_gb_s:.0}"),
    ]);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed() -> Results {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
        Results::load(path.as_ref(), &[]).expect("it is committed")
    }

    #[test]
    fn a_row_above_its_peak_is_found_and_said() {
        let mut results = committed();
        let minimum = |row: &mut Row, percent: f64| match &mut row.outcome {
            RowOutcome::Measured(measured) if measured.minimum_time.is_some() => {
                measured.minimum_time.as_mut().expect("it is there").percent = percent;
                true
            }
            _ => false,
        };
        for row in &mut results.rows {
            minimum(row, 50.0);
        }
        let set = |results: &mut Results, percent: f64| {
            let mut ladders =
                results.rows.iter_mut().filter(|row| row.sweep.is_none() && !row.peer);
            assert!(ladders.any(|row| minimum(row, percent)));
        };
        set(&mut results, 100.04);
        assert_eq!(above_peak(&results), None);
        set(&mut results, 100.06);
        let sentence = above_peak(&results).expect("a row is above");
        assert!(sentence.starts_with("! 1 of these rows are above 100 %"), "{sentence}");
        assert_eq!(results.ladders().filter(|row| is_above_peak(row)).count(), 1);
    }

    #[test]
    fn markers_of_the_file_are_filled_and_no_others() {
        let results = committed();
        let all = "a\n<!-- BEGIN results: coalesce results x.json --splice R.md -->\nold\n<!-- END results -->\nb\n";
        let filled =
            splice(all, "x.json", &results).expect("sound markers").expect("they are there");
        assert_eq!(filled, all.replace("old\n", &markdown(&results)));
        assert_eq!(splice(all, "y.json", &results).expect("sound markers"), None);

        let row = results.ladders().find(|row| row.measured().is_some()).expect("a row").name();
        let few = all.replace("R.md", &format!("R.md rows: {row}"));
        let filled =
            splice(&few, "x.json", &results).expect("sound markers").expect("they are there");
        assert_eq!(filled.matches(&format!("| `{row}` |")).count(), 1);
        assert_eq!(filled.lines().filter(|line| line.starts_with('|')).count(), 3);
    }

    #[test]
    fn a_marker_without_end_and_a_row_that_is_not_there_are_errors() {
        let results = committed();
        for text in [
            "<!-- BEGIN results: coalesce results x.json -->\n",
            "<!-- BEGIN results: coalesce results x.json rows: no/such -->\n<!-- END results -->",
        ] {
            assert!(splice(text, "x.json", &results).is_err(), "{text}");
        }
    }
}
