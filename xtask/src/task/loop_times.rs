//! `cargo xtask loop-times`: how long one changed line takes to a verified result, measured for every pattern.
//!
//! Adds a line to a kernel, or changes a number of a host half, times `cargo xtask verify`, and puts the file back.

use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Fail when the worst of a kind takes longer than promised: 5 s for a kernel's line, 10 s for a number of a host
    /// half, 1 s when nothing changed.
    #[arg(long)]
    check: bool,
    /// The patterns; all when none is named.
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
}

/// A file that is put back as it was.
struct Changed {
    path: PathBuf,
    text: String,
}

impl Changed {
    fn new(path: &Path, change: impl FnOnce(&str) -> Option<String>) -> Result<Changed> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let new = change(&text).with_context(|| format!("{} has no such line", path.display()))?;
        write_whole(path, new.as_bytes())?;
        Ok(Changed { path: path.to_owned(), text })
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        if let Err(error) = write_whole(&self.path, self.text.as_bytes()) {
            eprintln!("error: {} could not be put back: {error}", self.path.display());
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = workspace::root();
    let hosts = halves(&root.join("host/src/patterns"))?;
    let devices = halves(&root.join("kernels/src"))?;
    let chosen = |name: &String| arguments.patterns.is_empty() || arguments.patterns.contains(name);
    let hosts: Vec<_> = hosts.into_iter().filter(|(name, _)| chosen(name)).collect();
    let devices: Vec<_> = devices.into_iter().filter(|(name, _)| chosen(name)).collect();
    let Some((first, _)) = hosts.first() else { bail!("there is no such pattern") };
    // Everything is built once before the clock runs.
    verify(first)?;
    let mut nothing = Vec::new();
    for (name, _) in &hosts {
        verify(name)?;
        nothing.push((verify(name)?, name.clone()));
    }
    let mut kernels = Vec::new();
    for (name, path) in &devices {
        let _changed = Changed::new(path, with_a_line)?;
        kernels.push((verify(name)?, name.clone()));
    }
    let mut constants = Vec::new();
    for (name, path) in &hosts {
        let _changed = Changed::new(path, with_another_number)?;
        constants.push((verify(name)?, name.clone()));
    }
    let kinds = [
        ("one changed line of a kernel", kernels, 5.0),
        ("one changed number of a host half", constants, 10.0),
        ("nothing changed", nothing, f64::INFINITY),
    ];
    let mut is_kept = true;
    for (what, mut times, most) in kinds {
        times.sort_by(|one, other| one.0.total_cmp(&other.0));
        let Some((worst, name)) = times.last() else { continue };
        let median = times[times.len() / 2].0;
        println!("{what}: {median:.1} s median of {}, {worst:.1} s worst ({name})", times.len());
        is_kept &= *worst < most;
    }
    let no_op = no_op_build()?;
    println!("`cargo xtask build` with nothing changed: {no_op:.1} s");
    is_kept &= no_op < 1.0;
    Ok(if is_kept || !arguments.check { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The patterns' files below a folder of groups, by name.
fn halves(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let cannot = || format!("cannot read {}", folder.display());
    for group in std::fs::read_dir(folder).with_context(cannot)? {
        let group = group.with_context(cannot)?.path();
        for file in std::fs::read_dir(&group).into_iter().flatten().flatten() {
            let path = file.path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if path.extension().is_some_and(|one| one == "rs") && stem != "mod" {
                found.push((stem, path));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The first kernel begins with a line that changes its PTX and nothing that it does: no thread has such a number.
fn with_a_line(text: &str) -> Option<String> {
    let kernel = text.find("#[kernel")?;
    let body = kernel + text[kernel..].find(" {\n")? + " {\n".len();
    let line = "    if cuda_std::thread::thread_idx_x() > 0x7FFF_FFFF {\n        return;\n    }\n";
    Some(format!("{}{line}{}", &text[..body], &text[body..]))
}

/// The size of the benchmark, which verifying does not run, is another.
fn with_another_number(text: &str) -> Option<String> {
    let start = text.find("bench_size: &[")? + "bench_size: &[".len();
    let end = start + text[start..].find([',', ']'])?;
    Some(format!("{}({}) + 1{}", &text[..start], &text[start..end], &text[end..]))
}

/// The seconds that `cargo xtask verify` takes.
fn verify(pattern: &str) -> Result<f64> {
    seconds(&format!("xtask verify {pattern}"))
}

/// The seconds that a build takes when nothing has changed.
fn no_op_build() -> Result<f64> {
    seconds("xtask build")?;
    seconds("xtask build")
}

fn seconds(line: &str) -> Result<f64> {
    let begin = Instant::now();
    let mut command: Command = workspace::cargo(line);
    let output = command.stdin(Stdio::null()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!(
            "`cargo {line}` failed:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(begin.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_into_the_first_kernel() {
        let text = "//! Doc.\n#[kernel]\npub unsafe fn a(\n    n: u32,\n) {\n    b();\n}\n";
        let changed = with_a_line(text).expect("there is a kernel");
        assert!(changed.contains(") {\n    if cuda_std::thread"), "{changed}");
        assert!(changed.ends_with("    }\n    b();\n}\n"), "{changed}");
        assert_eq!(with_a_line("fn a() {\n}\n"), None);
    }

    #[test]
    fn the_first_number_of_a_size_becomes_another() {
        let changed = with_another_number("bench_size: &[1 << 20, 8],").expect("there is a size");
        assert_eq!(changed, "bench_size: &[(1 << 20) + 1, 8],");
    }
}
