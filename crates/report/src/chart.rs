//! Curves for a terminal: each variant is a letter, over the values of the dimension that varies.
//!
//! ```no_run
//! let results = results::Results::load("measured.json".as_ref(), &[])?;
//! for chart in report::chart::draw(&results, 80) {
//!     println!("{chart}");
//! }
//! # Ok::<(), results::Error>(())
//! ```

use results::{Results, Row};
use std::fmt::Write as _;

/// Lines between the highest value and zero.
const HEIGHT: usize = 12;
/// Columns for the figures of the axis.
const MARGIN: usize = 11;
/// Columns between two values, where there is room.
const MAX_STEP: usize = 6;
/// Mark of a place that several variants share.
const SEVERAL: char = '*';

/// One variant: its name, and a figure for each value of the dimension, if it ran there.
type ChartLine<'a> = (&'a str, Vec<Option<f64>>);

/// A chart of each curve in these results, at most `width` columns wide.
///
/// It shows GB/s, so higher is better; milliseconds where rows of the curve move no bytes to speak of.
pub fn draw(results: &Results, width: usize) -> Vec<String> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for row in &results.rows {
        if let Some(dimension) = row.sweep.as_deref()
            && !found.contains(&(row.pattern.as_str(), dimension))
        {
            found.push((&row.pattern, dimension));
        }
    }
    let of = |&(pattern, dimension): &(&str, &str)| {
        let is_of = |row: &&Row| row.pattern == pattern && row.sweep.as_deref() == Some(dimension);
        curve(pattern, dimension, &results.rows.iter().filter(is_of).collect::<Vec<_>>(), width)
    };
    found.iter().filter_map(of).collect()
}

/// One chart; `None` where fewer than two values have a figure.
fn curve(pattern: &str, dimension: &str, rows: &[&Row], width: usize) -> Option<String> {
    let value = |row: &Row| row.size.get(dimension).copied().unwrap_or(0.0);
    let measured = || rows.iter().filter_map(|row| Some((*row, row.measured()?)));
    let mut values: Vec<f64> = measured().map(|(row, _)| value(row)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if values.len() < 2 {
        return None;
    }
    let is_rate = measured().any(|(_, figures)| figures.bandwidth_gb_s >= 1.0);
    let mut lines: Vec<ChartLine<'_>> = Vec::new();
    for (row, figures) in measured() {
        let index = lines.iter().position(|(name, _)| *name == row.variant);
        let index = index.unwrap_or_else(|| {
            lines.push((&row.variant, vec![None; values.len()]));
            lines.len() - 1
        });
        let figure = if is_rate { figures.bandwidth_gb_s } else { figures.time_ms.median };
        if let Some(place) = values.iter().position(|one| *one == value(row)) {
            lines[index].1[place] = Some(figure);
        }
    }
    let unit = if is_rate { "GB/s, higher is better" } else { "ms, lower is better" };
    let mut out = format!("{pattern}: {unit}, over {dimension}\n");
    let labels: Vec<String> = values.iter().map(|value| short(*value)).collect();
    out.push_str(&grid(&lines, &labels, width));
    for (index, (name, _)) in lines.iter().enumerate() {
        let _ = writeln!(out, "{:MARGIN$} {} {name}", "", letter(index));
    }
    if out.contains(SEVERAL) {
        let _ = writeln!(out, "{:MARGIN$} {SEVERAL} several of them", "");
    }
    Some(out)
}

/// The letters above their axis.
fn grid(lines: &[ChartLine<'_>], labels: &[String], width: usize) -> String {
    let room = width.saturating_sub(MARGIN + 2).max(8);
    // Where there are more values than columns, every second or third is shown.
    let every = labels.len().div_ceil(room);
    let shown: Vec<usize> = (0..labels.len()).step_by(every).collect();
    let step = (room / shown.len()).clamp(1, MAX_STEP);
    let highest = lines.iter().flat_map(|(_, line)| line).flatten().fold(0.0_f64, |a, b| a.max(*b));
    let mut cells = vec![vec![' '; (shown.len() - 1) * step + 1]; HEIGHT + 1];
    for (index, (_, line)) in lines.iter().enumerate() {
        for (column, value) in shown.iter().enumerate() {
            let Some(figure) = line[*value] else { continue };
            let share = if highest > 0.0 { figure / highest } else { 0.0 };
            let height = (share * HEIGHT as f64).round() as usize;
            let cell = &mut cells[HEIGHT - height.min(HEIGHT)][column * step];
            *cell = if *cell == ' ' { letter(index) } else { SEVERAL };
        }
    }
    let mut out = String::new();
    for (line, cells) in cells.iter().enumerate() {
        let label = if line % 4 == 0 {
            figure(highest * (HEIGHT - line) as f64 / HEIGHT as f64)
        } else {
            String::new()
        };
        let cells: String = cells.iter().collect();
        let _ = writeln!(out, "{label:>MARGIN$} | {}", cells.trim_end());
    }
    let _ = writeln!(out, "{:MARGIN$} +-{}", "", "-".repeat((shown.len() - 1) * step + 1));
    // Values as far as they do not touch.
    let mut axis = String::new();
    for (column, value) in shown.iter().enumerate() {
        let (start, label) = (column * step, &labels[*value]);
        let is_free = axis.is_empty() || start > axis.len();
        if is_free && (start + label.len() <= room || column == 0) {
            axis = format!("{axis:<start$}{label}");
        }
    }
    let _ = writeln!(out, "{:MARGIN$}   {axis}", "");
    out
}

/// The letter of a variant.
fn letter(index: usize) -> char {
    let index = u8::try_from(index).unwrap_or(u8::MAX);
    char::from(if index < 26 { b'a' + index } else { b'A' + (index - 26) % 26 })
}

/// A value of a dimension: powers of two beyond a thousand as such.
fn short(value: f64) -> String {
    let is_whole = value >= 1024.0 && value.fract() == 0.0;
    if is_whole && (value as u64).is_power_of_two() {
        return format!("2^{}", (value as u64).trailing_zeros());
    }
    format!("{value}")
}

/// A figure of the axis.
fn figure(value: f64) -> String {
    if value >= 100.0 || value == 0.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed() -> Results {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
        Results::load(path.as_ref(), &[]).expect("it is committed")
    }

    #[test]
    fn every_committed_curve_fits_and_names_its_variants() {
        let results = committed();
        let charts = draw(&results, 80);
        assert!(charts.len() > 10, "{}", charts.len());
        for chart in &charts {
            let widest = chart.lines().map(str::len).max().unwrap_or(0);
            assert!(widest <= 80, "{widest} columns:\n{chart}");
        }
        let stride = charts.iter().find(|chart| chart.starts_with("stride: GB/s")).expect("it is");
        assert!(stride.contains(" a ") && stride.contains("over stride"), "{stride}");
    }

    #[test]
    fn the_highest_is_on_top_and_equals_are_marked() {
        let lines = [("one", vec![Some(1.0), Some(2.0)]), ("two", vec![None, Some(2.0)])];
        let text = grid(&lines, &["1".to_owned(), "2^20".to_owned()], 40);
        let rows: Vec<_> = text.lines().collect();
        assert_eq!(rows[0], "      2.000 |       *", "{text}");
        assert_eq!(rows[HEIGHT / 2].trim_end(), "            | a", "{text}");
        assert!(rows[HEIGHT + 2].ends_with("1     2^20"), "{text}");
    }
}
