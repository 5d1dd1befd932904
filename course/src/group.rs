//! Processes that work on a learner's file, its compiler and its program: each with limits, in a process group of its own
//! that ends as a whole.

use std::io::{Error, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

static GROUPS: Mutex<Vec<libc::pid_t>> = Mutex::new(Vec::new());

/// Limits of each process of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub seconds: u64,
    /// Bytes of memory that it may ask for.
    pub bytes: u64,
    /// Addresses that it may reserve, with the stacks of its threads.
    pub addresses: u64,
    /// The largest file that it may write.
    pub file_bytes: u64,
}

impl Limits {
    fn set(self) -> Result<(), Error> {
        for (resource, most) in [
            (libc::RLIMIT_DATA, self.bytes),
            (libc::RLIMIT_AS, self.addresses),
            (libc::RLIMIT_CPU, self.seconds),
            (libc::RLIMIT_FSIZE, self.file_bytes),
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
}

/// A process with all that it starts.
pub(crate) struct Group {
    pub child: Child,
}

impl Group {
    pub(crate) fn start(command: &mut Command, limits: Limits) -> Result<Group, Error> {
        // SAFETY: between fork and exec only system calls are made, which touch no memory of the parent's.
        unsafe { command.process_group(0).pre_exec(move || limits.set()) };
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        groups.push(child.id() as libc::pid_t);
        Ok(Group { child })
    }

    /// Returns whether the process has ended. Its number is not given to another before [`Self::end`].
    pub(crate) fn has_ended(&self) -> bool {
        let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: zero is a value of the structure, which is of numbers.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the call writes to a place that lives until it returns, and takes numbers otherwise.
        let found = unsafe { libc::waitid(libc::P_PID, self.child.id(), &raw mut info, how) };
        found != 0 || info.si_signo != 0
    }

    /// Ends all of the group that is left, and says how the process ended.
    pub(crate) fn end(mut self) -> Result<ExitStatus, Error> {
        self.stop();
        self.child.wait()
    }

    fn stop(&self) {
        let group = self.child.id() as libc::pid_t;
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.contains(&group) {
            end_group(group);
            groups.retain(|one| *one != group);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Ends all groups, because this process does.
pub(crate) fn end_all() {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(end_group);
}

fn end_group(group: libc::pid_t) {
    // SAFETY: the call takes numbers only; the process of this number was started here and is not waited for yet.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// Reads what a process writes, up to a limit.
pub(crate) fn read(stream: impl Read + Send + 'static, most: u64) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.take(most).read_to_end(&mut bytes);
        bytes
    })
}
