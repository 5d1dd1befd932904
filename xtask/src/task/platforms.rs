//! `cargo xtask platforms`: builds the program for other systems, runs tests there by emulators, and writes what came of
//! it to `results/platforms.md`.
//!
//! The standard library is built from the source that kernels are built from, so no target of rustup is needed.

use super::prove::today;
use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::{toolchain::Toolchain, write_whole};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The systems; all without one.
    #[arg(value_enum)]
    systems: Vec<Name>,
    /// Take the output of tests that ran elsewhere, as on a machine of that system, and the program as it was built before.
    #[arg(long, value_name = "FILE", requires = "systems")]
    tests: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Name {
    /// Windows on x86-64, under Wine.
    Windows,
    /// Linux on aarch64, under QEMU.
    Aarch64,
    /// macOS on arm64, which nothing runs here.
    Macos,
}

/// A system, and what stands for it here.
struct System {
    name: Name,
    title: &'static str,
    triple: &'static str,
    /// The command that builds in place of `cargo build`.
    cargo: &'static [&'static str],
    /// The programs that have to be on PATH, and who brings them.
    tools: (&'static [&'static str], &'static str),
    /// Starts a program of the system.
    runner: Option<&'static str>,
    environment: &'static [(&'static str, &'static str)],
    program: &'static str,
    /// From one pattern that is verified to the next, as far as the emulator is fast enough.
    step: usize,
    missing: &'static str,
}

const SYSTEMS: [System; 3] = [
    System {
        name: Name::Windows,
        title: "Windows x86-64",
        triple: "x86_64-pc-windows-gnu",
        cargo: &["build"],
        tools: (&["x86_64-w64-mingw32-gcc", "wine"], "apt-get install gcc-mingw-w64-x86-64 wine"),
        runner: Some("wine"),
        environment: &[("WINEDEBUG", "-all")],
        program: "coalesce.exe",
        step: 1,
        missing: "`run` needs Linux; host tasks of the course are not confined; not run on Windows itself",
    },
    System {
        name: Name::Aarch64,
        title: "Linux aarch64",
        triple: "aarch64-unknown-linux-gnu",
        cargo: &["build"],
        tools: (
            &["aarch64-linux-gnu-gcc", "qemu-aarch64-static"],
            "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static",
        ),
        runner: Some("qemu-aarch64-static"),
        // A dynamic program with threads hangs in QEMU 7.
        environment: &[
            ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-Ctarget-feature=+crt-static"),
            ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc"),
        ],
        program: "coalesce",
        step: 6,
        missing: "`run`, whose libraries a static program has not; not run on such a machine",
    },
    System {
        name: Name::Macos,
        title: "macOS arm64",
        triple: "aarch64-apple-darwin",
        cargo: &["zigbuild"],
        tools: (&["cargo-zigbuild", "python3"], "pip install cargo-zigbuild ziglang"),
        runner: None,
        environment: &[],
        program: "coalesce",
        step: 1,
        missing: "linked, not run: nothing here runs it; `run` needs Linux",
    },
];

/// Libraries whose tests run on each system.
const TESTED: [&str; 6] = [
    "coalesce-counters",
    "coalesce-ptx",
    "coalesce-races",
    "coalesce-results",
    "coalesce-simt",
    "unit_tests",
];
const FILE: &str = "results/platforms.md";
const HEADER: &str = "# Platforms\n\nWritten by `cargo xtask platforms`, which builds the program for each system with its kernels and runs it here by Wine 8 or QEMU: tests of the executor's libraries and of result files, `coalesce verify` without and with `--check` (under QEMU of every sixth pattern), and `coalesce explain` of a PTX file, whose counts have to be those of this system.\n\n| platform | built | tests that ran | verified | explain | missing | date |\n|---|---|---|---|---|---|---|\n";
/// This system, whose tests are those of CI.
const OWN: &str = "| Linux x86-64 | yes | all | all | yes | nothing | CI |\n";

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let file = workspace::root().join(FILE);
    for system in &SYSTEMS {
        if !arguments.systems.is_empty() && !arguments.systems.contains(&system.name) {
            continue;
        }
        let row = tried(system, arguments.tests.as_deref())?;
        println!("platform {}", row.trim_matches(['|', ' ', '\n']).replace(" | ", ": "));
        let old = std::fs::read_to_string(&file).unwrap_or_default();
        write_whole(&file, table(&old, &row).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the page with another row of a system.
fn table(old: &str, row: &str) -> String {
    let title = |row: &str| row.split('|').nth(1).map(|name| name.trim().to_owned());
    let mut text = HEADER.to_owned() + OWN;
    for system in &SYSTEMS {
        let is_its = |row: &&str| title(row).as_deref() == Some(system.title);
        let found = [row.trim_end()].into_iter().chain(old.lines()).find(is_its);
        if let Some(found) = found {
            text += found;
            text += "\n";
        }
    }
    text
}

/// Builds for a system, runs what can be run, and returns its row.
fn tried(system: &System, said: Option<&Path>) -> Result<String> {
    let (tools, cure) = system.tools;
    if let Some(missing) = tools.iter().find(|tool| which::which(tool).is_err()) {
        bail!("{} needs {missing}, which is not on PATH: {cure}", system.title);
    }
    let toolchain = Toolchain::find()?;
    let target = workspace::target_dir().join("platforms");
    let folder = target.join(system.triple).join("dist");
    let cargo = |line: &[&str]| {
        let mut command = Command::new(&toolchain.cargo);
        command.current_dir(workspace::root()).args(line).args(["--profile", "dist", "--target"]);
        command.arg(system.triple).arg("--target-dir").arg(&target);
        command.arg("-Zbuild-std=std,panic_abort,proc_macro");
        command.env("RUSTC", &toolchain.rustc).env("RUSTC_BOOTSTRAP", "1");
        command.env_remove("RUSTUP_TOOLCHAIN").envs(system.environment.iter().copied());
        command
    };
    if said.is_none() {
        workspace::succeed(cargo(system.cargo).args(["--package", "host", "--bin", "coalesce"]))?;
    }
    let program = folder.join(system.program);
    if !program.exists() {
        bail!("there is no {}: leave out --tests, and it is built", program.display());
    }
    let date = today()?;
    let Some(runner) = system.runner else {
        return Ok(row(system, "none", "no", "no", &date));
    };
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    if system.name == Name::Windows {
        for place in [&folder, &folder.join("deps")] {
            random_numbers(&scratch.path().join("random.c"), place)?;
        }
    }
    let variable =
        format!("CARGO_TARGET_{}_RUNNER", system.triple.replace('-', "_").to_uppercase());
    let wine = scratch.path().join("wine");
    let mut tests = cargo(&["test", "--tests", "--no-fail-fast"]);
    tests.args(TESTED.iter().flat_map(|package| ["--package", package]));
    tests.env(variable, runner).env("WINEPREFIX", &wine);
    let said = match said {
        Some(file) => std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?,
        None => {
            let said = tests.stdout(Stdio::piped()).output().context("cannot start cargo")?;
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            print!("{said}");
            said
        }
    };
    let tests = tests_of(&said).with_context(|| {
        format!("no test ended under {runner}: messages of the compiler and the emulator are above")
    })?;
    let start = |line: &[&str]| {
        let mut command = Command::new(runner);
        command.current_dir(workspace::root()).arg(&program).args(line).env("WINEPREFIX", &wine);
        command.envs(system.environment.iter().copied());
        command
    };
    let patterns = some_patterns(system.step)?;
    let mut verified = Vec::new();
    for (check, said) in [(None, "correct"), (Some("--check"), "correct with --check")] {
        let line: Vec<&str> = ["verify", "--json"]
            .into_iter()
            .chain(check)
            .chain(patterns.iter().map(|one| &**one))
            .collect();
        let ended: Value = json(&mut start(&line))?;
        let (correct, wrong) = (sum(&ended, "correct"), sum(&ended, "wrong"));
        if correct == 0 {
            bail!("`coalesce verify` verified nothing under {runner}: its messages are above");
        }
        if wrong > 0 {
            verified.push(format!("{wrong} WRONG"));
        }
        verified.push(format!("{correct} {said}"));
    }
    let ours = explained(&mut Command::new(workspace::coalesce()), &scratch.path().join("ours"))?;
    let theirs = explained(&mut start(&[]), &scratch.path().join("theirs"))?;
    let explain = if ours == theirs { "as here" } else { "DIFFERENT counts" };
    Ok(row(system, &tests, &verified.join(", "), explain, &date))
}

fn row(system: &System, tests: &str, verified: &str, explain: &str, date: &str) -> String {
    let System { title, triple, missing, .. } = system;
    format!("| {title} | `{triple}` | {tests} | {verified} | {explain} | {missing} | {date} |\n")
}

/// Says how many tests passed and failed; nothing where none ended, as where they cannot be built.
fn tests_of(said: &str) -> Option<String> {
    match (counted(said, " passed"), counted(said, " failed")) {
        (0, 0) => None,
        (passed, 0) => Some(format!("{passed}")),
        (passed, failed) => Some(format!("{passed}; {failed} failed")),
    }
}

/// Sums what the runs of tests say of themselves, such as ` passed`.
fn counted(said: &str, what: &str) -> u64 {
    let lines = said.lines().filter(|line| line.starts_with("test result: "));
    let number = |line: &str| {
        let before = line.split(what).next().filter(|before| before.len() < line.len())?;
        before.rsplit([' ', ';']).next()?.parse::<u64>().ok()
    };
    lines.filter_map(number).sum()
}

/// Adds up the numbers of a name, at any depth.
fn sum(value: &Value, name: &str) -> u64 {
    let own = value[name].as_u64().unwrap_or(0);
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    own + list.iter().map(|one| sum(one, name)).sum::<u64>()
}

/// Makes the library of random numbers that Wine 8 lacks, from one that it has.
fn random_numbers(source: &Path, folder: &Path) -> Result<()> {
    const TEXT: &str = "#include <windows.h>\nBOOLEAN NTAPI SystemFunction036(PVOID, ULONG);\n__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T bytes) { return SystemFunction036(data, (ULONG)bytes); }\n";
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(source, TEXT))?;
    let mut compiler = Command::new("x86_64-w64-mingw32-gcc");
    compiler.args(["-shared", "-o"]).arg(folder.join("bcryptprimitives.dll"));
    workspace::succeed(compiler.arg(source).arg("-ladvapi32"))
}

/// Returns every so many patterns of the catalogue.
fn some_patterns(step: usize) -> Result<Vec<String>> {
    let list: Value = json(Command::new(workspace::coalesce()).args(["list", "--json"]))?;
    let all = list.as_array().or_else(|| list["patterns"].as_array());
    let all = all.context("`coalesce list --json` is no list")?;
    let names = all.iter().filter_map(|pattern| Some(pattern["name"].as_str()?.to_owned()));
    Ok(names.step_by(step).collect())
}

/// Returns what a command writes as JSON.
fn json(command: &mut Command) -> Result<Value> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {command:?}"))?;
    serde_json::from_slice(&output.stdout).with_context(|| format!("{command:?} wrote no JSON"))
}

/// Returns the kernels of a profile of a PTX file.
fn explained(command: &mut Command, file: &Path) -> Result<Value> {
    command.args([
        "explain",
        "host/tests/foreign/column.ptx:column",
        "--grid",
        "4",
        "--block",
        "32x32",
    ]);
    command.args([
        "--arg",
        "target:f32*4Ki",
        "--arg",
        "source:f32*1Mi=random",
        "--arg",
        "n=5",
        "--check",
        "--json",
    ]);
    command.arg(file).current_dir(workspace::root()).stdout(Stdio::null());
    workspace::succeed(command)?;
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(serde_json::from_slice::<Value>(&text)?["kernels"].take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_tests_are_added_up() {
        let said = "running 2 tests\ntest result: ok. 12 passed; 0 failed; 1 ignored\nx 5 passed\n\
                    test result: FAILED. 30 passed; 2 failed; 0 ignored\n";
        assert_eq!(tests_of(said).as_deref(), Some("42; 2 failed"));
        assert_eq!(tests_of("test result: ok. 3 passed; 0 failed").as_deref(), Some("3"));
        assert_eq!(tests_of("error: could not compile `simt`"), None);
    }

    #[test]
    fn what_each_device_verified_is_added_up() {
        let value = serde_json::json!([{"correct": 3, "launches": []}, {"correct": 4}]);
        assert_eq!(
            (sum(&value, "correct"), sum(&value[0], "correct"), sum(&value, "wrong")),
            (7, 3, 0)
        );
    }

    #[test]
    fn a_row_takes_the_place_of_the_old_one() {
        let first = table("", &row(&SYSTEMS[0], "1", "2", "as here", "2026-11-26"));
        let second = table(&first, &row(&SYSTEMS[1], "3", "4", "as here", "2026-11-26"));
        let third = table(&second, &row(&SYSTEMS[0], "5", "6", "as here", "2026-11-27"));
        let rows: Vec<&str> = third.lines().skip(6).collect();
        assert!(rows[0].starts_with("| Linux x86-64 ") && rows.len() == 3, "{third}");
        assert!(rows[1].contains("| 5 | 6 |") && rows[2].contains("| 3 | 4 |"), "{third}");
    }
}
