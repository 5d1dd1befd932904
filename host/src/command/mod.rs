//! One module per subcommand, and the arguments they share.

pub mod bench;
pub mod explain;
pub mod list;
pub mod verify;

use anyhow::Result;
use clap::Args;
use coalesce::pattern::{Size, Variant};
use coalesce::patterns::{Selection, UnknownName};
use comfy_table::Table;
use comfy_table::presets::UTF8_NO_BORDERS;
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
    /// Which GPU, counted from 0 in the driver's order.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub gpu: u32,
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

/// The traffic that variants should cause at a size.
pub fn traffic_table<'a>(variants: impl IntoIterator<Item = &'a Variant>, size: &Size) -> Table {
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let mut table = table([
        "variant",
        "load sectors",
        "store sectors",
        "shared load passes",
        "shared store passes",
        "arithmetic",
    ]);
    for variant in variants {
        let expected = (variant.expect)(size);
        table.add_row([
            variant.name.to_owned(),
            number(expected.load_sectors),
            number(expected.store_sectors),
            number(expected.shared_load_wavefronts),
            number(expected.shared_store_wavefronts),
            expected.arithmetic.to_owned(),
        ]);
    }
    table
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
