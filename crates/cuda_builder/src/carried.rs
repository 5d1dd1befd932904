//! PTX that a package carries, for users who have the kernels' sources or their compiler no longer.
//!
//! The folder `ptx` beside the build script holds a file for each architecture and the file `made_of`: the compiler, the
//! registers, a hash of every source, and one of every file of PTX. So neither PTX of other sources nor PTX that somebody
//! has changed is ever taken for that of these.

use crate::arch::NvvmArch;
use crate::error::CudaBuilderError;
use crate::files;
use crate::options::WRITE_PTX_VARIABLE;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

const FOLDER: &str = "ptx";

/// Origin of images, and what is known of their kernels.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) compiler: String,
    pub(crate) commit: String,
    /// By target and kernel.
    pub(crate) registers: BTreeMap<(String, String), u32>,
}

/// The folder of PTX of the package whose build script this is.
#[derive(Debug)]
pub(crate) struct Carried {
    folder: PathBuf,
    package: String,
}

/// The sources of PTX, by the path from the kernels' crate: its SHA-256.
pub(crate) type Sources = BTreeMap<String, String>;

impl Carried {
    /// The folder in that of the build script's manifest, which may not be there.
    pub(crate) fn of_build_script() -> Carried {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        Carried {
            folder: Path::new(&variable("CARGO_MANIFEST_DIR")).join(FOLDER),
            package: variable("CARGO_PKG_NAME"),
        }
    }

    /// The file that tells of it.
    fn made_of(&self) -> PathBuf {
        self.folder.join("made_of")
    }

    pub(crate) fn exists(&self) -> bool {
        self.made_of().exists()
    }

    pub(crate) fn file(&self, arch: NvvmArch) -> PathBuf {
        self.folder.join(format!("kernels_{}.ptx", arch.processor()))
    }

    /// Returns whether the user asked that it be written now.
    pub(crate) fn is_asked_for(&self) -> bool {
        std::env::var(WRITE_PTX_VARIABLE).is_ok_and(|name| name == self.package)
    }

    /// Tells cargo when to ask again.
    #[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
    pub(crate) fn watch(&self) {
        println!("cargo::rerun-if-env-changed={WRITE_PTX_VARIABLE}");
        // A path that is not there would run the build script each time.
        if self.folder.exists() {
            println!("cargo::rerun-if-changed={}", self.folder.display());
        }
    }

    /// Writes what the build script has just made; `built` gives the file of an architecture.
    pub(crate) fn write(
        &self,
        origin: &Origin,
        sources: &Sources,
        architectures: &[NvvmArch],
        built: impl Fn(NvvmArch) -> PathBuf,
    ) -> Result<(), CudaBuilderError> {
        // Without this file the rest is no PTX of anything, whoever ends this process.
        files::remove(&self.made_of())?;
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder)
                .map_err(CudaBuilderError::io("remove", &self.folder))?;
        }
        std::fs::create_dir_all(&self.folder)
            .map_err(CudaBuilderError::io("create", &self.folder))?;
        let mut texts = Sources::new();
        for arch in architectures {
            let file = built(*arch);
            let ptx = std::fs::read(&file).map_err(CudaBuilderError::io("read", &file))?;
            let carried = self.file(*arch);
            texts.insert(name(&carried), hash(&ptx));
            files::write_whole(&carried, &ptx)?;
        }
        files::write_whole(&self.made_of(), text(&self.package, origin, sources, &texts).as_bytes())
    }

    /// The PTX of an architecture, if it is as it was made.
    pub(crate) fn ptx(&self, arch: NvvmArch) -> Result<String, CudaBuilderError> {
        let (file, path) = (self.file(arch), self.made_of());
        let made = std::fs::read_to_string(&path).map_err(CudaBuilderError::io("read", &path))?;
        let ptx = std::fs::read_to_string(&file).map_err(CudaBuilderError::io("read", &file))?;
        let line = format!("ptx {} {}", hash(ptx.as_bytes()), name(&file));
        if !made.lines().any(|made| made == line) {
            return Err(CudaBuilderError::ChangedPtx { path: file, package: self.package.clone() });
        }
        Ok(ptx)
    }

    /// Returns the origin of the PTX, and the sources that it was made of.
    pub(crate) fn read(&self) -> Result<(Origin, Sources), CudaBuilderError> {
        let path = self.made_of();
        let text = std::fs::read_to_string(&path).map_err(CudaBuilderError::io("read", &path))?;
        parse(&text).ok_or(CudaBuilderError::MalformedPtx { path })
    }

    /// The error for a package that has neither sources nor PTX.
    pub(crate) fn missing(&self, kernels: &Path) -> CudaBuilderError {
        CudaBuilderError::NoKernels { path: kernels.to_owned(), package: self.package.clone() }
    }

    /// The error for PTX of other sources.
    pub(crate) fn stale(&self, changed: String) -> CudaBuilderError {
        CudaBuilderError::StalePtx { changed, package: self.package.clone() }
    }
}

/// The hashes of the options and of those of `files` that lie in the workspace of the kernels' crate: of the sources and of
/// the manifests of crates. Other libraries and the lock file change more often than what is made of them.
pub(crate) fn sources(
    kernels: &Path,
    options: &str,
    files: &[PathBuf],
) -> Result<Sources, CudaBuilderError> {
    let root = kernels.ancestors().find(|folder| folder.join("Cargo.lock").exists());
    let root = root.unwrap_or(kernels);
    let mut found = Sources::from([("options".to_owned(), hash(options.as_bytes()))]);
    // What a build script watches may be a folder.
    for file in files.iter().filter(|file| file.starts_with(root) && file.is_file()) {
        let of_cargo = file.extension().is_some_and(|it| it == "lock")
            || file.components().any(|part| part.as_os_str() == ".cargo");
        let bytes = std::fs::read(file).map_err(CudaBuilderError::io("read", file))?;
        let is_manifest = file.ends_with("Cargo.toml");
        let of_crate = String::from_utf8_lossy(&bytes).lines().any(|line| line == "[package]");
        if !of_cargo && (!is_manifest || of_crate) {
            found.insert(relative(kernels, file), hash(&bytes));
        }
    }
    Ok(found)
}

/// Tells cargo to ask again when one of the sources has changed.
#[allow(clippy::print_stdout, reason = "a build script speaks to cargo on standard output")]
pub(crate) fn watch(sources: &Sources, kernels: &Path) {
    for path in sources.keys().filter(|path| *path != "options") {
        println!("cargo::rerun-if-changed={}", kernels.join(path).display());
    }
}

/// The first of the sources that is another now; none when they are those of the PTX.
pub(crate) fn changed(sources: &Sources, kernels: &Path, options: &str) -> Option<String> {
    let is_same = |(path, held): &(&String, &String)| match path.as_str() {
        "options" => hash(options.as_bytes()) == **held,
        path => std::fs::read(kernels.join(path)).is_ok_and(|bytes| hash(&bytes) == **held),
    };
    let mut changed = sources.iter().filter(|source| !is_same(source));
    changed.next().map(|(path, _)| match path.as_str() {
        "options" => "the build script's options".to_owned(),
        path => kernels.join(path).display().to_string(),
    })
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The way from a folder to a file, with `/` on every system.
fn relative(folder: &Path, file: &Path) -> String {
    let mut up = String::new();
    for ancestor in folder.ancestors() {
        if let Ok(rest) = file.strip_prefix(ancestor) {
            let names = rest.components().filter_map(|part| match part {
                Component::Normal(name) => name.to_str(),
                _ => None,
            });
            return up + &names.collect::<Vec<_>>().join("/");
        }
        up += "../";
    }
    file.display().to_string()
}

/// The text of `made_of`: a line for each thing, a blank behind its kind.
fn text(package: &str, origin: &Origin, sources: &Sources, texts: &Sources) -> String {
    let mut text = format!(
        "# What this PTX was made of. Written by `{WRITE_PTX_VARIABLE}={package} cargo build`.\n\
         compiler {}\ncommit {}\n",
        origin.compiler, origin.commit
    );
    for ((target, kernel), registers) in &origin.registers {
        let _ = writeln!(text, "registers {target} {kernel} {registers}");
    }
    for (kind, files) in [("source", sources), ("ptx", texts)] {
        for (path, hash) in files {
            let _ = writeln!(text, "{kind} {hash} {path}");
        }
    }
    text
}

fn parse(text: &str) -> Option<(Origin, Sources)> {
    let mut origin = Origin::default();
    let mut sources = Sources::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "compiler" => rest.clone_into(&mut origin.compiler),
            "commit" => rest.clone_into(&mut origin.commit),
            "registers" => {
                let mut words = rest.split(' ').map(str::to_owned);
                let key = (words.next()?, words.next()?);
                origin.registers.insert(key, words.next()?.parse().ok()?);
            }
            // Compared when the file is read.
            "ptx" => {}
            "source" => {
                let (hash, path) = rest.split_once(' ')?;
                sources.insert(path.to_owned(), hash.to_owned());
            }
            _ => return None,
        }
    }
    (!origin.compiler.is_empty() && !sources.is_empty()).then_some((origin, sources))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let origin = Origin {
            compiler: "rustc 1.95.0 (1a 2026-01-01)".to_owned(),
            commit: "1a2b".to_owned(),
            registers: [(("sm_80".to_owned(), "scale".to_owned()), 16)].into(),
        };
        let sources = Sources::from([("src/a b.rs".to_owned(), "00ff".to_owned())]);
        let texts = Sources::from([("kernels_sm_80.ptx".to_owned(), "11ff".to_owned())]);
        let text = text("my_app", &origin, &sources, &texts);
        assert!(text.ends_with("\nptx 11ff kernels_sm_80.ptx\n"), "{text}");
        assert_eq!(parse(&text), Some((origin, sources)));
        for wrong in ["", "compiler rustc\n", "compiler rustc\nsource 00\n", "nonsense\n"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ptx_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let carried = Carried { folder: folder.path().join("ptx"), package: "my_app".to_owned() };
        let built = folder.path().join("built.ptx");
        std::fs::write(&built, ".target sm_80").expect("a writable folder");
        let arch = NvvmArch::Compute80;
        let origin = Origin { compiler: "rustc".to_owned(), ..Origin::default() };
        let sources = Sources::from([("src/lib.rs".to_owned(), "00ff".to_owned())]);
        carried.write(&origin, &sources, &[arch], |_| built.clone()).expect("it is written");
        assert_eq!(carried.ptx(arch).expect("it is as it was"), ".target sm_80");
        for changed in ["", ".target sm_8", ".target sm_80\n"] {
            std::fs::write(carried.file(arch), changed).expect("a writable folder");
            let message = carried.ptx(arch).expect_err("it is another").to_string();
            assert!(message.contains("COALESCE_WRITE_PTX=my_app cargo build"), "{message}");
        }
    }

    #[test]
    fn paths_lead_from_the_kernels_to_their_neighbours() {
        assert_eq!(relative(Path::new("/w/kernels"), Path::new("/w/kernels/src/a.rs")), "src/a.rs");
        assert_eq!(
            relative(Path::new("/w/kernels"), Path::new("/w/common/a.rs")),
            "../common/a.rs"
        );
    }

    #[test]
    fn a_change_of_a_source_or_of_the_options_is_found() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let kernels = folder.path().join("kernels");
        std::fs::create_dir_all(kernels.join("src")).expect("a writable folder");
        let write = |path: &str, text: &str| {
            std::fs::write(folder.path().join(path), text).expect("a writable folder");
        };
        write("Cargo.lock", "");
        write("Cargo.toml", "[workspace]\n");
        write("kernels/Cargo.toml", "[package]\n");
        write("kernels/src/lib.rs", "1");
        let files = ["Cargo.lock", "Cargo.toml", "kernels/Cargo.toml", "kernels/src/lib.rs"];
        let mut files: Vec<PathBuf> = files.iter().map(|file| folder.path().join(file)).collect();
        files.push("/nowhere/lib.rs".into());
        let found = sources(&kernels, "sm_70", &files).expect("they can be read");
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["Cargo.toml", "options", "src/lib.rs"]);

        assert_eq!(changed(&found, &kernels, "sm_70"), None);
        let other = changed(&found, &kernels, "sm_80");
        assert_eq!(other.as_deref(), Some("the build script's options"));
        write("kernels/src/lib.rs", "2");
        let other = changed(&found, &kernels, "sm_70").expect("a source changed");
        assert!(other.ends_with("src/lib.rs"), "{other}");
    }
}
