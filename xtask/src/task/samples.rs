//! `cargo xtask samples CHECKOUT`: which kernels of NVIDIA's cuda-samples the executor can run, as a table.
//!
//! Every `.cu` file of the checkout is compiled to PTX by nvcc; files `.ptx` of a folder without nvcc are taken as they
//! are. A kernel can run when its module loads and all of its instructions are decoded
//! (`crates/simt/examples/can_run.rs`). With `--advice`, kernels with a waste are cured as `coalesce explain` advises.

mod advice;
mod cases;
mod nvcc;

use super::prove::today;
use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A checkout of <https://github.com/NVIDIA/cuda-samples>, or a folder of PTX files made of one.
    checkout: PathBuf,
    /// The compiler; without it, the folder's PTX files are read.
    #[arg(long, value_name = "FILE")]
    nvcc: Option<PathBuf>,
    /// A folder of headers that nvcc does not find.
    #[arg(long, short = 'I', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// The architectures to compile for, such as 120a.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "90a",
        requires = "nvcc"
    )]
    arch: Vec<String>,
    /// The name of the checkout in the table, such as its commit.
    #[arg(long, value_name = "TEXT", default_value = "an unnamed version")]
    version: String,
    /// Apply the advice on kernels of the checkout, run them again, and compare the counts with those promised.
    #[arg(long, requires = "nvcc")]
    advice: bool,
    /// The file that the table is written to, beside the other table; printed without it.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Beginning of the part of the document that `--advice` writes.
const ADVICE: &str = "\n## The advice, applied\n";

/// A source that did not compile, and the first error.
type Failure = (String, String);

/// The executor's verdict on a kernel.
struct Verdict {
    /// The architecture that it was compiled for; empty where nobody said.
    arch: String,
    file: String,
    kernel: String,
    reason: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = arguments.checkout.canonicalize().with_context(|| {
        format!("there is no {}: name a checkout of cuda-samples", arguments.checkout.display())
    })?;
    if let Some(nvcc) = arguments.nvcc.as_ref().filter(|_| arguments.advice) {
        let about =
            format!("cuda-samples {}, nvcc {}, {}", arguments.version, version(nvcc)?, today()?);
        let (section, is_kept) = advice::section(nvcc, &arguments.include, &checkout, &about)?;
        write(arguments, &(ADVICE.to_owned() + &section), true)?;
        return Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let folder = tempfile::tempdir()?;
    let (files, failed, compiler) = match &arguments.nvcc {
        Some(nvcc) => {
            let (mut files, mut failed) = (Vec::new(), Vec::new());
            for arch in &arguments.arch {
                let target = folder.path().join(format!("sm_{arch}"));
                std::fs::create_dir(&target).context("cannot create a temporary folder")?;
                let (some, without) = compile(nvcc, &arguments.include, &checkout, &target)?;
                files.extend(some);
                // What lacks a header lacks it for each.
                failed = without;
            }
            (files, failed, format!("compiled by nvcc {}", version(nvcc)?))
        }
        None => (sources(&checkout, "ptx")?, Vec::new(), "PTX of unknown origin".to_owned()),
    };
    if files.is_empty() {
        bail!("{} has no PTX: name the compiler with --nvcc", checkout.display());
    }
    let verdicts = ask(&files)?;
    let about = format!("cuda-samples {}, {compiler}, {}", arguments.version, today()?);
    write(arguments, &table(&about, &verdicts, &failed), false)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a part of the document, or writes it to the file, which keeps its other part.
fn write(arguments: &Arguments, part: &str, is_advice: bool) -> Result<()> {
    let Some(file) = &arguments.output else {
        print!("{part}");
        return Ok(());
    };
    let known = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        other => other.with_context(|| format!("cannot read {}", file.display()))?,
    };
    Ok(write_whole(file, spliced(&known, part, is_advice).as_bytes())?)
}

/// A document with one of its two parts exchanged.
fn spliced(known: &str, part: &str, is_advice: bool) -> String {
    let (kernels, advice) = known.split_at(known.find(ADVICE).unwrap_or(known.len()));
    let (kernels, advice) = if is_advice { (kernels, part) } else { (part, advice) };
    kernels.to_owned() + advice
}

/// All files of this kind below a folder, in order.
fn sources(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            found.append(&mut sources(&path, extension)?);
        } else if path.extension().is_some_and(|one| one == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Compiles every source for the architecture that the target folder is called by; the files of PTX, and the sources that did not compile with the first error.
fn compile(
    nvcc: &Path,
    include: &[PathBuf],
    checkout: &Path,
    target: &Path,
) -> Result<(Vec<PathBuf>, Vec<Failure>)> {
    let (mut files, mut failed) = (Vec::new(), Vec::new());
    for source in sources(checkout, "cu")? {
        let name = source.strip_prefix(checkout).unwrap_or(&source).display().to_string();
        let own = source.parent().unwrap_or(checkout);
        let output = target.join(name.replace(['/', '\\'], "__")).with_extension("ptx");
        let build = |relocatable: bool| {
            let mut build = nvcc::command(nvcc, include, checkout, own);
            // Kernels that launch kernels need it; others are compiled as a program would.
            build
                .arg("-arch")
                .arg(target.file_name().unwrap_or_default())
                .args(relocatable.then_some("-rdc=true"));
            build.arg(&source).arg("-o").arg(&output).output()
        };
        let mut outcome = build(false).context("cannot start nvcc")?;
        if String::from_utf8_lossy(&outcome.stderr).contains("separate compilation") {
            outcome = build(true).context("cannot start nvcc")?;
        }
        if outcome.status.success() {
            files.push(output);
        } else {
            let errors = String::from_utf8_lossy(&outcome.stderr).into_owned();
            let first = errors.lines().find_map(|line| line.split_once("error: "));
            let why = first.map_or("nvcc failed", |(_, why)| why).trim();
            failed.push((name, why.to_owned()));
        }
    }
    Ok((files, failed))
}

fn version(nvcc: &Path) -> Result<String> {
    let output = Command::new(nvcc).arg("--version").output().context("cannot start nvcc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let release = text.split("release ").nth(1).and_then(|rest| rest.split(',').next());
    Ok(release.unwrap_or("of unknown release").to_owned())
}

/// Returns what the executor says of every kernel.
fn ask(files: &[PathBuf]) -> Result<Vec<Verdict>> {
    let line = "run --release --quiet -p coalesce-simt --example can_run --";
    let output = workspace::cargo(line).args(files).output()?;
    if !output.status.success() {
        bail!("`can_run` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    let verdicts = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, '\t');
        let (file, kernel, verdict) = (parts.next()?, parts.next()?, parts.next()?);
        let path = Path::new(file);
        let arch = path.parent().and_then(Path::file_name).unwrap_or_default();
        let arch = arch.to_string_lossy().into_owned();
        let file = path.file_stem()?.to_string_lossy().replace("__", "/");
        let reason = (verdict != "runs").then(|| without_place(verdict));
        Some(Verdict { arch, file, kernel: kernel.to_owned(), reason })
    });
    Ok(verdicts.collect())
}

/// A reason without the line and column of the PTX.
fn without_place(reason: &str) -> String {
    match reason.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest.to_owned(),
        _ => reason.to_owned(),
    }
}

fn table(about: &str, verdicts: &[Verdict], failed: &[Failure]) -> String {
    let refused = || verdicts.iter().filter_map(|one| Some((one, one.reason.as_ref()?)));
    let mut of_arch: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for one in verdicts {
        let (runs, all) = of_arch.entry(&one.arch).or_default();
        *runs += usize::from(one.reason.is_none());
        *all += 1;
    }
    let counts =
        of_arch.iter().map(|(arch, (runs, all))| format!("{runs} of {all} kernels for {arch}"));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "# Kernels of NVIDIA's samples in the executor\n\n\
         {about}: the executor runs {counts}. A kernel runs when its module loads and all of its\n\
         instructions are decoded. `cargo xtask samples` writes this table.\n"
    );
    if refused().next().is_some() {
        text.push_str("\n| why a kernel is refused | kernels | which |\n|---|--:|---|\n");
    }
    let mut reasons: BTreeMap<&str, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    for (one, reason) in refused() {
        let sample = one.file.rsplit('/').next().unwrap_or(&one.file);
        let kernels = reasons.entry(reason).or_default();
        kernels.entry(format!("`{sample}`: `{}`", one.kernel)).or_default().push(&one.arch);
    }
    for (reason, kernels) in reasons {
        let named = |(kernel, archs): (&String, &Vec<&str>)| match archs.len() == of_arch.len() {
            true => kernel.clone(),
            false => format!("{kernel} ({})", archs.join(", ")),
        };
        let kernels: Vec<String> = kernels.iter().map(named).collect();
        let _ = writeln!(text, "| {reason} | {} | {} |", kernels.len(), kernels.join(", "));
    }
    let mut causes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, why) in failed {
        causes.entry(why).or_default().push(file);
    }
    if !causes.is_empty() {
        text.push_str(
            "\nSources that were not compiled, for want of a library's headers or of another system:\n\n\
             | what nvcc says | sources |\n|---|---|\n",
        );
    }
    for (why, files) in causes {
        let names = files.iter().map(|file| file.rsplit('/').next().unwrap_or(file));
        let _ = writeln!(text, "| {why} | {} |", names.collect::<Vec<_>>().join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_counts_kernels_and_groups_reasons() {
        let verdict = |kernel: &str, reason: Option<&str>| Verdict {
            arch: "sm_90a".to_owned(),
            file: "Samples/x".to_owned(),
            kernel: kernel.to_owned(),
            reason: reason.map(without_place),
        };
        let verdicts = [
            verdict("a", None),
            verdict("b", Some("line 3, column 2: `foo` is not supported")),
            verdict("c", Some("line 9, column 2: `foo` is not supported")),
        ];
        let text = table("here", &verdicts, &[("d/e.cu".to_owned(), "no header".to_owned())]);
        assert!(text.contains("runs 1 of 3 kernels for sm_90a"), "{text}");
        assert!(text.contains("| `foo` is not supported | 2 | `x`: `b`, `x`: `c` |"), "{text}");
        assert!(text.contains("| no header | e.cu |"), "{text}");
        let text = table("here", &verdicts[..1], &[]);
        assert!(text.ends_with("this table.\n"), "no head without rows: {text}");
    }

    #[test]
    fn each_part_of_the_document_keeps_the_other() {
        let advice = |text: &str| format!("{ADVICE}\n{text}\n");
        let first = spliced("", "# Kernels\n", false);
        let both = spliced(&first, &advice("one"), true);
        assert_eq!(both, format!("# Kernels\n{ADVICE}\none\n"));
        assert_eq!(spliced(&both, &advice("two"), true), format!("# Kernels\n{ADVICE}\ntwo\n"));
        assert_eq!(spliced(&both, "# New\n", false), format!("# New\n{ADVICE}\none\n"));
    }
}
