//! `cargo xtask` works in every folder of the workspace.

use std::process::Command;

/// Without `--package`, cargo looks for the program in the crate of the current folder only.
#[test]
fn the_alias_names_its_package_in_the_folder_of_a_crate() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/results");
    let output = Command::new(env!("CARGO"))
        .arg("--list")
        .current_dir(folder)
        .output()
        .expect("cargo starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let alias = text.lines().find(|line| line.trim_start().starts_with("xtask "));
    let alias = alias.unwrap_or_else(|| panic!("cargo knows no xtask: {text}"));
    assert!(alias.contains("--package start"), "{alias}");
}
