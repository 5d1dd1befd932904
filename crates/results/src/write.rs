//! Writing files whole or not at all.

use anyhow::{Context, Result, bail};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::to_raw_value;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Where a text goes.
enum Target {
    /// A regular file, or one that is not there yet: written beside it and renamed.
    File(PathBuf),
    /// A pipe, a terminal or a device: written to directly, since a rename would replace it by a file.
    Stream(PathBuf),
}

impl Target {
    /// Follows links, so that a link stays one.
    fn of(path: &Path) -> Result<Target> {
        match std::fs::metadata(path) {
            Ok(facts) if facts.is_dir() => {
                bail!("cannot write {}: it is a folder; name a file in it", path.display())
            }
            Ok(facts) if facts.is_file() => {
                let real = path.canonicalize();
                Ok(Target::File(real.with_context(|| cannot(path))?))
            }
            Ok(_) => Ok(Target::Stream(path.to_owned())),
            Err(_) => Ok(Target::File(path.to_owned())),
        }
    }
}

fn cannot(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file beside `path` that disappears unless it is renamed.
fn beside(path: &Path) -> Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder(path)).map_err(|error| {
        // The name of the temporary file means nothing to the reader of the message.
        let cause = match error.kind() {
            ErrorKind::NotFound => "there is no folder to hold it".to_owned(),
            kind => kind.to_string(),
        };
        anyhow::anyhow!("{}: {cause}; choose a file in a folder that takes files", cannot(path))
    })
}

fn open_stream(path: &Path) -> Result<File> {
    OpenOptions::new().write(true).open(path).with_context(|| cannot(path))
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
    let mut text = serde_json::to_vec_pretty(value).context("a result is plain data")?;
    text.push(b'\n');
    write(path, &text)
}

/// Writes each value on a line, so that a difference between two files shows which of them differ.
pub(crate) fn on_lines<T: Serialize, S: Serializer>(
    values: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let lines: Result<Vec<_>, _> = values.iter().map(to_raw_value).collect();
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
            return open_stream(&path)?.write_all(text).with_context(|| cannot(&path));
        }
        Target::File(path) => path,
    };
    let mut file = beside(&target)?;
    file.write_all(text).with_context(|| cannot(path))?;
    file.as_file().sync_all().with_context(|| cannot(path))?;
    let file = file.persist(&target).map_err(|error| error.error).with_context(|| cannot(path))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let readable = std::fs::Permissions::from_mode(0o644);
        file.set_permissions(readable).with_context(|| cannot(path))?;
    }
    Ok(())
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
    }

    #[test]
    fn what_cannot_be_written_is_said_before_and_without_names_of_ours() {
        let folder = tempfile::Builder::new().prefix("plain").tempdir();
        let folder = folder.expect("a temporary folder");
        let inside = folder.path().join("none").join("file");
        for path in [folder.path(), &inside] {
            for error in [check_writable(path), write(path, b"")] {
                let error = format!("{:#}", error.expect_err("it cannot be written"));
                assert!(error.starts_with(&cannot(path)), "{error}");
                assert!(!error.contains(".tmp") && !error.contains("entity"), "{error}");
                assert_eq!(error.matches(path.to_str().expect("plain")).count(), 1, "{error}");
            }
        }
    }
}
