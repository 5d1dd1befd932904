//! The page of a pattern: what it teaches, its ladder, its sweeps, what its kernels do.

use super::counts::Counts;
use super::machine_code::MachineCode;
use super::page::{self, headers, number};
use super::runs::{Runs, Subject};
use super::{Pictures, ladder, markdown, source, sweep};
use crate::gpu::Counted;
use crate::pattern::{Pattern, Size, Variant};
use crate::picture::timeline;
use maud::{Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// The content of the page.
pub fn content(
    runs: &Runs,
    subject: Subject<'_>,
    counts: &BTreeMap<&str, Counts>,
    pictures: &Pictures,
    machine_code: &MachineCode,
) -> Markup {
    let own = counts.get(subject.name);
    let doc = subject.pattern.map(|pattern| markdown::doc(&pattern.doc()));
    let ladder_plot = ladder::plot(runs, subject.name);
    html! {
        h1 { @match &doc { Some(doc) => (doc.title), None => (subject.name) } }
        (page::notes(&runs.notes()))
        p.links {
            a href="#ladder" { "Ladder" }
            @if subject.pattern.is_some() { a href="#variants" { "Variants" } }
        }
        @if let Some(doc) = &doc { div.prose { (doc.body) } }
        h2 id="ladder" { "Ladder" }
        @if let Some(svg) = ladder_plot {
            (page::plot(&svg, &size_in_words(runs, subject.name)))
            (ladder::table(&format!("The ladder of {}", subject.name), runs, &[subject.name], counts, false))
        } @else {
            p { "Nothing of this pattern was measured in this run." }
        }
        (sweep::section(runs, subject))
        @if let Some(pattern) = subject.pattern {
            @if let Some(own) = own.filter(|own| !own.is_empty()) { (counters(pattern, own)) }
            (variants(pattern, own, pictures, &measured_timelines(runs, subject.name), machine_code))
        }
    }
}

/// Such as `At n=1048576.`
fn size_in_words(runs: &Runs, pattern: &str) -> String {
    let mut sizes: Vec<String> =
        runs.ladder(pattern).into_iter().map(|row| row.show_size()).collect();
    sizes.dedup();
    let by_time = ladder::is_about_time(&runs.ladder(pattern));
    let better = if by_time { " Times: shorter is better." } else { "" };
    match &sizes[..] {
        [one] => format!("At {one}.{better}"),
        _ => format!("At the sizes of the file.{better}"),
    }
}

/// What the executor counted, with the promise where it differs.
fn counters(pattern: &Pattern, counts: &Counts) -> Markup {
    type Count = fn(&Counted) -> Option<f64>;
    let columns: [(&str, Count); 11] = [
        ("load sectors / request", Counted::load_sectors),
        ("store sectors / request", Counted::store_sectors),
        ("shared load passes / request", Counted::shared_load_wavefronts),
        ("shared store passes / request", Counted::shared_store_wavefronts),
        ("shared atomic passes / request", Counted::shared_atomic_wavefronts),
        ("constant passes / request", Counted::constant_passes),
        ("global atomics", Counted::global_atomics),
        ("global atomic passes / request", Counted::global_atomic_passes),
        ("bytes asked for", |counted| Some(counted.global_bytes() as f64)),
        ("bytes asked for / moved, %", Counted::efficiency_percent),
        ("lanes at work per instruction", |counted| Some(counted.counters.lanes_per_instruction())),
    ];
    let used: Vec<_> = columns
        .into_iter()
        .filter(|(_, count)| counts.iter().any(|(_, counted)| count(counted).is_some()))
        .collect();
    let size = Size::new(pattern.count_size);
    let body = html! {
        @for (variant, counted) in counts.iter() {
            @let expected = (variant.expect)(&size);
            tr {
                th scope="row" { (variant.name) }
                @for (_, count) in &used { (number(count(counted))) }
                td.words { (markdown::sentence(expected.arithmetic)) }
            }
        }
    };
    let header = html! {
        th scope="col" { "variant" }
        (headers(&used.iter().map(|(name, _)| *name).collect::<Vec<_>>()))
        th scope="col" { "how the numbers come about" }
    };
    html! {
        h2 id="counters" { "Counters" }
        p {
            "Counted by executing the PTX at " (pattern.show_size(&size)) ": exact, and no matter of time. A request is "
            "a memory instruction of a warp, a sector 32 bytes, a pass one turn through shared or constant memory."
        }
        (page::table(&format!("What the kernels of {} ask of memory", pattern.name), &header, &body))
    }
}

/// Each variant: what changed, its pictures, its kernel.
fn variants(
    pattern: &Pattern,
    counts: Option<&Counts>,
    pictures: &Pictures,
    timelines: &BTreeMap<&str, String>,
    machine_code: &MachineCode,
) -> Markup {
    let counted_of = |variant: &Variant| {
        let (_, counted) = counts?.iter().find(|(one, _)| one.name == variant.name)?;
        Some(counted)
    };
    let host_file = pattern.host_file();
    html! {
        h2 id="variants" { "Variants" }
        @if !pattern.is_host_work() {
            p {
                "The cost of a line is what a request of it takes: sectors (s) of device memory, passes (p) through "
                "shared or constant memory. Its share is of all sectors and passes of the kernel."
            }
        }
        @for variant in pattern.variants {
            details id=(format!("variant-{}", variant.name)) {
                summary { h3 { (variant.name) } " " span { (markdown::sentence(variant.change)) } }
                @for svg in [timelines.get(variant.name), pictures.get(variant.name)].into_iter().flatten() {
                    figure.scroll tabindex="0" { (PreEscaped(svg)) }
                }
                @if pattern.kernel_name(variant).is_some() {
                    (source::sources(pattern, variant, counted_of(variant), machine_code))
                } @else {
                    p { "Work of the host, in " code { (host_file) } "." }
                }
            }
        }
        @if pattern.is_host_work() {
            details {
                summary { "The source: " code { (host_file) } }
                pre tabindex="0" { code { (without_doc(pattern.doc_source)) } }
            }
        }
    }
}

/// What ran when on the GPU of the file, as pictures by variant.
fn measured_timelines<'a>(runs: &'a Runs, pattern: &str) -> BTreeMap<&'a str, String> {
    let rows = runs.ladder(pattern).into_iter();
    let drawn = rows.filter_map(|row| {
        let svg = timeline::draw(&row.name(), row.timeline.as_ref()?);
        Some((row.variant.as_str(), svg))
    });
    drawn.collect()
}

/// A source file without the doc on top.
fn without_doc(source: &str) -> String {
    let lines = source.lines().skip_while(|line| line.starts_with("//!") || line.is_empty());
    lines.flat_map(|line| [line, "\n"]).collect()
}
