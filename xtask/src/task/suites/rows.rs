use crate::workspace;
use anyhow::{Context, Result};
use cuda_builder::write_whole;
use std::fmt;
use std::path::PathBuf;

/// A label of a code with an input, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub code: String,
    pub input: String,
    pub label: String,
    pub verdict: Verdict,
    pub kinds: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The labelled bug was reported.
    Found,
    /// No two threads conflict with this input, or no access leaves its array: there is nothing to report.
    NotExercised,
    Missed,
    /// A correct code, and nothing was reported.
    Silent,
    Accused,
    /// The executor or the compiler refuses it.
    NotRun,
}

pub const VERDICTS: [Verdict; 6] = [
    Verdict::Found,
    Verdict::NotExercised,
    Verdict::Missed,
    Verdict::Silent,
    Verdict::Accused,
    Verdict::NotRun,
];

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Found => "found",
            Verdict::NotExercised => "not exercised",
            Verdict::Missed => "missed",
            Verdict::Silent => "silent",
            Verdict::Accused => "accused",
            Verdict::NotRun => "not run",
        })
    }
}

/// The label of a stated cost.
pub const COST: &str = "cost";

/// The facts of a run of a suite.
pub struct Rows {
    pub facts: Vec<(String, String)>,
    pub rows: Vec<Row>,
}

const HEAD: &str = "code,input,label,verdict,kinds\n";

fn file(suite: &str) -> PathBuf {
    workspace::root().join("results/suites").join(suite).with_extension("csv")
}

/// Rows as lines.
pub fn text(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let Row { code, input, label, verdict, kinds } = row;
        format!("{code},{input},{label},{verdict},{kinds}\n")
    };
    rows.iter().map(line).collect()
}

/// Writes a suite's file: facts as comments, then the rows.
pub fn write(suite: &str, facts: &[(&str, String)], rows: &[Row]) -> Result<()> {
    let facts = facts.iter().map(|(name, value)| format!("# {name}: {value}\n"));
    let all = facts.collect::<String>() + HEAD + &text(rows);
    let file = file(suite);
    std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
    Ok(write_whole(&file, all.as_bytes())?)
}

/// Reads a suite's file, if it was ever run.
pub fn read(suite: &str) -> Result<Option<Rows>> {
    let file = file(suite);
    if !file.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&file)?;
    parse(&text).with_context(|| format!("{} is not as written", file.display())).map(Some)
}

fn parse(text: &str) -> Result<Rows> {
    let comments = text.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(": "));
    let facts = comments.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let row = |line: &str| -> Result<Row> {
        let mut cells = line.splitn(5, ',').map(str::to_owned);
        let mut cell = || cells.next().with_context(|| format!("a cell lacks in `{line}`"));
        let (code, input, label, verdict) = (cell()?, cell()?, cell()?, cell()?);
        let verdict = VERDICTS.into_iter().find(|it| it.to_string() == verdict);
        let verdict = verdict.with_context(|| format!("no verdict in `{line}`"))?;
        Ok(Row { code, input, label, verdict, kinds: cell()? })
    };
    Ok(Rows { facts, rows: lines.map(row).collect::<Result<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let row = |verdict, kinds: &str| Row {
            code: "a_raceBug".to_owned(),
            input: "small".to_owned(),
            label: "race".to_owned(),
            verdict,
            kinds: kinds.to_owned(),
        };
        let rows: Vec<Row> = VERDICTS.map(|verdict| row(verdict, "GlobalRace 3/3 Trap 1/3")).into();
        let known = parse(&format!("# date: today\n{HEAD}{}", text(&rows))).expect("rows");
        assert_eq!(known.rows, rows);
        assert_eq!(known.facts, [("date".to_owned(), "today".to_owned())]);
        assert!(parse("code\na,b,c,maybe,d\n").is_err());
    }
}
