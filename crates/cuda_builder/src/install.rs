//! Installs what a build needs, within what the user allows.
//!
//! - rustup components (`rust-src`, `llvm-tools`): where rustup manages the compiler, unless the
//!   user turned automatic installs off with `RUSTUP_AUTO_INSTALL=0`;
//! - Debian's or Ubuntu's packages: as root, where apt offers them;
//! - otherwise nothing is changed and [`advice`] names the command.

use crate::error::CudaBuilderError;
use crate::toolchain::Toolchain;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages of Debian that make a compiler for kernels: Rust with its sources, and LLVM.
const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "llvm-22"];
/// NVIDIA's assembler and disassemblers, as wheels: what `ptxas`-dependent checks need.
const SASS_WHEELS: [&str; 3] =
    ["nvidia-cuda-nvcc==13.0.*", "nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm"];

/// A way to get a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Means {
    /// `rustup component add`.
    Rustup,
    /// `apt-get install`.
    Apt,
}

/// What this machine and its user allow.
struct Circumstances {
    rustup: bool,
    rustup_may_install: bool,
    apt: bool,
    root: bool,
}

impl Circumstances {
    fn here() -> Self {
        Self {
            rustup: which::which("rustup").is_ok(),
            rustup_may_install: std::env::var_os("RUSTUP_AUTO_INSTALL")
                .is_none_or(|value| value != "0"),
            apt: which::which("apt-get").is_ok(),
            root: is_root(),
        }
    }

    /// The means to try, best first.
    fn means(&self) -> Vec<Means> {
        let mut means = Vec::new();
        if self.rustup && self.rustup_may_install {
            means.push(Means::Rustup);
        }
        if self.apt && self.root {
            means.push(Means::Apt);
        }
        means
    }
}

impl Means {
    /// The command lines, in order.
    fn commands(&self) -> Vec<Vec<&'static str>> {
        match self {
            Means::Rustup => vec![vec!["rustup", "component", "add", "rust-src", "llvm-tools"]],
            Means::Apt => {
                let mut install =
                    vec!["apt-get", "install", "--yes", "--quiet", "--no-install-recommends"];
                install.extend(DEBIAN_PACKAGES);
                vec![vec!["apt-get", "update", "--quiet"], install]
            }
        }
    }
}

/// Finds a compiler for kernels, installing one first when there is none and it is allowed.
///
/// Each command that is run is printed before it runs.
///
/// # Errors
/// [`CudaBuilderError::NoToolchain`] with the command to run by hand, when nothing may be
/// installed or every installation failed.
pub fn ensure_toolchain() -> Result<Toolchain, CudaBuilderError> {
    let mut found = Toolchain::find();
    if std::env::var_os("COALESCE_RUSTC").is_some() {
        return found;
    }
    let mut failures = Vec::new();
    for means in Circumstances::here().means() {
        if found.is_ok() {
            break;
        }
        match means.commands().iter().try_for_each(|command| run(command)) {
            Ok(()) => found = Toolchain::find(),
            Err(error) => failures.push(error.to_string()),
        }
    }
    found.map_err(|error| match error {
        CudaBuilderError::NoToolchain { mut tried, fix } => {
            tried.append(&mut failures);
            CudaBuilderError::NoToolchain { tried, fix }
        }
        other => other,
    })
}

/// The commands that would give this machine a compiler, as one sentence.
pub fn advice() -> String {
    let rustup = Means::Rustup.commands().concat().join(" ");
    let apt = Means::Apt
        .commands()
        .iter()
        .map(|command| command.join(" "))
        .collect::<Vec<_>>()
        .join(" && ");
    format!("Run `{rustup}` (with rustup), or `{apt}` (Debian or Ubuntu, as root), then try again")
}

/// Where [`install_sass_tools`] puts NVIDIA's tools below a target folder.
pub fn sass_tools_dir(target_dir: &Path) -> PathBuf {
    target_dir.join("sass-tools")
}

/// Installs `ptxas`, `cuobjdump` and `nvdisasm` below `target_dir`, from NVIDIA's wheels.
///
/// # Errors
/// [`CudaBuilderError::InstallFailed`], when there is no Python or pip fails.
pub fn install_sass_tools(target_dir: &Path) -> Result<PathBuf, CudaBuilderError> {
    let folder = sass_tools_dir(target_dir);
    let target = folder.display().to_string();
    let mut command =
        vec!["python3", "-m", "pip", "install", "--quiet", "--upgrade", "--target", &target];
    command.extend(SASS_WHEELS);
    run(&command)?;
    Ok(folder)
}

fn run(command: &[&str]) -> Result<(), CudaBuilderError> {
    let line = command.join(" ");
    eprintln!("setup: {line}");
    let fail = |output: String| CudaBuilderError::InstallFailed { command: line.clone(), output };
    let done = Command::new(command[0])
        .args(&command[1..])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .output()
        .map_err(|error| fail(error.to_string()))?;
    if done.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(fail(last.to_owned()))
}

/// Whether this process may install system packages: the owner of its own process entry is root.
fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
    }
    #[cfg(not(unix))]
    {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Circumstances =
        Circumstances { rustup: true, rustup_may_install: true, apt: true, root: true };

    #[test]
    fn rustup_is_never_called_when_the_user_turned_installs_off() {
        assert_eq!(ALL.means(), [Means::Rustup, Means::Apt]);
        assert_eq!(Circumstances { rustup_may_install: false, ..ALL }.means(), [Means::Apt]);
    }

    #[test]
    fn apt_needs_root() {
        assert_eq!(Circumstances { root: false, ..ALL }.means(), [Means::Rustup]);
        assert!(Circumstances { root: false, rustup: false, ..ALL }.means().is_empty());
    }

    #[test]
    fn advice_names_both_commands() {
        let advice = advice();
        assert!(advice.contains("rustup component add rust-src llvm-tools"), "{advice}");
        assert!(advice.contains("apt-get install"), "{advice}");
    }
}
