//! The first page: every ladder at a glance, peers, all figures, the machine, the method.

use super::page::{self, fixed, headers, time};
use super::runs::{Runs, Subject};
use super::{before_after, glossary, ladder, markdown, method, myths, roofline};
use maud::{Markup, PreEscaped, html};
use results::{Board, Environment, Results, Row};

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

/// One fact per line.
pub fn facts(list: &[(&str, String)]) -> Markup {
    html! { dl.facts { @for (name, fact) in list { dt { (name) } dd { (fact) } } } }
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

pub fn of_environment(environment: &Environment) -> Vec<(&'static str, String)> {
    let Environment { device, board, host, .. } = environment;
    let gib = |bytes: f64| format!("{:.0} GiB", bytes / f64::from(1 << 30));
    let known = |text: &str| text != "unknown" && !text.is_empty();
    let capability = (device.capability / 10, device.capability % 10);
    let mut facts = vec![
        (
            "Device",
            format!(
                "{}, compute capability {}.{}, {} multiprocessors at up to {} MHz",
                device.name,
                capability.0,
                capability.1,
                device.multiprocessors,
                device.clock_khz / 1000
            ),
        ),
        (
            "Device memory",
            format!(
                "{}, {} bits at {} MHz, ECC {}, L2 cache of {} MiB",
                gib(device.memory_bytes as f64),
                device.memory_bus_bits,
                device.memory_clock_khz / 1000,
                if device.ecc { "on" } else { "off" },
                device.l2_bytes >> 20
            ),
        ),
        ("CUDA", device.driver_version.clone()),
    ];
    facts.extend(board.as_ref().map(|board| ("Board", of_board(board))));
    let cores = format!("{} logical cores, {}", host.logical_cores, gib(host.memory_bytes as f64));
    let names = [&host.cpu, &host.system, &host.kernel].map(String::as_str);
    let names = names.into_iter().filter(|name| known(name));
    facts.push(("Host", names.chain([cores.as_str()]).collect::<Vec<_>>().join(", ")));
    facts.push((
        "Kernels",
        format!(
            "PTX for {} ({}) by {}, commit {}",
            environment.ptx_target, environment.ptx_hash, environment.compiler, environment.commit
        ),
    ));
    let day = day(environment.started_unix_s);
    let duration = match environment.duration_s {
        seconds if seconds > 0.0 => format!(", took {seconds:.0} s"),
        _ => String::new(),
    };
    facts.push(("Run", format!("{day} (UTC){duration}, inputs of seed {}", environment.seed)));
    facts
}

pub(crate) fn of_board(board: &Board) -> String {
    let mut parts = vec![format!("driver {}", board.driver)];
    parts.extend(board.id.as_ref().map(|id| format!("board {id}")));
    parts.extend(board.max_clock_mhz.map(|clock| format!("clock up to {clock} MHz")));
    parts.extend(board.max_memory_clock_mhz.map(|clock| format!("memory up to {clock} MHz")));
    parts.extend(board.power_limit_w.map(|power| format!("power limit {power:.0} W")));
    parts.extend(board.power_w.map(|power| format!("{power:.0} W at the start")));
    parts.extend(board.temperature_c.map(|degrees| format!("{degrees} °C at the start")));
    let link = board.pcie_generation.zip(board.pcie_lanes);
    parts.extend(link.map(|(generation, lanes)| format!("PCIe {generation} x{lanes}")));
    parts.push(match &board.throttle_reasons[..] {
        [] => "clocks not throttled".to_owned(),
        reasons => format!("clocks throttled by {}", reasons.join(", ")),
    });
    parts.join(", ")
}

/// A day such as 2026-11-21, from seconds since 1970.
fn day(unix_s: u64) -> String {
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: years begin in March.
    let days = unix_s / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [0, 951_782_399, 951_782_400, 951_868_800, 1_795_253_848].map(day);
        assert_eq!(days, ["1970-01-01", "2000-02-28", "2000-02-29", "2000-03-01", "2026-11-21"]);
    }
}
