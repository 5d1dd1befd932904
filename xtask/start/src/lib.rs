//! Builds what a command of `cargo xtask` needs, and runs it.
//!
//! That is `xtask`, but for the course of a checkout in which nobody has built the program `coalesce`: then the course
//! alone is built, by the profile `course`, and what its build leaves behind is deleted.
#![allow(missing_docs, reason = "this crate is not published")]

use std::env::{args_os, consts::EXE_EXTENSION, var_os};
use std::ffi::OsString;
use std::fs;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

/// The table of ways to a first kernel, which has the cost of a checkout.
pub const WAYS: &str = "results/ways.md";
/// The profile of the course's program.
const PROFILE: &str = "course";
/// The sources of that program.
const SOURCES: [&str; 4] = ["Cargo.toml", "Cargo.lock", "course", "crates"];

pub fn main() -> ExitCode {
    match run(args_os().skip(1).collect()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let root = root();
    let target = var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let target = std::path::absolute(target)?;
    let coalesce = target.join("release/coalesce").with_extension(EXE_EXTENSION);
    let is_course = arguments.first().is_some_and(|first| first == "learn") && !coalesce.exists();
    if !is_course {
        let mut xtask = cargo();
        xtask.args(["run", "--quiet", "--release", "--package", "xtask", "--"]).args(arguments);
        return status(&mut xtask);
    }
    let learn = target.join("learn-program/learn").with_extension(EXE_EXTENSION);
    let code = build_once(&learn, || is_fresh(&learn, &root), || build(&root, &target, &learn))?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    status(Command::new(learn).args(&arguments[1..]))
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let manifest = var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest.ancestors().nth(2).map_or_else(|| manifest.clone(), Path::to_owned)
}

fn cargo() -> Command {
    Command::new(var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a command whose output the user sees.
fn status(command: &mut Command) -> Result<ExitCode> {
    let program = command.get_program().display().to_string();
    let status = command.status();
    let status =
        status.map_err(|error| Error::other(format!("cannot start {program}: {error}")))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Builds a program unless it is fresh: one builds at a time, and who waited for it has the program.
fn build_once(
    program: &Path,
    is_fresh: impl Fn() -> bool,
    build: impl FnOnce() -> Result<ExitCode>,
) -> Result<ExitCode> {
    if is_fresh() {
        return Ok(ExitCode::SUCCESS);
    }
    let cannot = |error| Error::other(format!("cannot write {}: {error}", program.display()));
    fs::create_dir_all(program.parent().unwrap_or(program)).map_err(cannot)?;
    let lock = fs::File::create(program.with_extension("lock")).map_err(cannot)?;
    lock.lock().map_err(cannot)?;
    if is_fresh() {
        return Ok(ExitCode::SUCCESS);
    }
    build()
}

/// Builds the course's program and nothing that it does without.
fn build(root: &Path, target: &Path, learn: &Path) -> Result<ExitCode> {
    let cannot = |error| Error::other(format!("cannot write {}: {error}", learn.display()));
    let table = fs::read_to_string(root.join(WAYS)).unwrap_or_default();
    let cost = cost_of_the_course(&table).unwrap_or_else(|| "minutes".to_owned());
    eprintln!(
        "The course is built first, which takes {cost}. A verdict then takes about a second."
    );
    let folder = target.join("learn-build");
    // What is edited while it is built is newer than the program.
    let begin = SystemTime::now();
    let mut build = cargo();
    build.current_dir(root).args(["build", "--profile", PROFILE, "--package", "course"]);
    build.args(["--bin", "learn", "--target-dir"]).arg(&folder);
    // The course launches no kernel of the instruments.
    build.env("COALESCE_WITHOUT_KERNELS", "1").env("COALESCE_COURSE_ALONE", "1");
    let code = status(&mut build)?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    let built = folder.join(PROFILE).join("learn").with_extension(EXE_EXTENSION);
    let program = fs::File::options().write(true).open(&built).map_err(cannot)?;
    program.set_modified(begin).map_err(cannot)?;
    drop(program);
    // In one step: a program that is there is whole.
    fs::rename(&built, learn).map_err(cannot)?;
    fs::remove_dir_all(&folder)
        .map_err(|error| Error::other(format!("cannot delete {}: {error}", folder.display())))?;
    Ok(code)
}

/// Returns whether a program is there and no source of it is newer.
fn is_fresh(program: &Path, root: &Path) -> bool {
    let Ok(built) = fs::metadata(program).and_then(|metadata| metadata.modified()) else {
        return false;
    };
    SOURCES.iter().all(|source| newest(&root.join(source)).is_none_or(|newest| newest <= built))
}

/// The time of the file below a path that was written last.
fn newest(path: &Path) -> Option<SystemTime> {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        return entries.filter_map(|entry| newest(&entry.path())).max();
    }
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Returns what the first build of the course costs, as it was measured last.
pub fn cost_of_the_course(table: &str) -> Option<String> {
    let row = table.lines().find(|line| line.starts_with("| checkout |"))?;
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let [_, _, _, _, processor, megabytes, ..] = cells[..] else { return None };
    let minutes = processor.parse::<f64>().ok()? / 60.0;
    Some(format!("{minutes:.1} minutes of one processor and {megabytes} MB"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::Duration;

    #[test]
    fn the_cost_of_the_course_is_that_of_a_checkout() {
        let table =
            "| crate | x | 1 | 2 | 3 | 2 | d |\n| checkout | y | 500 | 270 | 678 | 2 | d |\n";
        assert_eq!(cost_of_the_course(table).unwrap(), "4.5 minutes of one processor and 678 MB");
        assert_eq!(cost_of_the_course(""), None);
    }

    #[test]
    fn a_program_is_fresh_until_a_source_of_it_is_newer() {
        let root = tempfile::tempdir().unwrap();
        let (program, source) = (root.path().join("learn"), root.path().join("course/src/a.rs"));
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        let write = |path: &Path, seconds| {
            fs::write(path, "x").unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        write(&source, 10);
        assert!(!is_fresh(&program, root.path()), "there is none");
        write(&program, 20);
        assert!(is_fresh(&program, root.path()));
        write(&source, 30);
        assert!(!is_fresh(&program, root.path()));
    }

    #[test]
    fn of_two_commands_one_builds_and_the_other_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("learn-program/learn");
        let (looks, builds, both) = (AtomicUsize::new(0), AtomicUsize::new(0), Barrier::new(2));
        let is_fresh = || {
            let is_there = program.exists();
            // Both look before one of them builds.
            if looks.fetch_add(1, SeqCst) < 2 {
                both.wait();
            }
            is_there
        };
        let build = || {
            builds.fetch_add(1, SeqCst);
            std::thread::sleep(Duration::from_millis(100));
            fs::write(&program, "x")?;
            Ok(ExitCode::SUCCESS)
        };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    build_once(&program, is_fresh, build).unwrap();
                    assert!(program.exists(), "who returns has the program");
                });
            }
        });
        assert_eq!(builds.load(SeqCst), 1);
    }
}
