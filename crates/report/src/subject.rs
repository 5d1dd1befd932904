//! The page of a pattern: what it teaches, its ladder, its sweeps, what its kernels do.

use super::machine_code::MachineCode;
use super::page::{self, headers, number};
use super::runs::{Runs, Subject};
use super::{ladder, markdown, source, sweep};
use crate::picture;
use maud::{Markup, PreEscaped, html};
use results::{CountedPattern, CountedVariant, Counters};

/// The content of the page.
pub fn content(runs: &Runs, subject: Subject<'_>, machine_code: &MachineCode) -> Markup {
    let doc = subject.pattern.map(|pattern| markdown::doc(&pattern.doc));
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
            (ladder::table(&format!("The ladder of {}", subject.name), runs, &[subject.name], false))
        } @else {
            p { "Nothing of this pattern was measured in this run." }
        }
        (sweep::section(runs, subject))
        @if let Some(pattern) = subject.pattern {
            @if !pattern.is_host_work { (counters(pattern)) }
            (variants(runs, pattern, machine_code))
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
fn counters(pattern: &CountedPattern) -> Markup {
    type Count = fn(&Counters) -> Option<f64>;
    let columns: [(&str, Count); 13] = [
        ("load sectors / request", Counters::load_sectors),
        ("store sectors / request", Counters::store_sectors),
        ("shared load wavefronts / request", Counters::shared_load_wavefronts),
        ("shared store wavefronts / request", Counters::shared_store_wavefronts),
        ("shared atomic wavefronts / request", Counters::shared_atomic_wavefronts),
        ("constant wavefronts / request", Counters::constant_passes),
        ("global atomics", Counters::global_atomics),
        ("sector accesses / global atomic request", Counters::global_atomic_passes),
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

/// Each variant: what changed, its pictures, its kernel.
fn variants(runs: &Runs, pattern: &CountedPattern, machine_code: &MachineCode) -> Markup {
    html! {
        h2 id="variants" { "Variants" }
        @if !pattern.is_host_work {
            p {
                "The cost of a line is given per request: sectors (s) of global memory, and wavefronts (w) of shared or "
                "constant memory. The share of a line is that of all sectors and wavefronts of the kernel."
            }
        }
        @for variant in &pattern.variants {
            details id=(format!("variant-{}", variant.name)) {
                summary { h3 { (variant.name) } " " span { (markdown::sentence(&variant.summary)) } }
                @for svg in pictures(runs, pattern, variant) {
                    figure.scroll tabindex="0" { (PreEscaped(svg)) }
                }
                @if !variant.kernels.is_empty() {
                    (source::sources(pattern, variant, machine_code))
                } @else {
                    p { "Work of the host, in " code { (pattern.file) } "." }
                }
            }
        }
        @if pattern.is_host_work {
            details {
                summary { "The source: " code { (pattern.file) } }
                pre tabindex="0" { code { (without_doc(&pattern.source)) } }
            }
        }
    }
}

/// What ran when on the GPU of the file, and what a warp touches or what ran when on the virtual device.
fn pictures(runs: &Runs, pattern: &CountedPattern, variant: &CountedVariant) -> Vec<String> {
    let rows = runs.ladder(&pattern.name).into_iter();
    let measured = rows
        .filter(|row| row.variant == variant.name)
        .filter_map(|row| Some(picture::timeline::draw(&row.name(), row.timeline.as_ref()?)));
    measured.chain(picture::of(pattern, variant)).collect()
}

/// A source file without the doc on top.
fn without_doc(source: &str) -> String {
    let lines = source.lines().skip_while(|line| line.starts_with("//!") || line.is_empty());
    lines.flat_map(|line| [line, "\n"]).collect()
}
