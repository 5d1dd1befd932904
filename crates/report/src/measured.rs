//! Measured numbers in docs: nobody types them, they are written from a result file.
//!
//! Three forms: a time right after a variant's name, as in "`tiled` (1.213 ms)"; a figure right before its arithmetic, as
//! in "3.2 times as long (`a` / `b`)"; and a table between the lines `<!-- measured -->` and `<!-- /measured -->`. A doc
//! of no pattern names `PATTERN/VARIANT`, and may have the measured
//! peaks between `<!-- peaks -->` and `<!-- /peaks -->`. A writer who does not know the number yet writes `(? ms)` or `? times (..)`.
//!
//! ```no_run
//! let results = results::Results::load("measured.json".as_ref(), &[])?;
//! let doc = "`tiled` (? ms) is faster.";
//! println!("{}", report::measured::fill(doc, "transpose", &["naive", "tiled"], &results)?);
//! # anyhow::Ok(())
//! ```

mod derived;
mod expression;

pub use derived::derived;
pub use expression::row;

use crate::glossary::block;
use anyhow::{Context, Result};
use results::{Measured, Resource, Results};
use std::fmt::Write;
use std::ops::Range;

/// The units of times.
const TIMES: [&str; 2] = ["ms", "us"];
/// The units of all that is measured.
const UNITS: [&str; 7] = ["ms", "us", "µs", "ns", "GB/s", "TB/s", "MB/s"];

/// The figures of a variant, by the name that it has today.
pub fn lookup<'a>(results: &'a Results, pattern: &str, variant: &str) -> Option<&'a Measured> {
    let mut rows = results.ladders();
    rows.find(|row| row.pattern == pattern && row.variant == variant)?.measured()
}

/// A doc with every measured number as the results have it. `variants` are those of the doc's pattern, in order.
///
/// # Errors
/// A time after the name of what was not measured, or a figure with such a name in its arithmetic.
pub fn fill(doc: &str, pattern: &str, variants: &[&str], results: &Results) -> Result<String> {
    let mut doc = doc.to_owned();
    if let Some(at) = block(&doc, "measured") {
        doc.replace_range(at, &table(pattern, variants, results));
    }
    if let Some(at) = block(&doc, "peaks") {
        doc.replace_range(at, &peaks(results));
    }
    // From the end, so that places before stay where they are.
    for time in times(&doc).into_iter().rev() {
        let (of, variant) = time.name.split_once('/').unwrap_or((pattern, &time.name));
        let measured = lookup(results, of, variant).with_context(|| {
            format!("`{}` was not measured: write no time after its name", time.name)
        })?;
        let factor = if time.unit == "us" { 1e3 } else { 1.0 };
        doc.replace_range(time.number, &digits(factor * measured.time_ms.median));
    }
    compute(&doc, pattern, results)
}

/// A document with every figure that has its arithmetic behind it as the results have it, and nothing else changed.
///
/// # Errors
/// Arithmetic that is none, or names what was not measured.
pub fn compute(doc: &str, pattern: &str, results: &Results) -> Result<String> {
    let mut out = doc.to_owned();
    for figure in derived(doc).into_iter().rev() {
        let number = figure.filled(doc, pattern, results)?;
        out.replace_range(figure.number, &number);
    }
    Ok(out)
}

/// The numbers with a unit of time or of bandwidth that [`fill`] does not write, each with its line.
pub fn typed(doc: &str) -> Vec<String> {
    let mut filled: Vec<Range<usize>> = times(doc).into_iter().map(|time| time.number).collect();
    filled.extend(derived(doc).into_iter().map(|figure| figure.number));
    filled.extend(["measured", "peaks"].iter().filter_map(|name| block(doc, name)));
    let mut found = Vec::new();
    for (at, _) in doc.match_indices(|c: char| c.is_ascii_digit()) {
        let number =
            doc[at..].split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or("");
        let unit = doc[at + number.len()..].trim_start_matches([' ', '\u{A0}', '\n']);
        let is_unit = |unit_name: &str| {
            let rest = unit.strip_prefix(unit_name);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/'))
        };
        let is_start = !doc[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.' || c == '_');
        if is_start
            && UNITS.iter().any(|unit| is_unit(unit))
            && !filled.iter().any(|range| range.contains(&at))
        {
            let start = doc[..at].rfind('\n').map_or(0, |end| end + 1);
            found.push(doc[start..].lines().next().unwrap_or_default().to_owned());
        }
    }
    found.dedup();
    found
}

struct Time {
    name: String,
    number: Range<usize>,
    unit: &'static str,
}

/// The times of a doc that stand right after a name in backticks.
fn times(doc: &str) -> Vec<Time> {
    let mut found = Vec::new();
    for (at, _) in doc.match_indices('(') {
        let before = doc[..at].trim_end_matches([' ', '\n']);
        let Some(before) = before.strip_suffix('`').filter(|_| before.len() < at) else { continue };
        let name = before.rsplit('`').next().unwrap_or_default();
        let inner = doc[at + 1..].split(')').next().unwrap_or_default();
        let Some((number, unit)) = inner.split_once([' ', '\n']) else { continue };
        let is_number = number == "?" || number.parse::<f64>().is_ok();
        if let Some(unit) = TIMES.iter().find(|known| **known == unit && is_number) {
            found.push(Time { name: name.to_owned(), number: at + 1..at + 1 + number.len(), unit });
        }
    }
    found
}

/// Three decimals below 10, fewer above.
fn digits(value: f64) -> String {
    let decimals = [10.0, 100.0, 1000.0].iter().filter(|limit| value < **limit).count();
    format!("{value:.decimals$}")
}

/// The table of a pattern's ladder, peers last; nothing where nothing was measured.
fn table(pattern: &str, variants: &[&str], results: &Results) -> String {
    let peers = results.ladders().filter(|row| row.peer && row.pattern == pattern);
    let ours = variants.iter().map(|variant| (format!("`{variant}`"), *variant));
    let rows: Vec<(String, &Measured)> = ours
        .chain(peers.map(|row| (format!("*{}*", row.variant), row.variant.as_str())))
        .filter_map(|(shown, name)| Some((shown, lookup(results, pattern, name)?)))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let is_short = rows.iter().any(|(_, measured)| measured.time_ms.median < 0.1);
    let (unit, factor) = if is_short { ("us", 1e3) } else { ("ms", 1.0) };
    let device = &results.environment.device.name;
    let mut out = format!(
        "| measured on {device} | time, {unit} | GB/s | % of measured peak | speed-up |\n|---|--:|--:|--:|--:|\n"
    );
    for (name, measured) in rows {
        let peak = measured
            .minimum_time
            .map_or_else(String::new, |minimum| format!("{:.0}", minimum.percent));
        let _ = writeln!(
            out,
            "| {name} | {} | {:.0} | {peak} | {:.2} |",
            digits(factor * measured.time_ms.median),
            measured.bandwidth_gb_s,
            measured.speed_up
        );
    }
    out
}

fn peaks(results: &Results) -> String {
    let device = &results.environment.device.name;
    let mut out = format!("| measured on {device} | peak |\n|---|--:|\n");
    for peak in &results.measured_peaks {
        let each = if peak.resource == Resource::Launch { " each" } else { "" };
        let rate = format!("{}{each}", peak.rate());
        let what = match peak.resource {
            Resource::Copy => "device memory, copy: bytes read plus bytes written",
            Resource::Read => "device memory, read",
            Resource::Write => "device memory, write",
            Resource::L2 => "L2 cache, read",
            Resource::Shared => "shared memory of all multiprocessors, read",
            Resource::Fp32 => "single-precision fused multiplies and adds, two operations each",
            Resource::TensorBf16 => {
                "products of bf16 by tensor cores, summed in f32, two operations each"
            }
            Resource::HostToDevice => "PCIe, host to device (H2D)",
            Resource::DeviceToHost => "PCIe, device to host (D2H)",
            Resource::Bidirectional => "PCIe, bidirectional: the sum of both directions",
            Resource::Launch => "kernel launches, one after another on a stream",
        };
        let _ = writeln!(out, "| {what} | {rate} |");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_nothing_fills_is_found() {
        let doc = "`a` (1.5\nms) and `b`\n(2 us), 3 warps.\n<!-- measured -->\n| 4 ms |\n<!-- /measured -->\n";
        assert_eq!(typed(doc), Vec::<String>::new());
        for fault in [
            "takes 1.5 ms",
            "at 4300 GB/s",
            "(1.5 ms)",
            "`a` takes (1.5 ms)",
            "`a` (1.5 ms or 2 ms)",
            "0.7us",
        ] {
            assert_eq!(typed(fault), [fault], "{fault}");
        }
        for right in ["2 musts", "x1 ms", "16 B", "3 GB/step"] {
            assert_eq!(typed(right), Vec::<String>::new(), "{right}");
        }
    }

    #[test]
    fn a_figure_is_computed_from_its_arithmetic() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/nvidia-h200/reference.json");
        let results = Results::load(std::path::Path::new(file), &[]).expect("it is committed");
        let ladder = results.ladders().filter(|row| !row.peer).filter_map(|row| {
            Some((
                row.name(),
                row.measured()?.time_ms.median,
                row.measured()?.minimum_time?.percent,
            ))
        });
        let rows: Vec<(String, f64, f64)> = ladder.collect();
        let ((a, slow, percent), (b, fast, _)) = (&rows[0], &rows[1]);
        let filled = |text: &str| fill(text, "", &[], &results);
        let right = [
            (format!("?.? times as long\n(`{a}` / `{b}`)"), format!("{:.1}", slow / fast)),
            (format!("9.99 ms (`{a}` - `{b}`)"), format!("{:.2}", slow - fast)),
            (format!("0 % of the peak (`{a}`)"), format!("{percent:.0}")),
            (
                format!("0.0 % (`{a}` / (`{a}` + `{b}`))"),
                format!("{:.1}", 100.0 * slow / (slow + fast)),
            ),
            (
                format!("0.0 x 10^9 words per second (2^27 / `{a}`)"),
                format!("{:.1}", 134.217728 / slow),
            ),
        ];
        for (text, number) in right {
            let text = text.replace("?.?", "1.0");
            let is = filled(&text).unwrap();
            assert!(is.starts_with(&format!("{number} ")), "{text}: {is}");
            assert_eq!(typed(&text), Vec::<String>::new(), "{text}");
            assert_eq!(filled(&is).unwrap(), is);
        }
        for (wrong, why) in [
            (format!("2 times (`{a}` / `no/such`)"), "was not measured"),
            (format!("2 times (`{a}` - `{b}`)"), "is not what the words"),
            (format!("2 ms (`{a}` / `{b}`)"), "is not what the words"),
            (format!("2 ms (`{a}` + 2)"), "have no sum"),
            (format!("2 times (`{a}` / `{b}` now)"), "nothing reads `now`"),
        ] {
            let error = filled(&wrong).expect_err(&wrong);
            assert!(format!("{error:#}").contains(why), "{wrong}: {error:#}");
        }
        for left in
            ["2 of `a` (`b`)", "2 times (a / b)", "2 times. It (`a` / `b`)", "x2 (`a` / `b`)"]
        {
            assert_eq!(filled(left).unwrap(), left);
        }
    }

    #[test]
    fn digits_are_three_decimals_or_four_figures() {
        let shown = [0.0476, 1.2131, 47.61, 471.0355, 12345.6].map(digits);
        assert_eq!(shown, ["0.048", "1.213", "47.61", "471.0", "12346"]);
    }
}
