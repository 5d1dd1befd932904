//! Values on the command line: `1048576`, `2^20`, `2^20..2^28`, `1..32`, `1,2,4`, `0.25`, `0..1+0.25`, `uniform`.

use crate::pattern::Dimension;
use std::str::FromStr;

/// A dimension and the values it is to take: `stride=1..32`; without a name it is the first dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The dimension; the first of a pattern when `None`.
    pub name: Option<String>,
    values: Vec<Value>,
}

/// Values that one argument may name.
const MAX_VALUES: usize = 4096;

/// A value that is not yet that of a dimension.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(f64),
    /// One of the dimension's names.
    Name(String),
}

/// Several of them: `rows=4096,columns=1000,2000`.
#[derive(Clone, Debug, PartialEq)]
pub struct Axes(pub Vec<Axis>);

impl std::fmt::Display for Axes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        for axis in &self.0 {
            let name = axis.name.iter().map(|name| format!("{name}=")).collect::<String>();
            let values: Vec<_> = axis
                .values
                .iter()
                .map(|value| match value {
                    Value::Number(number) => number.to_string(),
                    Value::Name(name) => name.clone(),
                })
                .collect();
            parts.push(name + &values.join(","));
        }
        formatter.write_str(&parts.join(","))
    }
}

impl FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> Result<Axes, String> {
        let mut axes: Vec<Axis> = Vec::new();
        let mut count = 0;
        for one in text.split(',') {
            let before = match one.contains('=') {
                true => 0,
                false => axes.last().map_or(0, |axis| axis.values.len()),
            };
            match (one.split_once('='), axes.last_mut()) {
                (Some((name, value)), _) => {
                    axes.push(Axis { name: Some(name.to_owned()), values: part(value)? });
                }
                (None, Some(axis)) => axis.values.extend(part(one)?),
                (None, None) => axes.push(Axis { name: None, values: part(one)? }),
            }
            count += axes.last().map_or(0, |axis| axis.values.len()) - before;
            if count > MAX_VALUES {
                return Err(format!(
                    "a size has more than {MAX_VALUES} values: measure fewer at once"
                ));
            }
        }
        Ok(Axes(axes))
    }
}

impl Axis {
    /// Returns whether it has several values.
    pub fn is_curve(&self) -> bool {
        self.values.len() > 1
    }

    /// The values of a dimension that these are.
    ///
    /// # Errors
    /// When one is beyond the dimension's range or finer than its values, or no name of it.
    pub fn of(&self, dimension: &Dimension) -> Result<Vec<usize>, String> {
        let Dimension { name, .. } = dimension;
        let range = dimension.range();
        let of_one = |value: &Value| match value {
            Value::Number(number) => {
                let (least, most) = (*range.start(), *range.end());
                match dimension.value(*number) {
                    None => Err(format!(
                        "{name} = {number} is too fine: its values are {} apart",
                        dimension.number(1)
                    )),
                    Some(value) if range.contains(&value) => Ok(value),
                    Some(_) if !dimension.names().is_empty() => {
                        Err(format!("{name} = {number} is none of its {}", names(dimension)))
                    }
                    Some(value) if value < least => Err(format!(
                        "{name} = {number} is too small: the least is {}",
                        dimension.number(least)
                    )),
                    Some(_) => Err(format!(
                        "{name} = {number} is too large: the most is {}",
                        dimension.number(most)
                    )),
                }
            }
            Value::Name(text) => {
                let found = dimension.names().iter().position(|one| one == text);
                found.ok_or_else(|| match dimension.names() {
                    [] => format!("{name} is a number, `{text}` is none"),
                    _ => format!("{name} = {text} is none of its {}", names(dimension)),
                })
            }
        };
        self.values.iter().map(of_one).collect()
    }
}

fn names(dimension: &Dimension) -> String {
    let list: Vec<_> =
        dimension.names().iter().enumerate().map(|(i, name)| format!("{i} {name}")).collect();
    format!("values: {}", list.join(", "))
}

/// A value or a range: doubling between powers of two, else in steps of one or of what stands behind a `+`.
fn part(text: &str) -> Result<Vec<Value>, String> {
    let Some((first, rest)) = text.split_once("..") else {
        let is_name = text.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '_');
        return Ok(vec![match number(text) {
            Ok(number) => Value::Number(number),
            Err(_) if is_name && !text.is_empty() => Value::Name(text.to_owned()),
            Err(NoNumber::Malformed) => {
                return Err(format!("`{text}` is not a number such as 1048576, 2^20 or 0.25"));
            }
            Err(fault) => return Err(fault.of(text)),
        }]);
    };
    let (last, step) = match rest.split_once('+') {
        Some((last, step)) => (last, Some(step)),
        None => (rest, None),
    };
    let wrong = || format!("`{text}` is not a range such as 2^20..2^28, 1..32 or 0..1024+64");
    let end = |text: &str| {
        number(text).map_err(|fault| match fault {
            NoNumber::Malformed => wrong(),
            fault => fault.of(text),
        })
    };
    let (from, to) = (end(first)?, end(last)?);
    let doubles = step.is_none() && first.contains('^') && last.contains('^');
    let step = step.map_or(Ok(1.0), end)?;
    if from > to || step == 0.0 || (doubles && from == 0.0) {
        return Err(wrong());
    }
    // Rounding must not lose the last: 0.3 / 0.1 is less than 3.
    let count = if doubles { (to / from).log2() } else { (to - from) / step + 1e-6 }.floor() + 1.0;
    if count > MAX_VALUES as f64 {
        return Err(format!(
            "`{text}` has more than {MAX_VALUES} values: give a step, as in 0..100000+1000"
        ));
    }
    let at = |i: usize| if doubles { from * 2f64.powi(i as i32) } else { from + i as f64 * step };
    Ok((0..count as usize).map(|i| Value::Number(at(i))).collect())
}

/// Why a text is no number that a size can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoNumber {
    Malformed,
    Negative,
    TooLarge,
}

impl NoNumber {
    fn of(self, text: &str) -> String {
        match self {
            NoNumber::Malformed => format!("`{text}` is not a number"),
            NoNumber::Negative => format!("`{text}` is negative: sizes are numbers from 0 up"),
            NoNumber::TooLarge => {
                format!("`{text}` is too large: kernels index at most 2^31 elements")
            }
        }
    }
}

/// A number, also as a power. A fraction is written with digits and a point only.
fn number(text: &str) -> Result<f64, NoNumber> {
    let positive = text.trim_start_matches('-');
    if positive.len() < text.len() {
        return Err(number(positive).map_or_else(|fault| fault, |_| NoNumber::Negative));
    }
    let is_whole =
        |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
    let number = match text.split_once('^') {
        Some((base, exponent)) if is_whole(base) && is_whole(exponent) => {
            let base: f64 = base.parse().map_err(|_| NoNumber::Malformed)?;
            base.powi(exponent.parse().unwrap_or(i32::MAX))
        }
        None if text.chars().all(|letter| letter.is_ascii_digit() || letter == '.') => {
            text.parse().map_err(|_| NoNumber::Malformed)?
        }
        _ => return Err(NoNumber::Malformed),
    };
    // Up to here every whole number is one.
    if number <= 2f64.powi(53) { Ok(number) } else { Err(NoNumber::TooLarge) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: Dimension = Dimension::extent("n", "", 1);
    const KIND: Dimension = Dimension::choice("kind", "", &["a", "b_c"]);
    const SHARE: Dimension = Dimension::share("share", "", 100);

    fn values(text: &str, dimension: &Dimension) -> Result<Vec<usize>, String> {
        text.parse::<Axes>()?.0[0].of(dimension)
    }

    #[test]
    fn ranges_double_or_step() {
        assert_eq!(values("n=2^3..2^6", &N), Ok(vec![8, 16, 32, 64]));
        assert_eq!(values("2^3..2^4,100", &N), Ok(vec![8, 16, 100]));
        assert_eq!(values("n=1..4", &N), Ok(vec![1, 2, 3, 4]));
        assert_eq!(values("n=1..10+4", &N), Ok(vec![1, 5, 9]));
        assert_eq!(values("n=5..5", &N), Ok(vec![5]));
        assert_eq!(values("kind=b_c,a,1", &KIND), Ok(vec![1, 0, 1]));
        assert_eq!(values("share=0..1+0.25", &SHARE), Ok(vec![0, 25, 50, 75, 100]));
        assert_eq!(
            values("share=0.29,0.57,1,0..0.3+0.1", &SHARE),
            Ok(vec![29, 57, 100, 0, 10, 20, 30])
        );
        let two = "n=1,2,kind=a".parse::<Axes>().expect("two axes").0;
        assert_eq!((two.len(), two[1].of(&KIND)), (2, Ok(vec![0])));
    }

    #[test]
    fn no_argument_takes_much_memory_or_stack() {
        let signs = format!("n={}1", "-".repeat(100_000));
        assert!(values(&signs, &N).expect_err("a negative number").contains("is negative"));
        for (one, least) in [("1..4096,", 2), ("1,", 4097), ("n=1..4096,", 2), ("n=1,", 4097)] {
            let error = one.repeat(14_000).parse::<Axes>().expect_err(one);
            assert_eq!(error, "a size has more than 4096 values: measure fewer at once");
            assert!(one.repeat(least).trim_end_matches(',').parse::<Axes>().is_err(), "{one}");
            assert!(one.repeat(least - 1).trim_end_matches(',').parse::<Axes>().is_ok(), "{one}");
        }
    }

    #[test]
    fn what_is_no_axis_is_one_sentence() {
        for (text, part) in [
            ("n=0", "too small"),
            ("n=x", "`x` is none"),
            ("n=4..2", "not a range"),
            ("n=1..4+0", "not a range"),
            ("n=2^60", "`2^60` is too large: kernels index at most 2^31 elements"),
            ("n=2^99999999999", "is too large"),
            ("n=99999999999999999999", "is too large"),
            ("n=2^3..2^60", "`2^60` is too large"),
            ("n=-2^3", "`-2^3` is negative"),
            ("n=-4..4", "`-4` is negative"),
            ("n=-", "not a number"),
            ("n=--quick", "not a number"),
            ("n=", "not a number"),
            ("n=0..999999999", "more than 4096"),
            ("n=-1", "`-1` is negative: sizes are numbers from 0 up"),
            ("n=inf", "`inf` is none"),
            ("n=1e6", "not a number"),
            ("n=1.2.3", "not a number"),
            ("n=0.5", "too fine"),
        ] {
            let error = values(text, &N).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        for (text, dimension, part) in [
            ("kind=2", &KIND, "0 a, 1 b_c"),
            ("kind=d", &KIND, "0 a, 1 b_c"),
            ("kind=0.5", &KIND, "too fine"),
            ("share=1.01", &SHARE, "the most is 1"),
            ("share=0.255", &SHARE, "its values are 0.01 apart"),
        ] {
            let error = values(text, dimension).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
