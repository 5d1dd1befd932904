use crate::workspace;
use anyhow::{Context, Result};
use cuda_builder::write_whole;
use std::path::Path;
use std::process::Command;

/// A dependency on a library of this checkout.
pub fn ours(library: &str, features: &str) -> String {
    let path = workspace::root().join("crates").join(library);
    let package = format!("coalesce-{}", library.replace('_', "-"));
    format!("{{ package = \"{package}\", path = \"{}\"{features} }}", path.display())
}

pub fn commit(checkout: &Path) -> String {
    let commit = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .current_dir(checkout)
        .output();
    let text = commit.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_default()
}

pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes a file, and the folder that it is in.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    Ok(write_whole(path, text.as_bytes())?)
}
