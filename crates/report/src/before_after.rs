//! Two results side by side: before and after a change, or two GPUs.

use super::environment;
use super::page::{self, fixed, headers, time};
use super::runs::{Run, Runs};
use super::step::changed_counters;
use super::tabulate::factor;
use maud::{Markup, html};
use results::{Pair, Row, Verdict, differences, pairs};

/// The page's file.
pub const PAGE: &str = "before_after.html";

/// The columns of its tables: what a narrow window shows comes first.
const COLUMNS: [&str; 8] = [
    "variant",
    "verdict",
    "after / before",
    "before, ms",
    "after, ms",
    "size",
    "spread before, %",
    "spread after, %",
];

/// The content of the page.
pub fn content(runs: &Runs, other: &Run) -> Markup {
    let (before, after) = (&runs.main, other);
    let (found, alone) = pairs(&before.results, &after.results);
    let mut changed: Vec<&Pair<'_>> = found
        .iter()
        .filter(|pair| matches!(pair.verdict(), Verdict::Faster | Verdict::Slower))
        .collect();
    let size = |pair: &Pair<'_>| pair.ratio().ln().abs();
    changed.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let counted: Vec<(&Row, String)> = found
        .iter()
        .filter(|pair| pair.row.sweep.is_none())
        .filter_map(|pair| Some((pair.row, changed_traffic(runs, other, pair.row)?)))
        .collect();
    let said = differences(&before.results.environment, &after.results.environment);
    html! {
        h1 { (before.file) " and " (after.file) }
        p.lead { (verdict(&found)) }
        p {
            "“Before” is " code { (before.file) } ", “after” is " code { (after.file) } ". A row is faster or slower when the "
            "middle halves of the samples (all samples, for work of the host) do not meet and the medians differ by more than half a "
            "launch; it is ambiguous when they meet and are wide."
        }
        @if !said.is_empty() { (page::notes(&[format!("The two were not made under the same conditions: {}.", said.join("; "))])) }
        h2 id="changed" { "What became faster or slower" }
        @if changed.is_empty() {
            p { "No row did." }
        } @else {
            (table("Rows that differ, the largest difference first", &changed))
        }
        h2 id="counters" { "What is counted differently" }
        @if counted.is_empty() {
            p { "No variant's registers, occupancy or traffic differ, as far as both files have them." }
        } @else {
            (page::table(
                "Variants whose kernels take other resources or cause other traffic",
                &headers(&["variant", "before → after"]),
                &html! { @for (row, words) in &counted { tr { (name(row)) td.words { (words) } } } },
            ))
        }
        h2 id="all" { "All rows" }
        (table("All rows that both files have", &found.iter().collect::<Vec<_>>()))
        @if alone > 0 { p { (alone) " rows are in only one of the files." } }
        h2 id="environments" { "Environments" }
        div.beside {
            @for run in [before, after] {
                div { h3 { (run.file) } (environment::facts(&environment::of_environment(&run.results.environment))) }
            }
        }
    }
}

/// Returns how many rows became faster and slower, and by how much in the middle.
fn verdict(found: &[Pair<'_>]) -> String {
    let mut counts = [0; 4];
    let mut ratios: Vec<f64> = Vec::new();
    for pair in found {
        counts[pair.verdict() as usize] += 1;
        ratios.push(pair.ratio());
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
    let [same, faster, slower, ambiguous] = counts;
    format!(
        "{} rows: {faster} faster, {slower} slower, {same} the same, {ambiguous} ambiguous; the median row takes {} times as \
         long as before.",
        found.len(),
        factor(median)
    )
}

/// The variant's name, which a narrow window breaks between its words.
fn name(row: &Row) -> Markup {
    let name = row.name();
    html! {
        th scope="row" {
            a href=(format!("{}.html", row.pattern)) {
                @for word in name.split_inclusive(['/', '_']) { (word) wbr; }
            }
        }
    }
}

fn table(caption: &str, rows: &[&Pair<'_>]) -> Markup {
    let body = html! {
        @for pair in rows {
            @let verdict = pair.verdict();
            tr class=[class(verdict)] {
                (name(pair.row))
                td.verdict { (verdict.to_string().to_lowercase()) }
                (fixed(Some(pair.ratio()), 3, ""))
                (time(Some(pair.first.median)))
                (time(Some(pair.second.median)))
                td.short { (pair.row.show_size()) }
                (fixed(Some(pair.first.noise_percent()), 1, ""))
                (fixed(Some(pair.second.noise_percent()), 1, ""))
            }
        }
    };
    page::table(caption, &headers(&COLUMNS), &body)
}

fn class(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Faster => Some("faster"),
        Verdict::Slower => Some("slower"),
        Verdict::Same | Verdict::Ambiguous => None,
    }
}

/// Returns what of a variant's resources and traffic is not what it was, in words.
fn changed_traffic(runs: &Runs, other: &Run, row: &Row) -> Option<String> {
    let after = other.results.rows.iter().find(|one| one.is_same_work(row))?;
    let mut changes: Vec<(&str, Option<f64>, Option<f64>)> = Vec::new();
    if let Some((a, b)) = row.resources.zip(after.resources) {
        let values = [
            ("registers", a.registers, b.registers),
            ("shared memory per block", a.shared_bytes, b.shared_bytes),
            ("local memory per thread", a.local_bytes, b.local_bytes),
        ];
        let values = values.map(|(name, a, b)| (name, Some(f64::from(a)), Some(f64::from(b))));
        changes.extend(values);
        changes.push(("occupancy, %", Some(a.occupancy_percent), Some(b.occupancy_percent)));
    }
    if let Some((a, b)) = row.traffic.zip(after.traffic) {
        changes.extend([
            ("load sectors / request", a.load_sectors, b.load_sectors),
            ("store sectors / request", a.store_sectors, b.store_sectors),
            (
                "shared load wavefronts / request",
                a.shared_load_wavefronts,
                b.shared_load_wavefronts,
            ),
            (
                "shared store wavefronts / request",
                a.shared_store_wavefronts,
                b.shared_store_wavefronts,
            ),
        ]);
    }
    changes.retain(|(_, a, b)| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() > 1e-3 * a.abs(),
        (a, b) => a.is_some() != b.is_some(),
    });
    let counted = |run: &Run| {
        let counts = run.results.counts.as_ref()?;
        counts.pattern(&row.pattern)?.variant(&row.variant).cloned()
    };
    // Both files have their own counts only if nobody gave others.
    if let Some((a, b)) = counted(&runs.main).zip(counted(other)) {
        let known: Vec<&str> = changes.iter().map(|(name, ..)| *name).collect();
        let more = changed_counters(&a.counters, &b.counters).into_iter();
        changes.extend(more.filter(|(name, ..)| !known.contains(name)).collect::<Vec<_>>());
    }
    let show = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), super::plot::figure);
    let words = changes.iter().map(|(name, a, b)| format!("{name}: {} → {}", show(*a), show(*b)));
    (!changes.is_empty()).then(|| words.collect::<Vec<_>>().join("; "))
}
