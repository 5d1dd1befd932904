use anyhow::{Context, Result};
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The exit code of a run that was interrupted, as shells have it.
pub const INTERRUPTED: u8 = 130;
/// Programs such as `timeout -s INT` interrupt a program and its group, so two interrupts arrive where one is meant.
const SAME_INTERRUPT: Duration = Duration::from_millis(500);
/// A kernel that runs for so long may run forever.
const LONG: Duration = Duration::from_secs(5);

/// A flag that an interrupt sets, which also does `then` and says `what` follows; a second one, if it is not the same again,
/// ends the program.
pub fn listen(what: &'static str, then: impl Fn() + Send + 'static) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let mut first: Option<Instant> = None;
    on_each(move || match first {
        None => {
            first = Some(Instant::now());
            flag.store(true, Ordering::Relaxed);
            then();
            // A terminal that was closed takes no text.
            let _ =
                writeln!(std::io::stderr(), "\ninterrupted: {what}; press again to stop at once");
        }
        Some(first) if first.elapsed() < SAME_INTERRUPT => {}
        Some(_) => std::process::exit(INTERRUPTED.into()),
    })
    .context("cannot listen for interrupts")?;
    Ok(stop)
}

/// Calls `handle` in a thread of its own for every interrupt, and for what ends a program politely.
#[cfg(unix)]
fn on_each(mut handle: impl FnMut() + Send + 'static) -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || signals.forever().for_each(|_| handle()));
    Ok(())
}

#[cfg(not(unix))]
fn on_each(handle: impl FnMut() + Send + 'static) -> Result<()> {
    Ok(ctrlc::set_handler(handle)?)
}

/// Ends the kernel that the virtual device executes when the program is interrupted; the flag says that it was.
pub fn ends_kernels() -> Result<Arc<AtomicBool>> {
    listen("the kernel that runs is ended", simt::stop)
}

/// Does `work`; on a terminal a line says so when it takes long.
pub fn patiently<T>(work: impl FnOnce() -> T) -> T {
    let (ends, ended) = std::sync::mpsc::channel::<()>();
    if std::io::stderr().is_terminal() {
        std::thread::spawn(move || {
            let begin = Instant::now();
            while ended.recv_timeout(LONG) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let seconds = begin.elapsed().as_secs();
                for launch in simt::under_way() {
                    let sentence = launch.sentence(seconds);
                    eprintln!("{sentence}; Ctrl-C ends it and says where it is");
                }
            }
        });
    }
    let done = work();
    drop(ends);
    done
}
