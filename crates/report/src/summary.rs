//! The first page: every ladder at a glance, peers, all figures, the machine, the method.

use super::environment::{day, facts, of_environment};
use super::page::{self, fixed, headers, time};
use super::runs::{Runs, Subject};
use super::{before_after, glossary, ladder, markdown, method, myths, roofline};
use maud::{Markup, PreEscaped, html};
use results::{Results, Row};

/// The content of the page.
pub fn content(runs: &Runs, subjects: &[Subject<'_>]) -> Markup {
    let results = &runs.main.results;
    let device = &results.environment.device.name;
    let rows = results.ladders().filter(|row| row.measured().is_some() && !row.peer).count();
    let verb = if results.environment.is_prediction { "predicted" } else { "measured" };
    html! {
        h1 { "Memory patterns on " (device) }
        p.lead {
            "Each pattern is a ladder of variants that compute the same thing, naive first: " (subjects.len())
            " patterns, " (rows) " variants " (verb) " on " (day(results.environment.started_unix_s)) "."
        }
        p.links {
            @if runs.compared().is_some() { a href=(before_after::PAGE) { "Before and after" } }
            a href=(glossary::PAGE) { "Glossary" }
            @if runs.myths().is_some() { a href=(myths::PAGE) { "Myths" } }
        }
        (page::notes(&runs.notes()))
        (page::older_kernels(runs.older_kernels().as_deref()))
        (cards(runs, subjects))
        (peers(runs, subjects))
        h2 id="ladders" { "All ladders" }
        p {
            "Times are medians with cold caches. The column \"bound by\" names the resource that bounds a variant; the minimum "
            "time is the time that its bytes or launches take at the measured peak of that resource. A speed-up is over the "
            "first variant of the ladder that must move as many bytes. The button in a header sorts by its column."
        }
        (ladder::table("All ladders", runs, &subjects.iter().map(|subject| subject.name).collect::<Vec<_>>(), true))
        (roofline::section(runs))
        (measured_peaks(results))
        (environment(runs))
        (method::section(runs))
    }
}

/// The patterns by topic: the folder of their file.
fn topics<'a>(subjects: &[Subject<'a>]) -> Vec<(String, Vec<Subject<'a>>)> {
    let mut topics: Vec<(String, Vec<Subject<'a>>)> = Vec::new();
    for subject in subjects {
        let folder = subject.pattern.and_then(|pattern| pattern.file.rsplit('/').nth(1));
        let topic = folder.unwrap_or("other").replace('_', " ");
        match topics.iter_mut().find(|(name, _)| *name == topic) {
            Some((_, all)) => all.push(*subject),
            None => topics.push((topic, vec![*subject])),
        }
    }
    topics
}

/// A card per pattern: its ladder as a strip, from where to where, and the lesson.
fn cards(runs: &Runs, subjects: &[Subject<'_>]) -> Markup {
    html! {
        h2 id="patterns" { "Patterns" }
        p {
            "A strip has a column per variant, from the naive one to the last; its height is the percentage of the measured "
            "peak, whose level is the line, or of the fastest variant where no peak bounds all of them. The best is green."
        }
        p.search hidden {
            label for="search" { "Find a pattern, a variant or a word of a lesson: " }
            input id="search" type="search" autocomplete="off";
            " " span role="status" id="found" {}
        }
        @for (topic, subjects) in topics(subjects) {
            section.topic {
                h3 { (topic) }
                ul.cards { @for subject in &subjects { (card(runs, *subject)) } }
            }
        }
    }
}

fn card(runs: &Runs, subject: Subject<'_>) -> Markup {
    let rows = runs.ladder(subject.name);
    let names: Vec<&str> = rows.iter().map(|row| row.variant.as_str()).collect();
    let claim = subject.pattern.map_or("", |pattern| pattern.claim.as_str());
    let words = format!("{} {} {claim}", subject.name, names.join(" ")).to_lowercase();
    html! {
        li data-search=(words) {
            a href=(format!("{}.html", subject.name)) { (subject.name) }
            @if let Some((svg, words)) = ladder::strip(runs, subject.name) {
                (PreEscaped(svg))
                @if runs.is_ranked(subject.name) { span.ends { (words) } }
                @else { span.ends { "not ranked: predicted in an order that is known to be wrong" } }
            }
            span { (markdown::sentence(claim)) }
        }
    }
}

fn environment(runs: &Runs) -> Markup {
    html! {
        h2 id="environment" { "Environment" }
        (facts(&of_environment(&runs.main.results.environment)))
        @for run in &runs.others {
            details {
                summary { "Compared with: " (run.name) }
                (facts(&of_environment(&run.results.environment)))
            }
        }
    }
}

fn measured_peaks(results: &Results) -> Markup {
    let body = html! {
        @for peak in &results.measured_peaks {
            tr {
                th scope="row" { (peak.resource.name()) }
                td.figure { (peak.rate()) }
                (time(Some(peak.time_ms.min)))
                (fixed(Some(peak.amount as f64), 0, &format!(" {}", peak.resource.unit())))
                (fixed(Some(peak.time_ms.noise_percent()), 1, ""))
                (fixed(Some(peak.time_ms.samples as f64), 0, ""))
            }
        }
    };
    html! {
        h2 id="measured_peaks" { "Measured peaks" }
        p { "The highest rate of each resource of this machine, measured in the same run as the variants. The fastest of several runs counts." }
        (page::table("Measured peaks", &headers(&["resource", "peak", "fastest run, ms", "per run", "spread, %", "samples"]), &body))
    }
}

/// The fastest of our variants and its time in milliseconds.
fn fastest<'a>(rows: &[&'a Row]) -> Option<(&'a Row, f64)> {
    let ours = rows.iter().filter(|row| !row.peer);
    let timed = ours.filter_map(|row| Some((*row, row.measured()?.time_ms.median)));
    timed.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Each peer and our variant of the same algorithm: `nvcc NAME` is the twin of NAME; a library, whose algorithm is its
/// own, stands beside our fastest one.
fn peers(runs: &Runs, subjects: &[Subject<'_>]) -> Markup {
    let mut pairs = Vec::new();
    for subject in subjects {
        let rows = runs.ladder(subject.name);
        for peer in rows.iter().filter(|row| row.peer) {
            let Some(figures) = peer.measured() else { continue };
            let twin = peer.twin().and_then(|name| {
                let ours = rows.iter().find(|row| !row.peer && row.variant == name)?;
                Some((*ours, ours.measured()?.time_ms.median))
            });
            let Some(ours) = twin.or_else(|| fastest(&rows)) else { continue };
            pairs.push((subject.name, ours, *peer, figures.time_ms.median));
        }
    }
    let body = html! {
        @for (name, (ours, our_ms), peer, peer_ms) in &pairs {
            tr data-peer=(name) {
                td { a href=(format!("{name}.html")) { (name) } }
                th scope="row" { (peer.variant) }
                (time(Some(*peer_ms)))
                td { (ours.variant) }
                (time(Some(*our_ms)))
                (fixed(Some(peer_ms / our_ms), 2, " x"))
            }
        }
    };
    let names =
        ["pattern", "peer", "its time, ms", "our variant", "our time, ms", "speed, ours / peer"];
    html! {
        h2 id="peers" { "Against peers" }
        @if pairs.is_empty() {
            p { "This run timed no peers." }
        } @else {
            p {
                "CUDA C++ by nvcc, each the twin of our variant of the same name, and NVIDIA's libraries beside our "
                "fastest variant, in the same run. Above 1 ours is the faster one."
            }
            (page::table("Peers and our variants", &headers(&names), &body))
        }
    }
}
