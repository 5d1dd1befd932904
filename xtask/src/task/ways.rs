//! `cargo xtask ways`: from nothing to a checked kernel by each way of installing, in fresh folders, with what it costs.

use super::prove::today;
use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The ways; all without one.
    #[arg(value_enum)]
    ways: Vec<Way>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Way {
    /// The archive of a release, unpacked.
    Binary,
    /// The wheel, by pip in a new environment.
    Wheel,
    /// A project that takes the crates from the repository.
    Crate,
    /// A clone, and the first task of the course.
    Checkout,
}

const WAYS: [Way; 4] = [Way::Binary, Way::Wheel, Way::Crate, Way::Checkout];
const FILE: &str = start::WAYS;
const GUIDE: &str = "docs/guide/learn.md";
const BEGIN: &str = "<!-- BEGIN ways: cargo xtask ways -->";
const END: &str = "<!-- END ways -->";
const HEADER: &str = "# From nothing to a checked kernel\n\nWritten by `cargo xtask ways`, which does it in a fresh folder with what a user types, on this machine: Rust, Python and git are there, and the crates of the registry are downloaded. The archive and the wheel are those of this commit. Processor time tells more than time on the clock on a machine that does other work, too.\n\n| way | commands | seconds | processor seconds | MB on disk | processors | date |\n|---|---|--:|--:|--:|--:|---|\n";

impl Way {
    fn title(self) -> &'static str {
        match self {
            Way::Binary => "binary",
            Way::Wheel => "wheel",
            Way::Crate => "crate",
            Way::Checkout => "checkout",
        }
    }

    /// The lines that a user types in an empty folder; the last one checks a kernel. `FILE` and `URL` are what he has.
    fn commands(self) -> &'static [&'static str] {
        match self {
            Way::Binary => {
                &["tar xzf FILE --strip-components=1", "./coalesce explain KERNEL --check"]
            }
            Way::Wheel => &[
                "python3 -m venv here",
                "here/bin/pip install --quiet FILE",
                "here/bin/coalesce explain KERNEL --check",
            ],
            Way::Crate => &["coalesce new app --source URL", "cd app && cargo test --quiet"],
            Way::Checkout => &[
                "git clone --quiet URL coalesce",
                "cd coalesce && cargo xtask learn check rows_to_lanes",
            ],
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let file = workspace::root().join(FILE);
    for way in WAYS {
        if !arguments.ways.is_empty() && !arguments.ways.contains(&way) {
            continue;
        }
        let row = tried(way)?;
        println!("{}", row.trim());
        let old = std::fs::read_to_string(&file).unwrap_or_default();
        let new = table(&old, &row);
        write_whole(&file, new.as_bytes())?;
        if let Some(cost) = start::cost_of_the_course(&new) {
            splice(&cost)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the cost of the course into its page of the guide.
fn splice(cost: &str) -> Result<()> {
    let file = workspace::root().join(GUIDE);
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {GUIDE}"))?;
    let (before, rest) =
        text.split_once(BEGIN).with_context(|| format!("{GUIDE} has no `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{GUIDE} has no `{END}`"))?;
    write_whole(&file, format!("{before}{BEGIN}{cost}{END}{after}").as_bytes()).map_err(Into::into)
}

/// Returns the page with another row of a way.
fn table(old: &str, row: &str) -> String {
    let title = |row: &str| row.split('|').nth(1).map(|name| name.trim().to_owned());
    let rows = WAYS.iter().filter_map(|way| {
        let is_its = |row: &&str| title(row).as_deref() == Some(way.title());
        [row.trim_end()].into_iter().chain(old.lines()).find(is_its)
    });
    HEADER.to_owned() + &rows.flat_map(|row| [row, "\n"]).collect::<String>()
}

/// Does what a user types in a temporary folder, and returns the row of it.
fn tried(way: Way) -> Result<String> {
    let root = workspace::root();
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let material = tempfile::tempdir().context("cannot make a temporary folder")?;
    let program = workspace::coalesce();
    let path = std::env::var("PATH").unwrap_or_default();
    let programs = program.parent().unwrap_or(Path::new("")).display().to_string();
    let kernel = format!(
        "{}/host/tests/foreign/column.ptx:column --grid 4 --block 32x32 --arg target:f32*4Ki --arg source:f32*1Mi=random --arg n=5",
        root.display()
    );
    let file = match way {
        Way::Binary => archive(&wheel()?, material.path())?,
        Way::Wheel => wheel()?,
        Way::Crate | Way::Checkout => PathBuf::new(),
    };
    let (begin, before) = (Instant::now(), processor_seconds()?);
    for (index, line) in way.commands().iter().enumerate() {
        let typed = line
            .replace("FILE", &file.display().to_string())
            .replace("KERNEL", &kernel)
            .replace("URL", &format!("file://{}", root.display()));
        let mut shell = Command::new("sh");
        shell.args(["-c", &typed]).current_dir(folder.path());
        shell.env("CARGO_TARGET_DIR", folder.path().join("target"));
        shell.env("PATH", format!("{path}:{programs}")).env("COALESCE_DEVICE", "virtual");
        for variable in ["CUDA_LIBRARY_PATH", "RUSTUP_TOOLCHAIN", "RUSTC"] {
            shell.env_remove(variable);
        }
        let output = shell.output().with_context(|| format!("cannot start `{typed}`"))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        // A task that nobody has solved does not pass.
        let is_verdict = way == Way::Checkout && index == 1 && said.contains("sectors");
        if !output.status.success() && !is_verdict {
            bail!("`{typed}` failed in an empty folder:\n{said}");
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let processor = processor_seconds()? - before;
    let commands = way.commands().join("`, `");
    let megabytes = size(folder.path())? / 1_000_000;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(format!(
        "| {} | `{commands}` | {seconds:.0} | {processor:.0} | {megabytes} | {processors} | {} |\n",
        way.title(),
        today()?
    ))
}

/// The wheel of this system in `dist`.
fn wheel() -> Result<PathBuf> {
    let folder = workspace::root().join("dist");
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".whl") && name.contains("linux") && name.contains(std::env::consts::ARCH)
    };
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let found = entries.map(|entry| entry.path()).find(is_it);
    found.with_context(|| {
        format!("there is no wheel in {}: `cargo xtask wheel` makes it", folder.display())
    })
}

/// The archive of what a wheel holds, as a release has it.
fn archive(wheel: &Path, folder: &Path) -> Result<PathBuf> {
    workspace::succeed(
        Command::new("python3").args(["-m", "zipfile", "--extract"]).arg(wheel).arg(folder),
    )?;
    let file = folder.join("coalesce.tar.gz");
    // Zip's module of Python forgets who may be executed.
    let program = folder.join("coalesce_gpu/bin/coalesce");
    workspace::succeed(Command::new("chmod").arg("+x").arg(program))?;
    let mut tar = Command::new("tar");
    tar.arg("czf").arg(&file).arg("--directory").arg(folder.join("coalesce_gpu")).arg("bin");
    workspace::succeed(&mut tar)?;
    Ok(file)
}

/// The time that processors have worked for programs that this one started and that have ended.
fn processor_seconds() -> Result<f64> {
    /// Clock ticks per second, as Linux has them for programs.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // Behind the name: `cutime` and `cstime` are the fourteenth and fifteenth.
    let ticks: f64 = fields.skip(13).take(2).filter_map(|one| one.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS)
}

/// The bytes of all files of a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    let entries = std::fs::read_dir(folder);
    for entry in entries.with_context(|| format!("cannot read {}", folder.display()))?.flatten() {
        let metadata = std::fs::symlink_metadata(entry.path())?;
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_keep_their_order_and_a_new_row_replaces_the_old() {
        let first = table("", "| wheel | x | 1.0 |\n");
        let second = table(&first, "| binary | y | 2.0 |\n");
        let third = table(&second, "| wheel | x | 3.0 |\n");
        let rows: Vec<&str> = third.lines().skip(6).collect();
        assert_eq!(rows, ["| binary | y | 2.0 |", "| wheel | x | 3.0 |"], "{third}");
    }

    #[test]
    fn what_a_program_costs_is_counted() {
        let before = processor_seconds().unwrap();
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", busy]).status().unwrap().success());
        assert!(processor_seconds().unwrap() > before);
    }
}
