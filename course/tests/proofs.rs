//! Promises of every task: it fails as shipped, for its reason; it passes solved; its bounds are tight; wrong
//! kernels fail and other right ones pass. All kernels are compiled as one crate.

#![allow(clippy::print_stdout, reason = "what was proved is shown on request")]

mod candidates;
#[path = "candidates/mutants.rs"]
mod mutants;

use candidates::build::{Candidate, compile, edited, places, solution, write};
use candidates::{
    Kernels, LOOSE, REMARKS, cheats, host_tasks, hosts, is_host, kernel_tasks, kernels_of_tasks,
    side_by_side, told,
};
use course::format;
use course::grade::{Subject, Verdict, grade};
use course::host::{self, HostSubmission, Source};
use course::question::{Execute, Question, Runs};
use course::refuse::{refuse, refuse_host};
use course::task::{FailureKind, Task};
use course::tasks::{TASKS, named};
use course::verdict::Tally;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn because(verdict: &Verdict) -> Option<FailureKind> {
    verdict.failure.as_ref().map(|failure| failure.because)
}

#[test]
fn every_task_fails_as_shipped_passes_solved_and_tells_wrong_from_right() {
    let Kernels { candidates, expected, honest } = kernels_of_tasks();
    let submissions = compile("proofs", &candidates);
    let graded: Vec<_> = candidates.iter().zip(&submissions).collect();
    let verdicts = side_by_side(&graded, |(candidate, submission)| {
        grade(candidate.task, submission, 77).expect("the virtual device starts")
    });
    let mut wrong = Vec::new();
    // Each bound is tight, and something breaks it.
    let mut breaks: BTreeSet<(&str, String)> = BTreeSet::new();
    for (candidate, verdict) in candidates.iter().zip(&verdicts).skip(honest) {
        if verdict.is_pass() {
            wrong.push(format!("{}: passes, and {:?}", candidate.name, verdict.counts));
        }
        breaks.extend(broken(candidate.task, verdict));
    }
    for ((candidate, verdict), expected) in candidates.iter().zip(&verdicts).zip(&expected) {
        let found = because(verdict);
        // What is needless breaks a bound, whichever comes first.
        let is_wasteful = candidate.name.ends_with("__wasteful");
        let is_bound =
            |because: &Option<FailureKind>| matches!(because, Some(FailureKind::Bound(_)));
        if found != *expected && !(is_wasteful && is_bound(&found)) {
            wrong.push(format!(
                "{}: expected {expected:?}, and {:?}",
                candidate.name, verdict.failure
            ));
        }
        wrong.extend(loose(candidate, verdict));
        wrong.extend(unsaid(candidate, verdict));
        breaks.extend(broken(candidate.task, verdict));
    }
    let tasks = kernel_tasks();
    assert!(expected.len() > 2 * tasks.len(), "there are rejected and accepted kernels");
    let said = side_by_side(&tasks, |task| {
        let of = |name: &str| {
            let name = format!("{}__{name}", task.id());
            graded.iter().find(|(one, _)| one.name == name).expect("it was compiled").1
        };
        let mut wrong = told::faults(task, of("shipped"), of("solved"));
        for (questions, kernel) in
            [(task.questions_before(), of("shipped")), (task.after.iter().collect(), of("solved"))]
        {
            wrong.extend(questioned(task, &questions, &Subject { task, kernel }));
        }
        wrong
    });
    wrong.extend(said.into_iter().flatten());
    let bounds =
        tasks.iter().flat_map(|task| task.bounds.iter().map(move |bound| (task.id(), bound)));
    let whole = bounds.filter(|(id, bound)| !breaks.contains(&(*id, format!("{:?}", bound.count))));
    let unbroken = whole.map(|(id, bound)| format!("{id}: nothing breaks {}", bound.count.name()));
    wrong.extend(unbroken);
    assert!(wrong.is_empty(), "{} fault(s):\n  {}", wrong.len(), wrong.join("\n  "));
    println!("{} kernels, {} broken bounds", candidates.len(), breaks.len());
}

/// The same of host tasks: all their files are one program.
#[test]
fn every_host_task_fails_as_shipped_passes_solved_and_tells_wrong_from_right() {
    let places = places();
    let folder = places.target.join("learn/host_candidates");
    std::fs::create_dir_all(&folder).expect("a writable target folder");
    let tasks = host_tasks();
    let is_chosen = |task: &Task| tasks.iter().any(|one| one.id() == task.id());
    let mut candidates = Vec::new();
    for task in &tasks {
        let shipped = format::shipped(task.solved()).expect("well-formed");
        candidates.push((Candidate::new(task, "shipped", shipped), Some(task.fails_as_shipped)));
        candidates.push((Candidate::new(task, "solved", solution(task)), None));
    }
    for (id, name, from, to, because) in hosts::EDITED {
        let task = named(id).expect("a task");
        if is_chosen(task) {
            candidates.push((Candidate::new(task, name, edited(task, from, to)), *because));
        }
    }
    let honest = candidates.len();
    let cheats = cheats::hosts().into_iter().filter(|one| is_chosen(one.task));
    candidates.extend(cheats.map(|one| (one, None)));
    let paths: Vec<PathBuf> =
        candidates.iter().map(|(one, _)| folder.join(format!("{}.rs", one.name))).collect();
    for ((one, _), path) in candidates.iter().zip(&paths) {
        // What is edited may be unused, or unsafe without need.
        write(path, &one.source.replacen("#![allow(", "#![allow(warnings, ", 1));
    }
    let sources = candidates.iter().zip(&paths);
    let sources: Vec<Source<'_>> =
        sources.map(|((one, _), path)| Source { name: &one.name, path }).collect();
    let program = host::build(&places, "host_proofs", &sources).expect("there is a compiler");
    let program = program.expect("all candidates compile");
    let verdicts = side_by_side(&candidates, |(one, _)| {
        host::grade(one.task, (&program, &one.name, &one.source), 77).expect("it starts")
    });
    let mut wrong = Vec::new();
    let mut breaks = BTreeSet::new();
    let graded = candidates.iter().zip(&verdicts).enumerate();
    for (index, ((one, expected), verdict)) in graded {
        if index >= honest && verdict.is_pass() {
            wrong.push(format!("{}: passes, and {:?}", one.name, verdict.counts));
        }
        if index < honest && because(verdict) != *expected {
            wrong.push(format!("{}: expected {expected:?}, and {:?}", one.name, verdict.failure));
        }
        wrong.extend(loose(one, verdict));
        wrong.extend(unsaid(one, verdict));
        breaks.extend(broken(one.task, verdict));
    }
    for task in &tasks {
        wrong.extend(told::typed(task));
        for bound in task.bounds {
            if !breaks.contains(&(task.id(), format!("{:?}", bound.count))) {
                wrong.push(format!("{}: nothing breaks {}", task.id(), bound.count.name()));
            }
        }
        for (questions, name) in
            [(task.questions_before(), "shipped"), (task.after.iter().collect(), "solved")]
        {
            let name = format!("{}__{name}", task.id());
            wrong.extend(questioned(
                task,
                &questions,
                &HostSubmission { task, program: &program, name: &name },
            ));
        }
    }
    assert!(wrong.is_empty(), "{} fault(s):\n  {}", wrong.len(), wrong.join("\n  "));
}

/// Bounds that leave a solution more than it needs.
fn loose(candidate: &Candidate, verdict: &Verdict) -> Vec<String> {
    let is_tight = |one: &&Tally| {
        (one.value - one.limits.at_most).abs() <= 0.02 * one.limits.at_most
            || LOOSE.contains(&(candidate.task.id(), one.bound.count))
    };
    let counts = verdict.counts.iter().filter(|_| candidate.name.ends_with("__solved"));
    let counts = counts.filter(|one| !is_tight(one));
    let message = |one: &Tally| {
        let (name, value, most) = (one.bound.count.name(), one.value, one.limits.at_most);
        format!("{}: {name} is {value}, and the bound {most} is not tight", candidate.name)
    };
    counts.map(message).collect()
}

/// Remarks that are missing, or that a solution has.
fn unsaid(candidate: &Candidate, verdict: &Verdict) -> Vec<String> {
    let is_said = |part: &str| verdict.remarks.iter().any(|remark| remark.contains(part));
    let remarks = REMARKS.iter().filter(|(name, part)| *name == candidate.name && !is_said(part));
    let mut unsaid: Vec<String> =
        remarks.map(|(name, part)| format!("{name}: nothing says `{part}`")).collect();
    if candidate.name.ends_with("__solved") && !verdict.remarks.is_empty() {
        unsaid.push(format!("{}: {:?}", candidate.name, verdict.remarks));
    }
    unsaid
}

/// The bounds that a kernel or a host file is outside of.
fn broken(task: &Task, verdict: &Verdict) -> Vec<(&'static str, String)> {
    let outside = verdict.counts.iter().filter(|one| one.limits.order(one.value).is_ne());
    outside.map(|one| (task.id(), format!("{:?}", one.bound.count))).collect()
}

/// Returns what is wrong with questions: each has an answer, which none of its misses is.
fn questioned(task: &Task, questions: &[&Question], asked: &dyn Execute) -> Vec<String> {
    let mut wrong = Vec::new();
    for question in questions {
        let right = (question.answer)(&Runs(asked));
        let right = right.unwrap_or_else(|error| panic!("{}: {error:#}", task.id()));
        for (miss, truth) in question.misses {
            if (miss - right).abs() < 1e-9 || truth.is_empty() {
                wrong.push(format!(
                    "{}: the miss {miss} of `{}` is the answer, or has no text",
                    task.id(),
                    question.text
                ));
            }
        }
        println!("{:20} {} = {right}", task.id(), question.text);
    }
    wrong
}

/// A file that takes the solution's text, however it names it, is refused before it is compiled.
#[test]
fn what_reads_the_solution_is_refused_in_every_task() {
    for task in TASKS {
        let folder = if is_host(task) { "course/src/hosts" } else { "course/kernels/src" };
        let solved = places().root.join(folder).join(format!("{}.rs", task.id()));
        let solved = solved.display();
        for text in [
            format!("#[path = \"{solved}\"]\nmod other;\npub use other::*;\n"),
            format!("#[cfg_attr(all(), path = \"{solved}\")]\nmod other;\npub use other::*;\n"),
            format!("include!(\"{solved}\");\n"),
            format!("use core::include as take;\ntake!(\"{solved}\");\n"),
        ] {
            let error = refuse(&text).expect_err(task.id()).to_string();
            assert!(error.contains("another file"), "{}: {error}", task.id());
        }
        refuse(&solution(task)).unwrap_or_else(|error| panic!("{}: {error:#}", task.id()));
    }
}

/// No task's file can take the virtual GPU's record or the answers.
#[test]
fn no_host_file_reaches_the_record_or_the_answers() {
    let places = places();
    let folder = places.target.join("learn/host_candidates");
    std::fs::create_dir_all(&folder).expect("a writable target folder");
    for task in TASKS.iter().filter(|task| is_host(task)) {
        for (name, text) in cheats::unlinked(task) {
            let path = folder.join(format!("{}__{name}.rs", task.id()));
            write(&path, &cheats::begun(task, "run", &text));
            let built = host::build(&places, "host_unlinked", &[Source { name, path: &path }]);
            assert!(built.expect("there is a compiler").is_none(), "{}: {name}", task.id());
        }
        for (name, text) in cheats::BY_NUMBERS {
            let error = refuse_host(&cheats::begun(task, "run", text)).expect_err(name);
            assert!(error.to_string().contains("by their numbers"), "{name}: {error}");
        }
        refuse_host(&solution(task)).unwrap_or_else(|error| panic!("{}: {error:#}", task.id()));
        let shipped = format::shipped(task.solved()).expect("well-formed");
        refuse_host(&shipped).unwrap_or_else(|error| panic!("{}: {error:#}", task.id()));
    }
}

#[test]
fn tasks_are_well_formed() {
    let ids: BTreeSet<&str> = TASKS.iter().map(|task| task.id()).collect();
    assert_eq!(ids.len(), TASKS.len(), "two tasks have one name");
    for task in TASKS {
        let shipped = format::shipped(task.solved())
            .unwrap_or_else(|error| panic!("{}: {error:#}", task.id()));
        assert!(
            shipped.contains(&["TO", "DO"].concat()),
            "{}: what a learner is given says what to do",
            task.id()
        );
        assert!(
            format::doc(task.solved()).starts_with("# "),
            "{}: its text has a heading",
            task.id()
        );
        let name = if is_host(task) { "run" } else { task.id() };
        assert_eq!(
            course::ptx::signature(&shipped, name).expect("it has one"),
            course::ptx::signature(task.solved(), name).expect("it has one")
        );
        let solution = solution(task);
        let secret = solution
            .lines()
            .map(str::trim)
            .filter(|line| line.len() > 24 && !shipped.contains(*line));
        for line in secret.filter(|line| !line.starts_with("//")) {
            let quoted = task.hints.iter().any(|hint| hint.contains(line));
            assert!(!quoted, "{}: a hint quotes `{line}`", task.id());
        }
        assert!(task.hints.iter().all(|hint| !hint.is_empty()), "{}: an empty hint", task.id());
    }
}
