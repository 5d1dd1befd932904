//! The arguments with which programs are small: a table, and the rule by which it grows.

use super::inputs::Inputs;
use super::sizes::{Sizes, is_repetition_name};
use crate::workspace;
use anyhow::{Context, Result};
use cuda_builder::write_whole;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The arguments and sizes by which a program is small.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Given {
    pub arguments: String,
    /// The virtual device that it needs, where that of `coalesce run` is not enough.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// New values of constants in its sources.
    pub sizes: Sizes,
    /// Its inputs that the suite keeps elsewhere.
    #[serde(skip_serializing_if = "Inputs::is_empty")]
    pub inputs: Inputs,
}

/// The programs of a suite that are too large with their own arguments, and what makes each small.
pub struct Table {
    suite: &'static str,
    given: BTreeMap<String, Given>,
}

impl Table {
    pub fn read(suite: &'static str) -> Result<Table> {
        let file = Table::file(suite);
        let given = match std::fs::read_to_string(&file) {
            Ok(text) => {
                toml::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        };
        Ok(Table { suite, given })
    }

    fn file(suite: &str) -> PathBuf {
        workspace::root().join("results/programs").join(suite).with_extension("toml")
    }

    pub fn given(&self, program: &str) -> Option<Given> {
        self.given.get(program).cloned()
    }

    /// Adds what the rule found.
    pub fn add(&mut self, program: &str, given: Given) -> Result<()> {
        self.given.insert(program.to_owned(), given);
        let text = toml::to_string_pretty(&self.given).context("a table of texts and numbers")?;
        let text = format!(
            "# Arguments, and new values of constants, for programs that are too large with their own.\n\
             # `cargo xtask programs` adds those that it derives.\n{text}"
        );
        Ok(write_whole(&Table::file(self.suite), text.as_bytes())?)
    }
}

/// By how much sizes are divided, one after the other.
const DIVISORS: [u64; 3] = [1, 16, 256];
/// Sizes are not made smaller than this.
const SMALLEST: u64 = 16;

/// A program's own arguments made smaller, the largest first: repetitions become 1, then sizes are divided.
pub fn smaller(own: &str, sources: &str) -> Vec<String> {
    let mut attempts: Vec<String> = Vec::new();
    for divisor in DIVISORS {
        let words = own.split_whitespace().enumerate().map(|(index, word)| {
            let Ok(number) = word.parse::<u64>() else { return word.to_owned() };
            if is_repetition(index + 1, sources) {
                return number.min(1).to_string();
            }
            (number / divisor).max(number.min(SMALLEST)).to_string()
        });
        let attempt = words.collect::<Vec<_>>().join(" ");
        if !attempts.contains(&attempt) {
            attempts.push(attempt);
        }
    }
    attempts
}

/// Returns whether an argument says how often something is repeated, by the name of its variable.
fn is_repetition(index: usize, sources: &str) -> bool {
    let place = format!("argv[{index}]");
    sources.lines().any(|line| {
        let Some((before, _)) = line.split_once(&place) else { return false };
        let Some((before, _)) = before.rsplit_once('=') else { return false };
        let name = before.trim_end().rsplit(|it: char| !it.is_alphanumeric() && it != '_').next();
        is_repetition_name(name.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_become_one_and_sizes_are_divided() {
        let sources = "int nrows = atoi(argv[1]);\n  const int repeat = atoi(argv[3]);\n";
        assert_eq!(
            smaller("8192 12 100 in.txt", sources),
            ["8192 12 1 in.txt", "512 12 1 in.txt", "32 12 1 in.txt"]
        );
        assert_eq!(smaller("", sources), [""]);
    }
}
