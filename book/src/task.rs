//! A task of the course: what it says, what a learner is given, and a place for a guess.

use crate::directive::Places;
use crate::sources::Sources;
use anyhow::{Context, Result};
use course::format;
use course::question::{Answers, Question};
use course::task::Task;
use maud::{Markup, html};
use report::markdown;

pub fn task(id: &str) -> Result<Markup> {
    let task = course::tasks::named(id).with_context(|| format!("there is no task `{id}`"))?;
    let shipped = format::shipped(task.solved())?;
    let code: String = shipped
        .lines()
        .skip_while(|line| line.starts_with("//!") || line.is_empty())
        .flat_map(|line| [line, "\n"])
        .collect();
    let text = markdown::doc(&format::doc(task.solved()));
    Ok(html! {
        div.task id=(format!("task-{id}")) {
            h3 { "Task: " (text.title) }
            p.kind { (task.kind.name()) " · " code { (id) } }
            div.prose { (text.body) }
            details {
                summary { "What you are given: " code { "learn/" (id) ".rs" } }
                pre tabindex="0" { code { (code) } }
            }
            p { "Work on it: " code { "cargo xtask learn watch " (id) } }
        }
    })
}

/// The bets of the section that has a task: its questions, or a place for words where it has none.
pub fn bets(sources: &Sources, id: &str) -> Result<Markup> {
    let task = course::tasks::named(id).with_context(|| format!("there is no task `{id}`"))?;
    Ok(html! {
        @for (index, question) in task.before.iter().enumerate() {
            (guess(sources, task, index, question))
        }
        @if task.before.is_empty() {
            div.guess data-id=(words(id)) {
                p id=(format!("guess-{}", words(id))) { strong { "Your bet" } ", in a few words:" }
            }
        }
    })
}

/// The names under which a browser keeps the bets of a task.
pub fn names(id: &str) -> Vec<String> {
    let questions = course::tasks::named(id).map_or(0, |task| task.before.len());
    match questions {
        0 => vec![words(id)],
        _ => (0..questions).map(|index| format!("{id}-{index}")).collect(),
    }
}

fn words(id: &str) -> String {
    format!("{id}-words")
}

/// One question of a task, for a page that shows nothing else of it.
pub fn bet(sources: &Sources, places: &Places, id: &str, index: &str) -> Result<Markup> {
    let task = course::tasks::named(id).with_context(|| format!("there is no task `{id}`"))?;
    let index: usize = index.parse().with_context(|| format!("`{index}` is no number"))?;
    let question = task.before.get(index);
    let question = question.with_context(|| format!("`{id}` has no question {index}"))?;
    let target = places.target(&format!("task {id}"))?;
    Ok(html! {
        div.bet {
            (guess(sources, task, index, question))
            p { a href=(target) { "The section about it" } }
        }
    })
}

/// A question. What a script does with it: it takes a guess, and shows the answer after it.
fn guess(sources: &Sources, task: &Task, index: usize, question: &Question) -> Markup {
    let answer = sources.answers.of(task.id(), index);
    let slack = match question.answers {
        Answers::Number(share) => share,
        _ => 0.0,
    };
    let id = format!("{}-{index}", task.id());
    html! {
        div.guess data-answer=[answer] data-slack=(slack) data-id=(id) {
            p id=(format!("guess-{id}")) { strong { "Your bet: " } (question.text) }
            @match question.answers {
                Answers::Choice(choices) => {
                    ol { @for choice in choices { li { (choice) } } }
                }
                _ => {}
            }
            @for (value, truth) in question.misses { span.miss hidden data-value=(value) { (truth) } }
            details.answer {
                summary { "The answer" }
                @match answer {
                    Some(answer) => p { strong { (shown(question, answer)) } ". " (question.why) },
                    None => p { "Ask the executor: " code { "cargo xtask learn guess " (task.id()) } },
                }
            }
        }
    }
}

fn shown(question: &Question, answer: f64) -> String {
    match question.answers {
        Answers::Choice(choices) if answer >= 1.0 => {
            choices.get(answer as usize - 1).map_or_else(|| answer.to_string(), ToString::to_string)
        }
        _ => report::plot::figure(answer),
    }
}
