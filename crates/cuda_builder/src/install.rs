//! Installs what a build needs, within what the user allows.
//!
//! - rustup components (`rust-src`, `llvm-tools`): where rustup manages the compiler, unless the
//!   user turned automatic installs off with `RUSTUP_AUTO_INSTALL=0`;
//! - Debian's or Ubuntu's packages: as root, where apt offers them;
//! - otherwise nothing is changed and [`advice`] names the command.
//!
//! ```no_run
//! let toolchain = cuda_builder::install::ensure_toolchain()?;
//! println!("kernels are compiled by {}", toolchain.describe());
//! # Ok::<(), cuda_builder::CudaBuilderError>(())
//! ```

use crate::error::CudaBuilderError;
use crate::package_manager::PackageManager;
use crate::toolchain::Toolchain;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use crate::package_manager::advice;

/// NVIDIA's assembler and disassemblers, as wheels: what `ptxas`-dependent checks need.
const SASS_WHEELS: [&str; 3] =
    ["nvidia-cuda-nvcc==13.0.*", "nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm"];

/// Permissions of this machine and its user.
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
            root: crate::os::is_root(),
        }
    }

    fn means(&self) -> Vec<PackageManager> {
        let mut means = Vec::new();
        if self.rustup && self.rustup_may_install {
            means.push(PackageManager::Rustup);
        }
        if self.apt && self.root {
            means.push(PackageManager::Apt);
        }
        means
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
    if matches!(found, Err(CudaBuilderError::ChosenToolUnusable { .. })) {
        // The user's choice stands; nothing that is installed would be asked.
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

/// Returns the folder below a target folder in which [`install_sass_tools`] puts NVIDIA's tools.
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
    if let Some(reason) = broken_connection(&text) {
        return Err(CudaBuilderError::IndexUnreachable { command: line, reason });
    }
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(fail(last.to_owned()))
}

/// Returns what an installer said of a connection that failed, which comes before its last line: pip ends with "No
/// matching distribution found" and apt-get with "Unable to locate package" when they got no list of packages.
fn broken_connection(messages: &str) -> Option<String> {
    const SIGNS: [&str; 9] = [
        "NewConnectionError",
        "ConnectTimeoutError",
        "ReadTimeoutError",
        "ProxyError",
        "SSLError",
        "connection broken by",
        "Temporary failure resolving",
        "Could not resolve",
        "Could not connect to",
    ];
    let line = messages.lines().find(|line| SIGNS.iter().any(|sign| line.contains(sign)))?;
    // The innermost reason is the last: `..('<a connection>: Failed to establish a new connection: [Errno 111] ..')`.
    let reason = line.split_once(">: ").map_or(line, |(_, reason)| reason);
    let reason = reason.split(['\'', '"']).next().unwrap_or(reason);
    Some(reason.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Circumstances =
        Circumstances { rustup: true, rustup_may_install: true, apt: true, root: true };

    #[test]
    fn rustup_is_never_called_when_the_user_turned_installs_off() {
        assert_eq!(ALL.means(), [PackageManager::Rustup, PackageManager::Apt]);
        assert_eq!(
            Circumstances { rustup_may_install: false, ..ALL }.means(),
            [PackageManager::Apt]
        );
    }

    #[test]
    fn a_network_that_is_down_is_told_from_a_package_that_is_missing() {
        let refused = "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after \
            connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at \
            0x7f4ad8a72890>: Failed to establish a new connection: [Errno 111] Connection refused')': /simple/x/\n\
            ERROR: Could not find a version that satisfies the requirement x (from versions: none)\n\
            ERROR: No matching distribution found for x";
        assert_eq!(
            broken_connection(refused).as_deref(),
            Some("Failed to establish a new connection: [Errno 111] Connection refused")
        );
        let apt = "W: Failed to fetch http://deb.debian.org/debian/dists/sid/InRelease  Temporary failure resolving \
            'deb.debian.org'\nE: Unable to locate package rustc-web";
        assert!(broken_connection(apt).is_some_and(|reason| reason.contains("Temporary failure")));
        let missing = "ERROR: Could not find a version that satisfies the requirement x (from versions: 1.0)\n\
            ERROR: No matching distribution found for x==2";
        assert_eq!(broken_connection(missing), None);
    }

    #[test]
    fn an_index_that_cannot_be_reached_is_named_as_such() {
        // What pip prints, by a shell: the test needs neither pip nor a network.
        let script = "echo \"after connection broken by 'NewConnectionError('<c>: refused')'\" >&2; \
            echo 'ERROR: No matching distribution found for x' >&2; exit 1";
        let error = run(&["sh", "-c", script]).expect_err("the script fails").to_string();
        assert!(error.contains("could not reach the package index (refused)"), "{error}");
    }

    #[test]
    fn apt_needs_root() {
        assert_eq!(Circumstances { root: false, ..ALL }.means(), [PackageManager::Rustup]);
        assert!(Circumstances { root: false, rustup: false, ..ALL }.means().is_empty());
    }
}
