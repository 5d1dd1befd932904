use super::progress::Progress;
use crate::catalogue::Catalogue;
use crate::count;
use crate::pattern::{Pattern, Variant};
use ::report::Options;
use ::results::fleet::{LEAST_BOARDS, Node};
use ::results::{Counts, Results};
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a report: HTML pages with tables, plots, and sources with their traffic. They need no network.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM report measured.json\n  PROGRAM report measured.json predicted.json -o h200\n  PROGRAM report before.json after.json\n  PROGRAM report nodes/*.json -o fleet"
)]
pub struct Arguments {
    /// Files written by `bench --json`: the first is reported, the others are compared with it. Four measurements and more
    /// are a fleet, a board each: which of them are slow, and at what.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The kernels' machine code, as `nvdisasm --print-code --print-line-info-inline` prints it.
    #[arg(long, value_name = "FILE")]
    sass: Option<PathBuf>,
    /// A file written by `count`. Without one, and without counts in the result files, the kernels are executed now.
    #[arg(long, value_name = "FILE")]
    counts: Option<PathBuf>,
    /// Address of the sources, such as https://github.com/owner/name: the report links to them at the commit that was
    /// counted.
    #[arg(long, value_name = "URL", value_parser = repository)]
    repository: Option<String>,
    /// The folder to write to. An older report in it is replaced; a folder with other files is refused.
    #[arg(short, long, value_name = "FOLDER", default_value = "report")]
    output: PathBuf,
}

/// An address that a browser opens, or why it is none.
fn repository(text: &str) -> Result<String, String> {
    match text.strip_prefix("https://") {
        Some(rest) if rest.contains('/') && !text.contains([' ', '"', '<']) => Ok(text.to_owned()),
        _ => {
            Err("write the address of the repository, such as https://github.com/owner/name"
                .to_owned())
        }
    }
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    ::report::check_folder(&arguments.output)?;
    // Executing the kernels comes before the machine code is read.
    if let Some(sass) = &arguments.sass {
        File::open(sass).with_context(|| format!("cannot read {}", sass.display()))?;
    }
    if let Some(nodes) = fleet(catalogue, arguments)? {
        ::report::fleet::write(&nodes, &arguments.output)?;
        println!("{}", arguments.output.join("index.html").display());
        return Ok(ExitCode::SUCCESS);
    }
    let counts = counts(catalogue, arguments)?;
    ::report::write(
        &arguments.files,
        catalogue.renamed,
        counts,
        &Options {
            machine_code: arguments.sass.as_deref(),
            repository: arguments.repository.as_deref(),
        },
        &arguments.output,
    )?;
    println!("{}", arguments.output.join("index.html").display());
    Ok(ExitCode::SUCCESS)
}

/// The files as boards of a fleet, if they are so many measurements.
fn fleet(catalogue: &Catalogue, arguments: &Arguments) -> Result<Option<Vec<Node>>> {
    if arguments.files.len() < LEAST_BOARDS {
        return Ok(None);
    }
    let nodes = nodes(catalogue, &arguments.files)?;
    let is_fleet = nodes.iter().all(|node| !node.results.environment.is_prediction);
    Ok(is_fleet.then_some(nodes))
}

/// Result files as boards, named as the files are.
pub fn nodes(catalogue: &Catalogue, files: &[PathBuf]) -> Result<Vec<Node>> {
    let node = |file: &PathBuf| {
        let mut results = Results::load(file, catalogue.renamed)?;
        // Of a hundred files they would fill the memory, and they say nothing of a board.
        results.counts = None;
        results.rows.iter_mut().for_each(|row| row.timeline = None);
        Ok(Node { name: ::report::stem(file), results })
    };
    files.iter().map(node).collect()
}

/// The counts of the patterns: from the file that is named, from the result files, or by executing the kernels.
fn counts(catalogue: &Catalogue, arguments: &Arguments) -> Result<Option<Counts>> {
    if let Some(file) = &arguments.counts {
        return Ok(Some(Counts::load(file)?));
    }
    let mut told = HashMap::new();
    for (index, file) in arguments.files.iter().enumerate() {
        let results = Results::load(file, catalogue.renamed)?;
        if results.counts.is_some() {
            return Ok(None);
        }
        if index == 0 {
            let timelines = results.ladders().map(|row| (row.name(), row.timeline.is_some()));
            let patterns = results.ladders().map(|row| (row.pattern.clone(), true));
            told.extend(timelines.chain(patterns));
        }
    }
    // Without kernels nothing can be counted: the report has the figures of the files.
    if catalogue.images.is_empty() {
        return Ok(None);
    }
    let variants = catalogue.patterns.iter().map(|pattern| pattern.variants.len()).sum();
    let bar = Progress::new(variants);
    // A page shows the file's timelines. The virtual device makes those of rows without one, and of patterns that are not
    // in the file; a variant that is newer than the file has no row.
    let records = |pattern: &Pattern, variant: &Variant| {
        let is_timed = told.get(&format!("{}/{}", pattern.name, variant.name));
        !is_timed.or(told.get(pattern.name)).is_some_and(|is_timed| *is_timed)
    };
    let patterns = catalogue.patterns.iter().copied();
    let counts = count::count_for(catalogue, patterns, records, |pattern| {
        bar.row(pattern.name);
        bar.step();
    });
    counts.map(Some)
}
