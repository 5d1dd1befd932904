//! Functions of the host that a program waits for without the driver.
//!
//! Work runs when a call of the driver wants its result. A program may also wait for a function that a stream calls by means
//! of its own, as a lock: then no call comes any more, and a thread runs what is pending before that function.

use crate::process::{OwnMachine, with_idle};
use crate::work::QueuedWork;
use std::sync::OnceLock;
use std::thread::{self, Thread};
use std::time::Duration;

/// The time without a call after which the program is taken to wait.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes note that a stream is to call a function of the host's. A thread's own machine runs it when it is asked.
pub(crate) fn awaits_host_function() {
    static WATCH: OnceLock<Option<Thread>> = OnceLock::new();
    if OwnMachine::is_current() {
        return;
    }
    // Without a thread such a program waits for ever, and every other one runs.
    let spawn = || thread::Builder::new().name("host functions".into()).spawn(watch);
    if let Some(thread) = WATCH.get_or_init(|| Some(spawn().ok()?.thread().clone())) {
        thread.unpark();
    }
}

fn watch() {
    loop {
        thread::park();
        let mut seen = None;
        while with_idle(|driver| {
            let calls = driver.recorder.calls;
            let mut pending = driver.scheduler.all().into_iter();
            let is_host = |id: &usize| {
                driver.scheduler.get(*id).is_some_and(|it| matches!(it.work, QueuedWork::Host(_)))
            };
            let Some(first) = pending.find(is_host) else { return false };
            if seen.replace(calls) == Some(calls) {
                driver.run_until(first);
            }
            true
        }) != Some(false)
        {
            thread::sleep(PAUSE);
        }
    }
}
