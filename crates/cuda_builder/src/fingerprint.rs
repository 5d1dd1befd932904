//! Fingerprints of bitcode: it is up to date while the files it was made of are the same.
//!
//! cargo cannot tell: it looks for the library that rustc, told not to link, does not write, and compiles the crate at
//! every call. So a note beside the bitcode lists what decided it: the sources of the crate and of those beside it,
//! their manifests, the lock file, which stands for all other crates, cargo's settings, and the variables that the
//! source reads. Each file is noted with its hash, and so is the bitcode itself. A file that was changed after cargo was
//! started may not have been read, so there is no note then.

use crate::error::CudaBuilderError;
use crate::files;
use crate::os;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Returns whether nothing changed since `bitcode` was made.
pub(crate) fn is_up_to_date(bitcode: &Path) -> bool {
    let note = note_of(bitcode);
    let Ok(text) = std::fs::read_to_string(&note) else { return false };
    let now = text.lines().map(|line| Some(unchanged(line)? + "\n")).collect::<Option<String>>();
    // What the next call need not read is noted; where that fails, it reads.
    now.is_some_and(|now| is_whole(bitcode) && files::write_changed(&note, now.as_bytes()).is_ok())
}

/// Returns whether `bitcode` is what a build made that came to its end, whatever changed since.
fn is_whole(bitcode: &Path) -> bool {
    let text = std::fs::read_to_string(note_of(bitcode)).unwrap_or_default();
    let made = text.lines().find_map(|line| line.strip_prefix("made "));
    made.is_some_and(|made| files::seen_again(made).is_some())
}

/// Forgets what is known of `bitcode`, which is about to be made, and removes it where it is not what a build made.
pub(crate) fn forget(bitcode: &Path) -> Result<(), CudaBuilderError> {
    if !is_whole(bitcode) {
        files::remove(bitcode)?;
    }
    files::remove(&note_of(bitcode))
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
    let paths =
        lines("file").iter().filter_map(|line| files::path_of(line)).map(Path::to_owned).collect();
    (paths, names.collect())
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
        return files::remove(&path);
    }
    let mut read: BTreeSet<PathBuf> = dependencies.sources.iter().cloned().collect();
    let mut absent = BTreeSet::new();
    let folders: BTreeSet<&Path> = dependencies
        .sources
        .iter()
        .filter_map(|source| source.ancestors().find(|at| at.join("Cargo.toml").exists()))
        .collect();
    read.extend(folders.into_iter().map(|folder| folder.join("Cargo.toml")));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let settings =
        home.into_iter().flat_map(|home| [home.join("config.toml"), home.join("config")]);
    let above = crate_folder.ancestors().flat_map(|folder| {
        ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", ".cargo/config"]
            .map(|name| folder.join(name))
    });
    for path in above.chain(settings) {
        if path.exists() {
            read.insert(path)
        } else {
            absent.insert(path)
        };
    }

    let started = os::nanoseconds(started);
    let mut text = String::new();
    for path in read {
        let seen = files::see(&path)?;
        let facts = std::fs::metadata(&path).map_err(CudaBuilderError::io("read", &path))?;
        let is_read = crate::os::changed(&facts) < started;
        let _ = writeln!(text, "file {}", if is_read { seen } else { files::unseen(&path) });
    }
    for path in absent {
        let _ = writeln!(text, "absent {}", path.display());
    }
    for variable in &dependencies.variables {
        let _ = writeln!(text, "variable {variable}");
    }
    let _ = writeln!(text, "made {}", files::see(bitcode)?);
    files::write_whole(&path, text.as_bytes())
}

/// The files and variables that a build read, as cargo and rustc say.
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
            // Cargo writes a name with a blank twice, the second time with two backslashes.
            sources: of_cargo.lines().flat_map(sources).filter(|source| source.exists()).collect(),
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

/// A line of a note as it would be written now; nothing where what it says no longer holds.
fn unchanged(line: &str) -> Option<String> {
    let (kind, what) = line.split_once(' ')?;
    let holds = match kind {
        "file" | "made" => return Some(format!("{kind} {}", files::seen_again(what)?)),
        "absent" => !Path::new(what).exists(),
        "variable" => match what.split_once('=') {
            Some((name, value)) => std::env::var(name).is_ok_and(|now| now == value),
            None => std::env::var_os(what).is_none(),
        },
        _ => false,
    };
    holds.then(|| line.to_owned())
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
        let shown = place.display();
        std::fs::write(path("k.d"), format!("k.ptx: {shown} {shown}\\\\ x\n")).expect("writable");
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
        let after = || SystemTime::now() + Duration::from_secs(60);
        let note = || note(&bitcode, after(), folder.path(), &dependencies).expect("writable");
        note();
        assert!(is_up_to_date(&bitcode));
        let (files, variables) = made_of(&bitcode);
        assert!(files.ends_with(&[path("Cargo.toml"), path("lib.rs")]), "{files:?}");
        assert_eq!(variables, ["COALESCE_UNSET_FOR_TEST"]);
        for name in ["lib.rs", "Cargo.toml"] {
            let file = || std::fs::File::options().append(true).open(path(name)).expect("a file");
            let first = file().metadata().and_then(|file| file.modified()).expect("a time");
            // As many bytes, with the time of the old ones: what `mv k.rs.bak k.rs` leaves.
            std::fs::write(path(name), name.to_uppercase()).expect("writable");
            file().set_modified(first).expect("our file");
            assert!(!is_up_to_date(&bitcode), "{name} changed");
            write(name);
            assert!(is_up_to_date(&bitcode), "{name} is what it was");
        }
        write("Cargo.lock");
        assert!(!is_up_to_date(&bitcode), "a file appeared");
        note();
        assert!(is_up_to_date(&bitcode));
        std::fs::remove_file(path("lib.rs")).expect("our file");
        assert!(!is_up_to_date(&bitcode), "a source is gone");
        write("lib.rs");
        assert!(is_up_to_date(&bitcode));
        forget(&bitcode).expect("writable");
        assert!(!is_up_to_date(&bitcode) && bitcode.exists(), "it is whole, and about to be made");
        forget(&bitcode).expect("writable");
        assert!(!bitcode.exists(), "nobody knows what it is");
        write("bitcode.bc");
        note();
        std::fs::write(&bitcode, "bitcode.b").expect("writable");
        assert!(!is_up_to_date(&bitcode), "it was cut");
        super::note(&bitcode, SystemTime::UNIX_EPOCH, folder.path(), &dependencies)
            .expect("writable");
        assert!(!is_up_to_date(&bitcode), "the sources are newer than the compiler's start");
        assert!(made_of(&bitcode).0.contains(&path("lib.rs")), "they are known all the same");
        super::note(&bitcode, after(), folder.path(), &Dependencies::default()).expect("writable");
        assert!(!is_up_to_date(&bitcode), "nobody knows the sources");
    }

    #[test]
    fn a_variable_that_the_source_reads_counts() {
        let path = std::env::var("PATH").expect("tests have a PATH");
        assert!(unchanged(&format!("variable PATH={path}")).is_some());
        assert!(unchanged("variable PATH=/nowhere").is_none());
        assert!(unchanged("variable PATH").is_none(), "it was not set and is");
    }
}
