//! The format of a task's file: the author writes the solved file, and what a learner is given is made from it.
//!
//! ```text
//! // learn: your code
//! the solution, which the learner does not see
//! // learn: instead
//! //| what the learner finds in its place
//! // learn: end
//! ```

use anyhow::{Result, bail};

const SOLUTION: &str = "// learn: your code";
const INSTEAD: &str = "// learn: instead";
const END: &str = "// learn: end";

/// Which of its two files a text becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Both,
    Solution,
    Instead,
}

/// What a learner is given.
///
/// # Errors
/// When the regions are not well-formed; the line is named.
pub fn shipped(solved: &str) -> Result<String> {
    derive(solved, Part::Instead)
}

/// The solution without the marks of the regions.
///
/// # Errors
/// As for [`shipped`].
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
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.flat_map(|line| [line.strip_prefix(' ').unwrap_or(line), "\n"]).collect()
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
