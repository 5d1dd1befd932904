use crate::catalogue::Selection;
use crate::count;
use crate::counted::Counted;
use crate::pattern::Size;
use anyhow::Result;
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, Color, ColumnConstraint, ContentArrangement, Table, Width};
use cuda_host::Gpu;
use report::screen::Screen;
use results::InstructionCounts;
use std::io::{IsTerminal, Write, stderr, stdout};

/// The width of a terminal that says none, and the widths that text is made for: a narrower one breaks lines itself, and a
/// wider one is read no better.
const USUAL_WIDTH: usize = 80;
const WIDTHS: (usize, usize) = (40, 240);
/// The blanks around a cell.
const AROUND: usize = 2;
/// The first columns of a table that is fitted are names, which stay in one line.
const NAMES: usize = 2;

/// The columns of a terminal, as `COLUMNS` or else the terminal says; none in a pipe, where lines are as long as they are.
fn columns(is_terminal: bool, named: Option<&str>, found: Option<u16>) -> Option<usize> {
    let (least, most) = WIDTHS;
    let named = named.and_then(|named| named.trim().parse::<usize>().ok());
    let known = [named, found.map(usize::from)].into_iter().flatten().find(|width| *width > 0);
    is_terminal.then(|| known.unwrap_or(USUAL_WIDTH).clamp(least, most))
}

/// Returns whether bars and arrows must be ASCII: what the locale says, in the order in which C asks.
pub fn is_ascii() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    !locale.to_lowercase().replace('-', "").contains("utf8")
}

fn screen_of(is_terminal: bool, found: Option<u16>) -> Option<Screen> {
    let named = std::env::var("COLUMNS").ok();
    let width = columns(is_terminal, named.as_deref(), found)?;
    Some(Screen { width, is_ascii: is_ascii() })
}

/// The terminal that standard output is; none in a pipe.
pub fn screen() -> Option<Screen> {
    screen_of(stdout().is_terminal(), Table::new().width())
}

/// The terminal that standard error is; none in a pipe.
pub fn error_screen() -> Option<Screen> {
    screen_of(stderr().is_terminal(), Table::new().use_stderr().width())
}

/// Sentences in lines of whole words; in a pipe as they are.
fn wrapped(text: String, screen: Option<Screen>) -> String {
    let Some(screen) = screen else { return text };
    text.split('\n').map(|line| screen.wrap(line)).collect::<Vec<_>>().join("\n")
}

/// Sentences for standard output.
pub fn in_lines(text: impl std::fmt::Display) -> String {
    wrapped(text.to_string(), screen())
}

/// Sentences for standard error.
pub fn in_error_lines(text: impl std::fmt::Display) -> String {
    wrapped(text.to_string(), error_screen())
}

/// A table with this header, in the style of all our tables: as wide as the terminal, with a line for each row in a pipe.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    table_of(&header.map(str::to_owned))
}

/// As [`table`], with any number of columns.
pub fn table_of(header: &[String]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    if let Some(screen) = screen() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(screen.width as u16);
    }
    table
}

/// A table as text without broken words: where the terminal is too narrow for the longest, a row is a sentence.
pub fn show(table: &mut Table) -> String {
    let is_dynamic = matches!(table.content_arrangement(), ContentArrangement::Dynamic);
    let Some(width) = table.width().filter(|_| is_dynamic) else { return table.to_string() };
    let shown = (0..table.column_count()).filter(|index| !is_hidden(table, *index));
    let least = |index: usize| {
        let constraint = table.column(index).and_then(comfy_table::Column::constraint);
        AROUND + longest(table, index, !matches!(constraint, Some(ColumnConstraint::ContentWidth)))
    };
    let needed: Vec<(usize, usize)> = shown.map(|index| (index, least(index))).collect();
    if needed.iter().map(|(_, width)| width).sum::<usize>() > usize::from(width) {
        let screen = Screen { width: width.into(), is_ascii: is_ascii() };
        let cells = |row: &comfy_table::Row| row.cell_iter().map(Cell::content).collect::<Vec<_>>();
        let header = table.header().map(cells).unwrap_or_default();
        let sentence = |row: Vec<String>| {
            let told = needed.iter().map(|(index, _)| (*index, &row[*index]));
            let told = told.filter(|(_, cell)| !cell.is_empty()).map(|(index, cell)| match index {
                0 => cell.clone(),
                _ => format!("{}: {cell}", header[index]),
            });
            screen.wrap_behind("", "  ", &told.collect::<Vec<_>>().join("; "))
        };
        return table.row_iter().map(cells).map(sentence).collect::<Vec<_>>().join("\n");
    }
    for (index, least) in needed {
        let Some(column) = table.column_mut(index) else { continue };
        if !matches!(column.constraint(), Some(ColumnConstraint::ContentWidth)) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least as u16)));
        }
    }
    table.to_string()
}

/// The longest line of a column, or its longest word.
fn longest(table: &Table, index: usize, is_word: bool) -> usize {
    let rows = table.header().into_iter().chain(table.row_iter());
    let texts = rows.filter_map(|row| row.cell_iter().nth(index)).map(Cell::content);
    let length = |text: &str| text.chars().count();
    let of_text = |text: String| match is_word {
        true => text.split_whitespace().map(length).max().unwrap_or(0),
        false => text.lines().map(length).max().unwrap_or(0),
    };
    texts.map(of_text).max().unwrap_or(0)
}

fn is_hidden(table: &Table, index: usize) -> bool {
    let constraint = table.column(index).and_then(comfy_table::Column::constraint);
    matches!(constraint, Some(ColumnConstraint::Hidden))
}

/// Makes a wide table fit the terminal: names stay whole, and the columns named in `order` are hidden, the first one
/// first, until the rest fits. With `breaks_lines` it fits when the words do. Returns their names.
pub fn fit<const N: usize>(
    table: &mut Table,
    header: [&str; N],
    order: &[&str],
    breaks_lines: bool,
) -> Vec<String> {
    let Some(width) = table.width() else { return Vec::new() };
    // A column is its widest cell and a blank on either side; an empty one is hidden already.
    let shown = |table: &Table, index: usize| match is_hidden(table, index) {
        true => 0,
        false => AROUND + longest(table, index, breaks_lines && index >= NAMES),
    };
    let mut widths: Vec<usize> = (0..N).map(|index| shown(table, index)).collect();
    let mut hidden = Vec::new();
    for name in order {
        if widths.iter().sum::<usize>() <= width.into() {
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
    for (index, width) in widths.iter().enumerate().take(NAMES) {
        if let Some(column) = table.column_mut(index).filter(|_| *width > 0) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    hidden
}

/// The columns that a chart may take.
pub fn width() -> usize {
    screen().map_or(USUAL_WIDTH, |screen| screen.width)
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
            cell(counters.constant_wavefronts(), expected.constant_wavefronts),
            cell(counters.shared_atomic_wavefronts(), expected.shared_atomic_wavefronts),
            cell(counters.global_atomics(), expected.global_atomics),
            cell(counters.global_atomic_updates(), expected.global_atomic_updates),
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
    if !fit(&mut table, HEADER, &["expectation"], false).is_empty() && !expectations.is_empty() {
        labels.insert(0, format!("Expected:\n  {}", expectations.join("\n  ")));
    }
    let hidden = fit(&mut table, HEADER, &["registers", "bytes", "lanes per instruction"], true);
    if !hidden.is_empty() {
        labels.insert(0, format!("no room here for {}", hidden.join(", ")));
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

/// Prints a line before work that is worth more than the line: a reader that has gone ends nothing.
pub fn say(line: impl std::fmt::Display) {
    let _ = writeln!(stdout(), "{}", in_lines(line));
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
            fit(&mut table, header, &["registers", "occupancy"], false),
            ["registers", "occupancy"]
        );
        let shown = show(&mut table);
        assert_eq!(shown.lines().count(), 2, "{shown}");
        assert!(shown.contains("a_pattern_of_some_length  its_variant"), "{shown}");
    }

    #[test]
    fn no_word_is_broken_at_any_width() {
        let row = ["a_pattern_of_some_length", "4 sectors on both sides of it", "524288"];
        for width in 40..160 {
            let mut table = table(["variant", "expectation of its author", "transactions"]);
            table.add_row(row);
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            let shown = show(&mut table);
            let words: Vec<&str> = shown.split_whitespace().collect();
            let is_whole = |word: &&str| words.iter().any(|one| one.trim_end_matches(';') == *word);
            assert!(
                row.iter().flat_map(|cell| cell.split(' ')).all(|word| is_whole(&word)),
                "{shown}"
            );
            let longest = shown.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width.into()), "{width}: {shown}");
        }
    }

    #[test]
    fn a_width_that_is_none_is_not_taken() {
        let named = |named| columns(true, Some(named), Some(100));
        assert_eq!(["", "0", "-5", "wide"].map(named), [Some(100); 4]);
        assert_eq!(["10", "100000", "72"].map(named), [Some(40), Some(240), Some(72)]);
        assert_eq!(columns(true, None, None), Some(80));
        assert_eq!(columns(true, None, Some(0)), Some(80));
        assert_eq!(columns(false, Some("72"), Some(100)), None);
    }
}
