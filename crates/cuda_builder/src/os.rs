//! All that differs between systems: one half for Unix, one for the others, with the same functions.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use half::*;

/// Returns a time as [`changed`] tells it.
pub(crate) fn nanoseconds(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos())
}

#[cfg(unix)]
mod half {
    use std::fs::Metadata;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Gives a file beside another the mode that the umask leaves.
    pub(crate) fn take_usual_mode(beside: &mut tempfile::Builder<'_, '_>) {
        beside.permissions(PermissionsExt::from_mode(0o666));
    }

    /// Returns the time of a file's last change, of contents or place, in nanoseconds. No program can date it back.
    pub(crate) fn changed(facts: &Metadata) -> u128 {
        let seconds = u128::try_from(facts.ctime()).unwrap_or(0);
        seconds * 1_000_000_000 + u128::try_from(facts.ctime_nsec()).unwrap_or(0)
    }

    /// Returns whether this process may install system packages: the owner of its own process entry is root.
    pub(crate) fn is_root() -> bool {
        std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
    }
}

#[cfg(not(unix))]
mod half {
    use std::fs::Metadata;

    pub(crate) fn take_usual_mode(_beside: &mut tempfile::Builder<'_, '_>) {}

    pub(crate) fn changed(facts: &Metadata) -> u128 {
        facts.modified().map_or(0, super::nanoseconds)
    }

    pub(crate) fn is_root() -> bool {
        false
    }
}
