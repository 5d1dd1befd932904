//! `cargo xtask upstream CHECKOUT`: rust-cuda's own kernels and programs, unchanged, with this builder and this device.

mod api;
mod files;

use self::files::{commit, ours, read, write};
use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::{CudaBuilder, NvvmArch};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use walkdir::WalkDir;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A checkout of rust-cuda. Nothing in it is changed, and nothing is fetched but the libraries that its programs use.
    checkout: PathBuf,
    /// Write the table to this file.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compare the public APIs instead, and write the test and the table of them.
    #[arg(long, conflicts_with = "output")]
    api: bool,
}

/// Upstream's bindings of cuBLAS, a library that works with GPUs alone: what uses it is only built.
const CUBLAS: &str = "blastoff";

/// A line of the table: what was tried, and what came of it.
struct Row {
    name: String,
    builds: bool,
    /// The end of its program; none where there is no program.
    ends: Option<End>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Well, which it does when its results are right.
    Well,
    /// It does not build, or says that something is wrong.
    Badly,
    /// Not within the limit.
    Late,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let checkout = &arguments.checkout;
    let tests = checkout.join("tests/compiletests/ui");
    if !tests.is_dir() {
        bail!(
            "{} is no checkout of rust-cuda: it has no tests/compiletests/ui",
            checkout.display()
        );
    }
    if arguments.api {
        api::run(checkout)?;
        return Ok(ExitCode::SUCCESS);
    }
    let work = workspace::target_dir().join("upstream");
    if work.exists() {
        std::fs::remove_dir_all(&work)
            .with_context(|| format!("cannot clear {}", work.display()))?;
    }
    let mut rows = Vec::new();
    write(
        &work.join("kernels/Cargo.toml"),
        "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\nexclude = [\"target\"]\n",
    )?;
    for (name, source) in ui_tests(&tests)? {
        let folder = work.join("kernels").join(&name);
        write(&folder.join("Cargo.toml"), &manifest(&name))?;
        write(&folder.join("src/lib.rs"), &source)?;
        rows.push(Row { builds: builds(&folder), name: format!("ui/{name}"), ends: None });
    }
    // The programs are linked to the virtual device in place of the driver.
    let driver = workspace::target_dir().join("release");
    let built = workspace::cargo("build --release --package coalesce-virtual-libcuda").status()?;
    anyhow::ensure!(built.success(), "the virtual driver does not build");
    for program in programs(checkout)? {
        let name = program.strip_prefix(checkout).unwrap_or(&program).display().to_string();
        let folder = work.join("programs").join(name.replace('/', "_"));
        copy(&program, &folder)?;
        let builds = builds(&folder.join("kernels"));
        let needs_cublas = read(&program.join("Cargo.toml"))?.contains(CUBLAS);
        let tried = builds && !needs_cublas;
        let ends = tried.then(|| end(&folder, &driver)).transpose()?;
        rows.push(Row { name, builds, ends });
    }
    let table = table(checkout, &rows);
    println!("{table}");
    if let Some(path) = &arguments.output {
        write(path, &table)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The tests that upstream expects to build, by a name for each.
fn ui_tests(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut tests = Vec::new();
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let path = entry?.into_path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let source = read(&path)?;
        if source.contains("build-pass") {
            let path = path.strip_prefix(folder)?.with_extension("").display().to_string();
            // A test may say its crate's name itself.
            let own = source
                .split_once("#![crate_name = \"")
                .and_then(|(_, rest)| rest.split('"').next());
            let name = own.map_or_else(|| path.replace(['/', '-'], "_"), str::to_owned);
            tests.push((name, source));
        }
    }
    Ok(tests)
}

/// The manifest of a crate that is one test.
fn manifest(name: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{}",
        ["cuda_std", "cuda_std_macros"]
            .map(|library| format!("{library} = {}\n", ours(library, features(library))))
            .concat()
    )
}

/// Returns what upstream's library has always.
fn features(library: &str) -> &'static str {
    if library == "cuda_std" { ", features = [\"vek\"]" } else { "" }
}

/// Returns whether a crate of kernels becomes PTX; what is wrong has been printed.
fn builds(folder: &Path) -> bool {
    let target = workspace::target_dir().join("upstream/target");
    let built = CudaBuilder::new(folder).arch(NvvmArch::Compute80).target_dir(target).build();
    if let Err(error) = &built {
        eprintln!("{}: {error}", folder.display());
    }
    built.is_ok()
}

/// The folders with a program and a crate of kernels.
fn programs(checkout: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for group in ["examples", "samples"] {
        for entry in WalkDir::new(checkout.join(group)).sort_by_file_name() {
            let path = entry?.into_path();
            if path.ends_with("kernels/Cargo.toml")
                && let Some(program) = path.parent().and_then(Path::parent)
            {
                found.push(program.to_owned());
            }
        }
    }
    Ok(found)
}

/// Copies a program; its dependencies become ours and the published cust.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry?;
        if !entry.file_type().is_file() {
            continue;
        }
        let path = entry.path();
        let target = to.join(path.strip_prefix(from)?);
        let mut text = read(path)?;
        if path.ends_with("Cargo.toml") {
            text = text
                .lines()
                .filter(|line| !line.starts_with(CUBLAS))
                .map(|line| format!("{}\n", dependency(line)))
                .collect();
            if path.parent() == Some(from) {
                text += "\n[workspace]\nmembers = [\"kernels\"]\n\n[profile.dev.package.\"*\"]\nopt-level = 2\n";
            }
        }
        write(&target, &text)?;
    }
    Ok(())
}

/// A line of a manifest with upstream's own libraries replaced.
fn dependency(line: &str) -> String {
    let Some((name, rest)) = line.split_once(" = {") else { return line.to_owned() };
    match name {
        "cuda_std" | "cuda_builder" => format!("{name} = {}", ours(name, features(name))),
        "cust" => "cust = \"0.3.2\"".to_owned(),
        "cust_raw" if rest.contains("path") => "cust_raw = \"0.11.3\"".to_owned(),
        _ => line.to_owned(),
    }
}

/// The longest time of a program, seconds.
const LIMIT: &str = "60";
/// The exit code of `timeout` when it had to end a program.
const TIMED_OUT: i32 = 124;

/// Builds a program and runs it on the virtual device.
fn end(folder: &Path, driver: &Path) -> Result<End> {
    // cust's build script looks for the library in a folder of this name.
    let libraries = folder.join("cuda/lib64");
    std::fs::create_dir_all(&libraries)?;
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::fs::copy(driver.join("libvirtual_libcuda.so"), libraries.join(name))
            .with_context(|| format!("cannot copy {}", driver.display()))?;
    }
    let cargo = |line: &[&str]| {
        Command::new(line[0])
            .args(&line[1..])
            .current_dir(folder)
            .env("CARGO_TARGET_DIR", workspace::target_dir().join("upstream/target"))
            .env("CUDA_LIBRARY_PATH", folder.join("cuda"))
            .env("LD_LIBRARY_PATH", &libraries)
            .env("COALESCE_DEVICE", "virtual")
            .status()
            .with_context(|| format!("cannot start {}", line[0]))
    };
    if !cargo(&["cargo", "build", "--quiet"])?.success() {
        return Ok(End::Badly);
    }
    // Building takes the time it takes.
    let status = cargo(&["timeout", LIMIT, "cargo", "run", "--quiet"])?;
    Ok(match status.code() {
        Some(0) => End::Well,
        Some(TIMED_OUT) => End::Late,
        _ => End::Badly,
    })
}

fn table(checkout: &Path, rows: &[Row]) -> String {
    let count = |of: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| of(row)).count();
    let mut text = format!(
        "# rust-cuda's own sources with this builder and the virtual device\n\n\
         rust-cuda at commit {}; made by `cargo xtask upstream CHECKOUT`. {} of {} build; of {} with a program {} end well within {LIMIT} seconds on the virtual device.\n\n\
         | source | builds | runs |\n|---|---|---|\n",
        commit(checkout),
        count(&|row| row.builds),
        rows.len(),
        count(&|row| row.ends.is_some()),
        count(&|row| row.ends == Some(End::Well)),
    );
    for Row { name, builds, ends } in rows {
        let builds = if *builds { "yes" } else { "no" };
        let runs = match ends {
            None => "",
            Some(End::Well) => "yes",
            Some(End::Badly) => "no",
            Some(End::Late) => "not within the limit",
        };
        text += &format!("| {name} | {builds} | {runs} |\n");
    }
    text
}
