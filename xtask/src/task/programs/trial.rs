use super::build::Start;
use super::rows::{NO_CHECK, Row, TOO_LARGE, TOO_LONG, shortened};
use super::sizes::Sizes;
use super::suite::Program;
use super::verdict;
use crate::workspace;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The exit code by which `coalesce run` says that no kernel ran.
const NO_KERNEL: i32 = 5;
/// The bytes of memory that a program and the device's may take.
const MEMORY: u64 = 8 << 30;
/// The begin of an allocator's message when there is no memory.
const NO_MEMORY: &str = "memory allocation of ";

pub struct Trial {
    /// Nothing: the limit ended it.
    status: Option<ExitStatus>,
    seconds: f64,
    output: String,
    errors: String,
    profile: Value,
}

impl Trial {
    pub fn run(
        program: &Program,
        start: &Start,
        arguments: &str,
        limit: Duration,
    ) -> Result<Trial> {
        let profile = program.folder.join("ran.json");
        let _ = std::fs::remove_file(&profile);
        let mut command = Command::new(workspace::coalesce());
        command.args(["run", "--check", "--fail-on", "none", "--json"]).arg(&profile);
        command.args(device(program)).arg("--");
        command.arg(&start.file).args(words(arguments));
        let begin = Instant::now();
        let status = waited(&mut command, program, start, "ran", Some(MEMORY), limit)?;
        let seconds = begin.elapsed().as_secs_f64();
        let read = |kind: &str| printed(program, "ran", kind);
        let profile = std::fs::read_to_string(&profile).unwrap_or_default();
        let profile = serde_json::from_str(&profile).unwrap_or_default();
        Ok(Trial { status, seconds, output: read("out"), errors: read("err"), profile })
    }

    /// Returns what it printed, with its exit code in front.
    pub fn coded_output(&self) -> String {
        coded(self.status, &self.output)
    }

    pub fn is_too_long(&self) -> bool {
        self.status.is_none()
    }

    pub fn row(
        &self,
        program: &Program,
        start: &Start,
        arguments: &str,
        sizes: &Sizes,
        limit: Duration,
    ) -> Row {
        let sizes = sizes.iter().map(|(name, size)| format!("{name}={size}"));
        let code = self.status.and_then(|status| status.code());
        let kernels = self.profile["kernels"].as_array().map_or(0, Vec::len);
        let own =
            verdict::own_check(&self.output).or_else(|| verdict::own_check(self.own_errors()));
        let folder = program.folder.join(&start.folder);
        // What is not there may be what it writes.
        let missing = missing_input(&folder, arguments).filter(|_| kernels == 0);
        let (ran, lacks) = match (self.status, code) {
            (Some(_), _) if code != Some(0) && missing.is_some() => {
                ("no", format!("its input is not in the checkout: {}", missing.unwrap_or_default()))
            }
            (None, _) => ("no", format!("{TOO_LONG} {} s", limit.as_secs())),
            (_, Some(0)) if own == Some(false) => ("yes", self.cause("its own check fails")),
            (_, Some(0)) => ("yes", String::new()),
            (_, Some(NO_KERNEL)) if !program.sources().contains("<<<") => ("yes", String::new()),
            (_, Some(NO_KERNEL)) => ("no", self.cause("no kernel ran")),
            (_, Some(129..160)) => {
                ("no", self.cause(&format!("signal {}", code.unwrap_or(0) - 128)))
            }
            (_, Some(code)) if own == Some(false) => {
                ("yes", self.cause(&format!("its own check fails, exit code {code}")))
            }
            (_, Some(code)) => ("no", self.cause(&format!("exit code {code}"))),
            (Some(status), None) => {
                ("no", self.cause(&format!("signal {}", status.signal().unwrap_or(0))))
            }
        };
        let verified = match own {
            _ if ran == "no" => "",
            Some(true) => "yes",
            Some(false) => "no",
            None => NO_CHECK,
        };
        Row {
            program: program.name.clone(),
            built: "yes".to_owned(),
            ran: ran.to_owned(),
            verified: verified.to_owned(),
            kernels: kernels.to_string(),
            hazards: self.hazards(),
            lacks: shortened(&lacks),
            seconds: format!("{:.1}", self.seconds),
            arguments: [arguments.to_owned()]
                .into_iter()
                .chain(sizes)
                .collect::<Vec<_>>()
                .join(" ")
                .trim()
                .to_owned(),
            ..Row::default()
        }
    }

    /// The limit or the memory ended it, as far as one sees.
    pub fn is_too_large(&self) -> bool {
        let code = self.status.and_then(|status| status.code());
        self.is_too_long() || matches!(code, Some(129..160)) || self.errors.contains(NO_MEMORY)
    }

    /// Returns what the program itself wrote to the standard error, before the profile.
    fn own_errors(&self) -> &str {
        let profile = self.errors.find(" on virtual ").unwrap_or(self.errors.len());
        let before = &self.errors[..profile];
        before.rsplit_once('\n').map_or(before, |(before, _)| before)
    }

    /// The most telling reason why a run failed.
    fn cause(&self, otherwise: &str) -> String {
        if self.errors.contains(NO_MEMORY) || self.output.contains(NO_MEMORY) {
            return format!("{TOO_LARGE} {} GiB of memory here", MEMORY >> 30);
        }
        let unsupported = || {
            let calls = self.profile["misuse"].as_array()?;
            let one = calls.iter().find(|call| call["kind"] == "Unsupported")?;
            Some(one["message"].as_str()?.to_owned())
        };
        let fault = || {
            let kernels = self.profile["kernels"].as_array()?;
            let one = kernels.iter().find_map(|kernel| kernel["faults"].get(0))?;
            Some(one["message"].as_str()?.to_owned())
        };
        let said = |text: &str| {
            let marks = [
                "error: ",
                "symbol lookup error",
                "error while loading",
                "terminate called",
                "what():",
                "cudaError",
                "CUDA error",
                "CUDA Error",
                "Error",
                "error",
                "not supported",
                "Unable",
                "Cannot",
                "cannot",
                "Failed to",
                "Usage",
                "usage",
                "Assertion",
            ];
            let line =
                marks.iter().find_map(|mark| text.lines().find(|line| line.contains(mark)))?;
            Some(line.trim().to_owned())
        };
        let found = unsupported()
            .or_else(fault)
            .or_else(|| said(self.own_errors()))
            .or_else(|| said(&self.output));
        found.map_or_else(|| otherwise.to_owned(), |cause| format!("{otherwise}: {cause}"))
    }

    /// The kinds of hazards and of misuse, with how many of each; leaks are none.
    fn hazards(&self) -> String {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let kernels = list(&self.profile["kernels"]);
        let hazards = kernels.iter().flat_map(|kernel| list(&kernel["hazards"]));
        let misuse = list(&self.profile["misuse"]).into_iter();
        let misuse = misuse.filter(|one| one["is_advice"] != true && one["kind"] != "Unsupported");
        for kind in hazards.chain(misuse).filter_map(|one| one["kind"].as_str().map(str::to_owned))
        {
            *counts.entry(kind).or_default() += 1;
        }
        let counts = counts.iter().map(|(kind, count)| format!("{kind} {count}"));
        counts.collect::<Vec<_>>().join("; ")
    }
}

/// The arguments of `coalesce run` that name a program's device.
pub fn device(program: &Program) -> Vec<&str> {
    if program.device.is_empty() { Vec::new() } else { vec!["--device", &program.device] }
}

/// Splits a command line as a shell does.
pub fn words(arguments: &str) -> Vec<String> {
    let plain = || arguments.split_whitespace().map(str::to_owned).collect();
    shlex::split(arguments).unwrap_or_else(plain)
}

/// An argument that is the path of a file which is not there.
fn missing_input(folder: &Path, arguments: &str) -> Option<String> {
    words(arguments).into_iter().flat_map(|it| words(&it.replace(';', " "))).find(|word| {
        let word = word.rsplit('=').next().unwrap_or(word);
        let has_letters = word.chars().any(char::is_alphabetic);
        let is_path = word.contains('/') || (word.contains('.') && !word.starts_with('-'));
        let is_number = word.parse::<f64>().is_ok();
        has_letters && is_path && !is_number && !folder.join(word).exists()
    })
}

/// Runs a command in a program's folder and returns what it printed, with its exit code in front; nothing if it took longer
/// than the limit.
pub fn output_of(
    command: &mut Command,
    program: &Program,
    start: &Start,
    name: &str,
    limit: Duration,
) -> Result<Option<String>> {
    let status = waited(command, program, start, name, None, limit)?;
    Ok(status.map(|_| coded(status, &printed(program, name, "out"))))
}

/// A text behind the program's exit code; a signal is 128 and its number.
fn coded(status: Option<ExitStatus>, text: &str) -> String {
    let code = status.and_then(|it| it.code().or_else(|| it.signal().map(|signal| 128 + signal)));
    let own = code.map_or(-1, |code| if code == NO_KERNEL { 0 } else { code });
    format!("{own}\n{text}")
}

/// The begin of what a command printed.
fn printed(program: &Program, name: &str, kind: &str) -> String {
    let bytes = std::fs::read(program.folder.join(name).with_extension(kind)).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 20)]).into_owned()
}

/// Runs a command in a program's folder to its end; the limit of time ends it and all that it started. What it prints goes
/// to files of this name.
fn waited(
    command: &mut Command,
    program: &Program,
    start: &Start,
    name: &str,
    memory: Option<u64>,
    limit: Duration,
) -> Result<Option<ExitStatus>> {
    let create = |kind: &str| {
        let path = program.folder.join(name).with_extension(kind);
        File::create(&path).with_context(|| format!("cannot create {}", path.display()))
    };
    command.current_dir(program.folder.join(&start.folder)).process_group(0);
    command.stdin(Stdio::null()).stdout(create("out")?).stderr(create("err")?);
    if let Some(bytes) = memory {
        // SAFETY: between fork and exec the child makes one call of the system.
        unsafe {
            command.pre_exec(move || {
                let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
                libc::setrlimit(libc::RLIMIT_DATA, &raw const limit);
                Ok(())
            });
        }
    }
    let begin = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", program.name))?;
    let group = -child.id().cast_signed();
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait().context("the program is gone")? {
            return Ok((!asked).then_some(status));
        }
        let signal = match begin.elapsed() {
            // It shows what it has.
            elapsed if elapsed > limit && !asked => libc::SIGTERM,
            elapsed if elapsed > limit + Duration::from_secs(10) => libc::SIGKILL,
            _ => 0,
        };
        if signal != 0 {
            asked = true;
            // SAFETY: the call takes numbers.
            unsafe { libc::kill(group, signal) };
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
