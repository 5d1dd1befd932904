//! All that differs between systems: one half for Unix, one for Windows, with the same functions.

pub use half::*;

/// Limits of each process of a group.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(unix), expect(dead_code, reason = "no limit is set there"))]
pub(crate) struct Limits {
    pub seconds: u64,
    /// Bytes of memory that it may ask for.
    pub bytes: u64,
    /// Addresses that it may reserve, with the stacks of its threads.
    pub addresses: u64,
    /// The largest file that it may write.
    pub file_bytes: u64,
}

#[cfg(unix)]
mod half {
    use super::Limits;
    use std::io::Error;
    use std::mem::MaybeUninit;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, ExitStatus};

    /// Gives a process limits and a group of its own.
    pub fn confine(command: &mut Command, limits: Limits) {
        // SAFETY: between fork and exec only system calls are made, which is allowed there and touches no memory of the
        // parent's.
        unsafe { command.process_group(0).pre_exec(move || set(limits)) };
    }

    fn set(limits: Limits) -> Result<(), Error> {
        for (resource, most) in [
            (libc::RLIMIT_DATA, limits.bytes),
            (libc::RLIMIT_AS, limits.addresses),
            (libc::RLIMIT_CPU, limits.seconds),
            (libc::RLIMIT_FSIZE, limits.file_bytes),
            (libc::RLIMIT_CORE, 0),
        ] {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the limit lives until the call returns.
            if unsafe { libc::getrlimit(resource, &raw mut limit) } != 0 {
                return Err(Error::last_os_error());
            }
            // Nobody may have more than there was.
            let most = most.min(limit.rlim_max);
            let most = libc::rlimit { rlim_cur: most, rlim_max: most };
            // SAFETY: the limit lives until the call returns, and only this process is changed.
            if unsafe { libc::setrlimit(resource, &raw const most) } != 0 {
                return Err(Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Returns whether a process has ended. Its number is not given to another before it is waited for.
    pub fn has_ended(child: &mut Child) -> bool {
        let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: zero is a value of the structure, which is of numbers.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the call writes to a place that lives until it returns, and takes numbers otherwise.
        let found = unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut info, how) };
        found != 0 || info.si_signo != 0
    }

    /// Ends a process and its group.
    pub fn end_group(leader: u32) {
        // SAFETY: the call takes numbers only; the process of this number was started here and is not waited for yet.
        unsafe { libc::kill(-leader.cast_signed(), libc::SIGKILL) };
    }

    /// Returns whether a process was ended because it used up its time.
    pub fn was_late(status: ExitStatus) -> bool {
        matches!(status.signal(), Some(libc::SIGXCPU | libc::SIGKILL))
    }

    /// Returns the letters of a line of the terminal that standard output is.
    pub fn terminal_columns() -> Option<usize> {
        let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the call writes the size of a terminal, if the output is one, to a place that lives until it returns.
        let found = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &raw mut size) };
        (found == 0).then_some(usize::from(size.ws_col))
    }

    /// Ends the program when the reader of its output ends, as `head` does; Rust ignores the signal and panics instead.
    pub fn end_quietly_when_nobody_reads() {
        // SAFETY: no other thread runs yet, and the default action needs no handler.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }

    /// Calls a function with the exit code of a program that was interrupted, when this one is.
    pub fn on_interrupt(end: impl FnOnce(i32) + Send + 'static) {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the set is made before it is used and lives until the calls return. Threads that are started from here on
        // leave these signals to the one below, and what is started as a command has them as usual.
        let set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
            libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
            set.assume_init()
        };
        std::thread::spawn(move || {
            let mut signal = 0;
            // SAFETY: both live until the call returns.
            if unsafe { libc::sigwait(&raw const set, &raw mut signal) } == 0 {
                end(128 + signal);
            }
        });
    }
}

#[cfg(not(unix))]
mod half {
    use super::Limits;
    use std::process::{Child, Command, ExitStatus};

    // No limit of a process is set on this system: the judge's clock ends it.
    pub fn confine(_command: &mut Command, _limits: Limits) {}

    pub fn has_ended(child: &mut Child) -> bool {
        child.try_wait().is_ok_and(|status| status.is_some())
    }

    pub fn end_group(leader: u32) {
        let mut command = Command::new("taskkill");
        command.args(["/F", "/T", "/PID", &leader.to_string()]);
        let _ = command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status();
    }

    pub fn was_late(_status: ExitStatus) -> bool {
        false
    }

    pub fn terminal_columns() -> Option<usize> {
        None
    }

    // A lost reader is an error of a write on this system.
    pub fn end_quietly_when_nobody_reads() {}

    // The console ends this program and all that it started.
    pub fn on_interrupt(_end: impl FnOnce(i32) + Send + 'static) {}
}
