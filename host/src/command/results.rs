//! `coalesce results`: a result file as a table, for the terminal or between markers of a document.

use anyhow::{Context, Result, bail};
use coalesce::pattern::Limit;
use coalesce::results::{Measured, Outcome, Results};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Show a result file as a Markdown table, or write it into a document.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  coalesce results results/nvidia-h200/bench.json\n  coalesce results results/nvidia-h200/bench.json --splice README.md"
)]
pub struct Arguments {
    /// A file written by `coalesce bench --json`.
    file: PathBuf,
    /// Replace what stands between the markers of this document that name the file.
    #[arg(long, value_name = "DOCUMENT")]
    splice: Option<PathBuf>,
    /// With --splice: change nothing, fail when the document is stale.
    #[arg(long, requires = "splice")]
    check: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let table = markdown(&Results::load(&arguments.file)?);
    let Some(document) = &arguments.splice else {
        print!("{table}");
        return Ok(ExitCode::SUCCESS);
    };
    let text = std::fs::read_to_string(document)
        .with_context(|| format!("cannot read {}", document.display()))?;
    let spliced = splice(&text, &arguments.file, &table).with_context(|| {
        format!("{} has no markers for {}", document.display(), arguments.file.display())
    })?;
    if arguments.check && spliced != text {
        bail!(
            "{} is stale: run `coalesce results {} --splice {}`",
            document.display(),
            arguments.file.display(),
            document.display()
        );
    }
    if spliced != text {
        replace(document, &spliced)
            .with_context(|| format!("cannot write {}", document.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The document with `table` between the markers that name `file`.
fn splice(text: &str, file: &Path, table: &str) -> Option<String> {
    let begin = text.find(&format!("<!-- BEGIN results: coalesce results {} ", file.display()))?;
    let start = begin + text[begin..].find("-->\n")? + "-->\n".len();
    let end = start + text[start..].find("<!-- END results -->")?;
    Some(format!("{}{table}{}", &text[..start], &text[end..]))
}

/// Writes a file whole or not at all.
fn replace(path: &Path, text: &str) -> Result<()> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// The ladders of a run as a table, with its circumstances below.
fn markdown(results: &Results) -> String {
    let mut out = String::from(
        "| pattern | variant | time | GB/s | of its limit | speed-up |\n|---|---|--:|--:|--:|--:|\n",
    );
    let mut previous = "";
    for row in results.ladders() {
        let name =
            if row.pattern == previous { String::new() } else { format!("`{}`", row.pattern) };
        previous = &row.pattern;
        let cells = match &row.outcome {
            Outcome::Measured(Measured { time_ms, bandwidth_gb_s, floor, speed_up, .. }) => {
                let of_limit = floor.map_or_else(String::new, |floor| {
                    format!("{:.1} % of {}", floor.percent, floor.limit.name())
                });
                format!(
                    "{:.3} ms | {bandwidth_gb_s:.0} | {of_limit} | {speed_up:.2} x",
                    time_ms.median
                )
            }
            Outcome::NotRun { reason } => format!("not run: {reason} | | |"),
            Outcome::Wrong { reason } => format!("WRONG: {reason} | | |"),
        };
        let variant =
            if row.peer { format!("*{}*", row.variant) } else { format!("`{}`", row.variant) };
        let _ = writeln!(out, "| {name} | {variant} | {cells} |");
    }
    let environment = &results.environment;
    let _ = writeln!(
        out,
        "\n{}, CUDA {}, kernels for {} ({}) by {}, commit {}; the driver's copy reached {:.0} GB/s; medians of at least {} launches.",
        environment.device.name,
        environment.device.driver_version,
        environment.ptx_target,
        environment.ptx_hash,
        environment.compiler,
        environment.commit,
        results.ceiling(Limit::Copy).map_or(0.0, coalesce::results::Ceiling::bandwidth_gb_s),
        results
            .ladders()
            .filter_map(|row| Some(row.measured()?.time_ms.samples))
            .min()
            .unwrap_or(0),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_markers_of_the_file_are_filled() {
        let text = "a\n<!-- BEGIN results: coalesce results x.json --splice R.md -->\nold\n<!-- END results -->\nb\n";
        let spliced = splice(text, Path::new("x.json"), "new\n").expect("the markers are there");
        assert_eq!(spliced, text.replace("old\n", "new\n"));
        assert_eq!(splice(text, Path::new("y.json"), "new\n"), None);
    }
}
