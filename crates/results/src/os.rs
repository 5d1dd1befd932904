//! All that differs between systems: one half for Unix, one for the others, with the same functions.

pub(crate) use half::*;

#[cfg(unix)]
mod half {
    use std::fs::{File, OpenOptions};
    use std::io::Error;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    /// Gives a file beside another the mode that the umask leaves.
    pub(crate) fn take_usual_mode(beside: &mut tempfile::Builder<'_, '_>) {
        beside.permissions(PermissionsExt::from_mode(0o666));
    }

    /// Opens a pipe without waiting for its reader.
    pub(crate) fn open_at_once(path: &Path) -> Result<File, Error> {
        OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path)
    }

    /// Returns whether a pipe was not opened because nobody reads it.
    pub(crate) fn has_no_reader(error: &Error) -> bool {
        error.raw_os_error() == Some(libc::ENXIO)
    }
}

#[cfg(not(unix))]
mod half {
    use std::fs::{File, OpenOptions};
    use std::io::Error;
    use std::path::Path;

    pub(crate) fn take_usual_mode(_beside: &mut tempfile::Builder<'_, '_>) {}

    pub(crate) fn open_at_once(path: &Path) -> Result<File, Error> {
        OpenOptions::new().write(true).open(path)
    }

    pub(crate) fn has_no_reader(_error: &Error) -> bool {
        false
    }
}
