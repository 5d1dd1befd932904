//! `cargo xtask new PATTERN`: two files and three lines.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The pattern: a noun for the phenomenon, such as bank_conflicts.
    pattern: String,
}

const DEVICE: &str = include_str!("new/device.rs.template");
const HOST: &str = include_str!("new/host.rs.template");

pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    scaffold(&workspace::root(), &arguments.pattern)?;
    // Where lines break depends on the pattern's name.
    workspace::succeed(&mut workspace::cargo(&["fmt", "-p", "kernels", "-p", "coalesce"]))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes both files and registers the pattern below `root`.
fn scaffold(root: &Path, pattern: &str) -> Result<()> {
    let well_formed = pattern.starts_with(|c: char| c.is_ascii_lowercase())
        && pattern.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !well_formed {
        bail!(
            "`{pattern}` cannot name a pattern: use lower-case letters, digits and underscores, such as bank_conflicts"
        );
    }
    let device = root.join("kernels/src").join(pattern).with_extension("rs");
    let host = root.join("host/src/patterns").join(pattern).with_extension("rs");
    for file in [&device, &host] {
        if file.exists() {
            bail!("{} exists already: choose another name", file.display());
        }
    }
    let modules = root.join("kernels/src/lib.rs");
    let registry = root.join("host/src/patterns/mod.rs");
    // Everything is computed before anything is written.
    let modules_text = with_line(
        &modules,
        "pub mod ",
        &format!("pub mod {pattern};"),
        Some("pub mod measurement;"),
    )?;
    let registry_text = with_line(&registry, "mod ", &format!("mod {pattern};"), None)?;
    let registry_text = append(&registry_text, "    &", &format!("    &{pattern}::PATTERN,"))
        .with_context(|| format!("{} has no list of patterns", registry.display()))?;
    let title = pattern.replace('_', " ");
    let fill = |template: &str| template.replace("{pattern}", pattern).replace("{title}", &title);
    for (path, text) in [
        (&device, fill(DEVICE)),
        (&host, fill(HOST)),
        (&modules, modules_text),
        (&registry, registry_text),
    ] {
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {}", path.strip_prefix(root).unwrap_or(path).display());
    }
    Ok(())
}

/// The text of `path` with `line` in its sorted place among the lines that start with `prefix`.
fn with_line(path: &Path, prefix: &str, line: &str, except: Option<&str>) -> Result<String> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    insert_sorted(&text, prefix, line, except)
        .with_context(|| format!("{} declares no modules", path.display()))
}

fn insert_sorted(text: &str, prefix: &str, line: &str, except: Option<&str>) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let like = |found: &str| found.starts_with(prefix) && Some(found) != except;
    let last = lines.iter().rposition(|found| like(found))?;
    let at = lines.iter().position(|found| like(found) && *found > line).unwrap_or(last + 1);
    lines.insert(at, line);
    Some(lines.join("\n") + "\n")
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

    #[test]
    fn modules_are_sorted_and_the_registry_is_not() {
        let text = "pub mod a;\npub mod c;\n\npub mod measurement;\n";
        let except = Some("pub mod measurement;");
        assert_eq!(
            insert_sorted(text, "pub mod ", "pub mod b;", except).as_deref(),
            Some("pub mod a;\npub mod b;\npub mod c;\n\npub mod measurement;\n")
        );
        assert_eq!(
            insert_sorted(text, "pub mod ", "pub mod d;", except).as_deref(),
            Some("pub mod a;\npub mod c;\npub mod d;\n\npub mod measurement;\n")
        );
        assert_eq!(insert_sorted("nothing", "pub mod ", "pub mod c;", None), None);
        assert_eq!(
            append("    &c,\n];\n", "    &", "    &b,").as_deref(),
            Some("    &c,\n    &b,\n];\n")
        );
    }

    #[test]
    fn a_bad_or_taken_name_changes_nothing() {
        let root = workspace::root();
        for name in ["", "Upper", "with-dash", "7up"] {
            assert!(scaffold(&root, name).is_err(), "{name}");
        }
        let error = scaffold(&root, "transpose").expect_err("the pattern exists");
        assert!(error.to_string().contains("exists already"), "{error}");
    }
}
