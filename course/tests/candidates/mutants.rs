//! Wrong solutions, found by changing one thing of a right one: a barrier is left out, a number is one more, a sign is
//! another. The grader has to reject each; those that are right by chance are listed in `equivalent.txt`.

use crate::candidates::build::{Candidate, compile, solution};
use course::grade::grade;
use course::task::{Kind, Task};
use course::tasks::TASKS;
use std::collections::BTreeSet;

/// Changes that leave a kernel right, a line each: `task: line => changed line`.
const EQUIVALENT: &str = include_str!("equivalent.txt");
/// One text in place of another.
const SIGNS: &[(&str, &str)] = &[
    (" < ", " <= "),
    (" > ", " >= "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    (" / ", " * "),
    (" == ", " != "),
    (" ^ ", " | "),
    (" || ", " && "),
    (" && ", " || "),
];

/// A changed solution, and its change in words.
struct Mutant {
    change: String,
    source: String,
}

/// All changes of one thing in the body of a solution's kernel.
fn mutants(task: &Task) -> Vec<Mutant> {
    let solution = solution(task);
    let lines: Vec<&str> = solution.lines().collect();
    let kernel = lines.iter().position(|line| line.contains(&format!("fn {}(", task.id())));
    let body = kernel.map(|kernel| {
        kernel + lines[kernel..].iter().take_while(|line| !line.ends_with('{')).count()
    });
    let mut mutants = Vec::new();
    for (index, line) in lines.iter().enumerate().skip(body.expect("a solution has its kernel") + 1)
    {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for changed in changes(line) {
            let mut lines = lines.clone();
            lines[index] = &changed;
            let change = format!("{}: {} => {}", task.id(), line.trim(), changed.trim());
            mutants.push(Mutant { change, source: lines.join("\n") });
        }
    }
    mutants
}

/// A line with one thing changed, in every way.
fn changes(line: &str) -> Vec<String> {
    let mut changes = Vec::new();
    if line.trim_start().starts_with("thread::sync_threads()")
        || line.trim_start().starts_with("sync_warp(")
    {
        changes.push(String::new());
    }
    for (from, to) in SIGNS {
        changes.extend(line.match_indices(from).map(|(at, _)| replaced(line, at, from.len(), to)));
    }
    let is_part = |letter: Option<char>| {
        letter.is_some_and(|one| one.is_alphanumeric() || "_.".contains(one))
    };
    let mut at = 0;
    for run in line.split_inclusive(|letter: char| !letter.is_ascii_digit()) {
        let digits = run.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let (before, after) = (line[..at].chars().last(), line[at + digits.len()..].chars().next());
        if let Ok(number) = digits.parse::<u32>()
            && !is_part(before)
            && !is_part(after)
            // The length of an array is a part of its type.
            && !line[..at].ends_with("; ")
        {
            changes.push(replaced(line, at, digits.len(), &(number + 1).to_string()));
        }
        at += run.len();
    }
    changes
}

fn replaced(line: &str, at: usize, length: usize, by: &str) -> String {
    format!("{}{by}{}", &line[..at], &line[at + length..])
}

/// Grades mutants; gives those that pass and are not listed, and how many were rejected.
fn survivors(name: &str, chosen: Vec<(&'static Task, Mutant)>) -> (Vec<String>, usize) {
    let listed: BTreeSet<&str> = EQUIVALENT.lines().collect();
    let candidate = |(index, (task, mutant)): (usize, &(&'static Task, Mutant))| {
        Candidate::new(task, &format!("mutant_{index}"), mutant.source.clone())
    };
    let candidates: Vec<Candidate> = chosen.iter().enumerate().map(candidate).collect();
    let submissions = compile(name, &candidates);
    let graded: Vec<_> = chosen.iter().zip(&submissions).collect();
    let passes = crate::candidates::side_by_side(&graded, |((task, _), submission)| {
        grade(task, submission, 77).expect("the virtual device starts").is_pass()
    });
    let mut survivors = Vec::new();
    let mut rejected = 0;
    for ((_, mutant), passes) in chosen.iter().zip(passes) {
        rejected += usize::from(!passes);
        if passes && !listed.contains(mutant.change.as_str()) {
            survivors.push(mutant.change.clone());
        }
    }
    (survivors, rejected)
}

fn kernels() -> impl Iterator<Item = &'static Task> {
    TASKS.iter().copied().filter(|task| matches!(task.kind, Kind::Kernel | Kind::Bug))
}

/// The part that CI runs.
#[test]
fn a_wrong_solution_of_every_task_is_rejected() {
    let listed: BTreeSet<&str> = EQUIVALENT.lines().collect();
    let wrong = |task: &'static Task| {
        let mut mutants = mutants(task).into_iter();
        Some((task, mutants.find(|mutant| !listed.contains(mutant.change.as_str()))?))
    };
    let (survivors, rejected) = survivors("mutants_ci", kernels().filter_map(wrong).collect());
    assert!(survivors.is_empty(), "these pass:\n{}", survivors.join("\n"));
    assert_eq!(rejected, kernels().count(), "every task has a wrong solution");
}

#[test]
#[ignore = "too long for CI: cargo xtask prove course"]
fn all_wrong_solutions_are_rejected() {
    let chosen = kernels().flat_map(|task| mutants(task).into_iter().map(move |one| (task, one)));
    let (survivors, rejected) = survivors("mutants", chosen.collect());
    assert!(survivors.is_empty(), "{} pass:\n{}", survivors.len(), survivors.join("\n"));
    println!("{rejected} wrong solutions of {} tasks rejected", kernels().count());
}
