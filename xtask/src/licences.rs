//! The licences of all that a program of ours is linked with, as their authors ask for it beside the program.

use crate::workspace;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The name of the file beside a program.
pub const FILE: &str = "LICENSES-THIRD-PARTY.txt";
/// Begins of the names of files with a licence.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Returns the licences of the crates that the program is linked with on a target, each text once.
pub fn third_party(target: &str) -> Result<String> {
    let line = format!("metadata --format-version 1 --locked --filter-platform {target}");
    let output = workspace::cargo(&line).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`cargo {line}` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo wrote no JSON")?;
    text(&linked(&metadata, "host")?)
}

/// A crate: its name and version, its licence, and the folder that it is in.
type Crate<'a> = (String, &'a str, &'a Path);

/// Returns the crates of others that a package needs to run, tests and build scripts left out.
fn linked<'a>(metadata: &'a Value, package: &str) -> Result<Vec<Crate<'a>>> {
    let list = |value: &'a Value| value.as_array().map(Vec::as_slice).unwrap_or_default();
    let packages: BTreeMap<&str, &Value> = list(&metadata["packages"])
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let root = packages.iter().find(|(_, one)| one["name"] == package).map(|(id, _)| *id);
    let mut rest = vec![root.with_context(|| format!("there is no package {package}"))?];
    let mut all = BTreeSet::new();
    while let Some(id) = rest.pop() {
        if all.insert(id) {
            let needs =
                |one: &&'a Value| list(&one["dep_kinds"]).iter().any(|it| it["kind"].is_null());
            let needed = list(&nodes[id]["deps"]).iter().filter(needs);
            rest.extend(needed.filter_map(|one| one["pkg"].as_str()));
        }
    }
    let others = all.iter().map(|id| packages[id]).filter(|one| !one["source"].is_null());
    let text = |value: &'a Value| value.as_str().unwrap_or_default();
    let one = |one: &'a Value| {
        let name = format!("{} {}", text(&one["name"]), text(&one["version"]));
        let folder = Path::new(text(&one["manifest_path"])).parent().unwrap_or(Path::new("."));
        (name, text(&one["license"]), folder)
    };
    Ok(others.map(one).collect())
}

/// Returns a list of crates with their licences, and each text once, with the crates that have it.
fn text(crates: &[Crate<'_>]) -> Result<String> {
    let mut all = String::from("Coalesce is linked with these crates, under these licences:\n\n");
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, licence, folder) in crates {
        all += &format!("{name}: {licence}\n");
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?;
        let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files.iter().filter(|file| file.is_file()) {
            let title = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if NAMES.iter().any(|begin| title.starts_with(begin)) {
                let bytes = std::fs::read(file)
                    .with_context(|| format!("cannot read {}", file.display()))?;
                let text = String::from_utf8_lossy(&bytes).trim().replace("\r\n", "\n");
                texts.entry(text).or_default().push(name);
            }
        }
    }
    for (text, mut names) in texts {
        names.dedup();
        all += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(78), names.join(", "));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_is_linked_with_is_listed_with_its_texts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = |name: &str| folder.path().join(name);
        for name in ["one", "two"] {
            std::fs::create_dir(place(name)).expect("a new folder");
            std::fs::write(place(name).join("LICENSE-MIT"), "the text\r\n").expect("writable");
        }
        let package = |name: &str, source: Value| {
            serde_json::json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": source,
                "manifest_path": place(name).join("Cargo.toml")})
        };
        let needs = |name: &str, kind: Value| serde_json::json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = serde_json::json!({
            "packages": [package("host", Value::Null), package("one", "registry".into()),
                package("two", "registry".into()), package("test", "registry".into())],
            "resolve": {"nodes": [
                {"id": "host", "deps": [needs("one", Value::Null), needs("test", "dev".into())]},
                {"id": "one", "deps": [needs("two", Value::Null)]},
                {"id": "two", "deps": []}]},
        });
        let crates = linked(&metadata, "host").expect("it is there");
        let text = text(&crates).expect("they can be read");
        assert!(text.contains("one 1.0.0: MIT\ntwo 1.0.0: MIT\n"), "{text}");
        assert!(text.contains("\none 1.0.0, two 1.0.0\n\nthe text\n"), "{text}");
        assert_eq!(text.matches("the text").count(), 1);
        assert!(linked(&metadata, "none").is_err());
    }
}
