//! `coalesce results`: a result file as a table, for the terminal or between markers of a document.

use anyhow::{Context, Result, bail};
use coalesce::results::{Results, write};
use coalesce::tabulate;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Show a result file as a Markdown table, or write it into a document.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  coalesce results results/nvidia-h200/reference.json\n  coalesce results results/nvidia-h200/reference.json --splice README.md"
)]
pub struct Arguments {
    /// A file written by `coalesce bench --json`.
    #[arg(required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// Print the JSON schema of result files.
    #[arg(long, conflicts_with_all = ["file", "splice"])]
    schema: bool,
    /// Replace what stands between the markers of this document that name the file.
    #[arg(long, value_name = "DOCUMENT")]
    splice: Option<PathBuf>,
    /// With --splice: change nothing, fail when the document is stale.
    #[arg(long, requires = "splice")]
    check: bool,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Some(file) = &arguments.file else {
        print!("{}", coalesce::results::json_schema());
        return Ok(ExitCode::SUCCESS);
    };
    let table = tabulate::markdown(&Results::load(file)?);
    let Some(document) = &arguments.splice else {
        print!("{table}");
        return Ok(ExitCode::SUCCESS);
    };
    let text = std::fs::read_to_string(document)
        .with_context(|| format!("cannot read {}", document.display()))?;
    let spliced = splice(&text, file, &table)
        .with_context(|| format!("{} has no markers for {}", document.display(), file.display()))?;
    if arguments.check && spliced != text {
        bail!(
            "{} is stale: run `coalesce results {} --splice {}`",
            document.display(),
            file.display(),
            document.display()
        );
    }
    if spliced != text {
        write(document, spliced.as_bytes())?;
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
