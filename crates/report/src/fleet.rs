//! A fleet of boards: which are slow and at what, each board, and each row over all boards.
//!
//! ```no_run
//! let nodes: Vec<results::fleet::Node> = Vec::new(); // A file of results for each board.
//! report::fleet::write(&nodes, "fleet".as_ref())?;
//! # anyhow::Ok(())
//! ```

use super::glossary;
use super::lesson;
use super::page::{self, Link, fixed, headers, time};
use super::publish::{self, Page};
use anyhow::Result;
use maud::{Markup, html};
use results::fleet::{
    DEVIATIONS, Fleet, FleetRow, LEAST_BOARDS, LEAST_PERCENT, Node, Outlier, Part, Score, doubts,
    facts, fleets, odd_facts,
};
use std::path::Path;

/// The slowest boards of a row that are named beside it.
const NAMED: usize = 3;

/// Writes the pages of a fleet, a file of results per board, as a folder of pages; `index.html` is the first.
///
/// # Errors
/// A folder that cannot be written or holds something else than a report; a folder that was there stays as it was.
pub fn write(nodes: &[Node], folder: &Path) -> Result<()> {
    publish::publish(folder, &pages(nodes))
}

fn pages(nodes: &[Node]) -> Vec<Page> {
    let fleets = fleets(nodes);
    let title = format!("{} boards", nodes.len());
    let first = Link { file: "index.html".to_owned(), name: "all boards".to_owned() };
    let text = page::page(&title, &[], &summary(nodes, &fleets, &title));
    let mut pages = vec![Page { file: first.file.clone(), text }];
    let words = page::page("glossary", &[("", first.clone())], &lesson::content());
    pages.push(Page { file: glossary::PAGE.to_owned(), text: words });
    for fleet in &fleets {
        for (place, node) in fleet.nodes.iter().enumerate() {
            let text = page::page(
                &nodes[*node].name,
                &[("", first.clone())],
                &of_board(nodes, fleet, place),
            );
            pages.push(Page { file: file_of(*node), text });
        }
    }
    pages
}

/// The page of a board. Names of files are anything, so they are no names of pages.
fn file_of(node: usize) -> String {
    format!("board-{node}.html")
}

fn link(nodes: &[Node], node: usize) -> Markup {
    html! { a href=(file_of(node)) { (nodes[node].name) } }
}

/// An outlier in a sentence.
pub fn in_words(outlier: &Outlier) -> String {
    let score = &outlier.score;
    format!(
        "{}: {:.1} % slower than the median board, {:.0} standard deviations away, over {} rows",
        outlier.slow_at(),
        100.0 * (score.ratio - 1.0),
        score.deviations,
        score.rows
    )
}

fn summary(nodes: &[Node], fleets: &[Fleet], title: &str) -> Markup {
    let outliers: usize = fleets.iter().map(|fleet| fleet.outliers.len()).sum();
    let judged: Vec<&Fleet> =
        fleets.iter().filter(|fleet| fleet.nodes.len() >= LEAST_BOARDS).collect();
    html! {
        h1 { (title) }
        p.lead {
            @if judged.is_empty() { "Too few boards of one model to judge: at least " (LEAST_BOARDS) " are needed." }
            @else if outliers == 0 { "No board is slower than the others." }
            @else {
                @let slow = slow_boards(fleets);
                (slow) @if slow == 1 { " board is" } @else { " boards are" } " slower than the others."
            }
        }
        p {
            "Each row of a board is compared with the median over all boards of its model, and the ratios of the rows that one "
            "part of the device bounds give one figure, their median; so do those of each resource, such as H2D. A board is an outlier when that figure is more than "
            (DEVIATIONS) " robust standard deviations (from the median absolute deviation over the boards) and more than "
            (LEAST_PERCENT) " % above the median board. Launches and work of the host accuse nobody: they differ from run to run."
        }
        @for (index, fleet) in fleets.iter().enumerate() {
            @for unsound in &fleet.unsound {
                p {
                    strong { (nodes[unsound.node].name) }
                    (format!(
                        ": {} rows are wrong, {} rows are absent that most boards have{}",
                        unsound.wrong.len(),
                        unsound.absent.len(),
                        if unsound.interrupted { ", and its run was interrupted." } else { "." }
                    ))
                    @if let Some((row, reason)) = unsound.wrong.first().or(unsound.absent.first()) {
                        " The first is " (row) ": " (reason)
                    }
                }
            }
            @for doubt in doubts(nodes, fleet) { p { (doubt) "." } }
            h2 id=(format!("outliers-{index}")) { "Outliers among " (fleet.nodes.len()) " x " (fleet.model) }
            (outliers_of(nodes, fleet))
            h2 id=(format!("boards-{index}")) { "Boards: " (fleet.model) }
            (boards(nodes, fleet))
            h2 id=(format!("rows-{index}")) { "Rows: " (fleet.model) }
            (rows(nodes, fleet))
        }
    }
}

/// Boards with at least one outlier.
fn slow_boards(fleets: &[Fleet]) -> usize {
    let mut slow: Vec<usize> =
        fleets.iter().flat_map(|fleet| fleet.outliers.iter().map(|outlier| outlier.node)).collect();
    slow.sort_unstable();
    slow.dedup();
    slow.len()
}

fn outliers_of(nodes: &[Node], fleet: &Fleet) -> Markup {
    if fleet.nodes.len() < LEAST_BOARDS {
        return html! { p { "Fewer than " (LEAST_BOARDS) " boards: nothing can be said." } };
    }
    html! {
        @if fleet.outliers.is_empty() { p { "None." } } @else {
            (page::table(
                &format!("Outliers of {}, the slowest first", fleet.model),
                &headers(&["board", "slow at", "time / median", "standard deviations", "rows", "what is odd about it"]),
                &html! { @for outlier in &fleet.outliers {
                    tr.slower {
                        th scope="row" { (link(nodes, outlier.node)) }
                        td { (outlier.slow_at()) }
                        (fixed(Some(outlier.score.ratio), 3, ""))
                        (fixed(Some(outlier.score.deviations), 0, ""))
                        (fixed(Some(outlier.score.rows as f64), 0, ""))
                        td.words { (odd_facts(nodes, fleet, outlier.node).join("; ")) }
                    }
                } },
            ))
        }
    }
}

/// The boards, those with outliers first, then by the sum of what they are slower at.
fn boards(nodes: &[Node], fleet: &Fleet) -> Markup {
    let mut order: Vec<usize> = (0..fleet.nodes.len()).collect();
    let worst = |place: &usize| {
        let of_board = fleet.scores[*place].iter().filter(|(part, _)| part.is_the_boards());
        of_board.map(|(_, score)| score.deviations).fold(0.0, f64::max)
    };
    order.sort_by(|a, b| worst(b).total_cmp(&worst(a)));
    let parts: Vec<Part> = Part::ALL
        .into_iter()
        .filter(|part| fleet.scores.iter().any(|scores| scores.contains_key(part)))
        .collect();
    let names: Vec<&str> = facts_of(nodes, fleet);
    let header = html! {
        th scope="col" { "board" }
        @for part in &parts { th scope="col" { (part.name()) } }
        @for name in &names { th scope="col" { (name) } }
    };
    let body = html! {
        @for place in order {
            @let node = fleet.nodes[place];
            @let facts = facts(&nodes[node].results.environment);
            tr {
                th scope="row" { (link(nodes, node)) }
                @for part in &parts { (score_cell(*part, fleet.scores[place].get(part))) }
                @for name in &names {
                    td.short { @for (_, value) in facts.iter().filter(|(of, _)| of == name) { (value) } }
                }
            }
        }
    };
    page::table("Time over the median board, by the part that bounds it", &header, &body)
}

/// The facts that any board of a fleet has, in order.
fn facts_of(nodes: &[Node], fleet: &Fleet) -> Vec<&'static str> {
    let mut names = Vec::new();
    for node in &fleet.nodes {
        for (name, _) in facts(&nodes[*node].results.environment) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn score_cell(part: Part, score: Option<&Score>) -> Markup {
    let is_slow = score.is_some_and(|score| part.is_the_boards() && score.is_slow());
    html! {
        @match score {
            Some(score) => td.figure.hot[is_slow] data-value=(score.ratio) {
                (format!("{:.3}", score.ratio)) @if is_slow { " slow" }
            },
            None => td.figure data-value="" {},
        }
    }
}

/// Every row over the boards, the widest first.
fn rows(nodes: &[Node], fleet: &Fleet) -> Markup {
    let mut order: Vec<&FleetRow> = fleet.rows.iter().collect();
    let worst = |row: &FleetRow| {
        row.times_ms.iter().flatten().fold(0.0, |a: f64, b| a.max(*b)) / row.median_ms
    };
    order.sort_by(|a, b| worst(b).total_cmp(&worst(a)));
    let body = html! {
        @for row in order {
            tr {
                th scope="row" { (row.name) }
                td.short { (row.size) }
                td { (row.part.name()) }
                (time(Some(row.median_ms)))
                (fixed(Some(row.deviation_percent), 1, ""))
                (fixed(Some(worst(row)), 3, ""))
                td.short {
                    @for (index, (place, ratio)) in slowest(row).into_iter().enumerate() {
                        @if index > 0 { ", " }
                        (link(nodes, fleet.nodes[place])) " " (format!("{ratio:.2}"))
                    }
                }
            }
        }
    };
    let names = [
        "variant",
        "size",
        "bound by",
        "median, ms",
        "standard deviation, %",
        "slowest / median",
        "slowest boards",
    ];
    page::table(
        "Each row over all boards, the row with the slowest board first",
        &headers(&names),
        &body,
    )
}

/// The slowest boards of a row with their ratios to the median.
fn slowest(row: &FleetRow) -> Vec<(usize, f64)> {
    let times = row.times_ms.iter().enumerate();
    let mut ratios: Vec<(usize, f64)> =
        times.filter_map(|(place, time)| Some((place, (*time)? / row.median_ms))).collect();
    ratios.sort_by(|a, b| b.1.total_cmp(&a.1));
    ratios.truncate(NAMED);
    ratios
}

/// A board: its circumstances, and its rows against the medians.
fn of_board(nodes: &[Node], fleet: &Fleet, place: usize) -> Markup {
    let node = fleet.nodes[place];
    let own: Vec<&Outlier> = fleet.outliers.iter().filter(|outlier| outlier.node == node).collect();
    let ratio = |row: &FleetRow| row.times_ms[place].map(|time| time / row.median_ms);
    let mut rows: Vec<(&FleetRow, f64)> =
        fleet.rows.iter().filter_map(|row| Some((row, ratio(row)?))).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let odd = odd_facts(nodes, fleet, node);
    html! {
        h1 { (nodes[node].name) }
        p.lead { @if own.is_empty() { "Not slower than the other boards." } @else { "Slower than the other boards." } }
        @if !own.is_empty() { ul { @for outlier in own { li { (in_words(outlier)) "." } } } }
        @if !odd.is_empty() { p { "Unlike most boards: " (odd.join("; ")) "." } }
        h2 id="environment" { "Environment" }
        (super::environment::facts(&super::environment::of_environment(&nodes[node].results.environment)))
        h2 id="rows" { "Rows against the median board" }
        (page::table(
            &format!("Rows of {}, the slowest first", nodes[node].name),
            &headers(&["variant", "size", "bound by", "time, ms", "median, ms", "time / median"]),
            &html! { @for (row, ratio) in rows {
                tr {
                    th scope="row" { (row.name) }
                    td.short { (row.size) }
                    td { (row.part.name()) }
                    (time(row.times_ms[place]))
                    (time(Some(row.median_ms)))
                    (fixed(Some(ratio), 3, ""))
                }
            } },
        ))
    }
}
