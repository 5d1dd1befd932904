//! Work that a program waits for without the driver.
//!
//! Work runs when a call of the driver wants its result. A program may also wait by means of its own: for a lock that a
//! function has which a stream calls, or for a word that a kernel writes to memory that both have. Then no call comes any
//! more, and a thread runs what is pending before such work.

use crate::process::{OwnMachine, waits_in_a_call, with_idle};
use crate::work::QueuedWork;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The time without a call after which the program is taken to wait: that of the processor, so that a program which the
/// machine holds up is not, unless it sleeps for as long as `SLEEP`.
const PAUSE: Duration = Duration::from_secs(1);
const SLEEP: Duration = Duration::from_secs(2);
/// The same for a program that has waited so before, each time by half, down to this.
const LEAST_PAUSE: Duration = Duration::from_millis(2);

/// The time that a kernel waits for the host to change memory: while the host runs, and while it waits in a call itself,
/// so that only another of its threads could.
const WHILE_HOST_RUNS: Duration = Duration::from_secs(60);
const WHILE_HOST_WAITS: Duration = Duration::from_secs(1);

/// Work runs beside the program.
static RUNS_BESIDE: AtomicBool = AtomicBool::new(false);

/// Returns the function that says how long a kernel waits for the host. A thread's own machine has no other thread.
pub(crate) fn patience() -> fn() -> Duration {
    if OwnMachine::is_current() {
        return || Duration::ZERO;
    }
    || {
        let host_runs = RUNS_BESIDE.load(Ordering::Relaxed) && !waits_in_a_call();
        if host_runs { WHILE_HOST_RUNS } else { WHILE_HOST_WAITS }
    }
}

/// Takes note that the program may see by means of its own that work has run. A thread's own machine runs it when it is asked.
pub(crate) fn awaits_work() {
    static WATCH: OnceLock<Option<Thread>> = OnceLock::new();
    if OwnMachine::is_current() {
        return;
    }
    // Without a thread such a program waits for ever, and every other one runs.
    let spawn = || thread::Builder::new().name("pending work".into()).spawn(watch);
    if let Some(thread) = WATCH.get_or_init(|| Some(spawn().ok()?.thread().clone())) {
        thread.unpark();
    }
}

/// Returns the time that the process's threads have run.
fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes the time it is given a place for.
        if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } == 0 {
            return Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
        }
    }
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

fn watch() {
    let mut pause = PAUSE;
    loop {
        thread::park();
        let mut seen = None;
        while with_idle(|driver| {
            let calls = driver.recorder.calls;
            let mut pending = driver.scheduler.all().into_iter();
            let work_of = |id: &usize| driver.scheduler.get(*id).map(|operation| &operation.work);
            let is_seen =
                |id: &usize| work_of(id).is_some_and(|work| driver.memory.is_seen_outside(work));
            let Some(first) = pending.find(is_seen) else { return false };
            let calls_host = matches!(work_of(&first), Some(QueuedWork::Host(_)));
            let (since, ran, before) =
                *seen.get_or_insert_with(|| (Instant::now(), processor_time(), calls));
            if before != calls {
                seen = None;
            } else if since.elapsed() >= SLEEP.min(if calls_host { pause } else { SLEEP })
                || processor_time().saturating_sub(ran) >= pause
            {
                seen = None;
                RUNS_BESIDE.store(true, Ordering::Relaxed);
                driver.run_until(first);
                RUNS_BESIDE.store(false, Ordering::Relaxed);
                if !calls_host {
                    pause = LEAST_PAUSE.max(pause / 2);
                }
            }
            true
        }) != Some(false)
        {
            thread::sleep(pause / 2);
        }
    }
}
