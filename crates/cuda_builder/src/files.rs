//! Files that several processes work on at once.

use crate::error::CudaBuilderError;
use std::io::Write;
use std::path::Path;

/// Waits until no other process works on `path`, and keeps others out until the file is dropped.
pub(crate) fn take_turn(path: &Path) -> Result<std::fs::File, CudaBuilderError> {
    let path = path.with_extension("lock");
    let lock = std::fs::File::create(&path).map_err(CudaBuilderError::io("create", &path))?;
    lock.lock().map_err(CudaBuilderError::io("lock", &path))?;
    Ok(lock)
}

/// Writes a file so that readers see the old one or the new one, never a part.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CudaBuilderError> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file =
        tempfile::NamedTempFile::new_in(folder).map_err(CudaBuilderError::io("write", path))?;
    file.write_all(bytes).map_err(CudaBuilderError::io("write", path))?;
    file.persist(path).map_err(|error| CudaBuilderError::io("write", path)(error.error))?;
    Ok(())
}

/// As [`write_whole`], when the file does not hold the bytes already: its time stamp then stays, too.
pub(crate) fn write_changed(path: &Path, bytes: &[u8]) -> Result<(), CudaBuilderError> {
    if std::fs::read(path).is_ok_and(|held| held == bytes) {
        return Ok(());
    }
    write_whole(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_holds_the_bytes_is_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        write_changed(&path, b"one").expect("a writable folder");
        let written = || std::fs::metadata(&path).and_then(|file| file.modified()).expect("a file");
        let first = written();
        write_changed(&path, b"one").expect("a writable folder");
        assert_eq!(written(), first);
        write_changed(&path, b"two").expect("a writable folder");
        assert_eq!(std::fs::read(&path).expect("a file"), b"two");
    }

    #[test]
    fn a_turn_ends_when_its_file_is_dropped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("work");
        let turn = take_turn(&path).expect("nobody else is here");
        let other = std::fs::File::open(path.with_extension("lock")).expect("the lock's file");
        assert!(other.try_lock().is_err(), "the turn is taken");
        drop(turn);
        assert!(other.try_lock().is_ok(), "the turn is free");
    }
}
