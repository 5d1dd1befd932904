//! The page of a pattern: what it teaches, its ladder, its sweeps, what its kernels do.

use super::machine_code::MachineCode;
use super::page::{self, headers, number};
use super::runs::{Runs, Subject};
use super::{ladder, markdown, source, step, sweep, verdict};
use crate::picture::{self, timeline};
use maud::{Markup, PreEscaped, html};
use results::{CountedPattern, CountedVariant, Counters};

/// The content of the page: the evidence first, then the lesson, then the kernels.
pub fn content(runs: &Runs, subject: Subject<'_>, machine_code: &MachineCode) -> Markup {
    let doc = subject.pattern.map(|pattern| markdown::doc(&pattern.doc));
    let verdict = verdict::of(runs, subject.name);
    html! {
        h1 { @match &doc { Some(doc) => (doc.title), None => (subject.name) } }
        @if let Some(verdict) = &verdict { p.lead { (markdown::sentence(verdict)) } }
        (page::notes(&runs.notes()))
        (page::older_kernels(runs.older_kernels().as_deref()))
        h2 id="ladder" { "Ladder" }
        @if let Some(svg) = ladder::plot(runs, subject.name) {
            div.evidence {
                (page::plot(&svg, &size_in_words(runs, subject.name)))
                (ladder::table(&format!("The ladder of {}", subject.name), runs, &[subject.name], false))
            }
        } @else {
            p { "Nothing of this pattern was measured in this run." }
        }
        @if let Some(doc) = &doc { h2 id="lesson" { "Lesson" } div.prose { (doc.body) } }
        @if let Some(pattern) = subject.pattern { (step::section(runs, pattern)) }
        (sweep::section(runs, subject))
        @if let Some(pattern) = subject.pattern {
            @if !pattern.is_host_work { (counters(pattern)) }
            (variants(runs, pattern, machine_code))
        }
    }
}

/// Such as `At n=134217728: 512 MiB that any implementation must move.`
fn size_in_words(runs: &Runs, pattern: &str) -> String {
    let rows = runs.ladder(pattern);
    let mut sizes: Vec<String> = rows.iter().map(|row| row.show_size()).collect();
    sizes.dedup();
    let bytes = rows.iter().filter_map(|row| row.measured()).map(|measured| measured.bytes);
    let mut bytes: Vec<usize> = bytes.filter(|bytes| *bytes > 0).collect();
    bytes.sort_unstable();
    let moved = match (bytes.first(), bytes.last()) {
        (Some(least), Some(most)) if least == most => {
            format!("; {} must be moved at least", page::bytes_with_unit(*least as f64))
        }
        (Some(least), Some(most)) => {
            let [least, most] = [least, most].map(|bytes| page::bytes_with_unit(*bytes as f64));
            format!("; {least} to {most} must be moved at least, depending on the variant")
        }
        _ => String::new(),
    };
    let by_time = ladder::is_about_time(&rows);
    let better = if by_time { " Times: shorter is better." } else { "" };
    match &sizes[..] {
        [one] => format!("At {one}{moved}.{better}"),
        _ => format!("At the sizes of the file{moved}.{better}"),
    }
}

/// Returns what the executor counted, with the promise where it differs.
fn counters(pattern: &CountedPattern) -> Markup {
    type Count = fn(&Counters) -> Option<f64>;
    let columns: [(&str, Count); 13] = [
        ("load sectors / request", Counters::load_sectors),
        ("store sectors / request", Counters::store_sectors),
        ("shared load wavefronts / request", Counters::shared_load_wavefronts),
        ("shared store wavefronts / request", Counters::shared_store_wavefronts),
        ("shared atomic wavefronts / request", Counters::shared_atomic_wavefronts),
        ("constant wavefronts / request", Counters::constant_wavefronts),
        ("global atomics", Counters::global_atomics),
        ("sector accesses / global atomic request", Counters::global_atomic_updates),
        ("local load sectors / request", Counters::local_load_sectors),
        ("local store sectors / request", Counters::local_store_sectors),
        ("bytes requested", |counters| Some(counters.global_bytes() as f64)),
        ("bytes requested / moved, %", Counters::efficiency_percent),
        ("active lanes per instruction", Counters::lanes_per_instruction),
    ];
    let used: Vec<_> = columns
        .into_iter()
        .filter(|(_, count)| pattern.variants.iter().any(|one| count(&one.counters).is_some()))
        .collect();
    let body = html! {
        @for variant in pattern.variants.iter().filter(|one| !one.kernels.is_empty()) {
            tr {
                th scope="row" { (variant.name) }
                @for (_, count) in &used { (number(count(&variant.counters))) }
                td.words { (markdown::sentence(&variant.arithmetic)) }
            }
        }
    };
    let header = html! {
        th scope="col" { "variant" }
        (headers(&used.iter().map(|(name, _)| *name).collect::<Vec<_>>()))
        th scope="col" { "how the numbers are computed" }
    };
    html! {
        h2 id="counters" { "Counters" }
        p {
            "The executor counted these by running the PTX at " (pattern.size) ". They are exact and do not depend on time. "
            "A request is one memory instruction of a warp, a sector is 32 bytes of global memory, and a wavefront is "
            "one cycle of shared or constant memory."
        }
        (page::table(&format!("Memory requests of the kernels of {}", pattern.name), &header, &body))
    }
}

/// Each variant: what changed, its pictures, its kernel. What ran when is open, and all on one axis.
fn variants(runs: &Runs, pattern: &CountedPattern, machine_code: &MachineCode) -> Markup {
    let axes = Axes::of(runs, pattern);
    let (host, kernels): (Vec<_>, Vec<_>) =
        pattern.variants.iter().partition(|variant| variant.kernels.is_empty());
    html! {
        @if !host.is_empty() {
            h2 id="timelines" { "What ran when" }
            p {
                "Timelines of one kind, measured ones and those of the model, are drawn on one time axis; one that is "
                "several times as long as most others has an axis of its own."
            }
            @for variant in host {
                section.variant id=(format!("variant-{}", variant.name)) {
                    h3 { (variant.name) }
                    p { (markdown::sentence(&variant.summary)) }
                    @let pictures = timelines(runs, pattern, variant, &axes);
                    @if !pictures.is_empty() {
                        div.pictures { @for svg in &pictures { figure.scroll tabindex="0" { (PreEscaped(svg)) } } }
                    }
                }
            }
            @if pattern.is_host_work {
                details {
                    summary { "The source: " code { (pattern.file) } }
                    p { (runs.source_link(&pattern.file, None, &pattern.file)) }
                    pre tabindex="0" { code { (without_doc(&pattern.source)) } }
                }
            }
        }
        @if !kernels.is_empty() {
            h2 id="variants" { "Variants" }
            p {
                "The cost of a line is given per request: sectors (s) of global memory, and wavefronts (w) of shared or "
                "constant memory. The share of a line is that of all sectors and wavefronts of the kernel. The source is "
                (runs.source_link(&pattern.file, None, &pattern.file)) "."
            }
        }
        @for variant in kernels {
            details id=(format!("variant-{}", variant.name)) {
                summary { h3 { (variant.name) } " " span { (markdown::sentence(&variant.summary)) } }
                (source::hot(runs, pattern, variant))
                div.pictures {
                    @for svg in timelines(runs, pattern, variant, &axes) { figure.scroll tabindex="0" { (PreEscaped(svg)) } }
                    @if let Some(svg) = picture::of(pattern, variant) {
                        figure.scroll tabindex="0" { (PreEscaped(picture::in_page(&svg))) }
                    }
                }
                (source::sources(pattern, variant, machine_code))
            }
        }
    }
}

/// The axes of a pattern's timelines, microseconds: of the file, and of those recorded while counting at a smaller
/// size.
struct Axes {
    of_file: f64,
    of_counts: f64,
}

impl Axes {
    fn of(runs: &Runs, pattern: &CountedPattern) -> Axes {
        let rows = runs.ladder(&pattern.name);
        let of_file: Vec<_> = rows.iter().filter_map(|row| row.timeline.as_ref()).collect();
        let of_counts: Vec<_> =
            pattern.variants.iter().filter_map(|variant| variant.timeline.as_ref()).collect();
        Axes {
            of_file: timeline::shared_axis(&of_file),
            of_counts: timeline::shared_axis(&of_counts),
        }
    }
}

/// Returns the timeline of the file's device or, where it has none, of the virtual device while its work was counted.
fn timelines(
    runs: &Runs,
    pattern: &CountedPattern,
    variant: &CountedVariant,
    axes: &Axes,
) -> Vec<String> {
    let rows = runs.ladder(&pattern.name).into_iter().filter(|row| row.variant == variant.name);
    let of_file = rows.filter_map(|row| {
        let timeline = row.timeline.as_ref()?;
        Some(timeline::draw_on(&row.name(), timeline, axes.of_file))
    });
    let mut drawn: Vec<String> = of_file.collect();
    if drawn.is_empty() {
        let name = format!("{}/{}", pattern.name, variant.name);
        let counted = variant.timeline.as_ref();
        drawn.extend(counted.map(|one| timeline::draw_on(&name, one, axes.of_counts)));
    }
    drawn.iter().map(|picture| picture::in_page(picture)).collect()
}

/// A source file without the doc on top.
fn without_doc(source: &str) -> String {
    let is_doc = |line: &&str| ["//!", "#![doc"].iter().any(|start| line.starts_with(start));
    let lines = source.lines().skip_while(|line| line.is_empty() || is_doc(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}
