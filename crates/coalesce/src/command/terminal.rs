use crate::catalogue::Selection;
use crate::count;
use crate::counted::Counted;
use crate::pattern::Size;
use anyhow::Result;
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, Color, ColumnConstraint, ContentArrangement, Table, Width};
use cuda_host::Gpu;
use indicatif::{ProgressBar, ProgressStyle};
use results::InstructionCounts;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A terminal narrower than this, or of unknown width, gets lines as long as they are.
const MIN_WIDTH: u16 = 40;
/// The width of a chart where nobody knows the terminal's.
const USUAL_WIDTH: u16 = 80;
/// The time between two lines of a log about a long run.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// A table with this header, in the style of all our tables: as wide as the terminal, with a line for each row in a pipe.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    if table.width().is_some_and(|width| width >= MIN_WIDTH) {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table
}

/// Makes a wide table fit the terminal: names stay whole, and the columns named in `order` are hidden, the first one
/// first, until the rest fits. Gives the names of those that were hidden.
pub fn fit<const N: usize>(table: &mut Table, header: [&str; N], order: &[&str]) -> Vec<String> {
    let Some(width) = table.width().filter(|width| *width >= MIN_WIDTH) else { return Vec::new() };
    // A column is its widest cell and a blank on either side; an empty one is hidden already.
    let mut widths = table.column_max_content_widths();
    for (index, width) in widths.iter_mut().enumerate() {
        let column = table.column(index);
        let is_hidden = column
            .is_some_and(|column| matches!(column.constraint(), Some(ColumnConstraint::Hidden)));
        *width = if is_hidden { 0 } else { *width + 2 };
    }
    let mut hidden = Vec::new();
    for name in order {
        if widths.iter().sum::<u16>() <= width {
            break;
        }
        let Some(index) = header.iter().position(|one| one == name) else { continue };
        if widths[index] == 0 {
            continue;
        }
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::Hidden);
            widths[index] = 0;
            hidden.push((*name).to_owned());
        }
    }
    for (index, name) in header.iter().enumerate() {
        let Some(column) = table.column_mut(index).filter(|_| widths[index] > 0) else { continue };
        let word = name.split(' ').map(str::len).max().unwrap_or(0);
        column.set_constraint(if index < 2 {
            ColumnConstraint::ContentWidth
        } else {
            ColumnConstraint::LowerBoundary(Width::Fixed(word as u16 + 2))
        });
    }
    hidden
}

/// The columns that a chart may take.
pub fn width() -> usize {
    let found = Table::new().width().filter(|width| *width >= MIN_WIDTH);
    found.unwrap_or(USUAL_WIDTH).into()
}

/// Returns whether results are printed in colour: in a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
fn is_coloured() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    stdout().is_terminal()
        && !is_set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// A cell of a table in a colour.
pub fn coloured(text: impl ToString, color: Color) -> Cell {
    let cell = Cell::new(text);
    if is_coloured() { cell.fg(color) } else { cell }
}

/// A word that says that something is wrong.
pub fn alarm(word: &str) -> String {
    if is_coloured() { format!("\x1b[1;31m{word}\x1b[0m") } else { word.to_owned() }
}

/// The traffic of variants: counted by the executor, with the expectation where it differs; and a sentence for each
/// instruction because of which the counts depend on timing.
pub fn traffic_table(gpu: &Gpu, selection: &Selection) -> Result<(Table, Vec<String>)> {
    const HEADER: [&str; 17] = [
        "variant",
        "load sectors",
        "store sectors",
        "shared load wavefronts",
        "shared store wavefronts",
        "constant wavefronts",
        "shared atomic wavefronts",
        "global atomics",
        "sector accesses per global atomic",
        "local load sectors",
        "local store sectors",
        "lanes per instruction",
        "bytes",
        "efficiency",
        "conflicts",
        "registers",
        "expectation",
    ];
    let mut table = table(HEADER);
    let (mut labels, mut expectations) = (Vec::new(), Vec::new());
    for (variant, counted) in count::count(gpu, selection.pattern)? {
        if selection.variant.is_some_and(|one| one.name != variant.name) {
            continue;
        }
        labels.extend(timing_labels(variant.name, &counted));
        let counters = counted.counters;
        let expected = (variant.expect)(&Size::new(selection.pattern.count_size));
        let cell = |counted: Option<f64>, expected: Option<f64>| match (counted, expected) {
            (Some(counted), Some(expected)) if !count::agree(counted, expected) => {
                format!("{counted:.3} (expected {expected:.3})")
            }
            (None, Some(expected)) => format!("none (expected {expected:.3})"),
            (Some(counted), _) => {
                format!("{counted:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            (None, None) => String::new(),
        };
        let conflicts =
            counters.shared_load.bank_conflicts() + counters.shared_store.bank_conflicts();
        let kernel = selection.pattern.kernel_name(variant);
        let registers = kernel.and_then(|kernel| gpu.image().facts(&kernel)?.registers);
        let row = [
            variant.name.to_owned(),
            cell(counters.load_sectors(), expected.load_sectors),
            cell(counters.store_sectors(), expected.store_sectors),
            cell(counters.shared_load_wavefronts(), expected.shared_load_wavefronts),
            cell(counters.shared_store_wavefronts(), expected.shared_store_wavefronts),
            cell(counters.constant_passes(), expected.constant_passes),
            cell(counters.shared_atomic_wavefronts(), expected.shared_atomic_wavefronts),
            cell(counters.global_atomics(), expected.global_atomics),
            cell(counters.global_atomic_passes(), expected.global_atomic_passes),
            cell(counters.local_load_sectors(), expected.local_load_sectors),
            cell(counters.local_store_sectors(), expected.local_store_sectors),
            cell(
                expected.lanes_per_instruction.and(counters.lanes_per_instruction()),
                expected.lanes_per_instruction,
            ),
            counters.global_bytes().to_string(),
            counters
                .efficiency_percent()
                .map_or_else(String::new, |percent| format!("{percent:.1} %")),
            conflicts.to_string(),
            registers.map_or_else(String::new, |registers| registers.to_string()),
            expected.arithmetic.to_owned(),
        ];
        table.add_row(row);
        if !expected.arithmetic.is_empty() {
            expectations.push(format!("{}: {}", variant.name, expected.arithmetic));
        }
    }
    hide_empty(&mut table);
    // Sentences in a narrow column would be a word per line.
    if !fit(&mut table, HEADER, &["expectation"]).is_empty() && !expectations.is_empty() {
        labels.insert(0, format!("Expected:\n  {}", expectations.join("\n  ")));
    }
    Ok((table, labels))
}

/// Hides the columns in which no row has anything.
pub fn hide_empty(table: &mut Table) {
    let is_used = |table: &Table, index: usize| {
        let mut cells = table.row_iter().filter_map(|row| row.cell_iter().nth(index));
        cells.any(|cell| !cell.content().is_empty())
    };
    let empty: Vec<usize> =
        (0..table.column_count()).filter(|index| !is_used(table, *index)).collect();
    for index in empty {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::Hidden);
        }
    }
}

/// Says which instructions make a variant's counts depend on timing.
fn timing_labels(variant: &str, counted: &Counted) -> Vec<String> {
    let decisive = counted.instructions.iter().filter(|(_, one)| one.depends_on_timing);
    let label = |((kernel, line), one): (&(String, u32), &InstructionCounts)| {
        let place = one.source.as_ref().map_or_else(String::new, |source| {
            let (file, line) = source.outermost();
            format!(", {file}:{line}")
        });
        format!(
            "The counts of {variant} depend on timing: a loop of `{kernel}` goes on until PTX line {line}{place} reads \
             what another thread wrote, and a GPU may run it more often than was counted."
        )
    };
    decisive.map(label).collect()
}

/// Tells a log how far a run is, now and then, where nobody sees the bar. Each row is printed once, by the table.
pub struct Heartbeat(Mutex<Instant>);

impl Heartbeat {
    /// Of a run that begins now.
    pub fn new() -> Heartbeat {
        Heartbeat(Mutex::new(Instant::now()))
    }

    /// After another row.
    pub fn beat(&self, bar: &ProgressBar) {
        let Ok(mut last) = self.0.lock() else { return };
        if bar.is_hidden() && last.elapsed() >= BETWEEN_LINES {
            *last = Instant::now();
            let (done, all) = (bar.position(), bar.length().unwrap_or(0));
            // A log that takes no more ends no run.
            let _ = writeln!(stderr(), "{done} of {all} rows: {}", bar.message());
        }
    }
}

/// Prints a line before work that is worth more than the line: a reader that has gone ends nothing.
pub fn say(line: impl std::fmt::Display) {
    let _ = writeln!(stdout(), "{line}");
}

/// A progress bar on standard error; invisible when that is no terminal.
pub fn progress(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta} left)");
    ProgressBar::new(steps as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares what a terminal shows; a pipe, as in this test, has no width.
    #[test]
    fn a_table_fits_a_terminal_and_is_a_line_per_row_in_a_pipe() {
        let long =
            "Each block stages a tile in shared memory and writes it back transposed. ".repeat(3);
        let mut table = table(["pattern", "variant", "what it does"]);
        table.add_row(["transpose", "tiled", &long]);
        if !stdout().is_terminal() {
            assert_eq!(table.lines().count(), 2, "{table}");
        }
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
        assert!(table.lines().count() > 3, "{table}");
    }

    #[test]
    fn a_narrow_terminal_hides_columns_in_order_and_breaks_no_name() {
        let header = ["pattern", "variant", "time", "registers", "occupancy"];
        let mut table = table(header);
        table.add_row(["a_pattern_of_some_length", "its_variant", "0.1000 ms", "32", "100 %"]);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(60);
        assert_eq!(
            fit(&mut table, header, &["registers", "occupancy"]),
            ["registers", "occupancy"]
        );
        assert_eq!(table.lines().count(), 2, "{table}");
        assert!(table.to_string().contains("a_pattern_of_some_length  its_variant"), "{table}");
    }
}
