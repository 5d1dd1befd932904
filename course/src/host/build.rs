//! A learner's host file to a program: the compiler links it with the libraries that `cargo xtask learn` was built from,
//! so that nothing but the file itself is compiled, without optimization.

use crate::compile::{COMPILER_LIMITS, Compiled, Places, compile, said, stands_alone};
use crate::group::{Group, read};
use crate::os;
use crate::os::Limits;
use anyhow::{Context, Result, bail};
use coalesce::count::COUNTING_DEVICE;
use course_host::{Answer, Order, WORD_BYTES, read_answer};
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{IsTerminal, Seek, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Libraries of a host file, besides the standard library.
const LIBRARIES: [&str; 4] = ["course_host", "cust", "cust_ext", "anyhow"];
/// Limits of a program: ten times the seconds that any solution needs, and five times the memory.
const LIMITS: Limits = Limits { seconds: 2, bytes: 1 << 30, addresses: 1 << 34, file_bytes: 0 };
/// Longest time of a program that waits and does not compute.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// The most that is read of what a program writes.
const MAX_OUTPUT: u64 = 1 << 20;

pub struct Source<'a> {
    pub name: &'a str,
    pub path: &'a Path,
}

#[derive(Clone, Debug)]
pub struct Program {
    program: PathBuf,
    ptx: PathBuf,
    /// Is deleted with the last of them.
    folder: Arc<TempDir>,
}

pub enum Ended {
    /// By itself.
    Well,
    Late,
    Loud,
    /// With an error: its last words.
    Badly(String),
}

impl Program {
    /// Runs one of the files as ordered; gives as many answers as came.
    pub(super) fn run(&self, name: &str, orders: &[Order]) -> Result<(Vec<Answer>, Ended)> {
        let shown = self.program.display();
        let words: Vec<[u8; WORD_BYTES]> = orders.iter().map(|_| word()).collect();
        let results: usize = orders.iter().map(|order| 4 * order.target).sum();
        let mut input = tempfile::tempfile_in(self.folder.path())
            .context("cannot write what the program reads: is the disk full?")?;
        for (order, word) in orders.iter().zip(&words) {
            order.write(&mut input)?;
            input.write_all(word)?;
        }
        input.rewind()?;
        let mut command = Command::new(&self.program);
        command.args([name, COUNTING_DEVICE]).arg(&self.ptx).env_clear();
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let group = Group::start(&mut command, LIMITS);
        let mut group = group.with_context(|| format!("cannot start {shown}"))?;
        let begin = Instant::now();
        let most = MAX_OUTPUT * words.len() as u64 + results as u64;
        let answers = read(group.child.stdout.take().context("it is piped")?, most);
        let errors = read(group.child.stderr.take().context("it is piped")?, MAX_OUTPUT);
        let mut is_late = false;
        while !group.has_ended() && !is_late {
            is_late = begin.elapsed() > MAX_WAIT;
            if errors.is_finished() || answers.is_finished() {
                // It has closed one of them, or printed too much.
                std::thread::sleep(Duration::from_millis(50));
                is_late = !group.has_ended();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // What it started ends with it, and lets go of the pipes.
        let status = group.end().context("cannot wait for the program")?;
        let answers = answers.join().unwrap_or_default();
        let errors = errors.join().unwrap_or_default();
        let is_full = answers.len() as u64 >= most || errors.len() as u64 >= MAX_OUTPUT;
        let mut rest = answers.as_slice();
        let answers = words.iter().map_while(|word| read_answer(*word, &mut rest).ok()).collect();
        let ended = match status {
            _ if is_full => Ended::Loud,
            _ if is_late => Ended::Late,
            _ if status.success() => Ended::Well,
            _ if os::was_late(status) => Ended::Late,
            _ => {
                let errors = String::from_utf8_lossy(&errors);
                Ended::Badly(last_words(&errors).unwrap_or_else(|| status.to_string()))
            }
        };
        Ok((answers, ended))
    }
}

/// Returns what a program said of its end: the panic, or the last line.
fn last_words(errors: &str) -> Option<String> {
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with("note: ");
    let lines: Vec<&str> = errors.lines().map(str::trim).filter(is_said).collect();
    let panic = lines.iter().position(|line| line.contains(" panicked at "));
    let words = match panic {
        Some(panic) => lines.get(panic..)?.iter().take(2).copied().collect::<Vec<_>>().join(" "),
        None => (*lines.last()?).to_owned(),
    };
    Some(words)
}

/// A word that nobody can guess: the keys of a hasher are random.
fn word() -> [u8; WORD_BYTES] {
    let number = || RandomState::new().build_hasher().finish();
    (u128::from(number()) << 64 | u128::from(number())).to_le_bytes()
}

/// Links files to one program, in a folder of its own below the target folder; `None` when the compiler, with its
/// reason, refuses them.
pub fn build(places: &Places, folder: &str, files: &[Source<'_>]) -> Result<Option<Program>> {
    if !places.root.join("course/src").is_dir() {
        bail!(
            "{} is not the whole repository of the course, whose libraries a host task is linked with: grade it there, by `check --submission`",
            places.root.display()
        );
    }
    let folder = places.target.join("learn").join(folder);
    let cannot = || format!("cannot create {}: is the disk full?", folder.display());
    std::fs::create_dir_all(&folder).with_context(cannot)?;
    // Another learner of this checkout may be graded for the same task: nobody is judged by the file of another.
    let own = tempfile::Builder::new().prefix("program").tempdir_in(&folder);
    let folder = Arc::new(own.with_context(cannot)?);
    let mut main = "//! Written by `cargo xtask learn`.\n#![allow(dead_code)]\n".to_owned();
    let mut table = String::new();
    for (index, file) in files.iter().enumerate() {
        let path = file.path.canonicalize();
        let path = path.with_context(|| format!("cannot find {}", file.path.display()))?;
        // The path as a literal of Rust.
        writeln!(main, "#[path = {:?}]\nmod file_{index};", path.display().to_string())?;
        writeln!(table, "        ({:?}, file_{index}::run),", file.name)?;
    }
    writeln!(
        main,
        "fn main() -> std::process::ExitCode {{\n    course_host::main(&[\n{table}    ])\n}}"
    )?;
    let root = folder.path().join("main.rs");
    std::fs::write(&root, &main)
        .with_context(|| format!("cannot write {}: is the disk full?", root.display()))?;
    let program = folder.path().join("host").with_extension(std::env::consts::EXE_EXTENSION);
    let note = program.with_extension("d");
    let mut rustc = Command::new("rustc");
    // What rustc leaves beside the program, it leaves there: two that are built at a time do not meet.
    rustc.current_dir(&places.root).arg(&root).arg("--out-dir").arg(folder.path());
    rustc.arg("--emit=link,dep-info");
    rustc.args(["--edition=2024", "--crate-name=host", "-Cdebuginfo=line-tables-only"]);
    rustc.args(libraries(places)?);
    if stderr().is_terminal() {
        rustc.arg("--color=always");
    }
    let (status, _) = said(&mut rustc, COMPILER_LIMITS)?;
    if !status.success() {
        return Ok(None);
    }
    stands_alone(&note, files.len() + 1)?;
    Ok(Some(Program { program, ptx: kernel(places)?, folder }))
}

/// The compiler's arguments that name the libraries, asked of Cargo once.
fn libraries(places: &Places) -> Result<&'static [String]> {
    static LIBRARY_ARGUMENTS: OnceLock<Vec<String>> = OnceLock::new();
    if let Some(arguments) = LIBRARY_ARGUMENTS.get() {
        return Ok(arguments);
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&places.root).env("CARGO_TARGET_DIR", &places.target);
    cargo.args(["build", "--release", "--quiet", "--message-format=json"]);
    if option_env!("COALESCE_COURSE_ALONE").is_some() {
        // What this program was built from is deleted, and was made for kernels of a few threads.
        let folder = places.target.join("learn-host");
        if !folder.exists() {
            eprintln!(
                "The libraries of host tasks are built once, which takes as long as the course did."
            );
        }
        cargo.args(["--package", "course_host", "--target-dir"]).arg(folder);
    } else {
        cargo.args(["--bin", "learn"]);
    }
    let output = cargo.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the course does not build: the messages are above");
    }
    let mut arguments = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: serde_json::Value = serde_json::from_str(line)?;
        for path in message["linked_paths"].as_array().into_iter().flatten() {
            arguments.push(format!("-L{}", path.as_str().unwrap_or_default()));
        }
        let name = message["target"]["name"].as_str().unwrap_or_default();
        let files = message["filenames"].as_array().into_iter().flatten();
        let files = files.filter_map(|file| file.as_str());
        if let Some(file) = files.clone().find(|file| file.ends_with(".rlib"))
            && LIBRARIES.contains(&name)
        {
            arguments.push(format!("--extern={name}={file}"));
            let folder = Path::new(file).parent().unwrap_or(Path::new("."));
            arguments.push(format!("-Ldependency={}", folder.display()));
        }
    }
    Ok(LIBRARY_ARGUMENTS.get_or_init(|| arguments))
}

/// The kernel that host files launch, as PTX: compiled once, and again when it changes.
fn kernel(places: &Places) -> Result<PathBuf> {
    let source = places.root.join("course/kernels/src/host_step.rs");
    let folder = places.target.join("learn/host_step");
    let name = crate::hash::hash(&crate::compile::read(&source)?);
    let ptx = folder.join(format!("{name}.ptx"));
    if !ptx.exists() {
        let Compiled::Ptx(submission) = compile(places, "host_step", &source)? else {
            bail!("{} does not compile: the messages are above", source.display())
        };
        results::write(&ptx, submission.ptx.as_bytes())
            .with_context(|| format!("cannot write {}: is the disk full?", ptx.display()))?;
    }
    Ok(ptx)
}
