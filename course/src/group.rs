//! Processes that work on a learner's file, its compiler and its program: each with limits, in a process group of its own
//! that ends as a whole.

use crate::os::{self, Limits};
use std::io::{Error, Read};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

static GROUPS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A process with all that it starts.
pub(crate) struct Group {
    pub child: Child,
}

impl Group {
    pub(crate) fn start(command: &mut Command, limits: Limits) -> Result<Group, Error> {
        os::confine(command, limits);
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        groups.push(child.id());
        Ok(Group { child })
    }

    /// Returns whether the process has ended. Its number is not given to another before [`Self::end`].
    pub(crate) fn has_ended(&mut self) -> bool {
        os::has_ended(&mut self.child)
    }

    /// Ends all of the group that is left, and says how the process ended.
    pub(crate) fn end(mut self) -> Result<ExitStatus, Error> {
        self.stop();
        self.child.wait()
    }

    fn stop(&self) {
        let group = self.child.id();
        let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.contains(&group) {
            os::end_group(group);
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
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(os::end_group);
}

/// Reads what a process writes, up to a limit.
pub(crate) fn read(stream: impl Read + Send + 'static, most: u64) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.take(most).read_to_end(&mut bytes);
        bytes
    })
}
