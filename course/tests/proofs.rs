//! What is promised of every task: it fails as shipped, for its reason; it passes solved; its bounds are tight; wrong
//! kernels fail and other right ones pass. All kernels are compiled as one crate.

#![allow(clippy::print_stdout, reason = "what was proved is shown on request")]

mod candidates;

use candidates::build::{Candidate, compile, edited, solution};
use candidates::{ACCEPTED, LOOSE, REJECTED};
use course::format;
use course::grade::{Subject, Verdict, grade};
use course::question::Runs;
use course::task::Because;
use course::tasks::{TASKS, named};
use std::collections::BTreeSet;

fn because(verdict: &Verdict) -> Option<Because> {
    verdict.failure.as_ref().map(|failure| failure.because)
}

#[test]
fn every_task_fails_as_shipped_passes_solved_and_tells_wrong_from_right() {
    let mut candidates = Vec::new();
    let mut expected: Vec<Option<Because>> = Vec::new();
    for task in TASKS {
        candidates.push(Candidate::new(
            task,
            "shipped",
            format::shipped(task.solved).expect("well-formed"),
        ));
        expected.push(Some(task.fails_as_shipped));
        candidates.push(Candidate::new(task, "solved", solution(task)));
        expected.push(None);
    }
    for (id, name, from, to, because) in REJECTED {
        let task = named(id).expect("a task");
        candidates.push(Candidate::new(task, name, edited(task, from, to)));
        expected.push(Some(*because));
    }
    for (id, name, from, to) in ACCEPTED {
        let task = named(id).expect("a task");
        candidates.push(Candidate::new(task, name, edited(task, from, to)));
        expected.push(None);
    }
    let _turn = cuda_host::testing::exclusive();
    let submissions = compile("proofs", &candidates);
    let mut wrong = Vec::new();
    // Each bound is tight, and something breaks it.
    let mut breaks: BTreeSet<(&str, String)> = BTreeSet::new();
    for ((candidate, submission), expected) in candidates.iter().zip(&submissions).zip(&expected) {
        let verdict = grade(candidate.task, submission, 77).expect("the virtual device starts");
        if because(&verdict) != *expected {
            wrong.push(format!(
                "{}: expected {expected:?}, and {:?}",
                candidate.name, verdict.failure
            ));
        }
        for (bound, value) in &verdict.counts {
            let is_loose = LOOSE.contains(&(candidate.task.id, bound.count));
            if !is_loose
                && candidate.name.ends_with("__solved")
                && (*value - bound.at_most).abs() > 0.02 * bound.at_most
            {
                wrong.push(format!(
                    "{}: {} is {value}, and the bound {} is not tight",
                    candidate.name,
                    bound.count.name(),
                    bound.at_most
                ));
            }
            if *value > bound.at_most {
                breaks.insert((candidate.task.id, format!("{:?}", bound.count)));
            }
        }
    }
    for task in TASKS {
        assert!(expected.len() > 2 * TASKS.len(), "there are rejected and accepted kernels");
        let kernels = candidates.iter().zip(&submissions);
        let of = |name: &str| {
            kernels
                .clone()
                .find(|(one, _)| one.name == format!("{}__{name}", task.id))
                .expect("it was compiled")
                .1
        };
        for (questions, kernel) in [(task.before, of("shipped")), (task.after, of("solved"))] {
            for question in questions {
                let right = (question.answer)(&Runs(&Subject { task, kernel }))
                    .unwrap_or_else(|error| panic!("{}: {error:#}", task.id));
                for (miss, truth) in question.misses {
                    if (miss - right).abs() < 1e-9 || truth.is_empty() {
                        wrong.push(format!(
                            "{}: the miss {miss} of `{}` is the answer, or has no text",
                            task.id, question.text
                        ));
                    }
                }
                println!("{:20} {} = {right}", task.id, question.text);
            }
        }
    }
    let bounds =
        TASKS.iter().flat_map(|task| task.bounds.iter().map(move |bound| (task.id, bound)));
    let whole = bounds.filter(|(id, bound)| !breaks.contains(&(*id, format!("{:?}", bound.count))));
    // A bound that nothing here breaks stands against what a learner may try instead: it is said, and is no fault.
    let unbroken: Vec<String> =
        whole.map(|(id, bound)| format!("{id}: {}", bound.count.name())).collect();
    println!("no kernel here breaks {}", unbroken.join(", "));
    assert!(wrong.is_empty(), "{} fault(s):\n  {}", wrong.len(), wrong.join("\n  "));
    println!("{} kernels, {} broken bounds", candidates.len(), breaks.len());
}

#[test]
fn tasks_are_well_formed() {
    let ids: BTreeSet<&str> = TASKS.iter().map(|task| task.id).collect();
    assert_eq!(ids.len(), TASKS.len(), "two tasks have one name");
    for task in TASKS {
        let shipped =
            format::shipped(task.solved).unwrap_or_else(|error| panic!("{}: {error:#}", task.id));
        assert!(
            shipped.contains(&["TO", "DO"].concat()),
            "{}: what a learner is given says what to do",
            task.id
        );
        assert!(format::doc(task.solved).starts_with("# "), "{}: its text has a heading", task.id);
        assert_eq!(
            course::ptx::signature(&shipped, task.id).ok(),
            course::ptx::signature(task.solved, task.id).ok()
        );
        let solution = solution(task);
        let secret = solution
            .lines()
            .map(str::trim)
            .filter(|line| line.len() > 24 && !shipped.contains(*line));
        for line in secret.filter(|line| !line.starts_with("//")) {
            let quoted = task.hints.iter().any(|hint| hint.contains(line));
            assert!(!quoted, "{}: a hint quotes `{line}`", task.id);
        }
        assert!(task.hints.iter().all(|hint| !hint.is_empty()), "{}: an empty hint", task.id);
    }
}
