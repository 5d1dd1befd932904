//! Tasks of one student: where a task has several forms, the name decides which.

use crate::hash::hash;
use crate::task::{Choice, Task};
use crate::tasks::TASKS;
use coalesce::pattern::Pattern;

/// Returns the tasks of a student, in teaching order. The same name gets the same tasks on every machine.
pub fn tasks_of(name: &str) -> Vec<&'static Task> {
    TASKS
        .iter()
        .map(|task| {
            let digits = hash(&format!("{name} {}", task.id()));
            let number = u64::from_str_radix(&digits, 16).unwrap_or_default();
            let nth = (number % (task.choices.len() as u64 + 1)) as usize;
            // The last one is the form of the course.
            task.choices.get(nth).map_or(*task, |choice| form(task, choice))
        })
        .collect()
}

/// Returns a task in another of its forms. It lives as long as the process.
pub fn form(task: &'static Task, choice: &Choice) -> &'static Task {
    let mut of = Task {
        pattern: Pattern { case: choice.case, ..task.pattern },
        replaced: choice.replaced,
        choices: &[],
        ..*task
    };
    of.hints = task.hints.map(|hint| &*of.replace(hint).leak());
    of.pattern.doc_source = of.replace(task.solved()).leak();
    Box::leak(Box::new(of))
}
