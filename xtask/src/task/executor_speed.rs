//! `cargo xtask executor-speed`: how fast the executor is, without and with its checks, beside earlier commits.
//!
//! Each commit's executor is built with this checkout's `crates/simt/tests/speed.rs` and the workloads of that test. The
//! programs take turns, so that what else the machine does slows all of them alike, and medians are written.

use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The table, from the root.
const FILE: &str = "results/executor-speed.csv";
/// The files of this checkout with which an earlier executor is measured.
const MEASURED_WITH: &[&str] =
    &["crates/simt/tests/speed.rs", "crates/simt/tests/support", "crates/simt/tests/corpus"];

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Commits to measure in the same run.
    #[arg(long, value_name = "COMMIT")]
    against: Vec<String>,
    /// A folder of programs by commit: what is missing there is built and put there, so that a machine without a compiler
    /// runs what another has built.
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// The number of runs of each program.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

struct Contender {
    commit: String,
    program: PathBuf,
    samples: Vec<Sample>,
}

/// Million warp-instructions per second of a workload without and with the checks.
#[derive(Clone, Debug, PartialEq)]
struct Sample {
    workload: String,
    threads: u32,
    off: f64,
    on: f64,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = workspace::root();
    let mut contenders = Vec::new();
    for commit in &arguments.against {
        let commit = git(&root, &["rev-parse", "--short", &format!("{commit}^{{commit}}")])?;
        let program = program(arguments, &commit, || build_earlier(&root, &commit))?;
        contenders.push(Contender { commit, program, samples: Vec::new() });
    }
    let mut commit = git(&root, &["rev-parse", "--short", "HEAD"])?;
    if !git(&root, &["status", "--porcelain", "--", "crates/simt/src", "crates/races/src"])?
        .is_empty()
    {
        commit.push_str(" with changes");
    }
    let program = program(arguments, &commit, || build(&root, &workspace::target_dir()))?;
    contenders.push(Contender { commit, program, samples: Vec::new() });
    for round in 1..=arguments.rounds {
        for contender in &mut contenders {
            println!("round {round} of {}: {}", arguments.rounds, contender.commit);
            contender.samples.extend(sample(&contender.program)?);
        }
    }
    let table = table(&contenders, arguments);
    write_whole(&root.join(FILE), table.as_bytes())?;
    print!("{table}");
    if let Some(now) = contenders.last() {
        println!("{}", summary(&medians(&now.samples)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the program of a commit: that of the folder of programs, or what is built and kept there.
fn program(
    arguments: &Arguments,
    commit: &str,
    build: impl FnOnce() -> Result<PathBuf>,
) -> Result<PathBuf> {
    let Some(folder) = &arguments.programs else { return build() };
    let kept = folder.join(commit);
    if !kept.exists() {
        let copied = std::fs::create_dir_all(folder).and(std::fs::copy(build()?, &kept));
        copied.with_context(|| format!("cannot write {}", kept.display()))?;
    }
    std::path::absolute(&kept).with_context(|| format!("cannot find {}", kept.display()))
}

/// Returns what git prints, without the last line's end.
fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").current_dir(root).args(arguments).output();
    let output = output.context("cannot start git")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        bail!("`git {}` failed: {why}", arguments.join(" "));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// The program of a commit, with this checkout's way of measuring.
fn build_earlier(root: &Path, commit: &str) -> Result<PathBuf> {
    let folder = workspace::target_dir().join("executor-speed");
    let source = folder.join(commit);
    if !source.join("Cargo.toml").exists() {
        unpack(root, &["archive", commit], &source)?;
    }
    let measured_with = ["ls-files", "--cached", "--others", "--exclude-standard", "--"];
    let files = git(root, &[&measured_with[..], MEASURED_WITH].concat())?;
    for file in files.lines() {
        let to = source.join(file);
        to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::copy(root.join(file), &to).with_context(|| format!("cannot copy {file}"))?;
    }
    build(&source, &folder.join("target"))
}

/// Unpacks what `git archive` writes.
fn unpack(root: &Path, arguments: &[&str], folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let mut archive = Command::new("git")
        .current_dir(root)
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start git")?;
    let packed = archive.stdout.take().context("git's output cannot be read")?;
    let unpacked = Command::new("tar").arg("-x").current_dir(folder).stdin(packed).status();
    if !archive.wait()?.success() || !unpacked.context("cannot start tar")?.success() {
        std::fs::remove_dir_all(folder).ok();
        bail!("`git {}` could not be unpacked", arguments.join(" "));
    }
    Ok(())
}

/// Builds the test of a checkout and says where its program is.
fn build(checkout: &Path, target: &Path) -> Result<PathBuf> {
    // By its place, because the package had another name in earlier commits.
    let line = "test --release --manifest-path crates/simt/Cargo.toml --test speed --no-run";
    let mut command = workspace::cargo(line);
    command.current_dir(checkout).env("CARGO_TARGET_DIR", target);
    command.env_remove("CARGO_MANIFEST_DIR").arg("--message-format=json");
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the executor of {} cannot be built; why is above", checkout.display());
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    executable(&messages).context("cargo does not say where the built test is")
}

/// The program that cargo's messages name.
fn executable(messages: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let (_, after) = line.split_once("\"executable\":\"")?;
        Some(PathBuf::from(after.split_once('"')?.0.replace("\\\\", "\\")))
    })
}

fn sample(program: &Path) -> Result<Vec<Sample>> {
    let output = Command::new(program)
        .args(["--exact", "sample", "--ignored", "--nocapture"])
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{} failed:\n{text}{}", program.display(), String::from_utf8_lossy(&output.stderr));
    }
    let samples = parse(&text);
    if samples.is_empty() {
        bail!("{} printed no sample:\n{text}", program.display());
    }
    Ok(samples)
}

/// The samples in a program's output.
fn parse(text: &str) -> Vec<Sample> {
    let fields = text.lines().filter_map(|line| line.strip_prefix("sample,"));
    let parsed = fields.filter_map(|line| {
        let mut fields = line.split(',');
        Some(Sample {
            workload: fields.next()?.to_owned(),
            threads: fields.next()?.parse().ok()?,
            off: fields.next()?.parse().ok()?,
            on: fields.next()?.parse().ok()?,
        })
    });
    parsed.collect()
}

/// One sample per workload and number of threads, in the order of the first round.
fn medians(samples: &[Sample]) -> Vec<Sample> {
    let is_same = |a: &Sample, b: &Sample| (a.threads, &a.workload) == (b.threads, &b.workload);
    let mut all: Vec<Sample> = Vec::new();
    for one in samples {
        if all.iter().any(|other| is_same(one, other)) {
            continue;
        }
        let median = |rate: fn(&Sample) -> f64| {
            let mut rates: Vec<f64> =
                samples.iter().filter(|other| is_same(one, other)).map(rate).collect();
            rates.sort_by(f64::total_cmp);
            rates[rates.len() / 2]
        };
        all.push(Sample { off: median(|s| s.off), on: median(|s| s.on), ..one.clone() });
    }
    all
}

fn table(contenders: &[Contender], arguments: &Arguments) -> String {
    let against: String =
        arguments.against.iter().map(|commit| format!(" --against {commit}")).collect();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let rounds = arguments.rounds;
    let mut text = format!(
        "# Written by `cargo xtask executor-speed{against} --rounds {rounds}` on {} of {cpus} cores: medians of {rounds} runs\n\
         # that took turns. Million warp-instructions per second with counters, without and with all checks, and how many\n\
         # times slower the checks make it. Of mma and wgmma it is million multiply-adds.\n\
         commit,workload,threads,checks_off,checks_on,ratio\n",
        cpu()
    );
    for contender in contenders {
        for Sample { workload, threads, off, on } in medians(&contender.samples) {
            let commit = &contender.commit;
            let ratio = off / on;
            let _ = writeln!(text, "{commit},{workload},{threads},{off:.1},{on:.1},{ratio:.2}");
        }
    }
    text
}

/// The processor, where the system says which it is.
fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// The line that the record of proofs keeps.
fn summary(samples: &[Sample]) -> String {
    let ratio = |sample: &Sample| sample.off / sample.on;
    let worst = samples.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let worst = worst.map_or_else(String::new, |worst| {
        let Sample { workload, threads, .. } = worst;
        format!(
            "at most {:.2} times slower with checks ({workload}, threads: {threads})",
            ratio(worst)
        )
    });
    let most = samples.iter().map(|sample| sample.threads).max().unwrap_or(1);
    let rates: Vec<String> = samples
        .iter()
        .filter(|sample| sample.threads == most)
        .map(|sample| format!("{} {:.1}", sample.workload, sample.off))
        .collect();
    format!(
        "{worst}; million warp-instructions per second of {most} threads without: {}",
        rates.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_of_each_workload_and_number_of_threads() {
        let text = "\nrunning 1 test\nsample,gemm 256,1,3.0,1.0\nsample,gemm 256,2,6.0,2.0\nsample,gemm 256,1,5.0,2.0\n\
                    sample,gemm 256,1,4.0,9.0\ntest sample ... ok\n";
        let samples = medians(&parse(text));
        let expected = |threads, off, on| Sample { workload: "gemm 256".into(), threads, off, on };
        assert_eq!(samples, [expected(1, 4.0, 2.0), expected(2, 6.0, 2.0)]);
        assert_eq!(
            summary(&samples),
            "at most 3.00 times slower with checks (gemm 256, threads: 2); \
             million warp-instructions per second of 2 threads without: gemm 256 6.0"
        );
    }

    #[test]
    fn the_program_is_the_one_that_cargo_names() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"target\":{\"name\":\"speed\"},\"executable\":\"/t/release/deps/speed-1\",\"fresh\":true}\n";
        assert_eq!(executable(messages), Some(PathBuf::from("/t/release/deps/speed-1")));
        assert_eq!(executable("{\"executable\":null}\n"), None);
    }
}
