//! A process with limits on time, memory and what it prints.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Bytes of a process's output that are read.
const MAX_PRINTED: u64 = 1 << 20;
/// From one look whether it has ended to the next.
const PAUSE: Duration = Duration::from_millis(5);

/// The limits of a tool's work.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub time: Duration,
    pub memory_bytes: u64,
}

/// The end of a process, and its output.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub output: String,
    pub errors: String,
}

/// Runs a command to its end, in a folder for its output.
///
/// # Errors
/// One sentence: it cannot be started, or takes too long.
pub fn run(command: &mut Command, limits: Limits, folder: &Path) -> Result<Ended> {
    let (output, errors) = (folder.join("output"), folder.join("errors"));
    let create = |path: &Path| {
        File::create(path).with_context(|| format!("cannot write {}", path.display()))
    };
    command.stdin(Stdio::null()).stdout(create(&output)?).stderr(create(&errors)?);
    limit_memory(command, limits.memory_bytes);
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| format!("cannot start `{name}`"))?;
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().context("cannot wait for the work")? {
            break status;
        }
        if begin.elapsed() > limits.time {
            end(&mut child);
            let seconds = limits.time.as_secs();
            bail!(
                "this took more than {seconds} seconds and was ended: launch fewer blocks, or start the server with a larger --seconds"
            );
        }
        std::thread::sleep(PAUSE);
    };
    let read = |path: &Path| {
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_PRINTED).read_to_end(&mut bytes))
            .context("the output of the work is gone")?;
        Ok::<_, anyhow::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Ended { status, output: read(&output)?, errors: read(&errors)? })
}

/// Ends a process with all that it started.
fn end(child: &mut std::process::Child) {
    #[cfg(unix)]
    // SAFETY: the call takes numbers, and the process leads a group of its own.
    unsafe {
        libc::kill(-child.id().cast_signed(), libc::SIGKILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(unix)]
fn limit_memory(command: &mut Command, bytes: u64) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    let limit = libc::rlimit { rlim_cur: bytes as libc::rlim_t, rlim_max: bytes as libc::rlim_t };
    // SAFETY: between fork and exec the child makes one call that takes numbers.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}

/// Other systems limit the time alone.
#[cfg(not(unix))]
fn limit_memory(_command: &mut Command, _bytes: u64) {}
