//! A task of the course: what it says, what a learner is given, and a place for a guess.

use crate::sources::Sources;
use anyhow::{Context, Result};
use course::format;
use course::question::{Answers, Question};
use course::task::Task;
use maud::{Markup, html};
use report::markdown;

pub fn task(sources: &Sources, id: &str) -> Result<Markup> {
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
            @for (index, question) in task.before.iter().enumerate() {
                (guess(sources, task, index, question))
            }
            details {
                summary { "What you are given: " code { "learn/" (id) ".rs" } }
                pre tabindex="0" { code { (code) } }
            }
            p { "Work on it: " code { "cargo xtask learn watch " (id) } }
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
