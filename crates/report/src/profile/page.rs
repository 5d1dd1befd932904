use super::words::{COLUMNS, Taught, cells, facts, kinds, lines, mistakes, sentences};
use crate::page;
use crate::picture::access::{self, Requests};
use crate::picture::timeline;
use crate::publish::{self, Page};
use anyhow::Result;
use maud::{Markup, PreEscaped, html};
use results::{ProfiledKernel, ProgramProfile};
use std::path::Path;

/// Writes the profile as a page, `index.html`, into a folder of its own.
///
/// # Errors
/// A folder that cannot be written or holds something else than a report; a folder that was there stays as it was.
pub fn pages(profile: &ProgramProfile, taught: &Taught<'_>, folder: &Path) -> Result<()> {
    let title = format!("{} on {}", profile.program, profile.device);
    let text = page::page(&title, &[], &content(&title, profile, taught));
    publish::publish(folder, &[Page { file: "index.html".to_owned(), text }])
}

/// A picture of what the first warp of each kernel touches: its name and the SVG.
pub fn pictures(profile: &ProgramProfile) -> Vec<(String, String)> {
    let drawn = profile.kernels.iter().map(|kernel| (kernel.name.clone(), picture(kernel)));
    drawn.collect()
}

/// Returns what the first warp touches.
fn picture(kernel: &ProfiledKernel) -> String {
    let places = kernel.instructions.iter().filter_map(|one| one.counts.source.as_ref());
    let file = places.map(|source| source.outermost().0).next().unwrap_or_default();
    // The file's text is known by the lines that instructions come from.
    let lines = kernel.instructions.iter().filter_map(|one| {
        let (of, line) = one.counts.source.as_ref()?.outermost();
        (of == file).then_some((line as usize, one.code.as_str()))
    });
    let lines: Vec<(usize, &str)> = lines.collect();
    let last = lines.iter().map(|(line, _)| *line).max().unwrap_or(0);
    let mut source = vec![""; last];
    lines.iter().filter(|(line, _)| *line > 0).for_each(|(line, code)| source[line - 1] = code);
    let instructions = kernel.instructions.iter().map(|one| &one.counts);
    let requests = Requests::of(file, &source.join("\n"), instructions);
    access::draw(kernel.shown_name(), file, &requests)
}

fn content(title: &str, profile: &ProgramProfile, taught: &Taught<'_>) -> Markup {
    html! {
        h1 { (title) }
        p.lead { "Counts are exact; times are predicted by a model. The kernels were executed from their PTX, without a GPU." }
        @if !profile.advice.is_empty() {
            h2 id="advice" { "Advice" }
            ol { @for advice in &profile.advice { li {
                @for sentence in sentences(profile, advice, taught) { (sentence) br; }
            } } }
        }
        @for (head, mistakes) in mistakes(profile) {
            @if !mistakes.is_empty() {
                h2 { (head) }
                ul { @for mistake in mistakes { li { (mistake.sentence()) } } }
            }
        }
        @for kernel in &profile.kernels { (of_kernel(kernel)) }
        @if !profile.timeline.intervals.is_empty() {
            h2 id="timeline" { "Timeline" }
            figure { (PreEscaped(timeline::draw(&profile.program, &profile.timeline))) }
        }
        p { (profile.fidelity()) }
    }
}

fn of_kernel(kernel: &ProfiledKernel) -> Markup {
    let header =
        |first: &[&str], last: &[&str]| page::headers(&[first, &COLUMNS[..], last].concat());
    let figures = |counts: &results::RequestCounts| {
        html! {
            @for cell in cells(counts) { td.figure { (cell) } }
        }
    };
    let all = html! {
        @for (kind, counts) in kinds(&kernel.counters) { tr { td { (kind) } (figures(&counts)) } }
    };
    let by_line = html! {
        @for line in lines(kernel) {
            tr { td { (line.place) } td { code { (line.instruction) } } (figures(&line.counts)) td { code { (line.code) } } }
        }
    };
    html! {
        h2 id=(kernel.name) { "Kernel " code { (kernel.shown_name()) } }
        @for fact in facts(kernel) { p { (fact) "." } }
        @if !kernel.hazards.is_empty() {
            h3 { "Hazards" }
            ul { @for hazard in &kernel.hazards { li { (hazard.message) } } }
        }
        @if !kernel.faults.is_empty() {
            h3 { "Faults" }
            ul { @for fault in &kernel.faults { li { (fault.message) } } }
        }
        (page::table("In all", &header(&["of"], &[]), &all))
        (page::table("By line", &header(&["line", "instruction"], &["source"]), &by_line))
        figure { (PreEscaped(picture(kernel))) }
    }
}
