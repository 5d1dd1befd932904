//! `cargo xtask suites CHECKOUT..`: public suites of CUDA bugs, each code compiled to PTX, run with every check, and scored
//! against its label.
//!
//! A suite's module says which codes there are, what their labels are and how they are launched. All share one runner
//! (`crates/simt/examples/run_jobs.rs`). A file of rows per suite lies in `results/suites`, and `results/suites.md` is made of
//! these files. Nothing is fetched, and nothing of a suite's text is kept.

mod compile;
mod faial;
mod files;
mod gpuverify;
mod graphs;
mod indigo;
mod job;
mod listed;
mod rows;
mod scor;
mod score;
mod source;
mod table;

use super::prove::today;
use crate::workspace;
use anyhow::{Context, Result, bail};
use compile::{Compiler, Unit};
use job::Metric;
use job::{Buffer, Job};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Checkouts of the suites, which `results/suites.md` lists; without any, only that page is written anew.
    checkouts: Vec<PathBuf>,
    /// The compiler.
    #[arg(long, value_name = "FILE", default_value = "nvcc")]
    nvcc: PathBuf,
    /// A folder of headers that nvcc does not find, such as those of CCCL.
    #[arg(long, short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Run only codes whose name contains this, print their rows, and write nothing.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// A public suite.
struct Suite {
    /// The name of its file of rows.
    name: &'static str,
    title: &'static str,
    repository: &'static str,
    /// A path that a checkout of it has.
    marker: &'static str,
    codes: fn(&Checkout) -> Result<Vec<Code>>,
    /// Figures that others published of it, each with its source.
    published: &'static [(&'static str, &'static str)],
    /// Codes whose label does not hold, with the argument; a `*` in a name stands for any text.
    disputed: &'static [(&'static str, &'static str)],
    /// Bugs that its labels speak of: a correct code is free of these.
    speaks_of: &'static [Bug],
    /// The input of the codes by which the cost of the checks is measured.
    timed: Option<&'static str>,
}

const SUITES: &[Suite] = &[
    indigo::SUITE,
    scor::SUITE,
    listed::SANITIZER,
    gpuverify::SUITE,
    faial::SUITE,
    graphs::INDIGO2,
    graphs::INDIGO3,
    listed::WEFT,
    listed::CUTRACER,
];

/// A checkout of a suite, and where files that its codes need may be written.
struct Checkout {
    folder: PathBuf,
    scratch: PathBuf,
}

impl Checkout {
    /// A buffer with these words, which are kept in a file.
    fn buffer(&self, name: &str, words: &[i32]) -> Result<Buffer> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let file = self.scratch.join(name);
        std::fs::write(&file, &bytes)
            .with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Buffer { bytes: bytes.len() as u64, file: Some(file), ..Buffer::default() })
    }
}

/// A mistake that a code is labelled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bug {
    Race,
    Bounds,
    Alignment,
    Barrier,
    Uninitialized,
    Assertion,
}

const ALL: &[Bug] =
    &[Bug::Race, Bug::Bounds, Bug::Alignment, Bug::Barrier, Bug::Uninitialized, Bug::Assertion];

/// A code with an input.
struct Code {
    name: String,
    input: String,
    /// None: it is correct.
    bugs: Vec<Bug>,
    /// Its races, if it has any, are in global memory, whose addresses are counted.
    races_are_global: bool,
    unit: Unit,
    job: Job,
    /// The cost, as the suite states it.
    cost: Option<(Metric, u64)>,
    /// Why nvcc refuses it.
    refusal: Option<String>,
}

impl Code {
    /// A code that is correct.
    fn new(name: &str, input: &str, unit: Unit, job: Job) -> Code {
        let (name, input) = (name.to_owned(), input.to_owned());
        let (bugs, races_are_global, cost, refusal) = (Vec::new(), false, None, None);
        Code { name, input, bugs, races_are_global, unit, job, cost, refusal }
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    for folder in &arguments.checkouts {
        let folder = folder.canonicalize().with_context(|| {
            format!("there is no {}: name a checkout of a suite", folder.display())
        })?;
        let Some(suite) = SUITES.iter().find(|suite| folder.join(suite.marker).exists()) else {
            let known: Vec<&str> = SUITES.iter().map(|suite| suite.repository).collect();
            bail!("{} is a checkout of none of {}", folder.display(), known.join(", "));
        };
        score(suite, folder, arguments)?;
    }
    if arguments.only.is_none() {
        table::write(SUITES)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a suite and writes its rows.
fn score(suite: &Suite, folder: PathBuf, arguments: &Arguments) -> Result<()> {
    let scratch = workspace::target_dir().join("suites").join(suite.name);
    std::fs::create_dir_all(&scratch)
        .with_context(|| format!("cannot create {}", scratch.display()))?;
    let checkout = Checkout { folder, scratch };
    let mut codes = (suite.codes)(&checkout)?;
    if let Some(only) = &arguments.only {
        codes.retain(|code| code.name.contains(only));
    }
    let Arguments { nvcc, include, .. } = arguments;
    let compiler = Compiler { nvcc, include, scratch: &checkout.scratch };
    compiler.compile(&mut codes)?;
    let rows = score::rows(suite, &checkout.scratch, &codes, arguments.only.is_some())?;
    if arguments.only.is_some() {
        print!("{}", rows::text(&rows));
        return Ok(());
    }
    let mut facts = vec![
        ("suite", workspace::commit(&checkout.folder)),
        ("coalesce", workspace::commit(&workspace::root())),
        ("date", today()?),
        ("nvcc", compile::version(&arguments.nvcc)?),
    ];
    if let Some(input) = suite.timed {
        facts.push(("cost of checks", score::cost(&checkout.scratch, &codes, input)?));
    }
    rows::write(suite.name, &facts, &rows)?;
    println!("{}: {}", suite.title, table::summary(suite, &rows));
    Ok(())
}
