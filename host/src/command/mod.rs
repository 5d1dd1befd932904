//! One module per subcommand, and the arguments they share.

pub mod bench;
pub mod calibrate;
pub mod compare;
pub mod explain;
pub mod list;
pub mod results;
pub mod verify;

use anyhow::Result;
use clap::Args;
use coalesce::gpu::Choice;
use coalesce::pattern::Size;
use coalesce::patterns::{Selection, UnknownName};
use comfy_table::presets::UTF8_NO_BORDERS;
use comfy_table::{ColumnConstraint, Table};
use indicatif::{ProgressBar, ProgressStyle};

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
    /// Replace numbers of the size, such as `n=1048576` or `rows=4096,columns=8192`.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = dimension)]
    pub size: Vec<(String, usize)>,
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
}

/// Parses `name=value`; the value may be a power of two written `2^20`.
fn dimension(text: &str) -> Result<(String, usize), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as n=1048576")?;
    let number = match value.split_once('^') {
        Some((base, exponent)) => {
            let parts = (base.parse::<usize>().ok(), exponent.parse::<u32>().ok());
            if let (Some(base), Some(exponent)) = parts { base.checked_pow(exponent) } else { None }
        }
        None => value.parse().ok(),
    };
    let number =
        number.ok_or_else(|| format!("`{value}` is not a number such as 1048576 or 2^20"))?;
    Ok((name.to_owned(), number))
}

/// A table with this header, in the style of all our tables.
pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_NO_BORDERS).set_header(header);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_or_powers() {
        assert_eq!(dimension("n=100"), Ok(("n".to_owned(), 100)));
        assert_eq!(dimension("rows=2^14"), Ok(("rows".to_owned(), 16384)));
        for wrong in ["n", "n=", "n=x", "n=-1", "n=2^", "n=2^99"] {
            assert!(dimension(wrong).is_err(), "{wrong}");
        }
    }
}
