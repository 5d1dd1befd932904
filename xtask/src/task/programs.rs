//! `cargo xtask programs CHECKOUT`: public CUDA programs, compiled with the runtime shared and run on the virtual device
//! with every check.
//!
//! A suite's module finds its programs and says how each is built and started. A file of rows per suite lies in
//! `results/programs`, and its page is made of these files. Nothing is fetched, and nothing of a suite is kept.

mod arguments;
mod build;
mod inputs;
mod likeness;
mod memory;
mod pack;
mod rows;
mod sizes;
mod suite;
mod trial;
mod truth;
mod verdict;

use super::prove::today;
use crate::workspace;
use anyhow::{Context, Result, bail};
use arguments::{Given, Table};
use build::Toolkit;
use pack::Pack;
use rows::Row;
use sizes::Sizes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::Duration;
use suite::{Program, SUITES, Suite};
use trial::Trial;
use truth::Truth;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A checkout of HeCBench, PolyBench-GPU or cuda-samples; without one, only the page is written anew.
    checkout: Option<PathBuf>,
    /// The compiler.
    #[arg(long, value_name = "FILE", default_value = "nvcc")]
    nvcc: PathBuf,
    /// A folder of headers that nvcc does not find.
    #[arg(long, short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Only the program of this name, or those whose name contains it; several are separated by commas.
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave out programs that have a row.
    #[arg(long)]
    resume: bool,
    /// Programs that are compiled and run side by side.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: u16,
    /// Take `coalesce` and its libraries as they are built, on a machine without cargo.
    #[arg(long)]
    built: bool,
    /// Compare what a program prints with what it prints on this machine's GPU, by NVIDIA's runtime and by ours.
    #[arg(long, requires = "checkout")]
    gpu: bool,
    /// Compare with what a GPU printed, in the folder that the script of `--pack` wrote there.
    #[arg(long, value_name = "FOLDER", conflicts_with = "gpu", requires = "checkout")]
    recorded: Option<PathBuf>,
    /// Build the programs and run none: the folder gets them with their inputs, and a script that records their outputs on a
    /// machine with a GPU.
    #[arg(long, value_name = "FOLDER", requires = "checkout")]
    pack: Option<PathBuf>,
    /// The seconds that a program may run.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(checkout) = &arguments.checkout {
        let checkout = checkout.canonicalize().with_context(|| {
            format!("there is no {}: name a checkout of a suite", checkout.display())
        })?;
        let Some(suite) = SUITES.iter().find(|suite| checkout.join(suite.marker).exists()) else {
            let known: Vec<&str> = SUITES.iter().map(|suite| suite.repository).collect();
            bail!("{} is a checkout of none of {}", checkout.display(), known.join(", "));
        };
        try_all(suite, &checkout, arguments)?;
    }
    rows::write_page()?;
    Ok(ExitCode::SUCCESS)
}

/// Builds and runs the programs of a suite, and writes a row of each.
fn try_all(suite: &Suite, checkout: &Path, arguments: &Arguments) -> Result<()> {
    let scratch = workspace::target_dir().join("programs");
    let toolkit = Toolkit::new(&arguments.nvcc, &arguments.include, &scratch.join("toolkit"))?;
    let compiler = toolkit.version()?;
    let gpu = match &arguments.recorded {
        Some(folder) => Some(truth::recorded_gpu(folder)?),
        None => arguments.gpu.then(truth::gpu).transpose()?,
    };
    if let Some(folder) = &arguments.pack {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    if !arguments.built {
        super::build::coalesce()?;
    }
    let pack = arguments.pack.as_deref().map(Pack::new).transpose()?;
    let mirror = Mirror::new(checkout, &scratch.join(suite.name))?;
    let mut programs = (suite.programs)(&mirror)?;
    if !arguments.only.is_empty() {
        let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
        let is_wanted = |name: &String| {
            let mut texts = arguments.only.iter();
            texts.any(|text| if names.contains(text) { name == text } else { name.contains(text) })
        };
        programs.retain(|program| is_wanted(&program.name));
    }
    let mut known = rows::read(suite.name)?;
    let with_bugs = rows::with_bugs(suite)?;
    for program in (suite.programs)(&mirror)? {
        if let Some(row) = known.get_mut(&program.name) {
            row.beyond = beyond(row, &program, &with_bugs).to_owned();
        }
    }
    if arguments.resume {
        programs.retain(|program| !known.contains_key(&program.name));
    }
    let mut facts = vec![
        ("suite", workspace::commit(checkout)),
        ("coalesce", workspace::commit(&workspace::root())),
        ("date", today()?),
        ("nvcc", compiler),
        ("limit", format!("{} s", arguments.limit)),
    ];
    facts.extend(gpu.map(|gpu| ("gpu", gpu)));
    let (rows, table) = (Mutex::new(known), Mutex::new(Table::read(suite.name)?));
    let count = programs.len();
    let work = Mutex::new(programs.into_iter().enumerate());
    let limit = Duration::from_secs(arguments.limit);
    let bench = Bench {
        mirror,
        toolkit,
        limit,
        has_gpu: arguments.gpu,
        recorded: arguments.recorded.clone(),
        pack,
    };
    let worker = &|| -> Result<()> {
        // Taken by a call, so that the lock is not held while the program runs.
        let next = || work.lock().expect("no panic").next();
        while let Some((index, mut program)) = next() {
            let given = table.lock().expect("no panic").given(&program.name);
            program.device = given.as_ref().map_or_else(String::new, |it| it.device.clone());
            if let Some(pack) = &bench.pack {
                let word = bench.packed(pack, &program, given)?;
                println!("{}/{count} {}: {word}", index + 1, program.name);
                continue;
            }
            let (mut row, derived) = bench.tried(&program, given)?;
            row.beyond = beyond(&row, &program, &with_bugs).to_owned();
            println!("{}/{count} {}", index + 1, row.line());
            let mut rows = rows.lock().expect("no panic");
            rows.insert(program.name.clone(), row);
            rows::write(suite.name, &facts, &rows)?;
            if let Some(derived) = derived {
                table.lock().expect("no panic").add(&program.name, derived)?;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let jobs = usize::from(arguments.jobs.max(1));
        let workers: Vec<_> = (0..jobs)
            .map(|job| {
                scope.spawn(move || {
                    share_processors(job, jobs);
                    worker()
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })
}

/// Headers of closed libraries, and functions that only they have.
const LIBRARIES: [&str; 10] = [
    "cublas", "cusparse", "cusolver", "cufft", "curand.h", "nvrtc", "nvjpeg", "npp.h", "nvml.h",
    "cudnn",
];

/// Returns a word for why a program that is not verified cannot be asked of us, or none.
fn beyond(row: &Row, program: &Program, with_bugs: &[String]) -> &'static str {
    if row.built != "yes" || row.is_verified() {
        return "";
    }
    let sources = program.sources();
    let includes = |names: &[&str]| {
        let mut lines = sources.lines().filter(|line| line.trim_start().starts_with("#include"));
        lines.any(|line| names.iter().any(|name| line.contains(name)))
    };
    // DVC keeps files elsewhere, and leaves their names.
    let has_kept_files = || {
        let entries = std::fs::read_dir(&program.folder).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.path().extension().is_some_and(|it| it == "dvc"))
    };
    if includes(&LIBRARIES) || row.lacks.contains("cuGetExportTable") {
        "library"
    } else if row.lacks.starts_with("its input is not in the checkout")
        || (row.ran == "no" && row.kernels == "0" && has_kept_files())
    {
        "input"
    } else if includes(&["torch/"]) {
        "PyTorch"
    } else if is_waived(&row.lacks) {
        "devices"
    } else if with_bugs.contains(&program.name) {
        "bug"
    } else {
        ""
    }
}

/// Returns whether the reason is that of a program of cuda-samples that says that it needs another machine (`EXIT_WAIVED`).
fn is_waived(lacks: &str) -> bool {
    lacks.split_once("exit code 2").is_some_and(|(before, rest)| {
        (before.is_empty() || before.ends_with(", "))
            && !rest.starts_with(|it: char| it.is_numeric())
    })
}

/// Gives this thread and what it starts its share of the processors: each program would use all of them.
fn share_processors(job: usize, jobs: usize) {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let (begin, end) = (job * all / jobs, ((job + 1) * all).div_ceil(jobs));
    // SAFETY: a set may be all zeros, and the call reads one of this size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (begin..end).for_each(|processor| libc::CPU_SET(processor, &mut set));
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// Settings of programs: the folder of their builds, and the longest run.
struct Bench {
    mirror: Mirror,
    toolkit: Toolkit,
    limit: Duration,
    has_gpu: bool,
    /// Outputs of a GPU elsewhere.
    recorded: Option<PathBuf>,
    pack: Option<Pack>,
}

impl Bench {
    /// Builds a program and puts it into the folder for a machine with a GPU; how that went.
    fn packed(&self, pack: &Pack, program: &Program, given: Option<Given>) -> Result<String> {
        let given = given.unwrap_or_default();
        inputs::write(program, &given.inputs)?;
        program.resize(&self.mirror, &given.sizes)?;
        match program.build(&self.toolkit)? {
            Ok(start) => pack.add(&self.mirror.folder, program, &start, &given.arguments),
            Err(why) => Ok(why),
        }
    }

    /// Builds a program and runs it, made smaller where nobody said how; its row, and how it was made smaller.
    fn tried(&self, program: &Program, given: Option<Given>) -> Result<(Row, Option<Given>)> {
        if let Some(given) = given {
            inputs::write(program, &given.inputs)?;
            let attempts = [given.arguments.clone()];
            return Ok((self.sized(program, &given.sizes, Some(&attempts))?.0, None));
        }
        let (row, small, own) = self.sized(program, &program.sizes, None)?;
        if !row.is_too_large() {
            let given = Given { arguments: small.clone(), ..Given::default() };
            return Ok((row, (small != own).then_some(given)));
        }
        // Then its sizes are constants, if they can be made smaller at all.
        for divisor in sizes::DIVISORS {
            let sizes = sizes::smaller(&program.sources(), divisor);
            if sizes.is_empty() {
                break;
            }
            let (other, ..) = self.sized(program, &sizes, Some(std::slice::from_ref(&small)))?;
            if other.is_right() {
                return Ok((other, Some(Given { arguments: small, sizes, ..Given::default() })));
            }
            program.resize(&self.mirror, &Sizes::new())?;
        }
        Ok((row, None))
    }

    /// Builds a program with these sizes, and runs it with the largest of these arguments, or of its own made smaller, that
    /// do not take too long; its row, those arguments, and its own.
    fn sized(
        &self,
        program: &Program,
        sizes: &Sizes,
        attempts: Option<&[String]>,
    ) -> Result<(Row, String, String)> {
        program.resize(&self.mirror, sizes)?;
        let start = match program.build(&self.toolkit)? {
            Ok(start) => start,
            Err(why) => {
                return Ok((Row::unbuilt(&program.name, &why), String::new(), String::new()));
            }
        };
        let derived;
        let attempts = match attempts {
            Some(attempts) => attempts,
            None => {
                derived = arguments::smaller(&start.arguments, &program.sources());
                &derived
            }
        };
        let ran = |index: usize, limit: Duration| {
            let trial = Trial::run(program, &start, &attempts[index], limit)?;
            let mut row = trial.row(program, &start, &attempts[index], sizes, limit);
            // What has no input fails in the same way everywhere.
            if let Some(folder) = &self.recorded {
                if let Some(truth) = Truth::read(program, &start, &attempts[index], folder, limit)?
                {
                    let (gpu, runtime) = (truth.of_virtual_device(&trial), truth.of_our_runtime());
                    row.compared(gpu, runtime, truth.of_memory());
                }
            } else if self.has_gpu
                && (row.ran == "yes" || row.kernels != "0")
                && !trial.is_too_large()
            {
                let runtime = self.toolkit.runtime();
                let truth = Truth::run(program, &start, &attempts[index], &runtime, limit)?;
                if let Some(truth) = truth {
                    let (gpu, runtime) = (truth.of_virtual_device(&trial), truth.of_our_runtime());
                    row.compared(gpu, runtime, truth.of_memory());
                }
            }
            anyhow::Ok((row, trial.is_too_large()))
        };
        let last = attempts.len() - 1;
        let mut chosen = last;
        for (index, attempt) in attempts.iter().enumerate().take(last) {
            // What is too large is known soon.
            let (row, is_too_large) = ran(index, self.limit / 4)?;
            if !is_too_large {
                // Sizes that are too small for a program are refused by it: then larger ones get more time.
                if row.is_right() || index == 0 {
                    return Ok((row, attempt.clone(), start.arguments));
                }
                chosen = index - 1;
                break;
            }
        }
        let (mut row, is_too_large) = ran(chosen, self.limit)?;
        if chosen == last && last > 0 && !is_too_large && !row.is_right() {
            chosen -= 1;
            row = ran(chosen, self.limit)?.0;
        }
        Ok((row, attempts[chosen].clone(), start.arguments))
    }
}

/// A folder of links to all files of a checkout, in which programs are built.
struct Mirror {
    checkout: PathBuf,
    folder: PathBuf,
}

impl Mirror {
    fn new(checkout: &Path, target: &Path) -> Result<Mirror> {
        if !target.exists() {
            let beside = target.with_added_extension("new");
            std::fs::create_dir_all(&beside)
                .with_context(|| format!("cannot create {}", beside.display()))?;
            let mut copy = Command::new("cp");
            copy.args(["--recursive", "--symbolic-link", "--force", "--no-target-directory"]);
            workspace::succeed(copy.arg(checkout).arg(&beside))?;
            std::fs::rename(&beside, target)
                .with_context(|| format!("cannot create {}", target.display()))?;
        }
        Ok(Mirror { checkout: checkout.to_owned(), folder: target.to_owned() })
    }
}

/// Rows by the names of their programs.
type Rows = BTreeMap<String, Row>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_exit_code_is_no_waiver() {
        assert!(is_waived("exit code 2") && is_waived("exit code 2: error: one device"));
        assert!(!is_waived("exit code 255") && !is_waived("exit code 1: exit code 2"));
    }
}
