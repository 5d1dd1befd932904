//! Text for a terminal, as wide as it is, and a verdict as such.

use crate::count::number;
use crate::os;
use crate::task::Task;
use crate::verdict::Verdict;
use std::fmt::Write;
use std::io::{IsTerminal, stdout};

/// The width of a terminal where nobody knows it, and the widest line that is read with ease.
const WIDTHS: (usize, usize) = (80, 100);
/// The narrowest terminal that text is wrapped for.
const MIN_WIDTH: usize = 40;
/// Column of the text behind a label.
const LABEL: usize = 14;

pub fn width() -> usize {
    let (usual, widest) = WIDTHS;
    let columns = os::terminal_columns().filter(|columns| *columns >= MIN_WIDTH);
    columns.map_or(usual, |columns| columns.min(widest))
}

/// Begins the screen anew, where the output is a terminal.
pub fn clear() -> &'static str {
    if stdout().is_terminal() { "\x1b[H\x1b[2J" } else { "" }
}

/// A word in a colour, where the output is a terminal and `NO_COLOR` is not set (<https://no-color.org>).
fn coloured(text: String) -> String {
    let is_set = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if is_set || !stdout().is_terminal() {
        return text;
    }
    text.replace("NOT YET", "\x1b[1;31mNOT YET\x1b[0m").replace(": ok\n", ": \x1b[32mok\x1b[0m\n")
}

/// A text in Markdown: paragraphs are wrapped, lists and headings keep their lines.
pub fn prose(text: &str) -> String {
    let mut out = String::new();
    for paragraph in text.trim_end().split("\n\n") {
        let mut item = String::new();
        for line in paragraph.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if is_item(line) && !item.is_empty() {
                out.push_str(&wrapped(&item));
                item.clear();
            }
            let space = if item.is_empty() { "" } else { " " };
            item = format!("{item}{space}{line}");
        }
        out.push_str(&wrapped(&item));
        out.push('\n');
    }
    out
}

/// Returns whether a line of Markdown begins something of its own.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with("- ") || line.len() > number.len() && number.starts_with(". ")
}

/// A paragraph; the lines of an item stand under its first word.
pub fn wrapped(text: &str) -> String {
    let indent = if is_item(text) { text.find(' ').map_or(0, |at| at + 1) } else { 0 };
    wrapped_behind(String::new(), indent, text)
}

/// A text behind the start of its first line, with the others indented.
fn wrapped_behind(start: String, indent: usize, text: &str) -> String {
    let (mut out, mut line, width) = (String::new(), start, width());
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

/// A text behind the start of its line, under which its other lines begin.
pub fn behind(start: String, text: &str) -> String {
    let indent = start.chars().count();
    wrapped_behind(start, indent, text)
}

pub fn heading(task: &Task, place: usize, of: usize) -> String {
    let name = format!("{} / {}", task.lesson, task.id());
    let place = format!("{place} of {of}");
    let space = width().saturating_sub(name.len() + place.len()).max(1);
    format!("{name}{}{place}\n", " ".repeat(space))
}

pub fn verdict(task: &Task, verdict: &Verdict) -> String {
    let mut text = String::new();
    for (stage, sentence) in &verdict.passed {
        text.push_str(&labelled(stage, &format!("{sentence}: ok")));
    }
    if let Some(failure) = &verdict.failure {
        text.push_str(&labelled(failure.stage, &format!("NOT YET: {}", failure.message)));
        if let Some((line, code)) = &failure.line {
            text.push_str(&labelled("", &format!("line {line}  `{code}`")));
        }
        for line in &failure.strip {
            text.push_str(&labelled("", line));
        }
        text.push_str(&labelled("next", &failure.next));
        return coloured(text);
    }
    for one in &verdict.counts {
        let (name, value) = (one.bound.count.name(), number(one.value));
        let line = format!("{value} {name} ({}): ok", one.limits.show());
        text.push_str(&labelled("counts", &line));
    }
    for remark in &verdict.remarks {
        text.push_str(&labelled("remark", remark));
    }
    let _ = writeln!(text, "{} passes.", task.id());
    coloured(text)
}

/// A text behind a label, wrapped.
pub fn labelled(label: &str, text: &str) -> String {
    wrapped_behind(format!("  {label:<width$}", width = LABEL - 2), LABEL, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_items_are_indented() {
        let words = "word ".repeat(40);
        let text = prose(&format!("# Heading\n\n{words}\n{words}\n\n1. {words}\n2. two\n"));
        assert!(text.lines().all(|line| line.len() <= 80 && !line.ends_with(' ')), "{text}");
        assert!(text.contains("\n   word") && text.contains("\n2. two"), "{text}");
        assert_eq!(text.matches("word").count(), 120);
    }
}
