//! All boards of a machine, measured at the same time, each by a process of its own.
//!
//! Boards that work warm each other, as they do in use. One that cannot be opened, or that falls off the bus, ends its own
//! process and no other.

use super::interrupt::INTERRUPTED;
use super::terminal::say;
use crate::os;
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The variable that tells a process which of all boards is its own.
const VARIABLE: &str = "COALESCE_BOARD";
/// From one look at the processes to the next.
const PAUSE: Duration = Duration::from_millis(50);

/// The board that this process measures, if it is one of those that [`all`] starts.
pub fn this_one() -> Option<usize> {
    std::env::var(VARIABLE).ok()?.parse().ok()
}

/// Measures so many boards by this program with the same arguments, and prints what each prints when all have ended.
pub fn all(count: usize, stop: &AtomicBool) -> Result<ExitCode> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let commands = (0..count).map(|board| {
        let mut command = Command::new(&program);
        command.args(std::env::args_os().skip(1)).env(VARIABLE, board.to_string());
        command
    });
    let ended = together(commands, stop)?;
    let mut worst = 0;
    for (board, (code, printed)) in ended.into_iter().enumerate() {
        say(format_args!("gpu{board}: {}", if code == 0 { "measured" } else { "see above" }));
        say(printed.trim_end());
        let is_worse = worst != INTERRUPTED && (code == INTERRUPTED || code > worst);
        worst = if is_worse { code } else { worst };
    }
    Ok(ExitCode::from(worst))
}

/// Runs commands at the same time, each line of their standard error under the number of its board. Gives exit codes and
/// what they printed. When `stop` is set, all are asked to end.
fn together(
    commands: impl Iterator<Item = Command>,
    stop: &AtomicBool,
) -> Result<Vec<(u8, String)>> {
    let mut running = Vec::new();
    for (board, mut command) in commands.enumerate() {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start gpu{board}"))?;
        let printed = child.stdout.take().map(read);
        let said = child.stderr.take().map(|errors| pass(board, errors));
        running.push((child, printed, said));
    }
    let mut is_told = false;
    while running.iter_mut().any(|(child, ..)| matches!(child.try_wait(), Ok(None))) {
        if stop.load(Ordering::Relaxed) && !is_told {
            is_told = true;
            running.iter_mut().for_each(|(child, ..)| os::ask_to_end(child));
        }
        std::thread::sleep(PAUSE);
    }
    let end = |(mut child, printed, said): (Child, Option<JoinHandle<String>>, Option<_>)| {
        let status = child.wait().context("a process of this program is gone")?;
        let printed = printed.and_then(|thread| thread.join().ok()).unwrap_or_default();
        said.map(JoinHandle::join);
        // A signal that ended it is as bad as a failure.
        Ok((status.code().map_or(1, |code| code as u8), printed))
    };
    running.into_iter().map(end).collect()
}

/// Reads a stream to its end, beside what else is done.
fn read(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Passes lines on to standard error.
fn pass(board: usize, from: impl Read + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let _ = writeln!(std::io::stderr(), "gpu{board}: {line}");
        }
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::os::shell;
    use std::time::Instant;

    #[test]
    fn boards_are_measured_at_the_same_time_whatever_becomes_of_one() {
        let begin = Instant::now();
        // Each but the one that fails waits until the others have begun.
        let folder = tempfile::tempdir().expect("a temporary folder");
        let wait = |own: u32, other: u32| {
            let place = folder.path().display();
            shell(&format!(
                "touch {place}/{own}; while ! [ -e {place}/{other} ]; do sleep 0.01; done; echo {own}"
            ))
        };
        let commands = [wait(0, 2), shell("echo no such device >&2; exit 3"), wait(2, 0)];
        let ended = together(commands.into_iter(), &AtomicBool::new(false)).expect("they start");
        let expected = [(0, "0\n"), (3, ""), (0, "2\n")];
        assert_eq!(ended, expected.map(|(code, text)| (code, text.to_owned())));
        assert!(begin.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_signal_ends_all() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let listens = [0, 1].map(|board| folder.path().join(board.to_string()));
        let commands = listens.clone().map(|path| {
            shell(&format!(
                "trap 'exit 130' TERM; touch {}; while :; do sleep 0.05; done",
                path.display()
            ))
        });
        let stop = AtomicBool::new(false);
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !listens.iter().all(|path| path.exists()) {
                    std::thread::sleep(PAUSE);
                }
                stop.store(true, Ordering::Relaxed);
            });
            together(commands.into_iter(), &stop).expect("they start")
        });
        assert_eq!(ended.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [130, 130]);
    }
}
