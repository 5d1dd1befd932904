use super::Suite;
use super::rows::{self, COST, Row, Rows, VERDICTS, Verdict};
use crate::workspace;
use anyhow::Result;
use cuda_builder::write_whole;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const ABOUT: &str = "# Public suites of CUDA bugs, scored\n\n\
Each code of a suite is compiled to PTX and run on the virtual GPU with every check, by three schedules: blocks and warps\n\
ascending, descending, and permuted by a seed. A labelled bug is *found* when a schedule reports a finding of its kind, and a\n\
correct code is *accused* when any schedule reports anything. A label is *not exercised* by an input when no two threads touch\n\
a byte of global memory that one of them writes, or when no access leaves its array. That is counted from the addresses alone,\n\
without the checks. A stated cost is found when the counted one is equal. The rows are in [suites](suites); `cargo xtask suites CHECKOUT..` writes them and this page.\n";

pub fn write(suites: &[Suite]) -> Result<()> {
    let mut text = ABOUT.to_owned();
    for suite in suites {
        if let Some(known) = rows::read(suite.name)? {
            text += &section(suite, &known);
        }
        if let Some(known) = rows::read(&format!("{}-by-compute-sanitizer", suite.name))? {
            let (facts, summary) = (facts(&known), summary(suite, &known.rows));
            let _ = writeln!(
                text,
                "\nThe same codes on a GPU under NVIDIA's tool: {facts}.\n\n{summary}."
            );
        }
    }
    let file = workspace::root().join("results/suites.md");
    Ok(write_whole(&file, text.as_bytes())?)
}

/// The facts of a run in a line.
fn facts(known: &Rows) -> String {
    let facts = known.facts.iter().map(|(name, value)| format!("{name} {value}"));
    facts.collect::<Vec<_>>().join(", ")
}

fn section(suite: &Suite, known: &Rows) -> String {
    let mut text = format!(
        "\n## {}\n\n[{repository}](https://github.com/{repository}): {}.\n\n{}.\n\n",
        suite.title,
        facts(known),
        summary(suite, &known.rows),
        repository = suite.repository,
    );
    text += "| input | label | codes | found | not exercised | missed | silent | accused | not run |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    let mut groups: BTreeMap<(&str, &str), BTreeMap<Verdict, usize>> = BTreeMap::new();
    for row in &known.rows {
        let group = groups.entry((&row.input, &row.label)).or_default();
        *group.entry(row.verdict).or_default() += 1;
    }
    for ((input, label), counts) in &groups {
        let count = |verdict| counts.get(&verdict).map_or(String::new(), usize::to_string);
        let all: usize = counts.values().sum();
        let cells = VERDICTS.map(count).join(" | ");
        let _ = writeln!(text, "| {input} | {label} | {all} | {cells} |");
    }
    if !suite.published.is_empty() {
        text += "\n| published | what |\n|---|---|\n";
    }
    for (who, what) in suite.published {
        let _ = writeln!(text, "| {who} | {what} |");
    }
    let wrong: Vec<&Row> = known.rows.iter().filter(|row| is_wrong(row)).collect();
    if !wrong.is_empty() {
        text += "\n| code | input | label | verdict | reported | argument |\n|---|---|---|---|---|---|\n";
    }
    for row in wrong {
        let Row { code, input, label, verdict, kinds } = row;
        let argument = argument(suite, code).unwrap_or("");
        let _ =
            writeln!(text, "| `{code}` | {input} | {label} | {verdict} | {kinds} | {argument} |");
    }
    let mut refused: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in known.rows.iter().filter(|row| row.verdict == Verdict::NotRun) {
        let why = row
            .kinds
            .split_once("; column")
            .map_or(&*row.kinds, |(_, why)| why.split_once(": ").map_or(why, |(_, why)| why));
        refused.entry(why).or_default().insert(&row.code);
    }
    if !refused.is_empty() {
        text += "\n| why codes are not run | codes |\n|---|---|\n";
    }
    for (why, codes) in refused {
        let some: Vec<&str> = codes.iter().take(5).copied().collect();
        let more = if codes.len() > some.len() { ", .." } else { "" };
        let _ = writeln!(text, "| {why} | {}: {}{more} |", codes.len(), some.join(", "));
    }
    text
}

fn is_wrong(row: &Row) -> bool {
    matches!(row.verdict, Verdict::Missed | Verdict::Accused)
}

/// Why the label of a code does not hold.
fn argument(suite: &Suite, code: &str) -> Option<&'static str> {
    suite.disputed.iter().find(|(name, _)| is_like(name, code)).map(|(_, why)| *why)
}

/// Returns whether a name is that of a pattern, in which a star stands for any text.
fn is_like(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(start) else { return false };
    name.char_indices().any(|(at, _)| is_like(rest, &name[at..])) || is_like(rest, "")
}

/// The codes with a bug of which one was found, and the correct ones that were accused, in a line.
pub fn summary(suite: &Suite, rows: &[Row]) -> String {
    let inputs: BTreeSet<&str> = rows.iter().map(|row| &*row.input).collect();
    let each = inputs.into_iter().map(|input| {
        let rows = || rows.iter().filter(move |row| row.input == input);
        let names = |which: &dyn Fn(&Row) -> bool| -> BTreeSet<&str> {
            rows().filter(|row| which(row)).map(|row| &*row.code).collect()
        };
        let buggy = names(&|row| row.label != "none" && row.verdict != Verdict::NotRun);
        let found = names(&|row| row.verdict == Verdict::Found);
        let bug = if rows().any(|row| row.label == COST) { "a stated cost" } else { "a bug" };
        let missed = names(&|row| row.verdict == Verdict::Missed);
        let correct = names(&|row| row.label == "none" && row.verdict != Verdict::NotRun);
        let accused = names(&|row| row.verdict == Verdict::Accused);
        let disputed = |names: &BTreeSet<&str>| {
            let count = names.iter().filter(|name| argument(suite, name).is_some()).count();
            if count == 0 { String::new() } else { format!(" ({count} disputed)") }
        };
        let input = if input.is_empty() { String::new() } else { format!("{input}: ") };
        format!(
            "{input}{} of {} codes with {bug} found, {} missed{}; {} of {} correct codes accused{}",
            found.len(),
            buggy.len(),
            missed.len(),
            disputed(&missed),
            accused.len(),
            correct.len(),
            disputed(&accused),
        )
    });
    each.collect::<Vec<_>>().join(".\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::suites::indigo;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, is) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("a*", "a", true),
            ("a*_c_*", "ab_c_d", true),
            ("a*_c_*", "abc_d", false),
            ("a*d", "abcd", true),
            ("a*d", "abcde", false),
        ] {
            assert_eq!(is_like(pattern, name), is, "{pattern} {name}");
        }
    }

    #[test]
    fn a_summary_counts_codes_and_says_which_are_argued() {
        let row = |code: &str, label: &str, verdict| Row {
            code: code.to_owned(),
            input: "g".to_owned(),
            label: label.to_owned(),
            verdict,
            kinds: String::new(),
        };
        let suite = Suite { disputed: &[("d*", "why")], ..indigo::SUITE };
        let rows = [
            // Two labels of one code, of which one is found.
            row("a", "race", Verdict::Found),
            row("a", "bounds", Verdict::Missed),
            row("b", "race", Verdict::NotRun),
            row("c", "none", Verdict::Silent),
            row("d1", "none", Verdict::Accused),
        ];
        assert_eq!(
            summary(&suite, &rows),
            "g: 1 of 1 codes with a bug found, 1 missed; 1 of 2 correct codes accused (1 disputed)"
        );
    }
}
