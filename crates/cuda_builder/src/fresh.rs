//! Whether bitcode is up to date, told from the files it was made of.
//!
//! cargo cannot tell: it looks for the library that rustc, told not to link, does not write, and compiles the crate at
//! every call. So a note beside the bitcode lists what decided it: the sources of the crate and of those beside it,
//! their manifests, the lock file, which stands for all other crates, cargo's settings, and the variables that the
//! source reads. The note's time is that at which cargo was started; a file that is newer may not have been read.

use crate::error::CudaBuilderError;
use crate::files;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Whether nothing changed since `bitcode` was made.
pub(crate) fn is_up_to_date(bitcode: &Path) -> bool {
    let note = note_of(bitcode);
    let Ok(made) = std::fs::metadata(&note).and_then(|note| note.modified()) else { return false };
    let Ok(text) = std::fs::read_to_string(&note) else { return false };
    bitcode.exists() && text.lines().all(|line| is_unchanged(line, made))
}

/// The files and the variables that decided `bitcode`.
pub(crate) fn made_of(bitcode: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let text = std::fs::read_to_string(note_of(bitcode)).unwrap_or_default();
    let lines = |kind: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(of, _)| *of == kind).map(|(_, what)| what.to_owned()).collect::<Vec<_>>()
    };
    let variables = lines("variable").into_iter();
    let names = variables.map(|set| set.split('=').next().unwrap_or_default().to_owned());
    (lines("file").into_iter().map(PathBuf::from).collect(), names.collect())
}

/// Notes what `bitcode` was made of by a cargo that was started at `started`.
pub(crate) fn note(
    bitcode: &Path,
    started: SystemTime,
    crate_folder: &Path,
    dependencies: &Dependencies,
) -> Result<(), CudaBuilderError> {
    let path = note_of(bitcode);
    if dependencies.sources.is_empty() {
        // Nothing is known of what was read, so it is compiled every time.
        return match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(CudaBuilderError::io("remove", path)(error))
            }
            _ => Ok(()),
        };
    }
    let mut files: BTreeSet<PathBuf> = dependencies.sources.iter().cloned().collect();
    let mut absent = BTreeSet::new();
    let folders: BTreeSet<&Path> = dependencies
        .sources
        .iter()
        .filter_map(|source| source.ancestors().find(|at| at.join("Cargo.toml").exists()))
        .collect();
    files.extend(folders.into_iter().map(|folder| folder.join("Cargo.toml")));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let settings =
        home.into_iter().flat_map(|home| [home.join("config.toml"), home.join("config")]);
    let above = crate_folder.ancestors().flat_map(|folder| {
        ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", ".cargo/config"]
            .map(|name| folder.join(name))
    });
    for path in above.chain(settings) {
        if path.exists() {
            files.insert(path)
        } else {
            absent.insert(path)
        };
    }

    let mut text = String::new();
    for path in files {
        let _ = writeln!(text, "file {}", path.display());
    }
    for path in absent {
        let _ = writeln!(text, "absent {}", path.display());
    }
    for variable in &dependencies.variables {
        let _ = writeln!(text, "variable {variable}");
    }
    files::write_whole(&path, text.as_bytes())?;
    let opened = std::fs::File::options().write(true).open(&path);
    opened.and_then(|note| note.set_modified(started)).map_err(CudaBuilderError::io("write", path))
}

/// What cargo and rustc say that a build read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependencies {
    /// Source files of the crate and of the crates that are no dependencies from a registry.
    pub(crate) sources: Vec<PathBuf>,
    /// Variables as `NAME=VALUE`, or `NAME` for one that was not set.
    variables: Vec<String>,
}

impl Dependencies {
    /// Reads the notes that cargo and rustc leave of library `name` in `folder`, a profile's folder of a target.
    pub(crate) fn read(folder: &Path, name: &str) -> Dependencies {
        let text = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let of_cargo = text(folder.join(name).with_extension("d"));
        let of_rustc = text(folder.join("deps").join(name).with_extension("d"));
        Dependencies {
            sources: of_cargo.lines().flat_map(sources).collect(),
            variables: of_rustc
                .lines()
                .filter_map(|line| line.strip_prefix("# env-dep:"))
                // Those of cargo follow from the manifest.
                .filter(|variable| !variable.starts_with("CARGO"))
                .map(str::to_owned)
                .collect(),
        }
    }
}

/// The files behind the colon of a line of a makefile, where a blank within a name has a backslash before it.
fn sources(line: &str) -> Vec<PathBuf> {
    let Some((_, files)) = line.split_once(": ") else { return Vec::new() };
    let files = files.replace("\\ ", "\0");
    files.split_whitespace().map(|file| PathBuf::from(file.replace('\0', " "))).collect()
}

fn note_of(bitcode: &Path) -> PathBuf {
    bitcode.with_extension("made-of")
}

/// Whether what a line of a note says still holds.
fn is_unchanged(line: &str, made: SystemTime) -> bool {
    match line.split_once(' ') {
        Some(("file", path)) => {
            let changed = std::fs::metadata(path).and_then(|file| file.modified());
            changed.is_ok_and(|changed| changed < made)
        }
        Some(("absent", path)) => !Path::new(path).exists(),
        Some(("variable", set)) => match set.split_once('=') {
            Some((name, value)) => std::env::var(name).is_ok_and(|now| now == value),
            None => std::env::var_os(set).is_none(),
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn names_with_blanks_are_read_from_makefiles() {
        assert_eq!(
            sources("/t/kernels.ptx: /a/lib.rs /b\\ c/mod.rs"),
            [PathBuf::from("/a/lib.rs"), PathBuf::from("/b c/mod.rs")]
        );
        assert!(sources("/a/lib.rs:").is_empty());
    }

    #[test]
    fn a_change_of_any_kind_makes_bitcode_old() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str| std::fs::write(path(name), name).expect("a writable folder");
        std::fs::create_dir_all(path("deps")).expect("a writable folder");
        for name in ["Cargo.toml", "lib.rs", "bitcode.bc"] {
            write(name);
        }
        let place = path("lib.rs");
        std::fs::write(path("k.d"), format!("k.ptx: {}\n", place.display())).expect("writable");
        std::fs::write(
            path("deps/k.d"),
            "# env-dep:COALESCE_UNSET_FOR_TEST\n# env-dep:CARGO_X=1\n",
        )
        .expect("writable");
        let dependencies = Dependencies::read(folder.path(), "k");
        assert_eq!(dependencies.sources, [place]);
        assert_eq!(dependencies.variables, ["COALESCE_UNSET_FOR_TEST"]);

        let bitcode = path("bitcode.bc");
        assert_eq!(made_of(&bitcode), (Vec::new(), Vec::new()));
        assert!(!is_up_to_date(&bitcode), "there is no note");
        let later = SystemTime::now() + Duration::from_secs(60);
        let note = || note(&bitcode, later, folder.path(), &dependencies).expect("writable");
        note();
        assert!(is_up_to_date(&bitcode));
        let (files, variables) = made_of(&bitcode);
        assert!(files.ends_with(&[path("Cargo.toml"), path("lib.rs")]), "{files:?}");
        assert_eq!(variables, ["COALESCE_UNSET_FOR_TEST"]);
        let touch = |name: &str, time: SystemTime| {
            let file = std::fs::File::options().append(true).open(path(name)).expect("a file");
            file.set_modified(time).expect("our file");
        };
        for name in ["lib.rs", "Cargo.toml"] {
            touch(name, later + Duration::from_secs(1));
            assert!(!is_up_to_date(&bitcode), "{name} changed");
            touch(name, later);
            assert!(!is_up_to_date(&bitcode), "{name} changed as cargo was started");
            touch(name, later - Duration::from_secs(1));
            assert!(is_up_to_date(&bitcode));
        }
        write("Cargo.lock");
        assert!(!is_up_to_date(&bitcode), "a file appeared");
        note();
        assert!(is_up_to_date(&bitcode));
        std::fs::remove_file(path("lib.rs")).expect("our file");
        assert!(!is_up_to_date(&bitcode), "a source is gone");
        write("lib.rs");
        super::note(&bitcode, later, folder.path(), &Dependencies::default()).expect("writable");
        assert!(!is_up_to_date(&bitcode), "nobody knows the sources");
    }

    #[test]
    fn a_variable_that_the_source_reads_counts() {
        let now = SystemTime::now();
        let path = std::env::var("PATH").expect("tests have a PATH");
        assert!(is_unchanged(&format!("variable PATH={path}"), now));
        assert!(!is_unchanged("variable PATH=/nowhere", now));
        assert!(!is_unchanged("variable PATH", now), "it was not set and is");
    }
}
