//! A race and its like as two lanes of time: who did what, from the executor's first finding in a task's file.

use crate::sources::Sources;
use anyhow::{Context, Result};
use course::grade::{Access, Bug};
use maud::{Markup, html};
use report::markdown;
use simt::Hazard;

/// The accesses of a task's mistake, a column for each lane, time downwards.
pub fn lanes_of_time(sources: &Sources, id: &str) -> Result<Markup> {
    let bug = sources.answers.bug(id);
    let bug =
        bug.with_context(|| format!("nobody has executed a file with a mistake of `{id}`"))?;
    Ok(figure(id, bug))
}

fn figure(id: &str, bug: &Bug) -> Markup {
    let who = |one: &Access| format!("block {}, warp {}, lane {}", one.block, one.warp, one.lane);
    let event = |one: &Access, column: u32, row: u32| {
        html! {
            div.event style=(format!("grid-column: {column}; grid-row: {row}")) {
                span { "line " (one.line) } code { (one.text) }
            }
        }
    };
    let (first, second) = (bug.accesses.first(), bug.accesses.get(1));
    html! {
        figure.bug {
            div.time-lanes {
                @for (column, one) in bug.accesses.iter().enumerate() {
                    div.who style=(format!("grid-column: {}; grid-row: 1", column + 1)) { (who(one)) }
                }
                @if let Some(first) = first { (event(first, 1, 2)) }
                @if let Some(second) = second {
                    @if bug.is_at_once {
                        (event(second, 2, 2))
                    } @else {
                        div.unordered { (between(bug.hazard)) }
                        (event(second, 2, 4))
                    }
                }
            }
            figcaption {
                (markdown::sentence(&capitalized(&bug.sentence))) ". Seen by the executor in " code { "learn/" (id) ".rs" } "; time runs downwards."
                @if second.is_some() && !bug.is_at_once { " On a GPU the two may come in the other order." }
            }
        }
    }
}

/// Returns what is missing between the two.
fn between(hazard: Hazard) -> &'static str {
    match hazard {
        Hazard::AsyncCopyNotAwaited => "nobody waits for the copy",
        Hazard::ReadOnlyWritten => "the read-only load promised that nobody writes",
        _ => "nothing orders the two",
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_access_is_lower_unless_both_come_at_once() {
        let access = |warp| Access { block: 0, warp, lane: 3, line: 7, text: "a < b".to_owned() };
        let mut bug = Bug {
            hazard: Hazard::SharedRace,
            sentence: "tILE: no order".to_owned(),
            accesses: vec![access(0), access(1)],
            is_at_once: false,
        };
        let race = figure("x", &bug).into_string();
        for part in [
            "block 0, warp 1, lane 3",
            "grid-row: 4",
            "nothing orders the two",
            "a &lt; b",
            "TILE: no",
        ] {
            assert!(race.contains(part), "{part}: {race}");
        }
        bug.is_at_once = true;
        let at_once = figure("x", &bug).into_string();
        assert!(!at_once.contains("grid-row: 4") && !at_once.contains("unordered"), "{at_once}");
    }
}
