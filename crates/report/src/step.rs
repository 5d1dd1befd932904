//! From one variant to the next: what changed in the source, in the counters, in the time.

use super::page::{self, figure_of, headers, time_with_unit};
use super::runs::Runs;
use super::source::kernel_source;
use maud::{Markup, PreEscaped, html};
use results::{CountedPattern, CountedVariant, Counters, Row};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Lines around a change that are shown with it.
const CONTEXT: usize = 2;
/// A diff of more lines than this is no diff that anybody reads.
const MAX_LINES: usize = 240;

type Count = (&'static str, fn(&Counters) -> Option<f64>);

/// The counters that a step is judged by.
const COUNTERS: [Count; 13] = [
    ("load sectors / request", Counters::load_sectors),
    ("store sectors / request", Counters::store_sectors),
    ("sectors of global memory", |counters| {
        let parts = [&counters.global_load, &counters.global_store, &counters.async_copy_global];
        some(parts.iter().map(|traffic| traffic.sectors).sum())
    }),
    ("shared load wavefronts / request", Counters::shared_load_wavefronts),
    ("shared store wavefronts / request", Counters::shared_store_wavefronts),
    ("shared atomic wavefronts / request", Counters::shared_atomic_wavefronts),
    ("constant wavefronts / request", Counters::constant_wavefronts),
    ("global atomics", Counters::global_atomics),
    ("local load sectors / request", Counters::local_load_sectors),
    ("local store sectors / request", Counters::local_store_sectors),
    ("bytes requested / moved, %", Counters::efficiency_percent),
    ("warp instructions", |counters| some(counters.warp_instructions)),
    ("barriers of warps", |counters| some(counters.barriers)),
];

fn some(count: u64) -> Option<f64> {
    (count > 0).then_some(count as f64)
}

/// The counters that differ by more than a thousandth: name, before, after.
pub fn changed_counters(
    before: &Counters,
    after: &Counters,
) -> Vec<(&'static str, Option<f64>, Option<f64>)> {
    let all = COUNTERS.iter().map(|(name, count)| (*name, count(before), count(after)));
    let differ = |(_, before, after): &(&str, Option<f64>, Option<f64>)| match (before, after) {
        (Some(before), Some(after)) => (before - after).abs() > 1e-3 * before.abs(),
        (before, after) => before.is_some() != after.is_some(),
    };
    all.filter(differ).collect()
}

/// The section of a pattern's page; empty when it has fewer than two kernels.
pub fn section(runs: &Runs, pattern: &CountedPattern) -> Markup {
    let kernels: Vec<&CountedVariant> =
        pattern.variants.iter().filter(|variant| !variant.kernels.is_empty()).collect();
    html! {
        @if kernels.len() > 1 {
            h2 id="steps" { "Step by step" }
            p { "Each variant beside the one before it: the time, the counters that changed, and the lines that changed." }
            @for two in kernels.windows(2) { (step(runs, pattern, two[0], two[1])) }
        }
    }
}

fn step(
    runs: &Runs,
    pattern: &CountedPattern,
    before: &CountedVariant,
    after: &CountedVariant,
) -> Markup {
    let rows = runs.ladder(&pattern.name);
    let row = |variant: &CountedVariant| {
        rows.iter().copied().find(|row| !row.peer && row.variant == variant.name)
    };
    let changed = changed_counters(&before.counters, &after.counters);
    let source = |variant: &CountedVariant| -> Vec<String> {
        variant
            .kernels
            .iter()
            .flat_map(|kernel| kernel_source(&pattern.source, &pattern.file, kernel))
            .map(str::to_owned)
            .collect()
    };
    let ptx = |variant: &CountedVariant| -> Vec<String> {
        let lines = variant.kernels.iter().flat_map(|kernel| &kernel.ptx);
        lines.map(|line| line.1.clone()).collect()
    };
    html! {
        details id=(format!("step-{}", after.name)) {
            summary {
                h3 { (before.name) " → " (after.name) } " "
                span { (time_in_words(runs, row(before), row(after))) }
            }
            p { (super::markdown::sentence(&after.summary)) }
            @if changed.is_empty() {
                p { "No counter of memory traffic changed." }
            } @else {
                (page::table(
                    &format!("What {} counts differently", after.name),
                    &headers(&["counter", &before.name, &after.name, "factor"]),
                    &html! {
                        @for (name, one, other) in &changed {
                            tr {
                                th scope="row" { (name) }
                                td.figure { (figure_of(*one)) }
                                td.figure { (figure_of(*other)) }
                                td.figure { @if let (Some(one), Some(other)) = (one, other) { @if *one > 0.0 { (format!("{:.3} x", other / one)) } } }
                            }
                        }
                    },
                ))
            }
            (side_by_side("Rust", &source(before), &source(after), str::to_owned))
            details {
                summary { "The same in PTX" }
                (side_by_side("PTX", &ptx(before), &ptx(after), without_numbers))
            }
        }
    }
}

/// Such as `1.2 ms → 606 us: 2.00 x as fast`.
fn time_in_words(runs: &Runs, before: Option<&Row>, after: Option<&Row>) -> String {
    let figures = |row: Option<&Row>| row.and_then(Row::measured).copied();
    let Some((one, other)) = figures(before).zip(figures(after)) else { return String::new() };
    let [a, b] = [one.time_ms.median, other.time_ms.median];
    let times = format!("{} → {}", time_with_unit(a), time_with_unit(b));
    let pattern = before.map_or("", |row| row.pattern.as_str());
    match () {
        () if one.bytes != other.bytes => format!("{times}; the two must move different amounts"),
        () if !runs.is_ranked(pattern) => {
            format!("{times}; the order of these predictions is known to be wrong")
        }
        () if (a / b - 1.0).abs() < 0.005 => format!("{times}; no difference"),
        () if a > b => format!("{times}: {:.2} x as fast", a / b),
        () => format!("{times}: {:.2} x as slow", b / a),
    }
}

/// PTX without the numbers of registers, labels and lines, which change without a reason.
fn without_numbers(line: &str) -> String {
    let mut out = String::new();
    let mut is_name = false;
    for letter in line.chars() {
        is_name = match letter {
            '%' | '$' => true,
            _ => is_name && (letter.is_ascii_alphanumeric() || letter == '_'),
        };
        if !(is_name && letter.is_ascii_digit()) {
            out.push(letter);
        }
    }
    out
}

/// Two texts beside each other: what changed, with some lines around it. Lines with equal keys are equal.
fn side_by_side(
    name: &str,
    before: &[String],
    after: &[String],
    key: impl Fn(&str) -> String,
) -> Markup {
    let keys = |lines: &[String]| lines.iter().map(|line| key(line.trim())).collect::<Vec<_>>();
    let operations = capture_diff_slices(Algorithm::Patience, &keys(before), &keys(after));
    let hunks = group_diff_ops(operations, CONTEXT);
    let lines: usize =
        hunks.iter().flatten().map(|one| one.old_range().len().max(one.new_range().len())).sum();
    if hunks.is_empty() {
        return html! { p { "The " (name) " is the same." } };
    }
    if lines > MAX_LINES {
        return html! {
            p { (name) ": " (lines) " lines differ, more than can be read side by side; both are whole below." }
        };
    }
    html! {
        div.scroll.listing.diff tabindex="0" {
            table {
                caption { (name) ": before on the left, after on the right" }
                thead { tr { th scope="col" { "before" } th scope="col" { "after" } } }
                @for hunk in &hunks {
                    tbody {
                        @for operation in hunk {
                            @for (left, right) in paired(operation) {
                                @let (left, right) = (left.map(|at| &before[at]), right.map(|at| &after[at]));
                                (PreEscaped(cells(left, right, matches!(operation, DiffOp::Equal { .. }))))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The lines of an operation, by index, that stand beside each other.
fn paired(operation: &DiffOp) -> Vec<(Option<usize>, Option<usize>)> {
    let (old, new) = (operation.old_range(), operation.new_range());
    let rows = old.len().max(new.len());
    let at =
        |range: &std::ops::Range<usize>, row| Some(range.start + row).filter(|at| *at < range.end);
    (0..rows).map(|row| (at(&old, row), at(&new, row))).collect()
}

fn cells(left: Option<&String>, right: Option<&String>, is_equal: bool) -> String {
    let cell = |line: Option<&String>, tag: &str| match line {
        None => html! { td {} },
        Some(line) if is_equal => html! { td.code { (line) } },
        Some(line) if tag == "del" => html! { td.code.gone { del { (line) } } },
        Some(line) => html! { td.code.new { ins { (line) } } },
    };
    html! { tr { (cell(left, "del")) (cell(right, "ins")) } }.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_what_changed_is_shown_with_its_surroundings() {
        let before = lines("a\nb\nc\nd\ne\nf\ng");
        let after = lines("a\nb\nc\nX\ne\nf\ng");
        let shown = side_by_side("Rust", &before, &after, str::to_owned).into_string();
        assert!(shown.contains("<del>d</del>") && shown.contains("<ins>X</ins>"), "{shown}");
        assert!(shown.contains(">b<") && !shown.contains(">a<"), "{shown}");
        let same = side_by_side("Rust", &before, &before, str::to_owned).into_string();
        assert!(same.contains("is the same"), "{same}");
    }

    #[test]
    fn numbers_of_registers_and_labels_are_no_change() {
        let a = without_numbers("@%p12 bra \t$L__BB3_7;");
        assert_eq!(a, without_numbers("@%p3 bra \t$L__BB12_20;"));
        assert_ne!(
            without_numbers("add.s32 %r1, %r2, 4;"),
            without_numbers("add.s32 %r1, %r2, 8;")
        );
        let [one, other] = ["ld.global.f32 %f1, [%rd2+4];", "ld.global.f32 %f7, [%rd9+4];"];
        assert_eq!(without_numbers(one), without_numbers(other));
        let shown = side_by_side("PTX", &lines(one), &lines(other), without_numbers).into_string();
        assert!(shown.contains("is the same"), "{shown}");
    }

    #[test]
    fn counters_that_changed_are_named() {
        let mut before = Counters::default();
        before.global_load.requests = 1;
        before.global_load.sectors = 32;
        let mut after = before;
        assert!(changed_counters(&before, &after).is_empty());
        after.global_load.sectors = 4;
        let names: Vec<_> =
            changed_counters(&before, &after).iter().map(|(name, ..)| *name).collect();
        assert!(names.contains(&"load sectors / request"), "{names:?}");
    }
}
