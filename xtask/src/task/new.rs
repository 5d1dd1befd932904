//! `cargo xtask new GROUP/PATTERN`: two files and three lines, or nothing at all.

use crate::workspace;
use anyhow::{Context, Result, bail};
use cuda_builder::write_whole;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The group, which is a folder of kernels/src, and the pattern, a noun for the phenomenon: shared/bank_conflicts.
    #[arg(value_name = "GROUP/PATTERN")]
    pattern: String,
}

const DEVICE: &str = include_str!("new/device.rs.template");
const HOST: &str = include_str!("new/host.rs.template");

/// Names that no module may have, in any edition.
const KEYWORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Modules of the kernels that are neither patterns nor groups.
const NO_GROUPS: [&str; 1] = ["measurement"];

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = workspace::root();
    let changes = plan(&root, &arguments.pattern)?;
    apply(&changes, || {
        // Where lines break depends on the pattern's name.
        workspace::succeed(&mut workspace::cargo("fmt -p kernels -p host"))
    })?;
    for change in &changes {
        let path = change.path.strip_prefix(&root).unwrap_or(&change.path);
        let done = if change.before.is_some() { "added a line to" } else { "wrote" };
        println!("{done} {}", path.display());
    }
    println!("{}", next_steps(&arguments.pattern));
    Ok(ExitCode::SUCCESS)
}

/// Returns what a person does with the files.
fn next_steps(place: &str) -> String {
    let name = place.rsplit('/').next().unwrap_or(place);
    format!(
        "
It runs as it is: a copy, and its own reference. `cargo xtask verify {name}` checks it, `cargo xtask watch {name}` on every save. Next:
  1. kernels/src/{place}.rs: write the doc (its parts are there; docs/style.md says how) and a kernel per variant
  2. host/src/patterns/{place}.rs: inputs, CPU reference, and for each variant its launch and the traffic it should cause
  3. host/src/patterns/mod.rs: move its line in ALL to its place in the teaching order
  4. cargo xtask bless: writes what its kernels consist of and move to kernels/snapshots, to be read and committed
  5. cargo xtask test"
    )
}

/// A file, and what is to become of it.
struct Change {
    path: PathBuf,
    /// `None` where there is no file yet.
    before: Option<String>,
    after: String,
}

/// All that a new pattern changes below `root`; nothing is written.
fn plan(root: &Path, place: &str) -> Result<Vec<Change>> {
    let modules = root.join("kernels/src/lib.rs");
    let registry = root.join("host/src/patterns/mod.rs");
    let (modules_text, registry_text) = (read(&modules)?, read(&registry)?);
    let groups: Vec<&str> =
        declared(&modules_text, "pub mod ").filter(|name| !NO_GROUPS.contains(name)).collect();
    let Some((group, pattern)) = place.split_once('/') else {
        bail!("`{place}` names no group: write GROUP/PATTERN; groups are {}", groups.join(", "));
    };
    if !groups.contains(&group) || !declared(&registry_text, "mod ").any(|name| name == group) {
        bail!("there is no group `{group}`; groups are {}", groups.join(", "));
    }
    check_name(pattern)?;
    if groups.contains(&pattern) || NO_GROUPS.contains(&pattern) {
        bail!("`{pattern}` is the name of a module already: choose another name");
    }
    let device_folder = root.join("kernels/src");
    let host_folder = root.join("host/src/patterns");
    for folder in [&device_folder, &host_folder] {
        for group in &groups {
            let file = folder.join(group).join(pattern).with_extension("rs");
            if file.exists() {
                bail!("{} exists already: choose another name", file.display());
            }
        }
    }
    let title = pattern.replace('_', " ");
    let fill = |template: &str| {
        template.replace("{pattern}", pattern).replace("{group}", group).replace("{title}", &title)
    };
    let mut changes = Vec::new();
    for (folder, template) in [(&device_folder, DEVICE), (&host_folder, HOST)] {
        let path = folder.join(place).with_extension("rs");
        changes.push(Change { path, before: None, after: fill(template) });
        let path = folder.join(group).join("mod.rs");
        let before = read(&path)?;
        let after = insert_sorted(&before, "pub mod ", &format!("pub mod {pattern};"));
        changes.push(Change { path, before: Some(before), after });
    }
    let line = format!("    &{group}::{pattern}::PATTERN,");
    let after = append(&registry_text, "    &", &line)
        .with_context(|| format!("{} has no list of patterns", registry.display()))?;
    changes.push(Change { path: registry, before: Some(registry_text), after });
    Ok(changes)
}

fn check_name(pattern: &str) -> Result<()> {
    let well_formed = pattern.starts_with(|c: char| c.is_ascii_lowercase())
        && pattern.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !well_formed {
        bail!(
            "`{pattern}` cannot name a pattern: use lower-case letters, digits and underscores, such as my_pattern"
        );
    }
    if KEYWORDS.contains(&pattern) {
        bail!("`{pattern}` cannot name a pattern: it is a keyword of Rust");
    }
    Ok(())
}

/// Writes all changes and does what follows; what fails leaves every file as it was.
fn apply(changes: &[Change], then: impl FnOnce() -> Result<()>) -> Result<()> {
    let write = || {
        for Change { path, after, .. } in changes {
            write_whole(path, after.as_bytes())?;
        }
        then()
    };
    let Err(error) = write() else { return Ok(()) };
    for Change { path, before, .. } in changes {
        let restored = match before {
            Some(text) => std::fs::write(path, text),
            None if path.is_file() => std::fs::remove_file(path),
            None => Ok(()),
        };
        if let Err(failed) = restored {
            eprintln!("{} is not as it was: {failed}; `git status` shows it", path.display());
        }
    }
    Err(error.context("nothing was changed"))
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The modules that a file declares by lines such as `mod name;`.
fn declared<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.strip_prefix(prefix)?.strip_suffix(';'))
}

/// `text` with `line` in its sorted place among the lines that start with `prefix`, or at its end.
fn insert_sorted(text: &str, prefix: &str, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let like = |found: &&str| found.starts_with(prefix);
    match lines.iter().rposition(like) {
        Some(last) => {
            let after = lines.iter().position(|found| like(found) && **found > *line);
            lines.insert(after.unwrap_or(last + 1), line);
        }
        None => lines.extend(["", line]),
    }
    lines.join("\n") + "\n"
}

/// `text` with `line` after the last line that starts with `prefix`.
fn append(text: &str, prefix: &str, line: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|found| found.starts_with(prefix))?;
    lines.insert(last + 1, line);
    Some(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A workspace with two groups and one pattern.
    fn workspace() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in [
            ("kernels/src/lib.rs", "pub mod execution;\npub mod shared;\n\npub mod measurement;\n"),
            ("kernels/src/shared/mod.rs", "//! Shared memory.\n\npub mod transpose;\n"),
            ("kernels/src/shared/transpose.rs", "//! Its kernels.\n"),
            ("kernels/src/execution/mod.rs", "//! Execution.\n"),
            (
                "host/src/patterns/mod.rs",
                "mod execution;\nmod shared;\n\n    &shared::transpose::PATTERN,\n];\n",
            ),
            ("host/src/patterns/shared/mod.rs", "//! Shared memory.\n\npub mod transpose;\n"),
            ("host/src/patterns/shared/transpose.rs", "//! Its host half.\n"),
            ("host/src/patterns/execution/mod.rs", "//! Execution.\n"),
        ] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
            std::fs::write(path, text).expect("a writable folder");
        }
        folder
    }

    /// Every file below a folder with its text.
    fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(folder).expect("it is there").flatten() {
            if entry.path().is_dir() {
                found.extend(files(&entry.path()));
            } else {
                found.insert(entry.path(), read(&entry.path()).expect("it is text"));
            }
        }
        found
    }

    #[test]
    fn a_pattern_is_two_files_and_three_lines() {
        let folder = workspace();
        let root = folder.path();
        let changes = plan(root, "shared/swizzle").expect("a good name");
        apply(&changes, || Ok(())).expect("a writable folder");
        let text = |path: &str| read(&root.join(path)).expect("it was written");
        assert!(text("kernels/src/shared/swizzle.rs").contains("fn swizzle_naive("));
        assert!(text("host/src/patterns/shared/swizzle.rs").contains("kernels::shared::swizzle"));
        let modules = "//! Shared memory.\n\npub mod swizzle;\npub mod transpose;\n";
        assert_eq!(text("kernels/src/shared/mod.rs"), modules);
        assert_eq!(text("host/src/patterns/shared/mod.rs"), modules);
        let list = "    &shared::transpose::PATTERN,\n    &shared::swizzle::PATTERN,\n];\n";
        assert!(text("host/src/patterns/mod.rs").ends_with(list));
        // The first of a group.
        apply(&plan(root, "execution/occupancy").expect("a good name"), || Ok(())).expect("good");
        assert_eq!(text("kernels/src/execution/mod.rs"), "//! Execution.\n\npub mod occupancy;\n");
    }

    #[test]
    fn a_name_that_cannot_be_is_refused_before_anything_is_written() {
        let folder = workspace();
        let before = files(folder.path());
        for (name, reason) in [
            ("swizzle", "names no group"),
            ("registers/swizzle", "there is no group `registers`; groups are execution, shared"),
            ("measurement/swizzle", "there is no group"),
            ("shared/", "cannot name a pattern"),
            ("shared/Upper", "cannot name a pattern"),
            ("shared/with-dash", "cannot name a pattern"),
            ("shared/7up", "cannot name a pattern"),
            ("shared/a/b", "cannot name a pattern"),
            ("shared/..", "cannot name a pattern"),
            ("shared/self", "a keyword of Rust"),
            ("shared/fn", "a keyword of Rust"),
            ("shared/gen", "a keyword of Rust"),
            ("shared/measurement", "the name of a module"),
            ("shared/execution", "the name of a module"),
            ("shared/transpose", "exists already"),
            ("execution/transpose", "exists already"),
        ] {
            let Err(error) = plan(folder.path(), name) else { panic!("{name} was taken") };
            assert!(error.to_string().contains(reason), "{name}: {error}");
        }
        assert_eq!(files(folder.path()), before);
    }

    #[test]
    fn a_step_that_fails_leaves_every_file_as_it_was() {
        let folder = workspace();
        let before = files(folder.path());
        let changes = plan(folder.path(), "shared/swizzle").expect("a good name");
        let error = apply(&changes, || bail!("no formatter")).expect_err("the last step fails");
        assert_eq!(format!("{error:#}"), "nothing was changed: no formatter");
        assert_eq!(files(folder.path()), before);
        // Each of the files in turn cannot be written, because its place is a folder.
        for broken in 0..changes.len() {
            let mut changes = plan(folder.path(), "shared/swizzle").expect("a good name");
            changes[broken].path = folder.path().join("kernels");
            changes[broken].before = None;
            apply(&changes, || Ok(())).expect_err("a folder is no file");
            assert_eq!(files(folder.path()), before);
        }
    }

    #[test]
    fn the_groups_of_this_checkout_are_known() {
        let root = workspace::root();
        assert!(plan(&root, "global/some_new_pattern").is_ok());
        let Err(error) = plan(&root, "shared/coalescing") else { panic!("it exists") };
        assert!(error.to_string().contains("exists already"), "{error}");
    }

    #[test]
    fn the_next_steps_name_the_files_and_commands() {
        let text = next_steps("shared/swizzle");
        for part in [
            "kernels/src/shared/swizzle.rs",
            "host/src/patterns/shared/swizzle.rs",
            "`cargo xtask verify swizzle`",
            "`cargo xtask watch swizzle`",
            "cargo xtask bless",
            "cargo xtask test",
        ] {
            assert!(text.contains(part), "{part}");
        }
    }
}
