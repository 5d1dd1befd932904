//! A verdict as text of 80 columns.

use crate::bounds::number;
use crate::grade::Verdict;
use crate::task::Task;
use std::fmt::Write;

/// The width of a terminal.
const WIDTH: usize = 80;
/// Where text begins behind a label.
const LABEL: usize = 14;

/// The heading of a task.
pub fn heading(task: &Task, place: usize, of: usize) -> String {
    let name = format!("{} / {}", task.lesson, task.id);
    let place = format!("{place} of {of}");
    let space = WIDTH.saturating_sub(name.len() + place.len()).max(1);
    format!("{name}{}{place}\n", " ".repeat(space))
}

/// A verdict.
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
        return text;
    }
    for one in &verdict.counts {
        let (name, value) = (one.bound.count.name(), number(one.value));
        let line = format!("{value} {name} ({}): ok", one.limits.show());
        text.push_str(&labelled("counts", &line));
    }
    for remark in &verdict.remarks {
        text.push_str(&labelled("remark", remark));
    }
    let _ = writeln!(text, "{} passes.", task.id);
    text
}

/// A text behind a label, wrapped.
pub fn labelled(label: &str, text: &str) -> String {
    let mut out = String::new();
    let mut line = format!("  {label:<width$}", width = LABEL - 2);
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(LABEL);
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
