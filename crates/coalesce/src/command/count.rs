use super::progress::Progress;
use super::shared::{WrongArgument, writable};
use crate::catalogue::Catalogue;
use crate::count;
use anyhow::Result;
use std::path::PathBuf;
use std::process::ExitCode;

/// Count the memory requests of all kernels by executing them. The counts are exact, and the same on every machine.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM count -o counts.json\n  PROGRAM count PATTERN PATTERN -o counts.json\n  PROGRAM report here.json --counts counts.json"
)]
pub struct Arguments {
    /// The patterns to count; all patterns if none is named.
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// Write the counts of every kernel and instruction to this file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    let mut patterns = Vec::new();
    for name in &arguments.patterns {
        let selection = catalogue.select(name)?;
        if selection.variant.is_some() {
            let message = format!("`{name}` names a variant: patterns are counted as a whole");
            return Err(WrongArgument(message).into());
        }
        patterns.push(selection.pattern);
    }
    if patterns.is_empty() {
        patterns.extend(catalogue.patterns);
    }
    writable(&arguments.output)?;
    let variants = patterns.iter().map(|pattern| pattern.variants.len()).sum();
    let bar = Progress::new(variants);
    let counts = count::count_all(catalogue, patterns, |pattern| {
        bar.row(pattern.name);
        bar.step();
    })?;
    drop(bar);
    counts.save(&arguments.output)?;
    let kernels = counts.patterns.iter().flat_map(|pattern| &pattern.variants);
    let kernels: usize = kernels.map(|variant| variant.kernels.len()).sum();
    println!(
        "{kernels} kernels of {} patterns counted; written to {}",
        counts.patterns.len(),
        arguments.output.display()
    );
    Ok(ExitCode::SUCCESS)
}
