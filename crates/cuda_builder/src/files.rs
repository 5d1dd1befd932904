//! Files that several processes work on at once, and stamps that tell whether files are what a build made.
//!
//! A process may be killed at any line, and anybody may change a file. So a file appears whole, by a rename; its stamp is
//! removed before work on it begins, written after it, and holds the hash of what it vouches for.

use crate::error::CudaBuilderError;
use crate::os;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Waits until no other process works on `path`, and keeps others out until the file is dropped.
pub(crate) fn lock_path(path: &Path) -> Result<std::fs::File, CudaBuilderError> {
    let path = path.with_extension("lock");
    let lock = std::fs::File::create(&path).map_err(CudaBuilderError::io("create", &path))?;
    lock.lock().map_err(CudaBuilderError::io("lock", &path))?;
    Ok(lock)
}

/// Writes a file so that readers see the old one or the new one, never a part. A new file has the mode that the umask leaves,
/// and one that is replaced keeps its own.
///
/// # Errors
/// When the folder or the disk does not take it; a file that was there stays as it was.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CudaBuilderError> {
    let written = || CudaBuilderError::io("write", path);
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new();
    os::take_usual_mode(&mut beside);
    let mut file = beside.tempfile_in(folder).map_err(written())?;
    file.write_all(bytes).map_err(written())?;
    if let Ok(held) = std::fs::metadata(path) {
        file.as_file().set_permissions(held.permissions()).map_err(written())?;
    }
    file.persist(path).map_err(|error| written()(error.error))?;
    Ok(())
}

/// Makes files by `work`, unless `stamp` says that they are there as they were made, and for the same line `about`.
///
/// `vouched` names what the stamp then vouches for: the files, and those that they were made of.
pub(crate) fn make(
    stamp: &Path,
    about: &str,
    vouched: impl Fn() -> Vec<PathBuf>,
    work: impl FnOnce() -> Result<(), CudaBuilderError>,
) -> Result<(), CudaBuilderError> {
    let held = std::fs::read_to_string(stamp).unwrap_or_default();
    let mut lines = held.lines();
    if lines.next() == Some(about)
        && let Some(seen) = lines.map(seen_again).collect::<Option<Vec<String>>>()
        && !seen.is_empty()
    {
        return write_changed(stamp, text(about, &seen).as_bytes());
    }
    remove(stamp)?;
    work()?;
    let seen = vouched().iter().map(|path| see(path)).collect::<Result<Vec<_>, _>>()?;
    write_whole(stamp, text(about, &seen).as_bytes())
}

fn text(about: &str, seen: &[String]) -> String {
    let mut text = format!("{about}\n");
    seen.iter().for_each(|line| text += &format!("{line}\n"));
    text
}

/// Removes a file that may be absent.
pub(crate) fn remove(path: &Path) -> Result<(), CudaBuilderError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(CudaBuilderError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// A line that tells whether a file is still what it is now: its length, the time of its last change, its hash, its path.
pub(crate) fn see(path: &Path) -> Result<String, CudaBuilderError> {
    let facts = std::fs::metadata(path).map_err(CudaBuilderError::io("read", path))?;
    let bytes = contents(path, &facts).map_err(CudaBuilderError::io("read", path))?;
    Ok(format!("{} {} {} {}", bytes.len(), os::changed(&facts), hash(&bytes), path.display()))
}

/// The bytes of a file; of a folder, which a build script may watch, the names in it.
fn contents(path: &Path, facts: &std::fs::Metadata) -> std::io::Result<Vec<u8>> {
    if !facts.is_dir() {
        return std::fs::read(path);
    }
    let entries = std::fs::read_dir(path)?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names.join("\n").into_bytes())
}

/// The line of a file that changes, which [`seen_again`] never holds for the same.
pub(crate) fn unseen(path: &Path) -> String {
    format!("0 0 - {}", path.display())
}

/// The line of [`see`] for its file of today, which has the same bytes; nothing where it has not.
///
/// A file of the same length that nobody changed since is not read: that time is the system's own, and copying or renaming a
/// file sets it anew.
pub(crate) fn seen_again(line: &str) -> Option<String> {
    let (length, rest) = line.split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let (hash, path) = rest.split_once(' ')?;
    let facts = std::fs::metadata(path).ok()?;
    if facts.is_file() && facts.len().to_string() != length {
        return None;
    }
    if os::changed(&facts).to_string() == time {
        return Some(line.to_owned());
    }
    see(Path::new(path)).ok().filter(|now| now.split(' ').nth(2) == Some(hash))
}

/// The path that a line of [`see`] ends with.
pub(crate) fn path_of(line: &str) -> Option<&Path> {
    line.splitn(4, ' ').nth(3).map(Path::new)
}

fn hash(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
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
    fn files_are_made_again_unless_they_are_as_they_were_made() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [source, made, stamp] =
            ["source", "made", "stamp"].map(|name| folder.path().join(name));
        let write = |path: &Path, text: &str| std::fs::write(path, text).expect("writable");
        write(&source, "1");
        let runs = std::cell::Cell::new(0);
        let vouched = || vec![source.clone(), made.clone()];
        let make_it = |about: &str| {
            let before = runs.get();
            let work = || {
                runs.set(before + 1);
                write(&made, "made");
                Ok(())
            };
            make(&stamp, about, vouched, work).expect("writable");
            runs.get() > before
        };
        assert!(make_it("a"));
        assert!(!make_it("a"));
        assert!(make_it("b"), "it is about something else");
        for (path, text) in [(&made, "mad"), (&made, "mode"), (&made, ""), (&source, "2")] {
            write(path, text);
            assert!(make_it("b"), "{} has other bytes", path.display());
            assert!(!make_it("b"));
        }
        for path in [&made, &source] {
            let bytes = std::fs::read(path).expect("it is there");
            std::fs::remove_file(path).expect("ours");
            if path == &made {
                assert!(make_it("b"), "it is gone");
            }
            std::fs::write(path, bytes).expect("writable");
            assert!(!make_it("b"), "the same bytes at another time");
        }
        for text in ["", "b\n", "b\n4 1 0 /nowhere\n", "b\nnonsense\n"] {
            write(&stamp, text);
            assert!(make_it("b"), "a stamp that says {text:?}");
        }
        let broken = make(&stamp, "c", vouched, || Err(CudaBuilderError::NoOutDir));
        assert!(broken.is_err() && !stamp.exists(), "what was not finished has no stamp");
    }

    #[cfg(unix)]
    #[test]
    fn the_umask_decides_the_mode_of_a_new_file_and_an_old_one_keeps_its_own() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [plain, ours] = ["plain", "ours"].map(|name| folder.path().join(name));
        let mode = |path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        std::fs::write(&plain, "").expect("writable");
        write_whole(&ours, b"one").expect("writable");
        assert_eq!(mode(&ours), mode(&plain));
        std::fs::set_permissions(&ours, PermissionsExt::from_mode(0o600)).expect("ours");
        write_whole(&ours, b"two").expect("writable");
        assert_eq!(mode(&ours), 0o600);
    }

    #[test]
    fn a_turn_ends_when_its_file_is_dropped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("work");
        let turn = lock_path(&path).expect("nobody else is here");
        let other = std::fs::File::open(path.with_extension("lock")).expect("the lock's file");
        assert!(other.try_lock().is_err(), "the turn is taken");
        drop(turn);
        assert!(other.try_lock().is_ok(), "the turn is free");
    }
}
