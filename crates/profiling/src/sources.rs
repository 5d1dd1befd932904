//! The text of source lines, where the compiler's files are there.
//!
//! Whoever wrote a PTX file chose the names of its sources, and what is read goes into profiles and pages that others see.
//! So a file is read only below folders that the user chose, under a name that sources have, and never from a hidden folder.

use results::plain;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// A file larger than this is no source that a person wrote.
const MAX_BYTES: u64 = 4 << 20;
/// A line of which no more is shown.
const MAX_CHARACTERS: usize = 400;
/// Endings of files that compilers of kernels read.
const ENDINGS: [&str; 18] = [
    "rs", "cu", "cuh", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inl", "inc", "py", "jl",
    "cl", "f90", "mojo",
];

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLine {
    /// The column, from 1, at which its code begins; 0 where the file is not there.
    pub column: u32,
    /// Its text without the indentation.
    pub code: String,
}

/// Source files by the names that the compiler gave them, read when they are first asked for.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The folders that sources are read below, without links in their paths.
    folders: Vec<PathBuf>,
    files: HashMap<String, Vec<SourceLine>>,
}

impl Sources {
    /// Those below the working folder and below `folders`.
    pub fn below(folders: &[PathBuf]) -> Sources {
        let folders = [PathBuf::from(".")].into_iter().chain(folders.iter().cloned());
        let folders = folders.filter_map(|folder| folder.canonicalize().ok()).collect();
        Sources { folders, files: HashMap::new() }
    }

    /// Returns a line; an empty one when the file is not there, or not to be read.
    pub fn line(&mut self, file: &str, line: u32) -> SourceLine {
        if !self.files.contains_key(file) {
            let lines = self.read(Path::new(file)).unwrap_or_default();
            self.files.insert(file.to_owned(), lines);
        }
        let place = (line as usize).checked_sub(1);
        place.and_then(|place| self.files[file].get(place)).cloned().unwrap_or_default()
    }

    /// The lines of a file, by its path or by the way to it from one of the folders.
    fn read(&self, named: &Path) -> Option<Vec<SourceLine>> {
        let path = self.folders.iter().find_map(|folder| self.allowed(&folder.join(named)))?;
        let mut text = String::new();
        File::open(path).ok()?.take(MAX_BYTES + 1).read_to_string(&mut text).ok()?;
        if text.len() as u64 > MAX_BYTES {
            return None;
        }
        let shown = |line: &str| SourceLine {
            column: 1 + line.chars().take_while(|letter| letter.is_whitespace()).count() as u32,
            code: plain(line.trim()).chars().take(MAX_CHARACTERS).collect(),
        };
        Some(text.lines().map(shown).collect())
    }

    /// The path without links, if what is there may be read.
    fn allowed(&self, path: &Path) -> Option<PathBuf> {
        let path = path.canonicalize().ok()?;
        let is_source = path.extension().is_some_and(|end| ENDINGS.iter().any(|one| end == *one));
        let is_hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        let is_below = self.folders.iter().any(|folder| {
            path.strip_prefix(folder).is_ok_and(|rest| !rest.components().any(is_hidden))
        });
        // Opening a pipe waits, and reading a device may never end.
        (is_source && is_below && path.metadata().is_ok_and(|facts| facts.is_file()))
            .then_some(path)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_sources_below_the_folders_are_read() {
        let all = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| all.path().join(name);
        for folder in ["ours/src", "ours/.git", "theirs"] {
            std::fs::create_dir_all(at(folder)).expect("a writable folder");
        }
        for name in ["ours/src/k.cu", "ours/.git/k.cu", "ours/token", "theirs/k.cu"] {
            std::fs::write(at(name), "one\n  two\n").expect("writable");
        }
        symlink(at("theirs/k.cu"), at("ours/link.cu")).expect("writable");
        symlink("/dev/zero", at("ours/endless.cu")).expect("writable");
        symlink(at("ours/token"), at("ours/token.cu")).expect("writable");
        let pipe = std::process::Command::new("mkfifo").arg(at("ours/pipe.cu")).status();
        assert!(pipe.expect("coreutils are everywhere").success());
        std::fs::write(at("ours/large.cu"), "x\n".repeat(3 << 20)).expect("writable");

        let mut sources = Sources::below(&[at("ours")]);
        let mut second = |name: &str| sources.line(&at(name).display().to_string(), 2).code;
        assert_eq!(second("ours/src/k.cu"), "two");
        assert_eq!(second("ours/src/../src/k.cu"), "two");
        for kept_out in [
            "theirs/k.cu",
            "ours/../theirs/k.cu",
            "ours/link.cu",
            "ours/.git/k.cu",
            "ours/token",
            "ours/token.cu",
            "ours/endless.cu",
            "ours/pipe.cu",
            "ours/large.cu",
        ] {
            assert_eq!(second(kept_out), "", "{kept_out}");
        }
        let two = SourceLine { column: 3, code: "two".to_owned() };
        assert_eq!(sources.line("src/k.cu", 2), two, "from the folder");
        assert_eq!(sources.line("src/k.cu", 3), SourceLine::default());
        for named in ["/etc/passwd", "../../../../etc/passwd", "/proc/self/environ"] {
            assert_eq!(sources.line(named, 1), SourceLine::default(), "{named}");
        }
        assert_eq!(
            Sources::below(&[at("theirs")]).line(&at("theirs/k.cu").display().to_string(), 1).code,
            "one"
        );
    }

    #[test]
    fn a_line_steers_no_terminal_and_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = format!("\u{1b}]52;c;x\u{7}\n{}\n", "x".repeat(9999));
        std::fs::write(folder.path().join("k.cu"), text).expect("writable");
        let mut sources = Sources::below(&[folder.path().to_owned()]);
        assert_eq!(sources.line("k.cu", 1).code, "\u{fffd}]52;c;x\u{fffd}");
        assert_eq!(sources.line("k.cu", 2).code.len(), MAX_CHARACTERS);
    }
}
