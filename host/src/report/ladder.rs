//! A ladder as a table and as bars.

use super::counts::Counts;
use super::page::{fixed, headers, number, time};
use super::plot::{Bar, Bars, Caption, bars};
use super::runs::Runs;
use crate::pattern::Limit;
use crate::results::{Measured, Outcome, Row, Traffic};
use maud::{Markup, html};

/// The names of the columns of [`cells`].
const COLUMNS: [&str; 13] = [
    "variant",
    "time, ms",
    "spread, %",
    "GB/s",
    "% of its limit",
    "limit",
    "floor, ms",
    "predicted, ms",
    "measured / predicted",
    "speed-up",
    "registers",
    "occupancy, %",
    "sectors per request, load / store",
];

/// The header of a table of ladders.
pub fn header(with_pattern: bool) -> Markup {
    html! { @if with_pattern { th scope="col" { "pattern" } } (headers(&COLUMNS)) }
}

/// The rows of a ladder's table, with the pattern in front where the table has many.
pub fn rows(runs: &Runs, pattern: &str, counts: Option<&Counts>, with_pattern: bool) -> Markup {
    html! {
        @for (index, row) in runs.ladder(pattern).into_iter().enumerate() {
            tr class=[class(index, row)] data-row=(row.name()) {
                @if with_pattern { td { a href=(format!("{pattern}.html")) { (pattern) } } }
                th scope="row" { (row.variant) }
                @match &row.outcome {
                    Outcome::Measured(measured) => (cells(runs, row, measured, counts)),
                    Outcome::NotRun { reason } => td colspan="12" { "not run: " (reason) },
                    Outcome::Wrong { reason } => td colspan="12" { strong { "wrong" } ": " (reason) },
                }
            }
        }
    }
}

/// Peers are set apart, and so is the first row of a pattern.
fn class(index: usize, row: &Row) -> Option<&'static str> {
    match (index, row.peer) {
        (0, _) => Some("first"),
        (_, true) => Some("peer"),
        _ => None,
    }
}

/// The figures of a row.
fn cells(runs: &Runs, row: &Row, measured: &Measured, counts: Option<&Counts>) -> Markup {
    let time_ms = measured.time_ms.median;
    let predicted_ms = runs.predicted_ms(row);
    let ratio = predicted_ms.map(|predicted| time_ms / predicted);
    html! {
        (time(Some(time_ms)))
        (fixed(Some(measured.time_ms.noise_percent()), 1, ""))
        (number((measured.bytes > 0).then_some(measured.bandwidth_gb_s)))
        (fixed(measured.floor.map(|floor| floor.percent), 1, ""))
        td.short { (measured.floor.map_or("", |floor| floor.limit.name())) }
        (time(measured.floor.map(|floor| floor.time_ms)))
        (time(predicted_ms))
        (fixed(ratio, 2, ""))
        (fixed(Some(measured.speed_up), 2, " x"))
        (fixed(registers(runs, row).map(f64::from), 0, ""))
        (fixed(row.resources.map(|resources| resources.occupancy_percent), 0, ""))
        td.figure { (sectors(row, counts)) }
    }
}

/// Registers per thread: those of the run, or on compute capability 9.0 those that the assembler gave our kernels.
fn registers(runs: &Runs, row: &Row) -> Option<u32> {
    let assembled = || {
        let is_known = !row.peer && runs.main.results.environment.device.capability == 90;
        is_known.then(|| crate::gpu::registers(&format!("{}_{}", row.pattern, row.variant)))?
    };
    row.resources.map(|resources| resources.registers).or_else(assembled)
}

/// Such as `4 / 32`.
fn sectors(row: &Row, counts: Option<&Counts>) -> String {
    let counted = || {
        let counts = counts.filter(|_| !row.peer)?;
        let (_, counted) = counts.iter().find(|(variant, _)| variant.name == row.variant)?;
        Some(Traffic {
            load_sectors: counted.load_sectors(),
            store_sectors: counted.store_sectors(),
            ..Traffic::default()
        })
    };
    let Some(traffic) = row.traffic.or_else(counted) else { return String::new() };
    let show = |sectors: Option<f64>| sectors.map_or_else(|| "–".to_owned(), super::plot::figure);
    format!("{} / {}", show(traffic.load_sectors), show(traffic.store_sectors))
}

/// Whether a ladder is shown by its times rather than by its bandwidths: moving bytes is not what it is about.
pub fn is_about_time(rows: &[&Row]) -> bool {
    let measured = || rows.iter().filter_map(|row| row.measured());
    let best = measured().map(|measured| measured.bandwidth_gb_s).fold(0.0, f64::max);
    let counts_launches =
        measured().any(|measured| measured.floor.is_some_and(|floor| floor.limit == Limit::Launch));
    best < 2.0 || counts_launches
}

/// A figure of a row, and its best.
fn value(measured: &Measured, by_time: bool) -> f64 {
    if by_time { measured.time_ms.median } else { measured.bandwidth_gb_s }
}

fn limit(measured: &Measured, by_time: bool) -> Option<f64> {
    let floor = measured.floor?;
    Some(if by_time { floor.time_ms } else { measured.bytes as f64 / floor.time_ms / 1e6 })
}

/// The plot of a ladder; `None` when nothing of it was measured.
pub fn plot(runs: &Runs, pattern: &str) -> Option<String> {
    let rows = runs.ladder(pattern);
    rows.iter().find_map(|row| row.measured())?;
    let by_time = is_about_time(&rows);
    let bar = |row: &&Row| {
        let measured = row.measured();
        let files = runs.beside(row).into_iter().map(|other| Some(value(other?, by_time)));
        let mut marks: Vec<_> = files.collect();
        if !has_prediction_file(runs) {
            let predicted = row.predicted_ms.zip(measured).map(|(predicted_ms, measured)| {
                if by_time { predicted_ms } else { measured.bytes as f64 / predicted_ms / 1e6 }
            });
            marks.push(predicted);
        }
        Bar {
            label: row.variant.clone(),
            value: measured.map(|measured| value(measured, by_time)),
            is_peer: row.peer,
            limit: measured.and_then(|measured| limit(measured, by_time)),
            marks,
        }
    };
    let mut list: Vec<Bar> = rows.iter().map(bar).collect();
    let mut marks: Vec<String> = runs.others.iter().map(|run| run.name.clone()).collect();
    if !has_prediction_file(runs) {
        marks.push("predicted".to_owned());
    }
    // Legends name what is there.
    for index in (0..marks.len()).rev() {
        if list.iter().all(|bar| bar.marks[index].is_none()) {
            marks.remove(index);
            for bar in &mut list {
                bar.marks.remove(index);
            }
        }
    }
    let mut limits: Vec<&str> =
        rows.iter().filter_map(|row| Some(row.measured()?.floor?.limit.name())).collect();
    limits.dedup();
    Some(bars(&Bars {
        caption: Caption {
            id: format!("plot-{pattern}-ladder"),
            title: format!(
                "The ladder of {pattern}, {}",
                if by_time { "time" } else { "bandwidth" }
            ),
        },
        unit: if by_time { "ms (shorter is better)" } else { "GB/s" },
        bars: list,
        name: runs.main.name.clone(),
        marks,
        limit: match limits[..] {
            [one] => format!("limit: {one}"),
            _ => "the variant's limit".to_owned(),
        },
    }))
}

fn has_prediction_file(runs: &Runs) -> bool {
    runs.others.iter().any(|run| run.results.environment.is_prediction)
}
