//! `coalesce results`: a result file as a table, for the terminal or between markers of a document; its predictions anew.

use crate::catalogue::Catalogue;
use ::report::tabulate;
use ::results::{Results, write};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show a result file as a Markdown table, write it into a document, or replace its predictions.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM results measured.json\n  PROGRAM results measured.json --splice README.md --plots docs/plots\n  PROGRAM results measured.json --predictions predicted.json"
)]
pub struct Arguments {
    /// A file written by `bench --json`.
    #[arg(required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// Print the JSON schema of result files.
    #[arg(long, conflicts_with_all = ["file", "predictions", "splice", "plots", "check"])]
    schema: bool,
    /// Replace the predictions and counts of the file's rows by those of this one, which `bench --device virtual` wrote.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["splice", "plots"])]
    predictions: Option<PathBuf>,
    /// Replace the text between this document's markers that name the file.
    #[arg(long, value_name = "DOCUMENT")]
    splice: Option<PathBuf>,
    /// Write the plot of each pattern's ladder into this folder, as SVG.
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// With --predictions, --splice or --plots: change nothing, and fail if a prediction, the document or a plot is stale.
    #[arg(long)]
    check: bool,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    let Some(file) = &arguments.file else {
        print!("{}", ::results::json_schema());
        return Ok(ExitCode::SUCCESS);
    };
    let mut results = Results::load(file, catalogue.renamed)?;
    if let Some(predictions) = &arguments.predictions {
        let predicted = Results::load(predictions, catalogue.renamed)?;
        let context = || {
            format!(
                "cannot take the predictions of {} to {}",
                predictions.display(),
                file.display()
            )
        };
        let changed = results.replace_predictions(&predicted).with_context(context)?;
        if arguments.check && changed > 0 {
            bail!(
                "{changed} predictions of {} are stale: run the same command without --check",
                file.display()
            );
        }
        if !arguments.check {
            if file.extension().is_some_and(|extension| extension == "gz") {
                bail!("{} is compressed: decompress it first", file.display());
            }
            results.save(file)?;
        }
        println!("{changed} predictions changed");
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.splice.is_none() && arguments.plots.is_none() {
        if arguments.check {
            bail!(
                "--check compares with something: add --predictions FILE, --splice DOCUMENT or --plots FOLDER"
            );
        }
        print!("{}", tabulate::markdown(&results));
        return Ok(ExitCode::SUCCESS);
    }
    let mut wanted = Vec::new();
    if let Some(document) = &arguments.splice {
        let text = std::fs::read_to_string(document)
            .with_context(|| format!("cannot read {}", document.display()))?;
        let spliced = tabulate::splice(&text, &file.to_string_lossy(), &results)
            .with_context(|| format!("cannot fill the tables of {}", document.display()))?
            .with_context(|| {
                format!("{} has no markers for {}", document.display(), file.display())
            })?;
        wanted.push((document.clone(), spliced));
    }
    if let Some(folder) = &arguments.plots {
        let plots = ::report::plots(file, catalogue.renamed)?.into_iter();
        wanted.extend(plots.map(|(name, text)| (folder.join(name), text)));
        if !arguments.check {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot write {}", folder.display()))?;
        }
    }
    for (path, text) in wanted {
        if std::fs::read_to_string(&path).ok().as_ref() == Some(&text) {
            continue;
        }
        if arguments.check {
            bail!("{} is stale: run the same command without --check", path.display());
        }
        write(&path, text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
