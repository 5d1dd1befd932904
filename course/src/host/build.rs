//! A learner's host file to a program: the compiler links it with the libraries that `cargo xtask learn` was built from,
//! so that nothing but the file itself is compiled, without optimization.

use super::confine::limit;
use super::program::Seen;
use crate::compile::{Compiled, Places, compile};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What a host file may use, besides the standard library.
const LIBRARIES: [&str; 4] = ["course", "cust", "cust_ext", "anyhow"];
/// How long a program may take that waits and does not compute.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// The most that is read of what a program writes.
const MAX_OUTPUT: u64 = 1 << 20;

/// A file of a program.
pub struct Source<'a> {
    /// Its name in the program.
    pub name: &'a str,
    /// Its task.
    pub id: &'a str,
    /// Where it is.
    pub path: &'a Path,
}

/// A program that runs host files.
#[derive(Clone, Debug)]
pub struct Program {
    program: PathBuf,
    ptx: PathBuf,
    /// Is deleted with the last of them.
    _folder: Arc<TempDir>,
}

/// What a program's end says.
pub enum Ended {
    /// By itself.
    Well,
    /// It ran too long.
    Late,
    /// It printed too much.
    Loud,
    /// With an error: its last words.
    Badly(String),
}

impl Program {
    /// Runs one of the files: each run is a seed and a size.
    pub(super) fn run(&self, name: &str, runs: &[String]) -> Result<(Vec<Seen>, Ended)> {
        let shown = self.program.display();
        let word = word();
        // Written before there is a reader: a pipe holds more than this.
        let (input, mut writer) = std::io::pipe().context("cannot make a pipe")?;
        writer.write_all(format!("{word}\n{}\n", runs.join("\n")).as_bytes())?;
        drop(writer);
        let mut command = Command::new(&self.program);
        command.arg(name).arg(&self.ptx).process_group(0).env_clear();
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: between fork and exec only system calls are made, which is allowed there and touches no memory of the
        // parent's.
        unsafe { command.pre_exec(limit) };
        let mut child = command.spawn().with_context(|| format!("cannot start {shown}"))?;
        let begin = Instant::now();
        let verdicts = read(child.stdout.take().context("it is piped")?);
        let errors = read(child.stderr.take().context("it is piped")?);
        let status = loop {
            match child.try_wait().context("cannot wait for the program")? {
                Some(status) => break Some(status),
                None if begin.elapsed() > MAX_WAIT => break None,
                None if errors.is_finished() || verdicts.is_finished() => {
                    // It has closed one of them, or printed too much.
                    std::thread::sleep(Duration::from_millis(50));
                    break child.try_wait().context("cannot wait for the program")?;
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        // What it started ends with it, and lets go of the pipes.
        // SAFETY: the call takes numbers only; the group is the child's, which is not waited for before this.
        unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
        child.wait().context("cannot wait for the program")?;
        let verdicts = verdicts.join().unwrap_or_default();
        let errors = errors.join().unwrap_or_default();
        let lines = verdicts.lines().filter_map(|line| line.strip_prefix(&word));
        let seen = lines.map_while(|line| serde_json::from_str(line).ok()).collect();
        let is_full = [&verdicts, &errors].iter().any(|text| text.len() as u64 >= MAX_OUTPUT);
        let ended = match status {
            _ if is_full => Ended::Loud,
            None => Ended::Late,
            Some(status) if status.success() => Ended::Well,
            Some(status) if matches!(status.signal(), Some(libc::SIGXCPU | libc::SIGKILL)) => {
                Ended::Late
            }
            Some(status) => Ended::Badly(last_words(&errors).unwrap_or_else(|| status.to_string())),
        };
        Ok((seen, ended))
    }
}

/// Reads what a program writes, up to a limit.
fn read(stream: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.take(MAX_OUTPUT).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// What a program said of its end: the panic, or the last line.
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
fn word() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x} ", number(), number())
}

/// Links files to one program, in a folder of its own below the target folder; `None` when the compiler refuses them, and
/// has said why.
///
/// # Errors
/// When there is no compiler, or a folder cannot be written.
pub fn build(places: &Places, folder: &str, files: &[Source<'_>]) -> Result<Option<Program>> {
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
        writeln!(table, "        ({:?}, {:?}, file_{index}::run),", file.name, file.id)?;
    }
    writeln!(
        main,
        "fn main() -> std::process::ExitCode {{\n    course::host::main(&[\n{table}    ])\n}}"
    )?;
    let root = folder.path().join("main.rs");
    std::fs::write(&root, &main)
        .with_context(|| format!("cannot write {}: is the disk full?", root.display()))?;
    let program = folder.path().join("program");
    let mut rustc = Command::new("rustc");
    rustc.current_dir(&places.root).arg(&root).arg("-o").arg(&program);
    rustc.args(["--edition=2024", "--crate-name=host", "-Cdebuginfo=line-tables-only"]);
    rustc.args(libraries(places)?);
    if !rustc.status().context("cannot start rustc")?.success() {
        return Ok(None);
    }
    Ok(Some(Program { program, ptx: kernel(places)?, _folder: folder }))
}

/// The compiler's arguments that name the libraries, asked of Cargo once.
fn libraries(places: &Places) -> Result<&'static [String]> {
    static LIBRARY_ARGUMENTS: OnceLock<Vec<String>> = OnceLock::new();
    if let Some(arguments) = LIBRARY_ARGUMENTS.get() {
        return Ok(arguments);
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&places.root).env("CARGO_TARGET_DIR", &places.target);
    cargo.args(["build", "--release", "--quiet", "--bin", "learn", "--message-format=json"]);
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
