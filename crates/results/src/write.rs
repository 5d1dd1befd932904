use crate::error::{Error, Result};
use crate::os;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::to_raw_value;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Links that are followed one after the other, as many as the system does.
const MAX_LINKS: usize = 40;

enum Target {
    /// A regular file, or one that is not there yet: written beside it and renamed.
    File(PathBuf),
    /// A pipe, a terminal or a device: written to directly, since a rename would replace it by a file.
    Stream(PathBuf),
}

impl Target {
    /// Follows links, so that a link stays one, also where what it leads to is not there yet.
    fn of(path: &Path) -> Result<Target> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let Ok(leads_to) = std::fs::read_link(&path) else { break };
            path = folder(&path).join(leads_to);
        }
        let path = path.as_path();
        match std::fs::metadata(path) {
            Ok(facts) if facts.is_dir() => Err(Error::Folder(path.to_owned())),
            Ok(facts) if facts.is_file() => {
                path.canonicalize().map(Target::File).map_err(cannot(path))
            }
            Ok(_) => Ok(Target::Stream(path.to_owned())),
            Err(_) => Ok(Target::File(path.to_owned())),
        }
    }
}

fn cannot(path: &Path) -> impl Fn(std::io::Error) -> Error {
    |source| Error::Write { path: path.to_owned(), source }
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file beside `path` that disappears unless it is renamed. It has the mode of the file there, or what the umask leaves.
fn beside(path: &Path) -> Result<tempfile::NamedTempFile> {
    let mut beside = tempfile::Builder::new();
    os::take_usual_mode(&mut beside);
    let made = beside.tempfile_in(folder(path)).and_then(|file| {
        if let Ok(held) = std::fs::metadata(path) {
            file.as_file().set_permissions(held.permissions())?;
        }
        Ok(file)
    });
    made.map_err(|error| Error::NoFile { path: path.to_owned(), cause: error.kind() })
}

/// Opens a pipe or a device. A pipe that nobody reads is waited for, and that is said.
fn open_stream(path: &Path) -> Result<File> {
    // Open until the pipe is open again: a reader would take its closing for the end.
    let at_once = os::open_at_once(path);
    if at_once.as_ref().is_err_and(os::has_no_reader) {
        eprintln!("waiting until somebody reads {}", path.display());
    }
    OpenOptions::new().write(true).open(path).map_err(cannot(path))
}

/// Fails if [`write()`] would: to be asked before hours of work, not after them.
///
/// # Errors
/// One sentence with the path and the cause.
pub fn check_writable(path: &Path) -> Result<()> {
    match Target::of(path)? {
        Target::File(path) => beside(&path).map(drop),
        // Opening a pipe waits for its reader.
        Target::Stream(_) => Ok(()),
    }
}

/// Writes a value as JSON, the whole file or nothing of it.
///
/// # Errors
/// As for [`write()`].
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    write(path, &text)
}

/// Writes each value on a line, so that a difference between two files shows which of them differ.
pub(crate) fn on_lines<T: Serialize, S: Serializer>(
    values: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let lines: Result<Vec<_>, serde_json::Error> = values.iter().map(to_raw_value).collect();
    lines.map_err(S::Error::custom)?.serialize(serializer)
}

/// Writes a value on a line.
pub(crate) fn on_a_line<T: Serialize, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    to_raw_value(value).map_err(S::Error::custom)?.serialize(serializer)
}

/// Writes a file, the whole of it or nothing. What is there and is no regular file, such as a pipe or `/dev/null`, stays
/// what it is and is written to.
///
/// # Errors
/// When the folder or the disk does not take it; a file that was there stays as it was.
pub fn write(path: &Path, text: &[u8]) -> Result<()> {
    let target = match Target::of(path)? {
        Target::Stream(path) => {
            return open_stream(&path)?.write_all(text).map_err(cannot(&path));
        }
        Target::File(path) => path,
    };
    let mut file = beside(&target)?;
    // Past the temporary file's own methods, whose errors have its name, which means nothing to the reader.
    file.as_file_mut().write_all(text).map_err(cannot(path))?;
    file.as_file().sync_all().map_err(cannot(path))?;
    file.persist(&target).map_err(|error| error.error).map_err(cannot(path))?;
    Ok(())
}

/// Writes a file as [`write()`] does; where that fails, into a new file of the folder for temporary files or of the current
/// one, so that hours of work are not lost.
///
/// # Errors
/// What [`write()`] says; it begins with the place where the text is, if there is one.
pub fn write_somewhere(path: &Path, text: &[u8]) -> Result<()> {
    let Err(error) = write(path, text) else { return Ok(()) };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let in_folder = |folder: PathBuf| {
        let mut file = tempfile::Builder::new()
            .prefix("coalesce-")
            .suffix(&format!("-{name}"))
            .tempfile_in(folder)
            .ok()?;
        file.write_all(text).and_then(|()| file.as_file().sync_all()).ok()?;
        file.into_temp_path().keep().ok()
    };
    match [std::env::temp_dir(), PathBuf::from(".")].into_iter().find_map(in_folder) {
        Some(place) => Err(Error::Elsewhere { place, source: error.into() }),
        None => Err(error),
    }
}

/// Returns whether a path is that of a file that can be written again and again: no pipe and no device.
pub fn is_file(path: &Path) -> bool {
    matches!(Target::of(path), Ok(Target::File(_)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::FileTypeExt;

    #[test]
    fn a_pipe_stays_a_pipe() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("coreutils are everywhere").success());
        check_writable(&pipe).expect("a pipe can be written");
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).expect("the writer closes it")
        });
        write(&pipe, b"figures").expect("a pipe can be written");
        // Before the reader is waited for, which would wait for ever if its pipe were gone.
        assert!(std::fs::metadata(&pipe).expect("it is there").file_type().is_fifo());
        assert_eq!(reader.join().expect("it read"), b"figures");
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        std::fs::write(&file, "old").expect("a writable folder");
        std::os::unix::fs::symlink(&file, &link).expect("a writable folder");
        write(&link, b"new").expect("a regular file");
        assert!(std::fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(std::fs::read(&file).expect("it is there"), b"new");
        // One that leads nowhere yet, by a path from its own folder.
        std::fs::remove_file(&file).expect("ours");
        std::fs::remove_file(&link).expect("ours");
        std::os::unix::fs::symlink("file", &link).expect("a writable folder");
        write(&link, b"newer").expect("a regular file");
        assert!(std::fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(std::fs::read(&file).expect("it is there"), b"newer");
    }

    #[test]
    fn the_umask_decides_the_mode_of_a_new_file_and_an_old_one_keeps_its_own() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [plain, ours] = ["plain", "ours"].map(|name| folder.path().join(name));
        let mode = |path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        std::fs::write(&plain, "").expect("a writable folder");
        write(&ours, b"figures").expect("a writable folder");
        assert_eq!(mode(&ours), mode(&plain));
        std::fs::set_permissions(&ours, PermissionsExt::from_mode(0o600)).expect("ours");
        write(&ours, b"figures").expect("a writable folder");
        assert_eq!(mode(&ours), 0o600);
    }

    #[test]
    fn what_cannot_be_written_where_it_should_is_kept_elsewhere() {
        let folder = tempfile::Builder::new().prefix("plain").tempdir();
        let folder = folder.expect("a temporary folder");
        let error = write_somewhere(&folder.path().join("none/figures.json"), b"figures");
        let error = error.expect_err("there is no such folder").sentence();
        let place = error.strip_prefix("the text for it is in ").expect("the place comes first");
        let (place, cause) = place.split_once(" instead: ").expect("the cause follows");
        assert!(cause.starts_with("cannot write ") && !cause.contains(".tmp"), "{error}");
        assert!(place.ends_with("-figures.json"), "{error}");
        assert_eq!(std::fs::read(place).expect("it is there"), b"figures");
        std::fs::remove_file(place).expect("ours");
    }

    #[test]
    fn what_cannot_be_written_is_said_before_and_without_names_of_ours() {
        let folder = tempfile::Builder::new().prefix("plain").tempdir();
        let folder = folder.expect("a temporary folder");
        let inside = folder.path().join("none").join("file");
        for path in [folder.path(), &inside] {
            for error in [check_writable(path), write(path, b"")] {
                let error = error.expect_err("it cannot be written").sentence();
                let cannot = format!("cannot write {}", path.display());
                assert!(error.starts_with(&cannot), "{error}");
                assert!(!error.contains(".tmp") && !error.contains("entity"), "{error}");
                assert_eq!(error.matches(path.to_str().expect("plain")).count(), 1, "{error}");
            }
        }
    }
}
