//! The format of a task's file: the author writes the solved file, and what a learner is given is made from it.
//!
//! ```text
//! // learn: your code
//! the solution, which the learner does not see
//! // learn: instead
//! //| what the learner finds in its place
//! // learn: end
//! ```
//!
//! A count in the text on top has what it is behind it, `32{given sectors per store}`; a proof compares the two, and
//! nobody but the author sees it.

use anyhow::{Result, bail};

const SOLUTION: &str = "// learn: your code";
const INSTEAD: &str = "// learn: instead";
const END: &str = "// learn: end";

/// Mark at the beginning of a line of the text on top.
const TEXT: &str = "//!";

/// One of the two files that a text becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Both,
    Solution,
    Instead,
}

/// Returns what a learner is given.
pub fn shipped(solved: &str) -> Result<String> {
    derive(solved, Part::Instead)
}

/// The solution without the marks of the regions.
pub fn solution(solved: &str) -> Result<String> {
    derive(solved, Part::Solution)
}

fn derive(solved: &str, wanted: Part) -> Result<String> {
    let mut part = Part::Both;
    let mut text = String::new();
    for (index, line) in solved.lines().enumerate() {
        let next = match (line.trim(), part) {
            (SOLUTION, Part::Both) => Some(Part::Solution),
            (INSTEAD, Part::Solution) => Some(Part::Instead),
            (END, Part::Instead) => Some(Part::Both),
            (SOLUTION | INSTEAD | END, _) => {
                bail!(
                    "line {}: the marks of a region are `your code`, `instead`, `end`, in this order",
                    index + 1
                )
            }
            _ => None,
        };
        if let Some(next) = next {
            part = next;
            continue;
        }
        let line = match part {
            Part::Instead => {
                let indent = &line[..line.len() - line.trim_start().len()];
                let Some(rest) = line.trim_start().strip_prefix("//|") else {
                    bail!(
                        "line {}: what stands instead of the solution begins with `//|`",
                        index + 1
                    )
                };
                format!("{indent}{}", rest.strip_prefix(' ').unwrap_or(rest))
            }
            _ => line.to_owned(),
        };
        if part == Part::Both || part == wanted {
            let line = if line.starts_with(TEXT) { without_directives(&line) } else { line };
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    if part != Part::Both {
        bail!("the last region has no `{END}`");
    }
    Ok(text)
}

/// The task as the text on top of a file tells it.
pub fn doc(source: &str) -> String {
    without_directives(&written(source))
}

/// The text on top of a solved file, with its directives.
pub fn written(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix(TEXT));
    lines.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
}

fn without_directives(text: &str) -> String {
    pieces(text).into_iter().map(|(text, _)| text).collect()
}

/// A text cut behind its directives: what stands before each, and the directive, which follows a number or a word at
/// once; behind the last there is none.
pub fn pieces(text: &str) -> Vec<(&str, Option<&str>)> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    let begin = |text: &str| {
        let mut all = text.match_indices('{').map(|(at, _)| at);
        all.find(|at| text[..*at].ends_with(char::is_alphanumeric))
    };
    while let Some((before, inside)) = begin(rest).map(|at| (&rest[..at], &rest[at + 1..]))
        && let Some((directive, behind)) = inside.split_once('}')
    {
        pieces.push((before, Some(directive)));
        rest = behind;
    }
    pieces.push((rest, None));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLVED: &str = "fn f() {\n    // learn: your code\n    good();\n    // learn: instead\n    //| // Something better\n    //| bad();\n    // learn: end\n}\n";

    #[test]
    fn two_files_come_of_one() {
        assert_eq!(shipped(SOLVED).unwrap(), "fn f() {\n    // Something better\n    bad();\n}\n");
        assert_eq!(solution(SOLVED).unwrap(), "fn f() {\n    good();\n}\n");
    }

    #[test]
    fn a_directive_is_the_authors() {
        let solved =
            "//! # T\n//! 4{given sectors per load} sectors, 2{x} `a::{b}`.\nfn f() { 3 }\n";
        assert_eq!(doc(solved), "# T\n4 sectors, 2 `a::{b}`.\n");
        assert_eq!(shipped(solved).unwrap(), "//! # T\n//! 4 sectors, 2 `a::{b}`.\nfn f() { 3 }\n");
    }

    #[test]
    fn a_region_that_is_not_well_formed_is_refused_with_its_line() {
        for (from, to, why) in [
            ("    // learn: end\n", "", "line 7"),
            ("    // learn: instead\n", "", "line 6"),
            ("//| bad", "bad", "line 6: what stands instead"),
        ] {
            let error = shipped(&SOLVED.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
