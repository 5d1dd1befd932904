//! Arithmetic with measured values, as a doc writes it: "`a` / `b`", "2^27 / `scalar`", "clock of `a` x `a`".

use anyhow::{Context, Result, bail, ensure};
use results::{Measured, MeasuredPeak, Resource, Results, Row};

/// The measured peaks that an expression can name, as in "peak of L2".
const PEAKS: [(&str, Resource); 9] = [
    ("copies", Resource::Copy),
    ("reads", Resource::Read),
    ("writes", Resource::Write),
    ("L2", Resource::L2),
    ("shared memory", Resource::Shared),
    ("FP32", Resource::Fp32),
    ("tensor cores", Resource::TensorBf16),
    ("H2D", Resource::HostToDevice),
    ("D2H", Resource::DeviceToHost),
];

/// Units that may follow a number: its factor and its power of a second.
const UNITS: [(&str, f64, i32); 9] = [
    ("KiB", 1024.0, 0),
    ("MiB", 1_048_576.0, 0),
    ("GiB", 1_073_741_824.0, 0),
    ("B", 1.0, 0),
    ("ms", 1e-3, 1),
    ("us", 1e-6, 1),
    ("ns", 1e-9, 1),
    ("GHz", 1e9, -1),
    ("GB/s", 1e9, -1),
];

/// A value in seconds to some power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value {
    /// The number, of seconds where it is a time.
    pub amount: f64,
    /// The power of a second: 1 of a time, -1 of a rate, 0 of a ratio.
    pub seconds: i32,
}

/// The row of the ladder that `name` means in a doc of `pattern`, or of a curve: `` `variant` at dimension=value``.
///
/// # Errors
/// Nothing like it was measured.
pub fn row<'a>(results: &'a Results, pattern: &str, name: &str) -> Result<&'a Row> {
    let (quoted, at) = name.split_once(" at ").map_or((name, None), |(name, at)| (name, Some(at)));
    let variant = quoted.trim_matches('`');
    let (pattern, variant) = match variant.split_once('/') {
        Some((of, variant)) if results.rows.iter().any(|row| row.pattern == of) => (of, variant),
        _ => (pattern, variant),
    };
    let is_there = |row: &&Row| match at.and_then(|at| at.split_once('=')) {
        None => row.sweep.is_none(),
        Some((dimension, value)) => {
            row.sweep.as_ref().is_none_or(|sweep| sweep == dimension)
                && row.size.get(dimension).is_some_and(|size| size.to_string() == value)
        }
    };
    let mut rows =
        results.rows.iter().filter(|row| row.pattern == pattern && row.variant == variant);
    rows.find(is_there).with_context(|| format!("{name} was not measured"))
}

/// The figures of such a row.
///
/// # Errors
/// Nothing like it was measured.
pub(super) fn measured<'a>(
    results: &'a Results,
    pattern: &str,
    name: &str,
) -> Result<&'a Measured> {
    row(results, pattern, name)?.measured().with_context(|| format!("{name} was not measured"))
}

/// An expression that is read from its begin.
struct Reader<'a> {
    rest: &'a str,
    pattern: &'a str,
    results: &'a Results,
}

/// The value of an expression of a doc of `pattern`.
///
/// # Errors
/// It is none, or names what was not measured.
pub(super) fn value(text: &str, pattern: &str, results: &Results) -> Result<Value> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut reader = Reader { rest: &text, pattern, results };
    let value = reader.sum().with_context(|| format!("({text}) is no figure"))?;
    ensure!(reader.rest.is_empty(), "({text}) is no figure: nothing reads `{}`", reader.rest);
    Ok(value)
}

impl<'a> Reader<'a> {
    /// Takes a token, if it comes next.
    fn takes(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn sum(&mut self) -> Result<Value> {
        let mut sum = self.product()?;
        loop {
            let sign = match () {
                () if self.takes("+ ") => 1.0,
                () if self.takes("- ") => -1.0,
                () => return Ok(sum),
            };
            let other = self.product()?;
            ensure!(sum.seconds == other.seconds, "a time and a number have no sum");
            sum.amount += sign * other.amount;
        }
    }

    fn product(&mut self) -> Result<Value> {
        let mut product = self.factor()?;
        loop {
            let power = match () {
                () if self.takes("x ") => 1,
                () if self.takes("/ ") => -1,
                () => return Ok(product),
            };
            let other = self.factor()?;
            product.amount *= other.amount.powi(power);
            product.seconds += power * other.seconds;
        }
    }

    fn factor(&mut self) -> Result<Value> {
        if self.takes("(") {
            let inner = self.sum()?;
            ensure!(self.takes(")"), "a parenthesis is open");
            return Ok(inner);
        }
        if self.takes("peak of ") {
            return self.peak();
        }
        if self.takes("minimum of ") {
            let minimum = self.measured()?.minimum_time.context("no peak bounds it")?;
            return Ok(Value { amount: minimum.time_ms / 1e3, seconds: 1 });
        }
        if self.takes("clock of ") {
            let clock = self.measured()?.clock_mhz.context("its clock was not measured")?;
            return Ok(Value { amount: clock.median * 1e6, seconds: -1 });
        }
        if self.rest.starts_with('`') {
            return Ok(Value { amount: self.measured()?.time_ms.median / 1e3, seconds: 1 });
        }
        self.number()
    }

    fn measured(&mut self) -> Result<&'a Measured> {
        let inner = self.rest.strip_prefix('`').and_then(|rest| rest.split_once('`'));
        let (_, mut after) = inner.context("no name in backticks")?;
        if let Some(at) = after.strip_prefix(" at ") {
            let is_size = |c: char| c.is_ascii_alphanumeric() || "_=.".contains(c);
            after = at.trim_start_matches(is_size);
        }
        let name = &self.rest[..self.rest.len() - after.len()];
        self.rest = after.trim_start();
        measured(self.results, self.pattern, name)
    }

    fn peak(&mut self) -> Result<Value> {
        for (name, resource) in PEAKS {
            if self.takes(name) {
                let mut peaks = self.results.measured_peaks.iter();
                let peak = peaks.find(|peak| peak.resource == resource);
                let rate = peak.map(MeasuredPeak::bandwidth_gb_s).context("no such peak")?;
                return Ok(Value { amount: rate * 1e9, seconds: -1 });
            }
        }
        bail!("no peak is called so");
    }

    fn number(&mut self) -> Result<Value> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let mut amount: f64 = digits.parse().context("neither a number nor a name in backticks")?;
        self.rest = rest;
        if let Some(power) = rest.strip_prefix('^') {
            let end = power.find(|c: char| !c.is_ascii_digit()).unwrap_or(power.len());
            amount = amount.powi(power[..end].parse().context("no power")?);
            self.rest = &power[end..];
        }
        self.rest = self.rest.trim_start();
        for (unit, factor, seconds) in UNITS {
            let is_whole =
                |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/');
            if self.rest.strip_prefix(unit).is_some_and(is_whole) {
                self.takes(unit);
                return Ok(Value { amount: amount * factor, seconds });
            }
        }
        Ok(Value { amount, seconds: 0 })
    }
}
