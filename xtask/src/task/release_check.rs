use crate::proofs::{self, PROOFS, Record};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::{Command, ExitCode};

pub fn run() -> Result<ExitCode> {
    let root = workspace::root();
    let changelog = std::fs::read_to_string(root.join("CHANGELOG.md"))
        .context("cannot read CHANGELOG.md: run this in a checkout")?;
    let mut problems = stale(&root, &proofs::load(&root)?)?;
    problems.extend(without_entry(&changelog, env!("CARGO_PKG_VERSION")));
    problems.extend(uncommitted(&status(&root)?));
    if problems.is_empty() {
        println!("nothing keeps this checkout from being released: RELEASING.md says how");
        return Ok(ExitCode::SUCCESS);
    }
    for problem in &problems {
        println!("{problem}");
    }
    bail!("{} problem(s) keep this checkout from being released", problems.len());
}

/// Names each proof that does not hold for these sources.
fn stale(root: &Path, record: &Record) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for proof in PROOFS {
        if let Some(why) = proofs::staleness(root, record, proof)? {
            problems.push(format!(
                "the proof `{name}` is stale, because {why}: run `cargo xtask prove {name}`",
                name = proof.name
            ));
        }
    }
    Ok(problems)
}

/// Says that the changelog has no dated entry of the version.
fn without_entry(changelog: &str, version: &str) -> Option<String> {
    let heading = format!("## [{version}] - ");
    let dated = |line: &str| {
        line.strip_prefix(&heading)
            .is_some_and(|date| date.starts_with(|c: char| c.is_ascii_digit()))
    };
    (!changelog.lines().any(dated)).then(|| {
        format!(
            "CHANGELOG.md has no dated entry of version {version}: write the day behind its heading, as in `{heading}2026-11-26`"
        )
    })
}

/// Says how many files are not committed, of what `git status --porcelain` says.
fn uncommitted(status: &str) -> Option<String> {
    let files = status.lines().count();
    (files > 0).then(|| {
        format!("{files} file(s) are not committed: commit them, or take them away (`git status`)")
    })
}

fn status(root: &Path) -> Result<String> {
    let git = Command::new("git").args(["status", "--porcelain"]).current_dir(root).output();
    let git = git.context("cannot start git: install it")?;
    if !git.status.success() {
        bail!("{} is no checkout of git: release from one", root.display());
    }
    Ok(String::from_utf8_lossy(&git.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_said_with_its_cure() {
        let changelog = "## [0.3.0] - Unreleased\n\n## [0.2.0] - 2026-11-26\n";
        assert_eq!(without_entry(changelog, "0.2.0"), None);
        for version in ["0.3.0", "0.1.0"] {
            let said = without_entry(changelog, version).expect("it is not dated or not there");
            assert!(said.contains(version) && said.contains(": write "), "{said}");
        }
        assert_eq!(uncommitted(""), None);
        let said = uncommitted(" M README.md\n?? new\n").expect("there are two");
        assert!(said.starts_with("2 file(s)") && said.contains(": commit them"), "{said}");
        let said = stale(&workspace::root(), &Record::new()).expect("the inputs are here");
        assert_eq!(said.len(), PROOFS.len(), "without a record no proof holds");
        assert!(said[0].contains("it never ran") && said[0].contains("cargo xtask prove "));
    }
}
