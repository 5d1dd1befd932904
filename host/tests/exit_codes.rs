//! Exit codes: the page, the manual, and each one from a real command.

use crate::fleet::boards;
use crate::foreign_programs::{PTX, compiled, sleeping};
use crate::program::*;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// The rows of the page: code and meaning.
fn rows() -> Vec<(&'static str, &'static str)> {
    let page = include_str!("../../docs/exit_codes.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.filter_map(|row| row.split_once(" | ")).filter(|(code, _)| *code != "code").collect()
}

/// The manual and the page have one table.
#[test]
fn exit_codes_are_those_of_their_page() {
    let rows = rows().into_iter().map(|(code, meaning)| format!("  {code:8} {meaning}"));
    let rows: Vec<String> = rows.collect();
    let described = coalesce::description(host::CATALOGUE.name);
    let manual = described.get_after_help().expect("the manual has them").to_string();
    let shown = manual.split("Exit codes:\n").nth(1).expect("they have a heading");
    let shown: Vec<&str> = shown.lines().collect();
    assert_eq!(shown, rows);
}

/// Each row of the page is the end of a command, and no other row is there.
#[test]
fn each_exit_code_is_that_of_a_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = boards(folder.path(), 4, None);
    let fleet = |more: &[&str]| {
        let mut program = program(&["compare", "--fleet"]);
        program.args(&files).args(more);
        program
    };
    let damaged = folder.path().join("damaged.json").display().to_string();
    fs::write(&damaged, "{").expect("a writable folder");
    let interrupted = folder.path().join("node9-gpu0.json");
    let mut board = results::Results::load(files[0].as_ref(), &[]).expect("it was written");
    board.interrupted = true;
    board.save(&interrupted).expect("a writable folder");
    let interrupted = interrupted.display().to_string();
    let expected = folder.path().join("nodes.txt").display().to_string();
    fs::write(&expected, "node17\n").expect("a writable folder");
    let race = compiled().1.display().to_string();
    let cases: [(&str, i32, Command); 10] = [
        ("0", 0, program(&["list"])),
        ("1", 1, program(&["results", "/nonexistent.json"])),
        ("2", 2, program(&["verify", "no-such-pattern"])),
        ("3", 3, program(&["verify", "--device", "gpu"])),
        ("4", 4, program(&["run", "--check", "--", &race, PTX, "race"])),
        ("5", 5, program(&["run", "--", "true"])),
        ("6", 6, fleet(&[&interrupted])),
        ("7", 7, fleet(&["--expect", &expected])),
        ("8", 8, fleet(&[&damaged])),
        ("128 + N", 128 + 6, program(&["run", "--", &race, PTX, "killed"])),
    ];
    let mut seen = BTreeSet::from(["130"]);
    for (row, code, mut command) in cases {
        let output = command.output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{row}: {said}");
        seen.insert(row);
    }
    let (child, _) = sleeping(folder.path());
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(130));
    assert_eq!(seen, rows().into_iter().map(|(code, _)| code).collect());
}
