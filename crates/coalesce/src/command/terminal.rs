//! Tables and progress bars in the terminal.

use crate::catalogue::Selection;
use crate::count;
use crate::counted::Counted;
use crate::pattern::Size;
use anyhow::Result;
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, Table};
use cuda_host::Gpu;
use indicatif::{ProgressBar, ProgressStyle};
use results::InstructionCounts;

/// A table with this header, in the style of all our tables.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    table
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
    let mut labels = Vec::new();
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
    }
    hide_empty(&mut table);
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

/// A progress bar on standard error; invisible when that is no terminal.
pub fn progress(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta} left)");
    ProgressBar::new(steps as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
