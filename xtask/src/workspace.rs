use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let manifest = manifest.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    manifest.parent().map_or(manifest.clone(), Path::to_owned)
}

pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A cargo command in the workspace, given as a line.
pub fn cargo(line: &str) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(line.split_whitespace());
    command
}

/// Runs a command whose output the user sees.
pub fn status(command: &mut Command) -> Result<ExitStatus> {
    let program = command.get_program().to_owned();
    command.status().with_context(|| format!("cannot start {}", program.display()))
}

/// The code with which a program ended, for this one to end with.
pub fn code_of(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The integration tests of that name, which may need something that may be missing.
pub fn integration_tests(which: &str, name: &str) -> Command {
    cargo(&format!("test --release --quiet --test integration -- {which} {name}"))
}

/// Runs a command that has to succeed.
pub fn succeed(command: &mut Command) -> Result<()> {
    let line = format!("{command:?}").replace('"', "");
    if !status(command)?.success() {
        bail!("`{line}` failed; its messages are above");
    }
    Ok(())
}

pub fn coalesce() -> PathBuf {
    program("release")
}

/// The virtual GPU as `libcuda.so.1`, where cargo puts what it builds for another crate.
pub fn virtual_libcuda() -> PathBuf {
    target_dir().join("release/deps/libvirtual_libcuda.so")
}

/// Our CUDA runtime, beside it.
pub fn virtual_libcudart() -> PathBuf {
    target_dir().join("release/deps/libvirtual_libcudart.so")
}

pub fn program(profile: &str) -> PathBuf {
    target_dir().join(profile).join("coalesce").with_extension(std::env::consts::EXE_EXTENSION)
}

/// The commit of a checkout, shortened; what is not a checkout has none.
pub fn commit(folder: &Path) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["rev-parse", "--short=12", "HEAD"])
        .output();
    let text = output.ok().filter(|it| it.status.success()).map(|it| it.stdout);
    text.map_or_else(
        || "an unnamed version".to_owned(),
        |text| String::from_utf8_lossy(&text).trim().to_owned(),
    )
}
