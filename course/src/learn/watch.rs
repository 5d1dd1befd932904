//! `watch`: a grade on every save, and keys in between.
#![allow(clippy::print_stdout, reason = "a command-line program prints its results")]

use super::commands::{self, place};
use super::outside::tasks;
use super::session::{Outcome, Session};
use super::{folder, screen};
use crate::question::Runs;
use crate::task::{Kind, Task};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Interval at which the file is read. Its contents are compared, so that it works where no change is announced.
const PAUSE: Duration = Duration::from_millis(200);
const KEYS: &str = "[h]int [d]oc [p]icture [s]olution [n]ext [l]ist [x] reset [q]uit, then Enter";

pub fn run(session: &mut Session, id: Option<&str>) -> Result<ExitCode> {
    let _lock = lock(session)?;
    let keys = keys();
    let mut task = session.task(id)?;
    let mut open = begin(session, task)?;
    let mut seen = None;
    loop {
        let text = std::fs::read(folder::file(&session.places, task)).ok();
        if open == 0 && text != seen {
            seen = text;
            grade(session, task);
            open = after(session, task);
        }
        let key = match keys.recv_timeout(PAUSE) {
            Ok(key) => key,
            Err(RecvTimeoutError::Timeout) => continue,
            // Without a terminal there is nothing to wait for but saves.
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(PAUSE);
                open = 0;
                continue;
            }
        };
        match key.trim() {
            "q" => {
                let done = session.progress.done();
                println!("{done} of {} done; go on with `cargo xtask learn`", tasks().len());
                return Ok(ExitCode::SUCCESS);
            }
            "n" => {
                task = commands::next(task);
                open = begin(session, task)?;
                seen = None;
            }
            "" if open > 0 => {
                open -= 1;
                show_question(session, task, open);
            }
            key @ ("h" | "d" | "p" | "s" | "l" | "x") => {
                pressed(session, task, key);
                show_question(session, task, open);
            }
            answer if open > 0 => {
                if answered(session, task, open, answer) {
                    open -= 1;
                }
                show_question(session, task, open);
            }
            _ => print!("{}", screen::wrapped(KEYS)),
        }
    }
}

/// Two watches in one folder would write the progress of each other over.
fn lock(session: &Session) -> Result<File> {
    let path = session.places.learn.join(".lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    if file.try_lock().is_err() {
        bail!(
            "another `cargo xtask learn` watches {}: end it first",
            session.places.learn.display()
        );
    }
    Ok(file)
}

fn keys() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Shows a task; gives how many questions are to be answered first.
fn begin(session: &Session, task: &'static Task) -> Result<usize> {
    commands::open(session, Some(task.id()))?;
    println!("{}", screen::wrapped(KEYS));
    let has_guessed =
        session.progress.tasks.get(task.id()).is_some_and(|entry| !entry.guesses.is_empty());
    let is_done = session.progress.is_done(task.id());
    // The answers to a question task are in its file.
    let is_question = task.kind == Kind::Question;
    let open =
        if has_guessed || is_done || is_question { 0 } else { task.questions_before().len() };
    show_question(session, task, open);
    Ok(open)
}

fn show_question(session: &Session, task: &'static Task, open: usize) {
    let (questions, _) = commands::questions(session, task);
    if open > 0 && open <= questions.len() {
        let question = questions[questions.len() - open];
        print!("{}(Enter alone skips) ", commands::question_text(question));
        println!();
    }
}

fn answered(session: &mut Session, task: &'static Task, open: usize, text: &str) -> bool {
    let (questions, own) = commands::questions(session, task);
    let question = questions[questions.len() - open];
    let reply = || -> Result<(f64, String)> {
        let given = question.parse(text)?;
        let work = session.work(task, own)?;
        let reply = question.reply(&Runs(&*work.ask(task)), given)?;
        Ok((given, commands::show_reply(&reply)))
    };
    match reply() {
        Ok((given, reply)) => {
            print!("{}", screen::wrapped(&reply));
            session.progress.of(task.id()).guesses.push(given);
            if let Err(error) = session.progress.write(&session.places.learn, task.id()) {
                println!("{error:#}");
            }
            true
        }
        Err(error) => {
            println!("{error:#}");
            false
        }
    }
}

fn grade(session: &mut Session, task: &'static Task) {
    print!("{}{}", screen::clear(), screen::heading(task, place(task), tasks().len()));
    match session.check(task) {
        Ok((Outcome::Graded(verdict), took)) => {
            print!("{}", screen::verdict(task, &verdict));
            if verdict.is_pass() {
                print!("{}", commands::next_line(task));
            }
            print!("{:.1} s\n{}", took.as_secs_f64(), screen::wrapped(KEYS));
        }
        Ok((Outcome::Refused | Outcome::Absent | Outcome::AsGiven, _)) => {
            print!("{}", screen::wrapped(&format!("the compiler's messages are above; {KEYS}")));
        }
        Err(error) => print!("{}", screen::wrapped(&format!("{error:#}; {KEYS}"))),
    }
}

/// Questions about the learner's own kernel, once it passes.
fn after(session: &Session, task: &'static Task) -> usize {
    let Some(entry) = session.progress.tasks.get(task.id()).filter(|entry| entry.done) else {
        return 0;
    };
    let open =
        if entry.guesses.len() > task.questions_before().len() { 0 } else { task.after.len() };
    show_question(session, task, open);
    open
}

fn pressed(session: &mut Session, task: &'static Task, key: &str) {
    let done = match key {
        "h" => commands::hint(session, Some(task.id())),
        "d" => commands::doc(session, Some(task.id())),
        "p" => commands::try_at(session, task.id(), &[]),
        "s" => commands::show(session, task.id()),
        "l" => commands::list(session),
        _ => commands::reset(session, task.id()),
    };
    if let Err(error) = done {
        println!("{error:#}");
    }
}
