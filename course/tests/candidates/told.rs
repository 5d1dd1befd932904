//! The counts that a task's text tells: each has a directive behind it, which says what it is.
//!
//! ```text
//! 32{given sectors per store}                 a count of the file as it is given, at the size that is counted
//! four{given load requests / solved load requests}
//! ```

use course::count::Count;
use course::format::{pieces, written};
use course::grade::Submission;
use course::grade::run_at;
use course::task::Task;

const WORDS: &[(&str, f64)] = &[
    ("one", 1.0),
    ("two", 2.0),
    ("twice", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("sixteen", 16.0),
];
/// Names of counts: a number before one of them is a count.
const COUNTED: &[&str] = &["sector", "wavefront", "request", "conflict", "atomic", "barrier"];

/// The number of a word, and how far another may be from it.
fn number(word: &str) -> Option<(f64, f64)> {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let decimals = word.split_once('.').map_or(0, |(_, behind)| behind.len());
    let in_words = WORDS.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    let value = in_words.map(|(_, value)| *value).or_else(|| word.parse().ok())?;
    Some((value, 0.5 / 10_f64.powi(decimals as i32) + 1e-9))
}

/// Returns what is wrong with the counts in a text of a task.
pub fn faults(task: &'static Task, given: &Submission, solved: &Submission) -> Vec<String> {
    let mut faults = typed(task);
    for (before, directive) in pieces(&written(task.solved())) {
        let Some(directive) = directive else { continue };
        let word = before.rsplit([' ', '\n']).next().unwrap_or_default();
        let is = value(task, directive, given, solved);
        let said = number(word).filter(|(said, slack)| (said - is).abs() <= *slack);
        if said.is_none() {
            faults.push(format!("{}: its text says {word}, and {directive} is {is}", task.id()));
        }
    }
    faults
}

pub fn typed(task: &Task) -> Vec<String> {
    let text = written(task.solved());
    let pieces = pieces(&text);
    let text: String = pieces
        .iter()
        .map(|(text, directive)| format!("{text}{}", directive.map_or("", |_| "{}")))
        .collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let counts = words.windows(2).filter(|pair| {
        let what = pair[1].trim_matches(|letter: char| !letter.is_alphanumeric());
        number(pair[0]).is_some()
            && !pair[0].ends_with("{}")
            && COUNTED.contains(&what.trim_end_matches('s'))
    });
    counts.map(|pair| format!("{}: `{}` has no directive", task.id(), pair.join(" "))).collect()
}

/// Evaluates a directive: terms with `/` between them, such as the pairs of tiles that are 4 at the counted size.
fn value(task: &'static Task, directive: &str, given: &Submission, solved: &Submission) -> f64 {
    let term = |term: &str| {
        if let Ok(number) = term.trim().parse() {
            return number;
        }
        let (whose, what) = term.trim().split_once(' ').expect("`given` or `solved`, and what");
        let kernel = match whose {
            "given" => given,
            "solved" => solved,
            _ => panic!("{}: {term} begins with `given` or `solved`", task.id()),
        };
        let run = run_at(task, kernel, &task.count_size()).expect("it runs");
        let product =
            |extents: &[u32; 3]| extents.iter().map(|one| f64::from(*one)).product::<f64>();
        let launches = run.launches.iter();
        match what {
            "blocks" => launches.map(|(grid, _)| product(grid)).sum(),
            "warps" => launches.map(|(grid, block)| product(grid) * product(block) / 32.0).sum(),
            _ => {
                let count = Count::ALL.iter().find(|count| count.name() == what);
                count
                    .unwrap_or_else(|| panic!("{}: there is no count `{what}`", task.id()))
                    .of(&run)
            }
        }
    };
    let mut terms = directive.split('/').map(term);
    let first = terms.next().expect("there is a term");
    terms.fold(first, |value, term| value / term)
}
