//! `coalesce explain`: the teaching doc of a pattern and what its kernels consist of.

use super::explain_ptx::{self, PtxArguments};
use super::shared::{WrongArgument, writable};
use super::terminal::{table, traffic_table};
use crate::catalogue::{Catalogue, Selection};
use crate::pattern::Size;
use crate::{count, timeline};
use ::report::glossary::{self, Term};
use ::report::picture;
use ::results::{Counts, write};
use anyhow::{Context, Result};
use cuda_host::{Choice, Gpu, KernelFacts};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Explain a pattern: its idea, its ladder, the traffic to expect and the instructions in its PTX. Also explains a term,
/// and what a kernel of any PTX file does.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  PROGRAM explain PATTERN\n  PROGRAM explain PATTERN/VARIANT\n  PROGRAM explain PATTERN/VARIANT --svg pictures --json counts.json\n  PROGRAM explain PATTERN --svg pictures --device gpu\n  PROGRAM explain my.ptx\n  PROGRAM explain my.ptx:scale --grid 4096 --block 256 --arg out:f32*1Mi --arg in:f32*1Mi=random --arg n=1Mi --check\n  PROGRAM explain --glossary \"bank conflict\""
)]
pub struct Arguments {
    /// The pattern, or one variant of it; or a PTX file and one of its kernels.
    #[arg(
        value_name = "PATTERN[/VARIANT] | FILE.ptx[:KERNEL]",
        required_unless_present = "glossary"
    )]
    selection: Option<String>,
    /// Explain a term instead of a pattern. Without a term, print the whole glossary, a first lesson for newcomers to GPUs.
    #[arg(long, value_name = "TERM", num_args = 0..=1, conflicts_with_all = ["selection", "svg", "device"])]
    glossary: Option<Option<String>>,
    /// Write a picture of each variant into this folder: the addresses that a warp touches, or a timeline.
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// The device that makes timelines. On a GPU they are measured at the size of the benchmark. The addresses that a warp
    /// touches are the same on every device.
    #[arg(long, value_name = "DEVICE", default_value = "virtual")]
    device: Choice,
    #[command(flatten)]
    ptx: PtxArguments,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    if let Some(term) = &arguments.glossary {
        println!("{}", explained(term.as_deref())?);
        return Ok(ExitCode::SUCCESS);
    }
    let selection = arguments.selection.as_deref().unwrap_or_default();
    // A file of another name is meant where no pattern has the name.
    let other = Path::new(selection);
    let is_other = || catalogue.select(selection).is_err() && other.exists();
    let named = explain_ptx::of_file(selection).or_else(|| is_other().then_some((other, None)));
    if let Some(named) = named {
        let svg = arguments.svg.as_deref();
        return explain_ptx::run(catalogue, named, &arguments.ptx, &arguments.device, svg);
    }
    if arguments.ptx.grid.is_some() {
        let message =
            format!("`{selection}` is no PTX file, and only kernels of such a file take --grid");
        return Err(WrongArgument(message).into());
    }
    let selection = catalogue.select(selection)?;
    let pattern = selection.pattern;
    if let Some(path) = &arguments.ptx.json {
        writable(path)?;
    }
    if let Some(folder) = &arguments.svg {
        std::fs::create_dir_all(folder).with_context(|| {
            format!("cannot make the folder {}, choose another folder", folder.display())
        })?;
    }
    if selection.variant.is_none() {
        println!("{}", glossary::plain(&pattern.doc()));
    }
    if !pattern.is_host_work() {
        print_kernels(catalogue, &selection)?;
    }
    println!("Sources: {}", pattern.sources());
    if let Some(path) = &arguments.ptx.json {
        selected_counts(catalogue, &selection)?.save(path)?;
    }
    if let Some(folder) = &arguments.svg {
        write_pictures(catalogue, &selection, folder, &arguments.device)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A term of the glossary for a terminal, or the whole glossary.
fn explained(term: Option<&str>) -> Result<String, WrongArgument> {
    let Some(name) = term else { return Ok(glossary::plain(glossary::TEXT).trim_end().to_owned()) };
    if let Some(term) = glossary::find(glossary::TEXT, name) {
        // The definitions of links are at the end of the whole.
        let whole = glossary::plain(glossary::TEXT);
        return Ok(glossary::find(&whole, term.name)
            .map_or_else(String::new, |term| format!("{}\n\n{}", term.name, term.text)));
    }
    let wanted = name.to_lowercase();
    // A word that an explanation has, such as another name of the term, is nearer than one that looks alike.
    let nearness = |term: &Term<'_>| {
        let words = term.text.split(|c: char| !c.is_alphanumeric() && c != '-');
        let is_told = words.take(60).any(|word| word.to_lowercase() == wanted);
        f64::from(u8::from(is_told)) + strsim::jaro_winkler(&wanted, &term.name.to_lowercase())
    };
    let terms = glossary::terms(glossary::TEXT);
    let mut near: Vec<(f64, &str)> = terms.iter().map(|term| (nearness(term), term.name)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    Err(WrongArgument(format!(
        "the glossary has no term `{name}`, the nearest are {}; `explain --glossary` shows all",
        near.join(", ")
    )))
}

/// Prints the traffic of the kernels and the facts of their PTX.
fn print_kernels(catalogue: &Catalogue, selection: &Selection) -> Result<()> {
    let pattern = selection.pattern;
    let size = Size::new(pattern.count_size);
    println!("Traffic per request, counted at {}:\n", pattern.show_size(&size));
    let (traffic, labels) = traffic_table(&count::open(catalogue)?, selection)?;
    println!("{traffic}\n");
    labels.iter().for_each(|label| println!("{label}\n"));
    println!("In the PTX, of which NVIDIA's assembler may unroll loops:\n");
    let mut facts = table(["variant", "target", "instructions", "shared", "local"]);
    for variant in selection.variants() {
        let kernels = pattern.kernel_names(variant);
        for (index, kernel) in kernels.iter().enumerate() {
            let name = if index == 0 { variant.name } else { kernel };
            facts.add_row(fact_cells(catalogue, name, kernel));
        }
    }
    println!("{facts}\n");
    Ok(())
}

/// The counts of the selected variants.
fn selected_counts(catalogue: &Catalogue, selection: &Selection) -> Result<Counts> {
    let mut counts = count::count_all(catalogue, [selection.pattern], |_| {})?;
    let is_selected = |name: &str| selection.variant.is_none_or(|variant| variant.name == name);
    for pattern in &mut counts.patterns {
        pattern.variants.retain(|variant| is_selected(&variant.name));
    }
    Ok(counts)
}

/// Writes a picture per selected variant and says where.
fn write_pictures(
    catalogue: &Catalogue,
    selection: &Selection,
    folder: &Path,
    device: &Choice,
) -> Result<()> {
    let pattern = selection.pattern;
    let mut drawn = Vec::new();
    if pattern.is_host_work() {
        let gpu = Gpu::open(device, catalogue.images)?;
        let is_virtual = gpu.virtual_device().is_some();
        let size = Size::new(if is_virtual { pattern.count_size } else { pattern.bench_size });
        for (variant, recorded, _) in timeline::record(&gpu, pattern, selection.variants(), &size)?
        {
            let name = format!("{}/{}", pattern.name, variant.name);
            drawn.push((variant.name.to_owned(), picture::timeline::draw(&name, &recorded)));
        }
    } else {
        for counted in &selected_counts(catalogue, selection)?.patterns {
            drawn.extend(counted.variants.iter().filter_map(|variant| {
                Some((variant.name.clone(), picture::of(counted, variant)?))
            }));
        }
    }
    for (variant, drawn) in drawn {
        let path = folder.join(format!("{}_{variant}.svg", pattern.name));
        write(&path, drawn.as_bytes())?;
        println!("Picture: {}", path.display());
    }
    Ok(())
}

/// The facts of a kernel in the newest PTX, under a name.
fn fact_cells(catalogue: &Catalogue, name: &str, kernel: &str) -> [String; 5] {
    let newest =
        catalogue.images.iter().rev().find_map(|image| Some((image, image.facts(kernel)?)));
    let Some((image, facts)) = newest else {
        return [name, "none", "", "", ""].map(str::to_owned);
    };
    let KernelFacts { instructions, shared_bytes, local_bytes, .. } = facts;
    let list =
        instructions.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>();
    [
        name.to_owned(),
        format!("sm_{}", image.capability),
        list.join(", "),
        format!("{shared_bytes} B"),
        format!("{local_bytes} B"),
    ]
}
