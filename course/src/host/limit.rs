//! Limits of a learner's program and of its compiler: what a judge sets before either starts.

use std::io::Error;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What a process may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Seconds of a processor.
    pub seconds: u64,
    /// Bytes of memory that it may ask for.
    pub bytes: u64,
    /// Addresses that it may reserve, with the stacks of its threads.
    pub addresses: u64,
    /// The largest file that it may write.
    pub file_bytes: u64,
}

impl Limits {
    /// Sets them for what a command starts, in a process group of its own.
    pub(crate) fn set(self, command: &mut Command) -> &mut Command {
        // SAFETY: between fork and exec only system calls are made, which is allowed there and touches no memory of the
        // parent's.
        unsafe { command.process_group(0).pre_exec(move || self.limit()) }
    }

    fn limit(self) -> Result<(), Error> {
        for (resource, most) in [
            (libc::RLIMIT_DATA, self.bytes),
            (libc::RLIMIT_AS, self.addresses),
            (libc::RLIMIT_CPU, self.seconds),
            (libc::RLIMIT_FSIZE, self.file_bytes),
            (libc::RLIMIT_CORE, 0),
        ] {
            let most = libc::rlimit { rlim_cur: most, rlim_max: most };
            // SAFETY: the limit lives until the call returns, and only this process is changed.
            if unsafe { libc::setrlimit(resource, &most) } != 0 {
                return Err(Error::last_os_error());
            }
        }
        Ok(())
    }
}
