use super::page::{self, headers, time_in_words};
use super::plot::{self, Bar, Bars, Caption, bars, figure};
use super::runs::Runs;
use super::tabulate;
use maud::{Markup, html};
use results::{Measured, Resource, Row, RowOutcome};

struct Column {
    name: &'static str,
    /// True when the summary has it, too; a pattern's page has all.
    in_summary: bool,
    cell: fn(&Runs, &Row, &Measured) -> Cell,
}

enum Cell {
    /// A figure, and how it is written.
    Figure(Option<f64>, fn(f64) -> String),
    /// Words; none: an empty cell.
    Words(String),
}

impl Cell {
    fn is_empty(&self) -> bool {
        match self {
            Cell::Figure(value, _) => value.is_none(),
            Cell::Words(words) => words.is_empty(),
        }
    }
}

const fn column(
    name: &'static str,
    in_summary: bool,
    cell: fn(&Runs, &Row, &Measured) -> Cell,
) -> Column {
    Column { name, in_summary, cell }
}

const COLUMNS: [Column; 17] = [
    column("time, ms", true, |_, _, m| Cell::Figure(Some(m.time_ms.median), time_in_words)),
    column("spread, %", true, |_, _, m| Cell::Figure(Some(m.time_ms.noise_percent()), tenths)),
    column("hot, ms", false, |_, _, m| Cell::Figure(m.hot_ms.map(|hot| hot.median), time_in_words)),
    column("in a graph, ms", false, |_, _, m| {
        Cell::Figure(m.graph_ms.map(|graph| graph.median), time_in_words)
    }),
    column("clock, MHz", false, |_, _, m| {
        Cell::Figure(m.clock_mhz.map(|clock| clock.median), whole)
    }),
    column("GB/s", true, |_, _, m| Cell::Figure((m.bytes > 0).then_some(m.bandwidth_gb_s), figure)),
    column("% of peak", true, |_, _, m| {
        Cell::Figure(m.minimum_time.map(|minimum_time| minimum_time.percent), tenths)
    }),
    column("bound by", true, |_, _, m| {
        Cell::Words(
            m.minimum_time.map_or("", |minimum_time| minimum_time.resource.name()).to_owned(),
        )
    }),
    column("minimum time, ms", true, |_, _, m| {
        Cell::Figure(m.minimum_time.map(|minimum_time| minimum_time.time_ms), time_in_words)
    }),
    column("predicted, ms", true, |runs, row, _| {
        Cell::Figure(runs.predicted_ms(row), time_in_words)
    }),
    column("time / predicted", true, |runs, row, m| {
        let ratio = runs.predicted_ms(row).map(|predicted_ms| m.time_ms.median / predicted_ms);
        Cell::Figure(ratio, tabulate::prediction)
    }),
    column("known error: predicted / measured", true, |_, row, _| {
        Cell::Figure(row.known_ratio, tabulate::prediction)
    }),
    column("speed-up", true, |runs, row, _| {
        let speed_up = runs.speed_up(row);
        match (speed_up, runs.is_ranked(&row.pattern)) {
            (Some(_), false) => Cell::Words(tabulate::speed_up(1.0, false)),
            _ => Cell::Figure(speed_up, |value| tabulate::speed_up(value, true)),
        }
    }),
    column("speed-up over", true, |runs, row, _| {
        let baseline = runs.main.results.baseline(row).filter(|one| !std::ptr::eq(*one, row));
        Cell::Words(baseline.map_or_else(String::new, |one| one.variant.clone()))
    }),
    column("registers", true, |runs, row, _| {
        Cell::Figure(registers(runs, row).map(f64::from), whole)
    }),
    column("occupancy, %", true, |_, row, _| {
        Cell::Figure(row.resources.map(|resources| resources.occupancy_percent), figure)
    }),
    column("sectors, load / store", true, |runs, row, _| Cell::Words(sectors(runs, row))),
];

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

/// The ladders of one pattern or of all as a table. Columns without a figure are left out.
pub fn table(caption: &str, runs: &Runs, patterns: &[&str], is_summary: bool) -> Markup {
    let rows: Vec<(usize, &Row)> =
        patterns.iter().flat_map(|pattern| runs.ladder(pattern).into_iter().enumerate()).collect();
    let is_used = |column: &&Column| {
        let mut measured = rows.iter().filter_map(|(_, row)| Some((row, row.measured()?)));
        (column.in_summary || !is_summary)
            && measured.any(|(row, measured)| !(column.cell)(runs, row, measured).is_empty())
    };
    let columns: Vec<&Column> = COLUMNS.iter().filter(is_used).collect();
    let header = html! {
        @if is_summary { th scope="col" { "pattern" } }
        th scope="col" { "variant" }
        (headers(&columns.iter().map(|column| column.name).collect::<Vec<_>>()))
    };
    let body = html! {
        @for (index, row) in &rows {
            tr class=[class(*index, row)] data-row=(row.name()) {
                @if is_summary { td { a href=(format!("{}.html", row.pattern)) { (row.pattern) } } }
                th scope="row" { (row.variant) }
                @match &row.outcome {
                    RowOutcome::Measured(measured) => {
                        @for column in &columns {
                            @match (column.cell)(runs, row, measured) {
                                Cell::Figure(value, show) => (page::cell(value, show)),
                                Cell::Words(words) => td.short { (words) },
                            }
                        }
                    },
                    RowOutcome::NotRun { reason } => td colspan=(columns.len()) { "not run: " (reason) },
                    RowOutcome::Wrong { reason } => td colspan=(columns.len()) { strong { "wrong" } ": " (reason) },
                }
            }
        }
    };
    let has_peers = rows.iter().any(|(_, row)| row.peer);
    let caption = format!(
        "{caption}{}",
        if has_peers { "; rows in italics are peers, not ours" } else { "" }
    );
    page::table(&caption, &header, &body)
}

/// Peers are set apart, and so is the first row of a pattern.
fn class(index: usize, row: &Row) -> Option<&'static str> {
    match (index, row.peer) {
        (0, _) => Some("first"),
        (_, true) => Some("peer"),
        _ => None,
    }
}

/// Registers per thread: those of the run, or those that the assembler gave our kernels for the same target.
fn registers(runs: &Runs, row: &Row) -> Option<u32> {
    let assembled = || {
        let kernel = runs.counted(row)?.kernels.first()?;
        (kernel.target == runs.main.results.environment.ptx_target).then_some(kernel.registers)?
    };
    row.resources.map(|resources| resources.registers).or_else(assembled)
}

/// Such as `4 / 32`.
fn sectors(runs: &Runs, row: &Row) -> String {
    let counted = || {
        let counters = runs.counted(row)?.counters;
        Some((counters.load_sectors(), counters.store_sectors()))
    };
    let of_row = row.traffic.map(|traffic| (traffic.load_sectors, traffic.store_sectors));
    let Some((loads, stores)) = of_row.or_else(counted) else { return String::new() };
    let show = |sectors: Option<f64>| sectors.map_or_else(|| "–".to_owned(), figure);
    format!("{} / {}", show(loads), show(stores))
}

/// Returns whether a ladder is shown by its times rather than by its bandwidths: moving bytes is not what it is about.
pub fn is_about_time(rows: &[&Row]) -> bool {
    let measured = || rows.iter().filter_map(|row| row.measured());
    let best = measured().map(|measured| measured.bandwidth_gb_s).fold(0.0, f64::max);
    let counts_launches = measured().any(|measured| {
        measured.minimum_time.is_some_and(|minimum_time| minimum_time.resource == Resource::Launch)
    });
    best < 2.0 || counts_launches
}

/// A figure of a row, and its best.
fn value(measured: &Measured, by_time: bool) -> f64 {
    if by_time { measured.time_ms.median } else { measured.bandwidth_gb_s }
}

fn peak(measured: &Measured, by_time: bool) -> Option<f64> {
    let minimum_time = measured.minimum_time?;
    Some(if by_time {
        minimum_time.time_ms
    } else {
        measured.bytes as f64 / minimum_time.time_ms / 1e6
    })
}

/// The ladder of ours as a strip: by how much of the measured peak it reaches, or else by the best time over each.
pub fn strip(runs: &Runs, pattern: &str) -> Option<(String, String)> {
    let rows: Vec<&Row> = runs.ladder(pattern).into_iter().filter(|row| !row.peer).collect();
    let measured = || rows.iter().filter_map(|row| row.measured());
    let best = measured().map(|one| one.time_ms.median).fold(f64::INFINITY, f64::min);
    measured().next()?;
    let has_peak = measured().all(|one| one.minimum_time.is_some());
    let percent = |one: &Measured| match one.minimum_time {
        Some(minimum_time) if has_peak => minimum_time.percent,
        _ => 100.0 * best / one.time_ms.median,
    };
    let columns = rows.iter().map(|row| plot::Column {
        name: row.variant.clone(),
        percent: row.measured().map(percent),
    });
    let columns: Vec<plot::Column> = columns.collect();
    let unit = if has_peak { "% of peak" } else { "% of the fastest" };
    let ends = columns.iter().filter_map(|column| column.percent);
    let words = match (ends.clone().next(), ends.fold(0.0, f64::max)) {
        (Some(first), best) => format!("{first:.0} → {best:.0} {unit}"),
        _ => String::new(),
    };
    let caption =
        Caption { id: format!("strip-{pattern}"), title: format!("The ladder of {pattern}") };
    Some((plot::strip(&plot::Strip { caption, unit, columns }), words))
}

/// The plot of a ladder; `None` when nothing of it was measured.
pub fn plot(runs: &Runs, pattern: &str) -> Option<String> {
    let rows = runs.ladder(pattern);
    rows.iter().find_map(|row| row.measured())?;
    let by_time = is_about_time(&rows);
    let longest = rows.iter().filter_map(|row| row.measured()).map(|one| one.time_ms.median);
    let is_short = longest.fold(0.0, f64::max) < 1.0;
    let (unit, scale) = match (by_time, is_short) {
        (false, _) => ("GB/s", 1.0),
        (true, false) => ("ms", 1.0),
        (true, true) => ("us", 1e3),
    };
    let bar = |row: &&Row| {
        let measured = row.measured();
        let files = runs.beside(row).into_iter().map(|other| Some(value(other?, by_time)));
        let mut marks: Vec<_> = files.collect();
        let mut prediction =
            runs.others.iter().position(|run| run.results.environment.is_prediction);
        if prediction.is_none() {
            prediction = Some(marks.len());
            let predicted = row.predicted_ms.zip(measured).map(|(predicted_ms, measured)| {
                if by_time { predicted_ms } else { measured.bytes as f64 / predicted_ms / 1e6 }
            });
            marks.push(predicted);
        }
        let shown = |time_ms: f64| match measured {
            Some(measured) if !by_time => measured.bytes as f64 / time_ms / 1e6,
            _ => time_ms,
        } * scale;
        let value = measured.map(|measured| scale * value(measured, by_time));
        let missed = prediction.filter(|_| runs.misses(row));
        Bar {
            label: row.variant.clone(),
            value,
            spread: measured.map(|measured| {
                let ends = [measured.time_ms.q1, measured.time_ms.q3].map(shown);
                (ends[0].min(ends[1]), ends[0].max(ends[1]))
            }),
            is_peer: row.peer,
            peak: measured.and_then(|measured| peak(measured, by_time)).map(|peak| scale * peak),
            marks: marks.into_iter().map(|mark| mark.map(|mark: f64| scale * mark)).collect(),
            missed: missed.filter(|_| value.is_some()),
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
                bar.missed = bar.missed.map(|missed| missed - usize::from(missed > index));
            }
        }
    }
    let mut resources: Vec<&str> =
        rows.iter().filter_map(|row| Some(row.measured()?.minimum_time?.resource.name())).collect();
    resources.dedup();
    Some(bars(&Bars {
        caption: Caption {
            id: format!("plot-{pattern}-ladder"),
            title: format!(
                "The ladder of {pattern}, {}{}",
                if by_time { "time" } else { "bandwidth" },
                if runs.is_ranked(pattern) {
                    ""
                } else {
                    ": not predicted, its order is known to be wrong"
                }
            ),
        },
        unit,
        bars: list,
        name: runs.main.name.clone(),
        marks,
        peak: match resources[..] {
            [one] => format!("measured peak: {one}"),
            _ => "the variant's measured peak".to_owned(),
        },
    }))
}

fn has_prediction_file(runs: &Runs) -> bool {
    runs.others.iter().any(|run| run.results.environment.is_prediction)
}
