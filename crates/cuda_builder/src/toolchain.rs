//! Finds the compiler: a Rust compiler with `core` for nvptx64 within reach, and LLVM's tools.
//!
//! The order, first fit wins:
//!
//! 1. `COALESCE_RUSTC`, when set: that compiler and no other.
//! 2. The `rustc` on PATH (rustup's, as `rust-toolchain.toml` resolves it).
//! 3. `/usr/bin/rustc`, the distribution's.
//!
//! A compiler fits when it is new enough and has either a prebuilt `core` for nvptx64 or the
//! library sources (`rust-src`), and when LLVM's tools of its own or a newer major version are
//! found: the toolchain's `llvm-tools`, or a system LLVM. `COALESCE_LLVM` names the tools' folder.
//!
//! The kernels need unstable parts of rustc (`abi_ptx`, inline PTX, `core` from source), and stable compilers give them to
//! whoever sets `RUSTC_BOOTSTRAP=1`. Any release may change them, so a newer one may fail to build kernels;
//! `TRIED_RELEASES` has those that are known to build them, and a test fails with a newer one.
//!
//! Looking never installs anything: compilers are called by their own path, past rustup's proxies.
//!
//! ```no_run
//! let toolchain = cuda_builder::toolchain::Toolchain::find()?;
//! println!("{}", toolchain.version);
//! # Ok::<(), cuda_builder::CudaBuilderError>(())
//! ```

use crate::error::CudaBuilderError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that chooses the compiler.
pub(crate) const RUSTC_VARIABLE: &str = "COALESCE_RUSTC";
/// The variable that chooses the folder of LLVM's tools.
pub(crate) const LLVM_VARIABLE: &str = "COALESCE_LLVM";
/// The oldest Rust release whose NVPTX backend the kernels build with.
const MINIMUM_RELEASE: (u32, u32) = (1, 95);
/// The Rust releases with which the tests of this project have passed. Another may build kernels, too.
const TRIED_RELEASES: [(u32, u32); 1] = [(1, 96)];
/// The tools of LLVM a build calls.
const LLVM_TOOLS: [&str; 3] = ["llvm-dis", "opt", "llc"];

/// Source of `core` for nvptx64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// The toolchain ships it compiled.
    Prebuilt,
    /// It is compiled from the toolchain's library sources, once per compiler.
    FromSource,
}

/// A compiler that can build kernels.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The cargo beside the compiler.
    pub cargo: PathBuf,
    /// The compiler.
    pub rustc: PathBuf,
    /// The first line of `rustc -vV`.
    pub version: String,
    /// The compiler's library folder root.
    pub sysroot: PathBuf,
    /// The folder of `llvm-dis`, `opt` and `llc`.
    pub llvm: PathBuf,
    /// The source of `core`.
    pub core: Core,
    /// The place where the compiler was found, for people.
    pub origin: String,
    /// The shortcomings of better-placed compilers.
    pub passed_over: Vec<String>,
}

impl Toolchain {
    /// Finds the best compiler on this machine.
    ///
    /// # Errors
    /// [`CudaBuilderError::NoToolchain`], with what each candidate lacks and the command that helps;
    /// [`CudaBuilderError::ChosenToolUnusable`] when the user chose a compiler or tools that cannot be used.
    pub fn find() -> Result<Toolchain, CudaBuilderError> {
        let llvm = chosen(LLVM_VARIABLE);
        if let Some(folder) = &llvm {
            check_llvm(folder)?;
        }
        if let Some(rustc) = chosen(RUSTC_VARIABLE) {
            return inspect(&rustc, RUSTC_VARIABLE, llvm.as_deref()).map_err(|lack| {
                CudaBuilderError::ChosenToolUnusable {
                    variable: RUSTC_VARIABLE,
                    value: rustc,
                    problem: lack,
                    fix: format!(
                        "a rustc {}.{} or newer that can build for nvptx64",
                        MINIMUM_RELEASE.0, MINIMUM_RELEASE.1
                    ),
                }
            });
        }
        let mut passed_over = Vec::new();
        for (rustc, origin) in candidates() {
            match inspect(&rustc, &origin, llvm.as_deref()) {
                Ok(toolchain) => {
                    return Ok(Toolchain { passed_over, ..toolchain });
                }
                Err(lack) => passed_over.push(format!("{} ({origin}) {lack}", rustc.display())),
            }
        }
        if passed_over.is_empty() {
            passed_over.push("no rustc on PATH and none in /usr/bin".to_owned());
        }
        Err(CudaBuilderError::NoToolchain {
            tried: passed_over,
            fix: crate::package_manager::advice(),
        })
    }

    /// One line that says which compiler builds the kernels and why.
    pub fn describe(&self) -> String {
        let core = match self.core {
            Core::Prebuilt => "prebuilt core",
            Core::FromSource => "core from source",
        };
        let why = if self.passed_over.is_empty() {
            String::new()
        } else {
            format!("; passed over: {}", self.passed_over.join("; "))
        };
        let tried = if self.is_tried() { "" } else { ", a release that was not tried" };
        format!(
            "{}{tried} from {}, {core}, LLVM tools in {}{why}",
            self.version,
            self.origin,
            self.llvm.display()
        )
    }

    /// Returns whether the tests of this project have passed with kernels from this compiler's release.
    pub fn is_tried(&self) -> bool {
        TRIED_RELEASES.contains(&self.release())
    }

    /// Returns whether this compiler's release is newer than each that was tried, and may have changed what kernels
    /// need.
    pub fn is_newer_than_tried(&self) -> bool {
        TRIED_RELEASES.iter().all(|tried| *tried < self.release())
    }

    /// Major and minor of the compiler's version.
    fn release(&self) -> (u32, u32) {
        numbers(self.version.split_whitespace().nth(1).unwrap_or_default())
    }

    /// The path of one of LLVM's tools.
    pub(crate) fn llvm_tool(&self, name: &str) -> PathBuf {
        tool_in(&self.llvm, name)
    }

    /// A command without the running cargo's flags, wrappers and target settings, which a build script inherits.
    pub(crate) fn clean_command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (key, _) in std::env::vars_os() {
            if inherited_from_cargo(&key) {
                command.env_remove(&key);
            }
        }
        command
            .env("RUSTC", &self.rustc)
            // The kernels need the unstable parts of the NVPTX backend; nothing else is built so.
            .env("RUSTC_BOOTSTRAP", "1");
        command
    }
}

/// Returns whether an environment variable carries settings of an outer cargo or rustup.
fn inherited_from_cargo(key: &OsStr) -> bool {
    const KEPT: [&str; 4] =
        ["CARGO_HOME", "CARGO_HTTP_CAINFO", "CARGO_NET_OFFLINE", "CARGO_TERM_COLOR"];
    let key = key.to_string_lossy();
    let cargo =
        key.starts_with("CARGO") && !key.starts_with("CARGO_REGISTRIES") && !KEPT.contains(&&*key);
    cargo
        || key.starts_with("RUSTC")
        || matches!(
            &*key,
            "RUSTFLAGS"
                | "RUSTDOC"
                | "RUSTDOCFLAGS"
                | "RUSTUP_TOOLCHAIN"
                | "TARGET"
                | "HOST"
                | "OUT_DIR"
                | "PROFILE"
                | "OPT_LEVEL"
                | "DEBUG"
                | "MAKEFLAGS"
        )
}

/// Returns what the user chose by a variable; an empty one chooses nothing.
fn chosen(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns whether a folder has all of LLVM's tools that a build calls.
fn check_llvm(folder: &Path) -> Result<(), CudaBuilderError> {
    let missing: Vec<&str> =
        LLVM_TOOLS.into_iter().filter(|tool| !tool_in(folder, tool).exists()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(CudaBuilderError::ChosenToolUnusable {
        variable: LLVM_VARIABLE,
        value: folder.to_owned(),
        problem: if folder.is_dir() {
            format!("has no {}", missing.join(" and no "))
        } else {
            "is no folder".to_owned()
        },
        fix: format!("the folder of LLVM's tools ({})", LLVM_TOOLS.join(", ")),
    })
}

/// A tool's path in a folder.
fn tool_in(folder: &Path, tool: &str) -> PathBuf {
    folder.join(tool).with_extension(std::env::consts::EXE_EXTENSION)
}

/// The compilers to look at when none was chosen, best first, each with how it was found.
fn candidates() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    if let Ok(path) = which::which("rustc") {
        let origin = match std::env::var("RUSTUP_TOOLCHAIN") {
            Ok(name) => format!("rustup ({name})"),
            Err(_) => "PATH".to_owned(),
        };
        found.push((path, origin));
    }
    let system = PathBuf::from("/usr/bin/rustc");
    if system.exists() && !found.iter().any(|(path, _)| *path == system) {
        found.push((system, "the system's packages".to_owned()));
    }
    found
}

/// Turns a compiler into a toolchain, or says what it lacks.
fn inspect(rustc: &Path, origin: &str, llvm: Option<&Path>) -> Result<Toolchain, String> {
    let sysroot = PathBuf::from(ask(rustc, &["--print", "sysroot"])?.trim());
    // Past rustup's proxy: the real compiler and its cargo.
    let real = sysroot.join("bin/rustc").with_extension(std::env::consts::EXE_EXTENSION);
    let rustc = if real.exists() { real } else { rustc.to_owned() };
    let verbose = ask(&rustc, &["-vV"])?;
    let version = verbose.lines().next().unwrap_or_default().to_owned();
    let field = |name: &str| {
        verbose
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map(|value| value.trim().to_owned())
    };
    let release = field("release:").ok_or("does not print its version")?;
    if numbers(&release) < MINIMUM_RELEASE {
        return Err(format!(
            "is {release}, older than {}.{}",
            MINIMUM_RELEASE.0, MINIMUM_RELEASE.1
        ));
    }
    let host = field("host:").ok_or("does not print its host")?;
    let llvm_major = field("LLVM version:").map_or(0, |text| numbers(&text).0);

    let cargo = cargo_beside(&rustc).ok_or("has no cargo beside it")?;
    let core = core_for_nvptx(&sysroot)
        .ok_or("has neither a prebuilt core for nvptx64 nor the library sources (rust-src)")?;
    let llvm = llvm.map(Path::to_owned).or_else(|| llvm_tools(&sysroot, &host, llvm_major));
    let llvm = llvm.ok_or_else(|| {
        format!(
            "has no llvm-tools, and there is no system LLVM {llvm_major} or newer with {}",
            LLVM_TOOLS.join(", ")
        )
    })?;
    Ok(Toolchain {
        cargo,
        rustc,
        version,
        sysroot,
        llvm,
        core,
        origin: origin.to_owned(),
        passed_over: Vec::new(),
    })
}

/// Returns what a program prints, or that it does not run.
fn ask(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .env("RUSTUP_AUTO_INSTALL", "0")
        .output()
        .map_err(|error| format!("does not start: {error}"))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("does not run: {}", message.lines().next().unwrap_or("no message")));
    }
    String::from_utf8(output.stdout).map_err(|_| "prints no text".to_owned())
}

/// Major and minor of a version such as `1.96.0` or `1.97.0-nightly`.
fn numbers(version: &str) -> (u32, u32) {
    let mut parts = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn cargo_beside(rustc: &Path) -> Option<PathBuf> {
    let cargo = rustc.with_file_name("cargo").with_extension(std::env::consts::EXE_EXTENSION);
    cargo.exists().then_some(cargo)
}

fn core_for_nvptx(sysroot: &Path) -> Option<Core> {
    let prebuilt = sysroot.join("lib/rustlib/nvptx64-nvidia-cuda/lib");
    let has_core = std::fs::read_dir(prebuilt).is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-"))
    });
    if has_core {
        return Some(Core::Prebuilt);
    }
    let sources = sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs");
    sources.exists().then_some(Core::FromSource)
}

/// The folder of LLVM's tools for bitcode of LLVM `major`: older tools cannot read it.
fn llvm_tools(sysroot: &Path, host: &str, major: u32) -> Option<PathBuf> {
    let complete = |folder: &Path| LLVM_TOOLS.iter().all(|tool| tool_in(folder, tool).exists());
    let own = sysroot.join("lib/rustlib").join(host).join("bin");
    if complete(&own) {
        return Some(own);
    }
    let mut system: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let found = name.strip_prefix("llvm-")?.parse().ok()?;
            Some((found, entry.path().join("bin")))
        })
        .filter(|(found, folder)| *found >= major && complete(folder))
        .collect();
    system.sort();
    system.into_iter().next().map(|(_, folder)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(sysroot: &Path, parts: &[&str]) {
        for part in parts {
            let path = sysroot.join(part);
            std::fs::create_dir_all(path.parent().expect("a file in a folder"))
                .expect("a writable folder");
            std::fs::write(path, "").expect("a writable folder");
        }
    }

    #[test]
    fn core_is_prebuilt_before_it_is_built() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(core_for_nvptx(folder.path()), None);
        fake(folder.path(), &["lib/rustlib/src/rust/library/core/src/lib.rs"]);
        assert_eq!(core_for_nvptx(folder.path()), Some(Core::FromSource));
        fake(folder.path(), &["lib/rustlib/nvptx64-nvidia-cuda/lib/libcore-0123.rlib"]);
        assert_eq!(core_for_nvptx(folder.path()), Some(Core::Prebuilt));
    }

    #[test]
    fn the_toolchains_own_llvm_tools_come_first_and_must_be_complete() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let host = "x86_64-unknown-linux-gnu";
        let own = folder.path().join("lib/rustlib").join(host).join("bin");
        fake(&own, &["opt", "llc"]);
        assert_ne!(llvm_tools(folder.path(), host, 22), Some(own.clone()), "llvm-dis is missing");
        fake(&own, &["llvm-dis"]);
        assert_eq!(llvm_tools(folder.path(), host, 22), Some(own));
    }

    #[test]
    fn a_chosen_folder_without_llvms_tools_is_named_with_what_it_lacks() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fake(folder.path(), &["opt"]);
        let error = check_llvm(folder.path()).expect_err("two tools are missing").to_string();
        let place = folder.path().display();
        assert_eq!(
            error,
            format!(
                "COALESCE_LLVM is `{place}`, which has no llvm-dis and no llc: set it to the folder of LLVM's tools \
                 (llvm-dis, opt, llc), or unset it"
            )
        );
        fake(folder.path(), &["llvm-dis", "llc"]);
        assert!(check_llvm(folder.path()).is_ok());
        let error = check_llvm(&folder.path().join("none")).expect_err("no such folder");
        assert!(error.to_string().contains("which is no folder"), "{error}");
    }

    #[test]
    fn a_compiler_that_does_not_start_is_named_with_the_reason() {
        let lack =
            inspect(Path::new("/nonexistent/rustc"), "a test", None).expect_err("no such program");
        assert!(lack.starts_with("does not start: "), "{lack}");
    }

    #[test]
    fn a_release_that_was_not_tried_is_named_as_such() {
        let of = |version: &str| Toolchain {
            cargo: PathBuf::new(),
            rustc: PathBuf::new(),
            version: version.to_owned(),
            sysroot: PathBuf::new(),
            llvm: PathBuf::new(),
            core: Core::FromSource,
            origin: "a test".to_owned(),
            passed_over: Vec::new(),
        };
        let (major, minor) = TRIED_RELEASES[0];
        let tried = of(&format!("rustc {major}.{minor}.1 (of a test)"));
        assert!(tried.is_tried() && !tried.is_newer_than_tried());
        assert!(!tried.describe().contains("not tried"), "{}", tried.describe());
        let new = of("rustc 1.999.0-nightly");
        assert!(!new.is_tried() && new.is_newer_than_tried());
        assert!(new.describe().contains(", a release that was not tried"), "{}", new.describe());
        let old = of("rustc 1.80.0");
        assert!(!old.is_tried() && !old.is_newer_than_tried());
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert!(numbers("1.100.0") > numbers("1.95.2"));
        assert_eq!(numbers("1.97.0-nightly"), (1, 97));
    }

    #[test]
    fn settings_of_an_outer_cargo_are_dropped_and_the_users_are_kept() {
        for dropped in [
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTUP_TOOLCHAIN",
            "OUT_DIR",
            "CARGO_TARGET_DIR",
        ] {
            assert!(inherited_from_cargo(OsStr::new(dropped)), "{dropped}");
        }
        for kept in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_AUTO_INSTALL"] {
            assert!(!inherited_from_cargo(OsStr::new(kept)), "{kept}");
        }
    }
}
