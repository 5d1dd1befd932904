//! Values on the command line: `1048576`, `2^20`, `2^20..2^28`, `1..32`, `1,2,4`, `uniform`.

use crate::pattern::Dimension;
use std::str::FromStr;

/// A dimension and the values it is to take: `stride=1..32`; without a name it is the first dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The dimension; the first of a pattern when `None`.
    pub name: Option<String>,
    /// The values as they were written.
    values: Vec<Value>,
}

/// A value that is not yet that of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Number(usize),
    /// One of the dimension's names.
    Name(String),
}

/// Several of them: `rows=4096,columns=1000,2000`.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        for one in text.split(',') {
            match (one.split_once('='), axes.last_mut()) {
                (Some((name, value)), _) => {
                    axes.push(Axis { name: Some(name.to_owned()), values: part(value)? });
                }
                (None, Some(axis)) => axis.values.extend(part(one)?),
                (None, None) => axes.push(Axis { name: None, values: part(one)? }),
            }
        }
        Ok(Axes(axes))
    }
}

impl Axis {
    /// Whether it has several values.
    pub fn is_curve(&self) -> bool {
        self.values.len() > 1
    }

    /// The values as numbers of a dimension.
    ///
    /// # Errors
    /// When one is below the dimension's least, or no name of it.
    pub fn of(&self, dimension: &Dimension) -> Result<Vec<usize>, String> {
        let of_one = |value: &Value| match value {
            Value::Number(number) if *number < dimension.least => Err(format!(
                "{} = {number} is too small: the least is {}",
                dimension.name, dimension.least
            )),
            Value::Number(number)
                if !dimension.names.is_empty() && *number >= dimension.names.len() =>
            {
                Err(format!("{} = {number} is none of its {}", dimension.name, names(dimension)))
            }
            Value::Number(number) => Ok(*number),
            Value::Name(name) => {
                let found = dimension.names.iter().position(|one| one == name);
                found.ok_or_else(|| match dimension.names {
                    [] => format!("{} is a number, `{name}` is none", dimension.name),
                    _ => format!("{} = {name} is none of its {}", dimension.name, names(dimension)),
                })
            }
        };
        self.values.iter().map(of_one).collect()
    }
}

fn names(dimension: &Dimension) -> String {
    let list: Vec<_> =
        dimension.names.iter().enumerate().map(|(i, name)| format!("{i} {name}")).collect();
    format!("values: {}", list.join(", "))
}

/// A value or a range: doubling between powers of two, else in steps of one or of what stands behind a `+`.
fn part(text: &str) -> Result<Vec<Value>, String> {
    let Some((first, rest)) = text.split_once("..") else {
        return Ok(vec![match number(text) {
            Some(number) => Value::Number(number),
            None if text.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '_')
                && !text.is_empty() =>
            {
                Value::Name(text.to_owned())
            }
            None => return Err(format!("`{text}` is not a number such as 1048576 or 2^20")),
        }]);
    };
    let (last, step) = match rest.split_once('+') {
        Some((last, step)) => (last, Some(step)),
        None => (rest, None),
    };
    let wrong = || format!("`{text}` is not a range such as 2^20..2^28, 1..32 or 0..1024+64");
    let (from, to) = (number(first).ok_or_else(wrong)?, number(last).ok_or_else(wrong)?);
    let doubles = step.is_none() && first.contains('^') && last.contains('^');
    let step = step.map_or(Some(1), number).filter(|step| *step > 0).ok_or_else(wrong)?;
    let next = |value: &usize| {
        if doubles { value.checked_mul(2) } else { value.checked_add(step) }.filter(|v| *v <= to)
    };
    if from > to || (doubles && from == 0) {
        return Err(wrong());
    }
    const MOST: usize = 4096;
    let values: Vec<_> =
        std::iter::successors(Some(from), next).take(MOST + 1).map(Value::Number).collect();
    if values.len() > MOST {
        return Err(format!(
            "`{text}` has more than {MOST} values: give a step, as in 0..100000+1000"
        ));
    }
    Ok(values)
}

/// A number, also as a power.
fn number(text: &str) -> Option<usize> {
    match text.split_once('^') {
        Some((base, exponent)) => {
            base.parse::<usize>().ok()?.checked_pow(exponent.parse::<u32>().ok()?)
        }
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: Dimension = Dimension { name: "n", meaning: "", least: 1, names: &[], repeats: false };
    const KIND: Dimension =
        Dimension { name: "kind", meaning: "", least: 0, names: &["a", "b_c"], repeats: false };

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
        let two = "n=1,2,kind=a".parse::<Axes>().expect("two axes").0;
        assert_eq!((two.len(), two[1].of(&KIND)), (2, Ok(vec![0])));
    }

    #[test]
    fn what_is_no_axis_is_one_sentence() {
        for (text, part) in [
            ("n=0", "too small"),
            ("n=x", "`x` is none"),
            ("n=4..2", "not a range"),
            ("n=1..4+0", "not a range"),
            ("n=2^99", "not a number"),
            ("n=", "not a number"),
            ("n=0..999999999", "more than 4096"),
            ("n=-1", "not a number"),
        ] {
            let error = values(text, &N).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(values("kind=2", &KIND).is_err() && values("kind=d", &KIND).is_err());
    }
}
