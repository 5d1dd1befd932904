#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

use super::outside::tasks;
use super::session::{Outcome, Session};
use super::verdicts::{checked, failure, gradescope};
use super::work::Work;
use super::{folder, init, screen, words};
use crate::bounds::line_in;
use crate::compile::{self, Compiled, Places};
use crate::count::{Count, number};
use crate::format;
use crate::grade;
use crate::hash::hash;
use crate::picture;
use crate::question::{Question, Reply, Runs, SEED};
use crate::task::Task;
use anyhow::{Context, Result, bail};
use coalesce::pattern::Size;
use results::{CHECKED_SCHEMA, CheckedTasks, Sarif, SarifLevel};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The largest product of a size's numbers that `try` executes.
const MAX_ELEMENTS: usize = 1 << 22;

/// Longest checks that a learner should wait for, on two cores, in seconds: in the median of the tasks, and of any.
const MAX_MEDIAN: f64 = 3.0;
const MAX_SECONDS: f64 = 6.0;

/// Compiles a file in this process, which another has started with limits.
pub fn compile(places: &Places, name: &str, file: &Path) -> Result<ExitCode> {
    Ok(match compile::compile(places, name, file)? {
        Compiled::Ptx(submission) => {
            print!("{}", submission.ptx);
            ExitCode::SUCCESS
        }
        Compiled::Refused => ExitCode::from(compile::REFUSED),
    })
}

/// The form of verdicts on the standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Screen,
    Json,
    Gradescope,
}

/// The forms in which verdicts are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    pub form: Form,
    pub sarif: Option<&'a Path>,
}

pub fn check(
    session: &mut Session,
    id: Option<&str>,
    all: bool,
    output: Output<'_>,
    ptx: Option<&Path>,
) -> Result<ExitCode> {
    let there = tasks().iter().copied().filter(|task| folder::is_there(&session.places, task));
    let tasks = if all { there.collect() } else { vec![session.task(id)?] };
    let mut verdicts = Vec::new();
    let mut passed = 0;
    let working = std::env::current_dir().context("the working folder is gone")?;
    let (mut findings, mut stages) = (Sarif::new("learn", working, ""), BTreeSet::new());
    for task in &tasks {
        let begin = Instant::now();
        let outcome = match ptx {
            Some(file) => session.check_ptx(task, file),
            None => session.check(task).map(|(outcome, _)| outcome),
        };
        // A class is graded whole, whatever is wrong with one file.
        let outcome = match outcome {
            Err(error) if all => Err(format!("{error:#}")),
            outcome => Ok(outcome?),
        };
        passed += usize::from(outcome.as_ref().is_ok_and(Outcome::is_pass));
        if let Some((stage, message, line)) = failure(&outcome) {
            let file = folder::file(&session.places, task).display().to_string();
            let rule = format!("learn/{stage}");
            if stages.insert(rule.clone()) {
                let description = format!("A task of the course does not pass: {stage}.");
                let help = format!("{description} `cargo xtask learn hint` shows the next step.");
                findings.add_rule(&rule, &description, &help, SarifLevel::Error);
            }
            findings.add(&rule, task.id(), &message, &file, line.unwrap_or(1));
        }
        if output.form != Form::Screen {
            verdicts.push(checked(session, task, &outcome, begin.elapsed()));
        } else {
            show_outcome(task, &outcome);
            if !all && outcome.as_ref().is_ok_and(Outcome::is_pass) {
                print!("{}", next_line(task));
            }
        }
    }
    if let Some(path) = output.sarif {
        findings.save(path)?;
    }
    if output.form == Form::Gradescope {
        println!("{}", gradescope(&verdicts)?);
        // The points are in the file: an autograder that ends otherwise has failed itself.
        return Ok(ExitCode::SUCCESS);
    }
    if output.form == Form::Json {
        let all = CheckedTasks { schema: CHECKED_SCHEMA, passed, tasks: verdicts };
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else if all {
        println!("{passed} of {} tasks pass", tasks.len());
    }
    Ok(if passed == tasks.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show_outcome(task: &'static Task, outcome: &Result<Outcome, String>) {
    print!("{}", screen::heading(task, place(task), tasks().len()));
    match outcome {
        Ok(Outcome::Graded(verdict)) => print!("{}", screen::verdict(task, verdict)),
        Ok(Outcome::Refused) => {
            print!(
                "{}",
                screen::labelled("compiles", "NOT YET: the compiler's messages are above")
            );
        }
        Ok(Outcome::Absent | Outcome::AsGiven) => {
            print!("{}", screen::labelled("file", "NOT YET: there is none"));
        }
        Err(error) => print!("{}", screen::labelled("file", &format!("NOT YET: {error}"))),
    }
}

/// The task behind one that passes.
pub fn next(task: &Task) -> &'static Task {
    tasks()[place(task) % tasks().len()]
}

/// Returns what to go on with.
pub fn next_line(task: &Task) -> String {
    let next = next(task);
    screen::wrapped(&format!("next: {} ({} of {})", next.id(), place(next), tasks().len()))
}

/// The place of a task in the course, from 1.
pub fn place(task: &Task) -> usize {
    tasks().iter().position(|one| one.id() == task.id()).map_or(0, |index| index + 1)
}

pub fn open(session: &Session, id: Option<&str>) -> Result<ExitCode> {
    let task = session.task(id)?;
    print!("{}", screen::heading(task, place(task), tasks().len()));
    println!(
        "\n{}\nYour file: {}",
        screen::prose(&format::doc(task.solved())),
        folder::file(&session.places, task).display()
    );
    Ok(ExitCode::SUCCESS)
}

pub fn doc(session: &Session, id: Option<&str>) -> Result<ExitCode> {
    print!("{}", screen::prose(&words::of(session.task(id)?)));
    Ok(ExitCode::SUCCESS)
}

pub fn hint(session: &mut Session, id: Option<&str>) -> Result<ExitCode> {
    let task = session.task(id)?;
    let entry = session.progress.of(task.id());
    let shown = entry.hints.min(task.hints.len() - 1);
    entry.hints = shown + 1;
    let hint = format!("hint {} of {}: {}", shown + 1, task.hints.len(), task.hints[shown]);
    print!("{}", screen::wrapped(&hint));
    session.progress.write(&session.places.learn, task.id())?;
    Ok(ExitCode::SUCCESS)
}

/// The questions that are open now, and whether they are about the learner's own kernel.
pub fn questions(session: &Session, task: &'static Task) -> (Vec<&'static Question>, bool) {
    let is_done = session.progress.is_done(task.id());
    (if is_done { task.after.iter().collect() } else { task.questions_before() }, is_done)
}

pub fn guess(session: &mut Session, id: &str, answers: &[String]) -> Result<ExitCode> {
    let task = session.task(Some(id))?;
    let (questions, own) = questions(session, task);
    if questions.is_empty() {
        println!("there is no question about `{}` now", task.id());
        return Ok(ExitCode::SUCCESS);
    }
    if answers.is_empty() {
        for question in &questions {
            print!("{}", question_text(question));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if answers.len() != questions.len() {
        bail!(
            "{} answers were given and {} are asked for: give one for each question",
            answers.len(),
            questions.len()
        );
    }
    let given = questions.iter().zip(answers);
    let given = given.map(|(question, text)| question.parse(text)).collect::<Result<Vec<f64>>>()?;
    let work = session.work(task, own)?;
    let asked = work.ask(task);
    let mut right = 0;
    for (question, given) in questions.iter().zip(&given) {
        let reply = question.reply(&Runs(&*asked), *given)?;
        right += usize::from(matches!(reply, Reply::Right(_)));
        print!("{}", screen::wrapped(&show_reply(&reply)));
    }
    session.progress.of(task.id()).guesses.extend(given);
    session.progress.write(&session.places.learn, task.id())?;
    Ok(if right == questions.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub fn question_text(question: &Question) -> String {
    let text = question.show();
    let mut lines = text.lines();
    let first = screen::wrapped(lines.next().unwrap_or_default());
    let choices = lines.map(|line| screen::labelled("", line.trim()));
    std::iter::once(first).chain(choices).collect()
}

pub fn show_reply(reply: &Reply) -> String {
    match reply {
        Reply::Right(why) => format!("right. {why}"),
        Reply::Wrong(truth) if truth.is_empty() => "not that; a run shows it.".to_owned(),
        Reply::Wrong(truth) => format!("not that. {truth}"),
    }
}

pub fn list(session: &Session) -> Result<ExitCode> {
    for task in tasks() {
        let entry = session.progress.tasks.get(task.id()).cloned().unwrap_or_default();
        let state = if entry.done && entry.task != hash(task.solved()) {
            // It was another task when it passed: `check` says whether it still does.
            "older"
        } else if entry.done && entry.fails_now {
            "fails"
        } else if entry.done {
            "done"
        } else if entry.attempts > 0 {
            "begun"
        } else {
            ""
        };
        let mut notes = Vec::new();
        if entry.hints > 0 {
            notes.push(format!("{} hint{}", entry.hints, if entry.hints == 1 { "" } else { "s" }));
        }
        if entry.solution_seen {
            notes.push("solution seen".to_owned());
        }
        let notes =
            if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        let (place, id, kind) = (place(task), task.id(), task.kind.name());
        let start = format!("{place:>3}  {state:5} {id:20} {kind:8} ");
        print!("{}", screen::behind(start, &format!("{}{notes}", task.title())));
    }
    println!("{} of {} tasks done", session.progress.done(), tasks().len());
    Ok(ExitCode::SUCCESS)
}

pub fn reset(session: &mut Session, id: &str) -> Result<ExitCode> {
    let task = session.task(Some(id))?;
    match folder::reset(&session.places, task)? {
        Some(kept) => println!("{id} is as it began; yours is kept in {}", kept.display()),
        None => println!("{id} is as it began"),
    }
    Ok(ExitCode::SUCCESS)
}

pub fn show(session: &mut Session, id: &str) -> Result<ExitCode> {
    let task = session.task(Some(id))?;
    if init::hides_solutions(&session.places.learn)? {
        bail!("this folder is of a class, which shows no solutions: ask your teacher");
    }
    let entry = session.progress.of(task.id());
    if let Some(why) = entry.refuses_solution() {
        bail!("{why}");
    }
    entry.solution_seen |= !entry.done;
    session.progress.write(&session.places.learn, task.id())?;
    print!("{}", format::solution(&session.places.solved(task)?)?);
    Ok(ExitCode::SUCCESS)
}

pub fn try_at(session: &Session, id: &str, set: &[String]) -> Result<ExitCode> {
    let task = session.task(Some(id))?;
    let size = size_of(task, set)?;
    let work = session.work(task, true)?;
    let run = match &work {
        Work::Kernel(kernel) => grade::try_at(task, kernel, &size)?,
        Work::Host(..) => work.ask(task).run(&size)?,
    };
    println!("{} at {}, data of seed {SEED}", task.id(), task.pattern.show_size(&size));
    for count in Count::ALL {
        let value = count.of(&run);
        if value > 0.0 {
            println!("  {:>10}  {}", number(value), count.name());
        }
    }
    for line in &run.host.timeline {
        println!("  {line}");
    }
    let Work::Kernel(kernel) = &work else { return Ok(ExitCode::SUCCESS) };
    // What lies in no line of the file is shown behind what does.
    let line = |one: &results::InstructionCounts| line_in(kernel, one.source.as_ref()?);
    let instructions = run.counted.instructions.values();
    let mut instructions: Vec<_> = instructions.map(|one| (line(one), one)).collect();
    instructions.sort_by_key(|(line, _)| line.as_ref().map_or(u32::MAX, |line| line.0));
    for (line, instruction) in instructions {
        for request in &instruction.requests {
            let place = line.as_ref().map_or_else(
                || "in a library".to_owned(),
                |(number, text)| format!("line {number}  `{text}`"),
            );
            print!("{}", screen::wrapped(&format!("  {place}, {:?}", request.kind)));
            for text in picture::strip(request) {
                print!("{}", screen::behind("    ".to_owned(), &text));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A task's count size with some numbers replaced.
fn size_of(task: &Task, set: &[String]) -> Result<Size> {
    let mut size = task.count_size();
    let names =
        || task.pattern.dimensions.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
    for text in set {
        let (name, value) = text
            .split_once('=')
            .with_context(|| format!("`{text}` is no NAME=NUMBER, such as `n=33`"))?;
        let index = task.pattern.dimensions.iter().position(|one| one.name == name);
        let index = index.with_context(|| {
            format!("`{name}` is no number of {}: it has {}", task.id(), names())
        })?;
        let value: usize =
            value.parse().ok().with_context(|| format!("`{value}` is no whole number"))?;
        if value == 0 {
            bail!("{name} must be at least 1");
        }
        size = size.with(index, value);
    }
    let elements = size.values().iter().try_fold(1_usize, |product, one| product.checked_mul(*one));
    if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
        bail!("this size has more than {MAX_ELEMENTS} elements: choose a smaller one");
    }
    Ok(size)
}

/// From save to verdict, for every solution: what a learner waits for.
pub fn times(session: &Session) -> Result<ExitCode> {
    let folder = session.places.target.join("learn/times");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let mut all = Vec::new();
    println!("seconds from save to verdict\n  compile  grade  both  task");
    for task in tasks() {
        let file = folder.join(format!("{}.rs", task.id()));
        let solution = format::solution(task.solved())?;
        // An empty line more is a changed line table, so nothing is taken from the run before.
        let old = std::fs::read_to_string(&file).unwrap_or_default();
        let text = if old == solution { format!("{solution}\n\n") } else { solution };
        let moved = text.replacen(
            "#[kernel]",
            if old.contains("\n\n\n#[kernel]") { "#[kernel]" } else { "\n\n#[kernel]" },
            1,
        );
        std::fs::write(&file, moved).with_context(|| format!("cannot write {}", file.display()))?;
        let begin = Instant::now();
        let Some(work) = Work::build(&session.places, task, task.id(), &file)? else {
            bail!("the solution of {} does not compile", task.id())
        };
        let compiled = begin.elapsed().as_secs_f64();
        if let Some(failure) = work.grade(task, 2)?.failure {
            bail!("the solution of {} does not pass: {}", task.id(), failure.message);
        }
        let both = begin.elapsed().as_secs_f64();
        println!("  {compiled:7.2} {:6.2} {both:5.2}  {}", both - compiled, task.id());
        all.push(both);
    }
    all.sort_by(f64::total_cmp);
    let (median, longest) = (all[all.len() / 2], all[all.len() - 1]);
    println!(
        "median {median:.2} s (at most {MAX_MEDIAN}), longest {longest:.2} s (at most {MAX_SECONDS})"
    );
    let is_fast = median <= MAX_MEDIAN && longest <= MAX_SECONDS;
    Ok(if is_fast { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
