//! One module per subcommand, and the arguments they share.

pub mod bench;
pub mod calibrate;
pub mod compare;
pub mod explain;
pub mod list;
pub mod report;
pub mod results;
pub mod verify;

use anyhow::Result;
use clap::Args;
use coalesce::gpu::Choice;
use coalesce::measure::{Axes, Axis};
use coalesce::pattern::Size;
use coalesce::patterns::{Selection, UnknownName};
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, Table};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::Path;

/// An argument that is well-formed but means nothing here.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongArgument(pub String);

/// What to work on, and where.
#[derive(Debug, Args)]
pub struct Work {
    /// Patterns or variants, such as `transpose` or `transpose/padded`; all when none is named.
    #[arg(value_name = "PATTERN[/VARIANT]")]
    selections: Vec<String>,
    /// Replace numbers of the size, such as `n=2^20` or `distribution=skewed`; the first one needs no name. For `bench`
    /// several values make a curve: `stride=1..32`, `2^20..2^28`, `n=1000,2000`.
    #[arg(long, visible_alias = "axis", value_name = "NAME=VALUES")]
    size: Vec<Axes>,
    /// The seed of the random inputs.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The device: auto, gpu, gpu:N, virtual, virtual:PROFILE, or virtual:FILE.json.
    #[arg(long, value_name = "DEVICE", default_value = "auto", env = "COALESCE_DEVICE")]
    pub device: Choice,
}

impl Work {
    /// The selected patterns and variants.
    pub fn selections(&self) -> Result<Vec<Selection>, UnknownName> {
        if self.selections.is_empty() {
            return Ok(Selection::all());
        }
        self.selections.iter().map(|text| Selection::parse(text)).collect()
    }

    /// The same selection for another process, without the device.
    pub fn to_arguments(&self) -> Vec<String> {
        let mut list = self.selections.clone();
        for axes in &self.size {
            list.extend(["--size".to_owned(), axes.to_string()]);
        }
        list.extend(["--seed".to_owned(), self.seed.to_string()]);
        list
    }

    /// The values of `--size`.
    pub fn axes(&self) -> Vec<Axis> {
        self.size.iter().flat_map(|axes| axes.0.clone()).collect()
    }
}

/// A table with this header, in the style of all our tables.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header);
    table
}

/// The traffic of variants: counted by the executor, with the expectation where it differs.
pub fn traffic_table(selection: &Selection) -> Result<Table> {
    const HEADER: [&str; 14] = [
        "variant",
        "load sectors",
        "store sectors",
        "shared load passes",
        "shared store passes",
        "constant passes",
        "shared atomic passes",
        "global atomics",
        "global atomic passes",
        "bytes",
        "efficiency",
        "conflicts",
        "registers",
        "expectation",
    ];
    let mut table = table(HEADER);
    let mut is_used = HEADER.map(|_| false);
    for (variant, counted) in coalesce::traffic::count(selection.pattern)? {
        if selection.variant.is_some_and(|one| one.name != variant.name) {
            continue;
        }
        let expected = (variant.expect)(&Size::new(selection.pattern.count_size));
        let cell = |counted: Option<f64>, expected: Option<f64>| match (counted, expected) {
            (Some(counted), Some(expected)) if !coalesce::traffic::agree(counted, expected) => {
                format!("{counted:.3} (expected {expected:.3})")
            }
            (None, Some(expected)) => format!("none (expected {expected:.3})"),
            (Some(counted), _) => {
                format!("{counted:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            (None, None) => String::new(),
        };
        let conflicts = counted.counters.shared_load.bank_conflicts()
            + counted.counters.shared_store.bank_conflicts();
        let kernel = selection.pattern.kernel_name(variant);
        let registers = kernel.and_then(|kernel| coalesce::gpu::registers(&kernel));
        let row = [
            variant.name.to_owned(),
            cell(counted.load_sectors(), expected.load_sectors),
            cell(counted.store_sectors(), expected.store_sectors),
            cell(counted.shared_load_wavefronts(), expected.shared_load_wavefronts),
            cell(counted.shared_store_wavefronts(), expected.shared_store_wavefronts),
            cell(counted.constant_passes(), expected.constant_passes),
            cell(counted.shared_atomic_wavefronts(), expected.shared_atomic_wavefronts),
            cell(counted.global_atomics(), expected.global_atomics),
            cell(counted.global_atomic_passes(), expected.global_atomic_passes),
            counted.global_bytes().to_string(),
            counted
                .efficiency_percent()
                .map_or_else(String::new, |percent| format!("{percent:.1} %")),
            conflicts.to_string(),
            registers.map_or_else(String::new, |registers| registers.to_string()),
            expected.arithmetic.to_owned(),
        ];
        for (is_used, cell) in is_used.iter_mut().zip(&row) {
            *is_used |= !cell.is_empty();
        }
        table.add_row(row);
    }
    for (index, _) in is_used.iter().enumerate().filter(|(_, is_used)| !**is_used) {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::Hidden);
        }
    }
    Ok(table)
}

/// A progress bar on standard error; invisible when that is no terminal.
pub fn progress(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({eta} left)");
    ProgressBar::new(steps as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Fails now rather than after minutes of work.
pub fn writable(path: &Path) -> Result<(), WrongArgument> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
        .map(drop)
        .map_err(|error| WrongArgument(format!("cannot write {}: {error}", path.display())))
}
