use super::terminal::{table, traffic_table};
use crate::catalogue::{Catalogue, Selection};
use crate::count;
use crate::hierarchy;
use crate::pattern::Size;
use anyhow::{Result, bail};
use results::Results;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// List every pattern and its variants.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM list\n  PROGRAM list --json\n  PROGRAM list --hierarchy measured.json"
)]
pub struct Arguments {
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
        println!("{table}");
        if results.is_none() {
            println!(
                "For the question marks, name a result file: `{} list --hierarchy FILE`",
                catalogue.name
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.json {
        let patterns: Vec<_> = catalogue.patterns
            .iter()
            .map(|pattern| {
                let variants: Vec<_> = pattern
                    .variants
                    .iter()
                    .map(|variant| {
                        json!({
                            "name": variant.name,
                            "kernel": pattern.kernel_name(variant),
                            "summary": pattern.summary(variant),
                            "min_compute_capability": variant.min_compute_capability,
                        })
                    })
                    .collect();
                let dimensions: Vec<_> = pattern.dimensions.iter().map(|dimension| dimension.name).collect();
                json!({ "name": pattern.name, "claim": pattern.claim(), "dimensions": dimensions, "variants": variants })
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&patterns)?);
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.traffic {
        let gpu = count::open(catalogue)?;
        let mut without = Vec::new();
        for pattern in catalogue.patterns {
            if pattern.is_host_work() {
                without.push(pattern.name);
                continue;
            }
            let size = Size::new(pattern.count_size);
            println!("{} at {}", pattern.name, pattern.show_size(&size));
            let (traffic, labels) = traffic_table(&gpu, &Selection { pattern, variant: None })?;
            println!("{traffic}\n");
            labels.iter().for_each(|label| println!("{label}\n"));
        }
        if !without.is_empty() {
            println!(
                "Work of the host, whose traffic is not that of kernels: {}",
                without.join(", ")
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = table(["pattern", "variant", "what it does"]);
    for pattern in catalogue.patterns {
        table.add_row([pattern.name, "", &pattern.claim()]);
        for variant in pattern.variants {
            table.add_row(["", variant.name, &pattern.summary(variant)]);
        }
    }
    println!("{table}");
    Ok(ExitCode::SUCCESS)
}
