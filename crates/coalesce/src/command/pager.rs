//! Long text, page by page where standard output is a terminal.

use crate::os::{self, PipeIgnored};
use std::io::{IsTerminal, Write, stdout};
use std::process::{Command, Stdio};

/// Shows a text in the program that `PAGER` names, or in `less`. It is printed where that cannot be started, where no
/// terminal is, or where `PAGER` is empty.
pub fn show(text: &str, is_wanted: bool) {
    let is_paged = is_wanted
        && stdout().is_terminal()
        && match std::env::var("PAGER") {
            Ok(named) if named.trim().is_empty() => false,
            // As a shell takes it, which knows arguments.
            Ok(named) => paged(text, &mut os::shell(&named)),
            Err(_) => paged(text, &mut Command::new("less")),
        };
    if !is_paged {
        print!("{text}");
    }
}

/// Returns whether the pager showed the text. A reader who leaves early has seen what they wanted.
fn paged(text: &str, pager: &mut Command) -> bool {
    pager.stdin(Stdio::piped());
    // Of less: text that fits is printed, and what was read stays on the screen.
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", "FRX");
    }
    let _ignored = PipeIgnored::new();
    let Ok(mut child) = pager.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(text.as_bytes());
    }
    // A shell that finds no such program ends with 127, one that may not start it with 126.
    child.wait().is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pager_that_is_not_there_or_ends_early_is_no_error() {
        let shell = |line: &str, lines: usize| paged(&"text\n".repeat(lines), &mut os::shell(line));
        assert!(!paged("text\n", &mut Command::new("/none/pager")));
        assert!(!shell("/none/pager 2> /dev/null", 1));
        assert!(shell("true", 100_000));
        assert!(shell("head -n 1 > /dev/null", 100_000));
    }
}
