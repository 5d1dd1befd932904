use super::terminal::{in_lines, screen, show, table, traffic_table};
use crate::catalogue::{Catalogue, Selection};
use crate::count;
use crate::hierarchy;
use crate::pattern::{Pattern, Size, Variant};
use ::report::screen::{Column, Screen};
use anyhow::{Result, bail};
use results::{LISTED_SCHEMA, ListedPattern, ListedVariant, PatternList, Results};
use std::path::PathBuf;
use std::process::ExitCode;

/// List every pattern, or the variants of some.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM list\n  PROGRAM list PATTERN\n  PROGRAM list --json\n  PROGRAM list --hierarchy measured.json"
)]
pub struct Arguments {
    /// Patterns whose variants are listed; without one, all patterns are listed.
    #[arg(value_name = "PATTERN", conflicts_with = "hierarchy")]
    patterns: Vec<String>,
    /// Print JSON instead of a table.
    #[arg(long, conflicts_with = "traffic")]
    json: bool,
    /// Print each variant's memory traffic, counted by executing it, instead of its summary.
    #[arg(long)]
    traffic: bool,
    /// Print the memory spaces instead, with latency and bandwidth as measured in a result file.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["json", "traffic"])]
    hierarchy: Option<Option<PathBuf>>,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    if let Some(file) = &arguments.hierarchy {
        if catalogue.memory_spaces.is_empty() {
            bail!("this catalogue has no table of memory spaces");
        }
        let load = |file: &PathBuf| Results::load(file, catalogue.renamed);
        let results = file.as_ref().map(load).transpose()?;
        let mut table = table(hierarchy::HEADER);
        table.add_rows(hierarchy::rows(catalogue.memory_spaces, results.as_ref()));
        println!("{}", show(&mut table));
        if results.is_none() {
            let name = catalogue.name;
            let text = "For the question marks, name a result file:";
            println!("{}", in_lines(format_args!("{text} `{name} list --hierarchy FILE`")));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let patterns = named(catalogue, arguments)?;
    if arguments.json {
        let variant = |pattern: &Pattern, variant: &Variant| ListedVariant {
            name: variant.name.to_owned(),
            kernel: pattern.kernel_name(variant),
            summary: pattern.summary(variant),
            min_compute_capability: variant.min_compute_capability,
        };
        let pattern = |pattern: &&Pattern| ListedPattern {
            name: pattern.name.to_owned(),
            claim: pattern.claim(),
            dimensions: pattern.dimensions.iter().map(|one| one.name.to_owned()).collect(),
            variants: pattern.variants.iter().map(|one| variant(pattern, one)).collect(),
        };
        let patterns = patterns.iter().map(pattern).collect();
        let list = PatternList { schema: LISTED_SCHEMA, patterns };
        println!("{}", serde_json::to_string_pretty(&list)?);
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.traffic {
        let gpu = count::open(catalogue)?;
        let mut without = Vec::new();
        for pattern in patterns {
            if pattern.is_host_work() {
                without.push(pattern.name);
                continue;
            }
            let size = Size::new(pattern.count_size);
            println!("{} at {}", pattern.name, pattern.show_size(&size));
            let (mut traffic, labels) = traffic_table(&gpu, &Selection { pattern, variant: None })?;
            println!("{}\n", show(&mut traffic));
            labels.iter().for_each(|label| println!("{}\n", in_lines(label)));
        }
        if !without.is_empty() {
            let text = "Work of the host, whose traffic is not that of kernels:";
            println!("{}", in_lines(format_args!("{text} {}", without.join(", "))));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.patterns.is_empty() {
        all(catalogue, &screen().unwrap_or(Screen::PIPE));
    } else {
        patterns.into_iter().for_each(variants);
    }
    Ok(ExitCode::SUCCESS)
}

/// The patterns that are named, or all.
fn named(catalogue: &Catalogue, arguments: &Arguments) -> Result<Vec<&'static Pattern>> {
    if arguments.patterns.is_empty() {
        return Ok(catalogue.patterns.to_vec());
    }
    let named = |name: &String| Ok(catalogue.select(name)?.pattern);
    arguments.patterns.iter().map(named).collect()
}

/// Lists the patterns, a line each, with their number and what comes next.
fn all(catalogue: &Catalogue, screen: &Screen) {
    let column = |name, takes_rest| Column { name, is_figure: false, dropped: 0, takes_rest };
    let columns = [column("pattern", false), column("what it shows", true)];
    let row = |pattern: &&Pattern| vec![pattern.name.to_owned(), pattern.claim()];
    let rows: Vec<Vec<String>> = catalogue.patterns.iter().map(row).collect();
    println!("{}", screen.columns(&columns, &rows));
    let variants: usize = catalogue.patterns.iter().map(|pattern| pattern.variants.len()).sum();
    let (count, program) = (catalogue.patterns.len(), catalogue.name);
    let first = catalogue.patterns.first().map_or("PATTERN", |pattern| pattern.name);
    let next = format!(
        "{count} patterns, {variants} variants. Next: {program} explain {first}; its variants: {program} list {first}."
    );
    println!("{}", screen.wrap(&next));
}

/// Lists the variants of a pattern below what it shows.
fn variants(pattern: &Pattern) {
    println!("{}", in_lines(format_args!("{}: {}\n", pattern.name, pattern.claim())));
    let mut table = table(["variant", "what it does"]);
    for variant in pattern.variants {
        table.add_row([variant.name, &pattern.summary(variant)]);
    }
    println!("{}\n", show(&mut table));
}
