//! `coalesce explain FILE.ptx`: what a kernel of any compiler does.

use super::interrupt::{self, INTERRUPTED};
use super::shared::{WrongArgument, sarif, writable};
use super::terminal::screen;
use crate::catalogue::Catalogue;
use crate::foreign::{self, Argument, Launch, Saved, Shape, TracedWarp};
use ::report::profile;
use ::report::screen::Screen;
use ::results::{FailOn, ProgramProfile, write, write_somewhere};
use anyhow::{Context, Result};
use cuda_host::Choice;
use profiling::demangled;
use simt::{Checks, Trace};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use virtual_gpu::Topology;

/// The exit code of `explain` and `run` when something was found that fails them.
pub const FOUND: u8 = 4;

/// The shape of a launch of a PTX file's kernel.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "For a PTX file")]
pub struct PtxArguments {
    /// Blocks of the launch: 1024, 32x8 or 32x8x2. Without it the kernels of the file are listed.
    #[arg(long, value_name = "BLOCKS", requires = "block")]
    pub grid: Option<Shape>,
    /// Threads per block.
    #[arg(long, value_name = "THREADS", requires = "grid")]
    block: Option<Shape>,
    /// An argument, in the order of the kernel's parameters: `in:f32*1Mi=random` for an array of zeros, iota, random, unset,
    /// one number or @FILE; `n:u32=1048576` or `n=1Mi` for a number; `s:bytes=00ff` for a structure.
    #[arg(long = "arg", value_name = "ARGUMENT", allow_hyphen_values = true)]
    arguments: Vec<Argument>,
    /// Bytes of dynamic shared memory per block.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,
    /// Blocks of a cluster, on devices that have clusters.
    #[arg(long, value_name = "BLOCKS", requires = "grid")]
    cluster: Option<Shape>,
    /// Launch cooperatively: all blocks are there at once and may wait for each other.
    #[arg(long, requires = "grid")]
    cooperative: bool,
    /// Write what an array holds after the launch to this file, as its elements in little-endian order.
    #[arg(long, value_name = "ARRAY=FILE", requires = "grid")]
    save: Vec<Saved>,
    #[command(flatten)]
    checks: CheckArguments,
    /// Print the instructions of a warp in the order in which it ran them, with the registers they wrote: warp=3 of the
    /// first block, or block=2,warp=3.
    #[arg(long, value_name = "WARP", requires = "grid")]
    trace: Option<TracedWarp>,
    /// Take a kernel to run forever after so many warp-instructions (20000000000 without this option), and say where it is.
    #[arg(long, value_name = "N", requires = "grid")]
    limit: Option<u64>,
    /// Show lines of source files below this folder, too: without it only of those below the working folder and the file's.
    #[arg(long, value_name = "DIR")]
    sources: Vec<PathBuf>,
    /// Write what was found to this file as SARIF, for editors and code scanning.
    #[arg(long, value_name = "FILE", requires = "grid")]
    sarif: Option<PathBuf>,
    /// Write the profile to this file, or the counts of a pattern's kernels.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Options of the search for hazards in kernels.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct CheckArguments {
    /// Look for hazards: races, uninitialized reads, divergent barriers and more.
    #[arg(
        long,
        value_name = "all|no-volatile|none",
        hide_possible_values = true,
        num_args = 0..=1,
        default_value = "none",
        default_missing_value = "all",
        value_parser = check_of
    )]
    pub check: Check,
    /// With --check: run small launches in so many orders of their warps and blocks; results are those of the first.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub schedules: u32,
}

/// The search for hazards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Check {
    /// Every check.
    All,
    /// Every check but for volatile accesses that nothing orders.
    NoVolatile,
    /// None, which is faster.
    None,
}

/// Returns the search that a value of --check names.
///
/// # Errors
/// It names none: mostly what comes behind the option was meant for something else.
fn check_of(value: &str) -> Result<Check, String> {
    <Check as clap::ValueEnum>::from_str(value, false).map_err(|_| {
        format!(
            "this is none of all, no-volatile and none: write what to run before the option, or --check=all {value}"
        )
    })
}

impl Check {
    fn checks(self) -> Checks {
        match self {
            Check::All => Checks::all(),
            Check::NoVolatile => Checks { volatile: false, ..Checks::all() },
            Check::None => Checks::none(),
        }
    }

    /// Returns its name, as the command line and the environment have it.
    pub fn name(self) -> &'static str {
        match self {
            Check::All => "all",
            Check::NoVolatile => "no-volatile",
            Check::None => "none",
        }
    }
}

/// The file and the kernel that a selection names, if it names a file: `my.ptx` or `my.ptx:kernel`.
pub fn of_file(selection: &str) -> Option<(&Path, Option<&str>)> {
    let end = selection.find(".ptx").map(|start| start + ".ptx".len())?;
    match selection[end..].strip_prefix(':') {
        Some(kernel) => Some((Path::new(&selection[..end]), Some(kernel))),
        None => selection.ends_with(".ptx").then(|| (Path::new(selection), None)),
    }
}

/// The virtual machine that a choice names.
pub fn machine(choice: &Choice) -> Result<Topology> {
    let name = match choice {
        Choice::Auto => crate::count::COUNTING_DEVICE,
        Choice::Virtual(name) => name,
        Choice::Gpu(_) | Choice::AllGpus => {
            let message =
                "a GPU counts nothing: name a virtual device, such as --device virtual:a100"
                    .to_owned();
            return Err(WrongArgument(message).into());
        }
    };
    let machine = if name.ends_with(".json") {
        Topology::load(Path::new(name))
    } else {
        Topology::named(name)
    };
    machine.map_err(|error| WrongArgument(error.to_string()).into())
}

pub fn run(
    catalogue: &Catalogue,
    (file, kernel): (&Path, Option<&str>),
    arguments: &PtxArguments,
    device: &Choice,
    svg: Option<&Path>,
) -> Result<ExitCode> {
    let (text, module) = foreign::read(file)?;
    let (Some(grid), Some(block)) = (arguments.grid, arguments.block) else {
        list(&module);
        return Ok(ExitCode::SUCCESS);
    };
    for path in [&arguments.json, &arguments.sarif].into_iter().flatten() {
        writable(path)?;
    }
    for saved in &arguments.save {
        writable(&saved.file)?;
    }
    let kernel = foreign::chosen_kernel(&module, kernel)?;
    let trace = traced(arguments.trace, grid, block)?;
    let launch = Launch {
        grid,
        block,
        shared_bytes: arguments.shared,
        arguments: arguments.arguments.clone(),
        cluster: arguments.cluster,
        cooperative: arguments.cooperative,
        saved: arguments.save.clone(),
        checks: arguments.checks.check.checks(),
        schedules: arguments.checks.schedules,
        limit: arguments.limit,
        trace: trace.clone(),
        sources: file
            .parent()
            .map(sources_folder)
            .into_iter()
            .chain(arguments.sources.iter().cloned())
            .collect(),
    };
    let name = file.display().to_string();
    let machine = machine(device)?;
    let interrupted = interrupt::ends_kernels()?;
    let explain = || foreign::explain(&name, &text, kernel, &launch, machine);
    let profile = interrupt::patiently(explain)?;
    if let (Some(trace), Some(TracedWarp(warp))) = (trace, arguments.trace) {
        let tree = ptx::parse(&text)?;
        let entry = tree.entry(&kernel.name).context("the module has the kernel")?;
        println!("{}", foreign::trace_text(&trace.steps(), warp, entry));
    }
    let shown = screen().unwrap_or(Screen::PIPE);
    for Saved { array, file } in &arguments.save {
        println!("Saved: what `{array}` holds after the launch, in {}", file.display());
    }
    print!("{}", profile::text(&profile, &|advice| catalogue.taught(advice.kind), &shown));
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&profile).context("a profile is plain data")?;
        write_somewhere(path, (text + "\n").as_bytes())?;
    }
    if let Some(path) = &arguments.sarif {
        let mut findings = sarif("explain", &name)?;
        findings.set_ptx(&name, &text);
        findings.add_profile(&profile);
        if interrupted.load(Ordering::Relaxed) {
            findings.set_interrupted();
        }
        findings.save(path)?;
    }
    if let Some(folder) = svg {
        pictures(&profile, folder)?;
    }
    if interrupted.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let found = profile.findings(FailOn::Hazards);
    Ok(if found > 0 { ExitCode::from(FOUND) } else { ExitCode::SUCCESS })
}

/// The folder of a file, also of one in the working folder.
fn sources_folder(parent: &Path) -> PathBuf {
    if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.to_owned() }
}

/// The trace of the warp that is asked for, which the launch has to have.
fn traced(
    warp: Option<TracedWarp>,
    Shape(grid): Shape,
    Shape(block): Shape,
) -> Result<Option<Arc<Trace>>> {
    let Some(TracedWarp(warp)) = warp else { return Ok(None) };
    let product = |shape: [u32; 3]| shape.iter().map(|extent| u64::from(*extent)).product::<u64>();
    let (blocks, warps) = (product(grid), product(block).div_ceil(32));
    if warp.block >= blocks || u64::from(warp.warp) >= warps {
        let message = format!(
            "the launch has blocks 0 to {} of warps 0 to {}: name one of them for --trace",
            blocks - 1,
            warps - 1
        );
        return Err(WrongArgument(message).into());
    }
    Ok(Some(Arc::new(Trace::new(warp, foreign::MOST_STEPS))))
}

/// The kernels of a file, so that one can be launched.
fn list(module: &simt::Module) {
    println!(
        "PTX {}.{} for {}; launch a kernel with --grid, --block and an --arg for each parameter.",
        module.version.0, module.version.1, module.target
    );
    for kernel in module.kernels() {
        println!("\n{}", demangled(&kernel.name).unwrap_or_else(|| kernel.name.clone()));
        for parameter in &kernel.parameters {
            // Compilers put the kernel's name before those of its parameters, which may be long.
            let name = parameter.name.strip_prefix(&kernel.name).unwrap_or(&parameter.name);
            println!("  --arg {}: {}", name.trim_start_matches('_'), foreign::declared(parameter));
        }
        if let Some(block) = kernel.required_block {
            println!("  --block has to be {}x{}x{}", block[0], block[1], block[2]);
        }
        match kernel.supported() {
            Ok(()) => println!(
                "  {} instructions, {} B static shared memory, {} B local memory per thread",
                kernel.listing().len(),
                kernel.static_shared_bytes(),
                kernel.local_bytes()
            ),
            Err(error) => println!("  cannot be executed: {error}"),
        }
    }
}

fn pictures(profile: &ProgramProfile, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| {
        format!("cannot make the folder {}, choose another folder", folder.display())
    })?;
    for (kernel, drawn) in profile::pictures(profile) {
        // A mangled name may be longer than a file's.
        let name: String = kernel.chars().take(100).collect();
        let path = folder.join(format!("{name}.svg"));
        write(&path, drawn.as_bytes())?;
        println!("Picture: {}", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_behind_check_is_told_where_it_belongs() {
        assert_eq!(check_of("no-volatile"), Ok(Check::NoVolatile));
        let error = check_of("my.ptx:k").unwrap_err();
        assert!(error.contains("--check=all my.ptx:k"), "{error}");
    }
}
