//! Figures that follow from measured ones, with their arithmetic behind them: "3.2 times as long (`a` / `b`)",
//! "31 % of the measured peak (`a`)", "2.64 ms (`a` - `b`)".

use super::expression::{Value, measured, value};
use anyhow::{Context, Result, ensure};
use results::Results;
use std::ops::Range;

/// Longest distance of a figure before its arithmetic, bytes.
const REACH: usize = 80;

/// A figure, and the arithmetic after it.
#[derive(Debug)]
pub struct Derived<'a> {
    /// Range of the number.
    pub number: Range<usize>,
    /// Text between the number and its arithmetic.
    words: &'a str,
    /// The arithmetic.
    expression: &'a str,
}

/// The figures of a doc that have arithmetic with measured values behind them.
pub fn derived(doc: &str) -> Vec<Derived<'_>> {
    let opens = doc.match_indices('(').map(|(at, _)| at);
    opens.filter_map(|open| figure(doc, open)).collect()
}

/// The figure whose arithmetic begins with this parenthesis.
fn figure(doc: &str, open: usize) -> Option<Derived<'_>> {
    let expression = inside(&doc[open..])?;
    let end = doc[..open].rfind(|c: char| c.is_ascii_digit() || c == '?')? + 1;
    let words = &doc[end..open];
    let is_far = words.len() > REACH || words.contains(['`', '(', ')', '.', ';', ':', '|']);
    if !expression.contains('`') || is_far || words.contains("\n\n") {
        return None;
    }
    let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == '?';
    let begin_of = |end: usize| doc[..end].rfind(|c| !is_number(c)).map_or(0, |at| at + 1);
    let mut number = begin_of(end)..end;
    let mut words = words;
    // Of 4.2 x 10^9 the number is 4.2.
    if let Some(before) = doc[..number.start].strip_suffix(" x 10^") {
        words = &doc[before.len()..open];
        number = begin_of(before.len())..before.len();
    }
    // A word such as `x2` has no number, and a range or a power is none.
    if doc[..number.start].ends_with(|c: char| c.is_alphanumeric() || "_^-/".contains(c)) {
        return None;
    }
    let is_arithmetic =
        expression.split_whitespace().any(|word| ["/", "x", "-", "+"].contains(&word));
    let unit = words.trim_start();
    let has_unit = ["%", "ms", "us", "GB/s", "TB/s"].iter().any(|known| unit.starts_with(known));
    let beside: String = expression.split('`').step_by(2).collect();
    let is_name = match beside.split_whitespace().collect::<Vec<_>>().join(" ").as_str() {
        "" | "minimum of" | "clock of" => true,
        beside => beside.starts_with("at ") && beside.contains('='),
    };
    (is_arithmetic || has_unit && is_name).then_some(Derived { number, words, expression })
}

/// Returns what is between a parenthesis at the begin of a text and the one that closes it, if it is arithmetic.
fn inside(text: &str) -> Option<&str> {
    let (mut depth, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '`' => quoted = !quoted,
            _ if quoted => {}
            '(' => depth += 1,
            ')' if depth == 1 => return Some(&text[1..at]),
            ')' => depth -= 1,
            ',' | ';' | ':' | '[' | '|' => return None,
            _ => {}
        }
    }
    None
}

impl Derived<'_> {
    /// The number as the results have it, with as many decimals as it is written with.
    ///
    /// # Errors
    /// The arithmetic is none, names what was not measured, or gives another kind of value than the words say.
    pub fn filled(&self, doc: &str, pattern: &str, results: &Results) -> Result<String> {
        let amount = self.amount(pattern, results)?;
        ensure!(amount.is_finite(), "({}) divides by nothing", self.expression);
        let written = &doc[self.number.clone()];
        let decimals = if written.contains('?') {
            1 - (amount.abs().log10().floor() as i32).clamp(0, 1)
        } else {
            written.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32)
        };
        Ok(format!("{amount:.*}", decimals.max(0) as usize))
    }

    /// The value in the unit that the words after the number begin with.
    fn amount(&self, pattern: &str, results: &Results) -> Result<f64> {
        let unit = self.words.trim_start();
        let name = self.expression.trim();
        let is_name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
        let is_name = is_name.is_some_and(|name| !name.contains('`'));
        let has = |known: &str| {
            let rest = unit.strip_prefix(known);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/'))
        };
        if is_name && has("%") {
            let minimum = measured(results, pattern, name)?.minimum_time;
            return Ok(minimum.with_context(|| format!("no peak bounds {name}"))?.percent);
        }
        if is_name && has("GB/s") {
            return Ok(measured(results, pattern, name)?.bandwidth_gb_s);
        }
        let Value { mut amount, seconds } = value(self.expression, pattern, results)?;
        let (factor, needed) = match () {
            () if has("%") => (100.0, 0),
            () if has("ms") => (1e3, 1),
            () if has("us") => (1e6, 1),
            () if has("GB/s") => (1e-9, -1),
            () if has("TB/s") => (1e-12, -1),
            () if has("million") => (1e-6, 0),
            () if has("KiB") => (1.0 / 1024.0, 0),
            () if unit.contains("per second") => (1.0, -1),
            () => (1.0, 0),
        };
        ensure!(
            seconds == needed,
            "({}) is not what the words after its number say",
            self.expression
        );
        amount *= factor;
        if let Some(power) = unit.strip_prefix("x 10^") {
            let digits = power.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            amount /= 10_f64.powi(digits.parse().context("no power")?);
        }
        Ok(amount)
    }
}
