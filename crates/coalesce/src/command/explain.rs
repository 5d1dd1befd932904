use super::explain_ptx::{self, PtxArguments};
use super::shared::{WrongArgument, writable};
use super::terminal::{in_lines, screen, show, table, traffic_table};
use super::{pager, prose};
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

/// Explain a pattern: its lesson, its counted traffic and its measured times. Also explains a term, and what a kernel of
/// any PTX file does.
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
    /// Let the rows of those pictures appear one after the other, as the memory system takes them.
    #[arg(long, requires = "svg")]
    moving: bool,
    /// The device that makes timelines. On a GPU they are measured at the size of the benchmark. The addresses that a warp
    /// touches are the same on every device.
    #[arg(long, value_name = "DEVICE", default_value = "virtual")]
    device: Choice,
    /// Also print the instructions in the PTX of the pattern's kernels.
    #[arg(long = "ptx", conflicts_with = "glossary")]
    shows_ptx: bool,
    /// Print everything at once, where a terminal gets it page by page, in less or the program that PAGER names.
    #[arg(long)]
    no_pager: bool,
    #[command(flatten)]
    ptx: PtxArguments,
}

pub fn run(catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    if let Some(term) = &arguments.glossary {
        let text = explained(term.as_deref())? + "\n";
        pager::show(&in_paragraphs(&text), !arguments.no_pager);
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
    if let Some(path) = &arguments.ptx.json {
        writable(path)?;
    }
    if let Some(folder) = &arguments.svg {
        std::fs::create_dir_all(folder).with_context(|| {
            format!("cannot make the folder {}, choose another folder", folder.display())
        })?;
    }
    let text = text(catalogue, &selection, arguments.shows_ptx)?;
    pager::show(&text, !arguments.no_pager);
    if let Some(path) = &arguments.ptx.json {
        selected_counts(catalogue, &selection)?.save(path)?;
    }
    if let Some(folder) = &arguments.svg {
        write_pictures(catalogue, &selection, folder, arguments)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The lesson, the counts, the times and, if they are wanted, the instructions of the PTX.
fn text(catalogue: &Catalogue, selection: &Selection, shows_ptx: bool) -> Result<String> {
    let pattern = selection.pattern;
    let (lesson, times) = parted(&pattern.doc());
    let mut parts = Vec::new();
    if selection.variant.is_none() {
        parts.push(in_paragraphs(&glossary::plain(&lesson)));
    }
    if !pattern.is_host_work() {
        parts.push(traffic(catalogue, selection)?);
    }
    if selection.variant.is_none() {
        parts.extend(times.map(|times| in_paragraphs(&glossary::plain(&times))));
    } else {
        // The lesson ends with them.
        parts.push(in_lines(format_args!("Sources: {}", pattern.sources())));
    }
    if shows_ptx && !pattern.is_host_work() {
        parts.push(instructions(catalogue, selection));
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_matches('\n')).collect();
    Ok(parts.join("\n\n") + "\n")
}

/// A doc without its measured table, and that.
fn parted(doc: &str) -> (String, Option<String>) {
    let table = doc.split_once("<!-- measured -->").and_then(|(before, rest)| {
        let (table, after) = rest.split_once("<!-- /measured -->")?;
        Some((format!("{}\n{}", before.trim_end(), after), table.to_owned()))
    });
    match table {
        Some((lesson, times)) => (lesson, Some(times)),
        None => (doc.to_owned(), None),
    }
}

/// Text of a doc, made for the terminal; a pipe gets it as it is.
fn in_paragraphs(text: &str) -> String {
    screen().map_or_else(|| text.to_owned(), |screen| prose::for_terminal(text, &screen))
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

/// The traffic of the kernels.
fn traffic(catalogue: &Catalogue, selection: &Selection) -> Result<String> {
    let size = Size::new(selection.pattern.count_size);
    let (mut traffic, labels) = traffic_table(&count::open(catalogue)?, selection)?;
    let mut text =
        format!("Traffic per request, counted at {}:\n\n", selection.pattern.show_size(&size));
    text += &show(&mut traffic);
    labels.iter().for_each(|label| text += &format!("\n\n{}", in_lines(label)));
    Ok(text)
}

/// The instructions of the kernels in the newest PTX.
fn instructions(catalogue: &Catalogue, selection: &Selection) -> String {
    let mut facts = table(["variant", "target", "instructions", "shared", "local"]);
    for variant in selection.variants() {
        let kernels = selection.pattern.kernel_names(variant);
        for (index, kernel) in kernels.iter().enumerate() {
            let name = if index == 0 { variant.name } else { kernel };
            facts.add_row(fact_cells(catalogue, name, kernel));
        }
    }
    let head = in_lines("In the PTX, of which NVIDIA's assembler may unroll loops:");
    format!("{head}\n\n{}", show(&mut facts))
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
    arguments: &Arguments,
) -> Result<()> {
    let pattern = selection.pattern;
    let mut drawn = Vec::new();
    if pattern.is_host_work() {
        let gpu = Gpu::open(&arguments.device, catalogue.images)?;
        let is_virtual = gpu.virtual_device().is_some();
        let size = Size::new(if is_virtual { pattern.count_size } else { pattern.bench_size });
        for (variant, recorded, _) in timeline::record(&gpu, pattern, selection.variants(), &size)?
        {
            let name = format!("{}/{}", pattern.name, variant.name);
            drawn.push((variant.name.to_owned(), picture::timeline::draw(&name, &recorded)));
        }
    } else {
        let draw = if arguments.moving { picture::moving } else { picture::of };
        for counted in &selected_counts(catalogue, selection)?.patterns {
            drawn.extend(
                counted
                    .variants
                    .iter()
                    .filter_map(|variant| Some((variant.name.clone(), draw(counted, variant)?))),
            );
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
    let Some((image, facts)) = newest else { return [name, "none", "", "", ""].map(str::to_owned) };
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
